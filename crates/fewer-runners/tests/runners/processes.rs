//! What test processes get, what they may leave behind, and how they are stopped.

use std::fs;
use std::time::{Duration, Instant};

use fewer_core::outcome::Verdict::Passed;
use fewer_runners::googletest::{SelectedTest, Selection, plan_shards};
use fewer_runners::{Event, Job, RunOptions, run};

use crate::fixture::{await_death, behaving, options, told};

#[test]
fn arguments_environment_and_directory_are_as_asked() {
    let directory = tempfile::tempdir().unwrap();
    let mut program = behaving("");
    program.working_directory = directory.path().to_path_buf();
    program.arguments = vec!["--gtest_filter=Plain.Fails".into(), "--gtest_repeat=2".into()];
    for (name, value) in [("COLOUR", "green"), ("GTEST_TOTAL_SHARDS", "2"), ("GTEST_SHARD_INDEX", "1")] {
        program.environment.push((name.into(), value.into()));
    }
    let told = told(program, &["Surroundings.AreAsAsked"], &options());
    assert_eq!(told.verdicts(), [("Surroundings.AreAsAsked", Passed)]);
    let expected = format!("in {}\n", directory.path().canonicalize().unwrap().display());
    assert_eq!(told.output("Surroundings.AreAsAsked"), expected);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left in it");
}

#[test]
fn a_flood_of_output_does_not_fill_the_memory() {
    let told = told(behaving(""), &["Loud.Floods"], &options());
    assert_eq!(told.verdicts(), [("Loud.Floods", Passed)]);
    let output = told.output("Loud.Floods");
    assert!(output.ends_with("the end of the flood\n") && output.len() < 20_000);
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 90_000, "100 MB were printed and {kilobytes} kB used");
}

#[test]
fn processes_left_behind_are_killed_and_do_not_hold_up_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let pid_file = directory.path().join("pid");
    let mut program = behaving("");
    program.environment.push(("PID_FILE".into(), pid_file.display().to_string()));
    let begin = Instant::now();
    assert_eq!(told(program.clone(), &["Leftover.InTheGroup"], &options()).end.passed, 1);
    let pid = fs::read_to_string(&pid_file).unwrap();
    await_death(&pid);
    assert_eq!(told(program, &["Leftover.InASessionOfItsOwn"], &options()).end.passed, 1);
    let pid: i32 = fs::read_to_string(&pid_file).unwrap().parse().unwrap();
    // This one is out of reach on purpose: daemons are not the runner's. It sleeps for ten minutes.
    assert!(begin.elapsed() < Duration::from_secs(300));
    kill(pid);
}

#[test]
fn cancelling_kills_the_children_and_keeps_nothing_of_their_process() {
    let options = options();
    let tests = ["Plain.Skips", "Slow.A_Before", "Slow.B_Hangs", "Slow.D_After"];
    let selection =
        Selection::new(behaving(""), tests.iter().map(|name| SelectedTest::new(*name, None)).collect());
    let jobs = plan_shards(vec![selection], options.workers).into_iter().map(Job::Shard).collect();
    let mut finished = Vec::new();
    let end = run(jobs, &options, &mut |event| match event {
        Event::TestStarted { test } if test.name == "Slow.B_Hangs" => options.cancel.cancel(),
        Event::TestFinished(result) => finished.push(result),
        Event::TestStarted { .. }
        | Event::TestEnded { .. }
        | Event::ProcessFailed(_)
        | Event::Indivisible(_) => {}
    });
    assert_eq!(finished, [], "a process that was stopped wrote no report");
    assert!(end.interrupted && !end.success());
}

#[test]
fn nothing_is_started_after_cancelling() {
    let options = options();
    options.cancel.cancel();
    let told = told(behaving(""), &["Plain.Passes"], &options);
    assert!(told.results.is_empty() && told.started.is_empty() && told.end.interrupted);
}

#[test]
fn a_long_shard_is_not_stopped_for_being_long_in_total() {
    // 20,000 tests take longer together than any of them may take alone.
    let names: Vec<String> = (0..20_000).map(|i| format!("ManyRegisteredTests.number_{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(names.iter().map(|name| name.len()).sum::<usize>() > 128 * 1024, "too long for an argument");
    let told = told(behaving("20000 tests"), &names, &options());
    assert_eq!((told.end.passed, told.results.len()), (20_000, 20_000));
    assert!(told.end.success());
    assert_eq!(told.output("ManyRegisteredTests.number_19999"), "I am number_19999\n");
}

fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn options_by_default_run_on_every_core_with_five_minutes_per_test() {
    let options = RunOptions::default();
    assert_eq!(options.test_timeout, Duration::from_secs(300));
    assert!(!options.run_disabled && !options.cancel.is_cancelled());
}
