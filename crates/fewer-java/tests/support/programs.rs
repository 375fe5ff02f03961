//! Trees as programs of one module, by either reader, and what is selected between two of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use fewer_core::{Digest, Domain, Fingerprints, tts};
use fewer_java::{
    Analysed, ClassRoot, Input, InputKind, NoCache, Program, SourceChange, SourceProject, read_class_path,
    read_source,
};

pub const MODULE: &str = "m";
const FILE: Domain = Domain::new("contract.file");

pub fn from_classes(directory: &Path) -> Program {
    let root = ClassRoot { path: directory.to_path_buf(), module: MODULE.into() };
    let found = read_class_path(&[root], &NoCache).unwrap();
    Program { classes: found.classes, inputs: found.resources }
}

/// The sources of a tree, and its files that are none.
pub fn from_source(tree: &Path) -> (SourceProject, Vec<Input>) {
    let mut project = SourceProject::new();
    let mut changes = Vec::new();
    let mut inputs = Vec::new();
    for path in files(tree) {
        let bytes = fs::read(tree.join(&path)).unwrap();
        if path.ends_with(".java") {
            changes.push(change(&path, &bytes));
        } else {
            let kind = InputKind::of_file(&path, &bytes);
            inputs.push(Input {
                name: path,
                digest: Digest::of(FILE, &bytes),
                kind,
                module: Some(MODULE.into()),
            });
        }
    }
    project.update(changes);
    assert_eq!(project.notes(), Vec::<String>::new());
    (project, inputs)
}

/// A source file as it is now.
pub fn change(path: &str, content: &[u8]) -> SourceChange {
    SourceChange {
        path: path.to_string(),
        module: MODULE.into(),
        facts: Some(Arc::new(read_source(content))),
    }
}

/// The names of the tests that a change selects.
pub fn selected(before: &Analysed, after: &Analysed) -> BTreeSet<String> {
    let snapshot = |analysed: &Analysed| Fingerprints::compute(&analysed.graph).snapshot(&analysed.graph);
    tts(&snapshot(before), &snapshot(after)).into_iter().map(|id| id.name).collect()
}

/// The files below a directory, sorted.
pub fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_string());
            }
        }
    }
    found.sort();
    found
}
