//! Times of the store's operations at the size of a large project: 500 objects, 10,000 tests, 60 runs.
//! `cargo run --release -p fewer-store --example throughput [DIRECTORY]`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fewer_core::{Digest, Outcome, TestId, Verdict};
use fewer_store::{GcOptions, ManifestEntry, OwnerKey, RunEnd, RunInfo, StateRecord, Store};

const OBJECTS: u128 = 500;
const TESTS: usize = 10_000;
const RUNS: u128 = 60;
const SHARD: usize = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let temporary = tempfile::tempdir()?;
    let directory = std::env::args().nth(1).map_or_else(|| temporary.path().join(".fewer"), PathBuf::from);
    let key = OwnerKey::passing()?;
    let store = timed("open a new store", || Store::open(&directory, key.clone()))?;
    let keys = blobs(&store, &directory, &key)?;
    history(&store, &keys)?;
    let fingerprint = |run: u128, test: usize| Digest(run / 10 * (test as u128 % 10) + 1);
    let tests: Vec<(TestId, Digest)> =
        (0..TESTS).map(|test| (id(test), fingerprint(RUNS - 1, test))).collect();
    drop(store);
    let store = timed("open it again", || Store::open(&directory, key.clone()))?;
    let records = timed("records of 10,000 tests, cold", || store.records(&tests))?;
    timed("records of 10,000 tests, warm", || store.records(&tests))?;
    let outcomes: usize = records.values().map(|record| record.same_fingerprint.len()).sum();
    println!("{:>12} outcomes of the same fingerprint", outcomes);
    let status = timed("status", || store.status())?;
    println!("{:>12} bytes, {} outcomes", status.bytes, status.outcomes);
    let latest = store.latest_state()?.ok_or("no state")?;
    timed("read a state", || store.state(latest.id))?;
    let report = timed("gc", || store.gc(&GcOptions { keep_states: 10, older_than: None }))?;
    println!("{report:?}");
    Ok(())
}

fn blobs(store: &Store, directory: &Path, key: &OwnerKey) -> Result<Vec<Digest>, Box<dyn Error>> {
    // 10 to 490 KB, incompressible enough.
    let blobs: Vec<(Digest, Vec<u8>)> = (0..OBJECTS)
        .map(|object| {
            let length = 10_000 + (object * 7919 % 480_000) as usize;
            (Digest(object * 0x9e37_79b9_7f4a_7c15), (0..length).map(|byte| (byte * 31) as u8).collect())
        })
        .collect();
    let bytes: usize = blobs.iter().map(|(_, content)| content.len()).sum();
    println!("{:>12} bytes in {OBJECTS} blobs", bytes);
    timed("put all blobs", || store.put_blobs("summary", &blobs))?;
    timed("put them again", || store.put_blobs("summary", &blobs))?;
    let keys: Vec<Digest> = blobs.iter().map(|(key, _)| *key).collect();
    timed("read all blobs", || store.blobs("summary", &keys))?;
    let fresh = Store::open(directory, key.clone())?;
    let read = timed("read all blobs, new connection", || fresh.blobs("summary", &keys))?;
    assert_eq!(read.len(), blobs.len());
    Ok(keys)
}

/// Every tenth run changes the fingerprints of nine tests in ten.
fn history(store: &Store, keys: &[Digest]) -> Result<(), Box<dyn Error>> {
    let manifest: Vec<ManifestEntry> = keys
        .iter()
        .enumerate()
        .map(|(index, key)| ManifestEntry {
            kind: "summary".into(),
            name: format!("src/module_{}/object_{index}.o", index / 20),
            key: *key,
        })
        .collect();
    let (mut states, mut recording) = (0.0, 0.0);
    for run in 0..RUNS {
        let snapshot =
            (0..TESTS).map(|test| (id(test), Digest(run / 10 * (test as u128 % 10) + 1))).collect();
        let state = StateRecord {
            commit: Some(format!("{run:040x}")),
            dirty: false,
            worktree: Digest(run),
            manifest: manifest.clone(),
            snapshot,
        };
        let start = Instant::now();
        let state_id = store.record_state(&state)?;
        states += start.elapsed().as_secs_f64();
        let run_id = store.begin_run(state_id, &RunInfo::now("here", "fewer run --all"))?;
        let outcomes: Vec<(TestId, Digest, Outcome)> = state
            .snapshot
            .into_iter()
            .map(|(test, fingerprint)| {
                let verdict = if test.name.ends_with("77") { Verdict::Failed } else { Verdict::Passed };
                (test, fingerprint, Outcome { verdict, duration_s: 0.01, output_tail: String::new() })
            })
            .collect();
        let start = Instant::now();
        for shard in outcomes.chunks(SHARD) {
            store.record_outcomes(run_id, shard)?;
        }
        recording += start.elapsed().as_secs_f64();
        store.finish_run(run_id, RunEnd::Completed)?;
    }
    println!("{:>9.1} ms record a state of 10,000 tests (mean of {RUNS})", states * 1e3 / RUNS as f64);
    let shards = RUNS as f64 * TESTS.div_ceil(SHARD) as f64;
    println!("{:>9.1} ms record a shard of {SHARD} outcomes (mean of {shards})", recording * 1e3 / shards);
    Ok(())
}

fn id(test: usize) -> TestId {
    TestId::new(format!("tests/target_{}_test", test / 200), format!("Suite{}.Test{test:05}", test / 20))
}

/// Prints the time on the clock and on the processor: the first waits for the disk and for other processes.
fn timed<T, E>(what: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let (start, start_cpu) = (Instant::now(), cpu_ms());
    let result = work();
    let (clock, cpu) = (start.elapsed().as_secs_f64() * 1e3, cpu_ms() - start_cpu);
    println!("{clock:>9.1} ms, {cpu:>7.1} ms cpu: {what}");
    result
}

/// The processor time of this thread.
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|field| field.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e6
}
