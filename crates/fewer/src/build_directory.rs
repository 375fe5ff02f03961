//! Where the build leaves its objects and programs: as `fewer.toml` says, or found by looking.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::project::Project;
use crate::settings::FILE_NAME;

/// How deep below a directory objects are looked for.
const DEPTH: usize = 8;

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
        let mut found = candidates(&project.root).into_iter().filter(|path| holds_build(path, DEPTH));
        let Some(path) = found.next() else {
            // What cargo leaves behind is found by asking cargo.
            let is_cargo = project.root.join("Cargo.toml").is_file();
            if (!is_cargo && has_objects(&project.root, DEPTH))
                || project.root.join("CMakeCache.txt").exists()
            {
                return Ok(BuildDirectory { path: project.root.clone(), others: Vec::new() });
            }
            bail!(
                "no build directory found in {}: neither build, cmake-build-*, _build, out or build-* nor the \
                 directory itself holds object files. Build the project first, or name the directory: \
                 build-directory = \"...\" in {FILE_NAME}",
                project.root.display()
            );
        };
        let others = found.map(|path| project.shown(&path)).collect();
        Ok(BuildDirectory { path, others })
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

fn holds_build(directory: &Path, depth: usize) -> bool {
    ["CMakeCache.txt", "build.ninja"].iter().any(|name| directory.join(name).exists())
        || has_objects(directory, depth)
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
        let found: Vec<PathBuf> =
            candidates(root.path()).into_iter().filter(|path| holds_build(path, DEPTH)).collect();
        assert_eq!(found, [root.path().join("build-make")]);
        fs::write(root.path().join("cmake-build-debug/CMakeCache.txt"), "").unwrap();
        assert!(holds_build(&candidates(root.path())[1], DEPTH));
    }
}
