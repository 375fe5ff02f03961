//! The parts of the benchmark; `main.rs` joins them. Nothing here is used by fewer itself.

pub mod analysis;
pub mod bitcode;
pub mod builder;
pub mod cache;
pub mod edit;
pub mod example;
pub mod fingerprints;
pub mod flags;
pub mod generate;
pub mod history;
pub mod java;
pub mod link;
pub mod measure;
pub mod random;
pub mod reduction;
pub mod report;
pub mod simulate;

// Pieces of the analysis' tests: what listed tests mean, and the mutants of the mutation gate.
#[path = "../../crates/fewer-objects/tests/listed/mod.rs"]
mod listed;
#[path = "../../crates/fewer-objects/tests/mutation/mutants.rs"]
mod mutants;
#[path = "../../crates/fewer-objects/tests/mutation/tokens.rs"]
mod tokens;
