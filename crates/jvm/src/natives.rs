//! The native methods of the hook class `FissureEngine`.
//!
//! Their arguments are plain numbers, so it does not matter on which carrier a virtual thread runs.

use std::{
    ffi::{CStr, c_void},
    sync::atomic::Ordering,
};

use fissure_analysis::{
    lockset::{Access, Machine},
    order::{Acquire, Release, Segment, Source},
    word::{STATE_SHIFT, State, Word},
};
use fissure_model::{
    event::AccessKind,
    ids::ThreadId,
    record::{Cause, Failure, Record},
    settings::{Analysis, Order, Refinement},
};
use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use crate::{
    agent::{Agent, guarded},
    blocks::{self, Log},
    conducting::natives::Native,
    control::failure,
    findings, handles,
    monitor::{self, Watcher},
    mutex::locked,
    planted,
    registry::{Member, Resolved},
    sites::Target,
    stacks, tested,
    vm::Jni,
};

/// The largest number of exceptions that are reported.
const MOST_FAILURES: u64 = 100;

/// Thread, class, message and stack.
const FAILED: &CStr = c"(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Z)V";

/// The entry of the table of offsets for sites without a shadow word.
pub(crate) const UNWATCHED: i32 = -1;

/// The constants that the hook class gets from the agent when it is initialized, in this order.
pub(crate) const CONSTANTS: [&str; 16] = [
    "TABLE",
    "CELLS",
    "COUNTERS",
    "REFINE",
    "HAPPENS_BEFORE",
    "FLAGS",
    "HITS",
    "RE_ENTRANT",
    "PROTECTED",
    "COMPARE_AND_SET",
    "MONITOR",
    "MONITORS_LOCKS",
    "SYNCHRONIZATION",
    "OWNERS",
    "EXACT",
    "ATOMIZER",
];

/// How many releases and acquires of a thread divide its execution without exception. Full happens-before is asked for by those who
/// want to know exactly; by default the cost must stay bounded.
pub(crate) fn exact_boundaries(order: Order) -> u32 {
    if order == Order::HappensBefore { 4096 } else { 256 }
}

/// Binds all other native methods. The JVM finds this one by its name.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_FissureEngine_initialize(environment: *mut JNIEnv, class: jclass) {
    let jni = Jni::new(environment);
    guarded((), |agent| {
        let methods = natives();
        if !jni.register_natives(class, &methods) {
            agent.fail("the native methods of the hook classes could not be bound");
        }
        agent.engine.store(jni.keep(class) as usize, Ordering::Release);
    });
}

/// All native methods of `FissureEngine` but the one that binds them.
pub(crate) fn natives() -> Vec<Native> {
    vec![
        (c"constants", c"([J)V", constants as *mut c_void),
        (c"resolve", c"(ILjava/lang/Object;)I", resolve as *mut c_void),
        (c"resolveStatic", c"(I)I", resolve_static as *mut c_void),
        (c"classify", c"(I)Z", classify as *mut c_void),
        (c"shadows", c"(Ljava/lang/Class;)[I", shadows as *mut c_void),
        (c"siteOf", c"(ILjava/lang/Class;JLjava/lang/Class;Z)I", handles::site_of as *mut c_void),
        (c"step", c"(JIIIIZLjava/lang/Object;)J", step as *mut c_void),
        (c"isRacy", c"(JIIZ)Z", is_racy as *mut c_void),
        (c"stepLock", c"(JIIZI)J", step_lock as *mut c_void),
        (c"blockEnded", c"(II[I[J[Ljava/lang/Object;[J[I)I", block_ended as *mut c_void),
        (c"blockRan", c"(I)V", block_ran as *mut c_void),
        (c"sampleBlock", c"(J)V", sample_block as *mut c_void),
        (c"addLock", c"(II)I", add_lock as *mut c_void),
        (c"intersect", c"(II)I", intersect as *mut c_void),
        (c"newLock", c"(Ljava/lang/Object;)I", new_lock as *mut c_void),
        (c"startThread", c"(ILjava/lang/Thread;Ljava/lang/String;)J", start_thread as *mut c_void),
        (c"joinThread", c"(II)I", join_thread as *mut c_void),
        (c"threadRuns", c"()Z", thread_runs as *mut c_void),
        (c"segmentOf", c"(I)I", segment_of as *mut c_void),
        (c"spanOf", c"(I)I", span_of as *mut c_void),
        (c"release", c"(IIZZ)J", release as *mut c_void),
        (c"acquire", c"(IIIZZ)I", acquire as *mut c_void),
        (c"forget", c"(I)V", forget as *mut c_void),
        (c"isCalledFromOutside", c"()Z", is_called_from_outside as *mut c_void),
        (c"newSource", c"(Ljava/lang/String;)I", new_source as *mut c_void),
        (c"sample", c"(II)V", sample as *mut c_void),
        (c"monitorEvent", c"(IIIIZZLjava/lang/Object;[Ljava/lang/Object;[I)V", monitor::event as *mut c_void),
        (c"arrayTooLarge", c"()V", array_too_large as *mut c_void),
        (c"outOfMemory", c"()V", out_of_memory as *mut c_void),
        (c"failed", FAILED, failed as *mut c_void),
    ]
}

