//! Finds the constants that a method compares its parameters with: values for which it may behave differently.
//!
//! One linear pass over the instructions tracks whether stack slots and local variables hold a parameter or a constant. Compilers
//! place the instructions of a comparison together, so that ignoring jumps is good enough. The result is a heuristic: it may miss
//! constants, and may list one too many where a variable no longer holds the parameter.

use crate::access::AccessFlags;
use crate::code::{Code, Instructions};
use crate::constant_pool::{ConstantPool, text};
use crate::error::{ClassError, MethodError};
use crate::flow::{FlowClass, InvokeKind, MemberReference, Operation, StackMove, shape};
use crate::flow_reader::BodyReader;
use crate::instruction::{Instruction, Operand, Switch};
use crate::opcodes::{
    I2L, IF_ACMPEQ, IF_ACMPNE, IF_ICMPEQ, IF_ICMPLE, IFEQ, IFLE, ILOAD, LCMP, LCONST_0, LCONST_1, LDC,
    LDC2_W, LLOAD,
};
use crate::structure::ClassFile;

/// A constant that a parameter is compared with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Literal {
    /// An integer, or the code of a character.
    Number(i64),
    /// A string.
    Text(String),
    /// A constant of an enumeration, by its name.
    Constant(String),
}

/// The constants for a method's parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodLiterals {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The comparisons: a parameter's index, from 0, and a value on the other side of the comparison's boundary.
    pub compared: Vec<(usize, Literal)>,
    /// The calls that pass a parameter on: its index, the called method, and its index there.
    pub passed: Vec<(usize, MemberReference, usize)>,
}

/// A switch with more cases than this is treated as a table lookup, whose cases are not listed.
const MOST_CASES: usize = 16;

/// Reads the constants of all methods of a class. Methods that cannot be read have none.
pub fn read_literals(class: &[u8]) -> Result<Vec<MethodLiterals>, ClassError> {
    let file = ClassFile::parse(class)?;
    let pool = &file.pool;
    let mut flow = FlowClass::default();
    let mut reader = BodyReader::new(pool, &mut flow);
    let mut methods = Vec::new();
    for method in &file.methods {
        let descriptor = text(pool.utf8(method.descriptor_index)?).into_owned();
        let mut pass = Pass {
            pool,
            literals: MethodLiterals {
                name: text(pool.utf8(method.name_index)?).into_owned(),
                ..MethodLiterals::default()
            },
            stack: Vec::new(),
            locals: locals(&descriptor, method.access.contains(AccessFlags::STATIC)),
        };
        if let Some(content) = method.attributes.find(pool, b"Code") {
            // The constants found before an instruction that cannot be decoded are kept.
            let _ = pass.run(content, &mut reader);
        }
        methods.push(MethodLiterals { descriptor, ..pass.literals });
    }
    Ok(methods)
}

/// The abstract value of a slot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Held {
    Parameter(usize),
    Literal(Literal),
    /// The result of comparing a parameter with a long: parameter, value, whether the operands are swapped.
    Compared(usize, i64, bool),
    #[default]
    Other,
}

fn locals(descriptor: &str, is_static: bool) -> Vec<Held> {
    let mut locals = if is_static { Vec::new() } else { vec![Held::Other] };
    for (number, kind) in shape(descriptor).0.iter().enumerate() {
        locals.push(Held::Parameter(number));
        if *kind == b'2' {
            locals.push(Held::Other);
        }
    }
    locals
}

struct Pass<'p, 'a> {
    pool: &'p ConstantPool<'a>,
    literals: MethodLiterals,
    stack: Vec<Held>,
    locals: Vec<Held>,
}

impl Pass<'_, '_> {
    fn run(&mut self, content: &[u8], reader: &mut BodyReader<'_, '_>) -> Result<(), MethodError> {
        let code = Code::parse(content, self.pool)?;
        let mut instructions = Instructions::default();
        instructions.decode(code.bytes)?;
        for &instruction in &instructions.list {
            if !self.special(code.bytes, instruction) {
                let operation = reader.operation(instruction)?;
                self.general(operation, reader.flow());
            }
        }
        Ok(())
    }

    fn pop(&mut self) -> Held {
        self.stack.pop().unwrap_or(Held::Other)
    }

    fn pops(&mut self, count: usize) {
        let left = self.stack.len().saturating_sub(count);
        self.stack.truncate(left);
    }

