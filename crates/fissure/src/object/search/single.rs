//! Executes single harnesses, under all schedules or under stress.

use super::*;

/// The result of executing a harness under all schedules with few preemptions.
#[derive(Debug)]
pub(crate) enum Exploration {
    /// A schedule shows an outcome that is not atomic.
    Violation(Box<Violation>),
    /// All schedules were executed, and none does.
    Atomic,
    /// Not all schedules were executed.
    Partial,
}

impl Exploration {
    /// The violation, if there is one.
    pub(crate) fn violation(self) -> Option<Violation> {
        match self {
            Exploration::Violation(violation) => Some(*violation),
            Exploration::Atomic | Exploration::Partial => None,
        }
    }
}

impl Search<'_> {
    /// Executes a harness under all schedules with few preemptions; a violation has as few invocations as show it.
    pub(crate) fn explore_one(&mut self, harness: Harness) -> Result<Exploration, ObjectError> {
        let Some(ready) = self.examine_sequentially(harness)? else { return Ok(Exploration::Partial) };
        self.findings.harnesses += 1;
        let complete = self.findings.schedules.harnesses;
        let Some(seen) = self.violates(&ready, Duration::MAX)? else {
            let is_complete = self.findings.schedules.harnesses > complete;
            return Ok(if is_complete { Exploration::Atomic } else { Exploration::Partial });
        };
        let (ready, seen) = self.shrink(ready, seen)?;
        self.count(&ready, seen).map(|violation| Exploration::Violation(Box::new(violation)))
    }

    /// Executes a harness under stress for the whole budget or until it shows a violation.
    pub(crate) fn stress_one(&mut self, harness: Harness) -> Result<Option<Violation>, ObjectError> {
        let Some(ready) = self.examine_sequentially(harness)? else { return Ok(None) };
        self.findings.harnesses += 1;
        let Some(seen) = self.violates(&ready, self.bounds.budget)? else { return Ok(None) };
        let (ready, seen) = self.shrink(ready, seen)?;
        self.count(&ready, seen).map(Some)
    }

    /// Executes a harness under schedules with many preemptions; gives the number of schedules, and of preemptions up to which all were
    /// executed, if none is a violation.
    pub(crate) fn explore_fully(&mut self, harness: Harness) -> Result<Option<(u64, u32)>, ObjectError> {
        let Some(ready) = self.examine_sequentially(harness)? else { return Ok(None) };
        let depth = Depth {
            preemptions: MANY,
            executions: MOST_SCHEDULES,
            time: self.bounds.budget,
            patient: false,
            whole: Vec::new(),
        };
        let explored = self.session.explore(&ready.harness, &ready.outcomes, &depth)?;
        Ok(explored.and_then(|explored| {
            let is_sure = explored.diverged == 0 && explored.cut == 0 && !explored.has_strays;
            let is_atomic = explored.stressed.outcomes.iter().all(|(one, _)| ready.outcomes.contains(one));
            let complete = explored.complete.filter(|&complete| complete >= PREEMPTIONS)?;
            let is_sure = is_sure && is_atomic && explored.stressed.problem.is_empty();
            is_sure.then_some((explored.stressed.executions, complete))
        }))
    }

    /// The results so far.
    pub(crate) fn take_findings(&mut self) -> Findings {
        let elapsed = self.started.elapsed();
        self.started = Instant::now();
        Findings { elapsed, ..std::mem::take(&mut self.findings) }
    }

    /// A harness with its atomic outcomes, whatever it could reveal; `None` if it has none.
    pub(super) fn examine_sequentially(&mut self, harness: Harness) -> Result<Option<Ready>, ObjectError> {
        let Some(examination) = Examination::sequential(&harness) else { return Ok(None) };
        let epoch = self.session.ensure_all(|| examination.runs())?;
        let Some(outcomes) = examination.outcomes(self.session.results()) else {
            self.findings.undetermined += 1;
            return Ok(None);
        };
        Ok(Some(Ready { harness, outcomes, epoch, promise: 0, explored: 0 }))
    }
}

/// The harness without one of its invocations, which must not be the one under test. Of concurrent sequences none becomes empty.
pub(super) fn smaller(harness: &Harness) -> Vec<Harness> {
    let mut all = Vec::new();
    let mut number = 0;
    let concurrent = harness.concurrent();
    for (at, sequence) in harness.sequences.iter().enumerate() {
        for index in 0..sequence.len() {
            let removed = number;
            number += 1;
            let is_needed =
                sequence.len() == 1 && (concurrent.contains(&removed) || harness.target.is_some());
            if harness.target == Some(removed) || is_needed {
                continue;
            }
            let mut smaller = harness.clone();
            smaller.sequences[at].remove(index);
            smaller.target = harness.target.map(|target| target - usize::from(removed < target));
            if smaller.sequences[at].is_empty() {
                smaller.sequences.remove(at);
                smaller.order.retain(|&(before, after)| before != at && after != at);
                for (before, after) in &mut smaller.order {
                    *before -= usize::from(*before > at);
                    *after -= usize::from(*after > at);
                }
            }
            all.push(smaller);
        }
    }
    // The last invocations first: most observers show nothing.
    all.reverse();
    all
}
