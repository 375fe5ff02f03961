//! Selection over a history of commits: the paper's worked example on real C++ code, merges foretold before they
//! are compiled, and everything that makes a history untrustworthy.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::workshop::{Ended, Project, lines, manifest_directory};

const ALL: [&str; 4] = ["t1", "t2", "t3", "t4"];
const NONE: [&str; 0] = [];

/// The first version, compiled, run and recorded: commit n1.
fn first_version() -> Project {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    Project::made_once(&MADE, "worked-example-n1", || {
        let project = Project::of_tree(&manifest_directory().join("tests/command/worked_example"));
        project.git(&["init", "-q", "-b", "master"]);
        record(&project, "n1");
        project
    })
}

/// Commits what is there under a tag, compiles it and runs what is due.
fn record(project: &Project, name: &str) {
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", name]);
    project.git(&["tag", name]);
    project.make();
    project.fewer(&["run"]).expect(0);
}

/// An edit of one line of a method, committed and recorded.
fn change(project: &Project, name: &str, method: &str, line: &str) {
    project.edit(&format!("src/{method}.cpp"), &format!("int {line} = "), &format!("int {line} = 10 + "));
    record(project, name);
}

/// Branches b1 and b2 from n1 and the master, as in the paper.
fn branches() -> Project {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    Project::made_once(&MADE, "worked-example-n7", make_branches)
}

fn make_branches() -> Project {
    let project = first_version();
    project.git(&["checkout", "-q", "-b", "b1", "n1"]);
    change(&project, "n2", "m", "first");
    change(&project, "n3", "p", "first");
    project.git(&["checkout", "-q", "-b", "b2", "n1"]);
    change(&project, "n4", "m", "second");
    change(&project, "n5", "p", "second");
    project.git(&["checkout", "-q", "master"]);
    change(&project, "n6", "p", "third");
    change(&project, "n7", "q", "first");
    project
}

/// What a strategy selects, by the short names of the tests.
#[track_caller]
fn selected(project: &Project, strategy: &str) -> Vec<String> {
    told(project, &["--strategy", strategy]).0
}

/// What `fewer select` selects and says.
#[track_caller]
fn told(project: &Project, arguments: &[&str]) -> (Vec<String>, String) {
    let Ended { code, stdout, stderr } = project.fewer(&[&["select"], arguments].concat());
    assert_eq!(code, Some(0), "{stderr}");
    (lines(&stdout).iter().map(|id| id.replace("methods_test::T.", "")).collect(), stderr)
}

/// Everything is selected, and the words say why and what to do.
#[track_caller]
fn assert_everything(project: &Project, arguments: &[&str], words: &[&str]) {
    let (selected, said) = told(project, arguments);
    assert_eq!(selected, ALL, "{said}");
    for words in words.iter().chain(&["everything runs"]) {
        assert!(said.contains(words), "'{words}' is not in:\n{said}");
    }
}

#[test]
fn ordinary_commits_select_what_differs_from_their_parent() {
    let project = first_version();
    for (name, method, line, expected) in [
        ("n2", "m", "first", &["t1", "t4"][..]),
        ("n3", "p", "first", &["t2", "t4"]),
        ("n7", "q", "first", &["t3"]),
    ] {
        project.edit(&format!("src/{method}.cpp"), &format!("int {line} = "), &format!("int {line} = 10 + "));
        project.git(&["add", "-A"]);
        project.git(&["commit", "-q", "-m", name]);
        project.make();
        for strategy in ["s1", "sk", "s-star", "auto"] {
            assert_eq!(selected(&project, strategy), expected, "{name} {strategy}");
        }
        project.fewer(&["run"]).expect(0);
        assert_eq!(selected(&project, "s1"), expected, "a comparison of two commits does not forget");
        assert_eq!(selected(&project, "s-star"), NONE);
    }
}

