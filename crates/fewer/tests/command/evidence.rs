//! `fewer why` for every kind of decision.

use crate::workshop::Project;

#[track_caller]
fn why(project: &Project, test: &str, expected: &[&str]) {
    let text = project.fewer(&["why", test]).expect(0);
    for part in expected {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn every_decision_has_its_reason() {
    let project = Project::small();
    why(&project, "Perimeter", &["shape_test::Shape.Perimeter\nruns: new: nothing is recorded about it"]);
    why(&project, "DISABLED_Volume", &["is left out: disabled in the source"]);
    project.settle();
    why(
        &project,
        "Perimeter",
        &["is reused: nothing it can reach has changed since it passed (commit ", "machine", "content"],
    );
    why(&project, "Waits", &["runs: no conclusive outcome with this content yet (last: skipped"]);
    project.edit("src/shape.cpp", "2 * (width", "3 * (width");
    project.make();
    why(
        &project,
        "Perimeter",
        &[
            "runs: perimeter(int, int) (shape.o) changed",
            "the way from the test to the change:\n  Shape_Perimeter_Test::TestBody() (shape_test.o)\n    -> perimeter(int, int) (shape.o)",
            "what changed in its reach:\n  perimeter(int, int) (shape.o) changed",
            "its last outcome, with other content:",
        ],
    );
    project.fewer(&["run"]).expect(1);
    why(&project, "Perimeter", &["runs: it failed last time with the same content", "Which is: 15"]);
}

#[test]
fn a_long_list_of_changes_is_cut() {
    let project = Project::small();
    project.settle();
    let functions: String = (0..15).map(|n| format!("int f{n}(int x) {{ return x + {n}; }}\n")).collect();
    let calls: String = (0..15).map(|n| format!(" + f{n}(0) - {n}")).collect();
    project.edit("src/shape.cpp", "int area(", &format!("{functions}int area("));
    project.edit("src/shape.cpp", "width * height", &format!("width * height{calls}"));
    project.make();
    why(&project, "shape_test::Shape.Area", &["f0(int) (shape.o) was added", "and 6 more"]);
}

#[test]
fn a_recorded_state_that_is_gone_is_said_to_be_gone() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "2 * (width", "width + height + (width");
    project.make();
    project.fewer(&["gc", "--keep-states", "0"]).expect(0);
    let text = project.fewer(&["why", "Perimeter"]).expect(0);
    assert!(text.contains("runs: "), "{text}");
}
