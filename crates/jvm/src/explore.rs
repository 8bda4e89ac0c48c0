//! Executes harnesses repeatedly in one JVM, each time under another schedule.
//!
//! A few threads of the driver (the actors) take part in executions; the driver's class `fissure.object.Explorer` begins and ends them
//! (see [`driver`]). During an execution every access to memory that other threads may observe is a scheduling point (hook class
//! `FissureExplore`, see [`natives`]), at which a conductor chooses the next thread. It is the same conductor as for whole programs, but
//! it starts afresh with every execution and uses a strategy that enumerates all schedules. Between executions the actors are
//! not controlled.
//!
//! Threads that are started during an execution take part in it (see [`started`]). Its result is known when all actors have ended.
//!
//! An execution that takes too many steps is cut: its threads run freely to their end. The same happens to an execution in which
//! no thread can run; the driver then finds out whether its threads end.

mod classes;
pub(crate) mod driver;
pub(crate) mod natives;
pub(crate) mod started;

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use fissure_model::ids::{LocationId, LockId, SiteId, ThreadId};
use fissure_schedule::{
    conductor::{Arrival, Conductor, Decision, Limits},
    operation::Operation,
    strategy::{AcquireRole, GoalRole, Preemptions},
};
use jvmti_bindings::sys::jni::jfieldID;

pub(crate) use classes::transform;

use crate::{
    conducting::gate::Gate,
    iterations::unwinding,
    mutex::{Held, locked},
    vm::Jni,
};

/// The largest number of actors.
const MOST_ACTORS: usize = 16;
/// The largest number of threads of an execution: its actors, and threads that were started. Their numbers must be less than
/// [`natives::REGION`].
const MOST_THREADS: usize = 128;
/// The number of steps after which an execution is cut.
const STEPS: u64 = 20_000;
/// The seed from which threads draw the same random numbers in every execution.
const RANDOM_SEED: i64 = 0x2545_F491_4F6C_DD1D;

/// Executes harnesses.
pub(crate) struct Explorer {
    state: Mutex<Option<State>>,
    /// Executions take microseconds.
    gates: [Gate; MOST_THREADS],
}

impl Default for Explorer {
    fn default() -> Self {
        Self { state: Mutex::default(), gates: std::array::from_fn(|_| Gate::for_short_turns()) }
    }
}

impl std::fmt::Debug for Explorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Explorer")
    }
}

/// The harness that is being explored.
pub(crate) struct State {
    conductor: Conductor,
    /// The actors of the harness, and after them the threads that were started in this execution.
    actors: Vec<Actor>,
    /// The number of actors of the harness.
    harness: usize,
    /// The actor that ended last; it evaluates the result once the threads have ended that were started.
    evaluator: Option<usize>,
    /// The number of actors that are ready for the first execution.
    arrived: usize,
    /// The number of actors that have ended in this execution.
    ended: usize,
    end: End,
    /// Locks by the identity of their objects, in this execution.
    locks: FxHashMap<i32, LockId>,
    /// The calls of the harness: the number of the last step before the call, the actor and the call.
    calls: Vec<(u64, usize, u32)>,
    /// The calls during which no other thread runs, unless they wait for it.
    whole: Vec<u32>,
    /// The number of executions that were cut.
    cut: u64,
    has_strays: bool,
    /// The calls during which the threads of the last execution were started that were no actors of the harness.
    started_in: Vec<Option<u32>>,
    /// Threads of an execution did not end, so that there is no other execution.
    is_lost: bool,
    is_over: bool,
}

/// A thread that takes part.
struct Actor {
    /// A global reference to the thread's object.
    thread: usize,
    /// The actors that must have ended before this one begins.
    before: Vec<usize>,
    has_ended: bool,
    /// It may pass its gate and go on.
    may_run: bool,
    /// The execution is over, and the thread is unwound at its gate.
    is_left: bool,
    /// The identity of the thread's object, in whose monitor other threads wait for its end; 0 for an actor of the harness.
    identity: i32,
    /// The call during which it was started; unknown for an actor of the harness.
    call: Option<u32>,
    place: Place,
}

