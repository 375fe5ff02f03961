//! CTest entries of a real CMake project without a compiler.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use fewer_core::outcome::Verdict::{self, Crashed, Failed, Inconclusive, Passed, Skipped, TimedOut};
use fewer_core::test_id::TestId;
use fewer_runners::ctest::{self, CtestEntry, CtestTest, entries, run};
use fewer_runners::{Cancel, Event, ProcessFailure, RunEnd, RunOptions, TestResult};

use crate::fixture::{await_death, await_text, directory, options};

const PROJECT: &str = r#"
cmake_minimum_required(VERSION 3.19)
project(entries NONE)
enable_testing()
add_test(NAME surroundings COMMAND sh -c "test \"$FOO\" = 'a b' && test \"$(pwd)\" = /usr && echo \"<$PREFIXED>\"")
set_tests_properties(surroundings PROPERTIES WORKING_DIRECTORY /usr ENVIRONMENT "FOO=a b;PREFIXED=x"
  ENVIRONMENT_MODIFICATION "PREFIXED=path_list_prepend:/opt/lib;HOME=unset:" LABELS "quick;first" TIMEOUT 45)
add_test(NAME will_fail COMMAND false)
set_tests_properties(will_fail PROPERTIES WILL_FAIL TRUE)
add_test(NAME says_so COMMAND sh -c "echo 'all good'; exit 3")
set_tests_properties(says_so PROPERTIES PASS_REGULAR_EXPRESSION "all good")
add_test(NAME says_otherwise COMMAND echo "all <bad> & more")
set_tests_properties(says_otherwise PROPERTIES PASS_REGULAR_EXPRESSION "all good")
add_test(NAME "odd (name) [x]*+ .$ \" é" COMMAND sh -c "echo odd; exit 3")
add_test(NAME crash COMMAND sh -c "kill -SEGV $$")
add_test(NAME slow COMMAND sh -c "echo $$ > slow.pid; sleep 600; true")
add_test(NAME skip COMMAND sh -c "exit 77")
set_tests_properties(skip PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME off COMMAND true)
set_tests_properties(off PROPERTIES DISABLED TRUE)
add_test(NAME unbuilt COMMAND /nonexistent/test)
add_test(NAME prepare COMMAND touch prepared)
add_test(NAME needs_it COMMAND test -e prepared)
add_test(NAME clean_up COMMAND rm prepared)
set_tests_properties(prepare PROPERTIES FIXTURES_SETUP files)
set_tests_properties(needs_it PROPERTIES FIXTURES_REQUIRED files)
set_tests_properties(clean_up PROPERTIES FIXTURES_CLEANUP files)
add_test(NAME broken_set_up COMMAND false)
add_test(NAME needs_the_broken COMMAND true)
set_tests_properties(broken_set_up PROPERTIES FIXTURES_SETUP broken)
set_tests_properties(needs_the_broken PROPERTIES FIXTURES_REQUIRED broken)
add_test(NAME broken_clean_up COMMAND false)
add_test(NAME fine_itself COMMAND true)
set_tests_properties(broken_clean_up PROPERTIES FIXTURES_CLEANUP littering)
set_tests_properties(fine_itself PROPERTIES FIXTURES_REQUIRED littering)
add_test(NAME endless COMMAND sleep 600)
add_subdirectory(below)
"#;

/// Configured once; the fixtures that touch files are used by one test only.
fn project() -> &'static PathBuf {
    static BUILD: OnceLock<PathBuf> = OnceLock::new();
    BUILD.get_or_init(|| {
        let source = directory().join("entries");
        fs::create_dir_all(source.join("below")).unwrap();
        fs::write(source.join("CMakeLists.txt"), PROJECT).unwrap();
        fs::write(source.join("below/CMakeLists.txt"), "add_test(NAME crash COMMAND true)\n").unwrap();
        let build = source.join("build");
        let output = Command::new("cmake").arg("-S").arg(&source).arg("-B").arg(&build).output();
        let output = output.expect("cmake is needed by these tests");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        build
    })
}

