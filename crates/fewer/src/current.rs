//! The state at hand, from the build to the plan: the one flow that selecting, running and explaining share, whatever
//! the project is written in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fewer_console::{Interrupted, Verbosity};
use fewer_core::{
    Candidate, Digest, DigestBuilder, Domain, Graph, Plan, Policy, Scope, Snapshot, TestId, plan,
};
use fewer_git::WorkTreeState;
use fewer_objects::BuildTree;
use fewer_report::StrategyView;
use fewer_runners::build::{self, BuildCommand, BuildEnd};
use fewer_runners::cargo::{Cargo, is_message};
use fewer_runners::java::{Compilation, ToolCommand};

use crate::build_directory::BuildDirectory;
use crate::cargo::{self, CargoBuild};
use crate::cli::{Building, JavaOptions};
use crate::examination::Starter;
use crate::history::{self, Chosen, Request};
use crate::java::{self, Compiled, JavaMeans};
use crate::part::{Means, ObjectMeans, Objects, Part, add_snapshot, joined};
use crate::project::Project;
use crate::provenance::Provenance;
use crate::record::Manifest;
use crate::records::{LAYOUT_FILE, MESSAGES_FILE};
use crate::session::Session;
use crate::stale::Outdated;
use crate::state::{built_content, machine, work_tree_state};
use crate::vanished::{Missing, Present};

const CONTENT: Domain = Domain::new("state.parts");

/// Everything that is known before a test runs.
pub struct Current {
    pub graph: Graph,
    pub snapshot: Snapshot,
    pub plan: Plan,
    pub strategy: StrategyView,
    /// Of the tests of programs.
    pub starters: BTreeMap<TestId, Starter>,
    pub objects: Option<ObjectMeans>,
    pub java: Option<JavaMeans>,
    pub manifest: Manifest,
    pub state: WorkTreeState,
    /// Set when the build is older than the sources.
    pub outdated: Option<Outdated>,
    pub notes: Vec<String>,
    /// Why some tests may be missing altogether.
    pub incomplete: Option<String>,
    /// Tests that were recorded and are gone.
    pub missing: Option<Missing>,
}

impl Current {
    /// An error, after the notes, where what was found is no ground for a verdict: a stale build, a program or module
    /// whose tests are all gone, no test at all.
    pub fn require_ground(&self, session: &Session<'_>, allow_vanished: bool) -> anyhow::Result<()> {
        let stale = self.outdated.as_ref().filter(|outdated| outdated.is_certain);
        let refusal = stale.map(|outdated| outdated.refusal(&session.project)).or_else(|| {
            let missing = self.missing.as_ref().and_then(Missing::refusal);
            let nothing = || self.plan.tests.is_empty().then(|| nothing_found(&session.project));
            missing.or_else(nothing).filter(|_| !allow_vanished)
        });
        let Some(refusal) = refusal else { return Ok(()) };
        self.notes.iter().for_each(|note| session.console.note(note));
        bail!(refusal)
    }

    /// Whether a program's test and a class are known by one id.
    pub fn is_shared(&self, test: &TestId) -> bool {
        self.starters.contains_key(test) && self.java.as_ref().is_some_and(|java| java.has_test(test))
    }
}

/// How the way to the plan ended.
pub enum Prepared {
    BuildFailed,
    Ready(Box<Current>),
}

/// Builds (if that is wanted, and configured or the tool of a Java or cargo project is known), reads, links, lists and plans.
pub fn prepare(
    session: &Session<'_>,
    building: Building,
    java: &JavaOptions,
    request: &Request,
) -> anyhow::Result<Prepared> {
    session.end_in_order();
    let project = &session.project;
    let tool = java::tool_of(project);
    let cargo = cargo::cargo_of(project);
    let left_alone = cargo::left_alone(project, cargo.as_ref());
    if tool.is_none() && java.is_given() {
        bail!("--dependencies and --level are about Java, and this is not a Java project");
    }
    let has_built = match build(session, tool.as_ref(), cargo.as_ref(), building)? {
        Built::Failed => return Ok(Prepared::BuildFailed),
        Built::Nothing => false,
        Built::Everything => true,
    };
    let request = &Request { has_built, ..request.clone() };
    let built = cargo.map(|cargo| CargoBuild::read(session, cargo)).transpose()?;
    let needs_objects = built.is_none() && (tool.is_none() || has_objects(project));
    let objects = needs_objects.then(|| Objects::read(session)).transpose()?;
    let options = java::options_of(java, &project.settings.java);
    let compiled = tool.map(|tool| Compiled::read(session, tool, options)).transpose()?;
    let tree = objects.as_ref().map(|objects| (objects.directory.path.as_path(), &objects.tree));
    let tree = tree.or(built.as_ref().map(|built| (built.directory.as_path(), &built.tree)));
    let (state, note) = state_of(session, tree, compiled.as_ref());
    let mut parts = Vec::new();
    if let Some(built) = built {
        parts.push(built.part(session, request.has_built)?);
    }
    if let Some(objects) = objects {
        parts.push(objects.part(session, request.has_built)?);
    }
    if let Some(compiled) = compiled {
        parts.push(compiled.part(session, request.has_built)?);
    }
    if building.trusts {
        parts.iter_mut().for_each(|part| part.outdated = None);
    }
    let mut current = settle(session, parts, state, request)?;
    current.notes.extend(note);
    current.notes.extend(left_alone);
    session.go_on()?;
    Ok(Prepared::Ready(Box::new(current)))
}

