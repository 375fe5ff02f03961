//! An analysis that builds on what earlier ones kept finds what one from scratch finds, whatever was edited in
//! between and whatever became of what was kept. Real compiler, archiver and linker; random sequences of edits.

mod memory_cache;
mod tools;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fewer_core::{Digest, Fingerprints, Graph};
use fewer_objects::{
    Analysis, BuildTree, Given, ListedTest, NamedDigest, NoCache, VirtualCalls, scan, scan_again,
};
use proptest::prelude::*;

use memory_cache::{KEPT_KIND, MemoryCache};
use tools::run;

const UNITS: usize = 4;
/// So old is a file at least of which the status tells when it changes.
const SETTLED: Duration = Duration::from_millis(2100);

/// What a unit's text is made from.
#[derive(Clone, Debug, Default)]
struct Unit {
    constant: u32,
    statements: u32,
    calls_next: bool,
    has_initialiser: bool,
    is_renamed: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Constant(usize, u32),
    Statements(usize, u32),
    Call(usize),
    Initialiser(usize),
    Rename(usize),
    /// Of the header that all units include.
    Inline(u32),
    /// Of code in the programs that no object of the build explains.
    Foreign(u32),
    /// So many functions more in it, which come first.
    ForeignFunctions(u32),
    /// One more object in the archive, or one less.
    Extra,
    /// The unit is compiled, but no program is linked with it.
    Unlinked(usize, u32),
    /// Something kept is gone, or damaged.
    Lose(usize),
    Damage(usize),
    /// The kept analysis is damaged in one place.
    Flip(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..UNITS, 0u32..5).prop_map(|(unit, value)| Step::Constant(unit, value)),
        3 => (0..UNITS, 0u32..3).prop_map(|(unit, count)| Step::Statements(unit, count)),
        2 => (0..UNITS).prop_map(Step::Call),
        1 => (0..UNITS).prop_map(Step::Initialiser),
        1 => (0..UNITS).prop_map(Step::Rename),
        1 => (0u32..3).prop_map(Step::Inline),
        1 => (0u32..3).prop_map(Step::Foreign),
        1 => (0u32..3).prop_map(Step::ForeignFunctions),
        1 => Just(Step::Extra),
        1 => (0..UNITS, 0u32..3).prop_map(|(unit, count)| Step::Unlinked(unit, count)),
        1 => any::<usize>().prop_map(Step::Lose),
        1 => any::<usize>().prop_map(Step::Damage),
        1 => any::<usize>().prop_map(Step::Flip),
    ]
}

/// The sources of two programs: units 0 and 1 in an archive that both use, the others in one program each.
#[derive(Clone, Default)]
struct Sources {
    units: [Unit; UNITS],
    inline_constant: u32,
    foreign_constant: u32,
    foreign_functions: u32,
    has_extra: bool,
    /// Whether the programs are as old as the last build that linked them.
    is_unlinked: bool,
}

impl Sources {
    fn header(&self) -> String {
        let constant = self.inline_constant;
        format!(
            "#pragma once\ntemplate <class T> T scaled(T value) {{ return value * 3 + {constant}; }}\n\
             struct Shape {{ virtual ~Shape() = default; virtual int area() const {{ return {constant}; }} }};\n"
        )
    }

    fn foreign(&self) -> String {
        let added = |number| format!("int added_{number}(int x) {{ return x * ({number} + 2); }}\n");
        let mut text: String = (0..self.foreign_functions).map(added).collect();
        text += &format!("int foreign(int x) {{ return x + {} + 100; }}\n", self.foreign_constant);
        text
    }

    fn unit(&self, number: usize) -> String {
        let Unit { constant, statements, calls_next, has_initialiser, is_renamed } = &self.units[number];
        let mut text = String::from("#include \"shared.h\"\nint foreign(int); int unit_0(); int unit_1();\n");
        let function = if *is_renamed && number == 1 { "other_1" } else { "local" };
        text += &format!("static int {function}(int x) {{ int sum = scaled(x) + {constant};\n");
        (0..*statements).for_each(|statement| text += &format!("sum += x * ({statement} + 2);\n"));
        text += "return sum; }\n";
        if *has_initialiser {
            text += &format!("int started_{number} = {function}({number});\n");
        }
        let call = if *calls_next && number != 1 { " + unit_1()" } else { "" };
        text += &format!("int unit_{number}() {{ Shape shape; return {function}(shape.area()){call}; }}\n");
        if number >= 2 {
            text += &format!("int main() {{ return unit_{number}() + foreign(unit_0()); }}\n");
        }
        text
    }

