//! The activities of threads, for queries of their states.

use fissure_model::ids::ThreadId;

use super::{Conductor, State, Thread};
use crate::operation::Operation;

/// The activity of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Unknown: it is not started, or runs without the token.
    Unknown,
    /// It runs, or could run.
    Runs,
    /// It is blocked on a lock that another thread holds.
    Blocked,
    /// It waits to be notified or for a permit, without a time-out.
    Waits,
    /// It waits with a time-out, or sleeps.
    WaitsForTime,
    /// It has ended.
    Ended,
}

impl Conductor {
    /// Whether no other thread has been started and has not ended.
    pub fn is_alone(&self, thread: ThreadId) -> bool {
        let lives = |thread: &Thread| !matches!(thread.state, State::Announced | State::Ended);
        let mut others = self.threads.iter().enumerate().filter(|(other, _)| *other != thread.0 as usize);
        !others.any(|(_, other)| lives(other))
    }

    /// Whether no thread but this one could run, even if time advanced, so that there is nothing to choose. The thread has the token and is
    /// not a daemon, unless it is the only one.
    pub(super) fn is_only_runnable(&self, thread: ThreadId) -> bool {
        let is_wanted = !self.known(thread).is_daemon;
        let is_alternative = |(number, other): (usize, &Thread)| match other.state {
            State::Stopped(operation) => {
                let other = ThreadId(number as u32);
                let may_wake = operation.until().is_some() || matches!(operation, Operation::External { .. });
                other != thread && (may_wake || self.may_run(other))
            }
            _ => false,
        };
        (is_wanted || self.is_alone(thread)) && !self.threads.iter().enumerate().any(is_alternative)
    }

    /// Whether any thread runs without the token.
    pub fn has_strays(&self) -> bool {
        self.threads.iter().any(|thread| thread.state == State::Away)
    }

    /// Whether a thread has ended.
    pub fn has_ended(&self, thread: ThreadId) -> bool {
        self.known(thread).state == State::Ended
    }

    /// The current activity of a thread.
    pub fn activity(&self, number: ThreadId) -> Activity {
        let thread = self.known(number);
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
            | Operation::External { .. }
            | Operation::Access { .. }
            | Operation::Yield { .. }
            | Operation::Step { .. } => Activity::Runs,
        }
    }
}
