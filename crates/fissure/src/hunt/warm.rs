//! A hunt whose runs are iterations in warm JVMs.
//!
//! Whether an iteration equals a run in a new JVM is checked, not assumed: some runs are executed both ways, a JVM repeats an
//! earlier run from time to time, and what the report shows is repeated in a new JVM. If anything differs, the result is discarded, and the caller
//! hunts in new JVMs.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use fissure_hunt::{Blindness, HuntResult, HuntSettings, Outcome, Runner};
use fissure_model::{
    finding::Status,
    goal::Goal,
    iteration::Isolation,
    record::RunEnd,
    settings::{Control, StrategyName},
};

use super::{
    blindness_of_hunt, equality, pool,
    run::{Finished, Print, Program},
    worker::{Answered, Worker},
};
use crate::{error::Error, launch, progress::Progress, signals};

/// The runs of each kind that are executed in a new JVM too: not the first, which is the first in its JVM as well.
const COMPARED: [u64; 2] = [1, 5];
/// After so many runs a JVM repeats its first one.
const REPEATED: u64 = 24;
/// The JVMs that may be lost, among so many runs, before it is not worth while.
const MOST_LOST: u64 = 3;
const RUNS_PER_LOST: u64 = 8;

/// A result, with the output of the first run.
type Hunted = (HuntResult, Option<Vec<u8>>);

/// Hunts in warm JVMs. Gives the reason if the program's runs cannot be iterations.
pub(super) fn hunt(
    settings: &HuntSettings,
    program: &Program<'_>,
    isolation: Isolation,
    jobs: usize,
    progress: Progress,
) -> Result<Result<Hunted, String>, Error> {
    if program.command.first().is_none_or(|command| !launch::is_java(command)) {
        return Ok(Err("only the command java itself can be repeated in one JVM".to_owned()));
    }
    let mut warm = Warm { program, isolation, jobs, progress, first_output: None, state: Mutex::default() };
    let result = fissure_hunt::hunt(settings, &mut warm);
    warm.progress.clear();
    let verified = result.and_then(|result| {
        warm.verify(&result)?;
        Ok(result)
    });
    match verified {
        Ok(result) => Ok(Ok((result, warm.first_output))),
        Err(Unequal::Reason(reason)) => Ok(Err(reason)),
        Err(Unequal::Error(error)) => Err(error),
    }
}

/// Why a hunt in warm JVMs has no result.
enum Unequal {
    /// Iterations are not possible, or differ from runs in a new JVM.
    Reason(String),
    Error(Error),
}

impl From<Error> for Unequal {
    fn from(error: Error) -> Self {
        Unequal::Error(error)
    }
}

/// Executes runs in warm JVMs.
struct Warm<'a> {
    program: &'a Program<'a>,
    isolation: Isolation,
    jobs: usize,
    progress: Progress,
    first_output: Option<Vec<u8>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The JVMs that execute no run now.
    idle: Vec<Warmed>,
    /// How many runs of each kind there were.
    kinds: Vec<(Control, u64)>,
    runs: u64,
    lost: u64,
    /// The runs that showed something, by seed and goal.
    shown: HashMap<Shown, Vec<(Control, Finished)>>,
}

/// Runs that a report does not tell apart: those with the same seed and goal. Some of them repeat a shortened schedule.
type Shown = (u64, Option<Goal>);

/// A JVM with its first run.
struct Warmed {
    worker: Worker,
    kind: Control,
    first: Option<(Control, Finished)>,
}

