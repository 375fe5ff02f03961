//! GoogleTest programs that crash, lie, leak, fork, or name two tests alike.

use super::Row;
use crate::workshop::Project;

/// A program `build/t` of one source; with GoogleTest's `main` unless it has its own.
fn program(source: &str) -> Row {
    program_of(&[("t.cpp", source)], &[])
}

fn program_of(sources: &[(&str, &str)], flags: &[&str]) -> Row {
    let project = Project::empty();
    project.write(".gitignore", "build/\n.fewer/\n");
    std::fs::create_dir_all(project.file("build")).unwrap();
    let mut objects = Vec::new();
    for (name, text) in sources {
        project.write(name, text);
        objects.push(compile(&project, name, flags));
    }
    let has_main = sources.iter().any(|(_, text)| text.contains("int main("));
    let main: &[&str] = if has_main { &[] } else { &["-lgtest_main"] };
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    link(&project, &objects, main);
    project.commit_all();
    Row::new(project, &["build/t"])
}

fn compile(project: &Project, name: &str, flags: &[&str]) -> String {
    let object = format!("build/{}", name.replace(".cpp", ".o"));
    let compile = ["-std=c++17", "-ffunction-sections", "-fdata-sections", "-c", name, "-o", &object];
    project.command("g++", &[&compile[..], flags].concat());
    object
}

fn link(project: &Project, objects: &[&str], main: &[&str]) {
    project.command("g++", &[objects, &["-o", "build/t"], main, &["-lgtest", "-lpthread"]].concat());
}

#[test]
fn two_tests_of_one_name_of_which_one_fails() {
    let a = "#include <gtest/gtest.h>\nnamespace { TEST(S, Same) { EXPECT_EQ(1, 2); } }\n";
    let b = "#include <gtest/gtest.h>\nnamespace { TEST(S, Same) {} TEST(S, Other) {} }\n";
    program_of(&[("a.cpp", a), ("b.cpp", b)], &[]).is_red(&["t::S.Same"]);
}

/// The beginning of every source.
const HEAD: &str = "#include <gtest/gtest.h>\n#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n";

fn source(text: &str) -> Row {
    program(&format!("{HEAD}{text}"))
}

const FORGED: &str = r#"std::puts("[       OK ] S.A (0 ms)\n[ RUN      ] S.B\n[       OK ] S.B (0 ms)\n[----------] 2 tests from S (0 ms total)\n\n[==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 2 tests."); std::fflush(stdout);"#;

#[test]
fn a_test_prints_the_lines_of_a_green_run_and_leaves_with_0() {
    source(&format!("TEST(S, A) {{ {FORGED} _exit(0); }}\nTEST(S, B) {{ FAIL(); }}\n"))
        .stays_red(&["t::S.A", "t::S.B"]);
}

#[test]
fn a_test_prints_the_lines_of_a_green_run_and_another_fails() {
    source(&format!("TEST(S, A) {{ {FORGED} }}\nTEST(S, B) {{ FAIL(); }}\n")).is_red(&["t::S.B"]);
}

#[test]
fn a_passing_test_prints_the_lines_of_a_failed_run() {
    source(
        r#"TEST(S, A) { std::puts("x.cpp:1: Failure\n[  FAILED  ] S.A (0 ms)\n[==========] 1 test ran.\n[  FAILED  ] S: SetUpTestSuite or TearDownTestSuite"); }
TEST(S, B) {}"#,
    )
    .is_green(&["t::S.A", "t::S.B"]);
}

#[test]
fn lines_of_a_failed_run_at_the_end_of_main_with_exit_code_0() {
    source(
        r#"TEST(S, A) {}
int main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv); int code = RUN_ALL_TESTS();
  std::puts("[  FAILED  ] 1 test, listed below:\n[  FAILED  ] S.A\n\n 1 FAILED TEST"); return code; }"#,
    )
    .is_green(&["t::S.A"]);
}

#[test]
fn a_silent_program_leaves_with_0_from_within_a_test() {
    source(
        "TEST(S, A) { _exit(0); }\nTEST(S, B) { FAIL(); }\n\
         int main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv);\n\
         auto& l = testing::UnitTest::GetInstance()->listeners(); delete l.Release(l.default_result_printer());\n\
         return RUN_ALL_TESTS(); }",
    )
    .stays_red(&["t::S.A", "t::S.B"]);
}

#[test]
fn a_silent_program_passes() {
    source(
        "TEST(S, A) {}\nTEST(S, B) {}\n\
         int main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv);\n\
         auto& l = testing::UnitTest::GetInstance()->listeners(); delete l.Release(l.default_result_printer());\n\
         return RUN_ALL_TESTS(); }",
    )
    .is_green(&["t::S.A", "t::S.B"]);
}

