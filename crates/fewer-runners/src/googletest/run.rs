//! Running tests of a program: one process after another until every test of them has an outcome. What a process's end
//! means is told in `conclusion`, whether a failure counts in `confirmation`.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;
use tempfile::TempDir;

use super::conclusion::{
    Conclusion, Evidence, Next, Suspects, conclude, conclude_unlisted, conclude_unreported, suspected,
};
use super::invocation::{self, Format};
use super::progress::{Progress, Trace};
use super::report::Report;
use super::shard::Shard;
use crate::event::{Event, ProcessFailure, TestResult};
use crate::junit;
use crate::process::{Leftovers, ProcessEnd, Streams, Watcher, supervise};
use crate::program::TestProgram;
use crate::workers::RunOptions;

/// A program that cannot list its tests: it is one test.
#[derive(Clone, PartialEq, Debug)]
pub struct Unlisted {
    pub test: TestId,
    pub program: TestProgram,
}

/// Results that are kept back until they are confirmed: what did not pass, and what passed although it is known to fail.
#[derive(Default, Debug)]
pub(crate) struct Doubtful {
    pub(crate) results: Vec<TestResult>,
    pub(crate) failures: Vec<ProcessFailure>,
}

impl Doubtful {
    pub(crate) fn append(&mut self, mut other: Doubtful) {
        self.results.append(&mut other.results);
        self.failures.append(&mut other.failures);
    }

    pub(crate) fn tell(self, emit: &mut dyn FnMut(Event)) {
        self.results.into_iter().for_each(|result| emit(Event::TestFinished(result)));
        self.failures.into_iter().for_each(|failure| emit(Event::ProcessFailed(failure)));
    }
}

/// Runs the shard's tests. A test that takes its process down gets its verdict, and the tests that have not passed
/// beyond doubt get another process. What is doubtful is kept back.
pub(crate) fn run_shard(shard: &Shard, options: &RunOptions, emit: &mut dyn FnMut(Event)) -> Doubtful {
    let mut announced = HashSet::new();
    let mut doubtful = Doubtful::default();
    let is_doubtful =
        |result: &TestResult| !is_green(result) || shard.known_to_fail.contains(&result.test.name);
    let mut sift = |event: Event| match event {
        // A test that needs several processes is one step for those who watch.
        Event::TestStarted { ref test } if !announced.insert((false, test.clone())) => {}
        Event::TestEnded { ref test, .. } if !announced.insert((true, test.clone())) => {}
        Event::TestFinished(result) if is_doubtful(&result) => doubtful.results.push(result),
        Event::ProcessFailed(failure) => doubtful.failures.push(failure),
        Event::TestStarted { .. }
        | Event::TestEnded { .. }
        | Event::TestFinished(_)
        | Event::Indivisible(_) => {
            emit(event);
        }
    };
    Processes::new(&shard.program, None, options, &mut sift).run(&shard.tests, |_| true);
    doubtful
}

/// Runs the program the way its author does.
pub(crate) fn run_unlisted(unlisted: &Unlisted, options: &RunOptions, emit: &mut dyn FnMut(Event)) {
    let Unlisted { test, program } = unlisted;
    emit(Event::TestStarted { test: test.clone() });
    let names = [test.name.clone()];
    let mut quiet = |_| {};
    let mut processes = Processes::new(program, None, options, &mut quiet);
    let Conclusion { results, failure, .. } = match processes.plain(&names) {
        Ok(ended) => conclude_unlisted(&ended.evidence(program, options)),
        Err(error) => could_not_run(program, &names, &error),
    };
    results.into_iter().for_each(|result| emit(Event::TestFinished(result)));
    failure.into_iter().for_each(|failure| emit(Event::ProcessFailed(failure)));
}

pub(super) fn is_green(result: &TestResult) -> bool {
    matches!(result.outcome.verdict, Verdict::Passed | Verdict::Skipped)
}

/// Processes of one program, one after another.
pub(super) struct Processes<'a> {
    program: &'a TestProgram,
    /// All tests of the program. A process that is to run them all is started without a filter.
    all: Option<&'a [String]>,
    options: &'a RunOptions,
    emit: &'a mut dyn FnMut(Event),
    format: Format,
}

