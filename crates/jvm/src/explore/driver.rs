//! The native methods of the driver's class `fissure.object.Explorer`, which begins and ends executions. The JVM finds
//! them by their names.

use std::{fmt::Write, sync::OnceLock};

use fissure_model::{exploration::Progress, ids::ThreadId, interleaving::Action};
use fissure_schedule::{conductor::Decision, trace::TraceStep};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jobject};

use super::{End, Explorer, MOST_ACTORS, RANDOM_SEED, State, ThreadFields};
use crate::{
    agent::{Agent, guarded},
    mutex::locked,
    sites::Target,
    vm::Jni,
};

/// The answer to an actor: the exploration is over.
pub(crate) const OVER: jint = 0;
/// The actor's part of an execution begins.
pub(crate) const RUN: jint = 1;
/// The execution has ended, and this actor evaluates its result.
pub(crate) const LAST: jint = 2;
/// The same for an execution that was cut.
pub(crate) const LAST_OF_CUT: jint = 3;

struct Fields(ThreadFields);

// SAFETY: field ids are valid on all threads.
unsafe impl Send for Fields {}
// SAFETY: as above.
unsafe impl Sync for Fields {}

static FIELDS: OnceLock<Option<Fields>> = OnceLock::new();

/// The fields of `java.lang.Thread`.
pub(crate) fn thread_fields() -> ThreadFields {
    known_thread_fields().expect("an exploration is open only if the fields of threads were found")
}

/// The same; `None` if no exploration has been opened.
pub(super) fn known_thread_fields() -> Option<ThreadFields> {
    FIELDS.get().and_then(Option::as_ref).map(|fields| fields.0)
}

fn find_fields(jni: Jni) -> Option<Fields> {
    let class = jni.find_class(c"java/lang/Thread")?;
    Some(Fields(ThreadFields {
        control: jni.field(class, c"fissureControl", c"J")?,
        seed: jni.field(class, c"threadLocalRandomSeed", c"J")?,
        probe: jni.field(class, c"threadLocalRandomProbe", c"I")?,
        secondary: jni.field(class, c"threadLocalRandomSecondarySeed", c"I")?,
    }))
}

/// Runs the work of a native method.
fn exploring<T: Copy>(otherwise: T, work: impl FnOnce(&'static Agent, &'static Explorer) -> T) -> T {
    guarded(otherwise, |agent| {
        let explorer = agent.explorer.as_ref().expect("the driver explores only where the agent was told to");
        work(agent, explorer)
    })
}

/// The state of the exploration during which the driver makes a call.
fn open(state: &mut Option<State>) -> &mut State {
    state.as_mut().expect("the driver makes this call only between `open` and `close`")
}

/// Begins to explore a harness: these threads are its actors, and of each pair the first ends before the second begins.
#[unsafe(no_mangle)]
extern "system" fn Java_fissure_object_Explorer_open(
    environment: *mut JNIEnv,
    _class: jclass,
    threads: jobject,
    pairs: jobject,
    preemptions: jint,
    whole: jobject,
) -> jboolean {
    exploring(0, |_, explorer| {
        let jni = Jni::new(environment);
        if FIELDS.get_or_init(|| find_fields(jni)).is_none() {
            return 0;
        }
        let threads: Vec<usize> = (0..MOST_ACTORS)
            .map_while(|at| jni.element(threads, at))
            .map(|thread| jni.keep(thread) as usize)
            .collect();
        let mut before = vec![Vec::new(); threads.len()];
        for pair in jni.ints(pairs).chunks_exact(2) {
            let list =
                before.get_mut(pair[1] as usize).expect("calls are ordered between actors of the harness");
            list.push(pair[0] as usize);
        }
        let whole = jni.ints(whole).into_iter().map(i32::cast_unsigned).collect();
        *explorer.state() = Some(State::new(threads, before, preemptions.cast_unsigned(), whole));
        1
    })
}

