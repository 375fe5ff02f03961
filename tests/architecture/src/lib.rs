//! The source of the workspace as the rules of `architecture.toml` see it: files with their modules, imports between
//! modules, words, patterns, names. Test code does not count. What must hold is in `tests/rules.rs`.

pub mod imports;
pub mod manifests;
pub mod names;
pub mod rules;
pub mod source;

use std::fmt;
use std::path::{Path, PathBuf};

/// A line of a file, below the top of the workspace.
///
/// Example: `crates/fewer/src/main.rs:12`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    pub file: PathBuf,
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// The top of the workspace.
pub fn top() -> &'static Path {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    top.expect("this crate is two directories below the top")
}
