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
use fissure_schedule::operation::Operation;
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{
    State, interleavings,
    natives::{controlled, schedule_with_role},
    points, sets, thread_unsafe,
};
use crate::agent::Agent;

/// A call that has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenCall {
    location: LocationId,
    is_write: bool,
    site: SiteId,
    /// Whether it passes all elements to the program's code.
    walks: bool,
    /// The number of the program's methods that the thread was in.
    depth: usize,
    /// Whether other threads ran while it was in the program's code.
    was_preempted: bool,
}

/// A field was read that holds an array or a collection.
pub(super) extern "system" fn holds(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    holder: jint,
    held: jint,
    site: jint,
) {
    controlled((), thread, |agent, control, _| {
        let mut state = control.state();
        if let Some(field) = state.points.holding_field(agent, site as u32) {
            state.sets.holds(holder as u32, field, held as u32);
        }
    });
}

/// A method of a collection is about to be called.
pub(super) extern "system" fn begin(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    collection: jobject,
    object: jint,
    walks: jboolean,
    site: jint,
) {
    controlled((), thread, |agent, control, thread| {
        let mut state = control.state();
        if interleavings::is_skipped(agent, &state, thread) {
            return;
        }
        let Some(flags) = points::flags_of(agent, &mut state, thread, site) else { return };
        close_finished(agent, &mut state, thread);
        let location = sets::contents_of(object as u32);
        let is_write = state.points.is_write(agent, site as u32);
        let site = SiteId(site as u32);
        if interleavings::are_wanted(agent) {
            if state.points.name_contents(agent, object as u32, site.0) {
                let parts = thread_unsafe::parts_of(agent, environment, collection);
                state.points.note_parts(object as u32, parts);
            }
            let role = interleavings::role(agent, location, flags);
            if !is_write && state.conductor.spins(thread, site) {
                state =
                    schedule_with_role(agent, control, state, thread, Operation::Yield { site }, flags, role);
            }
            let operation = Operation::Access { location, is_write, site };
            state = schedule_with_role(agent, control, state, thread, operation, flags, role);
            interleavings::touched(&mut state, thread, location, is_write, site);
            return;
        }
        if !sets::is_in_set(agent, &mut state, thread, location, site) {
            return;
        }
        let role = sets::role(agent, &mut state, thread, location, site, flags);
        if !is_write && state.conductor.spins(thread, site) {
            state = schedule_with_role(agent, control, state, thread, Operation::Yield { site }, flags, role);
        }
        let mut state =
            schedule_with_role(agent, control, state, thread, Operation::Step { site }, flags, role);
        let depth = state.conductor.units(thread).len();
        sets::note_locks(&mut state, thread, site);
        let call = OpenCall { location, is_write, site, walks: walks != 0, depth, was_preempted: false };
        state.thread(thread).calls.push(call);
        if let Some(observer) = state.conductor.observer() {
            observer.began_access(thread);
        }
    });
}

/// A call of a collection's method has returned.
pub(super) extern "system" fn end(_environment: *mut JNIEnv, _class: jclass, thread: jlong, site: jint) {
    controlled((), thread, |agent, control, thread| {
        let mut state = control.state();
        let site = SiteId(site as u32);
        let depth = state.conductor.units(thread).len();
        if state.thread(thread).calls.iter().any(|call| call.depth == depth && call.site == site) {
            close(agent, &mut state, thread, depth);
        }
    });
}

/// The program's code does something, so calls from its current method have ended, even those that threw.
#[inline]
pub(super) fn close_finished(agent: &Agent, state: &mut State, thread: ThreadId) {
    if state.thread(thread).calls.is_empty() {
        return;
    }
    let depth = state.conductor.units(thread).len();
    close(agent, state, thread, depth);
}

/// A method of the program begins; a call of a collection may have called it to is_skipped elements.
pub(super) fn enters(agent: &Agent, state: &mut State, thread: ThreadId) {
    let depth = state.conductor.units(thread).len();
    if state.thread(thread).calls.last().is_some_and(|call| call.walks && call.depth == depth) {
        close(agent, state, thread, depth);
    }
}

/// A method of the program ends, and so do the calls that it has made.
pub(super) fn leaves(agent: &Agent, state: &mut State, thread: ThreadId, site: SiteId) {
    if state.thread(thread).calls.is_empty() {
        return;
    }
    if let Some(place) = state.conductor.units(thread).iter().rposition(|unit| unit.site == site) {
        close(agent, state, thread, place + 1);
    }
}

/// Whether a thread is executing a collection's code.
#[inline]
pub(super) fn is_inside(state: &mut State, thread: ThreadId) -> bool {
    let Some(innermost) = state.thread(thread).calls.last().map(|call| call.depth) else { return false };
    innermost == state.conductor.units(thread).len()
}

/// Other threads ran while the thread was in the program's code inside of a call, so the order of the call's access is unknown.
pub(super) fn was_preempted(state: &mut State, thread: ThreadId) {
    let depth = state.conductor.units(thread).len();
    for call in &mut state.thread(thread).calls {
        call.was_preempted |= call.depth < depth;
    }
}

/// Ends the calls that began at this depth of methods or deeper, innermost first.
fn close(agent: &Agent, state: &mut State, thread: ThreadId, depth: usize) {
    while let Some(call) = state.thread(thread).calls.pop_if(|call| call.depth >= depth) {
        let OpenCall { location, is_write, site, .. } = call;
        sets::ended(agent, state, thread, location, is_write, site, !call.was_preempted);
    }
}
