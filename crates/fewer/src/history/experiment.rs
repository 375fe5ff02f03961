//! The experiments' data: the steps of a range measured, and the versions of a linear history, by any analyser that
//! needs no build or from what is recorded. What is computed from them is pure and lives in the core.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use fewer_core::Snapshot;
use fewer_core::history::diamonds::Diamonds;
use fewer_core::history::experiments::{FirstSeen, Foretold, Measurement, Step};
use fewer_core::history::{CommitIndex, GraphSource, History, RecordedGraph, Records};
use fewer_git::{CommitHash, PatchIds, Range, Repository};
use fewer_java::Options;

use super::analysed::{AnalysedCommits, Analyser, Known};
use super::file_rule::FileReader;
use super::graph_document::GraphDocuments;
use super::java_commits::JavaCommits;
use super::recorded::RecordedCommits;
use super::steps::{LeftOut, Replayed, foretell};
use super::strategy::Ground;
use super::{never_recorded, short};
use crate::circumstances;
use crate::java::knows_java;
use crate::project::Project;
use crate::session::Session;
use crate::settings::FILE_NAME;

/// How commits are analysed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Means {
    /// By the rule in `fewer.toml`.
    Files,
    /// From a graph document per commit in this directory.
    Documents(PathBuf),
    /// From the states that were recorded.
    Recorded,
    /// From Java source.
    Java(Options),
}

/// A range, replayed.
pub struct Replay {
    pub steps: Vec<(Step, Measurement)>,
    pub left_out: LeftOut,
    /// What was known before; `None` where nothing had to be analysed.
    pub known: Option<Known>,
    ground: Ground,
}

/// How the versions of a linear history become the commits of a generated one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Each commit has what its version has.
    Versions,
    /// Each commit makes the change of its version, on top of its own parent.
    Changes,
}

/// The newest versions on the chain of first parents, oldest first.
pub struct Versions {
    pub commits: Vec<CommitHash>,
    snapshots: Vec<Arc<Snapshot>>,
    /// Only where changes are to be laid out.
    graphs: Vec<RecordedGraph>,
    pub known: Option<Known>,
}

/// Measures every step of a range.
pub fn replay(
    session: &Session<'_>,
    range: &str,
    means: &Means,
    patch_ids: PatchIds,
) -> anyhow::Result<Replay> {
    let analyser = analyser(session, means)?;
    let repository = Repository::open(&session.project.root)?;
    let range = repository.range(range)?;
    let Replayed { ground, steps, mut left_out, commits, .. } =
        Replayed::find(session, repository, range, patch_ids)?;
    let (measured, known) = match analyser {
        Some(analyser) => {
            let mut source = AnalysedCommits::new(&ground.repository, &ground.history, analyser);
            let known = source.analyse(session, &commits)?;
            let foretold = source.foretell_all(session, &steps)?;
            let first_seen = source.first_seen(&commits);
            (measure(session, &ground, &source, &first_seen, &steps, &foretold)?, Some(known))
        }
        None => (measure_recorded(session, &ground, &commits, &steps)?, None),
    };
    left_out.not_recorded = measured.iter().filter(|measured| measured.is_none()).count();
    let steps: Vec<(Step, Measurement)> =
        steps.into_iter().zip(measured).filter_map(|(step, measured)| Some((step, measured?))).collect();
    Ok(Replay { steps, left_out, known, ground })
}

impl Replay {
    pub fn hash(&self, commit: CommitIndex) -> CommitHash {
        self.ground.history.hash(commit)
    }

    pub fn parents(&self, commit: CommitIndex) -> usize {
        self.ground.history.graph().parents(commit).len()
    }
}

impl Versions {
    pub fn read(
        session: &Session<'_>,
        range: &str,
        count: usize,
        means: &Means,
        layout: Layout,
    ) -> anyhow::Result<Versions> {
        let analyser = analyser(session, means)?;
        let repository = Repository::open(&session.project.root)?;
        let range = repository.range(range)?;
        let ground = Ground::of(repository, [range.to].into_iter().chain(range.from).collect())?;
        let chain = first_parents(&ground, range, count)?;
        let commits: Vec<CommitHash> = ground.hashes(&chain);
        let mut versions = Versions { commits, snapshots: Vec::new(), graphs: Vec::new(), known: None };
        match analyser {
            Some(analyser) => {
                let mut source = AnalysedCommits::new(&ground.repository, &ground.history, analyser);
                versions.known = Some(source.analyse(session, &chain.iter().copied().collect())?);
                versions.take(session, &ground, &chain, layout, &mut source)?;
            }
            None => {
                let store = session.store();
                let mut source = RecordedCommits::new(&store, &ground.repository, &ground.history);
                versions.take(session, &ground, &chain, layout, &mut source)?;
            }
        }
        Ok(versions)
    }

    fn take<S: Records + GraphSource>(
        &mut self,
        session: &Session<'_>,
        ground: &Ground,
        chain: &[CommitIndex],
        layout: Layout,
        source: &mut S,
    ) -> anyhow::Result<()>
    where
        anyhow::Error: From<S::Error>,
    {
        let _phase = session.timings.phase("read versions");
        for &commit in chain {
            session.go_on()?;
            let unknown = || never_recorded(ground.history.hash(commit));
            self.snapshots.push(source.snapshot(commit).with_context(unknown)?);
            if layout == Layout::Changes {
                let graph = source.graph(commit)?.with_context(unknown)?;
                self.graphs.push(RecordedGraph::clone(&graph));
            }
        }
        Ok(())
    }

