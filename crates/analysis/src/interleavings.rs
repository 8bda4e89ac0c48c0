//! Candidates: remote accesses that could land between two local accesses of another thread, or before an access that they always
//! followed so far.
//!
//! Papers: the unserializable triples are those of S. Lu, J. Tucek, F. Qin and Y. Zhou, "AVIO: Detecting Atomicity Violations via
//! Access Interleaving Invariants", ASPLOS 2006, and the orders are the order violations of S. Lu, S. Park, E. Seo and Y. Zhou, "Learning
//! from Mistakes", ASPLOS 2008.
//!
//! Kept: two consecutive local accesses of one thread to a location, and a remote access of another thread that makes the three
//! unserializable: a remote write after a local read and before a local write or read, a remote write after a local write and before a
//! local read, or a remote read between two local writes. Deviations:
//!
//! - No invariants are learned from passing runs. Every feasible interleaving is a candidate, and another run shows whether it
//!   causes a failure.
//! - The [relaxed order](crate::relaxed) and the locks held across both local accesses decide whether an interleaving is feasible, so that
//!   few runs are enough. If both threads need one lock, the candidate names the acquires of that lock.
//! - A location is any number: it need not be a memory location.

use fissure_model::{
    event::AccessKind,
    ids::{LockId, SiteId, ThreadId},
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::relaxed::{Held, Relaxed, Stamp, kept};

/// How many different accesses are kept per location.
const ACCESSES: usize = 48;
/// How many pairs of local accesses are kept per location.
const PAIRS: usize = 48;
/// How many locations are kept.
const LOCATIONS: usize = 100_000;
/// How many candidates of each shape (interleaving, reordering, delay) are reported.
const MOST_PER_SHAPE: usize = 200;

/// The operation at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// An access.
    Access(AccessKind),
    /// An acquire of a lock.
    Acquire,
}

/// A site and its operation.
pub type CandidateSite = (SiteId, Act);

/// An interleaving, a reordering or a delay that another execution may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The first local operation; `None` for a reordering or a delay.
    pub first: Option<CandidateSite>,
    /// The remote operation; `None` for a delay.
    pub remote: Option<CandidateSite>,
    /// The second remote operation of the same thread; `None` if one remote operation is enough.
    pub second: Option<CandidateSite>,
    /// The last local operation.
    pub last: CandidateSite,
    /// The priority: the lower, the more likely the programmer did not intend it.
    pub rank: u8,
}

/// Finds candidates in the accesses of an execution.
#[derive(Debug, Default)]
pub struct Candidates {
    numbers: FxHashMap<u64, usize>,
    locations: Vec<LocationState>,
    cut: u64,
}

/// The accesses to one location.
#[derive(Debug, Default)]
struct LocationState {
    accesses: Vec<Access>,
    /// The last access of each thread.
    last: SmallVec<[(ThreadId, usize); 2]>,
    pairs: Vec<Pair>,
    /// The last write of each thread.
    last_writes: SmallVec<[(ThreadId, usize); 2]>,
    /// Consecutive writes of one thread.
    double_writes: Vec<(usize, usize)>,
    /// Accesses of different threads that happened in this order.
    orders: FxHashSet<(usize, usize)>,
}

#[derive(Debug)]
struct Access {
    thread: ThreadId,
    kind: AccessKind,
    site: SiteId,
    stamp: Stamp,
    /// The accesses with numbers below this are already in `orders` as earlier ones.
    seen: usize,
}

/// Two local accesses of one thread, and the locks that it held throughout.
#[derive(Debug, PartialEq, Eq)]
struct Pair {
    first: usize,
    last: usize,
    kept: SmallVec<[LockId; 1]>,
}

