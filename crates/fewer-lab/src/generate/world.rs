//! The project that a generated history is about: its targets, what state they are in, who works on what, and what a
//! commit does to it.

use std::fmt::Write;

use super::Shape;
use crate::label::Outcome;
use crate::random::Draws;
use crate::records::PreSubmit;

const TARGETS_PER_DIRECTORY: u32 = 40;
/// How often a flaky target shows the wrong result.
const FLAKE: f64 = 0.15;

/// All targets at a point in time.
pub struct World {
    targets: Vec<Target>,
    authors: u32,
    seed: u64,
    mean_size: f64,
    churn_per_commit: f64,
    breaks: f64,
    pre_submit: f64,
}

#[derive(Clone, Copy)]
struct Target {
    generation: u16,
    is_broken: bool,
    is_flaky: bool,
    /// The last commit that affected it.
    stamp: u32,
}

/// A commit that was made up.
pub struct MadeCommit {
    pub position: u32,
    pub time: i64,
    pub id: String,
    pub author: String,
    pub files: Vec<String>,
}

/// A target that it affects.
pub struct MadeRow {
    pub position: u32,
    pub target: u32,
    pub generation: u16,
    pub outcome: Outcome,
    pub has_broken: bool,
    pub is_rerun: bool,
    pub pre_submit: PreSubmit,
    pub centiseconds: u16,
}

/// What a commit is about.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Neutral,
    Breaks,
    Mends,
}

impl World {
    pub fn new(shape: &Shape) -> World {
        let mut draws = Draws::new(&[shape.seed, 1]);
        let target = |_| Target {
            generation: 0,
            is_broken: draws.happens(0.005),
            is_flaky: draws.happens(shape.flaky),
            stamp: u32::MAX,
        };
        World {
            targets: (0..shape.targets.max(1)).map(target).collect(),
            authors: shape.authors.max(1),
            seed: shape.seed,
            mean_size: shape.rows as f64 / shape.commits.max(1) as f64,
            churn_per_commit: shape.churn * f64::from(shape.targets) / shape.commits.max(1) as f64,
            breaks: shape.breaks,
            pre_submit: shape.pre_submit,
        }
    }

    /// The next commit, which affects no more than so many targets.
    pub fn commit(
        &mut self,
        position: u32,
        time: i64,
        most: u64,
        draws: &mut Draws,
    ) -> (MadeCommit, Vec<MadeRow>) {
        self.replace_some(draws);
        // Few authors make most of the commits, and mostly where they made the last ones.
        let author = (f64::from(self.authors) * draws.unit().powf(2.5)) as u32;
        let directory = self.directory(author, position, draws);
        let kind = match draws.unit() {
            chance if chance < self.breaks => Kind::Breaks,
            chance if chance < 2.2 * self.breaks => Kind::Mends,
            _ => Kind::Neutral,
        };
        let affected = self.affected(position, directory, most, draws);
        let is_tested_before = draws.happens(self.pre_submit);
        let mut rows = Vec::with_capacity(affected.len());
        for &target in &affected {
            let row = self.row(position, target, directory, kind, affected.len(), is_tested_before, draws);
            let is_flake = self.targets[target as usize].is_flaky && row.outcome == Outcome::Fail;
            let rerun = MadeRow { outcome: Outcome::Pass, is_rerun: true, has_broken: false, ..row };
            rows.push(row);
            if is_flake && draws.happens(0.5) && (rows.len() as u64) < most {
                rows.push(rerun);
            }
        }
        rows.truncate(most as usize);
        let commit = MadeCommit {
            position,
            time,
            id: format!("{:016x}{:016x}{:08x}", draws.next(), draws.next(), position),
            author: format!("author{author}@example.org"),
            files: self.files(directory, draws),
        };
        (commit, rows)
    }

    /// The name of a target: it says where the target is.
    pub fn name(&self, target: u32, generation: u16, name: &mut String) {
        name.clear();
        let directory = target / TARGETS_PER_DIRECTORY;
        let _ = write!(name, "area{}/lib{directory}/test_{target}", directory / 25);
        if generation > 0 {
            let _ = write!(name, "_v{}", generation + 1);
        }
    }

