//! Shares out the runs of a round among the sources of goals.

use fissure_model::goal::Goal;

use super::{AccessGoals, AcquireGoals, GoalSource, Judgement, PredictedGoals, ROUND, Round, TURNS};
use crate::{outcome::Outcome, settings::Aims};

/// All sources of goals for the runs of one strategy.
#[derive(Debug)]
pub struct Allocation {
    /// Whether the kinds of goals that `aims` names are tried; otherwise all that profiling runs predict.
    learns: bool,
    aims: Aims,
    acquires: AcquireGoals,
    accesses: AccessGoals,
    predicted: PredictedGoals,
    /// Whether there was a run of this strategy.
    has_run: bool,
    /// How many runs showed a bug.
    bug_runs: u64,
}

impl Allocation {
    /// For a strategy whose runs begin with these candidates.
    pub fn new(
        learns: bool,
        aims: Aims,
        acquires: AcquireGoals,
        accesses: AccessGoals,
        predicted: PredictedGoals,
    ) -> Self {
        Allocation { learns, aims, acquires, accesses, predicted, has_run: false, bug_runs: 0 }
    }

    /// For a strategy whose profiling runs predict its goals.
    pub fn of_predictions() -> Self {
        let (acquires, accesses) = (AcquireGoals::default(), AccessGoals::default());
        Allocation::new(false, Aims::ALL, acquires, accesses, PredictedGoals::default())
    }

    /// The kinds of goals that are tried, if the strategy learns.
    pub(crate) fn aims(&self) -> Aims {
        self.aims
    }

    /// How many runs showed a bug.
    pub(crate) fn bug_runs(&self) -> u64 {
        self.bug_runs
    }

    /// Whether attempts at a goal reach it, or make the program fail, not just by chance.
    pub(crate) fn is_reliable(&self) -> bool {
        self.accesses.is_reliable() || self.acquires.has_proof()
    }

    fn has_bug(&self) -> bool {
        self.bug_runs > 0
    }

    /// Predicted goals beside those at acquires and accesses, so many at most, and runs that predict them.
    pub(crate) fn untried_predicted(&self, runs: u64) -> Vec<Goal> {
        self.predicted.unconfirmed(runs, self.aims)
    }

    /// The goals at accesses.
    pub(crate) fn accesses(&self) -> &AccessGoals {
        &self.accesses
    }

    /// The predicted goals.
    pub(crate) fn predicted(&self) -> &PredictedGoals {
        &self.predicted
    }

    /// Whether runs have goals at acquires and accesses.
    pub(crate) fn learns(&self) -> bool {
        self.learns
    }

    /// Whether goals at accesses have shown nothing, and only random preemptions can still help them.
    pub(crate) fn needs_chance(&self) -> bool {
        self.learns && !self.has_bug() && !self.accesses.is_proved() && self.accesses.is_sequentially_tried()
    }

    /// Goals that were not tried enough, so many at most.
    pub(crate) fn untried(&self, runs: u64) -> Vec<Goal> {
        if !self.learns {
            return self.predicted.untried(runs);
        }
        let of_failures = if self.aims.failures { runs } else { 0 };
        let mut accesses = self.accesses.untried(of_failures).into_iter();
        let mut acquires = self.acquires.untried(of_failures).into_iter();
        let mut predicted = self.untried_predicted(runs).into_iter();
        let mut chosen = Vec::new();
        while (chosen.len() as u64) < runs {
            let next = [acquires.next(), accesses.next(), accesses.next(), predicted.next()];
            let known = chosen.len();
            chosen.extend(next.into_iter().flatten());
            if chosen.len() == known {
                break;
            }
        }
        chosen.truncate(runs as usize);
        chosen
    }

    /// How many goals are known, and how many of them were tried.
    pub(crate) fn counts(&self) -> (u64, u64) {
        if !self.learns {
            let facts = self.predicted.facts();
            return (facts.predicted, facts.tried);
        }
        let facts = self.predicted.facts();
        let (acquires, accesses) = match self.aims.failures {
            true => (self.acquires.counts(), self.accesses.counts()),
            false => Default::default(),
        };
        (acquires.0 + accesses.0 + facts.predicted, acquires.1 + accesses.1 + facts.tried)
    }

    /// Acquires and accesses in turn as long as nothing was made to happen, and mostly the kind that succeeded after that.
    fn share(&self, runs: u64) -> Vec<Option<Goal>> {
        let is_for_accesses = |run: u64| {
            if !self.accesses.has_goal() {
                // If no goal of either kind is left, both kinds start again.
                !self.acquires.has_goal() && run % 2 == 1
            } else if self.acquires.has_proof() {
                let has_turn = self.acquires.turn() == TURNS / 2 && run == ROUND / 2;
                has_turn || !self.has_bug() && run % 4 == 1
            } else {
                let is_for_locks = match (self.accesses.is_proved(), self.accesses.is_reliable()) {
                    (_, true) => self.acquires.turn() == 0 && run == ROUND / 2,
                    (true, false) => run % 4 == 2,
                    // Goals at accesses get half of the runs; those at acquires get a quarter, because random schedules reach some of
                    // them by chance.
                    (false, false) if self.accesses.has_open_access() => run.is_multiple_of(2),
                    (false, false) => run % 4 != 3,
                };
                !is_for_locks || !self.acquires.has_goal()
            }
        };
        let accesses = (0..runs).filter(|run| is_for_accesses(*run)).count() as u64;
        let turn = self.acquires.turn();
        let mut access_goals = match self.accesses.has_goal() {
            true => self.accesses.propose(Round { runs: accesses, has_turn: turn == TURNS / 2 }).into_iter(),
            false => self.accesses.again(accesses).into_iter(),
        };
        let mut acquire_goals =
            self.acquires.propose(Round { runs: runs - accesses, has_turn: turn == 0 }).into_iter();
        let goal = |run| if is_for_accesses(run) { access_goals.next() } else { acquire_goals.next() };
        (0..runs).map(goal).map(Option::flatten).collect()
    }
}

