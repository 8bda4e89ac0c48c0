//! Outcomes of harnesses: which are atomic, and whether a harness could show one that is not.
//!
//! Nothing is executed here. An [`Examination`] lists the runs of operations that must be executed one after the other on a fresh object,
//! and draws its conclusions from their results.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    enumerate::{Alphabet, Harness, Operation},
    linearize::{linearizations, starts},
    schema::closure,
};

/// The number of a result; equal results have equal numbers.
pub type ResultNumber = u32;

/// Operations to execute one after the other on a fresh object.
pub type Run = Vec<Operation>;

/// An outcome: the results of a harness's invocations, numbered sequence by sequence.
pub type Outcome = Vec<ResultNumber>;

/// Harnesses with more linearizations than this are not examined.
const MOST_LINEARIZATIONS: usize = 2520;

/// The results of runs, equal in every repetition; `None` for a run without such results. A run with fewer results than operations has
/// all results before an operation that waits for ever if no other thread continues.
pub type Results = FxHashMap<Run, Option<Outcome>>;

/// The atomic outcomes of a harness, each with the linearizations that lead to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Outcomes and linearizations, in the order in which linearizations are enumerated.
    pub atomic: Vec<(Outcome, Vec<Vec<usize>>)>,
}

impl Outcomes {
    /// Whether some linearization has this outcome.
    pub fn contains(&self, outcome: &[ResultNumber]) -> bool {
        self.atomic.iter().any(|(atomic, _)| atomic == outcome)
    }
}

/// The analysis of a harness before it is executed by several threads.
#[derive(Debug)]
pub struct Examination {
    operations: Vec<Operation>,
    linearizations: Vec<Vec<usize>>,
    /// The ways in which invocations might misbehave.
    misbehaviours: Vec<Misbehaviour>,
}

/// A way in which an invocation might misbehave.
#[derive(Debug)]
enum Misbehaviour {
    /// The last invocation of the run has the result that it has there; all others have those of the linearization.
    Reads { linearization: usize, run: Vec<usize> },
    /// All invocations have the results of the run, which is no linearization.
    Updates { run: Vec<usize> },
}

impl Examination {
    /// Prepares the examination; `None` if the harness has too many linearizations.
    ///
    /// The misbehaviours follow the **could reveal** rule: each concurrent invocation comes before the method under test or after it,
    /// independently of the others. A reader then has the result as if only some of the earlier updates had happened; some of the
    /// invocations before an update observe it already, or one after it does not observe it. If all such outcomes of a harness are atomic,
    /// it cannot show a method that misbehaves only in these ways, and is tried after the others.
    pub fn new(harness: &Harness, alphabet: &Alphabet) -> Option<Self> {
        let lengths = harness.lengths();
        let operations = harness.operations();
        let all = linearizations(&lengths, &harness.order, MOST_LINEARIZATIONS)?;
        let mut examination = Examination { operations, linearizations: all, misbehaviours: Vec::new() };
        let targets = match harness.target {
            Some(target) => target..target + 1,
            None => 0..examination.operations.len(),
        };
        for target in targets {
            let concurrent = Concurrent::new(harness, &lengths, target);
            // A method that seems read-only but is not certain to be may misbehave in both ways.
            let operation = examination.operations[target];
            if alphabet.seems_read_only(operation) {
                examination.add_reader_misbehaviours(target, &concurrent);
            }
            if !alphabet.read_only(operation) {
                examination.add_update_misbehaviours(target, &concurrent);
            }
        }
        Some(examination)
    }

    /// The same for a harness whose atomic outcomes alone are of interest.
    pub fn sequential(harness: &Harness) -> Option<Self> {
        let all = linearizations(&harness.lengths(), &harness.order, MOST_LINEARIZATIONS)?;
        Some(Examination { operations: harness.operations(), linearizations: all, misbehaviours: Vec::new() })
    }

