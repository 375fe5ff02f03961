//! Ctrl-C, `kill -9`, and two runs at the same time: what was recorded stays, and the next run goes on.

use std::process::{Child, Command};

use crate::workshop::{Project, ended, lines, wait_until};

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

fn recorded_outcomes(project: &Project) -> u64 {
    project.fewer(&["status", "--format", "json"]).json(0)["outcomes"].as_u64().unwrap()
}

/// A run that hangs in one test while the tests of the other program get their outcomes.
fn hanging_run(project: &Project) -> Child {
    let child = project.start(&[("PERIMETER_SLEEPS", "100")], &["run", "--jobs", "2"]);
    wait_until(|| recorded_outcomes(project) >= 4);
    child
}

#[test]
fn ctrl_c_keeps_recorded_outcomes_and_exits_with_130() {
    let project = Project::small();
    let child = hanging_run(&project);
    signal(&child, "-INT");
    let interrupted = ended(child);
    assert_eq!(interrupted.code, Some(130), "{}", interrupted.stderr);
    assert!(interrupted.stdout.contains("interrupted: what had ended is recorded"), "{}", interrupted.stdout);
    let status = project.fewer(&["status", "--format", "json"]).json(0);
    assert_eq!(status["last_run"]["end"], "interrupted");
    let selected = project.selected();
    assert!(selected.contains(&"shape_test::Shape.Perimeter".to_string()), "{selected:?}");
    assert!(!selected.contains(&"text_test::Text.Shouts".to_string()), "{selected:?}");
    project.settle();
    assert_eq!(project.selected(), ["text_test::Text.Waits"]);
}

#[test]
fn a_killed_run_loses_nothing_that_was_recorded() {
    let project = Project::small();
    let mut child = hanging_run(&project);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let status = project.fewer(&["status", "--format", "json"]).json(0);
    assert_eq!(
        (&status["unfinished_runs"], &status["last_run"]["end"]),
        (&1.into(), &serde_json::Value::Null)
    );
    assert!(!project.selected().contains(&"text_test::Text.Shouts".to_string()));
    project.settle();
    assert_eq!(project.selected(), ["text_test::Text.Waits"]);
}

#[test]
fn a_commit_whose_run_never_came_to_its_end_is_not_taken_for_tested() {
    let project = Project::small();
    project.settle();
    project.git(&["checkout", "-q", "-b", "side"]);
    project.edit("src/shape.cpp", "return 2 * (", "{ volatile int n = 1; (void)n; } return 2 * (");
    project.git(&["commit", "-q", "-a", "-m", "side"]);
    project.make();
    let mut child = project.start(&[("PERIMETER_SLEEPS", "100")], &["run"]);
    wait_until(|| project.fewer(&["status", "--format", "json"]).json(0)["unfinished_runs"] == 1);
    signal(&child, "-KILL");
    child.wait().unwrap();
    project.git(&["checkout", "-q", "-"]);
    project.edit("src/text.cpp", "return text + ", "{ volatile int n = 1; (void)n; } return text + ");
    project.git(&["commit", "-q", "-a", "-m", "main"]);
    project.make();
    project.settle();
    project.git(&["merge", "-q", "-m", "merge", "side"]);
    project.make();
    let perimeter = "shape_test::Shape.Perimeter".to_string();
    let by_commits = || lines(&project.fewer(&["select", "--strategy", "s0"]).expect(0));
    assert!(by_commits().contains(&perimeter), "{:?}", by_commits());
    project.git(&["checkout", "-q", "side"]);
    project.make();
    project.settle();
    project.git(&["checkout", "-q", "-"]);
    project.make();
    assert!(!by_commits().contains(&perimeter), "{:?}", by_commits());
}

#[test]
fn two_runs_at_once_record_both() {
    let project = Project::small();
    let children: Vec<Child> = (0..2).map(|_| project.start(&[], &["run", "--all"])).collect();
    for child in children {
        ended(child).expect(0);
    }
    assert_eq!(recorded_outcomes(&project), 12);
    let status = project.fewer(&["status", "--format", "json"]).json(0);
    assert_eq!((&status["states"], &status["runs"]), (&1.into(), &2.into()));
    assert_eq!(project.selected(), ["text_test::Text.Waits"]);
}

#[test]
fn a_program_rebuilt_while_its_tests_run_records_nothing() {
    let project = Project::small();
    let child = project.start(&[("PERIMETER_SLEEPS", "3")], &["run", "--jobs", "2"]);
    wait_until(|| recorded_outcomes(&project) >= 4);
    // A new file under the same name, as a linker writes it.
    project.command("cp", &["build/shape_test", "build/shape_test.new"]);
    project.command("mv", &["build/shape_test.new", "build/shape_test"]);
    let run = ended(child);
    assert!(run.stderr.contains("shape_test was rebuilt while tests ran"), "{}", run.stderr);
    let selected = project.selected();
    assert!(selected.contains(&"shape_test::Shape.Perimeter".to_string()), "{selected:?}");
}
