//! The merges, cherry-picks and reverts of a range, with what is needed to judge them, and what their sources
//! foretell of them. Which tests that selects is the core's business.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fewer_core::history::experiments::{Foretold, Operation, Step};
use fewer_core::history::{
    CommitGraph, CommitIndex, Dominators, GraphSource, Unpredictable, cherry_pick_of_commit,
    merge_of_commits, predict, revert_of_commit,
};
use fewer_core::{Digest, Domain};
use fewer_git::{
    Attempt, CommitHash, Evidence, History, Origin, PatchIds, Range, Recognised, Recognition, Redo, Redoing,
    Rehearsal, Rehearsed, Repository, Scope, Source,
};
use serde::{Deserialize, Serialize};

use super::pace::Pace;
use super::strategy::Ground;
use crate::session::Session;

const REDONE: Domain = Domain::new("history.redone");
const REDONE_KIND: &str = "history-redone";

/// A range of a history with the steps in it that can be judged.
pub struct Replayed {
    pub ground: Ground,
    /// Oldest first.
    pub steps: Vec<Step>,
    pub left_out: LeftOut,
    in_range: BTreeSet<CommitIndex>,
    /// Every commit that is looked at: those of the range, where it starts, and the branches that commits were
    /// picked from.
    pub commits: BTreeSet<CommitIndex>,
}

/// Steps of the range that are not judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LeftOut {
    /// Their branches part before the range begins.
    pub before_range: usize,
    /// What was picked or reverted is not in the repository, or has no parent.
    pub without_source: usize,
    /// Nothing is recorded of the commit itself.
    pub not_recorded: usize,
}

impl Replayed {
    pub fn find(
        session: &Session<'_>,
        repository: Repository,
        range: Range,
        patch_ids: PatchIds,
    ) -> anyhow::Result<Replayed> {
        let _phase = session.timings.phase("read the history");
        let recognition = Recognition { redo: Redoing::Skip, patch_ids };
        let found = repository.recognise(&Scope::Range(range), recognition, &mut |_| ())?;
        let sources = found.iter().filter_map(|commit| source(&commit.origin)?.commit);
        let tips: Vec<CommitHash> = [range.to].into_iter().chain(range.from).chain(sources).collect();
        let ground = Ground::of(repository, tips)?;
        ground.require_complete()?;
        let commits: Vec<CommitHash> =
            found.iter().map(|found| found.record.commit).chain(range.from).collect();
        let in_range: BTreeSet<CommitIndex> = ground.indices(&commits)?.into_iter().collect();
        let commits = in_range.clone();
        let mut replayed =
            Replayed { ground, steps: Vec::new(), left_out: LeftOut::default(), in_range, commits };
        let operations: Vec<Recognised> =
            found.into_iter().filter(|found| found.origin != Origin::Commit).collect();
        drop(_phase);
        let operations = redo_all(session, &replayed.ground, &replayed.in_range, operations)?;
        operations.iter().for_each(|operation| replayed.add(operation));
        replayed.steps.sort_by_key(|step| step.head);
        Ok(replayed)
    }

    fn add(&mut self, found: &Recognised) {
        let Ground { history, dominators, .. } = &self.ground;
        let Some(head) = history.index(&found.record.commit) else { return };
        let index = |commit: Option<CommitHash>| commit.and_then(|commit| history.index(&commit));
        let is_automatic = found.origin.is_automatic();
        let step = |operation| Step { head, operation, is_automatic };
        let step = match &found.origin {
            Origin::Commit => return,
            Origin::Merge { .. } => Some(step(Operation::Merge)),
            Origin::CherryPick { of, .. } => match (index(of.commit), index(of.parent)) {
                (Some(picked), Some(picked_parent)) => {
                    Some(step(Operation::CherryPick { picked, picked_parent }))
                }
                (Some(_) | None, _) => None,
            },
            Origin::Revert { of, .. } => match (index(of.commit), index(of.parent)) {
                (Some(reverted), Some(reverted_parent)) => {
                    Some(step(Operation::Revert { reverted, reverted_parent }))
                }
                (Some(_) | None, _) => None,
            },
        };
        let Some(step) = step else {
            self.left_out.without_source += 1;
            return;
        };
        let start = start_of(history, dominators, &step);
        let Some(start) = start.filter(|start| self.in_range.contains(start)) else {
            self.left_out.before_range += 1;
            return;
        };
        if let Operation::CherryPick { picked: commit, picked_parent: parent }
        | Operation::Revert { reverted: commit, reverted_parent: parent } = step.operation
        {
            self.commits.extend(history.graph().between(Some(start), parent));
            self.commits.extend(history.graph().parents(commit));
            self.commits.insert(commit);
        }
        self.steps.push(step);
    }
}

