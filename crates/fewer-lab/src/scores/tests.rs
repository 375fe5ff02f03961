//! Scores against their definitions, written naively, and the promise that no row sees what is not before it.

use std::collections::HashSet;

use fewer_core::ranking::{self, RankingAlgorithm, RankingRule, Sighting, shared_directories};
use proptest::prelude::*;

use super::*;
use crate::algorithms::Experiment;

const HOUR: i64 = 3_600_000_000;

/// A target's history: per row the half hours since the row before, author, result and state before the commit.
#[derive(Clone, Debug)]
struct Sample {
    positions: Vec<u32>,
    times: Vec<i64>,
    authors: Vec<u32>,
    outcomes: Vec<Outcome>,
    pre_submit: Vec<PreSubmit>,
}

impl Sample {
    fn of(rows: &[(i64, u32, u8, u8)]) -> Sample {
        let mut time = 17 * HOUR;
        let times = rows.iter().map(|(gap, ..)| {
            time += gap * HOUR / 2;
            time
        });
        Sample {
            positions: (0..rows.len() as u32).map(|row| 2 * row).collect(),
            times: times.collect(),
            authors: rows.iter().map(|row| row.1).collect(),
            outcomes: rows.iter().map(|row| Outcome::ALL[usize::from(row.2)]).collect(),
            pre_submit: rows.iter().map(|row| PreSubmit::ALL[usize::from(row.3)]).collect(),
        }
    }

    fn rows(&self) -> TargetRows<'_> {
        TargetRows {
            positions: &self.positions,
            times: &self.times,
            authors: &self.authors,
            outcomes: &self.outcomes,
            pre_submit: &self.pre_submit,
        }
    }

    /// The same as `fewer run` sees it.
    fn sightings(&self) -> Vec<Sighting> {
        let passed = |outcome: Outcome| outcome.is_known().then_some(outcome == Outcome::Pass);
        let rows = self.times.iter().zip(&self.authors).zip(&self.outcomes);
        rows.map(|((&time, &author), &outcome)| Sighting { time, author, passed: passed(outcome) }).collect()
    }

    fn scores(&self, directories: &Directories) -> Vec<Vec<u32>> {
        let wanted: Vec<u32> = (0..self.times.len() as u32).collect();
        self.scores_of(directories, &wanted)
    }

    fn scores_of(&self, directories: &Directories, wanted: &[u32]) -> Vec<Vec<u32>> {
        let configurations = Experiment::default().scored();
        let mut columns = vec![Vec::new(); configurations.len()];
        let mut scorer = Scorer::new(configurations, Some(directories));
        let target = directories.target("a/b/t");
        scorer.score(&self.rows(), Some(&target), wanted, &mut columns);
        columns
    }

    /// By the definition: looks at every earlier row.
    fn naive(&self, configuration: &Configuration, directories: &Directories, row: usize) -> u32 {
        let time = self.times[row];
        let window = configuration.window.map_or(0, Hours::microseconds);
        let inside = |event: i64| time - window < event && event < time;
        let events = (0..self.times.len()).filter(|&other| inside(self.times[other]));
        match configuration.algorithm {
            Algorithm::AffectedCount => events.count() as u32,
            Algorithm::AuthorCount => {
                events.map(|other| self.authors[other]).collect::<HashSet<_>>().len() as u32
            }
            Algorithm::TransitionCount => {
                let every = configuration.milestone.map_or(0, Hours::microseconds);
                let milestones = (1..time / every + 2).map(|number| number * every);
                let seen = milestones.filter(|&at| {
                    let (now, before) = (self.result_before(at), self.result_before(at - every));
                    inside(at) && before.is_some() && now != before
                });
                seen.count() as u32
            }
            Algorithm::PreSubmit => rank(self.pre_submit[row]),
            Algorithm::SharedDirectories => {
                directories.score(&directories.target("a/b/t"), self.positions[row])
            }
            Algorithm::Random | Algorithm::Optimal | Algorithm::Pessimal => unreachable!("no scores"),
        }
    }

    fn result_before(&self, time: i64) -> Option<Outcome> {
        let rows = (0..self.times.len()).filter(|&row| self.times[row] < time);
        rows.map(|row| self.outcomes[row]).rfind(|outcome| outcome.is_known())
    }
}

