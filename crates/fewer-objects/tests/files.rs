//! What the analysis makes of the files a build leaves: archives, shared libraries, programs without their
//! objects, code from elsewhere, files that are read. Real compilers and linkers; the language's features are
//! the contract suite's business.

mod listed;
mod memory_cache;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use fewer_core::{Digest, Mapping};
use fewer_objects::image::read_image;
use fewer_objects::reader::read_object;
use fewer_objects::{Analysis, Given, ListedTest, NamedDigest, NoCache, SummaryCache, scan};
use fewer_runners::{Cancel, TestProgram, googletest};
use tempfile::TempDir;

use listed::listed_test;
use memory_cache::MemoryCache;
use tools::run;

const FLAGS: [&str; 5] = ["-O0", "-ffunction-sections", "-fdata-sections", "-fmerge-constants", "-fPIC"];

const TESTS: &str = r#"
#include <gtest/gtest.h>
int answer(); int other();
TEST(Numbers, Answer) { EXPECT_EQ(answer(), 1); }
TEST(Numbers, Other) { EXPECT_EQ(other(), 2); }
"#;

/// Compiles a source text to an object in the directory.
fn compile(directory: &Path, compiler: &str, object: &str, source: &str, extra: &[&str]) {
    let name = format!("{}.cpp", object.trim_end_matches(".o").replace('/', "_"));
    fs::create_dir_all(directory.join("src")).unwrap();
    fs::create_dir_all(directory.join(object).parent().unwrap()).unwrap();
    fs::write(directory.join("src").join(&name), source).unwrap();
    let prefix_map = format!("-ffile-prefix-map={}=.", directory.display());
    let source_path = format!("src/{name}");
    let mut arguments: Vec<&str> = FLAGS.to_vec();
    arguments.extend([prefix_map.as_str(), "-c", &source_path, "-o", object]);
    arguments.extend(extra);
    run(directory, compiler, &arguments);
}

/// The compiled tests, made once: including GoogleTest's header is what costs.
fn compiled_tests() -> &'static Path {
    static TESTS_OBJECT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = TESTS_OBJECT.get_or_init(|| {
        let directory = TempDir::new().unwrap();
        compile(directory.path(), "g++", "tests.o", TESTS, &[]);
        let path = directory.path().join("tests.o");
        (directory, path)
    });
    path
}

/// A build directory with the compiled tests in it.
fn build() -> TempDir {
    let directory = TempDir::new().unwrap();
    fs::create_dir_all(directory.path().join("build")).unwrap();
    fs::copy(compiled_tests(), directory.path().join("build/tests.o")).unwrap();
    directory
}

fn link(directory: &Path, inputs: &[&str]) {
    link_with(directory, inputs, &[]);
}

fn link_with(directory: &Path, inputs: &[&str], flags: &[&str]) {
    let mut arguments = vec!["-o", "build/tests", "build/tests.o"];
    arguments.extend(inputs);
    arguments.extend(flags);
    arguments.extend(["-lgtest", "-lgtest_main", "-pthread"]);
    run(directory, "g++", &arguments);
}

fn number(name: &str, value: i32) -> String {
    format!("int {name}() {{ return {value}; }}\n")
}

/// The tests of `build/`, by name: fingerprint and mapping.
fn analyse_with(
    directory: &Path,
    given: Given,
    cache: &dyn SummaryCache,
) -> BTreeMap<String, (Digest, Mapping)> {
    let build = directory.join("build");
    let tree = scan(&build, cache).unwrap();
    let analysis = Analysis::of_build(&build, &tree, given);
    let mut tests = Vec::new();
    for target in analysis.targets().iter().filter(|target| target.has_googletest) {
        let program = TestProgram::new(&target.name, build.join(&target.name), &build);
        let listed = googletest::list(&program, Duration::from_secs(60), &Cancel::new()).unwrap();
        let listed: Vec<ListedTest> = listed.iter().map(listed_test).collect();
        tests.extend(analysis.googletest_tests(target, &listed));
    }
    let (graph, fingerprints) = analysis.into_graph(tests);
    graph
        .tests()
        .iter()
        .map(|test| (test.id.to_string(), (fingerprints.test(test), test.mapping.clone())))
        .collect()
}

fn analyse(directory: &Path) -> BTreeMap<String, (Digest, Mapping)> {
    analyse_with(directory, Given::default(), &NoCache)
}

