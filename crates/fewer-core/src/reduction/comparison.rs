//! The experiments over a range of revisions: how many tests each way of choosing runs at every commit, and what
//! reduced suites lose when they are used at later revisions.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use serde::Serialize;

use super::change_related::{Loss, go_back, loss, traditional_loss};
use super::distribution::Distribution;
use super::evolution::evolve;
use super::suite::Suite;
use super::wilcoxon::{SignedRank, signed_rank};
use crate::test_id::TestId;

/// Revisions in their order, each with its tests and those that were selected for the change that led to it.
#[derive(Clone, Debug, Default)]
pub struct Revisions {
    pub names: Vec<String>,
    pub tests: Vec<BTreeSet<TestId>>,
    pub selected: Vec<BTreeSet<TestId>>,
}

/// The four ways to choose tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    Full,
    /// The evolved reduced suite.
    Reduced,
    Selected,
    SelectionOfReduction,
}

impl Choice {
    pub const ALL: [Choice; 4] =
        [Choice::Full, Choice::Reduced, Choice::Selected, Choice::SelectionOfReduction];

    pub fn word(self) -> &'static str {
        match self {
            Choice::Full => "full",
            Choice::Reduced => "reduced",
            Choice::Selected => "selected",
            Choice::SelectionOfReduction => "selection-of-reduction",
        }
    }
}

/// How many tests each way chooses at one revision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RevisionChoice {
    /// The place of the revision.
    pub revision: usize,
    pub full: usize,
    pub reduced: usize,
    pub selected: usize,
    pub selection_of_reduction: usize,
}

impl RevisionChoice {
    pub fn count(&self, choice: Choice) -> usize {
        match choice {
            Choice::Full => self.full,
            Choice::Reduced => self.reduced,
            Choice::Selected => self.selected,
            Choice::SelectionOfReduction => self.selection_of_reduction,
        }
    }

    /// In percent of the full suite.
    pub fn size(&self, choice: Choice) -> f64 {
        percent(self.count(choice), self.full)
    }
}

/// One suite, reduced at a revision and used from then on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Run {
    pub reduced_at: usize,
    /// The revisions after it.
    pub choices: Vec<RevisionChoice>,
    pub all: Sizes,
    /// Without the revisions at which nothing is selected.
    pub without_zero: Sizes,
}

/// The sizes of what is chosen, in percent of the full suite, over many revisions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Sizes {
    pub reduced: Option<Distribution>,
    pub selected: Option<Distribution>,
    pub selection_of_reduction: Option<Distribution>,
    /// The numbers of tests of reduction and selection, commit by commit.
    pub reduced_against_selected: Option<SignedRank>,
    /// The share of the full suite that is selected, and the share of the reduced suite.
    pub ratios: Option<SignedRank>,
}

/// Uses the suite that was reduced at a revision at every later one.
pub fn compare_choices(revisions: &Revisions, reduced_at: usize, reduced: &BTreeSet<TestId>) -> Run {
    let full = &revisions.tests[reduced_at];
    let choose = |revision: usize| {
        let (tests, selected) = (&revisions.tests[revision], &revisions.selected[revision]);
        let evolved = evolve(reduced, full, tests).suite;
        RevisionChoice {
            revision,
            full: tests.len(),
            reduced: evolved.len(),
            selected: selected.len(),
            selection_of_reduction: selected.intersection(&evolved).count(),
        }
    };
    let choices: Vec<RevisionChoice> = (reduced_at + 1..revisions.tests.len()).map(choose).collect();
    let non_zero: Vec<RevisionChoice> =
        choices.iter().filter(|choice| choice.selected > 0).copied().collect();
    Run { reduced_at, all: Sizes::of(&choices), without_zero: Sizes::of(&non_zero), choices }
}

impl Sizes {
    fn of(choices: &[RevisionChoice]) -> Sizes {
        let sizes = |choice: Choice| -> Vec<f64> { choices.iter().map(|at| at.size(choice)).collect() };
        let counts =
            |choice: Choice| -> Vec<f64> { choices.iter().map(|at| at.count(choice) as f64).collect() };
        let of_reduced: Vec<f64> =
            choices.iter().map(|at| percent(at.selection_of_reduction, at.reduced)).collect();
        Sizes {
            reduced: Distribution::of(&sizes(Choice::Reduced)),
            selected: Distribution::of(&sizes(Choice::Selected)),
            selection_of_reduction: Distribution::of(&sizes(Choice::SelectionOfReduction)),
            reduced_against_selected: signed_rank(&counts(Choice::Reduced), &counts(Choice::Selected)),
            ratios: signed_rank(&sizes(Choice::Selected), &of_reduced),
        }
    }

    /// By how many percentage points the medians of two ways differ.
    pub fn medians_apart(&self, larger: Choice, smaller: Choice) -> Option<f64> {
        let median = |choice: Choice| match choice {
            Choice::Full => Some(100.0),
            Choice::Reduced => self.reduced.map(|sizes| sizes.median),
            Choice::Selected => self.selected.map(|sizes| sizes.median),
            Choice::SelectionOfReduction => self.selection_of_reduction.map(|sizes| sizes.median),
        };
        Some(median(larger)? - median(smaller)?)
    }
}

/// What suites that were reduced at one revision lose at a later one: a triangle.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LossTable {
    /// The places of the revisions at which requirements are known.
    pub points: Vec<usize>,
    /// Row `i`, column `j - i - 1`: reduced at point `i`, used at point `j`.
    pub change_related: Vec<Vec<Loss>>,
    /// The same in relation to all requirements.
    pub traditional: Vec<Vec<Loss>>,
    /// Per point how many commits before it were needed for a selection that satisfies anything.
    pub went_back: Vec<usize>,
}

impl LossTable {
    /// The distribution over the whole triangle, in percent.
    pub fn distribution(losses: &[Vec<Loss>]) -> Option<Distribution> {
        Distribution::of(&losses.iter().flatten().map(|loss| loss.percent()).collect::<Vec<f64>>())
    }
}

/// `points` are revisions whose requirements are known, each with the suite that judges and the suite that its own
/// reduction keeps.
pub fn loss_table(revisions: &Revisions, points: &[(usize, &Suite, BTreeSet<TestId>)]) -> LossTable {
    let gone: Vec<_> = points
        .iter()
        .map(|(at, suite, _)| {
            go_back(&suite.matrix, (0..=*at).rev().map(|before| rows(suite, &revisions.selected[before])))
        })
        .collect();
    let mut table = LossTable {
        points: points.iter().map(|(at, ..)| *at).collect(),
        change_related: Vec::new(),
        traditional: Vec::new(),
        went_back: gone.iter().map(|gone| gone.commits).collect(),
    };
    for (place, (at, _, reduced)) in points.iter().enumerate() {
        let (mut related, mut all) = (Vec::new(), Vec::new());
        for ((later, suite, _), gone) in points.iter().zip(&gone).skip(place + 1) {
            let evolved =
                rows(suite, &evolve(reduced, &revisions.tests[*at], &revisions.tests[*later]).suite);
            related.push(loss(&suite.matrix, &evolved, &gone.selected));
            all.push(traditional_loss(&suite.matrix, &evolved));
        }
        table.change_related.push(related);
        table.traditional.push(all);
    }
    table
}

/// The rows of those tests that the suite has.
fn rows(suite: &Suite, tests: &BTreeSet<TestId>) -> FixedBitSet {
    let mut rows = FixedBitSet::with_capacity(suite.tests.len());
    suite.positions(tests).into_iter().for_each(|row| rows.insert(row));
    rows
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}
