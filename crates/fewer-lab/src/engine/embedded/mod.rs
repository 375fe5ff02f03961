//! The engine inside of this program: rows are sharded by target into temporary Parquet files, labelled and scored
//! shard by shard in parallel, and evaluated by ranges of commits. Memory is bounded by a setting, whatever the number
//! of rows, apart from 16 bytes per commit and the directories of modified files.

mod columns;
mod commits;
mod evaluation;
mod export;
mod labelling;
mod ledger;
mod scatter;
mod scoring;
mod shards;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::algorithms::{Algorithm, Experiment};
use crate::engine::{RowCounts, Simulation, Stage, Watch};
use crate::error::LabError;
use crate::records::{History, Staging, absolute, modified_files};
use crate::scores::directories::Directories;
pub use export::{LABELS_FORMAT, labels_schema};
pub(crate) use labelling::Labelled;
pub(crate) use shards::{Shard, TargetKey};

use commits::Commits;
use ledger::Ledger;
use scatter::{Carried, Cut};
use scoring::{Scored, Scoring};

/// As much as the operating system lets have open, with some to spare.
const MOST_SHARDS: usize = 512;
/// Bytes of a row while a shard is sorted and labelled.
const BYTES_TO_LABEL: u64 = 56;
/// Bytes of a target in a set, which is half empty after it has grown.
const BYTES_OF_A_KEY: u64 = 20;
/// Bytes of a row while commits are evaluated, and more per thread.
const BYTES_TO_EVALUATE: u64 = 32;

/// How the engine works.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Where temporary files go. What an interrupted run left there is taken over.
    pub work: PathBuf,
    /// Bytes that rows may take in memory.
    pub memory: u64,
}

/// Runs an experiment over a history.
pub fn run(
    history: &History,
    experiment: &Experiment,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Simulation, LabError> {
    let mut work = Work::open(history, options)?;
    let (commits, labelled) = work.label(watch)?;
    let scored = work.score(&commits, &labelled, experiment, watch)?;
    let tallies = evaluation::evaluate(work.ledger.directory(), experiment, &scored, watch)?;
    Ok(Simulation {
        experiment: experiment.clone(),
        commits: commits.count(),
        targets: labelled.targets,
        counts: labelled.counts,
        example: labelled.example,
        tallies,
    })
}

/// Labels a history and writes the labels into a directory that is not there yet.
pub fn label(
    history: &History,
    output: &Path,
    options: &Options,
    watch: &dyn Watch,
) -> Result<RowCounts, LabError> {
    let staging = Staging::new(output)?;
    let mut work = Work::open(history, options)?;
    let (commits, labelled) = work.label(watch)?;
    let (directory, shards) = (work.ledger.directory(), work.cut.shards);
    export::export(directory, shards, &history.executions, &commits, staging.path(), watch)?;
    staging.publish()?;
    Ok(labelled.counts)
}

/// Removes the temporary files, once their results are safe.
pub fn clear(options: &Options) -> Result<(), LabError> {
    fs::remove_dir_all(&options.work).map_err(LabError::io("remove", &options.work))
}

/// The shards of a history with what cleaning needs to know of rows.
pub(crate) struct CleaningShards {
    directory: PathBuf,
    pub count: usize,
}

impl CleaningShards {
    /// Columns: packed rows, row numbers, hashes of fingerprints.
    pub fn read(&self, shard: usize) -> Result<Shard, LabError> {
        Shard::read(&self.directory, shard, Carried::RowAndFingerprint.columns())
    }
}

/// Shards a history for cleaning.
pub(crate) fn sharded_for_cleaning(
    history: &History,
    options: &Options,
    watch: &dyn Watch,
) -> Result<CleaningShards, LabError> {
    let cut = cut(history.executions.rows(), options.memory / 2)?;
    let of = format!("{} cut into {} shards for cleaning", identity(&history.executions.path)?, cut.shards);
    let mut ledger = Ledger::open(&options.work)?;
    match ledger.result::<()>(Stage::Shard, &of) {
        Some(()) => watch.resumed(Stage::Shard),
        None => {
            let carried = Carried::RowAndFingerprint;
            scatter::scatter(&history.executions, ledger.directory(), &cut, carried, watch)?;
            ledger.record(Stage::Shard, &of, &())?;
        }
    }
    Ok(CleaningShards { directory: options.work.clone(), count: cut.shards })
}

/// A history and the directory in which it is worked on.
struct Work<'h> {
    history: &'h History,
    ledger: Ledger,
    memory: u64,
    cut: Cut,
    /// Tells the history from others, and from itself after a change.
    of: String,
}