/// Whether there is a build of C or C++.
pub fn has_objects(project: &Project) -> bool {
    project.settings.build_directory.is_some() || BuildDirectory::find(project).is_ok()
}

fn state_of(
    session: &Session<'_>,
    objects: Option<(&Path, &BuildTree)>,
    compiled: Option<&Compiled>,
) -> (WorkTreeState, Option<String>) {
    let _phase = session.timings.phase("read the working tree");
    let mut directories: Vec<PathBuf> =
        objects.iter().map(|(directory, _)| directory.to_path_buf()).collect();
    directories.extend(compiled.iter().flat_map(|compiled| compiled.build_directories()));
    let content = || -> Digest {
        match (objects, compiled) {
            (Some((_, tree)), None) => built_content(tree),
            (None, Some(compiled)) => compiled.digest(),
            (objects, compiled) => {
                let mut digest = DigestBuilder::new(CONTENT);
                let parts = objects.iter().map(|(_, tree)| built_content(tree));
                for part in parts.chain(compiled.iter().map(|compiled| compiled.digest())) {
                    digest.digest(part);
                }
                digest.finish()
            }
        }
    };
    work_tree_state(&session.project, &directories, content)
}

/// What a build did.
enum Built {
    Nothing,
    Everything,
    /// It has been said why.
    Failed,
}

/// Runs the build command, and what a Java or cargo project needs to be compiled.
fn build(
    session: &Session<'_>,
    tool: Option<&ToolCommand>,
    cargo: Option<&Cargo>,
    building: Building,
) -> anyhow::Result<Built> {
    if !building.builds {
        return Ok(Built::Nothing);
    }
    let _phase = session.timings.phase("build");
    let settings = &session.project.settings;
    let compilation = tool.map(|tool| tool.compilation(&session.cancel)).transpose()?.flatten();
    if let Some(build) = &settings.build {
        let directory = match &build.directory {
            Some(directory) => session.project.root.join(directory),
            None => session.project.root.clone(),
        };
        let command = BuildCommand::Shell(build.command.clone());
        if !run_build(session, &command, &directory, compilation.as_ref())? {
            return Ok(Built::Failed);
        }
    }
    if let Some(cargo) = cargo
        && !run_cargo(session, cargo)?
    {
        return Ok(Built::Failed);
    }
    let Some(compilation) = compilation else {
        let has_built = settings.build.is_some() || cargo.is_some();
        return Ok(if has_built { Built::Everything } else { Built::Nothing });
    };
    // The user's own command may have had the tool tell already.
    if !compilation.has_told() {
        let root = &session.project.root;
        if !run_build(session, &compilation.command, root, Some(&compilation))? {
            return Ok(Built::Failed);
        }
    }
    if java::keep_layout(&session.project, &compilation)? {
        session.store().vouch_for(LAYOUT_FILE)?;
    }
    Ok(Built::Everything)
}

/// Runs a build command; false when it failed, which has then been said.
fn run_build(
    session: &Session<'_>,
    command: &BuildCommand,
    directory: &std::path::Path,
    compilation: Option<&Compilation>,
) -> anyhow::Result<bool> {
    let environment = compilation.map_or(&[][..], |compilation| compilation.environment.as_slice());
    let mut say = |line: &str| session.console.say(line);
    let end = build::run(command, directory, environment, &session.cancel, &mut say)?;
    conclude_build(session, command, &end)
}

