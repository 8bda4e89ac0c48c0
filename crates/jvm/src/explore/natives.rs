//! The native methods of the hook class `FissureExplore`.

use std::ffi::{CStr, c_void};

use fissure_model::ids::{SiteId, ThreadId};
use fissure_schedule::operation::{Operation, Wake};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{End, Explorer, access as access_operation};
use crate::{
    agent::{Agent, guarded},
    vm::Jni,
};

/// Added to the number of a thread that is in a region during which others may wait for it inside of the JVM.
const REGION: jlong = 256;

/// Binds all other native methods. The JVM finds this one by its name.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_FissureExplore_initialize(environment: *mut JNIEnv, class: jclass) {
    let jni = Jni::new(environment);
    guarded((), |agent| {
        let methods: &[(&CStr, &CStr, *mut c_void)] = &[
            (c"access", c"(JIIIZ)V", access as *mut c_void),
            (c"acquire", c"(JII)V", acquire as *mut c_void),
            (c"release", c"(JI)V", release as *mut c_void),
            (c"waitIn", c"(JLjava/lang/Object;IJI)I", wait_in as *mut c_void),
            (c"wake", c"(JIZ)V", wake as *mut c_void),
            (c"pause", c"(JJI)I", pause as *mut c_void),
            (c"parks", c"(JJI)V", parks as *mut c_void),
            (c"permits", c"(JJ)V", permits as *mut c_void),
            (c"interrupts", c"(JJ)V", interrupts as *mut c_void),
            (c"offers", c"(JI)V", offers as *mut c_void),
            (c"stray", c"()V", stray as *mut c_void),
        ];
        if !jni.register_natives(class, methods) {
            agent.fail("the native methods of the hook classes could not be bound");
        }
    });
}

/// The JVM is initialized: from here on the hook class may call native methods.
pub(crate) fn begin(agent: &'static Agent, jni: Jni, main: jobject) {
    if !agent.begin(jni, c"java/lang/FissureExplore", main) {
        agent.fail("the hook classes could not be started");
    }
}

