//! Executes harnesses again and again, each time under another schedule, in one JVM.
//!
//! A few threads of the driver take part in executions (the driver's class `fissure.object.Explorer` says when, see [`driver`]). While
//! they do, they stop before every access to memory that others may notice (hook class `FissureExplore`, see [`natives`]), and
//! a conductor decides who goes on. It is the same conductor that whole programs are controlled by, but it begins anew with every
//! execution, and a strategy that knows all schedules decides. Between executions the threads are like any others.
//!
//! An execution that takes too long is cut: its threads are set free and run to their end as they like. So is one in which nobody
//! can go on, and whether its threads end is then for the driver to see.

mod classes;
mod driver;
mod gate;
pub(crate) mod natives;

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use fissure_model::ids::{LocationId, LockId, SiteId, ThreadId};
use fissure_schedule::{
    conductor::{Arrival, Conductor, Decision, Limits},
    operation::Operation,
    strategy::{GoalRole, Preemptions, Target},
};
use jvmti_bindings::sys::jni::jfieldID;

pub(crate) use classes::transform;

use crate::{
    mutex::{Held, locked},
    vm::Jni,
};
use gate::Gate;

/// How many threads may take part.
const MOST_ACTORS: usize = 16;
/// After so many steps an execution is cut.
const STEPS: u64 = 20_000;
/// What makes threads draw the same random numbers in every execution.
const RANDOM_SEED: i64 = 0x2545_F491_4F6C_DD1D;

/// What executes harnesses.
#[derive(Default)]
pub(crate) struct Explorer {
    state: Mutex<Option<State>>,
    gates: [Gate; MOST_ACTORS],
}

impl std::fmt::Debug for Explorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Explorer")
    }
}

/// One harness that is explored.
pub(crate) struct State {
    conductor: Conductor,
    actors: Vec<Actor>,
    /// How many threads have come for the first execution.
    arrived: usize,
    /// How many have come to their end in this one.
    ended: usize,
    end: End,
    /// Locks by the identity of their objects, in this execution.
    locks: FxHashMap<i32, LockId>,
    /// Which steps came before each call: the number of the last step, the actor and the call.
    calls: Vec<(u64, usize, u32)>,
    /// Executions that were cut.
    cut: u64,
    has_strays: bool,
    is_over: bool,
}

/// A thread that takes part.
struct Actor {
    /// A global reference to the thread's object.
    thread: usize,
    /// Those that must have ended before this one begins.
    before: Vec<usize>,
    has_ended: bool,
    /// It may go on with what it waits for at its gate.
    goes: bool,
}

/// Whether an execution is under control to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Controlled,
    TooLong,
    Stuck,
}

/// What decides about a thread, in its object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadFields {
    control: jfieldID,
    seed: jfieldID,
    probe: jfieldID,
    secondary: jfieldID,
}

impl Explorer {
    fn state(&self) -> Held<'_, Option<State>> {
        locked(&self.state)
    }

    /// Does something to the conductor while threads are controlled.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> Option<T> {
        self.state().as_mut().filter(|state| state.end == End::Controlled).map(change)
    }

    /// A thread stops before an operation; returns when it may be done.
    fn stop(&self, jni: Jni, thread: ThreadId, operation: Operation, calm: bool) {
        self.stop_after(jni, thread, calm, |_| operation);
    }

    /// The same, for an operation that follows from something done to the conductor.
    fn stop_after(
        &self,
        jni: Jni,
        thread: ThreadId,
        calm: bool,
        operation: impl FnOnce(&mut State) -> Operation,
    ) {
        let mut guard = self.state();
        let Some(state) = guard.as_mut().filter(|state| state.end == End::Controlled) else { return };
        let operation = operation(state);
        let arrival =
            Arrival { operation, calm, stays: false, target: Target::default(), role: GoalRole::default() };
        let decision = state.conductor.arrive(thread, arrival);
        if decision == Decision::Run(thread) {
            return;
        }
        state.follow(self, jni, decision);
        drop(guard);
        self.wait(thread.0 as usize);
    }

    /// Waits until a thread may go on.
    fn wait(&self, actor: usize) {
        loop {
            self.gates[actor].pass();
            let mut guard = self.state();
            let Some(state) = guard.as_mut() else { return };
            if state.is_over || std::mem::take(&mut state.actors[actor].goes) {
                return;
            }
        }
    }
}

