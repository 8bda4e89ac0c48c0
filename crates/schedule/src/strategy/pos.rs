//! Partial order sampling: samples different partial orders of conflicting operations more evenly than a random walk does.
//!
//! Paper: X. Yuan, J. Yang and R. Gu, "Partial Order Aware Concurrency Sampling", CAV 2018, section 3.
//!
//! Kept: each pending operation has a random priority; the one with the highest priority runs; after that, pending operations that conflict
//! with it get fresh priorities, because whether they come before or after it is decided now. Operations conflict if they access the same
//! location and at least one of them writes, or if they acquire the same lock. Deviations:
//!
//! - A thread that yields or spins continues only if no other thread can run, and if the others sleep, time advances, as for
//!   [`super::Uniform`]. The paper's priorities alone would let a spinning thread run for long.
//! - An operation that has to wait keeps its priority until it can run.
//! - Operations without a location or a lock conflict with nothing.
//!
//! Only scheduling points are operations. Where accesses are none, this strategy samples orders of lock operations.

use fissure_model::ids::ThreadId;

use super::{
    Candidate, Choice, GoalRole, Strategy, View, registry::StrategyKind, uniform::yields_to_sleepers, willing,
};
use crate::{operation::Operation, random::Random};

/// The registration.
pub(super) const KIND: StrategyKind = StrategyKind {
    name: "pos",
    about: "Operations have random priorities, which are drawn again after a conflict (partial order sampling).",
    build: |_| Ok(Box::new(PartialOrderSampling::default())),
    ..StrategyKind::PLAIN
};

/// Chooses the operation with the highest priority.
#[derive(Debug, Default)]
pub struct PartialOrderSampling {
    pending: Vec<Pending>,
}

/// The next operation of a thread.
#[derive(Debug)]
struct Pending {
    thread: ThreadId,
    operation: Operation,
    priority: usize,
}

impl PartialOrderSampling {
    /// The priority of a candidate's operation, which is drawn if it is new.
    fn priority(&mut self, candidate: &Candidate, random: &mut Random) -> usize {
        let Candidate { thread, operation, .. } = *candidate;
        if let Some(known) = self.pending.iter().find(|known| known.thread == thread)
            && known.operation == operation
        {
            return known.priority;
        }
        self.pending.retain(|known| known.thread != thread);
        let priority = random.below(usize::MAX);
        self.pending.push(Pending { thread, operation, priority });
        priority
    }
}

impl Strategy for PartialOrderSampling {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        let willing = willing(view);
        let priorities: Vec<usize> =
            willing.iter().map(|candidate| self.priority(candidate, random)).collect();
        let best = (0..willing.len()).max_by_key(|index| priorities[*index]);
        let best = best.expect("a view has at least one candidate");
        Choice::Run(willing[best].thread)
    }

    fn executed(&mut self, thread: ThreadId, operation: &Operation, _role: GoalRole) {
        self.pending.retain(|known| known.thread != thread && !conflicts(&known.operation, operation));
    }
}

/// Whether the order of two operations makes a difference.
fn conflicts(one: &Operation, other: &Operation) -> bool {
    if let (
        Operation::Access { location, is_write, .. },
        Operation::Access { location: other, is_write: other_writes, .. },
    ) = (one, other)
    {
        return location == other && (*is_write || *other_writes);
    }
    one.enters().is_some() && one.enters() == other.enters()
}

#[cfg(test)]
mod tests {
    use fissure_model::ids::{LocationId, LockId, SiteId};

    use super::*;
    use crate::{
        simulation::{
            Does::{self, Load, Store},
            simulate,
        },
        strategy::Uniform,
    };

    fn sampling() -> Box<dyn Strategy> {
        Box::<PartialOrderSampling>::default()
    }

    /// In how many of so many seeds an increment is lost.
    fn lost(steps: &[Does], seeds: u64) -> usize {
        let is_lost = |seed: &u64| simulate(&[steps, steps], sampling(), *seed).variables[1] < 2;
        (0..seeds).filter(is_lost).count()
    }

    #[test]
    fn a_lost_increment_is_found() {
        assert!(lost(&[Load(1), Store(1)], 20) > 2);
        assert_eq!(lost(&[Does::Acquire(0, 1), Load(1), Store(1), Does::Release(0)], 20), 0);
    }

    #[test]
    fn an_order_that_random_walks_hardly_reach_is_found() {
        let writer = [Store(1)];
        let reader = [vec![Load(2); 20], vec![Load(1)]].concat();
        let is_early = |strategy: Box<dyn Strategy>, seed| {
            let done = simulate(&[&writer, &reader], strategy, seed).done;
            let at = |step| done.iter().position(|known| *known == step);
            at((1, 20)) < at((0, 0))
        };
        assert!((0..200).filter(|seed| is_early(sampling(), *seed)).count() >= 3);
        assert!(!(0..200).any(|seed| is_early(Box::new(Uniform), seed)));
    }

    #[test]
    fn the_seed_decides() {
        let steps = [Load(1), Store(1), Load(2), Store(2)];
        let done = |seed| simulate(&[&steps, &steps, &steps], sampling(), seed).done;
        assert!((0..10).all(|seed| done(seed) == done(seed)));
        assert!((0..10).any(|seed| done(seed) != done(seed + 1)));
    }

    #[test]
    fn a_thread_that_waits_for_another_lets_it_run() {
        let writer = [Store(1)];
        let reader = [Does::LoadUntilStored(1)];
        for seed in 0..20 {
            assert_eq!(simulate(&[&reader, &writer], sampling(), seed).variables[1], 1, "{seed}");
        }
    }

    #[test]
    fn operations_conflict_at_one_location_or_lock() {
        let access = |location, is_write| Operation::Access {
            location: LocationId(location),
            is_write,
            site: SiteId(location as u32),
        };
        let acquire = |lock| Operation::Acquire { lock: LockId(lock), site: SiteId(1) };
        let resume = Operation::Resume { lock: LockId(1), count: 1, until: None, site: SiteId(2) };
        let step = Operation::Yield { site: SiteId(1) };
        for (one, other, expected) in [
            (access(1, true), access(1, true), true),
            (access(1, false), access(1, true), true),
            (access(1, false), access(1, false), false),
            (access(1, true), access(2, true), false),
            (acquire(1), acquire(1), true),
            (acquire(1), acquire(2), false),
            (acquire(1), resume, true),
            (access(1, true), acquire(1), false),
            (step, step, false),
        ] {
            assert_eq!(conflicts(&one, &other), expected, "{one:?} {other:?}");
            assert_eq!(conflicts(&other, &one), expected, "{other:?} {one:?}");
        }
    }
}
