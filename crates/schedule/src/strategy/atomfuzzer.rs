//! Algorithm 2 of the AtomFuzzer paper: pauses a thread that is about to acquire a lock again inside of an atomic block, so that
//! another thread can acquire the lock first.
//!
//! Paper: C.-S. Park and K. Sen, "Randomized Active Atomicity Violation Detection in Concurrent Programs", FSE 2008, section 2.2.
//!
//! Kept: the random walk, the pause, and its end when another thread has acquired the lock. As printed, the algorithm livelocks and
//! can report false violations. The repairs:
//!
//! - A thread executes if it is not paused (the probability of a pause is an option) or if its pause has ended: it is not paused
//!   again at the same acquire.
//! - The acquire of another thread ends a pause only after that acquire was executed.
//! - When every thread that can run is paused, sleepers are woken first, because they may execute the remote acquire; only then does
//!   one pause end. Periodic sleepers are woken a bounded number of times.
//! - A pause ends after a number of steps instead of a time, so that it ends at the same step in a replay.
//!
//! Beyond the paper: with a [`AcquireRole`], threads that reach the remote acquire are paused as well, until another thread is paused at
//! the local acquire that the remote one must precede. Otherwise a remote acquire that always happens before the block begins would
//! never land inside of it. The candidates carry the roles of their acquires. The same serves for deadlocks: of two acquires that could
//! close a lock cycle, the first thread is paused until the other has arrived. It also serves for reorderings: a thread that waits
//! for a notification, or gives one, is paused until another has acquired the same lock; and a notified thread is paused before
//! it reacquires its monitor, like one that acquires a lock again.

use fissure_model::{
    goal::{Goal, Shape},
    ids::{LockId, ThreadId},
    recording::Recording,
    settings::Control,
};

use super::{
    Candidate, Choice, GoalRole, Guided, Interleaver, Strategy, View,
    pct::PriorityChanges,
    pos::PartialOrderSampling,
    registry::{StrategyError, StrategyKind},
    uniform::{Uniform, yields_to_sleepers},
    willing,
};
use crate::random::Random;

/// How often sleepers are woken before a pause ends.
const PATIENCE: u32 = 32;
/// How many further executions of an access may be skipped before one is delayed.
const MOST_SKIPPED: usize = 6;

/// The registration.
pub(super) const KIND: StrategyKind = StrategyKind {
    name: "atomfuzzer",
    about: "Random, but threads are paused where their atomic blocks could be violated, and runs have goals at accesses.",
    learns: true,
    build,
    ..StrategyKind::PLAIN
};

/// The strategy for the goal of a run: at accesses or at acquires, after the choices that led there in an earlier run. Where chance decides at
/// accesses, a third of the runs each sample orders of conflicting accesses, change priorities at few steps, and are a random walk: the
/// first show more where conflicts are rare in long runs, the second where a failure takes few preemptions, the last where it takes many in a
/// short run.
fn build(settings: &Control) -> Result<Box<dyn Strategy>, StrategyError> {
    let (rest, prefix): (Box<dyn Strategy>, _) = match &settings.goal {
        Some(Goal::Accesses(goal)) => {
            let interleaver = match goal.is_sequential {
                true => Interleaver::sequential(goal.shape()),
                false if goal.shape() == Shape::Delay => delay(settings),
                false => Interleaver::new(goal.shape(), settings.pause),
            };
            (Box::new(interleaver), goal.prefix.as_deref())
        }
        // Inside of concurrent objects, orders of few operations matter among many.
        Some(Goal::Chance(goal)) if goal.volatiles => (Box::new(PartialOrderSampling::default()), None),
        Some(Goal::Chance(_)) => match Random::new(settings.seed).below(3) {
            0 => (Box::new(PartialOrderSampling::default()), None),
            1 => (Box::new(PriorityChanges::new(settings.depth)), None),
            _ => (Box::new(Uniform), None),
        },
        Some(Goal::Acquires(pair)) => (Box::new(AtomFuzzer::new(settings.pause)), pair.prefix.as_deref()),
        Some(Goal::Set(_) | Goal::Race(_)) | None => (Box::new(AtomFuzzer::new(settings.pause)), None),
    };
    Ok(match prefix.map(str::parse::<Recording>).transpose()? {
        Some(prefix) => Box::new(Guided::new(&prefix, rest)),
        None => rest,
    })
}

