//! Running a tool that a test needs.

use std::path::Path;
use std::process::Command;

pub fn run(directory: &Path, program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).current_dir(directory).output();
    let output = output.unwrap_or_else(|error| panic!("{program} must be installed for this test: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
