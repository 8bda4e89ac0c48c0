//! Proves the causes of failures by counterfactuals: forcing a cause makes the failure appear, preventing it makes the failure disappear
//! in otherwise equal runs.
//!
//! The idea is that of delta debugging over causes (A. Zeller, "Isolating Cause-Effect Chains from Computer Programs", FSE 2002), with the
//! interleavings of AVIO and CTrigger as the differences to test. Deviations: a candidate is not a difference between two recorded
//! schedules but a goal of runs that failed, or a violation in them; it is tested in many runs, because a schedule that is changed at one
//! point may fail for another reason; and candidates that pass both tests are tested against each other.
//!
//! 1. Runs that failed are repeated, each with one candidate prevented. A candidate that clears none of them is a bystander.
//! 2. Candidates that clear the same runs are compared: if forcing the first one makes the program fail although the second one is
//!    prevented, and not the other way round, the second one is a bystander.
//! 3. If no candidate clears all runs, two may do so together: then there are two independent causes.
//! 4. The causes that are left are forced and prevented in as many runs as the allowance permits, also in runs whose goals are other
//!    interleavings of the same variables. They are proved if the program fails in nearly all of the first, and in none of the second.
//!    A run that fails all the same is added to those of the first step.
//!
//! The number of runs is bounded by that of the search, so that the same hunt gives the same result; with a time budget also by time.

mod candidates;
mod marks;

use std::time::Duration;

use fissure_model::{
    finding::{Judgement, Kind, ProvedCause, Repair, Status, Trials},
    goal::{AccessGoal, Goal},
    prevention::Prevention,
    settings::Control,
};
use fissure_schedule::strategy::registry::StrategyKind;

use crate::{
    Runner,
    merge::{Merged, Shown},
    outcome::Outcome,
    reference::References,
    settings::RunSettings,
};
use candidates::Candidate;
pub(crate) use marks::mark;

/// The causes of how many findings are sought.
const FINDINGS: usize = 4;
/// For how many findings it is checked whether a known cause is also theirs.
const MOST_JUDGED: usize = 16;
/// How many runs that failed are repeated with each candidate prevented: fewer if the allowance is small.
const LEAST_REPEATED: u64 = 2;
const MOST_REPEATED: u64 = 6;
const RUNS_PER_REPEATED: u64 = 24;
/// How many causes may be told together.
const MOST_CAUSES: usize = 2;
/// How often the choice of causes is repeated with runs that failed all the same.
const ATTEMPTS: usize = 3;
/// How many candidates that clear the same runs are compared.
const MOST_EQUALS: usize = 3;
/// How many goals are tried to force a candidate.
const MOST_FORCING: usize = 2;
/// How many runs compare two candidates.
const COMPARED: u64 = 3;
/// In how many runs a proved cause is forced and prevented, if the allowance permits.
const MOST_FORCED: u64 = 60;
const MOST_PREVENTED: u64 = 200;
/// The fewest runs that prove something.
const LEAST_FORCED: u64 = 3;
const LEAST_PREVENTED: u64 = 10;
/// The fewest schedules over which a repair is proposed.
const LEAST_REPAIRED: u64 = 20;
/// So many runs of each hundred must fail if the cause is forced.
const SURE: u64 = 80;
/// The time for the causes of all findings, in hunts with a time budget; half of the time of the search, if that is longer.
const TIME: Duration = Duration::from_secs(5);
/// Seeds of the runs that force and prevent begin here, so that they differ from those of the search.
const FIRST_SEED: u64 = 1_000_000;

