//! `fewer history compare-java`: what FEST and ClassSRTS would have selected at the versions of which CI's results are
//! recorded, and which faults that would have found. Nothing is checked out, built or run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fewer_console::{Console, ExitCode};
use fewer_core::{Digest, Fingerprints, Graph, Snapshot, tts};
use fewer_git::{CommitHash, History, Range, Repository, Tips};
use fewer_java::{Dependencies, Options};
use fewer_runners::java::ArchivedClasses;

use super::compare_measures::VersionSets;
use super::compare_results::Results;
use super::compare_view::{CompareView, LeftOut, VersionView};
use crate::cli::{CompareOptions, Global, TableFormat};
use crate::history::JavaCommits;
use crate::session::Session;

pub fn execute(global: &Global, console: &Console, options: &CompareOptions) -> anyhow::Result<ExitCode> {
    let session = Session::open(global, console)?;
    session.end_in_order();
    let results = Results::read(&options.results)?;
    let view = compare(&session, results, options)?;
    view.notes.iter().for_each(|note| console.note(note));
    console.data(&match options.format {
        TableFormat::Table => view.text(),
        TableFormat::Json => view.json(),
        TableFormat::Csv => view.csv(),
    })?;
    session.finish();
    Ok(ExitCode::Green)
}

/// A version with what CI ran of it.
struct Version {
    commit: CommitHash,
    ran: ArchivedClasses,
}

/// What both approaches see of a commit.
struct Seen {
    elements: BTreeMap<String, Digest>,
    full: Snapshot,
    firewall: Arc<Snapshot>,
}

/// What differs between two versions.
struct Selected {
    changed: usize,
    fest: BTreeSet<String>,
    class_srts: BTreeSet<String>,
    all: BTreeSet<String>,
}

fn compare(
    session: &Session<'_>,
    mut results: Results,
    options: &CompareOptions,
) -> anyhow::Result<CompareView> {
    let repository = Repository::open(&session.project.root)?;
    let range = repository.range(&options.range)?;
    let mut left_out = LeftOut::default();
    let mut versions = Vec::new();
    for commit in chain(&repository, range)? {
        match results.take(&commit.to_string()) {
            Some(ran) if ran.is_empty() => left_out.without_tests += 1,
            Some(ran) => versions.push(Version { commit, ran }),
            None => {}
        }
    }
    left_out.elsewhere = results.commits();
    let selections = select(session, &repository, range, &versions)?;
    let mut views = Vec::new();
    for (index, selected) in selections.into_iter().enumerate() {
        match selected {
            None => left_out.without_predecessor += 1,
            Some(selected) if selected.changed == 0 => left_out.without_change += 1,
            Some(selected) => views.push(judge(&versions, index, &selected, options.failed_within)),
        }
    }
    Ok(CompareView::new(options.range.clone(), options.failed_within, views, left_out, results.unreadable))
}

/// The chain of first parents within a range, oldest first, without its start.
fn chain(repository: &Repository, range: Range) -> anyhow::Result<Vec<CommitHash>> {
    let history =
        History::load(repository, &Tips::Commits([range.to].into_iter().chain(range.from).collect()))?;
    let graph = history.graph();
    let start = range.from.and_then(|from| history.index(&from));
    let is_before = |commit| start.is_some_and(|start| commit == start || graph.is_ancestor(commit, start));
    let mut chain = Vec::new();
    let mut next = Some(history.require(&range.to)?);
    while let Some(commit) = next.filter(|&commit| !is_before(commit)) {
        chain.push(history.hash(commit));
        next = graph.parents(commit).first().copied();
    }
    chain.reverse();
    Ok(chain)
}

/// What each version selects after the one before it; the first is compared with the start of the range.
fn select(
    session: &Session<'_>,
    repository: &Repository,
    range: Range,
    versions: &[Version],
) -> anyhow::Result<Vec<Option<Selected>>> {
    let _phase = session.timings.phase("analyse");
    let firewall = Options { dependencies: Dependencies::Firewall, ..Options::default() };
    let mut full = JavaCommits::new(session, repository, Options::default())?;
    let mut firewall = JavaCommits::new(session, repository, firewall)?;
    let mut see = |commit: CommitHash| -> anyhow::Result<Seen> {
        full.go_to(repository, commit)?;
        // What was read once is there for the other.
        full.keep()?;
        firewall.go_to(repository, commit)?;
        let recorded = full.graph();
        let graph = recorded.graph();
        let full = Fingerprints::compute(graph).snapshot(graph);
        Ok(Seen { elements: elements(graph), full, firewall: firewall.snapshot() })
    };
    let mut before = range.from.map(&mut see).transpose()?;
    let mut progress = session.console.progress(versions.len());
    let mut selections = Vec::with_capacity(versions.len());
    for version in versions {
        session.go_on()?;
        let now = see(version.commit)?;
        selections.push(before.map(|before| selected(&before, &now)));
        before = Some(now);
        progress.advance("analysing versions");
    }
    Ok(selections)
}

fn elements(graph: &Graph) -> BTreeMap<String, Digest> {
    graph.elements().map(|element| (graph.name(element).to_string(), graph.content(element))).collect()
}

fn selected(before: &Seen, now: &Seen) -> Selected {
    let differs = |name: &&String| before.elements.get(*name) != now.elements.get(*name);
    let gone = before.elements.keys().filter(|name| !now.elements.contains_key(*name)).count();
    let names = |tests: BTreeSet<fewer_core::TestId>| tests.into_iter().map(|test| test.name).collect();
    Selected {
        changed: now.elements.keys().filter(differs).count() + gone,
        fest: names(tts(&before.full, &now.full)),
        class_srts: names(tts(&before.firewall, &now.firewall)),
        all: now.full.keys().map(|test| test.name.clone()).collect(),
    }
}

fn judge(versions: &[Version], index: usize, selected: &Selected, failed_within: usize) -> VersionView {
    let Version { commit, ran } = &versions[index];
    let failed = |ran: &'_ ArchivedClasses, test: &str| ran.get(test).copied();
    let recent = &versions[index.saturating_sub(failed_within)..index];
    let failed_lately =
        |test: &&String| recent.iter().any(|version| failed(&version.ran, test) == Some(true));
    let extension: Vec<&str> = selected
        .all
        .iter()
        .filter(|test| !selected.fest.contains(*test))
        .filter(failed_lately)
        .map(String::as_str)
        .collect();
    let first_run_later =
        |test: &str| versions[index + 1..].iter().find_map(|version| failed(&version.ran, test));
    let mut sets = VersionSets {
        ci: ran.keys().map(String::as_str).collect(),
        ci_faults: ran.iter().filter(|(_, failed)| **failed).map(|(test, _)| test.as_str()).collect(),
        fest: selected.fest.iter().map(String::as_str).chain(extension.iter().copied()).collect(),
        class_srts: selected.class_srts.iter().map(String::as_str).collect(),
        all: selected.all.iter().chain(ran.keys()).map(String::as_str).collect(),
        ..VersionSets::default()
    };
    sets.late_faults = sets
        .all
        .iter()
        .copied()
        .filter(|test| !sets.ci.contains(test) && first_run_later(test) == Some(true))
        .collect();
    VersionView {
        commit: commit.to_string(),
        changed: selected.changed,
        extension: extension.len(),
        category: sets.category(),
        comparison: sets.compare(),
    }
}
