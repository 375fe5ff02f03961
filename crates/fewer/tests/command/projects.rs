//! What counts as a project and as a build directory: elsewhere nothing is looked at, started or written.

use std::fs;

use crate::rust_run::{fewer, ran};
use crate::workshop::{Project, TESTS, lines};

const MANIFEST: &str = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LIBRARY: &str = "pub fn one() -> u32 { 1 }\n#[test]\nfn is_one() { assert_eq!(one(), 1); }\n";

/// A directory in which somebody built something somewhere.
fn strangers() -> Project {
    let project = Project::empty();
    project.command("mkdir", &["-p", "somewhere/else", "build"]);
    let marks = "#include <fstream>\nint main() { std::ofstream(\"/dev/stderr\") << \"STARTED\"; }\n";
    project.write("somewhere/else/t.cpp", marks);
    project.command("g++", &["-c", "somewhere/else/t.cpp", "-o", "somewhere/else/t.o"]);
    project.command("cp", &["somewhere/else/t.o", "build/t.o"]);
    project
}

#[test]
fn in_a_directory_that_is_no_project_every_command_ends_with_2_and_says_what_it_looked_for() {
    for project in [Project::empty(), strangers()] {
        for arguments in [
            &["run"][..],
            &["select"],
            &["why", "T"],
            &["affected", "a.cpp"],
            &["status"],
            &["doctor"],
            &["init"],
            &["gc"],
            &["forget", "T"],
            &["reduce", "collect"],
        ] {
            let message = project.fewer(arguments).refused(2);
            for words in
                ["is no project", "git working tree", "fewer.toml", "CMakeLists.txt", "Cargo.toml", "-C DIR"]
            {
                assert!(message.contains(words), "{arguments:?}: {message}");
            }
        }
        assert!(project.fewer(&["history", "stats"]).refused(2).contains("git"));
        assert!(!project.file(".fewer").exists() && !project.file("fewer.toml").exists());
    }
}

#[test]
fn init_writes_nothing_in_an_empty_working_tree() {
    let project = Project::empty();
    project.git(&["init", "-q"]);
    let message = project.fewer(&["init"]).refused(2);
    assert!(message.contains("is empty") && message.contains("nothing was written"), "{message}");
    assert!(!project.file("fewer.toml").exists() && !project.file(".fewer").exists());
}

#[test]
fn objects_somewhere_below_a_project_are_no_build_of_it() {
    let project = strangers();
    project.command("rm", &["-r", "build"]);
    project.git(&["init", "-q"]);
    let message = project.fewer(&["run"]).refused(2);
    assert!(message.contains("no build directory found"), "{message}");
    project.write("fewer.toml", "build-directory = \"somewhere\"\n");
    let message = project.fewer(&["run"]).refused(2);
    assert!(message.contains("no tests found in somewhere"), "{message}");
}

#[test]
fn a_makefile_may_build_where_the_sources_are() {
    let project = Project::small();
    project.edit("Makefile", "OUT := build", "OUT := .");
    project.command("rm", &["-r", "build"]);
    project.make();
    assert_eq!(lines(&project.fewer(&["select"]).expect(0)), TESTS);
}

/// A cargo package, tested by cargo however much it looks like something else.
#[track_caller]
fn is_tested_by_cargo(project: &Project, target: &str) {
    let fewer = |arguments: &[&str]| project.fewer_with(&[("CARGO_TARGET_DIR", target)], arguments);
    project.write("Cargo.toml", MANIFEST);
    project.write("src/lib.rs", LIBRARY);
    project.commit_all();
    for _ in 0..2 {
        let document = fewer(&["run", "--all", "--format", "json"]).json(0);
        assert!(ran(document).contains(&"p::is_one".to_string()));
    }
    project.edit("src/lib.rs", "{ 1 }", "{ 2 }");
    fewer(&["run"]).expect(1);
}

#[test]
fn a_cargo_project_may_leave_its_output_in_a_directory_called_build() {
    let project = Project::empty();
    project.write(".gitignore", "build/\n");
    is_tested_by_cargo(&project, "build");
    assert!(project.file("build/debug").exists());
}

#[test]
fn a_cargo_project_with_objects_beside_it_is_still_cargos() {
    let project = strangers();
    project.write("tests/fixtures/sample.o", "no object at all");
    project.write("Makefile", "all:\n\tcargo build\n");
    is_tested_by_cargo(&project, "target");
    let select = fewer(&project, &["select"]);
    assert!(select.stderr.contains("build holds object files"), "{}", select.stderr);
    assert!(select.stderr.contains("build-directory = \"build\""), "{}", select.stderr);
}

#[test]
fn cargos_tests_that_are_gone_because_of_a_build_of_cpp_are_missed() {
    let project = Project::empty();
    project.write("Cargo.toml", MANIFEST);
    project.write("src/lib.rs", LIBRARY);
    project.write(".gitignore", "/target\n/build\n.fewer\n");
    project.commit_all();
    fewer(&project, &["run"]).expect(0);
    project.write("CMakeLists.txt", "");
    project.write("build/CMakeCache.txt", "");
    project.write("build/CTestTestfile.cmake", "add_test(script \"/bin/true\")\n");
    let message = fewer(&project, &["run"]).refused(2);
    assert!(message.contains("all tests of p (1)") && message.contains("p::is_one"), "{message}");
    assert!(message.contains("cargo's tests are not looked at"), "{message}");
}

#[test]
fn a_source_that_is_newer_than_what_cargo_built_is_stale_without_a_build_in_and_outside_of_git() {
    let project = Project::empty();
    project.write("Cargo.toml", MANIFEST);
    project.write("src/lib.rs", LIBRARY);
    project.write(".gitignore", "/target\n.fewer\n");
    project.commit_all();
    fewer(&project, &["run"]).expect(0);
    for _ in 0..2 {
        project.edit("src/lib.rs", "one()", "single()");
        for command in ["run", "select"] {
            let message = fewer(&project, &[command, "--no-build"]).refused(2);
            assert!(message.contains("src/lib.rs is newer than"), "{message}");
            assert!(message.contains("leave --no-build out"), "{message}");
        }
        fewer(&project, &["run"]).expect(0);
        fs::remove_dir_all(project.file(".git")).ok();
        project.edit("src/lib.rs", "single()", "one()");
        fewer(&project, &["run"]).expect(0);
    }
}

#[test]
fn a_java_project_with_objects_in_a_directory_called_build_is_only_java() {
    let project = Project::empty();
    project.write("pom.xml", "<project/>");
    project.write("build/fixture.o", "no object at all");
    let report = project.fewer(&["doctor"]).expect(0);
    assert!(report.contains("Maven: 0 modules") && !report.contains("objects are read"), "{report}");
}
