//! Java projects. As their files say, at any commit or in the working tree, without a checkout or a build: which file
//! is what, which module it belongs to, and the graph of a state kept up to date. And as they were compiled: classes,
//! class paths and what else tests depend on, for running them. How Java is read is told in `fewer-java`.

mod compiled;
mod console;
mod diagnosis;
mod facts;
mod inputs;
mod modules;
mod part;
mod record;
mod roles;
mod state;
mod tool;

pub use compiled::{Compiled, remember_unseen};
pub use diagnosis::{Overview, diagnose};
pub use facts::FactsReader;
pub use part::JavaMeans;
pub use record::{RECORD_KIND, Record};
pub use state::{FileChange, FileContent, JavaState};
pub use tool::{build_directories, keep_layout, tool_of};

use std::path::PathBuf;

use fewer_core::{Digest, DigestBuilder, Domain};
use fewer_git::{HistoryError, Repository, TreeEntry};
use fewer_java::source_facts::SOURCE_FACTS_VERSION;
use fewer_java::{Dependencies, Level, Options, Reflection};

use crate::cli::{DependenciesName, JavaOptions, LevelName};
use crate::project::Project;
use crate::settings::JavaSettings;

/// Raise it when the same files give another graph.
const VERSION: u64 = 1;
const ANALYSIS: Domain = Domain::new("java.analysis");

/// Whether there is Java source to look at: files that git knows, if only in the commit of a clone without a checkout.
pub fn knows_java(project: &Project) -> bool {
    let Some(tree) = &project.work_tree else { return false };
    let is_source = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "java");
    let files = tree.list_files(&project.root).unwrap_or_default();
    files.iter().any(is_source) || committed(project).iter().any(is_source)
}

/// What the project's part of the commit holds, where nothing of it is checked out.
fn committed(project: &Project) -> Vec<PathBuf> {
    let below = project.below_top();
    let entries =
        Repository::open(&project.root).and_then(|repository| not_checked_out(project, &repository));
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path);
    paths.filter(|path| path.starts_with(&below)).collect()
}

/// The files of HEAD, if none of them is checked out.
pub fn not_checked_out(
    project: &Project,
    repository: &Repository,
) -> Result<Option<Vec<TreeEntry>>, HistoryError> {
    let Some(tree) = &project.work_tree else { return Ok(None) };
    if !tree.tracked_files(tree.root())?.is_empty() {
        return Ok(None);
    }
    let Ok(head) = repository.resolve("HEAD") else { return Ok(None) };
    repository.tree(head).map(Some)
}

/// What the user asked for, on the command line or in the settings.
pub fn options_of(asked: &JavaOptions, settings: &JavaSettings) -> Options {
    let dependencies = match asked.dependencies.or(settings.dependencies) {
        Some(DependenciesName::Full) | None => Dependencies::Full,
        Some(DependenciesName::Firewall) => Dependencies::Firewall,
    };
    let level = match asked.level.or(settings.level) {
        Some(LevelName::Class) | None => Level::Class,
        Some(LevelName::Member) => Level::Member,
    };
    Options { dependencies, level, reflection: Reflection::default() }
}

/// The same for analyses that give the same graph for the same files.
pub fn analysis_digest(options: Options, below: &str) -> Digest {
    let mut builder = DigestBuilder::new(ANALYSIS);
    builder.number(VERSION).number(SOURCE_FACTS_VERSION.into()).text(env!("CARGO_PKG_VERSION"));
    builder.number(match options.dependencies {
        Dependencies::Full => 0,
        Dependencies::Firewall => 1,
    });
    builder.number(match options.level {
        Level::Class => 0,
        Level::Member => 1,
    });
    builder.number(match options.reflection {
        Reflection::Everything => 0,
        Reflection::Named => 1,
    });
    builder.text(below).finish()
}
