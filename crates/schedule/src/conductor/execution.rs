//! The effects of an operation on the model, once its thread was chosen.

use fissure_model::{
    ids::{LockId, SiteId, ThreadId},
    interleaving::Action,
};

use super::{Conductor, Decision, STEP_TIME, State};
use crate::{
    operation::{Operation, Wake},
    pattern::Acquired,
    strategy::{AcquireRole, GoalRole},
};

impl Conductor {
    pub(super) fn execute(&mut self, thread: ThreadId, operation: Operation) -> Decision {
        let state = self.thread(thread);
        let (role, parts) = (std::mem::take(&mut state.role), std::mem::take(&mut state.parts));
        state.is_idle = false;
        (state.state, state.last_role) = (State::Running, role);
        // Quiet operations take no virtual time, because their number may differ from run to run.
        if !state.is_quiet {
            let has_permit = state.permit;
            self.clock = self.clock.saturating_add(STEP_TIME);
            self.executed += 1;
            match operation {
                Operation::Yield { .. } | Operation::Sleep { .. } => self.polls += 1,
                Operation::Park { until: Some(_), .. } if !has_permit => self.polls += 1,
                // A thread reads what it waits for.
                Operation::Access { is_write: false, .. } => {}
                _ => self.polls = 0,
            }
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
                self.strategy.acquired(thread, lock, AcquireRole::default(), GoalRole::default());
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
            Operation::External { .. } => {
                let state = self.thread(thread);
                let has_event = std::mem::take(&mut state.has_event);
                state.wake.get_or_insert(if has_event { Wake::Called } else { Wake::TimedOut });
                self.split_units(thread);
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
        self.note_parts(thread, &operation, parts);
        self.strategy.executed(thread, &operation, role);
        Decision::Run(thread)
    }

    pub(super) fn record_acquire(&mut self, thread: ThreadId, lock: LockId, site: SiteId, is_shared: bool) {
        let state = self.thread(thread);
        state.held.push(lock);
        let (is_quiet, acquire_role, role) = (state.is_quiet, state.acquire_role, state.last_role);
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
        self.strategy.acquired(thread, lock, acquire_role, role);
    }

    pub(super) fn record_release(&mut self, thread: ThreadId, lock: LockId) {
        self.strategy.released(thread, lock);
        let held = &mut self.thread(thread).held;
        if held.pop_if(|last| *last == lock).is_none()
            && let Some(index) = held.iter().rposition(|held| *held == lock)
        {
            held.remove(index);
        }
    }
}
