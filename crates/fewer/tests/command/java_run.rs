//! Java projects compiled and tested by the real Maven, Gradle and JUnit launcher: what runs after a change, what is
//! reused, and what is said about it. Maven fetches what its local repository lacks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::workshop::{Ended, Project, ended, lines, wait_until};

/// Short-lived virtual machines need not compile well.
pub const FAST: (&str, &str) = ("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");

fn fewer(project: &Project, arguments: &[&str]) -> Ended {
    project.fewer_with(&[FAST, ("JAVA_TOOL_OPTIONS", "")], arguments)
}

#[track_caller]
fn selected(project: &Project) -> Vec<String> {
    lines(&fewer(project, &["select", "--build"]).expect(0))
}

/// The tests that a run ran, with their outcomes.
#[track_caller]
fn ran(ended: Ended, code: i32) -> Vec<(String, String)> {
    let document = ended.json(code);
    let tests = document["tests"].as_array().unwrap().iter().filter(|test| test["decision"] == "run");
    let word = |test: &Value, key: &str| test[key].as_str().unwrap_or_default().to_string();
    tests.map(|test| (word(test, "id"), word(test, "outcome"))).collect()
}

fn run(project: &Project, arguments: &[&str]) -> Ended {
    fewer(project, &[&["run", "--format", "json"], arguments].concat())
}

fn pairs(tests: &[(String, String)]) -> Vec<(&str, &str)> {
    tests.iter().map(|(id, outcome)| (id.as_str(), outcome.as_str())).collect()
}

pub fn class(project: &Project, path: &str, text: &str) {
    let package = path.rsplit_once('/').and_then(|(directory, _)| directory.rsplit_once("java/")).unwrap().1;
    project.write(path, &format!("package {};\n\n{text}\n", package.replace('/', ".")));
}

const PLUGINS: &str = "\
<plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-compiler-plugin</artifactId><version>3.11.0</version></plugin>
<plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>";

/// The inside of a POM: dependencies as `group:artifact:version`, and the version of Surefire.
pub fn pom(head: &str, dependencies: &[&str], surefire: &str) -> String {
    let dependency = |coordinates: &&str| {
        let parts: Vec<&str> = coordinates.split(':').collect();
        format!(
            "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>",
            parts[0], parts[1], parts[2]
        )
    };
    let dependencies: String = dependencies.iter().map(dependency).collect();
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\n{head}\n\
         <properties><maven.compiler.source>8</maven.compiler.source><maven.compiler.target>8</maven.compiler.target>\
         <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>\n\
         <dependencies>{dependencies}</dependencies>\n<build><plugins>{PLUGINS}\n\
         <plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-surefire-plugin</artifactId>\
         <version>{surefire}</version></plugin></plugins></build></project>\n"
    )
}

pub fn head(artifact: &str) -> String {
    format!("<groupId>demo</groupId><artifactId>{artifact}</artifactId><version>1</version>")
}

pub const JUPITER: &str = "org.junit.jupiter:junit-jupiter:5.10.2";
pub const JUNIT4: &str = "junit:junit:4.13.2";
pub const TESTNG: &str = "org.testng:testng:7.5.1";

fn jupiter_test(project: &Project, name: &str, body: &str) {
    let text = format!(
        "import static org.junit.jupiter.api.Assertions.*;\nimport org.junit.jupiter.api.*;\n\n\
         class {name} {{\n    @Test void works() throws Exception {{ {body} }}\n}}"
    );
    class(project, &format!("src/test/java/demo/{name}.java"), &text);
}

