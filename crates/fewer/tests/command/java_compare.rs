//! FEST, ClassSRTS and running everything compared on a real repository with results of CI that are made up.

use std::fs;

use serde_json::{Value, json};

use crate::java::{POM, class, commit, test};
use crate::workshop::Project;

/// Four tests; one of them loads what it tests by its name.
fn project() -> Project {
    let project = Project::empty();
    project.git(&["init", "-q", "-b", "main"]);
    project.write("pom.xml", POM);
    project.write(".gitignore", ".fewer/\nresults/\n");
    class(&project, "", "Shape", "public class Shape {\n    int area() { return 0; }\n}");
    class(&project, "", "Square", "class Square extends Shape {\n}");
    class(&project, "", "Plugin", "public class Plugin {\n    public int answer() { return 42; }\n}");
    class(&project, "", "Alone", "class Alone {\n    int one() { return 1; }\n}");
    test(&project, "", "ShapeTest", "new Shape().area();");
    test(&project, "", "SquareTest", "new Square().area();");
    test(&project, "", "PluginTest", "Class.forName(\"demo.Plugin\");");
    test(&project, "", "AloneTest", "new Alone().one();");
    commit(&project, "start");
    change(&project, "Plugin", "42", "43", "v1");
    change(&project, "Shape", "return 0", "return 1", "v2");
    change(&project, "Alone", "return 1", "return 2", "v3");
    change(&project, "Alone", "return 2;", "return 2; /* at last */", "v4");
    change(&project, "Shape", "return 1", "return 3", "v5");
    project
}

fn change(project: &Project, name: &str, from: &str, to: &str, tag: &str) {
    project.edit(&format!("src/main/java/demo/{name}.java"), from, to);
    commit(project, tag);
}

fn id(project: &Project, tag: &str) -> String {
    project.output("git", &["rev-parse", tag]).trim().to_string()
}

/// A report of one test class, as Surefire writes it.
fn report(project: &Project, tag: &str, name: &str, end: &str) {
    let text = format!(
        "<testsuite name=\"demo.{name}\"><testcase name=\"works\" classname=\"demo.{name}\">{end}</testcase></testsuite>"
    );
    let path = format!("results/{}/core/TEST-demo.{name}.xml", id(project, tag));
    project.write(&path, &text);
}

/// CI runs some tests, not always those that a change breaks.
fn record(project: &Project) {
    for name in ["AloneTest", "ShapeTest"] {
        report(project, "v1", name, "");
    }
    let short = &id(project, "v2")[..10];
    let rows = "test,outcome\ndemo.AloneTest,passed\ndemo.PluginTest,failed\ndemo.ShapeTest,error\n";
    project.write(&format!("results/{short}.csv"), rows);
    let (v3, nowhere) = (id(project, "v3"), "0123456789");
    project.write(
        "results/results.csv",
        &format!("commit,test,outcome\n{v3},demo.AloneTest,passed\n{v3},demo.ShapeTest,failed\n{nowhere},demo.AloneTest,passed\n"),
    );
    report(project, "v4", "AloneTest", "");
    report(project, "v5", "AloneTest", "<skipped/>");
}

fn measures(tests: f64, faults: f64, fcovg: f64, fenhm: f64, testscal: f64, riskcomp: f64) -> Value {
    json!({
        "tests": tests, "faults": faults, "fcovg": fcovg, "fenhm": fenhm, "testscal": testscal, "riskcomp": riskcomp,
    })
}

