//! States: content, recency, and what they cost.

use fewer_core::{Digest, TestId, Verdict};
use fewer_store::{ManifestEntry, StateId, StateRecord};

use crate::project::{Project, ran, state, test};

fn blob(name: &str, key: u128) -> ManifestEntry {
    ManifestEntry { kind: "summary".into(), name: name.into(), key: Digest(key) }
}

#[test]
fn a_state_comes_back_as_it_was_with_its_manifest_sorted() {
    let project = Project::new();
    let store = project.store();
    let record = StateRecord {
        commit: None,
        dirty: true,
        worktree: Digest(5),
        manifest: vec![blob("b.o", 2), blob("a.o", 1), blob("b.o", 2), blob("a.o", 0)],
        snapshot: [
            (TestId::new("a::b", "Übung/0.Läuft"), Digest(u128::MAX)),
            (TestId::new("a", "b::Übung/0.Läuft"), Digest(0)),
        ]
        .into(),
    };
    let id = store.record_state(&record).unwrap();
    let found = project.store().state(id).unwrap();
    assert_eq!(found.manifest, [blob("a.o", 0), blob("a.o", 1), blob("b.o", 2)]);
    assert_eq!(found, StateRecord { manifest: found.manifest.clone(), ..record });
}

#[test]
fn every_part_of_a_state_makes_it_another_state_and_order_does_not() {
    let project = Project::in_memory();
    let store = project.store();
    let base = StateRecord { manifest: vec![blob("a.o", 1), blob("b.o", 2)], ..state("c1", &[("A", 1)]) };
    let id = store.record_state(&base).unwrap();
    let others = [
        StateRecord { commit: None, ..base.clone() },
        StateRecord { commit: Some(String::new()), ..base.clone() },
        StateRecord { dirty: true, ..base.clone() },
        StateRecord { worktree: Digest(99), ..base.clone() },
        StateRecord { manifest: vec![blob("a.o", 1)], ..base.clone() },
        StateRecord { snapshot: state("c1", &[("A", 2)]).snapshot, ..base.clone() },
    ];
    let mut ids: Vec<StateId> = others.iter().map(|other| store.record_state(other).unwrap()).collect();
    ids.push(id);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), others.len() + 1);
    let reordered = StateRecord { manifest: vec![blob("b.o", 2), blob("a.o", 1)], ..base };
    assert_eq!(store.record_state(&reordered).unwrap(), id);
}

#[test]
fn a_state_recorded_again_is_the_same_and_the_newest() {
    let project = Project::new();
    let store = project.store();
    let first = store.record_state(&state("c1", &[("A", 1)])).unwrap();
    let second = store.record_state(&state("c2", &[("A", 2)])).unwrap();
    let order = || -> Vec<StateId> { store.states(10).unwrap().iter().map(|info| info.id).collect() };
    assert_eq!(order(), [second, first]);
    assert_eq!(store.record_state(&state("c1", &[("A", 1)])).unwrap(), first);
    assert_eq!(order(), [first, second]);
    assert_eq!(store.latest_state().unwrap().unwrap().id, first);
    assert_eq!(store.states(1).unwrap().len(), 1);
    assert_eq!(store.latest_state().unwrap().unwrap().tests, 1);
}

#[test]
fn a_commit_is_found_by_its_states_without_local_changes() {
    let project = Project::new();
    let store = project.store();
    let found = |commit: &str| -> Vec<StateId> {
        store.clean_states_of_commit(commit).unwrap().into_iter().map(|state| state.id).collect()
    };
    store
        .record_state(&StateRecord { dirty: true, worktree: Digest(8), ..state("c1", &[("A", 1)]) })
        .unwrap();
    assert_eq!(found("c1"), []);
    let first = store.record_state(&state("c1", &[("A", 1)])).unwrap();
    let second = store.record_state(&state("c1", &[("A", 3)])).unwrap();
    store.record_state(&state("c2", &[("A", 1)])).unwrap();
    assert_eq!(found("c1"), [second, first]);
}

#[test]
fn the_state_of_a_tests_last_outcome_is_known() {
    let project = Project::new();
    let store = project.store();
    let (first, _) = ran(&store, "c1", &[("A", 1, Verdict::Passed), ("B", 1, Verdict::Passed)]);
    let (second, _) = ran(&store, "c2", &[("A", 2, Verdict::Failed)]);
    store.record_state(&state("c3", &[("A", 3)])).unwrap();
    assert_eq!(store.state_of_last_outcome(&test("A")).unwrap(), Some(second));
    assert_eq!(store.state_of_last_outcome(&test("B")).unwrap(), Some(first));
    assert_eq!(store.state_of_last_outcome(&test("C")).unwrap(), None);
}

#[test]
fn an_unknown_state_is_an_error_that_names_it() {
    let project = Project::new();
    let message = project.store().state(StateId(Digest(0xabc))).unwrap_err().to_string();
    assert!(message.contains("has no state 00000000000000000000000000000abc"), "{message}");
}

#[test]
fn a_state_costs_what_changed() {
    let project = Project::new();
    let store = project.store();
    let large = |changed: usize, fingerprint: u128| -> StateRecord {
        let mut record = state("c", &[]);
        record.snapshot = (0..20_000)
            .map(|index| {
                let digest = if index < changed { fingerprint } else { index as u128 };
                (TestId::new(format!("tests/t{}", index / 500), format!("Suite.Test{index}")), Digest(digest))
            })
            .collect();
        record.manifest = (0..1000).map(|index| blob(&format!("src/object_{index}.o"), index)).collect();
        record
    };
    let stored = || -> i64 {
        let sql = "SELECT sum(length(content)) FROM chunk";
        project.database().query_row(sql, [], |row| row.get(0)).unwrap()
    };
    store.record_state(&large(0, 0)).unwrap();
    let first = stored();
    for fingerprint in 0..10 {
        store.record_state(&large(1, u128::MAX - fingerprint)).unwrap();
    }
    let (ten_small, bound) = (stored() - first, first / 20);
    assert!(
        ten_small < bound,
        "ten states with one change each: {ten_small} bytes; the first: {first} bytes"
    );
    let record = large(20_000, 42);
    let id = store.record_state(&record).unwrap();
    assert_eq!(store.state(id).unwrap().snapshot, record.snapshot);
}
