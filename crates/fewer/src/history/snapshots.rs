//! The tests of many commits with their fingerprints, each kept as what differs from its first parent, in memory
//! and in the store: a commit costs what it changed. How a commit is analysed is told elsewhere.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use fewer_core::history::experiments::FirstSeen;
use fewer_core::history::{CommitIndex, Records};
use fewer_core::{Digest, Snapshot, TestId};
use fewer_git::{CommitHash, History};
use fewer_store::{Store, StoreError};
use serde::{Deserialize, Serialize};

/// The kind under which the store keeps them.
const KIND: &str = "history-snapshot";
/// A commit is put together from at most so many others.
const MAX_CHAIN: usize = 32;
/// So many tests, over all commits, are kept put together.
const CACHED_TESTS: usize = 2_000_000;
/// Blobs read from the store at once.
const BATCH: usize = 512;

/// The commits whose tests are known.
pub struct Snapshots<'h> {
    history: &'h History,
    deltas: HashMap<CommitIndex, Delta>,
    cache: RefCell<Cache>,
}

/// What differs from another commit; everything, where there is none.
struct Delta {
    base: Option<CommitIndex>,
    chain: usize,
    /// `None` for a test that is not there any more.
    changed: Vec<(TestId, Option<Digest>)>,
}

/// The same as the store keeps it.
#[derive(Serialize, Deserialize)]
struct StoredDelta {
    base: Option<String>,
    changed: Vec<(TestId, Option<Digest>)>,
}

/// The newest snapshots that were put together.
#[derive(Default)]
struct Cache {
    snapshots: HashMap<CommitIndex, Arc<Snapshot>>,
    order: VecDeque<CommitIndex>,
    tests: usize,
}

/// A commit's snapshot for the store.
pub struct Pending {
    pub key: Digest,
    content: Vec<u8>,
}

