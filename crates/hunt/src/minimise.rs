//! Shortens the schedules that reports show: an interleaving with fewer switches is easier to read.
//!
//! A variant of a schedule cuts off its end, after which threads run sequentially, or lets a thread do at once what it did in two
//! parts. Variants are run; of those that show the same finding, the one with the fewest switches is varied again. The number of runs
//! is bounded, and the chosen variant does not depend on how many run at a time.

use fissure_model::settings::Control;
use fissure_schedule::strategy::REPLAY;

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

/// A schedule: threads, each with the number of steps in a row.
type Parts = Vec<(u32, u64)>;

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
        let Some(mut best) = parse(&shown.schedule).filter(|parts| parts.len() <= MOST_PARTS) else {
            continue;
        };
        let before = switches(&best);
        for round in 0..ROUNDS {
            if switches(&best) <= FEW || runner.is_interrupted() || runner.spent() > MOST_TIME {
                break;
            }
            let variants = variants(&best, round);
            let controls: Vec<Control> =
                variants.iter().map(|parts| control(settings, &shown, parts)).collect();
            let mut better = None;
            for outcome in runner.run(&controls, &|_| false)? {
                let Some(parts) = schedule_of(&outcome) else { continue };
                let is_better =
                    switches(&parts) < better.as_ref().map_or(switches(&best), |(least, _)| *least);
                let is_better = is_better && text(&parts).len() <= LONGEST_TEXT;
                if is_better && merged.shows_as_well(&outcome, &shown, references) {
                    better = Some((switches(&parts), (parts, outcome)));
                }
            }
            if let Some((_, (parts, outcome))) = better {
                merged.shorten(&outcome, &shown, &text(&parts), references);
                best = parts;
            }
        }
        if switches(&best) < before {
            shortened.push(Shortened { id: shown.id, before, after: switches(&best) });
        }
    }
    Ok(shortened)
}

fn control(settings: &RunSettings, shown: &Shown, parts: &Parts) -> Control {
    let control = settings.control(&REPLAY, shown.seed, shown.goal.clone());
    Control { schedule: Some(text(parts)), ..control }
}

/// The schedule that a run followed.
fn schedule_of(outcome: &Outcome) -> Option<Parts> {
    let mut accounts = outcome.accounts();
    let run = accounts.next().filter(|run| run.uncontrolled.is_empty())?;
    // With several processes a schedule covers only one of them.
    if accounts.next().is_some() { None } else { parse(&run.schedule) }
}

fn parse(schedule: &str) -> Option<Parts> {
    let part = |text: &str| {
        let (thread, times) = text.split_once('*').unwrap_or((text, "1"));
        Some((thread.parse().ok()?, times.parse().ok()?))
    };
    let parts: Option<Parts> = schedule.split_ascii_whitespace().map(part).collect();
    parts.filter(|parts| !parts.is_empty())
}

fn text(parts: &Parts) -> String {
    let text = |(thread, times): &(u32, u64)| match times {
        1 => thread.to_string(),
        _ => format!("{thread}*{times}"),
    };
    parts.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn switches(parts: &Parts) -> usize {
    parts.len().saturating_sub(1)
}

/// Variants of a schedule: shorter ones, and ones with two parts of a thread joined. Later rounds join other parts.
fn variants(parts: &Parts, round: usize) -> Vec<Parts> {
    let mut variants: Vec<Parts> = Vec::new();
    let cuts = [parts.len() / 2, parts.len() * 3 / 4, parts.len() - 1];
    for cut in cuts {
        let cut = parts[..cut].to_vec();
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
fn joined(parts: &Parts, at: usize) -> Parts {
    let mut joined: Parts = Vec::new();
    let moved = [&parts[..at], &[parts[at + 1], parts[at]], &parts[at + 2..]].concat();
    for (thread, times) in moved {
        match joined.last_mut() {
            Some((last, count)) if *last == thread => *count += times,
            _ => joined.push((thread, times)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schedule: &str, expected: &[&str]) {
        let variants = variants(&parse(schedule).unwrap(), 0);
        assert_eq!(variants.iter().map(text).collect::<Vec<_>>(), expected, "{schedule}");
    }

    #[test]
    fn schedules_are_cut_and_their_parts_put_together() {
        check("0*3 1 0 1*2", &["0*3 1", "0*3 1 0", "0*4 1*3", "0*3 1*3 0"]);
        check("0 1 2 3", &["0 1", "0 1 2"]);
        check("0", &[]);
    }

    #[test]
    fn invalid_schedules_are_rejected() {
        assert_eq!(parse(""), None);
        assert_eq!(parse("x 1"), None);
        assert_eq!(parse("0*2 1").map(|parts| text(&parts)).as_deref(), Some("0*2 1"));
    }
}
