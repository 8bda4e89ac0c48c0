//! Simulated programs for tests: each thread is a list of steps, and the conductor alone runs them.
//!
//! Other crates get this module with the feature `simulation`, as a development dependency. A program is a list of threads; a strategy and
//! a seed decide how it runs:
//!
//! ```
//! use fissure_schedule::{simulation::{Does, simulate}, strategy::Uniform};
//!
//! let increment: &[Does] = &[Does::Load(1), Does::Store(1)];
//! let is_lost = |seed| simulate(&[increment, increment], Box::new(Uniform), seed).variables[1] < 2;
//! assert!((0..20).any(is_lost) && !(0..20).all(is_lost));
//! ```

use std::sync::{Arc, Mutex};

use fissure_analysis::atomic_sets::{Access, Occurrence, SetId, UnitId};
use fissure_model::{
    event::AccessKind,
    ids::{LocationId, LockId, SiteId, ThreadId},
    prevention::Prevention,
    settings::Patterns,
};

use crate::{
    conductor::{Arrival, Conductor, Decision, Expectation, Limits, Outside, Parts},
    observer::Observer,
    operation::{EventId, Operation, Wake},
    pattern::{Atomic, BlockKind, Violation},
    strategy::{AcquireRole, GoalRole, Strategy},
};

/// A step of a simulated thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Enters a monitor at a site.
    Acquire(u32, u32),
    /// The same, at the site of the goal's remote acquire.
    AcquireRemote(u32, u32),
    /// The same, at the site of the goal's local acquire.
    AcquireLocal(u32, u32),
    /// The same, at the site of a reordering's later acquire.
    AcquireLater(u32, u32),
    /// The same, at the site of a reordering's earlier acquire.
    AcquireEarlier(u32, u32),
    /// Leaves a monitor.
    Release(u32),
    /// Begins an atomic method.
    Enter(u32),
    /// Ends the innermost atomic method.
    Exit,
    /// Waits in a monitor.
    Wait(u32),
    /// Waits in a monitor for at most so many nanoseconds.
    WaitFor(u32, u64),
    /// Wakes one thread that waits in a monitor.
    Notify(u32),
    /// Wakes all threads that wait in a monitor.
    NotifyAll(u32),
    /// Sleeps for so many nanoseconds.
    Sleep(u64),
    /// Parks.
    Park,
    /// Unparks a thread.
    Unpark(u32),
    /// Interrupts a thread.
    Interrupt(u32),
    /// Lets others run.
    Yield,
    /// Reads a location at a site.
    Read(u32, u32),
    /// Writes a location at a site.
    Write(u32, u32),
    /// Begins, at a site, an access that consists of several steps.
    Begin(u32),
    /// Ends such an access, which reads a location.
    EndRead(u32, u32),
    /// Ends such an access, which writes a location.
    EndWrite(u32, u32),
    /// Begins a method that is a unit of work.
    EnterUnit(u32),
    /// Ends a method that is a unit of work.
    ExitUnit(u32),
    /// Yields until another thread has ended.
    Await(u32),
    /// Reads a variable, below [`VARIABLES`]; the site is the number of the step in its thread.
    Load(u32),
    /// Writes one more than the value read last into a variable.
    Store(u32),
    /// Reads a variable until another thread has written it.
    LoadUntilStored(u32),
    /// Waits for an event; an interrupt ends the wait.
    AwaitEvent(u64),
    /// The same with a time-out, and without interrupts.
    AwaitEventFor(u64, u64),
    /// Causes an event; it happens once.
    Cause(u64),
}

/// The result of a simulated program.
pub struct Simulated {
    /// The last decision: how the program ended.
    pub end: Decision,
    /// The lock patterns that were executed.
    pub violations: Vec<Violation>,
    /// The executed steps: the thread and the index of its step.
    pub done: Vec<(u32, usize)>,
    /// How threads were woken.
    pub wakes: Vec<(u32, Wake)>,
    /// The final values of the variables.
    pub variables: [u64; VARIABLES],
    /// The conductor after the run.
    pub conductor: Conductor,
}

/// The bounds of a simulated run.
pub const LIMITS: Limits = Limits { steps: 100_000, is_patient: false };

/// The patterns to look for and the goal of a simulation; all accesses are to one atomic set.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The patterns.
    pub patterns: Patterns,
    /// The roles of the operations at some sites in the goal.
    pub roles: Vec<(u32, GoalRole)>,
    /// What the run prevents.
    pub prevented: Vec<Prevention>,
    /// The parts of the operations at some sites in it.
    pub parts: Vec<(u32, Parts)>,
    /// Whether reading and writing variables are no scheduling points.
    pub has_quiet_variables: bool,
    /// Whether time passes only if no thread can run before.
    pub is_patient: bool,
}

