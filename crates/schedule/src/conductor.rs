//! The conductor: one token, and an exact model of what every thread waits for.
//!
//! Threads run one at a time. The running thread reports its next operation ([`Conductor::arrive`]); the conductor determines
//! which threads can run, lets its strategy choose one, executes the chosen operation in the model and returns the thread that
//! runs now. Front ends enforce the decision: they resume the chosen thread and block the other.
//!
//! Time is virtual. It advances with every step and every read of the clock, and jumps when no thread can run before. No thread
//! really sleeps, and a time-out happens only when no other thread can run or when the strategy asks for it.
//!
//! A state that cannot occur (a thread that was never announced, a choice that is no candidate) is a defect of a strategy or of a front
//! end. The conductor then panics with an explanation instead of continuing with an invented value: the schedule of such a run would
//! prove nothing. Front ends catch the panic, end control and mark the run.

mod activity;
mod choosing;
mod execution;
mod external;
mod locking;
mod observed;
mod prevention;
mod queries;
mod repetition;
mod waiting;

use std::collections::VecDeque;

use fissure_model::{
    ids::{LockId, SiteId, ThreadId},
    interleaving::Action,
    recording::Recording,
    settings::Control,
};

pub use crate::monitor::Notification;
pub use activity::Activity;
use external::ForeignWake;
pub use external::{Expectation, Outside};
pub use prevention::Parts;
use prevention::Preventions;

use crate::{
    monitor::Lock,
    observer::Observer,
    operation::{Nanos, Operation, Wake},
    pattern::{LockPattern, Violation, at},
    random::Random,
    strategy::{AcquireRole, Candidate, GoalRole, Strategy},
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
/// The same for sleeps and short time-outs. A thread that yields once to let others go first does not wait for the time-outs of others, but a
/// loop that polls does.
const FEW_YIELDS: u32 = 8;
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
    pub is_quiet: bool,
    /// Whether the thread is inside an operation that is atomic for other threads; it is not preempted there unless it must wait.
    pub stays: bool,
    /// The operation's role in the pair of acquires that is the goal.
    pub acquire_role: AcquireRole,
    /// The operation's role in the accesses that are the goal.
    pub role: GoalRole,
    /// The operation's parts in what the run prevents.
    pub parts: Parts,
}

/// The conductor's model of a thread.
#[derive(Debug)]
struct Thread {
    name: String,
    is_daemon: bool,
    state: State,
    permit: bool,
    /// Whether the external event has happened that it waits for.
    has_event: bool,
    /// Why its wait ended.
    wake: Option<Wake>,
    /// Whether its operation is quiet, see [`Arrival::is_quiet`].
    is_quiet: bool,
    /// See [`Arrival::stays`].
    stays: bool,
    acquire_role: AcquireRole,
    role: GoalRole,
    parts: Parts,
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

impl Thread {
    /// The time at which its wait ends by itself, if it waits for a time.
    fn deadline(&self) -> Option<Nanos> {
        match self.state {
            State::Stopped(operation) if self.wake.is_none() => operation.until(),
            _ => None,
        }
    }
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
    /// Whether time passes only if no thread can run before. A strategy then cannot wake sleepers early.
    pub is_patient: bool,
}

impl Limits {
    /// The limits of a run with these settings.
    pub fn of(settings: &Control) -> Self {
        Limits { steps: settings.steps, is_patient: settings.is_patient }
    }
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
    preventions: Preventions,
    outside: Option<Box<dyn Outside>>,
    /// Whether an external event was waited for in real time.
    has_late_events: bool,
    /// The wake-ups by threads that are not controlled, until no thread can run.
    foreign_wakes: Vec<ForeignWake>,
    /// Whether one has taken effect.
    has_foreign_wakes: bool,
    running: Option<ThreadId>,
    candidates: Vec<Candidate>,
    sleepers: Vec<ThreadId>,
    /// The thread that yielded last, and its number of successive yields.
    yielding: (Option<ThreadId>, u32),
    /// See [`View::polls`](crate::strategy::View::polls).
    polls: u64,
    /// Whether time was advanced while other threads could run.
    is_hurried: bool,
    /// See [`Conductor::finish`].
    is_finishing: bool,
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
            preventions: Preventions::default(),
            outside: None,
            has_late_events: false,
            foreign_wakes: Vec::new(),
            has_foreign_wakes: false,
            running: None,
            candidates: Vec::new(),
            sleepers: Vec::new(),
            yielding: (None, 0),
            polls: 0,
            is_hurried: false,
            is_finishing: false,
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
            has_event: false,
            wake: None,
            is_quiet: false,
            stays: false,
            acquire_role: AcquireRole::default(),
            role: GoalRole::default(),
            parts: Parts::default(),
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
        let state = self.known(thread).state;
        assert_eq!(state, State::Announced, "thread {} is started, but it was started before", thread.0);
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
        assert_ne!(state.state, State::Ended, "thread {} reaches an operation, but it has ended", thread.0);
        // A spin loop consists of yields, accesses and plain steps; any other operation ends the spinning.
        if !matches!(operation, Operation::Yield { .. } | Operation::Access { .. } | Operation::Step { .. }) {
            state.spin = (None, 0);
        }
        let waits = matches!(
            operation,
            Operation::Sleep { .. }
                | Operation::Park { .. }
                | Operation::Resume { .. }
                | Operation::External { .. }
        );
        state.state = State::Stopped(operation);
        state.acquire_role = arrival.acquire_role;
        state.role = arrival.role;
        // A thread that yields before its access has not begun it.
        state.parts = if spins { Parts::default() } else { arrival.parts };
        state.is_quiet = arrival.is_quiet;
        state.stays = arrival.stays;
        if waits && self.yielding.0 == Some(thread) {
            self.yielding = (None, 0);
        }
        self.check_for_race(thread, operation);
        if !had_token {
            // It ran without the token and is controlled again.
            return self.retry();
        }
        self.running = None;
        // A spinning thread waits for another thread, even inside an atomic operation.
        let stays = arrival.is_quiet || arrival.stays && !spins;
        let is_within = self.executed < self.limits.steps;
        let awaits_wake = spins && !self.foreign_wakes.is_empty();
        let has_no_choice = || is_within && !awaits_wake && self.is_only_runnable(thread);
        if self.may_run(thread) && (stays || has_no_choice() && !self.is_held_back(thread)) {
            return self.execute(thread, operation);
        }
        if let Some(starter) = self.thread(thread).starter.take() {
            return self.execute(starter, Operation::Step { site: SiteId(0) });
        }
        self.decide(Some(thread), spins)
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
        self.end_parts(thread);
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

    /// The thread with this number.
    #[inline]
    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        self.threads.get_mut(thread.0 as usize).unwrap_or_else(|| unknown(thread))
    }

    #[inline]
    fn known(&self, thread: ThreadId) -> &Thread {
        self.threads.get(thread.0 as usize).unwrap_or_else(|| unknown(thread))
    }

    #[inline]
    fn lock(&mut self, lock: LockId) -> &mut Lock {
        at(&mut self.locks, lock.0)
    }
}

/// Only the conductor assigns the numbers of threads.
#[cold]
fn unknown(thread: ThreadId) -> ! {
    panic!("thread {} was never announced to the conductor", thread.0)
}
