//! A cargo workspace with everything that code may hide in: build scripts, features, code before main, an allocator of
//! its own, harnesses of its own, code that another package instantiates.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::rust_run::{OWN, fewer, ran, selected, sorted, verdict};
use crate::workshop::{Project, lines, manifest_directory};

const TESTS: [&str; 17] = [
    "engine::tests::holds",
    "engine::tests::knows_its_fuel",
    "engine::tests::knows_its_volume",
    "engine::tests::opens_what_the_build_script_wrote",
    "engine::tests::sees_the_variable_of_the_build_script",
    "tool/allocator::adds",
    "tool/allocator::collects",
    "tool/bin/tool::tests::chains_what_is_not_known",
    "tool/bin/tool::tests::holds",
    "tool/bin/tool::tests::refuses",
    "tool/earliest::adds",
    "tool/earliest::knows_the_weather",
    "tool/early::adds",
    "tool/early::has_started",
    QUIET,
    STARTED,
    "tool/talking::*",
];
const QUIET: &str = "tool/quiet::*";
const STARTED: &str = "tool/started::prints";

/// The workspace, with all outcomes recorded.
fn workspace() -> Project {
    static SETTLED: OnceLock<PathBuf> = OnceLock::new();
    Project::made_once(&SETTLED, "cargo-workspace", || {
        let project = Project::of_tree(&manifest_directory().join("tests/command/cargo_workspace"));
        project.commit_all();
        assert_eq!(ran(fewer(&project, &["run", "--format", "json"]).json(0)), TESTS);
        assert_eq!(selected(&project), Vec::<String>::new());
        project
    })
}

/// What is selected once a text is replaced, which is undone afterwards.
#[track_caller]
fn selected_after(project: &Project, path: &str, from: &str, to: &str) -> Vec<String> {
    project.edit(path, from, to);
    let tests = selected(project);
    project.edit(path, to, from);
    tests
}

#[test]
fn an_allocator_is_part_of_every_test_of_its_program() {
    let project = workspace();
    let tests = selected_after(&project, "tool/tests/allocator.rs", "size + 1", "size + 2");
    assert_eq!(seen(&tests), ["tool/allocator::adds", "tool/allocator::collects"]);
}

#[test]
fn code_that_runs_before_main_is_part_of_the_tests_it_can_change() {
    let project = workspace();
    let tests = selected_after(&project, "tool/tests/early.rs", "store(5", "store(4");
    assert!(tests.contains(&"tool/early::has_started".to_string()), "{tests:?}");
    assert!(tests.iter().all(|test| test.starts_with("tool/early::")), "{tests:?}");
    let tests = selected_after(&project, "tool/tests/earliest.rs", "sunny", "rainy");
    assert_eq!(tests, ["tool/earliest::adds", "tool/earliest::knows_the_weather"]);
    project.edit("tool/tests/early.rs", "#[used]", "#[cfg(any())]\n#[used]");
    let document = fewer(&project, &["run", "--format", "json"]).json(1);
    assert_eq!(verdict(&document, "tool/early::has_started"), "failed");
}

#[test]
fn a_program_with_a_main_function_of_its_own_is_one_test() {
    let project = workspace();
    // It might be what another test starts.
    assert_eq!(selected_after(&project, "tool/tests/quiet.rs", "10", "11"), [QUIET, STARTED]);
    let tests = selected_after(&project, "tool/words.txt", "3", "4");
    assert!(
        tests.contains(&QUIET.to_string()) && !tests.contains(&"tool/early::adds".to_string()),
        "{tests:?}"
    );
    project.write("tool/words.txt", "5\n");
    let why = fewer(&project, &["why", QUIET]).expect(0);
    assert!(why.contains("file tool/words.txt changed"), "{why}");
    let document = fewer(&project, &["run", "--format", "json"]).json(1);
    assert_eq!(verdict(&document, QUIET), "failed");
}

