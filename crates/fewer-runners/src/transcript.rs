//! Captured output in bounded memory: the beginning and the end are kept, the middle is counted. It knows nothing
//! of tests.

use std::collections::VecDeque;

/// The head and the tail of a stream of bytes.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    left_out: u64,
}

impl Transcript {
    pub(crate) fn new(head_limit: usize, tail_limit: usize) -> Transcript {
        Transcript { head: Vec::new(), tail: VecDeque::new(), head_limit, tail_limit, left_out: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let to_head = bytes.len().min(self.head_limit - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        let rest = &bytes[to_head..];
        let beyond = rest.len().saturating_sub(self.tail_limit);
        self.left_out += beyond as u64;
        let rest = &rest[beyond..];
        let room = self.tail_limit - self.tail.len();
        if rest.len() > room {
            let surplus = rest.len() - room;
            self.tail.drain(..surplus);
            self.left_out += surplus as u64;
        }
        self.tail.extend(rest);
    }

    /// Keeps at most `limit` bytes, the last ones.
    pub(crate) fn shrink_to(&mut self, limit: usize) {
        if self.head.len() + self.tail.len() <= limit {
            return;
        }
        let mut kept = Transcript::new(0, limit);
        kept.left_out = self.left_out;
        kept.push(&self.head);
        let (front, back) = self.tail.as_slices();
        kept.push(front);
        kept.push(back);
        kept.tail.shrink_to_fit();
        *self = kept;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// Readable text; what was left out is said where it is missing. Bytes that are not UTF-8 are replaced.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out > 0 {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&format!("[... {} bytes left out ...]\n", self.left_out));
        }
        text.push_str(&String::from_utf8_lossy(&tail));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_kept_whole() {
        let mut transcript = Transcript::new(4, 4);
        transcript.push(b"ab");
        transcript.push(b"cdefgh");
        assert_eq!(transcript.text(), "abcdefgh");
    }

    #[test]
    fn long_output_keeps_its_two_ends_however_it_is_cut_into_chunks() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| b'a' + (i % 26) as u8).collect();
        let mut whole = Transcript::new(3, 5);
        whole.push(&bytes);
        for size in [1, 2, 3, 5, 7, 64, 999] {
            let mut pieces = Transcript::new(3, 5);
            bytes.chunks(size).for_each(|chunk| pieces.push(chunk));
            assert_eq!(pieces.text(), whole.text(), "chunks of {size}");
        }
        assert_eq!(whole.text(), "abc\n[... 992 bytes left out ...]\nhijkl");
    }

    #[test]
    fn shrinking_counts_what_it_drops() {
        let mut transcript = Transcript::new(4, 4);
        transcript.push(b"abcdefgh");
        transcript.shrink_to(3);
        assert_eq!(transcript.text(), "[... 5 bytes left out ...]\nfgh");
    }
}
