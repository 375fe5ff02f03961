//! The log that Rust's harness writes with `--logfile`: a line for every test that ended, written by the harness itself
//! when it has the result. What tests print does not get into it, and a test that ends the process leaves no line.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use tempfile::TempDir;

/// What the harness says of `--logfile`, which is no test's output.
pub(crate) const DEPRECATION: &str = "warning: `--logfile` is deprecated";

/// The largest log that is read: a line per test is far less. A test may write to it, too.
pub(super) const LARGEST: u64 = 8 << 20;

/// A log that is being written, in a directory of its own.
pub(crate) struct Log {
    _directory: TempDir,
    pub(crate) path: PathBuf,
    /// Kept open: a test may clean up the directory for temporary files.
    file: File,
}

/// What a log tells.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Told {
    tests: HashMap<String, Ends>,
}

/// How often a test ended so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Ends {
    passed: usize,
    other: usize,
}

impl Log {
    pub(crate) fn create() -> io::Result<Log> {
        let temporary = std::path::absolute(tempfile::env::temp_dir())?;
        let directory = tempfile::Builder::new().prefix("fewer-libtest-").tempdir_in(temporary)?;
        let path = directory.path().join("log");
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        Ok(Log { _directory: directory, path, file })
    }

    /// How much has been written so far.
    pub(crate) fn length(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    pub(crate) fn text(&self) -> io::Result<String> {
        let length = self.length();
        if length > LARGEST {
            let problem = format!("the log of the tests is larger than {} MB", LARGEST >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, 0)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Told {
    /// Lines are `ok NAME`, `failed NAME`, `failed: WHY NAME`, `ignored NAME`. One that is cut off tells nothing.
    pub(crate) fn read(text: &str) -> Told {
        let mut told = Told::default();
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            match line.strip_prefix("ok ") {
                Some(name) => told.tests.entry(name.to_string()).or_default().passed += 1,
                None => {
                    let name = line.rsplit(' ').next().unwrap_or(line);
                    told.tests.entry(name.to_string()).or_default().other += 1;
                }
            }
        }
        told
    }

    /// Told exactly once, and so.
    pub(crate) fn has_passed(&self, test: &str) -> bool {
        self.tests.get(test) == Some(&Ends { passed: 1, other: 0 })
    }

    pub(crate) fn has_failed(&self, test: &str) -> bool {
        self.tests.get(test).is_some_and(|ends| ends.other > 0)
    }
}

/// What people are shown of what a process printed.
pub(crate) fn without_deprecation(text: &str) -> String {
    match text.find(DEPRECATION) {
        Some(start) => {
            let rest = &text[start + DEPRECATION.len()..];
            format!("{}{}", &text[..start], rest.strip_prefix('\n').unwrap_or(rest))
        }
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_test_that_is_told_once_has_passed() {
        let told =
            Told::read("ok a\nfailed b\nok c\nok c\nfailed: panic did not contain d\nok e\nfailed e\nok f");
        let passed = ["a", "b", "c", "d", "e", "f"].map(|test| told.has_passed(test));
        assert_eq!(passed, [true, false, false, false, false, false]);
        assert_eq!(["a", "b", "d", "e"].map(|test| told.has_failed(test)), [false, true, true, true]);
    }

    #[test]
    fn what_the_harness_says_of_its_log_is_not_shown() {
        assert_eq!(without_deprecation("warning: `--logfile` is deprecated\nrunning\n"), "running\n");
        assert_eq!(without_deprecation("plain"), "plain");
    }
}
