//! Where the modules of a project keep their classes, and what else is on their class paths, as the build tool said
//! when it last built them. The classes themselves are not looked at.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::JavaError;
use super::fact::{DependencyFact, Fact, ModuleFact, parse};

/// The modules of a project.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// The virtual machine that compiles, and runs tests unless a build file says otherwise. Example:
    /// `Debian 17.0.15+6`.
    pub java: String,
    /// Test runs of the build that are not among those that fewer starts. Example: `:core:integrationTest`.
    pub not_run: Vec<String>,
    /// Sorted by directory.
    pub modules: Vec<Module>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    pub directory: PathBuf,
    pub build_directory: PathBuf,
    /// Directories with classes and resources; not all of them need to be there.
    pub classes: Vec<PathBuf>,
    pub test_classes: Vec<PathBuf>,
    pub sources: Vec<PathBuf>,
    pub resources: Vec<PathBuf>,
    /// The rest of the class path of its tests, in order.
    pub dependencies: Vec<Dependency>,
    pub task: Option<String>,
    /// What the build does besides when it tests the module, which a run must not leave out.
    pub goals: Vec<String>,
    /// Whether the build says itself which classes are no tests, so that Surefire's usual exclude does not hold.
    pub has_excludes: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// Without the version. Example: `org.junit.jupiter:junit-jupiter-api:jar`.
    pub name: String,
    pub version: String,
    pub path: PathBuf,
}

impl Layout {
    /// What a tool told, on top of what is known of modules that it did not speak of; those that are gone are left
    /// out. `None` if there is no such file.
    pub fn read(facts: &Path, known: Option<Layout>) -> Result<Option<Layout>, JavaError> {
        let text = match fewer_files::read_to_string(facts) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(facts, &error)),
        };
        let told = parse(&text).map_err(|error| unreadable(facts, &error))?;
        let known = known.unwrap_or_default();
        let (mut java, mut not_run) = (known.java, known.not_run);
        let mut modules: BTreeMap<PathBuf, Module> =
            known.modules.into_iter().map(|module| (module.directory.clone(), module)).collect();
        for fact in told {
            match fact {
                Fact::Session { java: of_session, not_run: other, .. } => {
                    (java, not_run) = (of_session, other)
                }
                Fact::Module(module) => drop(modules.insert(module.directory.clone(), module.into())),
                Fact::Tests { .. } | Fact::Goal { .. } | Fact::Problem { .. } => {}
            }
        }
        modules.retain(|directory, _| directory.is_dir());
        Ok(Some(Layout { java, not_run, modules: modules.into_values().collect() }))
    }

    /// The same as facts, to be read again.
    pub fn facts(&self) -> String {
        let session = Fact::Session {
            modules: Vec::new(),
            java_home: PathBuf::new(),
            java: self.java.clone(),
            not_run: self.not_run.clone(),
        };
        let modules = self.modules.iter().map(|module| Fact::Module(module.into()));
        let line = |fact| serde_json::to_string(&fact).expect("facts have text keys") + "\n";
        [session].into_iter().chain(modules).map(line).collect()
    }
}

impl From<ModuleFact> for Module {
    fn from(fact: ModuleFact) -> Module {
        Module {
            directory: fact.directory,
            build_directory: fact.build,
            classes: fact.classes,
            test_classes: fact.test_classes,
            sources: fact.sources,
            resources: fact.resources,
            dependencies: fact
                .dependencies
                .into_iter()
                .map(|DependencyFact { name, version, path }| Dependency { name, version, path })
                .collect(),
            task: Some(fact.task).filter(|task| !task.is_empty()),
            goals: fact.goals,
            has_excludes: fact.has_excludes,
        }
    }
}

impl From<&Module> for ModuleFact {
    fn from(module: &Module) -> ModuleFact {
        let module = module.clone();
        ModuleFact {
            directory: module.directory,
            build: module.build_directory,
            classes: module.classes,
            test_classes: module.test_classes,
            sources: module.sources,
            resources: module.resources,
            dependencies: module
                .dependencies
                .into_iter()
                .map(|Dependency { name, version, path }| DependencyFact { name, version, path })
                .collect(),
            task: module.task.unwrap_or_default(),
            goals: module.goals,
            has_excludes: module.has_excludes,
        }
    }
}

fn unreadable(path: &Path, reason: &dyn std::fmt::Display) -> JavaError {
    JavaError::Facts { path: path.to_path_buf(), reason: reason.to_string() }
}
