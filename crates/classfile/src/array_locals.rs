//! Local variables that remember the array that a loop used last, and the shadow words of its elements.
//!
//! The shadow words of an array are found by a lookup in a table. A loop mostly accesses the same few arrays again and again, so
//! that inserted code keeps the result of the lookup in two additional local variables: the array, and its words. The hook compares the
//! array with the remembered one, and returns the words to remember. The JIT compiler moves that comparison out of the loop.
//!
//! Accesses share their variables if their arrays come from the same local variable or field. The additional variables are set at the
//! entry of the method, so that every stack map frame of the method has them.

use crate::code::{Code, Instructions};
use crate::constant_pool::ConstantPool;
use crate::instruction::Instruction;
use crate::opcodes::{DASTORE, IALOAD, IASTORE, LASTORE, SALOAD, SASTORE};
use crate::sources::{Source, Sources};

/// How many arrays a method remembers at most.
const MOST: usize = 8;

/// The origin of an array: its source, and the local variable that holds it.
type Origin = (Source, Option<u16>);

/// The arrays that the loops of a method use; reused from method to method to save allocations.
#[derive(Default)]
pub(crate) struct ArrayLocals {
    origins: Vec<Origin>,
    /// First and last instruction of each loop, as offsets.
    loops: Vec<(usize, usize)>,
}

impl ArrayLocals {
    /// Remembers nothing.
    pub(crate) fn clear(&mut self) {
        self.origins.clear();
        self.loops.clear();
    }

    /// Finds the arrays that the loops of a method use. A loop is the code between a jump and its target further up.
    pub(crate) fn find(
        &mut self,
        code: &Code<'_>,
        instructions: &Instructions,
        pool: &ConstantPool<'_>,
        sources: &mut Sources,
    ) {
        self.clear();
        for instruction in &instructions.list {
            let targets = instruction.targets(code.bytes).filter_map(|target| usize::try_from(target).ok());
            let back = targets.filter(|target| *target <= instruction.pc);
            self.loops.extend(back.map(|target| (target, instruction.pc)));
        }
        if self.loops.is_empty() {
            return;
        }
        sources.begin(code, instructions);
        for &instruction in &instructions.list {
            sources.arrive(instruction.pc);
            if self.is_in_loop(instruction.pc)
                && let Some(origin) = origin(instruction, sources)
                && !self.origins.contains(&origin)
                && self.origins.len() < MOST
            {
                self.origins.push(origin);
            }
            sources.step(instruction, pool);
        }
    }

    /// How many local variables there are, two for each array.
    pub(crate) fn count(&self) -> u16 {
        self.origins.len() as u16 * 2
    }

    /// The first of the two variables, counted from the first additional one, for the array that an instruction accesses.
    pub(crate) fn slot(&self, instruction: Instruction, sources: &Sources) -> Option<u16> {
        let origin = origin(instruction, sources).filter(|_| self.is_in_loop(instruction.pc))?;
        let at = self.origins.iter().position(|known| *known == origin)?;
        Some(at as u16 * 2)
    }

    fn is_in_loop(&self, pc: usize) -> bool {
        self.loops.iter().any(|(first, last)| (*first..=*last).contains(&pc))
    }
}

/// How many slots above its array an instruction finds on the stack: the index, and the value that it stores.
pub(crate) fn slots_above_array(opcode: u8) -> Option<usize> {
    match opcode {
        LASTORE | DASTORE => Some(3),
        IASTORE..=SASTORE => Some(2),
        IALOAD..=SALOAD => Some(1),
        _ => None,
    }
}

fn origin(instruction: Instruction, sources: &Sources) -> Option<Origin> {
    let depth = slots_above_array(instruction.opcode)?;
    let origin = (sources.below(depth), sources.copy_below(depth));
    // Arrays of unknown origin differ too often.
    (!matches!(origin, (Source::Unknown | Source::Marks, None))).then_some(origin)
}
