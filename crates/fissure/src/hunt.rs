//! `fissure hunt`: runs a program many times with its threads under control, makes atomicity violations happen, and reports the
//! failures that they cause.
//!
//! [`fissure_hunt`] decides which runs to make and what they show. Here are its options, the processes that are its runs ([`run`],
//! [`pool`]), and its result as a report ([`summary`]).

mod cause;
mod equality;
mod options;
mod pool;
mod process;
mod run;
mod run_notes;
mod shard;
mod summary;
mod warm;
mod worker;

use std::{env, ffi::OsString, thread};

use fissure_hunt::{Blindness, Ending, HuntSettings, Outcome, Problem, Process, Runner, Shard};
use fissure_model::{
    finding::Status,
    pointcut::Pointcut,
    settings::{Control, SetRules},
};
use fissure_report::{Exit, Report};

use options::IsolationName;
pub(crate) use options::{HuntArguments, ScheduleArguments, config_of};
pub(crate) use run::{Print, Program};
pub(crate) use run_notes::count;

use crate::{
    agent,
    args::YesNo,
    collect::Jvm,
    config::Config,
    error::Error,
    launch, locality,
    output::{self, Stream},
    progress::Progress,
    reporting::Reporting,
    run_folder,
    signals::{self, Interruption},
    verdict::{self, Code, Needs, WatchedProgram},
};
use summary::Summary;

/// Carries the command out. An error means that the command line was bad and nothing was run.
pub(crate) fn run(options: &HuntArguments) -> Result<Code, Error> {
    if options.command.first().is_none_or(|program| program.is_empty()) {
        return Err(Error::NoCommand);
    }
    let last = options.runs.max(options.reference_runs).checked_add(options.profile);
    if last.and_then(|last| options.seed.checked_add(last)).is_none() {
        return Err(Error::SeedTooLarge);
    }
    let (shard, remarks) = match options.shard {
        Some(shard) => (shard, Vec::new()),
        None => shard::from_environment(|name| env::var(name).ok())?,
    };
    if shard.runs(options.runs) == 0 {
        return Err(Error::EmptyShard { shard: shard.to_string(), runs: options.runs });
    }
    let reporting = Reporting::prepare_for_hunt(&options.reporting)?;
    let sets = Config::load(options.reporting.config.as_deref())?.atomic_sets;
    let scope = reporting.scope(&options.scheduling.scope);
    let settings = settings(options, sets, shard);
    let mut report = hunt(options, &scope, &settings)
        .unwrap_or_else(|error| Report { problem: Some(error.to_string()), ..Report::default() });
    report.notices.splice(0..0, remarks);
    reporting.finish(report, Stream::Error)
}

fn settings(options: &HuntArguments, sets: SetRules, shard: Shard) -> HuntSettings {
    HuntSettings {
        strategies: options.scheduling.strategies(),
        seed: options.seed,
        shard,
        runs: shard.runs(options.runs),
        reference_runs: options.reference_runs,
        profiling_runs: options.profile,
        learns: options.learn == YesNo::Yes,
        until_bug: options.until_bug,
        minimises: !options.no_minimise,
        run: options.scheduling.run_settings(sets),
    }
}

fn hunt(options: &HuntArguments, scope: &[Pointcut], settings: &HuntSettings) -> Result<Report, Error> {
    agent::check_platform()?;
    let folder = run_folder::create()?;
    let program = Program {
        command: &options.command,
        scope,
        atomic: &options.scheduling.atomic,
        time_limit: options.scheduling.time_limit(),
        agent: agent::locate(folder.path())?,
        locality: match options.scheduling.is_static {
            true => Some(locality::prepare(&options.command, folder.path())?),
            false => None,
        },
        folder: folder.path(),
    };
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let jobs = options.jobs.map_or_else(processors, |jobs| jobs as usize);
    let _interruption = Interruption::install();
    let mut notice = None;
    let mut repeated = None;
    if options.isolation != IsolationName::Jvm {
        match warm::hunt(settings, &program, options.isolation.into(), jobs, progress(settings))? {
            Ok(result) => repeated = Some(result),
            Err(reason) => notice = Some(format!("every run had its own JVM: {reason}")),
        }
    }
    let (result, output) = match repeated {
        Some(result) => result,
        None => {
            let mut processes =
                Processes { program: &program, jobs, progress: progress(settings), first_output: None };
            let result = fissure_hunt::hunt(settings, &mut processes);
            processes.progress.clear();
            (result?, processes.first_output)
        }
    };
    if result.problem.is_some() {
        output::pass_on(&output.unwrap_or_default());
    }
    let is_interrupted = signals::interrupted();
    let mut report = Summary { options, settings, scope, is_interrupted }.report(result);
    report.notices.extend(notice);
    Ok(report)
}

