//! `fewer init`: detects the build system, the test framework and the compiler, writes a commented `fewer.toml`
//! and says what to change in the build, if anything.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use fewer_console::{Console, ExitCode};

use crate::build_directory::BuildDirectory;
use crate::cli::{Global, InitOptions};
use crate::diagnosis::{compile_flags, findings};
use crate::examination::{examine, scan};
use crate::project::{Project, start_directory};
use crate::session::Session;
use crate::settings::{FILE_NAME, Settings};

/// What builds the project.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BuildSystem {
    CMake,
    AutoMake,
    Make,
    Maven,
    Gradle,
    Unknown,
}

impl BuildSystem {
    fn detect(root: &Path) -> BuildSystem {
        let has = |name: &str| root.join(name).exists();
        if has("pom.xml") {
            BuildSystem::Maven
        } else if ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]
            .into_iter()
            .any(has)
        {
            BuildSystem::Gradle
        } else if has("CMakeLists.txt") {
            BuildSystem::CMake
        } else if has("configure.ac") || has("Makefile.am") {
            BuildSystem::AutoMake
        } else if has("Makefile") || has("GNUmakefile") || has("makefile") {
            BuildSystem::Make
        } else {
            BuildSystem::Unknown
        }
    }

    fn name(self) -> &'static str {
        match self {
            BuildSystem::CMake => "CMake",
            BuildSystem::AutoMake => "AutoMake",
            BuildSystem::Make => "Make",
            BuildSystem::Maven => "Maven",
            BuildSystem::Gradle => "Gradle",
            BuildSystem::Unknown => "unknown",
        }
    }

    fn build_command(self, directory: &str) -> String {
        match self {
            BuildSystem::CMake => format!("cmake --build {directory}"),
            BuildSystem::AutoMake if directory != "." => format!("make -C {directory}"),
            BuildSystem::AutoMake | BuildSystem::Make | BuildSystem::Unknown => "make".to_string(),
            BuildSystem::Maven => "mvn -q test-compile".to_string(),
            BuildSystem::Gradle => "gradle -q testClasses".to_string(),
        }
    }

    /// Whether fewer itself knows how to build, so that nothing needs to be set.
    fn builds_itself(self) -> bool {
        match self {
            BuildSystem::Maven | BuildSystem::Gradle => true,
            BuildSystem::CMake | BuildSystem::AutoMake | BuildSystem::Make | BuildSystem::Unknown => false,
        }
    }
}

pub fn execute(global: &Global, console: &Console, options: &InitOptions) -> anyhow::Result<ExitCode> {
    let root = start_directory()?;
    let path = root.join(FILE_NAME);
    if path.exists() && !options.force {
        bail!("{} exists already: `fewer init --force` overwrites it", path.display());
    }
    let settings = Settings::read(Path::new("/nonexistent"))?;
    let project = Project { root: root.clone(), settings, work_tree: None };
    let system = BuildSystem::detect(&root);
    let directory = BuildDirectory::find(&project).ok();
    let shown = directory.as_ref().map(|directory| project.shown(&directory.path));
    fs::write(&path, document(system, shown.as_deref()))
        .with_context(|| format!("cannot write {}", path.display()))?;
    console.say(&format!("build system: {}", system.name()));
    if let Some(directory) = &directory {
        console.say(&format!("build directory: {}", project.shown(&directory.path)));
        if let Some(compiler) = compiler(&directory.path) {
            console.say(&format!("compiler: {compiler}"));
        }
    }
    match directory {
        Some(directory) => advise_from_build(global, console, &directory)?,
        None if system.builds_itself() => {
            console.say("tests are compiled and run by the build tool, with its build files as they are");
        }
        None => {
            console.say("nothing is built yet. For the most precise selection compile with:");
            for fix in compile_flags(FLAGS) {
                console.say(&format!("  {}: {}", fix.place, fix.change));
            }
        }
    }
    console.say(&format!("wrote {}; next: `fewer run`", path.display()));
    Ok(ExitCode::Green)
}

const FLAGS: &str = "-ffunction-sections -fdata-sections -fmerge-constants -ffile-prefix-map=SOURCE=.";

