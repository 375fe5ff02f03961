//! Writing the cleaned history: the rows that are left, in their order, with results that are not trusted taken out.

use std::fs;

use super::{Cleaned, REPORT, report};
use crate::engine::{Stage, Watch};
use crate::error::LabError;
use crate::label::Outcome;
use crate::records::{ExecutionBatch, History, HistoryWriter, schema};

/// How many rows were written.
pub fn rewrite(
    history: &History,
    mut writer: HistoryWriter,
    cleaned: &Cleaned,
    most_transitions: u32,
    watch: &dyn Watch,
) -> Result<u64, LabError> {
    let executions = &history.executions;
    watch.begin(Stage::Rewrite, executions.rows());
    let columns = ExecutionBatch::columns(executions);
    for piece in executions.pieces(1 << 20) {
        let mut number = piece.first_row;
        for batch in executions.batches(&piece, &columns)? {
            watch.go_on()?;
            let batch = batch?;
            let rows = ExecutionBatch::of(&batch);
            for row in 0..batch.num_rows() {
                let number = number + row as u64;
                if cleaned.dropped.contains(number) {
                    continue;
                }
                let bad = |problem| LabError::bad_row(&executions.path, number + 1, problem);
                let mut execution = rows.get(row).map_err(bad)?;
                if cleaned.forgotten.contains(number) {
                    execution.outcome = Outcome::NotRun;
                }
                writer.push(&execution)?;
            }
            number += batch.num_rows() as u64;
            watch.advance(batch.num_rows() as u64);
        }
    }
    if let Some(files) = history.modified_files() {
        let copy = writer.path().join(schema::MODIFIED_FILES);
        fs::copy(&files, &copy).map_err(LabError::io("copy", &files))?;
    }
    let rows = writer.rows();
    let path = writer.path().join(REPORT);
    let report = report(history, rows, cleaned, most_transitions);
    let text = serde_json::to_vec_pretty(&report).expect("a report is plain data");
    fs::write(&path, text).map_err(LabError::io("write", &path))?;
    writer.finish()?;
    Ok(rows)
}
