//! Summaries of object files and classes kept in the store. A store that cannot be used makes the analysis slower, not
//! wrong: the first problem is remembered and told as a note.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use fewer_core::Digest;
use fewer_store::{Store, StoreError};

/// The store by a connection of its own: summaries are read when somebody looks at them, who may have the records in
/// hand.
pub struct StoredSummaries {
    store: Mutex<Option<Store>>,
    problem: Mutex<Option<StoreError>>,
}

impl StoredSummaries {
    pub fn beside(records: &Store) -> StoredSummaries {
        let (store, problem) = match records.beside() {
            Ok(store) => (Some(store), None),
            Err(error) => (None, Some(error)),
        };
        StoredSummaries { store: Mutex::new(store), problem: Mutex::new(problem) }
    }

    /// The first problem since the last call.
    pub fn take_problem(&self) -> Option<StoreError> {
        self.problem.lock().expect("nobody panics with the problem in hand").take()
    }

    /// Asks the store, where there is one that can answer.
    fn ask<T>(&self, question: impl FnOnce(&Store) -> Result<T, StoreError>) -> Option<T> {
        let store = self.store.lock().expect("nobody panics with the summaries in hand");
        let answer = question(store.as_ref()?);
        answer
            .map_err(|error| {
                self.problem.lock().expect("nobody panics with the problem in hand").get_or_insert(error);
            })
            .ok()
    }

    fn stored(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        self.ask(|store| store.blobs(kind, keys)).unwrap_or_default()
    }

    fn put(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]) {
        self.ask(|store| store.replace_blobs(kind, summaries));
    }
}

impl fewer_objects::SummaryCache for StoredSummaries {
    fn load(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        self.stored(kind, keys)
    }

    fn has_all(&self, kind: &str, keys: &[Digest]) -> bool {
        self.ask(|store| store.has_blobs(kind, keys)).unwrap_or(false)
    }

    fn save(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]) {
        self.put(kind, summaries);
    }

    fn kept(&self, key: Digest) -> Option<fewer_objects::KeptBytes> {
        let kept = self.ask(|store| store.kept(key)).flatten()?;
        Some(Arc::new(kept))
    }

    fn keep(&self, key: Digest, content: &[u8]) {
        self.ask(|store| store.keep(key, content));
    }
}

impl fewer_java::SummaryCache for StoredSummaries {
    fn load(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        self.stored(kind, keys)
    }

    fn save(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]) {
        self.put(kind, summaries);
    }
}
