//! Pairs of sites whose accesses may race: the candidates of RaceFuzzer.
//!
//! Papers: K. Sen, "Race Directed Random Testing of Concurrent Programs", PLDI 2008; the prediction is the hybrid one of R. O'Callahan
//! and J.-D. Choi, PPoPP 2003.
//!
//! Kept: two accesses of different threads to one location, at least one of them a write, may race if they hold no common lock and
//! the [relaxed order](crate::relaxed) does not order them. Deviation: a bounded number of different accesses is kept per location,
//! and [`Racing::cut`] counts the omitted ones.

use fissure_model::{
    event::AccessKind,
    ids::{LocationId, SiteId, ThreadId},
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::relaxed::{Relaxed, Stamp};

/// How many different accesses are kept per location.
const ACCESSES: usize = 64;
/// How many locations are kept.
const LOCATIONS: usize = 200_000;
/// How many pairs are reported.
const PAIRS: usize = 1_000;

/// Two sites whose accesses may race, in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RacingPair {
    /// The sites.
    pub sites: [SiteId; 2],
    /// The kinds of the accesses.
    pub kinds: [AccessKind; 2],
    /// The threads that made the accesses.
    pub threads: [ThreadId; 2],
    /// The first location on which the pair was observed.
    pub location: LocationId,
}

/// Finds pairs of accesses that may race.
#[derive(Debug, Default)]
pub struct Racing {
    locations: FxHashMap<LocationId, Vec<Known>>,
    pairs: Vec<RacingPair>,
    known: FxHashSet<[(SiteId, AccessKind); 2]>,
    cut: u64,
}

#[derive(Debug)]
struct Known {
    thread: ThreadId,
    kind: AccessKind,
    site: SiteId,
    stamp: Stamp,
}

impl Racing {
    /// A thread accesses a location.
    pub fn access(
        &mut self,
        relaxed: &Relaxed,
        thread: ThreadId,
        location: LocationId,
        kind: AccessKind,
        site: SiteId,
        stamp: &Stamp,
    ) {
        if self.locations.len() >= LOCATIONS && !self.locations.contains_key(&location) {
            self.cut += 1;
            return;
        }
        let accesses = self.locations.entry(location).or_default();
        let is_known = |known: &Known| {
            (known.thread, known.kind, known.site, known.stamp.segment) == (thread, kind, site, stamp.segment)
                && known.stamp.locks.len() == stamp.locks.len()
                && known
                    .stamp
                    .locks
                    .iter()
                    .zip(&*stamp.locks)
                    .all(|(a, b)| (a.lock, a.mode) == (b.lock, b.mode))
        };
        if accesses.iter().any(is_known) {
            return;
        }
        for other in accesses.iter() {
            let races = other.thread != thread
                && (other.kind == AccessKind::Write || kind == AccessKind::Write)
                && !relaxed.is_before(other.stamp.segment, stamp.segment)
                && !stamp
                    .locks
                    .iter()
                    .any(|held| other.stamp.locks.iter().any(|held_there| held.excludes(held_there)));
            if !races {
                continue;
            }
            let mut sides = [(other.site, other.kind, other.thread), (site, kind, thread)];
            sides.sort_by_key(|(site, kind, _)| (*site, *kind == AccessKind::Write));
            if !self.known.insert(sides.map(|(site, kind, _)| (site, kind))) {
                continue;
            }
            let pair = RacingPair {
                sites: sides.map(|(site, ..)| site),
                kinds: sides.map(|(_, kind, _)| kind),
                threads: sides.map(|(.., thread)| thread),
                location,
            };
            if self.pairs.len() < PAIRS {
                self.pairs.push(pair);
            } else {
                self.cut += 1;
            }
        }
        if accesses.len() < ACCESSES {
            accesses.push(Known { thread, kind, site, stamp: stamp.clone() });
        } else {
            self.cut += 1;
        }
    }

    /// The pairs, in the order of discovery.
    pub fn pairs(&self) -> &[RacingPair] {
        &self.pairs
    }

    /// How many accesses and pairs were omitted because of a bound.
    pub fn cut(&self) -> u64 {
        self.cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relaxed::testing::play;

    /// Checks the pairs of sites that may race.
    fn check(text: &str, expected: &[(u32, u32)]) {
        let (mut relaxed, mut racing) = (Relaxed::default(), Racing::default());
        play(text, &mut relaxed, |relaxed, thread, location, kind, site| {
            let stamp = relaxed.stamp(thread);
            racing.access(relaxed, thread, LocationId(location), kind, site, &stamp);
        });
        let pairs: Vec<(u32, u32)> =
            racing.pairs().iter().map(|pair| (pair.sites[0].0, pair.sites[1].0)).collect();
        assert_eq!(pairs, expected, "{text}");
    }

    #[test]
    fn accesses_without_common_lock_or_order_may_race() {
        check("0:>1 0:>2 1:Wa 2:Ra", &[(3, 4)]);
        check("0:>1 0:>2 1:Ra 2:Ra", &[]);
        check("0:>1 0:>2 1:Wa 2:Rb", &[]);
        check("0:>1 0:>2 1:Wa 1:Ra", &[]);
        check("0:>1 0:>2 1:+l 1:Wa 1:-l 2:+l 2:Wa 2:-l", &[]);
        check("0:>1 0:>2 1:+l 1:Wa 1:-l 2:+k 2:Wa 2:-k", &[(4, 7)]);
        check("0:>1 0:>2 1:*l 1:Wa 1:-l 2:*l 2:Wa 2:-l", &[(4, 7)]);
        check("0:>1 0:>2 1:*l 1:Ra 1:-l 2:+l 2:Wa 2:-l", &[]);
        check("0:Wa 0:>1 1:Wa 0:<1 0:Ra", &[]);
        check("0:>1 0:Wa 1:Wa", &[(2, 3)]);
        check("0:>1 1:Wa 1:>2 2:Wa", &[]);
    }
}
