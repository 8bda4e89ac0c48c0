//! Writes new classes.

use std::borrow::Cow;

use crate::access::AccessFlags;
use crate::bytes::put_u16;
use crate::class::{assemble, put_field};
use crate::code_builder::CodeBuilder;
use crate::code_writer::with_length;
use crate::constants::{Constants, MemberKind};
use crate::error::{ClassError, MethodError};
use crate::structure::MAGIC;

/// A class under construction. Its parts refer to each other by the indices of constants; the first problem is reported by
/// [`ClassBuilder::finish`], and indices are meaningless from then on.
pub struct ClassBuilder {
    pub(crate) access: AccessFlags,
    /// The major part of the class-file version.
    pub(crate) major: u16,
    this: u16,
    parent: u16,
    constants: Constants<'static>,
    fields: Members,
    methods: Members,
    /// The attributes of the class itself.
    attributes: Members,
    error: Option<ClassError>,
}

/// Encoded parts of one kind.
#[derive(Default)]
struct Members {
    bytes: Vec<u8>,
    count: u16,
}

/// An attribute: its name and its content.
pub(crate) type NamedAttribute<'n> = (&'n str, Cow<'n, [u8]>);

impl ClassBuilder {
    /// A class without members. `parent` is `None` for `java/lang/Object`.
    ///
    /// Code needs no stack maps up to the major version 49.
    pub fn new(major: u16, access: AccessFlags, name: &str, parent: Option<&str>) -> Self {
        let mut class = Self {
            access,
            major,
            this: 0,
            parent: 0,
            constants: Constants::new(1),
            fields: Members::default(),
            methods: Members::default(),
            attributes: Members::default(),
            error: None,
        };
        class.this = class.class(name);
        class.parent = parent.map_or(0, |parent| class.class(parent));
        class
    }

    /// The constant of a class.
    pub fn class(&mut self, name: &str) -> u16 {
        let index = self.constants.class(owned(name));
        self.note(index)
    }

    /// The constant of a field.
    pub fn field_reference(&mut self, owner: &str, name: &str, descriptor: &str) -> u16 {
        self.member(MemberKind::Field, owner, name, descriptor)
    }

    /// The constant of a method of a class.
    pub fn method_reference(&mut self, owner: &str, name: &str, descriptor: &str) -> u16 {
        self.member(MemberKind::Method, owner, name, descriptor)
    }

    /// Adds a field.
    pub fn field(&mut self, access: AccessFlags, name: &str, descriptor: &str) {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        put_field(&mut self.fields.bytes, access, name, descriptor);
        self.fields.count = self.fields.count.saturating_add(1);
    }

    /// Adds a method whose code `write` builds.
    pub fn method(
        &mut self,
        access: AccessFlags,
        name: &str,
        descriptor: &str,
        write: impl FnOnce(&mut CodeBuilder<'_>),
    ) {
        let mut code = CodeBuilder::new(self, access.contains(AccessFlags::STATIC), descriptor);
        write(&mut code);
        match code.finish() {
            Ok(content) => self.method_with(access, name, descriptor, &[("Code", content.into())]),
            Err(error) => self.error = self.error.take().or(Some(error)),
        }
    }

    /// Adds a method with encoded instructions, which use up to `size` stack slots and local variables.
    pub fn encoded_method(
        &mut self,
        access: AccessFlags,
        name: &str,
        descriptor: &str,
        size: u16,
        code: &[u8],
    ) {
        let content = encode_code(size, size, code, &[], |out| {
            put_u16(out, 0);
            Ok(())
        });
        match content {
            Ok(content) => self.method_with(access, name, descriptor, &[("Code", content.into())]),
            Err(error) => self.error = self.error.take().or(Some(error)),
        }
    }

    /// The class file.
    pub fn finish(&self) -> Result<Vec<u8>, ClassError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let mut head = MAGIC.to_be_bytes().to_vec();
        [0, self.major].iter().for_each(|value| put_u16(&mut head, *value));
        let mut body = Vec::new();
        for value in [self.access.bits(), self.this, self.parent, 0] {
            put_u16(&mut body, value);
        }
        for members in [&self.fields, &self.methods, &self.attributes] {
            put_u16(&mut body, members.count);
            body.extend_from_slice(&members.bytes);
        }
        Ok(assemble(&head, self.constants.count(), &[self.constants.bytes(), &body]))
    }

