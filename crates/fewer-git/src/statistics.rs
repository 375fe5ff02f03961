//! How often a history was merged, rebased, picked and taken back: counts over recognised commits. How commits
//! are recognised, and how the counts are shown, is told elsewhere.

use crate::command::git;
use crate::commit_log::{CommitLog, Scope};
use crate::object_hash::CommitHash;
use crate::origin::{Origin, PatchIds, Recognised, Recognition, Redo, Redoing};
use crate::rehearsal::Progress;
use crate::repository::{HistoryError, Repository};

/// The counts of one repository or range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HistoryStatistics {
    pub commits: usize,
    /// Different names, after `.mailmap`; as `git shortlog -s` counts.
    pub authors: usize,
    pub merges: usize,
    /// Commits whose author and committer are not one person, and which are none of the other kinds.
    pub rebases: usize,
    pub cherry_picks: usize,
    pub reverts: usize,
    /// All commits whose author and committer differ, if only in their dates, whatever else they are.
    pub rewritten: usize,
    /// Commits whose patches could not be compared because an object is missing.
    pub unreadable_patches: usize,
    pub main: FirstParents,
    /// `None` if merges were not redone.
    pub redone: Option<RedoneMerges>,
}

/// Whether to redo every merge, which takes most of the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AutoMerges {
    Check,
    Skip,
}

/// The chain of first parents from the tip of the main branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FirstParents {
    pub commits: usize,
    pub merges: usize,
}

/// What came of redoing the merges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RedoneMerges {
    pub automatic: usize,
    pub manual: usize,
    /// Where objects are missing.
    pub impossible: usize,
}

impl HistoryStatistics {
    /// Reads and counts the commits of a scope. The main branch is that of the repository, or the end of the
    /// range.
    pub fn gather(
        repository: &Repository,
        scope: &Scope,
        auto_merges: AutoMerges,
        patch_ids: PatchIds,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<HistoryStatistics, HistoryError> {
        let redo = match auto_merges {
            AutoMerges::Check => Redoing::Merges,
            AutoMerges::Skip => Redoing::Skip,
        };
        let main = FirstParents::read(repository, scope)?;
        let log = CommitLog::read(repository, scope)?;
        let authors = log.authors.len();
        let recognition = Recognition { redo, patch_ids };
        let (found, unreadable_patches) = repository.recognise_log(log, scope, recognition, progress)?;
        Ok(HistoryStatistics { unreadable_patches, ..HistoryStatistics::of(&found, authors, main) })
    }

    pub fn of(commits: &[Recognised], authors: usize, main: FirstParents) -> HistoryStatistics {
        let mut counts =
            HistoryStatistics { commits: commits.len(), authors, main, ..HistoryStatistics::default() };
        for commit in commits {
            match &commit.origin {
                Origin::Commit => counts.rebases += usize::from(commit.is_rebased()),
                Origin::Merge { redo } => {
                    counts.merges += 1;
                    counts.count_redone(redo);
                }
                Origin::CherryPick { .. } => counts.cherry_picks += 1,
                Origin::Revert { .. } => counts.reverts += 1,
            }
            counts.rewritten += usize::from(commit.record.rewritten);
        }
        counts
    }

    /// (M + R + C + V) / commits; `None` without commits.
    pub fn operations_share(&self) -> Option<f64> {
        share(self.merges + self.rebases + self.cherry_picks + self.reverts, self.commits)
    }

    /// Merges / commits on the main branch.
    pub fn main_merge_share(&self) -> Option<f64> {
        share(self.main.merges, self.main.commits)
    }

    /// Automatic merges / merges that could be redone.
    pub fn auto_merge_share(&self) -> Option<f64> {
        let RedoneMerges { automatic, manual, impossible: _ } = self.redone?;
        share(automatic, automatic + manual)
    }

    fn count_redone(&mut self, redo: &Redo) {
        let count = match redo {
            Redo::NotTried => return,
            Redo::Automatic => &mut self.redone.get_or_insert_default().automatic,
            Redo::Manual => &mut self.redone.get_or_insert_default().manual,
            Redo::Impossible(_) => &mut self.redone.get_or_insert_default().impossible,
        };
        *count += 1;
    }
}

impl FirstParents {
    fn read(repository: &Repository, scope: &Scope) -> Result<FirstParents, HistoryError> {
        let (tip, from) = match scope {
            Scope::All => (repository.main_branch()?, None),
            Scope::Range(range) => (range.to, range.from),
            Scope::Commits(_) => return Ok(FirstParents::default()),
        };
        let count = |options: &[&str]| -> Result<usize, HistoryError> {
            let excluded = |from: CommitHash| format!("^{from}");
            let (tip, from) = (tip.to_string(), from.map(excluded));
            let arguments = ["rev-list", "--count", "--first-parent"].iter().chain(options).copied();
            let arguments: Vec<&str> = arguments.chain([&tip[..]]).chain(from.as_deref()).collect();
            let answer =
                git(&repository.directory, &arguments).map_err(|error| repository.explained(error))?;
            Ok(String::from_utf8_lossy(&answer).trim().parse().unwrap_or(0))
        };
        Ok(FirstParents { commits: count(&[])?, merges: count(&["--merges"])? })
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
