//! The insertions into one method.

use crate::additions::Additions;
use crate::encoder::Encoder;
use crate::error::MethodError;
use crate::hooks::Hook;
use crate::opcodes::INVOKESTATIC;

/// Code around one instruction. The bytes of [`Edits`] from `begin` to `middle` go before it, those up to `end` behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit {
    /// The instruction's index.
    pub(crate) instruction: usize,
    begin: usize,
    middle: usize,
    end: usize,
    /// An added handler must not cover the bytes from here up to and including the instruction.
    uncovered: Option<usize>,
    /// Replaces the instruction, which has the same length.
    replacement: Option<[u8; 3]>,
}

/// All insertions into one method, in the order of its instructions; reused from method to method to save
/// allocations.
#[derive(Default)]
pub(crate) struct Edits {
    pub(crate) list: Vec<Edit>,
    encoder: Encoder,
    /// The end of the code that runs once, before the first instruction.
    prologue: usize,
    /// The start of the code that goes behind the whole method.
    epilogue: usize,
    /// How many stack slots the insertions need beyond the method's own.
    pub(crate) extra_stack: u16,
    /// How many local variables the insertions need beyond the method's own.
    pub(crate) extra_locals: u16,
    /// How many further local variables, which come right after the method's own, keep their values throughout the method.
    pub(crate) kept_locals: u16,
}

impl Edit {
    pub(crate) fn length_before(&self) -> usize {
        self.middle - self.begin
    }

    pub(crate) fn length_after(&self) -> usize {
        self.end - self.middle
    }

    /// How many bytes right before the instruction an added handler must not cover; it must not cover the instruction
    /// either.
    pub(crate) fn uncovered(&self) -> Option<usize> {
        self.uncovered.map(|from| self.middle - from)
    }

    /// Whether code goes behind the instruction.
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
        self.encoder.clear();
        self.prologue = 0;
        self.epilogue = 0;
        self.extra_stack = 0;
        self.extra_locals = 0;
        self.kept_locals = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.encoder.bytes().is_empty() && self.list.is_empty()
    }

    /// Makes all code appended so far the prologue.
    pub(crate) fn end_prologue(&mut self) {
        self.prologue = self.encoder.len();
    }

    pub(crate) fn prologue(&self) -> &[u8] {
        self.encoder.bytes().get(..self.prologue).unwrap_or_default()
    }

    /// Makes all code appended from now on the epilogue.
    pub(crate) fn begin_epilogue(&mut self) {
        self.epilogue = self.encoder.len();
    }

    pub(crate) fn epilogue(&self) -> &[u8] {
        self.encoder.bytes().get(self.epilogue..).unwrap_or_default()
    }

    pub(crate) fn before(&self, edit: &Edit) -> &[u8] {
        self.encoder.bytes().get(edit.begin..edit.middle).unwrap_or_default()
    }

    pub(crate) fn after(&self, edit: &Edit) -> &[u8] {
        self.encoder.bytes().get(edit.middle..edit.end).unwrap_or_default()
    }

    /// Starts an empty edit.
    pub(crate) fn begin(&self, instruction: usize) -> Edit {
        let here = self.encoder.len();
        Edit { instruction, begin: here, middle: usize::MAX, end: here, uncovered: None, replacement: None }
    }

    /// Code appended from now on goes behind the instruction.
    pub(crate) fn split(&self, edit: &mut Edit) {
        edit.middle = self.encoder.len();
    }

    /// Code appended from now on goes before the instruction, outside of an added handler's range.
    pub(crate) fn uncover(&self, edit: &mut Edit) {
        edit.uncovered = Some(self.encoder.len());
    }

    /// Replaces the instruction by one with a constant pool index, which has the same length.
    pub(crate) fn replace(&self, edit: &mut Edit, opcode: u8, index: u16) {
        let [high, low] = index.to_be_bytes();
        edit.replacement = Some([opcode, high, low]);
    }

    /// Keeps the edit unless it is empty.
    pub(crate) fn finish(&mut self, mut edit: Edit) -> Result<(), MethodError> {
        edit.end = self.encoder.len();
        if edit.begin == edit.end && edit.replacement.is_none() {
            return Ok(());
        }
        if edit.middle == usize::MAX {
            edit.middle = edit.end;
        }
        self.list.push(edit);
        if self.encoder.len() > usize::from(u16::MAX) { Err(MethodError::CodeTooLong) } else { Ok(()) }
    }

    /// Removes the insertions around an instruction.
    pub(crate) fn cancel(&mut self, instruction: usize) {
        if let Ok(at) = self.list.binary_search_by_key(&instruction, |edit| edit.instruction) {
            self.list.remove(at);
        }
    }

    /// Appends instructions during which the stack grows by at most `stack`.
    pub(crate) fn code(&mut self, stack: u16, instructions: &[u8]) {
        self.extra_stack = self.extra_stack.max(stack);
        self.encoder.code(instructions);
    }

    /// Appends an instruction with an index into the constant pool.
    pub(crate) fn constant(&mut self, opcode: u8, index: u16) {
        self.encoder.constant(opcode, index);
    }

    /// Appends an instruction that loads or stores a local variable.
    pub(crate) fn local(&mut self, opcode: u8, slot: u16) {
        self.encoder.local(opcode, slot);
    }

    pub(crate) fn call(&mut self, hook: &Hook, additions: &mut Additions<'_>) -> Result<(), MethodError> {
        let index = additions.hook(hook)?;
        self.constant(INVOKESTATIC, index);
        Ok(())
    }

    /// Appends an instruction that pushes a number; the caller accounts for its stack slot.
    pub(crate) fn number(&mut self, value: u32, additions: &mut Additions<'_>) -> Result<(), MethodError> {
        Ok(self.encoder.number(value.cast_signed(), |value| additions.integer(value))?)
    }
}
