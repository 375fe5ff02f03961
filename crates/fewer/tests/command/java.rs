//! Java projects judged by their source alone: what a diff affects, and replays of a history. No Java is installed or
//! run.

use std::fs;

use serde_json::{Value, json};

use crate::workshop::{Project, lines};

pub const POM: &str = "<project><artifactId>demo</artifactId></project>\n";

/// A class of the package `demo`, in its place.
pub fn class(project: &Project, module: &str, name: &str, text: &str) {
    let root = if name.ends_with("Test") { "test" } else { "main" };
    let path = format!("{module}src/{root}/java/demo/{name}.java");
    project.write(&path, &format!("package demo;\n\n{text}\n"));
}

pub fn test(project: &Project, module: &str, name: &str, body: &str) {
    let text = format!(
        "import org.junit.jupiter.api.Test;\n\nclass {name} {{\n    @Test\n    void works() throws Exception {{ {body} }}\n}}"
    );
    class(project, module, name, &text);
}

pub fn commit(project: &Project, name: &str) {
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", name]);
    project.git(&["tag", name]);
}

/// Shapes with an overriding subclass, a greeting from a resource, and a plugin loaded by its name.
fn shapes() -> Project {
    let project = Project::empty();
    project.git(&["init", "-q", "-b", "main"]);
    project.write("pom.xml", POM);
    project.write(".gitignore", ".fewer/\n");
    class(
        &project,
        "",
        "Shape",
        "public class Shape {\n    int area() { return 0; }\n    int twice() { return 2 * area(); }\n}",
    );
    class(&project, "", "Square", "class Square extends Shape {\n    // a side\n    int side = 2;\n}");
    class(
        &project,
        "",
        "Greeting",
        "class Greeting {\n    Object text() { return Greeting.class.getResource(\"/hello.txt\"); }\n}",
    );
    class(&project, "", "Plugin", "public class Plugin {\n    public int answer() { return 42; }\n}");
    class(&project, "", "Alone", "class Alone {\n    int one() { return 1; }\n}");
    project.write("src/main/resources/hello.txt", "hello\n");
    test(&project, "", "ShapeTest", "new Shape().twice();");
    test(&project, "", "SquareTest", "new Square().twice();");
    test(&project, "", "GreetingTest", "new Greeting().text();");
    test(&project, "", "PluginTest", "Class.forName(\"demo.Plugin\");");
    test(&project, "", "AloneTest", "new Alone().one();");
    commit(&project, "start");
    project
}

const ALL: [&str; 5] = [
    ".::demo.AloneTest",
    ".::demo.GreetingTest",
    ".::demo.PluginTest",
    ".::demo.ShapeTest",
    ".::demo.SquareTest",
];

#[track_caller]
fn affected(project: &Project, arguments: &[&str]) -> Vec<String> {
    lines(&project.fewer(&[&["affected"], arguments].concat()).expect(0))
}

/// What a change to one file affects: uncommitted, and committed.
#[track_caller]
fn affected_by(project: &Project, path: &str, from: &str, to: &str) -> Vec<String> {
    project.edit(path, from, to);
    let uncommitted = affected(project, &["--diff", "HEAD"]);
    project.git(&["commit", "-q", "-a", "-m", "a change"]);
    let committed = affected(project, &["--diff", "HEAD~1..HEAD"]);
    assert_eq!(uncommitted, committed);
    committed
}

#[test]
fn a_new_override_affects_the_tests_of_its_class() {
    let project = shapes();
    let change = ("int side = 2;", "int side = 2;\n    @Override int area() { return side * side; }");
    let tests = affected_by(&project, "src/main/java/demo/Square.java", change.0, change.1);
    assert_eq!(tests, [".::demo.SquareTest"]);
    let tests = affected_by(&project, "src/main/java/demo/Shape.java", "return 0", "return 1");
    assert_eq!(tests, [".::demo.ShapeTest", ".::demo.SquareTest"], "what is inherited counts");
}

