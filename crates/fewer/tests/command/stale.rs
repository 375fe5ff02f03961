//! Builds that are older than their sources: no run and no selection, the program and the fix named. Times that mislead
//! are seen through where somebody knows better.

use crate::workshop::Project;

const TEST: &str = "#include <gtest/gtest.h>\nTEST(S, A) {}\n";

/// `run` and `select` alike end with 2, and say so.
#[track_caller]
fn refused(project: &Project, arguments: &[&str], words: &[&str]) {
    let builds = !arguments.contains(&"--no-build");
    let select = if builds { &["select", "--build"][..] } else { &["select"] };
    for command in [&["run"], select] {
        let message = project.fewer(&[command, arguments].concat()).refused(2);
        for words in words.iter().chain(&["is stale", "is not what the sources say", "--trust-build"]) {
            assert!(message.contains(words), "{command:?}: '{words}' is not in:\n{message}");
        }
    }
}

/// A CMake project with a test program that `all` leaves out, and a target that builds it.
fn left_out_of_all(generator: &str) -> Project {
    let project = Project::empty();
    project.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.18)\nproject(p CXX)\nenable_testing()\nfind_package(GTest REQUIRED)\n\
         add_library(core STATIC core.cpp)\nadd_executable(t EXCLUDE_FROM_ALL t.cpp)\n\
         target_link_libraries(t core GTest::gtest_main)\nadd_custom_target(tests DEPENDS t)\n\
         add_test(NAME t COMMAND t)\n",
    );
    project.write("core.cpp", "int core() { return 1; }\n");
    project.write("t.cpp", "#include <gtest/gtest.h>\nint core();\nTEST(S, A) { EXPECT_EQ(1, core()); }\n");
    project.write(".gitignore", "build/\n.fewer/\n");
    project.command("cmake", &["-G", generator, "-S", ".", "-B", "build"]);
    project.command("cmake", &["--build", "build", "--target", "all", "tests"]);
    project.commit_all();
    project
}

#[test]
fn a_target_that_the_build_command_does_not_build_is_stale_after_an_edit() {
    for generator in ["Ninja", "Unix Makefiles"] {
        let project = left_out_of_all(generator);
        project.write("fewer.toml", "build = \"cmake --build build\"\n");
        project.commit_all();
        project.settle();
        project.edit("t.cpp", "EXPECT_EQ(1", "EXPECT_EQ(2");
        let fix = "`cmake --build build --target t`";
        refused(&project, &[], &["the build of build/t is stale", "t.cpp is newer than", fix]);
        refused(&project, &["--all"], &["t.cpp is newer than"]);
        project.edit("t.cpp", "EXPECT_EQ(2", "EXPECT_EQ(1");
        project.fewer(&["run"]).expect(0);
        // Its library is built, and the program is not linked anew.
        project.edit("core.cpp", "return 1", "return 2");
        refused(&project, &[], &["the build of build/t is stale"]);
        project.write("fewer.toml", "build = \"cmake --build build --target all tests\"\n");
        project.fewer(&["run"]).expect(1);
    }
}

#[test]
fn a_program_is_not_stale_because_of_an_equal_object_of_another_one() {
    let project = Project::empty();
    project.write(".gitignore", "build/\n");
    project.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(p CXX)\nenable_testing()\n\
         foreach(name a b)\nadd_executable(${name} common.cpp ${name}.cpp)\n\
         target_link_libraries(${name} gtest gtest_main pthread)\nadd_test(NAME ${name} COMMAND ${name})\nendforeach()\n",
    );
    project.write("common.cpp", "int common() { return 1; }\n");
    for name in ["a", "b"] {
        let test = "#include <gtest/gtest.h>\nint common();\nTEST(S, T) { EXPECT_EQ(common(), 1); }\n";
        project.write(&format!("{name}.cpp"), test);
    }
    project.command("cmake", &["-S", ".", "-B", "build", "-G", "Unix Makefiles"]);
    project.commit_all();
    project.command("cmake", &["--build", "build", "--target", "a"]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    project.command("cmake", &["--build", "build"]);
    project.fewer(&["run"]).expect(0);
}

#[test]
fn init_and_the_doctor_find_what_all_does_not_build() {
    for generator in ["Ninja", "Unix Makefiles"] {
        let project = left_out_of_all(generator);
        let report = project.fewer(&["doctor", "--format", "json"]).json(0);
        let findings = report["findings"].as_array().unwrap();
        let finding = findings.iter().find(|finding| finding["id"] == "not-in-all").unwrap();
        assert_eq!(finding["examples"][0], "t", "{finding}");
        let said = project.fewer(&["init"]);
        assert!(said.stderr.contains("test programs that `all` does not build: 1"), "{}", said.stderr);
        let settings = std::fs::read_to_string(project.file("fewer.toml")).unwrap();
        assert!(settings.contains("build = \"cmake --build build --target all tests\"\n"), "{settings}");
        let report = project.fewer(&["doctor"]).expect(0);
        assert!(!report.contains("does not build"), "{report}");
        project.settle();
        project.edit("core.cpp", "return 1", "return 2");
        project.fewer(&["run"]).expect(1);
    }
}

