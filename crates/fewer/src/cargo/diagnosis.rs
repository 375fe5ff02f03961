//! What makes selection in a cargo project coarser than it could be, with the change that mends it.

use fewer_runners::cargo::Cargo;
use serde::Serialize;

use super::part::has_harness;
use super::{CargoBuild, uses_nextest};
use crate::diagnosis::{Finding, Fix, Severity};
use crate::session::Session;

/// What was looked at.
#[derive(Serialize)]
pub struct Overview {
    pub test_programs: usize,
    pub libraries: usize,
    pub tests: usize,
    /// What runs the tests of test programs: `nextest` or `fewer`.
    pub runner: &'static str,
}

/// Looks at what cargo built last.
pub fn diagnose(
    session: &Session<'_>,
    cargo: Cargo,
) -> anyhow::Result<(Overview, Vec<Finding>, Vec<String>)> {
    let built = CargoBuild::read(session, cargo)?;
    let mut not_kept = objects_not_kept(&built);
    let (test_programs, libraries) = (built.artifacts.tests.len(), built.artifacts.libraries.len());
    let runner = if uses_nextest(&session.project)? { "nextest" } else { "fewer" };
    let part = built.part(session, true)?;
    let tests = part.graph.tests();
    // Where there is no test, none is found in the objects.
    not_kept.retain(|program| tests.iter().any(|test| test.id.target == *program));
    let findings = (!not_kept.is_empty()).then(|| keep_objects(not_kept)).into_iter().collect();
    Ok((Overview { test_programs, libraries, tests: tests.len(), runner }, findings, part.notes))
}

/// The programs of which no object tells the tests.
fn objects_not_kept(built: &CargoBuild) -> Vec<String> {
    // A program with a main function of its own is one test, whatever is known of it.
    let tests = built.artifacts.tests.iter().filter(|test| has_harness(test)).map(|test| &test.name);
    tests.filter(|name| !built.harnesses.contains_key(*name)).cloned().collect()
}

fn keep_objects(not_kept: Vec<String>) -> Finding {
    Finding {
        severity: Severity::Advice,
        id: "objects-not-kept",
        what: format!("rustc did not keep the objects of {} of the test programs", not_kept.len()),
        why: "any change of such a program selects all its tests",
        examples: not_kept.into_iter().take(3).collect(),
        fix: vec![Fix {
            place: "Cargo",
            change: "build with CARGO_INCREMENTAL=1, or incremental = true in [profile.test]".to_string(),
        }],
    }
}
