//! Programs whose tests need to share a process: they failed in processes of their own, and did not when the whole
//! program ran. Remembered by target, in a file of the records.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use crate::project::Project;

const FILE_NAME: &str = "indivisible";

/// The targets that are remembered.
pub fn indivisible(project: &Project) -> BTreeSet<String> {
    let text = fs::read_to_string(project.store_directory().join(FILE_NAME)).unwrap_or_default();
    text.lines().map(str::to_string).collect()
}

/// Adds targets to those that are remembered.
pub fn remember_indivisible(project: &Project, targets: &[String]) -> io::Result<()> {
    let mut all = indivisible(project);
    all.extend(targets.iter().cloned());
    let lines: String = all.iter().map(|target| format!("{target}\n")).collect();
    fs::create_dir_all(project.store_directory())?;
    fs::write(project.store_directory().join(FILE_NAME), lines)
}
