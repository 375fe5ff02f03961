//! `fewer reduce`: requirements in, reduced suites out, with what is lost stated. The algorithms are in the core;
//! here is what is read, written and printed around them.

mod build;
mod collect;
mod coverage_tool;
mod evaluate;
mod evolve;
mod experiment;
mod import;
mod options;
mod plots;
mod reader;
mod reduced_file;
mod requirement_files;
mod revision;
mod selection;
mod sheet;
mod source_texts;

pub use options::ReduceCommand;
pub use reduced_file::FILE_NAME as REDUCED_FILE;
pub use selection::{Leaving, leave_out};

use fewer_console::{Console, ExitCode};

use crate::cli::Global;
use crate::session::Session;

pub fn execute(global: &Global, console: &Console, command: &ReduceCommand) -> anyhow::Result<ExitCode> {
    let mut session = match command {
        ReduceCommand::Collect(_) => Session::open_to_start(global, console)?,
        ReduceCommand::Import(_)
        | ReduceCommand::Build(_)
        | ReduceCommand::Evolve(_)
        | ReduceCommand::Evaluate(_)
        | ReduceCommand::Experiment(_) => Session::open(global, console)?,
    };
    match command {
        ReduceCommand::Collect(options) => collect::execute(&mut session, options)?,
        ReduceCommand::Import(options) => import::execute(&session, options)?,
        ReduceCommand::Build(options) => build::execute(&session, options)?,
        ReduceCommand::Evolve(options) => evolve::execute(&session, options)?,
        ReduceCommand::Evaluate(options) => evaluate::execute(&session, options)?,
        ReduceCommand::Experiment(options) => experiment::execute(&session, options)?,
    }
    session.finish();
    Ok(ExitCode::Green)
}
