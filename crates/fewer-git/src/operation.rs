//! What git is in the middle of in a work tree: a merge, a cherry-pick, a revert or a rebase that has not been
//! committed. What was committed is recognised elsewhere.

use std::path::PathBuf;

use crate::command::{git, path, records};
use crate::commit_log::{CommitLog, Scope};
use crate::object_hash::CommitHash;
use crate::origin::Redo;
use crate::rehearsal::{Attempt, Rehearsal, Rehearsed};
use crate::repository::{HistoryError, Repository};

/// An operation that waits for `git commit` or `--continue`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InProgress {
    pub operation: Operation,
    /// Files with conflicts that are not resolved, relative to the top-level directory, sorted.
    pub conflicts: Vec<PathBuf>,
    /// Automatic if the files in the work tree are what the operation gives by itself.
    pub redo: Redo,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Of these into `HEAD`.
    Merge {
        heads: Vec<CommitHash>,
    },
    CherryPick {
        of: CommitHash,
    },
    Revert {
        of: CommitHash,
    },
    Rebase,
}

impl Repository {
    /// What is in progress in this work tree.
    pub fn in_progress(&self) -> Result<Option<InProgress>, HistoryError> {
        let Some(operation) = self.operation() else { return Ok(None) };
        let listing = git(&self.directory, &["ls-files", "--unmerged", "--full-name", "-z", "--", ":/"])?;
        let file = |record: &[u8]| record.splitn(2, |byte| *byte == b'\t').nth(1).map(path);
        let mut conflicts: Vec<PathBuf> = records(&listing).filter_map(file).collect();
        conflicts.sort();
        conflicts.dedup();
        let redo = if conflicts.is_empty() { self.redo_operation(&operation)? } else { Redo::Manual };
        Ok(Some(InProgress { operation, conflicts, redo }))
    }

    fn operation(&self) -> Option<Operation> {
        // A rebase picks commits too.
        if ["rebase-merge", "rebase-apply"].iter().any(|name| self.git_directory.join(name).is_dir()) {
            return Some(Operation::Rebase);
        }
        let heads = fewer_files::read(&self.git_directory.join("MERGE_HEAD")).unwrap_or_default();
        let heads: Vec<CommitHash> =
            heads.split(|byte| *byte == b'\n').filter_map(CommitHash::parse).collect();
        if !heads.is_empty() {
            return Some(Operation::Merge { heads });
        }
        let head = |name| {
            let answer = git(&self.directory, &["rev-parse", "--verify", "--quiet", name]).ok()?;
            CommitHash::parse(answer.trim_ascii())
        };
        let pick = head("CHERRY_PICK_HEAD").map(|of| Operation::CherryPick { of });
        pick.or_else(|| head("REVERT_HEAD").map(|of| Operation::Revert { of }))
    }

    fn redo_operation(&self, operation: &Operation) -> Result<Redo, HistoryError> {
        let onto = self.resolve("HEAD")?;
        let parents = |commit: CommitHash| -> Result<Vec<Option<CommitHash>>, HistoryError> {
            let log = CommitLog::read(self, &Scope::Commits(vec![commit]))?;
            let parents = log.records.into_iter().flat_map(|record| record.parents).map(Some);
            let parents: Vec<_> = parents.collect();
            Ok(if parents.is_empty() { vec![None] } else { parents })
        };
        let attempts: Vec<Attempt> = match operation {
            Operation::Merge { heads } => vec![Attempt::Merge([&[onto], &heads[..]].concat())],
            Operation::CherryPick { of } => {
                let apply = |base| Attempt::Apply { base, onto, change: Some(*of) };
                parents(*of)?.into_iter().map(apply).collect()
            }
            Operation::Revert { of } => {
                let apply = |change| Attempt::Apply { base: Some(*of), onto, change };
                parents(*of)?.into_iter().map(apply).collect()
            }
            Operation::Rebase => return Ok(Redo::NotTried),
        };
        let rehearsal = Rehearsal::new(self)?;
        let mut redo = Redo::Manual;
        for rehearsed in rehearsal.try_all(&attempts, &mut |_| ())? {
            match rehearsed {
                Rehearsed::Clean { tree } if rehearsal.changed_since(tree)?.is_empty() => {
                    return Ok(Redo::Automatic);
                }
                Rehearsed::Clean { .. } | Rehearsed::Conflict { .. } => {}
                Rehearsed::Impossible(cause) => redo = Redo::Impossible(cause),
            }
        }
        Ok(redo)
    }
}
