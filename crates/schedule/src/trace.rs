//! The last steps of an execution, for the explanations of findings.

use fissure_model::{
    ids::{LocationId, LockId, SiteId, ThreadId},
    interleaving::Action,
};

/// How many steps are kept.
const MOST: usize = 1 << 16;
/// The stored value of a missing site.
const NONE: u32 = u32::MAX;

/// One step that was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceStep {
    /// The thread.
    pub thread: ThreadId,
    /// The action.
    pub action: Action,
    /// The lock of the action.
    pub lock: Option<LockId>,
    /// The other thread that the action affects.
    pub other: Option<ThreadId>,
    /// The site.
    pub site: Option<SiteId>,
    /// The memory location of the action.
    pub location: Option<LocationId>,
}

/// A compact step: each operation records at least one, and the cache misses of writing them cost more than packing them.
#[derive(Debug, Clone, Copy)]
struct Kept {
    /// The lock, the other thread or the location, depending on the action.
    about: u64,
    site: u32,
    /// The three lower bytes of the thread's number: 2^24 threads do not fit into memory.
    thread: [u8; 3],
    action: Action,
}

impl From<TraceStep> for Kept {
    #[inline(always)]
    fn from(step: TraceStep) -> Self {
        let about = match step.action {
            Action::Read | Action::Write => step.location.map(|location| location.0),
            Action::Start | Action::Unpark | Action::Interrupt => step.other.map(|other| u64::from(other.0)),
            _ => step.lock.map(|lock| u64::from(lock.0)),
        };
        let [first, second, third, _] = step.thread.0.to_le_bytes();
        Self {
            about: about.unwrap_or(u64::MAX),
            site: step.site.map_or(NONE, |site| site.0),
            thread: [first, second, third],
            action: step.action,
        }
    }
}

impl From<Kept> for TraceStep {
    fn from(kept: Kept) -> Self {
        let [first, second, third] = kept.thread;
        let about = (kept.about != u64::MAX).then_some(kept.about);
        let mut step = Self {
            thread: ThreadId(u32::from_le_bytes([first, second, third, 0])),
            action: kept.action,
            lock: None,
            other: None,
            site: (kept.site != NONE).then_some(SiteId(kept.site)),
            location: None,
        };
        match kept.action {
            Action::Read | Action::Write => step.location = about.map(LocationId),
            Action::Start | Action::Unpark | Action::Interrupt => {
                step.other = about.map(|other| ThreadId(other as u32));
            }
            _ => step.lock = about.map(|lock| LockId(lock as u32)),
        }
        step
    }
}

/// Steps, numbered from 1.
#[derive(Debug, Default)]
pub struct Trace {
    /// A ring buffer of at most [`MOST`] steps: step n has index n - 1, modulo [`MOST`].
    steps: Vec<Kept>,
    /// The number of the last step.
    last: u64,
}

impl Trace {
    /// Adds a step and returns its number.
    #[inline(always)]
    pub(crate) fn push(&mut self, step: TraceStep) -> u64 {
        let index = index(self.last + 1);
        match self.steps.get_mut(index) {
            Some(oldest) => *oldest = step.into(),
            None => self.steps.push(step.into()),
        }
        self.last += 1;
        self.last
    }

    /// Removes all steps.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.last = 0;
    }

    /// The number of the last step.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The kept steps from one number to another, both included, with their numbers.
    pub fn range(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, TraceStep)> {
        let first = from.max(self.last - self.steps.len() as u64 + 1);
        let numbers = first..=to.min(self.last);
        numbers.filter_map(|number| Some((number, TraceStep::from(*self.steps.get(index(number))?))))
    }
}

/// The index in the ring buffer of the step with this number.
fn index(number: u64) -> usize {
    (number - 1) as usize % MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_round_trip_through_the_compact_form() {
        let step = TraceStep {
            thread: ThreadId(70_000),
            action: Action::Other,
            lock: None,
            other: None,
            site: None,
            location: None,
        };
        let steps = [
            step,
            TraceStep { action: Action::Acquire, lock: Some(LockId(3)), site: Some(SiteId(9)), ..step },
            TraceStep { action: Action::Start, other: Some(ThreadId(80_000)), ..step },
            TraceStep { action: Action::Write, location: Some(LocationId(1 << 40)), ..step },
        ];
        let mut trace = Trace::default();
        steps.iter().for_each(|step| {
            trace.push(*step);
        });
        assert_eq!(trace.range(1, 9).map(|(_, step)| step).collect::<Vec<_>>(), steps);
    }

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
