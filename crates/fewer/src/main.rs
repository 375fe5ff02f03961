//! `fewer`: run only the tests whose result can have changed. This file turns a command line into an exit code;
//! each command lives in `commands`, and what they share in the modules beside it.

mod affected_elements;
mod build_directory;
mod cargo;
mod change;
mod circumstances;
mod cli;
mod cmake_targets;
mod commands;
mod ctest_told;
mod current;
mod data_files;
mod dependencies;
mod diagnosis;
mod division;
mod embedded_paths;
mod entries;
mod examination;
mod execution;
mod gain;
mod history;
mod java;
mod lab;
mod names;
mod ninja_log;
mod part;
mod precision;
mod project;
mod provenance;
mod ranking;
mod record;
mod records;
mod session;
mod settings;
mod sightings;
mod stale;
mod state;
mod summary_cache;
mod timings;
mod vanished;
mod way;

use anyhow::Context;
use clap::Parser;
use fewer_console::{Console, ExitCode, Interrupted};
use fewer_lifetime::Lifetime;
use fewer_store::StoreError;

use cli::{Cli, Command};

fn main() -> std::process::ExitCode {
    fewer_objects::memory::keep_freed_memory();
    let cli = Cli::parse();
    // The program that this one becomes has its own.
    let lifetime = (!matches!(cli.command, Command::Simulate(_))).then(Lifetime::begin);
    let console = Console::new(&cli.global);
    let voice = console.clone();
    let watched = lifetime.as_ref().map_or(Ok(()), |lifetime| {
        lifetime.watch_signals(ExitCode::Interrupted.into(), move || voice.say("interrupted"))
    });
    let watched = watched.context("cannot watch for Ctrl-C");
    let result = match watched.and_then(|()| execute_or_set_aside(&cli, &console)) {
        Err(_) if lifetime.as_ref().is_some_and(Lifetime::is_stopped) => Err(Interrupted.into()),
        result => result,
    };
    console.exit_code(result).into()
}

/// Damage in the records may be met at any moment: they are set aside, and the command begins again.
fn execute_or_set_aside(cli: &Cli, console: &Console) -> anyhow::Result<ExitCode> {
    cli.global.change_directory()?;
    let result = execute(cli, console);
    let Err(error) = &result else { return result };
    let damaged = error.chain().find_map(|cause| cause.downcast_ref::<StoreError>());
    let runs = matches!(cli.command, Command::Run(_) | Command::Select(_) | Command::Why(_));
    match damaged.filter(|_| runs) {
        Some(damaged) if records::set_aside(console, damaged)? => execute(cli, console),
        Some(_) | None => result,
    }
}

fn execute(cli: &Cli, console: &Console) -> anyhow::Result<ExitCode> {
    let global = &cli.global;
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
        Command::Simulate(options) => lab::simulate(global, &options.arguments),
        Command::Forget(options) => commands::forget::execute(global, console, options),
        Command::Gc(options) => commands::gc::execute(global, console, options),
        Command::Completions(options) => commands::manual::completions(console, options.shell),
        Command::Man(options) => commands::manual::man(console, options),
    }
}
