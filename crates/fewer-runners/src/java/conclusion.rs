//! What became of each test, judged by the reports of a round and by how the tool ended. Nothing is started here.

use std::collections::{BTreeMap, BTreeSet};

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;

use super::reports::ReportedCase;
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
    /// Tests of which only a round of their own can tell.
    pub(super) alone: Vec<(TestId, WhyAlone)>,
    /// Why there is no result of the rest.
    pub(super) open: BTreeMap<TestId, String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WhyAlone {
    /// The virtual machine died while it was running; what ran before may have done it.
    Died,
    /// What failed may be its own or another's.
    Shares,
}

pub(super) fn conclude(
    tool: Tool,
    modules: &[ModuleTests],
    round: &Round,
    options: &RunOptions,
) -> Concluded {
    let mut concluded = Concluded { notes: round.notes.clone(), ..Concluded::default() };
    concluded.failures.extend(round.failures.clone());
    concluded.failures.extend(unexplained_end(tool, round));
    let nothing = ModuleRound::default();
    for module in modules {
        let ended = round.modules.get(&module.target).unwrap_or(&nothing);
        let judge = Judge::new(tool, module, ended, round, options);
        for test in &module.selected {
            match judge.judged(test) {
                Judged::Known(result) => concluded.results.push(result),
                Judged::Alone(why) => concluded.alone.push((test.test.clone(), why)),
                Judged::Open(why) => drop(concluded.open.insert(test.test.clone(), why)),
            }
        }
        judge.unasked(&mut concluded);
        concluded.failures.extend(judge.failure(&concluded));
    }
    concluded
}

/// The result of a test that no round could tell.
pub(super) fn left_over(test: &TestId, why: &str) -> TestResult {
    let outcome = Outcome { verdict: Verdict::Inconclusive, duration_s: 0.0, output_tail: why.to_string() };
    TestResult::new(test.clone(), outcome, Some(why.to_string()))
}

/// The result of a test that the virtual machine died in, as long as it ran with others.
pub(super) fn died_in_company(result: TestResult) -> TestResult {
    let message =
        "the virtual machine died while this class was running after others; alone it does not".to_string();
    let outcome = Outcome { verdict: Verdict::Crashed, output_tail: message.clone(), ..result.outcome };
    TestResult { message: Some(message), outcome, ..result }
}

/// What is to be said of a test.
enum Judged {
    Known(TestResult),
    Alone(WhyAlone),
    /// Nothing yet, for this reason.
    Open(String),
}

