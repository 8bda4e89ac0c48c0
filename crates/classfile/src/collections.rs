//! Whether the calls of collections, atomics and similar objects of the JDK read or write their contents, by what `jdk` knows about their
//! methods.

use fissure_jdk::Access;
pub(crate) use fissure_jdk::is_builder;

use crate::constant_pool::MemberRef;
use crate::environment::SiteKind;

/// The effect of a call on the contents of its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) kind: SiteKind,
    /// Whether the call passes each element to a callback, so that it reads the collection before it runs the caller's code.
    pub(crate) walks: bool,
}

/// Whether a field of this type may refer to an array or a collection.
pub(crate) fn may_hold(descriptor: &[u8]) -> bool {
    let class = descriptor.strip_prefix(b"L").and_then(|rest| rest.strip_suffix(b";"));
    descriptor.starts_with(b"[") || class.is_some_and(fissure_jdk::may_hold)
}

/// The effect of a call on the contents of a collection; `None` if the receiver is no collection.
pub(crate) fn use_of(called: &MemberRef<'_>) -> Option<Use> {
    access(fissure_jdk::collection_use(called.owner, called.name)?)
}

/// The effect of a call on an atomic, a variable handle's target, a thread-unsafe format or calendar, or, through an iterator, on a
/// collection; `None` for any other receiver.
pub(crate) fn use_of_atomic(called: &MemberRef<'_>) -> Option<Use> {
    access(fissure_jdk::value_use(called.owner, called.name)?)
}

/// The access that a call makes; `None` if it makes none.
fn access(found: fissure_jdk::Use) -> Option<Use> {
    let kind = match found.access {
        Access::Read => SiteKind::Read,
        Access::Write => SiteKind::Write,
        Access::Neither => return None,
    };
    Some(Use { kind, walks: found.walks })
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
        let rows = fissure_jdk::collection_rows();
        let is_covered = |name: &str| {
            let prefixes = rows.iter().filter_map(|(known, _)| known.strip_suffix('*'));
            prefixes.filter(|prefix| !prefix.is_empty()).any(|prefix| name.starts_with(prefix))
        };
        for (name, found) in rows {
            let (row, shown) = match (found.access, name.strip_suffix('*')) {
                (Access::Write, _) => continue,
                (Access::Neither, _) => (&neither, format!("`{name}`")),
                (Access::Read, Some(prefix)) => (&reads, format!("`{prefix}…`")),
                (Access::Read, None) if is_covered(name) => continue,
                (Access::Read, None) => (&reads, format!("`{name}`")),
            };
            assert!(row.contains(&shown), "{name}");
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
