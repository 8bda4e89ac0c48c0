//! What the JDK does with the objects that it is given.
//!
//! The JDK's own code is not looked into: its methods call each other by interfaces such as `Comparable` all over, so that an
//! analysis of them says that everything leads everywhere. What its classes do with references is told here instead, and
//! whatever is not named is taken to do the worst. Code of the program that the JDK calls back is followed.

use crate::graph::Level;

/// What a call of the JDK does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Whether receiver, arguments and result may lead to each other afterwards.
    pub(crate) links: bool,
    /// How far they are known afterwards.
    pub(crate) level: Level,
    /// What it makes possible beyond that.
    pub(crate) opens: Opens,
}

/// What a call makes possible for code that is not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Opens {
    Nothing,
    /// Static fields may be accessed.
    Statics,
    /// Classes may be loaded, objects made and methods called by name.
    World(Reason),
}

/// Why anything may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reason {
    Reflection,
    MethodHandles,
    ClassLoading,
    Services,
    Serialization,
    NativeCode,
    DynamicCalls,
    OtherLibraries,
    MissingClasses,
    UnreadableClasses,
}

impl Reason {
    /// The name under which it is counted.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Reason::Reflection => "reflection",
            Reason::MethodHandles => "method handles",
            Reason::ClassLoading => "class loading by name",
            Reason::Services => "services and bundles",
            Reason::Serialization => "serialization",
            Reason::NativeCode => "native code",
            Reason::DynamicCalls => "dynamic calls of unknown kinds",
            Reason::OtherLibraries => "calls of libraries whose effects are not known",
            Reason::MissingClasses => "classes that are missing",
            Reason::UnreadableClasses => "classes that cannot be read",
        }
    }
}

/// Nothing is kept, and what is returned is new or leads nowhere.
const PURE: Effect = Effect { links: false, level: Level::Local, opens: Opens::Nothing };
/// What was given is kept and may be given back.
const KEEPS: Effect = Effect { links: true, level: Level::Local, opens: Opens::Nothing };
/// It may get to other threads.
const SHARES: Effect = Effect { links: true, level: Level::Shared, opens: Opens::Nothing };
/// Fields may be accessed by unknown code.
const EXPOSES: Effect = Effect { links: true, level: Level::Exposed, opens: Opens::Nothing };

const fn world(reason: Reason) -> Effect {
    Effect { links: true, level: Level::Exposed, opens: Opens::World(reason) }
}

/// Final classes, or such whose subclasses of the program are looked for, whose objects lead to none of the program.
const INERT: &[&str] = &[
    "java/lang/String",
    "java/lang/StringBuilder",
    "java/lang/StringBuffer",
    "java/lang/Class",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Short",
    "java/lang/Byte",
    "java/lang/Character",
    "java/lang/Boolean",
    "java/lang/Float",
    "java/lang/Double",
    "java/lang/Number",
    "java/lang/CharSequence",
    "java/lang/Package",
    "java/lang/Module",
    "java/lang/StackTraceElement",
    "java/math/BigInteger",
    "java/math/BigDecimal",
    "java/math/MathContext",
    "java/math/RoundingMode",
    "java/nio/charset/Charset",
    "java/nio/file/Path",
    "java/io/File",
    "java/util/Locale",
    "java/util/UUID",
    "java/util/Random",
    "java/util/BitSet",
    "java/util/Date",
    "java/util/OptionalInt",
    "java/util/OptionalLong",
    "java/util/OptionalDouble",
    "java/util/StringTokenizer",
    "java/util/regex/Pattern",
    "java/util/concurrent/TimeUnit",
    "java/util/concurrent/ThreadLocalRandom",
    "java/util/concurrent/CountDownLatch",
    "java/util/concurrent/Semaphore",
    "java/util/concurrent/atomic/AtomicInteger",
    "java/util/concurrent/atomic/AtomicLong",
    "java/util/concurrent/atomic/AtomicBoolean",
    "java/util/concurrent/atomic/AtomicIntegerArray",
    "java/util/concurrent/atomic/AtomicLongArray",
    "java/util/concurrent/atomic/LongAdder",
    "java/util/concurrent/atomic/DoubleAdder",
    "java/util/concurrent/locks/Lock",
    "java/util/concurrent/locks/ReadWriteLock",
    "java/util/concurrent/locks/ReentrantLock",
    "java/util/concurrent/locks/ReentrantReadWriteLock",
    "java/util/concurrent/locks/StampedLock",
    "java/util/concurrent/locks/Condition",
    "java/time/Duration",
    "java/time/Instant",
    "java/time/LocalDate",
    "java/time/LocalTime",
    "java/time/LocalDateTime",
    "java/time/ZonedDateTime",
    "java/time/ZoneId",
];

