//! Test classes of the JVM, run by Maven, by Gradle or by JUnit's console launcher, with the project's build files as
//! they are. Build tools are looked into by an extension (Maven) or an init script (Gradle) that only tell what
//! happens; results come from the XML reports. Which classes run is decided elsewhere.

mod archive;
mod conclusion;
mod console;
mod fact;
mod gradle;
mod layout;
mod maven;
mod reports;
mod run;
mod watch;

use std::io;
use std::path::PathBuf;

use fewer_core::test_id::TestId;
use thiserror::Error;

use crate::build::BuildCommand;
use crate::event::{RunEnd, TestResult};

pub use archive::{ArchivedClasses, archived_classes};
pub use layout::{Dependency, Layout, Module};
pub use maven::surefire_excludes;
pub use run::run;

/// What compiles the project and runs its tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    Maven,
    Gradle,
    /// JUnit's console launcher, on a class path that somebody else compiled.
    Console,
}

/// How a tool is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolCommand {
    pub tool: Tool,
    /// `mvn`, `./mvnw`, `gradle`; for the console launcher `java`.
    pub program: PathBuf,
    /// The user's own, given to every invocation.
    pub arguments: Vec<String>,
    /// Where it is started: the project's directory.
    pub directory: PathBuf,
    /// A directory of ours for what the tool is given and what it tells.
    pub workshop: PathBuf,
    /// The jar of the console launcher.
    pub launcher: Option<PathBuf>,
}

/// A test: a class, or several that are told apart only by the tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassTest {
    pub test: TestId,
    /// Binary names of top-level classes.
    pub classes: Vec<String>,
    /// Top-level classes that these inherit from: what is nested in them runs, and is reported, under their names.
    pub bases: Vec<String>,
}

/// The tests of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleTests {
    /// The target of their ids.
    pub target: String,
    pub directory: PathBuf,
    /// Gradle's test task. Example: `:core:test`.
    pub task: Option<String>,
    /// For the console launcher.
    pub class_path: Vec<PathBuf>,
    /// Those that are to run.
    pub selected: Vec<ClassTest>,
    /// Those that are not.
    pub others: Vec<ClassTest>,
    /// What the build does besides when it tests the module. Example: `maven-antrun-plugin:run (check)`.
    pub goals: Vec<String>,
    /// As [`Module::has_excludes`].
    pub has_excludes: bool,
}

/// How a run ended, beyond its events.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JavaEnd {
    pub end: RunEnd,
    /// Results of classes that nobody knew to be tests.
    pub unexpected: Vec<TestResult>,
    pub notes: Vec<String>,
}

/// A build that leaves everything compiled and tells what there is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compilation {
    pub command: BuildCommand,
    /// To be set for the command, and for any other that may start the tool: it then tells as well.
    pub environment: Vec<(String, std::ffi::OsString)>,
    /// Where the facts are told, for [`Layout::read`].
    pub facts: PathBuf,
}

/// A build tool could not be used.
#[derive(Debug, Error)]
pub enum JavaError {
    #[error("{program} could not be started ({source}); install it, or name it: java.command in fewer.toml")]
    Start { program: String, source: io::Error },
    #[error("cannot write {path} ({source}); give fewer a directory that it may write to")]
    Workshop { path: PathBuf, source: io::Error },
    #[error("`{command}` does not tell where Maven is; it printed:\n{output}")]
    NoMavenHome { command: String, output: String },
    #[error(
        "the extension by which Maven tells what it does cannot be compiled; a JDK with javac is needed:\n{output}"
    )]
    Extension { output: String },
    #[error("{path} cannot be read: {reason}. Build again.")]
    Facts { path: PathBuf, reason: String },
    #[error("interrupted")]
    Interrupted,
}

impl ModuleTests {
    /// Whether the tool has anything to do there.
    fn is_due(&self) -> bool {
        !(self.selected.is_empty() && self.goals.is_empty())
    }
}

impl Compilation {
    /// Nobody needs the facts any more.
    pub fn forget(&self) {
        let _ = std::fs::remove_file(&self.facts);
    }

    /// Whether the tool has told of any module.
    pub fn has_told(&self) -> bool {
        let layout = Layout::read(&self.facts, None).ok().flatten();
        layout.is_some_and(|layout| !layout.modules.is_empty())
    }
}

impl ToolCommand {
    /// How to compile everything and learn the layout; `None` where the tool compiles nothing.
    pub fn compilation(&self, cancel: &crate::Cancel) -> Result<Option<Compilation>, JavaError> {
        match self.tool {
            Tool::Maven => maven::compilation(self, cancel).map(Some),
            Tool::Gradle => gradle::compilation(self).map(Some),
            Tool::Console => Ok(None),
        }
    }

    /// Puts a file into the workshop, under a name of this process: another may be at work in the same project.
    fn provide(&self, name: &str, content: &str) -> Result<PathBuf, JavaError> {
        let path = self.workshop.join(format!("{}-{name}", std::process::id()));
        let failed = |source| JavaError::Workshop { path: path.clone(), source };
        std::fs::create_dir_all(&self.workshop).map_err(failed)?;
        std::fs::write(&path, content).map_err(failed)?;
        Ok(path)
    }
}