/// Whose a case is.
enum Owner<'r> {
    /// All of these: a class may be run by another, and both have then failed.
    Tests(Vec<&'r ClassTest>),
    /// One of these: they inherit what was reported.
    OneOf(Vec<&'r ClassTest>),
    Nobody,
}

/// The facts about one module.
struct Judge<'r> {
    tool: Tool,
    module: &'r ModuleTests,
    ended: &'r ModuleRound,
    round: &'r Round,
    own: BTreeMap<&'r TestId, Vec<&'r JunitCase>>,
    /// Cases of one of several tests.
    shared: BTreeMap<&'r TestId, Vec<&'r JunitCase>>,
    /// By class, of those in which nobody sees a test.
    unknown: BTreeMap<&'r str, Vec<&'r JunitCase>>,
    has_crashed: bool,
    /// Classes that a crash is blamed on.
    culprits: BTreeSet<&'r str>,
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
            ModuleEnd::Succeeded | ModuleEnd::CutShort | ModuleEnd::NotBegun => "",
        };
        let classes = || module.selected.iter().flat_map(|test| &test.classes);
        let running = || classes().filter(|class| round.running.contains(*class)).map(String::as_str);
        // Gradle does not mind a machine that exits with 0 in the middle of a class.
        let was_left = tool == Tool::Gradle && round.stop.is_none() && running().next().is_some();
        let has_crashed = was_left || CRASH_WORDS.iter().any(|words| said.contains(words));
        let mut culprits: BTreeSet<&str> = BTreeSet::new();
        if has_crashed {
            culprits.extend(crashed_classes(said));
            if culprits.is_empty() {
                culprits.extend(running());
            }
            if tool == Tool::Console || module.selected.len() == 1 {
                culprits.extend(classes().map(String::as_str));
            }
        }
        let mut judge = Judge {
            tool,
            module,
            ended,
            round,
            own: BTreeMap::new(),
            shared: BTreeMap::new(),
            unknown: BTreeMap::new(),
            has_crashed,
            culprits,
            timeout_s: options.test_timeout.as_secs_f64(),
        };
        ended.cases.iter().for_each(|reported| judge.assign(reported));
        judge
    }

    fn assign(&mut self, reported: &'r ReportedCase) {
        let case = &reported.case;
        match self.owner(reported) {
            Owner::Tests(tests) => {
                tests.into_iter().for_each(|test| self.own.entry(&test.test).or_default().push(case));
            }
            Owner::OneOf(tests) => {
                tests.into_iter().for_each(|test| self.shared.entry(&test.test).or_default().push(case));
            }
            Owner::Nobody => self.unknown.entry(&reported.class).or_default().push(case),
        }
    }

    /// A case may name the class that declares it, which an heir runs, and its file the class that was started.
    fn owner(&self, reported: &ReportedCase) -> Owner<'r> {
        let ReportedCase { class, file, .. } = reported;
        let module: &'r ModuleTests = self.module;
        let tests = || module.selected.iter().chain(&module.others);
        let named = |name: &String| -> Vec<&'r ClassTest> {
            tests().filter(|test| test.classes.contains(name)).collect()
        };
        let (by_class, by_file) = (named(class), named(file));
        if by_file.iter().any(|test| test.bases.contains(class)) {
            return Owner::Tests(by_file);
        }
        if by_class.iter().any(|test| test.bases.contains(file)) {
            return Owner::Tests(by_class);
        }
        let mut heirs: Vec<&ClassTest> = tests().filter(|test| test.bases.contains(class)).collect();
        if heirs.is_empty() {
            let both = by_class.iter().chain(by_file.iter().filter(|test| !by_class.contains(test)));
            let both: Vec<&ClassTest> = both.copied().collect();
            return if both.is_empty() { Owner::Nobody } else { Owner::Tests(both) };
        }
        heirs.extend(by_class);
        if heirs.iter().any(|test| self.is_selected(test)) {
            heirs.retain(|test| self.is_selected(test));
        }
        if heirs.len() == 1 { Owner::Tests(heirs) } else { Owner::OneOf(heirs) }
    }

    fn is_selected(&self, test: &ClassTest) -> bool {
        self.module.selected.iter().any(|selected| selected.test == test.test)
    }

    fn judged(&self, test: &ClassTest) -> Judged {
        if self.is_overdue(test) {
            let message = format!("it was stopped after {} s", self.timeout_s);
            return Judged::Known(self.ended_badly(test, Verdict::TimedOut, message));
        }
        let own = self.own.get(&test.test).map_or(&[][..], Vec::as_slice);
        let shared = self.shared.get(&test.test).map_or(&[][..], Vec::as_slice);
        if test.classes.iter().any(|class| self.culprits.contains(class.as_str())) {
            if self.module.selected.len() > 1 {
                // JUnit's launcher does not tell what ran: nobody is accused yet.
                let is_accused = self.tool != Tool::Console;
                return Judged::Alone(if is_accused { WhyAlone::Died } else { WhyAlone::Shares });
            }
            let message = "the virtual machine died while this class was running".to_string();
            return Judged::Known(self.ended_badly(test, Verdict::Crashed, message));
        }
        if has_failed(own) {
            return Judged::Known(of_cases(&test.test, own));
        }
        if has_failed(shared) {
            return Judged::Alone(WhyAlone::Shares);
        }
        if let Some(why) = self.doubt() {
            return Judged::Open(why);
        }
        let cases = [own, shared].concat();
        if cases.is_empty() { self.unreported(test) } else { Judged::Known(of_cases(&test.test, &cases)) }
    }

    /// Of a class without a report in a run that is beyond doubt.
    fn unreported(&self, test: &ClassTest) -> Judged {
        if self.ended.has_unreadable {
            Judged::Open("there is no report of it, and a report cannot be read".to_string())
        } else if test.classes.iter().any(|class| self.round.began.contains(class)) {
            Judged::Open("it began to run, but there is no report of it".to_string())
        } else if self.ended.end != ModuleEnd::Succeeded {
            Judged::Open("there is no report of it, and other tests failed".to_string())
        } else {
            Judged::Known(not_run(test))
        }
    }

    fn is_overdue(&self, test: &ClassTest) -> bool {
        if self.round.stop != Some(Stop::Deadline) || self.ended.end != ModuleEnd::CutShort {
            return false;
        }
        match &self.round.overdue {
            Some(class) => test.classes.contains(class),
            None => self.tool == Tool::Console && self.module.selected.len() == 1,
        }
    }

    /// Why a report without a failure is no proof of a pass.
    fn doubt(&self) -> Option<String> {
        let target = &self.module.target;
        if self.round.stop.is_some() {
            return Some("the tool was stopped before it was done".to_string());
        }
        if self.has_crashed {
            return Some("a virtual machine that ran tests of its module died".to_string());
        }
        if !self.round.is_end_explained(self.tool) {
            return Some(format!("the tool {} although nothing failed", self.round.exit));
        }
        let failed = self.unknown.iter().find(|(_, cases)| has_failed(cases));
        if let Some((class, _)) = failed {
            return Some(format!(
                "a test of {target} failed under the name of {class}, which is no known test"
            ));
        }
        match &self.ended.end {
            ModuleEnd::Succeeded => None,
            ModuleEnd::NotBegun => Some(format!("the tool {} before it came to {target}", self.round.exit)),
            ModuleEnd::CutShort => Some(format!("the tool {} in the middle of {target}", self.round.exit)),
            ModuleEnd::Failed { message } if !self.has_failures() => {
                Some(format!("the tests of {target} could not be run: {}", first_lines(message)))
            }
            ModuleEnd::Failed { .. } if self.ended.runs > 1 => Some(format!(
                "{target} runs its tests {} times, and reports of a later run may hide failures of an earlier one",
                self.ended.runs
            )),
            ModuleEnd::Failed { .. } => None,
        }
    }

    fn has_failures(&self) -> bool {
        self.own.values().chain(self.shared.values()).any(|cases| has_failed(cases))
    }

    fn ended_badly(&self, test: &ClassTest, verdict: Verdict, message: String) -> TestResult {
        let output_tail = format!("{}\n{message}\n", tail(&self.round.output));
        let outcome = Outcome { verdict, duration_s: 0.0, output_tail };
        TestResult::new(test.test.clone(), outcome, Some(message))
    }

    /// Classes that ran although nobody asked for them: failures count, and what is not known at all is told.
    fn unasked(&self, concluded: &mut Concluded) {
        for test in &self.module.others {
            let cases = self.own.get(&test.test).or(self.shared.get(&test.test));
            let failed = cases.filter(|cases| has_failed(cases));
            concluded.results.extend(failed.map(|cases| of_cases(&test.test, cases)));
        }
        for (class, cases) in &self.unknown {
            concluded.unexpected.push(of_cases(&TestId::new(&self.module.target, *class), cases));
        }
        if !self.ended.whole.is_empty() {
            concluded.notes.push(format!(
                "{}: all of its tests ran, because its build says which ones by {}, and fewer changes nothing of that",
                self.module.target, self.ended.whole
            ));
        }
    }

    /// A failure that no test explains.
    fn failure(&self, concluded: &Concluded) -> Option<ProcessFailure> {
        let ModuleEnd::Failed { message } = &self.ended.end else { return None };
        let is_own = |test: &TestId| test.target == self.module.target;
        let has_failed = |result: &TestResult| is_own(&result.test) && result.outcome.verdict.is_failure();
        let is_explained = self.has_failures()
            || concluded.results.iter().any(has_failed)
            || concluded.alone.iter().any(|(test, _)| is_own(test));
        // With everything left out a build may complain that there was nothing to run.
        let is_idle = self.module.selected.is_empty() && self.ended.cases.is_empty() && !self.has_crashed;
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

/// The tool says that something went wrong, and nothing else does.
fn unexplained_end(tool: Tool, round: &Round) -> Option<ProcessFailure> {
    (round.stop.is_none() && !round.is_end_explained(tool)).then(|| ProcessFailure {
        target: "the build tool".to_string(),
        tests: Vec::new(),
        explanation: format!("the build tool {} although no test and no goal failed", round.exit),
        output_tail: tail(&round.output),
    })
}

fn has_failed(cases: &[&JunitCase]) -> bool {
    cases.iter().any(|case| case.finding == Some(Finding::Failed))
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

/// The tool finished and reported nothing: its own rules leave the class out, or there is no test in it. No pass, but it need
/// not be tried again.
fn not_run(test: &ClassTest) -> TestResult {
    let message = "the build runs no test of this class: its own patterns or groups leave it out".to_string();
    let outcome = Outcome { verdict: Verdict::Excluded, duration_s: 0.0, output_tail: message.clone() };
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
