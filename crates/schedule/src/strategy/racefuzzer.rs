//! RaceFuzzer: stops two threads before two accesses that may race, at the same time.
//!
//! Paper: K. Sen, "Race Directed Random Testing of Concurrent Programs", PLDI 2008, section 3.
//!
//! Kept: a thread that reaches one of the two sites is paused until another reaches the other site with the same location; then
//! both are released in a random order, and the execution continues to look for more. When every thread that can run is paused,
//! one of them is released at random, which is counted. Deviations:
//!
//! - If several threads are paused at accesses that race with the new one, one of them is chosen and the others stay paused: they
//!   may race as well.
//! - Sleepers are woken first, a bounded number of times, and no thread is paused for longer than a number of steps, so
//!   that an execution ends, and ends in the same way in a replay.
//! - The conductor reports races, not the strategy.

use fissure_model::{ids::ThreadId, settings::Patterns};

use super::{
    Candidate, Choice, GoalRole, Strategy, View, registry::StrategyKind, uniform::yields_to_sleepers,
    willing_except,
};
use crate::{operation::Operation, random::Random};

/// How often sleepers are woken before a paused thread is released.
const PATIENCE: u32 = 32;

/// The registration.
pub(super) const KIND: StrategyKind = StrategyKind {
    name: "racefuzzer",
    about: "Predicts races from profiling runs, and brings the racing accesses together.",
    predicts: true,
    patterns: Patterns { races: true, ..StrategyKind::PLAIN.patterns },
    build: |_| Ok(Box::new(RaceFuzzer::new())),
    ..StrategyKind::PLAIN
};

/// The strategy whose goal is a race.
#[derive(Debug, Default)]
pub struct RaceFuzzer {
    /// The paused threads, and the choices since which they are paused.
    paused: Vec<(ThreadId, u64)>,
    /// Threads that are not paused at their current operation any more.
    free: Vec<ThreadId>,
    patience: u32,
    thrashings: u64,
}

impl RaceFuzzer {
    /// Without paused threads.
    pub fn new() -> Self {
        Self { patience: PATIENCE, ..Self::default() }
    }

    fn release(&mut self, thread: ThreadId) {
        self.paused.retain(|(paused, _)| *paused != thread);
        if !self.free.contains(&thread) {
            self.free.push(thread);
        }
    }
}

/// Whether the accesses of two candidates are the two of the goal, at one location.
fn race(one: &Candidate, other: &Candidate) -> bool {
    let both = one.role.letters | other.role.letters;
    one.thread != other.thread
        && one.role.letters != 0
        && other.role.letters != 0
        && both & 0b11 == 0b11
        && one.role.location == other.role.location
}

impl Strategy for RaceFuzzer {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        while let Some((thread, _)) = self.paused.iter().find(|(_, since)| view.ends_pause(*since)) {
            let thread = *thread;
            self.thrashings += 1;
            self.release(thread);
        }
        loop {
            let is_paused =
                |candidate: &Candidate| self.paused.iter().any(|(paused, _)| *paused == candidate.thread);
            let willing = willing_except(view, is_paused);
            if willing.is_empty() {
                if !view.sleepers.is_empty() && self.patience > 0 {
                    self.patience -= 1;
                    return Choice::Sleepers;
                }
                self.thrashings += 1;
                let released = view.candidates[random.below(view.candidates.len())].thread;
                self.release(released);
                return Choice::Run(released);
            }
            let candidate = willing[random.below(willing.len())];
            if candidate.role.letters == 0 || self.free.contains(&candidate.thread) {
                return Choice::Run(candidate.thread);
            }
            let rivals: Vec<&Candidate> = view
                .candidates
                .iter()
                .filter(|other| self.paused.iter().any(|(paused, _)| *paused == other.thread))
                .filter(|other| race(&candidate, other))
                .collect();
            if rivals.is_empty() {
                self.paused.push((candidate.thread, view.step));
                self.patience = PATIENCE;
                continue;
            }
            let rival = rivals[random.below(rivals.len())].thread;
            self.release(rival);
            self.release(candidate.thread);
            let both = [candidate.thread, rival];
            return Choice::Run(both[random.below(2)]);
        }
    }

    fn executed(&mut self, thread: ThreadId, _operation: &Operation, _role: GoalRole) {
        self.paused.retain(|(paused, _)| *paused != thread);
        self.free.retain(|free| *free != thread);
    }

    fn thrashings(&self) -> u64 {
        self.thrashings
    }
}
