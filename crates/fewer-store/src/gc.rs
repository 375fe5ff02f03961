//! Dropping what is old: states beyond the newest, and what only they referred to. What a kept state needs stays,
//! and so does every outcome that a plan for a kept state rests on: no test is skipped because of it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use fewer_core::{Digest, TestId, Verdict};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use crate::blob::UNREFERENCED_LIFE;
use crate::chunk::Entry;
use crate::column::{Key, Moment};
use crate::error::{StoreError, StoreErrorKind};
use crate::record::{OutcomeRow, outcome_row};
use crate::run::{RUN_COLUMNS, RunId, run_row};
use crate::state::{ListsRow, chunk_keys};
use crate::store::Store;

/// A run without an end that began longer ago was killed; its outcomes are then as old as others.
const UNFINISHED_LIFE: Duration = Duration::from_secs(24 * 3600);
/// Pages given back in one transaction, so that another process can write in between.
const PAGES_AT_ONCE: u32 = 2000;

/// What to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GcOptions {
    /// The newest states are kept: this many.
    pub keep_states: u32,
    /// Of the others, those recorded within this time are kept too.
    pub older_than: Option<Duration>,
}

/// What was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct GcReport {
    pub states: u64,
    pub runs: u64,
    pub outcomes: u64,
    pub tests: u64,
    pub chunks: u64,
    pub blobs: u64,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

impl GcReport {
    pub fn rows(&self) -> u64 {
        self.states + self.runs + self.outcomes + self.tests + self.chunks + self.blobs
    }

    pub fn bytes_freed(&self) -> u64 {
        self.bytes_before.saturating_sub(self.bytes_after)
    }
}

impl Store {
    /// Drops what `options` do not keep, in one transaction, and gives the space back to the file system.
    ///
    /// Of the outcomes these stay: per test and fingerprint of a kept state the newest pass, the newest failure
    /// and the newest other one; the same for the fingerprint of each test's newest outcome, and for those of a
    /// run that is under way; the newest failure of each test. Blobs that no state refers to, and what is kept beside the
    /// database, stay for a day after their last use.
    pub fn gc(&self, options: &GcOptions) -> Result<GcReport, StoreError> {
        let bytes_before = self.size();
        // With them a table could not be emptied at once; what refers to a dropped row is dropped here.
        self.enforce_references(false)?;
        let dropped = self.write(|connection| drop_all(self, connection, options));
        self.enforce_references(true)?;
        let mut report = dropped?;
        report.blobs += self.drop_kept()?;
        self.give_back().map_err(|kind| self.failed(kind))?;
        report.bytes_before = bytes_before;
        report.bytes_after = self.size();
        Ok(report)
    }

    fn enforce_references(&self, enforce: bool) -> Result<(), StoreError> {
        self.connection()
            .pragma_update(None, "foreign_keys", enforce)
            .map_err(|error| self.failed(error.into()))
    }

