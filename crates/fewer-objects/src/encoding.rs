//! The bytes of what is kept: numbers, digests and texts one after the other, and a digest of all. What the parts mean is
//! told by whoever keeps them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use fewer_core::{Digest, Domain};

/// Bytes that were kept, where they lie.
pub type KeptBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Digests where they were kept: they are many, and copying them takes memory.
#[derive(Clone)]
pub struct Digests {
    bytes: KeptBytes,
    range: Range<usize>,
}

impl Digests {
    pub fn as_bytes(&self) -> &[[u8; 16]] {
        let (digests, _) = (*self.bytes).as_ref()[self.range.clone()].as_chunks();
        digests
    }

    pub fn iter(&self) -> impl Iterator<Item = Digest> {
        self.as_bytes().iter().map(|digest| Digest::from_bytes(*digest))
    }
}

impl FromIterator<Digest> for Digests {
    fn from_iter<T: IntoIterator<Item = Digest>>(digests: T) -> Digests {
        let bytes: Vec<u8> = digests.into_iter().flat_map(Digest::to_bytes).collect();
        Digests { range: 0..bytes.len(), bytes: Arc::new(bytes) }
    }
}

impl Default for Digests {
    fn default() -> Digests {
        [].into_iter().collect()
    }
}

impl PartialEq for Digests {
    fn eq(&self, other: &Digests) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl fmt::Debug for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Little-endian output.
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn word(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn long(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Seven bits per byte, the lowest first; the high bit says that more follow.
    pub(crate) fn number(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(crate) fn digest(&mut self, digest: Digest) {
        self.0.extend_from_slice(&digest.to_bytes());
    }

    /// A counted list of them.
    pub(crate) fn digests(&mut self, digests: &Digests) {
        self.word(digests.as_bytes().len() as u32);
        self.0.extend_from_slice(digests.as_bytes().as_flattened());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u32);
        self.0.extend_from_slice(bytes);
    }

    /// A number that is mostly near another one, which the reader knows.
    pub(crate) fn step(&mut self, from: u32, to: u32) {
        let difference = to.wrapping_sub(from) as i32;
        self.number((difference << 1 ^ difference >> 31) as u32);
    }

    /// Numbers that are mostly near the one before; the first near one that the reader knows.
    pub(crate) fn steps(&mut self, mut last: u32, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            self.step(last, number);
            last = number;
        }
    }

    /// A counted list of them.
    pub(crate) fn counted_steps(&mut self, numbers: impl ExactSizeIterator<Item = u32>) {
        self.word(numbers.len() as u32);
        self.steps(0, numbers);
    }

    /// All that was written, with its digest behind it: damaged bytes are then refused. The digest serves as a key too.
    pub(crate) fn sealed(mut self, domain: Domain) -> (Digest, Vec<u8>) {
        let digest = Digest::of(domain, &self.0);
        self.digest(digest);
        (digest, self.0)
    }
}

/// Checked little-endian input.
pub(crate) struct Reader<'d>(pub(crate) &'d [u8]);

