//! The heuristic of Harrold, Gupta and Soffa: requirements that few tests satisfy are seen to first.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;

use super::matrix::Matrix;
use super::suite::Suite;

/// The tests that are kept, in the order in which they were taken.
pub fn hgs(suite: &Suite) -> Vec<usize> {
    let columns = suite.matrix.transposed();
    let mut by_cardinality: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for requirement in 0..columns.tests() {
        by_cardinality.entry(columns.row(requirement).len()).or_default().push(requirement as u32);
    }
    by_cardinality.remove(&0);
    let mut work = Work {
        matrix: &suite.matrix,
        satisfied: FixedBitSet::with_capacity(columns.tests()),
        kept: Vec::new(),
        ranks: suite.ranks(),
        columns,
    };
    for requirements in by_cardinality.into_values() {
        work.see_to(&requirements);
    }
    work.kept
}

struct Work<'m> {
    matrix: &'m Matrix,
    /// Per requirement the tests that satisfy it.
    columns: Matrix,
    ranks: Vec<u32>,
    satisfied: FixedBitSet,
    kept: Vec<usize>,
}

impl Work<'_> {
    /// Satisfies requirements that equally many tests satisfy.
    fn see_to(&mut self, requirements: &[u32]) {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for &requirement in requirements.iter().filter(|&&r| !self.satisfied[r as usize]) {
            self.columns
                .row(requirement as usize)
                .iter()
                .for_each(|&test| *counts.entry(test).or_default() += 1);
        }
        let cardinality = requirements.first().map_or(0, |&first| self.columns.row(first as usize).len());
        while let Some(most) = counts.values().copied().max().filter(|&most| most > 0) {
            let tied: Vec<u32> =
                counts.iter().filter(|(_, count)| **count == most).map(|(test, _)| *test).collect();
            let test = self.best_of(tied, cardinality);
            for &requirement in self.matrix.row(test as usize) {
                let tests = self.columns.row(requirement as usize);
                if !self.satisfied.put(requirement as usize) && tests.len() == cardinality {
                    tests.iter().for_each(|test| *counts.get_mut(test).expect("it was counted") -= 1);
                }
            }
            self.kept.push(test as usize);
        }
    }

    /// Of tests that are equal up to a cardinality the one that satisfies more requirements of the next one, and
    /// so on; then the shorter one, then the name.
    fn best_of(&self, tied: Vec<u32>, cardinality: usize) -> u32 {
        if let [only] = tied[..] {
            return only;
        }
        let outlook = |test: u32| -> BTreeMap<usize, usize> {
            let mut counts = BTreeMap::new();
            for &requirement in self.matrix.row(test as usize) {
                let others = self.columns.row(requirement as usize).len();
                if others > cardinality && !self.satisfied[requirement as usize] {
                    *counts.entry(others).or_default() += 1;
                }
            }
            counts
        };
        let outlooks = tied.into_iter().map(|test| (outlook(test), test));
        let best = outlooks.max_by(|(a, test_a), (b, test_b)| {
            compare(a, b).then(self.ranks[*test_b as usize].cmp(&self.ranks[*test_a as usize]))
        });
        best.expect("somebody is tied").1
    }
}

/// Which outlook is better: more requirements at the least cardinality where they differ.
fn compare(a: &BTreeMap<usize, usize>, b: &BTreeMap<usize, usize>) -> Ordering {
    for (left, right) in a.iter().zip(b) {
        match (left.0.cmp(right.0), left.1.cmp(right.1)) {
            (Ordering::Less, _) => return Ordering::Greater,
            (Ordering::Greater, _) => return Ordering::Less,
            (Ordering::Equal, Ordering::Equal) => {}
            (Ordering::Equal, different) => return different,
        }
    }
    a.len().cmp(&b.len())
}
