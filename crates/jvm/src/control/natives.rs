//! The native methods of the hook class `FissureControl`, and the begin and end events of threads.

use std::{
    ffi::{CStr, c_void},
    thread,
};

use fissure_model::{
    goal::Goal,
    ids::{LockId, SiteId, ThreadId},
    record::{Cause, VIRTUAL_THREADS},
};
use fissure_schedule::{
    conductor::{Activity, Arrival, Decision},
    operation::{Operation, Wake},
    pattern::{Atomic, BlockKind},
    strategy::{GoalRole, Target},
};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::{
    Control, LockName, State, contents, explanation,
    explanation::Caller,
    failure::{self, Thrown},
    gate, idle, interleavings, points,
    site_flags::{AGAIN, BETWEEN, BLOCK, EARLIER, LATER, LIBRARY, LIBRARY_BLOCK, QUIET, lock_role},
    watchdog,
};
use crate::{
    agent::{Agent, guarded},
    findings,
    mutex::Held,
    planted,
    vm::Jni,
};

/// How often a thread that has ended for the conductor is polled until it has ended for the JVM.
const MOST_END_CHECKS: u32 = 10_000;
/// The virtual time at which the conductor begins; before that the hook class returns less.
const BEGINNING: jlong = 2_000_000_000;

/// A time-out of this many nanoseconds, a century, never ends.
const FOR_EVER: u64 = 100 * 365 * 24 * 3_600 * 1_000_000_000;

/// Binds all other native methods. The JVM finds this one by its name.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_FissureControl_initialize(environment: *mut JNIEnv, class: jclass) {
    let jni = Jni::new(environment);
    guarded((), |agent| {
        let methods: &[(&CStr, &CStr, *mut c_void)] = &[
            (c"newLock", c"(Ljava/lang/Object;)I", new_lock as *mut c_void),
            (c"announce", c"(Ljava/lang/Thread;Ljava/lang/String;Z)J", announce as *mut c_void),
            (c"arrive", c"(Ljava/lang/String;)J", arrive as *mut c_void),
            (c"isOver", c"()Z", is_over as *mut c_void),
            (c"threadRuns", c"()V", thread_runs as *mut c_void),
            (c"hasEnded", c"(J)Z", has_ended as *mut c_void),
            (c"activity", c"(J)I", activity as *mut c_void),
            (c"stray", c"(Ljava/lang/Thread;)V", stray as *mut c_void),
            (c"started", c"(JJ)V", started as *mut c_void),
            (c"acquire", c"(JII)V", acquire as *mut c_void),
            (c"release", c"(JI)V", release as *mut c_void),
            (c"releasePlace", c"()J", release_place as *mut c_void),
            (c"giveBack", c"(JI)V", give_back as *mut c_void),
            (c"attempt", c"(JI)V", attempt as *mut c_void),
            (c"acquired", c"(JIZ)V", acquired as *mut c_void),
            (c"waitIn", c"(JLjava/lang/Object;IJJI)I", wait_in as *mut c_void),
            (c"wake", c"(JIZI)V", wake as *mut c_void),
            (c"pause", c"(JJI)I", pause as *mut c_void),
            (c"parks", c"(JJI)V", parks as *mut c_void),
            (c"permits", c"(JJ)V", permits as *mut c_void),
            (c"interrupts", c"(JJ)V", interrupts as *mut c_void),
            (c"offers", c"(JI)V", offers as *mut c_void),
            (c"looks", c"(JIZ)V", looks as *mut c_void),
            (c"enterBlock", c"(JI)V", enter_block as *mut c_void),
            (c"exitBlock", c"(J)V", exit_block as *mut c_void),
            (c"region", c"(JI)V", region as *mut c_void),
            (c"access", c"(JIII)V", points::access as *mut c_void),
            (c"holdsIn", c"(JIII)V", contents::holds as *mut c_void),
            (c"beginsCall", c"(JLjava/lang/Object;IZI)V", contents::begin as *mut c_void),
            (c"endsCall", c"(JI)V", contents::end as *mut c_void),
            (c"enterUnit", c"(JI)V", points::enter_unit as *mut c_void),
            (c"exitUnit", c"(JI)V", points::exit_unit as *mut c_void),
            (c"joins", c"(JJ)V", joins as *mut c_void),
            (c"handsOver", c"(JI)V", hands_over as *mut c_void),
            (c"takesOver", c"(JIZ)V", takes_over as *mut c_void),
            (
                c"throwing",
                c"(JLjava/lang/String;Ljava/lang/String;Ljava/lang/String;Z)V",
                throwing as *mut c_void,
            ),
            (c"exits", c"(JILjava/lang/String;)V", exits as *mut c_void),
            (c"exitRefused", c"(J)V", exit_refused as *mut c_void),
            (c"now", c"(J)J", now as *mut c_void),
            (c"tellsAllCalls", c"()Z", tells_all_calls as *mut c_void),
            (c"stopsAtVolatiles", c"()Z", stops_at_volatiles as *mut c_void),
        ];
        if !jni.register_natives(class, methods) {
            agent.fail("the native methods of the hook classes could not be bound");
        }
    });
}

