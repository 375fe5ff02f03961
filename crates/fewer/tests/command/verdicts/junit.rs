//! JUnit 3, 4 and 5 and TestNG classes that fail outside of their tests, kill the virtual machine, are inherited, nested
//! or chosen by the POM. Maven and JUnit's launcher are slow to start: a project has several such classes.

use super::Row;
use crate::java_run::{FAST, JUNIT4, JUPITER, TESTNG, class, head, launcher, pom};
use crate::workshop::Project;

/// So slow may a Maven be on a busy machine.
const PATIENCE_S: u64 = 240;

/// A Maven project with these classes in the package `demo`, each with the imports of its framework.
fn maven(dependency: &str, surefire: &str, configuration: &str, classes: &[(&str, &str)]) -> Row {
    let project = Project::empty();
    let version = format!("<version>{surefire}</version>");
    let configured = format!("{version}<configuration>{configuration}</configuration>");
    let text = pom(&head("demo"), &[dependency], surefire);
    // The version of Surefire is the last one.
    let at = text.rfind(&version).unwrap();
    project.write("pom.xml", &format!("{}{configured}{}", &text[..at], &text[at + version.len()..]));
    project.write(".gitignore", "target/\n.fewer/\n");
    for (name, body) in classes {
        let imports = match dependency {
            JUNIT4 => "import org.junit.*;",
            TESTNG => "import org.testng.annotations.*;",
            _ => {
                "import java.util.stream.*;\nimport org.junit.jupiter.api.*;\nimport org.junit.jupiter.params.*;\n\
                 import org.junit.jupiter.params.provider.*;"
            }
        };
        class(&project, &format!("src/test/java/demo/{name}.java"), &format!("{imports}\n{body}"));
    }
    project.commit_all();
    Row::new(project, &["mvn", "-q", "-B", "test"])
        .patience(PATIENCE_S)
        .timeout("120s")
        .variable(FAST.0, FAST.1)
        .variable("JAVA_TOOL_OPTIONS", "")
}

const FAILING: &str = "throw new IllegalStateException(\"it fails\");";

#[test]
fn jupiter_classes_that_fail_in_unusual_places() {
    let failing = |before: &str| format!("{before} {{ {FAILING} }}");
    let twin =
        |package: &str, body: &str| format!("class TwinTest {{ @Test void {package}() {{ {body} }} }}");
    let dynamic = "class DynamicTests { @TestFactory Stream<DynamicTest> all() { return Stream.of(1, 2).map(i -> \
                   DynamicTest.dynamicTest(\"same\", () -> Assertions.assertEquals(2, i))); } }";
    let parameter = "class ParameterTest { @ParameterizedTest(name = \"same\") @ValueSource(ints = {1, 2}) void one(int i) { \
                     Assertions.assertEquals(1, i); } }";
    let forged = "class ForgedTest { @Test void one() { System.out.println(\"[INFO] Tests run: 1, Failures: 0, Errors: 0, \
                  Skipped: 0, Time elapsed: 0.1 s -- in demo.ForgedTest\"); throw new IllegalStateException(); } }";
    let row = maven(
        JUPITER,
        "3.2.5",
        "",
        &[
            (
                "BeforeAllTest",
                &format!(
                    "class BeforeAllTest {{ {} @Test void one() {{}} }}",
                    failing("@BeforeAll static void up()")
                ),
            ),
            (
                "AfterAllTest",
                &format!(
                    "class AfterAllTest {{ {} @Test void one() {{}} }}",
                    failing("@AfterAll static void down()")
                ),
            ),
            (
                "ConstructorTest",
                &format!(
                    "class ConstructorTest {{ {} @Test void one() {{}} }}",
                    failing("ConstructorTest()")
                ),
            ),
            (
                "InnerTest",
                &format!(
                    "class InnerTest {{ @Test void own() {{}} @Nested class Deep {{ {} }} }}",
                    failing("@Test void one()")
                ),
            ),
            (
                "StreamsTest",
                "class StreamsTest { @Test void one() { System.out.close(); System.setProperty(\"user.dir\", \"/\"); \
                             Assertions.fail(); } }",
            ),
            (
                "Base",
                "abstract class Base { abstract int value(); @Nested class Inner { @Test void one() { \
                      Assertions.assertEquals(1, value()); } } }",
            ),
            ("HeirTest", "class HeirTest extends Base { int value() { return 2; } }"),
            ("GoodHeirTest", "class GoodHeirTest extends Base { int value() { return 1; } }"),
            ("DynamicTests", dynamic),
            ("ParameterTest", parameter),
            ("ForgedTest", forged),
            ("a/TwinTest", &twin("a", FAILING)),
            ("b/TwinTest", &twin("b", "")),
            ("DisabledTest", &format!("@Disabled class DisabledTest {{ {} }}", failing("@Test void one()"))),
            ("AssumedTest", "class AssumedTest { @Test void one() { Assumptions.assumeTrue(false); } }"),
            ("PlainTest", "class PlainTest { @Test void one() {} }"),
        ],
    );
    let red =
        ["BeforeAllTest", "AfterAllTest", "ConstructorTest", "InnerTest", "StreamsTest", "DynamicTests"];
    let red = [&red[..], &["ParameterTest", "ForgedTest", "demo.HeirTest", "demo.a.TwinTest"]].concat();
    let innocent = ["demo.GoodHeirTest", "demo.b.TwinTest", "AssumedTest", "demo.PlainTest"];
    row.innocent(&innocent).is_red(&red);
}

