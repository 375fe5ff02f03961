//! What a report is made from: plain values, gathered by the command.

use std::collections::BTreeMap;
use std::fmt;

use fewer_core::{ElementChange, Plan, PlannedTest, RecordedOutcome, TestId, Verdict};
use serde::Serialize;

/// What decided about the tests.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StrategyView {
    /// Example: `s-star`.
    pub name: &'static str,
    /// Why this one, in words.
    pub because: String,
}

impl fmt::Display for StrategyView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "strategy {}: {}", self.name, self.because)
    }
}

/// In which order selected tests came, and which of them were left out for that.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RankingView {
    /// Example: `author-count`.
    pub algorithm: &'static str,
    pub window_h: Option<u32>,
    pub milestone_h: Option<u32>,
    /// Why this one, in words.
    pub because: String,
    /// Every selected test, the one most likely to change first.
    pub order: Vec<TestId>,
    /// The end of it: tests that may have changed and were not run.
    pub left_out: Vec<TestId>,
}

/// A finished (or interrupted) run.
pub struct RunView<'a> {
    pub plan: &'a Plan,
    pub strategy: &'a StrategyView,
    /// Where tests were ranked.
    pub ranking: Option<&'a RankingView>,
    /// The tests that have an outcome of this run.
    pub results: &'a BTreeMap<TestId, ResultView>,
    pub process_failures: &'a [ProcessFailureView],
    pub notes: &'a [String],
    pub timings: &'a [Phase],
    pub counts: Counts,
    /// Wall-clock seconds of the whole command.
    pub spent_s: f64,
    pub saved: SavedView,
    pub interrupted: bool,
}

/// What a run saved and cost, in seconds.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct SavedView {
    /// What the reused tests took when they ran.
    pub gross_s: f64,
    /// What fewer took besides building and running tests.
    pub own_s: f64,
    /// What documentation tests took, which always run.
    pub documentation_s: f64,
}

impl SavedView {
    /// Less than nothing where it would have been faster to run everything.
    pub fn net_s(&self) -> f64 {
        self.gross_s - self.own_s
    }
}

/// The outcome of one test of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct ResultView {
    pub verdict: Verdict,
    pub duration_s: f64,
    pub output_tail: String,
    /// The first failure message, or why it crashed or was skipped.
    pub message: Option<String>,
    /// What the test is made of, where it is not one piece: the methods of a test class.
    pub cases: Vec<CaseView>,
}

/// One method of a test class.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseView {
    pub class: String,
    pub name: String,
    pub verdict: Verdict,
    pub duration_s: f64,
    pub message: Option<String>,
    pub detail: String,
}

/// A process that failed although no test of it can be blamed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProcessFailureView {
    pub target: String,
    pub tests: Vec<TestId>,
    pub explanation: String,
    pub output_tail: String,
}

/// How many tests there are of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Counts {
    pub total: usize,
    /// Decided to run.
    pub run: usize,
    pub reuse: usize,
    pub left_out: usize,
    pub passed: usize,
    /// Failed, crashed or timed out.
    pub failed: usize,
    pub skipped: usize,
    /// Decided to run, and kept from it by the build's own rules.
    pub excluded: usize,
    pub inconclusive: usize,
}

/// One named part of the work.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Phase {
    pub phase: String,
    pub seconds: f64,
}

/// Why one test runs, is reused or is left out.
pub struct WhyView<'a> {
    pub test: &'a PlannedTest,
    /// Elements from the test to the nearest change.
    pub path: &'a [String],
    pub changed: &'a [ElementChange],
    /// How many changes are not listed.
    pub changed_left_out: usize,
    pub reused_from: Option<&'a RecordedOutcome>,
    /// What it printed when it last ran with this content, where that was a failure.
    pub last_output: Option<&'a str>,
}

/// Which tests a change would select.
pub struct AffectedView<'a> {
    pub inputs: &'a [InputView],
    pub tests: &'a [TestId],
    pub notes: &'a [String],
}

/// A path or element that was asked about.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct InputView {
    pub input: String,
    pub kind: InputKind,
    /// The objects that are made from it.
    pub objects: Vec<String>,
    /// How many elements of the graph stand for it.
    pub elements: usize,
}

/// What an input was taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputKind {
    /// A file that objects are compiled from.
    Source,
    /// A file that tests may read.
    Data,
    /// A function, variable or other element.
    Element,
    Unknown,
}
