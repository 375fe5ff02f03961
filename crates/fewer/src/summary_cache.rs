//! Summaries of object files and classes kept in the store. A store that cannot be used makes the analysis slower, not
//! wrong: the first problem is remembered and told as a note.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use fewer_core::Digest;
use fewer_store::{Store, StoreError};

pub struct StoredSummaries {
    store: Arc<Mutex<Store>>,
    problem: Mutex<Option<StoreError>>,
}

impl StoredSummaries {
    pub fn new(store: &Arc<Mutex<Store>>) -> StoredSummaries {
        StoredSummaries { store: store.clone(), problem: Mutex::new(None) }
    }

    /// The first problem since the last call.
    pub fn take_problem(&self) -> Option<StoreError> {
        self.problem.lock().expect("nobody panics with the problem in hand").take()
    }

    fn remember(&self, error: StoreError) {
        self.problem.lock().expect("nobody panics with the problem in hand").get_or_insert(error);
    }
}

impl StoredSummaries {
    fn stored(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        let store = self.store.lock().expect("nobody panics with the records in hand");
        store.blobs(kind, keys).unwrap_or_else(|error| {
            self.remember(error);
            HashMap::new()
        })
    }

    fn keep(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]) {
        let store = self.store.lock().expect("nobody panics with the records in hand");
        if let Err(error) = store.replace_blobs(kind, summaries) {
            self.remember(error);
        }
    }
}

impl fewer_objects::SummaryCache for StoredSummaries {
    fn load(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        self.stored(kind, keys)
    }

    fn has_all(&self, kind: &str, keys: &[Digest]) -> bool {
        let store = self.store.lock().expect("nobody panics with the records in hand");
        store.has_blobs(kind, keys).unwrap_or_else(|error| {
            self.remember(error);
            false
        })
    }

    fn save(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]) {
        self.keep(kind, summaries);
    }
}

impl fewer_java::SummaryCache for StoredSummaries {
    fn load(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        self.stored(kind, keys)
    }

    fn save(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]) {
        self.keep(kind, summaries);
    }
}
