//! `fewer-lab`, which `fewer simulate` starts: how selection algorithms would have done on the history of a CI. This
//! file turns a command line into an exit code; the commands live in `program`, the work in the library.

mod program;

use clap::Parser;
use fewer_console::{Console, ExitCode};

use program::Cli;

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let console = Console::new(&cli.global);
    console.exit_code(execute(&cli, &console)).into()
}

fn execute(cli: &Cli, console: &Console) -> anyhow::Result<ExitCode> {
    cli.global.change_directory()?;
    program::execute(console, &cli.command)
}
