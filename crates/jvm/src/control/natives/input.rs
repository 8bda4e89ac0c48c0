//! Threads that wait in the kernel: for input from sockets, selectors and pipes, for room to write, for the end of a process. A controlled
//! thread waits in the conductor's model until its file descriptor is ready, so other threads run meanwhile, and input that they send
//! costs no more than a hand-over.

use std::{os::fd::AsRawFd, time::Duration};

use fissure_model::ids::{SiteId, ThreadId};
use fissure_schedule::{
    conductor::{Expectation, Outside},
    operation::{EventId, Operation, Wake},
};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use rustix::io::Errno;

use super::{super::Control, schedule, take_wake};
use crate::{
    conducting::natives::{Call, scheduled},
    descriptors::{
        self, Interest,
        output::{self, Buffers},
        processes::{Child, NO_CHILD},
    },
    vm::Jni,
};

/// The kernel delivers what a thread of this process sent within this time, if not at once.
const DELIVERY: Duration = Duration::from_millis(1);
/// A signal interrupted the wait; the number is the JDK's.
const INTERRUPTED: jint = -3;
/// A buffer is full; the number is the JDK's.
const NO_ROOM: jlong = -2;
/// A result of `write` that is an error is this number less the number of the error.
pub(crate) const ERRORS: jlong = -100;

/// Whether an interrupt of the thread ends its wait, as the hook class numbers it: never, or at once because it has happened already. Any other
/// number says that it would.
pub(crate) const UNINTERRUPTIBLE: jint = 0;
pub(crate) const IS_INTERRUPTED: jint = 2;

/// Knows which file descriptors are ready.
pub(in crate::control) struct Descriptors;

impl Outside for Descriptors {
    fn happened(&mut self, awaited: &[(ThreadId, EventId)], waits: bool) -> Vec<ThreadId> {
        let interests: Vec<Interest> = interests(awaited).collect();
        let ready = descriptors::wait(&interests, if waits { DELIVERY } else { Duration::ZERO });
        awaited.iter().zip(ready).filter(|(_, ready)| *ready).map(|((thread, _), _)| *thread).collect()
    }

    fn expects(&mut self, awaited: &[(ThreadId, EventId)]) -> Expectation {
        let expects = |interest: Interest| descriptors::expects(interest.descriptor);
        interests(awaited).map(expects).max().unwrap_or(Expectation::Nothing)
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
    interrupts: jint,
    site: jint,
) -> jint {
    let Some(descriptor) = Jni::new(environment).int_field(descriptor, c"fd") else { return 0 };
    let interest = Interest { descriptor, events: events as u16 };
    let millis = if interrupts == IS_INTERRUPTED { 0 } else { millis };
    let has_waited = millis != 0 && waits(environment, thread, interest, millis, interrupts, site).is_some();
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
        _ => waits(environment, thread, Interest::input(epoll), millis, UNINTERRUPTIBLE, site).is_some(),
    };
    descriptors::epoll_wait(epoll, address, count, limit(has_waited, millis)).unwrap_or(INTERRUPTED)
}

/// Waits until an operation of the thread would not block, and returns whether an interrupt ended the wait before that.
pub(super) extern "system" fn await_input(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    descriptor: jobject,
    interrupts: jint,
    site: jint,
) -> jboolean {
    let Some(descriptor) = Jni::new(environment).int_field(descriptor, c"fd") else { return 0 };
    if !descriptors::blocks(descriptor) {
        return 0;
    }
    let interest = Interest::input(descriptor);
    let is_interrupted = match interrupts {
        IS_INTERRUPTED => {
            descriptors::ready(&[interest], Some(Duration::ZERO)).is_ok_and(|events| events[0] == 0)
        }
        _ => waits(environment, thread, interest, -1, interrupts, site) == Some(Wake::Interrupted),
    };
    jboolean::from(is_interrupted)
}

/// Writes a buffer, or several. A controlled thread never blocks in the kernel: while a socket or pipe is full, it waits in the model, so
/// that the thread that reads can make room.
pub(super) extern "system" fn write(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    descriptor: jobject,
    address: jlong,
    length: jint,
    vectors: jboolean,
    site: jint,
) -> jlong {
    let Some(descriptor) = Jni::new(environment).int_field(descriptor, c"fd") else {
        return written(Err(Errno::BADF));
    };
    let buffers = Buffers::new(address, length, vectors != 0);
    if thread <= 0 || !descriptors::blocks(descriptor) {
        return written(buffers.write(descriptor));
    }
    let interest = Interest::output(descriptor);
    let has_room = || descriptors::wait(&[interest], Duration::ZERO) == [true];
    let make_room =
        || has_room() || waits(environment, thread, interest, -1, UNINTERRUPTIBLE, site).is_some();
    written(buffers.write_in_parts(descriptor, make_room))
}

fn written(result: Result<usize, Errno>) -> jlong {
    match result {
        Ok(count) => count as jlong,
        Err(Errno::AGAIN) => NO_ROOM,
        Err(Errno::INTR) => INTERRUPTED.into(),
        Err(error) => ERRORS - jlong::from(error.raw_os_error()),
    }
}

pub(super) extern "system" fn error_text(environment: *mut JNIEnv, _class: jclass, number: jint) -> jobject {
    Jni::new(environment).string(&output::error_text(number))
}

/// Waits for the end of a process. A descriptor of the process is ready when it has ended.
pub(super) extern "system" fn await_process(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    process: jlong,
    reaps: jboolean,
    site: jint,
) -> jint {
    let Some(child) = Child::new(process) else { return NO_CHILD };
    if let Some(descriptor) = child.descriptor().filter(|_| thread > 0) {
        waits(environment, thread, Interest::input(descriptor.as_raw_fd()), -1, UNINTERRUPTIBLE, site);
    }
    child.exit_code(reaps != 0)
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
    interrupts: jint,
    site: jint,
) -> Option<Wake> {
    scheduled(None, environment, thread, |control: &'static Control, Call { agent, thread, .. }| {
        let mut state = control.state();
        let nanos = if millis < 0 { -1 } else { millis.saturating_mul(1_000_000) };
        let until = state.run.deadline(nanos);
        let event = EventId(interest.number());
        let operation = Operation::External {
            event,
            until,
            is_interruptible: interrupts != UNINTERRUPTIBLE,
            site: SiteId(site as u32),
        };
        let mut state = schedule(agent, control, state, thread, operation, 0);
        if state.run.conductor.has_late_events() {
            state
                .run
                .lose_control("input arrived from outside of the program, or late, or another process ended");
        }
        Some(take_wake(agent, &mut state, thread))
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
