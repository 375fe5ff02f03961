//! What the source reader makes of Java, old and new: names, references, tokens that count and tokens that do not.

use std::collections::BTreeSet;
use std::sync::Arc;

use fewer_core::TestId;
use fewer_java::summary::{ClassTraits, LoadedName};
use fewer_java::{ClassSummary, Level, Options, Program, SourceChange, SourceProject, read_source};

fn project(files: &[(&str, &str)]) -> SourceProject {
    let mut project = SourceProject::new();
    let changes = files.iter().map(|(path, text)| SourceChange {
        path: (*path).to_string(),
        module: "m".into(),
        facts: Some(Arc::new(read_source(text.as_bytes()))),
    });
    project.update(changes.collect());
    project
}

fn class(project: &SourceProject, name: &str) -> Arc<ClassSummary> {
    let found = project.classes().find(|class| class.summary.name == name);
    Arc::clone(&found.unwrap_or_else(|| panic!("no class {name}")).summary)
}

fn references(project: &SourceProject, name: &str) -> BTreeSet<String> {
    let class = class(project, name);
    class.texts_of(&class.references).map(str::to_string).collect()
}

/// Which of the classes p.A0, p.A1, ... the code of a class names.
fn named_by(code: &str) -> Vec<usize> {
    let user = format!("package p;\nclass User {{ {code} }}");
    let mut files = vec![("p/User.java".to_string(), user)];
    for index in 0..10 {
        let text = format!("package p; class A{index} {{ static int F; static class Nested {{}} }}");
        files.push((format!("p/A{index}.java"), text));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let project = project(&files);
    assert_eq!(project.notes(), Vec::<String>::new(), "{code}");
    let names = references(&project, "p.User");
    (0..10).filter(|index| names.contains(&format!("p.A{index}"))).collect()
}

#[test]
fn every_place_where_a_class_can_stand_is_a_reference() {
    for (code, expected) in [
        ("A0 f;", vec![0]),
        ("A0[] f(A1 a, A2... b) throws A3 { return null; }", vec![0, 1, 2, 3]),
        ("java.util.List<A0> f; java.util.Map<? extends A1, ? super A2[]> g;", vec![0, 1, 2]),
        ("<T extends A0 & A1> void f() { A2 a = (A3) null; }", vec![0, 1, 2, 3]),
        ("Object f = x instanceof A0; Object g = A1.F + A2.class.hashCode() + p.A3.F;", vec![0, 1, 2, 3]),
        ("@A0 int f; @A1(A2.class) void g(@A3(x = A4.F) int h) {}", vec![0, 1, 2, 3, 4]),
        (
            "Runnable r = A0::run; Object s = A1::new; Object t = A2.Nested::new; Object u = A3[]::new;",
            vec![0, 1, 2, 3],
        ),
        (
            "void f() { A0.m(); new A1() { A2 g; }; class L extends A3 {} for (A4 a : A5.all()) {} }",
            vec![0, 1, 2, 3, 4, 5],
        ),
        ("void f() { try (A0 a = g()) {} catch (A1 | A2 e) {} }", vec![0, 1, 2]),
        (
            "int f(Object o) { return switch (o) { case A0 a when A1.F > 1 -> 1; case A2(A3 x, var y) -> 2; default -> 0; }; }",
            vec![0, 1, 2, 3],
        ),
        ("boolean f(Object o) { return o instanceof A0 a && o instanceof A1(A2 b, int c); }", vec![0, 1, 2]),
        ("int f(Object o) { return switch (o) { case null, default -> A0.F; }; }", vec![0]),
        ("record R(A0 a, java.util.List<A1> b) { R { A2.check(); } }", vec![]),
        (
            "Object f = (java.io.Serializable & Runnable) () -> A0.F; Object g = (A1 a, A2 b) -> a;",
            vec![0, 1, 2],
        ),
        ("String f = \"\"\"\n  \"A0\" A1 \\\n \"\"\"; A2 g;", vec![2]),
        ("@interface I { Class<?> value() default A0.class; }", vec![]),
        ("int f = 1; // A0\n /* A1 */ /** {@link A2} */", vec![]),
        ("void f() { var a = A0.make(); a.b().c(A1.F); int A2 = 3; }", vec![0, 1]),
    ] {
        assert_eq!(named_by(code), expected, "{code}");
    }
}

#[test]
fn nested_types_have_their_own_references() {
    let project = project(&[
        ("p/A.java", "package p; class A { record R(B b) { interface I { C c(); } } enum E { X { D d; } } }"),
        ("p/B.java", "package p; class B {}"),
        ("p/C.java", "package p; class C {}"),
        ("p/D.java", "package p; class D {}"),
    ]);
    assert_eq!(references(&project, "p.A"), BTreeSet::new());
    assert_eq!(references(&project, "p.A$R"), BTreeSet::from(["p.B".to_string()]));
    assert_eq!(references(&project, "p.A$R$I"), BTreeSet::from(["p.C".to_string()]));
    assert_eq!(references(&project, "p.A$E"), BTreeSet::from(["p.D".to_string()]));
    assert!(class(&project, "p.A$E").traits.has(ClassTraits::ENUM));
}

#[test]
fn names_are_found_as_the_language_says() {
    let base = [
        ("q/Thing.java", "package q; public class Thing { public static class Part {} }"),
        ("q/Sub.java", "package q; public class Sub extends Thing {}"),
        ("r/Thing.java", "package r; public class Thing {}"),
        ("p/Other.java", "package p; class Other { static class Thing {} }"),
    ];
    for (text, expected) in [
        ("import q.Thing; class U { Thing t; }", vec!["q.Thing"]),
        ("import q.*; class U { Thing t; }", vec!["q.Thing"]),
        ("import q.*; import r.Thing; class U { Thing t; }", vec!["r.Thing"]),
        ("class U { q.Thing.Part t; }", vec!["q.Thing", "q.Thing$Part"]),
        ("import q.Sub; class U { Sub.Part t; }", vec!["q.Sub", "q.Thing$Part"]),
        ("import q.Sub.Part; class U { Part t; }", vec!["q.Thing$Part"]),
        ("import static q.Thing.*; class U { Part t; }", vec!["q.Thing", "q.Thing$Part"]),
        ("class U extends Other { Thing t; }", vec!["p.Other", "p.Other$Thing"]),
        ("import static q.Thing.make; class U { Object t = make(); }", vec!["q.Thing"]),
        ("import static q.Thing.make; class U { Object t = other(); }", vec![]),
        ("import java.util.Thing; class U { Thing t; }", vec![]),
        ("class U { Thing t; }", vec![]),
    ] {
        let text = format!("package p; {text}");
        let mut files = base.to_vec();
        files.push(("p/U.java", &text));
        let expected: BTreeSet<String> = expected.into_iter().map(str::to_string).collect();
        assert_eq!(references(&project(&files), "p.U"), expected, "{text}");
    }
}

/// Whether the class's content is the same in two spellings.
fn same(before: &str, after: &str) -> bool {
    let content = |text: &str| class(&project(&[("p/A.java", text)]), "p.A").content;
    content(before) == content(after)
}

#[test]
fn comments_layout_and_unused_imports_do_not_count_and_everything_else_does() {
    let base = "package p; class A { int f() { return 1; } }";
    assert!(same(base, "package p;\n\n/** A. */ class A {\n  int f() { // one\n return 1; }\n}"));
    assert!(same(base, "package p; import java.util.List; class A { int f() { return 1; } }"));
    assert!(!same(base, "package p; class A { int f() { return 2; } }"));
    assert!(!same(base, "package p; class A { int f() { return 1; } int g; }"));
    assert!(!same(base, "package p; final class A { int f() { return 1; } }"));
    assert!(!same(
        "package p; class A { String s = \"a b\"; }",
        "package p; class A { String s = \"a  b\"; }"
    ));
    let block = |text: &str| format!("package p; class A {{ String s = \"\"\"\n{text}\n\"\"\"; }}");
    assert!(!same(&block("a"), &block(" a")));
    assert!(same(
        "package p; import java.util.*; import java.io.*; class A {}",
        "package p; import java.io.*; import java.util.*; class A {}"
    ));
    assert!(!same(
        "package p; import java.util.Date; class A { Date d; }",
        "package p; import java.sql.Date; class A { Date d; }"
    ));
    assert!(!same(
        "package p; class A { // \\u000a int g;\n }",
        "package p; class A { // \\u000a int h;\n }"
    ));
}

#[test]
fn loads_by_name_are_told_apart_by_what_is_known_of_the_name() {
    let text = r#"package p; class A {
        static final String CONSTANT = "p.B";
        Object literal() { return Class.forName("p.C"); }
        Object constant() { return Class.forName(CONSTANT); }
        Object prefix(String s) { return Class.forName("p." + s + "X"); }
        Object computed(String CONSTANT) { return loader.loadClass(CONSTANT); }
        Object of_class() { return Class.forName(B.class.getName()); }
        Object charset(String s) { return Charset.forName(s); }
        static Object forName(String s) { return s; }
        Object own(String s) { return forName(s) == this.forName(s); }
        Object resource() { return A.class.getResource(name()); }
    }"#;
    let summary = class(&project(&[("p/A.java", text)]), "p.A");
    let unknowns: Vec<(&str, &LoadedName)> =
        summary.unknowns.iter().map(|unknown| (unknown.call.as_str(), &unknown.name)).collect();
    let field = LoadedName::Field { owners: vec!["p.A".into()], field: "CONSTANT".into() };
    assert_eq!(
        unknowns,
        [
            ("forName", &LoadedName::Prefix("p.".into())),
            ("forName", &field),
            ("loadClass", &LoadedName::Computed),
            ("getResource", &LoadedName::Computed),
        ]
    );
    assert!(summary.texts_of(&summary.strings).any(|string| string == "p.C"));
}

