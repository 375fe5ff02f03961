//! Answers without a build: which tests a merge, a cherry-pick or a revert would have to run, from what is recorded
//! of the commits it is made of.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use anyhow::bail;
use fewer_core::history::{
    self, Answer, CommitIndex, Evidence, PredictedCause, RecordedGraph, Records, Standing, Unpredictable,
    cherry_pick_of_commit, merge_of_commits, predict, revert_of_commit,
};
use fewer_core::{
    Candidate, Digest, ElementId, Fingerprints, Mapping, Plan, Policy, Scope, StrategyChoice, TestId,
    TestNode, Verdict, plan,
};
use fewer_git::{Attempt, CommitHash, HistoryError, Rehearsal, Rehearsed, Repository};
use fewer_store::Store;

use super::head::{Making, Step};
use super::recorded::RecordedCommits;
use super::request::Foretelling;
use super::strategy::{Ground, UNSAFE, reason_of, s0, tips_of};
use super::{never_recorded, short};
use crate::affected_elements::tests_reaching;
use crate::build_directory::BuildDirectory;
use crate::circumstances;
use crate::cli::StrategyName;
use crate::java::build_directories;
use crate::names::{readable, split};
use crate::session::Session;
use crate::state::{checked_out, machine};

/// In how many of the newest states tests are looked for when nothing else is known.
const STATES_WITH_TESTS: u32 = 20;

/// A plan for a state that has not been built.
pub struct Foretold {
    pub plan: Plan,
    pub strategy: StrategyName,
    pub because: String,
    pub notes: Vec<String>,
}

/// For what is checked out, or about to be committed.
pub fn foretell_head(session: &Session<'_>, strategy: Foretelling) -> anyhow::Result<Foretold> {
    let _phase = session.timings.phase("foretell");
    let told = step_at_hand(session).and_then(|(repository, step)| match step.obstacle() {
        Some(obstacle) => Err(obstacle),
        None => foretell(session, repository, &step, strategy),
    });
    told.map_or_else(|cause| everything(session, strategy, cause), Ok)
}

/// For a merge of commits that nobody has made yet. Neither the working tree nor a branch is touched.
pub fn foretell_merge(session: &Session<'_>, revisions: &[String]) -> anyhow::Result<Foretold> {
    let _phase = session.timings.phase("foretell");
    let told = imagined_merge(session, revisions)
        .and_then(|(repository, step)| foretell(session, repository, &step, Foretelling::Predict));
    told.map_or_else(|cause| everything(session, Foretelling::Predict, cause), Ok)
}

fn step_at_hand(session: &Session<'_>) -> Result<(Repository, Step), String> {
    let words = |error: HistoryError| error.to_string();
    let project = &session.project;
    let repository = complete_repository(session).map_err(words)?;
    let Some(work_tree) = &project.work_tree else {
        return Err("git shows no working tree here".to_string());
    };
    let objects = BuildDirectory::find(project).ok().map(|directory| directory.path);
    let directories: Vec<_> = objects.into_iter().chain(build_directories(project)).collect();
    let state = checked_out(project, work_tree, &directories).map_err(|error| error.to_string())?;
    let step = Step::at_hand(&repository, &state).map_err(words)?;
    Ok((repository, step))
}

/// In a clone that ends early even a merge cannot be made again.
fn complete_repository(session: &Session<'_>) -> Result<Repository, HistoryError> {
    let repository = Repository::open(&session.project.root)?;
    match repository.condition()?.shallow.first() {
        None => Ok(repository),
        Some(first) => Err(HistoryError::Shallow { what: format!("the parents of {}", short(*first)) }),
    }
}

