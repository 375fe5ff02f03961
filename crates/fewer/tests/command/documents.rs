//! The documents that scripts rely on, field by field.

use std::collections::BTreeSet;
use std::fs;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Value, json};

use crate::workshop::{Project, TESTS, manifest_directory};

fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("an object: {value}")).keys().map(String::as_str).collect()
}

fn test<'v>(document: &'v Value, id: &str) -> &'v Value {
    let tests = document["tests"].as_array().unwrap();
    tests.iter().find(|test| test["id"] == id).unwrap_or_else(|| panic!("{id} in {document}"))
}

fn is_outcome(value: &Value) {
    let expected = ["at", "commit", "dirty", "duration_s", "fingerprint", "machine", "states_ago", "verdict"];
    assert_eq!(fields(value), expected);
    assert!(value["commit"].as_str().is_some_and(|commit| commit.len() == 40), "{value}");
    assert!(value["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{value}");
}

#[test]
fn a_plan_names_every_test_with_decision_reason_and_evidence() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "width * height", "height * width");
    project.make();
    let plan = project.fewer(&["select", "--format", "json"]).json(0);
    assert_eq!(fields(&plan), ["format", "notes", "strategy", "summary", "tests"]);
    assert_eq!(plan["format"], "fewer-plan/1");
    assert_eq!(plan["summary"], json!({"total": 7, "run": 2, "reuse": 4, "left_out": 1}));
    for test in plan["tests"].as_array().unwrap() {
        assert_eq!(fields(test), ["decision", "evidence", "id", "reason"]);
    }
    let changed = test(&plan, "shape_test::Shape.Area");
    assert_eq!((&changed["decision"], &changed["reason"]), (&json!("run"), &json!("changed")));
    let because = &changed["evidence"]["because"];
    assert_eq!(because["changed"], json!([{"name": "shape.o:_Z4areaii", "kind": "modified"}]));
    assert_eq!(because["path"].as_array().unwrap().last().unwrap(), "shape.o:_Z4areaii");
    is_outcome(&changed["evidence"]["last"]);
    let reused = test(&plan, "shape_test::Shape.Perimeter");
    assert_eq!((&reused["decision"], &reused["reason"]), (&json!("reuse"), &json!("passed")));
    is_outcome(&reused["evidence"]["from"]);
    let left_out = test(&plan, "shape_test::Shape.DISABLED_Volume");
    assert_eq!((&left_out["decision"], &left_out["reason"]), (&json!("left-out"), &json!("disabled")));
    assert_eq!(left_out["evidence"], Value::Null);
}

#[test]
fn a_run_adds_outcomes_durations_timings_and_what_was_saved() {
    let project = Project::small();
    let run = project.fewer_with(&[("AREA_FAILS", "1")], &["run", "--format", "json"]).json(1);
    let expected = [
        "format",
        "interrupted",
        "notes",
        "own_s",
        "process_failures",
        "saved_gross_s",
        "saved_s",
        "spent_s",
        "strategy",
        "summary",
        "tests",
        "timings",
    ];
    assert_eq!(fields(&run), expected);
    assert_eq!(run["format"], "fewer-run/1");
    let summary = json!({"total": 7, "run": 6, "reuse": 0, "left_out": 1, "passed": 4, "failed": 1, "skipped": 1, "excluded": 0,
        "inconclusive": 0});
    assert_eq!(run["summary"], summary);
    for test in run["tests"].as_array().unwrap() {
        assert_eq!(fields(test), ["decision", "duration_s", "evidence", "id", "outcome", "reason"]);
    }
    assert_eq!(test(&run, "shape_test::Shape.Area")["outcome"], "failed");
    assert_eq!(test(&run, "text_test::Text.Waits")["outcome"], "skipped");
    assert_eq!(test(&run, "shape_test::Shape.DISABLED_Volume")["outcome"], Value::Null);
    assert!(test(&run, "text_test::Text.Shouts")["duration_s"].is_f64());
    let phases: BTreeSet<&str> =
        run["timings"].as_array().unwrap().iter().map(|phase| phase["phase"].as_str().unwrap()).collect();
    assert!(phases.contains("run tests") && phases.contains("read objects"), "{phases:?}");
    let again = project.fewer(&["run", "--format", "json"]).json(0);
    let reused = test(&again, "text_test::Text.Shouts");
    assert_eq!((&reused["outcome"], &reused["duration_s"]), (&json!("passed"), &json!(0.0)));
}

