//! Records of others: what was written with another key, or changed by whoever has none, is not there.

use std::fs;
use std::os::unix::fs::MetadataExt;

use fewer_core::{Digest, TestId, Verdict};
use fewer_store::{GcOptions, ManifestEntry, OwnerKey, RunEnd, Store};

use crate::project::{Project, info, key, outcome, ran, state, test};

/// A project in which A failed and B passed.
fn recorded() -> Project {
    let project = Project::new();
    ran(&project.store(), "c1", &[("A", 1, Verdict::Failed), ("B", 1, Verdict::Passed)]);
    project
}

fn is_known(store: &Store, name: &str) -> bool {
    store.records(&[(test(name), Digest(1))]).unwrap().contains_key(&test(name))
}

#[test]
fn an_outcome_in_which_anything_was_changed_is_not_there() {
    for change in [
        "UPDATE outcome SET verdict = 'passed'",
        "UPDATE outcome SET fingerprint = x'02000000000000000000000000000000'",
        "UPDATE outcome SET at = at + 1",
        "UPDATE outcome SET duration_s = 0.5",
        "UPDATE outcome SET mac = x''",
        "UPDATE outcome SET test = 3 - test",
        "UPDATE test SET name = 'C' WHERE name = 'A'; UPDATE test SET name = 'A' WHERE name = 'B'",
        "UPDATE run SET machine = 'elsewhere'",
        "UPDATE run SET commit_id = 'c2'",
        "UPDATE run SET dirty = 1",
        "UPDATE run SET key = randomblob(16)",
    ] {
        let project = recorded();
        project.database().execute_batch(change).unwrap();
        let store = project.store();
        assert!(!is_known(&store, "A"), "{change}");
        assert!(store.strangers() > 0, "{change}");
    }
    let store = recorded().store();
    assert!(is_known(&store, "A") && is_known(&store, "B"));
    assert_eq!(store.strangers(), 0);
}

#[test]
fn a_forged_outcome_does_not_hide_an_older_one() {
    let project = recorded();
    let database = project.database();
    database
        .execute_batch(
            "INSERT INTO outcome (test, fingerprint, run, at, verdict, duration_s, mac)
             SELECT test, fingerprint, run, at, 'passed', duration_s, mac FROM outcome",
        )
        .unwrap();
    let store = project.store();
    let record = &store.records(&[(test("A"), Digest(1))]).unwrap()[&test("A")];
    assert_eq!(record.last.as_ref().unwrap().verdict, Verdict::Failed);
    assert!(record.same_fingerprint.iter().all(|outcome| outcome.verdict == Verdict::Failed));
    store.gc(&GcOptions { keep_states: 5, older_than: None }).unwrap();
    let left: i64 = database.query_row("SELECT count(*) FROM outcome", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 2, "what is nobody's is dropped");
    assert!(is_known(&project.store(), "A"));
}

#[test]
fn a_state_or_run_in_which_anything_was_changed_is_not_there() {
    for change in [
        "UPDATE state SET commit_id = 'c2'",
        "UPDATE state SET dirty = 1",
        "UPDATE state SET recency = 7",
        "UPDATE state SET tests = 1",
        "UPDATE state SET worktree = randomblob(16)",
    ] {
        let project = recorded();
        project.database().execute_batch(change).unwrap();
        let store = project.store();
        assert_eq!((store.latest_state().unwrap(), store.strangers()), (None, 1), "{change}");
        assert!(store.clean_states_of_commit("c2").unwrap().is_empty());
    }
    let project = Project::new();
    let store = project.store();
    let (other, _) = ran(&store, "c0", &[("A", 1, Verdict::Passed)]);
    let untested = store.record_state(&state("c1", &[("A", 2)])).unwrap();
    let run = store.begin_run(untested, &info()).unwrap();
    store.record_outcomes(run, &[(test("A"), Digest(2), outcome(Verdict::Failed))]).unwrap();
    for change in [
        "UPDATE run SET ending = 'completed', ended_at = started_at WHERE ending IS NULL",
        "UPDATE run SET state = (SELECT key FROM state WHERE commit_id = 'c1')",
    ] {
        project.database().execute_batch(change).unwrap();
        assert!(!project.store().has_completed_run(untested).unwrap(), "{change}");
    }
    assert!(!project.store().has_completed_run(other).unwrap(), "its run was given to another state");
    assert!(store.finish_run(run, RunEnd::Completed).is_err());
}

