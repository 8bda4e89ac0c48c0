//! Events outside of the threads, such as input that arrives: the conductor asks for them at every decision while threads wait for them.
//!
//! Input that another thread of the program sends is there as soon as it is sent, so a run that waits for nothing else replays. Other input
//! arrives when it arrives: the conductor waits for it in real time, only if no thread can run, and notes that it did.

use fissure_model::ids::ThreadId;

use super::{Conductor, State};
use crate::operation::{EventId, Operation};

/// Knows the events outside of the threads.
pub trait Outside: Send {
    /// The threads whose event has happened, among those that wait for these events. If `waits`, no thread can run: it may then wait a
    /// short time for the first event.
    fn happened(&mut self, awaited: &[(ThreadId, EventId)], waits: bool) -> Vec<ThreadId>;
}

impl Conductor {
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
