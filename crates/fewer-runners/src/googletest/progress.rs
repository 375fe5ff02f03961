//! Following a running GoogleTest program by the lines it prints: which test runs, since when, and what each test
//! printed. Results come from the JSON report; these lines serve crashes, time-outs and progress displays.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use fewer_core::outcome::Verdict;
use fewer_core::test_id::TestId;

use crate::event::Event;
use crate::process::Watcher;
use crate::transcript::Transcript;

const RUN: &str = "[ RUN      ] ";
const END_WORDS: [(&str, Verdict); 3] = [
    ("[       OK ] ", Verdict::Passed),
    ("[  FAILED  ] ", Verdict::Failed),
    ("[  SKIPPED ] ", Verdict::Skipped),
];
const SUITE: &str = "[----------] ";
const PROGRAM: &str = "[==========] ";
const FILTER_NOTE: &str = "Note: Google Test filter = ";
const FAILED_SUITE: &str = ": SetUpTestSuite or TearDownTestSuite";

/// Longer lines are passed on in pieces; only the last piece is searched for a test's end.
const LONGEST_LINE: usize = 16 * 1024;
/// What is kept of a test's output...
const TEST_HEAD: usize = 2 * 1024;
const TEST_TAIL: usize = 14 * 1024;
/// ... and of a passed test's.
const PASSED_TAIL: usize = 2 * 1024;

/// What became of a requested test, as printed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum State {
    Pending,
    Running,
    /// `Inconclusive` where the next test began before this one's end was printed.
    Ended {
        verdict: Verdict,
        duration_s: f64,
    },
}

/// What a process printed, seen as tests.
#[derive(Debug)]
pub(super) struct Trace {
    /// One per requested test, in their order.
    pub(super) tests: Vec<TracedTest>,
    /// The test that was running when the process ended or was stopped.
    pub(super) running: Option<Running>,
    /// The suite that was begun and not ended.
    pub(super) suite: Option<String>,
    /// GoogleTest has said that it begins. Before that, whatever is printed is the program's own; after it, the
    /// silence between two lines can be timed.
    pub(super) began: bool,
    /// The last line of a complete run was printed.
    pub(super) finished: bool,
    /// Suites whose set-up or tear-down failed, according to the summary at the end.
    pub(super) failed_suites: Vec<String>,
    /// Where an assertion seems to have failed outside of tests: in a suite, or in none. Releases before 1.11 do
    /// not report it in any other way.
    pub(super) suspects: Vec<Option<String>>,
    /// What was printed outside of tests.
    pub(super) outside: Transcript,
}

#[derive(Debug)]
pub(super) struct TracedTest {
    pub(super) name: String,
    pub(super) state: State,
    pub(super) output: Transcript,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Running {
    pub(super) which: Which,
    pub(super) since: Instant,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Which {
    /// An index into the requested tests.
    Requested(usize),
    /// A test that was not asked for but that the filter could not exclude.
    Other(String),
}

/// Reads output as it comes and emits events.
pub(super) struct Progress<'a> {
    target: &'a str,
    numbers: HashMap<String, usize>,
    timeout: Duration,
    emit: &'a mut dyn FnMut(Event),
    trace: Trace,
    line: Vec<u8>,
    /// When the last test, suite or phase began or ended.
    last_step: Instant,
    /// The line that is being read is of no interest to anyone.
    dropping: bool,
    stopping: bool,
}

impl<'a> Progress<'a> {
    pub(super) fn new(
        target: &'a str,
        names: &[String],
        timeout: Duration,
        emit: &'a mut dyn FnMut(Event),
    ) -> Progress<'a> {
        let tests = names.iter().map(|name| TracedTest {
            name: name.clone(),
            state: State::Pending,
            output: Transcript::new(TEST_HEAD, TEST_TAIL),
        });
        Progress {
            target,
            numbers: names.iter().enumerate().map(|(number, name)| (name.clone(), number)).collect(),
            timeout,
            emit,
            trace: Trace {
                tests: tests.collect(),
                running: None,
                suite: None,
                began: false,
                finished: false,
                failed_suites: Vec::new(),
                suspects: Vec::new(),
                outside: Transcript::new(4 * 1024, 12 * 1024),
            },
            line: Vec::new(),
            last_step: Instant::now(),
            dropping: false,
            stopping: false,
        }
    }

