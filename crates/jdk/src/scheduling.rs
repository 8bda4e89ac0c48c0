//! Scheduling points of `java.util.concurrent`, and the calls that go to the conductor (`scheduling-points.txt`, `calls.txt`).

use std::sync::LazyLock;

use crate::{
    files::{file, loaded},
    format::DataError,
    tables::{Member, Members},
};

/// What a method does at a scheduling point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointKind {
    /// The thread may be preempted before it.
    Step,
    /// The same, but only if all schedules of a harness are explored: it only shows the state.
    Observe,
    /// It takes a permit of a semaphore.
    Acquire,
    /// It takes a permit if it returns true.
    Try,
    /// It returns a permit.
    Release,
    /// It creates the semaphore.
    Made,
}

/// How a method gets the file that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Its first parameter is the file descriptor.
    Descriptor,
    /// It is a method of the stream.
    Stream,
    /// It is a method of the channel.
    Channel,
}

/// A call that goes to the conductor instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redirected {
    /// The operation of the conductor.
    pub operation: &'static str,
    /// Whether the method has no receiver.
    pub is_static: bool,
    /// Whether the code may name any class.
    pub is_of_any_class: bool,
    /// Whether the conductor wants to know where the call is.
    pub has_site: bool,
}

/// The scheduling points of semaphores and latches, by the internal name of the class.
pub fn semaphore_points(class: &str) -> &'static [Member<PointKind>] {
    match POINTS.semaphores.of(class) {
        [] => POINTS.latches.of(class),
        points => points,
    }
}

/// The scheduling points of other synchronizers, which are built from locks, by the internal name of the class.
pub fn synchronizer_points(class: &str) -> &'static [Member<PointKind>] {
    POINTS.synchronizers.of(class)
}

/// The methods that read from a file and may block in the kernel, by the internal name of the class.
pub fn reading_methods(class: &str) -> &'static [Member<Reading>] {
    POINTS.reading.of(class)
}

/// Methods that read a volatile variable and are no scheduling points: internal names of classes with their methods.
pub fn volatile_reads() -> impl Iterator<Item = (&'static str, &'static [Member<()>])> {
    POINTS.volatile_reads.all()
}

/// The scheduling points of atomics, by the internal name of the class.
pub fn atomic_points(class: &str) -> &'static [Member<PointKind>] {
    POINTS.atomics.of(class)
}

/// The scheduling points of collections that use no locks, by the internal name of the class.
pub fn collection_points(class: &str) -> &'static [Member<PointKind>] {
    POINTS.collections.of(class)
}

/// Calls that block and wake threads: internal names of classes with their methods.
pub fn blocking_calls() -> impl Iterator<Item = (&'static str, &'static [Member<Redirected>])> {
    CALLS.blocking.all()
}

/// Calls that show the state of threads, end the JVM, read a clock, get random numbers from the operating system, or wait for input.
pub fn environment_calls() -> impl Iterator<Item = (&'static str, &'static [Member<Redirected>])> {
    CALLS.environment.iter().flat_map(Members::all)
}

/// Calls that go to the conductor only in the implementation of sockets and channels ([`is_of_channels`]).
pub fn channel_calls() -> impl Iterator<Item = (&'static str, &'static [Member<Redirected>])> {
    CALLS.channels.all()
}

/// Whether a class, given by its internal name, belongs to the implementation of sockets and channels.
pub fn is_of_channels(class: &str) -> bool {
    class.starts_with("sun/nio/ch/")
}

/// Whether a frame, given by the name of its class with dots and its method, is part of a call that ends the JVM.
pub fn is_exit_frame(class: &str, method: &str) -> bool {
    CALLS.exit_frames.all().any(|(exit, methods)| {
        let is_class = exit.len() == class.len() && class.split('.').eq(exit.split('/'));
        is_class && methods.iter().any(|member| member.method == method)
    })
}

static POINTS: LazyLock<Points> = LazyLock::new(|| loaded(Points::load()));
static CALLS: LazyLock<Calls> = LazyLock::new(|| loaded(Calls::load()));