impl State {
    fn new(threads: Vec<usize>, before: Vec<Vec<usize>>, preemptions: u32) -> Self {
        let mut conductor =
            Conductor::new(Box::new(Preemptions::new(preemptions)), 0, Limits { steps: STEPS });
        let actors: Vec<Actor> = threads
            .into_iter()
            .zip(before)
            .map(|(thread, before)| Actor { thread, before, has_ended: false, goes: false })
            .collect();
        for number in 0..actors.len() {
            conductor.announce(&number.to_string(), false);
        }
        Self {
            conductor,
            actors,
            arrived: 0,
            ended: 0,
            end: End::Controlled,
            locks: FxHashMap::default(),
            calls: Vec::new(),
            cut: 0,
            has_strays: false,
            is_over: false,
        }
    }

    /// Makes a decision true, but for the one who asks.
    fn follow(&mut self, explorer: &Explorer, jni: Jni, decision: Decision) {
        match decision {
            Decision::Run(thread) => self.let_go(explorer, thread.0 as usize),
            Decision::Unchanged | Decision::Over => {}
            Decision::Stuck => self.set_free(explorer, jni, End::Stuck),
            Decision::TooLong => self.set_free(explorer, jni, End::TooLong),
        }
    }

    fn let_go(&mut self, explorer: &Explorer, actor: usize) {
        if let Some(state) = self.actors.get_mut(actor) {
            state.goes = true;
            explorer.gates[actor].open();
        }
    }

    /// Nobody is controlled any more in this execution.
    fn set_free(&mut self, explorer: &Explorer, jni: Jni, end: End) {
        self.end = end;
        let fields = driver::thread_fields();
        for actor in 0..self.actors.len() {
            if !self.actors[actor].has_ended {
                if let Some(fields) = fields {
                    jni.set_long(self.actors[actor].thread as _, fields.control, 0);
                }
                self.let_go(explorer, actor);
            }
        }
    }

    /// Begins an execution. Says who runs first.
    fn begin(&mut self) -> Decision {
        self.ended = 0;
        self.end = End::Controlled;
        self.locks.clear();
        self.calls.clear();
        for number in 0..self.actors.len() {
            self.actors[number].has_ended = false;
            self.actors[number].goes = false;
            if self.actors[number].before.is_empty() {
                self.conductor.prepare(ThreadId(number as u32));
            }
        }
        self.conductor.retry()
    }

    /// An actor has come to its end. Those may begin now that waited for it.
    fn note_end(&mut self, actor: usize) {
        self.actors[actor].has_ended = true;
        self.ended += 1;
        for number in 0..self.actors.len() {
            let before = &self.actors[number].before;
            if before.contains(&actor) && before.iter().all(|&other| self.actors[other].has_ended) {
                self.conductor.prepare(ThreadId(number as u32));
            }
        }
    }

    fn lock(&mut self, identity: i32) -> LockId {
        let next = LockId(self.locks.len() as u32 + 1);
        *self.locks.entry(identity).or_insert(next)
    }
}

/// A location by the identity of its object and what part of that it is; 0 stands for any part.
fn location(object: i32, part: i32) -> LocationId {
    LocationId(u64::from(object.cast_unsigned()) << 32 | u64::from(part.cast_unsigned()))
}

fn access(object: i32, part: i32, site: i32, is_write: bool) -> Operation {
    Operation::Access { location: location(object, part), is_write, site: SiteId(site.cast_unsigned()) }
}
