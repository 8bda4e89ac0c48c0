//! What the JDK does with the objects that it is given.
//!
//! The code of the JDK's core is not looked into: its methods call each other by interfaces such as `Comparable` all over, so
//! that an analysis of them says that everything leads everywhere. What its classes do with references is told here instead, and
//! held against their code by `table`. Classes of the JDK without a row are analysed like those of a library. Code of the program
//! that the JDK calls back is followed in either case.

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
    /// Classes that system properties name may be loaded.
    Properties,
    /// Static fields may be accessed, of any class that the program names.
    Statics,
    /// Objects may be made of classes that are registered as services.
    Services,
    /// Objects may be made of classes that are resource bundles.
    Bundles,
    /// Classes may be loaded, objects made and methods called by name.
    World(Reason),
}

impl Opens {
    pub(crate) fn is_anything(self) -> bool {
        self != Opens::Nothing
    }
}

/// Why anything may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reason {
    Reflection,
    MethodHandles,
    ClassLoading,
    Providers,
    Serialization,
    NativeCode,
    DynamicCalls,
    /// Classes of the JDK that were neither described nor followed.
    OtherLibraries,
    /// Objects that code with a row made, of classes without.
    UnknownReceivers,
    /// More code of the JDK than is looked into.
    TooMuch,
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
            Reason::Providers => "providers of services that load classes by name",
            Reason::Serialization => "serialization",
            Reason::NativeCode => "native code",
            Reason::DynamicCalls => "dynamic calls of unknown kinds",
            Reason::OtherLibraries => "code of the JDK that is not looked into",
            Reason::UnknownReceivers => "calls of objects whose classes are not known",
            Reason::TooMuch => "more code than is looked into",
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
pub(crate) const EXPOSES: Effect = Effect { links: true, level: Level::Exposed, opens: Opens::Nothing };

/// Classes of one kind may be loaded, and nobody knows what they do with what they are given.
const fn loads(opens: Opens) -> Effect {
    Effect { links: true, level: Level::Exposed, opens }
}

const fn world(reason: Reason) -> Effect {
    Effect { links: true, level: Level::Exposed, opens: Opens::World(reason) }
}

/// An object of a class that code with a row may have made: nobody knows which.
pub(crate) const UNKNOWN_RECEIVER: Effect = world(Reason::UnknownReceivers);

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

/// Whether objects of this type, by its descriptor, lead to none of the program. `is_extended` tells whether classes of the
/// program inherit from a type.
pub(crate) fn is_inert(descriptor: &str, is_extended: impl Fn(&str) -> bool) -> bool {
    let Some(name) = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';')) else {
        return false;
    };
    // What the JDK makes of the program's own objects.
    let wrapped: &[&str] = match name {
        "java/util/concurrent/locks/Condition" => &SYNCHRONIZERS,
        "java/util/Random" => &["java/util/random/RandomGenerator"],
        _ => &[],
    };
    INERT.contains(&name) && !is_extended(name) && !wrapped.iter().any(|name| is_extended(name))
}

/// Whether this type, by its descriptor, is one of the JDK's exceptions.
pub(crate) fn is_throwable(descriptor: &str) -> bool {
    descriptor.starts_with("Ljava")
        && ["Exception;", "Error;", "Throwable;"].iter().any(|end| descriptor.ends_with(end))
}

/// Whether a method gives arrays to whoever knows a character set.
pub(crate) fn codes(class: &str, name: &str) -> bool {
    class == "java/lang/String" && matches!(name, "<init>" | "getBytes")
}

/// Whether a method may look into what it is given, if that is an array, though it does not say so.
pub(crate) fn may_take_arrays(class: &str, name: &str) -> bool {
    class == "java/lang/reflect/Array"
        || (class, name) == ("java/util/Objects", "deepEquals")
        || class.starts_with("java/text/")
}

/// Whether methods of this class of the JDK are no more than they say even if the program has subclasses: none keeps or
/// gives what leads to the receiver.
pub(crate) fn is_final_say(class: &str) -> bool {
    matches!(class, "java/lang/Object" | "java/lang/Comparable" | "java/lang/Enum")
}

/// Whether objects of a class of the JDK load classes by names that they were told.
pub(crate) fn loads_by_name(supertype: &str) -> bool {
    supertype == "java/security/Provider"
        || supertype.rsplit_once('/').is_some_and(|(package, _)| package.ends_with("/spi"))
}

/// Conditions made by these ask the program's own class.
const SYNCHRONIZERS: [&str; 2] = [
    "java/util/concurrent/locks/AbstractQueuedSynchronizer",
    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
];

/// Native methods of classes without a row that do nothing with objects: they look up the fields that other native methods use, or
/// who calls.
const HARMLESS_NATIVES: &[(&str, &str)] =
    &[("initIDs", "()V"), ("registerNatives", "()V"), ("getCallerClass", "()Ljava/lang/Class;")];

