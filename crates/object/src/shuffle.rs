//! The order in which harnesses are tried: shuffled, because neighbours in the enumeration are alike, and decided by a seed, so that a
//! search can be repeated.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use rustc_hash::FxHashSet;

/// Up to this many indices are shuffled as a list; of more, random ones are drawn.
const LIST: usize = 1 << 20;

/// Gives every index below `length` once, in an order that the seed decides.
#[derive(Debug)]
pub struct Shuffled {
    generator: Pcg64Mcg,
    length: usize,
    given: usize,
    list: Vec<u32>,
    drawn: FxHashSet<usize>,
}

impl Shuffled {
    /// The indices below `length` in the order of this seed.
    pub fn new(length: usize, seed: u64) -> Self {
        let list = if length <= LIST { (0..length as u32).collect() } else { Vec::new() };
        Shuffled {
            generator: Pcg64Mcg::new(u128::from(seed)),
            length,
            given: 0,
            list,
            drawn: FxHashSet::default(),
        }
    }

    /// A number below `bound`, all equally likely.
    fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let number = self.generator.next_u64();
            if number < limit {
                return (number % bound) as usize;
            }
        }
    }
}

impl Iterator for Shuffled {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.given == self.length {
            return None;
        }
        let at = self.given;
        self.given += 1;
        if !self.list.is_empty() {
            let chosen = at + self.below(self.length - at);
            self.list.swap(at, chosen);
            return Some(self.list[at] as usize);
        }
        // So few of so many indices are drawn that repetitions are rare.
        loop {
            let index = self.below(self.length);
            if self.drawn.insert(index) {
                return Some(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_comes_once_and_the_seed_decides_when() {
        let first: Vec<usize> = Shuffled::new(1000, 7).collect();
        let again: Vec<usize> = Shuffled::new(1000, 7).collect();
        let other: Vec<usize> = Shuffled::new(1000, 8).collect();
        assert_eq!(first, again);
        assert_ne!(first, other);
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
        assert_ne!(first, sorted);
        assert_eq!(Shuffled::new(0, 7).next(), None);
    }

    #[test]
    fn indices_of_a_large_range_are_different() {
        let drawn: Vec<usize> = Shuffled::new(1 << 40, 7).take(1000).collect();
        assert_eq!(drawn.iter().collect::<FxHashSet<_>>().len(), 1000);
        assert!(drawn.iter().any(|&index| index > 1 << 39));
    }
}
