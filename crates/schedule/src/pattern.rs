//! The lock pattern of AtomFuzzer: inside of one atomic block a thread acquires a lock, another thread acquires it after
//! the first has released it, and the first acquires it again.
//!
//! Paper: C.-S. Park and K. Sen, "Randomized Active Atomicity Violation Detection in Concurrent Programs", FSE 2008, section 2.2.
//!
//! Kept: the three acquires of one lock; re-entrant acquires do not count. Deviations:
//!
//! - Every active block has its own set of acquired locks. An acquire is added to all of them, a set is dropped at the end of its
//!   block, and of nested blocks the innermost whose set contains the lock is violated.
//! - A synchronized block begins after its own acquire, so that its own lock is not in its set.
//! - The checker looks for the pattern in every execution, under any strategy, and reports it only once the third acquire has
//!   happened: the printed algorithm reports after the second, although the third may never happen.
//! - Shared locks: two shared acquires do not conflict, and the remote acquire must conflict with both local ones.
//! - A block that waits in its own monitor is not taken as atomic, and reentering a monitor after a wait is not an acquire of the
//!   pattern: a thread that waits expects other threads to acquire the monitor.

use fissure_model::ids::{LockId, SiteId, ThreadId};

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// A synchronized block or method, which ends when its monitor is released.
    Monitor(LockId),
    /// A method that was named or annotated, whose end the front end reports.
    Method,
}

/// Whether a block must be atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomic {
    /// It must be atomic.
    Yes,
    /// It need not be atomic.
    No,
    /// Not determined until it matters.
    Unknown,
}

/// A block in which a thread is about to acquire a lock again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reacquire {
    /// The index of the block in its thread, for [`LockPattern::judge`].
    pub block: usize,
    /// The site where the block began.
    pub entered: SiteId,
    /// Whether it must be atomic.
    pub atomic: Atomic,
}

/// One acquire of the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acquired {
    /// The thread.
    pub thread: ThreadId,
    /// The site.
    pub site: SiteId,
    /// The number of the step.
    pub step: u64,
    /// Whether other threads may hold the lock at the same time.
    pub is_shared: bool,
}

impl Acquired {
    /// Whether the order of the two acquires makes a difference.
    fn conflicts_with(&self, other: &Acquired) -> bool {
        !(self.is_shared && other.is_shared)
    }
}

/// The pattern as it was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// The site where the violated block began.
    pub entered: SiteId,
    /// The step in which it began.
    pub entered_step: u64,
    /// The lock.
    pub lock: LockId,
    /// The first local acquire, in the block.
    pub first: Acquired,
    /// The remote acquire.
    pub between: Acquired,
    /// The last local acquire, in the block.
    pub again: Acquired,
}

/// The checker that looks for the pattern in all threads.
#[derive(Debug, Default)]
pub struct LockPattern {
    /// The blocks that each thread is in, outermost first.
    blocks: Vec<Vec<Block>>,
    /// The last exclusive and the last shared acquire of each lock.
    last: Vec<[Option<Acquired>; 2]>,
}

#[derive(Debug)]
struct Block {
    site: SiteId,
    step: u64,
    kind: BlockKind,
    atomic: Atomic,
    /// The locks that were acquired in it, each with its last acquire.
    acquired: Vec<(LockId, Acquired)>,
}

impl LockPattern {
    /// A thread enters a block. Blocks that need not be atomic are recorded too, because an exit always refers to the innermost block.
    pub fn enter(&mut self, thread: ThreadId, site: SiteId, kind: BlockKind, atomic: Atomic, step: u64) {
        at(&mut self.blocks, thread.0).push(Block { site, step, kind, atomic, acquired: Vec::new() });
    }

    /// A thread leaves the innermost block of this kind; returns whether the block had to be atomic.
    pub fn exit(&mut self, thread: ThreadId, kind: BlockKind) -> bool {
        let blocks = at(&mut self.blocks, thread.0);
        let ended = match blocks.pop_if(|block| block.kind == kind) {
            // Only monitor blocks are always properly nested; others may end out of order.
            None => blocks.iter().rposition(|block| block.kind == kind).map(|index| blocks.remove(index)),
            innermost => innermost,
        };
        ended.is_some_and(|block| block.atomic != Atomic::No)
    }

