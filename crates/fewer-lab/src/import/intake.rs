//! The one way into a history: rows in any order that the options allow, checked one by one.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustc_hash::FxHashMap;
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use super::sort::sort;
use crate::error::{BadRow, LabError};
use crate::label::Outcome;
use crate::records::{Execution, HistoryWriter, PreSubmit};

/// Bad rows that are told one by one.
const BAD_ROWS: usize = 20;
/// Rows among which duplicates are looked for.
const REMEMBERED_ROWS: usize = 4 << 20;

/// What the times of rows are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Times {
    /// Of the commit: the same for all of its rows, which are in the order of time.
    Commit,
    /// Of the execution: the commit's is the earliest of them.
    Execution,
}

/// What happens to a row that is in every field like another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Duplicates {
    Refuse,
    Drop,
    Keep,
}

#[derive(Clone, Debug)]
pub struct IntakeOptions {
    /// A directory that is not there yet.
    pub output: PathBuf,
    pub times: Times,
    /// Bring rows into the order of time instead of refusing those that are not.
    pub sort: bool,
    pub duplicates: Duplicates,
}

/// What is known of a commit besides the rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitFacts {
    /// In microseconds since 1970.
    pub time: i64,
    pub author: String,
}

/// Knows commits, such as a git repository.
pub trait CommitSource {
    /// By the name that rows have, which may be abbreviated.
    fn commit(&self, name: &str) -> Option<CommitFacts>;

    /// The modified files of commits that are known, a list for each.
    fn files(&self, names: &[&str]) -> Result<Vec<Vec<String>>, String>;
}

/// Knows none.
pub struct NoCommits;

impl CommitSource for NoCommits {
    fn commit(&self, _: &str) -> Option<CommitFacts> {
        None
    }

    fn files(&self, names: &[&str]) -> Result<Vec<Vec<String>>, String> {
        Ok(vec![Vec::new(); names.len()])
    }
}

/// A row on its way in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IntakeRow<'r> {
    pub commit: &'r str,
    /// In microseconds since 1970; not needed where git knows the commit.
    pub time: Option<i64>,
    pub author: Option<&'r str>,
    pub target: &'r str,
    pub outcome: Outcome,
    pub duration_s: Option<f64>,
    pub pre_submit: PreSubmit,
    pub fingerprint: Option<&'r str>,
}

/// What was imported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Imported {
    pub rows: u64,
    pub commits: u64,
    /// Commits that git knows.
    pub joined: u64,
    pub modified_files: u64,
    /// Rows like others that were left out.
    pub duplicates: u64,
    /// Whether rows were brought into the order of time.
    pub sorted: bool,
}

/// Takes rows in.
pub struct Intake<'s> {
    writer: HistoryWriter,
    options: IntakeOptions,
    source: &'s dyn CommitSource,
    numbers: FxHashMap<Box<str>, u32>,
    commits: Vec<Commit>,
    seen: FxHashMap<u64, (u64, u32)>,
    /// The files that rows came from; `seen` refers to them.
    paths: Vec<PathBuf>,
    bad: Vec<BadRow>,
    more_bad: u64,
    /// Of the row before.
    last: Option<u32>,
    needs_sort: bool,
    imported: Imported,
}

pub(super) struct Commit {
    pub time: i64,
    author: Option<Box<str>>,
    is_known: bool,
}

