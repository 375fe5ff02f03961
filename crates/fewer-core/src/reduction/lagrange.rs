//! How small a cover can be at best: the Lagrangian relaxation, improved by subgradient steps. It also suggests
//! covers, of which the smallest is remembered.

use fixedbitset::FixedBitSet;

use super::kernel::Kernel;

/// Steps without a better bound before the steps get smaller.
const PATIENCE: u32 = 15;

/// A part of a problem: tests that may still be taken, requirements that are still open.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) allowed: FixedBitSet,
    pub(super) requirements: FixedBitSet,
}

/// The prices of requirements and what follows from them.
#[derive(Clone, Debug)]
pub(super) struct Relaxation {
    /// No cover of the open requirements has fewer tests.
    pub(super) bound: f64,
    /// What satisfying a requirement is worth.
    pub(super) prices: Vec<f64>,
    /// What is left of a test's cost of 1 when the prices of what it satisfies are taken off.
    pub(super) reduced_costs: Vec<f64>,
    /// The smallest cover that was come across.
    pub(super) cover: Option<Vec<u32>>,
}

/// Improves the prices in so many steps; `upper` is the size of a cover that is known.
pub(super) fn relax(kernel: &Kernel, open: &Open, start: &[f64], upper: usize, steps: u32) -> Relaxation {
    let mut best = Relaxation {
        bound: f64::NEG_INFINITY,
        prices: start.to_vec(),
        reduced_costs: Vec::new(),
        cover: None,
    };
    let (mut prices, mut pace, mut idle) = (start.to_vec(), 2.0, 0);
    for step in 0..steps {
        let (bound, reduced_costs) = value(kernel, open, &prices);
        if step % 10 == 0 {
            let cover = suggested_cover(kernel, open, &reduced_costs);
            if best.cover.as_ref().is_none_or(|known| cover.len() < known.len()) {
                best.cover = Some(cover);
            }
        }
        let gaps = gaps(kernel, open, &reduced_costs);
        let length: f64 = gaps.iter().map(|(_, gap)| gap * gap).sum();
        if bound > best.bound + 1e-9 {
            (best.bound, best.prices, idle) = (bound, prices.clone(), 0);
            best.reduced_costs = reduced_costs;
        } else {
            idle += 1;
            if idle % PATIENCE == 0 {
                pace /= 2.0;
            }
        }
        let goal = best.cover.as_ref().map_or(upper, |cover| cover.len().min(upper)) as f64;
        if length == 0.0 || best.bound > goal - 1.0 + 1e-6 || pace < 1e-3 {
            break;
        }
        let stride = pace * (goal - bound).max(0.05) / length;
        for (requirement, gap) in gaps {
            prices[requirement] = (prices[requirement] + stride * gap).max(0.0);
        }
    }
    best
}

/// Every requirement at the price at which its cheapest test pays for itself.
pub(super) fn first_prices(kernel: &Kernel) -> Vec<f64> {
    let price = |tests: &Vec<u32>| {
        tests.iter().map(|&test| 1.0 / kernel.rows[test as usize].len() as f64).fold(1.0, f64::min)
    };
    kernel.columns.iter().map(price).collect()
}

fn value(kernel: &Kernel, open: &Open, prices: &[f64]) -> (f64, Vec<f64>) {
    let mut bound: f64 = open.requirements.ones().map(|requirement| prices[requirement]).sum();
    let mut reduced_costs = vec![1.0; kernel.tests.len()];
    for test in open.allowed.ones() {
        let worth: f64 = kernel.rows[test]
            .iter()
            .filter(|&&requirement| open.requirements[requirement as usize])
            .map(|&requirement| prices[requirement as usize])
            .sum();
        reduced_costs[test] = 1.0 - worth;
        bound += reduced_costs[test].min(0.0);
    }
    (bound, reduced_costs)
}

/// Per open requirement one less the number of tests with a negative cost that satisfy it.
fn gaps(kernel: &Kernel, open: &Open, reduced_costs: &[f64]) -> Vec<(usize, f64)> {
    let gap = |requirement: usize| {
        let taken = kernel.columns[requirement]
            .iter()
            .filter(|&&test| open.allowed[test as usize] && reduced_costs[test as usize] < 0.0)
            .count();
        (requirement, 1.0 - taken as f64)
    };
    open.requirements.ones().map(gap).filter(|(_, gap)| *gap != 0.0).collect()
}

/// A cover that takes the tests with the least reduced costs per requirement, less those it turns out not to need.
fn suggested_cover(kernel: &Kernel, open: &Open, reduced_costs: &[f64]) -> Vec<u32> {
    let mut unsatisfied = open.requirements.clone();
    let mut cover: Vec<u32> = Vec::new();
    for requirement in open.requirements.ones() {
        if !unsatisfied[requirement] {
            continue;
        }
        let score = |test: u32| {
            let gain = kernel.rows[test as usize].iter().filter(|&&r| unsatisfied[r as usize]).count() as f64;
            let cost = reduced_costs[test as usize];
            if cost > 0.0 { cost / gain } else { cost * gain }
        };
        let candidates =
            kernel.columns[requirement].iter().copied().filter(|&test| open.allowed[test as usize]);
        let best = candidates.min_by(|&a, &b| score(a).total_cmp(&score(b)).then(a.cmp(&b)));
        let best = best.expect("an open requirement has an allowed test");
        kernel.rows[best as usize].iter().for_each(|&r| unsatisfied.set(r as usize, false));
        cover.push(best);
    }
    without_needless(kernel, open, cover)
}

/// Leaves out tests whose requirements the others satisfy, those with the fewest first.
pub(super) fn without_needless(kernel: &Kernel, open: &Open, mut cover: Vec<u32>) -> Vec<u32> {
    let mut times = vec![0u32; kernel.columns.len()];
    cover.iter().flat_map(|&test| &kernel.rows[test as usize]).for_each(|&r| times[r as usize] += 1);
    cover.sort_by_key(|&test| (kernel.rows[test as usize].len(), test));
    cover.retain(|&test| {
        let row = &kernel.rows[test as usize];
        let is_needed = row.iter().any(|&r| open.requirements[r as usize] && times[r as usize] == 1);
        if !is_needed {
            row.iter().for_each(|&r| times[r as usize] -= 1);
        }
        is_needed
    });
    cover
}
