//! The three passes over one target's executions.

use rustc_hash::FxHashMap;

use super::oracle::TargetJudgement;
use super::{Removed, TransitionSources};
use crate::label::Outcome;
use crate::records::PackedRow;

/// What becomes of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Keep,
    /// It is left out: the target is, or an execution at the same commit says the same.
    Drop,
    /// The target was affected, but the result is not trusted.
    Forget,
}

/// The target at hand; keeps its memory for the next.
#[derive(Default)]
pub struct Target {
    positions: Vec<u32>,
    /// As far as they are still trusted.
    outcomes: Vec<Outcome>,
    verdicts: Vec<Verdict>,
}

impl Target {
    /// Runs the passes over rows in the order of the history: packed rows, row numbers, hashes of fingerprints.
    pub fn clean(
        &mut self,
        [rows, _, fingerprints]: [&[i64]; 3],
        judgement: TargetJudgement<'_>,
        most_transitions: u32,
    ) -> TransitionSources {
        self.positions.clear();
        self.positions.extend(rows.iter().map(|&row| PackedRow(row).position()));
        self.outcomes.clear();
        self.outcomes.extend(rows.iter().map(|&row| PackedRow(row).state().outcome()));
        self.verdicts.clear();
        self.verdicts.resize(rows.len(), Verdict::Keep);
        let mut sources = TransitionSources {
            transitions: self.transitions(),
            results: self.known(),
            targets: 1,
            ..TransitionSources::default()
        };
        sources.reruns = self.pass(Target::contradicted);
        sources.merged = self.merge();
        sources.oracle = self.pass(|target| target.judged(fingerprints, judgement));
        sources.frequent = self.pass(|target| {
            if target.transitions() > u64::from(most_transitions) {
                target.leave_out();
            }
        });
        sources.genuine = self.transitions();
        sources
    }

    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.verdicts.iter().copied()
    }

    /// What a pass takes away.
    fn pass(&mut self, work: impl FnOnce(&mut Target)) -> Removed {
        let (transitions, results) = (self.transitions(), self.known());
        let verdicts = self.verdicts.iter().filter(|verdict| **verdict == Verdict::Keep).count();
        work(self);
        let left = self.verdicts.iter().filter(|verdict| **verdict == Verdict::Keep).count();
        Removed {
            transitions: transitions - self.transitions(),
            results: results - self.known(),
            targets: u64::from(left < verdicts),
        }
    }

    /// Executions at one commit that contradict each other: the first stays, without a result.
    fn contradicted(&mut self) {
        for (start, end) in self.commits() {
            let known = |wanted| self.outcomes[start..end].contains(&wanted);
            if known(Outcome::Pass) && known(Outcome::Fail) {
                self.outcomes[start..end].fill(Outcome::NotRun);
                self.verdicts[start..end].fill(Verdict::Drop);
                self.verdicts[start] = Verdict::Forget;
            }
        }
    }

    /// Executions at one commit that agree are one: the first with a result stays. How many went.
    fn merge(&mut self) -> u64 {
        let mut merged = 0;
        for (start, end) in self.commits() {
            if end - start < 2 || self.verdicts[start] != Verdict::Keep {
                continue;
            }
            let known = (start..end).find(|&row| self.outcomes[row].is_known()).unwrap_or(start);
            for row in (start..end).filter(|&row| row != known) {
                self.verdicts[row] = Verdict::Drop;
                self.outcomes[row] = Outcome::NotRun;
                merged += 1;
            }
        }
        merged
    }

    /// What the user's oracle says, and our own: one fingerprint, different outcomes.
    fn judged(&mut self, fingerprints: &[i64], judgement: TargetJudgement<'_>) {
        if judgement.is_flaky {
            return self.leave_out();
        }
        if let Some(flaky_at) = judgement.flaky_at {
            self.forget(|target, row| flaky_at.contains(&target.positions[row]));
        }
        let mut seen: FxHashMap<i64, [bool; 2]> = FxHashMap::default();
        let known = self.outcomes.iter().zip(fingerprints).filter(|(outcome, _)| outcome.is_known());
        for (outcome, fingerprint) in known.filter(|(_, fingerprint)| **fingerprint != 0) {
            seen.entry(*fingerprint).or_default()[usize::from(*outcome == Outcome::Fail)] = true;
        }
        if seen.values().any(|seen| *seen == [true, true]) {
            self.forget(|_, row| seen.get(&fingerprints[row]) == Some(&[true, true]));
        }
    }

    fn forget(&mut self, is_flaky: impl Fn(&Target, usize) -> bool) {
        for row in 0..self.outcomes.len() {
            if self.outcomes[row].is_known() && is_flaky(self, row) {
                self.outcomes[row] = Outcome::NotRun;
                self.verdicts[row] = Verdict::Forget;
            }
        }
    }

    fn leave_out(&mut self) {
        self.verdicts.fill(Verdict::Drop);
        self.outcomes.fill(Outcome::NotRun);
    }

    fn transitions(&self) -> u64 {
        let mut known = self.outcomes.iter().filter(|outcome| outcome.is_known());
        let Some(mut last) = known.next() else { return 0 };
        let mut transitions = 0;
        for outcome in known {
            transitions += u64::from(outcome != last);
            last = outcome;
        }
        transitions
    }

    fn known(&self) -> u64 {
        self.outcomes.iter().filter(|outcome| outcome.is_known()).count() as u64
    }

    /// The rows of each commit.
    fn commits(&self) -> Vec<(usize, usize)> {
        let mut commits: Vec<(usize, usize)> = Vec::new();
        for (row, position) in self.positions.iter().enumerate() {
            match commits.last_mut() {
                Some(commit) if self.positions[commit.0] == *position => commit.1 = row + 1,
                Some(_) | None => commits.push((row, row + 1)),
            }
        }
        commits
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::records::{PreSubmit, RowState};

    const NOTHING: TargetJudgement<'_> = TargetJudgement { is_flaky: false, flaky_at: None };

    /// Results of commits, blanks between; several letters are executions of one commit. Then what becomes of them:
    /// K, D or F.
    fn clean(
        results: &str,
        fingerprints: &[i64],
        judgement: TargetJudgement<'_>,
        most: u32,
    ) -> (String, TransitionSources) {
        let mut rows = Vec::new();
        for (position, commit) in (0..).zip(results.split(' ')) {
            for letter in commit.chars() {
                let outcome = match letter {
                    'P' => Outcome::Pass,
                    'F' => Outcome::Fail,
                    _ => Outcome::NotRun,
                };
                rows.push(PackedRow::new(position, RowState::new(outcome, PreSubmit::Unknown)).0);
            }
        }
        let numbers: Vec<i64> = (0..rows.len() as i64).collect();
        let mut fingerprints = fingerprints.to_vec();
        fingerprints.resize(rows.len(), 0);
        let mut target = Target::default();
        let sources = target.clean([&rows, &numbers, &fingerprints], judgement, most);
        let letters = target.verdicts().map(|verdict| match verdict {
            Verdict::Keep => 'K',
            Verdict::Drop => 'D',
            Verdict::Forget => 'F',
        });
        (letters.collect(), sources)
    }

    #[test]
    fn executions_that_contradict_each_other_are_one_row_without_a_result() {
        let (verdicts, sources) = clean("P FP P -", &[], NOTHING, 14);
        assert_eq!(verdicts, "KFDKK");
        assert_eq!((sources.transitions, sources.genuine), (2, 0));
        assert_eq!(sources.reruns, Removed { transitions: 2, results: 2, targets: 1 });
    }

    #[test]
    fn executions_that_agree_are_merged_without_being_called_flaky() {
        let (verdicts, sources) = clean("P -FF P", &[], NOTHING, 14);
        assert_eq!(verdicts, "KDKDK");
        assert_eq!((sources.transitions, sources.genuine, sources.merged), (2, 2, 2));
        assert_eq!(sources.reruns, Removed::default());
    }

    #[test]
    fn the_oracle_may_name_a_target_or_a_commit() {
        let at: FxHashSet<u32> = [1].into_iter().collect();
        let (verdicts, sources) =
            clean("P F P F", &[], TargetJudgement { is_flaky: false, flaky_at: Some(&at) }, 14);
        assert_eq!(verdicts, "KFKK");
        assert_eq!((sources.transitions, sources.oracle.transitions, sources.genuine), (3, 2, 1));
        let (verdicts, sources) =
            clean("P F P F", &[], TargetJudgement { is_flaky: true, flaky_at: None }, 14);
        assert_eq!(verdicts, "DDDD");
        assert_eq!(sources.oracle, Removed { transitions: 3, results: 4, targets: 1 });
    }

    #[test]
    fn one_fingerprint_with_different_outcomes_is_flaky() {
        let (verdicts, sources) = clean("P F P F", &[7, 7, 9, 11], NOTHING, 14);
        assert_eq!(verdicts, "FFKK");
        assert_eq!((sources.oracle.results, sources.oracle.transitions, sources.genuine), (2, 2, 1));
    }

    #[test]
    fn a_target_with_more_transitions_than_the_threshold_is_left_out() {
        let many = "P F ".repeat(8);
        let (verdicts, sources) = clean(many.trim_end(), &[], NOTHING, 14);
        assert_eq!(verdicts, "D".repeat(16));
        assert_eq!(sources.frequent, Removed { transitions: 15, results: 16, targets: 1 });
        assert_eq!(sources.genuine, 0);
        let (verdicts, sources) = clean(many.trim_end(), &[], NOTHING, 15);
        assert_eq!((verdicts.as_str(), sources.genuine), ("K".repeat(16).as_str(), 15));
    }

    #[test]
    fn every_transition_has_one_source() {
        let (_, sources) = clean("P FP P F - P FF PF F", &[0, 0, 0, 3, 3], NOTHING, 2);
        let Removed { transitions: reruns, .. } = sources.reruns;
        let removed = reruns + sources.oracle.transitions + sources.frequent.transitions;
        assert_eq!(sources.transitions, removed + sources.genuine);
    }
}
