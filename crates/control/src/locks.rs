//! The names of locks in reports: `com.acme.Account@3`, or a name that stands for one lock only.

use fissure_model::ids::LockId;
use rustc_hash::FxHashMap;

/// The names of locks, by number.
#[derive(Debug)]
pub(crate) struct LockNames {
    locks: Vec<LockName>,
    /// The number of locks with each name that have a number.
    named: FxHashMap<String, u32>,
}

#[derive(Debug, Default)]
struct LockName {
    name: String,
    /// Whether no other lock has the name.
    is_unique: bool,
    /// Assigned when the program first uses the lock, so that it does not depend on what the platform's own threads do.
    number: Option<u32>,
}

impl Default for LockNames {
    fn default() -> Self {
        // Lock 0 stands for no lock.
        Self { locks: vec![LockName::default()], named: FxHashMap::default() }
    }
}

impl LockNames {
    /// Adds a lock.
    pub(crate) fn add(&mut self, name: String, is_unique: bool) -> LockId {
        self.locks.push(LockName { name, is_unique, number: None });
        LockId(self.locks.len() as u32 - 1)
    }

    /// Gives a lock a number that distinguishes it from others with the same name.
    #[inline]
    pub(crate) fn note_use(&mut self, lock: LockId) {
        if self.locks.get(lock.0 as usize).is_some_and(|lock| lock.number.is_none()) {
            self.number(lock);
        }
    }

    #[cold]
    fn number(&mut self, lock: LockId) {
        let lock = &mut self.locks[lock.0 as usize];
        let count = self.named.entry(lock.name.clone()).or_default();
        *count += 1;
        lock.number = Some(*count);
    }

    /// The name of a lock in reports.
    pub(crate) fn name(&self, lock: LockId) -> Option<String> {
        let lock = self.locks.get(lock.0 as usize)?;
        Some(match lock.number {
            Some(number) if !lock.is_unique => format!("{}@{number}", lock.name),
            _ => lock.name.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_numbered_in_the_order_of_their_first_use() {
        let mut locks = LockNames::default();
        let [first, second, class] = [("A", false), ("A", false), ("A.class", true)]
            .map(|(name, unique)| locks.add(name.to_owned(), unique));
        assert_eq!((first, class), (LockId(1), LockId(3)));
        [second, class, first, second, LockId(9)].into_iter().for_each(|lock| locks.note_use(lock));
        let names = [first, second, class, LockId(9)].map(|lock| locks.name(lock));
        assert_eq!(names.map(|name| name.unwrap_or_default()), ["A@2", "A@1", "A.class", ""]);
    }
}
