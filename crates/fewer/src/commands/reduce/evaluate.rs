//! `fewer reduce evaluate`: what a reduced suite loses at a revision, of everything and of what a change is about,
//! in statements and in mutants.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use fewer_core::reduction::{Loss, RequirementKind, Suite, evolve, go_back, loss, traditional_loss};
use fewer_core::{TestId, tts};
use fewer_git::{CommitLog, Repository, Scope};
use fixedbitset::FixedBitSet;
use serde::Serialize;

use super::build::say_which;
use super::options::EvaluateOptions;
use super::reduced_file::ReducedFile;
use super::requirement_files::{RequirementFiles, unknown};
use super::revision::{Revision, newest_tests, recorded_commit, short};
use super::sheet::{Sheet, percent, shown};
use crate::session::Session;

/// The result for all kinds of requirements that are known.
#[derive(Serialize)]
struct EvaluateView {
    revision: String,
    full: usize,
    evolved: usize,
    size_percent: f64,
    /// What the change is taken from; `None` where that is not known.
    change: Option<String>,
    kinds: Vec<KindView>,
}

#[derive(Serialize)]
struct KindView {
    kind: RequirementKind,
    traditional: LossView,
    change: Option<ChangeView>,
}

#[derive(Serialize)]
struct ChangeView {
    /// How many commits before the revision were needed for a selection that satisfies anything.
    went_back: usize,
    selected: usize,
    selection_of_reduction: usize,
    loss: LossView,
}

#[derive(Serialize)]
struct LossView {
    lost: usize,
    of: usize,
    percent: f64,
}

impl From<Loss> for LossView {
    fn from(loss: Loss) -> LossView {
        LossView { lost: loss.lost, of: loss.of, percent: loss.percent() }
    }
}

/// The tests that were selected for the change, and for those before it, the newest first.
pub struct Change {
    pub from: String,
    pub selections: Vec<BTreeSet<TestId>>,
}

pub fn execute(session: &Session<'_>, options: &EvaluateOptions) -> anyhow::Result<()> {
    let file = ReducedFile::read(&options.file)?;
    let suites = suites(session, options.at.as_deref())?;
    let revision = Revision::find(session, options.at.as_deref())?;
    let full = full_suite(session, &revision, &suites)?;
    let evolved = evolve(&file.reduced(), &file.full(), &full).suite;
    let change = match &options.selected {
        Some(path) => Some(listed(path)?),
        None => recorded_change(session, &revision)?,
    };
    if change.is_none() {
        session.console.note(
            "the selection for a change is not known: neither was it given (--selected) nor are the revision and its parent \
             recorded; only the loss in all requirements is told",
        );
    }
    let kinds = suites.iter().map(|suite| kind_view(suite, &evolved, change.as_ref())).collect();
    let view = EvaluateView {
        revision: revision.shown(),
        full: full.len(),
        evolved: evolved.len(),
        size_percent: 100.0 * evolved.len() as f64 / full.len().max(1) as f64,
        change: change.map(|change| change.from),
        kinds,
    };
    let text = shown(options.format, &view.sheet(), &view.sentence(), "fewer-reduce-evaluate/1", &view);
    session.console.data(&text)
}

/// What is known of the revision, at least one kind.
fn suites(session: &Session<'_>, named: Option<&str>) -> anyhow::Result<Vec<Suite>> {
    let files = RequirementFiles::of(session);
    let mut suites = Vec::new();
    for kind in RequirementKind::ALL {
        if let Some(stored) = files.look_up(session, named, kind)? {
            say_which(session, &stored);
            suites.push(stored.suite);
        }
    }
    ensure!(!suites.is_empty(), unknown("statements or mutants", named));
    Ok(suites)
}

/// All tests of the revision: the recorded ones and those that something is known of.
fn full_suite(
    session: &Session<'_>,
    revision: &Revision,
    suites: &[Suite],
) -> anyhow::Result<BTreeSet<TestId>> {
    let recorded = match &revision.commit {
        Some(commit) => recorded_commit(session, commit)?,
        None => None,
    };
    let mut full: BTreeSet<TestId> = match recorded {
        Some(snapshot) => snapshot.into_keys().collect(),
        None => newest_tests(session)?,
    };
    full.extend(suites.iter().flat_map(|suite| &suite.tests).cloned());
    Ok(full)
}

