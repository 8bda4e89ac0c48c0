//! Enumerates all schedules with few preemptions, one execution after the other.
//!
//! Paper: M. Musuvathi and S. Qadeer, "Iterative context bounding for systematic testing of multithreaded programs", PLDI 2007.
//!
//! Kept: executions are functions of their choices, so that a schedule is reached by executing its prefix again; a switch away
//! from a thread that could continue is a preemption, all other switches are free; schedules without preemptions come first, then
//! those with one, and so on up to the bound. Deviations:
//!
//! - A higher bound repeats the search from the start instead of keeping a queue per bound: the repeated executions are a small
//!   part of the whole.
//! - A preemption before an access is tried only if another thread accesses the same location later, with at least one of the two
//!   writing, in some execution with the same prefix. Otherwise the access can just as well happen before the preemption, so
//!   that the schedule is equivalent to one with a later preemption, which is tried, or with fewer preemptions.
//!   `every_schedule` disables this reduction, for comparisons.
//!   A location's upper half identifies an object and its lower half the part of it, where 0 stands for an unknown part.
//! - A thread that repeats the same access at the same site is no longer preempted there after some repetitions, and yields after
//!   some more, because it spins until another thread changes something.
//! - A notification wakes the thread that has waited longest, and time-outs happen when no thread can run.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use fissure_model::ids::{LocationId, SiteId, ThreadId};

use super::{Candidate, Choice, GoalRole, Strategy, View, uniform::yields_to_sleepers, willing};
use crate::{operation::Operation, random::Random};

/// How often a thread may repeat an access before it is no longer preempted there.
const REPETITIONS: u32 = 8;
/// How often a thread may repeat an access before it yields.
const SPINS: u32 = 24;

/// The progress of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Explored {
    /// The number of executions that have ended.
    pub executions: u64,
    /// The number of executions of the search with the current bound; all have different schedules.
    pub schedules: u64,
    /// The number of preemptions up to which all schedules were executed, if any.
    pub complete: Option<u32>,
    /// Executions that differed from earlier ones with the same choices: the program is not a function of its schedule.
    pub diverged: u64,
}

/// The search through all schedules with a bounded number of preemptions.
#[derive(Debug)]
pub struct Preemptions {
    most: u32,
    every: bool,
    bound: u32,
    /// The choices of the execution that have alternatives.
    path: Vec<Fork>,
    /// How many of them have been made in this execution.
    depth: usize,
    /// The preemptions in this execution so far.
    used: u32,
    /// The choice before the next operation.
    fork: Option<usize>,
    touches: Vec<Touch>,
    last: Option<ThreadId>,
    repeated: FxHashMap<(SiteId, LocationId), u32>,
    explored: Explored,
}

/// A choice with alternatives.
#[derive(Debug)]
struct Fork {
    /// The threads that could run, in the order in which they are tried.
    threads: SmallVec<[ThreadId; 4]>,
    /// The index of the thread that is tried now.
    tried: usize,
    /// Whether all threads but the first are preemptions.
    is_preemption: bool,
    /// The preemptions before this choice.
    used: u32,
    /// Whether threads other than the first must be tried.
    matters: bool,
}

#[derive(Debug)]
struct Touch {
    thread: ThreadId,
    location: LocationId,
    is_write: bool,
    fork: Option<usize>,
}

impl Preemptions {
    /// Searches the schedules with at most `most` preemptions.
    pub fn new(most: u32) -> Self {
        Self {
            most,
            every: false,
            bound: 0,
            path: Vec::new(),
            depth: 0,
            used: 0,
            fork: None,
            touches: Vec::new(),
            last: None,
            repeated: FxHashMap::default(),
            explored: Explored::default(),
        }
    }

    /// The same, including schedules that are equivalent to others.
    pub fn every_schedule(most: u32) -> Self {
        Self { every: true, ..Self::new(most) }
    }

