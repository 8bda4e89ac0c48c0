//! The conductor: one token, and an exact model of what every thread waits for.
//!
//! Threads run one at a time. The running thread reports its next operation ([`Conductor::arrive`]); the conductor determines
//! which threads can run, lets its strategy choose one, executes the chosen operation in the model and returns the thread that
//! runs now. Front ends enforce the decision: they resume the chosen thread and block the other.
//!
//! Time is virtual. It advances with every step and every read of the clock, and jumps when no thread can run before. No thread
//! really sleeps, and a time-out happens only when no other thread can run or when the strategy asks for it.

mod activity;
mod observed;

mod repetition;

use std::collections::VecDeque;

use smallvec::SmallVec;

use fissure_model::{
    ids::{LockId, SiteId, ThreadId},
    interleaving::Action,
};

pub use activity::Activity;

use crate::{
    monitor::Lock,
    observer::Observer,
    operation::{Nanos, Operation, Wake},
    pattern::{Acquired, Atomic, BlockKind, LockPattern, Reacquire, Violation, at},
    random::Random,
    recording::Recording,
    strategy::{Candidate, Choice, GoalRole, Strategy, Target, View},
    stuck::{Stuck, StuckThread, WaitsFor},
    trace::{Trace, TraceStep},
    unit::Units,
};

/// The virtual time of one step.
const STEP_TIME: Nanos = 1_000;
/// The number of successive yields or reads at one site after which a thread counts as spinning and other threads go first.
const SPINS: u32 = 1_000;

/// The number of successive yields of one thread, while all others wait for a time, after which that time passes. A thread that yields a few
/// times before it parks does not wait for the time-outs of others.
const YIELDS: u32 = 1_000;
/// While other threads can run, time passes only for a timed wait that ends within this time: longer delays are not plausible.
const LONGEST_DELAY: Nanos = 5_000_000_000;

/// The thread that runs now, or why none does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// This thread runs.
    Run(ThreadId),
    /// The same thread as before runs.
    Unchanged,
    /// No thread runs: every non-daemon thread has ended.
    Over,
    /// No thread can run, although some have not ended.
    Stuck,
    /// No thread may run: the execution exceeded its step limit.
    TooLong,
}

/// A thread's next operation, with the circumstances in which the thread reached it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The operation.
    pub operation: Operation,
    /// Whether the operation is quiet: no scheduling point if it can be executed at once, no step of the execution, and a lock that it
    /// acquires is ignored by the lock pattern. Either the operation is irrelevant, or other threads may wait for this one inside of its
    /// runtime.
    pub calm: bool,
    /// Whether the thread is inside an operation that is atomic for other threads; it is not preempted there unless it must wait.
    pub stays: bool,
    /// The operation's role in the pair of acquires that is the goal.
    pub target: Target,
    /// The operation's role in the accesses that are the goal.
    pub role: GoalRole,
}

/// The conductor's model of a thread.
#[derive(Debug)]
struct Thread {
    name: String,
    is_daemon: bool,
    state: State,
    permit: bool,
    /// Why its wait ended.
    wake: Option<Wake>,
    /// Whether its operation is quiet, see [`Arrival::calm`].
    is_quiet: bool,
    /// See [`Arrival::stays`].
    stays: bool,
    target: Target,
    role: GoalRole,
    /// The role of the operation that it executed last.
    last_role: GoalRole,
    /// The site where it yields or reads repeatedly, and how often so far.
    spin: (Option<SiteId>, u32),
    /// The locks that it holds, in the order of their acquires.
    held: Vec<LockId>,
    /// The lock that it tries to acquire, if that lock is not a monitor.
    attempts: Option<LockId>,
    /// Whether it waits for work that may never come, with a time-out that only ends the thread.
    is_idle: bool,
    /// The thread that continues once this one has reached its first operation.
    starter: Option<ThreadId>,
    units: Units,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It was announced, but is not started.
    Announced,
    /// It has stopped before an operation.
    Stopped(Operation),
    /// It has the token and runs.
    Running,
    /// It runs without the token.
    Away,
    /// It has ended.
    Ended,
}

