//! Cargo projects: which objects, libraries and programs belong to the test programs that cargo built, and their
//! tests with the way to start each. How objects are read is told in `fewer-objects`, how cargo is started in
//! `fewer-runners`.

mod built;
mod diagnosis;
mod documentation;
mod part;
mod sources;

pub use built::{CargoBuild, keep_messages};
pub use diagnosis::{Overview, diagnose};
pub use part::nextest_filter;

use std::path::PathBuf;

use fewer_runners::cargo::Cargo;

use crate::project::Project;

/// How cargo is started for the project; `None` if it is no cargo project, or the user names a build directory of C
/// or C++.
pub fn cargo_of(project: &Project) -> Option<Cargo> {
    let settings = &project.settings;
    let is_cargo = project.root.join("Cargo.toml").is_file() && settings.build_directory.is_none();
    let arguments = settings.cargo.arguments.clone();
    is_cargo.then(|| Cargo {
        program: std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from),
        arguments: arguments.unwrap_or_else(|| vec!["--workspace".to_string()]),
        directory: project.root.clone(),
    })
}
