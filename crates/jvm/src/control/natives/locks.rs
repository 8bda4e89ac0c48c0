//! Locks and atomic blocks.

use fissure_model::ids::{LockId, SiteId};
use fissure_schedule::pattern::{Atomic, BlockKind};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{
    super::{
        Control,
        callers::{Caller, caller_of_library, is_for_the_jdk},
    },
    schedule,
};
use crate::{
    agent::guarded,
    conducting::natives::{Call, conducted, scheduled},
    findings,
    vm::Jni,
};

pub(super) extern "system" fn new_lock(environment: *mut JNIEnv, _class: jclass, lock: jobject) -> jint {
    guarded(0, |agent| {
        let control = agent.controlling();
        let name = findings::kind_of_object(agent, Jni::new(environment), lock);
        let is_class = name.ends_with(".class");
        control.state().run.add_lock(name, is_class).0 as jint
    })
}

pub(super) extern "system" fn release_place(_environment: *mut JNIEnv, _class: jclass) -> jlong {
    guarded(0, |agent| agent.controlling().releases.as_ptr() as jlong)
}

pub(super) extern "system" fn give_back(environment: *mut JNIEnv, _class: jclass, thread: jlong, lock: jint) {
    conducted((), environment, thread, |control: &Control, Call { thread, .. }| {
        control.state().run.conductor.give_back(thread, LockId(lock as u32));
    });
}

/// A thread is about to attempt to acquire a lock of `java.util.concurrent`, or (without a lock) to do something else that other
/// threads can observe.
pub(super) extern "system" fn attempt(environment: *mut JNIEnv, _class: jclass, thread: jlong, lock: jint) {
    scheduled((), environment, thread, |control: &Control, Call { agent, thread, .. }| {
        let Caller { site, is_internal } = caller_of_library(agent);
        let flags = agent.offsets.get_i32(site.0 as usize);
        let lock = u32::try_from(lock).ok().map(LockId);
        let mut state = control.state();
        if lock.is_none() && is_for_the_jdk(agent, &mut state) {
            return;
        }
        let (run, program) = state.parts(agent);
        let operation = run.before_attempt(&program, thread, lock, (site, flags), is_internal);
        drop(schedule(agent, control, state, thread, operation, flags));
    });
}

pub(super) extern "system" fn acquired(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    lock: jint,
    is_shared: jboolean,
) {
    conducted((), environment, thread, |control: &Control, Call { agent, thread, .. }| {
        let flags_of = |site: SiteId| agent.offsets.get_i32(site.0 as usize);
        let mut state = control.state();
        let (run, program) = state.parts(agent);
        run.attempt_succeeded(&program, thread, LockId(lock as u32), is_shared != 0, flags_of);
    });
}

pub(super) extern "system" fn enter_block(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    site: jint,
) {
    conducted((), environment, thread, |control: &Control, Call { thread, .. }| {
        let site = SiteId(site as u32);
        control.state().run.conductor.enter_block(thread, site, BlockKind::Method, Atomic::Yes);
    });
}

pub(super) extern "system" fn exit_block(environment: *mut JNIEnv, _class: jclass, thread: jlong) {
    conducted((), environment, thread, |control: &Control, Call { thread, .. }| {
        control.state().run.conductor.exit_block(thread)
    });
}

pub(super) extern "system" fn region(environment: *mut JNIEnv, _class: jclass, thread: jlong, change: jint) {
    conducted((), environment, thread, |control: &Control, Call { thread, .. }| {
        control.state().run.change_regions(thread, change);
    });
}
