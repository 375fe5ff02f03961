//! Starting `git` and taking its output apart. What is asked is told elsewhere, and so is why nothing that the
//! repository names is started by it.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

use crate::harmless::git_in;

/// A question that `git` did not answer.
#[derive(Debug, thiserror::Error)]
#[error("`{command}` in {}: {kind}", directory.display())]
pub struct GitError {
    pub command: String,
    pub directory: PathBuf,
    #[source]
    pub kind: GitErrorKind,
}

#[derive(Debug, thiserror::Error)]
pub enum GitErrorKind {
    #[error("it could not be started ({0}); install git or put it into PATH")]
    Start(#[source] io::Error),
    #[error("{0}")]
    Refused(String),
    #[error("talking to it failed ({0}); run the command by hand to see what stops it")]
    Pipe(#[source] io::Error),
    #[error("its answer is not understood: {0}; report this with the output of `git version`")]
    Answer(String),
}

/// What `git` prints. It takes no lock that another git could wait for.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
    Call::new(directory, arguments).output()
}

/// A `git` command that has not been started.
pub(crate) struct Call {
    command: Command,
    name: CallName,
}

/// What an error says about a call.
#[derive(Clone)]
pub(crate) struct CallName {
    command: String,
    directory: PathBuf,
}

impl CallName {
    pub(crate) fn failed(&self, kind: GitErrorKind) -> GitError {
        GitError { command: self.command.clone(), directory: self.directory.clone(), kind }
    }

    pub(crate) fn misunderstood(&self, answer: &[u8]) -> GitError {
        let start = &answer[..answer.len().min(200)];
        self.failed(GitErrorKind::Answer(format!("`{}`", String::from_utf8_lossy(start))))
    }
}

impl Call {
    pub(crate) fn new(directory: &Path, arguments: &[&str]) -> Call {
        let mut command = git_in(directory);
        command.args(arguments);
        let name =
            CallName { command: format!("git {}", arguments.join(" ")), directory: directory.to_path_buf() };
        Call { command, name }
    }

    pub(crate) fn environment<'a>(
        mut self,
        variables: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
    ) -> Call {
        self.command.envs(variables);
        self
    }

    pub(crate) fn name(&self) -> &CallName {
        &self.name
    }

    pub(crate) fn output(mut self) -> Result<Vec<u8>, GitError> {
        let output = self.command.stdin(Stdio::null()).output();
        let output = output.map_err(|error| self.name.failed(GitErrorKind::Start(error)))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_string();
        Err(self.name.failed(refusal(message, output.status)))
    }

    /// Starts the command and gives it all of `input`, while its output can be read.
    pub(crate) fn start(self, input: Vec<u8>) -> Result<Running, GitError> {
        let (mut running, mut pipe) = self.open()?;
        // git may leave before it has read everything; its exit status tells why.
        running.feeding = Some(std::thread::spawn(move || drop(pipe.write_all(&input))));
        Ok(running)
    }

    /// Starts the command for a conversation.
    pub(crate) fn open(mut self) -> Result<(Running, ChildStdin), GitError> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|error| self.name.failed(GitErrorKind::Start(error)))?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(mut errors)) = (input, output, errors) else {
            unreachable!("all three were asked for");
        };
        let complaint = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).trim().to_string()
        });
        let output = BufReader::with_capacity(1 << 16, output);
        let running = Running { name: self.name, child, output, feeding: None, complaint: Some(complaint) };
        Ok((running, input))
    }
}

/// A `git` that is running. Dropped before its end, it is stopped.
pub(crate) struct Running {
    pub(crate) name: CallName,
    child: Child,
    output: BufReader<ChildStdout>,
    feeding: Option<JoinHandle<()>>,
    complaint: Option<JoinHandle<String>>,
}

impl Running {
    /// The next part of the output up to `end`, without it; `false` after the last one.
    pub(crate) fn next(&mut self, end: u8, part: &mut Vec<u8>) -> Result<bool, GitError> {
        part.clear();
        let read = self.output.read_until(end, part);
        let read = read.map_err(|error| self.name.failed(GitErrorKind::Pipe(error)))?;
        if part.last() == Some(&end) {
            part.pop();
        }
        Ok(read > 0)
    }

    /// Exactly so many bytes of the output.
    pub(crate) fn exactly(&mut self, length: usize) -> Result<Vec<u8>, GitError> {
        let mut bytes = vec![0; length];
        let read = self.output.read_exact(&mut bytes);
        read.map_err(|error| self.name.failed(GitErrorKind::Pipe(error)))?;
        Ok(bytes)
    }

    /// All of the output that is left.
    pub(crate) fn rest(&mut self) -> Result<Vec<u8>, GitError> {
        let mut bytes = Vec::new();
        let read = self.output.read_to_end(&mut bytes);
        read.map_err(|error| self.name.failed(GitErrorKind::Pipe(error)))?;
        Ok(bytes)
    }

    /// Hands the output over to another command's input.
    pub(crate) fn pipe_into(mut self, mut next: Call) -> Result<Vec<u8>, GitError> {
        next.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let spawned = next.command.spawn();
        let mut second = spawned.map_err(|error| next.name.failed(GitErrorKind::Start(error)))?;
        let Some(mut input) = second.stdin.take() else { unreachable!("it was asked for") };
        let collected = std::thread::scope(|scope| {
            scope.spawn(|| {
                let _ = io::copy(&mut self.output, &mut input);
                drop(input);
            });
            second.wait_with_output()
        });
        let output = collected.map_err(|error| next.name.failed(GitErrorKind::Pipe(error)))?;
        self.finish()?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(next.name.failed(refusal(String::new(), output.status)))
    }

    /// Waits for the end; an error if git refused.
    pub(crate) fn finish(mut self) -> Result<(), GitError> {
        if let Some(feeding) = self.feeding.take() {
            let _ = feeding.join();
        }
        let status = self.child.wait().map_err(|error| self.name.failed(GitErrorKind::Pipe(error)))?;
        let complaint = self.complaint.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        if status.success() { Ok(()) } else { Err(self.name.failed(refusal(complaint, status))) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail harmlessly after `finish`.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The parts of a listing made with `-z`.
pub(crate) fn records(listing: &[u8]) -> impl Iterator<Item = &[u8]> {
    listing.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn refusal(message: String, status: std::process::ExitStatus) -> GitErrorKind {
    GitErrorKind::Refused(if message.is_empty() { status.to_string() } else { message })
}