    fn pushes(&mut self, count: usize) {
        self.stack.extend(std::iter::repeat_n(Held::Other, count));
    }

    /// Handles instructions that move or compare numbers. Returns whether this was one.
    fn special(&mut self, code: &[u8], instruction: Instruction) -> bool {
        let number = |value: i64| Held::Literal(Literal::Number(value));
        let opcode = instruction.opcode;
        if let Some(switch) = instruction.switch(code) {
            if let Held::Parameter(parameter) = self.pop() {
                let cases = cases(&switch).into_iter();
                self.literals.compared.extend(cases.map(|case| (parameter, Literal::Number(case))));
            }
            return true;
        }
        match (opcode, instruction.operand) {
            (LCONST_0 | LCONST_1, Operand::Number(value)) => {
                self.stack.extend([number(i64::from(value)), Held::Other]);
            }
            (_, Operand::Number(value)) => self.stack.push(number(i64::from(value))),
            (LDC | LDC2_W, Operand::Constant(index)) => {
                let Some(value) = self.pool.whole_number(index) else { return false };
                self.stack.push(number(value));
                self.pushes(usize::from(opcode == LDC2_W));
            }
            (ILOAD | LLOAD, Operand::Local(slot)) => self.load(usize::from(slot), opcode == LLOAD),
            (LCMP, _) => {
                let (second, first) = ((self.pop(), self.pop()).1, (self.pop(), self.pop()).1);
                self.stack.push(match (first, second) {
                    (Held::Parameter(one), Held::Literal(Literal::Number(value))) => {
                        Held::Compared(one, value, false)
                    }
                    (Held::Literal(Literal::Number(value)), Held::Parameter(one)) => {
                        Held::Compared(one, value, true)
                    }
                    _ => Held::Other,
                });
            }
            (IFEQ..=IFLE, _) => {
                if let Held::Compared(parameter, value, is_swapped) = self.pop() {
                    self.compare(parameter, value, opcode - IFEQ, is_swapped);
                }
            }
            (IF_ICMPEQ..=IF_ICMPLE, _) => match (self.pop(), self.pop()) {
                (Held::Literal(Literal::Number(value)), Held::Parameter(one)) => {
                    self.compare(one, value, opcode - IF_ICMPEQ, false);
                }
                (Held::Parameter(one), Held::Literal(Literal::Number(value))) => {
                    self.compare(one, value, opcode - IF_ICMPEQ, true);
                }
                _ => {}
            },
            (IF_ACMPEQ | IF_ACMPNE, _) => {
                let both = (self.pop(), self.pop());
                self.equal(both);
            }
            // `i2l` keeps the value and adds a slot.
            (I2L, _) => self.pushes(1),
            _ => return false,
        }
        true
    }

    fn load(&mut self, slot: usize, is_long: bool) {
        self.stack.push(self.locals.get(slot).cloned().unwrap_or(Held::Other));
        self.pushes(usize::from(is_long));
    }

    /// Notes a jump that compares a parameter with a number; `how` is equal, not equal, less, not less, greater, not greater.
    fn compare(&mut self, parameter: usize, value: i64, how: u8, is_swapped: bool) {
        // The first value that satisfies "greater than" is one more; values below a bound are tried anyway.
        let is_beyond = match how {
            2 | 3 => is_swapped,
            4 | 5 => !is_swapped,
            _ => false,
        };
        let value = value.saturating_add(i64::from(is_beyond));
        self.literals.compared.push((parameter, Literal::Number(value)));
    }

    fn equal(&mut self, both: (Held, Held)) {
        if let (Held::Parameter(parameter), Held::Literal(literal))
        | (Held::Literal(literal), Held::Parameter(parameter)) = both
        {
            self.literals.compared.push((parameter, literal));
        }
    }

