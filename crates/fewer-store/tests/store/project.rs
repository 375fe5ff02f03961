//! A temporary project with a store, and short ways to record something in it.

use std::fs;
use std::path::PathBuf;

use fewer_core::{Digest, Outcome, TestId, Verdict};
use fewer_store::{OwnerKey, RunEnd, RunId, RunInfo, StateId, StateRecord, Store};
use tempfile::TempDir;

pub(crate) struct Project {
    root: TempDir,
}

impl Project {
    pub(crate) fn new() -> Project {
        Project { root: tempfile::tempdir().expect("a temporary directory") }
    }

    /// In memory where the machine has such a directory: for tests that write often and prove nothing about
    /// durability.
    pub(crate) fn in_memory() -> Project {
        Project { root: tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| Project::new().root) }
    }

    pub(crate) fn root(&self) -> &std::path::Path {
        self.root.path()
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.root.path().join(".fewer")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.directory().join("store.sqlite")
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.directory(), key()).expect("the store opens")
    }

    /// The message with which the store is refused.
    pub(crate) fn refusal(&self) -> String {
        match Store::open(&self.directory(), key()) {
            Ok(_) => panic!("the store opened, but should have been refused"),
            Err(error) => error.to_string(),
        }
    }

    /// The database, past the store.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).expect("the database opens")
    }

    /// Writes a file in the place of the store.
    pub(crate) fn write_file(&self, content: &[u8]) {
        fs::create_dir_all(self.directory()).expect("the directory is made");
        fs::write(self.file(), content).expect("the file is written");
    }

    pub(crate) fn read_file(&self) -> Vec<u8> {
        fs::read(self.file()).expect("the file is read")
    }

    /// SQLite's own check of the structure, and of all references between tables.
    pub(crate) fn assert_sound(&self) {
        let database = self.database();
        let check: String =
            database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("the check runs");
        assert_eq!(check, "ok");
        let mut statement = database.prepare("PRAGMA foreign_key_check").expect("the check exists");
        assert!(!statement.exists([]).expect("the check runs"), "a reference leads nowhere");
    }
}

/// The key of whoever records in these tests.
pub(crate) fn key() -> OwnerKey {
    OwnerKey::from_text("the key of those who record in tests").expect("is long enough")
}

pub(crate) fn test(name: &str) -> TestId {
    TestId::new("unit/core_test", name)
}

pub(crate) fn outcome(verdict: Verdict) -> Outcome {
    Outcome { verdict, duration_s: 0.25, output_tail: String::new() }
}

/// A clean state of a commit; its working tree follows from the commit.
pub(crate) fn state(commit: &str, tests: &[(&str, u128)]) -> StateRecord {
    StateRecord {
        commit: Some(commit.to_string()),
        dirty: false,
        worktree: Digest(commit.bytes().fold(7, |hash, byte| hash * 31 + u128::from(byte))),
        manifest: Vec::new(),
        snapshot: tests.iter().map(|(name, fingerprint)| (test(name), Digest(*fingerprint))).collect(),
    }
}

pub(crate) fn info() -> RunInfo {
    RunInfo::now("here", "fewer run")
}

/// A state and a completed run in it with an outcome for each of its tests.
pub(crate) fn ran(store: &Store, commit: &str, tests: &[(&str, u128, Verdict)]) -> (StateId, RunId) {
    let snapshot: Vec<(&str, u128)> =
        tests.iter().map(|(name, fingerprint, _)| (*name, *fingerprint)).collect();
    let state = store.record_state(&state(commit, &snapshot)).expect("the state is recorded");
    let run = store.begin_run(state, &info()).expect("the run begins");
    let outcomes: Vec<(TestId, Digest, Outcome)> = tests
        .iter()
        .map(|(name, fingerprint, verdict)| (test(name), Digest(*fingerprint), outcome(*verdict)))
        .collect();
    store.record_outcomes(run, &outcomes).expect("the outcomes are recorded");
    store.finish_run(run, RunEnd::Completed).expect("the run ends");
    (state, run)
}
