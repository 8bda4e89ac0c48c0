//! The constants of the original class.

use std::borrow::Cow;

use crate::bytes::{Reader, i32_at, u8_at, u16_at};
use crate::error::ClassError;

use tag::{
    CLASS, DOUBLE, DYNAMIC, FIELD, FLOAT, INTEGER, INTERFACE_METHOD, INVOKE_DYNAMIC, LONG, METHOD,
    METHOD_HANDLE, METHOD_TYPE, MODULE, NAME_AND_TYPE, PACKAGE, STRING, UTF8,
};

/// The tags of constants.
pub(crate) mod tag {
    pub(crate) const UTF8: u8 = 1;
    pub(crate) const INTEGER: u8 = 3;
    pub(crate) const FLOAT: u8 = 4;
    pub(crate) const LONG: u8 = 5;
    pub(crate) const DOUBLE: u8 = 6;
    pub(crate) const CLASS: u8 = 7;
    pub(crate) const STRING: u8 = 8;
    pub(crate) const FIELD: u8 = 9;
    pub(crate) const METHOD: u8 = 10;
    pub(crate) const INTERFACE_METHOD: u8 = 11;
    pub(crate) const NAME_AND_TYPE: u8 = 12;
    pub(crate) const METHOD_HANDLE: u8 = 15;
    pub(crate) const METHOD_TYPE: u8 = 16;
    pub(crate) const DYNAMIC: u8 = 17;
    pub(crate) const INVOKE_DYNAMIC: u8 = 18;
    pub(crate) const MODULE: u8 = 19;
    pub(crate) const PACKAGE: u8 = 20;
}

/// The original constants, indexed as in the class file.
pub(crate) struct ConstantPool<'a> {
    bytes: &'a [u8],
    /// The offset of each constant's tag; zero for the unused indices after longs and doubles.
    offsets: Vec<u32>,
    end: usize,
}

/// The kind of a loadable constant, as far as data-flow analysis distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constant {
    /// No reference.
    Number,
    /// A string.
    Text,
    /// A class.
    Class,
    /// A method handle, a method type or a dynamically computed constant.
    Unknown,
}

/// A field or method that code names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemberRef<'a> {
    /// Its own constant.
    pub(crate) index: u16,
    /// The constant of the owner.
    pub(crate) owner_index: u16,
    /// Internal name of the class that the code names; it may inherit the member.
    pub(crate) owner: &'a [u8],
    /// The constant of the name.
    pub(crate) name_index: u16,
    pub(crate) name: &'a [u8],
    pub(crate) descriptor: &'a [u8],
}

#[cfg(test)]
impl<'a> MemberRef<'a> {
    /// A member without constants.
    pub(crate) fn named(owner: &'a str, name: &'a str, descriptor: &'a str) -> Self {
        let (owner, name, descriptor) = (owner.as_bytes(), name.as_bytes(), descriptor.as_bytes());
        Self { index: 0, owner_index: 0, owner, name_index: 0, name, descriptor }
    }
}

impl<'a> ConstantPool<'a> {
    /// Reads the constants of a whole class file.
    pub(crate) fn parse(class: &'a [u8]) -> Result<Self, ClassError> {
        let mut reader = Reader::at(class, 8);
        let count = reader.u16()?;
        let mut offsets = vec![0; usize::from(count)];
        let mut index = 1;
        while index < count {
            let offset = u32::try_from(reader.position()).map_err(|_| ClassError::Truncated)?;
            let tag = reader.u8()?;
            let (length, slots) = match tag {
                UTF8 => (usize::from(reader.u16()?), 1),
                INTEGER | FLOAT | FIELD | METHOD | INTERFACE_METHOD | NAME_AND_TYPE | DYNAMIC
                | INVOKE_DYNAMIC => (4, 1),
                LONG | DOUBLE => (8, 2),
                CLASS | STRING | METHOD_TYPE | MODULE | PACKAGE => (2, 1),
                METHOD_HANDLE => (3, 1),
                _ => return Err(ClassError::UnknownConstant { index, tag }),
            };
            reader.take(length)?;
            if let Some(entry) = offsets.get_mut(usize::from(index)) {
                *entry = offset;
            }
            index = index.checked_add(slots).ok_or(ClassError::WrongConstant { index })?;
        }
        if count == 0 || index != count {
            return Err(ClassError::WrongConstant { index });
        }
        Ok(Self { bytes: class, offsets, end: reader.position() })
    }

    /// The constant pool count as in the class file: one more than the highest index.
    pub(crate) fn count(&self) -> u16 {
        u16::try_from(self.offsets.len()).unwrap_or(u16::MAX)
    }

