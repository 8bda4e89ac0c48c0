//! Deadlocks in runs that are not controlled: threads that wait for each other's locks in a cycle.
//!
//! They come from the JVM's thread bean (module `java.management`). It knows which threads wait for monitors and for locks of
//! `java.util.concurrent`, and it takes its snapshot at a safepoint. So a cycle in its answer is a deadlock and not an artefact
//! of several observations.

use fissure_model::finding::{Finding, Frame, HeldLock, Kind, Site, Status, fingerprint};
use jvmti_bindings::sys::jni::{jobject, jvalue};

use crate::{
    agent::Agent,
    findings,
    lookout::{self, Fields},
    mutex::locked,
    stacks,
    vm::Jni,
};

/// The name of this analysis in reports.
const ANALYSIS: &str = "deadlock";

/// The JVM has no thread bean, because its image or its module graph lacks it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoThreadBean;

/// A thread that waits for a lock, as the thread bean describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Waiting {
    /// `Thread.getId`.
    thread: i64,
    name: String,
    /// The lock, by class and identity hash.
    lock: String,
    /// The thread that holds the lock.
    owner: i64,
    /// Whether its wait has a time-out.
    is_timed: bool,
    /// The monitors that it holds, each with the frame that entered it.
    held: Vec<(String, Option<Frame>)>,
}

/// The current deadlocks. This runs Java code, so the agent's mutexes must not be held.
pub(crate) fn find(agent: &Agent, jni: Jni, fields: &Fields) -> Result<Vec<Finding>, NoThreadBean> {
    let bean = thread_bean(jni).ok_or(NoThreadBean)?;
    let Some(threads) = jni.object_of(bean, c"findDeadlockedThreads", c"()[J", &[]) else {
        return Ok(Vec::new());
    };
    let arguments = [jvalue { l: threads }, jvalue { z: 1 }, jvalue { z: 1 }];
    let signature = c"([JZZ)[Ljava/lang/management/ThreadInfo;";
    let Some(infos) = jni.object_of(bean, c"getThreadInfo", signature, &arguments) else {
        return Ok(Vec::new());
    };
    let waiting: Vec<Waiting> = jni
        .elements(infos)
        .into_iter()
        .filter_map(|info| jni.in_frame(None, || waiting(jni, info)))
        .collect();
    let found = cycles(&waiting);
    Ok(found.iter().map(|cycle| finding(agent, jni, fields, cycle)).collect())
}

fn thread_bean(jni: Jni) -> Option<jobject> {
    let class = jni.find_class(c"java/lang/Class")?;
    // Only the boot loader is used: the application's loader may run the application's code.
    let arguments = [
        jvalue { l: jni.string("java.lang.management.ManagementFactory") },
        jvalue { z: 1 },
        jvalue { l: std::ptr::null_mut() },
    ];
    let signature = c"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;";
    let factory = jni.static_object(class, c"forName", signature, &arguments)?;
    jni.static_object(factory, c"getThreadMXBean", c"()Ljava/lang/management/ThreadMXBean;", &[])
}

fn waiting(jni: Jni, info: jobject) -> Option<Waiting> {
    let state = jni.object_of(info, c"getThreadState", c"()Ljava/lang/Thread$State;", &[])?;
    let monitors =
        jni.object_of(info, c"getLockedMonitors", c"()[Ljava/lang/management/MonitorInfo;", &[])?;
    let held = jni.elements(monitors).into_iter().filter_map(|monitor| {
        let frame = jni.object_of(monitor, c"getLockedStackFrame", c"()Ljava/lang/StackTraceElement;", &[]);
        Some((jni.text_of(monitor, c"toString")?, frame.and_then(|frame| frame_of(jni, frame))))
    });
    let held = held.collect();
    Some(Waiting {
        thread: jni.long_of(info, c"getThreadId")?,
        name: jni.text_of(info, c"getThreadName")?,
        lock: jni.text_of(info, c"getLockName")?,
        owner: jni.long_of(info, c"getLockOwnerId")?,
        is_timed: jni.text_of(state, c"name")? == "TIMED_WAITING",
        held,
    })
}

fn frame_of(jni: Jni, element: jobject) -> Option<Frame> {
    Some(Frame {
        class: jni.text_of(element, c"getClassName")?,
        method: jni.text_of(element, c"getMethodName")?,
        file: jni.text_of(element, c"getFileName"),
        line: jni.int_of(element, c"getLineNumber").and_then(|line| u32::try_from(line).ok()),
    })
}

