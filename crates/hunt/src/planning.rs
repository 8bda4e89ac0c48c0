//! Which runs come next, and when a hunt with a strategy is over.
//!
//! A hunt either makes a given number of runs, or it has a time budget. With a budget the first runs are shared out in the same way. Then
//! come the goals that were not tried enough, and once there are none, chance decides alone, for as long as it shows something new.
//! Some runs are left to chance while there are goals, because what no candidate predicts shows up only there.

use fissure_model::{
    goal::{ChanceGoal, Goal},
    settings::AccessPoints,
};

use crate::{
    goals::{self, Allocation, GoalSource, Round},
    outcome::Outcome,
};

/// After so many runs, those that remain are spent on what was not tried.
const FIRST_RUNS: u64 = 64;
/// How many runs there are in a round after that.
const LONG_ROUND: u64 = 64;
/// How many runs there are in a round if no run learns from another. Their results are in memory together.
const INDEPENDENT_ROUND: u64 = 1_024;
/// One of so many runs is left to chance while there are goals.
const CHANCE_SHARE: u64 = 8;
/// The same while only random preemptions can still help the goals at accesses.
const RANDOM_SHARE: usize = 4;
/// A hunt with a budget makes at least so many runs, however long they take.
const LEAST_RUNS: u64 = 16;
/// Chance decides in at least so many runs: a bug that one of 500 of them shows is seen with a probability of 99 %.
const CHANCE_RUNS: u64 = 2_304;
/// If so many runs by chance show nothing new, more of them hardly will.
const QUIET_RUNS: u64 = 768;
/// Predicted races and atomic-set violations get their part of the runs after so many: most of them cause no failure. Runs that stop
/// inside of concurrent objects begin there, too.
const FIRST_PREDICTED: u64 = 16;
/// One of so many runs is for them.
const PREDICTED_SHARE: u64 = 4;
/// After so many runs that showed a bug, others come first.
const ENOUGH_BUGS: u64 = 12;
/// One of so many runs repeats what showed it.
const REPEATED_SHARE: u64 = 4;

/// How long a hunt with one strategy goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    /// For so many runs.
    Runs(u64),
    /// Until this share of the time is spent.
    Time(f64),
}

/// The runs that chance decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChanceFacts {
    /// How many there were.
    pub runs: u64,
    /// How many of them came after the last one that showed something new.
    pub quiet: u64,
}

impl ChanceFacts {
    /// Notes a run.
    pub(crate) fn add(&mut self, outcome: &Outcome, is_news: bool) {
        if matches!(outcome.goal, None | Some(Goal::Chance(_))) {
            self.runs += 1;
            self.quiet = if is_news { 0 } else { self.quiet + 1 };
        }
    }

    /// Whether more of them are not worth while.
    fn is_enough(&self) -> bool {
        self.runs >= CHANCE_RUNS && self.quiet >= QUIET_RUNS
    }

    /// The rarest bug that so many runs show with a probability of 99 %: one run in so many shows it.
    pub fn rarest(&self) -> Option<u64> {
        let missed_in_all = 0.01_f64;
        let chance = 1.0 - missed_in_all.powf(1.0 / self.runs as f64);
        // Floating-point noise must not turn 500 into 499.
        (self.runs > 0).then(|| (1.0 / chance + 1e-6).floor() as u64).filter(|rarest| *rarest > 1)
    }
}

/// What is known when the next runs are planned.
#[derive(Debug)]
pub(crate) struct Planning<'a> {
    pub(crate) limit: Limit,
    /// The share of the time that is spent.
    pub(crate) spent: f64,
    /// How many runs of the strategy there were.
    pub(crate) runs: u64,
    /// How many runs of all kinds there were.
    pub(crate) all_runs: u64,
    pub(crate) goals: &'a Allocation,
    /// Whether no run learns from another, so that there need not be rounds.
    pub(crate) is_independent: bool,
    pub(crate) chance: ChanceFacts,
    /// The goals of runs that chance decides, which take turns.
    pub(crate) chance_goals: &'a [Option<Goal>],
}

