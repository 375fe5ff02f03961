//! CTest entries whose properties, flags and variables decide about the verdict, and programs that are hard to find.
//! `CTestTestfile.cmake` is written by hand where CMake would only write the same.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Mutex;

use super::Row;
use crate::workshop::Project;

const GREEN: &str = "#include <gtest/gtest.h>\nTEST(S, A) {}\nTEST(S, B) {}\n";
const RED: &str = "#include <gtest/gtest.h>\nTEST(S, A) {}\nTEST(S, B) { FAIL(); }\n";
const ONCE: &str = "#include <gtest/gtest.h>\nstatic int runs;\nTEST(S, A) { EXPECT_EQ(1, ++runs); }\n";
const DISABLED: &str = "#include <gtest/gtest.h>\nTEST(S, A) {}\nTEST(S, DISABLED_B) { FAIL(); }\n";
const SLOW: &str =
    "#include <gtest/gtest.h>\n#include <unistd.h>\nTEST(S, A) {}\nTEST(S, Slow) { usleep(1500000); }\n";
const LEVEL: &str = "#include <gtest/gtest.h>\n#include <cstdlib>\n\
    TEST(S, Level) { const char* level = getenv(\"LEVEL\"); EXPECT_STREQ(\"1\", level ? level : \"\"); }\n";
/// Without GoogleTest: prints its arguments but the first, which is its exit code.
const PLAIN: &str = "#include <cstdio>\n#include <cstdlib>\nint main(int count, char** words) {\n\
    for (int i = 2; i < count; ++i) std::puts(words[i]);\n  return count > 1 ? std::atoi(words[1]) : 0; }\n";
/// Writes the file named first if there is a second argument, and otherwise needs it.
const FILE: &str = "#include <cstdio>\nint main(int count, char** words) {\n\
    std::FILE* file = std::fopen(words[1], count > 2 ? \"w\" : \"r\"); return file == nullptr; }\n";

/// A program `build/t` with these entries; in them `@` is the build directory.
fn program(source: &str, entries: &str) -> Row {
    let project = Project::empty();
    project.write(".gitignore", "build/\n.fewer/\n");
    build(&project, "t", source);
    declare(&project, entries);
    project.commit_all();
    Row::new(project, &["ctest", "--test-dir", "build"])
}

/// Each source is compiled once for all rows.
fn build(project: &Project, name: &str, source: &str) {
    static COMPILED: Mutex<Option<HashMap<String, PathBuf>>> = Mutex::new(None);
    let mut compiled = COMPILED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let compiled = compiled.get_or_insert_default();
    let place = compiled.len();
    let kept = compiled.entry(source.to_string()).or_insert_with(|| {
        let kept = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ctest-rows-{place}"));
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir_all(&kept).unwrap();
        fs::write(kept.join("t.cpp"), source).unwrap();
        let path = |name: &str| kept.join(name).to_str().unwrap().to_string();
        let (text, object, linked) = (path("t.cpp"), path("t.o"), path("t"));
        let flags = ["-std=c++17", "-ffunction-sections", "-fdata-sections", "-c", "-o", &object, &text];
        project.command("g++", &flags);
        let libraries: &[&str] =
            if source.contains("gtest.h") { &["-lgtest_main", "-lgtest", "-lpthread"] } else { &[] };
        project.command("g++", &[&["-o", &linked, &object], libraries].concat());
        kept
    });
    project.write(&format!("{name}.cpp"), source);
    fs::create_dir_all(project.file("build")).unwrap();
    fs::copy(kept.join("t.o"), project.file(&format!("build/{name}.o"))).unwrap();
    fs::copy(kept.join("t"), project.file(&format!("build/{name}"))).unwrap();
}

fn declare(project: &Project, entries: &str) {
    let build = project.file("build").canonicalize().unwrap();
    project.write("build/CTestTestfile.cmake", &entries.replace('@', build.to_str().unwrap()));
}

/// `add_test` for `t`, with these properties.
fn with(properties: &str) -> String {
    format!("add_test(t \"@/t\")\nset_tests_properties(t PROPERTIES {properties})\n")
}

