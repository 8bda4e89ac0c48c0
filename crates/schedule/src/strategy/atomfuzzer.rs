//! Algorithm 2 of the AtomFuzzer paper: a thread that is about to acquire a lock again inside of an atomic block is paused, in
//! the hope that another thread acquires the lock meanwhile.
//!
//! Paper: C.-S. Park and K. Sen, "Randomized Active Atomicity Violation Detection in Concurrent Programs", FSE 2008, section 2.2.
//!
//! Kept: the random walk, the pause, and its end when another thread has acquired the lock. As printed the algorithm livelocks and
//! can report falsely; repaired are:
//!
//! - A thread that is not paused (which happens with the probability that is an option) executes, and so does one whose pause has
//!   ended: it is not paused again at the same acquire.
//! - A pause ends by the acquire of another thread only after that acquire was executed.
//! - When every thread that may run is paused, sleepers are woken first, for they may be the ones who interfere, and one pause is
//!   ended only then. Periodic sleepers are woken a bounded number of times.
//! - A pause ends after a number of steps, instead of a time, so that it ends at the same place in a replay.
//!
//! Beyond the paper: with a [`Target`], threads that come to the interfering acquire are held back as well, until a thread is
//! paused at the acquire that they are to come before. Without that, an interfering acquire that is over before the block
//! begins is never seen to interfere. Who is to hold back is told by the marks of the candidates. The same serves for deadlocks:
//! of two acquires that could close a circle of locks, whoever comes first is held back until the other has come. And for orders:
//! a thread that waits for a notification, or gives one, can be held back until another has acquired the same lock; and one that
//! was notified is paused before it gets its monitor back, like one that acquires again.

use fissure_model::ids::{LockId, ThreadId};

use super::{Candidate, Choice, GoalRole, Strategy, View, uniform::yields_to_sleepers, willing};
use crate::random::Random;

/// How often sleepers are woken for the sake of one pause.
const PATIENCE: u32 = 32;
/// How many choices a pause lasts at most.
const LONGEST_PAUSE: u64 = 20_000;

/// What an acquire is to the pair of acquires that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Target {
    /// The acquire inside of the block that others are to come before.
    pub is_again: bool,
    /// The acquire that is to come in between.
    pub is_between: bool,
    /// The acquire that is to come only after another thread's.
    pub is_later: bool,
    /// The acquire that is to come before.
    pub is_earlier: bool,
}

/// Steers into the lock pattern.
#[derive(Debug)]
pub struct AtomFuzzer {
    /// In a million cases.
    pause_chance: u32,
    paused: Vec<Pause>,
    /// Threads whose pause at their current operation is over.
    released: Vec<ThreadId>,
    /// Threads that were woken and interfered with: what they find is best found at once.
    eager: Vec<ThreadId>,
    /// Who did what is to come before, and on which lock.
    done: Vec<(ThreadId, LockId)>,
    patience: u32,
}

#[derive(Debug)]
struct Pause {
    thread: ThreadId,
    lock: LockId,
    since: u64,
    why: Why,
}

/// Why a thread is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// To be interfered with.
    Interrupted,
    /// The same, after it waited and was woken: by those who are looked for alone.
    Woken,
    /// To interfere, once there is somebody to be interfered with.
    Interferes,
    /// To come after another.
    Later,
    /// To come before another, once that has come so far.
    Earlier,
}

impl AtomFuzzer {
    /// Pauses with a probability, given as chances in a million.
    pub fn new(pause_chance: u32) -> Self {
        Self {
            pause_chance,
            paused: Vec::new(),
            released: Vec::new(),
            eager: Vec::new(),
            done: Vec::new(),
            patience: PATIENCE,
        }
    }

    fn pause_of(&self, thread: ThreadId) -> Option<&Pause> {
        self.paused.iter().find(|pause| pause.thread == thread)
    }

    /// Whether another thread is paused at an acquire of this lock that an acquire now would come before.
    fn awaited(&self, thread: ThreadId, lock: LockId) -> bool {
        let is_awaiting =
            |pause: &&Pause| matches!(pause.why, Why::Interrupted | Why::Woken) && pause.thread != thread;
        self.paused.iter().filter(is_awaiting).any(|pause| pause.lock == lock)
    }

    /// Whether another thread is paused that is to come later.
    fn is_preceded(&self, thread: ThreadId, lock: LockId) -> bool {
        let mut others = self.paused.iter().filter(|pause| pause.thread != thread && pause.lock == lock);
        others.any(|pause| pause.why == Why::Later)
    }

    /// Whether another thread has done with this lock what is to come before.
    fn is_late(&self, thread: ThreadId, lock: LockId) -> bool {
        self.done.iter().any(|(other, known)| *other != thread && *known == lock)
    }

    fn may_run(&self, candidate: &Candidate) -> bool {
        self.pause_of(candidate.thread).is_none_or(|pause| match pause.why {
            Why::Interrupted | Why::Woken => false,
            Why::Interferes => self.awaited(pause.thread, pause.lock),
            Why::Later => self.is_late(pause.thread, pause.lock),
            Why::Earlier => self.is_preceded(pause.thread, pause.lock),
        })
    }

