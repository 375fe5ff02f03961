//! Summaries kept in memory as a store would keep them.

use std::collections::HashMap;
use std::sync::Mutex;

use fewer_core::Digest;
use fewer_objects::SummaryCache;

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
}
