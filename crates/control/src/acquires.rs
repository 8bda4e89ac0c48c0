//! Lock operations: candidates for goals at acquires, and the checker's violations as findings.

use std::collections::BTreeSet;

use fissure_model::{
    finding::{Finding, Frame, Kind, Status},
    goal::AcquireGoal,
    ids::{LockId, SiteId, ThreadId},
};
use fissure_schedule::{
    operation::Operation,
    pattern::{Atomic, BlockKind},
};

use crate::{
    ControlledRun,
    explanation::{identity, outermost_frame, stack_at_block, subject},
    flags::{BLOCK, LIBRARY_BLOCK, QUIET},
    front_end::{FrontEnd, current_stack, finding_site, frame, site_text},
};

/// The largest number of acquire pairs that one run reports.
const MOST_PAIRS: usize = 1_000;

/// An acquire of a monitor between its scheduling point and its execution.
#[derive(Debug, Clone, Copy)]
pub struct PendingAcquire {
    /// The operation of the scheduling point, and its flags.
    pub operation: Operation,
    /// The flags of the scheduling point.
    pub flags: i32,
    lock: LockId,
    site: SiteId,
    is_quiet: bool,
    is_alone: bool,
    atomic: Atomic,
}

/// The acquires that a run executed or attempted.
#[derive(Debug, Default)]
pub(crate) struct Acquires {
    /// The threads and sites that acquired each lock, by the lock's number.
    executed: Vec<Vec<(ThreadId, SiteId)>>,
    /// The threads and sites that were about to acquire a lock again inside of a block.
    again: BTreeSet<(LockId, ThreadId, SiteId)>,
    /// Pairs of a held lock and a lock requested while holding it, with thread and site.
    nested: BTreeSet<(LockId, LockId, ThreadId, SiteId)>,
    /// The threads and sites that waited for a notification.
    waits: BTreeSet<(LockId, ThreadId, SiteId)>,
}

impl Acquires {
    fn note(&mut self, thread: ThreadId, lock: LockId, site: SiteId) {
        let index = lock.0 as usize;
        if index >= self.executed.len() {
            self.executed.resize_with(index + 1, Vec::new);
        }
        let known = &mut self.executed[index];
        if !known.contains(&(thread, site)) && known.len() < MOST_PAIRS {
            known.push((thread, site));
        }
    }

