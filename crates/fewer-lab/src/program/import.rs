//! `fewer simulate import`: CSV, JUnit XML and Parquet through the lab's readers, and fewer's own records.

use std::path::Path;

use fewer_console::{Console, ExitCode, Format};
use fewer_lab::LabError;
use fewer_lab::engine::{Stage, Watch};
use fewer_lab::import::{
    CommitSource, Imported, Intake, IntakeOptions, Mapping, NoCommits, import_csv, import_junit,
    import_parquet,
};
use fewer_report::document;

use super::git_commits::GitCommits;
use super::meter::Meter;
use super::options::{
    CsvOptions, ImportCommand, IntakeArguments, JunitOptions, MappingArguments, ParquetOptions, TimesName,
};

pub fn execute(console: &Console, command: &ImportCommand) -> anyhow::Result<ExitCode> {
    match command {
        ImportCommand::Csv(options) => csv(console, options),
        ImportCommand::Junit(options) => junit(console, options),
        ImportCommand::Parquet(options) => parquet(console, options),
        ImportCommand::Store(options) => super::store::execute(console, options),
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
        times: TimesName::Execution,
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

/// Reads a history in, with progress.
pub fn bring_in(
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

/// Prints what came in.
pub fn tell(
    console: &Console,
    imported: &Imported,
    output: &Path,
    format: Format,
) -> anyhow::Result<ExitCode> {
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