/// In an odd place one module: a shape, a greeting from a resource, a service, a nested test, and a helper that is called like a test.
fn shapes() -> Project {
    let project = Project::in_an_odd_place();
    project.write("pom.xml", &pom(&head("shapes"), &[JUPITER], "3.2.5"));
    project.write(".gitignore", "target/\n.fewer/\n");
    class(
        &project,
        "src/main/java/demo/Shape.java",
        "public class Shape {\n    // a side\n    public int area() { return 4; }\n}",
    );
    class(
        &project,
        "src/main/java/demo/Greeting.java",
        "public class Greeting {\n    public Object text() { return Greeting.class.getResource(\"/hello.txt\"); }\n}",
    );
    class(&project, "src/main/java/demo/Codec.java", "public interface Codec { int code(); }");
    class(
        &project,
        "src/main/java/demo/Fast.java",
        "public class Fast implements Codec { public int code() { return 1; } }",
    );
    class(
        &project,
        "src/main/java/demo/Slow.java",
        "public class Slow implements Codec { public int code() { return 2; } }",
    );
    project.write("src/main/resources/hello.txt", "hello\n");
    project.write("src/main/resources/META-INF/services/demo.Codec", "demo.Fast\n");
    jupiter_test(&project, "ShapeTest", "assertEquals(TestSizes.FOUR, new Shape().area());");
    class(
        &project,
        "src/test/java/demo/TestSizes.java",
        "class TestSizes { static final int FOUR = Integer.parseInt(\"4\"); }",
    );
    jupiter_test(&project, "GreetingTest", "assertNotNull(new Greeting().text());");
    jupiter_test(
        &project,
        "CodecTest",
        "assertTrue(java.util.ServiceLoader.load(Codec.class).iterator().hasNext());",
    );
    let nested = "import org.junit.jupiter.api.*;\n\nclass OuterTest {\n    @Nested class Inner {\n        @Test void one() {}\n        \
                  @Test @Disabled void two() {}\n    }\n}";
    class(&project, "src/test/java/demo/OuterTest.java", nested);
    project.commit_all();
    project
}

const SHAPES: [&str; 5] =
    [".::*", ".::demo.CodecTest", ".::demo.GreetingTest", ".::demo.OuterTest", ".::demo.ShapeTest"];

#[test]
fn a_maven_project_runs_what_a_change_can_reach() {
    let project = shapes();
    let junit = project.file("out.xml");
    let first = ran(run(&project, &["--junit", junit.to_str().unwrap()]), 0);
    let outcome = |id| if id == ".::*" { "excluded" } else { "passed" };
    assert_eq!(pairs(&first), SHAPES.map(|id| (id, outcome(id))), "a helper is no test");
    let report = fs::read_to_string(&junit).unwrap();
    fs::remove_file(&junit).unwrap();
    assert!(
        report.contains("classname=\"demo.OuterTest$Inner\" name=\"two\""),
        "methods are told:\n{report}"
    );

    let reports = project.file("target/surefire-reports/TEST-demo.ShapeTest.xml");
    let written = fs::metadata(&reports).unwrap().modified().unwrap();
    assert_eq!(ran(run(&project, &[]), 0), [], "everything is reused");
    assert_eq!(fs::metadata(&reports).unwrap().modified().unwrap(), written, "no test ran");

    project.edit("src/main/java/demo/Shape.java", "// a side", "// two sides\n");
    assert!(selected(&project).is_empty(), "a comment changes nothing");

    project.edit("src/main/java/demo/Shape.java", "return 4", "return 5");
    assert_eq!(selected(&project), [".::demo.ShapeTest"]);
    let why = fewer(&project, &["why", "ShapeTest", "--format", "json"]).json(0);
    assert_eq!(why["path"], serde_json::json!(["demo.ShapeTest", "demo.Shape"]));
    let failed = run(&project, &[]);
    assert!(failed.stderr.contains("works: expected: <4> but was: <5>"), "{}", failed.stderr);
    assert_eq!(pairs(&ran(failed, 1)), [(".::demo.ShapeTest", "failed")]);

    project.edit("src/main/java/demo/Shape.java", "return 5", "return 4");
    let again = run(&project, &[]).json(0);
    let shape =
        again["tests"].as_array().unwrap().iter().find(|test| test["id"] == ".::demo.ShapeTest").unwrap();
    assert_eq!((&shape["reason"], &shape["outcome"]), (&"failed-recently".into(), &"passed".into()));

    project.edit("src/main/java/demo/Shape.java", "return 4;", "return 4");
    let broken = fewer(&project, &["run"]).refused(3);
    assert!(broken.contains("';' expected") && broken.contains("no test was run"), "{broken}");
    let status = fewer(&project, &["status", "--format", "json"]).json(0);
    assert_eq!(status["tests"], 5);
}

