//! `fewer init`: detects the build system, the test framework and the compiler, writes a commented `fewer.toml`
//! and says what to change in the build, if anything.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use fewer_console::{Console, ExitCode};
use fewer_runners::cargo::Cargo;

use crate::build_directory::BuildDirectory;
use crate::cargo::{Outline, cargo_of};
use crate::cli::{Global, InitOptions};
use crate::cmake_targets::LeftOut;
use crate::diagnosis::{compile_flags, findings};
use crate::examination::{examine, scan};
use crate::project::{Project, STORE_DIRECTORY, start_directory};
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
    Cargo,
    Unknown,
}

impl BuildSystem {
    /// `is_cargo` where cargo's tests are the ones that `fewer run` would run.
    fn detect(root: &Path, is_cargo: bool) -> BuildSystem {
        let has = |name: &str| root.join(name).exists();
        if has("pom.xml") {
            BuildSystem::Maven
        } else if ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]
            .into_iter()
            .any(has)
        {
            BuildSystem::Gradle
        } else if is_cargo {
            BuildSystem::Cargo
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
            BuildSystem::Cargo => "cargo",
            BuildSystem::Unknown => "unknown",
        }
    }

    fn build_command(self, directory: &str) -> String {
        match self {
            BuildSystem::CMake => format!("cmake --build {directory}"),
            BuildSystem::AutoMake if directory != "." => format!("make -C {directory}"),
            BuildSystem::AutoMake | BuildSystem::Make | BuildSystem::Unknown => "make".to_string(),
            BuildSystem::Maven => "mvn -q process-test-classes".to_string(),
            BuildSystem::Gradle => "gradle -q testClasses".to_string(),
            BuildSystem::Cargo => "scripts/generate-code".to_string(),
        }
    }

    /// Whether fewer itself knows how to build, so that nothing needs to be set.
    fn builds_itself(self) -> bool {
        match self {
            BuildSystem::Maven | BuildSystem::Gradle | BuildSystem::Cargo => true,
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
    let project = Project::with(root.clone(), settings);
    project.require()?;
    if is_empty(&root) {
        bail!("{} is empty: there is nothing to write settings for, and nothing was written", root.display());
    }
    let cargo = cargo_of(&project);
    let system = BuildSystem::detect(&root, cargo.is_some());
    let directory = BuildDirectory::find(&project).ok();
    let shown = directory.as_ref().map(|directory| project.shown(&directory.path));
    let left_out = directory.as_ref().and_then(|directory| LeftOut::find(&directory.path));
    let command = match (&left_out, &shown) {
        (Some(left_out), Some(shown)) if system == BuildSystem::CMake => left_out.build_command(shown),
        (Some(_) | None, _) => system.build_command(shown.as_deref().unwrap_or("build")),
    };
    fs::write(&path, document(system, shown.as_deref(), &command))
        .with_context(|| format!("cannot write {}", path.display()))?;
    console.say(&format!("build system: {}", system.name()));
    if let Some(left_out) = left_out {
        console.say(&format!(
            "test programs that `all` does not build: {}; the build command asks for {}",
            left_out.programs.len(),
            left_out.targets.join(", ")
        ));
    }
    if let Some(directory) = &directory {
        console.say(&format!("build directory: {}", project.shown(&directory.path)));
        if let Some(compiler) = compiler(&directory.path) {
            console.say(&format!("compiler: {compiler}"));
        }
    }
    match (directory, cargo) {
        (_, Some(cargo)) if system == BuildSystem::Cargo => say_outline(console, &cargo)?,
        (Some(directory), _) => advise_from_build(global, console, &directory)?,
        (None, _) if system.builds_itself() => {
            console.say("tests are compiled and run by the build tool, with its build files as they are");
        }
        (None, _) => say_flags(console),
    }
    console.say(&format!("wrote {}; next: `fewer run`", path.display()));
    Ok(ExitCode::Green)
}

/// Whether there is nothing but what git and fewer keep.
fn is_empty(root: &Path) -> bool {
    let is_kept = |name: &OsStr| [".git", STORE_DIRECTORY].iter().any(|kept| name == *kept);
    fs::read_dir(root)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_kept(&entry.file_name()))))
}

/// What cargo says of the project, and what that means for selection.
fn say_outline(console: &Console, cargo: &Cargo) -> anyhow::Result<()> {
    let outline = Outline::read(cargo)?;
    console.say(&format!("compiler: {}", outline.compiler));
    console.say(&format!("packages: {}", outline.packages.join(", ")));
    console.say(&format!("test programs: {}", outline.test_targets));
    console.say(if outline.has_nextest {
        "tests are built by cargo and run by nextest, which is installed, with the project's configuration of it"
    } else {
        "tests are built by cargo and run one by one; where cargo-nextest is installed, it runs them"
    });
    if let Some(why) = outline.keeps_no_objects {
        console.say(&format!("to mend: rustc keeps no objects of test programs, because {why}: any change of such a program selects all its tests"));
    }
    Ok(())
}

const FLAGS: &str = "-ffunction-sections -fdata-sections -fmerge-constants -ffile-prefix-map=SOURCE=.";

