//! Computes the new positions of a method's instructions when code is inserted, and writes the new code.
//!
//! A jump leads to the start of the code inserted before its target. An unconditional jump that gets too long
//! takes its wide form. A conditional jump has no wide form: it jumps to a stub, a wide jump that is placed behind an
//! unconditional instruction within reach, where control does not fall through. A stub's stack map frame is that of the
//! final target.

use crate::bytes::{put_u16, put_u32};
use crate::code::{Code, Instructions};
use crate::edits::Edits;
use crate::error::MethodError;
use crate::instruction::{Instruction, Operand, Switch, switch_operands};
use crate::opcodes::{GOTO, GOTO_W, JSR, JSR_W};

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
            self.assign_positions(instructions, edits);
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
            let jump = Jump { layout: self, instructions, own: self.own(index) };
            match (instruction.operand, instruction.switch(code)) {
                (Operand::Target(target), _) => self.write_jump(&jump, *instruction, target, index, out)?,
                (_, Some(switch)) => write_switch(&jump, instruction.opcode, &switch, origin, out)?,
                _ => {
                    let own = instruction.bytes(code);
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

    fn assign_positions(&mut self, instructions: &Instructions, edits: &Edits) {
        self.positions.clear();
        let mut edits_left = edits.list.iter().peekable();
        let mut stubs_left = self.stubs.iter_mut().peekable();
        let mut position = edits.prologue().len();
        for (index, instruction) in instructions.list.iter().enumerate() {
            let edit = edits_left.next_if(|edit| edit.instruction == index);
            let start = position;
            let own = start + edit.map_or(0, |edit| edit.length_before());
            let after = edit.map_or(0, |edit| edit.length_after());
            let (pc, end) = (instruction.pc, instruction.end());
            let length = match instruction.operand {
                Operand::Switch => end - switch_operands(pc) + switch_operands(own) - own,
                _ if self.wide.get(index) == Some(&true) => WIDE_JUMP_LENGTH,
                _ => end - pc,
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
            let Operand::Target(target) = instruction.operand else { continue };
            if instruction.is_wide || self.wide.get(index) == Some(&true) {
                continue;
            }
            let own = self.own(index);
            let target = Jump { layout: self, instructions, own }.target(target)?;
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
                !instruction.falls_through()
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
        instruction: Instruction,
        target: i32,
        index: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), MethodError> {
        let opcode = instruction.opcode;
        if instruction.is_wide || self.wide.get(index) == Some(&true) {
            out.push(if opcode == JSR { JSR_W } else { GOTO_W });
            put_u32(out, jump.distance(target)?.cast_unsigned());
            return Ok(());
        }
        let target = jump.target(target)?;
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
    own: usize,
}

impl Jump<'_> {
    /// The index of the instruction at an offset of the original code.
    fn target(&self, offset: i32) -> Result<usize, MethodError> {
        usize::try_from(offset)
            .ok()
            .and_then(|pc| self.instructions.index(pc))
            .filter(|index| *index < self.instructions.list.len())
            .ok_or(MethodError::Malformed("target of a jump"))
    }

    /// The distance to the instruction at an offset of the original code.
    fn distance(&self, offset: i32) -> Result<i32, MethodError> {
        distance(self.own, self.layout.start(self.target(offset)?))
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
    opcode: u8,
    switch: &Switch<'_>,
    origin: usize,
    out: &mut Vec<u8>,
) -> Result<(), MethodError> {
    out.push(opcode);
    while !(out.len() - origin).is_multiple_of(4) {
        out.push(0);
    }
    let put = |out: &mut Vec<u8>, value: i32| put_u32(out, value.cast_unsigned());
    put(out, jump.distance(switch.default())?);
    // A method has fewer cases than bytes.
    let count = switch.count() as i32;
    match switch.low() {
        Some(low) => [low, low.wrapping_add(count - 1)].iter().for_each(|bound| put(out, *bound)),
        None => put(out, count),
    }
    for (case, target) in switch.cases() {
        if switch.low().is_none() {
            put(out, case);
        }
        put(out, jump.distance(target)?);
    }
    Ok(())
}