    /// Moves free pages out of the file and empties the log into it, as far as others let it.
    fn give_back(&self) -> Result<(), StoreErrorKind> {
        let connection = self.connection();
        let free = || connection.query_row("PRAGMA freelist_count", [], |row| row.get::<_, u32>(0));
        let mut before = free()?;
        while before > 0 {
            // One row per page, which is moved when the row is asked for.
            let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"))?;
            let mut pages = vacuum.query([])?;
            while pages.next()?.is_some() {}
            let after = free()?;
            if after >= before {
                break;
            }
            before = after;
        }
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

fn drop_all(store: &Store, connection: &Connection, options: &GcOptions) -> Result<GcReport, StoreErrorKind> {
    let states = drop_states(store, connection, options)?;
    let mut needed = Needed::by_states(store, connection)?;
    needed.add_newest(connection)?;
    Ok(GcReport {
        states,
        chunks: drop_chunks(connection, &needed)?,
        blobs: drop_blobs(connection, &needed)?,
        outcomes: drop_outcomes(store, connection, &needed)?,
        runs: drop_runs(connection)?,
        tests: drop_tests(connection)?,
        ..GcReport::default()
    })
}

/// What the states that are left refer to.
#[derive(Default)]
struct Needed {
    chunks: HashSet<Digest>,
    blobs: HashMap<String, HashSet<Digest>>,
    /// Rows of tests.
    tests: HashSet<i64>,
    /// Tests with a fingerprint, of those with an outcome.
    contents: HashSet<(i64, Digest)>,
}

impl Needed {
    fn by_states(store: &Store, connection: &Connection) -> Result<Needed, StoreErrorKind> {
        let mut needed = Needed::default();
        let mut snapshots = BTreeSet::new();
        for ListsRow { manifest, snapshot, .. } in store.all_lists(connection)? {
            for key in chunk_keys(&manifest)? {
                if needed.chunks.insert(key) {
                    needed.add_blobs(store.read_chunk(connection, key)?);
                }
            }
            snapshots.extend(chunk_keys(&snapshot)?);
        }
        needed.add_tests(store, connection, &snapshots)?;
        needed.chunks.extend(snapshots);
        Ok(needed)
    }

    fn add_blobs(&mut self, manifest: Vec<Entry>) {
        for entry in manifest {
            match self.blobs.get_mut(&entry.group) {
                Some(keys) => _ = keys.insert(entry.digest),
                None => _ = self.blobs.insert(entry.group, HashSet::from([entry.digest])),
            }
        }
    }

    fn add_tests(
        &mut self,
        store: &Store,
        connection: &Connection,
        snapshots: &BTreeSet<Digest>,
    ) -> Result<(), StoreErrorKind> {
        let rows: HashMap<TestId, i64> = connection
            .prepare("SELECT target, name, id FROM test")?
            .query_map([], |row| Ok((TestId { target: row.get(0)?, name: row.get(1)? }, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        let recorded: HashSet<(i64, Digest)> = connection
            .prepare("SELECT DISTINCT test, fingerprint FROM outcome INDEXED BY outcome_by_content")?
            .query_map([], |row| Ok((row.get(0)?, row.get::<_, Key>(1)?.0)))?
            .collect::<Result<_, _>>()?;
        for &key in snapshots {
            for entry in store.read_chunk(connection, key)? {
                let Some(&test) = rows.get(&TestId { target: entry.group, name: entry.name }) else {
                    continue;
                };
                self.tests.insert(test);
                if recorded.contains(&(test, entry.digest)) {
                    self.contents.insert((test, entry.digest));
                }
            }
        }
        Ok(())
    }

    /// What stays although no state has it: outcomes of runs under way, and the newest of each test. With all
    /// evidence of the same content: a pass must not lose the failure that makes it flaky.
    fn add_newest(&mut self, connection: &Connection) -> Result<(), StoreErrorKind> {
        let content = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, Key>(1)?.0));
        let mut under_way = connection.prepare(
            "SELECT test, fingerprint FROM run JOIN outcome INDEXED BY outcome_by_run ON outcome.run = run.id
             WHERE run.ending IS NULL AND run.started_at >= ?",
        )?;
        for outcome in under_way.query_map([Moment(before_now(UNFINISHED_LIFE))], content)? {
            self.contents.insert(outcome?);
        }
        let mut last = connection.prepare(
            "SELECT test, fingerprint FROM outcome INDEXED BY outcome_by_test
             WHERE test = ? ORDER BY id DESC LIMIT 1",
        )?;
        for test in &self.tests {
            self.contents.extend(last.query_row([test], content).optional()?);
        }
        Ok(())
    }
}

/// Everything older than the oldest state that is kept for its rank or its age, so that what is left is newer
/// than what is gone, whatever the clocks said; and what another wrote.
fn drop_states(store: &Store, connection: &Connection, options: &GcOptions) -> Result<u64, StoreErrorKind> {
    let recent = options.older_than.map_or(Timestamp::MAX, before_now);
    let oldest_kept: Option<i64> = connection.query_row(
        "SELECT min(recency) FROM state WHERE recorded_at >= ?1
            OR id IN (SELECT id FROM state ORDER BY recency DESC LIMIT ?2)",
        params![Moment(recent), options.keep_states],
        |row| row.get(0),
    )?;
    let dropped =
        connection.execute("DELETE FROM state WHERE recency < ?", [oldest_kept.unwrap_or(i64::MAX)])?;
    let own: HashSet<i64> = store.all_lists(connection)?.into_iter().map(|lists| lists.row).collect();
    let left = connection
        .prepare("SELECT id FROM state")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    let strange: Vec<i64> = left.into_iter().filter(|row| !own.contains(row)).collect();
    Ok(dropped as u64 + drop_rows(connection, "state", &strange)?)
}

fn drop_chunks(connection: &Connection, needed: &Needed) -> Result<u64, StoreErrorKind> {
    let mut unneeded = Vec::new();
    let mut statement = connection.prepare("SELECT id, key FROM chunk")?;
    let mut chunks = statement.query([])?;
    while let Some(chunk) = chunks.next()? {
        let key: Key = chunk.get(1)?;
        if !needed.chunks.contains(&key.0) {
            unneeded.push(chunk.get(0)?);
        }
    }
    drop_rows(connection, "chunk", &unneeded)
}

fn drop_blobs(connection: &Connection, needed: &Needed) -> Result<u64, StoreErrorKind> {
    let recent = Moment(before_now(UNREFERENCED_LIFE));
    let mut unneeded = Vec::new();
    let mut statement = connection.prepare(
        "SELECT blob.id, blob.kind, blob.key FROM blob LEFT JOIN blob_use ON blob_use.blob = blob.id
         WHERE ifnull(blob_use.used_at, 0) < ?",
    )?;
    let mut blobs = statement.query([recent])?;
    while let Some(blob) = blobs.next()? {
        let (kind, key): (String, Key) = (blob.get(1)?, blob.get(2)?);
        if !needed.blobs.get(&kind).is_some_and(|keys| keys.contains(&key.0)) {
            unneeded.push(blob.get(0)?);
        }
    }
    let dropped = drop_rows(connection, "blob", &unneeded)?;
    connection.execute("DELETE FROM blob_use WHERE blob NOT IN (SELECT id FROM blob)", [])?;
    Ok(dropped)
}

/// What an outcome is evidence of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Evidence {
    Pass,
    Failure,
    Other,
}

impl Evidence {
    fn of(verdict: Verdict) -> Evidence {
        match verdict {
            Verdict::Passed => Evidence::Pass,
            Verdict::Failed | Verdict::Crashed | Verdict::TimedOut => Evidence::Failure,
            Verdict::Skipped | Verdict::Excluded | Verdict::Inconclusive => Evidence::Other,
        }
    }
}

/// Goes from the newest outcome to the oldest and keeps the first of each kind.
fn drop_outcomes(store: &Store, connection: &Connection, needed: &Needed) -> Result<u64, StoreErrorKind> {
    let (mut last_failure, mut same) = (HashSet::new(), HashSet::new());
    let (mut kept, mut unneeded) = (Vec::new(), Vec::new());
    let mut statement = connection.prepare(
        "SELECT id, fingerprint, run, at, verdict, duration_s, mac, test FROM outcome ORDER BY id DESC",
    )?;
    let authors = Authors::read(store, connection)?;
    let mut outcomes = statement.query([])?;
    while let Some(outcome) = outcomes.next()? {
        let (row, test) = (outcome_row(outcome)?, outcome.get(7)?);
        let (id, fingerprint, evidence) = (row.id, row.facts.fingerprint, Evidence::of(row.facts.verdict));
        if !authors.wrote(&row, test) {
            unneeded.push(id);
            continue;
        }
        let is_last_failure =
            needed.tests.contains(&test) && evidence == Evidence::Failure && last_failure.insert(test);
        let is_evidence =
            needed.contents.contains(&(test, fingerprint)) && same.insert((test, fingerprint, evidence));
        if is_last_failure || is_evidence { &mut kept } else { &mut unneeded }.push(id);
    }
    if unneeded.len() <= kept.len() {
        drop_rows(connection, "outcome", &unneeded)?;
    } else {
        keep_outcomes(connection, &kept)?;
    }
    if !unneeded.is_empty() {
        connection.execute("DELETE FROM output WHERE outcome NOT IN (SELECT id FROM outcome)", [])?;
    }
    Ok(unneeded.len() as u64)
}

/// What outcomes refer to, to tell who wrote them.
struct Authors<'s> {
    store: &'s Store,
    tests: HashMap<i64, TestId>,
    runs: HashMap<i64, RunId>,
}

impl Authors<'_> {
    fn read<'s>(store: &'s Store, connection: &Connection) -> Result<Authors<'s>, StoreErrorKind> {
        let tests = connection
            .prepare("SELECT id, target, name FROM test")?
            .query_map([], |row| Ok((row.get(0)?, TestId { target: row.get(1)?, name: row.get(2)? })))?
            .collect::<Result<_, _>>()?;
        let mut runs = HashMap::new();
        for run in connection.prepare(&format!("SELECT {RUN_COLUMNS} FROM run"))?.query_map([], run_row)? {
            let (row, run, mac) = run?;
            runs.extend(store.own_run(row, run, mac).map(|run| (row, run.id)));
        }
        Ok(Authors { store, tests, runs })
    }

    fn wrote(&self, row: &OutcomeRow, test: i64) -> bool {
        let (Some(test), Some(run)) = (self.tests.get(&test), self.runs.get(&row.run)) else { return false };
        row.facts.mac(&self.store.owner.seal, test, *run) == row.mac
    }
}

