//! What is recorded about tests, gathered for a plan: thousands of tests at once, a few index look-ups each.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

use fewer_core::{Digest, RecordedOutcome, TestId, TestRecord, Verdict};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row, params};

use crate::column::{Key, MacBytes, Moment, VerdictWord};
use crate::error::{StoreError, StoreErrorKind};
use crate::owner::Record;
use crate::run::{OutcomeFacts, RUN_COLUMNS, RunId, run_row};
use crate::seal::Mac;
use crate::store::Store;

/// How many outcomes of one fingerprint a record holds. The newest pass and the newest failure are in it even
/// where they are older.
const SAME_FINGERPRINT: usize = 2;

impl Store {
    /// What is recorded about tests, each at its fingerprint. A test without any outcome is not in the result.
    pub fn records(&self, tests: &[(TestId, Digest)]) -> Result<HashMap<TestId, TestRecord>, StoreError> {
        self.read(|connection| {
            let mut reader = Reader::new(self, connection)?;
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
    id: RunId,
    commit: Option<String>,
    dirty: bool,
    machine: String,
    states_ago: u32,
}

/// An outcome's row, before its run is looked up.
pub(crate) struct OutcomeRow {
    pub(crate) id: i64,
    pub(crate) run: i64,
    pub(crate) facts: OutcomeFacts,
    pub(crate) mac: Mac,
}

/// An outcome of this user, with its run.
struct OwnOutcome {
    id: i64,
    facts: OutcomeFacts,
    run: Rc<RunFacts>,
}

struct Reader<'c> {
    store: &'c Store,
    last: CachedStatement<'c>,
    last_failure: CachedStatement<'c>,
    same: CachedStatement<'c>,
    same_pass: CachedStatement<'c>,
    same_failure: CachedStatement<'c>,
    run: CachedStatement<'c>,
    /// Of all states by key, and in rising order.
    recency: HashMap<Digest, i64>,
    recencies: Vec<i64>,
    /// `None`: another wrote it.
    runs: HashMap<i64, Option<Rc<RunFacts>>>,
    /// The texts of moments: all outcomes of a shard have the same.
    moments: HashMap<Moment, String>,
}

impl<'c> Reader<'c> {
    fn new(store: &'c Store, connection: &'c Connection) -> Result<Reader<'c>, StoreErrorKind> {
        // The planner is told which index to use: it has no statistics, and tests may have long histories.
        let outcome = |condition: &str| {
            connection.prepare_cached(&format!(
                "SELECT id, fingerprint, run, at, verdict, duration_s, mac, test FROM outcome INDEXED BY {condition}"
            ))
        };
        let failed = "verdict IN ('failed', 'crashed', 'timed-out')";
        let recency = store.recencies(connection)?;
        let mut recencies: Vec<i64> = recency.values().copied().collect();
        recencies.sort_unstable();
        Ok(Reader {
            store,
            last: connection.prepare_cached(
                "SELECT outcome.id, fingerprint, run, at, verdict, duration_s, mac, test.id
                 FROM test JOIN outcome INDEXED BY outcome_by_test ON outcome.test = test.id
                 WHERE test.target = ? AND test.name = ? ORDER BY outcome.id DESC",
            )?,
            last_failure: outcome(&format!("outcome_failed WHERE test = ? AND {failed} ORDER BY id DESC"))?,
            same: outcome("outcome_by_content WHERE test = ? AND fingerprint = ? ORDER BY id DESC")?,
            same_pass: outcome(
                "outcome_by_content
                 WHERE test = ? AND fingerprint = ? AND verdict = 'passed' ORDER BY id DESC",
            )?,
            same_failure: outcome(&format!(
                "outcome_failed WHERE test = ? AND fingerprint = ? AND {failed} ORDER BY id DESC"
            ))?,
            run: connection.prepare_cached(&format!("SELECT {RUN_COLUMNS} FROM run WHERE id = ?"))?,
            recency,
            recencies,
            runs: HashMap::new(),
            moments: HashMap::new(),
        })
    }

    fn record(&mut self, test: &TestId, fingerprint: Digest) -> Result<Option<TestRecord>, StoreErrorKind> {
        let mut owned = Owned {
            store: self.store,
            test,
            run: &mut self.run,
            runs: &mut self.runs,
            recency: &self.recency,
            recencies: &self.recencies,
        };
        let Some((row, last)) = owned.first_with_test(&mut self.last, [&test.target, &test.name])? else {
            return Ok(None);
        };
        let last_failure = owned.first(&mut self.last_failure, [row])?;
        let content = params![row, Key(fingerprint)];
        let mut same = owned.first_few(&mut self.same, content, SAME_FINGERPRINT)?;
        if same.len() == SAME_FINGERPRINT {
            if !same.iter().any(|outcome| outcome.facts.verdict == Verdict::Passed) {
                same.extend(owned.first(&mut self.same_pass, content)?);
            }
            if last_failure.is_some() && !same.iter().any(|outcome| outcome.facts.verdict.is_failure()) {
                same.extend(owned.first(&mut self.same_failure, content)?);
            }
            same.sort_by_key(|outcome| Reverse(outcome.id));
        }
        Ok(Some(TestRecord {
            same_fingerprint: same.into_iter().map(|outcome| self.recorded(outcome)).collect(),
            last: Some(self.recorded(last)),
            last_failure: last_failure.map(|outcome| self.recorded(outcome)),
        }))
    }

    fn recorded(&mut self, OwnOutcome { facts, run, .. }: OwnOutcome) -> RecordedOutcome {
        RecordedOutcome {
            verdict: facts.verdict,
            duration_s: facts.duration_s,
            fingerprint: facts.fingerprint,
            commit: run.commit.clone(),
            dirty: run.dirty,
            at: self.moments.entry(facts.at).or_insert_with(|| facts.at.text()).clone(),
            machine: run.machine.clone(),
            states_ago: run.states_ago,
        }
    }
}

/// The outcomes of one test that this user recorded. What another wrote is passed over.
struct Owned<'r, 'c> {
    store: &'c Store,
    test: &'r TestId,
    run: &'r mut CachedStatement<'c>,
    runs: &'r mut HashMap<i64, Option<Rc<RunFacts>>>,
    recency: &'r HashMap<Digest, i64>,
    recencies: &'r [i64],
}

impl Owned<'_, '_> {
    fn first(
        &mut self,
        statement: &mut CachedStatement<'_>,
        parameters: impl Params,
    ) -> Result<Option<OwnOutcome>, StoreErrorKind> {
        Ok(self.first_with_test(statement, parameters)?.map(|(_, outcome)| outcome))
    }

