//! Runs and the outcomes they record. An outcome is on the disk when it has been recorded; a run that never
//! ended stays visible as such. Reading outcomes back is done in `record`.

use std::fmt;

use fewer_core::{Digest, Outcome, TestId, Verdict};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Statement, params};
use serde::Serialize;

use crate::column::{Key, MacBytes, Moment, VerdictWord};
use crate::error::{StoreError, StoreErrorKind};
use crate::owner::Record;
use crate::seal::{Mac, Seal};
use crate::state::{StateId, StateInfo};
use crate::store::Store;

/// How many bytes of a test's output are kept: the last ones.
pub const OUTPUT_TAIL_LIMIT: usize = 16 << 10;

/// A run, unique among all machines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
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
            let StateInfo { commit, dirty, .. } = self.info_of(connection, state)?;
            let key: Key = connection.query_row("SELECT randomblob(16)", [], |row| row.get(0))?;
            let run = RunRow {
                id: RunId(key.0),
                state,
                commit,
                dirty,
                machine: info.machine.clone(),
                command: info.command.clone(),
                started_at: Moment(info.started_at),
                ended_at: None,
                ending: None,
            };
            connection
                .prepare_cached(
                    "INSERT INTO run (key, state, commit_id, dirty, machine, command, started_at, mac)
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                )?
                .execute(params![
                    key,
                    Key(state.0),
                    run.commit,
                    dirty,
                    run.machine,
                    run.command,
                    run.started_at,
                    MacBytes(run.mac(&self.owner.seal)),
                ])?;
            Ok(run.id)
        })
    }

    /// The run in a row, where this user recorded it.
    pub(crate) fn own_run(&self, row: i64, run: RunRow, mac: Mac) -> Option<RunRow> {
        self.owner.vouches(Record::Run(row), mac, run.mac(&self.owner.seal)).then_some(run)
    }

    fn find_run(&self, connection: &Connection, id: RunId) -> Result<(i64, RunRow), StoreErrorKind> {
        let found = connection
            .prepare_cached(&format!("SELECT {RUN_COLUMNS} FROM run WHERE key = ?"))?
            .query_row([Key(id.0)], run_row)
            .optional()?;
        found
            .and_then(|(row, run, mac)| Some((row, self.own_run(row, run, mac)?)))
            .ok_or(StoreErrorKind::UnknownRun(id))
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
            let (row, _) = self.find_run(connection, run)?;
            let mut recorder = Recorder::new(connection, &self.owner.seal, run, row)?;
            for (test, fingerprint, outcome) in outcomes {
                recorder.record(test, *fingerprint, outcome)?;
            }
            Ok(())
        })
    }

    /// Ends a run.
    pub fn finish_run(&self, run: RunId, end: RunEnd) -> Result<(), StoreError> {
        self.write(|connection| {
            let (row, run) = self.find_run(connection, run)?;
            let ended = RunRow { ended_at: Some(Moment::now()), ending: Some(end.word().to_string()), ..run };
            let mac = MacBytes(ended.mac(&self.owner.seal));
            connection
                .prepare_cached("UPDATE run SET ended_at = ?, ending = ?, mac = ? WHERE id = ?")?
                .execute(params![ended.ended_at, ended.ending, mac, row])?;
            Ok(())
        })
    }

    /// Whether some run on a state came to its end, with an outcome for every test that was due.
    pub fn has_completed_run(&self, state: StateId) -> Result<bool, StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached(&format!("SELECT {RUN_COLUMNS} FROM run WHERE state = ? AND ending = ?"))?;
            for run in statement.query_map(params![Key(state.0), RunEnd::Completed.word()], run_row)? {
                let (row, run, mac) = run?;
                if self.own_run(row, run, mac).is_some() {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }
}

/// What a run's row says.
pub(crate) struct RunRow {
    pub(crate) id: RunId,
    /// It may be dropped.
    pub(crate) state: StateId,
    pub(crate) commit: Option<String>,
    pub(crate) dirty: bool,
    pub(crate) machine: String,
    pub(crate) command: String,
    pub(crate) started_at: Moment,
    pub(crate) ended_at: Option<Moment>,
    pub(crate) ending: Option<String>,
}

