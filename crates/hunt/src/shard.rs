//! Divides the seeds of a hunt among several machines.
//!
//! Shard I of N has the seeds S+i with i mod N = I-1, so that shards differ by one run at most, together have exactly the seeds of the
//! whole hunt, and need no communication.

use std::{fmt, str::FromStr};

/// A part of the seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which of the shards, from 0 on.
    position: u64,
    /// How many shards there are, at least one.
    all: u64,
}

impl Shard {
    /// All seeds.
    pub const WHOLE: Shard = Shard { position: 0, all: 1 };

    /// Shard number `position`, from 0 on, of so many.
    pub fn new(position: u64, all: u64) -> Option<Self> {
        (position < all).then_some(Shard { position, all })
    }

    /// How many of so many runs belong to the shard.
    pub fn runs(self, of: u64) -> u64 {
        of.saturating_sub(self.position).div_ceil(self.all)
    }

    /// The seed of the shard's run number `run`, counted from 0, in a hunt whose seeds begin with `first`.
    pub fn seed(self, first: u64, run: u64) -> u64 {
        first + self.position + run * self.all
    }

    /// The distance from one of its seeds to the next.
    pub fn step(self) -> u64 {
        self.all
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.position + 1, self.all)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse::<u64>().ok();
        text.split_once('/')
            .and_then(|(index, all)| Shard::new(number(index)?.checked_sub(1)?, number(all)?))
            .ok_or("write it as I/N with I from 1 to N, as in --shard 2/4")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str, expected: Option<(u64, u64)>) {
        let shard = text.parse::<Shard>().ok();
        assert_eq!(shard.map(|shard| (shard.position, shard.all)), expected, "{text}");
        assert!(shard.is_none_or(|shard| shard.to_string() == text), "{text}");
    }

    fn check_split(first: u64, runs: u64, all: u64) {
        let shards = (0..all).map(|position| Shard::new(position, all).unwrap());
        let sizes: Vec<u64> = shards.clone().map(|shard| shard.runs(runs)).collect();
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(most - least <= 1, "{sizes:?}");
        let mut seeds: Vec<u64> =
            shards.flat_map(|shard| (0..shard.runs(runs)).map(move |run| shard.seed(first, run))).collect();
        seeds.sort_unstable();
        assert_eq!(seeds, (first..first + runs).collect::<Vec<_>>(), "{runs} runs in {all} shards");
    }

    #[test]
    fn shards_are_written_with_a_slash() {
        check_text("1/1", Some((0, 1)));
        check_text("4/4", Some((3, 4)));
        for nonsense in ["", "1", "/", "0/4", "5/4", "1/0", "0/0", "-1/4", "1/4/2", "a/b", "1 / 2", "1.5/2"] {
            check_text(nonsense, None);
        }
    }

    #[test]
    fn shards_have_exactly_the_seeds_of_the_whole() {
        for (runs, all) in [(1, 1), (64, 1), (64, 2), (64, 3), (7, 5), (2, 4), (100, 99)] {
            check_split(1, runs, all);
            check_split(u64::MAX - runs, runs, all);
        }
        let last = "18446744073709551615/18446744073709551615".parse::<Shard>().unwrap();
        assert_eq!((last.runs(64), last.runs(u64::MAX)), (0, 1));
    }
}
