//! Goals that profiling runs predict, and which of them the next runs try.
//!
//! Predictions that differ only in sites and calls belong to one finding: the predictions of a finding take turns, and so do findings.
//! Findings that were tried too often without success come last.
//!
//! Strategies that predict spend all their runs here. A hunt without a strategy tries predictions beside other goals: each finding a few times,
//! and no longer once it is confirmed.

use std::collections::{BTreeMap, BTreeSet};

use fissure_model::{
    finding::{CONTENTS, Finding, Kind, Status},
    goal::{ChanceGoal, ExpectedAccess, Goal},
};

use super::{GoalSource, Judgement, Round};
use crate::{outcome::Outcome, result::PredictionFacts, settings::Aims};

/// After so many failed attempts at a finding, others come first.
const PATIENCE: u64 = 8;
/// How often a finding is tried beside other goals.
const SHARED_PATIENCE: u64 = 3;
/// How many runs predict atomic-set violations beside other goals.
const PROFILING_RUNS: u64 = 3;

/// The identity of the finding that a prediction belongs to.
type FindingKey = (u8, Vec<String>);

/// The goals that are known so far.
#[derive(Debug, Clone, Default)]
pub struct PredictedGoals {
    /// The predictions, with the number of runs that tried them.
    goals: BTreeMap<Goal, u64>,
    /// The findings that runs confirmed.
    confirmed: BTreeSet<FindingKey>,
    /// Descriptions of what was dropped because of memory limits.
    cut: BTreeSet<String>,
    thrashings: u64,
    hits: u64,
    /// How many runs had the goal to predict atomic-set violations.
    profiled: u64,
}

impl GoalSource for PredictedGoals {
    fn learn(&mut self, outcome: &Outcome, _judgement: Judgement) {
        for run in outcome.accounts() {
            for goal in run.goals.iter().filter(|goal| is_predicted(goal)) {
                self.goals.entry(goal.clone()).or_default();
            }
            self.cut.extend(run.cut.iter().cloned());
            self.thrashings += run.thrashings;
        }
        let findings = outcome.findings();
        let shown: Vec<FindingKey> =
            findings.filter(|finding| finding.status > Status::Warning).filter_map(key_of_finding).collect();
        self.profiled += u64::from(matches!(outcome.goal, Some(Goal::Chance(ChanceGoal { sets: true, .. }))));
        if let Some(goal) = outcome.goal.as_ref().filter(|goal| is_predicted(goal)) {
            *self.goals.entry(goal.clone()).or_default() += 1;
            self.hits += u64::from(!shown.is_empty());
        }
        self.confirmed.extend(shown);
    }

    fn propose(&self, round: Round) -> Vec<Option<Goal>> {
        let mut tried = self.goals.clone();
        let mut tried_findings: BTreeMap<FindingKey, u64> = BTreeMap::new();
        for (goal, count) in &self.goals {
            *tried_findings.entry(key_of_goal(goal)).or_default() += count;
        }
        let mut chosen = Vec::new();
        for _ in 0..round.runs {
            let rank = |goal: &Goal| {
                let key = key_of_goal(goal);
                let attempts = tried_findings[&key];
                let in_vain = attempts >= PATIENCE && !self.confirmed.contains(&key);
                (in_vain, attempts, tried[goal])
            };
            // `min_by_key` takes the first of equals, so that the choice is deterministic.
            let Some(best) = self.goals.keys().min_by_key(|goal| rank(goal)) else {
                chosen.push(None);
                continue;
            };
            *tried.entry(best.clone()).or_default() += 1;
            *tried_findings.entry(key_of_goal(best)).or_default() += 1;
            chosen.push(Some(best.clone()));
        }
        chosen
    }
}

impl PredictedGoals {
    /// Goals that were not tried enough, each once, so many at most.
    pub(crate) fn untried(&self, runs: u64) -> Vec<Goal> {
        let mut tried: BTreeMap<FindingKey, u64> = BTreeMap::new();
        for (goal, count) in &self.goals {
            *tried.entry(key_of_goal(goal)).or_default() += count;
        }
        let mut open: Vec<(u64, &Goal)> = self
            .goals
            .iter()
            .filter(|(goal, _)| tried[&key_of_goal(goal)] < PATIENCE)
            .map(|(goal, count)| (*count, goal))
            .collect();
        open.sort();
        open.into_iter().take(runs as usize).map(|(_, goal)| goal.clone()).collect()
    }

