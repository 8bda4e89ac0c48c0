//! Random numbers whose sequence never changes: a seed that produced a finding must reproduce it with every later version.
//!
//! The generator is a published one with a fixed definition. Ranges and probabilities are implemented here, because those of
//! libraries may change from version to version.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A source of random numbers.
#[derive(Debug, Clone)]
pub struct Random {
    generator: Pcg64Mcg,
}

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self { generator: Pcg64Mcg::seed_from_u64(seed) }
    }

    /// A uniformly distributed number below `bound`; 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        if bound <= 1 {
            return 0;
        }
        // Numbers above the last full multiple of the bound are rejected, because they would make small results likelier.
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let number = self.generator.next_u64();
            if number < limit {
                return (number % bound) as usize;
            }
        }
    }

    /// True with this probability, in millionths.
    pub fn chance(&mut self, per_million: u32) -> bool {
        self.below(1_000_000) < per_million as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_never_change() {
        let mut random = Random::new(7);
        let drawn: Vec<usize> = (0..12).map(|_| random.below(100)).collect();
        assert_eq!(drawn, SEVEN);
    }

    const SEVEN: [usize; 12] = [30, 58, 19, 68, 35, 2, 42, 45, 55, 86, 22, 60];

    #[test]
    fn numbers_are_distributed_uniformly() {
        let mut random = Random::new(1);
        let mut counts = [0; 3];
        for _ in 0..30_000 {
            counts[random.below(3)] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        let hits = (0..10_000).filter(|_| random.chance(250_000)).count();
        assert!((2_300..2_700).contains(&hits), "{hits}");
        assert!(!random.chance(0) && random.chance(1_000_000));
    }
}
