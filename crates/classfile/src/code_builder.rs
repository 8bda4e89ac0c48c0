//! Builds the code of new methods: encodes instructions, resolves labels, and computes the sizes of the stack and of the local
//! variables.

use crate::class_builder::{ClassBuilder, encode_code};
use crate::descriptor::{parameters, result, slots};
use crate::encoder::Encoder;
use crate::error::ClassError;
use crate::opcodes::{
    AALOAD, ALOAD, ARETURN, CHECKCAST, DUP, GETFIELD, GETSTATIC, ILOAD, INVOKESPECIAL, INVOKESTATIC,
    INVOKEVIRTUAL, NEW, RETURN, TABLESWITCH,
};
use crate::stack_effect::stack_effect;

/// A position in the code of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(usize);

/// The code of a method under construction.
pub struct CodeBuilder<'c> {
    class: &'c mut ClassBuilder,
    encoder: Encoder,
    depth: u16,
    max_stack: u16,
    max_locals: u16,
    /// The position of each label that is placed already.
    labels: Vec<Option<usize>>,
    /// The targets to fill in: their position, the instruction's position, the label.
    targets: Vec<(usize, usize, Label)>,
    exceptions: Vec<[u16; 4]>,
    error: Option<ClassError>,
}

impl<'c> CodeBuilder<'c> {
    pub(crate) fn new(class: &'c mut ClassBuilder, is_static: bool, descriptor: &str) -> Self {
        let arguments: usize = parameters(descriptor.as_bytes()).map(slots).sum();
        Self {
            class,
            encoder: Encoder::default(),
            depth: 0,
            max_stack: 0,
            max_locals: arguments as u16 + u16::from(!is_static),
            labels: Vec::new(),
            targets: Vec::new(),
            exceptions: Vec::new(),
            error: None,
        }
    }

    /// Pushes the reference in a local variable.
    pub fn load(&mut self, slot: u16) {
        self.local(ALOAD, slot);
    }

    /// Pushes the int in a local variable.
    pub fn load_int(&mut self, slot: u16) {
        self.local(ILOAD, slot);
    }

    /// Pushes an int.
    pub fn int(&mut self, value: i32) {
        let class = &mut *self.class;
        if let Err(error) = self.encoder.number(value, |value| class.integer(value)) {
            self.error = self.error.take().or(Some(error));
        }
        self.moves(0, 1);
    }

    /// Replaces an array of references and an index by the element.
    pub fn element(&mut self) {
        self.plain(AALOAD);
    }

    /// Pushes a copy of the topmost slot.
    pub fn dup(&mut self) {
        self.encoder.code(&[DUP]);
        self.moves(1, 2);
    }

    /// Pushes a new object whose constructor was not called yet.
    pub fn new_object(&mut self, class: &str) {
        self.with_class(NEW, class);
    }

    /// Checks that the topmost reference has a type.
    pub fn cast(&mut self, class: &str) {
        self.with_class(CHECKCAST, class);
    }

    /// Replaces an object by the value of its field.
    pub fn get_field(&mut self, owner: &str, name: &str, descriptor: &str) {
        let index = self.class.field_reference(owner, name, descriptor);
        self.encoder.constant(GETFIELD, index);
        self.moves(1, slots(descriptor.as_bytes()));
    }

    /// Pushes the value of a static field.
    pub fn get_static(&mut self, owner: &str, name: &str, descriptor: &str) {
        let index = self.class.field_reference(owner, name, descriptor);
        self.encoder.constant(GETSTATIC, index);
        self.moves(0, slots(descriptor.as_bytes()));
    }

    /// Calls a method of a class, dispatched on the receiver.
    pub fn invoke_virtual(&mut self, owner: &str, name: &str, descriptor: &str) {
        self.invoke(INVOKEVIRTUAL, owner, name, descriptor);
    }

    /// Calls a constructor, or a method without dispatch.
    pub fn invoke_special(&mut self, owner: &str, name: &str, descriptor: &str) {
        self.invoke(INVOKESPECIAL, owner, name, descriptor);
    }

    /// Calls a static method of a class.
    pub fn invoke_static(&mut self, owner: &str, name: &str, descriptor: &str) {
        self.invoke(INVOKESTATIC, owner, name, descriptor);
    }

    /// Returns nothing.
    pub fn return_nothing(&mut self) {
        self.plain(RETURN);
    }

    /// Returns the topmost reference.
    pub fn return_reference(&mut self) {
        self.plain(ARETURN);
    }

    /// A label that is not placed yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Makes a label stand for the instruction that follows. All instructions that lead there have emptied the stack.
    pub fn place(&mut self, label: Label) {
        if let Some(position) = self.labels.get_mut(label.0) {
            *position = Some(self.encoder.len());
        }
        self.depth = 0;
    }

