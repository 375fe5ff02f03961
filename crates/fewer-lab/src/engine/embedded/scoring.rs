//! The third stage: kernel A's scores, shard by shard, for the rows of commits with transitions alone, as no other
//! commit bears on a curve. The rows are written by partition: a range of commits that fits memory in the last stage.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::columns::{ColumnWriter, Width};
use super::commits::Commits;
use super::labelling::{Labelled, LabelledShard};
use super::shards::{KeyMap, TargetKey, read_names};
use crate::algorithms::{Algorithm, Configuration};
use crate::engine::{Stage, Watch};
use crate::error::LabError;
use crate::label::Outcome;
use crate::records::{PackedRow, PreSubmit};
use crate::scores::directories::Directories;
use crate::scores::{Scorer, TargetRows};

const ROWS_AT_A_TIME: usize = 1 << 18;

/// What the stage leaves behind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Scored {
    /// The first position of each partition; the last partition ends with the history.
    pub partitions: Vec<u32>,
    /// By shard and file: where the rows of each partition start, and where the last one ends.
    pub parts: Vec<Vec<Vec<usize>>>,
}

pub fn part_file(directory: &Path, shard: usize, part: usize) -> PathBuf {
    directory.join(format!("scores-{shard:04}-{part:04}.parquet"))
}

/// What all shards are scored with.
pub struct Scoring<'s> {
    pub directory: &'s Path,
    pub configurations: &'s [Configuration],
    pub commits: &'s Commits,
    pub labelled: &'s Labelled,
    pub directories: Option<&'s Directories>,
    /// Rows that a shard gathers before they are written.
    pub rows_in_memory: usize,
    /// Rows of a partition.
    pub partition_rows: u64,
    pub watch: &'s dyn Watch,
}

impl Scoring<'_> {
    pub fn score_shards(&self, shards: usize) -> Result<Scored, LabError> {
        self.watch.begin(Stage::Score, self.labelled.counts.rows - self.labelled.counts.reruns);
        let partitions = self.partitions();
        let parts = (0..shards)
            .into_par_iter()
            .map(|shard| self.score_shard(shard, &partitions))
            .collect::<Result<_, _>>()?;
        Ok(Scored { partitions, parts })
    }

    /// Commits with transitions in their order, cut where the rows of a partition are enough.
    fn partitions(&self) -> Vec<u32> {
        let (mut partitions, mut rows) = (vec![0], 0);
        for position in &self.labelled.transitions {
            let more = u64::from(self.commits.rows[position as usize]);
            if rows > 0 && rows + more > self.partition_rows {
                partitions.push(position);
                rows = 0;
            }
            rows += more;
        }
        partitions
    }

    /// Of each file that was written, where the partitions start.
    fn score_shard(&self, shard: usize, partitions: &[u32]) -> Result<Vec<Vec<usize>>, LabError> {
        self.watch.go_on()?;
        let labelled = LabelledShard::read(self.directory, shard)?;
        let needs_names = self.configurations.iter().any(|one| one.algorithm == Algorithm::SharedDirectories)
            && self.directories.is_some();
        let names =
            if needs_names { read_names(self.directory, shard)? } else { KeyMap::<Box<str>>::default() };
        let mut scorer = Scorer::new(self.configurations.to_vec(), self.directories);
        let mut target = Target::default();
        let mut part = Part::new(self.configurations.len());
        let (mut parts, mut unreported) = (Vec::new(), 0);
        for (key, rows) in labelled.iter() {
            if target.gather(rows, self) {
                let directory = self.directory_of(key, &names);
                part.rows.extend(target.wanted.iter().map(|&row| marked(PackedRow(rows[row as usize]))));
                scorer.score(&target.rows(), directory.as_ref(), &target.wanted, &mut part.columns);
            }
            if part.rows.len() >= self.rows_in_memory {
                parts.push(part.write(&part_file(self.directory, shard, parts.len()), partitions)?);
            }
            unreported += rows.len();
            if unreported >= ROWS_AT_A_TIME {
                self.watch.go_on()?;
                self.watch.advance(std::mem::take(&mut unreported) as u64);
            }
        }
        self.watch.advance(unreported as u64);
        parts.push(part.write(&part_file(self.directory, shard, parts.len()), partitions)?);
        Ok(parts)
    }

    fn directory_of(
        &self,
        key: TargetKey,
        names: &KeyMap<Box<str>>,
    ) -> Option<crate::scores::directories::TargetDirectory> {
        Some(self.directories?.target(names.get(&key)?))
    }
}

