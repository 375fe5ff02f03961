//! Who may influence what: records of others, directories that a checkout brings along, settings above the project, damage,
//! places that cannot be written. The rules are in docs/security.md.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::workshop::{Ended, Project, TESTS, ended, lines};

const ONE_KEY: (&str, &str) = ("FEWER_KEY", "a secret that is known to the machines of a cache");
const OTHER_KEY: (&str, &str) = ("FEWER_KEY", "a secret that is known to somebody else entirely");

/// What is selected when everything is recorded: a test that skips itself.
const SETTLED: &str = "text_test::Text.Waits\n";

/// A project of which everything is recorded.
fn settled() -> Project {
    let project = Project::small();
    project.settle();
    assert_eq!(project.fewer(&["select"]).expect(0), SETTLED);
    project
}

/// Why records are refused, and what makes them so.
type Preparation<'p> = (&'static str, &'p dyn Fn(&Path));

/// That everything runs, and why.
#[track_caller]
fn assert_all_run(ended: Ended, why: &str) {
    assert!(ended.stderr.contains(why), "{}", ended.stderr);
    assert_eq!(lines(&ended.expect(0)), TESTS);
}

#[test]
fn records_that_a_branch_brings_along_are_not_used_and_left_as_they_are() {
    let project = settled();
    project.git(&["add", "-f", ".fewer"]);
    project.git(&["commit", "-q", "-m", "with records"]);
    let store = || fs::read(project.file(".fewer/store.sqlite")).unwrap();
    let before = store();
    assert_all_run(project.fewer(&["select"]), ".fewer is tracked by git");
    let ran = project.fewer(&["run"]);
    assert!(ran.stderr.contains("'git rm -r --cached"), "{}", ran.stderr);
    assert!(ran.expect(0).starts_with("6 ran (5 passed, 1 skipped), 0 reused"));
    project.edit("tests/text_test.cpp", "TEST(Text, Shouts) {", "TEST(Text, Shouts) { FAIL();");
    project.make();
    project.fewer(&["run"]).expect(1);
    assert!(store() == before);
}

#[test]
fn records_count_only_for_the_key_they_were_written_with() {
    let project = Project::small();
    project.fewer_with(&[ONE_KEY], &["run"]).expect(0);
    assert_eq!(project.fewer_with(&[ONE_KEY], &["select"]).expect(0), SETTLED);
    assert_all_run(project.fewer_with(&[OTHER_KEY], &["select"]), "were not written by you");
    assert_all_run(project.fewer(&["select"]), "were not written by you");
    // As a cache does it, on a machine with the same key.
    let elsewhere = Project::small();
    elsewhere.command("cp", &["-r", project.file(".fewer").to_str().unwrap(), "."]);
    assert_eq!(elsewhere.fewer_with(&[ONE_KEY], &["select"]).expect(0), SETTLED);
    let short = elsewhere.fewer_with(&[("FEWER_KEY", "short")], &["select"]);
    assert_all_run(short, "FEWER_KEY has fewer than 32 characters");
}

#[test]
fn tests_and_builds_are_not_told_the_key() {
    let project = Project::small();
    project.edit(
        "tests/text_test.cpp",
        "TEST(Text, Shouts) {",
        "#include <cstdlib>\nTEST(Text, Shouts) { ASSERT_FALSE(std::getenv(\"FEWER_KEY\"));",
    );
    project.make();
    project.write("fewer.toml", "build = \"test -z \\\"$FEWER_KEY\\\"\"\n");
    project.fewer_with(&[ONE_KEY], &["run"]).expect(0);
}

#[test]
fn a_key_that_others_can_read_is_not_used() {
    let project = Project::small();
    let state = tempfile::tempdir().unwrap();
    let variables = [("XDG_STATE_HOME", state.path().to_str().unwrap())];
    project.fewer_with(&variables, &["run"]).expect(0);
    let key = state.path().join("fewer/key");
    assert_eq!(fs::metadata(&key).unwrap().mode() & 0o777, 0o600);
    assert_eq!(project.fewer_with(&variables, &["select"]).expect(0), SETTLED);
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    assert_all_run(project.fewer_with(&variables, &["select"]), "others have access to");
}

#[test]
fn links_and_strangers_in_place_of_the_records_are_refused_and_nothing_is_written_through_them() {
    let elsewhere = tempfile::tempdir().unwrap();
    let precious = elsewhere.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let prepare: [Preparation<'_>; 5] = [
        (".fewer is a link", &|directory| symlink(elsewhere.path(), directory).unwrap()),
        ("store.lock is a link", &|directory| {
            fs::create_dir(directory).unwrap();
            symlink(&precious, directory.join("store.lock")).unwrap();
        }),
        (".gitignore is a link", &|directory| {
            fs::create_dir(directory).unwrap();
            symlink(elsewhere.path().join("absent"), directory.join(".gitignore")).unwrap();
        }),
        ("store.sqlite is a link", &|directory| {
            fs::create_dir(directory).unwrap();
            symlink(&precious, directory.join("store.sqlite")).unwrap();
        }),
        ("can be written by other users", &|directory| {
            fs::create_dir(directory).unwrap();
            fs::set_permissions(directory, Permissions::from_mode(0o777)).unwrap();
        }),
    ];
    let project = Project::small();
    for (why, prepare) in prepare {
        let directory = project.file(".fewer");
        prepare(&directory);
        assert_all_run(project.fewer(&["select"]), why);
        assert!(project.fewer(&["status"]).stderr.contains(why));
        project.command("rm", &["-rf", ".fewer"]);
    }
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1, "nothing was made there");
    project.write(".fewer", "not a directory");
    let said = project.fewer(&["run"]).refused(2);
    assert!(said.contains(".fewer is a file, not the directory that fewer keeps its records in"), "{said}");
    assert_eq!(fs::read_to_string(project.file(".fewer")).unwrap(), "not a directory");
}

