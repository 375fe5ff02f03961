//! The pure heart of fewer: a test is a function of what it can reach; hash what it can reach; run it only
//! when that hash is new.
//!
//! Owns elements, graphs, fingerprints, plans and explanations. It knows no file, process, clock or terminal;
//! analysers make graphs, the store remembers outcomes, and the command joins them.

pub mod digest;
pub mod explain;
pub mod fingerprint;
pub mod graph;
pub mod history;
pub mod lazy;
pub mod outcome;
pub mod plan;
pub mod ranking;
pub mod reduction;
pub mod selection;
pub mod test_id;
pub mod vanished;

pub use digest::{Digest, DigestBuilder, DigestStream, DigestSum, Domain};
pub use explain::{ChangeKind, ChangeMap, ElementChange, Explanation};
pub use fingerprint::{Before, Fingerprints};
pub use graph::{ElementId, Graph, GraphBuilder, Mapping, Referrers, Rows, TestNode};
pub use history::{CommitGraph, CommitGraphBuilder, CommitIndex, Dominators};
pub use lazy::Lazy;
pub use outcome::{KEY_VARIABLE, Outcome, RecordedOutcome, Verdict};
pub use plan::{
    Candidate, Decision, Plan, PlannedTest, Policy, Reason, Scope, StrategyChoice, TestRecord, plan,
};
pub use selection::{Snapshot, tts};
pub use test_id::TestId;
pub use vanished::Vanished;