    /// Whether a program differs. The linker takes unit 1 from the archive only if another calls it.
    fn differ_from(&self, before: &Sources) -> bool {
        let is_linked = |unit: &usize| *unit != 1 || self.calls_last();
        let is_edited = |unit: usize| before.unit(unit) != self.unit(unit);
        before.header() != self.header()
            || before.foreign() != self.foreign()
            || (0..UNITS).filter(is_linked).any(is_edited)
    }

    fn calls_last(&self) -> bool {
        [0, 2, 3].iter().any(|&unit| self.units[unit].calls_next)
    }

    fn edit(&mut self, step: &Step) {
        self.is_unlinked = false;
        match *step {
            Step::Constant(unit, value) => self.units[unit].constant = value,
            Step::Statements(unit, count) => self.units[unit].statements = count,
            Step::Call(unit) => self.units[unit].calls_next ^= true,
            Step::Initialiser(unit) => self.units[unit].has_initialiser ^= true,
            Step::Rename(unit) => self.units[unit].is_renamed ^= true,
            Step::Inline(value) => self.inline_constant = value,
            Step::Foreign(value) => self.foreign_constant = value,
            Step::ForeignFunctions(count) => self.foreign_functions = count,
            Step::Extra => self.has_extra ^= true,
            Step::Unlinked(unit, count) => {
                self.units[unit].statements = count;
                self.is_unlinked = true;
            }
            Step::Lose(_) | Step::Damage(_) | Step::Flip(_) => {}
        }
    }
}

/// Builds what differs from the sources before.
fn build(directory: &Path, before: Option<&Sources>, sources: &Sources) {
    fs::create_dir_all(directory.join("build")).unwrap();
    fs::write(directory.join("shared.h"), sources.header()).unwrap();
    let is_header_new = before.is_none_or(|before| before.header() != sources.header());
    let is_new =
        |unit: usize| is_header_new || before.is_none_or(|before| before.unit(unit) != sources.unit(unit));
    for unit in (0..UNITS).filter(|&unit| is_new(unit)) {
        let (source, object) = (format!("unit_{unit}.cpp"), format!("build/unit_{unit}.o"));
        fs::write(directory.join(&source), sources.unit(unit)).unwrap();
        let flags = ["-O0", "-ffunction-sections", "-fdata-sections", "-c", &source, "-o", &object];
        run(directory, "g++", &flags);
    }
    let archive = archived(sources);
    let is_archive_new = is_new(0) || is_new(1) || before.is_none_or(|before| archived(before) != archive);
    if is_archive_new {
        let _ = fs::remove_file(directory.join("build/libshared.a"));
        fs::write(directory.join("extra.cpp"), "int extra() { return 7; }\n").unwrap();
        run(directory, "g++", &["-c", "extra.cpp", "-o", "extra.o"]);
        run(directory, "ar", &[&["rcsD", "build/libshared.a"][..], &archive].concat());
    }
    let is_foreign_new = before.is_none_or(|before| before.foreign() != sources.foreign());
    if is_foreign_new {
        fs::write(directory.join("foreign.cpp"), sources.foreign()).unwrap();
        run(directory, "g++", &["-c", "foreign.cpp", "-o", "foreign.o"]);
    }
    let was_unlinked = before.is_some_and(|before| before.is_unlinked);
    let is_relinked = |&unit: &usize| is_archive_new || is_foreign_new || was_unlinked || is_new(unit);
    for unit in (2..UNITS).filter(is_relinked).filter(|_| !sources.is_unlinked) {
        let (object, program) = (format!("build/unit_{unit}.o"), format!("build/program_{unit}"));
        run(directory, "g++", &[&object, "build/libshared.a", "foreign.o", "-o", &program]);
    }
}

