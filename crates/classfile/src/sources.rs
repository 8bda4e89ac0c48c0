//! Finds the origin of references in one pass over a method.
//!
//! The pass follows references from fields and local variables over the operand stack, in code order and
//! ignoring jumps. At jump targets it forgets the stack. The result names arrays in reports and shows that two
//! references are the same; a reference that it cannot follow is unknown.

use crate::code::{Code, Instructions};
use crate::constant_pool::ConstantPool;
use crate::descriptor::{parameters, result, slots};
use crate::instruction::{Instruction, Operand};
use crate::opcodes::{
    AALOAD, ALOAD, ASTORE, CHECKCAST, GETFIELD, GETSTATIC, INVOKEDYNAMIC, INVOKESTATIC, INVOKEVIRTUAL,
    ISTORE, LDC, PUTFIELD, PUTSTATIC,
};
use crate::stack_effect::{StackMove, stack_effect};

/// The origin of a reference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Source {
    #[default]
    Unknown,
    /// A field, by its constant.
    Field(u16),
    /// A local variable, by its slot.
    Local(u16),
    /// The probe array of a coverage tool.
    Marks,
}

/// One slot of the stack.
#[derive(Debug, Clone, Copy, Default)]
struct Value {
    source: Source,
    /// The local variable that still holds the same value.
    copy_of: Option<u16>,
}

/// JaCoCo's name for the field or constant that holds the probe array of an instrumented class. All threads write it
/// without synchronization; it does not belong to the program.
pub(crate) const MARKS: &[u8] = b"$jacocoData";
/// JaCoCo's method that returns the probe array in older classes.
const MARKS_METHOD: &[u8] = b"$jacocoInit";

/// The state of the pass; reused from method to method to save allocations.
#[derive(Default)]
pub(crate) struct Sources {
    /// By stack slot, so that a long takes two. Slots below these are unknown.
    stack: Vec<Value>,
    locals: Vec<Source>,
    is_target: Vec<bool>,
}

impl Sources {
    /// Begins a method.
    pub(crate) fn begin(&mut self, code: &Code<'_>, instructions: &Instructions) {
        self.stack.clear();
        self.locals.clear();
        self.is_target.clear();
        self.is_target.resize(code.bytes.len(), false);
        let mut mark = |pc: usize| {
            if let Some(is_target) = self.is_target.get_mut(pc) {
                *is_target = true;
            }
        };
        for [_, _, handler, _] in code.exception_entries() {
            mark(usize::from(handler));
        }
        for instruction in &instructions.list {
            instruction
                .targets(code.bytes)
                .filter_map(|target| usize::try_from(target).ok())
                .for_each(&mut mark);
        }
    }

    /// Must be called before each instruction; returns whether the instruction is a jump target or handler.
    pub(crate) fn arrive(&mut self, pc: usize) -> bool {
        let is_target = self.is_target.get(pc) == Some(&true);
        if is_target {
            self.stack.clear();
        }
        is_target
    }

    /// The source of the value `depth` slots below the top of the stack.
    pub(crate) fn below(&self, depth: usize) -> Source {
        self.stack.iter().rev().nth(depth).map_or(Source::Unknown, |value| value.source)
    }

    /// The local variable that holds the same value as the slot `depth` slots below the top of the stack.
    pub(crate) fn copy_below(&self, depth: usize) -> Option<u16> {
        self.stack.iter().rev().nth(depth).and_then(|value| value.copy_of)
    }

    /// Whether one of the uppermost slots may hold the same value as a local variable.
    pub(crate) fn may_hold(&self, slot: u16, count: usize) -> bool {
        count > self.stack.len()
            || self.stack.iter().rev().take(count).any(|value| value.copy_of == Some(slot))
    }

