//! GoogleTest programs: listing their tests, splitting them into shards, running shards, reading results. Which
//! executables are GoogleTest programs, and which of their tests are worth running, is decided elsewhere.

mod conclusion;
mod confirmation;
mod invocation;
mod list;
mod progress;
mod report;
mod run;
mod shard;

pub use list::{ListError, ListErrorKind, ListedTest, list};
pub use run::Unlisted;
pub use shard::{Division, OwnWay, SelectedTest, Selection, Shard, plan_shards};

pub(crate) use confirmation::{Confirmation, run_own_way};
pub(crate) use run::{Doubtful, run_shard, run_unlisted};
