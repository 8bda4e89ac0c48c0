//! Accesses that could come in between two of another thread, or before one that they only ever came after.
//!
//! Papers: the unserializable triples are those of S. Lu, J. Tucek, F. Qin and Y. Zhou, "AVIO: Detecting Atomicity Violations via
//! Access Interleaving Invariants", ASPLOS 2006, and the orders are the order violations of S. Lu, S. Park, E. Seo and Y. Zhou, "Learning
//! from Mistakes", ASPLOS 2008.
//!
//! Kept: two accesses of one thread to a location, with none of its own to it in between, and one of another thread that no order of
//! the threads explains there: reading what the other changes before the thread writes or reads again, reading what the other wrote over
//! one's own, or showing the other what is written over afterwards. Deviations:
//!
//! - Nothing is learned from runs that went well. Whatever could come in between counts, and whether that breaks anything is for
//!   another run to show.
//! - What could come in between is decided by the [relaxed order](crate::relaxed) and by the locks that are kept, so that few runs are
//!   enough. Where both threads need one lock, it is getting that lock which is told.
//! - What is accessed is a number: it need not be a memory location.

use fissure_model::{
    event::AccessKind,
    ids::{LockId, SiteId, ThreadId},
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::relaxed::{Held, Relaxed, Stamp, kept};

/// How many different accesses to one place are kept.
const ACCESSES: usize = 48;
/// How many pairs of accesses of one thread are.
const PAIRS: usize = 48;
/// How many places are.
const PLACES: usize = 100_000;
/// How many of each kind are told.
const MOST: usize = 200;

/// What is done at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// An access.
    Access(AccessKind),
    /// Getting a lock.
    Acquire,
}

/// Something that is done somewhere.
pub type CandidateSite = (SiteId, Act);

/// What another execution may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// What one thread does first; nothing if only the order of the two others changes.
    pub first: Option<CandidateSite>,
    /// What the other thread does; nothing if it is whatever others can do.
    pub remote: Option<CandidateSite>,
    /// What the first thread does after that.
    pub last: CandidateSite,
    /// How likely it is that this was not meant to happen; the least is the likeliest.
    pub rank: u8,
}

/// Looks at accesses for what could come in between.
#[derive(Debug, Default)]
pub struct Candidates {
    numbers: FxHashMap<u64, usize>,
    places: Vec<Place>,
    cut: u64,
}

/// What is known of one thing that is accessed.
#[derive(Debug, Default)]
struct Place {
    accesses: Vec<Access>,
    /// By thread, its last access.
    last: SmallVec<[(ThreadId, usize); 2]>,
    pairs: Vec<Pair>,
    /// Accesses of different threads that came in this order.
    orders: FxHashSet<(usize, usize)>,
}

#[derive(Debug)]
struct Access {
    thread: ThreadId,
    kind: AccessKind,
    site: SiteId,
    stamp: Stamp,
    /// How many others are known to have come before.
    seen: usize,
}

/// Two accesses of one thread, and the locks that it kept from one to the other.
#[derive(Debug, PartialEq, Eq)]
struct Pair {
    first: usize,
    last: usize,
    kept: SmallVec<[LockId; 1]>,
}

impl Candidates {
    /// A thread accesses something.
    pub fn access(&mut self, thread: ThreadId, place: u64, kind: AccessKind, site: SiteId, stamp: &Stamp) {
        let next = self.places.len();
        if next >= PLACES && !self.numbers.contains_key(&place) {
            self.cut += 1;
            return;
        }
        let number = *self.numbers.entry(place).or_insert(next);
        if number == next {
            self.places.push(Place::default());
        }
        let place = &mut self.places[number];
        let Some(access) = place.find(thread, kind, site, stamp) else {
            self.cut += 1;
            return;
        };
        let first = match place.last.iter_mut().find(|(known, _)| *known == thread) {
            Some((_, last)) => Some(std::mem::replace(last, access)),
            None => {
                place.last.push((thread, access));
                None
            }
        };
        if let Some(first) = first {
            let locks = &place.accesses[first].stamp.locks;
            let kept = kept(locks, &stamp.locks).map(|held| held.lock).collect();
            let pair = Pair { first, last: access, kept };
            if !place.pairs.contains(&pair) {
                if place.pairs.len() < PAIRS {
                    place.pairs.push(pair);
                } else {
                    self.cut += 1;
                }
            }
        }
        // What is kept is when the locks were got last, for a pair is about that.
        place.accesses[access].stamp = stamp.clone();
        let known = place.accesses.len();
        let seen = std::mem::replace(&mut place.accesses[access].seen, known);
        for earlier in seen..known {
            if place.accesses[earlier].thread != thread {
                place.orders.insert((earlier, access));
            }
        }
    }

