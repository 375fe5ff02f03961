//! Labels for other programs: a Parquet file per shard, with the documented schema.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, StringDictionaryBuilder, TimestampMicrosecondBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use rayon::prelude::*;

use super::commits::Commits;
use super::labelling::LabelledShard;
use super::shards::read_names;
use crate::engine::{Stage, Watch};
use crate::error::LabError;
use crate::records::{ExecutionsFile, PackedRow, Strings, integers, open_writer, record_properties, schema};

pub const LABELS_FORMAT: &str = "fewer-labels/1";
const BATCH: usize = 1 << 16;

/// Of files of labels. Rows are sorted by target and position within a file; a target is in one file.
pub fn labels_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new(schema::POSITION, DataType::Int32, false),
        Field::new(schema::COMMIT, schema::words(), false),
        Field::new(schema::TIME, schema::time(), false),
        Field::new(schema::TARGET, schema::words(), false),
        Field::new(schema::RESULT, schema::words(), false),
        Field::new("label", schema::words(), false),
    ]))
}

/// Writes the labels of every shard into a directory.
pub fn export(
    work: &Path,
    shards: usize,
    executions: &ExecutionsFile,
    commits: &Commits,
    output: &Path,
    watch: &dyn Watch,
) -> Result<(), LabError> {
    watch.begin(Stage::Export, executions.rows());
    let names = commit_names(executions, commits.times.len())?;
    (0..shards).into_par_iter().try_for_each(|shard| {
        watch.go_on()?;
        let labelled = LabelledShard::read(work, shard)?;
        let targets = read_names(work, shard)?;
        let mut sorted: Vec<(&str, &[i64])> =
            labelled.iter().map(|(key, rows)| (targets.get(&key).map_or("", |name| &**name), rows)).collect();
        sorted.sort_unstable_by_key(|(name, _)| *name);
        let path = output.join(format!("part-{shard:04}.parquet"));
        let properties = record_properties(LABELS_FORMAT).build();
        let mut writer = open_writer(&path, &labels_schema(), properties)?;
        let mut columns = Columns::default();
        for (target, rows) in sorted {
            for &row in rows {
                let row = PackedRow(row);
                let position = row.position() as usize;
                columns.push(row, &names[position], commits.times[position], target);
                if columns.rows == BATCH {
                    writer.write(&columns.take()).map_err(LabError::parquet(&path))?;
                    watch.go_on()?;
                }
            }
            watch.advance(rows.len() as u64);
        }
        writer.write(&columns.take()).map_err(LabError::parquet(&path))?;
        writer.close().map_err(LabError::parquet(&path))?;
        Ok(())
    })
}

/// By position.
fn commit_names(executions: &ExecutionsFile, positions: usize) -> Result<Vec<Box<str>>, LabError> {
    let mut names: Vec<Box<str>> = vec![Box::default(); positions];
    let mut numbers = Vec::new();
    for piece in executions.pieces(1 << 20) {
        for batch in executions.batches(&piece, &[schema::POSITION, schema::COMMIT])? {
            let batch = batch?;
            let column = |name| batch.column_by_name(name).expect("the columns were asked for");
            integers(column(schema::POSITION), &mut numbers);
            let commits = Strings::of(column(schema::COMMIT)).expect("the types were checked");
            for (row, &position) in numbers.iter().enumerate() {
                let name = &mut names[position as usize];
                if name.is_empty() {
                    *name = commits.get(row).unwrap_or_default().into();
                }
            }
        }
    }
    Ok(names)
}

type Words = StringDictionaryBuilder<Int32Type>;

#[derive(Default)]
struct Columns {
    rows: usize,
    positions: Int32Builder,
    commits: Words,
    times: TimestampMicrosecondBuilder,
    targets: Words,
    results: Words,
    labels: Words,
}

impl Columns {
    fn push(&mut self, row: PackedRow, commit: &str, time: i64, target: &str) {
        self.rows += 1;
        self.positions.append_value(row.position() as i32);
        self.commits.append_value(commit);
        self.times.append_value(time);
        self.targets.append_value(target);
        self.results.append_value(row.state().outcome().word());
        self.labels.append_value(row.state().label().word());
    }

    fn take(&mut self) -> RecordBatch {
        self.rows = 0;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.positions.finish()),
            Arc::new(self.commits.finish()),
            Arc::new(self.times.finish().with_timezone("UTC")),
            Arc::new(self.targets.finish()),
            Arc::new(self.results.finish()),
            Arc::new(self.labels.finish()),
        ];
        RecordBatch::try_new(labels_schema(), columns).expect("the columns are those of the schema")
    }
}
