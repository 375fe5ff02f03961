//! The commits of a history, by position: time, author and how many rows. All that an engine keeps in memory for the
//! whole history, 16 bytes a commit.

use std::path::Path;

use super::columns::{ColumnFile, ColumnWriter, Width};
use crate::error::LabError;

/// By position. A position without rows is no commit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Commits {
    pub times: Vec<i64>,
    pub authors: Vec<u32>,
    pub rows: Vec<u32>,
}

/// Neighbouring rows of one commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    pub position: u32,
    pub time: i64,
    pub author: u32,
    pub rows: u32,
    /// Counted from 0 over the whole file.
    pub first_row: u64,
}

impl Commits {
    /// Adds the next rows of the file; the problem where they contradict those before.
    pub fn add(&mut self, run: &Run, path: &Path) -> Result<(), LabError> {
        let position = run.position as usize;
        let contradiction = |problem: String| {
            let problem = format!("{problem} (row {})", run.first_row + 1);
            LabError::Contradiction { path: path.to_path_buf(), problem }
        };
        if position + 1 < self.rows.len() {
            let problem =
                format!("a row at position {position} comes after position {}", self.rows.len() - 1);
            return Err(contradiction(problem));
        }
        if position < self.rows.len() {
            if self.times[position] != run.time {
                return Err(contradiction(format!("position {position} has two different times")));
            }
            self.rows[position] += run.rows;
            return Ok(());
        }
        if self.times.last().is_some_and(|&last| last > run.time) {
            return Err(contradiction(format!(
                "times are out of order: position {position} is earlier than the one before"
            )));
        }
        // Positions that cleaning emptied.
        let gap = self.times.last().copied().unwrap_or(run.time);
        self.times.resize(position, gap);
        self.authors.resize(position, 0);
        self.rows.resize(position, 0);
        self.times.push(run.time);
        self.authors.push(run.author);
        self.rows.push(run.rows);
        Ok(())
    }

    /// Commits with rows.
    pub fn count(&self) -> u64 {
        self.rows.iter().filter(|rows| **rows > 0).count() as u64
    }

    pub fn save(&self, path: &Path) -> Result<(), LabError> {
        let mut writer = ColumnWriter::create(path, &[Width::Bits64, Width::Bits32, Width::Bits32])?;
        let mut group = writer.group()?;
        group.bits64(&self.times)?;
        group.bits32(&self.authors.iter().map(|&author| author as i32).collect::<Vec<_>>())?;
        group.bits32(&self.rows.iter().map(|&rows| rows as i32).collect::<Vec<_>>())?;
        group.finish()?;
        writer.finish()
    }

    pub fn load(path: &Path) -> Result<Commits, LabError> {
        let file = ColumnFile::open(path)?;
        let unsigned = |column| Ok(file.all32(column)?.into_iter().map(|value| value as u32).collect());
        Ok(Commits { times: file.all64(0)?, authors: unsigned(1)?, rows: unsigned(2)? })
    }
}
