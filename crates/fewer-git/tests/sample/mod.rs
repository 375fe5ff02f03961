//! Repositories made with the real git for the tests, the same on every machine: no configuration but their own,
//! fixed names, and a clock that moves a minute with every command.
#![allow(dead_code, reason = "not every test file uses everything")]

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fewer_git::{CommitHash, History, Recognised, Repository, Tips};
use tempfile::TempDir;

pub struct Sample {
    _directory: TempDir,
    pub root: PathBuf,
    clock: Cell<u64>,
}

impl Sample {
    pub fn new() -> Sample {
        Sample::with(&[])
    }

    /// Made by `git init` with more options.
    pub fn with(options: &[&str]) -> Sample {
        let sample = Sample::empty();
        sample.git(&[&["init", "-q", "-b", "main"], options].concat());
        sample
    }

    /// Cloned from another one, as from a server.
    pub fn cloned(from: &Sample, options: &[&str]) -> Sample {
        let sample = Sample::empty();
        let source = format!("file://{}", from.root.display());
        sample.git(&[&["clone", "-q"], options, &[&source, "."]].concat());
        sample
    }

    fn empty() -> Sample {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("project");
        fs::create_dir(&root).unwrap();
        Sample { _directory: directory, root, clock: Cell::new(1_700_000_000) }
    }

    pub fn at(&self, directory: &Path) -> Repository {
        Repository::open(directory).unwrap()
    }

    pub fn repository(&self) -> Repository {
        self.at(&self.root)
    }

    pub fn history(&self) -> History {
        History::load(&self.repository(), &Tips::All).unwrap()
    }

    pub fn recognised(&self, revision: &str) -> Recognised {
        self.repository().recognise_commit(self.hash(revision)).unwrap()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes one file and commits everything.
    pub fn commit(&self, path: &str, text: &str) -> CommitHash {
        self.write(path, text);
        self.commit_all(&format!("change {path}"))
    }

    pub fn commit_all(&self, message: &str) -> CommitHash {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.hash("HEAD")
    }

    pub fn hash(&self, revision: &str) -> CommitHash {
        self.git(&["rev-parse", "--verify", &format!("{revision}^{{commit}}")]).parse().unwrap()
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.root, arguments)
    }

    pub fn git_in(&self, directory: &Path, arguments: &[&str]) -> String {
        let output = self.try_git(directory, arguments, b"");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_string()
    }

    pub fn fails(&self, arguments: &[&str]) {
        assert!(!self.try_git(&self.root, arguments, b"").status.success(), "{arguments:?}");
    }

    pub fn feed(&self, arguments: &[&str], input: &str) {
        let output = self.try_git(&self.root, arguments, input.as_bytes());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub fn try_git(&self, directory: &Path, arguments: &[&str], input: &[u8]) -> Output {
        self.clock.set(self.clock.get() + 60);
        let date = format!("{} +0000", self.clock.get());
        let mut child = Command::new("git")
            .args(["-c", "protocol.file.allow=always", "-c", "advice.graftFileDeprecated=false"])
            .args(arguments)
            .current_dir(directory)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
            .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@example.org")])
            .envs([("GIT_AUTHOR_DATE", &date), ("GIT_COMMITTER_DATE", &date)])
            .env("GIT_EDITOR", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("git starts");
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// Every object that is stored, to see that none was added.
    pub fn stored(&self) -> String {
        let objects = self.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
        format!("{objects}\n{}", self.git(&["for-each-ref"]))
    }
}

/// Ten lines, some of which are changed: `lines(&[(1, "x")])` has `x` in its first line. Changes at the two ends
/// merge without conflict.
pub fn lines(changed: &[(usize, &str)]) -> String {
    let line = |number| changed.iter().find(|(at, _)| *at == number).map_or("-", |(_, text)| text);
    (1..=10).map(|number| format!("{number} {}\n", line(number))).collect()
}