/// Seeks the causes of the most certain findings, and tells those with the same cause as one. The search knows these goals at accesses, and took
/// so many runs. The runs of the judgement do not count as runs of the hunt: those that force a cause would make it seem more frequent than the
/// search found it.
pub(crate) fn judge<R: Runner>(
    settings: &RunSettings,
    strategy: &StrategyKind,
    runner: &mut R,
    merged: &mut Merged,
    references: &References,
    known_goals: &[AccessGoal],
    search_runs: u64,
) -> Result<(), R::Error> {
    let bugs = merged.shown().iter().filter(|shown| is_judged(shown)).count().min(FINDINGS);
    let begun = runner.elapsed();
    let mut left = search_runs.max(runner.least_judging_runs());
    let mut next_seed = FIRST_SEED;
    let mut judged: Vec<String> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    while let Some(shown) = merged
        .shown()
        .into_iter()
        .find(|shown| is_judged(shown) && !judged.contains(&shown.id) && judged.len() < MOST_JUDGED)
    {
        let number = judged.len();
        judged.push(shown.id.clone());
        // What one finding leaves over, the next ones share.
        let part = (number + 1).min(bugs) as f64 / bugs as f64;
        let share = begun.map(|begun| TIME.max(begun / 2).mul_f64(part));
        let allowed = left / (bugs.saturating_sub(number).max(1) as u64);
        let mut judge = Judge {
            settings,
            strategy,
            runner: &mut *runner,
            references,
            left: allowed,
            deadline: begun.zip(share).map(|(begun, share)| begun + share),
            next_seed,
            shown: &shown,
            seen: Vec::new(),
        };
        let failing = judge.failing(merged);
        let known = judge.known_cause(&failing, &groups)?;
        let verdict = match known {
            Some(_) => None,
            None if number < FINDINGS => Some(judge.verdict(merged, &failing, known_goals)?),
            None => None,
        };
        next_seed = judge.next_seed;
        left -= allowed - judge.left;
        let seen = std::mem::take(&mut judge.seen);
        if let Some(index) = known {
            groups[index].ids.push(shown.id.clone());
        }
        if let Some(verdict) = verdict {
            let causes = verdict.judgement.causes.iter().map(|cause| cause.prevention.clone()).collect();
            let id = merged.judge(&shown, verdict, &seen, references);
            judged.extend(id.clone().filter(|id| *id != shown.id));
            groups.extend(id.map(|id| Group { causes, ids: vec![id] }));
        }
    }
    for Group { ids, .. } in groups {
        let mut ids = ids.into_iter();
        let Some(first) = ids.next() else { continue };
        ids.fold(first, |kept, other| merged.unite(&kept, &other));
    }
    Ok(())
}

/// Whether the cause of a finding is sought. Races and violations of atomic sets have no candidates.
fn is_judged(shown: &Shown) -> bool {
    let has_candidates = matches!(shown.kind, Kind::Failure | Kind::Deadlock | Kind::AtomicityViolation);
    shown.status() == Status::Bug && has_candidates
}

/// Findings with the same proved causes.
struct Group {
    causes: Vec<Prevention>,
    ids: Vec<String>,
}

/// What was found out about one finding.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) judgement: Judgement,
    /// The goal that forces the first cause, if there is one.
    pub(crate) goal: Option<Goal>,
    /// The violation that is the first cause, if it is one.
    pub(crate) violation: Option<String>,
    /// Whether the finding is a violation that was tried as the cause and is not it.
    pub(crate) is_bystander: bool,
}

/// The search for the cause of one finding.
struct Judge<'a, R> {
    settings: &'a RunSettings,
    strategy: &'a StrategyKind,
    runner: &'a mut R,
    references: &'a References,
    /// How many runs are left.
    left: u64,
    deadline: Option<Duration>,
    next_seed: u64,
    shown: &'a Shown,
    /// Runs in which a cause was forced and nothing prevented: they show what follows from it.
    seen: Vec<Outcome>,
}

/// The result of one run for a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The failure appeared.
    Fails,
    /// The program ended well.
    Passes,
    /// The run shows nothing: it was not complete, or could not prevent or force what it was to.
    Nothing,
}

