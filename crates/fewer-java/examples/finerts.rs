//! Selections compared with those that Ekstazi and STARTS made on the same commits.
//!
//! `finerts CLONE DATA.json [--member] [--firewall] [--named]`: CLONE is a clone of the project (its git
//! directory will do), DATA.json the recorded selections per commit, oldest first. Pairs that change pom.xml are
//! left out. Prints one line per pair and the means; ends with failure if a test was missed. With `--member` the
//! selections of FineRTS, which compares members as well, take the place of Ekstazi's and STARTS'.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fewer_core::{ChangeMap, Fingerprints, Graph, Snapshot, TestId, tts};
use fewer_java::{
    Dependencies, Input, InputKind, Level, Options, Program, Reflection, SourceChange, SourceFacts,
    SourceProject, SourceReader,
};
use serde_json::Value;

const MODULE: &str = "root";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let mut paths = arguments.iter().filter(|argument| !argument.starts_with("--"));
    let (Some(clone), Some(data)) = (paths.next(), paths.next()) else {
        eprintln!("usage: finerts CLONE DATA.json [--member] [--firewall] [--named]");
        return ExitCode::from(2);
    };
    let options = Options {
        level: if has("--member") { Level::Member } else { Level::Class },
        dependencies: if has("--firewall") { Dependencies::Firewall } else { Dependencies::Full },
        reflection: if has("--named") { Reflection::Named } else { Reflection::Everything },
    };
    let text = std::fs::read_to_string(data).unwrap_or_else(|error| panic!("{data}: {error}"));
    let versions: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{data}: {error}"));
    compare(&mut History::open(Path::new(clone), options), &versions)
}

