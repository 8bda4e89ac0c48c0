//! Divides the runs of a hunt among goals at acquires and goals at accesses.

use fissure_model::goal::Goal;

use super::{
    StrategyState,
    acquire_goals::{ROUND, TURNS},
};

/// The goals of the next runs of atomfuzzer: acquires and accesses in turn as long as nothing was made to happen, and mostly the kind
/// that succeeded after that.
pub(super) fn choose(state: &StrategyState, runs: u64) -> Vec<Option<Goal>> {
    let is_for_accesses = |run: u64| {
        if !state.access_goals.has_goal() {
            // If no goal of either kind is left, both kinds start again.
            !state.acquire_goals.has_goal() && run % 2 == 1
        } else if state.acquire_goals.has_proof() {
            let has_turn = state.acquire_goals.turn() == TURNS / 2 && run == ROUND / 2;
            has_turn || !state.has_bug && run % 4 == 1
        } else {
            let is_for_locks = match (state.access_goals.is_proved(), state.access_goals.is_reliable()) {
                (_, true) => state.acquire_goals.turn() == 0 && run == ROUND / 2,
                (true, false) => run % 4 == 2,
                // Goals at accesses get half of the runs; those at acquires get a quarter, because random schedules reach some of
                // them by chance.
                (false, false) if state.access_goals.has_open_access() => run.is_multiple_of(2),
                (false, false) => run % 4 != 3,
            };
            !is_for_locks || !state.acquire_goals.has_goal()
        }
    };
    let accesses = (0..runs).filter(|run| is_for_accesses(*run)).count() as u64;
    let mut access_goals = match state.access_goals.has_goal() {
        true => state.access_goals.choose(accesses, state.acquire_goals.turn() == TURNS / 2).into_iter(),
        false => state.access_goals.again(accesses).into_iter(),
    };
    let mut acquire_goals =
        state.acquire_goals.choose(runs - accesses).into_iter().map(|pair| pair.map(Goal::Acquires));
    let goal = |run| if is_for_accesses(run) { access_goals.next() } else { acquire_goals.next() };
    (0..runs).map(goal).map(Option::flatten).collect()
}

#[cfg(test)]
mod tests {
    use fissure_schedule::strategy::registry;

    use super::*;
    use crate::hunt::{
        access_goals::AccessGoals, acquire_goals::AcquireGoals, merge::Merged,
        predicted_goals::PredictedGoals, testing::Sketch,
    };

    const ACCESS: &str = r#"{"interleaving":{"points":"fields","first":{"site":"A.m:1","act":"read"},"remote":{"site":"A.m:1","act":"write"},"last":{"site":"A.m:1","act":"write"}}}"#;
    const ACQUIRE: &str = r#"{"delay":{"points":"fields","last":{"site":"A.m:1","act":"acquire"}}}"#;

    fn state() -> StrategyState {
        StrategyState {
            strategy: registry::default(),
            profiling_runs: 0,
            runs: 0,
            merged: Merged::default(),
            acquire_goals: AcquireGoals::default(),
            predicted_goals: PredictedGoals::default(),
            access_goals: AccessGoals::default(),
            has_bug: false,
        }
    }

    fn learn(state: &mut StrategyState, sketch: Sketch, goals: &[&str], goal: Option<&str>, is_bad: bool) {
        let mut outcome = sketch.outcome();
        outcome.jvms[0].run.as_mut().unwrap().goals =
            goals.iter().map(|goal| goal.parse().unwrap()).collect();
        outcome.goal = goal.map(|goal| goal.parse().unwrap());
        state.acquire_goals.learn(&outcome, is_bad);
        state.access_goals.learn(&outcome, is_bad);
        state.has_bug |= is_bad;
    }

    /// Expects these goals for the next runs: `l` for locks, `a` for accesses, `-` for none.
    fn check(state: &StrategyState, expected: &str) {
        let kinds = choose(state, expected.len() as u64).into_iter().map(|goal| match goal {
            Some(Goal::Accesses(_)) => 'a',
            Some(_) => 'l',
            None => '-',
        });
        assert_eq!(kinds.collect::<String>(), expected);
    }

    #[test]
    fn locks_and_accesses_take_turns_as_long_as_nothing_happens() {
        let mut none = state();
        check(&none, "----");
        learn(&mut none, Sketch::default(), &[ACCESS], None, false);
        check(&none, "aaa-");
        let mut both = state();
        let pairs = Sketch { pairs: &["a/x", "b/x"], ..Sketch::default() };
        learn(&mut both, pairs, &[ACCESS], None, false);
        check(&both, "lala");
        let mut acquires = state();
        learn(&mut acquires, pairs, &[ACQUIRE], None, false);
        check(&acquires, "llla");
    }

    #[test]
    fn the_kind_of_goal_that_succeeded_gets_most_of_the_runs() {
        let mut locks = state();
        let hit = Sketch { pairs: &["Main.run:4/x"], confirmed: &["f"], ..Sketch::default() };
        learn(&mut locks, hit, &[ACCESS], None, false);
        check(&locks, "lall");
        locks.has_bug = true;
        check(&locks, "llll");
        let mut accesses = state();
        let pairs = Sketch { pairs: &["a/x"], ..Sketch::default() };
        learn(&mut accesses, pairs, &[ACCESS], Some(ACCESS), true);
        check(&accesses, "aala");
        learn(&mut accesses, pairs, &[], Some(ACCESS), true);
        check(&accesses, "aaaa");
    }
}
