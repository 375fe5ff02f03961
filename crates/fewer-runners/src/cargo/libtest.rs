//! Tests of programs with Rust's harness: each in a process of its own, or several in one as `cargo test` has it. A test
//! has passed if the harness's log of that process says so exactly once and the process ended with 0; what is printed
//! is for people.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;

use super::log::{Log, Told, without_deprecation};
use crate::event::{Event, ProcessFailure, TestResult};
use crate::process::{Exit, Leftovers, ProcessEnd, Stop, Streams, Watcher, supervise};
use crate::program::TestProgram;
use crate::transcript::Transcript;
use crate::workers::RunOptions;

/// A program with Rust's harness.
#[derive(Clone, PartialEq, Debug)]
pub struct LibtestProgram {
    /// With the arguments for processes that run tests by name.
    pub program: TestProgram,
    /// What `cargo test` gives it, but for what concerns the output.
    pub plain_arguments: Vec<String>,
    /// What `cargo test` would run of it, in one process.
    pub tests: Vec<String>,
    /// Whether the tests that are selected share a process.
    pub is_together: bool,
    /// Whether a failure counts only if `cargo test` has it, too.
    pub is_confirmed: bool,
}

/// Some tests of a program, for one process.
#[derive(Clone, PartialEq, Debug)]
pub struct LibtestJob {
    pub program: Arc<LibtestProgram>,
    pub tests: Vec<String>,
}

/// The longest list of names that is put into a command line; otherwise all tests run.
const LONGEST_ARGUMENTS: usize = 1024 * 1024;

/// What there is to say of a test that is not in the log although its process ended well.
pub(super) const NO_RESULT: &str = "the process exited with code 0, but Rust's test harness has no result of this test: \
                                    a test that ends the process (std::process::exit) has not passed";

pub(crate) fn run(job: &LibtestJob, options: &RunOptions, emit: &mut dyn FnMut(Event)) {
    match job.tests.as_slice() {
        [test] => {
            emit(Event::TestStarted { test: job.program.id(test) });
            job.program.run_alone(test, options).into_iter().for_each(|alone| alone.finding.tell(emit));
        }
        _ => run_together(job, options, emit),
    }
}

/// What came of a test in a process of its own.
struct Alone {
    finding: Finding,
    /// The process ended before the harness had a result, or could not be started.
    ends_process: bool,
}

/// What came of one test, or of a process that could not be judged.
enum Finding {
    Result(TestResult),
    Failure(TestResult, ProcessFailure),
}

impl Finding {
    fn result(&self) -> &TestResult {
        match self {
            Finding::Result(result) | Finding::Failure(result, _) => result,
        }
    }

    fn tell(self, emit: &mut dyn FnMut(Event)) {
        let (result, failure) = match self {
            Finding::Result(result) => (result, None),
            Finding::Failure(result, failure) => (result, Some(failure)),
        };
        emit(Event::TestEnded { test: result.test.clone(), verdict: result.outcome.verdict });
        emit(Event::TestFinished(result));
        failure.into_iter().for_each(|failure| emit(Event::ProcessFailed(failure)));
    }
}

impl LibtestProgram {
    fn id(&self, test: &str) -> TestId {
        TestId::new(&self.program.target, test)
    }

    /// `None` when the run was cancelled: nothing is known then.
    fn run_alone(&self, test: &str, options: &RunOptions) -> Option<Alone> {
        let mut arguments = vec![test.to_string(), "--exact".to_string(), "--nocapture".to_string()];
        arguments.extend(self.program.arguments.iter().cloned());
        let limit = Limit::Whole(options.test_timeout);
        match Process::run(&self.program, &arguments, limit, options) {
            Ok(process) => {
                let result = self.judge_alone(test, &process, options.test_timeout)?;
                let ends_process = !process.told.has_passed(test) && !process.told.has_failed(test);
                Some(Alone { finding: Finding::Result(result), ends_process })
            }
            Err(error) => {
                let why = format!("{} could not be started: {error}", self.program.executable.display());
                let result =
                    self.result(test, Verdict::Inconclusive, Some(why.clone()), (0.0, String::new()));
                let failure = self.failure(&[test.to_string()], why, String::new());
                Some(Alone { finding: Finding::Failure(result, failure), ends_process: true })
            }
        }
    }

