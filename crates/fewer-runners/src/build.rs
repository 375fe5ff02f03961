//! Running the project's build command, its output passed on line by line. What is built and what happens after
//! it is decided elsewhere.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::cancel::Cancel;
use crate::process::{Exit, Leftovers, Stop, Streams, Watcher, signal_name, supervise};
use crate::transcript::Transcript;

/// What to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildCommand {
    /// A line for `sh -c`. Example: `cmake --build build -j4`.
    Shell(String),
    /// A program and its arguments, taken as they are.
    Arguments(Vec<OsString>),
}

/// How a build ended.
#[derive(Clone, PartialEq, Debug)]
pub struct BuildEnd {
    pub success: bool,
    /// `None` when it was killed.
    pub exit_code: Option<i32>,
    /// The signal that killed it. Example: `SIGKILL`.
    pub signal: Option<String>,
    /// It was stopped by [`Cancel`].
    pub interrupted: bool,
    /// The last part of what it printed.
    pub output_tail: String,
    pub duration: Duration,
}

#[derive(Debug, Error)]
#[error("cannot run the build command `{command}` in {}: {source}", directory.display())]
pub struct BuildError {
    pub command: String,
    pub directory: PathBuf,
    pub source: io::Error,
}

/// A longer line is handed over in pieces.
const LONGEST_LINE: usize = 64 * 1024;

/// Runs the command in `directory`, with `environment` set on top of this process's own, and hands each line, standard
/// output and standard error in the order written, to `line`, without its newline. Processes that the build leaves
/// behind (compiler caches) are left alone.
pub fn run(
    command: &BuildCommand,
    directory: &Path,
    environment: &[(String, OsString)],
    cancel: &Cancel,
    line: &mut dyn FnMut(&str),
) -> Result<BuildEnd, BuildError> {
    let failed =
        |source| BuildError { command: command.to_string(), directory: directory.to_path_buf(), source };
    let mut process = command.process().map_err(failed)?;
    process.current_dir(directory).envs(environment.iter().map(|(name, value)| (name, value)));
    let mut lines = Lines { transcript: Transcript::new(0, 64 * 1024), partial: Vec::new(), line };
    let end = supervise(process, Streams::Together, Leftovers::Leave, cancel, &mut lines).map_err(failed)?;
    lines.hand_over();
    let (exit_code, signal) = match end.exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(signal) => (None, Some(signal_name(signal))),
    };
    let interrupted = end.stop == Some(Stop::Cancelled);
    Ok(BuildEnd {
        success: exit_code == Some(0) && !interrupted,
        exit_code,
        signal,
        interrupted,
        output_tail: lines.transcript.text(),
        duration: end.duration,
    })
}

impl BuildCommand {
    fn process(&self) -> io::Result<Command> {
        match self {
            BuildCommand::Shell(line) => {
                let mut command = Command::new("sh");
                command.arg("-c").arg(line);
                Ok(command)
            }
            BuildCommand::Arguments(arguments) => {
                let [program, arguments @ ..] = arguments.as_slice() else {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"));
                };
                let mut command = Command::new(program);
                command.args(arguments);
                Ok(command)
            }
        }
    }
}

impl fmt::Display for BuildCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildCommand::Shell(line) => f.write_str(line),
            BuildCommand::Arguments(arguments) => {
                let words: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
                f.write_str(&words.join(" "))
            }
        }
    }
}

struct Lines<'a> {
    transcript: Transcript,
    partial: Vec<u8>,
    line: &'a mut dyn FnMut(&str),
}

impl Lines<'_> {
    fn hand_over(&mut self) {
        if !self.partial.is_empty() {
            let text = String::from_utf8_lossy(&self.partial);
            (self.line)(text.trim_end_matches(['\n', '\r']));
            self.partial.clear();
        }
    }
}

impl Watcher for Lines<'_> {
    fn output(&mut self, bytes: &[u8]) {
        self.transcript.push(bytes);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.partial.len() > LONGEST_LINE {
                self.hand_over();
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}
