//! Asking a program with Rust's test harness which tests it holds, and whether it is one: a harness of another kind may
//! take the same arguments for something else.

use std::fs::File;
use std::io::{Read, Seek};
use std::time::{Duration, Instant};

use super::arguments::Arguments;
use super::log::Log;
use crate::cancel::Cancel;
use crate::process::{ErrorOutput, Exit, Leftovers, Stop, Streams, supervise};
use crate::program::TestProgram;
use crate::transcript::Transcript;

/// How much of a list is read. One of a million tests is smaller.
const LONGEST_LIST: u64 = 64 << 20;

/// A test as the program lists it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ListedTest {
    /// Example: `lexer::tests::skips_blanks`.
    pub name: String,
    pub is_ignored: bool,
}

/// How a program is asked.
pub struct Question<'q> {
    pub arguments: &'q Arguments,
    /// Whether Rust's own harness is in it, as far as can be seen.
    pub is_libtest: bool,
    pub timeout: Duration,
    pub cancel: &'q Cancel,
}

/// The tests that `cargo test` would run or call ignored, sorted; the cause in words where the program cannot list them
/// or run one of them by its name.
pub fn list(program: &TestProgram, question: &Question<'_>) -> Result<Vec<ListedTest>, String> {
    let wanted = question.arguments.plain_without_output();
    let all = question.names(program, &wanted)?;
    // A program that looks at no arguments did all its work, and need not do it again.
    let Some(first) = all.first() else { return Ok(Vec::new()) };
    question.runs_by_name(program, first)?;
    let ignored = if question.arguments.runs_ignored() {
        Vec::new()
    } else {
        question.names(program, &[wanted, vec!["--ignored".to_string()]].concat())?
    };
    if ignored.len() >= all.len() && !question.is_libtest {
        return Err("with --ignored it lists all its tests".to_string());
    }
    let mut tests: Vec<ListedTest> =
        all.into_iter().map(|name| ListedTest { is_ignored: ignored.contains(&name), name }).collect();
    tests.sort();
    if tests.windows(2).any(|pair| pair[0].name == pair[1].name) {
        return Err("it lists two tests of one name".to_string());
    }
    Ok(tests)
}

impl Question<'_> {
    fn names(&self, program: &TestProgram, arguments: &[String]) -> Result<Vec<String>, String> {
        let (printed, logged) = self.answer(program, arguments)?;
        // Anything may be printed; the log is the harness's own.
        if logged.is_empty() { names(&printed) } else { Ok(logged_names(&logged)) }
    }

    /// Whether the program heeds `--exact`, and keeps the log that says how a test ended.
    fn runs_by_name(&self, program: &TestProgram, test: &str) -> Result<(), String> {
        let arguments = [test, "--exact", "--include-ignored"].map(str::to_string);
        let (_, logged) = self.answer(program, &arguments)?;
        if logged.is_empty() {
            Err("it keeps no log of its tests (--logfile)".to_string())
        } else if logged_names(&logged) != [test] {
            Err("it does not pick a test by its name (--exact)".to_string())
        } else {
            Ok(())
        }
    }

    /// What is printed to standard output, and the log.
    fn answer(&self, program: &TestProgram, arguments: &[String]) -> Result<(String, String), String> {
        let unusable = |error: std::io::Error| format!("its list cannot be read: {error}");
        let log = Log::create().map_err(unusable)?;
        let mut command = program.command();
        command.args(["--list", "--format", "terse"]).args(arguments).arg("--logfile").arg(&log.path);
        let mut output: File = tempfile::tempfile().map_err(unusable)?;
        let streams = Streams::OutputTo(output.try_clone().map_err(unusable)?);
        let deadline = Instant::now() + self.timeout;
        let mut watcher = ErrorOutput { transcript: Transcript::new(1024, 1024), deadline };
        let end = supervise(command, streams, Leftovers::Kill, self.cancel, &mut watcher)
            .map_err(|error| format!("it could not be started: {error}"))?;
        match (end.stop, end.exit) {
            (Some(Stop::Cancelled), _) => return Err("interrupted".to_string()),
            (Some(Stop::Deadline), _) => {
                return Err(format!(
                    "it was still running after {} s with --list",
                    self.timeout.as_secs_f64()
                ));
            }
            (None, Exit::Code(0)) => {}
            (None, exit) => return Err(format!("it {exit} when run with --list")),
        }
        let mut bytes = Vec::new();
        output.rewind().and_then(|()| output.take(LONGEST_LIST).read_to_end(&mut bytes)).map_err(unusable)?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), log.text().map_err(unusable)?))
    }
}

/// Example: `lexer::skips_blanks`, from `test lexer::skips_blanks`; benchmarks are no tests.
fn logged_names(log: &str) -> Vec<String> {
    log.lines().filter_map(|line| line.strip_prefix("test ")).map(str::to_string).collect()
}

/// The names in a list. A program with another harness may print anything: every line must be one of a list.
fn names(text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match line.rsplit_once(": ") {
            Some((name, "test")) => names.push(name.to_string()),
            Some((_, "benchmark")) => {}
            Some(_) | None => return Err(format!("it does not list its tests, but prints '{line}'")),
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_is_taken_for_one() {
        assert_eq!(
            names("a::b: test\nc: benchmark\nd - should panic: test\n").unwrap(),
            ["a::b", "d - should panic"]
        );
        assert!(names("running everything\n").unwrap_err().contains("running everything"));
    }
}
