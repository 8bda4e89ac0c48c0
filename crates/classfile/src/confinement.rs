//! Tells how long a constructor alone can have a reference to its object.
//!
//! The object of a class whose superclass is `java.lang.Object` or `java.lang.Record` is confined to the constructor after the call of the
//! superclass's constructor, until a copy of `this` may leave the local variable: as an argument, in a field, in an array, in another
//! variable, or by its monitor. Only code without jumps into it is considered.

use crate::constant_pool::ConstantPool;
use crate::descriptor::{parameters, slots};
use crate::instruction::Instruction;
use crate::instrument::Method;
use crate::opcodes::{
    AASTORE, ASTORE, INVOKEDYNAMIC, INVOKESPECIAL, INVOKESTATIC, INVOKEVIRTUAL, MONITORENTER, PUTFIELD,
    PUTSTATIC,
};
use crate::sources::Sources;

/// Whether the object that a constructor initializes is confined to it, as known so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confinement {
    /// The superclass's constructor has not returned yet.
    #[default]
    NotYet,
    /// No other code has a reference.
    Confined,
    /// Other code may have a reference.
    Ended,
}

impl Confinement {
    /// The state at the beginning of a method.
    pub(crate) fn begin(method: &Method<'_, '_>) -> Self {
        let may_begin = method.is_constructor && method.objects_usable_from != usize::MAX;
        if may_begin { Confinement::NotYet } else { Confinement::Ended }
    }

    /// The state after an instruction; `sources` describes the stack before it.
    pub(crate) fn after(
        self,
        instruction: Instruction,
        method: &Method<'_, '_>,
        pool: &ConstantPool<'_>,
        sources: &Sources,
    ) -> Self {
        match self {
            Confinement::NotYet if instruction.end() == method.objects_usable_from => {
                let begins = instruction.opcode == INVOKESPECIAL
                    && instruction.method(pool).is_ok_and(|called| {
                        matches!(called.owner, b"java/lang/Object" | b"java/lang/Record")
                    });
                if begins { Confinement::Confined } else { Confinement::Ended }
            }
            Confinement::Confined if leaks(instruction, pool, sources) => Confinement::Ended,
            state => state,
        }
    }
}

/// Whether a copy of `this` may leave local variable 0, or the variable may be overwritten.
fn leaks(instruction: Instruction, pool: &ConstantPool<'_>, sources: &Sources) -> bool {
    let consumed = match instruction.opcode {
        opcode @ INVOKEVIRTUAL..=INVOKEDYNAMIC => {
            let receiver = usize::from(!matches!(opcode, INVOKESTATIC | INVOKEDYNAMIC));
            match pool.call_descriptor(instruction.constant()) {
                Ok(descriptor) => receiver + parameters(descriptor).map(slots).sum::<usize>(),
                Err(_) => return true,
            }
        }
        PUTFIELD | PUTSTATIC => match instruction.field(pool) {
            Ok(field) => slots(field.descriptor),
            Err(_) => return true,
        },
        AASTORE | ASTORE => 1,
        MONITORENTER => return true,
        _ => 0,
    };
    let overwrites = instruction.stored().is_some_and(|slot| slot == 0);
    overwrites || consumed > 0 && sources.may_hold(0, consumed)
}
