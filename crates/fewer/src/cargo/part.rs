//! A cargo build as a part of the state at hand: its graph, its tests, and what it takes to run them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fewer_core::{Decision, Digest, DigestBuilder, Domain, Plan, TestId, TestNode};
use fewer_objects::file_bytes::read_file;
use fewer_objects::libtest::{HARNESS_KIND, decode_harness, encode_harness, is_harness};
use fewer_objects::scan::IMAGE_KIND;
use fewer_objects::{Analysis, Given, HarnessTest, NamedDigest, Target};
use fewer_runners::TestProgram;
use fewer_runners::cargo::nextest::{self, Nextest};
use fewer_runners::cargo::{LibtestProgram, ListedTest, Package, Question, TestTarget, list};
use fewer_runners::googletest::Division;
use rayon::prelude::*;

use super::built::{CargoBuild, Harness};
use super::documentation;
use crate::circumstances::portable;
use crate::data_files;
use crate::dependencies::Dependencies;
use crate::division;
use crate::examination::{LISTING_TIMEOUT, NOT_LISTED, NOT_LISTED_AGAIN, Starter, WHOLE_PROGRAM, given};
use crate::part::{Image, Means, ObjectMeans, Part, snapshot};
use crate::record::Manifest;
use crate::session::{Session, Starts};
use crate::settings::ProcessesSetting;
use crate::stale::{self, Outdated};

const STARTED: Domain = Domain::new("cargo.started");
const LISTING: Domain = Domain::new("cargo.listing");

/// What is said of a program that was seen to need it.
const TOGETHER: &str = "its tests run in one process, as under `cargo test`, because some failed in processes of their own and \
                        not there. [cargo] processes = \"program\" in fewer.toml has it so for all programs, \"test\" for none";

/// Why a test is looked at as its whole program.
const NO_OBJECTS: &str = "rustc did not keep its objects, so any change of the program selects all its tests. Build \
                          with incremental compilation, which is cargo's default for `cargo test`";

impl CargoBuild {
    pub fn part(self, session: &Session<'_>, has_built: bool) -> anyhow::Result<Part> {
        let dependencies = self.dependencies();
        let analysis = {
            let _phase = session.timings.phase("link the graph");
            Analysis::of_build(&self.directory, &self.tree, self.given(session, has_built))
        };
        session.go_on()?;
        let programs = self.programs();
        let listings = {
            let _phase = session.timings.phase("list tests");
            match session.starts {
                Starts::Project => self.asked(session, &programs),
                Starts::Nothing => self.remembered(session)?,
            }
        };
        session.go_on()?;
        let mut manifest = Manifest::of_objects(&self.tree, analysis.surroundings(), &[]);
        let mut collected = Collected { notes: self.notes.clone(), ..Collected::default() };
        collected.notes.extend(analysis.notes().iter().cloned());
        let whole = |target: &Target| analysis.program_test(target, WHOLE_PROGRAM, false);
        let started = Started { built: &self, root: &session.project.root };
        let processes = Processes::of(session, &self)?;
        for ((test, mut program), Listing { tests, unknown }) in
            self.artifacts.tests.iter().zip(programs).zip(listings)
        {
            let Some(target) = analysis.targets().iter().find(|target| target.name == test.name) else {
                collected.notes.push(format!("{}: the program is gone: build again", test.name));
                continue;
            };
            if let Some(cause) = unknown {
                collected.notes.push(format!("{}: {cause}", test.name));
                collected.add(whole(target), Starter::Whole(program.clone()));
            }
            match tests {
                Ok(listed) if listed.is_empty() && !has_harness(test) => {
                    program.arguments = self.cargo.arguments.plain();
                    let cause = "it has a main function of its own and lists no tests";
                    collected.add_unlistable(whole(target), started.of(test, None), program, cause);
                }
                Ok(listed) => {
                    let tests = self.harness_tests(test, &listed, &started, &mut collected);
                    let encoded = encode_harness(&tests);
                    manifest.keep(HARNESS_KIND, &test.name, Digest::of(LISTING, &encoded), encoded);
                    if processes.was_seen(&test.name) {
                        collected.notes.push(format!("{}: {TOGETHER}", test.name));
                    }
                    let program = processes.libtest(program, &tests, &self);
                    collected.add_listed(&analysis, target, &tests, program);
                }
                Err(cause) => {
                    program.arguments = self.cargo.arguments.plain();
                    collected.add_unlistable(whole(target), started.of(test, None), program, &cause)
                }
            }
        }
        for package in &self.packages.packages {
            let output = self.artifacts.script_output(package);
            if let Some((test, starter)) =
                documentation::test_of(&self.cargo, &self.packages, package, output)
                && !session.project.settings.exclude.is_match(&test.id.target)
            {
                collected.add(test, starter);
            }
        }
        let outdated = if has_built { None } else { stale::of_cargo(session, &self.tree, &dependencies) };
        let nextest = super::uses_nextest(&session.project)?
            .then(|| Nextest { cargo: self.cargo.clone(), configuration: self.configuration.clone() });
        Ok(self.finish(session, analysis, dependencies, collected, manifest, (outdated, nextest)))
    }

