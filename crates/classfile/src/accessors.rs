//! Calls that read or write a field or an array element as an instruction does: by variable handle, by `Unsafe` and by
//! reflection.
//!
//! This module handles plain accesses only. Accesses in volatile, acquire, release or opaque mode and all compare-and-set or
//! exchange operations are atomic: they synchronize, or at least cannot race.

use crate::constant_pool::MemberRef;
use crate::descriptor::parameters;
use crate::environment::SiteKind;
use crate::hooks::{self, Hook};
use crate::opcodes::{INVOKESTATIC, INVOKEVIRTUAL};

/// A call that is an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accessor {
    pub(crate) kind: SiteKind,
    pub(crate) hook: &'static Hook,
    /// Whether the object that the method is called on is handed to the hook.
    pub(crate) hands_receiver: bool,
    /// How many bytes are accessed, if the hook has a parameter for that.
    pub(crate) bytes: Option<u8>,
    /// Whether the access is certainly to an array element.
    pub(crate) is_element: bool,
    /// Whether the hook is called after the access: the field may be volatile, and only after a volatile read does the
    /// happens-before edge from the write exist.
    pub(crate) is_late: bool,
}

/// Recognizes a call that is a plain access.
pub(crate) fn accessor(opcode: u8, called: &MemberRef<'_>) -> Option<Accessor> {
    match (opcode, called.owner) {
        (INVOKEVIRTUAL, b"java/lang/invoke/VarHandle") => by_handle(called),
        (INVOKEVIRTUAL, b"sun/misc/Unsafe" | b"jdk/internal/misc/Unsafe") => by_unsafe(called),
        (INVOKEVIRTUAL, b"java/lang/reflect/Field") => by_reflection(called),
        (INVOKESTATIC, b"java/lang/reflect/Array") => by_array_reflection(called),
        _ => None,
    }
}

/// The kinds of the coordinate parameters, without the value that is written: `L` for references.
fn coordinates(descriptor: &[u8], kind: SiteKind) -> Option<Vec<u8>> {
    let mut kinds: Vec<u8> = parameters(descriptor)
        .map(|parameter| match parameter.first() {
            Some(b'[') | None => b'L',
            Some(&kind) => kind,
        })
        .collect();
    if kind == SiteKind::Write {
        kinds.pop()?;
    }
    Some(kinds)
}

/// Splits the name of a method such as `getInt` into the kind of access and the type.
fn typed<'a>(name: &'a [u8], write: &[u8]) -> Option<(SiteKind, &'a [u8])> {
    let read = name.strip_prefix(b"get").map(|rest| (SiteKind::Read, rest));
    read.or_else(|| name.strip_prefix(write).map(|rest| (SiteKind::Write, rest)))
}

fn is_primitive(name: &[u8]) -> bool {
    matches!(name, b"Boolean" | b"Byte" | b"Char" | b"Short" | b"Int" | b"Long" | b"Float" | b"Double")
}

fn by_handle(called: &MemberRef<'_>) -> Option<Accessor> {
    let (kind, b"") = typed(called.name, b"set")? else { return None };
    let hook = match (coordinates(called.descriptor, kind)?.as_slice(), kind) {
        (b"", SiteKind::Read) => &hooks::HANDLE_READ_STATIC,
        (b"", SiteKind::Write) => &hooks::HANDLE_WRITE_STATIC,
        (b"L", SiteKind::Read) => &hooks::HANDLE_READ,
        (b"L", SiteKind::Write) => &hooks::HANDLE_WRITE,
        (b"LI", SiteKind::Read) => &hooks::HANDLE_READ_ELEMENT,
        (b"LI", SiteKind::Write) => &hooks::HANDLE_WRITE_ELEMENT,
        _ => return None,
    };
    let is_element = matches!(hook.name, "handleReadElement" | "handleWriteElement");
    Some(Accessor { kind, hook, hands_receiver: true, bytes: None, is_element, is_late: false })
}

fn by_unsafe(called: &MemberRef<'_>) -> Option<Accessor> {
    let (kind, name) = typed(called.name, b"put")?;
    let bytes = match name {
        b"Boolean" | b"Byte" => 1,
        b"Char" | b"Short" => 2,
        b"Int" | b"Float" => 4,
        b"Long" | b"Double" => 8,
        // The size of a reference depends on compressed oops, but an access to one never overlaps the next.
        b"Object" | b"Reference" => 1,
        _ => return None,
    };
    // The overloads that take only an address access off-heap memory.
    if coordinates(called.descriptor, kind)? != b"LJ" {
        return None;
    }
    let hook = if kind == SiteKind::Read { &hooks::UNSAFE_READ } else { &hooks::UNSAFE_WRITE };
    Some(Accessor {
        kind,
        hook,
        hands_receiver: false,
        bytes: Some(bytes),
        is_element: false,
        is_late: false,
    })
}

