//! The observer of memory accesses in a controlled execution. It predicts atomic-set violations, races and interleavings, and detects
//! the violations and races that happen.
//!
//! The conductor reports the operations that order threads and the locks that threads hold. The front end reports accesses once
//! they are executed, because only the front end knows the atomic sets.

use std::collections::VecDeque;

use fissure_analysis::{
    atomic_sets::{
        Access, Occurrence,
        checker::{Checker, Violation},
        predict::Prediction,
        profile::{Bounds, Cut, Profile},
    },
    interleavings::{Candidate, Candidates},
    racing::{Racing, RacingPair},
    relaxed::{Held, Relaxed, Stamp},
};
use fissure_model::{
    event::{AccessKind, LockMode},
    ids::{LocationId, LockId, SiteId, ThreadId},
    settings::Patterns,
};

/// Two threads that are stopped before conflicting accesses to one location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Race {
    /// The location.
    pub location: LocationId,
    /// The thread, the site, and whether the access writes; first for the thread that stopped earlier, then for the current one.
    pub sides: [(ThreadId, SiteId, bool); 2],
}

/// Tracks accesses, locks and the order of threads.
#[derive(Debug, Default)]
pub struct Observer {
    relaxed: Relaxed,
    profile: Option<Profile>,
    checker: Option<Checker>,
    racing: Option<Racing>,
    interleavings: Option<Candidates>,
    violations: VecDeque<Violation>,
    races: VecDeque<Race>,
    /// For each thread, the locks of its accesses that have begun and not ended, the innermost access last.
    begun: Vec<Vec<Vec<Held>>>,
    /// Whether the single-threaded phase is over. Accesses in that phase are ordered with all others and are ignored, except those of
    /// units of work that go on after it: other threads may come between these and the later accesses of the unit.
    is_multithreaded: bool,
    early: Vec<Early>,
    /// How many of them were dropped because there were too many.
    early_cut: u64,
}

/// How many accesses of the single-threaded phase are kept.
const EARLY: usize = 4_096;

/// An access to an atomic set in the single-threaded phase.
#[derive(Debug)]
struct Early {
    access: Access,
    stamp: Stamp,
    step: u64,
}

impl Observer {
    /// An observer that looks for these patterns.
    pub fn new(patterns: Patterns) -> Self {
        Observer {
            profile: patterns.predictions.then(|| Profile::new(Bounds::default())),
            checker: patterns.violations.then(Checker::default),
            racing: patterns.races.then(Racing::default),
            interleavings: patterns.interleavings.then(Candidates::default),
            ..Observer::default()
        }
    }

    /// A thread has accessed a location of an atomic set.
    pub fn accessed_set(&mut self, access: &Access, step: u64) {
        self.add(access, None, step);
    }

    /// A thread begins an access that acquires locks itself: all locks that the thread holds now or acquires until
    /// [the end of the access](Self::ended_access) protect it.
    pub fn began_access(&mut self, thread: ThreadId) {
        let held = self.relaxed.stamp(thread).locks.to_vec();
        self.begun_by(thread).push(held);
    }

    /// The access that the thread began last has happened, or was abandoned if `access` is `None`.
    pub fn ended_access(&mut self, thread: ThreadId, access: Option<&Access>, step: u64) {
        let held = self.begun_by(thread).pop();
        if let Some(access) = access {
            self.add(access, held, step);
        }
    }

    fn begun_by(&mut self, thread: ThreadId) -> &mut Vec<Vec<Held>> {
        let index = thread.0 as usize;
        if index >= self.begun.len() {
            self.begun.resize_with(index + 1, Vec::new);
        }
        &mut self.begun[index]
    }

    /// Adds an access that was made under these locks, or under those that the thread holds now.
    fn add(&mut self, access: &Access, held: Option<Vec<Held>>, step: u64) {
        if self.profile.is_none() && self.checker.is_none() {
            return;
        }
        let mut stamp = self.relaxed.stamp(access.thread);
        if let Some(held) = held {
            stamp.locks = held.into();
        }
        if self.is_multithreaded {
            self.add_stamped(access, &stamp, step);
        } else if access.unit.unit.is_some() {
            match self.early.len() < EARLY {
                true => self.early.push(Early { access: *access, stamp, step }),
                false => self.early_cut += 1,
            }
        }
    }

    fn add_stamped(&mut self, access: &Access, stamp: &Stamp, step: u64) {
        if let Some(profile) = &mut self.profile {
            profile.access(access, stamp);
        }
        if let Some(checker) = &mut self.checker {
            self.violations.extend(checker.access(access, step));
            if access.unit.unit.is_none() {
                checker.ended(access.thread, access.unit);
            }
        }
    }

    /// A thread has accessed a location, inside or outside of atomic sets.
    pub fn accessed(&mut self, thread: ThreadId, location: LocationId, kind: AccessKind, site: SiteId) {
        if let Some(racing) = self.racing.as_mut().filter(|_| self.is_multithreaded) {
            let stamp = self.relaxed.stamp(thread);
            racing.access(&self.relaxed, thread, location, kind, site, &stamp);
        }
    }

