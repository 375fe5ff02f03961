//! Many texts in a row, written as what differs from an earlier one with the same start: symbols of C++ repeat
//! long scopes. What the texts mean, and where one ends and the next begins, is told by whoever keeps them.

use xxhash_rust::xxh3::xxh3_64;

use crate::encoding::{Reader, Writer};

/// How many bytes of a text may be taken from an earlier one.
const MOST_SHARED: usize = 255;
/// A text is looked up by starts of these lengths, the longest first.
const LENGTHS: [usize; 2] = [64, 24];
/// How many times its own size a stored form may grow when read, so that a damaged one cannot ask for much memory.
const MOST_GROWTH: usize = 64;
const NONE: u32 = u32::MAX;

/// Texts that were read: one after the other, with the start of each and the end of the last.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) text: Vec<u8>,
    pub(crate) bounds: Vec<u32>,
}

pub(crate) fn write_texts(out: &mut Writer, texts: &[&[u8]]) {
    out.word(texts.len() as u32);
    let mut starts = Starts::with_room(texts.len());
    for (index, text) in texts.iter().enumerate() {
        let slots = starts.slots_of(text);
        let (model, shared) = starts.model(texts, index, slots);
        out.0.push(shared as u8);
        if shared > 0 {
            out.number((index - model) as u32);
        }
        out.number((text.len() - shared) as u32);
        out.0.extend_from_slice(&text[shared..]);
        starts.add(slots, index);
    }
}

/// The inverse of [`write_texts`]; `None` for damaged bytes.
pub(crate) fn read_texts(input: &mut Reader<'_>) -> Option<Texts> {
    let count = input.word()? as usize;
    // Two bytes are the least that a text takes.
    if count.checked_mul(2)? > input.0.len() {
        return None;
    }
    let most = input.0.len().checked_mul(MOST_GROWTH)?.min(u32::MAX as usize);
    let mut texts = Texts { text: Vec::with_capacity(input.0.len()), bounds: Vec::with_capacity(count + 1) };
    texts.bounds.push(0);
    for index in 0..count {
        let shared = usize::from(*input.take(1)?.first()?);
        if shared > 0 {
            let distance = input.number()? as usize;
            let model = index.checked_sub(distance).filter(|&model| model < index)?;
            let (start, end) = (texts.bounds[model] as usize, texts.bounds[model + 1] as usize);
            if shared > end - start {
                return None;
            }
            texts.text.extend_from_within(start..start + shared);
        }
        let rest = input.number()? as usize;
        texts.text.extend_from_slice(input.take(rest)?);
        if texts.text.len() > most {
            return None;
        }
        texts.bounds.push(texts.text.len() as u32);
    }
    Some(texts)
}

/// The latest text with each start, by a hash of the start: a text that another has displaced is not found.
struct Starts {
    /// Per length and slot.
    latest: [Vec<u32>; LENGTHS.len()],
    mask: usize,
}

type Slots = [Option<usize>; LENGTHS.len()];

impl Starts {
    fn with_room(count: usize) -> Starts {
        let slots = count.next_power_of_two();
        Starts { latest: LENGTHS.map(|_| vec![NONE; slots]), mask: slots - 1 }
    }

    /// Where texts with the same starts are; `None` for a length that the text does not have.
    fn slots_of(&self, text: &[u8]) -> Slots {
        LENGTHS.map(|length| text.get(..length).map(|start| xxh3_64(start) as usize & self.mask))
    }

    /// The earlier text that shares most, of the few that are tried; and how many bytes it shares.
    fn model(&self, texts: &[&[u8]], index: usize, slots: Slots) -> (usize, usize) {
        let shared_with = |model: usize| shared_start(texts[model], texts[index]).min(MOST_SHARED);
        let mut best = index.checked_sub(1).map_or((0, 0), |last| (last, shared_with(last)));
        for ((latest, slot), length) in self.latest.iter().zip(slots).zip(LENGTHS) {
            if best.1 >= length {
                break;
            }
            let found = slot.map(|slot| latest[slot]).filter(|&model| model != NONE);
            if let Some(model) = found.map(|model| model as usize) {
                let shared = shared_with(model);
                best = if shared > best.1 { (model, shared) } else { best };
            }
        }
        best
    }

