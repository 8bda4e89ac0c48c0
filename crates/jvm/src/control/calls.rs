//! The calls of JDK methods that go to the conductor instead, and the JDK methods that report to it.

use fissure_classfile::{Call, Probe, ProbeArguments, ProbePoint, Region, Scheduling};
use fissure_model::settings::{Control as Settings, Wanted};

use ProbeArguments::{MapResult, Parameter, ResultAndThis, This};
use ProbePoint::{Entry, Return};

use crate::jdk;
use crate::tested;

const fn call(
    class: Option<&'static str>,
    name: &'static str,
    descriptor: &'static str,
    hook_method: &'static str,
    hook_descriptor: &'static str,
) -> Call<'static> {
    Call { class, name, descriptor, hook_method, hook_descriptor, site: true }
}

const fn clock(
    class: &'static str,
    name: &'static str,
    descriptor: &'static str,
    hook_method: &'static str,
) -> Call<'static> {
    Call { class: Some(class), name, descriptor, hook_method, hook_descriptor: descriptor, site: false }
}

const fn exit(name: &'static str) -> Call<'static> {
    Call {
        class: Some("java/lang/Runtime"),
        name,
        descriptor: "(I)V",
        hook_method: name,
        hook_descriptor: "(Ljava/lang/Object;I)V",
        site: false,
    }
}

const fn random(
    class: &'static str,
    name: &'static str,
    descriptor: &'static str,
    hook_method: &'static str,
    hook_descriptor: &'static str,
) -> Call<'static> {
    Call { class: Some(class), name, descriptor, hook_method, hook_descriptor, site: false }
}

const THREAD: Option<&str> = Some("java/lang/Thread");
const UNSAFE: Option<&str> = Some("jdk/internal/misc/Unsafe");

const CALLS: &[Call<'static>] = &[
    // These methods of `Object` are final, so no other class can have methods with these names and descriptors.
    call(None, "wait", "()V", "waitOn", "(Ljava/lang/Object;I)V"),
    call(None, "wait", "(J)V", "waitOn", "(Ljava/lang/Object;JI)V"),
    call(None, "wait", "(JI)V", "waitOn", "(Ljava/lang/Object;JII)V"),
    call(None, "notify", "()V", "notifyOne", "(Ljava/lang/Object;I)V"),
    call(None, "notifyAll", "()V", "notifyAll", "(Ljava/lang/Object;I)V"),
    call(THREAD, "sleep", "(J)V", "sleep", "(JI)V"),
    call(THREAD, "sleep", "(JI)V", "sleep", "(JII)V"),
    // From Java 21 on, the other variants of `sleep` call these.
    call(THREAD, "sleep0", "(J)V", "sleepNanos", "(JI)V"),
    call(THREAD, "sleepNanos0", "(J)V", "sleepNanos", "(JI)V"),
    call(THREAD, "yield", "()V", "offer", "(I)V"),
    call(THREAD, "onSpinWait", "()V", "offer", "(I)V"),
    call(UNSAFE, "park", "(ZJ)V", "park", "(Ljava/lang/Object;ZJI)V"),
    Call {
        class: UNSAFE,
        name: "unpark",
        descriptor: "(Ljava/lang/Object;)V",
        hook_method: "unpark",
        hook_descriptor: "(Ljava/lang/Object;Ljava/lang/Object;)V",
        site: false,
    },
    Call {
        class: None,
        name: "getState",
        descriptor: "()Ljava/lang/Thread$State;",
        hook_method: "stateOf",
        hook_descriptor: "(Ljava/lang/Object;)Ljava/lang/Thread$State;",
        site: false,
    },
    exit("exit"),
    exit("halt"),
    clock("java/lang/System", "nanoTime", "()J", "nanoTime"),
    clock("java/lang/System", "currentTimeMillis", "()J", "currentTimeMillis"),
    clock("jdk/internal/misc/VM", "getNanoTimeAdjustment", "(J)J", "adjustment"),
    // Where the JDK gets random numbers from the operating system.
    random(
        "sun/security/provider/NativePRNG$RandomIO",
        "implNextBytes",
        "([B)V",
        "randomBytes",
        "(Ljava/lang/Object;[B)V",
    ),
    random(
        "sun/security/provider/NativePRNG$RandomIO",
        "implGenerateSeed",
        "(I)[B",
        "randomSeed",
        "(Ljava/lang/Object;I)[B",
    ),
    random("sun/security/provider/SeedGenerator", "generateSeed", "([B)V", "seedBytes", "([B)V"),
    random("sun/security/provider/SeedGenerator", "getSystemEntropy", "()[B", "entropy", "()[B"),
];

