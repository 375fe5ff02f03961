//! Any Parquet file as CSV, for programs that do without Parquet.

use std::path::Path;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::cells::Cells;
use crate::error::LabError;

/// Gives the line of names and then the rows, some lines at a time, until `take` wants no more. Times are microseconds
/// since 1970; what is not known is empty.
pub fn parquet_as_csv<E: From<LabError>>(
    path: &Path,
    mut take: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<(), E> {
    let file = fewer_files::open(path).map_err(LabError::io("read", path))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(LabError::parquet(path))?;
    let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    let batches = reader.with_batch_size(1 << 14).build().map_err(LabError::parquet(path))?;
    let mut is_wanted = take(&lines(path, |lines| lines.write_record(&names))?)?;
    for batch in batches {
        if !is_wanted {
            break;
        }
        let batch = batch.map_err(|error| LabError::parquet(path)(error.into()))?;
        is_wanted = take(&csv(path, &batch)?)?;
    }
    Ok(())
}

fn csv(path: &Path, batch: &RecordBatch) -> Result<Vec<u8>, LabError> {
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        columns.push(Cells::of(column).ok_or_else(|| LabError::WrongType {
            path: path.to_path_buf(),
            column: field.name().clone(),
            found: column.data_type().to_string(),
            expected: "text, a number, a time or a truth value".to_string(),
            remedy: "write the file without it, or with one of these".to_string(),
        })?);
    }
    let mut buffer = String::new();
    lines(path, |lines| {
        for row in 0..batch.num_rows() {
            for cells in &columns {
                lines.write_field(cells.text(row, &mut buffer).unwrap_or_default())?;
            }
            lines.write_record(None::<&[u8]>)?;
        }
        Ok(())
    })
}

fn lines(
    path: &Path,
    write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> Result<(), csv::Error>,
) -> Result<Vec<u8>, LabError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let problem = |problem: String| LabError::Input { path: path.to_path_buf(), problem };
    write(&mut writer).map_err(|error| problem(error.to_string()))?;
    writer.into_inner().map_err(|error| problem(error.to_string()))
}