impl<'a> Processes<'a> {
    pub(super) fn new(
        program: &'a TestProgram,
        all: Option<&'a [String]>,
        options: &'a RunOptions,
        emit: &'a mut dyn FnMut(Event),
    ) -> Processes<'a> {
        Processes { program, all, options, emit, format: Format::Json }
    }

    /// Starts processes until each of the tests that is wanted has a result.
    pub(super) fn run(mut self, tests: &[String], is_wanted: impl Fn(&str) -> bool) {
        let mut waiting = tests.to_vec();
        while waiting.iter().any(|name| is_wanted(name)) && !self.options.cancel.is_cancelled() {
            let Conclusion { results, failure, next } = self.process(&waiting);
            self.tell(results, failure);
            waiting = match next {
                Next::Rest(rest) => {
                    assert!(rest.len() < waiting.len(), "every process settles at least one test");
                    rest
                }
                Next::Suspects(suspects) => self.examine(suspects, &waiting),
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

    /// Has the tests in which a process ended show alone whether they are the cause. What is left is returned, in order.
    fn examine(&mut self, suspects: Suspects, order: &[String]) -> Vec<String> {
        let alone = self.process(&suspects.blamed);
        if self.options.cancel.is_cancelled() {
            return Vec::new();
        }
        if alone.failure.is_none() && alone.results.iter().all(is_green) {
            let target = &self.program.target;
            let names = suspects.blamed.iter().chain(&suspects.earlier);
            let results: Vec<TestResult> = names.map(|name| suspected(target, name, &suspects)).collect();
            let explanation = format!("{}, and any test that ran before may be the cause", suspects.what);
            let failure = failure_of(target, &results, explanation);
            self.tell(results, Some(failure));
            return suspects.rest;
        }
        let settled: HashSet<String> = alone.results.iter().map(|result| result.test.name.clone()).collect();
        self.tell(alone.results, alone.failure);
        order.iter().filter(|name| !settled.contains(*name)).cloned().collect()
    }

    fn process(&mut self, names: &[String]) -> Conclusion {
        match self.filtered(names) {
            Ok(ended) => conclude(&ended.evidence(self.program, self.options)),
            Err(error) => could_not_run(self.program, names, &error),
        }
    }

    fn whole_program(&mut self, names: &[String]) -> Conclusion {
        match self.plain(names) {
            Ok(ended) => conclude_unreported(&ended.evidence(self.program, self.options)),
            Err(error) => could_not_run(self.program, names, &error),
        }
    }

    fn filtered(&mut self, names: &[String]) -> io::Result<Ended> {
        let directory = tempfile::Builder::new().prefix("fewer-run-").tempdir()?;
        let wanted = (self.all != Some(names)).then_some(names);
        let run_disabled = self.options.run_disabled;
        let command = invocation::running(self.program, directory.path(), wanted, run_disabled, self.format)?;
        self.started(command, names, directory)
    }

    /// Without any argument of the runner's.
    fn plain(&mut self, names: &[String]) -> io::Result<Ended> {
        let directory = tempfile::Builder::new().prefix("fewer-run-").tempdir()?;
        self.started(invocation::plain(self.program, directory.path()), names, directory)
    }

    /// Sees a process to its end.
    fn started(&mut self, command: Command, names: &[String], directory: TempDir) -> io::Result<Ended> {
        let options = self.options;
        let progress = Progress::new(&self.program.target, names, options.test_timeout, &mut *self.emit);
        let report = invocation::report_path(directory.path(), self.format);
        let unfinished = invocation::unfinished_path(directory.path());
        let mut watch = Watch { progress, report, unfinished, left: Left::default() };
        let end = supervise(command, Streams::Together, Leftovers::Kill, &options.cancel, &mut watch)?;
        let Watch { progress, left, .. } = watch;
        let report = left.report.and_then(|bytes| match self.format {
            Format::Json => Report::parse(&bytes).ok(),
            Format::Xml => Report::parse_xml(&bytes),
        });
        Ok(Ended { trace: progress.finish(), report, left_early: left.is_unfinished, end })
    }

    fn tell(&mut self, results: Vec<TestResult>, failure: Option<ProcessFailure>) {
        results.into_iter().for_each(|result| (self.emit)(Event::TestFinished(result)));
        failure.into_iter().for_each(|failure| (self.emit)(Event::ProcessFailed(failure)));
    }
}

/// Follows a process, and takes what it leaves at the moment it exits: a forked child may write later.
struct Watch<'a> {
    progress: Progress<'a>,
    report: PathBuf,
    unfinished: PathBuf,
    left: Left,
}

/// The files of a process that has exited.
#[derive(Default)]
struct Left {
    /// Missing or cut off where it crashed: that is not an error of the runner.
    report: Option<Vec<u8>>,
    is_unfinished: bool,
}

impl Watcher for Watch<'_> {
    fn output(&mut self, bytes: &[u8]) {
        self.progress.output(bytes);
    }

    fn deadline(&self) -> Option<Instant> {
        self.progress.deadline()
    }

    fn stopping(&mut self) {
        self.progress.stopping();
    }

    fn exited(&mut self) {
        let report = fewer_files::read_at_most(&self.report, junit::LARGEST).ok();
        self.left = Left { report, is_unfinished: self.unfinished.exists() };
    }
}

/// A process that has ended, and what it left.
struct Ended {
    trace: Trace,
    report: Option<Report>,
    left_early: bool,
    end: ProcessEnd,
}

impl Ended {
    fn evidence<'a>(&'a self, program: &'a TestProgram, options: &RunOptions) -> Evidence<'a> {
        Evidence {
            target: &program.target,
            trace: &self.trace,
            report: self.report.as_ref(),
            left_early: self.left_early,
            end: self.end,
            timeout: options.test_timeout,
        }
    }
}

/// The program could not even be started: nothing is known of its tests.
fn could_not_run(program: &TestProgram, names: &[String], error: &io::Error) -> Conclusion {
    let target = &program.target;
    let explanation = format!("{} could not be started: {error}", program.executable.display());
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
