//! `fewer affected` in a Java project, from source alone: the tests whose fingerprint differs between two commits, or
//! between a commit and the working tree; and the tests that can reach given files or classes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fewer_core::{ElementId, Fingerprints, Graph, Snapshot, TestId, tts};
use fewer_git::{CommitHash, Repository, WorkTree};
use fewer_report::{InputKind, InputView};

use super::affected::{Answer, similar_to_unknown};
use crate::affected_elements::{exactly, tests_reaching};
use crate::cli::AffectedOptions;
use crate::java::{FactsReader, FileChange, FileContent, JavaState, not_checked_out, options_of};
use crate::project::start_directory;
use crate::session::Session;

const NOT_CHECKED_OUT: &str = "nothing is checked out here: the files are those of HEAD";

pub fn answer(session: &Session<'_>, options: &AffectedOptions) -> anyhow::Result<Answer> {
    let diff = match (&options.diff, options.paths.as_slice()) {
        (Some(diff), []) => diff.as_str(),
        (None, paths) => return of_paths(session, options, paths),
        (Some(_), _) => {
            bail!("give files or --diff, not both: in a Java project they are answered in different ways")
        }
    };
    let repository = Repository::open(&session.project.root)?;
    let mut reader = FactsReader::new(session, &repository)?;
    let mut state = JavaState::new(
        options_of(&options.java, &session.project.settings.java),
        session.project.below_top(),
    );
    let (old, new) = ends(&repository, diff).with_context(|| format!("cannot tell what '{diff}' changes"))?;
    let phase = session.timings.phase("read the old state");
    let entries = repository.tree(old)?.into_iter().map(FileChange::of_entry).collect();
    state.apply(entries, &mut reader)?;
    session.go_on()?;
    let (before, _) = examined(&state);
    drop(phase);
    let phase = session.timings.phase("read the new state");
    let changes = changes(session, &repository, old, new)?;
    let paths: Vec<PathBuf> = changes.iter().map(|change| change.path.clone()).collect();
    let kinds_before: Vec<(InputKind, usize)> = paths.iter().map(|path| kind(&state, path)).collect();
    state.apply(changes, &mut reader)?;
    reader.keep()?;
    session.go_on()?;
    let (after, notes) = examined(&state);
    drop(phase);
    let tests: Vec<TestId> = tts(&before, &after).into_iter().collect();
    let inputs: Vec<InputView> =
        paths.iter().zip(kinds_before).map(|(path, before)| view(session, &state, path, before)).collect();
    Ok(Answer { inputs, tests, notes, ..Answer::default() })
}

/// The tests that can reach some files, or classes and members by name, in the working tree as it is.
fn of_paths(session: &Session<'_>, options: &AffectedOptions, paths: &[String]) -> anyhow::Result<Answer> {
    let repository = Repository::open(&session.project.root)?;
    let mut reader = FactsReader::new(session, &repository)?;
    let mut state = JavaState::new(
        options_of(&options.java, &session.project.settings.java),
        session.project.below_top(),
    );
    let phase = session.timings.phase("read the working tree");
    let Some(tree) = &session.project.work_tree else {
        bail!("{} is in no git working tree: give --diff A..B", session.project.root.display());
    };
    let head = not_checked_out(&session.project, &repository)?;
    let mut notes: Vec<String> = head.iter().map(|_| NOT_CHECKED_OUT.to_string()).collect();
    let files = match head {
        Some(entries) => entries.into_iter().map(FileChange::of_entry).collect(),
        None => tree
            .list_files(tree.root())?
            .into_iter()
            .map(|path| file(tree, path))
            .collect::<Result<_, _>>()?,
    };
    state.apply(files, &mut reader)?;
    session.go_on()?;
    let analysed = state.analyse();
    drop(phase);
    let graph = &analysed.graph;
    let start = start_directory()?;
    let mut elements: Vec<ElementId> = Vec::new();
    let mut inputs = Vec::new();
    for text in paths {
        let path = start.join(text);
        let below = path.strip_prefix(tree.root().canonicalize()?).map(Path::to_path_buf).unwrap_or(path);
        let types = state.type_names(&below);
        let (kind, found) = match state.input_name(&below) {
            _ if !types.is_empty() => (InputKind::Source, of_types(graph, &types)),
            Some(name) => (InputKind::Data, exactly(graph, &name)),
            None => (InputKind::Element, of_types(graph, std::slice::from_ref(text))),
        };
        let kind = if found.is_empty() { InputKind::Unknown } else { kind };
        inputs.push(InputView { input: text.clone(), kind, objects: Vec::new(), elements: found.len() });
        elements.extend(found);
    }
    notes.extend(analysed.notes.iter().cloned());
    let tests = tests_reaching(graph, &elements);
    let similar = similar_to_unknown(graph, &inputs);
    Ok(Answer { inputs, tests, notes, similar })
}

