//! Access histories of locations that several threads share.
//!
//! A history is a set of accesses: for each thread the latest ones that can still race. Histories are interned, so
//! that a million objects accessed by the same code in the same threads share one. A history answers two questions:
//! is the current access ordered after all that it conflicts with, and which earlier access should a report show.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use fissure_model::event::AccessKind;

use crate::{
    locksets::LockSets,
    order::{Order, Segment},
    word::OWNER_BITS,
};

/// One remembered access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The segment of the thread.
    pub segment: Segment,
    /// Whether it wrote.
    pub wrote: bool,
    /// The site.
    pub site: u32,
    /// The lock set that protected it.
    pub set: u32,
    /// Whether it may be part of the location's initialisation: an access by the first thread before a second
    /// thread accessed the location (see [`crate::lockset`]).
    pub initial: bool,
}

type Entries = SmallVec<[Entry; 4]>;

/// How many accesses are remembered per location; beyond that, the oldest are dropped.
const MOST_ENTRIES: usize = 16;
/// How many reads, and how many writes, of one thread under different locks are remembered.
const MOST_ALIKE: usize = 4;
const LIMIT: usize = (1 << OWNER_BITS) - 1;

/// The table of histories.
#[derive(Debug)]
pub struct Histories {
    histories: Vec<Box<[Entry]>>,
    /// The numbers of the histories by hash; the entries are stored only in `histories`.
    numbers: FxHashMap<u64, SmallVec<[u32; 1]>>,
    truncated: bool,
}

impl Default for Histories {
    fn default() -> Self {
        let mut histories =
            Histories { histories: Vec::new(), numbers: FxHashMap::default(), truncated: false };
        histories.intern(&[]);
        histories
    }
}

impl Histories {
    /// The accesses of a history.
    pub fn entries(&self, history: u32) -> &[Entry] {
        let entries = self.histories.get(history as usize);
        entries.unwrap_or_else(|| panic!("history {history} was never recorded"))
    }

    /// The history with exactly these accesses; `None` if the table is full.
    pub fn of(&mut self, entries: &[Entry]) -> Option<u32> {
        self.intern(entries)
    }

    /// The history after one more access; `None` if the table is full.
    ///
    /// An access is dropped once a later one covers it, that is, once every access that will race with it will race with
    /// the later one as well: the later one follows it in the same thread or by start and join, writes if it wrote, and
    /// holds no lock that it did not hold. A new access that one of the same segment already covers changes nothing.
    pub fn add(&mut self, history: u32, access: Entry, order: &Order, sets: &mut LockSets) -> Option<u32> {
        let old = self.entries(history);
        if old.iter().any(|entry| entry.segment == access.segment && covers(entry, &access, sets)) {
            return Some(history);
        }
        let thread = order.thread_of(access.segment);
        // A thread that uses different locks each time would add accesses without bound. Two accesses without a common
        // lock already show that no lock protects the location, so that a few are kept and further ones add nothing.
        let alike = old.iter().filter(|entry| {
            order.thread_of(entry.segment) == thread
                && entry.wrote == access.wrote
                && !covers(&access, entry, sets)
        });
        if alike.count() >= MOST_ALIKE {
            return Some(history);
        }
        let mut entries: Entries = old
            .iter()
            .copied()
            .filter(|entry| {
                let earlier = order.thread_of(entry.segment) == thread
                    || order.is_before(entry.segment, access.segment);
                !(earlier && covers(&access, entry, sets))
            })
            .collect();
        if entries.len() >= MOST_ENTRIES {
            entries.remove(0);
            self.truncated = true;
        }
        entries.push(access);
        self.intern(&entries)
    }

    /// Whether accesses were dropped that might still have raced.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    fn intern(&mut self, entries: &[Entry]) -> Option<u32> {
        let hash = FxBuildHasher.hash_one(entries);
        let numbers = self.numbers.entry(hash).or_default();
        let known = numbers.iter().copied().find(|&number| *self.histories[number as usize] == *entries);
        if known.is_some() {
            return known;
        }
        if self.histories.len() >= LIMIT {
            self.truncated = true;
            return None;
        }
        let number = self.histories.len() as u32;
        self.histories.push(entries.into());
        numbers.push(number);
        Some(number)
    }
}

