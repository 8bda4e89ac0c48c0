//! The exact model of a monitor, and what is known of locks that block by other means.

use fissure_model::ids::ThreadId;

/// A lock as the conductor sees it. Who waits for it is written down with the threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lock {
    /// Who holds it. Of a lock that many may hold at once, whoever got it last.
    pub(crate) owner: Option<ThreadId>,
    /// How often the owner has entered it.
    pub(crate) count: u32,
    /// Whether the owner got it calmly, so that it is none of the execution's steps.
    pub(crate) is_calm: bool,
    /// Threads that wait to be notified, in the order in which they came.
    pub(crate) waiters: Vec<ThreadId>,
}

impl Lock {
    /// Whether a thread may enter now.
    pub(crate) fn is_open_to(&self, thread: ThreadId) -> bool {
        self.owner.is_none_or(|owner| owner == thread)
    }

    /// Whether this makes a thread the owner that was not before.
    pub(crate) fn enter(&mut self, thread: ThreadId, times: u32) -> bool {
        let is_new = self.owner != Some(thread);
        if is_new {
            self.owner = Some(thread);
            self.count = 0;
        }
        self.count += times;
        is_new
    }

    /// Whether the owner has left for good. Leaving what one does not hold changes nothing.
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

    /// Leaves it however often it was entered; says how often.
    pub(crate) fn leave_all(&mut self, thread: ThreadId) -> u32 {
        if self.owner != Some(thread) {
            return 0;
        }
        self.owner = None;
        std::mem::take(&mut self.count)
    }
}