impl Candidates {
    /// A thread accesses a location.
    pub fn access(&mut self, thread: ThreadId, location: u64, kind: AccessKind, site: SiteId, stamp: &Stamp) {
        let next = self.locations.len();
        if next >= LOCATIONS && !self.numbers.contains_key(&location) {
            self.cut += 1;
            return;
        }
        let number = *self.numbers.entry(location).or_insert(next);
        if number == next {
            self.locations.push(LocationState::default());
        }
        let location = &mut self.locations[number];
        let Some(access) = location.find(thread, kind, site, stamp) else {
            self.cut += 1;
            return;
        };
        let first = match location.last.iter_mut().find(|(known, _)| *known == thread) {
            Some((_, last)) => Some(std::mem::replace(last, access)),
            None => {
                location.last.push((thread, access));
                None
            }
        };
        if let Some(first) = first {
            let locks = &location.accesses[first].stamp.locks;
            let kept = kept(locks, &stamp.locks).map(|held| held.lock).collect();
            let pair = Pair { first, last: access, kept };
            if !location.pairs.contains(&pair) {
                if location.pairs.len() < PAIRS {
                    location.pairs.push(pair);
                } else {
                    self.cut += 1;
                }
            }
        }
        if kind == AccessKind::Write && !location.note_write(thread, access) {
            self.cut += 1;
        }
        // The stamp has the latest acquires of the locks, because the next pair compares them with its own.
        location.accesses[access].stamp = stamp.clone();
        let known = location.accesses.len();
        let seen = std::mem::replace(&mut location.accesses[access].seen, known);
        for earlier in seen..known {
            if location.accesses[earlier].thread != thread {
                location.orders.insert((earlier, access));
            }
        }
    }

    /// The candidates by rank; candidates of equal rank stay in the order of discovery.
    pub fn ranked(&self, relaxed: &Relaxed) -> Vec<Candidate> {
        let mut ranked = Vec::new();
        let mut known = FxHashSet::default();
        for location in self.locations.iter().filter(|location| location.last.len() > 1) {
            let found = [
                location.triples(relaxed),
                location.doubles(relaxed),
                location.delays(relaxed),
                location.reorderings(relaxed),
            ]
            .concat();
            ranked.extend(found.into_iter().filter(|interleaving| known.insert(*interleaving)));
        }
        ranked.sort_by_key(|interleaving| interleaving.rank);
        // The bound applies to each shape, because there are many more candidates of some shapes than of others.
        let mut counts = [0; 4];
        ranked.retain(|interleaving| {
            let kind = match (interleaving.first, interleaving.remote, interleaving.second) {
                (Some(_), _, None) => 0,
                (Some(_), _, Some(_)) => 1,
                (None, Some(_), _) => 2,
                (None, None, _) => 3,
            };
            counts[kind] += 1;
            counts[kind] <= MOST_PER_SHAPE
        });
        ranked
    }

    /// The locations that different threads access without a common lock and without an order, at least one of them writing. Thread-unsafe
    /// objects are reported this way: a call on one counts as a single access until its class is instrumented.
    pub fn unguarded(&self, relaxed: &Relaxed) -> Vec<u64> {
        let mut found: Vec<u64> = self
            .numbers
            .iter()
            .filter(|(_, number)| self.locations[**number].is_unguarded(relaxed))
            .map(|(location, _)| *location)
            .collect();
        found.sort_unstable();
        found
    }

    /// How many accesses and pairs were omitted because of a bound.
    pub fn cut(&self) -> u64 {
        self.cut
    }
}

impl LocationState {
    /// The number of an access, if there is room for it.
    fn find(&mut self, thread: ThreadId, kind: AccessKind, site: SiteId, stamp: &Stamp) -> Option<usize> {
        let is_known = |known: &Access| {
            let there = (known.thread, known.kind, known.site, known.stamp.segment);
            there == (thread, kind, site, stamp.segment)
                && known.stamp.locks.len() == stamp.locks.len()
                && known
                    .stamp
                    .locks
                    .iter()
                    .zip(&*stamp.locks)
                    .all(|(a, b)| (a.lock, a.site) == (b.lock, b.site))
        };
        let found = self.accesses.iter().position(is_known);
        if found.is_none() && self.accesses.len() < ACCESSES {
            self.accesses.push(Access { thread, kind, site, stamp: stamp.clone(), seen: 0 });
            return Some(self.accesses.len() - 1);
        }
        found
    }

    /// Records a write after the thread's last one. Returns whether there was room for the pair.
    fn note_write(&mut self, thread: ThreadId, write: usize) -> bool {
        let Some((_, last)) = self.last_writes.iter_mut().find(|(known, _)| *known == thread) else {
            self.last_writes.push((thread, write));
            return true;
        };
        let pair = (std::mem::replace(last, write), write);
        let is_known = self.double_writes.contains(&pair);
        if !is_known && self.double_writes.len() < PAIRS {
            self.double_writes.push(pair);
            return true;
        }
        is_known
    }