/// Starts control: from here on the main thread is controlled.
pub(crate) fn begin(agent: &'static Agent, jni: Jni, main: jobject) {
    let Some(control) = &agent.control else { return };
    if !agent.begin(jni, c"java/lang/FissureControl", main) {
        agent.fail("the hook classes could not be started");
        return;
    }
    let watcher = thread::Builder::new().name("fissure-watchdog".to_owned());
    if watcher.spawn(|| guarded((), |_| watchdog::watch(control))).is_err() {
        agent.fail("the watchdog's thread could not be started");
    }
}

/// A thread begins; one that was announced waits for its turn.
pub(crate) fn begin_thread(agent: &'static Agent, jni: Jni, thread: jobject) {
    let Some(control) = &agent.control else { return };
    let Some(number) = number_of(jni, thread) else { return };
    let mut state = control.state();
    // The main thread runs before its begin event arrives.
    if state.thread(number).kernel_thread.is_some() {
        return;
    }
    state.thread(number).kernel_thread = Some(kernel_thread());
    let gate = state.gate(number);
    drop(state);
    gate.pass();
    drop(wait_for_thread_ends(agent, control, control.state()));
}

/// A thread ends.
pub(crate) fn end_thread(agent: &'static Agent, jni: Jni, thread: jobject) {
    let Some(control) = &agent.control else { return };
    let Some(number) = number_of(jni, thread) else { return };
    let mut state = control.state();
    if state.conductor.has_ended(number) {
        return;
    }
    let joined: Vec<LockId> =
        state.joined.iter().filter(|(joined, _)| *joined == number).map(|(_, lock)| *lock).collect();
    for lock in joined {
        state.conductor.notify(None, lock, true, SiteId(0));
    }
    state.thread(number).kernel_thread = None;
    state.dying.push(number);
    let decision = state.conductor.end(number);
    drop(control.follow(state, None, decision));
}

fn number_of(jni: Jni, thread: jobject) -> Option<ThreadId> {
    thread_id(jni.long_field(thread, c"fissureControl")?)
}

/// Java code identifies a thread by its number plus one; other values mean threads that are not controlled.
fn thread_id(number: jlong) -> Option<ThreadId> {
    u32::try_from(number).ok()?.checked_sub(1).map(ThreadId)
}

fn kernel_thread() -> i32 {
    // SAFETY: gettid has no preconditions.
    unsafe { libc::gettid() }
}

/// Runs a native method's work if the calling thread is controlled; returns `otherwise` if not.
pub(super) fn controlled<T: Copy>(
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
fn schedule<'a>(
    agent: &'static Agent,
    control: &'a Control,
    state: Held<'a, State>,
    thread: ThreadId,
    operation: Operation,
    flags: i32,
) -> Held<'a, State> {
    let role = match agent.goal() {
        Some(Goal::Accesses(_)) => interleavings::lock_role(&operation, flags),
        goal => lock_role(flags, goal, state.conductor.context(thread)),
    };
    schedule_with_role(agent, control, state, thread, operation, flags, role)
}

/// The same for an operation with a given role in the goal of the run.
pub(super) fn schedule_with_role<'a>(
    agent: &'static Agent,
    control: &'a Control,
    mut state: Held<'a, State>,
    thread: ThreadId,
    operation: Operation,
    flags: i32,
    role: GoalRole,
) -> Held<'a, State> {
    let is_quiet = flags & QUIET != 0 || state.thread(thread).regions > 0;
    let target = Target {
        is_again: flags & AGAIN != 0,
        is_between: flags & BETWEEN != 0,
        is_later: flags & LATER != 0,
        is_earlier: flags & EARLIER != 0,
    };
    let stays = contents::is_inside(&mut state, thread);
    let arrival = Arrival { operation, calm: is_quiet, stays, target, role };
    let decision = state.conductor.arrive(thread, arrival);
    if decision == Decision::Run(thread) {
        return state;
    }
    contents::was_preempted(&mut state, thread);
    let state = control.follow(state, Some(thread), decision);
    wait_for_thread_ends(agent, control, state)
}

