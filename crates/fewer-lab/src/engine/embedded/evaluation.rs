//! The last stage: kernel B. Rows of a partition are brought together by commit once, and every configuration's
//! scores then go through, one column at a time.

use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::columns::ColumnFile;
use super::scoring::{Scored, part_file};
use crate::algorithms::{Configuration, Experiment};
use crate::engine::{Stage, Watch};
use crate::error::LabError;
use crate::groups::Totals;
use crate::kernel::Evaluator;
use crate::label::Label;
use crate::records::PackedRow;
use crate::tally::Tally;

/// Tallies every configuration over all partitions.
pub fn evaluate(
    directory: &Path,
    experiment: &Experiment,
    scored: &Scored,
    watch: &dyn Watch,
) -> Result<Vec<(Configuration, Tally)>, LabError> {
    let mut parts = Vec::new();
    for (shard, starts) in scored.parts.iter().enumerate() {
        for (part, starts) in starts.iter().enumerate() {
            parts.push(Part { file: ColumnFile::open(&part_file(directory, shard, part))?, starts });
        }
    }
    let rows: usize = parts.iter().map(|part| part.file.rows()).sum();
    watch.begin(Stage::Evaluate, rows as u64);
    let mut evaluators = Evaluator::all(experiment);
    let baselines = evaluators.len() - experiment.scored().len();
    for partition in 0..scored.partitions.len() {
        let rows = Partition::read(&parts, partition)?;
        evaluators.par_iter_mut().enumerate().try_for_each(|(number, evaluator)| {
            watch.go_on()?;
            let scores = match number.checked_sub(baselines) {
                Some(scored) => rows.scores(&parts, partition, scored)?,
                None => Vec::new(),
            };
            for commit in &rows.commits {
                let labels = &rows.labels[commit.start..commit.end];
                let scores = scores.get(commit.start..commit.end).unwrap_or_default();
                evaluator.add(commit.position, &commit.totals, labels, scores);
            }
            Ok(())
        })?;
        watch.advance(rows.labels.len() as u64);
    }
    Ok(evaluators.into_iter().map(|evaluator| (evaluator.configuration, evaluator.tally)).collect())
}

/// A file of scores.
struct Part<'s> {
    file: ColumnFile,
    starts: &'s [usize],
}

impl Part<'_> {
    fn rows(&self, partition: usize) -> Range<usize> {
        self.starts[partition]..self.starts[partition + 1]
    }
}

/// The rows of some commits, by commit.
struct Partition {
    /// Where each row of the files belongs.
    slots: Vec<u32>,
    /// In the order of slots.
    labels: Vec<Label>,
    commits: Vec<CommitRows>,
}

struct CommitRows {
    position: u32,
    start: usize,
    end: usize,
    totals: Totals,
}

impl Partition {
    fn read(parts: &[Part<'_>], partition: usize) -> Result<Partition, LabError> {
        let mut rows = Vec::new();
        parts.iter().try_for_each(|part| part.file.some64(0, part.rows(partition), &mut rows))?;
        let position = |row: &i64| PackedRow(*row).position();
        let Some(first) = rows.iter().map(position).min() else {
            return Ok(Partition { slots: Vec::new(), labels: Vec::new(), commits: Vec::new() });
        };
        let last = rows.iter().map(position).max().unwrap_or(first);
        let mut next = vec![0u32; (last - first) as usize + 2];
        rows.iter().for_each(|row| next[(position(row) - first) as usize + 1] += 1);
        for commit in 1..next.len() {
            next[commit] += next[commit - 1];
        }
        let starts = next.clone();
        let mut labels = vec![Label::Safe; rows.len()];
        let slots = rows.iter().map(|row| {
            let slot = &mut next[(position(row) - first) as usize];
            labels[*slot as usize] = PackedRow(*row).state().label();
            *slot += 1;
            *slot - 1
        });
        let slots = slots.collect();
        let commits = starts.windows(2).enumerate().filter(|(_, bounds)| bounds[0] < bounds[1]);
        let commits = commits.map(|(number, bounds)| {
            let (start, end) = (bounds[0] as usize, bounds[1] as usize);
            let totals = Totals::of(&labels[start..end]);
            CommitRows { position: first + number as u32, start, end, totals }
        });
        let commits = commits.collect();
        Ok(Partition { slots, labels, commits })
    }

    /// One configuration's scores, by commit.
    fn scores(&self, parts: &[Part<'_>], partition: usize, scored: usize) -> Result<Vec<u32>, LabError> {
        let mut scores = vec![0; self.slots.len()];
        let (mut values, mut slots) = (Vec::new(), self.slots.iter());
        for part in parts {
            values.clear();
            part.file.some32(1 + scored, part.rows(partition), &mut values)?;
            for (&value, &slot) in values.iter().zip(slots.by_ref()) {
                scores[slot as usize] = value as u32;
            }
        }
        Ok(scores)
    }
}
