//! What a thread is about to do when it stops, and what it is told when it goes on.

use fissure_model::ids::{LocationId, LockId, SiteId};

/// Virtual time in nanoseconds.
pub type Nanos = u64;

/// What a thread waits to be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// To run its first instruction.
    Begin,
    /// To enter a monitor.
    Acquire {
        /// The monitor.
        lock: LockId,
        /// Where.
        site: SiteId,
    },
    /// To try for a lock that blocks by [`Operation::Park`] and tells when it was got.
    Attempt {
        /// The lock.
        lock: LockId,
        /// Where.
        site: SiteId,
    },
    /// To go on after it waited in a monitor, which it must enter again first.
    Resume {
        /// The monitor.
        lock: LockId,
        /// How often it had been entered.
        count: u32,
        /// When it goes on without having been notified.
        until: Option<Nanos>,
        /// Where.
        site: SiteId,
    },
    /// To go on after some time.
    Sleep {
        /// When.
        until: Nanos,
        /// Where.
        site: SiteId,
    },
    /// To get a permit.
    Park {
        /// When it goes on without one.
        until: Option<Nanos>,
        /// Where.
        site: SiteId,
    },
    /// To go on, after it has offered that others go first.
    Yield {
        /// Where.
        site: SiteId,
    },
    /// To read or write a memory location.
    Access {
        /// The location.
        location: LocationId,
        /// Whether it is written.
        is_write: bool,
        /// Where.
        site: SiteId,
    },
    /// To do anything else that others may see.
    Step {
        /// Where.
        site: SiteId,
    },
}

impl Operation {
    /// The lock that the operation is about to get.
    pub fn acquires(&self) -> Option<LockId> {
        match *self {
            Operation::Acquire { lock, .. } | Operation::Attempt { lock, .. } => Some(lock),
            _ => None,
        }
    }

    /// The lock that the thread has once the operation is done, be it again after it waited.
    pub fn enters(&self) -> Option<LockId> {
        match *self {
            Operation::Resume { lock, .. } => Some(lock),
            _ => self.acquires(),
        }
    }

    /// Where in the code.
    pub fn site(&self) -> Option<SiteId> {
        match *self {
            Operation::Begin => None,
            Operation::Acquire { site, .. }
            | Operation::Attempt { site, .. }
            | Operation::Resume { site, .. }
            | Operation::Sleep { site, .. }
            | Operation::Park { site, .. }
            | Operation::Yield { site }
            | Operation::Access { site, .. }
            | Operation::Step { site } => Some(site),
        }
    }

    /// When the operation happens by itself.
    pub fn until(&self) -> Option<Nanos> {
        match *self {
            Operation::Sleep { until, .. } => Some(until),
            Operation::Resume { until, .. } | Operation::Park { until, .. } => until,
            _ => None,
        }
    }
}

/// Why a thread that waited goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// It was notified, got its permit, or had nothing to wait for.
    Called,
    /// Its time had come.
    TimedOut,
    /// It was interrupted.
    Interrupted,
}
