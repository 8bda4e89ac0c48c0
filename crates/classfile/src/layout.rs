//! Computes the new positions of a method's instructions when code is inserted, and writes the new code.
//!
//! A jump leads to the start of the code inserted before its target. An unconditional jump that gets too long
//! takes its wide form. A conditional jump has no wide form: it jumps to a stub, a wide jump that is placed behind an
//! unconditional instruction within reach, where control does not fall through. A stub's stack map frame is that of the
//! final target.

use crate::bytes::{i32_at, put_u16, put_u32, u16_at};
use crate::code::{Code, Instruction, Instructions};
use crate::edits::Edits;
use crate::error::MethodError;
use crate::opcodes::{
    GOTO, GOTO_W, JSR, JSR_W, LOOKUPSWITCH, TABLESWITCH, is_short_jump, is_unconditional, switch_operands,
};

/// The distance that a jump with a two-byte offset certainly covers, with a margin because later stubs still move code.
const REACH: i64 = 30_000;
const WIDE_JUMP_LENGTH: usize = 5;
/// A method that needs more stubs than this is left unchanged; real methods do not.
const MOST_STUBS: usize = 64;

/// New positions of a method's instructions; reused from method to method to save allocations.
#[derive(Default)]
pub(crate) struct Layout {
    /// One for each instruction, and one for the end of the code.
    positions: Vec<Position>,
    /// The jumps that take their wide form.
    wide: Vec<bool>,
    /// In the order of their positions.
    stubs: Vec<Stub>,
}

/// A wide jump on behalf of conditional ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stub {
    /// The index of the instruction behind which it is placed.
    island: usize,
    /// The index of the instruction to which it jumps.
    target: usize,
    pub(crate) position: usize,
}

#[derive(Debug, Clone, Copy)]
struct Position {
    /// The start of the code inserted before the instruction.
    start: usize,
    /// The start of the instruction itself.
    own: usize,
    /// The length of the code inserted behind the instruction.
    after: usize,
}

impl Layout {
    /// Computes all positions.
    pub(crate) fn compute(
        &mut self,
        code: &Code<'_>,
        instructions: &Instructions,
        edits: &Edits,
    ) -> Result<(), MethodError> {
        self.wide.clear();
        self.wide.resize(instructions.list.len(), false);
        self.stubs.clear();
        loop {
            self.assign_positions(code.bytes, instructions, edits);
            if self.end() > usize::from(u16::MAX) {
                return Err(MethodError::CodeTooLong);
            }
            if self.end() <= i16::MAX as usize || !self.widen(code, instructions)? {
                return Ok(());
            }
        }
    }

    /// The length of the new code.
    pub(crate) fn end(&self) -> usize {
        self.positions.last().map_or(0, |position| position.start)
    }

    /// The stubs, in the order of their positions.
    pub(crate) fn stubs(&self) -> &[Stub] {
        &self.stubs
    }

    /// The start of the code inserted before instruction `index`.
    pub(crate) fn start(&self, index: usize) -> usize {
        self.positions.get(index).map_or(0, |position| position.start)
    }

    /// The start of instruction `index` itself.
    pub(crate) fn own(&self, index: usize) -> usize {
        self.positions.get(index).map_or(0, |position| position.own)
    }

    /// The start of an exception range that begins with instruction `index`: it includes the code inserted behind the
    /// previous instruction, so that the hook call behind a `monitorenter` is covered like the block itself.
    pub(crate) fn range_start(&self, index: usize) -> usize {
        let previous = index.checked_sub(1).and_then(|before| self.positions.get(before));
        let after = previous.map_or(0, |position| position.after);
        self.start(index) - after
    }

