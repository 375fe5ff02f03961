//! Splitting the selected tests of each program into shards that keep all workers busy to the end. Running them
//! is told elsewhere.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use crate::program::TestProgram;

/// A program and the tests of it that are to run, in the order the program lists them.
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    pub program: TestProgram,
    pub tests: Vec<SelectedTest>,
    pub division: Division,
    /// Failures are confirmed so before they are told; where nothing is said, they are told as they come.
    pub own_way: Option<OwnWay>,
}

/// How far a program's tests may be taken apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Division {
    /// Over as many processes as keep the workers busy.
    #[default]
    Free,
    /// They run in one process, and nothing beside it.
    OneProcess,
    /// They run the way the framework itself runs them, and nothing beside.
    OwnWay,
}

/// How the framework itself runs the tests of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OwnWay {
    /// One process runs all these tests; without a filter they are all the program has.
    Program { tests: Arc<[String]>, is_unfiltered: bool },
    /// Each test has a process of its own, as CTest starts tests that it discovered.
    Test,
}

/// A test that is to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SelectedTest {
    /// `Suite.Name`, as listed.
    pub name: String,
    /// How long it took before, where that is known.
    pub expected: Option<Duration>,
    /// It failed before with all that it can reach as it is now: a pass needs confirmation, a failure none.
    pub is_known_to_fail: bool,
}

/// Tests of one program that share a process.
#[derive(Clone, PartialEq, Debug)]
pub struct Shard {
    pub program: TestProgram,
    /// Full names, in the order the program lists them.
    pub tests: Vec<String>,
    /// How long it is expected to take in all.
    pub expected: Duration,
    pub division: Division,
    pub own_way: Option<OwnWay>,
    /// Those of the tests whose pass needs confirmation, and whose failure does not.
    pub known_to_fail: BTreeSet<String>,
}

impl Shard {
    /// Tests whose failures are told as they come.
    pub fn new(program: TestProgram, tests: Vec<String>) -> Shard {
        Shard {
            program,
            tests,
            expected: Duration::ZERO,
            division: Division::Free,
            own_way: None,
            known_to_fail: BTreeSet::new(),
        }
    }
}

impl Selection {
    /// A selection whose tests may be taken apart, and whose failures are told as they come.
    pub fn new(program: TestProgram, tests: Vec<SelectedTest>) -> Selection {
        Selection { program, tests, division: Division::Free, own_way: None }
    }
}

/// A shard shorter than this costs more in process starts than it gains.
const SHORTEST_SHARD_S: f64 = 0.5;
/// A shard longer than this keeps its results back for too long.
const LONGEST_SHARD_S: f64 = 30.0;
/// How many shards each worker gets to even things out.
const SHARDS_PER_WORKER: f64 = 4.0;
/// The guess for a test when no test's duration is known.
const DEFAULT_GUESS_S: f64 = 0.02;
/// No test is free: starting and reporting it takes about this.
const LEAST_S: f64 = 0.000_2;

impl SelectedTest {
    pub fn new(name: impl Into<String>, expected: Option<Duration>) -> SelectedTest {
        SelectedTest { name: name.into(), expected, is_known_to_fail: false }
    }
}

/// Splits by expected duration, longest shard first. Tests keep their order, so that the tests of a suite stay
/// together and its set-up is repeated as little as possible. A test of unknown duration counts as the median of
/// the known ones.
pub fn plan_shards(selections: Vec<Selection>, workers: NonZeroUsize) -> Vec<Shard> {
    let guess = guess(&selections);
    let total: f64 = selections.iter().flat_map(|s| &s.tests).map(|test| seconds(test, guess)).sum();
    let share = if workers.get() == 1 { total } else { total / (workers.get() as f64 * SHARDS_PER_WORKER) };
    let target = share.clamp(SHORTEST_SHARD_S, LONGEST_SHARD_S);
    let mut shards: Vec<Shard> =
        selections.into_iter().flat_map(|selection| split(selection, target, guess)).collect();
    shards.sort_by(|a, b| {
        let names = (&a.program.target, &a.tests).cmp(&(&b.program.target, &b.tests));
        b.expected.cmp(&a.expected).then(names)
    });
    shards
}

/// Cuts one program's tests into stretches of about equal length, none longer than it has to be.
fn split(selection: Selection, target: f64, guess: f64) -> Vec<Shard> {
    let Selection { mut program, tests, division, own_way } = selection;
    program.claims.everything |= division != Division::Free;
    let known_to_fail: BTreeSet<String> =
        tests.iter().filter(|test| test.is_known_to_fail).map(|test| test.name.clone()).collect();
    let total: f64 = tests.iter().map(|test| seconds(test, guess)).sum();
    let parts = if division == Division::Free { (total / target).round().max(1.0) } else { 1.0 };
    let even = total / parts;
    let mut stretches: Vec<(Vec<String>, f64)> = Vec::new();
    for test in tests {
        let length = seconds(&test, guess);
        match stretches.last_mut() {
            // The cut goes where the stretch comes nearest to its due length.
            Some((names, so_far)) if parts == 1.0 || *so_far + length / 2.0 <= even => {
                names.push(test.name);
                *so_far += length;
            }
            Some(_) | None => stretches.push((vec![test.name], length)),
        }
    }
    join_short_end(&mut stretches, even);
    stretches
        .into_iter()
        .map(|(tests, length)| Shard {
            expected: Duration::from_secs_f64(length),
            division,
            own_way: own_way.clone(),
            known_to_fail: tests.iter().filter(|name| known_to_fail.contains(*name)).cloned().collect(),
            ..Shard::new(program.clone(), tests)
        })
        .collect()
}