#[test]
fn a_program_that_says_and_reports_nothing_passes() {
    source(
        "TEST(S, A) {}\n\
         int main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv);\n\
         auto& l = testing::UnitTest::GetInstance()->listeners(); delete l.Release(l.default_result_printer());\n\
         delete l.Release(l.default_xml_generator()); return RUN_ALL_TESTS(); }",
    )
    .is_green(&["t::S.A"]);
}

#[test]
fn a_program_that_says_and_reports_nothing_fails() {
    source(
        "TEST(S, A) {}\nTEST(S, B) { FAIL(); }\n\
         int main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv);\n\
         auto& l = testing::UnitTest::GetInstance()->listeners(); delete l.Release(l.default_result_printer());\n\
         delete l.Release(l.default_xml_generator()); return RUN_ALL_TESTS(); }",
    )
    .is_red(&["t::S.B"]);
}

#[test]
fn a_program_that_refuses_flags_passes() {
    source(
        "TEST(S, A) {}\nint main(int argc, char** argv) { if (argc > 1) { std::fprintf(stderr, \"unknown flag\\n\"); return 2; }\n\
         testing::InitGoogleTest(&argc, argv); return RUN_ALL_TESTS(); }",
    )
    .is_green(&["t::*"]);
}

#[test]
fn a_program_that_refuses_flags_leaves_with_0_from_within_a_test() {
    source(
        "TEST(S, A) { _exit(0); }\nTEST(S, B) { FAIL(); }\n\
         int main(int argc, char** argv) { if (argc > 1) return 2;\n\
         testing::InitGoogleTest(&argc, argv); return RUN_ALL_TESTS(); }",
    )
    .stays_red(&["t::*"]);
}

#[test]
fn a_program_that_refuses_flags_fails() {
    source(
        "TEST(S, A) { FAIL(); }\nint main(int argc, char** argv) { if (argc > 1) return 2;\n\
         testing::InitGoogleTest(&argc, argv); return RUN_ALL_TESTS(); }",
    )
    .is_red(&["t::*"]);
}

/// The clock, replaced by one that shows what the function `now` says.
fn clock(now: &str) -> String {
    format!(
        "{HEAD}#include <sys/time.h>\n#include <ctime>\nstatic long now() {{ {now} }}\n\
         extern \"C\" int clock_gettime(clockid_t, struct timespec* t) noexcept {{ t->tv_sec = now(); t->tv_nsec = 0; return 0; }}\n\
         extern \"C\" int gettimeofday(struct timeval* t, void*) noexcept {{ t->tv_sec = now(); t->tv_usec = 0; return 0; }}\n\
         extern \"C\" time_t time(time_t* t) noexcept {{ if (t) *t = now(); return now(); }}\n"
    )
}

#[test]
fn a_clock_of_1970_and_a_failure() {
    let tests = "TEST(S, A) {}\nTEST(S, B) { EXPECT_EQ(1, 2); }\n";
    program(&format!("{}{tests}", clock("return 0;"))).is_red(&["t::S.B"]);
}

#[test]
fn a_clock_that_jumps_to_1970_and_a_failure() {
    let tests = "TEST(S, A) {}\nTEST(S, B) { EXPECT_EQ(1, 2); }\nTEST(S, C) { FAIL(); }\n";
    let now = "static long calls = 0; return ++calls < 6 ? 1700000000 : 0;";
    program(&format!("{}{tests}", clock(now))).is_red(&["t::S.B", "t::S.C"]);
}

#[test]
fn a_clock_of_1970_and_no_failure() {
    program(&format!("{}TEST(S, A) {{}}\nTEST(S, B) {{}}\n", clock("return 0;")))
        .is_green(&["t::S.A", "t::S.B"]);
}

const LEAK_AT_EXIT: &str = "static bool leaks = false;\n\
     struct Checker { ~Checker() { if (leaks) { std::fputs(\"leak\\n\", stderr); _exit(23); } } } checker;\n";

#[test]
fn a_leak_at_exit_is_not_hidden_by_a_failure() {
    source(&format!("{LEAK_AT_EXIT}TEST(S, Leaks) {{ leaks = true; }}\nTEST(S, Fails) {{ FAIL(); }}\n"))
        .is_red(&["t::S.Leaks", "t::S.Fails"]);
}

#[test]
fn a_leak_at_exit_is_not_hidden_by_a_crash() {
    source(&format!("{LEAK_AT_EXIT}TEST(S, Leaks) {{ leaks = true; }}\nTEST(S, Dies) {{ std::abort(); }}\n"))
        .is_red(&["t::S.Leaks", "t::S.Dies"]);
}

