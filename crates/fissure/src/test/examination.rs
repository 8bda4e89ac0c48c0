//! Executes every test once with a sequential schedule, in warm JVMs: does it use several threads, and does it fail anyway?

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use fissure_hunt::{Ending, Outcome};
use fissure_model::{
    exit::Exit,
    iteration::Isolation,
    record::{Cause, RunEnd},
    settings::Control,
};
use fissure_report::tested::TestVerdict;
use fissure_schedule::strategy::SEQUENTIAL;

use super::{hunting::Session, launcher::EXITED, listing::Test};
use crate::{
    error::Error,
    hunt::{Answered, Finished, Print, Program, WarmJvms, Worker},
    progress::Progress,
    signals,
};

/// The exit code of the launcher if there is no such test.
const NO_SUCH_TEST: i32 = 3;

/// What one run of a test showed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Examined {
    /// How many threads it had; zero if that is not known.
    pub(crate) threads: u64,
    /// Why it is not hunted in, if so, with a message.
    pub(crate) verdict: Option<(TestVerdict, Option<String>)>,
    pub(crate) milliseconds: u64,
}

/// Examines tests of one module. The JVMs are left for the hunts.
pub(crate) fn examine(
    session: &Session<'_>,
    tests: &[&Test],
    jvms: &mut WarmJvms,
) -> Result<Vec<Examined>, Error> {
    let progress = Progress::of_tests(tests.len() as u64);
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Examined>>> = Mutex::new(vec![None; tests.len()]);
    let jobs = session.jobs().min(tests.len().div_ceil(4)).max(1);
    let is_refused = AtomicBool::new(session.isolation() == Isolation::Jvm);
    let work = || -> Result<Option<(Worker, Control)>, Error> {
        let mut examiner = Examiner { session, worker: None, is_refused: &is_refused };
        while let Some(test) = tests.get(next.fetch_add(1, Ordering::SeqCst)) {
            if signals::interrupted() {
                break;
            }
            let examined = examiner.examine(test)?;
            let index = tests.iter().position(|known| std::ptr::eq(*known, *test)).unwrap_or_default();
            results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(examined);
            progress.step();
        }
        Ok(examiner.worker.map(|worker| (worker, examiner.session.control(&SEQUENTIAL, 0))))
    };
    let finished: Vec<Result<Option<(Worker, Control)>, Error>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let ended = threads.into_iter().map(|thread| thread.join().expect("an examination does not panic"));
        ended.collect()
    });
    progress.clear();
    for left in finished {
        if let Some((worker, control)) = left? {
            jvms.add(worker, &control);
        }
    }
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let untried = || Examined { verdict: Some((TestVerdict::NotTried, None)), ..Examined::default() };
    Ok(results.into_iter().map(|examined| examined.unwrap_or_else(untried)).collect())
}

/// Executes tests one after the other.
struct Examiner<'a> {
    session: &'a Session<'a>,
    worker: Option<Worker>,
    /// Whether tests cannot be repeated in one JVM.
    is_refused: &'a AtomicBool,
}

