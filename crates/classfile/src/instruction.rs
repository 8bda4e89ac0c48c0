//! Decodes instructions: the only place that knows how operands are encoded.
//!
//! Forms that differ in their encoding only are decoded alike: `aload_0` and `wide aload` as `aload`, `ldc_w` as `ldc`, `goto_w` as
//! `goto`. An operand's entry of the constant pool is resolved when a pass asks for it, because most passes look at few
//! instructions.

use crate::bytes::{i32_at, u8_at, u16_at};
use crate::constant_pool::{ConstantPool, MemberRef};
use crate::error::ClassError;
use crate::opcodes::{
    ALOAD, ALOAD_3, ANEWARRAY, ASTORE, ASTORE_3, ATHROW, BIPUSH, CHECKCAST, GETSTATIC, GOTO, GOTO_W,
    ICONST_0, ICONST_5, ICONST_M1, IFEQ, IFNONNULL, IFNULL, IINC, ILOAD, ILOAD_0, INSTANCEOF, INVOKEDYNAMIC,
    INVOKEINTERFACE, IRETURN, ISTORE, ISTORE_0, JSR, JSR_W, LCONST_0, LCONST_1, LDC, LDC_W, LDC2_W,
    LOOKUPSWITCH, MULTIANEWARRAY, NEW, NEWARRAY, RET, RETURN, SIPUSH, TABLESWITCH, WIDE,
};

/// One instruction of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// The bytecode offset.
    pub(crate) pc: usize,
    /// The opcode of the general form: `aload` for `aload_0` and `wide aload`.
    pub(crate) opcode: u8,
    /// Whether it has a wide form's operand: it begins with `wide`, or it is a `goto_w` or `jsr_w`.
    pub(crate) is_wide: bool,
    pub(crate) operand: Operand,
    /// How many bytes it takes. Code is at most 65535 bytes long.
    length: u16,
}

/// The operand of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operand {
    /// None, or the type of a `newarray`.
    None,
    /// The int or long that it pushes.
    Number(i32),
    /// The local variable that it uses.
    Local(u16),
    /// The index of the constant that it names.
    Constant(u16),
    /// The index of the array class, and the number of dimensions that are created.
    Array(u16, u8),
    /// The offset that it jumps to, which may lie outside of the code.
    Target(i32),
    /// Several targets: see [`Instruction::switch`].
    Switch,
}

/// The operands of a `tableswitch` or `lookupswitch`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Switch<'c> {
    pc: usize,
    /// The smallest case of a table; a lookup has explicit cases.
    low: Option<i32>,
    /// The distance to the code for all other values.
    default: i32,
    /// For a table the distances, otherwise pairs of case and distance.
    cases: &'c [u8],
}

