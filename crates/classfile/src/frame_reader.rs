//! Reads stack map frames, and derives facts about a method from them.

use crate::bytes::{Reader, u8_at, u16_at};
use crate::constant_pool::ConstantPool;
use crate::descriptor::parameters;
use crate::error::MethodError;

pub(crate) const TOP: u8 = 0;
pub(crate) const DOUBLE: u8 = 3;
pub(crate) const LONG: u8 = 4;
pub(crate) const UNINITIALIZED_THIS: u8 = 6;
pub(crate) const OBJECT: u8 = 7;
pub(crate) const UNINITIALIZED: u8 = 8;

pub(crate) const SAME_STACK_EXTENDED: u8 = 247;
pub(crate) const SAME_EXTENDED: u8 = 251;
pub(crate) const FULL: u8 = 255;

pub(crate) const MALFORMED: MethodError = MethodError::Malformed("StackMapTable attribute");

/// Facts derived from the frames of a method.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameFacts {
    /// Some frame does not have `this` in local variable 0.
    pub(crate) loses_this: bool,
    /// The offset of the last frame in which the object under construction may still be uninitialized.
    pub(crate) last_uninitialized_this: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Same,
    SameStack,
    Chop(u8),
    Append(u8),
    Full,
}

/// One frame: how it differs from the previous one, and its explicit types.
pub(crate) struct Frame<'a> {
    pub(crate) pc: usize,
    pub(crate) shape: Shape,
    pub(crate) locals: Types<'a>,
    pub(crate) stack: Types<'a>,
}

/// A list of verification types in its encoded form.
#[derive(Default, Clone, Copy)]
pub(crate) struct Types<'a> {
    pub(crate) count: u16,
    pub(crate) bytes: &'a [u8],
    pub(crate) has_uninitialized: bool,
    has_uninitialized_this: bool,
}

/// A verification type; the operand is a class or the offset of a `new` instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) tag: u8,
    pub(crate) operand: u16,
}

/// Reads frames one after the other.
pub(crate) struct Frames<'a> {
    reader: Reader<'a>,
    remaining: u16,
    previous: Option<usize>,
}

/// Derives the facts of an instance method from its frames.
pub(crate) fn inspect<'a>(
    frames: &'a [u8],
    pool: &ConstantPool<'a>,
    this: &[u8],
    descriptor: &[u8],
    is_constructor: bool,
) -> Result<FrameFacts, MethodError> {
    let mut facts = FrameFacts::default();
    let mut count = 1 + parameters(descriptor).count();
    let mut has_this = true;
    // Delta frames do not repeat the local variables that they inherit from the previous frame or the method's entry.
    let mut has_uninitialized_this = is_constructor;
    let is_this = |types: &Types<'_>| {
        let first = types.iter().next();
        first.is_some_and(|kind| kind.tag == OBJECT && pool.class_name(kind.operand) == Ok(this))
    };
    for frame in Frames::new(frames)? {
        let frame = frame?;
        match frame.shape {
            Shape::Same | Shape::SameStack => {}
            Shape::Chop(chopped) => {
                count = count.saturating_sub(usize::from(chopped));
                has_this &= count > 0;
            }
            Shape::Append(appended) => {
                if count == 0 {
                    has_this = is_this(&frame.locals);
                }
                count += usize::from(appended);
            }
            Shape::Full => {
                count = usize::from(frame.locals.count);
                has_this = is_this(&frame.locals);
                has_uninitialized_this = false;
            }
        }
        facts.loses_this |= !has_this;
        has_uninitialized_this |= frame.locals.has_uninitialized_this;
        if has_uninitialized_this || frame.stack.has_uninitialized_this {
            facts.last_uninitialized_this = Some(frame.pc);
        }
    }
    Ok(facts)
}

impl<'a> Frames<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, MethodError> {
        let mut reader = Reader::new(bytes);
        let remaining = reader.u16()?;
        Ok(Self { reader, remaining, previous: None })
    }

    fn read(&mut self) -> Result<Frame<'a>, MethodError> {
        let reader = &mut self.reader;
        let tag = reader.u8()?;
        let (delta, shape) = match tag {
            0..=63 => (u16::from(tag), Shape::Same),
            64..=127 => (u16::from(tag - 64), Shape::SameStack),
            SAME_STACK_EXTENDED => (reader.u16()?, Shape::SameStack),
            248..=250 => (reader.u16()?, Shape::Chop(SAME_EXTENDED - tag)),
            SAME_EXTENDED => (reader.u16()?, Shape::Same),
            252..=254 => (reader.u16()?, Shape::Append(tag - SAME_EXTENDED)),
            FULL => (reader.u16()?, Shape::Full),
            _ => return Err(MALFORMED),
        };
        let (locals, stack) = match shape {
            Shape::Same | Shape::Chop(_) => (Types::default(), Types::default()),
            Shape::SameStack => (Types::default(), Types::read(reader, 1)?),
            Shape::Append(count) => (Types::read(reader, u16::from(count))?, Types::default()),
            Shape::Full => {
                let count = reader.u16()?;
                let locals = Types::read(reader, count)?;
                let count = reader.u16()?;
                (locals, Types::read(reader, count)?)
            }
        };
        let pc = self.previous.map_or(0, |previous| previous + 1) + usize::from(delta);
        self.previous = Some(pc);
        Ok(Frame { pc, shape, locals, stack })
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, MethodError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.remaining.checked_sub(1) {
            Some(remaining) => {
                self.remaining = remaining;
                Some(self.read())
            }
            None if self.reader.is_at_end() => None,
            None => {
                self.reader = Reader::new(&[]);
                Some(Err(MALFORMED))
            }
        }
    }
}

impl Frame<'_> {
    /// Turns the local variables of the previous frame into those of this one.
    pub(crate) fn apply(&self, locals: &mut Vec<Type>) -> Result<(), MethodError> {
        match self.shape {
            Shape::Same | Shape::SameStack => {}
            Shape::Chop(count) => {
                let left = locals.len().checked_sub(usize::from(count)).ok_or(MALFORMED)?;
                locals.truncate(left);
            }
            Shape::Append(_) => locals.extend(self.locals.iter()),
            Shape::Full => {
                locals.clear();
                locals.extend(self.locals.iter());
            }
        }
        if locals.len() > usize::from(u16::MAX) { Err(MALFORMED) } else { Ok(()) }
    }
}

impl<'a> Types<'a> {
    fn read(reader: &mut Reader<'a>, count: u16) -> Result<Self, MethodError> {
        let start = reader.position();
        let (mut has_uninitialized, mut has_uninitialized_this) = (false, false);
        for _ in 0..count {
            let tag = reader.u8()?;
            has_uninitialized_this |= tag == UNINITIALIZED_THIS;
            has_uninitialized |= tag == UNINITIALIZED;
            match tag {
                0..=UNINITIALIZED_THIS => {}
                OBJECT | UNINITIALIZED => {
                    reader.u16()?;
                }
                _ => return Err(MALFORMED),
            }
        }
        Ok(Self { count, bytes: reader.since(start), has_uninitialized, has_uninitialized_this })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Type> + use<'a> {
        let bytes = self.bytes;
        let mut at = 0;
        (0..self.count).map(move |_| {
            let tag = u8_at(bytes, at);
            let has_operand = matches!(tag, OBJECT | UNINITIALIZED);
            let operand = if has_operand { u16_at(bytes, at + 1) } else { 0 };
            at += if has_operand { 3 } else { 1 };
            Type { tag, operand }
        })
    }
}