    /// Writes the new code.
    pub(crate) fn write(
        &self,
        code: &[u8],
        instructions: &Instructions,
        edits: &Edits,
        out: &mut Vec<u8>,
    ) -> Result<(), MethodError> {
        let origin = out.len();
        out.extend_from_slice(edits.prologue());
        let mut edits_left = edits.list.iter().peekable();
        let mut stubs_left = self.stubs.iter().peekable();
        for (index, instruction) in instructions.list.iter().enumerate() {
            let edit = edits_left.next_if(|edit| edit.instruction == index);
            if let Some(edit) = edit {
                out.extend_from_slice(edits.before(edit));
            }
            let next = instructions.list.get(index + 1).map_or(code.len(), |next| next.pc);
            let jump = Jump { layout: self, instructions, instruction: *instruction, own: self.own(index) };
            match instruction.opcode {
                opcode if is_short_jump(opcode) => self.write_jump(&jump, code, index, out)?,
                opcode @ (GOTO_W | JSR_W) => {
                    out.push(opcode);
                    put_u32(out, jump.distance(i32_at(code, instruction.pc + 1))?.cast_unsigned());
                }
                TABLESWITCH | LOOKUPSWITCH => write_switch(&jump, code, next, origin, out)?,
                _ => {
                    let own = code.get(instruction.pc..next).unwrap_or_default();
                    out.extend_from_slice(edit.and_then(|edit| edit.replacement()).unwrap_or(own));
                }
            }
            if let Some(edit) = edit {
                out.extend_from_slice(edits.after(edit));
            }
            while let Some(stub) = stubs_left.next_if(|stub| stub.island == index) {
                out.push(GOTO_W);
                put_u32(out, distance(stub.position, self.start(stub.target))?.cast_unsigned());
            }
        }
        Ok(())
    }

    fn assign_positions(&mut self, code: &[u8], instructions: &Instructions, edits: &Edits) {
        self.positions.clear();
        let mut edits_left = edits.list.iter().peekable();
        let mut stubs_left = self.stubs.iter_mut().peekable();
        let mut position = edits.prologue().len();
        for (index, instruction) in instructions.list.iter().enumerate() {
            let edit = edits_left.next_if(|edit| edit.instruction == index);
            let start = position;
            let own = start + edit.map_or(0, |edit| edit.length_before());
            let after = edit.map_or(0, |edit| edit.length_after());
            let pc = instruction.pc;
            let next = instructions.list.get(index + 1).map_or(code.len(), |next| next.pc);
            let length = match instruction.opcode {
                TABLESWITCH | LOOKUPSWITCH => next - switch_operands(pc) + switch_operands(own) - own,
                GOTO | JSR if self.wide.get(index) == Some(&true) => WIDE_JUMP_LENGTH,
                _ => next - pc,
            };
            self.positions.push(Position { start, own, after });
            position = own + length + after;
            while let Some(stub) = stubs_left.next_if(|stub| stub.island == index) {
                stub.position = position;
                position += WIDE_JUMP_LENGTH;
            }
        }
        self.positions.push(Position { start: position, own: position, after: 0 });
    }

    /// Widens jumps that have become too long. Returns whether the positions must be computed again.
    fn widen(&mut self, code: &Code<'_>, instructions: &Instructions) -> Result<bool, MethodError> {
        let mut changed = false;
        for (index, instruction) in instructions.list.iter().enumerate() {
            let pc = instruction.pc;
            if !is_short_jump(instruction.opcode) || self.wide.get(index) == Some(&true) {
                continue;
            }
            let jump = Jump { layout: self, instructions, instruction: *instruction, own: self.own(index) };
            let target = jump.target(i32::from(u16_at(code.bytes, pc + 1).cast_signed()))?;
            let own = jump.own;
            if short_distance(own, self.start(target)).is_some() {
                continue;
            }
            if matches!(instruction.opcode, GOTO | JSR) {
                if let Some(wide) = self.wide.get_mut(index) {
                    *wide = true;
                }
                changed = true;
            } else if self.stub_for(own, target).is_none() {
                if self.stubs.len() == MOST_STUBS {
                    return Err(MethodError::JumpTooFar);
                }
                let island = self.island(own, code, instructions).ok_or(MethodError::JumpTooFar)?;
                let at = self.stubs.partition_point(|stub| stub.island <= island);
                let position = self.start(island + 1);
                self.stubs.insert(at, Stub { island, target, position });
                changed = true;
            }
        }
        Ok(changed)
    }

    fn stub_for(&self, own: usize, target: usize) -> Option<&Stub> {
        self.stubs.iter().find(|stub| stub.target == target && short_distance(own, stub.position).is_some())
    }

