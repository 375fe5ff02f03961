//! `fewer`: run only the tests whose result can have changed. This file turns a command line into an exit code;
//! each command lives in `commands`, and what they share in the modules beside it.

mod affected_elements;
mod build_directory;
mod change;
mod circumstances;
mod cli;
mod commands;
mod console;
mod current;
mod data_files;
mod dependencies;
mod diagnosis;
mod embedded_paths;
mod entries;
mod examination;
mod execution;
mod exit_code;
mod history;
mod java;
mod names;
mod part;
mod project;
mod provenance;
mod record;
mod session;
mod settings;
mod state;
mod summary_cache;
mod timings;

use anyhow::Context;
use clap::Parser;

use cli::{Cli, Command};
use console::Console;
use exit_code::ExitCode;
use session::Interrupted;

fn main() -> std::process::ExitCode {
    fewer_objects::memory::keep_freed_memory();
    let cli = Cli::parse();
    let console = Console::new(&cli.global);
    let code = match execute(&cli, &console) {
        Ok(code) => code,
        Err(error) if error.is::<Interrupted>() => {
            console.say("interrupted");
            ExitCode::Interrupted
        }
        Err(error) => {
            console.error(&error);
            ExitCode::Setup
        }
    };
    code.into()
}

fn execute(cli: &Cli, console: &Console) -> anyhow::Result<ExitCode> {
    let global = &cli.global;
    if let Some(directory) = &global.directory {
        std::env::set_current_dir(directory)
            .with_context(|| format!("cannot work in {}", directory.display()))?;
    }
    match &cli.command {
        Command::Init(options) => commands::init::execute(global, console, options),
        Command::Run(options) => commands::run::execute(global, console, options),
        Command::Select(options) => commands::select::execute(global, console, options),
        Command::Why(options) => commands::why::execute(global, console, options),
        Command::Affected(options) => commands::affected::execute(global, console, options),
        Command::Status(options) => commands::status::execute(global, console, options),
        Command::Doctor(options) => commands::doctor::execute(global, console, options),
        Command::History(command) => commands::history::execute(global, console, command),
        Command::Reduce(command) => commands::reduce::execute(global, console, command),
        #[cfg(feature = "simulate")]
        Command::Simulate(command) => commands::simulate::execute(global, console, command),
        Command::Gc(options) => commands::gc::execute(global, console, options),
        Command::Completions(options) => commands::manual::completions(console, options.shell),
        Command::Man(options) => commands::manual::man(console, options),
    }
}
