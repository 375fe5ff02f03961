//! `fewer history replay`: what every strategy would have selected at the merges, cherry-picks and reverts of a
//! range.

use fewer_console::{Console, ExitCode};
use fewer_core::history::experiments::{Measurement, Operation, Step, Summary};
use fewer_git::PatchIds;
use fewer_report::{KindView, LeftOutView, ReplayView, StepKind, StepView};

use super::{analysed, analysed_notes, means};
use crate::cli::{Global, ReplayOptions, TableFormat};
use crate::history::{LeftOut, Replay, replay};
use crate::session::Session;

pub fn execute(global: &Global, console: &Console, options: &ReplayOptions) -> anyhow::Result<ExitCode> {
    let session = Session::open(global, console)?;
    session.end_in_order();
    let (means, analyser) = means(&options.analyser)?;
    let patch_ids = if options.patch_ids { PatchIds::Compare } else { PatchIds::Skip };
    let replay = replay(&session, &options.range, &means, patch_ids)?;
    let view = view(&replay, &options.range, analyser);
    view.notes.iter().for_each(|note| console.note(note));
    console.data(&match options.format {
        TableFormat::Table => view.text(),
        TableFormat::Json => view.json(),
        TableFormat::Csv => view.csv(),
    })?;
    session.finish();
    Ok(ExitCode::Green)
}

fn view(replay: &Replay, range: &str, analyser: &'static str) -> ReplayView {
    let steps: Vec<StepView> =
        replay.steps.iter().map(|(step, measurement)| step_view(replay, step, measurement)).collect();
    let summary = |kind| {
        let of_kind = steps.iter().filter(move |step| step.kind == kind);
        let automatic = of_kind.clone().filter(|step| step.automatic);
        KindView {
            all: Summary::of(of_kind.map(|step| &step.measurement)),
            automatic: Summary::of(automatic.map(|step| &step.measurement)),
        }
    };
    let [merges, cherry_picks, reverts] =
        [StepKind::Merge, StepKind::CherryPick, StepKind::Revert].map(summary);
    let LeftOut { before_range, without_source, not_recorded } = replay.left_out;
    let mut notes = analysed_notes(replay.known);
    if replay.left_out != LeftOut::default() {
        notes.push(format!("not judged: {}", replay.left_out));
    }
    let gaps =
        [&merges, &cherry_picks, &reverts].map(|summary| summary.all.s0.with_gaps).iter().sum::<usize>();
    if gaps > 0 {
        notes.push(format!(
            "at {gaps} of {} steps a record is missing that S0 needs; every test counts as affected there",
            steps.len()
        ));
    }
    ReplayView {
        range: range.to_string(),
        analyser,
        analysed: analysed(replay.known),
        left_out: LeftOutView { before_range, without_source, not_recorded },
        merges,
        cherry_picks,
        reverts,
        steps,
        notes,
    }
}

fn step_view(replay: &Replay, step: &Step, measurement: &Measurement) -> StepView {
    let (kind, of) = match step.operation {
        Operation::Merge => (StepKind::Merge, None),
        Operation::CherryPick { picked, .. } => (StepKind::CherryPick, Some(picked)),
        Operation::Revert { reverted, .. } => (StepKind::Revert, Some(reverted)),
    };
    StepView {
        kind,
        commit: replay.hash(step.head).to_string(),
        parents: replay.parents(step.head),
        of: of.map(|of| replay.hash(of).to_string()),
        automatic: step.is_automatic,
        measurement: measurement.clone(),
        s1_over_s0: measurement.s1_over_s0(),
        s0_over_sk: measurement.s0_over_sk(),
    }
}
