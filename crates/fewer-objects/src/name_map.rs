//! Maps keyed by what is a hash already: the key's own bits serve, nothing is hashed twice.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use fewer_core::Digest;

use crate::summary::NameKey;

/// Takes the last eight bytes written as the hash.
#[derive(Default, Clone, Copy)]
pub struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = self.0.rotate_left(5) ^ u64::from_le_bytes(word);
        }
    }
    fn write_u32(&mut self, value: u32) {
        self.0 = self.0.rotate_left(32) ^ value as u64;
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = self.0.rotate_left(5) ^ value;
    }
    fn write_u128(&mut self, value: u128) {
        self.0 = self.0.rotate_left(5) ^ value as u64;
    }
}

type Build = BuildHasherDefault<AlreadyHashed>;
/// By something that begins with such a key.
pub type KeyedMap<K, V> = HashMap<K, V, Build>;
pub type NameMap<V> = HashMap<NameKey, V, Build>;
pub type NameSet = HashSet<NameKey, Build>;
pub type SizedNameMap<V> = HashMap<(NameKey, u32), V, Build>;
pub type DigestMap<V> = HashMap<Digest, V, Build>;
