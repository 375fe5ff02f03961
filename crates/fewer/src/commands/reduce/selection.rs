//! Selection of reduction: what `fewer run --reduced` leaves out, and what that is expected to lose for the change at
//! hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fewer_core::reduction::{RequirementKind, evolve, loss};
use fewer_core::{Decision, Plan, TestId};
use serde::Serialize;

use super::evaluate::rows;
use super::reduced_file::ReducedFile;
use super::requirement_files::RequirementFiles;
use super::revision::Revision;
use crate::cli::ReducedOptions;
use crate::session::Session;

/// What a reduced suite leaves out of a selection, and what that is expected to lose.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Leaving {
    /// The file that names the reduced suite.
    file: String,
    /// Tests that the change selects.
    selected: usize,
    /// Of these, tests that the reduced suite makes redundant.
    pub left_out: usize,
    /// Tests that the selection leaves alone.
    not_selected: usize,
    /// Empty where nothing is known of what the tests satisfy.
    estimated_losses: Vec<EstimatedLoss>,
}

/// What of the requirements that a change is about is not satisfied any more, by what was known last.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct EstimatedLoss {
    kind: RequirementKind,
    lost: usize,
    of: usize,
    percent: f64,
    /// The revision that the requirements are of. Example: `commit 0123456789`.
    known_of: String,
}

impl Leaving {
    /// For people, below the summary of a run.
    pub fn text(&self) -> String {
        let Leaving { file, selected, left_out, not_selected, estimated_losses } = self;
        let mut text = format!(
            "left out by selection: {not_selected}; by the reduced suite ({file}): {left_out} of {selected} selected\n"
        );
        for EstimatedLoss { kind, lost, of, percent, known_of } in estimated_losses {
            let _ = writeln!(
                text,
                "estimated change-related loss: {percent:.2} % of {} ({lost} of {of}), by what is known of {known_of}",
                kind.word()
            );
        }
        if estimated_losses.is_empty() {
            text.push_str("what is lost for this change is not known: no requirements are recorded\n");
        }
        text
    }

    /// The document of a run with this in it, as `reduction`.
    pub fn within(&self, document: &str) -> anyhow::Result<String> {
        let mut document: serde_json::Map<String, serde_json::Value> = serde_json::from_str(document)?;
        document.insert("reduction".to_string(), serde_json::to_value(self)?);
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }
}

/// Leaves redundant tests out of the plan, if that was asked for.
pub fn leave_out(
    session: &Session<'_>,
    options: &ReducedOptions,
    plan: &mut Plan,
) -> anyhow::Result<Option<Leaving>> {
    let Some(path) = &options.reduced else { return Ok(None) };
    let path = session.project.root.join(path);
    let file = ReducedFile::read(&path)?;
    let full: BTreeSet<TestId> = plan.tests.iter().map(|test| test.id.clone()).collect();
    let evolved = evolve(&file.reduced(), &file.full(), &full);
    let reasons: BTreeMap<&TestId, &Vec<TestId>> =
        file.left_out.iter().map(|test| (&test.test, &test.because_of)).collect();
    let redundant: BTreeMap<TestId, Vec<TestId>> = evolved
        .left_out
        .iter()
        .map(|test| (test.clone(), reasons.get(test).map_or_else(Vec::new, |tests| (*tests).clone())))
        .collect();
    let running =
        |plan: &Plan| -> BTreeSet<TestId> { plan.with(Decision::Run).map(|test| test.id.clone()).collect() };
    let selected = running(plan);
    let left_out = plan.leave_out(&redundant);
    // What runs for another reason (a known failure) counts as kept.
    let kept: BTreeSet<TestId> = evolved.suite.union(&running(plan)).cloned().collect();
    Ok(Some(Leaving {
        file: session.project.shown(&path),
        selected: selected.len(),
        left_out,
        not_selected: plan.count(Decision::Reuse),
        estimated_losses: estimated_losses(session, &kept, &selected)?,
    }))
}

/// By the requirements of the nearest revision that they are known of: those of the state at hand would take running
/// all tests.
fn estimated_losses(
    session: &Session<'_>,
    kept: &BTreeSet<TestId>,
    selected: &BTreeSet<TestId>,
) -> anyhow::Result<Vec<EstimatedLoss>> {
    let files = RequirementFiles::of(session);
    let mut losses = Vec::new();
    for kind in RequirementKind::ALL {
        let Some(stored) = files.nearest(session, kind)? else { continue };
        let suite = &stored.suite;
        let loss = loss(&suite.matrix, &rows(suite, kept), &rows(suite, selected));
        let known_of = Revision::of(&stored.source).shown();
        let (lost, of, percent) = (loss.lost, loss.of, loss.percent());
        losses.push(EstimatedLoss { kind, lost, of, percent, known_of });
    }
    Ok(losses)
}