/// The tests that differ, without their target.
fn differing(
    old: &BTreeMap<String, (Digest, Mapping)>,
    new: &BTreeMap<String, (Digest, Mapping)>,
) -> BTreeSet<String> {
    new.iter()
        .filter(|(id, (fingerprint, _))| old.get(*id).map(|(old, _)| old) != Some(fingerprint))
        .map(|(id, _)| id.rsplit("::").next().unwrap().to_string())
        .collect()
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| name.to_string()).collect()
}

#[test]
fn members_of_an_archive_are_objects_even_when_their_files_are_gone() {
    let directory = build();
    let path = directory.path();
    let archive = |answer: i32| {
        let _ = fs::remove_file(path.join("build/libnumbers.a"));
        compile(path, "g++", "build/answer.o", &number("answer", answer), &[]);
        compile(path, "g++", "build/other.o", &number("other", 2), &[]);
        run(path, "ar", &["rcs", "build/libnumbers.a", "build/answer.o", "build/other.o"]);
        fs::remove_file(path.join("build/answer.o")).unwrap();
        fs::remove_file(path.join("build/other.o")).unwrap();
        link(path, &["build/libnumbers.a"]);
        analyse(path)
    };
    let (old, new) = (archive(1), archive(3));
    assert_eq!(differing(&old, &new), names(&["Numbers.Answer"]));
}

#[test]
fn a_comment_in_a_program_that_counts_coverage_selects_nothing() {
    const COVERAGE: [&str; 2] = ["-fprofile-instr-generate", "-fcoverage-mapping"];
    let directory = build();
    let path = directory.path();
    compile(path, "clang++", "build/other.o", &number("other", 2), &COVERAGE);
    let program = |source: &str| {
        compile(path, "clang++", "build/answer.o", source, &COVERAGE);
        let objects = ["build/tests.o", "build/answer.o", "build/other.o"];
        let libraries = ["-lgtest", "-lgtest_main", "-pthread"];
        run(path, "clang++", &[&["-o", "build/tests", COVERAGE[0]], &objects[..], &libraries[..]].concat());
        analyse(path)
    };
    let old = program(&number("answer", 1));
    let commented = program(&format!("// What everything comes\n// down to.\n{}", number("answer", 1)));
    assert_eq!(differing(&old, &commented), names(&[]));
    let changed = program(&number("answer", 3));
    assert_eq!(differing(&old, &changed), names(&["Numbers.Answer"]));
}

#[test]
fn members_of_a_thin_archive_are_read_from_their_files() {
    let directory = build();
    let path = directory.path();
    let archive = |answer: i32| {
        compile(path, "g++", "build/answer.o", &number("answer", answer), &[]);
        compile(path, "g++", "build/other.o", &number("other", 2), &[]);
        let _ = fs::remove_file(path.join("build/libnumbers.a"));
        run(path, "ar", &["rcsT", "build/libnumbers.a", "build/answer.o", "build/other.o"]);
        link(path, &["build/libnumbers.a"]);
        analyse(path)
    };
    let (old, new) = (archive(1), archive(3));
    assert_eq!(differing(&old, &new), names(&["Numbers.Answer"]));
}

#[test]
fn a_shared_library_of_the_project_is_read_through_its_objects() {
    let directory = build();
    let path = directory.path();
    compile(path, "g++", "build/other.o", &number("other", 2), &[]);
    let library = |answer: i32| {
        compile(path, "g++", "build/answer.o", &number("answer", answer), &[]);
        run(path, "g++", &["-shared", "-o", "build/libanswer.so", "build/answer.o"]);
        link(path, &["build/other.o", "-Lbuild", "-lanswer", "-Wl,-rpath,$ORIGIN"]);
        analyse(path)
    };
    let old = library(1);
    let new = library(3);
    assert_eq!(differing(&old, &new), names(&["Numbers.Answer"]));
}

#[test]
fn a_library_that_is_opened_at_run_time_counts_for_the_tests_that_open_libraries() {
    let directory = build();
    let path = directory.path();
    let loader =
        "#include <dlfcn.h>\nint answer() { return dlopen(\"./plugin.so\", RTLD_NOW) != nullptr; }\n";
    compile(path, "g++", "build/answer.o", loader, &[]);
    compile(path, "g++", "build/other.o", &number("other", 2), &[]);
    let plugin = |value: i32| {
        compile(path, "g++", "plugin/plugin.o", &number("plugin", value), &[]);
        run(path, "g++", &["-shared", "-o", "build/plugin.so", "plugin/plugin.o"]);
        link(path, &["build/answer.o", "build/other.o"]);
        analyse(path)
    };
    let (old, new) = (plugin(1), plugin(2));
    assert_eq!(differing(&old, &new), names(&["Numbers.Answer"]));
}

