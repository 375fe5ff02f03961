//! Where the build leaves its objects and programs: as `fewer.toml` says, or found by looking.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::project::Project;
use crate::settings::FILE_NAME;

/// How deep below a directory objects are looked for.
const DEPTH: usize = 8;

/// Files that tell how something is built.
pub const CARGO_FILES: &[&str] = &["Cargo.toml"];
pub const JAVA_FILES: &[&str] =
    &["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
pub const MAKEFILES: &[&str] = &["Makefile", "GNUmakefile", "makefile"];
pub const CPP_FILES: &[&str] = &[
    "CMakeLists.txt",
    "meson.build",
    "configure",
    "configure.ac",
    "configure.in",
    "Makefile.am",
    "Makefile.in",
];

/// A directory with build outputs.
#[derive(Clone, Debug)]
pub struct BuildDirectory {
    /// Absolute.
    pub path: PathBuf,
    /// Other directories that look like build directories too, by name.
    pub others: Vec<String>,
}

impl BuildDirectory {
    pub fn find(project: &Project) -> anyhow::Result<BuildDirectory> {
        if let Some(directory) = &project.settings.build_directory {
            let path = project.root.join(directory);
            let path = path.canonicalize().ok().filter(|path| path.is_dir()).with_context(|| {
                format!(
                    "the build directory {} does not exist, although {FILE_NAME} names it: build the project first",
                    project.shown(&path)
                )
            })?;
            return Ok(BuildDirectory { path, others: Vec::new() });
        }
        let beside = Beside::of(&project.root);
        let mut found = candidates(&project.root).into_iter().filter(|path| beside.admits(project, path));
        let Some(path) = found.next() else {
            if beside.admits_sources(project) {
                return Ok(BuildDirectory { path: project.root.clone(), others: Vec::new() });
            }
            bail!(
                "no build directory found in {}: neither build, cmake-build-*, _build, out or build-* holds object files or \
                 was set up by CMake, Meson or configure, and the directory itself is no build of a Makefile or of CMake \
                 with object files in it. Build the project first, or name the directory: build-directory = \"...\" in \
                 {FILE_NAME}",
                project.root.display()
            );
        };
        let others = found.map(|path| project.shown(&path)).collect();
        Ok(BuildDirectory { path, others })
    }

    /// A directory of a usual name with object files that is not taken for a build of C or C++, because the project
    /// is cargo's and nothing else says that it is one.
    pub fn passed_over(project: &Project) -> Option<PathBuf> {
        let is_strange = |path: &PathBuf| !is_of_cargo(path) && has_objects(path, DEPTH);
        candidates(&project.root).into_iter().find(is_strange)
    }
}

/// Whether a directory is set up for builds, or one of a usual name in it is.
pub fn is_set_up_around(directory: &Path) -> bool {
    is_set_up(directory) || candidates(directory).iter().any(|path| is_set_up(path))
}

/// Whether the project's directory says how C or C++ is built there.
pub fn describes_cpp(root: &Path) -> bool {
    CPP_FILES.iter().chain(MAKEFILES).any(|name| root.join(name).is_file())
}

/// What else is built in the project's directory, and leaves things in directories of the same usual names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// Its tests are looked at beside those of C and C++.
    Java,
    /// Its tests are looked at instead of those of C and C++.
    Cargo,
}

impl Beside {
    fn of(root: &Path) -> Beside {
        let has = |names: &[&str]| names.iter().any(|name| root.join(name).is_file());
        if has(CARGO_FILES) {
            Beside::Cargo
        } else if has(JAVA_FILES) {
            Beside::Java
        } else {
            Beside::Nothing
        }
    }

    /// Whether a directory of a usual name is one of C or C++.
    fn admits(self, project: &Project, path: &Path) -> bool {
        match self {
            Beside::Nothing => is_set_up(path) || has_objects(path, DEPTH),
            Beside::Java => describes_cpp(&project.root) && (is_set_up(path) || has_objects(path, DEPTH)),
            Beside::Cargo => describes_cpp(&project.root) && is_set_up(path),
        }
    }

    /// Whether the project is built where its sources are.
    fn admits_sources(self, project: &Project) -> bool {
        let root = &project.root;
        let is_told =
            project.settings.build.is_some() || MAKEFILES.iter().any(|name| root.join(name).is_file());
        let is_own = project.work_tree.is_some() || root.join(FILE_NAME).is_file();
        is_set_up(root) || (self == Beside::Nothing && is_told && is_own && has_objects(root, DEPTH))
    }
}

/// The usual names, in the order they are tried.
fn candidates(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let mut ranked: Vec<(usize, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let rank = match name.as_str() {
                "build" => 0,
                "_build" => 2,
                "out" => 3,
                other if other.starts_with("cmake-build-") => 1,
                other if other.starts_with("build-") && other != "build-aux" => 4,
                _ => return None,
            };
            Some((rank, entry.path()))
        })
        .collect();
    ranked.sort();
    ranked.into_iter().map(|(_, path)| path).collect()
}

/// Whether CMake, Meson or a configure script has made the directory ready for builds.
fn is_set_up(directory: &Path) -> bool {
    ["CMakeCache.txt", "build.ninja", "config.status", "meson-info"]
        .iter()
        .any(|name| directory.join(name).exists())
}

fn is_of_cargo(directory: &Path) -> bool {
    directory.join(".rustc_info.json").exists()
}

/// Whether an object file lies anywhere below.
fn has_objects(directory: &Path, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    let mut directories = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !name.starts_with(".git") && name != ".fewer" => {
                directories.push(entry.path());
            }
            Ok(kind) if kind.is_file() && name.ends_with(".o") => return true,
            Ok(_) | Err(_) => {}
        }
    }
    depth > 0 && directories.iter().any(|directory| has_objects(directory, depth - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_are_tried_in_order_and_only_with_build_outputs_in_them() {
        let root = tempfile::tempdir().unwrap();
        for name in ["build-make/src", "cmake-build-debug", "build", "build-aux", "src"] {
            fs::create_dir_all(root.path().join(name)).unwrap();
        }
        fs::write(root.path().join("build-make/src/a.o"), "").unwrap();
        fs::write(root.path().join("build-aux/x.o"), "").unwrap();
        let found: Vec<PathBuf> = candidates(root.path())
            .into_iter()
            .filter(|path| is_set_up(path) || has_objects(path, DEPTH))
            .collect();
        assert_eq!(found, [root.path().join("build-make")]);
        fs::write(root.path().join("cmake-build-debug/CMakeCache.txt"), "").unwrap();
        assert!(is_set_up(&candidates(root.path())[1]));
    }
}
