//! Plain programs as tests.

use std::time::Duration;

use fewer_core::outcome::Verdict::{Crashed, Failed, Inconclusive, Passed, TimedOut};
use fewer_core::test_id::TestId;
use fewer_runners::command::CommandTest;
use fewer_runners::{Job, TestProgram};

use crate::fixture::{directory, options, told_by};

fn shell(name: &str, script: &str, timeout: Option<Duration>) -> Job {
    let mut program = TestProgram::new(name, "sh", directory());
    program.arguments = vec!["-c".into(), script.into()];
    Job::Command(CommandTest { test: TestId::new(name, name), program, timeout })
}

#[test]
fn the_exit_of_a_program_is_its_verdict() {
    let jobs = vec![
        shell("passes", "echo fine", None),
        shell("fails", "printf 'bad news'; exit 4", None),
        shell("crashes", "kill -SEGV $$", None),
        shell("hangs", "echo started; sleep 600", Some(Duration::from_secs(1))),
        shell("reads", "cat; echo 'no input'", None),
        Job::Command(CommandTest {
            test: TestId::new("gone", "gone"),
            program: TestProgram::new("gone", "/nonexistent/program", directory()),
            timeout: None,
        }),
    ];
    let told = told_by(jobs, &options());
    assert_eq!(
        told.verdicts(),
        [
            ("crashes", Crashed),
            ("fails", Failed),
            ("gone", Inconclusive),
            ("hangs", TimedOut),
            ("passes", Passed),
            ("reads", Passed)
        ]
    );
    assert_eq!(told.output("fails"), "bad news\nthe process exited with code 4\n");
    assert_eq!(told.message("crashes"), "the process was killed by SIGSEGV");
    assert_eq!(told.output("hangs"), "started\nthe process was stopped after 1 s\n");
    assert_eq!((told.output("passes"), told.message("passes")), ("fine\n", ""));
    assert_eq!(told.failures.len(), 1);
}
