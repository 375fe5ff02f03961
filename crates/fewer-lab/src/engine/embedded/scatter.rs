//! The first stage: one pass over the history, which brings every row to the shard of its target and gathers the
//! commits. Pieces are decoded in parallel and appended in the order of the file.

use std::path::Path;
use std::sync::Mutex;

use arrow_array::RecordBatch;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::commits::{Commits, Run};
use super::shards::{KeyMap, ShardWriter, TargetKey};
use crate::engine::{Stage, Watch};
use crate::error::LabError;
use crate::records::{
    Codes, ExecutionsFile, PackedRow, Piece, RowState, Strings, integers, microseconds, schema,
};

/// What rows carry besides target, position and state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carried {
    Nothing,
    /// The row's number in the file, and a hash of its fingerprint or 0: for cleaning.
    RowAndFingerprint,
}

impl Carried {
    /// Columns of a shard, the target's key included.
    pub fn columns(self) -> usize {
        match self {
            Carried::Nothing => 2,
            Carried::RowAndFingerprint => 4,
        }
    }
}

/// How the work is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cut {
    /// A power of two.
    pub shards: usize,
    /// Rows that one task decodes.
    pub piece: usize,
    /// Rows that a shard gathers before they are written.
    pub waiting: usize,
    /// Targets of which it is remembered that their names are written.
    pub remembered: usize,
}

/// Scatters a file of executions into shards; gives back the commits.
pub fn scatter(
    executions: &ExecutionsFile,
    directory: &Path,
    cut: &Cut,
    carried: Carried,
    watch: &dyn Watch,
) -> Result<Commits, LabError> {
    watch.begin(Stage::Shard, executions.rows());
    let mut writers = (0..cut.shards)
        .map(|shard| ShardWriter::create(directory, shard, carried.columns(), cut.waiting))
        .collect::<Result<Vec<_>, _>>()?;
    let mut decoder =
        Decoder { executions, cut, carried, authors: Mutex::default(), named: KeyMap::default() };
    let mut commits = Commits::default();
    let pieces = executions.pieces(cut.piece);
    for wave in pieces.chunks(rayon::current_num_threads().max(1)) {
        watch.go_on()?;
        let decoded: Vec<Decoded> =
            wave.par_iter().map(|piece| decoder.decode(piece)).collect::<Result<_, _>>()?;
        writers.par_iter_mut().enumerate().try_for_each(|(shard, writer)| {
            decoded.iter().try_for_each(|decoded| writer.append(&decoded.shards[shard]))
        })?;
        for decoded in decoded {
            decoded.runs.iter().try_for_each(|run| commits.add(run, &executions.path))?;
            for (key, name) in decoded.names {
                if decoder.named.len() == cut.remembered {
                    // A name that is written twice does no harm.
                    decoder.named.clear();
                }
                if decoder.named.insert(key, ()).is_none() {
                    writers[key.shard(cut.shards)].name(key, name)?;
                }
            }
        }
        watch.advance(wave.iter().map(|piece| piece.rows as u64).sum());
    }
    writers.into_par_iter().try_for_each(ShardWriter::finish)?;
    Ok(commits)
}

struct Decoder<'e> {
    executions: &'e ExecutionsFile,
    cut: &'e Cut,
    carried: Carried,
    authors: Mutex<FxHashMap<Box<str>, u32>>,
    /// Targets whose names are written.
    named: KeyMap<()>,
}

/// A piece of the history.
struct Decoded {
    /// By shard and column.
    shards: Vec<Vec<Vec<i64>>>,
    runs: Vec<Run>,
    names: Vec<(TargetKey, String)>,
}

/// The columns of the batch at hand, in memory that is used again.
struct Batch {
    positions: Vec<i64>,
    times: Vec<i64>,
    authors: Vec<u32>,
    author_codes: Codes<u32>,
    targets: Vec<TargetKey>,
    target_codes: Codes<TargetKey>,
    outcomes: Vec<u8>,
    outcome_codes: Codes<u8>,
    pre_submit: Vec<u8>,
    pre_submit_codes: Codes<u8>,
    fingerprints: Vec<i64>,
    fingerprint_codes: Codes<i64>,
}