/// Runs the work of a native method with the number of the calling thread and whether that thread is in a region.
fn exploring<T: Copy>(
    otherwise: T,
    thread: jlong,
    work: impl FnOnce(&'static Explorer, ThreadId, bool) -> T,
) -> T {
    guarded(otherwise, |agent| match (&agent.explorer, number(thread)) {
        (Some(explorer), Some(number)) => work(explorer, number, thread >= REGION),
        _ => otherwise,
    })
}

/// Java code identifies a thread by its number plus one.
fn number(thread: jlong) -> Option<ThreadId> {
    u32::try_from(thread % REGION).ok()?.checked_sub(1).map(ThreadId)
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
    exploring((), thread, |explorer, thread, is_quiet| {
        let operation = access_operation(object, part, site, is_write != 0);
        explorer.schedule(Jni::new(environment), thread, operation, is_quiet);
    });
}

extern "system" fn acquire(environment: *mut JNIEnv, _class: jclass, thread: jlong, lock: jint, site: jint) {
    exploring((), thread, |explorer, thread, is_quiet| {
        let site = SiteId(site.cast_unsigned());
        explorer.schedule_after(Jni::new(environment), thread, is_quiet, |state| Operation::Acquire {
            lock: state.lock(lock),
            site,
        });
    });
}

extern "system" fn release(_environment: *mut JNIEnv, _class: jclass, thread: jlong, lock: jint) {
    exploring((), thread, |explorer, thread, _| {
        if let Some(state) = explorer.state().as_mut() {
            let lock = state.lock(lock);
            state.conductor.release(thread, lock);
        }
    });
}

extern "system" fn wait_in(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    object: jobject,
    lock: jint,
    nanos: jlong,
    site: jint,
) -> jint {
    exploring(0, thread, |explorer, thread, is_quiet| {
        let jni = Jni::new(environment);
        let operation = explorer.change(|state| {
            let until = deadline(state, nanos);
            let lock = state.lock(lock);
            state.conductor.wait(thread, lock, until, SiteId(site.cast_unsigned()))
        });
        let Some(operation) = operation else { return 0 };
        // Other threads can enter the monitor only after this one has reached its scheduling point.
        let left = jni.leave_all(object);
        explorer.schedule(jni, thread, operation, is_quiet);
        let wake = wake_code(explorer, thread);
        for _ in 0..left {
            jni.enter(object);
        }
        wake
    })
}

extern "system" fn wake(_environment: *mut JNIEnv, _class: jclass, thread: jlong, lock: jint, all: jboolean) {
    exploring((), thread, |explorer, thread, _| {
        if let Some(state) = explorer.state().as_mut() {
            let lock = state.lock(lock);
            state.conductor.notify(Some(thread), lock, all != 0, SiteId(0));
        }
    });
}

extern "system" fn pause(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    nanos: jlong,
    site: jint,
) -> jint {
    exploring(0, thread, |explorer, thread, is_quiet| {
        let site = SiteId(site.cast_unsigned());
        explorer.schedule_after(Jni::new(environment), thread, is_quiet, |state| {
            match deadline(state, nanos) {
                Some(until) => Operation::Sleep { until, site },
                None => Operation::Yield { site },
            }
        });
        wake_code(explorer, thread)
    })
}

extern "system" fn parks(environment: *mut JNIEnv, _class: jclass, thread: jlong, nanos: jlong, site: jint) {
    exploring((), thread, |explorer, thread, is_quiet| {
        let site = SiteId(site.cast_unsigned());
        explorer.schedule_after(Jni::new(environment), thread, is_quiet, |state| Operation::Park {
            until: deadline(state, nanos),
            site,
        });
        wake_code(explorer, thread);
    });
}

extern "system" fn permits(_environment: *mut JNIEnv, _class: jclass, thread: jlong, parked: jlong) {
    exploring((), thread, |explorer, thread, _| {
        if let (Some(state), Some(parked)) = (explorer.state().as_mut(), number(parked)) {
            state.conductor.unpark(Some(thread), parked);
        }
    });
}

extern "system" fn interrupts(_environment: *mut JNIEnv, _class: jclass, thread: jlong, interrupted: jlong) {
    exploring((), thread, |explorer, thread, _| {
        if let (Some(state), Some(interrupted)) = (explorer.state().as_mut(), number(interrupted)) {
            state.conductor.interrupt(Some(thread), interrupted);
        }
    });
}

extern "system" fn offers(environment: *mut JNIEnv, _class: jclass, thread: jlong, site: jint) {
    exploring((), thread, |explorer, thread, is_quiet| {
        let operation = Operation::Yield { site: SiteId(site.cast_unsigned()) };
        explorer.schedule(Jni::new(environment), thread, operation, is_quiet);
    });
}

extern "system" fn stray(_environment: *mut JNIEnv, _class: jclass) {
    guarded((), |agent| {
        if let Some(explorer) = &agent.explorer
            && let Some(state) = explorer.state().as_mut()
        {
            state.has_strays = true;
        }
    });
}

/// The virtual time after so many nanoseconds; `None` if the number is negative, which means no time-out.
fn deadline(state: &mut super::State, nanos: jlong) -> Option<u64> {
    u64::try_from(nanos).ok().map(|nanos| state.conductor.now(false).saturating_add(nanos))
}

/// The reason why a thread goes on, as a code for Java.
fn wake_code(explorer: &Explorer, thread: ThreadId) -> jint {
    let mut guard = explorer.state();
    let Some(state) = guard.as_mut().filter(|state| state.end == End::Controlled) else { return 0 };
    match state.conductor.take_wake(thread) {
        Wake::Called => 0,
        Wake::TimedOut => 1,
        Wake::Interrupted => 2,
    }
}
