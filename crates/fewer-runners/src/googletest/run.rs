//! Running a shard: one process after another until every test of it has an outcome. What a process's end means
//! is told in `conclusion`.

use std::fs;
use std::io;

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;

use super::conclusion::{Conclusion, Evidence, conclude};
use super::invocation;
use super::progress::Progress;
use super::report::Report;
use super::shard::Shard;
use crate::event::{Event, ProcessFailure, TestResult};
use crate::process::{Leftovers, Streams, supervise};
use crate::workers::RunOptions;

/// Runs the shard's tests. A test that takes its process down gets its verdict, and the tests after it another
/// process.
pub(crate) fn run_shard(shard: &Shard, options: &RunOptions, emit: &mut dyn FnMut(Event)) {
    let mut remaining = shard.tests.clone();
    while !remaining.is_empty() && !options.cancel.is_cancelled() {
        let conclusion = run_process(shard, &remaining, options, emit)
            .unwrap_or_else(|error| could_not_run(shard, &remaining, &error));
        assert!(conclusion.remaining.len() < remaining.len(), "every process settles at least one test");
        conclusion.results.into_iter().for_each(|result| emit(Event::TestFinished(result)));
        conclusion.failure.into_iter().for_each(|failure| emit(Event::ProcessFailed(failure)));
        remaining = conclusion.remaining;
    }
}

fn run_process(
    shard: &Shard,
    names: &[String],
    options: &RunOptions,
    emit: &mut dyn FnMut(Event),
) -> io::Result<Conclusion> {
    let directory = tempfile::Builder::new().prefix("fewer-run-").tempdir()?;
    let command = invocation::running(&shard.program, directory.path(), names, options.run_disabled)?;
    let target = &shard.program.target;
    let mut progress = Progress::new(target, names, options.test_timeout, emit);
    let end = supervise(command, Streams::Together, Leftovers::Kill, &options.cancel, &mut progress)?;
    let trace = progress.finish();
    // A report that is missing or cut off is what a crash leaves: not an error of the runner.
    let bytes = fs::read(invocation::report_path(directory.path())).ok();
    let report = bytes.and_then(|bytes| Report::parse(&bytes).ok());
    let evidence =
        Evidence { target, trace: &trace, report: report.as_ref(), end, timeout: options.test_timeout };
    Ok(conclude(&evidence))
}

/// The program could not even be started: nothing is known of its tests.
fn could_not_run(shard: &Shard, names: &[String], error: &io::Error) -> Conclusion {
    let executable = shard.program.executable.display();
    let explanation = format!("{executable} could not be started: {error}");
    let results = names.iter().map(|name| {
        let output_tail = explanation.clone();
        let outcome = Outcome { verdict: Verdict::Inconclusive, duration_s: 0.0, output_tail };
        TestResult::new(TestId::new(&shard.program.target, name), outcome, Some(explanation.clone()))
    });
    let results: Vec<TestResult> = results.collect();
    let mut tests: Vec<TestId> = results.iter().map(|result| result.test.clone()).collect();
    tests.sort();
    let failure = ProcessFailure {
        target: shard.program.target.clone(),
        tests,
        explanation,
        output_tail: String::new(),
    };
    Conclusion { results, failure: Some(failure), remaining: Vec::new() }
}
