//! Threads: their begin and end, their activity, and what orders them beside locks and wake-ups.

use std::thread;

use fissure_model::ids::ThreadId;
use fissure_schedule::{conductor::Activity, operation::Operation};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{
    super::{Control, State, watchdog},
    schedule,
};
use crate::{
    agent::{Agent, guarded},
    conducting::{
        gate,
        natives::{Call, Conducted, conducted},
    },
    iterations::{state, unwinding},
    mutex::Held,
    planted,
    vm::Jni,
};

/// How often a thread that has ended for the conductor is polled until it has ended for the JVM.
const MOST_END_CHECKS: u32 = 10_000;

/// Starts control: from here on the main thread is controlled.
pub(crate) fn begin(agent: &'static Agent, jni: Jni, main: jobject) {
    if !agent.begin(jni, c"java/lang/FissureControl", main) {
        agent.fail("the hook classes could not be started");
        return;
    }
    begin_watching(agent);
}

/// Starts the watchdog.
pub(crate) fn begin_watching(agent: &'static Agent) {
    let control = agent.controlling();
    let Some(supervisor) = agent.settings.supervisor() else { return };
    let is_debugged = agent.settings.is_debugged();
    let watcher = thread::Builder::new().name("fissure-watchdog".to_owned());
    let watch = move || guarded((), |_| watchdog::watch(control, supervisor, is_debugged));
    if watcher.spawn(watch).is_err() {
        agent.fail("the watchdog's thread could not be started");
    }
}

/// A thread begins; one that was announced waits for its turn.
pub(crate) fn begin_thread(agent: &'static Agent, jni: Jni, thread: jobject) {
    let Some(control) = &agent.control else { return };
    let Some(number) = number_of(jni, thread) else { return };
    let mut state = control.state();
    // The main thread runs before its begin event arrives.
    if state.thread(number).kernel_thread.is_some() || control.unwinds() {
        return;
    }
    state.thread(number).kernel_thread = Some(kernel_thread());
    let gate = state.gate(number);
    drop(state);
    gate.pass();
    // A thread that is left over is unwound at its first scheduling point: nothing can be thrown from here.
    if control.unwinds() {
        return;
    }
    drop(wait_for_thread_ends(agent, control, control.state()));
}

/// A thread ends.
pub(crate) fn end_thread(agent: &'static Agent, jni: Jni, thread: jobject) {
    let Some(control) = &agent.control else { return };
    let Some(number) = number_of(jni, thread) else { return };
    let mut state = control.state();
    if state.run.conductor.has_ended(number) {
        return;
    }
    state.thread(number).kernel_thread = None;
    if control.course().is_some() && state.is_over {
        return;
    }
    state.dying.push(number);
    let decision = state.run.end(number);
    drop(control.follow(state, None, decision));
}

fn number_of(jni: Jni, thread: jobject) -> Option<ThreadId> {
    Control::thread(jni.long_field(thread, c"fissureControl")?)
}

pub(crate) fn kernel_thread() -> i32 {
    // SAFETY: gettid has no preconditions.
    unsafe { libc::gettid() }
}

/// Waits until threads that have ended for the conductor have ended for the JVM too, because the program can tell the difference.
pub(super) fn wait_for_thread_ends<'a>(
    agent: &'static Agent,
    control: &'a Control,
    mut state: Held<'a, State>,
) -> Held<'a, State> {
    if state.dying.is_empty() {
        return state;
    }
    let dying: Vec<usize> = std::mem::take(&mut state.dying)
        .into_iter()
        .filter_map(|thread| state.thread(thread).reference)
        .collect();
    drop(state);
    let mut tries = 0;
    control.state().awaits_thread_end = true;
    while dying.iter().any(|thread| agent.tool.is_alive(*thread as jobject)) && tries < MOST_END_CHECKS {
        tries += 1;
        gate::wait_briefly();
    }
    let mut state = control.state();
    state.awaits_thread_end = false;
    if tries == MOST_END_CHECKS {
        state.run.lose_control("a thread did not end in the JVM after its last operation");
    }
    state
}

