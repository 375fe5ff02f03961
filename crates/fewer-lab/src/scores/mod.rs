//! Every algorithm's score for every row of one target, from the rows before it alone: with the labels, the first
//! of the two kernels. One pass per window over the target's rows, never a re-scan.
//!
//! A row at time T sees what happened in (T - window, T): nothing at T itself, nothing later.

mod authors;
pub mod directories;
mod transitions;

use crate::algorithms::{Algorithm, Configuration, Hours};
use crate::label::Outcome;
use crate::records::PreSubmit;
use authors::Authors;
use directories::{Directories, TargetDirectory};

/// One target's rows in commit order.
#[derive(Clone, Copy, Debug)]
pub struct TargetRows<'r> {
    pub positions: &'r [u32],
    /// Of the commits, in microseconds; never falling.
    pub times: &'r [i64],
    /// Dense numbers of the commits' authors.
    pub authors: &'r [u32],
    pub outcomes: &'r [Outcome],
    pub pre_submit: &'r [PreSubmit],
}

/// Scores targets one after the other; keeps its memory between them.
pub struct Scorer<'d> {
    configurations: Vec<Configuration>,
    directories: Option<&'d Directories>,
    authors: Authors,
    /// Per row, how many rows of the target are strictly before it in time.
    before: Vec<u32>,
    events: Vec<i64>,
}

impl<'d> Scorer<'d> {
    /// For the configurations of an experiment that need scores, in this order.
    pub fn new(configurations: Vec<Configuration>, directories: Option<&'d Directories>) -> Scorer<'d> {
        Scorer {
            configurations,
            directories,
            authors: Authors::default(),
            before: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Appends to each configuration's column the scores of the wanted rows, which are in rising order.
    pub fn score(
        &mut self,
        rows: &TargetRows<'_>,
        target: Option<&TargetDirectory>,
        wanted: &[u32],
        columns: &mut [Vec<u32>],
    ) {
        count_before(rows.times, &mut self.before);
        let has_authors = self.configurations.iter().any(|one| one.algorithm == Algorithm::AuthorCount);
        if has_authors {
            self.authors.link(rows.authors);
        }
        let (mut milestone, has_transitions) = (None, transitions::has_any(rows.outcomes));
        self.events.clear();
        for (configuration, column) in self.configurations.iter().zip(columns) {
            let window = configuration.window.unwrap_or(Hours(0)).microseconds();
            match configuration.algorithm {
                Algorithm::TransitionCount => {
                    if has_transitions && milestone != configuration.milestone {
                        milestone = configuration.milestone;
                        let every = milestone.unwrap_or(Hours(1)).microseconds();
                        transitions::at_milestones(rows, every, &mut self.events);
                    }
                    transitions::count(rows.times, &self.events, window, wanted, column);
                }
                Algorithm::AffectedCount => affected(rows.times, &self.before, window, wanted, column),
                Algorithm::AuthorCount => {
                    self.authors.count(rows.times, &self.before, window, wanted, column);
                }
                Algorithm::PreSubmit => {
                    column.extend(wanted.iter().map(|&row| rank(rows.pre_submit[row as usize])));
                }
                Algorithm::SharedDirectories => {
                    let shared = |&row: &u32| match (self.directories, target) {
                        (Some(directories), Some(target)) => {
                            directories.score(target, rows.positions[row as usize])
                        }
                        (Some(_), None) | (None, _) => 0,
                    };
                    column.extend(wanted.iter().map(shared));
                }
                Algorithm::Random | Algorithm::Optimal | Algorithm::Pessimal => {
                    unreachable!("baselines have no scores")
                }
            }
        }
    }
}

/// Per row, how many rows of the target have an earlier time.
fn count_before(times: &[i64], before: &mut Vec<u32>) {
    before.clear();
    let mut earlier = 0;
    for (row, &time) in times.iter().enumerate() {
        if row > 0 && times[row - 1] < time {
            earlier = row as u32;
        }
        before.push(earlier);
    }
}

/// Commits that affected the target within the window.
fn affected(times: &[i64], before: &[u32], window: i64, wanted: &[u32], column: &mut Vec<u32>) {
    let mut left = 0;
    for &row in wanted {
        let row = row as usize;
        let horizon = times[row] - window;
        while left < before[row] && times[left as usize] <= horizon {
            left += 1;
        }
        column.push(before[row] - left);
    }
}

/// The published order. A target of which nothing is known was not run before the commit and nothing says that it
/// may be skipped, like one outside of the commit's projects; where nothing is known of any, all are equal.
fn rank(pre_submit: PreSubmit) -> u32 {
    match pre_submit {
        PreSubmit::Skipped => 1,
        PreSubmit::NoTransition => 2,
        PreSubmit::NotAffected | PreSubmit::Unknown => 3,
        PreSubmit::Transition => 4,
    }
}

#[cfg(test)]
mod tests;
