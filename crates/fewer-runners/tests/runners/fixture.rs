//! The compiled GoogleTest programs and short ways to list and run their tests.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use fewer_core::outcome::Verdict;
use fewer_runners::googletest::{ListedTest, Shard, list};
use fewer_runners::{
    Cancel, Event, Indivisible, Job, ProcessFailure, RunEnd, RunOptions, TestProgram, TestResult, run,
};

/// Long enough for a loaded machine, short enough to wait for.
pub const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// The program of `behaviours.cc`, made to behave so.
pub fn behaving(behaviour: &str) -> TestProgram {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let executable = PROGRAM.get_or_init(|| compiled("behaviours.cc", &["-lgtest"]));
    let mut program = TestProgram::new("unit/behaviours", executable, directory());
    program.environment.push(("BEHAVIOUR".into(), behaviour.into()));
    program
}

pub fn other() -> TestProgram {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let executable = PROGRAM.get_or_init(|| compiled("other.cc", &["-lgtest_main", "-lgtest"]));
    TestProgram::new("unit/other", executable, directory())
}

pub fn directory() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

pub fn listed(program: &TestProgram) -> Vec<ListedTest> {
    list(program, LIST_TIMEOUT, &Cancel::new()).unwrap()
}

pub fn names(tests: &[ListedTest]) -> Vec<String> {
    tests.iter().map(|test| test.name.clone()).collect()
}

pub fn options() -> RunOptions {
    RunOptions { workers: NonZeroUsize::new(2).unwrap(), test_timeout: LIST_TIMEOUT, ..RunOptions::default() }
}

/// What a run told, by the names of the tests.
pub struct Told {
    pub end: RunEnd,
    pub results: BTreeMap<String, TestResult>,
    pub failures: Vec<ProcessFailure>,
    pub started: Vec<String>,
    pub indivisible: Vec<Indivisible>,
}

impl Told {
    pub fn verdict(&self, name: &str) -> Verdict {
        self.result(name).outcome.verdict
    }

    pub fn message(&self, name: &str) -> &str {
        self.result(name).message.as_deref().unwrap_or_default()
    }

    pub fn output(&self, name: &str) -> &str {
        &self.result(name).outcome.output_tail
    }

    pub fn verdicts(&self) -> Vec<(&str, Verdict)> {
        self.results.iter().map(|(name, result)| (name.as_str(), result.outcome.verdict)).collect()
    }

    fn result(&self, name: &str) -> &TestResult {
        self.results.get(name).unwrap_or_else(|| panic!("{name} has no result"))
    }
}

/// Runs these tests in one shard.
pub fn told(program: TestProgram, tests: &[&str], options: &RunOptions) -> Told {
    let tests = tests.iter().map(|name| name.to_string()).collect();
    told_by(vec![Job::Shard(Shard::new(program, tests))], options)
}

pub fn told_by(jobs: Vec<Job>, options: &RunOptions) -> Told {
    let mut told = Told {
        end: RunEnd::default(),
        results: BTreeMap::new(),
        failures: Vec::new(),
        started: Vec::new(),
        indivisible: Vec::new(),
    };
    let end = run(jobs, options, &mut |event| match event {
        Event::TestStarted { test } => told.started.push(test.name),
        Event::TestEnded { .. } => {}
        Event::Indivisible(indivisible) => told.indivisible.push(indivisible),
        Event::TestFinished(result) => {
            let before = told.results.insert(result.test.name.clone(), result);
            assert_eq!(before, None, "a test has one outcome");
        }
        Event::ProcessFailed(failure) => told.failures.push(failure),
    });
    told.end = end;
    told
}

/// Waits until the process with this number has ended.
pub fn await_death(pid: &str) {
    let stat = Path::new("/proc").join(pid).join("stat");
    await_that(&format!("process {pid} has ended"), || {
        let stat = std::fs::read_to_string(&stat).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('Z'))
    });
}

/// Waits until the file has been written.
pub fn await_text(path: &Path) {
    await_that(&format!("{} is there", path.display()), || {
        std::fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
    });
}

fn await_that(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < LIST_TIMEOUT, "{what}: not yet");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Compiles once per source text: the executable is named after it.
fn compiled(source: &str, libraries: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(source);
    let mut hasher = DefaultHasher::new();
    std::fs::read(&source).unwrap().hash(&mut hasher);
    let stem = source.file_stem().unwrap().to_string_lossy();
    let executable = directory().join(format!("{stem}-{:016x}", hasher.finish()));
    if !executable.exists() {
        let unfinished = executable.with_extension(std::process::id().to_string());
        let status = Command::new("g++")
            .args(["-std=c++17", "-O0", "-o"])
            .args([&unfinished, &source])
            .args(libraries)
            .arg("-pthread")
            .status()
            .expect("g++ is needed by these tests");
        assert!(status.success(), "{} does not compile", source.display());
        std::fs::rename(&unfinished, &executable).unwrap();
    }
    executable
}
