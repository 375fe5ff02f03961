//! The selection algorithms that are compared, and which of them with which windows one experiment runs. How a
//! score comes about is told in `scores`.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// The windows of the published study, in hours.
pub const WINDOWS: [Hours; 8] =
    [Hours(1), Hours(2), Hours(4), Hours(8), Hours(12), Hours(24), Hours(48), Hours(96)];

const MICROSECONDS: i64 = 3_600_000_000;

/// A length of time.
///
/// Example: `Hours(4)`, written `4h`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct Hours(pub u32);

impl Hours {
    pub fn microseconds(self) -> i64 {
        i64::from(self.0) * MICROSECONDS
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}h", self.0)
    }
}

/// How the affected targets of a commit are ranked. Those with the lowest scores are skipped first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Any order.
    Random,
    /// Safe ones first, then maybe-unsafe ones, then unsafe ones: the best that knowing the answer can do.
    Optimal,
    /// The reverse: the worst.
    Pessimal,
    /// Transitions seen at milestones within the window.
    TransitionCount,
    /// Commits that affected the target within the window.
    AffectedCount,
    /// Distinct authors of these commits.
    AuthorCount,
    /// What testing before the commit said.
    PreSubmit,
    /// Directories shared with the modified files.
    SharedDirectories,
}

impl Algorithm {
    pub const ALL: [Algorithm; 8] = [
        Algorithm::Random,
        Algorithm::Optimal,
        Algorithm::Pessimal,
        Algorithm::TransitionCount,
        Algorithm::AffectedCount,
        Algorithm::AuthorCount,
        Algorithm::PreSubmit,
        Algorithm::SharedDirectories,
    ];

    /// As on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Algorithm::Random => "random",
            Algorithm::Optimal => "optimal",
            Algorithm::Pessimal => "pessimal",
            Algorithm::TransitionCount => "transition-count",
            Algorithm::AffectedCount => "affected-count",
            Algorithm::AuthorCount => "author-count",
            Algorithm::PreSubmit => "pre-submit",
            Algorithm::SharedDirectories => "shared-directories",
        }
    }

    /// Needs no score: the labels alone tell its order.
    pub fn is_baseline(self) -> bool {
        match self {
            Algorithm::Random | Algorithm::Optimal | Algorithm::Pessimal => true,
            Algorithm::TransitionCount
            | Algorithm::AffectedCount
            | Algorithm::AuthorCount
            | Algorithm::PreSubmit
            | Algorithm::SharedDirectories => false,
        }
    }

    fn has_window(self) -> bool {
        match self {
            Algorithm::TransitionCount | Algorithm::AffectedCount | Algorithm::AuthorCount => true,
            Algorithm::Random
            | Algorithm::Optimal
            | Algorithm::Pessimal
            | Algorithm::PreSubmit
            | Algorithm::SharedDirectories => false,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(word: &str) -> Result<Algorithm, String> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.word() == word)
            .ok_or_else(|| format!("'{word}' is no algorithm"))
    }
}

/// An algorithm with its windows.
///
/// Example: `transition-count/48h/1h`: transitions of the last 48 hours, at milestones every hour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct Configuration {
    pub algorithm: Algorithm,
    pub window: Option<Hours>,
    pub milestone: Option<Hours>,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm.word())?;
        for hours in [self.window, self.milestone].into_iter().flatten() {
            write!(f, "/{hours}")?;
        }
        Ok(())
    }
}

impl FromStr for Configuration {
    type Err = String;

    fn from_str(text: &str) -> Result<Configuration, String> {
        let mut parts = text.split('/');
        let algorithm: Algorithm = parts.next().unwrap_or_default().parse()?;
        let mut hours = || {
            parts.next().map(|part| {
                let number = part.strip_suffix('h').and_then(|number| number.parse().ok());
                number.map(Hours).ok_or_else(|| format!("'{part}' in '{text}' is no number of hours"))
            })
        };
        let (window, milestone) = (hours().transpose()?, hours().transpose()?);
        let configuration = Configuration { algorithm, window, milestone };
        let is_whole = window.is_some() == algorithm.has_window()
            && milestone.is_some() == (algorithm == Algorithm::TransitionCount);
        match (is_whole, hours()) {
            (true, None) => Ok(configuration),
            (true, Some(_)) | (false, _) => Err(format!("'{text}' has too few or too many windows")),
        }
    }
}

/// What is run: every algorithm with every window that it knows. The baselines are always part of it, as the
/// others are measured against them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Experiment {
    pub algorithms: Vec<Algorithm>,
    pub windows: Vec<Hours>,
    pub milestones: Vec<Hours>,
    /// Draw one order among equal scores instead of the exact expectation over all.
    pub sample: Option<u64>,
}

impl Default for Experiment {
    fn default() -> Experiment {
        Experiment {
            algorithms: Algorithm::ALL.to_vec(),
            windows: WINDOWS.to_vec(),
            milestones: WINDOWS.to_vec(),
            sample: None,
        }
    }
}

impl Experiment {
    /// In a fixed order, baselines first.
    pub fn configurations(&self) -> Vec<Configuration> {
        let mut configurations = Vec::new();
        for algorithm in Algorithm::ALL {
            if !algorithm.is_baseline() && !self.algorithms.contains(&algorithm) {
                continue;
            }
            let has_milestone = algorithm == Algorithm::TransitionCount;
            for milestone in options(&self.milestones, has_milestone) {
                for window in options(&self.windows, algorithm.has_window()) {
                    configurations.push(Configuration { algorithm, window, milestone });
                }
            }
        }
        configurations
    }

    /// Those that need a column of scores.
    pub fn scored(&self) -> Vec<Configuration> {
        self.configurations().into_iter().filter(|one| !one.algorithm.is_baseline()).collect()
    }
}

/// Each of the lengths, sorted and once; or none where the algorithm knows none.
fn options(lengths: &[Hours], are_known: bool) -> Vec<Option<Hours>> {
    if !are_known {
        return vec![None];
    }
    let mut lengths: Vec<Option<Hours>> = lengths.iter().copied().map(Some).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_read_as_it_is_written() {
        for configuration in Experiment::default().configurations() {
            assert_eq!(configuration.to_string().parse(), Ok(configuration));
        }
        for wrong in
            ["affected-count", "random/4h", "transition-count/4h", "author-count/4", "author-count/4h/1h/2h"]
        {
            assert!(wrong.parse::<Configuration>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_whole_study_has_every_algorithm_with_every_window() {
        let count = |algorithm| {
            Experiment::default().configurations().iter().filter(|one| one.algorithm == algorithm).count()
        };
        assert_eq!(Algorithm::ALL.map(count), [1, 1, 1, 64, 8, 8, 1, 1]);
    }

    #[test]
    fn baselines_stay_when_the_rest_is_restricted() {
        let experiment = Experiment {
            algorithms: vec![Algorithm::AuthorCount],
            windows: vec![Hours(8), Hours(4), Hours(4)],
            ..Experiment::default()
        };
        let names: Vec<String> = experiment.configurations().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["random", "optimal", "pessimal", "author-count/4h", "author-count/8h"]);
    }
}
