//! What a process that ran tests means for each of them: the report, the printed lines and the way the process
//! ended, put together. A test has passed only if the report says so and the process ended with exit code 0; printed
//! lines tell whom an early end is due to, and nothing else. Pure: it starts nothing and reads no file.

use std::collections::HashMap;
use std::time::Duration;

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
    /// GoogleTest's own mark says that it exited before its tests had ended.
    pub(super) left_early: bool,
    pub(super) end: ProcessEnd,
    pub(super) timeout: Duration,
}

#[derive(Debug)]
pub(super) struct Conclusion {
    pub(super) results: Vec<TestResult>,
    pub(super) failure: Option<ProcessFailure>,
    pub(super) next: Next,
}

/// What is to be done about the tests without a result.
#[derive(Debug)]
pub(super) enum Next {
    /// Another process must run them. Always fewer than this one was given.
    Rest(Vec<String>),
    /// The program ran to its end, as far as anyone can see, and wrote no report: nothing is settled.
    Unreported,
    /// The process ended early in tests that were not the first: they, or what ran before them, may be the cause.
    Suspects(Suspects),
}

/// Tests that may have brought a process down.
#[derive(Debug)]
pub(super) struct Suspects {
    /// Those that it ended in. Alone in a process they show whether it is they.
    pub(super) blamed: Vec<String>,
    /// Those that had ended before.
    pub(super) earlier: Vec<String>,
    /// Those that never began.
    pub(super) rest: Vec<String>,
    /// What happened, to be put behind `but`.
    pub(super) what: String,
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

/// Whom an early end is due to, by number.
struct Blame {
    tests: Vec<usize>,
    /// Example: `while this test was running`.
    whereabouts: String,
    /// They had passed by what was printed: the end came after them.
    had_ended: bool,
}

pub(super) fn conclude(evidence: &Evidence<'_>) -> Conclusion {
    if evidence.end.stop == Some(Stop::Cancelled) {
        return Conclusion { results: Vec::new(), failure: None, next: Next::Rest(Vec::new()) };
    }
    match evidence.report.filter(|_| !evidence.left_early) {
        Some(report) => reported(evidence, report),
        None if evidence.ran_to_its_end() => {
            Conclusion { results: Vec::new(), failure: None, next: Next::Unreported }
        }
        None => cut_short(evidence),
    }
}

/// A program without any report, run as a whole the way its author runs it: its exit code is all there is, and what it
/// printed can only speak against it.
pub(super) fn conclude_unreported(evidence: &Evidence<'_>) -> Conclusion {
    if evidence.end.stop == Some(Stop::Cancelled) {
        return Conclusion { results: Vec::new(), failure: None, next: Next::Rest(Vec::new()) };
    }
    let trace = evidence.trace;
    let is_through = evidence.ran_to_its_end();
    let whole = "the program writes no report, so its tests have the outcome of the program as a whole";
    let (what, verdict) = match (evidence.end.stop, evidence.end.exit) {
        (None, Exit::Code(0)) if is_through => (whole.to_string(), Verdict::Passed),
        _ => (format!("{whole}: {}", evidence.early_end().1), Verdict::Inconclusive),
    };
    let finding = |state: State| match state {
        State::Ended { verdict: Verdict::Failed, duration_s } => remarked(Verdict::Failed, duration_s, None),
        State::Ended { verdict: Verdict::Skipped, duration_s } if verdict == Verdict::Passed => {
            remarked(Verdict::Skipped, duration_s, None)
        }
        State::Ended { duration_s, .. } => remarked(verdict, duration_s, Some(what.clone())),
        State::Pending | State::Running => remarked(verdict, 0.0, Some(what.clone())),
    };
    let findings: Vec<Option<Finding>> = trace.tests.iter().map(|test| Some(finding(test.state))).collect();
    let is_green = verdict == Verdict::Passed;
    let failure = (!is_green).then(|| evidence.failure(&[], what.clone()));
    Conclusion { results: evidence.results(&findings), failure, next: Next::Rest(Vec::new()) }
}

/// A program that cannot list its tests, run as one test the way its author runs it: its exit code is the verdict, if
/// it did not come from within a test.
pub(super) fn conclude_unlisted(evidence: &Evidence<'_>) -> Conclusion {
    let nothing = Conclusion { results: Vec::new(), failure: None, next: Next::Rest(Vec::new()) };
    let (verdict, remark) = match (evidence.end.stop, evidence.end.exit) {
        (Some(Stop::Cancelled), _) => return nothing,
        (None, Exit::Code(0)) if !evidence.left_early => (Verdict::Passed, None),
        (None, Exit::Code(0)) => {
            (Verdict::Crashed, Some("the process exited with code 0 before its tests had ended".to_string()))
        }
        (None, Exit::Code(code)) => (Verdict::Failed, Some(format!("the process exited with code {code}"))),
        (Some(Stop::Deadline), _) | (None, Exit::Signal(_)) => {
            let (verdict, what) = evidence.early_end();
            (verdict, Some(what))
        }
    };
    let duration_s = evidence.end.duration.as_secs_f64();
    let finding = Finding { shows_process: true, ..remarked(verdict, duration_s, remark) };
    Conclusion { results: evidence.results(&[Some(finding)]), ..nothing }
}

/// What the report says of each test.
fn findings(evidence: &Evidence<'_>, report: &Report) -> Vec<Finding> {
    let mut cases: HashMap<String, Vec<&Case>> = HashMap::new();
    for (name, case) in report.cases() {
        cases.entry(name).or_default().push(case);
    }
    let tests = evidence.trace.tests.iter();
    tests
        .map(|test| {
            let cases = cases.get(&test.name).map_or(&[][..], Vec::as_slice);
            reported_finding(cases, evidence.has_begun(report, test.state))
        })
        .collect()
}

/// Several tests may have one name: each of them must have passed.
fn reported_finding(cases: &[&Case], has_begun: bool) -> Finding {
    let ran: Vec<&&Case> = cases.iter().filter(|case| case.status != Status::NotRun).collect();
    if ran.is_empty() {
        let remark = "the program was asked to run this test and did not: it is disabled, excluded by the \
                      program's own main(), or gone";
        return remarked(Verdict::Inconclusive, 0.0, Some(remark.into()));
    }
    let failures: Vec<String> = ran.iter().flat_map(|case| case.failures.iter().cloned()).collect();
    let never_begun = |case: &&&Case| case.status == Status::NeverBegun && !has_begun;
    let (verdict, remark) = if !failures.is_empty() {
        (Verdict::Failed, None)
    } else if ran.iter().any(never_begun) {
        (Verdict::Skipped, Some("a global test environment skipped all tests".to_string()))
    } else if ran.iter().any(|case| case.status == Status::Skipped) {
        (Verdict::Skipped, None)
    } else {
        (Verdict::Passed, None)
    };
    let duration_s = ran.iter().map(|case| case.duration_s).sum();
    let shows_process = remark.is_some();
    Finding { verdict, duration_s, failures, remark, shows_process }
}

/// The program wrote its report. Passes stand if nothing else went wrong. If something did, the tests that would have
/// passed must show it again without those that did not; and if none can be named, none of them has passed.
fn reported(evidence: &Evidence<'_>, report: &Report) -> Conclusion {
    let mut findings = findings(evidence, report);
    let Some(trouble) = evidence.trouble(report, &findings) else {
        let findings: Vec<Option<Finding>> = findings.into_iter().map(Some).collect();
        return Conclusion {
            results: evidence.results(&findings),
            failure: None,
            next: Next::Rest(Vec::new()),
        };
    };
    let suites = evidence.failed_suites(report);
    let would_pass = |finding: &Finding| matches!(finding.verdict, Verdict::Passed | Verdict::Skipped);
    let green: Vec<usize> = (0..findings.len()).filter(|number| would_pass(&findings[*number])).collect();
    let of_suites: Vec<usize> = green
        .iter()
        .copied()
        .filter(|number| suites.iter().any(|suite| evidence.is_in(*number, suite)))
        .collect();
    let (doubted, explanation) = if !of_suites.is_empty() {
        let explanation = format!("SetUpTestSuite or TearDownTestSuite failed in {}", suites.join(", "));
        (of_suites, Some(explanation))
    } else if green.len() == findings.len() {
        (green.clone(), Some(trouble))
    } else {
        (Vec::new(), None)
    };
    let failure = explanation.map(|explanation| {
        doubtful(&mut findings, &doubted, &explanation);
        evidence.failure(&doubted, explanation)
    });
    let settled = |number: usize, finding: Finding| {
        (!green.contains(&number) || doubted.contains(&number)).then_some(finding)
    };
    let findings: Vec<Option<Finding>> =
        findings.into_iter().enumerate().map(|(number, finding)| settled(number, finding)).collect();
    unfinished(evidence, &findings, failure)
}

/// The process ended, or had to be stopped, before the program was through.
fn cut_short(evidence: &Evidence<'_>) -> Conclusion {
    let numbers = 0..evidence.trace.tests.len();
    let has_ended = |number: &usize| matches!(evidence.trace.tests[*number].state, State::Ended { .. });
    let ended: Vec<usize> = numbers.clone().filter(has_ended).collect();
    let (verdict, what) = evidence.early_end();
    let Some(Blame { tests, whereabouts, had_ended }) = blame(evidence, &ended) else {
        // It can be due to any test that ran, or to none.
        let explanation = match &evidence.trace.running {
            Some(Running { which: Which::Other(name), .. }) => {
                format!("{what} in {name}, which no filter can tell from the tests asked for")
            }
            _ if ended.len() == evidence.trace.tests.len() => {
                format!("{what} after its last test, before it wrote its results")
            }
            _ => format!("{what} between two tests"),
        };
        return doubted(evidence, &ended, explanation);
    };
    let earlier: Vec<usize> = ended.iter().copied().filter(|number| !tests.contains(number)).collect();
    if !earlier.is_empty() {
        let is_rest = |number: &usize| !tests.contains(number) && !earlier.contains(number);
        let rest: Vec<usize> = numbers.filter(is_rest).collect();
        let names = |numbers: &[usize]| -> Vec<String> {
            numbers.iter().map(|number| evidence.trace.tests[*number].name.clone()).collect()
        };
        let place = match tests.as_slice() {
            [one] if !had_ended => format!("in {}", evidence.trace.tests[*one].name),
            _ => whereabouts,
        };
        let suspects = Suspects {
            blamed: names(&tests),
            earlier: names(&earlier),
            rest: names(&rest),
            what: format!("{what} {place}"),
        };
        return Conclusion { results: Vec::new(), failure: None, next: Next::Suspects(suspects) };
    }
    if had_ended {
        return doubted(evidence, &tests, format!("{what} {whereabouts}"));
    }
    let mut findings = vec![None; evidence.trace.tests.len()];
    for number in tests {
        let is_running = evidence.trace.tests[number].state == State::Running;
        let since = evidence.trace.running.as_ref().filter(|_| is_running).map(|running| running.since);
        let duration_s = since.map_or(0.0, |since| since.elapsed().as_secs_f64());
        let finding = remarked(verdict, duration_s, Some(format!("{what} {whereabouts}")));
        findings[number] = Some(Finding { shows_process: !is_running, ..finding });
    }
    unfinished(evidence, &findings, None)
}

/// `None` where the end falls between tests.
fn blame(evidence: &Evidence<'_>, ended: &[usize]) -> Option<Blame> {
    let trace = evidence.trace;
    let all = || (0..trace.tests.len()).collect::<Vec<usize>>();
    match (&trace.running, &trace.suite) {
        (Some(Running { which: Which::Requested(number), .. }), _) => {
            let whereabouts = "while this test was running".to_string();
            Some(Blame { tests: vec![*number], whereabouts, had_ended: false })
        }
        (Some(Running { which: Which::Other(name), .. }), _) if ended.is_empty() => {
            let whereabouts = format!("in {name}, which no filter can tell from the tests asked for");
            Some(Blame { tests: all(), whereabouts, had_ended: false })
        }
        (None, Some(suite)) => {
            let members: Vec<usize> =
                (0..trace.tests.len()).filter(|number| evidence.is_in(*number, suite)).collect();
            let pending =
                members.iter().filter(|number| trace.tests[**number].state == State::Pending).count();
            if members.is_empty() {
                None
            } else if pending == members.len() {
                let whereabouts = format!("while {suite} was being set up (SetUpTestSuite)");
                Some(Blame { tests: members, whereabouts, had_ended: false })
            } else if pending == 0 {
                let whereabouts = format!("while {suite} was being torn down (TearDownTestSuite)");
                Some(Blame { tests: members, whereabouts, had_ended: true })
            } else {
                None
            }
        }
        (None, None) if ended.is_empty() => {
            let in_silence = evidence.left_early && !trace.began;
            let whereabouts =
                if in_silence { "in a test, without saying which" } else { "before any test began" };
            let whereabouts = whereabouts.to_string();
            Some(Blame { tests: all(), whereabouts, had_ended: false })
        }
        (Some(Running { which: Which::Other(_), .. }) | None, _) => None,
    }
    // Nothing else is to be settled: those that began nothing are all there is to blame.
    .or_else(|| {
        let whereabouts = "between two tests".to_string();
        ended.is_empty().then(|| Blame { tests: all(), whereabouts, had_ended: false })
    })
}

/// Tests that would have passed have not; the others need another process.
fn doubted(evidence: &Evidence<'_>, numbers: &[usize], explanation: String) -> Conclusion {
    let mut findings = vec![None; evidence.trace.tests.len()];
    for number in numbers {
        let duration_s = match evidence.trace.tests[*number].state {
            State::Ended { duration_s, .. } => duration_s,
            State::Pending | State::Running => 0.0,
        };
        let remark = format!("the test ran to its end, but {explanation}");
        let finding = remarked(Verdict::Inconclusive, duration_s, Some(remark));
        findings[*number] = Some(Finding { shows_process: true, ..finding });
    }
    let failure = evidence.failure(numbers, explanation);
    unfinished(evidence, &findings, Some(failure))
}

/// Results for what is known; the rest remains.
fn unfinished(
    evidence: &Evidence<'_>,
    findings: &[Option<Finding>],
    failure: Option<ProcessFailure>,
) -> Conclusion {
    let unknown = findings.iter().zip(&evidence.trace.tests).filter(|(finding, _)| finding.is_none());
    let remaining = unknown.map(|(_, test)| test.name.clone()).collect();
    Conclusion { results: evidence.results(findings), failure, next: Next::Rest(remaining) }
}

/// Passes and skips become inconclusive.
fn doubtful(findings: &mut [Finding], doubted: &[usize], explanation: &str) {
    for &number in doubted {
        let finding = &mut findings[number];
        let said = if finding.verdict == Verdict::Passed { "passed" } else { "was skipped" };
        finding.verdict = Verdict::Inconclusive;
        finding.remark = Some(format!("the test {said}, but its process failed: {explanation}"));
        finding.shows_process = true;
    }
}

/// A test that may have brought down a process in which others ran, too.
pub(super) fn suspected(target: &str, name: &str, suspects: &Suspects) -> TestResult {
    let what = &suspects.what;
    let message = format!(
        "{what}, which did not happen again with that alone: any test that had run in the process may be the cause"
    );
    let outcome =
        Outcome { verdict: Verdict::Inconclusive, duration_s: 0.0, output_tail: format!("{message}\n") };
    TestResult::new(TestId::new(target, name), outcome, Some(message))
}

fn remarked(verdict: Verdict, duration_s: f64, remark: Option<String>) -> Finding {
    Finding { verdict, duration_s, failures: Vec::new(), remark, shows_process: false }
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
            Verdict::Passed
            | Verdict::Crashed
            | Verdict::TimedOut
            | Verdict::Excluded
            | Verdict::Inconclusive => None,
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

    /// Whether nothing speaks for an early end: the program said that it was through, or never spoke.
    fn ran_to_its_end(&self) -> bool {
        let is_silent = !self.trace.began && self.trace.running.is_none();
        let exited = matches!(self.end.exit, Exit::Code(_)) && self.end.stop.is_none();
        exited && !self.left_early && (self.trace.finished || (is_silent && self.end.exit == Exit::Code(0)))
    }

    /// Whether a test began whose time in the report is the beginning of time: it was printed, or the clock cannot tell.
    fn has_begun(&self, report: &Report, state: State) -> bool {
        state != State::Pending || (report.began_at_epoch && !self.trace.began)
    }

    /// What went wrong with a process that wrote its report, beyond what can be a test's; failed tests alone explain a
    /// code that is not 0, but may hide another reason for it.
    fn trouble(&self, report: &Report, findings: &[Finding]) -> Option<String> {
        if self.end.stop == Some(Stop::Deadline) {
            let seconds = self.timeout.as_secs_f64();
            return Some(format!("the process did not exit within {seconds} s after its last test"));
        }
        let exit = self.end.exit;
        let outside = report.outside_failures();
        if let Some(failure) = outside.first() {
            return Some(format!(
                "an assertion failed outside of any test (a global test environment?): {failure}"
            ));
        }
        if exit != Exit::Code(0) && self.trace.suspects.iter().any(Option::is_none) {
            return Some("an assertion failed outside of any test (a global test environment?)".to_string());
        }
        let suites = self.failed_suites(report);
        if !suites.is_empty() {
            return Some(format!("SetUpTestSuite or TearDownTestSuite failed in {}", suites.join(", ")));
        }
        if let Some(name) = self.other_failed(report) {
            return Some(format!("{name} failed, which was not asked for"));
        }
        let test_failed = findings.iter().any(|finding| finding.verdict == Verdict::Failed);
        (exit != Exit::Code(0)).then(|| {
            let others = if test_failed { "apart from its failed tests" } else { "although no test failed" };
            format!("the process {exit} {others} (a leak checker, a tear-down or an exit handler?)")
        })
    }

    /// Printed signs count only where the process says that it failed: a test may print anything.
    fn failed_suites(&self, report: &Report) -> Vec<String> {
        let trace = self.trace;
        let printed = trace.failed_suites.iter().chain(trace.suspects.iter().flatten());
        let printed = printed.filter(|_| self.end.exit != Exit::Code(0)).cloned();
        let mut suites: Vec<String> = report.failed_suites().map(str::to_string).chain(printed).collect();
        suites.sort();
        suites.dedup();
        suites
    }

    /// A failed test that was not asked for.
    fn other_failed(&self, report: &Report) -> Option<String> {
        let is_other = |name: &String| self.trace.tests.iter().all(|test| test.name != *name);
        let mut failed = report.cases().filter(|(_, case)| !case.failures.is_empty());
        failed.find(|(name, _)| is_other(name)).map(|(name, _)| name)
    }

    fn failure(&self, doubted: &[usize], explanation: String) -> ProcessFailure {
        let mut tests: Vec<TestId> = doubted.iter().map(|number| self.id(*number)).collect();
        tests.sort();
        ProcessFailure {
            target: self.target.to_string(),
            tests,
            explanation,
            output_tail: self.trace.outside.text(),
        }
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
        let left_early = false;
        conclude(&Evidence { target: "t", trace: &trace, report, left_early, end, timeout: TIMEOUT })
    }

    fn verdicts(conclusion: &Conclusion) -> Vec<(&str, Verdict)> {
        conclusion.results.iter().map(|r| (r.test.name.as_str(), r.outcome.verdict)).collect()
    }

    fn rest(conclusion: &Conclusion) -> &[String] {
        match &conclusion.next {
            Next::Rest(rest) => rest,
            other => panic!("{other:?}"),
        }
    }

    const REPORT: &[u8] = br#"{"testsuites": [{"name": "A", "testsuite": [
        {"name": "one", "status": "RUN", "result": "COMPLETED", "time": "0.5s"},
        {"name": "two", "status": "RUN", "result": "COMPLETED", "failures": [{"failure": "x.cc:1\nbad"}]}]},
        {"name": "B", "testsuite": [{"name": "one", "status": "RUN", "result": "COMPLETED"},
        {"name": "two", "status": "RUN", "result": "COMPLETED"}]},
        {"name": "C", "testsuite": [{"name": "one", "status": "RUN", "result": "COMPLETED"}]}]}"#;

    #[test]
    fn a_crash_in_a_test_nobody_asked_for_leaves_the_rest_to_another_process() {
        let lines = ["[ RUN      ] A.one", "[       OK ] A.one (0 ms)", "[ RUN      ] A.lookalike"];
        let conclusion = concluded(&lines, None, Exit::Signal(11), None);
        assert_eq!(verdicts(&conclusion), [("A.one", Verdict::Inconclusive)]);
        assert!(conclusion.failure.is_some());
        assert_eq!(rest(&conclusion), &NAMES[1..]);
    }

    #[test]
    fn a_crash_in_a_test_nobody_asked_for_before_all_others_is_named() {
        let conclusion = concluded(&["[ RUN      ] A.lookalike"], None, Exit::Signal(11), None);
        assert_eq!(verdicts(&conclusion), NAMES.map(|name| (name, Verdict::Crashed)));
        let message = conclusion.results[0].message.as_deref().unwrap();
        assert!(message.contains("SIGSEGV in A.lookalike"), "{message}");
    }

    #[test]
    fn a_process_stopped_between_two_tests_of_a_suite_puts_those_before_in_doubt() {
        let lines = ["[----------] 2 tests from A", "[ RUN      ] A.one", "[       OK ] A.one (0 ms)"];
        let conclusion = concluded(&lines, None, Exit::Signal(15), Some(Stop::Deadline));
        assert_eq!(verdicts(&conclusion), [("A.one", Verdict::Inconclusive)]);
        assert_eq!(rest(&conclusion).len(), 4);
    }

    #[test]
    fn the_tests_before_a_crash_are_suspects_too() {
        let lines = ["[ RUN      ] A.one", "[       OK ] A.one (0 ms)", "[ RUN      ] A.two"];
        let conclusion = concluded(&lines, None, Exit::Signal(6), None);
        let Next::Suspects(suspects) = conclusion.next else { panic!("{conclusion:?}") };
        assert_eq!(
            (suspects.blamed, suspects.earlier),
            (vec!["A.two".to_string()], vec!["A.one".to_string()])
        );
        assert_eq!(suspects.rest, NAMES[2..]);
        assert!(conclusion.results.is_empty());
    }

    #[test]
    fn a_pass_needs_a_report_and_exit_code_0() {
        let report = Report::parse(REPORT).unwrap();
        let conclusion = concluded(&[], Some(&report), Exit::Code(0), None);
        let green = [("A.one", Verdict::Passed), ("A.two", Verdict::Failed)];
        assert_eq!(verdicts(&conclusion)[..2], green);
        assert_eq!(conclusion.results[0].outcome.duration_s, 0.5);
        assert_eq!(conclusion.results[1].outcome.output_tail, "x.cc:1\nbad\n");
        for exit in [Exit::Code(1), Exit::Code(66), Exit::Signal(6)] {
            let conclusion = concluded(&[], Some(&report), exit, None);
            assert_eq!(verdicts(&conclusion), [("A.two", Verdict::Failed)], "{exit}");
            assert_eq!(rest(&conclusion), ["A.one", "B.one", "B.two", "C.one"], "{exit}");
        }
        let printed = NAMES.map(|name| format!("[ RUN      ] {name}\n[       OK ] {name} (0 ms)"));
        let mut lines: Vec<&str> = printed.iter().map(String::as_str).collect();
        lines.push("[==========] 5 tests ran.");
        let conclusion = concluded(&lines, None, Exit::Code(0), None);
        assert!(matches!(conclusion.next, Next::Unreported) && conclusion.results.is_empty());
    }

    #[test]
    fn of_two_tests_of_one_name_both_must_pass() {
        let report = |first: &str, second: &str| {
            let case =
                |failures: &str| format!(r#"{{"name": "one", "status": "RUN", "failures": [{failures}]}}"#);
            let text = format!(
                r#"{{"testsuites": [{{"name": "A", "testsuite": [{}, {}]}}]}}"#,
                case(first),
                case(second)
            );
            Report::parse(text.as_bytes()).unwrap()
        };
        let bad = r#"{"failure": "bad"}"#;
        for (first, second, verdict) in
            [("", "", Verdict::Passed), (bad, "", Verdict::Failed), ("", bad, Verdict::Failed)]
        {
            let conclusion = concluded(&[], Some(&report(first, second)), Exit::Code(0), None);
            assert_eq!(verdicts(&conclusion)[0], ("A.one", verdict));
        }
    }

    #[test]
    fn a_clock_at_its_beginning_hides_no_failure_and_no_test() {
        let text = String::from_utf8(REPORT.to_vec()).unwrap();
        let epoch = r#""timestamp": "1970-01-01T00:00:00Z", "status": "RUN""#;
        let cases = text.replace(r#""status": "RUN""#, epoch);
        let report = |text: &str| Report::parse(text.as_bytes()).unwrap();
        let skipped = concluded(&[], Some(&report(&cases)), Exit::Code(0), None);
        assert_eq!(verdicts(&skipped)[..2], [("A.one", Verdict::Skipped), ("A.two", Verdict::Failed)]);
        let lines = ["[ RUN      ] A.one", "[       OK ] A.one (0 ms)"];
        let ran = concluded(&lines, Some(&report(&cases)), Exit::Code(0), None);
        assert_eq!(verdicts(&ran)[..2], [("A.one", Verdict::Passed), ("A.two", Verdict::Failed)]);
    }

    /// Whatever is printed and however the process ends: no test is lost, none has two outcomes, none passes without a
    /// report, and a process that failed without a failed test is reported.
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
            let unsettled: Vec<String> = match &conclusion.next {
                Next::Rest(rest) => rest.clone(),
                Next::Suspects(Suspects { blamed, earlier, rest, .. }) => {
                    assert!(!blamed.is_empty() && !earlier.is_empty(), "{lines:?}");
                    [blamed.as_slice(), earlier, rest].concat()
                }
                Next::Unreported => NAMES.map(str::to_string).to_vec(),
            };
            let mut seen: Vec<&str> =
                conclusion.results.iter().map(|result| result.test.name.as_str()).collect();
            seen.extend(unsettled.iter().map(String::as_str));
            let unique: BTreeSet<&str> = seen.iter().copied().collect();
            assert_eq!((seen.len(), unique.len()), (5, 5), "{lines:?}");
            assert!(!matches!(conclusion.next, Next::Rest(_)) || !conclusion.results.is_empty(), "{lines:?}");
            let green =
                |result: &TestResult| matches!(result.outcome.verdict, Verdict::Passed | Verdict::Skipped);
            assert!(!conclusion.results.iter().any(green), "{lines:?} {exit:?}");
        }
    }
}