#[test]
fn a_merge_of_three_parents_selects_as_in_the_paper() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "merge", "b1", "b2"]);
    for strategy in ["predict", "s0"] {
        assert_eq!(selected(&project, strategy), ["t1", "t2", "t4"], "{strategy}, before the build");
    }
    project.make();
    for (strategy, expected) in [
        ("s1", &["t1", "t2", "t3", "t4"][..]),
        ("sk", &["t1", "t2", "t4"]),
        ("s0", &["t1", "t2", "t4"]),
        ("s-star", &["t1", "t2", "t4"]),
        ("auto", &["t1", "t2", "t4"]),
    ] {
        assert_eq!(selected(&project, strategy), expected, "{strategy}");
    }
    let run = project.fewer(&["run", "--strategy", "predict"]).expect(0);
    assert!(run.contains("3 ran (3 passed), 1 reused"), "{run}");
}

#[test]
fn a_cherry_pick_selects_as_in_the_paper() {
    let project = branches();
    project.git(&["cherry-pick", "-x", "n2"]);
    for strategy in ["predict", "s0"] {
        assert_eq!(selected(&project, strategy), ["t4"], "{strategy}, before the build");
    }
    project.make();
    for (strategy, expected) in
        [("s1", &["t1", "t4"][..]), ("s0", &["t4"]), ("s-star", &["t4"]), ("auto", &["t4"])]
    {
        assert_eq!(selected(&project, strategy), expected, "{strategy}");
    }
}

#[test]
fn a_revert_selects_as_in_the_paper() {
    let project = branches();
    project.git(&["revert", "--no-edit", "n6"]);
    for strategy in ["predict", "s0"] {
        assert_eq!(selected(&project, strategy), NONE, "{strategy}, before the build");
    }
    project.make();
    for (strategy, expected) in [("s1", &["t2", "t4"][..]), ("s0", &[]), ("s-star", &[]), ("auto", &[])] {
        assert_eq!(selected(&project, strategy), expected, "{strategy}");
    }
}

#[test]
fn a_merge_that_nobody_has_made_is_foretold_without_touching_anything() {
    let project = branches();
    let look = || {
        (
            project.output("git", &["status", "--porcelain", "--branch"]),
            project.output("git", &["rev-parse", "HEAD"]),
        )
    };
    let before = look();
    let (selected, said) = told(&project, &["--merge", "master", "b1", "b2"]);
    assert_eq!(selected, ["t1", "t2", "t4"]);
    assert!(said.contains("strategy predict: ") && said.contains("this is a prediction"), "{said}");
    assert_eq!(told(&project, &["--merge", "n2", "n7"]).0, ["t4"]);
    assert_eq!(told(&project, &["--merge", "n1", "n7"]).0, NONE, "n7 as it is");
    assert_eq!(look(), before);
    let plan = project.fewer(&["select", "--merge", "n2", "n7", "--format", "json"]).json(0);
    assert_eq!(plan["strategy"]["name"], "predict");
    assert_eq!(
        (&plan["tests"][3]["reason"], &plan["tests"][3]["evidence"]["strategy"]),
        (&"selected".into(), &"predict".into())
    );
    assert_eq!(
        (&plan["tests"][0]["decision"], &plan["tests"][0]["reason"]),
        (&"reuse".into(), &"passed".into())
    );
}

#[test]
fn a_merge_with_a_conflict_cannot_be_foretold() {
    let project = first_version();
    for (branch, number) in [("left", "20"), ("right", "30")] {
        project.git(&["checkout", "-q", "-b", branch, "n1"]);
        project.edit("src/m.cpp", "int first = 1", &format!("int first = {number}"));
        record(&project, &format!("on-{branch}"));
    }
    assert_everything(&project, &["--merge", "left", "right"], &["a conflict in src/m.cpp"]);
}

