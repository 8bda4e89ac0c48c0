//! The course of a hunt: reference runs, discovery of goals at accesses, and for each strategy its rounds of runs.

use std::collections::BTreeSet;

use fissure_model::{
    finding::{Finding, Kind, Status},
    goal::Goal,
    record::{RunEnd, VIRTUAL_THREADS},
    settings::{AccessPoints, Control, Patterns},
};
use fissure_schedule::strategy::{
    RANDOM, SEQUENTIAL,
    registry::{StrategyKind, assetfuzzer, racefuzzer},
};

use crate::{
    Runner, causes,
    facts::ReferenceFacts,
    goals::{AccessGoals, AcquireGoals, Allocation, GoalSource, Judgement, PredictedGoals},
    merge::{self, Merged},
    minimise::{self, Shortened},
    outcome::{Ending, Outcome},
    patience::Doubts,
    planning::{self, ChanceFacts, Limit, Planning},
    reference::References,
    result::{Found, HuntResult, Problem, StrategyResult},
    settings::HuntSettings,
};

/// Hunts.
pub fn hunt<R: Runner>(settings: &HuntSettings, runner: &mut R) -> Result<HuntResult, R::Error> {
    let mut hunt = Hunt {
        settings,
        runner,
        references: References::default(),
        doubts: Doubts::default(),
        examined: Vec::new(),
        is_over: false,
        chance_goals: planning::chance_goals(None, &[]),
        result: HuntResult::default(),
    };
    hunt.go()?;
    Ok(hunt.result)
}

/// The state of a hunt.
struct Hunt<'a, R> {
    settings: &'a HuntSettings,
    runner: &'a mut R,
    references: References,
    doubts: Doubts,
    /// The runs that show whether there is anything to see; empty once they do.
    examined: Vec<Outcome>,
    /// Whether the hunt ends here: it found a bug and was to find only one, or the user interrupted it.
    is_over: bool,
    /// The goals of runs that chance decides.
    chance_goals: Vec<Option<Goal>>,
    result: HuntResult,
}

/// The state of one strategy.
struct StrategyState {
    strategy: &'static StrategyKind,
    /// How many profiling runs there were, and how many runs came after them.
    profiling_runs: u64,
    runs: u64,
    /// How many of them were repeated as patient ones.
    patient_runs: u64,
    merged: Merged,
    goals: Allocation,
    chance: ChanceFacts,
    limit: Limit,
    /// Whether a run showed a bug.
    has_bug: bool,
}