#[test]
fn files_count_for_the_tests_that_can_open_files() {
    let directory = build();
    let path = directory.path();
    let reader =
        "#include <fstream>\nint answer() { int n = 0; std::ifstream(\"answer.txt\") >> n; return n; }\n";
    compile(path, "g++", "build/answer.o", reader, &[]);
    compile(path, "g++", "build/other.o", &number("other", 2), &[]);
    link(path, &["build/answer.o", "build/other.o"]);
    let with_file = |content: u128| {
        let files = vec![NamedDigest { name: "file answer.txt".into(), digest: Digest(content) }];
        analyse_with(path, Given { files, ..Given::default() }, &NoCache)
    };
    assert_eq!(differing(&with_file(1), &with_file(2)), names(&["Numbers.Answer"]));
    assert_eq!(differing(&with_file(1), &with_file(1)), names(&[]));
}

#[test]
fn a_declared_variable_counts_for_every_test() {
    let directory = build();
    let path = directory.path();
    compile(path, "g++", "build/numbers.o", &(number("answer", 1) + &number("other", 2)), &[]);
    link(path, &["build/numbers.o"]);
    let with_variable = |value: u128| {
        let variables = vec![NamedDigest { name: "variable MODE".into(), digest: Digest(value) }];
        analyse_with(path, Given { variables, ..Given::default() }, &NoCache)
    };
    assert_eq!(differing(&with_variable(1), &with_variable(2)), names(&["Numbers.Answer", "Numbers.Other"]));
}

#[test]
fn code_from_a_static_library_elsewhere_counts_for_every_test_and_only_when_it_changes() {
    let directory = build();
    let path = directory.path();
    let state = |elsewhere: i32, other: i32| {
        compile(path, "g++", "elsewhere/answer.o", &number("answer", elsewhere), &[]);
        let _ = fs::remove_file(path.join("elsewhere/libanswer.a"));
        run(path, "ar", &["rcs", "elsewhere/libanswer.a", "elsewhere/answer.o"]);
        // A longer function moves everything that is linked after it.
        let source = format!(
            "int other() {{ int n = {other}; for (int i = 0; i < {other}; ++i) n += i * i; return n; }}"
        );
        let source = if other == 2 { number("other", 2) } else { source };
        compile(path, "g++", "build/other.o", &source, &[]);
        link(path, &["build/other.o", "elsewhere/libanswer.a"]);
        analyse(path)
    };
    let old = state(1, 2);
    assert_eq!(differing(&old, &state(1, 2)), names(&[]));
    assert_eq!(differing(&old, &state(1, 7)), names(&["Numbers.Other"]));
    assert_eq!(differing(&old, &state(3, 2)), names(&["Numbers.Answer", "Numbers.Other"]));
}

/// A state of a project with a static library from elsewhere, each given by the sources of its objects.
fn with_library_from_elsewhere(
    directory: &Path,
    tools: &Tools<'_>,
    library: &[&str],
    own: &str,
) -> BTreeMap<String, (Digest, Mapping)> {
    let Tools { compiler, flags, link_flags } = tools;
    let _ = fs::remove_file(directory.join("elsewhere/library.a"));
    for (index, source) in library.iter().enumerate() {
        let object = format!("elsewhere/part{index}.o");
        compile(directory, compiler, &object, source, flags);
        run(directory, "ar", &["rcs", "elsewhere/library.a", &object]);
    }
    compile(directory, compiler, "build/own.o", own, &[]);
    link_with(directory, &["build/own.o", "elsewhere/library.a"], link_flags);
    analyse(directory)
}

/// How a library from elsewhere is compiled, and everything linked.
#[derive(Debug)]
struct Tools<'t> {
    compiler: &'t str,
    flags: &'t [&'t str],
    link_flags: &'t [&'t str],
}

impl<'t> Tools<'t> {
    fn compiler(compiler: &'t str, flags: &'t [&'t str]) -> Tools<'t> {
        Tools { compiler, flags, link_flags: &[] }
    }

    fn linker(link_flags: &'t [&'t str]) -> Tools<'t> {
        Tools { compiler: "g++", flags: &[], link_flags }
    }
}

/// What changes in a library from elsewhere.
struct LibraryChange<'c> {
    what: &'c str,
    library: &'c [&'c str],
    own: &'c str,
    /// A text of the library, and what takes its place.
    change: (&'c str, &'c str),
}

