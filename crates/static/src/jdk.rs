//! The table of the effects of JDK methods on the objects that they get.
//!
//! The code of the JDK's core is not analysed: its methods call each other through interfaces such as `Comparable` everywhere,
//! so the result would be that every object may reference every other. This table describes what its classes do with
//! references instead, with rows from the crate `jdk`; `table` checks it against their code. JDK classes without a row are analysed like those
//! of a library.
//! Callbacks from the JDK into the program are analysed in either case.

use fissure_jdk::{Cause, ReferenceEffect};

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

/// Whether objects of this type, given by its descriptor, reference no objects of the program. `is_extended` returns whether
/// classes of the program inherit from a type.
pub(crate) fn is_inert(descriptor: &str, is_extended: impl Fn(&str) -> bool) -> bool {
    let Some(name) = descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';')) else {
        return false;
    };
    // Objects of some types may wrap an object of the program that extends another type.
    fissure_jdk::inert(name)
        .is_some_and(|wrapped| !is_extended(name) && !wrapped.iter().any(|name| is_extended(name)))
}

/// Whether this type, given by its descriptor, is one of the JDK's exceptions.
pub(crate) fn is_throwable(descriptor: &str) -> bool {
    descriptor.starts_with("Ljava")
        && ["Exception;", "Error;", "Throwable;"].iter().any(|end| descriptor.ends_with(end))
}

/// The effect of a method of the JDK on references. `class` is the class that the code names or that declares the method.
pub(crate) fn effect(class: &str, name: &str, descriptor: &str) -> Effect {
    // Arrays declare only `clone`.
    if class.starts_with('[') {
        return KEEPS;
    }
    let Some(row) = fissure_jdk::reference_effect(class, name, descriptor) else {
        return world(Reason::OtherLibraries);
    };
    let effect = of_row(row);
    // Methods that return common objects are at least `SHARES`.
    let is_worse = effect.level > Level::Local || effect.opens.is_anything();
    if !is_worse && fissure_jdk::gives_common_object(class, name) { SHARES } else { effect }
}

/// Whether the table has a row for a class of the JDK.
pub(crate) fn is_described(class: &str) -> bool {
    class.starts_with('[') || fissure_jdk::has_reference_effects(class)
}

/// The effect of a native method of a class without a row.
pub(crate) fn native_effect(name: &str, descriptor: &str) -> Effect {
    match fissure_jdk::is_harmless_native(name, descriptor) {
        true => PURE,
        false => world(Reason::NativeCode),
    }
}

fn of_row(row: ReferenceEffect) -> Effect {
    match row {
        ReferenceEffect::Pure => PURE,
        ReferenceEffect::Keeps => KEEPS,
        ReferenceEffect::Shares => SHARES,
        ReferenceEffect::Exposes => EXPOSES,
        ReferenceEffect::Properties => Effect { opens: Opens::Properties, ..SHARES },
        ReferenceEffect::Statics => Effect { opens: Opens::Statics, ..EXPOSES },
        ReferenceEffect::Services => loads(Opens::Services),
        ReferenceEffect::Bundles => loads(Opens::Bundles),
        ReferenceEffect::Anything(cause) => world(match cause {
            Cause::Reflection => Reason::Reflection,
            Cause::MethodHandles => Reason::MethodHandles,
            Cause::ClassLoading => Reason::ClassLoading,
            Cause::Providers => Reason::Providers,
            Cause::Serialization => Reason::Serialization,
            Cause::NativeCode => Reason::NativeCode,
        }),
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
        let synchronizer = "java/util/concurrent/locks/AbstractQueuedSynchronizer";
        check("Ljava/lang/String;", "", true);
        check("Ljava/lang/CharSequence;", "", false);
        check("Ljava/util/Random;", "", true);
        check("Ljava/util/Random;", "java/util/Random", false);
        check("Ljava/util/Random;", "java/util/random/RandomGenerator", false);
        check("Ljava/util/concurrent/locks/Condition;", "", true);
        check("Ljava/util/concurrent/locks/Condition;", synchronizer, false);
        check("[Ljava/lang/String;", "", false);
        assert!(is_throwable("Ljava/io/IOException;") && !is_throwable("Ljava/lang/Object;"));
    }
}
