//! Classes for data-flow analysis: members, and method bodies decoded into the effect of each instruction on the operand stack,
//! the local variables and the heap.
//!
//! The analysis follows references, not numbers, so that most instructions reduce to the number of slots that they pop and push.

use rustc_hash::FxHashMap;

use crate::bytes::{Reader, u8_at, u16_at};
use crate::code::{Code, Instructions, for_each_target};
use crate::constant_pool::{Constant, ConstantPool, text};
use crate::descriptor::slots;
use crate::error::{ClassError, MethodError};
use crate::opcodes::{
    AALOAD, ACONST_NULL, ALOAD, ALOAD_0, ALOAD_3, ANEWARRAY, ASTORE, ASTORE_3, ATHROW, BIPUSH, CHECKCAST,
    DASTORE, GETFIELD, GETSTATIC, GOTO, GOTO_W, IALOAD, IASTORE, ICONST_0, IFEQ, IFNONNULL, IFNULL, IINC,
    ILOAD, INVOKEDYNAMIC, INVOKEINTERFACE, INVOKESPECIAL, INVOKESTATIC, INVOKEVIRTUAL, IRETURN, ISTORE,
    ISTORE_0, JSR, JSR_W, LASTORE, LDC, LDC_W, LOOKUPSWITCH, MONITORENTER, MONITOREXIT, MULTIANEWARRAY, NEW,
    NEWARRAY, POP, PUTFIELD, PUTSTATIC, RET, RETURN, SALOAD, SASTORE, SIPUSH, SWAP, TABLESWITCH, WIDE,
    is_unconditional,
};
use crate::structure::{ClassFile, Member};
use crate::summary::FieldSummary;
use crate::tables::Lines;

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
    pub access: u16,
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
    pub access: u16,
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
    /// Moves slots: `pop`, `dup` and the like, by opcode.
    Stack(u8),
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
    let bootstraps =
        file.attributes.find(pool, b"BootstrapMethods").map(parse_bootstraps).unwrap_or_default();
    let mut reader = BodyReader { bootstraps, ..BodyReader::new(pool, &mut flow) };
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

/// The bootstrap methods: each a handle and its arguments, as constant pool indices.
type Bootstraps = Vec<(u16, Vec<u16>)>;

fn parse_bootstraps(content: &[u8]) -> Bootstraps {
    let mut reader = Reader::new(content);
    let mut read = || -> Result<Bootstraps, ClassError> {
        let count = reader.u16()?;
        let mut bootstraps = Vec::new();
        for _ in 0..count {
            let method = reader.u16()?;
            let arguments = reader.u16()?;
            let arguments = (0..arguments).map(|_| reader.u16()).collect::<Result<_, _>>()?;
            bootstraps.push((method, arguments));
        }
        Ok(bootstraps)
    };
    read().unwrap_or_default()
}

pub(crate) struct BodyReader<'r, 'a> {
    pool: &'r ConstantPool<'a>,
    bootstraps: Bootstraps,
    flow: &'r mut FlowClass,
    /// The list index given to each constant.
    numbers: FxHashMap<u16, u16>,
    instructions: Instructions,
}

impl<'r, 'a> BodyReader<'r, 'a> {
    /// Prepares to decode single instructions; the names that they use are added to the lists of `flow`.
    pub(crate) fn new(pool: &'r ConstantPool<'a>, flow: &'r mut FlowClass) -> Self {
        let (bootstraps, numbers) = (Bootstraps::default(), FxHashMap::default());
        BodyReader { pool, bootstraps, flow, numbers, instructions: Instructions::default() }
    }

    /// The names that were read so far.
    pub(crate) fn flow(&self) -> &FlowClass {
        self.flow
    }

    fn body(&mut self, method: &Member<'_>) -> Result<Option<FlowBody>, ClassError> {
        let Some(content) = method.attributes.find(self.pool, b"Code") else { return Ok(None) };
        match self.code(content) {
            Ok(body) => Ok(Some(body)),
            Err(MethodError::Class(error)) => Err(error),
            Err(_) => Err(ClassError::Truncated),
        }
    }

