//! `fissure hunt`: runs a program many times with its threads under control, makes atomicity violations happen, and reports the
//! failures that they cause.
//!
//! Reference runs come first: a failure that they show does not depend on the schedule. Then seeds are tried in rounds, each with a
//! goal ([`acquire_goals`], [`access_goals`], [`predicted_goals`]) and several at a time ([`pool`]); strategies that predict begin
//! with profiling runs. Results are processed in the order of the seeds, so that nothing depends on the number of processors.

mod access_goals;
mod acquire_goals;
mod allocation;
mod blame;
mod merge;
mod minimise;
mod options;
mod pool;
mod predicted_goals;
pub(crate) mod reference;
mod run;
mod run_notes;
mod shard;
#[cfg(test)]
mod testing;

use std::{collections::BTreeSet, env, ffi::OsString, thread};

use fissure_model::{
    finding::{Finding, Kind, Status},
    goal::Goal,
    pointcut::Pointcut,
    record::{Hello, RunEnd, VIRTUAL_THREADS},
    settings::{AccessPoints, Control, SetRules, Wanted},
};
use fissure_report::{Campaign, Report, SeedRange};
use fissure_schedule::strategy::{RANDOM, SEQUENTIAL, registry::StrategyKind};

pub(crate) use options::{HuntArguments, SteeringArguments, config_of};
pub(crate) use run::{Ending, Outcome, Print, Program};
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
    verdict::{self, Blindness, Code, Needs, WatchedProgram},
};
use access_goals::AccessGoals;
use acquire_goals::AcquireGoals;
use merge::{Merged, Tally};
use options::Points;
use predicted_goals::PredictedGoals;
use reference::References;
use run_notes::RunNotes;
use shard::Shard;

/// The note if nothing happened and accesses were no scheduling points.
const ONLY_LOCKS: &str = "threads were preempted at lock operations only: --points fields also preempts them at atomics, volatile \
                          fields and the fields of your classes, and --strategy racefuzzer,assetfuzzer has goals at these";

/// The problem if runs failed, and Fissure rather than the program may be the reason.
const UNCOUNTED: &str = "some runs failed as no reference run does, but Fissure woke a sleeping thread early in them, so they prove \
                         nothing (see the note above): replay one of the seeds to see the failure, or remove the sleeps from the \
                         program and hunt again";

/// The note if nothing happened and some goals at accesses were not tried.
const NOT_TRIED: &str = "not tried: raise --runs, or narrow --scope";

/// The note if nothing happened and some goals at accesses may be unknown.
const CUT: &str =
    "there were too many accesses to remember, so candidate interleavings may be missing: narrow --scope";

/// The note if nothing happened and goals at accesses were not tried because no run could discover them.
const TOO_MANY_ACCESSES: &str = "threads were preempted at lock operations only, because a run with a scheduling point at every access \
                                 did not end: raise --steps or --time-limit, or narrow --scope";

/// Carries the command out. An error means that the command line was bad and nothing was run.
pub(crate) fn run(options: &HuntArguments) -> Result<Code, Error> {
    if options.command.first().is_none_or(|program| program.is_empty()) {
        return Err(Error::NoCommand);
    }
    let strategies = options.steering.strategies();
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
    let scope = reporting.scope(&options.steering.scope);
    let mut report = hunt(options, &scope, strategies, sets, shard)
        .unwrap_or_else(|error| Report { problem: Some(error.to_string()), ..Report::default() });
    report.notices.splice(0..0, remarks);
    reporting.finish(report, Stream::Error)
}