/// The columns of the target at hand.
#[derive(Default)]
struct Target {
    positions: Vec<u32>,
    times: Vec<i64>,
    authors: Vec<u32>,
    outcomes: Vec<Outcome>,
    pre_submit: Vec<PreSubmit>,
    /// Rows of commits with transitions.
    wanted: Vec<u32>,
}

impl Target {
    /// Whether any row is wanted.
    fn gather(&mut self, rows: &[i64], scoring: &Scoring<'_>) -> bool {
        self.wanted.clear();
        let transitions = &scoring.labelled.transitions;
        for (row, &packed) in rows.iter().enumerate() {
            let packed = PackedRow(packed);
            if !packed.state().label().is_excluded() && transitions.contains(packed.position()) {
                self.wanted.push(row as u32);
            }
        }
        // Nothing after the last wanted row bears on a score.
        let Some(&last) = self.wanted.last() else { return false };
        let rows = rows[..=last as usize].iter().map(|&row| PackedRow(row));
        let commits = scoring.commits;
        self.positions.clear();
        self.positions.extend(rows.clone().map(PackedRow::position));
        self.times.clear();
        self.times.extend(self.positions.iter().map(|&position| commits.times[position as usize]));
        self.authors.clear();
        self.authors.extend(self.positions.iter().map(|&position| commits.authors[position as usize]));
        self.outcomes.clear();
        self.outcomes.extend(rows.clone().map(|row| row.state().outcome()));
        self.pre_submit.clear();
        self.pre_submit.extend(rows.map(|row| row.state().pre_submit()));
        true
    }

    fn rows(&self) -> TargetRows<'_> {
        TargetRows {
            positions: &self.positions,
            times: &self.times,
            authors: &self.authors,
            outcomes: &self.outcomes,
            pre_submit: &self.pre_submit,
        }
    }
}

/// Scored rows that wait to be written.
struct Part {
    /// Position and label.
    rows: Vec<i64>,
    /// By configuration.
    columns: Vec<Vec<u32>>,
}

impl Part {
    fn new(configurations: usize) -> Part {
        Part { rows: Vec::new(), columns: vec![Vec::new(); configurations] }
    }

    /// Writes the rows, partition by partition, and starts anew. Where the partitions start.
    fn write(&mut self, path: &Path, partitions: &[u32]) -> Result<Vec<usize>, LabError> {
        let (order, starts) = self.by_partition(partitions);
        let mut widths = vec![Width::Bits64];
        widths.resize(1 + self.columns.len(), Width::Bits32);
        let mut writer = ColumnWriter::create(path, &widths)?;
        let mut group = writer.group()?;
        let rows: Vec<i64> = order.iter().map(|&row| self.rows[row as usize]).collect();
        group.bits64(&rows)?;
        let mut scores = Vec::with_capacity(order.len());
        for column in &self.columns {
            scores.clear();
            scores.extend(order.iter().map(|&row| column[row as usize] as i32));
            group.bits32(&scores)?;
        }
        group.finish()?;
        self.rows.clear();
        self.columns.iter_mut().for_each(Vec::clear);
        writer.finish()?;
        Ok(starts)
    }

    /// The rows of each partition one after the other, and where each starts.
    fn by_partition(&self, partitions: &[u32]) -> (Vec<u32>, Vec<usize>) {
        let partition_of = |row: &i64| {
            let position = PackedRow(*row).position();
            partitions.partition_point(|&first| first <= position) - 1
        };
        let numbers: Vec<u32> = self.rows.iter().map(|row| partition_of(row) as u32).collect();
        let mut starts = vec![0; partitions.len() + 1];
        numbers.iter().for_each(|&number| starts[number as usize + 1] += 1);
        for partition in 0..partitions.len() {
            starts[partition + 1] += starts[partition];
        }
        let (mut next, mut order) = (starts.clone(), vec![0; numbers.len()]);
        for (row, &number) in numbers.iter().enumerate() {
            order[next[number as usize]] = row as u32;
            next[number as usize] += 1;
        }
        (order, starts)
    }
}

/// A row with nothing but its position and label.
fn marked(row: PackedRow) -> i64 {
    row.with_state(crate::records::RowState(0).with_label(row.state().label())).0
}
