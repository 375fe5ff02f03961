//! What the strategies would have selected along a history that is known already: counts per merge, cherry-pick
//! and revert, what was left out although it changed, and the means. Where the history and its states come from,
//! and how the figures are shown, is told elsewhere.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::chooser::ChooserLimits;
use super::commit_graph::CommitIndex;
use super::predict::Prediction;
use super::records::{History, Records};
use super::strategies::{Answer, Evidence, Selection, Strategy, s_star};
use crate::digest::Digest;
use crate::selection::Snapshot;
use crate::test_id::TestId;

/// A commit that was made out of other commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub head: CommitIndex,
    pub operation: Operation,
    /// Whether git alone makes the same again. S0 and predict have no answer otherwise.
    pub is_automatic: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    Merge,
    CherryPick { picked: CommitIndex, picked_parent: CommitIndex },
    Revert { reverted: CommitIndex, reverted_parent: CommitIndex },
}

/// What every test was expected to be, before the result of a step was analysed; `None` where nobody could know.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Foretold(pub BTreeMap<TestId, Option<Digest>>);

/// At which commit a test first was what it is.
#[derive(Clone, Debug, Default)]
pub struct FirstSeen {
    commits: HashMap<TestId, HashMap<Digest, CommitIndex>>,
}

/// What the strategies selected at one step. A strategy without an answer to this kind of step is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Measurement {
    /// Tests that exist at the commit.
    pub available: usize,
    pub s1: Measured,
    pub sk: Option<Measured>,
    pub s0: Option<Measured>,
    pub s_star: Measured,
    pub predict: Option<Measured>,
    /// What the published heuristic takes at a merge.
    pub chosen: Option<Chosen>,
}

/// What one strategy selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Measured {
    pub selected: usize,
    /// Comparisons of two states.
    pub comparisons: usize,
    /// Tests left out although they differ from what their outcome would be copied from.
    pub missed: usize,
    /// Whether a record was missing, which makes the selection larger than it had to be.
    pub has_gaps: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Chosen {
    #[serde(serialize_with = "strategy_word")]
    pub strategy: Strategy,
    #[serde(flatten)]
    pub measured: Measured,
}

/// The figures of several steps together.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Summary {
    pub steps: usize,
    pub s1: StrategyMeans,
    pub sk: StrategyMeans,
    pub s0: StrategyMeans,
    pub s_star: StrategyMeans,
    pub predict: StrategyMeans,
    pub chosen: StrategyMeans,
    pub s1_over_s0: Ratio,
    pub s0_over_sk: Ratio,
}

/// One strategy over all steps for which it has an answer.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct StrategyMeans {
    pub steps: usize,
    pub selected: usize,
    /// The mean of selected / available over steps with tests.
    pub mean_share: Option<f64>,
    pub comparisons: usize,
    pub missed: usize,
    /// Steps with a selection that a missing record made larger.
    pub with_gaps: usize,
}

/// How many times as many tests one strategy selects as another.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Ratio {
    /// The mean of the steps' own ratios, of those at which the second strategy selects any test.
    pub mean: Option<f64>,
    pub steps: usize,
    /// Of all tests selected at those steps at which both have an answer.
    pub of_totals: Option<f64>,
}

impl FirstSeen {
    pub fn note(&mut self, commit: CommitIndex, test: &TestId, fingerprint: Digest) {
        if !self.commits.contains_key(test) {
            self.commits.insert(test.clone(), HashMap::new());
        }
        let Some(of_test) = self.commits.get_mut(test) else { unreachable!("it was put there") };
        let first = of_test.entry(fingerprint).or_insert(commit);
        *first = commit.min(*first);
    }

    pub fn note_all(&mut self, commit: CommitIndex, snapshot: &Snapshot) {
        snapshot.iter().for_each(|(test, &fingerprint)| self.note(commit, test, fingerprint));
    }

    /// Whether a commit of smaller index has the test with this fingerprint. Its outcome is then known.
    pub fn is_known_before(&self, commit: CommitIndex, test: &TestId, fingerprint: Digest) -> bool {
        self.commits
            .get(test)
            .and_then(|of_test| of_test.get(&fingerprint))
            .is_some_and(|first| *first < commit)
    }
}

impl Foretold {
    /// From a prediction that takes every outcome for recorded: whatever is selected then cannot be known.
    pub fn of(prediction: Prediction) -> Foretold {
        let known = prediction.reused.into_iter().map(|(test, fingerprint)| (test, Some(fingerprint)));
        let unknown = prediction.selected.into_keys().map(|test| (test, None));
        Foretold(known.chain(unknown).collect())
    }
}

