//! The state of the working tree that outcomes are recorded for. Outside of git it is what was built.

use std::path::Path;

use fewer_core::{DigestBuilder, Domain};
use fewer_git::WorkTreeState;
use fewer_objects::BuildTree;

use crate::data_files::is_build_product;
use crate::project::Project;

const BUILT: Domain = Domain::new("state.built");

/// The state, and a note where git could not tell.
pub fn work_tree_state(
    project: &Project,
    build_directory: &Path,
    tree: &BuildTree,
) -> (WorkTreeState, Option<String>) {
    let Some(work_tree) = &project.work_tree else { return (built(tree), None) };
    let top = work_tree.root().canonicalize().unwrap_or_else(|_| work_tree.root().to_path_buf());
    let is_inside = build_directory == project.root;
    let is_ignored = |path: &Path| {
        let path = top.join(path);
        let is_built = || {
            let Ok(below) = path.strip_prefix(build_directory) else { return false };
            tree.images.iter().any(|image| Path::new(&image.name) == below)
        };
        path.starts_with(project.store_directory())
            || (!is_inside && path.starts_with(build_directory))
            || (is_inside && (is_build_product(&path) || is_built()))
    };
    match work_tree.state(is_ignored) {
        Ok(state) => (state, None),
        Err(error) => (built(tree), Some(format!("git cannot tell the state of the working tree: {error}"))),
    }
}

fn built(tree: &BuildTree) -> WorkTreeState {
    let mut digest = DigestBuilder::new(BUILT);
    for object in &tree.objects {
        digest.text(&object.name).digest(object.key);
    }
    for image in &tree.images {
        digest.text(&image.name).digest(image.key);
    }
    WorkTreeState { commit: None, dirty: false, digest: digest.finish() }
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
