//! What the conductor knows of methods and tells about accesses, and about the order of threads that matters for them.

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
    /// From here on accesses are followed.
    pub fn observe_with(&mut self, observer: Observer) {
        self.observer = Some(Box::new(observer));
    }

    /// What follows accesses, if anything does.
    pub fn observer(&mut self) -> Option<&mut Observer> {
        self.observer.as_deref_mut()
    }

    /// An access has happened that the thread stopped before, but for something else. Gives the number of the step that it is.
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

    /// A thread has seen the end of another.
    pub fn joined(&mut self, thread: ThreadId, ended: ThreadId) {
        if self.observer.as_mut().is_some_and(|observer| observer.joined(thread, ended)) {
            self.split_units(thread);
        }
    }

    /// A thread hands over what it did so far at an object that has this number.
    pub fn hands_over(&mut self, thread: ThreadId, place: u64) {
        self.observe(|observer| observer.handed_over(thread, place));
    }

    /// A thread takes over what was handed over at an object, having waited for that or not.
    pub fn takes_over(&mut self, thread: ThreadId, place: u64, waits: bool) {
        let is_news = self.observer.as_mut().is_some_and(|observer| observer.took_over(thread, place));
        if is_news && waits {
            self.split_units(thread);
        }
    }

    /// A method of interest begins in a thread. The key stands for the method in every run; sites may be numbered otherwise.
    pub fn enter_unit(&mut self, thread: ThreadId, site: SiteId, key: u64) {
        self.thread(thread).units.enter(site, key);
    }

    /// A method of interest ends in a thread, however it does.
    pub fn exit_unit(&mut self, thread: ThreadId, site: SiteId) {
        let ended = self.thread(thread).units.exit(site);
        self.observe(|observer| observer.ended(thread, &ended));
    }

    /// The methods of interest that a thread is in, the outermost first.
    pub fn units(&self, thread: ThreadId) -> &[Unit] {
        self.threads.get(thread.0 as usize).map_or(&[], |thread| thread.units.stack())
    }

    /// Which methods of interest a thread is in, as one number that is the same in every run.
    pub fn context(&self, thread: ThreadId) -> u64 {
        self.units(thread).last().map_or(0, |unit| unit.context)
    }

    pub(super) fn observe(&mut self, tell: impl FnOnce(&mut Observer)) {
        if let Some(observer) = &mut self.observer {
            tell(observer);
        }
    }

    /// A thread has got a lock, perhaps not for the first time.
    pub(super) fn tell_lock(&mut self, thread: ThreadId, lock: LockId, is_shared: bool, site: SiteId) {
        if self.observer.is_some() {
            let context = self.context(thread);
            self.observe(|observer| observer.locked(thread, lock, is_shared, (site, context)));
        }
    }

    /// A thread waits for others: its units of work are not meant to be atomic across that.
    pub(super) fn split_units(&mut self, thread: ThreadId) {
        if self.observer.is_some() {
            let ended = self.thread(thread).units.split();
            self.observe(|observer| observer.ended(thread, &ended));
        }
    }

    /// A race is real when two threads stand before conflicting accesses to one location: neither waits for anything.
    pub(super) fn look_for_race(&mut self, thread: ThreadId, operation: Operation) {
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
