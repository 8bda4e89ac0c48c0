//! The conductor's interface to the [`Observer`]: accesses, units of work, and the operations that order threads.

use fissure_model::{
    ids::{LocationId, LockId, SiteId, ThreadId},
    interleaving::Action,
};

use super::{Conductor, State};
use crate::{
    observer::{Observer, Race},
    operation::Operation,
    trace::TraceStep,
    unit::Unit,
};

impl Conductor {
    /// Observes accesses from here on.
    pub fn observe_with(&mut self, observer: Observer) {
        self.observer = Some(Box::new(observer));
    }

    /// The observer of accesses, if there is one.
    pub fn observer(&mut self) -> Option<&mut Observer> {
        self.observer.as_deref_mut()
    }

    /// Records an access whose scheduling point was another operation of the thread. Returns the number of its step.
    pub fn log_access(
        &mut self,
        thread: ThreadId,
        location: LocationId,
        is_write: bool,
        site: SiteId,
    ) -> u64 {
        let action = if is_write { Action::Write } else { Action::Read };
        let (site, location) = (Some(site), Some(location));
        self.trace.push(TraceStep { thread, action, lock: None, other: None, site, location })
    }

    /// A thread has observed the end of another.
    pub fn joined(&mut self, thread: ThreadId, ended: ThreadId) {
        if self.observer.as_mut().is_some_and(|observer| observer.joined(thread, ended)) {
            self.split_units(thread);
        }
    }

    /// A thread releases its clock at the object with this number.
    pub fn hands_over(&mut self, thread: ThreadId, object: u64) {
        self.observe(|observer| observer.handed_over(thread, object));
    }

    /// A thread acquires the clock that was released at an object; `waits` says whether the operation waits for the release.
    pub fn takes_over(&mut self, thread: ThreadId, object: u64, waits: bool) {
        let is_new = self.observer.as_mut().is_some_and(|observer| observer.took_over(thread, object));
        if is_new && waits {
            self.split_units(thread);
        }
    }

    /// A thread enters a method in scope. The key identifies the method in every run, which site numbers do not.
    pub fn enter_unit(&mut self, thread: ThreadId, site: SiteId, key: u64) {
        self.thread(thread).units.enter(site, key);
    }

    /// A thread leaves a method in scope, by return or by exception.
    pub fn exit_unit(&mut self, thread: ThreadId, site: SiteId) {
        let ended = self.thread(thread).units.exit(site);
        self.observe(|observer| observer.ended(thread, &ended));
        self.end_parts(thread);
    }

    /// The methods in scope that a thread is in, the outermost first.
    pub fn units(&self, thread: ThreadId) -> &[Unit] {
        self.known(thread).units.stack()
    }

    /// A hash of the methods in scope that a thread is in, which is the same in every run.
    pub fn context(&self, thread: ThreadId) -> u64 {
        self.units(thread).last().map_or(0, |unit| unit.context)
    }

    pub(super) fn observe(&mut self, report: impl FnOnce(&mut Observer)) {
        if let Some(observer) = &mut self.observer {
            report(observer);
        }
    }

    /// Reports to the observer that a thread has acquired a lock, possibly re-entrantly.
    pub(super) fn report_lock(&mut self, thread: ThreadId, lock: LockId, is_shared: bool, site: SiteId) {
        if self.observer.is_some() {
            let context = self.context(thread);
            self.observe(|observer| observer.locked(thread, lock, is_shared, (site, context)));
        }
    }

    /// A thread waits for others: its units of work are not expected to be atomic across the wait.
    pub(super) fn split_units(&mut self, thread: ThreadId) {
        if self.observer.is_some() {
            let ended = self.thread(thread).units.split();
            self.observe(|observer| observer.ended(thread, &ended));
        }
    }

    /// Checks for a race: it is confirmed when two threads are stopped before conflicting accesses to one location, since both can run.
    pub(super) fn check_for_race(&mut self, thread: ThreadId, operation: Operation) {
        let Operation::Access { location, is_write, site } = operation else { return };
        if !self.observer.as_ref().is_some_and(|observer| observer.wants_races()) {
            return;
        }
        let conflicting = |(number, other): (usize, &super::Thread)| match other.state {
            State::Stopped(Operation::Access { location: there, is_write: writes, site })
                if there == location && (writes || is_write) && number != thread.0 as usize =>
            {
                Some((ThreadId(number as u32), site, writes))
            }
            _ => None,
        };
        let races: Vec<Race> = self
            .threads
            .iter()
            .enumerate()
            .filter_map(conflicting)
            .map(|other| Race { location, sides: [other, (thread, site, is_write)] })
            .collect();
        for race in races {
            self.observe(|observer| observer.raced(race));
        }
    }
}