/// Whether objects of this type, by its descriptor, lead to none of the program, provided that none of the program's classes is
/// such a type.
pub(crate) fn is_inert(descriptor: &str) -> Option<&str> {
    let name = descriptor.strip_prefix('L')?.strip_suffix(';')?;
    INERT.contains(&name).then_some(name)
}

/// What a method of the JDK does with references. The class is the one that the code names or that declares the method.
pub(crate) fn effect(class: &str, name: &str, descriptor: &str) -> Effect {
    // Arrays have one method of their own.
    if class.starts_with('[') {
        return KEEPS;
    }
    let Some((package, simple)) = class.rsplit_once('/') else { return world(Reason::OtherLibraries) };
    if name == "setDefault" && package.starts_with("java/") {
        return SHARES;
    }
    // Threads know fields of their own, and whoever gets one has not made it.
    let gives_threads = descriptor.ends_with(")Ljava/lang/Thread;") || name.ends_with("Threads");
    match package {
        "java/lang" => lang(simple, name),
        "java/lang/annotation" | "java/util/regex" | "java/math" | "java/text" | "java/util/function" => {
            KEEPS
        }
        "java/util/stream" => streams(simple, name),
        "java/util" => util(simple, name),
        "java/util/concurrent" => concurrent(simple, name, descriptor),
        "java/util/concurrent/atomic" if simple.ends_with("FieldUpdater") => EXPOSES,
        "java/util/concurrent/atomic" => KEEPS,
        "java/util/concurrent/locks" if simple == "LockSupport" || gives_threads => SHARES,
        "java/util/concurrent/locks" => PURE,
        "java/util/logging" | "java/lang/ref" | "java/net" | "java/net/http" | "java/nio/channels" => SHARES,
        "java/util/zip"
        | "java/util/jar"
        | "java/nio"
        | "java/nio/charset"
        | "java/nio/file"
        | "java/nio/file/attribute" => KEEPS,
        "java/io" => io(simple, name),
        "java/lang/reflect" => reflect(simple, name),
        "java/lang/invoke" => invoke(simple, name),
        "java/lang/runtime" => PURE,
        _ if package.starts_with("java/time") => KEEPS,
        "sun/misc" if simple == "Unsafe" && name == "allocateInstance" => world(Reason::Reflection),
        "sun/misc" if simple == "Unsafe" => EXPOSES,
        _ => world(Reason::OtherLibraries),
    }
}