    /// An instruction near `own` behind which a stub may be placed: control does not fall through, and no exception range
    /// covers it, because the range's handler would have to accept the target's frame.
    fn island(&self, own: usize, code: &Code<'_>, instructions: &Instructions) -> Option<usize> {
        let numbered = instructions.list.windows(2).enumerate();
        let mut candidates = numbered.filter(|(index, pair)| match pair {
            [instruction, next] => {
                is_unconditional(instruction.opcode)
                    && (self.start(index + 1) as i64 - own as i64).abs() < REACH
                    && !code
                        .exception_entries()
                        .any(|[start, end, _, _]| usize::from(start) < next.pc && next.pc <= usize::from(end))
            }
            _ => false,
        });
        candidates.next().map(|(index, _)| index)
    }

    fn write_jump(
        &self,
        jump: &Jump<'_>,
        code: &[u8],
        index: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), MethodError> {
        let opcode = jump.instruction.opcode;
        let old_distance = i32::from(u16_at(code, jump.instruction.pc + 1).cast_signed());
        if self.wide.get(index) == Some(&true) {
            out.push(if opcode == JSR { JSR_W } else { GOTO_W });
            put_u32(out, jump.distance(old_distance)?.cast_unsigned());
            return Ok(());
        }
        let target = jump.target(old_distance)?;
        let distance = short_distance(jump.own, self.start(target))
            .or_else(|| {
                self.stub_for(jump.own, target).and_then(|stub| short_distance(jump.own, stub.position))
            })
            .ok_or(MethodError::JumpTooFar)?;
        out.push(opcode);
        put_u16(out, distance.cast_unsigned());
        Ok(())
    }
}

impl Stub {
    /// The index of the instruction to which it jumps.
    pub(crate) fn target(&self) -> usize {
        self.target
    }
}

/// A jump or switch at its new position.
struct Jump<'a> {
    layout: &'a Layout,
    instructions: &'a Instructions,
    instruction: Instruction,
    own: usize,
}

impl Jump<'_> {
    /// The index of the instruction that is `distance` away in the original code.
    fn target(&self, distance: i32) -> Result<usize, MethodError> {
        usize::try_from(self.instruction.pc as i64 + i64::from(distance))
            .ok()
            .and_then(|pc| self.instructions.index(pc))
            .filter(|index| *index < self.instructions.list.len())
            .ok_or(MethodError::Malformed("target of a jump"))
    }

    /// The new distance for a distance in the original code.
    fn distance(&self, old: i32) -> Result<i32, MethodError> {
        distance(self.own, self.layout.start(self.target(old)?))
    }
}

fn distance(from: usize, to: usize) -> Result<i32, MethodError> {
    i32::try_from(to as i64 - from as i64).map_err(|_| MethodError::JumpTooFar)
}

fn short_distance(from: usize, to: usize) -> Option<i16> {
    i16::try_from(to as i64 - from as i64).ok()
}

fn write_switch(
    jump: &Jump<'_>,
    code: &[u8],
    next: usize,
    origin: usize,
    out: &mut Vec<u8>,
) -> Result<(), MethodError> {
    let is_table = jump.instruction.opcode == TABLESWITCH;
    out.push(jump.instruction.opcode);
    while !(out.len() - origin).is_multiple_of(4) {
        out.push(0);
    }
    let operands = switch_operands(jump.instruction.pc);
    let put_target = |out: &mut Vec<u8>, at: usize| {
        put_u32(out, jump.distance(i32_at(code, at))?.cast_unsigned());
        Ok::<(), MethodError>(())
    };
    put_target(out, operands)?;
    let fixed = if is_table { operands + 4..operands + 12 } else { operands + 4..operands + 8 };
    let cases = fixed.end;
    out.extend_from_slice(code.get(fixed).unwrap_or_default());
    if is_table {
        for at in (cases..next).step_by(4) {
            put_target(out, at)?;
        }
    } else {
        for at in (cases..next).step_by(8) {
            out.extend_from_slice(code.get(at..at + 4).unwrap_or_default());
            put_target(out, at + 4)?;
        }
    }
    Ok(())
}