impl Instruction {
    /// Decodes the instruction at `pc`, if it is defined and lies completely within the code.
    pub(crate) fn decode(code: &[u8], pc: usize) -> Option<Self> {
        let first = *code.get(pc)?;
        let is_prefixed = first == WIDE;
        let length = match LENGTHS.get(usize::from(first)) {
            Some(0) | None => variable_length(code, pc, first)?,
            Some(length) => usize::from(*length),
        };
        if length > code.len() - pc {
            return None;
        }
        let length = u16::try_from(length).ok()?;
        let (opcode, operand) = match if is_prefixed { u8_at(code, pc + 1) } else { first } {
            opcode if is_prefixed => (opcode, Operand::Local(u16_at(code, pc + 2))),
            opcode @ ICONST_M1..=ICONST_5 => {
                (opcode, Operand::Number(i32::from(opcode) - i32::from(ICONST_0)))
            }
            opcode @ LCONST_0..=LCONST_1 => {
                (opcode, Operand::Number(i32::from(opcode) - i32::from(LCONST_0)))
            }
            BIPUSH => (BIPUSH, Operand::Number(i32::from(u8_at(code, pc + 1).cast_signed()))),
            SIPUSH => (SIPUSH, Operand::Number(i32::from(u16_at(code, pc + 1).cast_signed()))),
            LDC => (LDC, Operand::Constant(u16::from(u8_at(code, pc + 1)))),
            LDC_W => (LDC, Operand::Constant(u16_at(code, pc + 1))),
            // Four forms, for the variables 0 to 3, of each of five types.
            opcode @ ILOAD_0..=ALOAD_3 => local(ILOAD, opcode - ILOAD_0),
            opcode @ ISTORE_0..=ASTORE_3 => local(ISTORE, opcode - ISTORE_0),
            opcode @ (ILOAD..=ALOAD | ISTORE..=ASTORE | IINC | RET) => {
                (opcode, Operand::Local(u16::from(u8_at(code, pc + 1))))
            }
            opcode @ (IFEQ..=JSR | IFNULL | IFNONNULL) => {
                (opcode, target(pc, i32::from(u16_at(code, pc + 1).cast_signed())))
            }
            GOTO_W => (GOTO, target(pc, i32_at(code, pc + 1))),
            JSR_W => (JSR, target(pc, i32_at(code, pc + 1))),
            opcode @ (TABLESWITCH | LOOKUPSWITCH) => (opcode, Operand::Switch),
            opcode @ (LDC2_W | GETSTATIC..=NEW | ANEWARRAY | CHECKCAST | INSTANCEOF) => {
                (opcode, Operand::Constant(u16_at(code, pc + 1)))
            }
            MULTIANEWARRAY => (MULTIANEWARRAY, Operand::Array(u16_at(code, pc + 1), u8_at(code, pc + 3))),
            opcode => (opcode, Operand::None),
        };
        let is_wide = matches!(first, WIDE | GOTO_W | JSR_W);
        Some(Self { pc, opcode, is_wide, operand, length })
    }

    /// The offset right behind it.
    pub(crate) fn end(&self) -> usize {
        self.pc + usize::from(self.length)
    }

    /// Its bytes in the code that it was decoded from.
    pub(crate) fn bytes<'c>(&self, code: &'c [u8]) -> &'c [u8] {
        code.get(self.pc..self.end()).unwrap_or_default()
    }

    /// The local variable that it uses.
    pub(crate) fn local(&self) -> Option<u16> {
        match self.operand {
            Operand::Local(slot) => Some(slot),
            _ => None,
        }
    }

    /// The index of the constant that it names; 0, which no constant has, if it names none.
    pub(crate) fn constant(&self) -> u16 {
        match self.operand {
            Operand::Constant(index) | Operand::Array(index, _) => index,
            _ => 0,
        }
    }

    /// The field that it names.
    pub(crate) fn field<'a>(&self, pool: &ConstantPool<'a>) -> Result<MemberRef<'a>, ClassError> {
        pool.field(self.constant())
    }

    /// The method that it names.
    pub(crate) fn method<'a>(&self, pool: &ConstantPool<'a>) -> Result<MemberRef<'a>, ClassError> {
        pool.method(self.constant())
    }

    /// The local variable that it stores to.
    pub(crate) fn stored(&self) -> Option<u16> {
        self.local().filter(|_| matches!(self.opcode, ISTORE..=ASTORE))
    }

    /// Whether control may continue right behind it. After a `jsr` it does once the subroutine returns.
    pub(crate) fn falls_through(&self) -> bool {
        !matches!(self.opcode, GOTO | RET | TABLESWITCH | LOOKUPSWITCH | IRETURN..=RETURN | ATHROW)
    }

    /// Its operands, if it is a switch.
    pub(crate) fn switch<'c>(&self, code: &'c [u8]) -> Option<Switch<'c>> {
        if self.operand != Operand::Switch {
            return None;
        }
        let operands = switch_operands(self.pc);
        let is_table = self.opcode == TABLESWITCH;
        let low = is_table.then(|| i32_at(code, operands + 4));
        let start = operands + if is_table { 12 } else { 8 };
        let cases = code.get(start..self.end()).unwrap_or_default();
        Some(Switch { pc: self.pc, low, default: i32_at(code, operands), cases })
    }

    /// All offsets that it may jump to. They may lie outside of the code.
    pub(crate) fn targets(&self, code: &[u8]) -> impl Iterator<Item = i32> {
        let jump = match self.operand {
            Operand::Target(target) => Some(target),
            _ => None,
        };
        let switch = self.switch(code);
        let cases = switch.into_iter().flat_map(|switch| {
            std::iter::once(switch.default()).chain(switch.cases().map(|(_, target)| target))
        });
        jump.into_iter().chain(cases)
    }
}

