//! What became of each test, judged by the reports of a round and by how the tool ended. Nothing is started here.

use std::collections::BTreeSet;

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;

use super::run::{ModuleEnd, ModuleRound, Round};
use super::{ClassTest, ModuleTests, Tool};
use crate::event::{CaseResult, ProcessFailure, TestResult};
use crate::junit::{Finding, JunitCase};
use crate::process::Stop;
use crate::transcript::Transcript;
use crate::workers::RunOptions;

/// Words by which tools say that the virtual machine of the tests died.
const CRASH_WORDS: &[&str] = &[
    "The forked VM terminated",
    "There was an error in the forked process",
    "There was a timeout or other error in the fork",
    "finished with non-zero exit value",
    "the virtual machine",
];

/// What is known after a round.
#[derive(Debug, Default)]
pub(super) struct Concluded {
    pub(super) results: Vec<TestResult>,
    pub(super) unexpected: Vec<TestResult>,
    pub(super) failures: Vec<ProcessFailure>,
    pub(super) notes: Vec<String>,
    /// Tests may be without a result because of others.
    pub(super) was_cut_short: bool,
}

pub(super) fn conclude(
    tool: Tool,
    modules: &[ModuleTests],
    round: &Round,
    options: &RunOptions,
) -> Concluded {
    let mut concluded = Concluded { notes: round.notes.clone(), ..Concluded::default() };
    concluded.was_cut_short = round.stop.is_some();
    concluded.failures.extend(round.failures.clone());
    let nothing = ModuleRound::default();
    for module in modules {
        let ended = round.modules.get(&module.target).unwrap_or(&nothing);
        let judge = Judge::new(tool, module, ended, round, options);
        concluded.was_cut_short |= judge.has_crashed;
        concluded.results.extend(module.selected.iter().filter_map(|test| judge.result(test)));
        judge.unasked(&mut concluded);
        concluded.failures.extend(judge.failure(&concluded.results));
    }
    concluded
}

/// The result of a test of which no round told anything.
pub(super) fn left_over(test: &ClassTest, round: &Round) -> TestResult {
    let message = match round.stop {
        Some(_) => "the tool was stopped before its turn".to_string(),
        None => format!("the tool {} without a report of it", round.exit),
    };
    let outcome = Outcome { verdict: Verdict::Inconclusive, duration_s: 0.0, output_tail: message.clone() };
    TestResult::new(test.test.clone(), outcome, Some(message))
}

/// The facts about one module.
struct Judge<'r> {
    tool: Tool,
    module: &'r ModuleTests,
    ended: &'r ModuleRound,
    round: &'r Round,
    has_crashed: bool,
    /// Classes that a crash is blamed on.
    culprits: BTreeSet<&'r str>,
    has_failures: bool,
    timeout_s: f64,
}

