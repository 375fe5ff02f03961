//! Greedy reduction: take the test that satisfies most unsatisfied requirements (or most per second), repeat. Once
//! lazily, for use, and once as the textbook has it, as the oracle; both choose the same tests in the same order.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use fixedbitset::FixedBitSet;

use super::matrix::Matrix;
use super::suite::Suite;

/// Shorter tests count as this long: clocks of test runners tick in milliseconds.
const SHORTEST_S: f64 = 0.001;

/// The tests that are kept, in the order in which they were taken.
pub fn greedy(suite: &Suite) -> Vec<usize> {
    lazily(&suite.matrix, &suite.ranks(), &vec![1.0; suite.tests.len()])
}

/// By requirements per second. A test without a recorded duration counts as long as the median of the others.
pub fn cost_aware_greedy(suite: &Suite) -> Vec<usize> {
    lazily(&suite.matrix, &suite.ranks(), &seconds(suite))
}

/// [`greedy`], counting every test again before every choice.
pub fn plain_greedy(suite: &Suite) -> Vec<usize> {
    plainly(&suite.matrix, &suite.ranks(), &vec![1.0; suite.tests.len()])
}

/// [`cost_aware_greedy`], counting every test again before every choice.
pub fn plain_cost_aware_greedy(suite: &Suite) -> Vec<usize> {
    plainly(&suite.matrix, &suite.ranks(), &seconds(suite))
}

/// How good it is to take a test now: the greatest is taken.
#[derive(Clone, Copy, Debug)]
struct Offer {
    /// Unsatisfied requirements that it satisfies, per cost.
    gain: f64,
    rank: Reverse<u32>,
    test: u32,
}

impl Offer {
    fn of(matrix: &Matrix, test: usize, satisfied: &FixedBitSet, rank: u32, cost: f64) -> Option<Offer> {
        let count = matrix.row(test).iter().filter(|&&requirement| !satisfied[requirement as usize]).count();
        let offer = Offer { gain: count as f64 / cost, rank: Reverse(rank), test: test as u32 };
        (count > 0).then_some(offer)
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Offer) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Offer {}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Offer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Offer {
    fn cmp(&self, other: &Offer) -> Ordering {
        self.gain.total_cmp(&other.gain).then(self.rank.cmp(&other.rank))
    }
}

/// A test's gain only ever falls, so an old offer is an upper bound: a test that is still the best when it is
/// counted again need not be compared with the others.
fn lazily(matrix: &Matrix, ranks: &[u32], costs: &[f64]) -> Vec<usize> {
    let mut satisfied = FixedBitSet::with_capacity(matrix.requirements());
    let offer = |test, satisfied: &FixedBitSet| Offer::of(matrix, test, satisfied, ranks[test], costs[test]);
    let mut offers: BinaryHeap<Offer> =
        (0..matrix.tests()).filter_map(|test| offer(test, &satisfied)).collect();
    let mut kept = Vec::new();
    while let Some(old) = offers.pop() {
        let test = old.test as usize;
        let Some(offer) = offer(test, &satisfied) else { continue };
        if offers.peek().is_some_and(|next| *next > offer) {
            offers.push(offer);
            continue;
        }
        take(matrix, test, &mut satisfied);
        kept.push(test);
    }
    kept
}

fn plainly(matrix: &Matrix, ranks: &[u32], costs: &[f64]) -> Vec<usize> {
    let mut satisfied = FixedBitSet::with_capacity(matrix.requirements());
    let mut kept = Vec::new();
    loop {
        let offers = (0..matrix.tests())
            .filter_map(|test| Offer::of(matrix, test, &satisfied, ranks[test], costs[test]));
        let Some(best) = offers.max() else { return kept };
        take(matrix, best.test as usize, &mut satisfied);
        kept.push(best.test as usize);
    }
}

fn take(matrix: &Matrix, test: usize, satisfied: &mut FixedBitSet) {
    matrix.row(test).iter().for_each(|&requirement| satisfied.insert(requirement as usize));
}

fn seconds(suite: &Suite) -> Vec<f64> {
    let mut known: Vec<f64> = suite.durations.iter().flatten().copied().collect();
    known.sort_by(f64::total_cmp);
    let median = known.get(known.len() / 2).copied().unwrap_or(1.0);
    suite.durations.iter().map(|duration| duration.unwrap_or(median).max(SHORTEST_S)).collect()
}
