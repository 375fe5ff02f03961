//! CTest: reading which tests a build directory declares, and running those that are not GoogleTest programs with
//! the real `ctest`, so that its properties mean what they mean. Which entry is which is decided elsewhere.

mod entries;
mod run;

use std::io;
use std::path::PathBuf;

use thiserror::Error;

pub use entries::{CtestEntry, entries, told};
pub use run::{CtestTest, run};

/// `ctest` could not be used.
#[derive(Debug, Error)]
#[error("ctest in {}: {kind}", directory.display())]
pub struct CtestError {
    pub directory: PathBuf,
    #[source]
    pub kind: CtestErrorKind,
}

#[derive(Debug, Error)]
pub enum CtestErrorKind {
    #[error("it could not be started ({0}); install CMake or put its ctest into PATH")]
    Start(#[source] io::Error),
    #[error("a temporary file could not be used: {0}")]
    TemporaryFile(#[source] io::Error),
    #[error("it {end}; it printed:\n{output_tail}")]
    Failed { end: String, output_tail: String },
    #[error("its output cannot be read ({reason}); it printed:\n{output_tail}")]
    Unreadable { reason: String, output_tail: String },
    #[error("it was still running after {seconds} s")]
    TimedOut { seconds: u64 },
    #[error("interrupted")]
    Interrupted,
}
