//! Reports of accesses to fields and array elements, which detection and control share.

use crate::accessors::Accessor;
use crate::array_locals::slots_above_array;
use crate::constant_pool::{MemberRef, text};
use crate::descriptor::{parameters, slots};
use crate::edits::Edit;
use crate::environment::{ArraySource, CodePosition, Site, SiteKind, SiteTarget};
use crate::error::MethodError;
use crate::field_access::Treatment;
use crate::hooks;
use crate::instruction::Instruction;
use crate::instrument::{Instrumenter, Method};
use crate::opcodes::{
    ALOAD, ALOAD_0, ASTORE, DUP, DUP_X1, DUP_X2, DUP2, DUP2_X1, DUP2_X2, GETFIELD, GETSTATIC, LDC_W, POP,
    POP2, PUTFIELD, PUTSTATIC, SWAP,
};
use crate::sources::Source;
use crate::spilling::{Spilled, clear};
use crate::tables::local_name;

impl<'a> Instrumenter<'_, 'a> {
    /// The field of an access, and how the access is instrumented. Accesses to an object that its constructor has not initialized yet are
    /// ignored, because the verifier refuses to pass such an object to a hook; so are, on demand, those that the environment leaves out.
    pub(crate) fn field_treatment(
        &mut self,
        instruction: Instruction,
        may_leave_out: bool,
    ) -> Result<(MemberRef<'a>, Treatment), MethodError> {
        let is_static = matches!(instruction.opcode, GETSTATIC | PUTSTATIC);
        let field = instruction.field(self.pool)?;
        let is_unusable = !is_static && instruction.pc < self.method.objects_usable_from;
        if is_unusable || may_leave_out && self.leaves_out(instruction, false) {
            return Ok((field, Treatment::Ignore));
        }
        let treatment =
            self.fields.treatment(&field, is_static, self.pool, self.additions, self.environment)?;
        Ok((field, treatment))
    }

    /// Reports an access to a field, with its object and, if there is one, its shadow or cell.
    pub(crate) fn report_field(
        &mut self,
        instruction: Instruction,
        field: &MemberRef<'_>,
        treatment: Treatment,
        site: u32,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let is_static = matches!(instruction.opcode, GETSTATIC | PUTSTATIC);
        let wrote = matches!(instruction.opcode, PUTFIELD | PUTSTATIC);
        let is_shadowed = matches!(treatment, Treatment::Shadow(..));
        if !is_static {
            match (wrote, slots(field.descriptor)) {
                (false, _) => self.edits.code(4, &[DUP]),
                // The shadow is read after the write, so that a null object fails at the write itself, with the JVM's
                // own message. From (o, v) over (v, o) and (o, v, o) to (o, o, v).
                (true, 1) if is_shadowed => {
                    self.edits.code(4, &[SWAP, DUP_X1, SWAP]);
                    self.edits.split(edit);
                }
                // From (o, v) over (v, o) and (o, v, o) and (o, o, v, o) to (o, o, v).
                (true, _) if is_shadowed => {
                    self.edits.code(4, &[DUP2_X1, POP2, DUP_X2, DUP_X2, POP]);
                    self.edits.split(edit);
                }
                // From (o, v) to (o, v, o).
                (true, 1) => self.edits.code(4, &[DUP2, POP]),
                // From (o, v) over (v, o) to (o, v, o).
                (true, _) => self.edits.code(4, &[DUP2_X1, POP2, DUP_X2]),
            }
        }
        let hook = match (treatment, wrote) {
            (Treatment::Shadow(reference, is_double), _) => {
                self.edits.code(4, &[DUP]);
                self.edits.constant(GETFIELD, reference);
                match (wrote, is_double) {
                    (false, false) => &hooks::READ,
                    (false, true) => &hooks::READ_DOUBLE,
                    (true, false) => &hooks::WRITE,
                    (true, true) => &hooks::WRITE_DOUBLE,
                }
            }
            (Treatment::Cell(cell), _) => {
                self.edits.number(cell, self.additions)?;
                if !wrote { &hooks::READ_STATIC } else { &hooks::WRITE_STATIC }
            }
            (_, false) if is_static => &hooks::READ_STATIC_AT,
            (_, true) if is_static => &hooks::WRITE_STATIC_AT,
            (_, false) => &hooks::READ_AT,
            (_, true) => &hooks::WRITE_AT,
        };
        self.edits.code(2, &[]);
        self.edits.number(site, self.additions)?;
        self.edits.call(hook, self.additions)
    }

    /// Reports a write of a field of `this` to which no other code has a reference yet: its shadow word is written without a comparison.
    pub(crate) fn report_fresh_field(
        &mut self,
        shadow: u16,
        is_double: bool,
        site: u32,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        self.edits.split(edit);
        self.edits.code(3, &[ALOAD_0]);
        self.edits.number(site, self.additions)?;
        self.edits.call(if is_double { &hooks::FRESH_DOUBLE } else { &hooks::FRESH }, self.additions)?;
        self.edits.constant(PUTFIELD, shadow);
        Ok(())
    }

    /// Numbers an access to a field.
    pub(crate) fn field_site(&mut self, instruction: Instruction, field: &MemberRef<'_>) -> u32 {
        let is_static = matches!(instruction.opcode, GETSTATIC | PUTSTATIC);
        let kind = kind_of(instruction.opcode);
        let (class, name, descriptor) = (text(field.owner), text(field.name), text(field.descriptor));
        let target = SiteTarget::Field { class: &class, name: &name, descriptor: &descriptor, is_static };
        self.site(instruction.pc, kind, target)
    }

    /// Reports an access to a volatile field as synchronization: its write happens before its reads.
    pub(crate) fn volatile(
        &mut self,
        instruction: Instruction,
        field: &MemberRef<'_>,
        class: u16,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let slots = slots(field.descriptor);
        match (instruction.opcode, slots) {
            (PUTFIELD, 1) => self.edits.code(2, &[DUP2, POP]),
            (PUTFIELD, _) => self.edits.code(2, &[DUP2_X1, POP2, DUP_X2]),
            (GETFIELD, 1) => {
                self.edits.code(1, &[DUP]);
                self.edits.split(edit);
                self.edits.code(1, &[SWAP]);
            }
            (GETFIELD, _) => {
                self.edits.code(1, &[DUP]);
                self.edits.split(edit);
                self.edits.code(3, &[DUP2_X1, POP2]);
            }
            // `ldc` cannot load classes before class-file version 49.
            _ if !self.method.has_class_constants => return Ok(()),
            (opcode, _) => {
                if opcode == GETSTATIC {
                    self.edits.split(edit);
                }
                self.edits.code(2, &[]);
                self.edits.constant(LDC_W, class);
            }
        }
        let read = matches!(instruction.opcode, GETFIELD | GETSTATIC);
        self.edits.call(if read { &hooks::VOLATILE_READ } else { &hooks::VOLATILE_WRITE }, self.additions)
    }

    /// Reports synchronization by a volatile field that has a shadow or a cell, before a write or after a read.
    pub(crate) fn synchronize(
        &mut self,
        instruction: Instruction,
        field: &MemberRef<'_>,
        treatment: Treatment,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let Treatment::Cell(cell) = treatment else {
            return self.volatile(instruction, field, field.owner_index, edit);
        };
        let read = instruction.opcode == GETSTATIC;
        if read {
            self.edits.split(edit);
        }
        // Above the value.
        self.edits.code(3, &[]);
        self.edits.number(cell, self.additions)?;
        let hook = if read { &hooks::VOLATILE_READ_STATIC } else { &hooks::VOLATILE_WRITE_STATIC };
        self.edits.call(hook, self.additions)
    }

    /// Reports that a field was read of which only the hook can find out whether it is volatile.
    pub(crate) fn synchronize_at(
        &mut self,
        instruction: Instruction,
        field: &MemberRef<'_>,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let is_static = instruction.opcode == GETSTATIC;
        if !is_static {
            self.edits.code(1, &[DUP]);
        }
        self.edits.split(edit);
        match (is_static, slots(field.descriptor)) {
            (true, _) => self.edits.code(3, &[]),
            (false, 1) => self.edits.code(2, &[SWAP]),
            (false, _) => self.edits.code(4, &[DUP2_X1, POP2]),
        }
        let site = self.field_site(instruction, field);
        self.edits.number(site, self.additions)?;
        let hook = if is_static { &hooks::VOLATILE_READ_STATIC_AT } else { &hooks::VOLATILE_READ_AT };
        self.edits.call(hook, self.additions)
    }

    /// Reports a call that is an access. Its parameters are spilled to additional local variables, because stack instructions cannot
    /// copy that many; spilled references are set to null afterwards, because they would keep objects alive. The receiver stays
    /// where it is, so that the message of a `NullPointerException` still names the null expression.
    pub(crate) fn accessor(
        &mut self,
        instruction: Instruction,
        called: &MemberRef<'_>,
        accessor: Accessor,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let receiver = self.first_free_local()?;
        let spilled = Spilled::new(receiver, 1, parameters(called.descriptor))?;
        let value = usize::from(accessor.kind == SiteKind::Write);
        let coordinates = spilled.len().saturating_sub(value);
        let first: usize = parameters(called.descriptor).map(slots).sum();
        let source = if coordinates == 0 { Source::Unknown } else { self.sources.below(first - 1) };
        let Some(site) = self.site_of_array(instruction.pc, accessor.kind, source, !accessor.is_element)?
        else {
            return Ok(());
        };

        // At most the receiver, an object, a long and two numbers.
        self.edits.code(6, &[]);
        spilled.store(self.edits);
        if accessor.hands_receiver {
            self.edits.code(6, &[DUP]);
        }
        if accessor.is_late {
            self.edits.local(ASTORE, receiver);
            spilled.load(self.edits);
            self.edits.split(edit);
            self.edits.local(ALOAD, receiver);
        }
        spilled.load_first(coordinates, self.edits);
        if let Some(bytes) = accessor.bytes {
            self.edits.number(u32::from(bytes), self.additions)?;
        }
        self.edits.number(site, self.additions)?;
        self.edits.call(accessor.hook, self.additions)?;
        if !accessor.is_late {
            spilled.load(self.edits);
        }
        spilled.clear_references(self.edits);
        if accessor.is_late {
            clear(receiver, self.edits);
        }
        Ok(())
    }

    /// Reports an access to an array element.
    pub(crate) fn element(&mut self, instruction: Instruction) -> Result<(), MethodError> {
        let depth = slots_above_array(instruction.opcode).unwrap_or_default();
        let kind = if depth == 1 { SiteKind::Read } else { SiteKind::Write };
        let source = self.sources.below(depth);
        if source == Source::Marks || self.leaves_out(instruction, true) {
            return Ok(());
        }
        self.keeps(instruction, true);
        let Some(site) = self.site_of_array(instruction.pc, kind, source, false)? else { return Ok(()) };
        let known = match self.arrays.slot(instruction, self.sources) {
            Some(slot) => Some(self.code.max_locals.checked_add(slot).ok_or(MethodError::TooManyLocals)?),
            None => None,
        };
        match depth {
            1 => self.edits.code(5, &[DUP2]),
            // From (a, i, v) over (v, a, i) to (a, i, v, a, i).
            2 => self.edits.code(5, &[DUP_X2, POP, DUP2_X1]),
            _ => self.edits.code(5, &[DUP2_X2, POP2, DUP2_X2]),
        }
        let Some(array) = known else {
            self.edits.number(site, self.additions)?;
            let hook = if depth == 1 { &hooks::ARRAY_READ } else { &hooks::ARRAY_WRITE };
            return self.edits.call(hook, self.additions);
        };
        // The copy of the array below the index goes into its variable after the hook has seen the old value.
        self.edits.code(7, &[DUP2]);
        self.edits.local(ALOAD, array);
        self.edits.local(ALOAD, array + 1);
        self.edits.number(site, self.additions)?;
        let hook = if depth == 1 { &hooks::ARRAY_READ_AGAIN } else { &hooks::ARRAY_WRITE_AGAIN };
        self.edits.call(hook, self.additions)?;
        self.edits.local(ASTORE, array + 1);
        self.edits.code(7, &[POP]);
        self.edits.local(ASTORE, array);
        Ok(())
    }

    /// The first local variable that inserted code may use for a moment.
    fn first_free_local(&self) -> Result<u16, MethodError> {
        self.code.max_locals.checked_add(self.arrays.count()).ok_or(MethodError::TooManyLocals)
    }

    /// Whether an access is left out of instrumentation.
    pub(crate) fn leaves_out(&mut self, instruction: Instruction, is_element: bool) -> bool {
        self.environment.leaves_out(&position(self.method, instruction, is_element))
    }

    /// Notes that an access is instrumented.
    pub(crate) fn keeps(&mut self, instruction: Instruction, is_element: bool) {
        self.environment.keeps(&position(self.method, instruction, is_element));
    }

    /// The site of an access to an array element or through a handle, if it is reported.
    fn site_of_array(
        &mut self,
        pc: usize,
        kind: SiteKind,
        source: Source,
        is_indirect: bool,
    ) -> Result<Option<u32>, MethodError> {
        self.with_array(pc, source, |this, target| {
            let target = match target {
                SiteTarget::ArrayElement { source } if is_indirect => SiteTarget::Indirect { source },
                target => target,
            };
            this.selected_site(pc, kind, target)
        })
    }

    /// Calls `visit` with an array element described by the source of its array.
    pub(crate) fn with_array<T>(
        &mut self,
        pc: usize,
        source: Source,
        visit: impl FnOnce(&mut Self, SiteTarget<'_>) -> T,
    ) -> Result<T, MethodError> {
        let element = |source| SiteTarget::ArrayElement { source };
        Ok(match source {
            Source::Field(index) => {
                let field = self.pool.field(index)?;
                let (class, name, descriptor) = (text(field.owner), text(field.name), text(field.descriptor));
                let source = ArraySource::Field { class: &class, name: &name, descriptor: &descriptor };
                visit(self, element(source))
            }
            Source::Local(slot) => {
                let table = self.method.local_variables.unwrap_or_default();
                let name = local_name(table, self.pool, slot, pc);
                visit(self, element(ArraySource::Local { name: name.as_deref(), slot }))
            }
            Source::Unknown | Source::Marks => visit(self, element(ArraySource::Unknown)),
        })
    }

    fn selected_site(&mut self, pc: usize, kind: SiteKind, target: SiteTarget<'_>) -> Option<u32> {
        if self.selects(pc, kind, target) { Some(self.site(pc, kind, target)) } else { None }
    }

    /// Whether an access is reported.
    pub(crate) fn selects(&mut self, pc: usize, kind: SiteKind, target: SiteTarget<'_>) -> bool {
        let method = self.method;
        !self.reports.is_selective
            || self.environment.is_selected(&Site {
                class: method.class_name,
                method: &method.name,
                descriptor: &method.descriptor,
                access: method.access,
                line: self.lines.at(pc),
                kind,
                target,
            })
    }
}

/// Whether an instruction reads or writes a field.
pub(crate) fn kind_of(opcode: u8) -> SiteKind {
    if matches!(opcode, GETSTATIC | GETFIELD) { SiteKind::Read } else { SiteKind::Write }
}

fn position<'m>(method: &'m Method<'_, '_>, instruction: Instruction, is_element: bool) -> CodePosition<'m> {
    // Code is at most 65535 bytes long.
    let pc = instruction.pc as u16;
    CodePosition { method: &method.name, descriptor: &method.descriptor, pc, is_element }
}
