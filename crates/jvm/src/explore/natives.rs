//! The operations of a harness's threads, which the hook class `FissureExplore` reports.

use std::ffi::c_void;

use fissure_model::ids::{SiteId, ThreadId};
use fissure_schedule::operation::{Operation, Wake};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{End, Explorer, access as access_operation, started};
use crate::{
    agent::Agent,
    conducting::natives::{Call, Conducted, Native, conducted},
    vm::Jni,
};

/// Added to the number of a thread that is in a region during which others may wait for it inside of the JVM.
pub(crate) const REGION: jlong = 256;

/// The JVM is initialized: from here on the hook class may call native methods.
pub(crate) fn begin(agent: &'static Agent, jni: Jni, main: jobject) {
    if !agent.begin(jni, c"java/lang/FissureExplore", main) {
        agent.fail("the hook classes could not be started");
    }
}

/// Whether the calling thread is in a region, and therefore not preempted.
fn is_quiet(call: Call) -> bool {
    call.number >= REGION
}

impl Conducted for Explorer {
    fn of(agent: &'static Agent) -> Option<&'static Self> {
        agent.explorer.as_ref()
    }

    fn thread(number: jlong) -> Option<ThreadId> {
        u32::try_from(number % REGION).ok()?.checked_sub(1).map(ThreadId)
    }

    fn own_natives() -> Vec<Native> {
        vec![
            (c"accessPart", c"(JIIIZ)V", access as *mut c_void),
            (c"adds", c"(JLjava/lang/Thread;I)J", started::adds as *mut c_void),
            (c"started", c"(JJ)V", started::started as *mut c_void),
            (c"endedBefore", c"(JJ)Z", started::has_ended as *mut c_void),
        ]
    }

    fn acquire(&'static self, call: Call, lock: jint, site: SiteId) {
        self.schedule_after(call.jni, call.thread, is_quiet(call), |state| Operation::Acquire {
            lock: state.lock(lock),
            site,
        });
    }

    fn release(&'static self, call: Call, lock: jint) {
        if let Some(state) = self.state().as_mut() {
            let lock = state.lock(lock);
            state.conductor.release(call.thread, lock);
        }
    }

    fn begin_wait(
        &'static self,
        call: Call,
        lock: jint,
        _joined: jlong,
        nanos: jlong,
        site: SiteId,
    ) -> Option<Operation> {
        self.change(|state| {
            let until = deadline(state, nanos);
            let lock = state.lock(lock);
            state.conductor.wait(call.thread, lock, until, site)
        })
    }

    fn wait(&'static self, call: Call, operation: Operation, _left: u32) -> Wake {
        self.schedule(call.jni, call.thread, operation, is_quiet(call));
        self.take_wake(call)
    }

    fn notify(
        &'static self,
        _agent: &'static Agent,
        thread: Option<ThreadId>,
        lock: jint,
        all: bool,
        _site: SiteId,
    ) {
        if let (Some(state), Some(thread)) = (self.state().as_mut(), thread) {
            let lock = state.lock(lock);
            state.conductor.notify(Some(thread), lock, all, SiteId(0));
        }
    }

    fn sleep(&'static self, call: Call, nanos: jlong, site: SiteId) -> Wake {
        if nanos < 0 {
            self.offer(call, site);
            return Wake::Called;
        }
        self.schedule_after(call.jni, call.thread, is_quiet(call), |state| Operation::Sleep {
            until: after(state, nanos.cast_unsigned()),
            site,
        });
        self.take_wake(call)
    }

    fn park(&'static self, call: Call, nanos: jlong, site: SiteId) {
        self.schedule_after(call.jni, call.thread, is_quiet(call), |state| Operation::Park {
            until: deadline(state, nanos),
            site,
        });
        self.take_wake(call);
    }

    fn unpark(&'static self, thread: Option<ThreadId>, parked: ThreadId) {
        if let (Some(state), Some(thread)) = (self.state().as_mut(), thread) {
            state.conductor.unpark(Some(thread), parked);
        }
    }

    fn interrupt(&'static self, thread: Option<ThreadId>, interrupted: ThreadId) {
        if let (Some(state), Some(thread)) = (self.state().as_mut(), thread) {
            state.conductor.interrupt(Some(thread), interrupted);
        }
    }

    fn offer(&'static self, call: Call, site: SiteId) {
        self.schedule(call.jni, call.thread, Operation::Yield { site }, is_quiet(call));
    }

    fn note_stray(&'static self) {
        if let Some(state) = self.state().as_mut() {
            state.has_strays = true;
        }
    }
}

impl Explorer {
    /// The reason why a thread goes on.
    fn take_wake(&self, call: Call) -> Wake {
        let mut guard = self.state();
        match guard.as_mut().filter(|state| state.end == End::Controlled) {
            Some(state) => state.conductor.take_wake(call.thread).unwrap_or_else(|| {
                // After a failure of the agent nothing holds threads back.
                let number = call.thread.0;
                assert!(
                    call.agent.is_broken(),
                    "thread {number} goes on although nothing has ended its wait"
                );
                Wake::Called
            }),
            None => Wake::Called,
        }
    }
}

extern "system" fn access(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    object: jint,
    part: jint,
    site: jint,
    is_write: jboolean,
) {
    conducted((), environment, thread, |explorer: &'static Explorer, call| {
        let operation = access_operation(object, part, site, is_write != 0);
        explorer.schedule(call.jni, call.thread, operation, is_quiet(call));
    });
}

/// The virtual time after so many nanoseconds; `None` if the number is negative, which means no time-out.
fn deadline(state: &mut super::State, nanos: jlong) -> Option<u64> {
    u64::try_from(nanos).ok().map(|nanos| after(state, nanos))
}

/// The virtual time after so many nanoseconds.
fn after(state: &mut super::State, nanos: u64) -> u64 {
    state.conductor.now(false).saturating_add(nanos)
}