    /// What is known when the process has ended.
    pub(super) fn finish(mut self) -> Trace {
        let rest = std::mem::take(&mut self.line);
        self.keep(&rest);
        self.trace
    }

    fn line_ended(&mut self, line: &[u8]) {
        if std::mem::take(&mut self.dropping) || self.is_filter_note(line) {
            return;
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\n', '\r']);
        let step = if self.stopping || !text.contains("] ") { None } else { self.step(text) };
        match step {
            Some((text_before, step)) => {
                // Output without a newline at its end stands before GoogleTest's own line.
                self.keep(text_before.as_bytes());
                self.take(step);
                self.last_step = Instant::now();
            }
            None => {
                if self.trace.began && self.trace.running.is_none() && text.ends_with(": Failure") {
                    self.trace.suspects.push(self.trace.suite.clone());
                }
                self.keep(line);
            }
        }
    }

    /// The step a line tells of, and what stands before it on the line.
    fn step<'t>(&self, text: &'t str) -> Option<(&'t str, Step)> {
        if !self.trace.began {
            let begins = text.strip_prefix(PROGRAM).is_some_and(|rest| rest.starts_with("Running "));
            return begins.then_some(("", Step::ProgramBegan));
        }
        if let Some(Running { which, .. }) = &self.trace.running
            && let Some((before, verdict, duration_s)) = end_of(self.name_of(which), text)
        {
            return Some((before, Step::TestEnded { verdict, duration_s }));
        }
        if let Some(position) = text.rfind(RUN) {
            let name = &text[position + RUN.len()..];
            return self.begin_of(name, position).map(|step| (&text[..position], step));
        }
        if self.trace.running.is_some() {
            // A test may print anything, even another program's report.
            return None;
        }
        self.frame_step(text).map(|step| ("", step))
    }

    /// A test begins, if the line is not something that a running test prints.
    fn begin_of(&self, name: &str, position: usize) -> Option<Step> {
        match self.numbers.get(name) {
            Some(&number) if self.trace.tests[number].state == State::Pending => {
                Some(Step::TestBegan(Which::Requested(number)))
            }
            Some(_) => None,
            None if position == 0 && self.trace.running.is_none() => {
                Some(Step::TestBegan(Which::Other(name.to_string())))
            }
            None => None,
        }
    }

    /// A step of a suite or of the whole program.
    fn frame_step(&self, text: &str) -> Option<Step> {
        if let Some(rest) = text.strip_prefix(SUITE) {
            let suite = rest.split_once(" from ").filter(|_| !rest.ends_with(" ms total)"));
            return Some(match suite {
                Some((_, suite)) => {
                    let name = suite.split_once(", where TypeParam = ").map_or(suite, |(name, _)| name);
                    Step::SuiteBegan(name.to_string())
                }
                None => Step::SuiteEnded,
            });
        }
        if let Some(rest) = text.strip_prefix(PROGRAM) {
            return (!rest.starts_with("Running ")).then_some(Step::ProgramEnded);
        }
        let failed = text.strip_prefix(END_WORDS[1].0)?.strip_suffix(FAILED_SUITE)?;
        self.trace.finished.then(|| Step::SuiteFailed(failed.to_string()))
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::TestBegan(which) => {
                self.end_running(Verdict::Inconclusive, None);
                if let Which::Requested(number) = which {
                    self.trace.tests[number].state = State::Running;
                    let test = self.id(number);
                    (self.emit)(Event::TestStarted { test });
                }
                self.trace.running = Some(Running { which, since: Instant::now() });
            }
            Step::TestEnded { verdict, duration_s } => self.end_running(verdict, duration_s),
            Step::SuiteBegan(name) => self.trace.suite = Some(name),
            Step::SuiteEnded => self.trace.suite = None,
            Step::ProgramBegan => self.trace.began = true,
            Step::ProgramEnded => self.trace.finished = true,
            Step::SuiteFailed(name) => self.trace.failed_suites.push(name),
        }
    }

    fn end_running(&mut self, verdict: Verdict, printed_s: Option<f64>) {
        let Some(Running { which: Which::Requested(number), since }) = self.trace.running.take() else {
            return;
        };
        let duration_s = printed_s.unwrap_or_else(|| since.elapsed().as_secs_f64());
        let test = &mut self.trace.tests[number];
        test.state = State::Ended { verdict, duration_s };
        if verdict == Verdict::Passed {
            test.output.shrink_to(PASSED_TAIL);
        }
        let test = self.id(number);
        (self.emit)(Event::TestEnded { test, verdict });
    }

    fn keep(&mut self, bytes: &[u8]) {
        let sink = match &self.trace.running {
            Some(Running { which: Which::Requested(number), .. }) => &mut self.trace.tests[*number].output,
            Some(Running { which: Which::Other(_), .. }) | None => &mut self.trace.outside,
        };
        sink.push(bytes);
    }

    /// GoogleTest repeats the whole filter, which may be longer than all the tests' output.
    fn is_filter_note(&self, line: &[u8]) -> bool {
        !self.trace.began && line.starts_with(FILTER_NOTE.as_bytes())
    }

    fn name_of<'s>(&'s self, which: &'s Which) -> &'s str {
        match which {
            Which::Requested(number) => &self.trace.tests[*number].name,
            Which::Other(name) => name,
        }
    }

    fn id(&self, number: usize) -> TestId {
        TestId::new(self.target, &self.trace.tests[number].name)
    }
}

