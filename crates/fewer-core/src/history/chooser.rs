//! The published heuristic that chooses between S0, S1 and Sk at a merge. It only chooses; the strategies do
//! the rest.

use super::commit_graph::CommitIndex;
use super::records::{History, Records};
use super::strategies::Strategy;
use crate::selection::Snapshot;

/// Where the heuristic draws its lines. The paper says "many new tests" and "short branches" and names no
/// figures; the defaults are ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChooserLimits {
    /// New tests are many from this share of the available tests on, in per cent. S0 runs every new test.
    pub many_new_tests_percent: usize,
    /// A branch is short up to this many commits after the dominator. All must be, for S1.
    pub short_branch_commits: usize,
}

impl Default for ChooserLimits {
    fn default() -> ChooserLimits {
        ChooserLimits { many_new_tests_percent: 10, short_branch_commits: 2 }
    }
}

/// What was chosen, and the facts it was chosen by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    pub strategy: Strategy,
    pub reason: ChoiceReason,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChoiceReason {
    /// An automatic merge with every commit recorded: S0 or Sk by the number of tests that some parent lacks.
    NewTests { new: usize, available: usize },
    /// Edited by hand, or records are missing: S1 or Sk by the longest branch.
    LongestBranch { commits: usize, is_automatic: bool, not_recorded: usize },
}

impl<R: Records> History<'_, R> {
    /// Chooses for a merge of `parents`; `head` tells which tests exist, where it has been analysed.
    pub fn choose(
        &mut self,
        parents: &[CommitIndex],
        head: Option<&Snapshot>,
        is_automatic: bool,
        limits: ChooserLimits,
    ) -> Choice {
        let dominator = self.dominators().common_of(parents);
        let branches: Vec<Vec<CommitIndex>> =
            parents.iter().map(|&parent| self.graph().between(dominator, parent)).collect();
        let mut in_between: Vec<CommitIndex> = branches.iter().flatten().copied().collect();
        in_between.sort_unstable();
        in_between.dedup();
        let not_recorded = in_between.iter().filter(|&&commit| self.snapshot(commit).is_none()).count();
        if is_automatic && not_recorded == 0 {
            let (new, available) = self.new_tests(parents, head);
            let is_many = new > 0 && new * 100 >= limits.many_new_tests_percent * available;
            let strategy = if is_many { Strategy::Sk } else { Strategy::S0 };
            return Choice { strategy, reason: ChoiceReason::NewTests { new, available } };
        }
        let dominators = usize::from(dominator.is_some());
        let commits = branches.iter().map(|branch| branch.len() - dominators).max().unwrap_or(0);
        let strategy = if commits <= limits.short_branch_commits { Strategy::S1 } else { Strategy::Sk };
        Choice { strategy, reason: ChoiceReason::LongestBranch { commits, is_automatic, not_recorded } }
    }

    /// How many tests some parent lacks, and how many tests there are.
    fn new_tests(&self, parents: &[CommitIndex], head: Option<&Snapshot>) -> (usize, usize) {
        let of_parents: Vec<_> = parents.iter().filter_map(|&parent| self.snapshot(parent)).collect();
        let tests = super::strategies::available(head, of_parents.iter());
        let is_new =
            |test: &&&crate::TestId| of_parents.iter().any(|snapshot| !snapshot.contains_key(**test));
        (tests.iter().filter(is_new).count(), tests.len())
    }
}
