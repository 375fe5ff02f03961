//! The signed-rank test of Wilcoxon for paired samples, two-sided: do two ways of choosing tests differ, commit by
//! commit?

use serde::Serialize;

/// Up to this many pairs, without ties, the distribution is counted out; beyond, it is nearly normal.
const EXACT_UP_TO: usize = 50;

/// The result of the test.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SignedRank {
    /// Pairs that differ.
    pub pairs: usize,
    /// The sum of the ranks of positive differences.
    pub positive: f64,
    pub negative: f64,
    /// The probability of differences at least as one-sided as these, were there none between the two.
    pub p: f64,
}

/// Compares paired samples; pairs that are equal say nothing and are left out. `None` where no pair differs.
///
/// # Panics
/// Where the samples are not equally long.
pub fn signed_rank(these: &[f64], others: &[f64]) -> Option<SignedRank> {
    assert_eq!(these.len(), others.len(), "the samples are paired");
    let mut differences: Vec<f64> = these
        .iter()
        .zip(others)
        .map(|(this, other)| this - other)
        .filter(|&difference| difference != 0.0)
        .collect();
    differences.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    if differences.is_empty() {
        return None;
    }
    let (ranks, ties) = ranks(&differences);
    let sum = |positive: bool| -> f64 {
        differences.iter().zip(&ranks).filter(|(d, _)| (**d > 0.0) == positive).map(|(_, rank)| rank).sum()
    };
    let (positive, negative, pairs) = (sum(true), sum(false), differences.len());
    let least = positive.min(negative);
    let p = if ties.is_empty() && pairs <= EXACT_UP_TO {
        exact_p(pairs, least as usize)
    } else {
        normal_p(pairs, least, &ties)
    };
    Some(SignedRank { pairs, positive, negative, p })
}

/// The ranks of values that are sorted by their amount, equal ones sharing the mean of theirs; and how many share
/// one, for each that is shared.
fn ranks(sorted: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let (mut ranks, mut ties) = (Vec::with_capacity(sorted.len()), Vec::new());
    for group in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranks.len() + 1;
        let last = ranks.len() + group.len();
        ranks.extend(std::iter::repeat_n((first + last) as f64 / 2.0, group.len()));
        if group.len() > 1 {
            ties.push(group.len());
        }
    }
    (ranks, ties)
}

/// How many of all ways to give signs to the ranks `1..=pairs` have a positive sum up to `least`, twice.
fn exact_p(pairs: usize, least: usize) -> f64 {
    let greatest = pairs * (pairs + 1) / 2;
    let mut ways = vec![0.0; greatest + 1];
    ways[0] = 1.0;
    for rank in 1..=pairs {
        for sum in (rank..=greatest).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let up_to: f64 = ways[..=least.min(greatest)].iter().sum();
    (2.0 * up_to / 2f64.powi(pairs as i32)).min(1.0)
}

/// The normal approximation, corrected for ties; without correction for continuity, as in scipy.
fn normal_p(pairs: usize, least: f64, ties: &[usize]) -> f64 {
    let n = pairs as f64;
    let tied: f64 = ties.iter().map(|&t| (t as f64).powi(3) - t as f64).sum();
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tied / 48.0;
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (least - n * (n + 1.0) / 4.0) / variance.sqrt();
    erfc(z.abs() / std::f64::consts::SQRT_2).min(1.0)
}

/// The complementary error function for arguments from 0 on: the continued fraction where it converges well, else
/// the series of erf.
fn erfc(x: f64) -> f64 {
    let scale = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x < 2.5 {
        let (mut term, mut sum, mut k) = (x, x, 0.0);
        while term.abs() > 1e-17 * sum.abs() {
            k += 1.0;
            term *= 2.0 * x * x / (2.0 * k + 1.0);
            sum += term;
        }
        return 1.0 - 2.0 * scale * sum;
    }
    let fraction = (1..=60).rev().fold(x, |below, k| x + f64::from(k) / 2.0 / below);
    scale / fraction
}