    /// What other executions may show, the likeliest first; what is equal stays in the order in which it was seen.
    pub fn told(&self, relaxed: &Relaxed) -> Vec<Candidate> {
        let mut told = Vec::new();
        let mut known = FxHashSet::default();
        for place in self.places.iter().filter(|place| place.last.len() > 1) {
            let found = [place.triples(relaxed), place.delays(relaxed), place.turned(relaxed)].concat();
            told.extend(found.into_iter().filter(|interleaving| known.insert(*interleaving)));
        }
        told.sort_by_key(|interleaving| interleaving.rank);
        // There are many more of some kinds than of others.
        let mut counts = [0; 3];
        told.retain(|interleaving| {
            let kind =
                if interleaving.first.is_some() { 0 } else { 1 + usize::from(interleaving.remote.is_none()) };
            counts[kind] += 1;
            counts[kind] <= MOST
        });
        told
    }

    /// What different threads access with no lock in common and in no order, one of them writing: such as what is no more than one access
    /// as long as nobody else comes near.
    pub fn unguarded(&self, relaxed: &Relaxed) -> Vec<u64> {
        let mut found: Vec<u64> = self
            .numbers
            .iter()
            .filter(|(_, number)| self.places[**number].is_unguarded(relaxed))
            .map(|(place, _)| *place)
            .collect();
        found.sort_unstable();
        found
    }

    /// How much was left out.
    pub fn cut(&self) -> u64 {
        self.cut
    }
}

impl Place {
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

    fn triples(&self, relaxed: &Relaxed) -> Vec<Candidate> {
        let mut found = Vec::new();
        for pair in &self.pairs {
            let (first, last) = (&self.accesses[pair.first], &self.accesses[pair.last]);
            for remote in self.accesses.iter().filter(|remote| remote.thread != first.thread) {
                let Some(rank) = rank(first.kind, remote.kind, last.kind) else { continue };
                let is_ordered = relaxed.is_before(remote.stamp.segment, first.stamp.segment)
                    || relaxed.is_before(last.stamp.segment, remote.stamp.segment);
                let is_kept_out = |held: &Held| pair.kept.contains(&held.lock);
                if is_ordered || remote.stamp.locks.iter().any(is_kept_out) {
                    continue;
                }
                found.push(match common(last, remote) {
                    Some((lock, after, inside)) => {
                        let first_acquire = first.stamp.locks.iter().find(|held| held.lock == lock);
                        let first = first_acquire.map_or(first.site(), |held| (held.site, Act::Acquire));
                        let (remote, last) = ((inside, Act::Acquire), (after, Act::Acquire));
                        Candidate { first: Some(first), remote: Some(remote), last, rank: rank + 1 }
                    }
                    None => Candidate {
                        first: Some(first.site()),
                        remote: Some(remote.site()),
                        last: last.site(),
                        rank,
                    },
                });
            }
        }
        found
    }

    /// Accesses that others' come into conflict with: whoever makes them can be held up while others do what they can.
    fn delays(&self, relaxed: &Relaxed) -> Vec<Candidate> {
        let mut found = Vec::new();
        for access in &self.accesses {
            for other in self.conflicting(access, relaxed) {
                let last = common(access, other).map_or(access.site(), |(_, site, _)| (site, Act::Acquire));
                found.push(Candidate { first: None, remote: None, last, rank: DELAY });
            }
        }
        found
    }

    fn is_unguarded(&self, relaxed: &Relaxed) -> bool {
        let is_unguarded =
            |access| self.conflicting(access, relaxed).any(|other| common(access, other).is_none());
        self.accesses.iter().any(is_unguarded)
    }

    /// The accesses of other threads that come into conflict with one, and that no order of the threads keeps apart from it.
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

    /// Accesses that neither locks nor order keep from coming the other way round, which they never did.
    fn turned(&self, relaxed: &Relaxed) -> Vec<Candidate> {
        let spots = |(earlier, later): &(usize, usize)| {
            (self.accesses[*earlier].site(), self.accesses[*later].site())
        };
        let seen: FxHashSet<(CandidateSite, CandidateSite)> = self.orders.iter().map(spots).collect();
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
                found.push(Candidate { first: None, remote: Some(remote), last, rank: ORDER });
            }
        }
        found
    }
}

