//! Selection over a history of commits: the shape of the history, and the strategies that choose tests at a
//! merge, a cherry-pick or a revert. Where commits and records come from is the business of others.

pub mod chooser;
pub mod commit_graph;
pub mod diamonds;
mod element_table;
pub mod experiments;
pub mod graph_merge;
pub mod predict;
pub mod recorded_graph;
pub mod records;
pub mod strategies;
pub mod units;

pub use chooser::{Choice, ChoiceReason, ChooserLimits};
pub use commit_graph::{CommitGraph, CommitGraphBuilder, CommitIndex, Dominators};
pub use graph_merge::merge_graphs;
pub use predict::{
    GraphSource, PredictedCause, Prediction, Unpredictable, cherry_pick_of_commit, merge_of_commits, predict,
    revert_of_commit,
};
pub use recorded_graph::{RecordedGraph, Standing, TestDoubt, UnknownCause};
pub use records::{History, Records};
pub use strategies::{Answer, Cause, Evidence, Safety, Selection, Strategy, s_star};
pub use units::{ChangedPaths, Inputs, PathIndex, Unit, UnitIndex, Units, UnitsBuilder};