#[test]
fn comments_layout_and_pages_affect_nothing() {
    let project = shapes();
    let square = "src/main/java/demo/Square.java";
    assert!(affected_by(&project, square, "// a side", "/* the\n side */").is_empty());
    assert!(affected_by(&project, square, "int side = 2;", "int  side\n=2 ;").is_empty());
    project.write("README.md", "read me\n");
    project.write("src/site/index.md", "a page\n");
    assert!(affected(&project, &["--diff", "HEAD"]).is_empty());
}

#[test]
fn a_resource_affects_who_names_it_or_all_where_nobody_does() {
    let project = shapes();
    let tests = affected_by(&project, "src/main/resources/hello.txt", "hello", "good morning");
    assert_eq!(tests, [".::demo.GreetingTest"]);
    project.write("src/test/resources/strange.bin", "unnamed");
    assert_eq!(affected(&project, &["--diff", "HEAD"]), ALL, "any test may find it");
    assert!(affected(&project, &["--diff", "HEAD", "--dependencies", "firewall"]).is_empty());
}

#[test]
fn a_build_file_affects_its_module_and_those_that_use_it() {
    let project = Project::empty();
    project.git(&["init", "-q", "-b", "main"]);
    project.write("pom.xml", "<project><artifactId>all</artifactId></project>");
    for (module, uses) in [("core", "junit"), ("app", "the-core"), ("other", "junit")] {
        let pom = format!(
            "<project><parent><artifactId>all</artifactId></parent><artifactId>the-{module}</artifactId>\n\
             <dependency><artifactId>{uses}</artifactId></dependency></project>"
        );
        project.write(&format!("{module}/pom.xml"), &pom);
        test(&project, &format!("{module}/"), &format!("The{module}Test"), "");
    }
    commit(&project, "start");
    let (core, app, other) = ("core::demo.ThecoreTest", "app::demo.TheappTest", "other::demo.TheotherTest");
    assert_eq!(affected_by(&project, "other/pom.xml", "junit", "testng"), [other]);
    assert_eq!(affected_by(&project, "core/pom.xml", "junit", "testng"), [app, core]);
    assert_eq!(affected_by(&project, "pom.xml", "<project>", "<project >"), [app, core, other]);
    // A directory that becomes a module of its own has tests of another name.
    project.write("core/src/test/pom.xml", "<project><artifactId>inner</artifactId></project>");
    let tests = affected(&project, &["--diff", "HEAD"]);
    assert!(tests.contains(&"core/src/test::demo.ThecoreTest".to_string()), "{tests:?}");
}

#[test]
fn a_class_loaded_by_its_name_is_a_dependency_but_not_to_the_firewall() {
    let project = shapes();
    assert_eq!(affected_by(&project, "src/main/java/demo/Plugin.java", "42", "43"), [".::demo.PluginTest"]);
    let diff = ["--diff", "HEAD~1..HEAD"];
    assert!(affected(&project, &[&diff[..], &["--dependencies", "firewall"]].concat()).is_empty());
}

/// An annotation processor makes `RowInfo` and `Registry` from `Row`; Names has a `forName` of its own.
#[test]
fn what_a_generator_makes_counts_and_an_own_for_name_loads_nothing() {
    let project = shapes();
    class(&project, "", "Row", "@Deprecated public class Row {\n    int a;\n}");
    class(
        &project,
        "",
        "Names",
        "class Names {\n    static Object forName(String s) { return s; }\n    Object own(String s) { return forName(s); }\n}",
    );
    let apart = |name: &str, text: &str| project.write(&format!("src/test/java/{name}.java"), text);
    let test = "@org.junit.jupiter.api.Test void works()";
    apart(
        "demo/InfoTest",
        &format!("package demo;\nclass InfoTest {{ {test} {{ int i = RowInfo.FIELDS; }} }}\n"),
    );
    apart("demo/AllTest", &format!("package demo;\nclass AllTest {{ {test} {{ Registry.all(); }} }}\n"));
    apart(
        "demo/NamesTest",
        &format!("package demo;\nclass NamesTest {{ {test} {{ new Names().own(\"x\"); }} }}\n"),
    );
    commit(&project, "generated");
    let tests = affected_by(&project, "src/main/java/demo/Row.java", "int a;", "int a; int b;");
    assert_eq!(tests, [".::demo.AllTest", ".::demo.InfoTest"]);
}

