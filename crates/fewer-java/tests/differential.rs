//! The class reader against the JDK's own: every dependency that `jdeps` lists in jars of real projects must be a
//! reference. The benchmark does the same with the whole JDK.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use fewer_java::summary::ClassTraits;
use fewer_java::{ClassPath, ClassRoot, NoCache, read_class_path};
use support::jars::jars;

/// Java of two generations, and Kotlin.
const ARTIFACTS: &[&str] = &[
    "junit:junit:4.13.2",
    "org.junit.platform:junit-platform-console-standalone:1.10.2",
    "org.jetbrains.kotlin:kotlin-script-runtime:1.9.24",
];

type Names = BTreeMap<String, BTreeSet<String>>;

fn read(jar: &Path) -> ClassPath {
    let root = ClassRoot { path: jar.to_path_buf(), module: "m".into() };
    let found = read_class_path(&[root], &NoCache).unwrap();
    for class in &found.classes {
        let summary = &class.summary;
        assert!(!summary.traits.has(ClassTraits::OPAQUE), "{}: {:?}", summary.name, summary.notes);
    }
    found
}

fn output(program: &str, arguments: &[&str], jar: &Path) -> String {
    let output = Command::new(program).args(arguments).arg(jar).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Per class what it depends on, according to `jdeps`.
fn listed(jar: &Path) -> Names {
    let mut names = Names::new();
    let text = output("jdeps", &["-v", "--multi-release", "base", "--ignore-missing-deps"], jar);
    for line in text.lines().filter(|line| line.starts_with("   ")) {
        let mut words = line.split_whitespace();
        if let (Some(from), Some("->"), Some(to)) = (words.next(), words.next(), words.next()) {
            names.entry(from.to_string()).or_default().insert(to.to_string());
        }
    }
    names
}

fn references(found: &ClassPath) -> Names {
    let mut names = Names::new();
    for class in found.classes.iter().map(|class| &class.summary) {
        let all = class.texts_of(&class.references).chain(class.texts_of(&class.supers));
        names.entry(class.name.clone()).or_default().extend(all.map(str::to_string));
    }
    names
}

#[test]
fn every_dependency_that_jdeps_lists_is_read() {
    for jar in jars(ARTIFACTS) {
        let found = read(&jar);
        let ours = references(&found);
        let (mut missed, mut all) = (Vec::new(), 0);
        for (class, listed) in listed(&jar) {
            let read = ours.get(&class).unwrap_or_else(|| panic!("{class} of {} is not read", jar.display()));
            all += listed.len();
            missed.extend(listed.difference(read).map(|name| format!("{class} -> {name}")));
        }
        assert!(missed.is_empty(), "{}: {missed:#?}", jar.display());
        assert!(all > found.classes.len(), "jdeps listed only {all} of {}", jar.display());
    }
}