#[test]
fn time_saved_is_what_reused_tests_took_less_what_fewer_took() {
    let project = Project::small();
    project.settle();
    let text = project.fewer(&["run"]).expect(0);
    assert!(text.contains("; nothing saved: what was reused takes "), "{text}");
    project.fewer_with(&[("PERIMETER_SLEEPS", "4")], &["run", "--all"]).expect(0);
    let run = project.fewer(&["run", "--format", "json"]).json(0);
    let seconds = |name: &str| run[name].as_f64().unwrap();
    let (gross, own, net) = (seconds("saved_gross_s"), seconds("own_s"), seconds("saved_s"));
    assert!((4.0..5.0).contains(&gross) && own > 0.0 && (net - (gross - own)).abs() < 0.001, "{run}");
    let text = project.fewer(&["run"]).expect(0);
    assert!(text.contains("; about ") && text.contains(" saved\n"), "{text}");
}

#[test]
fn an_explanation_has_path_change_or_evidence() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "width * height", "height * width");
    project.make();
    let why = project.fewer(&["why", "shape_test::Shape.Area", "--format", "json"]).json(0);
    assert_eq!(
        fields(&why),
        ["changed", "changed_left_out", "decision", "format", "id", "path", "reason", "reused_from"]
    );
    assert_eq!((&why["format"], &why["decision"]), (&json!("fewer-why/1"), &json!("run")));
    assert_eq!((&why["reason"], &why["reused_from"]), (&json!("changed"), &Value::Null));
    assert_eq!(why["changed"][0]["name"], "shape.o:_Z4areaii");
    let path = why["path"].as_array().unwrap();
    assert!(path[0].as_str().unwrap().contains("Shape_Area_Test") && path.len() >= 2, "{path:?}");
    let why = project.fewer(&["why", "Perimeter", "--format", "json"]).json(0);
    assert_eq!((&why["decision"], &why["path"]), (&json!("reuse"), &json!([])));
    is_outcome(&why["reused_from"]);
}

#[test]
fn affected_tests_come_with_what_they_were_found_by() {
    let project = Project::small();
    project.write("README.md", "");
    let affected = project.fewer(&["affected", "src/shape.cpp", "README.md", "--format", "json"]).json(0);
    assert_eq!(fields(&affected), ["format", "inputs", "notes", "summary", "tests"]);
    assert_eq!(affected["format"], "fewer-affected/1");
    assert_eq!(affected["inputs"][0]["kind"], "source");
    assert_eq!(affected["inputs"][0]["objects"], json!(["shape.o"]));
    assert_eq!(affected["inputs"][1]["kind"], "unknown");
    assert_eq!(
        affected["summary"]["tests"].as_u64().unwrap() as usize,
        affected["tests"].as_array().unwrap().len()
    );
}

#[test]
fn the_status_tells_what_is_recorded() {
    let project = Project::small();
    let empty = project.fewer(&["status", "--format", "json"]).json(0);
    assert_eq!((&empty["outcomes"], &empty["last_run"]), (&json!(0), &Value::Null));
    project.settle();
    let status = project.fewer(&["status", "--format", "json"]).json(0);
    assert_eq!(status["format"], "fewer-status/1");
    for (field, expected) in
        [("states", 1), ("tests", 6), ("outcomes", 6), ("runs", 1), ("unfinished_runs", 0)]
    {
        assert_eq!(status[field], expected, "{field}");
    }
    assert_eq!(status["last_run"]["command"], "fewer run");
    assert_eq!(status["last_run"]["end"], "completed");
    assert_eq!(status["last_run"]["verdicts"], json!({"passed": 5, "skipped": 1}));
    assert_eq!(status["flaky"], json!([]));
}

#[test]
fn the_doctor_reports_in_json_too() {
    let report = Project::small().fewer(&["doctor", "--format", "json"]).json(0);
    assert_eq!(report["format"], "fewer-doctor/1");
    assert_eq!((&report["tests"], &report["googletest_programs"]), (&json!(7), &json!(2)));
    assert_eq!(report["findings"], json!([]));
}

/// A `<testcase>` with the elements in it.
#[derive(Debug)]
struct Case {
    id: String,
    inside: Vec<String>,
    text: String,
}

fn junit(path: &std::path::Path) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap();
    let mut reader = Reader::from_str(&text);
    let mut cases: Vec<Case> = Vec::new();
    let attribute = |element: &BytesStart<'_>, name: &str| -> String {
        element.try_get_attribute(name).unwrap().expect("the attribute").value.into_owned()
    };
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(element) | Event::Empty(element) => match element.name().as_ref() {
                "testcase" => cases.push(Case {
                    id: format!("{}::{}", attribute(&element, "classname"), attribute(&element, "name")),
                    inside: Vec::new(),
                    text: String::new(),
                }),
                "testsuites" | "testsuite" => {}
                other => cases.last_mut().unwrap().inside.push(other.to_string()),
            },
            Event::Text(text) => {
                if let Some(case) = cases.last_mut() {
                    case.text.push_str(&text);
                }
            }
            Event::Eof => return cases,
            _ => {}
        }
    }
}