#[test]
fn approaches_are_compared_by_the_faults_that_they_would_have_found() {
    let project = project();
    record(&project);
    let compare = ["history", "compare-java", "start..main", "--results", "results", "--format"];
    let found = project.fewer(&[&compare[..], &["json"]].concat()).json(0);
    assert_eq!(found["format"], "fewer-history-compare-java/1");
    let left_out = json!({"without_tests": 1, "without_change": 1, "without_predecessor": 0, "elsewhere": 1});
    assert_eq!(found["left_out"], left_out);
    let [v1, v2, v3] = found["versions"].as_array().unwrap().as_slice() else { panic!("{found}") };
    for (version, tag) in [(v1, "v1"), (v2, "v2"), (v3, "v3")] {
        assert_eq!(version["commit"], id(&project, tag));
        assert_eq!(version["changed"], 1);
    }

    // CI does not run PluginTest, which fails when it first does; only FEST sees that Plugin is loaded by its name.
    assert_eq!((&v1["category"], &v1["extension"]), (&json!("only-fest"), &json!(0)));
    assert_eq!(v1["ci"], measures(2.0, 0.0, 100.0, 0.0, 0.0, 0.0));
    assert_eq!(v1["fest"], measures(1.0, 1.0, 100.0, 1.0, 1.0, 1.0));
    assert_eq!(v1["class_srts"], measures(0.0, 0.0, 100.0, 0.0, 0.0, 0.0));
    assert_eq!(v1["all"], measures(4.0, 1.0, 100.0, 1.0, 0.25, 4.0));
    assert_eq!(v1["fenhm_over_class_srts"], 1.0);

    // Both select Shape's tests; PluginTest fails for an older reason.
    assert_eq!(v2["category"], "both");
    assert_eq!(v2["ci"], measures(3.0, 2.0, 100.0, 0.0, 2.0 / 3.0, 0.0));
    assert_eq!(v2["fest"], measures(2.0, 1.0, 50.0, 0.0, 0.25, 0.5));
    assert_eq!(v2["class_srts"], v2["fest"]);

    // FEST adds what failed before.
    assert_eq!((&v3["category"], &v3["extension"]), (&json!("both"), &json!(2)));
    assert_eq!(v3["fest"], measures(3.0, 1.0, 100.0, 0.0, 1.0 / 3.0, 1.0 / 3.0));
    assert_eq!(v3["class_srts"], measures(1.0, 0.0, 0.0, 0.0, 0.0, -1.0 / 3.0));

    assert_eq!(found["all"]["versions"], 3);
    assert_eq!(found["all"]["mean"]["fest"]["tests"], 2.0);
    assert_eq!(found["categories"]["both"]["versions"], 2);
    assert_eq!(found["categories"]["both"]["mean"]["class_srts"]["fcovg"], 25.0);
    assert_eq!(found["categories"]["only-ci"]["versions"], 0);
}

#[test]
fn the_comparison_is_printed_as_a_table_and_as_csv() {
    let project = project();
    record(&project);
    let compare = ["history", "compare-java", "start..main", "--results", "results"];
    let text = project.fewer(&compare).expect(0);
    assert!(text.contains("means over 3 versions"), "{text}");
    assert!(text.contains("faults found by only FEST: 1 versions (33 %)"), "{text}");
    let csv = project.fewer(&[&compare[..], &["--format", "csv"]].concat()).expect(0);
    let counts: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(counts, [30; 4], "{csv}");

    let narrow = [&compare[..], &["--failed-within", "0", "--format", "json"]].concat();
    let found = project.fewer(&narrow).json(0);
    assert_eq!(found["versions"][2]["fest"], found["versions"][2]["class_srts"], "nothing is added");
    // Without a start there is nothing to compare the first version with.
    let open = ["history", "compare-java", "main", "--results", "results", "--format", "json"];
    let found = project.fewer(&open).json(0);
    assert_eq!(found["left_out"]["without_predecessor"], 1);
    assert_eq!(found["versions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_directory_without_results_is_refused_and_an_unreadable_report_is_named() {
    let project = project();
    fs::create_dir(project.file("results")).unwrap();
    let compare = ["history", "compare-java", "start..main", "--results", "results"];
    let refusal = project.fewer(&compare).refused(2);
    assert!(refusal.contains("holds no results"), "{refusal}");
    record(&project);
    project.write(&format!("results/{}/core/broken.xml", id(&project, "v1")), "<testsuite><testcase");
    let ended = project.fewer(&compare);
    assert!(ended.stderr.contains("broken.xml"), "{}", ended.stderr);
    ended.expect(0);
}
