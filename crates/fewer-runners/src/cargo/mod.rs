//! Cargo's test programs: built by cargo, which tells what it made, then listed and started directly with the
//! surroundings that cargo would give them, or by nextest. Which tests run is decided elsewhere.

mod arguments;
mod configuration;
mod confirmation;
mod libtest;
mod list;
mod log;
mod messages;
pub mod nextest;
mod nextest_logs;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::build::BuildCommand;

pub use arguments::Arguments;
pub use configuration::Configuration;
pub use confirmation::Confirmation;
pub(crate) use libtest::run as run_libtest;
pub use libtest::{LibtestJob, LibtestProgram};
pub use list::{ListedTest, Question, list};
pub use messages::{Artifacts, Package, Packages, TestTarget, is_message};

/// How cargo is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cargo {
    pub program: PathBuf,
    /// Given to every `cargo test`. Example: `--workspace`.
    pub arguments: Arguments,
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
        arguments.extend(self.arguments.build().iter().map(OsString::from));
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
        let place = self.arguments.place();
        let mut arguments = vec!["locate-project", "--workspace", "--message-format=plain"];
        arguments.extend(place.iter().map(String::as_str));
        let answer = self.ask(&self.program, &arguments)?;
        let manifest = Path::new(answer.trim_end());
        Ok(manifest.parent().unwrap_or(&self.directory).to_path_buf())
    }

    /// The arguments that compile and run the documentation tests of a package, if the user's arguments run them.
    pub fn documentation_tests(&self, package: &Package, default_members: &[String]) -> Option<Vec<String>> {
        let arguments = self.arguments.documentation(package, default_members)?;
        Some([vec!["test".to_string()], arguments].concat())
    }

    /// The packages of the workspace, as cargo describes them.
    pub fn packages(&self) -> Result<Packages, CargoError> {
        let place = self.arguments.place();
        let mut arguments = vec!["metadata", "--no-deps", "--format-version=1"];
        arguments.extend(place.iter().map(String::as_str));
        let answer = self.ask(&self.program, &arguments)?;
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

    /// What holds for the code that is compiled for a target. Example: `unix`, `target_os="linux"`.
    fn conditions(&self, target: &str) -> Result<String, CargoError> {
        let rustc = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
        self.ask(&rustc, &["--print=cfg", "--target", target])
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
