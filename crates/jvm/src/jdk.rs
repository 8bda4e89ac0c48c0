//! JDK classes that need special treatment: locks other than monitors, starting and joining threads, calls that order
//! threads, and classes that must not be rewritten.

use fissure_classfile::{LockCall, Probe, ProbeArguments, ProbePoint};
use fissure_model::settings::Order;

use crate::tested;

use ProbeArguments::{MapResult, Parameter, ResultAndThis, This};
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
    probe("dispatchUncaughtException", Some("(Ljava/lang/Throwable;)V"), Entry, "uncaught", Parameter(0)),
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

// The library's equivalents of start and join: tasks, latches and the like, and queues, with which one thread passes everything it did
// so far to another. Maps and atomics are not among them: they are used too often for a new segment each time. Each release is at a
// method's entry, before its effect is visible, and each acquire at its return, after the effects of others were visible.

/// A release at entry, on the object itself: what the thread did so far happens before the matching acquires.
const fn releases(method: &'static str) -> Probe<'static> {
    probe(method, None, Entry, "released", This)
}

/// A release at entry, on a parameter: a task, an element or a value.
const fn releases_with(method: &'static str, descriptor: &'static str, parameter: u8) -> Probe<'static> {
    probe(method, Some(descriptor), Entry, "released", Parameter(parameter))
}