#[test]
fn a_required_file_is_missing() {
    program(GREEN, &with("REQUIRED_FILES \"@/data.bin\"")).is_red(&["t::t", "S.A"]);
}

#[test]
fn a_required_file_is_there() {
    program(GREEN, &with("REQUIRED_FILES \"@/t.o\"")).is_green(&["t::t"]);
}

#[test]
fn a_program_takes_longer_than_its_entry_allows() {
    program(SLOW, &with("TIMEOUT 1")).is_red(&["t::t", "S.Slow"]);
}

#[test]
fn a_discovered_test_takes_longer_than_its_entry_allows() {
    let entries = "add_test(S.A \"@/t\" --gtest_filter=S.A)\nadd_test(S.Slow \"@/t\" --gtest_filter=S.Slow)\n\
                   set_tests_properties(S.A S.Slow PROPERTIES TIMEOUT 1)\n";
    program(SLOW, entries).is_red(&["t::S.Slow"]);
}

#[test]
fn a_discovered_test_may_take_longer_than_the_others() {
    let entries = "add_test(S.A \"@/t\" --gtest_filter=S.A)\nadd_test(S.Slow \"@/t\" --gtest_filter=S.Slow)\n\
                   set_tests_properties(S.A PROPERTIES TIMEOUT 1)\nset_tests_properties(S.Slow PROPERTIES TIMEOUT 9)\n";
    program(SLOW, entries).is_green(&["t::S.A", "t::S.Slow"]);
}

#[test]
fn a_time_limit_begins_with_what_is_printed() {
    let source = "#include <cstdio>\n#include <unistd.h>\nint main() { std::puts(\"waiting\"); std::fflush(stdout); usleep(1700000); }\n";
    program(source, &with("TIMEOUT_AFTER_MATCH \"1;waiting\"")).is_red(&["t::t"]);
}

#[test]
fn a_program_that_passes_is_expected_to_fail() {
    program(GREEN, &with("WILL_FAIL TRUE")).is_red(&["t::t", "S.A"]);
}

#[test]
fn a_program_that_fails_is_expected_to_fail() {
    program(RED, &with("WILL_FAIL TRUE")).is_green(&["t::t"]);
}

#[test]
fn an_exit_code_says_skipped() {
    let entries = "add_test(t \"@/t\" 77)\nset_tests_properties(t PROPERTIES SKIP_RETURN_CODE 77)\n";
    program(PLAIN, entries).is_green(&["t::t"]);
}

#[test]
fn an_exit_code_of_a_googletest_program_says_skipped() {
    let source = "#include <gtest/gtest.h>\nTEST(S, A) { exit(77); }\n";
    program(source, &with("SKIP_RETURN_CODE 77")).is_green(&["t::t"]);
}

#[test]
fn another_exit_code_than_that_of_a_skipped_test() {
    let entries = "add_test(t \"@/t\" 78)\nset_tests_properties(t PROPERTIES SKIP_RETURN_CODE 77)\n";
    program(PLAIN, entries).is_red(&["t::t"]);
}

#[test]
fn what_is_printed_says_skipped() {
    let entries = "add_test(t \"@/t\" 1 \"no network\")\nset_tests_properties(t PROPERTIES SKIP_REGULAR_EXPRESSION network)\n";
    program(PLAIN, entries).is_green(&["t::t"]);
}

#[test]
fn what_has_to_be_printed_is_not() {
    program(GREEN, &with("PASS_REGULAR_EXPRESSION \"all good\"")).is_red(&["t::t", "S.A"]);
}

#[test]
fn what_has_to_be_printed_is_although_tests_fail() {
    program(RED, &with("PASS_REGULAR_EXPRESSION \"1 FAILED TEST\"")).is_green(&["t::t"]);
}

#[test]
fn what_must_not_be_printed_is() {
    program(GREEN, &with("FAIL_REGULAR_EXPRESSION \"PASSED\"")).is_red(&["t::t", "S.A"]);
}

