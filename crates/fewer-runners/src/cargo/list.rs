//! Asking a program with Rust's test harness which tests it holds.

use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::process::{Exit, Leftovers, Stop, Streams, Watcher, supervise};
use crate::program::TestProgram;

/// A test as the program lists it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ListedTest {
    /// Example: `lexer::tests::skips_blanks`.
    pub name: String,
    pub is_ignored: bool,
}

/// The tests of a program, sorted; the cause in words where it cannot list them.
pub fn list(program: &TestProgram, timeout: Duration, cancel: &Cancel) -> Result<Vec<ListedTest>, String> {
    let all = printed(program, &["--list", "--format", "terse"], timeout, cancel)?;
    // A program that looks at no arguments did all its work, and need not do it again.
    if names(&all)?.is_empty() {
        return Ok(Vec::new());
    }
    let ignored = printed(program, &["--list", "--format", "terse", "--ignored"], timeout, cancel)?;
    let ignored = names(&ignored)?;
    let mut tests: Vec<ListedTest> = names(&all)?
        .into_iter()
        .map(|name| ListedTest { is_ignored: ignored.contains(&name), name: name.to_string() })
        .collect();
    tests.sort();
    Ok(tests)
}

/// Everything printed, until a fixed moment.
struct Printed {
    bytes: Vec<u8>,
    deadline: Instant,
}

impl Watcher for Printed {
    fn output(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn deadline(&self) -> Option<Instant> {
        Some(self.deadline)
    }
}

fn printed(
    program: &TestProgram,
    arguments: &[&str],
    timeout: Duration,
    cancel: &Cancel,
) -> Result<String, String> {
    let mut command = program.command();
    command.args(arguments);
    let mut printed = Printed { bytes: Vec::new(), deadline: Instant::now() + timeout };
    let end = supervise(command, Streams::Together, Leftovers::Kill, cancel, &mut printed)
        .map_err(|error| format!("it could not be started: {error}"))?;
    match (end.stop, end.exit) {
        (Some(Stop::Cancelled), _) => Err("interrupted".to_string()),
        (Some(Stop::Deadline), _) => {
            Err(format!("it was still running after {} s with --list", timeout.as_secs_f64()))
        }
        (None, Exit::Code(0)) => Ok(String::from_utf8_lossy(&printed.bytes).into_owned()),
        (None, exit) => Err(format!("it {exit} when run with --list")),
    }
}

/// The names in a list. A program with another harness may print anything: every line must be one of a list.
fn names(text: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match line.rsplit_once(": ") {
            Some((name, "test")) => names.push(name),
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
