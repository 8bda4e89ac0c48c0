//! The table of the effects of JDK methods on the objects that they get.
//!
//! The code of the JDK's core is not analysed: its methods call each other through interfaces such as `Comparable` everywhere,
//! so the result would be that every object may reference every other. This table describes what its classes do with
//! references instead; `table` checks it against their code. JDK classes without a row are analysed like those of a library.
//! Callbacks from the JDK into the program are analysed in either case.

use crate::graph::Level;

/// The effect of a call of the JDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Whether receiver, arguments and result may reference each other afterwards.
    pub(crate) links: bool,
    /// Who may reach them afterwards.
    pub(crate) level: Level,
    /// The unknown code that it may cause to run.
    pub(crate) opens: Opens,
}

/// The code that a call may cause to run although no analysed code calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Opens {
    Nothing,
    /// Classes named by system properties may be loaded.
    Properties,
    /// Static fields of any class that the program names may be accessed.
    Statics,
    /// Registered service providers may be instantiated.
    Services,
    /// Resource bundles may be instantiated.
    Bundles,
    /// Classes may be loaded and instantiated and methods called by name.
    World(Reason),
}

impl Opens {
    pub(crate) fn is_anything(self) -> bool {
        self != Opens::Nothing
    }
}

/// A reason for assuming that anything may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reason {
    Reflection,
    MethodHandles,
    ClassLoading,
    Providers,
    Serialization,
    NativeCode,
    DynamicCalls,
    /// Classes of the JDK that were neither described nor analysed.
    OtherLibraries,
    /// Objects of classes without a row that code with a row created.
    UnknownReceivers,
    /// More code of the JDK than the analysis is limited to.
    TooMuch,
    MissingClasses,
    UnreadableClasses,
}

impl Reason {
    /// The text for reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Reason::Reflection => "reflection",
            Reason::MethodHandles => "method handles",
            Reason::ClassLoading => "class loading by name",
            Reason::Providers => "providers of services that load classes by name",
            Reason::Serialization => "serialization",
            Reason::NativeCode => "native code",
            Reason::DynamicCalls => "dynamic calls of unknown kinds",
            Reason::OtherLibraries => "code of the JDK that is not analysed",
            Reason::UnknownReceivers => "calls on objects of unknown classes",
            Reason::TooMuch => "too much code to analyse",
            Reason::MissingClasses => "missing classes",
            Reason::UnreadableClasses => "unreadable classes",
        }
    }
}

/// It stores no reference, and the result is new or references nothing.
const PURE: Effect = Effect { links: false, level: Level::Local, opens: Opens::Nothing };
/// It may store its arguments in each other or in the receiver, and return them.
const KEEPS: Effect = Effect { links: true, level: Level::Local, opens: Opens::Nothing };
/// It may pass them to other threads.
const SHARES: Effect = Effect { links: true, level: Level::Shared, opens: Opens::Nothing };
/// Unknown code may access their fields.
pub(crate) const EXPOSES: Effect = Effect { links: true, level: Level::Exposed, opens: Opens::Nothing };

/// Classes of one kind may be loaded, and their code may do anything with the arguments.
const fn loads(opens: Opens) -> Effect {
    Effect { links: true, level: Level::Exposed, opens }
}

const fn world(reason: Reason) -> Effect {
    Effect { links: true, level: Level::Exposed, opens: Opens::World(reason) }
}

/// The receiver may be of an unknown class, because code with a row may have created it.
pub(crate) const UNKNOWN_RECEIVER: Effect = world(Reason::UnknownReceivers);

/// Classes whose objects reference no objects of the program. They are final, or [`is_inert`] checks that the program does not
/// extend them.
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
    "java/lang/Package",
    "java/lang/Module",
    "java/lang/Runtime$Version",
    "java/lang/StackTraceElement",
    "java/math/BigInteger",
    "java/math/BigDecimal",
    "java/math/MathContext",
    "java/math/RoundingMode",
    "java/net/URI",
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

/// Whether objects of this type, given by its descriptor, reference no objects of the program. `is_extended` returns whether
/// classes of the program inherit from a type.
pub(crate) fn is_inert(descriptor: &str, is_extended: impl Fn(&str) -> bool) -> bool {
    let Some(name) = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';')) else {
        return false;
    };
    // Objects of these types may wrap an object of the program that extends one of the listed types.
    let wrapped: &[&str] = match name {
        "java/util/concurrent/locks/Condition" => &SYNCHRONIZERS,
        "java/util/Random" => &["java/util/random/RandomGenerator"],
        _ => &[],
    };
    INERT.contains(&name) && !is_extended(name) && !wrapped.iter().any(|name| is_extended(name))
}