/// Waits until threads that have ended for the conductor have ended for the JVM too, because the program can tell the difference.
fn wait_for_thread_ends<'a>(
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
        state.lose_control("a thread did not end in the JVM after its last operation");
    }
    state
}

extern "system" fn new_lock(environment: *mut JNIEnv, _class: jclass, lock: jobject) -> jint {
    guarded(0, |agent| {
        let Some(control) = &agent.control else { return 0 };
        let name = findings::kind_of_object(agent, Jni::new(environment), lock);
        let mut state = control.state();
        state.locks.push(LockName { name, number: None });
        state.locks.len() as i32 - 1
    })
}

extern "system" fn announce(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jobject,
    name: jobject,
    is_daemon: jboolean,
) -> jlong {
    guarded(-1, |agent| {
        let Some(control) = &agent.control else { return -1 };
        let jni = Jni::new(environment);
        planted::fault(jni);
        let name = jni.text(name);
        let reference = jni.keep(thread) as usize;
        let mut state = control.state();
        let number = state.conductor.announce(&name, is_daemon != 0);
        state.thread(number).reference = Some(reference);
        // The first thread is running already.
        if number.0 == 0 {
            state.conductor.adopt(number);
            state.thread(number).kernel_thread = Some(kernel_thread());
        }
        jlong::from(number.0) + 1
    })
}

extern "system" fn arrive(environment: *mut JNIEnv, _class: jclass, name: jobject) -> jlong {
    guarded(-1, |agent| {
        let Some(control) = &agent.control else { return -1 };
        let name = Jni::new(environment).text(name);
        let mut state = control.state();
        let number = state.conductor.announce(&name, false);
        state.thread(number).kernel_thread = Some(kernel_thread());
        drop(schedule(agent, control, state, number, Operation::Begin, 0));
        jlong::from(number.0) + 1
    })
}

extern "system" fn is_over(_environment: *mut JNIEnv, _class: jclass) -> jboolean {
    guarded(1, |agent| {
        agent.control.as_ref().map_or(1, |control| jboolean::from(!control.state().conductor.is_wanted()))
    })
}