impl<'d> Reader<'d> {
    /// The inverse of [`Writer::sealed`]; `None` for bytes that are not as they were written.
    pub(crate) fn unsealed(domain: Domain, bytes: &'d [u8]) -> Option<Reader<'d>> {
        let (body, digest) = bytes.split_last_chunk::<16>()?;
        (Digest::from_bytes(*digest) == Digest::of(domain, body)).then_some(Reader(body))
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'d [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(crate) fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Option<u32> {
        const BITS: usize = 7;
        // Most are small.
        if let [byte @ ..0x80, rest @ ..] = self.0 {
            self.0 = rest;
            return Some(u32::from(*byte));
        }
        let mut value = 0;
        for (place, &byte) in self.0.iter().enumerate().take(u32::BITS as usize / BITS + 1) {
            let bits = u32::from(byte & 0x7f);
            let moved = bits << (BITS * place);
            if moved >> (BITS * place) != bits {
                return None;
            }
            value |= moved;
            if byte < 0x80 {
                self.0 = &self.0[place + 1..];
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn digest(&mut self) -> Option<Digest> {
        Some(Digest::from_bytes(self.take(16)?.try_into().ok()?))
    }

    /// The inverse of [`Writer::digests`], of the kept bytes that are read.
    pub(crate) fn digests(&mut self, kept: &KeptBytes) -> Option<Digests> {
        let count = self.word()? as usize;
        let digests = self.take(count.checked_mul(16)?)?;
        let start = digests.as_ptr() as usize - (**kept).as_ref().as_ptr() as usize;
        Some(Digests { bytes: kept.clone(), range: start..start + digests.len() })
    }

    pub(crate) fn bytes(&mut self) -> Option<&'d [u8]> {
        let length = self.word()? as usize;
        self.take(length)
    }

    /// The inverse of [`Writer::step`].
    pub(crate) fn step(&mut self, from: u32) -> Option<u32> {
        let folded = self.number()?;
        Some(from.wrapping_add(folded >> 1 ^ (folded & 1).wrapping_neg()))
    }

    /// The inverse of [`Writer::steps`]: so many numbers, added to a list.
    pub(crate) fn steps(&mut self, mut last: u32, count: usize, numbers: &mut Vec<u32>) -> Option<()> {
        // Each takes a byte at least.
        if count > self.0.len() {
            return None;
        }
        numbers.reserve(count);
        for _ in 0..count {
            last = self.step(last)?;
            numbers.push(last);
        }
        Some(())
    }

    /// A counted list of them.
    pub(crate) fn counted_steps(&mut self) -> Option<Vec<u32>> {
        let count = self.word()? as usize;
        let mut numbers = Vec::new();
        self.steps(0, count, &mut numbers)?;
        Some(numbers)
    }

    /// A counted list; the count is checked against the bytes left, so that a damaged one cannot ask for much.
    pub(crate) fn list<T>(
        &mut self,
        least_size: usize,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.word()? as usize;
        if count.checked_mul(least_size)? > self.0.len() {
            return None;
        }
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(item(self)?);
        }
        Some(list)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_that_is_cut_short_or_too_large_is_refused() {
        for bytes in
            [&[][..], &[0x80], &[0xff, 0xff, 0xff, 0xff], &[0xff, 0xff, 0xff, 0xff, 0x10], &[0x80; 6]]
        {
            assert_eq!(Reader(bytes).number(), None, "{bytes:?}");
        }
        assert_eq!(Reader(&[0xff, 0xff, 0xff, 0xff, 0x0f]).number(), Some(u32::MAX));
    }

    proptest! {
        #[test]
        fn numbers_and_steps_are_the_same_after_writing_and_reading(
            number in any::<u32>(),
            from in any::<u32>(),
            numbers in prop::collection::vec(any::<u32>(), 0..9),
        ) {
            let mut out = Writer(Vec::new());
            out.number(number);
            out.steps(from, numbers.iter().copied());
            out.counted_steps(numbers.iter().copied());
            let mut input = Reader(&out.0);
            prop_assert_eq!(input.number(), Some(number));
            let mut read = vec![7];
            prop_assert_eq!(input.steps(from, numbers.len(), &mut read), Some(()));
            prop_assert_eq!(&read[1..], &numbers[..]);
            prop_assert_eq!(input.counted_steps(), Some(numbers));
            prop_assert!(input.0.is_empty());
        }

        #[test]
        fn what_was_sealed_is_refused_with_any_bit_changed(
            bytes in prop::collection::vec(any::<u8>(), 0..40), bit in any::<usize>(),
        ) {
            const SEALED: Domain = Domain::new("sealed");
            let (_, mut sealed) = Writer(bytes.clone()).sealed(SEALED);
            prop_assert_eq!(Reader::unsealed(SEALED, &sealed).map(|input| input.0), Some(&bytes[..]));
            let bit = bit % (sealed.len() * 8);
            sealed[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Reader::unsealed(SEALED, &sealed).is_none());
        }
    }
}
