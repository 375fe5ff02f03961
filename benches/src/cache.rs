//! The generated project on disk: written and built once below the user's cache directory, and reused.
//! Its directory is named after everything that determines it, so a changed generator makes a new one.

use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use fewer_core::{DigestBuilder, Domain};

use crate::generate::Project;
use crate::measure;

const PROJECT: Domain = Domain::new("bench.project");

/// Where generated inputs are kept.
pub fn user_cache() -> Result<PathBuf> {
    let cache = match (std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME")) {
        (Some(cache), _) if !cache.is_empty() => PathBuf::from(cache),
        (_, Some(home)) => PathBuf::from(home).join(".cache"),
        (_, None) => bail!("neither XDG_CACHE_HOME nor HOME is set; set one to say where to build"),
    };
    Ok(cache.join("fewer").join("bench"))
}

/// A project whose files and build outputs exist, locked against other benchmarks until dropped.
#[derive(Debug)]
pub struct Built {
    pub project: Project,
    pub directory: PathBuf,
    _lock: File,
}

impl Built {
    /// Below `XDG_CACHE_HOME` or `~/.cache`.
    pub fn in_user_cache(project: Project) -> Result<Built> {
        Built::below(&user_cache()?, project)
    }

    /// Writes what is missing or differs, and builds what is out of date.
    pub fn below(parent: &Path, project: Project) -> Result<Built> {
        let directory = parent.join(key(&project)?);
        fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let lock = File::create(directory.join("lock")).context("cannot create the lock file")?;
        lock.lock().context("cannot lock the project")?;
        let built = Built { project, directory, _lock: lock };
        for (path, text) in &built.project.files {
            built.write(path, text)?;
        }
        built.build()?;
        Ok(built)
    }

    pub fn build_directory(&self) -> PathBuf {
        self.directory.join("build")
    }

    /// Does `work` while one source file is edited and all is built again; then undoes the edit.
    pub fn while_edited<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let (path, edited) = &self.project.edit;
        self.write(path, edited)?;
        let done = self.build().and_then(|()| work());
        self.write(path, &self.project.files[path])?;
        self.build()?;
        done
    }

    /// The bytes of all files below the build directory whose names end so.
    pub fn bytes(&self, extension: &str) -> Result<u64> {
        bytes_below(&self.build_directory(), extension)
    }

    /// How many tests the executables list.
    pub fn listed_tests(&self) -> Result<usize> {
        let mut tests = 0;
        for link in &self.project.links {
            let mut command = Command::new(self.build_directory().join(&link.executable));
            tests +=
                output(command.arg("--gtest_list_tests"))?.lines().filter(|l| l.starts_with(' ')).count();
        }
        Ok(tests)
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.directory.join(path);
        if fs::read(&path).is_ok_and(|present| present == text.as_bytes()) {
            return Ok(());
        }
        let parent = path.parent().unwrap_or(&self.directory);
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn build(&self) -> Result<()> {
        eprintln!("building {}: minutes the first time, nothing to do later", self.directory.display());
        let mut ninja = Command::new("nice");
        ninja.args(["-n", "10", "ninja", "-C"]).arg(self.build_directory());
        if !io::stderr().is_terminal() {
            ninja.arg("--quiet");
        }
        let usage = measure::child(&mut ninja)?;
        eprintln!("built in {:.0} s of CPU time", usage.cpu.as_secs_f64());
        Ok(())
    }
}

/// The project's text, and the tools whose output depends on their version.
fn key(project: &Project) -> Result<String> {
    let mut builder = DigestBuilder::new(PROJECT);
    for (path, text) in &project.files {
        builder.text(path).text(text);
    }
    for tool in ["g++", "mold"] {
        builder.text(&output(Command::new(tool).arg("--version"))?);
    }
    Ok(builder.finish().to_string())
}

fn output(command: &mut Command) -> Result<String> {
    let shown = format!("{command:?}");
    let output = command.output().with_context(|| format!("cannot start {shown}; is it installed?"))?;
    if !output.status.success() {
        bail!("{shown} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn bytes_below(directory: &Path, extension: &str) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            bytes += bytes_below(&path, extension)?;
        } else if path.extension().is_some_and(|found| found == extension) {
            bytes += path.metadata()?.len();
        }
    }
    Ok(bytes)
}
