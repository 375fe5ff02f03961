//! Progress and interruption, from inside an engine to whoever started it.

use serde::{Deserialize, Serialize};

use crate::error::LabError;

/// A part of the work that is done as a whole and not again when a run is resumed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Generate,
    Import,
    /// Rows are brought to the shard of their target.
    Shard,
    /// Targets are cleaned.
    Clean,
    /// The cleaned history is written.
    Rewrite,
    Label,
    Score,
    /// Commits are evaluated.
    Evaluate,
    /// Labels are written.
    Export,
}

impl Stage {
    pub fn word(self) -> &'static str {
        match self {
            Stage::Generate => "generate",
            Stage::Import => "import",
            Stage::Shard => "shard",
            Stage::Clean => "clean",
            Stage::Rewrite => "rewrite",
            Stage::Label => "label",
            Stage::Score => "score",
            Stage::Evaluate => "evaluate",
            Stage::Export => "export",
        }
    }
}

/// Looks on while an engine works, from several threads.
pub trait Watch: Sync {
    /// A stage begins. `total` is how many rows it works on; 0 where that is not known.
    fn begin(&self, stage: Stage, total: u64);

    /// A stage is taken over from an earlier run.
    fn resumed(&self, stage: Stage);

    /// So many rows more are done.
    fn advance(&self, rows: u64);

    fn is_cancelled(&self) -> bool;

    /// An error when the user wants to stop.
    fn go_on(&self) -> Result<(), LabError> {
        if self.is_cancelled() { Err(LabError::Interrupted) } else { Ok(()) }
    }
}

/// Nobody looks on.
pub struct Ignored;

impl Watch for Ignored {
    fn begin(&self, _: Stage, _: u64) {}

    fn resumed(&self, _: Stage) {}

    fn advance(&self, _: u64) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}
