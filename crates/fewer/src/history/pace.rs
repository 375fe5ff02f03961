//! How much of a long work is done between two looks at Ctrl-C: a few seconds' worth, however fast the machine is.
//! Less would cost: a git that is started anew reads the history anew.

use std::time::{Duration, Instant};

const SMALLEST: usize = 64;
const LARGEST: usize = 2048;

/// Sizes of batches.
pub struct Pace {
    size: usize,
    started: Option<Instant>,
}

impl Pace {
    pub fn new() -> Pace {
        Pace { size: 2 * SMALLEST, started: None }
    }

    /// The next batch of what is left; the one before is over.
    pub fn next<'w, T>(&mut self, left: &mut &'w [T]) -> Option<&'w [T]> {
        if let Some(started) = self.started.replace(Instant::now()) {
            self.adapt(started.elapsed());
        }
        let (batch, rest) = left.split_at(self.size.min(left.len()));
        *left = rest;
        (!batch.is_empty()).then_some(batch)
    }

    fn adapt(&mut self, took: Duration) {
        self.size = match took.as_millis() {
            0..1500 => (2 * self.size).min(LARGEST),
            1500..6000 => self.size,
            6000.. => (self.size / 2).max(SMALLEST),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_while_they_are_quick_and_shrink_when_they_are_slow() {
        let mut pace = Pace::new();
        for (took, size) in
            [(100, 256), (3000, 256), (100, 512), (9000, 256), (9000, 128), (9000, 64), (9000, 64)]
        {
            pace.adapt(Duration::from_millis(took));
            assert_eq!(pace.size, size);
        }
    }

    #[test]
    fn everything_gets_its_turn_once() {
        let work: Vec<u32> = (0..500).collect();
        let (mut pace, mut left, mut seen) = (Pace::new(), &work[..], Vec::new());
        while let Some(batch) = pace.next(&mut left) {
            seen.extend_from_slice(batch);
        }
        assert_eq!(seen, work);
    }
}
