//! What cargo built: the files of every test program, found by cargo's own word and, for the objects of a test
//! program itself, in the directory that rustc keeps them in for its next compilation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fewer_core::{Digest, Domain};
use fewer_objects::libtest::{Descriptor, descriptors};
use fewer_objects::{BuildTree, NamedDigest, NamedFile, Toolchain, scan_files};
use fewer_runners::cargo::{Artifacts, Cargo, Configuration, Package, Packages, TestTarget};
use rayon::prelude::*;

use super::answers::Answers;
use crate::records::MESSAGES_FILE;
use crate::session::Session;

const COMPILER: Domain = Domain::new("cargo.compiler");

/// What makes known what is not.
pub const BUILD_FIRST: &str = "run `fewer run` or `fewer select --build`";

/// A cargo build, read.
pub struct CargoBuild {
    pub cargo: Cargo,
    pub packages: Packages,
    /// What cargo's own files say of how test programs are started.
    pub configuration: Configuration,
    pub artifacts: Artifacts,
    /// Where the compiler's own libraries are.
    pub libraries: PathBuf,
    pub toolchain: Toolchain,
    /// Where cargo leaves what it builds.
    pub directory: PathBuf,
    pub tree: BuildTree,
    /// By target the test programs that are known from within.
    pub harnesses: BTreeMap<String, Harness>,
    pub notes: Vec<String>,
}

/// A test program whose objects were kept.
pub struct Harness {
    pub descriptors: Vec<Descriptor>,
    /// The object that holds the descriptors.
    pub object: String,
    files: Vec<NamedFile>,
}

impl CargoBuild {
    pub fn read(session: &Session<'_>, cargo: Cargo) -> anyhow::Result<CargoBuild> {
        let _phase = session.timings.phase("read objects");
        let Some(messages) = session.kept(MESSAGES_FILE).and_then(|text| String::from_utf8(text).ok()) else {
            bail!("nothing is known of what cargo builds here: {BUILD_FIRST}");
        };
        let Answers { packages, version, libraries, configuration, .. } = Answers::of(session, &cargo)?;
        let mut artifacts = Artifacts::read(messages.lines(), &packages.packages)
            .context("what cargo told about its build cannot be read: build again")?;
        if artifacts.tests.is_empty() && !artifacts.strangers.is_empty() {
            bail!("what cargo told about its build is of another directory: {BUILD_FIRST}");
        }
        let is_excluded = |target: &str| session.project.settings.exclude.is_match(target);
        let has_programs = !cargo.arguments.is_only_documentation();
        artifacts.tests.retain(|test| has_programs && !is_excluded(&test.name));
        let found: Vec<Option<Harness>> = artifacts.tests.par_iter().map(Harness::find).collect();
        let names = artifacts.tests.iter().map(|test| test.name.clone());
        let harnesses: BTreeMap<String, Harness> =
            names.zip(found).filter_map(|(name, harness)| Some((name, harness?))).collect();
        let directory = profile_directory(&artifacts).unwrap_or_else(|| cargo.directory.join("target"));
        let files = files(&artifacts, &harnesses, &directory);
        let cache = session.summaries();
        let tree = scan_files(&directory, &files, &**cache);
        let notes =
            cache.take_problem().map(|problem| format!("summaries of objects are not kept: {problem}"));
        let toolchain = toolchain(&version, &libraries);
        let strange = artifacts.strangers.iter().map(|program| {
            format!("{} is of no package of the workspace: its tests are not run", program.display())
        });
        let notes = notes.into_iter().chain(strange).collect();
        Ok(CargoBuild {
            cargo,
            packages,
            configuration,
            artifacts,
            libraries,
            toolchain,
            directory,
            tree,
            harnesses,
            notes,
        })
    }

    /// The test programs whose objects were not kept.
    pub fn unseen(&self) -> impl Iterator<Item = &String> {
        self.artifacts.tests.iter().map(|test| &test.name).filter(|name| !self.harnesses.contains_key(*name))
    }

    pub fn package_of(&self, test: &TestTarget) -> Option<&Package> {
        self.packages.packages.iter().find(|package| package.id == test.package_id)
    }
}

impl Harness {
    /// Looks through the directories that rustc may have kept the program's objects in.
    fn find(test: &TestTarget) -> Option<Harness> {
        let program = fewer_objects::file_bytes::read_file(&test.executable).ok()?;
        let file_name = test.executable.file_name()?.to_string_lossy().into_owned();
        let (crate_name, _) = file_name.rsplit_once('-')?;
        let kept = test.executable.parent()?.parent()?.join("incremental");
        let prefix = format!("{crate_name}-");
        let mut sessions: Vec<PathBuf> = fs::read_dir(kept)
            .ok()?
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
            .filter_map(|entry| newest_session(&entry.path()))
            .collect();
        sessions.sort();
        sessions.iter().find_map(|session| Harness::of_session(test, session, &program))
    }

    fn of_session(test: &TestTarget, session: &Path, program: &[u8]) -> Option<Harness> {
        let mut found = None;
        let mut files = Vec::new();
        for entry in fs::read_dir(session).ok()?.flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|ending| ending != "o") {
                continue;
            }
            let name = format!("{}/{}", test.name, entry.file_name().to_string_lossy());
            if found.is_none() {
                let object = fewer_objects::file_bytes::read_file(&path).ok()?;
                found = descriptors(&object, program).map(|descriptors| (descriptors, name.clone()));
            }
            files.push(NamedFile { name, path });
        }
        files.sort();
        found.map(|(descriptors, object)| Harness { descriptors, object, files })
    }
}

/// rustc keeps one finished session per crate; while it compiles, a second one comes into being.
fn newest_session(directory: &Path) -> Option<PathBuf> {
    let sessions = fs::read_dir(directory).ok()?.flatten().filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("s-") && !name.ends_with("-working") && entry.path().is_dir()
    });
    let written = |entry: &fs::DirEntry| entry.metadata().and_then(|metadata| metadata.modified()).ok();
    sessions.max_by_key(written).map(|entry| entry.path())
}

/// Every file that a test program is linked from or that tests may start, by a name that lasts.
fn files(artifacts: &Artifacts, harnesses: &BTreeMap<String, Harness>, directory: &Path) -> Vec<NamedFile> {
    let mut files: BTreeSet<NamedFile> = BTreeSet::new();
    for test in &artifacts.tests {
        files.insert(NamedFile { name: test.name.clone(), path: test.executable.clone() });
    }
    for path in &artifacts.libraries {
        let name = path.strip_prefix(directory).unwrap_or(path).to_string_lossy().into_owned();
        files.insert(NamedFile { name, path: path.clone() });
    }
    for (name, path) in &artifacts.programs {
        files.insert(NamedFile { name: name.clone(), path: path.clone() });
    }
    files.extend(harnesses.values().flat_map(|harness| harness.files.iter().cloned()));
    files.into_iter().collect()
}

/// Example: `target/debug`.
fn profile_directory(artifacts: &Artifacts) -> Option<PathBuf> {
    Some(artifacts.tests.first()?.executable.parent()?.parent()?.to_path_buf())
}

fn toolchain(version: &str, libraries: &Path) -> Toolchain {
    let first = version.lines().next().unwrap_or("rustc");
    let identity =
        NamedDigest { name: format!("compiler {first}"), digest: Digest::of(COMPILER, version.as_bytes()) };
    let archives = fs::read_dir(libraries).into_iter().flatten().flatten().map(|entry| entry.path());
    let archives: Vec<PathBuf> =
        archives.filter(|path| path.extension().is_some_and(|ending| ending == "rlib")).collect();
    Toolchain::read(identity, &archives)
}
