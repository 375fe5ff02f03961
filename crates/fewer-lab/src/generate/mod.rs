//! Synthetic histories of any size, seeded: the same shape and seed give the same bytes. Rows are written as they are
//! made; memory grows with the targets and with the rows between two milestones.

mod world;

use std::path::Path;

use serde::Serialize;

use crate::algorithms::Hours;
use crate::engine::{Stage, Watch};
use crate::error::LabError;
use crate::label::Outcome;
use crate::random::Draws;
use crate::records::{Execution, HistoryWriter};
use world::{MadeCommit, MadeRow, World};

/// 2024-01-01, a Monday.
const START: i64 = 1_704_067_200_000_000;
const DAY: f64 = 86_400_000_000.0;

/// What a generated history looks like.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Shape {
    pub seed: u64,
    /// Executions and affected targets that were not run, together.
    pub rows: u64,
    pub commits: u64,
    pub targets: u32,
    pub authors: u32,
    pub days: f64,
    /// Share of the targets that a later one replaces in the course of the history.
    pub churn: f64,
    /// Share of the targets that are flaky.
    pub flaky: f64,
    /// Share of the commits that break something; slightly more mend something.
    pub breaks: f64,
    /// Between them only the last affecting commit of each target is run; `None`: every commit is.
    pub milestone: Option<Hours>,
    /// Share of the commits that were tested before they were made.
    pub pre_submit: f64,
}

impl Shape {
    /// Like the published month, in small: so many rows, everything else in proportion.
    pub fn of_rows(rows: u64, seed: u64) -> Shape {
        Shape {
            seed,
            rows,
            commits: (rows / 800).max(20),
            targets: (rows / 400).clamp(50, 6_000_000) as u32,
            authors: (rows / 40_000).clamp(5, 40_000) as u32,
            days: 30.0,
            churn: 0.1,
            flaky: 0.01,
            breaks: 0.03,
            milestone: Some(Hours(2)),
            pre_submit: 0.61,
        }
    }
}

/// What was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Generated {
    pub rows: u64,
    pub commits: u64,
    pub not_run: u64,
    pub failed: u64,
}

/// Makes a history in a directory that is not there yet.
pub fn generate(shape: &Shape, output: &Path, watch: &dyn Watch) -> Result<Generated, LabError> {
    watch.begin(Stage::Generate, shape.rows);
    let mut writer = HistoryWriter::create(output)?;
    let mut draws = Draws::new(&[shape.seed]);
    let mut world = World::new(shape);
    let mut interval = Interval::default();
    let mut generated = Generated::default();
    let (mut time, mut rows) = (START, 0);
    for position in 0.. {
        if rows >= shape.rows {
            break;
        }
        let gap = -(1.0 - draws.unit()).ln() * shape.days * DAY / shape.commits as f64;
        let next = time + (gap as i64).max(1);
        let is_over = shape.milestone.is_none_or(|every| {
            next.div_euclid(every.microseconds()) != time.div_euclid(every.microseconds())
        });
        if is_over {
            interval.run(shape, &mut draws);
            interval.write(&world, &mut writer, &mut generated)?;
            watch.go_on()?;
            watch.advance(std::mem::take(&mut interval.unreported));
        }
        time = next;
        rows += interval.add(world.commit(position, time, shape.rows - rows, &mut draws));
    }
    interval.run(shape, &mut draws);
    interval.write(&world, &mut writer, &mut generated)?;
    writer.finish()?;
    Ok(generated)
}

/// Commits and rows since the last milestone.
#[derive(Default)]
struct Interval {
    commits: Vec<MadeCommit>,
    rows: Vec<MadeRow>,
    unreported: u64,
}

impl Interval {
    fn add(&mut self, (commit, rows): (MadeCommit, Vec<MadeRow>)) -> u64 {
        let count = rows.len() as u64;
        self.commits.push(commit);
        self.rows.extend(rows);
        count
    }

    /// At the milestone every target is run at the last commit that affected it; that a target broke is mostly traced
    /// to the commit.
    fn run(&mut self, shape: &Shape, draws: &mut Draws) {
        if shape.milestone.is_none() {
            return;
        }
        let mut seen = rustc_hash::FxHashSet::default();
        for row in self.rows.iter_mut().rev() {
            let is_last = row.is_rerun || seen.insert(row.target);
            let is_traced = row.has_broken && draws.happens(0.7);
            if !is_last && !is_traced {
                row.outcome = Outcome::NotRun;
            }
        }
    }

    fn write(
        &mut self,
        world: &World,
        writer: &mut HistoryWriter,
        generated: &mut Generated,
    ) -> Result<(), LabError> {
        let mut name = String::new();
        let mut rows = self.rows.iter().peekable();
        for commit in &self.commits {
            while let Some(row) = rows.next_if(|row| row.position == commit.position) {
                world.name(row.target, row.generation, &mut name);
                writer.push(&Execution {
                    position: row.position,
                    commit: &commit.id,
                    time: commit.time,
                    author: Some(&commit.author),
                    target: &name,
                    outcome: row.outcome,
                    duration_s: row.outcome.is_known().then_some(f64::from(row.centiseconds) / 100.0),
                    pre_submit: row.pre_submit,
                    fingerprint: None,
                })?;
                generated.rows += 1;
                generated.not_run += u64::from(row.outcome == Outcome::NotRun);
                generated.failed += u64::from(row.outcome == Outcome::Fail);
            }
            for file in &commit.files {
                writer.push_file(commit.position, &commit.id, file)?;
            }
        }
        generated.commits += self.commits.len() as u64;
        self.unreported += self.rows.len() as u64;
        self.commits.clear();
        self.rows.clear();
        Ok(())
    }
}
