//! Threads that are left over when a run is over: pool workers, daemons, deadlocked threads. Each is unwound by an error that is thrown at
//! every scheduling point that it reaches, so that it leaves its monitors and ends.
//!
//! Inside the agent a special panic leads from the gate at which a thread waits to the end of its native method
//! ([`crate::agent::guarded`]), which throws the error in Java. No Java code of Fissure catches that error.

use std::{
    any::Any,
    panic::resume_unwind,
    sync::Arc,
    time::{Duration, Instant},
};

use fissure_model::ids::ThreadId;
use fissure_schedule::conductor::Activity;
use jvmti_bindings::sys::jni::jobject;

use crate::{
    agent::Agent,
    conducting::gate::{self, Gate},
    control::Control,
};

/// How long one thread may take to end before the next one is unwound. It may need a monitor that another one still holds.
const TURN: Duration = Duration::from_millis(100);
/// How long all threads together may take.
const LIMIT: Duration = Duration::from_secs(2);

/// The panic that unwinds a thread.
struct Unwinding;

/// Unwinds the current thread. No mutex of the agent may be held.
pub(crate) fn unwind() -> ! {
    resume_unwind(Box::new(Unwinding))
}

/// Whether a panic unwinds a thread, and is no failure.
pub(crate) fn is_meant(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Unwinding>()
}

/// Throws the error that unwinds a thread in Java, from the native method that ends now.
pub(crate) fn throw(agent: &Agent) {
    if let Some(jni) = agent.vm.jni() {
        jni.throw(c"java/lang/FissureUnwind", c"the run is over");
    }
}

/// A thread that may be left over.
struct Left {
    name: String,
    gate: Arc<Gate>,
    reference: jobject,
    runs: bool,
    waits: bool,
}

/// Unwinds the threads of a run that is over. Returns why that is not possible, if it is not.
pub(super) fn unwind_all(agent: &Agent, control: &Control) -> Option<String> {
    let mut threads = match left(agent, control) {
        Ok(threads) => threads,
        Err(reason) => return Some(reason),
    };
    // The thread that ran last is on its way already. Threads that wait need their monitors back, so their owners come first.
    threads.sort_by_key(|thread| (!thread.runs, thread.waits));
    let begun = Instant::now();
    for thread in &threads {
        if !thread.runs {
            thread.gate.open();
        }
        wait_for_end(agent, thread, begun.elapsed() + TURN, begun);
    }
    for thread in &threads {
        if !wait_for_end(agent, thread, LIMIT, begun) {
            return Some(format!("the thread {:?} did not end after the run", thread.name));
        }
    }
    None
}

/// Waits until a thread has ended, up to a time since the beginning; returns whether it has.
fn wait_for_end(agent: &Agent, thread: &Left, until: Duration, begun: Instant) -> bool {
    loop {
        if !agent.tool.is_alive(thread.reference) {
            return true;
        }
        if begun.elapsed() > until {
            return false;
        }
        gate::wait_briefly();
    }
}

/// The threads that have not ended; an error if one must not be unwound.
fn left(agent: &Agent, control: &Control) -> Result<Vec<Left>, String> {
    let mut state = control.state();
    let mut threads = Vec::new();
    for number in 0..state.run.conductor.threads() {
        let thread = ThreadId(number as u32);
        let name = state.run.conductor.name(thread).to_owned();
        let Some(reference) = state.reference_of(thread).map(|reference| reference as jobject) else {
            continue;
        };
        if state.run.conductor.has_ended(thread) && !agent.tool.is_alive(reference) {
            continue;
        }
        let runs = state.run.conductor.running() == Some(thread) || state.run.conductor.has_ended(thread);
        if !runs && state.run.is_in_region(thread) {
            return Err(format!(
                "the thread {name:?} was loading or initializing a class when the run ended"
            ));
        }
        let activity = state.run.conductor.activity(thread);
        let waits = matches!(activity, Activity::Waits | Activity::WaitsForTime);
        threads.push(Left { name, gate: state.gate_of(thread), reference, runs, waits });
    }
    Ok(threads)
}