/// Runs a program whose threads are all started at the beginning.
pub fn simulate(threads: &[&[Does]], strategy: Box<dyn Strategy>, seed: u64) -> Simulated {
    simulate_with(threads, strategy, seed, &Setup::default())
}

/// The same, with observed accesses and a goal.
pub fn simulate_with(
    threads: &[&[Does]],
    strategy: Box<dyn Strategy>,
    seed: u64,
    setup: &Setup,
) -> Simulated {
    let limits = Limits { is_patient: setup.is_patient, ..LIMITS };
    let mut conductor = Conductor::new(strategy, seed, limits);
    conductor.observe_with(Observer::new(setup.patterns));
    conductor.prevent(&setup.prevented);
    for number in 0..threads.len() {
        conductor.announce(&format!("T{}", number + 1), false);
    }
    let starter = conductor.announce("main", false);
    conductor.adopt(starter);
    let mut run = Run::new(threads, conductor, setup);
    let mut decision = Decision::Run(starter);
    let mut started = 0;
    while let Decision::Run(thread) = decision {
        decision = if thread != starter {
            run.go_on(thread)
        } else if started < threads.len() {
            started += 1;
            run.result.conductor.start(ThreadId(started as u32 - 1), Some(starter))
        } else {
            run.result.conductor.end(starter)
        };
    }
    run.result.end = decision;
    run.result
}

/// The outcome of an execution: the value that each thread read last, and the final values of the variables.
pub type Memory = Vec<u64>;

/// One of several executions.
#[derive(Debug)]
pub struct Execution {
    /// The outcome.
    pub memory: Memory,
    /// The executed steps: the thread and the index of its step.
    pub done: Vec<(u32, usize)>,
}

/// Executes a program repeatedly until the strategy has no further execution.
pub fn explore(threads: &[&[Does]], strategy: Box<dyn Strategy>) -> (Vec<Execution>, Conductor) {
    let mut conductor = Conductor::new(strategy, 0, LIMITS);
    for number in 0..threads.len() {
        conductor.announce(&format!("T{}", number + 1), false);
    }
    let mut executions = Vec::new();
    let setup = Setup::default();
    loop {
        let mut run = Run::new(threads, conductor, &setup);
        (0..threads.len() as u32).for_each(|number| run.result.conductor.prepare(ThreadId(number)));
        let mut decision = run.result.conductor.retry();
        while let Decision::Run(thread) = decision {
            decision = run.go_on(thread);
        }
        assert_eq!(decision, Decision::Over);
        let memory = run.read.iter().chain(&run.result.variables).copied().collect();
        executions.push(Execution { memory, done: run.result.done });
        conductor = run.result.conductor;
        if !conductor.repeat() {
            return (executions, conductor);
        }
    }
}

/// All variables are parts of one object; variable 0 stands for an unknown part.
fn location(variable: u32) -> LocationId {
    LocationId(1 << 32 | u64::from(variable))
}

/// The number of variables.
pub const VARIABLES: usize = 4;

struct Run<'a> {
    threads: &'a [&'a [Does]],
    setup: &'a Setup,
    /// The number of accesses outside of units.
    singles: u64,
    /// The index of each thread's next step.
    next_steps: Vec<usize>,
    /// Whether each thread has stopped before that step and executes it when it continues.
    waits: Vec<bool>,
    /// Whether each thread is inside an access of several steps.
    is_inside: Vec<bool>,
    /// The value that each thread read last.
    read: Vec<u64>,
    events: Events,
    result: Simulated,
}

/// The events that were caused and that no thread has received.
type Events = Arc<Mutex<Vec<EventId>>>;

/// Events with this number and higher ones have causes outside of the program.
pub(crate) const FROM_OUTSIDE: u64 = 100;

struct Caused(Events);

impl Outside for Caused {
    fn happened(&mut self, awaited: &[(ThreadId, EventId)], _waits: bool) -> Vec<ThreadId> {
        let mut events = self.0.lock().unwrap();
        let received = |(thread, event): &(ThreadId, EventId)| {
            let index = events.iter().position(|caused| caused == event)?;
            events.remove(index);
            Some(*thread)
        };
        awaited.iter().filter_map(received).collect()
    }

    fn expects(&mut self, awaited: &[(ThreadId, EventId)]) -> Expectation {
        let is_from_outside = awaited.iter().any(|(_, event)| event.0 >= FROM_OUTSIDE);
        if is_from_outside { Expectation::Input } else { Expectation::Nothing }
    }
}

