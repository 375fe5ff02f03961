//! How would a selection algorithm have done on a CI history? Records of executions in, curves out.
//!
//! The logic is in two pure kernels: one target's rows in time order give labels (`label`) and scores (`scores`); one
//! commit's rows give the exact expectation over all orders of equal scores (`expectation`). Engines bring rows to
//! kernels and add up integers (`tally`), so that all engines agree bit by bit. The crate prints nothing and asks
//! nobody: progress and Ctrl-C go through `Watch`.

mod algorithms;
pub mod clean;
mod curves;
pub mod engine;
mod error;
mod expectation;
mod figures;
pub mod generate;
mod groups;
pub mod import;
pub mod kernel;
mod label;
mod positions;
mod random;
pub mod records;
mod scores;
mod table;
mod tally;

pub use algorithms::{Algorithm, Configuration, Experiment, Hours, WINDOWS};
pub use curves::{Curve, Measure};
pub use error::{BadRow, LabError};
pub use expectation::RATES;
pub use figures::{AlgorithmSummary, Findings};
pub use label::{Label, Outcome, label};
pub use table::{Cell, Column, Table};
pub use tally::{Sums, Tally};
