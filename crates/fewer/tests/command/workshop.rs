//! Temporary projects: copies of one that is compiled once, and the tools to work on them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Every test of the small project that is not disabled.
pub const TESTS: [&str; 6] = [
    "shape_test::Shape.Area",
    "shape_test::Shape.Perimeter",
    "text_test::Shape.Area",
    "text_test::Text.Reads",
    "text_test::Text.Shouts",
    "text_test::Text.Waits",
];

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Standard output, of a command that must end so.
    #[track_caller]
    pub fn expect(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self.stdout
    }

    #[track_caller]
    pub fn json(self, code: i32) -> Value {
        let text = self.expect(code);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
    }

    /// Standard error, of a command that must fail so and print no data.
    #[track_caller]
    pub fn refused(self, code: i32) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "stderr:\n{}", self.stderr);
        self.stderr
    }
}

pub struct Project {
    directory: TempDir,
}

impl Project {
    /// A copy of the small project, built and committed.
    pub fn small() -> Project {
        static BUILT: OnceLock<PathBuf> = OnceLock::new();
        Project::made_once(&BUILT, "small-project", || {
            let project = Project::of_tree(&manifest_directory().join("tests/command/project"));
            project.make();
            project.commit_all();
            project
        })
    }

    /// A copy of a project that is made when it is first needed.
    pub fn made_once(kept: &OnceLock<PathBuf>, name: &str, make: impl FnOnce() -> Project) -> Project {
        let kept = kept.get_or_init(|| {
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            let _ = fs::remove_dir_all(&kept);
            make().command("cp", &["-a", ".", kept.to_str().unwrap()]);
            kept
        });
        Project::copy_of(kept)
    }

    /// A copy of a source tree.
    pub fn of_tree(tree: &Path) -> Project {
        let project = Project::empty();
        project.command("cp", &["-r", &format!("{}/.", tree.display()), "."]);
        project
    }

    pub fn empty() -> Project {
        Project::called("fewer-test-")
    }

    /// In a directory whose path shells, class paths and tools like to take apart.
    pub fn in_an_odd_place() -> Project {
        Project::called("it's a $test; für Ä&B ")
    }

    fn called(prefix: &str) -> Project {
        Project { directory: tempfile::Builder::new().prefix(prefix).tempdir().unwrap() }
    }

    /// With all files as they are, times included.
    fn copy_of(directory: &Path) -> Project {
        let copy = Project::empty();
        copy.command("cp", &["-a", &format!("{}/.", directory.display()), "."]);
        copy
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn file(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.file(path).parent().unwrap()).unwrap();
        fs::write(self.file(path), text).unwrap();
    }

    /// Replaces a text that must be there.
    pub fn edit(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.file(path)).unwrap();
        assert!(text.contains(from), "{from} is not in {path}");
        self.write(path, &text.replace(from, to));
    }

    pub fn make(&self) {
        self.command("make", &["-s", "-j2"]);
    }

    pub fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        self.command("git", &[&identity[..], arguments].concat());
    }

    pub fn commit_all(&self) {
        if !self.file(".git").exists() {
            self.git(&["init", "-q"]);
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "a commit"]);
    }

    /// What a tool prints that must succeed.
    #[track_caller]
    pub fn output(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_string()
    }

    /// Runs a tool that must succeed.
    #[track_caller]
    pub fn command(&self, program: &str, arguments: &[&str]) {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.path())
            .env_remove("MAKEFLAGS")
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        let text = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{program} {arguments:?}:\n{}", String::from_utf8_lossy(&text));
    }

    pub fn fewer(&self, arguments: &[&str]) -> Ended {
        self.fewer_with(&[], arguments)
    }

    /// With variables set.
    pub fn fewer_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
        ended(self.start(variables, arguments))
    }

    pub fn start(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_fewer"))
            .args(arguments)
            .current_dir(self.path())
            .env_remove("MAKEFLAGS")
            .env_remove("NO_COLOR")
            .env_remove("CI")
            .env_remove("FEWER_KEY")
            // Of the cargo that runs these tests; the project's own files say which one is its.
            .env_remove("CARGO")
            .env_remove("RUSTUP_TOOLCHAIN")
            .env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"))
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("fewer starts")
    }

    /// The selected tests.
    #[track_caller]
    pub fn selected(&self) -> Vec<String> {
        lines(&self.fewer(&["select"]).expect(0))
    }

    /// Runs until everything that can be reused is.
    #[track_caller]
    pub fn settle(&self) {
        self.fewer(&["run"]).expect(0);
    }
}

pub fn ended(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_string).collect()
}

pub fn manifest_directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Asks again until it is so.
#[track_caller]
pub fn wait_until(mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "it did not happen within a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
}
