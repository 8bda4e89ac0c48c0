//! Runs several controlled runs at the same time and gives their results in the order in which they were planned.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use fissure_hunt::{Ending, Outcome};
use fissure_model::settings::Control;

use super::run::Finished;
use crate::progress::Progress;

/// The results of runs. The output of the first run of a hunt is kept.
pub(crate) fn outcomes(finished: Vec<Finished>, first_output: &mut Option<Vec<u8>>) -> Vec<Outcome> {
    let taken = finished.into_iter().map(|Finished { outcome, output }| {
        first_output.get_or_insert(output);
        outcome
    });
    taken.collect()
}

/// Executes runs with `run`, `jobs` at a time, and gives their results and outputs in order. After a run for which `is_last` holds, no run starts, and the
/// results of later runs are dropped, so that the number of jobs makes no difference. If Fissure is interrupted, the results end there.
pub(crate) fn run_all<E: Send>(
    run: &(dyn Fn(&Control) -> Result<Finished, E> + Sync),
    controls: &[Control],
    jobs: usize,
    progress: &Progress,
    is_last: &(dyn Fn(&Outcome) -> bool + Sync),
) -> Result<Vec<Finished>, E> {
    let next = AtomicUsize::new(0);
    let last = AtomicUsize::new(usize::MAX);
    let results: Mutex<Vec<Option<Result<Finished, E>>>> =
        Mutex::new(controls.iter().map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..jobs.min(controls.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    let Some(control) = controls.get(index) else { return };
                    if index > last.load(Ordering::SeqCst) {
                        return;
                    }
                    let result = run(control);
                    progress.step();
                    if result
                        .as_ref()
                        .map_or(true, |finished| is_interrupted(finished) || is_last(&finished.outcome))
                    {
                        last.fetch_min(index, Ordering::SeqCst);
                    }
                    results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
                }
            });
        }
    });
    let last = last.into_inner();
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut outcomes = Vec::new();
    for (index, result) in results.into_iter().enumerate() {
        let Some(result) = result.filter(|_| index <= last) else { break };
        let finished = result?;
        if is_interrupted(&finished) {
            break;
        }
        outcomes.push(finished);
    }
    Ok(outcomes)
}

fn is_interrupted(finished: &Finished) -> bool {
    finished.outcome.ending == Ending::Interrupted
}
