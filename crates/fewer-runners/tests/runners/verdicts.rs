//! What a test's verdict is, for every way in which tests and their processes end.

use std::time::Duration;

use fewer_core::outcome::Verdict::{Crashed, Failed, Inconclusive, Passed, Skipped, TimedOut};
use fewer_runners::{RunOptions, TestProgram};

use crate::fixture::{behaving, directory, listed, options, told};

#[test]
fn all_kinds_of_tests_run_and_report() {
    let harmless = ["Plain.", "Fixture.", "Typed", "Mine/", "Some/", "CastDeathTest."];
    let names: Vec<String> = listed(&behaving(""))
        .into_iter()
        .filter(|test| !test.disabled && harmless.iter().any(|prefix| test.name.starts_with(prefix)))
        .map(|test| test.name)
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let told = told(behaving(""), &names, &options());
    let not_passed: Vec<_> = told.verdicts().into_iter().filter(|(_, verdict)| *verdict != Passed).collect();
    assert_eq!(
        not_passed,
        [
            ("Plain.Fails", Failed),
            ("Plain.Skips", Skipped),
            ("Plain.Throws", Failed),
            ("Some/Values.AreSmall/1", Failed)
        ]
    );
    assert_eq!(told.results.len(), 15);
    assert_eq!((told.end.passed, told.end.failed, told.end.skipped), (11, 3, 1));
    assert!(!told.end.success() && !told.end.interrupted && told.failures.is_empty());
    assert_eq!(told.started.len(), 15);
}

#[test]
fn each_test_keeps_its_own_output_and_failure_messages() {
    let tests = ["Plain.Passes", "Plain.Fails", "Plain.Skips", "Plain.Throws", "Some/Values.AreSmall/1"];
    let told = told(behaving(""), &tests, &options());
    assert_eq!(told.output("Plain.Passes"), "plain speaking, no newline");
    let output = told.output("Plain.Fails");
    assert!(output.starts_with("about to fail\n") && output.contains("sums are \"hard\""), "{output}");
    assert_eq!(output.matches("sums are").count(), 1, "{output}");
    assert!(told.message("Plain.Fails").contains("behaviours.cc:"), "{}", told.message("Plain.Fails"));
    assert_eq!(told.message("Plain.Skips"), "not on Tuesdays");
    assert!(told.message("Plain.Throws").contains("thrown on purpose"));
    assert!(told.output("Some/Values.AreSmall/1").contains("actual: 5 vs 3"));
}

#[test]
fn odd_names_can_be_run_one_by_one() {
    let names =
        ["with spaces", "a*b", "a:b", "a-b", "a?b", "\"quoted\" 'too'", "dotted.name", "café", "slash/0"];
    for name in names {
        let name = format!("Odd.{name}");
        let told = told(behaving("odd names"), &[&name], &options());
        assert_eq!(told.verdicts(), [(name.as_str(), Passed)]);
        assert!(told.end.success());
    }
    let told = told(behaving("odd names"), &["Odd suite-*.name", "Odd.# hash  # two"], &options());
    assert_eq!(told.verdicts(), [("Odd suite-*.name", Passed), ("Odd.# hash  # two", Passed)]);
    assert_eq!(told.output("Odd suite-*.name"), "I am name\n");
}

#[test]
fn a_crash_is_attributed_and_the_tests_after_it_still_run() {
    let tests = [
        "Crash.A_Before",
        "Crash.B_BySignal",
        "Crash.C_ByExit",
        "Crash.D_ByExitWithCode",
        "Crash.E_ByAbort",
        "Crash.F_After",
    ];
    let told = told(behaving(""), &tests, &options());
    let verdicts: Vec<_> = told.verdicts().into_iter().map(|(_, verdict)| verdict).collect();
    assert_eq!(verdicts, [Passed, Crashed, Crashed, Crashed, Crashed, Passed]);
    let message = |index: usize| told.message(tests[index]);
    assert_eq!(message(1), "the process was killed by SIGSEGV while this test was running");
    assert_eq!(message(2), "the process exited with code 0 while this test was running");
    assert_eq!(message(3), "the process exited with code 3 while this test was running");
    assert_eq!(message(4), "the process was killed by SIGABRT while this test was running");
    assert!(told.output("Crash.B_BySignal").starts_with("last words\n"));
    assert!(told.failures.is_empty() && !told.end.success());
}

#[test]
fn a_crash_in_a_suites_set_up_or_tear_down_is_the_suites() {
    let tests = [
        "Crash.A_Before",
        "CrashingSetUp.NeverRuns",
        "CrashingSetUp.NeverRunsEither",
        "CrashingTearDown.Runs",
        "ZLast.RunsAfterAllThat",
    ];
    let told = told(behaving(""), &tests, &options());
    let verdicts: Vec<_> = told.verdicts().into_iter().map(|(_, verdict)| verdict).collect();
    assert_eq!(verdicts, [Passed, Crashed, Crashed, Inconclusive, Passed]);
    assert!(told.message("CrashingSetUp.NeverRuns").contains("while CrashingSetUp was being set up"));
    assert!(told.message("CrashingTearDown.Runs").contains("while CrashingTearDown was being torn down"));
    assert_eq!(told.failures.len(), 1);
    assert_eq!(told.failures[0].tests[0].name, "CrashingTearDown.Runs");
}

