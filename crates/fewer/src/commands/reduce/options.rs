//! The command line of `fewer reduce`: its words, flags and help.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use fewer_core::reduction::{Algorithm, RequirementKind};
use fewer_requirements::Format;

use super::reader::Reader;
use crate::cli::TableFormat;
use crate::settings::parse_time;

#[derive(Subcommand, Debug)]
pub enum ReduceCommand {
    /// Run each GoogleTest test of a build with coverage, and keep what it covers
    Collect(CollectOptions),
    /// Read what tests cover or kill from what other tools wrote
    Import(ImportOptions),
    /// Reduce the suite to tests that satisfy everything the full one does
    Build(BuildReducedOptions),
    /// Carry a reduced suite to a later revision: new tests come in, removed ones go
    Evolve(EvolveOptions),
    /// Tell what a reduced suite loses, in all and in relation to a change
    Evaluate(EvaluateOptions),
    /// Compare full, reduced, selected and both over the recorded revisions of a range
    Experiment(ExperimentOptions),
}

/// Which requirements are left out.
#[derive(Args, Debug)]
pub struct TestCodeOptions {
    /// Count the tests' own code too; every test covers its own body, so hardly any is redundant then
    #[arg(long)]
    pub with_test_code: bool,
    /// Leave out files whose path begins so, like third_party/
    #[arg(long, value_name = "PATH")]
    pub exclude: Vec<String>,
}

#[derive(Args, Debug)]
pub struct CollectOptions {
    /// The directory of the build with coverage [default: build-directory of fewer.toml]
    #[arg(long, value_name = "DIR")]
    pub build_directory: Option<PathBuf>,
    /// How the build was instrumented
    #[arg(long, value_name = "KIND", default_value = "auto")]
    pub coverage: CoverageName,
    #[command(flatten)]
    pub test_code: TestCodeOptions,
    /// How many tests run at a time [default: one per core]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// How long one test may take, in seconds or like 90s, 5m [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum CoverageName {
    /// Whatever the programs contain
    Auto,
    /// -fprofile-instr-generate -fcoverage-mapping
    Clang,
    /// --coverage
    Gcov,
}

