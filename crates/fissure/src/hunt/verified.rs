//! Whether findings show again when their runs are repeated alone. Runs that go on at the same time may disturb each other, by a port or a
//! file that only one of them can have.

use fissure_hunt::{Found, HuntResult, HuntSettings};
use fissure_model::{
    finding::{Finding, Status},
    settings::Control,
};
use fissure_schedule::strategy::{REPLAY, registry};

use super::run::{Print, Program};
use crate::{error::Error, replay, signals};

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
