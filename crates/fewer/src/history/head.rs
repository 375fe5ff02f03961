//! The state at hand as a step of the history: its parents, and how it came from them.

use fewer_git::{
    CommitHash, HistoryError, InProgress, Operation, Origin, Redo, Repository, Source, WorkTreeState,
};

/// A step of the history that has been made, or would be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub parents: Vec<CommitHash>,
    pub making: Making,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Making {
    /// Of parents, by git alone or with the help of a human.
    Merge(Redo),
    /// The change that `picked` made to its parent, on top of the one parent.
    CherryPick { picked: CommitHash, picked_parent: CommitHash, redo: Redo },
    /// That change taken back.
    Revert { reverted: CommitHash, reverted_parent: CommitHash, redo: Redo },
    /// Written by hand, or by a means that nothing is known of.
    Commit,
    /// Changes that are not committed.
    LocalChanges,
}

impl Step {
    /// What the working tree holds.
    pub fn at_hand(repository: &Repository, state: &WorkTreeState) -> Result<Step, HistoryError> {
        let head = repository.resolve("HEAD")?;
        if let Some(InProgress { operation, redo, .. }) = repository.in_progress()?
            // What the operation gives by itself has no file that git does not know.
            && let redo = if state.untracked { Redo::Manual } else { redo }
            && let Some(step) = pending(repository, head, operation, redo)?
        {
            return Ok(step);
        }
        if state.dirty {
            return Ok(Step { parents: vec![head], making: Making::LocalChanges });
        }
        let recognised = repository.recognise_commit(head)?;
        let making = match recognised.origin {
            Origin::Commit => Making::Commit,
            Origin::Merge { redo } => Making::Merge(redo),
            Origin::CherryPick { of, redo, .. } => {
                change(of, |picked, picked_parent| Making::CherryPick { picked, picked_parent, redo })
            }
            Origin::Revert { of, redo } => {
                change(of, |reverted, reverted_parent| Making::Revert { reverted, reverted_parent, redo })
            }
        };
        Ok(Step { parents: recognised.record.parents, making })
    }

    /// Why the step's result cannot be told from its parents, in words; `None` if it can.
    pub fn obstacle(&self) -> Option<String> {
        let (what, redo) = match &self.making {
            Making::Merge(redo) => ("merge", redo),
            Making::CherryPick { redo, .. } => ("cherry-pick", redo),
            Making::Revert { redo, .. } => ("revert", redo),
            Making::Commit => {
                return Some(
                    "HEAD is an ordinary commit, whose content no record foretells; build it".to_string(),
                );
            }
            Making::LocalChanges => {
                return Some(
                    "there are local changes, whose content no record foretells; build them, or commit or stash them"
                        .to_string(),
                );
            }
        };
        match redo {
            Redo::Automatic => None,
            Redo::Manual => Some(format!(
                "the {what} was finished by hand, so its parents do not tell what it is; build it"
            )),
            Redo::NotTried => {
                Some(format!("it was not tried whether git makes the same {what} again; build it"))
            }
            Redo::Impossible(cause) => Some(format!("git cannot make the same {what} again: {cause}")),
        }
    }
}

fn change(of: Source, making: impl FnOnce(CommitHash, CommitHash) -> Making) -> Making {
    match (of.commit, of.parent) {
        (Some(commit), Some(parent)) => making(commit, parent),
        (Some(_) | None, _) => Making::Commit,
    }
}

/// An operation that waits for its commit.
fn pending(
    repository: &Repository,
    head: CommitHash,
    operation: Operation,
    redo: Redo,
) -> Result<Option<Step>, HistoryError> {
    let parent_of = |commit: CommitHash| -> Result<Option<CommitHash>, HistoryError> {
        Ok(repository.recognise_commit(commit)?.record.parents.first().copied())
    };
    let (parents, making) = match operation {
        Operation::Merge { heads } => ([vec![head], heads].concat(), Some(Making::Merge(redo))),
        Operation::CherryPick { of: picked } => {
            let making = |picked_parent| Making::CherryPick { picked, picked_parent, redo };
            (vec![head], parent_of(picked)?.map(making))
        }
        Operation::Revert { of: reverted } => {
            let making = |reverted_parent| Making::Revert { reverted, reverted_parent, redo };
            (vec![head], parent_of(reverted)?.map(making))
        }
        Operation::Rebase => (Vec::new(), None),
    };
    Ok(making.map(|making| Step { parents, making }))
}
