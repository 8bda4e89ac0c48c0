//! The collections of the JDK by name, and whether their methods read or write the contents.
//!
//! The classification goes by method name, not by effect: a `put` of a value that is already there still counts as a write, and so
//! does every unknown method. `docs/assetfuzzer.md` has the table for users.

use crate::constant_pool::MemberRef;
use crate::environment::SiteKind;

/// The effect of a call on the contents of its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) kind: SiteKind,
    /// Whether the call passes each element to a callback, so that it reads the collection before it runs the caller's code.
    pub(crate) walks: bool,
}

/// Classes and interfaces of `java.util`.
const COLLECTIONS: &[&str] = &[
    "AbstractCollection",
    "AbstractList",
    "AbstractMap",
    "AbstractQueue",
    "AbstractSequentialList",
    "AbstractSet",
    "ArrayDeque",
    "ArrayList",
    "BitSet",
    "Collection",
    "Deque",
    "Dictionary",
    "EnumMap",
    "EnumSet",
    "HashMap",
    "HashSet",
    "Hashtable",
    "IdentityHashMap",
    "LinkedHashMap",
    "LinkedHashSet",
    "LinkedList",
    "List",
    "Map",
    "NavigableMap",
    "NavigableSet",
    "PriorityQueue",
    "Properties",
    "Queue",
    "SequencedCollection",
    "SequencedMap",
    "SequencedSet",
    "Set",
    "SortedMap",
    "SortedSet",
    "Stack",
    "TreeMap",
    "TreeSet",
    "Vector",
    "WeakHashMap",
];

/// Classes and interfaces of `java.util.concurrent`.
const CONCURRENT: &[&str] = &[
    "ArrayBlockingQueue",
    "BlockingDeque",
    "BlockingQueue",
    "ConcurrentHashMap",
    "ConcurrentHashMap$KeySetView",
    "ConcurrentLinkedDeque",
    "ConcurrentLinkedQueue",
    "ConcurrentMap",
    "ConcurrentNavigableMap",
    "ConcurrentSkipListMap",
    "ConcurrentSkipListSet",
    "CopyOnWriteArrayList",
    "CopyOnWriteArraySet",
    "DelayQueue",
    "LinkedBlockingDeque",
    "LinkedBlockingQueue",
    "LinkedTransferQueue",
    "PriorityBlockingQueue",
    "SynchronousQueue",
    "TransferQueue",
];

/// String builders of `java.lang`. Compilers generate many of them for temporary strings that no field refers to.
const BUILDERS: &[&str] = &["StringBuffer", "StringBuilder"];

/// Types of `java.lang` that a field may have whose value is a collection.
const GENERAL: &[&str] = &["CharSequence", "Iterable", "Object"];

/// Classes of `java.util.concurrent.atomic`: variables, arrays of variables, and field updaters.
const ATOMICS: &[&str] = &[
    "AtomicBoolean",
    "AtomicInteger",
    "AtomicIntegerArray",
    "AtomicIntegerFieldUpdater",
    "AtomicLong",
    "AtomicLongArray",
    "AtomicLongFieldUpdater",
    "AtomicMarkableReference",
    "AtomicReference",
    "AtomicReferenceArray",
    "AtomicReferenceFieldUpdater",
    "AtomicStampedReference",
    "DoubleAccumulator",
    "DoubleAdder",
    "LongAccumulator",
    "LongAdder",
];

/// The methods of atomics that only read.
const ATOMIC_READS: &[&str] = &[
    "equals",
    "get",
    "getAcquire",
    "getOpaque",
    "getPlain",
    "getReference",
    "getStamp",
    "hashCode",
    "isMarked",
    "length",
    "sum",
    "toString",
];

/// Further thread-unsafe classes with mutable state, of `java.text`.
const FORMATS: &[&str] = &[
    "Collator",
    "DateFormat",
    "DecimalFormat",
    "Format",
    "MessageFormat",
    "NumberFormat",
    "RuleBasedCollator",
    "SimpleDateFormat",
];
/// Further thread-unsafe classes with mutable state, of `java.util`.
const WORKERS: &[&str] = &["Calendar", "Formatter", "GregorianCalendar", "Scanner", "regex/Matcher"];

/// Name prefixes of the methods of [`FORMATS`] and [`WORKERS`] that only read.
const WORKER_READ_PREFIXES: &[&str] =
    &["after", "before", "clone", "compareTo", "equals", "get", "hash", "is", "to"];

/// Methods that neither read nor write the contents.
const NEITHER: &[&str] = &["ensureCapacity", "getClass", "notify", "notifyAll", "trimToSize", "wait"];

