//! What profiling runs predict, and which of it the next runs try to make happen.
//!
//! Predictions that differ in places and calls alone are about one finding: those about a finding take turns, and findings take turns
//! with each other. What was tried in vain for some time comes last.

use std::collections::{BTreeMap, BTreeSet};

use fissure_model::{
    finding::{CONTENTS, Finding, Kind, Status},
    goal::{ExpectedAccess, Goal},
};

use super::run::Outcome;

/// After so many runs that tried for a finding in vain, others come first.
const PATIENCE: u64 = 8;

/// What a prediction is about: what a finding is known by.
type Theme = (u8, Vec<String>);

/// What is known so far.
#[derive(Debug, Default)]
pub(crate) struct PredictedGoals {
    /// The predictions, with the number of runs that tried for them.
    goals: BTreeMap<Goal, u64>,
    /// What was seen to happen.
    confirmed: BTreeSet<Theme>,
    /// What was left out of the predictions.
    cut: BTreeSet<String>,
    thrashings: u64,
    hits: u64,
}

impl PredictedGoals {
    /// Takes note of what a run predicts, tried for and made happen.
    pub(crate) fn learn(&mut self, outcome: &Outcome) {
        for run in outcome.accounts() {
            for goal in &run.goals {
                self.goals.entry(goal.clone()).or_default();
            }
            self.cut.extend(run.cut.iter().cloned());
            self.thrashings += run.thrashings;
        }
        let findings = outcome.jvms.iter().flat_map(|jvm| &jvm.findings);
        let shown: Vec<Theme> = findings
            .filter(|finding| finding.status > Status::Warning)
            .filter_map(theme_of_finding)
            .collect();
        if let Some(goal) = &outcome.target {
            *self.goals.entry(goal.clone()).or_default() += 1;
            self.hits += u64::from(!shown.is_empty());
        }
        self.confirmed.extend(shown);
    }

    /// What the next runs try for; nothing if nothing was predicted.
    pub(crate) fn choose(&self, runs: u64) -> Vec<Option<Goal>> {
        let mut tried = self.goals.clone();
        let mut tried_themes: BTreeMap<Theme, u64> = BTreeMap::new();
        for (goal, count) in &self.goals {
            *tried_themes.entry(theme(goal)).or_default() += count;
        }
        let mut chosen = Vec::new();
        for _ in 0..runs {
            let rank = |goal: &Goal| {
                let theme = theme(goal);
                let attempts = tried_themes[&theme];
                let in_vain = attempts >= PATIENCE && !self.confirmed.contains(&theme);
                (in_vain, attempts, tried[goal])
            };
            // Of equals the first in their own order is taken.
            let Some(best) = self.goals.keys().min_by_key(|goal| rank(goal)) else {
                chosen.push(None);
                continue;
            };
            *tried.entry(best.clone()).or_default() += 1;
            *tried_themes.entry(theme(best)).or_default() += 1;
            chosen.push(Some(best.clone()));
        }
        chosen
    }

    /// How many predictions there are, of how many of them runs tried, and how many came true; each counts once, however many
    /// places and calls it was predicted with.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let themes: BTreeSet<Theme> = self.goals.keys().map(theme).collect();
        let tried: BTreeSet<Theme> =
            self.goals.iter().filter(|(_, count)| **count > 0).map(|(goal, _)| theme(goal)).collect();
        let confirmed = themes.intersection(&self.confirmed).count();
        (themes.len() as u64, tried.len() as u64, confirmed as u64)
    }

    /// How often threads had to be let go.
    pub(crate) fn thrashings(&self) -> u64 {
        self.thrashings
    }

    /// How many of the runs that tried for something saw anything.
    pub(crate) fn hits(&self) -> u64 {
        self.hits
    }

    /// What was left out, in words.
    pub(crate) fn cut(&self) -> impl Iterator<Item = &str> {
        self.cut.iter().map(String::as_str)
    }
}

fn theme(goal: &Goal) -> Theme {
    match goal {
        Goal::Acquires(pair) => (0, vec![pair.to_string()]),
        Goal::Set(goal) => {
            let fields = goal.events.iter().map(|event| event.field.clone());
            (goal.pattern, goal.units.iter().cloned().chain(fields).collect())
        }
        Goal::Accesses(_) => (0, vec![goal.to_string()]),
        Goal::Race(race) => {
            let methods = race.accesses.iter().map(method);
            race_theme(&race.accesses[0].field, methods.collect())
        }
    }
}

fn race_theme(field: &str, mut methods: Vec<String>) -> Theme {
    methods.sort();
    methods.insert(0, field.to_owned());
    (0, methods)
}

fn method(access: &ExpectedAccess) -> String {
    let place = &access.place;
    place.rsplit_once(':').map_or(place.as_str(), |(method, _)| method).to_owned()
}