#[test]
fn what_is_no_class_counts_where_it_is_used() {
    let project = shapes();
    ran(run(&project, &[]), 0);
    project.write("src/main/resources/hello.txt", "good morning\n");
    assert_eq!(selected(&project), [".::demo.GreetingTest"], "the class that names it");
    project.write("src/main/resources/META-INF/services/demo.Codec", "demo.Slow\n");
    assert_eq!(selected(&project), [".::demo.CodecTest", ".::demo.GreetingTest"]);
    let why = fewer(&project, &["why", "CodecTest", "--no-build"]).expect(0);
    assert!(why.contains("META-INF/services/demo.Codec"), "{why}");
    ran(run(&project, &[]), 0);

    project.write("src/test/resources/unnamed.bin", "nobody names it");
    assert_eq!(selected(&project), SHAPES, "any test may find it");
    ran(run(&project, &[]), 0);
    project.edit("pom.xml", "<build>", "<!-- a comment -->\n<build>");
    assert_eq!(selected(&project), SHAPES);
    let why = fewer(&project, &["why", "OuterTest", "--no-build"]).expect(0);
    assert!(why.contains("pom.xml changed"), "{why}");
    ran(run(&project, &[]), 0);
    project.edit("pom.xml", "5.10.2", "5.10.1");
    assert_eq!(selected(&project), SHAPES);
    let why = fewer(&project, &["why", "OuterTest"]).expect(0);
    assert!(why.contains("dependency org.junit.jupiter:junit-jupiter-api:jar changed"), "{why}");

    // Other ways of looking are recorded apart.
    ran(run(&project, &[]), 0);
    assert_eq!(lines(&fewer(&project, &["select", "--no-build", "--level", "member"]).expect(0)), SHAPES);
    let member = fewer(&project, &["run", "--no-build", "--format", "json", "--level", "member"]);
    assert_eq!(ran(member, 0).len(), 5);
    assert!(fewer(&project, &["select", "--no-build", "--level", "member"]).expect(0).is_empty());
    assert!(fewer(&project, &["select", "--no-build"]).expect(0).is_empty(), "and these are still known");
}

/// Two modules, JUnit 4 and Surefire 2.22; `app` uses `core`.
fn two_modules() -> Project {
    let project = Project::empty();
    let parent = format!(
        "{}<packaging>pom</packaging><modules><module>core</module><module>app</module></modules>",
        head("all")
    );
    project.write("pom.xml", &pom(&parent, &[JUNIT4], "2.22.2"));
    project.write(".gitignore", "target/\n.fewer/\n");
    let child = |own: &str, uses: &str| {
        format!(
            "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
             <parent><groupId>demo</groupId><artifactId>all</artifactId><version>1</version></parent>\
             <artifactId>{own}</artifactId>{uses}</project>\n"
        )
    };
    project.write("core/pom.xml", &child("core", ""));
    let uses = "<dependencies><dependency><groupId>demo</groupId><artifactId>core</artifactId><version>1</version></dependency></dependencies>";
    project.write("app/pom.xml", &child("app", uses));
    class(
        &project,
        "core/src/main/java/demo/Core.java",
        "public class Core { public static int one() { return 1; } }",
    );
    class(
        &project,
        "app/src/main/java/demo/App.java",
        "public class App { public static int two() { return Core.one() + 1; } }",
    );
    let test = |module: &str, name: &str, body: &str| {
        let text = format!(
            "import org.junit.*;\n\npublic class {name} {{\n    @Test public void works() {{ {body} }}\n}}"
        );
        class(&project, &format!("{module}/src/test/java/demo/{name}.java"), &text);
    };
    test("core", "CoreTest", "Assert.assertEquals(1, Core.one());");
    test("core", "AloneTest", "");
    test("app", "AppTest", "Assert.assertEquals(2, App.two());");
    test("app", "AloneTest", "");
    project.commit_all();
    project
}