pub(super) extern "system" fn announce(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jobject,
    name: jobject,
    is_daemon: jboolean,
) -> jlong {
    guarded(-1, |agent| {
        let control = agent.controlling();
        if control.unwinds() {
            unwinding::unwind();
        }
        let jni = Jni::new(environment);
        planted::fault(jni, planted::START);
        let name = jni.text(name);
        let reference = jni.keep(thread) as usize;
        let mut state = control.state();
        let number = state.run.conductor.announce(&name, is_daemon != 0);
        state.thread(number).reference = Some(reference);
        // The first thread is running already.
        if number.0 == 0 {
            state.run.conductor.adopt(number);
            state.thread(number).kernel_thread = Some(kernel_thread());
        }
        jlong::from(number.0) + 1
    })
}

pub(super) extern "system" fn arrive(environment: *mut JNIEnv, _class: jclass, name: jobject) -> jlong {
    guarded(-1, |agent| {
        let control = agent.controlling();
        if control.unwinds() {
            return -1;
        }
        let name = Jni::new(environment).text(name);
        let mut state = control.state();
        let number = state.run.conductor.announce(&name, false);
        state.thread(number).kernel_thread = Some(kernel_thread());
        drop(schedule(agent, control, state, number, Operation::Begin, 0));
        jlong::from(number.0) + 1
    })
}

pub(super) extern "system" fn is_over(_environment: *mut JNIEnv, _class: jclass) -> jboolean {
    guarded(1, |agent| {
        agent.control.as_ref().map_or(1, |control| jboolean::from(!control.state().run.conductor.is_wanted()))
    })
}

pub(super) extern "system" fn main_begins(environment: *mut JNIEnv, _class: jclass) {
    guarded((), |agent| {
        state::seed(Jni::new(environment));
        agent.begin_hashes();
    });
}

pub(super) extern "system" fn hash_internal(environment: *mut JNIEnv, _class: jclass, object: jobject) {
    if let Some(hashes) = Agent::hashes() {
        hashes.of(environment, object, false);
    }
}

pub(super) extern "system" fn flags_place(_environment: *mut JNIEnv, _class: jclass) -> jlong {
    guarded(0, |agent| agent.hashes.get().map_or(0, |_| agent.offsets.address() as jlong))
}

pub(super) extern "system" fn thread_runs(_environment: *mut JNIEnv, _class: jclass) {
    guarded((), |agent| {
        agent.counts.threads_in_scope.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
}

pub(super) extern "system" fn has_ended(environment: *mut JNIEnv, _class: jclass, thread: jlong) -> jboolean {
    conducted(0, environment, thread, |control: &Control, Call { thread, .. }| {
        jboolean::from(control.state().run.conductor.has_ended(thread))
    })
}

pub(super) extern "system" fn activity(environment: *mut JNIEnv, _class: jclass, thread: jlong) -> jint {
    conducted(0, environment, thread, |control: &Control, Call { thread, .. }| {
        activity_code(control.state().run.conductor.activity(thread))
    })
}

/// The activity of a thread, for `Thread.getState`, as the hook class numbers it.
pub(crate) fn activity_code(activity: Activity) -> jint {
    match activity {
        Activity::Unknown => 0,
        Activity::Runs => 1,
        Activity::Blocked => 2,
        Activity::Waits => 3,
        Activity::WaitsForTime => 4,
        Activity::Ended => 5,
    }
}

pub(super) extern "system" fn started(
    _environment: *mut JNIEnv,
    _class: jclass,
    parent: jlong,
    child: jlong,
) {
    guarded((), |agent| {
        let control = agent.controlling();
        if control.unwinds() {
            return;
        }
        // The JVM's own threads are not controlled.
        let Some(child) = Control::thread(child) else { return };
        let parent = Control::thread(parent);
        let mut state = control.state();
        let decision = state.run.conductor.start(child, parent);
        let state = control.follow(state, parent, decision);
        if parent.is_some() {
            drop(wait_for_thread_ends(agent, control, state));
        }
    });
}

pub(super) extern "system" fn joins(environment: *mut JNIEnv, _class: jclass, thread: jlong, ended: jlong) {
    conducted((), environment, thread, |control: &Control, Call { thread, .. }| {
        if let Some(ended) = Control::thread(ended) {
            control.state().run.conductor.joined(thread, ended);
        }
    });
}

pub(super) extern "system" fn hands_over(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    token: jint,
) {
    conducted((), environment, thread, |control: &Control, Call { thread, .. }| {
        control.state().run.conductor.hands_over(thread, token as u64);
    });
}

pub(super) extern "system" fn takes_over(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    token: jint,
    waits: jboolean,
) {
    conducted((), environment, thread, |control: &Control, Call { thread, .. }| {
        control.state().run.conductor.takes_over(thread, token as u64, waits != 0);
    });
}
