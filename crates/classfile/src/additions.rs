//! The constants that rewriting appends.

use crate::constants::{Constants, Mark, MemberKind};
use crate::error::ClassError;
use crate::hooks::{self, Hook};

/// Appended constants. Existing ones are not searched for equal content: duplicates are legal and cost less.
pub(crate) struct Additions<'a> {
    hook_class: &'a str,
    constants: Constants<'a>,
    /// Constant indices of the hooks by hook number, zero if not yet added: every insertion needs this lookup.
    hooks: [u16; hooks::ALL.len()],
}

impl<'a> Additions<'a> {
    /// No additions yet; `count` is the constant pool count of the class file.
    pub(crate) fn new(count: u16, hook_class: &'a str) -> Self {
        Self { hook_class, constants: Constants::new(count), hooks: [0; hooks::ALL.len()] }
    }

    pub(crate) fn constants(&self) -> &Constants<'a> {
        &self.constants
    }

    pub(crate) fn mark(&self) -> Mark {
        self.constants.mark()
    }

    /// Removes everything that was added since `mark`.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        self.constants.roll_back(mark);
        for index in &mut self.hooks {
            if mark.is_before(*index) {
                *index = 0;
            }
        }
    }

    pub(crate) fn utf8(&mut self, text: &'a [u8]) -> Result<u16, ClassError> {
        self.constants.utf8(text)
    }

    pub(crate) fn integer(&mut self, value: i32) -> Result<u16, ClassError> {
        self.constants.integer(value)
    }

    pub(crate) fn class(&mut self, name: &'a [u8]) -> Result<u16, ClassError> {
        self.constants.class(name)
    }

    /// A field whose class and name already are constants.
    pub(crate) fn field(&mut self, class: u16, name: u16, descriptor: &'a [u8]) -> Result<u16, ClassError> {
        let descriptor = self.utf8(descriptor)?;
        let name_and_type = self.constants.name_and_type(name, descriptor)?;
        self.constants.member(MemberKind::Field, class, name_and_type)
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

    /// Like [`Self::hook_method`], for a descriptor that no other constant shares and that is therefore not remembered.
    pub(crate) fn hook_method_once(&mut self, name: &'a [u8], descriptor: &[u8]) -> Result<u16, ClassError> {
        let descriptor = self.constants.utf8_once(descriptor)?;
        self.method_of_hook_class(name, descriptor)
    }

    fn method_of_hook_class(&mut self, name: &'a [u8], descriptor: u16) -> Result<u16, ClassError> {
        let class = self.class(self.hook_class.as_bytes())?;
        let name = self.utf8(name)?;
        let name_and_type = self.constants.name_and_type(name, descriptor)?;
        self.constants.member(MemberKind::Method, class, name_and_type)
    }
}