#[test]
fn a_leak_stays_red_when_the_failure_beside_it_is_mended() {
    let text = |body: &str| {
        format!(
            "{HEAD}{LEAK_AT_EXIT}TEST(S, Leaks) {{ leaks = true; }}\nTEST(S, Fails) {{ EXPECT_EQ(1, {body}); }}\n"
        )
    };
    let row = program(&text("2"));
    row.is_red(&["t::S.Leaks", "t::S.Fails"]);
    row.project.write("t.cpp", &text("1"));
    compile(&row.project, "t.cpp", &[]);
    link(&row.project, &["build/t.o"], &["-lgtest_main"]);
    row.is_red(&["t::S.Leaks"]);
}

#[test]
fn main_returns_1_although_every_test_passes() {
    source(
        "TEST(S, A) {}\nint main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv); RUN_ALL_TESTS(); return 1; }",
    )
    .is_red(&["t::S.A"]);
}

#[test]
fn main_returns_0_although_a_test_fails() {
    source(
        "TEST(S, A) { FAIL(); }\nint main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv); (void)RUN_ALL_TESTS(); return 0; }",
    )
    .stays_red(&["t::S.A"]);
}

#[test]
fn a_thread_of_an_earlier_test_aborts_in_a_later_one() {
    source(
        "#include <thread>\n#include <chrono>\n\
         TEST(S, A) { std::thread([] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); std::abort(); }).detach(); }\n\
         TEST(S, B) { std::this_thread::sleep_for(std::chrono::milliseconds(600)); }\n",
    )
    .is_red(&["t::S.A"]);
}

#[test]
fn a_forked_child_returns_from_main_and_writes_a_report_later() {
    source(
        "#include <sys/wait.h>\nstatic bool is_child = false;\n\
         TEST(S, A) { if (fork() == 0) is_child = true; }\n\
         TEST(S, B) { if (is_child) usleep(300000); else FAIL(); }\n",
    )
    .is_red(&["t::S.B"]);
}

#[test]
fn a_forked_child_fails_and_the_parent_waits_for_it() {
    source(
        "#include <sys/wait.h>\n\
         TEST(S, A) { pid_t child = fork(); if (child == 0) { FAIL(); } else { int status; waitpid(child, &status, 0); EXPECT_EQ(status, 0); } }\n\
         TEST(S, B) {}\n",
    )
    .is_red(&["t::S.A"]);
}

#[test]
fn a_forked_child_runs_on_while_the_parent_leaves_with_0() {
    source("TEST(S, A) { if (fork() != 0) _exit(0); }\nTEST(S, B) { usleep(300000); }\n")
        .stays_red(&["t::S.A", "t::S.B"]);
}

/// The report is complete and was written before the process ended, and GoogleTest's mark of a premature exit is gone: nothing
/// tells that another process did so.
#[test]
fn limit_a_forked_child_that_has_run_everything_passes_for_its_parent() {
    source(
        "#include <sys/wait.h>\n\
         TEST(S, A) { int status; pid_t child = fork(); if (child > 0) { waitpid(child, &status, 0); _exit(0); } }\n\
         TEST(S, B) {}\n",
    )
    .is_green(&["t::S.A", "t::S.B"]);
}

#[test]
fn a_report_that_a_test_wrote_itself() {
    source(
        "#include <string>\n#include <fstream>\n\
         TEST(S, A) { std::string path = testing::GTEST_FLAG(output).substr(5); std::ofstream(path) << \"{\\\"testsuites\\\": [{\\\"name\\\": \\\"S\\\", \\\"testsuite\\\": [{\\\"name\\\": \\\"A\\\", \\\"status\\\": \\\"RUN\\\", \\\"result\\\": \\\"COMPLETED\\\"}]}]}\"; _exit(0); }\n",
    )
    .stays_red(&["t::S.A"]);
}

#[test]
fn a_report_that_is_cut_off() {
    source(
        "#include <string>\n\
         struct Cut { ~Cut() { std::string path = testing::GTEST_FLAG(output); if (path.size() > 5) { if (truncate(path.substr(5).c_str(), 40)) {} } } } cut;\n\
         TEST(S, A) {}\nTEST(S, B) { FAIL(); }\n",
    )
    .is_red(&["t::S.B"]);
}

#[test]
fn a_set_up_of_a_suite_fails() {
    source(
        "struct F : testing::Test { static void SetUpTestSuite() { FAIL(); } };\nTEST_F(F, A) {}\nTEST(S, B) {}\n",
    )
    .is_red(&["t::F.A"]);
}

#[test]
fn a_tear_down_of_a_suite_fails_beside_a_failed_test() {
    source(
        "struct F : testing::Test { static void TearDownTestSuite() { ADD_FAILURE(); } };\n\
         TEST_F(F, A) {}\nTEST(S, B) { FAIL(); }\n",
    )
    .is_red(&["t::F.A", "t::S.B"]);
}

