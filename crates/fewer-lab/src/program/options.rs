//! The words and flags of `fewer simulate`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use fewer_console::{Format, Global, TableFormat};
use fewer_lab::import::{Duplicates, Field, Granularity, Times, Unit};
use fewer_lab::{Algorithm, Experiment, Hours, Outcome, WINDOWS};

const AFTER_HELP: &str = "\
Exit codes: 0 done, 2 wrong usage or input, 130 Ctrl-C. Data goes to standard output, everything else to standard error.
The way from a CI to curves: fewer simulate import ..., then clean, then run.";

/// Tell how selection algorithms would have done on the history of a CI.
///
/// Results that a CI already has are replayed: at every commit an algorithm ranks the targets that it affected, the
/// lowest ranked ones are skipped, and it is counted how often a change of a result was among them.
#[derive(Parser, Debug)]
#[command(
    name = "fewer-lab",
    bin_name = "fewer simulate",
    version,
    after_help = AFTER_HELP,
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: LabCommand,
}

#[derive(Subcommand, Debug)]
pub enum LabCommand {
    /// Bring a history in: CSV, JUnit XML, Parquet, or what fewer itself recorded
    #[command(subcommand)]
    Import(ImportCommand),
    /// Take flaky results out, in three passes, and tell where transitions came from
    Clean(CleanOptions),
    /// Write for every row whether skipping it would have been safe
    Label(LabelOptions),
    /// Run every algorithm with every window, and write the tables and plots of all figures
    Run(RunOptions),
    /// Make a synthetic history of any size
    Generate(GenerateOptions),
    /// Print a Parquet file as CSV
    Rows(RowsOptions),
    /// Pipe an Arrow IPC stream through a kernel; for engines
    #[command(subcommand, hide = true)]
    Kernel(KernelCommand),
}

#[derive(Subcommand, Debug)]
pub enum ImportCommand {
    /// From CSV files with a line of column names
    Csv(CsvOptions),
    /// From a directory with a directory per commit or build, and JUnit XML files in them
    Junit(JunitOptions),
    /// From Parquet files
    Parquet(ParquetOptions),
    /// From what `fewer run` recorded in this project
    Store(StoreOptions),
}

