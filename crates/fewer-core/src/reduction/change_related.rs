//! Requirements that are related to a change, and what a reduced suite loses of them. The change is given by the
//! tests that a safe selection selects for it.

use fixedbitset::FixedBitSet;
use serde::Serialize;

use super::matrix::Matrix;

/// What is lost, of how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Loss {
    pub lost: usize,
    pub of: usize,
}

impl Loss {
    fn between(wanted: &FixedBitSet, given: &FixedBitSet) -> Loss {
        Loss { lost: wanted.difference_count(given), of: wanted.count_ones(..) }
    }

    /// In percent; nothing is lost where there is nothing to lose.
    pub fn percent(self) -> f64 {
        if self.of == 0 { 0.0 } else { 100.0 * self.lost as f64 / self.of as f64 }
    }
}

/// `CRR_S(T) = req(S intersect T) without req(T without S)`.
pub fn change_related(matrix: &Matrix, tests: &FixedBitSet, selected: &FixedBitSet) -> FixedBitSet {
    let mut related = matrix.satisfied(tests.intersection(selected));
    related.difference_with(&matrix.satisfied(tests.difference(selected)));
    related
}

/// What of `CRR_S(O)` is not in `CRR_S(E)`.
pub fn loss(matrix: &Matrix, evolved: &FixedBitSet, selected: &FixedBitSet) -> Loss {
    let mut all = FixedBitSet::with_capacity(matrix.tests());
    all.insert_range(..);
    Loss::between(&change_related(matrix, &all, selected), &change_related(matrix, evolved, selected))
}

/// What of `req(O)` is not in `req(R)`, whatever changed.
pub fn traditional_loss(matrix: &Matrix, reduced: &FixedBitSet) -> Loss {
    Loss::between(&matrix.all_satisfied(), &matrix.satisfied(reduced.ones()))
}

/// The selections of a commit and of those before it, as if they had been squashed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoneBack {
    pub selected: FixedBitSet,
    /// How many commits before the one asked for were needed; none where its own selection is enough.
    pub commits: usize,
    /// Whether the tests satisfy anything at all: not where the range of commits ends before they do.
    pub satisfies: bool,
}

/// Where the tests selected at a commit satisfy no requirement, goes back one commit at a time and adds that
/// commit's selection until they do. `selections` begins with the commit itself.
pub fn go_back(matrix: &Matrix, selections: impl IntoIterator<Item = FixedBitSet>) -> GoneBack {
    let mut gone =
        GoneBack { selected: FixedBitSet::with_capacity(matrix.tests()), commits: 0, satisfies: false };
    for (commits, selection) in selections.into_iter().enumerate() {
        gone.commits = commits;
        gone.satisfies |= selection.ones().any(|test| !matrix.row(test).is_empty());
        gone.selected.union_with(&selection);
        if gone.satisfies {
            break;
        }
    }
    gone
}