    fn judge_alone(&self, test: &str, process: &Process, timeout: Duration) -> Option<TestResult> {
        let has_passed = process.told.has_passed(test);
        let (verdict, message) = match (process.end.stop, process.end.exit) {
            (Some(Stop::Cancelled), _) => return None,
            (Some(Stop::Deadline), _) => {
                let message = format!("the process was stopped after {} s", timeout.as_secs_f64());
                (Verdict::TimedOut, Some(message))
            }
            (None, Exit::Code(0)) if has_passed => (Verdict::Passed, None),
            (None, Exit::Code(0)) => (Verdict::Failed, Some(NO_RESULT.to_string())),
            (None, exit @ Exit::Code(_)) if has_passed => {
                (Verdict::Failed, Some(format!("the process {exit} after the test had passed")))
            }
            (None, exit @ Exit::Code(_)) => (Verdict::Failed, Some(format!("the process {exit}"))),
            (None, exit @ Exit::Signal(_)) => (Verdict::Crashed, Some(format!("the process {exit}"))),
        };
        Some(self.result(test, verdict, message, (process.end.duration.as_secs_f64(), process.output())))
    }

    /// Several tests in one process; all that the program has where they would not fit into a command line.
    pub(super) fn together(
        &self,
        tests: &[String],
        limit: Limit<'_>,
        options: &RunOptions,
    ) -> io::Result<Process> {
        let length: usize = tests.iter().map(|test| test.len() + 1).sum();
        let is_plain = tests.len() == self.tests.len() || length > LONGEST_ARGUMENTS;
        let arguments = if is_plain {
            self.plain_arguments.clone()
        } else {
            [tests, &["--exact".to_string()], &self.program.arguments].concat()
        };
        Process::run(&self.program, &arguments, limit, options)
    }

    fn result(
        &self,
        test: &str,
        verdict: Verdict,
        message: Option<String>,
        (duration_s, mut output_tail): (f64, String),
    ) -> TestResult {
        if let Some(message) = &message {
            if !output_tail.is_empty() && !output_tail.ends_with('\n') {
                output_tail.push('\n');
            }
            output_tail.push_str(message);
            output_tail.push('\n');
        }
        TestResult::new(self.id(test), Outcome { verdict, duration_s, output_tail }, message)
    }

    fn failure(&self, tests: &[String], explanation: String, output_tail: String) -> ProcessFailure {
        let tests = tests.iter().map(|test| self.id(test)).collect();
        ProcessFailure { target: self.program.target.clone(), tests, explanation, output_tail }
    }
}

/// Tests that share a process. Those that passed in one that failed are run again without the ones that failed.
fn run_together(job: &LibtestJob, options: &RunOptions, emit: &mut dyn FnMut(Event)) {
    let program = &job.program;
    let mut tests = job.tests.clone();
    job.tests.iter().for_each(|test| emit(Event::TestStarted { test: program.id(test) }));
    while !tests.is_empty() {
        let process = match program.together(&tests, Limit::Silence(options.test_timeout), options) {
            Ok(process) => process,
            Err(error) => {
                let why = format!("{} could not be started: {error}", program.program.executable.display());
                return give_up(program, &tests, why, String::new(), emit);
            }
        };
        if process.end.stop == Some(Stop::Cancelled) {
            return;
        }
        let share_s = process.end.duration.as_secs_f64() / tests.len() as f64;
        let (passed, rest): (Vec<String>, Vec<String>) =
            tests.iter().cloned().partition(|test| process.told.has_passed(test));
        if process.is_green() && rest.is_empty() {
            for test in &passed {
                Finding::Result(program.result(test, Verdict::Passed, None, (share_s, String::new())))
                    .tell(emit);
            }
            return;
        }
        let Some(findings) = blamed(program, &process, &rest, share_s, options) else { return };
        if findings.is_empty() {
            let why = format!("the process {}, and none of its tests does so alone", process.ending());
            return give_up(program, &tests, why, process.output(), emit);
        }
        let is_blamed = |test: &String| findings.iter().any(|finding| finding.result().test.name == *test);
        tests.retain(|test| !is_blamed(test));
        findings.into_iter().for_each(|finding| finding.tell(emit));
    }
}

