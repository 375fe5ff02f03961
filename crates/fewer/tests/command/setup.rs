//! Wrong usage and missing things: exit code 2 and a message that says what to do.

use std::fs;

use serde_json::Value;

use crate::workshop::{Project, TESTS, lines};

#[test]
fn a_project_without_a_build_says_what_is_missing() {
    let project = Project::empty();
    project.git(&["init", "-q"]);
    let message = project.fewer(&["run"]).refused(2);
    assert!(message.contains("no build directory found") && message.contains("build-directory"), "{message}");
    project.write("fewer.toml", "build-directory = \"out\"\n");
    let message = project.fewer(&["select"]).refused(2);
    assert!(message.contains("the build directory out does not exist"), "{message}");
}

#[test]
fn an_unknown_key_is_refused_with_file_and_line() {
    let project = Project::small();
    project.write("fewer.toml", "jobs = 2\nbiuld = \"make\"\n");
    let message = project.fewer(&["run"]).refused(2);
    assert!(message.contains("fewer.toml:2: unknown field `biuld`"), "{message}");
}

#[test]
fn an_unknown_flag_is_refused() {
    let project = Project::empty();
    assert!(project.fewer(&["run", "--everything"]).refused(2).contains("--everything"));
    assert!(project.fewer(&["affected"]).refused(2).contains("PATH"));
    assert!(project.fewer(&["run", "--timeout", "soon"]).refused(2).contains("not a time"));
}

#[test]
fn an_ambiguous_test_is_refused_with_the_candidates() {
    let project = Project::small();
    let message = project.fewer(&["why", "Shape.Area"]).refused(2);
    assert!(message.contains("'Shape.Area' names 2 tests"), "{message}");
    assert!(
        message.contains("shape_test::Shape.Area") && message.contains("text_test::Shape.Area"),
        "{message}"
    );
    let message = project.fewer(&["why", "Shap"]).refused(2);
    assert!(message.contains("no test is called 'Shap'. Did you mean"), "{message}");
    project.fewer(&["why", "text_test::Shape.Area"]).expect(0);
}

#[test]
fn init_writes_settings_once_and_they_work() {
    let project = Project::small();
    let said = project.fewer(&["init"]);
    assert!(said.stderr.contains("build system: Make"), "{}", said.stderr);
    assert!(said.stderr.contains("tests: 7 in 2 GoogleTest programs"), "{}", said.stderr);
    said.expect(0);
    let settings = fs::read_to_string(project.file("fewer.toml")).unwrap();
    assert!(settings.contains("build = \"make\"\n") && settings.contains("build-directory = \"build\"\n"));
    assert!(project.fewer(&["init"]).refused(2).contains("--force"));
    project.fewer(&["init", "--force"]).expect(0);
    project.settle();
}

#[test]
fn the_doctor_finds_nothing_in_a_well_built_project() {
    let report = Project::small().fewer(&["doctor"]).expect(0);
    assert!(report.contains("7 tests") && report.contains("nothing to mend"), "{report}");
    assert!(report.contains("objects are read: 4 by function (a section each)\n"), "{report}");
}

#[test]
fn the_doctor_leaves_out_what_cmake_tried_out() {
    let project = Project::small();
    let probe = "build/CMakeFiles/3.31.6/CMakeDetermineCompilerABI_CXX.bin";
    project.write(
        "build/CMakeFiles/CheckTypeSize/probe.c",
        "int a; int b; int f() { return a; } int main() { return f(); }\n",
    );
    project.command("mkdir", &["-p", "build/CMakeFiles/3.31.6"]);
    project.command(
        "gcc",
        &["-c", "build/CMakeFiles/CheckTypeSize/probe.c", "-o", "build/CMakeFiles/CheckTypeSize/probe.o"],
    );
    project.command("gcc", &["build/CMakeFiles/CheckTypeSize/probe.o", "-o", probe]);
    project.command("touch", &["build/CMakeFiles/CheckTypeSize/probe.o"]);
    let report = project.fewer(&["doctor"]).expect(0);
    assert!(report.contains("4 objects, 2 programs") && report.contains("nothing to mend"), "{report}");
}

