//! `fewer affected`: which tests a change to files or elements would select. It looks at what is built, whatever
//! is recorded.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fewer_console::{Console, ExitCode};
use fewer_core::{ElementId, Graph, TestId};
use fewer_objects::Analysis;
use fewer_report::{AffectedView, InputKind, InputView, affected_json};

use super::{affected_cargo, affected_java};
use crate::affected_elements::{exactly, named, similar, tests_affected};
use crate::build_directory::BuildDirectory;
use crate::cargo::cargo_of;
use crate::cli::{AffectedFormat, AffectedOptions, Global};
use crate::current::has_objects;
use crate::data_files;
use crate::dependencies::Dependencies;
use crate::examination::{Examined, examine, scan};
use crate::java::{knows_java, tool_of};
use crate::names::split;
use crate::project::start_directory;
use crate::session::Session;

/// So many notes are shown; JSON has them all.
const SHOWN_NOTES: usize = 5;

pub fn execute(global: &Global, console: &Console, options: &AffectedOptions) -> anyhow::Result<ExitCode> {
    let session = Session::open(global, console)?.seeing(&options.cpp);
    session.end_in_order();
    let answer = Answer::joined(answers(&session, options)?);
    refuse_unknown(&session, options, &answer)?;
    tell(&session, options, answer)
}

/// What the readers of one language say.
#[derive(Default)]
pub struct Answer {
    pub inputs: Vec<InputView>,
    pub tests: Vec<TestId>,
    pub notes: Vec<String>,
    /// By input that means nothing here, the names that it may be a slip of.
    pub similar: BTreeMap<String, Vec<String>>,
}

impl Answer {
    /// Of some inputs, by the graph that they were traced in.
    pub fn of(graph: &Graph, traced: Vec<Traced>, notes: Vec<String>) -> Answer {
        let elements: Vec<ElementId> =
            traced.iter().flat_map(|traced| traced.elements.iter().copied()).collect();
        let tests = if traced.is_empty() { Vec::new() } else { tests_affected(graph, &elements) };
        let inputs: Vec<InputView> = traced.into_iter().map(|traced| traced.view).collect();
        let similar = similar_to_unknown(graph, &inputs);
        Answer { inputs, tests, notes, similar }
    }

    /// What any language says counts: a file may be read by the tests of all.
    fn joined(answers: Vec<Answer>) -> Answer {
        let mut joined = Answer::default();
        for answer in answers {
            for view in answer.inputs {
                match joined.inputs.iter_mut().find(|known| known.input == view.input) {
                    Some(known) => add_view(known, view),
                    None => joined.inputs.push(view),
                }
            }
            joined.tests.extend(answer.tests);
            joined.notes.extend(answer.notes);
            for (input, names) in answer.similar {
                joined.similar.entry(input).or_default().extend(names);
            }
        }
        joined.tests.sort();
        joined.tests.dedup();
        joined
    }
}

fn add_view(known: &mut InputView, other: InputView) {
    if known.kind == InputKind::Unknown {
        known.kind = other.kind;
    }
    known.objects.extend(other.objects);
    known.elements += other.elements;
}

/// For each unknown input the names that it may be a slip of.
pub fn similar_to_unknown(graph: &Graph, inputs: &[InputView]) -> BTreeMap<String, Vec<String>> {
    let unknown = inputs.iter().filter(|view| view.kind == InputKind::Unknown);
    unknown.map(|view| (view.input.clone(), similar(graph, &view.input))).collect()
}

/// Every language of the project answers, as every one has tests that `run` would run. Java's sources are looked at where
/// there is a build of Java, or nothing else to look at.
fn answers(session: &Session<'_>, options: &AffectedOptions) -> anyhow::Result<Vec<Answer>> {
    let project = &session.project;
    let cargo = cargo_of(project);
    let has_objects = cargo.is_none() && has_objects(project);
    let has_other = cargo.is_some() || has_objects;
    let has_java = tool_of(project).is_some() || !has_other;
    let has_java = has_java && knows_java(project);
    if options.java.is_given() && !has_java {
        bail!(
            "--dependencies and --level are about Java, and this is not a Java project: git knows no Java file, or there is a \
             build of another language and none of Java"
        );
    }
    let mut answers = Vec::new();
    if has_java {
        answers.push(affected_java::answer(session, options)?);
    }
    if let Some(cargo) = cargo {
        answers.push(affected_cargo::answer(session, cargo, options)?);
    } else if has_objects || !has_java {
        answers.push(of_objects(session, options)?);
    }
    Ok(answers)
}

/// What a build of C or C++ says.
fn of_objects(session: &Session<'_>, options: &AffectedOptions) -> anyhow::Result<Answer> {
    let inputs = inputs(session, options)?;
    let directory = BuildDirectory::find(&session.project)?;
    let (tree, mut notes) = scan(session, &directory.path)?;
    let examined = examine(session, &directory, &tree)?;
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
            trace(session, analysis.graph(), input, made)
        })
        .collect();
    let Examined { analysis, tests, .. } = examined;
    let (graph, _) = analysis.into_graph(tests);
    Ok(Answer::of(&graph, traced, notes))
}

/// A name that means nothing is a slip, not a change without consequences. A file of the project that no test depends on
/// is an answer; so is one that was deleted.
fn refuse_unknown(session: &Session<'_>, options: &AffectedOptions, answer: &Answer) -> anyhow::Result<()> {
    let start = start_directory()?;
    let tree = session.project.work_tree.as_ref();
    let is_deleted = |path: &Path| {
        let changed = tree.and_then(|tree| Some((tree.root(), tree.changed_since("HEAD").ok()?)));
        changed.is_some_and(|(root, files)| files.iter().any(|file| root.join(file) == path))
    };
    let is_unknown = |view: &&InputView| {
        let path = start.join(&view.input);
        view.kind == InputKind::Unknown
            && options.paths.contains(&view.input)
            && !path.exists()
            && !is_deleted(&path)
    };
    let Some(unknown) = answer.inputs.iter().find(is_unknown) else { return Ok(()) };
    let name = &unknown.input;
    let what = format!("'{name}' is neither a file here nor the name of a function, variable or class");
    match answer.similar.get(name).map(Vec::as_slice) {
        None | Some([]) => bail!(
            "{what} of what was built or read. `fewer why TEST` shows names; after a change of the sources, build first"
        ),
        Some(names) => bail!("{what}. Did you mean one of these?\n  {}", names.join("\n  ")),
    }
}

/// Prints the answer.
fn tell(session: &Session<'_>, options: &AffectedOptions, answer: Answer) -> anyhow::Result<ExitCode> {
    let Answer { inputs, tests, notes, .. } = answer;
    let unknown = inputs.iter().filter(|view| view.kind == InputKind::Unknown);
    let unknown = unknown.map(|view| format!("{}: no object or class depends on it", view.input));
    let notes: Vec<String> = unknown.chain(notes).collect();
    let console = session.console;
    let shown = if console.is_verbose() { notes.len() } else { SHOWN_NOTES };
    notes.iter().take(shown).for_each(|note| console.note(note));
    if notes.len() > shown {
        console.note(&format!("and {} more such notes: see them with --verbose", notes.len() - shown));
    }
    console.data(&match options.format {
        AffectedFormat::List => tests.iter().map(|id| format!("{id}\n")).collect(),
        AffectedFormat::Json => {
            affected_json(&AffectedView { inputs: &inputs, tests: &tests, notes: &notes })
        }
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
    let elements = if input.path.is_file() { Vec::new() } else { named(graph, &input.text) };
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