#[test]
fn records_are_for_the_user_alone_whatever_the_umask() {
    let project = Project::small();
    let fewer = env!("CARGO_BIN_EXE_fewer");
    project.command("sh", &["-c", &format!("umask 0; FEWER_KEY='{}' {fewer} -q run", ONE_KEY.1)]);
    let open = project.output("find", &[".fewer", "-perm", "/077"]);
    assert_eq!(open, "", "others can get at these");
}

#[test]
fn commands_that_look_make_neither_records_nor_a_key() {
    let project = Project::small();
    let state = tempfile::tempdir().unwrap();
    let variables = [("XDG_STATE_HOME", state.path().to_str().unwrap())];
    for command in [&["status"][..], &["history", "stats"], &["doctor"], &["gc"]] {
        project.fewer_with(&variables, command).expect(0);
        assert!(!project.file(".fewer").exists(), "{command:?}");
    }
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
    assert!(project.fewer(&["status"]).expect(0).contains("nothing has run yet"));
}

#[test]
fn damaged_records_are_set_aside_and_everything_runs() {
    let project = settled();
    let store = project.file(".fewer/store.sqlite");
    let whole = fs::read(&store).unwrap();
    let mut torn = whole.clone();
    torn[20_000..].fill(0xa5);
    let damages = [&b"no database at all"[..], &whole[..whole.len() / 2], &torn];
    for (index, damage) in damages.into_iter().enumerate() {
        fs::write(&store, damage).unwrap();
        let ran = project.fewer(&["run"]);
        let aside = format!("store.damaged-{}", index + 1);
        assert!(ran.stderr.contains("set aside") && ran.stderr.contains(&aside), "{}", ran.stderr);
        assert!(ran.expect(0).starts_with("6 ran (5 passed, 1 skipped), 0 reused"));
        assert!(fs::read(project.file(".fewer").join(aside).join("store.sqlite")).unwrap() == damage);
        assert_eq!(project.fewer(&["select"]).expect(0), SETTLED, "from then on as ever");
    }
    fs::write(&store, "no database at all").unwrap();
    let said = project.fewer(&["status"]).refused(2);
    assert!(said.contains("is not a database") && said.contains("sets it aside"), "{said}");
    assert_eq!(fs::read_to_string(&store).unwrap(), "no database at all", "looking changes nothing");
}

#[test]
fn records_that_cannot_be_written_are_used_and_nothing_is_added() {
    let project = Project::small();
    project.fewer_with(&[ONE_KEY], &["run"]).expect(0);
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    project.command("chmod", &["-R", "a-w", ".fewer"]);
    if is_root {
        project.command("chown", &["-R", "65534:65534", "."]);
    }
    let as_user = |arguments: &[&str]| {
        let fewer = env!("CARGO_BIN_EXE_fewer");
        let mut command = Command::new(if is_root { "setpriv" } else { fewer });
        if is_root {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", fewer]);
        }
        command
            .args(arguments)
            .current_dir(project.path())
            .env(ONE_KEY.0, ONE_KEY.1)
            .env("HOME", project.path());
        ended(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    };
    let selected = as_user(&["select"]);
    assert!(selected.stderr.contains("nothing is added to it"), "{}", selected.stderr);
    assert_eq!(selected.expect(0), SETTLED);
    let status = as_user(&["status"]).expect(0);
    assert!(status.contains("completed") && status.contains("5 passed"), "{status}");
    project.command("chmod", &["-R", "u+w", "."]);
}

#[test]
fn settings_above_a_directory_without_git_are_not_read() {
    let place = Project::empty();
    place.write("fewer.toml", "build = \"touch started\"\n");
    place.write("mine/Makefile", "all:\n");
    let ran = place.fewer(&["-C", "mine", "run"]);
    assert!(ran.stderr.contains("fewer.toml is above the project"), "{}", ran.stderr);
    assert!(!place.file("started").exists() && !place.file("mine/started").exists());
}

#[test]
fn what_another_process_holds_is_named_at_once() {
    let project = settled();
    let script = "import sqlite3, sys, time\n\
                  c = sqlite3.connect('.fewer/store.sqlite', isolation_level=None)\n\
                  c.execute('begin immediate'); print('held', flush=True); time.sleep(3); c.execute('rollback')";
    let holder = Command::new("python3")
        .args(["-c", script])
        .current_dir(project.path())
        .stdout(Stdio::piped())
        .spawn();
    let mut holder = holder.unwrap();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(holder.stdout.take().unwrap()),
        &mut String::new(),
    )
    .unwrap();
    let ran = project.fewer(&["run", "--all"]);
    let process = format!("process {}", holder.id());
    assert!(ran.stderr.contains(&process) && ran.stderr.contains("of at most 30 s"), "{}", ran.stderr);
    ran.expect(0);
    holder.wait().unwrap();
}
