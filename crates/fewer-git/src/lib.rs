//! What fewer needs to know of a git working tree (the commit, the content on top of it, the files, a diff) and of
//! a repository's history (`Repository`, `History`). It asks the `git` program and changes nothing; a project
//! without git, or a machine without it, is not an error.

mod command;
mod commit_log;
mod history;
mod nearest;
mod object_hash;
mod operation;
mod origin;
mod patch_id;
mod rehearsal;
mod repository;
mod statistics;
mod status;
mod tree;

use std::path::{Path, PathBuf};

use fewer_core::{Digest, DigestBuilder, Domain};

pub use command::{GitError, GitErrorKind};
pub use commit_log::{CommitLog, CommitRecord, Mention, Scope};
pub use history::{History, Tips};
pub use nearest::Nearest;
pub use object_hash::{CommitHash, NotAHash, ObjectFormat, ObjectHash};
pub use operation::{InProgress, Operation};
pub use origin::{Evidence, Origin, PatchIds, Recognised, Recognition, Redo, Redoing, Source};
pub use rehearsal::{Attempt, Progress, Rehearsal, Rehearsed};
pub use repository::{Condition, HistoryError, Range, Repository};
pub use statistics::{AutoMerges, FirstParents, HistoryStatistics, RedoneMerges};
pub use tree::{Blobs, Changes, FileMode, TreeChange, TreeContent, TreeEntry};

use command::git;
use status::ChangedPath;

const WORK_TREE: Domain = Domain::new("git.work-tree");

/// The working tree that a directory is in.
#[derive(Clone, Debug)]
pub struct WorkTree {
    root: PathBuf,
}

/// What is checked out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkTreeState {
    /// `None` before the first commit.
    pub commit: Option<String>,
    /// Whether anything differs from the commit, untracked files included.
    pub dirty: bool,
    /// Whether there are files that git neither knows nor ignores.
    pub untracked: bool,
    /// The commit's tree and the content of everything that differs from it: equal digests, equal content.
    pub digest: Digest,
}

impl WorkTree {
    /// The working tree around `directory`; `None` where there is none, or no `git`.
    pub fn open(directory: &Path) -> Option<WorkTree> {
        let root = git(directory, &["rev-parse", "--show-toplevel"]).ok()?;
        let root = command::path(root.strip_suffix(b"\n").unwrap_or(&root));
        (!root.as_os_str().is_empty()).then_some(WorkTree { root })
    }

    /// The top-level directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What is checked out. `is_ignored` names files, by their path below the top-level directory, that do not
    /// count although git neither knows nor ignores them: what builds leave behind.
    pub fn state(&self, is_ignored: impl Fn(&Path) -> bool) -> Result<WorkTreeState, GitError> {
        let (commit, tree) = self.head();
        let options = ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all"];
        let listing = git(&self.root, &options)?;
        let mut untracked = false;
        let mut changed: Vec<PathBuf> = Vec::new();
        for ChangedPath { path, is_untracked } in status::changed_paths(&listing) {
            if !is_untracked || !is_ignored(&path) {
                untracked |= is_untracked;
                changed.push(path);
            }
        }
        changed.sort();
        changed.dedup();
        let mut digest = DigestBuilder::new(WORK_TREE);
        digest.text(&tree).number(changed.len() as u64);
        for path in &changed {
            digest.bytes(path.as_os_str().as_encoded_bytes()).digest(status::content(&self.root.join(path)));
        }
        Ok(WorkTreeState { commit, dirty: !changed.is_empty(), untracked, digest: digest.finish() })
    }

    /// The files below `directory` that git knows or would add, relative to `directory`, sorted.
    pub fn list_files(&self, directory: &Path) -> Result<Vec<PathBuf>, GitError> {
        let mut files = self.tracked_files(directory)?;
        let listing = git(directory, &["ls-files", "-z", "--others", "--exclude-standard"])?;
        files.extend(command::records(&listing).map(command::path));
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The files below `directory` that git knows, those of its submodules too, relative to `directory`, sorted.
    pub fn tracked_files(&self, directory: &Path) -> Result<Vec<PathBuf>, GitError> {
        let listing = git(directory, &["ls-files", "-z", "--cached", "--recurse-submodules"])?;
        let mut files: Vec<PathBuf> = command::records(&listing).map(command::path).collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The files that differ between two commits, relative to the top-level directory, sorted. An empty name
    /// means `HEAD`.
    pub fn changed_between(&self, old: &str, new: &str) -> Result<Vec<PathBuf>, GitError> {
        let or_head = |name: &str| if name.is_empty() { "HEAD".to_string() } else { name.to_string() };
        let (old, new) = (or_head(old), or_head(new));
        let options = ["diff", "--name-only", "-z", "--no-renames", "--end-of-options", &old, &new];
        self.named_in_diff(&options)
    }

    /// The files that differ between a commit and the working tree, untracked files not included.
    pub fn changed_since(&self, old: &str) -> Result<Vec<PathBuf>, GitError> {
        self.named_in_diff(&["diff", "--name-only", "-z", "--no-renames", "--end-of-options", old])
    }

    fn named_in_diff(&self, options: &[&str]) -> Result<Vec<PathBuf>, GitError> {
        let listing = git(&self.root, &[options, &["--"]].concat())?;
        let mut files: Vec<PathBuf> = command::records(&listing).map(command::path).collect();
        files.sort();
        Ok(files)
    }

    /// The commit and its tree; before the first commit there is neither.
    fn head(&self) -> (Option<String>, String) {
        let Ok(output) = git(&self.root, &["rev-parse", "HEAD", "HEAD^{tree}"]) else {
            return (None, String::new());
        };
        let text = String::from_utf8_lossy(&output).into_owned();
        let mut lines = text.lines().map(str::to_string);
        (lines.next(), lines.next().unwrap_or_default())
    }
}
