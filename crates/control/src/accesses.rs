//! Memory accesses, and calls of collections, as scheduling points.

use fissure_model::ids::{LocationId, SiteId, ThreadId};
use fissure_schedule::{conductor::Decision, operation::Operation, strategy::GoalRole};

use crate::{ControlledRun, calls::OpenCall, front_end::FrontEnd, points::Point, sets, thread_unsafe::Parts};

/// An access between its scheduling points and its execution.
#[derive(Debug, Clone, Copy)]
pub struct PendingAccess {
    location: LocationId,
    is_write: bool,
    site: SiteId,
    flags: i32,
    role: GoalRole,
    /// The operation of the scheduling point.
    operation: Operation,
    /// Whether the thread spins at the site, and yields before the access.
    yields: bool,
    /// Whether it is the call of a collection whose access is recorded when it returns, and if so, whether the call passes all elements to
    /// the program's code.
    open_call: Option<bool>,
}

impl PendingAccess {
    /// The number of scheduling points, at each of which [`ControlledRun::arrive_at_access`] is called.
    pub fn scheduling_points(&self) -> usize {
        1 + usize::from(self.yields)
    }
}

impl ControlledRun {
    /// Whether accesses of a thread are no scheduling points because the program is in a single-threaded phase, where no remote access is
    /// possible. A program may make very many accesses before it starts its threads.
    #[inline]
    pub fn skips_accesses(&self, thread: ThreadId) -> bool {
        self.reports_interleavings && self.conductor.is_alone(thread)
    }

    /// A thread is about to access a field of an object (0 for static fields), or the element of an array at this index. `None` if
    /// the access is no scheduling point.
    #[inline]
    pub fn before_access(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        (object, index): (u32, u32),
        (site, flags): (SiteId, i32),
    ) -> Option<PendingAccess> {
        self.close_finished_calls(front, thread);
        let (part, is_write, may_spin) = match self.points.point(front, site) {
            Point::Ignored => return None,
            Point::Field { number, is_write, is_volatile } => (number, is_write, is_volatile || !is_write),
            Point::Element { is_write } => (sets::element(index), is_write, !is_write),
        };
        let location = LocationId(u64::from(object) << 32 | u64::from(part));
        let yields = may_spin && self.conductor.spins(thread, site);
        let role = match self.reports_interleavings {
            true => self.access_role(location, flags),
            false => self.set_role(front, thread, location, site, flags),
        };
        let operation = Operation::Access { location, is_write, site };
        Some(PendingAccess { location, is_write, site, flags, role, operation, yields, open_call: None })
    }

    /// A thread is about to call a method of a collection or an atomic. `parts` gives the classes whose code works on the object, or on
    /// the one that it wraps, if that is thread-unsafe; `walks` says that the call passes all elements to the program's code. `None` if the call is no scheduling point.
    pub fn before_call(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        object: u32,
        (site, flags): (SiteId, i32),
        walks: bool,
        parts: impl FnOnce() -> Parts,
    ) -> Option<PendingAccess> {
        self.close_finished_calls(front, thread);
        let location = sets::contents_of(object);
        let is_write = front.is_write(site);
        let (role, operation, open_call) = if self.reports_interleavings {
            if self.points.name_contents(front, object, site) {
                self.points.note_parts(object, parts());
            }
            (self.access_role(location, flags), Operation::Access { location, is_write, site }, None)
        } else {
            if !self.is_in_set(front, thread, location, site) {
                return None;
            }
            (self.set_role(front, thread, location, site, flags), Operation::Step { site }, Some(walks))
        };
        let yields = !is_write && self.conductor.spins(thread, site);
        Some(PendingAccess { location, is_write, site, flags, role, operation, yields, open_call })
    }

    /// One of the access's scheduling points, by its number: the conductor chooses the thread that runs next.
    #[inline]
    pub fn arrive_at_access(&mut self, thread: ThreadId, access: &PendingAccess, point: usize) -> Decision {
        let operation = match access.yields && point == 0 {
            true => Operation::Yield { site: access.site },
            false => access.operation,
        };
        self.arrive_as(thread, operation, access.flags, access.role)
    }

    /// The thread accesses the location next, before any other thread runs.
    #[inline]
    pub fn access(&mut self, front: &dyn FrontEnd, thread: ThreadId, access: &PendingAccess) {
        let &PendingAccess { location, is_write, site, .. } = access;
        if self.reports_interleavings {
            self.note_access(thread, location, is_write, site);
        } else if let Some(walks) = access.open_call {
            let depth = self.conductor.units(thread).len();
            self.note_locks(thread, site);
            let call = OpenCall { location, is_write, site, walks, depth, was_preempted: false };
            self.thread(thread).calls.push(call);
            if let Some(observer) = self.conductor.observer() {
                observer.began_access(thread);
            }
        } else {
            self.note_set_access(front, thread, location, is_write, site);
        }
    }

    /// A thread has read a field that holds an array or a collection.
    pub fn note_holder(&mut self, front: &dyn FrontEnd, holder: u32, held: u32, site: SiteId) {
        if let Some(field) = self.points.holding_field(front, site) {
            self.sets.holds(holder, field, held);
        }
    }
}
