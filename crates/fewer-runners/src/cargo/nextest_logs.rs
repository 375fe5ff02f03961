//! Logs of Rust's harness for tests that nextest runs. Nextest judges a process by its exit code; a script that it puts in
//! front of every test program, as it would a runner of cargo's configuration, has the harness keep a log of each test.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::configuration::Configuration;
use super::log::{LARGEST, Told};

/// Where the logs go, beside the script.
pub(super) struct Logs {
    directory: PathBuf,
}

/// The logs of the last try of every test, by its program's path and the arguments it was given.
pub(super) struct LoggedTests {
    programs: BTreeMap<PathBuf, Vec<LoggedTest>>,
}

struct LoggedTest {
    arguments: Vec<String>,
    attempt: u32,
    told: Told,
}

/// `LOGS` is the directory, `RUNNER` what the user's configuration puts in front of programs, `RESTORE` gives the variable
/// that names this script the user's value again. The name of a log is new even if the number of a process is used again.
const SCRIPT: &str = r#"# Has the test harness of a program that nextest starts keep a log.
RESTORE
case " $* " in *" --exact "*) ;; *) exec RUNNER "$@" ;; esac
set -C
log=LOGS/$$
until { true > "$log.of"; } 2>/dev/null; do log=$log-; [ -d LOGS ] || exit 120; done
set +C
printf '%s\n' "${NEXTEST_ATTEMPT:-1}" "$@" >> "$log.of"
exec RUNNER "$@" --logfile "$log.log"
"#;

impl Logs {
    pub(super) fn prepare(directory: &Path, configuration: &Configuration) -> io::Result<Logs> {
        let directory = std::path::absolute(directory)?.join("logs");
        fs::create_dir(&directory)?;
        let runner: Vec<String> = configuration.runner.iter().map(|word| quoted(word)).collect();
        let variable = configuration.runner_variable();
        let restore = match std::env::var(&variable) {
            Ok(value) => format!("{variable}={}", quoted(&value)),
            Err(_) => format!("unset {variable}"),
        };
        let script = SCRIPT.replace("RUNNER", &runner.join(" ")).replace("RESTORE", &restore);
        let script = script.replace("LOGS", &quoted(&directory.to_string_lossy()));
        let logs = Logs { directory };
        fs::write(logs.script(), script)?;
        Ok(logs)
    }

    fn script(&self) -> PathBuf {
        self.directory.join("run.sh")
    }

    /// The variable that has nextest use the script: it counts more than any file. Its value is cut at blanks.
    pub(super) fn variable(&self, configuration: &Configuration) -> (String, String) {
        (configuration.runner_variable(), format!("/bin/sh {}", self.script().display()))
    }

    pub(super) fn read(&self) -> io::Result<LoggedTests> {
        let mut programs: BTreeMap<PathBuf, Vec<LoggedTest>> = BTreeMap::new();
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != "of") {
                continue;
            }
            let started = fewer_files::read_to_string(&path)?;
            let mut words = started.lines().map(str::to_string);
            let (Some(attempt), Some(program)) = (words.next(), words.next()) else { continue };
            let told = fewer_files::read_at_most(&path.with_extension("log"), LARGEST).unwrap_or_default();
            programs.entry(PathBuf::from(program)).or_default().push(LoggedTest {
                arguments: words.collect(),
                attempt: attempt.parse().unwrap_or(1),
                told: Told::read(&String::from_utf8_lossy(&told)),
            });
        }
        Ok(LoggedTests { programs })
    }
}

impl LoggedTests {
    /// Whether the log of the last try says that the test passed.
    pub(super) fn has_passed(&self, program: &Path, test: &str) -> bool {
        let tries = self.programs.get(program).into_iter().flatten();
        let own = tries.filter(|logged| logged.arguments.iter().any(|argument| argument == test));
        own.max_by_key(|logged| logged.attempt).is_some_and(|logged| logged.told.has_passed(test))
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
