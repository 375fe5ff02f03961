//! The commands of `fewer simulate`. The work is the library's; here are the options, progress, interruption and what
//! is printed.

mod clean;
mod generate;
mod git_commits;
mod import;
mod kernel;
mod label;
mod meter;
mod options;
mod plots;
mod ranking;
mod rows;
mod run;
mod store;

use std::path::{Path, PathBuf};

use fewer_console::{Console, ExitCode, Interrupted};
use fewer_lab::Table;
use fewer_lab::engine::embedded::{self, Options};
use fewer_report::style::{Tone, paint};

pub use options::Cli;
use options::{EngineArguments, LabCommand};

pub fn execute(console: &Console, command: &LabCommand) -> anyhow::Result<ExitCode> {
    match command {
        LabCommand::Import(command) => import::execute(console, command),
        LabCommand::Clean(options) => clean::execute(console, options),
        LabCommand::Label(options) => label::execute(console, options),
        LabCommand::Run(options) => run::execute(console, options),
        LabCommand::Generate(options) => generate::execute(console, options),
        LabCommand::Rows(options) => rows::execute(options),
        LabCommand::Kernel(command) => kernel::execute(command),
    }
}

/// How the engine works, for a given output.
fn engine(arguments: &EngineArguments, output: &Path) -> Options {
    let beside = || {
        let mut name = output.file_name().unwrap_or_default().to_os_string();
        name.push(".work");
        output.with_file_name(name)
    };
    let work: PathBuf = arguments.work.clone().unwrap_or_else(beside);
    Options { work, memory: arguments.memory }
}

/// After the work: temporary files go, unless they are wanted. After an interruption they stay.
fn conclude<T>(
    console: &Console,
    arguments: &EngineArguments,
    engine: &Options,
    result: anyhow::Result<T>,
) -> anyhow::Result<T> {
    match &result {
        Ok(_) if !arguments.keep_work => embedded::clear(engine)?,
        Ok(_) => {}
        Err(error) if error.is::<Interrupted>() => console.say(&format!(
            "what is done is kept in {}; the same command goes on from there",
            engine.work.display()
        )),
        Err(_) => {}
    }
    result
}

/// A table for people: text as it is, shares and areas with four digits.
fn text_of(table: &Table) -> String {
    let names = table.names();
    let is_right = |column: usize| {
        !(0..table.len()).any(|row| matches!(table.cell(row, column), fewer_lab::Cell::Text(_)))
    };
    let right: Vec<bool> = (0..names.len()).map(is_right).collect();
    let mut text = fewer_report::Table::new(&right);
    text.row(names.iter().map(|name| paint(Tone::Strong, &name.replace('_', " "))));
    for row in 0..table.len() {
        text.row((0..names.len()).map(|column| match table.cell(row, column) {
            fewer_lab::Cell::Text(text) => text,
            fewer_lab::Cell::Integer(number) => number.to_string(),
            fewer_lab::Cell::Number(number) => format!("{number:.4}"),
            fewer_lab::Cell::Nothing => "-".to_string(),
        }));
    }
    text.text()
}