/// The limits of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The number of steps after which the execution ends.
    pub steps: u64,
}

/// The conductor.
pub struct Conductor {
    threads: Vec<Thread>,
    locks: Vec<Lock>,
    strategy: Box<dyn Strategy>,
    random: Random,
    limits: Limits,
    clock: Nanos,
    choices: u64,
    /// How many operations were executed.
    executed: u64,
    recording: Recording,
    pattern: LockPattern,
    trace: Trace,
    violations: VecDeque<Violation>,
    observer: Option<Box<Observer>>,
    running: Option<ThreadId>,
    candidates: Vec<Candidate>,
    sleepers: Vec<ThreadId>,
    /// The thread that yielded last, and its number of successive yields.
    yielding: (Option<ThreadId>, u32),
    /// Whether time was advanced while other threads could run.
    is_hurried: bool,
}

impl Conductor {
    /// A conductor without threads. The seed determines the random choices of its strategy.
    pub fn new(strategy: Box<dyn Strategy>, seed: u64, limits: Limits) -> Self {
        Self {
            threads: Vec::new(),
            locks: Vec::new(),
            strategy,
            random: Random::new(seed),
            limits,
            clock: 0,
            choices: 0,
            executed: 0,
            recording: Recording::default(),
            pattern: LockPattern::default(),
            trace: Trace::default(),
            violations: VecDeque::new(),
            observer: None,
            running: None,
            candidates: Vec::new(),
            sleepers: Vec::new(),
            yielding: (None, 0),
            is_hurried: false,
        }
    }

    /// Adds a thread that will be started.
    pub fn announce(&mut self, name: &str, is_daemon: bool) -> ThreadId {
        let number = ThreadId(self.threads.len() as u32);
        self.threads.push(Thread {
            name: name.to_owned(),
            is_daemon,
            state: State::Announced,
            permit: false,
            wake: None,
            is_quiet: false,
            stays: false,
            target: Target::default(),
            role: GoalRole::default(),
            last_role: GoalRole::default(),
            spin: (None, 0),
            held: Vec::new(),
            attempts: None,
            is_idle: false,
            starter: None,
            units: Units::default(),
        });
        number
    }

    /// An announced thread has been started, by `parent` if that thread is controlled. Returns the thread that runs now; if it is not
    /// the parent, the parent continues later.
    pub fn start(&mut self, thread: ThreadId, parent: Option<ThreadId>) -> Decision {
        self.thread(thread).state = State::Stopped(Operation::Begin);
        let Some(parent) = parent else { return self.retry() };
        self.log(parent, Action::Start, None, Some(thread), None);
        self.observe(|observer| observer.started(parent, thread));
        if self.running != Some(parent) || !self.strategy.starts_at_once() {
            return Decision::Run(parent);
        }
        self.thread(parent).state = State::Stopped(Operation::Step { site: SiteId(0) });
        self.thread(thread).starter = Some(parent);
        self.execute(thread, Operation::Begin)
    }

    /// Gives the token to a thread that runs already, if no thread has it.
    pub fn adopt(&mut self, thread: ThreadId) -> bool {
        if self.running.is_some() {
            return false;
        }
        self.thread(thread).state = State::Running;
        self.running = Some(thread);
        true
    }

