//! predict: which tests would have to run after a merge, a cherry-pick or a revert, before anything is built. It
//! chooses the states to merge, merges their graphs and asks for recorded outcomes. It is a prediction: names
//! that only the linker of the merged program would resolve differently (a symbol that was nobody's, used on one
//! side and defined on the other) are beyond it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use super::commit_graph::{CommitGraph, CommitIndex};
use super::graph_merge::merge_graphs;
use super::recorded_graph::{RecordedGraph, Standing, TestDoubt};
use super::strategies::{Answer, Evidence, Safety, Selection};
use super::units::ChangedPaths;
use crate::digest::Digest;
use crate::fingerprint::Fingerprints;
use crate::graph::{ElementId, Mapping, Referrers, TestNode};
use crate::test_id::TestId;

/// Criss-cross merges of criss-cross merges are followed this deep.
const MAX_NESTED_BASES: usize = 16;

/// Recorded graphs and the differences between commits: a store with a repository, or both in memory.
pub trait GraphSource {
    type Error;

    /// `None` if no graph was recorded at the commit.
    fn graph(&mut self, commit: CommitIndex) -> Result<Option<Arc<RecordedGraph>>, Self::Error>;

    /// The paths that differ between the trees of two commits, renames not followed.
    fn changed_paths(&mut self, from: CommitIndex, to: CommitIndex) -> Result<ChangedPaths, Self::Error>;
}

/// Why nothing can be predicted; everything runs then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unpredictable<E> {
    /// No graph was recorded at a commit that is needed.
    NotRecorded(CommitIndex),
    /// The commits share no ancestor.
    Unrelated(CommitIndex),
    /// The merge bases are merges of merges, too deep to follow.
    TooEntangled,
    /// There are no commits to merge.
    NothingToMerge,
    Source(E),
}

/// Which tests would have to run, each with the cause.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prediction {
    pub selected: BTreeMap<TestId, PredictedCause>,
    /// Tests whose fingerprint is recorded with a conclusive outcome.
    pub reused: BTreeMap<TestId, Digest>,
    /// Tests that the framework does not run.
    pub disabled: BTreeSet<TestId>,
    /// How many elements of the merged graph nobody can know.
    pub unknown_elements: usize,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PredictedCause {
    /// It reaches an element that nobody can know before the build.
    Unknown { element: String, cause: String },
    /// What it starts from is not known.
    Doubtful(TestDoubt),
    /// The analyser cannot see what the test reaches.
    Unmapped { cause: String },
    /// One side brings the test, and no outcome is recorded for what it will reach.
    NewTest,
    /// No conclusive outcome is recorded for what it will reach.
    NewFingerprint,
}

impl fmt::Display for PredictedCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PredictedCause::Unknown { element, cause } => write!(f, "it reaches {element}: {cause}"),
            PredictedCause::Doubtful(doubt) => write!(f, "{doubt}"),
            PredictedCause::Unmapped { cause } => f.write_str(cause),
            PredictedCause::NewTest => f.write_str("the test is new"),
            PredictedCause::NewFingerprint => f.write_str("what it reaches was never tested together"),
        }
    }
}

impl Prediction {
    /// The same in the terms of the other strategies.
    pub fn selection(&self) -> Selection {
        let evidence = |(test, &digest): (&TestId, &Digest)| (test.clone(), Evidence::OutcomeOf(digest));
        let answer = Answer::Tests {
            selected: self.selected.keys().cloned().collect(),
            reused: self.reused.iter().map(evidence).collect(),
        };
        Selection { answer, comparisons: 0, not_recorded: BTreeSet::new(), safety: Safety::Predicted }
    }
}

/// S* on a merged graph: tests that reach anything unknown, and tests whose fingerprint has no conclusive
/// outcome.
pub fn predict(merged: &RecordedGraph, is_concluded: impl Fn(&TestId, Digest) -> bool) -> Prediction {
    let graph = merged.graph();
    let fingerprints = Fingerprints::compute(graph);
    let unknowns = NearestUnknown::of(merged);
    let mut prediction = Prediction { unknown_elements: merged.unknown_count(), ..Prediction::default() };
    for test in graph.tests() {
        let id = test.id.clone();
        if test.disabled {
            prediction.disabled.insert(id);
            continue;
        }
        let fingerprint = fingerprints.test(test);
        let cause = certain_cause(merged, &unknowns, test).or_else(|| {
            let is_new = merged.standing(&test.id) == Some(Standing::Added);
            let cause = if is_new { PredictedCause::NewTest } else { PredictedCause::NewFingerprint };
            (!is_concluded(&test.id, fingerprint)).then_some(cause)
        });
        match cause {
            Some(cause) => {
                prediction.selected.insert(id, cause);
            }
            None => {
                prediction.reused.insert(id, fingerprint);
            }
        }
    }
    prediction
}

/// The graph of a merge of commits: the first two, then one after the other.
pub fn merge_of_commits<S: GraphSource>(
    history: &CommitGraph,
    parents: &[CommitIndex],
    source: &mut S,
) -> Result<Arc<RecordedGraph>, Unpredictable<S::Error>> {
    GraphMerger { history, source }.fold(parents, 0)
}

