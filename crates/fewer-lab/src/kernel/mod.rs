//! The two kernels over Arrow record batches, and over streams of them: what any engine calls, so that all give the
//! same numbers.
//!
//! A: rows sorted by target and position -> labels, and scores of all configurations, or a survey of them. B: rows sorted by position ->
//! tallies. Both take batches of any size; what belongs together may be split over several.

mod commits;
mod ipc;
mod survey;
mod targets;

pub(crate) use commits::Evaluator;
pub use commits::{CommitKernel, TALLY_COLUMNS, tallies};
pub use ipc::pipe;
/// Positions of commits.
pub use roaring::RoaringBitmap as Positions;
pub use survey::Survey;
pub use targets::{TargetKernel, TargetKernelOptions};

use arrow_array::{ArrayRef, RecordBatch};

use crate::error::LabError;

/// A kernel that a stream of batches is piped through.
pub trait Kernel {
    /// The batches that are ready once this one is known.
    fn push(&mut self, batch: &RecordBatch) -> Result<Option<RecordBatch>, LabError>;

    /// What is left when there is no further input.
    fn finish(&mut self) -> Result<RecordBatch, LabError>;
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef, LabError> {
    batch.column_by_name(name).ok_or_else(|| {
        let schema = batch.schema();
        let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        LabError::Kernel(format!("it has no column '{name}', only {}", found.join(", ")))
    })
}

fn wrong_type(batch: &RecordBatch, name: &str, expected: &str) -> LabError {
    let found = batch.column_by_name(name).map(|found| found.data_type().to_string()).unwrap_or_default();
    LabError::Kernel(format!("column '{name}' is {found}, but {expected} is needed"))
}