    /// A thread stops before an operation. Returns the thread that runs now.
    pub fn arrive(&mut self, thread: ThreadId, arrival: Arrival) -> Decision {
        let had_token = self.running == Some(thread);
        let operation = arrival.operation;
        let spins = matches!(operation, Operation::Yield { .. });
        let state = self.thread(thread);
        // A spin loop consists of yields, accesses and plain steps; any other operation ends the spinning.
        if !matches!(operation, Operation::Yield { .. } | Operation::Access { .. } | Operation::Step { .. }) {
            state.spin = (None, 0);
        }
        state.state = State::Stopped(operation);
        state.target = arrival.target;
        state.role = arrival.role;
        state.is_quiet = arrival.calm;
        state.stays = arrival.stays;
        self.check_for_race(thread, operation);
        if !had_token {
            // It ran without the token and is controlled again.
            return self.retry();
        }
        self.running = None;
        // A spinning thread waits for another thread, even inside an atomic operation.
        let stays = arrival.calm || arrival.stays && !spins;
        let is_within = self.executed < self.limits.steps;
        if self.may_run(thread) && (stays || is_within && self.is_only_runnable(thread)) {
            return self.execute(thread, operation);
        }
        if let Some(starter) = self.thread(thread).starter.take() {
            return self.execute(starter, Operation::Step { site: SiteId(0) });
        }
        self.decide(Some(thread), spins)
    }

    /// The next operation of a thread is to wait for work, as idle workers of a pool do. Time does not advance to its time-out while other
    /// threads can run, because the time-out would only end the thread.
    pub fn idles(&mut self, thread: ThreadId) {
        self.thread(thread).is_idle = true;
    }

    /// Why a thread's wait ended.
    pub fn take_wake(&mut self, thread: ThreadId) -> Wake {
        self.thread(thread).wake.take().unwrap_or(Wake::Called)
    }

    /// A thread reads a shared location, or yields. Returns whether it must let other threads go first now, because it spins.
    pub fn spins(&mut self, thread: ThreadId, site: SiteId) -> bool {
        let spin = &mut self.thread(thread).spin;
        if spin.0 == Some(site) {
            spin.1 += 1;
        } else {
            *spin = (Some(site), 1);
        }
        if spin.1 < SPINS {
            return false;
        }
        spin.1 = 0;
        true
    }

    /// A thread has acquired a lock that is not a monitor, exclusively or shared.
    pub fn acquired(&mut self, thread: ThreadId, lock: LockId, site: SiteId, is_shared: bool) {
        self.thread(thread).attempts = None;
        self.report_lock(thread, lock, is_shared, site);
        let is_new = self.lock(lock).enter(thread, 1);
        if is_new {
            self.record_acquire(thread, lock, site, is_shared);
        }
    }

    /// A lock is internal to a library, such as that of an executor's own bookkeeping. No atomic block of the application relies on it, so
    /// the checker of the lock pattern ignores it.
    pub fn mark_internal(&mut self, lock: LockId) {
        self.lock(lock).is_internal = true;
    }

    /// Whether a lock is internal to a library.
    pub fn is_internal(&self, lock: LockId) -> bool {
        self.locks.get(lock.0 as usize).is_some_and(|lock| lock.is_internal)
    }

    /// A thread has released a lock.
    pub fn release(&mut self, thread: ThreadId, lock: LockId) {
        if self.pattern.exit(thread, BlockKind::Monitor(lock)) {
            self.log(thread, Action::BlockExit, None, None, None);
        }
        self.observe(|observer| observer.unlocked(thread, lock));
        if self.lock(lock).leave(thread) {
            self.record_release(thread, lock);
            if !self.lock(lock).is_quiet {
                self.log(thread, Action::Release, Some(lock), None, None);
            }
        }
    }

    /// A thread has released a lock that another thread may have acquired.
    pub fn give_back(&mut self, thread: ThreadId, lock: LockId) {
        let owner = self.lock(lock).owner.unwrap_or(thread);
        self.release(owner, lock);
    }

    /// A thread has entered a block.
    pub fn enter_block(&mut self, thread: ThreadId, site: SiteId, kind: BlockKind, atomic: Atomic) {
        let step = if atomic == Atomic::No {
            self.trace.last()
        } else {
            self.log(thread, Action::BlockEnter, None, None, Some(site))
        };
        self.pattern.enter(thread, site, kind, atomic, step);
    }

    /// A thread has left a block that is a method.
    pub fn exit_block(&mut self, thread: ThreadId) {
        self.pattern.exit(thread, BlockKind::Method);
        self.log(thread, Action::BlockExit, None, None, None);
    }

