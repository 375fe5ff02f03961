//! Shards: the rows of some of the targets, chosen by the hash of the target's name, and these names. Rows are
//! appended in the order of the history; a shard gives them back in that order.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use xxhash_rust::xxh3::xxh3_64;

use super::columns::{ColumnFile, ColumnWriter, Width};
use crate::error::LabError;
use crate::records::open_writer;

/// A target by its name. Two names with the same key are noticed when a shard is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TargetKey(pub u64);

impl TargetKey {
    pub fn of(name: &str) -> TargetKey {
        TargetKey(xxh3_64(name.as_bytes()))
    }

    /// Which of a power of two of shards. Hash tables look at the lowest and the highest bits.
    pub fn shard(self, shards: usize) -> usize {
        (self.0 >> 32) as usize & (shards - 1)
    }
}

/// Keys are hashes already.
#[derive(Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers")
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

pub type KeyMap<V> = HashMap<TargetKey, V, BuildHasherDefault<KeyHasher>>;

/// Where the files of a shard are.
pub fn rows_file(directory: &Path, shard: usize) -> PathBuf {
    directory.join(format!("shard-{shard:04}.parquet"))
}

pub fn names_file(directory: &Path, shard: usize) -> PathBuf {
    directory.join(format!("names-{shard:04}.parquet"))
}

/// Writes a shard; rows wait in memory until there are enough of them.
pub struct ShardWriter {
    rows: ColumnWriter,
    /// By column. The first is the target's key.
    waiting: Vec<Vec<i64>>,
    limit: usize,
    names: ArrowWriter<File>,
    names_path: PathBuf,
    waiting_keys: Vec<i64>,
    waiting_names: Vec<String>,
}

impl ShardWriter {
    pub fn create(
        directory: &Path,
        shard: usize,
        columns: usize,
        limit: usize,
    ) -> Result<ShardWriter, LabError> {
        let names_path = names_file(directory, shard);
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        Ok(ShardWriter {
            rows: ColumnWriter::create(&rows_file(directory, shard), &vec![Width::Bits64; columns])?,
            waiting: vec![Vec::new(); columns],
            limit,
            names: open_writer(&names_path, &names_schema(), properties)?,
            names_path,
            waiting_keys: Vec::new(),
            waiting_names: Vec::new(),
        })
    }

    pub fn append(&mut self, columns: &[Vec<i64>]) -> Result<(), LabError> {
        for (waiting, column) in self.waiting.iter_mut().zip(columns) {
            waiting.extend_from_slice(column);
        }
        if self.waiting[0].len() >= self.limit { self.flush() } else { Ok(()) }
    }

    pub fn name(&mut self, key: TargetKey, name: String) -> Result<(), LabError> {
        self.waiting_keys.push(key.0 as i64);
        self.waiting_names.push(name);
        if self.waiting_keys.len() >= self.limit { self.flush_names() } else { Ok(()) }
    }

    pub fn finish(mut self) -> Result<(), LabError> {
        self.flush()?;
        self.flush_names()?;
        self.rows.finish()?;
        self.names.close().map_err(LabError::parquet(&self.names_path))?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), LabError> {
        if self.waiting[0].is_empty() {
            return Ok(());
        }
        let mut group = self.rows.group()?;
        for column in &mut self.waiting {
            group.bits64(column)?;
            column.clear();
        }
        group.finish()
    }

    fn flush_names(&mut self) -> Result<(), LabError> {
        let keys = Int64Array::from(std::mem::take(&mut self.waiting_keys));
        let names = StringArray::from(std::mem::take(&mut self.waiting_names));
        let batch = RecordBatch::try_new(names_schema(), vec![Arc::new(keys), Arc::new(names)])
            .expect("the columns are those of the schema");
        // Without the flush the writer would keep a million names in memory, per shard.
        let written = self.names.write(&batch).and_then(|()| self.names.flush());
        written.map_err(LabError::parquet(&self.names_path))
    }
}

/// A shard's rows, target by target.
pub struct Shard {
    /// In the order of first appearance.
    pub targets: Vec<TargetKey>,
    /// Target `t` has the rows `starts[t]..starts[t + 1]`.
    pub starts: Vec<usize>,
    /// By column, without the target's key.
    pub columns: Vec<Vec<i64>>,
}

impl Shard {
    /// Reads a shard and brings the rows of each target together, in the order of the history.
    pub fn read(directory: &Path, shard: usize, columns: usize) -> Result<Shard, LabError> {
        let file = ColumnFile::open(&rows_file(directory, shard))?;
        let keys = file.all64(0)?;
        let mut numbers: KeyMap<u32> = KeyMap::default();
        let (mut targets, mut sizes, mut target_of) =
            (Vec::new(), Vec::new(), Vec::with_capacity(keys.len()));
        for key in keys {
            let key = TargetKey(key as u64);
            let number = *numbers.entry(key).or_insert_with(|| {
                targets.push(key);
                sizes.push(0usize);
                targets.len() as u32 - 1
            });
            sizes[number as usize] += 1;
            target_of.push(number);
        }
        drop(numbers);
        let mut starts = Vec::with_capacity(sizes.len() + 1);
        let mut start = 0;
        starts.push(0);
        starts.extend(sizes.iter().map(|size| {
            start += size;
            start
        }));
        let columns = (1..columns).map(|column| {
            let values = file.all64(column)?;
            let (mut next, mut sorted) = (starts.clone(), vec![0; values.len()]);
            for (value, &target) in values.into_iter().zip(&target_of) {
                let slot = &mut next[target as usize];
                sorted[*slot] = value;
                *slot += 1;
            }
            Ok(sorted)
        });
        let columns = columns.collect::<Result<_, LabError>>()?;
        Ok(Shard { targets, starts, columns })
    }
}

/// The names of a shard's targets. Two names with the same key are an error.
pub fn read_names(directory: &Path, shard: usize) -> Result<KeyMap<Box<str>>, LabError> {
    let path = names_file(directory, shard);
    let file = File::open(&path).map_err(LabError::io("read", &path))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build());
    let mut found: KeyMap<Box<str>> = KeyMap::default();
    for batch in reader.map_err(LabError::parquet(&path))? {
        let batch = batch.map_err(|error| LabError::parquet(&path)(error.into()))?;
        let (keys, names) = (batch.column(0).as_primitive::<Int64Type>(), batch.column(1).as_string::<i32>());
        for (&key, name) in keys.values().iter().zip(names.iter().flatten()) {
            let known = found.entry(TargetKey(key as u64)).or_insert_with(|| name.into());
            if **known != *name {
                let problem =
                    format!("the targets '{known}' and '{name}' have the same hash; rename one of them");
                return Err(LabError::Input { path, problem });
            }
        }
    }
    Ok(found)
}

fn names_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("key", DataType::Int64, false),
        Field::new("name", DataType::Utf8, false),
    ]))
}
