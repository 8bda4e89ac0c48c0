//! The probes of watched runs in JDK classes: locks other than monitors, starting and joining threads, calls that order threads. The crate
//! `jdk` knows the methods; here each of them gets its hook method.

use std::sync::LazyLock;

use fissure_classfile::{LockCall, Probe, ProbeArguments, ProbePoint};
use fissure_jdk::{AtomicAccess, LockOperation, Member, Mode, Ordering, Reflected, Subject, ThreadEvent};
use fissure_model::settings::Order;

use crate::tested;

use ProbeArguments::{MapResult, Parameter, ResultAndThis, This};
use ProbePoint::{Entry, Return};

/// A probe in a method that `jdk` knows.
pub(crate) fn probe<T>(
    member: &Member<T>,
    at: ProbePoint,
    hook_method: &'static str,
    argument: ProbeArguments,
) -> Probe<'static> {
    Probe { method: member.method, descriptor: member.descriptor, at, hook_method, argument }
}

/// The probes to insert into a JDK class, by its internal name.
pub(crate) fn probes(class: &str, order: Order, atomics: bool) -> Vec<Probe<'static>> {
    let tested = tested::probes(class);
    if !tested.is_empty() {
        return tested.to_vec();
    }
    let atomics = if atomics { fissure_jdk::atomic_methods(class) } else { &[] };
    let atomics = atomics.iter().map(atomic_probe);
    let threads = [fissure_jdk::thread_methods(class), fissure_jdk::virtual_thread_methods(class)];
    let threads = threads.into_iter().flatten().filter_map(thread_probe);
    let is_stamped = fissure_jdk::is_stamped(class);
    let locks = fissure_jdk::lock_methods(class).iter().filter_map(|member| lock_probe(member, is_stamped));
    let reflection = fissure_jdk::reflection_methods(class).iter().filter_map(reflection_probe);
    let hand_over = if order >= Order::HandOver { fissure_jdk::hand_over(class) } else { &[] };
    let hand_over = hand_over.iter().map(round_probe);
    let (waiting, shared) = match order.has_synchronization() {
        true => (fissure_jdk::waiting(class), fissure_jdk::shared_state(class)),
        false => (&[][..], &[][..]),
    };
    let order = waiting.iter().map(order_probe).chain(shared.iter().map(shared_state_probe));
    threads.chain(locks).chain(reflection).chain(atomics).chain(hand_over).chain(order).collect()
}

/// The probes in the methods of a class with which threads hand over what they did, by the internal name of the class. Rounds of
/// barriers are not told apart.
pub(crate) fn hand_over_probes(class: &str) -> Vec<Probe<'static>> {
    fissure_jdk::hand_over(class).iter().map(order_probe).collect()
}

/// The same, with the rounds of barriers.
fn round_probe(member: &Member<Ordering>) -> Probe<'static> {
    match member.role {
        Ordering::Release(Subject::Round) => probe(member, Entry, "roundEntered", This),
        Ordering::Acquire(Subject::Round) => probe(member, Return, "roundEnded", This),
        _ => order_probe(member),
    }
}

/// The probe that hides the agent's fields from reflection.
pub(crate) fn reflection_probe(member: &Member<Reflected>) -> Option<Probe<'static>> {
    (member.role == Reflected::Fields).then(|| probe(member, Return, "visibleFields", MapResult))
}

/// Methods whose call sites matter for atomic blocks: locks other than monitors, and atomics. Calls within the JDK do not matter.
pub(crate) fn announced() -> &'static [(&'static str, &'static [&'static str])] {
    static ANNOUNCED: LazyLock<Vec<(&str, &[&str])>> = LazyLock::new(|| {
        let locks = fissure_jdk::lock_classes().map(|(class, methods)| {
            let acquires = |member: &&Member<LockOperation>| {
                matches!(member.role, LockOperation::Acquire(_) | LockOperation::Try(_))
            };
            (class, methods.iter().filter(acquires).map(|member| member.method).collect::<Vec<_>>())
        });
        let atomics = fissure_jdk::atomic_classes()
            .map(|(class, methods)| (class, methods.iter().map(|member| member.method).collect()));
        let all = locks.chain(atomics).filter(|(_, methods)| !methods.is_empty());
        all.map(|(class, methods)| (class, &*methods.leak())).collect()
    });
    &ANNOUNCED
}