    /// The innermost block in which an acquire of the lock by this thread would be a reacquire, if there is one.
    pub fn reacquires(&self, thread: ThreadId, lock: LockId) -> Option<Reacquire> {
        let holds = self.locks.get(lock.0 as usize).is_some_and(|lock| lock.owner == Some(thread));
        if holds { None } else { self.pattern.reacquires(thread, lock) }
    }

    /// Whether an acquire of the lock by this thread could land between two acquires of another thread's block.
    pub fn may_interfere(&self, thread: ThreadId, lock: LockId) -> bool {
        self.pattern.is_expected(thread, lock)
    }

    /// Sets whether a block must be atomic.
    pub fn judge_block(&mut self, thread: ThreadId, block: usize, is_atomic: bool) {
        self.pattern.judge(thread, block, is_atomic);
    }

    /// A thread releases its monitor and waits in it. Returns the operation that it must stop before.
    pub fn wait(&mut self, thread: ThreadId, lock: LockId, until: Option<Nanos>, site: SiteId) -> Operation {
        self.pattern.wait(thread, lock);
        let count = self.lock(lock).leave_all(thread);
        self.observe(|observer| observer.unlocked_all(thread, lock));
        self.split_units(thread);
        if count > 0 {
            self.record_release(thread, lock);
        }
        self.lock(lock).waiters.push(thread);
        self.log(thread, Action::Wait, Some(lock), None, Some(site));
        Operation::Resume { lock, count, until, site }
    }

    /// Wakes one or all threads that wait in a monitor; returns whether there was any. The notifying thread may be uncontrolled.
    pub fn notify(&mut self, thread: Option<ThreadId>, lock: LockId, all: bool, site: SiteId) -> bool {
        let waiters = std::mem::take(&mut self.lock(lock).waiters);
        if let Some(thread) = thread {
            self.log(thread, Action::Notify, Some(lock), None, Some(site));
        }
        let woken = match waiters.len() {
            0 => return false,
            _ if all => waiters.clone(),
            1 => waiters.clone(),
            _ => {
                let index = self.strategy.notify(&waiters, &mut self.random).min(waiters.len() - 1);
                self.recording.push(waiters[index]);
                self.choices += 1;
                vec![waiters[index]]
            }
        };
        self.lock(lock).waiters = waiters.into_iter().filter(|waiter| !woken.contains(waiter)).collect();
        for waiter in woken {
            self.thread(waiter).wake.get_or_insert(Wake::Called);
            if let Some(thread) = thread {
                self.observe(|observer| observer.woke(thread, waiter));
            }
        }
        true
    }

    /// Gives a thread its permit.
    pub fn unpark(&mut self, thread: Option<ThreadId>, parked: ThreadId) {
        self.thread(parked).permit = true;
        if let Some(thread) = thread {
            self.log(thread, Action::Unpark, None, Some(parked), None);
            self.observe(|observer| observer.permitted(thread, parked));
        }
    }

    /// A thread is interrupted: its wait, sleep or park ends.
    pub fn interrupt(&mut self, thread: Option<ThreadId>, interrupted: ThreadId) {
        if let Some(thread) = thread {
            self.log(thread, Action::Interrupt, None, Some(interrupted), None);
        }
        if let State::Stopped(operation) = self.thread(interrupted).state {
            match operation {
                Operation::Resume { lock, .. } if self.thread(interrupted).wake.is_none() => {
                    self.lock(lock).waiters.retain(|waiter| *waiter != interrupted);
                    self.thread(interrupted).wake = Some(Wake::Interrupted);
                }
                Operation::Sleep { .. } | Operation::Park { .. } => {
                    self.thread(interrupted).wake.get_or_insert(Wake::Interrupted);
                }
                _ => {}
            }
        }
    }

    /// An exception leaves a thread's outermost method.
    pub fn throws(&mut self, thread: ThreadId) {
        self.log(thread, Action::Throw, None, None, None);
    }

