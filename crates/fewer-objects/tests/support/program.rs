//! Running single tests of a built case, one process each, judged by the exit code alone: the oracle must not
//! share code with what it judges.

use std::path::Path;
use std::process::Command;

/// Far above what any test of the contract needs, also on a busy machine.
const TIMEOUT_SECONDS: &str = "60";

/// How a test ended in a process of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    Passed,
    /// It failed, or the process crashed, hung or ended with an error.
    Failed,
    /// The program ran and knew no such test.
    Absent,
}

/// Runs the test with this id.
pub fn run_test(build_directory: &Path, id: &str) -> Result<Ending, String> {
    let (executable, name) = id.split_once("::").ok_or_else(|| format!("{id} is no test id"))?;
    let mut command = Command::new("timeout");
    command.current_dir(build_directory).arg(TIMEOUT_SECONDS).arg(build_directory.join(executable));
    command.arg(format!("--gtest_filter={name}"));
    let output = command.output().map_err(|error| format!("{command:?} could not be started: {error}"))?;
    Ok(if String::from_utf8_lossy(&output.stdout).contains("Running 0 tests") {
        Ending::Absent
    } else if output.status.success() {
        Ending::Passed
    } else {
        Ending::Failed
    })
}
