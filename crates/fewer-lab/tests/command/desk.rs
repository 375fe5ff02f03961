//! A temporary directory, and the program started in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A cluster takes its time on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

pub struct Desk(TempDir);

/// How the program ended and what it printed.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Desk {
    pub fn new() -> Desk {
        Desk(tempfile::Builder::new().prefix("fewer-lab-").tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The program, to be started here.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fewer-lab"));
        command.args(arguments).current_dir(self.path()).env_remove("NO_COLOR").env_remove("CI");
        command
    }

    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("fewer-lab starts")
    }

    pub fn lab(&self, arguments: &[&str]) -> Ended {
        ended(self.start(arguments))
    }

    /// What git prints.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let git = Command::new("git").args(identity).args(arguments).current_dir(self.path()).output();
        let git = git.unwrap();
        assert!(git.status.success(), "git {arguments:?}: {git:?}");
        String::from_utf8(git.stdout).unwrap()
    }
}

impl Ended {
    /// Standard output, of a program that must end so.
    #[track_caller]
    pub fn expect(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        self.stdout
    }

    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.expect(0)).unwrap()
    }

    /// Standard error, of a program that must refuse and print no data.
    #[track_caller]
    pub fn refused(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{}", self.stderr);
        self.stderr
    }
}

pub fn ended(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Looks again until it is so.
#[track_caller]
pub fn await_that(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "it did not happen within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