    fn asked(&self, session: &Session<'_>, programs: &[TestProgram]) -> Vec<Listing> {
        let (arguments, cancel) = (&self.cargo.arguments, &session.cancel);
        let ask = |(test, program): (&TestTarget, &TestProgram)| {
            let is_libtest = has_harness(test);
            let tests = list(program, &Question { arguments, is_libtest, timeout: LISTING_TIMEOUT, cancel });
            Listing { tests, unknown: None }
        };
        self.artifacts.tests.par_iter().zip(programs).map(ask).collect()
    }

    /// The lists of the newest state: what is missing in them is not known of a program that is another one now.
    fn remembered(&self, session: &Session<'_>) -> anyhow::Result<Vec<Listing>> {
        let store = session.store();
        let state = store.latest_state()?.map(|state| store.state(state.id)).transpose()?;
        let manifest = state.map(|state| state.manifest).unwrap_or_default();
        let key = |kind: &str, name: &str| {
            manifest.iter().find(|entry| entry.kind == kind && entry.name == name).map(|entry| entry.key)
        };
        let remembered = |test: &TestTarget| -> anyhow::Result<Listing> {
            let image = self.tree.images.iter().find(|image| image.name == test.name);
            let is_same = image.is_some_and(|image| key(IMAGE_KIND, &test.name) == Some(image.key));
            let key = key(HARNESS_KIND, &test.name);
            let blobs = key.map(|key| store.blobs(HARNESS_KIND, &[key])).transpose()?.unwrap_or_default();
            let listed = blobs.values().next().and_then(|bytes| decode_harness(bytes));
            let unknown = (!is_same && listed.is_some()).then(|| NOT_LISTED_AGAIN.to_string());
            let tests = match listed {
                Some(tests) => Ok(tests.into_iter().map(as_listed).collect()),
                None if has_harness(test) => Err(NOT_LISTED.to_string()),
                None => Ok(Vec::new()),
            };
            Ok(Listing { tests, unknown })
        };
        self.artifacts.tests.iter().map(remembered).collect()
    }

    fn finish(
        &self,
        session: &Session<'_>,
        analysis: Analysis<'_>,
        dependencies: Dependencies,
        collected: Collected,
        manifest: Manifest,
        (outdated, nextest): (Option<Outdated>, Option<Nextest>),
    ) -> Part {
        let _phase = session.timings.phase("plan");
        let Collected { tests, starters, circumstances, mut notes } = collected;
        if tests.is_empty() {
            notes.push("no tests found in what cargo built".to_string());
        }
        let (graph, fingerprints) = analysis.into_graph(tests);
        let images = self.tree.images.iter().map(|image| Image {
            path: self.tree.path_of(&self.directory, &image.name),
            name: image.name.clone(),
            is_library: image.summary.is_library,
            modified: image.modified,
        });
        let means = ObjectMeans {
            build_directory: self.directory.clone(),
            programs: Vec::new(),
            images: images.collect(),
            dependencies,
            nextest,
        };
        Part {
            snapshot: snapshot(&graph, &fingerprints, &circumstances),
            graph,
            starters,
            circumstances,
            manifest,
            means: Means::Objects(means),
            outdated,
            notes,
            incomplete: None,
            declared: BTreeSet::new(),
        }
    }