    /// Goals of these kinds that belong to no confirmed finding and were not tried enough beside others, so many at most, and a run that
    /// predicts atomic-set violations. Findings take turns.
    pub(crate) fn unconfirmed(&self, runs: u64, aims: Aims) -> Vec<Goal> {
        let mut tried: BTreeMap<FindingKey, u64> = BTreeMap::new();
        for (goal, count) in &self.goals {
            *tried.entry(key_of_goal(goal)).or_default() += count;
        }
        let is_meant = |goal: &Goal| match goal {
            Goal::Race(_) => aims.races,
            _ => aims.sets,
        };
        let mut attempts: BTreeMap<FindingKey, u64> = tried;
        let mut open: Vec<(u64, &Goal)> = Vec::new();
        let mut meant: Vec<(&Goal, &u64)> = self.goals.iter().filter(|(goal, _)| is_meant(goal)).collect();
        meant.sort_by_key(|(_, count)| **count);
        for (goal, _) in meant {
            let key = key_of_goal(goal);
            if self.confirmed.contains(&key) {
                continue;
            }
            let attempts = attempts.entry(key).or_default();
            if *attempts < SHARED_PATIENCE {
                open.push((*attempts, goal));
                *attempts += 1;
            }
        }
        open.sort_by_key(|(attempts, _)| *attempts);
        let mut goals: Vec<Goal> = open.into_iter().map(|(_, goal)| goal.clone()).collect();
        if aims.sets && self.profiled < PROFILING_RUNS {
            // What is known already comes first, but not all of it.
            goals.insert(goals.len().min(1), Goal::Chance(ChanceGoal::with_sets()));
        }
        goals.truncate(runs as usize);
        goals
    }

    /// The results so far; a finding counts once, however many sites and calls it was predicted with.
    pub(crate) fn facts(&self) -> PredictionFacts {
        let findings: BTreeSet<FindingKey> = self.goals.keys().map(key_of_goal).collect();
        let tried: BTreeSet<FindingKey> =
            self.goals.iter().filter(|(_, count)| **count > 0).map(|(goal, _)| key_of_goal(goal)).collect();
        PredictionFacts {
            predicted: findings.len() as u64,
            tried: tried.len() as u64,
            confirmed: findings.intersection(&self.confirmed).count() as u64,
            hits: self.hits,
            thrashings: self.thrashings,
            cut: self.cut.iter().cloned().collect(),
        }
    }
}

fn is_predicted(goal: &Goal) -> bool {
    matches!(goal, Goal::Set(_) | Goal::Race(_))
}

fn key_of_goal(goal: &Goal) -> FindingKey {
    match goal {
        Goal::Set(goal) => {
            let fields = goal.events.iter().map(|event| event.field.clone());
            (goal.pattern, goal.units.iter().cloned().chain(fields).collect())
        }
        Goal::Acquires(_) | Goal::Accesses(_) | Goal::Chance(_) => (0, vec![goal.to_string()]),
        Goal::Race(race) => {
            let methods = race.accesses.iter().map(method);
            race_key(&race.accesses[0].field, methods.collect())
        }
    }
}

fn race_key(field: &str, mut methods: Vec<String>) -> FindingKey {
    methods.sort();
    methods.insert(0, field.to_owned());
    (0, methods)
}

fn method(access: &ExpectedAccess) -> String {
    let site = &access.site;
    site.rsplit_once(':').map_or(site.as_str(), |(method, _)| method).to_owned()
}

