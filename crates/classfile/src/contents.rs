//! Reports the collections and arrays that fields refer to, and the calls that use their contents.
//!
//! After a read of a field, final or not, whose type may be an array or a collection, the field's value is reported. A call of a
//! collection's method is reported before it is made and after it has returned: in between the method first acquires the locks
//! that it needs and only then accesses the contents. A call that throws gets no second report.
//!
//! Where stack instructions cannot reach the receiver below the arguments, the arguments are spilled to additional local variables.
//! Spilled references are set to null afterwards, because they would keep objects alive.

use crate::collections::{is_builder, may_hold, use_of, use_of_atomic};
use crate::constant_pool::text;
use crate::control::Contents;
use crate::descriptor::{parameters, slots};
use crate::edits::Edit;
use crate::environment::SiteTarget;
use crate::error::MethodError;
use crate::hooks;
use crate::instruction::Instruction;
use crate::instrument::Instrumenter;
use crate::opcodes::{
    ACONST_NULL, DUP, DUP_X1, DUP_X2, DUP2, DUP2_X1, GETFIELD, GETSTATIC, INVOKEINTERFACE, INVOKEVIRTUAL,
    POP, POP2, SWAP,
};
use crate::sources::{MARKS, Source};
use crate::spilling::Spilled;

impl Instrumenter<'_, '_> {
    /// Reports the value of a field, or a call that uses a collection's contents.
    pub(crate) fn contents(
        &mut self,
        contents: Contents,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        // A class initializer happens before every other use of the class.
        // An instruction that already has code behind it is a volatile read, which is reported as synchronization.
        if self.method.is_class_initializer || edit.is_split() {
            return Ok(());
        }
        match instruction.opcode {
            GETFIELD | GETSTATIC => self.field_value(instruction, edit),
            INVOKEVIRTUAL | INVOKEINTERFACE if edit.replacement().is_none() => {
                self.collection_call(contents, instruction, edit)
            }
            _ => Ok(()),
        }
    }

    fn field_value(&mut self, instruction: Instruction, edit: &mut Edit) -> Result<(), MethodError> {
        let is_static = instruction.opcode == GETSTATIC;
        let field = instruction.field(self.pool)?;
        let is_early = !is_static && instruction.pc < self.method.objects_usable_from;
        if is_early || !may_hold(field.descriptor) || field.name == MARKS {
            return Ok(());
        }
        let site = self.field_site(instruction, &field);
        if is_static {
            self.edits.split(edit);
            // From (v) over (v, v, null) to (v, null, v).
            self.edits.code(3, &[DUP, ACONST_NULL, SWAP]);
        } else {
            self.edits.code(3, &[DUP]);
            self.edits.split(edit);
            // From (o, v) to (v, o, v).
            self.edits.code(3, &[DUP_X1]);
        }
        self.edits.code(4, &[]);
        self.edits.number(site, self.additions)?;
        self.edits.call(&hooks::HOLDS, self.additions)
    }

    fn collection_call(
        &mut self,
        contents: Contents,
        instruction: Instruction,
        edit: &mut Edit,
    ) -> Result<(), MethodError> {
        let called = instruction.method(self.pool)?;
        let has_atomics = contents == Contents::CollectionsAndAtomics;
        let found = use_of(&called).or_else(|| use_of_atomic(&called).filter(|_| has_atomics));
        let Some(found) = found else { return Ok(()) };
        let depth: usize = parameters(called.descriptor).map(slots).sum();
        let source = self.sources.below(depth);
        if is_builder(called.owner) && !matches!(source, Source::Field(_)) {
            return Ok(());
        }
        let pc = instruction.pc;
        let name = text(called.name);
        let site = self.with_array(pc, source, |this, target| {
            let target = match target {
                SiteTarget::ArrayElement { source } => SiteTarget::Contents { source, called: &name },
                target => target,
            };
            this.site(pc, found.kind, target)
        })?;
        let spilled = self.copy_receiver(&parameters(called.descriptor).collect::<Vec<_>>())?;
        self.edits.number(site, self.additions)?;
        let hook = if found.walks { &hooks::WALK_BEGIN } else { &hooks::CONTENTS_BEGIN };
        self.edits.call(hook, self.additions)?;
        spilled.load(self.edits);
        spilled.clear_references(self.edits);
        self.edits.split(edit);
        self.edits.code(1, &[]);
        self.edits.number(site, self.additions)?;
        self.edits.call(&hooks::CONTENTS_END, self.additions)
    }

    /// Pushes a copy of a call's receiver, which lies below its arguments. Returns the arguments that were spilled for that.
    fn copy_receiver(&mut self, arguments: &[&[u8]]) -> Result<Spilled, MethodError> {
        self.edits.code(4, &[]);
        match arguments {
            [] => self.edits.code(4, &[DUP]),
            // From (r, a) to (r, a, r).
            [only] if slots(only) == 1 => self.edits.code(4, &[DUP2, POP]),
            // From (r, a) over (a, r) to (r, a, r).
            [_] => self.edits.code(4, &[DUP2_X1, POP2, DUP_X2]),
            arguments => {
                let spilled = Spilled::new(self.code.max_locals, 0, arguments.iter().copied())?;
                spilled.store(self.edits);
                self.edits.code(4, &[DUP]);
                return Ok(spilled);
            }
        }
        Ok(Spilled::default())
    }
}
