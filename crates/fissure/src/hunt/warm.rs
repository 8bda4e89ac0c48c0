//! A hunt whose runs are iterations in warm JVMs.
//!
//! Whether an iteration equals a run in a new JVM is checked, not assumed: some runs are executed both ways, a JVM repeats an
//! earlier run from time to time, and what the report shows is repeated in a new JVM. If anything differs, the result is discarded, and the caller
//! hunts in new JVMs.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, PoisonError},
    thread,
};

use fissure_hunt::{Blindness, Ending, HuntResult, HuntSettings, Outcome, Runner};
use fissure_model::{
    finding::Status,
    goal::Goal,
    iteration::Isolation,
    record::RunEnd,
    settings::{Control, Patterns, StrategyName},
};

use super::{
    Clock, Course, Executed, blindness_of_hunt,
    equality::{self, Digest},
    pool::{self, Manner},
    run::{Finished, Print, Program},
    verified,
    worker::{Answered, Worker},
};
use crate::{error::Error, launch, progress::Progress, signals};

/// The runs of each kind that are executed in a new JVM too: not the first, which is the first in its JVM as well.
const COMPARED: [u64; 2] = [1, 5];
/// After so many runs a JVM repeats its first one, and again each time it has executed so many more.
const REPEATED: u64 = 24;
const REPEATED_LATER: u64 = 256;
/// The JVMs that may be lost, among so many runs, before it is not worth while.
const MOST_LOST: u64 = 3;
const RUNS_PER_LOST: u64 = 8;

/// How many runs that showed something are kept to be compared at the end. Others only have to show their finding again.
const MOST_SHOWN: usize = 20_000;

/// A result, with what is kept of the runs.
type Hunted = (HuntResult, Executed);

/// The JVMs that a hunt left, for another one in a program that differs only in its arguments.
#[derive(Default)]
pub(crate) struct WarmJvms(Vec<Warmed>);

impl WarmJvms {
    /// Ends all of them.
    pub(crate) fn end(&mut self) {
        self.0.clear();
    }

    /// Adds a JVM that has executed runs like this one.
    pub(crate) fn add(&mut self, worker: Worker, control: &Control) {
        self.0.push(Warmed { worker, kind: kind(control), first: None });
    }
}

/// Hunts in warm JVMs. Gives the reason if the program's runs cannot be iterations.
pub(super) fn hunt(
    course: &Course<'_>,
    progress: Progress,
    jvms: &mut WarmJvms,
) -> Result<Result<Hunted, String>, Error> {
    let Course { settings, program, isolation, manner, clock, .. } = *course;
    if program.command.first().is_none_or(|command| !launch::is_java(command)) {
        return Ok(Err("only the command java itself can be repeated in one JVM".to_owned()));
    }
    let mut warm = Warm {
        program,
        isolation,
        manner,
        clock,
        progress,
        executed: Executed::default(),
        state: Mutex::new(State { idle: std::mem::take(&mut jvms.0), ..State::default() }),
    };
    let result = fissure_hunt::hunt(settings, &mut warm);
    warm.progress.clear();
    let verified = result.and_then(|result| {
        warm.verify(settings, &result)?;
        Ok(result)
    });
    jvms.0 = warm.with(|state| std::mem::take(&mut state.idle));
    // They will execute another program, of which they know no run yet.
    jvms.0.iter_mut().for_each(|warmed| warmed.first = None);
    match verified {
        Ok(result) => Ok(Ok((result, warm.executed))),
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
    manner: Manner,
    clock: Clock,
    progress: Progress,
    executed: Executed,
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
    /// Whether a run reached the time limit.
    has_reached_limit: bool,
    /// The runs that showed something.
    shown: HashMap<Shown, Probed>,
    /// A run that was executed before there was any warm JVM.
    probed: Option<Probed>,
}

/// A run that another is compared with.
#[derive(Debug)]
struct Probed {
    control: Control,
    digest: Digest,
    is_comparable: bool,
}

/// A run as a report names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Shown {
    seed: u64,
    goal: Option<Goal>,
    is_patient: bool,
    /// The shortened schedule that it followed.
    schedule: Option<String>,
}

/// A JVM with its first run.
struct Warmed {
    worker: Worker,
    kind: Control,
    first: Option<(Control, Digest)>,
}