/// The cycles of threads in which each waits for a lock of the next. A thread that waits for a member of a cycle is not part of it, and
/// a wait with a time-out breaks the cycle.
fn cycles(waiting: &[Waiting]) -> Vec<Vec<&Waiting>> {
    let mut found: Vec<Vec<&Waiting>> = Vec::new();
    for first in waiting {
        if found.iter().flatten().any(|known| known.thread == first.thread) {
            continue;
        }
        let mut path = vec![first];
        while let Some(next) = path.last().and_then(|last| {
            let owner = waiting.iter().find(|other| other.thread == last.owner);
            owner.filter(|_| !last.is_timed)
        }) {
            if next.thread == first.thread {
                found.push(path);
                break;
            }
            if path.iter().any(|other| other.thread == next.thread) {
                break;
            }
            path.push(next);
        }
    }
    found
}

fn finding(agent: &Agent, jni: Jni, fields: &Fields, cycle: &[&Waiting]) -> Finding {
    let wanted: Vec<Option<Wanted>> =
        cycle.iter().map(|waiting| wanted(agent, jni, fields, waiting.thread)).collect();
    let held: Vec<Held> = (0..cycle.len())
        .map(|at| {
            // A thread holds the lock that the thread before it in the cycle waits for.
            let before = (at + cycle.len() - 1) % cycle.len();
            let owner = wanted[at].as_ref().map(|wanted| wanted.thread);
            let lock = wanted[before].as_ref().map(|wanted| wanted.lock);
            held(agent, jni, fields, owner.zip(lock), cycle[at], &cycle[before].lock)
        })
        .collect();
    let is_jdk = |class: &str| agent.scope.is_jdk(class);
    let mut sites = Vec::new();
    let mut methods = Vec::new();
    for (at, waiting) in cycle.iter().enumerate() {
        let lock = HeldLock { name: held[at].name.clone(), shared: false };
        if let Some(frame) = held[at].acquired.clone() {
            sites.push(site(
                format!("holds lock {}", lock.name),
                &waiting.name,
                vec![frame],
                Vec::new(),
                is_jdk,
            ));
        }
        let role = format!("waits for lock {}", held[(at + 1) % cycle.len()].name);
        let stack = wanted[at].as_ref().map_or_else(Vec::new, |wanted| wanted.stack.clone());
        let waits = site(role, &waiting.name, stack, vec![lock], is_jdk);
        methods.push(format!("{}.{}", waits.class, waits.method));
        sites.push(waits);
    }
    methods.sort();
    let subject = methods.first().cloned().expect("a cycle has threads");
    let parts: Vec<&str> = ["deadlock"].into_iter().chain(methods.iter().map(String::as_str)).collect();
    Finding {
        id: fingerprint(&parts),
        sites,
        ..Finding::new(Kind::Deadlock, Status::Confirmed, ANALYSIS, &subject)
    }
}

/// A thread and the lock that it waits for, as local references, and the thread's stack.
struct Wanted {
    thread: jobject,
    lock: jobject,
    stack: Vec<Frame>,
}

fn wanted(agent: &Agent, jni: Jni, fields: &Fields, number: i64) -> Option<Wanted> {
    let mut threads = agent.tool.threads().into_iter();
    let thread = threads.find(|thread| fields.number(jni, *thread) == number)?;
    let monitor = agent.tool.contended_monitor(thread);
    let stack = lookout::stack(agent.tool, thread, monitor.is_some());
    let lock = monitor.or_else(|| fields.blocker(jni, thread))?;
    Some(Wanted { thread, lock, stack: stacks::named(agent.tool, &stack) })
}

/// A lock that a thread of a cycle holds.
struct Held {
    name: String,
    /// The frame that acquired it.
    acquired: Option<Frame>,
}

/// The lock that a thread of a cycle holds. If the hook classes know the lock, they give the exact line and the lock itself; the
/// thread bean only names the frame and the inner object that holds the owner.
fn held(
    agent: &Agent,
    jni: Jni,
    fields: &Fields,
    owner_and_lock: Option<(jobject, jobject)>,
    waiting: &Waiting,
    bean_name: &str,
) -> Held {
    let acquired = waiting.held.iter().find(|(held, _)| held == bean_name);
    // The bean names the frame, but not the line at which the lock was acquired.
    let frame = acquired.and_then(|(_, frame)| frame.clone()).map(|frame| Frame { line: None, ..frame });
    let Some((owner, lock)) = owner_and_lock else {
        return Held { name: bean_name.to_owned(), acquired: frame };
    };
    let Some((known, site)) = fields.acquired(jni, owner, lock) else {
        return Held { name: lock_name(&findings::object_name(agent, jni, lock)), acquired: frame };
    };
    let name = findings::object_name(agent, jni, known);
    let code = locked(&agent.code);
    let exact = code.sites.get(site).filter(|_| site != 0).map(|site| Frame {
        class: site.class.to_string(),
        method: site.method.to_string(),
        file: site.file.as_deref().map(str::to_owned),
        line: site.line,
    });
    Held { name, acquired: exact.or(frame) }
}

