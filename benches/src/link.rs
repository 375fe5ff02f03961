//! Linking all test executables of the built project, one after the other, and what that costs.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::cache::Built;
use crate::generate::Link;
use crate::measure;

/// The CPU time of linking every test executable once, compiler driver and linker together.
/// The results go to a directory of their own and are removed: the built executables stay as they are.
pub fn all(built: &Built) -> Result<Duration> {
    let directory = built.directory.join("relinked");
    fs::create_dir_all(directory.join("bin")).context("cannot create the directory to link into")?;
    let mut total = Duration::ZERO;
    for link in &built.project.links {
        let mut command = Command::new(&link.program);
        command.args(&link.arguments).arg("-o").arg(directory.join(&link.executable));
        total += measure::child(command.current_dir(built.build_directory()))?.cpu;
    }
    fs::remove_dir_all(&directory).context("cannot remove the linked executables")?;
    Ok(total)
}

/// The command as one would type it in the build directory.
pub fn shown(link: &Link) -> String {
    format!("{} {} -o {}", link.program, link.arguments.join(" "), link.executable)
}
