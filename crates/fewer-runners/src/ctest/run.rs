//! Running CTest entries by their numbers with one `ctest`, which keeps fixtures, dependencies and resource locks.
//! Results come from its JUnit file and its exit code; its lines on the terminal serve progress and tell kinds of failures.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;

use super::{CtestEntry, CtestError, CtestErrorKind};
use crate::event::{Event, ProcessFailure, RunEnd, TestResult};
use crate::junit::{self, Finding, JunitCase};
use crate::lines::Lines;
use crate::process::{Exit, Leftovers, ProcessEnd, Stop, Streams, Watcher, supervise};
use crate::program::remove_disturbing_variables;
use crate::transcript::Transcript;
use crate::workers::RunOptions;

/// An entry that is to run, and the id its outcome goes under.
#[derive(Clone, PartialEq, Debug)]
pub struct CtestTest {
    pub test: TestId,
    pub entry: CtestEntry,
}

/// Variables of the caller that would change what `ctest` does or prints.
const CTEST_VARIABLES: &[&str] = &[
    "CTEST_INTERACTIVE_DEBUG_MODE",
    "CTEST_NO_TESTS_ACTION",
    "CTEST_OUTPUT_ON_FAILURE",
    "CTEST_PARALLEL_LEVEL",
    "CTEST_PROGRESS_OUTPUT",
    "CTEST_RESOURCE_SPEC_FILE",
    "CTEST_USE_LAUNCHERS_DEFAULT",
    "CTEST_USE_VERBOSE",
];

/// How `ctest` ends when tests failed.
const SOME_FAILED: i32 = 8;

const NEVER_RAN: &str =
    "ctest did not run it under this number: its list of tests has changed since it was read";

/// Longer lines are not CTest's own.
const LONGEST_LINE: usize = 64 * 1024;

/// Runs the entries, `options.workers` at a time. `options.test_timeout` holds for those without a `TIMEOUT` of
/// their own. What they need (fixtures, `DEPENDS`) runs too, without a result of its own; where that fails, a pass is
/// none.
pub fn run(
    build_directory: &Path,
    configuration: Option<&str>,
    tests: &[CtestTest],
    options: &RunOptions,
    events: &mut dyn FnMut(Event),
) -> Result<RunEnd, CtestError> {
    let mut end = RunEnd::default();
    if tests.is_empty() {
        return Ok(end);
    }
    let mut counted = |event: Event| {
        end.count(&event);
        events(event);
    };
    run_counted(build_directory, configuration, tests, options, &mut counted)
        .map_err(|kind| CtestError { directory: build_directory.to_path_buf(), kind })?;
    end.interrupted = end.tests() < tests.len();
    Ok(end)
}

fn run_counted(
    build_directory: &Path,
    configuration: Option<&str>,
    tests: &[CtestTest],
    options: &RunOptions,
    events: &mut dyn FnMut(Event),
) -> Result<(), CtestErrorKind> {
    let directory =
        tempfile::Builder::new().prefix("fewer-ctest-").tempdir().map_err(CtestErrorKind::TemporaryFile)?;
    let junit_path = directory.path().join("junit.xml");
    let numbers_path = directory.path().join("numbers");
    let expected = expected(tests);
    fs::write(&numbers_path, numbers(&expected)).map_err(CtestErrorKind::TemporaryFile)?;
    let mut command = invocation(options);
    command.current_dir(build_directory);
    command.arg("-I").arg(&numbers_path).arg("--output-junit").arg(&junit_path);
    if let Some(configuration) = configuration {
        command.args(["-C", configuration]);
    }
    let mut watch = Watch::new(tests, events);
    let end = supervise(command, Streams::Together, Leftovers::Kill, &options.cancel, &mut watch)
        .map_err(CtestErrorKind::Start)?;
    let Watch { observed, transcript, .. } = watch;
    if end.stop == Some(Stop::Cancelled) {
        return Ok(());
    }
    let ran = Ran::new(expected, read(&junit_path, end, &transcript)?, end.exit);
    report(tests, &ran, &observed, &transcript, events);
    Ok(())
}

