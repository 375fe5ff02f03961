//! CMake with Ninja and with Makefiles, CTest entries, AutoMake. Plain Make is what the other tests use.

use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use crate::workshop::{Project, ended, lines};

const TEST: &str = "#include <gtest/gtest.h>\n#include <stdlib.h>\nint twice(int);\n\
    TEST(Twice, OfTwo) { EXPECT_EQ(4, twice(2)); }\n\
    TEST(Twice, Mode) { const char* mode = getenv(\"MODE\"); EXPECT_TRUE(!mode || mode[0] == 'f'); }\n";
const LIBRARY: &str = "int twice(int x) { return 2 * x; }\n";

fn cmake_project() -> Project {
    let project = Project::empty();
    project.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.18)\nproject(p CXX)\nenable_testing()\nfind_package(GTest REQUIRED)\n\
         add_compile_options(-ffunction-sections -fdata-sections -fmerge-constants)\n\
         add_library(twice STATIC twice.cpp)\n\
         add_executable(unit unit.cpp)\ntarget_link_libraries(unit twice GTest::gtest_main)\n\
         add_test(NAME unit COMMAND unit)\nset_tests_properties(unit PROPERTIES ENVIRONMENT MODE=fast)\n\
         add_executable(plain plain.cpp)\ntarget_link_libraries(plain twice)\n\
         add_test(NAME plain_one COMMAND plain 1)\nadd_test(NAME plain_two COMMAND plain 2)\n\
         add_test(NAME script COMMAND sh -c \"exit 0\")\n\
         add_executable(tool tool.cpp)\n",
    );
    project.write("twice.cpp", LIBRARY);
    project.write("unit.cpp", TEST);
    project.write(
        "plain.cpp",
        "int twice(int);\nint main(int argc, char**) { return twice(argc) == 4 ? 0 : 1; }\n",
    );
    project.write("tool.cpp", "#include <fstream>\nint main() { std::ofstream(\"started\"); return 1; }\n");
    project
}

#[track_caller]
fn built_and_selected(project: &Project) -> Vec<String> {
    lines(&project.fewer(&["select", "--build"]).expect(0))
}

#[test]
fn cmake_with_ninja_and_ctest_entries() {
    let project = cmake_project();
    project.command("cmake", &["-G", "Ninja", "-S", ".", "-B", "build"]);
    project.command("cmake", &["--build", "build"]);
    project.write("fewer.toml", "build = \"cmake --build build\"\n");
    let all =
        ["ctest::script", "plain::plain_one", "plain::plain_two", "unit::Twice.Mode", "unit::Twice.OfTwo"];
    assert_eq!(built_and_selected(&project), all);
    project.settle();
    assert!(!project.file("build/started").exists() && !project.file("started").exists());
    // It cannot be seen what a script does, so it runs every time.
    assert_eq!(built_and_selected(&project), ["ctest::script"]);
    let why = project.fewer(&["why", "script"]).expect(0);
    assert!(why.contains("always runs: CTest starts sh, which is not a program of the build"), "{why}");
    project.edit("twice.cpp", "2 * x", "x > 99 ? 0 : 2 * x");
    assert_eq!(
        built_and_selected(&project),
        ["ctest::script", "plain::plain_one", "plain::plain_two", "unit::Twice.OfTwo"]
    );
    project.settle();
    let affected = lines(&project.fewer(&["affected", "plain.cpp"]).expect(0));
    assert_eq!(affected, ["ctest::script", "plain::plain_one", "plain::plain_two"]);
    project.write("fewer.toml", "build = \"cmake --build build\"\nexclude = [\"ctest::script\"]\n");
    assert!(built_and_selected(&project).is_empty(), "an entry of CTest is left alone by its id");
    project.write("fewer.toml", "build = \"cmake --build build\"\n");
    how_a_test_is_started_is_part_of_it(&project);
}

#[test]
fn programs_that_ctest_never_runs_side_by_side_run_one_after_the_other() {
    let project = Project::empty();
    project.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.18)\nproject(p CXX)\nenable_testing()\nfind_package(GTest REQUIRED)\n\
         add_library(port OBJECT test.cpp)\nforeach(name one two three)\nadd_executable(${name} $<TARGET_OBJECTS:port>)\n\
         target_link_libraries(${name} GTest::gtest_main)\nadd_test(NAME ${name} COMMAND ${name})\nendforeach()\n\
         set_tests_properties(one two PROPERTIES RESOURCE_LOCK port)\n\
         set_tests_properties(three PROPERTIES RUN_SERIAL TRUE)\n",
    );
    project.write(
        "test.cpp",
        "#include <gtest/gtest.h>\n#include <sys/stat.h>\n#include <unistd.h>\n\
         TEST(Port, Opens) { ASSERT_EQ(0, mkdir(\"port\", 0700)); usleep(400000); ASSERT_EQ(0, rmdir(\"port\")); }\n",
    );
    project.command("cmake", &["-G", "Ninja", "-S", ".", "-B", "build"]);
    project.command("cmake", &["--build", "build"]);
    let ran = project.fewer(&["run", "--jobs", "4"]).expect(0);
    assert!(ran.contains("3 ran (3 passed)"), "{ran}");
}