impl<'s> Intake<'s> {
    pub fn new(options: IntakeOptions, source: &'s dyn CommitSource) -> Result<Intake<'s>, LabError> {
        Ok(Intake {
            writer: HistoryWriter::create(&options.output)?,
            options,
            source,
            numbers: FxHashMap::default(),
            commits: Vec::new(),
            seen: FxHashMap::default(),
            paths: Vec::new(),
            bad: Vec::new(),
            more_bad: 0,
            last: None,
            needs_sort: false,
            imported: Imported::default(),
        })
    }

    /// Takes a row of a file in, or notes what is wrong with it.
    pub fn push(&mut self, path: &Path, row_number: u64, row: &IntakeRow<'_>) -> Result<(), LabError> {
        match self.accept(path, row_number, row) {
            Ok(Some(number)) => self.write(number, row),
            Ok(None) => Ok(()),
            Err(problem) => {
                self.refuse(path, row_number, problem);
                Ok(())
            }
        }
    }

    /// Notes a row that could not even be read.
    pub fn refuse(&mut self, path: &Path, row: u64, problem: String) {
        match self.bad.len() < BAD_ROWS {
            true => self.bad.push(BadRow { path: path.to_path_buf(), row, problem }),
            false => self.more_bad += 1,
        }
    }

    /// Publishes the history; `inputs` is what an empty one is blamed on.
    pub fn finish(mut self, inputs: &Path) -> Result<Imported, LabError> {
        if !self.bad.is_empty() {
            return Err(LabError::BadRows { rows: self.bad, more: self.more_bad });
        }
        if self.imported.rows == 0 {
            return Err(LabError::Empty { path: inputs.to_path_buf() });
        }
        let positions = self.positions();
        let is_moved = positions.iter().zip(0..).any(|(position, number)| *position != number);
        if self.needs_sort || is_moved {
            sort(&mut self.writer, &positions, &self.commits)?;
            self.imported.sorted = true;
        }
        self.write_files(&positions)?;
        self.imported.commits = self.commits.len() as u64;
        self.writer.finish()?;
        Ok(self.imported)
    }

    /// The number of the row's commit; `None` for a row that is left out; or what is wrong.
    fn accept(&mut self, path: &Path, row_number: u64, row: &IntakeRow<'_>) -> Result<Option<u32>, String> {
        if row.target.is_empty() || row.commit.is_empty() {
            let what = if row.target.is_empty() { "target" } else { "commit" };
            return Err(format!("it has no {what}"));
        }
        if self.options.duplicates != Duplicates::Keep
            && let Some(before) = self.look_for_duplicate(path, row_number, row)
        {
            return match self.options.duplicates {
                Duplicates::Drop => {
                    self.imported.duplicates += 1;
                    Ok(None)
                }
                Duplicates::Refuse | Duplicates::Keep => Err(format!(
                    "it is a duplicate of {before}; remove it, or leave such rows out with --duplicates drop"
                )),
            };
        }
        let number = self.number(row)?;
        self.check_order(number, row)?;
        Ok(Some(number))
    }

    /// The row before that is like this one.
    fn look_for_duplicate(&mut self, path: &Path, row_number: u64, row: &IntakeRow<'_>) -> Option<String> {
        if self.seen.len() >= REMEMBERED_ROWS {
            self.seen.clear();
        }
        if self.paths.last().is_none_or(|last| last != path) {
            self.paths.push(path.to_path_buf());
        }
        let file = self.paths.len() as u32 - 1;
        match self.seen.entry(hash(row)) {
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert((row_number, file));
                None
            }
            std::collections::hash_map::Entry::Occupied(before) => {
                let (row, other) = *before.get();
                let place = if other == file {
                    String::new()
                } else {
                    format!(" of {}", self.paths[other as usize].display())
                };
                Some(format!("row {row}{place}"))
            }
        }
    }

    fn number(&mut self, row: &IntakeRow<'_>) -> Result<u32, String> {
        if let Some(&number) = self.numbers.get(row.commit) {
            return Ok(number);
        }
        let facts = self.source.commit(row.commit);
        let known = facts.as_ref().map(|facts| facts.time);
        let time = known.or(row.time).ok_or_else(|| {
            format!("it has no time, and commit '{}' is in no repository that was named", row.commit)
        })?;
        let author = facts.as_ref().map(|facts| facts.author.as_str()).or(row.author).map(Box::from);
        let number = self.commits.len() as u32;
        self.imported.joined += u64::from(facts.is_some());
        self.commits.push(Commit { time, author, is_known: facts.is_some() });
        self.numbers.insert(row.commit.into(), number);
        Ok(number)
    }

