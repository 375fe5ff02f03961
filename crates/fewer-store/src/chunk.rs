//! Long sorted lists as chunks by digest, so that two lists which differ in a few entries share all but a few
//! chunks. A chunk ends where the name of its last entry says so: an entry added or gone moves no later border.
//! What the lists mean is told by the states.

use fewer_core::{Digest, Domain};

const CHUNK: Domain = Domain::new("store.chunk");
const BORDER: Domain = Domain::new("store.border");

/// One name in this many ends a chunk.
const MEAN_ENTRIES: u128 = 32;
const MOST_ENTRIES: usize = 128;
const FORMAT: u8 = 1;

/// Two names and a digest: a test with its fingerprint, or a blob's kind and name with its key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entry {
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) digest: Digest,
}

/// Some consecutive entries, encoded.
pub(crate) struct Chunk {
    /// The same on every machine.
    pub(crate) digest: Digest,
    pub(crate) content: Vec<u8>,
}

/// The chunks of a list, in order.
pub(crate) fn split(entries: &[Entry]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut start = 0;
    for end in 1..=entries.len() {
        if end == entries.len() || end - start == MOST_ENTRIES || is_border(&entries[end - 1]) {
            let content = encode(&entries[start..end]);
            chunks.push(Chunk { digest: Digest::of(CHUNK, &content), content });
            start = end;
        }
    }
    chunks
}

/// The entries of one chunk; `None` where the content was not written by [`split`].
pub(crate) fn decode(content: &[u8]) -> Option<Vec<Entry>> {
    let (&FORMAT, mut rest) = content.split_first()? else { return None };
    let mut entries: Vec<Entry> = Vec::new();
    while !rest.is_empty() {
        let (group, name) =
            entries.last().map_or(("", ""), |entry| (entry.group.as_str(), entry.name.as_str()));
        let group = take_text(&mut rest, group)?;
        let name = take_text(&mut rest, name)?;
        let (digest, after) = rest.split_first_chunk::<16>()?;
        rest = after;
        entries.push(Entry { group, name, digest: Digest::from_bytes(*digest) });
    }
    Some(entries)
}

fn is_border(entry: &Entry) -> bool {
    let name = format!("{}\0{}", entry.group, entry.name);
    Digest::of(BORDER, name.as_bytes()).0.is_multiple_of(MEAN_ENTRIES)
}

fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut content = vec![FORMAT];
    let (mut group, mut name) = ("", "");
    for entry in entries {
        put_text(&mut content, group, &entry.group);
        put_text(&mut content, name, &entry.name);
        content.extend_from_slice(&entry.digest.to_bytes());
        (group, name) = (&entry.group, &entry.name);
    }
    content
}

/// A text as the number of bytes it shares with the one before, and the rest.
fn put_text(content: &mut Vec<u8>, before: &str, text: &str) {
    let shared = before.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
    put_number(content, shared);
    put_number(content, text.len() - shared);
    content.extend_from_slice(&text.as_bytes()[shared..]);
}

fn take_text(rest: &mut &[u8], before: &str) -> Option<String> {
    let shared = take_number(rest)?;
    let length = take_number(rest)?;
    let (own, after) = rest.split_at_checked(length)?;
    *rest = after;
    let mut text = before.as_bytes().get(..shared)?.to_vec();
    text.extend_from_slice(own);
    String::from_utf8(text).ok()
}

/// Seven bits per byte, the lowest first; the high bit says that more follow.
fn put_number(content: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        content.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    content.push(number as u8);
}

fn take_number(rest: &mut &[u8]) -> Option<usize> {
    let mut number = 0_usize;
    for shift in (0..35).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn entries(count: usize) -> Vec<Entry> {
        (0..count)
            .map(|index| Entry {
                group: format!("tests/target_{}", index / 100),
                name: format!("Suite.Test{index:06}"),
                digest: Digest(index as u128),
            })
            .collect()
    }

    fn keys(entries: &[Entry]) -> BTreeSet<Digest> {
        split(entries).into_iter().map(|chunk| chunk.digest).collect()
    }

    fn joined(chunks: &[Chunk]) -> Vec<Entry> {
        chunks.iter().flat_map(|chunk| decode(&chunk.content).expect("was written by split")).collect()
    }

    #[test]
    fn one_change_costs_one_chunk_and_one_insertion_at_most_two() {
        let before = entries(10_000);
        let all = keys(&before);
        assert!((200..500).contains(&all.len()), "{} chunks", all.len());

        let mut changed = before.clone();
        changed[5_000].digest = Digest(u128::MAX);
        assert_eq!(keys(&changed).difference(&all).count(), 1);

        let mut inserted = before.clone();
        inserted.insert(5_000, Entry { name: "Suite.Test004999x".into(), ..before[4_999].clone() });
        assert!(keys(&inserted).difference(&all).count() <= 2);

        let mut removed = before.clone();
        removed.remove(5_000);
        assert!(keys(&removed).difference(&all).count() <= 2);
    }

    #[test]
    fn neighbours_share_their_names() {
        let before = entries(10_000);
        let bytes: usize = split(&before).iter().map(|chunk| chunk.content.len()).sum();
        assert!(bytes < 10_000 * 26, "{bytes} bytes for 10,000 tests");
    }

    #[test]
    fn an_empty_list_has_no_chunk() {
        assert!(split(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn any_list_is_the_same_after_splitting_and_joining(
            list in prop::collection::vec((".{0,8}", "\\PC{0,40}|(é|è|a){0,200}", any::<u128>()), 0..300)
        ) {
            let list: Vec<Entry> = list
                .into_iter()
                .map(|(group, name, digest)| Entry { group, name, digest: Digest(digest) })
                .collect();
            prop_assert_eq!(joined(&split(&list)), list);
        }

        #[test]
        fn foreign_bytes_are_refused_or_read_but_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut content = vec![FORMAT];
            content.extend(bytes);
            if let Some(entries) = decode(&content) {
                prop_assert!(entries.len() <= content.len() / 16);
            }
        }
    }
}
