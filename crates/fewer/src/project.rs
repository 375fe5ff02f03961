//! Which directory the project is in, with its settings and its working tree.

use std::path::{Path, PathBuf};

use anyhow::Context;
use fewer_git::WorkTree;

use crate::settings::{FILE_NAME, Settings};

/// Where records are kept, below the project's directory.
pub const STORE_DIRECTORY: &str = ".fewer";

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
        let work_tree = WorkTree::open(&root);
        Ok(Project { root, settings, work_tree })
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
