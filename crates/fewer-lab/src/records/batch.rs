//! Rows of a batch of executions, one at a time, for what goes over whole rows: rewriting and sorting.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, RecordBatch};

use super::history::ExecutionsFile;
use super::schema;
use super::strings::{Strings, integers, microseconds};
use super::writer::Execution;

/// A batch with all columns of its file.
pub struct ExecutionBatch<'b> {
    positions: Vec<i64>,
    times: Vec<i64>,
    commits: Strings<'b>,
    authors: Strings<'b>,
    targets: Strings<'b>,
    results: Strings<'b>,
    states: Strings<'b>,
    durations: Option<&'b Float64Array>,
    fingerprints: Option<Strings<'b>>,
}

impl<'b> ExecutionBatch<'b> {
    /// The columns to read.
    pub fn columns(file: &ExecutionsFile) -> Vec<&'static str> {
        let mut columns = vec![
            schema::POSITION,
            schema::COMMIT,
            schema::TIME,
            schema::AUTHOR,
            schema::TARGET,
            schema::RESULT,
            schema::PRE_SUBMIT,
        ];
        let optional = [schema::DURATION, schema::FINGERPRINT];
        columns.extend(optional.into_iter().filter(|column| file.has(column)));
        columns
    }

    /// Of a file that was opened, and thereby checked.
    pub fn of(batch: &'b RecordBatch) -> ExecutionBatch<'b> {
        let checked = "the columns and their types were checked";
        let column = |name| batch.column_by_name(name);
        let text = |name| Strings::of(column(name).expect(checked)).expect(checked);
        let (mut positions, mut times) = (Vec::new(), Vec::new());
        integers(column(schema::POSITION).expect(checked), &mut positions);
        microseconds(column(schema::TIME).expect(checked), &mut times);
        ExecutionBatch {
            positions,
            times,
            commits: text(schema::COMMIT),
            authors: text(schema::AUTHOR),
            targets: text(schema::TARGET),
            results: text(schema::RESULT),
            states: text(schema::PRE_SUBMIT),
            durations: column(schema::DURATION).and_then(|found| found.as_primitive_opt::<Float64Type>()),
            fingerprints: column(schema::FINGERPRINT).and_then(Strings::of),
        }
    }

    /// A row; what is wrong with it.
    pub fn get(&self, row: usize) -> Result<Execution<'b>, String> {
        Ok(Execution {
            position: self.position(row)?,
            commit: self.commits.get(row).ok_or("it has no commit")?,
            time: self.times[row],
            author: self.authors.get(row),
            target: self.targets.get(row).ok_or("it has no target")?,
            outcome: schema::outcome(self.results.get(row))?,
            duration_s: self.durations.filter(|column| column.is_valid(row)).map(|column| column.value(row)),
            pre_submit: schema::pre_submit(self.states.get(row))?,
            fingerprint: self.fingerprints.as_ref().and_then(|column| column.get(row)),
        })
    }

    pub fn position(&self, row: usize) -> Result<u32, String> {
        let position = self.positions[row];
        u32::try_from(position).map_err(|_| format!("{position} is no position"))
    }
}
