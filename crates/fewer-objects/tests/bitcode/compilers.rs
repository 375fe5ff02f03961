//! The compilers that make bitcode, and the modules they make of a text. What is expected of those is told by the
//! tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every clang that the tests need: the last with typed pointers, the first with opaque ones, and the newest.
pub const CLANGS: [&str; 5] = ["clang-14", "clang-15", "clang-16", "clang-19", "clang-22"];

/// What a text is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    C,
    #[serde(rename = "c++")]
    Cpp,
    /// LLVM's own, as text.
    Ir,
    Rust,
}

impl Language {
    fn ending(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Ir => "ll",
            Language::Rust => "rs",
        }
    }
}

/// Compiles a text in a directory of its own; gives the bitcode's path.
pub fn compile(
    compiler: &str,
    language: Language,
    text: &str,
    flags: &[&str],
    directory: &Path,
) -> Result<PathBuf, String> {
    fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    // Given without its directory: compilers put the name of a source into some code.
    let source = format!("a.{}", language.ending());
    fs::write(directory.join(&source), text).map_err(|error| format!("{source}: {error}"))?;
    let mut command = Command::new(compiler);
    command.current_dir(directory);
    match language {
        Language::Rust => {
            command.args(["--crate-type=lib", "--emit=llvm-bc", "--edition=2021", "-Awarnings"])
        }
        Language::C | Language::Cpp | Language::Ir => command.args(["-w", "-c", "-emit-llvm"]),
    };
    command.args(flags).args(["-o", "a.bc"]).arg(&source);
    run(command)?;
    Ok(directory.join("a.bc"))
}

/// Runs a command to its end; a failure is the command with what it said.
pub fn run(mut command: Command) -> Result<Vec<u8>, String> {
    let output = command.output().map_err(|error| format!("{command:?} could not be started: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{command:?} failed ({}):\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
