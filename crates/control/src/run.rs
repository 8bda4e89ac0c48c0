//! The state of a controlled run, beside what the front end needs to enforce it.

use std::sync::Arc;

use fissure_model::{
    goal::Goal,
    ids::{LockId, SiteId, ThreadId},
    settings::{AccessPoints, Control as Settings},
};
use fissure_schedule::{
    conductor::{Arrival, Conductor, Decision, Parts},
    operation::Operation,
    strategy::{AcquireRole, GoalRole},
};

use crate::{
    calls::OpenCall,
    explanation::Explanation,
    flags::{self as site_flags, AGAIN, BETWEEN, EARLIER, LATER, QUIET, lock_role},
    front_end::FrontEnd,
    interleavings,
    locks::LockNames,
    points::Points,
    sets::Sets,
};

/// A time-out of this many nanoseconds, a century, never ends.
const FOR_EVER: u64 = 100 * 365 * 24 * 3_600 * 1_000_000_000;

/// A controlled run: the conductor, and what the run observed so far.
pub struct ControlledRun {
    /// The conductor. A front end reports to it directly what concerns no finding.
    pub conductor: Conductor,
    pub(crate) explanation: Explanation,
    pub(crate) points: Points,
    pub(crate) sets: Sets,
    pub(crate) locks: LockNames,
    pub(crate) goal: Option<Arc<Goal>>,
    /// Whether the run reports interleavings of accesses.
    pub(crate) reports_interleavings: bool,
    /// The accesses that are scheduling points, and the thread-unsafe classes that are instrumented, for goals of other runs.
    pub(crate) access_points: AccessPoints,
    pub(crate) instrumented: Vec<String>,
    threads: Vec<ThreadState>,
    /// Threads that others wait for in the monitor of the thread's object, as `join` does.
    joined: Vec<(ThreadId, LockId)>,
    /// The reasons why a replay may differ from this run.
    pub(crate) uncontrolled: Vec<String>,
    /// The number of steps that the program took; set when it has ended.
    pub(crate) steps: Option<u64>,
}

impl std::fmt::Debug for ControlledRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ControlledRun")
    }
}

/// A thread, beside its state in the conductor.
#[derive(Debug)]
pub(crate) struct ThreadState {
    /// The number of regions it is in during which other threads may wait for it without the conductor's knowledge.
    regions: u32,
    /// The site of its current attempt to acquire a lock of a library.
    pub(crate) attempt_site: SiteId,
    /// The site of the program at which it parked last, if it has no time-out there.
    park_site: Option<SiteId>,
    /// The calls of collections that it is in.
    pub(crate) calls: Vec<OpenCall>,
}

impl ControlledRun {
    /// A run by these settings, whose conductor has the strategy of the settings.
    pub fn new(mut conductor: Conductor, settings: &Settings) -> Self {
        conductor.prevent(&settings.prevented);
        Self {
            conductor,
            explanation: Explanation::default(),
            points: Points::default(),
            sets: Sets::new(&settings.sets),
            locks: LockNames::default(),
            goal: settings.goal.clone().map(Arc::new),
            reports_interleavings: settings.patterns.interleavings,
            access_points: settings.accesses,
            instrumented: settings.instrumented.clone(),
            threads: Vec::new(),
            joined: Vec::new(),
            uncontrolled: Vec::new(),
            steps: None,
        }
    }

    /// Whether the run reports interleavings of accesses. Then every call of a collection or an atomic is one access.
    #[inline]
    pub fn reports_interleavings(&self) -> bool {
        self.reports_interleavings
    }

    /// A scheduling point: the conductor chooses the thread that runs next. Unless that is this thread, the front end makes it wait.
    #[inline]
    pub fn arrive(&mut self, thread: ThreadId, operation: Operation, flags: i32) -> Decision {
        let role = match self.goal.as_deref() {
            Some(Goal::Accesses(_)) => interleavings::lock_role(&operation, flags),
            goal => lock_role(flags, goal, self.conductor.context(thread)),
        };
        self.arrive_as(thread, operation, flags, role)
    }

    /// The same for an operation with a given role in the goal of the run.
    #[inline]
    pub(crate) fn arrive_as(
        &mut self,
        thread: ThreadId,
        operation: Operation,
        flags: i32,
        role: GoalRole,
    ) -> Decision {
        let is_quiet = self.is_quiet(thread, flags);
        let acquire_role = AcquireRole {
            is_local: flags & AGAIN != 0,
            is_remote: flags & BETWEEN != 0,
            is_later: flags & LATER != 0,
            is_earlier: flags & EARLIER != 0,
        };
        let stays = self.is_inside_call(thread);
        // An operation without a site has no flags.
        let has_site = operation.site().is_some_and(|site| site.0 != 0);
        let parts = if has_site { site_flags::parts(flags) } else { Parts::default() };
        let arrival = Arrival { operation, is_quiet, stays, acquire_role, role, parts };
        let decision = self.conductor.arrive(thread, arrival);
        if decision != Decision::Run(thread) {
            self.note_preemption(thread);
        }
        decision
    }

    /// Adds a lock. `is_unique` says that no other lock can have the name.
    pub fn add_lock(&mut self, name: String, is_unique: bool) -> LockId {
        self.locks.add(name, is_unique)
    }

