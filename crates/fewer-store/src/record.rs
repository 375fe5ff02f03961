//! What is recorded about tests, gathered for a plan: thousands of tests at once, a few index look-ups each.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

use fewer_core::{Digest, RecordedOutcome, TestId, TestRecord, Verdict};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row, params};

use crate::column::{Key, Moment, VerdictWord};
use crate::error::{StoreError, StoreErrorKind};
use crate::store::Store;

/// How many outcomes of one fingerprint a record holds. The newest pass and the newest failure are in it even
/// where they are older.
const SAME_FINGERPRINT: usize = 2;

impl Store {
    /// What is recorded about tests, each at its fingerprint. A test without any outcome is not in the result.
    pub fn records(&self, tests: &[(TestId, Digest)]) -> Result<HashMap<TestId, TestRecord>, StoreError> {
        self.read(|connection| {
            let mut reader = Reader::new(connection)?;
            let mut records = HashMap::with_capacity(tests.len());
            for (test, fingerprint) in tests {
                if let Some(record) = reader.record(test, *fingerprint)? {
                    records.insert(test.clone(), record);
                }
            }
            Ok(records)
        })
    }

    /// What the test printed when it last ran with this fingerprint; `None` where it did not run or printed
    /// nothing.
    pub fn last_output(&self, test: &TestId, fingerprint: Digest) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let output: Option<Option<String>> = connection
                .prepare_cached(
                    "SELECT output.tail FROM test
                     JOIN outcome INDEXED BY outcome_by_content
                        ON outcome.test = test.id AND outcome.fingerprint = ?
                     LEFT JOIN output ON output.outcome = outcome.id
                     WHERE test.target = ? AND test.name = ? ORDER BY outcome.id DESC LIMIT 1",
                )?
                .query_row(params![Key(fingerprint), test.target, test.name], |row| row.get(0))
                .optional()?;
            Ok(output.flatten())
        })
    }
}

/// What an outcome takes from its run.
struct RunFacts {
    commit: Option<String>,
    dirty: bool,
    machine: String,
    states_ago: u32,
}

/// An outcome's row, before its run is looked up.
struct OutcomeRow {
    id: i64,
    fingerprint: Digest,
    run: i64,
    at: Moment,
    verdict: Verdict,
    duration_s: f64,
}

struct Reader<'c> {
    last: CachedStatement<'c>,
    last_failure: CachedStatement<'c>,
    same: CachedStatement<'c>,
    same_pass: CachedStatement<'c>,
    same_failure: CachedStatement<'c>,
    run: CachedStatement<'c>,
    /// Of all states, in rising order.
    recencies: Vec<i64>,
    runs: HashMap<i64, Rc<RunFacts>>,
    /// The texts of moments: all outcomes of a shard have the same.
    moments: HashMap<Moment, String>,
}