/// Modified files by position.
const FILES: [(u32, &str); 5] = [(0, "a/b/x"), (2, "a/c/x"), (4, "q/x"), (6, "a/b/x"), (8, "a/x")];

fn some_directories() -> Directories {
    Directories::of(FILES.into_iter())
}

fn histories() -> impl Strategy<Value = Vec<(i64, u32, u8, u8)>> {
    let gap = prop_oneof![3 => Just(0i64), 5 => 1..4i64, 2 => 4..60i64, 1 => 60..300i64];
    prop::collection::vec((gap, 0..4u32, 0..3u8, 0..5u8), 1..40)
}

proptest! {
    #[test]
    fn scores_are_what_their_definitions_say(rows in histories()) {
        let (sample, directories) = (Sample::of(&rows), some_directories());
        let columns = sample.scores(&directories);
        for (configuration, column) in Experiment::default().scored().iter().zip(&columns) {
            let naive: Vec<u32> =
                (0..rows.len()).map(|row| sample.naive(configuration, &directories, row)).collect();
            prop_assert_eq!(column, &naive, "{}", configuration);
        }
    }

    #[test]
    fn the_scores_of_some_rows_are_those_among_all_rows(rows in histories(), keep in prop::collection::vec(any::<bool>(), 40)) {
        let (sample, directories) = (Sample::of(&rows), some_directories());
        let wanted: Vec<u32> = (0..rows.len() as u32).filter(|&row| keep[row as usize]).collect();
        let (all, some) = (sample.scores(&directories), sample.scores_of(&directories, &wanted));
        for (all, some) in all.iter().zip(&some) {
            let picked: Vec<u32> = wanted.iter().map(|&row| all[row as usize]).collect();
            prop_assert_eq!(&picked, some);
        }
    }

    #[test]
    fn fewer_run_ranks_by_the_same_scores(rows in histories()) {
        let (sample, directories) = (Sample::of(&rows), some_directories());
        let sightings = sample.sightings();
        for (configuration, column) in Experiment::default().scored().iter().zip(sample.scores(&directories)) {
            let Some(algorithm) = RankingAlgorithm::from_word(configuration.algorithm.word()) else { continue };
            let hours = |length: Option<Hours>| length.map(|hours| hours.0);
            let (window_h, milestone_h) = (hours(configuration.window), hours(configuration.milestone));
            let rule = RankingRule { algorithm, window_h, milestone_h };
            let ranked: Vec<u32> = (0..rows.len())
                .map(|row| match algorithm {
                    RankingAlgorithm::SharedDirectories => {
                        let position = sample.positions[row];
                        let files = FILES.iter().filter(|(at, _)| *at == position).map(|(_, path)| *path);
                        shared_directories("a/b/t", files)
                    }
                    RankingAlgorithm::TransitionCount
                    | RankingAlgorithm::AffectedCount
                    | RankingAlgorithm::AuthorCount => ranking::score(&rule, &sightings, sample.times[row]),
                })
                .collect();
            prop_assert!(rule.is_whole());
            prop_assert_eq!(column, ranked, "{}", configuration);
        }
    }

    /// What happens at or after a time changes no score before it, nor a score at it: only the row's own state
    /// before the commit and its own files may.
    #[test]
    fn nothing_at_or_after_a_time_changes_a_score_before_it(
        rows in histories(), other in histories(), at in 0..40usize,
    ) {
        let (sample, directories) = (Sample::of(&rows), some_directories());
        let at = at.min(rows.len() - 1);
        let time = sample.times[at];
        let first = sample.times.partition_point(|&earlier| earlier < time);
        // The rows before, then one row at the same time, then a different future.
        let mut changed: Vec<(i64, u32, u8, u8)> = rows[..first].to_vec();
        changed.push((rows[first].0, 3 - rows[first].1, 2 - rows[first].2, rows[first].3));
        changed.extend(&other);
        let changed = Sample::of(&changed);
        let (before, after) = (sample.scores(&directories), changed.scores(&directories));
        for (before, after) in before.iter().zip(&after) {
            prop_assert_eq!(&before[..=first], &after[..=first]);
        }
    }
}
