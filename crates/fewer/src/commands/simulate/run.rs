//! `fewer simulate run`: every algorithm with every window, the tables of all figures, and a summary.

use fewer_lab::clean::{Report, TransitionSources};
use fewer_lab::engine::embedded::{self, Options};
use fewer_lab::engine::{Example, RowCounts, Simulation};
use fewer_lab::records::{History, Staging};
use fewer_lab::{Algorithm, AlgorithmSummary, Experiment, Findings, LabError, Measure, Table};
use fewer_report::document;
use serde::Serialize;

use super::meter::Meter;
use super::options::RunOptions;
use super::{conclude, engine, text_of};
use crate::cli::TableFormat;
use crate::console::Console;
use crate::exit_code::ExitCode;

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

pub fn execute(console: &Console, options: &RunOptions) -> anyhow::Result<ExitCode> {
    let history = History::open(&options.history)?;
    let raw = options.raw.as_deref().map(History::open).transpose()?;
    let report = Report::of(&options.history)?;
    let staging = Staging::new(&options.output)?;
    let experiment = options.experiment.experiment();
    let engine = engine(&options.engine, &options.output);
    let meter = Meter::new(console)?;
    let simulated = simulate(&history, raw.as_ref(), &experiment, &engine, &meter);
    let simulated = meter.concluded(simulated);
    let (simulation, raw) = conclude(console, &options.engine, &engine, simulated)?;
    let sources = report.as_ref().map(|report| &report.sources);
    let findings = Findings { simulation: &simulation, raw: raw.as_ref(), sources };
    let tables = findings.tables();
    tables.iter().try_for_each(|table| table.write(staging.path()))?;
    let view = view(&findings);
    let document = document("fewer-simulate-run/1", &view);
    std::fs::write(staging.path().join("run.json"), &document)?;
    staging.publish()?;
    view.notes.iter().for_each(|note| console.note(note));
    let summary = tables.iter().find(|table| table.name == "summary").expect("there is a summary");
    console.data(&match options.format {
        TableFormat::Table => text(&view, summary, options),
        TableFormat::Json => document,
        TableFormat::Csv => summary.csv(),
    })?;
    Ok(ExitCode::Green)
}

/// The history, and the raw one with the algorithm of figure 1 alone.
fn simulate(
    history: &History,
    raw: Option<&History>,
    experiment: &Experiment,
    engine: &Options,
    meter: &Meter<'_>,
) -> Result<(Simulation, Option<Simulation>), LabError> {
    let simulation = embedded::run(history, experiment, engine, meter)?;
    let best = simulation.best(Algorithm::TransitionCount, Measure::SafeAll);
    let (Some(raw), Some(best)) = (raw, best) else { return Ok((simulation, None)) };
    let experiment = Experiment {
        algorithms: vec![Algorithm::TransitionCount],
        windows: best.window.into_iter().collect(),
        milestones: best.milestone.into_iter().collect(),
        sample: experiment.sample,
    };
    let work = engine.work.join("raw");
    let raw = embedded::run(raw, &experiment, &Options { work, ..engine.clone() }, meter)?;
    Ok((simulation, Some(raw)))
}

fn view<'r>(findings: &Findings<'r>) -> RunView<'r> {
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

fn text(view: &RunView<'_>, summary: &Table, options: &RunOptions) -> String {
    let mut text = String::new();
    if !summary.is_empty() {
        text.push_str(&text_of(summary));
        text.push('\n');
    }
    let rows = &view.rows;
    text.push_str(&format!(
        "{} of {} commits have a transition, {} of them at a known commit; {} of {} rows of {} targets are judged\n\
         the tables of all figures are in {}\n",
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
