//! The relaxed order of an execution, and the locks that its threads hold.
//!
//! Paper: Z. Lai, S.C. Cheung and W.K. Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs through
//! Active Randomized Testing", ICSE 2010, sections 4.1.1 and 4.1.2.
//!
//! Kept: only what a program does on purpose to put its threads into an order counts, which is starting, joining and
//! notifying. That one thread happened to take a lock, or to access a location, before another one orders nothing, for it could
//! have been otherwise. Deviations:
//!
//! - The library's forms of starting, joining and notifying count as well: permits, and whatever else is
//!   [handed over](Relaxed::release) at an object (tasks, results, latches, barriers).
//! - Locks are held in one of two modes, and two threads that both share a lock do not exclude each other.
//!
//! Every time that a lock is got has a number of its own. So what a thread kept from one access to another is what both
//! have in common, and nobody needs to know what was released in between.

use std::sync::Arc;

use fissure_model::{
    event::LockMode,
    ids::{LockId, SiteId, ThreadId},
};
use rustc_hash::FxHashMap;

use crate::order::{Order, Segment};

/// A lock that a thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    /// Which.
    pub lock: LockId,
    /// How.
    pub mode: LockMode,
    /// The number of the time that it was got.
    pub time: u64,
    /// Where it was got.
    pub site: SiteId,
    /// The calls that led there, as a hash.
    pub context: u64,
}

impl Held {
    /// Whether one thread cannot hold this while another holds that.
    pub fn excludes(&self, other: &Held) -> bool {
        self.lock == other.lock && !(self.mode == LockMode::Shared && other.mode == LockMode::Shared)
    }
}

/// The locks that are held at some point, in the order in which they were got.
pub type Locks = Arc<[Held]>;

/// When something happened, as far as that could not have been otherwise, and under which locks.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// The part of the thread's life.
    pub segment: Segment,
    /// The locks that were held.
    pub locks: Locks,
}

/// Keeps the order and the locks while an execution goes on.
#[derive(Debug, Default)]
pub struct Relaxed {
    order: Order,
    threads: Vec<Thread>,
    /// What was handed over at objects, by their numbers.
    places: FxHashMap<u64, Segment>,
    times: u64,
}

#[derive(Debug, Clone)]
struct Thread {
    /// The number that the order knows it by.
    number: ThreadId,
    held: Vec<(Held, u32)>,
    snapshot: Locks,
    permit: Option<Segment>,
}

impl Relaxed {
    /// A thread starts another.
    pub fn start(&mut self, parent: ThreadId, child: ThreadId) {
        let parent = self.thread(parent).number;
        let number = self.order.start(parent);
        self.thread(child).number = number;
    }

    /// A thread has seen the end of another. Says whether that was news.
    pub fn join(&mut self, thread: ThreadId, ended: ThreadId) -> bool {
        let (thread, ended) = (self.thread(thread).number, self.thread(ended).number);
        let last = self.order.segment(ended);
        let is_news = !self.order.is_before(last, self.order.segment(thread));
        if is_news {
            self.order.join(thread, ended);
        }
        is_news
    }

    /// A thread wakes another one that waits.
    pub fn wake(&mut self, thread: ThreadId, woken: ThreadId) {
        let (thread, woken) = (self.thread(thread).number, self.thread(woken).number);
        let segment = self.order.release(thread, None);
        self.order.acquire(woken, segment);
    }

    /// A thread gives another one a permit, which that may take later.
    pub fn permit(&mut self, thread: ThreadId, permitted: ThreadId) {
        let number = self.thread(thread).number;
        let before = self.thread(permitted).permit;
        self.thread(permitted).permit = Some(self.order.release(number, before));
    }

    /// A thread goes on after it was parked, or without having been.
    pub fn take_permit(&mut self, thread: ThreadId) {
        let thread = self.thread(thread);
        if let Some(segment) = thread.permit.take() {
            let number = thread.number;
            self.order.acquire(number, segment);
        }
    }

    /// A permit is gone, and whoever took it did so for a lock only.
    pub fn drop_permit(&mut self, thread: ThreadId) {
        self.thread(thread).permit = None;
    }

    /// A thread hands over what it did so far to whoever comes to the same place.
    pub fn release(&mut self, thread: ThreadId, place: u64) {
        let number = self.thread(thread).number;
        let before = self.places.get(&place).copied();
        let segment = self.order.release(number, before);
        self.places.insert(place, segment);
    }

