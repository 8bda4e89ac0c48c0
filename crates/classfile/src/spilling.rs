//! Spilling: inserted code stores values of the operand stack in additional local variables, because stack instructions cannot copy more
//! than two of them, and loads them again.

use crate::descriptor::slots;
use crate::edits::Edits;
use crate::error::MethodError;
use crate::opcodes::{ACONST_NULL, ASTORE, ILOAD, ISTORE};

/// The distance of `astore` from `istore`, and of `aload` from `iload`.
const REFERENCE: u8 = ASTORE - ISTORE;

/// Values of the operand stack that have additional local variables, the deepest value first.
#[derive(Default)]
pub(crate) struct Spilled {
    /// For each value, the distance of its loads and stores from those of an `int`, and its variable.
    values: Vec<(u8, u16)>,
    /// How many slots of additional variables are in use, with those that the caller reserved.
    locals: u16,
}

impl Spilled {
    /// Assigns variables to values with these descriptors. The method's own variables end before `max_locals`, and the caller uses the
    /// `reserved` slots from there on.
    pub(crate) fn new<'d>(
        max_locals: u16,
        reserved: u16,
        descriptors: impl IntoIterator<Item = &'d [u8]>,
    ) -> Result<Self, MethodError> {
        let mut next = max_locals.checked_add(reserved).ok_or(MethodError::TooManyLocals)?;
        let mut values = Vec::new();
        for descriptor in descriptors {
            let kind = match descriptor.first() {
                Some(b'J') => 1,
                Some(b'F') => 2,
                Some(b'D') => 3,
                Some(b'L' | b'[') => REFERENCE,
                _ => 0,
            };
            values.push((kind, next));
            next = next.checked_add(slots(descriptor) as u16).ok_or(MethodError::TooManyLocals)?;
        }
        Ok(Self { values, locals: next - max_locals })
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Takes the values from the stack.
    pub(crate) fn store(&self, edits: &mut Edits) {
        edits.extra_locals = edits.extra_locals.max(self.locals);
        self.values.iter().rev().for_each(|&(kind, slot)| edits.local(ISTORE + kind, slot));
    }

    /// Pushes the values as they were.
    pub(crate) fn load(&self, edits: &mut Edits) {
        self.load_first(self.len(), edits);
    }

    /// Pushes the deepest values.
    pub(crate) fn load_first(&self, count: usize, edits: &mut Edits) {
        self.values.iter().take(count).for_each(|&(kind, slot)| edits.local(ILOAD + kind, slot));
    }

    /// The variables that hold references.
    pub(crate) fn references(&self) -> impl Iterator<Item = u16> {
        self.values.iter().filter(|(kind, _)| *kind == REFERENCE).map(|(_, slot)| *slot)
    }

    /// Sets the variables of references to null, because they would keep objects alive.
    pub(crate) fn clear_references(&self, edits: &mut Edits) {
        self.references().for_each(|slot| clear(slot, edits));
    }
}

/// Sets a variable to null.
pub(crate) fn clear(slot: u16, edits: &mut Edits) {
    edits.code(1, &[ACONST_NULL]);
    edits.local(ASTORE, slot);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(max_locals: u16, reserved: u16, descriptors: &[&str], expected: Option<(&[(u8, u16)], u16)>) {
        let descriptors = descriptors.iter().map(|descriptor| descriptor.as_bytes());
        let spilled = Spilled::new(max_locals, reserved, descriptors).ok();
        let found = spilled.as_ref().map(|spilled| (spilled.values.as_slice(), spilled.locals));
        assert_eq!(found, expected);
    }

    #[test]
    fn every_value_has_the_slots_of_its_type() {
        check(3, 0, &[], Some((&[], 0)));
        check(3, 1, &["I", "J", "Z", "D", "F"], Some((&[(0, 4), (1, 5), (0, 7), (3, 8), (2, 10)], 8)));
        check(0, 2, &["[J", "LA;"], Some((&[(REFERENCE, 2), (REFERENCE, 3)], 4)));
        check(u16::MAX, 1, &[], None);
        check(u16::MAX - 1, 0, &["J"], None);
    }
}