impl Planning<'_> {
    /// The goals of the next runs; none if the hunt with this strategy is over.
    pub(crate) fn next(&self) -> Vec<Option<Goal>> {
        match self.limit {
            Limit::Runs(all) if self.is_independent => {
                vec![None; (all - self.runs).min(INDEPENDENT_ROUND) as usize]
            }
            Limit::Runs(all) => {
                let runs = goals::round(self.runs).min(all - self.runs);
                if self.goals.bug_runs() < ENOUGH_BUGS { self.first(runs) } else { self.others(runs) }
            }
            Limit::Time(_) if self.runs < LEAST_RUNS => self.first(goals::round(self.runs)),
            Limit::Time(until) => {
                let runs = self.in_time(until);
                if self.runs < FIRST_RUNS {
                    return self.first(goals::round(self.runs).min(runs));
                }
                self.untried(LONG_ROUND.min(runs))
            }
        }
    }

    /// The runs that the sources of goals share out. Without a goal, threads are preempted at locks only, and a program without locks goes
    /// the same way nearly every time: from the second run on, such runs take turns with runs that chance decides at accesses. Chance also gets a
    /// part of all runs until a goal shows a bug reliably, and of the attempts with random preemptions, because no goal may be the one that it takes.
    fn first(&self, runs: u64) -> Vec<Option<Goal>> {
        let mut by_chance = self.by_chance();
        let is_at_accesses =
            |goal: &&Goal| matches!(goal, Goal::Chance(goal) if goal.points != AccessPoints::None);
        let at_accesses = self.chance_goals.iter().flatten().filter(is_at_accesses);
        let mut at_accesses = at_accesses.cycle().skip(self.chance.runs as usize);
        let mut at_accesses = || at_accesses.next().cloned();
        let is_for_chance = |number: u64| {
            let share = if number < FIRST_PREDICTED { CHANCE_SHARE } else { RANDOM_SHARE as u64 };
            self.goals.aims().failures && !self.goals.is_reliable() && number % share == share - 1
        };
        let needs_chance = self.goals.needs_chance();
        let mut predicted = self.goals.untried_predicted(runs).into_iter();
        let is_for_predicted = |number: u64| {
            !self.goals.aims().failures || number >= FIRST_PREDICTED && number.is_multiple_of(PREDICTED_SHARE)
        };
        let goals = self.goals.propose(Round { runs, has_turn: true }).into_iter().enumerate();
        let goal = |(run, goal): (usize, Option<Goal>)| match goal {
            _ if self.goals.learns()
                && is_for_predicted(self.runs + run as u64)
                && let Some(goal) = predicted.next() =>
            {
                Some(goal)
            }
            Some(_) if self.goals.learns() && is_for_chance(self.runs + run as u64) => at_accesses().or(goal),
            // If nothing else is left to try, half of the runs are for predicted goals.
            None if self.goals.learns() && self.runs + run as u64 > 0 => {
                let is_free = self.runs >= FIRST_PREDICTED && run % 2 == 1;
                is_free.then(|| predicted.next()).flatten().or_else(&mut by_chance)
            }
            Some(Goal::Accesses(_)) if needs_chance && run % RANDOM_SHARE == RANDOM_SHARE - 1 => {
                at_accesses().or(goal)
            }
            goal => goal,
        };
        goals.map(goal).collect()
    }

    /// Once a bug was shown often enough: mostly what was not tried enough, and runs by chance.
    fn others(&self, runs: u64) -> Vec<Option<Goal>> {
        let mut first = self.first(runs).into_iter();
        let mut untried = self.goals.untried(runs).into_iter();
        let mut by_chance = self.by_chance();
        let goal = |run: u64| match run % REPEATED_SHARE {
            0 => first.next().flatten(),
            _ => untried.next().map(Some).unwrap_or_else(&mut by_chance),
        };
        (0..runs).map(goal).collect()
    }

    /// The goals of runs that chance decides, one after the other.
    fn by_chance(&self) -> impl FnMut() -> Option<Goal> {
        let mut turn = self.chance.runs as usize;
        move || {
            turn += 1;
            let goals = self.chance_goals();
            goals.get(turn % goals.len().max(1)).cloned().flatten()
        }
    }

    /// The goals of runs that chance decides. Bugs inside of concurrent objects are rare, so other runs come first.
    fn chance_goals(&self) -> &[Option<Goal>] {
        match self.chance_goals {
            [others @ .., Some(Goal::Chance(last))] if last.volatiles && self.runs < FIRST_PREDICTED => {
                others
            }
            all => all,
        }
    }

    /// Goals that were not tried enough, and runs by chance.
    fn untried(&self, runs: u64) -> Vec<Option<Goal>> {
        let mut untried = self.goals.untried(runs).into_iter().peekable();
        if untried.peek().is_none() && self.chance.is_enough() {
            return Vec::new();
        }
        let mut by_chance = self.by_chance();
        let goal = |run: u64| match run % CHANCE_SHARE {
            0 => by_chance(),
            _ => untried.next().map(Some).unwrap_or_else(&mut by_chance),
        };
        (0..runs).map(goal).collect()
    }

    /// How many runs there is time for, if they take as long as those before.
    fn in_time(&self, until: f64) -> u64 {
        if self.spent >= until {
            return 0;
        }
        if self.spent <= 0.0 {
            return u64::MAX;
        }
        (self.all_runs as f64 * (until - self.spent) / self.spent).ceil() as u64
    }
}