    /// A thread waits in a monitor: the blocks of that monitor need not be atomic.
    pub fn wait(&mut self, thread: ThreadId, lock: LockId) {
        for block in at(&mut self.blocks, thread.0) {
            if block.kind == BlockKind::Monitor(lock) {
                block.atomic = Atomic::No;
            }
        }
    }

    /// The innermost block in which an acquire of the lock by this thread would be a reacquire.
    pub fn reacquires(&self, thread: ThreadId, lock: LockId) -> Option<Reacquire> {
        let blocks = self.blocks.get(thread.0 as usize)?;
        blocks.iter().enumerate().rev().find_map(|(index, block)| {
            let is_known = || block.acquired.iter().any(|(known, _)| *known == lock);
            (block.atomic != Atomic::No && is_known()).then_some(Reacquire {
                block: index,
                entered: block.site,
                atomic: block.atomic,
            })
        })
    }

    /// Whether another thread is in a block in which it has acquired the lock before.
    pub fn is_expected(&self, thread: ThreadId, lock: LockId) -> bool {
        let others = self.blocks.iter().enumerate().filter(|(other, _)| *other != thread.0 as usize);
        others
            .flat_map(|(_, blocks)| blocks)
            .any(|block| block.atomic != Atomic::No && block.acquired.iter().any(|(known, _)| *known == lock))
    }

    /// Whether a thread is in a block that must, or may have to, be atomic.
    pub fn is_in_block(&self, thread: ThreadId) -> bool {
        let blocks = self.blocks.get(thread.0 as usize);
        blocks.is_some_and(|blocks| blocks.iter().any(|block| block.atomic != Atomic::No))
    }

    /// Sets whether an undetermined block must be atomic.
    pub fn judge(&mut self, thread: ThreadId, block: usize, is_atomic: bool) {
        let block = at(&mut self.blocks, thread.0).get_mut(block).expect("a block that is judged is open");
        block.atomic = if is_atomic { Atomic::Yes } else { Atomic::No };
    }

    /// A thread has acquired a lock that it did not hold. Returns the pattern that this acquire completes.
    pub fn acquire(&mut self, acquired: Acquired, lock: LockId) -> Option<Violation> {
        let last = at(&mut self.last, lock.0);
        let blocks = at(&mut self.blocks, acquired.thread.0);
        if blocks.is_empty() {
            last[usize::from(acquired.is_shared)] = Some(acquired);
            return None;
        }
        let before = *last;
        last[usize::from(acquired.is_shared)] = Some(acquired);
        let mut violation = None;
        for block in blocks {
            if block.atomic == Atomic::No {
                continue;
            }
            match block.acquired.iter_mut().find(|(known, _)| *known == lock) {
                None => block.acquired.push((lock, acquired)),
                Some((_, own)) => {
                    let first = std::mem::replace(own, acquired);
                    let between = before.into_iter().flatten().find(|before| {
                        before.thread != acquired.thread
                            && before.step > first.step
                            && before.conflicts_with(&first)
                            && before.conflicts_with(&acquired)
                    });
                    if let (Some(between), Atomic::Yes) = (between, block.atomic) {
                        // Inner blocks come later in the list, so that the innermost one is reported.
                        violation = Some(Violation {
                            entered: block.site,
                            entered_step: block.step,
                            lock,
                            first,
                            between,
                            again: acquired,
                        });
                    }
                }
            }
        }
        violation
    }

    /// A thread has reentered a monitor after a wait, which is not an acquire of the pattern.
    pub fn resume(&mut self, acquired: Acquired, lock: LockId) {
        at(&mut self.last, lock.0)[0] = Some(acquired);
        for block in at(&mut self.blocks, acquired.thread.0) {
            if let Some((_, own)) = block.acquired.iter_mut().find(|(known, _)| *known == lock) {
                *own = acquired;
            }
        }
    }
}

/// The element with this number; the list grows if necessary.
#[inline]
pub(crate) fn at<T: Default>(list: &mut Vec<T>, number: u32) -> &mut T {
    let index = number as usize;
    if index >= list.len() {
        lengthen(list, index + 1);
    }
    &mut list[index]
}

