//! Tests of cargo's test programs, run by `cargo nextest`: its configuration means what it means, with retries,
//! timeouts, test groups and setup scripts. What is to run goes into a profile of its own, so that no command line gets
//! too long; results come from its JUnit file and from the logs of Rust's harness, progress from its lines on the terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fewer_core::outcome::{Outcome, Verdict};
use fewer_core::test_id::TestId;
use fewer_lifetime::HeldDirectory;
use thiserror::Error;

use super::configuration::Configuration;
use super::libtest::NO_RESULT;
use super::log::without_deprecation;
use super::nextest_logs::{LoggedTests, Logs};
use super::{Cargo, CargoError};
use crate::cancel::Cancel;
use crate::event::{Event, ProcessFailure, RunEnd, TestResult};
use crate::junit::{self, EarlierTry, Finding, JunitCase};
use crate::lines::Lines;
use crate::process::{Exit, Leftovers, ProcessEnd, Stop, Streams, Watcher, supervise};
use crate::program::remove_disturbing_variables;
use crate::transcript::Transcript;

/// How nextest is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nextest {
    pub cargo: Cargo,
    pub configuration: Configuration,
}

/// Tests for nextest, and what the user says about running them.
#[derive(Clone, Debug, Default)]
pub struct NextestRun {
    pub tests: Vec<TestId>,
    /// By target.
    pub executables: BTreeMap<String, PathBuf>,
    /// Instead of what nextest's configuration says.
    pub jobs: Option<NonZeroUsize>,
    pub timeout: Option<Duration>,
}

/// By what nextest calls program and test.
type Cases = BTreeMap<(String, String), JunitCase>;

#[derive(Debug, Error)]
pub enum NextestError {
    #[error("cargo nextest could not be started: {0}")]
    Start(#[source] io::Error),
    #[error(transparent)]
    Cargo(#[from] CargoError),
    #[error("{} could not be used for cargo nextest: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("cargo nextest {end} without telling results; it printed:\n{output_tail}")]
    Failed { end: String, output_tail: String },
}

/// The profile that the selection goes into.
const PROFILE: &str = "fewer-selection";
/// Where a project says how nextest is to run its tests.
const CONFIGURATION: &str = ".config/nextest.toml";
/// For projects that do not say how long a test may take: nextest itself would wait for ever.
const DEFAULTS: &str = "[profile.default]\nslow-timeout = { period = \"60s\", terminate-after = 5 }\n";
/// Longer lines are not nextest's own.
const LONGEST_LINE: usize = 64 * 1024;
/// What it exits with when a test failed.
const TESTS_FAILED: i32 = 100;
/// The kind of failure that nextest does not know.
const NOT_TOLD: &str = "no result";
/// Its own words at the beginning of a line that tells of a test's end.
const ENDS: [&str; 6] = ["PASS", "FAIL", "ABRT", "TMT", "LEAK", "SIG"];

/// Whether cargo would find `cargo nextest`.
pub fn is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let own = home.map(|home| home.join("bin"));
    std::env::split_paths(&path).chain(own).any(|directory| directory.join("cargo-nextest").is_file())
}

/// Whether the project says how nextest is to run its tests.
pub fn is_configured(cargo: &Cargo) -> Result<bool, CargoError> {
    Ok(cargo.workspace_root()?.join(CONFIGURATION).is_file())
}

/// The filter that means just these tests. Example: `(binary_id(=core::contract) & (test(=a) | test(=b)))`.
pub fn filter<'t>(tests: impl IntoIterator<Item = &'t TestId>) -> String {
    let mut by_binary: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for test in tests {
        by_binary.entry(binary_id(&test.target)).or_default().insert(&test.name);
    }
    let of_binary = |(binary, names): (String, BTreeSet<&str>)| {
        let tests: Vec<String> = names.iter().map(|name| format!("test(={})", escaped(name))).collect();
        format!("(binary_id(={binary}) & ({}))", tests.join(" | "))
    };
    let filters: Vec<String> = by_binary.into_iter().map(of_binary).collect();
    if filters.is_empty() { "none()".to_string() } else { filters.join(" | ") }
}