#[test]
fn a_method_called_for_name_is_that_of_class_only_where_it_is_imported_or_called_on_a_class() {
    for (import, call, expected) in [
        ("", "forName(s)", 0),
        ("import static q.Charsets.forName;", "forName(s)", 0),
        ("import static q.Charsets.*;", "super.forName(s)", 0),
        ("import static java.lang.Class.forName;", "forName(s)", 1),
        ("import static java.lang.Class.*;", "forName(s)", 1),
        ("", "java.lang.Class.forName(s)", 1),
        ("", "getClass().forName(s)", 1),
    ] {
        let text = format!("package p; {import} class A {{ Object load(String s) {{ return {call}; }} }}");
        let summary = class(&project(&[("p/A.java", &text)]), "p.A");
        assert_eq!(summary.unknowns.len(), expected, "{import} {call}");
    }
}

#[test]
fn files_without_a_class_of_their_own_are_understood() {
    let project = project(&[
        ("p/package-info.java", "/** Doc. */ @p.Marker package p;"),
        ("p/Marker.java", "package p; @interface Marker {}"),
        ("module-info.java", "import p.Codec; module m { requires java.sql; provides Codec with p.Fast; }"),
        (
            "Script.java",
            "import java.util.*; void main() { helper(); } void helper() { new Part(); } class Part {}",
        ),
        ("empty/Empty.java", ""),
    ]);
    let info = class(&project, "p.package-info");
    assert!(info.traits.has(ClassTraits::PACKAGE_INFO));
    assert_eq!(references(&project, "p.package-info"), BTreeSet::from(["p.Marker".to_string()]));
    assert!(class(&project, "module-info").traits.has(ClassTraits::MODULE_INFO));
    assert_eq!(class(&project, "module-info").provides.len(), 1);
    assert_eq!(references(&project, "Script"), BTreeSet::from(["Script$Part".to_string()]));
    assert_eq!(project.notes(), Vec::<String>::new());
}