/// Whether every access that races with `entry` races with `cover` as well, judged by locks, writes and initialisation.
pub fn covers(cover: &Entry, entry: &Entry, sets: &mut LockSets) -> bool {
    (cover.wrote || !entry.wrote)
        && (!cover.initial || entry.initial)
        && sets.intersect(entry.set, cover.set) == cover.set
}

/// Whether an access of this kind conflicts with an earlier one of another thread: at least one of them writes.
pub fn conflicts(earlier: &Entry, kind: AccessKind) -> bool {
    earlier.wrote || kind == AccessKind::Write
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(segment: Segment, wrote: bool) -> Entry {
        guarded(segment, wrote, 0)
    }

    fn guarded(segment: Segment, wrote: bool, set: u32) -> Entry {
        Entry { segment, wrote, site: 1, set, initial: false }
    }

    #[test]
    fn accesses_ordered_before_a_write_are_dropped() {
        let mut order = Order::default();
        let main = order.root();
        let first = order.segment(main);
        let child = order.start(main);
        let inner = order.segment(child);
        let (mut histories, mut sets) = (Histories::default(), LockSets::default());
        let history = histories.of(&[entry(first, true)]).unwrap();
        let read = histories.add(history, entry(inner, false), &order, &mut sets).unwrap();
        assert_eq!(histories.entries(read), [entry(first, true), entry(inner, false)]);
        let write = histories.add(read, entry(inner, true), &order, &mut sets).unwrap();
        assert_eq!(histories.entries(write), [entry(inner, true)]);
        assert_eq!(histories.add(write, entry(inner, false), &order, &mut sets), Some(write));
    }

    #[test]
    fn an_unlocked_write_is_not_covered_by_a_locked_one_that_comes_after_it() {
        let mut order = Order::default();
        let main = order.root();
        let first = order.segment(main);
        let child = order.start(main);
        let inner = order.segment(child);
        let (mut histories, mut sets) = (Histories::default(), LockSets::default());
        let lock = sets.add(0, 7);
        let history = histories.of(&[entry(first, true)]).unwrap();
        let both = histories.add(history, guarded(inner, true, lock), &order, &mut sets).unwrap();
        assert_eq!(histories.entries(both), [entry(first, true), guarded(inner, true, lock)]);
        let unlocked = histories.add(both, entry(inner, false), &order, &mut sets).unwrap();
        let all = [entry(first, true), guarded(inner, true, lock), entry(inner, false)];
        assert_eq!(histories.entries(unlocked), all);
        let written = histories.add(unlocked, entry(inner, true), &order, &mut sets).unwrap();
        assert_eq!(histories.entries(written), [entry(inner, true)]);
    }

    #[test]
    fn few_accesses_are_kept_of_a_thread_that_uses_different_locks_each_time() {
        let mut order = Order::default();
        let main = order.root();
        let segment = order.segment(main);
        let (mut histories, mut sets) = (Histories::default(), LockSets::default());
        let mut history = 0;
        for lock in 10..100 {
            let set = sets.add(0, lock);
            history = histories.add(history, guarded(segment, true, set), &order, &mut sets).unwrap();
        }
        assert_eq!(histories.entries(history).len(), MOST_ALIKE);
        let unlocked = histories.add(history, entry(segment, true), &order, &mut sets).unwrap();
        assert_eq!(histories.entries(unlocked), [entry(segment, true)]);
    }

    #[test]
    fn unordered_accesses_are_kept() {
        let mut order = Order::default();
        let main = order.root();
        let left = order.start(main);
        let right = order.start(main);
        let (mut histories, mut sets) = (Histories::default(), LockSets::default());
        let history = histories.of(&[entry(order.segment(left), true)]).unwrap();
        let both = histories.add(history, entry(order.segment(right), true), &order, &mut sets).unwrap();
        assert_eq!(histories.entries(both).len(), 2);
    }
}