/// The ranks of those that are held up, and of what only changes an order.
const DELAY: u8 = 3;
const ORDER: u8 = 8;

impl Access {
    fn site(&self) -> CandidateSite {
        (self.site, Act::Access(self.kind))
    }
}

/// The lock that two accesses are made under and only one thread can have, and where each got it.
fn common(one: &Access, other: &Access) -> Option<(LockId, SiteId, SiteId)> {
    one.stamp.locks.iter().find_map(|held| {
        let there = other.stamp.locks.iter().find(|there| held.excludes(there))?;
        Some((held.lock, held.site, there.site))
    })
}

/// How likely three accesses are a mistake in this order, if no order of the threads explains them.
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

    /// What is expected is written `3-5-4`, without the
    /// first for orders, and `L3` for getting a lock.
    fn check(text: &str, expected: &[&str]) {
        let (mut relaxed, mut interleavings) = (Relaxed::default(), Candidates::default());
        play(text, &mut relaxed, |relaxed, thread, place, kind, site| {
            let stamp = relaxed.stamp(thread);
            interleavings.access(thread, place, kind, site, &stamp);
        });
        let site = |(site, deed): CandidateSite| match deed {
            Act::Access(_) => site.0.to_string(),
            Act::Acquire => format!("L{}", site.0),
        };
        let found: Vec<String> = interleavings
            .told(&relaxed)
            .into_iter()
            .map(|Candidate { first, remote, last, .. }| {
                let told = |spot_: Option<CandidateSite>| {
                    spot_.map(|known| format!("{}-", site(known))).unwrap_or_default()
                };
                format!("{}{}{}", told(first), told(remote), site(last))
            })
            .filter(|text| text.contains('-'))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_no_order_of_the_threads_explains_may_come_in_between() {
        check("0:>1 0:>2 1:Ra 1:Wa 2:Wa", &["3-5-4", "5-3", "5-4"]);
        check("0:>1 0:>2 1:Ra 1:Ra 2:Wa", &["3-5-4", "5-3", "5-4"]);
        check("0:>1 0:>2 1:Wa 1:Ra 2:Wa", &["3-5-4", "5-3", "5-4"]);
        check("0:>1 0:>2 1:Wa 1:Wa 2:Ra", &["3-5-4", "5-3", "5-4"]);
        check("0:>1 0:>2 1:Ra 1:Wa 2:Ra", &["5-4"]);
        check("0:>1 0:>2 1:Ra 1:Rb 2:Wa", &["5-3"]);
        check("0:>1 0:>2 1:Ra 1:Ra 2:Ra", &[]);
    }

    #[test]
    fn what_is_ordered_stays_so() {
        check("0:Wa 0:>1 1:Ra 1:Wa", &[]);
        check("0:>1 1:Ra 1:Wa 0:<1 0:Wa", &[]);
        check("0:>1 0:>2 1:Ra 2:Wa 1:Wa 0:<1 0:<2 0:Ra", &["3-4-5", "4-3", "5-4"]);
    }

    #[test]
    fn locks_that_are_kept_keep_others_out() {
        check("0:>1 0:>2 1:+l 1:Ra 1:Wa 1:-l 2:+l 2:Wa 2:-l", &[]);
        check("0:>1 0:>2 1:+l 1:Ra 1:-l 1:+l 1:Wa 1:-l 2:+l 2:Wa 2:-l", &["L3-L9-L6"]);
        check("0:>1 0:>2 1:Ra 1:+l 1:Wa 1:-l 2:+l 2:Wa 2:-l", &["3-L7-L4", "8-3"]);
    }

    #[test]
    fn what_has_no_lock_in_common_is_unguarded() {
        fn check(text: &str, expected: usize) {
            let (mut relaxed, mut interleavings) = (Relaxed::default(), Candidates::default());
            play(text, &mut relaxed, |relaxed, thread, place, kind, site| {
                let stamp = relaxed.stamp(thread);
                interleavings.access(thread, place, kind, site, &stamp);
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
    fn both_orders_leave_nothing_to_turn_round() {
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
            .told(&relaxed)
            .into_iter()
            .filter(|found| found.first.is_none() && found.remote.is_some());
        assert_eq!(orders.count(), 0);
    }
}
