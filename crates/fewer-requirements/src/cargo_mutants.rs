//! cargo-mutants: `mutants.out/outcomes.json` names the mutants that were caught, and the log of each which tests
//! failed.

use std::collections::BTreeSet;
use std::path::Path;

use fewer_core::reduction::RequirementKind;
use serde::Deserialize;

use crate::error::{Problem, quoted};
use crate::findings::Findings;

#[derive(Deserialize)]
struct Outcomes {
    outcomes: Vec<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    scenario: Scenario,
    summary: String,
    log_path: Option<String>,
}

#[derive(Deserialize)]
enum Scenario {
    Baseline,
    Mutant(Mutant),
}

#[derive(Deserialize)]
struct Mutant {
    name: String,
}

/// The caught mutants, with the logs beside the file.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Findings, Problem> {
    let directory = path.parent().unwrap_or(Path::new("."));
    parse(bytes, |log| {
        // A log is beside the outcomes; where the file says otherwise, it is not followed.
        let is_below =
            !Path::new(log).components().any(|part| matches!(part, std::path::Component::ParentDir));
        let read = is_below.then(|| fewer_files::read(&directory.join(log)));
        read.and_then(Result::ok)
    })
}

/// `log` gives the text of a log by its name.
pub(crate) fn parse(bytes: &[u8], log: impl Fn(&str) -> Option<Vec<u8>>) -> Result<Findings, Problem> {
    let outcomes: Outcomes = serde_json::from_slice(bytes).map_err(|error| {
        Problem::json("'outcomes.json' of cargo-mutants (outcomes, scenario, summary)", &error)
    })?;
    let mut findings = Findings::new(RequirementKind::Mutants);
    let mut nameless = 0;
    for outcome in &outcomes.outcomes {
        let text = |outcome: &Outcome| -> Result<String, Problem> {
            let name = outcome.log_path.as_deref().unwrap_or_default();
            let bytes = log(name).ok_or_else(|| {
                Problem::whole("the logs of cargo-mutants beside the file", format!("no {}", quoted(name)))
            })?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        match &outcome.scenario {
            Scenario::Baseline => {
                results(&text(outcome)?).into_iter().for_each(|(test, _)| findings.test(&test));
            }
            Scenario::Mutant(mutant) if outcome.summary == "CaughtMutant" => {
                let failed: BTreeSet<String> = results(&text(outcome)?)
                    .into_iter()
                    .filter(|(_, failed)| *failed)
                    .map(|(test, _)| test)
                    .collect();
                nameless += usize::from(failed.is_empty());
                let number = findings.requirement(&mutant.name);
                failed.iter().for_each(|test| findings.satisfied(test, number));
            }
            Scenario::Mutant(_) => {}
        }
    }
    if findings.is_empty() {
        return Err(Problem::whole("tests in the logs of cargo-mutants", "none"));
    }
    if nameless > 0 {
        findings
            .notes
            .insert(format!("{nameless} mutant(s) were caught without a failing test that has a name"));
    }
    findings.notes.insert(
        "cargo test stops at the first test program that fails: with `cargo mutants -- --no-fail-fast` all tests that \
         kill a mutant are known"
            .into(),
    );
    Ok(findings)
}

/// The tests of a log and whether they failed, as `cargo test` and nextest print them, with the program in front.
fn results(log: &str) -> Vec<(String, bool)> {
    let mut program = String::new();
    let mut results = Vec::new();
    for line in log.lines() {
        let line = line.trim();
        if let Some(started) = line.strip_prefix("Running ").or(line.strip_prefix("Doc-tests ")) {
            program = program_of(started).unwrap_or(program);
        } else if let Some((name, result)) =
            line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... "))
        {
            if result == "ok" || result == "FAILED" {
                results.push((format!("{program}::{name}"), result == "FAILED"));
            }
        } else if let Some((is_failed, test)) = nextest(line) {
            results.push((test, is_failed));
        }
    }
    results
}

/// The test program that is started; `None` for the compiler, which is named too when cargo says much.
///
/// Example: `unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)` is `shop`.
fn program_of(started: &str) -> Option<String> {
    let path = match started.strip_prefix('`') {
        Some(command) => command.split([' ', '`']).next().unwrap_or(command),
        None => started.rsplit_once('(').map_or(started, |(_, path)| path.trim_end_matches(')')),
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_hash = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.rsplit_once('-') {
        Some((name, hash)) if is_hash(hash) => Some(name.to_string()),
        Some(_) | None if name == "rustc" || name == "rustdoc" => None,
        Some(_) | None => Some(name.to_string()),
    }
}

/// Example: `FAIL [   0.005s] shop tests::adds` or `PASS [   0.005s] (1/3) shop tests::adds`.
fn nextest(line: &str) -> Option<(bool, String)> {
    let (word, rest) = line.split_once(" [")?;
    let is_failed = match word {
        "PASS" => false,
        "FAIL" => true,
        _ => return None,
    };
    let rest = rest.split_once("] ")?.1.trim_start();
    let rest = if rest.starts_with('(') { rest.split_once(") ")?.1.trim_start() } else { rest };
    let (program, test) = rest.split_once(' ')?;
    Some((is_failed, format!("{program}::{test}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_tests_are_read_from_logs_of_cargo_test_and_nextest() {
        let log = "     Running unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)\n\
                   test tests::adds ... ok\ntest tests::subtracts ... FAILED\ntest tests::waits ... ignored\n\
                   PASS [   0.005s] shop tests::a\n        FAIL [   0.012s] (2/3) shop::it b::c\n";
        let expected = [
            ("shop::tests::adds", false),
            ("shop::tests::subtracts", true),
            ("shop::tests::a", false),
            ("shop::it::b::c", true),
        ];
        assert_eq!(results(log), expected.map(|(test, failed)| (test.to_string(), failed)));
    }

    #[test]
    fn caught_mutants_belong_to_the_tests_that_failed() {
        let outcomes = br#"{"outcomes": [
            {"scenario": "Baseline", "summary": "Success", "log_path": "log/baseline.log", "phase_results": []},
            {"scenario": {"Mutant": {"name": "src/lib.rs:3:7: replace + with -", "package": {"name": "shop"}}},
             "summary": "CaughtMutant", "log_path": "log/1.log"},
            {"scenario": {"Mutant": {"name": "src/lib.rs:9:1: replace f"}}, "summary": "MissedMutant", "log_path": "log/2.log"}
        ], "total_mutants": 2}"#;
        let log = |name: &str| match name {
            "log/baseline.log" => Some(
                b"Running unittests src/lib.rs (x/shop-0123456789abcdef)\ntest a ... ok\ntest b ... ok\n"
                    .to_vec(),
            ),
            "log/1.log" => Some(
                b"Running unittests src/lib.rs (x/shop-0123456789abcdef)\ntest a ... FAILED\ntest b ... ok\n"
                    .to_vec(),
            ),
            _ => None,
        };
        let suite = parse(outcomes, log).unwrap().matched(|name| vec![name.parse().unwrap()]).suite;
        assert_eq!(suite.tests.iter().map(ToString::to_string).collect::<Vec<_>>(), ["shop::a", "shop::b"]);
        assert_eq!((suite.matrix.row(0).len(), suite.matrix.row(1).len()), (1, 0));
        let error = parse(outcomes, |_| None).unwrap_err().to_string();
        assert!(error.contains("expected the logs of cargo-mutants"), "{error}");
    }
}