/// The graph of what a step is made of, as far as it can be known before it is made; `None` if it cannot.
pub fn foretell<S: GraphSource>(
    history: &CommitGraph,
    step: &Step,
    source: &mut S,
) -> anyhow::Result<Option<Foretold>>
where
    anyhow::Error: From<S::Error>,
{
    let parents = history.parents(step.head);
    let merged = match (step.operation, parents) {
        (Operation::Merge, _) => merge_of_commits(history, parents, source),
        (Operation::CherryPick { picked, picked_parent }, &[onto]) => {
            cherry_pick_of_commit(onto, picked, picked_parent, source).map(Into::into)
        }
        (Operation::Revert { reverted, reverted_parent }, &[onto]) => {
            revert_of_commit(onto, reverted, reverted_parent, source).map(Into::into)
        }
        (Operation::CherryPick { .. } | Operation::Revert { .. }, _) => return Ok(None),
    };
    match merged {
        Ok(merged) => Ok(Some(Foretold::of(predict(&merged, |_, _| true)))),
        Err(Unpredictable::Source(error)) => Err(error.into()),
        Err(
            Unpredictable::NotRecorded(_)
            | Unpredictable::Unrelated(_)
            | Unpredictable::TooEntangled
            | Unpredictable::NothingToMerge,
        ) => Ok(None),
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = [
            (self.before_range, "because their branches part before the range begins"),
            (self.without_source, "because what they pick or revert is not in the repository, or is a root"),
            (self.not_recorded, "because nothing is recorded of the commit itself"),
        ];
        let causes = causes.iter().filter(|(count, _)| *count > 0);
        let causes: Vec<String> = causes.map(|(count, cause)| format!("{count} {cause}")).collect();
        f.write_str(&causes.join(", "))
    }
}

/// The commit that all that matters to a step comes after.
fn start_of(history: &History, dominators: &Dominators, step: &Step) -> Option<CommitIndex> {
    let parents = history.graph().parents(step.head);
    match step.operation {
        Operation::Merge => dominators.immediate(step.head),
        Operation::CherryPick { picked_parent: other, .. }
        | Operation::Revert { reverted_parent: other, .. } => dominators.common(*parents.first()?, other),
    }
}

fn source(origin: &Origin) -> Option<&Source> {
    match origin {
        Origin::Commit | Origin::Merge { .. } => None,
        Origin::CherryPick { of, .. } | Origin::Revert { of, .. } => Some(of),
    }
}

/// What the store keeps of a step that was redone.
#[derive(Clone, Serialize, Deserialize)]
struct Redone {
    is_automatic: bool,
    /// Against which the change was taken, of a merge that was picked or reverted.
    parent: Option<String>,
}

/// Tells of each operation whether git makes the same again. Merges that are left out anyway are not tried.
fn redo_all(
    session: &Session<'_>,
    ground: &Ground,
    in_range: &BTreeSet<CommitIndex>,
    mut operations: Vec<Recognised>,
) -> anyhow::Result<Vec<Recognised>> {
    let _phase = session.timings.phase("redo merges");
    let is_judged = |operation: &Recognised| match &operation.origin {
        Origin::Commit => false,
        Origin::Merge { .. } => {
            let head = ground.history.index(&operation.record.commit);
            head.and_then(|head| ground.dominators.immediate(head))
                .is_some_and(|start| in_range.contains(&start))
        }
        Origin::CherryPick { of, .. } | Origin::Revert { of, .. } => of.commit.is_some(),
    };
    let key = |commit: CommitHash| Digest::of(REDONE, commit.as_bytes());
    let judged: Vec<usize> = (0..operations.len()).filter(|at| is_judged(&operations[*at])).collect();
    let keys: Vec<Digest> = judged.iter().map(|at| key(operations[*at].record.commit)).collect();
    let known = session.store().blobs(REDONE_KIND, &keys)?;
    let mut untried = Vec::new();
    for (at, key) in judged.iter().zip(keys) {
        match known.get(&key).and_then(|content| serde_json::from_slice::<Redone>(content).ok()) {
            Some(redone) => redone.tell(&mut operations[*at].origin),
            None => untried.push(*at),
        }
    }
    let mut progress = session.console.progress(untried.len());
    let (mut pace, mut left) = (Pace::new(), &untried[..]);
    while let Some(batch) = pace.next(&mut left) {
        session.go_on()?;
        let tried = redo(&ground.repository, &operations, batch);
        session.go_on()?;
        let mut blobs = Vec::new();
        let mut tried = tried?;
        for at in batch {
            let operation = &mut operations[*at];
            if let Some(origin) = tried.remove(&operation.record.commit) {
                operation.origin = origin;
            }
            if let Some(redone) = Redone::of(&operation.origin) {
                blobs.push((key(operation.record.commit), serde_json::to_vec(&redone)?));
            }
            progress.advance("merges are redone");
        }
        session.store().put_blobs(REDONE_KIND, &blobs)?;
    }
    Ok(operations)
}