/// Methods that only read.
const READS: &[&str] = &[
    "capacity",
    "cardinality",
    "charAt",
    "chars",
    "clone",
    "comparator",
    "compareTo",
    "copyInto",
    "element",
    "elementAt",
    "elements",
    "empty",
    "entrySet",
    "equals",
    "get",
    "getChars",
    "getFirst",
    "getLast",
    "getOrDefault",
    "getProperty",
    "getWaitingConsumerCount",
    "hasWaitingConsumer",
    "hashCode",
    "indexOf",
    "intersects",
    "isEmpty",
    "iterator",
    "keySet",
    "keys",
    "length",
    "list",
    "listIterator",
    "mappingCount",
    "navigableKeySet",
    "offsetByCodePoints",
    "parallelStream",
    "propertyNames",
    "remainingCapacity",
    "reversed",
    "size",
    "spliterator",
    "store",
    "storeToXML",
    "stream",
    "stringPropertyNames",
    "toArray",
    "toByteArray",
    "toLongArray",
    "toString",
    "values",
];

/// Name prefixes of further methods that only read.
const READ_PREFIXES: &[&str] = &[
    "ceiling",
    "codePoint",
    "contains",
    "descending",
    "first",
    "floor",
    "forEach",
    "head",
    "higher",
    "last",
    "lower",
    "next",
    "peek",
    "previous",
    "reduce",
    "search",
    "sequenced",
    "sub",
    "tail",
];

/// Name prefixes of methods that pass every element to a callback.
const CALLBACK_PREFIXES: &[&str] = &["forEach", "reduce", "search"];

fn is_named(list: &[&str], name: &[u8]) -> bool {
    list.iter().any(|known| known.as_bytes() == name)
}

fn has_prefix(list: &[&str], name: &[u8]) -> bool {
    list.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
}

/// Whether a class is a string builder.
pub(crate) fn is_builder(class: &[u8]) -> bool {
    class.strip_prefix(b"java/lang/").is_some_and(|name| is_named(BUILDERS, name))
}

fn is_worker(class: &[u8]) -> bool {
    class.strip_prefix(b"java/text/").is_some_and(|name| is_named(FORMATS, name))
        || class.strip_prefix(b"java/util/").is_some_and(|name| is_named(WORKERS, name))
}

fn is_collection(class: &[u8]) -> bool {
    match class.strip_prefix(b"java/util/") {
        Some(name) => match name.strip_prefix(b"concurrent/") {
            Some(name) => is_named(CONCURRENT, name),
            None => is_named(COLLECTIONS, name),
        },
        None => is_builder(class) || class == b"java/lang/Iterable",
    }
}

/// Whether a field of this type may refer to an array or a collection.
pub(crate) fn may_hold(descriptor: &[u8]) -> bool {
    let class = descriptor.strip_prefix(b"L").and_then(|rest| rest.strip_suffix(b";"));
    let is_general = |class: &[u8]| {
        class.strip_prefix(b"java/lang/").is_some_and(|name| is_named(GENERAL, name))
            || class == b"java/io/Serializable"
    };
    descriptor.starts_with(b"[") || class.is_some_and(|class| is_collection(class) || is_general(class))
}

/// The effect of a call on the contents of a collection; `None` if the receiver is no collection.
pub(crate) fn use_of(called: &MemberRef<'_>) -> Option<Use> {
    if !is_collection(called.owner) || is_named(NEITHER, called.name) {
        return None;
    }
    let reads = is_named(READS, called.name) || has_prefix(READ_PREFIXES, called.name);
    let kind = if reads { SiteKind::Read } else { SiteKind::Write };
    Some(Use { kind, walks: has_prefix(CALLBACK_PREFIXES, called.name) })
}

