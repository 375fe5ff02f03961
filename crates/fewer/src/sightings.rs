//! Which commits affected which tests, by the recorded states of commits and what git knows of them: what the
//! simulation imports from the records, gathered for one moment. How it is counted is the core's business.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fewer_core::ranking::{RankingAlgorithm, RankingRule, Sighting};
use fewer_core::{RecordedOutcome, Snapshot, TestId, tts};
use fewer_git::{CommitHash, CommitLog, HistoryError, Repository, Scope, WorkTreeState};
use fewer_store::{StateInfo, Store};
use jiff::Timestamp;

use crate::project::Project;
use crate::session::Session;

/// All commits that git does not know have this author.
const NOBODY: u32 = u32::MAX;

/// What the history says of tests.
#[derive(Default)]
pub struct Seen {
    /// The moment that the state at hand is of: its commit's, or this one where there are local changes.
    pub now: i64,
    /// In the order of time.
    pub by_test: BTreeMap<TestId, Vec<Sighting>>,
    pub notes: Vec<String>,
}

/// Looks through the recorded states as far as a rule needs them.
pub fn gather(
    session: &Session<'_>,
    rule: &RankingRule,
    state: &WorkTreeState,
    wanted: &BTreeSet<TestId>,
) -> anyhow::Result<Seen> {
    let store = session.store();
    let mut states: Vec<StateInfo> = store.states(u32::MAX)?;
    states.retain(|state| !state.dirty && state.commit.is_some());
    states.reverse();
    let at_hand = state.commit.as_ref().filter(|_| !state.dirty);
    let commits = states.iter().filter_map(|state| state.commit.as_deref());
    let commits: BTreeSet<&str> = commits.chain(at_hand.map(String::as_str)).collect();
    let mut seen = Seen::default();
    let facts = known_commits(&session.project, &commits).unwrap_or_else(|error| {
        seen.notes.push(format!("authors of commits are not known: {error}"));
        HashMap::new()
    });
    let commit_at_hand = at_hand.and_then(|commit| facts.get(commit));
    seen.now = commit_at_hand.map_or_else(|| Timestamp::now().as_microsecond(), |facts| facts.time);
    if let Some(horizon) = rule.horizon(seen.now) {
        let walk = Walk { store: &store, rule, states: &states, facts: &facts, wanted };
        seen.by_test = walk.sightings(horizon, seen.now)?;
    }
    Ok(seen)
}

/// What git knows of a commit.
struct CommitFacts {
    time: i64,
    author: u32,
}

fn known_commits(
    project: &Project,
    commits: &BTreeSet<&str>,
) -> Result<HashMap<String, CommitFacts>, HistoryError> {
    let hashes: Vec<CommitHash> =
        commits.iter().filter_map(|commit| CommitHash::parse(commit.as_bytes())).collect();
    if hashes.is_empty() {
        return Ok(HashMap::new());
    }
    let repository = Repository::open(&project.root)?;
    let log = CommitLog::read(&repository, &Scope::Commits(hashes))?;
    let facts = log.records.iter().map(|record| {
        let facts = CommitFacts { time: record.committed * 1_000_000, author: record.author };
        (record.commit.to_string(), facts)
    });
    Ok(facts.collect())
}

/// Over the recorded states of commits, oldest first.
struct Walk<'w> {
    store: &'w Store,
    rule: &'w RankingRule,
    states: &'w [StateInfo],
    facts: &'w HashMap<String, CommitFacts>,
    wanted: &'w BTreeSet<TestId>,
}

impl Walk<'_> {
    /// A state affects the tests whose fingerprint differs from the recorded state before it.
    fn sightings(&self, horizon: i64, now: i64) -> anyhow::Result<BTreeMap<TestId, Vec<Sighting>>> {
        // What a test did last before the window tells whether the first result in it is another.
        let needs_results = self.rule.algorithm == RankingAlgorithm::TransitionCount;
        let mut by_test: BTreeMap<TestId, Vec<Sighting>> = BTreeMap::new();
        let mut before: Option<(usize, Snapshot)> = None;
        for (index, state) in self.states.iter().enumerate() {
            let facts = state.commit.as_ref().and_then(|commit| self.facts.get(commit));
            let time = facts.map_or(state.recorded_at.as_microsecond(), |facts| facts.time);
            if time >= now || time <= horizon && !needs_results {
                continue;
            }
            let old = match (before.take(), index.checked_sub(1)) {
                (Some((known, snapshot)), Some(previous)) if known == previous => snapshot,
                (_, Some(previous)) => self.store.state(self.states[previous].id)?.snapshot,
                (_, None) => Snapshot::new(),
            };
            let snapshot = self.store.state(state.id)?.snapshot;
            let affected: Vec<TestId> =
                tts(&old, &snapshot).into_iter().filter(|test| self.wanted.contains(test)).collect();
            let results = if needs_results { self.results(&affected, &snapshot)? } else { HashMap::new() };
            for test in affected {
                let (author, passed) =
                    (facts.map_or(NOBODY, |facts| facts.author), results.get(&test).copied());
                by_test.entry(test).or_default().push(Sighting { time, author, passed });
            }
            before = Some((index, snapshot));
        }
        // States are in the order in which they were recorded.
        by_test.values_mut().for_each(|sightings| sightings.sort_by_key(|sighting| sighting.time));
        Ok(by_test)
    }

    /// Whether tests passed with the content that they have in a state, wherever that was seen.
    fn results(&self, tests: &[TestId], snapshot: &Snapshot) -> anyhow::Result<HashMap<TestId, bool>> {
        let asked: Vec<_> = tests.iter().map(|test| (test.clone(), snapshot[test])).collect();
        let passed = |outcome: &RecordedOutcome| outcome.verdict.passed();
        let records = self.store.records(&asked)?;
        let newest = records
            .into_iter()
            .filter_map(|(test, record)| Some((test, record.same_fingerprint.iter().find_map(passed)?)));
        Ok(newest.collect())
    }
}
