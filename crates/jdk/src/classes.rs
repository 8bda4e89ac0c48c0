//! Classes that the agent treats in a special way, threads and pools (`classes.txt`, `threads.txt`, `thread-unsafe.txt`, `executors.txt`).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::{
    files::{FileSection, file, loaded},
    format::DataError,
    libraries,
    pattern::ClassPattern,
    tables::{ClassSet, Member, Members},
};

/// What happens to a thread in one of its methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadEvent {
    /// The method starts the thread.
    Start,
    /// The method returns when the thread has ended.
    Join,
    /// The method interrupts the thread.
    Interrupt,
    /// The method gets the exception that ended the thread.
    Uncaught,
}

/// The methods by which the launcher finds the main class of the program, by the internal name of their class.
pub fn launcher_methods(class: &str) -> &'static [Member<()>] {
    THREADS.launcher.of(class)
}

/// The members that a method of the reflection API gives to programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reflected {
    /// The fields of a class.
    Fields,
    /// The methods of a class.
    Methods,
}

/// Whether a name looks like that of a JDK class.
pub fn is_jdk_name(class: &str) -> bool {
    CLASSES.packages.contains(class)
}

/// Whether a module belongs to the JDK.
pub fn is_jdk_module(module: &str) -> bool {
    CLASSES.modules.contains(module)
}

/// Whether a class is a collection or a builder of texts, or a part of one.
pub fn is_collection_code(class: &str) -> bool {
    CLASSES.collections.contains(class)
}

/// Whether a class belongs to the concurrency library, which implements locks, queues, atomics and executors.
pub fn is_concurrency_class(class: &str) -> bool {
    CLASSES.concurrency.contains(class)
}

/// Whether the fields of a class are never watched, because the JVM itself depends on their layout or timing.
pub fn is_never_watched(class: &str) -> bool {
    CLASSES.never_watched.contains(class)
}

/// Whether a class must not be rewritten.
pub fn is_untouchable(class: &str) -> bool {
    CLASSES.untouchable.contains(class)
}

/// Whether the monitors of a class are not instrumented.
pub fn keeps_its_monitors(class: &str) -> bool {
    CLASSES.keeps_monitors.contains(class)
}

/// Whether a class, given by its internal name, stands between a caller and the method of another class that it calls.
pub fn passes_calls_on(class: &str) -> bool {
    CLASSES.passes_calls_on.contains(class)
}

/// Whether the objects of `fissure object` may be built from a class of the JDK, so that accesses in its code are scheduling points.
pub fn is_building_block(class: &str) -> bool {
    CLASSES.building_blocks.contains(class)
}

/// The names of the methods that load or link classes: while one thread is in them, others may wait for it inside of the JVM.
pub fn class_loading_methods() -> impl Iterator<Item = &'static str> {
    CLASSES.class_loading.all().flat_map(|(_, members)| members).map(|member| member.method)
}

/// The methods that start, join and interrupt threads, by the internal name of the class.
pub fn thread_methods(class: &str) -> &'static [Member<ThreadEvent>] {
    THREADS.threads.of(class)
}

/// The same of virtual threads.
pub fn virtual_thread_methods(class: &str) -> &'static [Member<ThreadEvent>] {
    THREADS.virtual_threads.of(class)
}

/// The methods that give the members of classes to programs, by the internal name of the class.
pub fn reflection_methods(class: &str) -> &'static [Member<Reflected>] {
    THREADS.reflection.of(class)
}

/// Whether an object of a class outside of the application is thread-safe, has no state of its own, or must not be instrumented.
pub fn is_thread_safe(class: &str) -> bool {
    UNSAFE.thread_safe.contains(class)
}

/// The class, with dots, to whose objects those of a class, given with dots, delegate.
pub fn delegate_of(class: &str) -> Option<&'static str> {
    UNSAFE.delegating.get(class).copied()
}

/// The field in which a wrapper, a class that is given with dots, holds the object that it wraps.
pub fn wrapped_field(class: &str) -> Option<&'static str> {
    UNSAFE.wrapping.get(class).copied()
}

/// Whether threads of a pool wait for work in this method. The name of the class has dots.
pub fn is_idle_method(class: &str, method: &str) -> bool {
    EXECUTORS.idle.iter().any(|(pattern, methods)| pattern.matches(class) && methods.contains(&method))
        || libraries::is_idle_method(class, method)
}

/// Whether a class is a queue whose time-outs are the due times of its tasks.
pub fn is_task_queue(class: &str) -> bool {
    EXECUTORS.task_queues.contains(class)
}

static CLASSES: LazyLock<Classes> = LazyLock::new(|| loaded(Classes::load()));
static THREADS: LazyLock<Threads> = LazyLock::new(|| loaded(Threads::load()));
static UNSAFE: LazyLock<ThreadUnsafe> = LazyLock::new(|| loaded(ThreadUnsafe::load()));
static EXECUTORS: LazyLock<Executors> = LazyLock::new(|| loaded(Executors::load()));

pub(crate) struct Classes {
    packages: ClassSet,
    modules: ClassSet,
    collections: ClassSet,
    concurrency: ClassSet,
    never_watched: ClassSet,
    untouchable: ClassSet,
    keeps_monitors: ClassSet,
    building_blocks: ClassSet,
    passes_calls_on: ClassSet,
    class_loading: Members<()>,
}

impl Classes {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("classes.txt")?;
        let mut set = |name| ClassSet::load(file.take(name)?);
        let classes = Classes {
            packages: set("packages")?,
            modules: set("module-names")?,
            collections: set("collections")?,
            concurrency: set("concurrency")?,
            never_watched: set("never-watched")?,
            untouchable: set("untouchable")?,
            keeps_monitors: set("keeps-monitors")?,
            building_blocks: set("building-blocks")?,
            passes_calls_on: set("passes-calls-on")?,
            class_loading: Members::load(file.take("class-loading")?, nothing)?,
        };
        file.finish()?;
        Ok(classes)
    }
}