impl Examiner<'_> {
    fn examine(&mut self, test: &Test) -> Result<Examined, Error> {
        let begun = Instant::now();
        let command = self.session.command(test);
        let program = self.session.program(test, &command);
        let seed = self.session.options.seed;
        let first = self.run(&program, &self.session.control(&SEQUENTIAL, seed))?;
        let mut examined = judge(&first);
        // Another order of threads may be enough for the test to pass.
        if matches!(examined.verdict, Some((TestVerdict::FailsAnyway, _))) && examined.threads > 1 {
            for seed in (seed + 1)..(seed + self.session.options.reference_runs) {
                let again = judge(&self.run(&program, &self.session.control(&SEQUENTIAL, seed))?);
                if !matches!(again.verdict, Some((TestVerdict::FailsAnyway, _))) {
                    examined = again;
                    break;
                }
            }
        }
        examined.milliseconds = begun.elapsed().as_millis() as u64;
        Ok(examined)
    }

    /// Executes a test once, in a warm JVM if possible.
    fn run(&mut self, program: &Program<'_>, control: &Control) -> Result<Finished, Error> {
        if self.is_refused.load(Ordering::SeqCst) {
            return program.run(control.clone(), Print::Keep);
        }
        if self.worker.is_none() {
            self.worker = Worker::start(program, control, self.session.isolation())?;
        }
        let Some(mut worker) = self.worker.take() else { return program.run(control.clone(), Print::Keep) };
        match worker.run(program, control)? {
            Answered::Finished(finished) => {
                self.worker = Some(worker);
                Ok(*finished)
            }
            Answered::Last(finished, _) => Ok(*finished),
            Answered::Refused(_) => {
                self.is_refused.store(true, Ordering::SeqCst);
                drop(worker);
                program.run(control.clone(), Print::Keep)
            }
            Answered::Retired(_) | Answered::Died => {
                drop(worker);
                program.run(control.clone(), Print::Keep)
            }
        }
    }
}

/// What a run with a sequential schedule says about a test.
fn judge(finished: &Finished) -> Examined {
    let outcome = &finished.outcome;
    let coverage = outcome.processes.iter().filter_map(|process| process.coverage.as_ref());
    let (mut threads, mut in_scope) = (0, None);
    for coverage in coverage {
        threads += coverage.threads;
        in_scope = in_scope.max(coverage.threads_in_scope);
    }
    let verdict = verdict(outcome, &finished.output).or_else(|| {
        let is_alone = threads <= 1 || in_scope.is_some_and(|in_scope| in_scope <= 1);
        is_alone.then_some((TestVerdict::SingleThreaded, None))
    });
    Examined { threads, verdict, milliseconds: 0 }
}

/// Why a test is not hunted in, whatever its threads.
fn verdict(outcome: &Outcome, output: &[u8]) -> Option<(TestVerdict, Option<String>)> {
    if let Some(error) = outcome.internal_errors().next() {
        return Some((TestVerdict::Unknown, Some(format!("Fissure itself failed: {error}"))));
    }
    match (outcome.ending, outcome.end()) {
        (Ending::Interrupted, _) => return Some((TestVerdict::NotTried, None)),
        (Ending::TimeLimit, _) => {
            return Some((TestVerdict::NeverEnds, Some("it reached the time limit".to_owned())));
        }
        (_, RunEnd::TooLong) => {
            return Some((TestVerdict::NeverEnds, Some("it reached the limit of steps".to_owned())));
        }
        (_, RunEnd::Deadlock) => {
            return Some((TestVerdict::FailsAnyway, Some("its threads deadlock".to_owned())));
        }
        (_, RunEnd::Hang) => {
            return Some((TestVerdict::FailsAnyway, Some("its threads wait for each other".to_owned())));
        }
        (_, RunEnd::Finished) => {}
    }
    if String::from_utf8_lossy(output).contains(EXITED) {
        return Some((TestVerdict::Exits, Some("it ends the JVM, as System.exit does".to_owned())));
    }
    match outcome.own_exit() {
        Some(Exit::Code(0)) => None,
        Some(Exit::Code(NO_SUCH_TEST)) => Some((
            TestVerdict::Unknown,
            Some("its framework does not find it when it is executed alone".to_owned()),
        )),
        Some(exit) => {
            Some((TestVerdict::FailsAnyway, Some(failure(outcome).unwrap_or_else(|| exit.to_string()))))
        }
        None => None,
    }
}

/// The exception with which a test failed.
fn failure(outcome: &Outcome) -> Option<String> {
    let failures = outcome.accounts().flat_map(|run| &run.failures);
    let mut thrown = failures.filter_map(|failure| match &failure.cause {
        Cause::Exception { class, message } if message.is_empty() => Some(class.clone()),
        Cause::Exception { class, message } => Some(format!("{class}: {message}")),
        Cause::Exit { .. } => None,
    });
    thrown.next()
}
