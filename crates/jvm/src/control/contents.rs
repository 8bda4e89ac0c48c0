//! Calls of the methods of collections, which are accesses to the contents of the fields that hold the collections.
//!
//! A thread stops before such a call, as before any access. But the call may need locks of the collection's own, and whoever has
//! to wait for one has not accessed anything yet. So the access counts when the call returns, and it is made under whatever locks the
//! thread had then or got for it. In between the thread is not interrupted unless it has to wait; only where the call comes back
//! to the program's own code is it interrupted as ever:
//!
//! - A call that hands all elements to the program's code (`forEach`) has accessed them when it comes there first.
//! - When any other call (a `hashCode` of a key, the function of a `compute`) was interrupted there, nobody can tell what came first,
//!   and it does not count at all.
//!
//! A call that throws has looked at the contents all the same. It counts as soon as the program's own code does anything else.

use fissure_model::ids::{LocationId, SiteId, ThreadId};
use fissure_schedule::operation::Operation;
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{
    State, interleavings,
    natives::{controlled, stop_with_role},
    points, sets, thread_unsafe,
};
use crate::agent::Agent;

/// A call that has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenCall {
    location: LocationId,
    is_write: bool,
    site: SiteId,
    /// Whether it hands all elements to the program's code.
    walks: bool,
    /// How many of the program's own methods the thread was in.
    depth: usize,
    /// Whether others ran while it was in the program's code.
    was_interrupted: bool,
}

/// A field was read.
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
        if interleavings::pass(agent, &state, thread) {
            return;
        }
        let Some(flags) = points::flags_of(agent, &mut state, thread, site) else { return };
        settle(agent, &mut state, thread);
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
                state = stop_with_role(agent, control, state, thread, Operation::Yield { site }, flags, role);
            }
            let operation = Operation::Access { location, is_write, site };
            state = stop_with_role(agent, control, state, thread, operation, flags, role);
            interleavings::touched(&mut state, thread, location, is_write, site);
            return;
        }
        if !sets::is_in_set(agent, &mut state, thread, location, site) {
            return;
        }
        let role = sets::role(agent, &mut state, thread, location, site, flags);
        if !is_write && state.conductor.spins(thread, site) {
            state = stop_with_role(agent, control, state, thread, Operation::Yield { site }, flags, role);
        }
        let mut state = stop_with_role(agent, control, state, thread, Operation::Step { site }, flags, role);
        let depth = state.conductor.units(thread).len();
        sets::note_locks(&mut state, thread, site);
        let call = OpenCall { location, is_write, site, walks: walks != 0, depth, was_interrupted: false };
        state.thread(thread).calls.push(call);
        if let Some(observer) = state.conductor.observer() {
            observer.began_access(thread);
        }
    });
}

/// It has returned.
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

/// The program's own code does something: calls from this method are over, be it that they have thrown.
#[inline]
pub(super) fn settle(agent: &Agent, state: &mut State, thread: ThreadId) {
    if state.thread(thread).calls.is_empty() {
        return;
    }
    let depth = state.conductor.units(thread).len();
    close(agent, state, thread, depth);
}

/// A method of the program begins. It may be one that a call hands elements to.
pub(super) fn enters(agent: &Agent, state: &mut State, thread: ThreadId) {
    let depth = state.conductor.units(thread).len();
    if state.thread(thread).calls.last().is_some_and(|call| call.walks && call.depth == depth) {
        close(agent, state, thread, depth);
    }
}

/// A method of the program ends, and with it the calls that it has made.
pub(super) fn leaves(agent: &Agent, state: &mut State, thread: ThreadId, site: SiteId) {
    if state.thread(thread).calls.is_empty() {
        return;
    }
    if let Some(place) = state.conductor.units(thread).iter().rposition(|unit| unit.site == site) {
        close(agent, state, thread, place + 1);
    }
}

/// Whether a thread is inside of a collection.
#[inline]
pub(super) fn is_inside(state: &mut State, thread: ThreadId) -> bool {
    let Some(innermost) = state.thread(thread).calls.last().map(|call| call.depth) else { return false };
    innermost == state.conductor.units(thread).len()
}

/// Others ran: what the thread is in the midst of, in the program's code again, cannot be told from what they did.
pub(super) fn was_interrupted(state: &mut State, thread: ThreadId) {
    let depth = state.conductor.units(thread).len();
    for call in &mut state.thread(thread).calls {
        call.was_interrupted |= call.depth < depth;
    }
}

/// Ends the calls that were made where the thread was in at least so many methods, the innermost first.
fn close(agent: &Agent, state: &mut State, thread: ThreadId, depth: usize) {
    while let Some(call) = state.thread(thread).calls.pop_if(|call| call.depth >= depth) {
        let OpenCall { location, is_write, site, .. } = call;
        sets::ended(agent, state, thread, location, is_write, site, !call.was_interrupted);
    }
}