#[test]
fn modules_are_told_apart_and_a_dying_machine_costs_only_its_class() {
    let project = two_modules();
    let all = ["app::demo.AloneTest", "app::demo.AppTest", "core::demo.AloneTest", "core::demo.CoreTest"];
    assert_eq!(pairs(&ran(run(&project, &[]), 0)), all.map(|id| (id, "passed")));
    project.edit("app/src/main/java/demo/App.java", "+ 1", "+ 2 - 1");
    assert_eq!(selected(&project), ["app::demo.AppTest"]);
    project.edit("core/src/main/java/demo/Core.java", "return 1", "return 2 - 1");
    // javac folds the constant: nothing has changed.
    assert_eq!(selected(&project), ["app::demo.AppTest"]);
    project.edit("core/src/main/java/demo/Core.java", "return 2 - 1", "return Math.abs(1)");
    let excludes = fewer(&project, &["select", "--build", "--format", "surefire"]).expect(0);
    let expected = "demo/AloneTest$*.java\ndemo/AloneTest.java\ndemo/AppTest$*.java\ndemo/CoreTest$*.java\n";
    assert_eq!(excludes, expected);
    assert_eq!(
        pairs(&ran(run(&project, &[]), 0)),
        [("app::demo.AppTest", "passed"), ("core::demo.CoreTest", "passed")]
    );
    project.edit("core/src/main/java/demo/Core.java", "Math.abs(1)", "2");
    let failed = ran(run(&project, &[]), 1);
    let expected = [("app::demo.AppTest", "failed"), ("core::demo.CoreTest", "failed")];
    assert_eq!(pairs(&failed), expected, "a failed module does not keep others from running");

    project.edit("core/src/main/java/demo/Core.java", "return 2", "return 1");
    project.edit("core/src/test/java/demo/AloneTest.java", "{  }", "{ Runtime.getRuntime().halt(3); }");
    let crashed = run(&project, &[]);
    assert_eq!(
        pairs(&ran(crashed, 1)),
        [
            ("app::demo.AppTest", "passed"),
            ("core::demo.AloneTest", "crashed"),
            ("core::demo.CoreTest", "passed")
        ]
    );
    let hang = "{ while (true) { Thread.yield(); } }";
    project.edit("core/src/test/java/demo/AloneTest.java", "{ Runtime.getRuntime().halt(3); }", hang);
    let hung = run(&project, &["--timeout", "6s"]);
    let outcomes = ran(hung, 1);
    assert!(pairs(&outcomes).contains(&("core::demo.AloneTest", "timed-out")), "{outcomes:?}");
}

#[test]
fn testng_classes_run_and_what_failsafe_would_run_is_named() {
    let project = Project::empty();
    let failsafe = "<plugins><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-failsafe-plugin</artifactId>\
                    <version>3.2.5</version><executions><execution><id>slow</id><goals><goal>integration-test</goal></goals>\
                    </execution></executions></plugin>";
    project.write("pom.xml", &pom(&head("ng"), &[TESTNG], "3.2.5").replace("<plugins>", failsafe));
    project.write(".gitignore", "target/\n.fewer/\n");
    class(
        &project,
        "src/main/java/demo/Core.java",
        "public class Core { public static int one() { return 1; } }",
    );
    let test = "import org.testng.Assert;\nimport org.testng.annotations.Test;\n\n\
                @Test\npublic class CoreTest {\n    public void one() { Assert.assertEquals(Core.one(), 1); }\n}";
    class(&project, "src/test/java/demo/CoreTest.java", test);
    class(
        &project,
        "src/test/java/demo/OtherTest.java",
        &test.replace("CoreTest", "OtherTest").replace("Core.one()", "1"),
    );
    project.commit_all();
    let all = [(".::demo.CoreTest", "passed"), (".::demo.OtherTest", "passed")];
    let first = run(&project, &[]);
    let note = "test runs that fewer does not start: maven-failsafe-plugin (slow) of ng. Start them yourself";
    assert!(first.stderr.contains(note), "{}", first.stderr);
    assert_eq!(pairs(&ran(first, 0)), all);
    project.edit("src/main/java/demo/Core.java", "return 1", "return 2");
    assert_eq!(pairs(&ran(run(&project, &[]), 1)), [(".::demo.CoreTest", "failed")]);
    let doctor = fewer(&project, &["doctor", "--format", "json"]).json(0);
    assert_eq!((&doctor["java"]["tool"], &doctor["tests"]), (&"Maven".into(), &2.into()));
    let findings = doctor["findings"].as_array().unwrap();
    let other = findings.iter().find(|finding| finding["id"] == "other-test-runs").unwrap();
    assert_eq!(other["examples"], serde_json::json!(["maven-failsafe-plugin (slow) of ng"]));
}

