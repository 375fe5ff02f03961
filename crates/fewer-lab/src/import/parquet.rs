//! Parquet files of other programs, with the same mapping as CSV.

use std::path::{Path, PathBuf};

use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::cells::Cells;
use super::files_of;
use super::intake::{Intake, IntakeRow};
use super::mapping::{Field, Mapping, Places};
use crate::engine::Watch;
use crate::error::LabError;

/// Takes files in, one after the other; a directory stands for the `.parquet` files in it.
pub fn import_parquet(
    inputs: &[PathBuf],
    mapping: &Mapping,
    intake: &mut Intake<'_>,
    watch: &dyn Watch,
) -> Result<(), LabError> {
    for path in files_of(inputs, "parquet")? {
        let file = fewer_files::open(&path).map_err(LabError::io("read", &path))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(LabError::parquet(&path))?;
        let schema = builder.schema().clone();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let places = mapping.places(&path, &names)?;
        let reader = builder.with_batch_size(1 << 14).build().map_err(LabError::parquet(&path))?;
        let mut first = 1;
        for batch in reader {
            watch.go_on()?;
            let batch = batch.map_err(|error| LabError::parquet(&path)(error.into()))?;
            import_batch(&path, first, &batch, &places, mapping, intake)?;
            first += batch.num_rows() as u64;
            watch.advance(batch.num_rows() as u64);
        }
    }
    Ok(())
}

fn import_batch(
    path: &Path,
    first: u64,
    batch: &RecordBatch,
    places: &Places,
    mapping: &Mapping,
    intake: &mut Intake<'_>,
) -> Result<(), LabError> {
    let cells = |field: Field| {
        let Some(place) = places.of(field) else { return Ok(Cells::Absent) };
        Cells::of(batch.column(place)).ok_or_else(|| LabError::WrongType {
            path: path.to_path_buf(),
            column: batch.schema().field(place).name().clone(),
            found: batch.column(place).data_type().to_string(),
            expected: "text, a number, a time or a truth value".to_string(),
            remedy: format!("name another column with --column {}=NAME", field.word()),
        })
    };
    let columns = Columns {
        commits: cells(Field::Commit)?,
        times: cells(Field::Time)?,
        authors: cells(Field::Author)?,
        targets: cells(Field::Target)?,
        results: cells(Field::Result)?,
        durations: cells(Field::Duration)?,
        states: cells(Field::PreSubmit)?,
        fingerprints: cells(Field::Fingerprint)?,
    };
    let mut buffers = [(); 8].map(|()| String::new());
    for row in 0..batch.num_rows() {
        match columns.row(row, mapping, &mut buffers) {
            Ok(read) => intake.push(path, first + row as u64, &read)?,
            Err(problem) => intake.refuse(path, first + row as u64, problem),
        }
    }
    Ok(())
}

/// The columns of a batch by what they mean.
struct Columns<'b> {
    commits: Cells<'b>,
    times: Cells<'b>,
    authors: Cells<'b>,
    targets: Cells<'b>,
    results: Cells<'b>,
    durations: Cells<'b>,
    states: Cells<'b>,
    fingerprints: Cells<'b>,
}

impl<'b> Columns<'b> {
    /// A row; cells that are no text are written into the buffers.
    fn row<'t>(
        &self,
        row: usize,
        mapping: &Mapping,
        buffers: &'t mut [String; 8],
    ) -> Result<IntakeRow<'t>, String>
    where
        'b: 't,
    {
        let [commit, moment, author, target, result, duration, state, fingerprint] = buffers;
        Ok(IntakeRow {
            commit: self.commits.text(row, commit).unwrap_or_default(),
            time: self.times.time(row, moment)?,
            author: self.authors.text(row, author),
            target: self.targets.text(row, target).unwrap_or_default(),
            outcome: mapping.outcome(self.results.text(row, result).unwrap_or_default())?,
            duration_s: mapping.duration(self.durations.text(row, duration).unwrap_or_default())?,
            pre_submit: mapping.pre_submit(self.states.text(row, state).unwrap_or_default())?,
            fingerprint: self.fingerprints.text(row, fingerprint),
        })
    }
}
