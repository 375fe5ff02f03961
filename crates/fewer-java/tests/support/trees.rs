//! Many trees of Java, compiled and run by one process.

use std::collections::BTreeMap;
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::jars::jars;

/// How a test class ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    Passed,
    Failed,
}

pub struct Tree {
    /// Holds `main`, `test` and `resources`.
    pub sources: PathBuf,
    pub classes: PathBuf,
    pub run: bool,
}

/// What became of a tree.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// Why it does not compile.
    pub complaint: Option<String>,
    pub endings: BTreeMap<String, Ending>,
}

/// Compiles all trees, runs the tests of those that are to run, and tells what became of each, in their order.
pub fn build(trees: &[Tree], artifacts: &[&str]) -> Vec<Built> {
    let class_path = env::join_paths(jars(artifacts)).unwrap();
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/ContractDriver.java");
    let mut java = Command::new("java")
        .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"])
        .arg(class_path)
        .arg(driver)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("java: {error}"));
    let mut input = java.stdin.take().unwrap();
    let mut requests = String::new();
    for tree in trees {
        let order = if tree.run { "run" } else { "compile" };
        requests += &format!("{}\t{}\t{order}\n", tree.sources.display(), tree.classes.display());
    }
    let writer = std::thread::spawn(move || input.write_all(requests.as_bytes()));
    let output = java.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "java: {}", String::from_utf8_lossy(&output.stderr));
    let mut by_tree: BTreeMap<String, Built> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let parts: Vec<&str> = line.splitn(3, '\t').collect();
        let [tree, name, outcome] = parts[..] else { panic!("the driver said {line}") };
        let built = by_tree.entry(tree.to_string()).or_default();
        match (name, outcome) {
            ("!", complaint) => built.complaint = Some(complaint.to_string()),
            (name, "passed") => drop(built.endings.insert(name.to_string(), Ending::Passed)),
            (name, _) => drop(built.endings.insert(name.to_string(), Ending::Failed)),
        }
    }
    trees.iter().map(|tree| by_tree.remove(&tree.sources.display().to_string()).unwrap_or_default()).collect()
}
