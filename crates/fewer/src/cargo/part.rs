//! A cargo build as a part of the state at hand: its graph, its tests, and what it takes to run them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fewer_core::{Decision, Digest, DigestBuilder, Domain, Plan, TestId, TestNode};
use fewer_objects::libtest::{HARNESS_KIND, encode_harness};
use fewer_objects::{Analysis, Given, HarnessTest, Target};
use fewer_runners::TestProgram;
use fewer_runners::cargo::{ListedTest, TestTarget, list};
use rayon::prelude::*;

use super::built::{CargoBuild, Harness};
use super::documentation;
use crate::data_files;
use crate::dependencies::{Dependencies, Outdated};
use crate::examination::{LISTING_TIMEOUT, Starter, WHOLE_PROGRAM, given};
use crate::part::{Image, Means, ObjectMeans, Part, snapshot};
use crate::record::Manifest;
use crate::session::Session;

const STARTED: Domain = Domain::new("cargo.started");
const LISTING: Domain = Domain::new("cargo.listing");

/// Why a test is looked at as its whole program.
const NO_OBJECTS: &str = "rustc did not keep its objects, so any change of the program selects all its tests. Build \
                          with incremental compilation, which is cargo's default for `cargo test`";

impl CargoBuild {
    pub fn part(self, session: &Session<'_>, has_built: bool) -> anyhow::Result<Part> {
        let dependencies = self.dependencies();
        let analysis = {
            let _phase = session.timings.phase("link the graph");
            Analysis::of_build(&self.directory, &self.tree, self.given(session, &dependencies))
        };
        session.go_on()?;
        let programs = self.programs();
        let listings = {
            let _phase = session.timings.phase("list tests");
            let cancel = &session.cancel;
            let list = |program: &TestProgram| list(program, LISTING_TIMEOUT, cancel);
            programs.par_iter().map(list).collect::<Vec<_>>()
        };
        session.go_on()?;
        let mut manifest = Manifest::of_objects(&self.tree, analysis.surroundings(), &[]);
        let mut collected = Collected { notes: self.notes.clone(), ..Collected::default() };
        collected.notes.extend(analysis.notes().iter().cloned());
        for ((test, program), listing) in self.artifacts.tests.iter().zip(programs).zip(listings) {
            let Some(target) = analysis.targets().iter().find(|target| target.name == test.name) else {
                collected.notes.push(format!("{}: the program is gone: build again", test.name));
                continue;
            };
            match listing {
                Ok(listed) => {
                    let tests = self.harness_tests(test, &listed, &mut collected);
                    let encoded = encode_harness(&tests);
                    manifest.keep(HARNESS_KIND, &test.name, Digest::of(LISTING, &encoded), encoded);
                    collected.add_listed(&analysis, target, &tests, &program);
                }
                Err(cause) => collected.add_unlistable(&analysis, target, program, &cause),
            }
        }
        for package in &self.packages {
            if let Some((test, starter)) = documentation::test_of(&self.cargo, package) {
                collected.add(test, starter);
            }
        }
        let outdated = if has_built { None } else { outdated(session, &dependencies) };
        Ok(self.finish(session, analysis, dependencies, collected, manifest, outdated))
    }

