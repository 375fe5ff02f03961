//! Ctrl-C, SIGTERM and SIGHUP end everything within a second at whatever fewer is at; `kill -9` leaves nothing behind but
//! what is said here. With programs that do not want to end, and leave their group, their session and their parent.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::workshop::{Ended, Project, ended, manifest_directory, wait_until};

/// A second, and some time for a machine that does other things beside.
const SOON: Duration = Duration::from_millis(1500);

/// A project with a program that stays, and the surroundings in which it is found again.
struct Scene {
    project: Project,
    outside: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        static BUILT: OnceLock<PathBuf> = OnceLock::new();
        let project = Project::made_once(&BUILT, "stubborn-project", || {
            let project = Project::of_tree(&manifest_directory().join("tests/command/stubborn"));
            fs::create_dir(project.file("build")).unwrap();
            project.command("g++", &["-c", "stubborn.cpp", "-o", "build/stubborn.o"]);
            project.command("g++", &["build/stubborn.o", "-o", "build/stubborn", "-lgtest", "-lpthread"]);
            project.write(".gitignore", "build\n");
            project.commit_all();
            project.write("second.txt", "a second commit\n");
            project.commit_all();
            project
        });
        let outside = tempfile::tempdir().unwrap();
        symlink("/bin/sleep", outside.path().join("sleep")).unwrap();
        fs::create_dir(outside.path().join("temporary")).unwrap();
        Scene { project, outside }
    }

    fn outside(&self, name: &str) -> String {
        self.outside.path().join(name).to_str().unwrap().to_string()
    }

    fn command(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
        // These tests may have been started by what ignores SIGHUP.
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_fewer")]);
        command.args(arguments).current_dir(self.project.path());
        for name in ["MAKEFLAGS", "NO_COLOR", "CI", "FEWER_KEY"] {
            command.env_remove(name);
        }
        command
            .env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"))
            .env("TMPDIR", self.outside("temporary"))
            .env("BEGUN", self.outside("begun"))
            .env("SLEEP", self.outside("sleep"))
            .envs(variables.iter().copied())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts fewer and waits until it is where it stays.
    fn begun(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Child {
        let child = self.command(variables, arguments).spawn().unwrap();
        wait_until(|| Path::new(&self.outside("begun")).exists());
        child
    }

    /// Processes with the place of this scene in their arguments or their environment.
    fn alive(&self) -> Vec<(i32, String)> {
        let place = self.outside("");
        let mut alive = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let read = |name: &str| {
                String::from_utf8_lossy(&fs::read(entry.path().join(name)).unwrap_or_default()).into_owned()
            };
            if read("cmdline").contains(&place) || read("environ").contains(&place) {
                alive.push((pid, read("cmdline").replace('\0', " ")));
            }
        }
        alive
    }

    /// Nothing that lives and nothing in the directory for temporary files.
    #[track_caller]
    fn assert_nothing_is_left(&self, after: &str) {
        let began = Instant::now();
        let left = || (self.alive(), entries(&self.outside("temporary")));
        while left() != (Vec::new(), Vec::new()) {
            assert!(began.elapsed() < SOON, "left after {after}: {:?}", left());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// How it ends after the signal, which it must soon.
    #[track_caller]
    fn ended_by(&self, signal: &str, mut child: Child, during: &str) -> Ended {
        let began = Instant::now();
        kill(signal, child.id().cast_signed());
        while child.try_wait().unwrap().is_none() {
            if began.elapsed() > SOON {
                child.kill().unwrap();
                panic!("{signal} during {during} does not end it");
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.assert_nothing_is_left(during);
        ended(child)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.alive().iter().for_each(|(pid, _)| kill("-KILL", *pid));
    }
}

fn kill(signal: &str, pid: i32) {
    let _ = Command::new("kill").args([signal, "--", &pid.to_string()]).stderr(Stdio::null()).status();
}

fn entries(directory: &str) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path()).collect()
}

/// `sh` runs this as a tool that never ends.
const HANGS: &str =
    "trap '' TERM INT HUP; (while :; do sleep 1; done) & touch \"$BEGUN\"; while :; do sleep 1; done\n";

/// A directory with a program that hangs, in front of PATH.
fn path_with(scene: &Scene, tool: &str) -> String {
    let directory = scene.outside("bin");
    fs::create_dir(&directory).unwrap();
    let tool = Path::new(&directory).join(tool);
    fs::write(&tool, format!("#!/bin/sh\n{HANGS}")).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{directory}:{}", std::env::var("PATH").unwrap())
}

#[test]
fn a_signal_ends_everything_within_a_second_while_tests_run_or_are_listed() {
    for (stays, signal) in
        [("run", "-INT"), ("run", "-TERM"), ("run", "-HUP"), ("list", "-INT"), ("list", "-TERM")]
    {
        let scene = Scene::new();
        let child = scene.begun(&[("STAYS", stays)], &["run"]);
        assert!(scene.alive().len() > 5, "{:?}", scene.alive());
        let ended = scene.ended_by(signal, child, stays);
        assert_eq!(ended.code, Some(130), "{signal} at {stays}: {}", ended.stderr);
    }
}

#[test]
fn a_signal_ends_builds_and_tools_within_a_second() {
    for (tool, arguments) in [
        ("build", &["run"][..]),
        ("git", &["run"]),
        ("git", &["affected", "--diff", "HEAD~1"]),
        ("git", &["history", "stats"]),
        ("git", &["status"]),
        ("ctest", &["run"]),
    ] {
        let scene = Scene::new();
        let path = path_with(&scene, tool);
        match tool {
            "build" => scene.project.write("fewer.toml", &format!("build = '''{HANGS}'''\n")),
            "ctest" => scene.project.write("build/CTestTestfile.cmake", "add_test(a \"true\")\n"),
            _ => {}
        }
        let child = scene.begun(&[("PATH", &path)], arguments);
        let ended = scene.ended_by("-TERM", child, tool);
        assert_eq!(ended.code, Some(130), "{tool} {arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn a_signal_ends_what_waits_for_others_within_a_second() {
    let scene = Scene::new();
    let fifo = scene.outside("fifo");
    scene.project.command("mkfifo", &[&fifo]);
    let child = scene.command(&[], &["run", "--junit", &fifo]).spawn().unwrap();
    wait_until(|| waits_at_a_fifo(child.id()));
    assert_eq!(scene.ended_by("-INT", child, "waiting at a FIFO").code, Some(130));
    // The records, which another process is writing.
    let script = "import sqlite3, sys, time\nc = sqlite3.connect('.fewer/store.sqlite', isolation_level=None)\n\
                  c.execute('begin immediate'); open(sys.argv[1], 'w'); time.sleep(30)";
    let mut holder = Command::new("python3")
        .args(["-c", script, &scene.project.file("held").display().to_string()])
        .current_dir(scene.project.path())
        .spawn()
        .unwrap();
    wait_until(|| scene.project.file("held").exists());
    let child = scene.command(&[], &["run", "--all"]).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    let ended = scene.ended_by("-TERM", child, "waiting for the records");
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    scene.command(&[], &["run", "--all"]).status().unwrap();
}

/// In the kernel's words.
fn waits_at_a_fifo(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("wchan")).ok())
        .any(|place| place.contains("fifo") || place.contains("wait_for_partner"))
}

#[test]
fn what_had_ended_is_recorded_although_a_test_ignores_the_signal() {
    let scene = Scene::new();
    scene.project.write("quick.cpp", "#include <gtest/gtest.h>\nTEST(Quick, Ends) {}\n");
    scene.project.command("g++", &["-c", "quick.cpp", "-o", "build/quick.o"]);
    let libraries = ["-lgtest_main", "-lgtest", "-lpthread"];
    scene.project.command("g++", &[&["build/quick.o", "-o", "build/quick"][..], &libraries].concat());
    let child = scene.begun(&[("STAYS", "run")], &["run", "--jobs", "2"]);
    let outcomes = || scene.project.fewer(&["status", "--format", "json"]).json(0)["outcomes"].as_u64();
    wait_until(|| outcomes() >= Some(1));
    let ended = scene.ended_by("-TERM", child, "run");
    assert!(ended.stdout.contains("interrupted: what had ended is recorded"), "{ended:?}");
    assert_eq!(scene.project.selected(), ["stubborn::Stubborn.Ends", "stubborn::Stubborn.Stays"]);
    scene.project.settle();
    assert_eq!(scene.project.selected(), [""; 0]);
}

#[test]
fn a_second_signal_ends_it_at_once_and_one_that_comes_twice_is_one() {
    let scene = Scene::new();
    let child = scene.begun(&[("STAYS", "run")], &["run"]);
    let pid = child.id().cast_signed();
    kill("-TERM", pid);
    thread::sleep(Duration::from_millis(150));
    let began = Instant::now();
    let ended_twice = scene.ended_by("-TERM", child, "the first signal");
    assert_eq!(ended_twice.code, Some(130));
    assert!(began.elapsed() < SOON);
    let scene = Scene::new();
    let child = scene.begun(&[("STAYS", "run")], &["run"]);
    // As `timeout` does.
    kill("-TERM", child.id().cast_signed());
    let once = scene.ended_by("-TERM", child, "run");
    assert!(once.stdout.contains("interrupted: what had ended is recorded"), "{once:?}");
}

#[test]
fn a_killed_fewer_leaves_no_process_and_no_temporary_directory() {
    for (stays, whole_group) in [("run", false), ("run", true), ("list", false), ("build", false)] {
        let scene = Scene::new();
        if stays == "build" {
            scene.project.write("fewer.toml", &format!("build = '''{HANGS}'''\n"));
        }
        let mut child = scene.begun(&[("STAYS", stays)], &["run"]);
        let pid = child.id().cast_signed();
        kill("-KILL", if whole_group { -pid } else { pid });
        child.wait().unwrap();
        scene.assert_nothing_is_left(stays);
        fs::remove_file(scene.outside("begun")).unwrap();
        let _ = fs::remove_file(scene.project.file("fewer.toml"));
        assert_eq!(scene.command(&[], &["run"]).output().unwrap().status.code(), Some(0));
    }
}

#[test]
fn only_what_left_its_parent_survives_where_the_guardian_is_killed_first() {
    let scene = Scene::new();
    let mut child = scene.begun(&[("STAYS", "run")], &["run"]);
    let pid = child.id().cast_signed();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let guardian: i32 = children.split_whitespace().next().unwrap().parse().unwrap();
    assert!(fs::read_to_string(format!("/proc/{guardian}/comm")).unwrap().starts_with("fewer"));
    kill("-KILL", guardian);
    kill("-KILL", pid);
    child.wait().unwrap();
    let program = scene.project.file("build/stubborn");
    let is_led = |(pid, _): &(i32, String)| {
        fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program)
            && fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
                let group = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(2));
                group == Some(&pid.to_string())
            })
    };
    // The test itself is gone with fewer; the two that began sessions of their own lead groups.
    wait_until(|| scene.alive().iter().filter(|process| is_led(process)).count() <= 1);
    assert!(!scene.alive().is_empty());
    assert!(!entries(&scene.outside("temporary")).is_empty());
    scene.alive().iter().for_each(|(pid, _)| kill("-KILL", *pid));
    fs::remove_file(scene.outside("begun")).unwrap();
    // The next start of any command tidies up.
    scene.command(&[], &["status"]).output().unwrap();
    scene.assert_nothing_is_left("the next start");
}

#[test]
fn a_process_that_left_its_group_and_its_environment_is_not_found() {
    let scene = Scene::new();
    let mut child = scene.begun(&[("STAYS", "run"), ("LONELY", "1")], &["run"]);
    kill("-TERM", child.id().cast_signed());
    child.wait().unwrap();
    thread::sleep(Duration::from_millis(300));
    let left = scene.alive();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].1.ends_with("sleep 1000 "), "{left:?}");
}

#[test]
fn daemons_of_a_build_stay() {
    let scene = Scene::new();
    let daemon = "setsid \"$SLEEP\" 1000 >/dev/null 2>&1 & sleep 0.3; touch \"$BEGUN\"";
    scene.project.write("fewer.toml", &format!("build = '''{daemon}; sleep 1000'''\n"));
    for signal in ["-INT", "-KILL"] {
        let mut child = scene.begun(&[], &["run"]);
        fs::remove_file(scene.outside("begun")).unwrap();
        kill(signal, child.id().cast_signed());
        child.wait().unwrap();
        thread::sleep(Duration::from_millis(500));
        let left = scene.alive();
        assert_eq!(left.len(), 1, "{signal}: {left:?}");
        kill("-KILL", left[0].0);
    }
}
