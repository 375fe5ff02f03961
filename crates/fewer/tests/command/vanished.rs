//! Tests that were recorded and are gone: named, and no green where none of a program, a module or a language is left.

use crate::workshop::{Project, TESTS, lines};

const GONE: [&str; 3] =
    ["shape_test::Shape.Area", "shape_test::Shape.DISABLED_Volume", "shape_test::Shape.Perimeter"];

/// The small project with everything recorded, and without its program shape_test.
fn without_a_program() -> Project {
    let project = Project::small();
    project.settle();
    project.command("rm", &["build/shape_test", "build/shape_test.o"]);
    project
}

#[track_caller]
fn refused(project: &Project, arguments: &[&str], words: &[&str]) {
    let message = project.fewer(arguments).refused(2);
    for words in words {
        assert!(message.contains(words), "'{words}' is not in:\n{message}");
    }
}

#[test]
fn a_program_that_is_gone_is_no_green() {
    let project = without_a_program();
    for arguments in [&["run"][..], &["select"], &["run", "--all"], &["run", "--format", "json"], &["run"]] {
        refused(
            &project,
            arguments,
            &["all tests of shape_test (3) are gone", GONE[0], GONE[1], "fewer forget shape_test"],
        );
    }
}

#[test]
fn a_disappearance_that_is_allowed_once_is_quiet_from_then_on() {
    let project = without_a_program();
    let select = project.fewer(&["select", "--allow-vanished", "--format", "json"]).json(0);
    let notes = select["notes"].as_array().unwrap().iter();
    assert!(notes.clone().any(|note| note.as_str().unwrap().contains(GONE[1])), "{select}");
    refused(&project, &["run"], &["shape_test"]);
    let run = project.fewer(&["run", "--allow-vanished"]);
    assert!(run.stderr.contains("3 tests that were recorded at commit"), "{}", run.stderr);
    run.expect(0);
    for _ in 0..2 {
        let run = project.fewer(&["run"]);
        assert!(!run.stderr.contains("shape_test"), "{}", run.stderr);
        run.expect(0);
    }
}

#[test]
fn a_program_that_is_forgotten_is_not_missed() {
    let project = without_a_program();
    refused(&project, &["forget", "no_such_test"], &["no recorded test or program is called 'no_such_test'"]);
    let said = project.fewer(&["forget", "shape_test"]).expect(0);
    assert!(said.contains(&GONE.join("\n")) && said.contains("3 tests are forgotten"), "{said}");
    project.settle();
    project.settle();
    // What comes back is missed again.
    project.make();
    project.settle();
    project.command("rm", &["build/shape_test"]);
    refused(&project, &["run"], &["all tests of shape_test (3) are gone"]);
    let said = project.fewer(&["forget", "Shape.*", "--format", "json"]).json(0);
    assert_eq!(said["forgotten"].as_array().unwrap().len(), 4, "{said}");
    project.settle();
}

#[test]
fn a_test_of_a_program_that_has_others_is_named_and_no_error() {
    let project = Project::small();
    project.settle();
    project.edit("tests/shape_test.cpp", "Perimeter", "Circumference");
    project.make();
    let run = project.fewer(&["run"]);
    assert!(
        run.stderr.contains("1 test that was recorded at commit") && run.stderr.contains(GONE[2]),
        "{}",
        run.stderr
    );
    run.expect(0);
    let run = project.fewer(&["run"]);
    assert!(!run.stderr.contains("was recorded at"), "{}", run.stderr);
}

#[test]
fn a_program_that_the_settings_exclude_is_not_missed() {
    let project = Project::small();
    project.settle();
    project.write("fewer.toml", "exclude = [\"shape_test\"]\n");
    let run = project.fewer(&["run"]);
    assert!(!run.stderr.contains("recorded at"), "{}", run.stderr);
    run.expect(0);
}

#[test]
fn an_older_commit_or_another_branch_is_not_missing_what_came_later() {
    let project = Project::small();
    project.write(".gitignore", "build/\n.fewer/\n");
    project.commit_all();
    let rules = "$(OUT)/text_test: $(OUT)/text_test.o $(OUT)/text.o\n";
    let both = "all: $(OUT)/shape_test $(OUT)/text_test\n";
    // The first commit has one program, the second another one, too.
    project.edit("Makefile", both, "all: $(OUT)/shape_test\n");
    project.command("rm", &["build/text_test"]);
    project.git(&["commit", "-q", "-a", "-m", "one"]);
    project.make();
    project.settle();
    project.git(&["tag", "one"]);
    project.edit("Makefile", "all: $(OUT)/shape_test\n", both);
    project.git(&["commit", "-q", "-a", "-m", "two"]);
    project.make();
    project.settle();
    assert_eq!(lines(&project.fewer(&["select", "--all"]).expect(0)), TESTS);
    // Back, where nobody misses it; an unrecorded commit on top of it neither.
    project.git(&["checkout", "-q", "one"]);
    project.command("rm", &["build/text_test"]);
    project.make();
    project.settle();
    project.write("notes.txt", "for later\n");
    project.git(&["add", "notes.txt"]);
    project.git(&["commit", "-q", "-m", "three"]);
    project.settle();
    project.settle();
    // A commit that comes after the second one misses it, whatever ran last.
    project.git(&["checkout", "-q", "master"]);
    project.edit("Makefile", rules, &format!("# as before\n{rules}"));
    project.git(&["commit", "-q", "-a", "-m", "four"]);
    refused(&project, &["run"], &["all tests of text_test (4) are gone"]);
    project.make();
    project.settle();
}

