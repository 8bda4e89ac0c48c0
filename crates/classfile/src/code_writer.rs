//! Writing the Code attribute of an instrumented method.

use crate::additions::Additions;
use crate::annotations;
use crate::bytes::{fill_u16, fill_u32, put_u16, put_u32};
use crate::code::Code;
use crate::constant_pool::ConstantPool;
use crate::edits::Edits;
use crate::error::MethodError;
use crate::frames::{self, FramedMethod, HandlerFrame};
use crate::tables::Relocation;

/// Writes the content of a Code attribute.
pub(crate) struct CodeWriter<'m, 'a> {
    pub(crate) code: &'m Code<'a>,
    pub(crate) method: &'m FramedMethod<'m, 'a>,
    pub(crate) edits: &'m Edits,
    pub(crate) pool: &'m ConstantPool<'a>,
    /// The local variables that the handler added for the whole method needs, if there is such a handler.
    pub(crate) handler: Option<HandlerNeeds>,
    /// The bytecode offset in the original code from which on that handler applies.
    pub(crate) covered_from: usize,
    /// Whether the class's version requires stack maps.
    pub(crate) needs_frames: bool,
}

/// The local variables that a handler for a whole method needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandlerNeeds {
    /// Nothing.
    Nothing,
    /// `this`.
    This,
}

impl<'a> CodeWriter<'_, 'a> {
    pub(crate) fn write(&self, additions: &mut Additions<'a>, out: &mut Vec<u8>) -> Result<(), MethodError> {
        let relocation = Relocation { instructions: self.method.instructions, layout: self.method.layout };
        let ranges = self.handler_ranges();
        let needed_stack =
            self.code.max_stack.checked_add(self.edits.extra_stack).ok_or(MethodError::StackTooDeep)?;
        // A handler has the exception and the lock on its stack.
        put_u16(out, if ranges.is_empty() { needed_stack } else { needed_stack.max(2) });
        let added = self.edits.kept_locals.checked_add(self.edits.extra_locals);
        let locals = added.and_then(|added| self.code.max_locals.checked_add(added));
        put_u16(out, locals.ok_or(MethodError::TooManyLocals)?);
        with_length(out, |out| {
            let start = out.len();
            self.method.layout.write(self.code.bytes, self.method.instructions, self.edits, out)?;
            if !ranges.is_empty() {
                out.extend_from_slice(self.edits.epilogue());
            }
            if out.len() - start > usize::from(u16::MAX) { Err(MethodError::CodeTooLong) } else { Ok(()) }
        })?;
        let handlers = self.code.exceptions.len() / 8 + ranges.len();
        put_u16(out, u16::try_from(handlers).map_err(|_| MethodError::TooManyHandlers)?);
        relocation.exceptions(self.code, out)?;
        let position = self.method.layout.end();
        for (start, end) in &ranges {
            for value in [*start, *end, position, 0] {
                put_u16(out, u16::try_from(value).map_err(|_| MethodError::CodeTooLong)?);
            }
        }
        let mut handler = None;
        if !ranges.is_empty() && (self.code.frames.is_some() || self.needs_frames) {
            let this = (self.handler == Some(HandlerNeeds::This)).then_some(self.method.this_index);
            let throwable = additions.class(b"java/lang/Throwable")?;
            handler = Some(HandlerFrame { position, this, throwable });
        }
        self.attributes(&relocation, handler, additions, out)
    }

    /// The parts of the code that an added handler covers: all but the releases at returns.
    fn handler_ranges(&self) -> Vec<(usize, usize)> {
        let mut ranges = Vec::new();
        if self.handler.is_none() {
            return ranges;
        }
        let layout = self.method.layout;
        let first = self.method.instructions.list.iter().position(|found| found.pc >= self.covered_from);
        let mut start = layout.start(first.unwrap_or(0));
        for edit in &self.edits.list {
            if let Some(uncovered) = edit.uncovered() {
                let end = layout.own(edit.instruction) - uncovered;
                if end > start {
                    ranges.push((start, end));
                }
                start = layout.start(edit.instruction + 1);
            }
        }
        if layout.end() > start {
            ranges.push((start, layout.end()));
        }
        ranges
    }

    /// Writes the attributes of the code. Unknown attributes and malformed type annotations are dropped: they may refer to bytecode
    /// offsets, and the JVM does not need them to run the code.
    fn attributes(
        &self,
        relocation: &Relocation<'_>,
        handler: Option<HandlerFrame>,
        additions: &mut Additions<'a>,
        out: &mut Vec<u8>,
    ) -> Result<(), MethodError> {
        let count_at = out.len();
        let mut count = 0;
        let mut has_frames = false;
        put_u16(out, 0);
        for attribute in self.code.attributes.iter() {
            let before = out.len();
            put_u16(out, attribute.name_index);
            let content = attribute.content;
            let written = match self.pool.utf8(attribute.name_index)? {
                b"StackMapTable" if has_frames => {
                    return Err(MethodError::Malformed("StackMapTable attribute"));
                }
                b"StackMapTable" => {
                    has_frames = true;
                    with_length(out, |out| frames::relocate(content, self.method, handler, additions, out))?;
                    Ok(())
                }
                // The JVM rejects a class whose debug tables point outside of the code, and must still reject it after rewriting.
                b"LineNumberTable" => {
                    with_length(out, |out| relocation.lines(content, out))?;
                    Ok(())
                }
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    with_length(out, |out| relocation.local_variables(content, out))?;
                    Ok(())
                }
                b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                    with_length(out, |out| annotations::relocate(content, relocation, out))
                }
                _ => Err(MethodError::Malformed("attribute")),
            };
            match written {
                Ok(()) => count += 1,
                Err(_) => out.truncate(before),
            }
        }
        if let Some(handler) = handler
            && !has_frames
        {
            put_u16(out, additions.utf8(b"StackMapTable")?);
            with_length(out, |out| frames::write_handler_only(self.method, &handler, out))?;
            count += 1;
        }
        fill_u16(out, count_at, count);
        Ok(())
    }
}

/// Writes the output of `write` prefixed by its four-byte length.
pub(crate) fn with_length(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), MethodError>,
) -> Result<(), MethodError> {
    let at = out.len();
    put_u32(out, 0);
    write(out)?;
    let length = u32::try_from(out.len() - at - 4).map_err(|_| MethodError::CodeTooLong)?;
    fill_u32(out, at, length);
    Ok(())
}
