//! The lock pattern of AtomFuzzer: inside of one atomic block a thread acquires a lock, another thread acquires it after
//! the first has given it back, and the first acquires it again.
//!
//! Paper: C.-S. Park and K. Sen, "Randomized Active Atomicity Violation Detection in Concurrent Programs", FSE 2008, section 2.2.
//!
//! Kept: the three acquires of one lock; acquires of a lock that the thread holds already do not count. Deviations:
//!
//! - Every active block has its own set of locks that were acquired in it. An acquire joins all of them, a set is dropped at the
//!   end of its block, and of nested blocks the innermost whose set holds the lock is the one that is violated.
//! - A synchronized block begins after its own acquire, so that its own lock is not in its set.
//! - The pattern is looked for in every execution, whoever steers it, and is told only once the third acquire has happened: the
//!   printed algorithm tells when the second has, and nothing may come of the third.
//! - Locks that many may hold at once: two acquires of that kind do not conflict, and the one in between must conflict with both
//!   others.
//! - A block that waits in its own monitor is not taken as atomic, and entering a monitor again after a wait is not an acquire of
//!   the pattern: whoever waits wants others to come in between.

use fissure_model::ids::{LockId, SiteId, ThreadId};

/// What makes a block a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// A synchronized block or method, which ends when its monitor is left.
    Monitor(LockId),
    /// A method that was named or annotated, which ends when it says so.
    Method,
}

/// Whether a block counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomic {
    /// It is to be atomic.
    Yes,
    /// It is not.
    No,
    /// That is to be found out once it matters.
    Unknown,
}

/// A block in which a thread is about to acquire a lock again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reacquire {
    /// Which block of the thread's, for [`LockPattern::judge`].
    pub block: usize,
    /// Where the block began.
    pub entered: SiteId,
    /// Whether it counts.
    pub atomic: Atomic,
}

/// One acquire of the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acquired {
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub site: SiteId,
    /// The number of the step.
    pub step: u64,
    /// Whether others may hold the lock at the same time.
    pub is_shared: bool,
}

impl Acquired {
    /// Whether it makes a difference which of the two comes first.
    fn conflicts_with(&self, other: &Acquired) -> bool {
        !(self.is_shared && other.is_shared)
    }
}

/// The pattern as it was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// Where the violated block began.
    pub entered: SiteId,
    /// The step in which it began.
    pub entered_step: u64,
    /// The lock.
    pub lock: LockId,
    /// The first acquire, in the block.
    pub first: Acquired,
    /// The acquire by another thread.
    pub between: Acquired,
    /// The second acquire in the block.
    pub again: Acquired,
}

/// Watches all threads for the pattern.
#[derive(Debug, Default)]
pub struct LockPattern {
    /// The blocks that each thread is in, outermost first.
    blocks: Vec<Vec<Block>>,
    /// Who acquired each lock last, alone or with others.
    last: Vec<[Option<Acquired>; 2]>,
}

#[derive(Debug)]
struct Block {
    site: SiteId,
    step: u64,
    kind: BlockKind,
    atomic: Atomic,
    /// The locks that were acquired in it, with the last time each was.
    acquired: Vec<(LockId, Acquired)>,
}

impl LockPattern {
    /// A thread enters a block. Blocks that do not count are told too, for what ends is always the innermost.
    pub fn enter(&mut self, thread: ThreadId, site: SiteId, kind: BlockKind, atomic: Atomic, step: u64) {
        at(&mut self.blocks, thread.0).push(Block { site, step, kind, atomic, acquired: Vec::new() });
    }

    /// A thread leaves the innermost block of this kind; says whether it was to be atomic.
    pub fn exit(&mut self, thread: ThreadId, kind: BlockKind) -> bool {
        let blocks = at(&mut self.blocks, thread.0);
        let ended = match blocks.pop_if(|block| block.kind == kind) {
            // Blocks that are no monitors may end out of order.
            None => blocks.iter().rposition(|block| block.kind == kind).map(|place| blocks.remove(place)),
            innermost => innermost,
        };
        ended.is_some_and(|block| block.atomic != Atomic::No)
    }

    /// A thread waits in a monitor: the blocks of that monitor are not meant to be atomic.
    pub fn wait(&mut self, thread: ThreadId, lock: LockId) {
        for block in at(&mut self.blocks, thread.0) {
            if block.kind == BlockKind::Monitor(lock) {
                block.atomic = Atomic::No;
            }
        }
    }

