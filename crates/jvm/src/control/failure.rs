//! Failures of a run: uncaught exceptions, failed tests and exit codes other than 0. The last steps before each failure are kept,
//! because they may be the only explanation that a run has.

use std::collections::BTreeMap;

use fissure_model::{
    finding::{CONTENTS, Frame},
    ids::{LocationId, LockId, ThreadId},
    interleaving::{Action, Interleaving, Step},
    record::Failure,
};
use fissure_schedule::trace::TraceStep;

use super::{State, explanation, set_explanation};
use crate::{agent::Agent, tested};

/// The number of steps before a failure that are searched.
const WINDOW: u64 = 2_000;
/// The largest number of those steps that are reported.
const MOST_STEPS: usize = 60;

/// An exception as the hook class reports it.
pub(super) struct Thrown<'a> {
    /// Its class, or [`Failure::EXIT`].
    pub(super) exception: String,
    /// Its message, or the exit code.
    pub(super) message: String,
    /// Lines of class, method, file and line number.
    pub(super) stack: &'a str,
    /// Whether a test failed with it.
    pub(super) is_test: bool,
}

/// Records that an exception leaves a thread or fails a test, or that the program ends itself with a failure.
pub(super) fn failed(agent: &Agent, state: &mut State, thread: ThreadId, thrown: Thrown<'_>) {
    let Thrown { exception, message, stack, is_test } = thrown;
    let stack: Vec<Frame> = stack.lines().filter_map(frame).collect();
    // Test frameworks report one failure at several points.
    if is_test && state.explanation.has_failure(&exception, &message, &stack) {
        return;
    }
    match exception == Failure::EXIT {
        true => state.conductor.exits(thread),
        false => state.conductor.throws(thread),
    }
    let step = state.conductor.trace().last();
    let mut failure = Failure {
        thread: state.conductor.name(thread).to_owned(),
        exception,
        message,
        own: stack.iter().position(|frame| agent.scope.covers(&frame.class)),
        test: if is_test { tested::test_of(&stack) } else { None },
        stack,
        after: Vec::new(),
        interleaving: None,
    };
    failure.interleaving = Some(interleaving(agent, state, &failure));
    state.explanation.add_failure(failure, step);
}

/// Parses a frame from its line.
pub(crate) fn frame(line: &str) -> Option<Frame> {
    let mut parts = line.split('\t');
    let (class, method) = (parts.next()?, parts.next()?);
    let file = parts.next().filter(|file| *file != "null").map(str::to_owned);
    let line = parts.next().and_then(|line| line.parse().ok());
    let is_shown = !class.starts_with("java.lang.Fissure") && !fissure_jdk::is_exit_frame(class, method);
    is_shown.then(|| Frame { class: class.to_owned(), method: method.to_owned(), file, line })
}

/// The last steps before a failure, without those that concern only one thread. The failure itself is the last step.
fn interleaving(agent: &Agent, state: &State, failure: &Failure) -> Interleaving {
    let trace = state.conductor.trace();
    let last = trace.last();
    let window: Vec<(u64, TraceStep)> = trace.range(last.saturating_sub(WINDOW).max(1), last).collect();
    let shared = Shared::of(window.iter().map(|(_, step)| step));
    // Atomics that the JDK uses internally are not part of the program's steps.
    let is_own = |step: &TraceStep| {
        step.action != Action::Atomic
            || step.site.is_some_and(|site| !agent.scope.is_jdk(&explanation::frame(agent, site).class))
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
        let place = threads.iter().position(|thread| *thread == step.thread);
        let thread = place.unwrap_or_else(|| {
            threads.push(step.thread);
            threads.len() - 1
        });
        let (action, object) = match failure.exit_code() {
            Some(code) if is_last => (Action::Other, format!("ends the program with exit code {code}")),
            None if is_last => (Action::Throw, failure.exception.clone()),
            _ => (step.action, object(state, step)),
        };
        steps.push(Step {
            thread,
            action,
            object,
            at: if is_last {
                failure.stack.first().cloned()
            } else {
                step.site.map(|site| explanation::frame(agent, site))
            },
            role: is_last.then(|| "failed".to_owned()),
            folded: std::mem::take(&mut folded),
        });
    }
    let names = threads.iter().map(|thread| state.conductor.name(*thread).to_owned()).collect();
    Interleaving { threads: names, steps }
}

fn object(state: &State, step: &TraceStep) -> String {
    let object = match step.action {
        Action::Read | Action::Write => {
            let name = step.location.map(|location| set_explanation::location_name(state, location));
            // The line shows that it is an access to contents, and there is little room.
            name.map(|name| name.strip_suffix(CONTENTS).unwrap_or(&name).to_owned())
        }
        Action::Start | Action::Unpark | Action::Interrupt | Action::Join => {
            step.other.map(|other| state.conductor.name(other).to_owned())
        }
        _ => step.lock.and_then(|lock| explanation::lock_name(state, lock)),
    };
    object.unwrap_or_default()
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

    #[test]
    fn frames_are_parsed_from_lines() {
        let check = |line: &str, expected: Option<(&str, Option<u32>)>| {
            let frame = frame(line);
            let parsed = frame.as_ref().map(|frame| (frame.method.as_str(), frame.line));
            assert_eq!(parsed, expected, "{line}");
        };
        check("a.B\tm\tB.java\t7", Some(("m", Some(7))));
        check("a.B\tm\tnull\t-2", Some(("m", None)));
        check("java.lang.FissureControl\texit\tFissureControl.java\t7", None);
        check("java.lang.Runtime\texit\tRuntime.java\t7", None);
        check("nothing", None);
    }
}