fn kind_view(suite: &Suite, evolved: &BTreeSet<TestId>, change: Option<&Change>) -> KindView {
    let evolved_rows = rows(suite, evolved);
    let change = change.map(|change| {
        let gone = go_back(&suite.matrix, change.selections.iter().map(|selected| rows(suite, selected)));
        ChangeView {
            went_back: gone.commits,
            selected: gone.selected.count_ones(..),
            selection_of_reduction: gone.selected.intersection_count(&evolved_rows),
            loss: loss(&suite.matrix, &evolved_rows, &gone.selected).into(),
        }
    });
    KindView { kind: suite.kind, traditional: traditional_loss(&suite.matrix, &evolved_rows).into(), change }
}

/// The rows of those tests that the suite has.
pub fn rows(suite: &Suite, tests: &BTreeSet<TestId>) -> FixedBitSet {
    let mut rows = FixedBitSet::with_capacity(suite.tests.len());
    suite.positions(tests).into_iter().for_each(|row| rows.insert(row));
    rows
}

fn listed(path: &Path) -> anyhow::Result<Change> {
    let (from, text) = if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .context("cannot read the selected tests from standard input")?;
        ("standard input".to_string(), text)
    } else {
        let text =
            fewer_files::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        (path.display().to_string(), text)
    };
    let mut selected = BTreeSet::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match line.trim().parse() {
            Ok(test) => drop(selected.insert(test)),
            Err(problem) => bail!("{from}:{}: {problem}", index + 1),
        }
    }
    Ok(Change { from: format!("the tests listed in {from}"), selections: vec![selected] })
}

/// What differs from the parent, commit by commit back along first parents, as far as they are recorded.
fn recorded_change(session: &Session<'_>, revision: &Revision) -> anyhow::Result<Option<Change>> {
    let (Some(commit), false) = (&revision.commit, revision.dirty) else { return Ok(None) };
    let repository = Repository::open(&session.project.root)?;
    let mut selections = Vec::new();
    let mut commit = repository.resolve(commit)?;
    let mut later = recorded_commit(session, &commit.to_string())?;
    while let Some(snapshot) = later {
        let log = CommitLog::read(&repository, &Scope::Commits(vec![commit]))?;
        let Some(&parent) = log.records.first().and_then(|record| record.parents.first()) else { break };
        let Some(before) = recorded_commit(session, &parent.to_string())? else { break };
        selections.push(tts(&before, &snapshot));
        (commit, later) = (parent, Some(before));
    }
    let from = format!("what {} changed", short(revision.commit.as_deref().unwrap_or_default()));
    Ok((!selections.is_empty()).then_some(Change { from, selections }))
}

impl EvaluateView {
    fn sheet(&self) -> Sheet {
        let header = [
            "requirements",
            "all",
            "lost",
            "loss",
            "change-related",
            "lost",
            "loss",
            "selected",
            "of reduced",
            "went back",
        ];
        let mut sheet = Sheet::new(header);
        for KindView { kind, traditional, change } in &self.kinds {
            let mut cells = vec![
                kind.word().to_string(),
                traditional.of.to_string(),
                traditional.lost.to_string(),
                percent(traditional.percent),
            ];
            match change {
                Some(ChangeView { went_back, selected, selection_of_reduction, loss }) => cells.extend([
                    loss.of.to_string(),
                    loss.lost.to_string(),
                    percent(loss.percent),
                    selected.to_string(),
                    selection_of_reduction.to_string(),
                    went_back.to_string(),
                ]),
                None => cells.extend(vec!["?".to_string(); 6]),
            }
            sheet.row(cells);
        }
        sheet
    }

    fn sentence(&self) -> String {
        let change =
            self.change.as_ref().map_or_else(String::new, |change| format!("; the change is {change}"));
        format!(
            "{} of {} tests ({}) are in the reduced suite at {}{change}\n",
            self.evolved,
            self.full,
            percent(self.size_percent),
            self.revision
        )
    }
}