fn imagined_merge(session: &Session<'_>, revisions: &[String]) -> Result<(Repository, Step), String> {
    let words = |error: HistoryError| error.to_string();
    let repository = complete_repository(session).map_err(words)?;
    let parents: Vec<CommitHash> = revisions
        .iter()
        .map(|revision| repository.resolve(revision))
        .collect::<Result<_, _>>()
        .map_err(words)?;
    for pair in parents.windows(2) {
        repository.merge_bases(pair[0], pair[1]).map_err(words)?;
    }
    let rehearsal = Rehearsal::new(&repository).map_err(words)?;
    match rehearsal.try_one(&Attempt::Merge(parents.clone())).map_err(words)? {
        Rehearsed::Clean { .. } => {}
        Rehearsed::Conflict { paths } => {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(format!(
                "they do not merge without a conflict in {}; what a human makes of it cannot be foretold",
                paths.join(", ")
            ));
        }
        Rehearsed::Impossible(cause) => return Err(format!("git cannot merge them: {cause}")),
    }
    drop(rehearsal);
    Ok((repository, Step { parents, making: Making::Merge(fewer_git::Redo::Automatic) }))
}

fn foretell(
    session: &Session<'_>,
    repository: Repository,
    step: &Step,
    strategy: Foretelling,
) -> Result<Foretold, String> {
    let ground = Ground::of(repository, tips_of(step)).map_err(|error| error.to_string())?;
    let store = session.store();
    match strategy {
        Foretelling::S0 => by_affected_sets(session, &store, &ground, step),
        Foretelling::Predict => by_prediction(session, &store, &ground, step),
    }
}

fn by_prediction(
    session: &Session<'_>,
    store: &Store,
    ground: &Ground,
    step: &Step,
) -> Result<Foretold, String> {
    let mut records = RecordedCommits::new(store, &ground.repository, &ground.history);
    let parents = ground.indices(&step.parents).map_err(|error| error.to_string())?;
    let merged = merged_graph(ground, step, &mut records)?;
    let with_circumstances = |test: &TestId, fingerprint: Digest| {
        Some(circumstances::with(fingerprint, records.circumstances(test).ok()?))
    };
    let is_concluded = |test: &TestId, fingerprint: Digest| {
        with_circumstances(test, fingerprint).is_some_and(|fingerprint| has_passed(store, test, fingerprint))
    };
    let prediction = predict(&merged, is_concluded);
    let captured = captured_names(&merged, records.graphs());
    let fingerprints = Fingerprints::compute(merged.graph());
    let candidates = merged.graph().tests().iter().map(|test| Candidate {
        id: test.id.clone(),
        fingerprint: with_circumstances(&test.id, fingerprints.test(test)).unwrap_or_default(),
        mapping: test.mapping.clone(),
        disabled: test.disabled,
    });
    let mut selected: BTreeMap<TestId, String> =
        prediction.selected.iter().map(|(test, cause)| (test.clone(), words_of(cause))).collect();
    let is_new = |test: &&TestNode| merged.standing(&test.id) == Some(Standing::Added);
    for test in merged.graph().tests().iter().filter(is_new).filter(|_| !is_one_side(ground, &parents)) {
        let cause = || "only one side has the test, and the other may change what it starts with".to_string();
        selected.entry(test.id.clone()).or_insert_with(cause);
    }
    for test in tests_reaching(merged.graph(), &captured) {
        let cause = || "it uses a name from outside that the other side defines".to_string();
        selected.entry(test).or_insert_with(cause);
    }
    let choice = StrategyChoice { strategy: StrategyName::Predict.word(), selected, unaffected: None };
    Ok(Foretold {
        plan: decide(session, store, candidates.collect(), Scope::Strategy(choice))?,
        strategy: StrategyName::Predict,
        because: format!("{}, and the graphs are recorded", reason_of(step)),
        notes: ["this is a prediction; after the build the fingerprints decide".to_string()]
            .into_iter()
            .chain(unwritten_note(&records, &parents))
            .collect(),
    })
}

/// Of an object without dependencies anything may have changed.
fn unwritten_note(records: &RecordedCommits<'_>, parents: &[CommitIndex]) -> Option<String> {
    let (all, unknown) =
        parents.iter().map(|&parent| records.objects(parent)).max_by_key(|(_, unknown)| *unknown)?;
    (unknown > 0).then(|| {
        format!(
            "of {unknown} of {all} objects the build did not write down what they are compiled from, so any change may be in \
             them and the tests that reach them are selected. Compile with -MMD and keep the .d files (CMake and Ninja do)"
        )
    })
}

