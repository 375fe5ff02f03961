//! What `gc` drops, and what it must not.

use std::collections::BTreeMap;
use std::time::Duration;

use fewer_core::graph::Mapping;
use fewer_core::{Candidate, Decision, Digest, Outcome, PlannedTest, Policy, TestId, Verdict, plan};
use fewer_store::{GcOptions, ManifestEntry, RunEnd, StateId, StateRecord, Store};
use proptest::prelude::*;

use crate::project::{Project, info, outcome, ran, state, test};

const DAY_MS: i64 = 24 * 3_600_000;

fn keep(keep_states: u32) -> GcOptions {
    GcOptions { keep_states, older_than: None }
}

fn with_blobs(commit: &str, names: &[&str]) -> StateRecord {
    let entry = |name: &&str| ManifestEntry { kind: "summary".into(), name: (*name).into(), key: key(name) };
    StateRecord { manifest: names.iter().map(entry).collect(), ..state(commit, &[(commit, 1)]) }
}

fn key(name: &str) -> Digest {
    Digest(u128::from_str_radix(name, 36).expect("letters"))
}

/// Makes everything recorded so far look older.
fn age(project: &Project, days: i64) {
    let sql = format!(
        "UPDATE blob_use SET used_at = used_at - {0};
         UPDATE state SET recorded_at = recorded_at - {0};
         UPDATE run SET started_at = started_at - {0}, ended_at = ended_at - {0};",
        days * DAY_MS
    );
    project.database().execute_batch(&sql).unwrap();
}

#[test]
fn states_beyond_the_newest_go_with_what_only_they_referred_to() {
    let project = Project::new();
    let store = project.store();
    let names = ["shared", "old", "new", "cached"];
    let blobs: Vec<_> = names.iter().map(|name| (key(name), vec![7; 200_000])).collect();
    store.put_blobs("summary", &blobs).unwrap();
    store.put_blobs("listing", &[(key("new"), b"of another kind".into())]).unwrap();
    let old = store.record_state(&with_blobs("c1", &["shared", "old"])).unwrap();
    let new = store.record_state(&with_blobs("c2", &["shared", "new"])).unwrap();
    age(&project, 2);
    store.put_blobs("summary", &[(key("cached"), vec![7; 200_000])]).unwrap();

    let report = store.gc(&keep(1)).unwrap();
    assert_eq!((report.states, report.blobs), (1, 2));
    assert_eq!(report.chunks, 2, "the list of blobs and the list of tests of the old state");
    assert!(report.bytes_freed() > 150_000, "{report:?}");
    assert_eq!(report.bytes_after, store.status().unwrap().bytes);
    store.state(old).unwrap_err();
    assert_eq!(store.state(new).unwrap(), with_blobs("c2", &["new", "shared"]));
    let keys: Vec<Digest> = names.iter().map(|name| key(name)).collect();
    let left = store.blobs("summary", &keys).unwrap();
    assert!(left.contains_key(&key("shared")) && left.contains_key(&key("new")), "a kept state needs them");
    assert!(left.contains_key(&key("cached")), "it was used within a day");
    assert_eq!(left.len(), 3);
    assert!(store.blobs("listing", &[key("new")]).unwrap().is_empty());
    project.assert_sound();
    assert_eq!(store.gc(&keep(1)).unwrap().rows(), 0, "nothing is left to drop");
}

#[test]
fn young_states_are_kept_beyond_the_number() {
    let project = Project::new();
    let store = project.store();
    for commit in ["c1", "c2"] {
        store.record_state(&state(commit, &[("A", 1)])).unwrap();
    }
    age(&project, 3);
    for commit in ["c3", "c4"] {
        store.record_state(&state(commit, &[("A", 1)])).unwrap();
    }
    let options = GcOptions { keep_states: 1, older_than: Some(Duration::from_secs(2 * 24 * 3600)) };
    assert_eq!(store.gc(&options).unwrap().states, 2);
    let left: Vec<_> = store.states(9).unwrap().into_iter().filter_map(|state| state.commit).collect();
    assert_eq!(left, ["c4", "c3"]);
    assert_eq!(store.gc(&keep(0)).unwrap().states, 2);
}

