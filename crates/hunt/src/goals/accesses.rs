//! Goals at accesses: those that runs showed to be possible, and which of them the next runs try.
//!
//! There may be many, and most are intended. So each is tried a few times only, the likeliest bugs first: once with an otherwise
//! sequential schedule, then with random preemptions, the interleavings more often: a failure that needs a second preemption after the
//! interleaving shows up in some of these attempts only. Goals that made the program fail are tried again and again, others now and then.

use std::{cmp::Reverse, collections::HashSet};

use fissure_model::{
    finding::Finding,
    goal::{AccessGoal, Act, Goal, Shape},
};

use super::{GoalSource, Judgement, Round, acquires::prefix_to};
use crate::outcome::Outcome;

/// How often a goal is tried without success. With an otherwise sequential schedule a second attempt would go like the first.
const PATIENCE: u64 = 2;
const DELAY_PATIENCE: u64 = 4;
const INTERLEAVING_PATIENCE: u64 = 6;
const SEQUENTIAL_PATIENCE: u64 = 1;
/// How many goals are kept at most, both kinds of attempts counted: more could not be tried.
const MOST: usize = 4_000;
/// How many goals are tried at once because they first showed up in a run that failed.
const SUSPECTS: usize = 4;
/// So many hits in a row show that the failure was not by chance.
const RELIABLE: u64 = 2;

/// The goals that are known so far.
#[derive(Debug, Clone, Default)]
pub struct AccessGoals {
    /// The likeliest bugs first; equals in the order in which runs showed them.
    known: Vec<Known>,
    /// The same goals, to find one quickly.
    index: HashSet<AccessGoal>,
    is_cut: bool,
}

#[derive(Debug, Clone)]
struct Known {
    goal: AccessGoal,
    tried: u64,
    /// Attempts in which the program failed as no reference run does.
    hits: u64,
    /// Those of them that reached the goal.
    met: u64,
    /// How many hits there were since the last miss.
    streak: u64,
    /// How many attempts followed the prefix of a run that failed, and how many of these failed again.
    prefixed: u64,
    prefixed_hits: u64,
    /// The prefix.
    prefix: Option<String>,
    /// Whether a run that failed showed it first, so that it may be the cause.
    is_suspect: bool,
}

impl Known {
    fn is_open(&self) -> bool {
        let patience = match (self.goal.is_sequential, self.goal.shape()) {
            (true, _) => SEQUENTIAL_PATIENCE,
            (false, Shape::Interleaving) => INTERLEAVING_PATIENCE,
            // Other executions of the same access are delayed each time.
            (false, Shape::Delay) => DELAY_PATIENCE,
            (false, _) => PATIENCE,
        };
        self.hits == 0 && self.tried < patience
    }

    /// Whether the last attempts all made the program fail, so that this was not by chance.
    fn is_reliable(&self) -> bool {
        self.streak >= RELIABLE
    }

    /// How well it explains the failure, unless an attempt went well; the least is best.
    fn explanation_rank(&self) -> u8 {
        if self.hits < self.tried { u8::MAX } else { self.goal.shape().rank() }
    }

    /// Whether the next attempt should follow the prefix of a run that failed, because a single hit may have been by chance.
    fn follows_prefix(&self) -> bool {
        let (tried, hits) = (self.tried - self.prefixed, self.hits - self.prefixed_hits);
        let is_sure = hits >= RELIABLE && hits == tried;
        self.prefix.is_some() && !is_sure && self.prefixed_misses() < self.other_misses()
    }

    /// The expected misses per thousand attempts; the estimate improves with the number of attempts.
    fn expected_misses(&self) -> u64 {
        if self.follows_prefix() { self.prefixed_misses() } else { self.other_misses() }
    }

    /// The same for attempts that follow the prefix of a run that failed, which are likelier to fail as well.
    fn prefixed_misses(&self) -> u64 {
        (self.prefixed - self.prefixed_hits + 1) * 1_000 / (self.prefixed + 5)
    }

    /// The same for all other attempts.
    fn other_misses(&self) -> u64 {
        let (tried, hits) = (self.tried - self.prefixed, self.hits - self.prefixed_hits);
        (tried - hits + 1) * 1_000 / (tried + 2)
    }
}

/// The goal that makes a failure happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The goal.
    pub goal: AccessGoal,
    /// How many runs reached it and failed.
    pub reached: u64,
    /// How many runs tried to reach it.
    pub tried: u64,
}

