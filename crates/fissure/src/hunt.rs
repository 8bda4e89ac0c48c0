//! `fissure hunt`: runs a program many times with its threads under control, makes atomicity violations happen, and reports the
//! failures that they cause.
//!
//! [`fissure_hunt`] decides which runs to make and what they show. Here are its options, the processes that are its runs ([`run`],
//! [`pool`]), and its result as a report ([`summary`]).

mod course;
mod equality;
mod options;
mod pool;
mod process;
mod run;
mod run_notes;
mod shard;
mod summary;
mod verified;
mod warm;
mod worker;

use std::{
    env,
    ffi::OsString,
    thread,
    time::{Duration, Instant},
};

use fissure_hunt::{
    Blindness, Ending, HuntResult, HuntSettings, LEAST_JUDGING_RUNS, Outcome, Problem, Process, Runner, Shard,
};
use fissure_model::{
    finding::{Status, fingerprint},
    pointcut::Pointcut,
    settings::{Control, SetRules},
};
use fissure_report::{Exit, Report};

pub(crate) use course::{Course, Hunted};
pub(crate) use options::{HuntArguments, IsolationName, ScheduleArguments, config_of};
pub(crate) use pool::Manner;
pub(crate) use run::{Finished, Iterated, Print, Program};
pub(crate) use run_notes::count;
pub(crate) use summary::Summary;
pub(crate) use warm::WarmJvms;
pub(crate) use worker::{Answered, Worker};

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

/// The time of a hunt for which neither a time nor a number of runs is given.
const BUDGET: Duration = Duration::from_secs(20);
/// How many runs may judge causes at least if each of them is one of a build tool or a script, which takes seconds.
const LEAST_JUDGING_RUNS_OF_TOOLS: u64 = 16;
/// No hunt makes so many runs in its time.
const MOST_RUNS_IN_TIME: u64 = 1 << 40;

/// The note about a command that runs tests.
const TESTS: &str = "`fissure test` hunts in the tests of a Maven or Gradle project one by one, in warm JVMs, and is much faster";

/// Carries the command out. An error means that the command line was bad and nothing was run.
pub(crate) fn run(options: &HuntArguments) -> Result<Code, Error> {
    if options.command.first().is_none_or(|program| program.is_empty()) {
        return Err(Error::NoCommand);
    }
    let runs = options.runs.unwrap_or(MOST_RUNS_IN_TIME);
    let last = runs.max(options.reference_runs).checked_add(options.profile);
    if last.and_then(|last| options.seed.checked_add(last)).is_none() {
        return Err(Error::SeedTooLarge);
    }
    let (shard, remarks) = match options.shard {
        Some(shard) => (shard, Vec::new()),
        None => shard::from_environment(|name| env::var(name).ok())?,
    };
    if shard.runs(runs) == 0 {
        return Err(Error::EmptyShard { shard: shard.to_string(), runs });
    }
    let reporting = Reporting::prepare_for_hunt(&options.reporting, options.asks_for_violations())?;
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
        runs: options.runs.map(|runs| shard.runs(runs)),
        reference_runs: options.reference_runs,
        profiling_runs: options.profile,
        learns: options.learn == YesNo::Yes,
        until_bug: options.until_bug,
        seeks_causes: !options.until_bug,
        minimises: !options.no_minimise,
        aims: options.aims(),
        only: options.kinds(),
        run: options.scheduling.run_settings(sets),
    }
}

fn hunt(options: &HuntArguments, scope: &[Pointcut], settings: &HuntSettings) -> Result<Report, Error> {
    agent::check_platform()?;
    let folder = run_folder::create()?;
    let program = Program {
        command: &options.command,
        directory: None,
        scope,
        atomic: &options.scheduling.atomic,
        time_limit: options.scheduling.time_limit(),
        agent: agent::locate(folder.path())?,
        locality: match options.scheduling.is_static {
            true => Some(locality::prepare(&options.command, folder.path())?),
            false => None,
        },
        folder: folder.path(),
        iterated: Iterated::default(),
        is_debugged: false,
    };
    let _interruption = Interruption::install();
    let clock = Clock::start(options.budget.or(options.runs.is_none().then_some(BUDGET)));
    let manner = Manner { jobs: jobs(options.jobs), is_backwards: options.backwards };
    let course = Course {
        settings,
        program: &program,
        isolation: options.isolation.into(),
        manner,
        clock,
        progress: &|clock| progress(settings, clock),
    };
    let Hunted { result, executed, notices, has_unrepeated } = course.hunt(&mut WarmJvms::default())?;
    if result.problem.is_some() {
        output::pass_on(&executed.first_output.unwrap_or_default());
    }
    let summary = Summary {
        command: &options.command,
        scheduling: &options.scheduling,
        config: options.reporting.config.as_deref(),
        settings,
        scope,
        is_interrupted: signals::interrupted(),
        has_unrepeated,
        counts_violations: options.reporting.fail_on.is_some() || options.asks_for_violations(),
    };
    let runs_tests = result.processes.iter().any(|jvm| process::is_of_build_tool(&jvm.command));
    let mut report = summary.report(result);
    report.notices.extend(notices);
    report.notices.extend(runs_tests.then(|| TESTS.to_owned()));
    report.digest = Some(executed.digest);
    Ok(report)
}