#[test]
fn the_newest_pass_and_failure_of_kept_content_stay_whoever_recorded_them() {
    use Verdict::*;
    let project = Project::new();
    let store = project.store();
    ran(&store, "c1", &[("A", 1, Failed), ("B", 1, Passed), ("Gone", 1, Passed)]);
    ran(&store, "c1", &[("A", 1, Passed), ("B", 1, Passed), ("Gone", 1, Passed)]);
    ran(&store, "c2", &[("A", 2, Passed), ("B", 2, Passed)]);
    ran(&store, "c3", &[("A", 1, Skipped), ("B", 1, Passed)]);
    let report = store.gc(&keep(1)).unwrap();
    // Left: of A three kinds of evidence, of B the newest pass.
    assert_eq!((report.outcomes, report.tests, report.states), (6, 1, 2));
    let status = store.status().unwrap();
    assert_eq!((status.outcomes, status.tests, status.runs), (4, 2, 3));
    let records = store.records(&[(test("A"), Digest(1)), (test("B"), Digest(1))]).unwrap();
    let seen: Vec<_> = records[&test("A")]
        .same_fingerprint
        .iter()
        .map(|outcome| (outcome.verdict, outcome.commit.as_deref().unwrap(), outcome.states_ago))
        .collect();
    assert_eq!(seen, [(Skipped, "c3", 0), (Passed, "c1", 1), (Failed, "c1", 1)]);
    assert_eq!(records[&test("B")].same_fingerprint.len(), 1);
    project.assert_sound();
}

#[test]
fn a_run_under_way_can_go_on_recording() {
    let project = Project::new();
    let store = project.store();
    let first = store.record_state(&state("c1", &[("A", 1), ("B", 1)])).unwrap();
    let run = store.begin_run(first, &info()).unwrap();
    store.record_outcomes(run, &[(test("A"), Digest(1), outcome(Verdict::Passed))]).unwrap();
    let idle = store.begin_run(first, &info()).unwrap();
    ran(&store, "c2", &[("C", 2, Verdict::Passed)]);
    assert_eq!(store.gc(&keep(1)).unwrap().rows(), 2, "the first state and its list of tests");
    for run in [run, idle] {
        store.record_outcomes(run, &[(test("B"), Digest(1), outcome(Verdict::Passed))]).unwrap();
        store.finish_run(run, RunEnd::Completed).unwrap();
    }
    let record = &store.records(&[(test("A"), Digest(1))]).unwrap()[&test("A")];
    let last = record.last.as_ref().unwrap();
    assert_eq!((last.commit.as_deref(), last.states_ago), (Some("c1"), 1));
    assert_eq!(store.state_of_last_outcome(&test("A")).unwrap(), None);
    let report = store.gc(&keep(1)).unwrap();
    assert_eq!((report.outcomes, report.runs, report.tests), (3, 2, 2), "it is over, and its state is gone");
    project.assert_sound();
}

#[test]
fn a_run_killed_days_ago_is_dropped_with_its_state() {
    let project = Project::new();
    let store = project.store();
    let first = store.record_state(&state("c1", &[("A", 1)])).unwrap();
    let run = store.begin_run(first, &info()).unwrap();
    store.record_outcomes(run, &[(test("A"), Digest(1), outcome(Verdict::Passed))]).unwrap();
    age(&project, 2);
    ran(&store, "c2", &[("C", 2, Verdict::Passed)]);
    let report = store.gc(&keep(1)).unwrap();
    assert_eq!((report.runs, report.outcomes, report.tests), (1, 1, 1));
}

#[test]
fn dropping_most_of_many_outcomes_keeps_the_outputs_of_the_rest() {
    let project = Project::new();
    let store = project.store();
    let names: Vec<String> = (0..200).map(|index| format!("T{index}")).collect();
    let tests: Vec<(&str, u128)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let state = store.record_state(&state("c1", &tests)).unwrap();
    for round in 0..10 {
        let run = store.begin_run(state, &info()).unwrap();
        let outcomes: Vec<_> = names
            .iter()
            .map(|name| {
                let text = format!("{name} in round {round}");
                (test(name), Digest(1), Outcome { output_tail: text, ..outcome(Verdict::Passed) })
            })
            .collect();
        store.record_outcomes(run, &outcomes).unwrap();
        store.finish_run(run, RunEnd::Completed).unwrap();
    }
    assert_eq!(store.gc(&keep(1)).unwrap().outcomes, 9 * 200);
    for name in &names {
        let output = store.last_output(&test(name), Digest(1)).unwrap();
        assert_eq!(output, Some(format!("{name} in round 9")));
    }
    project.assert_sound();
}