    /// Must be called after each instruction; returns the local variable that it stored to.
    pub(crate) fn step(&mut self, instruction: Instruction, pool: &ConstantPool<'_>) -> Option<u16> {
        match (instruction.opcode, instruction.operand) {
            (ALOAD, Operand::Local(slot)) => self.load(slot),
            (opcode @ ISTORE..=ASTORE, Operand::Local(slot)) => return self.store(opcode, slot),
            // The element of an array of arrays inherits the source of the array.
            (AALOAD, _) => {
                self.pop(1);
                if let Some(value) = self.stack.last_mut() {
                    value.copy_of = None;
                }
            }
            (CHECKCAST, _) => {}
            (LDC, Operand::Constant(index)) if is_marks(index, pool) => self.push_marks(),
            (opcode @ GETSTATIC..=PUTFIELD, _) => self.field(instruction, opcode, pool),
            (opcode @ INVOKEVIRTUAL..=INVOKEDYNAMIC, _) => self.call(instruction, opcode, pool),
            (_, Operand::Array(_, dimensions)) => {
                self.pop(usize::from(dimensions));
                self.push(1);
            }
            _ if !instruction.falls_through() => self.stack.clear(),
            (opcode, _) => match StackMove::of(opcode) {
                Some(moved) => moved.apply(&mut self.stack),
                None => self.apply(opcode),
            },
        }
        None
    }

    fn load(&mut self, slot: u16) {
        let source = match self.locals.get(usize::from(slot)) {
            Some(&source @ (Source::Field(_) | Source::Marks)) => source,
            _ => Source::Local(slot),
        };
        self.stack.push(Value { source, copy_of: Some(slot) });
    }

    /// `opcode` is the form with an operand. A local variable is its own source unless a field's value was stored to
    /// it.
    fn store(&mut self, opcode: u8, slot: u16) -> Option<u16> {
        let stored = self.below(0);
        self.apply(opcode);
        for value in &mut self.stack {
            if value.copy_of == Some(slot) {
                value.copy_of = None;
            }
        }
        let stored_slot = slot;
        let slot = usize::from(slot);
        match stored {
            Source::Field(_) | Source::Marks if opcode == ASTORE => {
                if self.locals.len() <= slot {
                    self.locals.resize(slot + 1, Source::Unknown);
                }
                if let Some(local) = self.locals.get_mut(slot) {
                    *local = stored;
                }
            }
            _ => {
                if let Some(local) = self.locals.get_mut(slot) {
                    *local = Source::Unknown;
                }
            }
        }
        Some(stored_slot)
    }

    fn field(&mut self, instruction: Instruction, opcode: u8, pool: &ConstantPool<'_>) {
        let Ok(field) = instruction.field(pool) else { return self.stack.clear() };
        let size = slots(field.descriptor);
        match opcode {
            PUTSTATIC => self.pop(size),
            PUTFIELD => self.pop(size + 1),
            _ => {
                if opcode == GETFIELD {
                    self.pop(1);
                }
                match field.descriptor.first() {
                    Some(b'[' | b'L') => {
                        self.stack.push(Value { source: Source::Field(field.index), copy_of: None })
                    }
                    _ => self.push(size),
                }
            }
        }
    }

    fn call(&mut self, instruction: Instruction, opcode: u8, pool: &ConstantPool<'_>) {
        let Ok(descriptor) = pool.call_descriptor(instruction.constant()) else { return self.stack.clear() };
        let receiver = usize::from(!matches!(opcode, INVOKESTATIC | INVOKEDYNAMIC));
        let arguments: usize = parameters(descriptor).map(slots).sum();
        self.pop(receiver + arguments);
        if opcode == INVOKESTATIC && instruction.method(pool).is_ok_and(|called| called.name == MARKS_METHOD)
        {
            self.push_marks();
        } else {
            self.push(slots(result(descriptor)));
        }
    }

    fn push_marks(&mut self) {
        self.stack.push(Value { source: Source::Marks, copy_of: None });
    }

    fn apply(&mut self, opcode: u8) {
        let (popped, pushed) = stack_effect(opcode);
        self.pop(usize::from(popped));
        self.push(usize::from(pushed));
    }

    fn pop(&mut self, count: usize) {
        self.stack.truncate(self.stack.len().saturating_sub(count));
    }

    fn push(&mut self, count: usize) {
        self.stack.extend(std::iter::repeat_n(Value::default(), count));
    }
}

fn is_marks(index: u16, pool: &ConstantPool<'_>) -> bool {
    pool.dynamic_name(index).is_some_and(|name| name == MARKS)
}