    fn given(&self, session: &Session<'_>, has_built: bool) -> Given {
        let given = given(session, &self.directory);
        let compiled = self.compiled_files();
        let sources: BTreeSet<String> = compiled
            .iter()
            .filter_map(|file| file.strip_prefix(&session.project.root).ok())
            .map(data_files::element_name)
            .collect();
        // What is compiled counts as code; other Rust files may be what tests compile or read.
        let mut files: Vec<NamedDigest> =
            given.files.into_iter().filter(|file| !sources.contains(&file.name)).collect();
        files.extend(self.script_outputs(&compiled));
        Given {
            files,
            toolchain: Some(self.toolchain.clone()),
            harnesses: self.harnesses.keys().cloned().collect(),
            unseen: self.unseen().cloned().collect(),
            is_linked: has_built,
            ..given
        }
    }

    /// What build scripts of the workspace wrote and nobody compiled: tests find it by `OUT_DIR`.
    fn script_outputs(&self, compiled: &BTreeSet<PathBuf>) -> Vec<NamedDigest> {
        let made: Vec<&PathBuf> =
            compiled.iter().filter(|path| path.iter().any(|part| part == "out")).collect();
        let of_package = |package: &Package| {
            let output = self.artifacts.script_output(package)?;
            // Paths of another checkout that this one was copied from are the same from the package's directory on.
            let shared = output.parent()?.parent()?;
            let is_compiled = |path: &Path| {
                let path = path.strip_prefix(shared).unwrap_or(path);
                made.iter().any(|source| source.ends_with(path))
            };
            Some(data_files::below(output, &format!("{}/OUT_DIR", package.name), is_compiled))
        };
        self.packages.packages.iter().filter_map(of_package).flatten().collect()
    }

    fn programs(&self) -> Vec<TestProgram> {
        let program = |test: &TestTarget| match self.package_of(test) {
            Some(package) => self.artifacts.program(test, package, &self.libraries, &self.configuration),
            None => TestProgram::new(&test.name, &test.executable, &self.cargo.directory),
        };
        self.artifacts.tests.iter().map(program).collect()
    }

    /// The tests of a program with where each begins, as its descriptors say.
    fn harness_tests(
        &self,
        test: &TestTarget,
        listed: &[ListedTest],
        started: &Started<'_>,
        collected: &mut Collected,
    ) -> Vec<HarnessTest> {
        let harness = self.harnesses.get(&test.name);
        if harness.is_none() && !listed.is_empty() {
            collected.notes.push(format!("{}: {NO_OBJECTS}", test.name));
        }
        listed
            .iter()
            .map(|listed| {
                let id = TestId::new(&test.name, &listed.name);
                let (function, cause) = match harness.map(|harness| harness.function(&listed.name)) {
                    None => (None, None),
                    Some(Some(function)) => (Some(function), None),
                    Some(None) => {
                        (None, Some("its descriptor is not in the objects of its program".to_string()))
                    }
                };
                let (function, attributes) = function.unzip();
                collected.circumstances.insert(id, started.of(test, attributes));
                HarnessTest { name: listed.name.clone(), function, cause, is_ignored: listed.is_ignored }
            })
            .collect()
    }
}

impl Harness {
    /// The function of a test with the object that names it, and the test's attributes. Of descriptors that mention the
    /// name in vain there is none, as names are the harness's own; several would mean that it cannot be told.
    fn function(&self, name: &str) -> Option<((String, String), Digest)> {
        let mut found =
            self.descriptors.iter().filter(|descriptor| descriptor.texts.iter().any(|text| text == name));
        let descriptor = found.next()?;
        found
            .next()
            .is_none()
            .then(|| ((descriptor.function.clone(), self.object.clone()), descriptor.attributes))
    }
}

/// What is known of the tests of a program.
struct Listing {
    /// The cause in words where it counts as one test.
    tests: Result<Vec<ListedTest>, String>,
    /// Why there may be more.
    unknown: Option<String>,
}

fn as_listed(test: HarnessTest) -> ListedTest {
    ListedTest { name: test.name, is_ignored: test.is_ignored }
}

/// The tests that were found, with the way to start each.
#[derive(Default)]
struct Collected {
    tests: Vec<TestNode>,
    starters: BTreeMap<TestId, Starter>,
    circumstances: BTreeMap<TestId, Digest>,
    notes: Vec<String>,
}

impl Collected {
    fn add(&mut self, test: TestNode, starter: Starter) {
        if self.starters.insert(test.id.clone(), starter).is_none() {
            self.tests.push(test);
        }
    }

    fn add_listed(
        &mut self,
        analysis: &Analysis<'_>,
        target: &Target,
        tests: &[HarnessTest],
        program: LibtestProgram,
    ) {
        let program = Arc::new(program);
        for test in analysis.libtest_tests(target, tests) {
            self.add(test, Starter::Libtest(program.clone()));
        }
    }

