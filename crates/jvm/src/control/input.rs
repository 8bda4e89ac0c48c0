//! Threads that wait for input: sockets, selectors, pipes. A controlled thread waits in the conductor's model until its file descriptor is
//! ready, so other threads run meanwhile, and input that they send costs no more than a hand-over.
//!
//! The hook class `FissureInput` stands in for the system calls of the JDK in which threads wait.

use std::{
    ffi::{CStr, c_void},
    time::Duration,
};

use fissure_model::ids::{SiteId, ThreadId};
use fissure_schedule::{
    conductor::Outside,
    operation::{EventId, Operation, Wake},
};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{
    Control,
    natives::{deadline, schedule, thread_id},
};
use crate::{
    agent::{Agent, guarded},
    descriptors::{self, Interest},
    vm::Jni,
};

/// The kernel delivers what a thread of this process sent within this time, if not at once.
const DELIVERY: Duration = Duration::from_millis(1);
/// A signal interrupted the wait; the number is the JDK's.
const INTERRUPTED: jint = -3;

/// Knows which file descriptors are ready.
pub(super) struct Descriptors;

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

/// Binds all other native methods. The JVM finds this one by its name.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_FissureInput_initialize(environment: *mut JNIEnv, class: jclass) {
    let jni = Jni::new(environment);
    guarded((), |agent| {
        let methods: &[(&CStr, &CStr, *mut c_void)] = &[
            (c"poll", c"(JLjava/io/FileDescriptor;IJI)I", poll as *mut c_void),
            (c"epoll", c"(JIJIII)I", epoll as *mut c_void),
            (c"await", c"(JLjava/io/FileDescriptor;ZI)V", await_input as *mut c_void),
        ];
        if !jni.register_natives(class, methods) {
            agent.fail("the native methods of the hook classes could not be bound");
        }
    });
}

extern "system" fn poll(
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
    let limit = if millis != 0 && waits(thread, interest, millis, site).is_some() {
        Some(Duration::ZERO)
    } else {
        u64::try_from(millis).ok().map(Duration::from_millis)
    };
    // After a signal the JDK asks again.
    descriptors::ready(&[interest], limit).map_or(0, |events| jint::from(events[0]))
}

extern "system" fn epoll(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    epoll: jint,
    address: jlong,
    count: jint,
    millis: jint,
    site: jint,
) -> jint {
    let limit = if millis == 0 {
        spins(thread, site);
        Some(Duration::ZERO)
    } else if waits(thread, Interest::input(epoll), millis.into(), site).is_some() {
        Some(Duration::ZERO)
    } else {
        u64::try_from(millis).ok().map(Duration::from_millis)
    };
    descriptors::epoll_wait(epoll, address, count, limit).unwrap_or(INTERRUPTED)
}

/// Waits until an operation of the thread would not block. Streams of plain files never block for long.
extern "system" fn await_input(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    descriptor: jobject,
    of_stream: jboolean,
    site: jint,
) {
    let Some(descriptor) = Jni::new(environment).int_field(descriptor, c"fd") else { return };
    if descriptors::blocks(descriptor) && (of_stream == 0 || !descriptors::is_plain_file(descriptor)) {
        waits(thread, Interest::input(descriptor), -1, site);
    }
}

/// Makes a controlled thread wait in the model; `None` if it is not controlled and has to wait in the kernel.
fn waits(thread: jlong, interest: Interest, millis: jlong, site: jint) -> Option<Wake> {
    guarded(None, |agent| {
        let (control, thread) = controlled(agent, thread)?;
        let mut state = control.state();
        let nanos = if millis < 0 { -1 } else { millis.saturating_mul(1_000_000) };
        let until = deadline(&mut state, nanos);
        let site = SiteId(site as u32);
        let operation = Operation::External { event: EventId(interest.number()), until, site };
        let mut state = schedule(agent, control, state, thread, operation, 0);
        if state.conductor.has_late_events() {
            state.lose_control("input arrived from outside of the program, or late");
        }
        Some(state.conductor.take_wake(thread))
    })
}

/// A thread asks for input without waiting for it. If it does so again and again, others go first.
fn spins(thread: jlong, site: jint) {
    guarded((), |agent| {
        let Some((control, thread)) = controlled(agent, thread) else { return };
        let site = SiteId(site as u32);
        let mut state = control.state();
        if state.conductor.spins(thread, site) {
            drop(schedule(agent, control, state, thread, Operation::Yield { site }, 0));
        }
    });
}

fn controlled(agent: &'static Agent, thread: jlong) -> Option<(&'static Control, ThreadId)> {
    Some((agent.control.as_ref()?, thread_id(thread)?))
}
