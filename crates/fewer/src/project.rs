//! Which directory the project is in, with its settings and its working tree.

use std::os::unix::fs::MetadataExt;
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
    /// Where the records are: below the root, unless these cannot be used.
    pub records: PathBuf,
    /// What the user should know of how the project was found.
    pub notes: Vec<String>,
}

impl Project {
    /// The project that the command was started in.
    pub fn find() -> anyhow::Result<Project> {
        let (root, notes) = root_from(&start_directory()?);
        let settings = if is_own(&root.join(FILE_NAME)) { Settings::read(&root)? } else { Settings::none()? };
        let project = Project { notes, ..Project::with(root, settings) };
        project.require()?;
        Ok(project)
    }

    /// Whatever is in a directory.
    pub fn with(root: PathBuf, settings: Settings) -> Project {
        let work_tree = WorkTree::open(&root);
        let records = root.join(STORE_DIRECTORY);
        Project { root, settings, work_tree, records, notes: Vec::new() }
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

    pub fn store_directory(&self) -> &Path {
        &self.records
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

/// The nearest directory at or above the start with a `fewer.toml` of the user, else with recorded outcomes, but not beyond
/// the repository; else the start itself. Without a repository nobody says whose the directories above are. Also what was
/// passed over.
fn root_from(start: &Path) -> (PathBuf, Vec<String>) {
    let top = start.ancestors().find(|directory| directory.join(".git").exists()).unwrap_or(start);
    let within = || start.ancestors().take_while(|directory| directory.starts_with(top));
    let holding = |name: &str| {
        within().find(|directory| directory.join(name).exists() && is_own(&directory.join(name)))
    };
    let root = holding(FILE_NAME).or_else(|| holding(STORE_DIRECTORY)).unwrap_or(start);
    let mut notes: Vec<String> = within()
        .map(|directory| directory.join(FILE_NAME))
        .filter(|settings| settings.exists() && !is_own(settings))
        .map(|settings| format!("{} is another user's: it is not read", settings.display()))
        .collect();
    let above =
        top.ancestors().skip(1).map(|directory| directory.join(FILE_NAME)).find(|settings| settings.exists());
    if let (Some(above), false) = (above, root.join(FILE_NAME).exists()) {
        notes.push(format!(
            "{} is above the project ({}): it is not read. If it is meant, start there (or: -C DIR)",
            above.display(),
            top.display()
        ));
    }
    (root.to_path_buf(), notes)
}

/// Whether a file is this user's, or the system's. One that is not there is nobody's.
fn is_own(path: &Path) -> bool {
    let own = [rustix::process::geteuid().as_raw(), rustix::process::Uid::ROOT.as_raw()];
    path.metadata().map_or(true, |metadata| own.contains(&metadata.uid()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn settings_are_looked_for_up_to_the_top_of_the_work_tree_and_never_above() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let below = place.join("top/middle/below");
        fs::create_dir_all(&below).unwrap();
        fs::write(place.join(FILE_NAME), "").unwrap();
        let (root, notes) = root_from(&below);
        assert_eq!(root, below, "without a repository only the directory itself counts");
        assert!(notes.len() == 1 && notes[0].contains("fewer.toml is above the project"), "{notes:?}");
        fs::create_dir(place.join("top/.git")).unwrap();
        assert_eq!(root_from(&below).0, below, "what is above the top is not the project's");
        fs::write(place.join("top").join(FILE_NAME), "").unwrap();
        assert_eq!(root_from(&below), (place.join("top"), Vec::new()));
    }

    #[test]
    fn settings_of_another_user_are_passed_over_and_named() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let top = place.path().canonicalize().unwrap();
        let below = top.join("below");
        fs::create_dir_all(&below).unwrap();
        fs::create_dir(top.join(".git")).unwrap();
        for directory in [&top, &below] {
            fs::write(directory.join(FILE_NAME), "").unwrap();
        }
        std::os::unix::fs::chown(below.join(FILE_NAME), Some(65534), None).unwrap();
        let (root, notes) = root_from(&below);
        assert_eq!(root, top);
        assert!(notes.len() == 1 && notes[0].contains("below/fewer.toml is another user's"), "{notes:?}");
    }
}
