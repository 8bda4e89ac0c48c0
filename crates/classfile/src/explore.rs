//! The pass that lets hooks schedule the threads of a harness: each read or write of a field or an array element, by an instruction, a variable handle or
//! `Unsafe` and in any access mode, is reported before it happens, so that the scheduler can run another thread first.
//!
//! Redundant accesses are reported too. Accesses to final fields of the rewritten class are not: their values do not change once an
//! object is published.

use crate::constant_pool::{MemberRef, text};
use crate::control::Scheduling;
use crate::descriptor::{parameters, slots};
use crate::edits::Edit;
use crate::environment::{ArraySource, SiteKind, SiteTarget};
use crate::error::MethodError;
use crate::field_access::FieldRules;
use crate::hooks::{self, Hook};
use crate::instruction::Instruction;
use crate::instrument::Instrumenter;
use crate::opcodes::{
    ACONST_NULL, DASTORE, DUP, DUP_X2, DUP2, DUP2_X1, DUP2_X2, GETSTATIC, IALOAD, IASTORE, INVOKESPECIAL,
    INVOKESTATIC, INVOKEVIRTUAL, LASTORE, MONITORENTER, MONITOREXIT, POP, POP2, PUTFIELD, PUTSTATIC, SALOAD,
    SASTORE,
};
use crate::pass::{Detail, Pass, Reports};
use crate::spilling::Spilled;

/// The instrumentation that lets hooks schedule the threads of a harness.
#[derive(Debug, Clone, Copy)]
pub struct Exploration<'a> {
    /// The calls and regions by which the hooks control threads.
    pub scheduling: Scheduling<'a>,
    /// Report `monitorenter`, `monitorexit` and synchronized methods.
    pub monitors: bool,
    /// Report every access to a field that is not known to be final, or to an array element, before it happens, including accesses
    /// by variable handle and `Unsafe`.
    pub points: bool,
}

impl<'a> Pass<'a> for Exploration<'a> {
    fn reports(&self, _detail: Detail) -> Reports<'a> {
        Reports {
            monitors: self.monitors,
            monitor_sites: true,
            scheduling: Some(self.scheduling),
            constructors: self.points,
            lines: true,
            ..Reports::default()
        }
    }

    fn field_rules(&self) -> FieldRules {
        if self.points { FieldRules::Finals } else { FieldRules::Nothing }
    }

    fn visit(
        &self,
        walk: &mut Instrumenter<'_, 'a>,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        match instruction.opcode {
            MONITORENTER if self.monitors => walk.monitor_enter(instruction, false, edit),
            MONITOREXIT if self.monitors => walk.monitor_exit(instruction, edit),
            INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC => {
                walk.redirect(&self.scheduling, instruction, edit)?;
                if self.points && instruction.opcode == INVOKEVIRTUAL {
                    walk.point_call(instruction, edit)?;
                }
                Ok(())
            }
            GETSTATIC..=PUTFIELD if self.points => walk.point_field(instruction),
            IALOAD..=SALOAD | IASTORE..=SASTORE if self.points => walk.point_element(instruction),
            _ => Ok(()),
        }
    }
}

/// A call that accesses a field or an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PointCall {
    kind: SiteKind,
    coordinates: Coordinates,
}

/// The location of the access, as given by the first parameters of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coordinates {
    /// Nothing: a static field.
    Static,
    /// The object.
    Object,
    /// The array and the index.
    Element,
    /// The object or array and an offset.
    Offset,
}

impl PointCall {
    fn hook(self) -> &'static Hook {
        let is_write = self.kind == SiteKind::Write;
        match self.coordinates {
            Coordinates::Static | Coordinates::Object if is_write => &hooks::POINT_WRITE,
            Coordinates::Static | Coordinates::Object => &hooks::POINT_READ,
            Coordinates::Element if is_write => &hooks::POINT_ELEMENT_WRITE,
            Coordinates::Element => &hooks::POINT_ELEMENT_READ,
            Coordinates::Offset if is_write => &hooks::POINT_UNSAFE_WRITE,
            Coordinates::Offset => &hooks::POINT_UNSAFE_READ,
        }
    }
}