/// Whether this type, given by its descriptor, is one of the JDK's exceptions.
pub(crate) fn is_throwable(descriptor: &str) -> bool {
    descriptor.starts_with("Ljava")
        && ["Exception;", "Error;", "Throwable;"].iter().any(|end| descriptor.ends_with(end))
}

/// Whether a method passes arrays to the coders of a character set.
pub(crate) fn uses_coders(class: &str, name: &str) -> bool {
    class == "java/lang/String" && matches!(name, "<init>" | "getBytes")
}

/// Whether a method may access the elements of an array that it gets as an `Object`.
pub(crate) fn may_take_arrays(class: &str, name: &str) -> bool {
    class == "java/lang/reflect/Array"
        || (class, name) == ("java/util/Objects", "deepEquals")
        || class.starts_with("java/text/")
}

/// Whether the rows of this class hold even if the program extends it: none of its methods stores or returns a reference to
/// the receiver.
pub(crate) fn holds_for_subclasses(class: &str) -> bool {
    matches!(class, "java/lang/Object" | "java/lang/Comparable" | "java/lang/Enum")
}

/// Whether objects of a class of the JDK load classes by names that they are configured with.
pub(crate) fn loads_by_name(supertype: &str) -> bool {
    supertype == "java/security/Provider"
        || supertype.rsplit_once('/').is_some_and(|(package, _)| package.ends_with("/spi"))
}

/// Conditions of these synchronizers call the program's subclass.
const SYNCHRONIZERS: [&str; 2] = [
    "java/util/concurrent/locks/AbstractQueuedSynchronizer",
    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
];

/// Native methods of classes without a row that do nothing with objects: they look up the ids of fields for other native
/// methods, register native methods, or return the caller.
const HARMLESS_NATIVES: &[(&str, &str)] =
    &[("initIDs", "()V"), ("registerNatives", "()V"), ("getCallerClass", "()Ljava/lang/Class;")];

/// The effect of a method of the JDK on references. `class` is the class that the code names or that declares the method.
pub(crate) fn effect(class: &str, name: &str, descriptor: &str) -> Effect {
    row(class, name, descriptor).unwrap_or(world(Reason::OtherLibraries))
}

/// Whether the table has a row for a class of the JDK.
pub(crate) fn is_described(class: &str) -> bool {
    row(class, "", "").is_some()
}

/// The effect of a native method of a class without a row.
pub(crate) fn native_effect(name: &str, descriptor: &str) -> Effect {
    match HARMLESS_NATIVES.contains(&(name, descriptor)) {
        true => PURE,
        false => world(Reason::NativeCode),
    }
}

/// The row of a method, if there is one. Whether there is one depends on the class alone.
fn row(class: &str, name: &str, descriptor: &str) -> Option<Effect> {
    // Arrays declare only `clone`.
    if class.starts_with('[') {
        return Some(KEEPS);
    }
    let (package, simple) = class.rsplit_once('/')?;
    // Exceptions of all packages only hold their arguments.
    let is_api = ["java/", "javax/", "org/"].iter().any(|prefix| package.starts_with(prefix));
    if is_api && package != "java/lang" && (simple.ends_with("Exception") || simple.ends_with("Error")) {
        return Some(KEEPS);
    }
    // A thread object references objects of that thread, and the caller may get a thread that it did not create.
    let gives_threads = descriptor.ends_with(")Ljava/lang/Thread;") || name.ends_with("Threads");
    let effect = match package {
        "java/lang" => lang(simple, name),
        "java/math" if name.starts_with("parallel") => SHARES,
        "java/lang/annotation" | "java/util/regex" | "java/math" | "java/text" | "java/util/function" => {
            KEEPS
        }
        "java/util/stream" => streams(simple, name),
        "java/util" => util(simple, name),
        "java/util/concurrent" => concurrent(simple, name, descriptor),
        "java/util/concurrent/atomic" if simple.ends_with("FieldUpdater") => EXPOSES,
        "java/util/concurrent/atomic" => KEEPS,
        "java/util/concurrent/locks" if simple == "LockSupport" || gives_threads => SHARES,
        // Any thread can read the blocker of a waiting thread.
        "java/util/concurrent/locks" if simple.starts_with("Abstract") => SHARES,
        "java/util/concurrent/locks" => PURE,
        // Only cleaners run code; references only hold their referent and their queue.
        "java/lang/ref" if simple.ends_with("Reference") || simple == "ReferenceQueue" => KEEPS,
        "java/util/logging" if matches!(name, "readConfiguration" | "updateConfiguration") => {
            world(Reason::ClassLoading)
        }
        "java/net" if simple == "URLClassLoader" => world(Reason::ClassLoading),
        // Providers of other modules create the content.
        "java/net" if name == "getContent" => world(Reason::Providers),
        "java/util/logging" | "java/lang/ref" | "java/net" | "java/net/http" | "java/nio/channels" => SHARES,
        // Providers of the program are found where they are registered or instantiated.
        "java/security" => security(simple, name, descriptor)?,
        "java/util/random" | "java/lang/management" => KEEPS,
        "java/time/zone" if simple == "ZoneRulesProvider" => SHARES,
        // These return registered chronologies, which all threads share.
        "java/time/chrono" if simple == "Chronology" && gives_chronologies(name) => SHARES,
        "java/util/zip"
        | "java/util/jar"
        | "java/nio"
        | "java/nio/charset"
        | "java/nio/file"
        | "java/nio/file/attribute" => KEEPS,
        "java/io" => io(simple, name, descriptor),
        "java/lang/reflect" => reflect(simple, name),
        "java/lang/invoke" => invoke(simple, name),
        "java/lang/runtime" => PURE,
        _ if package.starts_with("java/time") => KEEPS,
        "sun/misc" | "jdk/internal/misc" if simple == "Unsafe" => match name {
            "allocateInstance" => world(Reason::Reflection),
            _ if name.starts_with("define") => world(Reason::ClassLoading),
            _ => EXPOSES,
        },
        _ => return None,
    };
    // Methods that return common objects are at least `SHARES`.
    let is_worse = effect.level > Level::Local || effect.opens.is_anything();
    Some(if gives_common(package, simple, name) && !is_worse { SHARES } else { effect })
}