#[derive(Args, Debug)]
pub struct IntakeArguments {
    /// The directory of the new history
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// A git repository that knows the commits: their authors, times and modified files are taken from it
    #[arg(long, value_name = "REPOSITORY")]
    pub git: Option<PathBuf>,
    /// What the times of rows are
    #[arg(long, value_name = "OF", default_value = "commit")]
    pub times: TimesName,
    /// Bring rows into the order of time instead of refusing those that are not
    #[arg(long)]
    pub sort: bool,
    /// What happens to rows that are equal in every field
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    pub duplicates: DuplicatesName,
    /// Text for people or JSON for scripts
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TimesName {
    /// Of the commit, the same for all of its rows
    Commit,
    /// Of the execution; the commit's is the earliest
    Execution,
}

impl From<TimesName> for Times {
    fn from(name: TimesName) -> Times {
        match name {
            TimesName::Commit => Times::Commit,
            TimesName::Execution => Times::Execution,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DuplicatesName {
    Refuse,
    Drop,
    Keep,
}

impl From<DuplicatesName> for Duplicates {
    fn from(name: DuplicatesName) -> Duplicates {
        match name {
            DuplicatesName::Refuse => Duplicates::Refuse,
            DuplicatesName::Drop => Duplicates::Drop,
            DuplicatesName::Keep => Duplicates::Keep,
        }
    }
}

#[derive(Args, Debug)]
pub struct MappingArguments {
    /// What a column is called, like commit=BuildId; fields: commit, time, author, target, result, duration,
    /// pre-submit, fingerprint
    #[arg(long = "column", value_name = "FIELD=NAME", value_parser = parse_column)]
    pub columns: Vec<(Field, String)>,
    /// What a word in the column of results means, like 1=fail; results: pass, fail, not-run
    #[arg(long = "word", value_name = "WORD=RESULT", value_parser = parse_word)]
    pub words: Vec<(String, Outcome)>,
    /// The unit of durations
    #[arg(long, value_name = "UNIT", default_value = "s")]
    pub duration_unit: UnitName,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum UnitName {
    S,
    Ms,
}

impl From<UnitName> for Unit {
    fn from(name: UnitName) -> Unit {
        match name {
            UnitName::S => Unit::Seconds,
            UnitName::Ms => Unit::Milliseconds,
        }
    }
}

#[derive(Args, Debug)]
pub struct CsvOptions {
    /// CSV files, one after the other; a directory stands for those in it
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The character between cells
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = parse_delimiter)]
    pub delimiter: u8,
    #[command(flatten)]
    pub mapping: MappingArguments,
    #[command(flatten)]
    pub intake: IntakeArguments,
}

#[derive(Args, Debug)]
pub struct ParquetOptions {
    /// Parquet files, one after the other; a directory stands for those in it
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub mapping: MappingArguments,
    #[command(flatten)]
    pub intake: IntakeArguments,
}

#[derive(Args, Debug)]
pub struct JunitOptions {
    /// The directory with a directory per commit or build
    #[arg(value_name = "DIR")]
    pub root: PathBuf,
    /// What a target is
    #[arg(long, value_name = "WHAT", default_value = "class")]
    pub target: GranularityName,
    #[command(flatten)]
    pub intake: IntakeArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum GranularityName {
    Suite,
    Class,
    Case,
}

impl From<GranularityName> for Granularity {
    fn from(name: GranularityName) -> Granularity {
        match name {
            GranularityName::Suite => Granularity::Suite,
            GranularityName::Class => Granularity::Class,
            GranularityName::Case => Granularity::Case,
        }
    }
}

#[derive(Args, Debug)]
pub struct StoreOptions {
    /// The directory of the new history
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Text for people or JSON for scripts
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct EngineArguments {
    /// How much memory rows may take
    #[arg(long, value_name = "SIZE", default_value = "512MB", value_parser = parse_size)]
    pub memory: u64,
    /// Where temporary files go, and what an interrupted run left is found [default: beside the output]
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Keep the temporary files, so that a further run need not label again
    #[arg(long)]
    pub keep_work: bool,
}

/// Where the work is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EngineName {
    /// In this program, on all cores
    Embedded,
    /// On a Spark cluster, with the same kernels and the same numbers
    Spark,
}

#[derive(Args, Debug)]
pub struct ClusterArguments {
    /// Where the work is done
    #[arg(long = "engine", value_name = "ENGINE", default_value = "embedded")]
    pub name: EngineName,
    /// Spark: the cluster, like spark://host:7077, yarn or local[4]; it must see the history under the same path
    #[arg(long, value_name = "URL", required_if_eq("name", "spark"))]
    pub master: Option<String>,
    /// Spark: the Python with pyspark and pyarrow, here and at the workers
    #[arg(long, value_name = "FILE", default_value = "python3", env = "PYSPARK_PYTHON")]
    pub python: PathBuf,
    /// Spark: into how many parts rows are shuffled [default: two per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub partitions: Option<u32>,
    /// Spark: a setting, like spark.executor.memory=4g; may be repeated
    #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,
}

#[derive(Args, Debug)]
pub struct CleanOptions {
    /// The history to clean
    #[arg(value_name = "HISTORY")]
    pub history: PathBuf,
    /// The directory of the cleaned history
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// A file with flaky targets, one a line; after a tab, the commit at which alone the target is flaky
    #[arg(long, value_name = "FILE")]
    pub flaky: Option<PathBuf>,
    /// Targets with more transitions are left out
    #[arg(long, value_name = "N", default_value_t = fewer_lab::clean::MOST_TRANSITIONS)]
    pub max_transitions: u32,
    #[command(flatten)]
    pub engine: EngineArguments,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct LabelOptions {
    /// The history to label
    #[arg(value_name = "HISTORY")]
    pub history: PathBuf,
    /// The directory for files of labels
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    #[command(flatten)]
    pub engine: EngineArguments,
    /// How the result is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct ExperimentArguments {
    /// Only these algorithms, besides the baselines: transition-count, affected-count, author-count, pre-submit,
    /// shared-directories
    #[arg(long = "algorithm", value_name = "NAME", value_delimiter = ',', value_parser = parse_algorithm)]
    pub algorithms: Vec<Algorithm>,
    /// Only these windows, in hours [default: 1,2,4,8,12,24,48,96]
    #[arg(long = "window", value_name = "HOURS", value_delimiter = ',', value_parser = parse_hours)]
    pub windows: Vec<Hours>,
    /// Only these hours between the milestones of the transition count [default: 1,2,4,8,12,24,48,96]
    #[arg(long = "milestone", value_name = "HOURS", value_delimiter = ',', value_parser = parse_hours)]
    pub milestones: Vec<Hours>,
    /// Draw one order among equal scores instead of the exact expectation over all
    #[arg(long, value_name = "SEED")]
    pub sample: Option<u64>,
}

impl ExperimentArguments {
    pub fn experiment(&self) -> Experiment {
        let all_or = |given: &[Hours]| if given.is_empty() { WINDOWS.to_vec() } else { given.to_vec() };
        Experiment {
            algorithms: match self.algorithms[..] {
                [] => Algorithm::ALL.to_vec(),
                [..] => self.algorithms.clone(),
            },
            windows: all_or(&self.windows),
            milestones: all_or(&self.milestones),
            sample: self.sample,
        }
    }
}

#[derive(Args, Debug)]
pub struct RunOptions {
    /// The history, best a cleaned one
    #[arg(value_name = "HISTORY")]
    pub history: PathBuf,
    /// The directory for tables and plots
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// The same history before cleaning, to compare with in figure 1
    #[arg(long, value_name = "HISTORY")]
    pub raw: Option<PathBuf>,
    #[command(flatten)]
    pub experiment: ExperimentArguments,
    #[command(flatten)]
    pub engine: EngineArguments,
    #[command(flatten)]
    pub cluster: ClusterArguments,
    /// How the summary is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: TableFormat,
}

#[derive(Args, Debug)]
pub struct GenerateOptions {
    /// The directory of the new history
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// How many rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub rows: u64,
    #[arg(long, value_name = "SEED", default_value = "1")]
    pub seed: u64,
    /// How many commits, about [default: one per 800 rows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub commits: Option<u64>,
    /// How many targets at a time [default: one per 400 rows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub targets: Option<u32>,
    /// How many authors [default: one per 40,000 rows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub authors: Option<u32>,
    /// Over how many days
    #[arg(long, value_name = "DAYS", default_value = "30")]
    pub days: f64,
    /// Share of the targets that later ones replace
    #[arg(long, value_name = "SHARE", default_value = "0.1", value_parser = parse_share)]
    pub churn: f64,
    /// Share of the targets that are flaky
    #[arg(long, value_name = "SHARE", default_value = "0.01", value_parser = parse_share)]
    pub flaky: f64,
    /// Share of the commits that break something
    #[arg(long, value_name = "SHARE", default_value = "0.03", value_parser = parse_share)]
    pub breaks: f64,
    /// Hours between milestones, between which only the last affecting commit of a target is run; 0: all are run
    #[arg(long, value_name = "HOURS", default_value = "2")]
    pub milestone: u32,
    /// Share of the commits that were tested before they were made
    #[arg(long, value_name = "SHARE", default_value = "0.61", value_parser = parse_share)]
    pub pre_submit: f64,
    /// Text for people or JSON for scripts
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct RowsOptions {
    /// The Parquet file, of any schema without nested columns
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

#[derive(Subcommand, Debug)]
pub enum KernelCommand {
    /// Rows sorted by target and position in; labels and scores out
    A(TargetKernelArguments),
    /// Rows sorted by position in; tallies out
    B(ExperimentArguments),
}

#[derive(Args, Debug)]
pub struct TargetKernelArguments {
    #[command(flatten)]
    pub experiment: ExperimentArguments,
    /// Labels alone, of excluded rows too
    #[arg(long)]
    pub labels_only: bool,
    /// What can be said of all rows together, as one row
    #[arg(long, conflicts_with = "labels_only")]
    pub survey: bool,
    /// A file with the positions of the commits whose rows are wanted, one a line
    #[arg(long, value_name = "FILE")]
    pub commits: Option<PathBuf>,
    /// The file of modified files of the history
    #[arg(long, value_name = "FILE")]
    pub modified_files: Option<PathBuf>,
}

fn parse_column(text: &str) -> Result<(Field, String), String> {
    let (field, name) = text.split_once('=').ok_or("it must be like commit=BuildId")?;
    Ok((field.parse()?, name.to_string()))
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it must be like spark.executor.memory=4g")?;
    Ok((name.to_string(), value.to_string()))
}

fn parse_word(text: &str) -> Result<(String, Outcome), String> {
    let (word, result) = text.rsplit_once('=').ok_or("it must be like 1=fail")?;
    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.word() == result);
    Ok((word.to_string(), outcome.ok_or_else(|| format!("'{result}' is none of pass, fail, not-run"))?))
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        _ => Err("it must be one character, such as ';' or '\\t'".to_string()),
    }
}

fn parse_algorithm(text: &str) -> Result<Algorithm, String> {
    text.parse().map_err(|problem| {
        let words = Algorithm::ALL.map(Algorithm::word).join(", ");
        format!("{problem}; those known are {words}")
    })
}

fn parse_hours(text: &str) -> Result<Hours, String> {
    let number = text.strip_suffix('h').unwrap_or(text).parse().ok();
    number
        .filter(|hours| *hours > 0)
        .map(Hours)
        .ok_or_else(|| format!("'{text}' is no number of hours, like 4 or 4h"))
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("'{text}' is no share from 0 to 1"))
}

fn parse_size(text: &str) -> Result<u64, String> {
    let refused = || format!("'{text}' is no size, like 512MB or 2GB");
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err(refused()),
    };
    let number: f64 = digits.parse().map_err(|_| refused())?;
    let size = number * unit as f64;
    if size >= 1.0 && size.is_finite() { Ok(size as u64) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_understood_as_people_write_them() {
        assert_eq!(parse_size("1GB"), Ok(1 << 30));
        assert_eq!(parse_size("1.5m"), Ok(3 << 19));
        assert_eq!(parse_size("4096"), Ok(4096));
        for wrong in ["", "GB", "-1GB", "1TBX", "0"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_word_may_hold_an_equals_sign() {
        assert_eq!(parse_word("a=b=fail"), Ok(("a=b".to_string(), Outcome::Fail)));
        assert!(parse_word("1=broken").is_err());
    }
}
