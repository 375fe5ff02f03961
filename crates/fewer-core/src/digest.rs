//! The one place where content becomes a hash: a 128-bit digest, a domain tag per kind of thing hashed, and the
//! pinned version of the algorithm. What is hashed, and in which order, is the business of the callers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::{Xxh3, xxh3_128_with_seed};

/// Version of everything that leads to a fingerprint. Raise it when a rule, an encoding or the hash itself
/// changes: outcomes recorded under another version are then never taken for this one's.
pub const FINGERPRINT_VERSION: u32 = 1;

/// A 128-bit content hash, the same on every machine.
///
/// Example: `45893e5a554fa8b4099bcc9a8a4bd0c9`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Digest(pub u128);

/// What kind of thing is hashed: two different kinds with equal bytes have different digests.
///
/// Example: `Domain::new("element")`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Domain(u64);

impl Domain {
    /// A domain by its tag; the fingerprint version is part of it. Evaluated at compile time.
    pub const fn new(tag: &str) -> Domain {
        let bytes = tag.as_bytes();
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325 ^ (FINGERPRINT_VERSION as u64);
        let mut index = 0;
        while index < bytes.len() {
            hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            index += 1;
        }
        Domain(hash)
    }
}

impl Digest {
    /// The digest of some bytes in a domain.
    pub fn of(domain: Domain, bytes: &[u8]) -> Digest {
        Digest(xxh3_128_with_seed(bytes, domain.0))
    }

    /// The portable (little-endian) form, as stored and hashed.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// The inverse of [`Digest::to_bytes`].
    pub fn from_bytes(bytes: [u8; 16]) -> Digest {
        Digest(u128::from_le_bytes(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Digest, Self::Err> {
        u128::from_str_radix(text, 16).map(Digest)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Collects the parts of one digest. Every variable-length part is preceded by its length, so that moving bytes
/// from one part to the next changes the digest.
#[derive(Clone, Debug)]
pub struct DigestBuilder {
    domain: Domain,
    bytes: Vec<u8>,
}

impl DigestBuilder {
    pub fn new(domain: Domain) -> DigestBuilder {
        DigestBuilder { domain, bytes: Vec::new() }
    }

    pub fn bytes(&mut self, part: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(part);
        self
    }

    pub fn text(&mut self, part: &str) -> &mut Self {
        self.bytes(part.as_bytes())
    }

    pub fn number(&mut self, part: u64) -> &mut Self {
        self.bytes.extend_from_slice(&part.to_le_bytes());
        self
    }

    pub fn digest(&mut self, part: Digest) -> &mut Self {
        self.bytes.extend_from_slice(&part.to_bytes());
        self
    }

    /// A whole list of digests, as a set: sorted and without repetitions, whatever order it came in.
    pub fn set(&mut self, digests: &mut Vec<Digest>) -> &mut Self {
        digests.sort_unstable();
        digests.dedup();
        self.bytes.reserve(size_of::<u64>() + size_of_val(digests.as_slice()));
        self.number(digests.len() as u64);
        for digest in digests.iter() {
            self.bytes.extend_from_slice(&digest.to_bytes());
        }
        self
    }

    /// All that was added up.
    pub fn sum(&mut self, sum: &DigestSum) -> &mut Self {
        self.number(sum.count).digest(Digest(sum.total))
    }

    /// The digest of all parts so far; the builder is empty again and keeps its memory.
    pub fn finish(&mut self) -> Digest {
        let digest = Digest::of(self.domain, &self.bytes);
        self.bytes.clear();
        digest
    }
}

/// The digest of bytes that come in pieces: the same as [`Digest::of`] of all of them.
#[derive(Clone)]
pub struct DigestStream(Xxh3);

impl DigestStream {
    pub fn new(domain: Domain) -> DigestStream {
        DigestStream(Xxh3::with_seed(domain.0))
    }

    pub fn push(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub fn finish(&self) -> Digest {
        Digest(self.0.digest128())
    }
}

/// Digests in any order, each as often as it was added: for many things whose order means nothing.
#[derive(Clone, Debug, Default)]
pub struct DigestSum {
    total: u128,
    count: u64,
}

impl DigestSum {
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn add(&mut self, digest: Digest) {
        self.total = self.total.wrapping_add(digest.0);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Domain = Domain::new("a");
    const B: Domain = Domain::new("b");

    #[test]
    fn a_sum_tells_what_was_added_and_how_often_but_not_in_which_order() {
        let sum = |digests: &[u128]| {
            let mut sum = DigestSum::default();
            digests.iter().for_each(|&digest| sum.add(Digest(digest)));
            DigestBuilder::new(A).sum(&sum).finish()
        };
        assert_eq!(sum(&[1, 2, u128::MAX]), sum(&[u128::MAX, 1, 2]));
        assert_ne!(sum(&[1, 1]), sum(&[1]));
        assert_ne!(sum(&[0]), sum(&[]));
    }

    #[test]
    fn bytes_in_pieces_have_the_digest_of_all_of_them() {
        let bytes: Vec<u8> = (0..5000u32).map(|number| (number * 7) as u8).collect();
        for length in [0, 1, 16, 128, 129, 240, 241, 1024, 5000] {
            for piece in [1, 7, 256, 4999] {
                let mut stream = DigestStream::new(A);
                bytes[..length].chunks(piece).for_each(|piece| stream.push(piece));
                assert_eq!(stream.finish(), Digest::of(A, &bytes[..length]), "{length} by {piece}");
            }
        }
    }

    #[test]
    fn domains_keep_equal_bytes_apart() {
        assert_ne!(Digest::of(A, b"x"), Digest::of(B, b"x"));
    }

    #[test]
    fn the_algorithm_is_pinned() {
        // Changing this value means that every recorded outcome is lost: raise FINGERPRINT_VERSION with it.
        let digest = DigestBuilder::new(Domain::new("pin")).text("fewer").number(1).finish();
        assert_eq!(digest.to_string(), "45893e5a554fa8b4099bcc9a8a4bd0c9");
    }

    #[test]
    fn moving_bytes_between_parts_changes_the_digest() {
        let left = DigestBuilder::new(A).text("ab").text("c").finish();
        let right = DigestBuilder::new(A).text("a").text("bc").finish();
        assert_ne!(left, right);
    }

    #[test]
    fn a_set_ignores_order_and_repetition() {
        let (x, y) = (Digest(1), Digest(2));
        let left = DigestBuilder::new(A).set(&mut vec![x, y, x]).finish();
        let right = DigestBuilder::new(A).set(&mut vec![y, x]).finish();
        assert_eq!(left, right);
    }

    #[test]
    fn text_and_bytes_forms_round_trip() {
        let digest = Digest::of(A, b"round");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert_eq!(Digest::from_bytes(digest.to_bytes()), digest);
    }
}