#[test]
fn a_clone_without_a_checkout_is_what_its_head_says() {
    let project = shapes();
    project.edit("src/main/java/demo/Alone.java", "return 1", "return 2");
    commit(&project, "changed");
    let clone = Project::empty();
    clone.git(&["clone", "-q", "--no-checkout", project.path().to_str().unwrap(), "."]);
    assert_eq!(affected(&clone, &["--diff", "HEAD~1..HEAD"]), [".::demo.AloneTest"]);
    assert_eq!(affected(&clone, &["src/main/java/demo/Plugin.java"]), [".::demo.PluginTest"]);
    let said = clone.fewer(&["affected", "--diff", "HEAD~1"]).refused(2);
    assert!(said.contains("nothing is checked out here to compare with: give two commits, A..B"), "{said}");
}

#[test]
fn members_tell_more_than_classes() {
    let project = shapes();
    let tests = affected_by(
        &project,
        "src/main/java/demo/Alone.java",
        "int one()",
        "int two() { return 2; }\n    int one()",
    );
    assert_eq!(tests, [".::demo.AloneTest"]);
    assert!(affected(&project, &["--diff", "HEAD~1..HEAD", "--level", "member"]).is_empty());
}

#[test]
fn code_in_another_language_counts_for_its_whole_module() {
    let project = shapes();
    project.write("src/main/kotlin/demo/K.kt", "package demo\nclass K\n");
    let ended = project.fewer(&["affected", "--diff", "HEAD"]);
    assert!(ended.stderr.contains("such as src/main/kotlin/demo/K.kt"), "{}", ended.stderr);
    assert_eq!(lines(&ended.expect(0)), ALL);
}

#[test]
fn the_working_tree_counts_with_what_is_new_and_what_is_gone() {
    let project = shapes();
    test(&project, "", "NewTest", "");
    assert_eq!(affected(&project, &["--diff", "HEAD"]), [".::demo.NewTest"]);
    project.command("rm", &["src/main/java/demo/Plugin.java", "src/test/java/demo/NewTest.java"]);
    assert_eq!(affected(&project, &["--diff", "HEAD"]), [".::demo.PluginTest"]);
}

#[test]
fn the_document_tells_what_each_file_is() {
    let project = shapes();
    project.edit("src/main/java/demo/Alone.java", "return 1", "return 2");
    project.edit("pom.xml", "demo", "renamed");
    project.write("docs/page.txt", "");
    let document = project.fewer(&["affected", "--diff", "HEAD", "--format", "json"]).json(0);
    assert_eq!(document["format"], "fewer-affected/1");
    let input = |input: &str, kind: &str, elements: usize| json!({"input": input, "kind": kind, "objects": [], "elements": elements});
    let expected = json!([
        input("docs/page.txt", "unknown", 0),
        input("pom.xml", "data", 1),
        input("src/main/java/demo/Alone.java", "source", 1)
    ]);
    assert_eq!((&document["inputs"], &document["summary"]["tests"]), (&expected, &json!(5)));
}

