//! Running a shard: one process after another until every test of it has an outcome. What a process's end means
//! is told in `conclusion`.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;

use super::conclusion::{Conclusion, Evidence, Next, Suspects, conclude, conclude_unreported, suspected};
use super::invocation::{self, Format};
use super::progress::{Progress, Trace};
use super::report::Report;
use super::shard::Shard;
use crate::event::{Event, ProcessFailure, TestResult};
use crate::process::{Leftovers, ProcessEnd, Streams, supervise};
use crate::workers::RunOptions;

/// Runs the shard's tests. A test that takes its process down gets its verdict, and the tests that have not passed
/// beyond doubt get another process.
pub(crate) fn run_shard(shard: &Shard, options: &RunOptions, emit: &mut dyn FnMut(Event)) {
    let mut announced = HashSet::new();
    // A test that needs several processes is one step for those who watch.
    let mut emit_once = |event: Event| {
        let key = match &event {
            Event::TestStarted { test } => Some((false, test.clone())),
            Event::TestEnded { test, .. } => Some((true, test.clone())),
            Event::TestFinished(_) | Event::ProcessFailed(_) => None,
        };
        if key.is_none_or(|key| announced.insert(key)) {
            emit(event);
        }
    };
    ShardRun { shard, options, emit: &mut emit_once, format: Format::Json }.run();
}

struct ShardRun<'a> {
    shard: &'a Shard,
    options: &'a RunOptions,
    emit: &'a mut dyn FnMut(Event),
    format: Format,
}

impl ShardRun<'_> {
    fn run(mut self) {
        let mut waiting = self.shard.tests.clone();
        while !waiting.is_empty() && !self.options.cancel.is_cancelled() {
            let Conclusion { results, failure, next } = self.process(&waiting);
            self.tell(results, failure);
            waiting = match next {
                Next::Rest(rest) => {
                    assert!(rest.len() < waiting.len(), "every process settles at least one test");
                    rest
                }
                Next::Suspects(suspects) => self.examine(suspects),
                Next::Unreported if self.format == Format::Json => {
                    self.format = Format::Xml;
                    waiting
                }
                Next::Unreported => {
                    let Conclusion { results, failure, .. } = self.whole_program(&waiting);
                    self.tell(results, failure);
                    Vec::new()
                }
            };
        }
    }

    /// Has the tests in which a process ended show alone whether they are the cause. What is left is returned.
    fn examine(&mut self, suspects: Suspects) -> Vec<String> {
        let alone = self.process(&suspects.blamed);
        if self.options.cancel.is_cancelled() {
            return Vec::new();
        }
        let is_green =
            |result: &TestResult| matches!(result.outcome.verdict, Verdict::Passed | Verdict::Skipped);
        if alone.failure.is_none() && alone.results.iter().all(is_green) {
            let target = &self.shard.program.target;
            let names = suspects.blamed.iter().chain(&suspects.earlier);
            let results: Vec<TestResult> = names.map(|name| suspected(target, name, &suspects)).collect();
            let explanation = format!("{}, and any test that ran before may be the cause", suspects.what);
            let failure = failure_of(target, &results, explanation);
            self.tell(results, Some(failure));
            return suspects.rest;
        }
        let settled: HashSet<String> = alone.results.iter().map(|result| result.test.name.clone()).collect();
        self.tell(alone.results, alone.failure);
        let suspected = [suspects.blamed, suspects.earlier, suspects.rest].concat();
        let open: HashSet<String> = suspected.into_iter().filter(|name| !settled.contains(name)).collect();
        self.shard.tests.iter().filter(|name| open.contains(*name)).cloned().collect()
    }

    fn process(&mut self, names: &[String]) -> Conclusion {
        self.filtered(names)
            .map(|ended| conclude(&ended.evidence(self.shard, self.options)))
            .unwrap_or_else(|error| could_not_run(self.shard, names, &error))
    }

    fn whole_program(&mut self, names: &[String]) -> Conclusion {
        self.started(invocation::plain(&self.shard.program), names, None)
            .map(|ended| conclude_unreported(&ended.evidence(self.shard, self.options)))
            .unwrap_or_else(|error| could_not_run(self.shard, names, &error))
    }

    fn filtered(&mut self, names: &[String]) -> io::Result<Ended> {
        let directory = tempfile::Builder::new().prefix("fewer-run-").tempdir()?;
        let (program, run_disabled) = (&self.shard.program, self.options.run_disabled);
        let command = invocation::running(program, directory.path(), names, run_disabled, self.format)?;
        self.started(command, names, Some(directory.path()))
    }

    /// Sees a process to its end.
    fn started(&mut self, command: Command, names: &[String], directory: Option<&Path>) -> io::Result<Ended> {
        let options = self.options;
        let target = &self.shard.program.target;
        let mut progress = Progress::new(target, names, options.test_timeout, &mut *self.emit);
        let end = supervise(command, Streams::Together, Leftovers::Kill, &options.cancel, &mut progress)?;
        let trace = progress.finish();
        // A report that is missing or cut off is what a crash leaves: not an error of the runner.
        let bytes = directory.and_then(|at| fs::read(invocation::report_path(at, self.format)).ok());
        let report = bytes.and_then(|bytes| match self.format {
            Format::Json => Report::parse(&bytes).ok(),
            Format::Xml => Report::parse_xml(&bytes),
        });
        Ok(Ended { trace, report, end })
    }

    fn tell(&mut self, results: Vec<TestResult>, failure: Option<ProcessFailure>) {
        results.into_iter().for_each(|result| (self.emit)(Event::TestFinished(result)));
        failure.into_iter().for_each(|failure| (self.emit)(Event::ProcessFailed(failure)));
    }
}

/// A process that has ended, and what it left.
struct Ended {
    trace: Trace,
    report: Option<Report>,
    end: ProcessEnd,
}

impl Ended {
    fn evidence<'a>(&'a self, shard: &'a Shard, options: &RunOptions) -> Evidence<'a> {
        Evidence {
            target: &shard.program.target,
            trace: &self.trace,
            report: self.report.as_ref(),
            end: self.end,
            timeout: options.test_timeout,
        }
    }
}

/// The program could not even be started: nothing is known of its tests.
fn could_not_run(shard: &Shard, names: &[String], error: &io::Error) -> Conclusion {
    let target = &shard.program.target;
    let executable = shard.program.executable.display();
    let explanation = format!("{executable} could not be started: {error}");
    let results = names.iter().map(|name| {
        let output_tail = explanation.clone();
        let outcome = Outcome { verdict: Verdict::Inconclusive, duration_s: 0.0, output_tail };
        TestResult::new(TestId::new(target, name), outcome, Some(explanation.clone()))
    });
    let results: Vec<TestResult> = results.collect();
    let failure = failure_of(target, &results, explanation.clone());
    Conclusion { results, failure: Some(failure), next: Next::Rest(Vec::new()) }
}

fn failure_of(target: &str, results: &[TestResult], explanation: String) -> ProcessFailure {
    let mut tests: Vec<TestId> = results.iter().map(|result| result.test.clone()).collect();
    tests.sort();
    ProcessFailure { target: target.to_string(), tests, explanation, output_tail: String::new() }
}