/// Whether a method returns or sets an object that all threads share and that may be of a class of the program: defaults, and
/// objects that registered providers create.
fn gives_common(package: &str, class: &str, name: &str) -> bool {
    match (package, name) {
        (_, "getDefault" | "setDefault") => package.starts_with("java/") && class != "Locale",
        ("java/util" | "java/text", "getTimeZone") => true,
        ("java/text", _) => name.starts_with("get") && name.ends_with("Instance"),
        ("java/nio/charset", "forName" | "defaultCharset" | "availableCharsets") => true,
        ("java/util/random", "of" | "all" | "create") => true,
        ("java/util/jar", "newPacker" | "newUnpacker") => true,
        _ => false,
    }
}

fn gives_chronologies(name: &str) -> bool {
    matches!(name, "of" | "ofLocale" | "getAvailableChronologies")
}

/// Privileged actions run in the calling thread, in some JDK versions through native code. Threads that they start inherit the
/// access-control context if one is passed, and permissions are passed to the security manager.
fn security(class: &str, name: &str, descriptor: &str) -> Option<Effect> {
    let is_plain = name == "doPrivileged" && descriptor.contains("Action;)");
    match class {
        "AccessController" if is_plain => Some(KEEPS),
        "AccessController" => Some(SHARES),
        "PrivilegedAction" | "PrivilegedExceptionAction" => Some(KEEPS),
        "MessageDigest" | "SecureRandom" => Some(KEEPS),
        _ => None,
    }
}

fn lang(class: &str, name: &str) -> Effect {
    match class {
        // `equals` of two collections compares their elements with each other.
        "Object" if matches!(name, "clone" | "equals") => KEEPS,
        "String" if name == "transform" => KEEPS,
        "Package" | "Module" if name.contains("Annotation") => world(Reason::Reflection),
        "Object" | "String" | "StringBuilder" | "StringBuffer" | "Math" | "StrictMath" | "Integer"
        | "Long" | "Short" | "Byte" | "Character" | "Boolean" | "Float" | "Double" | "Number"
        | "StackTraceElement" | "Package" | "Module" | "Void" | "Comparable" => PURE,
        "CharSequence" | "Iterable" | "AutoCloseable" | "Runnable" | "Readable" | "Appendable"
        | "Cloneable" | "Record" | "Throwable" => KEEPS,
        "Enum" if name == "valueOf" => SHARES,
        "Enum" => PURE,
        _ if class.ends_with("Exception") || class.ends_with("Error") => KEEPS,
        "System" => match name {
            "arraycopy" => KEEPS,
            "load" | "loadLibrary" => world(Reason::NativeCode),
            "identityHashCode" | "getProperty" | "getenv" | "lineSeparator" | "currentTimeMillis"
            | "nanoTime" | "exit" | "gc" => PURE,
            "setProperty" | "setProperties" | "getProperties" => {
                Effect { opens: Opens::Properties, ..SHARES }
            }
            _ => SHARES,
        },
        "Thread" if name == "holdsLock" => PURE,
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
            | "getResource"
            | "getResourceAsStream"
            | "getClassLoader"
            | "isAnnotation"
            | "isLocalClass"
            | "isMemberClass"
            | "isSynthetic"
            | "isHidden"
            | "isSealed"
            | "toGenericString"
            // Looking up a member does not use it.
            | "getField"
            | "getFields"
            | "getDeclaredField"
            | "getDeclaredFields"
            | "getMethod"
            | "getMethods"
            | "getDeclaredMethod"
            | "getDeclaredMethods"
            | "getConstructor"
            | "getConstructors"
            | "getDeclaredConstructor"
            | "getDeclaredConstructors" => PURE,
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
        // Threads, thread groups and thread-local variables, processes, and shutdown hooks.
        _ => SHARES,
    }
}

