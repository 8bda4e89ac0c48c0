//! Decodes method bodies for data-flow analysis.

use rustc_hash::FxHashMap;

use crate::bytes::Reader;
use crate::code::{Code, Instructions};
use crate::constant_pool::{Constant, ConstantPool, MemberRef, text};
use crate::error::{ClassError, MethodError};
use crate::flow::{
    Dynamic, FlowBody, FlowClass, FlowInstruction, Handle, InvokeKind, MemberReference, Operation, StackMove,
};
use crate::instruction::{Instruction, Operand};
use crate::opcodes::{
    AALOAD, AASTORE, ACONST_NULL, ALOAD, ANEWARRAY, ARETURN, ASTORE, ATHROW, CHECKCAST, DALOAD, DASTORE,
    DSTORE, GETFIELD, GETSTATIC, IALOAD, IASTORE, ICONST_0, INVOKEDYNAMIC, INVOKEINTERFACE, INVOKESPECIAL,
    INVOKESTATIC, INVOKEVIRTUAL, IRETURN, ISTORE, JSR, LALOAD, LASTORE, LDC, LDC2_W, NEW, NEWARRAY, PUTFIELD,
    PUTSTATIC, RET, RETURN, SALOAD, SASTORE,
};
use crate::stack_effect::stack_effect;
use crate::structure::{ClassFile, Member};
use crate::tables::Lines;

/// Reads the bodies of one class.
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

    /// Prepares to decode bodies with `invokedynamic` calls.
    pub(crate) fn with_bootstraps(file: &'r ClassFile<'a>, flow: &'r mut FlowClass) -> Self {
        let content = file.attributes.find(&file.pool, b"BootstrapMethods");
        let bootstraps = content.map(parse_bootstraps).unwrap_or_default();
        BodyReader { bootstraps, ..BodyReader::new(&file.pool, flow) }
    }

    /// The names that were read so far.
    pub(crate) fn flow(&self) -> &FlowClass {
        self.flow
    }

    /// Decodes the body of a method, if it has one.
    pub(crate) fn body(&mut self, method: &Member<'_>) -> Result<Option<FlowBody>, ClassError> {
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
            for target in instruction.targets(code.bytes) {
                let index = usize::try_from(target).ok().and_then(|pc| instructions.index(pc));
                match index.filter(|&index| index < instructions.list.len()) {
                    Some(index) => body.targets.push(index as u32),
                    None => return Err(MethodError::Malformed("code")),
                }
            }
            let opcode = instruction.opcode;
            if std::mem::replace(&mut is_zero, opcode == ICONST_0) && matches!(opcode, NEWARRAY | ANEWARRAY) {
                body.empty_arrays.push(body.instructions.len() as u32);
            }
            body.instructions.push(FlowInstruction {
                pc: instruction.pc as u16,
                operation: self.operation(instruction)?,
                falls_through: instruction.falls_through() && opcode != JSR,
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

    /// The effect of an instruction.
    pub(crate) fn operation(&mut self, instruction: Instruction) -> Result<Operation, MethodError> {
        let (opcode, index) = (instruction.opcode, instruction.constant());
        let slot = instruction.local().unwrap_or_default();
        if let Some(moved) = StackMove::of(opcode) {
            return Ok(Operation::Stack(moved));
        }
        Ok(match opcode {
            ACONST_NULL => Operation::Null,
            LDC => self.constant(index, 1)?,
            LDC2_W => self.constant(index, 2)?,
            ALOAD => Operation::Load(slot),
            AALOAD => Operation::LoadElement(true, 1),
            LALOAD | DALOAD => Operation::LoadElement(false, 2),
            IALOAD..=SALOAD => Operation::LoadElement(false, 1),
            ASTORE => Operation::Store(slot),
            // A store of an int, long, float or double, in this order.
            ISTORE..=DSTORE => Operation::Overwrite { slot, slots: 1 + (opcode - ISTORE) % 2 },
            LASTORE | DASTORE => Operation::StoreElement(false, 2),
            AASTORE => Operation::StoreElement(true, 1),
            IASTORE..=SASTORE => Operation::StoreElement(false, 1),
            JSR => Operation::Subroutine,
            RET => Operation::SubroutineEnd,
            ARETURN => Operation::ReturnReference,
            IRETURN..=RETURN => Operation::Return,
            GETSTATIC => Operation::GetStatic(self.field(instruction)?),
            PUTSTATIC => Operation::PutStatic(self.field(instruction)?),
            GETFIELD => Operation::GetField(self.field(instruction)?),
            PUTFIELD => Operation::PutField(self.field(instruction)?),
            INVOKEVIRTUAL => Operation::Invoke(InvokeKind::Virtual, self.method(instruction)?),
            INVOKESPECIAL => Operation::Invoke(InvokeKind::Special, self.method(instruction)?),
            INVOKESTATIC => Operation::Invoke(InvokeKind::Static, self.method(instruction)?),
            INVOKEINTERFACE => Operation::Invoke(InvokeKind::Interface, self.method(instruction)?),
            INVOKEDYNAMIC => Operation::InvokeDynamic(self.dynamic(index)?),
            NEW => Operation::New(self.class(index)?),
            NEWARRAY => Operation::NewArray(1, None),
            ANEWARRAY => Operation::NewArray(1, Some(self.class(index)?)),
            ATHROW => Operation::Throw,
            CHECKCAST => Operation::Cast(self.class(index)?),
            _ => match instruction.operand {
                Operand::Array(class, dimensions) => {
                    Operation::NewArray(dimensions, Some(self.class(class)?))
                }
                _ => {
                    let (pops, pushes) = stack_effect(opcode);
                    Operation::Plain { pops, pushes }
                }
            },
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

    fn field(&mut self, instruction: Instruction) -> Result<u16, ClassError> {
        let field = instruction.field(self.pool)?;
        Ok(number(&mut self.numbers, field.index, &mut self.flow.field_references, || member(&field)))
    }

    fn method(&mut self, instruction: Instruction) -> Result<u16, ClassError> {
        let method = instruction.method(self.pool)?;
        Ok(number(&mut self.numbers, method.index, &mut self.flow.method_references, || member(&method)))
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

fn member(reference: &MemberRef<'_>) -> MemberReference {
    MemberReference {
        class: text(reference.owner).into_owned(),
        name: text(reference.name).into_owned(),
        descriptor: text(reference.descriptor).into_owned(),
    }
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