fn key_of_finding(finding: &Finding) -> Option<FindingKey> {
    match finding.kind {
        Kind::AtomicSetViolation => {
            let pattern = finding.pattern?;
            let first = finding.accesses.first()?.unit.clone();
            // In every pattern the second event belongs to the other unit.
            let second = finding.accesses.get(1)?.unit.clone();
            // Goals name the contents of a collection, but no index.
            let fields = finding.accesses.iter().map(|access| {
                let field = &access.field;
                let end = if field.ends_with(CONTENTS) { None } else { field.find('[') };
                field[..end.unwrap_or(field.len())].to_owned()
            });
            Some((pattern, [first, second].into_iter().chain(fields).collect()))
        }
        Kind::DataRace => {
            let methods = finding.sites.iter().map(|site| format!("{}.{}", site.class, site.method));
            Some(race_key(&finding.subject, methods.collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::SetAccess;

    use super::*;
    use crate::testing::Sketch;

    const FIRST: &str = r#"{"atomic-set":{"pattern":1,"set":"A","units":["A.m","A.n"],"events":[{"site":"A.m:1","field":"A.x","context":"1"},{"site":"A.n:2","field":"A.x","write":true,"context":"2"},{"site":"A.m:3","field":"A.x","write":true,"context":"1"}],"windows":[[],[]]}}"#;
    const RACE: &str = r#"{"race":{"accesses":[{"site":"A.m:1","field":"A.x"},{"site":"A.n:2","field":"A.x","write":true}]}}"#;

    /// The first goal with other calls.
    fn first_elsewhere() -> String {
        FIRST.replace(r#""context":"1""#, r#""context":"9""#)
    }

    /// A goal of another pattern.
    fn second() -> String {
        FIRST.replace(r#""pattern":1"#, r#""pattern":5"#)
    }

    fn goal(text: &str) -> Goal {
        text.parse().unwrap()
    }

    /// A run with these predictions and this goal, which makes the first prediction happen or nothing.
    fn run(predicts: &[&str], tried: Option<&str>, happens: bool) -> Outcome {
        let mut outcome = Sketch::default().outcome();
        outcome.goal = tried.map(goal);
        outcome.processes[0].run.as_mut().unwrap().goals = predicts.iter().map(|text| goal(text)).collect();
        if happens {
            let access = |unit: &str| SetAccess { field: "A.x".to_owned(), unit: unit.to_owned() };
            let finding = Finding::new(Kind::AtomicSetViolation, Status::Confirmed, "assetfuzzer", "A");
            let accesses = vec![access("A.m"), access("A.n"), access("A.m")];
            outcome.processes[0].findings.push(Finding { pattern: Some(1), accesses, ..finding });
        }
        outcome
    }

    fn check(runs: &[Outcome], next: u64, expected: &[&str], counts: (u64, u64, u64)) {
        let mut goals = PredictedGoals::default();
        runs.iter().for_each(|run| goals.learn(run, Judgement::default()));
        let chosen: Vec<String> = goals
            .propose(Round { runs: next, has_turn: true })
            .into_iter()
            .map(|goal| goal.map_or_else(String::new, |goal| goal.to_string()))
            .collect();
        assert_eq!(chosen, expected);
        let facts = goals.facts();
        assert_eq!((facts.predicted, facts.tried, facts.confirmed), counts);
    }

    #[test]
    fn findings_take_turns_and_so_do_their_predictions() {
        check(&[run(&[], None, false)], 2, &["", ""], (0, 0, 0));
        let (second, first_elsewhere) = (&second(), &first_elsewhere());
        let predicted = run(&[second, FIRST, first_elsewhere], None, false);
        check(&[predicted], 4, &[FIRST, second, first_elsewhere, second], (2, 0, 0));
        check(&[run(&[RACE, FIRST], None, false)], 2, &[FIRST, RACE], (2, 0, 0));
    }

    #[test]
    fn findings_match_predictions_without_an_index() {
        fn check(accessed: &str, expected: &str) {
            let access = |unit: &str| SetAccess { field: accessed.to_owned(), unit: unit.to_owned() };
            let finding = Finding::new(Kind::AtomicSetViolation, Status::Confirmed, "assetfuzzer", "A");
            let accesses = vec![access("A.m"), access("A.n"), access("A.m")];
            let goal = FIRST.replace("A.x", expected).parse().unwrap();
            let found = key_of_finding(&Finding { pattern: Some(1), accesses, ..finding });
            assert_eq!(found, Some(key_of_goal(&goal)), "{accessed}");
        }
        check("A.x", "A.x");
        check("A.x[3]", "A.x");
        check("A.x[contents]", "A.x[contents]");
    }

    #[test]
    fn goals_that_failed_too_often_come_last() {
        let second = &second();
        let mut runs = vec![run(&[second, FIRST], None, false)];
        for _ in 0..PATIENCE {
            runs.push(run(&[], Some(second), false));
            runs.push(run(&[], Some(FIRST), true));
        }
        check(&runs, 2, &[FIRST, FIRST], (2, 2, 1));
        let mut goals = PredictedGoals::default();
        runs.iter().for_each(|run| goals.learn(run, Judgement::default()));
        assert_eq!(goals.facts().hits, PATIENCE);
    }
}