fn hunt(
    options: &HuntArguments,
    scope: &[Pointcut],
    strategies: Vec<&'static StrategyKind>,
    sets: SetRules,
    shard: Shard,
) -> Result<Report, Error> {
    agent::check_platform()?;
    let folder = run_folder::create()?;
    let program = Program {
        command: &options.command,
        scope,
        atomic: &options.steering.atomic,
        time_limit: options.steering.time_limit(),
        agent: agent::locate(folder.path())?,
        locality: match options.steering.is_static {
            true => Some(locality::prepare(&options.command, folder.path())?),
            false => None,
        },
        folder: folder.path(),
    };
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let runs = shard.runs(options.runs);
    let profiles = |strategy: &&StrategyKind| if strategy.predicts { options.profile } else { 0 };
    let all = strategies.iter().map(|strategy| runs + profiles(strategy)).sum::<u64>();
    let hunt = Hunt {
        options,
        strategies,
        sets,
        shard,
        runs,
        program,
        jobs: options.jobs.map_or_else(processors, |jobs| jobs as usize),
        progress: Progress::of_runs(options.reference_runs + all),
    };
    let _interruption = Interruption::install();
    let report = hunt.go();
    hunt.progress.clear();
    report
}

/// Everything that stays the same during a hunt.
struct Hunt<'a> {
    options: &'a HuntArguments,
    strategies: Vec<&'static StrategyKind>,
    sets: SetRules,
    shard: Shard,
    /// How many runs of the hunt belong to this shard.
    runs: u64,
    program: Program<'a>,
    jobs: usize,
    progress: Progress,
}

/// The results of a hunt so far.
#[derive(Default)]
struct Results {
    runs: u64,
    run_notes: RunNotes,
    /// The findings of the strategies, in the order in which these ran.
    found: Vec<(Finding, Tally)>,
    campaigns: Vec<Campaign>,
    seeds: Vec<SeedRange>,
    /// The JVMs of the first run.
    jvms: Vec<Hello>,
    /// A summary of each strategy's runs, and further notes.
    summary: Vec<String>,
    notices: Vec<String>,
    /// Whether a run discovered goals at accesses, and how many of these goals were never tried.
    has_discovered: bool,
    untried: u64,
    /// Whether some goals at accesses were dropped because there were too many.
    is_cut: bool,
    /// Whether the hunt ends here: `--until-bug` is satisfied, or the user interrupted it.
    is_over: bool,
}

/// The state of one strategy.
struct StrategyState {
    strategy: &'static StrategyKind,
    /// How many profiling runs there were, and how many runs came after them.
    profiling_runs: u64,
    runs: u64,
    merged: Merged,
    acquire_goals: AcquireGoals,
    predicted_goals: PredictedGoals,
    access_goals: AccessGoals,
    /// Whether a run showed a bug.
    has_bug: bool,
}

