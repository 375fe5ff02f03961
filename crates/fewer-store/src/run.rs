//! Runs and the outcomes they record. An outcome is on the disk when it has been recorded; a run that never
//! ended stays visible as such. Reading outcomes back is done in `record`.

use std::fmt;

use fewer_core::{Digest, Outcome, TestId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Statement, params};
use serde::Serialize;

use crate::column::{Key, Moment, VerdictWord};
use crate::error::{StoreError, StoreErrorKind};
use crate::state::StateId;
use crate::store::Store;

/// How many bytes of a test's output are kept: the last ones.
pub const OUTPUT_TAIL_LIMIT: usize = 16 << 10;

/// A run, unique among all machines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct RunId(pub Digest);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where, when and how a run began.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunInfo {
    /// The host name.
    pub machine: String,
    pub started_at: Timestamp,
    /// As the user typed it. Example: `fewer run --all`.
    pub command: String,
}

impl RunInfo {
    /// A run that begins now.
    pub fn now(machine: impl Into<String>, command: impl Into<String>) -> RunInfo {
        RunInfo { machine: machine.into(), started_at: Timestamp::now(), command: command.into() }
    }
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// Every test that was due has its outcome, good or bad.
    Completed,
    /// The user stopped it.
    Interrupted,
    /// It could not go on: a tool was missing, the disk was full.
    Aborted,
}

impl RunEnd {
    pub const ALL: [RunEnd; 3] = [RunEnd::Completed, RunEnd::Interrupted, RunEnd::Aborted];

    /// The word used in JSON, in the store and in messages.
    pub fn word(self) -> &'static str {
        match self {
            RunEnd::Completed => "completed",
            RunEnd::Interrupted => "interrupted",
            RunEnd::Aborted => "aborted",
        }
    }

    /// The inverse of [`RunEnd::word`].
    pub fn from_word(word: &str) -> Option<RunEnd> {
        RunEnd::ALL.into_iter().find(|end| end.word() == word)
    }
}

impl Store {
    /// Begins a run on a recorded state.
    pub fn begin_run(&self, state: StateId, info: &RunInfo) -> Result<RunId, StoreError> {
        self.write(|connection| {
            let key: Option<Key> = connection
                .prepare_cached(
                    "INSERT INTO run (key, state, commit_id, dirty, machine, command, started_at)
                     SELECT randomblob(16), id, commit_id, dirty, ?, ?, ? FROM state WHERE key = ?
                     RETURNING key",
                )?
                .query_row(
                    params![info.machine, info.command, Moment(info.started_at), Key(state.0)],
                    |row| row.get(0),
                )
                .optional()?;
            key.map(|key| RunId(key.0)).ok_or(StoreErrorKind::UnknownState(state))
        })
    }

    /// Records outcomes of a run, all or none; they are on the disk when this returns. A long output is kept
    /// from its end, up to [`OUTPUT_TAIL_LIMIT`].
    pub fn record_outcomes(
        &self,
        run: RunId,
        outcomes: &[(TestId, Digest, Outcome)],
    ) -> Result<(), StoreError> {
        if outcomes.is_empty() {
            return Ok(());
        }
        self.write(|connection| {
            let run_row: Option<i64> = connection
                .prepare_cached("SELECT id FROM run WHERE key = ?")?
                .query_row([Key(run.0)], |row| row.get(0))
                .optional()?;
            let run_row = run_row.ok_or(StoreErrorKind::UnknownRun(run))?;
            let mut recorder = Recorder::new(connection)?;
            for (test, fingerprint, outcome) in outcomes {
                recorder.record(run_row, test, *fingerprint, outcome)?;
            }
            Ok(())
        })
    }

    /// Ends a run.
    pub fn finish_run(&self, run: RunId, end: RunEnd) -> Result<(), StoreError> {
        self.write(|connection| {
            let found = connection
                .prepare_cached("UPDATE run SET ended_at = ?, ending = ? WHERE key = ?")?
                .execute(params![Moment::now(), end.word(), Key(run.0)])?;
            if found == 0 { Err(StoreErrorKind::UnknownRun(run)) } else { Ok(()) }
        })
    }