    /// Jumps to one of `cases` by the int on the stack, counted from 0, or to `default`.
    pub fn table_switch(&mut self, cases: &[Label], default: Label) {
        let own = self.encoder.len();
        let at = self.encoder.table_switch(TABLESWITCH, cases.len() as u16);
        self.targets.push((at, own, default));
        let positions = (at + 12..).step_by(4);
        self.targets.extend(positions.zip(cases).map(|(at, label)| (at, own, *label)));
        self.moves(1, 0);
    }

    /// Begins a handler for all exceptions of the code so far. The stack has the exception only.
    pub fn catch_all(&mut self) {
        let here = self.encoder.len() as u16;
        self.exceptions.push([0, here, here, 0]);
        self.depth = 0;
        self.moves(0, 1);
    }

    /// The content of the Code attribute.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, ClassError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        for (at, own, label) in self.targets {
            let position = self.labels.get(label.0).copied().flatten();
            let position = position.ok_or(ClassError::MissingLabel)?;
            self.encoder.fill(at, (position as i64 - own as i64) as i32);
        }
        if self.encoder.len() > usize::from(u16::MAX) {
            return Err(ClassError::MethodTooLarge);
        }
        let class = self.class;
        encode_code(self.max_stack, self.max_locals, self.encoder.bytes(), &self.exceptions, |out| {
            class.put_attributes(out, &[]);
            Ok(())
        })
    }

    fn local(&mut self, opcode: u8, slot: u16) {
        self.encoder.local(opcode, slot);
        self.max_locals = self.max_locals.max(slot.saturating_add(1));
        self.moves(0, 1);
    }

    fn plain(&mut self, opcode: u8) {
        self.encoder.code(&[opcode]);
        let (popped, pushed) = stack_effect(opcode);
        self.moves(usize::from(popped), usize::from(pushed));
    }

    fn with_class(&mut self, opcode: u8, class: &str) {
        let index = self.class.class(class);
        self.encoder.constant(opcode, index);
        let (popped, pushed) = stack_effect(opcode);
        self.moves(usize::from(popped), usize::from(pushed));
    }

    fn invoke(&mut self, opcode: u8, owner: &str, name: &str, descriptor: &str) {
        let index = self.class.method_reference(owner, name, descriptor);
        self.encoder.constant(opcode, index);
        let descriptor = descriptor.as_bytes();
        let arguments: usize = parameters(descriptor).map(slots).sum();
        self.moves(arguments + usize::from(opcode != INVOKESTATIC), slots(result(descriptor)));
    }

    fn moves(&mut self, popped: usize, pushed: usize) {
        let left = self.depth.saturating_sub(popped as u16);
        self.depth = left.saturating_add(pushed as u16);
        self.max_stack = self.max_stack.max(self.depth);
    }
}

#[cfg(test)]
mod tests {
    use crate::access::AccessFlags;
    use crate::class_builder::ClassBuilder;
    use crate::code_builder::CodeBuilder;
    use crate::error::ClassError;
    use crate::testing::{check_structure, listing, with_code};

    fn check(descriptor: &str, write: impl FnOnce(&mut CodeBuilder<'_>), sizes: (u16, u16), expected: &str) {
        let mut class = ClassBuilder::new(49, AccessFlags::PUBLIC, "A", Some("java/lang/Object"));
        class.method(AccessFlags::STATIC, "m", descriptor, write);
        let bytes = class.finish().expect("a class");
        check_structure(&bytes);
        assert_eq!(listing(&bytes, "m"), expected);
        with_code(&bytes, "m", |_, code| assert_eq!((code.max_stack, code.max_locals), sizes));
    }

    #[test]
    fn sizes_follow_from_the_instructions() {
        let call = |code: &mut CodeBuilder<'_>| {
            code.new_object("B");
            code.dup();
            code.load(2);
            code.int(7);
            code.element();
            code.invoke_special("B", "<init>", "(LC;)V");
            code.return_reference();
        };
        let expected = "0 new\n3 dup\n4 aload 2\n6 bipush 7\n8 aaload\n9 invokespecial <init>\n12 areturn";
        check("(J)LB;", call, (4, 3), expected);
    }

    #[test]
    fn labels_and_handlers_become_offsets() {
        let switch = |code: &mut CodeBuilder<'_>| {
            let (first, second) = (code.label(), code.label());
            code.load_int(0);
            code.table_switch(&[first, second], second);
            code.place(first);
            code.return_nothing();
            code.place(second);
            code.return_nothing();
            code.catch_all();
            code.invoke_static("B", "caught", "(LC;)V");
            code.return_nothing();
        };
        let expected =
            "0 iload 0\n2 tableswitch 25 24 25\n24 return\n25 return\n26 invokestatic caught\n29 return";
        check("(I)V", switch, (1, 1), expected);
    }

    #[test]
    fn a_label_that_is_not_placed_is_an_error() {
        let mut class = ClassBuilder::new(49, AccessFlags::PUBLIC, "A", None);
        class.method(AccessFlags::STATIC, "m", "(I)V", |code| {
            let label = code.label();
            code.load_int(0);
            code.table_switch(&[], label);
        });
        assert_eq!(class.finish(), Err(ClassError::MissingLabel));
    }
}