/// What lies in the archive.
fn archived(sources: &Sources) -> Vec<&'static str> {
    let mut objects = vec!["build/unit_0.o", "build/unit_1.o"];
    objects.extend(sources.has_extra.then_some("extra.o"));
    objects
}

/// Does to what was kept what the step says.
fn damage(kept: &MemoryCache, step: &Step) {
    let mut kept = kept.0.lock().unwrap();
    let mut keys: Vec<(String, Digest)> = kept.keys().cloned().collect();
    keys.sort();
    match *step {
        Step::Lose(place) => {
            kept.remove(&keys[place % keys.len()]);
        }
        Step::Damage(place) => {
            let bytes = kept.get_mut(&keys[place % keys.len()]).unwrap();
            bytes.truncate(bytes.len() / 2);
        }
        Step::Flip(place) => {
            if let Some((_, bytes)) = kept.iter_mut().find(|((kind, _), _)| kind == KEPT_KIND) {
                let place = place % bytes.len();
                bytes[place] ^= 1;
            }
        }
        Step::Constant(..)
        | Step::Statements(..)
        | Step::Call(_)
        | Step::Initialiser(_)
        | Step::Rename(_)
        | Step::Inline(_)
        | Step::Foreign(_)
        | Step::ForeignFunctions(_)
        | Step::Extra
        | Step::Unlinked(..) => {}
    }
}

/// Everything that may be decided by or shown: per element its name, content and fingerprint; per test its
/// fingerprint; how many references there are; what could not be seen.
#[derive(PartialEq, Debug)]
struct Findings {
    elements: Vec<(String, Digest, Digest)>,
    tests: Vec<(String, Digest)>,
    references: usize,
    /// Per object how many elements it holds.
    held: Vec<(String, usize)>,
    notes: Vec<String>,
}

/// What an analysis from scratch finds.
fn findings(directory: &Path) -> Findings {
    let build = directory.join("build");
    findings_of(&build, &scan(&build, &NoCache).unwrap(), Given::default()).0
}

/// What an analysis finds that builds on the last one, and whether it could.
fn findings_again(directory: &Path, kept: &Arc<MemoryCache>) -> (Findings, bool) {
    let build = directory.join("build");
    findings_of(&build, &scan_again(&build, kept.clone()).unwrap(), Given::default())
}

fn findings_of(build: &Path, tree: &BuildTree, given: Given) -> (Findings, bool) {
    let analysis = Analysis::of_build(build, tree, given);
    let (notes, is_renewed) = (analysis.notes().to_vec(), analysis.is_renewed());
    let tests = analysis
        .targets()
        .iter()
        .flat_map(|target| {
            let listed: Vec<ListedTest> = ["Adds", "Doubles"].map(listed).to_vec();
            let listed = if target.has_googletest { &listed[..] } else { &[] };
            let mut tests = analysis.googletest_tests(target, listed);
            tests.push(analysis.program_test(target, "runs", false));
            tests
        })
        .collect();
    let of_objects = |object: &str| analysis.elements_of_objects(|name| name == object).len();
    let held = tree.objects.iter().map(|object| (object.name.clone(), of_objects(&object.name))).collect();
    let (graph, fingerprints) = analysis.into_graph(tests);
    (Findings { held, notes, ..Findings::of(&graph, &fingerprints) }, is_renewed)
}

fn listed(test: &str) -> ListedTest {
    ListedTest { suite: "Unit".into(), test: test.into(), ..ListedTest::default() }
}

impl Findings {
    fn of(graph: &Graph, fingerprints: &Fingerprints) -> Findings {
        let element = |element| {
            (graph.name(element).to_string(), graph.content(element), fingerprints.element(element))
        };
        let mut elements: Vec<_> = graph.elements().map(element).collect();
        elements.sort();
        let tests = graph.tests().iter().map(|test| (test.id.to_string(), fingerprints.test(test))).collect();
        let references = graph.reference_count();
        Findings { elements, tests, references, held: Vec::new(), notes: Vec::new() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, max_shrink_iters: 20, failure_persistence: None, ..Default::default() })]

    #[test]
    fn after_any_edits_analysing_again_equals_analysing_from_scratch(
        steps in prop::collection::vec(step(), 3..8)
    ) {
        let directory = tempfile::tempdir().unwrap();
        let kept = Arc::new(MemoryCache::default());
        let mut sources = Sources::default();
        build(directory.path(), None, &sources);
        std::thread::sleep(SETTLED);
        let mut last = findings_again(directory.path(), &kept).0;
        prop_assert_eq!(last.tests.len(), 2);
        for step in &steps {
            let before = sources.clone();
            sources.edit(step);
            damage(&kept, step);
            build(directory.path(), Some(&before), &sources);
            let again = findings_again(directory.path(), &kept).0;
            prop_assert_eq!(&again, &findings(directory.path()), "after {:?}", step);
            if sources.differ_from(&before) {
                prop_assert_ne!(&again.tests, &last.tests, "after {:?}", step);
            }
            last = again;
        }
    }
}

