//! The conductor: one token, and an exact model of what every thread waits for.
//!
//! Threads run one at a time. The one that runs says what it is about to do ([`Conductor::arrive`]); the conductor finds out
//! who may go on, lets its strategy choose, executes the chosen operation in the model and says who runs now. Front ends make
//! that true: they let the chosen thread go and make the other wait.
//!
//! Time is virtual. It passes with every step and every look at the clock, and jumps when nobody can run before. So nobody
//! sleeps for real, and a time-out happens only when there is nothing else left to happen.

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

/// How much virtual time a step takes.
const STEP_TIME: Nanos = 1_000;
/// After so many yields or reads at one place without anything else, others go first.
const SPINS: u32 = 1_000;

/// So many times in a row a thread yields while all others wait for a time, until that time passes: a thread that yields before it parks
/// does not wait for anybody's time-out.
const YIELDS: u32 = 1_000;
/// Time passes for a wait with a time-out, while others can run, only if this much is left of it: no thread is delayed for longer by chance.
const LONGEST_DELAY: Nanos = 1_000_000_000;

/// Who runs now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// This thread.
    Run(ThreadId),
    /// Whoever ran before.
    Unchanged,
    /// Nobody: every thread that the program waits for has ended.
    Over,
    /// Nobody can, though some are not at their end.
    Stuck,
    /// Nobody shall: there were more steps than allowed.
    TooLong,
}

/// How a thread comes to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// What it is about to do.
    pub operation: Operation,
    /// It must not be made to wait if it need not, and a lock that it gets this way is none of the lock pattern's: the operation is
    /// of no interest, or others may wait for the thread inside of its runtime.
    pub calm: bool,
    /// It is in the midst of something that others see as a whole, and goes on if it need not wait.
    pub stays: bool,
    /// What the operation is to the pair of acquires that is looked for.
    pub target: Target,
    /// What the operation is to the accesses that are looked for.
    pub role: GoalRole,
}

/// A thread as the conductor sees it.
#[derive(Debug)]
struct Thread {
    name: String,
    is_daemon: bool,
    state: State,
    permit: bool,
    /// Why it goes on after it waited.
    wake: Option<Wake>,
    /// Whether it came calmly to its operation.
    calm: bool,
    /// Whether it came to it in the midst of something.
    stays: bool,
    target: Target,
    role: GoalRole,
    /// What the operation that it executed last was to the accesses that are looked for.
    got_with: GoalRole,
    /// Where it yields or reads again and again, and how often so far.
    spin: (Option<SiteId>, u32),
    /// The locks that it holds, in the order in which it got them.
    held: Vec<LockId>,
    /// The lock that it tries for, of the kind that blocks by other means.
    attempts: Option<LockId>,
    /// Whether it waits for work that may never come, with a time-out that only ends the thread.
    is_idle: bool,
    /// Who goes on once this thread has come to its first operation.
    starter: Option<ThreadId>,
    units: Units,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It was announced, but is not started.
    Announced,
    /// It has stopped before an operation.
    Stopped(Operation),
    /// It is the one that runs.
    Running,
    /// It runs without the token.
    Away,
    /// It is over.
    Ended,
}

/// What the conductor was told before it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// After so many steps the execution ends.
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
    /// The thread that yielded last, and how often without another choice.
    yielding: (Option<ThreadId>, u32),
    /// Time was made to pass while others could run.
    is_hurried: bool,
}

impl Conductor {
    /// A conductor without threads. What its strategy draws follows from the seed.
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

    /// A thread that will be started.
    pub fn announce(&mut self, name: &str, is_daemon: bool) -> ThreadId {
        let number = ThreadId(self.threads.len() as u32);
        self.threads.push(Thread {
            name: name.to_owned(),
            is_daemon,
            state: State::Announced,
            permit: false,
            wake: None,
            calm: false,
            stays: false,
            target: Target::default(),
            role: GoalRole::default(),
            got_with: GoalRole::default(),
            spin: (None, 0),
            held: Vec::new(),
            attempts: None,
            is_idle: false,
            starter: None,
            units: Units::default(),
        });
        number
    }

