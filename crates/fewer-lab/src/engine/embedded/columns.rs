//! Temporary Parquet files of 64-bit and 32-bit integers, written and read column by column without anything in
//! between: plain pages, no statistics, no compression.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Repetition, Type as Physical};
use parquet::column::reader::{get_column_reader, get_typed_column_reader};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::error::LabError;

/// A column of a temporary file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    Bits32,
    Bits64,
}

/// A file in the making.
pub struct ColumnWriter {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
}

/// One row group, whose columns are written in order.
pub struct GroupWriter<'w> {
    path: &'w Path,
    group: SerializedRowGroupWriter<'w, File>,
}

/// A finished file.
pub struct ColumnFile {
    path: PathBuf,
    metadata: ParquetMetaData,
}

impl ColumnWriter {
    pub fn create(path: &Path, columns: &[Width]) -> Result<ColumnWriter, LabError> {
        let fields = columns.iter().enumerate().map(|(number, width)| {
            let physical = match width {
                Width::Bits32 => Physical::INT32,
                Width::Bits64 => Physical::INT64,
            };
            let name = format!("c{number}");
            let field = Type::primitive_type_builder(&name, physical);
            field.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
        });
        let fields = fields.collect::<Result<_, _>>().map_err(LabError::parquet(path))?;
        let schema = Type::group_type_builder("rows").with_fields(fields).build();
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::PLAIN)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_compression(Compression::UNCOMPRESSED)
            .set_data_page_size_limit(8 << 20)
            .set_data_page_row_count_limit(usize::MAX)
            .set_write_batch_size(1 << 16)
            .build();
        let file = File::create(path).map_err(LabError::io("create", path))?;
        let schema = Arc::new(schema.map_err(LabError::parquet(path))?);
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties));
        Ok(ColumnWriter { path: path.to_path_buf(), writer: writer.map_err(LabError::parquet(path))? })
    }

    pub fn group(&mut self) -> Result<GroupWriter<'_>, LabError> {
        let group = self.writer.next_row_group().map_err(LabError::parquet(&self.path))?;
        Ok(GroupWriter { path: &self.path, group })
    }

    pub fn finish(self) -> Result<(), LabError> {
        self.writer.close().map_err(LabError::parquet(&self.path))?;
        Ok(())
    }
}

impl GroupWriter<'_> {
    pub fn bits64(&mut self, values: &[i64]) -> Result<(), LabError> {
        self.column::<Int64Type>(values)
    }

    pub fn bits32(&mut self, values: &[i32]) -> Result<(), LabError> {
        self.column::<Int32Type>(values)
    }

    pub fn finish(self) -> Result<(), LabError> {
        self.group.close().map_err(LabError::parquet(self.path))?;
        Ok(())
    }

    fn column<T: DataType>(&mut self, values: &[T::T]) -> Result<(), LabError> {
        let mut written = || -> parquet::errors::Result<()> {
            let mut column = self.group.next_column()?.expect("there is a column per call");
            column.typed::<T>().write_batch(values, None, None)?;
            column.close()
        };
        written().map_err(LabError::parquet(self.path))
    }
}

impl ColumnFile {
    pub fn open(path: &Path) -> Result<ColumnFile, LabError> {
        let file = SharedFile::open(path)?;
        let metadata =
            ParquetMetaDataReader::new().parse_and_finish(&file).map_err(LabError::parquet(path))?;
        Ok(ColumnFile { path: path.to_path_buf(), metadata })
    }

    pub fn rows(&self) -> usize {
        self.metadata.file_metadata().num_rows().max(0) as usize
    }

    /// A whole column of the file.
    pub fn all64(&self, column: usize) -> Result<Vec<i64>, LabError> {
        let mut values = Vec::with_capacity(self.rows());
        for group in 0..self.metadata.num_row_groups() {
            self.column::<Int64Type>(group, column, 0..usize::MAX, &mut values)?;
        }
        Ok(values)
    }

    pub fn all32(&self, column: usize) -> Result<Vec<i32>, LabError> {
        let mut values = Vec::with_capacity(self.rows());
        for group in 0..self.metadata.num_row_groups() {
            self.column::<Int32Type>(group, column, 0..usize::MAX, &mut values)?;
        }
        Ok(values)
    }

