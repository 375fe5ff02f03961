//! `fewer simulate import store`: what `fewer run` recorded in a project, as a history.

use std::path::{Path, PathBuf};

use anyhow::Context;
use fewer_console::{Console, ExitCode};
use fewer_core::{Digest, RecordedOutcome, Snapshot, TestId, tts};
use fewer_lab::engine::Watch;
use fewer_lab::import::{CommitSource, Duplicates, Intake, IntakeOptions, IntakeRow, NoCommits, Times};
use fewer_lab::records::PreSubmit;
use fewer_lab::{LabError, Outcome};
use fewer_store::{OwnerKey, StateInfo, Store};

use super::git_commits::GitCommits;
use super::import::{bring_in, tell};
use super::options::StoreOptions;
use super::ranking::note_source;

/// Where `fewer` keeps its records, below a project's directory.
pub const DIRECTORY: &str = ".fewer";

pub fn execute(console: &Console, options: &StoreOptions) -> anyhow::Result<ExitCode> {
    let root = project()?;
    let source: Box<dyn CommitSource> = match GitCommits::open(&root) {
        Ok(commits) => Box::new(commits),
        Err(error) => {
            console.note(&format!("authors and files of commits are not known: {error}"));
            Box::new(NoCommits)
        }
    };
    let store = Store::open(&root.join(DIRECTORY), OwnerKey::of_user()?)?;
    let mut states = store.states(u32::MAX)?;
    states.reverse();
    let intake = IntakeOptions {
        output: options.output.clone(),
        times: Times::Execution,
        sort: true,
        duplicates: Duplicates::Keep,
    };
    let path = store.path().to_path_buf();
    let mut problem = None;
    let imported = bring_in(console, intake, &*source, &path, |intake, watch| {
        recorded_states(&store, &states, &path, intake, watch).unwrap_or_else(|error| {
            problem = Some(error);
            Err(LabError::Interrupted)
        })
    });
    match problem {
        Some(error) => Err(error),
        None => {
            let imported = imported?;
            note_source(&options.output, &root)?;
            tell(console, &imported, &options.output, options.format)
        }
    }
}

/// The nearest directory at or above this one that has records.
fn project() -> anyhow::Result<PathBuf> {
    let here = Path::new(".").canonicalize().context("cannot tell the current directory")?;
    let recorded = here.ancestors().find(|directory| directory.join(DIRECTORY).is_dir());
    recorded.map(Path::to_path_buf).with_context(|| {
        format!("nothing is recorded in {} or above: `fewer run` records what it runs", here.display())
    })
}

/// Every recorded state of a commit affects the tests whose fingerprint differs from the state before. The outcome
/// recorded for a fingerprint, wherever, is the outcome here.
fn recorded_states(
    store: &Store,
    states: &[StateInfo],
    path: &Path,
    intake: &mut Intake<'_>,
    watch: &dyn Watch,
) -> anyhow::Result<Result<(), LabError>> {
    let (mut before, mut row) = (Snapshot::new(), 0);
    for state in states.iter().filter(|state| !state.dirty) {
        let Some(commit) = &state.commit else { continue };
        let snapshot = store.state(state.id)?.snapshot;
        let affected: Vec<(TestId, Digest)> =
            tts(&before, &snapshot).into_iter().map(|test| (test.clone(), snapshot[&test])).collect();
        let records = store.records(&affected)?;
        for (test, fingerprint) in &affected {
            let outcomes = records.get(test).map_or(&[][..], |record| &record.same_fingerprint);
            let (target, fingerprint) = (test.to_string(), fingerprint.to_string());
            for (outcome, duration_s) in executions(outcomes) {
                row += 1;
                let execution = IntakeRow {
                    commit,
                    time: Some(state.recorded_at.as_microsecond()),
                    author: None,
                    target: &target,
                    outcome,
                    duration_s,
                    pre_submit: PreSubmit::Unknown,
                    fingerprint: Some(&fingerprint),
                };
                if let Err(error) = intake.push(path, row, &execution) {
                    return Ok(Err(error));
                }
            }
        }
        watch.advance(affected.len() as u64);
        before = snapshot;
    }
    Ok(Ok(()))
}

/// One per outcome that was ever seen, the newest last; one that was not run where none is conclusive.
fn executions(outcomes: &[RecordedOutcome]) -> Vec<(Outcome, Option<f64>)> {
    let mut executions: Vec<(Outcome, Option<f64>)> = Vec::new();
    for recorded in outcomes {
        let outcome = match recorded.verdict.passed() {
            Some(true) => Outcome::Pass,
            Some(false) => Outcome::Fail,
            None => continue,
        };
        if executions.iter().all(|(other, _)| *other != outcome) {
            executions.push((outcome, Some(recorded.duration_s)));
        }
    }
    executions.reverse();
    if executions.is_empty() { vec![(Outcome::NotRun, None)] } else { executions }
}
