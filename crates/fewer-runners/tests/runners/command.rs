//! Plain programs as tests.

use std::num::NonZeroUsize;
use std::time::Duration;

use fewer_core::outcome::Verdict::{Crashed, Failed, Inconclusive, Passed, TimedOut};
use fewer_core::test_id::TestId;
use fewer_runners::command::CommandTest;
use fewer_runners::{Claims, Job, RunOptions, TestProgram};
use tempfile::TempDir;

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

/// A test that fails if another with the same path runs beside it, and the verdicts of four of them at a time.
fn verdicts_side_by_side(claims: impl Fn(usize) -> Claims, path: impl Fn(usize) -> String) -> Vec<bool> {
    let place = TempDir::new().unwrap();
    let job = |index: usize| {
        let path = path(index);
        let script = format!("mkdir {path} || exit 1; sleep 0.3; rmdir {path}");
        let Job::Command(mut test) = shell(&format!("test{index}"), &script, None) else { unreachable!() };
        test.program.working_directory = place.path().to_path_buf();
        test.program.claims = claims(index);
        Job::Command(test)
    };
    let options = RunOptions { workers: NonZeroUsize::new(4).unwrap(), ..options() };
    let told = told_by((0..4).map(job).collect(), &options);
    told.verdicts().into_iter().map(|(_, verdict)| verdict == Passed).collect()
}

#[test]
fn programs_that_claim_the_same_resource_never_run_side_by_side() {
    let resource = |index: usize| ["port", "database"][index % 2].to_string();
    let claims = |index| Claims { everything: false, resources: [resource(index)].into() };
    assert_eq!(verdicts_side_by_side(claims, resource), [true; 4]);
}

#[test]
fn a_program_that_claims_everything_runs_alone() {
    let claims = |index| Claims { everything: index != 2, resources: [].into() };
    assert_eq!(verdicts_side_by_side(claims, |_| "anything".to_string()), [true; 4]);
}