    /// A thread takes over what was handed over at a place. Says whether there was anything new.
    pub fn acquire(&mut self, thread: ThreadId, place: u64) -> bool {
        let Some(segment) = self.places.get(&place).copied() else { return false };
        let number = self.thread(thread).number;
        let before = self.order.segment(number);
        self.order.acquire(number, segment);
        before != self.order.segment(number)
    }

    /// A thread has got a lock, perhaps not for the first time. Says what it holds now if it did not hold the lock before.
    pub fn lock(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        mode: LockMode,
        (site, context): (SiteId, u64),
    ) -> Option<Held> {
        self.times += 1;
        let time = self.times;
        let thread = self.thread(thread);
        if let Some((_, count)) = thread.held.iter_mut().find(|(held, _)| held.lock == lock) {
            *count += 1;
            return None;
        }
        let held = Held { lock, mode, time, site, context };
        thread.held.push((held, 1));
        thread.keep();
        Some(held)
    }

    /// A thread gives a lock back, once; it keeps it if it got it more often.
    pub fn unlock(&mut self, thread: ThreadId, lock: LockId) {
        let thread = self.thread(thread);
        let Some(place) = thread.held.iter().rposition(|(held, _)| held.lock == lock) else { return };
        thread.held[place].1 -= 1;
        if thread.held[place].1 == 0 {
            thread.held.remove(place);
            thread.keep();
        }
    }

    /// A thread gives a lock back however often it got it; says how often.
    pub fn unlock_all(&mut self, thread: ThreadId, lock: LockId) -> u32 {
        let thread = self.thread(thread);
        let Some(place) = thread.held.iter().rposition(|(held, _)| held.lock == lock) else { return 0 };
        let (_, count) = thread.held.remove(place);
        thread.keep();
        count
    }

    /// When something that a thread does now happens.
    pub fn stamp(&mut self, thread: ThreadId) -> Stamp {
        let thread = self.thread(thread);
        let (number, locks) = (thread.number, thread.snapshot.clone());
        Stamp { segment: self.order.segment(number), locks }
    }

    /// Whether everything in one part of a thread's life had to come before everything in another.
    pub fn is_before(&self, earlier: Segment, later: Segment) -> bool {
        self.order.is_before(earlier, later)
    }

    /// Whether more was put into an order than can be told apart.
    pub fn is_saturated(&self) -> bool {
        self.order.is_saturated()
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        let place = thread.0 as usize;
        while place >= self.threads.len() {
            let number = self.order.root();
            self.threads.push(Thread { number, held: Vec::new(), snapshot: Arc::from([]), permit: None });
        }
        &mut self.threads[place]
    }
}

impl Thread {
    fn keep(&mut self) {
        self.snapshot = self.held.iter().map(|(held, _)| *held).collect();
    }
}

/// What a thread kept from one point to a later one.
pub fn kept<'a>(from: &'a [Held], to: &'a [Held]) -> impl Iterator<Item = &'a Held> {
    from.iter().filter(|held| to.iter().any(|other| other.time == held.time))
}

#[cfg(test)]
pub(crate) mod testing {
    use fissure_model::event::AccessKind;

    use super::*;