impl GoalSource for Allocation {
    fn learn(&mut self, outcome: &Outcome, judgement: Judgement) {
        self.has_run = true;
        self.bug_runs += u64::from(judgement.shows_bug);
        self.acquires.learn(outcome, judgement);
        self.predicted.learn(outcome, judgement);
        self.accesses.learn(outcome, judgement);
    }

    /// The first run has no goal, as in the published algorithm of AtomFuzzer, unless the reference runs showed no candidate at locks and
    /// there are goals at accesses.
    fn propose(&self, round: Round) -> Vec<Option<Goal>> {
        if !self.learns {
            return self.predicted.propose(round);
        }
        if !self.aims.failures {
            return vec![None; round.runs as usize];
        }
        let mut goals = self.share(round.runs);
        if !self.has_run && (self.acquires.has_goal() || !self.accesses.has_goal()) {
            goals.insert(0, None);
            goals.truncate(round.runs as usize);
        }
        goals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sketch;

    const ACCESS: &str = r#"{"interleaving":{"points":"fields","first":{"site":"A.m:1","act":"read"},"remote":{"site":"A.m:1","act":"write"},"last":{"site":"A.m:1","act":"write"}}}"#;
    const ACQUIRE: &str = r#"{"delay":{"points":"fields","last":{"site":"A.m:1","act":"acquire"}}}"#;

    fn allocation() -> Allocation {
        let (acquires, accesses) = (AcquireGoals::default(), AccessGoals::default());
        Allocation::new(true, Aims::ALL, acquires, accesses, PredictedGoals::default())
    }

    fn learn(goals: &mut Allocation, sketch: Sketch, shown: &[&str], goal: Option<&str>, is_bad: bool) {
        let mut outcome = sketch.outcome();
        outcome.processes[0].run.as_mut().unwrap().goals =
            shown.iter().map(|goal| goal.parse().unwrap()).collect();
        outcome.goal = goal.map(|goal| goal.parse().unwrap());
        goals.learn(&outcome, Judgement { is_bad, shows_bug: is_bad, is_news: false });
    }

    /// Expects these goals for the next runs: `l` for locks, `a` for accesses, `-` for none.
    fn check(goals: &Allocation, expected: &str) {
        let kinds = goals.share(expected.len() as u64).into_iter().map(|goal| match goal {
            Some(Goal::Accesses(_)) => 'a',
            Some(_) => 'l',
            None => '-',
        });
        assert_eq!(kinds.collect::<String>(), expected);
    }

    #[test]
    fn the_first_run_has_no_goal_unless_only_accesses_have_candidates() {
        let first = |pairs, shown: &[&str]| {
            let mut goals = allocation();
            learn(&mut goals, Sketch { pairs, ..Sketch::default() }, shown, None, false);
            goals.has_run = false;
            goals.propose(Round { runs: 2, has_turn: true })[0].is_some()
        };
        assert!(!first(&[], &[]) && !first(&["a/x"], &[]) && !first(&["a/x"], &[ACCESS]));
        assert!(first(&[], &[ACCESS]));
    }

    #[test]
    fn locks_and_accesses_take_turns_as_long_as_nothing_happens() {
        let mut none = allocation();
        check(&none, "----");
        learn(&mut none, Sketch::default(), &[ACCESS], None, false);
        check(&none, "aaaaaaa-");
        let mut both = allocation();
        let pairs = Sketch { pairs: &["a/x", "b/x"], ..Sketch::default() };
        learn(&mut both, pairs, &[ACCESS], None, false);
        check(&both, "lala");
        let mut acquires = allocation();
        learn(&mut acquires, pairs, &[ACQUIRE], None, false);
        check(&acquires, "llla");
    }

    #[test]
    fn the_kind_of_goal_that_succeeded_gets_most_of_the_runs() {
        let mut locks = allocation();
        let hit = Sketch { pairs: &["Main.run:4/x"], confirmed: &["f"], ..Sketch::default() };
        learn(&mut locks, hit, &[ACCESS], None, false);
        check(&locks, "lall");
        locks.bug_runs = 1;
        check(&locks, "llll");
        let mut accesses = allocation();
        let pairs = Sketch { pairs: &["a/x"], ..Sketch::default() };
        learn(&mut accesses, pairs, &[ACCESS], Some(ACCESS), true);
        check(&accesses, "aala");
        learn(&mut accesses, pairs, &[], Some(ACCESS), true);
        check(&accesses, "aaaa");
    }
}