impl<'a> Run<'a> {
    fn new(threads: &'a [&'a [Does]], mut conductor: Conductor, setup: &'a Setup) -> Self {
        let events = Events::default();
        conductor.listen_to(Box::new(Caused(events.clone())));
        Run {
            events,
            threads,
            setup,
            singles: 0,
            next_steps: vec![0; threads.len()],
            waits: vec![false; threads.len()],
            is_inside: vec![false; threads.len()],
            read: vec![0; threads.len()],
            result: Simulated {
                end: Decision::Over,
                violations: Vec::new(),
                done: Vec::new(),
                wakes: Vec::new(),
                variables: [0; VARIABLES],
                conductor,
            },
        }
    }

    /// Runs a thread up to its next scheduling point.
    fn go_on(&mut self, thread: ThreadId) -> Decision {
        let number = thread.0 as usize;
        if std::mem::take(&mut self.waits[number]) {
            self.pass(thread);
        }
        loop {
            let Some(&does) = self.threads[number].get(self.next_steps[number]) else {
                return self.result.conductor.end(thread);
            };
            let site = SiteId(0);
            let now = self.result.conductor.now(false);
            let conductor = &mut self.result.conductor;
            let mut acquire_role = AcquireRole::default();
            let operation = match does {
                Does::Acquire(lock, site) => Operation::Acquire { lock: LockId(lock), site: SiteId(site) },
                Does::AcquireRemote(lock, site) => {
                    acquire_role.is_remote = true;
                    Operation::Acquire { lock: LockId(lock), site: SiteId(site) }
                }
                Does::AcquireLocal(lock, site) => {
                    acquire_role.is_local = true;
                    Operation::Acquire { lock: LockId(lock), site: SiteId(site) }
                }
                Does::AcquireLater(lock, site) => {
                    acquire_role.is_later = true;
                    Operation::Acquire { lock: LockId(lock), site: SiteId(site) }
                }
                Does::AcquireEarlier(lock, site) => {
                    acquire_role.is_earlier = true;
                    Operation::Acquire { lock: LockId(lock), site: SiteId(site) }
                }
                Does::Wait(lock) => conductor.wait(thread, LockId(lock), None, site),
                Does::WaitFor(lock, time) => conductor.wait(thread, LockId(lock), Some(now + time), site),
                Does::Sleep(time) => Operation::Sleep { until: now + time, site },
                Does::Park => Operation::Park { until: None, site },
                Does::AwaitEvent(event) => {
                    Operation::External { event: EventId(event), until: None, is_interruptible: true, site }
                }
                Does::AwaitEventFor(event, time) => Operation::External {
                    event: EventId(event),
                    until: Some(now + time),
                    is_interruptible: false,
                    site,
                },
                Does::Yield => Operation::Yield { site },
                Does::Begin(site) => Operation::Step { site: SiteId(site) },
                Does::Read(location, site) | Does::Write(location, site) => Operation::Access {
                    location: LocationId(location.into()),
                    is_write: matches!(does, Does::Write(..)),
                    site: SiteId(site),
                },
                Does::Load(_) | Does::Store(_) if self.setup.has_quiet_variables => {
                    self.pass(thread);
                    continue;
                }
                Does::Load(variable) | Does::LoadUntilStored(variable) => Operation::Access {
                    location: location(variable),
                    is_write: false,
                    site: SiteId(self.next_steps[number] as u32),
                },
                Does::Store(variable) => Operation::Access {
                    location: location(variable),
                    is_write: true,
                    site: SiteId(self.next_steps[number] as u32),
                },
                Does::Await(other) if !conductor.has_ended(ThreadId(other)) => {
                    return conductor.arrive(
                        thread,
                        Arrival {
                            operation: Operation::Yield { site },
                            is_quiet: false,
                            stays: false,
                            acquire_role,
                            role: GoalRole::default(),
                            parts: Parts::default(),
                        },
                    );
                }
                _ => {
                    self.pass(thread);
                    continue;
                }
            };
            self.waits[number] = true;
            let role = self.role(thread, &operation);
            let parts = self.parts(&operation);
            let stays = self.is_inside[number];
            let arrival = Arrival { operation, is_quiet: false, stays, acquire_role, role, parts };
            return self.result.conductor.arrive(thread, arrival);
        }
    }

    /// The unit of an access: the thread's outermost unit, or the access by itself.
    fn unit(&mut self, thread: ThreadId) -> Occurrence {
        match self.result.conductor.units(thread).first() {
            Some(unit) => Occurrence { unit: Some(UnitId(unit.site.0)), number: unit.number },
            None => {
                self.singles += 1;
                Occurrence { unit: None, number: 1 << 63 | self.singles }
            }
        }
    }

    fn role(&mut self, thread: ThreadId, operation: &Operation) -> GoalRole {
        let site = operation.site().unwrap_or(SiteId(0));
        let role = self.setup.roles.iter().find(|(known, _)| *known == site.0);
        let mut role = role.map_or_else(GoalRole::default, |(_, role)| *role);
        if let (Operation::Access { .. } | Operation::Step { .. }, 1..) = (operation, role.letters) {
            role.unit = self.unit(thread).number;
        }
        role
    }

    fn parts(&self, operation: &Operation) -> Parts {
        let site = operation.site().unwrap_or(SiteId(0));
        let parts = self.setup.parts.iter().find(|(known, _)| *known == site.0);
        parts.map_or_else(Parts::default, |(_, parts)| *parts)
    }

    fn access(&mut self, thread: ThreadId, location: u32, site: u32, kind: AccessKind) {
        let unit = self.unit(thread);
        let (site, set) = (SiteId(site), SetId(1));
        let access = Access { thread, set, location, kind, site, context: 0, unit };
        let has_begun = std::mem::take(&mut self.is_inside[thread.0 as usize]);
        let Some(observer) = self.result.conductor.observer() else { return };
        if has_begun {
            observer.ended_access(thread, Some(&access), 0);
            return;
        }
        observer.accessed_set(&access, 0);
        observer.accessed(thread, LocationId(location.into()), kind, site);
    }

    /// Reports an access to a variable to the observer.
    fn touch(&mut self, thread: ThreadId, variable: u32, kind: AccessKind, step_index: usize) {
        if let Some(observer) = self.result.conductor.observer() {
            observer.touched(thread, location(variable).0, kind, SiteId(step_index as u32));
        }
    }

    /// Executes the next step of a thread.
    fn pass(&mut self, thread: ThreadId) {
        let number = thread.0 as usize;
        let step_index = self.next_steps[number];
        self.next_steps[number] += 1;
        self.result.done.push((thread.0, step_index));
        let conductor = &mut self.result.conductor;
        match self.threads[number][step_index] {
            Does::Release(lock) => conductor.release(thread, LockId(lock)),
            Does::Enter(site) => conductor.enter_block(thread, SiteId(site), BlockKind::Method, Atomic::Yes),
            Does::Exit => conductor.exit_block(thread),
            Does::Notify(lock) => {
                conductor.notify(Some(thread), LockId(lock), false, SiteId(0));
            }
            Does::NotifyAll(lock) => {
                conductor.notify(Some(thread), LockId(lock), true, SiteId(0));
            }
            Does::Unpark(other) => conductor.unpark(Some(thread), ThreadId(other)),
            Does::Interrupt(other) => conductor.interrupt(Some(thread), ThreadId(other)),
            Does::Cause(event) => self.events.lock().unwrap().push(EventId(event)),
            Does::Wait(_)
            | Does::WaitFor(..)
            | Does::Sleep(_)
            | Does::Park
            | Does::AwaitEvent(_)
            | Does::AwaitEventFor(..) => {
                let wake = conductor.take_wake(thread).expect("a thread goes on after its wait has ended");
                self.result.wakes.push((thread.0, wake));
            }
            Does::Acquire(..)
            | Does::AcquireRemote(..)
            | Does::AcquireLocal(..)
            | Does::AcquireLater(..)
            | Does::AcquireEarlier(..) => {
                while let Some(violation) = conductor.take_violation() {
                    self.result.violations.push(violation);
                }
            }
            Does::Begin(_) => {
                self.is_inside[number] = true;
                if let Some(observer) = conductor.observer() {
                    observer.began_access(thread);
                }
            }
            Does::Read(location, site) | Does::EndRead(location, site) => {
                self.access(thread, location, site, AccessKind::Read);
            }
            Does::Write(location, site) | Does::EndWrite(location, site) => {
                self.access(thread, location, site, AccessKind::Write);
            }
            Does::EnterUnit(site) => conductor.enter_unit(thread, SiteId(site), u64::from(site)),
            Does::ExitUnit(site) => conductor.exit_unit(thread, SiteId(site)),
            Does::Load(variable) => {
                self.read[number] = self.result.variables[variable as usize];
                self.touch(thread, variable, AccessKind::Read, step_index);
            }
            Does::Store(variable) => {
                self.result.variables[variable as usize] = self.read[number] + 1;
                self.touch(thread, variable, AccessKind::Write, step_index);
            }
            Does::LoadUntilStored(variable) => {
                if self.result.variables[variable as usize] == 0 {
                    self.next_steps[number] = step_index;
                }
            }
            Does::Yield | Does::Await(_) => {}
        }
    }
}