#[test]
fn the_settings_are_no_change_but_those_of_how_tests_start_count() {
    let project = Project::small();
    let run = || project.fewer(&["run", "--format", "json"]).json(0);
    project.settle();
    project.write("fewer.toml", "# nothing\n");
    let evidence = |run: &Value| run["tests"][0]["evidence"]["from"].clone();
    assert_eq!(evidence(&run())["dirty"], false, "it is no local change");
    project.fewer(&["run", "--all"]).expect(0);
    assert_eq!(evidence(&run())["dirty"], false, "nor while tests are recorded");
    project.commit_all();
    project.edit("fewer.toml", "nothing", "nothing at all");
    let ended = project.fewer(&["select"]);
    assert!(!ended.stderr.contains("newer than"), "{}", ended.stderr);
    assert_eq!(lines(&ended.expect(0)), ["text_test::Text.Waits"]);
    project.write("fewer.toml", "working-directory = \"src\"\n");
    assert_eq!(project.selected(), TESTS);
}

#[test]
fn the_doctor_names_missing_flags_with_the_fix() {
    let project = Project::small();
    let flags = "-ffunction-sections -fdata-sections -fmerge-constants -ffile-prefix-map=$(CURDIR)=.";
    project.edit("Makefile", flags, "");
    project.edit("Makefile", "-c $<", "-c $(CURDIR)/$<");
    project.command("make", &["-s", "-B", "-j2"]);
    let report = project.fewer(&["doctor"]).expect(0);
    assert!(report.contains("several functions or variables in one section"), "{report}");
    assert!(report.contains("fix in Make: CXXFLAGS += -ffunction-sections -fdata-sections\n"), "{report}");
    assert!(report.contains("hold the path of this checkout"), "{report}");
    assert!(report.contains("-ffile-prefix-map=$(CURDIR)=."), "{report}");
    project.command("strip", &["build/shape_test"]);
    let report = project.fewer(&["doctor", "--format", "json"]).json(0);
    let ids: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&"stripped") && ids.contains(&"function-sections"), "{ids:?}");
}

#[test]
fn the_doctor_names_initialisers_that_count_for_every_test() {
    let project = Project::small();
    let greeting = "\nstatic const int mask = [] { return setenv(\"GREETING\", \"hello\", 1); }();\n";
    project.edit(
        "src/text.cpp",
        "#include <stdio.h>\n",
        &format!("#include <stdio.h>\n#include <stdlib.h>\n{greeting}"),
    );
    project.make();
    // From scratch, and from what the last analysis kept.
    for _ in 0..2 {
        let report = project.fewer(&["doctor"]).expect(0);
        assert!(
            report.contains("1 initialiser of global variables may change what any test does"),
            "{report}"
        );
        assert!(report.contains("(text.o): setenv\n") && report.contains("first use"), "{report}");
    }
}

#[test]
fn the_manual_and_completions_come_from_the_program_itself() {
    let project = Project::empty();
    assert!(project.fewer(&["man"]).expect(0).contains(".TH fewer"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(project.fewer(&["completions", shell]).expect(0).contains("affected"));
    }
    project.command("mkdir", &["pages"]);
    project.fewer(&["man", "--directory", "pages"]).expect(0);
    assert!(project.file("pages/fewer-run.1").exists());
}

#[test]
fn colours_are_used_only_when_wanted() {
    let project = Project::small();
    let plain = project.fewer(&["run", "--all"]).expect(0);
    assert!(!plain.contains('\x1b'));
    let coloured = project.fewer(&["run", "--all", "--color", "always"]).expect(0);
    assert!(coloured.contains("\x1b[32m5 passed"), "{coloured}");
}

#[test]
fn quiet_says_only_what_is_wrong_and_verbose_says_more() {
    let project = Project::small();
    let quiet = project.fewer(&["run", "-q"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let failed = project.fewer_with(&[("AREA_FAILS", "1")], &["run", "-q", "--all"]);
    assert!(failed.stdout.contains("FAILED shape_test::Shape.Area") && failed.stderr.is_empty());
    let verbose = project.fewer(&["run", "-v", "--timings"]);
    assert!(verbose.stderr.contains("shape_test::Shape.Area  flaky"), "{}", verbose.stderr);
    assert!(verbose.stderr.contains("passed shape_test::Shape.Area"), "{}", verbose.stderr);
    assert!(
        verbose.stderr.contains("read objects") && verbose.stderr.contains("total"),
        "{}",
        verbose.stderr
    );
}

#[test]
fn init_names_the_flags_where_a_build_is_set_up_and_nothing_is_built() {
    let project = Project::empty();
    project.write("CMakeLists.txt", "");
    project.write("build/CMakeCache.txt", "");
    project.write("build/CTestTestfile.cmake", "");
    let said = project.fewer(&["init"]);
    assert!(
        said.stderr.contains("nothing is built yet") && !said.stderr.contains("tests:"),
        "{}",
        said.stderr
    );
    assert_eq!(said.code, Some(0));
}