#[test]
fn a_file_that_cannot_be_parsed_counts_as_a_whole_and_refers_to_all_it_mentions() {
    let project = project(&[
        (
            "p/Broken.java",
            "package p; import q.Far; class Broken { void f( { new B(); Far.x; } static class Inner { } // C\n @Test",
        ),
        ("p/B.java", "package p; class B { Broken.Inner i; }"),
        ("p/C.java", "package p; class C {}"),
        ("q/Far.java", "package q; public class Far {}"),
    ]);
    let names = references(&project, "p.Broken");
    assert!(names.contains("p.B") && names.contains("q.Far") && !names.contains("p.C"), "{names:?}");
    assert!(references(&project, "p.B").contains("p.Broken$Inner"));
    let [note] = &project.notes()[..] else { panic!("{:?}", project.notes()) };
    assert!(note.starts_with("p/Broken.java is not Java that can be parsed"), "{note}");
}

#[test]
fn an_imported_class_that_a_generator_makes_stands_for_its_package() {
    let files = [
        ("p/U.java", "package p; import q.Generated; class U { Generated g; }"),
        ("q/Model.java", "package q; class Model {}"),
    ];
    let program = Program { classes: project(&files).classes().cloned().collect(), inputs: Vec::new() };
    let analysed = program.analyse(Options::default());
    let graph = &analysed.graph;
    let user = graph.elements().find(|&element| graph.name(element) == "p.U").unwrap();
    let reached: Vec<&str> =
        graph.reachable(&[user]).into_iter().map(|element| graph.name(element)).collect();
    assert_eq!(reached, ["p.U", "package q", "q.Model"]);
    assert!(analysed.notes[0].contains("uses q.Generated, which no source file declares"));
}

