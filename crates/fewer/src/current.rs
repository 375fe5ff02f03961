//! The state at hand, from the build to the plan: the one flow that selecting, running and explaining share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use fewer_core::{Candidate, Graph, Plan, Policy, Scope, Snapshot, TestId, plan};
use fewer_git::WorkTreeState;
use fewer_objects::BuildTree;
use fewer_report::StrategyView;
use fewer_runners::TestProgram;
use fewer_runners::build::{self, BuildCommand};

use crate::build_directory::BuildDirectory;
use crate::circumstances;
use crate::cli::BuildOptions;
use crate::console::Verbosity;
use crate::data_files::{is_for_people, is_header, is_hidden, may_be_data};
use crate::dependencies::{Dependencies, Outdated};
use crate::examination::{Examined, Starter, examine, scan};
use crate::history::{self, Chosen, Request};
use crate::provenance::Provenance;
use crate::record::Manifest;
use crate::session::{Interrupted, Session};
use crate::state::work_tree_state;

/// Everything that is known before a test runs.
pub struct Current {
    pub build_directory: PathBuf,
    pub graph: Graph,
    pub snapshot: Snapshot,
    pub plan: Plan,
    pub strategy: StrategyView,
    pub programs: Vec<TestProgram>,
    pub starters: BTreeMap<TestId, Starter>,
    pub manifest: Manifest,
    pub state: WorkTreeState,
    /// Programs and libraries with the time they were linked at.
    pub images: Vec<Image>,
    /// Set when the build is older than the sources.
    pub outdated: Option<Outdated>,
    pub notes: Vec<String>,
    /// Why some tests may be missing altogether.
    pub incomplete: Option<String>,
}

/// A program or library of the build.
pub struct Image {
    pub name: String,
    pub is_library: bool,
    pub modified: Option<SystemTime>,
}

/// How the way to the plan ended.
pub enum Prepared {
    BuildFailed,
    Ready(Box<Current>),
}

/// Builds (if configured), reads, links, lists and plans.
pub fn prepare(session: &Session<'_>, options: &BuildOptions, request: &Request) -> anyhow::Result<Prepared> {
    session.watch_signals()?;
    if !options.no_build && !build(session)? {
        return Ok(Prepared::BuildFailed);
    }
    let has_built = !options.no_build && session.project.settings.build.is_some();
    let request = &Request { has_built, ..request.clone() };
    let directory = BuildDirectory::find(&session.project)?;
    let (tree, mut notes) = scan(session, &directory.path)?;
    session.go_on()?;
    if !directory.others.is_empty() {
        notes.push(format!(
            "used {}; {} could be meant too: say build-directory = \"...\" in fewer.toml",
            session.project.shown(&directory.path),
            directory.others.join(", ")
        ));
    }
    let mut examined = examine(session, &directory, &tree)?;
    examined.notes.extend(notes);
    let current = settle(session, directory.path, &tree, examined, request)?;
    session.go_on()?;
    Ok(Prepared::Ready(Box::new(current)))
}

/// Runs the build command; false when it failed, which has then been said.
fn build(session: &Session<'_>) -> anyhow::Result<bool> {
    let Some(build) = &session.project.settings.build else { return Ok(true) };
    let _phase = session.timings.phase("build");
    let directory = match &build.directory {
        Some(directory) => session.project.root.join(directory),
        None => session.project.root.clone(),
    };
    let command = BuildCommand::Shell(build.command.clone());
    let end = build::run(&command, &directory, &session.cancel, &mut |line| session.console.say(line))?;
    if end.interrupted {
        return Err(Interrupted.into());
    }
    if !end.success {
        if session.console.verbosity() == Verbosity::Quiet {
            session.console.insist(end.output_tail.trim_end());
        }
        let how = match (&end.signal, end.exit_code) {
            (Some(signal), _) => format!("was killed by {signal}"),
            (None, Some(code)) => format!("ended with exit code {code}"),
            (None, None) => "ended".to_string(),
        };
        session.console.insist(&format!(
            "fewer: the build command `{}` {how}: no test was run. Its output is above",
            build.command
        ));
    }
    Ok(end.success)
}

