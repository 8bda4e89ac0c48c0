//! RaceFuzzer: two threads are brought to stand before two accesses that may race, at the same time.
//!
//! Paper: K. Sen, "Race Directed Random Testing of Concurrent Programs", PLDI 2008, section 3.
//!
//! Kept: a thread that comes to one of the two places is held up until another comes to the other place with the same
//! location; then both are let go in a random order, and the execution goes on to look for more. When every thread that may run is held
//! up, one of them is let go at random, which is counted. Deviations:
//!
//! - Of several threads that are held up at accesses that race with the new one, one is drawn, not all are let go: the others
//!   may race as well.
//! - Sleepers are woken first, a bounded number of times, and nobody is held up for longer than a number of steps, so
//!   that an execution ends and ends in the same way in a replay.
//! - Whether there was a race is told by the conductor and not by the strategy.

use fissure_model::ids::ThreadId;

use super::{Candidate, Choice, GoalRole, Strategy, View, uniform::yields_to_sleepers, willing_but};
use crate::{operation::Operation, random::Random};

/// How often sleepers are woken for the sake of those who are held up.
const PATIENCE: u32 = 32;
/// How many choices somebody is held up at most.
const LONGEST: u64 = 20_000;

/// Brings two threads to two accesses that may race.
#[derive(Debug, Default)]
pub struct RaceFuzzer {
    held: Vec<(ThreadId, u64)>,
    /// Threads that are let go at their current operation.
    free: Vec<ThreadId>,
    patience: u32,
    thrashings: u64,
}

impl RaceFuzzer {
    /// Holds nobody up yet.
    pub fn new() -> Self {
        Self { patience: PATIENCE, ..Self::default() }
    }

    fn let_go(&mut self, thread: ThreadId) {
        self.held.retain(|(held, _)| *held != thread);
        if !self.free.contains(&thread) {
            self.free.push(thread);
        }
    }
}

/// Whether the accesses of two candidates are the two that are looked for, at one location.
fn race(one: &Candidate, other: &Candidate) -> bool {
    let both = one.role.letters | other.role.letters;
    one.thread != other.thread
        && one.role.letters != 0
        && other.role.letters != 0
        && both & 0b11 == 0b11
        && one.role.place == other.role.place
}

impl Strategy for RaceFuzzer {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        while let Some((thread, _)) = self.held.iter().find(|(_, since)| view.step - since > LONGEST) {
            let thread = *thread;
            self.thrashings += 1;
            self.let_go(thread);
        }
        loop {
            let is_held = |candidate: &Candidate| self.held.iter().any(|(held, _)| *held == candidate.thread);
            let willing = willing_but(view, is_held);
            if willing.is_empty() {
                if !view.sleepers.is_empty() && self.patience > 0 {
                    self.patience -= 1;
                    return Choice::Sleepers;
                }
                self.thrashings += 1;
                let freed = view.candidates[random.below(view.candidates.len())].thread;
                self.let_go(freed);
                return Choice::Run(freed);
            }
            let candidate = willing[random.below(willing.len())];
            if candidate.role.letters == 0 || self.free.contains(&candidate.thread) {
                return Choice::Run(candidate.thread);
            }
            let rivals: Vec<&Candidate> = view
                .candidates
                .iter()
                .filter(|other| self.held.iter().any(|(held, _)| *held == other.thread))
                .filter(|other| race(&candidate, other))
                .collect();
            if rivals.is_empty() {
                self.held.push((candidate.thread, view.step));
                self.patience = PATIENCE;
                continue;
            }
            let rival = rivals[random.below(rivals.len())].thread;
            self.let_go(rival);
            self.let_go(candidate.thread);
            let both = [candidate.thread, rival];
            return Choice::Run(both[random.below(2)]);
        }
    }

    fn executed(&mut self, thread: ThreadId, _operation: &Operation, _aim: GoalRole) {
        self.held.retain(|(held, _)| *held != thread);
        self.free.retain(|free| *free != thread);
    }

    fn thrashings(&self) -> u64 {
        self.thrashings
    }
}