/// The last stretch gets what is left; if that is little, it goes to the one before.
fn join_short_end(stretches: &mut Vec<(Vec<String>, f64)>, even: f64) {
    let [.., before, last] = stretches.as_mut_slice() else { return };
    if last.1 < even / 3.0 {
        before.0.append(&mut last.0);
        before.1 += last.1;
        stretches.pop();
    }
}

fn seconds(test: &SelectedTest, guess: f64) -> f64 {
    test.expected.map_or(guess, |expected| expected.as_secs_f64()).max(LEAST_S)
}

fn guess(selections: &[Selection]) -> f64 {
    let mut known: Vec<Duration> =
        selections.iter().flat_map(|s| &s.tests).filter_map(|test| test.expected).collect();
    known.sort();
    known.get(known.len() / 2).map_or(DEFAULT_GUESS_S, Duration::as_secs_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(target: &str, durations: impl IntoIterator<Item = Option<f64>>) -> Selection {
        let tests = durations
            .into_iter()
            .enumerate()
            .map(|(i, duration)| SelectedTest::new(format!("S.T{i}"), duration.map(Duration::from_secs_f64)));
        Selection::new(TestProgram::new(target, target, "."), tests.collect())
    }

    fn workers(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    /// When all shards are over, if each worker takes the next shard as soon as it is free.
    fn makespan(shards: &[Shard], workers: usize) -> f64 {
        let mut busy = vec![0.0f64; workers];
        for shard in shards {
            let next = busy.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            *next += shard.expected.as_secs_f64();
        }
        busy.into_iter().fold(0.0, f64::max)
    }

    #[test]
    fn every_test_is_in_exactly_one_shard_in_its_order() {
        let mut seed = 7u64;
        for count in [1, 2, 3, 50, 999] {
            let durations: Vec<Option<f64>> = (0..count)
                .map(|_| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
                    let fraction = (seed >> 40) as f64 / (1u64 << 24) as f64;
                    (fraction > 0.2).then_some(fraction.powi(6) * 20.0)
                })
                .collect();
            let shards = plan_shards(vec![selection("a", durations)], workers(4));
            let mut numbers: Vec<Vec<usize>> = shards
                .iter()
                .map(|shard| shard.tests.iter().map(|name| name[3..].parse().unwrap()).collect())
                .collect();
            assert!(numbers.iter().all(|stretch| !stretch.is_empty() && stretch.is_sorted()));
            numbers.sort();
            assert_eq!(numbers.concat(), (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn workers_finish_together() {
        for count in [2, 3, 8] {
            let selections = vec![
                selection("a", (0..700).map(|i| Some(0.01 + f64::from(i % 13) * 0.02))),
                selection("b", (0..100).map(|_| Some(0.1))),
                selection("c", [Some(4.0), Some(0.1), Some(0.1)]),
            ];
            let total: f64 = selections.iter().flat_map(|s| &s.tests).map(|t| seconds(t, 0.0)).sum();
            let shards = plan_shards(selections, workers(count));
            let best = (total / count as f64).max(4.0);
            assert!(makespan(&shards, count) <= best * 1.2, "{count} workers");
        }
    }

    #[test]
    fn quick_tests_are_not_scattered_over_processes() {
        let shards = plan_shards(vec![selection("a", (0..1000).map(|_| Some(0.0)))], workers(8));
        assert_eq!(shards.len(), 1);
        let shards = plan_shards(vec![selection("a", (0..10).map(|_| None))], workers(8));
        assert_eq!(shards.len(), 1);
    }

    #[test]
    fn one_worker_splits_only_what_would_keep_results_back_for_long() {
        let shards = plan_shards(vec![selection("a", (0..100).map(|_| Some(0.2)))], workers(1));
        assert_eq!(shards.len(), 1);
        let shards = plan_shards(vec![selection("a", (0..100).map(|_| Some(2.0)))], workers(1));
        assert_eq!(shards.len(), 7);
    }

    #[test]
    fn a_program_that_is_not_divisible_gets_one_process_to_itself() {
        let durations = (0..100).map(|_| Some(2.0));
        let selection = Selection { division: Division::OneProcess, ..selection("a", durations) };
        let shards = plan_shards(vec![selection], workers(4));
        assert_eq!(shards.len(), 1);
        assert!(shards[0].tests.len() == 100 && shards[0].program.claims.everything);
    }

    #[test]
    fn unknown_durations_count_as_the_median_of_the_known() {
        let known = (0..11).map(|i| Some(f64::from(i)));
        let shards = plan_shards(vec![selection("a", known.chain([None]))], workers(1));
        let total: f64 = shards.iter().map(|shard| shard.expected.as_secs_f64()).sum();
        assert!((total - 60.0).abs() < 0.01, "{total}");
    }
}
