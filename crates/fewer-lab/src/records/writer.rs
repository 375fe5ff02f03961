//! Writing a history, row by row, all or nothing.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{
    Float64Builder, Int32Builder, StringBuilder, StringDictionaryBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::types::Int32Type;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use super::row::PreSubmit;
use super::schema;
use super::staging::Staging;
use crate::error::LabError;
use crate::label::Outcome;

const BATCH: usize = 1 << 16;
const ROW_GROUP: usize = 1 << 20;
/// Targets stay in the dictionary even where there are many.
const DICTIONARY_BYTES: usize = 64 << 20;

/// One execution of a target at a commit that affects it, or the lack of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Execution<'t> {
    pub position: u32,
    pub commit: &'t str,
    /// Of the commit, in microseconds since 1970.
    pub time: i64,
    pub author: Option<&'t str>,
    pub target: &'t str,
    pub outcome: Outcome,
    pub duration_s: Option<f64>,
    pub pre_submit: PreSubmit,
    pub fingerprint: Option<&'t str>,
}

/// Writes executions in the order of their positions, and modified files.
pub struct HistoryWriter {
    staging: Staging,
    executions: ExecutionsWriter,
    files: Option<FilesWriter>,
    rows: u64,
}

impl HistoryWriter {
    /// For a directory that is not there yet.
    pub fn create(output: &Path) -> Result<HistoryWriter, LabError> {
        let staging = Staging::new(output)?;
        let executions = ExecutionsWriter::create(&staging.path().join(schema::EXECUTIONS))?;
        Ok(HistoryWriter { staging, executions, files: None, rows: 0 })
    }

    pub fn push(&mut self, execution: &Execution<'_>) -> Result<(), LabError> {
        self.rows += 1;
        self.executions.push(execution)
    }

    pub fn push_file(&mut self, position: u32, commit: &str, path: &str) -> Result<(), LabError> {
        let files = match &mut self.files {
            Some(files) => files,
            None => {
                let file = self.staging.path().join(schema::MODIFIED_FILES);
                self.files.insert(FilesWriter::create(&file)?)
            }
        };
        files.push(position, commit, path)
    }

    /// Starts the executions anew; the file with those written so far.
    pub(crate) fn set_aside(&mut self) -> Result<PathBuf, LabError> {
        let path = self.staging.path().join(schema::EXECUTIONS);
        let aside = self.staging.path().join("unsorted.parquet");
        let fresh = self.staging.path().join("sorted.parquet");
        let written = std::mem::replace(&mut self.executions, ExecutionsWriter::create(&fresh)?);
        written.finish()?;
        fs::rename(&path, &aside).map_err(LabError::io("move", &path))?;
        // The open file goes with its name.
        fs::rename(&fresh, &path).map_err(LabError::io("move", &fresh))?;
        self.rows = 0;
        Ok(aside)
    }

    /// How many executions were written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Where files are written until they are published.
    pub fn path(&self) -> &Path {
        self.staging.path()
    }

    pub fn finish(self) -> Result<(), LabError> {
        self.executions.finish()?;
        if let Some(files) = self.files {
            files.finish()?;
        }
        self.staging.publish()
    }
}

/// Opens a Parquet file of ours for writing.
pub(crate) fn open_writer(
    path: &Path,
    schema: &SchemaRef,
    properties: WriterProperties,
) -> Result<ArrowWriter<File>, LabError> {
    let file = File::create(path).map_err(LabError::io("create", path))?;
    ArrowWriter::try_new(file, Arc::clone(schema), Some(properties)).map_err(LabError::parquet(path))
}

/// What the files of a history have in common.
pub(crate) fn record_properties(format: &str) -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_column_dictionary_enabled(ColumnPath::from(schema::DURATION), false)
        .set_key_value_metadata(Some(vec![KeyValue::new(schema::FORMAT_KEY.to_string(), format.to_string())]))
}

type Words = StringDictionaryBuilder<Int32Type>;

