//! Whether a result counts: tests that were taken out of their program, or ran beside others, may fail only because of
//! that, or pass only because of that. What the framework's own way of running them does not show is never told as a
//! failure; and one that is known to fail has passed only that way.

use std::collections::{BTreeMap, BTreeSet};

use fewer_core::test_id::TestId;

use super::run::{Doubtful, Processes, is_green};
use super::shard::{Division, OwnWay, Shard};
use crate::event::{Event, Indivisible, ProcessFailure, TestResult};
use crate::program::TestProgram;
use crate::workers::RunOptions;

/// Tests of a program whose results are to be confirmed.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Confirmation {
    pub(crate) program: TestProgram,
    way: OwnWay,
    division: Division,
    /// All tests of the program that were to run.
    selected: BTreeSet<String>,
    /// Those whose results were kept back; true where it was none to be happy with.
    doubtful: BTreeMap<String, bool>,
}

impl Confirmation {
    /// `None` where there is nothing to confirm: the failures are known and nothing else happened, nobody wants to know,
    /// or the tests ran the framework's own way already. `is_alone`: nothing ran beside the program.
    pub(crate) fn of(shards: &[Shard], kept: &Doubtful, is_alone: bool) -> Option<Confirmation> {
        let first = shards.first()?;
        let way = first.own_way.clone()?;
        let is_known = |name: &String| shards.iter().any(|shard| shard.known_to_fail.contains(name));
        let as_known = |result: &TestResult| is_known(&result.test.name) != is_green(result);
        let is_explained = !kept.results.is_empty() || kept.failures.is_empty();
        if (is_explained && kept.results.iter().all(as_known)) || is_own_way(&way, shards, is_alone) {
            return None;
        }
        let mut program = first.program.clone();
        program.claims.everything = true;
        let selected: BTreeSet<String> = shards.iter().flat_map(|shard| &shard.tests).cloned().collect();
        let mut doubtful: BTreeMap<String, bool> =
            kept.results.iter().map(|result| (result.test.name.clone(), !is_green(result))).collect();
        if doubtful.is_empty() {
            doubtful = selected.iter().map(|name| (name.clone(), false)).collect();
        }
        Some(Confirmation { program, way, division: first.division, selected, doubtful })
    }

    /// Runs the tests the framework's own way. Its verdicts count; where they are better, the program is told to be
    /// indivisible.
    pub(crate) fn run(&self, options: &RunOptions, emit: &mut dyn FnMut(Event)) {
        let wanted: BTreeSet<&str> = self.doubtful.keys().map(String::as_str).collect();
        let found = own_way(&self.program, &self.way, &wanted, options, emit);
        let was_red = |name: &String| self.doubtful.get(name).copied().unwrap_or(false);
        let tests: Vec<TestId> = found
            .results
            .iter()
            .filter(|(name, result)| was_red(name) && is_green(result))
            .map(|(_, result)| result.test.clone())
            .collect();
        found.tell(&self.program.target, &wanted, &self.selected, emit);
        if !tests.is_empty() {
            let target = self.program.target.clone();
            emit(Event::Indivisible(Indivisible { target, tests, division: self.next_division() }));
        }
    }

    fn next_division(&self) -> Division {
        match (&self.way, self.division) {
            (OwnWay::Program { .. }, Division::Free) => Division::OneProcess,
            (OwnWay::Program { .. }, Division::OneProcess | Division::OwnWay) | (OwnWay::Test, _) => {
                Division::OwnWay
            }
        }
    }
}

/// Whether shards ran just as the framework runs their program.
fn is_own_way(way: &OwnWay, shards: &[Shard], is_alone: bool) -> bool {
    let [only] = shards else { return false };
    let is_whole = match way {
        OwnWay::Program { tests, .. } => *only.tests == **tests,
        OwnWay::Test => only.tests.len() == 1,
    };
    is_whole && (is_alone || only.program.claims.everything)
}

/// Runs a shard the framework's own way from the beginning; false where none is known.
pub(crate) fn run_own_way(shard: &Shard, options: &RunOptions, emit: &mut dyn FnMut(Event)) -> bool {
    let (Division::OwnWay, Some(way)) = (shard.division, &shard.own_way) else { return false };
    let wanted: BTreeSet<&str> = shard.tests.iter().map(String::as_str).collect();
    let found = own_way(&shard.program, way, &wanted, options, emit);
    found.tell(&shard.program.target, &wanted, &shard.tests.iter().cloned().collect(), emit);
    true
}

/// What the framework's own way of running tests showed.
#[derive(Default)]
struct Found {
    results: BTreeMap<String, TestResult>,
    failures: Vec<ProcessFailure>,
}

impl Found {
    /// Tells the results of the tests that are wanted, and of the others what is red.
    fn tell(
        self,
        target: &str,
        wanted: &BTreeSet<&str>,
        selected: &BTreeSet<String>,
        emit: &mut dyn FnMut(Event),
    ) {
        let mut strangers = Vec::new();
        for (name, result) in self.results {
            let is_red = !is_green(&result);
            if wanted.contains(name.as_str()) || (is_red && selected.contains(&name)) {
                emit(Event::TestFinished(result));
            } else if is_red {
                strangers.push(result);
            }
        }
        self.failures.into_iter().for_each(|failure| emit(Event::ProcessFailed(failure)));
        if let Some(first) = strangers.first() {
            let explanation = format!(
                "{} and {} more did not pass when the whole program ran, although nothing they can reach has changed \
                 since they passed: {}",
                first.test,
                strangers.len() - 1,
                first.message.as_deref().unwrap_or("no message")
            );
            let output_tail = first.outcome.output_tail.clone();
            let tests = strangers.iter().map(|result| result.test.clone()).collect();
            let target = target.to_string();
            emit(Event::ProcessFailed(ProcessFailure { target, tests, explanation, output_tail }));
        }
    }
}

fn own_way(
    program: &TestProgram,
    way: &OwnWay,
    wanted: &BTreeSet<&str>,
    options: &RunOptions,
    emit: &mut dyn FnMut(Event),
) -> Found {
    let mut found = Found::default();
    let mut collect = |event: Event| match event {
        Event::TestFinished(result) => {
            found.results.insert(result.test.name.clone(), result);
        }
        Event::ProcessFailed(failure) => found.failures.push(failure),
        Event::TestStarted { .. } => emit(event),
        Event::TestEnded { .. } | Event::Indivisible(_) => {}
    };
    match way {
        OwnWay::Program { tests, is_unfiltered } => {
            let all = is_unfiltered.then_some(&**tests);
            Processes::new(program, all, options, &mut collect).run(tests, |name| wanted.contains(name));
        }
        OwnWay::Test => {
            for name in wanted {
                Processes::new(program, None, options, &mut collect).run(&[name.to_string()], |_| true);
            }
        }
    }
    found
}