    /// Marks the choices whose alternatives matter, because another thread makes a conflicting access later.
    fn mark_conflicts(&mut self) {
        // From the end of the execution: the threads that access each location later, and each object as a whole.
        let mut later: FxHashMap<LocationId, Later> = FxHashMap::default();
        let mut objects: FxHashMap<u64, Later> = FxHashMap::default();
        for touch in self.touches.iter().rev() {
            let object = touch.location.0 >> 32;
            let any_part = LocationId(object << 32);
            let mut matters = later.get(&touch.location).is_some_and(|later| later.conflicts(touch));
            matters |= if touch.location == any_part {
                objects.get(&object).is_some_and(|later| later.conflicts(touch))
            } else {
                later.get(&any_part).is_some_and(|later| later.conflicts(touch))
            };
            if let Some(fork) = touch.fork.filter(|_| matters) {
                self.path[fork].matters = true;
            }
            later.entry(touch.location).or_default().add(touch);
            objects.entry(object).or_default().add(touch);
        }
    }

    /// Advances to the next alternative of the deepest choice that has one left; returns whether there was any.
    fn backtrack(&mut self) -> bool {
        while let Some(fork) = self.path.last_mut() {
            let is_allowed = !fork.is_preemption || fork.used < self.bound;
            if fork.matters && is_allowed && fork.tried + 1 < fork.threads.len() {
                fork.tried += 1;
                return true;
            }
            self.path.pop();
        }
        false
    }

    fn times(&self, view: &View<'_>) -> u32 {
        let access = current(view).and_then(|candidate| match candidate.operation {
            Operation::Access { location, site, .. } => Some((site, location)),
            _ => None,
        });
        access.and_then(|access| self.repeated.get(&access)).copied().unwrap_or_default()
    }

    fn is_repeated(&self, view: &View<'_>) -> bool {
        self.times(view) >= REPETITIONS
    }

    fn spins(&self, view: &View<'_>) -> bool {
        self.times(view) >= SPINS
    }
}

/// Up to two different threads that access a location: two suffice to decide whether a thread other than a given one does.
#[derive(Debug, Default)]
struct Later {
    any: SmallVec<[ThreadId; 2]>,
    writers: SmallVec<[ThreadId; 2]>,
}

impl Later {
    /// Whether another thread makes a conflicting access.
    fn conflicts(&self, touch: &Touch) -> bool {
        let others = if touch.is_write { &self.any } else { &self.writers };
        others.iter().any(|thread| *thread != touch.thread)
    }

    fn add(&mut self, touch: &Touch) {
        for (list, counts) in [(&mut self.any, true), (&mut self.writers, touch.is_write)] {
            if counts && list.len() < 2 && !list.contains(&touch.thread) {
                list.push(touch.thread);
            }
        }
    }
}

/// The candidate of the thread that ran up to now.
fn current<'a>(view: &View<'a>) -> Option<&'a Candidate> {
    view.candidates.iter().find(|candidate| Some(candidate.thread) == view.current)
}

/// The location that an operation accesses, and whether it writes. Locks have their own range of location numbers.
fn touches(operation: &Operation) -> Option<(LocationId, bool)> {
    match *operation {
        Operation::Access { location, is_write, .. } => Some((location, is_write)),
        Operation::Acquire { lock, .. }
        | Operation::Resume { lock, .. }
        | Operation::Attempt { lock, .. } => Some((LocationId(u64::MAX - u64::from(lock.0)), true)),
        _ => None,
    }
}

