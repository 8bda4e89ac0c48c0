//! The tables of a method's code that refer to bytecode offsets.

use std::borrow::Cow;

use crate::bytes::{fill_u16, put_u16, u16_at};
use crate::code::{Code, Instructions, covers_itself};
use crate::constant_pool::{ConstantPool, text};
use crate::error::MethodError;
use crate::layout::Layout;

/// Maps old bytecode offsets to new ones.
pub(crate) struct Relocation<'m> {
    pub(crate) instructions: &'m Instructions,
    pub(crate) layout: &'m Layout,
}

impl Relocation<'_> {
    /// The new offset of the instruction itself that was at `pc`.
    pub(crate) fn own(&self, pc: u16) -> Option<u16> {
        let index = self.instructions.index(usize::from(pc))?;
        u16::try_from(self.layout.own(index)).ok()
    }

    /// The new offset of a line or a local variable that began at the old `pc`. The prologue belongs to everything that
    /// began at offset 0.
    fn start(&self, pc: usize) -> Option<u16> {
        if pc == 0 {
            return Some(0);
        }
        let index = self.instructions.index(pc)?;
        u16::try_from(self.layout.start(index)).ok()
    }

    /// The new start and length of a local variable's range.
    pub(crate) fn local_range(&self, start: u16, length: u16) -> Option<(u16, u16)> {
        let new_start = self.start(usize::from(start))?;
        let new_end = match length {
            0 => new_start,
            _ => self.start(usize::from(start) + usize::from(length))?,
        };
        Some((new_start, new_end.checked_sub(new_start)?))
    }

    /// Writes the entries of the exception table without their count.
    pub(crate) fn exceptions(&self, code: &Code<'_>, out: &mut Vec<u8>) -> Result<(), MethodError> {
        const MALFORMED: MethodError = MethodError::Malformed("exception table");
        let index = |pc: u16| self.instructions.index(usize::from(pc)).ok_or(MALFORMED);
        for [start, end, handler, kind] in code.exception_entries() {
            let covers_itself = covers_itself(usize::from(start), usize::from(end), usize::from(handler));
            let start = self.layout.range_start(index(start)?);
            // An exception in a hook call right after the last instruction of a handler that covers itself must not re-enter it.
            let end = if covers_itself {
                self.layout.range_start(index(end)?)
            } else {
                self.layout.start(index(end)?)
            };
            let handler = self.layout.start(index(handler)?);
            for position in [start, end, handler] {
                put_u16(out, u16::try_from(position).map_err(|_| MALFORMED)?);
            }
            put_u16(out, kind);
        }
        Ok(())
    }

    /// Writes the content of a LineNumberTable attribute. Entries that do not refer to the start of an instruction are dropped.
    pub(crate) fn lines(&self, content: &[u8], out: &mut Vec<u8>) -> Result<(), MethodError> {
        let length = self.instructions.code_length();
        let is_inside = |entry: &[u8]| usize::from(u16_at(entry, 0)) < length;
        self.entries(content, 4, out, is_inside, |entry, out| {
            put_u16(out, self.start(usize::from(u16_at(entry, 0)))?);
            put_u16(out, u16_at(entry, 2));
            Some(())
        })
    }

    /// Writes the content of a LocalVariableTable or LocalVariableTypeTable attribute. Entries whose range does
    /// not consist of whole instructions are dropped from both tables.
    pub(crate) fn local_variables(&self, content: &[u8], out: &mut Vec<u8>) -> Result<(), MethodError> {
        let code_length = self.instructions.code_length();
        let is_inside = |entry: &[u8]| {
            let start = usize::from(u16_at(entry, 0));
            start < code_length && start + usize::from(u16_at(entry, 2)) <= code_length
        };
        self.entries(content, 10, out, is_inside, |entry, out| {
            let (start, length) = self.local_range(u16_at(entry, 0), u16_at(entry, 2))?;
            put_u16(out, start);
            put_u16(out, length);
            out.extend_from_slice(entry.get(4..)?);
            Some(())
        })
    }

    fn entries(
        &self,
        content: &[u8],
        size: usize,
        out: &mut Vec<u8>,
        is_inside: impl Fn(&[u8]) -> bool,
        mut write: impl FnMut(&[u8], &mut Vec<u8>) -> Option<()>,
    ) -> Result<(), MethodError> {
        const MALFORMED: MethodError = MethodError::Malformed("debug table");
        let (count, entries) = split_table(content, size).ok_or(MALFORMED)?;
        if !entries.chunks_exact(size).all(is_inside) {
            return Err(MALFORMED);
        }
        let count_at = out.len();
        put_u16(out, count);
        let mut kept = count;
        for entry in entries.chunks_exact(size) {
            let before = out.len();
            if write(entry, out).is_none() {
                out.truncate(before);
                kept -= 1;
            }
        }
        fill_u16(out, count_at, kept);
        Ok(())
    }
}

/// The lines of a method, by ascending bytecode offset; reused from method to method to save allocations.
#[derive(Default)]
pub(crate) struct Lines {
    starts: Vec<(u16, u16)>,
}

impl Lines {
    pub(crate) fn read(&mut self, code: &Code<'_>, pool: &ConstantPool<'_>) {
        self.starts.clear();
        for attribute in code.attributes.iter() {
            if pool.utf8(attribute.name_index) == Ok(b"LineNumberTable")
                && let Some((_, entries)) = split_table(attribute.content, 4)
            {
                let pairs = entries.chunks_exact(4).map(|entry| (u16_at(entry, 0), u16_at(entry, 2)));
                self.starts.extend(pairs);
            }
        }
        if !self.starts.is_sorted_by_key(|start| start.0) {
            self.starts.sort_by_key(|start| start.0);
        }
    }

    /// The line starts as bytecode offset and line, in order.
    pub(crate) fn into_starts(self) -> Vec<(u16, u16)> {
        self.starts
    }

    /// The line of the instruction at `pc`.
    pub(crate) fn at(&self, pc: usize) -> Option<u16> {
        let after = self.starts.partition_point(|start| usize::from(start.0) <= pc);
        let last = after.checked_sub(1)?;
        self.starts.get(last).map(|start| start.1)
    }
}

/// The name of the local variable in `slot` at `pc`, from the content of a LocalVariableTable.
pub(crate) fn local_name<'a>(
    table: &'a [u8],
    pool: &ConstantPool<'a>,
    slot: u16,
    pc: usize,
) -> Option<Cow<'a, str>> {
    let (_, entries) = split_table(table, 10)?;
    let entry = entries.chunks_exact(10).find(|entry| {
        let start = usize::from(u16_at(entry, 0));
        let end = start + usize::from(u16_at(entry, 2));
        u16_at(entry, 8) == slot && (start..end).contains(&pc)
    })?;
    pool.utf8(u16_at(entry, 4)).ok().map(text)
}

/// The number of entries and their bytes, if count and length agree.
fn split_table(content: &[u8], size: usize) -> Option<(u16, &[u8])> {
    let (count, entries) = content.split_first_chunk()?;
    let count = u16::from_be_bytes(*count);
    if entries.len() == size * usize::from(count) { Some((count, entries)) } else { None }
}