#[test]
fn a_fixture_cannot_be_set_up() {
    let entries = "add_test(up \"@/p\" 3)\nadd_test(t \"@/t\")\n\
                   set_tests_properties(up PROPERTIES FIXTURES_SETUP db)\n\
                   set_tests_properties(t PROPERTIES FIXTURES_REQUIRED db)\n";
    let row = program(GREEN, entries);
    build(&row.project, "p", PLAIN);
    row.is_red(&["t::t", "p::up", "S.A"]);
}

#[test]
fn a_fixture_cannot_be_cleaned_up() {
    let entries = "add_test(down \"@/p\" 3)\nadd_test(t \"@/t\")\n\
                   set_tests_properties(down PROPERTIES FIXTURES_CLEANUP db)\n\
                   set_tests_properties(t PROPERTIES FIXTURES_REQUIRED db)\n";
    let row = program(GREEN, entries);
    build(&row.project, "p", PLAIN);
    row.is_red(&["p::down"]);
}

#[test]
fn a_test_needs_what_the_one_it_depends_on_leaves() {
    let entries = "add_test(first \"@/t\" \"@/made\" w)\nadd_test(second \"@/t\" \"@/made\")\n\
                   set_tests_properties(second PROPERTIES DEPENDS first)\n";
    let row = program(FILE, entries);
    row.is_green(&["t::first", "t::second"]);
    // Whoever runs the second runs the first before it.
    fs::remove_file(row.project.file("build/made")).unwrap();
    declare(&row.project, &entries.replace("DEPENDS first", "DEPENDS first LABELS x ENVIRONMENT A=1"));
    assert_eq!(row.project.selected(), ["t::second"]);
    row.is_green(&["t::second"]);
}

#[test]
fn a_test_whose_dependency_fails_without_it() {
    let entries = "add_test(first \"@/t\" 1)\nadd_test(second \"@/t\" 0)\n\
                   set_tests_properties(second PROPERTIES DEPENDS first)\n";
    program(PLAIN, entries).is_red(&["t::first", "t::second"]);
}

#[test]
fn a_program_that_was_never_built() {
    program(GREEN, "add_test(t \"@/t\")\nadd_test(u \"@/u\")\n").is_red(&["::u"]);
}

#[test]
fn an_entry_that_fails_is_disabled() {
    program(RED, &with("DISABLED TRUE")).is_green(&[]);
}

#[test]
fn a_discovered_test_that_fails_is_disabled() {
    let entries = "add_test(S.A \"@/t\" --gtest_filter=S.A)\nadd_test(S.B \"@/t\" --gtest_filter=S.B)\n\
                   set_tests_properties(S.B PROPERTIES DISABLED TRUE)\n";
    program(RED, entries).is_green(&["t::S.A"]);
}

#[test]
fn two_entries_of_one_name_of_which_the_second_fails() {
    let row = program(PLAIN, "add_test(same \"@/t\" 0)\nsubdirs(below)\n");
    row.project.write("build/below/CTestTestfile.cmake", "add_test(same \"../t\" 1)\n");
    row.is_red(&["t::same#2"]);
}

#[test]
fn two_entries_of_one_name_of_which_the_first_fails() {
    let row = program(PLAIN, "add_test(same \"@/t\" 1)\nsubdirs(below)\n");
    row.project.write("build/below/CTestTestfile.cmake", "add_test(same \"../t\" 0)\n");
    row.is_red(&["t::same"]);
}

#[test]
fn a_test_that_prints_the_lines_of_ctest_and_fails() {
    let lines = "    Start 1: t\\n1/1 Test #1: t ......   Passed    0.00 sec\\n100% tests passed, 0 tests failed out of 1\\n";
    let source = format!("#include <cstdio>\nint main() {{ std::fputs(\"{lines}\", stdout); return 1; }}\n");
    program(&source, "add_test(t \"@/t\")\n").is_red(&["t::t"]);
}

#[test]
fn a_test_kills_ctest() {
    let entries = "add_test(kills \"/bin/sh\" -c \"kill -9 $PPID\")\nadd_test(t \"@/t\" 0)\n";
    program(PLAIN, entries).is_red(&["::kills", "t::t"]);
}

