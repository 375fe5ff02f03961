//! A history small enough to compute every curve by hand.
//!
//! Labels: A `xsusummm`-like sequences are spelt out beside each commit below; x is excluded.

use fewer_lab::records::PreSubmit::{self, NoTransition, NotAffected, Skipped, Transition, Unknown};
use fewer_lab::{Experiment, Measure};

use crate::workbench::{Commit, Workbench};

const A: &str = "a/A";
const B: &str = "a/b/B";
const C: &str = "c/C";
const D: &str = "D";

fn history() -> Workbench {
    let none: PreSubmit = Unknown;
    Workbench::with(&[
        // All excluded.
        Commit {
            hour: 100,
            author: "x",
            files: &[],
            rows: &[(A, 'P', none), (B, 'P', none), (C, 'P', none), (D, 'P', none)],
        },
        // A safe, B unsafe, C maybe, D safe.
        Commit {
            hour: 101,
            author: "y",
            files: &["a/b/x"],
            rows: &[(A, 'P', Skipped), (B, 'F', Transition), (C, '-', NoTransition), (D, 'P', NotAffected)],
        },
        // A unsafe, B safe, C maybe.
        Commit {
            hour: 102,
            author: "x",
            files: &["c/y"],
            rows: &[(A, 'F', none), (B, 'F', none), (C, 'F', none)],
        },
        // Both safe: no transition commit.
        Commit { hour: 103, author: "z", files: &[], rows: &[(A, 'F', none), (D, 'P', none)] },
        // A unsafe, B safe, C unsafe, D unsafe.
        Commit {
            hour: 110,
            author: "y",
            files: &[],
            rows: &[(A, 'P', Transition), (B, 'F', Skipped), (C, 'P', NoTransition), (D, 'F', none)],
        },
        // A maybe, B safe.
        Commit { hour: 111, author: "x", files: &["a/z"], rows: &[(A, '-', none), (B, '-', none)] },
        // A maybe, B safe.
        Commit { hour: 112, author: "x", files: &["a/z"], rows: &[(A, 'F', NotAffected), (B, 'F', none)] },
    ])
}

/// Shares at a rate: safe, unsafe and maybe-unsafe by All, then by Any.
#[track_caller]
fn check(configuration: &str, rate: usize, expected: [f64; 6]) {
    let simulation = history().run(&Experiment::default());
    let configuration = configuration.parse().unwrap();
    for (measure, expected) in Measure::ALL.into_iter().zip(expected) {
        let found = simulation.curve(&configuration, measure).unwrap().at(rate);
        assert!(
            (found - expected).abs() < 1e-9,
            "{configuration}, {measure:?}, {rate} %: {found}, not {expected}"
        );
    }
}

#[test]
fn rows_are_accounted_for() {
    let simulation = history().run(&Experiment::default());
    let counts = simulation.counts;
    assert_eq!((counts.rows, counts.safe, counts.maybe_unsafe, counts.unsafe_rows), (21, 8, 4, 5));
    assert_eq!((counts.no_earlier_result, counts.after_last_result, counts.reruns), (4, 0, 0));
    assert_eq!((simulation.commits, simulation.targets), (7, 4));
    for (configuration, tally) in &simulation.tallies {
        assert_eq!((tally.unsafe_commits, tally.maybe_commits), (3, 2), "{configuration}");
    }
}

#[test]
fn the_baselines_are_as_computed_by_hand() {
    check("random", 50, [0.3, 11.0 / 18.0, 0.5, 23.0 / 30.0, 1.0 / 18.0, 0.5]);
    check("random", 25, [0.75, 1.0 / 3.0, 0.0, 1.0, 0.0, 0.0]);
    check("optimal", 50, [0.8, 1.0 / 3.0, 0.0, 1.0, 0.0, 0.0]);
    check("pessimal", 50, [0.0, 1.0, 1.0, 0.4, 1.0 / 3.0, 1.0]);
}

#[test]
fn the_affected_count_is_as_computed_by_hand() {
    check("affected-count/12h", 50, [0.5, 11.0 / 18.0, 0.0, 29.0 / 30.0, 1.0 / 18.0, 0.0]);
    check("affected-count/12h", 25, [23.0 / 30.0, 11.0 / 36.0, 0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn the_author_count_is_as_computed_by_hand() {
    check("author-count/12h", 50, [0.5, 11.0 / 18.0, 0.0, 29.0 / 30.0, 1.0 / 18.0, 0.0]);
    check("author-count/12h", 25, [0.8, 0.25, 0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn the_transition_count_is_as_computed_by_hand() {
    check("transition-count/12h/1h", 50, [0.4, 11.0 / 18.0, 0.25, 13.0 / 15.0, 1.0 / 18.0, 0.25]);
    check("transition-count/12h/1h", 25, [0.7, 5.0 / 12.0, 0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn the_pre_submit_order_is_as_computed_by_hand() {
    check("pre-submit", 50, [4.0 / 15.0, 4.0 / 9.0, 0.5, 0.8, 0.0, 0.5]);
    check("pre-submit", 25, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn the_shared_directories_are_as_computed_by_hand() {
    check("shared-directories", 50, [0.5, 0.5, 0.0, 1.0, 0.0, 0.0]);
    check("shared-directories", 25, [0.75, 0.25, 0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn everything_is_safe_at_0_and_nothing_at_100_percent() {
    let simulation = history().run(&Experiment::default());
    for (configuration, tally) in &simulation.tallies {
        for measure in Measure::ALL {
            let curve = measure.curve(tally).unwrap();
            let ends = if measure.is_higher_better() { (1.0, 0.0) } else { (0.0, 1.0) };
            assert_eq!((curve.at(0), curve.at(100)), ends, "{configuration} {measure:?}");
        }
    }
}