extern "system" fn thread_runs(_environment: *mut JNIEnv, _class: jclass) {
    guarded((), |agent| {
        agent.counts.threads_in_scope.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
}

extern "system" fn has_ended(_environment: *mut JNIEnv, _class: jclass, thread: jlong) -> jboolean {
    controlled(0, thread, |_, control, thread| jboolean::from(control.state().conductor.has_ended(thread)))
}

/// The activity of a thread, for `Thread.getState`; the numbers are those of the hook class.
extern "system" fn activity(_environment: *mut JNIEnv, _class: jclass, thread: jlong) -> jint {
    controlled(0, thread, |_, control, thread| match control.state().conductor.activity(thread) {
        Activity::Unknown => 0,
        Activity::Runs => 1,
        Activity::Blocked => 2,
        Activity::Waits => 3,
        Activity::WaitsForTime => 4,
        Activity::Ended => 5,
    })
}

extern "system" fn stray(_environment: *mut JNIEnv, _class: jclass, _thread: jobject) {
    guarded((), |agent| {
        if let Some(control) = &agent.control {
            control.state().lose_control(VIRTUAL_THREADS);
        }
    });
}

extern "system" fn started(_environment: *mut JNIEnv, _class: jclass, parent: jlong, child: jlong) {
    guarded((), |agent| {
        let (Some(control), Some(child)) = (&agent.control, thread_id(child)) else { return };
        let parent = thread_id(parent);
        let mut state = control.state();
        let decision = state.conductor.start(child, parent);
        let state = control.follow(state, parent, decision);
        if parent.is_some() {
            drop(wait_for_thread_ends(agent, control, state));
        }
    });
}

extern "system" fn acquire(_environment: *mut JNIEnv, _class: jclass, thread: jlong, lock: jint, site: jint) {
    controlled((), thread, |agent, control, thread| {
        let flags = agent.offsets.get_i32(site as usize);
        let (lock, site) = (LockId(lock as u32), SiteId(site as u32));
        let mut state = control.state();
        let mut is_quiet = flags & QUIET != 0 || state.thread(thread).regions > 0;
        if !is_quiet && flags & LIBRARY != 0 {
            is_quiet = explanation::serves_the_jdk(agent, &mut state);
        }
        // Only the program's code enters such a block, so earlier calls of collections from its method have ended.
        if flags & BLOCK != 0 {
            contents::close_finished(agent, &mut state, thread);
        }
        let is_alone = state.conductor.is_alone(thread);
        if !is_quiet {
            state.name_lock(lock);
            if !is_alone {
                explanation::consider(agent, &mut state, thread, lock, site);
            }
        }
        let operation = Operation::Acquire { lock, site };
        let point_flags = if is_quiet { flags | QUIET } else { flags };
        let mut state = schedule(agent, control, state, thread, operation, point_flags);
        let atomic = match flags {
            _ if is_quiet => Atomic::No,
            flags if flags & BLOCK != 0 => Atomic::Yes,
            flags if flags & LIBRARY_BLOCK != 0 => Atomic::Unknown,
            _ => Atomic::No,
        };
        state.conductor.enter_block(thread, site, BlockKind::Monitor(lock), atomic);
        if !is_quiet {
            explanation::acquired(agent, &mut state, thread, lock, site, is_alone);
        }
    });
}

extern "system" fn release(_environment: *mut JNIEnv, _class: jclass, thread: jlong, lock: jint) {
    controlled((), thread, |_, control, thread| {
        control.state().conductor.release(thread, LockId(lock as u32));
    });
}

extern "system" fn release_place(_environment: *mut JNIEnv, _class: jclass) -> jlong {
    guarded(0, |agent| agent.control.as_ref().map_or(0, |control| control.releases.as_ptr() as jlong))
}

extern "system" fn give_back(_environment: *mut JNIEnv, _class: jclass, thread: jlong, lock: jint) {
    controlled((), thread, |_, control, thread| {
        control.state().conductor.give_back(thread, LockId(lock as u32));
    });
}

/// A thread is about to attempt to acquire a lock of `java.util.concurrent`, or (without a lock) to do something else that other
/// threads can observe.
extern "system" fn attempt(_environment: *mut JNIEnv, _class: jclass, thread: jlong, lock: jint) {
    controlled((), thread, |agent, control, thread| {
        let Caller { site, is_internal } = explanation::caller_of_library(agent);
        let flags = agent.offsets.get_i32(site.0 as usize);
        let mut state = control.state();
        let is_quiet = flags & QUIET != 0 || state.thread(thread).regions > 0;
        let operation = match u32::try_from(lock).map(LockId) {
            Ok(lock) => {
                if is_internal {
                    state.conductor.mark_internal(lock);
                }
                if !is_quiet {
                    state.name_lock(lock);
                    if !is_internal && !state.conductor.is_alone(thread) {
                        explanation::consider(agent, &mut state, thread, lock, site);
                    }
                }
                state.thread(thread).attempt_site = site;
                Operation::Attempt { lock, site }
            }
            Err(_) => Operation::Step { site },
        };
        drop(schedule(agent, control, state, thread, operation, flags));
    });
}

extern "system" fn acquired(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    lock: jint,
    is_shared: jboolean,
) {
    controlled((), thread, |agent, control, thread| {
        let lock = LockId(lock as u32);
        let mut state = control.state();
        let site = state.thread(thread).attempt_site;
        state.conductor.acquired(thread, lock, site, is_shared != 0);
        let is_quiet = agent.offsets.get_i32(site.0 as usize) & QUIET != 0;
        if !is_quiet && !state.conductor.is_internal(lock) {
            let is_alone = state.conductor.is_alone(thread);
            explanation::acquired(agent, &mut state, thread, lock, site, is_alone);
        }
    });
}

extern "system" fn wait_in(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    object: jobject,
    lock: jint,
    joined: jlong,
    nanos: jlong,
    site: jint,
) -> jint {
    controlled(0, thread, |agent, control, thread| {
        let jni = Jni::new(environment);
        let (lock, site) = (LockId(lock as u32), SiteId(site as u32));
        let mut state = control.state();
        let until = deadline(&mut state, nanos);
        if let Some(joined) = thread_id(joined)
            && !state.joined.contains(&(joined, lock))
        {
            state.joined.push((joined, lock));
        }
        let flags = agent.offsets.get_i32(site.0 as usize);
        if flags & QUIET == 0 {
            explanation::waits(agent, &mut state, thread, lock, site);
        }
        let mut operation = state.conductor.wait(thread, lock, until, site);
        // This thread still has the token, so others can enter the monitor only after it has reached the scheduling point below.
        drop(state);
        let left = jni.leave_all(object);
        let mut state = control.state();
        // The conductor does not see monitors entered by classes that are not rewritten.
        if let Operation::Resume { count, .. } = &mut operation
            && *count != 0
            && *count != left
        {
            state.lose_control("a monitor was entered a different number of times than Fissure had recorded");
            *count = left;
        }
        let mut state = schedule(agent, control, state, thread, operation, flags & AGAIN);
        let wake = state.conductor.take_wake(thread);
        drop(state);
        for _ in 0..left {
            jni.enter(object);
        }
        wake_code(wake)
    })
}

extern "system" fn wake(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    lock: jint,
    all: jboolean,
    site: jint,
) {
    guarded((), |agent| {
        let Some(control) = &agent.control else { return };
        let mut state = control.state();
        let thread = thread_id(thread);
        let is_quiet = agent.offsets.get_i32(site as usize) & QUIET != 0;
        let recorded = thread.filter(|_| !is_quiet);
        let woken = state.conductor.notify(recorded, LockId(lock as u32), all != 0, SiteId(site as u32));
        if thread.is_none() && woken {
            control.outside(state);
        }
    });
}

extern "system" fn pause(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    nanos: jlong,
    site: jint,
) -> jint {
    controlled(0, thread, |agent, control, thread| {
        let site = SiteId(site as u32);
        let mut state = control.state();
        let operation = match deadline(&mut state, nanos) {
            Some(until) => Operation::Sleep { until, site },
            None => Operation::Yield { site },
        };
        let mut state = schedule(agent, control, state, thread, operation, 0);
        wake_code(state.conductor.take_wake(thread))
    })
}

extern "system" fn parks(_environment: *mut JNIEnv, _class: jclass, thread: jlong, nanos: jlong, site: jint) {
    controlled((), thread, |agent, control, thread| {
        // A wait without a time-out does not depend on the virtual time.
        let is_idle = nanos >= 0 && idle::is_worker_without_work(agent);
        let mut state = control.state();
        if is_idle {
            state.conductor.idles(thread);
        }
        let until = deadline(&mut state, nanos);
        let operation = Operation::Park { until, site: SiteId(site as u32) };
        let mut state = schedule(agent, control, state, thread, operation, 0);
        state.conductor.take_wake(thread);
    });
}

extern "system" fn permits(_environment: *mut JNIEnv, _class: jclass, thread: jlong, parked: jlong) {
    guarded((), |agent| {
        let (Some(control), Some(parked)) = (&agent.control, thread_id(parked)) else { return };
        let mut state = control.state();
        let thread = thread_id(thread);
        state.conductor.unpark(thread, parked);
        if thread.is_none() {
            control.outside(state);
        }
    });
}

extern "system" fn interrupts(_environment: *mut JNIEnv, _class: jclass, thread: jlong, interrupted: jlong) {
    guarded((), |agent| {
        let (Some(control), Some(interrupted)) = (&agent.control, thread_id(interrupted)) else { return };
        let mut state = control.state();
        let thread = thread_id(thread);
        state.conductor.interrupt(thread, interrupted);
        if thread.is_none() {
            control.outside(state);
        }
    });
}

/// The thread yields.
extern "system" fn offers(_environment: *mut JNIEnv, _class: jclass, thread: jlong, site: jint) {
    controlled((), thread, |agent, control, thread| {
        let state = control.state();
        drop(schedule(agent, control, state, thread, Operation::Yield { site: SiteId(site as u32) }, 0));
    });
}

/// The thread reads something that others may change; `stops` makes this a scheduling point.
extern "system" fn looks(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    site: jint,
    stops: jboolean,
) {
    controlled((), thread, |agent, control, thread| {
        let site = SiteId(site as u32);
        // Atomics do not know the site that uses them, but reports need it. For the detection of spinning, all count as one site.
        let reported_site =
            if stops != 0 && site.0 == 0 { explanation::caller_of_library(agent).site } else { site };
        let mut state = control.state();
        let operation = if state.conductor.spins(thread, site) {
            Operation::Yield { site }
        } else if stops != 0 {
            Operation::Step { site: reported_site }
        } else {
            return;
        };
        drop(schedule(agent, control, state, thread, operation, 0));
    });
}

extern "system" fn enter_block(_environment: *mut JNIEnv, _class: jclass, thread: jlong, site: jint) {
    controlled((), thread, |_, control, thread| {
        let site = SiteId(site as u32);
        control.state().conductor.enter_block(thread, site, BlockKind::Method, Atomic::Yes);
    });
}

extern "system" fn exit_block(_environment: *mut JNIEnv, _class: jclass, thread: jlong) {
    controlled((), thread, |_, control, thread| control.state().conductor.exit_block(thread));
}

extern "system" fn region(_environment: *mut JNIEnv, _class: jclass, thread: jlong, change: jint) {
    controlled((), thread, |_, control, thread| {
        let mut state = control.state();
        let regions = &mut state.thread(thread).regions;
        *regions = regions.saturating_add_signed(change);
    });
}

extern "system" fn joins(_environment: *mut JNIEnv, _class: jclass, thread: jlong, ended: jlong) {
    controlled((), thread, |_, control, thread| {
        if let Some(ended) = thread_id(ended) {
            control.state().conductor.joined(thread, ended);
        }
    });
}

extern "system" fn hands_over(_environment: *mut JNIEnv, _class: jclass, thread: jlong, place: jint) {
    controlled((), thread, |_, control, thread| {
        control.state().conductor.hands_over(thread, place as u64);
    });
}

extern "system" fn takes_over(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    place: jint,
    waits: jboolean,
) {
    controlled((), thread, |_, control, thread| {
        control.state().conductor.takes_over(thread, place as u64, waits != 0);
    });
}

extern "system" fn throwing(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    exception: jobject,
    message: jobject,
    stack: jobject,
    is_test: jboolean,
) {
    controlled((), thread, |agent, control, thread| {
        let jni = Jni::new(environment);
        let [class, message, stack] = [exception, message, stack].map(|text| jni.text(text));
        let mut state = control.state();
        let thrown =
            Thrown { cause: Cause::Exception { class, message }, stack: &stack, is_test: is_test != 0 };
        failure::failed(agent, &mut state, thread, thrown);
    });
}

/// The thread is about to end the program with an exit code that means failure.
extern "system" fn exits(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jlong,
    status: jint,
    stack: jobject,
) {
    controlled((), thread, |agent, control, thread| {
        let stack = Jni::new(environment).text(stack);
        let mut state = control.state();
        let thrown = Thrown { cause: Cause::Exit { code: status }, stack: &stack, is_test: false };
        failure::failed(agent, &mut state, thread, thrown);
    });
}

/// A security manager refused the exit, so the program goes on.
extern "system" fn exit_refused(_environment: *mut JNIEnv, _class: jclass, thread: jlong) {
    controlled((), thread, |_, control, thread| {
        let mut state = control.state();
        let name = state.conductor.name(thread).to_owned();
        state.explanation.retract_exit(&name);
    });
}

extern "system" fn now(_environment: *mut JNIEnv, _class: jclass, thread: jlong) -> jlong {
    guarded(0, |agent| {
        let Some(control) = &agent.control else { return 0 };
        let mut state = control.state();
        // The number of clock reads by the JVM, in its own threads or during class loading, may differ from run to run.
        let is_calm = thread_id(thread).is_none_or(|thread| state.thread(thread).regions > 0);
        BEGINNING + state.conductor.now(is_calm) as jlong
    })
}

/// Whether all calls of collections are reported, and not only those of collections that a field was seen to hold.
extern "system" fn tells_all_calls(_environment: *mut JNIEnv, _class: jclass) -> jboolean {
    guarded(0, |agent| jboolean::from(interleavings::are_wanted(agent)))
}

extern "system" fn stops_at_volatiles(_environment: *mut JNIEnv, _class: jclass) -> jboolean {
    guarded(0, |agent| jboolean::from(agent.settings.control().is_some_and(|control| control.volatiles)))
}

/// The virtual time after so many nanoseconds; `None` if the number is negative or longer than a century, which means no time-out.
fn deadline(state: &mut State, nanos: jlong) -> Option<u64> {
    u64::try_from(nanos)
        .ok()
        .filter(|nanos| *nanos < FOR_EVER)
        .map(|nanos| state.conductor.now(false).saturating_add(nanos))
}

fn wake_code(wake: Wake) -> jint {
    match wake {
        Wake::Called => 0,
        Wake::TimedOut => 1,
        Wake::Interrupted => 2,
    }
}
