//! Records of a CI history: their schema, files and words. A history is a directory with `executions.parquet` (one
//! row per execution of an affected target at a commit) and, where known, `modified_files.parquet`.

mod batch;
mod history;
mod row;
pub mod schema;
mod staging;
mod strings;
mod writer;

pub(crate) use batch::ExecutionBatch;
pub(crate) use history::absolute;
pub use history::{ExecutionsFile, History, Piece, modified_files};
pub(crate) use row::merge_rerun;
pub use row::{PackedRow, PreSubmit, RowState};
pub use staging::Staging;
pub(crate) use strings::{Codes, Strings, integers, microseconds};
pub use writer::{Execution, HistoryWriter};
pub(crate) use writer::{open_writer, record_properties};