pub(crate) struct Points {
    semaphores: Members<PointKind>,
    latches: Members<PointKind>,
    synchronizers: Members<PointKind>,
    atomics: Members<PointKind>,
    collections: Members<PointKind>,
    volatile_reads: Members<()>,
    reading: Members<Reading>,
}

impl Points {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("scheduling-points.txt")?;
        let mut members = |name| Members::load(file.take(name)?, |words| Some(vec![kind(words)?]));
        let [semaphores, latches, synchronizers, atomics, collections] = [
            members("semaphores")?,
            members("latches")?,
            members("synchronizers")?,
            members("atomics")?,
            members("collections")?,
        ];
        let volatile_reads =
            Members::load(file.take("volatile-reads")?, |words| words.is_empty().then(|| vec![()]))?;
        let reading = Members::load(file.take("reading")?, |words| Some(vec![reading(words)?]))?;
        let points =
            Points { semaphores, latches, synchronizers, atomics, collections, volatile_reads, reading };
        file.finish()?;
        Ok(points)
    }
}

pub(crate) struct Calls {
    blocking: Members<Redirected>,
    environment: Vec<Members<Redirected>>,
    channels: Members<Redirected>,
    exit_frames: Members<()>,
}

impl Calls {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("calls.txt")?;
        let mut members = |name| Members::load(file.take(name)?, |words| Some(vec![redirected(words)?]));
        let blocking = members("blocking")?;
        let environment = ["state", "exit", "clocks", "randomness", "input"].into_iter().map(&mut members);
        let environment = environment.collect::<Result<Vec<_>, _>>()?;
        let channels = members("channels")?;
        let exit_frames =
            Members::load(file.take("exit-frames")?, |words| words.is_empty().then(|| vec![()]))?;
        file.finish()?;
        Ok(Calls { blocking, environment, channels, exit_frames })
    }
}

fn kind(words: &[&str]) -> Option<PointKind> {
    Some(match words {
        ["step"] => PointKind::Step,
        ["observe"] => PointKind::Observe,
        ["acquire"] => PointKind::Acquire,
        ["try"] => PointKind::Try,
        ["release"] => PointKind::Release,
        ["made"] => PointKind::Made,
        _ => return None,
    })
}

fn reading(words: &[&str]) -> Option<Reading> {
    match words {
        ["descriptor"] => Some(Reading::Descriptor),
        ["stream"] => Some(Reading::Stream),
        ["channel"] => Some(Reading::Channel),
        _ => None,
    }
}

fn redirected(words: &[&'static str]) -> Option<Redirected> {
    let (operation, marks) = words.split_first()?;
    let mut call = Redirected { operation, is_static: false, is_of_any_class: false, has_site: false };
    for mark in marks {
        match *mark {
            "static" => call.is_static = true,
            "any" => call.is_of_any_class = true,
            "site" => call.has_site = true,
            _ => return None,
        }
    }
    Some(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exits_are_recognized() {
        assert!(is_exit_frame("java.lang.Runtime", "halt") && is_exit_frame("java.lang.System", "exit"));
        assert!(!is_exit_frame("java.lang.System", "halt") && !is_exit_frame("com.acme.System", "exit"));
    }

    #[test]
    fn virtual_threads_wait_for_input_like_platform_threads() {
        let calls: Vec<_> = channel_calls()
            .flat_map(|(class, methods)| methods.iter().map(move |method| (class, method)))
            .collect();
        assert_eq!(calls.len(), 1);
        assert_eq!((calls[0].0, calls[0].1.method), ("java/lang/Thread", "isVirtual"));
        assert!(is_of_channels("sun/nio/ch/NioSocketImpl") && !is_of_channels("java/net/Socket"));
    }

    #[test]
    fn unknown_marks_are_refused() {
        assert!(redirected(&["sleep", "static", "site"]).is_some_and(|call| call.is_static && call.has_site));
        assert_eq!(redirected(&["sleep", "somewhere"]), None);
        assert_eq!(redirected(&[]), None);
    }
}
