//! Lets one thread's access come in between two of another, or before one.
//!
//! Paper: C.-S. Park and K. Sen, "Randomized Active Atomicity Violation Detection in Concurrent Programs", FSE 2008, for the pause
//! before the second of two operations; the operations are whatever [`fissure_analysis::interleavings`] found, instead of acquires in a
//! block that is to be atomic.
//!
//! Kept: the random walk; a thread that has done the first and comes to the last is paused until another has come in between. Deviations
//! are those of [`AtomFuzzer`](super::AtomFuzzer) with a target:
//!
//! - Whoever comes to what is to come in between is held back as well, until somebody is paused whom it can come in between of, and
//!   then goes at once.
//! - The one that was come in between of goes next: what it finds is best found before anybody puts it right.
//! - When every thread that may run is paused, sleepers are woken first, a bounded number of times, and then one is let go. Nobody is
//!   paused for longer than a number of steps.
//!
//! Among those who are not paused, [`AtomFuzzer`] chooses without a target, so that a run that looks for this does not miss what the
//! published algorithm finds. A calm run lets each of them go on for as long as it can instead: what takes several accesses in the right order
//! mostly takes one interruption, and would be spoiled by others.

use fissure_model::{
    goal::Shape,
    ids::{LockId, ThreadId},
};

use super::{
    AtomFuzzer, Candidate, Choice, GoalRole, Sequential, Strategy, Target, View, uniform::yields_to_sleepers,
};
use crate::{operation::Operation, random::Random};

/// How often sleepers are woken for the sake of those who are paused.
const PATIENCE: u32 = 32;
/// How many choices a pause lasts at most.
const LONGEST: u64 = 20_000;

/// The letters of what is looked for.
const FIRST: u8 = 1;
const REMOTE: u8 = 2;
const LAST: u8 = 4;

/// Lets an access come in between, or two change their order.
#[derive(Debug)]
pub struct Interleaver {
    /// Who chooses among those that have nothing to do with it.
    rest: AtomFuzzer,
    is_sequential: bool,
    shape: Shape,
    /// Who has done that, and with what; 0 stands for anything.
    begun: Vec<(ThreadId, u64)>,
    paused: Vec<Pause>,
    /// Threads that are let go at their current operation.
    free: Vec<ThreadId>,
    /// Who goes next, as soon as it can.
    eager: Option<ThreadId>,
    /// With what something came in between already.
    done: Vec<u64>,
    patience: u32,
    thrashings: u64,
    /// How many choices there were, and how many when something had come in between last.
    choices: u64,
    reached: Option<u64>,
}

#[derive(Debug)]
struct Pause {
    thread: ThreadId,
    place: u64,
    since: u64,
    /// Whether it is to be come in between of; otherwise it is the one that comes in between.
    is_last: bool,
}

impl Interleaver {
    /// Lets something come before an operation. Threads in blocks are paused with a probability, given as chances in a million.
    pub fn new(shape: Shape, pause_chance: u32) -> Self {
        Self {
            rest: AtomFuzzer::new(pause_chance),
            is_sequential: false,
            shape,
            begun: Vec::new(),
            paused: Vec::new(),
            free: Vec::new(),
            eager: None,
            done: Vec::new(),
            patience: PATIENCE,
            thrashings: 0,
            choices: 0,
            reached: None,
        }
    }

    /// The same without any other interruption.
    pub fn sequential(shape: Shape) -> Self {
        Self { is_sequential: true, ..Self::new(shape, 0) }
    }

    /// Whether a candidate is about to do the last of what is looked for, and nothing came in between yet.
    fn is_last(&self, thread: ThreadId, role: GoalRole) -> bool {
        let has_begun =
            |(known, place): &(ThreadId, u64)| *known == thread && (*place == role.place || *place == 0);
        role.letters & LAST != 0
            && match self.shape {
                Shape::Interleaving => self.begun.iter().any(has_begun),
                Shape::Reordering => !self.done.contains(&role.place),
                Shape::Delay => self.done.is_empty() && self.paused.is_empty(),
            }
    }

    /// Whether another thread is paused that this one can come in between of.
    fn is_awaited(&self, thread: ThreadId, role: GoalRole) -> bool {
        let mut others = self.paused.iter().filter(|pause| pause.is_last && pause.place == role.place);
        role.letters & REMOTE != 0 && others.any(|pause| pause.thread != thread)
    }

    fn is_paused(&self, thread: ThreadId) -> bool {
        self.paused.iter().any(|pause| pause.thread == thread)
    }