/// The paper's S0 assumes that a test reaches the same on every branch.
#[test]
fn s0_overlooks_a_merge_that_changes_what_a_test_reaches_and_predict_does_not() {
    let project = first_version();
    project.git(&["checkout", "-q", "-b", "calls", "n1"]);
    project.edit("src/q.cpp", "return first", "return m() + first");
    record(&project, "q-calls-m");
    project.git(&["checkout", "-q", "master"]);
    change(&project, "m-changes", "m", "first");
    project.git(&["merge", "-q", "-m", "merge", "calls"]);
    assert_eq!(selected(&project, "predict"), ["t3"]);
    let (selected_by_s0, said) = told(&project, &["--strategy", "s0"]);
    assert_eq!(selected_by_s0, NONE);
    assert!(said.contains("S0 is unsafe when a change alters what a test reaches"), "{said}");
    project.make();
    let run = project.fewer(&["run", "--strategy", "s0"]).expect(0);
    assert!(run.contains("\nS0 is unsafe when a change alters what a test reaches"), "{run}");
    let run = project.fewer(&["run", "--strategy", "s0", "--format", "json"]).json(0);
    let notes = run["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().starts_with("S0 is unsafe")), "{notes:?}");
    assert_eq!(selected(&project, "s-star"), ["t3"]);
}

#[test]
fn a_prediction_without_dependency_files_says_so() {
    let project = first_version();
    let forget = || project.command("find", &["build", "-name", "*.d", "-delete"]);
    for (branch, name, method) in [("one", "m-changes", "m"), ("two", "q-changes", "q")] {
        project.git(&["checkout", "-q", "-b", branch, "n1"]);
        project.edit(&format!("src/{method}.cpp"), "int first = ", "int first = 10 + ");
        project.git(&["commit", "-q", "-a", "-m", name]);
        project.command("touch", &[&format!("src/{method}.cpp")]);
        project.make();
        forget();
        project.fewer(&["run"]).expect(0);
    }
    let (_, said) = told(&project, &["--merge", "one", "two"]);
    assert!(said.contains("objects the build did not write down what they are compiled from"), "{said}");
    assert!(said.contains("Compile with -MMD"), "{said}");
}

#[test]
fn text_that_nobody_compiled_is_unknown() {
    let project = first_version();
    project.git(&["checkout", "-q", "-b", "header", "n1"]);
    project.edit("src/methods.h", "int m();", "int m();\ninline int twice(int x) { return 2 * x; }");
    record(&project, "header-changes");
    project.git(&["checkout", "-q", "master"]);
    change(&project, "m-changes", "m", "first");
    project.git(&["merge", "-q", "-m", "merge", "header"]);
    let (selected, said) = told(&project, &["--strategy", "predict", "-v"]);
    assert_eq!(selected, ["t1", "t4"], "{said}");
    assert!(
        said.contains("it reaches m() (m.o): both sides changed files that m.o is compiled from"),
        "{said}"
    );
}

#[test]
fn a_name_from_outside_that_the_other_side_defines_is_noticed() {
    let project = first_version();
    project.git(&["checkout", "-q", "-b", "uses", "n1"]);
    project.edit("src/q.cpp", "int q() {", "extern \"C\" int atoi(const char*);\nint q() {");
    project.edit("src/q.cpp", "return first", "return atoi(\"1\") + first");
    record(&project, "q-uses-atoi");
    project.git(&["checkout", "-q", "master"]);
    project.edit("src/m.cpp", "int m() {", "extern \"C\" int atoi(const char*) { return 100; }\nint m() {");
    record(&project, "m-defines-atoi");
    project.git(&["merge", "-q", "-m", "merge", "uses"]);
    let (selected, said) = told(&project, &["--strategy", "predict", "-v"]);
    assert_eq!(selected, ["t3"], "{said}");
    assert!(said.contains("a name from outside that the other side defines"), "{said}");
}

#[test]
fn a_merge_with_several_bases_is_foretold() {
    let project = first_version();
    project.git(&["checkout", "-q", "-b", "left", "n1"]);
    change(&project, "l1", "m", "first");
    project.git(&["checkout", "-q", "-b", "right", "n1"]);
    change(&project, "r1", "p", "first");
    // Each takes over the other's first commit: the next merge has two bases.
    project.git(&["merge", "-q", "-m", "r2", "l1"]);
    record_head(&project, "r2");
    project.git(&["checkout", "-q", "left"]);
    project.git(&["merge", "-q", "-m", "l2", "r1"]);
    record_head(&project, "l2");
    change(&project, "l3", "m", "third");
    project.git(&["checkout", "-q", "right"]);
    change(&project, "r3", "q", "third");
    assert_eq!(lines(&project.output("git", &["merge-base", "--all", "l3", "r3"])).len(), 2);
    project.git(&["merge", "-q", "-m", "merge", "left"]);
    let foretold = selected(&project, "predict");
    assert_eq!(
        foretold,
        ["t1", "t2", "t4"],
        "from either base both sides changed m and p: nobody compiled that"
    );
    project.make();
    assert_eq!(selected(&project, "s-star"), NONE);
    assert_eq!(selected(&project, "sk"), NONE);
}

/// Compiles and runs what is checked out, under a tag.
fn record_head(project: &Project, name: &str) {
    project.git(&["tag", name]);
    project.make();
    project.fewer(&["run"]).expect(0);
}

#[test]
fn the_child_of_a_merge_can_be_picked_and_a_revert_reverted() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "merge", "b1"]);
    record_head(&project, "merged");
    change(&project, "child", "q", "second");
    project.git(&["checkout", "-q", "b2"]);
    project.git(&["cherry-pick", "-x", "child"]);
    assert_eq!(selected(&project, "predict"), ["t3"]);
    record_head(&project, "picked");
    project.git(&["revert", "--no-edit", "picked"]);
    assert_eq!(selected(&project, "predict"), NONE);
    record_head(&project, "reverted");
    project.git(&["revert", "--no-edit", "reverted"]);
    assert_eq!(selected(&project, "predict"), NONE);
    project.make();
    assert_eq!(selected(&project, "s-star"), NONE);
}

