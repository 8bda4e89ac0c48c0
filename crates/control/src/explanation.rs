//! Findings of a controlled run, and the steps that led to each.

use std::collections::{BTreeMap, BTreeSet};

use fissure_model::{
    finding::{Finding, Frame, Kind, Status, fingerprint},
    ids::{LocationId, LockId, SiteId, ThreadId},
    interleaving::{Action, Interleaving, Step},
    record::{Cause, Failure},
};
use fissure_schedule::pattern::Violation;
use rustc_hash::FxHashMap;

use crate::{
    ControlledRun,
    acquires::Acquires,
    flags,
    front_end::{FrontEnd, RawFrame, called, current_stack, finding_site, frame, site_text},
};

/// The material for the results.
#[derive(Debug, Default)]
pub(crate) struct Explanation {
    /// Findings by their fingerprints.
    pub(crate) confirmed: BTreeMap<String, Finding>,
    pub(crate) possible: BTreeMap<String, Finding>,
    pub(crate) acquires: Acquires,
    /// The number of choices made when a thread was last about to acquire a lock again inside of a block.
    pub(crate) arrivals: FxHashMap<ThreadId, u64>,
    /// The same for acquires before which a remote acquire then landed, and for waits, by site.
    pub(crate) reached: BTreeMap<String, u64>,
    /// The stack of the last acquire of each lock that could be a remote acquire.
    pub(crate) between: FxHashMap<LockId, Vec<RawFrame>>,
    /// The failures, with the step before each.
    pub(crate) failures: Vec<(Failure, u64)>,
}

impl Explanation {
    /// Adds a failure that came after so many steps; the findings confirmed before may have caused it.
    pub(crate) fn add_failure(&mut self, failure: Failure, step: u64) {
        let after = self.confirmed.keys().cloned().collect();
        self.failures.push((Failure { after, ..failure }, step));
    }

    /// Whether the same failure was recorded before.
    pub(crate) fn has_failure(&self, cause: &Cause, stack: &[Frame]) -> bool {
        let is_same = |failure: &Failure| failure.cause == *cause && failure.stack == stack;
        self.failures.iter().any(|(failure, _)| is_same(failure))
    }

    /// Removes the last exit that a thread announced, because it did not happen.
    pub(crate) fn retract_exit(&mut self, thread: &str) {
        let is_it = |(failure, _): &(Failure, u64)| failure.thread == thread && failure.exit_code().is_some();
        if let Some(index) = self.failures.iter().rposition(is_it) {
            self.failures.remove(index);
        }
    }

    /// Whether a finding has been confirmed already; if so, counts it once more.
    pub(crate) fn knows(&mut self, id: &str) -> bool {
        let known = self.confirmed.get_mut(id);
        known.map(|finding| finding.hits += 1).is_some()
    }

    /// Adds a finding that this run executed.
    pub(crate) fn add_confirmed(&mut self, front: &dyn FrontEnd, finding: Finding) {
        front.found(&finding);
        self.confirmed.insert(finding.id.clone(), finding);
    }

    /// Adds a finding that other runs may execute.
    pub(crate) fn add_possible(&mut self, finding: Finding) {
        self.possible.entry(finding.id.clone()).or_insert(finding);
    }

    /// Links failures after a step to a finding that was completed later: the failure may be its consequence.
    pub(crate) fn blame(&mut self, id: &str, step: u64) {
        for (failure, at) in &mut self.failures {
            if *at >= step && !failure.after.iter().any(|known| known == id) {
                failure.after.push(id.to_owned());
            }
        }
    }
}

impl ControlledRun {
    /// Reports an executed lock pattern.
    pub(crate) fn confirm(&mut self, front: &dyn FrontEnd, violation: &Violation) {
        let subject = subject(front, violation.entered);
        let id = identity(front, &subject, violation.again.site);
        if let Some(choices) = self.explanation.arrivals.get(&violation.again.thread) {
            self.explanation.reached.entry(site_text(front, violation.again.site)).or_insert(*choices);
        }
        if self.explanation.knows(&id) {
            return;
        }
        let stack = current_stack(front);
        let stack_at_block = stack_at_block(front, violation.entered, &stack);
        let between = self.explanation.between.get(&violation.lock).map(|stack| front.named(stack));
        let own = self.conductor.name(violation.again.thread);
        let other = self.conductor.name(violation.between.thread);
        let lock = self.locks.name(violation.lock);
        let mut first = vec![frame(front, violation.first.site)];
        let is_in_method = stack_at_block.first().map(|frame| &frame.method) == Some(&first[0].method);
        first.extend(stack_at_block.iter().skip(usize::from(is_in_method)).cloned());
        let between = between.unwrap_or_default();
        let sites = vec![
            finding_site(front, "entered", own, violation.entered, stack_at_block, None),
            finding_site(front, "acquired", own, violation.first.site, first, lock.clone()),
            finding_site(front, "interfered", other, violation.between.site, between, lock.clone()),
            finding_site(front, "reacquired", own, violation.again.site, stack, lock),
        ];
        let finding = Finding {
            id,
            sites,
            interleaving: Some(self.interleaving(front, violation)),
            ..Finding::new(Kind::AtomicityViolation, Status::Confirmed, "atomfuzzer", &subject)
        };
        self.explanation.add_confirmed(front, finding);
    }

