//! How a commit was made: by a commit, a merge, a cherry-pick or a revert, and whether git can do the same again
//! without a human. Which tests that selects is the core's business.

use std::collections::HashMap;

use crate::commit_log::{CommitLog, CommitRecord, Mention, Scope, commits_named};
use crate::object_hash::CommitHash;
use crate::patch_id;
use crate::rehearsal::{Attempt, Progress, Rehearsal, Rehearsed};
use crate::repository::{HistoryError, Repository};

/// A commit and how it came to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recognised {
    pub record: CommitRecord,
    pub origin: Origin,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Written by hand, as far as one can see: also a squashed merge, a rebase, an amended commit.
    Commit,
    /// Two or more parents.
    Merge {
        redo: Redo,
    },
    CherryPick {
        of: Source,
        found_by: Evidence,
        redo: Redo,
    },
    Revert {
        of: Source,
        redo: Redo,
    },
}

/// The commit that was copied or taken back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// As the message has it.
    pub name: String,
    /// `None` if it is not in the repository.
    pub commit: Option<CommitHash>,
    /// The commit before it; of a merge the one that the change was taken against. `None` before a root.
    pub parent: Option<CommitHash>,
}

/// Why a commit is taken for a cherry-pick.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evidence {
    Message,
    /// Another commit, not one of its ancestors, makes the same change.
    PatchId,
}

/// Whether git does the same again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Redo {
    NotTried,
    /// Redoing it gives exactly the commit's tree, without conflict.
    Automatic,
    /// There is a conflict, or the result was edited.
    Manual,
    /// With the cause in words.
    Impossible(String),
}

/// What to spend time on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recognition {
    pub redo: Redoing,
    pub patch_ids: PatchIds,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Redoing {
    Skip,
    Merges,
    All,
}

/// Comparing patches finds cherry-picks whose message is silent. It reads every change of every branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PatchIds {
    Skip,
    Compare,
}

impl Origin {
    /// `None` for an ordinary commit.
    pub fn redo(&self) -> Option<&Redo> {
        match self {
            Origin::Commit => None,
            Origin::Merge { redo } | Origin::CherryPick { redo, .. } | Origin::Revert { redo, .. } => {
                Some(redo)
            }
        }
    }

    pub fn is_automatic(&self) -> bool {
        self.redo() == Some(&Redo::Automatic)
    }
}

impl Recognised {
    /// Whether it counts as rebased: somebody else committed it than wrote it, and nothing else explains that. A date
    /// tells nothing: any amended commit has two.
    pub fn is_rebased(&self) -> bool {
        self.record.is_of_two && self.origin == Origin::Commit
    }
}

