//! Algorithm 1 of the AtomFuzzer paper: at every choice each thread that can run is as likely as any other.
//!
//! Kept without changes, except for a thread that yields or spins: it continues only if no other thread can run, and if the others
//! sleep, time advances. The paper's scheduler is fair with probability one; this one is fair within a bounded number of steps.

use super::{Choice, Strategy, View, registry::StrategyKind, willing};
use crate::random::Random;

/// The registration.
pub const RANDOM: StrategyKind = StrategyKind {
    name: "random",
    about: "Every thread that can run is equally likely.",
    build: |_| Ok(Box::new(Uniform)),
    ..StrategyKind::PLAIN
};

/// Chooses at random.
#[derive(Debug, Default)]
pub struct Uniform;

impl Strategy for Uniform {
    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        let willing = willing(view);
        Choice::Run(willing[random.below(willing.len())].thread)
    }
}

/// Whether only a thread that yields can run, while others sleep.
pub(crate) fn yields_to_sleepers(view: &View<'_>) -> bool {
    let is_current = |thread| Some(thread) == view.current;
    view.yields
        && !view.sleepers.is_empty()
        && view.candidates.iter().all(|candidate| is_current(candidate.thread))
}
