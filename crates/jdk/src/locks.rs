//! Locks: the methods of `java.util.concurrent` that acquire and release them, and whose locks are internal (`locks.txt`,
//! `internal-locks.txt`).

use std::sync::LazyLock;

use crate::{
    files::{FileSection, file, loaded},
    format::{ClassEntry, DataError},
    tables::{ClassSet, Member, Members},
};

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Exclusively.
    Write,
    /// Shared with other readers.
    Read,
}

/// The operation of a method on its lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOperation {
    /// It acquires the lock.
    Acquire(Mode),
    /// It acquires the lock if it returns true, or a stamp other than 0.
    Try(Mode),
    /// It releases the lock.
    Release,
    /// It releases the lock if it is held.
    TryRelease,
    /// It releases the lock, and only code of the JDK calls it.
    ReleaseInside,
    /// It begins a read without a lock.
    Optimistic,
    /// It ends a read without a lock.
    Validate,
    /// It exchanges the lock for one of another mode; `None` for an optimistic read.
    Convert(Option<Mode>),
    /// It shows the state of the lock.
    Query,
    /// It creates the lock.
    Made,
}

/// The access of a method to an atomic variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomicAccess {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It writes if it returns true.
    Compare,
}

/// The operation of the methods of this name of a lock class or interface, which has its internal name.
pub fn lock_operation(class: &str, method: &str) -> Option<LockOperation> {
    let (_, members) = lock_classes().find(|(known, _)| *known == class)?;
    members.iter().find(|member| member.method == method).map(|member| member.role)
}

/// The methods with code of a lock class, by its internal name. Those of a stamped lock return a stamp.
pub fn lock_methods(class: &str) -> &'static [Member<LockOperation>] {
    match LOCKS.locks.of(class) {
        [] => LOCKS.stamped.of(class),
        methods => methods,
    }
}

/// The class of a lock from that of its part which holds the owner, as in `…ReentrantLock$NonfairSync`; `None` if the class is no such part.
/// Parts in programs are recognized by the names that the JDK uses.
pub fn lock_of_part(class: &str) -> Option<&str> {
    let (lock, part) = class.rsplit_once('$')?;
    LOCKS.owner_parts.contains(&part).then_some(lock)
}

/// Whether the frames of a class say nothing about who uses a lock, because the class implements locks. The name of the class has dots.
pub fn is_lock_frame(class: &str) -> bool {
    LOCKS.lock_frames.contains(class)
}

/// Whether the methods of a lock class, given by its internal name, return a stamp.
pub fn is_stamped(class: &str) -> bool {
    !LOCKS.stamped.of(class).is_empty()
}

/// All lock classes and interfaces, by their internal names, with their methods.
pub fn lock_classes() -> impl Iterator<Item = (&'static str, &'static [Member<LockOperation>])> {
    LOCKS.interfaces.all().chain(LOCKS.locks.all()).chain(LOCKS.stamped.all())
}

/// The methods that access an atomic variable, by the internal name of its class. Other methods are called rarely or call one of these.
pub fn atomic_methods(class: &str) -> &'static [Member<AtomicAccess>] {
    LOCKS.atomics.of(class)
}

/// The classes of atomic variables that [`atomic_methods`] knows, by their internal names.
pub fn atomic_classes() -> impl Iterator<Item = (&'static str, &'static [Member<AtomicAccess>])> {
    LOCKS.atomics.all()
}

/// Whether the locks of a class of the JDK are internal to it: threads are not preempted at them, and they are not part of atomic blocks.
pub fn is_internal_lock(class: &str) -> bool {
    !INTERNAL.relevant.contains(class) || INTERNAL.internal.contains(class)
}

/// Whether the synchronized methods of a class of the JDK are meant to be atomic if the application calls them.
pub fn has_atomic_blocks(class: &str) -> bool {
    INTERNAL.atomic_blocks.contains(class) && !is_internal_lock(class)
}

/// Whether a class takes locks only after a garbage collection.
pub fn locks_for_the_collector(class: &str) -> bool {
    INTERNAL.collector.contains(class)
}

/// Whether a class of `java.util.concurrent` uses locks for its own bookkeeping only, as executors do.
pub fn locks_for_bookkeeping(class: &str) -> bool {
    INTERNAL.bookkeeping.contains(class)
}

static LOCKS: LazyLock<Locks> = LazyLock::new(|| loaded(Locks::load()));
static INTERNAL: LazyLock<Internal> = LazyLock::new(|| loaded(Internal::load()));

pub(crate) struct Locks {
    interfaces: Members<LockOperation>,
    locks: Members<LockOperation>,
    stamped: Members<LockOperation>,
    /// The names of the inner classes.
    owner_parts: Vec<&'static str>,
    lock_frames: ClassSet,
    atomics: Members<AtomicAccess>,
}

