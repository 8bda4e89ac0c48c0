//! The boundary of the analysis: the effects of methods whose code is not analysed.
//!
//! Of the JDK, the collections and their atomics are analysed. The effects of values such as strings and boxed numbers, of
//! handles, locks and a few services are described here. All other methods may do anything.

/// The effect of a method whose code is not analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// It changes nothing that a harness can observe, and returns a value.
    Quiet,
    /// The same, and it calls `toString` of its arguments.
    Text,
    /// It accesses a field or an element of its first argument, as a `VarHandle` does.
    Access {
        /// Whether it may write.
        writes: bool,
    },
    /// It returns the argument with this number; the receiver counts as number 0.
    Same(usize),
    /// `System.arraycopy`.
    ArrayCopy,
    /// `Object.clone`.
    Clone,
    /// It creates an array.
    NewArray,
    /// It appends the text of its arguments to the receiver, and returns the receiver.
    Builds,
    /// It stores its arguments in the receiver, and may return them later.
    Holds {
        /// Whether it changes the receiver, which may have existed before the call.
        writes: bool,
    },
    /// It acquires a lock, or tries to.
    Acquire,
    /// It releases a lock.
    Release,
    /// It may do anything.
    Unknown,
}

/// Classes in `java/lang` all of whose methods are quiet.
const VALUES: &[&str] = &[
    "Boolean",
    "Byte",
    "Character",
    "Double",
    "Float",
    "Integer",
    "Long",
    "Math",
    "Number",
    "Record",
    "Short",
    "StrictMath",
    "String",
    "CharSequence",
    "Comparable",
    "Enum",
    "Class",
    "StackTraceElement",
    "Throwable",
    "AssertionError",
    "Runtime",
    "MatchException",
];

/// Other quiet methods, by class.
const QUIET: &[(&str, &[&str])] = &[
    (
        "java/lang/Object",
        &["<init>", "getClass", "hashCode", "equals", "toString", "wait", "notify", "notifyAll", "finalize"],
    ),
    (
        "java/lang/Thread",
        &[
            "currentThread",
            "onSpinWait",
            "yield",
            "sleep",
            "holdsLock",
            "interrupted",
            "isInterrupted",
            "getId",
            "threadId",
            "getName",
            "isAlive",
            "isDaemon",
            "getPriority",
            "isVirtual",
        ],
    ),
    (
        "java/lang/System",
        &[
            "nanoTime",
            "currentTimeMillis",
            "identityHashCode",
            "getSecurityManager",
            "lineSeparator",
            "getProperty",
        ],
    ),
    ("java/lang/invoke/MethodHandles", &["lookup", "arrayElementVarHandle", "privateLookupIn"]),
    ("java/lang/invoke/MethodHandles$Lookup", &["findVarHandle", "lookupClass"]),
    (
        "java/lang/invoke/VarHandle",
        &["fullFence", "acquireFence", "releaseFence", "loadLoadFence", "storeStoreFence"],
    ),
    ("java/lang/reflect/ParameterizedType", &["getRawType", "getActualTypeArguments"]),
    ("java/lang/reflect/Array", &["getLength"]),
    (
        "java/util/concurrent/ThreadLocalRandom",
        &["current", "nextInt", "nextLong", "nextSecondarySeed", "getProbe", "localInit", "advanceProbe"],
    ),
    (
        "java/util/concurrent/locks/LockSupport",
        &["park", "parkNanos", "parkUntil", "unpark", "setCurrentBlocker"],
    ),
    ("java/io/ObjectStreamField", &["<init>"]),
    ("jdk/internal/misc/VM", &["initLevel", "isBooted"]),
    ("jdk/internal/util/ArraysSupport", &["newLength", "mismatch", "vectorizedHashCode", "hugeLength"]),
    (
        "jdk/internal/util/Preconditions",
        &["checkIndex", "checkFromToIndex", "checkFromIndexSize", "outOfBounds"],
    ),
];

/// Methods that do not change an object that a harness passes as an argument.
const READING: &[&str] = &[
    "equals",
    "hashCode",
    "toString",
    "compareTo",
    "compare",
    "getClass",
    "size",
    "isEmpty",
    "iterator",
    "spliterator",
    "hasNext",
    "next",
    "get",
    "contains",
    "containsKey",
    "containsValue",
    "containsAll",
    "entrySet",
    "keySet",
    "values",
    "getKey",
    "getValue",
    "toArray",
    "forEach",
    "forEachRemaining",
    "tryAdvance",
    "intValue",
    "longValue",
    "length",
    "charAt",
    "name",
    "ordinal",
    "booleanValue",
    "indexOf",
    "getOrDefault",
];

/// Whether a method does not change an object that a harness passes as an argument. Functions do not.
pub(crate) fn is_reading(interface: &str, name: &str) -> bool {
    READING.contains(&name) || interface.starts_with("java/util/function/") || matches!(name, "run" | "call")
}

/// Whether a method is one that all objects have or that compares them. Such methods of unknown objects are assumed to change
/// nothing.
pub(crate) fn is_common(name: &str) -> bool {
    matches!(name, "equals" | "hashCode" | "toString" | "compareTo" | "compare" | "getClass")
}

/// Whether a write in a class of the JDK is unobservable: maps cache their views, and the readers of a tree bin of a hash map
/// count themselves.
pub(crate) fn is_harmless(class: &str, method: &str, field: &str) -> bool {
    let (owner, name) = field.rsplit_once('.').unwrap_or_default();
    let is_view = matches!(
        name,
        "keySet"
            | "values"
            | "entrySet"
            | "descendingMap"
            | "navigableKeySet"
            | "descendingKeySet"
            | "keySetView"
            | "valuesView"
            | "entrySetView"
    );
    class.starts_with("java/util/")
        && (is_view && owner.ends_with("Map")
            || class == "java/util/concurrent/ConcurrentHashMap$TreeBin" && method == "find")
}

