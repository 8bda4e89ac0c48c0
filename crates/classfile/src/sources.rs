//! Finds the origin of references in one pass over a method.
//!
//! The pass follows references from fields and local variables over the operand stack, in code order and
//! ignoring jumps. At jump targets it forgets the stack. The result names arrays in reports and shows that two
//! references are the same; a reference that it cannot follow is unknown.

use crate::bytes::{u8_at, u16_at};
use crate::code::{Code, Instruction, Instructions, for_each_target};
use crate::constant_pool::ConstantPool;
use crate::descriptor::{parameters, result, slots};
use crate::opcodes::{
    AALOAD, ALOAD, ALOAD_0, ALOAD_3, ASTORE, ASTORE_3, CHECKCAST, DUP, DUP_X1, DUP_X2, DUP2, DUP2_X1,
    DUP2_X2, GETFIELD, GETSTATIC, INVOKEDYNAMIC, INVOKESTATIC, INVOKEVIRTUAL, ISTORE, ISTORE_0, LDC, LDC_W,
    MULTIANEWARRAY, PUTFIELD, PUTSTATIC, SWAP, WIDE, is_unconditional,
};

/// The origin of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Unknown,
    /// A field, by its constant.
    Field(u16),
    /// A local variable, by its slot.
    Local(u16),
    /// The probe array of a coverage tool.
    Marks,
}

/// One slot of the stack.
#[derive(Debug, Clone, Copy)]
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

const UNKNOWN: Value = Value { source: Source::Unknown, copy_of: None };

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
            for_each_target(code.bytes, *instruction, |target| {
                if let Ok(pc) = usize::try_from(target) {
                    mark(pc);
                }
            });
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

    /// Must be called after each instruction; returns the local variable that it stored to.
    pub(crate) fn step(
        &mut self,
        code: &[u8],
        instruction: Instruction,
        pool: &ConstantPool<'_>,
    ) -> Option<u16> {
        let pc = instruction.pc;
        match instruction.opcode {
            ALOAD => self.load(u16::from(u8_at(code, pc + 1))),
            opcode @ ALOAD_0..=ALOAD_3 => self.load(u16::from(opcode - ALOAD_0)),
            // The element of an array of arrays inherits the source of the array.
            AALOAD => {
                self.pop(1);
                if let Some(value) = self.stack.last_mut() {
                    value.copy_of = None;
                }
            }
            CHECKCAST => {}
            LDC if is_marks(u16::from(u8_at(code, pc + 1)), pool) => self.push_marks(),
            LDC_W if is_marks(u16_at(code, pc + 1), pool) => self.push_marks(),
            opcode @ ISTORE..=ASTORE => return self.store(opcode, u16::from(u8_at(code, pc + 1))),
            opcode @ ISTORE_0..=ASTORE_3 => {
                let plain = ISTORE + (opcode - ISTORE_0) / 4;
                return self.store(plain, u16::from((opcode - ISTORE_0) % 4));
            }
            WIDE => match u8_at(code, pc + 1) {
                ALOAD => self.load(u16_at(code, pc + 2)),
                opcode @ ISTORE..=ASTORE => return self.store(opcode, u16_at(code, pc + 2)),
                opcode => self.apply(opcode),
            },
            DUP => self.duplicate(1, 0),
            DUP_X1 => self.duplicate(1, 1),
            DUP_X2 => self.duplicate(1, 2),
            DUP2 => self.duplicate(2, 0),
            DUP2_X1 => self.duplicate(2, 1),
            DUP2_X2 => self.duplicate(2, 2),
            SWAP => {
                self.reserve(2);
                let length = self.stack.len();
                self.stack.swap(length - 1, length - 2);
            }
            opcode @ GETSTATIC..=PUTFIELD => self.field(opcode, u16_at(code, pc + 1), pool),
            opcode @ INVOKEVIRTUAL..=INVOKEDYNAMIC => self.call(opcode, u16_at(code, pc + 1), pool),
            MULTIANEWARRAY => {
                self.pop(usize::from(u8_at(code, pc + 3)));
                self.push(1);
            }
            opcode if is_unconditional(opcode) => self.stack.clear(),
            opcode => self.apply(opcode),
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

    fn field(&mut self, opcode: u8, index: u16, pool: &ConstantPool<'_>) {
        let Ok(field) = pool.field(index) else { return self.stack.clear() };
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
                        self.stack.push(Value { source: Source::Field(index), copy_of: None })
                    }
                    _ => self.push(size),
                }
            }
        }
    }

    fn call(&mut self, opcode: u8, index: u16, pool: &ConstantPool<'_>) {
        let Ok(descriptor) = pool.call_descriptor(index) else { return self.stack.clear() };
        let receiver = usize::from(!matches!(opcode, INVOKESTATIC | INVOKEDYNAMIC));
        let arguments: usize = parameters(descriptor).map(slots).sum();
        self.pop(receiver + arguments);
        if opcode == INVOKESTATIC && pool.method(index).is_ok_and(|called| called.name == MARKS_METHOD) {
            self.push_marks();
        } else {
            self.push(slots(result(descriptor)));
        }
    }

    fn push_marks(&mut self) {
        self.stack.push(Value { source: Source::Marks, copy_of: None });
    }

    /// Copies the topmost `count` slots to below the `under` slots that follow them.
    fn duplicate(&mut self, count: usize, under: usize) {
        self.reserve(count + under);
        let top = self.stack.len() - count;
        for offset in 0..count {
            if let Some(&value) = self.stack.get(top + 2 * offset) {
                self.stack.insert(top - under + offset, value);
            }
        }
    }

    fn apply(&mut self, opcode: u8) {
        let (popped, pushed) = stack_effect(opcode);
        self.pop(popped);
        self.push(pushed);
    }

    fn pop(&mut self, count: usize) {
        self.stack.truncate(self.stack.len().saturating_sub(count));
    }

    fn push(&mut self, count: usize) {
        for _ in 0..count {
            self.stack.push(UNKNOWN);
        }
    }

    /// Extends the known part of the stack to at least `count` slots.
    fn reserve(&mut self, count: usize) {
        while self.stack.len() < count {
            self.stack.insert(0, UNKNOWN);
        }
    }
}