    /// An announced thread has been started, by `parent` if that is under control. Says who runs now; if that is not the parent,
    /// the parent's turn comes again.
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

    /// A thread that runs already gets the token, if nobody has it.
    pub fn adopt(&mut self, thread: ThreadId) -> bool {
        if self.running.is_some() {
            return false;
        }
        self.thread(thread).state = State::Running;
        self.running = Some(thread);
        true
    }

    /// A thread stops before an operation. Says who runs now.
    pub fn arrive(&mut self, thread: ThreadId, arrival: Arrival) -> Decision {
        let had_token = self.running == Some(thread);
        let operation = arrival.operation;
        let spins = matches!(operation, Operation::Yield { .. });
        let state = self.thread(thread);
        // Looking at things again and again is what spinning is.
        if !matches!(operation, Operation::Yield { .. } | Operation::Access { .. } | Operation::Step { .. }) {
            state.spin = (None, 0);
        }
        state.state = State::Stopped(operation);
        state.target = arrival.target;
        state.role = arrival.role;
        state.calm = arrival.calm;
        state.stays = arrival.stays;
        self.look_for_race(thread, operation);
        if !had_token {
            // It comes back from where it ran without the token.
            return self.retry();
        }
        self.running = None;
        // Whoever spins waits for somebody else, wherever it is.
        let stays = arrival.calm || arrival.stays && !spins;
        let is_within = self.executed < self.limits.steps;
        if self.may_run(thread) && (stays || is_within && self.has_no_rival(thread)) {
            return self.execute(thread, operation);
        }
        if let Some(starter) = self.thread(thread).starter.take() {
            return self.execute(starter, Operation::Step { site: SiteId(0) });
        }
        self.decide(Some(thread), spins)
    }

    /// The next operation of a thread is to wait for work, as idle threads of a pool do. Time does not pass for its sake while others can
    /// run, for nothing would come of it but the end of the thread.
    pub fn idles(&mut self, thread: ThreadId) {
        self.thread(thread).is_idle = true;
    }

    /// Why a thread that waited goes on.
    pub fn take_wake(&mut self, thread: ThreadId) -> Wake {
        self.thread(thread).wake.take().unwrap_or(Wake::Called)
    }

    /// A thread reads something that others may change, or offers to wait. Says whether it must let others go first now, because it
    /// does nothing else any more.
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

    /// A thread has got a lock of the kind that blocks by other means, and perhaps shares it with others.
    pub fn acquired(&mut self, thread: ThreadId, lock: LockId, site: SiteId, is_shared: bool) {
        self.thread(thread).attempts = None;
        self.tell_lock(thread, lock, is_shared, site);
        let is_new = self.lock(lock).enter(thread, 1);
        if is_new {
            self.got(thread, lock, site, is_shared);
        }
    }

    /// A thread has given a lock back.
    pub fn release(&mut self, thread: ThreadId, lock: LockId) {
        if self.pattern.exit(thread, BlockKind::Monitor(lock)) {
            self.log(thread, Action::BlockExit, None, None, None);
        }
        self.observe(|observer| observer.unlocked(thread, lock));
        if self.lock(lock).leave(thread) {
            self.lost(thread, lock);
            if !self.lock(lock).is_calm {
                self.log(thread, Action::Release, Some(lock), None, None);
            }
        }
    }

    /// A thread has given a lock back that perhaps another one had got.
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

    /// The innermost block in which the thread would acquire the lock again, if it would.
    pub fn reacquires(&self, thread: ThreadId, lock: LockId) -> Option<Reacquire> {
        let holds = self.locks.get(lock.0 as usize).is_some_and(|lock| lock.owner == Some(thread));
        if holds { None } else { self.pattern.reacquires(thread, lock) }
    }

    /// Whether an acquire of the lock by this thread could come in between two acquires of another's block.
    pub fn may_interfere(&self, thread: ThreadId, lock: LockId) -> bool {
        self.pattern.is_expected(thread, lock)
    }

