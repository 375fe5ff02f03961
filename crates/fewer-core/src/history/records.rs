//! What was recorded along a history, and what follows from it: the tests that each commit affected. It derives
//! sets and says where a record is missing; which tests to run is decided by the strategies.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::commit_graph::{CommitGraph, CommitIndex, Dominators};
use crate::selection::Snapshot;
use crate::test_id::TestId;

/// The fingerprints recorded per commit: a map in memory, or a store that reads them when asked.
pub trait Records {
    /// `None` if nothing was recorded at the commit.
    fn snapshot(&self, commit: CommitIndex) -> Option<Arc<Snapshot>>;
}

impl Records for BTreeMap<CommitIndex, Arc<Snapshot>> {
    fn snapshot(&self, commit: CommitIndex) -> Option<Arc<Snapshot>> {
        self.get(&commit).cloned()
    }
}

/// A history with what was recorded along it. Affected sets are derived once per commit and kept.
pub struct History<'h, R> {
    graph: &'h CommitGraph,
    dominators: &'h Dominators,
    records: &'h R,
    tests: TestNumbers,
    affected: HashMap<CommitIndex, Affected>,
}

/// `aff(n)`: the tests whose fingerprint at n differs from that at any parent, or that are new.
#[derive(Clone, Debug)]
enum Affected {
    Known(TestSet),
    /// The commit or a parent was never recorded, so any test may be affected.
    Unknown {
        missing: Vec<CommitIndex>,
    },
}

/// The tests affected anywhere on a branch.
#[derive(Clone, Debug, Default)]
pub(super) struct BranchEffect {
    tests: TestSet,
    /// Commits without a record; if there are any, every test counts as affected.
    pub(super) missing: BTreeSet<CommitIndex>,
}

impl<'h, R: Records> History<'h, R> {
    pub fn new(graph: &'h CommitGraph, dominators: &'h Dominators, records: &'h R) -> History<'h, R> {
        History { graph, dominators, records, tests: TestNumbers::default(), affected: HashMap::new() }
    }

    pub fn graph(&self) -> &'h CommitGraph {
        self.graph
    }

    pub fn dominators(&self) -> &'h Dominators {
        self.dominators
    }

    pub fn snapshot(&self, commit: CommitIndex) -> Option<Arc<Snapshot>> {
        self.records.snapshot(commit)
    }

    /// `aff(n)`; `Err` names the commits whose records are missing.
    pub fn affected(&mut self, commit: CommitIndex) -> Result<BTreeSet<TestId>, Vec<CommitIndex>> {
        self.derive(commit);
        match &self.affected[&commit] {
            Affected::Known(set) => Ok(set.iter().map(|number| self.tests.names[number].clone()).collect()),
            Affected::Unknown { missing } => Err(missing.clone()),
        }
    }

    /// The union of `aff` over `since..to*` without `since` and `except`.
    pub(super) fn branch_effect(
        &mut self,
        since: Option<CommitIndex>,
        to: CommitIndex,
        except: Option<CommitIndex>,
    ) -> BranchEffect {
        let mut effect = BranchEffect::default();
        for commit in self.graph.between(since, to) {
            if Some(commit) == since || Some(commit) == except {
                continue;
            }
            self.derive(commit);
            match &self.affected[&commit] {
                Affected::Known(set) => effect.tests.extend(set),
                Affected::Unknown { missing } => effect.missing.extend(missing),
            }
        }
        effect
    }

    /// What a commit itself affected.
    pub(super) fn commit_effect(&mut self, commit: CommitIndex) -> BranchEffect {
        self.derive(commit);
        match &self.affected[&commit] {
            Affected::Known(set) => BranchEffect { tests: set.clone(), missing: BTreeSet::new() },
            Affected::Unknown { missing } => {
                BranchEffect { tests: TestSet::default(), missing: missing.iter().copied().collect() }
            }
        }
    }

    pub(super) fn is_affected(&self, effect: &BranchEffect, test: &TestId) -> bool {
        !effect.missing.is_empty()
            || self.tests.numbers.get(test).is_some_and(|&number| effect.tests.contains(number))
    }

    fn derive(&mut self, commit: CommitIndex) {
        if !self.affected.contains_key(&commit) {
            let affected = self.derive_anew(commit);
            self.affected.insert(commit, affected);
        }
    }

    fn derive_anew(&mut self, commit: CommitIndex) -> Affected {
        let parents = self.graph.parents(commit);
        let of_parents: Vec<_> = parents.iter().map(|&parent| self.records.snapshot(parent)).collect();
        let own = self.records.snapshot(commit);
        let without_record = parents.iter().zip(&of_parents).filter(|(_, record)| record.is_none());
        let mut missing: Vec<CommitIndex> = without_record.map(|(&parent, _)| parent).collect();
        let (Some(own), true) = (&own, missing.is_empty()) else {
            missing.extend(own.is_none().then_some(commit));
            return Affected::Unknown { missing };
        };
        let mut set = TestSet::default();
        for (test, fingerprint) in own.iter() {
            let differs = |parent: &Arc<Snapshot>| parent.get(test) != Some(fingerprint);
            if parents.is_empty() || of_parents.iter().flatten().any(differs) {
                set.insert(self.tests.number(test));
            }
        }
        Affected::Known(set)
    }
}

/// Tests by dense numbers, so that sets of them are bits.
#[derive(Clone, Debug, Default)]
struct TestNumbers {
    numbers: HashMap<TestId, usize>,
    names: Vec<TestId>,
}

impl TestNumbers {
    fn number(&mut self, test: &TestId) -> usize {
        if let Some(&number) = self.numbers.get(test) {
            return number;
        }
        let number = self.names.len();
        self.numbers.insert(test.clone(), number);
        self.names.push(test.clone());
        number
    }
}

#[derive(Clone, Debug, Default)]
struct TestSet {
    words: Vec<u64>,
}

impl TestSet {
    fn insert(&mut self, number: usize) {
        if self.words.len() <= number / 64 {
            self.words.resize(number / 64 + 1, 0);
        }
        self.words[number / 64] |= 1 << (number % 64);
    }

    fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    fn extend(&mut self, other: &TestSet) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len() * 64).filter(|&number| self.contains(number))
    }
}
