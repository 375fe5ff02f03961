//! Cargo's test programs: built by cargo, which tells what it made, then listed and started directly with the
//! surroundings that cargo would give them, or by nextest. Each test runs in a process of its own, so that a crash or a
//! timeout is that test's. Which tests run is decided elsewhere.

mod list;
mod messages;
pub mod nextest;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::build::BuildCommand;

pub use list::{ListedTest, list};
pub use messages::{Artifacts, Package, TestTarget, is_message};

/// How cargo is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cargo {
    pub program: PathBuf,
    /// Given to every `cargo test`. Example: `--workspace`.
    pub arguments: Vec<String>,
    pub directory: PathBuf,
}

#[derive(Debug, Error)]
pub enum CargoError {
    #[error("`{command}` could not be started ({source}); install Rust, or put cargo into PATH")]
    Start { command: String, source: io::Error },
    #[error("`{command}` failed: {output}")]
    Failed { command: String, output: String },
    #[error("cargo's answer to `{command}` cannot be read: {source}")]
    Answer { command: String, source: serde_json::Error },
}

impl Cargo {
    /// Builds all test programs and has cargo tell about them, line by line. Objects are kept where the user does not
    /// forbid it.
    pub fn compilation(&self) -> (BuildCommand, Vec<(String, OsString)>) {
        let mut arguments: Vec<OsString> = vec![self.program.clone().into(), "test".into()];
        arguments.extend(self.arguments.iter().map(OsString::from));
        arguments.extend(["--no-run", "--message-format=json-render-diagnostics"].map(OsString::from));
        (BuildCommand::Arguments(arguments), self.environment())
    }

    /// What is set for everything that may build.
    fn environment(&self) -> Vec<(String, OsString)> {
        let incremental = std::env::var_os("CARGO_INCREMENTAL").is_none();
        let environment = incremental.then(|| ("CARGO_INCREMENTAL".to_string(), OsString::from("1")));
        environment.into_iter().collect()
    }

    /// Where the manifest of the workspace is.
    fn workspace_root(&self) -> Result<PathBuf, CargoError> {
        let answer = self.ask(&self.program, &["locate-project", "--workspace", "--message-format=plain"])?;
        let manifest = Path::new(answer.trim_end());
        Ok(manifest.parent().unwrap_or(&self.directory).to_path_buf())
    }

    /// The command that compiles and runs the documentation tests of a package.
    pub fn documentation_tests(&self, package: &str) -> Vec<String> {
        let mut arguments = vec!["test".to_string()];
        let mut own = self.arguments.iter();
        while let Some(argument) = own.next() {
            match argument.as_str() {
                "--workspace" | "--all" | "--all-targets" | "--tests" | "--lib" | "--bins" => {}
                "-p" | "--package" | "--exclude" => drop(own.next()),
                _ => arguments.push(argument.clone()),
            }
        }
        arguments.extend(["--doc", "--package", package].map(str::to_string));
        arguments
    }

    /// The packages of the workspace, as cargo describes them.
    pub fn packages(&self) -> Result<Vec<Package>, CargoError> {
        let answer = self.ask(&self.program, &["metadata", "--no-deps", "--format-version=1"])?;
        messages::packages(&answer)
            .map_err(|source| CargoError::Answer { command: "cargo metadata".to_string(), source })
    }

    /// The compiler's description of itself, and where its own libraries are.
    pub fn compiler(&self) -> Result<(String, PathBuf), CargoError> {
        let rustc = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
        let version = self.ask(&rustc, &["-vV"])?;
        let libraries = self.ask(&rustc, &["--print=target-libdir"])?;
        Ok((version, PathBuf::from(libraries.trim_end())))
    }

    fn ask(&self, program: &Path, arguments: &[&str]) -> Result<String, CargoError> {
        let command = || format!("{} {}", program.display(), arguments.join(" "));
        let output = std::process::Command::new(program)
            .args(arguments)
            .current_dir(&self.directory)
            .output()
            .map_err(|source| CargoError::Start { command: command(), source })?;
        if !output.status.success() {
            let output = String::from_utf8_lossy(&output.stderr).trim_end().to_string();
            return Err(CargoError::Failed { command: command(), output });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_tests_are_of_one_package_only() {
        let arguments = ["--workspace", "--exclude", "x", "--release"].map(str::to_string).to_vec();
        let cargo = Cargo { program: "cargo".into(), arguments, directory: ".".into() };
        assert_eq!(cargo.documentation_tests("a"), ["test", "--release", "--doc", "--package", "a"]);
    }
}
