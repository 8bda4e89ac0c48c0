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
//! of two acquires that could close a circle of locks, whoever comes first is held back until the other has come.

use fissure_model::ids::{LockId, ThreadId};

use super::{Aim, Candidate, Choice, Strategy, View, uniform::yields_to_sleepers, willing};
use crate::random::Random;

/// How often sleepers are woken for the sake of one pause.
const PATIENCE: u32 = 32;
/// How many choices a pause lasts at most.
const LONGEST_PAUSE: u64 = 20_000;

/// What an acquire is to a pair of acquires that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// None of the two.
    Neither,
    /// The acquire inside of the block that others are to come before.
    Again,
    /// The acquire that is to come in between.
    Between,
    /// It can be both.
    Both,
}

impl Target {
    fn is_again(self) -> bool {
        matches!(self, Target::Again | Target::Both)
    }

    fn is_between(self) -> bool {
        matches!(self, Target::Between | Target::Both)
    }
}

/// Steers into the lock pattern.
#[derive(Debug)]
pub struct AtomFuzzer {
    /// In a million cases.
    pause_chance: u32,
    paused: Vec<Pause>,
    /// Threads whose pause at their current operation is over.
    released: Vec<ThreadId>,
    patience: u32,
}

#[derive(Debug)]
struct Pause {
    thread: ThreadId,
    lock: LockId,
    since: u64,
    /// Whether the thread is about to interfere, rather than to be interfered with.
    interferes: bool,
}

impl AtomFuzzer {
    /// Pauses with a probability, given as chances in a million.
    pub fn new(pause_chance: u32) -> Self {
        Self { pause_chance, paused: Vec::new(), released: Vec::new(), patience: PATIENCE }
    }

    fn pause_of(&self, thread: ThreadId) -> Option<&Pause> {
        self.paused.iter().find(|pause| pause.thread == thread)
    }

    /// Whether another thread is paused at an acquire of this lock that an acquire now would come before.
    fn awaited(&self, thread: ThreadId, lock: LockId) -> bool {
        self.paused.iter().any(|pause| !pause.interferes && pause.thread != thread && pause.lock == lock)
    }

    fn may_run(&self, candidate: &Candidate) -> bool {
        self.pause_of(candidate.thread)
            .is_none_or(|pause| pause.interferes && self.awaited(pause.thread, pause.lock))
    }

    /// Whether the candidate is paused now.
    fn pauses(&mut self, candidate: &Candidate, step: u64, random: &mut Random) -> bool {
        let Some((lock, _)) = candidate.acquires() else { return false };
        let thread = candidate.thread;
        if self.released.contains(&thread) || self.pause_of(thread).is_some() {
            return false;
        }
        let interferes = if candidate.reacquires {
            if !candidate.target.is_again() && !random.chance(self.pause_chance) {
                return false;
            }
            false
        } else {
            // Two acquires that are made under other locks may be those of a circle, where it takes all to be held back.
            let is_held = candidate.target.is_between() || candidate.target.is_again() && candidate.is_nested;
            if !is_held || self.awaited(thread, lock) {
                return false;
            }
            true
        };
        self.paused.push(Pause { thread, lock, since: step, interferes });
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
        self.paused.retain(|pause| pause.thread != thread);
        self.released.retain(|released| *released != thread);
        Choice::Run(thread)
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

    fn acquired(&mut self, thread: ThreadId, lock: LockId, _aim: Aim) {
        let ended: Vec<ThreadId> = self
            .paused
            .iter()
            .filter(|pause| !pause.interferes && pause.thread != thread && pause.lock == lock)
            .map(|pause| pause.thread)
            .collect();
        ended.into_iter().for_each(|thread| self.release(thread));
    }
}