/// While one thread is in these methods, others may wait for it inside of the JVM.
const REGIONS: &[Region<'static>] = &[
    region("loadClass"),
    region("findClass"),
    region("linkCallSite"),
    region("linkDynamicConstant"),
    region("linkMethod"),
    region("linkMethodHandleConstant"),
    region("findMethodHandleType"),
];

const fn region(method: &'static str) -> Region<'static> {
    Region { method, descriptor: None }
}

const SCHEDULING: Scheduling<'static> = Scheduling { calls: CALLS, regions: REGIONS };

/// Whether a class takes locks only after a garbage collection. Collections happen at different times in every run, and a lock that
/// is numbered then would shift the identity hashes of all objects that are hashed later. No thread is preempted while it holds
/// such a lock.
pub(crate) fn locks_for_the_collector(class: &str) -> bool {
    matches!(class, "java/lang/ref/ReferenceQueue" | "java/util/WeakHashMap")
}

/// The instructions to the rewriter for a class in a controlled run.
pub(crate) fn plan() -> Scheduling<'static> {
    SCHEDULING
}

/// The same for harnesses: only the calls that block and wake threads, which come first in the list.
pub(crate) fn plan_for_exploring() -> Scheduling<'static> {
    let last = CALLS.iter().position(|call| call.hook_method == "unpark");
    Scheduling { calls: &CALLS[..last.map_or(0, |last| last + 1)], ..SCHEDULING }
}

const fn probe(
    method: &'static str,
    at: ProbePoint,
    hook_method: &'static str,
    argument: ProbeArguments,
) -> Probe<'static> {
    Probe { method, descriptor: None, at, hook_method, argument }
}

const fn typed(
    method: &'static str,
    descriptor: &'static str,
    at: ProbePoint,
    hook_method: &'static str,
    argument: ProbeArguments,
) -> Probe<'static> {
    Probe { method, descriptor: Some(descriptor), at, hook_method, argument }
}

const THREAD_PROBES: &[Probe<'static>] = &[
    probe("start", Entry, "threadStarting", This),
    probe("start", Return, "threadStarted", This),
    probe("interrupt", Return, "interrupted", This),
    typed("dispatchUncaughtException", "(Ljava/lang/Throwable;)V", Entry, "uncaught", Parameter(0)),
];