impl<'h> Snapshots<'h> {
    pub fn new(history: &'h History) -> Snapshots<'h> {
        Snapshots { history, deltas: HashMap::new(), cache: RefCell::default() }
    }

    /// Reads what the store holds of some commits, given with their keys and parents first. `key` tells the key
    /// of any other commit that one of them builds on. Returns the commits that it holds nothing of.
    pub fn load(
        &mut self,
        store: &Store,
        wanted: &[(CommitIndex, Digest)],
        key: impl Fn(CommitHash) -> Option<Digest>,
    ) -> Result<Vec<CommitIndex>, StoreError> {
        let mut missing = Vec::new();
        for batch in wanted.chunks(BATCH) {
            let keys: Vec<Digest> = batch.iter().map(|(_, key)| *key).collect();
            let found = store.blobs(KIND, &keys)?;
            for (commit, digest) in batch {
                let stored = found.get(digest).and_then(|content| serde_json::from_slice(content).ok());
                let is_loaded = match stored {
                    Some(stored) => self.adopt(store, *commit, stored, &key)?,
                    None => false,
                };
                if !is_loaded {
                    missing.push(*commit);
                }
            }
        }
        Ok(missing)
    }

    /// Takes in what the store holds; `false` if something that it builds on is gone.
    fn adopt(
        &mut self,
        store: &Store,
        commit: CommitIndex,
        stored: StoredDelta,
        key: &impl Fn(CommitHash) -> Option<Digest>,
    ) -> Result<bool, StoreError> {
        let StoredDelta { base, changed } = stored;
        let Some(name) = base else {
            self.deltas.insert(commit, Delta { base: None, chain: 0, changed });
            return Ok(true);
        };
        let hash = CommitHash::parse(name.as_bytes());
        let Some((hash, base)) = hash.and_then(|hash| Some((hash, self.history.index(&hash)?))) else {
            return Ok(false);
        };
        if !self.deltas.contains_key(&base) {
            let Some(key_of_base) = key(hash) else { return Ok(false) };
            let found = store.blobs(KIND, &[key_of_base])?;
            let stored = found.get(&key_of_base).and_then(|content| serde_json::from_slice(content).ok());
            let Some(stored) = stored.filter(|_| base < commit) else { return Ok(false) };
            if !self.adopt(store, base, stored, key)? {
                return Ok(false);
            }
        }
        let chain = self.deltas[&base].chain + 1;
        self.deltas.insert(commit, Delta { base: Some(base), chain, changed });
        Ok(true)
    }

    /// Adds a commit that was analysed, on top of its first parent where that is known.
    pub fn insert(&mut self, commit: CommitIndex, key: Digest, snapshot: Arc<Snapshot>) -> Pending {
        let parent = self.history.graph().parents(commit).first().copied();
        let base = parent.and_then(|parent| {
            let chain = self.deltas.get(&parent)?.chain + 1;
            (chain <= MAX_CHAIN).then(|| Some((parent, chain, self.snapshot(parent)?)))?
        });
        let delta = match base {
            Some((parent, chain, before)) => {
                Delta { base: Some(parent), chain, changed: difference(&before, &snapshot) }
            }
            None => Delta { base: None, chain: 0, changed: difference(&Snapshot::new(), &snapshot) },
        };
        let stored = StoredDelta {
            base: delta.base.map(|base| self.history.hash(base).to_string()),
            changed: delta.changed,
        };
        let content = serde_json::to_vec(&stored).expect("it has text keys and no failing parts");
        self.deltas.insert(commit, Delta { changed: stored.changed, ..delta });
        self.cache.borrow_mut().put(commit, snapshot);
        Pending { key, content }
    }

    /// At which of these commits, parents first, a test first was what it is.
    pub fn first_seen(&self, commits: &BTreeSet<CommitIndex>) -> FirstSeen {
        let mut first_seen = FirstSeen::default();
        for &commit in commits {
            let Some(delta) = self.deltas.get(&commit) else { continue };
            if delta.base.is_none_or(|base| commits.contains(&base)) {
                for (test, fingerprint) in &delta.changed {
                    fingerprint.iter().for_each(|fingerprint| first_seen.note(commit, test, *fingerprint));
                }
            } else if let Some(snapshot) = self.snapshot(commit) {
                first_seen.note_all(commit, &snapshot);
            }
        }
        first_seen
    }

    fn assemble(&self, commit: CommitIndex) -> Option<Arc<Snapshot>> {
        if let Some(snapshot) = self.cache.borrow().snapshots.get(&commit) {
            return Some(snapshot.clone());
        }
        let delta = self.deltas.get(&commit)?;
        let before = match delta.base {
            Some(base) => self.assemble(base)?,
            None => Arc::default(),
        };
        let snapshot = if delta.changed.is_empty() { before } else { Arc::new(applied(&before, delta)) };
        self.cache.borrow_mut().put(commit, snapshot.clone());
        Some(snapshot)
    }
}

impl Records for Snapshots<'_> {
    fn snapshot(&self, commit: CommitIndex) -> Option<Arc<Snapshot>> {
        self.assemble(commit)
    }
}

impl Cache {
    fn put(&mut self, commit: CommitIndex, snapshot: Arc<Snapshot>) {
        self.tests += snapshot.len();
        if let Some(replaced) = self.snapshots.insert(commit, snapshot) {
            self.tests -= replaced.len();
        } else {
            self.order.push_back(commit);
        }
        while self.tests > CACHED_TESTS && self.order.len() > 1 {
            let dropped = self.order.pop_front().and_then(|oldest| self.snapshots.remove(&oldest));
            self.tests -= dropped.map_or(0, |snapshot| snapshot.len());
        }
    }
}

/// Puts analysed commits into the store, all or none.
pub fn keep(store: &Store, pending: &mut Vec<Pending>) -> Result<(), StoreError> {
    let blobs: Vec<(Digest, Vec<u8>)> =
        pending.drain(..).map(|pending| (pending.key, pending.content)).collect();
    store.put_blobs(KIND, &blobs)
}

fn difference(old: &Snapshot, new: &Snapshot) -> Vec<(TestId, Option<Digest>)> {
    let changed = new.iter().filter(|(test, fingerprint)| old.get(*test) != Some(*fingerprint));
    let gone = old.keys().filter(|test| !new.contains_key(*test));
    let changed = changed.map(|(test, fingerprint)| (test.clone(), Some(*fingerprint)));
    changed.chain(gone.map(|test| (test.clone(), None))).collect()
}

fn applied(before: &Snapshot, delta: &Delta) -> Snapshot {
    let mut snapshot = before.clone();
    for (test, fingerprint) in &delta.changed {
        match fingerprint {
            Some(fingerprint) => snapshot.insert(test.clone(), *fingerprint),
            None => snapshot.remove(test),
        };
    }
    snapshot
}