/// An actor is ready for the first execution. Returns when its part begins.
#[unsafe(no_mangle)]
extern "system" fn Java_fissure_object_Explorer_begin(
    environment: *mut JNIEnv,
    _class: jclass,
    actor: jint,
) -> jint {
    exploring(OVER, |_, explorer| {
        let jni = Jni::new(environment);
        let mut guard = explorer.state();
        let state = open(&mut guard);
        state.arrived += 1;
        if state.arrived == state.harness {
            let decision = state.begin();
            state.follow(explorer, jni, decision);
        }
        drop(guard);
        wait(explorer, jni, actor as usize)
    })
}

/// An actor has ended its part. Returns when its part of the next execution begins, or at once if it was the last to end.
#[unsafe(no_mangle)]
extern "system" fn Java_fissure_object_Explorer_end(
    environment: *mut JNIEnv,
    _class: jclass,
    actor: jint,
) -> jint {
    exploring(OVER, |agent, explorer| {
        let jni = Jni::new(environment);
        let mut guard = explorer.state();
        let state = open(&mut guard);
        jni.set_long(state.actors[actor as usize].thread as jobject, thread_fields().control, 0);
        state.note_end(actor as usize);
        let is_last = state.ended == state.harness;
        let mut waits = !is_last;
        if is_last && state.actors[state.harness..].iter().any(|thread| !thread.has_ended) {
            state.conductor.finish();
        }
        if state.end == End::Controlled {
            let decision = state.conductor.end(ThreadId(actor.cast_unsigned()));
            if let (true, Decision::Run(_)) = (is_last, decision) {
                state.evaluator = Some(actor as usize);
                waits = true;
            }
            if waits {
                state.follow(explorer, jni, decision);
            }
        }
        drop(guard);
        if !is_last {
            return wait(explorer, jni, actor as usize);
        }
        if waits {
            explorer.wait(actor as usize);
        }
        let is_clean = explorer.clean_up(agent, jni);
        let mut guard = explorer.state();
        let state = open(&mut guard);
        state.is_lost = !is_clean;
        if state.end == End::Controlled { LAST } else { LAST_OF_CUT }
    })
}

/// The last actor has evaluated the result. Returns when its part of the next execution begins.
#[unsafe(no_mangle)]
extern "system" fn Java_fissure_object_Explorer_next(
    environment: *mut JNIEnv,
    _class: jclass,
    actor: jint,
    stops: jboolean,
) -> jint {
    exploring(OVER, |_, explorer| {
        let jni = Jni::new(environment);
        let mut guard = explorer.state();
        let state = open(&mut guard);
        if state.end != End::Controlled {
            state.cut += 1;
        }
        let goes_on = state.conductor.repeat();
        if stops != 0 || !goes_on || state.is_lost {
            state.is_over = true;
            (0..state.harness).filter(|&other| other != actor as usize).for_each(|other| {
                explorer.gates[other].open();
            });
            return OVER;
        }
        match state.begin() {
            Decision::Run(first) if first.0 == actor.cast_unsigned() => {
                enter(jni, state, actor as usize);
                return RUN;
            }
            decision => state.follow(explorer, jni, decision),
        }
        drop(guard);
        wait(explorer, jni, actor as usize)
    })
}

/// An actor is about to make a call of its sequence.
#[unsafe(no_mangle)]
extern "system" fn Java_fissure_object_Explorer_call(
    _environment: *mut JNIEnv,
    _class: jclass,
    actor: jint,
    call: jint,
) {
    exploring((), |_, explorer| {
        let mut guard = explorer.state();
        open(&mut guard).note_call(actor as usize, call.cast_unsigned());
    });
}

/// Whether the calls that were to be whole were, in the execution that has just ended.
#[unsafe(no_mangle)]
extern "system" fn Java_fissure_object_Explorer_wasWhole(
    _environment: *mut JNIEnv,
    _class: jclass,
) -> jboolean {
    exploring(0, |_, explorer| {
        let mut guard = explorer.state();
        jboolean::from(open(&mut guard).was_whole())
    })
}