    pub(crate) fn method_with(
        &mut self,
        access: AccessFlags,
        name: &str,
        descriptor: &str,
        attributes: &[NamedAttribute<'_>],
    ) {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let mut bytes = Vec::new();
        for value in [access.bits(), name, descriptor] {
            put_u16(&mut bytes, value);
        }
        self.put_attributes(&mut bytes, attributes);
        self.methods.bytes.append(&mut bytes);
        self.methods.count = self.methods.count.saturating_add(1);
    }

    /// Writes a list of attributes.
    pub(crate) fn put_attributes(&mut self, out: &mut Vec<u8>, attributes: &[NamedAttribute<'_>]) {
        put_u16(out, attributes.len() as u16);
        for (name, content) in attributes {
            self.put_attribute(out, name, content);
        }
    }

    /// The constant of a text.
    pub(crate) fn utf8(&mut self, text: &str) -> u16 {
        let index = self.constants.utf8(owned(text));
        self.note(index)
    }

    pub(crate) fn integer(&mut self, value: i32) -> Result<u16, ClassError> {
        self.constants.integer(value)
    }

    fn member(&mut self, kind: MemberKind, owner: &str, name: &str, descriptor: &str) -> u16 {
        let owner = self.class(owner);
        let name_and_type = self.name_and_type(name, descriptor);
        let index = self.constants.member(kind, owner, name_and_type);
        self.note(index)
    }

    fn name_and_type(&mut self, name: &str, descriptor: &str) -> u16 {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let index = self.constants.name_and_type(name, descriptor);
        self.note(index)
    }

    fn put_attribute(&mut self, out: &mut Vec<u8>, name: &str, content: &[u8]) {
        put_u16(out, self.utf8(name));
        let written = with_length(out, |out| {
            out.extend_from_slice(content);
            Ok(())
        });
        let written = written.map_err(MethodError::into_class_error).map(|()| 0);
        self.note(written);
    }

    /// The index of a constant; keeps the first error.
    fn note(&mut self, index: Result<u16, ClassError>) -> u16 {
        index.unwrap_or_else(|error| {
            self.error = self.error.take().or(Some(error));
            0
        })
    }
}

#[cfg(test)]
impl ClassBuilder {
    pub(crate) fn module(&mut self, name: &str) -> u16 {
        let index = self.constants.module(owned(name));
        self.note(index)
    }

    /// The constant of a value that the first bootstrap method computes.
    pub(crate) fn dynamic(&mut self, name: &str, descriptor: &str) -> u16 {
        let name_and_type = self.name_and_type(name, descriptor);
        let index = self.constants.dynamic(name_and_type);
        self.note(index)
    }

    /// An attribute of the class itself.
    pub(crate) fn attribute(&mut self, name: &str, content: &[u8]) {
        let mut bytes = Vec::new();
        self.put_attribute(&mut bytes, name, content);
        self.attributes.bytes.append(&mut bytes);
        self.attributes.count += 1;
    }
}

/// The content of a Code attribute.
pub(crate) fn encode_code(
    max_stack: u16,
    max_locals: u16,
    code: &[u8],
    exceptions: &[[u16; 4]],
    attributes: impl FnOnce(&mut Vec<u8>) -> Result<(), MethodError>,
) -> Result<Vec<u8>, ClassError> {
    let mut out = Vec::new();
    let write = || {
        put_u16(&mut out, max_stack);
        put_u16(&mut out, max_locals);
        with_length(&mut out, |out| {
            out.extend_from_slice(code);
            Ok(())
        })?;
        put_u16(&mut out, exceptions.len() as u16);
        exceptions.iter().flatten().for_each(|value| put_u16(&mut out, *value));
        attributes(&mut out)
    };
    write().map_err(MethodError::into_class_error)?;
    Ok(out)
}

fn owned(text: &str) -> Cow<'static, [u8]> {
    Cow::Owned(text.as_bytes().to_vec())
}
