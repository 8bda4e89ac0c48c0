//! Calls of the methods of collections, which are accesses to the contents of the fields that hold the collections.
//!
//! Such a call is a scheduling point, like any access. But the call may need the collection's own locks, and a thread that waits for
//! one of them has not accessed anything yet. So the access is recorded when the call returns, under the locks that the thread held at
//! its beginning or acquired for it. During the call the thread is not preempted unless it has to wait. It can be preempted as usual
//! where the call comes back to the program's code:
//!
//! - A call that passes all elements to the program's code (`forEach`) has accessed them when it first calls that code.
//! - If any other call (a `hashCode` of a key, the function of a `compute`) was preempted there, the order of its access and the accesses
//!   of other threads is unknown, and the call is not recorded.
//!
//! A call that throws has accessed the contents too. It is recorded at the next operation of the program's code.

use fissure_model::ids::{LocationId, SiteId, ThreadId};

use crate::{ControlledRun, front_end::FrontEnd};

/// A call that has begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenCall {
    pub(crate) location: LocationId,
    pub(crate) is_write: bool,
    pub(crate) site: SiteId,
    /// Whether it passes all elements to the program's code.
    pub(crate) walks: bool,
    /// The number of the program's methods that the thread was in.
    pub(crate) depth: usize,
    /// Whether other threads ran while it was in the program's code.
    pub(crate) was_preempted: bool,
}

impl ControlledRun {
    /// A call of a collection's method has returned.
    pub fn end_call(&mut self, front: &dyn FrontEnd, thread: ThreadId, site: SiteId) {
        let depth = self.conductor.units(thread).len();
        if self.thread(thread).calls.iter().any(|call| call.depth == depth && call.site == site) {
            self.close_calls(front, thread, depth);
        }
    }

    /// The program's code does something, so calls from its current method have ended, even those that threw.
    #[inline]
    pub(crate) fn close_finished_calls(&mut self, front: &dyn FrontEnd, thread: ThreadId) {
        if self.thread(thread).calls.is_empty() {
            return;
        }
        let depth = self.conductor.units(thread).len();
        self.close_calls(front, thread, depth);
    }

    /// A method of the program begins; a call of a collection may have called it to pass elements.
    pub(crate) fn enter_method(&mut self, front: &dyn FrontEnd, thread: ThreadId) {
        let depth = self.conductor.units(thread).len();
        if self.thread(thread).calls.last().is_some_and(|call| call.walks && call.depth == depth) {
            self.close_calls(front, thread, depth);
        }
    }

    /// A method of the program ends, and so do the calls that it has made.
    pub(crate) fn leave_method(&mut self, front: &dyn FrontEnd, thread: ThreadId, site: SiteId) {
        if self.thread(thread).calls.is_empty() {
            return;
        }
        if let Some(index) = self.conductor.units(thread).iter().rposition(|unit| unit.site == site) {
            self.close_calls(front, thread, index + 1);
        }
    }

    /// Whether a thread is executing a collection's code.
    #[inline]
    pub(crate) fn is_inside_call(&mut self, thread: ThreadId) -> bool {
        let Some(innermost) = self.thread(thread).calls.last().map(|call| call.depth) else { return false };
        innermost == self.conductor.units(thread).len()
    }

    /// Other threads run while the thread is in the program's code inside of a call, so the order of the call's access is unknown.
    pub(crate) fn note_preemption(&mut self, thread: ThreadId) {
        let depth = self.conductor.units(thread).len();
        for call in &mut self.thread(thread).calls {
            call.was_preempted |= call.depth < depth;
        }
    }

    /// Ends the calls that began at this depth of methods or deeper, innermost first.
    fn close_calls(&mut self, front: &dyn FrontEnd, thread: ThreadId, depth: usize) {
        while let Some(call) = self.thread(thread).calls.pop_if(|call| call.depth >= depth) {
            let OpenCall { location, is_write, site, .. } = call;
            self.note_ended_call(front, thread, (location, is_write, site), !call.was_preempted);
        }
    }
}
