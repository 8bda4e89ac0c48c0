//! Forces a remote access of one thread to land between two local accesses of another, or before one.
//!
//! Papers: C.-S. Park and K. Sen, "Randomized Active Atomicity Violation Detection in Concurrent Programs", FSE 2008, for the pause
//! before the second of two operations. The operations are the candidates of [`fissure_analysis::interleavings`] instead of acquires in
//! an atomic block: local and remote accesses are AVIO's terms (Lu et al., ASPLOS 2006), and forcing such an interleaving is the idea of
//! CTrigger (Park et al., ASPLOS 2009).
//!
//! Kept: the random walk; a thread that has executed the first local access and reaches the last one is paused until the remote access of
//! another thread has landed. Deviations are those of [`AtomFuzzer`](super::AtomFuzzer) with a goal:
//!
//! - A thread that reaches the remote access is paused as well, until another thread is paused before its last local access; then it runs
//!   at once.
//! - The thread with the local accesses runs next, so that it observes the remote access before another thread repairs the state.
//! - When every thread that can run is paused, sleepers are woken first, a bounded number of times, and then one thread is released. No
//!   thread is paused for longer than a number of steps.
//!
//! For two remote accesses between two local ones, the thread that has executed the first of them runs on until it has executed the second;
//! the thread with the local accesses stays paused meanwhile. A compare-and-set that fails after one remote write may succeed after two
//! (the ABA problem), and a check may hold after one removal and not after two.
//!
//! A delay concerns one execution of its access: the first, or a later one ([`Interleaver::skipping`]), because the first time round a loop
//! may be harmless.
//!
//! Among the threads that are not paused, [`AtomFuzzer`] chooses without a goal, so that a run with this goal still finds the violations
//! of the published algorithm. With a sequential schedule, each of them runs as long as it can instead: a failure that needs several
//! accesses in a certain order mostly needs a single preemption, and further ones would destroy that order.

use fissure_model::{
    goal::{Role, Shape},
    ids::{LockId, ThreadId},
};

use super::{
    AcquireRole, AtomFuzzer, Candidate, Choice, GoalRole, Sequential, Strategy, View,
    uniform::yields_to_sleepers,
};
use crate::{operation::Operation, random::Random};

/// How often sleepers are woken before a paused thread is released.
const PATIENCE: u32 = 32;

/// The strategy for goals at accesses. It works by the roles that the shape of the goal has.
#[derive(Debug)]
pub struct Interleaver {
    /// The strategy that chooses among threads that are not paused.
    rest: AtomFuzzer,
    is_sequential: bool,
    shape: Shape,
    /// How many executions of an access happen before one is delayed.
    skipped: u32,
    /// The threads that have executed the first local access, with its location; 0 stands for any location.
    begun: Vec<(ThreadId, u64)>,
    paused: Vec<Pause>,
    /// Threads that are not paused at their current operation any more.
    free: Vec<ThreadId>,
    /// The thread that runs next, as soon as it can.
    next: Option<ThreadId>,
    /// The thread that has executed the first of two remote accesses, with the location and the number of choices before the access.
    halfway: Option<(ThreadId, u64, u64)>,
    /// The locations on which the remote access, or the delayed one, has happened.
    done: Vec<u64>,
    patience: u32,
    thrashings: u64,
    /// The number of choices so far, and their number when the goal was reached last.
    choices: u64,
    reached: Option<u64>,
}

#[derive(Debug)]
struct Pause {
    thread: ThreadId,
    location: u64,
    since: u64,
    /// Whether the thread is paused before its last local access; otherwise it is paused before the remote access.
    is_local: bool,
}

impl Interleaver {
    /// A goal of this shape. Threads in atomic blocks are paused with this probability, in millionths.
    pub fn new(shape: Shape, pause_chance: u32) -> Self {
        Self {
            rest: AtomFuzzer::new(pause_chance),
            is_sequential: false,
            shape,
            skipped: 0,
            begun: Vec::new(),
            paused: Vec::new(),
            free: Vec::new(),
            next: None,
            halfway: None,
            done: Vec::new(),
            patience: PATIENCE,
            thrashings: 0,
            choices: 0,
            reached: None,
        }
    }