/// Whether one of the commits has all the others behind it: merging them gives that commit.
fn is_one_side(ground: &Ground, commits: &[CommitIndex]) -> bool {
    let graph = ground.history.graph();
    let has_all = |tip: &CommitIndex| commits.iter().all(|&other| graph.is_ancestor(other, *tip));
    commits.len() > 1 && commits.iter().any(has_all)
}

/// Names that some side takes from outside of the project and that another side defines: linking the merge finds
/// the definition, which no graph shows.
fn captured_names<'g>(
    merged: &RecordedGraph,
    sides: impl Iterator<Item = &'g RecordedGraph>,
) -> Vec<ElementId> {
    let own = definitions(merged);
    let mut captured: HashSet<&str> = HashSet::new();
    for side in sides {
        let defined = definitions(side);
        let graph = side.graph();
        let outside = graph.elements().filter(|&element| side.units().of(element).is_empty());
        captured.extend(
            outside
                .map(|element| graph.name(element))
                .filter(|name| !defined.contains(name) && own.contains(name)),
        );
    }
    let graph = merged.graph();
    let is_captured = |element: &ElementId| {
        merged.units().of(*element).is_empty() && captured.contains(graph.name(*element))
    };
    graph.elements().filter(is_captured).collect()
}

/// The symbols that the state's own objects define.
fn definitions(state: &RecordedGraph) -> HashSet<&str> {
    let graph = state.graph();
    let own = graph.elements().filter(|&element| !state.units().of(element).is_empty());
    own.map(|element| split(graph.name(element)).1).collect()
}

fn merged_graph(
    ground: &Ground,
    step: &Step,
    records: &mut RecordedCommits<'_>,
) -> Result<Arc<RecordedGraph>, String> {
    let words = |error: HistoryError| error.to_string();
    let parents = ground.indices(&step.parents).map_err(words)?;
    let index = |commit: &CommitHash| ground.history.require(commit).map_err(words);
    let merged = match (&step.making, &parents[..]) {
        (Making::CherryPick { picked, picked_parent, .. }, &[onto]) => {
            cherry_pick_of_commit(onto, index(picked)?, index(picked_parent)?, records).map(Arc::new)
        }
        (Making::Revert { reverted, reverted_parent, .. }, &[onto]) => {
            revert_of_commit(onto, index(reverted)?, index(reverted_parent)?, records).map(Arc::new)
        }
        (
            Making::Merge(_)
            | Making::Commit
            | Making::LocalChanges
            | Making::CherryPick { .. }
            | Making::Revert { .. },
            _,
        ) => merge_of_commits(ground.history.graph(), &parents, records),
    };
    merged.map_err(|obstacle| match obstacle {
        Unpredictable::NotRecorded(commit) => never_recorded(ground.history.hash(commit)),
        Unpredictable::Unrelated(commit) => {
            format!("commit {} shares no ancestor with the others", short(ground.history.hash(commit)))
        }
        Unpredictable::TooEntangled => "the merge bases are merges of merges, too deep to follow".to_string(),
        Unpredictable::NothingToMerge => "there is nothing to merge".to_string(),
        Unpredictable::Source(error) => error.to_string(),
    })
}

