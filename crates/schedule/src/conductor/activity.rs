//! What a thread does, as somebody who asks about it would be told.

use fissure_model::ids::ThreadId;

use super::{Conductor, State};
use crate::operation::Operation;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Nothing of this is known: it is not started, or runs without the token.
    Unknown,
    /// It runs, or could.
    Runs,
    /// It waits for a lock that another thread has.
    Blocked,
    /// It waits to be notified or for a permit.
    Waits,
    /// The same, but not for ever; or it sleeps.
    WaitsForTime,
    /// It is over.
    Ended,
}

impl Conductor {
    /// Whether any thread runs without the token.
    pub fn has_strays(&self) -> bool {
        self.threads.iter().any(|thread| thread.state == State::Away)
    }

    /// Whether a thread is over.
    pub fn has_ended(&self, thread: ThreadId) -> bool {
        self.threads.get(thread.0 as usize).is_some_and(|thread| thread.state == State::Ended)
    }

    /// What a thread does now.
    pub fn activity(&self, number: ThreadId) -> Activity {
        let Some(thread) = self.threads.get(number.0 as usize) else { return Activity::Unknown };
        let operation = match thread.state {
            State::Announced | State::Away => return Activity::Unknown,
            State::Running => return Activity::Runs,
            State::Ended => return Activity::Ended,
            State::Stopped(operation) => operation,
        };
        let waits = if operation.until().is_some() { Activity::WaitsForTime } else { Activity::Waits };
        match operation {
            _ if self.may_run(number) => Activity::Runs,
            Operation::Acquire { .. } => Activity::Blocked,
            Operation::Resume { .. } if thread.wake.is_some() => Activity::Blocked,
            Operation::Resume { .. } | Operation::Sleep { .. } | Operation::Park { .. } => waits,
            Operation::Begin
            | Operation::Attempt { .. }
            | Operation::Access { .. }
            | Operation::Yield { .. }
            | Operation::Step { .. } => Activity::Runs,
        }
    }
}