    /// The same in an otherwise sequential schedule.
    pub fn sequential(shape: Shape) -> Self {
        Self { is_sequential: true, ..Self::new(shape, 0) }
    }

    /// The same, but the first so many executions of an access are not delayed.
    pub fn skipping(self, skipped: u32) -> Self {
        Self { skipped, ..self }
    }

    /// Whether the operation is the last local access and must still wait for the remote one, or is still to be delayed.
    fn is_last(&self, thread: ThreadId, role: GoalRole) -> bool {
        let has_begun = |(known, location): &(ThreadId, u64)| {
            *known == thread && (*location == role.location || *location == 0)
        };
        has(role, Role::Last)
            && if self.shape.has(Role::First) {
                self.begun.iter().any(has_begun)
            } else if self.shape.has(Role::Remote) {
                !self.done.contains(&role.location)
            } else {
                self.skipped == 0 && self.done.is_empty() && self.paused.is_empty()
            }
    }

    /// Whether the operation is the remote access, and another thread is paused before its last local access to the same location.
    fn is_awaited(&self, thread: ThreadId, role: GoalRole) -> bool {
        let mut others = self.paused.iter().filter(|pause| pause.is_local && pause.location == role.location);
        has(role, Role::Remote) && others.any(|pause| pause.thread != thread)
    }

    fn is_paused(&self, thread: ThreadId) -> bool {
        self.paused.iter().any(|pause| pause.thread == thread)
    }

    /// Pauses a candidate that has a role in the goal and arrives too early.
    fn pauses(&mut self, candidate: &Candidate, step: u64) {
        let (thread, role) = (candidate.thread, candidate.role);
        if !has(role, Role::Remote) && !has(role, Role::Last)
            || self.is_paused(thread)
            || self.free.contains(&thread)
        {
            return;
        }
        let is_local = self.is_last(thread, role);
        // Without a first local access, only the thread with the last one is paused.
        let is_remote =
            self.shape.has(Role::First) && has(role, Role::Remote) && !self.is_awaited(thread, role);
        if is_local && !self.is_awaited(thread, role) || !is_local && is_remote {
            self.paused.push(Pause { thread, location: role.location, since: step, is_local });
            self.patience = PATIENCE;
        }
    }

    fn release(&mut self, thread: ThreadId) {
        self.paused.retain(|pause| pause.thread != thread);
        if !self.free.contains(&thread) {
            self.free.push(thread);
        }
    }

    /// The remote accesses have landed: the thread with the local ones runs next. The prefix has so many choices; it ends before the first
    /// remote access, so that a run that follows it finds both threads at their accesses again.
    fn lets_observe(&mut self, local: ThreadId, prefix: u64) {
        self.next = Some(local);
        self.reached = Some(prefix);
        self.release(local);
    }

    fn run(&mut self, thread: ThreadId) -> Choice {
        self.rest.forget(thread);
        Choice::Run(thread)
    }
}

