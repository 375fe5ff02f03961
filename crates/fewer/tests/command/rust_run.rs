//! A cargo workspace, built and tested with the real cargo.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::Value;

use crate::workshop::{Ended, Project, lines};

/// What a project of its own must not take over from the one that these tests belong to.
pub const OWN: [(&str, &str); 2] = [("CARGO_TARGET_DIR", "target"), ("CARGO_INCREMENTAL", "1")];

const WORKSPACE: &str = "[workspace]\nmembers = [\"shapes\"]\nresolver = \"3\"\n";
const PACKAGE: &str = "[package]\nname = \"shapes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
const LIBRARY: &str = r#"//! Shapes.

pub mod area;

/// Twice as much.
///
/// ```
/// assert_eq!(shapes::twice(2), 4);
/// ```
pub fn twice(number: u32) -> u32 {
    number * 2
}

pub fn largest<T: PartialOrd + Copy>(values: &[T]) -> Option<T> {
    let mut largest = *values.first()?;
    for &value in values {
        if value > largest {
            largest = value;
        }
    }
    Some(largest)
}

pub fn greeting(path: &str) -> String {
    std::fs::read_to_string(path).unwrap().trim_end().to_string()
}

pub fn refuse(reason: &str) -> u32 {
    panic!("refused: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles() {
        assert_eq!(twice(4), 8);
    }

    #[test]
    fn finds_the_largest() {
        assert_eq!(largest(&[1, 3, 2]), Some(3));
    }

    #[test]
    fn greets() -> Result<(), String> {
        if greeting("greeting.txt") == "hello" { Ok(()) } else { Err("rude".to_string()) }
    }

    #[test]
    #[should_panic(expected = "refused")]
    fn refuses() {
        refuse("no");
    }

    #[test]
    #[ignore = "takes long"]
    fn waits() {}
}
"#;
const AREA: &str = r#"pub trait Shape {
    fn area(&self) -> f64;
}

pub struct Square(pub f64);

pub struct Circle(pub f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.0 * self.0 * 3.0
    }
}

pub fn total(shapes: &[Box<dyn Shape>]) -> f64 {
    shapes.iter().map(|shape| shape.area()).sum()
}
"#;
const INTEGRATION: &str = r#"use shapes::area::{Circle, Square, total};

#[test]
fn circles_have_areas() {
    assert!(total(&[Box::new(Circle(2.0))]) > 11.0);
}

#[test]
fn squares_have_areas() {
    assert_eq!(total(&[Box::new(Square(2.0))]), 4.0);
}
"#;

const DOCUMENTATION: &str = "shapes/doc::*";
const TESTS: [&str; 7] = [
    DOCUMENTATION,
    "shapes/whole::circles_have_areas",
    "shapes/whole::squares_have_areas",
    "shapes::tests::doubles",
    "shapes::tests::finds_the_largest",
    "shapes::tests::greets",
    "shapes::tests::refuses",
];

/// The workspace, with all outcomes recorded.
fn workspace() -> Project {
    static SETTLED: OnceLock<PathBuf> = OnceLock::new();
    Project::made_once(&SETTLED, "cargo-project", || {
        let project = Project::empty();
        project.write("Cargo.toml", WORKSPACE);
        project.write(".gitignore", "/target\n");
        project.write("shapes/Cargo.toml", PACKAGE);
        project.write("shapes/src/lib.rs", LIBRARY);
        project.write("shapes/src/area.rs", AREA);
        project.write("shapes/tests/whole.rs", INTEGRATION);
        project.write("shapes/greeting.txt", "hello\n");
        project.commit_all();
        assert_eq!(ran(fewer(&project, &["run", "--format", "json"]).json(0)), TESTS);
        project
    })
}

pub fn fewer(project: &Project, arguments: &[&str]) -> Ended {
    project.fewer_with(&OWN, arguments)
}

#[track_caller]
pub fn selected(project: &Project) -> Vec<String> {
    sorted(lines(&fewer(project, &["select", "--build"]).expect(0)))
}

pub fn sorted(mut tests: Vec<String>) -> Vec<String> {
    tests.sort();
    tests
}

pub fn ran(document: Value) -> Vec<String> {
    let tests = document["tests"].as_array().unwrap().clone();
    let ran = tests.into_iter().filter(|test| test["decision"] == "run");
    sorted(ran.map(|test| test["id"].as_str().unwrap().to_string()).collect())
}

pub fn verdict(document: &Value, id: &str) -> String {
    let tests = document["tests"].as_array().unwrap();
    let test = tests.iter().find(|test| test["id"] == id).unwrap();
    test["outcome"].as_str().unwrap().to_string()
}

#[test]
fn what_passed_is_reused_and_documentation_runs_always() {
    let project = workspace();
    assert_eq!(selected(&project), [DOCUMENTATION]);
    let document = fewer(&project, &["run", "--format", "json"]).json(0);
    assert_eq!(verdict(&document, DOCUMENTATION), "passed");
    let ignored =
        document["tests"].as_array().unwrap().iter().find(|test| test["id"] == "shapes::tests::waits");
    assert_eq!(ignored.unwrap()["decision"], "left-out");
}

