//! The exact model of a monitor, also used for the owners of locks that are not monitors.

use fissure_model::ids::{SiteId, ThreadId};

/// The conductor's model of a lock. The threads that block on it are recorded with the threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lock {
    /// The thread that holds it exclusively.
    owner: Option<ThreadId>,
    /// How often the owner has entered it.
    count: u32,
    /// The threads that hold it shared, in the order of their acquires, with the number of their acquires.
    sharers: Vec<(ThreadId, u32)>,
    /// Whether the owner's acquire was quiet, so that it is not a step of the execution.
    pub(crate) is_quiet: bool,
    /// Whether it is internal to a library: it is never the lock of an atomic block.
    pub(crate) is_internal: bool,
    /// Whether a notification that no thread waited for is kept for the next wait.
    pub(crate) has_notification: bool,
    /// The last notification.
    pub(crate) notified: Option<Notification>,
    /// Threads that wait to be notified, in the order in which they began to wait.
    pub(crate) waiters: Vec<ThreadId>,
}

/// A notification in a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The site.
    pub site: SiteId,
    /// The threads that it woke.
    pub woken: Vec<ThreadId>,
}

impl Lock {
    /// Whether a thread may enter now.
    pub(crate) fn is_open_to(&self, thread: ThreadId) -> bool {
        self.owner.is_none_or(|owner| owner == thread)
    }

    /// Whether a thread holds the lock, exclusively or shared.
    pub(crate) fn is_held_by(&self, thread: ThreadId) -> bool {
        self.owner == Some(thread) || self.sharers.iter().any(|(sharer, _)| *sharer == thread)
    }

    /// A thread that holds the lock: the owner or, if it is shared, the thread that acquired it last.
    pub(crate) fn holder(&self) -> Option<ThreadId> {
        self.owner.or_else(|| self.sharers.last().map(|(sharer, _)| *sharer))
    }

    /// Acquires the lock shared; returns whether the thread did not hold it before.
    pub(crate) fn share(&mut self, thread: ThreadId) -> bool {
        if self.owner == Some(thread) {
            self.count += 1;
            return false;
        }
        let known = self.sharers.iter_mut().find(|(sharer, _)| *sharer == thread);
        let is_new = known.is_none();
        match known {
            Some((_, count)) => *count += 1,
            None => self.sharers.push((thread, 1)),
        }
        is_new
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

    /// Leaves the lock once; returns whether the thread held it and holds it no longer.
    pub(crate) fn leave(&mut self, thread: ThreadId) -> bool {
        if self.owner != Some(thread) {
            return self.leave_shared(thread);
        }
        self.count = self.count.saturating_sub(1);
        if self.count == 0 {
            self.owner = None;
        }
        self.owner.is_none()
    }

    fn leave_shared(&mut self, thread: ThreadId) -> bool {
        let Some(index) = self.sharers.iter().position(|(sharer, _)| *sharer == thread) else { return false };
        self.sharers[index].1 -= 1;
        let is_free = self.sharers[index].1 == 0;
        if is_free {
            self.sharers.remove(index);
        }
        is_free
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

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);

    #[test]
    fn every_sharer_holds_a_shared_lock_until_its_own_release() {
        let mut lock = Lock::default();
        assert!(lock.share(A) && lock.share(B) && !lock.share(A));
        assert_eq!(lock.holder(), Some(B));
        assert!(!lock.leave(A) && lock.is_held_by(A));
        assert!(lock.leave(A) && !lock.is_held_by(A) && lock.is_held_by(B));
        assert!(!lock.leave(A), "it holds the lock no longer");
        assert!(lock.leave(B));
        assert_eq!(lock, Lock::default());
    }

    #[test]
    fn an_owner_that_shares_its_own_lock_stays_its_owner() {
        let mut lock = Lock::default();
        assert!(lock.enter(A, 1) && !lock.share(A));
        assert!(!lock.is_open_to(B));
        assert!(!lock.leave(A) && lock.leave(A));
        assert_eq!(lock.holder(), None);
    }
}
