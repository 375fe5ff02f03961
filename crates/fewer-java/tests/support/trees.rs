//! Many trees of Java, compiled and run by one process.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
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
    /// Holds `main`, `test` and `resources`, or is laid out as Maven has it.
    pub sources: PathBuf,
    pub classes: PathBuf,
    pub run: bool,
    /// A file of the tree, and another that takes its place.
    pub replaced: Option<(String, PathBuf)>,
}

/// What became of a tree.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// Why it does not compile.
    pub complaint: Option<String>,
    pub endings: BTreeMap<String, Ending>,
}

/// So long a test may take. It then runs on in a thread of its own, and its process is not used any further.
const TIMEOUT: [&str; 2] = [
    "-Djunit.jupiter.execution.timeout.default=5s",
    "-Djunit.jupiter.execution.timeout.thread.mode.default=SEPARATE_THREAD",
];

/// Compiles all trees, runs the tests of those that are to run, and tells what became of each, in their order.
pub fn build(trees: &[Tree], artifacts: &[&str]) -> Vec<Built> {
    let class_path = env::join_paths(jars(artifacts)).unwrap();
    let mut done: BTreeMap<String, Built> = BTreeMap::new();
    loop {
        let is_open = |tree: &&Tree| !done.contains_key(&tree.classes.display().to_string());
        let open: Vec<&Tree> = trees.iter().filter(is_open).collect();
        if open.is_empty() {
            break;
        }
        let before = done.len();
        done.extend(drive(&open, &class_path));
        assert!(done.len() > before, "the driver did nothing with {}", open[0].classes.display());
    }
    trees.iter().map(|tree| done.remove(&tree.classes.display().to_string()).unwrap()).collect()
}

/// What became of some of the trees: of all, if no test of them hangs.
fn drive(trees: &[&Tree], class_path: &OsStr) -> BTreeMap<String, Built> {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/TreeDriver.java");
    let mut java = Command::new("java")
        .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g"])
        .args(TIMEOUT)
        .arg("-cp")
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
        requests += &format!("{}\t{}\t{order}", tree.sources.display(), tree.classes.display());
        if let Some((file, other)) = &tree.replaced {
            requests += &format!("\t{file}\t{}", other.display());
        }
        requests.push('\n');
    }
    // It ends early when a test hangs, and does not read the rest.
    let writer = std::thread::spawn(move || drop(input.write_all(requests.as_bytes())));
    let output = java.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "java: {}", String::from_utf8_lossy(&output.stderr));
    let mut open: BTreeMap<String, Built> = BTreeMap::new();
    let mut done = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let parts: Vec<&str> = line.splitn(3, '\t').collect();
        let [tree, name, outcome] = parts[..] else { panic!("the driver said {line}") };
        let built = open.entry(tree.to_string()).or_default();
        match (name, outcome) {
            ("!", complaint) => built.complaint = Some(complaint.to_string()),
            (".", _) => drop(done.insert(tree.to_string(), std::mem::take(built))),
            (name, "passed") => drop(built.endings.insert(name.to_string(), Ending::Passed)),
            (name, _) => drop(built.endings.insert(name.to_string(), Ending::Failed)),
        }
    }
    done
}