#[test]
fn junit_has_every_test_and_marks_the_reused_ones() {
    let project = Project::small();
    let path = project.file("report.xml");
    let failing = &["run", "--junit", path.to_str().unwrap()];
    project.fewer_with(&[("AREA_FAILS", "1")], failing).expect(1);
    let cases = junit(&path);
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    let mut expected: BTreeSet<&str> = TESTS.into_iter().collect();
    expected.insert("shape_test::Shape.DISABLED_Volume");
    assert_eq!(ids, expected);
    let inside = |cases: &[Case], id: &str| -> Vec<String> {
        cases.iter().find(|case| case.id == id).unwrap().inside.clone()
    };
    assert_eq!(inside(&cases, "shape_test::Shape.Area"), ["failure"]);
    assert_eq!(inside(&cases, "shape_test::Shape.DISABLED_Volume"), ["skipped"]);
    assert_eq!(inside(&cases, "text_test::Text.Waits"), ["skipped"]);
    assert!(inside(&cases, "shape_test::Shape.Perimeter").is_empty());
    project.fewer(&["run", "--junit", path.to_str().unwrap()]).expect(0);
    let cases = junit(&path);
    assert_eq!(cases.len(), expected.len());
    assert_eq!(inside(&cases, "shape_test::Shape.Perimeter"), ["properties", "property", "system-out"]);
    let reused = cases.iter().find(|case| case.id == "shape_test::Shape.Perimeter").unwrap();
    assert!(reused.text.contains("reused from commit ") && reused.text.contains(" on "), "{}", reused.text);
}

#[test]
fn every_test_that_a_rule_names_is_there() {
    let root = manifest_directory().join("../..");
    let mut sources = String::new();
    let mut open = vec![root.join("crates")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    for (page, least) in [("docs/verdicts.md", 100), ("docs/security.md", 20)] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let named = text.split('`').skip(1).step_by(2).map(|word| word.rsplit("::").next().unwrap_or(word));
        let tests: Vec<&str> =
            named.filter(|word| word.matches('_').count() >= 3 && !word.contains(' ')).collect();
        assert!(tests.len() > least, "{page} names {} tests", tests.len());
        let missing: Vec<&&str> =
            tests.iter().filter(|test| !sources.contains(&format!("fn {test}()"))).collect();
        assert!(missing.is_empty(), "{page} names tests that are not there: {missing:?}");
    }
}

#[test]
fn a_plan_lists_no_more_changes_than_people_look_at() {
    let project = Project::small();
    let code = |value: usize| -> String {
        let each = |i: usize| format!("int f{i}() {{ return {value}; }}\n");
        let calls: Vec<String> = (0..30).map(|i| format!("f{i}()")).collect();
        let functions: String = (0..30).map(each).collect();
        format!(
            "#include \"shape.h\"\n{functions}int area(int w, int h) {{ return w * h + 0 * ({}); }}\nint perimeter(int w, int h) {{ return 2 * (w + h); }}\n",
            calls.join(" + ")
        )
    };
    project.write("src/shape.cpp", &code(1));
    project.make();
    project.settle();
    project.write("src/shape.cpp", &code(2));
    project.make();
    let plan = project.fewer(&["select", "--format", "json"]).json(0);
    let because = &test(&plan, "shape_test::Shape.Area")["evidence"]["because"];
    assert_eq!(
        (because["changed"].as_array().unwrap().len(), &because["changed_left_out"]),
        (10, &json!(20))
    );
    let why = project.fewer(&["why", "shape_test::Shape.Area", "--format", "json"]).json(0);
    assert_eq!((why["changed"].as_array().unwrap().len(), &why["changed_left_out"]), (30, &json!(0)));
    let why = project.fewer(&["why", "shape_test::Shape.Area"]).expect(0);
    assert!(why.contains("\n  and 20 more\n"), "{why}");
}

#[test]
fn a_run_of_nearly_everything_says_why_in_one_line() {
    let project = Project::small();
    project.settle();
    project.edit("tests/shape_test.cpp", "EXPECT_EQ(6, area(2, 3));", "EXPECT_EQ(6, area(2, 3)) << 1;");
    project.make();
    let run = project.fewer(&["run"]).expect(0);
    assert!(!run.contains("nearly everything"), "{run}");
    project.write("fewer.toml", "working-directory = \"src\"\n");
    let run = project.fewer(&["run"]).expect(1);
    let line = run.lines().find(|line| line.starts_with("nearly everything ran (6 of 6): ")).expect(&run);
    assert!(line.contains("tests reach changed, such as ") && line.contains("`fewer doctor`"), "{line}");
}