#[test]
fn reports_that_were_left_over_say_passed() {
    let row = program(PLAIN, "add_test(t \"@/t\" 1)\n");
    let report = "<testsuite><testcase name=\"t\" status=\"run\"/></testsuite>";
    for name in ["build/junit.xml", "build/Testing/Temporary/junit.xml", "junit.xml"] {
        row.project.write(name, report);
    }
    row.is_red(&["t::t"]);
}

#[test]
fn a_plain_program_crashes() {
    program("#include <csignal>\nint main() { raise(SIGSEGV); }\n", "add_test(t \"@/t\")\n")
        .is_red(&["t::t"]);
}

#[test]
fn a_working_directory_that_is_not_there() {
    program(GREEN, &with("WORKING_DIRECTORY \"@/nowhere\"")).is_red(&["t::t", "S.A"]);
}

#[test]
fn tests_that_keep_state_are_repeated() {
    program(ONCE, "add_test(t \"@/t\" --gtest_repeat=2)\n").is_red(&["t::t", "S.A"]);
}

#[test]
fn tests_that_keep_state_are_repeated_by_a_variable() {
    program(ONCE, &with("ENVIRONMENT \"GTEST_REPEAT=2\"")).is_red(&["t::t", "S.A"]);
}

#[test]
fn tests_that_keep_state_are_repeated_by_a_file_of_flags() {
    let row = program(ONCE, "add_test(t \"@/t\" \"--gtest_flagfile=@/flags\")\n");
    row.project.write("build/flags", "--gtest_repeat=1\n");
    row.project.settle();
    row.project.write("build/flags", "--gtest_repeat=2\n");
    row.is_red(&["t::t", "S.A"]);
}

#[test]
fn disabled_tests_run_too() {
    program(DISABLED, "add_test(t \"@/t\" --gtest_also_run_disabled_tests)\n").is_red(&["t::t"]);
}

#[test]
fn disabled_tests_run_too_by_a_variable() {
    program(DISABLED, &with("ENVIRONMENT \"GTEST_ALSO_RUN_DISABLED_TESTS=1\"")).is_red(&["t::t"]);
}

#[test]
fn a_disabled_test_has_an_entry_that_is_not() {
    let entries = "add_test(S.B \"@/t\" --gtest_filter=S.DISABLED_B --gtest_also_run_disabled_tests)\n";
    program(DISABLED, entries).is_red(&["t::S.B"]);
}

#[test]
fn the_test_that_fails_is_left_out_by_a_filter() {
    program(RED, "add_test(t \"@/t\" --gtest_filter=-*.B)\n").is_green(&["t::S.A"]);
}

#[test]
fn the_test_that_fails_is_left_out_by_a_variable() {
    program(RED, &with("ENVIRONMENT \"GTEST_FILTER=S.A\"")).is_green(&["t::t"]);
}

#[test]
fn a_filter_that_chooses_nothing() {
    program(RED, "add_test(t \"@/t\" --gtest_filter=T.*)\n").is_green(&["t::t"]);
}

#[test]
fn a_program_fails_in_the_second_of_two_environments() {
    let entries = "add_test(one \"@/t\")\nadd_test(two \"@/t\")\n\
                   set_tests_properties(one PROPERTIES ENVIRONMENT LEVEL=1)\n\
                   set_tests_properties(two PROPERTIES ENVIRONMENT LEVEL=2)\n";
    program(LEVEL, entries).is_red(&["t::two"]);
}

#[test]
fn a_program_passes_with_the_variables_of_its_entry_only() {
    program(LEVEL, &with("ENVIRONMENT LEVEL=0 ENVIRONMENT_MODIFICATION \"LEVEL=set:1\""))
        .is_green(&["t::S.Level"]);
}

#[test]
fn a_program_that_another_one_starts_passes_in_no_other_way() {
    let entries = "add_test(t \"/usr/bin/env\" LEVEL=1 \"@/t\")\n";
    program(LEVEL, entries).is_green(&["ctest::t"]);
}

