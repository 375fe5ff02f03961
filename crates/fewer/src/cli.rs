//! The command line: its words, flags and help. What they do is told in `commands`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
pub use fewer_console::{Format, Global, TableFormat};
use fewer_objects::VirtualCalls;
use serde::Deserialize;

use crate::commands::reduce::ReduceCommand;
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
    /// Experiments over the commits of a repository: statistics, strategies compared
    #[command(subcommand)]
    History(HistoryCommand),
    /// Reduce the suite to tests that satisfy everything it does, and tell what that loses
    #[command(subcommand)]
    Reduce(ReduceCommand),
    /// Tell how selection algorithms would have done on the history of a CI
    #[command(disable_help_flag = true)]
    Simulate(SimulateOptions),
    /// Say that recorded tests are gone on purpose
    Forget(ForgetOptions),
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
    /// Take what is built for what the sources say, whatever the times of files are
    #[arg(long)]
    pub trust_build: bool,
}

/// Of a command that builds only when it is asked to.
#[derive(Args, Debug)]
pub struct BuildFirstOptions {
    /// Run the build command of fewer.toml, or the project's build tool, before tests are selected
    #[arg(long)]
    pub build: bool,
    /// What is the rule anyway
    #[arg(long, hide = true, conflicts_with = "build")]
    pub no_build: bool,
    /// Take what is built for what the sources say, whatever the times of files are
    #[arg(long)]
    pub trust_build: bool,
}

/// What is built before anything is looked at, and what is taken for true of it.
#[derive(Clone, Copy)]
pub struct Building {
    pub builds: bool,
    pub trusts: bool,
}

impl From<&BuildOptions> for Building {
    fn from(options: &BuildOptions) -> Building {
        Building { builds: !options.no_build, trusts: options.trust_build }
    }
}

impl From<&BuildFirstOptions> for Building {
    fn from(options: &BuildFirstOptions) -> Building {
        Building { builds: options.build, trusts: options.trust_build }
    }
}

#[derive(Args, Debug)]
pub struct VanishedOptions {
    /// Go on where all tests of a program or module are gone that were recorded, or where there is none at all
    #[arg(long)]
    pub allow_vanished: bool,
}

#[derive(Args, Debug)]
pub struct ForgetOptions {
    /// Programs or modules (core_test), test ids, ends of ids or patterns (Suite.*)
    #[arg(value_name = "TEST", required = true)]
    pub tests: Vec<String>,
    /// Text for people or JSON for scripts
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct StrategyOptions {
    /// Compare with this commit instead of the parents, like origin/main
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// How the history decides [default: auto]
    #[arg(long, value_name = "STRATEGY")]
    pub strategy: Option<StrategyName>,
}

impl StrategyOptions {
    /// Whether the user asked for anything in particular.
    pub fn is_given(&self) -> bool {
        self.base.is_some() || self.strategy.is_some()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StrategyName {
    /// s-star where the build is up to date, else predict where the graphs are recorded, else everything
    Auto,
    /// Every test whose fingerprint has no recorded outcome anywhere
    SStar,
    /// s-star on the merge of the recorded graphs: a merge, cherry-pick or revert before it is built
    Predict,
    /// From the recorded affected sets alone; unsafe when a change alters what a test reaches
    S0,
    /// Tests that differ from the nearest commit that all ways lead through
    S1,
    /// Tests that differ from every parent
    Sk,
}

impl StrategyName {
    /// As on the command line.
    pub fn word(self) -> &'static str {
        match self {
            StrategyName::Auto => "auto",
            StrategyName::SStar => "s-star",
            StrategyName::Predict => "predict",
            StrategyName::S0 => "s0",
            StrategyName::S1 => "s1",
            StrategyName::Sk => "sk",
        }
    }
}

#[derive(Args, Debug)]
pub struct ReducedOptions {
    /// Of the selected tests only those of a reduced suite, which may miss failures that the others would show
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = crate::commands::reduce::REDUCED_FILE
    )]
    pub reduced: Option<PathBuf>,
}

