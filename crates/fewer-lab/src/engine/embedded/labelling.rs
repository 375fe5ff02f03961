//! The second stage: kernel A's labels, shard by shard. It leaves behind the labelled rows of each shard, target by
//! target, and which commits have transitions.

use std::cmp::Reverse;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};

use rayon::prelude::*;
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::columns::{ColumnFile, ColumnWriter, Width};
use super::shards::{Shard, TargetKey, read_names};
use crate::engine::{Example, ExampleRow, RowCounts, Stage, Watch};
use crate::error::LabError;
use crate::label::{Label, Outcome, label};
use crate::records::{PackedRow, merge_rerun};

/// An example has no more rows than fit a figure.
const EXAMPLE_ROWS: usize = 16;
/// Rows between looks at the flag of Ctrl-C.
const ROWS_AT_A_TIME: usize = 1 << 18;

/// What the stage found out.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Labelled {
    pub counts: RowCounts,
    pub targets: u64,
    pub example: Example,
    /// Positions of commits with an unsafe or maybe-unsafe target, as a portable bitmap.
    #[serde(with = "crate::positions")]
    pub transitions: RoaringBitmap,
}

impl Labelled {
    /// Adds what was found out of other targets.
    pub fn merge(&mut self, other: Labelled) {
        self.counts.add(&other.counts);
        self.targets += other.targets;
        if Rank::of(&other.example) > Rank::of(&self.example) {
            self.example = other.example;
        }
        self.transitions |= other.transitions;
    }

    /// Takes some of a target's rows as the example if they show more.
    pub fn offer(&mut self, target: &str, labels: &[Label], rows: impl Iterator<Item = ExampleRow> + Clone) {
        let excerpt = excerpt(labels);
        let rows = rows.skip(excerpt.start).take(excerpt.len());
        if Rank::of_labels(rows.clone().map(|row| row.label), target) > Rank::of(&self.example) {
            self.example = Example { target: target.to_string(), rows: rows.collect() };
        }
    }
}

pub fn rows_file(directory: &Path, shard: usize) -> PathBuf {
    directory.join(format!("labelled-{shard:04}.parquet"))
}

pub fn targets_file(directory: &Path, shard: usize) -> PathBuf {
    directory.join(format!("targets-{shard:04}.parquet"))
}

/// Labels every shard.
pub fn label_shards(
    directory: &Path,
    shards: usize,
    positions: usize,
    rows: u64,
    watch: &dyn Watch,
) -> Result<Labelled, LabError> {
    watch.begin(Stage::Label, rows);
    let marks: Vec<AtomicU8> = (0..positions).map(|_| AtomicU8::new(0)).collect();
    let parts: Vec<Labelled> = (0..shards)
        .into_par_iter()
        .map(|shard| label_shard(directory, shard, &marks, watch))
        .collect::<Result<_, _>>()?;
    let mut all = Labelled::default();
    parts.into_iter().for_each(|part| all.merge(part));
    let marked = |position: &u32| marks[*position as usize].load(Ordering::Relaxed) != 0;
    all.transitions = (0..positions as u32).filter(marked).collect();
    if all.counts.is_balanced() && all.counts.rows == rows {
        return Ok(all);
    }
    let problem = format!("{rows} rows went in, but these came out: {:?}", all.counts);
    Err(LabError::Contradiction { path: directory.to_path_buf(), problem })
}

