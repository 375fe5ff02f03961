//! A cargo project whose tests are run by the real nextest, with its own configuration.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::rust_run::{OWN, ran, verdict};
use crate::workshop::{Ended, Project, lines};

const MANIFEST: &str = "[package]\nname = \"trials\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                        [[test]]\nname = \"plain\"\nharness = false\n";
const LIBRARY: &str = r#"//! Tests that end in every way.

#[test]
fn aborts() {
    std::process::abort();
}

#[test]
fn fails() {
    println!("what it printed");
    assert_eq!(1 + 1, 3, "a sum");
}

#[test]
fn hangs() {
    std::thread::sleep(std::time::Duration::from_secs(600));
}

#[test]
fn is_run_by_nextest() {
    assert_eq!(std::env::var("NEXTEST").as_deref(), Ok("1"));
    assert_eq!(std::env::var("PREPARED").as_deref(), Ok("yes"));
}

#[test]
fn is_left_out_by_default() {}

#[test]
fn passes_when_tried_again() {
    let tries = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tries");
    let before = std::fs::read_to_string(&tries).unwrap_or_default();
    std::fs::write(&tries, format!("{before}x")).unwrap();
    assert_eq!(before.len(), 2, "not yet");
}
"#;
const CONFIGURATION: &str = r#"experimental = ["setup-scripts"]

[profile.default]
default-filter = "not test(=is_left_out_by_default)"

[profile.default.junit]
path = "elsewhere.xml"

[profile.ci]
retries = 2

[[profile.ci.overrides]]
filter = "not test(=passes_when_tried_again)"
retries = 0

[[profile.ci.overrides]]
filter = "test(=hangs)"
slow-timeout = { period = "1s", terminate-after = 2 }

[scripts.setup.prepare]
command = "sh -c 'echo PREPARED=yes >> \"$NEXTEST_ENV\"'"

[[profile.ci.scripts]]
filter = "all()"
setup = "prepare"
"#;

fn project() -> Project {
    let project = Project::empty();
    project.write("Cargo.toml", MANIFEST);
    project.write(".gitignore", "/target\n");
    project.write("src/lib.rs", LIBRARY);
    project
        .write("tests/plain.rs", "fn main() {\n    assert!(std::env::var_os(\"NEXTEST\").is_none());\n}\n");
    project.write(".config/nextest.toml", CONFIGURATION);
    project.commit_all();
    project
}

/// Where `scripts/install-nextest` puts it.
pub fn nextest_directory() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(".cache"));
    let directory = cache.join("fewer/tools/bin");
    assert!(
        directory.join("cargo-nextest").is_file(),
        "{} does not hold cargo-nextest: scripts/install-nextest installs it",
        directory.display()
    );
    directory
}

fn fewer(project: &Project, arguments: &[&str]) -> Ended {
    let path = format!("{}:{}", nextest_directory().display(), std::env::var("PATH").unwrap());
    let more = [("PATH", path.as_str()), ("NEXTEST_PROFILE", "ci")];
    project.fewer_with(&[&OWN[..], &more[..]].concat(), arguments)
}

fn test<'d>(document: &'d Value, id: &str) -> &'d Value {
    document["tests"].as_array().unwrap().iter().find(|test| test["id"] == id).unwrap()
}

#[test]
fn outcomes_are_those_that_nextest_tells_and_its_configuration_holds() {
    let project = project();
    let document = fewer(&project, &["run", "--format", "json"]).json(1);
    assert_eq!(ran(document.clone()).len(), 7);
    for (name, expected) in [
        ("trials::aborts", "crashed"),
        ("trials::fails", "failed"),
        ("trials::hangs", "timed-out"),
        ("trials::is_left_out_by_default", "passed"),
        ("trials::is_run_by_nextest", "passed"),
        ("trials::passes_when_tried_again", "passed"),
        ("trials/plain::*", "passed"),
    ] {
        assert_eq!(verdict(&document, name), expected, "{name}");
    }
    let selected = lines(&fewer(&project, &["select"]).expect(0));
    for test in ["trials::aborts", "trials::fails", "trials::hangs", "trials::passes_when_tried_again"] {
        assert!(selected.contains(&test.to_string()), "{test} is not among {selected:?}");
    }
    assert_eq!(selected.len(), 4, "{selected:?}");
    let plan = fewer(&project, &["select", "--format", "json"]).json(0);
    assert_eq!(test(&plan, "trials::passes_when_tried_again")["reason"], "flaky");
    let shown = fewer(&project, &["run"]).expect(1);
    assert!(shown.contains("a sum") && shown.contains("what it printed"), "{shown}");
}

#[test]
fn the_settings_say_who_runs_the_tests() {
    let project = project();
    project.write(
        "src/lib.rs",
        "#[test]\nfn asks() {\n    assert!(std::env::var_os(\"NEXTEST\").is_none());\n}\n",
    );
    project.write("fewer.toml", "[rust]\nrunner = \"cargo\"\n");
    assert_eq!(verdict(&fewer(&project, &["run", "--format", "json"]).json(0), "trials::asks"), "passed");
    project.write("fewer.toml", "[cargo]\nrunner = \"nextest\"\n");
    let document = fewer(&project, &["run", "--all", "--format", "json"]).json(1);
    assert_eq!(verdict(&document, "trials::asks"), "failed");
    let cargo = Path::new(env!("CARGO"));
    let rustc = cargo.with_file_name("rustc");
    let without = [
        ("PATH", "/usr/bin:/bin"),
        ("CARGO", cargo.to_str().unwrap()),
        ("RUSTC", rustc.to_str().unwrap()),
        ("CARGO_HOME", "home"),
    ];
    let message = project.fewer_with(&[&OWN[..], &without[..]].concat(), &["run"]).refused(2);
    assert!(message.contains("cargo install cargo-nextest"), "{message}");
}

#[test]
fn a_setup_script_that_fails_leaves_no_test_without_an_outcome() {
    let project = project();
    project.edit(".config/nextest.toml", "sh -c 'echo PREPARED=yes >> \\\"$NEXTEST_ENV\\\"'", "false");
    let document = fewer(&project, &["run", "--format", "json"]).json(1);
    assert_eq!(verdict(&document, "trials::is_run_by_nextest"), "inconclusive");
    assert_eq!(verdict(&document, "trials/plain::*"), "passed");
}
