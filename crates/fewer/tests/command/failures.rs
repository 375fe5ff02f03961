//! Tests that fail, crash or hang, programs that cannot list their tests, builds that fail.

use crate::workshop::{Project, lines};

#[test]
fn a_failing_test_gives_exit_code_1_and_is_shown_with_its_output() {
    let project = Project::small();
    let failed = project.fewer_with(&[("AREA_FAILS", "1")], &["run"]).expect(1);
    assert!(failed.contains("FAILED shape_test::Shape.Area"), "{failed}");
    assert!(failed.contains("tests/shape_test.cpp:5: Failure"), "{failed}");
    assert!(failed.contains("it ran because: new: nothing is recorded about it"), "{failed}");
    assert!(failed.contains("6 ran (4 passed, 1 failed, 1 skipped), 0 reused"), "{failed}");
    assert!(failed.contains("`fewer why shape_test::Shape.Area` tells more"), "{failed}");
}

#[test]
fn a_failed_test_runs_again_until_it_passes_with_other_content() {
    let project = Project::small();
    project.fewer_with(&[("AREA_FAILS", "1")], &["run"]).expect(1);
    let why = project.fewer(&["why", "shape_test::Shape.Area"]).expect(0);
    assert!(why.contains("runs: it failed last time with the same content"), "{why}");
    assert!(why.contains("what it printed when it last failed so:"), "{why}");
    assert!(why.contains("area(2, 3)"), "{why}");
    project.edit("src/shape.cpp", "width * height", "height * width");
    project.make();
    project.settle();
    let why = project.fewer(&["why", "shape_test::Shape.Area"]).expect(0);
    assert!(why.contains("is reused: "), "{why}");
    project.fewer_with(&[("AREA_FAILS", "1")], &["run", "--all"]).expect(1);
    project.edit("src/shape.cpp", "height * width", "width * height");
    project.make();
    let why = project.fewer(&["why", "shape_test::Shape.Area"]).expect(0);
    assert!(why.contains("runs: it failed "), "{why}");
}

#[test]
fn one_content_with_two_outcomes_is_flaky() {
    let project = Project::small();
    project.settle();
    project.fewer_with(&[("AREA_FAILS", "1")], &["run", "--all"]).expect(1);
    let why = project.fewer(&["why", "shape_test::Shape.Area"]).expect(0);
    assert!(why.contains("runs: flaky: with the same content it passed"), "{why}");
    let status = project.fewer(&["status"]).expect(0);
    assert!(status.contains("flaky tests") && status.contains("shape_test::Shape.Area"), "{status}");
}

#[test]
fn a_crash_is_attributed_and_the_other_tests_still_run() {
    let project = Project::small();
    let crashed = project.fewer_with(&[("AREA_CRASHES", "1")], &["run"]).expect(1);
    assert!(crashed.contains("CRASHED shape_test::Shape.Area"), "{crashed}");
    assert!(crashed.contains("SIGABRT"), "{crashed}");
    assert!(crashed.contains("6 ran (4 passed, 1 failed, 1 skipped)"), "{crashed}");
}

#[test]
fn a_test_that_hangs_is_stopped() {
    let project = Project::small();
    let hung = project.fewer_with(&[("PERIMETER_SLEEPS", "60")], &["run", "--timeout", "1s"]).expect(1);
    assert!(hung.contains("TIMED-OUT shape_test::Shape.Perimeter"), "{hung}");
    assert!(hung.contains("6 ran (4 passed, 1 failed, 1 skipped)"), "{hung}");
}

#[test]
fn a_program_that_cannot_list_its_tests_fails_with_all_tests_known_of_it() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "int area(", "static int start = (abort(), 1);\n\nint area(");
    project.make();
    let selected = project.fewer(&["select"]);
    assert!(selected.stderr.contains("shape_test: the program cannot list its tests"), "{}", selected.stderr);
    let selected = selected.expect(0);
    assert!(selected.starts_with("shape_test::Shape.Area\nshape_test::Shape.Perimeter\n"), "{selected}");
    let failed = project.fewer(&["run"]).expect(1);
    assert!(failed.contains("CRASHED shape_test::Shape.Area"), "{failed}");
    assert!(failed.contains("CRASHED shape_test::Shape.Perimeter"), "{failed}");
    assert!(failed.contains("    the same output as shape_test::Shape.Area"), "{failed}");
    assert!(failed.contains("3 ran (2 failed, 1 skipped), 3 reused"), "{failed}");
}

#[test]
fn a_program_that_never_listed_its_tests_is_one_test() {
    let project = Project::small();
    project.edit("src/shape.cpp", "int area(", "static int start = (abort(), 1);\n\nint area(");
    project.make();
    assert_eq!(project.selected()[0], "shape_test::*");
    let failed = project.fewer(&["run"]).expect(1);
    assert!(failed.contains("CRASHED shape_test::*"), "{failed}");
}

#[test]
fn a_failed_build_gives_exit_code_3_and_its_output() {
    let project = Project::small();
    project.write("fewer.toml", "build = \"make -s\"\n");
    project.settle();
    project.edit("src/shape.cpp", "width * height", "width times height");
    for arguments in [&["run"][..], &["run", "-q"], &["select", "--build"]] {
        let message = project.fewer(arguments).refused(3);
        assert!(message.contains("src/shape.cpp") && message.contains("error"), "{message}");
        assert!(message.contains("the build command `make -s` ended with exit code 2"), "{message}");
    }
    let message = project.fewer(&["run", "--no-build"]).refused(2);
    assert!(message.contains("src/shape.cpp is newer than shape.o"), "{message}");
    project.fewer(&["run", "--no-build", "--trust-build"]).expect(0);
}

#[test]
fn the_build_command_runs_before_tests_are_selected() {
    let project = Project::small();
    project.write("fewer.toml", "build = { command = \"make -s\", directory = \".\" }\n");
    project.settle();
    project.edit("src/shape.cpp", "width * height", "height * width");
    let selected = lines(&project.fewer(&["select", "--build"]).expect(0));
    assert_eq!(selected, ["shape_test::Shape.Area", "text_test::Text.Waits"]);
}

#[test]
fn a_failure_elsewhere_in_the_history_is_remembered_until_it_passes_here() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "width * height", "height * width * 2");
    project.make();
    project.fewer(&["run"]).expect(1);
    project.edit("src/shape.cpp", "height * width * 2", "width * height");
    project.make();
    let why = project.fewer(&["why", "shape_test::Shape.Area"]).expect(0);
    let until =
        "it runs until it passes here with this content, or for 10 more recorded state(s) (failure-memory)";
    assert!(why.contains("runs: it failed 0 recorded state(s) ago; ") && why.contains(until), "{why}");
    project.settle();
    let why = project.fewer(&["why", "shape_test::Shape.Area"]).expect(0);
    assert!(why.contains("is reused: "), "{why}");
}

#[test]
fn a_log_hears_of_long_work_every_ten_seconds() {
    let project = Project::small();
    project.write("fewer.toml", "build = \"sleep 11\"\n");
    let ended = project.fewer(&["select", "--build"]);
    assert!(ended.stderr.contains("fewer: build, 10 s\n"), "{}", ended.stderr);
}