    /// A thread is about to end the whole program.
    pub fn exits(&mut self, thread: ThreadId) {
        self.log(thread, Action::Other, None, None, None);
    }

    /// A thread has ended. Returns the thread that runs now.
    pub fn end(&mut self, thread: ThreadId) -> Decision {
        self.log(thread, Action::End, None, None, None);
        self.thread(thread).state = State::Ended;
        if self.running != Some(thread) {
            return self.retry();
        }
        self.running = None;
        if let Some(starter) = self.thread(thread).starter.take() {
            return self.execute(starter, Operation::Step { site: SiteId(0) });
        }
        self.decide(None, false)
    }

    /// The running thread does not reach its next scheduling point, because it blocks on something that is not modelled: another thread
    /// runs beside it. Returns that thread.
    pub fn leave(&mut self, thread: ThreadId) -> Decision {
        if self.running != Some(thread) {
            return Decision::Unchanged;
        }
        self.thread(thread).state = State::Away;
        self.thread(thread).starter = None;
        self.running = None;
        self.decide(None, false)
    }

    /// An uncontrolled thread may have changed something while no thread could run. Returns the thread that runs now.
    pub fn retry(&mut self) -> Decision {
        if self.running.is_some() { Decision::Unchanged } else { self.decide(None, false) }
    }

    /// The virtual time; reading it advances it, unless the read is quiet.
    pub fn now(&mut self, is_quiet: bool) -> Nanos {
        if !is_quiet {
            self.clock = self.clock.saturating_add(STEP_TIME);
        }
        self.clock
    }

    /// The locks that a thread holds, except those of quiet acquires, in the order of their acquires.
    pub fn held(&self, thread: ThreadId) -> impl Iterator<Item = LockId> {
        let held = self.threads.get(thread.0 as usize).map_or(&[][..], |thread| &thread.held);
        held.iter().copied().filter(|lock| self.locks.get(lock.0 as usize).is_some_and(|lock| !lock.is_quiet))
    }

    fn holds_another(&self, thread: ThreadId, lock: LockId) -> bool {
        self.held(thread).any(|held| held != lock)
    }

    /// The thread that has the token.
    pub fn running(&self) -> Option<ThreadId> {
        self.running
    }

    /// Whether a thread other than the running one could run.
    pub fn others_may_run(&self) -> bool {
        (0..self.threads.len() as u32).map(ThreadId).any(|thread| self.may_run(thread))
    }

    /// A thread's name.
    pub fn name(&self, thread: ThreadId) -> &str {
        self.threads.get(thread.0 as usize).map_or("", |thread| &thread.name)
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How many choices were made.
    pub fn choices(&self) -> u64 {
        self.choices
    }

    /// How many operations were executed.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Whether time was advanced while other threads could run: the consequences of such a sleep or time-out may never occur in reality.
    pub fn is_hurried(&self) -> bool {
        self.is_hurried
    }

    /// All choices so far.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The steps so far.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The strategy.
    pub fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }

    /// Takes the next violation that was executed.
    pub fn take_violation(&mut self) -> Option<Violation> {
        self.violations.pop_front()
    }

    /// The stopped threads and what each of them waits for.
    pub fn stuck(&self) -> Stuck {
        let stuck = |(number, thread): (usize, &Thread)| {
            let State::Stopped(operation) = thread.state else { return None };
            let waits_for = match operation {
                Operation::Acquire { lock, .. } => WaitsFor::Lock(lock),
                Operation::Resume { lock, .. } if thread.wake.is_some() => WaitsFor::Lock(lock),
                Operation::Resume { lock, .. } => WaitsFor::Notification(lock),
                Operation::Park { .. } => thread.attempts.map_or(WaitsFor::Permit, WaitsFor::Lock),
                _ => WaitsFor::Turn,
            };
            Some(StuckThread {
                thread: ThreadId(number as u32),
                is_daemon: thread.is_daemon,
                waits_for,
                site: operation.site(),
                holds: thread.held.clone(),
            })
        };
        Stuck::new(self.threads.iter().enumerate().filter_map(stuck).collect(), |lock| {
            self.locks.get(lock.0 as usize).and_then(|lock| lock.owner)
        })
    }

