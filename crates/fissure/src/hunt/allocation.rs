//! How the runs of a hunt are shared out among what there is to look for.

use fissure_model::goal::Goal;

use super::{
    StrategyState,
    acquire_goals::{ROUND, TURNS},
};

/// What the next runs of atomfuzzer look for: acquires and accesses in turn, as long as nothing was made to happen; after that mostly
/// what did.
pub(super) fn choose(state: &StrategyState, runs: u64) -> Vec<Option<Goal>> {
    let is_for_accesses = |run: u64| {
        if !state.interleavings.has_aim() {
            // Where nothing is left, all begins anew.
            !state.targets.has_aim() && run % 2 == 1
        } else if state.targets.has_proof() {
            let has_turn = state.targets.turn() == TURNS / 2 && run == ROUND / 2;
            has_turn || !state.has_bug && run % 4 == 1
        } else {
            let is_for_locks = match (state.interleavings.is_proved(), state.interleavings.is_reliable()) {
                (_, true) => state.targets.turn() == 0 && run == ROUND / 2,
                (true, false) => run % 4 == 2,
                // Chance alone brings acquires together now and then.
                (false, false) if state.interleavings.has_open_access() => run.is_multiple_of(2),
                (false, false) => run % 4 != 3,
            };
            !is_for_locks || !state.targets.has_aim()
        }
    };
    let accesses = (0..runs).filter(|run| is_for_accesses(*run)).count() as u64;
    let mut interleavings = match state.interleavings.has_aim() {
        true => state.interleavings.choose(accesses, state.targets.turn() == TURNS / 2).into_iter(),
        false => state.interleavings.again(accesses).into_iter(),
    };
    let mut pairs = state.targets.choose(runs - accesses).into_iter().map(|pair| pair.map(Goal::Acquires));
    let aim = |run| if is_for_accesses(run) { interleavings.next() } else { pairs.next() };
    (0..runs).map(aim).map(Option::flatten).collect()
}

#[cfg(test)]
mod tests {
    use fissure_model::settings::Steering;

    use super::*;
    use crate::hunt::{
        access_goals::AccessGoals, acquire_goals::AcquireGoals, merge::Merged,
        predicted_goals::PredictedGoals, testing::Sketch,
    };

    const ACCESS: &str = "random|fields|R A.m:1|W A.m:1|W A.m:1";
    const ACQUIRE: &str = "random|fields|||L A.m:1";

    fn state() -> StrategyState {
        StrategyState {
            strategy: Steering::Atomfuzzer,
            profiling_runs: 0,
            runs: 0,
            merged: Merged::default(),
            targets: AcquireGoals::default(),
            goals: PredictedGoals::default(),
            interleavings: AccessGoals::default(),
            has_bug: false,
        }
    }

    fn learn(state: &mut StrategyState, sketch: Sketch, goals: &[&str], target: Option<&str>, is_bad: bool) {
        let mut outcome = sketch.outcome();
        outcome.jvms[0].run.as_mut().unwrap().goals =
            goals.iter().map(|goal| goal.parse().unwrap()).collect();
        outcome.target = target.map(|target| target.parse().unwrap());
        state.targets.learn(&outcome, is_bad);
        state.interleavings.learn(&outcome, is_bad);
        state.has_bug |= is_bad;
    }

    /// What the next runs look for: `l` for locks, `a` for accesses, `-` for nothing.
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
    fn what_happened_has_most_of_the_runs() {
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