impl Hunt<'_> {
    fn go(&self) -> Result<Report, Error> {
        let mut results = Results::default();
        let mut references = References::default();
        let mut acquire_goals = AcquireGoals::default();
        let first = self.options.seed;
        let sequential = |seed| self.options.steering.control(&SEQUENTIAL, seed, None, &self.sets);
        let reference_outcomes = self.run_all(
            &(first..first + self.options.reference_runs).map(sequential).collect::<Vec<_>>(),
            |_| false,
        )?;
        for outcome in &reference_outcomes {
            references.add(outcome);
            acquire_goals.learn(outcome, false);
        }
        if let Some(outcome) = reference_outcomes.first() {
            results.jvms = outcome.jvms.iter().filter_map(|jvm| jvm.hello.clone()).collect();
        }
        results.notices = run_notes::reference_notices(&reference_outcomes, &references);
        // A sequential schedule may reach only one thread; the first round shows whether there are more.
        if let Some(problem) = self.problem(&reference_outcomes, false) {
            return Ok(self.give_up(results, &reference_outcomes, problem));
        }
        let mut access_goals = AccessGoals::default();
        if self.discovers_access_goals() {
            self.discover(&mut results, &mut references, &mut access_goals)?;
        }
        let mut watched = reference_outcomes;
        for &strategy in &self.strategies {
            let mut state = StrategyState {
                strategy,
                profiling_runs: 0,
                runs: 0,
                merged: Merged::default(),
                acquire_goals: acquire_goals.clone(),
                predicted_goals: PredictedGoals::default(),
                access_goals: access_goals.clone(),
                has_bug: false,
            };
            let problem = self.hunt_with(&mut results, &mut state, &references, &mut watched)?;
            state.merged.settle();
            if !self.options.no_minimise && problem.is_none() && !signals::interrupted() {
                let notices = minimise::minimise(self, &mut state.merged, &references)?;
                results.notices.extend(notices);
            }
            self.close(&mut results, state);
            if let Some(problem) = problem {
                return Ok(self.give_up(results, &watched, problem));
            }
            if results.is_over {
                break;
            }
        }
        Ok(self.report(results))
    }

    /// Whether runs discover goals at accesses.
    fn discovers_access_goals(&self) -> bool {
        // A run with a goal at accesses cannot run a checker as well, and a checker that the user asks for takes precedence.
        let has_checker = !self.options.steering.check.is_empty();
        !has_checker
            && self.options.learn == YesNo::Yes
            && self.strategies.iter().any(|strategy| strategy.learns)
            && !self.options.steering.points.for_discovery().is_empty()
    }

    /// Discovers goals at accesses, in a run with a sequential schedule and scheduling points at accesses. If that run shows thread-unsafe
    /// objects that threads share without a lock, another run instruments their classes too. Where threads take work from each other, the
    /// schedule decides which thread makes which access, so a last run is random.
    fn discover(
        &self,
        results: &mut Results,
        references: &mut References,
        access_goals: &mut AccessGoals,
    ) -> Result<(), Error> {
        for points in self.options.steering.points.for_discovery() {
            if let Some(outcome) = self.discovery_run(&SEQUENTIAL, *points, Vec::new())? {
                references.add(&outcome);
                access_goals.learn(&outcome, false);
                results.has_discovered = true;
                let instrumented: BTreeSet<&String> =
                    outcome.accounts().flat_map(|run| &run.unguarded).collect();
                let instrumented: Vec<String> = instrumented.into_iter().cloned().collect();
                if !instrumented.is_empty()
                    && let Some(outcome) = self.discovery_run(&SEQUENTIAL, *points, instrumented)?
                {
                    references.add(&outcome);
                    access_goals.learn(&outcome, false);
                }
                if let Some(outcome) = self.discovery_run(&RANDOM, *points, Vec::new())? {
                    access_goals.learn(&outcome, false);
                }
                break;
            }
            if signals::interrupted() {
                break;
            }
        }
        Ok(())
    }

    /// One such run, if it ended.
    fn discovery_run(
        &self,
        strategy: &StrategyKind,
        points: AccessPoints,
        instrumented: Vec<String>,
    ) -> Result<Option<Outcome>, Error> {
        let control = self.options.steering.discovery(strategy, self.options.seed, points, instrumented);
        let has_ended = |outcome: &Outcome| outcome.is_complete() && outcome.end() != RunEnd::TooLong;
        Ok(self.run_all(&[control], |_| false)?.into_iter().find(has_ended))
    }

    /// Hunts with one strategy. Gives the reason if its runs say nothing about the program.
    fn hunt_with(
        &self,
        results: &mut Results,
        state: &mut StrategyState,
        references: &References,
        watched: &mut Vec<Outcome>,
    ) -> Result<Option<String>, Error> {
        let is_last = |outcome: &Outcome| self.options.until_bug && merge::shows_bug(outcome, references);
        while !signals::interrupted() {
            let is_profiling = state.strategy.predicts && state.profiling_runs == 0;
            let round = if is_profiling { self.profiling_runs(state) } else { self.round(state) };
            let planned = round.len();
            if planned == 0 {
                break;
            }
            let outcomes = self.run_all(&round, is_last)?;
            for outcome in &outcomes {
                results.runs += 1;
                if is_profiling {
                    state.profiling_runs += 1;
                } else {
                    state.runs += 1;
                }
                state.merged.add(outcome, references);
                results.run_notes.add(outcome, references);
                let shows_bug = merge::shows_bug(outcome, references);
                state.has_bug |= shows_bug;
                // As long as there is no bug, a failure that some reference runs show as well still guides the next goals.
                let is_bad = !state.has_bug && merge::shows_failure(outcome, references);
                state.acquire_goals.learn(outcome, is_bad || references.is_news(outcome));
                state.predicted_goals.learn(outcome);
                state.access_goals.learn(outcome, is_bad || shows_bug);
            }
            results.is_over = outcomes.len() < planned || outcomes.last().is_some_and(is_last);
            if !watched.is_empty() {
                watched.extend(outcomes);
                if let Some(problem) = self.problem(watched, true) {
                    return Ok(Some(problem));
                }
                watched.clear();
            }
            if results.is_over {
                break;
            }
        }
        Ok(None)
    }

    /// The profiling runs.
    fn profiling_runs(&self, state: &StrategyState) -> Vec<Control> {
        let control = |run| {
            let seed = self.options.seed + run;
            let mut control = self.options.steering.control(state.strategy, seed, None, &self.sets);
            control.wanted = Wanted { predictions: control.wanted.violations, ..control.wanted };
            control
        };
        (0..self.options.profile).map(control).collect()
    }

    /// The next runs. The first run of atomfuzzer has no goal, as in the published algorithm, unless the reference runs showed no candidate
    /// at locks and there are goals at accesses.
    fn round(&self, state: &StrategyState) -> Vec<Control> {
        let runs = acquire_goals::round(state.runs).min(self.runs - state.runs);
        let learns = self.options.learn == YesNo::Yes && state.strategy.learns;
        let mut goals: Vec<Option<Goal>> =
            if learns { allocation::choose(state, runs) } else { state.predicted_goals.choose(runs) };
        if learns && state.runs == 0 && (state.acquire_goals.has_goal() || !state.access_goals.has_goal()) {
            goals.insert(0, None);
            goals.truncate(runs as usize);
        }
        let first = self.options.seed + state.profiling_runs;
        let control = |(run, goal)| {
            let seed = self.shard.seed(first, run);
            self.options.steering.control(state.strategy, seed, goal, &self.sets)
        };
        (state.runs..).zip(goals).map(control).collect()
    }

    /// Adds the findings of a strategy to the results.
    fn close(&self, results: &mut Results, state: StrategyState) {
        let StrategyState { strategy, profiling_runs, runs, merged, predicted_goals, access_goals, .. } =
            state;
        let name = strategy.name;
        let all = profiling_runs + runs;
        let (predicted, tried, confirmed) = predicted_goals.counts();
        if profiling_runs > 0 {
            let profiled = run_notes::count(profiling_runs, "profiling run", "profiling runs");
            let first = self.options.seed;
            let outcome = match predicted {
                0 => "nothing".to_owned(),
                1 => format!(
                    "1 violation, which {}",
                    if confirmed == 1 { "was confirmed" } else { "was not confirmed" }
                ),
                _ => format!("{predicted} violations, of which {confirmed} were confirmed"),
            };
            results.summary.push(format!(
                "{profiled} of {name}, seeds {first} to {}, predicted {outcome}",
                first + profiling_runs - 1,
            ));
            results.seeds.push(SeedRange { first, count: profiling_runs, step: 1 });
            if tried < predicted && !signals::interrupted() {
                results.summary.push(format!(
                    "{} not tried: raise --runs",
                    run_notes::count(
                        predicted - tried,
                        "predicted violation was",
                        "predicted violations were"
                    ),
                ));
            }
            for cut in predicted_goals.cut() {
                results.summary.push(format!(
                    "predictions may be missing, because there was too much to keep in memory: {cut}"
                ));
            }
            if predicted_goals.thrashings() > 0 {
                results.summary.push(format!(
                    "{} of threads ended early because no other thread could run",
                    run_notes::count(predicted_goals.thrashings(), "pause", "pauses"),
                ));
            }
            results.campaigns.push(Campaign {
                strategy: name.to_owned(),
                profiling_runs,
                predicted,
                tried,
                confirmed,
                runs,
                runs_with_hits: predicted_goals.hits(),
                thrashings: predicted_goals.thrashings(),
            });
        }
        if runs > 0 {
            let seed = |run| self.shard.seed(self.options.seed + profiling_runs, run);
            let (first, step) = (seed(0), self.shard.step());
            let steps =
                if step > 1 { format!(" in steps of {step} (shard {})", self.shard) } else { String::new() };
            results.summary.push(format!(
                "{} of {name}, seeds {first} to {}{steps}, after {}",
                run_notes::count(runs, "run", "runs"),
                seed(runs - 1),
                run_notes::count(self.options.reference_runs, "reference run", "reference runs"),
            ));
            results.seeds.push(SeedRange { first, count: runs, step });
        }
        let (known, tried) = access_goals.counts();
        results.untried += known - tried;
        results.is_cut |= access_goals.is_cut();
        for (mut finding, tally) in merged.finish(name, all) {
            if let Some(explanation) =
                access_goals.explain(&finding).filter(|_| finding.kind == Kind::Failure)
            {
                let reason = finding.reason.get_or_insert_default();
                reason.push_str(": ");
                reason.push_str(&explanation);
            }
            // Warnings about locks belong to atomfuzzer; other strategies do not try to confirm them.
            let is_foreign = strategy.predicts
                && finding.status == Status::Warning
                && finding.kind == Kind::AtomicityViolation;
            // Several strategies may show the same deadlock.
            if !is_foreign && !results.found.iter().any(|(known, _)| known.id == finding.id) {
                results.found.push((finding, tally));
            }
        }
    }

    fn run_all(
        &self,
        controls: &[Control],
        is_last: impl Fn(&Outcome) -> bool + Sync,
    ) -> Result<Vec<Outcome>, Error> {
        pool::run_all(&self.program, controls, self.jobs, &self.progress, &is_last)
    }

    /// The reason if the runs say nothing about the program.
    fn problem(&self, outcomes: &[Outcome], with_threads: bool) -> Option<String> {
        let blindness = blindness(&self.program, outcomes)?;
        if signals::interrupted() {
            return Some("interrupted before there was a result".to_owned());
        }
        if outcomes.iter().all(|outcome| outcome.ending == Ending::TimeLimit) {
            return Some(format!(
                "every run was killed at the time limit of {} s before it showed anything: raise --time-limit, or run \
                 something that ends by itself",
                self.options.steering.time_limit
            ));
        }
        let has_virtual_threads =
            outcomes.iter().flat_map(Outcome::uncontrolled).any(|reason| reason == VIRTUAL_THREADS);
        if blindness == Blindness::OneThread && has_virtual_threads {
            return with_threads.then(|| run_notes::UNCONTROLLED_VIRTUAL_THREADS.to_owned());
        }
        (with_threads || blindness != Blindness::OneThread).then(|| blindness.to_string())
    }

    /// A report of runs that saw nothing, after the output of the first of them.
    fn give_up(&self, results: Results, outcomes: &[Outcome], problem: String) -> Report {
        self.progress.clear();
        if let Some(outcome) = outcomes.first() {
            output::pass_on(&outcome.printed);
        }
        let runs = results.runs.max(outcomes.len() as u64);
        let mut report = self.report(results);
        for error in outcomes.iter().flat_map(Outcome::internal_errors) {
            if !report.internal_errors.contains(error) {
                report.internal_errors.push(error.clone());
            }
        }
        Report { runs, problem: Some(problem), ..report }
    }

    fn report(&self, results: Results) -> Report {
        let Results {
            runs,
            found,
            run_notes,
            campaigns,
            seeds,
            jvms,
            summary,
            mut notices,
            has_discovered,
            untried,
            is_cut,
            ..
        } = results;
        notices.splice(0..0, summary);
        let interrupted = signals::interrupted();
        if interrupted {
            let planned = self.runs * self.strategies.len() as u64;
            notices.push(format!("the hunt was interrupted after {runs} of {planned} runs"));
        }
        notices.extend(found.iter().filter_map(|(finding, tally)| attempts_note(finding, *tally, runs)));
        notices.extend(run_notes.notices((self.options.steering.time_limit, self.options.steering.steps)));
        let has_hits = found.iter().any(|(_, tally)| tally.hits > 0);
        if found.is_empty() {
            let (coverage, scope) = (&run_notes.coverage, self.program.scope);
            notices.splice(0..0, verdict::scarcity(scope, coverage, coverage.jvms));
        }
        let has_points = !matches!(self.options.steering.points, Points::Auto | Points::Locks);
        let sees_accesses = has_points || self.strategies.iter().any(|strategy| strategy.predicts);
        if !has_hits && untried > 0 {
            let candidates = run_notes::count(
                untried,
                "candidate interleaving of accesses was",
                "candidate interleavings of accesses were",
            );
            notices.push(format!("{candidates} {NOT_TRIED}"));
        } else if !has_hits && !has_discovered && runs > 0 && self.discovers_access_goals() {
            notices.push(TOO_MANY_ACCESSES.to_owned());
        } else if !has_hits && !has_discovered && !sees_accesses {
            notices.push(ONLY_LOCKS.to_owned());
        }
        if !has_hits && is_cut && self.discovers_access_goals() {
            notices.push(CUT.to_owned());
        }
        let problem = match found.iter().any(|(_, tally)| tally.hits > 0) {
            _ if !run_notes.internal_errors.is_empty() => Some(Blindness::Failed.to_string()),
            _ if interrupted && found.is_empty() => Some("interrupted before anything was found".to_owned()),
            false if run_notes.has_uncounted_failures() => Some(UNCOUNTED.to_owned()),
            // A run is not clean if Fissure could not control all its threads.
            false if run_notes.has_virtual_threads() => {
                Some(run_notes::UNCONTROLLED_VIRTUAL_THREADS.to_owned())
            }
            false if found.is_empty() => {
                let coverage = &run_notes.coverage;
                let threads = coverage.threads.div_ceil(coverage.jvms.max(1));
                verdict::one_thread_in_scope(&[coverage], threads).map(|blindness| {
                    format!("{blindness}; other schedules may lead more threads there: raise --runs")
                })
            }
            _ => None,
        };
        Report {
            command: words(&self.options.command),
            options: self.options.steering.words(&self.strategies, self.options.reporting.config.as_deref()),
            runs,
            seeds,
            exits: run_notes.exits,
            jvms,
            coverage: run_notes.coverage,
            internal_errors: run_notes.internal_errors,
            problem,
            notices,
            campaigns,
            findings: found.into_iter().map(|(finding, _)| finding).collect(),
            ..Report::default()
        }
    }
}