impl Repository {
    /// How the commits of a scope were made, children before parents.
    pub fn recognise(
        &self,
        scope: &Scope,
        recognition: Recognition,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Recognised>, HistoryError> {
        let log = CommitLog::read(self, scope)?;
        Ok(self.recognise_log(log, scope, recognition, progress)?.0)
    }

    /// How one commit was made, tried in full; its patch is compared with commits beside it of the same author date.
    pub fn recognise_commit(&self, commit: CommitHash) -> Result<Recognised, HistoryError> {
        let log = CommitLog::read(self, &Scope::Commits(vec![commit]))?;
        let mut sources = self.sources_by_message(&log.records)?;
        if let ([record], [source @ None]) = (&log.records[..], &mut sources[..]) {
            *source = patch_id::original_of(self, record)?.as_ref().map(Change::by_patch);
        }
        let found = self.made_from(log, &sources, Redoing::All, &mut |_| ())?;
        found.into_iter().next().ok_or_else(|| HistoryError::MissingCommit(commit.to_string()))
    }

    /// How the commits of a log were made, and how many patches could not be compared because an object is missing.
    pub(crate) fn recognise_log(
        &self,
        log: CommitLog,
        scope: &Scope,
        recognition: Recognition,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Vec<Recognised>, usize), HistoryError> {
        let mut sources = self.sources_by_message(&log.records)?;
        let mut unreadable = 0;
        if recognition.patch_ids == PatchIds::Compare {
            let originals;
            (originals, unreadable) = patch_id::originals(self, scope, &log.records)?;
            for (place, record) in log.records.iter().enumerate() {
                let original = originals.get(&record.commit).filter(|_| sources[place].is_none());
                if let Some(original) = original {
                    sources[place] = Some(Change::by_patch(original));
                }
            }
        }
        Ok((self.made_from(log, &sources, recognition.redo, progress)?, unreadable))
    }

    fn made_from(
        &self,
        log: CommitLog,
        sources: &[Option<Change>],
        redoing: Redoing,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Recognised>, HistoryError> {
        let mut found: Vec<Recognised> = log
            .records
            .into_iter()
            .zip(sources)
            .map(|(record, change)| Recognised { origin: origin(&record, change.as_ref()), record })
            .collect();
        self.redo(&mut found, sources, redoing, progress)?;
        Ok(found)
    }

    /// What the messages mention, looked up.
    fn sources_by_message(&self, records: &[CommitRecord]) -> Result<Vec<Option<Change>>, HistoryError> {
        let of_interest = || records.iter().filter(|record| record.parents.len() < 2);
        let names =
            of_interest().filter_map(|record| record.mention.as_ref()).flat_map(|mention| match mention {
                Mention::CherryPick { of } => [Some(of), None],
                Mention::Revert { of, to } => [Some(of), to.as_ref()],
            });
        let commits = commits_named(self, names.flatten().map(String::as_str))?;
        let mut mentioned: Vec<CommitHash> = commits.values().copied().collect();
        mentioned.sort_unstable();
        mentioned.dedup();
        let mentioned = CommitLog::read(self, &Scope::Commits(mentioned))?;
        let parents: HashMap<CommitHash, Vec<CommitHash>> =
            mentioned.records.into_iter().map(|record| (record.commit, record.parents)).collect();
        let change = |record: &CommitRecord| {
            let mention = record.mention.as_ref().filter(|_| record.parents.len() < 2)?;
            Some(Change::by_message(mention, &commits, &parents))
        };
        Ok(records.iter().map(change).collect())
    }

    fn redo(
        &self,
        found: &mut [Recognised],
        changes: &[Option<Change>],
        redoing: Redoing,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), HistoryError> {
        let (mut attempts, mut owners) = (Vec::new(), Vec::new());
        for (place, (recognised, change)) in found.iter().zip(changes).enumerate() {
            for (attempt, parent) in attempts_for(recognised, change.as_ref(), redoing) {
                attempts.push(attempt);
                owners.push((place, parent));
            }
        }
        if attempts.is_empty() {
            return Ok(());
        }
        let results = Rehearsal::new(self)?.try_all(&attempts, progress)?;
        for ((place, parent), rehearsed) in owners.into_iter().zip(results) {
            found[place].learn(parent, rehearsed);
        }
        Ok(())
    }
}

/// A mentioned commit with everything it may have been taken against.
#[derive(Clone, Debug)]
struct Change {
    kind: ChangeKind,
    name: String,
    commit: Option<CommitHash>,
    /// More than one for a merge whose mainline is not told; none before a root.
    parents: Vec<CommitHash>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ChangeKind {
    CherryPick(Evidence),
    Revert,
}

impl Change {
    fn by_message(
        mention: &Mention,
        commits: &HashMap<String, CommitHash>,
        parents: &HashMap<CommitHash, Vec<CommitHash>>,
    ) -> Change {
        let (kind, of, to) = match mention {
            Mention::CherryPick { of } => (ChangeKind::CherryPick(Evidence::Message), of, None),
            Mention::Revert { of, to } => (ChangeKind::Revert, of, to.as_ref()),
        };
        let commit = commits.get(of).copied();
        let mut parents = commit.and_then(|commit| parents.get(&commit)).cloned().unwrap_or_default();
        // A merge is taken back to the parent that its message tells.
        let told = to.and_then(|to| commits.get(to)).filter(|to| parents.contains(to)).copied();
        parents = told.map_or(parents, |told| vec![told]);
        Change { kind, name: of.clone(), commit, parents }
    }

    fn by_patch(original: &CommitRecord) -> Change {
        Change {
            kind: ChangeKind::CherryPick(Evidence::PatchId),
            name: original.commit.to_string(),
            commit: Some(original.commit),
            parents: original.parents.clone(),
        }
    }

    fn source(&self) -> Source {
        Source { name: self.name.clone(), commit: self.commit, parent: self.parents.first().copied() }
    }
}

impl Recognised {
    /// Takes a result in; of several tries the automatic one counts, else the first.
    fn learn(&mut self, parent: Option<CommitHash>, rehearsed: Rehearsed) {
        let tree = self.record.tree;
        let (redo, source) = match &mut self.origin {
            Origin::Commit => return,
            Origin::Merge { redo } => (redo, None),
            Origin::CherryPick { redo, of, .. } | Origin::Revert { redo, of } => (redo, Some(of)),
        };
        let learnt = match rehearsed {
            Rehearsed::Clean { tree: redone } if redone == tree => Redo::Automatic,
            Rehearsed::Clean { .. } | Rehearsed::Conflict { .. } => Redo::Manual,
            Rehearsed::Impossible(cause) => Redo::Impossible(cause),
        };
        if *redo == Redo::NotTried || (learnt == Redo::Automatic && *redo != Redo::Automatic) {
            *redo = learnt;
            if let Some(source) = source {
                source.parent = parent;
            }
        }
    }
}

fn origin(record: &CommitRecord, change: Option<&Change>) -> Origin {
    if record.parents.len() > 1 {
        return Origin::Merge { redo: Redo::NotTried };
    }
    let Some(change) = change else { return Origin::Commit };
    let of = change.source();
    let redo = match change.commit {
        Some(_) => Redo::NotTried,
        None => Redo::Impossible(missing(&change.name)),
    };
    match change.kind {
        ChangeKind::CherryPick(found_by) => Origin::CherryPick { of, found_by, redo },
        ChangeKind::Revert => Origin::Revert { of, redo },
    }
}

fn missing(name: &str) -> String {
    match CommitHash::parse(name.as_bytes()) {
        Some(_) => HistoryError::MissingCommit(name.to_string()).to_string(),
        // Servers give no commit for an abbreviation.
        None => format!(
            "commit {name}, which the message names, is not in this repository; fetch the branch that has it \
             with `git fetch --all`"
        ),
    }
}

/// What to try for a commit, and against which parent of the change.
fn attempts_for(
    recognised: &Recognised,
    change: Option<&Change>,
    redoing: Redoing,
) -> Vec<(Attempt, Option<CommitHash>)> {
    let record = &recognised.record;
    if record.parents.len() > 1 {
        return match redoing {
            Redoing::Skip => Vec::new(),
            Redoing::Merges | Redoing::All => vec![(Attempt::Merge(record.parents.clone()), None)],
        };
    }
    let (Some(change), Redoing::All) = (change, redoing) else { return Vec::new() };
    let (Some(commit), [onto]) = (change.commit, &record.parents[..]) else { return Vec::new() };
    // Before a root commit there is nothing.
    let parents = if change.parents.is_empty() {
        vec![None]
    } else {
        change.parents.iter().copied().map(Some).collect()
    };
    let attempt = |parent| match change.kind {
        ChangeKind::CherryPick(_) => Attempt::Apply { base: parent, onto: *onto, change: Some(commit) },
        ChangeKind::Revert => Attempt::Apply { base: Some(commit), onto: *onto, change: parent },
    };
    parents.into_iter().map(|parent| (attempt(parent), parent)).collect()
}