impl<R: Runner> Hunt<'_, R> {
    fn go(&mut self) -> Result<(), R::Error> {
        let mut acquires = AcquireGoals::default();
        let reference_outcomes = self.reference_runs()?;
        for outcome in &reference_outcomes {
            self.references.add(outcome);
            acquires.learn(outcome, Judgement::default());
        }
        if let Some(outcome) = reference_outcomes.first() {
            self.result.processes =
                outcome.processes.iter().filter_map(|process| process.hello.clone()).collect();
        }
        self.result.references = ReferenceFacts::new(&reference_outcomes, &self.references);
        self.examined = reference_outcomes;
        // A sequential schedule may reach only one thread; the first round shows whether there are more.
        if let Some(problem) = self.problem(false) {
            self.give_up(problem);
            return Ok(());
        }
        let (accesses, predicted) = match self.settings.discovers_access_goals() {
            true => self.discover()?,
            false => Default::default(),
        };
        for (number, &strategy) in self.settings.strategies.iter().enumerate() {
            // Strategies share the time equally.
            let until = (number + 1) as f64 / self.settings.strategies.len() as f64;
            let learns = self.settings.learns && strategy.learns;
            let mut state = StrategyState {
                strategy,
                profiling_runs: 0,
                runs: 0,
                patient_runs: 0,
                merged: Merged::default(),
                goals: match learns {
                    true => Allocation::new(
                        true,
                        self.settings.aims,
                        acquires.clone(),
                        accesses.clone(),
                        predicted.clone(),
                    ),
                    false => Allocation::of_predictions(),
                },
                chance: ChanceFacts::default(),
                limit: self.settings.runs.map_or(Limit::Time(until), Limit::Runs),
                has_bug: false,
            };
            let problem = self.hunt_with(&mut state)?;
            state.merged.settle();
            if self.settings.seeks_causes && problem.is_none() && !self.runner.is_interrupted() {
                self.judge(&mut state)?;
            }
            let mut shortened = Vec::new();
            if self.settings.minimises && problem.is_none() && !self.runner.is_interrupted() {
                let run = &self.settings.run;
                shortened = minimise::minimise(run, self.runner, &mut state.merged, &self.references)?;
            }
            self.close(state, shortened);
            if let Some(problem) = problem {
                self.give_up(problem);
                break;
            }
            if self.is_over {
                break;
            }
        }
        Ok(())
    }

    fn reference_runs(&mut self) -> Result<Vec<Outcome>, R::Error> {
        let first = self.settings.seed;
        let control = |seed| self.settings.run.control(&SEQUENTIAL, seed, None);
        let controls: Vec<Control> = (first..first + self.settings.reference_runs).map(control).collect();
        self.runner.run(&controls, &|_| false)
    }

    /// Discovers goals at accesses, in a run with a sequential schedule and scheduling points at accesses. If that run shows thread-unsafe
    /// objects that threads share without a lock, another run instruments their classes too. Where threads take work from each other, the
    /// schedule decides which thread makes which access, so a last run is random.
    fn discover(&mut self) -> Result<(AccessGoals, PredictedGoals), R::Error> {
        let (mut goals, mut predicted) = (AccessGoals::default(), PredictedGoals::default());
        let mut learn = |outcome: &Outcome| {
            goals.learn(outcome, Judgement::default());
            predicted.learn(outcome, Judgement::default());
        };
        for points in self.settings.run.points.for_discovery() {
            if let Some(outcome) = self.discovery_run(&SEQUENTIAL, *points, Vec::new())? {
                self.references.add(&outcome);
                learn(&outcome);
                self.result.has_discovered = true;
                let instrumented: BTreeSet<&String> =
                    outcome.accounts().flat_map(|run| &run.unguarded).collect();
                let instrumented: Vec<String> = instrumented.into_iter().cloned().collect();
                self.chance_goals = planning::chance_goals(Some(*points), &instrumented);
                if !instrumented.is_empty()
                    && let Some(outcome) = self.discovery_run(&SEQUENTIAL, *points, instrumented)?
                {
                    self.references.add(&outcome);
                    learn(&outcome);
                }
                if let Some(outcome) = self.discovery_run(&RANDOM, *points, Vec::new())? {
                    learn(&outcome);
                }
                break;
            }
            if self.runner.is_interrupted() {
                break;
            }
        }
        Ok((goals, predicted))
    }

    /// One such run, if it ended.
    fn discovery_run(
        &mut self,
        strategy: &StrategyKind,
        points: AccessPoints,
        instrumented: Vec<String>,
    ) -> Result<Option<Outcome>, R::Error> {
        let races = self.settings.aims.races;
        let control = self.settings.run.discovery(strategy, self.settings.seed, points, instrumented, races);
        let has_ended = |outcome: &Outcome| outcome.is_complete() && outcome.end() != RunEnd::TooLong;
        Ok(self.runner.run(&[control], &|_| false)?.into_iter().find(has_ended))
    }

    /// Hunts with one strategy. Gives the reason if its runs say nothing about the program.
    fn hunt_with(&mut self, state: &mut StrategyState) -> Result<Option<Problem>, R::Error> {
        while !self.runner.is_interrupted() {
            let is_profiling = state.strategy.predicts && state.profiling_runs == 0;
            let round = if is_profiling { self.profiling_runs(state) } else { self.round(state) };
            let planned = round.len();
            if planned == 0 {
                break;
            }
            let (until_bug, references) = (self.settings.until_bug, &self.references);
            let is_last = |outcome: &Outcome| until_bug && merge::shows_failure_or_bug(outcome, references);
            let outcomes = self.runner.run(&round, &is_last)?;
            match is_profiling {
                true => state.profiling_runs += outcomes.len() as u64,
                false => state.runs += outcomes.len() as u64,
            }
            self.is_over = outcomes.len() < planned || outcomes.last().is_some_and(is_last);
            for outcome in &outcomes {
                self.doubts.add(outcome, references);
            }
            let mut repeated = Vec::new();
            while !self.is_over
                && !self.runner.is_interrupted()
                && let Some((failure, patient)) = self.doubts.next(&round, &outcomes, references)
            {
                let is_enough =
                    |outcome: &Outcome| Doubts::settles(outcome, &failure, references) || is_last(outcome);
                let patient = self.runner.run(&patient, &is_enough)?;
                self.doubts.count(patient.len());
                for outcome in &patient {
                    self.doubts.add(outcome, references);
                }
                self.is_over = patient.last().is_some_and(is_last);
                repeated.extend(patient);
            }
            state.patient_runs += repeated.len() as u64;
            for outcome in outcomes.iter().chain(&repeated) {
                self.add(state, outcome);
            }
            if !self.examined.is_empty() {
                self.examined.extend(outcomes);
                if let Some(problem) = self.problem(true) {
                    return Ok(Some(problem));
                }
                self.examined.clear();
            }
            if self.is_over {
                break;
            }
        }
        Ok(None)
    }

    /// Adds the result of a run.
    fn add(&mut self, state: &mut StrategyState, outcome: &Outcome) {
        let references = &self.references;
        self.result.runs += 1;
        self.doubts.add(outcome, references);
        let known = (state.merged.len(), state.goals.counts().0);
        state.merged.add(outcome, references);
        self.result.facts.add(outcome, references);
        let shows_bug = merge::shows_bug(outcome, references);
        state.has_bug |= shows_bug;
        // As long as there is no bug, a failure that some reference runs show as well still guides the next goals.
        let is_bad = !state.has_bug && merge::shows_failure(outcome, references);
        let is_news = references.is_news(outcome);
        state.goals.learn(outcome, Judgement { shows_bug, is_bad, is_news });
        // Runs that are repeated as patient ones are not left to chance.
        if outcome.is_patient == self.settings.run.is_patient {
            state.chance.add(outcome, known != (state.merged.len(), state.goals.counts().0));
        }
    }

    /// The profiling runs.
    fn profiling_runs(&self, state: &StrategyState) -> Vec<Control> {
        let control = |run| {
            let mut control = self.settings.run.control(state.strategy, self.settings.seed + run, None);
            control.patterns = Patterns { predictions: control.patterns.violations, ..control.patterns };
            control
        };
        (0..self.settings.profiling_runs).map(control).collect()
    }

    /// The next runs; none if the hunt with this strategy is over.
    fn round(&self, state: &StrategyState) -> Vec<Control> {
        let planning = Planning {
            limit: state.limit,
            spent: self.runner.spent(),
            runs: state.runs,
            all_runs: self.result.runs + self.settings.reference_runs,
            goals: &state.goals,
            is_independent: !(state.strategy.predicts || state.strategy.learns && self.settings.learns),
            chance: state.chance,
            // Goals at accesses are those of strategies that learn.
            chance_goals: if state.strategy.learns { &self.chance_goals } else { &[None] },
        };
        let first = self.settings.seed + state.profiling_runs;
        let control = |(run, goal)| {
            let seed = self.settings.shard.seed(first, run);
            self.settings.run.control(state.strategy, seed, goal)
        };
        (state.runs..).zip(planning.next()).map(control).collect()
    }

    /// Seeks the causes of the findings.
    fn judge(&mut self, state: &mut StrategyState) -> Result<(), R::Error> {
        let search_runs =
            state.profiling_runs + state.runs + state.patient_runs + self.settings.reference_runs;
        let known = state.goals.accesses().known_goals();
        let (run, merged) = (&self.settings.run, &mut state.merged);
        causes::judge(run, state.strategy, self.runner, merged, &self.references, &known, search_runs)
    }

    /// Adds the findings of a strategy to the result.
    fn close(&mut self, state: StrategyState, shortened: Vec<Shortened>) {
        let StrategyState { strategy, profiling_runs, runs, merged, goals, chance, .. } = state;
        let all_runs = profiling_runs + runs + state.patient_runs;
        let doubts = &self.doubts;
        self.result.facts.uncounted.retain(|failure, _| !doubts.is_settled(failure));
        self.result.facts.patient_runs = doubts.runs();
        let (known, tried) = goals.accesses().counts();
        self.result.untried += known - tried;
        self.result.is_cut |= goals.accesses().is_cut();
        for (mut finding, tally) in merged.finish(strategy.name, all_runs) {
            if strategy.learns && !self.keeps(&mut finding) {
                continue;
            }
            causes::mark(&mut finding);
            // Warnings about locks belong to atomfuzzer; strategies that predict do not try to confirm them.
            let is_foreign = strategy.predicts
                && finding.status == Status::Warning
                && finding.kind == Kind::AtomicityViolation;
            // Several strategies may show the same deadlock.
            if !is_foreign && !self.result.found.iter().any(|known| known.finding.id == finding.id) {
                self.result.found.push(Found { finding, tally });
            }
        }
        if strategy.learns {
            self.blame_failures();
        }
        let predictions = goals.predicted().facts();
        self.result.strategies.push(StrategyResult {
            strategy,
            profiling_runs,
            runs,
            goals: goals.counts(),
            chance,
            predictions,
            shortened,
        });
    }

    /// A failure that also shows without a race or an atomic-set violation is a finding of its own, and these are not blamed for it.
    fn blame_failures(&mut self) {
        let key = |finding: &Finding| {
            finding.consequence.as_ref().map(|failure| (failure.kind.clone(), failure.stack.first().cloned()))
        };
        let of_failures = |found: &&Found| matches!(found.finding.kind, Kind::Failure | Kind::Deadlock);
        let known: Vec<_> =
            self.result.found.iter().filter(of_failures).filter_map(|found| key(&found.finding)).collect();
        for Found { finding, .. } in &mut self.result.found {
            let is_common = matches!(finding.kind, Kind::DataRace | Kind::AtomicSetViolation);
            if is_common && key(finding).is_some_and(|failure| known.contains(&failure)) {
                finding.status = Status::Confirmed;
                finding.consequence = None;
            }
        }
    }

    /// Whether a finding of a strategy that learns is reported. Predictions of races and atomic-set violations are only goals there, and
    /// those that happened name the strategy that pursues them.
    fn keeps(&mut self, finding: &mut Finding) -> bool {
        let pursuer = match finding.kind {
            Kind::DataRace => Some(racefuzzer()),
            Kind::AtomicSetViolation => Some(assetfuzzer()),
            _ => None,
        };
        if let Some(pursuer) = pursuer {
            if finding.status == Status::Warning {
                return false;
            }
            finding.analysis = pursuer.name.to_owned();
        }
        let only = &self.settings.only;
        let is_meant = only.is_empty() || only.contains(&finding.kind);
        self.result.omitted += u64::from(!is_meant && finding.status > Status::Warning);
        is_meant
    }

    /// The reason if the runs so far say nothing about the program.
    fn problem(&self, with_threads: bool) -> Option<Problem> {
        let outcomes = &self.examined;
        let blindness = self.runner.blindness(outcomes)?;
        if self.runner.is_interrupted() {
            return Some(Problem::Interrupted);
        }
        if outcomes.iter().all(|outcome| outcome.ending == Ending::TimeLimit) {
            return Some(Problem::TimeLimit);
        }
        let has_virtual_threads =
            outcomes.iter().flat_map(Outcome::uncontrolled).any(|reason| reason == VIRTUAL_THREADS);
        if blindness.is_one_thread && has_virtual_threads {
            return with_threads.then_some(Problem::VirtualThreads);
        }
        (with_threads || !blindness.is_one_thread).then_some(Problem::Blind(blindness.text))
    }

    fn give_up(&mut self, problem: Problem) {
        self.result.problem = Some(problem);
        self.result.examined = self.examined.len() as u64;
        for outcome in &self.examined {
            self.result.facts.add_internal_errors(outcome);
        }
    }
}