#[test]
fn a_class_that_nothing_explains_is_made_by_a_generator_from_its_own_package() {
    let model = ("p/Model.java", "package p; class Model {}");
    let star = ("q/Star.java", "package q; public class Star {}");
    for (text, expected) in [
        ("package p; class U { ModelInfo i; }", "p.Model"),
        ("package p; class U { int i = Registry.SIZE; }", "p.Model"),
        ("package p; class U { Object o = Registry.all(); }", "p.Model"),
        ("package p; import java.util.*; class U { Object o = new ModelInfo(); }", "p.Model"),
        ("package p; import q.*; class U extends ImmutableStar {}", "q.Star"),
        ("package p; import java.util.*; class U { List<String> l; }", ""),
        ("package p; import java.util.List; class U { List<String> l; @Override public void f() {} }", ""),
        ("package p; class U<T extends Comparable<T>> { T t; <K1> K1 f(K1 k) { return k; } }", ""),
        ("package p; class U { static final int MAX = 1; int f() { return MAX + Integer.MAX_VALUE; } }", ""),
        ("package p; class U { void f() { class Local {} new Local(); } }", ""),
        ("package p; import static org.junit.Assert.*; class U { void f() { java.util.List l; } }", ""),
    ] {
        for level in [Level::Class, Level::Member] {
            let test = text.replace(" class U", " @org.junit.jupiter.api.Nested class U").replacen(
                "{",
                "{ @org.junit.Test void t() {} ",
                1,
            );
            let files = [("p/U.java", test.as_str()), model, star];
            let program =
                Program { classes: project(&files).classes().cloned().collect(), inputs: Vec::new() };
            let graph = program.analyse(Options { level, ..Options::default() }).graph;
            let roots: Vec<_> = graph.tests().iter().flat_map(|test| test.roots.clone()).collect();
            let reached = graph.reachable(&roots);
            let others: Vec<&str> = reached
                .into_iter()
                .map(|element| graph.name(element))
                .filter(|name| ["p.Model", "q.Star"].contains(name))
                .collect();
            assert_eq!(
                others,
                Vec::from_iter((!expected.is_empty()).then_some(expected)),
                "{text} {level:?}"
            );
        }
    }
}

/// The test classes of some files.
fn tests(files: &[(&str, &str)]) -> Vec<String> {
    let program = Program { classes: project(files).classes().cloned().collect(), inputs: Vec::new() };
    let graph = program.analyse(Options::default()).graph;
    graph.tests().iter().map(|test| test.id.name.clone()).collect()
}