    /// A thread has accessed a location, or another numbered object such as an atomic or a collection. Synchronizing accesses count too.
    pub fn touched(&mut self, thread: ThreadId, location: u64, kind: AccessKind, site: SiteId) {
        if let Some(interleavings) = self.interleavings.as_mut().filter(|_| self.is_multithreaded) {
            let stamp = self.relaxed.stamp(thread);
            interleavings.access(thread, location, kind, site, &stamp);
        }
    }

    /// Takes the next violation that was executed.
    pub fn take_violation(&mut self) -> Option<Violation> {
        self.violations.pop_front()
    }

    /// Takes the next race that was observed.
    pub fn take_race(&mut self) -> Option<Race> {
        self.races.pop_front()
    }

    /// The atomic-set violations that other executions may show, and the omissions. Consumes the profile: later calls return nothing.
    pub fn predictions(&mut self) -> (Vec<Prediction>, Cut) {
        let (predictions, cut) =
            self.profile.take().map_or_else(Default::default, |profile| profile.predict(&self.relaxed));
        (predictions, Cut { accesses: cut.accesses + self.early_cut, ..cut })
    }

    /// The pairs of sites that may race, and how many were omitted.
    pub fn racing_pairs(&self) -> (Vec<RacingPair>, u64) {
        self.racing.as_ref().map_or_else(Default::default, |racing| (racing.pairs().to_vec(), racing.cut()))
    }

    /// The candidates for interleavings, reorderings and delays, and how much was omitted.
    pub fn interleavings(&self) -> (Vec<Candidate>, u64) {
        let ranked = |interleavings: &Candidates| (interleavings.ranked(&self.relaxed), interleavings.cut());
        self.interleavings.as_ref().map_or_else(Default::default, ranked)
    }

    /// The locations that different threads access without a common lock and without an order.
    pub fn unguarded(&self) -> Vec<u64> {
        self.interleavings
            .as_ref()
            .map_or_else(Vec::new, |interleavings| interleavings.unguarded(&self.relaxed))
    }

    /// Whether the observer looks for races.
    pub fn wants_races(&self) -> bool {
        self.racing.is_some()
    }

    pub(crate) fn raced(&mut self, race: Race) {
        self.races.push_back(race);
    }

    pub(crate) fn started(&mut self, parent: ThreadId, child: ThreadId) {
        if !self.is_multithreaded {
            self.is_multithreaded = true;
            for Early { access, stamp, step } in std::mem::take(&mut self.early) {
                self.add_stamped(&access, &stamp, step);
            }
        }
        self.relaxed.start(parent, child);
    }

    pub(crate) fn joined(&mut self, thread: ThreadId, ended: ThreadId) -> bool {
        self.relaxed.join(thread, ended)
    }

    pub(crate) fn woke(&mut self, thread: ThreadId, woken: ThreadId) {
        self.relaxed.wake(thread, woken);
    }

    pub(crate) fn permitted(&mut self, thread: ThreadId, permitted: ThreadId) {
        self.relaxed.permit(thread, permitted);
    }

    /// A thread continues after a park, which was part of acquiring a lock or not.
    pub(crate) fn parked(&mut self, thread: ThreadId, for_a_lock: bool) {
        if for_a_lock {
            self.relaxed.drop_permit(thread);
        } else {
            self.relaxed.take_permit(thread);
        }
    }

    pub(crate) fn handed_over(&mut self, thread: ThreadId, object: u64) {
        self.relaxed.release(thread, object);
    }

    pub(crate) fn took_over(&mut self, thread: ThreadId, object: u64) -> bool {
        self.relaxed.acquire(thread, object)
    }

    /// A thread has acquired a lock at a site with a calling context.
    pub(crate) fn locked(&mut self, thread: ThreadId, lock: LockId, is_shared: bool, at: (SiteId, u64)) {
        let mode = if is_shared { LockMode::Shared } else { LockMode::Exclusive };
        let Some(held) = self.relaxed.lock(thread, lock, mode, at) else { return };
        if let Some(begun) = self.begun.get_mut(thread.0 as usize) {
            begun.iter_mut().for_each(|locks| locks.push(held));
        }
        if let Some(profile) = &mut self.profile {
            profile.acquired(thread, held);
        }
    }

    pub(crate) fn unlocked(&mut self, thread: ThreadId, lock: LockId) {
        self.relaxed.unlock(thread, lock);
    }

    pub(crate) fn unlocked_all(&mut self, thread: ThreadId, lock: LockId) {
        self.relaxed.unlock_all(thread, lock);
    }

    /// Executions of units have ended.
    pub(crate) fn ended(&mut self, thread: ThreadId, numbers: &[u64]) {
        if !self.is_multithreaded && !self.early.is_empty() {
            self.early.retain(|early| !numbers.contains(&early.access.unit.number));
        }
        for &number in numbers {
            let occurrence = Occurrence { unit: None, number };
            if let Some(profile) = &mut self.profile {
                profile.ended(thread, occurrence);
            }
            if let Some(checker) = &mut self.checker {
                checker.ended(thread, occurrence);
            }
        }
    }
}
