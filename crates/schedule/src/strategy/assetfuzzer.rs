//! Phase II of AssetFuzzer: threads are held up so that the events of a predicted atomic-set violation happen in its order.
//!
//! Paper: Z. Lai, S.C. Cheung and W.K. Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs through
//! Active Randomized Testing", ICSE 2010, section 4.2.
//!
//! Kept: the random walk; the thread that executed an event after which the other unit has its turn is held up as soon as it has
//! given back the locks of the vulnerable window; a thread that comes too early to an event of the second unit is held up before
//! it; after the last event everything goes on at random. When every thread that may run is held up, one is let go at random, which is
//! counted. Deviations:
//!
//! - The paper's algorithm is for one pattern; this one follows any word ([`AssetFuzzer::new`] takes whose the events are),
//!   with a window for each switch.
//! - A thread that is about to get a lock under which the second unit's first event is made, and which the first unit needs
//!   for its own, is held up before it, until the first event has happened. Whoever is held up later already has the lock, and
//!   keeps the first event from happening.
//! - Once the other unit's events are there, its thread is preferred and the first one not held up for longer: only the event
//!   that is missing decides.
//! - All events are those of one set and of two executions of units. If the first unit's turn passes without its event, the
//!   search begins anew with the next first event.
//! - Sleepers are woken first, a bounded number of times, and nobody is held up for longer than a number of steps.
//!
//! Whether the pattern has happened is not for the strategy to say.

use fissure_analysis::atomic_sets::patterns::Who;
use fissure_model::ids::{LockId, ThreadId};

use super::{Candidate, Choice, GoalRole, Strategy, Target, View, uniform::yields_to_sleepers, willing_but};
use crate::{operation::Operation, random::Random};

/// How often sleepers are woken for the sake of those who are held up.
const PATIENCE: u32 = 32;
/// How many choices the search stays with one first event.
const LONGEST: u64 = 20_000;

/// Steers into one predicted violation.
#[derive(Debug)]
pub struct AssetFuzzer {
    /// Whose the events are, in their order.
    letters: Vec<Who>,
    /// How many of them have happened.
    happened: usize,
    /// The threads and executions of the two units, as far as they are known.
    bound: [Option<Bound>; 2],
    place: u64,
    /// Locks of windows that are held.
    windows: Vec<(ThreadId, LockId, u8)>,
    /// Threads that are let go at their current operation.
    free: Vec<ThreadId>,
    /// Since which choice nothing has happened.
    since: u64,
    now: u64,
    patience: u32,
    thrashings: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bound {
    thread: ThreadId,
    unit: u64,
}

impl AssetFuzzer {
    /// Looks for events that belong to these units.
    pub fn new(letters: &[Who]) -> Self {
        Self {
            letters: letters.to_vec(),
            happened: 0,
            bound: [None; 2],
            place: 0,
            windows: Vec::new(),
            free: Vec::new(),
            since: 0,
            now: 0,
            patience: PATIENCE,
            thrashings: 0,
        }
    }

    fn is_done(&self) -> bool {
        self.happened >= self.letters.len()
    }

    /// Whether an operation is the event that is missing now.
    fn is_next(&self, thread: ThreadId, role: GoalRole) -> bool {
        let Some(who) = self.letters.get(self.happened) else { return false };
        if role.letters >> self.happened & 1 == 0 || self.happened > 0 && role.place != self.place {
            return false;
        }
        let other = self.bound[1 - who.index()];
        match self.bound[who.index()] {
            Some(bound) => bound == Bound { thread, unit: role.unit },
            None => other.is_none_or(|other| other.thread != thread),
        }
    }