    fn triples(&self, relaxed: &Relaxed) -> Vec<Candidate> {
        let mut found = Vec::new();
        for pair in &self.pairs {
            let (first, last) = (&self.accesses[pair.first], &self.accesses[pair.last]);
            for remote in self.accesses.iter().filter(|remote| remote.thread != first.thread) {
                let Some(rank) = rank(first.kind, remote.kind, last.kind) else { continue };
                let is_ordered = relaxed.is_before(remote.stamp.segment, first.stamp.segment)
                    || relaxed.is_before(last.stamp.segment, remote.stamp.segment);
                let is_excluded = |held: &Held| pair.kept.contains(&held.lock);
                if is_ordered || remote.stamp.locks.iter().any(is_excluded) {
                    continue;
                }
                found.push(match common(last, remote) {
                    Some((lock, after, inside)) => {
                        let first_acquire = first.stamp.locks.iter().find(|held| held.lock == lock);
                        let first = first_acquire.map_or(first.site(), |held| (held.site, Act::Acquire));
                        let (remote, last) = ((inside, Act::Acquire), (after, Act::Acquire));
                        Candidate {
                            first: Some(first),
                            remote: Some(remote),
                            second: None,
                            last,
                            rank: rank + 1,
                        }
                    }
                    None => Candidate {
                        first: Some(first.site()),
                        remote: Some(remote.site()),
                        second: None,
                        last: last.site(),
                        rank,
                    },
                });
            }
        }
        found
    }

    /// Two writes of another thread that can land between a local read and the write that follows it: one of them may leave a state with
    /// which the local thread copes, and only the second one a state that the thread takes for the old one, or that lacks what it expects.
    fn doubles(&self, relaxed: &Relaxed) -> Vec<Candidate> {
        let mut found = Vec::new();
        for pair in &self.pairs {
            let (first, last) = (&self.accesses[pair.first], &self.accesses[pair.last]);
            if (first.kind, last.kind) != (AccessKind::Read, AccessKind::Write) {
                continue;
            }
            for (remote, second) in &self.double_writes {
                let (remote, second) = (&self.accesses[*remote], &self.accesses[*second]);
                let is_excluded = |held: &Held| pair.kept.contains(&held.lock);
                let mut locks = remote.stamp.locks.iter().chain(&*second.stamp.locks);
                if remote.thread == first.thread
                    || relaxed.is_before(second.stamp.segment, first.stamp.segment)
                    || relaxed.is_before(last.stamp.segment, remote.stamp.segment)
                    || locks.any(is_excluded)
                {
                    continue;
                }
                found.extend(match (common(last, remote), common(last, second)) {
                    (None, None) => Some(Candidate {
                        first: Some(first.site()),
                        remote: Some(remote.site()),
                        second: Some(second.site()),
                        last: last.site(),
                        rank: DOUBLE,
                    }),
                    (Some((lock, after, one)), Some((again, _, other))) if lock == again => {
                        let first_acquire = first.stamp.locks.iter().find(|held| held.lock == lock);
                        Some(Candidate {
                            first: Some(first_acquire.map_or(first.site(), |held| (held.site, Act::Acquire))),
                            remote: Some((one, Act::Acquire)),
                            second: Some((other, Act::Acquire)),
                            last: (after, Act::Acquire),
                            rank: DOUBLE + 1,
                        })
                    }
                    // Only some of the accesses need a lock: the sites of the others say too little.
                    _ => None,
                });
            }
        }
        found
    }

    /// Accesses with a conflicting access of another thread: the access can be delayed while other threads run.
    fn delays(&self, relaxed: &Relaxed) -> Vec<Candidate> {
        let mut found = Vec::new();
        for access in &self.accesses {
            for other in self.conflicting(access, relaxed) {
                let last = common(access, other).map_or(access.site(), |(_, site, _)| (site, Act::Acquire));
                found.push(Candidate { first: None, remote: None, second: None, last, rank: DELAY });
            }
        }
        found
    }

    fn is_unguarded(&self, relaxed: &Relaxed) -> bool {
        let is_unguarded =
            |access| self.conflicting(access, relaxed).any(|other| common(access, other).is_none());
        self.accesses.iter().any(is_unguarded)
    }

