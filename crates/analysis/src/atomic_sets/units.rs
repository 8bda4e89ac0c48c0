//! Which unit of work an access belongs to: the outermost one that is declared on its set.

use fissure_model::ids::ThreadId;

use super::{Occurrence, UnitId};

/// The methods that threads are in.
#[derive(Debug, Default)]
pub struct Units {
    threads: Vec<Vec<Occurrence>>,
    numbers: u64,
}

impl Units {
    /// A thread enters a method that may be a unit.
    pub fn enter(&mut self, thread: ThreadId, unit: UnitId) {
        let number = self.number();
        self.stack(thread).push(Occurrence { unit: Some(unit), number });
    }

    /// A thread leaves the innermost of them, which is over.
    pub fn exit(&mut self, thread: ThreadId) -> Option<Occurrence> {
        self.stack(thread).pop()
    }

    /// How many of them a thread is in.
    pub fn depth(&self, thread: ThreadId) -> usize {
        self.threads.get(thread.0 as usize).map_or(0, Vec::len)
    }

    /// A thread waits for others: what it does after that is not meant to be atomic with what it did before. Gives the
    /// executions that end here, innermost first.
    pub fn split(&mut self, thread: ThreadId) -> Vec<Occurrence> {
        let mut stack = std::mem::take(self.stack(thread));
        let ended = stack.iter().rev().copied().collect();
        for occurrence in &mut stack {
            occurrence.number = self.number();
        }
        *self.stack(thread) = stack;
        ended
    }

    /// The unit that an access of a thread belongs to, given which methods are units of the set; one of its own if it is
    /// in none.
    pub fn of_access(&mut self, thread: ThreadId, mut is_declared: impl FnMut(UnitId) -> bool) -> Occurrence {
        let declared = self
            .stack(thread)
            .iter()
            .find(|occurrence| occurrence.unit.is_some_and(&mut is_declared))
            .copied();
        declared.unwrap_or_else(|| Occurrence { unit: None, number: self.number() })
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn stack(&mut self, thread: ThreadId) -> &mut Vec<Occurrence> {
        let place = thread.0 as usize;
        if place >= self.threads.len() {
            self.threads.resize_with(place + 1, Vec::new);
        }
        &mut self.threads[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: ThreadId = ThreadId(0);

    #[test]
    fn the_outermost_declared_unit_counts() {
        let mut units = Units::default();
        for unit in [1, 2, 3] {
            units.enter(THREAD, UnitId(unit));
        }
        let of = |units: &mut Units, declared: &[u32]| {
            units.of_access(THREAD, |unit| declared.contains(&unit.0)).unit.map(|unit| unit.0)
        };
        assert_eq!(of(&mut units, &[2, 3]), Some(2));
        assert_eq!(of(&mut units, &[1, 2]), Some(1));
        assert_eq!(of(&mut units, &[9]), None);
        units.exit(THREAD);
        assert_eq!(of(&mut units, &[3]), None);
        assert_eq!(units.depth(THREAD), 2);
    }

    #[test]
    fn executions_are_told_apart() {
        let mut units = Units::default();
        let now = |units: &mut Units| units.of_access(THREAD, |_| true).number;
        units.enter(THREAD, UnitId(1));
        let first = now(&mut units);
        assert_eq!(first, now(&mut units));
        assert_eq!(units.split(THREAD), [Occurrence { unit: Some(UnitId(1)), number: first }]);
        let second = now(&mut units);
        assert_ne!(first, second);
        units.exit(THREAD);
        assert_ne!(now(&mut units), now(&mut units));
    }
}