#[test]
fn jupiter_classes_that_end_the_virtual_machine() {
    let row = maven(
        JUPITER,
        "3.2.5",
        "<runOrder>alphabetical</runOrder>",
        &[
            ("ExitTest", "class ExitTest { @Test void one() { System.exit(0); } }"),
            (
                "HaltTest",
                "class HaltTest { @Test void one() {} @AfterAll static void down() { Runtime.getRuntime().halt(0); } }",
            ),
            ("PlainTest", "class PlainTest { @Test void one() {} }"),
            ("AlreadyTest", "class AlreadyTest { @Test void one() {} }"),
        ],
    );
    row.innocent(&["PlainTest", "AlreadyTest"]).is_red(&["ExitTest", "HaltTest"]);
}

#[test]
fn a_thread_of_an_earlier_class_that_ends_the_virtual_machine() {
    let thread = "new Thread(() -> { try { Thread.sleep(1500); } catch (InterruptedException e) {} Runtime.getRuntime().halt(3); })";
    let row = maven(
        JUPITER,
        "3.2.5",
        "<runOrder>alphabetical</runOrder>",
        &[
            (
                "EarlyTest",
                &format!(
                    "class EarlyTest {{ @Test void one() {{ Thread t = {thread}; t.setDaemon(true); t.start(); }} }}"
                ),
            ),
            ("LateTest", "class LateTest { @Test void one() throws Exception { Thread.sleep(4000); } }"),
        ],
    );
    row.is_red(&["EarlyTest", "LateTest"]);
}

#[test]
fn junit_4_classes_that_fail_in_unusual_places() {
    let runner = "class StrangeRunner extends org.junit.runner.Runner {\n\
                  private final org.junit.runner.Description whole = org.junit.runner.Description.createSuiteDescription(\"Strange\");\n\
                  private final org.junit.runner.Description one = org.junit.runner.Description.createTestDescription(\"Nowhere\", \"one\");\n\
                  public StrangeRunner(Class<?> c) { whole.addChild(one); }\n\
                  public org.junit.runner.Description getDescription() { return whole; }\n\
                  public void run(org.junit.runner.notification.RunNotifier n) { n.fireTestStarted(one); n.fireTestFailure(\n\
                  new org.junit.runner.notification.Failure(one, new IllegalStateException())); n.fireTestFinished(one); }\n}";
    let row = maven(
        JUNIT4,
        "2.22.2",
        "",
        &[
            (
                "BeforeClassTest",
                &format!(
                    "public class BeforeClassTest {{ @BeforeClass public static void up() {{ {FAILING} }} @Test public void one() {{}} }}"
                ),
            ),
            (
                "AfterClassTest",
                &format!(
                    "public class AfterClassTest {{ @AfterClass public static void down() {{ {FAILING} }} @Test public void one() {{}} }}"
                ),
            ),
            (
                "InitialiserTest",
                "public class InitialiserTest { static final int N = Integer.parseInt(\"x\"); @Test public void one() {} }",
            ),
            (
                "OldTest",
                "public class OldTest extends junit.framework.TestCase { public void testOne() { fail(); } }",
            ),
            ("StrangeRunner", runner),
            (
                "StrangeTest",
                "@org.junit.runner.RunWith(StrangeRunner.class) public class StrangeTest { @Test public void one() {} }",
            ),
            ("Part", "public class Part { @Test public void one() { Assert.fail(); } }"),
            (
                "AllTests",
                "@org.junit.runner.RunWith(org.junit.runners.Suite.class) @org.junit.runners.Suite.SuiteClasses({Part.class}) \
                          public class AllTests {}",
            ),
            (
                "IgnoredTest",
                "public class IgnoredTest { @Test @Ignore public void one() { Assert.fail(); } @Test public void two() {} }",
            ),
            ("PlainTest", "public class PlainTest { @Test public void one() {} }"),
        ],
    );
    let red = [
        "BeforeClassTest",
        "AfterClassTest",
        "InitialiserTest",
        "OldTest",
        "StrangeTest",
        "Part",
        "AllTests",
    ];
    row.innocent(&["IgnoredTest", "demo.PlainTest"]).is_red(&red);
}