/// The kind of access of a method by its name, and how many values it takes beside the coordinates; `store` is the name prefix of
/// the methods that only write.
fn access_kind(name: &[u8], store: &[u8]) -> Option<(SiteKind, usize)> {
    let begins = |prefix: &[u8]| name.starts_with(prefix);
    if begins(b"getAnd") || begins(store) {
        return Some((SiteKind::Write, 1));
    }
    if begins(b"compareAnd") || begins(b"weakCompareAnd") {
        return Some((SiteKind::Write, 2));
    }
    begins(b"get").then_some((SiteKind::Read, 0))
}

/// Recognizes a call that accesses a field or an element.
fn point_call(called: &MemberRef<'_>) -> Option<PointCall> {
    let kinds: Vec<u8> = parameters(called.descriptor)
        .map(|parameter| match parameter.first() {
            Some(b'[') | None => b'L',
            Some(&kind) => kind,
        })
        .collect();
    match called.owner {
        b"java/lang/invoke/VarHandle" => {
            let (kind, values) = access_kind(called.name, b"set")?;
            let coordinates = match kinds.get(..kinds.len().checked_sub(values)?)? {
                [] => Coordinates::Static,
                b"LI" => Coordinates::Element,
                [b'L', ..] => Coordinates::Object,
                _ => return None,
            };
            Some(PointCall { kind, coordinates })
        }
        b"jdk/internal/misc/Unsafe" | b"sun/misc/Unsafe" => {
            let (kind, values) = access_kind(called.name, b"put")?;
            // The overloads that take only an address access off-heap memory.
            let is_on_heap = kinds.get(..kinds.len().checked_sub(values)?)? == b"LJ";
            is_on_heap.then_some(PointCall { kind, coordinates: Coordinates::Offset })
        }
        _ => None,
    }
}

/// A hash of a field's name and type, never 0: different fields of one object rarely share it.
fn part(name: &[u8], descriptor: &[u8]) -> u32 {
    let bytes = name.iter().chain(b":").chain(descriptor);
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    (hash >> 16 ^ hash) & 0x7fff | 0x8000
}

impl Instrumenter<'_, '_> {
    /// Reports an access to a field.
    fn point_field(&mut self, instruction: Instruction) -> Result<(), MethodError> {
        let opcode = instruction.opcode;
        let is_static = matches!(opcode, GETSTATIC | PUTSTATIC);
        let is_early = !is_static && instruction.pc < self.method.objects_usable_from;
        let field = instruction.field(self.pool)?;
        if is_early || self.method.is_class_initializer || self.fields.is_final(&field) {
            return Ok(());
        }
        let site = self.field_site(instruction, &field);
        let is_write = matches!(opcode, PUTFIELD | PUTSTATIC);
        match (is_static, is_write, slots(field.descriptor)) {
            (true, ..) => self.edits.code(3, &[ACONST_NULL]),
            (false, false, _) => self.edits.code(3, &[DUP]),
            // From (o, v) to (o, v, o).
            (false, true, 1) => self.edits.code(4, &[DUP2, POP]),
            // From (o, v) over (v, o) to (o, v, o).
            (false, true, _) => self.edits.code(4, &[DUP2_X1, POP2, DUP_X2]),
        }
        let part = if is_static {
            let class = text(field.owner);
            let name = text(field.name);
            part(format!("{class}.{name}").as_bytes(), field.descriptor)
        } else {
            part(field.name, field.descriptor)
        };
        self.edits.number(part, self.additions)?;
        self.edits.number(site, self.additions)?;
        let hook = if is_write { &hooks::POINT_WRITE } else { &hooks::POINT_READ };
        self.edits.call(hook, self.additions)
    }

    /// Reports an access to an array element.
    fn point_element(&mut self, instruction: Instruction) -> Result<(), MethodError> {
        if self.method.is_class_initializer {
            return Ok(());
        }
        let (kind, code): (_, &[u8]) = match instruction.opcode {
            LASTORE | DASTORE => (SiteKind::Write, &[DUP2_X2, POP2, DUP2_X2]),
            // From (a, i, v) over (v, a, i) to (a, i, v, a, i).
            IASTORE..=SASTORE => (SiteKind::Write, &[DUP_X2, POP, DUP2_X1]),
            _ => (SiteKind::Read, &[DUP2]),
        };
        let target = SiteTarget::ArrayElement { source: ArraySource::Unknown };
        let site = self.site(instruction.pc, kind, target);
        self.edits.code(3, code);
        self.edits.number(site, self.additions)?;
        let is_write = kind == SiteKind::Write;
        let hook = if is_write { &hooks::POINT_ELEMENT_WRITE } else { &hooks::POINT_ELEMENT_READ };
        self.edits.call(hook, self.additions)
    }