/// Whether the code of a class of the JDK is analysed.
pub(crate) fn is_analysed(name: &str) -> bool {
    let Some((package, simple)) = name.rsplit_once('/') else { return false };
    if name == "java/lang/Iterable" {
        return true;
    }
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| simple.starts_with(prefix));
    match package {
        "java/util" => !starts(&[
            "Formatter",
            "Scanner",
            "ServiceLoader",
            "Timer",
            "ResourceBundle",
            "Locale",
            "Random",
            "Splittable",
            "UUID",
            "Calendar",
            "Date",
            "TimeZone",
            "Currency",
            "GregorianCalendar",
            "Properties",
            "WeakHashMap",
        ]),
        "java/util/concurrent" => !starts(&[
            "ForkJoin",
            "Completable",
            "Counted",
            "Recursive",
            "ThreadPool",
            "Executor",
            "Scheduled",
            "ThreadLocalRandom",
            "Exchanger",
            "Phaser",
            "SubmissionPublisher",
            "Flow",
            "FutureTask",
            "StructuredTask",
            "ThreadPerTask",
        ]),
        "java/util/concurrent/atomic" => !simple.contains("FieldUpdater"),
        "java/util/function" => true,
        _ => false,
    }
}

/// The effect of a method. `class` declares it, or is the class that the code names.
pub(crate) fn boundary(class: &str, name: &str) -> Boundary {
    if QUIET.iter().any(|(quiet, names)| *quiet == class && names.contains(&name)) {
        return Boundary::Quiet;
    }
    match (class, name) {
        ("java/lang/Object", "clone") => return Boundary::Clone,
        ("java/lang/Class", "cast") => return Boundary::Same(1),
        ("java/lang/System", "arraycopy") => return Boundary::ArrayCopy,
        ("java/lang/reflect/Array", "newInstance") => return Boundary::NewArray,
        ("java/lang/String", "valueOf") => return Boundary::Text,
        ("java/lang/String", "join" | "format" | "formatted") => return Boundary::Unknown,
        ("java/lang/Class", "newInstance") => return Boundary::Unknown,
        ("jdk/internal/misc/Unsafe" | "sun/misc/Unsafe", _) => return unsafe_access(name),
        ("java/lang/invoke/VarHandle", _) => return access(name),
        _ => {}
    }
    if class.starts_with("java/util/concurrent/atomic/") {
        // The only classes of that package that are not analysed are the field updaters.
        return if name == "newUpdater" { Boundary::Quiet } else { access(name) };
    }
    if let Some(simple) = class.strip_prefix("java/util/concurrent/locks/") {
        return lock(simple, name);
    }
    if class.starts_with("java/lang/ref/") {
        return match name {
            "<init>" | "get" | "refersTo" | "reachabilityFence" | "isEnqueued" => {
                Boundary::Holds { writes: false }
            }
            "clear" | "enqueue" => Boundary::Holds { writes: true },
            _ => Boundary::Unknown,
        };
    }
    match class.strip_prefix("java/lang/") {
        Some("StringBuilder" | "StringBuffer" | "AbstractStringBuilder") => match name {
            "<init>" | "toString" | "length" | "charAt" | "indexOf" | "isEmpty" | "hashCode" | "equals" => {
                Boundary::Quiet
            }
            _ => Boundary::Builds,
        },
        Some(simple) if VALUES.contains(&simple) => Boundary::Quiet,
        Some(simple) if is_throwable(simple) => Boundary::Quiet,
        _ if class.starts_with("java/") && is_throwable(class) => Boundary::Quiet,
        _ => Boundary::Unknown,
    }
}

fn is_throwable(name: &str) -> bool {
    name.ends_with("Exception") || name.ends_with("Error")
}

fn access(name: &str) -> Boundary {
    Boundary::Access { writes: !name.starts_with("get") || name.starts_with("getAnd") }
}

fn unsafe_access(name: &str) -> Boundary {
    let is_query = [
        "objectField",
        "arrayBase",
        "arrayIndex",
        "staticField",
        "getUnsafe",
        "shouldBe",
        "ensureClass",
        "park",
        "unpark",
    ];
    if name.ends_with("Fence") || is_query.iter().any(|start| name.starts_with(start)) {
        return Boundary::Quiet;
    }
    let writes = ["put", "getAnd", "compareAnd", "weakCompareAnd"];
    if writes.iter().any(|start| name.starts_with(start)) {
        Boundary::Access { writes: true }
    } else if name.starts_with("get") {
        Boundary::Access { writes: false }
    } else {
        Boundary::Unknown
    }
}

/// Holding a lock is not a change of state if it is released again.
fn lock(class: &str, name: &str) -> Boundary {
    let is_lock = ["ReentrantLock", "ReentrantReadWriteLock", "StampedLock", "Lock", "ReadWriteLock"];
    let is_condition = class == "Condition" || class.ends_with("ConditionObject");
    if is_condition {
        return Boundary::Quiet;
    }
    if !is_lock.iter().any(|lock| class == *lock || class.starts_with(&format!("{lock}$"))) {
        return Boundary::Unknown;
    }
    match name {
        _ if name.starts_with("unlock") || name.starts_with("tryUnlock") => Boundary::Release,
        "lock"
        | "lockInterruptibly"
        | "tryLock"
        | "tryReadLock"
        | "tryWriteLock"
        | "readLockInterruptibly"
        | "writeLockInterruptibly" => Boundary::Acquire,
        // A stamped lock acquires here; a read-write lock returns one of its two locks.
        "readLock" | "writeLock" if class == "StampedLock" => Boundary::Acquire,
        _ => Boundary::Quiet,
    }
}