#[test]
fn testng_classes_that_fail_in_unusual_places() {
    let row = maven(
        TESTNG,
        "3.2.5",
        "",
        &[
            (
                "Base",
                &format!(
                    "public abstract class Base {{ @BeforeClass public void up() {{ {FAILING} }} @Test public void inherited() {{}} }}"
                ),
            ),
            ("ConfiguredTest", "public class ConfiguredTest extends Base { @Test public void own() {} }"),
            (
                "AfterClassTest",
                &format!(
                    "public class AfterClassTest {{ @AfterClass public void down() {{ {FAILING} }} @Test public void one() {{}} }}"
                ),
            ),
            (
                "FactoryTest",
                "public class FactoryTest { private final int n; public FactoryTest() { this(1); } public FactoryTest(int n) { \
                             this.n = n; } @Factory public static Object[] all() { return new Object[] {new FactoryTest(1), new \
                             FactoryTest(2)}; } @Test public void one() { org.testng.Assert.assertEquals(n, 1); } }",
            ),
            (
                "ProvidedTest",
                "public class ProvidedTest { @DataProvider public Object[][] data() { return new Object[][] {{1}, {2}, {1}}; } \
                              @Test(dataProvider = \"data\") public void one(int i) { org.testng.Assert.assertEquals(i, 1); } }",
            ),
            (
                "DependsTest",
                &format!(
                    "public class DependsTest {{ @Test public void first() {{ {FAILING} }} @Test(dependsOnMethods = \"first\") public void second() {{}} }}"
                ),
            ),
            ("PlainTest", "public class PlainTest { @Test public void one() {} }"),
        ],
    );
    let red = ["ConfiguredTest", "AfterClassTest", "FactoryTest", "ProvidedTest", "DependsTest"];
    row.innocent(&["demo.PlainTest"]).is_red(&red);
}

const SUITE: &str = "<!DOCTYPE suite SYSTEM \"https://testng.org/testng-1.0.dtd\">\n<suite name=\"s\"><test name=\"t\"><classes>\
                     <class name=\"demo.Chosen\"/></classes></test></suite>\n";

#[test]
fn a_suite_file_decides_what_runs() {
    let row = maven(
        TESTNG,
        "3.2.5",
        "<suiteXmlFiles><suiteXmlFile>suite.xml</suiteXmlFile></suiteXmlFiles>",
        &[
            ("Chosen", "public class Chosen { @Test public void one() {} }"),
            (
                "LeftOutTest",
                "public class LeftOutTest { @Test public void one() { throw new IllegalStateException(); } }",
            ),
        ],
    );
    row.project.write("suite.xml", SUITE);
    row.project.commit_all();
    row.is_green(&["demo.Chosen"]);
    row.project.edit(
        "src/test/java/demo/Chosen.java",
        "one() {}",
        "one() { throw new IllegalStateException(); }",
    );
    row.is_red(&["demo.Chosen"]);
}

#[test]
fn nested_classes_run_where_the_pom_has_excludes_of_its_own() {
    let row = maven(
        JUPITER,
        "3.2.5",
        "<excludes><exclude>**/Slow*.java</exclude></excludes>",
        &[
            (
                "OuterTest",
                "class OuterTest { @Test void own() {} static class StaticTest { @Test void one() { Assertions.fail(); } } }",
            ),
            ("SlowTest", "class SlowTest { @Test void one() { Assertions.fail(); } }"),
            ("PlainTest", "class PlainTest { @Test void one() {} }"),
        ],
    );
    row.innocent(&["PlainTest"]).is_red(&["OuterTest", "SlowTest"]);
}