#[test]
fn a_discovered_test_skips_itself() {
    let source = "#include <gtest/gtest.h>\nTEST(S, A) { GTEST_SKIP(); }\nTEST(S, B) {}\n";
    let entries = "add_test(S.A \"@/t\" --gtest_filter=S.A)\nadd_test(S.B \"@/t\" --gtest_filter=S.B)\n\
                   set_tests_properties(S.A S.B PROPERTIES SKIP_REGULAR_EXPRESSION \"\\\\[  SKIPPED \\\\]\")\n";
    program(source, entries).is_green(&["t::S.A", "t::S.B"]);
}

#[test]
fn a_program_fails_with_the_flags_of_the_second_of_two_entries() {
    program(ONCE, "add_test(one \"@/t\")\nadd_test(two \"@/t\" --gtest_repeat=2)\n").is_red(&["t::two"]);
}

#[test]
fn a_program_behind_a_link_that_an_entry_names() {
    let row = program(RED, "add_test(t \"@/linked\")\n");
    symlink("t", row.project.file("build/linked")).unwrap();
    row.is_red(&["t::S.B"]);
}

#[test]
fn a_program_behind_a_link_out_of_the_build() {
    let row = program(RED, "add_test(t \"@/t\")\n");
    fs::create_dir(row.project.file("elsewhere")).unwrap();
    fs::rename(row.project.file("build/t"), row.project.file("elsewhere/t")).unwrap();
    symlink("../elsewhere/t", row.project.file("build/t")).unwrap();
    row.is_red(&["t::S.B"]);
}

#[test]
fn a_program_that_may_no_longer_be_executed() {
    for entries in
        ["", "add_test(t \"@/t\")\n", &with("PROCESSORS 2 RUN_SERIAL TRUE"), &with("WILL_FAIL FALSE")]
    {
        let row = program(GREEN, entries);
        row.project.settle();
        let program = row.project.file("build/t");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
        row.stays_red(&["S.A", "t::t"]);
    }
}

#[test]
fn a_program_with_the_name_of_a_text() {
    for name in ["t.log", "t.txt", "my.unit.test.d", "foo.so.bin", "t.in"] {
        let row = program(RED, "");
        fs::rename(row.project.file("build/t"), row.project.file(&format!("build/{name}"))).unwrap();
        row.stays_red(&[&format!("{name}::S.B")]);
    }
}

#[test]
fn a_program_that_is_linked_statically_and_loaded_anywhere() {
    let row = program(RED, "add_test(t \"@/t\")\n");
    row.project.command("g++", &["-static-pie", "build/t.o", "-o", "build/t", "-lgtest_main", "-lgtest"]);
    row.is_red(&["t::S.B"]);
}

/// `main` and the tests are in a library of the build, or only the tests, or only `main`.
#[test]
fn a_program_with_its_tests_or_its_main_in_a_library() {
    let main = "#include <gtest/gtest.h>\nint run(int count, char** words) {\n\
                testing::InitGoogleTest(&count, words); return RUN_ALL_TESTS(); }\n";
    let start = "int run(int, char**);\nint main(int count, char** words) { return run(count, words); }\n";
    for (library, own) in
        [(&["tests.o", "run.o"][..], &[][..]), (&["tests.o"], &["run.o"]), (&["run.o"], &["tests.o"])]
    {
        let project = Project::empty();
        project.write(".gitignore", "build/\n.fewer/\n");
        fs::create_dir_all(project.file("build")).unwrap();
        for (name, text) in [("tests", RED), ("run", main), ("start", start)] {
            project.write(&format!("{name}.cpp"), text);
            let (text, object) = (format!("{name}.cpp"), format!("build/{name}.o"));
            project.command("g++", &["-fPIC", "-ffunction-sections", "-c", &text, "-o", &object]);
        }
        let linked =
            |objects: &[&str]| objects.iter().map(|object| format!("build/{object}")).collect::<Vec<_>>();
        let (library, own) = (linked(library).join(" "), linked(own).join(" "));
        // GoogleTest itself is in the library as well.
        let link = format!(
            "g++ -shared -o build/liball.so {library} -Wl,--whole-archive -lgtest -Wl,--no-whole-archive && \
             g++ -o build/t build/start.o {own} -Wl,--no-as-needed -Lbuild -lall -Wl,-rpath,'$ORIGIN'"
        );
        project.command("sh", &["-c", &link]);
        project.commit_all();
        Row::new(project, &["build/t"]).is_red(&["t::S.B"]);
    }
}

