//! Plain programs as tests: exit code 0 is a pass. Programs with many tests inside and CTest's own rules are told
//! elsewhere.

use std::io;
use std::time::{Duration, Instant};

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;

use crate::event::{Event, ProcessFailure, TestResult};
use crate::process::{Exit, Leftovers, ProcessEnd, Stop, Streams, Watcher, supervise};
use crate::program::TestProgram;
use crate::transcript::Transcript;
use crate::workers::RunOptions;

/// A program that is one test.
#[derive(Clone, PartialEq, Debug)]
pub struct CommandTest {
    pub test: TestId,
    pub program: TestProgram,
    /// Its own time limit, instead of [`RunOptions::test_timeout`].
    pub timeout: Option<Duration>,
}

pub(crate) fn run(test: &CommandTest, options: &RunOptions, emit: &mut dyn FnMut(Event)) {
    emit(Event::TestStarted { test: test.test.clone() });
    let timeout = test.timeout.unwrap_or(options.test_timeout);
    let mut capture = Capture {
        transcript: Transcript::new(4096, 12 * 1024),
        deadline: Instant::now().checked_add(timeout),
    };
    let mut command = test.program.command();
    command.args(&test.program.arguments);
    match supervise(command, Streams::Together, Leftovers::Kill, &options.cancel, &mut capture) {
        Ok(end) => {
            if let Some(result) = result(test, end, timeout, &capture.transcript) {
                emit(Event::TestEnded { test: test.test.clone(), verdict: result.outcome.verdict });
                emit(Event::TestFinished(result));
            }
        }
        Err(error) => could_not_start(test, &error, emit),
    }
}

/// Everything printed, until a fixed moment.
struct Capture {
    transcript: Transcript,
    deadline: Option<Instant>,
}

impl Watcher for Capture {
    fn output(&mut self, bytes: &[u8]) {
        self.transcript.push(bytes);
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

/// `None` when the run was cancelled: nothing is known then.
fn result(
    test: &CommandTest,
    end: ProcessEnd,
    timeout: Duration,
    transcript: &Transcript,
) -> Option<TestResult> {
    let (verdict, message) = match (end.stop, end.exit) {
        (Some(Stop::Cancelled), _) => return None,
        (Some(Stop::Deadline), _) => {
            let message = format!("the process was stopped after {} s", timeout.as_secs_f64());
            (Verdict::TimedOut, Some(message))
        }
        (None, Exit::Code(0)) => (Verdict::Passed, None),
        (None, exit @ Exit::Code(_)) => (Verdict::Failed, Some(format!("the process {exit}"))),
        (None, exit @ Exit::Signal(_)) => (Verdict::Crashed, Some(format!("the process {exit}"))),
    };
    let mut output_tail = transcript.text();
    if let Some(message) = &message {
        if !transcript.is_empty() && !output_tail.ends_with('\n') {
            output_tail.push('\n');
        }
        output_tail.push_str(message);
        output_tail.push('\n');
    }
    let outcome = Outcome { verdict, duration_s: end.duration.as_secs_f64(), output_tail };
    Some(TestResult::new(test.test.clone(), outcome, message))
}

fn could_not_start(test: &CommandTest, error: &io::Error, emit: &mut dyn FnMut(Event)) {
    let explanation = format!("{} could not be started: {error}", test.program.executable.display());
    let outcome =
        Outcome { verdict: Verdict::Inconclusive, duration_s: 0.0, output_tail: explanation.clone() };
    let result = TestResult::new(test.test.clone(), outcome, Some(explanation.clone()));
    emit(Event::TestFinished(result));
    emit(Event::ProcessFailed(ProcessFailure {
        target: test.program.target.clone(),
        tests: vec![test.test.clone()],
        explanation,
        output_tail: String::new(),
    }));
}
