//! The analysis as `fewer run` does it, in a child process of the benchmark: from the files below a build
//! directory and the summaries of earlier analyses to the fingerprints of all tests.
//! Measuring that process is not done here.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anyhow::{Context, Result};
use fewer_core::{Digest, DigestBuilder, Domain, Mapping};
use fewer_objects::surroundings::{decode_listing, encode_listing};
use fewer_objects::{Analysis, Given, KeptBytes, ListedTest, SummaryCache};
use fewer_runners::{Cancel, TestProgram, googletest};
use fewer_store::{OwnerKey, Store};
use serde::{Deserialize, Serialize};

use crate::generate::Link;
use crate::listed::listed_test;

const SNAPSHOT: Domain = Domain::new("bench.snapshot");

/// What an analysis found: what must be the same in every repetition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    pub tests: usize,
    pub unmapped_tests: usize,
    pub elements: usize,
    pub references: usize,
    /// Files that no stored summary covered.
    pub files_read: usize,
    /// Of all tests and their fingerprints.
    pub snapshot: Digest,
}

/// Analyses the build with the summaries in `store`, which may be empty, and adds the missing ones.
pub fn analyse(build: &Path, listings: &Path, store: &Path) -> Result<Findings> {
    fewer_objects::memory::keep_freed_memory();
    let key = OwnerKey::from_text("the key of the benchmark, which is no secret")?;
    let summaries = Arc::new(Summaries(Mutex::new(Store::open(store, key)?)));
    let tree = fewer_objects::scan_again(build, summaries)?;
    let analysis = Analysis::of_build(build, &tree, Given::default());
    let mut tests = Vec::new();
    for target in analysis.targets() {
        let listing = listings.join(file_name(&target.name));
        let bytes = fs::read(&listing).with_context(|| format!("cannot read {}", listing.display()))?;
        let listed = decode_listing(&bytes).context("a list of tests from another version")?;
        tests.extend(analysis.googletest_tests(target, &listed));
    }
    let unmapped_tests = tests.iter().filter(|test| test.mapping != Mapping::Mapped).count();
    let (graph, fingerprints) = analysis.into_graph(tests);
    let snapshot = fingerprints.snapshot(&graph);
    let mut digest = DigestBuilder::new(SNAPSHOT);
    for (test, fingerprint) in &snapshot {
        digest.text(&test.to_string()).digest(*fingerprint);
    }
    Ok(Findings {
        tests: snapshot.len(),
        unmapped_tests,
        elements: graph.element_count(),
        references: graph.reference_count(),
        files_read: tree.files_read,
        snapshot: digest.finish(),
    })
}

/// Writes the list of each executable's tests, so that analysing starts no process.
pub fn list_tests(build: &Path, links: &[Link], listings: &Path) -> Result<()> {
    fs::create_dir_all(listings).with_context(|| format!("cannot create {}", listings.display()))?;
    for link in links {
        let program = TestProgram::new(&link.executable, build.join(&link.executable), build);
        let listed = googletest::list(&program, Duration::from_secs(60), &Cancel::new())?;
        let tests: Vec<ListedTest> = listed.iter().map(listed_test).collect();
        let listing = listings.join(file_name(&link.executable));
        fs::write(&listing, encode_listing(&tests))
            .with_context(|| format!("cannot write {}", listing.display()))?;
    }
    Ok(())
}

/// Summaries in the database of fewer.
struct Summaries(Mutex<Store>);

impl Summaries {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.lock().expect("no thread panicked while it used the store")
    }
}

impl SummaryCache for Summaries {
    fn load(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        self.store().blobs(kind, keys).expect("the benchmark's own store is readable")
    }

    fn has_all(&self, kind: &str, keys: &[Digest]) -> bool {
        self.store().has_blobs(kind, keys).expect("the benchmark's own store is readable")
    }

    fn save(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]) {
        self.store().replace_blobs(kind, summaries).expect("the benchmark's own store is writable");
    }

    fn kept(&self, key: Digest) -> Option<KeptBytes> {
        let kept = self.store().kept(key).expect("the benchmark's own store is readable")?;
        Some(Arc::new(kept))
    }

    fn keep(&self, key: Digest, content: &[u8]) {
        self.store().keep(key, content).expect("the benchmark's own store is writable");
    }
}

fn file_name(executable: &str) -> String {
    executable.replace('/', "+")
}