    /// All runs whose results are needed.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let misbehaviours = self.misbehaviours.iter().map(|misbehaviour| match misbehaviour {
            Misbehaviour::Reads { run, .. } | Misbehaviour::Updates { run } => run,
        });
        self.linearizations.iter().chain(misbehaviours).map(|run| self.run(run))
    }

    /// The runs that the atomic outcomes need.
    pub fn sequential_runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.linearizations.iter().map(|run| self.run(run))
    }

    /// The atomic outcomes; `None` if one of the linearizations has no repeatable results, or if the harness may wait for ever.
    ///
    /// An order in which an invocation waits for ever is no linearization: the invocation takes effect later. If every invocation that
    /// could come next waits, so may the harness.
    pub fn outcomes(&self, results: &Results) -> Option<Outcomes> {
        let mut outcomes = Outcomes::default();
        for linearization in &self.linearizations {
            let ended = results.get(&self.run(linearization))?.as_ref()?.len();
            if ended < linearization.len() {
                if self.waits_after(&linearization[..ended], results) {
                    return None;
                }
                continue;
            }
            let outcome = self.outcome(linearization, results)?;
            match outcomes.atomic.iter_mut().find(|(known, _)| *known == outcome) {
                Some((_, list)) => list.push(linearization.clone()),
                None => outcomes.atomic.push((outcome, vec![linearization.clone()])),
            }
        }
        Some(outcomes)
    }

    /// The orders in which some invocation waits for ever.
    pub fn waiting_runs(&self, results: &Results) -> Vec<Run> {
        let waits = |run: &Run| {
            results.get(run).and_then(Option::as_ref).is_some_and(|outcome| outcome.len() < run.len())
        };
        self.sequential_runs().filter(waits).collect()
    }

    /// Whether every invocation waits that could come next after these.
    fn waits_after(&self, before: &[usize], results: &Results) -> bool {
        let goes_on = |linearization: &&Vec<usize>| {
            linearization.starts_with(before)
                && results
                    .get(&self.run(linearization))
                    .and_then(Option::as_ref)
                    .is_some_and(|outcome| outcome.len() > before.len())
        };
        !self.linearizations.iter().any(|linearization| goes_on(&linearization))
    }

    /// Whether a method that misbehaves could show an outcome that is not atomic.
    pub fn could_reveal(&self, outcomes: &Outcomes, results: &Results) -> bool {
        self.misbehaviours.iter().any(|misbehaviour| self.reveals(misbehaviour, outcomes, results))
    }

    /// How much a harness could reveal: the share of misbehaviours that show an outcome that is not atomic, in thousandths and rounded up, so
    /// that it is 0 only if the harness could reveal nothing.
    pub fn promise(&self, outcomes: &Outcomes, results: &Results) -> u32 {
        let shown = self
            .misbehaviours
            .iter()
            .filter(|misbehaviour| self.reveals(misbehaviour, outcomes, results))
            .count();
        (shown * 1000).div_ceil(self.misbehaviours.len().max(1)) as u32
    }

    fn reveals(&self, misbehaviour: &Misbehaviour, outcomes: &Outcomes, results: &Results) -> bool {
        match misbehaviour {
            Misbehaviour::Updates { run } => {
                self.outcome(run, results).is_some_and(|outcome| !outcomes.contains(&outcome))
            }
            Misbehaviour::Reads { linearization, run } => {
                let target = run[run.len() - 1];
                let result = results.get(&self.run(run)).and_then(|results| {
                    results.as_ref().filter(|results| results.len() == run.len())?.last().copied()
                });
                let others = self.outcome(&self.linearizations[*linearization], results);
                result.zip(others).is_some_and(|(result, mut outcome)| {
                    outcome[target] = result;
                    !outcomes.contains(&outcome)
                })
            }
        }
    }

    fn run(&self, invocations: &[usize]) -> Run {
        invocations.iter().map(|&invocation| self.operations[invocation]).collect()
    }

    /// The outcome of a run of all invocations.
    fn outcome(&self, run: &[usize], results: &Results) -> Option<Outcome> {
        let run_results =
            results.get(&self.run(run))?.as_ref().filter(|results| results.len() == run.len())?;
        let mut outcome = vec![0; self.operations.len()];
        for (&invocation, &result) in run.iter().zip(run_results) {
            outcome[invocation] = result;
        }
        Some(outcome)
    }

    /// In each linearization, the method does not observe some of the concurrent invocations before it.
    fn add_reader_misbehaviours(&mut self, target: usize, concurrent: &Concurrent) {
        let mut known = FxHashSet::default();
        for (number, linearization) in self.linearizations.iter().enumerate() {
            let earlier = earlier(linearization, target);
            let free: Vec<usize> = earlier.iter().copied().filter(|&one| concurrent.free[one]).collect();
            for missed in subsets(&free) {
                let mut run: Vec<usize> =
                    earlier.iter().copied().filter(|one| !missed.contains(one)).collect();
                run.push(target);
                if known.insert((number, run.clone())) {
                    self.misbehaviours.push(Misbehaviour::Reads { linearization: number, run });
                }
            }
        }
    }

    /// In each linearization, some of the concurrent invocations before the method observe it already, or equivalently it does not
    /// observe them; or one after it does not observe it.
    fn add_update_misbehaviours(&mut self, target: usize, concurrent: &Concurrent) {
        let mut known = FxHashSet::default();
        for (number, linearization) in self.linearizations.iter().enumerate() {
            let earlier = earlier(linearization, target);
            let free: Vec<usize> = earlier.iter().copied().filter(|&one| concurrent.free[one]).collect();
            let later = &linearization[earlier.len() + 1..];
            for moved in subsets(&free) {
                let mut run: Vec<usize> =
                    earlier.iter().copied().filter(|one| !moved.contains(one)).collect();
                run.push(target);
                run.extend(moved);
                run.extend(later);
                if known.insert(run.clone()) {
                    self.misbehaviours.push(Misbehaviour::Updates { run });
                }
            }
            for (at, &other) in later.iter().enumerate().filter(|(_, other)| concurrent.free[**other]) {
                let run = [earlier, &later[..at], &[other]].concat();
                self.misbehaviours.push(Misbehaviour::Reads { linearization: number, run });
            }
        }
    }
}

/// The invocations that come before this one.
fn earlier(linearization: &[usize], target: usize) -> &[usize] {
    linearization.split(|&one| one == target).next().unwrap_or_default()
}

/// The invocations of a harness that are concurrent with one of them.
struct Concurrent {
    /// Whether each invocation is in a sequence that runs concurrently.
    free: Vec<bool>,
}

impl Concurrent {
    fn new(harness: &Harness, lengths: &[usize], target: usize) -> Self {
        let starts = starts(lengths);
        let order = closure(lengths.len(), &harness.order);
        let sequence_of = |one: usize| starts.partition_point(|&start| start <= one) - 1;
        let own = sequence_of(target);
        let free = (0..lengths.iter().sum()).map(|one| {
            let sequence = sequence_of(one);
            sequence != own && !order[sequence][own] && !order[own][sequence]
        });
        Concurrent { free: free.collect() }
    }
}

/// All subsets of a few items.
fn subsets(items: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    (0..1_u32 << items.len().min(16)).map(|mask| {
        items.iter().enumerate().filter(|(bit, _)| mask & (1 << bit) != 0).map(|(_, &item)| item).collect()
    })
}