impl Locks {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("locks.txt")?;
        let locks = Locks {
            interfaces: Members::load(file.take("interfaces")?, |words| Some(vec![operation(words)?]))?,
            locks: Members::load(file.take("locks")?, |words| Some(vec![operation(words)?]))?,
            stamped: Members::load(file.take("stamped")?, |words| Some(vec![operation(words)?]))?,
            owner_parts: inner_names(&file.take("owner-parts")?)?,
            lock_frames: ClassSet::load(file.take("lock-frames")?)?,
            atomics: Members::load(file.take("atomics")?, |words| match words {
                ["read"] => Some(vec![AtomicAccess::Read]),
                ["write"] => Some(vec![AtomicAccess::Write]),
                ["compare"] => Some(vec![AtomicAccess::Compare]),
                _ => None,
            })?,
        };
        file.finish()?;
        Ok(locks)
    }
}

/// The names of inner classes within the classes that contain them.
fn inner_names(from: &FileSection) -> Result<Vec<&'static str>, DataError> {
    let entries = from.section.groups.iter().flat_map(|group| &group.classes);
    let inner = |entry: &ClassEntry| match entry.class.name().and_then(|name| name.rsplit_once('$')) {
        Some((_, inner)) => Ok(inner),
        None => Err(from.error(entry.line, "this section has only inner classes".to_owned())),
    };
    entries.map(inner).collect()
}

pub(crate) struct Internal {
    relevant: ClassSet,
    internal: ClassSet,
    collector: ClassSet,
    atomic_blocks: ClassSet,
    bookkeeping: ClassSet,
}

impl Internal {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("internal-locks.txt")?;
        let mut set = |name| ClassSet::load(file.take(name)?);
        let internal = Internal {
            relevant: set("relevant")?,
            internal: set("internal")?,
            collector: set("collector")?,
            atomic_blocks: set("atomic-blocks")?,
            bookkeeping: set("bookkeeping")?,
        };
        file.finish()?;
        Ok(internal)
    }
}

fn mode(word: &str) -> Option<Mode> {
    match word {
        "write" => Some(Mode::Write),
        "read" => Some(Mode::Read),
        _ => None,
    }
}

fn operation(words: &[&str]) -> Option<LockOperation> {
    Some(match words {
        ["acquire", word] => LockOperation::Acquire(mode(word)?),
        ["try", word] => LockOperation::Try(mode(word)?),
        ["release"] => LockOperation::Release,
        ["try-release"] => LockOperation::TryRelease,
        ["release-inside"] => LockOperation::ReleaseInside,
        ["optimistic"] => LockOperation::Optimistic,
        ["validate"] => LockOperation::Validate,
        ["convert", "optimistic"] => LockOperation::Convert(None),
        ["convert", word] => LockOperation::Convert(Some(mode(word)?)),
        ["query"] => LockOperation::Query,
        ["made"] => LockOperation::Made,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, is_internal: bool, has_blocks: bool) {
        assert_eq!((is_internal_lock(class), has_atomic_blocks(class)), (is_internal, has_blocks), "{class}");
    }

    #[test]
    fn locks_of_collections_are_relevant() {
        check("java.util.Vector", false, true);
        check("java.util.Collections$SynchronizedMap", false, true);
        check("java.util.Properties", false, true);
        check("java.lang.StringBuffer", false, true);
        check("java.util.concurrent.CopyOnWriteArrayList", false, false);
        check("java.util.concurrent.ConcurrentHashMap", true, false);
        check("java.util.ResourceBundle$Control", true, false);
        check("java.io.PrintStream", true, false);
        check("java.util.logging.Logger", true, false);
    }

    #[test]
    fn parts_and_frames_of_locks_are_recognized() {
        let lock = "java.util.concurrent.locks.ReentrantLock";
        assert_eq!(lock_of_part("java.util.concurrent.locks.ReentrantLock$FairSync"), Some(lock));
        assert_eq!(lock_of_part("com.acme.Mutex$Sync"), Some("com.acme.Mutex"));
        assert_eq!(lock_of_part("com.acme.Mutex$Synchronizer"), None);
        assert!(
            is_lock_frame(lock) && is_lock_frame("java.lang.Thread") && !is_lock_frame("java.util.Vector")
        );
    }

    #[test]
    fn lock_classes_are_asked_by_their_internal_names() {
        let stamped = "java/util/concurrent/locks/StampedLock";
        assert!(is_stamped(stamped) && !is_stamped("java/util/concurrent/locks/ReentrantLock"));
        let methods = lock_methods("java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock");
        assert_eq!(methods[0].role, LockOperation::Acquire(Mode::Read));
        assert!(lock_methods("java/util/Vector").is_empty());
        let release = lock_operation("java/util/concurrent/locks/Lock", "unlock");
        assert_eq!(
            (release, lock_operation("java/util/Vector", "add")),
            (Some(LockOperation::Release), None)
        );
    }
}