    fn decide(&mut self, current: Option<ThreadId>, yields: bool) -> Decision {
        if !self.is_wanted() {
            return Decision::Over;
        }
        if self.executed >= self.limits.steps {
            return Decision::TooLong;
        }
        let spins = yields && self.spins_alone(current);
        loop {
            self.collect_candidates(spins);
            if self.candidates.is_empty() {
                if self.pass_time(false) {
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
            let view = View {
                candidates: &self.candidates,
                current: current.filter(is_candidate),
                yields,
                sleepers: &self.sleepers,
                step: self.choices,
            };
            match self.strategy.choose(&view, &mut self.random) {
                Choice::Sleepers if self.pass_time(true) => self.is_hurried |= !yields,
                Choice::Sleepers => {
                    let first = self.candidates[0];
                    return self.run_chosen(first.thread, first.operation);
                }
                Choice::Run(thread) => {
                    let operation = self
                        .candidates
                        .iter()
                        .find(|candidate| candidate.thread == thread)
                        .map_or(Operation::Begin, |candidate| candidate.operation);
                    return self.run_chosen(thread, operation);
                }
            }
        }
    }

    fn run_chosen(&mut self, thread: ThreadId, operation: Operation) -> Decision {
        self.recording.push(thread);
        self.choices += 1;
        self.execute(thread, operation)
    }

    /// Whether a controlled non-daemon thread has been started and has not ended.
    pub fn is_wanted(&self) -> bool {
        self.threads
            .iter()
            .any(|thread| !thread.is_daemon && !matches!(thread.state, State::Ended | State::Announced))
    }

    /// Records a yield, and returns whether the thread has yielded so often that it waits for another thread's time-out.
    fn spins_alone(&mut self, current: Option<ThreadId>) -> bool {
        let (last, count) = self.yielding;
        self.yielding = (current, if last == current { count + 1 } else { 1 });
        self.yielding.1 >= YIELDS
    }

    fn collect_candidates(&mut self, spins: bool) {
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
                    target: state.target,
                    role: state.role,
                    stays: state.stays,
                });
            } else if matches!(operation, Operation::Sleep { .. }) {
                self.sleepers.push(thread);
            } else if state.wake.is_none()
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

