//! Which tests a program says it holds.

use std::time::Duration;

use fewer_runners::googletest::{ListError, ListErrorKind, list};
use fewer_runners::{Cancel, TestProgram};

use crate::fixture::{LIST_TIMEOUT, behaving, directory, listed, names, other};

fn error(program: &TestProgram, timeout: Duration) -> ListError {
    list(program, timeout, &Cancel::new()).unwrap_err()
}

#[test]
fn all_five_kinds_of_tests_are_listed_with_their_parameters() {
    let tests = listed(&behaving(""));
    let found = |name: &str| tests.iter().find(|test| test.name == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(
        (found("Plain.Passes").suite.as_str(), found("Plain.Passes").test.as_str()),
        ("Plain", "Passes")
    );
    assert_eq!(found("Fixture.SeesItAgain").type_parameter, None);
    assert_eq!(found("Typed/0.IsDefaultConstructible").type_parameter.as_deref(), Some("int"));
    assert_eq!(found("Mine/Abstract/1.HasASize").type_parameter.as_deref(), Some("double"));
    let value = found("Some/Values.AreSmall/1").value_parameter.clone().unwrap();
    assert!(value.starts_with("(5, ") && value.ends_with("\"(2 ms)\\n[\")"), "{value}");
    let disabled: Vec<&str> =
        tests.iter().filter(|test| test.disabled).map(|test| test.name.as_str()).collect();
    assert_eq!(disabled, ["Plain.DISABLED_Fails", "DISABLED_Suite.Fails", "DISABLED_Off/Values.AreSmall/0"]);
}

#[test]
fn the_text_list_says_the_same_as_the_json() {
    let strip = |program| {
        // The printed values hold addresses.
        listed(&program)
            .into_iter()
            .map(|test| (test.name, test.type_parameter, test.disabled))
            .collect::<Vec<_>>()
    };
    assert_eq!(strip(behaving("writes no JSON")), strip(behaving("")));
}

#[test]
fn what_main_prints_is_not_taken_for_tests() {
    let expected = names(&listed(&behaving("")));
    assert_eq!(names(&listed(&behaving("talks"))), expected);
    assert_eq!(names(&listed(&behaving("talks, writes no JSON"))), expected);
    assert_eq!(names(&listed(&other())), ["Plain.Passes", "Plain.Fails"]);
}

#[test]
fn odd_names_are_listed_as_they_are() {
    let names = names(&listed(&behaving("odd names")));
    for name in ["with spaces", "a*b", "a:b", "a-b", "\"quoted\" 'too'", "café", "# hash  # two"] {
        assert!(names.contains(&format!("Odd.{name}")), "{name} in {names:?}");
    }
    assert!(names.contains(&"Odd suite-*.name".to_string()));
}

#[test]
fn variables_of_the_caller_do_not_hide_tests() {
    let mut program = behaving("");
    for (name, value) in [("GTEST_FILTER", "None.*"), ("GTEST_TOTAL_SHARDS", "7"), ("GTEST_SHARD_INDEX", "1")]
    {
        program.environment.push((name.into(), value.into()));
    }
    assert_eq!(names(&listed(&program)), names(&listed(&behaving(""))));
}

#[test]
fn a_program_that_dies_while_listing_is_an_error_with_its_last_words() {
    let error = error(&behaving("throws in main"), LIST_TIMEOUT);
    let text = error.to_string();
    assert!(matches!(error.kind, ListErrorKind::Failed { .. }), "{text}");
    assert!(text.contains("was killed by SIGABRT") && text.contains("no configuration"), "{text}");
}

#[test]
fn a_program_that_hangs_while_listing_is_an_error() {
    let error = error(&behaving("hangs in main"), Duration::from_millis(500));
    assert!(matches!(error.kind, ListErrorKind::TimedOut { .. }), "{error}");
}

#[test]
fn a_program_that_runs_its_tests_instead_of_listing_them_is_an_error() {
    let text = error(&behaving("ignores its arguments"), LIST_TIMEOUT).to_string();
    assert!(text.contains("testing::InitGoogleTest") && text.contains("Plain.Passes"), "{text}");
}

#[test]
fn a_program_without_googletest_is_an_error() {
    let error = error(&TestProgram::new("echo", "/bin/echo", directory()), LIST_TIMEOUT);
    assert!(matches!(error.kind, ListErrorKind::NoList { .. }), "{error}");
    let error = self::error(&TestProgram::new("gone", "/nonexistent/program", directory()), LIST_TIMEOUT);
    assert!(error.to_string().contains("/nonexistent/program"), "{error}");
    assert!(matches!(error.kind, ListErrorKind::Start(_)), "{error}");
}

#[test]
fn listing_can_be_cancelled() {
    let cancel = Cancel::new();
    cancel.cancel();
    let error = list(&behaving("hangs in main"), LIST_TIMEOUT, &cancel).unwrap_err();
    assert!(matches!(error.kind, ListErrorKind::Interrupted), "{error}");
}
