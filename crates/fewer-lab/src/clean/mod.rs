//! Cleaning a history of flaky results, in three passes, each with counts: results that a rerun contradicts, results
//! that an oracle calls flaky, and targets with more transitions than breaking and mending explains.
//!
//! A result that is not trusted becomes "not run": the commit did affect the target. Targets that are flaky as such
//! are left out.

mod oracle;
mod rewrite;
mod target;

use std::path::Path;

use rayon::prelude::*;
use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};

pub use oracle::Oracle;

use crate::engine::embedded::{Options, sharded_for_cleaning};
use crate::engine::{Stage, Watch};
use crate::error::LabError;
use crate::records::{History, HistoryWriter};
use crate::table::{Column, Table};
use oracle::Judgement;
use target::{Target, Verdict};

/// The published threshold.
pub const MOST_TRANSITIONS: u32 = 14;
/// In the directory of a cleaned history: what was found.
pub const REPORT: &str = "clean.json";

/// Where transitions come from: how many each pass removed, and how many are left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TransitionSources {
    /// Transitions in the history as it came.
    pub transitions: u64,
    /// Known results in it.
    pub results: u64,
    pub targets: u64,
    pub reruns: Removed,
    pub oracle: Removed,
    pub frequent: Removed,
    /// Transitions that are left.
    pub genuine: u64,
    /// Executions that agreed with an earlier one of the same commit and were merged with it.
    pub merged: u64,
}

/// What a pass removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Removed {
    pub transitions: u64,
    pub results: u64,
    /// Targets of which anything was removed.
    pub targets: u64,
}

impl TransitionSources {
    /// Figure 2, with what was removed besides.
    pub fn table(&self) -> Table {
        let columns = [
            ("source", Column::TEXT),
            ("transitions", Column::INTEGER),
            ("share", Column::NUMBER),
            ("results_removed", Column::INTEGER),
            ("targets_concerned", Column::INTEGER),
        ];
        let mut table = Table::new("figure-2", "Sources of transitions", &columns);
        let genuine = Removed { transitions: self.genuine, results: 0, targets: 0 };
        let rows = [
            ("flaky by rerun", self.reruns),
            ("flaky by oracle", self.oracle),
            ("too frequent", self.frequent),
            ("genuine", genuine),
        ];
        for (source, removed) in rows {
            let share = removed.transitions as f64 / (self.transitions as f64).max(1.0);
            table.row([
                source.into(),
                removed.transitions.into(),
                share.into(),
                removed.results.into(),
                removed.targets.into(),
            ]);
        }
        table
    }

    fn add(&mut self, other: &TransitionSources) {
        self.transitions += other.transitions;
        self.results += other.results;
        self.targets += other.targets;
        self.genuine += other.genuine;
        self.merged += other.merged;
        for (sum, more) in [
            (&mut self.reruns, &other.reruns),
            (&mut self.oracle, &other.oracle),
            (&mut self.frequent, &other.frequent),
        ] {
            sum.transitions += more.transitions;
            sum.results += more.results;
            sum.targets += more.targets;
        }
    }
}

/// What a cleaned history's report says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// `fewer-simulate-clean/1`.
    pub format: String,
    pub rows_in: u64,
    pub rows_out: u64,
    pub most_transitions: u32,
    pub sources: TransitionSources,
}

impl Report {
    /// Of a history that was cleaned; `None` of one that was not.
    pub fn of(history: &Path) -> Result<Option<Report>, LabError> {
        let path = history.join(REPORT);
        match fewer_files::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| LabError::Input {
                path,
                problem: format!("it is no report of a cleaning ({error}); clean the history again"),
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LabError::io("read", &path)(error)),
        }
    }
}

/// How a history is cleaned.
#[derive(Clone, Debug)]
pub struct CleanOptions {
    pub oracle: Oracle,
    /// Targets with more transitions are left out.
    pub most_transitions: u32,
    pub engine: Options,
}

/// Cleans a history into a directory that is not there yet.
pub fn clean(
    history: &History,
    output: &Path,
    options: &CleanOptions,
    watch: &dyn Watch,
) -> Result<Report, LabError> {
    let writer = HistoryWriter::create(output)?;
    let shards = sharded_for_cleaning(history, &options.engine, watch)?;
    watch.begin(Stage::Clean, history.executions.rows());
    let judgement = options.oracle.judge(history)?;
    let cleaned: Vec<Cleaned> = (0..shards.count)
        .into_par_iter()
        .map(|shard| {
            watch.go_on()?;
            let shard = shards.read(shard)?;
            let cleaned = Cleaned::of(&shard, &judgement, options.most_transitions);
            watch.advance(shard.columns[0].len() as u64);
            Ok(cleaned)
        })
        .collect::<Result<_, LabError>>()?;
    let mut all = Cleaned::default();
    for one in cleaned {
        all.sources.add(&one.sources);
        all.dropped |= one.dropped;
        all.forgotten |= one.forgotten;
    }
    let rows_out = rewrite::rewrite(history, writer, &all, options.most_transitions, watch)?;
    Ok(report(history, rows_out, &all, options.most_transitions))
}

fn report(history: &History, rows_out: u64, cleaned: &Cleaned, most_transitions: u32) -> Report {
    Report {
        format: "fewer-simulate-clean/1".to_string(),
        rows_in: history.executions.rows(),
        rows_out,
        most_transitions,
        sources: cleaned.sources,
    }
}

/// What becomes of rows, by their numbers.
#[derive(Default)]
struct Cleaned {
    sources: TransitionSources,
    dropped: RoaringTreemap,
    /// Their results are not trusted.
    forgotten: RoaringTreemap,
}

impl Cleaned {
    fn of(shard: &crate::engine::embedded::Shard, judgement: &Judgement, most_transitions: u32) -> Cleaned {
        let mut cleaned = Cleaned::default();
        let (mut dropped, mut forgotten) = (Vec::new(), Vec::new());
        let mut target = Target::default();
        for (key, bounds) in shard.targets.iter().zip(shard.starts.windows(2)) {
            let rows = bounds[0]..bounds[1];
            let columns = [0, 1, 2].map(|column| &shard.columns[column][rows.clone()]);
            let sources = target.clean(columns, judgement.of(*key), most_transitions);
            cleaned.sources.add(&sources);
            for (&row, verdict) in columns[1].iter().zip(target.verdicts()) {
                match verdict {
                    Verdict::Keep => {}
                    Verdict::Drop => dropped.push(row as u64),
                    Verdict::Forget => forgotten.push(row as u64),
                }
            }
        }
        dropped.sort_unstable();
        forgotten.sort_unstable();
        cleaned.dropped = dropped.into_iter().collect();
        cleaned.forgotten = forgotten.into_iter().collect();
        cleaned
    }
}