impl<'c> Reader<'c> {
    fn new(connection: &'c Connection) -> Result<Reader<'c>, StoreErrorKind> {
        // The planner is told which index to use: it has no statistics, and tests may have long histories.
        let outcome = |condition: &str| {
            connection.prepare_cached(&format!(
                "SELECT id, fingerprint, run, at, verdict, duration_s FROM outcome INDEXED BY {condition}"
            ))
        };
        let failed = "verdict IN ('failed', 'crashed', 'timed-out')";
        let recencies = connection
            .prepare_cached("SELECT recency FROM state ORDER BY recency")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(Reader {
            last: connection.prepare_cached(
                "SELECT outcome.id, fingerprint, run, at, verdict, duration_s, test.id
                 FROM test JOIN outcome INDEXED BY outcome_by_test ON outcome.test = test.id
                 WHERE test.target = ? AND test.name = ? ORDER BY outcome.id DESC LIMIT 1",
            )?,
            last_failure: outcome(&format!(
                "outcome_failed WHERE test = ? AND {failed} ORDER BY id DESC LIMIT 1"
            ))?,
            same: outcome("outcome_by_content WHERE test = ? AND fingerprint = ? ORDER BY id DESC LIMIT ?")?,
            same_pass: outcome(
                "outcome_by_content
                 WHERE test = ? AND fingerprint = ? AND verdict = 'passed' ORDER BY id DESC LIMIT 1",
            )?,
            same_failure: outcome(&format!(
                "outcome_failed WHERE test = ? AND fingerprint = ? AND {failed} ORDER BY id DESC LIMIT 1"
            ))?,
            run: connection.prepare_cached(
                "SELECT run.commit_id, run.dirty, run.machine, state.recency
                 FROM run LEFT JOIN state ON state.id = run.state WHERE run.id = ?",
            )?,
            recencies,
            runs: HashMap::new(),
            moments: HashMap::new(),
        })
    }

    fn record(&mut self, test: &TestId, fingerprint: Digest) -> Result<Option<TestRecord>, StoreErrorKind> {
        let last = self
            .last
            .query_row([&test.target, &test.name], |row| Ok((row.get(6)?, outcome_row(row)?)))
            .optional()?;
        let Some((test, last)): Option<(i64, OutcomeRow)> = last else { return Ok(None) };
        let last_failure = newest(&mut self.last_failure, [test])?;
        let same_fingerprint = self.same_fingerprint(test, fingerprint, last_failure.is_some())?;
        Ok(Some(TestRecord {
            same_fingerprint: same_fingerprint
                .into_iter()
                .map(|row| self.recorded(row))
                .collect::<Result<_, _>>()?,
            last: Some(self.recorded(last)?),
            last_failure: last_failure.map(|row| self.recorded(row)).transpose()?,
        }))
    }

    /// Newest first.
    fn same_fingerprint(
        &mut self,
        test: i64,
        fingerprint: Digest,
        ever_failed: bool,
    ) -> Result<Vec<OutcomeRow>, StoreErrorKind> {
        let fingerprint = Key(fingerprint);
        let mut rows: Vec<OutcomeRow> = self
            .same
            .query_map(params![test, fingerprint, SAME_FINGERPRINT as i64], outcome_row)?
            .collect::<Result<_, _>>()?;
        if rows.len() == SAME_FINGERPRINT {
            if !rows.iter().any(|row| row.verdict == Verdict::Passed) {
                rows.extend(newest(&mut self.same_pass, params![test, fingerprint])?);
            }
            if ever_failed && !rows.iter().any(|row| row.verdict.is_failure()) {
                rows.extend(newest(&mut self.same_failure, params![test, fingerprint])?);
            }
            rows.sort_by_key(|row| Reverse(row.id));
        }
        Ok(rows)
    }

    fn recorded(&mut self, row: OutcomeRow) -> Result<RecordedOutcome, StoreErrorKind> {
        let run = self.run_facts(row.run)?;
        Ok(RecordedOutcome {
            verdict: row.verdict,
            duration_s: row.duration_s,
            fingerprint: row.fingerprint,
            commit: run.commit.clone(),
            dirty: run.dirty,
            at: self.moments.entry(row.at).or_insert_with(|| row.at.text()).clone(),
            machine: run.machine.clone(),
            states_ago: run.states_ago,
        })
    }

    fn run_facts(&mut self, run: i64) -> Result<Rc<RunFacts>, StoreErrorKind> {
        if let Some(facts) = self.runs.get(&run) {
            return Ok(Rc::clone(facts));
        }
        let recencies = &self.recencies;
        let facts = self.run.query_row([run], |row| {
            // Where the state is gone, so are only states older than all that are left.
            let recency: i64 = row.get::<_, Option<i64>>(3)?.unwrap_or(0);
            let newer = recencies.len() - recencies.partition_point(|&other| other <= recency);
            Ok(RunFacts {
                commit: row.get(0)?,
                dirty: row.get(1)?,
                machine: row.get(2)?,
                states_ago: u32::try_from(newer).unwrap_or(u32::MAX),
            })
        })?;
        let facts = Rc::new(facts);
        self.runs.insert(run, Rc::clone(&facts));
        Ok(facts)
    }
}

fn newest(
    statement: &mut CachedStatement<'_>,
    parameters: impl Params,
) -> Result<Option<OutcomeRow>, StoreErrorKind> {
    Ok(statement.query_row(parameters, outcome_row).optional()?)
}

fn outcome_row(row: &Row<'_>) -> rusqlite::Result<OutcomeRow> {
    let fingerprint: Key = row.get(1)?;
    let verdict: VerdictWord = row.get(4)?;
    Ok(OutcomeRow {
        id: row.get(0)?,
        fingerprint: fingerprint.0,
        run: row.get(2)?,
        at: row.get(3)?,
        verdict: verdict.0,
        duration_s: row.get(5)?,
    })
}
