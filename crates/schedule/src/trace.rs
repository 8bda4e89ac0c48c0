//! The last steps of an execution, for those who want to see how something came about.

use std::collections::VecDeque;

use fissure_model::{
    ids::{LocationId, LockId, SiteId, ThreadId},
    interleaving::Action,
};

/// More steps than this are not kept.
const MOST: usize = 1 << 17;
/// Stands for nothing where a step is kept.
const NONE: u32 = u32::MAX;

/// One step that was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceStep {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub action: Action,
    /// The lock in question.
    pub lock: Option<LockId>,
    /// The other thread in question.
    pub other: Option<ThreadId>,
    /// Where.
    pub site: Option<SiteId>,
    /// The memory location in question.
    pub location: Option<LocationId>,
}

/// A step in little space: there is at least one for every operation, and their way through the processor's caches costs more than
/// making them.
#[derive(Debug, Clone, Copy)]
struct Kept {
    location: u64,
    thread: u32,
    lock: u32,
    other: u32,
    site: u32,
    action: Action,
}

impl From<TraceStep> for Kept {
    fn from(step: TraceStep) -> Self {
        Self {
            location: step.location.map_or(u64::MAX, |location| location.0),
            thread: step.thread.0,
            lock: step.lock.map_or(NONE, |lock| lock.0),
            other: step.other.map_or(NONE, |other| other.0),
            site: step.site.map_or(NONE, |site| site.0),
            action: step.action,
        }
    }
}

impl From<Kept> for TraceStep {
    fn from(kept: Kept) -> Self {
        let known = |number: u32| (number != NONE).then_some(number);
        Self {
            thread: ThreadId(kept.thread),
            action: kept.action,
            lock: known(kept.lock).map(LockId),
            other: known(kept.other).map(ThreadId),
            site: known(kept.site).map(SiteId),
            location: (kept.location != u64::MAX).then_some(LocationId(kept.location)),
        }
    }
}

/// Steps, numbered from 1.
#[derive(Debug, Default)]
pub struct Trace {
    steps: VecDeque<Kept>,
    /// How many were dropped before the first that is kept.
    dropped: u64,
}

impl Trace {
    /// Adds a step and gives its number.
    pub(crate) fn push(&mut self, step: TraceStep) -> u64 {
        if self.steps.len() == MOST {
            self.steps.pop_front();
            self.dropped += 1;
        }
        self.steps.push_back(step.into());
        self.last()
    }

    /// Forgets all steps.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.dropped = 0;
    }

    /// The number of the last step.
    pub fn last(&self) -> u64 {
        self.dropped + self.steps.len() as u64
    }

    /// The steps from one number to another, both included, with their numbers, as far as they are kept.
    pub fn range(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, TraceStep)> {
        let first = from.max(self.dropped + 1);
        let count = (to + 1).saturating_sub(first) as usize;
        let skipped = (first - self.dropped - 1) as usize;
        (first..).zip(
            self.steps.range(skipped.min(self.steps.len())..).take(count).map(|kept| TraceStep::from(*kept)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_steps_are_kept() {
        let mut trace = Trace::default();
        let step = |site| TraceStep {
            thread: ThreadId(0),
            action: Action::Other,
            lock: None,
            other: None,
            site: Some(SiteId(site)),
            location: None,
        };
        for number in 1..=(MOST as u32 + 1) {
            assert_eq!(trace.push(step(number)), u64::from(number));
        }
        let numbers = |from, to| trace.range(from, to).map(|(number, _)| number).collect::<Vec<_>>();
        assert_eq!(numbers(1, 3), [2, 3]);
        assert_eq!(numbers(5, 5), [5]);
        assert!(trace.range(2, trace.last()).all(|(number, step)| step.site == Some(SiteId(number as u32))));
    }
}