#[cold]
fn lengthen<T: Default>(list: &mut Vec<T>, length: usize) {
    list.resize_with(length, T::default);
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: ThreadId = ThreadId(0);
    const U: ThreadId = ThreadId(1);
    const L: LockId = LockId(3);
    const M: LockId = LockId(4);

    /// An event of a test: the thread, and the lock or the site and kind of a block.
    enum Event {
        Enter(ThreadId, u32, BlockKind),
        Exit(ThreadId, BlockKind),
        Acquire(ThreadId, LockId),
        Share(ThreadId, LockId),
        Wait(ThreadId, LockId),
    }
    use Event::{Acquire, Enter, Exit, Share, Wait};

    /// Checks the sites of the blocks that are violated, in order.
    fn check(events: &[Event], expected: &[u32]) {
        let mut pattern = LockPattern::default();
        let mut found = Vec::new();
        for (step, event) in (1..).zip(events) {
            match *event {
                Enter(thread, site, kind) => pattern.enter(thread, SiteId(site), kind, Atomic::Yes, step),
                Exit(thread, kind) => {
                    pattern.exit(thread, kind);
                }
                Acquire(thread, lock) | Share(thread, lock) => {
                    let is_shared = matches!(event, Share(..));
                    let acquired = Acquired { thread, site: SiteId(0), step, is_shared };
                    found.extend(pattern.acquire(acquired, lock).map(|violation| violation.entered.0));
                }
                Wait(thread, lock) => {
                    pattern.wait(thread, lock);
                    pattern.resume(Acquired { thread, site: SiteId(0), step, is_shared: false }, lock);
                }
            }
        }
        assert_eq!(found, expected);
    }

    const METHOD: BlockKind = BlockKind::Method;

    #[test]
    fn three_acquires_of_one_lock_make_the_pattern() {
        check(&[Enter(T, 1, METHOD), Acquire(T, L), Acquire(U, L), Acquire(T, L)], &[1]);
        check(&[Enter(T, 1, METHOD), Acquire(T, L), Acquire(T, L)], &[]);
        check(&[Enter(T, 1, METHOD), Acquire(T, L), Acquire(U, M), Acquire(T, L)], &[]);
        check(&[Acquire(T, L), Acquire(U, L), Acquire(T, L)], &[]);
        check(&[Acquire(U, L), Enter(T, 1, METHOD), Acquire(T, L), Acquire(T, L)], &[]);
    }

    #[test]
    fn shared_acquires_do_not_conflict() {
        let enter = || Enter(T, 1, METHOD);
        check(&[enter(), Share(T, L), Share(U, L), Share(T, L)], &[]);
        check(&[enter(), Share(T, L), Acquire(U, L), Share(T, L)], &[1]);
        check(&[enter(), Share(T, L), Acquire(U, L), Share(U, L), Share(T, L)], &[1]);
        check(&[enter(), Acquire(T, L), Share(U, L), Acquire(T, L)], &[1]);
        check(&[enter(), Share(T, L), Share(U, L), Acquire(T, L)], &[]);
    }

    #[test]
    fn acquires_of_an_ended_block_do_not_count() {
        let ended = [
            Enter(T, 1, METHOD),
            Acquire(T, L),
            Exit(T, METHOD),
            Acquire(U, L),
            Enter(T, 2, METHOD),
            Acquire(T, L),
        ];
        check(&ended, &[]);
    }

    #[test]
    fn the_innermost_block_that_acquired_the_lock_is_violated() {
        let inner = [Enter(T, 1, METHOD), Enter(T, 2, METHOD), Acquire(T, L), Acquire(U, L), Acquire(T, L)];
        check(&inner, &[2]);
        let outer = [Enter(T, 1, METHOD), Acquire(T, L), Enter(T, 2, METHOD), Acquire(U, L), Acquire(T, L)];
        check(&outer, &[1]);
    }

    #[test]
    fn each_remote_acquire_counts_once() {
        let again = [
            Enter(T, 1, METHOD),
            Acquire(T, L),
            Acquire(U, L),
            Acquire(T, L),
            Acquire(T, L),
            Acquire(U, L),
            Acquire(T, L),
        ];
        check(&again, &[1, 1]);
    }

    #[test]
    fn a_wait_exempts_its_block() {
        let own = BlockKind::Monitor(L);
        let waits =
            [Acquire(T, L), Enter(T, 1, own), Acquire(T, M), Wait(T, L), Acquire(U, M), Acquire(T, M)];
        check(&waits, &[]);
        let outer = [Enter(T, 1, METHOD), Acquire(T, L), Acquire(U, L), Wait(T, L)];
        check(&outer, &[]);
    }
}