    /// Whether some run on a state came to its end, with an outcome for every test that was due.
    pub fn has_completed_run(&self, state: StateId) -> Result<bool, StoreError> {
        self.read(|connection| {
            let found = connection
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM run JOIN state ON state.id = run.state
                     WHERE state.key = ? AND run.ending = ?)",
                )?
                .query_row(params![Key(state.0), RunEnd::Completed.word()], |row| row.get(0))?;
            Ok(found)
        })
    }
}

/// The statements that record an outcome, prepared once.
struct Recorder<'c> {
    now: Moment,
    find_test: rusqlite::CachedStatement<'c>,
    insert_test: rusqlite::CachedStatement<'c>,
    insert_outcome: rusqlite::CachedStatement<'c>,
    insert_output: rusqlite::CachedStatement<'c>,
}

impl<'c> Recorder<'c> {
    fn new(connection: &'c Connection) -> Result<Recorder<'c>, StoreErrorKind> {
        Ok(Recorder {
            now: Moment::now(),
            find_test: connection.prepare_cached("SELECT id FROM test WHERE target = ? AND name = ?")?,
            insert_test: connection.prepare_cached("INSERT INTO test (target, name) VALUES (?, ?)")?,
            insert_outcome: connection.prepare_cached(
                "INSERT INTO outcome (test, fingerprint, run, at, verdict, duration_s)
                 VALUES (?, ?, ?, ?, ?, ?)",
            )?,
            insert_output: connection.prepare_cached("INSERT INTO output (outcome, tail) VALUES (?, ?)")?,
        })
    }

    fn record(
        &mut self,
        run: i64,
        test: &TestId,
        fingerprint: Digest,
        outcome: &Outcome,
    ) -> Result<(), StoreErrorKind> {
        let test = match find(&mut self.find_test, test)? {
            Some(id) => id,
            None => self.insert_test.insert([&test.target, &test.name])?,
        };
        // SQLite has no number for what is not one.
        let duration_s = if outcome.duration_s.is_finite() { outcome.duration_s } else { 0.0 };
        let verdict = VerdictWord(outcome.verdict);
        let id = self.insert_outcome.insert(params![
            test,
            Key(fingerprint),
            run,
            self.now,
            verdict,
            duration_s
        ])?;
        if !outcome.output_tail.is_empty() {
            self.insert_output.insert(params![id, tail(&outcome.output_tail)])?;
        }
        Ok(())
    }
}

fn find(statement: &mut Statement<'_>, test: &TestId) -> rusqlite::Result<Option<i64>> {
    statement.query_row([&test.target, &test.name], |row| row.get(0)).optional()
}

/// The end of an output, cut between two characters.
fn tail(output: &str) -> &str {
    let mut start = output.len().saturating_sub(OUTPUT_TAIL_LIMIT);
    while !output.is_char_boundary(start) {
        start += 1;
    }
    &output[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_round_trips_through_its_word() {
        for end in RunEnd::ALL {
            assert_eq!(RunEnd::from_word(end.word()), Some(end));
        }
        assert_eq!(RunEnd::from_word("over"), None);
    }

    #[test]
    fn a_long_output_is_kept_from_its_end_in_whole_characters() {
        assert_eq!(tail("short"), "short");
        let exact = "x".repeat(OUTPUT_TAIL_LIMIT);
        assert_eq!(tail(&exact), exact);
        let long = format!("{}the end", "é".repeat(OUTPUT_TAIL_LIMIT));
        let kept = tail(&long);
        assert!(kept.len() <= OUTPUT_TAIL_LIMIT && kept.len() > OUTPUT_TAIL_LIMIT - 2, "{}", kept.len());
        assert!(kept.ends_with("éthe end"));
    }
}