#[test]
fn files_and_classes_are_traced_to_the_tests_that_reach_them() {
    let project = shapes();
    project.write("README.md", "");
    for (path, expected) in [
        ("src/main/java/demo/Shape.java", &[".::demo.ShapeTest", ".::demo.SquareTest"][..]),
        ("src/main/resources/hello.txt", &[".::demo.GreetingTest"]),
        ("demo.Plugin", &[".::demo.PluginTest"]),
        ("pom.xml", &ALL),
        ("README.md", &[]),
    ] {
        assert_eq!(affected(&project, &[path]), expected, "{path}");
    }
    let said = project.fewer(&["affected", "demo.Plugni"]).refused(2);
    assert!(said.contains("Did you mean one of these?\n  demo.Plugin"), "{said}");
    let document = project.fewer(&["affected", "--format", "json", "src/main/java/demo/Alone.java"]).json(0);
    assert_eq!(
        (&document["inputs"][0]["kind"], &document["inputs"][0]["elements"]),
        (&"source".into(), &1.into())
    );
}

#[test]
fn what_cannot_be_asked_is_refused_with_what_to_do() {
    let project = shapes();
    let said = project.fewer(&["affected", "--diff", "HEAD", "src/main/java/demo/Alone.java"]).refused(2);
    assert!(said.contains("give files or --diff"), "{said}");
    let said = project.fewer(&["affected", "--diff", "nowhere..HEAD"]).refused(2);
    assert!(said.contains("nowhere"), "{said}");
    let said = project.fewer(&["history", "replay", "HEAD", "--level", "member"]).refused(2);
    assert!(said.contains("add --analyser java"), "{said}");
    let said = project.fewer(&["history", "replay", "HEAD"]).refused(2);
    assert!(said.contains("there is no fewer.toml with a table [files]"), "{said}");
    assert!(said.contains("this project has Java: give --analyser java"), "{said}");
    let said = Project::small().fewer(&["affected", "--level", "member", "src/shape.cpp"]).refused(2);
    assert!(said.contains("this is not a Java project"), "{said}");
}

const METHODS: &str = "    int first() { return 1; }\n\n\n\n\n    int second() { return 2; }\n\n\n\n\n    int third() { return 3; }";

fn change(project: &Project, name: &str, class: &str, method: &str) {
    project.edit(
        &format!("src/main/java/demo/{class}.java"),
        &format!("int {method}() {{ return "),
        &format!("int {method}() {{ return 1 + "),
    );
    commit(project, name);
}

/// The paper's example up to n7: tests T1 {M}, T2 {P}, T3 {Q}, T4 {M, P}.
fn branches() -> Project {
    let project = Project::empty();
    project.git(&["init", "-q", "-b", "main"]);
    project.write("pom.xml", POM);
    project.write(".gitignore", ".fewer/\n");
    for name in ["M", "P", "Q"] {
        class(&project, "", name, &format!("class {name} {{\n{METHODS}\n}}"));
    }
    test(&project, "", "T1Test", "new M().first();");
    test(&project, "", "T2Test", "new P().first();");
    test(&project, "", "T3Test", "new Q().first();");
    test(&project, "", "T4Test", "new M().first(); new P().first();");
    commit(&project, "n1");
    project.git(&["checkout", "-q", "-b", "b1", "n1"]);
    change(&project, "n2", "M", "first");
    change(&project, "n3", "P", "first");
    project.git(&["checkout", "-q", "-b", "b2", "n1"]);
    change(&project, "n4", "M", "second");
    change(&project, "n5", "P", "second");
    project.git(&["checkout", "-q", "main"]);
    change(&project, "n6", "P", "third");
    change(&project, "n7", "Q", "first");
    project
}

#[track_caller]
fn replay(project: &Project, arguments: &[&str]) -> Value {
    let command = [&["history", "replay", "--analyser", "java", "--format", "json"], arguments].concat();
    project.fewer(&command).json(0)
}

/// Tests selected by S1, Sk, S0, S* and predict at the only step; -1 where a strategy has no answer.
#[track_caller]
fn selected(replayed: &Value) -> [i64; 5] {
    let [step] = &replayed["steps"].as_array().unwrap()[..] else { panic!("one step: {replayed}") };
    ["s1", "sk", "s0", "s_star", "predict"].map(|strategy| step[strategy]["selected"].as_i64().unwrap_or(-1))
}

