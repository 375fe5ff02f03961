//! How a CTest entry starts a GoogleTest program, if fewer can do the same and keep everything the entry asks for; and
//! which of the program's tests it means. What is not known here is CTest's to do.

use std::path::PathBuf;
use std::time::Duration;

use fewer_runners::ctest::CtestEntry;
use fewer_runners::is_takeover_variable;
use serde_json::Value;

/// Properties that are always kept when fewer starts the program itself.
const KEPT: &[&str] = &[
    "ATTACHED_FILES",
    "ATTACHED_FILES_ON_FAIL",
    "COST",
    "ENVIRONMENT",
    "ENVIRONMENT_MODIFICATION",
    "LABELS",
    "PROCESSORS",
    "RESOURCE_LOCK",
    "RUN_SERIAL",
    "WORKING_DIRECTORY",
];

/// What `gtest_discover_tests` has CTest look for in the output of each test: GoogleTest tells by itself that one was
/// skipped.
const SAYS_SKIPPED: &str = r"\[  SKIPPED \]";

/// How a program is started. Two entries that differ in it are two ways to run it.
#[derive(Clone, PartialEq, Debug)]
pub struct Way {
    pub directory: PathBuf,
    environment: Vec<Option<Value>>,
    /// Without those that only tell which tests are meant or how the results look.
    pub arguments: Vec<String>,
    /// For each test.
    pub timeout: Option<Duration>,
}

/// Which tests of a program an entry means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    pub tests: Chosen,
    /// Also those that are disabled by their name.
    pub with_disabled: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Chosen {
    All,
    /// By its full name. Example: `Queue.Pops`.
    One(String),
    Some(Filter),
}

/// GoogleTest's language for choosing tests. Example: `Queue.*:Stack.*-*.Slow`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

/// What a flag of GoogleTest changes, or the variable that stands for it.
#[derive(PartialEq, Eq)]
enum Flag {
    /// What people see of the results.
    Looks,
    /// How each test behaves.
    Manner,
    /// Which tests run.
    Choice,
    /// How often and in which order they run, when the program gives up, or something newer than this list.
    Other,
}

/// `None` if something about the entry is not known to be kept.
pub fn way_of(entry: &CtestEntry) -> Option<(Way, Choice)> {
    let (arguments, choice) = parted(entry.command.get(1..)?)?;
    let is_one = matches!(choice.tests, Chosen::One(_));
    let mut properties = entry.properties.iter().filter(|(_, value)| is_given(value));
    if !properties.all(|(name, value)| is_kept(name, value, is_one))
        || !entry.environment.iter().all(|(name, _)| is_plain(name))
    {
        return None;
    }
    let property = |name: &str| entry.properties.get(name).cloned();
    let way = Way {
        directory: entry.working_directory.clone(),
        environment: vec![property("ENVIRONMENT"), property("ENVIRONMENT_MODIFICATION")],
        arguments,
        timeout: entry.timeout,
    };
    Some((way, choice))
}

/// Some properties can be kept for a single test only: a limit for many together, say, tells nothing of each.
fn is_kept(name: &str, value: &Value, is_one: bool) -> bool {
    match name {
        "DISABLED" => is_one,
        "TIMEOUT" => is_one && value.as_f64().is_some_and(|seconds| seconds > 0.0),
        "SKIP_REGULAR_EXPRESSION" => is_one && *value == Value::from(vec![SAYS_SKIPPED]),
        _ => KEPT.contains(&name) || name.starts_with('_'),
    }
}

/// A property that is set to nothing is as good as absent.
fn is_given(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Object(_) => true,
    }
}

/// Whether a variable of the entry neither chooses tests nor repeats them.
fn is_plain(variable: &str) -> bool {
    match variable.strip_prefix("GTEST_") {
        Some(name) => matches!(flag(&name.to_lowercase()), Flag::Looks | Flag::Manner),
        None => !is_takeover_variable(variable),
    }
}

fn flag(name: &str) -> Flag {
    match name {
        "brief" | "color" | "output" | "print_time" | "print_utf8" => Flag::Looks,
        "catch_exceptions" | "death_test_style" | "death_test_use_fork" | "random_seed" => Flag::Manner,
        "also_run_disabled_tests" | "filter" => Flag::Choice,
        _ => Flag::Other,
    }
}

