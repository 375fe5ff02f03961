//! `fewer history generate`: merges generated from a linear history, and what the strategies select at them.

use fewer_console::{Console, ExitCode};
use fewer_core::Dominators;
use fewer_core::history::History;
use fewer_core::history::diamonds::{Diamonds, diamonds};
use fewer_core::history::experiments::{FirstSeen, Measurement, Operation, Step, Summary};
use fewer_report::{GenerateView, GeneratedView};

use super::{analysed, analysed_notes, means};
use crate::cli::{GenerateOptions, Global, LayoutName, TableFormat};
use crate::history::{Layout, Versions};
use crate::session::Session;

pub fn execute(global: &Global, console: &Console, options: &GenerateOptions) -> anyhow::Result<ExitCode> {
    let session = Session::open(global, console)?;
    session.end_in_order();
    let (means, analyser) = means(&options.analyser)?;
    let count = options.versions as usize;
    let (layout, layout_word) = match options.layout {
        LayoutName::Versions => (Layout::Versions, "versions"),
        LayoutName::Changes => (Layout::Changes, "changes"),
    };
    let versions =
        Versions::read(&session, options.range.as_deref().unwrap_or_default(), count, &means, layout)?;
    let (graphs, measurements) = measure_all(&session, &versions, count)?;
    let notes = analysed_notes(versions.known);
    notes.iter().for_each(|note| console.note(note));
    let [oldest, newest] = [versions.commits.first(), versions.commits.last()]
        .map(|commit| commit.map(ToString::to_string).unwrap_or_default());
    let view = GenerateView {
        versions: count,
        oldest,
        newest,
        layout: layout_word,
        analyser,
        analysed: analysed(versions.known),
        graphs,
        all: Summary::of(measurements.iter()),
        notes,
    };
    console.data(&match options.format {
        TableFormat::Table => view.text(),
        TableFormat::Json => view.json(),
        TableFormat::Csv => view.csv(),
    })?;
    session.finish();
    Ok(ExitCode::Green)
}

fn measure_all(
    session: &Session<'_>,
    versions: &Versions,
    count: usize,
) -> anyhow::Result<(Vec<GeneratedView>, Vec<Measurement>)> {
    let _phase = session.timings.phase("select");
    let histories = diamonds(count);
    let mut progress = session.console.progress(histories.len());
    let (mut graphs, mut all) = (Vec::new(), Vec::new());
    for diamonds in &histories {
        session.go_on()?;
        let measurements = measure(versions, diamonds);
        let summary = Summary::of(measurements.iter());
        graphs.push(GeneratedView { branch_commits: diamonds.branch_commits, summary });
        all.extend(measurements);
        progress.advance("histories are generated");
    }
    Ok((graphs, all))
}

fn measure(versions: &Versions, diamonds: &Diamonds) -> Vec<Measurement> {
    let states = versions.lay_out(diamonds);
    let mut first_seen = FirstSeen::default();
    states.iter().for_each(|(commit, snapshot)| first_seen.note_all(*commit, snapshot));
    let dominators = Dominators::of(&diamonds.graph);
    let mut history = History::new(&diamonds.graph, &dominators, &states);
    let merges =
        diamonds.merges.iter().map(|&head| Step { head, operation: Operation::Merge, is_automatic: true });
    merges.filter_map(|step| history.measure(&step, &first_seen, None)).collect()
}