/// Running less than what is selected, or the most interesting first.
#[derive(Args, Debug)]
pub struct RankingOptions {
    /// Of the selected tests run those most likely to change that fit into this time (90s, 10m); not safe
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub budget: Option<Duration>,
    /// Leave out this share of the selected tests, those least likely to change (50%); not safe
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub skip: Option<f64>,
    /// Begin with the tests most likely to change
    #[arg(long)]
    pub order: bool,
}

impl RankingOptions {
    /// Whether the user asked for anything of it.
    pub fn is_given(&self) -> bool {
        self.budget.is_some() || self.skip.is_some() || self.order
    }
}

#[derive(Args, Debug)]
pub struct RunOptions {
    #[command(flatten)]
    pub build: BuildOptions,
    #[command(flatten)]
    pub vanished: VanishedOptions,
    #[command(flatten)]
    pub history: StrategyOptions,
    #[command(flatten)]
    pub cpp: CppOptions,
    #[command(flatten)]
    pub java: JavaOptions,
    #[command(flatten)]
    pub reduced: ReducedOptions,
    #[command(flatten)]
    pub ranking: RankingOptions,
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
    pub build: BuildFirstOptions,
    #[command(flatten)]
    pub vanished: VanishedOptions,
    #[command(flatten)]
    pub history: StrategyOptions,
    #[command(flatten)]
    pub cpp: CppOptions,
    #[command(flatten)]
    pub java: JavaOptions,
    /// What would have to run if these commits were merged now; nothing is built or touched
    #[arg(long, value_name = "REV", num_args = 2.., conflicts_with_all = ["base", "strategy", "all"])]
    pub merge: Vec<String>,
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
    /// The file for Maven's -Dsurefire.excludesFile: the test classes that need not run
    Surefire,
    /// Arguments for Gradle: per module its test task with --tests
    Gradle,
    /// The filter for `cargo nextest run -E`
    Nextest,
}

