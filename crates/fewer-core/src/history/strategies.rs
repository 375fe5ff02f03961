//! The selection strategies of a history: S1, Sk and S* compare the analysed head with what is recorded, S0
//! answers from records alone. What was recorded is told by `records`; the merge of graphs is `predict`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::commit_graph::CommitIndex;
use super::records::{BranchEffect, History, Records};
use crate::digest::Digest;
use crate::selection::{Snapshot, tts};
use crate::test_id::TestId;

/// How tests are selected at a commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Strategy {
    /// From records alone: tests affected on more than one side.
    S0,
    /// One comparison, with the immediate dominator.
    S1,
    /// One comparison per parent.
    Sk,
    /// Fingerprints without a conclusive outcome anywhere.
    SStar,
    /// S* on the three-way merge of recorded graphs.
    Predict,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Strategy::S0 => "S0",
            Strategy::S1 => "S1",
            Strategy::Sk => "Sk",
            Strategy::SStar => "S*",
            Strategy::Predict => "predict",
        })
    }
}

/// What a strategy answered, and what the answer rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    pub answer: Answer,
    /// How many comparisons of two states it took.
    pub comparisons: usize,
    /// Commits that a record was wanted of and that have none. The answer allows for them.
    pub not_recorded: BTreeSet<CommitIndex>,
    pub safety: Safety,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Tests {
        selected: BTreeSet<TestId>,
        /// Every other test, with the outcome that stands for it.
        reused: BTreeMap<TestId, Evidence>,
    },
    /// The strategy cannot tell, so every test runs.
    Everything(Cause),
}

/// Where the outcome of a test that is not selected comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// Its outcome at this commit.
    OutcomeAt(CommitIndex),
    /// The outcome recorded under this fingerprint.
    OutcomeOf(Digest),
}

/// Why everything is selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The state to compare with, or whose outcomes would stand, was never recorded.
    NotRecorded(CommitIndex),
    /// None of the parents was recorded.
    NoParentRecorded,
    /// The rule is for merges, and there are fewer than two parents.
    NotAMerge,
}

/// Under what condition no test is left out whose outcome differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Safety {
    /// As far as the graphs are complete, which holds for every strategy.
    Safe,
    /// Only for a commit that git made without help, and only while no change alters what a test reaches.
    SafeIfCoverageStays,
    /// Only if compiling the merged text gives what merging the compiled elements gives.
    Predicted,
}

impl fmt::Display for Safety {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Safety::Safe => "safe",
            Safety::SafeIfCoverageStays => "unsafe when a change alters what a test reaches",
            Safety::Predicted => "a prediction, to be confirmed after the build",
        })
    }
}

impl Selection {
    /// The selected tests among those that exist.
    pub fn selected_of<'t>(&self, tests: impl IntoIterator<Item = &'t TestId>) -> BTreeSet<TestId> {
        let is_selected = |test: &&TestId| match &self.answer {
            Answer::Tests { selected, .. } => selected.contains(*test),
            Answer::Everything(_) => true,
        };
        tests.into_iter().filter(is_selected).cloned().collect()
    }

    fn everything(cause: Cause) -> Selection {
        let not_recorded = match cause {
            Cause::NotRecorded(commit) => BTreeSet::from([commit]),
            Cause::NoParentRecorded | Cause::NotAMerge => BTreeSet::new(),
        };
        Selection { answer: Answer::Everything(cause), comparisons: 0, not_recorded, safety: Safety::Safe }
    }
}

/// S*: the tests of the head whose fingerprint has no conclusive outcome anywhere.
pub fn s_star(head: &Snapshot, is_concluded: impl Fn(&TestId, Digest) -> bool) -> Selection {
    let mut sorted = Sorted::default();
    for (test, &fingerprint) in head {
        let evidence = is_concluded(test, fingerprint).then_some(Evidence::OutcomeOf(fingerprint));
        sorted.put(test, evidence);
    }
    sorted.selection(Safety::Safe)
}

