//! The exact model of a monitor, also used for the owners of locks that are not monitors.

use fissure_model::ids::ThreadId;

/// The conductor's model of a lock. The threads that block on it are recorded with the threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lock {
    /// The holder; of a shared lock, the thread that acquired it last.
    pub(crate) owner: Option<ThreadId>,
    /// How often the owner has entered it.
    pub(crate) count: u32,
    /// Whether the owner's acquire was quiet, so that it is not a step of the execution.
    pub(crate) is_quiet: bool,
    /// Whether it is internal to a library: it is never the lock of an atomic block.
    pub(crate) is_internal: bool,
    /// Threads that wait to be notified, in the order in which they began to wait.
    pub(crate) waiters: Vec<ThreadId>,
}

impl Lock {
    /// Whether a thread may enter now.
    pub(crate) fn is_open_to(&self, thread: ThreadId) -> bool {
        self.owner.is_none_or(|owner| owner == thread)
    }

    /// Enters the lock; returns whether the thread did not own it before.
    pub(crate) fn enter(&mut self, thread: ThreadId, times: u32) -> bool {
        let is_new = self.owner != Some(thread);
        if is_new {
            self.owner = Some(thread);
            self.count = 0;
        }
        self.count += times;
        is_new
    }

    /// Leaves the lock once; returns whether the lock is free now. It does nothing if the thread is not the owner.
    pub(crate) fn leave(&mut self, thread: ThreadId) -> bool {
        if self.owner != Some(thread) {
            return false;
        }
        self.count = self.count.saturating_sub(1);
        if self.count == 0 {
            self.owner = None;
        }
        self.owner.is_none()
    }

    /// Leaves the lock completely; returns how often it had been entered.
    pub(crate) fn leave_all(&mut self, thread: ThreadId) -> u32 {
        if self.owner != Some(thread) {
            return 0;
        }
        self.owner = None;
        std::mem::take(&mut self.count)
    }
}
