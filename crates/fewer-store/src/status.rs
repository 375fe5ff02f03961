//! What is recorded, in figures: for `fewer status`. How it is shown is the reports' business.

use std::collections::BTreeMap;

use fewer_core::{Digest, TestId, Verdict};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;

use crate::column::{Key, Moment, VerdictWord, count};
use crate::error::{StoreError, StoreErrorKind};
use crate::run::{RunEnd, RunId};
use crate::state::{StateId, newest_snapshot};
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
                last_run: last_run(connection)?,
                flaky: flaky(connection)?,
            })
        })
    }
}

fn last_run(connection: &Connection) -> Result<Option<RunStatus>, StoreErrorKind> {
    let found = connection
        .query_row(
            "SELECT run.id, run.key, state.key, run.commit_id, run.dirty, run.machine, run.command,
                run.started_at, run.ended_at, run.ending
             FROM run LEFT JOIN state ON state.id = run.state ORDER BY run.id DESC LIMIT 1",
            [],
            run_row,
        )
        .optional()?;
    let Some((row, mut run, ending)) = found else { return Ok(None) };
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

/// A run with its row and the word of its end, which is still to be understood.
fn run_row(row: &Row<'_>) -> rusqlite::Result<(i64, RunStatus, Option<String>)> {
    let (id, state): (Key, Option<Key>) = (row.get(1)?, row.get(2)?);
    let (started_at, ended_at): (Moment, Option<Moment>) = (row.get(7)?, row.get(8)?);
    let run = RunStatus {
        id: RunId(id.0),
        state: state.map(|state| StateId(state.0)),
        commit: row.get(3)?,
        dirty: row.get(4)?,
        machine: row.get(5)?,
        command: row.get(6)?,
        started_at: started_at.0,
        ended_at: ended_at.map(|moment| moment.0),
        end: None,
        verdicts: BTreeMap::new(),
    };
    Ok((row.get(0)?, run, row.get(9)?))
}

/// Failures are few: only their fingerprints are looked at again.
fn flaky(connection: &Connection) -> Result<Vec<FlakyTest>, StoreErrorKind> {
    let newest = newest_snapshot(connection)?;
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