/// The graph of a cherry-pick of `picked`, relative to its parent, onto a commit.
pub fn cherry_pick_of_commit<S: GraphSource>(
    onto: CommitIndex,
    picked: CommitIndex,
    picked_parent: CommitIndex,
    source: &mut S,
) -> Result<RecordedGraph, Unpredictable<S::Error>> {
    apply_change(picked_parent, onto, picked, source)
}

/// The graph of a revert of `reverted`, relative to its parent, on a commit.
pub fn revert_of_commit<S: GraphSource>(
    onto: CommitIndex,
    reverted: CommitIndex,
    reverted_parent: CommitIndex,
    source: &mut S,
) -> Result<RecordedGraph, Unpredictable<S::Error>> {
    apply_change(reverted, onto, reverted_parent, source)
}

fn apply_change<S: GraphSource>(
    base: CommitIndex,
    ours: CommitIndex,
    theirs: CommitIndex,
    source: &mut S,
) -> Result<RecordedGraph, Unpredictable<S::Error>> {
    let [base_graph, ours_graph, theirs_graph] =
        [recorded(source, base)?, recorded(source, ours)?, recorded(source, theirs)?];
    let changed_ours = source.changed_paths(base, ours).map_err(Unpredictable::Source)?;
    let changed_theirs = source.changed_paths(base, theirs).map_err(Unpredictable::Source)?;
    Ok(merge_graphs(&base_graph, &ours_graph, &theirs_graph, &changed_ours, &changed_theirs))
}

struct GraphMerger<'m, S> {
    history: &'m CommitGraph,
    source: &'m mut S,
}

impl<S: GraphSource> GraphMerger<'_, S> {
    /// Merges commits one after the other. Where they have several merge bases those are merged first, by the
    /// same rule, into a base that no commit has.
    fn fold(
        &mut self,
        commits: &[CommitIndex],
        depth: usize,
    ) -> Result<Arc<RecordedGraph>, Unpredictable<S::Error>> {
        if depth > MAX_NESTED_BASES {
            return Err(Unpredictable::TooEntangled);
        }
        let (&first, rest) = commits.split_first().ok_or(Unpredictable::NothingToMerge)?;
        let mut merged = recorded(self.source, first)?;
        for (index, &commit) in rest.iter().enumerate() {
            let so_far = &commits[..=index];
            let bases = self.history.merge_bases_of(commit, so_far);
            if bases.is_empty() {
                return Err(Unpredictable::Unrelated(commit));
            }
            let base = self.fold(&bases, depth + 1)?;
            let theirs = recorded(self.source, commit)?;
            let changed_ours = self.changed(&bases, so_far)?;
            let changed_theirs = self.changed(&bases, &[commit])?;
            merged = Arc::new(merge_graphs(&base, &merged, &theirs, &changed_ours, &changed_theirs));
        }
        Ok(merged)
    }

    /// Every path that can differ between a merge of some commits and a merge of others.
    fn changed(
        &mut self,
        from: &[CommitIndex],
        to: &[CommitIndex],
    ) -> Result<ChangedPaths, Unpredictable<S::Error>> {
        let mut changed = ChangedPaths::default();
        for &old in from {
            for &new in to {
                changed.extend(self.source.changed_paths(old, new).map_err(Unpredictable::Source)?);
            }
        }
        Ok(changed)
    }
}

fn recorded<S: GraphSource>(
    source: &mut S,
    commit: CommitIndex,
) -> Result<Arc<RecordedGraph>, Unpredictable<S::Error>> {
    source.graph(commit).map_err(Unpredictable::Source)?.ok_or(Unpredictable::NotRecorded(commit))
}

/// What selects a test whatever is recorded.
fn certain_cause(
    merged: &RecordedGraph,
    unknowns: &NearestUnknown,
    test: &TestNode,
) -> Option<PredictedCause> {
    if let Mapping::Unmapped { cause } = &test.mapping {
        return Some(PredictedCause::Unmapped { cause: cause.clone() });
    }
    if let Some(Standing::Doubtful(doubt)) = merged.standing(&test.id) {
        return Some(PredictedCause::Doubtful(doubt));
    }
    let element = test.roots.iter().find_map(|&root| unknowns.from(root))?;
    let cause = merged.unknown(element).map_or(String::new(), |cause| merged.describe(cause));
    Some(PredictedCause::Unknown { element: merged.graph().name(element).to_string(), cause })
}

/// Per element the nearest unknown element that it reaches.
struct NearestUnknown {
    /// Empty if nothing is unknown.
    nearest: Vec<Option<ElementId>>,
}

impl NearestUnknown {
    fn of(merged: &RecordedGraph) -> NearestUnknown {
        let graph = merged.graph();
        let sources: Vec<ElementId> =
            graph.elements().filter(|&element| merged.unknown(element).is_some()).collect();
        if sources.is_empty() {
            return NearestUnknown { nearest: Vec::new() };
        }
        let referrers = Referrers::of(graph);
        let mut nearest = vec![None; graph.element_count()];
        for &source in &sources {
            nearest[source.index()] = Some(source);
        }
        let mut queue = VecDeque::from(sources);
        while let Some(element) = queue.pop_front() {
            for referrer in referrers.of_element(element) {
                if nearest[referrer.index()].is_none() {
                    nearest[referrer.index()] = nearest[element.index()];
                    queue.push_back(*referrer);
                }
            }
        }
        NearestUnknown { nearest }
    }

    fn from(&self, element: ElementId) -> Option<ElementId> {
        self.nearest.get(element.index()).copied().flatten()
    }
}
