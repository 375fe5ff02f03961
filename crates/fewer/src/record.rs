//! A state as it is recorded, and a recorded state's graph built again.

use std::collections::{HashMap, HashSet};

use fewer_core::{Digest, Domain, Graph, Snapshot, TestId, TestNode};
use fewer_git::WorkTreeState;
use fewer_java::class_path::CLASS_KIND;
use fewer_java::{Class, ClassSummary};
use fewer_objects::image::ImageSummary;
use fewer_objects::libtest::{HARNESS_KIND, decode_harness};
use fewer_objects::pack::Pack;
use fewer_objects::scan::{IMAGE_KIND, OBJECT_KIND, PACK_KIND, Packed};
use fewer_objects::summary::ObjectSummary;
use fewer_objects::surroundings::{LISTING_KIND, SURROUNDINGS_KIND, Surroundings, decode_listing};
use fewer_objects::{Analysis, BuildTree, Scanned};
use fewer_store::{ManifestEntry, StateId, StateRecord, Store, StoreError};

use crate::java::{RECORD_KIND, Record};
use crate::part::joined;
use crate::provenance::{PROVENANCE_KIND, Provenance};

const SURROUNDINGS: Domain = Domain::new("surroundings");

/// The parts of a state's graph that are kept as blobs.
#[derive(Default)]
pub struct Manifest {
    entries: Vec<ManifestEntry>,
    /// Those that are not in the store yet, by kind.
    blobs: Vec<(&'static str, Digest, Vec<u8>)>,
}

impl Manifest {
    pub fn of_objects(
        tree: &BuildTree,
        surroundings: &Surroundings,
        listings: &[(String, Digest)],
    ) -> Manifest {
        let encoded = surroundings.encode();
        let key = Digest::of(SURROUNDINGS, &encoded);
        let mut entries: Vec<ManifestEntry> =
            tree.objects.iter().map(|object| entry(OBJECT_KIND, &object.name, object.key)).collect();
        entries.extend(tree.pack_keys().into_iter().map(|key| entry(PACK_KIND, &key.to_string(), key)));
        entries.extend(tree.images.iter().map(|image| entry(IMAGE_KIND, &image.name, image.key)));
        entries.extend(listings.iter().map(|(target, key)| entry(LISTING_KIND, target, *key)));
        entries.push(entry(SURROUNDINGS_KIND, "", key));
        Manifest { entries, blobs: vec![(SURROUNDINGS_KIND, key, encoded)] }
    }

    /// Classes are in the store under their keys; a module may have several of one name.
    pub fn of_java(classes: &[Class], keys: &[Digest], record: &Record) -> Manifest {
        let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
        let mut entries = Vec::with_capacity(classes.len() + 1);
        for (class, key) in classes.iter().zip(keys) {
            let count = counts.entry((&class.module, &class.summary.name)).or_insert(0);
            *count += 1;
            let again = if *count > 1 { format!("#{count}") } else { String::new() };
            let name = format!("{}\t{}{again}", class.module, class.summary.name);
            entries.push(entry(CLASS_KIND, &name, *key));
        }
        let (key, encoded) = record.encode();
        entries.push(entry(RECORD_KIND, "", key));
        Manifest { entries, blobs: vec![(RECORD_KIND, key, encoded)] }
    }

    /// Adds one more part.
    pub fn keep(&mut self, kind: &'static str, name: &str, key: Digest, blob: Vec<u8>) {
        self.entries.push(entry(kind, name, key));
        self.blobs.push((kind, key, blob));
    }

    pub fn add(&mut self, other: Manifest) {
        self.entries.extend(other.entries);
        self.blobs.extend(other.blobs);
    }

    pub fn add_provenance(&mut self, provenance: &Provenance) {
        let (key, encoded) = provenance.encode();
        self.entries.push(entry(PROVENANCE_KIND, "", key));
        self.blobs.push((PROVENANCE_KIND, key, encoded));
    }