const VIRTUAL_THREAD_PROBES: &[Probe<'static>] = &[probe("start", Entry, "threadStarting", This)];

const LOCK: &[Probe<'static>] = &[
    typed("lock", "()V", Entry, "attempts", This),
    typed("lock", "()V", Return, "locked", This),
    typed("lockInterruptibly", "()V", Entry, "attempts", This),
    typed("lockInterruptibly", "()V", Return, "locked", This),
    probe("tryLock", Entry, "attempts", This),
    probe("tryLock", Return, "tryLocked", ResultAndThis),
    typed("unlock", "()V", Return, "unlocked", This),
];

const READ_LOCK: &[Probe<'static>] = &[
    typed("lock", "()V", Entry, "attempts", This),
    typed("lock", "()V", Return, "readLocked", This),
    typed("lockInterruptibly", "()V", Entry, "attempts", This),
    typed("lockInterruptibly", "()V", Return, "readLocked", This),
    probe("tryLock", Entry, "attempts", This),
    probe("tryLock", Return, "tryReadLocked", ResultAndThis),
    typed("unlock", "()V", Return, "unlocked", This),
];

const READ_WRITE_LOCK: &[Probe<'static>] = &[typed("<init>", "(Z)V", Return, "readWriteLockMade", This)];

const STAMPED_LOCK: &[Probe<'static>] = &[
    typed("writeLock", "()J", Entry, "attempts", This),
    typed("writeLock", "()J", Return, "stampedWrite", ResultAndThis),
    probe("tryWriteLock", Entry, "attempts", This),
    probe("tryWriteLock", Return, "stampedWrite", ResultAndThis),
    typed("writeLockInterruptibly", "()J", Entry, "attempts", This),
    typed("writeLockInterruptibly", "()J", Return, "stampedWrite", ResultAndThis),
    typed("readLock", "()J", Entry, "attempts", This),
    typed("readLock", "()J", Return, "stampedRead", ResultAndThis),
    probe("tryReadLock", Entry, "attempts", This),
    probe("tryReadLock", Return, "stampedRead", ResultAndThis),
    typed("readLockInterruptibly", "()J", Entry, "attempts", This),
    typed("readLockInterruptibly", "()J", Return, "stampedRead", ResultAndThis),
    typed("tryOptimisticRead", "()J", Entry, "steps", This),
    typed("validate", "(J)Z", Entry, "steps", This),
    typed("unlockWrite", "(J)V", Return, "unlocked", This),
    typed("unlockRead", "(J)V", Return, "unlocked", This),
    typed("unlock", "(J)V", Return, "unlocked", This),
    typed("tryUnlockWrite", "()Z", Return, "unlocked", This),
    typed("tryUnlockRead", "()Z", Return, "unlocked", This),
    typed("unstampedUnlockWrite", "()V", Return, "unlocked", This),
    typed("unstampedUnlockRead", "()V", Return, "unlocked", This),
];

const fn step(method: &'static str) -> Probe<'static> {
    probe(method, Entry, "steps", This)
}

/// A semaphore with one permit is a lock that any thread may release.
const SEMAPHORE: &[Probe<'static>] = &[
    typed("<init>", "(I)V", Return, "semaphoreMade", This),
    typed("<init>", "(IZ)V", Return, "semaphoreMade", This),
    probe("acquire", Entry, "attemptsPermit", This),
    probe("acquire", Return, "permitted", This),
    probe("acquireUninterruptibly", Entry, "attemptsPermit", This),
    probe("acquireUninterruptibly", Return, "permitted", This),
    probe("tryAcquire", Entry, "attemptsPermit", This),
    probe("tryAcquire", Return, "tryPermitted", ResultAndThis),
    probe("release", Return, "permitReturned", This),
];
const LATCH: &[Probe<'static>] = &[step("countDown"), step("await")];
const BARRIER: &[Probe<'static>] = &[step("await")];
const EXCHANGER: &[Probe<'static>] = &[step("exchange")];
const PHASER: &[Probe<'static>] = &[
    step("register"),
    step("arrive"),
    step("arriveAndDeregister"),
    step("arriveAndAwaitAdvance"),
    step("awaitAdvance"),
    step("awaitAdvanceInterruptibly"),
];
const FUTURE: &[Probe<'static>] =
    &[step("complete"), step("completeExceptionally"), step("cancel"), step("get"), step("join")];
const CONCURRENT_COLLECTION: &[Probe<'static>] = &[
    step("get"),
    step("put"),
    step("putIfAbsent"),
    step("containsKey"),
    step("computeIfAbsent"),
    step("computeIfPresent"),
    step("compute"),
    step("merge"),
    step("replace"),
    step("remove"),
    step("add"),
    step("offer"),
    step("poll"),
    step("peek"),
    step("take"),
    step("contains"),
    step("isEmpty"),
    step("size"),
];

const fn atomic_access(method: &'static str) -> Probe<'static> {
    probe(method, Entry, "volatileRead", This)
}

const ATOMIC: &[Probe<'static>] = &[
    atomic_access("get"),
    atomic_access("getAcquire"),
    atomic_access("getPlain"),
    atomic_access("set"),
    atomic_access("lazySet"),
    atomic_access("compareAndSet"),
    atomic_access("weakCompareAndSet"),
    atomic_access("getAndSet"),
    atomic_access("getAndIncrement"),
    atomic_access("getAndDecrement"),
    atomic_access("getAndAdd"),
    atomic_access("incrementAndGet"),
    atomic_access("decrementAndGet"),
    atomic_access("addAndGet"),
];

const REFLECTION: &[Probe<'static>] = &[
    typed(
        "filterFields",
        "(Ljava/lang/Class;[Ljava/lang/reflect/Field;)[Ljava/lang/reflect/Field;",
        Return,
        "visibleFields",
        MapResult,
    ),
    typed(
        "filterMethods",
        "(Ljava/lang/Class;[Ljava/lang/reflect/Method;)[Ljava/lang/reflect/Method;",
        Return,
        "orderedMethods",
        MapResult,
    ),
];

const JOIN_PROBES: &[Probe<'static>] = &[
    typed("join", "(J)V", Return, "threadJoined", This),
    typed("join", "(Ljava/time/Duration;)Z", Return, "threadJoined", This),
];

/// The probes to insert into a JDK class, by its internal name. Probes that order threads are inserted only if the run observes
/// accesses.
pub(crate) fn probes(class: &str, settings: Option<&Settings>) -> Vec<Probe<'static>> {
    let mut probes = scheduling_probes(class, settings.is_some_and(|settings| settings.volatiles)).to_vec();
    if settings.is_some_and(|settings| settings.wanted != Wanted::default()) {
        let class = class.strip_prefix("java/util/").unwrap_or(class);
        probes.extend(if class == "java/lang/Thread" { JOIN_PROBES } else { jdk::hand_over_probes(class) });
    }
    probes
}

/// The probes that are scheduling points.
fn scheduling_probes(class: &str, stops_at_volatiles: bool) -> &'static [Probe<'static>] {
    match class {
        "java/lang/Thread" => return THREAD_PROBES,
        "java/lang/VirtualThread" | "java/lang/ThreadBuilders$BoundVirtualThread" => {
            return VIRTUAL_THREAD_PROBES;
        }
        "jdk/internal/reflect/Reflection" => return REFLECTION,
        _ => match tested::probes(class) {
            [] => {}
            probes => return probes,
        },
    }
    match class.strip_prefix("java/util/concurrent/").unwrap_or_default() {
        "locks/ReentrantLock" | "locks/ReentrantReadWriteLock$WriteLock" => LOCK,
        "locks/ReentrantReadWriteLock$ReadLock" => READ_LOCK,
        "locks/ReentrantReadWriteLock" => READ_WRITE_LOCK,
        "locks/StampedLock" => STAMPED_LOCK,
        "Semaphore" => SEMAPHORE,
        "CountDownLatch" => LATCH,
        "CyclicBarrier" => BARRIER,
        "Exchanger" => EXCHANGER,
        "Phaser" => PHASER,
        "FutureTask" | "CompletableFuture" => FUTURE,
        "atomic/AtomicBoolean" | "atomic/AtomicInteger" | "atomic/AtomicLong" | "atomic/AtomicReference" => {
            ATOMIC
        }
        "ConcurrentHashMap"
        | "ConcurrentSkipListMap"
        | "ConcurrentLinkedQueue"
        | "ConcurrentLinkedDeque"
        | "ConcurrentSkipListSet"
        | "CopyOnWriteArrayList"
        | "CopyOnWriteArraySet"
        | "SynchronousQueue"
        | "LinkedTransferQueue"
            if stops_at_volatiles =>
        {
            CONCURRENT_COLLECTION
        }
        _ => &[],
    }
}
