//! How a test is started and judged, beyond its program: working directory, environment, arguments and properties as CTest
//! declares them. They are part of a test's fingerprint, written so that two checkouts agree.

use std::fs;
use std::path::Path;

use fewer_core::{Digest, DigestBuilder, Domain};
use fewer_runners::TestProgram;
use fewer_runners::ctest::CtestEntry;
use serde_json::Value;

const STARTED: Domain = Domain::new("test.started");
const NAMED: Domain = Domain::new("test.named-file");
const WITH: Domain = Domain::new("test.circumstances");

/// What explanations call a change of them.
pub const NAME: &str = "how the test is started (working directory, environment, arguments)";

/// Properties that do not change what a test does or how it is judged: they tell beside what it runs, and who looks at it.
const HARMLESS: &[&str] = &[
    "ATTACHED_FILES",
    "ATTACHED_FILES_ON_FAIL",
    "COST",
    "LABELS",
    "PROCESSORS",
    "RESOURCE_LOCK",
    "RUN_SERIAL",
];

/// The content of larger files is not read: their size and time stand for it.
const LARGEST_READ: u64 = 64 << 20;

/// Of the tests of a GoogleTest program; `None` where nothing is special about it.
pub fn of_program(
    root: &Path,
    program: &TestProgram,
    entry: Option<&CtestEntry>,
    usual_directory: &Path,
) -> Option<Digest> {
    let mut words: Vec<String> = program.arguments.clone();
    words.extend(
        ["ENVIRONMENT", "ENVIRONMENT_MODIFICATION", "TIMEOUT"]
            .iter()
            .filter_map(|name| entry?.properties.get(*name).map(|value| format!("{name}={value}"))),
    );
    if words.is_empty() && program.working_directory == usual_directory {
        return None;
    }
    let mut digest = DigestBuilder::new(STARTED);
    digest.text(&portable(root, &program.working_directory.to_string_lossy()));
    for text in &words {
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
    for file in named_files(entry) {
        digest.digest(named_file(&entry.working_directory.join(file)));
    }
    digest.finish()
}

/// Files without which CTest does not run the test, and those that hold flags of GoogleTest.
fn named_files(entry: &CtestEntry) -> Vec<&str> {
    let required = entry.properties.get("REQUIRED_FILES").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let of_flags = entry.command.iter().filter_map(|argument| argument.strip_prefix("--gtest_flagfile="));
    let by_variable = entry.environment.iter().filter(|(name, _)| name == "GTEST_FLAGFILE");
    required.chain(of_flags).chain(by_variable.map(|(_, file)| file.as_str())).collect()
}

/// What is known of a file that an entry names.
fn named_file(path: &Path) -> Digest {
    let mut digest = DigestBuilder::new(NAMED);
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= LARGEST_READ => {
            match fewer_files::digest(NAMED, path) {
                Ok(content) => digest.text("file").digest(content),
                Err(_) => digest.text("unreadable"),
            }
        }
        Ok(metadata) if metadata.is_file() => {
            digest.text("large").text(&format!("{} {:?}", metadata.len(), metadata.modified().ok()))
        }
        Ok(_) => digest.text("present"),
        Err(_) => digest.text("absent"),
    };
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
