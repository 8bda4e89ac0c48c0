//! Questions about an execution.

use fissure_model::{
    ids::{LockId, ThreadId},
    recording::Recording,
};

use super::{Conductor, State, Thread};
use crate::{
    monitor::{Lock, Notification},
    operation::Operation,
    pattern::Violation,
    strategy::Strategy,
    stuck::{Stuck, StuckThread, WaitsFor},
    trace::Trace,
};

impl Conductor {
    /// The thread that has the token.
    pub fn running(&self) -> Option<ThreadId> {
        self.running
    }

    /// Whether a thread other than the running one could run.
    pub fn others_may_run(&self) -> bool {
        (0..self.threads.len() as u32).map(ThreadId).any(|thread| self.may_run(thread))
    }

    /// A thread's name.
    pub fn name(&self, thread: ThreadId) -> &str {
        &self.known(thread).name
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How many choices were made.
    pub fn choices(&self) -> u64 {
        self.choices
    }

    /// How many operations were executed.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Whether time was advanced while other threads could run: the consequences of such a sleep or time-out may never occur in reality.
    pub fn is_hurried(&self) -> bool {
        self.is_hurried
    }

    /// All choices so far.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The steps so far.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The strategy.
    pub fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }

    /// Takes the next violation that was executed.
    pub fn take_violation(&mut self) -> Option<Violation> {
        self.violations.pop_front()
    }

    /// The last notification in a monitor, if there was one.
    pub fn last_notification(&self, lock: LockId) -> Option<&Notification> {
        self.locks.get(lock.0 as usize)?.notified.as_ref()
    }

    /// The stopped threads and what each of them waits for.
    pub fn stuck(&self) -> Stuck {
        let stuck = |(number, thread): (usize, &Thread)| {
            let State::Stopped(operation) = thread.state else { return None };
            let waits_for = match operation {
                Operation::Acquire { lock, .. } => WaitsFor::Lock(lock),
                Operation::Resume { lock, .. } if thread.wake.is_some() => WaitsFor::Lock(lock),
                Operation::Resume { lock, .. } => WaitsFor::Notification(lock),
                Operation::Park { .. } => thread.attempts.map_or(WaitsFor::Permit, WaitsFor::Lock),
                Operation::External { .. } => WaitsFor::Event,
                _ => WaitsFor::Turn,
            };
            Some(StuckThread {
                thread: ThreadId(number as u32),
                is_daemon: thread.is_daemon,
                waits_for,
                site: operation.site(),
                holds: thread.held.clone(),
            })
        };
        Stuck::new(self.threads.iter().enumerate().filter_map(stuck).collect(), |lock| {
            self.locks.get(lock.0 as usize).and_then(Lock::holder)
        })
    }
}