fn all() -> Vec<CtestEntry> {
    let told = ctest::told(project(), None, &Cancel::new()).unwrap();
    entries(project(), &told).unwrap()
}

struct Told {
    end: RunEnd,
    results: BTreeMap<String, TestResult>,
    failures: Vec<ProcessFailure>,
}

/// Runs the entries that `wanted` accepts.
fn told(
    wanted: impl Fn(&CtestEntry) -> bool,
    options: &RunOptions,
    mut on_start: impl FnMut(&TestId),
) -> Told {
    let tests: Vec<CtestTest> = all()
        .into_iter()
        .filter(wanted)
        .map(|entry| CtestTest { test: TestId::new(format!("ctest{}", entry.number), &entry.name), entry })
        .collect();
    let mut results = BTreeMap::new();
    let mut failures = Vec::new();
    let end = run(project(), None, &tests, options, &mut |event| match event {
        Event::TestStarted { test } => on_start(&test),
        Event::TestEnded { .. } => {}
        Event::TestFinished(result) => {
            assert!(results.insert(result.test.name.clone(), result).is_none());
        }
        Event::ProcessFailed(failure) => failures.push(failure),
        Event::Indivisible(indivisible) => panic!("{indivisible:?}"),
    });
    Told { end: end.unwrap(), results, failures }
}

fn named(names: &[&str]) -> impl Fn(&CtestEntry) -> bool {
    move |entry| names.contains(&entry.name.as_str()) && entry.number < 19
}

fn verdicts(told: &Told) -> Vec<(&str, Verdict)> {
    told.results.iter().map(|(name, result)| (name.as_str(), result.outcome.verdict)).collect()
}

#[test]
fn entries_carry_their_surroundings() {
    let entries = all();
    let entry = &entries[0];
    assert_eq!((entry.name.as_str(), entry.number), ("surroundings", 1));
    assert!(entry.command[0].ends_with("/sh") && entry.command[1] == "-c");
    assert_eq!(entry.working_directory, PathBuf::from("/usr"));
    let pairs: Vec<(&str, &str)> = entry.environment.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(pairs, [("FOO", "a b"), ("PREFIXED", "/opt/lib:x")]);
    assert_eq!(entry.environment_removed, ["HOME"]);
    assert_eq!(entry.timeout, Some(Duration::from_secs(45)));
    assert_eq!(entry.labels, ["first", "quick"]);
    let by_name = |name: &str| entries.iter().find(|entry| entry.name == name).unwrap();
    assert!(by_name("will_fail").will_fail && by_name("off").disabled);
    assert!(by_name("says_so").properties.contains_key("PASS_REGULAR_EXPRESSION"));
    assert_eq!(by_name("unbuilt").program("x"), None);
    let program = entry.program("checks").unwrap();
    assert_eq!((program.target.as_str(), program.arguments.len()), ("checks", 2));
    assert_eq!(program.working_directory, entry.working_directory);
    assert_eq!(entries.last().unwrap().working_directory, project().join("below"));
}

#[test]
fn a_directory_without_tests_has_no_entries() {
    let empty = tempfile::tempdir().unwrap();
    let told = ctest::told(empty.path(), None, &Cancel::new()).unwrap();
    assert_eq!(entries(empty.path(), &told).unwrap(), []);
    fs::write(empty.path().join("CTestTestfile.cmake"), "no such command here()").unwrap();
    let error = ctest::told(empty.path(), None, &Cancel::new()).unwrap_err();
    assert!(error.to_string().contains("CTestTestfile.cmake"), "{error}");
}