/// Builds the sources, keeps an analysis of them, makes an edit, and says whether the analysis after it builds on the
/// kept one. It must find what one from scratch finds.
fn is_renewed_after(steps: &[Step], waits: bool) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let kept = Arc::new(MemoryCache::default());
    let mut sources = Sources::default();
    build(directory.path(), None, &sources);
    std::thread::sleep(if waits { SETTLED } else { Duration::ZERO });
    let (last, is_renewed) = findings_again(directory.path(), &kept);
    assert!(!is_renewed && last == findings(directory.path()));
    for step in steps {
        let before = sources.clone();
        sources.edit(step);
        damage(&kept, step);
        build(directory.path(), Some(&before), &sources);
    }
    let (again, is_renewed) = findings_again(directory.path(), &kept);
    assert_eq!(again, findings(directory.path()), "after {steps:?}");
    is_renewed
}

#[test]
fn an_analysis_builds_on_the_last_one_while_names_and_references_stay() {
    assert!(is_renewed_after(&[Step::Constant(0, 3)], false));
    assert!(is_renewed_after(&[Step::Constant(3, 4)], true));
    assert!(is_renewed_after(&[Step::Statements(2, 2), Step::Constant(3, 4)], false));
    assert!(is_renewed_after(&[Step::Foreign(2)], false));
    assert!(is_renewed_after(&[Step::Unlinked(2, 2)], false));
}

#[test]
fn an_analysis_begins_anew_when_names_references_or_objects_differ_or_something_kept_is_gone() {
    for step in [
        Step::Call(0),
        Step::Initialiser(2),
        Step::Rename(1),
        Step::Inline(2),
        Step::ForeignFunctions(2),
        Step::Extra,
        Step::Flip(99),
    ] {
        assert!(!is_renewed_after(std::slice::from_ref(&step), false), "{step:?}");
    }
}

#[test]
fn what_is_given_counts_as_it_is_now() {
    let directory = tempfile::tempdir().unwrap();
    let kept = Arc::new(MemoryCache::default());
    fs::create_dir_all(directory.path().join("build")).unwrap();
    let text = "#include <cstdio>\nint main() { return std::fopen(\"a.txt\", \"r\") == nullptr; }\n";
    fs::write(directory.path().join("reads.cpp"), text).unwrap();
    run(directory.path(), "g++", &["-c", "reads.cpp", "-o", "build/reads.o"]);
    run(directory.path(), "g++", &["build/reads.o", "-o", "build/reads"]);
    let build = directory.path().join("build");
    let item = |name: &str, value| NamedDigest { name: name.to_string(), digest: Digest(value) };
    let given = |files: &[NamedDigest], value| Given {
        files: files.to_vec(),
        variables: vec![item("LANG", value)],
        ..Given::default()
    };
    let one = [item("file a.txt", 1)];
    let two = [item("file a.txt", 1), item("file b.txt", 3)];
    let hierarchy = Given { virtual_calls: VirtualCalls::Hierarchy, ..given(&two, 1) };
    let mut seen = Vec::new();
    for (given, expected) in [
        (given(&one, 1), false),
        (given(&one, 1), true),
        (given(&[item("file a.txt", 2)], 1), true),
        (given(&one, 2), true),
        (given(&two, 1), false),
        (given(&two, 1), true),
        (hierarchy, false),
    ] {
        let tree = scan_again(&build, kept.clone()).unwrap();
        let (again, is_renewed) = findings_of(&build, &tree, given.clone());
        assert_eq!(is_renewed, expected, "{given:?}");
        assert_eq!(again, findings_of(&build, &scan(&build, &NoCache).unwrap(), given).0);
        seen.push(again.tests);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4, "both files, the variable and the second file are told apart");
}

