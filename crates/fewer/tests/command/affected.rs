//! Which tests a change would select.

use crate::workshop::{Project, lines};

#[track_caller]
fn affected(project: &Project, arguments: &[&str]) -> Vec<String> {
    lines(&project.fewer(&[&["affected"], arguments].concat()).expect(0))
}

const SHAPES: [&str; 2] = ["shape_test::Shape.Area", "shape_test::Shape.Perimeter"];

#[test]
fn a_source_file_affects_the_tests_that_reach_its_object() {
    let project = Project::small();
    assert_eq!(affected(&project, &["src/shape.cpp"]), SHAPES);
    assert_eq!(affected(&project, &["src/text.cpp"]), ["text_test::Text.Reads", "text_test::Text.Shouts"]);
    let from_below = project.fewer(&["-C", "src", "affected", "shape.cpp"]).expect(0);
    assert_eq!(lines(&from_below), SHAPES);
}

#[test]
fn a_header_affects_what_includes_it() {
    let project = Project::small();
    let tests = affected(&project, &["src/shape.h"]);
    assert!(SHAPES.iter().all(|test| tests.contains(&test.to_string())), "{tests:?}");
    assert!(!tests.iter().any(|test| test.starts_with("text_test")), "{tests:?}");
}

#[test]
fn a_function_affects_the_tests_that_reach_it() {
    let project = Project::small();
    for name in ["perimeter", "perimeter(int, int)", "_Z9perimeterii"] {
        assert_eq!(affected(&project, &[name]), ["shape_test::Shape.Perimeter"], "{name}");
    }
}

#[test]
fn a_data_file_affects_the_tests_that_read_files() {
    let project = Project::small();
    assert_eq!(affected(&project, &["testdata/greeting.txt"]), ["text_test::Text.Reads"]);
}

#[test]
fn an_unknown_path_is_said_to_be_unknown() {
    let project = Project::small();
    let ended = project.fewer(&["affected", "README.md", "src/shape.cpp"]);
    assert!(ended.stderr.contains("README.md: no object depends on it"), "{}", ended.stderr);
    assert_eq!(lines(&ended.expect(0)), SHAPES);
}

#[test]
fn a_diff_affects_what_its_files_affect() {
    let project = Project::small();
    project.edit("src/shape.cpp", "width * height", "height * width");
    assert_eq!(affected(&project, &["--diff", "HEAD"]), SHAPES);
    project.commit_all();
    assert_eq!(affected(&project, &["--diff", "HEAD~1..HEAD"]), SHAPES);
    assert!(affected(&project, &["--diff", "HEAD..HEAD"]).is_empty());
    let message = project.fewer(&["affected", "--diff", "nowhere..HEAD"]).refused(2);
    assert!(message.contains("nowhere"), "{message}");
}
