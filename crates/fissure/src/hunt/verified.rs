//! Whether findings show again when their runs are repeated alone. Runs that go on at the same time may disturb each other, by a port or a
//! file that only one of them can have, and a program may depend on time, files or processes that Fissure does not control.

use std::{cmp::Reverse, time::Duration};

use fissure_hunt::{Found, HuntResult, HuntSettings};
use fissure_model::{
    finding::{Finding, Kind, Status},
    settings::Control,
};
use fissure_schedule::strategy::{REPLAY, registry};

use super::{
    count,
    run::{Print, Program},
};
use crate::{error::Error, replay, signals};

/// How many runs of a finding are repeated by their seeds before it counts as one that does not show again.
const ATTEMPTS: usize = 3;
/// How long a repeated run may take once the user has interrupted the hunt, and how many findings are repeated then.
const INTERRUPTED_LIMIT: Duration = Duration::from_secs(10);
const INTERRUPTED_FINDINGS: usize = 3;

/// Whether all findings of a hunt show again when their runs are repeated alone, in new JVMs.
pub(super) fn show_again(
    program: &Program<'_>,
    settings: &HuntSettings,
    result: &HuntResult,
) -> Result<bool, Error> {
    for Found { finding, .. } in &result.found {
        let Some(&seed) = finding.seeds.first().filter(|_| finding.status > Status::Warning) else {
            continue;
        };
        if !shows_again(program, &control(settings, finding, seed), finding)? && !signals::interrupted() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Repeats the findings of a hunt, and makes those warnings that do not show again. Returns a note about these.
pub(super) fn grade(
    program: &Program<'_>,
    settings: &HuntSettings,
    result: &mut HuntResult,
    is_interrupted: bool,
) -> Result<Option<String>, Error> {
    let limit = if is_interrupted { INTERRUPTED_LIMIT } else { program.time_limit };
    let program = Program { time_limit: limit.min(program.time_limit), ..program.clone() };
    let most = if is_interrupted { INTERRUPTED_FINDINGS } else { usize::MAX };
    let mut left = Vec::new();
    let proved = result.found.iter_mut().map(|found| &mut found.finding);
    let mut proved: Vec<&mut Finding> = proved.filter(|finding| finding.status > Status::Warning).collect();
    // Races and atomic-set violations may be intended.
    let is_common = |finding: &Finding| matches!(finding.kind, Kind::DataRace | Kind::AtomicSetViolation);
    proved.sort_by_key(|finding| (Reverse(finding.status), is_common(finding)));
    for (number, finding) in proved.into_iter().enumerate() {
        if number >= most || !is_repeatable(&program, settings, finding)? {
            finding.status = Status::Warning;
            left.push(finding.id.clone());
        }
    }
    Ok((!left.is_empty()).then(|| note(&left, is_interrupted)))
}

fn note(ids: &[String], is_interrupted: bool) -> String {
    let findings = count(ids.len() as u64, "finding", "findings");
    let (runs, are) = match ids.len() {
        1 => ("its runs were", "it is only a warning"),
        _ => ("their runs were", "they are only warnings"),
    };
    let interrupted = if is_interrupted { ", or the interruption left no time for it" } else { "" };
    format!(
        "{findings} did not show again when {runs} repeated alone{interrupted}, so {are} (id {})",
        ids.join(", ")
    )
}

/// Whether one of a finding's runs shows it again. The schedule comes first; a program that starts several JVMs has one for each, so that
/// only the seed leads to all of them.
fn is_repeatable(program: &Program<'_>, settings: &HuntSettings, finding: &Finding) -> Result<bool, Error> {
    let Some(&first) = finding.seeds.first() else { return Ok(true) };
    let by_schedule = control(settings, finding, first);
    let by_seed = (0..finding.seeds.len().min(ATTEMPTS)).map(|index| seeded(settings, finding, index));
    for control in [by_schedule].into_iter().chain(by_seed) {
        if signals::interrupted() {
            return Ok(false);
        }
        if shows_again(program, &control, finding)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// One of the runs that showed a finding, by its seed and goal.
fn seeded(settings: &HuntSettings, finding: &Finding, index: usize) -> Control {
    let (seed, goal) = (finding.seeds[index], finding.goals.get(index).cloned().flatten());
    let strategy = registry::find(&finding.analysis).unwrap_or(registry::default());
    let mut control = settings.run.control(strategy, seed, goal);
    control.is_patient = finding.patient_seeds.contains(&seed);
    control
}

/// The run that a report shows for a finding.
pub(super) fn control(settings: &HuntSettings, finding: &Finding, seed: u64) -> Control {
    // Failures and deadlocks are found by any strategy.
    let strategy = registry::find(&finding.analysis).unwrap_or(registry::default());
    let mut control = settings.run.control(strategy, seed, finding.goals.first().cloned().flatten());
    if let Some(schedule) = finding.schedules.first().filter(|schedule| !schedule.is_empty()) {
        control.strategy = REPLAY.strategy_name();
        control.schedule = Some(schedule.clone());
    } else {
        control.is_patient = finding.patient_seeds.contains(&seed);
    }
    control
}

/// Whether a run shows a finding, and the failure that followed, if it is repeated alone, in a new JVM.
pub(super) fn shows_again(
    program: &Program<'_>,
    control: &Control,
    finding: &Finding,
) -> Result<bool, Error> {
    let fresh = program.run(control.clone(), Print::Keep)?;
    let shown = replay::shown_again(&fresh.outcome, Some(finding));
    Ok(shown.iter().any(|shown| shown.status >= finding.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_tells_which_findings_are_warnings_and_why() {
        let check = |ids: &[&str], is_interrupted: bool, expected: &str| {
            let ids: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
            assert_eq!(note(&ids, is_interrupted), expected);
        };
        check(
            &["a1"],
            false,
            "1 finding did not show again when its runs were repeated alone, so it is only a warning (id a1)",
        );
        check(
            &["a1", "b2"],
            true,
            "2 findings did not show again when their runs were repeated alone, or the interruption left no time for it, so they are only \
             warnings (id a1, b2)",
        );
    }
}