    fn add(&mut self, slots: Slots, index: usize) {
        for (latest, slot) in self.latest.iter_mut().zip(slots) {
            if let Some(slot) = slot {
                latest[slot] = index as u32;
            }
        }
    }
}

/// How many bytes two texts have in common at their start.
fn shared_start(a: &[u8], b: &[u8]) -> usize {
    const WORD: usize = 8;
    let words = a.chunks_exact(WORD).zip(b.chunks_exact(WORD));
    let equal = words.take_while(|(a, b)| a == b).count() * WORD;
    equal + a[equal..].iter().zip(&b[equal..]).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(texts: &[&[u8]]) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        write_texts(&mut out, texts);
        out.0
    }

    #[test]
    fn texts_with_an_earlier_start_cost_little_more_than_their_ends() {
        let scope = |kind: &str| format!("_ZN{}E", format!("9namespace{kind}").repeat(12));
        let names: Vec<String> =
            (0..200).map(|index| format!("{}{index:03}", scope(["1A", "1B", "1C"][index % 3]))).collect();
        let texts: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
        let bytes = written(&texts);
        assert!(bytes.len() < 200 * 12 + 3 * 150, "{} bytes", bytes.len());
        assert_eq!(read_texts(&mut Reader(&bytes)).unwrap().text, names.concat().as_bytes());
    }

    #[test]
    fn many_long_texts_that_differ_in_their_last_bytes_are_read_again() {
        let names: Vec<String> = (0..3_000).map(|index| format!("{}{index:02x}", "s".repeat(253))).collect();
        let texts: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
        let bytes = written(&texts);
        assert!(bytes.len() * 32 < names.concat().len(), "{} bytes", bytes.len());
        assert_eq!(read_texts(&mut Reader(&bytes)).unwrap().text, names.concat().as_bytes());
    }

    #[test]
    fn a_text_that_refers_to_none_or_takes_too_much_is_refused() {
        let refused = |bytes: &[u8]| assert!(read_texts(&mut Reader(bytes)).is_none(), "{bytes:?}");
        refused(&[1, 0, 0, 0, 3, 1, 0]);
        refused(&[2, 0, 0, 0, 0, 1, b'a', 3, 1, 0]);
        refused(&[2, 0, 0, 0, 0, 1, b'a', 1, 0, 0]);
        refused(&[255, 255, 255, 255, 0, 0]);
        refused(&[1, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255]);
        let mut greedy = written(&[&[b'x'; 255]]);
        greedy[0..4].copy_from_slice(&100_001_u32.to_le_bytes());
        greedy.extend([255, 1, 0].repeat(100_000));
        refused(&greedy);
    }

    proptest! {
        #[test]
        fn a_shared_start_ends_at_the_first_difference(
            start in proptest::collection::vec(0u8..3, 0..40),
            a in proptest::collection::vec(0u8..3, 0..20),
            b in proptest::collection::vec(0u8..3, 0..20),
        ) {
            let (a, b) = ([&start[..], &a].concat(), [&start[..], &b].concat());
            let expected = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(shared_start(&a, &b), expected);
        }

        #[test]
        fn any_texts_are_the_same_after_writing_and_reading(
            names in proptest::collection::vec("(abcdefgh){0,40}[a-c]{0,30}|[ -~]{0,10}", 0..60)
        ) {
            let texts: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
            let bytes = written(&texts);
            let mut input = Reader(&bytes);
            let read = read_texts(&mut input).unwrap();
            prop_assert!(input.0.is_empty());
            let parts = read.bounds.windows(2).map(|ends| &read.text[ends[0] as usize..ends[1] as usize]);
            prop_assert_eq!(parts.collect::<Vec<_>>(), texts);
            prop_assert!((0..bytes.len()).all(|end| read_texts(&mut Reader(&bytes[..end])).is_none()));
        }
    }
}