#[test]
fn lists_and_chunks_that_were_changed_are_damage() {
    for change in [
        "UPDATE state SET snapshot = zeroblob(16)",
        "UPDATE state SET manifest = snapshot",
        "UPDATE chunk SET content = x'01'",
        "DELETE FROM chunk",
    ] {
        let project = recorded();
        project.database().execute_batch(change).unwrap();
        let store = project.store();
        let error = store.state(store.latest_state().unwrap().unwrap().id).unwrap_err();
        assert!(error.kind.is_damage(), "{change}: {error}");
    }
}

#[test]
fn a_summary_in_which_anything_was_changed_is_not_there_and_is_written_anew() {
    let (one, two) = ((Digest(1), b"one".to_vec()), (Digest(2), b"two".to_vec()));
    for change in [
        "UPDATE blob SET content = x'00' WHERE id = 1",
        "DELETE FROM blob WHERE id = 1; UPDATE blob SET key = x'01000000000000000000000000000000'",
        "UPDATE blob SET mac = x''",
    ] {
        let project = Project::new();
        project.store().put_blobs("summary", &[one.clone(), two.clone()]).unwrap();
        project.database().execute_batch(change).unwrap();
        let store = project.store();
        assert!(!store.blobs("summary", &[Digest(1)]).unwrap().contains_key(&Digest(1)), "{change}");
        assert!(store.strangers() > 0, "{change}");
        store.put_blobs("summary", std::slice::from_ref(&one)).unwrap();
        assert_eq!(store.blobs("summary", &[Digest(1)]).unwrap()[&Digest(1)], b"one", "{change}");
    }
}

#[test]
fn files_beside_the_database_count_only_as_they_were_written() {
    const TOLD: &str = "cargo/messages";
    let project = Project::new();
    let store = project.store();
    store.keep(Digest(1), b"an analysis").unwrap();
    assert_eq!(store.kept(Digest(1)).unwrap().as_deref(), Some(&b"an analysis"[..]));
    let (kept, told) = (project.directory().join("kept"), project.directory().join(TOLD));
    let one = kept.join(Digest(1).to_string());
    assert_eq!(fs::metadata(&one).unwrap().mode() & 0o777, 0o600);
    fs::copy(&one, kept.join(Digest(2).to_string())).unwrap();
    assert!(store.kept(Digest(2)).unwrap().is_none(), "under another name");
    for content in ["short", "another content that is long enough for a seal"] {
        fs::write(&one, content).unwrap();
        assert!(store.kept(Digest(1)).unwrap().is_none());
    }
    fs::create_dir(told.parent().unwrap()).unwrap();
    fs::write(&told, "what cargo said").unwrap();
    store.vouch_for(TOLD).unwrap();
    store.drop_strange_files(&[TOLD, "absent"]).unwrap();
    assert!(told.exists());
    fs::write(&told, "what somebody else says").unwrap();
    store.drop_strange_files(&[TOLD]).unwrap();
    assert!(!told.exists() && store.strangers() >= 3);
}

#[test]
fn two_keys_can_record_in_one_store_and_see_only_their_own() {
    let project = recorded();
    let other = || {
        let key = OwnerKey::from_text("the key of somebody else altogether").unwrap();
        Store::open(&project.directory(), key).unwrap()
    };
    let theirs = other();
    assert!(!is_known(&theirs, "A") && theirs.latest_state().unwrap().is_none());
    let mut same = state("c1", &[("A", 1), ("B", 1)]);
    same.manifest.push(ManifestEntry { kind: "summary".into(), name: "a.o".into(), key: Digest(5) });
    let id = theirs.record_state(&same).unwrap();
    theirs.put_blobs("summary", &[(Digest(5), b"five".to_vec())]).unwrap();
    let run = theirs.begin_run(id, &info()).unwrap();
    let tests: Vec<(TestId, Digest, _)> = vec![(test("A"), Digest(1), outcome(Verdict::Passed))];
    theirs.record_outcomes(run, &tests).unwrap();
    drop(theirs);
    let mine = Store::open(&project.directory(), key()).unwrap();
    let records = mine.records(&[(test("A"), Digest(1))]).unwrap();
    assert_eq!(records[&test("A")].last.as_ref().unwrap().verdict, Verdict::Failed);
    assert!(mine.state(mine.latest_state().unwrap().unwrap().id).unwrap().manifest.is_empty());
    assert_eq!(other().state(id).unwrap().manifest.len(), 1);
    project.assert_sound();
}