#[test]
fn tests_of_googletest_are_known_again() {
    let directory = tempfile::tempdir().unwrap();
    let kept = Arc::new(MemoryCache::default());
    fs::create_dir_all(directory.path().join("build")).unwrap();
    let compile = |constant: u32| {
        let text = format!(
            "#include <gtest/gtest.h>\nTEST(Unit, Adds) {{ EXPECT_EQ(1 + {constant}, 3); }}\n\
             TEST(Unit, Doubles) {{ EXPECT_EQ(2 * 2, 4); }}\n"
        );
        fs::write(directory.path().join("unit.cpp"), text).unwrap();
        run(
            directory.path(),
            "g++",
            &[
                "-ffunction-sections",
                "-fdata-sections",
                "-fmerge-constants",
                "-c",
                "unit.cpp",
                "-o",
                "build/unit.o",
            ],
        );
        run(directory.path(), "g++", &["build/unit.o", "-lgtest_main", "-lgtest", "-o", "build/unit_test"]);
    };
    compile(2);
    let (before, _) = findings_again(directory.path(), &kept);
    compile(3);
    let (after, is_renewed) = findings_again(directory.path(), &kept);
    assert!(is_renewed);
    assert_eq!(after, findings(directory.path()));
    let changed: Vec<&str> =
        before.tests.iter().zip(&after.tests).filter(|(a, b)| a != b).map(|(a, _)| a.0.as_str()).collect();
    assert_eq!(changed, ["unit_test::Unit.Adds", "unit_test::runs"]);
}

/// A project of few files, of which each test changes one thing that only one check can see.
struct Small {
    directory: tempfile::TempDir,
    kept: Arc<MemoryCache>,
}

