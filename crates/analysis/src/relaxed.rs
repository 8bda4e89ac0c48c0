//! The relaxed happens-before order of an execution, and the locks that its threads hold.
//!
//! Paper: Z. Lai, S.C. Cheung and W.K. Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs through
//! Active Randomized Testing", ICSE 2010, sections 4.1.1 and 4.1.2.
//!
//! Kept: only operations by which a program deliberately orders its threads count: start, join and notify. The order in which
//! threads happened to acquire a lock or access a location does not count, because another schedule can reverse it. Deviations:
//!
//! - The library's counterparts of start, join and notify count as well: permits, and [hand-overs](Relaxed::release) at an
//!   object (tasks, results, latches, barriers).
//! - A lock is held in one of two modes, and two threads that both share a lock do not exclude each other.
//!
//! Every acquire of a lock has a unique number. The locks that a thread held from one access to another are therefore those
//! whose acquires both accesses have in common, and releases need not be recorded.

use std::sync::Arc;

use fissure_model::{
    event::LockMode,
    ids::{LockId, SiteId, ThreadId},
};
use rustc_hash::FxHashMap;

use crate::order::{Acquire, Order, Release, Released, Segment, Source};

/// The source of all order but start and join: predictions do not tell sources.
const RELEASE: Release = Release { hands_over: true, has_accesses: true };
const HAND_OVER: Acquire = Acquire { source: Source(Source::FIRST), hands_over: true, has_accesses: true };

/// A lock that a thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    /// The lock.
    pub lock: LockId,
    /// The mode.
    pub mode: LockMode,
    /// The unique number of the acquire.
    pub time: u64,
    /// The site of the acquire.
    pub site: SiteId,
    /// The calls that led to the acquire, as a hash.
    pub context: u64,
}

impl Held {
    /// Whether one thread cannot hold this lock while another holds the other one.
    pub fn excludes(&self, other: &Held) -> bool {
        self.lock == other.lock && !(self.mode == LockMode::Shared && other.mode == LockMode::Shared)
    }
}

/// The locks that a thread holds at some point, in the order of their acquires.
pub type Locks = Arc<[Held]>;

/// The position of an operation in the relaxed order, and the locks held during it.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// The segment of the thread.
    pub segment: Segment,
    /// The held locks.
    pub locks: Locks,
}

/// Tracks the relaxed order and the held locks during an execution.
#[derive(Debug, Default)]
pub struct Relaxed {
    order: Order,
    threads: Vec<Thread>,
    /// The clocks that threads released at objects, by the objects' numbers.
    hand_overs: FxHashMap<u64, Released>,
    acquires: u64,
}

#[derive(Debug, Clone)]
struct Thread {
    /// The thread's number in [`Order`].
    number: ThreadId,
    held: Vec<(Held, u32)>,
    snapshot: Locks,
    permit: Option<Released>,
}

impl Relaxed {
    /// A thread starts another.
    pub fn start(&mut self, parent: ThreadId, child: ThreadId) {
        let parent = self.thread(parent).number;
        let number = self.order.start(parent);
        self.thread(child).number = number;
    }

    /// A thread has observed the end of another. Returns whether this adds to the order.
    pub fn join(&mut self, thread: ThreadId, ended: ThreadId) -> bool {
        let (thread, ended) = (self.thread(thread).number, self.thread(ended).number);
        let last = self.order.segment(ended);
        let is_new = !self.order.is_before(last, self.order.segment(thread));
        if is_new {
            self.order.join(thread, ended);
        }
        is_new
    }

    /// A thread wakes another one that waits.
    pub fn wake(&mut self, thread: ThreadId, woken: ThreadId) {
        let (thread, woken) = (self.thread(thread).number, self.thread(woken).number);
        let mut wake = Released::default();
        self.order.release(thread, &mut wake, RELEASE);
        self.order.acquire(woken, &wake, HAND_OVER);
    }

    /// A thread unparks another one, which may take the permit later.
    pub fn permit(&mut self, thread: ThreadId, permitted: ThreadId) {
        let number = self.thread(thread).number;
        let mut permit = self.thread(permitted).permit.take().unwrap_or_default();
        self.order.release(number, &mut permit, RELEASE);
        self.thread(permitted).permit = Some(permit);
    }

    /// A thread continues after a park, whether it blocked or not.
    pub fn take_permit(&mut self, thread: ThreadId) {
        let thread = self.thread(thread);
        if let Some(permit) = thread.permit.take() {
            let number = thread.number;
            self.order.acquire(number, &permit, HAND_OVER);
        }
    }

    /// A thread took its permit only to acquire a lock, which orders nothing.
    pub fn drop_permit(&mut self, thread: ThreadId) {
        self.thread(thread).permit = None;
    }