impl<'c> Switch<'c> {
    /// The smallest case of a table; `None` for a lookup.
    pub(crate) fn low(&self) -> Option<i32> {
        self.low
    }

    /// The offset of the code for all other values.
    pub(crate) fn default(&self) -> i32 {
        offset(self.pc, self.default)
    }

    /// The number of cases.
    pub(crate) fn count(&self) -> usize {
        self.cases.len() / self.case_length()
    }

    /// Each case with the offset of its code.
    pub(crate) fn cases(&self) -> impl Iterator<Item = (i32, i32)> + use<'c> {
        let (pc, low) = (self.pc, self.low);
        self.cases.chunks_exact(self.case_length()).zip(0..).map(move |(bytes, number)| match low {
            Some(low) => (low.wrapping_add(number), offset(pc, i32_at(bytes, 0))),
            None => (i32_at(bytes, 0), offset(pc, i32_at(bytes, 4))),
        })
    }

    fn case_length(&self) -> usize {
        if self.low.is_some() { 4 } else { 8 }
    }
}

/// The offset of the operands of the switch at `pc`, after the padding.
pub(crate) fn switch_operands(pc: usize) -> usize {
    (pc + 4) & !3
}

/// An instruction for one of the local variables 0 to 3; `form` counts the forms, four for each type.
fn local(first: u8, form: u8) -> (u8, Operand) {
    (first + form / 4, Operand::Local(u16::from(form % 4)))
}

fn target(pc: usize, distance: i32) -> Operand {
    Operand::Target(offset(pc, distance))
}

/// A target that is too large for the type is outside of the code anyway.
fn offset(pc: usize, distance: i32) -> i32 {
    i32::try_from(pc).unwrap_or(i32::MAX).saturating_add(distance)
}

/// Lengths by opcode; zero if the length is variable or the opcode is undefined.
const LENGTHS: [u8; 256] = lengths();

const fn lengths() -> [u8; 256] {
    let mut lengths = [0; 256];
    let mut opcode: u8 = 0;
    while opcode <= JSR_W {
        lengths[opcode as usize] = match opcode {
            BIPUSH | LDC | ILOAD..=ALOAD | ISTORE..=ASTORE | RET | NEWARRAY => 2,
            MULTIANEWARRAY => 4,
            INVOKEINTERFACE | INVOKEDYNAMIC | GOTO_W | JSR_W => 5,
            SIPUSH | LDC_W | LDC2_W | IINC | IFEQ..=JSR | IFNULL | IFNONNULL => 3,
            GETSTATIC..=NEW | ANEWARRAY | CHECKCAST | INSTANCEOF => 3,
            TABLESWITCH | LOOKUPSWITCH | WIDE => 0,
            _ => 1,
        };
        opcode += 1;
    }
    lengths
}