#[test]
fn what_a_build_script_makes_is_part_of_the_tests_that_use_it() {
    let project = workspace();
    let code = selected_after(&project, "engine/limit.txt", "7", "8");
    for test in ["engine::tests::holds", "tool/bin/tool::tests::refuses", QUIET] {
        assert!(code.contains(&test.to_string()), "{test} is not among {code:?}");
    }
    assert!(!code.contains(&"engine::tests::knows_its_fuel".to_string()), "{code:?}");
    let variable = selected_after(&project, "engine/fuel.txt", "diesel", "petrol");
    for test in ["engine::tests::knows_its_fuel", "engine::tests::sees_the_variable_of_the_build_script"] {
        assert!(variable.contains(&test.to_string()), "{test} is not among {variable:?}");
    }
    assert!(!variable.contains(&"tool/allocator::adds".to_string()), "{variable:?}");
    let file = selected_after(&project, "engine/build.rs", "to_uppercase", "to_lowercase");
    assert!(file.contains(&"engine::tests::opens_what_the_build_script_wrote".to_string()), "{file:?}");
}

#[test]
fn a_program_of_the_workspace_is_part_of_the_tests_that_start_programs() {
    let project = workspace();
    let tests = selected_after(&project, "tool/src/main.rs", "rules::Add(1)", "rules::Add(2)");
    assert!(tests.contains(&STARTED.to_string()), "{tests:?}");
    assert_eq!(seen(&tests), Vec::<&String>::new());
}

#[test]
fn equal_names_in_several_packages_are_several_tests() {
    let project = workspace();
    let tests =
        selected_after(&project, "tool/src/main.rs", "chain(&[Add(2)], 1), 3", "chain(&[Add(3)], 1), 4");
    assert_eq!(seen(&tests), ["tool/bin/tool::tests::holds"]);
    let tests = selected_after(&project, "engine/src/lib.rs", "limit() > 0", "limit() > 1");
    assert_eq!(seen(&tests), ["engine::tests::holds"]);
}

#[test]
fn generics_and_trait_objects_are_followed_from_package_to_package() {
    let project = workspace();
    // The bodies are in one package, the instance and the implementation in the other.
    let generic = selected_after(
        &project,
        "engine/src/lib.rs",
        "|number, rule| rule.apply(number)",
        "|number, rule| rule.apply(number) + 0u32.min(rules.len() as u32)",
    );
    assert_eq!(seen(&generic), ["tool/bin/tool::tests::holds"]);
    let provided = selected_after(
        &project,
        "engine/src/lib.rs",
        "self.apply(self.apply(number))",
        "self.apply(self.apply(number) + 1)",
    );
    assert_eq!(seen(&provided), ["tool/bin/tool::tests::chains_what_is_not_known"]);
    let implementation = selected_after(&project, "tool/src/rules.rs", "number * 2", "number * 3");
    assert_eq!(seen(&implementation), ["tool/bin/tool::tests::chains_what_is_not_known"]);
    project.edit(
        "tool/src/rules.rs",
        "for Double {",
        "for Double {\n    fn apply_twice(&self, number: u32) -> u32 {\n        number\n    }\n",
    );
    assert_eq!(seen(&selected(&project)), ["tool/bin/tool::tests::chains_what_is_not_known"]);
}

#[test]
fn what_is_ignored_or_should_panic_is_part_of_a_test() {
    let project = workspace();
    let ignored = selected_after(&project, "tool/src/main.rs", "#[ignore]", "#[cfg(all())]");
    assert_eq!(seen(&ignored), ["tool/bin/tool::tests::waits"]);
    project.edit("tool/src/main.rs", "#[should_panic]", "#[cfg(all())]");
    let document = fewer(&project, &["run", "--format", "json"]).json(1);
    assert_eq!(seen(&ran(document.clone())), ["tool/bin/tool::tests::refuses"]);
    assert_eq!(verdict(&document, "tool/bin/tool::tests::refuses"), "failed");
}

#[test]
fn features_and_profiles_are_part_of_the_code() {
    let project = workspace();
    project.write("fewer.toml", "[cargo]\narguments = [\"--workspace\", \"--features\", \"engine/loud\"]\n");
    let featured = selected(&project);
    for test in ["engine::tests::knows_its_volume", "tool/talking::*"] {
        assert!(featured.contains(&test.to_string()), "{test} is not among {featured:?}");
    }
    project.write("fewer.toml", "");
    project.edit("Cargo.toml", "[workspace]", "[profile.test]\noverflow-checks = false\n\n[workspace]");
    let unchecked = selected(&project);
    assert!(unchecked.contains(&"tool/bin/tool::tests::holds".to_string()), "{unchecked:?}");
    project.write("fewer.toml", "[cargo]\narguments = [\"--workspace\", \"--release\"]\n");
    assert_eq!(selected(&project), TESTS);
}

