//! How a test is started, beyond its program: working directory, environment and arguments as CTest declares
//! them. They are part of a test's fingerprint, written so that two checkouts agree.

use std::path::Path;

use fewer_core::{Digest, DigestBuilder, Domain};
use fewer_runners::TestProgram;
use fewer_runners::ctest::CtestEntry;

const STARTED: Domain = Domain::new("test.started");
const WITH: Domain = Domain::new("test.circumstances");

/// What explanations call a change of them.
pub const NAME: &str = "how the test is started (working directory, environment, arguments)";

/// Properties that do not change what a test does.
const HARMLESS: &[&str] =
    &["COST", "DEPENDS", "LABELS", "PROCESSORS", "RESOURCE_LOCK", "RUN_SERIAL", "TIMEOUT"];

/// Of the tests of a GoogleTest program; `None` where nothing is special about it.
pub fn of_program(
    root: &Path,
    program: &TestProgram,
    entry: Option<&CtestEntry>,
    usual_directory: &Path,
) -> Option<Digest> {
    let arguments: Vec<&String> =
        program.arguments.iter().filter(|argument| !argument.starts_with("--gtest_")).collect();
    let environment: Vec<String> = ["ENVIRONMENT", "ENVIRONMENT_MODIFICATION"]
        .iter()
        .filter_map(|name| entry?.properties.get(*name).map(|value| format!("{name}={value}")))
        .collect();
    if arguments.is_empty() && environment.is_empty() && program.working_directory == usual_directory {
        return None;
    }
    let mut digest = DigestBuilder::new(STARTED);
    digest.text(&portable(root, &program.working_directory.to_string_lossy()));
    for text in arguments.into_iter().chain(&environment) {
        digest.text(&portable(root, text));
    }
    Some(digest.finish())
}

/// Of a CTest entry that is one test.
pub fn of_entry(root: &Path, entry: &CtestEntry) -> Digest {
    let mut digest = DigestBuilder::new(STARTED);
    for argument in &entry.command {
        digest.text(&portable(root, argument));
    }
    for (name, value) in &entry.properties {
        if !HARMLESS.contains(&name.as_str()) && !name.starts_with('_') {
            digest.text(name).text(&portable(root, &value.to_string()));
        }
    }
    digest.finish()
}

/// A fingerprint that also covers the circumstances.
pub fn with(fingerprint: Digest, circumstances: Option<Digest>) -> Digest {
    match circumstances {
        Some(circumstances) => DigestBuilder::new(WITH).digest(fingerprint).digest(circumstances).finish(),
        None => fingerprint,
    }
}

/// Paths below the project's directory are the same in every checkout.
pub fn portable(root: &Path, text: &str) -> String {
    text.replace(root.to_string_lossy().as_ref(), ".")
}