fn label_shard(
    directory: &Path,
    number: usize,
    marks: &[AtomicU8],
    watch: &dyn Watch,
) -> Result<Labelled, LabError> {
    watch.go_on()?;
    let Shard { targets, starts, mut columns } = Shard::read(directory, number, 2)?;
    let mut rows = columns.pop().expect("a column of rows");
    let names = read_names(directory, number)?;
    let mut labeller = Labeller::new(marks);
    let (mut sizes, mut end, mut unreported) = (Vec::with_capacity(targets.len()), 0, 0);
    let mut example: Option<(Rank<'_>, Range<usize>)> = None;
    for (target, bounds) in targets.iter().zip(starts.windows(2)) {
        let size = labeller.merge_reruns(&mut rows, bounds[0]..bounds[1], end);
        let labelled = &mut rows[end..end + size];
        labeller.label(labelled);
        let excerpt = excerpt(&labeller.labels);
        let shown = labeller.labels[excerpt.clone()].iter().copied();
        let rank = Rank::of_labels(shown, names.get(target).map_or("", |name| name));
        if example.as_ref().is_none_or(|(best, _)| rank > *best) {
            example = Some((rank, end + excerpt.start..end + excerpt.end));
        }
        sizes.push(size as i32);
        end += size;
        unreported += bounds[1] - bounds[0];
        if unreported >= ROWS_AT_A_TIME {
            watch.go_on()?;
            watch.advance(std::mem::take(&mut unreported) as u64);
        }
    }
    watch.advance(unreported as u64);
    let example = example.map(|(rank, excerpt)| Example {
        target: rank.name.0.to_string(),
        rows: rows[excerpt].iter().map(|&row| example_row(PackedRow(row))).collect(),
    });
    rows.truncate(end);
    write(directory, number, &targets, &sizes, &rows)?;
    Ok(Labelled {
        counts: labeller.counts,
        targets: targets.len() as u64,
        example: example.unwrap_or_default(),
        transitions: RoaringBitmap::new(),
    })
}

/// The rows of a labelled shard, target by target.
pub struct LabelledShard {
    pub targets: Vec<TargetKey>,
    pub sizes: Vec<i32>,
    pub rows: Vec<i64>,
}

impl LabelledShard {
    pub fn read(directory: &Path, shard: usize) -> Result<LabelledShard, LabError> {
        let targets = ColumnFile::open(&targets_file(directory, shard))?;
        let keys = targets.all64(0)?.into_iter().map(|key| TargetKey(key as u64)).collect();
        let rows = ColumnFile::open(&rows_file(directory, shard))?.all64(0)?;
        Ok(LabelledShard { targets: keys, sizes: targets.all32(1)?, rows })
    }

    /// Every target with its rows.
    pub fn iter(&self) -> impl Iterator<Item = (TargetKey, &[i64])> {
        let mut rest = &self.rows[..];
        self.targets.iter().zip(&self.sizes).map(move |(&target, &size)| {
            let (rows, others) = rest.split_at(size as usize);
            rest = others;
            (target, rows)
        })
    }
}

fn write(
    directory: &Path,
    shard: usize,
    targets: &[TargetKey],
    sizes: &[i32],
    rows: &[i64],
) -> Result<(), LabError> {
    let mut writer = ColumnWriter::create(&targets_file(directory, shard), &[Width::Bits64, Width::Bits32])?;
    let mut group = writer.group()?;
    group.bits64(&targets.iter().map(|target| target.0 as i64).collect::<Vec<_>>())?;
    group.bits32(sizes)?;
    group.finish()?;
    writer.finish()?;
    let mut writer = ColumnWriter::create(&rows_file(directory, shard), &[Width::Bits64])?;
    let mut group = writer.group()?;
    group.bits64(rows)?;
    group.finish()?;
    writer.finish()
}

/// Labels targets one after the other; keeps its memory between them.
struct Labeller<'m> {
    marks: &'m [AtomicU8],
    counts: RowCounts,
    outcomes: Vec<Outcome>,
    labels: Vec<Label>,
}