    /// The steps of a violation, each with the number of steps left out before it.
    fn interleaving(&self, front: &dyn FrontEnd, violation: &Violation) -> Interleaving {
        let threads = [violation.again.thread, violation.between.thread];
        let shared = self.shared_locations(threads, violation.entered_step, violation.again.step);
        let mut steps = Vec::new();
        let mut folded = 0;
        for (number, step) in self.conductor.trace().range(violation.entered_step, violation.again.step) {
            let matters = threads.contains(&step.thread)
                && (step.lock == Some(violation.lock)
                    || number == violation.entered_step
                    || step.location.is_some_and(|location| shared.contains(&location))
                    || matches!(step.action, Action::Wait | Action::Sleep | Action::Begin));
            if !matters {
                folded += 1;
                continue;
            }
            let role = match number {
                _ if number == violation.entered_step => Some("entered"),
                _ if number == violation.first.step => Some("acquired"),
                _ if number == violation.between.step => Some("interfered"),
                _ if number == violation.again.step => Some("reacquired"),
                _ => None,
            };
            let object = match step.action {
                Action::BlockEnter => step.site.map(|site| subject(front, site)),
                Action::Read | Action::Write => Some(self.accessed_name(&step)),
                _ => step.lock.and_then(|lock| self.locks.name(lock)),
            };
            steps.push(Step {
                thread: usize::from(step.thread != threads[0]),
                action: step.action,
                object: object.unwrap_or_default(),
                called: step.site.filter(|_| step.location.is_some()).and_then(|site| called(front, site)),
                at: step.site.map(|site| frame(front, site)),
                role: role.map(str::to_owned),
                folded: std::mem::take(&mut folded),
            });
        }
        let names = threads.map(|thread| self.conductor.name(thread).to_owned());
        Interleaving { threads: names.to_vec(), steps }
    }

    /// The locations that both threads access between two steps; empty if accesses are not scheduling points.
    fn shared_locations(&self, threads: [ThreadId; 2], from: u64, to: u64) -> BTreeSet<LocationId> {
        let mut accessed = threads.map(|_| BTreeSet::new());
        for (_, step) in self.conductor.trace().range(from, to) {
            let thread = threads.iter().position(|thread| *thread == step.thread);
            if let (Some(thread), Some(location)) = (thread, step.location) {
                accessed[thread].insert(location);
            }
        }
        accessed[0].intersection(&accessed[1]).copied().collect()
    }
}

/// The index of a method's frame in a stack; of several consecutive ones, the outermost.
pub(crate) fn outermost_frame(stack: &[Frame], method: &Frame) -> Option<usize> {
    let is_method = |frame: &Frame| frame.class == method.class && frame.method == method.method;
    let mut index = stack.iter().position(is_method)?;
    // A bridge method of a superclass may lie between two methods with the same name.
    while let Some(next) = stack[index + 1..].iter().take(2).position(is_method) {
        index += 1 + next;
    }
    Some(index)
}

/// The stack at the beginning of a block: the current stack from the block's method on.
pub(crate) fn stack_at_block(front: &dyn FrontEnd, entered: SiteId, stack: &[Frame]) -> Vec<Frame> {
    let block = frame(front, entered);
    match outermost_frame(stack, &block) {
        Some(index) => {
            let mut stack_at_block = stack[index..].to_vec();
            stack_at_block[0] = block;
            stack_at_block
        }
        None => vec![block],
    }
}

/// The atomic method, or the site of the synchronized block.
pub(crate) fn subject(front: &dyn FrontEnd, entered: SiteId) -> String {
    front.site(entered).map_or_else(String::new, |site| {
        let line = site.frame.line.filter(|_| site.is_block);
        flags::site_text(&site.frame.class, &site.frame.method, line)
    })
}

pub(crate) fn identity(front: &dyn FrontEnd, subject: &str, again: SiteId) -> String {
    let frame = frame(front, again);
    // Line numbers shift between versions, so the fingerprint must not contain the line of the block.
    let block = subject.rsplit_once(':').map_or(subject, |(method, _)| method);
    fingerprint(&["atomicity-violation", block, &frame.class, &frame.method])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stack: &[&str], method: &str, expected: Option<usize>) {
        let frame =
            |method: &str| Frame { class: "A".to_owned(), method: method.to_owned(), file: None, line: None };
        let stack: Vec<Frame> = stack.iter().map(|method| frame(method)).collect();
        assert_eq!(outermost_frame(&stack, &frame(method)), expected, "{stack:?}");
    }

    #[test]
    fn overloaded_methods_count_as_one() {
        check(&["add", "main"], "add", Some(0));
        check(&["add", "add", "main"], "add", Some(1));
        check(&["add", "bridge", "add", "main"], "add", Some(2));
        check(&["add", "other", "another", "add"], "add", Some(0));
        check(&["main"], "add", None);
    }
}
