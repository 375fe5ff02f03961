//! What fewer needs to know of a git working tree (the commit, the content on top of it, the files, a diff) and of
//! a repository's history (`Repository`, `History`). It asks the `git` program and changes nothing; a project
//! without git, or a machine without it, is not an error.

mod command;
mod commit_log;
mod harmless;
mod history;
mod large_files;
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
use large_files::Suspect;
use status::ChangedPath;

const WORK_TREE: Domain = Domain::new("git.work-tree");
const STATUS: [&str; 5] = ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all"];
/// Of submodules git looks at their commits only: for more it would start itself in them, under their settings.
pub(crate) const IN_SUBMODULES: &str = "--ignore-submodules=dirty";

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
        // `core.worktree` may name any directory of the machine.
        let is_its_top = !root.as_os_str().is_empty() && root.join(".git").symlink_metadata().is_ok();
        is_its_top.then_some(WorkTree { root })
    }

    /// The top-level directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What is checked out. `is_ignored` names files, by their path below the top-level directory, that do not
    /// count although git neither knows nor ignores them: what builds leave behind.
    pub fn state(&self, is_ignored: impl Fn(&Path) -> bool) -> Result<WorkTreeState, GitError> {
        let (commit, tree) = self.head();
        let mut untracked = false;
        let mut changed: Vec<PathBuf> = self.changed_submodules()?;
        for ChangedPath { path, is_untracked, .. } in self.changed_paths()? {
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

    /// What git says is changed, but for files that are as git-lfs would find them.
    fn changed_paths(&self) -> Result<Vec<ChangedPath>, GitError> {
        let listing = git(&self.root, &[&STATUS[..], &[IN_SUBMODULES]].concat())?;
        let mut changed = status::changed_paths(&listing);
        let suspects = changed
            .iter()
            .filter_map(|changed| Some(Suspect { path: changed.path.clone(), blob: changed.replaces? }));
        let unchanged = large_files::unchanged(&self.root, suspects.collect())?;
        changed.retain(|changed| !unchanged.contains(&changed.path));
        Ok(changed)
    }

    /// The submodules with changes of their own. Git would ask them under their own settings: they are asked like any
    /// other working tree.
    pub(crate) fn changed_submodules(&self) -> Result<Vec<PathBuf>, GitError> {
        let listing = git(&self.root, &["ls-files", "--stage", "-z"])?;
        let submodules = command::records(&listing).filter(|entry| entry.starts_with(b"160000 "));
        let paths = submodules.filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
        let is_changed = |path: &PathBuf| {
            let state = WorkTree::at(&self.root.join(path)).map(|tree| tree.state(|_| false));
            state.is_some_and(|state| state.map_or(true, |state| state.dirty))
        };
        Ok(paths.map(command::path).filter(is_changed).collect())
    }

    /// The working tree whose top-level directory this is.
    pub(crate) fn at(directory: &Path) -> Option<WorkTree> {
        directory.join(".git").symlink_metadata().ok()?;
        WorkTree::open(directory)
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

    /// Whether git knows a path, or anything below it.
    pub fn tracks(&self, path: &Path) -> Result<bool, GitError> {
        let top = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let Ok(below) = path.strip_prefix(&top) else { return Ok(false) };
        let pathspec = format!(":(top,literal){}", below.display());
        Ok(!git(&self.root, &["ls-files", "-z", "--cached", "--", &pathspec])?.is_empty())
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
        self.named_in_diff(&[&old, &new])
    }

    /// The files that differ between a commit and the working tree, untracked files not included.
    pub fn changed_since(&self, old: &str) -> Result<Vec<PathBuf>, GitError> {
        self.named_in_diff(&[old])
    }

    fn named_in_diff(&self, commits: &[&str]) -> Result<Vec<PathBuf>, GitError> {
        let options = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let options = [&options[..], &[IN_SUBMODULES, "--end-of-options"], commits, &["--"]].concat();
        let listing = git(&self.root, &options)?;
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
