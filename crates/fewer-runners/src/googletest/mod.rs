//! GoogleTest programs: listing their tests, splitting them into shards, running shards, reading results. Which
//! executables are GoogleTest programs, and which of their tests are worth running, is decided elsewhere.

mod conclusion;
mod invocation;
mod list;
mod progress;
mod report;
mod run;
mod shard;

pub use list::{ListError, ListErrorKind, ListedTest, list};
pub use shard::{SelectedTest, Selection, Shard, plan_shards};

pub(crate) use run::run_shard;