    fn check_order(&mut self, number: u32, row: &IntakeRow<'_>) -> Result<(), String> {
        let before = self.last.map(|last| self.commits[last as usize].time);
        self.needs_sort |= self.last.is_some_and(|last| last > number);
        let commit = &mut self.commits[number as usize];
        let is_from_row = !commit.is_known;
        match (row.time, self.options.times) {
            (Some(time), Times::Commit) if is_from_row && time != commit.time => {
                return Err(format!(
                    "commit '{}' has two times, {} and {}; if these are times of executions, say --times execution",
                    row.commit,
                    moment(commit.time),
                    moment(time)
                ));
            }
            (Some(time), Times::Execution) if is_from_row && time < commit.time => {
                commit.time = time;
                self.needs_sort = true;
            }
            (Some(_), Times::Commit | Times::Execution) | (None, _) => {}
        }
        if let Some(before) = before.filter(|before| *before > commit.time) {
            if is_from_row && self.options.times == Times::Commit && !self.options.sort {
                return Err(format!(
                    "times are out of order: {} comes after {}; sort the rows by time, or say --sort",
                    moment(commit.time),
                    moment(before)
                ));
            }
            self.needs_sort = true;
        }
        self.last = Some(number);
        Ok(())
    }

    fn write(&mut self, number: u32, row: &IntakeRow<'_>) -> Result<(), LabError> {
        self.imported.rows += 1;
        if !self.bad.is_empty() {
            return Ok(());
        }
        let commit = &self.commits[number as usize];
        self.writer.push(&Execution {
            position: number,
            commit: row.commit,
            time: commit.time,
            author: commit.author.as_deref(),
            target: row.target,
            outcome: row.outcome,
            duration_s: row.duration_s,
            pre_submit: row.pre_submit,
            fingerprint: row.fingerprint,
        })
    }

    /// By number: the place in the order of time; commits of the same time stay as they came.
    fn positions(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.commits.len() as u32).collect();
        order.sort_by_key(|&number| self.commits[number as usize].time);
        let mut positions = vec![0; order.len()];
        for (&number, position) in order.iter().zip(0..) {
            positions[number as usize] = position;
        }
        positions
    }

    fn write_files(&mut self, positions: &[u32]) -> Result<(), LabError> {
        let mut known: Vec<(u32, &str)> = self
            .numbers
            .iter()
            .filter(|(_, number)| self.commits[**number as usize].is_known)
            .map(|(name, &number)| (positions[number as usize], &**name))
            .collect();
        known.sort_unstable();
        let names: Vec<&str> = known.iter().map(|(_, name)| *name).collect();
        let lists = self.source.files(&names).map_err(|problem| LabError::Input {
            path: self.options.output.clone(),
            problem: format!("the modified files of its commits are not known: {problem}"),
        })?;
        for ((position, name), files) in known.iter().zip(lists) {
            for file in files {
                self.writer.push_file(*position, name, &file)?;
                self.imported.modified_files += 1;
            }
        }
        Ok(())
    }
}

/// Of every field.
fn hash(row: &IntakeRow<'_>) -> u64 {
    let mut hasher = Xxh3::new();
    for text in [Some(row.commit), row.author, Some(row.target), row.fingerprint] {
        hasher.update(text.unwrap_or_default().as_bytes());
        hasher.update(&[0xff]);
    }
    hasher.update(&row.time.unwrap_or(i64::MIN).to_le_bytes());
    hasher.update(&row.duration_s.unwrap_or(f64::NAN).to_bits().to_le_bytes());
    hasher.update(&[row.outcome as u8, row.pre_submit as u8]);
    hasher.digest()
}

fn moment(time: i64) -> String {
    Timestamp::from_microsecond(time).map_or_else(|_| time.to_string(), |time| time.to_string())
}
