//! Several processes, and processes that are killed: nothing recorded is lost, and nothing is half there.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fewer_core::{Digest, Outcome, TestId, Verdict};
use fewer_store::{GcOptions, RunEnd, RunInfo, StateRecord, Store, StoreError};

use crate::project::{Project, key};
use crate::space;

/// Outcomes recorded together.
const SHARD: usize = 5;
const ENDLESS: usize = usize::MAX;
/// Some of the records of a killed process must be in the middle of being copied from the log.
const BLOB_BYTES: usize = 300_000;

/// What the test binary does when it is started by the tests here.
#[test]
#[ignore = "the tests start it themselves, as another process"]
fn child() {
    let Ok(role) = env::var("FEWER_STORE_CHILD") else { return };
    let arguments: Vec<&str> = role.split(' ').collect();
    match arguments[..] {
        ["record", directory, worker, shards] => {
            if let Err(error) = record(Path::new(directory), worker, shards.parse().unwrap()) {
                println!("said {error}");
                panic!("{error}");
            }
        }
        ["gc", directory, times] => collect(Path::new(directory), times.parse().unwrap()),
        ["fill", directory] => space::fill(Path::new(directory)),
        ["open", directory] => match Store::open(Path::new(directory), key()) {
            Ok(_) => println!("said opened"),
            Err(error) => println!("said {error}"),
        },
        _ => panic!("no such role: {role}"),
    }
}

/// This test binary in a role, perhaps started through another command.
pub(crate) fn child_command(through: &[&str], role: &str) -> Command {
    let binary = env::current_exe().expect("the test binary");
    let mut command = match through.split_first() {
        None => Command::new(binary),
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments).arg(binary);
            command
        }
    };
    command.args(["--exact", "processes::child", "--ignored", "--nocapture"]);
    command.env("FEWER_STORE_CHILD", role).stdout(Stdio::piped());
    command
}

/// A child that is killed when the test is done with it, also when the test fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().expect("the child is killed");
        self.0.wait().expect("the child ends");
    }
}

/// The lines that a child prints with a word before them.
pub(crate) fn said(output: &str, word: &str) -> Vec<String> {
    let start = format!("{word} ");
    output.lines().filter_map(|line| line.strip_prefix(&start)).map(str::to_string).collect()
}

fn test_of(worker: &str, shard: usize, index: usize) -> TestId {
    TestId::new(worker, format!("Shard{shard}.Test{index}"))
}

pub(crate) fn shard_of(worker: &str, shard: usize) -> Vec<(TestId, Digest, Outcome)> {
    let outcome =
        Outcome { verdict: Verdict::Passed, duration_s: 0.5, output_tail: format!("output of {shard}") };
    (0..SHARD).map(|index| (test_of(worker, shard, index), Digest(1), outcome.clone())).collect()
}

pub(crate) fn blob_of(worker: &str, shard: usize) -> (Digest, Vec<u8>) {
    let number = worker.bytes().fold(shard, |number, byte| number * 7 + usize::from(byte));
    (Digest(number as u128), (0..BLOB_BYTES).map(|byte| (byte * number % 251) as u8).collect())
}

/// A state that has all tests of a worker, so that no collection drops them.
pub(crate) fn state_of(worker: &str, shards: usize) -> StateRecord {
    let tests = (0..shards.min(100)).flat_map(|shard| (0..SHARD).map(move |index| (shard, index)));
    StateRecord {
        commit: Some(worker.to_string()),
        dirty: false,
        worktree: Digest(0),
        manifest: Vec::new(),
        snapshot: tests.map(|(shard, index)| (test_of(worker, shard, index), Digest(1))).collect(),
    }
}

/// Records shards; says so after each.
fn record(directory: &Path, worker: &str, shards: usize) -> Result<(), StoreError> {
    let store = Store::open(directory, key())?;
    let state = store.record_state(&state_of(worker, shards))?;
    let run = store.begin_run(state, &RunInfo::now("here", "record"))?;
    for shard in 0..shards {
        store.put_blobs("summary", &[blob_of(worker, shard)])?;
        store.record_outcomes(run, &shard_of(worker, shard))?;
        println!("recorded {shard}");
    }
    store.finish_run(run, RunEnd::Completed)
}

fn collect(directory: &Path, times: usize) {
    let store = Store::open(directory, key()).unwrap();
    for _ in 0..times {
        store.gc(&GcOptions { keep_states: 100, older_than: None }).unwrap();
        thread::sleep(Duration::from_millis(10));
    }
}

/// How many outcomes each shard of a worker has.
pub(crate) fn shards_found(project: &Project, worker: &str) -> BTreeMap<usize, usize> {
    let mut shards = BTreeMap::new();
    let database = project.database();
    let sql = "SELECT test.name FROM outcome JOIN test ON test.id = outcome.test
         JOIN output ON output.outcome = outcome.id WHERE test.target = ?";
    let mut statement = database.prepare(sql).unwrap();
    for name in statement.query_map([worker], |row| row.get::<_, String>(0)).unwrap() {
        let name = name.unwrap();
        let shard = name.trim_start_matches("Shard").split('.').next().unwrap().parse().unwrap();
        *shards.entry(shard).or_insert(0) += 1;
    }
    shards
}