/// Operations as they are when redone.
fn redo(
    repository: &Repository,
    operations: &[Recognised],
    batch: &[usize],
) -> anyhow::Result<BTreeMap<CommitHash, Origin>> {
    let is_by_patch = |operation: &Recognised| {
        matches!(operation.origin, Origin::CherryPick { found_by: Evidence::PatchId, .. })
    };
    let (by_patch, others): (Vec<&Recognised>, Vec<&Recognised>) =
        batch.iter().map(|at| &operations[*at]).partition(|operation| is_by_patch(operation));
    let scope = Scope::Commits(others.iter().map(|operation| operation.record.commit).collect());
    let recognition = Recognition { redo: Redoing::All, patch_ids: PatchIds::Skip };
    let found = repository.recognise(&scope, recognition, &mut |_| ())?;
    let mut redone: BTreeMap<CommitHash, Origin> =
        found.into_iter().map(|found| (found.record.commit, found.origin)).collect();
    redone.extend(redo_picks(repository, &by_patch)?);
    Ok(redone)
}

/// Cherry-picks that only their patches gave away, whose messages say nothing.
fn redo_picks(repository: &Repository, picks: &[&Recognised]) -> anyhow::Result<Vec<(CommitHash, Origin)>> {
    let attempt = |pick: &&Recognised| {
        let source = source(&pick.origin)?;
        let (&onto, commit) = (pick.record.parents.first()?, source.commit?);
        Some((
            pick.record.clone(),
            source.clone(),
            Attempt::Apply { base: source.parent, onto, change: Some(commit) },
        ))
    };
    let tried: Vec<_> = picks.iter().filter_map(attempt).collect();
    if tried.is_empty() {
        return Ok(Vec::new());
    }
    let attempts: Vec<Attempt> = tried.iter().map(|(.., attempt)| attempt.clone()).collect();
    let results = Rehearsal::new(repository)?.try_all(&attempts, &mut |_| ())?;
    let origin = |((record, of, _), rehearsed): ((fewer_git::CommitRecord, Source, Attempt), Rehearsed)| {
        let redo = match rehearsed {
            Rehearsed::Clean { tree } if tree == record.tree => Redo::Automatic,
            Rehearsed::Clean { .. } | Rehearsed::Conflict { .. } => Redo::Manual,
            Rehearsed::Impossible(cause) => Redo::Impossible(cause),
        };
        (record.commit, Origin::CherryPick { of, found_by: Evidence::PatchId, redo })
    };
    Ok(tried.into_iter().zip(results).map(origin).collect())
}

impl Redone {
    /// `None` where it could not be tried: what was missing may come.
    fn of(origin: &Origin) -> Option<Redone> {
        let is_automatic = match origin.redo()? {
            Redo::Automatic => true,
            Redo::Manual => false,
            Redo::NotTried | Redo::Impossible(_) => return None,
        };
        let parent = source(origin).and_then(|source| source.parent).map(|parent| parent.to_string());
        Some(Redone { is_automatic, parent })
    }

    fn tell(self, origin: &mut Origin) {
        let learnt = if self.is_automatic { Redo::Automatic } else { Redo::Manual };
        match origin {
            Origin::Commit => {}
            Origin::Merge { redo } => *redo = learnt,
            Origin::CherryPick { redo, of, .. } | Origin::Revert { redo, of } => {
                *redo = learnt;
                of.parent = self.parent.and_then(|parent| CommitHash::parse(parent.as_bytes()));
            }
        }
    }
}