impl<'m> Labeller<'m> {
    fn new(marks: &'m [AtomicU8]) -> Labeller<'m> {
        Labeller { marks, counts: RowCounts::default(), outcomes: Vec::new(), labels: Vec::new() }
    }

    /// Moves a target's rows to `to`, further executions at one commit merged into the first; how many are left.
    fn merge_reruns(&mut self, rows: &mut [i64], from: Range<usize>, to: usize) -> usize {
        self.counts.rows += from.len() as u64;
        let mut size = 0;
        for at in from {
            let row = PackedRow(rows[at]);
            let last = (size > 0).then(|| PackedRow(rows[to + size - 1]));
            match last {
                Some(last) if last.position() == row.position() => {
                    let merged = merge_rerun(last.state(), row.state());
                    rows[to + size - 1] = last.with_state(merged).0;
                    self.counts.reruns += 1;
                }
                Some(_) | None => {
                    rows[to + size] = row.0;
                    size += 1;
                }
            }
        }
        size
    }

    fn label(&mut self, rows: &mut [i64]) {
        self.outcomes.clear();
        self.outcomes.extend(rows.iter().map(|&row| PackedRow(row).state().outcome()));
        self.labels.clear();
        self.labels.resize(rows.len(), Label::Safe);
        label(&self.outcomes, &mut self.labels);
        for (row, &label) in rows.iter_mut().zip(&self.labels) {
            let packed = PackedRow(*row);
            self.counts.count(label);
            if label.is_transition() {
                self.marks[packed.position() as usize].store(1, Ordering::Relaxed);
            }
            *row = packed.with_state(packed.state().with_label(label)).0;
        }
    }
}

/// The rows of a target that show most: those around its first unsafe one, or else its first maybe-unsafe one, or else the
/// first ones.
fn excerpt(labels: &[Label]) -> Range<usize> {
    let first = |label| labels.iter().position(|other| *other == label);
    let middle = first(Label::Unsafe).or_else(|| first(Label::MaybeUnsafe)).unwrap_or(0);
    let last_start = labels.len().saturating_sub(EXAMPLE_ROWS);
    let start = middle.saturating_sub(EXAMPLE_ROWS / 2).min(last_start);
    start..labels.len().min(start + EXAMPLE_ROWS)
}

/// How well a target's rows show what labels are: an unsafe one, then many kinds of labels, then few rows, then its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Rank<'n> {
    has_unsafe: bool,
    kinds: u32,
    shortness: usize,
    name: Reverse<&'n str>,
}

impl<'n> Rank<'n> {
    fn of(example: &'n Example) -> Rank<'n> {
        Rank::of_labels(example.rows.iter().map(|row| row.label), &example.target)
    }

    fn of_labels(labels: impl Iterator<Item = Label>, name: &'n str) -> Rank<'n> {
        let (mut kinds, mut rows) = (0u8, 0);
        for label in labels {
            kinds |= 1 << label as u8;
            rows += 1;
        }
        let has_unsafe = kinds & (1 << Label::Unsafe as u8) != 0;
        Rank { has_unsafe, kinds: kinds.count_ones(), shortness: EXAMPLE_ROWS - rows, name: Reverse(name) }
    }
}

fn example_row(row: PackedRow) -> ExampleRow {
    let state = row.state();
    ExampleRow { position: row.position(), outcome: state.outcome(), label: state.label() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_shows_an_unsafe_row_wherever_it_is() {
        let mut labels = vec![Label::Safe; 100];
        assert_eq!(excerpt(&labels), 0..EXAMPLE_ROWS);
        labels[50] = Label::MaybeUnsafe;
        assert_eq!(excerpt(&labels), 42..58);
        labels[98] = Label::Unsafe;
        assert_eq!(excerpt(&labels), 84..100);
        assert_eq!(excerpt(&labels[..3]), 0..3);
        assert_eq!(excerpt(&[]), 0..0);
    }

    #[test]
    fn an_unsafe_row_shows_more_than_all_other_kinds_together() {
        let others = [Label::NoEarlierResult, Label::Safe, Label::MaybeUnsafe, Label::AfterLastResult];
        let unsafe_one = [Label::Safe, Label::Unsafe];
        let rank = |labels: &[Label]| Rank::of_labels(labels.iter().copied(), "t");
        assert!(rank(&unsafe_one) > rank(&others));
    }
}
