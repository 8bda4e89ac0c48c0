//! Builds constant pools: of new classes, and the part that rewriting appends.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::bytes::{put_u16, put_u32};
use crate::constant_pool::tag;
use crate::error::ClassError;

/// A constant by its content; equal ones are written once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Constant<'a> {
    Utf8(Cow<'a, [u8]>),
    Integer(i32),
    Named(Named, u16),
    Pair(Pair, u16, u16),
}

/// The kinds of constants that consist of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Named {
    Class,
    #[cfg(test)]
    Module,
}

/// The kinds of constants that consist of two others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Pair {
    NameAndType,
    Field,
    Method,
    #[cfg(test)]
    Dynamic,
}

/// The kind of a member that code names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberKind {
    Field,
    Method,
}

/// Constants under construction.
pub(crate) struct Constants<'a> {
    bytes: Vec<u8>,
    count: u16,
    known: FxHashMap<Constant<'a>, u16>,
}

/// A state to which constants can be rolled back.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    length: usize,
    count: u16,
}

impl Mark {
    /// Whether a constant was added since.
    pub(crate) fn is_before(self, index: u16) -> bool {
        index >= self.count
    }
}

impl<'a> Constants<'a> {
    /// No constants yet; the first one gets the index `count`.
    pub(crate) fn new(count: u16) -> Self {
        Self { bytes: Vec::new(), count, known: FxHashMap::default() }
    }

    /// The encoded constants.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The constant pool count to write into the class file.
    pub(crate) fn count(&self) -> u16 {
        self.count
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { length: self.bytes.len(), count: self.count }
    }

    /// Removes everything that was added since `mark`.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        self.bytes.truncate(mark.length);
        self.count = mark.count;
        self.known.retain(|_, index| *index < mark.count);
    }

    pub(crate) fn utf8(&mut self, text: impl Into<Cow<'a, [u8]>>) -> Result<u16, ClassError> {
        self.add(Constant::Utf8(text.into()))
    }

    /// Like [`Self::utf8`], for a text that no other constant shares and that is therefore not remembered.
    pub(crate) fn utf8_once(&mut self, text: &[u8]) -> Result<u16, ClassError> {
        let index = self.next()?;
        write_utf8(&mut self.bytes, text)?;
        self.count = index + 1;
        Ok(index)
    }

    pub(crate) fn integer(&mut self, value: i32) -> Result<u16, ClassError> {
        self.add(Constant::Integer(value))
    }

    pub(crate) fn class(&mut self, name: impl Into<Cow<'a, [u8]>>) -> Result<u16, ClassError> {
        let name = self.utf8(name)?;
        self.add(Constant::Named(Named::Class, name))
    }

    #[cfg(test)]
    pub(crate) fn module(&mut self, name: impl Into<Cow<'a, [u8]>>) -> Result<u16, ClassError> {
        let name = self.utf8(name)?;
        self.add(Constant::Named(Named::Module, name))
    }

    pub(crate) fn name_and_type(&mut self, name: u16, descriptor: u16) -> Result<u16, ClassError> {
        self.add(Constant::Pair(Pair::NameAndType, name, descriptor))
    }

    /// A field or method by the constants of its owner and its name and type.
    pub(crate) fn member(&mut self, kind: MemberKind, owner: u16, name: u16) -> Result<u16, ClassError> {
        let kind = match kind {
            MemberKind::Field => Pair::Field,
            MemberKind::Method => Pair::Method,
        };
        self.add(Constant::Pair(kind, owner, name))
    }

    /// A constant that the first bootstrap method computes.
    #[cfg(test)]
    pub(crate) fn dynamic(&mut self, name_and_type: u16) -> Result<u16, ClassError> {
        self.add(Constant::Pair(Pair::Dynamic, 0, name_and_type))
    }

    fn add(&mut self, constant: Constant<'a>) -> Result<u16, ClassError> {
        if let Some(index) = self.known.get(&constant) {
            return Ok(*index);
        }
        let index = self.next()?;
        match &constant {
            Constant::Utf8(text) => write_utf8(&mut self.bytes, text)?,
            Constant::Integer(value) => {
                self.bytes.push(tag::INTEGER);
                put_u32(&mut self.bytes, value.cast_unsigned());
            }
            Constant::Named(kind, name) => {
                self.bytes.push(match kind {
                    Named::Class => tag::CLASS,
                    #[cfg(test)]
                    Named::Module => tag::MODULE,
                });
                put_u16(&mut self.bytes, *name);
            }
            Constant::Pair(kind, first, second) => {
                self.bytes.push(match kind {
                    Pair::NameAndType => tag::NAME_AND_TYPE,
                    Pair::Field => tag::FIELD,
                    Pair::Method => tag::METHOD,
                    #[cfg(test)]
                    Pair::Dynamic => tag::DYNAMIC,
                });
                put_u16(&mut self.bytes, *first);
                put_u16(&mut self.bytes, *second);
            }
        }
        self.count = index + 1;
        self.known.insert(constant, index);
        Ok(index)
    }

    /// The index of the next constant. The count itself must fit into 16 bits.
    fn next(&self) -> Result<u16, ClassError> {
        if self.count == u16::MAX { Err(ClassError::ConstantPoolFull) } else { Ok(self.count) }
    }
}

fn write_utf8(out: &mut Vec<u8>, text: &[u8]) -> Result<(), ClassError> {
    let length = u16::try_from(text.len()).map_err(|_| ClassError::ConstantPoolFull)?;
    out.push(tag::UTF8);
    put_u16(out, length);
    out.extend_from_slice(text);
    Ok(())
}
