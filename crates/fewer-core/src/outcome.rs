//! What happened when a test ran. How it is run and where outcomes are kept is told elsewhere.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// The variable of the environment with the secret that vouches for records, for caches that several machines share. The
/// store reads it, and nothing that is started for a project is told it.
pub const KEY_VARIABLE: &str = "FEWER_KEY";

/// The result of one execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Passed,
    Failed,
    /// The test killed its process.
    Crashed,
    TimedOut,
    /// The test itself decided not to run (`GTEST_SKIP`).
    Skipped,
    /// The framework's own rules (patterns, groups) kept it from running.
    Excluded,
    /// The test was started or due, but what became of it is not known: interrupted, or its process failed
    /// after the tests had passed.
    Inconclusive,
}

impl Verdict {
    pub const ALL: [Verdict; 7] = [
        Verdict::Passed,
        Verdict::Failed,
        Verdict::Crashed,
        Verdict::TimedOut,
        Verdict::Skipped,
        Verdict::Excluded,
        Verdict::Inconclusive,
    ];

    /// Failed in whatever way.
    pub fn is_failure(self) -> bool {
        match self {
            Verdict::Failed | Verdict::Crashed | Verdict::TimedOut => true,
            Verdict::Passed | Verdict::Skipped | Verdict::Excluded | Verdict::Inconclusive => false,
        }
    }

    /// Whether the test passed, where the verdict tells.
    pub fn passed(self) -> Option<bool> {
        match self {
            Verdict::Passed => Some(true),
            Verdict::Failed | Verdict::Crashed | Verdict::TimedOut => Some(false),
            Verdict::Skipped | Verdict::Excluded | Verdict::Inconclusive => None,
        }
    }

    /// The word used in JSON, in the store and in messages.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Crashed => "crashed",
            Verdict::TimedOut => "timed-out",
            Verdict::Skipped => "skipped",
            Verdict::Excluded => "excluded",
            Verdict::Inconclusive => "inconclusive",
        }
    }

    /// The inverse of [`Verdict::word`].
    pub fn from_word(word: &str) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.word() == word)
    }
}

/// One execution of one test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub verdict: Verdict,
    pub duration_s: f64,
    /// The last part of what the test printed, and the failure message.
    pub output_tail: String,
}

/// An outcome as the store remembers it: what, under which fingerprint, and where it was seen.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecordedOutcome {
    pub verdict: Verdict,
    pub duration_s: f64,
    pub fingerprint: Digest,
    /// The commit that was checked out, if the project is in git. A changed working tree is said in `dirty`.
    pub commit: Option<String>,
    pub dirty: bool,
    /// When it was recorded. Example: `2026-11-15T20:15:04Z`.
    pub at: String,
    /// The machine it ran on, by host name.
    pub machine: String,
    /// How many recorded states lie between this one and the newest: 0 is the newest.
    pub states_ago: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_round_trips_through_its_word() {
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::from_word(verdict.word()), Some(verdict));
            assert_eq!(serde_word(verdict), verdict.word());
        }
        assert_eq!(Verdict::from_word("green"), None);
    }

    fn serde_word(verdict: Verdict) -> String {
        use serde::de::IntoDeserializer;
        let word: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
            verdict.word().into_deserializer();
        Verdict::deserialize(word).expect("the word is known to serde").word().to_string()
    }
}