#[test]
fn a_commit_before_all_recorded_ones_only_names_what_is_not_there_yet() {
    let project = Project::small();
    project.write(".gitignore", "build/\n.fewer/\n");
    project.edit("Makefile", "all: $(OUT)/shape_test $(OUT)/text_test\n", "all: $(OUT)/shape_test\n");
    project.commit_all();
    project.edit("Makefile", "all: $(OUT)/shape_test\n", "all: $(OUT)/shape_test $(OUT)/text_test\n");
    project.git(&["commit", "-q", "-a", "-m", "two"]);
    project.make();
    project.settle();
    project.git(&["checkout", "-q", "HEAD~1"]);
    project.command("rm", &["build/text_test"]);
    project.make();
    let run = project.fewer(&["run"]);
    assert!(run.stderr.contains("which this state does not come after"), "{}", run.stderr);
    run.expect(0);
}

#[test]
fn what_one_branch_gave_up_is_given_up_after_the_merge() {
    let project = Project::small();
    project.write(".gitignore", "build/\n.fewer/\n");
    project.commit_all();
    project.make();
    project.settle();
    project.git(&["checkout", "-q", "-b", "without"]);
    project.edit("Makefile", "all: $(OUT)/shape_test $(OUT)/text_test\n", "all: $(OUT)/shape_test\n");
    project.git(&["commit", "-q", "-a", "-m", "without"]);
    project.command("rm", &["build/text_test"]);
    project.fewer(&["run", "--allow-vanished"]).expect(0);
    project.git(&["checkout", "-q", "master"]);
    project.write("notes.txt", "for later\n");
    project.git(&["add", "notes.txt"]);
    project.git(&["commit", "-q", "-m", "with"]);
    project.make();
    project.settle();
    project.git(&["merge", "-q", "-m", "merge", "without"]);
    project.command("rm", &["build/text_test"]);
    project.command("touch", &["-d", "1 minute ago", "Makefile"]);
    let run = project.fewer(&["run"]);
    assert!(!run.stderr.contains("text_test"), "{}", run.stderr);
    run.expect(0);
}

#[test]
fn outside_of_git_the_last_run_counts() {
    let project = Project::small();
    project.command("rm", &["-rf", ".git"]);
    project.settle();
    project.command("rm", &["build/shape_test"]);
    refused(&project, &["run"], &["all tests of shape_test (3) are gone that were recorded by the last run"]);
    project.fewer(&["run", "--allow-vanished"]).expect(0);
    project.settle();
}

#[test]
fn a_shallow_clone_is_compared_with_the_last_run() {
    let project = Project::small();
    project.write(".gitignore", "build/\n.fewer/\n");
    project.commit_all();
    project.write("notes.txt", "for later\n");
    project.commit_all();
    project.make();
    project.settle();
    project.write("notes.txt", "for now\n");
    project.commit_all();
    let clone = Project::empty();
    clone.git(&["clone", "-q", "--depth", "1", &format!("file://{}", project.path().display()), "."]);
    clone.command("cp", &["-r", &format!("{}/.fewer", project.path().display()), "."]);
    clone.command("make", &["-s", "-j2", "build/text_test"]);
    refused(&clone, &["run"], &["all tests of shape_test (3) are gone"]);
}

#[test]
fn a_project_without_any_test_is_no_green() {
    let project = Project::empty();
    project.write("a.cpp", "int main() { return 0; }\n");
    project.write("Makefile", "build/a: build/a.o\n\tg++ $< -o $@\nbuild/a.o: a.cpp\n\tg++ -c $< -o $@\n");
    project.command("mkdir", &["build"]);
    project.command("make", &["-s"]);
    for command in ["run", "select"] {
        let message = project.fewer(&[command]).refused(2);
        assert!(message.contains("no tests found in build"), "{message}");
        assert!(message.contains("no test was found in") && message.contains("CTest entries"), "{message}");
    }
    assert!(project.fewer(&["run", "--allow-vanished"]).expect(0).contains("0 ran, 0 reused"));
}

#[test]
fn an_entry_of_ctest_that_is_gone_is_named_and_the_last_one_is_an_error() {
    let project = Project::empty();
    let entries = |names: &[&str]| {
        let entries: String =
            names.iter().map(|name| format!("add_test({name} \"/bin/sh\" \"-c\" \"exit 0\")\n")).collect();
        project.write("build/CTestTestfile.cmake", &entries);
    };
    project.write("CMakeLists.txt", "");
    project.write("build/CMakeCache.txt", "");
    entries(&["one", "two"]);
    project.settle();
    entries(&["two"]);
    let run = project.fewer(&["run"]);
    assert!(
        run.stderr.contains("1 test that was recorded by the last run is not here: ctest::one"),
        "{}",
        run.stderr
    );
    run.expect(0);
    entries(&[]);
    refused(&project, &["run"], &["all tests of ctest (1) are gone", "ctest::two"]);
    project.fewer(&["run", "--allow-vanished"]).expect(0);
}
