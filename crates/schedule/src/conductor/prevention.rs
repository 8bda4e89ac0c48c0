//! Preventions: the conductor keeps something from happening, whatever the strategy wants.
//!
//! A thread that has begun a part that no other may disturb holds the location of its operation, like a lock. Threads whose next
//! operation conflicts with it are no candidates until the part ends: by the operation that ends it, when the method returns in which it
//! began, or with the thread. So a run with a prevention is also a simulation of the program with the lock that it lacks. If no thread
//! can run because of that, such a lock would lead to a deadlock; the conductor gives up the held locations and counts it.

use fissure_model::{
    ids::ThreadId,
    prevention::{Part, Prevention},
    record::PreventionFacts,
};
use smallvec::SmallVec;

use super::Conductor;
use crate::operation::{Operation, Wake};

/// After so many choices a held location is given up.
const LONGEST: u64 = 20_000;
/// The same while the other threads only poll.
const LONGEST_POLLING: u64 = 200;

/// Distinguishes locks from locations.
const LOCK: u64 = 1 << 63;

/// The parts of an operation in the preventions of its run, one bit for each prevention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// The preventions in which it begins a part that no other thread may disturb.
    pub begins: u8,
    /// Those in which it ends such a part.
    pub ends: u8,
    /// Those in which it must not happen meanwhile.
    pub remote: u8,
}

impl Parts {
    /// The parts of an operation in these preventions.
    pub fn of(parts: impl Iterator<Item = Part>) -> Self {
        parts.enumerate().fold(Parts::default(), |all, (number, part)| Parts {
            begins: all.begins | u8::from(part.begins) << number,
            ends: all.ends | u8::from(part.ends) << number,
            remote: all.remote | u8::from(part.is_remote) << number,
        })
    }
}

/// The preventions of a run, and the threads that are in a part that no other may disturb.
#[derive(Debug, Default)]
pub(super) struct Preventions {
    rules: Vec<Rule>,
    held: Vec<Held>,
    /// The locations at which the operation has happened that must come first, by prevention.
    happened: Vec<(usize, u64)>,
    pub(super) notifies_all: bool,
    pub(super) remembers_notifications: bool,
    facts: PreventionFacts,
}

/// What is prevented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Between {
        /// Whether one of the local accesses writes, so that reads conflict with them too.
        writes: bool,
        /// Whether the accesses are of different kinds, accesses and acquires, so that only the named remote ones conflict.
        is_mixed: bool,
        /// How many callers of the method in which the part began it may outlast.
        callers: usize,
    },
    Early,
    Cycle,
    Overtaken,
    Notifications,
}

/// A part that has begun.
#[derive(Debug, Clone, Copy)]
struct Held {
    rule: usize,
    thread: ThreadId,
    location: u64,
    /// The number of methods in scope that the thread is in as long as the part lasts; 0 if methods are not tracked.
    depth: usize,
    since: u64,
}

impl Conductor {
    /// Prevents this from here on. Call it before the first thread runs.
    pub fn prevent(&mut self, preventions: &[Prevention]) {
        use fissure_model::goal::Act;
        let state = &mut self.preventions;
        for prevention in preventions {
            let rule = match prevention {
                Prevention::Between { first, last, remote } => {
                    let is_lock = first.act == Act::Acquire;
                    let differs = |act: Act| (act == Act::Acquire) != is_lock;
                    Rule::Between {
                        writes: [first.act, last.act].contains(&Act::Write),
                        is_mixed: differs(last.act) || remote.iter().any(|site| differs(site.act)),
                        callers: usize::from(!prevention.is_in_one_method()),
                    }
                }
                Prevention::Early { .. } => Rule::Early,
                Prevention::Cycle { .. } => Rule::Cycle,
                Prevention::Overtaken { .. } => Rule::Overtaken,
                Prevention::SingleNotify => {
                    state.notifies_all = true;
                    Rule::Notifications
                }
                Prevention::LostNotify => {
                    state.remembers_notifications = true;
                    Rule::Notifications
                }
            };
            state.rules.push(rule);
        }
    }

    /// What became of the preventions so far.
    pub fn prevention_facts(&self) -> PreventionFacts {
        self.preventions.facts
    }

    /// Whether a thread must wait before its next operation.
    pub(super) fn is_held_back(&self, thread: ThreadId) -> bool {
        let state = self.known(thread);
        let super::State::Stopped(operation) = state.state else { return false };
        !self.preventions.rules.is_empty()
            && !state.is_quiet
            && !state.stays
            && (self.preventions.forbids(thread, &operation, state.parts)
                || self.overtakes(thread, &operation))
    }