#[test]
fn a_suite_whose_set_up_fails_is_not_taken_for_skipped() {
    let tests = ["Plain.Passes", "Plain.Fails", "FailingSetUp.IsSkippedByGoogleTest"];
    let told = told(behaving(""), &tests, &options());
    assert_eq!(told.verdict("FailingSetUp.IsSkippedByGoogleTest"), Inconclusive);
    assert_eq!((told.verdict("Plain.Passes"), told.verdict("Plain.Fails")), (Passed, Failed));
    assert_eq!(told.failures.len(), 1);
    assert!(told.failures[0].explanation.contains("FailingSetUp"));
    assert!(told.output("FailingSetUp.IsSkippedByGoogleTest").contains("no database"));
}

#[test]
fn a_process_that_dies_before_its_tests_takes_them_all() {
    let told = told(behaving("throws in main"), &["Plain.Passes", "Plain.Fails"], &options());
    assert_eq!(told.verdicts(), [("Plain.Fails", Crashed), ("Plain.Passes", Crashed)]);
    assert_eq!(told.message("Plain.Passes"), "the process was killed by SIGABRT before any test began");
    assert!(told.output("Plain.Passes").contains("no configuration"), "{}", told.output("Plain.Passes"));
}

#[test]
fn passes_of_a_process_that_fails_afterwards_are_inconclusive() {
    let cases = [
        ("leaks", "exited with code 23 although no test failed", "LeakSanitizer"),
        ("tear-down fails", "failed outside of any test", "could not be torn down"),
        ("tear-down crashes", "was killed by SIGABRT after its last test", ""),
        ("crashes at exit", "was killed by SIGSEGV although no test failed", ""),
        ("set-up fails", "failed outside of any test", "no network"),
    ];
    for (behaviour, explanation, output) in cases {
        let told = told(behaving(behaviour), &["Plain.Passes", "Crash.A_Before"], &options());
        assert_eq!(
            told.verdicts(),
            [("Crash.A_Before", Inconclusive), ("Plain.Passes", Inconclusive)],
            "{behaviour}"
        );
        let [failure] = told.failures.as_slice() else { panic!("{behaviour}: {:?}", told.failures) };
        assert!(failure.explanation.contains(explanation), "{behaviour}: {}", failure.explanation);
        assert_eq!(failure.tests.len(), 2);
        assert!(failure.output_tail.contains(output), "{behaviour}: {}", failure.output_tail);
        assert!(told.message("Plain.Passes").contains(explanation), "{behaviour}");
        assert!(told.output("Plain.Passes").contains(output), "{behaviour}");
        assert!(!told.end.success());
    }
}

#[test]
fn a_failed_test_stays_failed_in_a_process_that_fails_afterwards() {
    let told = told(behaving("leaks"), &["Plain.Passes", "Plain.Fails"], &options());
    assert_eq!(told.verdicts(), [("Plain.Fails", Failed), ("Plain.Passes", Inconclusive)]);
    assert!(told.failures[0].explanation.contains("exited with code 23 although no test failed"));
}

#[test]
fn tests_skipped_by_a_global_environment_are_not_passes() {
    let told = told(behaving("set-up skips"), &["Plain.Passes", "Plain.Fails"], &options());
    assert_eq!(told.verdicts(), [("Plain.Fails", Skipped), ("Plain.Passes", Skipped)]);
}

#[test]
fn a_test_that_was_asked_for_and_did_not_run_is_inconclusive() {
    let told = told(behaving("has its own filter"), &["Plain.Passes", "Plain.Fails"], &options());
    assert_eq!(told.verdicts(), [("Plain.Fails", Inconclusive), ("Plain.Passes", Passed)]);
    let told = self::told(behaving(""), &["Plain.DISABLED_Fails", "Plain.NoSuchTest"], &options());
    assert_eq!(told.verdict("Plain.DISABLED_Fails"), Inconclusive);
    assert!(told.message("Plain.DISABLED_Fails").contains("is disabled"));
    assert_eq!(told.verdict("Plain.NoSuchTest"), Inconclusive);
}

#[test]
fn disabled_tests_run_when_they_are_wanted() {
    let options = RunOptions { run_disabled: true, ..options() };
    let told = told(behaving(""), &["Plain.DISABLED_Fails"], &options);
    assert_eq!(told.verdicts(), [("Plain.DISABLED_Fails", Failed)]);
}

