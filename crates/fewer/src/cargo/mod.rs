//! Cargo projects: which objects, libraries and programs belong to the test programs that cargo built, and their
//! tests with the way to start each. How objects are read is told in `fewer-objects`, how cargo is started in
//! `fewer-runners`.

mod answers;
mod built;
mod diagnosis;
mod documentation;
mod outline;
mod part;
mod sources;

pub use built::CargoBuild;
pub use diagnosis::{Overview, diagnose};
pub use outline::Outline;
pub use part::nextest_filter;

use std::path::PathBuf;

use anyhow::bail;
use fewer_runners::cargo::{Arguments, Cargo, nextest};

use crate::build_directory::BuildDirectory;
use crate::project::Project;
use crate::settings::{FILE_NAME, ProcessesSetting, RunnerSetting};

/// How cargo is started for the project; `None` if it is no cargo project, or if there is a build of C or C++ and the
/// user does not say that cargo's tests are meant.
pub fn cargo_of(project: &Project) -> Option<Cargo> {
    let settings = &project.settings;
    let arguments = settings.cargo.arguments.clone();
    let is_other = || settings.build_directory.is_some() || BuildDirectory::find(project).is_ok();
    let is_cargo = has_manifest(project) && (arguments.is_some() || !is_other());
    is_cargo.then(|| Cargo {
        program: std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from),
        arguments: Arguments::parse(&arguments.unwrap_or_else(|| vec!["--workspace".to_string()])),
        directory: project.root.clone(),
    })
}

/// Whether nextest is to run the tests: as the settings say, else where it is installed.
pub fn uses_nextest(project: &Project) -> anyhow::Result<bool> {
    let runs_programs = project.settings.cargo.processes == Some(ProcessesSetting::Program);
    match project.settings.cargo.runner.unwrap_or_default() {
        RunnerSetting::Auto => Ok(!runs_programs && nextest::is_installed()),
        RunnerSetting::Cargo => Ok(false),
        RunnerSetting::Nextest if runs_programs => bail!(
            "{FILE_NAME} says runner = \"nextest\" and processes = \"program\", but nextest has a process for each test: say \
             runner = \"cargo\", or leave processes out"
        ),
        RunnerSetting::Nextest if nextest::is_installed() => Ok(true),
        RunnerSetting::Nextest => bail!(
            "{FILE_NAME} says runner = \"nextest\", but cargo-nextest is neither in PATH nor among cargo's programs: install it \
             (`cargo install cargo-nextest --locked`) or say runner = \"auto\""
        ),
    }
}

/// Whether a failure of a test counts only if `cargo test` has it, too: not where each test is meant to have a process of
/// its own, as the settings say or a configuration of nextest does.
fn confirms(project: &Project, cargo: &Cargo) -> anyhow::Result<bool> {
    let settings = &project.settings.cargo;
    let is_apart = settings.processes == Some(ProcessesSetting::Test)
        || settings.runner == Some(RunnerSetting::Nextest)
        || (uses_nextest(project)? && nextest::is_configured(cargo)?);
    Ok(!is_apart)
}

/// What to say where tests are not looked at because there is a build of the other kind, too.
pub fn left_alone(project: &Project, cargo: Option<&Cargo>) -> Option<String> {
    if !has_manifest(project) {
        return None;
    }
    if cargo.is_some() {
        let directory = project.shown(&BuildDirectory::passed_over(project)?);
        return Some(format!(
            "{directory} holds object files, but nothing says that C or C++ is built there: only cargo's tests are looked at. \
             With build-directory = \"{directory}\" in {FILE_NAME} its tests are, and cargo's are not"
        ));
    }
    Some(
        "Cargo.toml is here too, but there is a build of C or C++: cargo's tests are not looked at. With [cargo] arguments = \
         [\"--workspace\"] in fewer.toml they are, and the others are not"
            .to_string(),
    )
}

fn has_manifest(project: &Project) -> bool {
    project.root.join("Cargo.toml").is_file()
}
