//! A reduced suite with its reasons: why each kept test is kept, and which kept tests make each other one redundant.

use std::collections::HashMap;

use fixedbitset::FixedBitSet;
use serde::{Deserialize, Serialize};

use super::suite::Suite;

/// How a suite is reduced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Most unsatisfied requirements first.
    Greedy,
    /// Most unsatisfied requirements per second first.
    CostAware,
    /// Requirements that few tests satisfy first.
    Hgs,
    /// The smallest suite.
    Exact,
}

impl Algorithm {
    pub const ALL: [Algorithm; 4] =
        [Algorithm::Greedy, Algorithm::CostAware, Algorithm::Hgs, Algorithm::Exact];

    /// As on the command line and in files.
    pub fn word(self) -> &'static str {
        match self {
            Algorithm::Greedy => "greedy",
            Algorithm::CostAware => "cost-aware",
            Algorithm::Hgs => "hgs",
            Algorithm::Exact => "exact",
        }
    }
}

/// A reduced suite, explained. Tests are rows of the suite's matrix.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reduction {
    /// In the order in which they were taken.
    pub kept: Vec<Kept>,
    /// In the order of their names.
    pub redundant: Vec<Redundant>,
}

/// A test that stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    pub test: usize,
    /// Requirements that no test taken before it satisfies.
    pub new: usize,
    /// Requirements that no other kept test satisfies.
    pub alone: usize,
    /// One of those, or of the new ones.
    pub example: Option<usize>,
}

/// A test that can go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Redundant {
    pub test: usize,
    /// Kept tests that together satisfy all that it satisfies, those with the largest share first; none where it
    /// satisfies nothing.
    pub because_of: Vec<usize>,
}

/// Gives the reasons for a reduced suite, whoever made it.
pub fn explain_reduction(suite: &Suite, kept: &[usize]) -> Reduction {
    let times = times_satisfied(suite, kept);
    let mut satisfied = FixedBitSet::with_capacity(suite.matrix.requirements());
    let reason = |&test: &usize| {
        let (mut new, mut alone, mut example, mut only) = (0, 0, None, None);
        for &requirement in suite.matrix.row(test) {
            if !satisfied.put(requirement as usize) {
                new += 1;
                example.get_or_insert(requirement as usize);
            }
            if times[requirement as usize] == 1 {
                alone += 1;
                only.get_or_insert(requirement as usize);
            }
        }
        Kept { test, new, alone, example: only.or(example) }
    };
    let reasons = kept.iter().map(reason).collect();
    Reduction { kept: reasons, redundant: redundant(suite, kept) }
}

fn times_satisfied(suite: &Suite, kept: &[usize]) -> Vec<u32> {
    let mut times = vec![0; suite.matrix.requirements()];
    kept.iter().flat_map(|&test| suite.matrix.row(test)).for_each(|&r| times[r as usize] += 1);
    times
}

fn redundant(suite: &Suite, kept: &[usize]) -> Vec<Redundant> {
    let mut is_kept = vec![false; suite.tests.len()];
    kept.iter().for_each(|&test| is_kept[test] = true);
    let columns = kept_columns(suite, kept);
    let rest = (0..suite.tests.len()).filter(|&test| !is_kept[test]);
    rest.map(|test| Redundant { test, because_of: witnesses(suite.matrix.row(test), kept, &columns) })
        .collect()
}

/// Per requirement the kept tests that satisfy it, as places in `kept`.
fn kept_columns(suite: &Suite, kept: &[usize]) -> super::matrix::Matrix {
    let mut rows = super::matrix::MatrixBuilder::new(suite.matrix.requirements() as u32);
    kept.iter().for_each(|&test| rows.test(&mut suite.matrix.row(test).to_vec()));
    rows.finish().transposed()
}

/// Few kept tests that satisfy all of a row: greedily.
fn witnesses(row: &[u32], kept: &[usize], columns: &super::matrix::Matrix) -> Vec<usize> {
    let mut open: Vec<u32> = row.to_vec();
    let mut witnesses = Vec::new();
    while !open.is_empty() {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for &requirement in &open {
            columns
                .row(requirement as usize)
                .iter()
                .for_each(|&place| *counts.entry(place).or_default() += 1);
        }
        let best = counts.into_iter().max_by_key(|&(place, count)| (count, std::cmp::Reverse(place)));
        let Some((best, _)) = best else { break };
        open.retain(|&requirement| !columns.row(requirement as usize).contains(&best));
        witnesses.push(kept[best as usize]);
    }
    witnesses
}
