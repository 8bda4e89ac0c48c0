//! The outer structure of a class file: where its parts begin and end.

use crate::access::AccessFlags;
use crate::bytes::Reader;
use crate::constant_pool::ConstantPool;
use crate::error::ClassError;

/// The first four bytes of every class file.
pub(crate) const MAGIC: u32 = 0xCAFE_BABE;

/// A class file, taken apart down to its members.
pub(crate) struct ClassFile<'a> {
    /// Magic number and version.
    pub(crate) head: &'a [u8],
    /// The encoded constants, without their count.
    pub(crate) constants: &'a [u8],
    pub(crate) pool: ConstantPool<'a>,
    pub(crate) major: u16,
    pub(crate) access: AccessFlags,
    pub(crate) this_index: u16,
    pub(crate) super_index: u16,
    pub(crate) interfaces: Vec<u16>,
    /// Access flags, own name, super class and interfaces.
    pub(crate) declaration: &'a [u8],
    pub(crate) fields: Vec<Member<'a>>,
    pub(crate) methods: Vec<Member<'a>>,
    pub(crate) attributes: Attributes<'a>,
    /// Everything after the methods.
    pub(crate) tail: &'a [u8],
}

/// A field or a method.
pub(crate) struct Member<'a> {
    pub(crate) access: AccessFlags,
    pub(crate) name_index: u16,
    pub(crate) descriptor_index: u16,
    pub(crate) attributes: Attributes<'a>,
    /// All its bytes.
    pub(crate) raw: &'a [u8],
}

/// A list of attributes whose lengths have been checked.
pub(crate) struct Attributes<'a> {
    reader: Reader<'a>,
    count: u16,
}

/// One attribute.
pub(crate) struct Attribute<'a> {
    pub(crate) name_index: u16,
    pub(crate) content: &'a [u8],
}

impl<'a> ClassFile<'a> {
    pub(crate) fn parse(class: &'a [u8]) -> Result<Self, ClassError> {
        let mut reader = Reader::new(class);
        if reader.u32()? != MAGIC {
            return Err(ClassError::NotAClass);
        }
        let _minor = reader.u16()?;
        let major = reader.u16()?;
        let head = reader.since(0);
        let pool = ConstantPool::parse(class)?;
        reader.u16()?;
        let constants_start = reader.position();
        let mut reader = Reader::at(class, pool.end());
        let constants = reader.since(constants_start);
        let access = AccessFlags::from_bits_retain(reader.u16()?);
        let this_index = reader.u16()?;
        let super_index = reader.u16()?;
        let count = reader.u16()?;
        let mut interfaces = Vec::new();
        for _ in 0..count {
            interfaces.push(reader.u16()?);
        }
        let declaration = reader.since(pool.end());
        let fields = Member::parse_all(&mut reader)?;
        let methods = Member::parse_all(&mut reader)?;
        let tail_start = reader.position();
        let attributes = Attributes::parse(&mut reader)?;
        let tail = class.get(tail_start..).unwrap_or_default();
        Ok(Self {
            head,
            constants,
            pool,
            major,
            access,
            this_index,
            super_index,
            interfaces,
            declaration,
            fields,
            methods,
            attributes,
            tail,
        })
    }

    pub(crate) fn is_interface(&self) -> bool {
        self.access.contains(AccessFlags::INTERFACE)
    }
}

impl<'a> Member<'a> {
    fn parse_all(reader: &mut Reader<'a>) -> Result<Vec<Self>, ClassError> {
        let count = reader.u16()?;
        let mut members = Vec::new();
        for _ in 0..count {
            let start = reader.position();
            let access = AccessFlags::from_bits_retain(reader.u16()?);
            let name_index = reader.u16()?;
            let descriptor_index = reader.u16()?;
            let attributes = Attributes::parse(reader)?;
            let raw = reader.since(start);
            members.push(Self { access, name_index, descriptor_index, attributes, raw });
        }
        Ok(members)
    }

    pub(crate) fn is_static(&self) -> bool {
        self.access.contains(AccessFlags::STATIC)
    }
}

impl<'a> Attributes<'a> {
    /// Checks a list of attributes and moves `reader` behind it.
    pub(crate) fn parse(reader: &mut Reader<'a>) -> Result<Self, ClassError> {
        let count = reader.u16()?;
        let attributes = Self { reader: reader.clone(), count };
        for _ in 0..count {
            reader.u16()?;
            reader.counted_bytes()?;
        }
        Ok(attributes)
    }

    pub(crate) fn count(&self) -> u16 {
        self.count
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
        let mut reader = self.reader.clone();
        (0..self.count).map_while(move |_| {
            let name_index = reader.u16().ok()?;
            let content = reader.counted_bytes().ok()?;
            Some(Attribute { name_index, content })
        })
    }

    /// The content of the first attribute of this name.
    pub(crate) fn find(&self, pool: &ConstantPool<'a>, name: &[u8]) -> Option<&'a [u8]> {
        let mut attributes = self.iter();
        attributes
            .find(|attribute| pool.utf8(attribute.name_index) == Ok(name))
            .map(|attribute| attribute.content)
    }
}
