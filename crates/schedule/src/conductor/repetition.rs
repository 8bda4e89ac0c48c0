//! Repeated executions of the same threads, each from the beginning, to execute one program under many schedules.

use fissure_model::{ids::ThreadId, recording::Recording};

use super::{Conductor, Parts, State};
use crate::{
    operation::Operation,
    pattern::LockPattern,
    strategy::{AcquireRole, GoalRole},
    unit::Units,
};

impl Conductor {
    /// Resets the conductor, so that the same threads can be started again. Returns whether the strategy has another execution
    /// to try.
    pub fn repeat(&mut self) -> bool {
        let goes_on = self.strategy.next_execution();
        for thread in &mut self.threads {
            thread.state = State::Announced;
            thread.permit = false;
            thread.has_event = false;
            thread.wake = None;
            thread.spin = (None, 0);
            thread.held.clear();
            thread.attempts = None;
            thread.starter = None;
            thread.role = GoalRole::default();
            thread.parts = Parts::default();
            thread.last_role = GoalRole::default();
            thread.acquire_role = AcquireRole::default();
            thread.is_idle = false;
            thread.is_quiet = false;
            thread.stays = false;
            thread.units = Units::default();
        }
        self.locks.clear();
        self.clock = 0;
        self.choices = 0;
        self.executed = 0;
        self.recording = Recording::default();
        self.pattern = LockPattern::default();
        self.trace.clear();
        self.violations.clear();
        self.yielding = (None, 0);
        self.polls = 0;
        self.is_hurried = false;
        self.is_finishing = false;
        self.has_late_events = false;
        self.foreign_wakes.clear();
        self.has_foreign_wakes = false;
        self.running = None;
        goes_on
    }

    /// The result of the execution is known: the threads that are left run one after the other, without choices of the strategy, until none can
    /// run unless time passes. The strategy still learns what they access.
    pub fn finish(&mut self) {
        self.is_finishing = true;
    }

    /// Whether a thread with this number was announced in this or an earlier execution.
    pub fn knows(&self, thread: ThreadId) -> bool {
        (thread.0 as usize) < self.threads.len()
    }

    /// Makes an announced thread ready to begin. [`Conductor::retry`] starts the execution once all threads are ready.
    pub fn prepare(&mut self, thread: ThreadId) {
        self.thread(thread).state = State::Stopped(Operation::Begin);
    }
}
