//! The native methods of the hook class `FissureConductor`: those for all kinds of runs are here, the others come from
//! [`Conducted::own_natives`].
//!
//! Java code identifies a thread by its field `fissureControl`, and a lock, a site or a duration in nanoseconds by a number.

use std::ffi::{CStr, c_void};

use fissure_model::ids::{SiteId, ThreadId};
use fissure_schedule::operation::{Operation, Wake};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use crate::{
    agent::{Agent, guarded},
    control::Control,
    explore::Explorer,
    iterations::unwinding,
    planted,
    vm::Jni,
};

/// The reasons why a thread goes on, as the hook class numbers them.
pub(crate) const CALLED: jint = 0;
pub(crate) const TIMED_OUT: jint = 1;
pub(crate) const INTERRUPTED: jint = 2;

/// A native method: its name, its descriptor and its function.
pub(crate) type Native = (&'static CStr, &'static CStr, *mut c_void);

/// A kind of run whose threads wait for their turn.
pub(crate) trait Conducted: Sized + 'static {
    /// The run of the agent, if it is of this kind.
    fn of(agent: &'static Agent) -> Option<&'static Self>;

    /// The thread with this `fissureControl`; `None` if it is not controlled.
    fn thread(number: jlong) -> Option<ThreadId>;

    /// Whether the run is over, and threads that are left over are unwound.
    #[inline]
    fn unwinds(&self) -> bool {
        false
    }

    /// The native methods that only this kind of run has.
    fn own_natives() -> Vec<Native>;

    /// The thread enters a monitor.
    fn acquire(&'static self, call: Call, lock: jint, site: SiteId);

    /// The thread has left a monitor.
    fn release(&'static self, call: Call, lock: jint);

    /// The thread is about to wait in a monitor, perhaps for the end of the thread `joined`. Returns the operation of its scheduling
    /// point; `None` if the run is not controlled any more.
    fn begin_wait(
        &'static self,
        call: Call,
        lock: jint,
        joined: jlong,
        nanos: jlong,
        site: SiteId,
    ) -> Option<Operation>;

    /// Waits. The thread has left the monitor, which it had entered so many times.
    fn wait(&'static self, call: Call, operation: Operation, left: u32) -> Wake;

    /// A thread, perhaps one that is not controlled, has notified one or all threads that wait in a monitor.
    fn notify(
        &'static self,
        agent: &'static Agent,
        thread: Option<ThreadId>,
        lock: jint,
        all: bool,
        site: SiteId,
    );

    /// The thread sleeps.
    fn sleep(&'static self, call: Call, nanos: jlong, site: SiteId) -> Wake;

    /// The thread parks.
    fn park(&'static self, call: Call, nanos: jlong, site: SiteId);

    /// A thread, perhaps one that is not controlled, has given another the permit to go on.
    fn unpark(&'static self, thread: Option<ThreadId>, parked: ThreadId);

    /// A thread, perhaps one that is not controlled, has interrupted another.
    fn interrupt(&'static self, thread: Option<ThreadId>, interrupted: ThreadId);

    /// The thread yields.
    fn offer(&'static self, call: Call, site: SiteId);

    /// The program starts a thread that cannot be controlled.
    fn note_stray(&'static self);
}

/// A call of a native method by a controlled thread.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) agent: &'static Agent,
    pub(crate) jni: Jni,
    pub(crate) thread: ThreadId,
    /// The `fissureControl` of the thread.
    pub(crate) number: jlong,
}

/// Binds all other native methods. The JVM finds this one by its name.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_FissureConductor_initialize(environment: *mut JNIEnv, class: jclass) {
    let jni = Jni::new(environment);
    guarded((), |agent| {
        let natives = match agent.explorer {
            None => natives::<Control>(),
            Some(_) => natives::<Explorer>(),
        };
        if !jni.register_natives(class, &natives) {
            agent.fail("the native methods of the hook classes could not be bound");
        } else if agent.control.is_some() {
            // Here, because the JVM warns of native code that is not called by Java code of the JDK and binds methods of the JDK.
            agent.install_hashes(jni);
        }
    });
}

/// All native methods but the one that binds them.
pub(crate) fn natives<C: Conducted>() -> Vec<Native> {
    let mut natives = C::own_natives();
    natives.extend([
        (c"acquire", c"(JII)V", acquire::<C> as *mut c_void),
        (c"release", c"(JI)V", release::<C> as *mut c_void),
        (c"waitIn", c"(JLjava/lang/Object;IJJI)I", wait_in::<C> as *mut c_void),
        (c"wake", c"(JIZI)V", wake::<C> as *mut c_void),
        (c"pause", c"(JJI)I", pause::<C> as *mut c_void),
        (c"parks", c"(JJI)V", parks::<C> as *mut c_void),
        (c"permits", c"(JJ)V", permits::<C> as *mut c_void),
        (c"interrupts", c"(JJ)V", interrupts::<C> as *mut c_void),
        (c"offers", c"(JI)V", offers::<C> as *mut c_void),
        (c"stray", c"()V", stray::<C> as *mut c_void),
    ]);
    natives
}

/// Runs a native method's work if the calling thread is controlled; returns `otherwise` if not, and if the run is over.
#[inline]
pub(crate) fn conducted<C: Conducted, T: Copy>(
    otherwise: T,
    environment: *mut JNIEnv,
    number: jlong,
    work: impl FnOnce(&'static C, Call) -> T,
) -> T {
    guarded(otherwise, |agent| match (C::of(agent), C::thread(number)) {
        (Some(run), Some(thread)) if !run.unwinds() => {
            work(run, Call { agent, jni: Jni::new(environment), thread, number })
        }
        _ => otherwise,
    })
}

/// The same for a scheduling point: if the run is over, the thread is unwound.
#[inline]
pub(crate) fn scheduled<C: Conducted, T: Copy>(
    otherwise: T,
    environment: *mut JNIEnv,
    number: jlong,
    work: impl FnOnce(&'static C, Call) -> T,
) -> T {
    guarded(otherwise, |agent| match (C::of(agent), C::thread(number)) {
        (Some(run), Some(thread)) => {
            if run.unwinds() {
                unwinding::unwind();
            }
            work(run, Call { agent, jni: Jni::new(environment), thread, number })
        }
        _ => otherwise,
    })
}

extern "system" fn acquire<C: Conducted>(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    lock: jint,
    site: jint,
) {
    scheduled((), environment, thread, |run: &C, call| run.acquire(call, lock, SiteId(site.cast_unsigned())));
}

extern "system" fn release<C: Conducted>(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    lock: jint,
) {
    conducted((), environment, thread, |run: &C, call| run.release(call, lock));
}

extern "system" fn wait_in<C: Conducted>(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    object: jobject,
    lock: jint,
    joined: jlong,
    nanos: jlong,
    site: jint,
) -> jint {
    scheduled(CALLED, environment, thread, |run: &C, call| {
        if planted::fault(call.jni, "wait") {
            return CALLED;
        }
        let site = SiteId(site.cast_unsigned());
        let Some(operation) = run.begin_wait(call, lock, joined, nanos, site) else { return CALLED };
        // The thread still has its turn, so others can enter the monitor only after it has reached its scheduling point.
        let monitor = LeftMonitor::new(call.jni, object);
        planted::fault(call.jni, "waiting");
        wake_code(run.wait(call, operation, monitor.times))
    })
}

/// A monitor that a thread has left to wait. The thread enters it again as often, even if the agent panics meanwhile.
struct LeftMonitor {
    jni: Jni,
    object: jobject,
    times: u32,
}

impl LeftMonitor {
    fn new(jni: Jni, object: jobject) -> Self {
        Self { jni, object, times: jni.leave_all(object) }
    }
}

impl Drop for LeftMonitor {
    fn drop(&mut self) {
        for _ in 0..self.times {
            self.jni.enter(self.object);
        }
    }
}

extern "system" fn wake<C: Conducted>(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    lock: jint,
    all: jboolean,
    site: jint,
) {
    guarded((), |agent| {
        if planted::fault(Jni::new(environment), "notify") {
            return;
        }
        if let Some(run) = C::of(agent).filter(|run| !run.unwinds()) {
            run.notify(agent, C::thread(thread), lock, all != 0, SiteId(site.cast_unsigned()));
        }
    });
}

extern "system" fn pause<C: Conducted>(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    nanos: jlong,
    site: jint,
) -> jint {
    scheduled(CALLED, environment, thread, |run: &C, call| {
        if planted::fault(call.jni, "sleep") {
            return CALLED;
        }
        wake_code(run.sleep(call, nanos, SiteId(site.cast_unsigned())))
    })
}

extern "system" fn parks<C: Conducted>(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    nanos: jlong,
    site: jint,
) {
    scheduled((), environment, thread, |run: &C, call| run.park(call, nanos, SiteId(site.cast_unsigned())));
}

extern "system" fn permits<C: Conducted>(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    parked: jlong,
) {
    guarded((), |agent| {
        let run = C::of(agent).filter(|run| !run.unwinds());
        if let (Some(run), Some(parked)) = (run, C::thread(parked)) {
            run.unpark(C::thread(thread), parked);
        }
    });
}

extern "system" fn interrupts<C: Conducted>(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    interrupted: jlong,
) {
    guarded((), |agent| {
        let run = C::of(agent).filter(|run| !run.unwinds());
        if let (Some(run), Some(interrupted)) = (run, C::thread(interrupted)) {
            run.interrupt(C::thread(thread), interrupted);
        }
    });
}

extern "system" fn offers<C: Conducted>(environment: *mut JNIEnv, _class: jclass, thread: jlong, site: jint) {
    scheduled((), environment, thread, |run: &C, call| run.offer(call, SiteId(site.cast_unsigned())));
}

extern "system" fn stray<C: Conducted>(_environment: *mut JNIEnv, _class: jclass) {
    guarded((), |agent| {
        if let Some(run) = C::of(agent) {
            run.note_stray();
        }
    });
}

fn wake_code(wake: Wake) -> jint {
    match wake {
        Wake::Called => CALLED,
        Wake::TimedOut => TIMED_OUT,
        Wake::Interrupted => INTERRUPTED,
    }
}