    /// The accesses of other threads that conflict with one access and are unordered with it.
    fn conflicting<'a>(
        &'a self,
        access: &'a Access,
        relaxed: &'a Relaxed,
    ) -> impl Iterator<Item = &'a Access> {
        self.accesses.iter().filter(|other| {
            other.thread != access.thread
                && (other.kind == AccessKind::Write || access.kind == AccessKind::Write)
                && !relaxed.is_before(other.stamp.segment, access.stamp.segment)
                && !relaxed.is_before(access.stamp.segment, other.stamp.segment)
        })
    }

    /// Conflicting accesses that always happened in the same order, although neither locks nor the relaxed order enforce it.
    fn reorderings(&self, relaxed: &Relaxed) -> Vec<Candidate> {
        let sites = |(earlier, later): &(usize, usize)| {
            (self.accesses[*earlier].site(), self.accesses[*later].site())
        };
        let seen: FxHashSet<(CandidateSite, CandidateSite)> = self.orders.iter().map(sites).collect();
        let mut orders: Vec<(usize, usize)> = self.orders.iter().copied().collect();
        orders.sort_unstable();
        let mut found = Vec::new();
        for (earlier, later) in orders {
            let (earlier, later) = (&self.accesses[earlier], &self.accesses[later]);
            let conflicts = AccessKind::Write == earlier.kind || AccessKind::Write == later.kind;
            if conflicts
                && !seen.contains(&(later.site(), earlier.site()))
                && !relaxed.is_before(earlier.stamp.segment, later.stamp.segment)
                && common(earlier, later).is_none()
            {
                let (remote, last) = (later.site(), earlier.site());
                found.push(Candidate { first: None, remote: Some(remote), second: None, last, rank: ORDER });
            }
        }
        found
    }
}

/// The ranks of delays, of reorderings and of double interleavings.
const DELAY: u8 = 3;
const ORDER: u8 = 8;
const DOUBLE: u8 = 9;

impl Access {
    fn site(&self) -> CandidateSite {
        (self.site, Act::Access(self.kind))
    }
}

/// The lock that two accesses hold and that excludes them from each other, and the sites of its acquires.
fn common(one: &Access, other: &Access) -> Option<(LockId, SiteId, SiteId)> {
    one.stamp.locks.iter().find_map(|held| {
        let excluded = other.stamp.locks.iter().find(|other| held.excludes(other))?;
        Some((held.lock, held.site, excluded.site))
    })
}