/// The methods of a lock class that acquire and release the lock.
type LockCalls = &'static [(&'static str, LockCall)];

/// Calls that acquire and release locks of `java.util.concurrent`, for monitor scripts.
pub(crate) fn lock_calls() -> &'static [(&'static str, LockCalls)] {
    static LOCK_CALLS: LazyLock<Vec<(&str, LockCalls)>> = LazyLock::new(|| {
        let classes = fissure_jdk::lock_classes().map(|(class, methods)| {
            let is_stamped = fissure_jdk::is_stamped(class);
            let call = |member: &Member<LockOperation>| {
                let call = match member.role {
                    LockOperation::Acquire(_) => LockCall::Acquire,
                    // A stamp does not say simply whether the lock was acquired.
                    LockOperation::Try(_) if !is_stamped => LockCall::Try,
                    LockOperation::Release => LockCall::Release,
                    _ => return None,
                };
                Some((member.method, call))
            };
            (class, methods.iter().filter_map(call).collect::<Vec<_>>())
        });
        let classes = classes.filter(|(_, methods)| !methods.is_empty());
        classes.map(|(class, methods)| (class, &*methods.leak())).collect()
    });
    &LOCK_CALLS
}

fn thread_probe(member: &Member<ThreadEvent>) -> Option<Probe<'static>> {
    match member.role {
        ThreadEvent::Start => Some(probe(member, Entry, "threadStart", This)),
        ThreadEvent::Join => Some(probe(member, Return, "threadJoined", This)),
        ThreadEvent::Uncaught => Some(probe(member, Entry, "uncaught", Parameter(0))),
        ThreadEvent::Interrupt => None,
    }
}

fn lock_probe(member: &Member<LockOperation>, is_stamped: bool) -> Option<Probe<'static>> {
    let (at, hook_method, argument) = match (member.role, is_stamped) {
        (LockOperation::Acquire(Mode::Write) | LockOperation::Try(Mode::Write), true) => {
            (Return, "stampedWrite", ResultAndThis)
        }
        (LockOperation::Acquire(Mode::Read) | LockOperation::Try(Mode::Read), true) => {
            (Return, "stampedRead", ResultAndThis)
        }
        (LockOperation::Acquire(Mode::Write), false) => (Return, "locked", This),
        (LockOperation::Acquire(Mode::Read), false) => (Return, "readLocked", This),
        (LockOperation::Try(Mode::Write), false) => (Return, "tryLocked", ResultAndThis),
        (LockOperation::Try(Mode::Read), false) => (Return, "tryReadLocked", ResultAndThis),
        (LockOperation::Release | LockOperation::TryRelease | LockOperation::ReleaseInside, _) => {
            (Entry, "unlocked", This)
        }
        (LockOperation::Optimistic, _) => (Return, "stampedOptimistic", This),
        (LockOperation::Validate, _) => (Entry, "stampedValidate", This),
        (LockOperation::Convert(to), _) => {
            let hook_method = match to {
                Some(Mode::Write) => "stampedConvertedToWrite",
                Some(Mode::Read) => "stampedConvertedToRead",
                None => "stampedConvertedToOptimistic",
            };
            (Return, hook_method, ResultAndThis)
        }
        (LockOperation::Made, _) => (Return, "readWriteLockMade", This),
        (LockOperation::Query, _) => return None,
    };
    Some(probe(member, at, hook_method, argument))
}

/// Reports a read or write of an atomic.
fn atomic_probe(member: &Member<AtomicAccess>) -> Probe<'static> {
    match member.role {
        AtomicAccess::Read => probe(member, Entry, "atomicRead", This),
        AtomicAccess::Write => probe(member, Entry, "atomicWrite", This),
        AtomicAccess::Compare => probe(member, Return, "atomicCompared", ResultAndThis),
    }
}