    /// Decides whether a block counts.
    pub fn judge_block(&mut self, thread: ThreadId, block: usize, is_atomic: bool) {
        self.pattern.judge(thread, block, is_atomic);
    }

    /// A thread gives its monitor back and waits in it. Gives what it must stop before.
    pub fn wait(&mut self, thread: ThreadId, lock: LockId, until: Option<Nanos>, site: SiteId) -> Operation {
        self.pattern.wait(thread, lock);
        let count = self.lock(lock).leave_all(thread);
        self.observe(|observer| observer.unlocked_all(thread, lock));
        self.split_units(thread);
        if count > 0 {
            self.lost(thread, lock);
        }
        self.lock(lock).waiters.push(thread);
        self.log(thread, Action::Wait, Some(lock), None, Some(site));
        Operation::Resume { lock, count, until, site }
    }

    /// Wakes one or all who wait in a monitor; says whether there was any. Whoever does that need not be under control.
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
                let place = self.strategy.notify(&waiters, &mut self.random).min(waiters.len() - 1);
                self.recording.push(waiters[place]);
                self.choices += 1;
                vec![waiters[place]]
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

    /// A thread is interrupted: it no longer waits.
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

    /// A thread is over, and so is what it held. Says who runs now.
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

    /// The thread that runs does not come back, for something that is not modelled holds it up: others go on beside it. Says who.
    pub fn leave(&mut self, thread: ThreadId) -> Decision {
        if self.running != Some(thread) {
            return Decision::Unchanged;
        }
        self.thread(thread).state = State::Away;
        self.thread(thread).starter = None;
        self.running = None;
        self.decide(None, false)
    }

    /// Something happened outside of control while nobody could run. Says who runs now.
    pub fn retry(&mut self) -> Decision {
        if self.running.is_some() { Decision::Unchanged } else { self.decide(None, false) }
    }

    /// The virtual time; looking at it takes time, unless the look is of no interest.
    pub fn now(&mut self, is_calm: bool) -> Nanos {
        if !is_calm {
            self.clock = self.clock.saturating_add(STEP_TIME);
        }
        self.clock
    }

    /// The locks that a thread holds and that are part of the execution's steps, in the order in which it got them.
    pub fn held(&self, thread: ThreadId) -> impl Iterator<Item = LockId> {
        let held = self.threads.get(thread.0 as usize).map_or(&[][..], |thread| &thread.held);
        held.iter().copied().filter(|lock| self.locks.get(lock.0 as usize).is_some_and(|lock| !lock.is_calm))
    }

    fn holds_another(&self, thread: ThreadId, lock: LockId) -> bool {
        self.held(thread).any(|held| held != lock)
    }

    /// Who has the token.
    pub fn running(&self) -> Option<ThreadId> {
        self.running
    }

    /// Whether anybody but the one who runs could run.
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

    /// Whether time was made to pass while others could run: what a sleep or a time-out then leads to may never happen otherwise.
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

    /// A violation that was executed and not asked for before.
    pub fn take_violation(&mut self) -> Option<Violation> {
        self.violations.pop_front()
    }