/// Where an actor is with respect to calls that are to be whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In no such call.
    Outside,
    /// Before the first step of such a call, where it may still be preempted.
    Before,
    /// After its first step.
    Inside,
}

impl Actor {
    fn new(thread: usize, before: Vec<usize>) -> Self {
        Actor {
            thread,
            before,
            has_ended: false,
            may_run: false,
            is_left: false,
            identity: 0,
            call: None,
            place: Place::Outside,
        }
    }
}

/// How the control of an execution ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Controlled,
    TooLong,
    Stuck,
}

/// The fields of a thread object that control it or determine its random numbers.
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

    /// Changes the state if the execution is controlled.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> Option<T> {
        self.state().as_mut().filter(|state| state.end == End::Controlled).map(change)
    }

    /// A scheduling point: lets the conductor choose a thread, and returns when this one may execute the operation.
    fn schedule(&self, jni: Jni, thread: ThreadId, operation: Operation, is_quiet: bool) {
        self.schedule_after(jni, thread, is_quiet, |_| operation);
    }

    /// The same for an operation that results from a change of the state.
    fn schedule_after(
        &self,
        jni: Jni,
        thread: ThreadId,
        is_quiet: bool,
        operation: impl FnOnce(&mut State) -> Operation,
    ) {
        let mut guard = self.state();
        let Some(state) = guard.as_mut().filter(|state| state.end == End::Controlled) else { return };
        let operation = operation(state);
        let stays = state.stays(thread.0 as usize);
        let arrival = Arrival {
            operation,
            is_quiet,
            stays,
            acquire_role: AcquireRole::default(),
            role: GoalRole::default(),
        };
        let decision = state.conductor.arrive(thread, arrival);
        if decision == Decision::Run(thread) {
            return;
        }
        state.follow(self, jni, decision);
        drop(guard);
        if self.wait(thread.0 as usize) && !is_quiet {
            unwinding::unwind();
        }
    }

    /// Waits until a thread may go on. Returns whether it is left over from an execution that has ended.
    fn wait(&self, actor: usize) -> bool {
        loop {
            self.gates[actor].pass();
            let mut guard = self.state();
            let Some(state) = guard.as_mut() else { return false };
            let Some(thread) = state.actors.get_mut(actor) else { return true };
            if thread.is_left {
                return true;
            }
            if state.is_over || std::mem::take(&mut thread.may_run) {
                return false;
            }
        }
    }
}

impl State {
    fn new(threads: Vec<usize>, before: Vec<Vec<usize>>, preemptions: u32, whole: Vec<u32>) -> Self {
        // The reduction of schedules looks at single accesses; a call that is whole conflicts if any of its accesses does.
        let strategy = match whole.is_empty() {
            true => Preemptions::new(preemptions),
            false => Preemptions::every_schedule(preemptions),
        };
        let mut conductor = Conductor::new(Box::new(strategy), 0, Limits { steps: STEPS, is_patient: false });
        let actors: Vec<Actor> =
            threads.into_iter().zip(before).map(|(thread, before)| Actor::new(thread, before)).collect();
        for number in 0..actors.len() {
            conductor.announce(&number.to_string(), false);
        }
        Self {
            conductor,
            harness: actors.len(),
            actors,
            evaluator: None,
            arrived: 0,
            ended: 0,
            end: End::Controlled,
            locks: FxHashMap::default(),
            calls: Vec::new(),
            whole,
            cut: 0,
            has_strays: false,
            started_in: Vec::new(),
            is_lost: false,
            is_over: false,
        }
    }

    /// Carries out a decision for all threads but the caller.
    fn follow(&mut self, explorer: &Explorer, jni: Jni, decision: Decision) {
        match (decision, self.evaluator) {
            (Decision::Run(thread), _) => self.let_go(explorer, thread.0 as usize),
            // The calls have returned; the thread that evaluates their results waits for those that they started.
            (Decision::Over | Decision::Stuck | Decision::TooLong, Some(evaluator)) => {
                self.let_go(explorer, evaluator);
            }
            (Decision::Unchanged | Decision::Over, _) => {}
            (Decision::Stuck, None) => self.set_free(explorer, jni, End::Stuck),
            (Decision::TooLong, None) => self.set_free(explorer, jni, End::TooLong),
        }
    }