    /// Reports an access by a call. The parameters are spilled to additional local variables, as for other calls that are
    /// accesses.
    fn point_call(&mut self, instruction: Instruction, edit: &Edit) -> Result<(), MethodError> {
        if self.method.is_class_initializer || edit.replacement().is_some() {
            return Ok(());
        }
        let called = instruction.method(self.pool)?;
        let Some(call) = point_call(&called) else { return Ok(()) };
        let spilled = Spilled::new(self.code.max_locals, 0, parameters(called.descriptor))?;
        let (class, name) = (text(called.owner), text(called.name));
        let site = self.site(instruction.pc, call.kind, SiteTarget::Method { class: &class, name: &name });
        self.edits.code(4, &[]);
        spilled.store(self.edits);
        let taken = match call.coordinates {
            Coordinates::Static => 0,
            Coordinates::Object => 1,
            Coordinates::Element | Coordinates::Offset => 2,
        };
        if taken == 0 {
            self.edits.code(4, &[ACONST_NULL]);
        }
        spilled.load_first(taken, self.edits);
        if matches!(call.coordinates, Coordinates::Static | Coordinates::Object) {
            self.edits.number(0, self.additions)?;
        }
        self.edits.number(site, self.additions)?;
        self.edits.call(call.hook(), self.additions)?;
        spilled.load(self.edits);
        spilled.clear_references(self.edits);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(class: &str, name: &str, descriptor: &str, expected: Option<(&str, SiteKind)>) {
        let called = MemberRef::named(class, name, descriptor);
        let found = point_call(&called).map(|call| (call.hook().name, call.kind));
        assert_eq!(found, expected, "{class}.{name}{descriptor}");
    }

    #[test]
    fn accessing_calls_are_recognized_in_every_mode() {
        let (read, write) = (SiteKind::Read, SiteKind::Write);
        let handle = |name, descriptor, expected| {
            check("java/lang/invoke/VarHandle", name, descriptor, expected);
        };
        handle("get", "()I", Some(("pointRead", read)));
        handle("getAcquire", "(LA;)LA;", Some(("pointRead", read)));
        handle("set", "(LA;LA;)V", Some(("pointWrite", write)));
        handle("setRelease", "(LA;)V", Some(("pointWrite", write)));
        handle("compareAndSet", "(LA;LB;LB;)Z", Some(("pointWrite", write)));
        handle("compareAndExchange", "(LB;LB;)LB;", Some(("pointWrite", write)));
        handle("weakCompareAndSetPlain", "([LA;ILA;LA;)Z", Some(("pointElementWrite", write)));
        handle("getVolatile", "([II)I", Some(("pointElementRead", read)));
        handle("getAndAdd", "(LA;I)I", Some(("pointWrite", write)));
        handle("coordinateTypes", "()Ljava/util/List;", None);
        handle("withInvokeBehavior", "()Ljava/lang/invoke/VarHandle;", None);
        for class in ["sun/misc/Unsafe", "jdk/internal/misc/Unsafe"] {
            let object = "(Ljava/lang/Object;J)Ljava/lang/Object;";
            check(class, "getReferenceAcquire", object, Some(("pointUnsafeRead", read)));
            check(class, "putIntRelease", "(Ljava/lang/Object;JI)V", Some(("pointUnsafeWrite", write)));
            check(class, "compareAndSetLong", "(Ljava/lang/Object;JJJ)Z", Some(("pointUnsafeWrite", write)));
            check(class, "getAndAddInt", "(Ljava/lang/Object;JI)I", Some(("pointUnsafeWrite", write)));
            check(class, "getInt", "(J)I", None);
            check(class, "getUnsafe", "()Ljdk/internal/misc/Unsafe;", None);
            check(class, "park", "(ZJ)V", None);
        }
        check("java/util/Map", "get", "(Ljava/lang/Object;)Ljava/lang/Object;", None);
    }

    #[test]
    fn fields_have_numbers_that_are_not_zero() {
        assert_ne!(part(b"", b""), 0);
        assert_ne!(part(b"next", b"LNode;"), part(b"val", b"LNode;"));
    }
}
