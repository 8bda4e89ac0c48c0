//! Follows the beginning of an earlier execution and then another strategy, to reach a known state again and try different
//! continuations from there.

use fissure_model::{
    ids::{LockId, ThreadId},
    recording::Recording,
};

use super::{AcquireRole, Choice, GoalRole, Replay, Strategy, View};
use crate::{operation::Operation, random::Random};

/// Follows choices of an earlier execution as far as they go; then another strategy decides.
pub struct Guided {
    beginning: Replay,
    rest: Box<dyn Strategy>,
}

impl Guided {
    /// Follows `beginning`, then `rest`.
    pub fn new(beginning: &Recording, rest: Box<dyn Strategy>) -> Self {
        Self { beginning: Replay::new(beginning), rest }
    }
}

impl Strategy for Guided {
    fn reached(&self) -> Option<u64> {
        self.rest.reached()
    }

    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if self.beginning.goes_on() {
            let choice = self.beginning.choose(view, random);
            if !self.beginning.has_departed() {
                return choice;
            }
        }
        self.rest.choose(view, random)
    }

    fn starts_at_once(&self) -> bool {
        self.rest.starts_at_once()
    }

    fn notify(&mut self, waiters: &[ThreadId], random: &mut Random) -> usize {
        if self.beginning.goes_on() {
            let index = self.beginning.notify(waiters, random);
            if !self.beginning.has_departed() {
                return index;
            }
        }
        self.rest.notify(waiters, random)
    }

    fn acquired(&mut self, thread: ThreadId, lock: LockId, acquire_role: AcquireRole, role: GoalRole) {
        self.rest.acquired(thread, lock, acquire_role, role);
    }

    fn released(&mut self, thread: ThreadId, lock: LockId) {
        self.rest.released(thread, lock);
    }

    fn executed(&mut self, thread: ThreadId, operation: &Operation, role: GoalRole) {
        self.rest.executed(thread, operation, role);
    }

    fn thrashings(&self) -> u64 {
        self.rest.thrashings()
    }
}