impl Watcher for Progress<'_> {
    fn output(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.line_ended(&line);
            } else if self.line.len() > LONGEST_LINE {
                let rest = self.line.split_off(self.line.len() - LONGEST_LINE / 2);
                let spilled = std::mem::replace(&mut self.line, rest);
                self.dropping |= self.is_filter_note(&spilled);
                if !self.dropping {
                    self.keep(&spilled);
                }
            }
        }
    }

    /// One test, or the silence between two, may last as long as the time-out. A program whose printer is
    /// silent cannot be timed test by test: it gets the time of all its tests together.
    fn deadline(&self) -> Option<Instant> {
        let tests = u32::try_from(self.trace.tests.len()).unwrap_or(u32::MAX);
        let allowed = if self.trace.began { self.timeout } else { self.timeout.saturating_mul(tests.max(1)) };
        self.last_step.checked_add(allowed)
    }

    fn stopping(&mut self) {
        self.stopping = true;
    }
}

enum Step {
    TestBegan(Which),
    TestEnded { verdict: Verdict, duration_s: Option<f64> },
    SuiteBegan(String),
    SuiteEnded,
    ProgramBegan,
    ProgramEnded,
    SuiteFailed(String),
}

/// Whether the line says that the test `name` ended; with what stands before and the printed duration.
fn end_of<'t>(name: &str, text: &'t str) -> Option<(&'t str, Verdict, Option<f64>)> {
    END_WORDS.into_iter().find_map(|(word, verdict)| {
        let position = text.rfind(word)?;
        let rest = text[position + word.len()..].strip_prefix(name)?;
        let boundary = rest.is_empty() || rest.starts_with(" (") || rest.starts_with(", where ");
        boundary.then(|| (&text[..position], verdict, printed_duration(rest)))
    })
}

