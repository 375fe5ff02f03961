//! The documented schema of histories. Other programs read and write these files, so that a change here is a new
//! format.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

use super::row::PreSubmit;
use crate::label::Outcome;

/// In the metadata of every Parquet file, under this key: what it is, with a version.
pub const FORMAT_KEY: &str = "fewer.format";
pub const EXECUTIONS_FORMAT: &str = "fewer-executions/1";
pub const MODIFIED_FILES_FORMAT: &str = "fewer-modified-files/1";

pub const EXECUTIONS: &str = "executions.parquet";
pub const MODIFIED_FILES: &str = "modified_files.parquet";

/// The place of the commit in the history: 0, 1, ... in the order of time. It breaks ties between equal times.
pub const POSITION: &str = "position";
pub const COMMIT: &str = "commit";
pub const TIME: &str = "time";
pub const AUTHOR: &str = "author";
pub const TARGET: &str = "target";
/// `pass`, `fail` or `not-run`.
pub const RESULT: &str = "result";
pub const DURATION: &str = "duration_s";
/// `skipped`, `no-transition`, `not-affected`, `transition` or `unknown`.
pub const PRE_SUBMIT: &str = "pre_submit";
/// Of what the target could reach, where this tool recorded it: equal ones have equal results unless flaky.
pub const FINGERPRINT: &str = "fingerprint";
pub const PATH: &str = "path";

/// Of `executions.parquet`. Rows are in the order of positions.
pub fn executions() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new(POSITION, DataType::Int32, false),
        Field::new(COMMIT, words(), false),
        Field::new(TIME, time(), false),
        Field::new(AUTHOR, words(), true),
        Field::new(TARGET, words(), false),
        Field::new(RESULT, words(), false),
        Field::new(DURATION, DataType::Float64, true),
        Field::new(PRE_SUBMIT, words(), false),
        Field::new(FINGERPRINT, words(), true),
    ]))
}

/// Of `modified_files.parquet`.
pub fn modified_files() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new(POSITION, DataType::Int32, false),
        Field::new(COMMIT, words(), false),
        Field::new(PATH, DataType::Utf8, false),
    ]))
}

pub fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// Text that repeats; in Parquet just text.
pub fn words() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// What a word in a column of results means; nothing there is not run.
pub fn outcome(word: Option<&str>) -> Result<Outcome, String> {
    let Some(word) = word else { return Ok(Outcome::NotRun) };
    Outcome::ALL
        .into_iter()
        .find(|outcome| outcome.word() == word)
        .ok_or_else(|| format!("'{word}' is no result; 'pass', 'fail' and 'not-run' are"))
}

/// What a word in a column of states before the commit means; nothing there is unknown.
pub fn pre_submit(word: Option<&str>) -> Result<PreSubmit, String> {
    let Some(word) = word else { return Ok(PreSubmit::Unknown) };
    PreSubmit::ALL.into_iter().find(|state| state.word() == word).ok_or_else(|| {
        let words = PreSubmit::ALL.map(|state| format!("'{}'", state.word())).join(", ");
        format!("'{word}' is no state before the commit; those known are {words}")
    })
}
