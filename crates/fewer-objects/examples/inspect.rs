//! Prints what the analysis sees in a build directory: programs, tests with fingerprints, notes, timings. With a
//! second build directory: which tests differ between the two, and why.
//! A tool for working on the readers; `fewer` is the tool for users.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use fewer_core::{ChangeMap, Fingerprints, Graph, tts};
use fewer_objects::{Analysis, Given, ListedTest, NoCache, Target, demangled, scan};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [directory] => {
            let (graph, fingerprints) = analyse(Path::new(directory));
            for test in graph.tests() {
                println!("{} {} {:?}", fingerprints.test(test), test.id, test.mapping);
            }
        }
        [old, new] => compare(Path::new(old), Path::new(new)),
        _ => eprintln!("usage: inspect BUILD_DIRECTORY [NEWER_BUILD_DIRECTORY]"),
    }
}

fn compare(old: &Path, new: &Path) {
    let ((old, old_fingerprints), (new, new_fingerprints)) = (analyse(old), analyse(new));
    let changes = ChangeMap::between(&old, &new);
    for test in tts(&old_fingerprints.snapshot(&old), &new_fingerprints.snapshot(&new)) {
        println!("{test}");
        if let Some(explanation) = changes.explain(&test) {
            for element in &explanation.path {
                let (object, symbol) = element.rsplit_once(':').unwrap_or(("", element));
                println!("    {object} {}", demangled(symbol));
            }
            println!("    => {explanation}");
        }
    }
}

fn analyse(directory: &Path) -> (Graph, Fingerprints) {
    let started = Instant::now();
    let tree = scan(directory, &NoCache).expect("the build directory can be read");
    let scanned = started.elapsed();
    let analysis = Analysis::of_build(directory, &tree, Given::default());
    eprintln!(
        "{} objects, {} images, {} bytes, summaries of {} bytes, {} elements, {} references, scan {:.1?}, analysis {:.1?}",
        tree.objects.len(),
        tree.images.len(),
        tree.bytes,
        tree.objects.iter().map(|object| object.summary.encode(&tree.packs).len()).sum::<usize>()
            + tree.packs.iter().map(|packed| packed.pack.encode().1.len()).sum::<usize>(),
        analysis.graph().element_count(),
        analysis.graph().reference_count(),
        scanned,
        started.elapsed() - scanned
    );
    analysis.notes().iter().for_each(|note| eprintln!("note: {note}"));
    for (initialiser, cause) in analysis.ambient_initialisers() {
        eprintln!("ambient: {initialiser} uses {}", demangled(&cause));
    }
    let mut tests = Vec::new();
    for target in analysis.targets().iter().filter(|target| target.has_googletest) {
        eprintln!("{} starts as {}", target.name, analysis.startup_fingerprint(target));
        tests.extend(analysis.googletest_tests(target, &list(directory, target)));
    }
    analysis.into_graph(tests)
}

/// The program's tests, by its own word.
fn list(directory: &Path, target: &Target) -> Vec<ListedTest> {
    let output =
        Command::new(directory.join(&target.name)).arg("--gtest_list_tests").output().expect("it starts");
    let mut suite = (String::new(), None);
    let mut tests = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (name, comment) = line.split_once("  # ").unwrap_or((line, ""));
        if let Some(test) = name.strip_prefix("  ") {
            tests.push(ListedTest {
                suite: suite.0.clone(),
                test: test.to_string(),
                type_parameter: suite.1.clone(),
                has_value_parameter: comment.starts_with("GetParam()"),
                is_disabled: false,
            });
        } else if let Some(name) = name.trim_end().strip_suffix('.') {
            suite = (name.to_string(), comment.strip_prefix("TypeParam = ").map(str::to_string));
        }
    }
    tests
}