fn lang(class: &str, name: &str) -> Effect {
    match class {
        // What two collections hold is compared one by one.
        "Object" if matches!(name, "clone" | "equals") => KEEPS,
        "Object" | "String" | "StringBuilder" | "StringBuffer" | "Math" | "StrictMath" | "Integer"
        | "Long" | "Short" | "Byte" | "Character" | "Boolean" | "Float" | "Double" | "Number"
        | "CharSequence" | "StackTraceElement" | "Package" | "Module" | "Void" | "Comparable" => PURE,
        "Iterable" | "AutoCloseable" | "Runnable" | "Readable" | "Appendable" | "Cloneable" | "Record"
        | "Throwable" => KEEPS,
        "Enum" if name == "valueOf" => SHARES,
        "Enum" => KEEPS,
        _ if class.ends_with("Exception") || class.ends_with("Error") => KEEPS,
        "System" => match name {
            "arraycopy" => KEEPS,
            "load" | "loadLibrary" => world(Reason::NativeCode),
            "identityHashCode" | "getProperty" | "getenv" | "lineSeparator" | "currentTimeMillis"
            | "nanoTime" | "exit" | "gc" => PURE,
            _ => SHARES,
        },
        "Runtime" if matches!(name, "load" | "loadLibrary") => world(Reason::NativeCode),
        "Class" => match name {
            "cast" | "asSubclass" => KEEPS,
            "getEnumConstants" => SHARES,
            "desiredAssertionStatus"
            | "getName"
            | "getSimpleName"
            | "getTypeName"
            | "getCanonicalName"
            | "getPackageName"
            | "getPackage"
            | "getModule"
            | "isInstance"
            | "isArray"
            | "isInterface"
            | "isEnum"
            | "isRecord"
            | "isPrimitive"
            | "isAssignableFrom"
            | "isAnonymousClass"
            | "hashCode"
            | "equals"
            | "toString"
            | "getComponentType"
            | "getSuperclass"
            | "getInterfaces"
            | "getModifiers"
            | "getEnclosingClass"
            | "getResource"
            | "getResourceAsStream"
            | "getClassLoader"
            | "getDeclaringClass" => PURE,
            _ => world(Reason::Reflection),
        },
        "ClassLoader" => match name {
            "getSystemClassLoader"
            | "getPlatformClassLoader"
            | "getParent"
            | "getResource"
            | "getResourceAsStream"
            | "getResources"
            | "getName" => PURE,
            _ => world(Reason::ClassLoading),
        },
        "ModuleLayer" | "ModuleLayer$Controller" | "ClassValue" | "Compiler" => world(Reason::ClassLoading),
        // Threads in all their forms, what belongs to them, processes, and hooks at the end.
        _ => SHARES,
    }
}

fn util(class: &str, name: &str) -> Effect {
    match class {
        "ServiceLoader" | "ServiceLoader$Provider" | "ResourceBundle" | "ResourceBundle$Control" => {
            world(Reason::Services)
        }
        "Timer" | "TimerTask" => SHARES,
        "Objects" if matches!(name, "hash" | "hashCode" | "toString" | "isNull" | "nonNull") => PURE,
        "Locale" | "UUID" | "Random" | "BitSet" | "Date" | "StringTokenizer" => PURE,
        _ if name.starts_with("parallel") => SHARES,
        _ => KEEPS,
    }
}

fn streams(class: &str, name: &str) -> Effect {
    match (class, name) {
        ("StreamSupport", _) | (_, "parallel" | "mapConcurrent") => SHARES,
        _ => KEEPS,
    }
}

/// Collections keep; all that runs tasks hands them to others.
fn concurrent(class: &str, name: &str, descriptor: &str) -> Effect {
    let class = class.split('$').next().unwrap_or(class);
    match class {
        "Semaphore" if name.ends_with("Threads") => SHARES,
        "TimeUnit" | "ThreadLocalRandom" | "CountDownLatch" | "Semaphore" => PURE,
        // Bulk operations that begin with a threshold go to several threads.
        "ConcurrentHashMap" if descriptor.starts_with("(J") => SHARES,
        "ConcurrentHashMap"
        | "ConcurrentMap"
        | "ConcurrentLinkedQueue"
        | "ConcurrentLinkedDeque"
        | "ConcurrentSkipListMap"
        | "ConcurrentSkipListSet"
        | "ConcurrentNavigableMap"
        | "CopyOnWriteArrayList"
        | "CopyOnWriteArraySet"
        | "ArrayBlockingQueue"
        | "LinkedBlockingQueue"
        | "LinkedBlockingDeque"
        | "PriorityBlockingQueue"
        | "BlockingQueue"
        | "BlockingDeque"
        | "LinkedTransferQueue"
        | "TransferQueue"
        | "SynchronousQueue"
        | "DelayQueue"
            if name != "parallelStream" =>
        {
            KEEPS
        }
        _ => SHARES,
    }
}