    fn code(&mut self, content: &[u8]) -> Result<FlowBody, MethodError> {
        let code = Code::parse(content, self.pool)?;
        let mut instructions = std::mem::take(&mut self.instructions);
        instructions.decode(code.bytes)?;
        instructions.build_index(code.bytes);
        let mut lines = Lines::default();
        lines.read(&code, self.pool);
        let mut body =
            FlowBody { max_locals: code.max_locals, lines: lines.into_starts(), ..FlowBody::default() };
        let mut is_zero = false;
        for &instruction in &instructions.list {
            let first = body.targets.len() as u32;
            let mut is_wrong = false;
            for_each_target(code.bytes, instruction, |target| {
                let index = usize::try_from(target).ok().and_then(|pc| instructions.index(pc));
                match index.filter(|&index| index < instructions.list.len()) {
                    Some(index) => body.targets.push(index as u32),
                    None => is_wrong = true,
                }
            });
            if is_wrong {
                return Err(MethodError::Malformed("code"));
            }
            let opcode = instruction.opcode;
            if std::mem::replace(&mut is_zero, opcode == ICONST_0) && matches!(opcode, NEWARRAY | ANEWARRAY) {
                body.empty_arrays.push(body.instructions.len() as u32);
            }
            body.instructions.push(FlowInstruction {
                pc: instruction.pc as u16,
                operation: self.operation(code.bytes, instruction.pc, opcode)?,
                falls_through: !is_unconditional(opcode) && !matches!(opcode, JSR | JSR_W),
                targets: (first, body.targets.len() as u32),
            });
        }
        for entry in code.exception_entries() {
            let at = |pc: u16| instructions.index(usize::from(pc)).map(|index| index as u32);
            match (at(entry[0]), at(entry[1]), at(entry[2])) {
                (Some(start), Some(end), Some(handler)) if (handler as usize) < body.instructions.len() => {
                    body.handlers.push([start, end, handler]);
                }
                _ => return Err(MethodError::Malformed("exception table")),
            }
        }
        self.instructions = instructions;
        Ok(body)
    }

    pub(crate) fn operation(&mut self, code: &[u8], pc: usize, opcode: u8) -> Result<Operation, MethodError> {
        let plain = |pops, pushes| Operation::Plain { pops, pushes };
        let index = || u16_at(code, pc + 1);
        Ok(match opcode {
            0 => plain(0, 0),
            ACONST_NULL => Operation::Null,
            // Pushing int and float constants takes one slot, long and double constants two.
            2..=8 | 11..=13 | BIPUSH | SIPUSH => plain(0, 1),
            9 | 10 | 14 | 15 => plain(0, 2),
            LDC => self.constant(u16::from(u8_at(code, pc + 1)), 1)?,
            LDC_W => self.constant(index(), 1)?,
            20 => self.constant(index(), 2)?,
            ALOAD => Operation::Load(u16::from(u8_at(code, pc + 1))),
            ALOAD_0..=ALOAD_3 => Operation::Load(u16::from(opcode - ALOAD_0)),
            22 | 24 | 30..=33 | 38..=41 => plain(0, 2),
            ILOAD..=41 => plain(0, 1),
            AALOAD => Operation::LoadElement(true, 1),
            47 | 49 => Operation::LoadElement(false, 2),
            IALOAD..=SALOAD => Operation::LoadElement(false, 1),
            ASTORE => Operation::Store(u16::from(u8_at(code, pc + 1))),
            75..=ASTORE_3 => Operation::Store(u16::from(opcode - 75)),
            ISTORE..=57 => overwrite(opcode - ISTORE, u16::from(u8_at(code, pc + 1))),
            ISTORE_0..=74 => overwrite((opcode - ISTORE_0) / 4, u16::from((opcode - ISTORE_0) % 4)),
            LASTORE | DASTORE => Operation::StoreElement(false, 2),
            83 => Operation::StoreElement(true, 1),
            IASTORE..=SASTORE => Operation::StoreElement(false, 1),
            POP..=SWAP => Operation::Stack(opcode),
            // Arithmetic in the order int, long, float, double; the shift count of longs is an int.
            96..=115 => {
                if opcode % 2 == 1 {
                    plain(4, 2)
                } else {
                    plain(2, 1)
                }
            }
            116 | 118 => plain(1, 1),
            117 | 119 => plain(2, 2),
            120 | 122 | 124 => plain(2, 1),
            121 | 123 | 125 => plain(3, 2),
            126..=131 => {
                if opcode % 2 == 1 {
                    plain(4, 2)
                } else {
                    plain(2, 1)
                }
            }
            IINC => plain(0, 0),
            133 | 135 | 140 | 141 => plain(1, 2),
            134 | 139 | 145..=147 => plain(1, 1),
            136 | 137 | 142 | 144 => plain(2, 1),
            138 | 143 => plain(2, 2),
            148 | 151 | 152 => plain(4, 1),
            149 | 150 => plain(2, 1),
            IFEQ..=158 | IFNULL | IFNONNULL => plain(1, 0),
            159..=166 => plain(2, 0),
            GOTO | GOTO_W => plain(0, 0),
            JSR | JSR_W => Operation::Subroutine,
            RET => Operation::SubroutineEnd,
            TABLESWITCH | LOOKUPSWITCH => plain(1, 0),
            176 => Operation::ReturnReference,
            IRETURN..=RETURN => Operation::Return,
            GETSTATIC => Operation::GetStatic(self.field(index())?),
            PUTSTATIC => Operation::PutStatic(self.field(index())?),
            GETFIELD => Operation::GetField(self.field(index())?),
            PUTFIELD => Operation::PutField(self.field(index())?),
            INVOKEVIRTUAL => Operation::Invoke(InvokeKind::Virtual, self.method(index())?),
            INVOKESPECIAL => Operation::Invoke(InvokeKind::Special, self.method(index())?),
            INVOKESTATIC => Operation::Invoke(InvokeKind::Static, self.method(index())?),
            INVOKEINTERFACE => Operation::Invoke(InvokeKind::Interface, self.method(index())?),
            INVOKEDYNAMIC => Operation::InvokeDynamic(self.dynamic(index())?),
            NEW => Operation::New(self.class(index())?),
            NEWARRAY => Operation::NewArray(1, None),
            ANEWARRAY => Operation::NewArray(1, Some(self.class(index())?)),
            190 => plain(1, 1),
            ATHROW => Operation::Throw,
            CHECKCAST => Operation::Cast(self.class(index())?),
            193 => plain(1, 1),
            MONITORENTER | MONITOREXIT => plain(1, 0),
            WIDE => match u8_at(code, pc + 1) {
                ALOAD => Operation::Load(u16_at(code, pc + 2)),
                22 | 24 => plain(0, 2),
                ILOAD..=ALOAD => plain(0, 1),
                ASTORE => Operation::Store(u16_at(code, pc + 2)),
                store @ ISTORE..=57 => overwrite(store - ISTORE, u16_at(code, pc + 2)),
                RET => Operation::SubroutineEnd,
                _ => plain(0, 0),
            },
            MULTIANEWARRAY => Operation::NewArray(u8_at(code, pc + 3), Some(self.class(index())?)),
            _ => return Err(MethodError::Malformed("code")),
        })
    }

