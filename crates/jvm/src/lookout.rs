//! Looks after the threads of a program that is only watched, in the background: are there any that wait for each other?
//!
//! A look asks the JVM for the state of each thread, which costs microseconds and stops nobody. Only if the same two threads were
//! waiting for locks of others at two looks in a row is the thread bean asked ([`deadlock`]), so that programs without a
//! deadlock hardly notice. The thread that looks is hidden from Java code, and is not there at all in the first half second.

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

/// The pause between two looks, unless looking takes long.
const PAUSE: Duration = Duration::from_millis(500);
/// A look may take one part in so many of the time.
const SHARE: u32 = 200;
/// The longest pause between two questions to the thread bean that found nothing new.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);
/// How long the end of the JVM is held up by a last look.
const LAST_LOOK: Duration = Duration::from_secs(2);
/// How many threads are told of when a signal ends the program.
const MOST_THREADS: usize = 5;
/// How many frames of a thread are looked at.
const DEPTH: usize = 64;

/// The types of the parts of the JDK's locks that know their owner.
const PARTS: [&CStr; 2] = [
    c"Ljava/util/concurrent/locks/ReentrantLock$Sync;",
    c"Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync;",
];
/// The bits of a site's number, as in the hook class `FissureThread`.
const SITE: u32 = (1 << 20) - 1;

/// Where the JDK keeps what a look asks for.
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

// SAFETY: global references and numbers of fields may be used by all threads.
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

    /// The number that `Thread.getId` gives.
    pub(crate) fn number(&self, jni: Jni, thread: jobject) -> i64 {
        jni.long_at(thread, self.thread_number)
    }

    /// A lock among those that a thread has acquired, by the hook classes, and the number of the site; 0 if that is not known. `lock`
    /// may also be the part of a lock of `java.util.concurrent` that knows its owner.
    pub(crate) fn acquired(&self, jni: Jni, thread: jobject, lock: jobject) -> Option<(jobject, u32)> {
        let state = jni.object_field(thread, c"fissureState", c"Ljava/lang/FissureThread;")?;
        let locks = jni.object_field(state, c"locks", c"[Ljava/lang/Object;")?;
        let sites = jni.object_field(state, c"sites", c"[I")?;
        let sites = jni.ints(sites);
        let is_it = |held: jobject| {
            jni.is_same(held, lock)
                || PARTS.iter().any(|part| {
                    jni.object_field(held, c"sync", part).is_some_and(|part| jni.is_same(part, lock))
                })
        };
        // Locks that were released may still be in the array, but only behind those that are held.
        (0..jni.length(locks)).find_map(|at| {
            let held = jni.element(locks, at)?;
            let site = sites.get(at).map_or(0, |&site| site as u32 & SITE);
            is_it(held).then_some((held, site))
        })
    }

    /// The lock of `java.util.concurrent` that a thread parks for, if it has an owner; as a local reference.
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

/// Asks for a look at once, and to be told when it is over.
type Call = Sender<()>;

/// The agent's part of it.
#[derive(Debug, Default)]
pub(crate) struct Lookout {
    fields: Mutex<Option<Fields>>,
    calls: Mutex<Option<Sender<Call>>>,
    /// Where the thread that looks takes calls from, while it is being started.
    waiting_calls: Mutex<Option<(Receiver<Call>, Option<Call>)>>,
}

/// Kept from look to look.
#[derive(Debug)]
struct Memory {
    /// Threads that waited for locks of others at the last look.
    blocked: Vec<i64>,
    /// The deadlocks that were told, by their ids.
    told: Vec<String>,
    /// Whether it was told that there is no thread bean.
    lacks_bean: bool,
    /// When the thread bean may be asked again.
    next_question: Instant,
    silence: Duration,
}