/// Each release is at a method's entry, before its effect is visible, and each acquire at its return, after the effects of others were
/// visible.
fn order_probe(member: &Member<Ordering>) -> Probe<'static> {
    let object = |subject| match subject {
        Subject::Parameter(number) => Parameter(number),
        Subject::This | Subject::Foreign | Subject::Round | Subject::Result => This,
    };
    match member.role {
        Ordering::Release(Subject::Foreign) => probe(member, Entry, "stateReleased", This),
        Ordering::Acquire(Subject::Foreign) => probe(member, Return, "stateAcquired", This),
        Ordering::Guard => probe(member, Return, "conditionMade", This),
        Ordering::Release(subject) => probe(member, Entry, "released", object(subject)),
        Ordering::Acquire(Subject::Result) => probe(member, Return, "taken", ResultAndThis),
        Ordering::Acquire(subject) => probe(member, Return, "acquired", object(subject)),
        Ordering::Begin => probe(member, Entry, "acquired", This),
        Ordering::Complete => probe(member, Entry, "completes", This),
        Ordering::Compute => probe(member, Return, "computed", ResultAndThis),
    }
}

/// The same for a call that orders threads only if code outside of the JDK makes it, which is checked when it adds to the order.
fn shared_state_probe(member: &Member<Ordering>) -> Probe<'static> {
    let probe = order_probe(member);
    let hook_method = match probe.hook_method {
        "acquired" => "sharedAcquired",
        "taken" => "sharedTaken",
        "released" => "sharedReleased",
        "computed" => "sharedComputed",
        other => other,
    };
    Probe { hook_method, ..probe }
}

/// Whether a class must not be rewritten: a hook class, or one that the JVM depends on.
pub(crate) fn is_untouchable(class: &str) -> bool {
    class.starts_with(crate::hook::PREFIX) || fissure_jdk::is_untouchable(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, order: Order, atomics: bool, expected: &[(&str, ProbePoint, &str)]) {
        let found = probes(class, order, atomics);
        let found: Vec<_> = found.iter().map(|probe| (probe.method, probe.at, probe.hook_method)).collect();
        assert_eq!(found, expected, "{class}");
    }

    #[test]
    fn methods_of_the_jdk_get_their_hooks() {
        let lock = [
            ("lock", Return, "readLocked"),
            ("lockInterruptibly", Return, "readLocked"),
            ("tryLock", Return, "tryReadLocked"),
            ("unlock", Entry, "unlocked"),
        ];
        let read_lock = "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock";
        check(read_lock, Order::StartJoin, false, &lock);
        let barrier = "java/util/concurrent/CyclicBarrier";
        check(barrier, Order::StartJoin, false, &[]);
        check(
            barrier,
            Order::HandOver,
            false,
            &[("await", Entry, "roundEntered"), ("await", Return, "roundEnded")],
        );
        check("CyclicBarrier", Order::HappensBefore, true, &[]);
        let virtual_thread = [("start", Entry, "threadStart"), ("joinNanos", Return, "threadJoined")];
        check("java/lang/VirtualThread", Order::HappensBefore, true, &virtual_thread);
        let atomic = "java/util/concurrent/atomic/AtomicInteger";
        check(atomic, Order::StartJoin, false, &[]);
        let hooks = |order, atomics| {
            let found = probes(atomic, order, atomics);
            let set = found.into_iter().filter(|probe| probe.method == "set");
            set.map(|probe| probe.hook_method).collect::<Vec<_>>()
        };
        assert_eq!(hooks(Order::HandOver, true), ["atomicWrite"]);
        assert_eq!(hooks(Order::Synchronization, true), ["atomicWrite", "sharedReleased"]);
        let mutex = "java/util/concurrent/locks/AbstractQueuedSynchronizer";
        check(mutex, Order::HandOver, false, &[]);
        let state = [
            ("getState", Return, "stateAcquired"),
            ("setState", Entry, "stateReleased"),
            ("compareAndSetState", Entry, "stateReleased"),
            ("compareAndSetState", Return, "stateAcquired"),
        ];
        check(mutex, Order::Synchronization, false, &state);
    }

    #[test]
    fn call_sites_of_locks_and_atomics_are_announced() {
        let names =
            |class: &str| announced().iter().find(|(known, _)| *known == class).map(|(_, names)| names.len());
        assert_eq!(names("java/util/concurrent/locks/Lock"), Some(3));
        assert_eq!(names("java/util/concurrent/locks/StampedLock"), Some(6));
        assert_eq!(names("java/util/concurrent/atomic/AtomicBoolean"), Some(21));
        assert_eq!(names("java/util/concurrent/locks/ReentrantReadWriteLock"), None);
        let (_, stamped) = lock_calls().iter().find(|(class, _)| class.ends_with("StampedLock")).unwrap();
        assert!(stamped.contains(&("unlock", LockCall::Release)) && stamped.len() == 7);
    }
}
