//! What is particular about classes of the JDK: where they take locks that are not monitors, where threads start and
//! end, and which classes are better left as they are.

use fissure_classfile::{Probe, ProbeArguments, ProbePoint};

use ProbeArguments::{MapResult, ResultAndThis, This};
use ProbePoint::{Entry, Return};

const fn probe(
    method: &'static str,
    descriptor: Option<&'static str>,
    at: ProbePoint,
    hook_method: &'static str,
    argument: ProbeArguments,
) -> Probe<'static> {
    Probe { method, descriptor, at, hook_method, argument }
}

const THREAD: &[Probe<'static>] = &[
    probe("start", None, Entry, "threadStart", This),
    probe("join", Some("(J)V"), Return, "threadJoined", This),
    probe("join", Some("(Ljava/time/Duration;)Z"), Return, "threadJoined", This),
];

const VIRTUAL_THREAD: &[Probe<'static>] = &[
    probe("start", None, Entry, "threadStart", This),
    probe("joinNanos", None, Return, "threadJoined", This),
];

const REENTRANT_LOCK: &[Probe<'static>] = &[
    probe("lock", Some("()V"), Return, "locked", This),
    probe("lockInterruptibly", Some("()V"), Return, "locked", This),
    probe("tryLock", None, Return, "tryLocked", ResultAndThis),
    probe("unlock", Some("()V"), Entry, "unlocked", This),
];

const READ_LOCK: &[Probe<'static>] = &[
    probe("lock", Some("()V"), Return, "readLocked", This),
    probe("lockInterruptibly", Some("()V"), Return, "readLocked", This),
    probe("tryLock", None, Return, "tryReadLocked", ResultAndThis),
    probe("unlock", Some("()V"), Entry, "unlocked", This),
];

const READ_WRITE_LOCK: &[Probe<'static>] =
    &[probe("<init>", Some("(Z)V"), Return, "readWriteLockMade", This)];

const STAMPED_LOCK: &[Probe<'static>] = &[
    probe("writeLock", Some("()J"), Return, "stampedWrite", ResultAndThis),
    probe("tryWriteLock", None, Return, "stampedWrite", ResultAndThis),
    probe("writeLockInterruptibly", Some("()J"), Return, "stampedWrite", ResultAndThis),
    probe("readLock", Some("()J"), Return, "stampedRead", ResultAndThis),
    probe("tryReadLock", None, Return, "stampedRead", ResultAndThis),
    probe("readLockInterruptibly", Some("()J"), Return, "stampedRead", ResultAndThis),
    probe("tryOptimisticRead", Some("()J"), Return, "stampedOptimistic", This),
    probe("validate", Some("(J)Z"), Entry, "stampedValidate", This),
    probe("tryConvertToWriteLock", Some("(J)J"), Return, "stampedConvertedToWrite", ResultAndThis),
    probe("tryConvertToReadLock", Some("(J)J"), Return, "stampedConvertedToRead", ResultAndThis),
    probe("tryConvertToOptimisticRead", Some("(J)J"), Return, "stampedConvertedToOptimistic", ResultAndThis),
    probe("unlockWrite", Some("(J)V"), Entry, "unlocked", This),
    probe("unlockRead", Some("(J)V"), Entry, "unlocked", This),
    probe("unlock", Some("(J)V"), Entry, "unlocked", This),
    probe("tryUnlockWrite", Some("()Z"), Entry, "unlocked", This),
    probe("tryUnlockRead", Some("()Z"), Entry, "unlocked", This),
    probe("unstampedUnlockWrite", Some("()V"), Entry, "unlocked", This),
    probe("unstampedUnlockRead", Some("()V"), Entry, "unlocked", This),
];

const REFLECTION: &[Probe<'static>] = &[probe(
    "filterFields",
    Some("(Ljava/lang/Class;[Ljava/lang/reflect/Field;)[Ljava/lang/reflect/Field;"),
    Return,
    "visibleFields",
    MapResult,
)];

/// The calls to insert into a class of the JDK, by its internal name.
pub(crate) fn probes(class: &str) -> &'static [Probe<'static>] {
    match class {
        "java/lang/Thread" => THREAD,
        "java/lang/VirtualThread" | "java/lang/ThreadBuilders$BoundVirtualThread" => VIRTUAL_THREAD,
        "java/util/concurrent/locks/ReentrantLock" => REENTRANT_LOCK,
        "java/util/concurrent/locks/ReentrantReadWriteLock" => READ_WRITE_LOCK,
        "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock" => READ_LOCK,
        "java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock" => REENTRANT_LOCK,
        "java/util/concurrent/locks/StampedLock" => STAMPED_LOCK,
        "jdk/internal/reflect/Reflection" => REFLECTION,
        _ => &[],
    }
}

/// Whether a class must stay as it is: the root of all classes, Fissure's own, and the machinery of virtual threads,
/// in which the current thread changes under one's feet.
pub(crate) fn is_untouchable(class: &str) -> bool {
    class == "java/lang/Object"
        || class.starts_with(crate::hook::PREFIX)
        || class.starts_with("jdk/internal/vm/")
        || class.starts_with("jdk/internal/misc/Unsafe")
}

/// Whether the monitors of a class are not watched.
pub(crate) fn keeps_its_monitors(class: &str) -> bool {
    class == "java/lang/VirtualThread" || class.starts_with("java/lang/VirtualThread$")
}
