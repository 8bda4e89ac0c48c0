//! Threads that are started during an execution: by calls of the harness, by executors that they use, by other such threads.
//!
//! Such a thread is a thread of the execution. It gets a number when it is started, waits for its turn before it runs, and is scheduled like
//! the actors. When all actors have ended, the result is known; the other threads then run until they have ended or wait, so that the
//! strategy learns what they access. Those that wait, such as idle workers of a pool, are unwound as at the end of an iteration
//! ([`unwinding`](crate::iterations::unwinding)), and pools of the JDK that outlive the execution begin anew.

use std::time::{Duration, Instant};

use fissure_model::ids::{SiteId, ThreadId};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{Actor, End, Explorer, MOST_THREADS, driver};
use crate::{
    agent::Agent,
    conducting::{
        gate,
        natives::{Call, conducted},
    },
    vm::Jni,
};

/// The `fissureControl` of a thread that is left over, as the hook class has it. It is not controlled, and unwound where it would block.
pub(crate) const LEFT: jlong = -2;
/// The `fissureControl` of a thread that is never controlled.
const UNCONTROLLED: jlong = -1;
/// How long one thread may take to end before the next one is unwound: it may need a monitor that the next one holds.
const TURN: Duration = Duration::from_millis(20);
/// How long the threads of an execution may take to end.
const LIMIT: Duration = Duration::from_secs(2);

/// A controlled thread is about to start another one. Returns the number of the new thread, or 0 if it cannot be controlled.
pub(super) extern "system" fn adds(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    child: jobject,
    identity: jint,
) -> jlong {
    conducted(0, environment, thread, |explorer: &'static Explorer, call| {
        explorer.add(call, child, identity).map_or(0, |number| number as jlong + 1)
    })
}

/// The thread has been started.
pub(super) extern "system" fn started(environment: *mut JNIEnv, _class: jclass, thread: jlong, child: jlong) {
    conducted((), environment, thread, |explorer: &'static Explorer, call| {
        let Ok(child) = u32::try_from(child - 1) else { return };
        // The parent goes on: the strategy of an exploration starts no thread at once.
        explorer.change(|state| state.conductor.start(ThreadId(child), Some(call.thread)));
    });
}

/// Whether a thread that was started in this execution has ended.
pub(super) extern "system" fn has_ended(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    other: jlong,
) -> jboolean {
    conducted(0, environment, thread, |explorer: &'static Explorer, _| {
        let guard = explorer.state();
        let thread = guard
            .as_ref()
            .zip(usize::try_from(other - 1).ok())
            .and_then(|(state, number)| state.actors.get(number).filter(|_| number >= state.harness));
        jboolean::from(thread.is_some_and(|thread| thread.has_ended))
    })
}

/// Called in a new thread, before its own code: it waits for its turn.
pub(crate) fn begin_thread(explorer: &Explorer, jni: Jni, thread: jobject) {
    let Some(number) = number_of(jni, thread) else { return };
    if explorer.wait(number) {
        return;
    }
    let guard = explorer.state();
    if let Some(state) = guard.as_ref().filter(|state| number < state.actors.len()) {
        driver::enter(jni, state, number);
    }
}

/// Called in a thread that ends: threads that wait for its end go on.
pub(crate) fn end_thread(explorer: &Explorer, jni: Jni, thread: jobject) {
    let Some(number) = number_of(jni, thread) else { return };
    let mut guard = explorer.state();
    let Some(state) = guard.as_mut().filter(|state| number >= state.harness) else { return };
    let Some(ending) = state.actors.get_mut(number) else { return };
    ending.has_ended = true;
    let identity = ending.identity;
    if state.end == End::Controlled {
        let (ended, lock) = (ThreadId(number as u32), state.lock(identity));
        state.conductor.notify(Some(ended), lock, true, SiteId(0));
        let decision = state.conductor.end(ended);
        state.follow(explorer, jni, decision);
    }
}

/// The number of a thread that was started in an execution.
fn number_of(jni: Jni, thread: jobject) -> Option<usize> {
    let fields = driver::known_thread_fields()?;
    usize::try_from(jni.long_at(thread, fields.control) % super::natives::REGION - 1).ok()
}

impl Explorer {
    /// Gives a thread a number; `None` if the execution has too many.
    fn add(&self, call: Call, child: jobject, identity: i32) -> Option<usize> {
        self.change(|state| {
            let number = state.actors.len();
            if number >= MOST_THREADS {
                state.has_strays = true;
                return None;
            }
            if !state.conductor.knows(ThreadId(number as u32)) {
                state.conductor.announce(&number.to_string(), false);
            }
            let parent = call.thread.0 as usize;
            let by_actor = state.calls.iter().rev().find(|(_, actor, _)| *actor == parent);
            let during = by_actor.map(|(_, _, during)| *during).or(state.actors[parent].call);
            let thread = call.jni.keep(child) as usize;
            state.actors.push(Actor { identity, call: during, ..Actor::new(thread, Vec::new()) });
            Some(number)
        })
        .flatten()
    }

    /// All actors have ended. Ends the other threads of the execution, and forgets them. Returns whether that was possible.
    pub(super) fn clean_up(&self, agent: &'static Agent, jni: Jni) -> bool {
        let fields = driver::thread_fields();
        let mut threads = Vec::new();
        if let Some(state) = self.state().as_mut() {
            let (harness, end) = (state.harness, state.end);
            threads.extend(state.actors.iter().map(|thread| thread.thread).enumerate().skip(harness));
            for (number, thread) in &threads {
                let left = &mut state.actors[*number];
                left.is_left = true;
                jni.set_long(
                    *thread as jobject,
                    fields.control,
                    if left.has_ended { UNCONTROLLED } else { LEFT },
                );
                // In an execution that was cut, threads wait inside of the JVM.
                state.has_strays |= end != End::Controlled && !state.actors[*number].has_ended;
            }
        }
        if threads.is_empty() {
            return true;
        }
        let begun = Instant::now();
        let ends = |thread: usize, limit: Duration| {
            while agent.tool.is_alive(thread as jobject) {
                if begun.elapsed() > limit {
                    return false;
                }
                gate::wait_briefly();
            }
            true
        };
        for (number, thread) in &threads {
            self.gates[*number].open();
            ends(*thread, begun.elapsed() + TURN);
        }
        let have_ended = threads.iter().fold(true, |all, (_, thread)| ends(*thread, LIMIT) && all);
        for (_, thread) in &threads {
            jni.release(*thread as jobject);
        }
        let is_clean = have_ended && renew_pools(jni);
        if let Some(state) = self.state().as_mut() {
            let harness = state.harness;
            state.started_in = state.actors.drain(harness..).map(|thread| thread.call).collect();
            state.has_strays |= !is_clean;
        }
        is_clean
    }
}

/// Makes the pools of the JDK that outlive an execution like new; returns whether that was possible.
fn renew_pools(jni: Jni) -> bool {
    let driver = jni.find_class(c"java/lang/FissureDriver");
    driver.is_some_and(|driver| jni.static_text(driver, c"renewPools") == Ok(None))
}