    fn directories(&self) -> u32 {
        (self.targets.len() as u32).div_ceil(TARGETS_PER_DIRECTORY)
    }

    fn directory(&self, author: u32, position: u32, draws: &mut Draws) -> u32 {
        let directories = u64::from(self.directories());
        let home =
            Draws::new(&[self.seed, 2, u64::from(author), u64::from(position / 2000)]).below(directories);
        match draws.unit() {
            chance if chance < 0.7 => home as u32,
            _ => (directories as f64 * draws.unit().powi(3)) as u32,
        }
    }

    fn replace_some(&mut self, draws: &mut Draws) {
        let count = self.churn_per_commit as u64 + u64::from(draws.happens(self.churn_per_commit.fract()));
        for _ in 0..count {
            let target = draws.below(self.targets.len() as u64) as usize;
            let target = &mut self.targets[target];
            target.generation = target.generation.saturating_add(1);
            target.is_broken = false;
        }
    }

    /// Distinct targets: those of the directory, and others by a power law. How many is a power law too.
    fn affected(&mut self, position: u32, directory: u32, most: u64, draws: &mut Draws) -> Vec<u32> {
        let count = self.targets.len();
        let size = self.mean_size / 3.0 * (1.0 - draws.unit()).powf(-1.0 / 1.5);
        let size = (size as u64 + 1).min(count as u64 / 2 + 1).min(most) as usize;
        let own = (directory * TARGETS_PER_DIRECTORY) as usize;
        let mut affected = Vec::with_capacity(size);
        for number in 0..size {
            let first = match number < TARGETS_PER_DIRECTORY as usize / 2 {
                true => own + draws.below(u64::from(TARGETS_PER_DIRECTORY)) as usize,
                false => (count as f64 * draws.unit().powi(2)) as usize,
            };
            let mut target = first % count;
            while self.targets[target].stamp == position {
                target = (target + 1) % count;
            }
            self.targets[target].stamp = position;
            affected.push(target as u32);
        }
        affected
    }

    #[allow(clippy::too_many_arguments)]
    fn row(
        &mut self,
        position: u32,
        target: u32,
        directory: u32,
        kind: Kind,
        size: usize,
        is_tested_before: bool,
        draws: &mut Draws,
    ) -> MadeRow {
        let is_near = target / TARGETS_PER_DIRECTORY == directory;
        let state = &mut self.targets[target as usize];
        let was_broken = state.is_broken;
        match kind {
            Kind::Breaks => state.is_broken |= draws.happens((2.0 / size as f64).min(0.5)),
            Kind::Mends => state.is_broken &= !draws.happens(0.7),
            Kind::Neutral => {}
        }
        let is_flake = state.is_flaky && draws.happens(FLAKE);
        let has_changed = was_broken != state.is_broken;
        let pre_submit = match (is_tested_before, is_near) {
            (false, _) => PreSubmit::Unknown,
            (true, false) => PreSubmit::NotAffected,
            (true, true) if draws.happens(0.1) => PreSubmit::Skipped,
            (true, true) if has_changed && draws.happens(0.8) => PreSubmit::Transition,
            (true, true) => PreSubmit::NoTransition,
        };
        MadeRow {
            position,
            target,
            generation: state.generation,
            outcome: if state.is_broken != is_flake { Outcome::Fail } else { Outcome::Pass },
            has_broken: has_changed && state.is_broken,
            is_rerun: false,
            pre_submit,
            centiseconds: (20.0 / (1.0 - draws.unit()).sqrt()) as u16,
        }
    }

    fn files(&self, directory: u32, draws: &mut Draws) -> Vec<String> {
        let mut files = Vec::new();
        loop {
            let number = draws.below(60);
            files.push(format!("area{}/lib{directory}/file_{number}.cc", directory / 25));
            if draws.happens(0.6) {
                files.sort_unstable();
                files.dedup();
                return files;
            }
        }
    }
}
