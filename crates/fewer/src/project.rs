//! Which directory the project is in, with its settings and its working tree.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fewer_git::WorkTree;

use crate::build_directory::{CARGO_FILES, CPP_FILES, JAVA_FILES, MAKEFILES, is_set_up_around};
use crate::settings::{FILE_NAME, Settings};

/// Where records are kept, below the project's directory.
pub const STORE_DIRECTORY: &str = ".fewer";

/// Build files of tools that fewer does not start.
const OTHER_BUILD_FILES: &[&str] =
    &["BUILD.bazel", "MODULE.bazel", "WORKSPACE", "SConstruct", "wscript", "xmake.lua"];

pub struct Project {
    /// Absolute, without links.
    pub root: PathBuf,
    pub settings: Settings,
    pub work_tree: Option<WorkTree>,
}

impl Project {
    /// The project that the command was started in.
    pub fn find() -> anyhow::Result<Project> {
        let root = root_from(&start_directory()?);
        let settings = Settings::read(&root)?;
        let project = Project::with(root, settings);
        project.require()?;
        Ok(project)
    }

    /// Whatever is in a directory.
    pub fn with(root: PathBuf, settings: Settings) -> Project {
        let work_tree = WorkTree::open(&root);
        Project { root, settings, work_tree }
    }

    /// An error where the directory is no project: what lies below it may be anybody's.
    pub fn require(&self) -> anyhow::Result<()> {
        let build_files = [CPP_FILES, MAKEFILES, CARGO_FILES, JAVA_FILES, OTHER_BUILD_FILES];
        let has = |name: &str| self.root.join(name).is_file();
        let is_project = self.work_tree.is_some()
            || has(FILE_NAME)
            || build_files.into_iter().flatten().any(|name| has(name))
            || is_set_up_around(&self.root);
        if !is_project {
            bail!(
                "{} is no project: it is in no git working tree and has neither a {FILE_NAME} nor a build file (such as \
                 CMakeLists.txt, Makefile, meson.build, configure.ac, Cargo.toml, pom.xml, build.gradle) nor a build \
                 directory (such as build with a CMakeCache.txt or build.ninja). Programs that lie below it may be \
                 anybody's, so nothing is looked at. Go to the project's directory (or name it: -C DIR), or write a \
                 {FILE_NAME} there that says build-directory = \"...\"",
                self.root.display()
            );
        }
        Ok(())
    }

    pub fn store_directory(&self) -> PathBuf {
        self.root.join(STORE_DIRECTORY)
    }

    /// Where the project begins in its repository, as git writes it: empty, or ending with `/`.
    pub fn below_top(&self) -> String {
        let top = self.work_tree.as_ref().map(|tree| tree.root());
        let below = top.and_then(|top| self.root.strip_prefix(top).ok()).unwrap_or("".as_ref());
        let mut below = below.to_string_lossy().into_owned();
        if !below.is_empty() {
            below.push('/');
        }
        below
    }

    /// The top of the working tree, without links; the project's directory where there is none.
    pub fn top(&self) -> PathBuf {
        let top = self.work_tree.as_ref().map_or(self.root.as_path(), |tree| tree.root());
        top.canonicalize().unwrap_or_else(|_| top.to_path_buf())
    }

    /// A path as people know it: below the project's directory where it is there.
    pub fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.root).unwrap_or(path);
        if shown.as_os_str().is_empty() { ".".to_string() } else { shown.display().to_string() }
    }
}

/// The current directory, without links; `-C` has been followed.
pub fn start_directory() -> anyhow::Result<PathBuf> {
    Path::new(".").canonicalize().context("cannot tell the current directory")
}

/// The nearest directory at or above the start with a `fewer.toml`, else with recorded outcomes, but not beyond
/// the repository; else the start itself.
fn root_from(start: &Path) -> PathBuf {
    let top = start.ancestors().find(|directory| directory.join(".git").exists());
    let within = |directory: &&Path| top.is_none_or(|top| directory.starts_with(top));
    let holding =
        |name: &str| start.ancestors().take_while(within).find(|directory| directory.join(name).exists());
    let recorded = top.and_then(|_| holding(STORE_DIRECTORY));
    holding(FILE_NAME).or(recorded).unwrap_or(start).to_path_buf()
}
