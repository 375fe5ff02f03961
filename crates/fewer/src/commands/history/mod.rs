//! `fewer history`: the experiments over the commits of a repository, one file each.

mod compare;
mod compare_measures;
mod compare_results;
mod compare_view;
mod generate;
mod replay;
mod stats;

use std::path::Path;

use anyhow::bail;
use fewer_console::{Console, ExitCode};
use fewer_report::AnalysedView;

use crate::cli::{AnalyserName, AnalyserOptions, Global, HistoryCommand};
use crate::history::{Known, Means};
use crate::java::options_of;
use crate::settings::JavaSettings;

pub fn execute(global: &Global, console: &Console, command: &HistoryCommand) -> anyhow::Result<ExitCode> {
    match command {
        HistoryCommand::Stats(options) => stats::execute(global, console, options),
        HistoryCommand::Replay(options) => replay::execute(global, console, options),
        HistoryCommand::Generate(options) => generate::execute(global, console, options),
        HistoryCommand::CompareJava(options) => compare::execute(global, console, options),
    }
}

/// How commits are analysed, and the word for it.
fn means(options: &AnalyserOptions) -> anyhow::Result<(Means, &'static str)> {
    let means = match (&options.graphs, options.analyser) {
        (Some(directory), _) => (Means::Documents(Path::new(directory).to_path_buf()), "graphs"),
        (None, AnalyserName::Files) => (Means::Files, "files"),
        (None, AnalyserName::Recorded) => (Means::Recorded, "recorded"),
        (None, AnalyserName::Java) => {
            (Means::Java(options_of(&options.java, &JavaSettings::default())), "java")
        }
    };
    match means {
        (Means::Files | Means::Documents(_) | Means::Recorded, analyser) if options.java.is_given() => {
            bail!("--dependencies and --level are about Java, not about '{analyser}': add --analyser java")
        }
        means => Ok(means),
    }
}

fn analysed(known: Option<Known>) -> Option<AnalysedView> {
    known.map(|Known { commits, known, absent }| AnalysedView { commits, known, absent })
}

/// What the user should know of what was analysed.
fn analysed_notes(known: Option<Known>) -> Vec<String> {
    let Some(Known { commits, known, absent }) = known else { return Vec::new() };
    let mut notes = Vec::new();
    if known > 0 {
        notes.push(format!("{known} of {commits} commits were known from an earlier replay"));
    }
    if absent > 0 {
        notes.push(format!(
            "{absent} of {commits} commits have no graph document; every test counts as affected by them"
        ));
    }
    notes
}
