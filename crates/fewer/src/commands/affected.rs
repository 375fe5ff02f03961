//! `fewer affected`: which tests a change to files or elements would select. It looks at what is built, whatever
//! is recorded.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fewer_console::{Console, ExitCode};
use fewer_core::{ElementId, Graph, TestId};
use fewer_objects::Analysis;
use fewer_report::{AffectedView, InputKind, InputView, affected_json};

use super::{affected_cargo, affected_java};
use crate::affected_elements::{exactly, named, tests_reaching};
use crate::build_directory::BuildDirectory;
use crate::cargo::cargo_of;
use crate::cli::{AffectedFormat, AffectedOptions, Global};
use crate::data_files;
use crate::dependencies::Dependencies;
use crate::examination::{Examined, examine, scan};
use crate::java::is_java;
use crate::names::split;
use crate::project::start_directory;
use crate::session::Session;

pub fn execute(global: &Global, console: &Console, options: &AffectedOptions) -> anyhow::Result<ExitCode> {
    let session = Session::open_seeing(global, console, &options.cpp)?;
    session.watch_signals()?;
    if is_java(&session.project) {
        return affected_java::execute(&session, options);
    }
    if options.java.is_given() {
        bail!(
            "--dependencies and --level are about Java, and this is not a Java project: there is a build directory of C or \
             C++, or git knows no Java file"
        );
    }
    if let Some(cargo) = cargo_of(&session.project) {
        return affected_cargo::execute(&session, cargo, options);
    }
    let inputs = inputs(&session, options)?;
    let directory = BuildDirectory::find(&session.project)?;
    let (tree, mut notes) = scan(&session, &directory.path)?;
    let examined = examine(&session, &directory, &tree)?;
    notes.extend(examined.notes.iter().cloned());
    let dependencies = {
        let _phase = session.timings.phase("read dependencies");
        Dependencies::read(&directory.path, &session.project.root, &tree)
    };
    let _phase = session.timings.phase("find affected tests");
    let analysis = &examined.analysis;
    let traced: Vec<Traced> = inputs
        .iter()
        .map(|input| {
            let made = made_from(analysis, &dependencies, &input.path);
            trace(&session, analysis.graph(), input, made)
        })
        .collect();
    let elements: Vec<ElementId> = traced.iter().flat_map(|traced| traced.elements.iter().copied()).collect();
    let Examined { analysis, tests, .. } = examined;
    let (graph, _) = analysis.into_graph(tests);
    let tests = tests_reaching(&graph, &elements);
    drop(_phase);
    tell(&session, options, traced, &tests, notes)
}

/// Prints the answer.
pub fn tell(
    session: &Session<'_>,
    options: &AffectedOptions,
    traced: Vec<Traced>,
    tests: &[TestId],
    mut notes: Vec<String>,
) -> anyhow::Result<ExitCode> {
    let views: Vec<InputView> = traced.into_iter().map(|traced| traced.view).collect();
    for view in views.iter().filter(|view| view.kind == InputKind::Unknown) {
        notes.push(format!("{}: no object depends on it", view.input));
    }
    notes.iter().for_each(|note| session.console.note(note));
    session.console.data(&match options.format {
        AffectedFormat::List => tests.iter().map(|id| format!("{id}\n")).collect(),
        AffectedFormat::Json => affected_json(&AffectedView { inputs: &views, tests, notes: &notes }),
    })?;
    session.finish();
    Ok(ExitCode::Green)
}

/// What the user asked about: as written, and as a path.
pub struct Input {
    pub text: String,
    pub path: PathBuf,
}

pub fn inputs(session: &Session<'_>, options: &AffectedOptions) -> anyhow::Result<Vec<Input>> {
    let start = start_directory()?;
    let mut inputs: Vec<Input> =
        options.paths.iter().map(|text| Input { text: text.clone(), path: start.join(text) }).collect();
    if let Some(diff) = &options.diff {
        let Some(tree) = &session.project.work_tree else {
            bail!("--diff needs git, and {} is in no git working tree", session.project.root.display());
        };
        let changed = match diff.split_once("..") {
            Some((old, new)) => tree.changed_between(old, new.trim_start_matches('.')),
            None => tree.changed_since(diff),
        };
        let changed = changed.with_context(|| format!("cannot tell what '{diff}' changes"))?;
        inputs.extend(changed.into_iter().map(|path| {
            let path = tree.root().join(path);
            Input { text: session.project.shown(&path), path }
        }));
    }
    Ok(inputs)
}

/// An input with the elements that stand for it.
pub struct Traced {
    pub view: InputView,
    pub elements: Vec<ElementId>,
}

/// What was made of a file: the objects, and the elements in them that stand for it.
#[derive(Default)]
pub struct MadeFrom {
    pub objects: Vec<String>,
    pub elements: Vec<ElementId>,
}

/// A source file first, then a file that tests read, then the name of an element.
pub fn trace(session: &Session<'_>, graph: &Graph, input: &Input, made: MadeFrom) -> Traced {
    if !made.objects.is_empty() {
        return traced(input, InputKind::Source, made.objects, made.elements);
    }
    let data = data_elements(session, graph, &input.path);
    if !data.is_empty() {
        return traced(input, InputKind::Data, Vec::new(), data);
    }
    let elements = if input.path.exists() { Vec::new() } else { named(graph, &input.text) };
    let kind = if elements.is_empty() { InputKind::Unknown } else { InputKind::Element };
    traced(input, kind, Vec::new(), elements)
}

fn made_from(analysis: &Analysis<'_>, dependencies: &Dependencies, path: &Path) -> MadeFrom {
    let objects = dependencies.objects_of(path);
    let elements = if objects.is_empty() { Vec::new() } else { own_elements(analysis, &objects) };
    MadeFrom { objects, elements }
}

/// The elements that can come from a file: those of its objects, but not those that objects made without the file
/// have as well. What several objects may hold has a name without an object.
fn own_elements(analysis: &Analysis<'_>, objects: &[String]) -> Vec<ElementId> {
    let graph = analysis.graph();
    let is_made_from = |name: &str| objects.binary_search_by(|object| object.as_str().cmp(name)).is_ok();
    let elsewhere: HashSet<&str> = analysis
        .elements_of_objects(|name| !is_made_from(name))
        .into_iter()
        .map(|element| graph.name(element))
        .collect();
    let mut elements = analysis.elements_of_objects(is_made_from);
    elements.retain(|element| !elsewhere.contains(graph.name(*element)));
    // A section without a symbol changes only together with what refers to it.
    let named = elements.iter().copied().filter(|element| !split(graph.name(*element)).1.starts_with('.'));
    let named: Vec<ElementId> = named.collect();
    if named.is_empty() { elements } else { named }
}

fn data_elements(session: &Session<'_>, graph: &Graph, path: &Path) -> Vec<ElementId> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    match path.strip_prefix(&session.project.root) {
        Ok(below) => exactly(graph, &data_files::element_name(below)),
        Err(_) => Vec::new(),
    }
}

fn traced(input: &Input, kind: InputKind, objects: Vec<String>, elements: Vec<ElementId>) -> Traced {
    let view = InputView { input: input.text.clone(), kind, objects, elements: elements.len() };
    Traced { view, elements }
}
