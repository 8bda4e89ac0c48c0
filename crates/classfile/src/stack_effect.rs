//! The effects of instructions on the operand stack.

use crate::opcodes::{
    ACONST_NULL, ALOAD, ANEWARRAY, ARETURN, ARRAYLENGTH, ASTORE, ATHROW, BIPUSH, CHECKCAST, D2F, D2I, D2L,
    DALOAD, DASTORE, DCMPG, DCMPL, DCONST_0, DCONST_1, DLOAD, DNEG, DREM, DRETURN, DSTORE, DUP, DUP_X1,
    DUP_X2, DUP2, DUP2_X1, DUP2_X2, F2D, F2I, F2L, FCMPG, FCMPL, FCONST_0, FCONST_2, FLOAD, FNEG, FRETURN,
    I2B, I2D, I2F, I2L, I2S, IADD, IALOAD, IAND, IASTORE, ICONST_5, IF_ACMPNE, IF_ICMPEQ, IFEQ, IFLE,
    IFNONNULL, IFNULL, ILOAD, INEG, INSTANCEOF, IRETURN, ISHL, ISTORE, JSR, L2D, L2F, L2I, LALOAD, LASTORE,
    LCMP, LCONST_0, LCONST_1, LDC, LDC2_W, LLOAD, LNEG, LOOKUPSWITCH, LRETURN, LSTORE, LUSHR, LXOR,
    MONITORENTER, MONITOREXIT, NEW, NEWARRAY, POP, POP2, SALOAD, SASTORE, SWAP, TABLESWITCH,
};

/// An instruction that only moves slots of the operand stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StackMove {
    /// Removes this many slots: `pop`, `pop2`.
    Pop(u8),
    /// Copies the topmost `count` slots to below the `under` slots that follow them: `dup` to `dup2_x2`.
    Dup {
        /// How many slots are copied.
        count: u8,
        /// How many slots lie between the copy and the original.
        under: u8,
    },
    /// Exchanges the two topmost slots: `swap`.
    Swap,
}

impl StackMove {
    /// The move of an opcode, if it is one.
    pub(crate) fn of(opcode: u8) -> Option<Self> {
        Some(match opcode {
            POP | POP2 => Self::Pop(opcode - POP + 1),
            DUP | DUP_X1 | DUP_X2 => Self::Dup { count: 1, under: opcode - DUP },
            DUP2 | DUP2_X1 | DUP2_X2 => Self::Dup { count: 2, under: opcode - DUP2 },
            SWAP => Self::Swap,
            _ => return None,
        })
    }

    /// Moves the slots of a stack. Slots below its end have the default value.
    pub fn apply<T: Clone + Default>(self, stack: &mut Vec<T>) {
        match self {
            Self::Pop(count) => stack.truncate(stack.len().saturating_sub(usize::from(count))),
            Self::Dup { count, under } => {
                let (count, under) = (usize::from(count), usize::from(under));
                extend_below(stack, count + under);
                let top = stack.len() - count;
                for offset in 0..count {
                    // Each copy moves the rest of the originals up by one slot.
                    if let Some(value) = stack.get(top + 2 * offset).cloned() {
                        stack.insert(top - under + offset, value);
                    }
                }
            }
            Self::Swap => {
                extend_below(stack, 2);
                let length = stack.len();
                stack.swap(length - 1, length - 2);
            }
        }
    }
}

/// How many slots an instruction pops and then pushes, for the general forms of instructions whose effect does not depend on a
/// constant. A `jsr` pushes a return address.
pub(crate) fn stack_effect(opcode: u8) -> (u8, u8) {
    match opcode {
        LCONST_0 | LCONST_1 | DCONST_0 | DCONST_1 | LDC2_W | LLOAD | DLOAD => (0, 2),
        ACONST_NULL..=ICONST_5 | FCONST_0..=FCONST_2 | BIPUSH..=LDC | ILOAD | FLOAD | ALOAD | JSR | NEW => {
            (0, 1)
        }
        LALOAD | DALOAD => (2, 2),
        IALOAD..=SALOAD => (2, 1),
        LSTORE | DSTORE => (2, 0),
        ISTORE..=ASTORE => (1, 0),
        LASTORE | DASTORE => (4, 0),
        IASTORE..=SASTORE => (3, 0),
        // Arithmetic in the order int, long, float, double; the shift count of longs is an int.
        INEG | FNEG => (1, 1),
        LNEG | DNEG => (2, 2),
        ISHL..=LUSHR if opcode % 2 == 1 => (3, 2),
        IADD..=DREM | IAND..=LXOR if opcode % 2 == 1 => (4, 2),
        IADD..=LXOR => (2, 1),
        I2L | I2D | F2L | F2D => (1, 2),
        I2F | F2I | I2B..=I2S => (1, 1),
        L2I | L2F | D2I | D2F => (2, 1),
        L2D | D2L => (2, 2),
        LCMP | DCMPL | DCMPG => (4, 1),
        FCMPL | FCMPG => (2, 1),
        IFEQ..=IFLE | IFNULL | IFNONNULL | TABLESWITCH | LOOKUPSWITCH | MONITORENTER | MONITOREXIT => (1, 0),
        IF_ICMPEQ..=IF_ACMPNE => (2, 0),
        LRETURN | DRETURN => (2, 0),
        IRETURN | FRETURN | ARETURN | ATHROW => (1, 0),
        NEWARRAY | ANEWARRAY | ARRAYLENGTH | CHECKCAST | INSTANCEOF => (1, 1),
        _ => (0, 0),
    }
}

/// Makes the known part of a stack at least `count` slots long.
fn extend_below<T: Clone + Default>(stack: &mut Vec<T>, count: usize) {
    let missing = count.saturating_sub(stack.len());
    if missing > 0 {
        stack.splice(0..0, std::iter::repeat_n(T::default(), missing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(opcode: u8, before: &[u8], after: &[u8]) {
        let mut stack = before.to_vec();
        StackMove::of(opcode).expect("a move").apply(&mut stack);
        assert_eq!(stack, after, "{opcode} on {before:?}");
    }

    #[test]
    fn moves_follow_the_specification() {
        check(POP, &[1, 2, 3], &[1, 2]);
        check(POP2, &[1, 2, 3], &[1]);
        check(DUP, &[1, 2], &[1, 2, 2]);
        check(DUP_X1, &[1, 2, 3], &[1, 3, 2, 3]);
        check(DUP_X2, &[1, 2, 3], &[3, 1, 2, 3]);
        check(DUP2, &[1, 2], &[1, 2, 1, 2]);
        check(DUP2_X1, &[1, 2, 3], &[2, 3, 1, 2, 3]);
        check(DUP2_X2, &[1, 2, 3, 4], &[3, 4, 1, 2, 3, 4]);
        check(SWAP, &[1, 2], &[2, 1]);
    }

    #[test]
    fn slots_below_the_known_part_are_unknown() {
        check(POP2, &[1], &[]);
        check(DUP, &[], &[0, 0]);
        check(DUP2_X2, &[1, 2], &[1, 2, 0, 0, 1, 2]);
        check(SWAP, &[1], &[1, 0]);
        assert_eq!(StackMove::of(SWAP + 1), None);
    }
}
