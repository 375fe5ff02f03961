//! Seeded draws. The generator is written out because a seed must give the same history and the same order on every
//! machine and with every version of every library.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    /// Draws that depend on all of the numbers.
    pub fn new(seeds: &[u64]) -> Draws {
        let mut draws = Draws(0x5EED);
        for &seed in seeds {
            draws = Draws(draws.next() ^ seed);
        }
        draws
    }

    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Less than `bound`, which is not 0. The bias is below 2^-32 for the bounds met here.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// From 0 up to, but not, 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn happens(&mut self, chance: f64) -> bool {
        self.unit() < chance
    }
}