impl<R: Records> History<'_, R> {
    /// S1: compared with the immediate dominator of the head, which is the parent where there is one only.
    /// Below the virtual root every test is new.
    pub fn s1(&self, parents: &[CommitIndex], head: &Snapshot) -> Selection {
        let Some(dominator) = self.dominators().common_of(parents) else {
            return everything_is_new(head);
        };
        let Some(old) = self.snapshot(dominator) else {
            return Selection::everything(Cause::NotRecorded(dominator));
        };
        let selected = tts(&old, head);
        let mut sorted = Sorted { comparisons: 1, ..Sorted::default() };
        for test in head.keys() {
            sorted.put(test, (!selected.contains(test)).then_some(Evidence::OutcomeAt(dominator)));
        }
        sorted.selection(Safety::Safe)
    }

    /// Sk: the tests that differ from every parent. A parent without a record counts as differing in all.
    pub fn sk(&self, parents: &[CommitIndex], head: &Snapshot) -> Selection {
        if parents.is_empty() {
            return everything_is_new(head);
        }
        let mut sorted = Sorted::default();
        let mut recorded: Vec<(CommitIndex, Arc<Snapshot>)> = Vec::new();
        for &parent in parents {
            match self.snapshot(parent) {
                Some(snapshot) => recorded.push((parent, snapshot)),
                None => sorted.not_recorded.extend([parent]),
            }
        }
        if recorded.is_empty() {
            let not_recorded = sorted.not_recorded;
            return Selection { not_recorded, ..Selection::everything(Cause::NoParentRecorded) };
        }
        sorted.comparisons = recorded.len();
        for (test, fingerprint) in head {
            let same = recorded.iter().find(|(_, snapshot)| snapshot.get(test) == Some(fingerprint));
            sorted.put(test, same.map(|(parent, _)| Evidence::OutcomeAt(*parent)));
        }
        sorted.selection(Safety::Safe)
    }

    /// S0 of an automatic merge: tests affected on at least two branches since their common dominator, and tests
    /// that some parent lacks. `head` only tells which tests exist; without it, all that some parent has.
    pub fn s0_merge(&mut self, parents: &[CommitIndex], head: Option<&Snapshot>) -> Selection {
        if parents.len() < 2 {
            return Selection::everything(Cause::NotAMerge);
        }
        let of_parents = match self.recorded(parents) {
            Ok(snapshots) => snapshots,
            Err(commit) => return Selection::everything(Cause::NotRecorded(commit)),
        };
        // Row `p`, column `q`: what happened on the branch of `p` since it parted from `q`.
        let mut effects: Vec<Vec<BranchEffect>> = Vec::new();
        let mut sorted = Sorted::default();
        for &own in parents {
            let row: Vec<BranchEffect> = parents
                .iter()
                .map(|&other| self.branch_effect(self.dominators().common(own, other), own, None))
                .collect();
            sorted.not_recorded.extend(row.iter().flat_map(|effect| &effect.missing));
            effects.push(row);
        }
        let is_touched = |own: usize, other: usize, test| self.is_affected(&effects[own][other], test);
        for test in available(head, of_parents.iter()) {
            let is_everywhere = of_parents.iter().all(|snapshot| snapshot.contains_key(test));
            // The parent that all others leave its outcome: there is none if two branches affected the test.
            let others = |own: usize| (0..parents.len()).filter(move |&other| other != own);
            let source = (0..parents.len())
                .find(|&own| others(own).all(|other| !is_touched(other, own, test)))
                .filter(|_| is_everywhere);
            sorted.put(test, source.map(|own| Evidence::OutcomeAt(parents[own])));
        }
        sorted.selection(Safety::SafeIfCoverageStays)
    }

    /// S0 of an automatic cherry-pick of `picked` (relative to its parent) onto a commit.
    pub fn s0_cherry_pick(
        &mut self,
        onto: CommitIndex,
        picked: CommitIndex,
        picked_parent: CommitIndex,
        head: Option<&Snapshot>,
    ) -> Selection {
        let change = Change { carrier: picked, before: picked_parent, after: picked };
        self.s0_change(onto, change, picked_parent, None, head)
    }

    /// S0 of an automatic revert of `reverted` (relative to its parent) on a commit.
    pub fn s0_revert(
        &mut self,
        onto: CommitIndex,
        reverted: CommitIndex,
        reverted_parent: CommitIndex,
        head: Option<&Snapshot>,
    ) -> Selection {
        let change = Change { carrier: reverted, before: reverted, after: reverted_parent };
        self.s0_change(onto, change, reverted_parent, Some(reverted), head)
    }

    /// Tests that the change affects and that something else affected too, and tests that it brings.
    fn s0_change(
        &mut self,
        onto: CommitIndex,
        change: Change,
        carrier_parent: CommitIndex,
        except: Option<CommitIndex>,
        head: Option<&Snapshot>,
    ) -> Selection {
        let snapshots = match self.recorded(&[onto, change.before, change.after]) {
            Ok(snapshots) => snapshots,
            Err(commit) => return Selection::everything(Cause::NotRecorded(commit)),
        };
        let [at_onto, before, after] = &snapshots[..] else { unreachable!("three were asked for") };
        let dominator = self.dominators().common(onto, carrier_parent);
        let carried = self.commit_effect(change.carrier);
        let here = self.branch_effect(dominator, onto, except);
        let there = self.branch_effect(dominator, carrier_parent, None);
        let mut sorted = Sorted::default();
        for effect in [&carried, &here, &there] {
            sorted.not_recorded.extend(&effect.missing);
        }
        let brought: BTreeSet<&TestId> = after.keys().filter(|test| !before.contains_key(*test)).collect();
        let existing = match head {
            Some(head) => head.keys().collect(),
            None => at_onto.keys().chain(brought.iter().copied()).collect::<BTreeSet<&TestId>>(),
        };
        for test in existing {
            let evidence = if brought.contains(test) {
                None
            } else if !self.is_affected(&carried, test) {
                at_onto.contains_key(test).then_some(Evidence::OutcomeAt(onto))
            } else if self.is_affected(&here, test) || self.is_affected(&there, test) {
                None
            } else {
                after.contains_key(test).then_some(Evidence::OutcomeAt(change.after))
            };
            sorted.put(test, evidence);
        }
        sorted.selection(Safety::SafeIfCoverageStays)
    }

    fn recorded(&self, commits: &[CommitIndex]) -> Result<Vec<Arc<Snapshot>>, CommitIndex> {
        commits.iter().map(|&commit| self.snapshot(commit).ok_or(commit)).collect()
    }
}