#[test]
fn files_count_for_programs_whose_objects_were_not_kept() {
    let project = workspace();
    let variables = [OWN[0], ("CARGO_INCREMENTAL", "0")];
    project.command("rm", &["-r", "target"]);
    project.fewer_with(&variables, &["run"]).expect(0);
    let select = || sorted(lines(&project.fewer_with(&variables, &["select", "--build"]).expect(0)));
    assert_eq!(select(), Vec::<String>::new());
    project.write("tool/words.txt", "3 \n");
    let tests = select();
    for test in [QUIET, "engine::tests::opens_what_the_build_script_wrote"] {
        assert!(tests.contains(&test.to_string()), "{test} is not among {tests:?}");
    }
}

#[test]
fn what_was_found_is_said_before_and_after_the_build() {
    let project = Project::of_tree(&manifest_directory().join("tests/command/cargo_workspace"));
    project.write("Makefile", "all:\n\tcargo build\n");
    let said = project.fewer_with(&[OWN[0], ("CARGO_INCREMENTAL", "0")], &["init"]).stderr;
    for words in
        ["build system: cargo", "packages: engine, tool", "test programs: 8", "CARGO_INCREMENTAL is 0"]
    {
        assert!(said.contains(words), "{words} is not in {said}");
    }
    let settings = std::fs::read_to_string(project.file("fewer.toml")).unwrap();
    assert!(settings.contains("[cargo]") && !settings.contains("build-directory"), "{settings}");
    assert!(fewer(&project, &["doctor"]).refused(2).contains("fewer run"));
    let settled = workspace();
    // The copy does not take over what cargo told of the original.
    assert!(fewer(&settled, &["doctor"]).refused(2).contains("another directory"));
    selected(&settled);
    let report = fewer(&settled, &["doctor"]).expect(0);
    assert!(report.contains("cargo: 8 test programs, 1 libraries, 18 tests, run by "), "{report}");
    assert!(report.contains("nothing to mend"), "{report}");
}

#[test]
fn tests_that_a_file_or_an_item_would_select_are_told() {
    let project = workspace();
    selected(&project);
    let affected = |input: &str| sorted(lines(&fewer(&project, &["affected", input]).expect(0)));
    let generic = affected("engine::chain");
    assert_eq!(seen(&generic), ["tool/bin/tool::tests::holds"]);
    let source = affected("engine/src/lib.rs");
    for test in ["engine::tests::holds", "tool/bin/tool::tests::holds", QUIET] {
        assert!(source.contains(&test.to_string()), "{test} is not among {source:?}");
    }
    assert!(!source.contains(&"tool/allocator::adds".to_string()), "{source:?}");
    assert!(affected("tool/tests/quiet.rs").contains(&QUIET.to_string()));
    assert!(affected("tool/words.txt").contains(&QUIET.to_string()));
}

#[test]
fn a_fixture_in_java_leaves_the_answer_to_rust_and_documentation_tests_are_in_it() {
    let project = workspace();
    project.write(
        "tool/tests/fixtures/DemoTest.java",
        "class DemoTest { @org.junit.Test public void works() {} }\n",
    );
    project.edit("engine/src/lib.rs", "/// Does not know its rules.", "/// ```\n/// let _ = 1;\n/// ```");
    project.commit_all();
    selected(&project);
    let tests = lines(&fewer(&project, &["affected", "engine/src/lib.rs"]).expect(0));
    for test in ["engine::tests::holds", "engine/doc::*"] {
        assert!(tests.contains(&test.to_string()), "{test} is not among {tests:?}");
    }
    assert!(!tests.iter().any(|test| test.contains("DemoTest")), "{tests:?}");
}

/// Those that start no program of the workspace, as far as is known.
fn seen(tests: &[String]) -> Vec<&String> {
    tests.iter().filter(|test| !test.ends_with("::*") && *test != STARTED).collect()
}
