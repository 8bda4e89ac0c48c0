//! The stack of methods in scope that a thread is in; each execution of a method is a unit of work with a unique number.

use fissure_model::ids::SiteId;
use smallvec::SmallVec;

/// One execution of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// The site of the method's entry.
    pub site: SiteId,
    /// The number of this execution, unique within the thread.
    pub number: u64,
    /// The calling context: a hash of the keys of this method and of the methods below it on the stack.
    pub context: u64,
}

/// The methods that one thread is in.
#[derive(Debug, Default)]
pub(crate) struct Units {
    stack: Vec<Unit>,
    begun: u64,
}

impl Units {
    pub(crate) fn stack(&self) -> &[Unit] {
        &self.stack
    }

    pub(crate) fn enter(&mut self, site: SiteId, key: u64) {
        self.begun += 1;
        let outer = self.stack.last().map_or(0, |unit| unit.context);
        self.stack.push(Unit { site, number: self.begun, context: combine(outer, key) });
    }

    /// A method ends. Methods above it whose exit was not reported, as after a stack overflow, end with it. Returns the numbers of
    /// all that end here.
    pub(crate) fn exit(&mut self, site: SiteId) -> SmallVec<[u64; 1]> {
        match self.stack.iter().rposition(|unit| unit.site == site) {
            Some(index) => self.stack.drain(index..).map(|unit| unit.number).collect(),
            None => SmallVec::new(),
        }
    }

    /// Gives all methods on the stack new numbers, because what follows is not expected to be atomic with what came before. Returns
    /// their old numbers.
    pub(crate) fn split(&mut self) -> SmallVec<[u64; 1]> {
        let ended = self.stack.iter().map(|unit| unit.number).collect();
        for unit in &mut self.stack {
            self.begun += 1;
            unit.number = self.begun;
        }
        ended
    }
}

/// A hash of a chain of calls, the same on every machine.
fn combine(outer: u64, key: u64) -> u64 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    (outer.rotate_left(5) ^ key).wrapping_mul(SPREAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(units: &Units) -> Vec<u32> {
        units.stack().iter().map(|unit| unit.site.0).collect()
    }

    #[test]
    fn a_method_ends_the_methods_left_open_inside() {
        let mut units = Units::default();
        for site in [1, 2, 3, 2] {
            units.enter(SiteId(site), u64::from(site));
        }
        units.exit(SiteId(2));
        assert_eq!(sites(&units), [1, 2, 3]);
        units.exit(SiteId(2));
        assert_eq!(sites(&units), [1]);
        units.exit(SiteId(9));
        assert_eq!(sites(&units), [1]);
    }

    #[test]
    fn executions_that_are_split_have_new_numbers() {
        let mut units = Units::default();
        units.enter(SiteId(1), 1);
        units.enter(SiteId(2), 2);
        assert_eq!(units.split()[..], [1, 2]);
        assert_eq!(units.exit(SiteId(2))[..], [4]);
        assert_eq!(units.exit(SiteId(1))[..], [3]);
    }

    #[test]
    fn contexts_distinguish_chains_of_calls_and_not_executions() {
        let mut units = Units::default();
        let mut context = |chain: &[u32]| {
            chain.iter().for_each(|site| units.enter(SiteId(*site), u64::from(*site)));
            let last = *units.stack().last().unwrap();
            for site in chain.iter().rev() {
                units.exit(SiteId(*site));
            }
            (last.context, last.number)
        };
        let first = context(&[1, 2]);
        let second = context(&[1, 2]);
        assert_eq!(first.0, second.0);
        assert_ne!(first.1, second.1);
        assert_ne!(first.0, context(&[2, 1]).0);
        assert_ne!(first.0, context(&[2]).0);
    }
}
