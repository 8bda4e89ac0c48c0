//! The operations before which threads stop, and the reasons why waits end.

use fissure_model::ids::{LocationId, LockId, SiteId};

/// Virtual time in nanoseconds.
pub type Nanos = u64;

/// An event outside of the threads, by a number that the front end chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventId(pub u64);

/// An operation before which a thread stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Executes the first instruction of the thread.
    Begin,
    /// Enters a monitor.
    Acquire {
        /// The monitor.
        lock: LockId,
        /// The site.
        site: SiteId,
    },
    /// Tries to acquire a lock that is not a monitor: it blocks by [`Operation::Park`], and the front end reports its acquire.
    Attempt {
        /// The lock.
        lock: LockId,
        /// The site.
        site: SiteId,
    },
    /// Continues after a wait in a monitor, which the thread must enter again first.
    Resume {
        /// The monitor.
        lock: LockId,
        /// How often the thread had entered it.
        count: u32,
        /// The deadline of the wait, if it has one.
        until: Option<Nanos>,
        /// The site.
        site: SiteId,
    },
    /// Continues after a sleep.
    Sleep {
        /// The end of the sleep.
        until: Nanos,
        /// The site.
        site: SiteId,
    },
    /// Takes a permit.
    Park {
        /// The deadline after which the thread continues without one.
        until: Option<Nanos>,
        /// The site.
        site: SiteId,
    },
    /// Continues when an event outside of the threads has happened, such as the arrival of input.
    External {
        /// The event.
        event: EventId,
        /// The deadline after which the thread continues without the event.
        until: Option<Nanos>,
        /// Whether the thread also continues when it is interrupted.
        is_interruptible: bool,
        /// The site.
        site: SiteId,
    },
    /// Continues after a yield.
    Yield {
        /// The site.
        site: SiteId,
    },
    /// Reads or writes a memory location.
    Access {
        /// The location.
        location: LocationId,
        /// Whether the access writes.
        is_write: bool,
        /// The site.
        site: SiteId,
    },
    /// Any other operation that other threads may observe.
    Step {
        /// The site.
        site: SiteId,
    },
}

impl Operation {
    /// The lock that the operation acquires, except after a wait.
    pub fn acquires(&self) -> Option<LockId> {
        match *self {
            Operation::Acquire { lock, .. } | Operation::Attempt { lock, .. } => Some(lock),
            _ => None,
        }
    }

    /// The lock that the operation acquires, including after a wait.
    pub fn enters(&self) -> Option<LockId> {
        match *self {
            Operation::Resume { lock, .. } => Some(lock),
            _ => self.acquires(),
        }
    }

    /// The site.
    pub fn site(&self) -> Option<SiteId> {
        match *self {
            Operation::Begin => None,
            Operation::Acquire { site, .. }
            | Operation::Attempt { site, .. }
            | Operation::Resume { site, .. }
            | Operation::Sleep { site, .. }
            | Operation::Park { site, .. }
            | Operation::External { site, .. }
            | Operation::Yield { site }
            | Operation::Access { site, .. }
            | Operation::Step { site } => Some(site),
        }
    }

    /// The deadline at which the operation becomes possible by itself, if it has one.
    pub fn until(&self) -> Option<Nanos> {
        match *self {
            Operation::Sleep { until, .. } => Some(until),
            Operation::Resume { until, .. }
            | Operation::Park { until, .. }
            | Operation::External { until, .. } => until,
            _ => None,
        }
    }
}

/// Why a thread's wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// The thread was notified, took a permit, its event happened, or it had nothing to wait for.
    Called,
    /// The time-out or sleep elapsed.
    TimedOut,
    /// The thread was interrupted.
    Interrupted,
}