#[test]
fn a_merge_of_three_parents_selects_as_in_the_paper() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "n8", "b1", "b2"]);
    let replayed = replay(&project, &["HEAD"]);
    assert_eq!(replayed["analyser"], "java");
    assert_eq!(replayed["analysed"], json!({"commits": 8, "known": 0, "absent": 0}));
    assert_eq!((&replayed["steps"][0]["available"], selected(&replayed)), (&json!(4), [4, 3, 3, 3, 3]));
    let again = replay(&project, &["HEAD"]);
    assert_eq!(again["analysed"], json!({"commits": 8, "known": 8, "absent": 0}));
    assert_eq!(again["steps"], replayed["steps"]);
    // Every test calls first() alone. n2 and n3 changed it in M and P, n7 in Q; nobody changed it twice.
    let members = replay(&project, &["HEAD", "--level", "member"]);
    assert_eq!(members["analysed"]["known"], 0, "another level, other results");
    assert_eq!(selected(&members), [4, 0, 0, 0, 0]);
}

#[test]
fn a_cherry_pick_and_a_revert_select_as_in_the_paper() {
    let project = branches();
    project.git(&["checkout", "-q", "-b", "picked", "n7"]);
    project.git(&["cherry-pick", "-x", "n2"]);
    assert_eq!(selected(&replay(&project, &["picked"])), [2, -1, 1, 1, 1]);
    project.git(&["checkout", "-q", "-b", "reverted", "n7"]);
    project.git(&["revert", "--no-edit", "n6"]);
    assert_eq!(selected(&replay(&project, &["reverted"])), [2, -1, 0, 0, 0]);
}

/// Without its content in git, only what was kept of a file can tell what it says.
#[test]
fn a_file_is_read_once_whatever_is_asked_of_it() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "n8", "b1", "b2"]);
    replay(&project, &["HEAD"]);
    let objects = project.output("git", &["rev-list", "--objects", "--all"]);
    let sources = objects.lines().filter(|object| object.ends_with(".java"));
    let blobs: Vec<&str> = sources.map(|object| object.split(' ').next().unwrap()).collect();
    // Three classes and four tests; M in n2, n4, n8, P in n3, n5, n6, n8, Q in n7.
    assert_eq!(blobs.len(), 15);
    for blob in blobs {
        fs::remove_file(project.file(&format!(".git/objects/{}/{}", &blob[..2], &blob[2..]))).unwrap();
    }
    let replayed = replay(&project, &["HEAD", "--dependencies", "firewall"]);
    assert_eq!((&replayed["analysed"]["known"], selected(&replayed)), (&json!(0), [4, 3, 3, 3, 3]));
    assert_eq!(affected(&project, &["--diff", "n6..n7"]), [".::demo.T3Test"]);
    fs::remove_dir_all(project.file(".fewer")).unwrap();
    let said = project.fewer(&["affected", "--diff", "n6..n7"]).refused(2);
    assert!(said.contains("is not in this repository"), "{said}");
}

#[test]
fn merges_are_generated_from_java_too() {
    let project = branches();
    (0..4).for_each(|version| {
        change(&project, &format!("v{version}"), ["M", "P", "Q", "M"][version], "second")
    });
    for layout in ["versions", "changes"] {
        let command = [
            "history",
            "generate",
            "--versions",
            "7",
            "--analyser",
            "java",
            "--layout",
            layout,
            "--format",
            "json",
        ];
        let generated = project.fewer(&command).json(0);
        assert_eq!((&generated["analyser"], &generated["all"]["steps"]), (&json!("java"), &json!(3)));
        assert_eq!(generated["all"]["s_star"]["missed"], 0);
    }
}
