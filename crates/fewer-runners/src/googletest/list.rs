//! Asking a GoogleTest program which tests it holds. Choosing among them is told elsewhere.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::invocation::{self, Format};
use super::report::Report;
use crate::cancel::Cancel;
use crate::junit;
use crate::process::{ErrorOutput, Exit, Leftovers, ProcessEnd, Stop, Streams, supervise};
use crate::program::TestProgram;
use crate::transcript::Transcript;

/// A test as the program itself lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedTest {
    /// The full name. Example: `Prefix/Suite.Name/0`.
    pub name: String,
    pub suite: String,
    pub test: String,
    /// The type of a typed or type-parameterised test. Example: `int`.
    pub type_parameter: Option<String>,
    /// The printed value of a value-parameterised test, which may hold addresses that differ from run to run.
    /// Example: `5`.
    pub value_parameter: Option<String>,
    /// `DISABLED_` begins the suite's or the test's name, or the part after a `/`.
    pub disabled: bool,
}

/// A program whose tests could not be listed.
#[derive(Debug, Error)]
#[error("cannot list the tests of {}: {kind}", executable.display())]
pub struct ListError {
    pub executable: PathBuf,
    #[source]
    pub kind: ListErrorKind,
}

#[derive(Debug, Error)]
pub enum ListErrorKind {
    #[error("it could not be started: {0}")]
    Start(#[source] io::Error),
    #[error("a temporary file could not be used: {0}")]
    TemporaryFile(#[source] io::Error),
    /// A crash or a non-zero exit code.
    #[error("it {end} when run with --gtest_list_tests{}", shown(output_tail))]
    Failed { end: String, output_tail: String },
    #[error("it was still running after {} s with --gtest_list_tests{}", after.as_secs_f64(), shown(output_tail))]
    TimedOut { after: Duration, output_tail: String },
    #[error("interrupted")]
    Interrupted,
    /// It ran its tests, or it is no GoogleTest program.
    #[error("{explanation}{}", shown(output_tail))]
    NoList { explanation: String, output_tail: String },
}

/// How much of a text list is read. A list of a million tests is smaller.
const LONGEST_LIST: u64 = 64 << 20;

/// Runs the program with `--gtest_list_tests`. The list is read from GoogleTest's JSON, so that what a custom
/// `main` prints cannot disturb it; where a program writes no JSON, from its text.
pub fn list(program: &TestProgram, timeout: Duration, cancel: &Cancel) -> Result<Vec<ListedTest>, ListError> {
    listed(program, timeout, cancel)
        .map_err(|kind| ListError { executable: program.executable.clone(), kind })
}

fn listed(
    program: &TestProgram,
    timeout: Duration,
    cancel: &Cancel,
) -> Result<Vec<ListedTest>, ListErrorKind> {
    let directory =
        tempfile::Builder::new().prefix("fewer-list-").tempdir().map_err(ListErrorKind::TemporaryFile)?;
    let full =
        printed(invocation::listing(program, directory.path(), None), directory.path(), timeout, cancel)?;
    if let Ok(bytes) =
        fewer_files::read_at_most(&invocation::report_path(directory.path(), Format::Json), junit::LARGEST)
        && let Ok(report) = Report::parse(&bytes)
    {
        return Ok(from_report(&report));
    }
    if full.lines().any(|line| line.starts_with("[==========] Running ")) {
        let explanation = "it ran its tests instead of listing them: its main() must pass the arguments to \
                           testing::InitGoogleTest";
        return Err(ListErrorKind::NoList { explanation: explanation.into(), output_tail: tail_of(&full) });
    }
    // What it prints when no test matches is its own: the list is what comes on top of that.
    let nothing = invocation::listing(program, directory.path(), Some("-*"));
    let noise = printed(nothing, directory.path(), timeout, cancel)?;
    from_text(&full, &noise)
        .map_err(|explanation| ListErrorKind::NoList { explanation, output_tail: tail_of(&full) })
}

/// What the command prints to standard output, if it succeeds.
fn printed(
    command: Command,
    directory: &Path,
    timeout: Duration,
    cancel: &Cancel,
) -> Result<String, ListErrorKind> {
    let path = directory.join("list.txt");
    let file = File::create(&path).map_err(ListErrorKind::TemporaryFile)?;
    let mut errors =
        ErrorOutput { transcript: Transcript::new(2048, 6144), deadline: Instant::now() + timeout };
    let end = supervise(command, Streams::OutputTo(file), Leftovers::Kill, cancel, &mut errors)
        .map_err(ListErrorKind::Start)?;
    let mut bytes = Vec::new();
    File::open(&path)
        .and_then(|file| file.take(LONGEST_LIST).read_to_end(&mut bytes))
        .map_err(ListErrorKind::TemporaryFile)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let output_tail = || tail_of(&(tail_of(&text) + &errors.transcript.text()));
    match end {
        ProcessEnd { stop: Some(Stop::Cancelled), .. } => Err(ListErrorKind::Interrupted),
        ProcessEnd { stop: Some(Stop::Deadline), .. } => {
            Err(ListErrorKind::TimedOut { after: timeout, output_tail: output_tail() })
        }
        ProcessEnd { exit: Exit::Code(0), stop: None, .. } => Ok(text),
        ProcessEnd { exit, stop: None, .. } => {
            Err(ListErrorKind::Failed { end: exit.to_string(), output_tail: output_tail() })
        }
    }
}

fn from_report(report: &Report) -> Vec<ListedTest> {
    let suites = report.suites.iter();
    suites
        .flat_map(|suite| suite.cases.iter().map(move |case| (suite, case)))
        .map(|(suite, case)| {
            let mut test = ListedTest::new(&suite.name, &case.name);
            test.type_parameter = case.type_parameter.clone();
            test.value_parameter = case.value_parameter.clone();
            test
        })
        .collect()
}

/// The list in `full`, given what the program prints when it lists nothing.
fn from_text(full: &str, noise: &str) -> Result<Vec<ListedTest>, String> {
    let full: Vec<&str> = full.lines().collect();
    let noise: Vec<&str> = noise.lines().collect();
    let before = full.iter().zip(&noise).take_while(|(a, b)| a == b).count();
    let after = noise.len() - before;
    if full.len() < before + after || full[full.len() - after..] != noise[before..] {
        return Err(
            "what it prints besides the list of tests differs from run to run, so the list cannot be \
                    told from it; it also wrote no JSON (--gtest_output=json:FILE)"
                .into(),
        );
    }
    let tests = parsed(&full[before..full.len() - after])?;
    if tests.is_empty() {
        return Err(
            "it printed no list of tests: it is no GoogleTest program, or its main() does not pass the \
                    arguments to testing::InitGoogleTest"
                .into(),
        );
    }
    Ok(tests)
}

fn parsed(lines: &[&str]) -> Result<Vec<ListedTest>, String> {
    let mut tests = Vec::new();
    let mut suite: Option<(&str, Option<&str>)> = None;
    for line in lines {
        let (name, parameter) = match line.split_once("  # ") {
            Some((name, comment)) => (name, comment.split_once(" = ").map(|(_, value)| value)),
            None => (*line, None),
        };
        match (name.strip_prefix("  "), &suite) {
            (Some(name), Some((suite, type_parameter))) => {
                let mut test = ListedTest::new(suite, name);
                test.type_parameter = type_parameter.map(str::to_string);
                test.value_parameter = parameter.map(str::to_string);
                tests.push(test);
            }
            (None, _) if name.ends_with('.') => suite = Some((&name[..name.len() - 1], parameter)),
            (Some(_) | None, _) => {
                return Err(format!(
                    "it printed `{line}` within the list of tests; it also wrote no JSON (--gtest_output=json:FILE)"
                ));
            }
        }
    }
    Ok(tests)
}

impl ListedTest {
    fn new(suite: &str, test: &str) -> ListedTest {
        ListedTest {
            name: format!("{suite}.{test}"),
            suite: suite.to_string(),
            test: test.to_string(),
            type_parameter: None,
            value_parameter: None,
            disabled: is_disabled(suite) || is_disabled(test),
        }
    }
}

/// GoogleTest's own rule: `DISABLED_*:*/DISABLED_*`.
fn is_disabled(name: &str) -> bool {
    name.starts_with("DISABLED_") || name.contains("/DISABLED_")
}

fn tail_of(text: &str) -> String {
    let mut transcript = Transcript::new(2048, 6144);
    transcript.push(text.as_bytes());
    transcript.text()
}

fn shown(output_tail: &str) -> String {
    if output_tail.trim().is_empty() {
        "; it printed nothing".to_string()
    } else {
        format!("; it printed:\n{}", output_tail.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "Plain.\n  One\n  DISABLED_Two\nTyped/0.  # TypeParam = int\n  Works\n\
                        Values/Some.\n  Holds/0  # GetParam() = 5\n  Holds/1  # GetParam() = \"a  # b = c\"\n";

    #[test]
    fn text_lists_are_read_with_their_parameters() {
        let tests = from_text(LIST, "").unwrap();
        let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "Plain.One",
                "Plain.DISABLED_Two",
                "Typed/0.Works",
                "Values/Some.Holds/0",
                "Values/Some.Holds/1"
            ]
        );
        assert_eq!(tests[2].type_parameter.as_deref(), Some("int"));
        assert_eq!(tests[3].value_parameter.as_deref(), Some("5"));
        assert_eq!(tests[4].value_parameter.as_deref(), Some("\"a  # b = c\""));
        let disabled: Vec<bool> = tests.iter().map(|test| test.disabled).collect();
        assert_eq!(disabled, [false, true, false, false, false]);
    }

    #[test]
    fn what_the_program_prints_around_the_list_is_not_taken_for_tests() {
        let noise = "Configuration.\n  verbose\nbye.\n";
        let full = format!("Configuration.\n  verbose\n{LIST}bye.\n");
        assert_eq!(from_text(&full, noise).unwrap(), from_text(LIST, "").unwrap());
    }

    #[test]
    fn print_that_differs_from_run_to_run_is_an_error() {
        let error = from_text(&format!("started at 12:01\n{LIST}"), "started at 12:02\n").unwrap_err();
        assert!(error.contains("differs from run to run"), "{error}");
        let error = from_text("Plain.\n  One\nhello\n  Two\n", "").unwrap_err();
        assert!(error.contains("`hello`"), "{error}");
    }

    #[test]
    fn disabled_is_also_seen_after_an_instantiation_prefix() {
        assert!(is_disabled("DISABLED_Suite"));
        assert!(is_disabled("Prefix/DISABLED_Suite"));
        assert!(is_disabled("DISABLED_Name/3"));
        assert!(!is_disabled("NotDISABLED_Name"));
    }
}
