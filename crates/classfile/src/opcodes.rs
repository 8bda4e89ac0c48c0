//! Instructions: the opcodes that the rewriter uses, and the lengths of all instructions.

use crate::bytes::{i32_at, u8_at};

pub(crate) const ACONST_NULL: u8 = 1;
pub(crate) const ICONST_0: u8 = 3;
pub(crate) const BIPUSH: u8 = 16;
pub(crate) const SIPUSH: u8 = 17;
pub(crate) const LDC: u8 = 18;
pub(crate) const LDC_W: u8 = 19;
pub(crate) const ILOAD: u8 = 21;
pub(crate) const ALOAD: u8 = 25;
pub(crate) const ALOAD_0: u8 = 42;
pub(crate) const ALOAD_3: u8 = 45;
pub(crate) const IALOAD: u8 = 46;
pub(crate) const AALOAD: u8 = 50;
pub(crate) const SALOAD: u8 = 53;
pub(crate) const ISTORE: u8 = 54;
pub(crate) const ASTORE: u8 = 58;
pub(crate) const ISTORE_0: u8 = 59;
pub(crate) const ASTORE_3: u8 = 78;
pub(crate) const IASTORE: u8 = 79;
pub(crate) const LASTORE: u8 = 80;
pub(crate) const DASTORE: u8 = 82;
pub(crate) const SASTORE: u8 = 86;
pub(crate) const POP: u8 = 87;
pub(crate) const POP2: u8 = 88;
pub(crate) const DUP: u8 = 89;
pub(crate) const DUP_X1: u8 = 90;
pub(crate) const DUP_X2: u8 = 91;
pub(crate) const DUP2: u8 = 92;
pub(crate) const DUP2_X1: u8 = 93;
pub(crate) const DUP2_X2: u8 = 94;
pub(crate) const SWAP: u8 = 95;
pub(crate) const IINC: u8 = 132;
pub(crate) const IFEQ: u8 = 153;
pub(crate) const GOTO: u8 = 167;
pub(crate) const JSR: u8 = 168;
pub(crate) const RET: u8 = 169;
pub(crate) const TABLESWITCH: u8 = 170;
pub(crate) const LOOKUPSWITCH: u8 = 171;
pub(crate) const IRETURN: u8 = 172;
pub(crate) const RETURN: u8 = 177;
pub(crate) const GETSTATIC: u8 = 178;
pub(crate) const PUTSTATIC: u8 = 179;
pub(crate) const GETFIELD: u8 = 180;
pub(crate) const PUTFIELD: u8 = 181;
pub(crate) const INVOKEVIRTUAL: u8 = 182;
pub(crate) const INVOKESPECIAL: u8 = 183;
pub(crate) const INVOKESTATIC: u8 = 184;
pub(crate) const INVOKEINTERFACE: u8 = 185;
pub(crate) const INVOKEDYNAMIC: u8 = 186;
pub(crate) const NEW: u8 = 187;
pub(crate) const NEWARRAY: u8 = 188;
pub(crate) const ANEWARRAY: u8 = 189;
pub(crate) const ATHROW: u8 = 191;
pub(crate) const CHECKCAST: u8 = 192;
pub(crate) const MONITORENTER: u8 = 194;
pub(crate) const MONITOREXIT: u8 = 195;
pub(crate) const WIDE: u8 = 196;
pub(crate) const MULTIANEWARRAY: u8 = 197;
pub(crate) const IFNULL: u8 = 198;
pub(crate) const IFNONNULL: u8 = 199;
pub(crate) const GOTO_W: u8 = 200;
pub(crate) const JSR_W: u8 = 201;

/// Lengths by opcode; zero if the length is variable or the opcode is undefined.
const LENGTHS: [u8; 256] = lengths();