extern "system" fn constants(environment: *mut JNIEnv, _class: jclass, out: jobject) {
    guarded((), |agent| {
        let refine = agent.settings.detect().is_some_and(|detect| detect.analysis == Analysis::Racer);
        let atomizer = agent.settings.atomizer();
        let has = |rule| atomizer.is_some_and(|settings| !settings.without.contains(&rule));
        let values: [i64; CONSTANTS.len()] = [
            agent.offsets.address() as i64,
            agent.cells.address() as i64,
            agent.counters.address() as i64,
            i64::from(refine),
            i64::from(agent.settings.order() == Order::HappensBefore),
            agent.flags.address() as i64,
            agent.hits.address() as i64,
            i64::from(has(Refinement::ReEntrant)),
            i64::from(has(Refinement::ProtectedLock)),
            i64::from(has(Refinement::CompareAndSet)),
            i64::from(agent.monitor.is_some()),
            i64::from(agent.monitor.as_ref().is_some_and(Watcher::needs_locks)),
            i64::from(agent.settings.order().has_synchronization()),
            agent.owners.address() as i64,
            i64::from(exact_boundaries(agent.settings.order())),
            i64::from(atomizer.is_some()),
        ];
        Jni::new(environment).fill(out, &values);
    });
}

extern "system" fn resolve(environment: *mut JNIEnv, _class: jclass, site: jint, object: jobject) -> jint {
    guarded(UNWATCHED, |agent| {
        let offset = shadow_offset(agent, Jni::new(environment), site as u32, object).unwrap_or(UNWATCHED);
        if agent.settings.order().has_synchronization() {
            blocks::classify(agent, site as u32);
        }
        agent.offsets.set_i32(site as usize, offset);
        offset
    })
}

/// The offset, in `object`, of the shadow word for the field that a site accesses.
fn shadow_offset(agent: &Agent, jni: Jni, site: u32, object: jobject) -> Option<i32> {
    let (number, declaring, name, descriptor, shadow) = {
        let code = locked(&agent.code);
        let site = code.sites.get(site)?;
        let Target::Field { class, name, descriptor } = &site.target else { return None };
        let in_scope = |class: &str| agent.scope.covers(&class.replace('/', "."));
        match code.registry.resolve(site.loader, class, name, descriptor, in_scope) {
            Resolved::Known(_, Member::Shadowed { offset: Some(offset), .. }) => return Some(offset),
            Resolved::Known(number, Member::Shadowed { descriptor: shadow, offset: None }) => {
                (number, code.registry.class(number).name.clone(), name.clone(), descriptor.clone(), shadow)
            }
            _ => return None,
        }
    };
    let mut class = jni.class_of(object);
    while agent.tool.class_name(class)? != declaring {
        class = jni.superclass(class)?;
    }
    let offset = offset_of(agent, jni, class, &name, shadow)?;
    locked(&agent.code).registry.set_offset(number, &name, &descriptor, offset);
    Some(offset)
}

/// The offset of a shadow field that a class declares.
fn offset_of(agent: &Agent, jni: Jni, class: jclass, name: &str, shadow: &str) -> Option<i32> {
    let field = jni.reflected_field(class, name, shadow)?;
    let engine = agent.engine.load(Ordering::Acquire) as jclass;
    let offset = jni.long_from(engine, c"offset", c"(Ljava/lang/reflect/Field;)J", field)?;
    jni.forget(field);
    i32::try_from(offset).ok().filter(|&offset| offset > 0)
}

