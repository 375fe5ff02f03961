//! Sums of chances over commits. They are kept as integers, in units of 2^-40, so that they are the same whatever the
//! order, the number of threads or the engine: sums can be compared bit by bit.

use crate::expectation::{Chances, RATES};
use crate::groups::Totals;

const UNIT: f64 = (1u64 << 40) as f64;

/// What one configuration has done so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tally {
    /// Commits with an unsafe target.
    pub unsafe_commits: u64,
    /// Commits with a maybe-unsafe but no unsafe target.
    pub maybe_commits: u64,
    /// By skip rate.
    pub sums: Vec<Sums>,
}

/// Sums at one skip rate, in units of 2^-40.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sums {
    /// Safe selections at commits with an unsafe target.
    pub safe_at_unsafe: i64,
    /// Safe selections at maybe-unsafe commits.
    pub safe_at_maybe: i64,
    /// Unsafe selections at commits with an unsafe target.
    pub unsafe_skipped: i64,
    /// Selections that skip every marked target, at commits with an unsafe target.
    pub all_skipped_at_unsafe: i64,
    /// The same at maybe-unsafe commits.
    pub all_skipped_at_maybe: i64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { unsafe_commits: 0, maybe_commits: 0, sums: vec![Sums::default(); RATES] }
    }
}

impl Tally {
    /// Adds a commit with a transition.
    pub fn add(&mut self, chances: &[Chances; RATES], totals: &Totals) {
        let is_unsafe = totals.unsafe_ones > 0;
        match is_unsafe {
            true => self.unsafe_commits += 1,
            false => self.maybe_commits += 1,
        }
        for (sums, chances) in self.sums.iter_mut().zip(chances) {
            let [safe, unsafe_skipped, all_skipped] =
                [chances.safe, chances.unsafe_skipped, chances.all_skipped].map(units);
            if is_unsafe {
                sums.safe_at_unsafe += safe;
                sums.unsafe_skipped += unsafe_skipped;
                sums.all_skipped_at_unsafe += all_skipped;
            } else {
                sums.safe_at_maybe += safe;
                sums.all_skipped_at_maybe += all_skipped;
            }
        }
    }

    /// Adds what was tallied over other commits.
    pub fn merge(&mut self, other: &Tally) {
        self.unsafe_commits += other.unsafe_commits;
        self.maybe_commits += other.maybe_commits;
        for (sums, other) in self.sums.iter_mut().zip(&other.sums) {
            sums.safe_at_unsafe += other.safe_at_unsafe;
            sums.safe_at_maybe += other.safe_at_maybe;
            sums.unsafe_skipped += other.unsafe_skipped;
            sums.all_skipped_at_unsafe += other.all_skipped_at_unsafe;
            sums.all_skipped_at_maybe += other.all_skipped_at_maybe;
        }
    }
}

/// How many commits a sum stands for.
pub fn commits(sum: i64) -> f64 {
    sum as f64 / UNIT
}

fn units(chance: f64) -> i64 {
    (chance * UNIT).round() as i64
}