impl RunRow {
    fn mac(&self, seal: &Seal) -> Mac {
        seal.of("run")
            .digest(self.id.0)
            .digest(self.state.0)
            .optional(self.commit.as_deref())
            .number(i64::from(self.dirty))
            .text(&self.machine)
            .text(&self.command)
            .number(self.started_at.milliseconds())
            .number(i64::from(self.ended_at.is_some()))
            .number(self.ended_at.map_or(0, Moment::milliseconds))
            .optional(self.ending.as_deref())
            .finish()
    }
}

/// For [`run_row`].
pub(crate) const RUN_COLUMNS: &str =
    "id, key, state, commit_id, dirty, machine, command, started_at, ended_at, ending, mac";

/// A run's row with its number and its mac, which is still to be looked at.
pub(crate) fn run_row(row: &Row<'_>) -> rusqlite::Result<(i64, RunRow, Mac)> {
    let (id, state, mac): (Key, Key, MacBytes) = (row.get(1)?, row.get(2)?, row.get(10)?);
    let run = RunRow {
        id: RunId(id.0),
        state: StateId(state.0),
        commit: row.get(3)?,
        dirty: row.get(4)?,
        machine: row.get(5)?,
        command: row.get(6)?,
        started_at: row.get(7)?,
        ended_at: row.get(8)?,
        ending: row.get(9)?,
    };
    Ok((row.get(0)?, run, mac.0))
}

/// What an outcome says beside its test and its run.
#[derive(Clone, Copy)]
pub(crate) struct OutcomeFacts {
    pub(crate) fingerprint: Digest,
    pub(crate) at: Moment,
    pub(crate) verdict: Verdict,
    pub(crate) duration_s: f64,
}

impl OutcomeFacts {
    pub(crate) fn mac(&self, seal: &Seal, test: &TestId, run: RunId) -> Mac {
        seal.of("outcome")
            .text(&test.target)
            .text(&test.name)
            .digest(self.fingerprint)
            .digest(run.0)
            .number(self.at.milliseconds())
            .text(self.verdict.word())
            .number(self.duration_s.to_bits().cast_signed())
            .finish()
    }
}

/// The statements that record an outcome, prepared once.
struct Recorder<'c> {
    seal: &'c Seal,
    run: RunId,
    /// Where the run is.
    row: i64,
    now: Moment,
    find_test: rusqlite::CachedStatement<'c>,
    insert_test: rusqlite::CachedStatement<'c>,
    insert_outcome: rusqlite::CachedStatement<'c>,
    insert_output: rusqlite::CachedStatement<'c>,
}

impl<'c> Recorder<'c> {
    fn new(
        connection: &'c Connection,
        seal: &'c Seal,
        run: RunId,
        row: i64,
    ) -> Result<Recorder<'c>, StoreErrorKind> {
        Ok(Recorder {
            seal,
            run,
            row,
            now: Moment::now(),
            find_test: connection.prepare_cached("SELECT id FROM test WHERE target = ? AND name = ?")?,
            insert_test: connection.prepare_cached("INSERT INTO test (target, name) VALUES (?, ?)")?,
            insert_outcome: connection.prepare_cached(
                "INSERT INTO outcome (test, fingerprint, run, at, verdict, duration_s, mac)
                 VALUES (?, ?, ?, ?, ?, ?, ?)",
            )?,
            insert_output: connection.prepare_cached("INSERT INTO output (outcome, tail) VALUES (?, ?)")?,
        })
    }

    fn record(
        &mut self,
        test: &TestId,
        fingerprint: Digest,
        outcome: &Outcome,
    ) -> Result<(), StoreErrorKind> {
        // SQLite has no number for what is not one.
        let duration_s = if outcome.duration_s.is_finite() { outcome.duration_s } else { 0.0 };
        let facts = OutcomeFacts { fingerprint, at: self.now, verdict: outcome.verdict, duration_s };
        let mac = MacBytes(facts.mac(self.seal, test, self.run));
        let test = match find(&mut self.find_test, test)? {
            Some(id) => id,
            None => self.insert_test.insert([&test.target, &test.name])?,
        };
        let verdict = VerdictWord(outcome.verdict);
        let id = self.insert_outcome.insert(params![
            test,
            Key(fingerprint),
            self.row,
            self.now,
            verdict,
            duration_s,
            mac
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
