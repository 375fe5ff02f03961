//! Why a file cannot be read: one sentence that names the file, the line and what was expected there.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Example: `coverage.info:12: expected 'DA:LINE,COUNT', found 'DA:x'`.
#[derive(Debug, thiserror::Error)]
#[error("{}{}", .path.display(), .problem)]
pub struct RequirementsError {
    pub path: PathBuf,
    pub problem: Problem,
}

/// What is wrong, and where in the file.
#[derive(Debug)]
pub enum Problem {
    Unreadable(io::Error),
    Expected { line: Option<u64>, expected: String, found: String },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unreadable(error) => write!(f, ": cannot be read: {error}"),
            Problem::Expected { line, expected, found } => {
                if let Some(line) = line {
                    write!(f, ":{line}")?;
                }
                write!(f, ": expected {expected}, found {found}")
            }
        }
    }
}

impl Problem {
    pub(crate) fn at(line: u64, expected: impl Into<String>, found: impl Into<String>) -> Problem {
        Problem::Expected { line: Some(line), expected: expected.into(), found: found.into() }
    }

    /// Where the file has no lines, or lacks something as a whole.
    pub(crate) fn whole(expected: impl Into<String>, found: impl Into<String>) -> Problem {
        Problem::Expected { line: None, expected: expected.into(), found: found.into() }
    }

    /// JSON that is not what it should be.
    pub(crate) fn json(expected: &str, error: &serde_json::Error) -> Problem {
        let found = error.to_string();
        // The line is said at the beginning of the sentence.
        let found = found.split(" at line ").next().unwrap_or(&found).to_string();
        Problem::Expected { line: Some(error.line() as u64), expected: expected.to_string(), found }
    }

    pub(crate) fn in_file(self, path: &Path) -> RequirementsError {
        RequirementsError { path: path.to_path_buf(), problem: self }
    }
}

/// A piece of a file for a message: short, on one line.
pub(crate) fn quoted(text: &str) -> String {
    let line: String = text.chars().take_while(|&character| character != '\n').take(60).collect();
    format!("'{}'", line.escape_debug())
}