/// Runs the tests. What `cargo test --no-run` built with the same arguments is not built again.
pub fn run(
    nextest: &Nextest,
    run: &NextestRun,
    cancel: &Cancel,
    events: &mut dyn FnMut(Event),
) -> Result<RunEnd, NextestError> {
    let mut end = RunEnd::default();
    let mut counted = |event: Event| {
        end.count(&event);
        events(event);
    };
    let unusable = |path: &Path| {
        let path = path.to_path_buf();
        move |source| NextestError::File { path, source }
    };
    let temporary = without_blanks(tempfile::env::temp_dir());
    let directory = HeldDirectory::new_in(&temporary, "fewer-nextest-");
    let directory = directory.map_err(unusable(&temporary))?;
    let [defaults, configuration, report] =
        ["defaults.toml", "nextest.toml", "junit.xml"].map(|name| directory.path().join(name));
    let Nextest { cargo, configuration: how } = nextest;
    let logs = Logs::prepare(directory.path(), how).map_err(unusable(directory.path()))?;
    let text = configured(&users_configuration(&cargo.workspace_root()?)?, run, &report);
    fs::write(&configuration, text).map_err(unusable(&configuration))?;
    fs::write(&defaults, DEFAULTS).map_err(unusable(&defaults))?;
    let mut command = invocation(cargo, run);
    let (variable, script) = logs.variable(how);
    command.env(variable, script);
    command.arg("--config-file").arg(&configuration);
    command.arg("--tool-config-file").arg(format!("fewer:{}", defaults.display()));
    let mut watch = Watch::new(&run.tests, &mut counted);
    let process = supervise(command, Streams::Together, Leftovers::Kill, cancel, &mut watch)
        .map_err(NextestError::Start)?;
    let transcript = watch.transcript;
    let cases = junit::read(&report).ok();
    match cases {
        Some(cases) => {
            let logged = logs.read().map_err(unusable(directory.path()))?;
            let cases = with_evidence(run, cases, &logged);
            conclude(run, cases, process, &transcript, &mut counted);
        }
        None if process.stop == Some(Stop::Cancelled) => {}
        None => {
            let (end, output_tail) = (process.exit.to_string(), transcript.text());
            return Err(NextestError::Failed { end, output_tail });
        }
    }
    end.interrupted = end.tests() < run.tests.len();
    Ok(end)
}

/// A directory for temporary files that can be named in a variable which is cut at blanks.
fn without_blanks(directory: PathBuf) -> PathBuf {
    let has_blanks = directory.to_string_lossy().contains(char::is_whitespace);
    if has_blanks { PathBuf::from("/tmp") } else { directory }
}

/// What the project's own file says.
fn users_configuration(root: &Path) -> Result<String, NextestError> {
    let path = root.join(CONFIGURATION);
    match fewer_files::read_to_string(&path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(source) => Err(NextestError::File { path, source }),
    }
}

/// The user's configuration with a profile that is like the user's, runs the selection and tells results.
fn configured(users: &str, run: &NextestRun, report: &Path) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut text = format!("{users}\n\n[profile.{PROFILE}]\n");
    if let Some(profile) = std::env::var("NEXTEST_PROFILE").ok().filter(|profile| profile != "default") {
        text.push_str(&format!("inherits = {}\n", quoted(&profile)));
    }
    text.push_str(&format!("default-filter = {}\n", quoted(&filter(&run.tests))));
    if let Some(timeout) = run.timeout {
        let milliseconds = timeout.as_millis().max(1);
        text.push_str(&format!("slow-timeout = {{ period = \"{milliseconds}ms\", terminate-after = 1 }}\n"));
    }
    let report = quoted(&report.to_string_lossy());
    text.push_str(&format!("\n[profile.{PROFILE}.junit]\npath = {report}\nstore-success-output = true\n"));
    text
}

