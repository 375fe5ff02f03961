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
    project.write("README.md", "");
    let ended = project.fewer(&["affected", "README.md", "src/shape.cpp"]);
    assert!(ended.stderr.contains("README.md: no object or class depends on it"), "{}", ended.stderr);
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

#[test]
fn a_name_is_known_with_its_tags_as_why_prints_it_and_by_its_aliases() {
    let project = Project::small();
    project.settle();
    project.edit("src/text.cpp", "line[80]", "line[90]");
    project.make();
    let why = project.fewer(&["why", "text_test::Text.Reads"]).expect(0);
    let printed = why.lines().map(str::trim).find(|line| line.starts_with("first_line[abi:cxx11]")).unwrap();
    let printed = &printed[..=printed.rfind(')').unwrap()];
    for name in ["first_line", "first_line[abi:cxx11]", "first_line(char const*)", printed] {
        assert_eq!(affected(&project, &[name]), ["text_test::Text.Reads"], "{name}");
    }
    for name in
        ["_ZN16Text_Shouts_TestC1Ev", "_ZN16Text_Shouts_TestC2Ev", "Text_Shouts_Test::Text_Shouts_Test()"]
    {
        assert_eq!(affected(&project, &[name]), ["text_test::Text.Shouts"], "{name}");
    }
}

#[test]
fn a_name_that_means_nothing_is_refused_with_names_that_are_there() {
    let project = Project::small();
    let said = project.fewer(&["affected", "src/shape.cpp", "perimetre"]).refused(2);
    assert!(said.contains("'perimetre' is neither a file here nor the name"), "{said}");
    assert!(said.contains("Did you mean one of these?\n  perimeter(int, int) (shape.o)"), "{said}");
    let said = project.fewer(&["affected", "--format", "json", "q_w_e_r_t_y"]).refused(2);
    assert!(said.contains("`fewer why TEST` shows names"), "{said}");
    project.write("notes.md", "");
    project.commit_all();
    project.command("rm", &["notes.md"]);
    assert!(affected(&project, &["notes.md"]).is_empty(), "a file that was deleted is no slip");
}