/// The progress of a hunt with these settings.
fn progress(settings: &HuntSettings) -> Progress {
    let profiling_runs = |predicts| if predicts { settings.profiling_runs } else { 0 };
    let all = settings.strategies.iter().map(|strategy| settings.runs + profiling_runs(strategy.predicts));
    Progress::of_runs(settings.reference_runs + all.sum::<u64>())
}

/// Executes the runs of a hunt, each as a process.
struct Processes<'a> {
    program: &'a Program<'a>,
    jobs: usize,
    progress: Progress,
    /// The output of the first run.
    first_output: Option<Vec<u8>>,
}

impl Runner for Processes<'_> {
    type Error = Error;

    fn run(
        &mut self,
        runs: &[Control],
        is_last: &(dyn Fn(&Outcome) -> bool + Sync),
    ) -> Result<Vec<Outcome>, Error> {
        let run = |control: &Control| self.program.run(control.clone(), Print::Keep);
        let finished = pool::run_all(&run, runs, self.jobs, &self.progress, is_last)?;
        Ok(pool::outcomes(finished, &mut self.first_output))
    }

    fn is_interrupted(&self) -> bool {
        signals::interrupted()
    }

    fn blindness(&self, outcomes: &[Outcome]) -> Option<Blindness> {
        blindness_of_hunt(self.program, outcomes)
    }
}

/// Why the runs of a hunt showed too little for a result, if they did.
fn blindness_of_hunt(program: &Program<'_>, outcomes: &[Outcome]) -> Option<Blindness> {
    let blindness = blindness(program, outcomes)?;
    let is_one_thread = blindness == verdict::Blindness::OneThread;
    Some(Blindness { is_one_thread, text: blindness.to_string() })
}

/// The reason why the runs of a hunt say nothing about the program, in words.
fn problem_text(problem: Problem, time_limit: u64) -> String {
    match problem {
        Problem::Blind(text) => text,
        Problem::Interrupted => "interrupted before there was a result".to_owned(),
        Problem::TimeLimit => format!(
            "every run was killed at the time limit of {time_limit} s before it showed anything: raise --time-limit, or run something \
             that ends by itself"
        ),
        Problem::VirtualThreads => run_notes::UNCONTROLLED_VIRTUAL_THREADS.to_owned(),
    }
}

/// Why runs showed too little for a result, if they did.
pub(crate) fn blindness(program: &Program<'_>, outcomes: &[Outcome]) -> Option<verdict::Blindness> {
    let name = program.command.first()?;
    let watched = WatchedProgram {
        program: &name.to_string_lossy(),
        java: launch::is_java(name),
        scope: program.scope,
        needs: Needs::Threads,
    };
    // A warning may concern a single thread, so it is no evidence that there was more to see.
    let evidence = |process: &Process| Jvm {
        hello: process.hello.clone(),
        findings: process
            .findings
            .iter()
            .filter(|finding| finding.status > Status::Warning)
            .cloned()
            .collect(),
        coverage: process.coverage.clone(),
        internal_errors: process.internal_errors.clone(),
        ..Jvm::default()
    };
    let jvms: Vec<Jvm> = outcomes.iter().flat_map(|outcome| &outcome.processes).map(evidence).collect();
    // Other schedules may lead more threads into the code in scope, so this is checked at the end of a hunt.
    let killed = |outcome: &Outcome| match outcome.ending {
        Ending::Ended(exit @ Exit::Signal(_)) => Some(exit),
        _ => None,
    };
    let all_killed = outcomes.iter().map(killed).collect::<Option<Vec<Exit>>>().unwrap_or_default();
    let blindness = match (verdict::blindness(&watched, &jvms), all_killed.first()) {
        (Some(verdict::Blindness::NothingSeen), Some(exit)) => Some(verdict::Blindness::Killed(*exit)),
        (blindness, _) => blindness,
    };
    blindness.filter(|blindness| !matches!(blindness, verdict::Blindness::OneThreadInScope { .. }))
}

/// A command as reports give it.
pub(crate) fn words(command: &[OsString]) -> Vec<String> {
    command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}