/// A delay with random preemptions, or of a later execution of the access in an otherwise sequential schedule: the more executions are
/// skipped, the less likely.
fn delay(settings: &Control) -> Interleaver {
    let mut random = Random::new(settings.seed);
    if random.below(2) == 0 {
        return Interleaver::new(Shape::Delay, settings.pause);
    }
    let skipped = 1 + (0..MOST_SKIPPED).take_while(|_| random.below(2) == 0).count();
    Interleaver::sequential(Shape::Delay).skipping(skipped as u32)
}

/// The role of an acquire in the pair of acquires that is the goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AcquireRole {
    /// The local acquire inside of the block, which the remote acquire must precede.
    pub is_local: bool,
    /// The remote acquire, which must land between two local ones.
    pub is_remote: bool,
    /// The later acquire of a reordering.
    pub is_later: bool,
    /// The earlier acquire of a reordering.
    pub is_earlier: bool,
}

/// The strategy whose goal is the lock pattern.
#[derive(Debug)]
pub struct AtomFuzzer {
    /// The probability of a pause, in millionths.
    pause_chance: u32,
    paused: Vec<Pause>,
    /// Threads whose pause at their current operation has ended.
    released: Vec<ThreadId>,
    /// Notified threads before whose reacquire the remote acquire landed: they run next, before the state changes again.
    next: Vec<ThreadId>,
    /// The threads that executed the earlier acquire of a reordering, with its lock.
    done: Vec<(ThreadId, LockId)>,
    patience: u32,
}

#[derive(Debug)]
struct Pause {
    thread: ThreadId,
    lock: LockId,
    since: u64,
    reason: Reason,
}

/// Why a thread is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// Before its local acquire, so that any remote acquire can land first.
    Local,
    /// Before it reacquires its monitor after a wait, so that the remote acquire of the goal can land first.
    Woken,
    /// Before its remote acquire, until another thread is paused before the local one.
    Remote,
    /// Before the later acquire of a reordering, until the earlier one has happened.
    Later,
    /// Before the earlier acquire of a reordering, until another thread is paused before the later one.
    Earlier,
}

impl AtomFuzzer {
    /// Pauses with this probability, in millionths.
    pub fn new(pause_chance: u32) -> Self {
        Self {
            pause_chance,
            paused: Vec::new(),
            released: Vec::new(),
            next: Vec::new(),
            done: Vec::new(),
            patience: PATIENCE,
        }
    }

    fn pause_of(&self, thread: ThreadId) -> Option<&Pause> {
        self.paused.iter().find(|pause| pause.thread == thread)
    }

    /// Whether another thread is paused before a local acquire of this lock, so that an acquire by this thread would be the remote one.
    fn is_awaited(&self, thread: ThreadId, lock: LockId) -> bool {
        let is_awaiting =
            |pause: &&Pause| matches!(pause.reason, Reason::Local | Reason::Woken) && pause.thread != thread;
        self.paused.iter().filter(is_awaiting).any(|pause| pause.lock == lock)
    }

    /// Whether another thread is paused before the later acquire of a reordering on this lock.
    fn is_preceded(&self, thread: ThreadId, lock: LockId) -> bool {
        let mut others = self.paused.iter().filter(|pause| pause.thread != thread && pause.lock == lock);
        others.any(|pause| pause.reason == Reason::Later)
    }

    /// Whether another thread has executed the earlier acquire of a reordering on this lock.
    fn is_late(&self, thread: ThreadId, lock: LockId) -> bool {
        self.done.iter().any(|(other, known)| *other != thread && *known == lock)
    }

    fn may_run(&self, candidate: &Candidate) -> bool {
        self.pause_of(candidate.thread).is_none_or(|pause| match pause.reason {
            Reason::Local | Reason::Woken => false,
            Reason::Remote => self.is_awaited(pause.thread, pause.lock),
            Reason::Later => self.is_late(pause.thread, pause.lock),
            Reason::Earlier => self.is_preceded(pause.thread, pause.lock),
        })
    }

