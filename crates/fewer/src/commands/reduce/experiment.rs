//! `fewer reduce experiment`: full, reduced, selected and both, at every recorded revision of a range, and what the
//! reduced suites lose at later revisions.

use std::collections::BTreeSet;
use std::fmt::Write;

use anyhow::bail;
use fewer_core::reduction::{
    Choice, Distribution, Loss, LossTable, RequirementKind, Revisions, Run, SignedRank, Sizes, Suite,
    compare_choices, loss_table,
};
use fewer_core::{Snapshot, TestId, tts};
use fewer_git::{CommitLog, Repository, Scope};
use serde::Serialize;

use super::build::reduce_by;
use super::options::ExperimentOptions;
use super::plots;
use super::requirement_files::RequirementFiles;
use super::revision::{recorded_commit, short};
use super::sheet::Sheet;
use crate::cli::TableFormat;
use crate::session::Session;

/// Everything that the experiments found.
#[derive(Serialize)]
pub struct ExperimentView {
    pub range: String,
    /// The recorded commits, the oldest first.
    pub revisions: Vec<String>,
    /// Commits of the range that are not recorded.
    pub unrecorded: usize,
    pub runs: Vec<Run>,
    /// Per kind the losses of suites that were reduced by statements.
    pub losses: Vec<KindLosses>,
}

#[derive(Serialize)]
pub struct KindLosses {
    pub kind: RequirementKind,
    pub table: LossTable,
    pub change_related: Option<Distribution>,
    pub traditional: Option<Distribution>,
}

/// A revision whose requirements are known.
struct Point {
    revision: usize,
    statements: Suite,
    mutants: Option<Suite>,
    reduced: BTreeSet<TestId>,
}

pub fn execute(session: &Session<'_>, options: &ExperimentOptions) -> anyhow::Result<()> {
    session.end_in_order();
    let (revisions, unrecorded) = revisions(session, &options.range)?;
    let points = points(session, &revisions, options)?;
    if unrecorded > 0 {
        session.console.note(&format!(
            "{unrecorded} commit(s) of the range are not recorded and left out; `fewer run` at a clean commit records it"
        ));
    }
    let runs =
        points.iter().map(|point| compare_choices(&revisions, point.revision, &point.reduced)).collect();
    let losses =
        RequirementKind::ALL.into_iter().filter_map(|kind| losses(&revisions, &points, kind)).collect();
    let view =
        ExperimentView { range: options.range.clone(), revisions: revisions.names, unrecorded, runs, losses };
    if let Some(directory) = &options.plots {
        let written = plots::write(&view, directory)?;
        let directory = session.project.shown(directory);
        session.console.say(&format!("{} plots are in {directory}", written.len()));
    }
    session.console.data(&match options.format {
        TableFormat::Table => view.text(),
        TableFormat::Json => fewer_report::document("fewer-reduce-experiment/1", &view),
        TableFormat::Csv => view.commits().csv(),
    })
}

/// The recorded commits along first parents, the oldest first, each with what differs from the recorded one before.
fn revisions(session: &Session<'_>, range: &str) -> anyhow::Result<(Revisions, usize)> {
    let repository = Repository::open(&session.project.root)?;
    let range = repository.range(range)?;
    let log = CommitLog::read(&repository, &Scope::Range(range))?;
    let mut chain = Vec::new();
    let mut next = Some(range.to);
    // Children come before parents in the log.
    for record in &log.records {
        if next == Some(record.commit) {
            chain.push(record.commit);
            next = record.parents.first().copied();
        }
    }
    let mut revisions = Revisions::default();
    let mut before: Option<Snapshot> = None;
    for commit in chain.iter().rev() {
        session.go_on()?;
        let Some(snapshot) = recorded_commit(session, &commit.to_string())? else { continue };
        revisions.names.push(commit.to_string());
        revisions.tests.push(snapshot.keys().cloned().collect());
        revisions.selected.push(before.map_or_else(BTreeSet::new, |before| tts(&before, &snapshot)));
        before = Some(snapshot);
    }
    let unrecorded = chain.len() - revisions.names.len();
    if revisions.names.len() < 2 {
        bail!(
            "the range has {} recorded commit(s), and two are needed: `fewer run` at a clean commit records it",
            revisions.names.len()
        );
    }
    Ok((revisions, unrecorded))
}

fn points(
    session: &Session<'_>,
    revisions: &Revisions,
    options: &ExperimentOptions,
) -> anyhow::Result<Vec<Point>> {
    let files = RequirementFiles::of(session);
    let mut points = Vec::new();
    for (revision, name) in revisions.names.iter().enumerate() {
        let Some(stored) = files.read(name, RequirementKind::Statements)? else { continue };
        let statements = stored.suite;
        let kept = reduce_by(session, &options.way, &statements)?.kept;
        let mut reduced: BTreeSet<TestId> = kept.iter().map(|&test| statements.tests[test].clone()).collect();
        // What nothing is known of stays.
        let unknown = revisions.tests[revision].iter().filter(|test| statements.position(test).is_none());
        reduced.extend(unknown.cloned());
        let mutants = files.read(name, RequirementKind::Mutants)?.map(|stored| stored.suite);
        points.push(Point { revision, statements, mutants, reduced });
    }
    if points.is_empty() {
        bail!(
            "of no recorded commit of the range statements are known: `fewer reduce collect` or `fewer reduce import --at REV`"
        );
    }
    Ok(points)
}

