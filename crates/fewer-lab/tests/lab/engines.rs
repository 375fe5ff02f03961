//! The embedded engine: the same numbers whatever the memory, interrupted or not, and what must hold of every run.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use fewer_lab::engine::embedded::{self, Options};
use fewer_lab::engine::{Stage, Watch};
use fewer_lab::generate::Shape;
use fewer_lab::records::PreSubmit::Unknown;
use fewer_lab::{Algorithm, Experiment, Findings, Hours, LabError, Measure, RATES};

use crate::workbench::{Commit, PLENTY, Workbench, run};

fn shape() -> Shape {
    Shape { commits: 300, targets: 200, breaks: 0.2, ..Shape::of_rows(15_000, 7) }
}

fn small_experiment() -> Experiment {
    Experiment {
        windows: vec![Hours(2), Hours(24)],
        milestones: vec![Hours(1), Hours(8)],
        ..Experiment::default()
    }
}

#[test]
fn little_memory_gives_the_same_tallies_as_plenty() {
    let workbench = Workbench::generated(&shape());
    let history = workbench.history();
    let plenty = run(&history, &small_experiment(), &workbench.path("a"), PLENTY);
    // Tens of shards and partitions.
    let little = run(&history, &small_experiment(), &workbench.path("b"), 1 << 17);
    assert_eq!((plenty.counts, &plenty.example), (little.counts, &little.example));
    assert!(plenty == little);
    assert!(plenty.counts.unsafe_rows > 20 && plenty.counts.maybe_unsafe > 20, "{:?}", plenty.counts);
    assert!(plenty.counts.reruns > 0);
    assert_eq!(plenty.commits, history_commits(&workbench));
}

fn history_commits(workbench: &Workbench) -> u64 {
    let mut positions = std::collections::HashSet::new();
    let history = workbench.history();
    for piece in history.executions.pieces(1 << 20) {
        for batch in history.executions.batches(&piece, &["position"]).unwrap() {
            let batch = batch.unwrap();
            let column = batch.column(0).as_any().downcast_ref::<arrow_array::Int32Array>().unwrap();
            positions.extend(column.values().iter().copied());
        }
    }
    positions.len() as u64
}

#[test]
fn memory_that_cannot_do_is_refused_with_what_would() {
    let workbench = Workbench::generated(&shape());
    let options = Options { work: workbench.path("work"), memory: 1 << 10 };
    let error =
        embedded::run(&workbench.history(), &small_experiment(), &options, &fewer_lab::engine::Ignored)
            .unwrap_err();
    assert!(matches!(error, LabError::TooLittleMemory { .. }), "{error}");
    assert!(error.to_string().contains("at least 1 MB"), "{error}");
}

#[test]
fn optimal_and_pessimal_bound_every_curve_at_every_rate() {
    let simulation = Workbench::generated(&shape()).run(&Experiment::default());
    let best = simulation.tally(&"optimal".parse().unwrap()).unwrap();
    let worst = simulation.tally(&"pessimal".parse().unwrap()).unwrap();
    for (configuration, tally) in &simulation.tallies {
        for measure in Measure::ALL {
            let [best, one, worst] = [best, tally, worst].map(|tally| measure.curve(tally).unwrap());
            for rate in 0..RATES {
                let (low, high) = match measure.is_higher_better() {
                    true => (worst.at(rate), best.at(rate)),
                    false => (best.at(rate), worst.at(rate)),
                };
                let share = one.at(rate);
                assert!(low <= share && share <= high, "{configuration} {measure:?} {rate} %");
            }
        }
    }
}

#[test]
fn a_sampled_run_agrees_with_the_exact_one_within_its_error() {
    let workbench = Workbench::generated(&shape());
    let exact = workbench.run(&small_experiment());
    let sampled = workbench.run(&Experiment { sample: Some(3), ..small_experiment() });
    let again = workbench.run(&Experiment { sample: Some(3), ..small_experiment() });
    let other = workbench.run(&Experiment { sample: Some(4), ..small_experiment() });
    assert!(sampled.tallies == again.tallies && sampled.tallies != other.tallies);
    for ((configuration, exact), (_, sampled)) in exact.tallies.iter().zip(&sampled.tallies) {
        let commits = (exact.unsafe_commits + exact.maybe_commits) as f64;
        let curves = [exact, sampled].map(|tally| Measure::SafeAll.curve(tally).unwrap());
        for rate in 0..RATES {
            // The variance of a mean of chances is at most p (1 - p) / n.
            let chance = curves[0].at(rate);
            let error = 5.0 * (chance * (1.0 - chance) / commits).sqrt() + 2.0 / commits;
            let difference = (chance - curves[1].at(rate)).abs();
            assert!(difference <= error, "{configuration} {rate} %: {difference} > {error}");
        }
    }
}

/// Stops after some rows, and notes what it saw.
struct Impatient {
    rows_left: AtomicU64,
    begun: Mutex<Vec<Stage>>,
    resumed: Mutex<Vec<Stage>>,
}

impl Impatient {
    fn new(rows: u64) -> Impatient {
        Impatient { rows_left: AtomicU64::new(rows), begun: Mutex::default(), resumed: Mutex::default() }
    }
}

impl Watch for Impatient {
    fn begin(&self, stage: Stage, _: u64) {
        self.begun.lock().unwrap().push(stage);
    }

    fn resumed(&self, stage: Stage) {
        self.resumed.lock().unwrap().push(stage);
    }

    fn advance(&self, rows: u64) {
        let left = self.rows_left.load(Ordering::SeqCst);
        self.rows_left.store(left.saturating_sub(rows), Ordering::SeqCst);
    }

