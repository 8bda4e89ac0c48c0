//! Interned sets of locks.
//!
//! A set is a small number, so that a location's lock set fits in its word and two sets are compared by comparing
//! two numbers. Programs hold few locks at once and use few combinations of them, so the table stays small. If
//! it fills up, further sets become [`ANY`], which stands for "some unknown locks" and never leads to a report.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::word::SET_BITS;

/// The empty set.
pub const EMPTY: u32 = 0;
/// An unknown set, because the table was full: it never counts as empty.
pub const ANY: u32 = (1 << SET_BITS) - 1;
/// The lock of the accessed object itself. Front ends use it instead of the object's own lock number, so that a
/// million objects that are each guarded by their own monitor share one lock set.
pub const SELF: u32 = 1;

type Set = SmallVec<[u32; 4]>;

/// The table of sets.
#[derive(Debug)]
pub struct LockSets {
    sets: Vec<Set>,
    numbers: FxHashMap<Set, u32>,
    limit: usize,
    overflow: u64,
}

impl Default for LockSets {
    fn default() -> Self {
        LockSets::with_limit(ANY as usize)
    }
}

impl LockSets {
    /// A table for at most `limit` sets.
    pub fn with_limit(limit: usize) -> Self {
        let mut numbers = FxHashMap::default();
        numbers.insert(Set::new(), EMPTY);
        LockSets { sets: vec![Set::new()], numbers, limit: limit.min(ANY as usize), overflow: 0 }
    }

    /// The locks of a set; `None` for a set that did not fit.
    fn known(&self, set: u32) -> Option<&Set> {
        let locks = (set != ANY).then(|| self.sets.get(set as usize))?;
        Some(
            locks.unwrap_or_else(|| {
                panic!("lock set {set} was never recorded; there are {}", self.sets.len())
            }),
        )
    }

    /// The set with `lock` added.
    pub fn add(&mut self, set: u32, lock: u32) -> u32 {
        let Some(locks) = self.known(set) else { return ANY };
        match locks.binary_search(&lock) {
            Ok(_) => set,
            Err(at) => {
                let mut larger = locks.clone();
                larger.insert(at, lock);
                self.intern(larger)
            }
        }
    }

    /// The set without `lock`.
    pub fn remove(&mut self, set: u32, lock: u32) -> u32 {
        let Some(locks) = self.known(set) else { return ANY };
        match locks.binary_search(&lock) {
            Ok(at) => {
                let mut smaller = locks.clone();
                smaller.remove(at);
                self.intern(smaller)
            }
            Err(_) => set,
        }
    }

    /// The intersection. With [`ANY`] it is [`ANY`], unless the other set is empty.
    pub fn intersect(&mut self, left: u32, right: u32) -> u32 {
        if left == right {
            return left;
        }
        if left == EMPTY || right == EMPTY {
            return EMPTY;
        }
        match (self.sets.get(left as usize), self.sets.get(right as usize)) {
            (Some(a), Some(b)) => {
                let common = a.iter().copied().filter(|lock| b.binary_search(lock).is_ok()).collect();
                self.intern(common)
            }
            _ => ANY,
        }
    }

    /// The locks of a set, in ascending order; none for [`ANY`].
    pub fn locks(&self, set: u32) -> &[u32] {
        self.sets.get(set as usize).map_or(&[], |locks| locks.as_slice())
    }

    /// How often a set was requested that did not fit into the table.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    fn intern(&mut self, set: Set) -> u32 {
        if let Some(&number) = self.numbers.get(&set) {
            return number;
        }
        if self.sets.len() >= self.limit {
            self.overflow += 1;
            return ANY;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(sets: &mut LockSets, locks: &[u32]) -> u32 {
        locks.iter().fold(EMPTY, |set, &lock| sets.add(set, lock))
    }

    fn check_intersection(left: &[u32], right: &[u32], expected: &[u32]) {
        let sets = &mut LockSets::default();
        let (left, right) = (set(sets, left), set(sets, right));
        let both = sets.intersect(left, right);
        assert_eq!(sets.locks(both), expected);
        assert_eq!(both, sets.intersect(right, left));
    }

    #[test]
    fn sets_intersect() {
        check_intersection(&[], &[2], &[]);
        check_intersection(&[2, 3], &[3, 2], &[2, 3]);
        check_intersection(&[2, 3, 9], &[9, 4, 2], &[2, 9]);
        check_intersection(&[2], &[3], &[]);
    }

    #[test]
    fn order_of_acquisition_does_not_matter_and_removal_undoes_it() {
        let sets = &mut LockSets::default();
        let one = set(sets, &[5, 7]);
        assert_eq!(one, set(sets, &[7, 5]));
        assert_eq!(sets.add(one, 5), one);
        let smaller = sets.remove(one, 5);
        assert_eq!(sets.locks(smaller), [7]);
        assert_eq!(sets.remove(smaller, 7), EMPTY);
    }

    #[test]
    fn a_full_table_answers_any_and_any_is_never_empty() {
        let sets = &mut LockSets::with_limit(3);
        let (a, b) = (set(sets, &[2]), set(sets, &[3]));
        assert_eq!(set(sets, &[4]), ANY);
        assert_eq!(sets.intersect(a, ANY), ANY);
        assert_eq!(sets.intersect(EMPTY, ANY), EMPTY);
        assert_eq!(sets.intersect(a, b), EMPTY);
        assert_eq!(sets.overflow(), 1);
    }

    #[test]
    #[should_panic(expected = "lock set 7 was never recorded; there are 1")]
    fn a_set_without_a_number_is_a_failure() {
        LockSets::default().add(7, 1);
    }
}