fn invocation(options: &RunOptions) -> Command {
    let mut command = Command::new("ctest");
    remove_disturbing_variables(&mut command);
    for name in CTEST_VARIABLES {
        command.env_remove(name);
    }
    let seconds = options.test_timeout.as_secs_f64().ceil().max(1.0);
    command.args(["--timeout", &format!("{seconds}"), "-j", &options.workers.to_string()]);
    command.args(["--test-output-size-passed", "4096", "--test-output-size-failed", "1048576"]);
    command
}

/// The entries that run: those asked for and those they need.
fn expected(tests: &[CtestTest]) -> BTreeSet<usize> {
    tests.iter().flat_map(|test| test.entry.needs.iter().copied().chain([test.entry.number])).collect()
}

/// For `ctest -I FILE`: an empty range, then single numbers; the last one is only seen with a newline after it.
/// Names would have to be regular expressions.
fn numbers(expected: &BTreeSet<usize>) -> String {
    let numbers: Vec<String> = expected.iter().map(usize::to_string).collect();
    format!("0,0,0,{}\n", numbers.join(","))
}

fn read(path: &Path, end: ProcessEnd, transcript: &Transcript) -> Result<Vec<JunitCase>, CtestErrorKind> {
    if !path.exists() {
        let advice = "it wrote no results: --output-junit needs CMake 3.21 or newer";
        let (end, output_tail) = (format!("{} and {advice}", end.exit), transcript.text());
        return Err(CtestErrorKind::Failed { end, output_tail });
    }
    junit::read(path).map_err(|error| CtestErrorKind::Unreadable {
        reason: error.to_string(),
        output_tail: transcript.text(),
    })
}

fn report(
    tests: &[CtestTest],
    ran: &Ran,
    observed: &BTreeMap<usize, Observed>,
    transcript: &Transcript,
    events: &mut dyn FnMut(Event),
) {
    let mut failed = false;
    for test in tests {
        let case = ran.cases.get(&test.entry.number).filter(|case| case.name == test.entry.name);
        let result = match case {
            Some(case) => settled(test, case, ran.doubt(test), observed.get(&test.entry.number)),
            None => unsettled(test, NEVER_RAN),
        };
        failed |= result.outcome.verdict.is_failure();
        events(Event::TestFinished(result));
    }
    if ran.exit != Exit::Code(0) && !failed {
        let others = ran.failed_names(ran.cases.keys());
        let cause = if others.is_empty() {
            "although no test failed".to_string()
        } else {
            format!("because of tests that were run along: {others}")
        };
        events(Event::ProcessFailed(ProcessFailure {
            target: "ctest".into(),
            tests: Vec::new(),
            explanation: format!("ctest {} {cause}", ran.exit),
            output_tail: transcript.text(),
        }));
    }
}

/// What `ctest` says in its file, by its numbers, and how it ended.
struct Ran {
    cases: BTreeMap<usize, JunitCase>,
    exit: Exit,
}

impl Ran {
    /// The file is in the order of the numbers, which it does not tell: only one that has a case for each is of use.
    fn new(expected: BTreeSet<usize>, cases: Vec<JunitCase>, exit: Exit) -> Ran {
        let is_whole = cases.len() == expected.len();
        let cases = if is_whole { expected.into_iter().zip(cases).collect() } else { BTreeMap::new() };
        Ran { cases, exit }
    }

    /// Why a pass in the file is none.
    fn doubt(&self, test: &CtestTest) -> Option<String> {
        let others = self.failed_names(test.entry.needs.iter());
        if !others.is_empty() {
            Some(format!("it passed, but what CTest runs along with it did not: {others}"))
        } else if !self.is_explained() {
            Some(format!("ctest called it passed, but {} itself", self.exit))
        } else {
            None
        }
    }

    fn is_explained(&self) -> bool {
        match self.exit {
            Exit::Code(0) => true,
            Exit::Code(SOME_FAILED) => self.cases.values().any(has_failed),
            Exit::Code(_) | Exit::Signal(_) => false,
        }
    }