    /// Whether a thread would enter a monitor before a thread that was notified in it, although the run prevents that.
    fn overtakes(&self, thread: ThreadId, operation: &Operation) -> bool {
        let Some(lock) = operation.acquires() else { return false };
        let is_notified = |(number, other): (usize, &super::Thread)| {
            let waits = matches!(other.state, super::State::Stopped(Operation::Resume { lock: there, .. }) if there == lock);
            number != thread.0 as usize && waits && other.wake == Some(Wake::Called)
        };
        self.preventions.rules.contains(&Rule::Overtaken) && self.threads.iter().enumerate().any(is_notified)
    }

    /// Removes the candidates that must wait. Returns whether there was one.
    pub(super) fn hold_back(&mut self) -> bool {
        if self.preventions.rules.is_empty() {
            return false;
        }
        self.give_up_old_parts();
        let mut candidates = std::mem::take(&mut self.candidates);
        let all = candidates.len();
        candidates.retain(|candidate| !self.is_held_back(candidate.thread));
        let has_any = candidates.len() < all;
        self.preventions.facts.held_back += u64::from(has_any);
        self.candidates = candidates;
        has_any
    }

    /// No thread can run, because some must wait: all parts are given up. Returns whether there was anything to give up.
    pub(super) fn give_up_preventions(&mut self) -> bool {
        let threads = (0..self.threads.len() as u32).map(ThreadId);
        let waiting: SmallVec<[ThreadId; 4]> =
            threads.filter(|thread| self.may_run(*thread) && self.is_held_back(*thread)).collect();
        if waiting.is_empty() {
            return false;
        }
        self.preventions.facts.broken += 1;
        self.preventions.held.clear();
        for thread in waiting {
            let state = self.known(thread);
            if let super::State::Stopped(operation) = state.state {
                let parts = state.parts;
                let location = location(&operation);
                let early = (0..self.preventions.rules.len()).filter(|number| {
                    self.preventions.rules[*number] == Rule::Early && has(parts.remote, *number)
                });
                let early: SmallVec<[usize; 2]> = early.collect();
                self.preventions.happened.extend(early.into_iter().map(|number| (number, location)));
            }
        }
        true
    }

    /// A thread executes an operation.
    pub(super) fn note_parts(&mut self, thread: ThreadId, operation: &Operation, parts: Parts) {
        if self.preventions.rules.is_empty() || parts == Parts::default() {
            return;
        }
        let (location, depth, since) = (location(operation), self.units(thread).len(), self.choices);
        let state = &mut self.preventions;
        for (number, rule) in state.rules.iter().enumerate() {
            if has(parts.ends, number) {
                match rule {
                    Rule::Early => state.happened.push((number, location)),
                    // The last access may be to another location, if the program takes another way.
                    _ => state.held.retain(|held| held.rule != number || held.thread != thread),
                }
            }
            if has(parts.begins, number) {
                let (location, callers) = match *rule {
                    Rule::Between { is_mixed, callers, .. } => (if is_mixed { 0 } else { location }, callers),
                    _ => (0, 0),
                };
                let depth = if depth == 0 { 0 } else { depth.saturating_sub(callers).max(1) };
                state.held.retain(|held| held.rule != number || held.thread != thread);
                state.held.push(Held { rule: number, thread, location, depth, since });
            }
        }
    }

    /// A thread has left a method in scope, or has ended: the parts that began there end.
    pub(super) fn end_parts(&mut self, thread: ThreadId) {
        if self.preventions.held.is_empty() {
            return;
        }
        let (depth, has_ended) = (self.units(thread).len(), self.has_ended(thread));
        self.preventions.held.retain(|held| held.thread != thread || !has_ended && held.depth <= depth);
    }

    fn give_up_old_parts(&mut self) {
        let (choices, polls) = (self.choices, self.polls);
        let state = &mut self.preventions;
        let is_old = |held: &Held| {
            let lasted = choices - held.since;
            lasted > LONGEST || lasted.min(polls) > LONGEST_POLLING
        };
        let before = state.held.len();
        state.held.retain(|held| !is_old(held));
        state.facts.broken += (before - state.held.len()) as u64;
    }
}

impl Preventions {
    fn forbids(&self, thread: ThreadId, operation: &Operation, parts: Parts) -> bool {
        let there = location(operation);
        let is_early = |(number, rule): (usize, &Rule)| {
            *rule == Rule::Early
                && has(parts.remote, number)
                && !self.happened.iter().any(|(known, location)| *known == number && *location == there)
        };
        let conflicts = |held: &Held| {
            let is_marked = has(parts.remote | parts.begins, held.rule);
            let is_there = held.location == there || held.location == 0;
            match self.rules[held.rule] {
                Rule::Between { writes, is_mixed: false, .. } => {
                    held.location == there && (is_marked || conflicts(operation, writes))
                }
                _ => is_marked && is_there,
            }
        };
        self.held.iter().any(|held| held.thread != thread && conflicts(held))
            || self.rules.iter().enumerate().any(is_early)
    }
}

