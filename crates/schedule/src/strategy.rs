//! Strategies, which choose the next thread among those that can run.

mod assetfuzzer;
mod atomfuzzer;
mod guided;
mod interleaver;
mod pct;
mod pos;
mod preemptions;
mod racefuzzer;
pub mod registry;
mod replay;
mod sequential;
mod uniform;

pub use assetfuzzer::AssetFuzzer;
pub use atomfuzzer::{AcquireRole, AtomFuzzer};
pub use guided::Guided;
pub use interleaver::Interleaver;
pub use pct::PriorityChanges;
pub use pos::PartialOrderSampling;
pub use preemptions::{Explored, Preemptions};
pub use racefuzzer::RaceFuzzer;
pub use replay::{Departure, REPLAY, Replay};
pub use sequential::{SEQUENTIAL, Sequential};
pub use uniform::{RANDOM, Uniform};

use fissure_model::ids::{LockId, ThreadId};

use crate::{operation::Operation, random::Random};

/// A thread that can run now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The thread.
    pub thread: ThreadId,
    /// Its next operation.
    pub operation: Operation,
    /// Whether the operation acquires a lock again that the thread has acquired and released in the same atomic block.
    pub reacquires: bool,
    /// Whether the operation acquires a lock while the thread holds another one.
    pub is_nested: bool,
    /// Whether the thread is in an atomic block.
    pub in_block: bool,
    /// A hash of the methods in scope that the thread is in.
    pub context: u64,
    /// The operation's role in the pair of acquires that is the goal.
    pub acquire_role: AcquireRole,
    /// The operation's role in the accesses that are the goal.
    pub role: GoalRole,
    /// Whether the thread is inside an operation that is atomic for other threads.
    pub stays: bool,
}

/// The role of an operation in a goal of accesses: a predicted atomic-set violation, a race, an interleaving, a reordering or a delay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GoalRole {
    /// The events of the goal that the operation could be, one bit each.
    pub letters: u8,
    /// The events after which the lock acquired here must be released, one bit each.
    pub windows: u8,
    /// Whether the operation acquires a lock that must not be held before the first event has happened.
    pub is_gate: bool,
    /// The number of the atomic set or location.
    pub location: u64,
    /// The number of the unit's execution.
    pub unit: u64,
}

/// The state on which a strategy bases its choice.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The threads that can run, in the order of their numbers; at least one.
    pub candidates: &'a [Candidate],
    /// The thread that ran up to now, if it can continue.
    pub current: Option<ThreadId>,
    /// Whether the thread that ran up to now yields, or must be made to yield.
    pub yields: bool,
    /// The threads that sleep or, if there are none, those that wait with a time-out: advancing time makes them runnable.
    pub sleepers: &'a [ThreadId],
    /// The number of choices made before.
    pub step: u64,
    /// How many operations in a row only waited for a moment: threads yielded, slept, or parked until a time-out.
    pub polls: u64,
}

/// How many choices a pause lasts at most.
const LONGEST_PAUSE: u64 = 20_000;
/// The same while the other threads only poll. They may wait for the paused thread.
const LONGEST_POLLING: u64 = 200;

impl View<'_> {
    /// Whether a pause since this choice has lasted too long.
    pub(crate) fn ends_pause(&self, since: u64) -> bool {
        let lasted = self.step - since;
        lasted > LONGEST_PAUSE || lasted.min(self.polls) > LONGEST_POLLING
    }
}

/// The decision of a strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// One of the candidates runs.
    Run(ThreadId),
    /// Time advances until the next sleeper can run; then the strategy chooses again.
    Sleepers,
}

/// Chooses the thread that runs.
pub trait Strategy: Send {
    /// Chooses the thread that runs next.
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice;

    /// Whether a thread that was just started runs up to its first operation at once. Before that, it does nothing that other
    /// threads can observe, so that there is nothing to choose.
    fn starts_at_once(&self) -> bool {
        true
    }

    /// Chooses the waiter that a notification wakes, by its index.
    fn notify(&mut self, waiters: &[ThreadId], random: &mut Random) -> usize {
        random.below(waiters.len())
    }

    /// A thread has acquired a lock that it did not hold, by an operation with these roles in the goal.
    fn acquired(&mut self, _thread: ThreadId, _lock: LockId, _acquire_role: AcquireRole, _role: GoalRole) {}

    /// A thread no longer holds a lock.
    fn released(&mut self, _thread: ThreadId, _lock: LockId) {}

    /// A thread executes an operation, by a choice or because no other thread could run.
    fn executed(&mut self, _thread: ThreadId, _operation: &Operation, _role: GoalRole) {}

    /// How many choices had been made when the goal was reached for the last time, if it was.
    fn reached(&self) -> Option<u64> {
        None
    }

    /// How often a paused thread had to be released because no other thread could run.
    fn thrashings(&self) -> u64 {
        0
    }

    /// An execution has ended. Returns whether the strategy needs another one, of the same program from its beginning.
    fn next_execution(&mut self) -> bool {
        false
    }

    /// The progress of a search through many executions, if the strategy is one.
    fn explored(&self) -> Option<Explored> {
        None
    }

    /// Where the execution departed from a recording, if the strategy follows one.
    fn departure(&self) -> Option<Departure> {
        None
    }
}

/// The candidates without the thread that yields, unless it is the only one.
pub(crate) fn willing(view: &View<'_>) -> Vec<Candidate> {
    let others = |candidate: &&Candidate| Some(candidate.thread) != view.current;
    let mut willing: Vec<Candidate> = Vec::new();
    if view.yields {
        willing.extend(view.candidates.iter().filter(others));
    }
    if willing.is_empty() {
        willing.extend(view.candidates);
    }
    willing
}

/// The willing candidates that are not paused. A thread that yields continues if all others are paused.
pub(crate) fn willing_except(view: &View<'_>, is_paused: impl Fn(&Candidate) -> bool) -> Vec<Candidate> {
    let mut free = willing(view);
    free.retain(|candidate| !is_paused(candidate));
    if free.is_empty() {
        free.extend(view.candidates.iter().filter(|candidate| !is_paused(candidate)));
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_short_while_the_other_threads_only_poll() {
        let check = |step: u64, polls: u64, expected: bool| {
            let view = View { candidates: &[], current: None, yields: false, sleepers: &[], step, polls };
            assert_eq!(view.ends_pause(1_000), expected, "{step} {polls}");
        };
        check(1_100, 500, false);
        check(1_300, 150, false);
        check(1_300, 250, true);
        check(21_000, 0, false);
        check(21_001, 0, true);
    }
}
