//! The instructions that move slots of the operand stack without looking at them.

use crate::opcodes::{DUP, DUP_X1, DUP_X2, DUP2, DUP2_X1, DUP2_X2, POP, POP2, SWAP};

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
