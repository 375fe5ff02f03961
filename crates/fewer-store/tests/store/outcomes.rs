//! Outcomes and the records that plans are made from.

use fewer_core::{Digest, Outcome, TestRecord, Verdict};
use fewer_store::{OUTPUT_TAIL_LIMIT, RunEnd, RunId, RunInfo, StateId, Store};

use crate::project::{Project, info, outcome, ran, state, test};

fn record(store: &Store, name: &str, fingerprint: u128) -> TestRecord {
    let mut records = store.records(&[(test(name), Digest(fingerprint))]).unwrap();
    records.remove(&test(name)).unwrap_or_default()
}

fn verdicts(record: &TestRecord) -> Vec<Verdict> {
    record.same_fingerprint.iter().map(|outcome| outcome.verdict).collect()
}

#[test]
fn an_outcome_comes_back_with_where_and_when_it_was_seen() {
    let project = Project::new();
    let store = project.store();
    let mut dirty = state("0123456789abcdef", &[("A", 1)]);
    dirty.dirty = true;
    let state = store.record_state(&dirty).unwrap();
    let run = store.begin_run(state, &RunInfo::now("build-7", "fewer run --all")).unwrap();
    store.record_outcomes(run, &[(test("A"), Digest(1), outcome(Verdict::TimedOut))]).unwrap();

    let found = record(&project.store(), "A", 1);
    let last = found.last.unwrap();
    assert_eq!(last.verdict, Verdict::TimedOut);
    assert_eq!(last.duration_s, 0.25);
    assert_eq!(last.fingerprint, Digest(1));
    assert_eq!((last.commit.as_deref(), last.dirty), (Some("0123456789abcdef"), true));
    assert_eq!((last.machine.as_str(), last.states_ago), ("build-7", 0));
    let at: jiff::Timestamp = last.at.parse().unwrap();
    assert!(last.at.len() == "2026-11-15T20:15:04Z".len() && last.at.ends_with('Z'), "{}", last.at);
    assert!(jiff::Timestamp::now().duration_since(at).as_secs() < 600);
    assert_eq!(found.last_failure.unwrap(), last);
    assert_eq!(found.same_fingerprint, [last]);
}

#[test]
fn a_record_holds_the_same_fingerprint_the_last_and_the_last_failure() {
    use Verdict::*;
    let project = Project::new();
    let store = project.store();
    ran(&store, "c1", &[("A", 1, Passed), ("B", 1, Passed)]);
    ran(&store, "c2", &[("A", 2, Crashed)]);
    ran(&store, "c3", &[("A", 3, Failed)]);
    ran(&store, "c4", &[("A", 1, Skipped)]);
    ran(&store, "c5", &[("A", 4, Passed)]);
    let found = record(&store, "A", 1);
    assert_eq!(verdicts(&found), [Skipped, Passed]);
    assert_eq!(found.same_fingerprint[1].commit.as_deref(), Some("c1"));
    assert_eq!(found.last.unwrap().fingerprint, Digest(4));
    assert_eq!(found.last_failure.unwrap().fingerprint, Digest(3));

    let changed = record(&store, "A", 9);
    assert!(changed.same_fingerprint.is_empty() && changed.last.is_some());
    assert!(record(&store, "B", 1).last_failure.is_none());
    assert!(store.records(&[(test("C"), Digest(1))]).unwrap().is_empty());
}

#[test]
fn an_old_failure_or_pass_is_found_under_any_number_of_newer_outcomes() {
    use Verdict::*;
    for (old, new) in [(Failed, Passed), (Passed, Failed), (TimedOut, Inconclusive), (Passed, Skipped)] {
        let project = Project::in_memory();
        let store = project.store();
        let state = store.record_state(&state("c1", &[("A", 1)])).unwrap();
        let run = store.begin_run(state, &info()).unwrap();
        let outcomes: Vec<_> = [old]
            .into_iter()
            .chain(std::iter::repeat_n(new, 100))
            .map(|verdict| (test("A"), Digest(1), outcome(verdict)))
            .collect();
        store.record_outcomes(run, &outcomes).unwrap();
        let found = verdicts(&record(&store, "A", 1));
        assert_eq!((found.first(), found.last()), (Some(&new), Some(&old)), "{found:?}");
        assert!(found.len() < 10, "{found:?}");
    }
}

#[test]
fn states_ago_counts_the_distinct_states_recorded_since() {
    use Verdict::*;
    let project = Project::new();
    let store = project.store();
    let ago = |name: &str| record(&store, name, 1).last.unwrap().states_ago;
    ran(&store, "c1", &[("A", 1, Passed)]);
    assert_eq!(ago("A"), 0);
    ran(&store, "c2", &[("B", 1, Passed)]);
    ran(&store, "c2", &[("B", 1, Passed)]);
    assert_eq!((ago("A"), ago("B")), (1, 0));
    ran(&store, "c3", &[("C", 1, Passed)]);
    assert_eq!((ago("A"), ago("B"), ago("C")), (2, 1, 0));
    // Back to the first state: it is the newest now.
    store.record_state(&state("c1", &[("A", 1)])).unwrap();
    assert_eq!((ago("A"), ago("B"), ago("C")), (0, 2, 1));
}

#[test]
fn the_last_output_is_kept_up_to_its_limit() {
    let project = Project::new();
    let store = project.store();
    let state = store.record_state(&state("c1", &[("A", 1)])).unwrap();
    let run = store.begin_run(state, &info()).unwrap();
    let printed = |text: String| Outcome { output_tail: text, ..outcome(Verdict::Failed) };
    let long = format!("{}the end\0ü", "x".repeat(3 * OUTPUT_TAIL_LIMIT));
    store.record_outcomes(run, &[(test("A"), Digest(1), printed(long))]).unwrap();
    let kept = store.last_output(&test("A"), Digest(1)).unwrap().unwrap();
    assert_eq!(kept.len(), OUTPUT_TAIL_LIMIT);
    assert!(kept.ends_with("xthe end\0ü"));
    assert_eq!(store.last_output(&test("A"), Digest(2)).unwrap(), None);
    store.record_outcomes(run, &[(test("A"), Digest(1), outcome(Verdict::Passed))]).unwrap();
    assert_eq!(store.last_output(&test("A"), Digest(1)).unwrap(), None);
}

#[test]
fn a_duration_that_is_no_number_does_not_lose_the_outcome() {
    let project = Project::new();
    let store = project.store();
    let state = store.record_state(&state("c1", &[("A", 1)])).unwrap();
    let run = store.begin_run(state, &info()).unwrap();
    let endless = Outcome { duration_s: f64::NAN, ..outcome(Verdict::Passed) };
    store.record_outcomes(run, &[(test("A"), Digest(1), endless)]).unwrap();
    assert_eq!(record(&store, "A", 1).last.unwrap().duration_s, 0.0);
}

#[test]
fn unknown_runs_and_states_are_errors() {
    let project = Project::new();
    let store = project.store();
    let outcomes = [(test("A"), Digest(1), outcome(Verdict::Passed))];
    let refused = [
        store.begin_run(StateId(Digest(5)), &info()).unwrap_err(),
        store.record_outcomes(RunId(Digest(5)), &outcomes).unwrap_err(),
        store.finish_run(RunId(Digest(5)), RunEnd::Completed).unwrap_err(),
    ];
    for error in refused {
        assert!(error.to_string().contains("00000005"), "{error}");
    }
    assert_eq!(store.status().unwrap().outcomes, 0);
}