#[test]
fn properties_mean_what_ctest_says() {
    let odd = "odd (name) [x]*+ .$ \" é";
    let names =
        ["surroundings", "will_fail", "says_so", "says_otherwise", odd, "skip", "off", "unbuilt", "crash"];
    let told = told(named(&names), &options(), |_| {});
    assert_eq!(
        verdicts(&told),
        [
            ("crash", Crashed),
            (odd, Failed),
            ("off", Skipped),
            ("says_otherwise", Failed),
            ("says_so", Passed),
            ("skip", Skipped),
            ("surroundings", Passed),
            ("unbuilt", Failed),
            ("will_fail", Passed),
        ]
    );
    let output = |name: &str| told.results[name].outcome.output_tail.as_str();
    assert_eq!(output("surroundings"), "</opt/lib:x>\n");
    assert!(output("says_otherwise").starts_with("all <bad> & more\n"));
    assert!(output("says_otherwise").contains("Required regular expression not found"));
    assert!(output(odd).starts_with("odd\n"));
    assert_eq!(told.results["crash"].message.as_deref(), Some("ctest says: ***Exception: SegFault"));
    assert!(told.results["unbuilt"].message.as_ref().unwrap().contains("Unable to find executable"));
    assert!(told.failures.is_empty() && !told.end.interrupted);
    assert_eq!((told.end.passed, told.end.failed, told.end.skipped), (3, 4, 2));
}

#[test]
fn entries_of_the_same_name_are_told_apart() {
    let mut results = Vec::new();
    for number in [6, 19] {
        let told = told(|entry| entry.number == number, &options(), |_| {});
        results.push(
            verdicts(&told).iter().map(|(name, verdict)| (name.to_string(), *verdict)).collect::<Vec<_>>(),
        );
    }
    assert_eq!(results, [[("crash".to_string(), Crashed)], [("crash".to_string(), Passed)]]);
}

#[test]
fn a_test_that_hangs_is_stopped() {
    let options = RunOptions { test_timeout: Duration::from_secs(1), ..options() };
    let told = told(named(&["endless"]), &options, |_| {});
    assert_eq!(verdicts(&told), [("endless", TimedOut)]);
}

#[test]
fn fixtures_run_along_without_a_result_of_their_own() {
    let told = told(named(&["needs_it", "needs_the_broken", "fine_itself"]), &options(), |_| {});
    assert_eq!(
        verdicts(&told),
        [("fine_itself", Inconclusive), ("needs_it", Passed), ("needs_the_broken", Failed)]
    );
    assert!(!project().join("prepared").exists());
}

#[test]
fn a_failed_clean_up_fails_the_run_and_the_test_it_belongs_to() {
    let told = told(named(&["fine_itself"]), &options(), |_| {});
    assert_eq!(verdicts(&told), [("fine_itself", Inconclusive)]);
    assert!(told.results["fine_itself"].message.as_ref().unwrap().contains("broken_clean_up"));
    assert_eq!(told.failures.len(), 1);
    assert!(told.failures[0].explanation.contains("broken_clean_up"), "{}", told.failures[0].explanation);
    assert!(!told.end.success());
}

#[test]
fn cancelling_keeps_what_had_ended() {
    let options = RunOptions { workers: std::num::NonZeroUsize::MIN, ..options() };
    let pid_file = project().join("slow.pid");
    let _ = fs::remove_file(&pid_file);
    let told = told(named(&["will_fail", "slow", "says_so"]), &options, |test| {
        if test.name == "slow" {
            await_text(&pid_file);
            options.cancel.cancel();
        }
    });
    assert!(told.end.interrupted);
    assert!(!told.results.contains_key("slow"));
    assert!(verdicts(&told).iter().all(|(_, verdict)| *verdict == Passed));
    await_death(fs::read_to_string(&pid_file).unwrap().trim());
}

#[test]
fn an_entry_that_has_moved_is_inconclusive() {
    let mut entry = all().remove(0);
    entry.name = "renamed".into();
    let tests = [CtestTest { test: TestId::new("t", "renamed"), entry }];
    let mut verdicts = Vec::new();
    run(project(), None, &tests, &options(), &mut |event| {
        if let Event::TestFinished(result) = event {
            verdicts.push(result.outcome.verdict);
        }
    })
    .unwrap();
    assert_eq!(verdicts, [Inconclusive]);
}