#[test]
fn a_source_that_is_newer_than_its_object_is_refused_without_a_build() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.h", "width", "wide");
    refused(&project, &[], &["src/shape.h is newer than shape", "name the build command in fewer.toml"]);
    project.write("fewer.toml", "build = \"make -s\"\n");
    refused(&project, &["--no-build"], &["leave --no-build out"]);
    project.fewer(&["run", "--no-build", "--trust-build"]).expect(0);
    project.fewer(&["run"]).expect(0);
}

#[test]
fn outside_of_git_a_newer_source_is_seen_too() {
    let project = Project::small();
    project.command("rm", &["-rf", ".git"]);
    project.settle();
    project.edit("src/shape.cpp", "width * height", "height * width");
    refused(
        &project,
        &["--no-build"],
        &["src/shape.cpp is newer than shape.o", "the build of build/shape_test"],
    );
}

#[test]
fn without_dependency_files_the_source_is_known_by_the_name_of_its_object() {
    let project = Project::empty();
    project.write("t.cpp", TEST);
    project.write("used.h", "int used();\n");
    project.write("README.md", "about\n");
    project.write(".gitignore", "build/\n.fewer/\n");
    project.command("mkdir", &["build"]);
    let build = || {
        project.command("g++", &["-c", "t.cpp", "-o", "build/t.o"]);
        project.command("g++", &["build/t.o", "-o", "build/t", "-lgtest_main", "-lgtest", "-lpthread"]);
    };
    build();
    project.commit_all();
    project.settle();
    project.write("README.md", "more about it\n");
    project.settle();
    project.edit("t.cpp", "{}", "{ FAIL(); }");
    refused(&project, &[], &["t.cpp is newer than t.o"]);
    build();
    project.fewer(&["run"]).expect(1);
    // Whether it is in the program is written down nowhere.
    project.write("used.h", "int used(int);\n");
    refused(&project, &[], &["used.h is newer than everything that is built"]);
}

#[test]
fn a_checkout_with_newer_times_and_the_same_content_is_not_stale() {
    let project = Project::small();
    project.settle();
    project.command("touch", &["src/shape.cpp", "src/shape.h", "tests/shape_test.cpp", "build/shape.o"]);
    for command in ["run", "select"] {
        let ended = project.fewer(&[command]);
        assert!(!ended.stderr.contains("is newer than"), "{}", ended.stderr);
        ended.expect(0);
    }
    // What differs from the recorded commit is another matter.
    project.edit("src/shape.cpp", "width * height", "height * width");
    refused(&project, &[], &["src/shape.cpp is newer than shape.o"]);
}

#[test]
fn what_ninja_calls_fresh_is_not_stale() {
    let project = Project::empty();
    // The copy keeps the time of the object that it is a copy of, as from a cache.
    project.write(
        "build/build.ninja",
        "rule cc\n  command = test -f kept.o || g++ -MD -MF t.d -MT t.o -c ../t.cpp -o kept.o; cp -p kept.o t.o\n  depfile = t.d\n  \
         restat = 1\nrule link\n  command = g++ t.o -o t -lgtest_main -lgtest -lpthread\n\
         build t.o: cc ../t.cpp\nbuild t: link t.o\n",
    );
    project.write("fewer.toml", "build = \"ninja -C build\"\n");
    project.write("t.cpp", TEST);
    project.settle();
    project.command("touch", &["t.cpp"]);
    project.settle();
    assert!(project.output("ninja", &["-C", "build", "-n"]).contains("no work to do"));
    let newer = project.output("sh", &["-c", "test t.cpp -nt build/t.o && echo newer"]);
    assert_eq!(newer, "newer");
    project.settle();
}

#[test]
fn a_stale_object_that_no_test_can_reach_is_only_told() {
    let project = Project::small();
    project.write("tool.cpp", "int main() { return 0; }\n");
    project.command("g++", &["-MMD", "-c", "tool.cpp", "-o", "build/tool.o"]);
    project.command("g++", &["build/tool.o", "-o", "build/tool"]);
    project.settle();
    project.edit("tool.cpp", "return 0", "return 1");
    let run = project.fewer(&["run"]);
    assert!(run.stderr.contains("tool.cpp is newer than tool.o"), "{}", run.stderr);
    run.expect(0);
}