impl Runner for Warm<'_> {
    type Error = Unequal;

    fn run(
        &mut self,
        runs: &[Control],
        is_last: &(dyn Fn(&Outcome) -> bool + Sync),
    ) -> Result<Vec<Outcome>, Unequal> {
        if self.with(|state| state.runs == 0) {
            self.probe(runs)?;
        }
        let run = |control: &Control| self.run_one(control);
        let finished = pool::run_all(&run, runs, self.manner, &self.progress, is_last)?;
        Ok(self.executed.add(finished))
    }

    fn is_interrupted(&self) -> bool {
        signals::interrupted()
    }

    fn spent(&self) -> f64 {
        self.clock.spent()
    }

    fn blindness(&self, outcomes: &[Outcome]) -> Option<Blindness> {
        blindness_of_hunt(self.program, outcomes)
    }
}

impl Warm<'_> {
    /// Before there is any warm JVM, executes one of the first runs in a new one: a warm JVM may keep a port or a file, so that later ones
    /// could fail as well.
    fn probe(&self, runs: &[Control]) -> Result<(), Unequal> {
        if let Some(control) = runs.get(COMPARED[0] as usize) {
            // The first warm JVM starts meanwhile, but does not run the program yet.
            let is_started = self.with(|state| !state.idle.is_empty());
            let start =
                || if is_started { Ok(None) } else { Worker::start(self.program, control, self.isolation) };
            let (fresh, started) = thread::scope(|scope| {
                let started = scope.spawn(start);
                (self.in_new_jvm(control), started.join().expect("the start of a JVM does not panic"))
            });
            let fresh = fresh?;
            let warmed = started?.map(|worker| Warmed { worker, kind: kind(control), first: None });
            self.with(|state| state.idle.extend(warmed));
            let is_comparable = equality::is_comparable(&fresh.outcome);
            let probed = Probed { control: control.clone(), digest: Digest::new(&fresh), is_comparable };
            self.with(|state| state.probed = Some(probed));
        }
        Ok(())
    }

    /// Whether a run went as the same one before there was any warm JVM, if it is that one.
    fn check_probed(&self, control: &Control, finished: &Finished) -> Result<bool, Unequal> {
        let Some(probed) = self.with(|state| state.probed.take_if(|probed| probed.control == *control))
        else {
            return Ok(false);
        };
        let digest = Digest::new(finished);
        let difference = match probed.is_comparable && equality::is_comparable(&finished.outcome) {
            true => probed.digest.difference(&digest),
            false => probed.digest.coarse_difference(&digest),
        };
        match difference.filter(|_| !signals::interrupted()) {
            Some(difference) => {
                tracing::info!(difference, ?finished, "a run in a warm JVM was another");
                Err(unequal(difference, control))
            }
            None => Ok(true),
        }
    }

    fn run_one(&self, control: &Control) -> Result<Finished, Unequal> {
        let kind = kind(control);
        let number = self.with(|state| state.count(&kind));
        let Some(mut warmed) = self.warmed(&kind, control)? else { return self.in_new_jvm(control) };
        let finished = match warmed.worker.run(self.program, control)? {
            Answered::Finished(finished) => {
                self.keep_warm(warmed, control, &finished)?;
                finished
            }
            Answered::Last(finished, reason) => {
                if let Some(error) = finished.outcome.internal_errors().next() {
                    return Err(Unequal::Reason(format!("Fissure failed in a JVM that stays: {error}")));
                }
                if let Some(reason) = reason {
                    self.lose(&reason)?;
                }
                if finished.outcome.ending == Ending::TimeLimit {
                    return self.without_end(control, *finished);
                }
                finished
            }
            Answered::Refused(reason) => return Err(Unequal::Reason(reason)),
            Answered::Retired(reason) => {
                self.lose(&reason)?;
                return self.in_new_jvm(control);
            }
            Answered::Died => {
                self.lose("a JVM ended in the middle of a run")?;
                return self.in_new_jvm(control);
            }
        };
        let is_checked = self.check_probed(control, &finished)?;
        if !is_checked && COMPARED.contains(&number) && equality::is_comparable(&finished.outcome) {
            self.compare(control, &Digest::new(&finished))?;
        }
        if shows_something(&finished.outcome) {
            let followed = finished.outcome.accounts().next().map(|run| run.schedule.to_string());
            let schedule = followed.filter(|_| control.schedule.is_some());
            let (seed, goal, is_patient) = (control.seed, control.goal.clone(), control.is_patient);
            let shown = Shown { seed, goal, is_patient, schedule };
            let is_comparable = equality::is_comparable(&finished.outcome);
            let kept = Probed { control: control.clone(), digest: Digest::new(&finished), is_comparable };
            self.with(|state| {
                if state.shown.len() < MOST_SHOWN {
                    state.shown.insert(shown, kept);
                }
            });
        }
        Ok(*finished)
    }

    /// A run that did not end in a warm JVM. The first one is repeated in a new JVM, because it might end there.
    fn without_end(&self, control: &Control, finished: Finished) -> Result<Finished, Unequal> {
        let is_first = self.with(|state| !std::mem::replace(&mut state.has_reached_limit, true));
        if !is_first {
            return Ok(finished);
        }
        let fresh = self.in_new_jvm(control)?;
        match fresh.outcome.ending {
            Ending::Ended(_) => Err(Unequal::Reason(format!(
                "a run with the seed {} did not end in a JVM that stays",
                control.seed
            ))),
            Ending::TimeLimit | Ending::Interrupted => Ok(fresh),
        }
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
        let former =
            self.with(|state| (state.idle.len() > 2 * self.manner.jobs).then(|| state.idle.remove(0)));
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
            None if equality::is_comparable(&finished.outcome) => {
                warmed.first = Some((control.clone(), Digest::new(finished)));
            }
            Some((first, known)) if is_repeated(warmed.worker.runs) => {
                match warmed.worker.run(self.program, first)? {
                    Answered::Finished(again) => {
                        if let Some(difference) = known.difference(&Digest::new(&again)) {
                            tracing::info!(difference, ?again, "a run was another when it was repeated");
                            return Err(Unequal::Reason(format!(
                                "{difference} of a run with the seed {} was another when its JVM repeated it",
                                first.seed
                            )));
                        }
                    }
                    _ => return self.lose("a JVM could not repeat a run"),
                }
            }
            _ => {}
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
    fn compare(&self, control: &Control, known: &Digest) -> Result<(), Unequal> {
        let fresh = self.in_new_jvm(control)?;
        match known.difference(&Digest::new(&fresh)).filter(|_| !signals::interrupted()) {
            Some(difference) => {
                tracing::info!(difference, ?fresh, "a run in a new JVM was another");
                Err(unequal(difference, control))
            }
            None => Ok(()),
        }
    }

    /// Repeats the runs that the findings of a report show, in new JVMs, when no other JVM of the hunt exists any more.
    fn verify(&self, settings: &HuntSettings, result: &HuntResult) -> Result<(), Unequal> {
        let mut is_verified: HashSet<Shown> = HashSet::new();
        // The JVMs of a program with arguments of its own serve other programs after this one.
        if self.program.iterated.arguments.is_none() {
            self.with(|state| state.idle.clear());
        }
        for found in &result.found {
            let finding = &found.finding;
            let Some(&seed) = finding.seeds.first().filter(|_| finding.status > Status::Warning) else {
                continue;
            };
            let schedule = finding.schedules.first().filter(|_| finding.shortened).cloned();
            let goal = finding.goals.first().cloned().flatten();
            let is_patient = schedule.is_none() && finding.patient_seeds.contains(&seed);
            let key = Shown { seed, goal, is_patient, schedule };
            // Several findings may be shown by one run.
            if !is_verified.insert(key.clone()) {
                continue;
            }
            match self.with(|state| state.shown.remove(&key)) {
                Some(shown) if shown.is_comparable => self.compare(&shown.control, &shown.digest)?,
                _ => {
                    let control = verified::control(settings, finding, seed);
                    if !verified::shows_again(self.program, &control, finding)? && !signals::interrupted() {
                        return Err(unequal("what happened", &control));
                    }
                }
            }
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
        depth: 0,
        goal: None,
        schedule: None,
        is_patient: false,
        steps: 0,
        // Predictions are made from what is observed anyway.
        patterns: Patterns { predictions: false, ..control.patterns },
        ..control.clone()
    }
}

fn unequal(difference: &str, control: &Control) -> Unequal {
    Unequal::Reason(format!(
        "{difference} of a run with the seed {} was another in a JVM that had executed the program before",
        control.seed
    ))
}

/// Whether a report may show a run.
fn shows_something(outcome: &Outcome) -> bool {
    outcome.end() != RunEnd::Finished
        || outcome.accounts().any(|run| !run.failures.is_empty())
        || outcome.findings().any(|finding| finding.status > Status::Warning)
}

/// Whether a JVM repeats its first run after so many: often at the beginning, and then less and less.
fn is_repeated(runs: u64) -> bool {
    runs == REPEATED || runs.is_multiple_of(REPEATED_LATER)
}
