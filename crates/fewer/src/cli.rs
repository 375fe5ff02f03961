//! The command line: its words, flags and help. What they do is told in `commands`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::settings::parse_time;

const AFTER_HELP: &str = "\
Exit codes: 0 all green (run or reused), 1 a test failed, 2 wrong usage or set-up, 3 the build failed, 130 Ctrl-C.
Data goes to standard output, everything else to standard error. State lives in .fewer/; fewer.toml is optional.";

/// Run only the tests whose result can have changed, and prove why the rest were skipped.
///
/// A test is a function of what it can reach. fewer hashes what each test can reach in the object files that the
/// build left behind, and runs a test only when that hash is new.
#[derive(Parser, Debug)]
#[command(name = "fewer", version, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

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

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Write a commented fewer.toml and say what to change in the build, if anything
    Init(InitOptions),
    /// Build (if configured), select, run, record, summarise
    Run(RunOptions),
    /// Print which tests would run
    Select(SelectOptions),
    /// Tell why a test runs, or on which evidence it is skipped
    Why(WhyOptions),
    /// Tell which tests a change to files or elements would select
    Affected(AffectedOptions),
    /// Show what is recorded: states, tests, outcomes, flaky tests, the last run
    Status(FormatOptions),
    /// Tell what is missing or makes selection coarser than it could be, with the fix
    Doctor(FormatOptions),
    /// Drop what is old from the records
    Gc(GcOptions),
    /// Print completions for a shell
    Completions(CompletionOptions),
    /// Print the manual page
    Man(ManOptions),
}

#[derive(Args, Debug)]
pub struct InitOptions {
    /// Overwrite an existing fewer.toml
    #[arg(long)]
    pub force: bool,
}

/// Text for people or JSON for scripts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

#[derive(Args, Debug)]
pub struct FormatOptions {
    /// Text for people or JSON for scripts
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct BuildOptions {
    /// Do not run the build command of fewer.toml
    #[arg(long)]
    pub no_build: bool,
}

#[derive(Args, Debug)]
pub struct RunOptions {
    #[command(flatten)]
    pub build: BuildOptions,
    /// Run every test, whatever is recorded
    #[arg(long)]
    pub all: bool,
    /// How many test processes run at a time [default: one per core]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// How long one test may take, in seconds or like 90s, 5m [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// Write JUnit XML to this file, reused tests included and marked
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Text for people or JSON for scripts
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct SelectOptions {
    #[command(flatten)]
    pub build: BuildOptions,
    /// Select every test, whatever is recorded
    #[arg(long)]
    pub all: bool,
    /// How the selection is printed
    #[arg(long, value_name = "FORMAT", default_value = "list")]
    pub format: SelectFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SelectFormat {
    /// The ids that would run, one per line, sorted
    List,
    /// Every test with its decision, reason and evidence
    Json,
    /// Per program a line: its path, a tab, and the value for --gtest_filter
    GtestFilter,
}

#[derive(Args, Debug)]
pub struct WhyOptions {
    #[command(flatten)]
    pub build: BuildOptions,
    /// A test id, or any unambiguous end of one (Suite.Name)
    #[arg(value_name = "TEST")]
    pub test: String,
    /// Text for people or JSON for scripts
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct AffectedOptions {
    /// Files of the project, or names of functions and variables
    #[arg(value_name = "PATH", required_unless_present = "diff")]
    pub paths: Vec<String>,
    /// The files that differ between two commits; with one commit, between it and the working tree
    #[arg(long, value_name = "A..B")]
    pub diff: Option<String>,
    /// How the tests are printed
    #[arg(long, value_name = "FORMAT", default_value = "list")]
    pub format: AffectedFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AffectedFormat {
    /// The ids, one per line, sorted
    List,
    Json,
}

#[derive(Args, Debug)]
pub struct GcOptions {
    /// How many of the newest recorded states are kept
    #[arg(long, value_name = "N", default_value = "100")]
    pub keep_states: u32,
    /// Of the others drop only those older than this (30d, 12h)
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub older_than: Option<Duration>,
    /// Text for people or JSON for scripts
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct CompletionOptions {
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub struct ManOptions {
    /// Write the page of every command into this directory instead
    #[arg(long = "directory", value_name = "DIR")]
    pub pages: Option<PathBuf>,
}