impl LibraryChange<'_> {
    /// The change selects everything.
    fn check(&self, tools: &Tools<'_>) {
        let all = names(&["Numbers.Answer", "Numbers.Other"]);
        assert_eq!(self.selected(tools), all, "{tools:?}: {}", self.what);
    }

    /// What the change selects. No change selects nothing.
    fn selected(&self, tools: &Tools<'_>) -> BTreeSet<String> {
        let LibraryChange { what, library, own, change: (old, new) } = self;
        let directory = build();
        let changed: Vec<String> = library.iter().map(|source| source.replace(old, new)).collect();
        assert_ne!(changed, *library, "{what}");
        let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
        let state = |library: &[&str]| with_library_from_elsewhere(directory.path(), tools, library, own);
        let before = state(library);
        assert_eq!(differing(&before, &state(library)), names(&[]), "{tools:?}: {what}");
        differing(&before, &state(&changed))
    }
}

const OTHER: &str = "int other() { return 2; }";

const CALLED_IN_LIBRARY: LibraryChange<'_> = LibraryChange {
    what: "which function is called",
    library: &["int foo() { return 1; } int bar() { return 2; } int answer() { return foo(); }"],
    own: OTHER,
    change: ("{ return foo", "{ return bar"),
};

const CALLED_IN_PROJECT: LibraryChange<'_> = LibraryChange {
    what: "which function is called of those that the project has, too",
    library: &["inline int foo() { return 1; } inline int bar() { return 2; }
        int both() { return foo() + bar(); } int answer() { return foo(); }"],
    own: "inline int foo() { return 1; } inline int bar() { return 2; } int other() { return foo() * bar(); }",
    change: ("answer() { return foo", "answer() { return bar"),
};

const CALLED_IN_SHARED_LIBRARY: LibraryChange<'_> = LibraryChange {
    what: "which function of a shared library is called",
    library: &["extern \"C\" { int getpid(); int getppid(); }
        int both() { return getpid() + getppid(); } int answer() { return getpid() > 0; }"],
    own: OTHER,
    change: ("return getpid() >", "return getppid() >"),
};

const COMPARED_IN_PROJECT: LibraryChange<'_> = LibraryChange {
    what: "the address of which function of the project is taken",
    library: &[
        "int foo(); int bar(); int answer() { int (*volatile p)() = foo; return p() + bar() - bar(); }",
    ],
    own: "int foo() { return 1; } int bar() { return 2; } int other() { return bar(); }",
    change: ("p)() = foo", "p)() = bar"),
};

const FUNCTION_IN_TABLE: LibraryChange<'_> = LibraryChange {
    what: "which function a variable leads to",
    library: &["int one() { return 1; } int two() { return 2; } int (*chosen)() = one;
        int answer() { return chosen(); }"],
    own: OTHER,
    change: ("chosen)() = one", "chosen)() = two"),
};

/// g++ gives the table that it makes of this a number for a name, clang++ no name at all.
const TABLE: LibraryChange<'_> = LibraryChange {
    what: "a table that has a number for a name",
    library: &["int chosen(int n) { switch (n) { case 0: return 11; case 1: return 7; case 2: return 19;
        case 3: return 4; case 4: return 8; case 5: return 23; } return 0; }
        int answer() { volatile int n = 1; return chosen(n); }"],
    own: OTHER,
    change: ("return 19", "return 18"),
};

