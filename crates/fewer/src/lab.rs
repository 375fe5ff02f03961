//! The second program, `fewer-lab`: where it is, and how it is started. What it does is its own business; it holds
//! Arrow and Parquet, which take minutes to compile and which selection does not need.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use fewer_console::{ExitCode, Global};

const NAME: &str = "fewer-lab";

/// `fewer simulate`: becomes the other program, so that its exit code, signals and terminal are this one's.
pub fn simulate(global: &Global, arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    let mut command = command();
    // In front, where `fewer-lab` knows them before its own words.
    command.args(global.arguments()).args(arguments);
    if arguments.is_empty() {
        command.arg("--help");
    }
    Err(not_started(command.exec()))
}

/// The program beside the running one, or else the one on PATH. What PATH names from where one is would be the project's.
pub fn command() -> Command {
    let beside = std::env::current_exe().ok().map(|executable| executable.with_file_name(NAME));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter(|place| place.is_absolute());
    let mut places = beside.into_iter().chain(on_path.map(|place| place.join(NAME)));
    Command::new(places.find(|program| program.is_file()).unwrap_or_else(|| Path::new("/").join(NAME)))
}

/// Why it could not be started, and what to do.
pub fn not_started(error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::NotFound {
        return anyhow::anyhow!(
            "this is done by the program {NAME}, which is neither beside fewer nor on PATH; install it with \
             `cargo install --path crates/fewer-lab`, or build it with `cargo build --release -p {NAME}`"
        );
    }
    anyhow::Error::new(error).context(format!("cannot start the program {NAME}"))
}