impl Runner for Warm<'_> {
    type Error = Unequal;

    fn run(
        &mut self,
        runs: &[Control],
        is_last: &(dyn Fn(&Outcome) -> bool + Sync),
    ) -> Result<Vec<Outcome>, Unequal> {
        let run = |control: &Control| self.run_one(control);
        let finished = pool::run_all(&run, runs, self.jobs, &self.progress, is_last)?;
        let mut outcomes = Vec::new();
        for Finished { outcome, output } in finished {
            self.first_output.get_or_insert(output);
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    fn is_interrupted(&self) -> bool {
        signals::interrupted()
    }

    fn blindness(&self, outcomes: &[Outcome]) -> Option<Blindness> {
        blindness_of_hunt(self.program, outcomes)
    }
}

impl Warm<'_> {
    fn run_one(&self, control: &Control) -> Result<Finished, Unequal> {
        let kind = kind(control);
        let number = self.with(|state| state.count(&kind));
        let Some(mut warmed) = self.warmed(&kind, control)? else { return self.in_new_jvm(control) };
        let finished = match warmed.worker.run(control)? {
            Answered::Finished(finished) => {
                self.keep_warm(warmed, control, &finished)?;
                finished
            }
            Answered::Last(finished, reason) => {
                if let Some(reason) = reason {
                    self.lose(&reason)?;
                }
                finished
            }
            Answered::Refused(reason) => return Err(Unequal::Reason(reason)),
            Answered::Died => {
                self.lose("a JVM ended in the middle of a run")?;
                return self.in_new_jvm(control);
            }
        };
        if COMPARED.contains(&number) && equality::is_comparable(&finished) {
            self.compare(control, &finished)?;
        }
        if shows_something(&finished.outcome) {
            let key = (control.seed, control.goal.clone());
            let kept = (control.clone(), copy(&finished));
            self.with(|state| state.shown.entry(key).or_default().push(kept));
        }
        Ok(*finished)
    }

    /// A JVM for runs of this kind; `None` if none could be started.
    fn warmed(&self, kind: &Control, control: &Control) -> Result<Option<Warmed>, Unequal> {
        let idle = self.with(|state| {
            let index = state.idle.iter().position(|warmed| warmed.kind == *kind)?;
            Some(state.idle.remove(index))
        });
        if let Some(warmed) = idle {
            return Ok(Some(warmed));
        }
        // JVMs for kinds of runs that are no longer needed make room for others.
        let former = self.with(|state| (state.idle.len() > 2 * self.jobs).then(|| state.idle.remove(0)));
        drop(former);
        let worker = Worker::start(self.program, control, self.isolation)?;
        if worker.is_none() && !signals::interrupted() {
            self.lose("the program did not start in a JVM that stays")?;
        }
        Ok(worker.map(|worker| Warmed { worker, kind: kind.clone(), first: None }))
    }

    /// Keeps a JVM for the next run. From time to time it has to repeat its first run.
    fn keep_warm(&self, mut warmed: Warmed, control: &Control, finished: &Finished) -> Result<(), Unequal> {
        match &warmed.first {
            None => warmed.first = Some((control.clone(), copy(finished))),
            Some((first, known))
                if warmed.worker.runs.is_multiple_of(REPEATED) && equality::is_comparable(known) =>
            {
                match warmed.worker.run(first)? {
                    Answered::Finished(again) => {
                        if let Some(difference) = equality::difference(known, &again) {
                            return Err(Unequal::Reason(format!(
                                "{difference} of a run with the seed {} was another when its JVM repeated it",
                                first.seed
                            )));
                        }
                    }
                    _ => return self.lose("a JVM could not repeat a run"),
                }
            }
            Some(_) => {}
        }
        self.with(|state| state.idle.push(warmed));
        Ok(())
    }

    /// Counts a JVM that executes no more runs.
    fn lose(&self, reason: &str) -> Result<(), Unequal> {
        let is_too_often = self.with(|state| {
            state.lost += 1;
            state.lost >= MOST_LOST && state.lost * RUNS_PER_LOST > state.runs
        });
        if is_too_often { Err(Unequal::Reason(reason.to_owned())) } else { Ok(()) }
    }

    fn in_new_jvm(&self, control: &Control) -> Result<Finished, Unequal> {
        Ok(self.program.run(control.clone(), Print::Keep)?)
    }

    /// Compares a run with the same one in a new JVM.
    fn compare(&self, control: &Control, finished: &Finished) -> Result<(), Unequal> {
        let fresh = self.in_new_jvm(control)?;
        match equality::difference(finished, &fresh) {
            Some(difference) if !signals::interrupted() => Err(Unequal::Reason(format!(
                "{difference} of a run with the seed {} was another in a JVM that had executed the program before",
                control.seed
            ))),
            _ => Ok(()),
        }
    }

    /// Repeats the runs that the findings of a report show, in new JVMs.
    fn verify(&self, result: &HuntResult) -> Result<(), Unequal> {
        let mut verified: Vec<Shown> = Vec::new();
        for found in &result.found {
            let finding = &found.finding;
            let Some(&seed) = finding.seeds.first().filter(|_| finding.status > Status::Warning) else {
                continue;
            };
            let key = (seed, finding.goals.first().cloned().flatten());
            if verified.contains(&key) {
                continue;
            }
            for (control, known) in self.with(|state| state.shown.remove(&key)).unwrap_or_default() {
                self.compare(&control, &known)?;
            }
            verified.push(key);
        }
        Ok(())
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    /// The number of the next run of a kind, from 0.
    fn count(&mut self, kind: &Control) -> u64 {
        self.runs += 1;
        match self.kinds.iter_mut().find(|(known, _)| known == kind) {
            Some((_, runs)) => {
                *runs += 1;
                *runs - 1
            }
            None => {
                self.kinds.push((kind.clone(), 1));
                0
            }
        }
    }
}

/// What determines how classes are instrumented: a JVM executes only runs that agree in it.
fn kind(control: &Control) -> Control {
    Control {
        strategy: StrategyName::new(""),
        seed: 0,
        pause: 0,
        goal: None,
        schedule: None,
        is_patient: false,
        steps: 0,
        ..control.clone()
    }
}

/// Whether a report may show a run.
fn shows_something(outcome: &Outcome) -> bool {
    outcome.end() != RunEnd::Finished
        || outcome.accounts().any(|run| !run.failures.is_empty())
        || outcome.findings().any(|finding| finding.status > Status::Warning)
}

fn copy(finished: &Finished) -> Finished {
    Finished { outcome: finished.outcome.clone(), output: finished.output.clone() }
}
