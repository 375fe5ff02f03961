//! What is recorded, in figures: for `fewer status`. How it is shown is the reports' business.

use std::collections::BTreeMap;

use fewer_core::{Digest, TestId, Verdict};
use jiff::Timestamp;
use rusqlite::Connection;
use serde::Serialize;

use crate::column::{Key, VerdictWord, count};
use crate::error::{StoreError, StoreErrorKind};
use crate::run::{RUN_COLUMNS, RunEnd, RunId, RunRow, run_row};
use crate::state::StateId;
use crate::store::Store;

/// The contents of a store.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Status {
    pub states: u64,
    /// Tests with an outcome.
    pub tests: u64,
    pub outcomes: u64,
    pub runs: u64,
    /// Runs without an end: still running, or killed.
    pub unfinished_runs: u64,
    /// On the disk, the write-ahead log included.
    pub bytes: u64,
    pub last_run: Option<RunStatus>,
    /// Sorted by test and fingerprint.
    pub flaky: Vec<FlakyTest>,
}

/// One run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RunStatus {
    pub id: RunId,
    /// The state it ran on, as far as it is still recorded.
    pub state: Option<StateId>,
    pub commit: Option<String>,
    pub dirty: bool,
    pub machine: String,
    pub command: String,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// `None`: still running, or killed.
    pub end: Option<RunEnd>,
    /// How many of its outcomes are recorded, by verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
}

/// A test that passed and failed with one and the same content.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FlakyTest {
    pub id: TestId,
    pub fingerprint: Digest,
    pub passed: u64,
    pub failed: u64,
    /// Whether this is its fingerprint in the newest state.
    pub current: bool,
}

impl Store {
    /// What is recorded.
    pub fn status(&self) -> Result<Status, StoreError> {
        let bytes = self.size();
        self.read(|connection| {
            let rows = |table: &str| -> Result<u64, StoreErrorKind> {
                let sql = format!("SELECT count(*) FROM {table}");
                Ok(connection.query_row(&sql, [], |row| count(row, 0))?)
            };
            Ok(Status {
                states: rows("state")?,
                tests: rows("test")?,
                outcomes: rows("outcome")?,
                runs: rows("run")?,
                unfinished_runs: rows("run WHERE ending IS NULL")?,
                bytes,
                last_run: last_run(self, connection)?,
                flaky: flaky(self, connection)?,
            })
        })
    }
}

fn last_run(store: &Store, connection: &Connection) -> Result<Option<RunStatus>, StoreErrorKind> {
    let Some((row, run)) = newest_run(store, connection)? else { return Ok(None) };
    let states = store.recencies(connection)?;
    let ending = run.ending;
    let mut run = RunStatus {
        id: run.id,
        state: Some(run.state).filter(|state| states.contains_key(&state.0)),
        commit: run.commit,
        dirty: run.dirty,
        machine: run.machine,
        command: run.command,
        started_at: run.started_at.0,
        ended_at: run.ended_at.map(|moment| moment.0),
        end: None,
        verdicts: BTreeMap::new(),
    };
    run.end = match ending {
        None => None,
        Some(word) => Some(RunEnd::from_word(&word).ok_or_else(|| StoreErrorKind::Damaged {
            detail: format!("'{word}' is not the end of a run"),
        })?),
    };
    let mut statement = connection.prepare(
        "SELECT verdict, count(*) FROM outcome INDEXED BY outcome_by_run WHERE run = ? GROUP BY verdict",
    )?;
    run.verdicts = statement
        .query_map([row], |row| {
            let verdict: VerdictWord = row.get(0)?;
            Ok((verdict.0, count(row, 1)?))
        })?
        .collect::<Result<_, _>>()?;
    Ok(Some(run))
}

/// With its row.
fn newest_run(store: &Store, connection: &Connection) -> Result<Option<(i64, RunRow)>, StoreErrorKind> {
    let mut statement = connection.prepare(&format!("SELECT {RUN_COLUMNS} FROM run ORDER BY id DESC"))?;
    for run in statement.query_map([], run_row)? {
        let (row, run, mac) = run?;
        if let Some(run) = store.own_run(row, run, mac) {
            return Ok(Some((row, run)));
        }
    }
    Ok(None)
}

/// Failures are few: only their fingerprints are looked at again.
fn flaky(store: &Store, connection: &Connection) -> Result<Vec<FlakyTest>, StoreErrorKind> {
    let newest = store.newest_snapshot(connection)?;
    let mut statement = connection.prepare(
        "WITH failed AS (
            SELECT test, fingerprint, count(*) AS failures FROM outcome INDEXED BY outcome_failed
            WHERE verdict IN ('failed', 'crashed', 'timed-out') GROUP BY test, fingerprint
         )
         SELECT test.target, test.name, failed.fingerprint, failed.failures, (
            SELECT count(*) FROM outcome INDEXED BY outcome_by_content
            WHERE outcome.test = failed.test AND outcome.fingerprint = failed.fingerprint
                AND outcome.verdict = 'passed'
         ) AS passes
         FROM failed JOIN test ON test.id = failed.test WHERE passes > 0",
    )?;
    let mut tests: Vec<FlakyTest> = statement
        .query_map([], |row| {
            let id = TestId { target: row.get(0)?, name: row.get(1)? };
            let fingerprint: Key = row.get(2)?;
            Ok(FlakyTest {
                current: newest.get(&id) == Some(&fingerprint.0),
                id,
                fingerprint: fingerprint.0,
                failed: count(row, 3)?,
                passed: count(row, 4)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    tests.sort_by(|a, b| (&a.id, a.fingerprint).cmp(&(&b.id, b.fingerprint)));
    Ok(tests)
}
