//! Waiting in monitors, sleeping and parking, and the clock.

use fissure_control::flags::{AGAIN, QUIET};
use fissure_model::ids::{LockId, SiteId};
use fissure_schedule::operation::{Operation, Wake};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{
    super::{callers::caller_of_library, idle},
    controlled, schedule, thread_id,
};
use crate::{agent::guarded, vm::Jni};

/// The virtual time at which the conductor begins; before that the hook class returns less.
const BEGINNING: jlong = 2_000_000_000;

pub(super) extern "system" fn wait_in(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    object: jobject,
    lock: jint,
    joined: jlong,
    nanos: jlong,
    site: jint,
) -> jint {
    controlled(0, thread, |agent, control, thread| {
        let jni = Jni::new(environment);
        let flags = agent.offsets.get_i32(site as usize);
        let wait = (LockId(lock as u32), SiteId(site as u32), flags);
        let mut state = control.state();
        let (run, program) = state.parts(agent);
        let mut operation = run.wait(&program, thread, wait, nanos, thread_id(joined));
        // This thread still has the token, so others can enter the monitor only after it has reached the scheduling point below.
        drop(state);
        let left = jni.leave_all(object);
        let mut state = control.state();
        state.run.correct_count(&mut operation, left);
        let mut state = schedule(agent, control, state, thread, operation, flags & AGAIN);
        let wake = state.run.conductor.take_wake(thread);
        drop(state);
        for _ in 0..left {
            jni.enter(object);
        }
        wake_code(wake)
    })
}

pub(super) extern "system" fn wake(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    lock: jint,
    all: jboolean,
    site: jint,
) {
    guarded((), |agent| {
        let Some(control) = &agent.control else { return };
        let mut state = control.state();
        let thread = thread_id(thread);
        let is_quiet = agent.offsets.get_i32(site as usize) & QUIET != 0;
        let recorded = thread.filter(|_| !is_quiet);
        let woken = state.run.conductor.notify(recorded, LockId(lock as u32), all != 0, SiteId(site as u32));
        if thread.is_none() && woken {
            control.outside(state);
        }
    });
}

pub(super) extern "system" fn pause(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    nanos: jlong,
    site: jint,
) -> jint {
    controlled(0, thread, |agent, control, thread| {
        let site = SiteId(site as u32);
        let mut state = control.state();
        let operation = match state.run.deadline(nanos) {
            Some(until) => Operation::Sleep { until, site },
            None => Operation::Yield { site },
        };
        let mut state = schedule(agent, control, state, thread, operation, 0);
        wake_code(state.run.conductor.take_wake(thread))
    })
}

pub(super) extern "system" fn parks(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    nanos: jlong,
    site: jint,
) {
    controlled((), thread, |agent, control, thread| {
        // A wait without a time-out does not depend on the virtual time.
        let is_idle = nanos >= 0 && idle::is_worker_without_work(agent);
        let mut state = control.state();
        if is_idle {
            state.run.conductor.idles(thread);
        }
        let until = state.run.deadline(nanos);
        let operation = Operation::Park { until, site: SiteId(site as u32) };
        let mut state = schedule(agent, control, state, thread, operation, 0);
        state.run.conductor.take_wake(thread);
    });
}

pub(super) extern "system" fn permits(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    parked: jlong,
) {
    guarded((), |agent| {
        let (Some(control), Some(parked)) = (&agent.control, thread_id(parked)) else { return };
        let mut state = control.state();
        let thread = thread_id(thread);
        state.run.conductor.unpark(thread, parked);
        if thread.is_none() {
            control.outside(state);
        }
    });
}

pub(super) extern "system" fn interrupts(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    interrupted: jlong,
) {
    guarded((), |agent| {
        let (Some(control), Some(interrupted)) = (&agent.control, thread_id(interrupted)) else { return };
        let mut state = control.state();
        let thread = thread_id(thread);
        state.run.conductor.interrupt(thread, interrupted);
        if thread.is_none() {
            control.outside(state);
        }
    });
}

/// The thread yields.
pub(super) extern "system" fn offers(_environment: *mut JNIEnv, _class: jclass, thread: jlong, site: jint) {
    controlled((), thread, |agent, control, thread| {
        let state = control.state();
        drop(schedule(agent, control, state, thread, Operation::Yield { site: SiteId(site as u32) }, 0));
    });
}

/// The thread reads something that others may change; `stops` makes this a scheduling point.
pub(super) extern "system" fn looks(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    site: jint,
    stops: jboolean,
) {
    controlled((), thread, |agent, control, thread| {
        let site = SiteId(site as u32);
        // Atomics do not know the site that uses them, but reports need it. For the detection of spinning, all count as one site.
        let reported_site = if stops != 0 && site.0 == 0 { caller_of_library(agent).site } else { site };
        let mut state = control.state();
        let operation = if state.run.conductor.spins(thread, site) {
            Operation::Yield { site }
        } else if stops != 0 {
            Operation::Step { site: reported_site }
        } else {
            return;
        };
        drop(schedule(agent, control, state, thread, operation, 0));
    });
}

pub(super) extern "system" fn now(_environment: *mut JNIEnv, _class: jclass, thread: jlong) -> jlong {
    guarded(0, |agent| {
        let Some(control) = &agent.control else { return 0 };
        let mut state = control.state();
        // The number of clock reads by the JVM, in its own threads or during class loading, may differ from run to run.
        let is_calm = thread_id(thread).is_none_or(|thread| state.run.is_in_region(thread));
        BEGINNING + state.run.conductor.now(is_calm) as jlong
    })
}

pub(super) extern "system" fn stops_at_volatiles(_environment: *mut JNIEnv, _class: jclass) -> jboolean {
    guarded(0, |agent| {
        jboolean::from(agent.settings.control.as_ref().is_some_and(|control| control.volatiles))
    })
}

fn wake_code(wake: Wake) -> jint {
    match wake {
        Wake::Called => 0,
        Wake::TimedOut => 1,
        Wake::Interrupted => 2,
    }
}