/// A library with an annotation that makes tests, and a number.
fn library(project: &Project, number: i32) {
    fs::create_dir_all(project.file("libs/classes")).unwrap();
    let jupiter = fetched("org.junit.jupiter:junit-jupiter-api:5.10.2");
    let check = "package lib;\nimport java.lang.annotation.*;\n@Retention(RetentionPolicy.RUNTIME) @org.junit.jupiter.api.Test\n\
                 public @interface Check {}\n";
    project.write("libs/Check.java", check);
    let text =
        format!("package lib;\npublic class Number {{ public static int get() {{ return {number}; }} }}\n");
    project.write("libs/Number.java", &text);
    let javac = [
        "--release",
        "8",
        "-nowarn",
        "-Xlint:-options",
        "-d",
        "libs/classes",
        "-cp",
        jupiter.to_str().unwrap(),
    ];
    project.command("javac", &[&javac[..], &["libs/Check.java", "libs/Number.java"]].concat());
    project.command("jar", &["cf", "libs/lib.jar", "-C", "libs/classes", "."]);
}

#[test]
fn what_cannot_be_seen_in_classes_and_build_files_is_found_out() {
    let project = Project::empty();
    let system = "<dependency><groupId>lib</groupId><artifactId>lib</artifactId><version>1</version><scope>system</scope>\
                  <systemPath>${basedir}/libs/lib.jar</systemPath></dependency></dependencies>";
    let includes = "<version>3.2.5</version><configuration><includes><include>**/*Test.java</include>\
                    <include>**/Checks.java</include></includes></configuration>";
    let pom = pom(&head("checks"), &[JUPITER], "3.2.5").replace("</dependencies>", system);
    project.write("pom.xml", &pom.replace("<version>3.2.5</version>", includes));
    project.write(".gitignore", "target/\nlibs/\n.fewer/\n");
    library(&project, 1);
    class(&project, "src/test/java/demo/Checks.java", "class Checks {\n    @lib.Check void works() {}\n}");
    jupiter_test(&project, "NumberTest", "assertTrue(lib.Number.get() > 0);");
    project.commit_all();
    let first = run(&project, &[]);
    assert!(first.stderr.contains(".::demo.Checks: from now on they count as tests"), "{}", first.stderr);
    assert_eq!(pairs(&ran(first, 0)), [(".::demo.NumberTest", "passed")]);
    assert_eq!(pairs(&ran(run(&project, &[]), 0)), [(".::demo.Checks", "passed")]);
    // A dependency that changes although no build file does.
    library(&project, 2);
    assert_eq!(selected(&project), [".::demo.Checks", ".::demo.NumberTest"]);
    let why = fewer(&project, &["why", "NumberTest", "--no-build"]).expect(0);
    assert!(why.contains("dependency lib:lib:jar changed"), "{why}");
    // What is not built is not trusted.
    project.edit("src/test/java/demo/NumberTest.java", "> 0", "> 1");
    for command in ["select", "run"] {
        let refused = fewer(&project, &[command, "--no-build"]).refused(2);
        assert!(refused.contains("NumberTest.java is newer than what is compiled of ."), "{refused}");
    }
    let init = fewer(&project, &["init"]);
    assert!(init.stderr.contains("build system: Maven"), "{}", init.stderr);
}

#[test]
fn one_project_may_hold_java_and_programs() {
    let project = Project::small();
    project.write("pom.xml", &pom(&head("both"), &[JUPITER], "3.2.5"));
    project.write(".gitignore", "build/\ntarget/\n.fewer/\n");
    jupiter_test(&project, "BothTest", "");
    let outcomes = ran(run(&project, &[]), 0);
    let ids: Vec<&str> = outcomes.iter().map(|(id, _)| id.as_str()).collect();
    let all = [&[".::demo.BothTest"][..], &crate::workshop::TESTS].concat();
    assert_eq!(ids, all);
    project.edit("src/test/java/demo/BothTest.java", "void works", "void still_works");
    assert!(selected(&project).contains(&".::demo.BothTest".to_string()));
    let why = fewer(&project, &["why", "BothTest", "--format", "json"]).json(0);
    assert_eq!(why["path"], serde_json::json!(["demo.BothTest"]));
    // A program that opens files does not say which, and to it Java is a file like others.
    assert_eq!(selected(&project), [".::demo.BothTest", "text_test::Text.Reads", "text_test::Text.Waits"]);
}

