//! The operations of the program's threads, which the hook class `FissureControl` reports.

mod accesses;
mod conducted;
mod failures;
mod input;
mod locks;
mod reads;
mod threads;

use fissure_control::flags::LIBRARY;
use fissure_model::ids::ThreadId;
use fissure_schedule::{
    conductor::Decision,
    operation::{Operation, Wake},
};

pub(super) use input::Descriptors;
#[cfg(test)]
pub(crate) use input::{ERRORS, IS_INTERRUPTED, UNINTERRUPTIBLE};
#[cfg(test)]
pub(crate) use threads::activity_code;
pub(crate) use threads::{begin, begin_thread, begin_watching, end_thread, kernel_thread};

use super::{Control, State, callers};
use crate::{agent::Agent, mutex::Held};
use threads::wait_for_thread_ends;

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

/// Why the wait of a thread that goes on has ended.
fn take_wake(agent: &Agent, state: &mut State, thread: ThreadId) -> Wake {
    state.run.conductor.take_wake(thread).unwrap_or_else(|| {
        // After a failure of the agent nothing holds threads back.
        assert!(agent.is_broken(), "thread {} goes on although nothing has ended its wait", thread.0);
        Wake::Called
    })
}

/// Whether a thread is not preempted at a site with these flags, and the lock there is not relevant.
#[inline]
fn is_quiet(agent: &Agent, state: &mut State, thread: ThreadId, flags: i32) -> bool {
    state.run.is_quiet(thread, flags) || flags & LIBRARY != 0 && callers::serves_the_jdk(agent, state)
}
