//! Memory accesses and calls of collections, and the methods that threads are in.

use fissure_control::PendingAccess;
use fissure_model::ids::{SiteId, ThreadId};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{
    super::{Control, State, thread_unsafe},
    follow, is_quiet,
};
use crate::{
    agent::{Agent, guarded},
    conducting::natives::{Call, conducted, scheduled},
    mutex::Held,
    vm::Jni,
};

/// A thread is about to access a field of an object or an element of an array.
pub(super) extern "system" fn access(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    object: jint,
    index: jint,
    site: jint,
) {
    scheduled((), environment, thread, |control: &Control, Call { agent, thread, .. }| {
        let mut state = control.state();
        let Some(flags) = flags_of(agent, &mut state, thread, site) else { return };
        let (run, program) = state.parts(agent);
        let site = (SiteId(site as u32), flags);
        if let Some(access) = run.before_access(&program, thread, (object as u32, index as u32), site) {
            execute(agent, control, state, thread, &access);
        }
    });
}

/// A field was read that holds an array or a collection.
pub(super) extern "system" fn holds(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    holder: jint,
    held: jint,
    site: jint,
) {
    conducted((), environment, thread, |control: &Control, Call { agent, .. }| {
        let mut state = control.state();
        let (run, program) = state.parts(agent);
        run.note_holder(&program, holder as u32, held as u32, SiteId(site as u32));
    });
}

/// A method of a collection is about to be called.
pub(super) extern "system" fn begin_call(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    collection: jobject,
    object: jint,
    walks: jboolean,
    site: jint,
) {
    scheduled((), environment, thread, |control: &Control, Call { agent, thread, .. }| {
        let mut state = control.state();
        let Some(flags) = flags_of(agent, &mut state, thread, site) else { return };
        let (run, program) = state.parts(agent);
        let parts = || thread_unsafe::parts_of(agent, Jni::new(environment), collection);
        let site = (SiteId(site as u32), flags);
        if let Some(call) = run.before_call(&program, thread, object as u32, site, walks != 0, parts) {
            execute(agent, control, state, thread, &call);
        }
    });
}

/// A call of a collection's method has returned.
pub(super) extern "system" fn end_call(environment: *mut JNIEnv, _class: jclass, thread: jlong, site: jint) {
    conducted((), environment, thread, |control: &Control, Call { agent, thread, .. }| {
        let mut state = control.state();
        let (run, program) = state.parts(agent);
        run.end_call(&program, thread, SiteId(site as u32));
    });
}

/// A method begins.
pub(super) extern "system" fn enter_unit(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    site: jint,
) {
    conducted((), environment, thread, |control: &Control, Call { agent, thread, .. }| {
        let mut state = control.state();
        let (run, program) = state.parts(agent);
        run.enter_unit(&program, thread, SiteId(site as u32));
    });
}

/// A method ends.
pub(super) extern "system" fn exit_unit(environment: *mut JNIEnv, _class: jclass, thread: jlong, site: jint) {
    conducted((), environment, thread, |control: &Control, Call { agent, thread, .. }| {
        let mut state = control.state();
        let (run, program) = state.parts(agent);
        run.exit_unit(&program, thread, SiteId(site as u32));
    });
}

/// Whether all calls of collections are reported, and not only those of collections that a field was seen to hold.
pub(super) extern "system" fn tells_all_calls(_environment: *mut JNIEnv, _class: jclass) -> jboolean {
    guarded(0, |agent| {
        let control = agent.control.as_ref();
        jboolean::from(control.is_some_and(|control| control.state().run.reports_interleavings()))
    })
}

/// The flags of a site; `None` if accesses there are no scheduling points.
#[inline]
fn flags_of(agent: &Agent, state: &mut State, thread: ThreadId, site: jint) -> Option<i32> {
    if state.run.skips_accesses(thread) {
        return None;
    }
    let flags = agent.offsets.get_i32(site as usize);
    // Inside of a region in which others may wait in the JVM, a thread's accesses differ from run to run.
    (!is_quiet(agent, state, thread, flags)).then_some(flags)
}

/// Makes an access, after its scheduling points.
fn execute<'a>(
    agent: &'static Agent,
    control: &'a Control,
    mut state: Held<'a, State>,
    thread: ThreadId,
    access: &PendingAccess,
) {
    for point in 0..access.scheduling_points() {
        let decision = state.run.arrive_at_access(thread, access, point);
        state = follow(agent, control, state, thread, decision);
    }
    let (run, program) = state.parts(agent);
    run.access(&program, thread, access);
}