    fn failed_names<'n>(&self, numbers: impl Iterator<Item = &'n usize>) -> String {
        let cases = numbers.filter_map(|number| self.cases.get(number)).filter(|case| has_failed(case));
        cases.map(|case| case.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// What `ctest` itself counts as failed.
fn has_failed(case: &JunitCase) -> bool {
    match case.status.as_str() {
        "run" => case.finding == Some(Finding::Failed),
        "disabled" => false,
        "notrun" => !has_skipped_itself(case),
        _ => true,
    }
}

/// By `SKIP_RETURN_CODE` or `SKIP_REGULAR_EXPRESSION`.
fn has_skipped_itself(case: &JunitCase) -> bool {
    case.message.as_ref().is_some_and(|message| message.starts_with("SKIP_"))
}

fn settled(
    test: &CtestTest,
    case: &JunitCase,
    doubt: Option<String>,
    observed: Option<&Observed>,
) -> TestResult {
    let seen = observed.and_then(|observed| observed.end.as_ref());
    let message = case.message.clone();
    let (verdict, message) = match case.status.as_str() {
        "run" if !has_failed(case) && doubt.is_some() => (Verdict::Inconclusive, doubt),
        "run" if !has_failed(case) => (Verdict::Passed, None),
        "disabled" => (Verdict::Skipped, Some("the test has the property DISABLED".to_string())),
        "notrun" if has_skipped_itself(case) => (Verdict::Skipped, message),
        "notrun" => (Verdict::Failed, message.or(Some("ctest could not run it".into()))),
        _ => {
            let verdict = seen.map(|end| end.verdict).filter(|verdict| verdict.is_failure());
            let words = seen.map(|end| format!("ctest says: {}", end.words));
            (verdict.unwrap_or(Verdict::Failed), message.or(words))
        }
    };
    let mut transcript = Transcript::new(4096, 12 * 1024);
    transcript.push(case.output.as_bytes());
    let mut output_tail = transcript.text();
    if let Some(message) = &message {
        if !output_tail.is_empty() && !output_tail.ends_with('\n') {
            output_tail.push('\n');
        }
        output_tail.push_str(message);
        output_tail.push('\n');
    }
    let outcome = Outcome { verdict, duration_s: case.duration_s, output_tail };
    TestResult::new(test.test.clone(), outcome, message)
}

fn unsettled(test: &CtestTest, message: &str) -> TestResult {
    let outcome =
        Outcome { verdict: Verdict::Inconclusive, duration_s: 0.0, output_tail: message.to_string() };
    TestResult::new(test.test.clone(), outcome, Some(message.to_string()))
}

/// What the terminal said of one test.
#[derive(Default)]
struct Observed {
    end: Option<ObservedEnd>,
}

struct ObservedEnd {
    verdict: Verdict,
    /// Example: `***Timeout`.
    words: String,
}

struct Watch<'a> {
    tests: BTreeMap<usize, &'a CtestTest>,
    observed: BTreeMap<usize, Observed>,
    events: &'a mut dyn FnMut(Event),
    transcript: Transcript,
    lines: Lines,
    stopping: bool,
}

impl<'a> Watch<'a> {
    fn new(tests: &'a [CtestTest], events: &'a mut dyn FnMut(Event)) -> Watch<'a> {
        Watch {
            tests: tests.iter().map(|test| (test.entry.number, test)).collect(),
            observed: BTreeMap::new(),
            events,
            transcript: Transcript::new(4096, 12 * 1024),
            lines: Lines::new(LONGEST_LINE),
            stopping: false,
        }
    }

    fn line_ended(&mut self, line: &str) {
        if let Some((number, _)) = line.trim_start().strip_prefix("Start ").and_then(numbered_name) {
            self.observed.entry(number).or_default();
            if let Some(test) = self.tests.get(&number) {
                (self.events)(Event::TestStarted { test: test.test.clone() });
            }
        } else if let Some((_, rest)) = line.split_once(" Test ")
            && let Some((number, rest)) = rest.trim_start().strip_prefix('#').and_then(numbered_name)
        {
            let name = self.tests.get(&number).map_or("", |test| &test.entry.name);
            let words = rest.strip_prefix(name).unwrap_or(rest).trim_start_matches([' ', '.']);
            let end = ended(words);
            if let Some(test) = self.tests.get(&number) {
                (self.events)(Event::TestEnded { test: test.test.clone(), verdict: end.verdict });
            }
            self.observed.insert(number, Observed { end: Some(end) });
        }
    }
}

