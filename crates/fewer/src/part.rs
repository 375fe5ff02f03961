//! What one analyser makes of what was built, in the form that deciding, running and recording share. A project may
//! have several: objects of C and C++, and Java.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Context;
use fewer_core::{Digest, Fingerprints, Graph, GraphBuilder, Snapshot, TestId, TestNode};
use fewer_objects::BuildTree;
use fewer_runners::TestProgram;

use crate::build_directory::BuildDirectory;
use crate::circumstances;
use crate::dependencies::{Dependencies, Outdated};
use crate::examination::{Examined, Starter, examine, scan};
use crate::java::JavaMeans;
use crate::record::Manifest;
use crate::session::Session;

pub struct Part {
    pub graph: Graph,
    pub snapshot: Snapshot,
    pub starters: BTreeMap<TestId, Starter>,
    /// How tests are started, where that is part of what they are.
    pub circumstances: BTreeMap<TestId, Digest>,
    pub manifest: Manifest,
    pub means: Means,
    pub outdated: Option<Outdated>,
    pub notes: Vec<String>,
    /// Why some tests may be missing altogether.
    pub incomplete: Option<String>,
}

/// What it takes to run the tests of a part.
pub enum Means {
    Objects(ObjectMeans),
    Java(JavaMeans),
}

pub struct ObjectMeans {
    pub build_directory: PathBuf,
    pub programs: Vec<TestProgram>,
    /// Programs and libraries with the time they were linked at.
    pub images: Vec<Image>,
    pub dependencies: Dependencies,
}

/// A program or library of the build.
pub struct Image {
    pub name: String,
    pub is_library: bool,
    pub modified: Option<SystemTime>,
}

/// The build directory of C and C++, read.
pub struct Objects {
    pub directory: BuildDirectory,
    pub tree: BuildTree,
    notes: Vec<String>,
}

impl Objects {
    pub fn read(session: &Session<'_>) -> anyhow::Result<Objects> {
        let directory = BuildDirectory::find(&session.project)?;
        let (tree, mut notes) = scan(session, &directory.path)?;
        session.go_on()?;
        if !directory.others.is_empty() {
            notes.push(format!(
                "used {}; {} could be meant too: say build-directory = \"...\" in fewer.toml",
                session.project.shown(&directory.path),
                directory.others.join(", ")
            ));
        }
        Ok(Objects { directory, tree, notes })
    }

    /// The graph and the tests; `outdated` judges the build with its dependencies.
    pub fn part(
        self,
        session: &Session<'_>,
        outdated: impl FnOnce(&Objects, &Dependencies, &dyn Fn(&str) -> bool) -> Option<Outdated>,
    ) -> anyhow::Result<Part> {
        let examined = examine(session, &self.directory, &self.tree)?;
        let Examined {
            analysis, tests, programs, starters, circumstances, listings, notes, incomplete, ..
        } = examined;
        let dependencies = {
            let _phase = session.timings.phase("read dependencies");
            Dependencies::read(&self.directory.path, &session.project.root, &self.tree)
        };
        let is_linked = |object: &str| !analysis.elements_of_objects(|name| name == object).is_empty();
        let outdated = outdated(&self, &dependencies, &is_linked);
        let manifest = Manifest::of_objects(&self.tree, analysis.surroundings(), &listings);
        let mut notes = [notes, self.notes].concat();
        if analysis.targets().iter().all(|target| !target.has_googletest) && tests.is_empty() {
            notes.push(format!(
                "no tests found in {}: it holds neither a GoogleTest program nor CTest entries. `fewer doctor` says more",
                session.project.shown(&self.directory.path)
            ));
        }
        let _phase = session.timings.phase("plan");
        let (graph, fingerprints) = analysis.into_graph(tests);
        let images = self.tree.images.iter().map(|image| Image {
            name: image.name.clone(),
            is_library: image.summary.is_library,
            modified: image.modified,
        });
        let images = images.collect();
        let build_directory = self.directory.path;
        Ok(Part {
            snapshot: snapshot(&graph, &fingerprints, &circumstances),
            graph,
            starters,
            circumstances,
            manifest,
            means: Means::Objects(ObjectMeans { build_directory, programs, images, dependencies }),
            outdated,
            notes,
            incomplete,
        })
    }
}

/// The fingerprints of all tests, with the way they are started.
pub fn snapshot(
    graph: &Graph,
    fingerprints: &Fingerprints,
    circumstances: &BTreeMap<TestId, Digest>,
) -> Snapshot {
    let tests = graph.tests().iter().map(|test| {
        let fingerprint = fingerprints.test(test);
        (test.id.clone(), circumstances::with(fingerprint, circumstances.get(&test.id).copied()))
    });
    tests.collect()
}

/// Several graphs side by side. Where two have a test of the same id, the first one's counts.
pub fn joined(graphs: Vec<Graph>) -> anyhow::Result<Graph> {
    if graphs.len() == 1 {
        return graphs.into_iter().next().context("there is one graph");
    }
    let mut builder = GraphBuilder::new();
    let mut tests: BTreeMap<TestId, TestNode> = BTreeMap::new();
    for graph in &graphs {
        let first = builder.element_count() as u32;
        let moved = |element: &fewer_core::ElementId| fewer_core::ElementId(element.0 + first);
        for element in graph.elements() {
            builder.element(graph.name(element), graph.content(element));
        }
        for element in graph.elements() {
            for target in graph.references(element) {
                builder.reference(moved(&element), moved(target));
            }
        }
        for test in graph.tests() {
            let roots = test.roots.iter().map(moved).collect();
            tests.entry(test.id.clone()).or_insert(TestNode { roots, ..test.clone() });
        }
    }
    tests.into_values().for_each(|test| builder.test(test));
    Ok(builder.build())
}
