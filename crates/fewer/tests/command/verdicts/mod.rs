//! The table of misbehaving test programs. Every row is a small project whose tests do something that runners get
//! wrong; the framework's own runner is asked what it thinks of it, and three runs of `fewer` without an edit must
//! agree. Rows are in a file per framework; docs/verdicts.md names the rule that each belongs to.

mod ctest;
mod googletest;
mod junit;
mod libtest;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::workshop::Project;

/// How often `fewer` is asked.
const RUNS: usize = 3;
/// For the framework's own runner. One that is still running then has not passed.
const PATIENCE: Duration = Duration::from_secs(6);

/// A project whose tests misbehave.
pub struct Row {
    pub project: Project,
    /// The framework's own runner. Example: `build/t`.
    own_runner: Vec<String>,
    patience: Duration,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    innocent: Vec<String>,
}

impl Row {
    /// A project that is built, and the way its framework runs all its tests.
    pub fn new(project: Project, own_runner: &[&str]) -> Row {
        Row {
            project,
            own_runner: own_runner.iter().map(|word| word.to_string()).collect(),
            patience: PATIENCE,
            arguments: ["run", "--format", "json", "--timeout", "2s"].map(str::to_string).to_vec(),
            variables: Vec::new(),
            innocent: Vec::new(),
        }
    }

    /// For slow runners.
    pub fn patience(mut self, seconds: u64) -> Row {
        self.patience = Duration::from_secs(seconds);
        self
    }

    /// Instead of the usual limit for a test.
    pub fn timeout(mut self, limit: &str) -> Row {
        self.arguments.truncate(3);
        self.arguments(&["--timeout", limit])
    }

    /// Tests that pass, are skipped or reused in every run, whatever becomes of the others.
    pub fn innocent(mut self, tests: &[&str]) -> Row {
        self.innocent = tests.iter().map(|test| test.to_string()).collect();
        self
    }

    /// Given to every `fewer run`.
    pub fn arguments(mut self, arguments: &[&str]) -> Row {
        self.arguments.extend(arguments.iter().map(|argument| argument.to_string()));
        self
    }

    /// Set for the own runner and for `fewer` alike.
    pub fn variable(mut self, name: &str, value: &str) -> Row {
        self.variables.push((name.to_string(), value.to_string()));
        self
    }

    /// The own runner is red; so is every run, in which none of these tests passes or is reused. A test may be absent:
    /// a program that cannot list its tests is one test.
    #[track_caller]
    pub fn is_red(&self, not_passed: &[&str]) {
        assert!(!self.own_runner_is_green(), "the framework's own runner is green");
        self.stays_red(not_passed);
    }

    /// Every run is red, whatever the own runner says of it (an exit code of 0 from within a test, say).
    #[track_caller]
    pub fn stays_red(&self, not_passed: &[&str]) {
        for number in 1..=RUNS {
            let (code, document, shown) = self.run();
            assert_eq!(code, Some(1), "run {number}:\n{shown}");
            for test in not_passed {
                for (decision, outcome) in found(&document, test) {
                    let is_green = decision == "reuse" || outcome == "passed";
                    assert!(!is_green, "run {number}: {test} is {decision} {outcome}\n{shown}");
                }
            }
            let innocent: Vec<&str> = self.innocent.iter().map(String::as_str).collect();
            all_green(number, &innocent, &document, &shown);
        }
    }

    /// The own runner is green; so is every run, in which each of these tests passes, is skipped or reused.
    #[track_caller]
    pub fn is_green(&self, green: &[&str]) {
        assert!(self.own_runner_is_green(), "the framework's own runner is red");
        for number in 1..=RUNS {
            let (code, document, shown) = self.run();
            assert_eq!(code, Some(0), "run {number}:\n{shown}");
            all_green(number, green, &document, &shown);
        }
    }

    fn run(&self) -> (Option<i32>, Value, String) {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let variables: Vec<(&str, &str)> =
            self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let ended = self.project.fewer_with(&variables, &arguments);
        let shown = format!("{}\n{}", ended.stdout, ended.stderr);
        let document = serde_json::from_str(&ended.stdout)
            .unwrap_or_else(|error| panic!("no JSON, {error}; ends with {:?}:\n{shown}", ended.code));
        (ended.code, document, shown)
    }

    fn own_runner_is_green(&self) -> bool {
        let mut child = Command::new(&self.own_runner[0])
            .args(&self.own_runner[1..])
            .current_dir(self.project.path())
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{:?}: {error}", self.own_runner));
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.success();
            }
            if started.elapsed() > self.patience {
                child.kill().unwrap();
                child.wait().unwrap();
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[track_caller]
fn all_green(number: usize, tests: &[&str], document: &Value, shown: &str) {
    for test in tests {
        let found = found(document, test);
        assert!(!found.is_empty(), "run {number}: {test} is absent\n{shown}");
        for (decision, outcome) in found {
            let is_green = decision == "reuse" || outcome == "passed" || outcome == "skipped";
            assert!(is_green, "run {number}: {test} is {decision} {outcome}\n{shown}");
        }
    }
}

/// Decision and outcome of every test whose id ends so.
fn found(document: &Value, end: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    document["tests"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|test| test["id"].as_str().is_some_and(|id| id.ends_with(end)))
        .map(|test| (text(&test["decision"]), text(&test["outcome"])))
        .collect()
}