    /// Pauses a candidate, if it is one of those who are looked for and too early.
    fn pauses(&mut self, candidate: &Candidate, step: u64) {
        let (thread, role) = (candidate.thread, candidate.role);
        if role.letters & (REMOTE | LAST) == 0 || self.is_paused(thread) || self.free.contains(&thread) {
            return;
        }
        let is_last = self.is_last(thread, role);
        // An order needs nobody but the later one to wait.
        let is_between =
            self.shape == Shape::Interleaving && role.letters & REMOTE != 0 && !self.is_awaited(thread, role);
        if is_last && !self.is_awaited(thread, role) || !is_last && is_between {
            self.paused.push(Pause { thread, place: role.place, since: step, is_last });
            self.patience = PATIENCE;
        }
    }

    fn let_go(&mut self, thread: ThreadId) {
        self.paused.retain(|pause| pause.thread != thread);
        if !self.free.contains(&thread) {
            self.free.push(thread);
        }
    }

    fn run(&mut self, thread: ThreadId) -> Choice {
        self.rest.forget(thread);
        Choice::Run(thread)
    }
}

impl Strategy for Interleaver {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        self.choices = view.step + 1;
        while let Some(pause) = self.paused.iter().find(|pause| view.step - pause.since > LONGEST) {
            let thread = pause.thread;
            self.thrashings += 1;
            self.let_go(thread);
        }
        let can_run = |thread: &ThreadId| view.candidates.iter().any(|other| other.thread == *thread);
        if let Some(thread) = self.eager.filter(can_run) {
            return self.run(thread);
        }
        for candidate in view.candidates {
            self.pauses(candidate, view.step);
        }
        let wanted = |candidate: &&Candidate| self.is_awaited(candidate.thread, candidate.role);
        let wanted: Vec<ThreadId> =
            view.candidates.iter().filter(wanted).map(|candidate| candidate.thread).collect();
        if !wanted.is_empty() {
            return self.run(wanted[random.below(wanted.len())]);
        }
        let is_willing = |candidate: &&Candidate| !self.is_paused(candidate.thread);
        let willing: Vec<Candidate> = view.candidates.iter().filter(is_willing).copied().collect();
        if !willing.is_empty() {
            let is_willing = |thread: &ThreadId| willing.iter().any(|other| other.thread == *thread);
            let current = view.current.filter(is_willing);
            let view =
                View { candidates: &willing, current, yields: view.yields && current.is_some(), ..*view };
            return match self.is_sequential {
                true => Sequential.choose(&view, random),
                false => self.rest.choose(&view, random),
            };
        }
        if !view.sleepers.is_empty() && self.patience > 0 {
            self.patience -= 1;
            return Choice::Sleepers;
        }
        // Of those who are paused, one that comes in between may come to be the one to be interfered with.
        let is_remote = |candidate: &&Candidate| {
            self.paused.iter().any(|pause| pause.thread == candidate.thread && !pause.is_last)
        };
        let mut freed: Vec<ThreadId> =
            view.candidates.iter().filter(is_remote).map(|candidate| candidate.thread).collect();
        if freed.is_empty() {
            freed.extend(view.candidates.iter().map(|candidate| candidate.thread));
        }
        let freed = freed[random.below(freed.len())];
        self.thrashings += u64::from(self.shape != Shape::Delay);
        self.let_go(freed);
        self.run(freed)
    }

    fn acquired(&mut self, thread: ThreadId, lock: LockId, target: Target, role: GoalRole) {
        self.rest.acquired(thread, lock, target, role);
    }

    fn executed(&mut self, thread: ThreadId, _operation: &Operation, role: GoalRole) {
        if self.shape == Shape::Delay && role.letters & LAST != 0 && self.done.is_empty() {
            self.done.push(role.place);
            self.reached = Some(self.choices);
        }
        self.paused.retain(|pause| pause.thread != thread);
        self.free.retain(|free| *free != thread);
        self.eager = self.eager.filter(|eager| *eager != thread);
        if role.letters == 0 {
            return;
        }
        if role.letters & REMOTE != 0 && !self.done.contains(&role.place) {
            self.done.push(role.place);
        }
        let is_met = |pause: &&Pause| pause.is_last && pause.thread != thread && pause.place == role.place;
        let met = self.paused.iter().find(is_met).filter(|_| role.letters & REMOTE != 0);
        if let Some(met) = met.map(|pause| pause.thread) {
            self.eager = Some(met);
            // Whoever begins so comes in between once more, and goes on as this one.
            self.reached = Some(self.choices - 1);
            self.let_go(met);
        }
        if role.letters & LAST != 0 {
            self.begun.retain(|(known, place)| *known != thread || *place != role.place && *place != 0);
        }
        if role.letters & FIRST != 0 && !self.begun.contains(&(thread, role.place)) {
            self.begun.push((thread, role.place));
        }
    }

    fn reached(&self) -> Option<u64> {
        self.reached
    }

    fn thrashings(&self) -> u64 {
        self.thrashings
    }
}
