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
    /// Classes that failed while a test before them still ran, or whose virtual machine ended before they did: what they
    /// show has to be seen without the others.
    doubtful: Vec<String>,
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
        let requests = open.iter().map(|tree| tree.request(if tree.run { "run" } else { "compile" }));
        done.extend(drive(requests.collect(), &class_path));
        assert!(done.len() > before, "the driver did nothing with {}", open[0].classes.display());
    }
    let settled = |tree: &Tree| {
        let name = tree.classes.display().to_string();
        let mut built = done.remove(&name).unwrap();
        for class in std::mem::take(&mut built.doubtful) {
            let alone = drive(tree.request(&format!("again:{class}")), &class_path).remove(&name);
            let alone = alone.unwrap_or_else(|| panic!("the driver did nothing with {class} of {name}"));
            built.endings.extend(alone.endings);
            built.endings.extend(alone.doubtful.into_iter().map(|ended| (ended, Ending::Failed)));
        }
        built
    };
    trees.iter().map(settled).collect()
}

impl Tree {
    /// A line for the driver.
    fn request(&self, order: &str) -> String {
        let mut request = format!("{}\t{}\t{order}", self.sources.display(), self.classes.display());
        if let Some((file, other)) = &self.replaced {
            request += &format!("\t{file}\t{}", other.display());
        }
        request + "\n"
    }
}

/// What became of some of the trees: of all, if no test of them hangs or takes all memory.
fn drive(requests: String, class_path: &OsStr) -> BTreeMap<String, Built> {
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
    // It ends early when a test hangs, and does not read the rest.
    let writer = std::thread::spawn(move || drop(input.write_all(requests.as_bytes())));
    let output = java.wait_with_output().unwrap();
    writer.join().unwrap();
    let mut open: BTreeMap<String, Built> = BTreeMap::new();
    let mut planned: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut done = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let parts: Vec<&str> = line.splitn(3, '\t').collect();
        let [tree, name, outcome] = parts[..] else { panic!("the driver said {line}") };
        let built = open.entry(tree.to_string()).or_default();
        match (name, outcome) {
            ("!", complaint) => built.complaint = Some(complaint.to_string()),
            (".", _) => {
                planned.remove(tree);
                done.insert(tree.to_string(), std::mem::take(built));
            }
            (name, "planned") => planned.entry(tree.to_string()).or_default().push(name.to_string()),
            (name, "passed") => drop(built.endings.insert(name.to_string(), Ending::Passed)),
            (name, "doubtful") => built.doubtful.push(name.to_string()),
            (name, _) => drop(built.endings.insert(name.to_string(), Ending::Failed)),
        }
    }
    let is_explained = output.status.success() || !planned.is_empty();
    assert!(is_explained, "java: {}", String::from_utf8_lossy(&output.stderr));
    // The machine ended before the tests of this tree did.
    done.extend(planned.into_iter().map(|(tree, doubtful)| (tree, Built { doubtful, ..Built::default() })));
    done
}