/// The arguments that are the program's own, and what the others choose.
fn parted(arguments: &[String]) -> Option<(Vec<String>, Choice)> {
    let mut own = Vec::new();
    let mut choice = Choice { tests: Chosen::All, with_disabled: false };
    for argument in arguments {
        let Some(text) = argument.trim_start_matches('-').strip_prefix("gtest_") else {
            own.push(argument.clone());
            continue;
        };
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        match (flag(name), name, value) {
            _ if !argument.starts_with("--") => return None,
            (Flag::Looks, ..) => {}
            (Flag::Manner, _, Some(_)) => own.push(argument.clone()),
            (Flag::Choice, "filter", Some(filter)) if choice.tests == Chosen::All => {
                choice.tests = Chosen::of(filter);
            }
            (Flag::Choice, "also_run_disabled_tests", None) => choice.with_disabled = true,
            (Flag::Manner | Flag::Choice | Flag::Other, ..) => return None,
        }
    }
    Some((own, choice))
}

impl Chosen {
    fn of(filter: &str) -> Chosen {
        if filter.contains(['*', '?', ':', '-']) {
            Chosen::Some(Filter::of(filter))
        } else {
            Chosen::One(filter.to_string())
        }
    }

    pub fn has(&self, name: &str) -> bool {
        match self {
            Chosen::All => true,
            Chosen::One(one) => one == name,
            Chosen::Some(filter) => filter.has(name),
        }
    }
}

impl Filter {
    fn of(text: &str) -> Filter {
        let patterns = |text: &str| text.split(':').map(str::to_string).collect();
        match text.split_once('-') {
            Some(("", unwanted)) => Filter { wanted: vec!["*".to_string()], unwanted: patterns(unwanted) },
            Some((wanted, unwanted)) => Filter { wanted: patterns(wanted), unwanted: patterns(unwanted) },
            None => Filter { wanted: patterns(text), unwanted: Vec::new() },
        }
    }

    fn has(&self, name: &str) -> bool {
        let matches = |patterns: &[String]| {
            patterns.iter().any(|pattern| is_match(pattern.as_bytes(), name.as_bytes()))
        };
        matches(&self.wanted) && !matches(&self.unwanted)
    }
}

/// `*` stands for any text, `?` for any one character. Goes back to the last `*` only: no pattern takes long.
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut position) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while position < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                last_star = Some((at, position));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[position] => {
                at += 1;
                position += 1;
            }
            Some(_) | None => {
                let Some((star, taken)) = last_star else { return false };
                last_star = Some((star, taken + 1));
                (at, position) = (star + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted_words(words: &[&str]) -> Option<(Vec<String>, Choice)> {
        parted(&words.iter().map(|word| word.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn filters_choose_as_googletest_does() {
        let cases = [
            ("*", "A.b", true),
            ("A.*", "A.b", true),
            ("A.*", "B.b", false),
            ("A.?", "A.bc", false),
            ("*/A.b/*", "X/A.b/7", true),
            ("A.b:B.c", "B.c", true),
            ("-A.b", "A.b", false),
            ("-A.b", "A.c", true),
            ("A.*-A.b:A.c", "A.c", false),
            ("A.*-A.b:A.c", "A.d", true),
            ("*a*a*b", "aaaaaaaab", true),
            ("*a*a*b", "aaaaaaaac", false),
        ];
        for (filter, name, is_chosen) in cases {
            assert_eq!(Filter::of(filter).has(name), is_chosen, "{filter} {name}");
        }
    }

    #[test]
    fn the_flags_of_a_discovered_test_only_choose_it() {
        let (own, choice) =
            parted_words(&["--gtest_filter=A.b", "--gtest_also_run_disabled_tests", "--data=x"]).unwrap();
        assert_eq!(own, ["--data=x"]);
        assert_eq!(choice, Choice { tests: Chosen::One("A.b".to_string()), with_disabled: true });
    }

    #[test]
    fn flags_that_repeat_shuffle_or_are_unknown_are_ctests_to_give() {
        for argument in [
            "--gtest_repeat=1",
            "--gtest_shuffle",
            "--gtest_flagfile=x",
            "--gtest_break_on_failure",
            "--gtest_also_run_disabled_tests=0",
            "--gtest_from_the_future",
            "-gtest_filter=A.b",
            "--gtest_filter",
        ] {
            assert_eq!(parted_words(&[argument]), None, "{argument}");
        }
        assert_eq!(parted_words(&["--gtest_filter=A.b", "--gtest_filter=A.c"]), None);
        assert!(parted_words(&["--gtest_color=yes", "--gtest_random_seed=7"]).is_some());
    }

    #[test]
    fn variables_in_place_of_flags_are_judged_alike() {
        for variable in ["GTEST_REPEAT", "GTEST_FILTER", "GTEST_SHUFFLE", "TEST_SHARD_INDEX", "GTEST_NEW"] {
            assert!(!is_plain(variable), "{variable}");
        }
        for variable in ["PATH", "GTEST_COLOR", "GTEST_RANDOM_SEED"] {
            assert!(is_plain(variable), "{variable}");
        }
    }
}
