//! Starting `git` and taking its output apart. What is asked is told elsewhere.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
}

/// What `git` prints. It takes no lock that another git could wait for.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
    let failed = |kind| GitError {
        command: format!("git {}", arguments.join(" ")),
        directory: directory.to_path_buf(),
        kind,
    };
    let output = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(GitErrorKind::Start(error)))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_string();
    Err(failed(GitErrorKind::Refused(if message.is_empty() { output.status.to_string() } else { message })))
}

/// The parts of a listing made with `-z`.
pub(crate) fn records(listing: &[u8]) -> impl Iterator<Item = &[u8]> {
    listing.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