#[test]
fn a_plain_class_path_is_tested_with_junits_launcher() {
    let project = Project::in_an_odd_place();
    let launcher = launcher();
    project.write(
        "fewer.toml",
        &format!(
            "build = \"mkdir -p out/main out/test && javac -d out/main src/*.java && javac -cp out/main:{0} -d out/test test/*.java\"\n\
             [java]\nclasses = [\"out/main\"]\ntest-classes = [\"out/test\"]\nlauncher = \"{0}\"\n\
             arguments = [\"-XX:TieredStopAtLevel=1\"]\n",
            launcher.display()
        ),
    );
    project.write(".gitignore", "out/\n.fewer/\n");
    project.write("src/Core.java", "public class Core { public static int one() { return Math.abs(1); } }\n");
    let test = |name: &str, body: &str| {
        let text =
            format!("import org.junit.jupiter.api.*;\nclass {name} {{ @Test void works() {{ {body} }} }}\n");
        project.write(&format!("test/{name}.java"), &text);
    };
    test("CoreTest", "Assertions.assertEquals(1, Core.one());");
    test("AloneTest", "");
    project.commit_all();
    assert_eq!(pairs(&ran(run(&project, &[]), 0)), [(".::AloneTest", "passed"), (".::CoreTest", "passed")]);
    assert_eq!(ran(run(&project, &[]), 0), []);
    test("AloneTest", "Assertions.assertTrue(true);");
    project.edit("src/Core.java", "Math.abs(1)", "Math.abs(1) * 1");
    let first = ran(run(&project, &["--skip", "50%"]), 0);
    assert_eq!(first.len(), 1, "half of both: {first:?}");
    let both = [first, ran(run(&project, &[]), 0)].concat();
    let both: BTreeMap<&str, &str> = pairs(&both).into_iter().collect();
    assert_eq!(
        both,
        BTreeMap::from([(".::AloneTest", "passed"), (".::CoreTest", "passed")]),
        "then the other"
    );
    project.edit("src/Core.java", "Math.abs(1) * 1", "Math.abs(2)");
    assert_eq!(pairs(&ran(run(&project, &[]), 1)), [(".::CoreTest", "failed")]);
    left_over_classes_count(&project);
    test("AloneTest", "Runtime.getRuntime().halt(3);");
    project.edit("src/Core.java", "Math.abs(2)", "Math.abs(-1)");
    let outcomes = ran(run(&project, &[]), 1);
    assert_eq!(pairs(&outcomes), [(".::AloneTest", "crashed"), (".::CoreTest", "passed")], "each for itself");

    let begun = project.file("begun");
    let hang = format!(
        "try {{ new java.io.File(\"{}\").createNewFile(); Thread.sleep(600000); }} catch (Exception e) {{}}",
        begun.display()
    );
    test("AloneTest", &hang);
    let child = project.start(&[], &["run"]);
    wait_until(|| begun.exists());
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(ended(child).code, Some(130));
}

#[test]
fn a_gradle_project_runs_what_a_change_can_reach() {
    let project = Project::in_an_odd_place();
    project.write("settings.gradle", "rootProject.name = 'demo'\ninclude 'core', 'app'\n");
    project.write(
        "build.gradle",
        "subprojects {\n  apply plugin: 'java'\n  repositories { mavenLocal(); mavenCentral() }\n  \
         dependencies { testCompile 'junit:junit:4.13.2' }\n}\nproject(':app') { dependencies { compile project(':core') } }\n\
         project(':core') { task slowTest(type: Test) }\n",
    );
    project.write(".gitignore", "build/\n.gradle/\n.fewer/\n");
    class(
        &project,
        "core/src/main/java/demo/Core.java",
        "public class Core { public static int one() { return Math.abs(1); } }",
    );
    project.write("core/src/main/resources/hello.txt", "hello\n");
    let test = |module: &str, name: &str, body: &str| {
        let text = format!(
            "import org.junit.*;\n\npublic class {name} {{\n    @Test public void works() {{ {body} }}\n}}"
        );
        class(&project, &format!("{module}/src/test/java/demo/{name}.java"), &text);
    };
    test("core", "CoreTest", "Assert.assertEquals(1, Core.one());");
    test("core", "AloneTest", "Assert.assertNotNull(AloneTest.class.getResource(\"/hello.txt\"));");
    test("app", "AppTest", "Assert.assertEquals(1, Core.one());");
    junit4_is_there();
    project.commit_all();
    let all = [
        ("app::demo.AppTest", "passed"),
        ("core::demo.AloneTest", "passed"),
        ("core::demo.CoreTest", "passed"),
    ];
    let first = run(&project, &[]);
    assert!(first.stderr.contains("that fewer does not start: :core:slowTest."), "{}", first.stderr);
    assert_eq!(pairs(&ran(first, 0)), all);
    assert_eq!(ran(run(&project, &[]), 0), []);
    project.write("core/src/main/resources/hello.txt", "good morning\n");
    assert_eq!(selected(&project), ["core::demo.AloneTest"]);
    project.edit("core/src/main/java/demo/Core.java", "abs(1)", "abs(2)");
    let arguments = fewer(&project, &["select", "--build", "--format", "gradle"]).expect(0);
    assert_eq!(
        arguments,
        ":app:test --tests demo.AppTest\n:core:test --tests demo.AloneTest --tests demo.CoreTest\n"
    );
    let failed = ran(run(&project, &[]), 1);
    assert_eq!(
        pairs(&failed),
        [
            ("app::demo.AppTest", "failed"),
            ("core::demo.AloneTest", "passed"),
            ("core::demo.CoreTest", "failed")
        ]
    );
    project.command("gradle", &["--stop"]);
}