#[test]
fn every_change_in_a_static_library_elsewhere_counts() {
    let cases = [
        CALLED_IN_LIBRARY,
        CALLED_IN_PROJECT,
        CALLED_IN_SHARED_LIBRARY,
        FUNCTION_IN_TABLE,
        COMPARED_IN_PROJECT,
        LibraryChange {
            what: "which variable is read",
            library: &["int table[2] = {1, 7}; int answer() { return table[0]; }"],
            own: OTHER,
            change: ("table[0]", "table[1]"),
        },
        LibraryChange {
            what: "a number without a name",
            library: &["double twice(double x) { return x * 1.5; } int answer() { return twice(2); }"],
            own: OTHER,
            change: ("1.5", "2.5"),
        },
        LibraryChange {
            what: "a text without a name",
            library: &["const char* text() { return \"alpha\"; } int answer() { return text()[1]; }"],
            own: OTHER,
            change: ("alpha", "omega"),
        },
        LibraryChange {
            what: "a text that a variable leads to",
            library: &["const char* text = \"alpha\"; int answer() { return text[1]; }"],
            own: OTHER,
            change: ("alpha", "omega"),
        },
        LibraryChange {
            what: "a variable that each thread has",
            library: &["thread_local int mine = 3; int answer() { return mine; }"],
            own: OTHER,
            change: ("mine = 3", "mine = 5"),
        },
        LibraryChange {
            what: "two functions of equal name and size, each for the other",
            library: &[
                "static int helper() { return 3; } int first() { return helper(); }",
                "int first(); static int helper() { return 5; } int answer() { return helper() * 2 + first(); }",
            ],
            own: OTHER,
            change: ("static int helper() { return ", "static int helper() { return 8 - "),
        },
        LibraryChange {
            what: "which of two variables is read that have numbers for names and start as zeros",
            library: &["int a __asm__(\"a.0\"), b __asm__(\"b.1\"); static int* both[] = {&a, &b};
                int answer() { return both[0] ? a : 1; }"],
            own: OTHER,
            change: ("? a :", "? b :"),
        },
        LibraryChange {
            what: "a place within a table of the project",
            library: &["extern int table[4]; int answer() { return table[1]; }"],
            own: "int table[4] = {1, 2, 3, 4}; int other() { return table[3] - 2; }",
            change: ("return table[1]", "return table[2]"),
        },
        LibraryChange {
            what: "a text of other letters",
            library: &[
                "const char* text() { return \"gr\\xc3\\xb6\\xc3\\x9f\" \"e ok\"; } int answer() { return text()[1]; }",
            ],
            own: OTHER,
            change: ("xb6", "xbc"),
        },
        LibraryChange {
            what: "what an initialiser is given",
            library: &[
                "#include <string>\nstd::string greeting = \"hello there\"; int answer() { return greeting[0]; }",
            ],
            own: OTHER,
            change: ("hello", "jello"),
        },
        LibraryChange {
            what: "one of two functions of equal name and size",
            library: &[
                "int seven() { return 7; } static int helper() { return seven(); } int first() { return helper(); }",
                "int first(); static int helper() { return 3; } int answer() { return helper() + first(); }",
            ],
            own: OTHER,
            change: ("return 3", "return 5"),
        },
        LibraryChange {
            what: "an initialiser beside one of the project of equal name and size",
            library: &[
                "int twice(int n) { return 2 * n; } int limit = twice(3); int answer() { return limit; }",
            ],
            own: "int thrice(int n) { return 3 * n; } int own = thrice(4); int other() { return own; }",
            change: ("twice(3)", "twice(5)"),
        },
    ];
    for compiler in ["g++", "clang++"] {
        cases.iter().for_each(|case| case.check(&Tools::compiler(compiler, &[])));
    }
    TABLE.check(&Tools::compiler("g++", &["-O2"]));
}

#[test]
fn what_code_from_elsewhere_calls_of_the_project_counts_for_every_test() {
    const LIBRARY: &str = "int helper(); int answer() { return helper(); }";
    for tools in
        [Tools::compiler("g++", &[]), Tools::compiler("clang++", &[]), Tools::linker(&["-fuse-ld=mold"])]
    {
        let directory = build();
        let state = |own: &str| with_library_from_elsewhere(directory.path(), &tools, &[LIBRARY], own);
        let before = state("int helper() { return 1; } int unused() { return 5; } int other() { return 2; }");
        let unused = state("int helper() { return 1; } int unused() { return 6; } int other() { return 2; }");
        assert_eq!(differing(&before, &unused), names(&[]), "{tools:?}");
        let helper = state("int helper() { return 3; } int unused() { return 6; } int other() { return 2; }");
        assert!(differing(&unused, &helper).contains("Numbers.Answer"), "{tools:?}");
    }
}

#[test]
fn whatever_links_them_addresses_of_a_static_library_elsewhere_are_followed() {
    for link_flags in [
        &["-fuse-ld=mold"][..],
        &["-fuse-ld=lld"],
        &["-Wl,-z,pack-relative-relocs"],
        &["-no-pie"],
        &["-Wl,-z,now"],
    ] {
        let tools = Tools::linker(link_flags);
        for case in [CALLED_IN_LIBRARY, CALLED_IN_PROJECT, CALLED_IN_SHARED_LIBRARY, FUNCTION_IN_TABLE] {
            case.check(&tools);
        }
    }
}

/// A known limit: see docs/cpp.md.
#[test]
fn short_texts_of_a_static_library_elsewhere_are_not_compared() {
    let change = LibraryChange {
        what: "a text of three letters",
        library: &["const char* text() { return \"abc\"; } int answer() { return text()[1]; }"],
        own: OTHER,
        change: ("abc", "xyz"),
    };
    assert_eq!(change.selected(&Tools::compiler("g++", &[])), names(&[]));
}

/// A known limit: see docs/cpp.md.
#[test]
fn tables_without_a_symbol_of_a_static_library_elsewhere_are_not_compared() {
    assert_eq!(TABLE.selected(&Tools::compiler("clang++", &["-O2"])), names(&[]));
}

/// Known limits: see docs/cpp.md.
#[test]
fn what_has_no_symbol_to_be_compared_by_is_not_compared_in_a_static_library_elsewhere() {
    const UNSEEN: [LibraryChange<'_>; 4] = [
        LibraryChange {
            what: "the type that a catch names",
            library: &["struct One { int n; }; struct Two { int n; };
                int thrown(int n) { if (n == 1) throw One{1}; throw Two{2}; }
                int both(int n) { try { return thrown(n); } catch (One& one) { return one.n; } catch (Two& two) { return two.n; } }
                int answer() { volatile int n = 1; try { return thrown(n); } catch (const One& one) { return one.n; } }"],
            own: OTHER,
            change: ("const One&", "const Two&"),
        },
        LibraryChange {
            what: "which functions run before main",
            library: &["int n = 1; __attribute__((constructor)) void set() { n = 7; } int answer() { return n; }"],
            own: OTHER,
            change: ("constructor", "used"),
        },
        LibraryChange {
            what: "a text of wide characters",
            library: &["const wchar_t* text() { return L\"some text\"; } int answer() { return text()[2]; }"],
            own: OTHER,
            change: ("some", "same"),
        },
        LibraryChange {
            what: "code of a symbol without kind and size",
            library: &["asm(\".globl number\\n.text\\nnumber: movl $7, %eax\\nret\\n\");
                extern \"C\" int number(); int answer() { return number(); }"],
            own: OTHER,
            change: ("$7", "$9"),
        },
    ];
    for change in UNSEEN {
        assert_eq!(change.selected(&Tools::compiler("g++", &[])), names(&[]), "{}", change.what);
    }
}

#[test]
fn a_static_library_elsewhere_is_the_same_wherever_it_is_linked_to() {
    const LIBRARY: &str = "#include <cstdio>\n#include <string>\n
        static const char* const names[] = {\"one\", \"two\", \"three\"};\n
        static std::string text = \"some text that is not short\";\n
        double scaled(double x) { return x * 1.25 + 3.5; }\n
        int chosen(int n) { switch (n) { case 0: return 5; case 1: puts(\"first\"); return 7; case 2: return n * 3;
            case 3: return 9; case 4: puts(names[n % 3]); return 2; case 5: return scaled(n); case 6: return 11; } return n; }\n
        int answer() { return chosen(text.size()) > 0 ? 1 : 0; }\n";
    let longer =
        "int squares[9]; int other() { for (int n = 0; n < 9; ++n) squares[n] = n * n + 1000000007 % (n + 1);
        int sum = 0; for (int n : squares) sum += n; return sum > 0 ? 2 : 3; }";
    for tools in [
        Tools::compiler("g++", &["-O2"]),
        Tools::compiler("clang++", &["-O2"]),
        Tools::compiler("g++", &["-O0"]),
        Tools::linker(&["-fuse-ld=mold"]),
        Tools::linker(&["-fuse-ld=lld"]),
        Tools::linker(&["-no-pie"]),
    ] {
        let directory = build();
        let state = |own| with_library_from_elsewhere(directory.path(), &tools, &[LIBRARY], own);
        let before = state(OTHER);
        assert_eq!(differing(&before, &state(longer)), names(&["Numbers.Other"]), "{tools:?}");
    }
}

#[test]
fn relocations_in_a_form_that_is_not_read_make_the_object_count_as_a_whole() {
    const COMPACT: [&str; 3] = ["-Wa,--crel", "-Wa,--allow-experimental-crel", "-w"];
    let directory = TempDir::new().unwrap();
    compile(directory.path(), "clang++-22", "compact.o", "int f(); int g() { return f(); }", &COMPACT);
    let summary = read_object(&fs::read(directory.path().join("compact.o")).unwrap());
    assert!(summary.is_opaque(), "{:?}", summary.notes);
    assert!(summary.notes[0].contains("CREL"), "{:?}", summary.notes);
}

#[test]
fn tests_whose_objects_are_gone_are_unmapped() {
    let directory = build();
    let path = directory.path();
    compile(path, "g++", "build/numbers.o", &(number("answer", 1) + &number("other", 2)), &[]);
    link(path, &["build/numbers.o"]);
    fs::remove_file(path.join("build/tests.o")).unwrap();
    let tests = analyse(path);
    assert_eq!(tests.len(), 2);
    for (id, (_, mapping)) in tests {
        assert!(matches!(mapping, Mapping::Unmapped { .. }), "{id}: {mapping:?}");
    }
}

#[test]
fn a_program_older_than_its_objects_is_not_trusted() {
    let directory = build();
    let path = directory.path();
    compile(path, "g++", "build/numbers.o", &(number("answer", 1) + &number("other", 2)), &[]);
    link(path, &["build/numbers.o"]);
    let fresh = analyse(path);
    assert!(fresh.values().all(|(_, mapping)| *mapping == Mapping::Mapped));
    std::thread::sleep(Duration::from_millis(20));
    compile(path, "g++", "build/numbers.o", &(number("answer", 5) + &number("other", 2)), &[]);
    let stale = analyse(path);
    for (id, (fingerprint, mapping)) in &stale {
        let Mapping::Unmapped { cause } = mapping else { panic!("{id} is trusted") };
        assert!(cause.contains("numbers.o"), "{cause}");
        assert_ne!(fingerprint, &fresh[id].0);
    }
    link(path, &["build/numbers.o"]);
    assert_eq!(differing(&fresh, &analyse(path)), names(&["Numbers.Answer"]));
}

#[test]
fn a_stripped_program_is_compared_as_a_whole() {
    let directory = build();
    let path = directory.path();
    let state = |answer: i32| {
        compile(path, "g++", "build/numbers.o", &(number("answer", answer) + &number("other", 2)), &[]);
        link(path, &["build/numbers.o", "-s"]);
        analyse(path)
    };
    let old = state(1);
    assert_eq!(old.len(), 2);
    assert_eq!(differing(&old, &state(1)), names(&[]));
    assert_eq!(differing(&old, &state(3)), names(&["Numbers.Answer", "Numbers.Other"]));
}

#[test]
fn an_object_that_cannot_be_read_counts_for_every_test_as_a_whole() {
    let directory = build();
    let path = directory.path();
    compile(path, "g++", "build/other.o", &number("other", 2), &[]);
    let state = |answer: i32| {
        let slim = ["-flto", "-fno-fat-lto-objects"];
        compile(path, "g++", "build/answer.o", &number("answer", answer), &slim);
        run(
            path,
            "g++",
            &[
                "-flto",
                "-o",
                "build/tests",
                "build/tests.o",
                "build/answer.o",
                "build/other.o",
                "-lgtest",
                "-lgtest_main",
                "-pthread",
            ],
        );
        let tree = scan(&path.join("build"), &NoCache).unwrap();
        let analysis = Analysis::of_build(&path.join("build"), &tree, Given::default());
        assert!(analysis.notes().iter().any(|note| note.contains("answer.o") && note.contains("of gcc")));
        analyse(path)
    };
    let (old, new) = (state(1), state(3));
    assert_eq!(differing(&old, &new), names(&["Numbers.Answer", "Numbers.Other"]));
}

/// Writes the relocations of every section of an object in the opposite order.
fn with_relocations_reversed(object: &[u8]) -> Vec<u8> {
    const HEADER: usize = 64;
    const ENTRY: usize = 24;
    const RELA: usize = 4;
    let number = |at: usize, bytes: usize| {
        (0..bytes).fold(0, |number, byte| number | usize::from(object[at + byte]) << (8 * byte))
    };
    let (table, count) = (number(0x28, 8), number(0x3c, 2));
    let mut reversed = object.to_vec();
    for header in (0..count).map(|section| table + section * HEADER).filter(|at| number(at + 4, 4) == RELA) {
        let (start, size) = (number(header + 0x18, 8), number(header + 0x20, 8));
        let entries = object[start..start + size].chunks(ENTRY).rev().flatten().copied();
        reversed.splice(start..start + size, entries);
    }
    reversed
}

#[test]
fn the_order_in_which_relocations_are_written_does_not_matter() {
    let object = fs::read(compiled_tests()).unwrap();
    let reversed = with_relocations_reversed(&object);
    assert_ne!(reversed, object);
    let summary = read_object(&object);
    assert!(!summary.is_opaque() && !summary.references.is_empty());
    assert_eq!(read_object(&reversed), summary);
}

/// An assembled object.
fn assembled(source: &str) -> Vec<u8> {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("a.s"), source).unwrap();
    run(directory.path(), "as", &["a.s", "-o", "a.o"]);
    fs::read(directory.path().join("a.o")).unwrap()
}

#[test]
fn loaded_data_counts_in_a_section_that_calls_itself_relocations() {
    const RELA: u32 = 4;
    let table = |number: u32| {
        let section = format!(".section .klp.rela.x,\"a\",@{RELA}");
        assembled(&format!("{section}\n.globl table\ntable: .quad 1, 2, {number}\n"))
    };
    let content = |object: &[u8]| {
        let summary = read_object(object);
        let symbol = summary.symbols.iter().find(|symbol| summary.name(symbol.name) == b"table").unwrap();
        summary.elements[symbol.element as usize].content
    };
    assert_eq!(content(&table(3)), content(&table(3)));
    assert_ne!(content(&table(3)), content(&table(4)));
}

#[test]
fn a_program_without_sections_is_told_of() {
    const SECTION_FIELDS: [std::ops::Range<usize>; 2] = [0x28..0x30, 0x3c..0x40];
    let mut program = fs::read("/bin/true").unwrap();
    assert_eq!(read_image(&program).note, None);
    SECTION_FIELDS.into_iter().for_each(|field| program[field].fill(0));
    let note = read_image(&program).note.unwrap();
    assert!(note.contains("no table of sections"), "{note}");
}

#[test]
fn two_directories_give_the_same_fingerprints() {
    let state = || {
        let directory = build();
        let path = directory.path();
        let source = "#include <cassert>\nint answer() { assert(__FILE__[0] != 'x'); return 1; }\nint other() { return 2; }\n";
        compile(path, "g++", "build/numbers.o", source, &[]);
        link(path, &["build/numbers.o"]);
        analyse(path)
    };
    assert_eq!(state(), state());
}

#[test]
fn googletest_built_by_the_project_does_not_connect_its_tests() {
    let directory = build();
    let path = directory.path();
    let include = ["-I/usr/src/googletest/googletest"];
    compile(
        path,
        "g++",
        "build/gtest-all.o",
        "#include \"src/gtest-all.cc\"\n#include \"src/gtest_main.cc\"\n",
        &include,
    );
    let state = |answer: i32, more: &str| {
        compile(path, "g++", "build/numbers.o", &(number("answer", answer) + &number("other", 2)), &[]);
        let source = format!("#include <gtest/gtest.h>\nTEST(More, One) {{ EXPECT_TRUE(true); }}\n{more}");
        compile(path, "g++", "build/more.o", &source, &[]);
        run(
            path,
            "g++",
            &[
                "-o",
                "build/tests",
                "build/tests.o",
                "build/numbers.o",
                "build/more.o",
                "build/gtest-all.o",
                "-pthread",
            ],
        );
        analyse(path)
    };
    let old = state(1, "");
    assert_eq!(old.len(), 3);
    assert_eq!(differing(&old, &state(3, "")), names(&["Numbers.Answer"]));
    assert_eq!(differing(&old, &state(1, "TEST(More, Two) { EXPECT_TRUE(true); }")), names(&["More.Two"]));
}

#[test]
fn an_object_that_was_written_again_is_read_although_its_size_and_time_are_as_before() {
    let directory = build();
    let path = directory.path();
    let cache = MemoryCache::default();
    compile(path, "g++", "build/answer.o", &number("answer", 1), &[]);
    compile(path, "g++", "build/other.o", &number("other", 2), &[]);
    link(path, &["build/answer.o", "build/other.o"]);
    // Times are trusted only once they cannot stand for another content.
    std::thread::sleep(Duration::from_millis(2200));
    let old = analyse_with(path, Given::default(), &cache);

    let object = path.join("build/other.o");
    let modified = fs::metadata(&object).unwrap().modified().unwrap();
    let length = fs::metadata(&object).unwrap().len();
    compile(path, "g++", "build/other.o", &number("other", 3), &[]);
    fs::File::options().write(true).open(&object).unwrap().set_modified(modified).unwrap();
    let metadata = fs::metadata(&object).unwrap();
    assert_eq!((metadata.modified().unwrap(), metadata.len()), (modified, length), "it looks the same");
    assert_eq!(
        differing(&old, &analyse_with(path, Given::default(), &cache)),
        differing(&old, &analyse(path)),
        "the changed object is read"
    );
    assert_eq!(differing(&old, &analyse(path)), names(&["Numbers.Other"]));

    assert_eq!(scan(&path.join("build"), &cache).unwrap().files_read, 0);
}

#[test]
fn incremental_analysis_reads_what_changed_and_equals_one_from_scratch() {
    let directory = build();
    let path = directory.path();
    let cache = MemoryCache::default();
    let state = |answer: i32| {
        compile(path, "g++", "build/answer.o", &number("answer", answer), &[]);
        compile(path, "g++", "build/other.o", &number("other", 2), &[]);
        link(path, &["build/answer.o", "build/other.o"]);
        let read = scan(&path.join("build"), &cache).unwrap().files_read;
        let incremental = analyse_with(path, Given::default(), &cache);
        assert_eq!(incremental, analyse(path));
        read
    };
    assert_eq!(state(1), 3, "all objects");
    assert_eq!(state(1), 0);
    assert_eq!(state(3), 1, "one object");
}