/// What a method of the JDK does with references. The class is the one that the code names or that declares the method.
pub(crate) fn effect(class: &str, name: &str, descriptor: &str) -> Effect {
    row(class, name, descriptor).unwrap_or(world(Reason::OtherLibraries))
}

/// Whether the table tells what the methods of a class of the JDK do.
pub(crate) fn is_described(class: &str) -> bool {
    row(class, "", "").is_some()
}

/// What a native method of a class without a row does.
pub(crate) fn native_effect(name: &str, descriptor: &str) -> Effect {
    match HARMLESS_NATIVES.contains(&(name, descriptor)) {
        true => PURE,
        false => world(Reason::NativeCode),
    }
}

/// What the table says. Whether it says anything depends on the class alone.
fn row(class: &str, name: &str, descriptor: &str) -> Option<Effect> {
    // Arrays have one method of their own.
    if class.starts_with('[') {
        return Some(KEEPS);
    }
    let (package, simple) = class.rsplit_once('/')?;
    // Whatever package they are of, they only hold what they are given.
    let is_api = ["java/", "javax/", "org/"].iter().any(|begin| package.starts_with(begin));
    if is_api && package != "java/lang" && (simple.ends_with("Exception") || simple.ends_with("Error")) {
        return Some(KEEPS);
    }
    // Threads know fields of their own, and whoever gets one has not made it.
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
        // A thread that waits tells everybody what it waits for.
        "java/util/concurrent/locks" if simple.starts_with("Abstract") => SHARES,
        "java/util/concurrent/locks" => PURE,
        // Only cleaners run anything; the queue that references are put into is one of the things that they know.
        "java/lang/ref" if simple.ends_with("Reference") || simple == "ReferenceQueue" => KEEPS,
        "java/util/logging" if matches!(name, "readConfiguration" | "updateConfiguration") => {
            world(Reason::ClassLoading)
        }
        "java/net" if simple == "URLClassLoader" => world(Reason::ClassLoading),
        // What the content becomes is up to providers of other modules.
        "java/net" if name == "getContent" => world(Reason::Providers),
        "java/util/logging" | "java/lang/ref" | "java/net" | "java/net/http" | "java/nio/channels" => SHARES,
        // Those that the program brings along are known from where they are registered or made.
        "java/security" => security(simple, name, descriptor)?,
        "java/util/random" | "java/lang/management" => KEEPS,
        "java/time/zone" if simple == "ZoneRulesProvider" => SHARES,
        // Those that are registered, and those that come with the JDK.
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
    // What everybody has is only made worse by that.
    let is_worse = effect.level > Level::Local || effect.opens.is_anything();
    Some(if gives_common(package, simple, name) && !is_worse { SHARES } else { effect })
}

/// Whether a method gives out or takes what all threads have in common and what may be of the program's own classes: defaults, and what
/// is made by those who are registered for it.
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

/// Privileged actions are run where they are, in the same thread; natively, in some versions. Threads that they start inherit a
/// context if one is given, and permissions are shown to whoever decides about them.
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
        // What two collections hold is compared one by one.
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
            // To know a member is not to use it.
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
        // Threads in all their forms, what belongs to them, processes, and hooks at the end.
        _ => SHARES,
    }
}

fn util(class: &str, name: &str) -> Effect {
    match class {
        "ServiceLoader" | "ServiceLoader$Provider" => loads(Opens::Services),
        "ResourceBundle$Control" => loads(Opens::Bundles),
        "ResourceBundle" if name == "getBundle" => loads(Opens::Bundles),
        "ResourceBundle" | "ListResourceBundle" | "PropertyResourceBundle" => SHARES,
        // All constants of the class, which nobody has given.
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
        // What is behind may be the program's own, and gets arrays as they are.
        "PrintStream" | "PrintWriter" if name.starts_with("write") || descriptor.starts_with("([C") => KEEPS,
        "PrintStream" | "PrintWriter" if name != "<init>" && name != "append" => PURE,
        // The description of a field, for which nothing is written or read.
        "ObjectStreamField" => KEEPS,
        _ if ["ObjectInput", "ObjectOutput", "ObjectStream"].iter().any(|begin| class.starts_with(begin)) => {
            world(Reason::Serialization)
        }
        _ => KEEPS,
    }
}

/// What fields, methods and constructors tell without being used, and without naming classes that nobody has named before.
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

/// What follows `get` and `set` in the names of the methods that access a field.
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
    fn what_is_not_named_does_the_worst() {
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
    fn what_the_jdk_makes_by_itself_is_everybodys() {
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
    fn what_leads_nowhere_may_have_the_program_behind_it() {
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