/// An acquire at entry, on the object itself: a task begins.
const fn begins(method: &'static str) -> Probe<'static> {
    probe(method, None, Entry, "acquired", This)
}

/// An acquire at return, on the object itself.
const fn acquires(method: &'static str) -> Probe<'static> {
    probe(method, None, Return, "acquired", This)
}

/// An acquire at return, on the result.
const fn takes(method: &'static str, descriptor: &'static str) -> Probe<'static> {
    probe(method, Some(descriptor), Return, "taken", ResultAndThis)
}

const FUTURE_TASK: &[Probe<'static>] =
    &[begins("run"), begins("runAndReset"), releases("set"), releases("setException"), acquires("get")];

const EXECUTOR: &[Probe<'static>] = &[
    releases_with("execute", "(Ljava/lang/Runnable;)V", 0),
    releases_with("delayedExecute", "(Ljava/util/concurrent/RunnableScheduledFuture;)V", 0),
    releases_with("reExecutePeriodic", "(Ljava/util/concurrent/RunnableScheduledFuture;)V", 0),
    takes("getTask", "()Ljava/lang/Runnable;"),
    releases("tryTerminate"),
    acquires("awaitTermination"),
];

const FORK_JOIN_TASK: &[Probe<'static>] = &[
    releases("fork"),
    begins("doExec"),
    releases("setDone"),
    releases("setCompletion"),
    releases("setThrown"),
    releases("trySetThrown"),
    releases("setExceptionalCompletion"),
    acquires("join"),
    acquires("get"),
    acquires("invoke"),
    acquires("quietlyJoin"),
    acquires("quietlyInvoke"),
    acquires("joinForPoolInvoke"),
    acquires("getForPoolInvoke"),
    acquires("awaitDone"),
];

const FORK_JOIN_POOL: &[Probe<'static>] = &[
    releases_with("externalPush", "(Ljava/util/concurrent/ForkJoinTask;)V", 0),
    releases_with(
        "externalSubmit",
        "(Ljava/util/concurrent/ForkJoinTask;)Ljava/util/concurrent/ForkJoinTask;",
        0,
    ),
    releases_with(
        "poolSubmit",
        "(ZLjava/util/concurrent/ForkJoinTask;)Ljava/util/concurrent/ForkJoinTask;",
        1,
    ),
    releases_with("execute", "(Ljava/util/concurrent/ForkJoinTask;)V", 0),
    releases_with("submit", "(Ljava/util/concurrent/ForkJoinTask;)Ljava/util/concurrent/ForkJoinTask;", 0),
    releases_with("invoke", "(Ljava/util/concurrent/ForkJoinTask;)Ljava/lang/Object;", 0),
];

const COUNTED_COMPLETER: &[Probe<'static>] = &[
    probe("tryComplete", None, Entry, "completes", This),
    probe("propagateCompletion", None, Entry, "completes", This),
    probe("complete", None, Entry, "completes", This),
];

const COMPLETABLE_FUTURE: &[Probe<'static>] = &[
    releases("complete"),
    releases("completeExceptionally"),
    releases("internalComplete"),
    releases("completeNull"),
    releases("completeValue"),
    releases("completeThrowable"),
    releases("completeRelay"),
    acquires("get"),
    acquires("join"),
    acquires("getNow"),
    acquires("resultNow"),
    begins("uniAcceptNow"),
    begins("uniApplyNow"),
    begins("uniRunNow"),
    begins("postComplete"),
];

const TASK: &[Probe<'static>] = &[begins("run")];

const COUNT_DOWN_LATCH: &[Probe<'static>] = &[releases("countDown"), acquires("await")];

const CYCLIC_BARRIER: &[Probe<'static>] = &[releases("await"), acquires("await")];

const EXCHANGER: &[Probe<'static>] = &[releases("exchange"), acquires("exchange")];

const PHASER: &[Probe<'static>] = &[
    releases("arrive"),
    releases("arriveAndDeregister"),
    releases("arriveAndAwaitAdvance"),
    acquires("arriveAndAwaitAdvance"),
    acquires("awaitAdvance"),
    acquires("awaitAdvanceInterruptibly"),
];

const SEMAPHORE: &[Probe<'static>] =
    &[releases("release"), acquires("acquire"), acquires("acquireUninterruptibly"), acquires("tryAcquire")];

const TIMER: &[Probe<'static>] = &[releases_with("sched", "(Ljava/util/TimerTask;JJ)V", 0)];

const TIMER_QUEUE: &[Probe<'static>] = &[takes("getMin", "()Ljava/util/TimerTask;")];

/// Queues and deques pass order on with each element.
const QUEUE: &[Probe<'static>] = &[
    releases_with("add", "(Ljava/lang/Object;)Z", 0),
    releases_with("addFirst", "(Ljava/lang/Object;)V", 0),
    releases_with("addLast", "(Ljava/lang/Object;)V", 0),
    releases_with("offer", "(Ljava/lang/Object;)Z", 0),
    releases_with("offer", "(Ljava/lang/Object;JLjava/util/concurrent/TimeUnit;)Z", 0),
    releases_with("offerFirst", "(Ljava/lang/Object;)Z", 0),
    releases_with("offerLast", "(Ljava/lang/Object;)Z", 0),
    releases_with("push", "(Ljava/lang/Object;)V", 0),
    releases_with("put", "(Ljava/lang/Object;)V", 0),
    releases_with("putFirst", "(Ljava/lang/Object;)V", 0),
    releases_with("putLast", "(Ljava/lang/Object;)V", 0),
    releases_with("transfer", "(Ljava/lang/Object;)V", 0),
    releases_with("tryTransfer", "(Ljava/lang/Object;)Z", 0),
    takes("peek", "()Ljava/lang/Object;"),
    takes("peekFirst", "()Ljava/lang/Object;"),
    takes("peekLast", "()Ljava/lang/Object;"),
    takes("poll", "()Ljava/lang/Object;"),
    takes("poll", "(JLjava/util/concurrent/TimeUnit;)Ljava/lang/Object;"),
    takes("pollFirst", "()Ljava/lang/Object;"),
    takes("pollLast", "()Ljava/lang/Object;"),
    takes("take", "()Ljava/lang/Object;"),
    takes("takeFirst", "()Ljava/lang/Object;"),
    takes("takeLast", "()Ljava/lang/Object;"),
];

// Further sources of order, for analyses that report only accesses without any happens-before order.

/// Maps pass order on with each value.
const MAP: &[Probe<'static>] = &[
    releases_with("put", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;", 1),
    releases_with("putIfAbsent", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;", 1),
    releases_with("replace", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;", 1),
    takes("get", "(Ljava/lang/Object;)Ljava/lang/Object;"),
    takes("getOrDefault", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    takes("put", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    takes("putIfAbsent", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    takes("remove", "(Ljava/lang/Object;)Ljava/lang/Object;"),
    probe("computeIfAbsent", None, Return, "computed", ResultAndThis),
    probe("computeIfPresent", None, Return, "computed", ResultAndThis),
    probe("compute", None, Return, "computed", ResultAndThis),
    probe("merge", None, Return, "computed", ResultAndThis),
];

const LIST: &[Probe<'static>] = &[
    releases_with("add", "(Ljava/lang/Object;)Z", 0),
    releases_with("set", "(ILjava/lang/Object;)Ljava/lang/Object;", 1),
    takes("get", "(I)Ljava/lang/Object;"),
];

const CONDITION: &[Probe<'static>] = &[
    releases("signal"),
    releases("signalAll"),
    acquires("await"),
    acquires("awaitNanos"),
    acquires("awaitUntil"),
    acquires("awaitUninterruptibly"),
];

/// Reads acquire, writes release, and read-modify-write operations do both.
const ATOMIC: &[Probe<'static>] = &[
    acquires("get"),
    acquires("getAcquire"),
    releases("set"),
    releases("lazySet"),
    releases("setRelease"),
    releases("compareAndSet"),
    acquires("compareAndSet"),
    releases("getAndSet"),
    acquires("getAndSet"),
    releases("getAndIncrement"),
    acquires("getAndIncrement"),
    releases("getAndDecrement"),
    acquires("getAndDecrement"),
    releases("getAndAdd"),
    acquires("getAndAdd"),
    releases("incrementAndGet"),
    acquires("incrementAndGet"),
    releases("decrementAndGet"),
    acquires("decrementAndGet"),
    releases("addAndGet"),
    acquires("addAndGet"),
    releases("getAndUpdate"),
    acquires("getAndUpdate"),
    releases("updateAndGet"),
    acquires("updateAndGet"),
    releases("getAndAccumulate"),
    acquires("getAndAccumulate"),
    releases("accumulateAndGet"),
    acquires("accumulateAndGet"),
];

/// A release at entry, on a parameter, for any descriptor.
const fn releases_to(method: &'static str, parameter: u8) -> Probe<'static> {
    probe(method, None, Entry, "released", Parameter(parameter))
}

/// An acquire at return, on a parameter.
const fn acquires_from(method: &'static str, parameter: u8) -> Probe<'static> {
    probe(method, None, Return, "acquired", Parameter(parameter))
}

/// Variable handles of fields and array elements: the second parameter is the object. Plain access modes order nothing.
const VAR_HANDLE: &[Probe<'static>] = &[
    acquires_from("getVolatile", 1),
    acquires_from("getAcquire", 1),
    releases_to("setVolatile", 1),
    releases_to("setRelease", 1),
    releases_to("compareAndSet", 1),
    acquires_from("compareAndSet", 1),
    releases_to("compareAndExchange", 1),
    acquires_from("compareAndExchange", 1),
    releases_to("compareAndExchangeAcquire", 1),
    acquires_from("compareAndExchangeAcquire", 1),
    releases_to("compareAndExchangeRelease", 1),
    acquires_from("compareAndExchangeRelease", 1),
    releases_to("weakCompareAndSet", 1),
    acquires_from("weakCompareAndSet", 1),
    releases_to("weakCompareAndSetAcquire", 1),
    acquires_from("weakCompareAndSetAcquire", 1),
    releases_to("weakCompareAndSetRelease", 1),
    acquires_from("weakCompareAndSetRelease", 1),
    releases_to("getAndSet", 1),
    acquires_from("getAndSet", 1),
    releases_to("getAndSetAcquire", 1),
    acquires_from("getAndSetAcquire", 1),
    releases_to("getAndSetRelease", 1),
    acquires_from("getAndSetRelease", 1),
    releases_to("getAndAdd", 1),
    acquires_from("getAndAdd", 1),
    releases_to("getAndAddAcquire", 1),
    acquires_from("getAndAddAcquire", 1),
    releases_to("getAndAddRelease", 1),
    acquires_from("getAndAddRelease", 1),
    releases_to("getAndBitwiseOr", 1),
    acquires_from("getAndBitwiseOr", 1),
    releases_to("getAndBitwiseAnd", 1),
    acquires_from("getAndBitwiseAnd", 1),
    releases_to("getAndBitwiseXor", 1),
    acquires_from("getAndBitwiseXor", 1),
];

/// Variable handles of static fields have no object, so order is kept on the handle itself.
const STATIC_VAR_HANDLE: &[Probe<'static>] = &[
    acquires_from("getVolatile", 0),
    acquires_from("getAcquire", 0),
    releases_to("setVolatile", 0),
    releases_to("setRelease", 0),
    releases_to("compareAndSet", 0),
    acquires_from("compareAndSet", 0),
    releases_to("compareAndExchange", 0),
    acquires_from("compareAndExchange", 0),
    releases_to("compareAndExchangeAcquire", 0),
    acquires_from("compareAndExchangeAcquire", 0),
    releases_to("compareAndExchangeRelease", 0),
    acquires_from("compareAndExchangeRelease", 0),
    releases_to("weakCompareAndSet", 0),
    acquires_from("weakCompareAndSet", 0),
    releases_to("weakCompareAndSetAcquire", 0),
    acquires_from("weakCompareAndSetAcquire", 0),
    releases_to("weakCompareAndSetRelease", 0),
    acquires_from("weakCompareAndSetRelease", 0),
    releases_to("getAndSet", 0),
    acquires_from("getAndSet", 0),
    releases_to("getAndSetAcquire", 0),
    acquires_from("getAndSetAcquire", 0),
    releases_to("getAndSetRelease", 0),
    acquires_from("getAndSetRelease", 0),
    releases_to("getAndAdd", 0),
    acquires_from("getAndAdd", 0),
    releases_to("getAndAddAcquire", 0),
    acquires_from("getAndAddAcquire", 0),
    releases_to("getAndAddRelease", 0),
    acquires_from("getAndAddRelease", 0),
    releases_to("getAndBitwiseOr", 0),
    acquires_from("getAndBitwiseOr", 0),
    releases_to("getAndBitwiseAnd", 0),
    acquires_from("getAndBitwiseAnd", 0),
    releases_to("getAndBitwiseXor", 0),
    acquires_from("getAndBitwiseXor", 0),
];

/// `sun.misc.Unsafe`, which libraries use.
const UNSAFE: &[Probe<'static>] = &[
    acquires_from("getIntVolatile", 0),
    acquires_from("getLongVolatile", 0),
    acquires_from("getObjectVolatile", 0),
    acquires_from("getBooleanVolatile", 0),
    releases_to("putIntVolatile", 0),
    releases_to("putLongVolatile", 0),
    releases_to("putObjectVolatile", 0),
    releases_to("putBooleanVolatile", 0),
    releases_to("putOrderedInt", 0),
    releases_to("putOrderedLong", 0),
    releases_to("putOrderedObject", 0),
    releases_to("compareAndSwapInt", 0),
    acquires_from("compareAndSwapInt", 0),
    releases_to("compareAndSwapLong", 0),
    acquires_from("compareAndSwapLong", 0),
    releases_to("compareAndSwapObject", 0),
    acquires_from("compareAndSwapObject", 0),
    releases_to("getAndAddInt", 0),
    acquires_from("getAndAddInt", 0),
    releases_to("getAndAddLong", 0),
    acquires_from("getAndAddLong", 0),
    releases_to("getAndSetInt", 0),
    acquires_from("getAndSetInt", 0),
    releases_to("getAndSetLong", 0),
    acquires_from("getAndSetLong", 0),
    releases_to("getAndSetObject", 0),
    acquires_from("getAndSetObject", 0),
];

/// Updaters of volatile fields.
const FIELD_UPDATER: &[Probe<'static>] = &[
    acquires_from("get", 0),
    releases_to("set", 0),
    releases_to("lazySet", 0),
    releases_to("compareAndSet", 0),
    acquires_from("compareAndSet", 0),
    releases_to("weakCompareAndSet", 0),
    acquires_from("weakCompareAndSet", 0),
    releases_to("getAndSet", 0),
    acquires_from("getAndSet", 0),
    releases_to("getAndAdd", 0),
    acquires_from("getAndAdd", 0),
    releases_to("getAndIncrement", 0),
    acquires_from("getAndIncrement", 0),
    releases_to("getAndDecrement", 0),
    acquires_from("getAndDecrement", 0),
    releases_to("addAndGet", 0),
    acquires_from("addAndGet", 0),
    releases_to("incrementAndGet", 0),
    acquires_from("incrementAndGet", 0),
    releases_to("decrementAndGet", 0),
    acquires_from("decrementAndGet", 0),
];

const REFLECTION: &[Probe<'static>] = &[probe(
    "filterFields",
    Some("(Ljava/lang/Class;[Ljava/lang/reflect/Field;)[Ljava/lang/reflect/Field;"),
    Return,
    "visibleFields",
    MapResult,
)];

/// Reports a read or write of an atomic at the entry of a method.
const fn atomic(method: &'static str, hook_method: &'static str) -> Probe<'static> {
    probe(method, None, Entry, hook_method, This)
}

/// The methods that access atomics; all others are called rarely or call one of these.
const ATOMIC_ACCESS: &[Probe<'static>] = &[
    atomic("get", "atomicRead"),
    atomic("getAcquire", "atomicRead"),
    atomic("intValue", "atomicRead"),
    atomic("longValue", "atomicRead"),
    atomic("set", "atomicWrite"),
    atomic("lazySet", "atomicWrite"),
    atomic("setRelease", "atomicWrite"),
    probe("compareAndSet", None, Return, "atomicCompared", ResultAndThis),
    probe("weakCompareAndSetVolatile", None, Return, "atomicCompared", ResultAndThis),
    atomic("compareAndExchange", "atomicWrite"),
    atomic("getAndSet", "atomicWrite"),
    atomic("getAndIncrement", "atomicWrite"),
    atomic("getAndDecrement", "atomicWrite"),
    atomic("getAndAdd", "atomicWrite"),
    atomic("incrementAndGet", "atomicWrite"),
    atomic("decrementAndGet", "atomicWrite"),
    atomic("addAndGet", "atomicWrite"),
    atomic("getAndUpdate", "atomicWrite"),
    atomic("updateAndGet", "atomicWrite"),
    atomic("getAndAccumulate", "atomicWrite"),
    atomic("accumulateAndGet", "atomicWrite"),
];

const ATOMIC_METHODS: &[&str] = &[
    "get",
    "getAcquire",
    "intValue",
    "longValue",
    "set",
    "lazySet",
    "setRelease",
    "compareAndSet",
    "compareAndExchange",
    "weakCompareAndSetVolatile",
    "getAndSet",
    "getAndIncrement",
    "getAndDecrement",
    "getAndAdd",
    "incrementAndGet",
    "decrementAndGet",
    "addAndGet",
    "getAndUpdate",
    "updateAndGet",
    "getAndAccumulate",
    "accumulateAndGet",
];

const LOCK_METHODS: &[&str] = &["lock", "lockInterruptibly", "tryLock"];

const STAMPED_METHODS: &[&str] = &[
    "writeLock",
    "tryWriteLock",
    "writeLockInterruptibly",
    "readLock",
    "tryReadLock",
    "readLockInterruptibly",
];

/// Methods whose call sites matter for atomic blocks: locks other than monitors, and atomics. Calls within the JDK do not matter.
pub(crate) const ANNOUNCED: &[(&str, &[&str])] = &[
    ("java/util/concurrent/locks/Lock", LOCK_METHODS),
    ("java/util/concurrent/locks/ReentrantLock", LOCK_METHODS),
    ("java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock", LOCK_METHODS),
    ("java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock", LOCK_METHODS),
    ("java/util/concurrent/locks/StampedLock", STAMPED_METHODS),
    ("java/util/concurrent/atomic/AtomicBoolean", ATOMIC_METHODS),
    ("java/util/concurrent/atomic/AtomicInteger", ATOMIC_METHODS),
    ("java/util/concurrent/atomic/AtomicLong", ATOMIC_METHODS),
    ("java/util/concurrent/atomic/AtomicReference", ATOMIC_METHODS),
];

/// Calls that acquire and release locks of `java.util.concurrent`, for monitor scripts.
pub(crate) const LOCK_CALLS: &[(&str, &[(&str, LockCall)])] = &[
    ("java/util/concurrent/locks/Lock", LOCK_CALL_METHODS),
    ("java/util/concurrent/locks/ReentrantLock", LOCK_CALL_METHODS),
    ("java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock", LOCK_CALL_METHODS),
    ("java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock", LOCK_CALL_METHODS),
    ("java/util/concurrent/locks/StampedLock", STAMPED_CALL_METHODS),
];

const LOCK_CALL_METHODS: &[(&str, LockCall)] = &[
    ("lock", LockCall::Acquire),
    ("lockInterruptibly", LockCall::Acquire),
    ("tryLock", LockCall::Try),
    ("unlock", LockCall::Release),
];

const STAMPED_CALL_METHODS: &[(&str, LockCall)] = &[
    ("readLock", LockCall::Acquire),
    ("readLockInterruptibly", LockCall::Acquire),
    ("writeLock", LockCall::Acquire),
    ("writeLockInterruptibly", LockCall::Acquire),
    ("unlock", LockCall::Release),
    ("unlockRead", LockCall::Release),
    ("unlockWrite", LockCall::Release),
];

/// The probes to insert into a JDK class, by its internal name.
pub(crate) fn probes(class: &str, order: Order, atomics: bool) -> &'static [Probe<'static>] {
    match class {
        "java/util/concurrent/atomic/AtomicBoolean"
        | "java/util/concurrent/atomic/AtomicInteger"
        | "java/util/concurrent/atomic/AtomicLong"
        | "java/util/concurrent/atomic/AtomicReference"
            if atomics =>
        {
            ATOMIC_ACCESS
        }
        "java/lang/Thread" => THREAD,
        "java/lang/VirtualThread" | "java/lang/ThreadBuilders$BoundVirtualThread" => VIRTUAL_THREAD,
        "java/util/concurrent/locks/ReentrantLock" => REENTRANT_LOCK,
        "java/util/concurrent/locks/ReentrantReadWriteLock" => READ_WRITE_LOCK,
        "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock" => READ_LOCK,
        "java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock" => REENTRANT_LOCK,
        "java/util/concurrent/locks/StampedLock" => STAMPED_LOCK,
        "jdk/internal/reflect/Reflection" => REFLECTION,
        "sun/misc/Unsafe" if order == Order::HappensBefore => UNSAFE,
        _ if order == Order::HappensBefore && class.starts_with("java/lang/invoke/VarHandle") => {
            match class.rsplit('$').next() {
                Some("FieldStaticReadOnly" | "FieldStaticReadWrite") => STATIC_VAR_HANDLE,
                Some("FieldInstanceReadOnly" | "FieldInstanceReadWrite" | "Array") => VAR_HANDLE,
                _ => &[],
            }
        }
        _ if !tested::probes(class).is_empty() => tested::probes(class),
        _ if order != Order::StartJoin => {
            let class = class.strip_prefix("java/util/").unwrap_or_default();
            match hand_over_probes(class) {
                [] if order == Order::HappensBefore => happens_before_probes(class),
                probes => probes,
            }
        }
        _ => &[],
    }
}

fn happens_before_probes(class: &str) -> &'static [Probe<'static>] {
    match class.strip_prefix("concurrent/").unwrap_or_default() {
        "ConcurrentHashMap" | "ConcurrentSkipListMap" => MAP,
        "CopyOnWriteArrayList" => LIST,
        "locks/AbstractQueuedSynchronizer$ConditionObject" => CONDITION,
        "atomic/AtomicIntegerFieldUpdater$AtomicIntegerFieldUpdaterImpl"
        | "atomic/AtomicLongFieldUpdater$CASUpdater"
        | "atomic/AtomicReferenceFieldUpdater$AtomicReferenceFieldUpdaterImpl" => FIELD_UPDATER,
        "atomic/AtomicBoolean"
        | "atomic/AtomicInteger"
        | "atomic/AtomicLong"
        | "atomic/AtomicReference"
        | "atomic/AtomicIntegerArray"
        | "atomic/AtomicLongArray"
        | "atomic/AtomicReferenceArray" => ATOMIC,
        _ => &[],
    }
}

pub(crate) fn hand_over_probes(class: &str) -> &'static [Probe<'static>] {
    match class.strip_prefix("concurrent/").unwrap_or(class) {
        "Timer" => TIMER,
        "TaskQueue" => TIMER_QUEUE,
        "FutureTask" => FUTURE_TASK,
        "ThreadPoolExecutor" | "ScheduledThreadPoolExecutor" => EXECUTOR,
        "ForkJoinTask" => FORK_JOIN_TASK,
        "ForkJoinPool" => FORK_JOIN_POOL,
        "CountedCompleter" => COUNTED_COMPLETER,
        "CompletableFuture" => COMPLETABLE_FUTURE,
        "CompletableFuture$AsyncRun" | "CompletableFuture$AsyncSupply" | "CompletableFuture$Completion" => {
            TASK
        }
        "CountDownLatch" => COUNT_DOWN_LATCH,
        "CyclicBarrier" => CYCLIC_BARRIER,
        "Exchanger" => EXCHANGER,
        "Phaser" => PHASER,
        "Semaphore" => SEMAPHORE,
        "ArrayBlockingQueue"
        | "LinkedBlockingQueue"
        | "LinkedBlockingDeque"
        | "PriorityBlockingQueue"
        | "SynchronousQueue"
        | "LinkedTransferQueue"
        | "DelayQueue"
        | "ConcurrentLinkedQueue"
        | "ConcurrentLinkedDeque" => QUEUE,
        _ => &[],
    }
}

/// Whether a class must not be rewritten: `Object`, `Unsafe`, the hook classes, and the implementation of virtual threads, in
/// which the current thread changes in the middle of a method.
pub(crate) fn is_untouchable(class: &str) -> bool {
    class == "java/lang/Object"
        || class.starts_with(crate::hook::PREFIX)
        || class.starts_with("jdk/internal/vm/")
        || class.starts_with("jdk/internal/misc/Unsafe")
}

/// Whether the monitors of a class are not instrumented.
pub(crate) fn keeps_its_monitors(class: &str) -> bool {
    class == "java/lang/VirtualThread" || class.starts_with("java/lang/VirtualThread$")
}