/// javac removes nothing: what it once made is on the class path, and tests see it, until somebody removes it.
fn left_over_classes_count(project: &Project) {
    let sources = ["src/Core.java", "test/AloneTest.java"];
    let texts = sources.map(|path| fs::read_to_string(project.file(path)).unwrap());
    sources.iter().for_each(|path| fs::remove_file(project.file(path)).unwrap());
    project.write("src/Other.java", "class Other {}\n");
    assert_eq!(selected(project), [".::CoreTest"], "it failed, and AloneTest is what it was");
    assert_eq!(pairs(&ran(run(project, &[]), 1)), [(".::CoreTest", "failed")], "Core is still seen");
    fs::remove_file(project.file("out/test/AloneTest.class")).unwrap();
    assert_eq!(fewer(project, &["run", "--format", "json"]).json(1)["summary"]["total"], 1);
    fs::remove_file(project.file("src/Other.java")).unwrap();
    sources.iter().zip(texts).for_each(|(path, text)| project.write(path, &text));
}

/// The console launcher in Maven's local repository.
pub fn launcher() -> std::path::PathBuf {
    fetched("org.junit.platform:junit-platform-console-standalone:1.10.2")
}

fn junit4_is_there() {
    fetched("junit:junit:4.13.2");
    fetched("org.hamcrest:hamcrest-core:1.3");
}

fn fetched(artifact: &str) -> std::path::PathBuf {
    let parts: Vec<&str> = artifact.split(':').collect();
    let repository = Path::new(&std::env::var_os("HOME").unwrap()).join(".m2/repository");
    let directory = repository.join(parts[0].replace('.', "/")).join(parts[1]).join(parts[2]);
    let jar = directory.join(format!("{}-{}.jar", parts[1], parts[2]));
    if !jar.is_file() {
        let goal = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:get";
        let output =
            Command::new("mvn").args(["-q", "-B", goal, &format!("-Dartifact={artifact}")]).output().unwrap();
        assert!(jar.is_file(), "{output:?}");
    }
    jar
}

/// What the POM excludes, what is Failsafe's, a helper that is called like a test, and a test with another one in it.
fn partly_excluded() -> Project {
    let project = Project::empty();
    let surefire = "<version>3.2.5</version><configuration><excludes><exclude>**/Slow*.java</exclude></excludes></configuration>\
                    </plugin><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-failsafe-plugin</artifactId>\
                    <version>3.2.5</version><executions><execution><id>it</id><goals><goal>integration-test</goal></goals>\
                    </execution></executions></plugin></plugins></build></project>\n";
    let text = pom(&head("partly"), &[JUPITER], "3.2.5");
    let at = text.rfind("<version>3.2.5</version>").unwrap();
    project.write("pom.xml", &format!("{}{surefire}", &text[..at]));
    project.write(".gitignore", "target/\n.fewer/\n");
    class(
        &project,
        "src/main/java/demo/Core.java",
        "public class Core {\n    public static int one() { return 1; }\n}",
    );
    jupiter_test(&project, "RedTest", "assertEquals(2, Core.one());");
    jupiter_test(&project, "SlowTest", "fail();");
    jupiter_test(&project, "CoreIT", "fail();");
    class(&project, "src/test/java/demo/HelperTest.java", "class HelperTest { static int one = 1; }");
    jupiter_test(
        &project,
        "OuterTest",
        "} static class StaticTest { @Test void inner() { assertEquals(1, Core.one()); }",
    );
    project.commit_all();
    project
}

