//! What is made of memory accesses in a controlled execution: predictions of atomic-set violations and of races, and those
//! that happen.
//!
//! The conductor tells what orders its threads and which locks they hold; the front end tells of accesses, once they are
//! executed, because it alone knows which fields belong together.

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
    relaxed::{Held, Relaxed},
};
use fissure_model::{
    event::{AccessKind, LockMode},
    ids::{LocationId, LockId, SiteId, ThreadId},
};

/// What is looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Atomic-set violations that could happen.
    pub predictions: bool,
    /// Atomic-set violations that happen.
    pub violations: bool,
    /// Pairs of accesses that could race.
    pub races: bool,
    /// Accesses that could come in between others.
    pub interleavings: bool,
}

/// Two threads that stand before conflicting accesses to one location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Race {
    /// The location.
    pub location: LocationId,
    /// Who, where, and whether it is about to write; the one that came first, and the one that has come now.
    pub sides: [(ThreadId, SiteId, bool); 2],
}

/// Follows accesses, locks and order.
#[derive(Debug, Default)]
pub struct Observer {
    relaxed: Relaxed,
    profile: Option<Profile>,
    checker: Option<Checker>,
    racing: Option<Racing>,
    interleavings: Option<Candidates>,
    violations: VecDeque<Violation>,
    races: VecDeque<Race>,
    /// By thread, the locks that its accesses which have begun and not ended are made under, the innermost last.
    begun: Vec<Vec<Vec<Held>>>,
    /// Whether there was ever more than one thread: what comes before is ordered with everything.
    has_company: bool,
}

impl Observer {
    /// Looks for what is wanted.
    pub fn new(wanted: Wanted) -> Self {
        Observer {
            profile: wanted.predictions.then(|| Profile::new(Bounds::default())),
            checker: wanted.violations.then(Checker::default),
            racing: wanted.races.then(Racing::default),
            interleavings: wanted.interleavings.then(Candidates::default),
            ..Observer::default()
        }
    }

    /// A thread has accessed a location of an atomic set.
    pub fn accessed_set(&mut self, access: &Access, step: u64) {
        self.add(access, None, step);
    }

    /// A thread begins with an access that it needs locks of its own for: whatever it holds now and gets until
    /// [its end](Self::ended_access), it is made under.
    pub fn began_access(&mut self, thread: ThreadId) {
        let held = self.relaxed.stamp(thread).locks.to_vec();
        self.begun_by(thread).push(held);
    }

    /// The access that the thread began last has happened. Without any it is forgotten.
    pub fn ended_access(&mut self, thread: ThreadId, access: Option<&Access>, step: u64) {
        let held = self.begun_by(thread).pop();
        if let Some(access) = access {
            self.add(access, held, step);
        }
    }

    fn begun_by(&mut self, thread: ThreadId) -> &mut Vec<Vec<Held>> {
        let place = thread.0 as usize;
        if place >= self.begun.len() {
            self.begun.resize_with(place + 1, Vec::new);
        }
        &mut self.begun[place]
    }

    /// Adds an access that was made under these locks, or under those that are held now.
    fn add(&mut self, access: &Access, held: Option<Vec<Held>>, step: u64) {
        if !self.has_company {
            return;
        }
        if let Some(profile) = &mut self.profile {
            let mut stamp = self.relaxed.stamp(access.thread);
            if let Some(held) = held {
                stamp.locks = held.into();
            }
            profile.access(access, &stamp);
        }
        if let Some(checker) = &mut self.checker {
            self.violations.extend(checker.access(access, step));
            if access.unit.unit.is_none() {
                checker.ended(access.thread, access.unit);
            }
        }
    }

    /// A thread has accessed a location, be it of a set or not.
    pub fn accessed(&mut self, thread: ThreadId, location: LocationId, kind: AccessKind, site: SiteId) {
        if let Some(racing) = self.racing.as_mut().filter(|_| self.has_company) {
            let stamp = self.relaxed.stamp(thread);
            racing.access(&self.relaxed, thread, location, kind, site, &stamp);
        }
    }

    /// A thread has accessed a location, or something else that has a number, whatever orders its accesses.
    pub fn touched(&mut self, thread: ThreadId, place: u64, kind: AccessKind, site: SiteId) {
        if let Some(interleavings) = self.interleavings.as_mut().filter(|_| self.has_company) {
            let stamp = self.relaxed.stamp(thread);
            interleavings.access(thread, place, kind, site, &stamp);
        }
    }

    /// A violation that was executed and not asked for before.
    pub fn take_violation(&mut self) -> Option<Violation> {
        self.violations.pop_front()
    }

    /// A race that was seen and not asked for before.
    pub fn take_race(&mut self) -> Option<Race> {
        self.races.pop_front()
    }

    /// The atomic-set violations that other executions may show, and what was left out. Asked once.
    pub fn predictions(&mut self) -> (Vec<Prediction>, Cut) {
        self.profile.take().map_or_else(Default::default, |profile| profile.predict(&self.relaxed))
    }

    /// The pairs of places that may race, and how much was left out.
    pub fn racing_pairs(&self) -> (Vec<RacingPair>, u64) {
        self.racing.as_ref().map_or_else(Default::default, |racing| (racing.pairs().to_vec(), racing.cut()))
    }

    /// What could come in between, and how much was left out.
    pub fn interleavings(&self) -> (Vec<Candidate>, u64) {
        let told = |interleavings: &Candidates| (interleavings.told(&self.relaxed), interleavings.cut());
        self.interleavings.as_ref().map_or_else(Default::default, told)
    }

    /// What different threads access with no lock in common and in no order.
    pub fn unguarded(&self) -> Vec<u64> {
        self.interleavings
            .as_ref()
            .map_or_else(Vec::new, |interleavings| interleavings.unguarded(&self.relaxed))
    }

    /// Whether races are looked for.
    pub(crate) fn wants_races(&self) -> bool {
        self.racing.is_some()
    }

    pub(crate) fn raced(&mut self, race: Race) {
        self.races.push_back(race);
    }

    pub(crate) fn started(&mut self, parent: ThreadId, child: ThreadId) {
        self.has_company = true;
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

    /// A thread goes on after it was parked, for a lock or for something else.
    pub(crate) fn parked(&mut self, thread: ThreadId, for_a_lock: bool) {
        if for_a_lock {
            self.relaxed.drop_permit(thread);
        } else {
            self.relaxed.take_permit(thread);
        }
    }

    pub(crate) fn handed_over(&mut self, thread: ThreadId, place: u64) {
        self.relaxed.release(thread, place);
    }

    pub(crate) fn took_over(&mut self, thread: ThreadId, place: u64) -> bool {
        self.relaxed.acquire(thread, place)
    }

    pub(crate) fn locked(&mut self, thread: ThreadId, lock: LockId, is_shared: bool, place: (SiteId, u64)) {
        let mode = if is_shared { LockMode::Shared } else { LockMode::Exclusive };
        let Some(held) = self.relaxed.lock(thread, lock, mode, place) else { return };
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

    /// Executions of units are over.
    pub(crate) fn ended(&mut self, thread: ThreadId, numbers: &[u64]) {
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
