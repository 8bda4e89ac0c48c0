//! Deadlock detection for runs that are not controlled, in a background thread.
//!
//! A check asks the JVM for the state of each thread, which takes microseconds and stops no thread. Only if at least two threads
//! were blocked on locks of others at two checks in a row is the thread bean asked ([`deadlock`]), so the cost for programs without a
//! deadlock is small. The background thread is hidden from Java code, and it starts only after half a second.

use std::{
    ffi::{CStr, c_void},
    ptr,
    sync::{
        Mutex,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use fissure_model::record::{Doing, Record, StandingThread};
use jvmti_bindings::sys::{
    jni::{JNIEnv, jclass, jfieldID, jobject, jvalue},
    jvmti::jvmtiEnv,
};

use crate::{
    agent::{Agent, guarded},
    deadlock::{self, NoThreadBean},
    mutex::locked,
    stacks,
    vm::{Jni, RawFrame, Tool},
};

/// The pause between two checks, unless checks are slow.
const PAUSE: Duration = Duration::from_millis(500);
/// A check may take at most this fraction of the time: one part in so many.
const SHARE: u32 = 200;
/// The longest pause between two queries of the thread bean that found nothing new.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);
/// The longest time by which a last check delays the end of the JVM.
const LAST_CHECK: Duration = Duration::from_secs(2);
/// The largest number of threads that are reported when a signal ends the program.
const MOST_THREADS: usize = 5;
/// The number of frames that are read from a thread's stack.
const DEPTH: usize = 64;

/// The inner types of the JDK's locks that hold the owner.
const SYNC_TYPES: [&CStr; 2] = [
    c"Ljava/util/concurrent/locks/ReentrantLock$Sync;",
    c"Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync;",
];
/// The bits of a site's number, as in the hook class `FissureThread`.
const SITE: u32 = (1 << 20) - 1;

/// The JDK's fields that a check reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    thread_number: jfieldID,
    blocker: jfieldID,
    owner: jfieldID,
    /// `AbstractOwnableSynchronizer`, as a global reference.
    owned: jclass,
    /// `Thread`, as a global reference.
    thread: jclass,
    /// The group of the JVM's own threads, as a global reference.
    group: jobject,
}

// SAFETY: global references and field ids are valid on all threads.
unsafe impl Send for Fields {}
// SAFETY: as above.
unsafe impl Sync for Fields {}

impl Fields {
    fn find(tool: Tool, jni: Jni) -> Option<Self> {
        let thread = jni.find_class(c"java/lang/Thread")?;
        let owned = jni.find_class(c"java/util/concurrent/locks/AbstractOwnableSynchronizer")?;
        Some(Self {
            thread_number: jni.field(thread, c"tid", c"J")?,
            blocker: jni.field(thread, c"parkBlocker", c"Ljava/lang/Object;")?,
            owner: jni.field(owned, c"exclusiveOwnerThread", c"Ljava/lang/Thread;")?,
            owned: jni.keep(owned),
            thread: jni.keep(thread),
            group: jni.keep(tool.system_group()?),
        })
    }

    /// The number that `Thread.getId` returns.
    pub(crate) fn number(&self, jni: Jni, thread: jobject) -> i64 {
        jni.long_at(thread, self.thread_number)
    }

    /// A lock that a thread has acquired according to the hook classes, and the number of the site, 0 if it is unknown. `lock` may also be
    /// the inner object of a lock of `java.util.concurrent` that holds the owner.
    pub(crate) fn acquired(&self, jni: Jni, thread: jobject, lock: jobject) -> Option<(jobject, u32)> {
        let state = jni.object_field(thread, c"fissureState", c"Ljava/lang/FissureThread;")?;
        let locks = jni.object_field(state, c"locks", c"[Ljava/lang/Object;")?;
        let sites = jni.object_field(state, c"sites", c"[I")?;
        let sites = jni.ints(sites);
        let is_it = |held: jobject| {
            jni.is_same(held, lock)
                || SYNC_TYPES.iter().any(|part| {
                    jni.object_field(held, c"sync", part).is_some_and(|part| jni.is_same(part, lock))
                })
        };
        // Released locks may still be in the array, but only after those that are held.
        (0..jni.length(locks)).find_map(|at| {
            let held = jni.element(locks, at)?;
            let site = sites.get(at).map_or(0, |&site| site as u32 & SITE);
            is_it(held).then_some((held, site))
        })
    }

    /// The lock of `java.util.concurrent` that a thread is parked on, if it has an owner; as a local reference.
    pub(crate) fn blocker(&self, jni: Jni, thread: jobject) -> Option<jobject> {
        let blocker = jni.object_at(thread, self.blocker)?;
        let owner = jni.is_a(blocker, self.owned).then(|| jni.object_at(blocker, self.owner)).flatten();
        match owner {
            Some(owner) => {
                jni.forget(owner);
                Some(blocker)
            }
            None => {
                jni.forget(blocker);
                None
            }
        }
    }
}

/// A request for an immediate check; the checking thread sends the reply.
type Call = Sender<()>;

/// The agent's side of the deadlock detection.
#[derive(Debug, Default)]
pub(crate) struct Lookout {
    fields: Mutex<Option<Fields>>,
    calls: Mutex<Option<Sender<Call>>>,
    /// The requests, on their way to the hidden thread while it is being started.
    waiting_calls: Mutex<Option<(Receiver<Call>, Option<Call>)>>,
}

/// State that is kept between checks.
#[derive(Debug)]
struct Memory {
    /// Threads that were blocked on locks of others at the last check.
    blocked: Vec<i64>,
    /// The ids of the deadlocks that were reported.
    reported: Vec<String>,
    /// Whether the missing thread bean was reported.
    lacks_bean: bool,
    /// The time at which the thread bean may be queried again.
    next_query: Instant,
    silence: Duration,
}

/// Starts the deadlock detection in an initialized JVM.
pub(crate) fn begin(agent: &Agent, jni: Jni) {
    let Some(fields) = Fields::find(agent.tool, jni) else {
        agent.notice(
            "Deadlock detection is off, because this JVM's Thread class lacks fields that Fissure reads; \
             run the program on HotSpot 11 or newer to detect deadlocks.",
        );
        return;
    };
    let vm = agent.vm;
    let (calls, taken) = channel::<Call>();
    *locked(&agent.lookout.fields) = Some(fields);
    *locked(&agent.lookout.calls) = Some(calls);
    let spawned = thread::Builder::new().name("fissure-lookout".to_owned()).spawn(move || {
        // Most test programs have ended by then and never had an additional thread.
        let call = match taken.recv_timeout(PAUSE) {
            Ok(call) => Some(call),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        vm.attached(c"fissure-lookout", fields.group, |jni| {
            guarded((), |agent| {
                *locked(&agent.lookout.waiting_calls) = Some((taken, call));
                if !start_hidden_thread(agent.tool, jni, &fields) {
                    agent.notice(
                        "Deadlock detection is off, because the JVM could not start a thread for it.",
                    );
                }
            });
        });
    });
    drop(spawned);
}

/// Starts the hidden thread.
fn start_hidden_thread(tool: Tool, jni: Jni, fields: &Fields) -> bool {
    let arguments = [jvalue { l: fields.group }, jvalue { l: jni.string("fissure-lookout") }];
    let thread = jni.make(fields.thread, c"(Ljava/lang/ThreadGroup;Ljava/lang/String;)V", &arguments);
    thread.is_some_and(|thread| tool.run_hidden(thread, run_checks))
}

/// The work of the hidden thread, until the JVM ends.
unsafe extern "system" fn run_checks(_tool: *mut jvmtiEnv, jni: *mut JNIEnv, _nothing: *mut c_void) {
    let jni = Jni::new(jni);
    let taken = guarded(None, |agent| locked(&agent.lookout.waiting_calls).take());
    let Some((calls, mut call)) = taken else { return };
    let mut memory = Memory {
        blocked: Vec::new(),
        reported: Vec::new(),
        lacks_bean: false,
        next_query: Instant::now(),
        silence: PAUSE,
    };
    loop {
        let began = Instant::now();
        let is_last = call.is_some();
        let goes_on = guarded(false, |agent| {
            let fields = *locked(&agent.lookout.fields);
            let Some(fields) = fields else { return false };
            jni.in_frame((), || check(agent, jni, &fields, &mut memory, is_last));
            true
        });
        if let Some(call) = call.take() {
            // The requester may have timed out.
            let _ = call.send(());
        }
        if !goes_on {
            return;
        }
        call = match calls.recv_timeout(PAUSE.max(began.elapsed() * SHARE)) {
            Ok(call) => Some(call),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
    }
}

fn check(agent: &Agent, jni: Jni, fields: &Fields, memory: &mut Memory, is_last: bool) {
    let blocked = blocked(agent.tool, jni, fields);
    let stayed = blocked.iter().filter(|thread| memory.blocked.contains(thread)).count();
    let is_suspicious = if is_last { blocked.len() } else { stayed } > 1;
    memory.blocked = blocked;
    if !is_suspicious || !is_last && Instant::now() < memory.next_query {
        return;
    }
    let found = deadlock::find(agent, jni, fields).unwrap_or_else(|NoThreadBean| {
        if !std::mem::replace(&mut memory.lacks_bean, true) {
            agent.notice(
                "Threads waited for locks for a long time, but Fissure cannot tell whether they are in a deadlock, because this JVM runs \
                 without the module java.management: add --add-modules java.management to its options",
            );
        }
        Vec::new()
    });
    let before = memory.reported.len();
    for finding in found {
        if !memory.reported.contains(&finding.id) {
            memory.reported.push(finding.id.clone());
            agent.output.write(&Record::Finding(Box::new(finding)));
            agent.write_coverage();
        }
    }
    let is_news = memory.reported.len() > before;
    memory.silence = if is_news { PAUSE } else { (memory.silence * 2).min(LONGEST_SILENCE) };
    memory.next_query = Instant::now() + memory.silence;
}

/// The numbers of threads that wait, without a time-out, for a lock that another thread holds.
fn blocked(tool: Tool, jni: Jni, fields: &Fields) -> Vec<i64> {
    let mut blocked = Vec::new();
    for thread in tool.threads() {
        let waits = tool.state(thread).is_some_and(|state| {
            state.is_blocked()
                || state.parks_for_ever()
                    && fields.blocker(jni, thread).inspect(|blocker| jni.forget(*blocker)).is_some()
        });
        if waits {
            blocked.push(fields.number(jni, thread));
        }
        jni.forget(thread);
    }
    blocked
}

/// The stack of a thread. The position of an interpreted thread that is blocked on a monitor is already after the `monitorenter`
/// instruction, and often on the next line, so it is moved back.
pub(crate) fn stack(tool: Tool, thread: jobject, is_blocked: bool) -> Vec<RawFrame> {
    let mut stack = tool.stack_of(thread, DEPTH);
    if let Some(top) = stack.first_mut().filter(|_| is_blocked) {
        top.location = (top.location - 1).max(0);
    }
    stack
}

/// Called when the JVM ends: makes a last check if threads are blocked, and reports what threads are doing if a signal ends the JVM.
pub(crate) fn finish(agent: &Agent, jni: Jni) {
    let fields = *locked(&agent.lookout.fields);
    let Some(fields) = fields else { return };
    if blocked(agent.tool, jni, &fields).len() > 1 {
        // The Java code of the thread bean could itself wait for a lock, so the hidden thread runs it.
        let calls = locked(&agent.lookout.calls).clone();
        let (answer, answered) = channel();
        if calls.is_some_and(|calls| calls.send(answer).is_ok()) {
            let _ = answered.recv_timeout(LAST_CHECK);
        }
    }
    let by_signal = agent.tool.facts(jni, ptr::null_mut()).is_some_and(|facts| {
        facts.is_of_the_jvm() && facts.name.starts_with("SIG") && facts.name.ends_with(" handler")
    });
    if by_signal {
        agent.output.write(&Record::Threads { threads: standing(agent, jni) });
    }
}

/// The current frames of the program's threads, non-daemon threads first, because they keep the program running.
fn standing(agent: &Agent, jni: Jni) -> Vec<StandingThread> {
    let tool = agent.tool;
    let mut threads = Vec::new();
    for thread in tool.threads() {
        let reported = tool.facts(jni, thread).filter(|facts| !facts.is_of_the_jvm()).and_then(|facts| {
            let state = tool.state(thread)?;
            let stack = stacks::named(tool, &stack(tool, thread, state.is_blocked()));
            let frame = stack.into_iter().find(|frame| !agent.scope.is_library(&frame.class))?;
            let doing = match state {
                state if state.is_blocked() => Doing::Blocked,
                state if state.waits() => Doing::Waiting,
                _ => Doing::Running,
            };
            Some((facts.is_daemon, StandingThread { name: facts.name, doing, frame }))
        });
        threads.extend(reported);
        jni.forget(thread);
    }
    threads.sort_by_key(|(is_daemon, _)| *is_daemon);
    threads.into_iter().map(|(_, thread)| thread).take(MOST_THREADS).collect()
}