/// The offsets of all shadow fields in the objects of a class, those of its superclasses included.
extern "system" fn shadows(environment: *mut JNIEnv, _class: jclass, of: jclass) -> jobject {
    let jni = Jni::new(environment);
    let offsets = guarded(Vec::new(), |agent| {
        let mut offsets = Vec::new();
        let mut class = Some(of);
        while let Some(this) = class {
            let loader = agent.tool.class_loader(this).filter(|loader| !loader.is_null());
            let loader = loader.map_or(0, |loader| agent.object_number(loader));
            let name = agent.tool.class_name(this).unwrap_or_default();
            let shadowed = locked(&agent.code).registry.shadowed(loader, &name);
            offsets.extend(
                shadowed.iter().filter_map(|(field, shadow)| offset_of(agent, jni, this, field, shadow)),
            );
            class = jni.superclass(this);
        }
        offsets
    });
    jni.int_array(&offsets)
}

extern "system" fn resolve_static(_environment: *mut JNIEnv, _class: jclass, site: jint) -> jint {
    guarded(UNWATCHED, |agent| {
        let mut code = locked(&agent.code);
        let Some(info) = code.sites.get(site as u32).cloned() else { return UNWATCHED };
        let Target::Field { class, name, descriptor } = &info.target else { return UNWATCHED };
        let in_scope = |class: &str| agent.scope.covers(&class.replace('/', "."));
        let cell = match code.registry.resolve(info.loader, class, name, descriptor, in_scope) {
            Resolved::Known(_, Member::Cell(cell)) => cell as i32,
            // The access itself will load the class. Until then it uses the cell that the class will get.
            Resolved::NotLoaded => return code.registry.cell(info.loader, class, name, descriptor) as i32,
            _ => UNWATCHED,
        };
        drop(code);
        if agent.settings.order().has_synchronization() {
            blocks::classify(agent, site as u32);
        }
        agent.offsets.set_i32(site as usize, cell);
        cell
    })
}

extern "system" fn classify(_environment: *mut JNIEnv, _class: jclass, site: jint) -> jboolean {
    guarded(0, |agent| {
        blocks::classify(agent, site as u32);
        jboolean::from(blocks::synchronizes(agent, site as u32))
    })
}

/// What [`step`] adds to the state of a word if it has reported no race, so that the same step of another location can be repeated
/// without a call.
pub(crate) const QUIET: u64 = 10;

extern "system" fn step(
    environment: *mut JNIEnv,
    _class: jclass,
    word: jlong,
    _thread: jint,
    segment: jint,
    set: jint,
    site: jint,
    write: jboolean,
    object: jobject,
) -> jlong {
    guarded(Word::DONE.0 as i64, |agent| {
        let word = Word(word as u64);
        if agent.settings.atomizer().is_some() {
            blocks::classify(agent, word.site());
            blocks::classify(agent, site as u32);
        }
        let access = access(segment, set, site, write);
        // The machine is locked twice only if the run checks the static analysis.
        if let Some(locality) = agent.locality.as_ref().filter(|locality| !locality.leaves_out())
            && locked(&agent.machine).has_others(word, access.segment)
        {
            locality.met([word.site(), site as u32]);
        }
        let step = locked(&agent.machine).step(word, access);
        if let Some(race) = &step.race
            && !findings::report(agent, Jni::new(environment), race, object)
        {
            return word.0 as i64;
        }
        match step.word.state() {
            State::Followed => blocks::raced(agent, object, site as u32, step.word),
            State::Done => {}
            // The state has room for it, see `Word`.
            _ if step.race.is_none() => return step.word.0.wrapping_add(QUIET << STATE_SHIFT) as i64,
            _ => {}
        }
        step.word.0 as i64
    })
}

fn access(segment: jint, set: jint, site: jint, write: jboolean) -> Access {
    let kind = if write != 0 { AccessKind::Write } else { AccessKind::Read };
    Access { segment: Segment(segment as u32), kind, set: set as u32, site: site as u32 }
}

extern "system" fn is_racy(
    _environment: *mut JNIEnv,
    _class: jclass,
    word: jlong,
    segment: jint,
    set: jint,
    write: jboolean,
) -> jboolean {
    guarded(0, |agent| {
        let access = access(segment, set, 0, write);
        jboolean::from(locked(&agent.machine).is_racy(Word(word as u64), access))
    })
}

extern "system" fn step_lock(
    _environment: *mut JNIEnv,
    _class: jclass,
    word: jlong,
    segment: jint,
    set: jint,
    write: jboolean,
    lock: jint,
) -> jlong {
    guarded(Word::DONE.0 as i64, |agent| {
        let access = access(segment, set, 0, write);
        let next = locked(&agent.machine).step_lock(Word(word as u64), access);
        blocks::acquired(agent, lock as u32, next);
        next.0 as i64
    })
}

