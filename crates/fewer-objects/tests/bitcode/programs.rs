//! Whole programs through bitcode, wherever it lies: in objects, instead of them, in archives, beside code from other
//! compilers. What a change to one function selects, and how calls through virtual tables are followed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fewer_core::{Snapshot, tts};
use fewer_objects::{Analysis, Given, ListedTest, NoCache, VirtualCalls, scan};
use tempfile::TempDir;

use crate::compilers::run;

const SHAPES: &str = r#"
#pragma once
struct Shape { virtual ~Shape() {} virtual int area() const; virtual int sides() const; };
struct Square : Shape { int area() const override; int sides() const override; };
int area_of(const Shape &shape);
int twice(int n);
"#;

const LIBRARY: &str = r#"
#include "shapes.h"
int Shape::area() const { return 0; }
int Shape::sides() const { return 0; }
int Square::area() const { return 4; }
int Square::sides() const { return 44; }
int area_of(const Shape &shape) { return shape.area(); }
"#;

const ARITHMETIC: &str = "#include \"shapes.h\"\nint twice(int n) { return n * 2; }\n";

const TESTS: &str = r#"
#include <gtest/gtest.h>
#include "shapes.h"
TEST(Shapes, Area) { Square square; EXPECT_EQ(4, area_of(square)); }
TEST(Shapes, Base) { Shape shape; EXPECT_EQ(0, area_of(shape)); }
TEST(Numbers, Twice) { EXPECT_EQ(6, twice(3)); }
"#;

const LISTED: [(&str, &str); 3] = [("Shapes", "Area"), ("Shapes", "Base"), ("Numbers", "Twice")];

/// A small project in a directory of its own.
struct Project {
    directory: TempDir,
}

/// How one source becomes an object.
#[derive(Clone, Copy)]
struct Build<'b> {
    compiler: &'b str,
    flags: &'b [&'b str],
}

