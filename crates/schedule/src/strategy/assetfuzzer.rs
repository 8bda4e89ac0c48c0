//! Phase II of AssetFuzzer: pauses threads so that the events of a predicted atomic-set violation happen in the predicted order.
//!
//! Paper: Z. Lai, S.C. Cheung and W.K. Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs through
//! Active Randomized Testing", ICSE 2010, section 4.2.
//!
//! Kept: the random walk; a thread that executed an event before a switch to the other unit is paused as soon as it has released
//! the locks of the vulnerable window; a thread that reaches an event of the second unit too early is paused before it; after the
//! last event the walk is random again. When every thread that can run is paused, one is released at random, which is counted.
//! Deviations:
//!
//! - The paper's algorithm is for one pattern; this one follows any word ([`AssetFuzzer::new`] takes the unit of each event),
//!   with a window for each switch.
//! - A thread that is about to acquire a lock which protects the second unit's first event, and which the first unit needs for
//!   its own event, is paused before the acquire until the first event has happened. A thread paused later would already hold
//!   the lock and block the first event.
//! - After the second event, a thread whose unit has the next event is preferred, and only the missing event decides which thread
//!   is paused.
//! - All events belong to one set and to two executions of units. If the first unit passes its next event too early, or ends, the
//!   search restarts with the next first event.
//! - Sleepers are woken first, a bounded number of times, and a search with one first event lasts a bounded number of steps.
//!
//! The checker reports whether the pattern has happened, not the strategy.

use fissure_analysis::atomic_sets::patterns::{WORDS, Who};
use fissure_model::{
    goal::Goal,
    ids::{LockId, ThreadId},
    settings::Patterns,
};

use super::{
    AcquireRole, Candidate, Choice, GoalRole, Strategy, View, registry::StrategyKind,
    uniform::yields_to_sleepers, willing_except,
};
use crate::{operation::Operation, random::Random};

/// How often sleepers are woken before a paused thread is released.
const PATIENCE: u32 = 32;

/// The registration.
pub(super) const KIND: StrategyKind = StrategyKind {
    name: "assetfuzzer",
    about: "Predicts atomic-set violations from profiling runs, and makes them happen.",
    predicts: true,
    patterns: Patterns { violations: true, ..StrategyKind::PLAIN.patterns },
    build: |settings| Ok(Box::new(AssetFuzzer::new(&letters(settings.goal.as_ref())))),
    ..StrategyKind::PLAIN
};

/// The unit that executes each event of a goal, in order. All words of one pattern agree in this; they differ in locations.
fn letters(goal: Option<&Goal>) -> Vec<Who> {
    let Some(Goal::Set(goal)) = goal else { return Vec::new() };
    let word = WORDS.iter().find(|word| word.pattern == goal.pattern);
    word.map_or_else(Vec::new, |word| word.letters.iter().map(|letter| letter.who).collect())
}

/// The strategy whose goal is one predicted atomic-set violation.
#[derive(Debug)]
pub struct AssetFuzzer {
    /// The unit of each event, in the order of the pattern.
    letters: Vec<Who>,
    /// How many events have happened.
    happened: usize,
    /// The threads and executions that are bound to the two units so far.
    bound: [Option<Bound>; 2],
    /// The number of the atomic set.
    set: u64,
    /// The held locks of windows, with the events after which they must be released.
    windows: Vec<(ThreadId, LockId, u8)>,
    /// Threads that are not paused at their current operation any more.
    free: Vec<ThreadId>,
    /// The choice at which the last event happened.
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
    /// Searches for a pattern whose events belong to these units.
    pub fn new(letters: &[Who]) -> Self {
        Self {
            letters: letters.to_vec(),
            happened: 0,
            bound: [None; 2],
            set: 0,
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

    /// Whether an operation is the next event of the pattern.
    fn is_next(&self, thread: ThreadId, role: GoalRole) -> bool {
        let Some(who) = self.letters.get(self.happened) else { return false };
        if role.letters >> self.happened & 1 == 0 || self.happened > 0 && role.location != self.set {
            return false;
        }
        let other = self.bound[1 - who.index()];
        match self.bound[who.index()] {
            Some(bound) => bound == Bound { thread, unit: role.unit },
            None => other.is_none_or(|other| other.thread != thread),
        }
    }

    /// Whether a candidate is paused.
    fn pauses(&self, candidate: &Candidate) -> bool {
        let (thread, role) = (candidate.thread, candidate.role);
        // A thread inside an atomic operation has begun its event and only has to finish it.
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
        // It is paused only once it has released the window's locks, which the other unit needs for its events.
        let last = (0..self.happened).rev().find(|&index| self.letters[index] == who);
        let last = last.expect("a thread is bound to a unit by an event that has happened");
        !self.windows.iter().any(|(holder, _, windows)| *holder == thread && windows >> last & 1 == 1)
    }

    /// Restarts the search from the first event.
    fn restart(&mut self) {
        self.happened = 0;
        self.bound = [None; 2];
        self.since = self.now;
    }

    fn release(&mut self, thread: ThreadId) {
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
        if self.happened > 0 && !self.is_done() && view.ends_pause(self.since) {
            self.thrashings += 1;
            self.restart();
        }
        if self.happened > 0
            && let Some(next) = view.candidates.iter().find(|next| self.is_next(next.thread, next.role))
        {
            return Choice::Run(next.thread);
        }
        let willing = willing_except(view, |candidate| self.pauses(candidate));
        if willing.is_empty() {
            if !view.sleepers.is_empty() && self.patience > 0 {
                self.patience -= 1;
                return Choice::Sleepers;
            }
            let released = view.candidates[random.below(view.candidates.len())].thread;
            self.release(released);
            return Choice::Run(released);
        }
        // After the second event, the thread whose unit has the next event runs first.
        let turn = self.letters.get(self.happened).and_then(|who| self.bound[who.index()]);
        if let Some(bound) = turn.filter(|_| self.happened > 1)
            && willing.iter().any(|candidate| candidate.thread == bound.thread)
        {
            return Choice::Run(bound.thread);
        }
        Choice::Run(willing[random.below(willing.len())].thread)
    }

    fn acquired(&mut self, thread: ThreadId, lock: LockId, _acquire_role: AcquireRole, role: GoalRole) {
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
            // Its unit has ended, or its next event happened too early: the events so far cannot be completed to the pattern.
            let unit_is_over = self.bound[0].is_some_and(|bound| bound.unit != role.unit);
            let next_own =
                (self.happened..self.letters.len()).find(|&index| self.letters[index] == Who::First);
            let is_too_early = next_own.is_some_and(|index| role.letters >> index & 1 == 1);
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
        self.set = role.location;
        self.happened += 1;
        (self.since, self.patience) = (self.now, PATIENCE);
    }

    fn thrashings(&self) -> u64 {
        self.thrashings
    }
}