fn compare(history: &mut History, versions: &[Value]) -> ExitCode {
    let mut totals = Totals { level: history.options.level, ..Totals::default() };
    println!("{:10} {:>6} {:>8} {:>8} {:>6}  missed", "commit", "tests", "Ekstazi", "STARTS", "ours");
    let mut before: Option<(String, State)> = None;
    for version in versions {
        let commit = version["sha"].as_str().expect("a version has a sha").to_string();
        let state = history.state(&commit);
        if let Some((earlier, old)) = &before
            && !history.changes(earlier, &commit, "pom.xml")
        {
            let selected = tts(&old.snapshot, &state.snapshot);
            totals.add(&commit, old, &state, &selected, version);
        }
        before = Some((commit, state));
    }
    totals.print(history);
    if totals.missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Totals {
    level: Level,
    finerts: f64,
    pairs: usize,
    ekstazi: f64,
    starts: f64,
    ours: f64,
    recorded: usize,
    missed: usize,
}

impl Totals {
    fn add(&mut self, commit: &str, old: &State, new: &State, selected: &BTreeSet<TestId>, version: &Value) {
        let recorded = |name: &str| -> BTreeSet<String> {
            let list = version[name].as_array().map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(Value::as_str).map(str::to_string).collect()
        };
        let all = recorded("retestall_test_classes");
        let (ekstazi, starts) = (recorded("ekstazi_test_classes"), recorded("starts_test_classes"));
        let expected: BTreeSet<String> = match self.level {
            Level::Class => ekstazi.union(&starts).cloned().collect(),
            Level::Member => recorded("finerts_test_classes"),
        };
        let ours: BTreeSet<&str> = selected.iter().map(|id| id.name.as_str()).collect();
        let known_ours = ours.iter().filter(|name| all.contains(**name)).count();
        let missed: Vec<&String> = expected.iter().filter(|name| !ours.contains(name.as_str())).collect();
        let percent = |count: usize| 100.0 * count as f64 / all.len().max(1) as f64;
        self.pairs += 1;
        self.ekstazi += percent(ekstazi.len());
        self.starts += percent(starts.len());
        self.ours += percent(known_ours);
        self.recorded += expected.len();
        self.finerts += percent(recorded("finerts_test_classes").len());
        self.missed += missed.len();
        println!(
            "{commit:10} {:>6} {:>8} {:>8} {:>6}  {}",
            all.len(),
            ekstazi.len(),
            starts.len(),
            known_ours,
            missed.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ")
        );
        if std::env::var_os("FINERTS_WHY").is_some() {
            let changes = ChangeMap::between(&old.graph, &new.graph);
            for id in selected.iter().filter(|id| !starts.contains(&id.name)).take(3) {
                let path = changes.explain(id).map(|why| why.path.join(" > ")).unwrap_or_default();
                println!("    {} {path}", id.name);
            }
        }
    }

    fn print(&self, history: &History) {
        let mean = |sum: f64| sum / self.pairs.max(1) as f64;
        println!(
            "{} pairs: mean selected Ekstazi {:.1} %, STARTS {:.1} %, FineRTS {:.1} %, ours {:.1} %; {} of {} recorded missed",
            self.pairs,
            mean(self.ekstazi),
            mean(self.starts),
            mean(self.finerts),
            mean(self.ours),
            self.missed,
            self.recorded
        );
        println!(
            "{} files read ({:.1} MB) in {:.2} s, names {:.2} s, graphs {:.2} s, fingerprints {:.2} s",
            history.facts.len(),
            history.bytes as f64 / 1e6,
            history.reading.as_secs_f64(),
            history.naming.as_secs_f64(),
            history.joining.as_secs_f64(),
            history.hashing.as_secs_f64()
        );
        for note in history.notes.iter().take(20) {
            println!("note: {note}");
        }
    }
}

struct State {
    graph: Graph,
    snapshot: Snapshot,
}

/// The project at one commit after another.
struct History {
    clone: std::path::PathBuf,
    options: Options,
    project: SourceProject,
    tree: BTreeMap<String, String>,
    facts: HashMap<String, Arc<SourceFacts>>,
    reader: SourceReader,
    bytes: usize,
    reading: Duration,
    naming: Duration,
    joining: Duration,
    hashing: Duration,
    notes: Vec<String>,
}

impl History {
    fn open(clone: &Path, options: Options) -> History {
        History {
            clone: clone.to_path_buf(),
            options,
            project: SourceProject::new(),
            tree: BTreeMap::new(),
            facts: HashMap::new(),
            reader: SourceReader::new(),
            bytes: 0,
            reading: Duration::ZERO,
            naming: Duration::ZERO,
            joining: Duration::ZERO,
            hashing: Duration::ZERO,
            notes: Vec::new(),
        }
    }

    fn state(&mut self, commit: &str) -> State {
        let tree = self.list(commit);
        let sources: BTreeMap<&String, &String> = tree.iter().filter(|(path, _)| is_source(path)).collect();
        let gone = self.tree.keys().filter(|path| is_source(path) && !sources.contains_key(path));
        let mut changes: Vec<SourceChange> = gone
            .map(|path| SourceChange { path: path.clone(), module: MODULE.into(), facts: None })
            .collect();
        let changed: Vec<(&String, &String)> =
            sources.into_iter().filter(|(path, blob)| self.tree.get(path.as_str()) != Some(*blob)).collect();
        let wanted: Vec<&String> =
            changed.iter().map(|(_, blob)| *blob).filter(|blob| !self.facts.contains_key(*blob)).collect();
        let blobs = blobs(&self.clone, &wanted);
        for (blob, bytes) in wanted.into_iter().zip(blobs) {
            let start = Instant::now();
            let facts = self.reader.read(&bytes);
            self.reading += start.elapsed();
            self.bytes += bytes.len();
            self.facts.insert(blob.clone(), Arc::new(facts));
        }
        for (path, blob) in changed {
            let facts = Some(Arc::clone(&self.facts[blob]));
            changes.push(SourceChange { path: path.clone(), module: MODULE.into(), facts });
        }
        let start = Instant::now();
        self.project.update(changes);
        self.naming += start.elapsed();
        let inputs = tree.iter().filter(|(path, _)| path.contains("/resources/")).map(|(path, blob)| Input {
            name: path.clone(),
            digest: fewer_core::Digest::of(fewer_core::Domain::new("finerts"), blob.as_bytes()),
            kind: InputKind::of_file(path, &[]),
            module: None,
        });
        let inputs: Vec<Input> = inputs.collect();
        let start = Instant::now();
        let program = Program { classes: self.project.classes().cloned().collect(), inputs };
        let analysed = program.analyse(self.options);
        self.joining += start.elapsed();
        let start = Instant::now();
        let snapshot = Fingerprints::compute(&analysed.graph).snapshot(&analysed.graph);
        self.hashing += start.elapsed();
        self.tree = tree;
        self.notes = self.project.notes().into_iter().chain(analysed.notes).collect();
        State { graph: analysed.graph, snapshot }
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").arg("-C").arg(&self.clone).args(arguments).output();
        let output = output.unwrap_or_else(|error| panic!("git {arguments:?}: {error}"));
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn list(&self, commit: &str) -> BTreeMap<String, String> {
        let listing = self.git(&["ls-tree", "-r", "-z", commit]);
        let entries = listing.split('\0').filter_map(|entry| {
            let (head, path) = entry.split_once('\t')?;
            Some((path.to_string(), head.split(' ').nth(2)?.to_string()))
        });
        entries.collect()
    }

    fn changes(&self, old: &str, new: &str, path: &str) -> bool {
        !self.git(&["diff", "--name-only", old, new, "--", path]).is_empty()
    }
}

fn is_source(path: &str) -> bool {
    path.starts_with("src/") && path.ends_with(".java")
}

fn blobs(clone: &Path, ids: &[&String]) -> Vec<Vec<u8>> {
    let mut git = Command::new("git")
        .arg("-C")
        .arg(clone)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("git cat-file: {error}"));
    let mut input = git.stdin.take().expect("standard input is piped");
    let requests: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(requests.as_bytes()));
    let mut answer = Vec::new();
    git.stdout.take().expect("standard output is piped").read_to_end(&mut answer).expect("git answers");
    writer.join().expect("the writer ends").expect("git listens");
    git.wait().expect("git ends");
    let mut rest = &answer[..];
    let mut blobs = Vec::with_capacity(ids.len());
    for id in ids {
        let line = rest.iter().position(|&byte| byte == b'\n').expect("an answer has a head");
        let head = String::from_utf8_lossy(&rest[..line]).into_owned();
        let size: usize = head
            .rsplit(' ')
            .next()
            .and_then(|size| size.parse().ok())
            .unwrap_or_else(|| panic!("{id}: {head}"));
        blobs.push(rest[line + 1..line + 1 + size].to_vec());
        rest = &rest[line + 2 + size..];
    }
    blobs
}