/// What the objects that are there say about the flags they were compiled with.
fn advise_from_build(global: &Global, console: &Console, directory: &BuildDirectory) -> anyhow::Result<()> {
    let session = Session::open(global, console)?;
    session.watch_signals()?;
    let (tree, _) = scan(&session, &directory.path)?;
    let examined = examine(&session, directory, &tree)?;
    let targets = examined.analysis.targets();
    let googletest = targets.iter().filter(|target| target.has_googletest).count();
    console.say(&format!(
        "tests: {} in {googletest} GoogleTest programs{}",
        examined.tests.len(),
        if examined.has_ctest { " and CTest entries" } else { "" }
    ));
    let findings = findings(&session.project.root, &directory.path, &tree, &examined);
    for finding in &findings {
        console.say(&format!("to mend: {} ({})", finding.what, finding.why));
        for fix in &finding.fix {
            console.say(&format!("  {}: {}", fix.place, fix.change));
        }
    }
    Ok(())
}

/// The C++ compiler that CMake found.
fn compiler(build_directory: &Path) -> Option<String> {
    let cache = fs::read_to_string(build_directory.join("CMakeCache.txt")).ok()?;
    let line = cache.lines().find(|line| line.starts_with("CMAKE_CXX_COMPILER:"))?;
    line.split_once('=').map(|(_, path)| path.to_string())
}

/// The file: what was found is set, everything else is a comment.
fn document(system: BuildSystem, directory: Option<&str>) -> String {
    let shown = directory.unwrap_or("build");
    let command = system.build_command(shown);
    let mut text = String::new();
    let _ = writeln!(text, "# Settings of fewer for this project. Every key is optional.\n");
    let _ = writeln!(text, "# Run before tests are selected; `--no-build` leaves it out.");
    let _ = writeln!(text, "# build = {{ command = \"...\", directory = \"...\" }} runs it elsewhere.");
    let set = if system == BuildSystem::Unknown || system.builds_itself() { "# " } else { "" };
    let _ = writeln!(text, "{set}build = {command:?}\n");
    let _ = writeln!(text, "# Where the build leaves objects and programs.");
    let set = if directory.is_none() { "# " } else { "" };
    let _ = writeln!(text, "{set}build-directory = {shown:?}\n");
    text.push_str(REST);
    text
}

const REST: &str = r#"# The configuration of multi-configuration CMake generators.
# configuration = "Debug"

# Where GoogleTest programs run. Without it: as CTest says, else where `make check` would run them.
# working-directory = "."

# How many test processes run at a time (default: one per core), and how long one test may take.
# jobs = 4
# test-timeout = "5m"

# Tests that run every time: ids, ends of ids, or patterns.
# always = ["Network.*", "slow_test::*"]

# A test that failed within this many recorded states runs again.
# failure-memory = 10

# Programs that are never started, by path below the build directory.
# exclude = ["tools/*"]

[java]
# Found by pom.xml, build.gradle or settings.gradle: "maven", "gradle", "console" (a plain class path), or "none".
# tool = "maven"
# command = "mvn"
# arguments = ["-Pci"]
# What tests are compared by: "class" or "member"; which references count: "full" or "firewall" (unsafe).
# level = "class"
# dependencies = "full"

[environment]
# Variables that tests depend on: a new value runs all tests.
# variables = ["TZ", "DATABASE_URL"]

[data]
# The files that tests read. Without it: every file of the project that is neither code nor build file.
# files = ["testdata/**"]
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read_again() {
        for system in [
            BuildSystem::CMake,
            BuildSystem::AutoMake,
            BuildSystem::Make,
            BuildSystem::Maven,
            BuildSystem::Gradle,
            BuildSystem::Unknown,
        ] {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join(FILE_NAME), document(system, Some("out"))).unwrap();
            let settings = Settings::read(directory.path()).unwrap();
            let is_set = system != BuildSystem::Unknown && !system.builds_itself();
            assert_eq!(settings.build.is_some(), is_set);
            assert_eq!(settings.build_directory.as_deref(), Some(Path::new("out")));
        }
    }

    #[test]
    fn every_comment_with_a_key_is_a_valid_setting() {
        let all: String = document(BuildSystem::CMake, Some("build"))
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(key) if key.contains(" = ") && !key.contains("...") => format!("{key}\n"),
                Some(_) | None => format!("{line}\n"),
            })
            .collect();
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(FILE_NAME), all).unwrap();
        let settings = Settings::read(directory.path()).unwrap();
        assert!(settings.data_files.is_some() && settings.variables.len() == 2 && settings.jobs.is_some());
    }
}