    /// Plays what threads do, one word after the other, each at a site with its number: `1:Ra` and `1:Wa` are accesses, which are told;
    /// `1:+l`, `1:*l` and `1:-l` get a lock, share one and give it back; `0:>1` and `0:<1` start and join a thread.
    pub(crate) fn play(
        text: &str,
        relaxed: &mut Relaxed,
        mut access: impl FnMut(&mut Relaxed, ThreadId, u64, AccessKind, SiteId),
    ) {
        for (site, word) in (1..).map(SiteId).zip(text.split_whitespace()) {
            let (thread, act) = word.split_once(':').unwrap();
            let (what, object) = act.split_at(1);
            let thread = ThreadId(thread.parse().unwrap());
            let name = object.bytes().next().unwrap();
            let other = ThreadId(u32::from(name).wrapping_sub(u32::from(b'0')));
            let lock = LockId(name.into());
            match what {
                "+" => assert!(relaxed.lock(thread, lock, LockMode::Exclusive, (site, 0)).is_some()),
                "*" => assert!(relaxed.lock(thread, lock, LockMode::Shared, (site, 0)).is_some()),
                "-" => relaxed.unlock(thread, lock),
                ">" => relaxed.start(thread, other),
                "<" => assert!(relaxed.join(thread, other)),
                "R" => access(relaxed, thread, name.into(), AccessKind::Read, site),
                _ => access(relaxed, thread, name.into(), AccessKind::Write, site),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: ThreadId = ThreadId(0);
    const OTHER: ThreadId = ThreadId(1);
    const SITE: SiteId = SiteId(7);

    fn check_order(acts: impl FnOnce(&mut Relaxed), expected: bool) {
        let mut relaxed = Relaxed::default();
        relaxed.start(MAIN, OTHER);
        let before = relaxed.stamp(MAIN).segment;
        acts(&mut relaxed);
        let after = relaxed.stamp(OTHER).segment;
        assert_eq!(relaxed.is_before(before, after), expected);
        assert!(!relaxed.is_before(after, before));
    }

    #[test]
    fn what_is_done_on_purpose_orders() {
        check_order(|_| {}, false);
        check_order(|relaxed| relaxed.wake(MAIN, OTHER), true);
        check_order(|relaxed| assert!(relaxed.join(OTHER, MAIN) && !relaxed.join(OTHER, MAIN)), true);
        check_order(|relaxed| relaxed.permit(MAIN, OTHER), false);
        let parks = |relaxed: &mut Relaxed| {
            relaxed.permit(MAIN, OTHER);
            relaxed.take_permit(OTHER);
        };
        check_order(parks, true);
        let hands_over = |relaxed: &mut Relaxed| {
            relaxed.release(MAIN, 5);
            assert!(relaxed.acquire(OTHER, 5) && !relaxed.acquire(OTHER, 5));
        };
        check_order(hands_over, true);
    }

    #[test]
    fn what_happens_to_happen_orders_nothing() {
        let locks = |relaxed: &mut Relaxed| {
            for thread in [MAIN, OTHER] {
                relaxed.lock(thread, LockId(1), LockMode::Exclusive, (SITE, 0));
                relaxed.unlock(thread, LockId(1));
            }
        };
        check_order(locks, false);
        let parks_for_a_lock = |relaxed: &mut Relaxed| {
            relaxed.permit(MAIN, OTHER);
            relaxed.drop_permit(OTHER);
            relaxed.take_permit(OTHER);
        };
        check_order(parks_for_a_lock, false);
        let elsewhere = |relaxed: &mut Relaxed| {
            relaxed.release(MAIN, 5);
            assert!(!relaxed.acquire(OTHER, 6));
        };
        check_order(elsewhere, false);
    }

    #[test]
    fn a_lock_that_was_given_back_is_not_kept() {
        let mut relaxed = Relaxed::default();
        let held = |relaxed: &mut Relaxed| relaxed.stamp(MAIN).locks;
        for lock in [1, 2] {
            relaxed.lock(MAIN, LockId(lock), LockMode::Exclusive, (SITE, 0));
        }
        let first = held(&mut relaxed);
        // Once more and back again changes nothing.
        relaxed.lock(MAIN, LockId(1), LockMode::Exclusive, (SITE, 0));
        relaxed.unlock(MAIN, LockId(1));
        relaxed.unlock(MAIN, LockId(2));
        relaxed.lock(MAIN, LockId(2), LockMode::Exclusive, (SITE, 0));
        let second = held(&mut relaxed);
        let both: Vec<LockId> = kept(&first, &second).map(|held| held.lock).collect();
        assert_eq!(both, [LockId(1)]);
        assert_eq!(relaxed.unlock_all(MAIN, LockId(1)), 1);
        assert_eq!(kept(&first, &held(&mut relaxed)).count(), 0);
    }

    #[test]
    fn shared_locks_exclude_only_exclusive_ones() {
        let held = |lock, mode| Held { lock: LockId(lock), mode, time: 1, site: SITE, context: 0 };
        let (shared, exclusive) = (held(1, LockMode::Shared), held(1, LockMode::Exclusive));
        assert!(exclusive.excludes(&exclusive) && exclusive.excludes(&shared) && shared.excludes(&exclusive));
        assert!(!shared.excludes(&shared) && !exclusive.excludes(&held(2, LockMode::Exclusive)));
    }
}
