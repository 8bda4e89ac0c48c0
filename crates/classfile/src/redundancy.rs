//! Accesses that need no report of their own.
//!
//! In a stretch of code that runs from its first instruction to its last and neither calls anything nor touches a monitor, a
//! thread keeps its locks, and no thread is started or joined. A second access to the same field of the same object in
//! such a stretch says nothing new, unless it is the first write. The object is known to be the same if it comes
//! from the same local variable, which has not been stored to.

/// The accesses reported in the current stretch; kept from method to method for its memory.
#[derive(Default)]
pub(crate) struct Reported {
    accesses: Vec<Access>,
}

struct Access {
    object: Object,
    /// The field, by its constant.
    field: u16,
    wrote: bool,
}

/// Whose field it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Object {
    /// The field is static.
    Class,
    /// The object in this local variable.
    Local(u16),
}

impl Reported {
    /// A new stretch begins.
    pub(crate) fn clear(&mut self) {
        self.accesses.clear();
    }

    /// The local variable is stored to.
    pub(crate) fn forget(&mut self, slot: u16) {
        self.accesses.retain(|access| access.object != Object::Local(slot));
    }

    /// Takes note of an access; says whether it must be reported.
    pub(crate) fn is_new(&mut self, object: Object, field: u16, wrote: bool) -> bool {
        let known = self.accesses.iter_mut().find(|access| access.object == object && access.field == field);
        match known {
            Some(access) if access.wrote || !wrote => false,
            Some(access) => {
                access.wrote = true;
                true
            }
            None => {
                self.accesses.push(Access { object, field, wrote });
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_access_and_the_first_write_are_new() {
        let mut reported = Reported::default();
        let this = Object::Local(0);
        assert!(reported.is_new(this, 7, false));
        assert!(!reported.is_new(this, 7, false));
        assert!(reported.is_new(this, 7, true));
        assert!(!reported.is_new(this, 7, true) && !reported.is_new(this, 7, false));
        assert!(reported.is_new(this, 8, true) && reported.is_new(Object::Local(1), 7, true));
        assert!(reported.is_new(Object::Class, 7, false));
        reported.forget(0);
        assert!(reported.is_new(this, 7, false) && !reported.is_new(Object::Local(1), 7, true));
        reported.clear();
        assert!(reported.is_new(Object::Local(1), 7, true));
    }
}
