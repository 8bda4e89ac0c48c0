//! The same threads again and again, each time from their beginning: how one program is executed under many schedules.

use fissure_model::ids::ThreadId;

use super::{Conductor, State};
use crate::{
    operation::Operation, pattern::LockPattern, recording::Recording, strategy::GoalRole, unit::Units,
};

impl Conductor {
    /// Forgets the execution so far, so that the same threads can be started again. Says whether the strategy knows another
    /// execution.
    pub fn repeat(&mut self) -> bool {
        let goes_on = self.strategy.next_execution();
        for thread in &mut self.threads {
            thread.state = State::Announced;
            thread.permit = false;
            thread.wake = None;
            thread.spin = (None, 0);
            thread.held.clear();
            thread.attempts = None;
            thread.starter = None;
            thread.role = GoalRole::default();
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
        self.running = None;
        goes_on
    }

    /// An announced thread begins when its turn comes. Who runs now is asked for by [`Conductor::retry`], once all are ready.
    pub fn prepare(&mut self, thread: ThreadId) {
        self.thread(thread).state = State::Stopped(Operation::Begin);
    }
}