    fn let_go(&mut self, explorer: &Explorer, actor: usize) {
        self.actors[actor].may_run = true;
        explorer.gates[actor].open();
    }

    /// Ends control for the rest of this execution: all threads run freely.
    fn set_free(&mut self, explorer: &Explorer, jni: Jni, end: End) {
        self.end = end;
        let fields = driver::thread_fields();
        for actor in 0..self.actors.len() {
            if !self.actors[actor].has_ended {
                jni.set_long(self.actors[actor].thread as _, fields.control, 0);
                self.let_go(explorer, actor);
            }
        }
    }

    /// Begins an execution. Returns the decision which thread runs first.
    fn begin(&mut self) -> Decision {
        self.ended = 0;
        self.evaluator = None;
        self.end = End::Controlled;
        self.locks.clear();
        self.calls.clear();
        self.started_in.clear();
        assert_eq!(self.actors.len(), self.harness, "threads of the last execution are left");
        for number in 0..self.harness {
            self.actors[number].has_ended = false;
            self.actors[number].may_run = false;
            self.actors[number].place = Place::Outside;
            if self.actors[number].before.is_empty() {
                self.conductor.prepare(ThreadId(number as u32));
            }
        }
        self.conductor.retry()
    }

    /// Records that an actor has ended; actors that waited for it may begin.
    fn note_end(&mut self, actor: usize) {
        self.actors[actor].has_ended = true;
        self.ended += 1;
        for number in 0..self.harness {
            let before = &self.actors[number].before;
            if before.contains(&actor) && before.iter().all(|&other| self.actors[other].has_ended) {
                self.conductor.prepare(ThreadId(number as u32));
            }
        }
    }

    /// Notes that an actor makes a call.
    fn note_call(&mut self, actor: usize, call: u32) {
        self.calls.push((self.conductor.trace().last(), actor, call));
        let is_whole = self.whole.contains(&call);
        self.actors[actor].place = if is_whole { Place::Before } else { Place::Outside };
    }

    /// Whether a thread is not preempted at the operation that it has reached.
    fn stays(&mut self, thread: usize) -> bool {
        let Some(actor) = self.actors.get_mut(thread) else { return false };
        let stays = actor.place == Place::Inside;
        if actor.place == Place::Before {
            actor.place = Place::Inside;
        }
        stays
    }

    /// Whether no other actor took a step during any of the calls that are to be whole: one that must wait cannot be whole.
    fn was_whole(&self) -> bool {
        let trace = self.conductor.trace();
        let steps: Vec<(u64, usize)> =
            trace.range(1, trace.last()).map(|(number, step)| (number, step.thread.0 as usize)).collect();
        let calls = self.calls.iter().enumerate().filter(|(_, (_, _, call))| self.whole.contains(call));
        calls.into_iter().all(|(at, &(begin, actor, _))| {
            let next = self.calls[at + 1..].iter().find(|(_, other, _)| *other == actor);
            let end = next.map_or(u64::MAX, |(step, _, _)| *step);
            let is_own =
                |(number, thread): &&(u64, usize)| *thread == actor && begin < *number && *number <= end;
            let (first, last) = (steps.iter().find(is_own), steps.iter().rfind(is_own));
            let Some((&(first, _), &(last, _))) = first.zip(last) else { return true };
            let is_between = |(number, thread): &(u64, usize)| {
                first < *number && *number < last && *thread != actor && *thread < self.harness
            };
            !steps.iter().any(is_between)
        })
    }

    fn lock(&mut self, identity: i32) -> LockId {
        let next = LockId(self.locks.len() as u32 + 1);
        *self.locks.entry(identity).or_insert(next)
    }
}

/// A location, by the identity of its object and the part of it; part 0 stands for the whole object.
fn location(object: i32, part: i32) -> LocationId {
    LocationId(u64::from(object.cast_unsigned()) << 32 | u64::from(part.cast_unsigned()))
}

fn access(object: i32, part: i32, site: i32, is_write: bool) -> Operation {
    Operation::Access { location: location(object, part), is_write, site: SiteId(site.cast_unsigned()) }
}