#[test]
fn a_global_environment_fails_to_be_torn_down() {
    source(
        "struct E : testing::Environment { void TearDown() override { ADD_FAILURE(); } };\n\
         TEST(S, A) {}\n\
         int main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv); testing::AddGlobalTestEnvironment(new E); return RUN_ALL_TESTS(); }",
    )
    .is_red(&["t::S.A"]);
}

#[test]
fn a_listener_adds_a_failure() {
    source(
        "struct L : testing::EmptyTestEventListener { void OnTestEnd(const testing::TestInfo& t) override { if (std::string(t.name()) == \"A\") ADD_FAILURE(); } };\n\
         TEST(S, A) {}\nTEST(S, B) {}\n\
         int main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv); testing::UnitTest::GetInstance()->listeners().Append(new L); return RUN_ALL_TESTS(); }",
    )
    .is_red(&["t::S.A"]);
}

#[test]
fn a_crash_when_globals_are_destroyed() {
    source("struct G { ~G() { std::abort(); } } g;\nTEST(S, A) {}\n").is_red(&["t::S.A"]);
}

#[test]
fn a_name_that_is_no_text() {
    source(
        "struct T : testing::Test { bool ok; explicit T(bool ok) : ok(ok) {} void TestBody() override { EXPECT_TRUE(ok); } };\n\
         int main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv);\n\
         testing::RegisterTest(\"S\", \"a\\xff\\xfe\", nullptr, nullptr, __FILE__, __LINE__, []() -> testing::Test* { return new T(true); });\n\
         return RUN_ALL_TESTS(); }",
    )
    .is_green(&["t::S.a\u{FFFD}\u{FFFD}"]);
}

#[test]
fn two_names_that_are_no_text_and_look_alike_of_which_one_fails() {
    source(
        "struct T : testing::Test { bool ok; explicit T(bool ok) : ok(ok) {} void TestBody() override { EXPECT_TRUE(ok); } };\n\
         int main(int argc, char** argv) { testing::InitGoogleTest(&argc, argv);\n\
         testing::RegisterTest(\"S\", \"a\\xff\", nullptr, nullptr, __FILE__, __LINE__, []() -> testing::Test* { return new T(false); });\n\
         testing::RegisterTest(\"S\", \"a\\xfe\", nullptr, nullptr, __FILE__, __LINE__, []() -> testing::Test* { return new T(true); });\n\
         return RUN_ALL_TESTS(); }",
    )
    .is_red(&["t::S.a\u{FFFD}"]);
}

/// Tests that share a directory, each of which takes half a second, so that they are divided among processes.
const SHARED_DIRECTORY: &str = "#include <sys/stat.h>\n#include <cerrno>\n\
     struct Shared : testing::Test { void SetUp() override { ASSERT_EQ(mkdir(\"scratch\", 0700), 0) << errno; }\n\
     void TearDown() override { rmdir(\"scratch\"); } };\n\
     TEST_F(Shared, A) { usleep(700000); }\nTEST_F(Shared, B) { usleep(700000); }\nTEST_F(Shared, C) { usleep(700000); }\n";

#[test]
fn tests_that_share_a_directory_do_not_fail_by_being_divided() {
    let row = source(SHARED_DIRECTORY).arguments(&["--all", "--jobs", "4"]);
    row.is_green(&["t::Shared.A", "t::Shared.B", "t::Shared.C"]);
}

#[test]
fn a_test_that_needs_the_one_before_it_does_not_fail_by_being_selected_alone() {
    let text = |number: &str| {
        format!(
            "{HEAD}static int state = 0;\nTEST(S, A) {{ state = 1; }}\n\
             TEST(S, B) {{ int expected = {number}; EXPECT_EQ(state * expected, expected); }}\n"
        )
    };
    let row = program(&text("2"));
    row.is_green(&["t::S.A", "t::S.B"]);
    row.project.write("t.cpp", &text("3"));
    compile(&row.project, "t.cpp", &[]);
    link(&row.project, &["build/t.o"], &["-lgtest_main"]);
    row.is_green(&["t::S.A", "t::S.B"]);
}

#[test]
fn a_test_that_breaks_one_behind_it_is_seen() {
    source("static int state = 0;\nTEST(S, A) { state = 1; }\nTEST(S, B) { EXPECT_EQ(state, 0); }\n")
        .is_red(&["t::S.B"]);
}

#[test]
fn a_test_hangs_and_another_fails() {
    source("TEST(S, A) { sleep(60); }\nTEST(S, B) { FAIL(); }\nTEST(S, C) {}\n")
        .is_red(&["t::S.A", "t::S.B"]);
}

#[test]
fn a_test_closes_standard_output_and_another_fails() {
    source("TEST(S, A) { close(1); close(2); }\nTEST(S, B) { FAIL(); }\n").is_red(&["t::S.B"]);
}