    /// The states of a generated history.
    pub fn lay_out(&self, diamonds: &Diamonds) -> BTreeMap<CommitIndex, Arc<Snapshot>> {
        match self.graphs[..] {
            [] => diamonds.of_versions(&self.snapshots),
            [..] => diamonds.of_changes(&self.graphs),
        }
    }
}

/// `None` if nothing is analysed, because it is recorded.
fn analyser<'s>(session: &'s Session<'s>, means: &Means) -> anyhow::Result<Option<Analyser<'s>>> {
    let project = &session.project;
    match means {
        Means::Recorded => Ok(None),
        Means::Documents(directory) => {
            if !directory.is_dir() {
                bail!("{} is not a directory with a graph per commit", directory.display());
            }
            Ok(Some(Analyser::Documents(GraphDocuments { directory: directory.clone() })))
        }
        Means::Files => {
            let Some(rule) = &project.settings.files else {
                bail!("{}", no_file_rule(project));
            };
            Ok(Some(Analyser::Files { rule, reader: FileReader::new(rule), below: project.below_top() }))
        }
        Means::Java(options) => {
            let commits = JavaCommits::new(session, &Repository::open(&project.root)?, *options)?;
            Ok(Some(Analyser::Java(Box::new(commits))))
        }
    }
}

fn no_file_rule(project: &Project) -> String {
    let has_settings = project.root.join(FILE_NAME).is_file();
    let missing =
        if has_settings { format!("{FILE_NAME} has no") } else { format!("there is no {FILE_NAME} with a") };
    let java =
        if knows_java(project) { "this project has Java: give --analyser java. Otherwise " } else { "" };
    format!(
        "{missing} table [files], which tells what files are tests and what they depend on; {java}add one \
         (docs/history.md), or give --graphs DIR, or use --analyser recorded"
    )
}

fn measure_recorded(
    session: &Session<'_>,
    ground: &Ground,
    commits: &BTreeSet<CommitIndex>,
    steps: &[Step],
) -> anyhow::Result<Vec<Option<Measurement>>> {
    let store = session.store();
    let records = RecordedCommits::new(&store, &ground.repository, &ground.history);
    let mut first_seen = FirstSeen::default();
    for &commit in commits {
        session.go_on()?;
        if let Some(snapshot) = records.snapshot(commit) {
            first_seen.note_all(commit, &snapshot);
        }
    }
    let mut foretold = Vec::with_capacity(steps.len());
    for step in steps {
        session.go_on()?;
        // How tests were started has to agree among the states of one step only.
        let mut records = RecordedCommits::new(&store, &ground.repository, &ground.history);
        let told = match step.is_automatic {
            true => foretell(ground.history.graph(), step, &mut records)?,
            false => None,
        };
        foretold.push(told.map(|told| started_as_recorded(told, &records)));
    }
    measure(session, ground, &records, &first_seen, steps, &foretold)
}

/// With how each test is started, which is part of what is recorded.
fn started_as_recorded(Foretold(tests): Foretold, records: &RecordedCommits<'_>) -> Foretold {
    let started = tests.into_iter().map(|(test, expected)| {
        let circumstances = records.circumstances(&test).ok();
        let expected = expected.zip(circumstances).map(|(expected, how)| circumstances::with(expected, how));
        (test, expected)
    });
    Foretold(started.collect())
}

fn measure<R: Records>(
    session: &Session<'_>,
    ground: &Ground,
    records: &R,
    first_seen: &FirstSeen,
    steps: &[Step],
    foretold: &[Option<Foretold>],
) -> anyhow::Result<Vec<Option<Measurement>>> {
    let _phase = session.timings.phase("select");
    let mut history = History::new(ground.history.graph(), &ground.dominators, records);
    let mut progress = session.console.progress(steps.len());
    let mut measured = Vec::with_capacity(steps.len());
    for (step, foretold) in steps.iter().zip(foretold) {
        session.go_on()?;
        measured.push(history.measure(step, first_seen, foretold.as_ref()));
        progress.advance("strategies select");
    }
    Ok(measured)
}

/// The newest commits of the chain of first parents within a range, its start included, oldest first.
fn first_parents(ground: &Ground, range: Range, count: usize) -> anyhow::Result<Vec<CommitIndex>> {
    let history = &ground.history;
    let start = range.from.and_then(|from| history.index(&from));
    let mut chain = vec![history.require(&range.to)?];
    while chain.len() < count
        && let Some(&newest) = chain.last()
        && let Some(&parent) = history.graph().parents(newest).first()
        && Some(newest) != start
        && start.is_none_or(|start| parent == start || !history.graph().is_ancestor(parent, start))
    {
        chain.push(parent);
    }
    if chain.len() < count {
        let oldest = history.hash(chain[chain.len() - 1]);
        let cause = if history.is_shallow(chain[chain.len() - 1]) {
            "where this shallow clone ends; complete it with `git fetch --unshallow`, or give"
        } else {
            "where it begins; give"
        };
        bail!(
            "there are only {} versions from {} back to {}, {cause} --versions {0}",
            chain.len(),
            short(range.to),
            short(oldest)
        );
    }
    chain.reverse();
    Ok(chain)
}