    /// The offset in the class file right after the constants.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// The bytes of a UTF-8 constant, in the class file's modified UTF-8.
    pub(crate) fn utf8(&self, index: u16) -> Result<&'a [u8], ClassError> {
        let at = self.expect(index, &[UTF8])?;
        let length = usize::from(u16_at(self.bytes, at));
        self.bytes.get(at + 2..at + 2 + length).ok_or(ClassError::WrongConstant { index })
    }

    /// The name of a class constant.
    pub(crate) fn class_name(&self, index: u16) -> Result<&'a [u8], ClassError> {
        let at = self.expect(index, &[CLASS])?;
        self.utf8(u16_at(self.bytes, at))
    }

    /// The name of a module constant.
    pub(crate) fn module_name(&self, index: u16) -> Result<&'a [u8], ClassError> {
        let at = self.expect(index, &[MODULE])?;
        self.utf8(u16_at(self.bytes, at))
    }

    /// The names of all classes, those of arrays among them.
    pub(crate) fn class_names(&self) -> impl Iterator<Item = &'a [u8]> {
        (1..self.count()).filter_map(|index| self.class_name(index).ok())
    }

    pub(crate) fn string(&self, index: u16) -> Result<&'a [u8], ClassError> {
        let at = self.expect(index, &[STRING])?;
        self.utf8(u16_at(self.bytes, at))
    }

    pub(crate) fn field(&self, index: u16) -> Result<MemberRef<'a>, ClassError> {
        self.member(index, &[FIELD])
    }

    pub(crate) fn method(&self, index: u16) -> Result<MemberRef<'a>, ClassError> {
        self.member(index, &[METHOD, INTERFACE_METHOD])
    }

    /// The descriptor of the method that an invoke instruction calls, including `invokedynamic`.
    pub(crate) fn call_descriptor(&self, index: u16) -> Result<&'a [u8], ClassError> {
        let at = self.expect(index, &[METHOD, INTERFACE_METHOD, INVOKE_DYNAMIC])?;
        let name_and_type = self.expect(u16_at(self.bytes, at + 2), &[NAME_AND_TYPE])?;
        self.utf8(u16_at(self.bytes, name_and_type + 2))
    }

    /// The name of a dynamically computed constant; `None` for other constants.
    pub(crate) fn dynamic_name(&self, index: u16) -> Option<&'a [u8]> {
        let at = self.expect(index, &[DYNAMIC]).ok()?;
        let name_and_type = self.expect(u16_at(self.bytes, at + 2), &[NAME_AND_TYPE]).ok()?;
        self.utf8(u16_at(self.bytes, name_and_type)).ok()
    }

    /// The kind of value that loading a constant pushes.
    pub(crate) fn constant(&self, index: u16) -> Constant {
        match self.offsets.get(usize::from(index)).map(|&offset| u8_at(self.bytes, offset as usize)) {
            Some(INTEGER..=DOUBLE) => Constant::Number,
            Some(STRING) => Constant::Text,
            Some(CLASS) => Constant::Class,
            _ => Constant::Unknown,
        }
    }

    /// The value of an int or long constant; `None` for other constants.
    pub(crate) fn whole_number(&self, index: u16) -> Option<i64> {
        let at = |tag| self.expect(index, &[tag]).ok();
        let int = at(INTEGER).map(|at| i64::from(i32_at(self.bytes, at)));
        let long = || {
            at(LONG).map(|at| {
                i64::from(i32_at(self.bytes, at)) << 32
                    | i64::from(i32_at(self.bytes, at + 4).cast_unsigned())
            })
        };
        int.or_else(long)
    }

    /// The kind and the target of a method handle; `None` for other constants.
    pub(crate) fn handle(&self, index: u16) -> Option<(u8, MemberRef<'a>)> {
        let at = self.expect(index, &[METHOD_HANDLE]).ok()?;
        let target = self.member(u16_at(self.bytes, at + 1), &[FIELD, METHOD, INTERFACE_METHOD]).ok()?;
        Some((u8_at(self.bytes, at), target))
    }

    /// The descriptor of a method type; `None` for other constants.
    pub(crate) fn method_type(&self, index: u16) -> Option<&'a [u8]> {
        let at = self.expect(index, &[METHOD_TYPE]).ok()?;
        self.utf8(u16_at(self.bytes, at)).ok()
    }

    /// The index of the bootstrap method of an `invokedynamic`, its name and its descriptor.
    pub(crate) fn invoke_dynamic(&self, index: u16) -> Result<(u16, &'a [u8], &'a [u8]), ClassError> {
        let at = self.expect(index, &[INVOKE_DYNAMIC])?;
        let name_and_type = self.expect(u16_at(self.bytes, at + 2), &[NAME_AND_TYPE])?;
        Ok((
            u16_at(self.bytes, at),
            self.utf8(u16_at(self.bytes, name_and_type))?,
            self.utf8(u16_at(self.bytes, name_and_type + 2))?,
        ))
    }

    fn member(&self, index: u16, tags: &[u8]) -> Result<MemberRef<'a>, ClassError> {
        let at = self.expect(index, tags)?;
        let owner_index = u16_at(self.bytes, at);
        let name_and_type = self.expect(u16_at(self.bytes, at + 2), &[NAME_AND_TYPE])?;
        let name_index = u16_at(self.bytes, name_and_type);
        Ok(MemberRef {
            index,
            owner_index,
            owner: self.class_name(owner_index)?,
            name_index,
            name: self.utf8(name_index)?,
            descriptor: self.utf8(u16_at(self.bytes, name_and_type + 2))?,
        })
    }

    /// The offset of the content of constant `index`, if its tag is one of `tags`.
    fn expect(&self, index: u16, tags: &[u8]) -> Result<usize, ClassError> {
        match self.offsets.get(usize::from(index)) {
            Some(&offset) if offset != 0 && tags.contains(&u8_at(self.bytes, offset as usize)) => {
                Ok(offset as usize + 1)
            }
            _ => Err(ClassError::WrongConstant { index }),
        }
    }
}

/// A name from a class file as text.
///
/// Characters that modified UTF-8 encodes differently become replacement characters: names are only shown and
/// compared, never written back.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
