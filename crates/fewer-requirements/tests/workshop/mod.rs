//! A temporary directory in which real tools run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

pub struct Workshop {
    directory: TempDir,
    root: PathBuf,
}

impl Workshop {
    pub fn empty() -> Workshop {
        let directory = TempDir::new().unwrap();
        let root = directory.path().canonicalize().unwrap();
        Workshop { directory, root }
    }

    /// With coverage.py and pytest at hand.
    pub fn with_python() -> Workshop {
        python();
        Workshop::empty()
    }

    pub fn path(&self) -> &Path {
        assert!(self.directory.path().exists());
        &self.root
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn python(&self) -> &'static Path {
        python()
    }

    /// Runs a tool that must succeed.
    #[track_caller]
    pub fn run(&self, program: &str, arguments: &[&str]) {
        let output = self.run_any(program, arguments);
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    }

    /// Runs a program whose exit code does not matter.
    pub fn run_any(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path()).env("PYTHONPATH", self.path());
        command.output().unwrap_or_else(|error| panic!("{program}: {error}"))
    }
}

/// An interpreter with coverage.py, pytest and pytest-cov; made once and kept beside the build.
fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).join("coverage-py");
        let python = environment.join("bin/python");
        let has_all = || {
            let check = Command::new(&python).args(["-c", "import coverage, pytest, pytest_cov"]).output();
            check.is_ok_and(|output| output.status.success())
        };
        if !has_all() {
            let make = Command::new("python3").args(["-m", "venv"]).arg(&environment).output().unwrap();
            assert!(make.status.success(), "python3 -m venv: {make:?}");
            let install = ["-m", "pip", "install", "-q", "coverage", "pytest", "pytest-cov"];
            let installed = Command::new(&python).args(install).output().unwrap();
            assert!(installed.status.success(), "pip install: {installed:?}");
        }
        python
    })
}
