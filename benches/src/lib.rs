//! The parts of the benchmark; `main.rs` joins them. Nothing here is used by fewer itself.

pub mod analysis;
pub mod cache;
pub mod fingerprints;
pub mod generate;
pub mod history;
pub mod link;
pub mod measure;
pub mod random;
pub mod report;
