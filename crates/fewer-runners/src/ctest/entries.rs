//! The tests a build directory declares, from `ctest --show-only=json-v1`. Nothing is run here but `ctest` itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, io};

use rustix::fs::Access;
use serde::Deserialize;
use serde_json::Value;

use super::{CtestError, CtestErrorKind};
use crate::cancel::Cancel;
use crate::process::{ErrorOutput, Exit, Leftovers, Stop, Streams, supervise};
use crate::program::{Claims, TestProgram};
use crate::transcript::Transcript;

/// Reading `CTestTestfile.cmake` runs no test; a directory with 10,000 tests takes a second.
const TIMEOUT: Duration = Duration::from_secs(120);

/// One `add_test`.
#[derive(Clone, PartialEq, Debug)]
pub struct CtestEntry {
    /// Not unique: directories may use the same name.
    pub name: String,
    /// CTest's own number for it, from 1.
    pub number: usize,
    /// Empty when the executable has not been built.
    pub command: Vec<String>,
    /// As CTest starts it, made absolute.
    pub working_directory: PathBuf,
    /// `ENVIRONMENT` and `ENVIRONMENT_MODIFICATION`, applied to this process's environment.
    pub environment: Vec<(String, String)>,
    pub environment_removed: Vec<String>,
    pub timeout: Option<Duration>,
    pub disabled: bool,
    pub will_fail: bool,
    /// `RUN_SERIAL`, `RESOURCE_LOCK`, and more than one of `PROCESSORS`.
    pub claims: Claims,
    /// Numbers of the entries without which it is not what CTest runs: fixtures that it requires and what it
    /// `DEPENDS` on, and what those need in turn.
    pub needs: BTreeSet<usize>,
    /// Sorted.
    pub labels: Vec<String>,
    /// Every property as CTest gives it, by name.
    pub properties: BTreeMap<String, Value>,
}

/// What CTest tells of a build directory's tests. It reads `CTestTestfile.cmake` and what that includes, which are
/// programs. `configuration` is needed with multi-configuration generators (`Debug`).
pub fn told(
    build_directory: &Path,
    configuration: Option<&str>,
    cancel: &Cancel,
) -> Result<String, CtestError> {
    let told = shown(build_directory, configuration, cancel).and_then(|json| {
        String::from_utf8(json).map_err(|error| CtestErrorKind::Unreadable {
            reason: error.utf8_error().to_string(),
            output_tail: String::from_utf8_lossy(error.as_bytes()).chars().take(2000).collect(),
        })
    });
    told.map_err(|kind| CtestError { directory: build_directory.to_path_buf(), kind })
}

/// The entries in what CTest told, in its order.
pub fn entries(build_directory: &Path, told: &str) -> Result<Vec<CtestEntry>, CtestError> {
    let listing: Listing = serde_json::from_str(told).map_err(|error| {
        let output_tail = told.chars().take(2000).collect();
        let kind = CtestErrorKind::Unreadable { reason: error.to_string(), output_tail };
        CtestError { directory: build_directory.to_path_buf(), kind }
    })?;
    let tests = listing.tests.into_iter().enumerate();
    let mut entries: Vec<CtestEntry> =
        tests.map(|(index, test)| CtestEntry::new(index + 1, test, build_directory)).collect();
    note_needs(&mut entries);
    Ok(entries)
}

impl CtestEntry {
    /// The entry's command as a program, for those who know how to talk to it. `None` if it has not been built.
    pub fn program(&self, target: impl Into<String>) -> Option<TestProgram> {
        let [executable, arguments @ ..] = self.command.as_slice() else { return None };
        Some(TestProgram {
            launcher: Vec::new(),
            target: target.into(),
            executable: PathBuf::from(executable),
            arguments: arguments.to_vec(),
            working_directory: self.working_directory.clone(),
            environment: self.environment.clone(),
            environment_removed: self.environment_removed.clone(),
            claims: self.claims.clone(),
            test_timeout: None,
        })
    }

    /// A property that is a list, as words.
    fn words(&self, property: &str) -> Vec<String> {
        strings(self.properties.get(property))
    }