impl<R: Runner> Judge<'_, R> {
    /// The findings whose causes are also the cause of this one, if there are any.
    fn known_cause(&mut self, failing: &[Control], groups: &[Group]) -> Result<Option<usize>, R::Error> {
        for (index, Group { causes, .. }) in groups.iter().enumerate() {
            let cleared = self.clears(failing, causes)?;
            if cleared.contains(&true) && !cleared.contains(&false) {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn verdict(
        &mut self,
        merged: &Merged,
        failing: &[Control],
        known_goals: &[AccessGoal],
    ) -> Result<Verdict, R::Error> {
        let candidates = candidates::candidates(merged, self.shown, known_goals);
        if candidates.is_empty() || failing.is_empty() {
            return Ok(Verdict::default());
        }
        let adversaries = candidates::adversaries(&candidates, known_goals);
        let mut failing = failing.to_vec();
        // For each candidate, the failing runs that end well if it is prevented.
        let mut cleared: Vec<Vec<bool>> = vec![Vec::new(); candidates.len()];
        for _ in 0..ATTEMPTS {
            self.screen(&candidates, &failing, &mut cleared)?;
            let chosen = self.choose(&candidates, &failing, &cleared)?;
            if chosen.is_empty() {
                break;
            }
            let causes: Vec<Candidate> = chosen
                .into_iter()
                .map(|(index, goal)| Candidate { goal, ..candidates[index].clone() })
                .collect();
            match self.proof(&failing, &causes, &adversaries)? {
                Ok(verdict) => {
                    let own = Some(&self.shown.id);
                    let is_tried = candidates.iter().any(|candidate| candidate.violation.as_ref() == own);
                    let is_bystander = is_tried && verdict.violation.as_ref() != own;
                    return Ok(Verdict { is_bystander, ..verdict });
                }
                Err(counterexamples) => failing.extend(counterexamples),
            }
        }
        Ok(Verdict::default())
    }

    /// Prevents each candidate in those failing runs in which it was not prevented yet. A candidate that clears none is a bystander.
    fn screen(
        &mut self,
        candidates: &[Candidate],
        failing: &[Control],
        cleared: &mut [Vec<bool>],
    ) -> Result<(), R::Error> {
        for (index, candidate) in candidates.iter().enumerate() {
            let clears_all = |(known, candidate): (&Vec<bool>, &Candidate)| {
                known.len() == failing.len() && !known.contains(&false) && !candidate.is_order()
            };
            // Candidates that no run had as its goal are tried only if the others do not explain everything. An order is often only the
            // beginning of an interleaving.
            if candidate.is_remote_chance && cleared.iter().zip(candidates).any(clears_all) {
                break;
            }
            let known = cleared[index].len();
            // Without an effect on the first runs, it is not tried on further ones.
            if known > 0 && !cleared[index].contains(&true) {
                cleared[index].resize(failing.len(), false);
                continue;
            }
            let further = self.clears(&failing[known..], std::slice::from_ref(&candidate.prevention))?;
            cleared[index].extend(further);
        }
        Ok(())
    }

    /// The fewest candidates that clear all failing runs, each with a goal that forces it; none if two candidates do not clear all.
    fn choose(
        &mut self,
        candidates: &[Candidate],
        failing: &[Control],
        cleared: &[Vec<bool>],
    ) -> Result<Vec<(usize, Option<Goal>)>, R::Error> {
        let mut is_open = vec![true; failing.len()];
        let mut chosen: Vec<(usize, Option<Goal>)> = Vec::new();
        while chosen.len() < MOST_CAUSES && is_open.contains(&true) {
            let gain = |index: usize| {
                cleared[index].iter().zip(&is_open).filter(|(clears, open)| **clears && **open).count()
            };
            let is_chosen = |index: &usize| chosen.iter().any(|(known, _)| known == index);
            let indices = (0..cleared.len()).filter(|index| !is_chosen(index));
            let Some(most) = indices.clone().map(gain).max().filter(|most| *most > 0) else { break };
            let equals: Vec<usize> = indices.filter(|index| gain(*index) == most).take(MOST_EQUALS).collect();
            let Some((best, goal)) = self.best(candidates, &equals, failing, cleared)? else { break };
            for (open, clears) in is_open.iter_mut().zip(&cleared[best]) {
                *open &= !clears;
            }
            chosen.push((best, goal));
        }
        // What a part of the causes explains proves nothing about the rest.
        if is_open.contains(&true) {
            chosen.clear();
        }
        chosen.sort_by_key(|(index, _)| *index);
        Ok(chosen)
    }

    /// The runs to repeat: those that show the finding best, with different goals first.
    fn failing(&self, merged: &Merged) -> Vec<Control> {
        let mut hits = merged.hits(&self.shown.id);
        // Runs with other scheduling points than those of candidates cannot prevent them, so they are left out if there are others.
        let is_comparable = |goal: &Option<Goal>| match goal {
            Some(Goal::Chance(goal)) => !goal.sets && !goal.volatiles,
            Some(Goal::Set(_) | Goal::Race(_)) => false,
            Some(Goal::Accesses(_) | Goal::Acquires(_)) | None => true,
        };
        if hits.iter().any(|(_, goal, _)| is_comparable(goal)) {
            hits.retain(|(_, goal, _)| is_comparable(goal));
        }
        let control = |(seed, goal, is_patient): (u64, Option<Goal>, bool)| Control {
            is_patient,
            ..self.settings.control(self.strategy, seed, goal)
        };
        let mut chosen: Vec<(u64, Option<Goal>, bool)> = Vec::new();
        let mut later = Vec::new();
        for hit in hits {
            match chosen.iter().any(|(_, goal, _)| *goal == hit.1) {
                false => chosen.push(hit),
                true => later.push(hit),
            }
        }
        let repeated = (self.left / RUNS_PER_REPEATED).clamp(LEAST_REPEATED, MOST_REPEATED);
        chosen.into_iter().chain(later).take(repeated as usize).map(control).collect()
    }

    /// For each of these runs whether preventing this lets the program end well.
    fn clears(&mut self, runs: &[Control], prevented: &[Prevention]) -> Result<Vec<bool>, R::Error> {
        let controls: Vec<Control> = runs.iter().map(|run| preventing(run, prevented)).collect();
        let outcomes = self.run(controls)?;
        let clears = |outcome: &Outcome| self.effect_of_prevention(outcome, true) == Effect::Passes;
        let mut cleared: Vec<bool> = outcomes.iter().map(clears).collect();
        cleared.resize(runs.len(), false);
        Ok(cleared)
    }

    /// The candidate that remains if those that clear the same runs are compared with each other, with a goal that forces it. Candidates
    /// come in the order of how much they explain.
    fn best(
        &mut self,
        candidates: &[Candidate],
        equals: &[usize],
        failing: &[Control],
        cleared: &[Vec<bool>],
    ) -> Result<Option<(usize, Option<Goal>)>, R::Error> {
        let mut best: Option<(usize, Option<Goal>)> = None;
        for &index in equals {
            let candidate = &candidates[index];
            let Some(goal) = self.forcing_goal(candidate, failing, &cleared[index])? else { continue };
            let Some((known, known_goal)) = &best else {
                best = Some((index, goal));
                continue;
            };
            let (Some(own), Some(other)) = (&goal, known_goal) else { continue };
            if candidate.is_about_same(&candidates[*known]) {
                continue;
            }
            // Each is forced while the other one is prevented: the bystander cannot make the program fail alone.
            let alone = self.force(own, COMPARED, &[candidates[*known].prevention.clone()])?;
            let known_alone = self.force(other, COMPARED, std::slice::from_ref(&candidate.prevention))?;
            // An interleaving needs the order that it begins with, so it cannot happen while that is prevented.
            let begins_with_known = candidates[*known].is_order() && !candidate.is_order();
            if known_alone.fails == 0 && (is_sure(alone) || begins_with_known) {
                best = Some((index, goal));
            }
        }
        Ok(best)
    }

    /// A goal that forces a candidate and makes the program fail: its own one, or that of a failing run that ends well if the candidate is
    /// prevented. `Some(None)` if the candidate is the failure itself and needs none.
    fn forcing_goal(
        &mut self,
        candidate: &Candidate,
        failing: &[Control],
        cleared: &[bool],
    ) -> Result<Option<Option<Goal>>, R::Error> {
        let Some(own) = &candidate.goal else { return Ok(Some(None)) };
        let mut goals = vec![own.clone()];
        for (control, _) in failing.iter().zip(cleared).filter(|(_, clears)| **clears) {
            goals.extend(control.goal.clone().map(candidates::plain));
        }
        goals.dedup();
        for goal in goals.into_iter().take(MOST_FORCING) {
            if is_sure(self.force(&goal, COMPARED, &[])?) {
                return Ok(Some(Some(goal)));
            }
        }
        Ok(None)
    }

    /// Forces and prevents the causes in as many runs as are left. If the program fails although they are prevented, gives those runs: the
    /// causes are not all.
    fn proof(
        &mut self,
        failing: &[Control],
        causes: &[Candidate],
        adversaries: &[Goal],
    ) -> Result<Result<Verdict, Vec<Control>>, R::Error> {
        let all: Vec<Prevention> = causes.iter().map(|cause| cause.prevention.clone()).collect();
        let own = causes.iter().filter_map(|cause| cause.goal.clone()).map(candidates::plain);
        let mut goals: Vec<Option<Goal>> = own.map(Some).collect();
        goals.extend(adversaries.iter().cloned().map(Some));
        goals.extend(failing.iter().map(|control| control.goal.clone().map(candidates::plain)));
        let first = (goals.len() as u64).clamp(LEAST_PREVENTED, (self.left / 3).max(LEAST_PREVENTED));
        let mut tried = self.prevent(&goals, first, &all)?;
        if let Some(counterexamples) = self.counterexamples(&tried) {
            return Ok(Err(counterexamples));
        }
        let per_cause = (self.left / 4 / causes.len() as u64).clamp(LEAST_FORCED, MOST_FORCED);
        let mut proved = Vec::new();
        for (number, cause) in causes.iter().enumerate() {
            let others: Vec<Prevention> = all
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != number)
                .map(|(_, it)| it.clone())
                .collect();
            let forced = match &cause.goal {
                Some(goal) => Some(self.force(goal, per_cause, &others)?),
                None => None,
            };
            if forced.is_some_and(|forced| !is_sure(forced) || forced.runs < LEAST_FORCED) {
                return Ok(Ok(Verdict::default()));
            }
            proved.push(forced);
        }
        let rest = self.left.min(MOST_PREVENTED.saturating_sub(tried.len() as u64));
        tried.extend(self.prevent(&goals, rest, &all)?);
        if let Some(counterexamples) = self.counterexamples(&tried) {
            return Ok(Err(counterexamples));
        }
        let effect = |(_, outcome): &&(Control, Outcome)| self.effect_of_prevention(outcome, false);
        let runs = tried.iter().filter(|run| effect(run) == Effect::Passes).count() as u64;
        let prevented = Trials { fails: 0, runs };
        let facts = || tried.iter().flat_map(|(_, outcome)| outcome.accounts()).map(|run| run.prevention);
        let has_effect = facts().any(|facts| facts.held_back > 0) || !acts_on_threads(&all);
        if prevented.runs < LEAST_PREVENTED || !has_effect {
            return Ok(Ok(Verdict::default()));
        }
        // A run that could not keep the prevention up would have been a deadlock with the repair.
        let never_deadlocks = facts().all(|facts| facts.broken == 0);
        let repair = match all.as_slice() {
            [only] if never_deadlocks && prevented.runs >= LEAST_REPAIRED => {
                Some(Repair { prevention: only.clone(), schedules: prevented.runs })
            }
            _ => None,
        };
        let (goal, violation) = (causes[0].goal.clone(), causes[0].violation.clone());
        let causes = all.into_iter().zip(proved);
        let causes =
            causes.map(|(prevention, forced)| ProvedCause { prevention, forced, prevented }).collect();
        Ok(Ok(Verdict { judgement: Judgement { causes, repair }, goal, violation, is_bystander: false }))
    }

    /// Runs with these goals in turn, in which this is prevented. Gives each run as it would be without the prevention, and its result.
    fn prevent(
        &mut self,
        goals: &[Option<Goal>],
        runs: u64,
        prevented: &[Prevention],
    ) -> Result<Vec<(Control, Outcome)>, R::Error> {
        let mut controls = Vec::new();
        for number in 0..runs as usize {
            let goal = goals[number % goals.len()].clone();
            controls.push(self.settings.control(self.strategy, self.seed(), goal));
        }
        let outcomes = self.run(controls.iter().map(|control| preventing(control, prevented)).collect())?;
        Ok(controls.into_iter().zip(outcomes).collect())
    }

    /// The runs that fail although the causes are prevented, if there are any.
    fn counterexamples(&self, tried: &[(Control, Outcome)]) -> Option<Vec<Control>> {
        let fails =
            tried.iter().filter(|(_, outcome)| self.effect_of_prevention(outcome, false) == Effect::Fails);
        let failing: Vec<Control> =
            fails.map(|(control, _)| control.clone()).take(LEAST_REPEATED as usize).collect();
        (!failing.is_empty()).then_some(failing)
    }

    /// Makes runs with this goal, and counts those that reach it.
    fn force(&mut self, goal: &Goal, runs: u64, prevented: &[Prevention]) -> Result<Trials, R::Error> {
        let control = |seed| self.settings.control(self.strategy, seed, Some(goal.clone()));
        let runs = runs.min(self.left);
        let seeds: Vec<u64> = (0..runs).map(|_| self.seed()).collect();
        let controls = seeds.into_iter().map(|seed| preventing(&control(seed), prevented)).collect();
        let outcomes = self.run(controls)?;
        let mut trials = Trials::default();
        for outcome in &outcomes {
            let is_broken = outcome.accounts().any(|run| run.prevention.broken > 0);
            if !outcome.is_complete() || !reaches(outcome, goal) || is_broken {
                continue;
            }
            trials.runs += 1;
            trials.fails += u64::from(self.shows(outcome));
        }
        if prevented.is_empty() {
            self.seen.extend(outcomes);
        }
        Ok(trials)
    }

    /// What a run with a prevention shows. If `must_act`, it shows nothing unless a thread had to wait for it.
    fn effect_of_prevention(&self, outcome: &Outcome, must_act: bool) -> Effect {
        let facts = || outcome.accounts().map(|run| run.prevention);
        let has_acted = facts().any(|facts| facts.held_back > 0) || !must_act || self.is_notification();
        let is_news = self.references.is_news(outcome);
        if !outcome.is_complete() || facts().any(|facts| facts.broken > 0) || is_news && outcome.is_hurried()
        {
            return Effect::Nothing;
        }
        // A failure that takes another form has not disappeared.
        match is_news || self.shows(outcome) {
            true => Effect::Fails,
            false if has_acted => Effect::Passes,
            false => Effect::Nothing,
        }
    }

    /// Preventions of notifications hold back no thread.
    fn is_notification(&self) -> bool {
        self.shown.kind == Kind::Deadlock
    }

    /// Whether a run shows the failure of the finding.
    fn shows(&self, outcome: &Outcome) -> bool {
        crate::merge::shows_failure_of(outcome, self.shown, self.references)
    }

    fn run(&mut self, mut controls: Vec<Control>) -> Result<Vec<Outcome>, R::Error> {
        let is_late = match (self.deadline, self.runner.elapsed()) {
            (Some(deadline), Some(now)) => now > deadline,
            _ => false,
        };
        if is_late || self.runner.is_interrupted() {
            self.left = 0;
        }
        controls.truncate(self.left as usize);
        self.left -= controls.len() as u64;
        if controls.is_empty() {
            return Ok(Vec::new());
        }
        self.runner.run(&controls, &|_| false)
    }

    fn seed(&mut self) -> u64 {
        self.next_seed += 1;
        self.next_seed
    }
}

/// The same run, in which this is prevented. Methods are tracked, so that a part ends with the method in which it began.
fn preventing(control: &Control, prevented: &[Prevention]) -> Control {
    match prevented {
        [] => control.clone(),
        prevented => Control { prevented: prevented.to_vec(), units: true, ..control.clone() },
    }
}

/// Whether a run reached its goal.
fn reaches(outcome: &Outcome, goal: &Goal) -> bool {
    let key = match goal {
        Goal::Accesses(goal) => goal.last().key(),
        Goal::Acquires(goal) => goal.local.clone(),
        Goal::Set(_) | Goal::Race(_) | Goal::Chance(_) => return false,
    };
    outcome.accounts().any(|run| run.reached.contains_key(&key))
}

fn is_sure(trials: Trials) -> bool {
    trials.runs > 0 && trials.fails * 100 >= trials.runs * SURE
}

/// Whether preventions let threads wait; those of notifications do not.
fn acts_on_threads(prevented: &[Prevention]) -> bool {
    !prevented.iter().all(|it| matches!(it, Prevention::SingleNotify | Prevention::LostNotify))
}