impl GoalSource for AccessGoals {
    fn learn(&mut self, outcome: &Outcome, judgement: Judgement) {
        let is_bad = judgement.is_bad || judgement.shows_bug;
        self.is_cut |= outcome.accounts().any(|run| !run.cut.is_empty());
        for goal in outcome.accounts().flat_map(|run| &run.goals) {
            if let Goal::Accesses(goal) = goal {
                let sequential = AccessGoal { is_sequential: true, ..goal.clone() };
                let is_new = !self.index.contains(&sequential);
                if !is_new && self.index.contains(goal) {
                    continue;
                }
                let suspects = self.known.iter().filter(|known| known.is_suspect).count();
                if let Some(known) = self.entry(&sequential) {
                    known.is_suspect |= is_new && is_bad && goal.first().is_some() && suspects < SUSPECTS;
                }
                self.entry(goal);
            }
        }
        if let Some(Goal::Accesses(goal)) = &outcome.goal
            && let Some(known) = self.entry(goal)
        {
            known.tried += 1;
            known.hits += u64::from(is_bad);
            known.prefixed += u64::from(goal.prefix.is_some());
            known.prefixed_hits += u64::from(goal.prefix.is_some() && is_bad);
            let last = goal.last().key();
            let is_met = outcome.accounts().any(|run| run.reached.contains_key(&last));
            known.met += u64::from(is_bad && is_met);
            known.streak = if is_bad { known.streak + 1 } else { 0 };
            let is_replayable = outcome.is_replayable();
            if is_bad && is_replayable && known.prefix.is_none() {
                known.prefix = outcome.accounts().find_map(|run| prefix_to(run, &last));
            }
        }
    }

    /// Once a goal makes the program fail reliably, others get the last run of a round that is
    /// their turn.
    fn propose(&self, Round { runs, has_turn }: Round) -> Vec<Option<Goal>> {
        let mut known = self.known.clone();
        let is_reliable = self.is_reliable();
        let has_proof = self.is_proved();
        let choose = |run: u64| {
            let open = || {
                let open = known.iter().enumerate().filter(|(_, known)| known.is_open());
                // With random preemptions, interleavings and all others take turns.
                let has_turn =
                    |goal: &AccessGoal| (goal.shape() == Shape::Interleaving) == (run.is_multiple_of(2));
                open.min_by_key(|(_, Known { goal, tried, .. })| {
                    (!goal.is_sequential, !goal.is_sequential && !has_turn(goal), *tried)
                })
                .map(|(index, _)| index)
            };
            let proved = || {
                let proved = known.iter().enumerate().filter(|(_, known)| known.hits > 0);
                proved
                    .min_by_key(|(_, known)| (known.explanation_rank(), known.expected_misses()))
                    .map(|(index, _)| index)
            };
            let suspect = || known.iter().position(|known| known.is_suspect && known.is_open());
            let is_for_others = match (has_proof, is_reliable) {
                (false, _) => true,
                (true, false) => run % 4 == 3,
                (true, true) => has_turn && run == runs - 1,
            };
            let index = if is_for_others { open().or_else(proved) } else { suspect().or_else(proved) };
            index.map(|index| {
                let chosen = &mut known[index];
                let follows_prefix = chosen.follows_prefix();
                let prefix = chosen.prefix.clone().filter(|_| follows_prefix);
                // Until its result is known, a run is expected to go as those before.
                chosen.tried += 1;
                chosen.hits += u64::from(chosen.hits > 0);
                chosen.prefixed += u64::from(follows_prefix);
                chosen.prefixed_hits += u64::from(follows_prefix);
                Goal::Accesses(AccessGoal { prefix, ..chosen.goal.clone() })
            })
        };
        (0..runs).map(choose).collect()
    }
}

impl AccessGoals {
    fn entry(&mut self, goal: &AccessGoal) -> Option<&mut Known> {
        let goal = AccessGoal { prefix: None, ..goal.clone() };
        if let Some(index) = self.known.iter().position(|known| known.goal == goal) {
            return self.known.get_mut(index);
        }
        if self.known.len() >= MOST {
            return None;
        }
        self.index.insert(goal.clone());
        let rank = |goal: &AccessGoal| (!goal.is_sequential, goal.shape().rank());
        let index = self.known.partition_point(|known| rank(&known.goal) <= rank(&goal));
        self.known.insert(
            index,
            Known {
                goal,
                tried: 0,
                hits: 0,
                met: 0,
                streak: 0,
                prefixed: 0,
                prefixed_hits: 0,
                prefix: None,
                is_suspect: false,
            },
        );
        self.known.get_mut(index)
    }