/// The tests that failed, and those that end the process: tests without a result, whose process ended early, are tried
/// alone to find them. `None` when the run was cancelled.
fn blamed(
    program: &LibtestProgram,
    process: &Process,
    tests: &[String],
    share_s: f64,
    options: &RunOptions,
) -> Option<Vec<Finding>> {
    let mut findings = Vec::new();
    for test in tests {
        if process.told.has_failed(test) {
            let output = section(&process.output(), test);
            let message = first_line(&output).unwrap_or_else(|| "the test failed".to_string());
            let result = program.result(test, Verdict::Failed, Some(message), (share_s, output));
            findings.push(Finding::Result(result));
            continue;
        }
        let alone = program.run_alone(test, options)?;
        findings.extend(alone.ends_process.then_some(alone.finding));
    }
    Some(findings)
}

/// Nothing is known of any of the tests.
fn give_up(
    program: &LibtestProgram,
    tests: &[String],
    why: String,
    output: String,
    emit: &mut dyn FnMut(Event),
) {
    for test in tests {
        let result = program.result(test, Verdict::Inconclusive, Some(why.clone()), (0.0, String::new()));
        Finding::Result(result).tell(emit);
    }
    emit(Event::ProcessFailed(program.failure(tests, why, output)));
}

/// What the harness prints of a failed test: `---- NAME stdout ----` and what follows.
fn section(output: &str, test: &str) -> String {
    let head = format!("---- {test} stdout ----\n");
    let Some((_, rest)) = output.split_once(&head) else { return String::new() };
    let end = ["\n---- ", "\nfailures:\n"].iter().filter_map(|next| rest.find(next)).min();
    rest[..end.unwrap_or(rest.len())].trim_end().to_string()
}

fn first_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_string)
}

/// When a process has had enough time.
pub(super) enum Limit<'l> {
    /// For the one test in it.
    Whole(Duration),
    /// No test ended for so long.
    Silence(Duration),
    /// The same, or all of these tests have failed.
    Failed(Duration, &'l [String]),
}

/// A process that ran tests, and ended.
pub(super) struct Process {
    pub(super) end: ProcessEnd,
    pub(super) told: Told,
    transcript: Transcript,
}

impl Process {
    fn run(
        program: &TestProgram,
        arguments: &[String],
        limit: Limit<'_>,
        options: &RunOptions,
    ) -> io::Result<Process> {
        let log = Log::create()?;
        let mut command = program.command();
        command.args(arguments).arg("--logfile").arg(&log.path);
        let now = Instant::now();
        let transcript = Transcript::new(64 * 1024, 256 * 1024);
        let (seen, is_decided) = (Cell::new((0, now)), Cell::new(false));
        let mut watch = Watch { transcript, log: &log, limit, seen, is_decided };
        let end = supervise(command, Streams::Together, Leftovers::Kill, &options.cancel, &mut watch)?;
        let mut transcript = watch.transcript;
        if matches!(watch.limit, Limit::Whole(_)) {
            transcript.shrink_to(16 * 1024);
        }
        Ok(Process { end, told: Told::read(&log.text()?), transcript })
    }

    pub(super) fn is_green(&self) -> bool {
        self.end.stop.is_none() && self.end.exit == Exit::Code(0)
    }

    fn ending(&self) -> String {
        match self.end.stop {
            Some(Stop::Deadline) => "was stopped, because no test ended for too long".to_string(),
            Some(Stop::Cancelled) | None => self.end.exit.to_string(),
        }
    }

    fn output(&self) -> String {
        without_deprecation(&self.transcript.text())
    }
}

/// Everything printed, until the time is over.
struct Watch<'w> {
    transcript: Transcript,
    log: &'w Log,
    limit: Limit<'w>,
    /// The length of the log, and since when.
    seen: Cell<(u64, Instant)>,
    /// The tests that are waited for have failed.
    is_decided: Cell<bool>,
}

impl Watcher for Watch<'_> {
    fn output(&mut self, bytes: &[u8]) {
        self.transcript.push(bytes);
    }

    fn deadline(&self) -> Option<Instant> {
        let (timeout, awaited) = match self.limit {
            Limit::Whole(timeout) => return self.seen.get().1.checked_add(timeout),
            Limit::Silence(timeout) => (timeout, &[][..]),
            Limit::Failed(timeout, tests) => (timeout, tests),
        };
        let length = self.log.length();
        if length != self.seen.get().0 {
            self.seen.set((length, Instant::now()));
            let told = Told::read(&self.log.text().unwrap_or_default());
            self.is_decided.set(!awaited.is_empty() && awaited.iter().all(|test| told.has_failed(test)));
        }
        let since = self.seen.get().1;
        if self.is_decided.get() { Some(since) } else { since.checked_add(timeout) }
    }
}