fn is_marks(index: u16, pool: &ConstantPool<'_>) -> bool {
    pool.dynamic_name(index).is_some_and(|name| name == MARKS)
}

/// How many slots an instruction pops and then pushes, for opcodes with a fixed effect.
fn stack_effect(opcode: u8) -> (usize, usize) {
    match opcode {
        1..=8 | 11..=13 | 16..=19 | 21 | 23 | 25 | 26..=29 | 34..=37 | 42..=45 | 168 | 187 | 201 => (0, 1),
        9 | 10 | 14 | 15 | 20 | 22 | 24 | 30..=33 | 38..=41 => (0, 2),
        47 | 49 => (2, 2),
        46 | 48 | 50..=53 => (2, 1),
        54 | 56 | 58 | 87 | 153..=158 | 170 | 171 | 194 | 195 | 198 | 199 => (1, 0),
        55 | 57 | 88 | 159..=166 => (2, 0),
        79 | 81 | 83..=86 => (3, 0),
        80 | 82 => (4, 0),
        96 | 98 | 100 | 102 | 104 | 106 | 108 | 110 | 112 | 114 | 120 | 122 | 124 | 126 | 128 | 130 => (2, 1),
        97 | 99 | 101 | 103 | 105 | 107 | 109 | 111 | 113 | 115 | 127 | 129 | 131 => (4, 2),
        121 | 123 | 125 => (3, 2),
        116 | 118 | 134 | 139 | 145..=147 | 188..=190 | 193 => (1, 1),
        117 | 119 | 138 | 143 => (2, 2),
        133 | 135 | 140 | 141 => (1, 2),
        136 | 137 | 142 | 144 | 149 | 150 => (2, 1),
        148 | 151 | 152 => (4, 1),
        _ => (0, 0),
    }
}