#[derive(Args, Debug)]
pub struct WhyOptions {
    /// What is the rule anyway
    #[arg(long, hide = true)]
    pub no_build: bool,
    /// Take what is built for what the sources say, whatever the times of files are
    #[arg(long)]
    pub trust_build: bool,
    /// A test id, or any unambiguous end of one (Suite.Name)
    #[arg(value_name = "TEST")]
    pub test: String,
    #[command(flatten)]
    pub cpp: CppOptions,
    #[command(flatten)]
    pub java: JavaOptions,
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
    #[command(flatten)]
    pub cpp: CppOptions,
    #[command(flatten)]
    pub java: JavaOptions,
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

#[derive(Subcommand, Debug)]
pub enum HistoryCommand {
    /// Count merges, rebases, cherry-picks and reverts; needs nothing but git
    Stats(StatsOptions),
    /// Tell what every strategy would have selected at the merges, cherry-picks and reverts of a range
    Replay(ReplayOptions),
    /// Generate merges from a linear history, and tell what the strategies select at them
    Generate(GenerateOptions),
    /// Tell what FEST and ClassSRTS would have selected of Java tests and found, from recorded results of CI
    CompareJava(CompareOptions),
}

#[derive(Args, Debug)]
pub struct StatsOptions {
    /// The commits to count, like v1.0..main, or main [default: all that any ref leads to]
    #[arg(value_name = "RANGE")]
    pub range: Option<String>,
    /// Do not redo the merges to tell which of them git makes alone: that takes most of the time
    #[arg(long)]
    pub no_auto_merges: bool,
    /// Also find cherry-picks whose message is silent, by comparing every patch: slow on large histories
    #[arg(long)]
    pub patch_ids: bool,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct AnalyserOptions {
    /// Where the tests of a commit and what they reach come from
    #[arg(long, value_name = "ANALYSER", default_value = "files")]
    pub analyser: AnalyserName,
    /// Read the graph of each commit from DIR/<commit>.json (fewer-graph/1) instead
    #[arg(long, value_name = "DIR", conflicts_with = "analyser")]
    pub graphs: Option<PathBuf>,
    #[command(flatten)]
    pub java: JavaOptions,
}

/// How C and C++ are looked at.
#[derive(Args, Debug)]
pub struct CppOptions {
    /// C++: which functions a call through a virtual table reaches, where bitcode tells [default: slot]
    #[arg(long = "virtual", value_name = "WHICH")]
    pub virtual_calls: Option<VirtualCallsName>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VirtualCallsName {
    /// Those in entries that some code of the program calls, of tables in reach
    #[default]
    Slot,
    /// Those in the called entry of every table of the program
    Hierarchy,
    /// All of a table in reach
    Any,
}

impl From<VirtualCallsName> for VirtualCalls {
    fn from(name: VirtualCallsName) -> VirtualCalls {
        match name {
            VirtualCallsName::Slot => VirtualCalls::Slot,
            VirtualCallsName::Hierarchy => VirtualCalls::Hierarchy,
            VirtualCallsName::Any => VirtualCalls::Any,
        }
    }
}

/// How Java is looked at.
#[derive(Args, Debug)]
pub struct JavaOptions {
    /// Java: which references count [default: full]
    #[arg(long, value_name = "WHICH")]
    pub dependencies: Option<DependenciesName>,
    /// Java: what a test is compared by [default: class]
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<LevelName>,
}

impl JavaOptions {
    /// Whether the user asked for anything in particular.
    pub fn is_given(&self) -> bool {
        self.dependencies.is_some() || self.level.is_some()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependenciesName {
    /// Hidden ones too: names in strings, services, resources
    Full,
    /// Only what code names as a class; unsafe where code is found by name
    Firewall,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelName {
    /// Classes
    Class,
    /// Methods, fields and initialisers
    Member,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AnalyserName {
    /// Files by the rule [files] of fewer.toml, read from git without a build
    Files,
    /// The states that `fewer run` recorded
    Recorded,
    /// Java source, read from git without a build
    Java,
}

#[derive(Args, Debug)]
pub struct ReplayOptions {
    /// The commits to replay, like v1.0..main; steps whose branches part before it are left out
    #[arg(value_name = "RANGE")]
    pub range: String,
    #[command(flatten)]
    pub analyser: AnalyserOptions,
    /// Also find cherry-picks whose message is silent, by comparing every patch: slow on large histories
    #[arg(long)]
    pub patch_ids: bool,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct GenerateOptions {
    /// How many of the newest commits along first parents are taken
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(4..=10_000))]
    pub versions: u32,
    /// Where they are taken from [default: HEAD]
    #[arg(value_name = "RANGE")]
    pub range: Option<String>,
    /// What a commit of a generated history gets of its version
    #[arg(long, value_name = "WHAT", default_value = "versions")]
    pub layout: LayoutName,
    #[command(flatten)]
    pub analyser: AnalyserOptions,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LayoutName {
    /// Everything that the version has, as published
    Versions,
    /// The change that the version made, on top of the commit's own parent; merges add nothing
    Changes,
}

#[derive(Args, Debug)]
pub struct CompareOptions {
    /// The commits whose versions are compared, like v1.0..main, along first parents
    #[arg(value_name = "RANGE")]
    pub range: String,
    /// What CI found: per commit a directory of XML reports or a CSV file named by its id, or results.csv
    #[arg(long, value_name = "DIR")]
    pub results: PathBuf,
    /// FEST also runs what failed in so many versions before
    #[arg(long, value_name = "N", default_value = "10")]
    pub failed_within: usize,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct SimulateOptions {
    /// What the program fewer-lab is asked to do; --help tells
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
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

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok();
    number
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or_else(|| format!("'{text}' is not a share: give something between 0% and 100%"))
}