/// The seconds in `... (12 ms)`.
fn printed_duration(rest: &str) -> Option<f64> {
    let (_, milliseconds) = rest.strip_suffix(" ms)")?.rsplit_once('(')?;
    milliseconds.parse::<f64>().ok().map(|milliseconds| milliseconds / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(names: &[&str], output: &[u8]) -> (Trace, Vec<Event>) {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let mut events = Vec::new();
        let mut emit = |event| events.push(event);
        let mut progress = Progress::new("t", &names, Duration::from_secs(9), &mut emit);
        progress.output(b"[==========] Running some tests.\n");
        output.chunks(7).for_each(|chunk| progress.output(chunk));
        let trace = progress.finish();
        (trace, events)
    }

    fn states(trace: &Trace) -> Vec<String> {
        let word = |state: &State| match state {
            State::Pending => "pending".to_string(),
            State::Running => "running".to_string(),
            State::Ended { verdict, duration_s } => format!("{} {duration_s}", verdict.word()),
        };
        trace.tests.iter().map(|test| word(&test.state)).collect()
    }

    #[test]
    fn each_test_gets_its_own_output_even_without_newlines() {
        let (trace, _) = traced(
            &["S.A", "S.AB"],
            b"an environment\n[----------] 2 tests from S\n\
              [ RUN      ] S.A\nhello[       OK ] S.A (3 ms)\n[ RUN      ] S.AB\nworld\n\
              [  FAILED  ] S.AB, where GetParam() = (1, 2) (40 ms)\n[----------] 2 tests from S (1 ms total)\n\
              [==========] 2 tests from 1 test suite ran. (0 ms total)\n",
        );
        assert_eq!(states(&trace), ["passed 0.003", "failed 0.04"]);
        assert_eq!(trace.tests[0].output.text(), "hello");
        assert_eq!(trace.tests[1].output.text(), "world\n");
        assert_eq!(trace.outside.text(), "an environment\n");
        assert!(trace.finished && trace.suite.is_none() && trace.running.is_none());
    }

    #[test]
    fn a_report_of_another_program_printed_by_a_test_is_its_output() {
        let inner = "[==========] Running 1 test from 1 test suite.\n[----------] 1 test from Inner\n\
                     [ RUN      ] Inner.X\n[       OK ] Inner.X (0 ms)\n[==========] 1 test ran.\n";
        let (trace, _) = traced(&["S.A", "S.B"], format!("[ RUN      ] S.A\n{inner}").as_bytes());
        assert_eq!(states(&trace), ["running", "pending"]);
        assert_eq!(trace.tests[0].output.text(), inner);
        assert!(!trace.finished);
    }

    #[test]
    fn a_test_whose_end_was_garbled_does_not_hide_the_next() {
        let (trace, events) =
            traced(&["S.A", "S.B"], b"[ RUN      ] S.A\n[  x\n[ RUN      ] S.B\nlast words");
        assert!(states(&trace)[0].starts_with("inconclusive"));
        assert_eq!(states(&trace)[1], "running");
        assert_eq!(trace.tests[1].output.text(), "last words");
        assert_eq!(events.len(), 3);
    }

    #[test]
    fn a_line_without_end_is_not_kept_whole() {
        let mut flood = b"[ RUN      ] S.A\n".to_vec();
        flood.extend(std::iter::repeat_n(b'x', 300_000));
        flood.extend_from_slice(b"[       OK ] S.A (1 ms)\n");
        let (trace, _) = traced(&["S.A"], &flood);
        assert_eq!(states(&trace), ["passed 0.001"]);
        assert!(trace.tests[0].output.text().len() < 4096);
    }

    #[test]
    fn what_is_printed_before_googletest_begins_is_no_test() {
        let names = ["S.A".to_string()];
        let mut emit = |event| panic!("{event:?}");
        let mut progress = Progress::new("t", &names, Duration::from_secs(9), &mut emit);
        progress.output(b"[ RUN      ] S.A\n[       OK ] S.A\n");
        progress.output(format!("{FILTER_NOTE}{}\n", "S.A:".repeat(20_000)).as_bytes());
        progress.output(format!("{FILTER_NOTE}S.A\nhello\n").as_bytes());
        let trace = progress.finish();
        assert_eq!(states(&trace), ["pending"]);
        assert_eq!(trace.outside.text(), "[ RUN      ] S.A\n[       OK ] S.A\nhello\n");
    }

    #[test]
    fn a_suite_whose_set_up_failed_is_named_in_the_summary() {
        let (trace, _) = traced(
            &["S.A"],
            b"[==========] 1 test ran.\n[  FAILED  ] 0 tests, listed below:\n\
              [  FAILED  ] S: SetUpTestSuite or TearDownTestSuite\n",
        );
        assert_eq!(trace.failed_suites, ["S"]);
        let (trace, _) = traced(
            &["S.A"],
            b"f.cc:1: Failure\n[----------] 1 test from S\nunknown file: Failure\n[ RUN      ] S.A\nf.cc:1: Failure\n",
        );
        assert_eq!(trace.suspects, [None, Some("S".to_string())]);
    }
}