#[test]
fn a_rebased_branch_reuses_what_it_was_tested_with() {
    let project = branches();
    project.git(&["checkout", "-q", "-b", "topic", "n7"]);
    change(&project, "topic-1", "q", "third");
    project.git(&["rebase", "-q", "--onto", "n6", "n7", "topic"]);
    project.make();
    assert_eq!(selected(&project, "s-star"), ["t3"], "q without n7's change was never tested");
    assert_eq!(selected(&project, "s1"), ["t3"]);
}

#[test]
fn a_merge_that_is_not_committed_yet_is_foretold_and_one_finished_by_hand_is_not() {
    let project = branches();
    project.git(&["merge", "-q", "--no-commit", "--no-ff", "b1"]);
    assert_eq!(selected(&project, "predict"), ["t2", "t4"]);
    project.edit("src/q.cpp", "int second = ", "int second = 7 + ");
    assert_everything(&project, &["--strategy", "predict"], &["the merge was finished by hand"]);
    project.git(&["commit", "-q", "-a", "-m", "merge with an edit"]);
    assert_everything(&project, &["--strategy", "predict"], &["the merge was finished by hand"]);
    assert_everything(&project, &["--strategy", "s0"], &["the merge was finished by hand"]);
    project.make();
    assert_eq!(selected(&project, "sk"), ["t2", "t3", "t4"]);
}

#[test]
fn local_changes_and_squashed_merges_cannot_be_foretold_but_are_compared() {
    let project = branches();
    project.edit("src/q.cpp", "int second = ", "int second = 7 + ");
    assert_everything(&project, &["--strategy", "predict"], &["there are local changes"]);
    let refused = project.fewer(&["select"]).refused(2);
    assert!(refused.contains("src/q.cpp is newer than"), "{refused}");
    project.make();
    assert_eq!(selected(&project, "s1"), ["t3"]);
    project.git(&["checkout", "-q", "."]);
    project.git(&["checkout", "-q", "--detach", "n1"]);
    project.git(&["merge", "-q", "--squash", "b1"]);
    project.git(&["commit", "-q", "-m", "squashed"]);
    assert_everything(&project, &["--strategy", "predict"], &["HEAD is an ordinary commit"]);
    project.make();
    assert_eq!(selected(&project, "s1"), ["t1", "t2", "t4"]);
    assert_eq!(selected(&project, "s-star"), NONE, "b1 was tested with the same content");
}

