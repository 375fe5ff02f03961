//! Build commands.

use std::path::Path;

use fewer_runners::Cancel;
use fewer_runners::build::{BuildCommand, run};

fn shell(line: &str) -> BuildCommand {
    BuildCommand::Shell(line.to_string())
}

#[test]
fn lines_arrive_in_order_and_the_exit_code_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();
    let command = shell("echo one; echo two >&2; pwd; printf 'no newline'; exit 5");
    let end = run(&command, directory.path(), &[], &Cancel::new(), &mut |line| lines.push(line.to_string()))
        .unwrap();
    let here = directory.path().canonicalize().unwrap().display().to_string();
    assert_eq!(lines, ["one", "two", here.as_str(), "no newline"]);
    assert_eq!((end.success, end.exit_code, end.interrupted), (false, Some(5), false));
    assert_eq!(end.output_tail, format!("one\ntwo\n{here}\nno newline"));
}

#[test]
fn arguments_are_not_read_by_a_shell() {
    let command = BuildCommand::Arguments(["echo", "$HOME; exit 1"].map(Into::into).to_vec());
    let mut lines = Vec::new();
    let end =
        run(&command, Path::new("/"), &[], &Cancel::new(), &mut |line| lines.push(line.to_string())).unwrap();
    assert!(end.success);
    assert_eq!(lines, ["$HOME; exit 1"]);
}

#[test]
fn lines_are_handed_over_while_the_build_goes_on() {
    // The build waits for a file that is only written once its first line has been seen.
    let directory = tempfile::tempdir().unwrap();
    let seen = directory.path().join("seen");
    let command = shell("echo first; until [ -e seen ]; do sleep 0.05; done; echo second");
    let mut lines = Vec::new();
    let end = run(&command, directory.path(), &[], &Cancel::new(), &mut |line| {
        std::fs::write(&seen, line).unwrap();
        lines.push(line.to_string());
    })
    .unwrap();
    assert!(end.success);
    assert_eq!(lines, ["first", "second"]);
}

#[test]
fn a_build_can_be_cancelled() {
    let cancel = Cancel::new();
    let end =
        run(&shell("echo go; sleep 600; echo never"), Path::new("/"), &[], &cancel, &mut |_| cancel.cancel());
    let end = end.unwrap();
    assert!(end.interrupted && !end.success);
    assert_eq!((end.output_tail.as_str(), end.signal.as_deref()), ("go\n", Some("SIGTERM")));
}

#[test]
fn a_compiler_server_left_running_does_not_hold_up_the_build() {
    let command = shell("sleep 600 & echo $!");
    let mut pid = String::new();
    let end = run(&command, Path::new("/"), &[], &Cancel::new(), &mut |line| pid = line.to_string()).unwrap();
    assert!(end.success);
    let status = std::process::Command::new("kill").arg(&pid).status().unwrap();
    assert!(status.success(), "the server {pid} was left alone");
}

#[test]
fn a_command_that_cannot_be_started_is_named() {
    let command = BuildCommand::Arguments(vec!["/nonexistent/make".into(), "all".into()]);
    let error = run(&command, Path::new("/"), &[], &Cancel::new(), &mut |_| {}).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`/nonexistent/make all`"), "{text}");
}
