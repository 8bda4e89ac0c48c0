//! Goals of the next runs: each source collects candidates of one kind from the runs so far and proposes them as goals.
//!
//! Runs go in rounds. Results of a round count from the next one on, so that the goal of a run depends only on the runs of earlier
//! rounds, however many run at the same time. [`Allocation`] shares out the runs of a round among the sources.

mod accesses;
mod acquires;
mod allocation;
mod predicted;

use fissure_model::goal::Goal;

pub use accesses::AccessGoals;
pub use acquires::AcquireGoals;
pub use allocation::Allocation;
pub use predicted::PredictedGoals;

use crate::outcome::Outcome;

/// How many runs there are in a round. The first rounds are shorter, because most candidates show up in them.
pub const ROUND: u64 = 16;
const FIRST_ROUNDS: [u64; 6] = [4, 4, 4, 4, 8, 8];
/// Once something was made to happen, the other kinds of goals get one of so many rounds each.
pub(crate) const TURNS: u64 = 8;

/// Proposes goals of one kind for the next runs, and learns from runs.
pub trait GoalSource {
    /// Records the candidates of a run, and the result for its goal if that is of this kind.
    fn learn(&mut self, outcome: &Outcome, judgement: Judgement);

    /// The goals of the next runs, in order; `None` for a run without a goal.
    fn propose(&self, round: Round) -> Vec<Option<Goal>>;
}

/// The next runs of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// How many there are.
    pub runs: u64,
    /// Whether in this round also those goals of the source are tried that had no success, although others had.
    pub has_turn: bool,
}

/// What a run showed compared with the reference runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Whether it showed a bug.
    pub shows_bug: bool,
    /// Whether it showed a failure that not every reference run shows, and no run before it showed a bug.
    pub is_bad: bool,
    /// Whether it showed a failure that no reference run shows.
    pub is_news: bool,
}

/// How many runs are in the round that begins after so many.
pub(crate) fn round(after: u64) -> u64 {
    let mut begins = 0;
    for runs in FIRST_ROUNDS {
        if after <= begins {
            return runs;
        }
        begins += runs;
    }
    ROUND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rounds_are_short() {
        let begins = [0, 4, 12, 16, 24, 32];
        assert_eq!(begins.map(round), [4, 4, 4, 8, 8, 16]);
    }
}
