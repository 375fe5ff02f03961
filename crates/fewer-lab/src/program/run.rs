//! `fewer simulate run`: every algorithm with every window, the tables and plots of all figures, and a summary.

use anyhow::Context;
use fewer_console::{Console, ExitCode, TableFormat};
use fewer_lab::clean::{Report, TransitionSources};
use fewer_lab::engine::embedded::{self, Options};
use fewer_lab::engine::{Example, RowCounts, Simulation, spark};
use fewer_lab::records::{History, Staging};
use fewer_lab::{Algorithm, AlgorithmSummary, Experiment, Findings, LabError, Measure, Table};
use fewer_report::document;
use serde::Serialize;

use super::meter::Meter;
use super::options::{EngineName, RunOptions};
use super::ranking::keep_best;
use super::{conclude, engine, plots, text_of};

/// `fewer-simulate-run/1`.
#[derive(Serialize)]
struct RunView<'r> {
    experiment: &'r Experiment,
    commits: u64,
    transition_commits: u64,
    unsafe_commits: u64,
    targets: u64,
    rows: RowCounts,
    example: &'r Example,
    transition_sources: Option<&'r TransitionSources>,
    summary: Vec<AlgorithmSummary>,
    notes: Vec<String>,
}

/// Where the work is done, resolved.
enum Engine {
    Embedded(Options),
    Spark(spark::Options),
}

pub fn execute(console: &Console, options: &RunOptions) -> anyhow::Result<ExitCode> {
    let history = History::open(&options.history)?;
    let raw = options.raw.as_deref().map(History::open).transpose()?;
    let report = Report::of(&options.history)?;
    let staging = Staging::new(&options.output)?;
    let experiment = options.experiment.experiment();
    let meter = Meter::new(console)?;
    let engine = Engine::of(options)?;
    let simulated = meter.concluded(simulate(&history, raw.as_ref(), &experiment, &engine, &meter));
    let (simulation, raw) = match &engine {
        Engine::Embedded(embedded) => conclude(console, &options.engine, embedded, simulated)?,
        Engine::Spark(_) => simulated?,
    };
    let sources = report.as_ref().map(|report| &report.sources);
    let findings = Findings { simulation: &simulation, raw: raw.as_ref(), sources };
    let tables = findings.tables();
    tables.iter().try_for_each(|table| table.write(staging.path()))?;
    plots::write(&tables, staging.path())?;
    let view = view(&findings, &history);
    let document = document("fewer-simulate-run/1", &view);
    std::fs::write(staging.path().join("run.json"), &document)?;
    staging.publish()?;
    view.notes.iter().for_each(|note| console.note(note));
    keep_best(console, &options.history, &experiment, &view.summary)?;
    let summary = tables.iter().find(|table| table.name == "summary").expect("there is a summary");
    console.data(&match options.format {
        TableFormat::Table => text(&view, summary, options),
        TableFormat::Json => document,
        TableFormat::Csv => summary.csv(),
    })?;
    Ok(ExitCode::Green)
}

impl Engine {
    fn of(options: &RunOptions) -> anyhow::Result<Engine> {
        let cluster = &options.cluster;
        Ok(match cluster.name {
            EngineName::Embedded => Engine::Embedded(engine(&options.engine, &options.output)),
            EngineName::Spark => Engine::Spark(spark::Options {
                master: cluster.master.clone().unwrap_or_default(),
                python: cluster.python.clone(),
                program: std::env::current_exe().context("cannot tell where this program is")?,
                partitions: cluster.partitions,
                settings: cluster.settings.clone(),
            }),
        })
    }

    fn run(
        &self,
        history: &History,
        experiment: &Experiment,
        meter: &Meter<'_>,
    ) -> Result<Simulation, LabError> {
        match self {
            Engine::Embedded(options) => embedded::run(history, experiment, options, meter),
            Engine::Spark(options) => spark::run(history, experiment, options, meter),
        }
    }

    /// The same for another history.
    fn aside(&self) -> Engine {
        match self {
            Engine::Embedded(options) => {
                Engine::Embedded(Options { work: options.work.join("raw"), ..options.clone() })
            }
            Engine::Spark(options) => Engine::Spark(options.clone()),
        }
    }
}

