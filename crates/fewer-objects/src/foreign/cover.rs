//! In which stretches of addresses something lies. What that is, is not told here.

use std::ops::Range;

/// In which stretches of addresses there is something: most other addresses are told from theirs by this.
pub(super) struct Cover {
    low: u64,
    /// A stretch has this power of two of addresses.
    stretch: u32,
    is_covered: Vec<bool>,
}

impl Cover {
    /// Of things with their sizes.
    pub(super) fn of(addresses: &Range<u64>, things: impl Iterator<Item = (u64, u32)>) -> Cover {
        const MOST_STRETCHES: u64 = 1 << 16;
        const LEAST: u32 = 6;
        let span = addresses.end - addresses.start;
        let stretch = (u64::BITS - (span / MOST_STRETCHES).leading_zeros()).max(LEAST);
        let is_covered = vec![false; (span >> stretch) as usize + 1];
        let mut cover = Cover { low: addresses.start, stretch, is_covered };
        for (start, size) in things {
            let end = start.saturating_add(u64::from(size.max(1)));
            let within = start.max(addresses.start)..end.min(addresses.end);
            if !within.is_empty() {
                let stretches = cover.stretch_of(within.start)..=cover.stretch_of(within.end - 1);
                cover.is_covered[stretches].fill(true);
            }
        }
        cover
    }

    #[inline]
    pub(super) fn may_hold_any(&self, addresses: Range<u64>) -> bool {
        if addresses.is_empty() || addresses.end <= self.low {
            return false;
        }
        let first = self.stretch_of(addresses.start.max(self.low));
        let count = self.stretch_of(addresses.end - 1) - first + 1;
        self.is_covered.iter().skip(first).take(count).any(|is_covered| *is_covered)
    }

    fn stretch_of(&self, address: u64) -> usize {
        (address.wrapping_sub(self.low) >> self.stretch) as usize
    }

    #[inline]
    pub(super) fn may_hold(&self, address: u64) -> bool {
        self.is_covered.get(self.stretch_of(address)).is_none_or(|is_covered| *is_covered)
    }
}
