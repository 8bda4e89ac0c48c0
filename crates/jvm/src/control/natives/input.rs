//! Threads that wait for input: sockets, selectors, pipes. A controlled thread waits in the conductor's model until its file descriptor is
//! ready, so other threads run meanwhile, and input that they send costs no more than a hand-over.

use std::time::Duration;

use fissure_model::ids::{SiteId, ThreadId};
use fissure_schedule::{
    conductor::Outside,
    operation::{EventId, Operation, Wake},
};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{super::Control, schedule};
use crate::{
    conducting::natives::{Call, scheduled},
    descriptors::{self, Interest},
    vm::Jni,
};

/// The kernel delivers what a thread of this process sent within this time, if not at once.
const DELIVERY: Duration = Duration::from_millis(1);
/// A signal interrupted the wait; the number is the JDK's.
const INTERRUPTED: jint = -3;

/// Knows which file descriptors are ready.
pub(in crate::control) struct Descriptors;

impl Outside for Descriptors {
    fn happened(&mut self, awaited: &[(ThreadId, EventId)], waits: bool) -> Vec<ThreadId> {
        let interests: Vec<Interest> = interests(awaited).collect();
        let ready = descriptors::wait(&interests, if waits { DELIVERY } else { Duration::ZERO });
        awaited.iter().zip(ready).filter(|(_, ready)| *ready).map(|((thread, _), _)| *thread).collect()
    }

    fn may_happen(&mut self, awaited: &[(ThreadId, EventId)]) -> bool {
        interests(awaited).any(|interest| descriptors::is_fed_from_outside(interest.descriptor))
    }
}

fn interests(awaited: &[(ThreadId, EventId)]) -> impl Iterator<Item = Interest> {
    awaited.iter().map(|(_, event)| Interest::of_number(event.0))
}

pub(super) extern "system" fn poll(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    descriptor: jobject,
    events: jint,
    millis: jlong,
    site: jint,
) -> jint {
    let Some(descriptor) = Jni::new(environment).int_field(descriptor, c"fd") else { return 0 };
    let interest = Interest { descriptor, events: events as u16 };
    let has_waited = millis != 0 && waits(environment, thread, interest, millis, site).is_some();
    // After a signal the JDK asks again.
    descriptors::ready(&[interest], limit(has_waited, millis)).map_or(0, |events| jint::from(events[0]))
}

pub(super) extern "system" fn epoll(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    epoll: jint,
    address: jlong,
    count: jint,
    millis: jint,
    site: jint,
) -> jint {
    let millis = jlong::from(millis);
    let has_waited = match millis {
        0 => spins(environment, thread, site),
        _ => waits(environment, thread, Interest::input(epoll), millis, site).is_some(),
    };
    descriptors::epoll_wait(epoll, address, count, limit(has_waited, millis)).unwrap_or(INTERRUPTED)
}

/// Waits until an operation of the thread would not block. Plain files never block for long.
pub(super) extern "system" fn await_input(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    descriptor: jobject,
    of_stream: jboolean,
    site: jint,
) {
    let Some(descriptor) = Jni::new(environment).int_field(descriptor, c"fd") else { return };
    if descriptors::blocks(descriptor) && (of_stream == 0 || !descriptors::is_plain_file(descriptor)) {
        waits(environment, thread, Interest::input(descriptor), -1, site);
    }
}

/// How long the system call may still wait: a controlled thread has waited in the model.
fn limit(has_waited: bool, millis: jlong) -> Option<Duration> {
    match has_waited {
        true => Some(Duration::ZERO),
        false => u64::try_from(millis).ok().map(Duration::from_millis),
    }
}

/// Makes a controlled thread wait in the model; `None` if it is not controlled and has to wait in the kernel.
fn waits(
    environment: *mut JNIEnv,
    thread: jlong,
    interest: Interest,
    millis: jlong,
    site: jint,
) -> Option<Wake> {
    scheduled(None, environment, thread, |control: &'static Control, Call { agent, thread, .. }| {
        let mut state = control.state();
        let nanos = if millis < 0 { -1 } else { millis.saturating_mul(1_000_000) };
        let until = state.run.deadline(nanos);
        let event = EventId(interest.number());
        let operation = Operation::External { event, until, site: SiteId(site as u32) };
        let mut state = schedule(agent, control, state, thread, operation, 0);
        if state.run.conductor.has_late_events() {
            state.run.lose_control("input arrived from outside of the program, or late");
        }
        Some(state.run.conductor.take_wake(thread))
    })
}

/// A thread asks for input without waiting for it. If it does so again and again, others go first.
fn spins(environment: *mut JNIEnv, thread: jlong, site: jint) -> bool {
    scheduled(false, environment, thread, |control: &'static Control, Call { agent, thread, .. }| {
        let site = SiteId(site as u32);
        let mut state = control.state();
        if state.run.conductor.spins(thread, site) {
            drop(schedule(agent, control, state, thread, Operation::Yield { site }, 0));
        }
        true
    })
}