/// Why runs showed too little for a result, if they did.
pub(crate) fn blindness(program: &Program<'_>, outcomes: &[Outcome]) -> Option<Blindness> {
    let name = program.command.first()?;
    let watched = WatchedProgram {
        program: &name.to_string_lossy(),
        java: launch::is_java(name),
        scope: program.scope,
        needs: Needs::Threads,
    };
    // A warning may concern a single thread, so it is no evidence that there was more to see.
    let evidence = |jvm: &Jvm| Jvm {
        hello: jvm.hello.clone(),
        findings: jvm.findings.iter().filter(|finding| finding.status > Status::Warning).cloned().collect(),
        coverage: jvm.coverage.clone(),
        internal_errors: jvm.internal_errors.clone(),
        ..Jvm::default()
    };
    let jvms: Vec<Jvm> = outcomes.iter().flat_map(|outcome| &outcome.jvms).map(evidence).collect();
    // Other schedules may lead more threads into the code in scope, so this is checked at the end of a hunt.
    let blindness = verdict::blindness(&watched, &jvms);
    blindness.filter(|blindness| !matches!(blindness, Blindness::OneThreadInScope { .. }))
}

/// A command as reports give it.
pub(crate) fn words(command: &[OsString]) -> Vec<String> {
    command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// A note about a finding that no run made happen: in how many runs it was possible.
fn attempts_note(finding: &Finding, tally: Tally, runs: u64) -> Option<String> {
    let runs = run_notes::count(runs, "run", "runs");
    let (subject, id, seen) = (&finding.subject, &finding.id, tally.seen);
    (tally.hits == 0)
        .then(|| format!("{subject} (id {id}): possible in {seen} of {runs}, and none made it happen"))
}