/// The goals of runs that chance decides: none at locks; at accesses if runs could be made that stop there; and last, inside of concurrent
/// objects, whose calls are single accesses in all other runs.
pub(crate) fn chance_goals(points: Option<AccessPoints>, instrumented: &[String]) -> Vec<Option<Goal>> {
    let at = |points, instrumented| Some(Goal::Chance(ChanceGoal::at_accesses(points, instrumented)));
    let mut goals = vec![None];
    if let Some(points) = points {
        goals.push(at(points, Vec::new()));
        if !instrumented.is_empty() {
            goals.push(at(points, instrumented.to_vec()));
        }
        goals.push(Some(Goal::Chance(ChanceGoal::at_volatiles())));
    }
    goals
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::Kind;

    use super::*;
    use crate::{goals::Judgement, settings::Aims, testing::Sketch};

    const ACCESS: &str = r#"{"interleaving":{"points":"fields","first":{"site":"A.m:1","act":"read"},"remote":{"site":"A.m:1","act":"write"},"last":{"site":"A.m:1","act":"write"}}}"#;

    fn allocation() -> Allocation {
        let aims = Aims::FAILURES;
        Allocation::new(true, aims, Default::default(), Default::default(), Default::default())
    }

    fn known() -> Allocation {
        let mut goals = allocation();
        let mut outcome = Sketch::default().outcome();
        outcome.processes[0].run.as_mut().unwrap().goals = vec![ACCESS.parse().unwrap()];
        goals.learn(&outcome, Judgement::default());
        goals
    }

    /// Expects these runs next: `a` for a goal at accesses, `r` for a race, `c` for chance at accesses, `v` at volatile fields, `s` with
    /// atomic sets, `-` for no goal.
    fn check(limit: Limit, spent: f64, runs: u64, goals: &Allocation, chance: ChanceFacts, expected: &str) {
        let chance_goals = chance_goals(Some(AccessPoints::All), &[]);
        let planning = Planning {
            limit,
            spent,
            runs,
            all_runs: runs,
            goals,
            is_independent: false,
            chance,
            chance_goals: &chance_goals,
        };
        let kinds = planning.next().into_iter().map(|goal| match goal {
            Some(Goal::Accesses(_)) => 'a',
            Some(Goal::Race(_)) => 'r',
            Some(Goal::Chance(goal)) if goal.volatiles => 'v',
            Some(Goal::Chance(goal)) if goal.sets => 's',
            Some(Goal::Chance(_)) => 'c',
            _ => '-',
        });
        let kinds: String = kinds.collect();
        let shown = kinds.get(..expected.len()).unwrap_or(&kinds);
        assert_eq!((shown, kinds.is_empty()), (expected, expected.is_empty()), "{limit:?} {spent} {runs}");
    }

    #[test]
    fn untried_goals_come_first_and_then_chance() {
        let (few, enough) = (ChanceFacts { runs: 1, quiet: 1 }, ChanceFacts { runs: 4_000, quiet: 800 });
        let (none, one) = (allocation(), known());
        check(Limit::Time(1.0), 0.1, 64, &one, few, "vaa-cv-c");
        check(Limit::Time(1.0), 0.1, 64, &one, enough, "vaa");
        check(Limit::Time(1.0), 0.1, 64, &none, few, "v-cv");
        check(Limit::Time(1.0), 0.1, 64, &none, enough, "");
        check(Limit::Time(1.0), 0.1, 64, &none, ChanceFacts { runs: 4_000, quiet: 8 }, "v-cv");
    }

    #[test]
    fn chance_at_accesses_takes_turns_where_goals_do_not_help() {
        let (none, few) = (allocation(), ChanceFacts::default());
        check(Limit::Runs(40), 0.0, 0, &none, few, "-c-c");
        check(Limit::Runs(40), 0.0, 8, &none, ChanceFacts { runs: 8, quiet: 8 }, "c-c-");
        let published = Allocation::of_predictions();
        check(Limit::Runs(40), 0.0, 8, &published, few, "----");
        // Once the sequential attempts are made, chance gets a part of the others, until a goal makes the program fail.
        let mut goals = known();
        check(Limit::Runs(40), 0.0, 8, &goals, few, "aaaa");
        let mut outcome = Sketch::default().outcome();
        let sequential = ACCESS.replace(r#""points":"fields""#, r#""points":"fields","sequential":true"#);
        outcome.goal = Some(sequential.parse().unwrap());
        goals.learn(&outcome, Judgement::default());
        check(Limit::Runs(40), 0.0, 8, &goals, few, "aaac");
        outcome.goal = Some(ACCESS.parse().unwrap());
        goals.learn(&outcome, Judgement { is_bad: true, shows_bug: true, is_news: true });
        check(Limit::Runs(40), 0.0, 8, &goals, few, "aaaa");
    }

    #[test]
    fn predicted_goals_get_a_part_of_the_later_runs() {
        let race = r#"{"race":{"accesses":[{"site":"A.m:1","field":"A.x"},{"site":"A.n:1","field":"A.x","write":true}]}}"#;
        let goals = |aims| {
            let mut goals =
                Allocation::new(true, aims, Default::default(), Default::default(), Default::default());
            let mut outcome = Sketch::default().outcome();
            outcome.processes[0].run.as_mut().unwrap().goals =
                vec![ACCESS.parse().unwrap(), race.parse().unwrap()];
            goals.learn(&outcome, Judgement::default());
            goals
        };
        let few = ChanceFacts { runs: 1, quiet: 1 };
        check(Limit::Runs(40), 0.0, 12, &goals(Aims::ALL), few, "aaac");
        check(Limit::Runs(40), 0.0, 16, &goals(Aims::ALL), few, "raacsaav");
        check(Limit::Runs(40), 0.0, 16, &goals(Aims::FAILURES), few, "aaacaaav");
        check(Limit::Runs(40), 0.0, 0, &goals(Aims::for_kinds(&[Kind::DataRace])), few, "r-c-");
    }

    #[test]
    fn others_come_first_once_a_bug_was_shown_often_enough() {
        let mut goals = known();
        let mut outcome = Sketch::default().outcome();
        outcome.goal = Some(ACCESS.parse().unwrap());
        let judgement = Judgement { is_bad: true, shows_bug: true, is_news: true };
        (0..ENOUGH_BUGS).for_each(|_| goals.learn(&outcome, judgement));
        let few = ChanceFacts { runs: 1, quiet: 1 };
        check(Limit::Runs(40), 0.0, 24, &goals, few, "aav-acv-");
        check(Limit::Runs(400), 0.0, 64, &goals, few, "aav-acv-a");
    }

    #[test]
    fn a_hunt_ends_with_its_runs_or_its_time() {
        let (none, no_chance) = (known(), ChanceFacts::default());
        check(Limit::Runs(3), 9.0, 2, &none, no_chance, "a");
        check(Limit::Runs(3), 0.0, 3, &none, no_chance, "");
        check(Limit::Time(1.0), 9.0, 4, &none, no_chance, "aaa");
        check(Limit::Time(1.0), 1.0, 16, &none, no_chance, "");
        check(Limit::Time(0.5), 0.4, 16, &none, no_chance, "aaac");
        check(Limit::Time(0.5), 0.5, 64, &none, no_chance, "");
    }

    #[test]
    fn the_last_round_is_as_long_as_there_is_time() {
        let goals = known();
        let length = |spent| {
            let planning = Planning {
                limit: Limit::Time(1.0),
                spent,
                runs: 100,
                all_runs: 100,
                goals: &goals,
                is_independent: false,
                chance: ChanceFacts::default(),
                chance_goals: &[None],
            };
            planning.next().len()
        };
        assert_eq!([0.1, 0.8, 0.99, 1.0].map(length), [64, 25, 2, 0]);
    }

    #[test]
    fn the_rarest_bug_is_told_by_the_number_of_runs() {
        let rarest = |runs| ChanceFacts { runs, quiet: 0 }.rarest();
        assert_eq!([0, 1, 7, 230, 2_301].map(rarest), [None, None, Some(2), Some(50), Some(500)]);
    }
}