fn by_affected_sets(
    session: &Session<'_>,
    store: &Store,
    ground: &Ground,
    step: &Step,
) -> Result<Foretold, String> {
    let words = |error: HistoryError| error.to_string();
    let parents = ground.indices(&step.parents).map_err(words)?;
    let records = RecordedCommits::tested(store, &ground.repository, &ground.history);
    let mut history = history::History::new(ground.history.graph(), &ground.dominators, &records);
    let (selection, cause) = s0(ground, &mut history, step, &parents, None).map_err(words)?;
    let mut notes = vec![UNSAFE.to_string()];
    notes.extend(ground.gap_note(&selection));
    let (selected, reused) = match selection.answer {
        Answer::Everything(cause) => return Err(ground.words(cause)),
        Answer::Tests { selected, reused } => (selected, reused),
    };
    let fingerprint = |test: &TestId, evidence: &Evidence| match evidence {
        Evidence::OutcomeAt(commit) => records.snapshot(*commit)?.get(test).copied(),
        Evidence::OutcomeOf(fingerprint) => Some(*fingerprint),
    };
    let mut known: BTreeMap<TestId, Digest> = reused
        .iter()
        .filter_map(|(test, evidence)| Some((test.clone(), fingerprint(test, evidence)?)))
        .collect();
    known.extend(selected.iter().map(|test| (test.clone(), Digest::default())));
    let choice = StrategyChoice {
        strategy: StrategyName::S0.word(),
        selected: selected.into_iter().map(|test| (test, cause.clone())).collect(),
        unaffected: Some("no more than one side affected it".to_string()),
    };
    let unmapped: BTreeMap<TestId, String> =
        parents.iter().flat_map(|&parent| records.unmapped(parent)).collect();
    let candidates = candidates(known, &unmapped);
    Ok(Foretold {
        plan: decide(session, store, candidates, Scope::Strategy(choice))?,
        strategy: StrategyName::S0,
        because: reason_of(step),
        notes,
    })
}

/// The tests recorded last, all of which run: what else there is nobody knows before the build.
fn everything(session: &Session<'_>, strategy: Foretelling, cause: String) -> anyhow::Result<Foretold> {
    let store = session.store();
    let mut known = BTreeMap::new();
    for state in store.states(STATES_WITH_TESTS)? {
        known.extend(store.state(state.id)?.snapshot);
    }
    if known.is_empty() {
        bail!(
            "nothing is recorded here, so there is no list of tests before the build ({cause}). Build, then `fewer run`; or copy the .fewer directory of a checkout that has records"
        );
    }
    let notes = vec!["tests that are new are not known before the build".to_string()];
    let because = format!("everything runs: {cause}");
    let candidates = candidates(known, &BTreeMap::new());
    let plan =
        decide(session, &store, candidates, Scope::Everything { cause }).map_err(anyhow::Error::msg)?;
    Ok(Foretold { plan, strategy: strategy.name(), because, notes })
}

/// Tests of which only the records tell. Those that were disabled are so by their name.
fn candidates(known: BTreeMap<TestId, Digest>, unmapped: &BTreeMap<TestId, String>) -> Vec<Candidate> {
    known
        .into_iter()
        .map(|(id, fingerprint)| Candidate {
            mapping: match unmapped.get(&id) {
                Some(cause) => Mapping::Unmapped { cause: cause.clone() },
                None => Mapping::Mapped,
            },
            disabled: id.name.starts_with("DISABLED_") || id.name.contains(".DISABLED_"),
            id,
            fingerprint,
        })
        .collect()
}

fn decide(
    session: &Session<'_>,
    store: &Store,
    candidates: Vec<Candidate>,
    scope: Scope,
) -> Result<Plan, String> {
    let settings = &session.project.settings;
    let policy = Policy {
        scope,
        always: settings.always.clone(),
        failure_memory: settings.failure_memory,
        machine: machine(),
    };
    let asked: Vec<(TestId, Digest)> =
        candidates.iter().map(|test| (test.id.clone(), test.fingerprint)).collect();
    let records = store.records(&asked).map_err(|error| error.to_string())?;
    Ok(plan(candidates, |id| records.get(id).cloned().unwrap_or_default(), |_| None, &policy))
}

fn has_passed(store: &Store, test: &TestId, fingerprint: Digest) -> bool {
    let asked = [(test.clone(), fingerprint)];
    let Ok(records) = store.records(&asked) else { return false };
    let passed = |record: &fewer_core::TestRecord| {
        record.same_fingerprint.iter().any(|outcome| outcome.verdict == Verdict::Passed)
    };
    records.get(test).is_some_and(passed)
}

/// With the name of the element as people know it.
fn words_of(cause: &PredictedCause) -> String {
    match cause {
        PredictedCause::Unknown { element, cause } => format!("it reaches {}: {cause}", readable(element)),
        PredictedCause::Doubtful(_)
        | PredictedCause::Unmapped { .. }
        | PredictedCause::NewTest
        | PredictedCause::NewFingerprint => cause.to_string(),
    }
}