impl Strategy for Preemptions {
    fn choose(&mut self, view: &View<'_>, _random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        let goes_on = view.current.filter(|_| !view.yields && !self.spins(view));
        if let Some(current) = goes_on
            && (self.used >= self.bound || self.is_repeated(view))
        {
            return Choice::Run(current);
        }
        let mut threads: SmallVec<[ThreadId; 4]> = goes_on.into_iter().collect();
        let willing = willing(&View { yields: goes_on.is_none(), ..*view });
        threads.extend(willing.iter().map(|candidate| candidate.thread).filter(|one| goes_on != Some(*one)));
        if threads.len() == 1 {
            return Choice::Run(threads[0]);
        }
        if let Some(fork) = self.path.get(self.depth)
            && fork.threads != threads
        {
            self.explored.diverged += 1;
            self.path.truncate(self.depth);
        }
        if self.depth == self.path.len() {
            let is_preemption = goes_on.is_some();
            let touches = current(view).and_then(|candidate| touches(&candidate.operation)).is_some();
            let matters = self.every || !is_preemption || !touches;
            self.path.push(Fork { threads, tried: 0, is_preemption, used: self.used, matters });
        }
        let fork = &self.path[self.depth];
        self.fork = (fork.tried == 0).then_some(self.depth);
        self.used += u32::from(fork.is_preemption && fork.tried > 0);
        self.depth += 1;
        Choice::Run(fork.threads[fork.tried])
    }

    fn notify(&mut self, _waiters: &[ThreadId], _random: &mut Random) -> usize {
        0
    }

    fn starts_at_once(&self) -> bool {
        false
    }

    fn executed(&mut self, thread: ThreadId, operation: &Operation, _role: GoalRole) {
        let fork = self.fork.take();
        if self.last != Some(thread) {
            self.last = Some(thread);
            self.repeated.clear();
        }
        if let Operation::Access { location, is_write, site } = *operation {
            // A thread that writes another location makes progress: it does not spin.
            if is_write && !self.repeated.contains_key(&(site, location)) {
                self.repeated.clear();
            }
            *self.repeated.entry((site, location)).or_default() += 1;
        }
        if let Some((location, is_write)) = touches(operation) {
            self.touches.push(Touch { thread, location, is_write, fork });
        }
    }

    fn next_execution(&mut self) -> bool {
        self.explored.executions += 1;
        self.explored.schedules += 1;
        self.mark_conflicts();
        self.depth = 0;
        self.used = 0;
        self.fork = None;
        self.last = None;
        self.touches.clear();
        self.repeated.clear();
        if self.backtrack() {
            return true;
        }
        self.explored.complete = Some(self.bound);
        if self.bound == self.most {
            return false;
        }
        self.bound += 1;
        self.explored.schedules = 0;
        true
    }