    fn may_run(&self, number: ThreadId) -> bool {
        let Some(thread) = self.threads.get(number.0 as usize) else { return false };
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
            Operation::Park { until, .. } => thread.permit || thread.wake.is_some() || is_due(until),
        }
    }

    /// Advances time to the next deadline of a sleeper, or of any thread. Returns whether there was one.
    fn pass_time(&mut self, only_sleepers: bool) -> bool {
        let is_selected = |sleepers: &[ThreadId], number: usize| {
            !only_sleepers || sleepers.contains(&ThreadId(number as u32))
        };
        let until = |thread: &Thread| match thread.state {
            State::Stopped(operation) if thread.wake.is_none() => operation.until(),
            _ => None,
        };
        let selected =
            self.threads.iter().enumerate().filter(|(number, _)| is_selected(&self.sleepers, *number));
        let Some(next) = selected.filter_map(|(_, thread)| until(thread)).min() else { return false };
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

    fn execute(&mut self, thread: ThreadId, operation: Operation) -> Decision {
        let state = self.thread(thread);
        let role = std::mem::take(&mut state.role);
        state.is_idle = false;
        (state.state, state.last_role) = (State::Running, role);
        // Quiet operations take no virtual time, because their number may differ from run to run.
        if !state.is_quiet {
            self.clock = self.clock.saturating_add(STEP_TIME);
            self.executed += 1;
        }
        self.running = Some(thread);
        match operation {
            Operation::Begin => {
                self.log(thread, Action::Begin, None, None, None);
            }
            Operation::Acquire { lock, site } => {
                self.report_lock(thread, lock, false, site);
                if self.lock(lock).enter(thread, 1) {
                    self.record_acquire(thread, lock, site, false);
                }
            }
            Operation::Resume { lock, count, site, .. } => {
                if count > 0 {
                    self.lock(lock).enter(thread, count);
                    self.thread(thread).held.push(lock);
                }
                for _ in 0..count {
                    self.report_lock(thread, lock, false, site);
                }
                let step = self.log(thread, Action::Acquire, Some(lock), None, Some(site));
                self.pattern.resume(Acquired { thread, site, step, is_shared: false }, lock);
                self.strategy.acquired(thread, lock, Target::default(), GoalRole::default());
            }
            Operation::Sleep { site, .. } => {
                let wake = self.thread(thread).wake.unwrap_or(Wake::TimedOut);
                self.thread(thread).wake = Some(wake);
                self.log(thread, Action::Sleep, None, None, Some(site));
            }
            Operation::Park { site, .. } => {
                let state = self.thread(thread);
                let had_permit = std::mem::take(&mut state.permit);
                state.wake.get_or_insert(if had_permit { Wake::Called } else { Wake::TimedOut });
                let for_a_lock = state.attempts.is_some();
                self.log(thread, Action::Park, None, None, Some(site));
                self.observe(|observer| observer.parked(thread, for_a_lock));
                if !for_a_lock {
                    self.split_units(thread);
                }
            }
            Operation::Attempt { lock, .. } => self.thread(thread).attempts = Some(lock),
            Operation::Access { location, is_write, site } => {
                self.log_access(thread, location, is_write, site);
            }
            // A thread that executes another step no longer tries to acquire the lock.
            Operation::Step { site } => {
                let state = self.thread(thread);
                state.attempts = None;
                if !state.is_quiet && site.0 != 0 {
                    self.log(thread, Action::Atomic, None, None, Some(site));
                }
            }
            Operation::Yield { .. } => {}
        }
        self.strategy.executed(thread, &operation, role);
        Decision::Run(thread)
    }

    fn record_acquire(&mut self, thread: ThreadId, lock: LockId, site: SiteId, is_shared: bool) {
        let state = self.thread(thread);
        state.held.push(lock);
        let (is_quiet, target, role) = (state.is_quiet, state.target, state.last_role);
        self.lock(lock).is_quiet = is_quiet;
        if is_quiet {
            return;
        }
        let step = self.log(thread, Action::Acquire, Some(lock), None, Some(site));
        if !self.lock(lock).is_internal
            && let Some(violation) = self.pattern.acquire(Acquired { thread, site, step, is_shared }, lock)
        {
            self.violations.push_back(violation);
        }
        self.strategy.acquired(thread, lock, target, role);
    }

    fn record_release(&mut self, thread: ThreadId, lock: LockId) {
        self.strategy.released(thread, lock);
        let held = &mut self.thread(thread).held;
        if held.pop_if(|last| *last == lock).is_none()
            && let Some(index) = held.iter().rposition(|held| *held == lock)
        {
            held.remove(index);
        }
    }

    /// Inlined, because most arguments are constants at the call sites and most of the work folds away.
    #[inline(always)]
    fn log(
        &mut self,
        thread: ThreadId,
        action: Action,
        lock: Option<LockId>,
        other: Option<ThreadId>,
        site: Option<SiteId>,
    ) -> u64 {
        self.trace.push(TraceStep { thread, action, lock, other, site, location: None })
    }

    /// The thread with this number. Only the conductor assigns numbers; for an unassigned one a nameless daemon thread is added, so that
    /// this cannot fail.
    #[inline]
    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if thread.0 as usize >= self.threads.len() {
            self.add_missing(thread);
        }
        &mut self.threads[thread.0 as usize]
    }

    #[cold]
    fn add_missing(&mut self, thread: ThreadId) {
        while thread.0 as usize >= self.threads.len() {
            self.announce("", true);
        }
    }

    #[inline]
    fn lock(&mut self, lock: LockId) -> &mut Lock {
        at(&mut self.locks, lock.0)
    }
}