pub(crate) struct Threads {
    threads: Members<ThreadEvent>,
    virtual_threads: Members<ThreadEvent>,
    reflection: Members<Reflected>,
    launcher: Members<()>,
}

impl Threads {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("threads.txt")?;
        let threads = Threads {
            threads: Members::load(file.take("threads")?, event)?,
            virtual_threads: Members::load(file.take("virtual-threads")?, event)?,
            launcher: Members::load(file.take("launcher")?, |words| words.is_empty().then(|| vec![()]))?,
            reflection: Members::load(file.take("reflection")?, |words| match words {
                ["fields"] => Some(vec![Reflected::Fields]),
                ["methods"] => Some(vec![Reflected::Methods]),
                _ => None,
            })?,
        };
        file.finish()?;
        Ok(threads)
    }
}

pub(crate) struct ThreadUnsafe {
    thread_safe: ClassSet,
    delegating: FxHashMap<&'static str, &'static str>,
    wrapping: FxHashMap<&'static str, &'static str>,
}

impl ThreadUnsafe {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("thread-unsafe.txt")?;
        let thread_safe = ClassSet::load(file.take("thread-safe")?)?;
        let delegating = delegates(&file.take("delegating")?)?;
        let wrapping = wrappers(&file.take("wrapping")?)?;
        file.finish()?;
        Ok(ThreadUnsafe { thread_safe, delegating, wrapping })
    }
}

fn delegates(from: &FileSection) -> Result<FxHashMap<&'static str, &'static str>, DataError> {
    let entries = from.section.groups.iter().flat_map(|group| &group.classes);
    let pair = |entry: &crate::format::ClassEntry| match (entry.class.name(), &entry.words[..]) {
        (Some(class), [delegate]) => Ok((class, *delegate)),
        _ => Err(from.error(entry.line, "a class delegates to one other class".to_owned())),
    };
    entries.map(pair).collect()
}

/// The field of each wrapper, which stands where other groups have methods.
fn wrappers(from: &FileSection) -> Result<FxHashMap<&'static str, &'static str>, DataError> {
    let mut known = FxHashMap::default();
    for group in &from.section.groups {
        let fields: Vec<&'static str> =
            group.rows.iter().flat_map(|row| &row.methods).map(|field| field.name).collect();
        for entry in &group.classes {
            let (Some(class), [field]) = (entry.class.name(), &fields[..]) else {
                return Err(from.error(entry.line, "a wrapper has one field with what it wraps".to_owned()));
            };
            known.insert(class, *field);
        }
    }
    Ok(known)
}

pub(crate) struct Executors {
    idle: Vec<(ClassPattern, Vec<&'static str>)>,
    task_queues: ClassSet,
}

impl Executors {
    pub(crate) fn load() -> Result<Self, DataError> {
        let mut file = file("executors.txt")?;
        let idle = file.take("idle")?.section;
        let idle = idle.groups.iter().flat_map(|group| {
            let methods: Vec<&str> =
                group.rows.iter().flat_map(|row| &row.methods).map(|method| method.name).collect();
            group.classes.iter().map(move |entry| (entry.class, methods.clone()))
        });
        let executors =
            Executors { idle: idle.collect(), task_queues: ClassSet::load(file.take("task-queues")?)? };
        file.finish()?;
        Ok(executors)
    }
}

/// The role of members about which there is nothing more to say.
fn nothing(words: &[&'static str]) -> Option<Vec<()>> {
    words.is_empty().then(|| vec![()])
}

fn event(words: &[&'static str]) -> Option<Vec<ThreadEvent>> {
    Some(vec![match words {
        ["start"] => ThreadEvent::Start,
        ["join"] => ThreadEvent::Join,
        ["interrupt"] => ThreadEvent::Interrupt,
        ["uncaught"] => ThreadEvent::Uncaught,
        _ => return None,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_recognized() {
        assert!(
            is_jdk_name("java.util.List") && is_jdk_name("com/sun/net/Thing") && !is_jdk_name("javafoo.List")
        );
        assert!(is_jdk_module("java.base") && is_jdk_module("jdk.compiler") && !is_jdk_module("javafx.base"));
        assert!(is_collection_code("java.util.HashMap$Node") && is_collection_code("java.lang.StringBuffer"));
        assert!(!is_collection_code("java.lang.Thread") && !is_collection_code("java.text.SimpleDateFormat"));
        assert!(
            is_concurrency_class("java.util.concurrent.locks.Lock")
                && !is_concurrency_class("java.util.Vector")
        );
        assert!(is_never_watched("java.lang.String") && !is_never_watched("java.util.List"));
        assert!(is_untouchable("java/lang/Object") && !is_untouchable("java/lang/Objects"));
        assert!(
            is_building_block("java.util.HashMap$Node")
                && !is_building_block("java.util.concurrent.locks.Lock")
        );
        assert!(class_loading_methods().any(|method| method == "loadClass"));
        assert!(is_thread_safe("java.util.Vector") && !is_thread_safe("java.util.ArrayList"));
        assert_eq!(delegate_of("java.util.HashSet"), Some("java.util.HashMap"));
        assert_eq!(wrapped_field("java.util.Collections$SynchronizedMap"), Some("m"));
        assert_eq!(wrapped_field("java.util.HashMap"), None);
        assert!(is_idle_method("java.util.concurrent.ThreadPoolExecutor", "getTask"));
        assert!(is_task_queue("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue"));
    }
}