    /// With the row of its test.
    fn first_with_test(
        &mut self,
        statement: &mut CachedStatement<'_>,
        parameters: impl Params,
    ) -> Result<Option<(i64, OwnOutcome)>, StoreErrorKind> {
        let mut rows = statement.query(parameters)?;
        while let Some(row) = rows.next()? {
            if let Some(outcome) = self.own(outcome_row(row)?)? {
                return Ok(Some((row.get(7)?, outcome)));
            }
        }
        Ok(None)
    }

    fn first_few(
        &mut self,
        statement: &mut CachedStatement<'_>,
        parameters: impl Params,
        count: usize,
    ) -> Result<Vec<OwnOutcome>, StoreErrorKind> {
        let (mut rows, mut outcomes) = (statement.query(parameters)?, Vec::new());
        while outcomes.len() < count
            && let Some(row) = rows.next()?
        {
            outcomes.extend(self.own(outcome_row(row)?)?);
        }
        Ok(outcomes)
    }

    fn own(&mut self, row: OutcomeRow) -> Result<Option<OwnOutcome>, StoreErrorKind> {
        let owner = &self.store.owner;
        let run = self.run_facts(row.run)?;
        // One whose run is nobody's is nobody's too.
        let id = run.as_ref().map_or_else(RunId::default, |run| run.id);
        let is_own =
            owner.vouches(Record::Outcome(row.id), row.mac, row.facts.mac(&owner.seal, self.test, id));
        Ok(run.filter(|_| is_own).map(|run| OwnOutcome { id: row.id, facts: row.facts, run }))
    }

    fn run_facts(&mut self, row: i64) -> Result<Option<Rc<RunFacts>>, StoreErrorKind> {
        if let Some(facts) = self.runs.get(&row) {
            return Ok(facts.clone());
        }
        let found = self.run.query_row([row], run_row).optional()?;
        let own = found.and_then(|(_, run, mac)| self.store.own_run(row, run, mac));
        let facts = own.map(|run| {
            // Where the state is gone, so are only states older than all that are left.
            let recency = self.recency.get(&run.state.0).copied().unwrap_or(0);
            let newer = self.recencies.len() - self.recencies.partition_point(|&other| other <= recency);
            Rc::new(RunFacts {
                id: run.id,
                commit: run.commit,
                dirty: run.dirty,
                machine: run.machine,
                states_ago: u32::try_from(newer).unwrap_or(u32::MAX),
            })
        });
        self.runs.insert(row, facts.clone());
        Ok(facts)
    }
}

/// Of the columns id, fingerprint, run, at, verdict, duration_s, mac.
pub(crate) fn outcome_row(row: &Row<'_>) -> rusqlite::Result<OutcomeRow> {
    let (fingerprint, verdict, mac): (Key, VerdictWord, MacBytes) = (row.get(1)?, row.get(4)?, row.get(6)?);
    let facts = OutcomeFacts {
        fingerprint: fingerprint.0,
        at: row.get(3)?,
        verdict: verdict.0,
        duration_s: row.get(5)?,
    };
    Ok(OutcomeRow { id: row.get(0)?, run: row.get(2)?, facts, mac: mac.0 })
}
