//! A full disk, a file that may not grow, and a directory that may not be written.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use fewer_core::Digest;
use fewer_store::{RunEnd, RunInfo, Store};

use crate::processes::{blob_of, child_command, said, shard_of, shards_found, state_of};
use crate::project::Project;

const WORKER: &str = "w";
const NOBODY: u32 = 65534;

/// In the child: records until there is no space, then makes some and looks at what is there.
pub(crate) fn fill(directory: &Path) {
    let ballast = directory.with_extension("ballast");
    let look = || match Store::open(directory, crate::project::key()).and_then(|store| store.status()) {
        Ok(status) => println!("found {}", status.outcomes),
        Err(error) => println!("said {error}"),
    };
    drop(Store::open(directory, crate::project::key()).unwrap());
    occupy(&ballast);
    look();
    fs::write(&ballast, vec![0; 400_000]).unwrap();

    let store = Store::open(directory, crate::project::key()).unwrap();
    let state = store.record_state(&state_of(WORKER, 1)).unwrap();
    let run = store.begin_run(state, &RunInfo::now("here", "fill")).unwrap();
    // Large content is written in another way than small.
    let large = (Digest(1), vec![7; 4 << 20]);
    println!("said {}", store.put_blobs("summary", &[large]).expect_err("the disk is smaller"));
    println!("large {}", store.blobs("summary", &[Digest(1)]).unwrap().len());
    let mut shard = 0;
    let error = loop {
        let stored = store.put_blobs("summary", &[blob_of(WORKER, shard)]);
        match stored.and_then(|()| store.record_outcomes(run, &shard_of(WORKER, shard))) {
            Ok(()) => println!("recorded {shard}"),
            Err(error) => break error,
        }
        shard += 1;
        assert!(shard < 1000, "the disk does not get full");
    };
    println!("said {error}");
    println!("kept {}", store.status().unwrap().outcomes);
    drop(store);
    occupy(&ballast);
    look();
    fs::remove_file(&ballast).unwrap();
    let store = Store::open(directory, crate::project::key()).unwrap();
    println!("kept {}", store.status().unwrap().outcomes);
    store.record_outcomes(run, &shard_of(WORKER, shard)).unwrap();
    store.finish_run(run, RunEnd::Aborted).unwrap();
    println!("more {}", store.status().unwrap().outcomes);
}

/// Takes all the space that is left: not even a small file fits.
fn occupy(ballast: &Path) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(ballast).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
}

fn run(mut command: Command) -> (Output, String) {
    let output = command.output().expect("the child starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

/// A command that mounts a small disk in its own name space and runs the rest there.
fn on_small_disk(mount_point: &Path) -> Vec<String> {
    let script = format!("mount -t tmpfs -o size=3m tmpfs '{}' && exec \"$@\"", mount_point.display());
    let ways = [&["unshare", "--mount"][..], &["unshare", "--mount", "--map-root-user"]];
    let allowed = ways.into_iter().find_map(|unshare| {
        let command: Vec<String> =
            unshare.iter().copied().chain(["sh", "-c", &script, "sh"]).map(str::to_string).collect();
        let trial = Command::new(&command[0]).args(&command[1..]).arg("true").output();
        trial.is_ok_and(|output| output.status.success()).then_some(command)
    });
    allowed.expect("a small disk can be mounted: run the tests as root, or allow users to have name spaces")
}

#[test]
fn a_full_disk_is_told_and_what_was_recorded_is_kept() {
    let project = Project::new();
    let through = on_small_disk(project.root());
    let through: Vec<&str> = through.iter().map(String::as_str).collect();
    let role = format!("fill {}", project.directory().display());
    let (output, text) = run(child_command(&through, &role));
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let recorded = said(&text, "recorded").len() * 5;
    assert!(recorded > 0, "{text}");
    for message in said(&text, "said") {
        assert!(message.contains("cannot be written: there is no space left"), "{message}");
        assert!(message.contains("everything recorded before is kept: free some space"), "{message}");
        assert!(message.contains("store.sqlite"), "{message}");
    }
    assert_eq!(said(&text, "kept"), [recorded.to_string(), recorded.to_string()], "{text}");
    assert_eq!(said(&text, "large"), ["0"], "nothing of it is there");
    assert_eq!(said(&text, "more"), [(recorded + 5).to_string()], "with some space it goes on");
}

#[test]
fn a_file_that_may_not_grow_is_told_and_what_was_recorded_is_kept() {
    let project = Project::new();
    // 1024-byte or 512-byte blocks, as the shell likes.
    let limit = ["sh", "-c", "trap '' XFSZ; ulimit -f 3000; exec \"$@\"", "sh"];
    let role = format!("record {} {WORKER} 1000", project.directory().display());
    let (output, text) = run(child_command(&limit, &role));
    assert!(!output.status.success(), "the child cannot have recorded everything");
    let [message] = &said(&text, "said")[..] else { panic!("{text}") };
    assert!(message.contains("store.sqlite failed: disk I/O error"), "{message}");
    assert!(message.contains("everything recorded before is kept: check the disk"), "{message}");
    let recorded = said(&text, "recorded").len();
    let found = shards_found(&project, WORKER);
    assert_eq!(found, (0..recorded).map(|shard| (shard, 5)).collect(), "{text}");
    assert!(recorded > 0);
    project.assert_sound();
    project.store().record_state(&state_of(WORKER, 2)).unwrap();
}

/// The child as a user without rights here. Root has all rights, so it lends a copy of the binary to nobody.
fn as_ordinary_user(project: &Project, role: &str) -> Command {
    let mut command = child_command(&[], role);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let binary = project.root().join("child");
        fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        command = Command::new(binary);
        command.args(arguments).env("FEWER_STORE_CHILD", role).current_dir("/").uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Root's are given to somebody with all that is in them; an ordinary user's stay.
fn give(project: &Project, user: u32) {
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let files = fs::read_dir(project.directory()).unwrap().map(|file| file.unwrap().path());
        for path in files.chain([project.directory()]) {
            std::os::unix::fs::chown(path, Some(user), None).unwrap();
        }
    }
}

#[test]
fn a_directory_that_may_not_be_written_is_told() {
    let project = Project::new();
    fs::set_permissions(project.root(), fs::Permissions::from_mode(0o755)).unwrap();
    let role = format!("open {}", project.directory().display());
    let refused = |what: &str| {
        let (output, text) = run(as_ordinary_user(&project, &role));
        assert!(output.status.success(), "{what}: {text}");
        let [message] = &said(&text, "said")[..] else { panic!("{what}: {text}") };
        assert!(message.contains(" cannot be written: "), "{what}: {message}");
        assert!(message.contains("make the directory writable for this user"), "{what}: {message}");
    };
    let permit = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();

    fs::create_dir(project.directory()).unwrap();
    permit(&project.directory(), 0o555);
    give(&project, NOBODY);
    refused("no store yet");

    give(&project, 0);
    permit(&project.directory(), 0o755);
    project.store().record_state(&state_of(WORKER, 2)).unwrap();
    permit(&project.file(), 0o444);
    permit(&project.directory(), 0o555);
    give(&project, NOBODY);
    refused("a store that may be read");
    permit(&project.directory(), 0o755);
}