#[test]
fn a_commit_that_was_never_recorded_makes_everything_run_and_is_named() {
    let project = branches();
    project.git(&["checkout", "-q", "b1"]);
    project.edit("src/m.cpp", "int third = ", "int third = 9 + ");
    project.git(&["commit", "-q", "-a", "-m", "never run"]);
    let skipped = project.output("git", &["rev-parse", "HEAD"]);
    let short = &skipped[..10];
    project.git(&["checkout", "-q", "master"]);
    assert_everything(
        &project,
        &["--merge", "master", "b1"],
        &[short, "was never recorded here", "git checkout"],
    );
    project.git(&["checkout", "-q", "b1"]);
    change(&project, "n8", "q", "second");
    project.git(&["checkout", "-q", "master"]);
    project.git(&["merge", "-q", "-m", "merge", "b1"]);
    let (selected, said) = told(&project, &["--strategy", "s0"]);
    assert_eq!(selected, ["t2", "t3", "t4"], "what master affected; of b1 nothing is known");
    assert!(said.contains(short) && said.contains("never recorded here"), "{said}");
    assert_eq!(told(&project, &["--strategy", "predict"]).0, ["t2", "t3", "t4"], "the ends are recorded");
}

#[test]
fn a_base_is_compared_with_and_one_that_cannot_be_trusted_makes_everything_run() {
    let project = branches();
    assert_eq!(told(&project, &["--base", "n1"]).0, ["t2", "t3", "t4"]);
    assert_eq!(told(&project, &["--base", "n6"]).0, ["t3"]);
    assert_everything(&project, &["--base", "origin/nowhere"], &["`origin/nowhere` names no commit"]);
    let unknown = "0123456789012345678901234567890123456789";
    assert_everything(&project, &["--base", unknown], &[unknown, "git fetch origin"]);
    project.git(&["checkout", "-q", "--orphan", "elsewhere"]);
    project.git(&["commit", "-q", "-m", "another beginning"]);
    project.git(&["checkout", "-q", "-f", "master"]);
    project.make();
    assert_everything(&project, &["--base", "elsewhere"], &["have no common ancestor"]);
    let refused = project.fewer(&["select", "--strategy", "s-star", "--base", "n1"]).refused(2);
    assert!(refused.contains("compares with none"), "{refused}");
}

#[test]
fn a_base_that_was_dropped_after_a_force_push_makes_everything_run() {
    let project = branches();
    let dropped = project.output("git", &["rev-parse", "HEAD"]);
    project.git(&["tag", "-d", "n7"]);
    project.git(&["reset", "-q", "--hard", "n6"]);
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
    project.make();
    assert_everything(&project, &["--base", &dropped], &[&dropped, "force-push", "git fetch origin"]);
}

#[test]
fn a_shallow_clone_makes_everything_run_and_says_how_to_complete_it() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "merge", "b1", "b2"]);
    let clone = Project::empty();
    let source = format!("file://{}", project.path().display());
    clone.git(&["clone", "-q", "--depth", "2", &source, "."]);
    clone.command("cp", &["-r", &format!("{}/.fewer", project.path().display()), "."]);
    assert_everything(&clone, &["--strategy", "predict"], &["shallow clone", "git fetch --unshallow"]);
    clone.make();
    for strategy in ["s1", "sk"] {
        assert_everything(&clone, &["--strategy", strategy], &["shallow clone", "git fetch --unshallow"]);
    }
    clone.git(&["fetch", "-q", "--unshallow"]);
    assert_eq!(selected(&clone, "sk"), ["t1", "t2", "t4"]);
}

#[test]
fn nothing_recorded_is_an_error_before_the_build_and_not_an_empty_list() {
    let project = branches();
    project.git(&["merge", "-q", "-m", "merge", "b1"]);
    project.command("rm", &["-rf", ".fewer"]);
    for arguments in [&["--strategy", "predict"][..], &["--merge", "master", "b2"]] {
        let said = project.fewer(&[&["select"], arguments].concat()).refused(2);
        assert!(
            said.contains("nothing is recorded here") && said.contains("Build, then `fewer run`"),
            "{said}"
        );
    }
}

