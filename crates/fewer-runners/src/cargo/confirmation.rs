//! Failures of tests that fewer started in its own way are held back until `cargo test`'s way has them, too: the whole
//! program in one process, alone. One that does not fail there is no failure; its program needs to be run so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;

use super::libtest::{LibtestProgram, Limit};
use crate::event::{Event, Indivisible, TestResult};
use crate::googletest::Division;
use crate::process::Stop;
use crate::workers::RunOptions;

/// Programs whose failures have to be confirmed, and the failures so far.
#[derive(Debug, Default)]
pub struct Confirmation {
    programs: BTreeMap<String, Arc<LibtestProgram>>,
    held: BTreeMap<String, Vec<TestResult>>,
}

impl Confirmation {
    /// `programs`, with the number of tests that are going to run; all of them in one process need no confirmation.
    pub fn of(programs: impl IntoIterator<Item = (Arc<LibtestProgram>, usize)>) -> Confirmation {
        let is_own_way = |program: &LibtestProgram, count: usize| {
            program.is_confirmed && !(program.is_together && count == program.tests.len())
        };
        let programs = programs.into_iter().filter(|(program, count)| is_own_way(program, *count));
        let programs = programs.map(|(program, _)| (program.program.target.clone(), program));
        Confirmation { programs: programs.collect(), held: BTreeMap::new() }
    }

    /// Keeps an event that has to be confirmed; others are handed back.
    pub fn hold(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::TestFinished(result) if self.is_doubtful(&result) => {
                self.held.entry(result.test.target.clone()).or_default().push(result);
                None
            }
            Event::TestFinished(_)
            | Event::TestStarted { .. }
            | Event::TestEnded { .. }
            | Event::ProcessFailed(_)
            | Event::Indivisible(_) => Some(event),
        }
    }

    fn is_doubtful(&self, result: &TestResult) -> bool {
        result.outcome.verdict.is_failure() && self.programs.contains_key(&result.test.target)
    }

    /// Runs the programs of the failures that were held back, one after the other, and tells what came of them. Returns
    /// the programs with failures that `cargo test` does not have.
    pub fn settle(self, options: &RunOptions, events: &mut dyn FnMut(Event)) -> Vec<Indivisible> {
        let Confirmation { programs, held } = self;
        let mut refuted = Vec::new();
        for (target, results) in held {
            let suspects: Vec<String> = results.iter().map(|result| result.test.name.clone()).collect();
            let Some(passed) = passed_as_under_cargo(&programs[&target], suspects, options) else { break };
            if !passed.is_empty() {
                let tests = passed.iter().map(|name| TestId::new(&target, name)).collect();
                refuted.push(Indivisible { target, tests, division: Division::OneProcess });
            }
            for result in results {
                let is_passed = passed.contains(&result.test.name);
                events(Event::TestFinished(if is_passed { as_passed(result) } else { result }));
            }
        }
        refuted
    }
}

/// Those of the tests that pass when the whole program runs as `cargo test` runs it, without those that fail. `None`
/// when the run was cancelled.
fn passed_as_under_cargo(
    program: &LibtestProgram,
    mut suspects: Vec<String>,
    options: &RunOptions,
) -> Option<BTreeSet<String>> {
    let mut tests = program.tests.clone();
    while !suspects.is_empty() {
        let limit = Limit::Failed(options.test_timeout, &suspects);
        let Ok(process) = program.together(&tests, limit, options) else { break };
        if process.end.stop == Some(Stop::Cancelled) {
            return None;
        }
        let has_passed = |test: &String| process.told.has_passed(test);
        let is_complete = tests.iter().all(has_passed);
        suspects.retain(has_passed);
        if process.is_green() && is_complete {
            return Some(suspects.into_iter().collect());
        }
        // A process that fails although all its tests passed cannot be told apart any further.
        if is_complete {
            break;
        }
        tests.retain(has_passed);
    }
    Some(BTreeSet::new())
}

/// What the test did on its own is shown, but is no failure.
fn as_passed(result: TestResult) -> TestResult {
    let Outcome { duration_s, output_tail, .. } = result.outcome;
    let output_tail = format!("{output_tail}(it passed when its whole program ran as under `cargo test`)\n");
    TestResult::new(result.test, Outcome { verdict: Verdict::Passed, duration_s, output_tail }, None)
}
