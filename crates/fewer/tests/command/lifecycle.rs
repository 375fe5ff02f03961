//! What runs and what is reused from one state to the next.

use crate::workshop::{Project, TESTS};

/// The skipped test has never passed, so it is due every time.
const SKIPPED: &str = "text_test::Text.Waits";

#[test]
fn the_first_run_runs_everything_and_the_second_reuses_what_passed() {
    let project = Project::small();
    assert_eq!(project.selected(), TESTS);
    let first = project.fewer(&["run"]).expect(0);
    assert!(first.contains("6 ran (5 passed, 1 skipped), 0 reused, 1 left out (disabled) in "), "{first}");
    assert_eq!(project.selected(), [SKIPPED]);
    let second = project.fewer(&["run"]).expect(0);
    assert!(second.contains("1 ran (1 skipped), 5 reused, 1 left out (disabled) in "), "{second}");
    assert!(project.file(".fewer/.gitignore").exists());
}

#[test]
fn a_change_selects_exactly_the_tests_that_reach_it() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "2 * (width + height)", "width + width + height + height");
    project.make();
    assert_eq!(project.selected(), ["shape_test::Shape.Perimeter", SKIPPED]);
    let filters = project.fewer(&["select", "--format", "gtest-filter"]).expect(0);
    assert_eq!(filters, "shape_test\tShape.Perimeter\ntext_test\tText.Waits\n");
    project.settle();
    assert_eq!(project.selected(), [SKIPPED]);
}

#[test]
fn a_comment_selects_nothing() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "int area(", "// The area.\n\nint area(");
    project.make();
    assert_eq!(project.selected(), [SKIPPED]);
}

#[test]
fn stashing_a_change_after_a_run_reuses_everything() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "width * height", "height * width");
    project.make();
    assert_eq!(project.selected(), ["shape_test::Shape.Area", SKIPPED]);
    project.settle();
    project.git(&["stash", "-q"]);
    project.make();
    assert_eq!(project.selected(), [SKIPPED]);
    project.git(&["stash", "pop", "-q"]);
    project.make();
    assert_eq!(project.selected(), [SKIPPED]);
}

#[test]
fn a_second_clone_reuses_outcomes_with_a_copied_store() {
    let project = Project::small();
    project.settle();
    let clone = Project::empty();
    clone.git(&["clone", "-q", project.path().to_str().unwrap(), "elsewhere"]);
    let elsewhere = clone.file("elsewhere");
    clone.command("make", &["-s", "-j2", "-C", "elsewhere"]);
    clone.command("cp", &["-r", project.file(".fewer").to_str().unwrap(), "elsewhere/"]);
    let selected = clone.fewer(&["-C", elsewhere.to_str().unwrap(), "select"]).expect(0);
    assert_eq!(selected, format!("{SKIPPED}\n"));
}

#[test]
fn all_runs_everything_and_still_records() {
    let project = Project::small();
    let all = project.fewer(&["run", "--all"]).expect(0);
    assert!(all.contains("6 ran (5 passed, 1 skipped)"), "{all}");
    assert_eq!(project.selected(), [SKIPPED]);
    let again = project.fewer(&["run", "--all"]).expect(0);
    assert!(again.contains("6 ran (5 passed, 1 skipped), 0 reused"), "{again}");
}

#[test]
fn tests_listed_as_always_run_every_time() {
    let project = Project::small();
    project.settle();
    project.write("fewer.toml", "always = [\"shape_test::*\", \"Shouts\"]\n");
    let expected =
        ["shape_test::Shape.Area", "shape_test::Shape.Perimeter", "text_test::Text.Shouts", SKIPPED];
    assert_eq!(project.selected(), expected);
    let why = project.fewer(&["why", "Shouts"]).expect(0);
    assert!(why.contains("runs: listed as always: 'Shouts'"), "{why}");
}

#[test]
fn a_changed_data_file_selects_only_tests_that_read_files() {
    let project = Project::small();
    project.settle();
    project.write("testdata/greeting.txt", "hi\n");
    assert_eq!(project.selected(), ["text_test::Text.Reads", SKIPPED]);
    project.settle();
    project.write("README.md", "# A file for people\n");
    assert_eq!(project.selected(), [SKIPPED]);
    project.write("fewer.toml", "[data]\nfiles = [\"nothing/**\"]\n");
    project.settle();
    project.write("testdata/greeting.txt", "ho\n");
    assert_eq!(project.selected(), [SKIPPED]);
}