extern "system" fn block_ended(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jint,
    site: jint,
    operations: jobject,
    about: jobject,
    owners: jobject,
    stacks: jobject,
    inner: jobject,
) -> jint {
    guarded(0, |agent| {
        let jni = Jni::new(environment);
        let log = Log {
            operations: jni.ints(operations),
            about: jni.longs(about),
            stacks: jni.longs(stacks),
            inner: jni.ints(inner),
        };
        let owner = |at: usize| {
            let owner = jni.element(owners, at)?;
            let number = agent.object_number(owner);
            jni.forget(owner);
            Some(number)
        };
        blocks::ended(agent, thread as u32, site as u32, &log, owner) as i32
    })
}

extern "system" fn block_ran(_environment: *mut JNIEnv, _class: jclass, site: jint) {
    guarded((), |agent| blocks::ran(agent, site as u32));
}

extern "system" fn sample_block(_environment: *mut JNIEnv, _class: jclass, number: jlong) {
    guarded((), |agent| blocks::sample(agent, number as u64));
}

extern "system" fn add_lock(_environment: *mut JNIEnv, _class: jclass, set: jint, lock: jint) -> jint {
    guarded(0, |agent| locked(&agent.machine).sets.add(set as u32, lock as u32) as i32)
}

extern "system" fn intersect(_environment: *mut JNIEnv, _class: jclass, left: jint, right: jint) -> jint {
    guarded(0, |agent| locked(&agent.machine).sets.intersect(left as u32, right as u32) as i32)
}

extern "system" fn new_lock(environment: *mut JNIEnv, _class: jclass, lock: jobject) -> jint {
    guarded(0, |agent| {
        let name = findings::object_name(agent, Jni::new(environment), lock);
        let mut names = locked(&agent.names);
        names.locks.push(name);
        names.locks.len() as i32 - 1
    })
}

extern "system" fn start_thread(
    environment: *mut JNIEnv,
    _class: jclass,
    parent: jint,
    child: jobject,
    name: jobject,
) -> jlong {
    guarded(0, |agent| {
        let jni = Jni::new(environment);
        planted::fault(jni, planted::START);
        let name = jni.text(name);
        let class = jni.class_of(child);
        if agent.tool.class_name(class).is_some_and(|class| class.starts_with("jdk/internal/")) {
            agent.counts.jdk_threads.fetch_add(1, Ordering::Relaxed);
        }
        jni.forget(class);
        let (child, segment) = {
            let mut machine = locked(&agent.machine);
            let child = match u32::try_from(parent) {
                Ok(parent) => machine.start(ThreadId(parent)),
                Err(_) => machine.root(),
            };
            (child, current_segment(agent, &machine, child))
        };
        let mut names = locked(&agent.names);
        let at = child.0 as usize;
        if names.threads.len() <= at {
            names.threads.resize(at + 1, String::new());
        }
        names.threads[at] = name;
        i64::from(child.0) << 32 | i64::from(segment.0)
    })
}

extern "system" fn join_thread(_environment: *mut JNIEnv, _class: jclass, thread: jint, ended: jint) -> jint {
    guarded(0, |agent| {
        let mut machine = locked(&agent.machine);
        let thread = ThreadId(thread as u32);
        machine.join(thread, ThreadId(ended as u32));
        current_segment(agent, &machine, thread).0 as i32
    })
}

extern "system" fn thread_runs(_environment: *mut JNIEnv, _class: jclass) -> jboolean {
    guarded(0, |agent| jboolean::from(agent.counts.threads_in_scope.fetch_add(1, Ordering::Relaxed) == 0))
}

extern "system" fn segment_of(_environment: *mut JNIEnv, _class: jclass, thread: jint) -> jint {
    guarded(0, |agent| current_segment(agent, &locked(&agent.machine), ThreadId(thread as u32)).0 as i32)
}

extern "system" fn span_of(_environment: *mut JNIEnv, _class: jclass, thread: jint) -> jint {
    guarded(0, |agent| locked(&agent.machine).span(ThreadId(thread as u32)).0 as i32)
}

/// The current segment of a thread. Java code finds the owners of all segments that it knows in a table.
fn current_segment(agent: &Agent, machine: &Machine, thread: ThreadId) -> Segment {
    let segment = machine.order.segment(thread);
    agent.owners.set_i32(segment.0 as usize, thread.0 as i32);
    segment
}

