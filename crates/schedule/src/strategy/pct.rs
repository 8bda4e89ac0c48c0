//! Probabilistic concurrency testing: threads have random priorities, which change at few random steps.
//!
//! Paper: S. Burckhardt, P. Kothari, M. Musuvathi and S. Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding
//! Bugs", ASPLOS 2010, section 2.
//!
//! Kept: every thread gets a random priority when it is first seen, above all those that a change leads to; the thread with the highest
//! priority runs; at d-1 steps, where d is the depth, the thread that runs gets a priority below all that were given before. A bug of depth d takes d ordering
//! constraints. Deviations:
//!
//! - The paper draws the steps of the changes from the length of the run, which nobody knows before. Here each change first draws the
//!   magnitude of its step, a power of two, and then the step below it, so that short and long runs both have changes. The paper's
//!   lower bound for the chance to find a bug of depth d in a run of k steps among n threads, 1/(n k^(d-1)), holds with one more factor
//!   of 1/16 for each change.
//! - A thread that yields or spins continues only if no other thread can run, and if the others sleep, time advances, as for
//!   [`super::Uniform`]. The paper lowers the priority of such a thread, with the same purpose.

use fissure_model::ids::ThreadId;

use super::{Choice, Strategy, View, registry::StrategyKind, uniform::yields_to_sleepers, willing};
use crate::random::Random;

/// The greatest magnitude of a step at which priorities change: runs have further changes only up to 2^16 steps.
const MAGNITUDES: usize = 16;

/// The registration.
pub(super) const KIND: StrategyKind = StrategyKind {
    name: "pct",
    about: "Threads have random priorities, which change at --depth minus one random steps (probabilistic concurrency testing).",
    build: |settings| Ok(Box::new(PriorityChanges::new(settings.depth))),
    ..StrategyKind::PLAIN
};

/// Chooses the thread with the highest priority.
#[derive(Debug)]
pub struct PriorityChanges {
    depth: u32,
    /// The steps at which priorities change, in order; `None` before they are drawn.
    changes: Option<Vec<u64>>,
    /// The priorities by thread; the highest runs.
    priorities: Vec<(ThreadId, i64)>,
    /// The last priority that a change led to. All of them are negative, those of new threads are not.
    lowest: i64,
    steps: u64,
}

impl PriorityChanges {
    /// Looks for bugs of this depth.
    pub fn new(depth: u32) -> Self {
        PriorityChanges { depth, changes: None, priorities: Vec::new(), lowest: 0, steps: 0 }
    }

    /// The priority of a thread, which is drawn if the thread is new.
    fn priority(&mut self, thread: ThreadId, random: &mut Random) -> i64 {
        if let Some((_, priority)) = self.priorities.iter().find(|(known, _)| *known == thread) {
            return *priority;
        }
        // Two threads hardly ever draw the same number; if they do, the one with the higher number runs.
        let priority = random.below(1 << 62) as i64;
        self.priorities.push((thread, priority));
        priority
    }

    /// Whether priorities change before the next step.
    fn changes_now(&mut self, random: &mut Random) -> bool {
        let count = self.depth.saturating_sub(1);
        let changes = self.changes.get_or_insert_with(|| {
            let step = |_| {
                let magnitude = 1 + random.below(MAGNITUDES);
                random.below(1 << magnitude) as u64
            };
            let mut changes: Vec<u64> = (0..count).map(step).collect();
            changes.sort_unstable();
            changes.dedup();
            changes
        });
        changes.contains(&self.steps)
    }
}

impl Strategy for PriorityChanges {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        let changes = self.changes_now(random);
        self.steps += 1;
        let willing: Vec<ThreadId> = willing(view).iter().map(|candidate| candidate.thread).collect();
        let mut best = self.best(&willing, random);
        if changes {
            self.lowest -= 1;
            let lowest = self.lowest;
            self.priorities.retain(|(thread, _)| *thread != best);
            self.priorities.push((best, lowest));
            best = self.best(&willing, random);
        }
        Choice::Run(best)
    }
}

impl PriorityChanges {
    fn best(&mut self, threads: &[ThreadId], random: &mut Random) -> ThreadId {
        let best = threads.iter().map(|thread| (self.priority(*thread, random), thread.0)).max();
        ThreadId(best.expect("a view has at least one candidate").1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{
        Does::{self, Load, Store},
        simulate,
    };

    fn pct(depth: u32) -> Box<dyn Strategy> {
        Box::new(PriorityChanges::new(depth))
    }

    /// In how many of 100 seeds an increment is lost.
    fn lost(depth: u32, steps: &[Does]) -> usize {
        let is_lost = |seed: &u64| simulate(&[steps, steps], pct(depth), *seed).variables[1] < 2;
        (0..100).filter(is_lost).count()
    }

    #[test]
    fn a_lost_increment_has_depth_two() {
        assert_eq!(lost(1, &[Load(1), Store(1)]), 0);
        assert!(lost(2, &[Load(1), Store(1)]) > 3);
        assert!(lost(3, &[Load(1), Store(1)]) > lost(2, &[Load(1), Store(1)]));
        assert_eq!(lost(3, &[Does::Acquire(0, 1), Load(1), Store(1), Does::Release(0)]), 0);
    }

    #[test]
    fn an_order_has_depth_one_however_long_the_run_is() {
        let writer = [Store(1)];
        let reader = [vec![Load(2); 50], vec![Load(1)]].concat();
        let is_early = |seed: &u64| {
            let done = simulate(&[&writer, &reader], pct(1), *seed).done;
            let at = |step| done.iter().position(|known| *known == step);
            at((1, 50)) < at((0, 0))
        };
        let early = (0..100).filter(is_early).count();
        assert!((30..70).contains(&early), "{early}");
    }

    #[test]
    fn the_seed_decides() {
        let steps = [Load(1), Store(1), Load(2), Store(2)];
        let done = |seed| simulate(&[&steps, &steps, &steps], pct(3), seed).done;
        assert!((0..10).all(|seed| done(seed) == done(seed)));
        assert!((0..10).any(|seed| done(seed) != done(seed + 1)));
    }

    #[test]
    fn a_thread_that_waits_for_another_lets_it_run() {
        let writer = [Store(1)];
        let reader = [Does::LoadUntilStored(1)];
        for seed in 0..20 {
            assert_eq!(simulate(&[&reader, &writer], pct(3), seed).variables[1], 1, "{seed}");
        }
    }
}