    /// The innermost block in which the thread would acquire the lock again.
    pub fn reacquires(&self, thread: ThreadId, lock: LockId) -> Option<Reacquire> {
        let blocks = self.blocks.get(thread.0 as usize)?;
        blocks.iter().enumerate().rev().find_map(|(place, block)| {
            let is_known = || block.acquired.iter().any(|(known, _)| *known == lock);
            (block.atomic != Atomic::No && is_known()).then_some(Reacquire {
                block: place,
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

    /// Whether a thread is in a block that may be to be atomic.
    pub fn is_in_block(&self, thread: ThreadId) -> bool {
        let blocks = self.blocks.get(thread.0 as usize);
        blocks.is_some_and(|blocks| blocks.iter().any(|block| block.atomic != Atomic::No))
    }

    /// Decides whether a block counts of which that was not known.
    pub fn judge(&mut self, thread: ThreadId, block: usize, is_atomic: bool) {
        if let Some(block) = at(&mut self.blocks, thread.0).get_mut(block) {
            block.atomic = if is_atomic { Atomic::Yes } else { Atomic::No };
        }
    }

    /// A thread has acquired a lock that it did not hold. Gives the pattern that this completes.
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
                        // Inner blocks come later: the innermost stays.
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

    /// A thread has got a monitor back after it waited, which is no acquire of the pattern.
    pub fn resume(&mut self, acquired: Acquired, lock: LockId) {
        at(&mut self.last, lock.0)[0] = Some(acquired);
        for block in at(&mut self.blocks, acquired.thread.0) {
            if let Some((_, own)) = block.acquired.iter_mut().find(|(known, _)| *known == lock) {
                *own = acquired;
            }
        }
    }
}

/// The element of this number; made if it is not there yet.
#[inline]
pub(crate) fn at<T: Default>(list: &mut Vec<T>, number: u32) -> &mut T {
    let place = number as usize;
    if place >= list.len() {
        lengthen(list, place + 1);
    }
    &mut list[place]
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

    /// What happens in a test: who, what, to which lock or at which site.
    enum Happens {
        Enter(ThreadId, u32, BlockKind),
        Exit(ThreadId, BlockKind),
        Acquire(ThreadId, LockId),
        Share(ThreadId, LockId),
        Wait(ThreadId, LockId),
    }
    use Happens::{Acquire, Enter, Exit, Share, Wait};

    /// Checks the sites of the blocks that are violated, in order.
    fn check(happens: &[Happens], expected: &[u32]) {
        let mut pattern = LockPattern::default();
        let mut found = Vec::new();
        for (step, event) in (1..).zip(happens) {
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
    fn who_shares_a_lock_does_not_conflict() {
        let enter = || Enter(T, 1, METHOD);
        check(&[enter(), Share(T, L), Share(U, L), Share(T, L)], &[]);
        check(&[enter(), Share(T, L), Acquire(U, L), Share(T, L)], &[1]);
        check(&[enter(), Share(T, L), Acquire(U, L), Share(U, L), Share(T, L)], &[1]);
        check(&[enter(), Acquire(T, L), Share(U, L), Acquire(T, L)], &[1]);
        check(&[enter(), Share(T, L), Share(U, L), Acquire(T, L)], &[]);
    }

    #[test]
    fn a_block_that_ended_is_forgotten() {
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
    fn the_innermost_block_that_knows_the_lock_is_violated() {
        let inner = [Enter(T, 1, METHOD), Enter(T, 2, METHOD), Acquire(T, L), Acquire(U, L), Acquire(T, L)];
        check(&inner, &[2]);
        let outer = [Enter(T, 1, METHOD), Acquire(T, L), Enter(T, 2, METHOD), Acquire(U, L), Acquire(T, L)];
        check(&outer, &[1]);
    }

    #[test]
    fn interference_counts_once() {
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
    fn who_waits_lets_others_in() {
        let own = BlockKind::Monitor(L);
        let waits =
            [Acquire(T, L), Enter(T, 1, own), Acquire(T, M), Wait(T, L), Acquire(U, M), Acquire(T, M)];
        check(&waits, &[]);
        let outer = [Enter(T, 1, METHOD), Acquire(T, L), Acquire(U, L), Wait(T, L)];
        check(&outer, &[]);
    }
}