/// Returns the number of the synchronization object and the current segment, packed as two ints.
extern "system" fn release(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jint,
    synchronizer: jint,
    hands_over: jboolean,
    has_accesses: jboolean,
) -> jlong {
    guarded(-1, |agent| {
        let mut machine = locked(&agent.machine);
        let thread = ThreadId(thread as u32);
        let how = Release { hands_over: hands_over != 0, has_accesses: has_accesses != 0 };
        let number = machine.release(thread, u32::try_from(synchronizer).ok(), how);
        i64::from(number) << 32 | i64::from(current_segment(agent, &machine, thread).0)
    })
}

/// Returns the current segment, or -1 if the thread knew everything already.
extern "system" fn acquire(
    _environment: *mut JNIEnv,
    _class: jclass,
    thread: jint,
    synchronizer: jint,
    source: jint,
    hands_over: jboolean,
    has_accesses: jboolean,
) -> jint {
    guarded(-1, |agent| {
        let mut machine = locked(&agent.machine);
        let thread = ThreadId(thread as u32);
        let how = Acquire {
            source: Source(source as u32),
            hands_over: hands_over != 0,
            has_accesses: has_accesses != 0,
        };
        let is_new = machine.acquire(thread, synchronizer as u32, how);
        if is_new { current_segment(agent, &machine, thread).0 as i32 } else { -1 }
    })
}

extern "system" fn forget(_environment: *mut JNIEnv, _class: jclass, synchronizer: jint) {
    guarded((), |agent| locked(&agent.machine).forget(synchronizer as u32));
}

/// Whether code outside of the JDK called the method of the JDK that called the hook.
extern "system" fn is_called_from_outside(environment: *mut JNIEnv, _class: jclass) -> jboolean {
    let jni = Jni::new(environment);
    guarded(0, |agent| jboolean::from(stacks::is_called_from_outside(agent.tool, jni)))
}

/// Numbers what may order accesses.
extern "system" fn new_source(environment: *mut JNIEnv, _class: jclass, name: jobject) -> jint {
    guarded(0, |agent| {
        let name = Jni::new(environment).text(name);
        let mut names = locked(&agent.names);
        names.sources.push(name);
        (Source::FIRST as usize + names.sources.len() - 1) as i32
    })
}

extern "system" fn sample(_environment: *mut JNIEnv, _class: jclass, thread: jint, site: jint) {
    guarded((), |agent| agent.samples.take(agent.tool, thread as u32, site as u32));
}

extern "system" fn array_too_large(_environment: *mut JNIEnv, _class: jclass) {
    guarded((), |agent| {
        agent.counts.large_arrays.fetch_add(1, Ordering::Relaxed);
    });
}

extern "system" fn out_of_memory(_environment: *mut JNIEnv, _class: jclass) {
    guarded((), |agent| {
        agent.counts.out_of_memory.fetch_add(1, Ordering::Relaxed);
    });
}

/// A thread or a test ends with an exception. The stack has one line per frame: class, method, file and line number.
extern "system" fn failed(
    environment: *mut JNIEnv,
    _class: jclass,
    thread: jobject,
    exception: jobject,
    message: jobject,
    stack: jobject,
    is_test: jboolean,
) {
    guarded((), |agent| {
        if agent.failures.fetch_add(1, Ordering::Relaxed) >= MOST_FAILURES {
            return;
        }
        let jni = Jni::new(environment);
        let stack = failure::frames(&jni.text(stack));
        let failure = Failure {
            thread: jni.text(thread),
            cause: Cause::Exception { class: jni.text(exception), message: jni.text(message) },
            own: stack.iter().position(|frame| agent.scope.covers(&frame.class)),
            test: if is_test != 0 { tested::test_of(&stack) } else { None },
            stack,
            after: Vec::new(),
            interleaving: None,
        };
        agent.output.write(&Record::Failure(Box::new(failure)));
    });
}

/// Starts the engine: from here on the main thread is watched.
pub(crate) fn begin(agent: &Agent, jni: Jni, main: jobject) {
    if !agent.begin(jni, c"java/lang/FissureHook", main) {
        agent.fail("the hook classes could not be started");
    }
}

/// Begins to watch a thread that was not started by Java code, unless it belongs to the JVM itself.
pub(crate) fn attach(agent: &Agent, jni: Jni, thread: jobject) {
    let engine = agent.engine.load(Ordering::Acquire) as jclass;
    let known = jni.object_field(thread, c"fissureState", c"Ljava/lang/FissureThread;").is_some();
    if !engine.is_null() && !known && !agent.tool.is_of_the_jvm(jni, thread) {
        jni.call_with(engine, c"attach", c"(Ljava/lang/Thread;)V", thread);
    }
}