impl Small {
    fn new() -> Small {
        let small = Small { directory: tempfile::tempdir().unwrap(), kept: Arc::default() };
        for directory in ["build", "a", "b"] {
            fs::create_dir(small.path().join(directory)).unwrap();
        }
        small
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn compile(&self, source: &str, object: &str, text: &str) {
        fs::write(self.path().join(source), text).unwrap();
        let flags = ["-O0", "-ffunction-sections", "-fdata-sections", "-c", source, "-o", object];
        run(self.path(), "g++", &flags);
    }

    fn link(&self, objects: &[&str]) {
        run(self.path(), "g++", &[objects, &["-o", "build/program"]].concat());
    }

    /// The fingerprint of the program, and whether the analysis builds on the last one; it must find what one from
    /// scratch finds.
    fn analyse(&self) -> (Digest, bool) {
        let (again, is_renewed) = findings_again(self.path(), &self.kept);
        assert_eq!(again, findings(self.path()));
        (again.tests[0].1, is_renewed)
    }
}

impl Small {
    /// How many linked files are read in an analysis of what is old enough to be known again. It must find what one from
    /// scratch finds.
    fn images_read(&self) -> usize {
        std::thread::sleep(SETTLED);
        let build = self.path().join("build");
        let tree = scan_again(&build, self.kept.clone()).unwrap();
        let (again, is_renewed) = findings_of(&build, &tree, Given::default());
        assert!(again == findings(self.path()) && is_renewed);
        tree.images_read
    }
}

#[test]
fn a_program_that_was_found_as_it_was_is_not_read_again() {
    let small = Small::new();
    let build = |constant: u32, foreign: u32| {
        let text = format!("int foreign(); int main() {{ return foreign() + {constant}; }}\n");
        small.compile("main.cpp", "build/main.o", &text);
        small.compile("foreign.cpp", "foreign.o", &format!("int foreign() {{ return {foreign}; }}\n"));
        small.link(&["build/main.o", "foreign.o"]);
    };
    build(1, 1);
    std::thread::sleep(SETTLED);
    small.analyse();
    build(2, 1);
    assert_eq!([small.images_read(), small.images_read()], [1, 0], "only its own code differs");
    build(2, 2);
    assert_eq!([small.images_read(), small.images_read()], [1, 1], "foreign code differs from what is kept");
    build(3, 1);
    assert_eq!([small.images_read(), small.images_read()], [1, 0]);
}

#[test]
fn a_program_whose_objects_only_bytes_tell_is_read_again_until_it_is_kept() {
    let small = Small::new();
    small.compile("main.cpp", "build/main.o", "int variant(int); int main() { return variant(2); }\n");
    let compile = |object: &str, constant: u32| {
        let text = format!("int variant(int x) {{ return x + {constant}; }}\n");
        small.compile(&format!("{object}/variant.cpp"), &format!("build/{object}.o"), &text);
    };
    compile("a", 1);
    compile("b", 2);
    small.link(&["build/main.o", "build/a.o"]);
    std::thread::sleep(SETTLED);
    small.analyse();
    // The program is linked with what `a` is for a while; then `a` is again what was kept, and the program is not.
    compile("a", 3);
    small.link(&["build/main.o", "build/a.o"]);
    assert_eq!([small.images_read(), small.images_read()], [1, 1]);
    compile("a", 1);
    std::thread::sleep(SETTLED);
    small.analyse();
}

#[test]
fn a_symbol_of_foreign_code_with_another_name_is_seen() {
    let small = Small::new();
    small.compile("main.cpp", "build/main.o", "int foreign(int); int main() { return foreign(2); }\n");
    let build = |helper: &str| {
        let text = format!(
            "static int {helper}(int x) {{ return x * 5; }}\nint foreign(int x) {{ return {helper}(x); }}\n"
        );
        small.compile("foreign.cpp", "foreign.o", &text);
        small.link(&["build/main.o", "foreign.o"]);
        small.analyse()
    };
    let (before, _) = build("helper_a");
    let (after, is_renewed) = build("helper_b");
    assert!(before != after && !is_renewed);
}

/// Two objects that define the same function, with one of which the program is linked; then with the other.
fn is_other_variant_seen(first: &str, second: &str) -> bool {
    let small = Small::new();
    small.compile("main.cpp", "build/main.o", "int variant(int); int main() { return variant(2); }\n");
    // Sources of one name: linkers keep it.
    small.compile("a/variant.cpp", "build/a.o", first);
    small.compile("b/variant.cpp", "build/b.o", second);
    small.link(&["build/main.o", "build/a.o"]);
    let (before, _) = small.analyse();
    small.link(&["build/main.o", "build/b.o"]);
    let (after, _) = small.analyse();
    small.link(&["build/main.o", "build/a.o"]);
    before != after && small.analyse().0 == before
}

#[test]
fn another_object_in_a_program_is_seen_by_its_sizes() {
    let first = "int variant(int x) { return x + 1; }\n";
    assert!(is_other_variant_seen(first, "int variant(int x) { x *= 3; return x + 1; }\n"));
}

#[test]
fn another_object_of_the_same_sizes_is_seen_by_its_bytes() {
    let first = "int variant(int x) { return x + 1; }\n";
    assert!(is_other_variant_seen(first, "int variant(int x) { return x + 2; }\n"));
}

#[test]
fn code_that_an_object_no_longer_explains_is_foreign() {
    let small = Small::new();
    let compile = |body: &str| {
        let text = format!(
            "static int only_here(int x) {{ {body} return x; }}\nint main() {{ return only_here(2); }}\n"
        );
        small.compile("main.cpp", "build/main.o", &text);
    };
    compile("");
    small.link(&["build/main.o"]);
    let (before, _) = small.analyse();
    compile("x *= 3;");
    let (after, is_renewed) = small.analyse();
    assert!(before != after && is_renewed);
}

#[test]
fn a_function_of_another_size_leaves_its_object_in_the_program() {
    let small = Small::new();
    let build = |body: &str| {
        let text =
            format!("int only_here(int x) {{ {body} return x; }}\nint main() {{ return only_here(2); }}\n");
        small.compile("main.cpp", "build/main.o", &text);
        small.link(&["build/main.o"]);
        small.analyse()
    };
    let (before, _) = build("");
    let (after, is_renewed) = build("x *= 3;");
    assert!(before != after && is_renewed);
}