/// The progress, as the numbers of [`Progress`].
#[unsafe(no_mangle)]
extern "system" fn Java_fissure_object_Explorer_explored(
    environment: *mut JNIEnv,
    _class: jclass,
    numbers: jobject,
) {
    exploring((), |_, explorer| {
        let mut guard = explorer.state();
        let state = open(&mut guard);
        let explored = state.conductor.strategy().explored();
        let explored = explored.expect("the strategy of an exploration counts its executions");
        let progress = Progress {
            executions: explored.executions,
            schedules: explored.schedules,
            complete: explored.complete,
            diverged: explored.diverged,
            cut: state.cut,
            has_strays: state.has_strays,
            is_stuck: state.end == End::Stuck,
        };
        Jni::new(environment).fill(numbers, &progress.to_numbers());
    });
}

/// The steps of the execution that has just ended, one per line: actor, call, action, site and target, separated by tabs.
#[unsafe(no_mangle)]
extern "system" fn Java_fissure_object_Explorer_interleaving(
    environment: *mut JNIEnv,
    _class: jclass,
) -> jobject {
    exploring(std::ptr::null_mut(), |agent, explorer| {
        let mut guard = explorer.state();
        let text = interleaving(agent, open(&mut guard));
        drop(guard);
        Jni::new(environment).string(&text)
    })
}

/// The exploration of the harness has ended.
#[unsafe(no_mangle)]
extern "system" fn Java_fissure_object_Explorer_close(environment: *mut JNIEnv, _class: jclass) {
    exploring((), |_, explorer| {
        let jni = Jni::new(environment);
        let state = explorer.state().take().expect("an exploration is closed once");
        for actor in state.actors {
            jni.release(actor.thread as jobject);
        }
    });
}

/// Waits until an actor's part begins.
fn wait(explorer: &Explorer, jni: Jni, actor: usize) -> jint {
    explorer.wait(actor);
    let mut guard = explorer.state();
    // The exploration may be closed before an actor learns that it is over.
    let Some(state) = guard.as_mut().filter(|state| !state.is_over) else { return OVER };
    enter(jni, state, actor);
    RUN
}

/// From here on the actor is controlled. It draws the same random numbers in each execution.
pub(super) fn enter(jni: Jni, state: &State, actor: usize) {
    let fields = thread_fields();
    let thread = state.actors[actor].thread as jobject;
    let number = actor as i64 + 1;
    jni.set_long(thread, fields.seed, RANDOM_SEED.wrapping_mul(number));
    jni.set_int(thread, fields.probe, number as i32);
    jni.set_int(thread, fields.secondary, number as i32);
    if state.end == End::Controlled {
        jni.set_long(thread, fields.control, number);
    }
}

fn interleaving(agent: &Agent, state: &State) -> String {
    let code = locked(&agent.code);
    let mut text = String::new();
    let trace = state.conductor.trace();
    for (number, step) in trace.range(1, trace.last()) {
        let actor = step.thread.0 as usize;
        let call = state.calls.iter().rev().find(|(at, who, _)| *who == actor && *at < number);
        let during = state.started_in.get(actor.wrapping_sub(state.harness)).copied().flatten();
        let Some(what) = action_name(&step) else { continue };
        let site = step.site.and_then(|site| code.sites.get(site.0));
        let at = site.map_or_else(String::new, |site| match site.line {
            Some(line) => format!("{}.{}:{line}", site.class, site.method),
            None => format!("{}.{}", site.class, site.method),
        });
        let target = match site.map(|site| &site.target) {
            Some(Target::Field { name, .. }) => name.to_string(),
            Some(Target::Method { class, name }) => {
                format!("{}.{name}", class.rsplit('/').next().unwrap_or_default())
            }
            _ => String::new(),
        };
        let call = call.map(|(_, _, call)| *call).or(during).map_or(-1, i64::from);
        let _ = writeln!(text, "{actor}\t{call}\t{what}\t{at}\t{target}");
    }
    text
}

fn action_name(step: &TraceStep) -> Option<&'static str> {
    Some(match step.action {
        Action::Read => "read",
        Action::Write => "write",
        Action::Acquire => "acquire",
        Action::Release => "release",
        Action::Wait => "wait",
        Action::Notify => "notify",
        Action::Park => "park",
        Action::Unpark => "unpark",
        _ => return None,
    })
}
