//! The sequential schedule: no thread is preempted; each runs until it waits for another, ends or yields. A failure in such an
//! execution is not schedule-dependent.

use super::{Choice, Strategy, View, registry::StrategyKind, uniform::yields_to_sleepers, willing};
use crate::random::Random;

/// The registration.
pub const SEQUENTIAL: StrategyKind = StrategyKind {
    name: "sequential",
    about: "No thread is preempted.",
    is_offered: false,
    build: |_| Ok(Box::new(Sequential)),
    ..StrategyKind::PLAIN
};

/// Lets the current thread continue as long as it can; then chooses at random.
#[derive(Debug, Default)]
pub struct Sequential;

impl Strategy for Sequential {
    fn starts_at_once(&self) -> bool {
        false
    }

    fn choose(&mut self, view: &View<'_>, random: &mut Random) -> Choice {
        if yields_to_sleepers(view) {
            return Choice::Sleepers;
        }
        if let Some(current) = view.current
            && !view.yields
        {
            return Choice::Run(current);
        }
        let willing = willing(view);
        Choice::Run(willing[random.below(willing.len())].thread)
    }
}
