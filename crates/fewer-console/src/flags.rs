//! The flags that every command knows, and the formats that many print in.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};

/// Flags that every command knows.
#[derive(Args, Debug)]
pub struct Global {
    /// Work as if started in this directory
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: Color,
    /// Say more: every selected test with its reason, every outcome as it comes
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Say only what is wrong
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show where the time went, on standard error
    #[arg(long, global = true)]
    pub timings: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Color {
    /// On terminals, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

/// Text for people or JSON for scripts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// How the result of an experiment is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TableFormat {
    /// Aligned columns for people
    Table,
    Json,
    Csv,
}

impl Global {
    /// Goes where `-C` says.
    pub fn change_directory(&self) -> anyhow::Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        std::env::set_current_dir(directory)
            .with_context(|| format!("cannot work in {}", directory.display()))
    }

    /// The same wishes for a program that is started in this one's directory.
    ///
    /// Example: `--color=never`, `--quiet`.
    pub fn arguments(&self) -> Vec<&'static str> {
        let color = match self.color {
            Color::Auto => None,
            Color::Always => Some("--color=always"),
            Color::Never => Some("--color=never"),
        };
        let flags = [(self.verbose, "--verbose"), (self.quiet, "--quiet"), (self.timings, "--timings")];
        color
            .into_iter()
            .chain(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag))
            .collect()
    }
}