/// The flags to build with, where no object says which were used.
fn say_flags(console: &Console) {
    console.say("nothing is built yet. For the most precise selection compile with:");
    for fix in compile_flags(FLAGS) {
        console.say(&format!("  {}: {}", fix.place, fix.change));
    }
}

/// What the objects that are there say about the flags they were compiled with.
fn advise_from_build(global: &Global, console: &Console, directory: &BuildDirectory) -> anyhow::Result<()> {
    let session = Session::look(global, console)?;
    session.end_in_order();
    let (tree, _) = scan(&session, &directory.path)?;
    if tree.objects.is_empty() {
        say_flags(console);
        return Ok(());
    }
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
    let cache = fewer_files::read_to_string(&build_directory.join("CMakeCache.txt")).ok()?;
    let line = cache.lines().find(|line| line.starts_with("CMAKE_CXX_COMPILER:"))?;
    line.split_once('=').map(|(_, path)| path.to_string())
}

/// The file: what was found is set, everything else is a comment.
fn document(system: BuildSystem, directory: Option<&str>, command: &str) -> String {
    let shown = directory.unwrap_or("build");
    let mut text = String::new();
    let _ = writeln!(text, "# Settings of fewer for this project. Every key is optional.\n");
    let _ = writeln!(
        text,
        "# What `fewer run` and `fewer select --build` run first; `fewer run --no-build` leaves it out."
    );
    let _ = writeln!(text, "# build = {{ command = \"...\", directory = \"...\" }} runs it elsewhere.");
    let set = if system == BuildSystem::Unknown || system.builds_itself() { "# " } else { "" };
    let _ = writeln!(text, "{set}build = {command:?}\n");
    if system == BuildSystem::Cargo {
        return text + TESTS + CARGO + INPUTS;
    }
    let _ = writeln!(text, "# Where the build leaves objects and programs.");
    let set = if directory.is_none() { "# " } else { "" };
    let _ = writeln!(text, "{set}build-directory = {shown:?}\n");
    text + PROGRAMS + TESTS + JAVA + INPUTS
}

const PROGRAMS: &str = r#"# The configuration of multi-configuration CMake generators.
# configuration = "Debug"

# Where GoogleTest programs run. Without it: as CTest says, else where `make check` would run them.
# working-directory = "."

"#;

const TESTS: &str = r#"# How many test processes run at a time (default: one per core), and how long one test may take.
# jobs = 4
# test-timeout = "5m"

# Tests that run every time: ids, ends of ids, or patterns.
# always = ["Network.*", "slow_test::*"]

# A test that failed within this many recorded states runs again.
# failure-memory = 10

# Never started: test programs by path below the build directory, or as cargo's tests are called; CTest's entries by id.
# exclude = ["tools/*", "ctest::lint"]

# Test programs whose tests share something (a directory, a port): they run in one process, with nothing beside.
# undivided = ["db_test"]

"#;

const CARGO: &str = r#"[cargo]
# Given to every `cargo test`.
# arguments = ["--workspace", "--all-features"]
# What runs the tests: "nextest", "cargo" (fewer itself, as `cargo test` would), or "auto": nextest where it is installed.
# runner = "auto"
# What has a process of its own: each "test", each "program" (as under `cargo test`), or "auto": each test, but each program
# whose tests fail apart and pass together.
# processes = "auto"

"#;

const JAVA: &str = r#"[java]
# Found by pom.xml, build.gradle or settings.gradle: "maven", "gradle", "console" (a plain class path), or "none".
# tool = "maven"
# command = "mvn"
# arguments = ["-Pci"]
# What tests are compared by: "class" or "member"; which references count: "full" or "firewall" (unsafe).
# level = "class"
# dependencies = "full"

"#;

const INPUTS: &str = r#"[environment]
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
            BuildSystem::Cargo,
            BuildSystem::Unknown,
        ] {
            let directory = tempfile::tempdir().unwrap();
            fs::write(
                directory.path().join(FILE_NAME),
                document(system, Some("out"), &system.build_command("out")),
            )
            .unwrap();
            let settings = Settings::read(directory.path()).unwrap();
            let is_set = system != BuildSystem::Unknown && !system.builds_itself();
            assert_eq!(settings.build.is_some(), is_set);
            let built = (system != BuildSystem::Cargo).then_some(Path::new("out"));
            assert_eq!(settings.build_directory.as_deref(), built);
        }
    }

    #[test]
    fn every_comment_with_a_key_is_a_valid_setting() {
        for system in [BuildSystem::CMake, BuildSystem::Cargo] {
            let all: String = document(system, Some("build"), &system.build_command("build"))
                .lines()
                .map(|line| match line.strip_prefix("# ") {
                    Some(key) if key.contains(" = ") && !key.contains("...") => format!("{key}\n"),
                    Some(_) | None => format!("{line}\n"),
                })
                .collect();
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join(FILE_NAME), all).unwrap();
            let settings = Settings::read(directory.path()).unwrap();
            assert!(
                settings.data_files.is_some() && settings.variables.len() == 2 && settings.jobs.is_some()
            );
            assert_eq!(settings.cargo.runner.is_some(), system == BuildSystem::Cargo);
        }
    }
}
