//! Opening a history and reading it in pieces. Files may come from other programs: what they must have is checked
//! when they are opened; what rows say is checked by whoever reads them.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::schema;
use super::strings::{Strings, integers};
use crate::error::LabError;

const BATCH: usize = 1 << 16;

/// A history on the disk.
#[derive(Clone, Debug)]
pub struct History {
    pub directory: PathBuf,
    pub executions: ExecutionsFile,
}

impl History {
    /// Opens a history made by `fewer simulate import`, or by others with the documented schema.
    pub fn open(directory: &Path) -> Result<History, LabError> {
        let path = directory.join(schema::EXECUTIONS);
        if !directory.is_dir() {
            // A directory that may not be looked at is another matter than none.
            std::fs::read_dir(directory).map_err(LabError::io("read", directory))?;
        }
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => {
                let problem = format!("it has no {}", schema::EXECUTIONS);
                return Err(LabError::NotAHistory { path: directory.to_path_buf(), problem });
            }
            Err(error) => return Err(LabError::io("read", directory)(error)),
        }
        Ok(History { directory: directory.to_path_buf(), executions: ExecutionsFile::open(&path)? })
    }

    /// The file of modified files, where there is one.
    pub fn modified_files(&self) -> Option<PathBuf> {
        Some(self.directory.join(schema::MODIFIED_FILES)).filter(|path| path.exists())
    }
}

/// A Parquet file of executions.
#[derive(Clone, Debug)]
pub struct ExecutionsFile {
    pub path: PathBuf,
    metadata: ArrowReaderMetadata,
}

/// Some rows of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    row_group: usize,
    offset: usize,
    pub rows: usize,
    /// Counted from 0 over the whole file.
    pub first_row: u64,
}

impl ExecutionsFile {
    pub fn open(path: &Path) -> Result<ExecutionsFile, LabError> {
        let executions = ExecutionsFile { path: path.to_path_buf(), metadata: read_metadata(path)? };
        executions.check_column(schema::POSITION, "an integer", |kind| {
            matches!(kind, DataType::Int32 | DataType::UInt32 | DataType::Int64)
        })?;
        let is_time = |kind: &DataType| matches!(kind, DataType::Timestamp(..));
        executions.check_column(schema::TIME, "a timestamp", is_time)?;
        let texts = [schema::COMMIT, schema::AUTHOR, schema::TARGET, schema::RESULT, schema::PRE_SUBMIT];
        for column in texts {
            executions.check_column(column, "text", is_text)?;
        }
        if executions.has(schema::FINGERPRINT) {
            executions.check_column(schema::FINGERPRINT, "text", is_text)?;
        }
        Ok(executions)
    }

    pub fn rows(&self) -> u64 {
        self.metadata.metadata().file_metadata().num_rows().max(0) as u64
    }

    pub fn has(&self, column: &str) -> bool {
        self.metadata.schema().field_with_name(column).is_ok()
    }

    /// The file in parts that can be read at the same time, in order. Row groups of other programs may be far larger
    /// than a part should be.
    pub fn pieces(&self, limit: usize) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut first_row = 0;
        for (row_group, group) in self.metadata.metadata().row_groups().iter().enumerate() {
            let total = group.num_rows().max(0) as usize;
            for offset in (0..total).step_by(limit) {
                let rows = limit.min(total - offset);
                pieces.push(Piece { row_group, offset, rows, first_row });
                first_row += rows as u64;
            }
        }
        pieces
    }

    /// Some columns of a piece; the columns come in the order of the file.
    pub fn read(&self, piece: &Piece, columns: &[&str]) -> Result<ParquetRecordBatchReader, LabError> {
        let file = File::open(&self.path).map_err(LabError::io("read", &self.path))?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
        builder
            .with_projection(mask)
            .with_row_groups(vec![piece.row_group])
            .with_offset(piece.offset)
            .with_limit(piece.rows)
            .with_batch_size(BATCH)
            .build()
            .map_err(LabError::parquet(&self.path))
    }

    /// The same as a batch per call, with errors that name the file.
    pub fn batches(
        &self,
        piece: &Piece,
        columns: &[&str],
    ) -> Result<impl Iterator<Item = Result<arrow_array::RecordBatch, LabError>>, LabError> {
        let path = self.path.clone();
        let batches = self.read(piece, columns)?;
        Ok(batches.map(move |batch| {
            batch.map_err(|error| LabError::parquet(&path)(parquet::errors::ParquetError::from(error)))
        }))
    }

    fn check_column(
        &self,
        column: &str,
        expected: &str,
        fits: impl Fn(&DataType) -> bool,
    ) -> Result<(), LabError> {
        let schema = self.metadata.schema();
        let Ok(field) = schema.field_with_name(column) else {
            return Err(LabError::MissingColumn {
                path: self.path.clone(),
                column: column.to_string(),
                why: "every history needs".to_string(),
                found: schema.fields().iter().map(|field| field.name().clone()).collect(),
            });
        };
        if fits(field.data_type()) {
            return Ok(());
        }
        Err(LabError::WrongType {
            path: self.path.clone(),
            column: column.to_string(),
            found: field.data_type().to_string(),
            expected: expected.to_string(),
            remedy: "import the file with `fewer simulate import`".to_string(),
        })
    }
}

/// Without links, as another process would write it.
pub fn absolute(path: &Path) -> Result<PathBuf, LabError> {
    path.canonicalize().map_err(LabError::io("read", path))
}

/// Every modified file: position and path.
pub fn modified_files(path: &Path, mut each: impl FnMut(u32, &str)) -> Result<(), LabError> {
    let file = File::open(path).map_err(LabError::io("read", path))?;
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, read_metadata(path)?)
        .with_batch_size(BATCH)
        .build()
        .map_err(LabError::parquet(path))?;
    let mut positions = Vec::new();
    for batch in reader {
        let batch = batch.map_err(|error| LabError::parquet(path)(error.into()))?;
        let column = |name| {
            batch.column_by_name(name).ok_or_else(|| LabError::MissingColumn {
                path: path.to_path_buf(),
                column: name.to_string(),
                why: "modified files need".to_string(),
                found: batch.schema().fields().iter().map(|field| field.name().clone()).collect(),
            })
        };
        let wrong = |name: &str, expected: &str| LabError::WrongType {
            path: path.to_path_buf(),
            column: name.to_string(),
            found: batch.column_by_name(name).map(|found| found.data_type().to_string()).unwrap_or_default(),
            expected: expected.to_string(),
            remedy: "import the history again".to_string(),
        };
        if !integers(column(schema::POSITION)?, &mut positions) {
            return Err(wrong(schema::POSITION, "an integer"));
        }
        let paths = column(schema::PATH)?;
        let paths = Strings::of(paths).ok_or_else(|| wrong(schema::PATH, "text"))?;
        for (row, &position) in positions.iter().enumerate() {
            if let (Ok(position), Some(path)) = (u32::try_from(position), paths.get(row)) {
                each(position, path);
            }
        }
    }
    Ok(())
}

fn read_metadata(path: &Path) -> Result<ArrowReaderMetadata, LabError> {
    let file = File::open(path).map_err(LabError::io("read", path))?;
    ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(LabError::parquet(path))
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(keys, values) => **keys == DataType::Int32 && **values == DataType::Utf8,
        _ => false,
    }
}