fn how_a_test_is_started_is_part_of_it(project: &Project) {
    project.edit("CMakeLists.txt", "MODE=fast", "MODE=slow");
    project.edit("CMakeLists.txt", "COMMAND plain 2", "COMMAND plain 2 3");
    assert_eq!(
        built_and_selected(project),
        ["ctest::script", "plain::plain_two", "unit::Twice.Mode", "unit::Twice.OfTwo"]
    );
    let why = project.fewer(&["why", "OfTwo"]).expect(0);
    assert!(
        why.contains("how the test is started (working directory, environment, arguments) changed"),
        "{why}"
    );
    let failed = project.fewer(&["run"]).expect(1);
    assert!(failed.contains("FAILED unit::Twice.Mode"), "{failed}");
    assert!(failed.contains("FAILED plain::plain_two"), "{failed}");
}

/// CMake deletes what Ninja does not make any more; somebody puts it back.
#[test]
fn a_program_whose_target_was_deleted_is_named_and_not_run() {
    for generator in ["Ninja", "Unix Makefiles"] {
        let project = cmake_project();
        project.edit("CMakeLists.txt", "add_test(NAME unit", "add_executable(old old.cpp)\n\
            target_link_libraries(old GTest::gtest_main)\nset_target_properties(old PROPERTIES RUNTIME_OUTPUT_DIRECTORY \
            ${CMAKE_BINARY_DIR}/bin)\nadd_test(NAME unit");
        project.write("old.cpp", "#include <gtest/gtest.h>\nTEST(Old, Works) { SUCCEED(); }\n");
        project.command("cmake", &["-G", generator, "-S", ".", "-B", "build"]);
        project.command("cmake", &["--build", "build"]);
        assert!(built_and_selected(&project).contains(&"bin/old::Old.Works".to_string()), "{generator}");
        let log = std::fs::read(project.file("build/.ninja_log"));
        project.command("cp", &["build/bin/old", "kept"]);
        project.edit("CMakeLists.txt", "add_executable(old", "#");
        project.edit("CMakeLists.txt", "target_link_libraries(old", "#");
        project.edit("CMakeLists.txt", "set_target_properties(old", "#");
        project.command("cmake", &["--build", "build"]);
        project.command("cp", &["kept", "build/bin/old"]);
        log.into_iter().for_each(|log| std::fs::write(project.file("build/.ninja_log"), log).unwrap());
        let ended = project.fewer(&["select", "--trust-build"]);
        assert!(
            ended.stderr.contains("bin/old: the build does not make it any more"),
            "{generator}: {}",
            ended.stderr
        );
        assert!(!ended.expect(0).contains("old"), "{generator}");
        project.edit(
            "CMakeLists.txt",
            "add_test(NAME unit",
            "add_test(NAME old COMMAND ${CMAKE_BINARY_DIR}/bin/old)\nadd_test(NAME unit",
        );
        project.command("cmake", &["-S", ".", "-B", "build"]);
        project.command("cp", &["kept", "build/bin/old"]);
        assert!(
            lines(&project.fewer(&["select", "--trust-build"]).expect(0))
                .contains(&"bin/old::Old.Works".to_string()),
            "CTest starts it"
        );
    }
}

#[test]
fn cmake_with_makefiles() {
    let project = cmake_project();
    project.command("cmake", &["-G", "Unix Makefiles", "-S", ".", "-B", "cmake-build-debug"]);
    project.command("cmake", &["--build", "cmake-build-debug"]);
    project.settle();
    assert_eq!(built_and_selected(&project), ["ctest::script"]);
    project.edit("twice.cpp", "2 * x", "x > 99 ? 0 : 2 * x");
    project.command("cmake", &["--build", "cmake-build-debug"]);
    assert_eq!(
        built_and_selected(&project),
        ["ctest::script", "plain::plain_one", "plain::plain_two", "unit::Twice.OfTwo"]
    );
    let affected = lines(&project.fewer(&["affected", "twice.cpp"]).expect(0));
    assert!(affected.contains(&"unit::Twice.OfTwo".to_string()), "{affected:?}");
    assert!(!affected.contains(&"unit::Twice.Mode".to_string()), "{affected:?}");
}