    /// Handles all other instructions.
    fn general(&mut self, operation: Operation, flow: &FlowClass) {
        match operation {
            Operation::Plain { pops, pushes } => {
                self.pops(usize::from(pops));
                self.pushes(usize::from(pushes));
            }
            Operation::Load(slot) => self.load(usize::from(slot), false),
            Operation::Store(slot) => {
                let held = self.pop();
                if let Some(local) = self.locals.get_mut(usize::from(slot)) {
                    *local = held;
                }
            }
            Operation::Overwrite { slot, slots } => {
                self.pops(usize::from(slots) - 1);
                let held = self.pop();
                if let Some(local) = self.locals.get_mut(usize::from(slot)) {
                    *local = held;
                }
            }
            Operation::Text(number) => {
                let text = flow.texts[usize::from(number)].clone();
                self.stack.push(Held::Literal(Literal::Text(text)));
            }
            Operation::GetStatic(number) => {
                let field = &flow.field_references[usize::from(number)];
                let is_constant = field.descriptor.strip_prefix('L').and_then(|name| name.strip_suffix(';'))
                    == Some(&field.class);
                if is_constant {
                    self.stack.push(Held::Literal(Literal::Constant(field.name.clone())));
                } else {
                    self.pushes(width(&field.descriptor));
                }
            }
            Operation::PutStatic(number) => {
                self.pops(width(&flow.field_references[usize::from(number)].descriptor))
            }
            Operation::GetField(number) => {
                self.pops(1);
                self.pushes(width(&flow.field_references[usize::from(number)].descriptor));
            }
            Operation::PutField(number) => {
                self.pops(1 + width(&flow.field_references[usize::from(number)].descriptor));
            }
            Operation::Invoke(kind, number) => {
                self.invoke(kind != InvokeKind::Static, &flow.method_references[usize::from(number)]);
            }
            Operation::InvokeDynamic(number) => {
                let (parameters, result) = shape(&flow.dynamics[usize::from(number)].descriptor);
                self.pops(parameters.iter().map(|kind| slots(*kind)).sum());
                self.pushes(result.map_or(0, slots));
            }
            Operation::Cast(_) => {}
            Operation::New(_) | Operation::Null | Operation::ClassConstant(_) => self.pushes(1),
            Operation::UnknownConstant(slots) => self.pushes(usize::from(slots)),
            Operation::NewArray(dimensions, _) => {
                self.pops(usize::from(dimensions));
                self.pushes(1);
            }
            Operation::LoadElement(_, slots) => {
                self.pops(2);
                self.pushes(usize::from(slots));
            }
            Operation::StoreElement(_, slots) => self.pops(2 + usize::from(slots)),
            Operation::Stack(moved @ (StackMove::Pop(_) | StackMove::Dup { under: 0, .. })) => {
                moved.apply(&mut self.stack);
            }
            Operation::Stack(_)
            | Operation::Throw
            | Operation::ReturnReference
            | Operation::Return
            | Operation::Subroutine
            | Operation::SubroutineEnd => self.stack.clear(),
        }
    }

    fn invoke(&mut self, has_receiver: bool, method: &MemberReference) {
        let (parameters, result) = shape(&method.descriptor);
        let mut arguments: Vec<Held> = Vec::new();
        for kind in parameters.iter().rev() {
            self.pops(slots(*kind) - 1);
            arguments.push(self.pop());
        }
        if has_receiver {
            arguments.push(self.pop());
        }
        arguments.reverse();
        let is_boxing = method.class.starts_with("java/lang/")
            && matches!(
                method.name.as_str(),
                "valueOf" | "intValue" | "longValue" | "charValue" | "shortValue" | "byteValue"
            );
        if is_boxing && arguments.len() == 1 {
            self.stack.extend(arguments);
            self.pushes(result.map_or(0, slots).saturating_sub(1));
            return;
        }
        if matches!(method.name.as_str(), "equals" | "equalsIgnoreCase") && arguments.len() == 2 {
            self.equal((arguments[0].clone(), arguments[1].clone()));
        } else {
            for (index, argument) in arguments.iter().skip(usize::from(has_receiver)).enumerate() {
                if let Held::Parameter(parameter) = argument {
                    self.literals.passed.push((*parameter, method.clone(), index));
                }
            }
        }
        self.pushes(result.map_or(0, slots));
    }
}

fn slots(kind: u8) -> usize {
    if kind == b'2' { 2 } else { 1 }
}

fn width(descriptor: &str) -> usize {
    crate::descriptor::slots(descriptor.as_bytes())
}

/// The case values of a switch; empty if there are more than [`MOST_CASES`].
fn cases(switch: &Switch<'_>) -> Vec<i64> {
    if switch.count() > MOST_CASES {
        return Vec::new();
    }
    switch.cases().map(|(value, _)| i64::from(value)).collect()
}
