//! `fewer-lab`, which `fewer simulate` starts: how selection algorithms would have done on the history of a CI. This
//! file turns a command line into an exit code; the commands live in `program`, the work in the library.

mod program;

use anyhow::Context;
use clap::Parser;
use fewer_console::{Console, ExitCode, Interrupted};
use fewer_lifetime::Lifetime;

use program::Cli;

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let lifetime = Lifetime::begin();
    let console = Console::new(&cli.global);
    let voice = console.clone();
    let watched = lifetime.watch_signals(ExitCode::Interrupted.into(), move || voice.say("interrupted"));
    let watched = watched.context("cannot watch for Ctrl-C");
    let result = match watched.and_then(|()| execute(&cli, &console)) {
        Err(_) if lifetime.is_stopped() => Err(Interrupted.into()),
        result => result,
    };
    console.exit_code(result).into()
}

fn execute(cli: &Cli, console: &Console) -> anyhow::Result<ExitCode> {
    cli.global.change_directory()?;
    program::execute(console, &cli.command)
}