    /// Whether a thread is not preempted at a site with these flags, and the lock there is not relevant.
    #[inline]
    pub fn is_quiet(&mut self, thread: ThreadId, flags: i32) -> bool {
        flags & QUIET != 0 || self.is_in_region(thread)
    }

    /// Whether a thread is in a region during which others may wait for it without the conductor's knowledge.
    #[inline]
    pub fn is_in_region(&mut self, thread: ThreadId) -> bool {
        self.thread(thread).regions > 0
    }

    /// A thread enters such regions, or (with a negative number) leaves them.
    pub fn change_regions(&mut self, thread: ThreadId, change: i32) {
        let regions = &mut self.thread(thread).regions;
        // Control may begin while the thread is in a region.
        *regions = regions.saturating_add_signed(change);
    }

    /// The virtual time after so many nanoseconds; `None`, which means no time-out, for a negative number or more than a century.
    pub fn deadline(&mut self, nanos: i64) -> Option<u64> {
        u64::try_from(nanos)
            .ok()
            .filter(|nanos| *nanos < FOR_EVER)
            .map(|nanos| self.conductor.now(false).saturating_add(nanos))
    }

    /// A thread is about to wait in a monitor, perhaps for the end of the thread `joined`. Returns the operation of its next scheduling
    /// point.
    pub fn wait(
        &mut self,
        front: &dyn FrontEnd,
        thread: ThreadId,
        (lock, site, flags): (LockId, SiteId, i32),
        nanos: i64,
        joined: Option<ThreadId>,
    ) -> Operation {
        let until = self.deadline(nanos);
        if let Some(joined) = joined
            && !self.joined.contains(&(joined, lock))
        {
            self.joined.push((joined, lock));
        }
        if flags & QUIET == 0 {
            self.note_wait(front, thread, lock, site);
        }
        self.conductor.wait(thread, lock, until, site)
    }

    /// Whether threads wait in this monitor for the end of another thread.
    pub(crate) fn is_joined(&self, lock: LockId) -> bool {
        self.joined.iter().any(|(_, joined)| *joined == lock)
    }

    /// Compares the number of times that a waiting thread had entered its monitor with the real number, which is used from here on: the
    /// conductor does not see monitors that code outside of control entered.
    pub fn correct_count(&mut self, operation: &mut Operation, left: u32) {
        if let Operation::Resume { count, .. } = operation
            && *count != 0
            && *count != left
        {
            *count = left;
            self.lose_control("a monitor was entered a different number of times than Fissure had recorded");
        }
    }

    /// A thread ends.
    pub fn end(&mut self, thread: ThreadId) -> Decision {
        for (joined, lock) in &self.joined {
            if *joined == thread {
                self.conductor.notify(None, *lock, true, SiteId(0));
            }
        }
        self.conductor.end(thread)
    }

    /// Called when all threads that the program waits for have ended. Later steps belong to the platform's shutdown and are not counted;
    /// parts of the shutdown may have begun earlier.
    pub fn note_end(&mut self) {
        let steps = self.conductor.trace().last();
        self.steps.get_or_insert(steps);
    }

    /// Records why a replay may differ from this run.
    pub fn lose_control(&mut self, reason: &str) {
        if !self.uncontrolled.iter().any(|known| known == reason) {
            self.uncontrolled.push(reason.to_owned());
        }
    }

    /// A method that may be a unit of work begins at a site.
    pub fn enter_unit(&mut self, front: &dyn FrontEnd, thread: ThreadId, site: SiteId) {
        self.enter_method(front, thread);
        let key = self.points.key(front, site);
        self.conductor.enter_unit(thread, site, key);
    }

    /// Such a method ends.
    pub fn exit_unit(&mut self, front: &dyn FrontEnd, thread: ThreadId, site: SiteId) {
        self.leave_method(front, thread, site);
        self.conductor.exit_unit(thread, site);
    }

    #[inline]
    pub(crate) fn thread(&mut self, thread: ThreadId) -> &mut ThreadState {
        let index = thread.0 as usize;
        if index >= self.threads.len() {
            self.add_threads(index + 1);
        }
        &mut self.threads[index]
    }

    #[cold]
    fn add_threads(&mut self, count: usize) {
        self.threads.resize_with(count, || ThreadState {
            regions: 0,
            attempt_site: SiteId(0),
            park_site: None,
            calls: Vec::new(),
        });
    }

    /// A thread parks at this site of the program; `None` if the site is unknown, or the thread has a time-out.
    pub fn note_park(&mut self, thread: ThreadId, site: Option<SiteId>) {
        self.thread(thread).park_site = site;
    }

    /// The site of the program at which a thread parked last.
    pub(crate) fn park_site(&self, thread: ThreadId) -> Option<SiteId> {
        self.threads.get(thread.0 as usize).and_then(|thread| thread.park_site)
    }

    /// The site of a thread's last attempt to acquire a lock of a library.
    pub(crate) fn attempt_site(&self, thread: ThreadId) -> Option<SiteId> {
        self.threads.get(thread.0 as usize).map(|thread| thread.attempt_site).filter(|site| site.0 != 0)
    }
}