#[test]
fn a_change_selects_the_tests_that_reach_it() {
    let project = workspace();
    project.edit("shapes/src/lib.rs", "number * 2", "number + number");
    assert_eq!(selected(&project), [DOCUMENTATION, "shapes::tests::doubles"]);
    project.edit("shapes/src/lib.rs", "number + number", "number * 2");
    project.edit("shapes/src/lib.rs", "if value > largest", "if value >= largest");
    assert_eq!(selected(&project), [DOCUMENTATION, "shapes::tests::finds_the_largest"]);
    project.edit("shapes/src/lib.rs", "if value >= largest", "if value > largest");
    project.edit("shapes/src/area.rs", "* 3.0", "* 3.14");
    assert_eq!(selected(&project), [DOCUMENTATION, "shapes/whole::circles_have_areas"]);
    project.edit("shapes/src/area.rs", "* 3.14", "* 3.0");
    assert_eq!(selected(&project), [DOCUMENTATION]);
}

#[test]
fn lines_that_move_select_nothing() {
    let project = workspace();
    project.edit("shapes/src/lib.rs", "//! Shapes.\n", "//! Shapes.\n//!\n//! Of all kinds.\n");
    project.edit("shapes/src/area.rs", "pub trait Shape", "// A comment.\n\npub trait Shape");
    assert_eq!(selected(&project), [DOCUMENTATION]);
}

#[test]
fn a_broken_function_fails_its_test_and_why_names_it() {
    let project = workspace();
    project.edit("shapes/src/area.rs", "* 3.0", "* 0.3");
    assert!(selected(&project).contains(&"shapes/whole::circles_have_areas".to_string()));
    let why = fewer(&project, &["why", "circles_have_areas"]).expect(0);
    assert!(why.contains("runs: <shapes::area::Circle as shapes::area::Shape>::area changed"), "{why}");
    assert!(why.contains("-> whole::circles_have_areas\n"), "{why}");
    let document = fewer(&project, &["run", "--format", "json"]).json(1);
    assert_eq!(verdict(&document, "shapes/whole::circles_have_areas"), "failed");
}

#[test]
fn a_test_is_selected_when_its_attributes_change() {
    let project = workspace();
    project.edit("shapes/src/lib.rs", "expected = \"refused\"", "expected = \"refused: no\"");
    assert_eq!(selected(&project), [DOCUMENTATION, "shapes::tests::refuses"]);
    project.edit("shapes/src/lib.rs", "#[should_panic(expected = \"refused: no\")]", "#[should_panic]");
    assert_eq!(selected(&project), [DOCUMENTATION, "shapes::tests::refuses"]);
}

#[test]
fn a_file_selects_the_tests_that_open_files() {
    let project = workspace();
    project.write("shapes/greeting.txt", "hullo\n");
    assert_eq!(selected(&project), [DOCUMENTATION, "shapes::tests::greets"]);
    let document = fewer(&project, &["run", "--format", "json"]).json(1);
    assert_eq!(verdict(&document, "shapes::tests::greets"), "failed");
}

#[test]
fn a_program_is_not_outdated_by_a_library_that_it_is_not_linked_with() {
    let project = workspace();
    project.edit("Cargo.toml", "[\"shapes\"]", "[\"shapes\", \"left\", \"right\"]");
    for side in ["left", "right"] {
        let manifest =
            PACKAGE.replace("shapes", side) + "\n[dependencies]\nshapes = { path = \"../shapes\" }\n";
        project.write(&format!("{side}/Cargo.toml"), &manifest);
        // The same instance of a generic function is in both.
        let library = format!(
            "pub fn {side}(values: &[u64]) -> u64 {{\n    shapes::largest(values).unwrap_or(1) + values.len() as u64\n}}\n"
        );
        project.write(&format!("{side}/src/lib.rs"), &library);
        let test = format!("#[test]\nfn adds() {{\n    assert_eq!({side}::{side}(&[3]), 4);\n}}\n");
        project.write(&format!("{side}/tests/use.rs"), &test);
    }
    let all = ran(fewer(&project, &["run", "--format", "json"]).json(0));
    assert!(
        all.contains(&"left/use::adds".to_string()) && all.contains(&"right/use::adds".to_string()),
        "{all:?}"
    );
    project.edit("left/src/lib.rs", "+ values.len() as u64", "+ 1");
    let ended = fewer(&project, &["select", "--build"]);
    assert!(!ended.stderr.contains("older than"), "{}", ended.stderr);
    let selected = lines(&ended.expect(0));
    assert!(selected.contains(&"left/use::adds".to_string()), "{selected:?}");
    assert!(!selected.contains(&"right/use::adds".to_string()), "{selected:?}");
    // Nobody linked the programs anew: what is newer may be in them.
    let libraries = project.output("sh", &["-c", "ls target/debug/deps/libleft-*.rlib"]);
    project.command("touch", &lines(&libraries).iter().map(String::as_str).collect::<Vec<_>>());
    let ended = fewer(&project, &["select", "--no-build"]);
    assert!(ended.stderr.contains("left/use: the program is older than"), "{}", ended.stderr);
}

