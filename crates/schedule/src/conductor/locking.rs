//! Locks and atomic blocks: acquires that the front end reports, releases, and the blocks of the lock pattern.

use fissure_model::{
    ids::{LockId, SiteId, ThreadId},
    interleaving::Action,
};

use super::Conductor;
use crate::pattern::{Atomic, BlockKind, Reacquire};

impl Conductor {
    /// A thread has acquired a lock that is not a monitor, exclusively or shared.
    pub fn acquired(&mut self, thread: ThreadId, lock: LockId, site: SiteId, is_shared: bool) {
        self.thread(thread).attempts = None;
        self.report_lock(thread, lock, is_shared, site);
        let state = self.lock(lock);
        let is_new = if is_shared { state.share(thread) } else { state.enter(thread, 1) };
        if is_new {
            self.record_acquire(thread, lock, site, is_shared);
        }
    }

    /// A lock is internal to a library, such as that of an executor's own bookkeeping. No atomic block of the application relies on it, so
    /// the checker of the lock pattern ignores it.
    pub fn mark_internal(&mut self, lock: LockId) {
        self.lock(lock).is_internal = true;
    }

    /// Whether a lock is internal to a library.
    pub fn is_internal(&self, lock: LockId) -> bool {
        self.locks.get(lock.0 as usize).is_some_and(|lock| lock.is_internal)
    }

    /// A thread has released a lock.
    pub fn release(&mut self, thread: ThreadId, lock: LockId) {
        if self.pattern.exit(thread, BlockKind::Monitor(lock)) {
            self.log(thread, Action::BlockExit, None, None, None);
        }
        self.observe(|observer| observer.unlocked(thread, lock));
        if self.lock(lock).leave(thread) {
            self.record_release(thread, lock);
            if !self.lock(lock).is_quiet {
                self.log(thread, Action::Release, Some(lock), None, None);
            }
        }
    }

    /// A thread has released a lock that another thread may have acquired.
    pub fn give_back(&mut self, thread: ThreadId, lock: LockId) {
        let state = self.lock(lock);
        let holder = if state.is_held_by(thread) { Some(thread) } else { state.holder() };
        self.release(holder.unwrap_or(thread), lock);
    }

    /// A thread has entered a block.
    pub fn enter_block(&mut self, thread: ThreadId, site: SiteId, kind: BlockKind, atomic: Atomic) {
        let step = if atomic == Atomic::No {
            self.trace.last()
        } else {
            self.log(thread, Action::BlockEnter, None, None, Some(site))
        };
        self.pattern.enter(thread, site, kind, atomic, step);
    }

    /// A thread has left a block that is a method.
    pub fn exit_block(&mut self, thread: ThreadId) {
        self.pattern.exit(thread, BlockKind::Method);
        self.log(thread, Action::BlockExit, None, None, None);
    }

    /// The innermost block in which an acquire of the lock by this thread would be a reacquire, if there is one.
    pub fn reacquires(&self, thread: ThreadId, lock: LockId) -> Option<Reacquire> {
        let holds = self.locks.get(lock.0 as usize).is_some_and(|lock| lock.is_held_by(thread));
        if holds { None } else { self.pattern.reacquires(thread, lock) }
    }

    /// Whether an acquire of the lock by this thread could land between two acquires of another thread's block.
    pub fn may_interfere(&self, thread: ThreadId, lock: LockId) -> bool {
        self.pattern.is_expected(thread, lock)
    }

    /// Sets whether a block must be atomic.
    pub fn judge_block(&mut self, thread: ThreadId, block: usize, is_atomic: bool) {
        self.pattern.judge(thread, block, is_atomic);
    }

    /// The locks that a thread holds, except those of quiet acquires, in the order of their acquires.
    pub fn held(&self, thread: ThreadId) -> impl Iterator<Item = LockId> {
        self.known(thread)
            .held
            .iter()
            .copied()
            .filter(|lock| self.locks.get(lock.0 as usize).is_some_and(|lock| !lock.is_quiet))
    }

    pub(super) fn holds_another(&self, thread: ThreadId, lock: LockId) -> bool {
        self.held(thread).any(|held| held != lock)
    }
}
