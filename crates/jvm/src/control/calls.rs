//! The calls of JDK methods that go to the conductor instead, and the JDK methods that report to it. The crate `jdk` knows the methods;
//! here each of them gets its hook method.

use std::sync::LazyLock;

use fissure_classfile::{Call, Probe, ProbeArguments, ProbePoint, Region, Scheduling, VolatileRead};
use fissure_jdk::{LockOperation, Member, Mode, PointKind, Reading, Redirected, Reflected, ThreadEvent};
use fissure_model::settings::{Control as Settings, Patterns};

use ProbeArguments::{MapResult, Parameter, ResultAndThis, This};
use ProbePoint::{Entry, Return};

use crate::{
    jdk::{self, probe},
    tested,
};

/// The calls that block and wake threads.
static BLOCKING: LazyLock<Vec<Call<'static>>> =
    LazyLock::new(|| fissure_jdk::blocking_calls().flat_map(redirected).collect());

/// All calls that go to the conductor: also those that show the state of threads, end the JVM, read a clock or get random numbers.
static CALLS: LazyLock<Vec<Call<'static>>> = LazyLock::new(|| {
    BLOCKING.iter().copied().chain(fissure_jdk::environment_calls().flat_map(redirected)).collect()
});

/// The same in the implementation of sockets and channels.
static CHANNEL_CALLS: LazyLock<Vec<Call<'static>>> = LazyLock::new(|| {
    CALLS.iter().copied().chain(fissure_jdk::channel_calls().flat_map(redirected)).collect()
});

/// While one thread is in these methods, others may wait for it inside of the JVM.
static REGIONS: LazyLock<Vec<Region<'static>>> = LazyLock::new(|| {
    fissure_jdk::class_loading_methods().map(|method| Region { method, descriptor: None }).collect()
});

/// Calls by which threads may spin.
static VOLATILE_READS: LazyLock<Vec<VolatileRead<'static>>> = LazyLock::new(|| {
    let reads = fissure_jdk::volatile_reads();
    reads
        .flat_map(|(class, methods)| {
            methods.iter().map(move |member| VolatileRead { class, name: member.method })
        })
        .collect()
});

/// The calls of the methods of a class that go to a hook. The hook method is named after the operation; it gets the receiver, the arguments
/// and, if it wants one, the number of the site.
fn redirected(
    (class, methods): (&'static str, &'static [Member<Redirected>]),
) -> impl Iterator<Item = Call<'static>> {
    methods.iter().map(move |member| {
        let call = member.role;
        let descriptor =
            member.descriptor.expect("the data about the JDK give redirected methods a descriptor");
        let (parameters, result) = descriptor.split_once(')').expect("a descriptor has parameters");
        let receiver = if call.is_static { "" } else { "Ljava/lang/Object;" };
        let site = if call.has_site { "I" } else { "" };
        let parameters = parameters.trim_start_matches('(');
        Call {
            class: (!call.is_of_any_class).then_some(class),
            name: member.method,
            descriptor,
            hook_method: call.operation,
            hook_descriptor: format!("({receiver}{parameters}{site}){result}").leak(),
            site: call.has_site,
        }
    })
}

/// The instructions to the rewriter for a class in a controlled run, by its internal name.
pub(crate) fn plan(class: &str) -> Scheduling<'static> {
    let calls = if fissure_jdk::is_of_channels(class) { &CHANNEL_CALLS } else { &CALLS };
    Scheduling { calls, regions: &REGIONS, volatile_reads: &VOLATILE_READS }
}

/// The same for harnesses: only the calls that block and wake threads.
pub(crate) fn plan_for_exploring() -> Scheduling<'static> {
    Scheduling { calls: &BLOCKING, regions: &REGIONS, volatile_reads: &[] }
}

/// The probes to insert into a JDK class, by its internal name. Probes that order threads are inserted only if the run observes
/// accesses.
pub(crate) fn probes(class: &str, settings: Option<&Settings>) -> Vec<Probe<'static>> {
    let mut probes = scheduling_probes(class, settings.is_some_and(|settings| settings.volatiles));
    let launcher = fissure_jdk::launcher_methods(class).iter();
    probes.extend(launcher.map(|member| probe(member, Return, "mainClass", MapResult)));
    if settings.is_some_and(|settings| settings.patterns != Patterns::default()) {
        let joins = fissure_jdk::thread_methods(class).iter();
        let joins = joins.filter(|member| member.role == ThreadEvent::Join);
        probes.extend(joins.map(|member| probe(member, Return, "threadJoined", This)));
        probes.extend(jdk::hand_over_probes(class));
    }
    probes
}

/// The probes that are scheduling points.
fn scheduling_probes(class: &str, stops_at_volatiles: bool) -> Vec<Probe<'static>> {
    let tested = tested::probes(class);
    if !tested.is_empty() {
        return tested.to_vec();
    }
    let collections = if stops_at_volatiles { fissure_jdk::collection_points(class) } else { &[] };
    let points = [fissure_jdk::semaphore_points(class), fissure_jdk::synchronizer_points(class), collections];
    let is_stamped = fissure_jdk::is_stamped(class);
    let mut probes: Vec<Probe<'static>> = Vec::new();
    probes.extend(fissure_jdk::thread_methods(class).iter().flat_map(thread_probes));
    let virtual_starts = fissure_jdk::virtual_thread_methods(class).iter();
    let virtual_starts = virtual_starts.filter(|member| member.role == ThreadEvent::Start);
    probes.extend(virtual_starts.map(|member| probe(member, Entry, "threadStarting", This)));
    probes.extend(fissure_jdk::reflection_methods(class).iter().flat_map(reflection_probes));
    probes.extend(fissure_jdk::lock_methods(class).iter().flat_map(|member| lock_probes(member, is_stamped)));
    probes.extend(points.into_iter().flatten().flat_map(point_probes));
    probes.extend(fissure_jdk::reading_methods(class).iter().map(|member| match member.role {
        Reading::Descriptor => probe(member, Entry, "reads", Parameter(0)),
        Reading::Stream => probe(member, Entry, "readsStream", This),
        Reading::Channel => probe(member, Entry, "readsChannel", This),
    }));
    probes.extend(
        fissure_jdk::atomic_points(class).iter().map(|member| probe(member, Entry, "volatileRead", This)),
    );
    probes
}

