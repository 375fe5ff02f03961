//! What `status` counts and calls flaky.

use std::collections::BTreeMap;

use fewer_core::{Digest, Verdict};
use fewer_store::{RunEnd, Status};

use crate::project::{Project, info, outcome, ran, state, test};

#[test]
fn an_empty_store_has_nothing_but_its_size() {
    let status = Project::new().store().status().unwrap();
    assert!(status.bytes > 0);
    let nothing = Status {
        states: 0,
        tests: 0,
        outcomes: 0,
        runs: 0,
        unfinished_runs: 0,
        bytes: status.bytes,
        last_run: None,
        flaky: Vec::new(),
    };
    assert_eq!(status, nothing);
}

#[test]
fn counts_and_the_last_run_are_told() {
    use Verdict::*;
    let project = Project::new();
    let store = project.store();
    ran(&store, "c1", &[("A", 1, Passed), ("B", 1, Failed)]);
    let (state, run) = ran(&store, "c2", &[("A", 2, Passed), ("B", 2, Passed), ("C", 2, Crashed)]);
    let status = store.status().unwrap();
    assert_eq!((status.states, status.tests, status.outcomes, status.runs), (2, 3, 5, 2));
    assert_eq!(status.unfinished_runs, 0);
    let last = status.last_run.unwrap();
    assert_eq!((last.id, last.state, last.commit.as_deref()), (run, Some(state), Some("c2")));
    assert_eq!((last.machine.as_str(), last.command.as_str()), ("here", "fewer run"));
    assert_eq!(last.verdicts, BTreeMap::from([(Passed, 2), (Crashed, 1)]));
    assert_eq!(last.end, Some(RunEnd::Completed));
    assert!(last.ended_at.unwrap().as_millisecond() >= last.started_at.as_millisecond());
}

#[test]
fn a_run_that_never_ended_shows_as_such() {
    let project = Project::new();
    let store = project.store();
    let state = store.record_state(&state("c1", &[("A", 1), ("B", 1)])).unwrap();
    let run = store.begin_run(state, &info()).unwrap();
    store.record_outcomes(run, &[(test("A"), Digest(1), outcome(Verdict::Passed))]).unwrap();
    let status = project.store().status().unwrap();
    let last = status.last_run.unwrap();
    assert_eq!((status.unfinished_runs, last.end, last.ended_at), (1, None, None));
    assert_eq!(last.verdicts, BTreeMap::from([(Verdict::Passed, 1)]));
    store.finish_run(run, RunEnd::Interrupted).unwrap();
    let status = store.status().unwrap();
    assert_eq!((status.unfinished_runs, status.last_run.unwrap().end), (0, Some(RunEnd::Interrupted)));
}

#[test]
fn a_test_is_flaky_when_one_fingerprint_passed_and_failed() {
    use Verdict::*;
    let project = Project::new();
    let store = project.store();
    ran(&store, "c1", &[("Flaky", 1, Passed), ("Fixed", 1, Failed), ("Odd", 1, Skipped), ("Old", 1, Passed)]);
    ran(
        &store,
        "c1",
        &[("Flaky", 1, TimedOut), ("Fixed", 1, Crashed), ("Odd", 1, Failed), ("Old", 1, Failed)],
    );
    ran(
        &store,
        "c1",
        &[("Flaky", 1, Failed), ("Fixed", 2, Passed), ("Odd", 1, Inconclusive), ("Old", 2, Passed)],
    );
    let flaky: Vec<(String, Digest, u64, u64, bool)> = store
        .status()
        .unwrap()
        .flaky
        .into_iter()
        .map(|test| (test.id.name, test.fingerprint, test.passed, test.failed, test.current))
        .collect();
    let expected =
        [("Flaky".to_string(), Digest(1), 1, 2, true), ("Old".to_string(), Digest(1), 1, 1, false)];
    assert_eq!(flaky, expected);
}