    fn new(number: usize, test: ListedEntry, build_directory: &Path) -> CtestEntry {
        let properties: BTreeMap<String, Value> =
            test.properties.into_iter().map(|property| (property.name, property.value)).collect();
        let get = |name: &str| properties.get(name);
        let directory = get("WORKING_DIRECTORY").and_then(Value::as_str).unwrap_or_default();
        let mut environment = Environment::default();
        environment.set_all(&strings(get("ENVIRONMENT")));
        environment.modify_all(&strings(get("ENVIRONMENT_MODIFICATION")));
        let mut labels = strings(get("LABELS"));
        labels.sort();
        CtestEntry {
            name: test.name,
            number,
            command: test.command,
            working_directory: build_directory.join(directory),
            environment: environment.set.into_iter().collect(),
            environment_removed: environment.removed.into_iter().collect(),
            timeout: get("TIMEOUT").and_then(Value::as_f64).and_then(limit),
            disabled: get("DISABLED").and_then(Value::as_bool).unwrap_or(false),
            will_fail: get("WILL_FAIL").and_then(Value::as_bool).unwrap_or(false),
            claims: Claims {
                everything: get("RUN_SERIAL").and_then(Value::as_bool).unwrap_or(false)
                    || get("PROCESSORS").and_then(Value::as_f64).is_some_and(|count| count > 1.0),
                resources: strings(get("RESOURCE_LOCK")).into_iter().collect(),
            },
            needs: BTreeSet::new(),
            labels,
            properties,
        }
    }
}

/// Tells every entry which others it needs, directly and through those.
fn note_needs(entries: &mut [CtestEntry]) {
    let mut named: HashMap<String, Vec<usize>> = HashMap::new();
    let mut serving: HashMap<String, Vec<usize>> = HashMap::new();
    for entry in entries.iter() {
        named.entry(entry.name.clone()).or_default().push(entry.number);
        for fixture in [entry.words("FIXTURES_SETUP"), entry.words("FIXTURES_CLEANUP")].concat() {
            serving.entry(fixture).or_default().push(entry.number);
        }
    }
    let of = |words: Vec<String>, map: &HashMap<String, Vec<usize>>| -> Vec<usize> {
        words.iter().flat_map(|word| map.get(word).cloned().unwrap_or_default()).collect()
    };
    let direct: Vec<Vec<usize>> = entries
        .iter()
        .map(|entry| {
            [of(entry.words("DEPENDS"), &named), of(entry.words("FIXTURES_REQUIRED"), &serving)].concat()
        })
        .collect();
    for entry in entries {
        let mut open = direct[entry.number - 1].clone();
        while let Some(number) = open.pop() {
            if number != entry.number && entry.needs.insert(number) {
                open.extend(&direct[number - 1]);
            }
        }
    }
}

#[derive(Deserialize)]
struct Listing {
    tests: Vec<ListedEntry>,
}

#[derive(Deserialize)]
struct ListedEntry {
    name: String,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Deserialize)]
struct Property {
    name: String,
    value: Value,
}

/// The variables of one entry. The operations are those of CMake's `ENVIRONMENT_MODIFICATION`.
#[derive(Default)]
struct Environment {
    set: BTreeMap<String, String>,
    removed: BTreeSet<String>,
}

impl Environment {
    fn set_all(&mut self, assignments: &[String]) {
        for (name, value) in assignments.iter().filter_map(|assignment| assignment.split_once('=')) {
            self.assign(name, Some(value.to_string()));
        }
    }

    fn modify_all(&mut self, modifications: &[String]) {
        for modification in modifications {
            let Some((name, operation)) = modification.split_once('=') else { continue };
            let (operation, value) = operation.split_once(':').unwrap_or((operation, ""));
            self.modify(name, operation, value);
        }
    }

    fn modify(&mut self, name: &str, operation: &str, value: &str) {
        let current = self.current(name);
        let joined = |first: &str, separator: &str, second: &str| {
            let separator = if first.is_empty() || second.is_empty() { "" } else { separator };
            Some(format!("{first}{separator}{second}"))
        };
        let value = match operation {
            "set" => Some(value.to_string()),
            "unset" => None,
            "string_append" => joined(&current, "", value),
            "string_prepend" => joined(value, "", &current),
            "path_list_append" => joined(&current, ":", value),
            "path_list_prepend" => joined(value, ":", &current),
            "cmake_list_append" => joined(&current, ";", value),
            "cmake_list_prepend" => joined(value, ";", &current),
            "reset" => {
                self.set.remove(name);
                self.removed.remove(name);
                return;
            }
            // CTest refuses what it does not know before anyone can ask for it.
            _ => return,
        };
        self.assign(name, value);
    }

