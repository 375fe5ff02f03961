//! What can be said of a cargo project before anything of it is built.

use fewer_runners::cargo::{Cargo, nextest};

pub struct Outline {
    pub packages: Vec<String>,
    pub test_targets: usize,
    /// Example: `rustc 1.95.0 (59807616e 2026-04-14)`.
    pub compiler: String,
    pub has_nextest: bool,
    /// Why the code of test programs will not be seen.
    pub keeps_no_objects: Option<&'static str>,
}

impl Outline {
    pub fn read(cargo: &Cargo) -> anyhow::Result<Outline> {
        let packages = cargo.packages()?.packages;
        let (version, _) = cargo.compiler()?;
        let is_off = std::env::var_os("CARGO_INCREMENTAL").is_some_and(|value| value == "0");
        Ok(Outline {
            test_targets: packages.iter().map(|package| package.test_targets()).sum(),
            packages: packages.into_iter().map(|package| package.name).collect(),
            compiler: version.lines().next().unwrap_or("rustc").to_string(),
            has_nextest: nextest::is_installed(),
            keeps_no_objects: is_off.then_some("CARGO_INCREMENTAL is 0"),
        })
    }
}
