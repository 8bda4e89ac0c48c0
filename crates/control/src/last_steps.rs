//! The last steps of a run, for the explanations of failures and deadlocks. Steps that concern only one thread are left out.

use std::collections::{BTreeMap, HashMap};

use fissure_model::{
    finding::CONTENTS,
    ids::{LocationId, LockId, SiteId, ThreadId},
    interleaving::{Action, Interleaving, Step},
};
use fissure_schedule::trace::TraceStep;

use crate::{
    ControlledRun,
    front_end::{FrontEnd, called, frame, site_text},
};

/// The number of steps that are searched.
const WINDOW: u64 = 2_000;
/// The largest number of those steps that are reported.
const MOST_STEPS: usize = 60;
/// The largest number of earlier steps that are reported because the goal of the run names their sites.
const MOST_OF_GOAL: usize = 24;

/// The last steps of a run.
#[derive(Debug, Default)]
pub(crate) struct LastSteps {
    /// The steps that may concern several threads. The last step of the run is one of them in any case.
    pub(crate) interleaving: Interleaving,
    /// The thread of each name in it.
    pub(crate) threads: Vec<ThreadId>,
    /// The number of each of its steps in the run.
    pub(crate) numbers: Vec<u64>,
}

impl ControlledRun {
    /// The last steps of the run so far. Those that are wanted are kept in any case.
    pub(crate) fn last_steps(
        &self,
        front: &dyn FrontEnd,
        is_wanted: impl Fn(u64, &TraceStep) -> bool,
    ) -> LastSteps {
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
        let of_goal = self.steps_of_goal(front, &window);
        let shown = window.iter().filter(|(number, step)| *number == last || matters(step)).count();
        let mut skipped = shown.saturating_sub(MOST_STEPS);
        let mut folded = window.first().map_or(0, |(first, _)| first - 1);
        let mut steps = LastSteps::default();
        for (number, step) in &window {
            let is_last = *number == last;
            let is_kept = is_last || of_goal.contains(number) || is_wanted(*number, step);
            if !is_kept && (!matters(step) || skipped > 0) {
                skipped -= usize::from(skipped > 0 && matters(step));
                folded += 1;
                continue;
            }
            let index = steps.threads.iter().position(|thread| *thread == step.thread);
            let thread = index.unwrap_or_else(|| {
                steps.threads.push(step.thread);
                steps.threads.len() - 1
            });
            let is_call = matches!(step.action, Action::Read | Action::Write | Action::Atomic);
            steps.numbers.push(*number);
            steps.interleaving.steps.push(Step {
                thread,
                action: step.action,
                object: self.object(step),
                called: step.site.filter(|_| is_call).and_then(|site| called(front, site)),
                at: step.site.map(|site| frame(front, site)),
                role: None,
                folded: std::mem::take(&mut folded),
            });
        }
        let names = steps.threads.iter().map(|thread| self.conductor.name(*thread).to_owned());
        steps.interleaving.threads = names.collect();
        steps
    }

    /// The last steps at sites that the goal of the run names: they are the likeliest explanation.
    fn steps_of_goal(&self, front: &dyn FrontEnd, window: &[(u64, TraceStep)]) -> Vec<u64> {
        let Some(goal) = self.goal.as_deref() else { return Vec::new() };
        let sites = goal.sites();
        let mut known: HashMap<SiteId, bool> = HashMap::new();
        let mut is_named = |site: SiteId| {
            *known.entry(site).or_insert_with(|| sites.contains(&site_text(front, site).as_str()))
        };
        let steps = window.iter().rev().filter(|(_, step)| step.site.is_some_and(&mut is_named));
        steps.map(|(number, _)| *number).take(MOST_OF_GOAL).collect()
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