    /// A thread releases its clock at an object: its operations so far happen before those of threads that acquire it there.
    pub fn release(&mut self, thread: ThreadId, object: u64) {
        let number = self.thread(thread).number;
        self.order.release(number, self.hand_overs.entry(object).or_default(), RELEASE);
    }

    /// A thread acquires the clock that was released at an object. Returns whether this adds to the order.
    pub fn acquire(&mut self, thread: ThreadId, object: u64) -> bool {
        let number = self.thread(thread).number;
        let Some(released) = self.hand_overs.get(&object) else { return false };
        self.order.acquire(number, released, HAND_OVER)
    }

    /// A thread has acquired a lock, possibly re-entrantly. Returns the held lock if the thread did not hold it before.
    pub fn lock(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        mode: LockMode,
        (site, context): (SiteId, u64),
    ) -> Option<Held> {
        self.acquires += 1;
        let time = self.acquires;
        let thread = self.thread(thread);
        if let Some((_, count)) = thread.held.iter_mut().find(|(held, _)| held.lock == lock) {
            *count += 1;
            return None;
        }
        let held = Held { lock, mode, time, site, context };
        thread.held.push((held, 1));
        thread.update_snapshot();
        Some(held)
    }

    /// A thread releases a lock once; it still holds the lock if it acquired it more often.
    pub fn unlock(&mut self, thread: ThreadId, lock: LockId) {
        let thread = self.thread(thread);
        let Some(index) = thread.held.iter().rposition(|(held, _)| held.lock == lock) else { return };
        thread.held[index].1 -= 1;
        if thread.held[index].1 == 0 {
            thread.held.remove(index);
            thread.update_snapshot();
        }
    }

    /// A thread releases a lock completely; returns how often it had acquired it.
    pub fn unlock_all(&mut self, thread: ThreadId, lock: LockId) -> u32 {
        let thread = self.thread(thread);
        let Some(index) = thread.held.iter().rposition(|(held, _)| held.lock == lock) else { return 0 };
        let (_, count) = thread.held.remove(index);
        thread.update_snapshot();
        count
    }

    /// The stamp of an operation that a thread executes now.
    pub fn stamp(&mut self, thread: ThreadId) -> Stamp {
        let thread = self.thread(thread);
        let (number, locks) = (thread.number, thread.snapshot.clone());
        Stamp { segment: self.order.segment(number), locks }
    }

    /// Whether one segment precedes another in the relaxed order.
    pub fn is_before(&self, earlier: Segment, later: Segment) -> bool {
        self.order.is_before(earlier, later)
    }

    /// Whether there were more segments than [`Order`] has numbers for, so that some share one.
    pub fn is_saturated(&self) -> bool {
        self.order.is_saturated()
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        let index = thread.0 as usize;
        while index >= self.threads.len() {
            let number = self.order.root();
            self.threads.push(Thread { number, held: Vec::new(), snapshot: Arc::from([]), permit: None });
        }
        &mut self.threads[index]
    }
}

impl Thread {
    fn update_snapshot(&mut self) {
        self.snapshot = self.held.iter().map(|(held, _)| *held).collect();
    }
}

/// The locks that a thread held from one point to a later one.
pub fn kept<'a>(from: &'a [Held], to: &'a [Held]) -> impl Iterator<Item = &'a Held> {
    from.iter().filter(|held| to.iter().any(|other| other.time == held.time))
}

#[cfg(test)]
pub(crate) mod testing {
    use fissure_model::event::AccessKind;

    use super::*;

    /// Executes the operations in a text, one word per operation; the number of the word is its site. `1:Ra` and `1:Wa` are accesses of
    /// thread 1, which are passed to `access`; `1:+l`, `1:*l` and `1:-l` acquire a lock exclusively, acquire it shared and release it;
    /// `0:>1` and `0:<1` start and join thread 1.
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
    fn deliberate_synchronization_orders_threads() {
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
    fn incidental_order_does_not_count() {
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
        let at_different_objects = |relaxed: &mut Relaxed| {
            relaxed.release(MAIN, 5);
            assert!(!relaxed.acquire(OTHER, 6));
        };
        check_order(at_different_objects, false);
    }

    #[test]
    fn a_released_lock_was_not_held_throughout() {
        let mut relaxed = Relaxed::default();
        let held = |relaxed: &mut Relaxed| relaxed.stamp(MAIN).locks;
        for lock in [1, 2] {
            relaxed.lock(MAIN, LockId(lock), LockMode::Exclusive, (SITE, 0));
        }
        let first = held(&mut relaxed);
        // A re-entrant acquire and its release change nothing.
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
