//! What a process that ran tests means for each of them: the report, the printed lines and the way the process
//! ended, put together. Pure: it starts nothing and reads no file.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;

use super::progress::{Running, State, Trace, Which};
use super::report::{Case, Report, Status};
use crate::event::{ProcessFailure, TestResult};
use crate::process::{Exit, ProcessEnd, Stop};

/// Everything that is known of a process that has ended.
pub(super) struct Evidence<'a> {
    pub(super) target: &'a str,
    pub(super) trace: &'a Trace,
    pub(super) report: Option<&'a Report>,
    pub(super) end: ProcessEnd,
    pub(super) timeout: Duration,
}

#[derive(Default, Debug)]
pub(super) struct Conclusion {
    pub(super) results: Vec<TestResult>,
    pub(super) failure: Option<ProcessFailure>,
    /// Tests that another process must run. Always fewer than this one was given.
    pub(super) remaining: Vec<String>,
}

/// What is known of one test before the end of the process is judged.
#[derive(Clone, Debug)]
struct Finding {
    verdict: Verdict,
    duration_s: f64,
    /// Failure messages of the report.
    failures: Vec<String>,
    /// What the runner has to say.
    remark: Option<String>,
    /// What the process printed outside of tests belongs to the explanation.
    shows_process: bool,
}