    fn constant(&mut self, index: u16, slots: u8) -> Result<Operation, ClassError> {
        Ok(match self.pool.constant(index) {
            Constant::Number => Operation::Plain { pops: 0, pushes: slots },
            Constant::Text => {
                let value = text(self.pool.string(index)?).into_owned();
                Operation::Text(number(&mut self.numbers, index, &mut self.flow.texts, || value))
            }
            Constant::Class => Operation::ClassConstant(self.class(index)?),
            Constant::Unknown => Operation::UnknownConstant(slots),
        })
    }

    fn class(&mut self, index: u16) -> Result<u16, ClassError> {
        let name = text(self.pool.class_name(index)?).into_owned();
        Ok(number(&mut self.numbers, index, &mut self.flow.classes, || name))
    }

    fn field(&mut self, index: u16) -> Result<u16, ClassError> {
        let reference = self.pool.field(index)?;
        let create = || member(&reference);
        Ok(number(&mut self.numbers, index, &mut self.flow.field_references, create))
    }

    fn method(&mut self, index: u16) -> Result<u16, ClassError> {
        let reference = self.pool.method(index)?;
        let create = || member(&reference);
        Ok(number(&mut self.numbers, index, &mut self.flow.method_references, create))
    }

    fn dynamic(&mut self, index: u16) -> Result<u16, ClassError> {
        let (bootstrap, name, descriptor) = self.pool.invoke_dynamic(index)?;
        let mut dynamic = Dynamic {
            name: text(name).into_owned(),
            descriptor: text(descriptor).into_owned(),
            bootstrap: None,
            handles: Vec::new(),
            types: Vec::new(),
            classes: Vec::new(),
        };
        if let Some((method, arguments)) = self.bootstraps.get(usize::from(bootstrap)) {
            dynamic.bootstrap = self.pool.handle(*method).map(|(_, reference)| member(&reference));
            for &argument in arguments {
                if let Some((kind, reference)) = self.pool.handle(argument) {
                    dynamic.handles.push(Handle { kind, target: member(&reference) });
                } else if let Some(descriptor) = self.pool.method_type(argument) {
                    dynamic.types.push(text(descriptor).into_owned());
                } else if let Ok(class) = self.pool.class_name(argument) {
                    dynamic.classes.push(text(class).into_owned());
                }
            }
        }
        Ok(number(&mut self.numbers, index, &mut self.flow.dynamics, || dynamic))
    }
}

/// The index of a constant in one of the lists. All lists can share `numbers`, because a constant belongs to only one of them.
fn number<T>(
    numbers: &mut FxHashMap<u16, u16>,
    index: u16,
    list: &mut Vec<T>,
    create: impl FnOnce() -> T,
) -> u16 {
    *numbers.entry(index).or_insert_with(|| {
        list.push(create());
        (list.len() - 1) as u16
    })
}

fn member(reference: &crate::constant_pool::Reference<'_>) -> MemberReference {
    MemberReference {
        class: text(reference.class).into_owned(),
        name: text(reference.name).into_owned(),
        descriptor: text(reference.descriptor).into_owned(),
    }
}

/// A store of an int, long, float or double, in this order.
fn overwrite(kind: u8, slot: u16) -> Operation {
    Operation::Overwrite { slot, slots: 1 + kind % 2 }
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