    /// Appends some rows of a column of the first row group.
    pub fn some64(&self, column: usize, rows: Range<usize>, values: &mut Vec<i64>) -> Result<(), LabError> {
        self.column::<Int64Type>(0, column, rows, values)
    }

    pub fn some32(&self, column: usize, rows: Range<usize>, values: &mut Vec<i32>) -> Result<(), LabError> {
        self.column::<Int32Type>(0, column, rows, values)
    }

    /// The file is opened for each reading: there may be more of them than a process may have open.
    fn column<T: DataType>(
        &self,
        group: usize,
        column: usize,
        rows: Range<usize>,
        values: &mut Vec<T::T>,
    ) -> Result<(), LabError> {
        let group = self.metadata.row_group(group);
        let total = group.num_rows().max(0) as usize;
        let mut left = rows.end.min(total).saturating_sub(rows.start);
        if left == 0 {
            return Ok(());
        }
        let file = Arc::new(SharedFile::open(&self.path)?);
        let column = group.column(column);
        let mut read = || -> parquet::errors::Result<()> {
            let pages = SerializedPageReader::new(Arc::clone(&file), column, total, None)?;
            let reader = get_column_reader(column.column_descr_ptr(), Box::new(pages));
            let mut reader = get_typed_column_reader::<T>(reader);
            reader.skip_records(rows.start)?;
            while left > 0 {
                let (records, ..) = reader.read_records(left, None, None, values)?;
                if records == 0 {
                    return Err(parquet::errors::ParquetError::EOF("rows are missing".to_string()));
                }
                left -= records;
            }
            Ok(())
        };
        read().map_err(LabError::parquet(&self.path))
    }
}

/// A file that several threads read at once: a plain `File` has one place for all of them.
struct SharedFile {
    file: Arc<File>,
    length: u64,
}

/// Reads on from a place.
struct Onwards {
    file: Arc<File>,
    place: u64,
}

impl SharedFile {
    fn open(path: &Path) -> Result<SharedFile, LabError> {
        let file = File::open(path).map_err(LabError::io("read", path))?;
        let length = file.metadata().map_err(LabError::io("read", path))?.len();
        Ok(SharedFile { file: Arc::new(file), length })
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = Onwards;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Onwards> {
        Ok(Onwards { file: Arc::clone(&self.file), place: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

impl Read for Onwards {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.place)?;
        self.place += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back_as_written_also_from_empty_groups() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rows.parquet");
        let groups: [Vec<i64>; 4] = [vec![], (0..100_000).collect(), vec![], vec![-1, i64::MAX, i64::MIN]];
        let mut writer = ColumnWriter::create(&path, &[Width::Bits64, Width::Bits32]).unwrap();
        for rows in &groups {
            let mut group = writer.group().unwrap();
            group.bits64(rows).unwrap();
            group.bits32(&rows.iter().map(|&row| row as i32).collect::<Vec<_>>()).unwrap();
            group.finish().unwrap();
        }
        writer.finish().unwrap();
        let file = ColumnFile::open(&path).unwrap();
        assert_eq!(file.rows(), 100_003);
        assert_eq!(file.all64(0).unwrap(), groups.concat());
        let narrow: Vec<i32> = groups.concat().iter().map(|&row| row as i32).collect();
        assert_eq!(file.all32(1).unwrap(), narrow);
    }

    #[test]
    fn some_rows_are_read_without_the_others() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rows.parquet");
        let rows: Vec<i32> = (0..5_000_000).collect();
        let mut writer = ColumnWriter::create(&path, &[Width::Bits32]).unwrap();
        let mut group = writer.group().unwrap();
        group.bits32(&rows).unwrap();
        group.finish().unwrap();
        writer.finish().unwrap();
        let file = ColumnFile::open(&path).unwrap();
        for range in [0..3, 7..7, 1_999_999..4_200_000, 4_999_998..5_000_000] {
            let mut some = Vec::new();
            file.some32(0, range.clone(), &mut some).unwrap();
            assert_eq!(some, rows[range]);
        }
    }
}