/// Everything an entry says about how its test is started or judged is part of the test.
#[test]
fn an_edit_of_an_entry_selects_its_tests() {
    let edits = [
        (SLOW, "TIMEOUT 60", "TIMEOUT 1", "t::t"),
        (GREEN, "ENVIRONMENT A=1", "ENVIRONMENT A=2", "t::S.A t::S.B"),
        (GREEN, "ENVIRONMENT GTEST_REPEAT=1", "ENVIRONMENT GTEST_REPEAT=2", "t::t"),
        (GREEN, "REQUIRED_FILES \"@/t.o\"", "REQUIRED_FILES \"@/none\"", "t::t"),
        (GREEN, "SKIP_RETURN_CODE 7", "SKIP_RETURN_CODE 8", "t::t"),
        (GREEN, "LABELS quick", "LABELS slow COST 7", ""),
    ];
    for (source, before, after, selected) in edits {
        let row = program(source, &with(before));
        row.project.settle();
        assert!(row.project.selected().is_empty(), "{before}");
        declare(&row.project, &with(after));
        assert_eq!(row.project.selected().join(" "), selected, "{before}");
    }
}

#[test]
fn a_required_file_that_changes_or_goes_selects_its_test() {
    let row = program(GREEN, &with("REQUIRED_FILES \"@/data\""));
    row.project.write("build/data", "7");
    row.project.settle();
    assert!(row.project.selected().is_empty());
    row.project.write("build/data", "8");
    assert_eq!(row.project.selected(), ["t::t"]);
    fs::remove_file(row.project.file("build/data")).unwrap();
    row.is_red(&["t::t"]);
}

#[test]
fn a_change_of_a_fixture_selects_what_requires_it() {
    let entries = "add_test(up \"@/p\" 0)\nadd_test(t \"@/t\")\nadd_test(u \"@/t\" 7)\n\
                   set_tests_properties(up PROPERTIES FIXTURES_SETUP db)\n\
                   set_tests_properties(t PROPERTIES FIXTURES_REQUIRED db)\n";
    let row = program(GREEN, entries);
    build(&row.project, "p", PLAIN);
    row.project.settle();
    assert!(row.project.selected().is_empty());
    build(&row.project, "p", FILE);
    assert_eq!(row.project.selected(), ["p::up", "t::t"]);
}

#[test]
fn discovered_tests_are_selected_one_by_one() {
    for mode in ["POST_BUILD", "PRE_TEST"] {
        let project = Project::empty();
        project.write(".gitignore", "build/\n.fewer/\n");
        project.write(
            "t.cpp",
            &format!("{GREEN}TEST(S, DISABLED_C) {{ FAIL(); }}\nTEST(Other, D) {{ FAIL(); }}\n"),
        );
        project.write(
            "CMakeLists.txt",
            &format!(
                "cmake_minimum_required(VERSION 3.18)\nproject(p CXX)\nenable_testing()\nfind_package(GTest REQUIRED)\n\
                 include(GoogleTest)\nadd_compile_options(-ffunction-sections -fdata-sections -fmerge-constants)\n\
                 add_executable(t t.cpp)\ntarget_link_libraries(t GTest::gtest_main)\n\
                 gtest_discover_tests(t DISCOVERY_MODE {mode} TEST_FILTER S.* PROPERTIES TIMEOUT 20 LABELS x)\n"
            ),
        );
        project.command("cmake", &["-S", ".", "-B", "build"]);
        project.command("cmake", &["--build", "build"]);
        project.commit_all();
        let row = Row::new(project, &["ctest", "--test-dir", "build"]);
        row.is_green(&["t::S.A", "t::S.B"]);
        row.project.edit("t.cpp", "TEST(S, B) {}", "TEST(S, B) { FAIL(); }");
        row.project.command("cmake", &["--build", "build"]);
        assert_eq!(row.project.selected(), ["t::S.B"], "{mode}");
        row.is_red(&["t::S.B"]);
    }
}