/// Whom an early end is due to.
enum Blame<'a> {
    Test(usize, Instant),
    OtherTest(&'a str),
    SuiteSetUp(&'a str),
    SuiteTearDown(&'a str),
    Unknown,
}

/// What a process's failure makes uncertain.
enum Doubt {
    None,
    Suites(Vec<String>),
    Everything,
}

pub(super) fn conclude(evidence: &Evidence<'_>) -> Conclusion {
    let findings = findings(evidence);
    if evidence.end.stop == Some(Stop::Cancelled) {
        return Conclusion { results: evidence.results(&findings), ..Conclusion::default() };
    }
    if evidence.report.is_some() || evidence.trace.finished {
        over(evidence, findings)
    } else {
        cut_short(evidence, findings)
    }
}

/// What the report, or else the printed lines, say of each test. `None`: nothing is known.
fn findings(evidence: &Evidence<'_>) -> Vec<Option<Finding>> {
    let tests = evidence.trace.tests.iter();
    let Some(report) = evidence.report else {
        return tests.map(|test| printed_finding(test.state)).collect();
    };
    let cases: HashMap<String, &Case> = report.cases().collect();
    tests.map(|test| Some(reported_finding(cases.get(&test.name).copied(), test.state))).collect()
}

fn printed_finding(state: State) -> Option<Finding> {
    match state {
        State::Pending | State::Running => None,
        State::Ended { verdict, duration_s } => {
            let remark = (verdict == Verdict::Inconclusive)
                .then(|| "the program began the next test without saying how this one ended".to_string());
            Some(Finding { verdict, duration_s, failures: Vec::new(), remark, shows_process: false })
        }
    }
}

fn reported_finding(case: Option<&Case>, state: State) -> Finding {
    let Some(case) = case.filter(|case| case.status != Status::NotRun) else {
        let remark = "the program was asked to run this test and did not: it is disabled, excluded by the \
                      program's own main(), or gone";
        return remarked(Verdict::Inconclusive, 0.0, remark.into());
    };
    let (verdict, remark) = match case.status {
        Status::Completed | Status::Skipped if !case.failures.is_empty() => (Verdict::Failed, None),
        Status::Completed => (Verdict::Passed, None),
        Status::Skipped => (Verdict::Skipped, None),
        Status::NeverBegun if state != State::Pending => (Verdict::Passed, None),
        Status::NeverBegun | Status::NotRun => {
            (Verdict::Skipped, Some("a global test environment skipped all tests".to_string()))
        }
    };
    let shows_process = remark.is_some();
    Finding { verdict, duration_s: case.duration_s, failures: case.failures.clone(), remark, shows_process }
}

/// The program ran to its end: the tests' results stand, unless the process failed for another reason.
fn over(evidence: &Evidence<'_>, mut findings: Vec<Option<Finding>>) -> Conclusion {
    for finding in &mut findings {
        finding.get_or_insert_with(|| reported_finding(None, State::Pending));
    }
    let (doubt, explanation) = judge(evidence, &findings);
    let doubted: Vec<usize> = match doubt {
        Doubt::None => return Conclusion { results: evidence.results(&findings), ..Conclusion::default() },
        Doubt::Everything => (0..findings.len()).collect(),
        Doubt::Suites(suites) => {
            (0..findings.len()).filter(|i| suites.iter().any(|suite| evidence.is_in(*i, suite))).collect()
        }
    };
    doubtful(evidence, findings, &doubted, explanation)
}

/// Whether anything beyond failed tests went wrong, and what it is.
fn judge(evidence: &Evidence<'_>, findings: &[Option<Finding>]) -> (Doubt, String) {
    let exit = evidence.end.exit;
    if evidence.end.stop == Some(Stop::Deadline) {
        let seconds = evidence.timeout.as_secs_f64();
        let explanation = format!("the process did not exit within {seconds} s after its last test");
        return (Doubt::Everything, explanation);
    }
    if let Some(failure) = evidence.outside_failure() {
        let explanation =
            format!("an assertion failed outside of any test (a global test environment?){failure}");
        return (Doubt::Everything, explanation);
    }
    let suites = evidence.failed_suites();
    let test_failed = evidence.any_test_failed(findings);
    let explained = match exit {
        Exit::Code(0) => true,
        Exit::Code(1) => test_failed || !suites.is_empty(),
        Exit::Code(_) | Exit::Signal(_) => false,
    };
    if !explained {
        let others = if test_failed { "apart from its failed tests" } else { "although no test failed" };
        let explanation =
            format!("the process {exit} {others} (a leak checker, a tear-down or an exit handler?)");
        return (Doubt::Everything, explanation);
    }
    if suites.is_empty() {
        return (Doubt::None, String::new());
    }
    let explanation = format!("SetUpTestSuite or TearDownTestSuite failed in {}", suites.join(", "));
    (Doubt::Suites(suites), explanation)
}

/// The process ended, or had to be stopped, before the program was through.
fn cut_short(evidence: &Evidence<'_>, mut findings: Vec<Option<Finding>>) -> Conclusion {
    let pending: Vec<usize> = (0..findings.len()).filter(|i| findings[*i].is_none()).collect();
    let progress = pending.len() < findings.len();
    let (verdict, what) = evidence.early_end();
    let (to_blame, whereabouts) = match blame(evidence) {
        Blame::Test(number, since) => {
            let duration_s = since.elapsed().as_secs_f64();
            findings[number] =
                Some(remarked(verdict, duration_s, format!("{what} while this test was running")));
            return unfinished(evidence, findings);
        }
        Blame::SuiteSetUp(suite) => {
            let members = pending.into_iter().filter(|i| evidence.is_in(*i, suite)).collect();
            (members, format!("while {suite} was being set up (SetUpTestSuite)"))
        }
        Blame::SuiteTearDown(suite) => {
            let members: Vec<usize> = (0..findings.len()).filter(|i| evidence.is_in(*i, suite)).collect();
            let explanation = format!("{what} while {suite} was being torn down (TearDownTestSuite)");
            return doubtful(evidence, findings, &members, explanation);
        }
        Blame::Unknown if pending.is_empty() => {
            let all: Vec<usize> = (0..findings.len()).collect();
            let explanation = format!("{what} after its last test, before it wrote its results");
            return doubtful(evidence, findings, &all, explanation);
        }
        // Something was done: what is left gets another process.
        Blame::OtherTest(_) | Blame::Unknown if progress => (Vec::new(), String::new()),
        Blame::OtherTest(name) => {
            (pending, format!("in {name}, which no filter can tell from the tests asked for"))
        }
        Blame::Unknown => (pending, "before any test began".to_string()),
    };
    for number in to_blame {
        let finding = remarked(verdict, 0.0, format!("{what} {whereabouts}"));
        findings[number] = Some(Finding { shows_process: true, ..finding });
    }
    unfinished(evidence, findings)
}

fn blame<'a>(evidence: &'a Evidence<'_>) -> Blame<'a> {
    let trace = evidence.trace;
    match (&trace.running, &trace.suite) {
        (Some(Running { which: Which::Requested(number), since }), _) => Blame::Test(*number, *since),
        (Some(Running { which: Which::Other(name), .. }), _) => Blame::OtherTest(name),
        (None, Some(suite)) => {
            let members = trace.tests.iter().enumerate().filter(|(i, _)| evidence.is_in(*i, suite));
            let pending = members.map(|(_, test)| test.state == State::Pending).collect::<Vec<bool>>();
            match (pending.contains(&true), pending.contains(&false)) {
                (true, false) => Blame::SuiteSetUp(suite),
                (false, true) => Blame::SuiteTearDown(suite),
                (true, true) | (false, false) => Blame::Unknown,
            }
        }
        (None, None) => Blame::Unknown,
    }
}

/// Results for what is known; the rest remains.
fn unfinished(evidence: &Evidence<'_>, findings: Vec<Option<Finding>>) -> Conclusion {
    let unknown = findings.iter().zip(&evidence.trace.tests).filter(|(finding, _)| finding.is_none());
    let remaining = unknown.map(|(_, test)| test.name.clone()).collect();
    Conclusion { results: evidence.results(&findings), failure: None, remaining }
}

/// Passes and skips among `doubted` become inconclusive, and the process has failed.
fn doubtful(
    evidence: &Evidence<'_>,
    mut findings: Vec<Option<Finding>>,
    doubted: &[usize],
    explanation: String,
) -> Conclusion {
    let mut tests = Vec::new();
    for &number in doubted {
        let Some(finding) = &mut findings[number] else { continue };
        match finding.verdict {
            Verdict::Passed | Verdict::Skipped => {
                let said = if finding.verdict == Verdict::Passed { "passed" } else { "was skipped" };
                finding.verdict = Verdict::Inconclusive;
                finding.remark = Some(format!("the test {said}, but its process failed: {explanation}"));
                finding.shows_process = true;
                tests.push(evidence.id(number));
            }
            Verdict::Failed | Verdict::Crashed | Verdict::TimedOut | Verdict::Inconclusive => {}
        }
    }
    tests.sort();
    let failure = ProcessFailure {
        target: evidence.target.to_string(),
        tests,
        explanation,
        output_tail: evidence.trace.outside.text(),
    };
    Conclusion { failure: Some(failure), ..unfinished(evidence, findings) }
}

fn remarked(verdict: Verdict, duration_s: f64, remark: String) -> Finding {
    Finding { verdict, duration_s, failures: Vec::new(), remark: Some(remark), shows_process: false }
}

impl Evidence<'_> {
    fn results(&self, findings: &[Option<Finding>]) -> Vec<TestResult> {
        let known = findings.iter().enumerate().filter_map(|(i, finding)| Some((i, finding.as_ref()?)));
        known.map(|(number, finding)| self.result(number, finding)).collect()
    }

    fn result(&self, number: usize, finding: &Finding) -> TestResult {
        let mut output_tail = self.trace.tests[number].output.text();
        let message = finding.remark.clone().or_else(|| match finding.verdict {
            Verdict::Failed => finding.failures.first().cloned().or_else(|| printed_failure(&output_tail)),
            Verdict::Skipped => printed_skip(&output_tail),
            Verdict::Passed | Verdict::Crashed | Verdict::TimedOut | Verdict::Inconclusive => None,
        });
        for failure in &finding.failures {
            // The printer shows the same text behind a first line of its own.
            let text = failure.split_once('\n').map_or(failure.as_str(), |(_, text)| text);
            if !output_tail.contains(text) {
                append_line(&mut output_tail, failure);
            }
        }
        if finding.shows_process {
            let outside = self.outside_output();
            outside.iter().for_each(|text| append_line(&mut output_tail, text));
        }
        if let Some(remark) = &finding.remark {
            append_line(&mut output_tail, remark);
        }
        let outcome = Outcome { verdict: finding.verdict, duration_s: finding.duration_s, output_tail };
        TestResult::new(self.id(number), outcome, message)
    }

    fn id(&self, number: usize) -> TestId {
        TestId::new(self.target, &self.trace.tests[number].name)
    }

    fn is_in(&self, number: usize, suite: &str) -> bool {
        self.trace.tests[number].name.strip_prefix(suite).is_some_and(|rest| rest.starts_with('.'))
    }

    /// The verdict and the words for a process that ended early.
    fn early_end(&self) -> (Verdict, String) {
        match self.end.stop {
            Some(Stop::Deadline) => {
                let seconds = self.timeout.as_secs_f64();
                (Verdict::TimedOut, format!("the process was stopped after {seconds} s without progress"))
            }
            Some(Stop::Cancelled) | None => (Verdict::Crashed, format!("the process {}", self.end.exit)),
        }
    }

    /// A failure outside of suites; what is known of it, to be put behind a sentence.
    fn outside_failure(&self) -> Option<String> {
        let reported = self.report.map(Report::outside_failures).unwrap_or_default();
        let reported = reported.first().map(|failure| format!(": {failure}"));
        reported.or_else(|| self.suspects().any(Option::is_none).then(String::new))
    }

    /// Printed signs of failures outside of tests: they count only where the process says that it failed.
    fn suspects(&self) -> impl Iterator<Item = &Option<String>> {
        self.trace.suspects.iter().filter(|_| self.end.exit != Exit::Code(0))
    }

    fn failed_suites(&self) -> Vec<String> {
        let reported = self.report.into_iter().flat_map(Report::failed_suites).map(str::to_string);
        let printed = self.trace.failed_suites.iter().chain(self.suspects().flatten()).cloned();
        let mut suites: Vec<String> = reported.chain(printed).collect();
        suites.sort();
        suites.dedup();
        suites
    }

    /// Also a failed test that was not asked for explains an exit code.
    fn any_test_failed(&self, findings: &[Option<Finding>]) -> bool {
        let requested = findings.iter().flatten().any(|finding| finding.verdict == Verdict::Failed);
        let mut cases = self.report.into_iter().flat_map(Report::cases);
        requested || cases.any(|(_, case)| !case.failures.is_empty())
    }

    /// The last part of what the process printed outside of tests.
    fn outside_output(&self) -> Option<String> {
        let text = self.trace.outside.text();
        let text = text.trim();
        let from = text.len().saturating_sub(1500);
        let from = (from..text.len()).find(|i| text.is_char_boundary(*i))?;
        Some(format!("output of the process:\n{}", &text[from..]))
    }
}

fn append_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
}

