//! Eliminates the reports of redundant accesses.
//!
//! In a stretch of code with a single entry and without calls and monitor instructions, a thread keeps its locks and starts or joins
//! no thread. A second access to the same field of the same object in such a stretch is redundant, unless it is the first
//! write. The object is known to be the same if it comes from the same local variable, which has not been stored to.
//!
//! A read is redundant, too, if a write of the same field is certain to follow, as in `count++`: every access that races with the read
//! races with the write.
//!
//! A client that counts accesses instead of finding races learns which reported access stands for another one that always happens
//! with it.

use crate::instruction::Instruction;
use crate::opcodes::{ALOAD, ASTORE, DCMPG, IDIV, IREM, ISTORE, LDC, LDIV, LREM, NOP, POP};

/// The accesses reported in the current stretch; reused from method to method to save allocations.
#[derive(Default)]
pub(crate) struct Reported {
    accesses: Vec<Access>,
}

struct Access {
    object: Object,
    /// The field, by its constant.
    field: u16,
    wrote: bool,
    /// The instruction that was reported last, and its site.
    reported: (usize, u32),
    /// Whether every instruction since then was certain to complete, so that the current instruction certainly follows.
    is_bound: bool,
}

/// The owner of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Object {
    /// The field is static.
    Class,
    /// The object in this local variable.
    Local(u16),
}

/// The decision about an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is redundant.
    Known,
    /// It is redundant, and is certain to follow the access that was reported with this site.
    Follows(u32),
    /// It must be reported.
    New,
    /// It must be reported, and makes the report of the earlier read at this instruction, with this site, redundant.
    Replaces(usize, u32),
}

impl Reported {
    /// Begins a new stretch.
    pub(crate) fn clear(&mut self) {
        self.accesses.clear();
    }

    /// Forgets the accesses through a local variable that is stored to.
    pub(crate) fn forget(&mut self, slot: u16) {
        self.accesses.retain(|access| access.object != Object::Local(slot));
    }

    /// Notes that control may leave the stretch here, by an exception or a jump.
    pub(crate) fn may_end(&mut self) {
        for access in &mut self.accesses {
            access.is_bound = false;
        }
    }

    /// Whether a field of this object was accessed in the stretch, so that it cannot be null.
    pub(crate) fn knows(&self, object: Object) -> bool {
        self.accesses.iter().any(|access| access.object == object)
    }

    /// Notes an access. The caller sets the site of one that must be reported by [`Reported::number`].
    pub(crate) fn access(&mut self, object: Object, field: u16, wrote: bool, instruction: usize) -> Verdict {
        let known = self.accesses.iter_mut().find(|access| access.object == object && access.field == field);
        match known {
            Some(access) if access.wrote || !wrote => {
                if access.is_bound {
                    Verdict::Follows(access.reported.1)
                } else {
                    Verdict::Known
                }
            }
            Some(access) => {
                let (read, site) = std::mem::replace(&mut access.reported, (instruction, 0));
                let was_bound = std::mem::replace(&mut access.is_bound, true);
                access.wrote = true;
                if was_bound { Verdict::Replaces(read, site) } else { Verdict::New }
            }
            None => {
                self.accesses.push(Access {
                    object,
                    field,
                    wrote,
                    reported: (instruction, 0),
                    is_bound: true,
                });
                Verdict::New
            }
        }
    }

    /// Sets the site of the access that was noted for this instruction.
    pub(crate) fn number(&mut self, instruction: usize, site: u32) {
        if let Some(access) = self.accesses.iter_mut().find(|access| access.reported.0 == instruction) {
            access.reported.1 = site;
        }
    }
}

/// Whether control always continues at the next instruction. Field accesses are judged by their object, not here.
pub(crate) fn always_completes(instruction: Instruction) -> bool {
    match instruction.opcode {
        // Not judged, because they are rare.
        _ if instruction.is_wide => false,
        // `ldc` may fail to load a class; integer division may throw.
        LDC | IDIV | LDIV | IREM | LREM => false,
        // Constants, loads, stores, the stack, arithmetic, conversions and comparisons.
        NOP..=ALOAD | ISTORE..=ASTORE | POP..=DCMPG => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_access_and_the_first_write_are_new() {
        let mut reported = Reported::default();
        let this = Object::Local(0);
        assert_eq!(reported.access(this, 7, false, 1), Verdict::New);
        reported.number(1, 101);
        assert_eq!(reported.access(this, 7, false, 2), Verdict::Follows(101));
        assert_eq!(reported.access(this, 7, true, 3), Verdict::Replaces(1, 101));
        reported.number(3, 103);
        assert_eq!(reported.access(this, 7, true, 4), Verdict::Follows(103));
        assert_eq!(reported.access(this, 7, false, 5), Verdict::Follows(103));
        assert_eq!(reported.access(this, 8, true, 6), Verdict::New);
        assert_eq!(reported.access(Object::Local(1), 7, false, 7), Verdict::New);
        assert_eq!(reported.access(Object::Class, 7, false, 8), Verdict::New);
        assert!(reported.knows(this) && !reported.knows(Object::Local(2)));
        reported.may_end();
        assert_eq!(reported.access(this, 8, true, 6), Verdict::Known);
        assert_eq!(reported.access(Object::Local(1), 7, true, 9), Verdict::New);
        reported.forget(0);
        assert_eq!(reported.access(this, 7, false, 10), Verdict::New);
        reported.may_end();
        assert_eq!(reported.access(Object::Local(1), 7, true, 11), Verdict::Known);
        reported.clear();
        assert_eq!(reported.access(Object::Local(1), 7, true, 12), Verdict::New);
    }

    #[test]
    fn divisions_class_constants_and_jumps_may_not_complete() {
        let completes =
            |opcode| always_completes(Instruction::decode(&[opcode, 0, 0, 0, 0], 0).expect("an instruction"));
        for opcode in [18, 19, 108, 109, 112, 113, 46, 79, 153, 167, 177, 182, 190, 191, 194] {
            assert!(!completes(opcode), "{opcode}");
        }
        for opcode in [0, 3, 17, 20, 21, 42, 54, 78, 87, 95, 96, 104, 110, 111, 114, 116, 130, 132, 133, 152]
        {
            assert!(completes(opcode), "{opcode}");
        }
    }
}