fn io(class: &str, name: &str) -> Effect {
    match class {
        "PrintStream" | "PrintWriter" if name != "<init>" && name != "append" => PURE,
        _ if ["ObjectInput", "ObjectOutput", "ObjectStream"].iter().any(|begin| class.starts_with(begin)) => {
            world(Reason::Serialization)
        }
        _ => KEEPS,
    }
}

fn reflect(class: &str, name: &str) -> Effect {
    match (class, name) {
        ("Modifier", _) | ("Array", "newInstance" | "getLength") => PURE,
        ("Array", _) => KEEPS,
        _ => world(Reason::Reflection),
    }
}

fn invoke(class: &str, name: &str) -> Effect {
    match (class, name) {
        ("VarHandle", _) => EXPOSES,
        ("MethodHandles", "lookup" | "privateLookupIn" | "publicLookup" | "arrayElementVarHandle") => PURE,
        ("MethodHandles$Lookup", "findVarHandle" | "lookupClass" | "in") => PURE,
        ("MethodHandles$Lookup", "findStaticVarHandle") => Effect { opens: Opens::Statics, ..EXPOSES },
        ("MethodType", _) => PURE,
        _ => world(Reason::MethodHandles),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, name: &str, descriptor: &str, expected: Effect) {
        assert_eq!(effect(class, name, descriptor), expected, "{class}.{name}{descriptor}");
    }

    #[test]
    fn what_is_not_named_does_the_worst() {
        check("javax/swing/SwingUtilities", "invokeLater", "()V", world(Reason::OtherLibraries));
        check("java/util/ArrayList", "add", "(Ljava/lang/Object;)Z", KEEPS);
        check("java/util/Arrays", "parallelSort", "([I)V", SHARES);
        check("java/util/Collection", "parallelStream", "()Ljava/util/stream/Stream;", SHARES);
        check("java/util/stream/Stream", "parallel", "()Ljava/util/stream/BaseStream;", SHARES);
        check("java/util/stream/Stream", "map", "()V", KEEPS);
        check("java/lang/Thread", "start", "()V", SHARES);
        check("java/lang/Thread$Builder", "start", "(Ljava/lang/Runnable;)Ljava/lang/Thread;", SHARES);
        check("java/lang/IllegalStateException", "<init>", "()V", KEEPS);
        check("java/lang/Class", "forName", "()V", world(Reason::Reflection));
        check("java/lang/Class", "getName", "()V", PURE);
        check("java/util/concurrent/ConcurrentHashMap", "put", "(Ljava/lang/Object;)V", KEEPS);
        check("java/util/concurrent/ConcurrentHashMap", "forEach", "(JLjava/lang/Object;)V", SHARES);
        check("java/util/concurrent/ForkJoinTask", "fork", "()V", SHARES);
        check("java/lang/invoke/VarHandle", "get", "()I", EXPOSES);
        check("java/io/PrintStream", "println", "(Ljava/lang/Object;)V", PURE);
        check("java/io/PrintStream", "<init>", "(Ljava/io/OutputStream;)V", KEEPS);
        check("java/io/ObjectOutputStream", "writeObject", "()V", world(Reason::Serialization));
        check("java/util/TimeZone", "setDefault", "(Ljava/util/TimeZone;)V", SHARES);
        check("java/util/concurrent/locks/ReentrantLock", "lock", "()V", PURE);
        check("java/util/concurrent/locks/ReentrantLock", "getOwner", "()Ljava/lang/Thread;", SHARES);
        check("java/util/stream/Gatherers", "mapConcurrent", "()V", SHARES);
        check("Unnamed", "x", "()V", world(Reason::OtherLibraries));
    }
}