    /// Whether the candidate is paused now.
    fn pauses(&mut self, candidate: &Candidate, step: u64, random: &mut Random) -> bool {
        let Some(lock) = candidate.operation.enters() else { return false };
        let (thread, target) = (candidate.thread, candidate.target);
        if self.released.contains(&thread) || self.pause_of(thread).is_some() {
            return false;
        }
        let resumes = candidate.operation.acquires().is_none();
        // Two acquires that are made under other locks may be those of a circle, where it takes all to be held back.
        let is_held = target.is_between || target.is_again && candidate.is_nested;
        let why = if target.is_later && !self.is_late(thread, lock) {
            Why::Later
        } else if target.is_earlier && !self.done.contains(&(thread, lock)) && !self.is_preceded(thread, lock)
        {
            Why::Earlier
        } else if resumes && target.is_again {
            Why::Woken
        } else if candidate.reacquires && (target.is_again || random.chance(self.pause_chance)) {
            Why::Interrupted
        } else if !candidate.reacquires && !resumes && is_held && !self.awaited(thread, lock) {
            Why::Interferes
        } else {
            return false;
        };
        self.paused.push(Pause { thread, lock, since: step, why });
        self.patience = PATIENCE;
        true
    }

    fn release(&mut self, thread: ThreadId) {
        self.paused.retain(|pause| pause.thread != thread);
        if !self.released.contains(&thread) {
            self.released.push(thread);
        }
    }

    fn run(&mut self, thread: ThreadId) -> Choice {
        self.forget(thread);
        Choice::Run(thread)
    }

    /// A thread goes on.
    pub(super) fn forget(&mut self, thread: ThreadId) {
        self.paused.retain(|pause| pause.thread != thread);
        self.released.retain(|released| *released != thread);
        self.eager.retain(|eager| *eager != thread);
    }
}

impl Strategy for AtomFuzzer {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        while let Some(pause) = self.paused.iter().find(|pause| view.step - pause.since > LONGEST_PAUSE) {
            self.release(pause.thread);
        }
        // Whoever is looked for is paused as soon as it comes, and whoever it waits for goes at once.
        for candidate in view.candidates.iter().filter(|candidate| candidate.target != Target::default()) {
            self.pauses(candidate, view.step, random);
        }
        let wanted: Vec<ThreadId> = view
            .candidates
            .iter()
            .map(|candidate| candidate.thread)
            .filter(|thread| {
                self.pause_of(*thread).is_some_and(|pause| match pause.why {
                    Why::Interferes => self.awaited(pause.thread, pause.lock),
                    Why::Earlier => self.is_preceded(pause.thread, pause.lock),
                    Why::Interrupted | Why::Woken | Why::Later => false,
                })
            })
            .collect();
        let can_run = |thread: &ThreadId| view.candidates.iter().any(|other| other.thread == *thread);
        if let Some(thread) = self.eager.iter().copied().find(can_run) {
            return self.run(thread);
        }
        if !wanted.is_empty() {
            return self.run(wanted[random.below(wanted.len())]);
        }
        loop {
            let mut willing = willing(view);
            willing.retain(|candidate| self.may_run(candidate));
            if willing.is_empty() {
                if !view.sleepers.is_empty() && self.patience > 0 {
                    self.patience -= 1;
                    return Choice::Sleepers;
                }
                // Of those who are held back, one in a block may be the one that is to be interfered with.
                let mut freed: Vec<ThreadId> = view
                    .candidates
                    .iter()
                    .filter(|candidate| candidate.in_block && !candidate.reacquires)
                    .map(|candidate| candidate.thread)
                    .collect();
                if freed.is_empty() {
                    freed.extend(view.candidates.iter().map(|candidate| candidate.thread));
                }
                return self.run(freed[random.below(freed.len())]);
            }
            let candidate = willing[random.below(willing.len())];
            if !self.pauses(&candidate, view.step, random) {
                return self.run(candidate.thread);
            }
        }
    }

    fn acquired(&mut self, thread: ThreadId, lock: LockId, target: Target, _aim: GoalRole) {
        if target.is_earlier && !self.done.contains(&(thread, lock)) {
            self.done.push((thread, lock));
        }
        let woken = self.paused.iter().filter(|pause| pause.why == Why::Woken && target.is_between);
        let woken = woken.filter(|pause| pause.thread != thread && pause.lock == lock);
        self.eager.extend(woken.map(|pause| pause.thread));
        let ended: Vec<ThreadId> = self
            .paused
            .iter()
            .filter(|pause| match pause.why {
                Why::Interrupted => true,
                Why::Woken => target.is_between,
                Why::Interferes | Why::Later | Why::Earlier => false,
            })
            .filter(|pause| pause.thread != thread && pause.lock == lock)
            .map(|pause| pause.thread)
            .collect();
        ended.into_iter().for_each(|thread| self.release(thread));
    }
}