    /// Who waits for what.
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
            self.look_around(spins);
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
                    return self.chosen(first.thread, first.operation);
                }
                Choice::Run(thread) => {
                    let operation = self
                        .candidates
                        .iter()
                        .find(|candidate| candidate.thread == thread)
                        .map_or(Operation::Begin, |candidate| candidate.operation);
                    return self.chosen(thread, operation);
                }
            }
        }
    }

    fn chosen(&mut self, thread: ThreadId, operation: Operation) -> Decision {
        self.recording.push(thread);
        self.choices += 1;
        self.execute(thread, operation)
    }

    /// Whether the program still waits for a thread that is under control.
    pub fn is_wanted(&self) -> bool {
        self.threads
            .iter()
            .any(|thread| !thread.is_daemon && !matches!(thread.state, State::Ended | State::Announced))
    }

    /// Whether a thread has yielded so often that it waits for somebody, be it for a time-out.
    fn spins_alone(&mut self, current: Option<ThreadId>) -> bool {
        let (last, count) = self.yielding;
        self.yielding = (current, if last == current { count + 1 } else { 1 });
        self.yielding.1 >= YIELDS
    }

    fn look_around(&mut self, spins: bool) {
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
        // Time-outs are for when there is nothing else to wait for.
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

    /// Lets time pass until somebody's time has come: that of one of the sleepers, or anybody's. Says whether there was anybody.
    fn pass_time(&mut self, only_sleepers: bool) -> bool {
        let is_meant = |sleepers: &[ThreadId], number: usize| {
            !only_sleepers || sleepers.contains(&ThreadId(number as u32))
        };
        let until = |thread: &Thread| match thread.state {
            State::Stopped(operation) if thread.wake.is_none() => operation.until(),
            _ => None,
        };
        let meant = self.threads.iter().enumerate().filter(|(number, _)| is_meant(&self.sleepers, *number));
        let Some(next) = meant.filter_map(|(_, thread)| until(thread)).min() else { return false };
        self.clock = self.clock.max(next);
        for number in 0..self.threads.len() {
            let thread = &mut self.threads[number];
            if let State::Stopped(Operation::Resume { lock, until: Some(until), .. }) = thread.state
                && until <= self.clock
                && thread.wake.is_none()
                && is_meant(&self.sleepers, number)
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
        (state.state, state.got_with) = (State::Running, role);
        // What is of no interest takes no time: it may differ from run to run.
        if !state.calm {
            self.clock = self.clock.saturating_add(STEP_TIME);
            self.executed += 1;
        }
        self.running = Some(thread);
        match operation {
            Operation::Begin => {
                self.log(thread, Action::Begin, None, None, None);
            }
            Operation::Acquire { lock, site } => {
                self.tell_lock(thread, lock, false, site);
                if self.lock(lock).enter(thread, 1) {
                    self.got(thread, lock, site, false);
                }
            }
            Operation::Resume { lock, count, site, .. } => {
                if count > 0 {
                    self.lock(lock).enter(thread, count);
                    self.thread(thread).held.push(lock);
                }
                for _ in 0..count {
                    self.tell_lock(thread, lock, false, site);
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
            // Whoever does anything else does not try any more.
            Operation::Step { site } => {
                let state = self.thread(thread);
                state.attempts = None;
                if !state.calm && site.0 != 0 {
                    self.log(thread, Action::Atomic, None, None, Some(site));
                }
            }
            Operation::Yield { .. } => {}
        }
        self.strategy.executed(thread, &operation, role);
        Decision::Run(thread)
    }

    fn got(&mut self, thread: ThreadId, lock: LockId, site: SiteId, is_shared: bool) {
        let state = self.thread(thread);
        state.held.push(lock);
        let (is_calm, target, role) = (state.calm, state.target, state.got_with);
        self.lock(lock).is_calm = is_calm;
        if is_calm {
            return;
        }
        let step = self.log(thread, Action::Acquire, Some(lock), None, Some(site));
        if let Some(violation) = self.pattern.acquire(Acquired { thread, site, step, is_shared }, lock) {
            self.violations.push_back(violation);
        }
        self.strategy.acquired(thread, lock, target, role);
    }

    fn lost(&mut self, thread: ThreadId, lock: LockId) {
        self.strategy.released(thread, lock);
        let held = &mut self.thread(thread).held;
        if held.pop_if(|last| *last == lock).is_none()
            && let Some(place) = held.iter().rposition(|held| *held == lock)
        {
            held.remove(place);
        }
    }

    /// What it is about is mostly known where it is called, so that little is left to do.
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

    /// Numbers are given by the conductor alone; one that it did not give is made to stand for something.
    #[inline]
    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if thread.0 as usize >= self.threads.len() {
            self.make_up(thread);
        }
        &mut self.threads[thread.0 as usize]
    }

    #[cold]
    fn make_up(&mut self, thread: ThreadId) {
        while thread.0 as usize >= self.threads.len() {
            self.announce("", true);
        }
    }

    #[inline]
    fn lock(&mut self, lock: LockId) -> &mut Lock {
        at(&mut self.locks, lock.0)
    }
}