/// The history, and the raw one with the algorithm of figure 1 alone.
fn simulate(
    history: &History,
    raw: Option<&History>,
    experiment: &Experiment,
    engine: &Engine,
    meter: &Meter<'_>,
) -> Result<(Simulation, Option<Simulation>), LabError> {
    let simulation = engine.run(history, experiment, meter)?;
    let best = simulation.best(Algorithm::TransitionCount, Measure::SafeAll);
    let (Some(raw), Some(best)) = (raw, best) else { return Ok((simulation, None)) };
    let experiment = Experiment {
        algorithms: vec![Algorithm::TransitionCount],
        windows: best.window.into_iter().collect(),
        milestones: best.milestone.into_iter().collect(),
        sample: experiment.sample,
    };
    let raw = engine.aside().run(raw, &experiment, meter)?;
    Ok((simulation, Some(raw)))
}

fn view<'r>(findings: &Findings<'r>, history: &History) -> RunView<'r> {
    let simulation = findings.simulation;
    let tally = simulation.tallies.first().map(|(_, tally)| tally);
    let [unsafe_commits, maybe_commits] =
        tally.map_or([0, 0], |tally| [tally.unsafe_commits, tally.maybe_commits]);
    let mut notes = Vec::new();
    if unsafe_commits + maybe_commits == 0 {
        notes.push("no commit has a transition, so that there is nothing to compare".to_string());
    }
    if findings.sources.is_none() {
        notes.push(
            "the history was not cleaned of flaky results, which make algorithms look worse than they are; \
             see `fewer simulate clean`"
                .to_string(),
        );
    }
    notes.extend(
        simulation.algorithms().into_iter().filter_map(|one| without_signal(simulation, history, one)),
    );
    RunView {
        experiment: &simulation.experiment,
        commits: simulation.commits,
        transition_commits: unsafe_commits + maybe_commits,
        unsafe_commits,
        targets: simulation.targets,
        rows: simulation.counts,
        example: &simulation.example,
        transition_sources: findings.sources,
        summary: findings.summary(),
        notes,
    }
}

/// What is missing where an algorithm does just as chance does.
fn without_signal(simulation: &Simulation, history: &History, algorithm: Algorithm) -> Option<String> {
    let why = match algorithm {
        Algorithm::Random | Algorithm::Optimal | Algorithm::Pessimal => return None,
        Algorithm::AuthorCount => {
            "the history tells no authors apart at the targets of a commit: name their column (`--column author=NAME`), or take \
             them from git (`--git REPOSITORY`) when importing"
        }
        Algorithm::SharedDirectories if history.modified_files().is_none() => {
            "no modified files are known: take them from git (`--git REPOSITORY`) when importing"
        }
        Algorithm::SharedDirectories => {
            "names of targets share no directory with modified files: a target has to begin with its path (`a/b/x_test`, \
             `//a/b:x`) or to be a class with its package (`org.demo.ATest`)"
        }
        Algorithm::PreSubmit => {
            "the history has no results before submission: name their column (`--column pre-submit=NAME`) when importing"
        }
        Algorithm::TransitionCount | Algorithm::AffectedCount => {
            "nothing that happened within its windows tells the targets of a commit apart"
        }
    };
    simulation.is_random(algorithm).then(|| format!("{} does as chance does: {why}", algorithm.word()))
}

fn text(view: &RunView<'_>, summary: &Table, options: &RunOptions) -> String {
    let mut text = String::new();
    if !summary.is_empty() {
        text.push_str(&text_of(summary));
        text.push('\n');
    }
    let rows = &view.rows;
    text.push_str(&format!(
        "{} of {} commits have a transition, {} of them at a known commit; {} of {} rows of {} targets are judged\n\
         the tables and plots of all figures are in {}\n",
        view.transition_commits,
        view.commits,
        view.unsafe_commits,
        rows.labelled(),
        rows.rows,
        view.targets,
        options.output.display()
    ));
    text
}
