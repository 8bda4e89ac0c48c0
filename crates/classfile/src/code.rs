//! A method's code, taken apart into instructions.

use crate::bytes::{Reader, u16_at};
use crate::constant_pool::ConstantPool;
use crate::error::MethodError;
use crate::instruction::Instruction;
use crate::structure::Attributes;

/// The content of a Code attribute.
pub(crate) struct Code<'a> {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) bytes: &'a [u8],
    /// Entries of eight bytes.
    pub(crate) exceptions: &'a [u8],
    pub(crate) attributes: Attributes<'a>,
    pub(crate) frames: Option<&'a [u8]>,
}

/// The instructions of a method; reused from method to method to save allocations.
#[derive(Default)]
pub(crate) struct Instructions {
    pub(crate) list: Vec<Instruction>,
    index_at: Vec<u32>,
}

impl<'a> Code<'a> {
    pub(crate) fn parse(content: &'a [u8], pool: &ConstantPool<'a>) -> Result<Self, MethodError> {
        let mut reader = Reader::new(content);
        let max_stack = reader.u16()?;
        let max_locals = reader.u16()?;
        let bytes = reader.counted_bytes()?;
        if bytes.len() > usize::from(u16::MAX) {
            return Err(MethodError::CodeTooLong);
        }
        let count = usize::from(reader.u16()?);
        let exceptions = reader.take(8 * count)?;
        let attributes = Attributes::parse(&mut reader)?;
        if !reader.is_at_end() {
            return Err(MethodError::Malformed("Code attribute"));
        }
        let frames = attributes.find(pool, b"StackMapTable");
        Ok(Self { max_stack, max_locals, bytes, exceptions, attributes, frames })
    }

    /// Whether an instruction belongs to a handler that covers itself, as the one at the end of a synchronized block does.
    pub(crate) fn is_in_own_handler(&self, pc: usize) -> bool {
        self.exception_entries().any(|[start, end, handler, _]| {
            let [start, end, handler] = [start, end, handler].map(usize::from);
            covers_itself(start, end, handler) && (handler..end).contains(&pc)
        })
    }

    /// Start, end, handler and type of each entry of the exception table.
    pub(crate) fn exception_entries(&self) -> impl Iterator<Item = [u16; 4]> + '_ {
        self.exceptions
            .chunks_exact(8)
            .map(|entry| [u16_at(entry, 0), u16_at(entry, 2), u16_at(entry, 4), u16_at(entry, 6)])
    }
}

/// Whether a handler lies in the range that it covers.
pub(crate) fn covers_itself(start: usize, end: usize, handler: usize) -> bool {
    (start..end).contains(&handler)
}

impl Instructions {
    pub(crate) fn decode(&mut self, code: &[u8]) -> Result<(), MethodError> {
        self.list.clear();
        self.index_at.clear();
        let mut pc = 0;
        while pc < code.len() {
            let instruction = Instruction::decode(code, pc).ok_or(MethodError::Malformed("code"))?;
            self.list.push(instruction);
            pc = instruction.end();
        }
        if self.list.is_empty() { Err(MethodError::Malformed("code")) } else { Ok(()) }
    }

    /// Prepares [`Instructions::index`], which most methods never need.
    pub(crate) fn build_index(&mut self, code: &[u8]) {
        self.index_at.clear();
        self.index_at.resize(code.len() + 1, u32::MAX);
        let ends = std::iter::once(code.len());
        for (index, pc) in (0..).zip(self.list.iter().map(|instruction| instruction.pc).chain(ends)) {
            if let Some(entry) = self.index_at.get_mut(pc) {
                *entry = index;
            }
        }
    }

    /// The length of the code that was indexed.
    pub(crate) fn code_length(&self) -> usize {
        self.index_at.len().saturating_sub(1)
    }

    /// The number of the instruction at `pc`; the end of the code counts as one more.
    pub(crate) fn index(&self, pc: usize) -> Option<usize> {
        match self.index_at.get(pc) {
            Some(&u32::MAX) | None => None,
            Some(&index) => Some(index as usize),
        }
    }
}