    /// Whether a candidate is held up.
    fn holds(&self, candidate: &Candidate) -> bool {
        let (thread, role) = (candidate.thread, candidate.role);
        // What counts as its event has begun, and only has to come to its end.
        if self.is_done() || candidate.stays || self.free.contains(&thread) || self.is_next(thread, role) {
            return false;
        }
        if self.happened == 0 {
            return role.is_gate || role.letters >> 1 & 1 == 1;
        }
        let turn = self.letters[self.happened];
        let waits = |who: Who| {
            let is_bound = self.bound[who.index()].is_some_and(|bound| bound.thread == thread);
            is_bound && who != turn && self.letters[self.happened..].contains(&who)
        };
        let Some(who) = [Who::First, Who::Second].into_iter().find(|who| waits(*who)) else { return false };
        // It must not keep the other from its events.
        let last = (0..self.happened).rev().find(|&place| self.letters[place] == who).unwrap_or(0);
        !self.windows.iter().any(|(holder, _, windows)| *holder == thread && windows >> last & 1 == 1)
    }

    /// The search begins anew.
    fn restart(&mut self) {
        self.happened = 0;
        self.bound = [None; 2];
        self.since = self.now;
    }

    fn let_go(&mut self, thread: ThreadId) {
        self.thrashings += 1;
        if self.bound.iter().flatten().any(|bound| bound.thread == thread) {
            self.restart();
        }
        if !self.free.contains(&thread) {
            self.free.push(thread);
        }
    }
}

impl Strategy for AssetFuzzer {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        self.now = view.step;
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        if self.happened > 0 && !self.is_done() && view.step - self.since > LONGEST {
            self.thrashings += 1;
            self.restart();
        }
        if self.happened > 0
            && let Some(next) = view.candidates.iter().find(|next| self.is_next(next.thread, next.role))
        {
            return Choice::Run(next.thread);
        }
        let willing = willing_but(view, |candidate| self.holds(candidate));
        if willing.is_empty() {
            if !view.sleepers.is_empty() && self.patience > 0 {
                self.patience -= 1;
                return Choice::Sleepers;
            }
            let freed = view.candidates[random.below(view.candidates.len())].thread;
            self.let_go(freed);
            return Choice::Run(freed);
        }
        // Once its turn has come, the thread with the event that is missing goes first.
        let turn = self.letters.get(self.happened).and_then(|who| self.bound[who.index()]);
        if let Some(bound) = turn.filter(|_| self.happened > 1)
            && willing.iter().any(|candidate| candidate.thread == bound.thread)
        {
            return Choice::Run(bound.thread);
        }
        Choice::Run(willing[random.below(willing.len())].thread)
    }

    fn acquired(&mut self, thread: ThreadId, lock: LockId, _target: Target, role: GoalRole) {
        if role.windows != 0 {
            self.windows.push((thread, lock, role.windows));
        }
    }

    fn released(&mut self, thread: ThreadId, lock: LockId) {
        self.windows.retain(|(holder, held, _)| (*holder, *held) != (thread, lock));
    }

    fn executed(&mut self, thread: ThreadId, _operation: &Operation, role: GoalRole) {
        self.free.retain(|free| *free != thread);
        if self.is_done() || role.letters == 0 {
            return;
        }
        let is_of_first = self.bound[0].is_some_and(|bound| bound.thread == thread);
        if !self.is_next(thread, role) && is_of_first {
            // Its unit is over, or the event came before its turn: what was there before is of no use.
            let unit_is_over = self.bound[0].is_some_and(|bound| bound.unit != role.unit);
            let next_own =
                (self.happened..self.letters.len()).find(|&place| self.letters[place] == Who::First);
            let is_too_early = next_own.is_some_and(|place| role.letters >> place & 1 == 1);
            let repeats = role.letters & 1 == 1 && !unit_is_over;
            if unit_is_over || is_too_early && !repeats {
                self.restart();
            }
        }
        if !self.is_next(thread, role) {
            return;
        }
        let who = self.letters[self.happened];
        self.bound[who.index()] = Some(Bound { thread, unit: role.unit });
        self.place = role.place;
        self.happened += 1;
        (self.since, self.patience) = (self.now, PATIENCE);
    }

    fn thrashings(&self) -> u64 {
        self.thrashings
    }
}
