//! A test executable and the surroundings it is started in. What it is asked to do is told by the frameworks'
//! modules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A program that holds tests, as it is to be started.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TestProgram {
    /// The target part of its tests' ids. Example: `unit/core_test`.
    pub target: String,
    /// A program with arguments that is started instead, and is given the executable. Example: `valgrind -q`.
    pub launcher: Vec<String>,
    /// A path, relative ones to the directory this process is in; a bare name is searched in `PATH`.
    pub executable: PathBuf,
    pub arguments: Vec<String>,
    pub working_directory: PathBuf,
    /// Set on top of this process's own environment.
    pub environment: Vec<(String, String)>,
    /// Taken out of this process's own environment.
    pub environment_removed: Vec<String>,
    pub claims: Claims,
    /// How long one of its tests may take, where the project says so.
    pub test_timeout: Option<Duration>,
}

/// What a program has for itself while it runs: nothing that claims the same is started meanwhile.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Claims {
    /// It runs alone.
    pub everything: bool,
    /// By name. Example: `database`.
    pub resources: BTreeSet<String>,
}

impl Claims {
    /// Whether two programs may run at the same time.
    pub fn allow(&self, other: &Claims) -> bool {
        !self.everything && !other.everything && self.resources.is_disjoint(&other.resources)
    }

    /// Claims what another claims, too.
    pub fn extend(&mut self, other: &Claims) {
        self.everything |= other.everything;
        self.resources.extend(other.resources.iter().cloned());
    }
}

/// Variables that would change which tests run, how often, or where results are written: removed even when the
/// project sets them for its tests.
const TAKEOVER_VARIABLES: &[&str] = &[
    "GTEST_ALSO_RUN_DISABLED_TESTS",
    "GTEST_BRIEF",
    "GTEST_FAIL_FAST",
    "GTEST_FAIL_IF_NO_TEST_LINKED",
    "GTEST_FAIL_IF_NO_TEST_SELECTED",
    "GTEST_FILTER",
    "GTEST_FLAGFILE",
    "GTEST_INTERNAL_RUN_DEATH_TEST",
    "GTEST_OUTPUT",
    "GTEST_REPEAT",
    "GTEST_SHARD_INDEX",
    "GTEST_SHARD_STATUS_FILE",
    "GTEST_STREAM_RESULT_TO",
    "GTEST_TOTAL_SHARDS",
    "TESTBRIDGE_TEST_ONLY",
    "TESTBRIDGE_TEST_RUNNER_FAIL_FAST",
    "TEST_PREMATURE_EXIT_FILE",
    "TEST_SHARD_INDEX",
    "TEST_SHARD_STATUS_FILE",
    "TEST_TOTAL_SHARDS",
    "XML_OUTPUT_FILE",
];

/// Whether a variable would change which tests run, how often, or where results are written.
pub fn is_takeover_variable(name: &str) -> bool {
    TAKEOVER_VARIABLES.contains(&name)
}

/// Variables that change how tests behave: removed when they merely happen to be set in the caller's shell.
const BEHAVIOUR_VARIABLES: &[&str] = &[
    "GTEST_BREAK_ON_FAILURE",
    "GTEST_CATCH_EXCEPTIONS",
    "GTEST_COLOR",
    "GTEST_PRINT_TIME",
    "GTEST_RANDOM_SEED",
    "GTEST_RECREATE_ENVIRONMENTS_WHEN_REPEATING",
    "GTEST_SHUFFLE",
    "GTEST_THROW_ON_FAILURE",
];

impl TestProgram {
    /// A program without arguments, in an unchanged environment.
    pub fn new(
        target: impl Into<String>,
        executable: impl Into<PathBuf>,
        working_directory: impl Into<PathBuf>,
    ) -> TestProgram {
        TestProgram {
            target: target.into(),
            launcher: Vec::new(),
            executable: executable.into(),
            arguments: Vec::new(),
            working_directory: working_directory.into(),
            environment: Vec::new(),
            environment_removed: Vec::new(),
            claims: Claims::default(),
            test_timeout: None,
        }
    }

    /// The command with its surroundings, without the program's own arguments.
    pub(crate) fn command(&self) -> Command {
        let mut command = match self.launcher.split_first() {
            Some((launcher, arguments)) => {
                let mut command = Command::new(launcher);
                command.args(arguments).arg(located(&self.executable));
                command
            }
            None => Command::new(located(&self.executable)),
        };
        command.current_dir(&self.working_directory);
        remove_all(&mut command, BEHAVIOUR_VARIABLES);
        for name in &self.environment_removed {
            command.env_remove(name);
        }
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        remove_all(&mut command, TAKEOVER_VARIABLES);
        command
    }
}

/// Takes everything out of the caller's environment that would disturb tests started by `command`.
pub(crate) fn remove_disturbing_variables(command: &mut Command) {
    remove_all(command, BEHAVIOUR_VARIABLES);
    remove_all(command, TAKEOVER_VARIABLES);
}

fn remove_all(command: &mut Command, names: &[&str]) {
    for name in names {
        command.env_remove(name);
    }
}

/// The executable as it must be given to a child that starts in another directory.
fn located(executable: &Path) -> PathBuf {
    if executable.components().count() > 1 {
        std::path::absolute(executable).unwrap_or_else(|_| executable.to_path_buf())
    } else {
        executable.to_path_buf()
    }
}
