//! What somebody puts in place of the files that fewer reads: what never ends, what is larger than memory, and what changes
//! while it is read. The rules are in docs/security.md.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::workshop::{Project, TESTS, lines, manifest_directory};

/// No command may take longer, whatever it meets.
const LONGEST: Duration = Duration::from_secs(40);
/// In MB.
const MOST_MEMORY: u64 = 500;
const GIGABYTE: u64 = 1 << 30;

/// How a command ended that stayed within the bounds.
struct Bounded {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs a command that must end by itself, in time and in memory.
#[track_caller]
fn bounded(project: &Project, arguments: &[&str]) -> Bounded {
    let place = tempfile::tempdir().unwrap();
    let (stdout, stderr) = (place.path().join("stdout"), place.path().join("stderr"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_fewer"))
        .args(arguments)
        .current_dir(project.path())
        .env_remove("FEWER_KEY")
        .env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"))
        .stdin(Stdio::null())
        .stdout(File::create(&stdout).unwrap())
        .stderr(File::create(&stderr).unwrap())
        .spawn()
        .unwrap();
    let peak = watched(&mut child);
    let code = child.wait().unwrap().code();
    let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let ended = Bounded { code, stdout: text(&stdout), stderr: text(&stderr) };
    assert!(peak.is_some(), "fewer {arguments:?} does not end: {}", ended.stderr);
    let peak = peak.unwrap();
    assert!(peak < MOST_MEMORY, "fewer {arguments:?} takes {peak} MB: {}", ended.stderr);
    assert!(matches!(code, Some(0..=3)), "fewer {arguments:?} ends with {code:?}: {}", ended.stderr);
    ended
}

/// The most memory that a process had in use, in MB; `None` if it had to be ended.
fn watched(child: &mut Child) -> Option<u64> {
    let (began, status) = (Instant::now(), format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > LONGEST {
            child.kill().unwrap();
            return None;
        }
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let size = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(size.unwrap_or(0) / 1024);
        std::thread::sleep(Duration::from_millis(3));
    }
    Some(peak)
}

/// What may lie in place of a file, by name.
type Kind = (&'static str, fn(&Path));

const KINDS: [Kind; 5] = [
    ("a FIFO", |path| {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    }),
    ("a link to /dev/zero", |path| symlink("/dev/zero", path).unwrap()),
    ("a socket", |path| drop(UnixListener::bind(path).unwrap())),
    ("a directory", |path| fs::create_dir(path).unwrap()),
    ("a link to a directory above", |path| symlink("..", path).unwrap()),
];

/// A built project of which everything is recorded, with a file of every kind that commands read.
fn settled() -> Project {
    let project = Project::small();
    project.command("ar", &["rc", "build/libshape.a", "build/shape.o"]);
    project.write("fewer-reduced.toml", "");
    project.settle();
    project
}

/// Puts something in place of a file, looks on, and puts the file back.
fn in_place_of(project: &Project, path: &str, make: fn(&Path), look: impl FnOnce()) {
    let (file, aside) = (project.file(path), project.file(".git/aside"));
    let was_there = fs::rename(&file, &aside).is_ok();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    make(&file);
    look();
    if fs::remove_file(&file).is_err() {
        fs::remove_dir(&file).unwrap();
    }
    if was_there {
        fs::rename(&aside, &file).unwrap();
    }
}

#[test]
fn what_lies_in_place_of_a_file_is_never_waited_for() {
    let project = settled();
    let places = [
        "testdata/greeting.txt",
        "testdata/other.txt",
        "src/shape.cpp",
        "build/shape.o",
        "build/shape.d",
        "build/libshape.a",
        "build/shape_test",
        "build/CMakeCache.txt",
        "build/build.ninja",
        "build/CTestTestfile.cmake",
        "fewer.toml",
        "CMakeLists.txt",
        "pom.xml",
    ];
    for path in places {
        for (kind, make) in KINDS {
            in_place_of(&project, path, make, || {
                for arguments in [&["status"][..], &["doctor"], &["select"], &["affected", "src/shape.cpp"]] {
                    println!("{kind} in place of {path}: {arguments:?}");
                    bounded(&project, arguments);
                }
            });
        }
    }
}

#[test]
fn a_data_file_that_became_something_else_has_changed() {
    for (kind, make) in KINDS {
        let project = settled();
        let before = project.selected();
        let data = fs::read_dir(project.file("testdata")).unwrap().next().unwrap().unwrap().path();
        let path = data.strip_prefix(project.path()).unwrap().to_str().unwrap().to_string();
        in_place_of(&project, &path, make, || {
            let selected = lines(&bounded(&project, &["select"]).stdout);
            assert!(selected.contains(&TESTS[3].to_string()) && selected != before, "{kind}: {selected:?}");
        });
    }
}

#[test]
fn files_that_other_tools_wrote_are_refused_unless_they_are_regular_files() {
    let project = Project::small();
    for (kind, make) in KINDS {
        for from in ["lcov", "csv", "pit-mutations", "jacoco", "stryker", "cargo-mutants", "coverage-py"] {
            in_place_of(&project, "report", make, || {
                let ended = bounded(&project, &["reduce", "import", "--from", from, "report"]);
                assert_ne!(ended.code, Some(0), "{kind} as {from}: {}", ended.stdout);
                assert!(!ended.stderr.is_empty(), "{kind} as {from}");
            });
        }
        in_place_of(&project, "fewer-reduced.toml", make, || {
            bounded(&project, &["reduce", "show"]);
            bounded(&project, &["run", "--reduced"]);
        });
    }
}

#[test]
fn a_file_larger_than_memory_is_hashed_in_pieces_or_refused() {
    let project = settled();
    let grow = |path: &str| {
        let file = File::options().append(true).create(true).open(project.file(path)).unwrap();
        file.set_len(3 * GIGABYTE).unwrap();
    };
    grow("testdata/large");
    let selected = lines(&bounded(&project, &["select"]).stdout);
    assert!(selected.contains(&TESTS[3].to_string()), "{selected:?}");
    fs::remove_file(project.file("testdata/large")).unwrap();
    for path in ["build/shape.o", "build/libshape.a", "build/shape_test", "build/shape.d"] {
        fs::copy(project.file(path), project.file("aside")).unwrap();
        grow(path);
        bounded(&project, &["select"]);
        fs::copy(project.file("aside"), project.file(path)).unwrap();
    }
    grow("report");
    for from in ["lcov", "csv", "jacoco"] {
        let ended = bounded(&project, &["reduce", "import", "--from", from, "report"]);
        assert!(ended.stderr.contains("is larger than 192 MB"), "{from}: {}", ended.stderr);
    }
    grow("fewer.toml");
    let ended = bounded(&project, &["select"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("is larger than 128 MB"), "{}", ended.stderr);
}

#[test]
fn half_a_gigabyte_of_constants_is_not_held_and_counts() {
    let project = Project::small();
    let constants = |last: u8| {
        let text = format!(
            ".section .rodata.large,\"a\"\n.globl large\n.type large, @object\nlarge: .zero 524287999\n.byte {last}\n.size large, 524288000\n"
        );
        project.write("large.s", &text);
        project.command("cc", &["-c", "large.s", "-o", "build/large.o"]);
        let link = "g++ -no-pie -Wl,-u,large build/shape_test.o build/shape.o build/large.o -lgtest_main -lgtest -lpthread";
        project.command("sh", &["-c", &format!("{link} -o build/shape_test")]);
    };
    constants(1);
    bounded(&project, &["run"]);
    assert_eq!(bounded(&project, &["select"]).stdout, "text_test::Text.Waits\n");
    constants(2);
    let selected = bounded(&project, &["select"]).stdout;
    assert!(selected.contains("shape_test::Shape.Area"), "{selected}");
}

#[test]
fn an_object_that_is_cut_while_it_is_read_ends_no_command_by_a_signal() {
    let project = Project::small();
    let paths = ["build/shape_test.o", "build/text_test.o", "build/shape_test", "build/text_test"];
    let contents = paths.map(|path| fs::read(project.file(path)).unwrap());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for (path, content) in paths.iter().zip(&contents) {
                    // In the very file, as some linkers and every `cp` do.
                    // Not while it runs.
                    let file = File::options().write(true).open(project.file(path));
                    let Ok(mut file) = file else { continue };
                    file.set_len(0).unwrap();
                    file.write_all(content).unwrap();
                }
            }
        });
        for attempt in 0..60 {
            let arguments: &[&str] = if attempt % 2 == 0 { &["select"] } else { &["doctor"] };
            bounded(&project, arguments);
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_report_that_is_too_large_takes_no_memory() {
    let project = Project::of_tree(&manifest_directory().join("tests/command/project"));
    project.write(
        "tests/shape_test.cpp",
        "#include <gtest/gtest.h>\n#include <unistd.h>\n#include <cstdlib>\n#include <string>\n\
         void grow() {\n\
           std::string path = testing::GTEST_FLAG(output);\n\
           if (path.rfind(\"json:\", 0) == 0) (void)!truncate(path.c_str() + 5, 3L << 30);\n\
         }\n\
         TEST(Shape, Area) { std::atexit(grow); }\n",
    );
    project.make();
    bounded(&project, &["run"]);
}