#[test]
fn a_test_that_only_one_side_has_is_selected() {
    let project = first_version();
    project.git(&["checkout", "-q", "-b", "reads", "n1"]);
    project.edit("tests/methods_test.cpp", "#include <gtest", "#include <cstdlib>\n#include <gtest");
    let test = "TEST(T, t4) { EXPECT_GT(m() + p(), 0); }";
    let more = format!("{test}\nTEST(T, t5) {{ EXPECT_EQ(std::getenv(\"MODE_X\"), nullptr); }}");
    project.edit("tests/methods_test.cpp", test, &more);
    record(&project, "t5");
    project.git(&["checkout", "-q", "master"]);
    let set = "#include <cstdlib>\nstatic int mode = setenv(\"MODE_X\", \"on\", 1);\nint q() {";
    project.edit("src/q.cpp", "int q() {", set);
    record(&project, "sets");
    project.git(&["merge", "-q", "-m", "merge", "reads"]);
    assert!(
        selected(&project, "predict").contains(&"t5".to_string()),
        "what is set before main is new to it"
    );
    assert_eq!(told(&project, &["--merge", "n1", "t5"]).0, NONE, "one side alone is as it was tested");
}

#[test]
fn a_file_that_git_does_not_know_makes_a_pending_merge_unforeseeable() {
    let project = branches();
    project.git(&["merge", "-q", "--no-commit", "--no-ff", "b1"]);
    project.write("src/stray.cpp", "int stray = 1;\n");
    assert_everything(&project, &["--strategy", "predict"], &["the merge was finished by hand"]);
}

#[test]
fn a_build_that_is_older_than_the_sources_is_never_taken_for_the_commit() {
    let project = branches();
    // Nothing lists the new file, and the Makefile is no input of an object.
    project.write("src/new.cpp", "int fresh() { return 1; }\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "a new file"]);
    assert_everything(&project, &[], &["src/new.cpp is newer than everything that is built"]);
    project.fewer(&["run"]).expect(0);
    project.git(&["commit", "-q", "--allow-empty", "-m", "next"]);
    project.edit("src/m.cpp", "int second = ", "int second = 4 + ");
    project.make();
    let (selected, said) = told(&project, &["--base", "HEAD~1"]);
    assert_eq!(selected, ALL, "{said}");
    assert!(said.contains("was never recorded here"), "what was run then was not that commit: {said}");
}

#[test]
fn an_edit_in_a_build_directory_among_the_sources_is_a_local_change() {
    let project = first_version();
    project.write("fewer.toml", "build-directory = \"build\"\n");
    project.write("build/kept.txt", "known to git");
    project.git(&["add", "-f", "build/kept.txt", "fewer.toml"]);
    project.git(&["commit", "-q", "-m", "a tracked file below the build directory"]);
    project.fewer(&["run"]).expect(0);
    project.write("build/kept.txt", "edited");
    let said = told(&project, &["--strategy", "predict"]).1;
    assert!(said.contains("there are local changes"), "{said}");
}

#[test]
fn an_object_left_over_from_a_deleted_file_does_not_make_a_build_old() {
    let project = first_version();
    project.write("src/extra.cpp", "int extra() { return 1; }\n");
    project.make();
    project.command("make", &["-s", "build/extra.o"]);
    project.command("rm", &["src/extra.cpp"]);
    let (selected, said) = told(&project, &[]);
    assert_eq!(selected, NONE, "{said}");
    assert!(!said.contains("what is built is not what the sources say"), "{said}");
}

#[test]
fn a_commit_whose_run_left_tests_out_is_not_taken_for_tested() {
    let project = first_version();
    project.git(&["checkout", "-q", "-b", "b1", "n1"]);
    project.edit("src/m.cpp", "int first = ", "int first = 10 + ");
    project.git(&["commit", "-q", "-a", "-m", "n2"]);
    project.make();
    project.fewer(&["run", "--skip", "100%"]).expect(0);
    project.git(&["checkout", "-q", "master"]);
    change(&project, "n7", "q", "first");
    project.git(&["merge", "-q", "-m", "merge", "b1"]);
    assert_everything(&project, &["--strategy", "s0"], &["not all of its tests were run"]);
    project.make();
    for strategy in ["s0", "s1", "sk", "s-star", "auto"] {
        let selected = selected(&project, strategy);
        assert!(
            ["t1", "t4"].iter().all(|test| selected.contains(&test.to_string())),
            "{strategy}: {selected:?}"
        );
    }
    // Once they have run, the commit counts.
    project.git(&["checkout", "-q", "b1"]);
    project.make();
    project.fewer(&["run"]).expect(0);
    project.git(&["checkout", "-q", "master"]);
    project.make();
    assert_eq!(selected(&project, "s0"), NONE);
}