struct ExecutionsWriter {
    schema: SchemaRef,
    writer: ArrowWriter<File>,
    path: PathBuf,
    position: Int32Builder,
    commit: Words,
    time: TimestampMicrosecondBuilder,
    author: Words,
    target: Words,
    result: Words,
    duration: Float64Builder,
    pre_submit: Words,
    fingerprint: Words,
}

impl ExecutionsWriter {
    fn create(path: &Path) -> Result<ExecutionsWriter, LabError> {
        let schema = schema::executions();
        let properties = record_properties(schema::EXECUTIONS_FORMAT).build();
        Ok(ExecutionsWriter {
            writer: open_writer(path, &schema, properties)?,
            path: path.to_path_buf(),
            schema,
            position: Int32Builder::with_capacity(BATCH),
            commit: Words::new(),
            time: TimestampMicrosecondBuilder::with_capacity(BATCH),
            author: Words::new(),
            target: Words::new(),
            result: Words::new(),
            duration: Float64Builder::with_capacity(BATCH),
            pre_submit: Words::new(),
            fingerprint: Words::new(),
        })
    }

    fn push(&mut self, execution: &Execution<'_>) -> Result<(), LabError> {
        self.position.append_value(execution.position as i32);
        self.commit.append_value(execution.commit);
        self.time.append_value(execution.time);
        self.author.append_option(execution.author);
        self.target.append_value(execution.target);
        self.result.append_value(execution.outcome.word());
        self.duration.append_option(execution.duration_s);
        self.pre_submit.append_value(execution.pre_submit.word());
        self.fingerprint.append_option(execution.fingerprint);
        if arrow_array::builder::ArrayBuilder::len(&self.position) == BATCH {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), LabError> {
        let batch = RecordBatch::try_new(
            Arc::clone(&self.schema),
            vec![
                Arc::new(self.position.finish()),
                Arc::new(self.commit.finish()),
                Arc::new(self.time.finish().with_timezone("UTC")),
                Arc::new(self.author.finish()),
                Arc::new(self.target.finish()),
                Arc::new(self.result.finish()),
                Arc::new(self.duration.finish()),
                Arc::new(self.pre_submit.finish()),
                Arc::new(self.fingerprint.finish()),
            ],
        )
        .expect("the columns are those of the schema");
        self.writer.write(&batch).map_err(LabError::parquet(&self.path))
    }

    fn finish(mut self) -> Result<(), LabError> {
        self.flush()?;
        self.writer.close().map_err(LabError::parquet(&self.path))?;
        Ok(())
    }
}

struct FilesWriter {
    writer: ArrowWriter<File>,
    path: PathBuf,
    position: Int32Builder,
    commit: Words,
    file: StringBuilder,
}

impl FilesWriter {
    fn create(path: &Path) -> Result<FilesWriter, LabError> {
        let properties = record_properties(schema::MODIFIED_FILES_FORMAT).build();
        Ok(FilesWriter {
            writer: open_writer(path, &schema::modified_files(), properties)?,
            path: path.to_path_buf(),
            position: Int32Builder::new(),
            commit: Words::new(),
            file: StringBuilder::new(),
        })
    }

    fn push(&mut self, position: u32, commit: &str, file: &str) -> Result<(), LabError> {
        self.position.append_value(position as i32);
        self.commit.append_value(commit);
        self.file.append_value(file);
        if arrow_array::builder::ArrayBuilder::len(&self.position) == BATCH {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), LabError> {
        let columns: Vec<arrow_array::ArrayRef> = vec![
            Arc::new(self.position.finish()),
            Arc::new(self.commit.finish()),
            Arc::new(self.file.finish()),
        ];
        let batch = RecordBatch::try_new(schema::modified_files(), columns)
            .expect("the columns are those of the schema");
        self.writer.write(&batch).map_err(LabError::parquet(&self.path))
    }

    fn finish(mut self) -> Result<(), LabError> {
        self.flush()?;
        self.writer.close().map_err(LabError::parquet(&self.path))?;
        Ok(())
    }
}