fn thread_probes(member: &Member<ThreadEvent>) -> Vec<Probe<'static>> {
    match member.role {
        ThreadEvent::Start => {
            vec![probe(member, Entry, "threadStarting", This), probe(member, Return, "threadStarted", This)]
        }
        ThreadEvent::Interrupt => vec![probe(member, Return, "interrupted", This)],
        ThreadEvent::Uncaught => vec![probe(member, Entry, "uncaught", Parameter(0))],
        ThreadEvent::Join => Vec::new(),
    }
}

fn reflection_probes(member: &Member<Reflected>) -> Option<Probe<'static>> {
    match member.role {
        Reflected::Fields => jdk::reflection_probe(member),
        Reflected::Methods => Some(probe(member, Return, "orderedMethods", MapResult)),
    }
}

fn lock_probes(member: &Member<LockOperation>, is_stamped: bool) -> Vec<Probe<'static>> {
    let (hook_method, argument) = match (member.role, is_stamped) {
        (LockOperation::Acquire(Mode::Write) | LockOperation::Try(Mode::Write), true) => {
            ("stampedWrite", ResultAndThis)
        }
        (LockOperation::Acquire(Mode::Read) | LockOperation::Try(Mode::Read), true) => {
            ("stampedRead", ResultAndThis)
        }
        (LockOperation::Acquire(Mode::Write), false) => ("locked", This),
        (LockOperation::Acquire(Mode::Read), false) => ("readLocked", This),
        (LockOperation::Try(Mode::Write), false) => ("tryLocked", ResultAndThis),
        (LockOperation::Try(Mode::Read), false) => ("tryReadLocked", ResultAndThis),
        (LockOperation::Release | LockOperation::TryRelease | LockOperation::ReleaseInside, _) => {
            return vec![probe(member, Return, "unlocked", This)];
        }
        (LockOperation::Optimistic | LockOperation::Validate, _) => {
            return vec![probe(member, Entry, "steps", This)];
        }
        (LockOperation::Made, _) => return vec![probe(member, Return, "readWriteLockMade", This)],
        (LockOperation::Convert(_) | LockOperation::Query, _) => return Vec::new(),
    };
    vec![probe(member, Entry, "attempts", This), probe(member, Return, hook_method, argument)]
}

fn point_probes(member: &Member<PointKind>) -> Vec<Probe<'static>> {
    let attempts = probe(member, Entry, "attemptsPermit", This);
    match member.role {
        PointKind::Step => vec![probe(member, Entry, "steps", This)],
        PointKind::Acquire => vec![attempts, probe(member, Return, "permitted", This)],
        PointKind::Try => vec![attempts, probe(member, Return, "tryPermitted", ResultAndThis)],
        PointKind::Release => vec![probe(member, Return, "permitReturned", This)],
        PointKind::Made => vec![probe(member, Return, "semaphoreMade", This)],
        PointKind::Observe => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirected_calls_pass_receiver_arguments_and_site() {
        let check = |name: &str, descriptor: &str, class: Option<&str>, expected: &str| {
            let call = plan("sun/nio/ch/NioSocketImpl")
                .calls
                .iter()
                .find(|call| (call.name, call.descriptor) == (name, descriptor))
                .unwrap();
            let found = format!("{}{}", call.hook_method, call.hook_descriptor);
            assert_eq!((call.class, found.as_str()), (class, expected), "{name}");
        };
        check("wait", "(J)V", None, "waitOn(Ljava/lang/Object;JI)V");
        check("sleep", "(J)V", Some("java/lang/Thread"), "sleep(JI)V");
        check("exit", "(I)V", Some("java/lang/Runtime"), "exit(Ljava/lang/Object;I)V");
        check("nanoTime", "()J", Some("java/lang/System"), "nanoTime()J");
        check("isVirtual", "()Z", Some("java/lang/Thread"), "waitsByPoller(Ljava/lang/Object;)Z");
        assert!(!plan("java/net/Socket").calls.iter().any(|call| call.name == "isVirtual"));
        let exploring = plan_for_exploring().calls;
        assert!(
            exploring.iter().any(|call| call.name == "park")
                && !exploring.iter().any(|call| call.name == "exit")
        );
    }

    #[test]
    fn methods_of_the_jdk_are_scheduling_points() {
        let check = |class: &str, stops: bool, expected: &[(&str, &str)]| {
            let found = scheduling_probes(class, stops);
            let found: Vec<_> = found.iter().map(|probe| (probe.method, probe.hook_method)).collect();
            assert_eq!(found, expected, "{class}");
        };
        check("java/util/concurrent/CountDownLatch", false, &[("countDown", "steps"), ("await", "steps")]);
        check("java/util/concurrent/ConcurrentHashMap", false, &[]);
        check("java/lang/VirtualThread", false, &[("start", "threadStarting")]);
        check("java/util/Vector", true, &[]);
        assert_eq!(scheduling_probes("java/util/concurrent/ConcurrentHashMap", true).len(), 18);
    }
}