/// Starts a child, kills it as soon as it has recorded `shards` and `delay` has passed, and gives the shards
/// that it said to have recorded.
fn killed(project: &Project, worker: &str, shards: usize, delay: Duration) -> BTreeSet<usize> {
    let role = format!("record {} {worker} {ENDLESS}", project.directory().display());
    let mut child = Killed(child_command(&[], &role).spawn().expect("the child starts"));
    let mut lines = BufReader::new(child.0.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut output = String::new();
    while said(&output, "recorded").len() < shards {
        output += &lines.next().expect("the child records until it is killed");
        output.push('\n');
    }
    thread::sleep(delay);
    drop(child);
    // What it said after the last line that was waited for, up to its death; a cut line is no promise.
    output.extend(lines.map(|line| line + "\n"));
    said(&output, "recorded").iter().filter_map(|shard| shard.parse().ok()).collect()
}

#[test]
fn a_process_killed_at_any_moment_leaves_what_it_recorded_and_nothing_half() {
    let project = Project::new();
    let mut expected_unfinished = 0;
    // Early kills fall into the making of the store, the later ones into records and copies of the log.
    for (round, delay) in [0, 3, 7, 12, 20, 30, 0, 1, 2, 4, 8, 16].into_iter().enumerate() {
        let worker = format!("w{round}");
        let wait_for = if round < 6 { 0 } else { 5 * (round - 5) };
        let promised = killed(&project, &worker, wait_for, Duration::from_millis(delay));
        let store = project.store();
        let found = shards_found(&project, &worker);
        for shard in &promised {
            assert_eq!(found.get(shard), Some(&SHARD), "round {round}: shard {shard} was recorded");
            let (key, content) = blob_of(&worker, *shard);
            assert!(store.blobs("summary", &[key]).unwrap()[&key] == content, "round {round}: blob {shard}");
        }
        assert!(found.values().all(|count| *count == SHARD), "round {round}: {found:?}");
        assert!(found.len() <= promised.len() + 1, "round {round}: {found:?}, promised {promised:?}");
        let status = store.status().unwrap();
        assert_eq!(status.unfinished_runs, status.runs);
        assert!(promised.is_empty() || status.runs > expected_unfinished, "round {round}");
        expected_unfinished = status.unfinished_runs;
        project.assert_sound();
    }
    assert!(expected_unfinished >= 6);
}

#[test]
fn processes_that_record_and_collect_at_the_same_time_lose_nothing() {
    const WORKERS: usize = 4;
    const SHARDS: usize = 12;
    let project = Project::new();
    let directory = project.directory();
    let start = Instant::now();
    let workers: Vec<String> = (0..WORKERS).map(|worker| format!("w{worker}")).collect();
    let roles = workers
        .iter()
        .map(|worker| format!("record {} {worker} {SHARDS}", directory.display()))
        .chain([format!("gc {} 10", directory.display())]);
    let children: Vec<Child> =
        roles.map(|role| child_command(&[], &role).spawn().expect("the child starts")).collect();
    let outputs: Vec<_> = children.into_iter().map(Child::wait_with_output).collect();
    for output in outputs {
        let output = output.expect("the child ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let complete: BTreeMap<usize, usize> = (0..SHARDS).map(|shard| (shard, SHARD)).collect();
    for worker in &workers {
        assert_eq!(shards_found(&project, worker), complete, "{worker}");
    }
    let status = project.store().status().unwrap();
    assert_eq!((status.states, status.runs), (WORKERS as u64, WORKERS as u64));
    assert_eq!((status.unfinished_runs, status.outcomes), (0, (WORKERS * SHARDS * SHARD) as u64));
    project.assert_sound();
    assert!(start.elapsed() < Duration::from_secs(30), "they wait for each other, but not for long");
}

#[test]
fn a_process_reads_one_consistent_state_while_others_write() {
    let project = Project::new();
    let store = project.store();
    let role = format!("record {} w {ENDLESS}", project.directory().display());
    let child = Killed(child_command(&[], &role).stdout(Stdio::null()).spawn().expect("the child starts"));
    let start = Instant::now();
    let mut seen = 0;
    while seen < 10 * SHARD as u64 {
        assert!(start.elapsed() < Duration::from_secs(20), "the child records nothing");
        let status = store.status().unwrap();
        let by_verdict: u64 = status.last_run.iter().flat_map(|run| run.verdicts.values()).sum();
        assert_eq!(by_verdict, status.outcomes);
        assert_eq!(status.outcomes % SHARD as u64, 0);
        seen = status.outcomes;
    }
    drop(child);
}