/// The name of a lock from that of its inner object: `…ReentrantLock$NonfairSync@3` is `…ReentrantLock@3`.
fn lock_name(part: &str) -> String {
    let lock =
        part.split_once('@').and_then(|(class, number)| Some((fissure_jdk::lock_of_part(class)?, number)));
    lock.map_or_else(|| part.to_owned(), |(lock, number)| format!("{lock}@{number}"))
}

/// A site from its stack: its first frame outside of the JDK, because the JDK's frames say little to a reader.
fn site(
    role: String,
    thread: &str,
    mut stack: Vec<Frame>,
    locks: Vec<HeldLock>,
    is_jdk: impl Fn(&str) -> bool,
) -> Site {
    let own = stack.iter().position(|frame| !is_jdk(&frame.class)).unwrap_or(0);
    stack.drain(..own);
    let unknown = || Frame { class: "?".to_owned(), method: "?".to_owned(), file: None, line: None };
    let frame = stack.first().cloned().unwrap_or_else(unknown);
    Site {
        role,
        thread: thread.to_owned(),
        class: frame.class,
        method: frame.method,
        file: frame.file,
        line: frame.line,
        stack,
        locks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads by number, each with the owner of the lock it waits for and whether its wait has a time-out.
    fn check(threads: &[(i64, i64, bool)], expected: &[&[i64]]) {
        let waiting: Vec<Waiting> = threads
            .iter()
            .map(|&(thread, owner, is_timed)| Waiting {
                thread,
                name: format!("T{thread}"),
                lock: format!("Lock@{owner}"),
                owner,
                is_timed,
                held: Vec::new(),
            })
            .collect();
        let found: Vec<Vec<i64>> = cycles(&waiting)
            .iter()
            .map(|cycle| cycle.iter().map(|waiting| waiting.thread).collect())
            .collect();
        assert_eq!(found, expected, "{threads:?}");
    }

    #[test]
    fn only_cycles_are_deadlocks() {
        check(&[], &[]);
        check(&[(1, 2, false), (2, 1, false)], &[&[1, 2]]);
        check(&[(1, 2, false), (2, 3, false), (3, 1, false)], &[&[1, 2, 3]]);
        check(&[(1, 2, false), (2, 7, false)], &[]);
    }

    #[test]
    fn threads_that_wait_for_a_cycle_are_not_in_it() {
        check(&[(3, 1, false), (1, 2, false), (2, 1, false)], &[&[1, 2]]);
        check(&[(1, 2, false), (2, 1, false), (4, 5, false), (5, 4, false)], &[&[1, 2], &[4, 5]]);
    }

    #[test]
    fn waits_with_a_time_out_break_the_cycle() {
        check(&[(1, 2, true), (2, 1, false)], &[]);
        check(&[(1, 2, false), (2, 1, true)], &[]);
    }

    #[test]
    fn locks_are_named_as_the_program_knows_them() {
        let check = |part: &str, name: &str| assert_eq!(lock_name(part), name);
        check(
            "java.util.concurrent.locks.ReentrantLock$NonfairSync@3",
            "java.util.concurrent.locks.ReentrantLock@3",
        );
        check("com.acme.Mutex$Sync@4", "com.acme.Mutex@4");
        check("com.acme.Latch@4", "com.acme.Latch@4");
    }

    #[test]
    fn a_site_is_the_first_frame_of_the_application() {
        let frame = |class: &str, line| Frame {
            class: class.to_owned(),
            method: "m".to_owned(),
            file: None,
            line: Some(line),
        };
        let stack = vec![frame("java.util.concurrent.locks.ReentrantLock", 1), frame("com.acme.Main", 2)];
        let is_jdk = |class: &str| class.starts_with("java.");
        let site = site("waits".to_owned(), "T", stack, Vec::new(), is_jdk);
        assert_eq!((site.class.as_str(), site.line, site.stack.len()), ("com.acme.Main", Some(2), 1));
    }
}