    fn of(&self, lock: LockId) -> &[(ThreadId, SiteId)] {
        self.executed.get(lock.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Goals for other runs: acquires of one lock by different threads, one of them the second in a block, and acquires that could
    /// complete a lock cycle.
    pub(crate) fn pairs(&self, text: impl Fn(SiteId) -> String) -> Vec<AcquireGoal> {
        let mut pairs = BTreeSet::new();
        let circular: Vec<_> =
            self.nested.iter().filter(|(held, wanted, ..)| self.leads(*wanted, *held)).collect();
        for (_, _, thread, again) in &circular {
            for (_, _, other, between) in &circular {
                let (again, between) = (text(*again), text(*between));
                if thread != other && again <= between && pairs.len() < MOST_PAIRS {
                    pairs.insert(AcquireGoal::new(again, between));
                }
            }
        }
        for (lock, thread, again) in &self.again {
            for (other, between) in self.of(*lock) {
                if other != thread && pairs.len() < MOST_PAIRS {
                    pairs.insert(AcquireGoal::new(text(*again), text(*between)));
                }
            }
        }
        pairs.into_iter().collect()
    }

    /// Goals for other runs: reversed orders of two acquires of one lock by different threads, and acquires that could come before a
    /// notified thread resumes.
    pub(crate) fn orders(&self, text: impl Fn(SiteId) -> String) -> Vec<AcquireGoal> {
        let mut orders = BTreeSet::new();
        let mut add = |again: SiteId, between: SiteId, is_order: bool| {
            let (again, between) = (text(again), text(between));
            if (again != between || !is_order) && orders.len() < MOST_PAIRS {
                orders.insert(AcquireGoal { is_order, ..AcquireGoal::new(again, between) });
            }
        };
        for known in &self.executed {
            for (number, (later, again)) in known.iter().enumerate() {
                for (earlier, between) in &known[..number] {
                    if later != earlier {
                        add(*again, *between, true);
                    }
                }
            }
        }
        for (lock, thread, site) in &self.waits {
            for (other, between) in self.of(*lock) {
                if other != thread {
                    add(*site, *between, false);
                }
            }
        }
        orders.into_iter().collect()
    }

    /// Whether the lock order leads from one lock to another, directly or over further locks.
    fn leads(&self, from: LockId, to: LockId) -> bool {
        let mut seen = vec![from];
        let mut at = 0;
        while let Some(&lock) = seen.get(at) {
            if lock == to {
                return true;
            }
            at += 1;
            for (held, wanted, ..) in &self.nested {
                if *held == lock && !seen.contains(wanted) {
                    seen.push(*wanted);
                }
            }
        }
        false
    }
}

impl ControlledRun {
    /// A thread is about to enter a monitor at a site with these flags. Its scheduling point comes next, and then
    /// [`ControlledRun::entered`].
    #[inline]
    pub fn before_acquire(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        lock: LockId,
        (site, flags): (SiteId, i32),
        is_quiet: bool,
    ) -> PendingAcquire {
        // Only the program's code enters such a block, so earlier calls of collections from its method have ended.
        if flags & BLOCK != 0 {
            self.close_finished_calls(front, thread);
        }
        let is_alone = self.conductor.is_alone(thread);
        if !is_quiet {
            self.locks.note_use(lock);
            if !is_alone {
                self.consider(front, thread, lock, site);
            }
        }
        let atomic = match flags {
            _ if is_quiet => Atomic::No,
            flags if flags & BLOCK != 0 => Atomic::Yes,
            flags if flags & LIBRARY_BLOCK != 0 => Atomic::Unknown,
            _ => Atomic::No,
        };
        PendingAcquire {
            operation: Operation::Acquire { lock, site },
            flags: if is_quiet { flags | QUIET } else { flags },
            lock,
            site,
            is_quiet,
            is_alone,
            atomic,
        }
    }

    /// The thread has entered the monitor.
    #[inline]
    pub fn entered(&mut self, front: &dyn FrontEnd, thread: ThreadId, acquire: PendingAcquire) {
        let PendingAcquire { lock, site, is_quiet, is_alone, atomic, .. } = acquire;
        self.conductor.enter_block(thread, site, BlockKind::Monitor(lock), atomic);
        if !is_quiet {
            self.note_acquire(front, thread, lock, site, is_alone);
        }
    }

    /// A thread is about to attempt to acquire a lock of a library, or (without a lock) to do something else that other threads can
    /// observe. `is_internal` says that the lock belongs to the library's own bookkeeping. Returns the operation of its scheduling point.
    pub fn before_attempt(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        lock: Option<LockId>,
        (site, flags): (SiteId, i32),
        is_internal: bool,
    ) -> Operation {
        let is_quiet = self.is_quiet(thread, flags);
        let Some(lock) = lock else { return Operation::Step { site } };
        if is_internal {
            self.conductor.mark_internal(lock);
        }
        if !is_quiet {
            self.locks.note_use(lock);
            if !is_internal && !self.conductor.is_alone(thread) {
                self.consider(front, thread, lock, site);
            }
        }
        self.thread(thread).attempt_site = site;
        Operation::Attempt { lock, site }
    }

    /// The thread's last attempt has succeeded. `flags_of` gives the flags of its site.
    pub fn attempt_succeeded(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        lock: LockId,
        is_shared: bool,
        flags_of: impl FnOnce(SiteId) -> i32,
    ) {
        let site = self.thread(thread).attempt_site;
        self.conductor.acquired(thread, lock, site, is_shared);
        if flags_of(site) & QUIET == 0 && !self.conductor.is_internal(lock) {
            let is_alone = self.conductor.is_alone(thread);
            self.note_acquire(front, thread, lock, site, is_alone);
        }
    }

    /// Handles a thread that is about to acquire a lock while other threads exist: records which locks it holds, and whether it acquires
    /// the lock a second time inside of a block.
    fn consider(&mut self, front: &dyn FrontEnd, thread: ThreadId, lock: LockId, site: SiteId) {
        let acquires = &mut self.explanation.acquires;
        if acquires.nested.len() < MOST_PAIRS && self.conductor.held(thread).all(|held| held != lock) {
            acquires.nested.extend(self.conductor.held(thread).map(|held| (held, lock, thread, site)));
        }
        while let Some(block) = self.conductor.reacquires(thread, lock) {
            if block.atomic == Atomic::Unknown {
                let is_atomic = application_calls(front, block.entered);
                self.conductor.judge_block(thread, block.block, is_atomic);
                continue;
            }
            let choices = self.conductor.choices();
            self.explanation.arrivals.insert(thread, choices);
            if self.explanation.acquires.again.insert((lock, thread, site)) {
                self.add_possible_violation(front, thread, lock, site, block.entered);
            }
            return;
        }
    }

    /// A remote acquire may land before an acquire in a block.
    fn add_possible_violation(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        lock: LockId,
        site: SiteId,
        entered: SiteId,
    ) {
        let stack = current_stack(front);
        let name = self.conductor.name(thread);
        let subject = subject(front, entered);
        let id = identity(front, &subject, site);
        let again = finding_site(front, "reacquired", name, site, stack.clone(), self.locks.name(lock));
        let at_block: Vec<Frame> = stack_at_block(front, entered, &stack);
        let entered = finding_site(front, "entered", name, entered, at_block, None);
        self.explanation.add_possible(Finding {
            id,
            sites: vec![entered, again],
            ..Finding::new(Kind::AtomicityViolation, Status::Warning, "atomfuzzer", &subject)
        });
    }

    /// Records that a thread waits for a notification.
    pub(crate) fn note_wait(&mut self, front: &dyn FrontEnd, thread: ThreadId, lock: LockId, site: SiteId) {
        let waits = &mut self.explanation.acquires.waits;
        if waits.len() < MOST_PAIRS && waits.insert((lock, thread, site)) {
            let choices = self.conductor.choices();
            self.explanation.reached.entry(site_text(front, site)).or_insert(choices);
        }
    }

    /// Records that a thread has acquired a lock. In a single-threaded phase its acquire cannot be a remote acquire, but it can complete
    /// a violation whose remote acquire was made by a thread that has ended.
    #[inline]
    fn note_acquire(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        lock: LockId,
        site: SiteId,
        is_alone: bool,
    ) {
        if !is_alone {
            self.explanation.acquires.note(thread, lock, site);
        }
        while let Some(violation) = self.conductor.take_violation() {
            self.confirm(front, &violation);
        }
        if self.conductor.may_interfere(thread, lock) {
            self.explanation.between.insert(lock, front.stack());
        }
    }
}

/// Whether the application itself called the method that contains a block.
fn application_calls(front: &dyn FrontEnd, entered: SiteId) -> bool {
    let stack = current_stack(front);
    // Overloaded methods may call each other: the outermost one was called from elsewhere.
    let caller = outermost_frame(&stack, &frame(front, entered)).and_then(|index| stack.get(index + 1));
    caller.is_some_and(|caller| front.is_in_scope(&caller.class))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        nested: &[(u32, u32, u32, u32)],
        again: &[(u32, u32, u32)],
        executed: &[(u32, u32, u32)],
        expected: &[&str],
    ) {
        let mut acquires = Acquires::default();
        let nested = nested.iter().map(|(held, lock, thread, site)| {
            (LockId(*held), LockId(*lock), ThreadId(*thread), SiteId(*site))
        });
        acquires.nested.extend(nested);
        acquires.again.extend(
            again.iter().map(|(lock, thread, site)| (LockId(*lock), ThreadId(*thread), SiteId(*site))),
        );
        executed
            .iter()
            .for_each(|(lock, thread, site)| acquires.note(ThreadId(*thread), LockId(*lock), SiteId(*site)));
        let pairs = acquires.pairs(|site| site.0.to_string());
        let pairs: Vec<String> = pairs.iter().map(|pair| format!("{}-{}", pair.local, pair.remote)).collect();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn acquires_that_could_close_a_lock_cycle_are_goals() {
        check(&[(1, 2, 0, 10), (2, 1, 1, 20)], &[], &[], &["10-20"]);
        // Over three locks.
        check(&[(1, 2, 0, 10), (2, 3, 1, 20), (3, 1, 2, 30)], &[], &[], &["10-20", "10-30", "20-30"]);
        // One order, and one thread, make no cycle.
        check(&[(1, 2, 0, 10), (1, 2, 1, 20)], &[], &[], &[]);
        check(&[(1, 2, 0, 10), (2, 1, 0, 20)], &[], &[], &[]);
    }

    #[test]
    fn acquires_by_another_thread_are_goals_for_a_second_acquire_in_a_block() {
        check(&[], &[(1, 0, 10)], &[(1, 1, 20), (1, 0, 30), (2, 1, 40)], &["10-20"]);
    }
}
