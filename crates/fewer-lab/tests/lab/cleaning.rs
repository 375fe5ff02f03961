//! Cleaning whole histories: what goes, what stays, and that every transition has one source.

use std::fs;

use fewer_lab::Experiment;
use fewer_lab::clean::{CleanOptions, MOST_TRANSITIONS, Oracle, Report, clean};
use fewer_lab::engine::Ignored;
use fewer_lab::engine::embedded::Options;
use fewer_lab::generate::Shape;
use fewer_lab::records::History;
use fewer_lab::records::PreSubmit::Unknown;

use crate::workbench::{Commit, PLENTY, Workbench, run};

fn cleaned(workbench: &Workbench, oracle: Oracle, most_transitions: u32) -> (History, Report) {
    let engine = Options { work: workbench.path("cleaning"), memory: PLENTY };
    let options = CleanOptions { oracle, most_transitions, engine };
    let output = workbench.path("clean");
    let report = clean(&workbench.history(), &output, &options, &Ignored).unwrap();
    (History::open(&output).unwrap(), report)
}

#[test]
fn the_passes_remove_what_is_flaky_and_report_it() {
    let mut rows: Vec<Vec<(&str, char, _)>> = Vec::new();
    for hour in 0..18 {
        let flip = if hour % 2 == 0 { 'P' } else { 'F' };
        rows.push(vec![("wild", flip, Unknown), ("calm", 'P', Unknown), ("named", flip, Unknown)]);
    }
    // A rerun that contradicts, one that agrees, and a real break.
    rows[3].extend([("calm", 'F', Unknown), ("calm", 'P', Unknown)]);
    rows[5].push(("calm", 'P', Unknown));
    rows[9][1].1 = 'F';
    let commits: Vec<Commit<'_>> =
        (0..).zip(&rows).map(|(hour, rows)| Commit { hour, author: "x", files: &["a/b"], rows }).collect();
    let workbench = Workbench::with(&commits);
    let list = workbench.path("flaky.txt");
    fs::write(&list, "# known to be flaky\nnamed\n\ncalm\tc12\n").unwrap();
    let (history, report) = cleaned(&workbench, Oracle::read(&list).unwrap(), MOST_TRANSITIONS);
    let sources = report.sources;
    // calm: P.. P F P .. F P; wild and named: 17 each.
    assert_eq!((sources.transitions, sources.genuine), (17 + 17 + 4, 2));
    assert_eq!((sources.reruns.transitions, sources.reruns.results), (2, 3));
    assert_eq!((sources.oracle.transitions, sources.oracle.results), (17, 19));
    assert_eq!((sources.frequent.transitions, sources.frequent.targets), (17, 1));
    assert_eq!(sources.merged, 1);
    assert_eq!((report.rows_in, report.rows_out, history.executions.rows()), (57, 18, 18));
    assert_eq!(Report::of(&history.directory).unwrap(), Some(report));
    assert_eq!(Report::of(&workbench.history().directory).unwrap(), None);
    // The two commits without a trusted result are still commits that affected the target.
    let simulation = run(&history, &Experiment::default(), &workbench.path("work"), PLENTY);
    let counts = simulation.counts;
    assert_eq!((counts.rows, counts.safe, counts.unsafe_rows, counts.no_earlier_result), (18, 15, 2, 1));
    assert!(history.modified_files().is_some());
}

#[test]
fn flakiness_is_where_most_transitions_of_a_generated_history_come_from() {
    let shape = Shape { commits: 400, targets: 200, flaky: 0.1, ..Shape::of_rows(20_000, 3) };
    let workbench = Workbench::generated(&shape);
    let (history, report) = cleaned(&workbench, Oracle::default(), MOST_TRANSITIONS);
    let sources = report.sources;
    let removed = sources.reruns.transitions + sources.oracle.transitions + sources.frequent.transitions;
    assert_eq!(sources.transitions, removed + sources.genuine);
    assert!(sources.genuine > 0 && removed > sources.genuine, "{sources:?}");
    let [raw, clean] = [workbench.history(), history]
        .map(|history| run(&history, &Experiment::default(), &workbench.path("work"), PLENTY).counts);
    assert!(clean.unsafe_rows + clean.maybe_unsafe < raw.unsafe_rows + raw.maybe_unsafe);
    assert_eq!(clean.reruns, 0);
}

#[test]
fn a_list_of_flaky_targets_that_cannot_be_understood_is_refused_with_its_line() {
    let workbench = Workbench::new();
    let list = workbench.path("flaky.txt");
    fs::write(&list, "fine\nwrong\tc1\tc2\n").unwrap();
    let error = Oracle::read(&list).unwrap_err().to_string();
    assert!(error.contains("flaky.txt, row 2: it has more than a target, a tab and a commit"), "{error}");
}