    fn explored(&self) -> Option<Explored> {
        Some(self.explored)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::{
        Just, ProptestConfig, Strategy as _, prop_assert, prop_assert_eq, prop_oneof, proptest,
    };

    use super::Preemptions;
    use crate::simulation::{Does, Memory, explore};
    use Does::{Acquire, Await, Load, LoadUntilStored, Release, Store, Yield};

    /// The outcomes with at most `most` preemptions, and the number of different schedules.
    fn all(threads: &[&[Does]], most: u32, every: bool) -> (BTreeSet<Memory>, u64) {
        let strategy = if every { Preemptions::every_schedule(most) } else { Preemptions::new(most) };
        let (executions, conductor) = explore(threads, Box::new(strategy));
        let explored = conductor.strategy().explored().unwrap();
        assert_eq!((explored.complete, explored.diverged), (Some(most), 0));
        assert_eq!(explored.executions, executions.len() as u64);
        let outcomes = executions.into_iter().map(|execution| execution.memory).collect();
        (outcomes, explored.schedules)
    }

    /// The number of schedules of two threads with `a` and `b` operations and at most `most` preemptions. The beginning of a thread is
    /// an operation, too.
    fn count(a: u64, b: u64, most: u32) -> u64 {
        fn go(left: [u64; 2], runs: usize, preemptions: u32) -> u64 {
            let other = 1 - runs;
            match (left[runs], left[other]) {
                (0, 0) => 1,
                (0, _) => step(left, other, preemptions),
                (_, 0) => step(left, runs, preemptions),
                _ if preemptions == 0 => step(left, runs, 0),
                _ => step(left, runs, preemptions) + step(left, other, preemptions - 1),
            }
        }
        fn step(mut left: [u64; 2], runs: usize, preemptions: u32) -> u64 {
            left[runs] -= 1;
            go(left, runs, preemptions)
        }
        step([a + 1, b + 1], 0, most) + step([a + 1, b + 1], 1, most)
    }

    #[test]
    fn every_schedule_is_executed_once() {
        for most in 0..4 {
            for (a, b) in [(1, 1), (2, 1), (2, 3), (4, 4), (5, 3)] {
                let first: Vec<Does> = std::iter::repeat_n(Load(0), a).collect();
                let second: Vec<Does> = std::iter::repeat_n(Load(0), b).collect();
                let (_, schedules) = all(&[&first, &second], most, true);
                let expected = count(a as u64, b as u64, most);
                assert_eq!(schedules, expected, "{a} and {b} operations, {most} preemptions");
            }
        }
    }

    fn check_final(threads: &[&[Does]], most: u32, expected: &[u64]) {
        for every in [false, true] {
            let (outcomes, _) = all(threads, most, every);
            let last: BTreeSet<u64> = outcomes.iter().map(|memory| memory[threads.len()]).collect();
            assert_eq!(last.into_iter().collect::<Vec<_>>(), expected, "{threads:?} with {most}");
        }
    }

    #[test]
    fn lost_updates_are_found_with_the_preemptions_they_need() {
        let increment: &[Does] = &[Load(0), Store(0)];
        check_final(&[increment, increment], 0, &[2]);
        check_final(&[increment, increment], 1, &[1, 2]);
        let locked: &[Does] = &[Acquire(1, 1), Load(0), Store(0), Release(1)];
        check_final(&[locked, locked], 2, &[2]);
        check_final(&[locked, increment], 1, &[1, 2]);
        // A single preemption loses two updates or none; losing exactly one takes two preemptions.
        let twice: &[Does] = &[Load(0), Store(0), Load(0), Store(0)];
        check_final(&[twice, twice], 1, &[2, 4]);
        check_final(&[twice, twice], 2, &[2, 3, 4]);
    }

    #[test]
    fn preemptions_before_unshared_accesses_are_not_tried() {
        let mostly_unshared: &[Does] = &[Load(1), Store(1), Load(1), Store(1), Load(3), Store(3)];
        let other: &[Does] = &[Load(2), Store(2), Load(3), Store(3)];
        let (reduced, few) = all(&[mostly_unshared, other], 2, false);
        let (whole, many) = all(&[mostly_unshared, other], 2, true);
        assert_eq!(reduced, whole);
        assert!(few * 3 < many, "{few} of {many}");
    }

    #[test]
    fn a_spinning_thread_yields() {
        let waits: &[Does] = &[LoadUntilStored(0), Load(1)];
        let yields: &[Does] = &[Yield, Await(1), Load(1)];
        let writes: &[Does] = &[Store(1), Store(0)];
        for waiter in [waits, yields] {
            let (outcomes, schedules) = all(&[waiter, writes], 2, false);
            assert_eq!(outcomes.iter().map(|memory| memory[0]).collect::<Vec<_>>(), [1]);
            assert!(schedules < 1_000);
        }
    }

    fn programs() -> impl proptest::strategy::Strategy<Value = Vec<Vec<Does>>> {
        let step = prop_oneof![
            4 => (0..3_u32).prop_map(|variable| vec![Load(variable)]),
            4 => (0..3_u32).prop_map(|variable| vec![Store(variable)]),
            1 => (0..3_u32, 1..3_u32).prop_map(|(variable, lock)| {
                vec![Acquire(lock, 1), Load(variable), Store(variable), Release(lock)]
            }),
            1 => Just(vec![Yield]),
        ];
        let thread = proptest::collection::vec(step, 1..4).prop_map(|steps| steps.concat());
        proptest::collection::vec(thread, 2..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        /// The schedules that the reduction leaves out have no outcomes of their own.
        #[test]
        fn the_reduction_loses_no_outcome(threads in programs(), most in 0..3_u32) {
            let threads: Vec<&[Does]> = threads.iter().map(Vec::as_slice).collect();
            let (reduced, few) = all(&threads, most, false);
            let (whole, many) = all(&threads, most, true);
            prop_assert!(few <= many);
            prop_assert_eq!(reduced, whole);
        }
    }
}
