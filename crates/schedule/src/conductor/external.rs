//! Events outside of the threads, such as input that arrives: the conductor asks for them at every decision while threads wait for them.
//!
//! Input that another thread of the program sends is there as soon as it is sent, so a run that waits for nothing else replays. Other input
//! arrives when it arrives: the conductor waits for it in real time, only if no thread can run, and notes that it did.
//!
//! Threads that are not controlled wake controlled ones at arbitrary times; the thread that cleans up after the garbage collector, for
//! example, wakes the thread of a timer. Such a wake-up takes effect when no thread can run, or while a thread spins, perhaps until the woken
//! one has done something. Then the run may not replay identically, and the conductor notes that. A run that does not need it replays.

use fissure_model::ids::{LockId, ThreadId};

use super::{Conductor, Decision, State};
use crate::operation::{EventId, Nanos, Operation, Wake};

/// Knows the events outside of the threads.
pub trait Outside: Send {
    /// The threads whose event has happened, among those that wait for these events. If `waits`, no thread can run: it may then wait a
    /// short time for the first event.
    fn happened(&mut self, awaited: &[(ThreadId, EventId)], waits: bool) -> Vec<ThreadId>;

    /// Whether one of these events may still happen although no thread can run, because its cause is outside of the program.
    fn expects(&mut self, awaited: &[(ThreadId, EventId)]) -> Expectation;
}

/// The event that is expected from outside of the program while no thread can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expectation {
    /// None.
    Nothing,
    /// Input, which may never come.
    Input,
    /// The end of a process, which takes as long as it takes.
    End,
}

/// A wake-up by a thread that is not controlled, which has not taken effect yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ForeignWake {
    /// Of threads that waited in a monitor.
    Notify(LockId, Vec<ThreadId>),
    /// A permit.
    Unpark(ThreadId),
    /// An interrupt.
    Interrupt(ThreadId),
}

impl Conductor {
    /// A thread that is not controlled notifies one or all threads that wait in a monitor; returns whether there was any.
    pub fn notify_from_outside(&mut self, lock: LockId, all: bool) -> bool {
        let waiters = &self.lock(lock).waiters;
        let woken: Vec<ThreadId> =
            waiters.iter().take(if all { waiters.len() } else { 1 }).copied().collect();
        let is_any = !woken.is_empty();
        if is_any {
            self.foreign_wakes.push(ForeignWake::Notify(lock, woken));
        }
        is_any
    }

    /// A thread that is not controlled gives a thread its permit.
    pub fn unpark_from_outside(&mut self, parked: ThreadId) {
        self.foreign_wakes.push(ForeignWake::Unpark(parked));
    }

    /// A thread that is not controlled interrupts a thread.
    pub fn interrupt_from_outside(&mut self, interrupted: ThreadId) {
        self.foreign_wakes.push(ForeignWake::Interrupt(interrupted));
    }

    /// Whether a wake-up by a thread that is not controlled has taken effect: another run may see it at another time.
    pub fn has_foreign_wakes(&self) -> bool {
        self.has_foreign_wakes
    }

    /// Lets wake-ups by threads that are not controlled take effect. Returns whether there was one.
    pub(super) fn admit_foreign_wakes(&mut self) -> bool {
        let wakes = std::mem::take(&mut self.foreign_wakes);
        for wake in &wakes {
            match wake {
                ForeignWake::Notify(lock, woken) => {
                    // Some may have been woken since then.
                    let waiters = std::mem::take(&mut self.lock(*lock).waiters);
                    let (woken, others) = waiters.into_iter().partition(|waiter| woken.contains(waiter));
                    self.lock(*lock).waiters = others;
                    let woken: Vec<ThreadId> = woken;
                    for waiter in woken {
                        self.thread(waiter).wake.get_or_insert(Wake::Called);
                    }
                }
                ForeignWake::Unpark(parked) => self.unpark(None, *parked),
                ForeignWake::Interrupt(interrupted) => self.interrupt(None, *interrupted),
            }
        }
        self.has_foreign_wakes |= !wakes.is_empty();
        !wakes.is_empty()
    }

    /// Asks for events outside of the threads from here on.
    pub fn listen_to(&mut self, outside: Box<dyn Outside>) {
        self.outside = Some(outside);
    }

    /// Whether an event was waited for in real time: another run may see it at another time.
    pub fn has_late_events(&self) -> bool {
        self.has_late_events
    }

    /// The threads that wait for an event that has not happened, and their events.
    pub fn awaited_events(&self) -> Vec<(ThreadId, EventId)> {
        let awaited = self.threads.iter().enumerate().filter_map(|(number, thread)| match thread.state {
            State::Stopped(Operation::External { event, .. }) if !thread.has_event => {
                Some((ThreadId(number as u32), event))
            }
            _ => None,
        });
        awaited.collect()
    }

    /// No thread could run for so long, in real time, while an event from outside of the program was expected. Returns the thread that
    /// runs now.
    pub fn wait_for_events(&mut self, waited: Nanos) -> Decision {
        if self.running.is_some() {
            return Decision::Unchanged;
        }
        self.clock = self.clock.saturating_add(waited);
        if self.next_deadline().is_some_and(|deadline| deadline <= self.clock) {
            self.has_late_events = true;
            self.pass_time(false);
        }
        let has_happened = self.note_events(false);
        self.has_late_events |= has_happened;
        self.retry()
    }

    /// Whether threads wait for an event whose cause is outside of the program.
    pub fn expected_event(&mut self) -> Expectation {
        let awaited = self.awaited_events();
        match self.outside.as_mut() {
            Some(outside) if !awaited.is_empty() => outside.expects(&awaited),
            _ => Expectation::Nothing,
        }
    }

    /// Notes the events that have happened since the last decision. Returns whether there was one.
    pub(super) fn note_events(&mut self, waits: bool) -> bool {
        if self.outside.is_none() {
            return false;
        }
        let awaited = self.awaited_events();
        let Some(outside) = self.outside.as_mut().filter(|_| !awaited.is_empty()) else { return false };
        let happened = outside.happened(&awaited, waits);
        self.has_late_events |= waits && !happened.is_empty();
        for thread in &happened {
            self.thread(*thread).has_event = true;
        }
        !happened.is_empty()
    }
}
