//! Curves from tallies: the share of commits with a safe, unsafe or maybe-unsafe selection at every skip rate, and
//! what they come to.

use serde::Serialize;

use crate::algorithms::{Algorithm, Configuration};
use crate::engine::Simulation;
use crate::expectation::RATES;
use crate::tally::{Tally, commits};

/// Which selections are counted among which commits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Selections that skip safe targets only, among commits with a transition.
    SafeAll,
    /// Selections that skip an unsafe target, among commits with an unsafe target.
    UnsafeAll,
    /// Selections that skip a maybe-unsafe target, among commits with maybe-unsafe but no unsafe targets.
    MaybeUnsafeAll,
    /// Selections that run any unsafe or maybe-unsafe target, among commits with a transition.
    SafeAny,
    /// Selections that run none, among commits with an unsafe target.
    UnsafeAny,
    /// Selections that run none, among commits with maybe-unsafe but no unsafe targets.
    MaybeUnsafeAny,
}

impl Measure {
    pub const ALL: [Measure; 6] = [
        Measure::SafeAll,
        Measure::UnsafeAll,
        Measure::MaybeUnsafeAll,
        Measure::SafeAny,
        Measure::UnsafeAny,
        Measure::MaybeUnsafeAny,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Measure::SafeAll => "safe-all",
            Measure::UnsafeAll => "unsafe-all",
            Measure::MaybeUnsafeAll => "maybe-unsafe-all",
            Measure::SafeAny => "safe-any",
            Measure::UnsafeAny => "unsafe-any",
            Measure::MaybeUnsafeAny => "maybe-unsafe-any",
        }
    }

    /// Whether a higher curve is better.
    pub fn is_higher_better(self) -> bool {
        match self {
            Measure::SafeAll | Measure::SafeAny => true,
            Measure::UnsafeAll | Measure::MaybeUnsafeAll | Measure::UnsafeAny | Measure::MaybeUnsafeAny => {
                false
            }
        }
    }

    /// At every skip rate; `None` where there is no commit to count among.
    pub fn curve(self, tally: &Tally) -> Option<Curve> {
        let (unsafe_commits, maybe_commits) = (tally.unsafe_commits as f64, tally.maybe_commits as f64);
        let all = unsafe_commits + maybe_commits;
        let among = match self {
            Measure::SafeAll | Measure::SafeAny => all,
            Measure::UnsafeAll | Measure::UnsafeAny => unsafe_commits,
            Measure::MaybeUnsafeAll | Measure::MaybeUnsafeAny => maybe_commits,
        };
        if among == 0.0 {
            return None;
        }
        let shares = tally.sums.iter().map(|sums| {
            let counted = match self {
                Measure::SafeAll => commits(sums.safe_at_unsafe) + commits(sums.safe_at_maybe),
                Measure::UnsafeAll => commits(sums.unsafe_skipped),
                Measure::MaybeUnsafeAll => maybe_commits - commits(sums.safe_at_maybe),
                Measure::SafeAny => {
                    all - commits(sums.all_skipped_at_unsafe) - commits(sums.all_skipped_at_maybe)
                }
                Measure::UnsafeAny => commits(sums.all_skipped_at_unsafe),
                Measure::MaybeUnsafeAny => commits(sums.all_skipped_at_maybe),
            };
            counted / among
        });
        Some(Curve(shares.collect()))
    }
}

/// A share of commits per skip rate of 0 to 100 %.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(transparent)]
pub struct Curve(pub Vec<f64>);

impl Curve {
    /// Under the curve, as a share of the whole: 1 is a curve at 100 % throughout.
    pub fn area(&self) -> f64 {
        let trapezes = self.0.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        trapezes.sum::<f64>() / (RATES - 1) as f64
    }

    pub fn at(&self, rate: usize) -> f64 {
        self.0[rate]
    }
}

impl Simulation {
    pub fn tally(&self, configuration: &Configuration) -> Option<&Tally> {
        self.tallies.iter().find(|(other, _)| other == configuration).map(|(_, tally)| tally)
    }

    pub fn curve(&self, configuration: &Configuration, measure: Measure) -> Option<Curve> {
        measure.curve(self.tally(configuration)?)
    }

    /// The windows with which an algorithm does best by the area under the curve; the shortest ones where several do.
    pub fn best(&self, algorithm: Algorithm, measure: Measure) -> Option<Configuration> {
        let mut best: Option<(f64, Configuration)> = None;
        for (configuration, tally) in self.tallies.iter().filter(|(one, _)| one.algorithm == algorithm) {
            let Some(curve) = measure.curve(tally) else { continue };
            let goodness = if measure.is_higher_better() { curve.area() } else { -curve.area() };
            if best.is_none_or(|(other, _)| goodness > other) {
                best = Some((goodness, *configuration));
            }
        }
        best.map(|(_, configuration)| configuration)
    }

    /// Whether an algorithm orders targets just as chance does, whatever its windows: what it looks at tells nothing here.
    /// False where there is nothing to compare.
    pub fn is_random(&self, algorithm: Algorithm) -> bool {
        let of = |algorithm| self.tallies.iter().filter(move |(one, _)| one.algorithm == algorithm);
        let Some((_, random)) = of(Algorithm::Random).next() else { return false };
        random.unsafe_commits + random.maybe_commits > 0
            && of(algorithm).next().is_some()
            && of(algorithm).all(|(_, tally)| tally == random)
    }

    /// The algorithms of the experiment, baselines first.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        Algorithm::ALL
            .into_iter()
            .filter(|algorithm| self.tallies.iter().any(|(one, _)| one.algorithm == *algorithm))
            .collect()
    }
}
