//! What the user knows to be flaky: targets, or targets at commits.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::engine::embedded::TargetKey;
use crate::error::LabError;
use crate::records::{History, Strings, integers, schema};

/// Flaky targets and executions, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Oracle {
    targets: FxHashSet<TargetKey>,
    executions: FxHashSet<(String, TargetKey)>,
}

/// The same for one history, by position.
#[derive(Default)]
pub struct Judgement {
    targets: FxHashSet<TargetKey>,
    executions: FxHashMap<TargetKey, FxHashSet<u32>>,
}

/// What is said of one target.
#[derive(Clone, Copy)]
pub struct TargetJudgement<'j> {
    pub is_flaky: bool,
    pub flaky_at: Option<&'j FxHashSet<u32>>,
}

impl Oracle {
    /// A file with a target a line; with a tab and a commit after it, the target at that commit alone. Empty lines and
    /// lines that begin with `#` are left out.
    pub fn read(path: &Path) -> Result<Oracle, LabError> {
        let text = fewer_files::read_to_string(path).map_err(LabError::io("read", path))?;
        let mut oracle = Oracle::default();
        for (line, row) in text.lines().zip(1..) {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split('\t').collect::<Vec<_>>()[..] {
                [target] => {
                    oracle.targets.insert(TargetKey::of(target));
                }
                [target, commit] => {
                    oracle.executions.insert((commit.to_string(), TargetKey::of(target)));
                }
                [..] => {
                    let problem = "it has more than a target, a tab and a commit";
                    return Err(LabError::bad_row(path, row, problem));
                }
            }
        }
        Ok(oracle)
    }

    pub(super) fn judge(&self, history: &History) -> Result<Judgement, LabError> {
        let mut judgement = Judgement { targets: self.targets.clone(), executions: FxHashMap::default() };
        if self.executions.is_empty() {
            return Ok(judgement);
        }
        let mut by_commit: FxHashMap<&str, Vec<TargetKey>> = FxHashMap::default();
        for (commit, target) in &self.executions {
            by_commit.entry(commit).or_default().push(*target);
        }
        let executions = &history.executions;
        let mut positions = Vec::new();
        for piece in executions.pieces(1 << 20) {
            for batch in executions.batches(&piece, &[schema::POSITION, schema::COMMIT])? {
                let batch = batch?;
                let column = |name| batch.column_by_name(name).expect("the columns were asked for");
                integers(column(schema::POSITION), &mut positions);
                let commits = Strings::of(column(schema::COMMIT)).expect("the types were checked");
                for (row, &position) in positions.iter().enumerate() {
                    if row > 0 && positions[row - 1] == position {
                        continue;
                    }
                    let targets = commits.get(row).and_then(|commit| by_commit.get(commit));
                    for target in targets.into_iter().flatten() {
                        judgement.executions.entry(*target).or_default().insert(position as u32);
                    }
                }
            }
        }
        Ok(judgement)
    }
}

impl Judgement {
    pub fn of(&self, target: TargetKey) -> TargetJudgement<'_> {
        TargetJudgement { is_flaky: self.targets.contains(&target), flaky_at: self.executions.get(&target) }
    }
}
