//! Shortens the schedules that reports show: an interleaving with fewer switches is easier to read.
//!
//! A variant of a schedule cuts off its end, after which threads run sequentially, or lets a thread do at once what it did in two
//! parts. Variants are run; of those that show the same finding, the one with the fewest switches is varied again. The number of runs
//! is bounded, and the chosen variant does not depend on how many run at a time.

use fissure_model::{ids::ThreadId, recording::Recording, settings::Control};
use fissure_schedule::strategy::{REPLAY, registry};

use crate::{
    Runner,
    merge::{Merged, Shown},
    outcome::Outcome,
    reference::References,
    settings::RunSettings,
};

/// The schedules of how many findings are shortened.
const FINDINGS: usize = 3;
/// How often a schedule is varied.
const ROUNDS: usize = 3;
/// How many variants are run each time.
const VARIANTS: usize = 6;
/// Schedules with so few switches are short enough.
const FEW: usize = 2;
/// Schedules with more parts than this are not varied: there would be too much to try.
const MOST_PARTS: usize = 2_000;
/// A shortened schedule is part of the command that replays it, so a longer text is not used.
const LONGEST_TEXT: usize = 2_000;
/// A hunt with a time budget takes so much of it at most.
const MOST_TIME: f64 = 1.5;

/// A schedule that became shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortened {
    /// The finding.
    pub id: String,
    /// How many switches between threads it had.
    pub before: usize,
    /// How many it has.
    pub after: usize,
}

/// Shortens the schedules of the most certain findings; gives those that became shorter.
pub(crate) fn minimise<R: Runner>(
    settings: &RunSettings,
    runner: &mut R,
    merged: &mut Merged,
    references: &References,
) -> Result<Vec<Shortened>, R::Error> {
    let mut shortened = Vec::new();
    for shown in merged.shown().into_iter().take(FINDINGS) {
        let mut best = shown.schedule.clone();
        if best.parts().len() > MOST_PARTS {
            continue;
        }
        let before = best.switches();
        for round in 0..ROUNDS {
            if best.switches() <= FEW || runner.is_interrupted() || runner.spent() > MOST_TIME {
                break;
            }
            let variants = variants(&best, round);
            let controls: Vec<Control> =
                variants.iter().map(|variant| control(settings, &shown, variant)).collect();
            let mut better = None;
            for outcome in runner.run(&controls, &|_| false)? {
                let Some(schedule) = schedule_of(&outcome) else { continue };
                let least = better.as_ref().map_or(&best, |(schedule, _)| schedule).switches();
                let is_better = schedule.switches() < least && schedule.to_string().len() <= LONGEST_TEXT;
                if is_better && merged.shows_as_well(&outcome, &shown, references) {
                    better = Some((schedule, outcome));
                }
            }
            if let Some((schedule, outcome)) = better {
                merged.shorten(&outcome, &shown, &schedule, references);
                best = schedule;
            }
        }
        if best.switches() < before {
            shortened.push(Shortened { id: shown.id, before, after: best.switches() });
        }
    }
    Ok(shortened)
}

fn control(settings: &RunSettings, shown: &Shown, schedule: &Recording) -> Control {
    let control = settings.control(registry::default(), shown.seed, shown.goal.clone());
    Control { strategy: REPLAY.strategy_name(), schedule: Some(schedule.to_string()), ..control }
}

/// The schedule that a run followed, if another run can follow it.
fn schedule_of(outcome: &Outcome) -> Option<Recording> {
    let mut accounts = outcome.accounts();
    let run = accounts.next().filter(|run| run.uncontrolled.is_empty())?;
    // With several processes a schedule covers only one of them.
    accounts.next().is_none().then(|| run.schedule.clone()).filter(|schedule| !schedule.is_empty())
}

/// Variants of a schedule: shorter ones, and ones with two parts of a thread joined. Later rounds join other parts.
fn variants(schedule: &Recording, round: usize) -> Vec<Recording> {
    let parts = schedule.parts();
    let mut variants: Vec<Recording> = Vec::new();
    let cuts = [parts.len() / 2, parts.len() * 3 / 4, parts.len() - 1];
    for cut in cuts {
        let cut: Recording = parts[..cut].iter().copied().collect();
        if !cut.is_empty() && !variants.contains(&cut) {
            variants.push(cut);
        }
    }
    let joinable: Vec<usize> =
        (1..parts.len().saturating_sub(1)).filter(|at| parts[at - 1].0 == parts[at + 1].0).collect();
    for number in 0..joinable.len() {
        if variants.len() >= VARIANTS {
            break;
        }
        variants.push(joined(parts, joinable[(number + round * VARIANTS) % joinable.len()]));
    }
    variants
}

/// Swaps the part at an index with the next one, which joins the part before.
fn joined(parts: &[(ThreadId, u64)], at: usize) -> Recording {
    [&parts[..at], &[parts[at + 1], parts[at]], &parts[at + 2..]].concat().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schedule: &str, expected: &[&str]) {
        let variants = variants(&schedule.parse().unwrap(), 0);
        assert_eq!(variants.iter().map(Recording::to_string).collect::<Vec<_>>(), expected, "{schedule}");
    }

    #[test]
    fn schedules_are_cut_and_their_parts_put_together() {
        check("0*3 1 0 1*2", &["0*3 1", "0*3 1 0", "0*4 1*3", "0*3 1*3 0"]);
        check("0 1 2 3", &["0 1", "0 1 2"]);
        check("0", &[]);
    }
}
