//! What one analyser makes of what was built, in the form that deciding, running and recording share. A project may
//! have several: objects of C, C++ and Rust, and Java.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::Context;
use fewer_core::{
    Digest, DigestBuilder, Domain, Fingerprints, Graph, GraphBuilder, Mapping, Snapshot, TestId, TestNode,
};
use fewer_objects::{Analysis, BuildTree};
use fewer_runners::cargo::nextest::Nextest;

use crate::build_directory::BuildDirectory;
use crate::circumstances;
use crate::dependencies::Dependencies;
use crate::examination::{Examined, ListedProgram, Starter, examine, scan};
use crate::java::JavaMeans;
use crate::record::Manifest;
use crate::session::Session;
use crate::stale::{Built, Outdated};

const SHARED_ID: Domain = Domain::new("part.shared-id");

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
    /// The names of CTest's entries.
    pub declared: BTreeSet<String>,
}

/// What it takes to run the tests of a part.
pub enum Means {
    Objects(ObjectMeans),
    Java(JavaMeans),
}

pub struct ObjectMeans {
    pub build_directory: PathBuf,
    pub programs: Vec<ListedProgram>,
    /// Programs and libraries with the time they were linked at.
    pub images: Vec<Image>,
    pub dependencies: Dependencies,
    /// How nextest is started, where it runs the tests of cargo's programs.
    pub nextest: Option<Nextest>,
}

/// A program or library of the build.
pub struct Image {
    pub name: String,
    pub path: PathBuf,
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

    /// The graph and the tests.
    pub fn part(self, session: &Session<'_>, has_built: bool) -> anyhow::Result<Part> {
        let examined = examine(session, &self.directory, &self.tree)?;
        let Examined {
            analysis,
            tests,
            programs,
            starters,
            circumstances,
            listings,
            notes,
            incomplete,
            declared,
            ..
        } = examined;
        let dependencies = {
            let _phase = session.timings.phase("read dependencies");
            Dependencies::read(&self.directory.path, &session.project.root, &self.tree)
        };
        let outdated = {
            let _phase = session.timings.phase("compare with the sources");
            self.built(session, &analysis, &tests, &dependencies, has_built).outdated()
        };
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
            path: self.directory.path.join(&image.name),
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
            means: Means::Objects(ObjectMeans {
                build_directory,
                programs,
                images,
                dependencies,
                nextest: None,
            }),
            outdated,
            notes,
            incomplete,
            declared,
        })
    }

    /// What tells whether it is what the sources say.
    fn built<'b>(
        &'b self,
        session: &'b Session<'_>,
        analysis: &'b Analysis<'_>,
        tests: &'b [TestNode],
        dependencies: &'b Dependencies,
        has_built: bool,
    ) -> Built<'b> {
        let name = |image: &u32| self.tree.images.get(*image as usize).map(|image| image.name.as_str());
        let members = analysis.surroundings().members.iter();
        let holders = members
            .map(|(object, images)| (object.as_str(), images.iter().filter_map(name).collect::<Vec<_>>()))
            .filter(|(_, images)| !images.is_empty());
        let not_linked = analysis
            .targets()
            .iter()
            .filter_map(|target| Some((target.name.as_str(), analysis.stale_because(target)?)));
        Built {
            session,
            directory: &self.directory.path,
            tree: &self.tree,
            dependencies,
            holders: holders.collect(),
            tested: tests.iter().map(|test| test.id.target.as_str()).collect(),
            not_linked: not_linked.collect(),
            has_built,
        }
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

/// Adds the fingerprints of a part. What is known by one id in two parts is the same only if both are.
pub fn add_snapshot(snapshot: &mut Snapshot, part: Snapshot) {
    for (id, fingerprint) in part {
        let both = |known: &mut Digest| {
            *known = DigestBuilder::new(SHARED_ID).digest(*known).digest(fingerprint).finish();
        };
        snapshot.entry(id).and_modify(both).or_insert(fingerprint);
    }
}

/// Several graphs side by side. Where two have a test of the same id, it cannot be told whose outcomes are recorded:
/// the test is unmapped.
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
            let test = TestNode { roots, ..test.clone() };
            let shared = tests.remove(&test.id).map(|known| shared(known, &test));
            tests.insert(test.id.clone(), shared.unwrap_or(test));
        }
    }
    tests.into_values().for_each(|test| builder.test(test));
    Ok(builder.build())
}

fn shared(first: TestNode, second: &TestNode) -> TestNode {
    let cause = "a test of a program and a Java class have this id, and both run: rename one of them";
    TestNode {
        id: first.id,
        roots: [first.roots.as_slice(), &second.roots].concat(),
        mapping: Mapping::Unmapped { cause: cause.to_string() },
        disabled: first.disabled && second.disabled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(element: &str, tests: &[&str]) -> Graph {
        let mut builder = GraphBuilder::new();
        let content = Digest::of(SHARED_ID, element.as_bytes());
        let roots = vec![builder.element(element, content)];
        for test in tests {
            let id = test.parse().unwrap();
            builder.test(TestNode { id, roots: roots.clone(), mapping: Mapping::Mapped, disabled: false });
        }
        builder.build()
    }

    fn snapshot_of(parts: &[(&str, u8)]) -> Snapshot {
        let mut snapshot = Snapshot::new();
        for (id, content) in parts {
            let fingerprint = Digest::of(SHARED_ID, &[*content]);
            add_snapshot(&mut snapshot, Snapshot::from([(id.parse().unwrap(), fingerprint)]));
        }
        snapshot
    }

    #[test]
    fn a_test_of_two_parts_reaches_both_and_is_unmapped() {
        let graphs = vec![graph("program", &["core::p.C", "core::p.A"]), graph("class", &["core::p.C"])];
        let joined = joined(graphs).unwrap();
        let test = joined.test(&"core::p.C".parse().unwrap()).unwrap();
        let reached: Vec<&str> = test.roots.iter().map(|root| joined.name(*root)).collect();
        assert_eq!(reached, ["program", "class"]);
        assert!(matches!(&test.mapping, Mapping::Unmapped { cause } if cause.contains("rename one of them")));
        let alone = joined.test(&"core::p.A".parse().unwrap()).unwrap();
        assert_eq!(alone.mapping, Mapping::Mapped);
    }

    #[test]
    fn a_fingerprint_of_two_parts_changes_with_either() {
        let id: TestId = "core::p.C".parse().unwrap();
        let of = |first, second| snapshot_of(&[("core::p.C", first), ("core::p.C", second)])[&id];
        assert_eq!(of(1, 2), of(1, 2));
        assert!(of(1, 2) != of(1, 3) && of(1, 2) != of(3, 2));
        assert_eq!(snapshot_of(&[("core::p.C", 1)])[&id], Digest::of(SHARED_ID, &[1]));
    }
}