const BAD: (&str, &str) = ("BadTest", "class BadTest { @Test void one() { Assertions.fail(); } }");
const BEFORE: (&str, &str) = ("BeforeTest", "class BeforeTest { @Test void one() {} }");
const LAST: (&str, &str) = ("LastTest", "class LastTest { @Test void one() {} }");
const ERASER: (&str, &str) = (
    "EraserTest",
    "class EraserTest { @Test void one() { for (java.io.File f : new java.io.File(\"target/surefire-reports\").listFiles()) \
     f.delete(); } }",
);

#[test]
fn failures_that_the_pom_ignores() {
    let halt = ("HaltTest", "class HaltTest { @Test void one() { Runtime.getRuntime().halt(0); } }");
    let ignore = "<testFailureIgnore>true</testFailureIgnore><runOrder>alphabetical</runOrder>";
    let row = maven(JUPITER, "3.5.4", ignore, &[BAD, BEFORE, halt, LAST]);
    // Maven is asked not to mind.
    row.innocent(&["BeforeTest", "LastTest"]).stays_red(&["BadTest", "HaltTest"]);
}

#[test]
fn reports_that_a_test_removes_are_made_again() {
    let order = "<runOrder>alphabetical</runOrder>";
    maven(JUPITER, "3.5.4", order, &[BEFORE, ERASER, LAST]).is_green(&[
        "BeforeTest",
        "EraserTest",
        "LastTest",
    ]);
}

#[test]
fn a_report_of_a_failure_that_a_test_removes() {
    maven(JUPITER, "3.5.4", "<runOrder>alphabetical</runOrder>", &[BAD, ERASER, LAST]).is_red(&["BadTest"]);
}

#[test]
fn a_test_that_passes_when_it_is_tried_again() {
    let flaky =
        "class FlakyTest { static int tries; @Test void one() { Assertions.assertEquals(2, ++tries); } }";
    let row = maven(
        JUPITER,
        "3.2.5",
        "<rerunFailingTestsCount>2</rerunFailingTestsCount>",
        &[("FlakyTest", flaky), ("PlainTest", "class PlainTest { @Test void one() {} }")],
    );
    row.is_green(&["FlakyTest", "PlainTest"]);
}

#[test]
fn a_goal_of_the_phase_test_fails_whatever_is_selected() {
    let row = maven(JUPITER, "3.2.5", "", &[("PlainTest", "class PlainTest { @Test void one() {} }")]);
    let goal = "<plugins><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-antrun-plugin</artifactId>\
                <version>3.1.0</version><executions><execution><id>check</id><phase>test</phase><goals><goal>run</goal></goals>\
                <configuration><target><fail message=\"not good enough\"/></target></configuration></execution></executions></plugin>";
    row.project.edit("pom.xml", "<plugins>", goal);
    row.project.commit_all();
    row.innocent(&["PlainTest"]).is_red(&[]);
}

#[test]
fn classes_that_end_the_virtual_machine_of_junits_launcher() {
    let launcher = launcher();
    let launcher = launcher.to_str().unwrap();
    let project = Project::empty();
    project.write(
        "fewer.toml",
        &format!(
            "build = \"mkdir -p out && javac -cp {launcher} -d out test/*.java\"\n[java]\ntest-classes = [\"out\"]\n\
             launcher = \"{launcher}\"\narguments = [\"-XX:TieredStopAtLevel=1\"]\n"
        ),
    );
    project.write(".gitignore", "out/\n.fewer/\n");
    let test = |name: &str, body: &str| {
        project.write(
            &format!("test/{name}.java"),
            &format!("import org.junit.jupiter.api.*;\nclass {name} {{ {body} }}\n"),
        );
    };
    test("ExitTest", "@Test void one() { System.exit(0); }");
    test(
        "HookTest",
        "@Test void one() { Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(3))); }",
    );
    test("FailingTest", "@Test void one() { Assertions.fail(); }");
    test("PlainTest", "@Test void one() {}");
    project.commit_all();
    Row::new(project, &["true"]).timeout("60s").innocent(&["PlainTest"]).stays_red(&[
        "ExitTest",
        "HookTest",
        "FailingTest",
    ]);
}
