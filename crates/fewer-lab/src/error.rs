//! What can go wrong in the lab, each with the file it is about, why, and what to do next.

use std::io;
use std::path::{Path, PathBuf};

/// Why an import, a cleaning or a simulation could not be done.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "{} is no whole Parquet file ({source}): it was cut short or is something else; copy or import it again",
        path.display()
    )]
    Parquet { path: PathBuf, source: parquet::errors::ParquetError },
    #[error("{} has no column '{column}', which {why}; it has {}", path.display(), listed(found))]
    MissingColumn { path: PathBuf, column: String, why: String, found: Vec<String> },
    #[error("column '{column}' of {} is {found}, but {expected} is needed; {remedy}", path.display())]
    WrongType { path: PathBuf, column: String, found: String, expected: String, remedy: String },
    /// A row that cannot be used. Rows count from 1, lines of a CSV file too.
    #[error("{}, row {row}: {problem}; nothing was written", path.display())]
    BadRow { path: PathBuf, row: u64, problem: String },
    #[error("{}", bad_rows(rows, *more))]
    BadRows { rows: Vec<BadRow>, more: u64 },
    #[error("{} has no row to import; nothing was written", path.display())]
    Empty { path: PathBuf },
    #[error("{} is not a history: {problem}; make one with `fewer simulate import`", path.display())]
    NotAHistory { path: PathBuf, problem: String },
    #[error("{} is already there; name another output, or remove it", .0.display())]
    OutputExists(PathBuf),
    #[error("the history in {} contradicts itself: {problem}; import it again", path.display())]
    Contradiction { path: PathBuf, problem: String },
    #[error("--memory {given} is too little for this history: at least {needed} are needed")]
    TooLittleMemory { given: String, needed: String },
    #[error("the kernel cannot read its input: {0}")]
    Kernel(String),
    #[error("{0}")]
    Spark(String),
    #[error("cannot use {}: {problem}", path.display())]
    Input { path: PathBuf, problem: String },
    #[error("interrupted")]
    Interrupted,
}

/// A row of an import that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRow {
    pub path: PathBuf,
    /// Counted from 1; in a CSV file the line.
    pub row: u64,
    pub problem: String,
}

impl LabError {
    /// Wraps what a file operation says.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LabError {
        let path = path.to_path_buf();
        move |source| LabError::Io { action, path, source }
    }

    /// Wraps what the Parquet reader or writer says. A full disk or a missing permission is not the file's fault.
    pub(crate) fn parquet(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> LabError {
        let path = path.to_path_buf();
        move |source| match io_cause(&source) {
            Some(cause) => LabError::Io { action: "access", path, source: cause },
            None => LabError::Parquet { path, source },
        }
    }

    pub(crate) fn bad_row(path: &Path, row: u64, problem: impl Into<String>) -> LabError {
        LabError::BadRow { path: path.to_path_buf(), row, problem: problem.into() }
    }
}

fn io_cause(error: &parquet::errors::ParquetError) -> Option<io::Error> {
    let parquet::errors::ParquetError::External(source) = error else { return None };
    let cause = source.downcast_ref::<io::Error>()?;
    // The end of a file that should go on is the file's fault.
    (cause.kind() != io::ErrorKind::UnexpectedEof).then(|| io::Error::new(cause.kind(), cause.to_string()))
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "no columns at all".to_string(),
        names => names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", "),
    }
}

fn bad_rows(rows: &[BadRow], more: u64) -> String {
    let line = |bad: &BadRow| format!("{}, row {}: {}", bad.path.display(), bad.row, bad.problem);
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if more > 0 {
        lines.push(format!("and {more} bad rows more"));
    }
    lines.push("nothing was written".to_string());
    lines.join("\n")
}