impl<R: Records> History<'_, R> {
    /// What every strategy selects at a step, seen from the commit itself; `None` if it was never recorded.
    pub fn measure(
        &mut self,
        step: &Step,
        first_seen: &FirstSeen,
        foretold: Option<&Foretold>,
    ) -> Option<Measurement> {
        let head = self.snapshot(step.head)?;
        let parents = self.graph().parents(step.head);
        let is_known = |test: &TestId, fingerprint| first_seen.is_known_before(step.head, test, fingerprint);
        let s1 = self.s1(parents, &head);
        let sk = (step.operation == Operation::Merge).then(|| self.sk(parents, &head));
        let s0 = self.s0_of(step, parents, &head);
        let star = s_star(&head, is_known);
        let choice = (step.operation == Operation::Merge)
            .then(|| self.choose(parents, Some(&head), step.is_automatic, ChooserLimits::default()).strategy);
        let measured = |selection: &Selection| self.measured(selection, &head);
        let (s1, s_star) = (measured(&s1), measured(&star));
        let (sk, s0) = (sk.as_ref().map(measured), s0.as_ref().map(measured));
        let predict = foretold
            .filter(|_| step.is_automatic)
            .map(|foretold| measure_foretold(foretold, &head, is_known));
        let of = |strategy| match strategy {
            Strategy::S0 => s0,
            Strategy::S1 => Some(s1),
            Strategy::Sk => sk,
            Strategy::SStar => Some(s_star),
            Strategy::Predict => predict,
        };
        let chosen = choice.and_then(|strategy| of(strategy).map(|measured| Chosen { strategy, measured }));
        Some(Measurement { available: head.len(), s1, sk, s0, s_star, predict, chosen })
    }

    fn s0_of(&mut self, step: &Step, parents: &[CommitIndex], head: &Snapshot) -> Option<Selection> {
        match (step.operation, parents) {
            (_, _) if !step.is_automatic => None,
            (Operation::Merge, _) => Some(self.s0_merge(parents, Some(head))),
            (Operation::CherryPick { picked, picked_parent }, &[onto]) => {
                Some(self.s0_cherry_pick(onto, picked, picked_parent, Some(head)))
            }
            (Operation::Revert { reverted, reverted_parent }, &[onto]) => {
                Some(self.s0_revert(onto, reverted, reverted_parent, Some(head)))
            }
            (Operation::CherryPick { .. } | Operation::Revert { .. }, _) => None,
        }
    }

    fn measured(&self, selection: &Selection, head: &Arc<Snapshot>) -> Measured {
        let Selection { answer, comparisons, not_recorded, safety: _ } = selection;
        let (selected, missed, is_complete) = match answer {
            Answer::Everything(_) => (head.len(), 0, false),
            Answer::Tests { selected, reused } => {
                let mut sources: HashMap<CommitIndex, Option<Arc<Snapshot>>> = HashMap::new();
                let mut differs = |test: &TestId, fingerprint: &Digest| match reused.get(test) {
                    Some(Evidence::OutcomeAt(commit)) => {
                        let source = sources.entry(*commit).or_insert_with(|| self.snapshot(*commit));
                        source.as_ref().is_none_or(|there| there.get(test) != Some(fingerprint))
                    }
                    Some(Evidence::OutcomeOf(copied)) => copied != fingerprint,
                    None => !selected.contains(test),
                };
                let missed = head.iter().filter(|(test, fingerprint)| differs(test, fingerprint)).count();
                (selected.len(), missed, not_recorded.is_empty())
            }
        };
        Measured { selected, comparisons: *comparisons, missed, has_gaps: !is_complete }
    }
}

impl Measurement {
    pub fn s1_over_s0(&self) -> Option<f64> {
        ratio(self.s1.selected, self.s0?.selected)
    }

    pub fn s0_over_sk(&self) -> Option<f64> {
        ratio(self.s0?.selected, self.sk?.selected)
    }
}

impl Summary {
    pub fn of<'m>(measurements: impl Iterator<Item = &'m Measurement> + Clone) -> Summary {
        let means = |of: fn(&Measurement) -> Option<Measured>| {
            StrategyMeans::of(measurements.clone().filter_map(|one| Some((of(one)?, one.available))))
        };
        let pairs =
            |of: fn(&Measurement) -> Option<(usize, usize)>| Ratio::of(measurements.clone().filter_map(of));
        Summary {
            steps: measurements.clone().count(),
            s1: means(|one| Some(one.s1)),
            sk: means(|one| one.sk),
            s0: means(|one| one.s0),
            s_star: means(|one| Some(one.s_star)),
            predict: means(|one| one.predict),
            chosen: means(|one| one.chosen.map(|chosen| chosen.measured)),
            s1_over_s0: pairs(|one| Some((one.s1.selected, one.s0?.selected))),
            s0_over_sk: pairs(|one| Some((one.s0?.selected, one.sk?.selected))),
        }
    }
}

impl StrategyMeans {
    fn of(measured: impl Iterator<Item = (Measured, usize)>) -> StrategyMeans {
        let mut means = StrategyMeans::default();
        let mut shares = Vec::new();
        for (Measured { selected, comparisons, missed, has_gaps }, available) in measured {
            means.steps += 1;
            means.selected += selected;
            means.comparisons += comparisons;
            means.missed += missed;
            means.with_gaps += usize::from(has_gaps);
            shares.extend(ratio(selected, available));
        }
        means.mean_share = mean(&shares);
        means
    }
}