fn automake_project() -> Project {
    let project = Project::empty();
    project.write(
        "configure.ac",
        "AC_INIT([p], [1])\nAM_INIT_AUTOMAKE([foreign subdir-objects])\nAC_PROG_CXX\nAM_PROG_AR\nAC_PROG_RANLIB\n\
         AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    );
    project.write(
        "Makefile.am",
        "AM_CXXFLAGS = -O0 -g0 -ffunction-sections -fdata-sections -fmerge-constants\nnoinst_LIBRARIES = libtwice.a\n\
         libtwice_a_SOURCES = src/twice.cpp\nnoinst_PROGRAMS = unit\nunit_SOURCES = tests/unit.cpp\n\
         LDADD = libtwice.a -lgtest_main -lgtest -lpthread\nTESTS = unit\n",
    );
    project.write("src/twice.cpp", LIBRARY);
    project.write("tests/unit.cpp", TEST);
    project
}

#[test]
fn automake_in_the_source_tree() {
    let project = automake_project();
    project.command("autoreconf", &["--install"]);
    project.command("./configure", &["-q"]);
    project.write("fewer.toml", "build = \"make -s\"\n");
    project.commit_all();
    assert_eq!(built_and_selected(&project), ["unit::Twice.Mode", "unit::Twice.OfTwo"]);
    project.settle();
    assert!(built_and_selected(&project).is_empty());
    project.edit("src/twice.cpp", "2 * x", "x > 99 ? 0 : 2 * x");
    assert_eq!(built_and_selected(&project), ["unit::Twice.OfTwo"]);
    assert_eq!(lines(&project.fewer(&["affected", "src/twice.cpp"]).expect(0)), ["unit::Twice.OfTwo"]);
}

#[test]
fn the_doctor_speaks_of_flags_in_the_words_of_cmake() {
    let project = cmake_project();
    project.edit("CMakeLists.txt", "-ffunction-sections -fdata-sections -fmerge-constants", "-O0");
    project.command("cmake", &["-G", "Ninja", "-S", ".", "-B", "build"]);
    project.command("cmake", &["--build", "build"]);
    let report = project.fewer(&["doctor"]).expect(0);
    assert!(
        report.contains("fix in CMake: add_compile_options(-ffunction-sections -fdata-sections)"),
        "{report}"
    );
    assert!(!report.contains("CXXFLAGS"), "{report}");
}

#[test]
fn the_doctor_speaks_of_flags_in_the_words_of_automake() {
    let project = automake_project();
    project.edit("Makefile.am", "-ffunction-sections -fdata-sections -fmerge-constants", "");
    project.command("autoreconf", &["--install"]);
    project.command("./configure", &["-q"]);
    project.command("make", &["-s"]);
    let report = project.fewer(&["doctor"]).expect(0);
    assert!(
        report.contains("fix in AutoMake: AM_CXXFLAGS += -ffunction-sections -fdata-sections\n"),
        "{report}"
    );
    assert!(!report.contains("add_compile_options") && !report.contains("fix in Make:"), "{report}");
}

#[test]
fn what_only_ctest_knows_is_selected_where_nothing_can_be_written() {
    let project = Project::empty();
    let text = "cmake_minimum_required(VERSION 3.13)\nproject(scripts NONE)\nenable_testing()\n\
                add_test(NAME checks COMMAND sh ${CMAKE_SOURCE_DIR}/check.sh)\nadd_test(NAME other COMMAND true)\n";
    project.write("CMakeLists.txt", text);
    project.write("check.sh", "exit 0\n");
    project.write(".gitignore", "build/\n.fewer/\n");
    project.commit_all();
    project.command("cmake", &["-B", "build"]);
    project.write("build/CTestCustom.cmake", "set(CTEST_CUSTOM_TESTS_IGNORE other)\n");
    let here = project.fewer(&["select"]).expect(0);
    assert!(here.contains("ctest::checks"), "{here}");
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    if is_root {
        project.command("chown", &["-R", "65534:65534", "."]);
    }
    project.command("chmod", &["-R", "a-w", "."]);
    let fewer = env!("CARGO_BIN_EXE_fewer");
    let mut command = Command::new(if is_root { "setpriv" } else { fewer });
    if is_root {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", fewer]);
    }
    command.arg("select").current_dir(project.path()).env("HOME", project.path()).stdin(Stdio::null());
    let selected = ended(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    project.command("chmod", &["-R", "u+w", "."]);
    assert_eq!(selected.expect(0), here);
}