fn theme_of_finding(finding: &Finding) -> Option<Theme> {
    match finding.kind {
        Kind::AtomicSetViolation => {
            let pattern = finding.pattern?;
            let first = finding.accesses.first()?.unit.clone();
            // The second event of every pattern is the other unit's.
            let second = finding.accesses.get(1)?.unit.clone();
            // PredictedGoals name the contents of a collection, but no index.
            let fields = finding.accesses.iter().map(|access| {
                let field = &access.field;
                let end = if field.ends_with(CONTENTS) { None } else { field.find('[') };
                field[..end.unwrap_or(field.len())].to_owned()
            });
            Some((pattern, [first, second].into_iter().chain(fields).collect()))
        }
        Kind::DataRace => {
            let methods = finding.sites.iter().map(|site| format!("{}.{}", site.class, site.method));
            Some(race_theme(&finding.subject, methods.collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::SetAccess;

    use super::*;
    use crate::hunt::testing::Sketch;

    const FIRST: &str = "1|A|A.m|A.n|R A.m:1 A.x 1,W A.n:2 A.x 2,W A.m:3 A.x 1|;|";
    const FIRST_ELSEWHERE: &str = "1|A|A.m|A.n|R A.m:1 A.x 9,W A.n:2 A.x 2,W A.m:3 A.x 9|;|";
    const SECOND: &str = "5|A|A.m|A.n|W A.m:1 A.x 1,W A.n:2 A.x 2,W A.m:3 A.x 1|;|";
    const RACE: &str = "race|R A.m:1 A.x ,W A.n:2 A.x ";

    fn goal(text: &str) -> Goal {
        text.parse().unwrap()
    }

    /// A run that predicts some, tried for one and made the first one happen or nothing.
    fn run(predicts: &[&str], target: Option<&str>, happens: bool) -> Outcome {
        let mut outcome = Sketch::default().outcome();
        outcome.target = target.map(goal);
        outcome.jvms[0].run.as_mut().unwrap().goals = predicts.iter().map(|text| goal(text)).collect();
        if happens {
            let access = |unit: &str| SetAccess { field: "A.x".to_owned(), unit: unit.to_owned() };
            let finding = Finding::new(Kind::AtomicSetViolation, Status::Confirmed, "assetfuzzer", "A");
            let accesses = vec![access("A.m"), access("A.n"), access("A.m")];
            outcome.jvms[0].findings.push(Finding { pattern: Some(1), accesses, ..finding });
        }
        outcome
    }

    fn check(runs: &[Outcome], next: u64, expected: &[&str], counts: (u64, u64, u64)) {
        let mut goals = PredictedGoals::default();
        runs.iter().for_each(|run| goals.learn(run));
        let chosen: Vec<String> = goals
            .choose(next)
            .into_iter()
            .map(|goal| goal.map_or_else(String::new, |goal| goal.to_string()))
            .collect();
        assert_eq!(chosen, expected);
        assert_eq!(goals.counts(), counts);
    }

    #[test]
    fn findings_take_turns_and_so_do_their_predictions() {
        check(&[run(&[], None, false)], 2, &["", ""], (0, 0, 0));
        let predicted = run(&[SECOND, FIRST, FIRST_ELSEWHERE], None, false);
        check(&[predicted], 4, &[FIRST, SECOND, FIRST_ELSEWHERE, SECOND], (2, 0, 0));
        check(&[run(&[RACE, FIRST], None, false)], 2, &[FIRST, RACE], (2, 0, 0));
    }

    #[test]
    fn findings_name_more_than_predictions_and_are_recognised() {
        fn check(accessed: &str, expected: &str) {
            let access = |unit: &str| SetAccess { field: accessed.to_owned(), unit: unit.to_owned() };
            let finding = Finding::new(Kind::AtomicSetViolation, Status::Confirmed, "assetfuzzer", "A");
            let accesses = vec![access("A.m"), access("A.n"), access("A.m")];
            let goal = FIRST.replace("A.x", expected).parse().unwrap();
            let found = theme_of_finding(&Finding { pattern: Some(1), accesses, ..finding });
            assert_eq!(found, Some(theme(&goal)), "{accessed}");
        }
        check("A.x", "A.x");
        check("A.x[3]", "A.x");
        check("A.x[contents]", "A.x[contents]");
    }

    #[test]
    fn what_was_tried_in_vain_comes_last() {
        let mut runs = vec![run(&[SECOND, FIRST], None, false)];
        for _ in 0..PATIENCE {
            runs.push(run(&[], Some(SECOND), false));
            runs.push(run(&[], Some(FIRST), true));
        }
        check(&runs, 2, &[FIRST, FIRST], (2, 2, 1));
        let mut goals = PredictedGoals::default();
        runs.iter().for_each(|run| goals.learn(run));
        assert_eq!(goals.hits(), PATIENCE);
    }
}
