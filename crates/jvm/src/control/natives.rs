//! The native methods of the hook class `FissureControl`.

mod accesses;
mod failures;
mod locks;
mod threads;
mod waits;

use std::ffi::{CStr, c_void};

use fissure_control::flags::LIBRARY;
use fissure_model::ids::ThreadId;
use fissure_schedule::{conductor::Decision, operation::Operation};
use jvmti_bindings::sys::jni::{JNIEnv, jclass, jlong};

pub(crate) use threads::{begin, begin_thread, end_thread};

use super::{Control, State, callers};
use crate::{
    agent::{Agent, guarded},
    mutex::Held,
    vm::Jni,
};
use threads::wait_for_thread_ends;

/// Binds all other native methods. The JVM finds this one by its name.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_FissureControl_initialize(environment: *mut JNIEnv, class: jclass) {
    let jni = Jni::new(environment);
    guarded((), |agent| {
        let methods: &[(&CStr, &CStr, *mut c_void)] = &[
            (c"newLock", c"(Ljava/lang/Object;)I", locks::new_lock as *mut c_void),
            (c"announce", c"(Ljava/lang/Thread;Ljava/lang/String;Z)J", threads::announce as *mut c_void),
            (c"arrive", c"(Ljava/lang/String;)J", threads::arrive as *mut c_void),
            (c"isOver", c"()Z", threads::is_over as *mut c_void),
            (c"threadRuns", c"()V", threads::thread_runs as *mut c_void),
            (c"hasEnded", c"(J)Z", threads::has_ended as *mut c_void),
            (c"activity", c"(J)I", threads::activity as *mut c_void),
            (c"stray", c"(Ljava/lang/Thread;)V", threads::stray as *mut c_void),
            (c"started", c"(JJ)V", threads::started as *mut c_void),
            (c"acquire", c"(JII)V", locks::acquire as *mut c_void),
            (c"release", c"(JI)V", locks::release as *mut c_void),
            (c"releasePlace", c"()J", locks::release_place as *mut c_void),
            (c"giveBack", c"(JI)V", locks::give_back as *mut c_void),
            (c"attempt", c"(JI)V", locks::attempt as *mut c_void),
            (c"acquired", c"(JIZ)V", locks::acquired as *mut c_void),
            (c"waitIn", c"(JLjava/lang/Object;IJJI)I", waits::wait_in as *mut c_void),
            (c"wake", c"(JIZI)V", waits::wake as *mut c_void),
            (c"pause", c"(JJI)I", waits::pause as *mut c_void),
            (c"parks", c"(JJI)V", waits::parks as *mut c_void),
            (c"permits", c"(JJ)V", waits::permits as *mut c_void),
            (c"interrupts", c"(JJ)V", waits::interrupts as *mut c_void),
            (c"offers", c"(JI)V", waits::offers as *mut c_void),
            (c"looks", c"(JIZ)V", waits::looks as *mut c_void),
            (c"enterBlock", c"(JI)V", locks::enter_block as *mut c_void),
            (c"exitBlock", c"(J)V", locks::exit_block as *mut c_void),
            (c"region", c"(JI)V", locks::region as *mut c_void),
            (c"access", c"(JIII)V", accesses::access as *mut c_void),
            (c"holdsIn", c"(JIII)V", accesses::holds as *mut c_void),
            (c"beginsCall", c"(JLjava/lang/Object;IZI)V", accesses::begin_call as *mut c_void),
            (c"endsCall", c"(JI)V", accesses::end_call as *mut c_void),
            (c"enterUnit", c"(JI)V", accesses::enter_unit as *mut c_void),
            (c"exitUnit", c"(JI)V", accesses::exit_unit as *mut c_void),
            (c"joins", c"(JJ)V", threads::joins as *mut c_void),
            (c"handsOver", c"(JI)V", threads::hands_over as *mut c_void),
            (c"takesOver", c"(JIZ)V", threads::takes_over as *mut c_void),
            (
                c"throwing",
                c"(JLjava/lang/String;Ljava/lang/String;Ljava/lang/String;Z)V",
                failures::throwing as *mut c_void,
            ),
            (c"exits", c"(JILjava/lang/String;)V", failures::exits as *mut c_void),
            (c"exitRefused", c"(J)V", failures::exit_refused as *mut c_void),
            (c"now", c"(J)J", waits::now as *mut c_void),
            (c"tellsAllCalls", c"()Z", accesses::tells_all_calls as *mut c_void),
            (c"stopsAtVolatiles", c"()Z", waits::stops_at_volatiles as *mut c_void),
        ];
        if !jni.register_natives(class, methods) {
            agent.fail("the native methods of the hook classes could not be bound");
        }
    });
}

/// Java code identifies a thread by its number plus one; other values mean threads that are not controlled.
fn thread_id(number: jlong) -> Option<ThreadId> {
    u32::try_from(number).ok()?.checked_sub(1).map(ThreadId)
}

/// Runs a native method's work if the calling thread is controlled; returns `otherwise` if not.
fn controlled<T: Copy>(
    otherwise: T,
    thread: jlong,
    work: impl FnOnce(&'static Agent, &'static Control, ThreadId) -> T,
) -> T {
    guarded(otherwise, |agent| match (&agent.control, thread_id(thread)) {
        (Some(control), Some(thread)) => work(agent, control, thread),
        _ => otherwise,
    })
}

/// A scheduling point: lets the conductor choose a thread, and returns when this one may execute the operation.
#[inline]
fn schedule<'a>(
    agent: &'static Agent,
    control: &'a Control,
    mut state: Held<'a, State>,
    thread: ThreadId,
    operation: Operation,
    flags: i32,
) -> Held<'a, State> {
    let decision = state.run.arrive(thread, operation, flags);
    follow(agent, control, state, thread, decision)
}

/// Carries out the decision at a scheduling point, and returns when the thread may go on.
#[inline]
fn follow<'a>(
    agent: &'static Agent,
    control: &'a Control,
    state: Held<'a, State>,
    thread: ThreadId,
    decision: Decision,
) -> Held<'a, State> {
    if decision == Decision::Run(thread) {
        return state;
    }
    let state = control.follow(state, Some(thread), decision);
    wait_for_thread_ends(agent, control, state)
}

/// Whether a thread is not preempted at a site with these flags, and the lock there is not relevant.
#[inline]
fn is_quiet(agent: &Agent, state: &mut State, thread: ThreadId, flags: i32) -> bool {
    state.run.is_quiet(thread, flags) || flags & LIBRARY != 0 && callers::serves_the_jdk(agent, state)
}