impl<'h> Work<'h> {
    fn open(history: &'h History, options: &Options) -> Result<Work<'h>, LabError> {
        let cut = cut(history.executions.rows(), options.memory)?;
        let of = format!("{} cut into {} shards", identity(&history.executions.path)?, cut.shards);
        Ok(Work { history, ledger: Ledger::open(&options.work)?, memory: options.memory, cut, of })
    }

    /// The first two stages.
    fn label(&mut self, watch: &dyn Watch) -> Result<(Commits, Labelled), LabError> {
        let directory = self.ledger.directory().to_path_buf();
        let commits_file = directory.join("commits.parquet");
        if let Some(labelled) = self.ledger.result(Stage::Label, &self.of) {
            watch.resumed(Stage::Label);
            return Ok((Commits::load(&commits_file)?, labelled));
        }
        let executions = &self.history.executions;
        let commits = match self.ledger.result::<()>(Stage::Shard, &self.of) {
            Some(()) => {
                watch.resumed(Stage::Shard);
                Commits::load(&commits_file)?
            }
            None => {
                let commits = scatter::scatter(executions, &directory, &self.cut, Carried::Nothing, watch)?;
                commits.save(&commits_file)?;
                self.ledger.record(Stage::Shard, &self.of, &())?;
                commits
            }
        };
        let shards = self.cut.shards;
        let labelled =
            labelling::label_shards(&directory, shards, commits.times.len(), executions.rows(), watch)?;
        self.ledger.record(Stage::Label, &self.of, &labelled)?;
        for shard in 0..shards {
            let path = shards::rows_file(&directory, shard);
            fs::remove_file(&path).map_err(LabError::io("remove", &path))?;
        }
        Ok((commits, labelled))
    }

    fn score(
        &mut self,
        commits: &Commits,
        labelled: &Labelled,
        experiment: &Experiment,
        watch: &dyn Watch,
    ) -> Result<Scored, LabError> {
        let configurations = experiment.scored();
        let names: Vec<String> = configurations.iter().map(ToString::to_string).collect();
        let files = self.history.modified_files();
        let files_identity = files.as_deref().map(identity).transpose()?.unwrap_or_default();
        let of = format!("{}, {files_identity}, scored by {}", self.of, names.join(" "));
        if let Some(scored) = self.ledger.result(Stage::Score, &of) {
            watch.resumed(Stage::Score);
            return Ok(scored);
        }
        let needs_files = configurations.iter().any(|one| one.algorithm == Algorithm::SharedDirectories);
        let directories = match files.filter(|_| needs_files) {
            Some(path) => Some(read_directories(&path)?),
            None => None,
        };
        let threads = rayon::current_num_threads().max(1) as u64;
        let row_bytes = 16 + 4 * configurations.len() as u64;
        let scoring = Scoring {
            directory: self.ledger.directory(),
            configurations: &configurations,
            commits,
            labelled,
            directories: directories.as_ref(),
            rows_in_memory: (self.memory / 2 / threads / row_bytes).max(1 << 12) as usize,
            partition_rows: self.memory / 2 / (BYTES_TO_EVALUATE + 8 * threads),
            watch,
        };
        let scored = scoring.score_shards(self.cut.shards)?;
        self.ledger.record(Stage::Score, &of, &scored)?;
        Ok(scored)
    }
}

/// The directories of every commit's modified files.
pub fn read_directories(path: &Path) -> Result<Directories, LabError> {
    let mut directories = Directories::default();
    modified_files(path, |position, path| directories.add(position, path))?;
    directories.arrange();
    Ok(directories)
}

/// Shards that fit memory while each thread works on one, in a power of two.
fn cut(rows: u64, memory: u64) -> Result<Cut, LabError> {
    let threads = rayon::current_num_threads().max(1) as u64;
    let shard_rows = memory / 2 / threads / BYTES_TO_LABEL;
    let shards = rows.div_ceil(shard_rows.max(1)).next_power_of_two().max(1);
    // Enough that no thread is without work at the end.
    let shards = if rows > 1 << 20 { shards.max((4 * threads).next_power_of_two()) } else { shards };
    if shards > MOST_SHARDS as u64 {
        let needed = rows * BYTES_TO_LABEL * threads * 2 / MOST_SHARDS as u64;
        return Err(LabError::TooLittleMemory { given: megabytes(memory), needed: megabytes(needed) });
    }
    let waiting = (memory / 4 / (shards * 16)).clamp(1 << 10, 1 << 20);
    let piece = (memory / 4 / threads / 64).clamp(1 << 14, 1 << 20);
    let remembered = (memory / 8 / BYTES_OF_A_KEY).max(1 << 12);
    Ok(Cut {
        shards: shards as usize,
        piece: piece as usize,
        waiting: waiting as usize,
        remembered: remembered as usize,
    })
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1 << 20))
}

/// Tells a file from another, and from itself after a change.
fn identity(path: &Path) -> Result<String, LabError> {
    let path = absolute(path)?;
    let metadata = path.metadata().map_err(LabError::io("read", &path))?;
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = changed.map_or(0, |since| since.as_nanos());
    Ok(format!("{} of {} bytes changed at {changed}", path.display(), metadata.len()))
}