/// From what was found to what is decided.
pub fn settle(
    session: &Session<'_>,
    build_directory: PathBuf,
    tree: &BuildTree,
    examined: Examined<'_>,
    request: &Request,
) -> anyhow::Result<Current> {
    let Examined {
        analysis, tests, programs, starters, circumstances, listings, mut notes, incomplete, ..
    } = examined;
    let (state, note) = {
        let _phase = session.timings.phase("read the working tree");
        work_tree_state(&session.project, &build_directory, tree)
    };
    notes.extend(note);
    let dependencies = {
        let _phase = session.timings.phase("read dependencies");
        Dependencies::read(&build_directory, &session.project.root, tree)
    };
    let is_linked = |object: &str| !analysis.elements_of_objects(|name| name == object).is_empty();
    let outdated = outdated(session, &build_directory, tree, &dependencies, request, is_linked);
    notes.extend(outdated.as_ref().map(|outdated| outdated.note(&session.project)));
    let provenance = (state.commit.is_some() && !state.dirty && outdated.is_none())
        .then(|| Provenance::of(&session.project, &build_directory, &dependencies, &tests, &circumstances));
    let manifest = Manifest::of(tree, analysis.surroundings(), &listings, provenance.as_ref());
    if analysis.targets().iter().all(|target| !target.has_googletest) && tests.is_empty() {
        notes.push(format!(
            "no tests found in {}: it holds neither a GoogleTest program nor CTest entries. `fewer doctor` says more",
            session.project.shown(&build_directory)
        ));
    }
    let _phase = session.timings.phase("plan");
    let (graph, fingerprints) = analysis.into_graph(tests);
    let snapshot: Snapshot = graph
        .tests()
        .iter()
        .map(|test| {
            let fingerprint = fingerprints.test(test);
            (test.id.clone(), circumstances::with(fingerprint, circumstances.get(&test.id).copied()))
        })
        .collect();
    let Chosen { scope, strategy, because, notes: of_strategy } =
        history::choose(session, request, &state, &snapshot);
    notes.extend(of_strategy);
    let plan = decide(session, &graph, &snapshot, scope)?;
    notes.extend(incomplete.clone());
    notes.sort();
    notes.dedup();
    let images = tree
        .images
        .iter()
        .map(|image| Image {
            name: image.name.clone(),
            is_library: image.summary.is_library,
            modified: image.modified,
        })
        .collect();
    Ok(Current {
        build_directory,
        graph,
        snapshot,
        plan,
        strategy: StrategyView { name: strategy.word(), because },
        programs,
        starters,
        manifest,
        state,
        images,
        outdated,
        notes,
        incomplete,
    })
}

/// Whether the build is older than the sources: an object than what it is made from; or, unless a build has just
/// said that there is nothing to do, everything that is built than some source or description of the build.
fn outdated(
    session: &Session<'_>,
    build_directory: &Path,
    tree: &BuildTree,
    dependencies: &Dependencies,
    request: &Request,
    is_linked: impl Fn(&str) -> bool,
) -> Option<Outdated> {
    let work_tree = session.project.work_tree.as_ref()?;
    let top = work_tree.root().canonicalize().unwrap_or_else(|_| work_tree.root().to_path_buf());
    if let Some(outdated) = dependencies.outdated(&top, is_linked) {
        return Some(outdated);
    }
    if request.has_built {
        return None;
    }
    let newest = newest_product(build_directory, tree)?;
    let written = |path: &PathBuf| path.metadata().ok()?.modified().ok();
    let files = work_tree.tracked_files(&session.project.root).unwrap_or_default();
    files
        .into_iter()
        .filter(|path| !may_be_data(path) && !is_for_people(path) && !is_header(path) && !is_hidden(path))
        .map(|path| session.project.root.join(path))
        .find(|path| written(path).is_some_and(|written| written > newest))
        .map(|file| Outdated { object: "everything that is built".to_string(), file })
}

/// When the build last made anything, its own plan included.
fn newest_product(build_directory: &Path, tree: &BuildTree) -> Option<SystemTime> {
    let plans = ["build.ninja", "Makefile", "CMakeCache.txt", "config.status", ".ninja_log"];
    let planned = plans.iter().filter_map(|name| build_directory.join(name).metadata().ok()?.modified().ok());
    let made = tree.objects.iter().filter_map(|object| object.modified);
    let linked = tree.images.iter().filter_map(|image| image.modified);
    made.chain(linked).chain(planned).max()
}

fn decide(session: &Session<'_>, graph: &Graph, snapshot: &Snapshot, scope: Scope) -> anyhow::Result<Plan> {
    let settings = &session.project.settings;
    let policy = Policy { scope, always: settings.always.clone(), failure_memory: settings.failure_memory };
    let asked: Vec<_> = snapshot.iter().map(|(id, fingerprint)| (id.clone(), *fingerprint)).collect();
    let records = session.store().records(&asked).context("cannot read what is recorded about the tests")?;
    let candidates = graph
        .tests()
        .iter()
        .map(|test| Candidate {
            id: test.id.clone(),
            fingerprint: snapshot[&test.id],
            mapping: test.mapping.clone(),
            disabled: test.disabled,
        })
        .collect();
    Ok(plan(candidates, |id| records.get(id).cloned().unwrap_or_default(), |_| None, &policy))
}
