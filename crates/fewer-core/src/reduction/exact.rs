//! The smallest reduced suite: integer programming by branch and bound, with what is plain decided before and the
//! Lagrangian relaxation as the bound. Where the time is not enough it says how far from the smallest it can be.

use fixedbitset::FixedBitSet;

use super::greedy::greedy;
use super::kernel::{Kernel, kernel};
use super::lagrange::{Open, Relaxation, first_prices, relax};
use super::suite::Suite;

const STEPS_AT_THE_ROOT: u32 = 400;
const STEPS_AT_A_NODE: u32 = 30;
/// Bounds are sums of rounded numbers.
const ROUNDING: f64 = 1e-6;

/// A reduced suite and how small it could be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exact {
    pub tests: Vec<usize>,
    /// No reduced suite has fewer tests.
    pub lower_bound: usize,
}

impl Exact {
    /// Whether it is known to be the smallest.
    pub fn is_smallest(&self) -> bool {
        self.lower_bound == self.tests.len()
    }

    /// By how much of its size the suite can be larger than the smallest one, in percent.
    pub fn gap_percent(&self) -> f64 {
        match self.tests.len() {
            0 => 0.0,
            size => 100.0 * (size - self.lower_bound) as f64 / size as f64,
        }
    }
}

/// Searches as long as `go_on` says so. Never larger than what [`greedy`] finds.
pub fn exact(suite: &Suite, go_on: &mut dyn FnMut() -> bool) -> Exact {
    let by_greedy = greedy(suite);
    let (mut tests, rest) = kernel(&suite.matrix, &suite.ranks(), go_on);
    let mut lower_bound = tests.len();
    for part in rest.components() {
        let mut search = Search { kernel: &part, best: None, go_on, stopped: false };
        lower_bound += search.solve();
        let best = search.best.unwrap_or_default();
        tests.extend(best.into_iter().map(|test| part.tests[test as usize]));
    }
    if by_greedy.len() <= tests.len() {
        tests = by_greedy;
    }
    Exact { tests, lower_bound }
}

/// The search for the smallest cover of one part.
struct Search<'s> {
    kernel: &'s Kernel,
    best: Option<Vec<u32>>,
    go_on: &'s mut dyn FnMut() -> bool,
    stopped: bool,
}

impl Search<'_> {
    /// Leaves the best cover in `best` and returns the bound on its size.
    fn solve(&mut self) -> usize {
        let mut open =
            Open { allowed: full(self.kernel.tests.len()), requirements: full(self.kernel.columns.len()) };
        let prices = first_prices(self.kernel);
        let root = relax(self.kernel, &open, &prices, self.kernel.tests.len(), STEPS_AT_THE_ROOT);
        self.offer(root.cover.clone().unwrap_or_default());
        let bound = rounded_up(root.bound);
        if bound < self.size() {
            self.forbid_dear(&mut open, &root, 0);
            self.branch(open, &mut Vec::new(), &root);
        }
        if self.stopped { bound.min(self.size()) } else { self.size() }
    }

    fn size(&self) -> usize {
        self.best.as_ref().map_or(usize::MAX, Vec::len)
    }

    fn offer(&mut self, cover: Vec<u32>) {
        if cover.len() < self.size() {
            self.best = Some(cover);
        }
    }

    /// A test that would make every cover with it too large is not needed for a smaller one than the best.
    fn forbid_dear(&self, open: &mut Open, relaxation: &Relaxation, taken: usize) {
        let limit = self.size() as f64 - 1.0 - taken as f64 - relaxation.bound + ROUNDING;
        let dear: Vec<usize> =
            open.allowed.ones().filter(|&test| relaxation.reduced_costs[test] > limit.max(0.0)).collect();
        dear.into_iter().for_each(|test| open.allowed.set(test, false));
    }

    /// Takes the tests of the open requirement with the fewest, one after the other; each is forbidden once
    /// everything with it has been seen.
    fn branch(&mut self, mut open: Open, taken: &mut Vec<u32>, above: &Relaxation) {
        self.stopped |= !(self.go_on)();
        if self.stopped || taken.len() + 1 >= self.size() {
            return;
        }
        let Some(mut tests) = self.tests_of_scarcest(&open) else { return };
        let cost = |test: u32| above.reduced_costs[test as usize];
        tests.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b)));
        for test in tests {
            let mut rest = open.clone();
            rest.allowed.set(test as usize, false);
            self.kernel.rows[test as usize].iter().for_each(|&r| rest.requirements.set(r as usize, false));
            taken.push(test);
            self.descend(rest, taken, above);
            taken.pop();
            open.allowed.set(test as usize, false);
        }
    }

    /// Looks into what can be reached with the tests taken so far.
    fn descend(&mut self, mut open: Open, taken: &mut Vec<u32>, above: &Relaxation) {
        if open.requirements.is_clear() {
            return self.offer(taken.clone());
        }
        if self.has_hopeless(&open) {
            return;
        }
        let upper = self.size().saturating_sub(taken.len());
        let here = relax(self.kernel, &open, &above.prices, upper, STEPS_AT_A_NODE);
        if let Some(cover) = &here.cover {
            self.offer(taken.iter().chain(cover).copied().collect());
        }
        if taken.len() + rounded_up(here.bound) < self.size() {
            self.forbid_dear(&mut open, &here, taken.len());
            self.branch(open, taken, &here);
        }
    }

    fn allowed_tests(&self, open: &Open, requirement: usize) -> impl Iterator<Item = u32> {
        self.kernel.columns[requirement].iter().copied().filter(|&test| open.allowed[test as usize])
    }

    fn has_hopeless(&self, open: &Open) -> bool {
        open.requirements.ones().any(|requirement| self.allowed_tests(open, requirement).next().is_none())
    }

    fn tests_of_scarcest(&self, open: &Open) -> Option<Vec<u32>> {
        let scarcest = open
            .requirements
            .ones()
            .min_by_key(|&requirement| self.allowed_tests(open, requirement).count())?;
        Some(self.allowed_tests(open, scarcest).collect())
    }
}

fn full(length: usize) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(length);
    set.insert_range(..);
    set
}

fn rounded_up(bound: f64) -> usize {
    (bound - ROUNDING).ceil().max(0.0) as usize
}
