//! Bringing histories in: CSV, JUnit XML, Parquet, and rows that the caller has (this tool's own records). All of
//! them go through one intake, which numbers commits, joins what git knows of them, and refuses bad rows: either
//! everything is imported or nothing.

mod cells;
mod csv;
mod intake;
mod junit;
mod mapping;
mod parquet;
mod rows;
mod sort;

use std::path::{Path, PathBuf};

pub use csv::import_csv;
pub use intake::{
    CommitFacts, CommitSource, Duplicates, Imported, Intake, IntakeOptions, IntakeRow, NoCommits, Times,
};
pub use junit::{Granularity, import_junit};
pub use mapping::{Field, Mapping, Unit};
pub use parquet::import_parquet;
pub use rows::parquet_as_csv;

use crate::error::LabError;

/// The files that were named; a directory stands for those in it with the ending, sorted.
pub(crate) fn files_of(inputs: &[PathBuf], ending: &str) -> Result<Vec<PathBuf>, LabError> {
    let mut files = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            files.push(input.clone());
            continue;
        }
        let mut found = Vec::new();
        gather(input, ending, &mut found)?;
        if found.is_empty() {
            let problem = format!("there is no .{ending} file in it");
            return Err(LabError::Input { path: input.clone(), problem });
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

/// Every file below a directory with an ending.
pub(crate) fn gather(directory: &Path, ending: &str, files: &mut Vec<PathBuf>) -> Result<(), LabError> {
    let entries = std::fs::read_dir(directory).map_err(LabError::io("read", directory))?;
    for entry in entries {
        let entry = entry.map_err(LabError::io("read", directory))?;
        let path = entry.path();
        // A link to a directory may lead back here.
        if entry.file_type().map_err(LabError::io("read", &path))?.is_dir() {
            gather(&path, ending, files)?;
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending)) {
            files.push(path);
        }
    }
    Ok(())
}
