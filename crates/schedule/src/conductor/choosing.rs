//! The choice of the next thread: which threads can run, whether time passes, and what the strategy decides.

use smallvec::SmallVec;

use fissure_model::ids::{LockId, ThreadId};

use super::{Conductor, Decision, Expectation, FEW_YIELDS, LONGEST_DELAY, State, Thread, YIELDS};
use crate::{
    operation::{Nanos, Operation, Wake},
    pattern::Atomic,
    strategy::{Candidate, Choice, View},
};

impl Conductor {
    /// Whether a controlled non-daemon thread has been started and has not ended.
    pub fn is_wanted(&self) -> bool {
        self.threads
            .iter()
            .any(|thread| !thread.is_daemon && !matches!(thread.state, State::Ended | State::Announced))
    }

    pub(super) fn decide(&mut self, current: Option<ThreadId>, yields: bool) -> Decision {
        if !self.is_wanted() {
            return Decision::Over;
        }
        if self.executed >= self.limits.steps {
            return Decision::TooLong;
        }
        let yielded = if yields { self.count_yields(current) } else { 0 };
        loop {
            self.note_events(false);
            if yielded >= YIELDS {
                self.admit_foreign_wakes();
            }
            self.collect_candidates(yielded >= YIELDS);
            let has_waiting = self.hold_back();
            if self.is_finishing {
                let next =
                    self.candidates.iter().find(|candidate| Some(candidate.thread) == current && !yields);
                return match next.or(self.candidates.first()).copied() {
                    Some(next) => self.execute(next.thread, next.operation),
                    None => Decision::Stuck,
                };
            }
            if self.candidates.is_empty() {
                // Input of another thread of the program arrives at once, and time must not pass before it. Other input takes real time.
                if self.note_events(true)
                    || self.admit_foreign_wakes()
                    || self.expected_event() == Expectation::Nothing && self.pass_time(false)
                {
                    continue;
                }
                if has_waiting && self.give_up_preventions() {
                    continue;
                }
                return Decision::Stuck;
            }
            if let [only] = self.candidates[..]
                && self.sleepers.is_empty()
            {
                return self.execute(only.thread, only.operation);
            }
            let is_candidate =
                |thread: &ThreadId| self.candidates.iter().any(|other| other.thread == *thread);
            let lets_time_pass = if yields { yielded >= FEW_YIELDS } else { !self.limits.is_patient };
            let view = View {
                candidates: &self.candidates,
                current: current.filter(is_candidate),
                yields,
                sleepers: if lets_time_pass { &self.sleepers } else { &[] },
                step: self.choices,
                polls: self.polls,
            };
            match self.strategy.choose(&view, &mut self.random) {
                Choice::Sleepers => {
                    let has_passed = self.pass_time(true);
                    assert!(has_passed, "the strategy lets time pass, but no thread waits for a time");
                    self.is_hurried |= !yields;
                }
                Choice::Run(thread) => {
                    let chosen = self.candidates.iter().find(|candidate| candidate.thread == thread);
                    let Some(chosen) = chosen else {
                        panic!("the strategy chose thread {}, which cannot run", thread.0);
                    };
                    return self.run_chosen(thread, chosen.operation);
                }
            }
        }
    }

    pub(super) fn run_chosen(&mut self, thread: ThreadId, operation: Operation) -> Decision {
        self.recording.push(thread);
        self.choices += 1;
        self.execute(thread, operation)
    }

    /// Records a yield, and returns how often the thread has yielded in succession.
    pub(super) fn count_yields(&mut self, current: Option<ThreadId>) -> u32 {
        let (last, count) = self.yielding;
        self.yielding = (current, if last == current { count + 1 } else { 1 });
        self.yielding.1
    }

    pub(super) fn collect_candidates(&mut self, spins: bool) {
        self.candidates.clear();
        self.sleepers.clear();
        let mut timed: SmallVec<[ThreadId; 8]> = SmallVec::new();
        for number in 0..self.threads.len() as u32 {
            let thread = ThreadId(number);
            let state = &self.threads[number as usize];
            let State::Stopped(operation) = state.state else { continue };
            if self.may_run(thread) {
                let reacquires = operation.acquires().is_some_and(|lock| {
                    self.reacquires(thread, lock).is_some_and(|block| block.atomic == Atomic::Yes)
                });
                self.candidates.push(Candidate {
                    thread,
                    operation,
                    reacquires,
                    is_nested: operation.acquires().is_some_and(|lock| self.holds_another(thread, lock)),
                    in_block: self.pattern.is_in_block(thread),
                    context: self.context(thread),
                    acquire_role: state.acquire_role,
                    role: state.role,
                    stays: state.stays,
                });
            } else if matches!(operation, Operation::Sleep { .. }) {
                self.sleepers.push(thread);
            } else if state.wake.is_none()
                && !matches!(operation, Operation::External { .. })
                && let Some(until) = operation.until()
                && (spins || !state.is_idle && until.saturating_sub(self.clock) <= LONGEST_DELAY)
            {
                timed.push(thread);
            }
        }
        // Sleeps end before time-outs: a time-out is offered only if no thread sleeps.
        if self.sleepers.is_empty() {
            self.sleepers.extend(timed);
        }
    }

    /// The next time at which a thread can go on by itself.
    pub(super) fn next_deadline(&self) -> Option<Nanos> {
        self.threads.iter().filter_map(Thread::deadline).min()
    }

    pub(super) fn may_run(&self, number: ThreadId) -> bool {
        let thread = self.known(number);
        let State::Stopped(operation) = thread.state else { return false };
        let is_open =
            |lock: LockId| self.locks.get(lock.0 as usize).is_none_or(|lock| lock.is_open_to(number));
        let is_due = |until: Option<Nanos>| until.is_some_and(|until| until <= self.clock);
        match operation {
            Operation::Begin
            | Operation::Attempt { .. }
            | Operation::Yield { .. }
            | Operation::Access { .. }
            | Operation::Step { .. } => true,
            Operation::Acquire { lock, .. } => is_open(lock),
            Operation::Resume { lock, .. } => thread.wake.is_some() && is_open(lock),
            Operation::Sleep { until, .. } => thread.wake.is_some() || is_due(Some(until)),
            Operation::External { until, .. } => thread.has_event || thread.wake.is_some() || is_due(until),
            Operation::Park { until, .. } => thread.permit || thread.wake.is_some() || is_due(until),
        }
    }

    /// Advances time to the next deadline of a sleeper, or of any thread. Returns whether there was one.
    pub(super) fn pass_time(&mut self, only_sleepers: bool) -> bool {
        // The sleepers were collected in the order of their numbers.
        let is_selected = |sleepers: &[ThreadId], number: usize| {
            !only_sleepers || sleepers.binary_search(&ThreadId(number as u32)).is_ok()
        };
        let selected =
            self.threads.iter().enumerate().filter(|(number, _)| is_selected(&self.sleepers, *number));
        let Some(next) = selected.filter_map(|(_, thread)| thread.deadline()).min() else { return false };
        self.clock = self.clock.max(next);
        for number in 0..self.threads.len() {
            let thread = &mut self.threads[number];
            if let State::Stopped(Operation::Resume { lock, until: Some(until), .. }) = thread.state
                && until <= self.clock
                && thread.wake.is_none()
                && is_selected(&self.sleepers, number)
            {
                thread.wake = Some(Wake::TimedOut);
                self.lock(lock).waiters.retain(|waiter| waiter.0 as usize != number);
            }
        }
        true
    }
}