/// A change that is applied again: from the state before it to the state after it.
struct Change {
    /// The commit whose affected tests it has.
    carrier: CommitIndex,
    before: CommitIndex,
    after: CommitIndex,
}

/// A selection in the making.
#[derive(Default)]
struct Sorted {
    selected: BTreeSet<TestId>,
    reused: BTreeMap<TestId, Evidence>,
    comparisons: usize,
    not_recorded: BTreeSet<CommitIndex>,
}

impl Sorted {
    fn put(&mut self, test: &TestId, evidence: Option<Evidence>) {
        match evidence {
            Some(evidence) => {
                self.reused.insert(test.clone(), evidence);
            }
            None => {
                self.selected.insert(test.clone());
            }
        }
    }

    fn selection(self, safety: Safety) -> Selection {
        let Sorted { selected, reused, comparisons, not_recorded } = self;
        Selection { answer: Answer::Tests { selected, reused }, comparisons, not_recorded, safety }
    }
}

fn everything_is_new(head: &Snapshot) -> Selection {
    let mut sorted = Sorted::default();
    head.keys().for_each(|test| sorted.put(test, None));
    sorted.selection(Safety::Safe)
}

/// The tests to decide about at a merge.
pub(super) fn available<'s>(
    head: Option<&'s Snapshot>,
    otherwise: impl Iterator<Item = &'s Arc<Snapshot>>,
) -> BTreeSet<&'s TestId> {
    match head {
        Some(head) => head.keys().collect(),
        None => otherwise.flat_map(|snapshot| snapshot.keys()).collect(),
    }
}