    fn is_cancelled(&self) -> bool {
        self.rows_left.load(Ordering::SeqCst) == 0
    }
}

#[test]
fn an_interrupted_run_goes_on_after_its_last_stage() {
    let workbench = Workbench::generated(&shape());
    let (history, experiment) = (workbench.history(), small_experiment());
    let expected = run(&history, &experiment, &workbench.path("other"), 1 << 20);
    let options = Options { work: workbench.path("work"), memory: 1 << 20 };
    // Enough for the shards, not for all labels.
    let watch = Impatient::new(history.executions.rows() + 10);
    let error = embedded::run(&history, &experiment, &options, &watch).unwrap_err();
    assert!(matches!(error, LabError::Interrupted), "{error}");
    let watch = Impatient::new(u64::MAX);
    assert!(embedded::run(&history, &experiment, &options, &watch).unwrap() == expected);
    assert_eq!(*watch.resumed.lock().unwrap(), [Stage::Shard]);
    assert_eq!(*watch.begun.lock().unwrap(), [Stage::Label, Stage::Score, Stage::Evaluate]);
    // Everything but the evaluation is known now; another experiment has the labels in common.
    let watch = Impatient::new(u64::MAX);
    assert!(embedded::run(&history, &experiment, &options, &watch).unwrap() == expected);
    assert_eq!(*watch.resumed.lock().unwrap(), [Stage::Label, Stage::Score]);
    let watch = Impatient::new(u64::MAX);
    embedded::run(&history, &Experiment::default(), &options, &watch).unwrap();
    assert_eq!(*watch.resumed.lock().unwrap(), [Stage::Label]);
}

#[test]
fn a_work_directory_of_somebody_else_is_left_alone() {
    let workbench = Workbench::generated(&shape());
    let work = workbench.path("precious");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("thesis.tex"), "42").unwrap();
    let options = Options { work: work.clone(), memory: PLENTY };
    let history = workbench.history();
    let ignored = fewer_lab::engine::Ignored;
    let error = embedded::run(&history, &small_experiment(), &options, &ignored).unwrap_err();
    assert!(error.to_string().contains("name another directory"), "{error}");
    assert_eq!(std::fs::read_to_string(work.join("thesis.tex")).unwrap(), "42");
}

#[test]
fn executions_at_one_commit_are_one_row_and_the_last_result_counts() {
    let commit = |hour, rows| Commit { hour, author: "x", files: &[], rows };
    let simulation = Workbench::with(&[
        commit(1, &[("a", 'P', Unknown), ("b", 'P', Unknown)]),
        commit(2, &[("a", 'F', Unknown), ("b", 'F', Unknown), ("a", 'P', Unknown), ("a", '-', Unknown)]),
    ])
    .run(&small_experiment());
    assert_eq!((simulation.counts.rows, simulation.counts.reruns), (6, 2));
    assert_eq!((simulation.counts.safe, simulation.counts.unsafe_rows), (1, 1));
}

#[test]
fn a_history_without_transitions_has_no_curves_but_counts() {
    let rows: &[(&str, char, _)] = &[("a", 'P', Unknown)];
    let commit = |hour| Commit { hour, author: "x", files: &[], rows };
    let simulation = Workbench::with(&[commit(1), commit(2), commit(3)]).run(&small_experiment());
    assert_eq!((simulation.counts.safe, simulation.counts.no_earlier_result), (2, 1));
    let findings = Findings { simulation: &simulation, raw: None, sources: None };
    assert_eq!(findings.summary(), []);
    assert!(findings.tables().iter().all(|table| table.name != "figure-4" || table.is_empty()));
}

#[test]
fn every_figure_has_a_table_in_three_formats() {
    let workbench = Workbench::generated(&shape());
    let simulation = workbench.run(&Experiment::default());
    let sources = fewer_lab::clean::TransitionSources { transitions: 4, genuine: 4, ..Default::default() };
    let findings = Findings { simulation: &simulation, raw: Some(&simulation), sources: Some(&sources) };
    let directory = workbench.path("figures");
    std::fs::create_dir(&directory).unwrap();
    for table in findings.tables() {
        assert!(!table.is_empty(), "{}", table.name);
        table.write(&directory).unwrap();
    }
    for figure in 1..=8 {
        let file = |extension: &str| directory.join(format!("figure-{figure}.{extension}"));
        let lines = std::fs::read_to_string(file("csv")).unwrap().lines().count();
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(file("json")).unwrap()).unwrap();
        assert_eq!(json["rows"].as_array().unwrap().len(), lines - 1);
        let parquet = std::fs::File::open(file("parquet")).unwrap();
        let reader = parquet::file::reader::SerializedFileReader::new(parquet).unwrap();
        let rows = parquet::file::reader::FileReader::metadata(&reader).file_metadata().num_rows();
        assert_eq!(rows, lines as i64 - 1);
    }
    // 8 windows for each of three algorithms, and 8 milestones.
    assert_eq!(std::fs::read_to_string(directory.join("figure-8.csv")).unwrap().lines().count(), 33);
    // 8 algorithms at 101 rates.
    assert_eq!(std::fs::read_to_string(directory.join("figure-4.csv")).unwrap().lines().count(), 809);
    let summary = findings.summary();
    let of = |algorithm| summary.iter().find(|one| one.algorithm == algorithm).unwrap();
    assert_eq!(of(Algorithm::Optimal).gap_to_optimal, 0.0);
    assert_eq!(of(Algorithm::Random).gap_to_random, 0.0);
    assert!(of(Algorithm::AuthorCount).gap_to_optimal > 0.0);
}
