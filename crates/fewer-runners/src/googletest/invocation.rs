//! The command line of a GoogleTest program: which flags are the runner's own, and how tests are named in a
//! filter. What comes back is read elsewhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::TestProgram;

/// The kernel refuses a single argument of 128 KiB; a longer filter goes through a file.
const LONGEST_ARGUMENT: usize = 100_000;

/// Flags that the runner sets itself. The program's own arguments may hold them, for instance when they come from
/// a CTest entry for a single test.
const OWN_FLAGS: &[&str] = &[
    "also_run_disabled_tests",
    "brief",
    "color",
    "fail_fast",
    "filter",
    "list_tests",
    "output",
    "print_time",
    "repeat",
    "stream_result_to",
];

/// How the program writes its results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Json,
    /// Releases before 1.8.1 know nothing else.
    Xml,
}

impl Format {
    fn word(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Xml => "xml",
        }
    }
}

/// Where the program writes its results within a directory made for it.
pub(super) fn report_path(directory: &Path, format: Format) -> PathBuf {
    directory.join(format!("report.{}", format.word()))
}

/// A file that GoogleTest makes when its tests begin, and removes when they have ended: where it is left, the process
/// has exited from within a test, whatever it printed.
pub(super) fn unfinished_path(directory: &Path) -> PathBuf {
    directory.join("unfinished")
}

/// GoogleTest's name for the variable that names that file.
const UNFINISHED_VARIABLE: &str = "TEST_PREMATURE_EXIT_FILE";

/// Lists the tests; `filter` is GoogleTest's own language.
pub(super) fn listing(program: &TestProgram, directory: &Path, filter: Option<&str>) -> Command {
    let mut command = prepared(program, directory, Format::Json);
    // A program built for coverage writes counts whenever it ends; those of a listing are nobody's.
    command.env("LLVM_PROFILE_FILE", directory.join("listing.profraw"));
    command.env("GCOV_PREFIX", directory).env("GCOV_PREFIX_STRIP", "0");
    command.arg("--gtest_list_tests");
    if let Some(filter) = filter {
        command.arg(format!("--gtest_filter={filter}"));
    }
    command
}

/// Runs the tests with exactly these names, and those that no filter can tell from them; or all.
pub(super) fn running(
    program: &TestProgram,
    directory: &Path,
    names: Option<&[String]>,
    run_disabled: bool,
    format: Format,
) -> io::Result<Command> {
    let mut command = prepared(program, directory, format);
    command.env(UNFINISHED_VARIABLE, unfinished_path(directory));
    command.arg("--gtest_print_time=1");
    if run_disabled {
        command.arg("--gtest_also_run_disabled_tests");
    }
    let Some(names) = names else { return Ok(command) };
    let filter = format!("--gtest_filter={}", filter(names));
    if filter.len() <= LONGEST_ARGUMENT {
        command.arg(filter);
    } else {
        let path = directory.join("flags");
        fs::write(&path, filter + "\n")?;
        command.arg(with_path("--gtest_flagfile=", &path));
    }
    Ok(command)
}

/// The program as a whole, the way its author starts it.
pub(super) fn plain(program: &TestProgram, directory: &Path) -> Command {
    let mut command = program.command();
    command.env(UNFINISHED_VARIABLE, unfinished_path(directory));
    command.args(&program.arguments);
    command
}

fn prepared(program: &TestProgram, directory: &Path, format: Format) -> Command {
    let mut command = program.command();
    command.args(program.arguments.iter().filter(|argument| !is_own_flag(argument)));
    command.arg("--gtest_color=no");
    let output = format!("--gtest_output={}:", format.word());
    command.arg(with_path(&output, &report_path(directory, format)));
    command
}

fn with_path(flag: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from(flag);
    argument.push(path);
    argument
}

fn is_own_flag(argument: &str) -> bool {
    argument.strip_prefix("--gtest_").is_some_and(|flag| {
        let name = flag.split_once('=').map_or(flag, |(name, _)| name);
        OWN_FLAGS.contains(&name)
    })
}

/// Names joined by `:`. What has a meaning in filters or would break the line of a flag file becomes `?`, which
/// matches any one character; bytes that are no text become `*`.
fn filter(names: &[String]) -> String {
    let mut filter = String::new();
    for name in names {
        if !filter.is_empty() {
            filter.push(':');
        }
        filter.extend(name.chars().map(|c| match c {
            '*' | '?' | ':' | '-' | '\n' => '?',
            char::REPLACEMENT_CHARACTER => '*',
            other => other,
        }));
    }
    filter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_with_a_meaning_in_filters_are_replaced() {
        let names = ["A.plain/0".to_string(), "B.a*b?c:d-e".to_string()];
        assert_eq!(filter(&names), "A.plain/0:B.a?b?c?d?e");
        assert_eq!(filter(&["A.\u{FFFD}b".to_string()]), "A.*b");
    }

    #[test]
    fn the_flags_of_a_single_discovered_test_are_dropped_and_the_others_stay() {
        for own in ["--gtest_filter=A.B", "--gtest_also_run_disabled_tests", "--gtest_output=xml:x"] {
            assert!(is_own_flag(own), "{own}");
        }
        for foreign in ["--gtest_death_test_style=threadsafe", "--gtest_filter_file=x", "--data=x", "--"] {
            assert!(!is_own_flag(foreign), "{foreign}");
        }
    }
}
