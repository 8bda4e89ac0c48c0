//! Reads of volatile variables, and the clock.

use fissure_model::ids::SiteId;
use fissure_schedule::operation::Operation;
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong};

use super::{
    super::{
        Control,
        callers::{caller_of_library, is_for_the_jdk},
    },
    schedule,
};
use crate::{
    agent::guarded,
    conducting::natives::{Call, Conducted, scheduled},
};

/// The virtual time at which the conductor begins; before that the hook class returns less.
const BEGINNING: jlong = 2_000_000_000;

/// The thread reads something that others may change; `stops` makes this a scheduling point.
pub(super) extern "system" fn looks(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    site: jint,
    stops: jboolean,
) {
    scheduled((), environment, thread, |control: &Control, Call { agent, thread, .. }| {
        let site = SiteId(site as u32);
        // Atomics do not know the site that uses them, but reports need it. For the detection of spinning, all count as one site.
        let reported_site = if stops != 0 && site.0 == 0 { caller_of_library(agent).site } else { site };
        let mut state = control.state();
        let operation = if state.run.conductor.spins(thread, site) {
            Operation::Yield { site }
        } else if stops != 0 && !(site.0 == 0 && is_for_the_jdk(agent, &mut state)) {
            Operation::Step { site: reported_site }
        } else {
            return;
        };
        drop(schedule(agent, control, state, thread, operation, 0));
    });
}

pub(super) extern "system" fn now(_environment: *mut JNIEnv, _class: jclass, thread: jlong) -> jlong {
    guarded(0, |agent| {
        let control = agent.controlling();
        let mut state = control.state();
        // The number of clock reads by the JVM, in its own threads or during class loading, may differ from run to run.
        let is_quiet = Control::thread(thread).is_none_or(|thread| state.run.is_in_region(thread));
        BEGINNING + state.run.conductor.now(is_quiet) as jlong
    })
}

pub(super) extern "system" fn stops_at_volatiles(_environment: *mut JNIEnv, _class: jclass) -> jboolean {
    guarded(0, |agent| jboolean::from(agent.settings.control().is_some_and(|control| control.volatiles)))
}