impl<'r> Judge<'r> {
    fn new(
        tool: Tool,
        module: &'r ModuleTests,
        ended: &'r ModuleRound,
        round: &'r Round,
        options: &RunOptions,
    ) -> Judge<'r> {
        let said = match &ended.end {
            ModuleEnd::Failed { message } => message.as_str(),
            // A POM may have Maven go on after a crash, and then only the output tells.
            ModuleEnd::Succeeded if tool == Tool::Maven => round.output.as_str(),
            ModuleEnd::Succeeded | ModuleEnd::CutShort | ModuleEnd::NotBegun => "",
        };
        let has_crashed = CRASH_WORDS.iter().any(|words| said.contains(words));
        let named: BTreeSet<&str> = crashed_classes(said).collect();
        let alone =
            module.selected.iter().flat_map(|test| &test.classes).filter(|_| module.selected.len() == 1);
        let culprits = if !has_crashed {
            BTreeSet::new()
        } else if !named.is_empty() {
            named
        } else {
            round.running.iter().chain(alone).map(String::as_str).collect()
        };
        let has_failures = ended.reports.values().flatten().any(|case| case.finding == Some(Finding::Failed));
        let timeout_s = options.test_timeout.as_secs_f64();
        Judge { tool, module, ended, round, has_crashed, culprits, has_failures, timeout_s }
    }

    /// `None` while nothing is known.
    fn result(&self, test: &ClassTest) -> Option<TestResult> {
        let is = |class: Option<&String>| class.is_some_and(|class| test.classes.contains(class));
        let cases: Vec<&JunitCase> =
            test.classes.iter().filter_map(|class| self.ended.reports.get(class)).flatten().collect();
        let was_cut_off = (self.round.stop.is_some() || self.has_crashed)
            && test.classes.iter().any(|class| self.round.running.contains(class));
        if !cases.is_empty() && !was_cut_off {
            return Some(of_cases(&test.test, &cases));
        }
        let is_alone = self.round.stop == Some(Stop::Deadline)
            && self.tool == Tool::Console
            && self.module.selected.len() == 1;
        if is(self.round.overdue.as_ref()) || is_alone {
            let message = format!("it was stopped after {} s", self.timeout_s);
            return Some(self.ended_badly(test, Verdict::TimedOut, message));
        }
        if test.classes.iter().any(|class| self.culprits.contains(class.as_str())) {
            let message = "the virtual machine died while this class was running".to_string();
            return Some(self.ended_badly(test, Verdict::Crashed, message));
        }
        let is_doubtful = self.has_failures || self.has_crashed || self.ended.has_unreadable;
        (self.ended.end == ModuleEnd::Succeeded && !is_doubtful).then(|| not_run(test))
    }

    fn ended_badly(&self, test: &ClassTest, verdict: Verdict, message: String) -> TestResult {
        let output_tail = format!("{}\n{message}\n", tail(&self.round.output));
        let outcome = Outcome { verdict, duration_s: 0.0, output_tail };
        TestResult::new(test.test.clone(), outcome, Some(message))
    }

    /// Classes that ran although nobody asked for them: failures count, and what is not known at all is told.
    fn unasked(&self, concluded: &mut Concluded) {
        let mut ran = 0;
        for (class, cases) in &self.ended.reports {
            let has = |tests: &'r [ClassTest]| tests.iter().find(|test| test.classes.contains(class));
            if has(&self.module.selected).is_some() {
                continue;
            }
            let cases: Vec<&JunitCase> = cases.iter().collect();
            match has(&self.module.others) {
                Some(test) => {
                    ran += 1;
                    let result = of_cases(&test.test, &cases);
                    concluded
                        .results
                        .extend(Some(result).filter(|result| result.outcome.verdict.is_failure()));
                }
                None => concluded.unexpected.push(of_cases(&TestId::new(&self.module.target, class), &cases)),
            }
        }
        if ran > 0 {
            concluded.notes.push(format!(
                "{}: {ran} test classes ran although they were not selected: the build names its tests in a way that \
                 fewer cannot narrow (suiteXmlFiles, excludesFile, test)",
                self.module.target
            ));
        }
    }

    /// A failure that no test explains.
    fn failure(&self, results: &[TestResult]) -> Option<ProcessFailure> {
        let ModuleEnd::Failed { message } = &self.ended.end else { return None };
        let is_explained = self.has_failures
            || results.iter().any(|result| {
                result.test.target == self.module.target && result.outcome.verdict.is_failure()
            });
        // With everything left out a build may complain that there was nothing to run.
        let is_idle = self.module.selected.is_empty() && self.ended.reports.is_empty() && !self.has_crashed;
        (!is_explained && !is_idle).then(|| ProcessFailure {
            target: self.module.target.clone(),
            tests: self.module.selected.iter().map(|test| test.test.clone()).collect(),
            explanation: format!(
                "the tests of {} could not be run: {}",
                self.module.target,
                first_lines(message)
            ),
            output_tail: tail(&self.round.output),
        })
    }
}

/// What the cases of a class say together.
fn of_cases(test: &TestId, cases: &[&JunitCase]) -> TestResult {
    let of = |finding| cases.iter().filter(move |case| case.finding == Some(finding));
    let failed: Vec<&&JunitCase> = of(Finding::Failed).collect();
    let verdict = if !failed.is_empty() {
        Verdict::Failed
    } else if of(Finding::Skipped).count() == cases.len() {
        Verdict::Skipped
    } else {
        Verdict::Passed
    };
    let message = match failed.as_slice() {
        [] if verdict == Verdict::Skipped => Some("every test of the class was skipped".to_string()),
        [] => None,
        [only] => Some(words(only)),
        [first, ..] => Some(format!("{} (and {} more of {})", words(first), failed.len() - 1, cases.len())),
    };
    let duration_s = cases.iter().map(|case| case.duration_s).sum();
    let outcome = Outcome { verdict, duration_s, output_tail: told(&failed) };
    let cases = cases.iter().map(|case| of_case(case)).collect();
    TestResult { cases, ..TestResult::new(test.clone(), outcome, message) }
}

fn of_case(case: &JunitCase) -> CaseResult {
    CaseResult {
        class: case.class_name.clone(),
        name: case.name.clone(),
        verdict: match case.finding {
            None => Verdict::Passed,
            Some(Finding::Failed) => Verdict::Failed,
            Some(Finding::Skipped) => Verdict::Skipped,
        },
        duration_s: case.duration_s,
        message: case.message.clone(),
        detail: case.detail.trim().to_string(),
    }
}

fn words(case: &JunitCase) -> String {
    let first = case.detail.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed");
    let message = case.message.as_deref().unwrap_or(first);
    format!("{}: {}", case.name, message.lines().next().unwrap_or(message))
}