#[test]
fn a_declared_variable_is_an_input_of_every_test() {
    let project = Project::small();
    project.write("fewer.toml", "[environment]\nvariables = [\"SEASON\"]\n");
    project.fewer_with(&[("SEASON", "summer")], &["run"]).expect(0);
    let summer = project.fewer_with(&[("SEASON", "summer")], &["select"]).expect(0);
    assert_eq!(summer, format!("{SKIPPED}\n"));
    let winter = project.fewer_with(&[("SEASON", "winter")], &["select"]).expect(0);
    assert_eq!(winter.lines().count(), TESTS.len());
    let why = project.fewer_with(&[("SEASON", "winter")], &["why", "Perimeter"]).expect(0);
    assert!(why.contains("variable SEASON changed"), "{why}");
}

#[test]
fn reports_written_into_the_project_are_not_its_data() {
    let project = Project::small();
    project.fewer(&["run", "--junit", "report.xml"]).expect(0);
    assert_eq!(project.selected(), [SKIPPED]);
    let plan = project.fewer(&["select", "--format", "json"]).expect(0);
    project.write("plan.json", &plan);
    assert_eq!(project.selected(), [SKIPPED]);
}

#[test]
fn an_excluded_program_is_left_alone() {
    let project = Project::small();
    project.write("fewer.toml", "exclude = [\"text_*\"]\n");
    assert_eq!(project.selected(), ["shape_test::Shape.Area", "shape_test::Shape.Perimeter"]);
}

#[test]
fn a_project_outside_of_git_is_no_problem() {
    let project = Project::small();
    project.command("rm", &["-rf", ".git"]);
    project.settle();
    assert_eq!(project.selected(), [SKIPPED]);
    let why = project.fewer(&["why", "Perimeter"]).expect(0);
    assert!(why.contains("none (not in git)"), "{why}");
}

#[test]
fn a_program_older_than_its_objects_runs_all_its_tests_and_says_so() {
    let project = Project::small();
    project.settle();
    project.command("touch", &["build/shape.o"]);
    let selected = project.fewer(&["select"]);
    assert!(selected.stderr.contains("shape_test: the program is older than shape.o"), "{}", selected.stderr);
    assert_eq!(
        selected.expect(0),
        format!("shape_test::Shape.Area\nshape_test::Shape.Perimeter\n{SKIPPED}\n")
    );
}

#[test]
fn gc_keeps_what_reuse_needs() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "width * height", "height * width");
    project.make();
    project.settle();
    let dropped = project.fewer(&["gc", "--keep-states", "1", "--format", "json"]).json(0);
    assert_eq!((&dropped["format"], &dropped["states"]), (&"fewer-gc/1".into(), &1.into()));
    assert_eq!(project.selected(), [SKIPPED]);
    let kept = project.fewer(&["gc", "--keep-states", "0", "--older-than", "1d"]).expect(0);
    assert!(kept.contains("states dropped"), "{kept}");
    assert_eq!(project.selected(), [SKIPPED]);
}

#[test]
fn a_data_file_counts_whatever_its_ending_where_git_knows_it() {
    let project = Project::small();
    let paths = ["testdata/case1.in", "testdata/recorded.log", "tests/spec.md", "testdata/missing"];
    paths.iter().for_each(|path| project.write(path, "before"));
    project.commit_all();
    project.settle();
    assert_eq!(project.selected(), [SKIPPED]);
    for path in paths {
        project.write(path, "after");
        assert_eq!(project.selected(), ["text_test::Text.Reads", SKIPPED], "{path}");
        project.write(path, "before");
    }
}

#[test]
fn a_data_file_of_a_submodule_counts() {
    let data = Project::empty();
    data.write("x.txt", "1");
    data.commit_all();
    let project = Project::small();
    let source = data.path().display().to_string();
    project.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &source, "td"]);
    project.commit_all();
    project.settle();
    assert_eq!(project.selected(), [SKIPPED]);
    project.write("td/x.txt", "2");
    assert_eq!(project.selected(), ["text_test::Text.Reads", SKIPPED]);
}

#[test]
fn an_object_with_nothing_in_it_makes_no_program_look_old() {
    let project = Project::small();
    project.write("other_system.cpp", "#ifdef ANOTHER_SYSTEM\nint works() { return 1; }\n#endif\n");
    project.command("g++", &["-c", "other_system.cpp", "-o", "build/other_system.o"]);
    let first = project.fewer(&["run"]);
    assert!(!first.stderr.contains("is older than"), "{}", first.stderr);
    first.expect(0);
    assert_eq!(project.selected(), ["text_test::Text.Waits"], "the others are reused");
}
