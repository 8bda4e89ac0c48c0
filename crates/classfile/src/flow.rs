//! Classes for data-flow analysis: members, and method bodies decoded into the effect of each instruction on the operand stack,
//! the local variables and the heap.
//!
//! The analysis follows references, not numbers, so that most instructions reduce to the number of slots that they pop and push.

use crate::access::AccessFlags;
use crate::constant_pool::text;
use crate::descriptor::slots;
use crate::error::ClassError;
use crate::flow_reader::BodyReader;
pub use crate::stack_effect::StackMove;
use crate::structure::ClassFile;
use crate::summary::FieldSummary;

/// A class with its code.
#[derive(Debug, Clone, Default)]
pub struct FlowClass {
    /// Internal name.
    pub name: String,
    /// Internal name of the super class; `None` for `java/lang/Object` and modules.
    pub super_name: Option<String>,
    /// Internal names of the interfaces.
    pub interfaces: Vec<String>,
    /// Access flags.
    pub access: AccessFlags,
    /// The declared fields, in order.
    pub fields: Vec<FieldSummary>,
    /// The declared methods, in order.
    pub methods: Vec<FlowMethod>,
    /// Classes that the code names; operations refer to them by index.
    pub classes: Vec<String>,
    /// Fields that the code names.
    pub field_references: Vec<MemberReference>,
    /// Methods that the code names.
    pub method_references: Vec<MemberReference>,
    /// The `invokedynamic` calls of the code.
    pub dynamics: Vec<Dynamic>,
    /// Strings that the code names.
    pub texts: Vec<String>,
    /// Internal names of all classes in the constant pool, which the JVM may load; only filled if bodies were requested.
    pub mentioned: Vec<String>,
}

/// A method and, if requested and present, its body.
#[derive(Debug, Clone)]
pub struct FlowMethod {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Its access flags.
    pub access: AccessFlags,
    /// Its instructions.
    pub body: Option<FlowBody>,
}

/// A field or method that code names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemberReference {
    /// Internal name of the class that the code names; it may inherit the member.
    pub class: String,
    /// The member's name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
}

/// An `invokedynamic` call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dynamic {
    /// The name that its bootstrap method gets.
    pub name: String,
    /// The descriptor of the call.
    pub descriptor: String,
    /// The bootstrap method; `None` if the class file does not name it.
    pub bootstrap: Option<MemberReference>,
    /// The method handles among the bootstrap method's arguments.
    pub handles: Vec<Handle>,
    /// The method types among the bootstrap method's arguments.
    pub types: Vec<String>,
    /// The classes among the bootstrap method's arguments.
    pub classes: Vec<String>,
}

/// A method handle constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    /// The kind, as the class file numbers it: 5 virtual, 6 static, 7 special, 8 constructor, 9 interface; below that fields.
    pub kind: u8,
    /// The field or method that it refers to.
    pub target: MemberReference,
}

/// A method's code.
#[derive(Debug, Clone, Default)]
pub struct FlowBody {
    /// How many local variables there are.
    pub max_locals: u16,
    /// The instructions in order.
    pub instructions: Vec<FlowInstruction>,
    /// The jump targets of all instructions, as instruction indices.
    pub targets: Vec<u32>,
    /// The exception table as instruction indices: start, end (exclusive), handler.
    pub handlers: Vec<[u32; 3]>,
    /// The line number table, if the class has one: bytecode offsets and lines, in order.
    pub lines: Vec<(u16, u16)>,
    /// The indices of instructions that create arrays of length 0.
    pub empty_arrays: Vec<u32>,
}

impl FlowBody {
    /// The line of the instruction at `pc`.
    pub fn line(&self, pc: u16) -> Option<u16> {
        let after = self.lines.partition_point(|start| start.0 <= pc);
        self.lines.get(after.checked_sub(1)?).map(|start| start.1)
    }
}

/// One instruction.
#[derive(Debug, Clone, Copy)]
pub struct FlowInstruction {
    /// The bytecode offset.
    pub pc: u16,
    /// Its effect.
    pub operation: Operation,
    /// Whether control may continue at the next instruction.
    pub falls_through: bool,
    /// Its targets, as a range of [`FlowBody::targets`].
    pub targets: (u32, u32),
}

/// The effect of an instruction. Numbers that stand for names are indices into the class's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Pops and pushes slots; no pushed slot is a reference.
    Plain {
        /// Slots popped.
        pops: u8,
        /// Slots pushed.
        pushes: u8,
    },
    /// Moves slots: `pop`, `dup` and the like.
    Stack(StackMove),
    /// Pushes the reference in a local variable.
    Load(u16),
    /// Stores a reference or a return address into a local variable.
    Store(u16),
    /// Stores another value into a local variable.
    Overwrite {
        /// The first variable.
        slot: u16,
        /// How many slots the value takes.
        slots: u8,
    },
    /// Pushes null.
    Null,
    /// Pushes a string.
    Text(u16),
    /// Pushes a class.
    ClassConstant(u16),
    /// Pushes a method handle, method type or dynamically computed constant of this many slots.
    UnknownConstant(u8),
    /// Creates an object of a class.
    New(u16),
    /// Creates an array: the number of dimensions popped, and for arrays of references the class of the elements (`anewarray`) or of
    /// the array itself (`multianewarray`).
    NewArray(u8, Option<u16>),
    /// Reads an element: whether it is a reference, and its slots.
    LoadElement(bool, u8),
    /// Writes an element: whether it is a reference, and its slots.
    StoreElement(bool, u8),
    /// Reads a field of an object.
    GetField(u16),
    /// Writes a field of an object.
    PutField(u16),
    /// Reads a static field.
    GetStatic(u16),
    /// Writes a static field.
    PutStatic(u16),
    /// Calls a method.
    Invoke(InvokeKind, u16),
    /// Executes an `invokedynamic`.
    InvokeDynamic(u16),
    /// Checks that a reference has a type.
    Cast(u16),
    /// Throws.
    Throw,
    /// Returns a reference.
    ReturnReference,
    /// Returns any other value, or nothing.
    Return,
    /// Calls a subroutine: pushes a return address and jumps.
    Subroutine,
    /// Returns to the instruction after one of the subroutine calls.
    SubroutineEnd,
}