fn util(class: &str, name: &str) -> Effect {
    match class {
        "ServiceLoader" | "ServiceLoader$Provider" => loads(Opens::Services),
        "ResourceBundle$Control" => loads(Opens::Bundles),
        "ResourceBundle" if name == "getBundle" => loads(Opens::Bundles),
        "ResourceBundle" | "ListResourceBundle" | "PropertyResourceBundle" => SHARES,
        // These sets contain all constants of the class, not only those that were passed.
        "EnumSet" if matches!(name, "allOf" | "complementOf" | "range") => SHARES,
        "Timer" | "TimerTask" => SHARES,
        "Objects" if matches!(name, "hash" | "hashCode" | "toString" | "isNull" | "nonNull") => PURE,
        "Random" if name == "from" => KEEPS,
        "Locale" if name.starts_with("filter") => KEEPS,
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

/// Collections store references; executors and the like pass them to other threads.
fn concurrent(class: &str, name: &str, descriptor: &str) -> Effect {
    let class = class.split('$').next().unwrap_or(class);
    match class {
        "Semaphore" if name.ends_with("Threads") => SHARES,
        "TimeUnit" | "ThreadLocalRandom" | "CountDownLatch" | "Semaphore" => PURE,
        // Bulk operations whose first parameter is a parallelism threshold run in several threads.
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
        | "DelayQueue"
        | "Delayed"
            if name != "parallelStream" =>
        {
            KEEPS
        }
        _ => SHARES,
    }
}

fn io(class: &str, name: &str, descriptor: &str) -> Effect {
    match class {
        // The underlying stream may be the program's own, and gets the array without a copy.
        "PrintStream" | "PrintWriter" if name.starts_with("write") || descriptor.starts_with("([C") => KEEPS,
        "PrintStream" | "PrintWriter" if name != "<init>" && name != "append" => PURE,
        // It only describes a field; no object is written or read.
        "ObjectStreamField" => KEEPS,
        _ if ["ObjectInput", "ObjectOutput", "ObjectStream"]
            .iter()
            .any(|prefix| class.starts_with(prefix)) =>
        {
            world(Reason::Serialization)
        }
        _ => KEEPS,
    }
}

/// Methods of fields, methods and constructors that only return information, and no class that the program has not named.
const INSPECTIONS: &[&str] = &[
    "canAccess",
    "equals",
    "getDeclaringClass",
    "getModifiers",
    "getName",
    "getParameterCount",
    "hashCode",
    "isAccessible",
    "isBridge",
    "isDefault",
    "isEnumConstant",
    "isSynthetic",
    "isVarArgs",
    "setAccessible",
    "toGenericString",
    "toString",
    "trySetAccessible",
];

/// The suffixes after `get` and `set` in the names of the methods that access a field.
const FIELD_TYPES: &[&str] = &["", "Boolean", "Byte", "Char", "Double", "Float", "Int", "Long", "Short"];

fn reflect(class: &str, name: &str) -> Effect {
    match (class, name) {
        ("Modifier", _) | ("Array", "newInstance" | "getLength") => PURE,
        ("Array", _) => KEEPS,
        ("Field" | "Method" | "Constructor" | "Executable" | "Member" | "AccessibleObject", _)
            if INSPECTIONS.contains(&name) =>
        {
            PURE
        }
        ("Field", _) if name.starts_with("get") || name.starts_with("set") => {
            match FIELD_TYPES.contains(&&name[3..]) {
                true => Effect { opens: Opens::Statics, ..EXPOSES },
                false => world(Reason::Reflection),
            }
        }
        _ => world(Reason::Reflection),
    }
}

fn invoke(class: &str, name: &str) -> Effect {
    match (class, name) {
        ("VarHandle", _) => EXPOSES,
        ("MethodHandles", "lookup" | "privateLookupIn" | "publicLookup" | "arrayElementVarHandle") => PURE,
        ("MethodHandles$Lookup", "findVarHandle" | "lookupClass" | "in") => PURE,
        ("MethodHandles$Lookup", "findStaticVarHandle") => Effect { opens: Opens::Statics, ..EXPOSES },
        ("MethodType", _) if name != "fromMethodDescriptorString" => PURE,
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
    fn effects_follow_the_table_and_classes_without_a_row_may_do_anything() {
        check("javax/swing/SwingUtilities", "invokeLater", "()V", world(Reason::OtherLibraries));
        check("java/util/ArrayList", "add", "(Ljava/lang/Object;)Z", KEEPS);
        check("java/util/Arrays", "parallelSort", "([I)V", SHARES);
        check("java/math/BigInteger", "parallelMultiply", "()V", SHARES);
        check("java/io/PrintStream", "write", "([BII)V", KEEPS);
        check("java/io/PrintWriter", "println", "([C)V", KEEPS);
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
        check("java/net/URL", "getContent", "()Ljava/lang/Object;", world(Reason::Providers));
        check("java/net/URLConnection", "getContentType", "()Ljava/lang/String;", SHARES);
        check("java/sql/SQLException", "<init>", "()V", KEEPS);
        assert!(is_described("java/security/AccessController") && !is_described("java/security/Signature"));
        assert!(!is_described("java/sql/Timestamp") && !is_described("com/sun/tools/Error"));
        assert_eq!(native_effect("initIDs", "()V"), PURE);
        assert_eq!(native_effect("start0", "()V"), world(Reason::NativeCode));
    }

    #[test]
    fn objects_that_the_jdk_creates_by_itself_are_shared() {
        let statics = Effect { opens: Opens::Statics, ..EXPOSES };
        check("java/util/EnumSet", "allOf", "(Ljava/lang/Class;)Ljava/util/EnumSet;", SHARES);
        check("java/util/EnumSet", "noneOf", "(Ljava/lang/Class;)Ljava/util/EnumSet;", KEEPS);
        check("java/lang/String", "transform", "()V", KEEPS);
        check("java/lang/System", "setProperty", "()V", Effect { opens: Opens::Properties, ..SHARES });
        check("java/util/ServiceLoader", "load", "()V", loads(Opens::Services));
        check("java/util/ResourceBundle", "getBundle", "()V", loads(Opens::Bundles));
        check("java/lang/reflect/Field", "get", "()V", statics);
        check("java/lang/reflect/Field", "setInt", "()V", statics);
        check("java/lang/reflect/Field", "getType", "()V", world(Reason::Reflection));
        check("java/lang/reflect/Method", "invoke", "()V", world(Reason::Reflection));
        check("java/lang/reflect/Method", "getName", "()V", PURE);
        check("java/lang/ref/WeakReference", "get", "()V", KEEPS);
        check("java/lang/ref/Cleaner", "register", "()V", SHARES);
        check("java/net/URLClassLoader", "loadClass", "()V", world(Reason::ClassLoading));
        check("java/util/TimeZone", "getDefault", "()V", SHARES);
        check("java/util/Calendar", "getTimeZone", "()V", SHARES);
        check("java/util/Calendar", "getInstance", "()V", KEEPS);
        check("java/text/Collator", "getInstance", "()V", SHARES);
        check("java/nio/charset/Charset", "forName", "()V", SHARES);
    }

    #[test]
    fn inert_types_are_not_inert_if_the_program_extends_them() {
        let check = |descriptor: &str, extended: &str, expected: bool| {
            assert_eq!(is_inert(descriptor, |name| name == extended), expected, "{descriptor} {extended}");
        };
        let synchronizer = SYNCHRONIZERS[0];
        check("Ljava/lang/String;", "", true);
        check("Ljava/lang/CharSequence;", "", false);
        check("Ljava/util/Random;", "", true);
        check("Ljava/util/Random;", "java/util/Random", false);
        check("Ljava/util/Random;", "java/util/random/RandomGenerator", false);
        check("Ljava/util/concurrent/locks/Condition;", "", true);
        check("Ljava/util/concurrent/locks/Condition;", synchronizer, false);
        check("[Ljava/lang/String;", "", false);
        assert!(is_throwable("Ljava/io/IOException;") && !is_throwable("Ljava/lang/Object;"));
        assert!(loads_by_name("java/nio/file/spi/FileSystemProvider") && !loads_by_name("java/util/List"));
    }
}