/// Its lines may speak against it, not for it.
#[test]
fn a_program_that_writes_no_report_has_the_outcome_of_the_whole() {
    let tests = ["Plain.Passes", "Plain.Fails"];
    let told = told(behaving("talks, writes no JSON"), &tests, &options());
    assert_eq!(told.verdicts(), [("Plain.Fails", Failed), ("Plain.Passes", Inconclusive)]);
    assert!(told.message("Plain.Fails").contains("sums are"), "{}", told.message("Plain.Fails"));
    assert!(told.failures[0].explanation.contains("writes no report"), "{}", told.failures[0].explanation);
    let told = self::told(behaving("writes no report, tests only one"), &["Plain.Passes"], &options());
    assert_eq!(told.verdicts(), [("Plain.Passes", Passed)]);
    assert!(told.end.success());
}

#[test]
fn an_old_release_is_read_by_its_xml() {
    let tests = ["Plain.Passes", "Plain.Fails", "Plain.Skips"];
    let told = told(behaving("knows no JSON"), &tests, &options());
    let expected = [("Plain.Fails", Failed), ("Plain.Passes", Passed), ("Plain.Skips", Skipped)];
    assert_eq!(told.verdicts(), expected);
    assert!(told.message("Plain.Fails").contains("sums are"), "{}", told.message("Plain.Fails"));
}

/// Its thread aborts while a later test runs, or never if it is alone.
#[test]
fn a_test_that_brings_down_a_later_one_does_not_pass() {
    let tests = ["Bomb.A_IsLaid", "Bomb.B_Waits", "Bomb.C_After"];
    let told = told(behaving(""), &tests, &options());
    assert_eq!(told.verdict("Bomb.A_IsLaid"), Inconclusive);
    assert_eq!(told.verdict("Bomb.B_Waits"), Inconclusive);
    assert_eq!(told.verdict("Bomb.C_After"), Passed);
    assert!(
        told.message("Bomb.A_IsLaid").contains("SIGABRT in Bomb.B_Waits"),
        "{}",
        told.message("Bomb.A_IsLaid")
    );
    assert_eq!(told.failures.len(), 1);
}

/// A leak is told by exit code 1, like the failed test that hides it.
#[test]
fn a_failed_test_hides_no_other_failure_of_its_process() {
    let told = told(behaving("exits with 1"), &["Plain.Passes", "Plain.Fails"], &options());
    assert_eq!(told.verdicts(), [("Plain.Fails", Failed), ("Plain.Passes", Inconclusive)]);
    let told = self::told(behaving(""), &["Plain.Passes", "Plain.Fails"], &options());
    assert_eq!(told.verdicts(), [("Plain.Fails", Failed), ("Plain.Passes", Passed)]);
}

#[test]
fn a_program_whose_printer_is_silent_is_read_by_its_json() {
    let told = told(behaving("silent"), &["Plain.Passes", "Plain.Fails"], &options());
    assert_eq!(told.verdicts(), [("Plain.Fails", Failed), ("Plain.Passes", Passed)]);
    assert!(told.output("Plain.Fails").contains("sums are"), "{}", told.output("Plain.Fails"));
    let told = self::told(behaving("silent"), &["Plain.Passes", "Crash.C_ByExit"], &options());
    assert_eq!(told.verdicts(), [("Crash.C_ByExit", Crashed), ("Plain.Passes", Crashed)]);
    assert!(told.message("Plain.Passes").ends_with("in a test, without saying which"));
}

#[test]
fn a_test_that_hangs_is_stopped_and_the_others_run() {
    let options = RunOptions { test_timeout: Duration::from_secs(3), ..options() };
    let tests = ["Slow.A_Before", "Slow.B_Hangs", "Slow.C_HangsAndWillNotGo", "Slow.D_After"];
    let told = told(behaving(""), &tests, &options);
    let verdicts: Vec<_> = told.verdicts().into_iter().map(|(_, verdict)| verdict).collect();
    assert_eq!(verdicts, [Passed, TimedOut, TimedOut, Passed]);
    assert!(told.output("Slow.B_Hangs").starts_with("going to sleep\n"));
    assert!(told.message("Slow.B_Hangs").contains("after 3 s"), "{}", told.message("Slow.B_Hangs"));
}

#[test]
fn a_hang_outside_of_tests_is_stopped_too() {
    let options = RunOptions { test_timeout: Duration::from_secs(2), ..options() };
    let told = told(behaving("set-up hangs"), &["Plain.Passes", "Plain.Fails"], &options);
    assert_eq!(told.verdicts(), [("Plain.Fails", TimedOut), ("Plain.Passes", TimedOut)]);
    let told = self::told(behaving("hangs at exit"), &["Plain.Passes", "Plain.Fails"], &options);
    assert_eq!(told.verdicts(), [("Plain.Fails", Failed), ("Plain.Passes", Inconclusive)]);
    assert!(told.failures[0].explanation.contains("did not exit"));
}

#[test]
fn a_program_that_cannot_be_started_leaves_its_tests_inconclusive() {
    let program = TestProgram::new("gone", "/nonexistent/program", directory());
    let told = told(program, &["A.B"], &options());
    assert_eq!(told.verdicts(), [("A.B", Inconclusive)]);
    assert!(told.failures[0].explanation.contains("/nonexistent/program could not be started"));
}