    fn finish(
        &self,
        session: &Session<'_>,
        analysis: Analysis<'_>,
        dependencies: Dependencies,
        collected: Collected,
        manifest: Manifest,
        outdated: Option<Outdated>,
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
        }
    }

    fn given(&self, session: &Session<'_>, dependencies: &Dependencies) -> Given {
        let given = given(session, &self.directory);
        let sources: BTreeSet<String> = dependencies
            .objects()
            .filter_map(|(_, files)| files)
            .flatten()
            .filter_map(|file| file.strip_prefix(&session.project.root).ok())
            .map(data_files::element_name)
            .collect();
        Given {
            // What is compiled counts as code; other Rust files may be what tests compile or read.
            files: given.files.into_iter().filter(|file| !sources.contains(&file.name)).collect(),
            toolchain: Some(self.toolchain.clone()),
            harnesses: self.harnesses.keys().cloned().collect(),
            ..given
        }
    }

    fn programs(&self) -> Vec<TestProgram> {
        let program = |test: &TestTarget| match self.package_of(test) {
            Some(package) => self.artifacts.program(test, package, &self.libraries),
            None => TestProgram::new(&test.name, &test.executable, &self.cargo.directory),
        };
        self.artifacts.tests.iter().map(program).collect()
    }

    /// The tests of a program with where each begins, as its descriptors say.
    fn harness_tests(
        &self,
        test: &TestTarget,
        listed: &[ListedTest],
        collected: &mut Collected,
    ) -> Vec<HarnessTest> {
        let harness = self.harnesses.get(&test.name);
        if harness.is_none() && !listed.is_empty() {
            collected.notes.push(format!("{}: {NO_OBJECTS}", test.name));
        }
        let version = self.package_of(test).map_or("", |package| package.version.as_str());
        listed
            .iter()
            .map(|listed| {
                let id = TestId::new(&test.name, &listed.name);
                let mut started = DigestBuilder::new(STARTED);
                started.text(version);
                let (function, cause) = match harness.map(|harness| harness.function(&listed.name)) {
                    None => (None, None),
                    Some(Some((function, attributes))) => {
                        started.digest(attributes);
                        (Some(function), None)
                    }
                    Some(None) => {
                        (None, Some("its descriptor is not in the objects of its program".to_string()))
                    }
                };
                collected.circumstances.insert(id, started.finish());
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
        program: &TestProgram,
    ) {
        for test in analysis.libtest_tests(target, tests) {
            let mut started = program.clone();
            started.arguments = vec![test.id.name.clone(), "--exact".to_string(), "--nocapture".to_string()];
            self.add(test, Starter::Libtest(started));
        }
    }

    /// A program with a harness of its own is one test.
    fn add_unlistable(
        &mut self,
        analysis: &Analysis<'_>,
        target: &Target,
        program: TestProgram,
        cause: &str,
    ) {
        self.notes.push(format!("{} counts as one test: {cause}", target.name));
        let test = analysis.program_test(target, WHOLE_PROGRAM, false);
        self.add(test, Starter::Whole(program));
    }
}

/// The filter for `cargo nextest run -E`, of the tests that run. Documentation tests are not nextest's.
pub fn nextest_filter(plan: &Plan, starters: &BTreeMap<TestId, Starter>) -> String {
    let mut by_target: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for test in plan.with(Decision::Run) {
        match starters.get(&test.id) {
            Some(Starter::Libtest(_)) => {
                by_target.entry(&test.id.target).or_default().push(&test.id.name);
            }
            Some(Starter::GoogleTest { .. } | Starter::Whole(_) | Starter::Ctest(_)) | None => {}
        }
    }
    let of_target = |(target, names): (&str, Vec<&str>)| {
        let tests: Vec<String> = names.iter().map(|name| format!("test(={name})")).collect();
        format!("(binary_id(={}) & ({}))", binary_id(target), tests.join(" | "))
    };
    let filters: Vec<String> = by_target.into_iter().map(of_target).collect();
    let filter = if filters.is_empty() { "none()".to_string() } else { filters.join(" | ") };
    format!("{filter}\n")
}

/// What nextest calls a target. Example: `core::contract` for `core/contract`.
fn binary_id(target: &str) -> String {
    target.replacen('/', "::", 1)
}

fn outdated(session: &Session<'_>, dependencies: &Dependencies) -> Option<Outdated> {
    let work_tree = session.project.work_tree.as_ref()?;
    let top: PathBuf = work_tree.root().canonicalize().unwrap_or_else(|_| work_tree.root().to_path_buf());
    dependencies.outdated(&top, |_| true)
}