const TESTS: [&str; 3] = ["A", "B", "C"];
const FINGERPRINTS: u128 = 3;

/// One recorded state: per test its fingerprint and what its run found, if it ran.
type Step = (u8, Vec<(u128, Option<Verdict>)>);

fn step() -> impl Strategy<Value = Step> {
    let verdict = prop_oneof![
        4 => Just(Verdict::Passed),
        3 => Just(Verdict::Failed),
        1 => prop::sample::select(Verdict::ALL.to_vec()),
    ];
    let test = (0..FINGERPRINTS, prop::option::weighted(0.6, verdict));
    (0..3_u8, prop::collection::vec(test, TESTS.len()))
}

fn replay(store: &Store, steps: &[Step]) {
    for (commit, tests) in steps {
        let snapshot: Vec<(&str, u128)> =
            TESTS.into_iter().zip(tests.iter().map(|(fingerprint, _)| *fingerprint)).collect();
        let state = store.record_state(&state(&format!("c{commit}"), &snapshot)).unwrap();
        let run = store.begin_run(state, &info()).unwrap();
        let outcomes: Vec<_> = TESTS
            .into_iter()
            .zip(tests)
            .filter_map(|(name, (fingerprint, verdict))| {
                verdict.map(|verdict| (test(name), Digest(*fingerprint), outcome(verdict)))
            })
            .collect();
        store.record_outcomes(run, &outcomes).unwrap();
        store.finish_run(run, RunEnd::Completed).unwrap();
    }
}

/// The plan for every test at every fingerprint.
fn plans(store: &Store, failure_memory: u32) -> BTreeMap<(TestId, u128), PlannedTest> {
    let policy = Policy { failure_memory, ..Policy::default() };
    let mut plans = BTreeMap::new();
    for fingerprint in 0..FINGERPRINTS {
        let tests: Vec<_> = TESTS.iter().map(|name| (test(name), Digest(fingerprint))).collect();
        let records = store.records(&tests).unwrap();
        let candidates = tests
            .into_iter()
            .map(|(id, fingerprint)| Candidate { id, fingerprint, mapping: Mapping::Mapped, disabled: false })
            .collect();
        let plan = plan(candidates, |id| records.get(id).cloned().unwrap_or_default(), |_| None, &policy);
        plans.extend(plan.tests.into_iter().map(|planned| ((planned.id.clone(), fingerprint), planned)));
    }
    plans
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// The safety of dropping: what would have run still runs, and for kept states nothing changes at all,
    /// but that a failure may be remembered for longer.
    #[test]
    fn no_test_is_skipped_because_something_was_dropped(
        steps in prop::collection::vec(step(), 1..10),
        keep_states in 1..4_u32,
        failure_memory in 0..4_u32,
    ) {
        let project = Project::in_memory();
        let store = project.store();
        replay(&store, &steps);
        let before = plans(&store, failure_memory);
        let kept: Vec<StateId> = store.states(keep_states).unwrap().iter().map(|info| info.id).collect();
        let records: Vec<StateRecord> = kept.iter().map(|id| store.state(*id).unwrap()).collect();
        store.gc(&keep(keep_states)).unwrap();
        let after = plans(&store, failure_memory);
        for (content, planned) in &before {
            if planned.decision == Decision::Run {
                prop_assert_eq!(after[content].decision, Decision::Run, "{:?}", content);
            }
        }
        for (id, record) in kept.iter().zip(&records) {
            prop_assert_eq!(&store.state(*id).unwrap(), record);
            for (test, fingerprint) in &record.snapshot {
                let content = (test.clone(), fingerprint.0);
                let (old, new) = (before[&content].reason.word(), after[&content].reason.word());
                prop_assert!(old == new || (old, new) == ("passed", "failed-recently"), "{old} -> {new}");
            }
        }
        project.assert_sound();
    }
}
