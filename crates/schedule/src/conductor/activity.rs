//! What a thread does, as somebody who asks about it would be told.

use fissure_model::ids::ThreadId;

use super::{Conductor, State, Thread};
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
    /// Whether a thread is the only one that has been started and is not over.
    pub fn is_alone(&self, thread: ThreadId) -> bool {
        let lives = |thread: &Thread| !matches!(thread.state, State::Announced | State::Ended);
        let mut others = self.threads.iter().enumerate().filter(|(other, _)| *other != thread.0 as usize);
        !others.any(|(_, other)| lives(other))
    }

    /// Whether nobody but a thread that has the token, and that the program waits for, could run, even if time passed: there is
    /// nothing to choose then.
    pub(super) fn has_no_rival(&self, thread: ThreadId) -> bool {
        let is_wanted = self.threads.get(thread.0 as usize).is_some_and(|thread| !thread.is_daemon);
        let is_rival = |(number, other): (usize, &Thread)| match other.state {
            State::Stopped(operation) => {
                let other = ThreadId(number as u32);
                other != thread && (operation.until().is_some() || self.may_run(other))
            }
            _ => false,
        };
        (is_wanted || self.is_alone(thread)) && !self.threads.iter().enumerate().any(is_rival)
    }

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