/// The rank of three accesses in this order, if they are unserializable.
fn rank(first: AccessKind, remote: AccessKind, last: AccessKind) -> Option<u8> {
    use AccessKind::{Read, Write};
    match (first, remote, last) {
        (Read, Write, Write) => Some(0),
        (Read, Write, Read) => Some(2),
        (Write, Write, Read) => Some(4),
        (Write, Read, Write) => Some(6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relaxed::testing::play;

    /// Expected candidates are written `first-remote-last` by their sites, as in `3-5-4`; reorderings lack the first site, and `L3` is an
    /// acquire at site 3. Delays and double interleavings are not checked.
    fn check(text: &str, expected: &[&str]) {
        check_some(text, |candidate| candidate.second.is_none(), expected);
    }

    /// The same for double interleavings, with both remote sites.
    fn check_doubles(text: &str, expected: &[&str]) {
        check_some(text, |candidate| candidate.second.is_some(), expected);
    }

    fn check_some(text: &str, is_meant: impl Fn(&Candidate) -> bool, expected: &[&str]) {
        let (mut relaxed, mut interleavings) = (Relaxed::default(), Candidates::default());
        play(text, &mut relaxed, |relaxed, thread, location, kind, site| {
            let stamp = relaxed.stamp(thread);
            interleavings.access(thread, location, kind, site, &stamp);
        });
        let site = |(site, act): CandidateSite| match act {
            Act::Access(_) => site.0.to_string(),
            Act::Acquire => format!("L{}", site.0),
        };
        let found: Vec<String> = interleavings
            .ranked(&relaxed)
            .into_iter()
            .filter(is_meant)
            .map(|Candidate { first, remote, second, last, .. }| {
                let optional = |known: Option<CandidateSite>| {
                    known.map(|known| format!("{}-", site(known))).unwrap_or_default()
                };
                format!("{}{}{}{}", optional(first), optional(remote), optional(second), site(last))
            })
            .filter(|text| text.contains('-'))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn unserializable_interleavings_are_candidates() {
        check("0:>1 0:>2 1:Ra 1:Wa 2:Wa", &["3-5-4", "5-3", "5-4"]);
        check("0:>1 0:>2 1:Ra 1:Ra 2:Wa", &["3-5-4", "5-3", "5-4"]);
        check("0:>1 0:>2 1:Wa 1:Ra 2:Wa", &["3-5-4", "5-3", "5-4"]);
        check("0:>1 0:>2 1:Wa 1:Wa 2:Ra", &["3-5-4", "5-3", "5-4"]);
        check("0:>1 0:>2 1:Ra 1:Wa 2:Ra", &["5-4"]);
        check("0:>1 0:>2 1:Ra 1:Rb 2:Wa", &["5-3"]);
        check("0:>1 0:>2 1:Ra 1:Ra 2:Ra", &[]);
    }

    #[test]
    fn two_writes_may_land_between_a_read_and_a_write() {
        check_doubles("0:>1 0:>2 1:Ra 1:Wa 2:Wa 2:Wa", &["3-5-6-4"]);
        check_doubles("0:>1 0:>2 1:Ra 1:Wa 2:Wa 2:Ra 2:Wa", &["3-5-7-4"]);
        check_doubles("0:>1 0:>2 1:Ra 1:Wa 2:Wa 2:Wb", &[]);
        check_doubles("0:>1 0:>2 1:Ra 1:Ra 2:Wa 2:Wa", &[]);
        check_doubles("0:>1 1:Wa 1:Wa 0:<1 0:>2 2:Ra 2:Wa", &[]);
        let separate = "2:+l 2:Wa 2:-l 2:+l 2:Wa 2:-l";
        check_doubles(&format!("0:>1 0:>2 1:+l 1:Ra 1:-l 1:+l 1:Wa 1:-l {separate}"), &["L3-L9-L12-L6"]);
        check_doubles(&format!("0:>1 0:>2 1:+l 1:Ra 1:Wa 1:-l {separate}"), &[]);
    }

    #[test]
    fn ordered_accesses_are_no_candidates() {
        check("0:Wa 0:>1 1:Ra 1:Wa", &[]);
        check("0:>1 1:Ra 1:Wa 0:<1 0:Wa", &[]);
        check("0:>1 0:>2 1:Ra 2:Wa 1:Wa 0:<1 0:<2 0:Ra", &["3-4-5", "4-3", "5-4"]);
    }

    #[test]
    fn locks_held_across_both_local_accesses_exclude_remote_ones() {
        check("0:>1 0:>2 1:+l 1:Ra 1:Wa 1:-l 2:+l 2:Wa 2:-l", &[]);
        check("0:>1 0:>2 1:+l 1:Ra 1:-l 1:+l 1:Wa 1:-l 2:+l 2:Wa 2:-l", &["L3-L9-L6"]);
        check("0:>1 0:>2 1:Ra 1:+l 1:Wa 1:-l 2:+l 2:Wa 2:-l", &["3-L7-L4", "8-3"]);
    }

    #[test]
    fn locations_without_a_common_lock_are_unguarded() {
        fn check(text: &str, expected: usize) {
            let (mut relaxed, mut interleavings) = (Relaxed::default(), Candidates::default());
            play(text, &mut relaxed, |relaxed, thread, location, kind, site| {
                let stamp = relaxed.stamp(thread);
                interleavings.access(thread, location, kind, site, &stamp);
            });
            assert_eq!(interleavings.unguarded(&relaxed).len(), expected, "{text}");
        }
        check("0:>1 0:>2 1:Wa 2:Ra 1:Wb 2:Wb", 2);
        check("0:>1 0:>2 1:Ra 2:Ra", 0);
        check("0:Wa 0:>1 1:Wa 0:<1 0:Wa", 0);
        check("0:>1 0:>2 1:+l 1:Wa 1:-l 2:+l 2:Wa 2:-l", 0);
        check("0:>1 0:>2 1:+l 1:Wa 1:-l 2:+k 2:Wa 2:-k", 1);
    }

    #[test]
    fn accesses_seen_in_both_orders_are_no_reordering() {
        check("0:>1 0:>2 1:Wa 2:Ra", &["4-3"]);
        let (mut relaxed, mut interleavings) = (Relaxed::default(), Candidates::default());
        relaxed.start(ThreadId(0), ThreadId(1));
        for (thread, kind, site) in
            [(0, AccessKind::Write, 1), (1, AccessKind::Read, 2), (0, AccessKind::Write, 1)]
        {
            let stamp = relaxed.stamp(ThreadId(thread));
            interleavings.access(ThreadId(thread), 7, kind, SiteId(site), &stamp);
        }
        let orders = interleavings
            .ranked(&relaxed)
            .into_iter()
            .filter(|found| found.first.is_none() && found.remote.is_some());
        assert_eq!(orders.count(), 0);
    }
}