/// Whether an operation conflicts with local accesses to the same location, one of which writes or not.
fn conflicts(operation: &Operation, writes: bool) -> bool {
    match operation {
        Operation::Access { is_write, .. } => writes || *is_write,
        operation => operation.enters().is_some(),
    }
}

/// The location or lock of an operation; 0 if it has none.
fn location(operation: &Operation) -> u64 {
    match operation {
        Operation::Access { location, .. } => location.0,
        operation => operation.enters().map_or(0, |lock| LOCK | u64::from(lock.0)),
    }
}

fn has(bits: u8, number: usize) -> bool {
    bits >> number & 1 != 0
}

#[cfg(test)]
mod tests {
    use fissure_model::goal::{Act, GoalSite};

    use super::*;
    use crate::{
        conductor::Decision,
        simulation::{
            Does::{self, Acquire, Load, Notify, Release, Store, Wait},
            Setup, Simulated, simulate_with,
        },
        strategy::Uniform,
    };

    /// The site of a step, by its number in the thread.
    fn site(step: u32, act: Act) -> GoalSite {
        GoalSite { site: step.to_string(), act, name: String::new() }
    }

    fn run(threads: &[&[Does]], prevented: &[Prevention], seed: u64) -> Simulated {
        let part = |prevention: &Prevention, step: u32| {
            let parts =
                [Act::Read, Act::Write, Act::Acquire].map(|act| prevention.part(&step.to_string(), act, ""));
            Part {
                begins: parts.iter().any(|part| part.begins),
                ends: parts.iter().any(|part| part.ends),
                is_remote: parts.iter().any(|part| part.is_remote),
            }
        };
        let parts = |step| (step, Parts::of(prevented.iter().map(|known| part(known, step))));
        let setup =
            Setup { prevented: prevented.to_vec(), parts: (0..20).map(parts).collect(), ..Setup::default() };
        simulate_with(threads, Box::new(Uniform), seed, &setup)
    }

    fn increment() -> Prevention {
        let (first, last) = (site(0, Act::Read), site(1, Act::Write));
        Prevention::Between { first, remote: vec![last.clone()], last }
    }

    #[test]
    fn no_other_thread_comes_between_two_local_accesses() {
        let steps: &[Does] = &[Load(1), Store(1)];
        let lost = |prevented: &[Prevention]| {
            (0..50).filter(|seed| run(&[steps, steps], prevented, *seed).variables[1] < 2).count()
        };
        assert!(lost(&[]) > 0);
        assert_eq!(lost(&[increment()]), 0);
    }

    #[test]
    fn an_access_waits_for_the_one_that_must_come_first() {
        let early = Prevention::Early { early: site(2, Act::Read), expected: site(1, Act::Write) };
        let (reads, writes): (&[Does], &[Does]) = (&[Load(2), Load(2), Load(1)], &[Load(3), Store(1)]);
        let comes_first = |prevented: &[Prevention], seed| {
            let done = run(&[reads, writes], prevented, seed).done;
            let at = |step| done.iter().position(|known| *known == step);
            at((0, 2)) < at((1, 1))
        };
        assert!((0..50).any(|seed| comes_first(&[], seed)));
        assert!(!(0..50).any(|seed| comes_first(std::slice::from_ref(&early), seed)));
    }

    #[test]
    fn a_prevention_that_would_deadlock_is_given_up_and_counted() {
        let first: &[Does] = &[Load(1), Acquire(0, 9), Store(1), Release(0)];
        let second: &[Does] = &[Acquire(0, 10), Store(1), Release(0)];
        let ends = Prevention::Between {
            first: site(0, Act::Read),
            last: site(2, Act::Write),
            remote: vec![site(1, Act::Write)],
        };
        let broken = |seed| {
            let result = run(&[first, second], std::slice::from_ref(&ends), seed);
            assert_eq!(result.end, Decision::Over, "{seed}");
            result.conductor.prevention_facts().broken
        };
        assert!((0..50).any(|seed| broken(seed) > 0));
    }

    #[test]
    fn notifications_are_remembered_or_wake_all() {
        let waits: &[Does] = &[Acquire(0, 1), Wait(0), Release(0)];
        let notifies: &[Does] = &[Acquire(0, 2), Notify(0), Release(0)];
        let ends = |threads: &[&[Does]], prevented: &[Prevention]| {
            (0..50).filter(|seed| run(threads, prevented, *seed).end == Decision::Over).count()
        };
        let lost = ends(&[waits, notifies], &[]);
        assert!(lost > 0 && lost < 50, "{lost}");
        assert_eq!(ends(&[waits, notifies], &[Prevention::LostNotify]), 50);
        assert_eq!(ends(&[waits, waits, notifies], &[]), 0);
        assert!(ends(&[waits, waits, notifies], &[Prevention::SingleNotify]) > 0);
    }
}