impl Watcher for Watch<'_> {
    fn output(&mut self, bytes: &[u8]) {
        self.transcript.push(bytes);
        for line in self.lines.ended(bytes) {
            if !self.stopping {
                self.line_ended(&line);
            }
        }
    }

    /// Each test has its own, kept by `ctest`.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn stopping(&mut self) {
        self.stopping = true;
    }
}

/// ` 12: name` as number and name.
fn numbered_name(text: &str) -> Option<(usize, &str)> {
    let (number, name) = text.trim_start().split_once(": ")?;
    Some((number.parse().ok()?, name))
}

/// `Passed    0.02 sec`, `***Timeout   1.01 sec`, `Subprocess aborted***Exception:   0.10 sec`.
fn ended(words: &str) -> ObservedEnd {
    let verdict = if words.starts_with("Passed") {
        Verdict::Passed
    } else if words.contains("***Timeout") {
        Verdict::TimedOut
    } else if words.contains("***Exception") {
        Verdict::Crashed
    } else if words.contains("***Skipped") || words.contains("(Disabled)") {
        Verdict::Skipped
    } else {
        Verdict::Failed
    };
    let words =
        words.strip_suffix(" sec").and_then(|text| text.rsplit_once(' ')).map_or(words, |(words, _)| words);
    ObservedEnd { verdict, words: words.trim_end().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, status: &str) -> JunitCase {
        JunitCase { name: name.to_string(), status: status.to_string(), ..JunitCase::default() }
    }

    #[test]
    fn only_a_report_of_all_entries_is_of_use() {
        let expected = || BTreeSet::from([3, 7]);
        let whole = Ran::new(expected(), vec![case("a", "run"), case("a", "fail")], Exit::Code(SOME_FAILED));
        assert_eq!((whole.cases[&3].status.as_str(), whole.cases[&7].status.as_str()), ("run", "fail"));
        for cases in [vec![], vec![case("a", "run")], vec![case("a", "run"); 3]] {
            assert!(Ran::new(expected(), cases, Exit::Code(0)).cases.is_empty());
        }
    }

    #[test]
    fn a_pass_needs_an_end_of_ctest_that_its_report_explains() {
        let is_explained = |status: &str, exit| {
            Ran::new(BTreeSet::from([1, 2]), vec![case("a", "run"), case("b", status)], exit).is_explained()
        };
        assert!(is_explained("run", Exit::Code(0)) && is_explained("fail", Exit::Code(SOME_FAILED)));
        assert!(is_explained("notrun", Exit::Code(SOME_FAILED)));
        assert!(!is_explained("run", Exit::Code(SOME_FAILED)) && !is_explained("fail", Exit::Code(1)));
        assert!(!is_explained("run", Exit::Signal(9)) && !is_explained("disabled", Exit::Code(SOME_FAILED)));
    }

    #[test]
    fn the_words_behind_a_test_tell_how_it_ended() {
        let cases = [
            ("Passed    0.02 sec", Verdict::Passed),
            ("***Timeout   1.01 sec", Verdict::TimedOut),
            ("***Exception: SegFault  0.02 sec", Verdict::Crashed),
            ("Subprocess aborted***Exception:   0.10 sec", Verdict::Crashed),
            ("***Skipped   0.00 sec", Verdict::Skipped),
            ("***Not Run (Disabled)   0.00 sec", Verdict::Skipped),
            ("***Not Run   0.00 sec", Verdict::Failed),
            ("***Failed  Required regular expression not found. Regex=[all good", Verdict::Failed),
        ];
        for (words, verdict) in cases {
            assert_eq!(ended(words).verdict, verdict, "{words}");
        }
    }
}