fn invocation(cargo: &Cargo, run: &NextestRun) -> Command {
    let mut command = Command::new(&cargo.program);
    remove_disturbing_variables(&mut command);
    command.current_dir(&cargo.directory).args(["nextest", "run"]).args(cargo.arguments.for_nextest());
    command.args(["--profile", PROFILE, "--no-fail-fast"]);
    command.args(["--status-level", "all", "--final-status-level", "none", "--color", "never"]);
    command.args(["--failure-output", "never", "--success-output", "never", "--show-progress", "none"]);
    let threads = run.jobs.map(NonZeroUsize::get).or(cargo.arguments.test_threads());
    if let Some(threads) = threads {
        command.args(["--test-threads", &threads.to_string()]);
    }
    if cargo.arguments.runs_ignored() {
        command.args(["--run-ignored", "all"]);
    }
    command.envs(cargo.environment());
    command
}

/// What nextest says of every test. Where it says that one passed, the harness's log must say so, too.
fn with_evidence(run: &NextestRun, cases: Vec<JunitCase>, logged: &LoggedTests) -> Cases {
    let mut by_id = Cases::new();
    for case in cases {
        let known = by_id.entry((case.class_name.clone(), case.name.clone())).or_insert_with(|| case.clone());
        // Of two that have one name, the worse one counts.
        if case.finding.is_some() {
            *known = case;
        }
    }
    for test in &run.tests {
        let Some(case) = by_id.get_mut(&(binary_id(&test.target), test.name.clone())) else { continue };
        let has_passed = || {
            let program = run.executables.get(&test.target);
            program.is_some_and(|program| logged.has_passed(program, &test.name))
        };
        if case.finding.is_none() && !has_passed() {
            case.finding = Some(Finding::Failed);
            case.kind = NOT_TOLD.to_string();
            case.message = Some(NO_RESULT.to_string());
        }
    }
    by_id
}

/// A result for every test that was asked for, unless the run was interrupted.
fn conclude(
    run: &NextestRun,
    mut by_id: Cases,
    process: ProcessEnd,
    transcript: &Transcript,
    events: &mut dyn FnMut(Event),
) {
    let mut missing = Vec::new();
    let is_failure =
        |case: &JunitCase| matches!(case.finding, Some(Finding::Failed)) && case.kind != NOT_TOLD;
    let expected = if by_id.values().any(is_failure) { TESTS_FAILED } else { 0 };
    for test in &run.tests {
        match by_id.remove(&(binary_id(&test.target), test.name.clone())) {
            Some(case) => {
                events(Event::TestFinished(settled(test, case)));
            }
            None => missing.push(test.clone()),
        }
    }
    if process.stop == Some(Stop::Cancelled) {
        return;
    }
    let message =
        "nextest did not run it: a setup script may have failed, or its configuration leaves it out";
    for test in &missing {
        let outcome =
            Outcome { verdict: Verdict::Inconclusive, duration_s: 0.0, output_tail: message.to_string() };
        events(Event::TestFinished(TestResult::new(test.clone(), outcome, Some(message.to_string()))));
    }
    if !missing.is_empty() || process.exit != Exit::Code(expected) {
        events(Event::ProcessFailed(ProcessFailure {
            target: "cargo nextest".to_string(),
            tests: missing,
            explanation: format!("cargo nextest {}", process.exit),
            output_tail: transcript.text(),
        }));
    }
}

fn settled(test: &TestId, case: JunitCase) -> TestResult {
    let JunitCase { finding, kind, earlier, message, detail, output, duration_s, .. } = case;
    let (verdict, message) = match finding {
        None => (Verdict::Passed, None),
        Some(Finding::Skipped) => (Verdict::Skipped, message),
        Some(Finding::Failed) => {
            let verdict = verdict_of(&kind);
            (verdict, Some(message.unwrap_or_else(|| first_line(&detail).unwrap_or(kind))))
        }
    };
    let mut transcript = Transcript::new(4096, 12 * 1024);
    let output = without_deprecation(&output);
    transcript.push(output.as_bytes());
    if let Some(message) = message.as_ref().filter(|message| !output.contains(message.as_str())) {
        transcript.push(format!("{message}\n").as_bytes());
    }
    let outcome = Outcome { verdict, duration_s, output_tail: transcript.text() };
    let earlier = earlier.into_iter().map(earlier_outcome).collect();
    TestResult { earlier, ..TestResult::new(test.clone(), outcome, message) }
}

