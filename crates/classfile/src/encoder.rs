//! Encodes instructions.

use crate::bytes::put_u16;
use crate::error::ClassError;
use crate::opcodes::{BIPUSH, ICONST_0, LDC, LDC_W, SIPUSH, WIDE};

/// Encoded instructions under construction.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends encoded instructions.
    pub(crate) fn code(&mut self, instructions: &[u8]) {
        self.bytes.extend_from_slice(instructions);
    }

    /// Appends an instruction with an index into the constant pool, or with another two-byte operand.
    pub(crate) fn constant(&mut self, opcode: u8, index: u16) {
        self.bytes.push(opcode);
        put_u16(&mut self.bytes, index);
    }

    /// Appends an instruction that loads or stores a local variable.
    pub(crate) fn local(&mut self, opcode: u8, slot: u16) {
        match u8::try_from(slot) {
            Ok(slot) => self.bytes.extend_from_slice(&[opcode, slot]),
            Err(_) => {
                self.bytes.push(WIDE);
                self.constant(opcode, slot);
            }
        }
    }

    /// Appends an instruction that pushes a number. `constant` adds a large one to the constant pool.
    pub(crate) fn number(
        &mut self,
        value: i32,
        constant: impl FnOnce(i32) -> Result<u16, ClassError>,
    ) -> Result<(), ClassError> {
        match value {
            -1..=5 => self.bytes.push(ICONST_0.wrapping_add_signed(value as i8)),
            -128..=127 => self.bytes.extend_from_slice(&[BIPUSH, (value as i8).cast_unsigned()]),
            -32768..=32767 => self.constant(SIPUSH, (value as i16).cast_unsigned()),
            _ => {
                let index = constant(value)?;
                match u8::try_from(index) {
                    Ok(index) => self.bytes.extend_from_slice(&[LDC, index]),
                    Err(_) => self.constant(LDC_W, index),
                }
            }
        }
        Ok(())
    }

    /// Appends a `tableswitch` for the values from 0 on whose targets are set later, by [`Encoder::fill`]; returns the position of
    /// the default target, which the others follow after the two bounds.
    pub(crate) fn table_switch(&mut self, opcode: u8, count: u16) -> usize {
        self.bytes.push(opcode);
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        let at = self.bytes.len();
        for word in [0, 0, i32::from(count) - 1] {
            self.bytes.extend_from_slice(&word.to_be_bytes());
        }
        self.bytes.resize(at + 12 + 4 * usize::from(count), 0);
        at
    }

    /// Sets four bytes.
    pub(crate) fn fill(&mut self, at: usize, value: i32) {
        crate::bytes::fill_u32(&mut self.bytes, at, value.cast_unsigned());
    }
}