impl Decoder<'_> {
    fn decode(&self, piece: &Piece) -> Result<Decoded, LabError> {
        let mut columns = vec![
            schema::POSITION,
            schema::TIME,
            schema::AUTHOR,
            schema::TARGET,
            schema::RESULT,
            schema::PRE_SUBMIT,
        ];
        if self.carried == Carried::RowAndFingerprint && self.executions.has(schema::FINGERPRINT) {
            columns.push(schema::FINGERPRINT);
        }
        let mut decoded = Decoded {
            shards: (0..self.cut.shards).map(|_| self.room(piece)).collect(),
            runs: Vec::new(),
            names: Vec::new(),
        };
        let mut batch = Batch::new();
        let mut first_row = piece.first_row;
        let mut named: KeyMap<()> = KeyMap::default();
        for records in self.executions.batches(piece, &columns)? {
            let records = records?;
            self.read(&records, &mut batch, first_row, &mut decoded.names, &mut named)?;
            self.runs(&batch, first_row, &mut decoded.runs)?;
            self.distribute(&batch, first_row, &mut decoded.shards);
            first_row += records.num_rows() as u64;
        }
        Ok(decoded)
    }

    fn read(
        &self,
        records: &RecordBatch,
        batch: &mut Batch,
        first_row: u64,
        names: &mut Vec<(TargetKey, String)>,
        named: &mut KeyMap<()>,
    ) -> Result<(), LabError> {
        let path = &self.executions.path;
        let column = |name: &str| records.column_by_name(name).expect("the columns were asked for");
        let text = |name: &str| Strings::of(column(name)).expect("the types were checked");
        let bad =
            |(row, problem): (usize, String)| LabError::bad_row(path, first_row + row as u64 + 1, problem);
        integers(column(schema::POSITION), &mut batch.positions);
        microseconds(column(schema::TIME), &mut batch.times);
        let author = |name: Option<&str>| Ok(self.author(name.unwrap_or_default()));
        batch.author_codes.encode(&text(schema::AUTHOR), &mut batch.authors, author).map_err(bad)?;
        let target = |name: Option<&str>| -> Result<TargetKey, String> {
            let name = name.ok_or("it has no target")?;
            let key = TargetKey::of(name);
            if !self.named.contains_key(&key) && named.insert(key, ()).is_none() {
                names.push((key, name.to_string()));
            }
            Ok(key)
        };
        batch.target_codes.encode(&text(schema::TARGET), &mut batch.targets, target).map_err(bad)?;
        let outcome = |word: Option<&str>| schema::outcome(word).map(|outcome| outcome as u8);
        batch.outcome_codes.encode(&text(schema::RESULT), &mut batch.outcomes, outcome).map_err(bad)?;
        let state = |word: Option<&str>| schema::pre_submit(word).map(|state| state as u8);
        batch
            .pre_submit_codes
            .encode(&text(schema::PRE_SUBMIT), &mut batch.pre_submit, state)
            .map_err(bad)?;
        batch.fingerprints.clear();
        if records.column_by_name(schema::FINGERPRINT).is_some() {
            let hash = |text: Option<&str>| Ok(text.map_or(0, |text| (TargetKey::of(text).0 | 1) as i64));
            let column = text(schema::FINGERPRINT);
            batch.fingerprint_codes.encode(&column, &mut batch.fingerprints, hash).map_err(bad)?;
        }
        Ok(())
    }

    /// The columns of a shard, with room for its share of a piece.
    fn room(&self, piece: &Piece) -> Vec<Vec<i64>> {
        let share = piece.rows / self.cut.shards;
        (0..self.carried.columns()).map(|_| Vec::with_capacity(share + share / 8 + 64)).collect()
    }

    fn author(&self, name: &str) -> u32 {
        let mut authors = self.authors.lock().expect("nobody panics with it in hand");
        let next = authors.len() as u32;
        match authors.get(name) {
            Some(&known) => known,
            None => *authors.entry(name.into()).or_insert(next),
        }
    }

    fn runs(&self, batch: &Batch, first_row: u64, runs: &mut Vec<Run>) -> Result<(), LabError> {
        for (row, (&position, &time)) in batch.positions.iter().zip(&batch.times).enumerate() {
            match runs.last_mut() {
                Some(run) if i64::from(run.position) == position && run.time == time => run.rows += 1,
                Some(_) | None => {
                    let row_number = first_row + row as u64;
                    let is_position = |position: &u32| *position < i32::MAX as u32;
                    let position = u32::try_from(position).ok().filter(is_position).ok_or_else(|| {
                        let problem = format!("{position} is no position");
                        LabError::bad_row(&self.executions.path, row_number + 1, problem)
                    })?;
                    runs.push(Run {
                        position,
                        time,
                        author: batch.authors[row],
                        rows: 1,
                        first_row: row_number,
                    });
                }
            }
        }
        Ok(())
    }

    fn distribute(&self, batch: &Batch, first_row: u64, shards: &mut [Vec<Vec<i64>>]) {
        for (row, &key) in batch.targets.iter().enumerate() {
            let state = RowState(batch.outcomes[row] | batch.pre_submit[row] << 2);
            let packed = PackedRow::new(batch.positions[row] as u32, state);
            let columns = &mut shards[key.shard(self.cut.shards)];
            columns[0].push(key.0 as i64);
            columns[1].push(packed.0);
            if self.carried == Carried::RowAndFingerprint {
                columns[2].push((first_row + row as u64) as i64);
                columns[3].push(batch.fingerprints.get(row).copied().unwrap_or(0));
            }
        }
    }
}

impl Batch {
    fn new() -> Batch {
        Batch {
            positions: Vec::new(),
            times: Vec::new(),
            authors: Vec::new(),
            author_codes: Codes::new(),
            targets: Vec::new(),
            target_codes: Codes::new(),
            outcomes: Vec::new(),
            outcome_codes: Codes::new(),
            pre_submit: Vec::new(),
            pre_submit_codes: Codes::new(),
            fingerprints: Vec::new(),
            fingerprint_codes: Codes::new(),
        }
    }
}
