//! What can be said of a cargo project before anything of it is built.

use std::path::PathBuf;

use fewer_runners::cargo::{Arguments, Cargo, nextest};

pub struct Outline {
    pub packages: Vec<String>,
    pub test_targets: usize,
    /// Example: `rustc 1.95.0 (59807616e 2026-04-14)`.
    pub compiler: String,
    pub has_nextest: bool,
    /// Why the code of test programs will not be seen.
    pub keeps_no_objects: Option<&'static str>,
}

/// Where no project is: cargo and rustup take what they start from the files of the directory that they are started in.
const NEUTRAL: &str = "/";
/// In which a project names its compiler.
const TOOLCHAIN_FILES: [&str; 2] = ["rust-toolchain.toml", "rust-toolchain"];

impl Outline {
    /// Nothing of the project is started.
    pub fn read(cargo: &Cargo) -> anyhow::Result<Outline> {
        let manifest = cargo.directory.join("Cargo.toml").to_string_lossy().into_owned();
        let arguments = Arguments::parse(&["--manifest-path".to_string(), manifest]);
        let from_afar =
            Cargo { program: cargo.program.clone(), arguments, directory: PathBuf::from(NEUTRAL) };
        let packages = from_afar.packages()?.packages;
        let own = TOOLCHAIN_FILES.into_iter().find(|name| cargo.directory.join(name).exists());
        let compiler = match own {
            Some(file) => format!("what {file} names"),
            None => from_afar.compiler()?.0.lines().next().unwrap_or("rustc").to_string(),
        };
        let is_off = std::env::var_os("CARGO_INCREMENTAL").is_some_and(|value| value == "0");
        Ok(Outline {
            test_targets: packages.iter().map(|package| package.test_targets()).sum(),
            packages: packages.into_iter().map(|package| package.name).collect(),
            compiler,
            has_nextest: nextest::is_installed(),
            keeps_no_objects: is_off.then_some("CARGO_INCREMENTAL is 0"),
        })
    }
}
