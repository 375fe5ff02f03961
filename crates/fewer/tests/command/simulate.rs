//! `fewer simulate`, which is another program: found, started, and given what it asks for.

use std::fs;
use std::process::Command;

use crate::workshop::{Project, ended, wait_until};

#[test]
fn what_fewer_recorded_is_a_history() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "width * height", "height * width");
    project.make();
    project.commit_all();
    project.fewer_with(&[("AREA_FAILS", "1")], &["run"]).expect(1);
    let document =
        project.fewer(&["simulate", "import", "store", "-o", "history", "--format", "json"]).json(0);
    // All tests of the first commit, and the two that the second one affects.
    assert_eq!((&document["commits"], &document["joined"]), (&2.into(), &2.into()), "{document}");
    assert_eq!(document["rows"], 8, "{document}");
    let run = project.fewer(&["simulate", "run", "history", "-o", "results", "--format", "json"]).json(0);
    assert_eq!((&run["unsafe_commits"], &run["rows"]["unsafe"]), (&1.into(), &1.into()), "{run}");
}

#[test]
fn wishes_help_and_exit_codes_go_through() {
    let project = Project::empty();
    fs::create_dir(project.file("elsewhere")).unwrap();
    let help = project.fewer(&["simulate", "--help"]).expect(0);
    assert!(help.contains("Usage: fewer simulate") && help.contains("generate"), "{help}");
    assert_eq!(project.fewer(&["simulate"]).expect(0), help);
    let generate = ["simulate", "generate", "--rows", "500", "-o", "history"];
    let said = project.fewer(&[&["-C", "elsewhere", "--timings"], &generate[..]].concat());
    assert!(project.file("elsewhere/history/executions.parquet").exists(), "{said:?}");
    assert!(said.stderr.contains("generate"), "{said:?}");
    let again = [&["--color", "always", "-C", "elsewhere"], &generate[..]].concat();
    let said = project.fewer(&again).refused(2);
    assert!(said.contains("\x1b[31mfewer:") && said.contains("history is already there"), "{said}");
    project.fewer(&["simulate", "guess"]).refused(2);
}

#[test]
fn ctrl_c_reaches_the_other_program() {
    let project = Project::empty();
    let generate = ["simulate", "generate", "--rows", "200000000", "--targets", "1000", "-o", "history"];
    let child = project.start(&[], &generate);
    // It writes beside the output until it is done.
    wait_until(|| fs::read_dir(project.path()).unwrap().next().is_some());
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let interrupted = ended(child);
    assert_eq!(interrupted.code, Some(130), "{}", interrupted.stderr);
    assert!(fs::read_dir(project.path()).unwrap().next().is_none());
}

#[test]
fn without_the_other_program_it_is_said_how_to_get_it() {
    let project = Project::empty();
    fs::copy(env!("CARGO_BIN_EXE_fewer"), project.file("fewer")).unwrap();
    let alone = Command::new(project.file("fewer"))
        .args(["simulate", "run", "history", "-o", "results"])
        .env("PATH", project.path())
        .output()
        .unwrap();
    assert_eq!(alone.status.code(), Some(2));
    let said = String::from_utf8(alone.stderr).unwrap();
    assert!(said.contains("fewer-lab, which is neither beside fewer nor on PATH"), "{said}");
    assert!(said.contains("cargo install --path crates/fewer-lab"), "{said}");
}
