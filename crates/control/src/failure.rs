//! Failures of a run: uncaught exceptions, failed tests and exit codes other than 0. The last steps before each failure are kept,
//! because they may be the only explanation that a run has.

use std::collections::BTreeMap;

use fissure_model::{
    finding::{CONTENTS, Frame},
    ids::{LocationId, LockId, ThreadId},
    interleaving::{Action, Interleaving, Step},
    record::{Cause, Failure},
};
use fissure_schedule::trace::TraceStep;

use crate::{
    ControlledRun,
    front_end::{FrontEnd, frame},
};

/// The number of steps before a failure that are searched.
const WINDOW: u64 = 2_000;
/// The largest number of those steps that are reported.
const MOST_STEPS: usize = 60;

/// An exception, or an exit of the program.
#[derive(Debug)]
pub struct Thrown {
    /// What failed.
    pub cause: Cause,
    /// Its stack, innermost frame first.
    pub stack: Vec<Frame>,
    /// Whether a test failed with it.
    pub is_test: bool,
    /// The test that failed, if it is known.
    pub test: Option<String>,
}

impl ControlledRun {
    /// Records that an exception leaves a thread or fails a test, or that the program ends itself with a failure.
    pub fn failed(&mut self, front: &dyn FrontEnd, thread: ThreadId, thrown: Thrown) {
        let Thrown { cause, stack, is_test, test } = thrown;
        // Test frameworks report one failure at several points.
        if is_test && self.explanation.has_failure(&cause, &stack) {
            return;
        }
        match cause {
            Cause::Exit { .. } => self.conductor.exits(thread),
            Cause::Exception { .. } => self.conductor.throws(thread),
        }
        let step = self.conductor.trace().last();
        let mut failure = Failure {
            thread: self.conductor.name(thread).to_owned(),
            cause,
            own: own_frame(front, &stack),
            test,
            stack,
            after: Vec::new(),
            interleaving: None,
        };
        failure.interleaving = Some(self.steps_before(front, &failure));
        self.explanation.add_failure(failure, step);
    }

    /// The exit that a thread announced last was refused, so the program goes on.
    pub fn exit_refused(&mut self, thread: ThreadId) {
        self.explanation.retract_exit(self.conductor.name(thread));
    }

    /// The last steps before a failure, without those that concern only one thread. The failure itself is the last step.
    fn steps_before(&self, front: &dyn FrontEnd, failure: &Failure) -> Interleaving {
        let trace = self.conductor.trace();
        let last = trace.last();
        let window: Vec<(u64, TraceStep)> = trace.range(last.saturating_sub(WINDOW).max(1), last).collect();
        let shared = Shared::of(window.iter().map(|(_, step)| step));
        // Atomics that the platform's library uses internally are not part of the program's steps.
        let is_own = |step: &TraceStep| {
            step.action != Action::Atomic
                || step.site.is_some_and(|site| !front.is_platform(&frame(front, site).class))
        };
        let matters = |step: &TraceStep| shared.matters(step) && is_own(step);
        let shown = window.iter().filter(|(number, step)| *number == last || matters(step)).count();
        let mut skipped = shown.saturating_sub(MOST_STEPS);
        let mut folded = window.first().map_or(0, |(first, _)| first - 1);
        let mut threads: Vec<ThreadId> = Vec::new();
        let mut steps = Vec::new();
        for (number, step) in &window {
            let is_last = *number == last;
            if !is_last && (!matters(step) || skipped > 0) {
                skipped -= usize::from(skipped > 0 && matters(step));
                folded += 1;
                continue;
            }
            let index = threads.iter().position(|thread| *thread == step.thread);
            let thread = index.unwrap_or_else(|| {
                threads.push(step.thread);
                threads.len() - 1
            });
            let (action, object) = match &failure.cause {
                Cause::Exit { code } if is_last => {
                    (Action::Other, format!("ends the program with exit code {code}"))
                }
                Cause::Exception { class, .. } if is_last => (Action::Throw, class.clone()),
                _ => (step.action, self.object(step)),
            };
            steps.push(Step {
                thread,
                action,
                object,
                at: if is_last {
                    failure.stack.first().cloned()
                } else {
                    step.site.map(|site| frame(front, site))
                },
                role: is_last.then(|| "failed".to_owned()),
                folded: std::mem::take(&mut folded),
            });
        }
        let names = threads.iter().map(|thread| self.conductor.name(*thread).to_owned()).collect();
        Interleaving { threads: names, steps }
    }

    fn object(&self, step: &TraceStep) -> String {
        let object = match step.action {
            Action::Read | Action::Write => {
                let name = self.accessed_name(step);
                // The line shows that it is an access to contents, and there is little room.
                Some(name.strip_suffix(CONTENTS).unwrap_or(&name).to_owned())
            }
            Action::Start | Action::Unpark | Action::Interrupt | Action::Join => {
                step.other.map(|other| self.conductor.name(other).to_owned())
            }
            _ => step.lock.and_then(|lock| self.locks.name(lock)),
        };
        object.unwrap_or_default()
    }
}

/// The innermost frame of the program's own code. Classes that are instrumented on demand belong to libraries.
fn own_frame(front: &dyn FrontEnd, stack: &[Frame]) -> Option<usize> {
    stack.iter().position(|frame| front.is_in_scope(&frame.class) && !front.is_on_demand(&frame.class))
}

/// The locks and locations that more than one thread used in some steps.
#[derive(Debug, Default)]
struct Shared {
    locks: BTreeMap<LockId, Users>,
    locations: BTreeMap<LocationId, Users>,
}

/// The threads that used a lock or location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Users {
    One(ThreadId),
    Several,
}

impl Shared {
    fn of<'a>(steps: impl Iterator<Item = &'a TraceStep>) -> Self {
        let mut shared = Self::default();
        for step in steps {
            let users = match (step.lock, step.location) {
                (Some(lock), _) => shared.locks.entry(lock).or_insert(Users::One(step.thread)),
                (_, Some(location)) => shared.locations.entry(location).or_insert(Users::One(step.thread)),
                _ => continue,
            };
            if *users != Users::One(step.thread) {
                *users = Users::Several;
            }
        }
        shared
    }

    /// Whether a step may affect other threads.
    fn matters(&self, step: &TraceStep) -> bool {
        match (step.lock, step.location) {
            (Some(lock), _) => self.locks.get(&lock) == Some(&Users::Several),
            (_, Some(location)) => self.locations.get(&location) == Some(&Users::Several),
            _ => !matches!(step.action, Action::BlockEnter | Action::BlockExit | Action::Other),
        }
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::ids::SiteId;

    use super::*;

    fn step(thread: u32, action: Action, lock: Option<u32>) -> TraceStep {
        TraceStep {
            thread: ThreadId(thread),
            action,
            lock: lock.map(LockId),
            other: None,
            site: Some(SiteId(1)),
            location: None,
        }
    }

    #[test]
    fn only_locks_that_several_threads_use_matter() {
        let steps = [
            step(0, Action::Acquire, Some(1)),
            step(1, Action::Acquire, Some(1)),
            step(0, Action::Acquire, Some(2)),
            step(0, Action::Acquire, Some(2)),
            step(0, Action::Sleep, None),
            step(0, Action::BlockEnter, None),
        ];
        let shared = Shared::of(steps.iter());
        let matters: Vec<bool> = steps.iter().map(|step| shared.matters(step)).collect();
        assert_eq!(matters, [true, true, false, false, true, false]);
    }
}