    /// A program with a harness of its own is one test, which is judged as cargo judges it.
    fn add_unlistable(&mut self, test: TestNode, started: Digest, program: TestProgram, cause: &str) {
        self.notes.push(format!("{} counts as one test: {cause}", test.id.target));
        self.circumstances.insert(test.id.clone(), started);
        self.add(test, Starter::Whole(program));
    }
}

/// Which tests share a process.
struct Processes {
    setting: ProcessesSetting,
    /// The programs that were seen to need it.
    indivisible: BTreeSet<String>,
    is_confirmed: bool,
}

impl Processes {
    fn of(session: &Session<'_>, built: &CargoBuild) -> anyhow::Result<Processes> {
        let project = &session.project;
        // How failures are judged is of no interest where nothing runs.
        let is_confirmed = session.starts == Starts::Project && super::confirms(project, &built.cargo)?;
        let targets: Vec<&str> = built.artifacts.tests.iter().map(|test| test.name.as_str()).collect();
        let mut indivisible = division::of(session, if is_confirmed { &targets } else { &[] });
        indivisible.retain(|_, division| *division != Division::Free);
        let indivisible = indivisible.into_keys().collect();
        let setting = project.settings.cargo.processes.unwrap_or_default();
        Ok(Processes { setting, indivisible, is_confirmed })
    }

    fn was_seen(&self, target: &str) -> bool {
        self.setting == ProcessesSetting::Auto && self.indivisible.contains(target)
    }

    fn libtest(&self, mut program: TestProgram, tests: &[HarnessTest], built: &CargoBuild) -> LibtestProgram {
        let arguments = &built.cargo.arguments;
        let is_together = match self.setting {
            ProcessesSetting::Auto => self.indivisible.contains(&program.target),
            ProcessesSetting::Test => false,
            ProcessesSetting::Program => true,
        };
        // Cargo runs one program at a time, and of that as many tests as it is told to.
        program.claims.everything = is_together;
        if arguments.test_threads() == Some(1) {
            program.claims.resources.insert(program.target.clone());
        }
        program.arguments = arguments.of_each_test();
        LibtestProgram {
            program,
            plain_arguments: arguments.plain_without_output(),
            tests: tests.iter().filter(|test| !test.is_ignored).map(|test| test.name.clone()).collect(),
            is_together,
            is_confirmed: self.is_confirmed,
        }
    }
}

/// How tests are started.
struct Started<'a> {
    built: &'a CargoBuild,
    root: &'a Path,
}

impl Started<'_> {
    /// What a test finds in its environment, and its attributes.
    fn of(&self, test: &TestTarget, attributes: Option<Digest>) -> Digest {
        let mut digest = DigestBuilder::new(STARTED);
        let package = self.built.package_of(test);
        for (name, value) in package.into_iter().flat_map(|package| self.built.artifacts.variables(package)) {
            digest.text(&name).text(&portable(self.root, &value));
        }
        for (name, value) in &self.built.configuration.environment {
            digest.text(name).text(&portable(self.root, value));
        }
        for word in &self.built.configuration.runner {
            digest.text(&portable(self.root, word)).bytes(&self.script(package, word));
        }
        for word in self.built.cargo.arguments.plain() {
            digest.text(&word);
        }
        digest.digest(attributes.unwrap_or_default()).finish()
    }

    /// The content of a file of the project that the runner of tests is, or is given.
    fn script(&self, package: Option<&Package>, word: &str) -> Vec<u8> {
        let path = package.map_or(self.root, Package::directory).join(word);
        if path.starts_with(self.root) { fewer_files::read(&path).unwrap_or_default() } else { Vec::new() }
    }
}

/// A program that cannot be read tells nothing.
pub fn has_harness(test: &TestTarget) -> bool {
    read_file(&test.executable).is_ok_and(|program| is_harness(&program))
}

/// The filter for `cargo nextest run -E`, of the tests that run. Documentation tests are not nextest's.
pub fn nextest_filter(plan: &Plan, starters: &BTreeMap<TestId, Starter>) -> String {
    let is_libtest = |id: &TestId| matches!(starters.get(id), Some(Starter::Libtest(_)));
    let tests = plan.with(Decision::Run).map(|test| &test.id).filter(|id| is_libtest(id));
    format!("{}\n", nextest::filter(tests))
}
