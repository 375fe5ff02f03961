//! Stryker's mutation-testing-report JSON: which test kills which mutant, or which covers its place.

use std::collections::BTreeMap;

use fewer_core::reduction::RequirementKind;
use serde::Deserialize;

use crate::error::Problem;
use crate::findings::Findings;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    schema_version: String,
    files: BTreeMap<String, File>,
    #[serde(default)]
    test_files: BTreeMap<String, TestFile>,
}

#[derive(Deserialize)]
struct File {
    mutants: Vec<Mutant>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mutant {
    id: String,
    mutator_name: String,
    location: Location,
    status: String,
    #[serde(default)]
    covered_by: Vec<String>,
    #[serde(default)]
    killed_by: Vec<String>,
}

#[derive(Deserialize)]
struct Location {
    start: Place,
}

#[derive(Deserialize)]
struct Place {
    line: u64,
    column: u64,
}

#[derive(Deserialize)]
struct TestFile {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    id: String,
    name: String,
}

/// The killed mutants, or, as statements, the places of mutants that tests cover.
pub(crate) fn parse(bytes: &[u8], kind: RequirementKind) -> Result<Findings, Problem> {
    let expected = "a mutation-testing-report (schemaVersion, files, testFiles)";
    let report: Report = serde_json::from_slice(bytes).map_err(|error| Problem::json(expected, &error))?;
    if !report.schema_version.starts_with(['1', '2']) {
        return Err(Problem::whole("schemaVersion 1 or 2", format!("'{}'", report.schema_version)));
    }
    let names = test_names(&report);
    if names.is_empty() {
        return Err(Problem::whole(
            "tests in 'testFiles' (a runner that reports single tests, with coverageAnalysis perTest)",
            "none",
        ));
    }
    let mut findings = Findings::new(kind);
    names.values().for_each(|name| findings.test(name));
    let mut most_killers = 0;
    for (path, file) in &report.files {
        for mutant in &file.mutants {
            let Mutant { id, mutator_name, location: Location { start }, .. } = mutant;
            most_killers = most_killers.max(mutant.killed_by.len());
            let (requirement, tests) = match kind {
                RequirementKind::Mutants if mutant.status == "Killed" => {
                    let name = format!("{path}:{}:{} {mutator_name} #{id}", start.line, start.column);
                    (name, &mutant.killed_by)
                }
                RequirementKind::Mutants => continue,
                RequirementKind::Statements => {
                    (format!("{path}:{}:{}", start.line, start.column), &mutant.covered_by)
                }
            };
            let number = findings.requirement(&requirement);
            for test in tests {
                let name = names.get(test.as_str());
                let name = name.ok_or_else(|| {
                    Problem::whole(
                        "tests of mutants in 'testFiles'",
                        format!("'{test}' at mutant {id} of {path}"),
                    )
                })?;
                findings.satisfied(name, number);
            }
        }
    }
    if kind == RequirementKind::Mutants && most_killers == 1 {
        findings.notes.insert(
            "every mutant is killed by one test only: with Stryker's \"disableBail\": true all tests that kill are \
             named"
                .into(),
        );
    }
    Ok(findings)
}

fn test_names(report: &Report) -> BTreeMap<&str, &str> {
    let tests = report.test_files.values().flat_map(|file| &file.tests);
    tests.map(|test| (test.id.as_str(), test.name.as_str())).collect()
}
