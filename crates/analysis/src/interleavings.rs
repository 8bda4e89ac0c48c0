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
//! - A candidate names sites, not threads. So of the threads that make the same accesses, a few stand for all: the first ones, and then
//!   fewer and fewer.

mod finders;

use fissure_model::{
    event::AccessKind,
    goal::{Role, Shape},
    ids::{LockId, SiteId, ThreadId},
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::relaxed::{Relaxed, Stamp, kept};
use finders::{FINDERS, common};

/// How many different accesses are kept per location.
const ACCESSES: usize = 96;
/// How many threads are kept that make the same access, before only every second, fourth, eighth and so on of them is.
const THREADS: u32 = 4;
/// How many pairs of local accesses are kept per location.
const PAIRS: usize = 96;
/// How many locations are kept.
const LOCATIONS: usize = 100_000;
/// How many candidates of each shape are reported.
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
    /// The shape of the goal that the candidate may become.
    pub shape: Shape,
    /// The operations that the shape has, by their roles.
    sites: [Option<CandidateSite>; Role::ALL.len()],
    /// The priority: the lower, the more likely the programmer did not intend it.
    pub rank: u8,
}

impl Candidate {
    /// A candidate with the operations of its shape, in the order of its roles.
    fn new<const N: usize>(shape: Shape, sites: [CandidateSite; N], rank: u8) -> Self {
        assert_eq!(shape.roles().len(), N, "a candidate has the operations of its shape, {shape:?}");
        let mut known = [None; Role::ALL.len()];
        for (role, site) in shape.roles().iter().zip(sites) {
            known[role.number()] = Some(site);
        }
        Self { shape, sites: known, rank }
    }

    /// The operation with this role, if the shape has one.
    pub fn get(&self, role: Role) -> Option<CandidateSite> {
        self.sites[role.number()]
    }
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
    /// How many threads, or segments of threads, made the same access, for each one.
    repeated: FxHashMap<(AccessKind, SiteId, Vec<SiteId>), u32>,
}

/// The number of an access in the state of its location.
enum Slot {
    /// It is kept.
    Kept(usize),
    /// Accesses of other threads at the same sites stand for it.
    Represented,
    /// There is no room for it.
    Cut,
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
        let access = match location.find(thread, kind, site, stamp) {
            Slot::Kept(access) => access,
            Slot::Represented => return,
            Slot::Cut => {
                self.cut += 1;
                return;
            }
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
        for location in self.locations.iter().filter(|location| location.is_shared()) {
            let found = FINDERS.iter().flat_map(|find| find(location, relaxed));
            ranked.extend(found.filter(|interleaving| known.insert(*interleaving)));
        }
        ranked.sort_by_key(|interleaving| interleaving.rank);
        // The bound applies to each shape, because there are many more candidates of some shapes than of others.
        let mut counts: FxHashMap<Shape, usize> = FxHashMap::default();
        ranked.retain(|candidate| {
            let count = counts.entry(candidate.shape).or_default();
            *count += 1;
            *count <= MOST_PER_SHAPE
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
    /// Whether several threads accessed the location.
    fn is_shared(&self) -> bool {
        self.accesses.windows(2).any(|pair| pair[0].thread != pair[1].thread)
    }

    /// The number of an access, if it is kept.
    fn find(&mut self, thread: ThreadId, kind: AccessKind, site: SiteId, stamp: &Stamp) -> Slot {
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
        if let Some(found) = self.accesses.iter().position(is_known) {
            return Slot::Kept(found);
        }
        let key = (kind, site, stamp.locks.iter().map(|held| held.site).collect());
        let times = self.repeated.entry(key).or_default();
        *times += 1;
        if *times > THREADS && !times.is_power_of_two() {
            // The thread's next access does not directly follow the last one that is kept.
            self.last.retain(|(known, _)| *known != thread);
            self.last_writes.retain(|(known, _)| *known != thread);
            return Slot::Represented;
        }
        if self.accesses.len() >= ACCESSES {
            return Slot::Cut;
        }
        self.accesses.push(Access { thread, kind, site, stamp: stamp.clone(), seen: 0 });
        Slot::Kept(self.accesses.len() - 1)
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
}

impl Access {
    fn site(&self) -> CandidateSite {
        (self.site, Act::Access(self.kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relaxed::testing::play;

    /// Expected candidates are written `first-remote-last` by their sites, as in `3-5-4`; reorderings lack the first site, and `L3` is an
    /// acquire at site 3. Delays and double interleavings are not checked.
    fn check(text: &str, expected: &[&str]) {
        check_some(text, |candidate| candidate.shape != Shape::DoubleInterleaving, expected);
    }

    /// The same for double interleavings, with both remote sites.
    fn check_doubles(text: &str, expected: &[&str]) {
        check_some(text, |candidate| candidate.shape == Shape::DoubleInterleaving, expected);
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
            .map(|found| {
                let sites = found.shape.roles().iter().flat_map(|role| found.get(*role));
                sites.map(site).collect::<Vec<_>>().join("-")
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
        check("0:>1 0:>2 1:+l 1:Ra 1:Wa 1:-l 2:+l 2:Wa 2:-l", &["L7-L3"]);
        check("0:>1 0:>2 1:+l 1:Ra 1:-l 1:+l 1:Wa 1:-l 2:+l 2:Wa 2:-l", &["L3-L9-L6", "L9-L3", "L9-L6"]);
        check("0:>1 0:>2 1:Ra 1:+l 1:Wa 1:-l 2:+l 2:Wa 2:-l", &["3-L7-L4", "8-3", "L7-L4"]);
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
    fn few_of_many_threads_that_do_the_same_stand_for_all() {
        let (mut relaxed, mut interleavings) = (Relaxed::default(), Candidates::default());
        let threads = 500;
        (1..=threads).for_each(|thread| relaxed.start(ThreadId(0), ThreadId(thread)));
        let mut access = |thread, kind, site| {
            interleavings.access(ThreadId(thread), 7, kind, SiteId(site), &relaxed.stamp(ThreadId(thread)));
        };
        for thread in 1..threads {
            access(thread, AccessKind::Read, 1);
            access(thread, AccessKind::Write, 2);
        }
        access(threads, AccessKind::Read, 3);
        assert_eq!(interleavings.cut(), 0);
        let found = interleavings.ranked(&relaxed);
        let of = |shape| found.iter().filter(move |found| found.shape == shape);
        assert_eq!(of(Shape::Interleaving).count(), 1);
        let delayed: Vec<u32> =
            of(Shape::Delay).filter_map(|found| found.get(Role::Last)).map(|(site, _)| site.0).collect();
        assert_eq!(delayed, [1, 2, 3]);
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
        let orders =
            interleavings.ranked(&relaxed).into_iter().filter(|found| found.shape == Shape::Reordering);
        assert_eq!(orders.count(), 0);
    }
}
