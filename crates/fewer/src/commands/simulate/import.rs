//! `fewer simulate import`: CSV, JUnit XML and Parquet through the lab's readers, and fewer's own records.

use std::path::Path;

use fewer_core::{RecordedOutcome, Snapshot, TestId};
use fewer_lab::engine::{Stage, Watch};
use fewer_lab::import::{
    CommitSource, Duplicates, Imported, Intake, IntakeOptions, IntakeRow, Mapping, NoCommits, Times,
    import_csv, import_junit, import_parquet,
};
use fewer_lab::records::PreSubmit;
use fewer_lab::{LabError, Outcome};
use fewer_report::document;
use fewer_store::{StateInfo, Store};

use super::git_commits::GitCommits;
use super::meter::Meter;
use super::options::{
    CsvOptions, ImportCommand, IntakeArguments, JunitOptions, MappingArguments, ParquetOptions, StoreOptions,
};
use crate::cli::{Format, Global};
use crate::console::Console;
use crate::exit_code::ExitCode;
use crate::session::Session;

pub fn execute(global: &Global, console: &Console, command: &ImportCommand) -> anyhow::Result<ExitCode> {
    match command {
        ImportCommand::Csv(options) => csv(console, options),
        ImportCommand::Junit(options) => junit(console, options),
        ImportCommand::Parquet(options) => parquet(console, options),
        ImportCommand::Store(options) => store(global, console, options),
    }
}

fn csv(console: &Console, options: &CsvOptions) -> anyhow::Result<ExitCode> {
    let mapping = mapping(&options.mapping, &options.intake);
    take_in(console, &options.intake, &options.files[0], |intake, watch| {
        import_csv(&options.files, options.delimiter, &mapping, intake, watch)
    })
}

fn parquet(console: &Console, options: &ParquetOptions) -> anyhow::Result<ExitCode> {
    let mapping = mapping(&options.mapping, &options.intake);
    take_in(console, &options.intake, &options.files[0], |intake, watch| {
        import_parquet(&options.files, &mapping, intake, watch)
    })
}

fn junit(console: &Console, options: &JunitOptions) -> anyhow::Result<ExitCode> {
    let granularity = options.target.into();
    // Reports of one build have their own times.
    let arguments = IntakeArguments {
        times: super::options::TimesName::Execution,
        output: options.intake.output.clone(),
        git: options.intake.git.clone(),
        ..options.intake
    };
    take_in(console, &arguments, &options.root, |intake, watch| {
        import_junit(&options.root, granularity, intake, watch)
    })
}

fn take_in(
    console: &Console,
    arguments: &IntakeArguments,
    input: &Path,
    read: impl FnOnce(&mut Intake<'_>, &dyn Watch) -> Result<(), LabError>,
) -> anyhow::Result<ExitCode> {
    let options = IntakeOptions {
        output: arguments.output.clone(),
        times: arguments.times.into(),
        sort: arguments.sort,
        duplicates: arguments.duplicates.into(),
    };
    let source: Box<dyn CommitSource> = match &arguments.git {
        Some(repository) => Box::new(GitCommits::open(repository)?),
        None => Box::new(NoCommits),
    };
    let imported = bring_in(console, options, &*source, input, read)?;
    if arguments.git.is_some() && imported.joined < imported.commits {
        let unknown = imported.commits - imported.joined;
        console.note(&format!("the repository does not know {unknown} of {} commits", imported.commits));
    }
    tell(console, &imported, &arguments.output, arguments.format)
}

fn bring_in(
    console: &Console,
    options: IntakeOptions,
    source: &dyn CommitSource,
    input: &Path,
    read: impl FnOnce(&mut Intake<'_>, &dyn Watch) -> Result<(), LabError>,
) -> anyhow::Result<Imported> {
    let meter = Meter::new(console)?;
    let work = || -> Result<Imported, LabError> {
        let mut intake = Intake::new(options, source)?;
        meter.begin(Stage::Import, 0);
        read(&mut intake, &meter)?;
        meter.go_on()?;
        intake.finish(input)
    };
    meter.concluded(work())
}

fn tell(console: &Console, imported: &Imported, output: &Path, format: Format) -> anyhow::Result<ExitCode> {
    match format {
        Format::Json => console.data(&document("fewer-simulate-import/1", imported))?,
        Format::Text => {
            let mut text =
                format!("{} rows of {} commits are in {}", imported.rows, imported.commits, output.display());
            if imported.joined > 0 {
                let (joined, files) = (imported.joined, imported.modified_files);
                text.push_str(&format!("; git knows {joined} of the commits, with {files} modified files"));
            }
            if imported.sorted {
                text.push_str("; rows were brought into the order of time");
            }
            if imported.duplicates > 0 {
                text.push_str(&format!("; {} duplicates were left out", imported.duplicates));
            }
            text.push('\n');
            console.data(&text)?;
        }
    }
    Ok(ExitCode::Green)
}

fn mapping(arguments: &MappingArguments, intake: &IntakeArguments) -> Mapping {
    Mapping {
        columns: arguments.columns.clone(),
        words: arguments.words.clone(),
        duration_unit: arguments.duration_unit.into(),
        has_git: intake.git.is_some(),
    }
}

fn store(global: &Global, console: &Console, options: &StoreOptions) -> anyhow::Result<ExitCode> {
    let session = Session::open(global, console)?;
    let source: Box<dyn CommitSource> = match GitCommits::open(&session.project.root) {
        Ok(commits) => Box::new(commits),
        Err(error) => {
            console.note(&format!("authors and files of commits are not known: {error}"));
            Box::new(NoCommits)
        }
    };
    let store = session.store();
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
        None => tell(console, &imported?, &options.output, options.format),
    }
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
        let affected: Vec<(TestId, fewer_core::Digest)> = snapshot
            .iter()
            .filter(|(test, fingerprint)| before.get(*test) != Some(*fingerprint))
            .map(|(test, fingerprint)| (test.clone(), *fingerprint))
            .collect();
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
        let outcome = match (recorded.verdict.is_failure(), recorded.verdict) {
            (true, _) => Outcome::Fail,
            (false, fewer_core::Verdict::Passed) => Outcome::Pass,
            (false, _) => continue,
        };
        if executions.iter().all(|(other, _)| *other != outcome) {
            executions.push((outcome, Some(recorded.duration_s)));
        }
    }
    executions.reverse();
    if executions.is_empty() { vec![(Outcome::NotRun, None)] } else { executions }
}