impl Strategy for Interleaver {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        self.choices = view.step + 1;
        while let Some(pause) = self.paused.iter().find(|pause| view.ends_pause(pause.since)) {
            let thread = pause.thread;
            self.thrashings += 1;
            self.release(thread);
        }
        let can_run = |thread: &ThreadId| view.candidates.iter().any(|other| other.thread == *thread);
        if let Some(thread) = self.next.filter(can_run) {
            return self.run(thread);
        }
        if let Some(thread) = self.halfway.map(|(thread, ..)| thread).filter(can_run) {
            return self.run(thread);
        }
        for candidate in view.candidates {
            self.pauses(candidate, view.step);
        }
        let is_wanted = |candidate: &&Candidate| self.is_awaited(candidate.thread, candidate.role);
        let wanted: Vec<ThreadId> =
            view.candidates.iter().filter(is_wanted).map(|candidate| candidate.thread).collect();
        if !wanted.is_empty() {
            return self.run(wanted[random.below(wanted.len())]);
        }
        let is_willing = |candidate: &&Candidate| !self.is_paused(candidate.thread);
        let willing: Vec<Candidate> = view.candidates.iter().filter(is_willing).copied().collect();
        if !willing.is_empty() {
            let is_willing = |thread: &ThreadId| willing.iter().any(|other| other.thread == *thread);
            let current = view.current.filter(is_willing);
            let view =
                View { candidates: &willing, current, yields: view.yields && current.is_some(), ..*view };
            return match self.is_sequential {
                true => Sequential.choose(&view, random),
                false => self.rest.choose(&view, random),
            };
        }
        if !view.sleepers.is_empty() && self.patience > 0 {
            self.patience -= 1;
            return Choice::Sleepers;
        }
        // A thread paused before the remote access is preferred, because it may reach the local accesses later.
        let is_remote = |candidate: &&Candidate| {
            self.paused.iter().any(|pause| pause.thread == candidate.thread && !pause.is_local)
        };
        let mut released: Vec<ThreadId> =
            view.candidates.iter().filter(is_remote).map(|candidate| candidate.thread).collect();
        if released.is_empty() {
            released.extend(view.candidates.iter().map(|candidate| candidate.thread));
        }
        let released = released[random.below(released.len())];
        self.thrashings += u64::from(self.shape.has(Role::Remote));
        self.release(released);
        self.run(released)
    }

    fn acquired(&mut self, thread: ThreadId, lock: LockId, acquire_role: AcquireRole, role: GoalRole) {
        self.rest.acquired(thread, lock, acquire_role, role);
    }

    fn executed(&mut self, thread: ThreadId, _operation: &Operation, role: GoalRole) {
        let is_delayable = !self.shape.has(Role::Remote) && has(role, Role::Last);
        if is_delayable && self.skipped > 0 {
            self.skipped -= 1;
        } else if is_delayable && self.done.is_empty() {
            self.done.push(role.location);
            self.reached = Some(self.choices);
        }
        self.paused.retain(|pause| pause.thread != thread);
        self.free.retain(|free| *free != thread);
        self.next = self.next.filter(|next| *next != thread);
        if role.letters == 0 {
            return;
        }
        if has(role, Role::Remote) && !self.done.contains(&role.location) {
            self.done.push(role.location);
        }
        let is_awaiting =
            |pause: &&Pause| pause.is_local && pause.thread != thread && pause.location == role.location;
        let awaiting = self.paused.iter().find(is_awaiting).map(|pause| pause.thread);
        match (awaiting, self.halfway) {
            (Some(local), Some((remote, location, reached)))
                if (remote, location) == (thread, role.location) && has(role, Role::Second) =>
            {
                self.halfway = None;
                self.lets_observe(local, reached);
            }
            (Some(_), None) if self.shape.has(Role::Second) && has(role, Role::Remote) => {
                self.halfway = Some((thread, role.location, self.choices - 1));
            }
            (Some(local), _) if !self.shape.has(Role::Second) && has(role, Role::Remote) => {
                self.lets_observe(local, self.choices - 1);
            }
            _ => {}
        }
        if has(role, Role::Last) {
            self.begun
                .retain(|(known, location)| *known != thread || *location != role.location && *location != 0);
        }
        if has(role, Role::First) && !self.begun.contains(&(thread, role.location)) {
            self.begun.push((thread, role.location));
        }
    }

    fn reached(&self) -> Option<u64> {
        self.reached
    }

    fn thrashings(&self) -> u64 {
        self.thrashings
    }
}

/// Whether an operation has this role in the goal.
fn has(operation: GoalRole, role: Role) -> bool {
    operation.letters & role.bit() != 0
}