    /// Records the state that these parts make up, with the fingerprints of its tests.
    pub fn record(
        self,
        store: &Store,
        state: &WorkTreeState,
        snapshot: Snapshot,
    ) -> Result<StateId, StoreError> {
        for (kind, key, blob) in self.blobs {
            store.put_blobs(kind, &[(key, blob)])?;
        }
        store.record_state(&StateRecord {
            commit: state.commit.clone(),
            dirty: state.dirty,
            worktree: state.digest,
            manifest: self.entries,
            snapshot,
        })
    }
}

/// The graph of a recorded state with its tests; `None` where a part of it is no longer there or was written by
/// another version.
pub fn recorded_graph(store: &Store, id: StateId) -> Option<Graph> {
    let state = store.state(id).ok()?;
    let has = |kind: &str| state.manifest.iter().any(|entry| entry.kind == kind);
    let mut graphs = Vec::new();
    if has(SURROUNDINGS_KIND) {
        graphs.push(rebuild(store, id, |analysis, tests, _| analysis.into_graph(tests).0)?);
    }
    if has(RECORD_KIND) {
        graphs.push(Parts { store, manifest: &state.manifest }.java_graph()?);
    }
    joined(graphs).ok()
}

/// Whether a recorded state holds tests that are not known from objects.
pub fn has_java(store: &Store, id: StateId) -> bool {
    store.state(id).is_ok_and(|state| state.manifest.iter().any(|entry| entry.kind == RECORD_KIND))
}

/// Where the parts of a recorded state come from, if that was recorded.
pub fn provenance_of(store: &Store, id: StateId) -> Option<Provenance> {
    let state = store.state(id).ok()?;
    Parts { store, manifest: &state.manifest }.provenance().ok().flatten()
}

/// Builds the analysis of a recorded state again, with its tests and, where it was recorded, its provenance.
pub fn rebuild<T>(
    store: &Store,
    id: StateId,
    then: impl FnOnce(Analysis<'_>, Vec<TestNode>, Option<Provenance>) -> T,
) -> Option<T> {
    let state = store.state(id).ok()?;
    let parts = Parts { store, manifest: &state.manifest };
    let provenance = parts.provenance().ok()?;
    let tree = BuildTree::of_record(
        parts.summaries(OBJECT_KIND, ObjectSummary::decode)?,
        parts.packs()?,
        parts.summaries(IMAGE_KIND, ImageSummary::decode)?,
    )?;
    let surroundings = parts.all(SURROUNDINGS_KIND)?.into_iter().next()?.2;
    let analysis = Analysis::of_record(&tree, Surroundings::decode(&surroundings)?);
    let mut tests: Vec<TestNode> = Vec::new();
    for (name, _, listing) in parts.all(LISTING_KIND)? {
        let target = analysis.targets().iter().find(|target| target.name == name)?;
        tests.extend(analysis.googletest_tests(target, &decode_listing(&listing)?));
    }
    for (name, _, listing) in parts.all(HARNESS_KIND)? {
        let target = analysis.targets().iter().find(|target| target.name == name)?;
        tests.extend(analysis.libtest_tests(target, &decode_harness(&listing)?));
    }
    let listed: HashSet<_> = tests.iter().map(|test| test.id.clone()).collect();
    let unmapped: HashMap<TestId, &str> = provenance.iter().flat_map(Provenance::unmapped).collect();
    for id in state.snapshot.keys().filter(|id| !listed.contains(*id)) {
        let target = analysis.targets().iter().find(|target| target.name == id.target);
        match (unmapped.get(id), target) {
            (Some(cause), _) => tests.push(Analysis::unmapped_test(id.clone(), cause.to_string(), false)),
            (None, Some(target)) => tests.push(analysis.program_test(target, &id.name, false)),
            (None, None) => {}
        }
    }
    Some(then(analysis, tests, provenance))
}

fn entry(kind: &str, name: &str, key: Digest) -> ManifestEntry {
    ManifestEntry { kind: kind.into(), name: name.into(), key }
}

/// A part of a state that is no longer there, or was written by another version.
struct Unreadable;

struct Parts<'s> {
    store: &'s Store,
    manifest: &'s [ManifestEntry],
}

impl Parts<'_> {
    /// `None` where none was recorded; an error where it is gone or of another version.
    fn provenance(&self) -> Result<Option<Provenance>, Unreadable> {
        match self.all(PROVENANCE_KIND).ok_or(Unreadable)?.into_iter().next() {
            Some((_, _, bytes)) => Provenance::decode(&bytes).map(Some).ok_or(Unreadable),
            None => Ok(None),
        }
    }

    /// Every blob of a kind with its name and key, in the manifest's order.
    fn all(&self, kind: &str) -> Option<Vec<(String, Digest, Vec<u8>)>> {
        let entries: Vec<&ManifestEntry> = self.manifest.iter().filter(|entry| entry.kind == kind).collect();
        let keys: Vec<Digest> = entries.iter().map(|entry| entry.key).collect();
        let blobs = self.store.blobs(kind, &keys).ok()?;
        let found = |entry: &ManifestEntry| {
            blobs.get(&entry.key).map(|bytes| (entry.name.clone(), entry.key, bytes.clone()))
        };
        entries.into_iter().map(found).collect()
    }

    fn java_graph(&self) -> Option<Graph> {
        let record = Record::decode(&self.all(RECORD_KIND)?.into_iter().next()?.2)?;
        let class = |(name, _, bytes): (String, Digest, Vec<u8>)| {
            let (module, _) = name.split_once('\t')?;
            Some((module.to_string(), ClassSummary::decode(&bytes)?))
        };
        let classes = self.all(CLASS_KIND)?.into_iter().map(class).collect::<Option<Vec<_>>>()?;
        Some(record.recorded_graph(classes))
    }

    fn packs(&self) -> Option<Vec<Packed>> {
        let packed =
            |(_, key, bytes): (_, Digest, Vec<u8>)| Some(Packed { key, pack: Pack::decode(&bytes)? });
        self.all(PACK_KIND)?.into_iter().map(packed).collect()
    }

    fn summaries<T>(&self, kind: &str, decode: fn(&[u8]) -> Option<T>) -> Option<Vec<Scanned<T>>> {
        let scanned = |(name, key, bytes): (String, Digest, Vec<u8>)| {
            Some(Scanned { name, key, modified: None, summary: decode(&bytes)?.into() })
        };
        self.all(kind)?.into_iter().map(scanned).collect()
    }
}