    /// Pauses the candidate if its role or chance demands that; returns whether it is paused.
    fn pauses(&mut self, candidate: &Candidate, step: u64, random: &mut Random) -> bool {
        let Some(lock) = candidate.operation.enters() else { return false };
        let (thread, acquire_role) = (candidate.thread, candidate.acquire_role);
        if self.released.contains(&thread) || self.pause_of(thread).is_some() {
            return false;
        }
        let resumes = candidate.operation.acquires().is_none();
        // An acquire under another lock may be part of a lock cycle, which closes only if all of its threads are paused.
        let is_held = acquire_role.is_remote || acquire_role.is_local && candidate.is_nested;
        let reason = if acquire_role.is_later && !self.is_late(thread, lock) {
            Reason::Later
        } else if acquire_role.is_earlier
            && !self.done.contains(&(thread, lock))
            && !self.is_preceded(thread, lock)
        {
            Reason::Earlier
        } else if resumes && acquire_role.is_local {
            Reason::Woken
        } else if candidate.reacquires && (acquire_role.is_local || random.chance(self.pause_chance)) {
            Reason::Local
        } else if !candidate.reacquires && !resumes && is_held && !self.is_awaited(thread, lock) {
            Reason::Remote
        } else {
            return false;
        };
        self.paused.push(Pause { thread, lock, since: step, reason });
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

    /// Removes all records of a thread, because it continues.
    pub(super) fn forget(&mut self, thread: ThreadId) {
        self.paused.retain(|pause| pause.thread != thread);
        self.released.retain(|released| *released != thread);
        self.next.retain(|next| *next != thread);
    }
}

impl Strategy for AtomFuzzer {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        while let Some(pause) = self.paused.iter().find(|pause| view.ends_pause(pause.since)) {
            self.release(pause.thread);
        }
        // A thread with a role in the goal is paused as soon as it arrives, and the thread that a paused one waits for runs at once.
        for candidate in
            view.candidates.iter().filter(|candidate| candidate.acquire_role != AcquireRole::default())
        {
            self.pauses(candidate, view.step, random);
        }
        let wanted: Vec<ThreadId> = view
            .candidates
            .iter()
            .map(|candidate| candidate.thread)
            .filter(|thread| {
                self.pause_of(*thread).is_some_and(|pause| match pause.reason {
                    Reason::Remote => self.is_awaited(pause.thread, pause.lock),
                    Reason::Earlier => self.is_preceded(pause.thread, pause.lock),
                    Reason::Local | Reason::Woken | Reason::Later => false,
                })
            })
            .collect();
        let can_run = |thread: &ThreadId| view.candidates.iter().any(|other| other.thread == *thread);
        if let Some(thread) = self.next.iter().copied().find(can_run) {
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
                // A paused thread in a block that has not reached its reacquire may still become the local one, so it is preferred.
                let mut unpaused: Vec<ThreadId> = view
                    .candidates
                    .iter()
                    .filter(|candidate| candidate.in_block && !candidate.reacquires)
                    .map(|candidate| candidate.thread)
                    .collect();
                if unpaused.is_empty() {
                    unpaused.extend(view.candidates.iter().map(|candidate| candidate.thread));
                }
                return self.run(unpaused[random.below(unpaused.len())]);
            }
            let candidate = willing[random.below(willing.len())];
            if !self.pauses(&candidate, view.step, random) {
                return self.run(candidate.thread);
            }
        }
    }

    fn acquired(&mut self, thread: ThreadId, lock: LockId, acquire_role: AcquireRole, _role: GoalRole) {
        if acquire_role.is_earlier && !self.done.contains(&(thread, lock)) {
            self.done.push((thread, lock));
        }
        let woken =
            self.paused.iter().filter(|pause| pause.reason == Reason::Woken && acquire_role.is_remote);
        let woken = woken.filter(|pause| pause.thread != thread && pause.lock == lock);
        self.next.extend(woken.map(|pause| pause.thread));
        let ended: Vec<ThreadId> = self
            .paused
            .iter()
            .filter(|pause| match pause.reason {
                Reason::Local => true,
                Reason::Woken => acquire_role.is_remote,
                Reason::Remote | Reason::Later | Reason::Earlier => false,
            })
            .filter(|pause| pause.thread != thread && pause.lock == lock)
            .map(|pause| pause.thread)
            .collect();
        ended.into_iter().for_each(|thread| self.release(thread));
    }
}