fn by_reflection(called: &MemberRef<'_>) -> Option<Accessor> {
    let (kind, name) = typed(called.name, b"set")?;
    if !(name.is_empty() || is_primitive(name)) || coordinates(called.descriptor, kind)? != b"L" {
        return None;
    }
    let hook = if kind == SiteKind::Read { &hooks::REFLECTED_READ } else { &hooks::REFLECTED_WRITE };
    Some(Accessor {
        kind,
        hook,
        hands_receiver: true,
        bytes: None,
        is_element: false,
        is_late: kind == SiteKind::Read,
    })
}

fn by_array_reflection(called: &MemberRef<'_>) -> Option<Accessor> {
    let (kind, name) = typed(called.name, b"set")?;
    if !(name.is_empty() || is_primitive(name)) || coordinates(called.descriptor, kind)? != b"LI" {
        return None;
    }
    let hook = if kind == SiteKind::Read { &hooks::ELEMENT_READ } else { &hooks::ELEMENT_WRITE };
    Some(Accessor { kind, hook, hands_receiver: false, bytes: None, is_element: true, is_late: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(opcode: u8, class: &str, name: &str, descriptor: &str, expected: Option<(&str, Option<u8>)>) {
        let called = MemberRef::named(class, name, descriptor);
        let found = accessor(opcode, &called).map(|found| (found.hook.name, found.bytes));
        assert_eq!(found, expected, "{class}.{name}{descriptor}");
    }

    #[test]
    fn only_plain_accesses_are_recognized() {
        let handle = |name, descriptor, expected: Option<&str>| {
            let class = "java/lang/invoke/VarHandle";
            check(INVOKEVIRTUAL, class, name, descriptor, expected.map(|hook| (hook, None)));
        };
        handle("get", "()I", Some("handleReadStatic"));
        handle("set", "(D)V", Some("handleWriteStatic"));
        handle("get", "(LA;)Ljava/lang/Object;", Some("handleRead"));
        handle("set", "(LA;J)V", Some("handleWrite"));
        handle("get", "([II)I", Some("handleReadElement"));
        handle("set", "([LA;ILA;)V", Some("handleWriteElement"));
        handle("get", "(Ljava/lang/foreign/MemorySegment;J)I", None);
        handle("set", "()V", None);
        handle("getVolatile", "(LA;)I", None);
        handle("getOpaque", "(LA;)I", None);
        handle("setRelease", "(LA;I)V", None);
        handle("compareAndSet", "(LA;II)Z", None);

        for class in ["sun/misc/Unsafe", "jdk/internal/misc/Unsafe"] {
            let by_unsafe =
                |name, descriptor, expected| check(INVOKEVIRTUAL, class, name, descriptor, expected);
            by_unsafe("getInt", "(Ljava/lang/Object;J)I", Some(("unsafeRead", Some(4))));
            by_unsafe("putDouble", "(Ljava/lang/Object;JD)V", Some(("unsafeWrite", Some(8))));
            let object = "(Ljava/lang/Object;JLjava/lang/Object;)V";
            by_unsafe("putObject", object, Some(("unsafeWrite", Some(1))));
            by_unsafe("getInt", "(J)I", None);
            by_unsafe("putInt", "(JI)V", None);
            by_unsafe("getIntVolatile", "(Ljava/lang/Object;J)I", None);
            by_unsafe("getAndAddInt", "(Ljava/lang/Object;JI)I", None);
        }

        let field = |name, descriptor, expected: Option<&str>| {
            let class = "java/lang/reflect/Field";
            check(INVOKEVIRTUAL, class, name, descriptor, expected.map(|hook| (hook, None)));
        };
        field("get", "(Ljava/lang/Object;)Ljava/lang/Object;", Some("reflectedRead"));
        field("setLong", "(Ljava/lang/Object;J)V", Some("reflectedWrite"));
        field("getName", "()Ljava/lang/String;", None);
        field("getAnnotation", "(Ljava/lang/Class;)Ljava/lang/annotation/Annotation;", None);
        field("setAccessible", "(Z)V", None);

        let array = |opcode, name, descriptor, expected: Option<&str>| {
            let class = "java/lang/reflect/Array";
            check(opcode, class, name, descriptor, expected.map(|hook| (hook, None)));
        };
        array(INVOKESTATIC, "getInt", "(Ljava/lang/Object;I)I", Some("elementRead"));
        array(INVOKESTATIC, "set", "(Ljava/lang/Object;ILjava/lang/Object;)V", Some("elementWrite"));
        array(INVOKESTATIC, "getLength", "(Ljava/lang/Object;)I", None);
        array(INVOKEVIRTUAL, "getInt", "(Ljava/lang/Object;I)I", None);
        check(INVOKEVIRTUAL, "java/lang/ThreadLocal", "get", "()Ljava/lang/Object;", None);
    }
}