/// Has cargo build all test programs, and keeps what it tells about them; false when it failed.
fn run_cargo(session: &Session<'_>, cargo: &Cargo) -> anyhow::Result<bool> {
    let (command, environment) = cargo.compilation();
    let mut messages = String::new();
    let mut take = |line: &str| {
        if is_message(line) {
            messages.push_str(line);
            messages.push('\n');
        } else {
            session.console.say(line);
        }
    };
    let mut end = build::run(&command, &cargo.directory, &environment, &session.cancel, &mut take)?;
    let for_people = end.output_tail.lines().filter(|line| !is_message(line));
    end.output_tail = for_people.collect::<Vec<_>>().join("\n");
    let is_built = conclude_build(session, &command, &end)?;
    if is_built {
        session.keep(MESSAGES_FILE, messages.as_bytes())?;
    }
    Ok(is_built)
}

fn conclude_build(session: &Session<'_>, command: &BuildCommand, end: &BuildEnd) -> anyhow::Result<bool> {
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
            "fewer: the build command `{command}` {how}: no test was run. Its output is above"
        ));
    }
    Ok(end.success)
}

/// From what was found to what is decided.
fn settle(
    session: &Session<'_>,
    parts: Vec<Part>,
    state: WorkTreeState,
    request: &Request,
) -> anyhow::Result<Current> {
    let mut graphs = Vec::new();
    let mut snapshot = Snapshot::new();
    let mut starters = BTreeMap::new();
    let mut circumstances = BTreeMap::new();
    let mut manifest = Manifest::default();
    let mut declared = BTreeSet::new();
    let (mut objects, mut java) = (None, None);
    let (mut outdated, mut incomplete) = (None, None);
    let mut notes = Vec::new();
    for part in parts {
        graphs.push(part.graph);
        add_snapshot(&mut snapshot, part.snapshot);
        starters.extend(part.starters);
        circumstances.extend(part.circumstances);
        manifest.add(part.manifest);
        match part.means {
            Means::Objects(means) => objects = Some(means),
            Means::Java(means) => java = Some(means),
        }
        declared.extend(part.declared);
        outdated = more_certain(outdated, part.outdated);
        incomplete = incomplete.or(part.incomplete);
        notes.extend(part.notes);
    }
    let graph = joined(graphs)?;
    notes.extend(outdated.as_ref().map(|outdated| outdated.note(&session.project)));
    if state.commit.is_some() && !state.dirty && outdated.is_none() {
        let built = objects.as_ref().map(|means| (means.build_directory.as_path(), &means.dependencies));
        manifest.add_provenance(&Provenance::of(&session.project, built, graph.tests(), &circumstances));
    }
    let present = Present { state: &state, snapshot: &snapshot, starters: &starters, declared: &declared };
    let missing = {
        let _phase = session.timings.phase("compare with the records");
        Missing::find(session, &present)?
    };
    notes.extend(missing.as_ref().map(Missing::note));
    let _phase = session.timings.phase("plan");
    let Chosen { scope, strategy, because, notes: of_strategy } =
        history::choose(session, request, &state, &snapshot);
    notes.extend(of_strategy);
    let plan = decide(session, &graph, &snapshot, scope)?;
    notes.extend(incomplete.clone());
    notes.sort();
    notes.dedup();
    let strategy = StrategyView { name: strategy.word(), because };
    Ok(Current {
        graph,
        snapshot,
        plan,
        strategy,
        starters,
        objects,
        java,
        manifest,
        state,
        outdated,
        notes,
        incomplete,
        missing,
    })
}

/// Of two signs that a build is stale the one to tell.
fn more_certain(first: Option<Outdated>, second: Option<Outdated>) -> Option<Outdated> {
    let is_certain =
        |outdated: &Option<Outdated>| outdated.as_ref().is_some_and(|outdated| outdated.is_certain);
    if is_certain(&second) && !is_certain(&first) { second } else { first.or(second) }
}

/// That there is no test at all, and what was looked for.
fn nothing_found(project: &Project) -> String {
    format!(
        "no test was found in {}, and nothing that runs is not green. Looked for: GoogleTest programs and CTest entries below \
         the build directory, the test programs of cargo (Cargo.toml), test classes of Maven or Gradle (pom.xml, \
         build.gradle). Build the tests, or say where they are (build-directory, [cargo], [java] in fewer.toml); `fewer \
         doctor` tells what is seen. For a project without tests: --allow-vanished",
        project.root.display()
    )
}

fn decide(session: &Session<'_>, graph: &Graph, snapshot: &Snapshot, scope: Scope) -> anyhow::Result<Plan> {
    let settings = &session.project.settings;
    let policy = Policy {
        scope,
        always: settings.always.clone(),
        failure_memory: settings.failure_memory,
        machine: machine(),
    };
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
