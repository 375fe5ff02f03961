//! Generated histories: the versions of a linear history laid out as a chain of equal diamonds, for every length of
//! branch. Where the versions come from, and what is measured at the merges, is told elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::commit_graph::{CommitGraph, CommitGraphBuilder, CommitIndex};
use super::graph_merge::merge_graphs;
use super::recorded_graph::RecordedGraph;
use super::units::{ChangedPaths, Units};
use crate::fingerprint::Fingerprints;
use crate::selection::Snapshot;

/// One generated history. Commit `i` stands for version `i` of the linear history, so that the linear history is
/// one of the orders in which the commits can have been made.
#[derive(Clone, Debug)]
pub struct Diamonds {
    /// Commits on each of the two branches of a diamond.
    pub branch_commits: usize,
    pub graph: CommitGraph,
    pub merges: Vec<CommitIndex>,
}

/// Every chain of equal diamonds that has room in so many versions, shortest branches first. What is left at the
/// end is a linear rest.
pub fn diamonds(versions: usize) -> Vec<Diamonds> {
    (1..)
        .take_while(|branch| 2 * branch < versions.saturating_sub(1))
        .map(|branch| chain(versions, branch))
        .collect()
}

impl Diamonds {
    /// The states in which each commit has what its version has: the published way.
    pub fn of_versions(&self, versions: &[Arc<Snapshot>]) -> BTreeMap<CommitIndex, Arc<Snapshot>> {
        self.graph.commits().map(|commit| (commit, versions[commit.index()].clone())).collect()
    }

    /// The states in which each commit makes the change that its version made, on top of its parent, and a merge
    /// combines the elements of its two branches and adds nothing. The change of the version in whose place the
    /// merge stands is made by the commit after it.
    pub fn of_changes(&self, versions: &[RecordedGraph]) -> BTreeMap<CommitIndex, Arc<Snapshot>> {
        let mut states: Vec<RecordedGraph> = Vec::with_capacity(versions.len());
        for commit in self.graph.commits() {
            let state = match *self.graph.parents(commit) {
                [] => known(&versions[commit.index()]),
                [parent] => {
                    let before = self.version_before(commit, parent);
                    combined(&versions[before], &states[parent.index()], &versions[commit.index()])
                }
                [ours, theirs] => {
                    let start = CommitIndex(commit.0 - 2 * self.branch_commits as u32 - 1);
                    combined(&states[start.index()], &states[ours.index()], &states[theirs.index()])
                }
                [..] => unreachable!("a diamond has two branches"),
            };
            states.push(state);
        }
        let snapshot = |state: &RecordedGraph| Fingerprints::compute(state.graph()).snapshot(state.graph());
        self.graph.commits().zip(states.iter().map(|state| Arc::new(snapshot(state)))).collect()
    }

    /// The version that the commit's change is taken against.
    fn version_before(&self, commit: CommitIndex, parent: CommitIndex) -> usize {
        let follows_merge = parent.0 + 1 == commit.0 && self.graph.is_merge(parent);
        commit.index() - if follows_merge { 2 } else { 1 }
    }
}

fn chain(versions: usize, branch: usize) -> Diamonds {
    let mut builder = CommitGraphBuilder::with_capacity(versions, 2 * versions);
    let mut merges = Vec::new();
    let mut last = builder.commit(&[]);
    while builder.len() + 2 * branch < versions {
        let [ours, theirs] = [(); 2].map(|()| (0..branch).fold(last, |parent, _| builder.commit(&[parent])));
        last = builder.commit(&[ours, theirs]);
        merges.push(last);
    }
    while builder.len() < versions {
        last = builder.commit(&[last]);
    }
    Diamonds { branch_commits: branch, graph: builder.build(), merges }
}

/// Both changes to a common state. What both changed gets a content of its own, as if somebody had settled it.
fn combined(base: &RecordedGraph, ours: &RecordedGraph, theirs: &RecordedGraph) -> RecordedGraph {
    let [base, theirs] = [base, theirs].map(known);
    let nothing = ChangedPaths::default();
    known(&merge_graphs(&base, ours, &theirs, &nothing, &nothing))
}

/// Elements on their own, whatever they were made from: nothing is compiled here.
fn known(state: &RecordedGraph) -> RecordedGraph {
    RecordedGraph::new(state.graph().clone(), Units::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_versions_give_24_histories_and_68_merges() {
        let histories = diamonds(50);
        assert_eq!(histories.len(), 24);
        assert_eq!(histories.iter().map(|history| history.merges.len()).sum::<usize>(), 68);
        for (index, history) in histories.iter().enumerate() {
            let branch = index + 1;
            assert_eq!((history.branch_commits, history.graph.len()), (branch, 50));
            assert_eq!(history.merges.len(), 49 / (2 * branch + 1));
        }
    }

    #[test]
    fn a_diamond_has_equal_branches_and_the_rest_is_linear() {
        let [short, long] = &diamonds(7)[..] else { panic!("two histories of seven versions") };
        let parents = |history: &Diamonds| -> Vec<Vec<u32>> {
            let graph = &history.graph;
            graph
                .commits()
                .map(|commit| graph.parents(commit).iter().map(|parent| parent.0).collect())
                .collect()
        };
        let expected: [&[u32]; 7] = [&[], &[0], &[0], &[1, 2], &[3], &[3], &[4, 5]];
        assert_eq!(parents(short), expected);
        let expected: [&[u32]; 7] = [&[], &[0], &[1], &[0], &[3], &[2, 4], &[5]];
        assert_eq!(parents(long), expected);
    }

    #[test]
    fn too_few_versions_give_no_history() {
        assert!((0..4).all(|versions| diamonds(versions).is_empty()));
        assert_eq!(diamonds(4).len(), 1);
    }
}
