//! What engines share: how they tell of their progress and are stopped, what they count, and what they give back.

pub mod embedded;
pub mod spark;
mod watch;

use serde::{Deserialize, Serialize};

pub use watch::{Ignored, Stage, Watch};

use crate::algorithms::{Configuration, Experiment};
use crate::label::{Label, Outcome};
use crate::tally::Tally;

/// Where the rows of a history went. Every row is accounted for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RowCounts {
    pub rows: u64,
    /// Further executions of a target at the same commit, which are one row with the first.
    pub reruns: u64,
    pub safe: u64,
    pub maybe_unsafe: u64,
    #[serde(rename = "unsafe")]
    pub unsafe_rows: u64,
    /// Excluded: nothing is known of the target before.
    pub no_earlier_result: u64,
    /// Excluded: not run, nor at any later commit.
    pub after_last_result: u64,
}

impl RowCounts {
    pub(crate) fn count(&mut self, label: Label) {
        match label {
            Label::Safe => self.safe += 1,
            Label::MaybeUnsafe => self.maybe_unsafe += 1,
            Label::Unsafe => self.unsafe_rows += 1,
            Label::NoEarlierResult => self.no_earlier_result += 1,
            Label::AfterLastResult => self.after_last_result += 1,
        }
    }

    pub(crate) fn add(&mut self, other: &RowCounts) {
        self.rows += other.rows;
        self.reruns += other.reruns;
        self.safe += other.safe;
        self.maybe_unsafe += other.maybe_unsafe;
        self.unsafe_rows += other.unsafe_rows;
        self.no_earlier_result += other.no_earlier_result;
        self.after_last_result += other.after_last_result;
    }

    /// Rows that take part in the evaluation.
    pub fn labelled(&self) -> u64 {
        self.safe + self.maybe_unsafe + self.unsafe_rows
    }

    /// Rows in = rows labelled + rows excluded, per reason.
    pub fn is_balanced(&self) -> bool {
        self.rows == self.labelled() + self.no_earlier_result + self.after_last_result + self.reruns
    }
}

/// A target whose sequence shows what labels are.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Example {
    pub target: String,
    pub rows: Vec<ExampleRow>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExampleRow {
    pub position: u32,
    pub outcome: Outcome,
    pub label: Label,
}

/// What came out of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulation {
    pub experiment: Experiment,
    /// Commits with at least one row.
    pub commits: u64,
    pub targets: u64,
    pub counts: RowCounts,
    pub example: Example,
    /// In the experiment's order.
    pub tallies: Vec<(Configuration, Tally)>,
}
