//! The code that is to be inserted into one method.

use crate::additions::Additions;
use crate::bytes::put_u16;
use crate::error::MethodError;
use crate::hooks::Hook;
use crate::opcodes::{BIPUSH, ICONST_0, INVOKESTATIC, LDC, LDC_W, SIPUSH, WIDE};

/// Code around one instruction. Its bytes are those of [`Edits`] from `begin` over `middle` to `end`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit {
    /// The instruction's number.
    pub(crate) instruction: usize,
    begin: usize,
    middle: usize,
    end: usize,
    /// From here on, up to and with the instruction, an added handler must not reach.
    uncovered: Option<usize>,
    /// What takes the place of the instruction, which is as long.
    replacement: Option<[u8; 3]>,
}

/// All insertions into one method, in the order of its instructions; kept from method to method for its
/// memory.
#[derive(Default)]
pub(crate) struct Edits {
    pub(crate) list: Vec<Edit>,
    bytes: Vec<u8>,
    /// What runs once, before the first instruction.
    prologue: usize,
    /// Where what goes behind the whole code begins.
    epilogue: usize,
    /// How much deeper than the method's own the stack gets.
    pub(crate) extra_stack: u16,
    /// How many local variables the method needs beside its own.
    pub(crate) extra_locals: u16,
}

impl Edit {
    pub(crate) fn length_before(&self) -> usize {
        self.middle - self.begin
    }

    pub(crate) fn length_after(&self) -> usize {
        self.end - self.middle
    }

    /// How many bytes right before the instruction must lie outside of an added handler's range, together
    /// with the instruction itself.
    pub(crate) fn uncovered(&self) -> Option<usize> {
        self.uncovered.map(|from| self.middle - from)
    }

    /// Whether something goes behind the instruction.
    pub(crate) fn is_split(&self) -> bool {
        self.middle != usize::MAX
    }

    pub(crate) fn replacement(&self) -> Option<&[u8]> {
        self.replacement.as_ref().map(|bytes| bytes.as_slice())
    }
}

impl Edits {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
        self.prologue = 0;
        self.epilogue = 0;
        self.extra_stack = 0;
        self.extra_locals = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.list.is_empty()
    }

    /// Makes everything that was inserted so far the prologue.
    pub(crate) fn end_prologue(&mut self) {
        self.prologue = self.bytes.len();
    }

    pub(crate) fn prologue(&self) -> &[u8] {
        self.bytes.get(..self.prologue).unwrap_or_default()
    }

    /// Makes everything that is inserted from now on the epilogue.
    pub(crate) fn begin_epilogue(&mut self) {
        self.epilogue = self.bytes.len();
    }

    pub(crate) fn epilogue(&self) -> &[u8] {
        self.bytes.get(self.epilogue..).unwrap_or_default()
    }

    pub(crate) fn before(&self, edit: &Edit) -> &[u8] {
        self.bytes.get(edit.begin..edit.middle).unwrap_or_default()
    }

    pub(crate) fn after(&self, edit: &Edit) -> &[u8] {
        self.bytes.get(edit.middle..edit.end).unwrap_or_default()
    }

    /// An edit of which nothing is written yet.
    pub(crate) fn begin(&self, instruction: usize) -> Edit {
        let here = self.bytes.len();
        Edit { instruction, begin: here, middle: usize::MAX, end: here, uncovered: None, replacement: None }
    }

    /// What follows goes behind the instruction.
    pub(crate) fn split(&self, edit: &mut Edit) {
        edit.middle = self.bytes.len();
    }

    /// What follows goes before the instruction, but out of an added handler's range.
    pub(crate) fn uncover(&self, edit: &mut Edit) {
        edit.uncovered = Some(self.bytes.len());
    }

    /// Puts an instruction with an index into the constant pool in the place of one that is as long.
    pub(crate) fn replace(&self, edit: &mut Edit, opcode: u8, index: u16) {
        let [high, low] = index.to_be_bytes();
        edit.replacement = Some([opcode, high, low]);
    }

    /// Keeps the edit if anything was written for it.
    pub(crate) fn finish(&mut self, mut edit: Edit) -> Result<(), MethodError> {
        edit.end = self.bytes.len();
        if edit.begin == edit.end && edit.replacement.is_none() {
            return Ok(());
        }
        if edit.middle == usize::MAX {
            edit.middle = edit.end;
        }
        self.list.push(edit);
        if self.bytes.len() > usize::from(u16::MAX) { Err(MethodError::CodeTooLong) } else { Ok(()) }
    }

    /// Takes back what was to be inserted around an instruction.
    pub(crate) fn cancel(&mut self, instruction: usize) {
        if let Ok(at) = self.list.binary_search_by_key(&instruction, |edit| edit.instruction) {
            self.list.remove(at);
        }
    }

    /// Appends instructions during which the stack grows by at most `stack`.
    pub(crate) fn code(&mut self, stack: u16, instructions: &[u8]) {
        self.extra_stack = self.extra_stack.max(stack);
        self.bytes.extend_from_slice(instructions);
    }

    /// Appends an instruction with an index into the constant pool.
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

    pub(crate) fn call(&mut self, hook: &Hook, additions: &mut Additions<'_>) -> Result<(), MethodError> {
        let index = additions.hook(hook)?;
        self.constant(INVOKESTATIC, index);
        Ok(())
    }

    /// Appends what pushes a number; its stack slot is not counted here.
    pub(crate) fn number(&mut self, value: u32, additions: &mut Additions<'_>) -> Result<(), MethodError> {
        let value = value.cast_signed();
        match value {
            -1..=5 => self.bytes.push(ICONST_0.wrapping_add_signed(value as i8)),
            -128..=127 => self.bytes.extend_from_slice(&[BIPUSH, (value as i8).cast_unsigned()]),
            -32768..=32767 => self.constant(SIPUSH, (value as i16).cast_unsigned()),
            _ => {
                let index = additions.integer(value)?;
                match u8::try_from(index) {
                    Ok(index) => self.bytes.extend_from_slice(&[LDC, index]),
                    Err(_) => self.constant(LDC_W, index),
                }
            }
        }
        Ok(())
    }
}