/// The reason given to `GTEST_SKIP()`, from `file:line: Skipped` and the lines after it.
fn printed_skip(output: &str) -> Option<String> {
    let (_, reason) = output.split_once(": Skipped\n")?;
    let reason = reason.split_once("\n\n").map_or(reason, |(reason, _)| reason).trim();
    (!reason.is_empty()).then(|| reason.to_string())
}

/// The first assertion's text, where there is no report.
fn printed_failure(output: &str) -> Option<String> {
    let (before, after) = output.split_once(": Failure\n")?;
    let location = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    let text = after.split_once("\n\n").map_or(after, |(text, _)| text).trim_end();
    Some(format!("{location}\n{text}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::googletest::progress::Progress;
    use crate::process::Watcher;

    const TIMEOUT: Duration = Duration::from_secs(5);
    const NAMES: [&str; 5] = ["A.one", "A.two", "B.one", "B.two", "C.one"];

    fn traced(lines: &[&str]) -> Trace {
        let mut emit = |_| {};
        let names = NAMES.map(str::to_string);
        let mut progress = Progress::new("t", &names, TIMEOUT, &mut emit);
        progress.output(b"[==========] Running 5 tests.\n");
        lines.iter().for_each(|line| progress.output(format!("{line}\n").as_bytes()));
        progress.finish()
    }

    fn concluded(lines: &[&str], report: Option<&Report>, exit: Exit, stop: Option<Stop>) -> Conclusion {
        let trace = traced(lines);
        let end = ProcessEnd { exit, stop, duration: Duration::ZERO };
        conclude(&Evidence { target: "t", trace: &trace, report, end, timeout: TIMEOUT })
    }

    fn verdicts(conclusion: &Conclusion) -> Vec<(&str, Verdict)> {
        conclusion.results.iter().map(|r| (r.test.name.as_str(), r.outcome.verdict)).collect()
    }

    #[test]
    fn a_crash_in_a_test_nobody_asked_for_leaves_the_rest_to_another_process() {
        let lines = ["[ RUN      ] A.one", "[       OK ] A.one (0 ms)", "[ RUN      ] A.lookalike"];
        let conclusion = concluded(&lines, None, Exit::Signal(11), None);
        assert_eq!(verdicts(&conclusion), [("A.one", Verdict::Passed)]);
        assert_eq!(conclusion.remaining, NAMES[1..]);
    }

    #[test]
    fn a_crash_in_a_test_nobody_asked_for_before_all_others_is_named() {
        let conclusion = concluded(&["[ RUN      ] A.lookalike"], None, Exit::Signal(11), None);
        assert_eq!(verdicts(&conclusion), NAMES.map(|name| (name, Verdict::Crashed)));
        let message = conclusion.results[0].message.as_deref().unwrap();
        assert!(message.contains("SIGSEGV in A.lookalike"), "{message}");
    }

    #[test]
    fn a_process_stopped_between_two_tests_of_a_suite_blames_neither() {
        let lines = ["[----------] 2 tests from A", "[ RUN      ] A.one", "[       OK ] A.one (0 ms)"];
        let conclusion = concluded(&lines, None, Exit::Signal(15), Some(Stop::Deadline));
        assert_eq!(verdicts(&conclusion), [("A.one", Verdict::Passed)]);
        assert_eq!(conclusion.remaining.len(), 4);
    }

    #[test]
    fn an_exit_code_is_explained_by_a_failed_test_only_if_it_is_googletests_own() {
        let report = Report::parse(
            br#"{"testsuites": [{"name": "A", "testsuite": [
                {"name": "one", "status": "RUN", "result": "COMPLETED", "time": "0.5s"},
                {"name": "two", "status": "RUN", "result": "COMPLETED", "failures": [{"failure": "x.cc:1\nbad"}]}]}]}"#,
        )
        .unwrap();
        let conclusion = concluded(&[], Some(&report), Exit::Code(1), None);
        assert_eq!(verdicts(&conclusion)[..2], [("A.one", Verdict::Passed), ("A.two", Verdict::Failed)]);
        assert!(conclusion.failure.is_none());
        assert_eq!(conclusion.results[0].outcome.duration_s, 0.5);
        assert_eq!(conclusion.results[1].outcome.output_tail, "x.cc:1\nbad\n");
        let conclusion = concluded(&[], Some(&report), Exit::Code(66), None);
        assert_eq!(
            verdicts(&conclusion)[..2],
            [("A.one", Verdict::Inconclusive), ("A.two", Verdict::Failed)]
        );
        assert_eq!(conclusion.failure.unwrap().tests, [TestId::new("t", "A.one")]);
    }

    /// Whatever is printed and however the process ends: no test is lost, none has two outcomes, something is
    /// settled, and a process that failed without a failed test is reported.
    #[test]
    fn every_process_settles_something_and_loses_nothing() {
        let mut alphabet = vec![
            "[----------] 2 tests from A".to_string(),
            "[----------] 2 tests from B".to_string(),
            "[----------] 2 tests from A (1 ms total)".to_string(),
            "[==========] 5 tests ran.".to_string(),
            "[  FAILED  ] B: SetUpTestSuite or TearDownTestSuite".to_string(),
            "[ RUN      ] A.lookalike".to_string(),
            "noise".to_string(),
            "f.cc:12: Failure".to_string(),
        ];
        for name in NAMES {
            alphabet.push(format!("[ RUN      ] {name}"));
            alphabet.extend(
                ["       OK ", "  FAILED  ", "  SKIPPED "].map(|word| format!("[{word}] {name} (1 ms)")),
            );
        }
        let ends = [
            (Exit::Code(0), None),
            (Exit::Code(1), None),
            (Exit::Code(7), None),
            (Exit::Signal(6), None),
            (Exit::Signal(15), Some(Stop::Deadline)),
        ];
        let mut seed = 1u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below
        };
        for _ in 0..20_000 {
            let lines: Vec<&str> =
                (0..random(14)).map(|_| alphabet[random(alphabet.len())].as_str()).collect();
            let (exit, stop) = ends[random(ends.len())];
            let conclusion = concluded(&lines, None, exit, stop);
            let mut seen: Vec<&str> =
                conclusion.results.iter().map(|result| result.test.name.as_str()).collect();
            seen.extend(conclusion.remaining.iter().map(String::as_str));
            let unique: BTreeSet<&str> = seen.iter().copied().collect();
            assert_eq!((seen.len(), unique.len()), (5, 5), "{lines:?}");
            assert!(!conclusion.results.is_empty(), "{lines:?}");
            let green =
                |result: &TestResult| matches!(result.outcome.verdict, Verdict::Passed | Verdict::Skipped);
            let all_green = conclusion.results.iter().all(green) && conclusion.remaining.is_empty();
            assert!(
                !all_green || exit == Exit::Code(0) || conclusion.failure.is_some(),
                "{lines:?} {exit:?}"
            );
        }
    }
}