#[test]
fn what_the_build_leaves_out_has_not_run_and_is_not_inconclusive_beside_a_red_test() {
    let project = partly_excluded();
    let first = run(&project, &[]);
    let summary = "2 ran (1 passed, 1 failed), 0 reused, 3 left out by the build";
    assert!(first.stderr.contains(summary), "{}", first.stderr);
    let left_out = [(".::*", "excluded"), (".::demo.CoreIT", "excluded"), (".::demo.SlowTest", "excluded")];
    let ran_too = [(".::demo.OuterTest", "passed"), (".::demo.RedTest", "failed")];
    let mut all = [&left_out[..], &ran_too].concat();
    all.sort();
    assert_eq!(pairs(&ran(first, 1)), all);

    let second = run(&project, &[]);
    assert!(
        second.stderr.contains("1 ran (1 failed), 1 reused, 3 left out by the build"),
        "{}",
        second.stderr
    );
    assert_eq!(pairs(&ran(second, 1)), [(".::demo.RedTest", "failed")]);
    let why = fewer(&project, &["why", "CoreIT"]).expect(0);
    assert!(why.contains("is left out: the build's own patterns or groups leave it out"), "{why}");

    project.edit("pom.xml", "<exclude>**/Slow*.java</exclude>", "<exclude>**/Slower*.java</exclude>");
    let outcomes = ran(run(&project, &[]), 1);
    assert!(pairs(&outcomes).contains(&(".::demo.SlowTest", "failed")), "{outcomes:?}");
}

#[test]
fn with_the_excludes_file_maven_runs_what_is_nested_where_the_pom_has_excludes() {
    let project = partly_excluded();
    run(&project, &[]);
    project.edit("src/main/java/demo/Core.java", "return 1", "return 7");
    let excludes = fewer(&project, &["select", "--build", "--format", "surefire"]).expect(0);
    let expected = "demo/CoreIT$*.java\ndemo/CoreIT.java\ndemo/HelperTest$*.java\ndemo/HelperTest.java\n\
                    demo/SlowTest$*.java\ndemo/SlowTest.java\n";
    assert_eq!(excludes, expected);
    project.write("target/excludes", &excludes);
    let reports = || -> Vec<String> {
        let entries = fs::read_dir(project.file("target/surefire-reports")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".xml")).collect();
        names.sort();
        names
    };
    let maven = |arguments: &[&str]| -> Vec<String> {
        fs::remove_dir_all(project.file("target/surefire-reports")).unwrap();
        let mut command = std::process::Command::new("mvn");
        command.args(["-q", "-B", "-Dmaven.test.failure.ignore", "test"]).args(arguments);
        assert!(command.current_dir(project.path()).output().unwrap().status.success());
        reports()
    };
    let all = maven(&[]);
    assert_eq!(maven(&["-Dsurefire.excludesFile=target/excludes"]), all);
    assert!(all.iter().any(|name| name.contains("OuterTest$StaticTest")), "{all:?}");
}

#[test]
fn where_the_pom_names_an_excludes_file_single_classes_are_left_out_all_the_same() {
    let project = partly_excluded();
    project.edit(
        "pom.xml",
        "<excludes><exclude>**/Slow*.java</exclude></excludes>",
        "<excludesFile>${basedir}/excluded.txt</excludesFile>",
    );
    project.write("excluded.txt", "# slow ones\n**/Slow*.java\n");
    project.edit("src/test/java/demo/RedTest.java", "assertEquals(2, Core.one());", "");
    project.commit_all();
    let first = ran(run(&project, &[]), 0);
    assert!(pairs(&first).contains(&(".::demo.SlowTest", "excluded")), "{first:?}");
    let red = project.file("target/surefire-reports/TEST-demo.RedTest.xml");
    fs::remove_file(&red).unwrap();
    project.edit("src/main/java/demo/Core.java", "return 1", "return 7");
    let second = run(&project, &[]);
    assert!(!second.stderr.contains("all of its tests ran"), "{}", second.stderr);
    assert_eq!(pairs(&ran(second, 1)), [(".::demo.OuterTest", "failed")], "its static class runs as before");
    assert!(!red.exists(), "nobody asked for it");
    project.write("excluded.txt", "**/Nothing.java\n");
    let third = ran(run(&project, &[]), 1);
    assert!(
        pairs(&third).contains(&(".::demo.SlowTest", "failed")),
        "the file is part of the build: {third:?}"
    );
}