#[test]
fn tests_are_found_whatever_the_framework() {
    for (text, expected) in [
        ("import org.junit.Test; class T { @Test public void f() {} }", true),
        ("class T { @org.junit.jupiter.api.Test void f() {} }", true),
        ("class T { @ParameterizedTest void f(int i) {} }", true),
        ("class T { @TestFactory Object f() {} }", true),
        ("class T { @BeforeEach void f() {} }", true),
        ("class T { @Nested class Inner { @Test void f() {} } }", true),
        ("import junit.framework.TestCase; public class T extends TestCase { public void testF() {} }", true),
        ("public class T extends junit.framework.TestCase { void testF() {} }", false),
        ("@org.testng.annotations.Test public class T { public void f() {} }", true),
        ("@RunWith(Suite.class) public class T {}", true),
        ("@ExtendWith(X.class) class T { @Fast void f() {} } @Test @interface Fast {}", true),
        ("class T { @Slow void f() {} } @interface Slow {}", false),
        ("class T implements I {} interface I { @Test default void f() {} }", true),
        ("abstract class T { @Test void f() {} }", false),
        ("class T { void f() {} }", false),
        ("class T { class Test {} @Override public String toString() { return null; } }", false),
        ("class T extends Thread {}", false),
    ] {
        let text = format!("package p; {text}");
        let found = tests(&[("p/T.java", &text)]);
        assert_eq!(found.contains(&"p.T".to_string()), expected, "{text}");
    }
    let outside = tests(&[("p/FooTest.java", "package p; class FooTest extends lib.AbstractContract {}")]);
    assert_eq!(outside, ["p.FooTest"]);
}

#[test]
fn a_disabled_test_class_is_known_as_such() {
    let text = "package p; @Disabled class T { @Test void f() {} }";
    let program =
        Program { classes: project(&[("p/T.java", text)]).classes().cloned().collect(), inputs: Vec::new() };
    let graph = program.analyse(Options::default()).graph;
    assert!(graph.test(&TestId::new("m", "p.T")).unwrap().disabled);
}

mod inputs {
    use fewer_core::Digest;
    use fewer_java::{Input, InputKind};

    use super::*;

    /// Which tests reach an input, in a module with two tests.
    fn users(input: &str, kind: InputKind, first: &str) -> Vec<String> {
        let first = format!("package p; class FirstTest {{ @org.junit.Test void f() {{ {first} }} }}");
        let second = "package p; class SecondTest { @org.junit.Test void f() { print(\"data\"); } }";
        let files = [("p/FirstTest.java", first.as_str()), ("p/SecondTest.java", second)];
        let classes = project(&files).classes().cloned().collect();
        let input = Input { name: input.into(), digest: Digest(1), kind, module: Some("m".into()) };
        let name = input.name.clone();
        let graph = Program { classes, inputs: vec![input] }.analyse(Options::default()).graph;
        let reaches = |roots: &[fewer_core::ElementId]| {
            graph.reachable(roots).into_iter().any(|element| graph.name(element) == name)
        };
        let tests = graph.tests().iter().filter(|test| reaches(&test.roots));
        tests.map(|test| test.id.name.trim_start_matches("p.").to_string()).collect()
    }

    #[test]
    fn a_resource_belongs_to_those_who_name_it_and_to_everyone_if_nobody_does() {
        let both = ["FirstTest", "SecondTest"];
        let resource = "src/test/resources/p/data.txt";
        assert_eq!(
            users(resource, InputKind::Resource, "open(\"p/data.txt\");"),
            both,
            "SecondTest says data"
        );
        assert_eq!(users("res/p/other.txt", InputKind::Resource, "open(\"/p/other.txt\");"), ["FirstTest"]);
        assert_eq!(users("res/p/other.txt", InputKind::Resource, "open(\"other\");"), both);
        assert_eq!(users("res/p/other.txt", InputKind::Resource, ""), both);
        let bundle = "res/p/other_de.properties";
        assert_eq!(users(bundle, InputKind::Resource, "getBundle(\"p.other\");"), ["FirstTest"]);
        assert_eq!(
            users("res/p/x.txt", InputKind::Resource, "open(\"x.txt\"); list(\"res/p\");"),
            ["FirstTest"]
        );
    }

    #[test]
    fn a_setting_and_a_service_of_a_library_belong_to_everyone() {
        let both = ["FirstTest", "SecondTest"];
        assert_eq!(users("pom.xml", InputKind::Setting, ""), both);
        let service = InputKind::of_file("META-INF/services/lib.Listener", b"p.FirstTest");
        assert_eq!(users("META-INF/services/lib.Listener", service, ""), both);
    }
}
