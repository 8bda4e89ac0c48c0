//! Failures of runs in which Fissure let time pass while threads could run.
//!
//! The early end of a sleep or a time-out may be the cause of such a failure, and then it may never occur in reality. So the run is
//! repeated with the same seed and goal as a patient run, in which time passes only if no thread can run before. A failure that a patient
//! run shows as well does not depend on early time-outs and counts like any other. How often a failure is tried is bounded.

use std::collections::{BTreeMap, BTreeSet};

use fissure_model::settings::Control;

use crate::{facts, outcome::Outcome, reference::References};

/// How many patient runs are made because of one failure.
const TRIES: usize = 8;
/// How many patient runs are made in one hunt.
const RUNS: usize = 24;
/// Added to the seed of a run that is repeated for the second time, twice that for the third time, and so on. Hunts rarely have so many runs.
const SEED_STEP: u64 = 10_000_000;

/// The failures that may be caused by early time-outs.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// The failures that were tried.
    tried: BTreeSet<String>,
    /// The failures that runs without early time-outs show.
    settled: BTreeSet<String>,
    /// The seeds of the runs that the planned patient runs repeat, and of those that were repeated.
    planned: Vec<u64>,
    repeated: Vec<u64>,
}

impl Doubts {
    /// Records the failures of a run.
    pub(crate) fn add(&mut self, outcome: &Outcome, references: &References) {
        if !outcome.is_hurried() {
            self.settled.extend(facts::new_failures(outcome, references));
        }
    }

    /// The next failure of these runs that is in doubt and was not tried in any round, with the patient runs that try it. They end with the
    /// first run that shows it.
    pub(crate) fn next(
        &mut self,
        round: &[Control],
        outcomes: &[Outcome],
        references: &References,
    ) -> Option<(String, Vec<Control>)> {
        let hurried = round.iter().zip(outcomes).filter(|(_, outcome)| outcome.is_hurried());
        let mut failing: BTreeMap<String, Vec<&Control>> = BTreeMap::new();
        for (control, outcome) in hurried {
            for failure in facts::new_failures(outcome, references) {
                failing.entry(failure).or_default().push(control);
            }
        }
        failing.retain(|failure, _| !self.settled.contains(failure) && !self.tried.contains(failure));
        let (failure, failing) = failing.into_iter().next()?;
        self.tried.insert(failure.clone());
        // A run may fail in several ways, and was then repeated before.
        let is_failing = |seed: &&u64| failing.iter().any(|control| control.seed == **seed);
        let known = self.repeated.iter().filter(is_failing).count();
        let number = TRIES.saturating_sub(known).min(RUNS.saturating_sub(self.repeated.len()));
        let repeat = |number: usize| {
            let control = failing[number % failing.len()];
            let again = ((known + number) / failing.len()) as u64;
            Control {
                is_patient: true,
                seed: control.seed.wrapping_add(again * SEED_STEP),
                ..control.clone()
            }
        };
        self.planned = (0..number).map(|number| failing[number % failing.len()].seed).collect();
        Some((failure, (0..number).map(repeat).collect()))
    }

    /// Whether a run shows a failure without early time-outs.
    pub(crate) fn settles(outcome: &Outcome, failure: &str, references: &References) -> bool {
        !outcome.is_hurried() && facts::new_failures(outcome, references).iter().any(|shown| shown == failure)
    }

    /// Records how many of the planned patient runs were made.
    pub(crate) fn count(&mut self, runs: usize) {
        self.repeated.extend(self.planned.drain(..).take(runs));
    }

    /// Whether a run without early time-outs shows a failure.
    pub(crate) fn is_settled(&self, failure: &str) -> bool {
        self.settled.contains(failure)
    }

    /// How many runs were repeated.
    pub(crate) fn runs(&self) -> u64 {
        self.repeated.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use fissure_schedule::strategy::RANDOM;

    use super::*;
    use crate::{settings::RunSettings, testing::Sketch};

    /// Expects patient runs with these seeds for the first failure in doubt of a round. The runs are hurried if told so.
    fn check(doubts: &mut Doubts, failing: &[(&'static [&'static str], bool)], expected: &[u64]) {
        let mut references = References::default();
        references.add(&Sketch::default().outcome());
        let outcome = |(failures, is_hurried): &(&'static [&'static str], bool)| {
            Sketch { failures, is_hurried: *is_hurried, ..Sketch::default() }.outcome()
        };
        let outcomes: Vec<Outcome> = failing.iter().map(outcome).collect();
        let control = |seed| RunSettings::default().control(&RANDOM, seed, None);
        let round: Vec<Control> = (1..).take(failing.len()).map(control).collect();
        outcomes.iter().for_each(|outcome| doubts.add(outcome, &references));
        let (_, runs) = doubts.next(&round, &outcomes, &references).unwrap_or_default();
        assert!(runs.iter().all(|control| control.is_patient));
        assert_eq!(runs.iter().map(|control| control.seed).collect::<Vec<_>>(), expected);
        doubts.count(runs.len());
    }

    const BOOM: &[&str] = &["Boom 7 "];
    const OTHER: &[&str] = &["Other 7 "];
    const THIRD: &[&str] = &["Third 7 "];

    #[test]
    fn hurried_runs_that_fail_are_repeated_once_in_a_hunt() {
        let mut doubts = Doubts::default();
        let seeds = [1, 3, 10_000_001, 10_000_003, 20_000_001, 20_000_003, 30_000_001, 30_000_003];
        check(&mut doubts, &[(BOOM, true), (&[], true), (BOOM, true)], &seeds);
        check(&mut doubts, &[(BOOM, true)], &[]);
        let seeds: Vec<u64> = (0..TRIES as u64).map(|again| 2 + again * SEED_STEP).collect();
        check(&mut doubts, &[(BOOM, true), (OTHER, true)], &seeds);
        assert_eq!(doubts.runs(), 16);
        // The runs of the seeds 1 and 3 were repeated often enough.
        check(&mut doubts, &[(THIRD, true), (&[], true), (THIRD, true)], &[]);
    }

    #[test]
    fn a_failure_that_another_run_shows_is_not_in_doubt() {
        let mut doubts = Doubts::default();
        check(&mut doubts, &[(BOOM, true), (BOOM, false)], &[]);
        assert!(doubts.is_settled("Boom in Main.run:7"), "{doubts:?}");
    }
}
