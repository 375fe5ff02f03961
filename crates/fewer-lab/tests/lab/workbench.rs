//! Small histories, and the engine run over them.

use std::path::{Path, PathBuf};

use fewer_lab::engine::embedded::{self, Options};
use fewer_lab::engine::{Ignored, Simulation};
use fewer_lab::generate::{Shape, generate};
use fewer_lab::records::{Execution, History, HistoryWriter, PreSubmit};
use fewer_lab::{Experiment, Outcome};
use tempfile::TempDir;

pub const HOUR: i64 = 3_600_000_000;
/// More than any history of a test needs.
pub const PLENTY: u64 = 1 << 28;

/// A commit of a small history.
pub struct Commit<'c> {
    pub hour: i64,
    pub author: &'c str,
    pub files: &'c [&'c str],
    /// Target, result (`P`, `F` or `-`) and state before the commit.
    pub rows: &'c [(&'c str, char, PreSubmit)],
}

/// A temporary directory with a history in `history`.
pub struct Workbench(TempDir);

impl Workbench {
    pub fn new() -> Workbench {
        Workbench(tempfile::tempdir().unwrap())
    }

    pub fn with(commits: &[Commit<'_>]) -> Workbench {
        let workbench = Workbench::new();
        let mut writer = HistoryWriter::create(&workbench.path("history")).unwrap();
        for (position, commit) in (0..).zip(commits) {
            let id = format!("c{position}");
            for (target, result, pre_submit) in commit.rows {
                let execution = Execution {
                    position,
                    commit: &id,
                    time: commit.hour * HOUR,
                    author: Some(commit.author),
                    target,
                    outcome: outcome(*result),
                    duration_s: None,
                    pre_submit: *pre_submit,
                    fingerprint: None,
                };
                writer.push(&execution).unwrap();
            }
            commit.files.iter().for_each(|file| writer.push_file(position, &id, file).unwrap());
        }
        writer.finish().unwrap();
        workbench
    }

    /// A generated history.
    pub fn generated(shape: &Shape) -> Workbench {
        let workbench = Workbench::new();
        generate(shape, &workbench.path("history"), &Ignored).unwrap();
        workbench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn history(&self) -> History {
        History::open(&self.path("history")).unwrap()
    }

    pub fn run(&self, experiment: &Experiment) -> Simulation {
        run(&self.history(), experiment, &self.path("work"), PLENTY)
    }
}

pub fn run(history: &History, experiment: &Experiment, work: &Path, memory: u64) -> Simulation {
    let options = Options { work: work.to_path_buf(), memory };
    let simulation = embedded::run(history, experiment, &options, &Ignored).unwrap();
    embedded::clear(&options).unwrap();
    simulation
}

pub fn outcome(letter: char) -> Outcome {
    match letter {
        'P' => Outcome::Pass,
        'F' => Outcome::Fail,
        '-' => Outcome::NotRun,
        other => panic!("'{other}' is no result"),
    }
}
