//! Reads class files and sources, and says how much there was, how long it took and what could not be read.
//!
//! `read_all PATH...`: directories of classes, jars, or directories of sources (`.java` files are read as source).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fewer_java::summary::ClassTraits;
use fewer_java::{
    ClassRoot, NoCache, Options, Program, SourceChange, SourceProject, SourceReader, read_class_path,
};

fn main() {
    for path in std::env::args().skip(1).map(PathBuf::from) {
        let sources = if path.is_dir() { files(&path, "java") } else { Vec::new() };
        let program = if sources.is_empty() { classes(&path) } else { source(&path, &sources) };
        let start = Instant::now();
        let analysed = program.analyse(Options::default());
        println!(
            "  graph: {} elements, {} references, {} tests in {:.2} s",
            analysed.graph.element_count(),
            analysed.graph.reference_count(),
            analysed.graph.tests().len(),
            start.elapsed().as_secs_f64()
        );
    }
}

fn classes(path: &Path) -> Program {
    let start = Instant::now();
    let root = ClassRoot { path: path.to_path_buf(), module: "m".into() };
    let found = read_class_path(&[root], &NoCache).unwrap_or_else(|error| panic!("{error}"));
    println!("{}: {} classes in {:.2} s", path.display(), found.classes.len(), start.elapsed().as_secs_f64());
    let opaque = found.classes.iter().filter(|class| class.summary.traits.has(ClassTraits::OPAQUE));
    for class in opaque.take(10) {
        println!("  {}: {:?}", class.summary.name, class.summary.notes);
    }
    Program { classes: found.classes, inputs: found.resources }
}

fn source(path: &Path, files: &[PathBuf]) -> Program {
    let mut reader = SourceReader::new();
    let start = Instant::now();
    let (mut changes, mut bytes) = (Vec::new(), 0);
    for file in files {
        let content = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        bytes += content.len();
        let facts = Some(Arc::new(reader.read(&content)));
        changes.push(SourceChange { path: file.display().to_string(), module: "m".into(), facts });
    }
    println!(
        "{}: {} files, {:.1} MB in {:.2} s",
        path.display(),
        files.len(),
        bytes as f64 / 1e6,
        start.elapsed().as_secs_f64()
    );
    let start = Instant::now();
    let mut project = SourceProject::new();
    project.update(changes);
    println!(
        "  names in {:.2} s, {} files cannot be parsed",
        start.elapsed().as_secs_f64(),
        project.notes().len()
    );
    for note in project.notes().iter().take(10) {
        println!("  {note}");
    }
    Program { classes: project.classes().cloned().collect(), inputs: Vec::new() }
}

fn files(root: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        let entries =
            std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