    /// Whether some goals are unknown because there were too many accesses to remember.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut || self.known.len() >= MOST
    }

    /// Goals that were not tried enough, each once, so many at most.
    pub(crate) fn untried(&self, runs: u64) -> Vec<Goal> {
        let mut open: Vec<&Known> = self.known.iter().filter(|known| known.is_open()).collect();
        open.sort_by_key(|known| known.tried);
        open.into_iter().take(runs as usize).map(|known| Goal::Accesses(known.goal.clone())).collect()
    }

    /// How many goals there are, and how many of them were tried.
    pub(crate) fn counts(&self) -> (u64, u64) {
        // The first attempt at each goal is a sequential one.
        let sequential = || self.known.iter().filter(|known| known.goal.is_sequential);
        let tried = sequential().filter(|known| known.tried > 0).count();
        (sequential().count() as u64, tried as u64)
    }

    /// The cause of a finding: the goal that most of the runs with the finding had and reached, if hardly any attempt at it goes without
    /// the failure.
    pub(crate) fn cause(&self, finding: &Finding) -> Option<Cause> {
        let is_shown = |known: &Known| {
            let shown = finding.goals.iter().flatten().filter(
                |goal| matches!(goal, Goal::Accesses(goal) if known.goal == AccessGoal { prefix: None, ..goal.clone() }),
            );
            shown.count()
        };
        let (_, best) = self
            .known
            .iter()
            .filter(|known| known.met >= RELIABLE && 10 * known.met >= 8 * known.tried)
            .map(|known| (is_shown(known), known))
            .filter(|(shown, _)| *shown as u64 >= RELIABLE)
            .rev()
            .max_by_key(|(shown, known)| (Reverse(known.goal.shape().rank()), *shown))?;
        Some(Cause { goal: best.goal.clone(), reached: best.met, tried: best.tried })
    }

    /// Whether an attempt made the program fail.
    pub(crate) fn is_proved(&self) -> bool {
        self.known.iter().any(|known| known.hits > 0)
    }

    /// The goals of the next runs if nothing better is left to try.
    pub(crate) fn again(&self, runs: u64) -> Vec<Option<Goal>> {
        let mut known = self.known.clone();
        let choose = |_| {
            let least = known.iter_mut().min_by_key(|known| known.tried)?;
            least.tried += 1;
            Some(Goal::Accesses(least.goal.clone()))
        };
        (0..runs).map(choose).collect()
    }

    /// Whether attempts at one goal make the program fail so often that this is not by chance.
    pub(crate) fn is_reliable(&self) -> bool {
        self.known.iter().any(Known::is_reliable)
    }

    /// Whether a goal at an access, and not at an acquire, is worth an attempt.
    pub(crate) fn has_open_access(&self) -> bool {
        self.known.iter().any(|known| known.is_open() && known.goal.last().act != Act::Acquire)
    }

    /// Whether every goal had its attempt with a sequential schedule, so that only random preemptions can show more.
    pub(crate) fn is_sequentially_tried(&self) -> bool {
        !self.known.iter().any(|known| known.goal.is_sequential && known.is_open())
    }

    /// Whether any goal is worth a run.
    pub(crate) fn has_goal(&self) -> bool {
        self.is_proved() || self.known.iter().any(Known::is_open)
    }
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::{Kind, Status};

    use super::*;
    use crate::testing::Sketch;

    const FIRST: &str = r#"{"interleaving":{"points":"fields","first":{"site":"A.m:1","act":"read"},"remote":{"site":"A.m:1","act":"write"},"last":{"site":"A.m:1","act":"write"}}}"#;
    const SECOND: &str = r#"{"reordering":{"points":"fields","remote":{"site":"A.n:2","act":"read"},"last":{"site":"A.m:1","act":"write"}}}"#;

    fn run(predicts: &[&str], goal: Option<&str>) -> Outcome {
        let mut outcome = Sketch::default().outcome();
        outcome.goal = goal.map(|text| text.parse().unwrap());
        let goals = predicts.iter().map(|text| text.parse().unwrap());
        outcome.processes[0].run.as_mut().unwrap().goals = goals.collect();
        outcome
    }

    fn judged(is_bad: bool) -> Judgement {
        Judgement { is_bad, ..Judgement::default() }
    }

    fn sequential(goal: &str) -> String {
        goal.replace(r#""points":"fields""#, r#""points":"fields","sequential":true"#)
    }

    fn check(runs: &[(Outcome, bool)], next: u64, has_turn: bool, expected: &[&str]) {
        let mut goals = AccessGoals::default();
        runs.iter().for_each(|(outcome, is_bad)| goals.learn(outcome, judged(*is_bad)));
        let chosen = goals.propose(Round { runs: next, has_turn }).into_iter();
        let chosen: Vec<String> =
            chosen.map(|goal| goal.map_or_else(String::new, |goal| goal.to_string())).collect();
        assert_eq!(chosen, expected);
        assert_eq!(goals.has_goal(), expected.first().is_some_and(|first| !first.is_empty()));
    }

    #[test]
    fn each_goal_is_tried_a_few_times() {
        check(&[], 1, true, &[""]);
        let discovery = || (run(&[SECOND, FIRST], None), false);
        let (first, second) = (&sequential(FIRST), &sequential(SECOND));
        let turns = [FIRST, SECOND, FIRST, SECOND, FIRST, FIRST, FIRST, FIRST, ""];
        check(&[discovery()], 11, true, &[&[first.as_str(), second], &turns[..]].concat());
        let tried = || (run(&[], Some(SECOND)), false);
        let rest = [&[first.as_str(), second], &[FIRST; 6][..], &[""]].concat();
        check(&[discovery(), tried(), tried()], 9, true, &rest);
    }

    #[test]
    fn goals_that_made_the_program_fail_are_tried_again() {
        let discovery = || (run(&[SECOND, FIRST], None), false);
        let hit = || (run(&[], Some(FIRST)), true);
        check(&[discovery(), hit()], 4, false, &[FIRST, FIRST, FIRST, &sequential(FIRST)]);
        check(&[discovery(), hit(), hit(), hit()], 3, false, &[FIRST, FIRST, FIRST]);
        check(&[discovery(), hit(), hit(), hit()], 3, true, &[FIRST, FIRST, &sequential(FIRST)]);
        let missed = (run(&[], Some(FIRST)), false);
        check(&[discovery(), hit(), missed, (run(&[], Some(SECOND)), true)], 2, false, &[SECOND, SECOND]);
    }

    #[test]
    fn candidates_of_a_run_that_failed_are_tried_next() {
        let hit = |predicts: &[&str]| (run(predicts, Some(SECOND)), true);
        check(&[hit(&[FIRST])], 2, false, &[&sequential(FIRST), SECOND]);
        check(&[hit(&[]), (run(&[FIRST], None), false)], 1, false, &[SECOND]);
        // Among goals without a miss, the one that explains most.
        let sure = || (run(&[], Some(FIRST)), true);
        check(&[hit(&[]), hit(&[]), sure()], 1, false, &[FIRST]);
    }

    #[test]
    fn the_goal_that_makes_the_program_fail_is_its_cause() {
        let goal: Goal = FIRST.parse().unwrap();
        let Goal::Accesses(accesses) = &goal else { panic!("{goal}") };
        let mut goals = AccessGoals::default();
        for _ in 0..2 {
            let mut outcome = run(&[], Some(FIRST));
            outcome.processes[0].run.as_mut().unwrap().reached.insert(accesses.last().key(), 1);
            goals.learn(&outcome, judged(true));
        }
        let of_runs = vec![None, Some(goal.clone()), Some(goal.clone())];
        let finding =
            Finding { goals: of_runs, ..Finding::new(Kind::Failure, Status::Bug, "conductor", "A.m") };
        let cause = Cause { goal: accesses.clone(), reached: 2, tried: 2 };
        assert_eq!(goals.cause(&finding), Some(cause));
        let other = Finding::new(Kind::Failure, Status::Bug, "conductor", "A.m");
        assert_eq!(goals.cause(&other), None);
    }

    #[test]
    fn a_hit_that_may_have_been_chance_is_repeated_from_its_prefix() {
        let hit = || {
            let mut hit = run(&[], Some(FIRST));
            let account = hit.processes[0].run.as_mut().unwrap();
            account.schedule = "0*3 1 0".parse().unwrap();
            account.reached.insert("write A.m:1 ".to_owned(), 4);
            (hit, true)
        };
        let prefixed = format!(r#"{},"prefix":"0*3 1"}}}}"#, FIRST.strip_suffix("}}").unwrap());
        let again = || (run(&[], Some(FIRST)), true);
        check(&[hit()], 1, false, &[&prefixed]);
        check(&[hit(), again()], 1, false, &[FIRST]);
        let missed = (run(&[], Some(FIRST)), false);
        check(&[hit(), again(), missed], 1, false, &[&prefixed]);
    }
}
