//! The constants that rewriting appends.

use rustc_hash::FxHashMap;

use crate::bytes::{put_u16, put_u32};
use crate::error::ClassError;
use crate::hooks::{self, Hook};

/// A constant by its content; equal ones are appended once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Constant<'a> {
    Utf8(&'a [u8]),
    Integer(i32),
    Class(u16),
    NameAndType(u16, u16),
    Field(u16, u16),
    Method(u16, u16),
}

/// Appended constants. Existing ones are not searched for equal content: duplicates are legal and cost less.
pub(crate) struct Additions<'a> {
    hook_class: &'a str,
    bytes: Vec<u8>,
    count: u16,
    known: FxHashMap<Constant<'a>, u16>,
    /// Constant indices of the hooks by hook number, zero if not yet added: every insertion needs this lookup.
    hooks: [u16; hooks::ALL.len()],
}

/// A state to which the additions can be rolled back.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    length: usize,
    count: u16,
}

impl<'a> Additions<'a> {
    /// No additions yet; `count` is the constant pool count of the class file.
    pub(crate) fn new(count: u16, hook_class: &'a str) -> Self {
        Self {
            hook_class,
            bytes: Vec::new(),
            count,
            known: FxHashMap::default(),
            hooks: [0; hooks::ALL.len()],
        }
    }

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
        for index in &mut self.hooks {
            if *index >= mark.count {
                *index = 0;
            }
        }
    }

    pub(crate) fn utf8(&mut self, text: &'a [u8]) -> Result<u16, ClassError> {
        self.add(Constant::Utf8(text))
    }

    pub(crate) fn integer(&mut self, value: i32) -> Result<u16, ClassError> {
        self.add(Constant::Integer(value))
    }

    pub(crate) fn class(&mut self, name: &'a [u8]) -> Result<u16, ClassError> {
        let name = self.utf8(name)?;
        self.add(Constant::Class(name))
    }

    /// A field whose class and name already are constants.
    pub(crate) fn field(&mut self, class: u16, name: u16, descriptor: &'a [u8]) -> Result<u16, ClassError> {
        let descriptor = self.utf8(descriptor)?;
        let name_and_type = self.add(Constant::NameAndType(name, descriptor))?;
        self.add(Constant::Field(class, name_and_type))
    }

    pub(crate) fn hook(&mut self, hook: &Hook) -> Result<u16, ClassError> {
        match self.hooks.get(hook.number()) {
            Some(0) | None => {
                let index = self.hook_method(hook.name.as_bytes(), hook.descriptor)?;
                if let Some(known) = self.hooks.get_mut(hook.number()) {
                    *known = index;
                }
                Ok(index)
            }
            Some(index) => Ok(*index),
        }
    }

    /// A static method of the hook class.
    pub(crate) fn hook_method(&mut self, name: &'a [u8], descriptor: &'a str) -> Result<u16, ClassError> {
        let descriptor = self.utf8(descriptor.as_bytes())?;
        self.method_of_hook_class(name, descriptor)
    }

    /// Like [`Self::hook_method`], for a descriptor that no other constant shares and that is therefore not cached.
    pub(crate) fn hook_method_once(&mut self, name: &'a [u8], descriptor: &[u8]) -> Result<u16, ClassError> {
        let index = self.next()?;
        write_utf8(&mut self.bytes, descriptor)?;
        self.count = index + 1;
        self.method_of_hook_class(name, index)
    }

    fn method_of_hook_class(&mut self, name: &'a [u8], descriptor: u16) -> Result<u16, ClassError> {
        let class = self.class(self.hook_class.as_bytes())?;
        let name = self.utf8(name)?;
        let name_and_type = self.add(Constant::NameAndType(name, descriptor))?;
        self.add(Constant::Method(class, name_and_type))
    }

    fn add(&mut self, constant: Constant<'a>) -> Result<u16, ClassError> {
        if let Some(index) = self.known.get(&constant) {
            return Ok(*index);
        }
        let index = self.next()?;
        match constant {
            Constant::Utf8(text) => write_utf8(&mut self.bytes, text)?,
            Constant::Integer(value) => {
                self.bytes.push(3);
                put_u32(&mut self.bytes, value.cast_unsigned());
            }
            Constant::Class(name) => {
                self.bytes.push(7);
                put_u16(&mut self.bytes, name);
            }
            Constant::Field(first, second) => write_pair(&mut self.bytes, 9, first, second),
            Constant::Method(first, second) => write_pair(&mut self.bytes, 10, first, second),
            Constant::NameAndType(first, second) => write_pair(&mut self.bytes, 12, first, second),
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
    out.push(1);
    put_u16(out, length);
    out.extend_from_slice(text);
    Ok(())
}

fn write_pair(out: &mut Vec<u8>, tag: u8, first: u16, second: u16) {
    out.push(tag);
    put_u16(out, first);
    put_u16(out, second);
}