/// The effect of a call on an atomic, a variable handle's target, a thread-unsafe format or calendar, or, through an iterator, on a
/// collection; `None` for any other receiver.
pub(crate) fn use_of_atomic(called: &MemberRef<'_>) -> Option<Use> {
    if matches!(called.owner, b"java/util/Iterator" | b"java/util/ListIterator") {
        let reads = matches!(called.name, b"hasNext" | b"next" | b"hasPrevious" | b"previous");
        let writes = matches!(called.name, b"remove" | b"add" | b"set");
        let kind = if reads { SiteKind::Read } else { SiteKind::Write };
        return (reads || writes).then_some(Use { kind, walks: false });
    }
    if is_worker(called.owner) && !is_named(NEITHER, called.name) && called.name != b"<init>" {
        let kind =
            if has_prefix(WORKER_READ_PREFIXES, called.name) { SiteKind::Read } else { SiteKind::Write };
        return Some(Use { kind, walks: false });
    }
    if called.owner == b"java/lang/invoke/VarHandle" {
        let writes = has_prefix(&["compareAnd", "getAnd", "set", "weakCompareAnd"], called.name);
        let reads =
            called.name == b"get" || has_prefix(&["getAcquire", "getOpaque", "getVolatile"], called.name);
        let kind = if reads { SiteKind::Read } else { SiteKind::Write };
        return (reads || writes).then_some(Use { kind, walks: false });
    }
    let class = called.owner.strip_prefix(b"java/util/concurrent/atomic/")?;
    if !is_named(ATOMICS, class) || is_named(NEITHER, called.name) {
        return None;
    }
    let reads = is_named(ATOMIC_READS, called.name) || called.name.ends_with(b"Value");
    let kind = if reads { SiteKind::Read } else { SiteKind::Write };
    Some(Use { kind, walks: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomics_are_read_or_written() {
        fn check(class: &str, name: &str, expected: Option<SiteKind>) {
            let class = format!("java/util/{class}");
            let called = MemberRef::named(&class, name, "()V");
            assert_eq!(use_of_atomic(&called).map(|found| found.kind), expected, "{class}.{name}");
        }
        check("concurrent/atomic/AtomicInteger", "get", Some(SiteKind::Read));
        check("concurrent/atomic/AtomicInteger", "intValue", Some(SiteKind::Read));
        check("concurrent/atomic/AtomicInteger", "getAndIncrement", Some(SiteKind::Write));
        check("concurrent/atomic/AtomicReference", "compareAndSet", Some(SiteKind::Write));
        check("concurrent/atomic/LongAdder", "sum", Some(SiteKind::Read));
        check("concurrent/atomic/LongAdder", "sumThenReset", Some(SiteKind::Write));
        check("concurrent/atomic/AtomicBoolean", "getClass", None);
        check("concurrent/atomic/AtomicLongFieldUpdater", "addAndGet", Some(SiteKind::Write));
        check("concurrent/ConcurrentHashMap", "get", None);
        check("concurrent/atomic/Striped64", "sum", None);
        check("Iterator", "next", Some(SiteKind::Read));
        check("ListIterator", "set", Some(SiteKind::Write));
        check("Iterator", "forEachRemaining", None);
        check("Calendar", "setTime", Some(SiteKind::Write));
        check("Calendar", "getTime", Some(SiteKind::Read));
        check("Calendar", "<init>", None);
    }

    fn check(class: &str, name: &str, expected: Option<SiteKind>) {
        let called = MemberRef::named(class, name, "()V");
        assert_eq!(use_of(&called).map(|found| found.kind), expected, "{class}.{name}");
    }

    #[test]
    fn methods_read_or_write() {
        let (read, write) = (Some(SiteKind::Read), Some(SiteKind::Write));
        for name in ["get", "size", "isEmpty", "containsKey", "iterator", "forEach", "subList", "peekFirst"] {
            check("java/util/List", name, read);
        }
        for name in
            ["add", "put", "remove", "clear", "poll", "pollFirst", "computeIfAbsent", "drainTo", "sort"]
        {
            check("java/util/concurrent/LinkedBlockingDeque", name, write);
        }
        check("java/util/concurrent/ConcurrentMap", "getOrDefault", read);
        check("java/util/BitSet", "nextSetBit", read);
        check("java/lang/StringBuilder", "length", read);
        check("java/lang/StringBuffer", "setLength", write);
        check("java/util/Vector", "somethingNew", write);
        check("java/lang/Iterable", "iterator", read);
    }

    #[test]
    fn the_documentation_lists_every_method() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/assetfuzzer.md");
        let text = std::fs::read_to_string(docs).expect("the documentation");
        let row = |name: &str| {
            let begin = format!("| {name} |");
            text.lines()
                .find(|line| line.starts_with(&begin))
                .unwrap_or_else(|| panic!("no row {name}"))
                .to_owned()
        };
        let (reads, neither) = (row("read"), row("neither"));
        let is_covered = |name: &&str| READ_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        for name in READS.iter().filter(|name| !is_covered(name)) {
            assert!(reads.contains(&format!("`{name}`")), "{name}");
        }
        for prefix in READ_PREFIXES {
            assert!(reads.contains(&format!("`{prefix}…`")), "{prefix}");
        }
        for name in NEITHER {
            assert!(neither.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn calls_that_do_not_touch_contents_are_left_out() {
        check("java/util/ArrayList", "ensureCapacity", None);
        check("java/util/Vector", "wait", None);
        check("java/util/Iterator", "next", None);
        check("java/util/Optional", "get", None);
        check("java/util/concurrent/Future", "get", None);
        check("java/lang/String", "length", None);
        check("com/acme/List", "add", None);
    }

    #[test]
    fn fields_that_may_hold_contents_are_recognized_by_their_type() {
        for (descriptor, expected) in [
            ("[I", true),
            ("[[Lcom/acme/Order;", true),
            ("Ljava/util/Map;", true),
            ("Ljava/util/concurrent/BlockingQueue;", true),
            ("Ljava/lang/Object;", true),
            ("Ljava/lang/StringBuilder;", true),
            ("Ljava/lang/String;", false),
            ("Ljava/util/Random;", false),
            ("Lcom/acme/Order;", false),
            ("J", false),
        ] {
            assert_eq!(may_hold(descriptor.as_bytes()), expected, "{descriptor}");
        }
    }
}