/// Empties the table, which takes no time, and writes back what is kept. Removing a million rows from all
/// indices one by one would keep other processes waiting for too long.
fn keep_outcomes(connection: &Connection, ids: &[i64]) -> Result<(), StoreErrorKind> {
    connection.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM outcome LIMIT 0")?;
    let mut keep = connection.prepare("INSERT INTO kept SELECT * FROM outcome WHERE id = ?")?;
    for id in ids.iter().rev() {
        keep.execute([id])?;
    }
    connection.execute_batch(
        "DELETE FROM main.outcome; INSERT INTO main.outcome SELECT * FROM kept; DROP TABLE temp.kept;",
    )?;
    Ok(())
}

/// Those whose state and outcomes are gone, and that are not under way.
fn drop_runs(connection: &Connection) -> Result<u64, StoreErrorKind> {
    let dropped = connection.execute(
        "DELETE FROM run WHERE state NOT IN (SELECT key FROM state) AND id NOT IN (SELECT run FROM outcome)
            AND (ending IS NOT NULL OR started_at < ?)",
        [Moment(before_now(UNFINISHED_LIFE))],
    )?;
    Ok(dropped as u64)
}

fn drop_tests(connection: &Connection) -> Result<u64, StoreErrorKind> {
    Ok(connection.execute("DELETE FROM test WHERE id NOT IN (SELECT test FROM outcome)", [])? as u64)
}

fn drop_rows(connection: &Connection, table: &str, ids: &[i64]) -> Result<u64, StoreErrorKind> {
    let mut delete = connection.prepare(&format!("DELETE FROM {table} WHERE id = ?"))?;
    for id in ids {
        delete.execute([id])?;
    }
    Ok(ids.len() as u64)
}

fn before_now(time: Duration) -> Timestamp {
    Timestamp::now().saturating_sub(time).unwrap_or(Timestamp::MIN)
}