#[derive(Args, Debug)]
pub struct ImportOptions {
    /// What a tool wrote; several files of one kind add up
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What the files are
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub from: FormatName,
    /// What a CSV or Parquet matrix is about; of a Stryker report, statements means covered places
    #[arg(long, value_name = "KIND")]
    pub kind: Option<KindName>,
    /// The revision that was measured [default: what is checked out]
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
    /// The target of tests that fewer does not know
    #[arg(long, value_name = "TARGET", default_value = "imported")]
    pub target: String,
    /// Keep tests that are not in the recorded suite
    #[arg(long)]
    pub keep_unmatched: bool,
    /// Add to what is already known of the revision instead of replacing it
    #[arg(long)]
    pub add: bool,
    #[command(flatten)]
    pub test_code: TestCodeOptions,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FormatName {
    /// By name and content
    Auto,
    /// LCOV tracefile with TN: per test
    Lcov,
    /// Data file of coverage.py with contexts
    CoveragePy,
    /// mutations.xml of PIT with the full matrix
    PitMutations,
    /// linecoverage.xml of PIT
    PitLines,
    /// JaCoCo XML of one test, called like the test
    Jacoco,
    /// Mutation-testing-report JSON: killed mutants
    Stryker,
    /// outcomes.json of cargo-mutants, with its logs beside it
    CargoMutants,
    /// test,requirement or a column per requirement
    Csv,
    /// The same as a Parquet file; fewer-lab reads it
    Parquet,
}

impl FormatName {
    /// How such files are read; `None` where they are to be looked at.
    pub fn reader(self, kind: Option<RequirementKind>) -> Option<Reader> {
        let of_matrix = kind.unwrap_or(RequirementKind::Statements);
        let is_statements = kind == Some(RequirementKind::Statements);
        Some(Reader::Known(match self {
            FormatName::Auto => return None,
            FormatName::Parquet => return Some(Reader::Parquet(of_matrix)),
            FormatName::Lcov => Format::Lcov,
            FormatName::CoveragePy => Format::CoveragePy,
            FormatName::PitMutations => Format::PitMutations,
            FormatName::PitLines => Format::PitLines,
            FormatName::Jacoco => Format::Jacoco,
            FormatName::Stryker if is_statements => Format::StrykerCoverage,
            FormatName::Stryker => Format::Stryker,
            FormatName::CargoMutants => Format::CargoMutants,
            FormatName::Csv => Format::Csv(of_matrix),
        }))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum KindName {
    /// Covered statements
    Statements,
    /// Killed mutants
    Mutants,
}

impl KindName {
    pub fn kind(self) -> RequirementKind {
        match self {
            KindName::Statements => RequirementKind::Statements,
            KindName::Mutants => RequirementKind::Mutants,
        }
    }
}

#[derive(Args, Debug)]
pub struct BuildReducedOptions {
    #[command(flatten)]
    pub way: WayOptions,
    /// What must stay satisfied
    #[arg(long, value_name = "KIND", default_value = "statements")]
    pub kind: KindName,
    /// The revision whose requirements are taken [default: what is checked out, else the newest known]
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
    /// Try every algorithm and tell how far each is from the smallest suite
    #[arg(long)]
    pub compare: bool,
    /// Where the reduced suite is written, for people to review
    #[arg(long, value_name = "FILE", default_value = super::reduced_file::FILE_NAME)]
    pub output: PathBuf,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

/// How a suite is reduced.
#[derive(Args, Debug)]
pub struct WayOptions {
    /// How the suite is reduced
    #[arg(long, value_name = "ALGORITHM", default_value = "greedy")]
    pub algorithm: AlgorithmName,
    /// How long the exact algorithm may search, in seconds or like 90s, 5m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time)]
    pub time_limit: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AlgorithmName {
    /// Most unsatisfied requirements first
    Greedy,
    /// Most unsatisfied requirements per second first
    CostAware,
    /// Requirements that few tests satisfy first (Harrold, Gupta, Soffa)
    Hgs,
    /// The smallest suite, by integer programming
    Exact,
}

impl AlgorithmName {
    pub fn algorithm(self) -> Algorithm {
        match self {
            AlgorithmName::Greedy => Algorithm::Greedy,
            AlgorithmName::CostAware => Algorithm::CostAware,
            AlgorithmName::Hgs => Algorithm::Hgs,
            AlgorithmName::Exact => Algorithm::Exact,
        }
    }
}

#[derive(Args, Debug)]
pub struct EvolveOptions {
    /// The reduced suite
    #[arg(value_name = "FILE", default_value = super::reduced_file::FILE_NAME)]
    pub file: PathBuf,
    /// The recorded revision to carry it to [default: the newest recorded state]
    #[arg(long, value_name = "REV")]
    pub to: Option<String>,
    /// Where the result is written [default: the file itself]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct EvaluateOptions {
    /// The reduced suite
    #[arg(value_name = "FILE", default_value = super::reduced_file::FILE_NAME)]
    pub file: PathBuf,
    /// The revision at which it is used, whose requirements are known [default: what is checked out]
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
    /// The tests selected for the change, one id per line, as `fewer select` prints them; - is standard input
    /// [default: those that differ from the recorded parent commit, going back where they satisfy nothing]
    #[arg(long, value_name = "FILE")]
    pub selected: Option<PathBuf>,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct ExperimentOptions {
    /// The commits, along first parents, like v1.0..main; those that are not recorded are left out
    #[arg(value_name = "RANGE")]
    pub range: String,
    #[command(flatten)]
    pub way: WayOptions,
    /// Write plots (SVG) into this directory
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}