/// Classes by their names, and the members in them.
fn of_types(graph: &Graph, names: &[String]) -> Vec<ElementId> {
    let is_of = |element: &str| {
        names.iter().any(|name| {
            element.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    graph.elements().filter(|element| is_of(graph.name(*element))).collect()
}

/// `A..B`, or one commit against the working tree.
fn ends(repository: &Repository, diff: &str) -> anyhow::Result<(CommitHash, Option<CommitHash>)> {
    Ok(match diff.split_once("..") {
        Some((old, new)) => {
            (repository.resolve(old)?, Some(repository.resolve(new.trim_start_matches('.'))?))
        }
        None => (repository.resolve(diff)?, None),
    })
}

fn examined(state: &JavaState) -> (Snapshot, Vec<String>) {
    let analysed = state.analyse();
    (Fingerprints::compute(&analysed.graph).snapshot(&analysed.graph), analysed.notes)
}

fn changes(
    session: &Session<'_>,
    repository: &Repository,
    old: CommitHash,
    new: Option<CommitHash>,
) -> anyhow::Result<Vec<FileChange>> {
    let Some(new) = new else {
        let Some(tree) = &session.project.work_tree else {
            bail!("{} is in no git working tree: give two commits, A..B", session.project.root.display());
        };
        if not_checked_out(&session.project, repository)?.is_some() {
            bail!(
                "nothing is checked out here to compare with: give two commits, A..B, or check out (git checkout HEAD)"
            );
        }
        return uncommitted(repository, tree, old);
    };
    let mut changes = Vec::new();
    for pair in repository.changes(&[(old, new)])? {
        changes.extend(pair?.into_iter().map(FileChange::of_change));
    }
    Ok(changes)
}

/// What the working tree has that the commit has not, or otherwise; files that git would add count.
fn uncommitted(repository: &Repository, tree: &WorkTree, old: CommitHash) -> anyhow::Result<Vec<FileChange>> {
    let committed: BTreeSet<PathBuf> = repository.tree(old)?.into_iter().map(|entry| entry.path).collect();
    let mut paths: BTreeSet<PathBuf> = tree.changed_since(&old.to_string())?.into_iter().collect();
    paths.extend(tree.list_files(tree.root())?.into_iter().filter(|path| !committed.contains(path)));
    paths.into_iter().map(|path| file(tree, path)).collect()
}

/// A file of the working tree as it is.
fn file(tree: &WorkTree, path: PathBuf) -> anyhow::Result<FileChange> {
    let content = on_disk(&tree.root().join(&path))?;
    Ok(FileChange { path, content })
}

/// `None` if nothing is there. A directory in place of a file is another repository.
fn on_disk(path: &Path) -> anyhow::Result<Option<FileContent>> {
    let explained = || format!("cannot read {}", path.display());
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(None) };
    if found.is_symlink() {
        let target = fs::read_link(path).with_context(explained)?;
        return Ok(Some(FileContent::LinkOnDisk(target.into_os_string().into_encoded_bytes())));
    }
    if found.is_dir() {
        return Ok(Some(FileContent::LinkOnDisk(Vec::new())));
    }
    match fewer_files::read(path) {
        Ok(bytes) => Ok(Some(FileContent::OnDisk(bytes))),
        // Whatever it is, it is no source.
        Err(error) if fewer_files::is_unreadable(&error) => {
            Ok(Some(FileContent::LinkOnDisk(error.to_string().into_bytes())))
        }
        Err(error) => Err(error).with_context(explained),
    }
}

fn kind(state: &JavaState, path: &Path) -> (InputKind, usize) {
    match state.types_in(path) {
        Some(types) => (InputKind::Source, types),
        None if state.is_input(path) => (InputKind::Data, 1),
        None => (InputKind::Unknown, 0),
    }
}

/// A changed file as it is now; as it was, if it is gone.
fn view(session: &Session<'_>, state: &JavaState, path: &Path, before: (InputKind, usize)) -> InputView {
    let now = kind(state, path);
    let (kind, elements) = if now.0 == InputKind::Unknown { before } else { now };
    let top = session.project.work_tree.as_ref().map(WorkTree::root);
    let input = session.project.shown(&top.unwrap_or(&session.project.root).join(path));
    InputView { input, kind, objects: Vec::new(), elements }
}
