//! Reducing a large suite: lazy greedy against greedy as the textbook has it, on one matrix in one process.
//! The matrix is drawn like coverage: most of a test's statements are of its own module, some of the start-up code
//! that all tests go through, some of anywhere; statements come in runs, as in functions.

use std::time::Duration;

use fewer_core::TestId;
use fewer_core::reduction::{MatrixBuilder, Suite, greedy, plain_greedy};
use serde::{Deserialize, Serialize};

use crate::measure;
use crate::random::Random;

const SEED: u64 = 0x5eed;
/// Statements that are covered together.
const RUN: usize = 10;
const TESTS_PER_MODULE: usize = 50;

/// How large the suite is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub tests: usize,
    pub requirements: usize,
    /// Requirements that each test satisfies.
    pub each: usize,
}

/// CPU times of both ways, which took the same tests in the same order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reduced {
    pub entries: usize,
    pub satisfied: usize,
    pub kept: usize,
    pub lazy: Vec<Duration>,
    pub plain: Duration,
}

/// Measures the lazy way so many times and the plain one, which takes minutes, once.
///
/// # Panics
/// Where they do not agree.
pub fn sample(size: Size, repeats: usize) -> Reduced {
    let suite = suite(size);
    let mut lazy = Vec::new();
    let mut kept = Vec::new();
    for _ in 0..repeats {
        let (spent, tests) = measure::closure(|| greedy(&suite));
        lazy.push(spent);
        kept = tests;
    }
    let (plain, expected) = measure::closure(|| plain_greedy(&suite));
    assert_eq!(kept, expected, "lazy and plain greedy take the same tests in the same order");
    let satisfied = suite.matrix.all_satisfied();
    assert_eq!(suite.matrix.satisfied(kept.iter().copied()), satisfied);
    let satisfied = satisfied.count_ones(..);
    Reduced { entries: suite.matrix.entries(), satisfied, kept: kept.len(), lazy, plain }
}

/// The same for the same size.
pub fn suite(size: Size) -> Suite {
    let mut random = Random::new(SEED);
    let modules = size.tests.div_ceil(TESTS_PER_MODULE);
    let mut builder =
        MatrixBuilder::with_capacity(size.requirements as u32, size.tests, size.tests * size.each);
    let mut taken = vec![false; size.requirements];
    let mut row: Vec<u32> = Vec::with_capacity(size.each);
    for test in 0..size.tests {
        row.clear();
        while row.len() < size.each {
            let start = draw(&mut random, size.requirements / RUN, test % modules, modules) * RUN;
            let end = (start + RUN).min(size.requirements);
            for (requirement, is_taken) in (start..end).zip(&mut taken[start..end]) {
                if row.len() < size.each && !std::mem::replace(is_taken, true) {
                    row.push(requirement as u32);
                }
            }
        }
        row.iter().for_each(|&requirement| taken[requirement as usize] = false);
        builder.test(&mut row);
    }
    let tests = (0..size.tests).map(|test| TestId::new("suite", format!("Test.{test:06}"))).collect();
    let durations = (0..size.tests).map(|_| Some(random.below(5_000) as f64 / 1_000.0)).collect();
    Suite::of_matrix(tests, durations, builder.finish())
}

/// A run of statements for a test of a module.
fn draw(random: &mut Random, runs: usize, module: usize, modules: usize) -> usize {
    let of_module = runs / modules;
    match random.below(20) {
        // The start-up code: the beginning of everything, its first parts more often.
        0 | 1 => random.below(of_module).min(random.below(of_module)),
        2 | 3 => random.below(runs),
        _ => module * of_module + random.below(of_module),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_on_a_small_suite_of_the_same_shape() {
        let reduced = sample(Size { tests: 400, requirements: 40_000, each: 1_000 }, 1);
        assert_eq!(reduced.entries, 400_000);
        assert!(reduced.satisfied > 39_000, "{reduced:?}");
        assert!(reduced.kept > 20 && reduced.kept < 300, "{reduced:?}");
    }
}
