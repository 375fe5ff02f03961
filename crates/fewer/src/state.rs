//! The state of the working tree that outcomes are recorded for. Outside of git it is what was built.

use std::path::PathBuf;

use fewer_core::{Digest, DigestBuilder, Domain};
use fewer_git::{GitError, WorkTree, WorkTreeState};
use fewer_objects::BuildTree;

use crate::data_files::{is_build_product, is_built};
use crate::project::Project;
use crate::settings::FILE_NAME;

const BUILT: Domain = Domain::new("state.built");

/// The state, and a note where git could not tell. `content` is of all that was built, for where git is not asked.
pub fn work_tree_state(
    project: &Project,
    build_directories: &[PathBuf],
    content: impl Fn() -> Digest,
) -> (WorkTreeState, Option<String>) {
    let built = || WorkTreeState { commit: None, dirty: false, untracked: false, digest: content() };
    let Some(work_tree) = &project.work_tree else { return (built(), None) };
    match checked_out(project, work_tree, build_directories) {
        Ok(state) => (state, None),
        Err(error) => (built(), Some(format!("git cannot tell the state of the working tree: {error}"))),
    }
}

/// What git says is checked out; what builds and fewer itself leave behind does not count. Nor do the settings: those that
/// change how a test starts or what it depends on are part of its fingerprint.
pub fn checked_out(
    project: &Project,
    work_tree: &WorkTree,
    build_directories: &[PathBuf],
) -> Result<WorkTreeState, GitError> {
    let top = work_tree.root().canonicalize().unwrap_or_else(|_| work_tree.root().to_path_buf());
    // A build inside the source tree has no directory of its own.
    let is_inside = build_directories.is_empty() || build_directories.contains(&project.root);
    let own: Vec<&PathBuf> =
        build_directories.iter().filter(|directory| **directory != project.root).collect();
    work_tree.state(|path| {
        let path = top.join(path);
        path.starts_with(project.store_directory())
            || path == project.root.join(FILE_NAME)
            || own.iter().any(|directory| path.starts_with(directory))
            || is_inside && (is_build_product(&path) || is_built(&path))
    })
}

/// Of all objects and programs.
pub fn built_content(tree: &BuildTree) -> Digest {
    let mut digest = DigestBuilder::new(BUILT);
    for object in &tree.objects {
        digest.text(&object.name).digest(object.key);
    }
    for (index, image) in tree.images.iter().enumerate() {
        digest.text(&image.name).digest(tree.image_content(index));
    }
    digest.finish()
}

/// The name of this machine, as outcomes carry it.
pub fn machine() -> String {
    let from_file = |path: &str| std::fs::read_to_string(path).ok();
    from_file("/proc/sys/kernel/hostname")
        .or_else(|| from_file("/etc/hostname"))
        .map(|name| name.trim().to_string())
        .filter(|name| !name.is_empty())
        .or_else(|| std::env::var("HOSTNAME").ok())
        .unwrap_or_else(|| "an unnamed machine".to_string())
}