impl Ratio {
    fn of(pairs: impl Iterator<Item = (usize, usize)>) -> Ratio {
        let (mut totals, mut ratios) = ((0, 0), Vec::new());
        for (more, fewer) in pairs {
            totals = (totals.0 + more, totals.1 + fewer);
            ratios.extend(ratio(more, fewer));
        }
        Ratio { mean: mean(&ratios), steps: ratios.len(), of_totals: ratio(totals.0, totals.1) }
    }
}

fn measure_foretold(
    foretold: &Foretold,
    head: &Snapshot,
    is_known: impl Fn(&TestId, Digest) -> bool,
) -> Measured {
    let mut measured = Measured::default();
    for (test, fingerprint) in head {
        match foretold.0.get(test) {
            Some(Some(expected)) if is_known(test, *expected) => {
                measured.missed += usize::from(expected != fingerprint);
            }
            Some(Some(_) | None) => measured.selected += 1,
            // Nobody would have thought of it before the build.
            None => measured.missed += 1,
        }
    }
    measured
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn strategy_word<S: serde::Serializer>(strategy: &Strategy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(strategy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{CommitGraphBuilder, Dominators};

    fn snapshot(entries: &[(&str, u128)]) -> Arc<Snapshot> {
        Arc::new(entries.iter().map(|(name, digest)| (TestId::new("t", *name), Digest(*digest))).collect())
    }

    /// A test that only the merge changed: a call on one branch, the callee on the other.
    #[test]
    fn what_s0_leaves_out_although_it_changed_is_counted() {
        let mut builder = CommitGraphBuilder::new();
        let start = builder.commit(&[]);
        let (calls, callee) = (builder.commit(&[start]), builder.commit(&[start]));
        let merge = builder.commit(&[calls, callee]);
        let graph = builder.build();
        let dominators = Dominators::of(&graph);
        let states: BTreeMap<CommitIndex, Arc<Snapshot>> = [
            (start, snapshot(&[("f", 1), ("other", 1)])),
            (calls, snapshot(&[("f", 2), ("other", 1)])),
            (callee, snapshot(&[("f", 1), ("other", 1)])),
            (merge, snapshot(&[("f", 3), ("other", 1)])),
        ]
        .into();
        let mut first_seen = FirstSeen::default();
        states.iter().for_each(|(commit, snapshot)| first_seen.note_all(*commit, snapshot));
        let step = Step { head: merge, operation: Operation::Merge, is_automatic: true };
        let foretold =
            Foretold([(TestId::new("t", "f"), None), (TestId::new("t", "other"), Some(Digest(1)))].into());
        let mut history = History::new(&graph, &dominators, &states);
        let measurement = history.measure(&step, &first_seen, Some(&foretold)).unwrap();
        let counts = |measured: Measured| (measured.selected, measured.missed);
        assert_eq!(measurement.available, 2);
        assert_eq!((counts(measurement.s1), counts(measurement.sk.unwrap())), ((1, 0), (1, 0)));
        assert_eq!((counts(measurement.s_star), counts(measurement.predict.unwrap())), ((1, 0), (1, 0)));
        assert_eq!(counts(measurement.s0.unwrap()), (0, 1), "unsafe when coverage changes");
        assert_eq!((measurement.s1_over_s0(), measurement.s0_over_sk()), (None, Some(0.0)));
        let summary = Summary::of([&measurement, &measurement].into_iter());
        assert_eq!((summary.s0.missed, summary.s1.mean_share, summary.sk.comparisons), (2, Some(0.5), 4));
        assert_eq!(summary.s1_over_s0, Ratio::default());
    }

    #[test]
    fn a_merge_by_hand_has_neither_s0_nor_predict() {
        let mut builder = CommitGraphBuilder::new();
        let start = builder.commit(&[]);
        let sides = [builder.commit(&[start]), builder.commit(&[start])];
        let merge = builder.commit(&sides);
        let graph = builder.build();
        let dominators = Dominators::of(&graph);
        let states: BTreeMap<CommitIndex, Arc<Snapshot>> =
            graph.commits().map(|commit| (commit, snapshot(&[("f", 1)]))).collect();
        let step = Step { head: merge, operation: Operation::Merge, is_automatic: false };
        let mut history = History::new(&graph, &dominators, &states);
        let measurement = history.measure(&step, &FirstSeen::default(), Some(&Foretold::default())).unwrap();
        assert_eq!((measurement.s0, measurement.predict), (None, None));
        assert_eq!(measurement.chosen, Some(Chosen { strategy: Strategy::S1, measured: measurement.s1 }));
        assert_eq!(measurement.s1, Measured { comparisons: 1, ..Measured::default() });
        assert_eq!(measurement.s_star.selected, 1, "nothing was noted as seen");
    }
}
