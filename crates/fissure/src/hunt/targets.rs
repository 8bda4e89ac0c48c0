//! What runs learn from each other: which acquires could come in between two others, and which of these pairs the next runs
//! look for.
//!
//! Runs go in rounds. What a round learned counts from the next one on, so that what a run looks for depends on the runs of
//! earlier rounds only, however many go on at the same time.

use std::collections::{BTreeMap, BTreeSet};

use fissure_model::{
    finding::{Finding, Kind, Site, Status},
    goal::Goal,
    settings::Pair,
};

use super::run::Outcome;

/// How many runs there are in a round.
pub(crate) const ROUND: u64 = 16;
/// After so many runs that looked for an acquire in vain, others come first.
const PATIENCE: u64 = 8;

/// What is known so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Targets {
    /// The pairs, with the number of runs that looked for them.
    pairs: BTreeMap<Pair, u64>,
    /// The acquires inside of blocks that others did come in before.
    confirmed: BTreeSet<String>,
}

impl Targets {
    /// Takes note of what a run saw to be possible, and of what it made happen.
    pub(crate) fn learn(&mut self, outcome: &Outcome) {
        for pair in outcome.accounts().flat_map(|run| &run.pairs) {
            self.pairs.entry(pair.clone()).or_default();
        }
        for finding in outcome.jvms.iter().flat_map(|jvm| &jvm.findings) {
            if finding.kind == Kind::AtomicityViolation && finding.status > Status::Warning {
                self.confirmed.extend(reacquired(finding).map(place));
            }
        }
        if let Some(Goal::Pair(target)) = &outcome.target {
            *self.pairs.entry(target.clone()).or_default() += 1;
        }
    }

    /// What the next runs look for: every acquire inside of a block in turn, each time with another one that could come in
    /// between. Those that were looked for in vain come last.
    pub(crate) fn choose(&self, runs: u64) -> Vec<Option<Pair>> {
        let mut tried = self.pairs.clone();
        let mut tried_again: BTreeMap<&str, u64> = BTreeMap::new();
        for (pair, count) in &self.pairs {
            *tried_again.entry(&pair.again).or_default() += count;
        }
        let mut chosen = Vec::new();
        for _ in 0..runs {
            let rank = |pair: &Pair| {
                let attempts = tried_again[pair.again.as_str()];
                let in_vain = attempts >= PATIENCE && !self.confirmed.contains(&pair.again);
                (in_vain, attempts, tried[pair])
            };
            // Of equals the first in their own order is taken.
            let Some(best) = self.pairs.keys().min_by_key(|pair| rank(pair)) else {
                chosen.push(None);
                continue;
            };
            *tried.entry(best.clone()).or_default() += 1;
            *tried_again.entry(&best.again).or_default() += 1;
            chosen.push(Some(best.clone()));
        }
        chosen
    }
}

/// The acquire of a block that others came in before, or could.
fn reacquired(finding: &Finding) -> Option<&Site> {
    finding.sites.iter().find(|site| site.role == "reacquired")
}

/// A place as pairs name it.
fn place(site: &Site) -> String {
    match site.line {
        Some(line) => format!("{}.{}:{line}", site.class, site.method),
        None => format!("{}.{}", site.class, site.method),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::testing::Sketch;

    fn check(targets: &Targets, runs: u64, expected: &[&str]) {
        let chosen: Vec<String> = targets
            .choose(runs)
            .into_iter()
            .map(|pair| pair.map(|pair| pair.to_string()).unwrap_or_default())
            .collect();
        assert_eq!(chosen, expected);
    }

    fn learned(sketches: &[Sketch]) -> Targets {
        let mut targets = Targets::default();
        for sketch in sketches {
            targets.learn(&sketch.outcome());
        }
        targets
    }

    #[test]
    fn every_acquire_has_its_turn_with_every_interference() {
        check(&learned(&[]), 2, &["", ""]);
        let targets = learned(&[Sketch { pairs: &["b/x", "a/x", "a/y"], ..Sketch::default() }]);
        check(&targets, 5, &["a/x", "b/x", "a/y", "b/x", "a/x"]);
        let tried = Sketch { pairs: &["b/x", "a/x"], target: Some("a/x"), ..Sketch::default() };
        check(&learned(&[tried]), 2, &["b/x", "a/x"]);
    }

    #[test]
    fn what_was_tried_in_vain_comes_last() {
        let vain = Sketch { target: Some("a/x"), ..Sketch::default() };
        let hit = Sketch { target: Some("Main.run:4/x"), confirmed: &["f"], ..Sketch::default() };
        let mut targets = learned(&[Sketch { pairs: &["a/x", "Main.run:4/x"], ..Sketch::default() }]);
        for _ in 0..PATIENCE {
            targets.learn(&vain.outcome());
            targets.learn(&hit.outcome());
        }
        check(&targets, 2, &["Main.run:4/x", "Main.run:4/x"]);
    }
}