#[test]
fn a_crash_and_a_timeout_are_of_the_test_that_has_them() {
    let project = workspace();
    project.write(
        "shapes/tests/troubles.rs",
        "#[test]\nfn aborts() { std::process::abort(); }\n#[test]\nfn passes() {}\n\
         #[test]\nfn hangs() { std::thread::sleep(std::time::Duration::from_secs(600)); }\n",
    );
    let document = fewer(&project, &["run", "--format", "json", "--timeout", "5"]).json(1);
    assert_eq!(verdict(&document, "shapes/troubles::aborts"), "crashed");
    assert_eq!(verdict(&document, "shapes/troubles::hangs"), "timed-out");
    assert_eq!(verdict(&document, "shapes/troubles::passes"), "passed");
}

#[test]
fn a_program_whose_objects_were_not_kept_counts_as_a_whole() {
    let project = workspace();
    let variables = [OWN[0], ("CARGO_INCREMENTAL", "0")];
    project.command("rm", &["-r", "target"]);
    let ended = project.fewer_with(&variables, &["run", "--format", "json"]);
    assert!(ended.stderr.contains("rustc did not keep its objects"), "{}", ended.stderr);
    assert_eq!(ran(ended.json(0)), TESTS);
    let again = project.fewer_with(&variables, &["select"]);
    assert_eq!(lines(&again.expect(0)), [DOCUMENTATION]);
    project.edit("shapes/src/lib.rs", "number * 2", "number + number");
    let changed = lines(&project.fewer_with(&variables, &["select", "--build"]).expect(0));
    for test in TESTS.iter().filter(|test| test.starts_with("shapes::")) {
        assert!(changed.contains(&test.to_string()), "{test} is not among {changed:?}");
    }
}

#[test]
fn the_doctor_misses_the_objects_of_programs_with_tests_only() {
    let project = workspace();
    project.edit("Cargo.toml", "\"shapes\"", "\"shapes\", \"plain\"");
    project.write("plain/Cargo.toml", &PACKAGE.replace("shapes", "plain"));
    project.write("plain/src/lib.rs", "pub fn f() {}\n");
    project.write("plain/tests/holds.rs", "#[test]\nfn holds() {}\n");
    let missing = |variables: &[(&str, &str)]| {
        project.fewer_with(variables, &["run"]).expect(0);
        let document = project.fewer_with(variables, &["doctor", "--format", "json"]).json(0);
        let findings = document["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["id"] == "objects-not-kept")
    };
    assert_eq!(missing(&OWN), None);
    project.command("rm", &["-r", "target"]);
    let finding = missing(&[OWN[0], ("CARGO_INCREMENTAL", "0")]).unwrap();
    let examples = finding["examples"].to_string();
    assert!(examples.contains("\"shapes\"") && !examples.contains("\"plain\""), "{finding}");
}

#[test]
fn the_selection_is_printed_as_a_filter_for_nextest() {
    let project = workspace();
    project.edit("shapes/src/area.rs", "* 3.0", "* 3.14");
    project.edit("shapes/src/lib.rs", "number * 2", "number + number");
    let filter = fewer(&project, &["select", "--build", "--format", "nextest"]).expect(0);
    assert_eq!(
        filter,
        "(binary_id(=shapes) & (test(=tests::doubles))) | \
         (binary_id(=shapes::whole) & (test(=circles_have_areas)))\n"
    );
}

#[test]
fn a_build_that_fails_runs_no_test() {
    let project = workspace();
    project.edit("shapes/src/lib.rs", "number * 2", "number * two");
    let ended = fewer(&project, &["run"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("cannot find value `two`"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("{\"reason\""), "{}", ended.stderr);
}

#[test]
fn beside_a_build_of_cpp_the_tests_of_cargo_are_left_alone_with_a_note() {
    let project = Project::small();
    project.write("Cargo.toml", "[package]\nname = \"beside\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    project.write("src/lib.rs", "#[test]\nfn holds() {}\n");
    project.write("fewer.toml", "build-directory = \"build\"\n");
    let document = fewer(&project, &["select", "--format", "json"]).json(0);
    let ids = document["tests"].as_array().unwrap().iter().map(|test| test["id"].as_str().unwrap());
    assert!(ids.clone().count() > 0 && ids.clone().all(|id| !id.contains("beside")), "{document}");
    let notes = document["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains("Cargo.toml")), "{notes:?}");
    project.write("fewer.toml", "[cargo]\narguments = [\"--workspace\"]\n");
    assert!(selected(&project).contains(&"beside::holds".to_string()));
}