    fn assign(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => {
                self.removed.remove(name);
                self.set.insert(name.to_string(), value);
            }
            None => {
                self.set.remove(name);
                self.removed.insert(name.to_string());
            }
        }
    }

    fn current(&self, name: &str) -> String {
        match self.set.get(name) {
            Some(value) => value.clone(),
            None if self.removed.contains(name) => String::new(),
            None => env::var(name).unwrap_or_default(),
        }
    }
}

fn shown(
    build_directory: &Path,
    configuration: Option<&str>,
    cancel: &Cancel,
) -> Result<Vec<u8>, CtestErrorKind> {
    let directory =
        tempfile::Builder::new().prefix("fewer-ctest-").tempdir().map_err(CtestErrorKind::TemporaryFile)?;
    let path = directory.path().join("tests.json");
    let file = File::create(&path).map_err(CtestErrorKind::TemporaryFile)?;
    let mut command = Command::new("ctest");
    let started_in = started_in(build_directory, directory.path()).map_err(CtestErrorKind::TemporaryFile)?;
    command.arg("--show-only=json-v1").current_dir(started_in);
    if let Some(configuration) = configuration {
        command.args(["-C", configuration]);
    }
    let mut errors =
        ErrorOutput { transcript: Transcript::new(2048, 6144), deadline: Instant::now() + TIMEOUT };
    let end = supervise(command, Streams::OutputTo(file), Leftovers::Kill, cancel, &mut errors)
        .map_err(CtestErrorKind::Start)?;
    match (end.stop, end.exit) {
        (Some(Stop::Cancelled), _) => Err(CtestErrorKind::Interrupted),
        (Some(Stop::Deadline), _) => Err(CtestErrorKind::TimedOut { seconds: TIMEOUT.as_secs() }),
        (None, Exit::Code(0)) => fewer_files::read(&path).map_err(CtestErrorKind::TemporaryFile),
        (None, exit) => {
            Err(CtestErrorKind::Failed { end: exit.to_string(), output_tail: errors.transcript.text() })
        }
    }
}

/// CTest writes a log to where it is started: the build directory or, where that cannot be written, one of ours that stands
/// for it.
fn started_in<'d>(build_directory: &'d Path, ours: &'d Path) -> io::Result<&'d Path> {
    let logs = build_directory.join("Testing/Temporary");
    let written = if logs.exists() { &logs } else { build_directory };
    if rustix::fs::access(written, Access::WRITE_OK).is_ok() {
        return Ok(build_directory);
    }
    for settings in ["CTestCustom.cmake", "CTestCustom.ctest", "DartConfiguration.tcl"] {
        let path = build_directory.join(settings);
        if path.exists() {
            symlink(path, ours.join(settings))?;
        }
    }
    let subdirectory = format!("subdirs([==[{}]==])\n", build_directory.display());
    fs::write(ours.join("CTestTestfile.cmake"), subdirectory)?;
    Ok(ours)
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let values = value.and_then(Value::as_array).into_iter().flatten();
    values.filter_map(|value| value.as_str().map(str::to_string)).collect()
}

/// CTest takes 0 for "no limit".
fn limit(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_modifications_do_what_cmake_says() {
        let text = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
        let mut environment = Environment::default();
        environment.set_all(&text(&["A=1", "L=x", "GONE=1", "BACK=1"]));
        environment.modify_all(&text(&[
            "A=string_append:2",
            "L=path_list_prepend:/opt/a=b:c",
            "NEW_LIST=cmake_list_append:one",
            "GONE=unset:",
            "BACK=reset:",
        ]));
        let set: Vec<(&str, &str)> = environment.set.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(set, [("A", "12"), ("L", "/opt/a=b:c:x"), ("NEW_LIST", "one")]);
        assert_eq!(environment.removed.into_iter().collect::<Vec<_>>(), ["GONE"]);
    }
}