fn losses(revisions: &Revisions, points: &[Point], kind: RequirementKind) -> Option<KindLosses> {
    let judged: Vec<(usize, &Suite, BTreeSet<TestId>)> = points
        .iter()
        .filter_map(|point| {
            let suite = match kind {
                RequirementKind::Statements => Some(&point.statements),
                RequirementKind::Mutants => point.mutants.as_ref(),
            };
            Some((point.revision, suite?, point.reduced.clone()))
        })
        .collect();
    if judged.len() < 2 {
        return None;
    }
    let table = loss_table(revisions, &judged);
    let change_related = LossTable::distribution(&table.change_related);
    let traditional = LossTable::distribution(&table.traditional);
    Some(KindLosses { kind, table, change_related, traditional })
}

impl ExperimentView {
    fn name(&self, revision: usize) -> &str {
        short(&self.revisions[revision])
    }

    /// A line per suite and commit.
    fn commits(&self) -> Sheet {
        let mut sheet =
            Sheet::new(["reduced_at", "commit", "full", "reduced", "selected", "selection_of_reduction"]);
        for run in &self.runs {
            for choice in &run.choices {
                let counts = Choice::ALL.map(|way| choice.count(way).to_string());
                let names = [self.name(run.reduced_at), self.name(choice.revision)].map(str::to_string);
                sheet.row(names.into_iter().chain(counts));
            }
        }
        sheet
    }

    fn text(&self) -> String {
        let mut text = format!("{} recorded commits of {}\n", self.revisions.len(), self.range);
        text.push_str("\nTests chosen, in percent of the full suite (median, mean)\n");
        text.push_str(&self.sizes().text());
        for losses in &self.losses {
            for (name, table, distribution) in [
                ("change-related", &losses.table.change_related, losses.change_related),
                ("all", &losses.table.traditional, losses.traditional),
            ] {
                let _ = writeln!(
                    text,
                    "\nLoss in {name} {} (%), reduced at row, used at column",
                    losses.kind.word()
                );
                text.push_str(&self.triangle(&losses.table.points, table).text());
                if let Some(distribution) = distribution {
                    let _ = writeln!(
                        text,
                        "median {:.2} %, mean {:.2} %, greatest {:.2} %",
                        distribution.median, distribution.mean, distribution.greatest
                    );
                }
            }
        }
        text
    }

    fn sizes(&self) -> Sheet {
        let header = [
            "reduced at",
            "commits",
            "reduced",
            "selected",
            "both",
            "reduced - selected",
            "selected - both",
            "p",
            "p of ratios",
        ];
        let mut sheet = Sheet::new(header);
        for run in &self.runs {
            for (name, sizes) in [("", &run.all), (" without zero", &run.without_zero)] {
                sheet.row(self.size_cells(run, name, sizes));
            }
        }
        sheet
    }

    fn size_cells(&self, run: &Run, name: &str, sizes: &Sizes) -> Vec<String> {
        let shown = |distribution: Option<Distribution>| {
            distribution.map_or("-".to_string(), |sizes| format!("{:.1}, {:.1}", sizes.median, sizes.mean))
        };
        let apart = |larger, smaller| {
            sizes.medians_apart(larger, smaller).map_or("-".to_string(), |points| format!("{points:.2} pp"))
        };
        let p = |test: Option<SignedRank>| test.map_or("-".to_string(), |test| format!("{:.3}", test.p));
        vec![
            format!("{}{name}", self.name(run.reduced_at)),
            sizes.selected.map_or(0, |sizes| sizes.count).to_string(),
            shown(sizes.reduced),
            shown(sizes.selected),
            shown(sizes.selection_of_reduction),
            apart(Choice::Reduced, Choice::Selected),
            apart(Choice::Selected, Choice::SelectionOfReduction),
            p(sizes.reduced_against_selected),
            p(sizes.ratios),
        ]
    }

    fn triangle(&self, points: &[usize], losses: &[Vec<Loss>]) -> Sheet {
        let columns = points.iter().skip(1).map(|&point| self.name(point).to_string());
        let mut sheet = Sheet::new(std::iter::once(String::new()).chain(columns));
        for (row, losses) in losses.iter().enumerate().filter(|(_, losses)| !losses.is_empty()) {
            let blanks = vec![String::new(); row];
            let cells = losses.iter().map(|loss| format!("{:.2}", loss.percent()));
            sheet.row(std::iter::once(self.name(points[row]).to_string()).chain(blanks).chain(cells));
        }
        sheet
    }
}