/// The failures one after the other, with what was printed.
fn told(failed: &[&&JunitCase]) -> String {
    let mut transcript = Transcript::new(4096, 12 * 1024);
    for case in failed {
        transcript.push(format!("{} ({:.3} s)\n", words(case), case.duration_s).as_bytes());
        for text in [&own_frames(&case.detail, &case.class_name), &case.output] {
            if !text.trim().is_empty() {
                transcript.push(text.trim().as_bytes());
                transcript.push(b"\n");
            }
        }
    }
    if transcript.is_empty() { String::new() } else { transcript.text() }
}

/// A stack trace without the frames below the test's own, which are those of the framework that called it.
fn own_frames(detail: &str, class: &str) -> String {
    let is_frame = |line: &str| line.trim_start().starts_with("at ");
    let own = super::reports::top_level(class);
    let is_own = |line: &str| is_frame(line) && !own.is_empty() && line.contains(own);
    let lines: Vec<&str> = detail.lines().collect();
    let mut kept: Vec<&str> = Vec::new();
    for frames in lines.chunk_by(|one, next| is_frame(one) == is_frame(next)) {
        let last = frames.iter().rposition(|line| is_own(line));
        kept.extend(&frames[..last.map_or(frames.len(), |last| last + 1)]);
    }
    kept.join("\n")
}

/// The tool finished and reported nothing: its own rules leave the class out, or there is no test in it.
fn not_run(test: &ClassTest) -> TestResult {
    let message = "the build runs no test of this class: its own patterns or groups leave it out".to_string();
    let outcome = Outcome { verdict: Verdict::Passed, duration_s: 0.0, output_tail: message.clone() };
    TestResult::new(test.test.clone(), outcome, Some(message))
}

/// The names below Surefire's `Crashed tests:`.
fn crashed_classes(message: &str) -> impl Iterator<Item = &str> {
    let after = message.split("Crashed tests:").nth(1).unwrap_or("");
    let name = |line: &'_ str| -> Option<usize> {
        let name = line.trim_start_matches("[ERROR]").trim();
        (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name.len())
    };
    after
        .lines()
        .skip_while(|line| line.trim().is_empty())
        .take_while(move |line| name(line).is_some())
        .map(|line| super::reports::top_level(line.trim_start_matches("[ERROR]").trim()))
}

fn first_lines(message: &str) -> String {
    message.lines().filter(|line| !line.trim().is_empty()).take(3).collect::<Vec<_>>().join(" ")
}

fn tail(output: &str) -> String {
    let mut transcript = Transcript::new(0, 8 * 1024);
    transcript.push(output.as_bytes());
    transcript.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_what_its_cases_are_together() {
        let case = |name: &str, finding: Option<Finding>| JunitCase {
            name: name.into(),
            duration_s: 0.5,
            finding,
            message: finding.map(|_| "expected 1".into()),
            detail: "at X".into(),
            ..JunitCase::default()
        };
        let id = TestId::new("m", "p.C");
        let result = |cases: &[JunitCase]| of_cases(&id, &cases.iter().collect::<Vec<_>>());
        let mixed =
            result(&[case("a", None), case("b", Some(Finding::Failed)), case("c", Some(Finding::Failed))]);
        assert_eq!((mixed.outcome.verdict, mixed.outcome.duration_s), (Verdict::Failed, 1.5));
        assert_eq!(mixed.message.as_deref(), Some("b: expected 1 (and 1 more of 3)"));
        assert!(mixed.outcome.output_tail.contains("c: expected 1 (0.500 s)\nat X\n"), "{:?}", mixed.outcome);
        assert_eq!(
            result(&[case("a", None), case("b", Some(Finding::Skipped))]).outcome.verdict,
            Verdict::Passed
        );
        assert_eq!(result(&[case("b", Some(Finding::Skipped))]).outcome.verdict, Verdict::Skipped);
    }

    #[test]
    fn a_trace_ends_where_the_test_was_called() {
        let trace = "E: no\n\tat lib.Assert.fail(A.java:1)\n\tat p.CTest$Inner.a(C.java:2)\n\tat lib.Runner.run(R.java:3)\n\
                     Caused by: F\n\tat p.Code.b(D.java:4)\n\t... 3 more";
        let expected = "E: no\n\tat lib.Assert.fail(A.java:1)\n\tat p.CTest$Inner.a(C.java:2)\n\
                        Caused by: F\n\tat p.Code.b(D.java:4)\n\t... 3 more";
        assert_eq!(own_frames(trace, "p.CTest$Inner"), expected);
        assert_eq!(own_frames(trace, "p.Other"), trace, "nothing is known to be below it");
    }

    #[test]
    fn surefire_names_the_classes_that_killed_the_machine() {
        let message =
            "The forked VM terminated...\nCrashed tests:\np.CTest\np.DTest$Inner\norg.x.Y: a trace\n";
        assert_eq!(crashed_classes(message).collect::<Vec<_>>(), ["p.CTest", "p.DTest"]);
        assert_eq!(crashed_classes("nothing").count(), 0);
    }
}