impl Project {
    fn new() -> Project {
        let project = Project { directory: TempDir::new().unwrap() };
        for (name, text) in [
            ("shapes.h", SHAPES),
            ("library.cpp", LIBRARY),
            ("arithmetic.cpp", ARITHMETIC),
            ("tests.cpp", TESTS),
        ] {
            fs::write(project.path(name), text).unwrap();
        }
        fs::create_dir(project.path("build")).unwrap();
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn compile(&self, source: &str, build: Build<'_>) {
        let mut command = Command::new(build.compiler);
        command.current_dir(self.directory.path()).args(["-std=c++17", "-w", "-c"]).args(build.flags);
        command.arg(format!("{source}.cpp")).arg("-o").arg(format!("build/{source}.o"));
        run(command).unwrap();
    }

    fn link(&self, inputs: &[&str], flags: &[&str]) {
        let mut command = Command::new("clang++-14");
        command.current_dir(self.directory.path().join("build")).args(flags).args(inputs);
        command.args(["-o", "program", "-lgtest_main", "-lgtest", "-lpthread"]);
        run(command).unwrap();
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(self.path(file), text.replace(from, to)).unwrap();
    }

    fn build(&self, builds: [Build<'_>; 3], flags: &[&str]) {
        for (source, build) in ["library", "arithmetic", "tests"].iter().zip(builds) {
            self.compile(source, build);
        }
        self.link(&["library.o", "arithmetic.o", "tests.o"], flags);
    }

    fn rebuild(&self, source: &str, build: Build<'_>, flags: &[&str]) {
        self.compile(source, build);
        self.link(&["library.o", "arithmetic.o", "tests.o"], flags);
    }

    /// The fingerprint of every test, and what could not be seen.
    fn fingerprints(&self, virtual_calls: VirtualCalls) -> (Snapshot, Vec<String>) {
        fingerprints(&self.path("build"), virtual_calls)
    }
}

fn fingerprints(build: &Path, virtual_calls: VirtualCalls) -> (Snapshot, Vec<String>) {
    let tree = scan(build, &NoCache).unwrap();
    let given = Given { virtual_calls, ..Given::default() };
    let analysis = Analysis::of_build(build, &tree, given);
    let listed: Vec<ListedTest> = LISTED
        .iter()
        .map(|(suite, test)| ListedTest {
            suite: suite.to_string(),
            test: test.to_string(),
            ..ListedTest::default()
        })
        .collect();
    let target = analysis.targets().iter().find(|target| target.name == "program").unwrap();
    let tests = analysis.googletest_tests(target, &listed);
    let notes = analysis.notes().to_vec();
    let (graph, fingerprints) = analysis.into_graph(tests);
    (fingerprints.snapshot(&graph), notes)
}

/// The names of the tests that a change selects.
fn selected(before: &Snapshot, after: &Snapshot) -> BTreeSet<String> {
    tts(before, after).iter().map(|id| id.to_string().rsplit("::").next().unwrap().to_string()).collect()
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(ToString::to_string).collect()
}

const EMBEDDED: Build<'_> = Build { compiler: "clang++-14", flags: &["-O0", "-fembed-bitcode"] };
const NEWEST: Build<'_> = Build { compiler: "clang++-22", flags: &["-O1", "-fembed-bitcode"] };
const FAT: Build<'_> = Build { compiler: "clang++-22", flags: &["-O0", "-flto", "-ffat-lto-objects"] };
const INSTEAD: Build<'_> = Build { compiler: "clang++-14", flags: &["-O1", "-flto"] };
const THIN: Build<'_> = Build { compiler: "clang++-14", flags: &["-O1", "-flto=thin"] };
const PLAIN: Build<'_> =
    Build { compiler: "g++", flags: &["-O0", "-ffunction-sections", "-fdata-sections", "-fmerge-constants"] };

const OPTIMISING_LINKER: [&str; 3] = ["-flto", "-O1", "-fuse-ld=lld"];
const THIN_LINKER: [&str; 3] = ["-flto=thin", "-O1", "-fuse-ld=lld"];

#[test]
fn a_change_to_one_function_selects_its_tests_wherever_the_bitcode_lies() {
    let builds: [(&str, [Build<'_>; 3], &[&str]); 7] = [
        ("embedded", [EMBEDDED; 3], &[]),
        ("embedded by the newest", [NEWEST; 3], &[]),
        ("fat objects", [FAT; 3], &[]),
        ("instead of code", [INSTEAD; 3], &OPTIMISING_LINKER),
        ("instead of code, thin", [THIN; 3], &THIN_LINKER),
        ("a library of another compiler", [EMBEDDED, PLAIN, EMBEDDED], &[]),
        ("tests of another compiler", [INSTEAD, INSTEAD, PLAIN], &OPTIMISING_LINKER),
    ];
    for (name, builds, linker) in builds {
        let project = Project::new();
        project.build(builds, linker);
        let (before, notes) = project.fingerprints(VirtualCalls::Slot);
        assert_eq!((notes, before.len()), (Vec::new(), 3), "{name}");
        project.rebuild("library", builds[0], linker);
        let (again, _) = project.fingerprints(VirtualCalls::Slot);
        assert_eq!(selected(&before, &again), names(&[]), "{name}: built again");
        project.change("arithmetic.cpp", "n * 2", "n * 3");
        project.rebuild("arithmetic", builds[1], linker);
        let (after, _) = project.fingerprints(VirtualCalls::Slot);
        assert_eq!(selected(&before, &after), names(&["Numbers.Twice"]), "{name}");
        project.change("library.cpp", "return 4;", "return 5;");
        project.rebuild("library", builds[0], linker);
        let (last, _) = project.fingerprints(VirtualCalls::Slot);
        assert_eq!(selected(&after, &last), names(&["Shapes.Area"]), "{name}");
    }
}

#[test]
fn bitcode_in_an_archive_is_read_member_by_member() {
    let project = Project::new();
    for source in ["library", "arithmetic", "tests"] {
        project.compile(source, INSTEAD);
    }
    let archive = || {
        let mut command = Command::new("llvm-ar-14");
        command.current_dir(project.path("build")).args(["rcs", "library.a", "library.o", "arithmetic.o"]);
        run(command).unwrap();
        fs::remove_file(project.path("build/library.o")).unwrap();
        fs::remove_file(project.path("build/arithmetic.o")).unwrap();
        project.link(&["tests.o", "library.a"], &OPTIMISING_LINKER);
    };
    archive();
    let (before, notes) = project.fingerprints(VirtualCalls::Slot);
    assert_eq!(notes, Vec::<String>::new());
    project.change("library.cpp", "return 4;", "return 5;");
    project.compile("library", INSTEAD);
    project.compile("arithmetic", INSTEAD);
    archive();
    let (after, _) = project.fingerprints(VirtualCalls::Slot);
    assert_eq!(selected(&before, &after), names(&["Shapes.Area"]));
}

#[test]
fn an_entry_of_a_virtual_table_counts_only_where_it_is_called() {
    let project = Project::new();
    project.build([EMBEDDED; 3], &[]);
    let modes = [VirtualCalls::Slot, VirtualCalls::Hierarchy, VirtualCalls::Any];
    let before = modes.map(|mode| project.fingerprints(mode).0);
    project.change("library.cpp", "return 44;", "return 45;");
    project.rebuild("library", EMBEDDED, &[]);
    let after = modes.map(|mode| project.fingerprints(mode).0);
    let [slot, hierarchy, any] = [0, 1, 2].map(|mode: usize| selected(&before[mode], &after[mode]));
    // Nothing calls `sides`, but whoever makes a square has it in reach.
    assert_eq!(slot, names(&[]));
    assert_eq!(hierarchy, names(&[]));
    assert_eq!(any, names(&["Shapes.Area"]));
    project.change("library.cpp", "return 4;", "return 5;");
    project.rebuild("library", EMBEDDED, &[]);
    let last = modes.map(|mode| project.fingerprints(mode).0);
    let [slot, hierarchy, any] = [0, 1, 2].map(|mode: usize| selected(&after[mode], &last[mode]));
    assert_eq!(slot, names(&["Shapes.Area"]));
    // A call reaches every override, made or not.
    assert_eq!(hierarchy, names(&["Shapes.Area", "Shapes.Base"]));
    assert_eq!(any, names(&["Shapes.Area"]));
}

#[test]
fn code_whose_calls_cannot_be_seen_calls_every_entry() {
    let project = Project::new();
    let builds = [EMBEDDED, PLAIN, EMBEDDED];
    project.build(builds, &[]);
    let (before, _) = project.fingerprints(VirtualCalls::Slot);
    project.change("library.cpp", "return 44;", "return 45;");
    project.rebuild("library", builds[0], &[]);
    let (after, _) = project.fingerprints(VirtualCalls::Slot);
    assert_eq!(selected(&before, &after), names(&["Shapes.Area"]));
}

#[test]
fn unreadable_bitcode_counts_as_a_whole_with_a_note_that_names_it() {
    let project = Project::new();
    project.build([INSTEAD; 3], &OPTIMISING_LINKER);
    let object = project.path("build/library.o");
    let mut bytes = fs::read(&object).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&object, bytes).unwrap();
    let (_, notes) = project.fingerprints(VirtualCalls::Slot);
    assert!(
        notes.iter().any(|note| note.starts_with("library.o: ") && note.contains("damaged")),
        "{notes:?}"
    );
}

#[test]
fn a_class_that_is_all_inline_may_be_known_to_code_from_elsewhere() {
    let project = Project::new();
    project.change(
        "shapes.h",
        "virtual int area() const; virtual int sides() const; };",
        "virtual int area() const { return 0; } virtual int sides() const { return 0; } };",
    );
    project.change(
        "library.cpp",
        "int Shape::area() const { return 0; }\nint Shape::sides() const { return 0; }\n",
        "",
    );
    project.build([EMBEDDED; 3], &[]);
    let (before, _) = project.fingerprints(VirtualCalls::Slot);
    project.change("library.cpp", "return 44;", "return 45;");
    project.rebuild("library", EMBEDDED, &[]);
    let (after, _) = project.fingerprints(VirtualCalls::Slot);
    assert_eq!(selected(&before, &after), names(&["Shapes.Area"]));
}