/// Notes about the runs of a hunt that are not about its findings.
pub(crate) fn run_notices(result: &HuntResult, scheduling: &ScheduleArguments) -> Vec<String> {
    let mut notices = run_notes::reference_notices(&result.references);
    notices.extend(run_notes::notices(&result.facts, (scheduling.time_limit, scheduling.steps)));
    notices
}

/// How many runs go on at the same time.
pub(crate) fn jobs(wanted: Option<u32>) -> usize {
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    wanted.map_or_else(processors, |jobs| jobs as usize)
}

/// Hunts in new JVMs.
fn hunt_in_processes(
    settings: &HuntSettings,
    program: &Program<'_>,
    manner: Manner,
    clock: Clock,
    progress: Progress,
) -> Result<(HuntResult, Executed), Error> {
    let mut processes = Processes { program, manner, clock, progress, executed: Executed::default() };
    let result = fissure_hunt::hunt(settings, &mut processes);
    processes.progress.clear();
    Ok((result?, processes.executed))
}

/// The progress of a hunt with these settings.
fn progress(settings: &HuntSettings, clock: Clock) -> Progress {
    let Some(runs) = settings.runs else {
        return Progress::of_hunt(clock.budget.unwrap_or(BUDGET));
    };
    let profiling_runs = |predicts| if predicts { settings.profiling_runs } else { 0 };
    let all = settings.strategies.iter().map(|strategy| runs + profiling_runs(strategy.predicts));
    Progress::of_runs(settings.reference_runs + all.sum::<u64>())
}

/// The time of a hunt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    begun: Instant,
    /// `None` if there is no limit.
    budget: Option<Duration>,
}

impl Clock {
    pub(crate) fn start(budget: Option<Duration>) -> Self {
        Clock { begun: Instant::now(), budget }
    }

    /// The hunt begins again, with the time that is left, but at least half of it.
    fn begin_again(&mut self) {
        let elapsed = self.begun.elapsed();
        let budget = self.budget.map(|budget| budget.saturating_sub(elapsed).max(budget / 2));
        *self = Clock::start(budget);
    }

    /// The time since the hunt began, if its time is limited.
    fn elapsed(&self) -> Option<Duration> {
        self.budget.map(|_| self.begun.elapsed())
    }

    /// The whole time; `None` if there is no limit.
    pub(crate) fn budget(&self) -> Option<Duration> {
        self.budget
    }

    /// The share of the time that is spent.
    fn spent(&self) -> f64 {
        self.budget.map_or(0.0, |budget| self.begun.elapsed().as_secs_f64() / budget.as_secs_f64())
    }
}

/// Executes the runs of a hunt, each as a process.
struct Processes<'a> {
    program: &'a Program<'a>,
    manner: Manner,
    clock: Clock,
    progress: Progress,
    executed: Executed,
}

/// What is kept of all runs of a hunt, beside their outcomes.
#[derive(Debug, Default)]
pub(crate) struct Executed {
    /// The output of the first run.
    pub(crate) first_output: Option<Vec<u8>>,
    /// A digest of the schedules and exit codes so far.
    pub(crate) digest: String,
}

impl Executed {
    /// Adds runs in their order, and gives their outcomes.
    fn add(&mut self, finished: Vec<Finished>) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for Finished { outcome, output } in finished {
            self.first_output.get_or_insert(output);
            // Runs that were not wholly under control differ from hunt to hunt.
            let is_comparable = equality::is_comparable(&outcome);
            let schedules: Vec<String> =
                outcome.accounts().filter(|_| is_comparable).map(|run| run.schedule.to_string()).collect();
            let (seed, ending) = (outcome.seed.to_string(), format!("{:?}", outcome.ending));
            let ending = if is_comparable { ending.as_str() } else { "not under control" };
            let parts: Vec<&str> = [self.digest.as_str(), &seed, ending]
                .into_iter()
                .chain(schedules.iter().map(String::as_str))
                .collect();
            self.digest = fingerprint(&parts);
            outcomes.push(outcome);
        }
        outcomes
    }
}

impl Runner for Processes<'_> {
    type Error = Error;

    fn run(
        &mut self,
        runs: &[Control],
        is_last: &(dyn Fn(&Outcome) -> bool + Sync),
    ) -> Result<Vec<Outcome>, Error> {
        let run = |control: &Control| self.program.run(control.clone(), Print::Keep);
        let finished = pool::run_all(&run, runs, self.manner, &self.progress, is_last)?;
        Ok(self.executed.add(finished))
    }

    fn is_interrupted(&self) -> bool {
        signals::interrupted()
    }

    fn spent(&self) -> f64 {
        self.clock.spent()
    }

    fn elapsed(&self) -> Option<Duration> {
        self.clock.elapsed()
    }

    fn least_judging_runs(&self) -> u64 {
        match self.program.command.first().is_some_and(|program| launch::is_java(program)) {
            true => LEAST_JUDGING_RUNS,
            false => LEAST_JUDGING_RUNS_OF_TOOLS,
        }
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