/// Starts to look after the threads. The JVM is up.
pub(crate) fn begin(agent: &Agent, jni: Jni) {
    let Some(fields) = Fields::find(agent.tool, jni) else {
        agent.notice("Deadlocks are not looked for: this JVM's threads are not as Fissure knows them.");
        return;
    };
    let vm = agent.vm;
    let (calls, taken) = channel::<Call>();
    *locked(&agent.lookout.fields) = Some(fields);
    *locked(&agent.lookout.calls) = Some(calls);
    let spawned = thread::Builder::new().name("fissure-lookout".to_owned()).spawn(move || {
        // Most test programs have ended by then, and have had no thread of ours among theirs.
        let call = match taken.recv_timeout(PAUSE) {
            Ok(call) => Some(call),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        vm.attached(c"fissure-lookout", fields.group, |jni| {
            guarded((), |agent| {
                *locked(&agent.lookout.waiting_calls) = Some((taken, call));
                if !hide(agent.tool, jni, &fields) {
                    agent.notice("Deadlocks are not looked for: the JVM refused a thread for it.");
                }
            });
        });
    });
    drop(spawned);
}

/// Starts the thread that looks.
fn hide(tool: Tool, jni: Jni, fields: &Fields) -> bool {
    let arguments = [jvalue { l: fields.group }, jvalue { l: jni.string("fissure-lookout") }];
    let thread = jni.make(fields.thread, c"(Ljava/lang/ThreadGroup;Ljava/lang/String;)V", &arguments);
    thread.is_some_and(|thread| tool.run_hidden(thread, look_on))
}

/// The work of the hidden thread, until the JVM ends.
unsafe extern "system" fn look_on(_tool: *mut jvmtiEnv, jni: *mut JNIEnv, _nothing: *mut c_void) {
    let jni = Jni::new(jni);
    let taken = guarded(None, |agent| locked(&agent.lookout.waiting_calls).take());
    let Some((calls, mut call)) = taken else { return };
    let mut memory = Memory {
        blocked: Vec::new(),
        told: Vec::new(),
        lacks_bean: false,
        next_question: Instant::now(),
        silence: PAUSE,
    };
    loop {
        let began = Instant::now();
        let is_last = call.is_some();
        let goes_on = guarded(false, |agent| {
            let fields = *locked(&agent.lookout.fields);
            let Some(fields) = fields else { return false };
            jni.in_frame((), || look(agent, jni, &fields, &mut memory, is_last));
            true
        });
        if let Some(call) = call.take() {
            // The caller may have gone on without the answer.
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

fn look(agent: &Agent, jni: Jni, fields: &Fields, memory: &mut Memory, is_last: bool) {
    let blocked = blocked(agent.tool, jni, fields);
    let stayed = blocked.iter().filter(|thread| memory.blocked.contains(thread)).count();
    let is_suspicious = if is_last { blocked.len() } else { stayed } > 1;
    memory.blocked = blocked;
    if !is_suspicious || !is_last && Instant::now() < memory.next_question {
        return;
    }
    let found = deadlock::find(agent, jni, fields).unwrap_or_else(|NoThreadBean| {
        if !std::mem::replace(&mut memory.lacks_bean, true) {
            agent.notice(
                "Threads waited for locks for long; whether in a deadlock is not known, because this JVM runs without the module \
                 java.management: add --add-modules java.management to its options",
            );
        }
        Vec::new()
    });
    let before = memory.told.len();
    for finding in found {
        if !memory.told.contains(&finding.id) {
            memory.told.push(finding.id.clone());
            agent.output.write(&Record::Finding(Box::new(finding)));
            agent.write_coverage();
        }
    }
    let is_news = memory.told.len() > before;
    memory.silence = if is_news { PAUSE } else { (memory.silence * 2).min(LONGEST_SILENCE) };
    memory.next_question = Instant::now() + memory.silence;
}

/// The numbers of threads that wait for a lock that another thread holds, and would do so for ever.
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

/// The stack of a thread. An interpreted thread that waits to enter a monitor is already past the instruction that does so, and often
/// past its line.
pub(crate) fn stack(tool: Tool, thread: jobject, is_blocked: bool) -> Vec<RawFrame> {
    let mut stack = tool.stack_of(thread, DEPTH);
    if let Some(top) = stack.first_mut().filter(|_| is_blocked) {
        top.location = (top.location - 1).max(0);
    }
    stack
}

/// The JVM ends: a last look, if threads wait for locks, and where threads stand if a signal ends it.
pub(crate) fn finish(agent: &Agent, jni: Jni) {
    let fields = *locked(&agent.lookout.fields);
    let Some(fields) = fields else { return };
    if blocked(agent.tool, jni, &fields).len() > 1 {
        // Java code that finds deadlocks out could itself wait for a lock, so another thread does it.
        let calls = locked(&agent.lookout.calls).clone();
        let (answer, answered) = channel();
        if calls.is_some_and(|calls| calls.send(answer).is_ok()) {
            let _ = answered.recv_timeout(LAST_LOOK);
        }
    }
    let by_signal = agent.tool.facts(jni, ptr::null_mut()).is_some_and(|facts| {
        facts.is_of_the_jvm() && facts.name.starts_with("SIG") && facts.name.ends_with(" handler")
    });
    if by_signal {
        agent.output.write(&Record::Threads { threads: standing(agent, jni) });
    }
}

/// Where the program's threads stand: those first without which the program would have ended.
fn standing(agent: &Agent, jni: Jni) -> Vec<StandingThread> {
    let tool = agent.tool;
    let mut threads = Vec::new();
    for thread in tool.threads() {
        let told = tool.facts(jni, thread).filter(|facts| !facts.is_of_the_jvm()).and_then(|facts| {
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
        threads.extend(told);
        jni.forget(thread);
    }
    threads.sort_by_key(|(is_daemon, _)| *is_daemon);
    threads.into_iter().map(|(_, thread)| thread).take(MOST_THREADS).collect()
}