const fn lengths() -> [u8; 256] {
    let mut lengths = [0; 256];
    let mut opcode = 0;
    while opcode < lengths.len() {
        lengths[opcode] = match opcode {
            16 | 18 | 21..=25 | 54..=58 | 169 | 188 => 2,
            17 | 19 | 20 | 132 | 153..=168 | 178..=184 | 187 | 189 | 192 | 193 | 198 | 199 => 3,
            197 => 4,
            185 | 186 | 200 | 201 => 5,
            170 | 171 | 196 | 202.. => 0,
            _ => 1,
        };
        opcode += 1;
    }
    lengths
}

/// The length of the instruction at `pc`, if it is defined and lies completely within the code.
pub(crate) fn length(code: &[u8], pc: usize) -> Option<usize> {
    let opcode = *code.get(pc)?;
    let length = match LENGTHS.get(usize::from(opcode)) {
        Some(0) | None => variable_length(code, pc, opcode)?,
        Some(length) => usize::from(*length),
    };
    if length <= code.len() - pc { Some(length) } else { None }
}

/// The offset of the operands of the switch at `pc`, after the padding.
pub(crate) fn switch_operands(pc: usize) -> usize {
    (pc + 4) & !3
}

/// Whether this is a jump with a two-byte offset.
pub(crate) fn is_short_jump(opcode: u8) -> bool {
    matches!(opcode, IFEQ..=JSR | IFNULL | IFNONNULL)
}

/// Whether control never falls through to the next instruction.
pub(crate) fn is_unconditional(opcode: u8) -> bool {
    matches!(opcode, GOTO | RET | TABLESWITCH | LOOKUPSWITCH | IRETURN..=RETURN | ATHROW | GOTO_W)
}

fn variable_length(code: &[u8], pc: usize, opcode: u8) -> Option<usize> {
    let operands = switch_operands(pc);
    match opcode {
        WIDE if u8_at(code, pc + 1) == IINC => Some(6),
        WIDE if matches!(u8_at(code, pc + 1), 21..=25 | 54..=58 | RET) => Some(4),
        TABLESWITCH if operands + 12 <= code.len() => {
            let count = i64::from(i32_at(code, operands + 8)) - i64::from(i32_at(code, operands + 4)) + 1;
            switch_length(pc, operands + 12, count, 4)
        }
        LOOKUPSWITCH if operands + 8 <= code.len() => {
            switch_length(pc, operands + 8, i64::from(i32_at(code, operands + 4)), 8)
        }
        _ => None,
    }
}

/// The length of a switch whose `count` cases begin at `cases`; `None` if a method cannot have that many.
fn switch_length(pc: usize, cases: usize, count: i64, size: usize) -> Option<usize> {
    let count = u16::try_from(count).ok()?;
    Some(cases - pc + usize::from(count) * size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &[u8], pc: usize, expected: Option<usize>) {
        assert_eq!(length(code, pc), expected, "{code:?} at {pc}");
    }

    #[test]
    fn lengths_follow_the_specification() {
        check(&[0], 0, Some(1));
        check(&[BIPUSH, 1], 0, Some(2));
        check(&[SIPUSH, 1], 0, None);
        check(&[GOTO_W, 0, 0, 0, 0], 0, Some(5));
        check(&[WIDE, IINC, 0, 0, 0, 0], 0, Some(6));
        check(&[WIDE, ALOAD, 0, 0], 0, Some(4));
        check(&[WIDE, NEW, 0, 0], 0, None);
        check(&[202], 0, None);
        check(&[], 0, None);
    }

    #[test]
    fn switches_are_measured_with_their_padding() {
        let table = [0, TABLESWITCH, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 9];
        check(&table, 1, Some(23));
        check(&table[..23], 1, None);
        let lookup = [LOOKUPSWITCH, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0];
        check(&lookup, 0, Some(12));
        let negative = [LOOKUPSWITCH, 0, 0, 0, 0, 0, 0, 9, 255, 255, 255, 255];
        check(&negative, 0, None);
        let reversed = [TABLESWITCH, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 1];
        check(&reversed, 0, None);
    }
}