fn earlier_outcome(earlier: EarlierTry) -> Outcome {
    let EarlierTry { kind, duration_s, message, detail } = earlier;
    let told = if detail.trim().is_empty() { message.unwrap_or_default() } else { detail };
    let output_tail = format!("{}\n(the test was tried again)\n", told.trim_end());
    Outcome { verdict: verdict_of(&kind), duration_s, output_tail }
}

/// What nextest calls failures. Example: `test abort`, `test failure with exit code 101`.
fn verdict_of(kind: &str) -> Verdict {
    match kind {
        "test timeout" => Verdict::TimedOut,
        "test abort" => Verdict::Crashed,
        "execution failure" => Verdict::Inconclusive,
        _ => Verdict::Failed,
    }
}

fn first_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_string)
}

/// What nextest calls a target. Example: `core::contract` for `core/contract`, `core::bin/tool` for `core/bin/tool`.
fn binary_id(target: &str) -> String {
    target.replacen('/', "::", 1)
}

/// A name as it is written in a filter.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        if ['\\', ')', ',', '/'].contains(&character) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

/// Tells of tests that ended while the others still run.
struct Watch<'w> {
    /// By what nextest calls them: program and name.
    pending: BTreeMap<String, TestId>,
    lines: Lines,
    transcript: Transcript,
    events: &'w mut dyn FnMut(Event),
}

impl<'w> Watch<'w> {
    fn new(tests: &[TestId], events: &'w mut dyn FnMut(Event)) -> Watch<'w> {
        let pending =
            tests.iter().map(|test| (format!("{} {}", binary_id(&test.target), test.name), test.clone()));
        let (lines, transcript) = (Lines::new(LONGEST_LINE), Transcript::new(4096, 12 * 1024));
        Watch { pending: pending.collect(), lines, transcript, events }
    }

    /// Example: `        PASS [   0.180s] core::contract a_test`. Tries that are followed by others end nothing.
    fn line(&mut self, line: &str) {
        let Some((beginning, named)) = line.split_once("] ") else { return };
        let word = beginning.split_whitespace().next().unwrap_or("");
        if !ENDS.iter().any(|end| word.starts_with(end)) {
            return;
        }
        if let Some(test) = self.pending.remove(named.trim()) {
            let verdict = if word == "PASS" { Verdict::Passed } else { Verdict::Failed };
            (self.events)(Event::TestEnded { test, verdict });
        }
    }
}

impl Watcher for Watch<'_> {
    fn output(&mut self, bytes: &[u8]) {
        self.transcript.push(bytes);
        for line in self.lines.ended(bytes) {
            self.line(&line);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_programs_and_tests_as_nextest_does() {
        let tests = [
            TestId::new("core", "b"),
            TestId::new("core", "a"),
            TestId::new("core/bin/tool", "tests::holds"),
            TestId::new("core/contract", "odd (name), really"),
        ];
        assert_eq!(
            filter(&tests),
            "(binary_id(=core) & (test(=a) | test(=b))) | (binary_id(=core::bin/tool) & (test(=tests::holds))) | \
             (binary_id(=core::contract) & (test(=odd (name\\)\\, really)))"
        );
        assert_eq!(filter(&[]), "none()");
    }

    #[test]
    fn only_the_end_of_a_test_is_told() {
        let tests = [TestId::new("core/contract", "a"), TestId::new("core", "b")];
        let mut ended = Vec::new();
        let mut events = |event| {
            if let Event::TestEnded { test, .. } = event {
                ended.push(test);
            }
        };
        let mut watch = Watch::new(&tests, &mut events);
        watch.output(b"    Starting 2 tests\n        SLOW [>  1.000s] core::contract a\n        PASS [   0.1s] core::con");
        watch.output(b"tract a\n  TRY 1 FAIL [   0.8s] core b\n");
        assert_eq!(ended, [TestId::new("core/contract", "a")]);
    }
}
