//! What a run tells its caller while it goes on, and at its end. Showing or recording it is told elsewhere.

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;

use crate::googletest::Division;

/// Everything a run reports. Each requested test gets at most one `TestFinished`; after a completed run exactly
/// one, after an interrupted run none for the tests that had not ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The test's program said that it began. For progress displays.
    TestStarted { test: TestId },
    /// The test's program said that it ended so. Provisional: the outcome is only known when the process has
    /// exited, because a leak checker or a failing tear-down may still speak. For progress displays.
    TestEnded { test: TestId, verdict: Verdict },
    /// The outcome of a test: the one to record.
    TestFinished(TestResult),
    /// A process failed in a way that no single test can be blamed for. The run has failed, even when every
    /// test passed.
    ProcessFailed(ProcessFailure),
    /// Tests did not pass the way they were started, and do the way the framework itself starts them.
    Indivisible(Indivisible),
}

/// A program whose tests must not be taken apart as they were.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Indivisible {
    /// Example: `unit/core_test`.
    pub target: String,
    /// Those that pass the framework's own way only, sorted.
    pub tests: Vec<TestId>,
    /// How they are to be run from now on.
    pub division: Division,
}

/// One test's outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct TestResult {
    pub test: TestId,
    /// `output_tail` holds the test's own output, failure messages included, and ends with `message` where the
    /// runner has something to say.
    pub outcome: Outcome,
    /// The first failure message, or why the test crashed, timed out, was skipped or is inconclusive.
    ///
    /// Example: `the process was killed by SIGSEGV while this test was running`.
    pub message: Option<String>,
    /// The methods of a test class, where the test is one.
    pub cases: Vec<CaseResult>,
    /// How it ended before, where it was tried again in the same run: to be recorded, too.
    pub earlier: Vec<Outcome>,
}

/// One method of a test class.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseResult {
    /// The class as it was reported: it may be nested in the test's.
    pub class: String,
    pub name: String,
    pub verdict: Verdict,
    pub duration_s: f64,
    /// The failure message, or why it was skipped.
    pub message: Option<String>,
    /// Where it failed.
    pub detail: String,
}

impl TestResult {
    /// Of a test that is one piece.
    pub fn new(test: TestId, outcome: Outcome, message: Option<String>) -> TestResult {
        TestResult { test, outcome, message, cases: Vec::new(), earlier: Vec::new() }
    }
}

/// A process that failed although no test of it did.
#[derive(Clone, PartialEq, Debug)]
pub struct ProcessFailure {
    /// The target whose process it was. Example: `unit/core_test`.
    pub target: String,
    /// The tests whose outcome became inconclusive by it, sorted.
    pub tests: Vec<TestId>,
    /// What happened and what it means. One sentence or two.
    pub explanation: String,
    /// The last part of what the process printed outside of its tests.
    pub output_tail: String,
}

/// How a run ended, counted over all its events.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RunEnd {
    /// The run was cancelled before every test had its outcome.
    pub interrupted: bool,
    pub passed: usize,
    /// Failed, crashed or timed out.
    pub failed: usize,
    pub skipped: usize,
    pub inconclusive: usize,
    /// How many `ProcessFailed` events there were.
    pub process_failures: usize,
}

impl RunEnd {
    /// Every requested test passed or decided to be skipped, and nothing else went wrong.
    pub fn success(&self) -> bool {
        !self.interrupted && self.failed == 0 && self.inconclusive == 0 && self.process_failures == 0
    }

    /// How many tests have an outcome.
    pub fn tests(&self) -> usize {
        self.passed + self.failed + self.skipped + self.inconclusive
    }

    /// The sum of two runs, for callers that run in several steps.
    pub fn and(self, other: RunEnd) -> RunEnd {
        RunEnd {
            interrupted: self.interrupted || other.interrupted,
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
            inconclusive: self.inconclusive + other.inconclusive,
            process_failures: self.process_failures + other.process_failures,
        }
    }

    pub(crate) fn count(&mut self, event: &Event) {
        match event {
            Event::TestStarted { .. } | Event::TestEnded { .. } | Event::Indivisible(_) => {}
            Event::TestFinished(result) => match result.outcome.verdict {
                Verdict::Passed => self.passed += 1,
                Verdict::Failed | Verdict::Crashed | Verdict::TimedOut => self.failed += 1,
                Verdict::Skipped | Verdict::Excluded => self.skipped += 1,
                Verdict::Inconclusive => self.inconclusive += 1,
            },
            Event::ProcessFailed(_) => self.process_failures += 1,
        }
    }
}