fn variable_length(code: &[u8], pc: usize, opcode: u8) -> Option<usize> {
    let operands = switch_operands(pc);
    match opcode {
        WIDE if u8_at(code, pc + 1) == IINC => Some(6),
        WIDE if matches!(u8_at(code, pc + 1), ILOAD..=ALOAD | ISTORE..=ASTORE | RET) => Some(4),
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

    fn check_length(code: &[u8], pc: usize, expected: Option<usize>) {
        let length = Instruction::decode(code, pc).map(|instruction| instruction.end() - pc);
        assert_eq!(length, expected, "{code:?} at {pc}");
    }

    #[test]
    fn lengths_follow_the_specification() {
        check_length(&[0], 0, Some(1));
        check_length(&[BIPUSH, 1], 0, Some(2));
        check_length(&[SIPUSH, 1], 0, None);
        check_length(&[INVOKEINTERFACE, 0, 1, 1, 0], 0, Some(5));
        check_length(&[GOTO_W, 0, 0, 0, 0], 0, Some(5));
        check_length(&[WIDE, IINC, 0, 0, 0, 0], 0, Some(6));
        check_length(&[WIDE, ALOAD, 0, 0], 0, Some(4));
        check_length(&[WIDE, NEW, 0, 0], 0, None);
        check_length(&[202], 0, None);
        check_length(&[], 0, None);
    }

    const TABLE: [u8; 24] =
        [0, TABLESWITCH, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 19, 0, 0, 0, 29];

    #[test]
    fn switches_are_measured_with_their_padding() {
        check_length(&TABLE, 1, Some(23));
        check_length(&TABLE[..23], 1, None);
        let lookup = [LOOKUPSWITCH, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0];
        check_length(&lookup, 0, Some(12));
        let negative = [LOOKUPSWITCH, 0, 0, 0, 0, 0, 0, 9, 255, 255, 255, 255];
        check_length(&negative, 0, None);
        let reversed = [TABLESWITCH, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 1];
        check_length(&reversed, 0, None);
    }

    fn check_operand(code: &[u8], opcode: u8, operand: Operand) {
        let instruction = Instruction::decode(code, 0).expect("an instruction");
        assert_eq!((instruction.opcode, instruction.operand), (opcode, operand), "{code:?}");
    }

    #[test]
    fn forms_with_one_meaning_are_decoded_alike() {
        check_operand(&[ICONST_M1], ICONST_M1, Operand::Number(-1));
        check_operand(&[LCONST_1], LCONST_1, Operand::Number(1));
        check_operand(&[BIPUSH, 255], BIPUSH, Operand::Number(-1));
        check_operand(&[SIPUSH, 255, 0], SIPUSH, Operand::Number(-256));
        check_operand(&[ALOAD_3], ALOAD, Operand::Local(3));
        check_operand(&[WIDE, ALOAD, 1, 0], ALOAD, Operand::Local(256));
        check_operand(&[ISTORE_0], ISTORE, Operand::Local(0));
        check_operand(&[ASTORE_3], ASTORE, Operand::Local(3));
        check_operand(&[LDC, 7], LDC, Operand::Constant(7));
        check_operand(&[LDC_W, 0, 7], LDC, Operand::Constant(7));
        check_operand(&[GOTO, 255, 255], GOTO, Operand::Target(-1));
        check_operand(&[GOTO_W, 127, 255, 255, 255], GOTO, Operand::Target(i32::MAX));
        check_operand(&[MULTIANEWARRAY, 0, 9, 2], MULTIANEWARRAY, Operand::Array(9, 2));
    }

    #[test]
    fn switches_have_cases_and_targets() {
        let table = Instruction::decode(&TABLE, 1).expect("a switch");
        assert_eq!(table.targets(&TABLE).collect::<Vec<_>>(), [10, 20, 30]);
        let switch = table.switch(&TABLE).expect("a switch");
        assert_eq!(switch.cases().collect::<Vec<_>>(), [(1, 20), (2, 30)]);
        let lookup = [LOOKUPSWITCH, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 255, 255, 255, 255, 0, 0, 0, 20];
        let found = Instruction::decode(&lookup, 0).expect("a switch");
        let switch = found.switch(&lookup).expect("a switch");
        assert_eq!((switch.low(), switch.default(), switch.count()), (None, 9, 1));
        assert_eq!(switch.cases().collect::<Vec<_>>(), [(-1, 20)]);
    }
}