/// How a method is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvokeKind {
    /// Dispatched on the receiver's class; the code names a class.
    Virtual,
    /// Not dispatched: exactly this method, or the one inherited from a super class.
    Special,
    /// Without a receiver.
    Static,
    /// Dispatched on the receiver's class; the code names an interface.
    Interface,
}

/// Reads a class, with method bodies if requested. A malformed body is an error for the whole class, because callers need all
/// bodies.
pub fn read_flow(class: &[u8], with_bodies: bool) -> Result<FlowClass, ClassError> {
    let file = ClassFile::parse(class)?;
    let pool = &file.pool;
    let class_name = |index| pool.class_name(index).map(|name| text(name).into_owned());
    let utf8 = |index| pool.utf8(index).map(|name| text(name).into_owned());
    let mut flow = FlowClass {
        name: class_name(file.this_index)?,
        super_name: if file.super_index == 0 { None } else { Some(class_name(file.super_index)?) },
        interfaces: file.interfaces.iter().map(|index| class_name(*index)).collect::<Result<_, _>>()?,
        access: file.access,
        ..FlowClass::default()
    };
    for field in &file.fields {
        flow.fields.push(FieldSummary {
            name: utf8(field.name_index)?,
            descriptor: utf8(field.descriptor_index)?,
            access: field.access,
        });
    }
    let mut reader = BodyReader::with_bootstraps(&file, &mut flow);
    let mut methods = Vec::with_capacity(file.methods.len());
    for method in &file.methods {
        let body = if with_bodies { reader.body(method)? } else { None };
        methods.push(FlowMethod {
            name: utf8(method.name_index)?,
            descriptor: utf8(method.descriptor_index)?,
            access: method.access,
            body,
        });
    }
    flow.methods = methods;
    if with_bodies {
        flow.mentioned = pool.class_names().filter_map(element_class).collect();
    }
    Ok(flow)
}

/// The name of this class or, for an array class, of its element class; `None` for arrays of primitives.
fn element_class(name: &[u8]) -> Option<String> {
    let name = text(name);
    match name.strip_prefix('[') {
        None => Some(name.into_owned()),
        Some(element) => {
            let element = element.trim_start_matches('[');
            Some(element.strip_prefix('L')?.strip_suffix(';')?.to_owned())
        }
    }
}

/// The content hash that identifies a class across processes.
pub fn content_hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
        hash ^= hash >> 29;
    }
    hash ^ bytes.len() as u64
}

/// The parameters of a method, one character each: `L` for references, `1` and `2` for other values by their slots; and its
/// result likewise, `None` for `void`.
pub fn shape(descriptor: &str) -> (Vec<u8>, Option<u8>) {
    let kind = |descriptor: &[u8]| match descriptor.first() {
        Some(b'L' | b'[') => b'L',
        _ => b'0' + slots(descriptor) as u8,
    };
    let parameters = crate::descriptor::parameters(descriptor.as_bytes()).map(kind).collect();
    let result = crate::descriptor::result(descriptor.as_bytes());
    (parameters, if matches!(result, b"V" | b"") { None } else { Some(kind(result)) })
}

/// The types of a method's parameters, and of its result.
pub fn types(descriptor: &str) -> (Vec<&str>, &str) {
    let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
    let parameters = crate::descriptor::parameters(descriptor.as_bytes()).map(text).collect();
    (parameters, text(crate::descriptor::result(descriptor.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_shape(descriptor: &str, parameters: &str, result: Option<u8>) {
        assert_eq!(shape(descriptor), (parameters.as_bytes().to_vec(), result), "{descriptor}");
    }

    #[test]
    fn shapes_distinguish_references_from_numbers() {
        check_shape("()V", "", None);
        check_shape("(IJ[[DLjava/lang/String;Z)[I", "12LL1", Some(b'L'));
        check_shape("(D)J", "2", Some(b'2'));
        assert_eq!(types("(I[La;)Lb;"), (vec!["I", "[La;"], "Lb;"));
    }

    #[test]
    fn arrays_mention_the_classes_of_their_elements() {
        for (name, expected) in [("a/B", Some("a/B")), ("[[La/B;", Some("a/B")), ("[I", None)] {
            assert_eq!(element_class(name.as_bytes()).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn contents_have_different_hashes() {
        let texts: [&[u8]; 6] = [b"", b"a", b"b", b"a\0", b"12345678", b"123456789"];
        let hashes: std::collections::HashSet<u64> = texts.iter().map(|text| content_hash(text)).collect();
        assert_eq!(hashes.len(), texts.len());
    }
}
