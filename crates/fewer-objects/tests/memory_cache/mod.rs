//! Summaries kept in memory as a store would keep them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use fewer_core::Digest;
use fewer_objects::{KeptBytes, SummaryCache};

/// What is kept, among the kinds of summaries.
pub const KEPT_KIND: &str = "kept";

#[derive(Default)]
pub struct MemoryCache(pub Mutex<HashMap<(String, Digest), Vec<u8>>>);

impl SummaryCache for MemoryCache {
    fn load(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        let cache = self.0.lock().unwrap();
        keys.iter().filter_map(|key| Some((*key, cache.get(&(kind.to_string(), *key))?.clone()))).collect()
    }

    fn save(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]) {
        let mut cache = self.0.lock().unwrap();
        cache.extend(summaries.iter().map(|(key, bytes)| ((kind.to_string(), *key), bytes.clone())));
    }

    fn kept(&self, key: Digest) -> Option<KeptBytes> {
        let kept = self.0.lock().unwrap().get(&(KEPT_KIND.to_string(), key))?.clone();
        Some(Arc::new(kept))
    }

    fn keep(&self, key: Digest, content: &[u8]) {
        self.0.lock().unwrap().insert((KEPT_KIND.to_string(), key), content.to_vec());
    }
}
