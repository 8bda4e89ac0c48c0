//! `fissure hunt`: runs a program many times with its threads under control, makes atomicity violations happen, and tells what
//! they break.
//!
//! First come [`baseline::CONTROL_RUNS`] runs without interference, to know what goes wrong anyway. Then seeds are tried in
//! rounds ([`targets`]), several at a time ([`pool`]). Results are taken in the order of the seeds, so that nothing depends on
//! how many processors there are.

mod baseline;
mod chronicle;
mod merge;
mod options;
mod pool;
mod run;
mod shard;
mod targets;
#[cfg(test)]
mod testing;

use std::{env, ffi::OsString, thread};

use fissure_model::{
    finding::{Finding, Status},
    record::Hello,
    settings::{Control, Steering, Watch},
};
use fissure_report::{Report, SeedRange};

pub(crate) use options::{HuntArguments, SteeringArguments};
pub(crate) use run::{Ending, Outcome, Print, Program};

use crate::{
    agent,
    args::YesNo,
    collect::Jvm,
    error::Error,
    launch, locality,
    output::{self, Stream},
    reporting::Reporting,
    signals::{self, Interruption},
    verdict::{self, Blindness, Code, Question},
    watch,
};
use baseline::{Baseline, CONTROL_RUNS};
use chronicle::Chronicle;
use merge::{Merged, Tally};
use pool::Progress;
use shard::Shard;
use targets::{ROUND, Targets};

/// Carries the command out. An error means that the command line was bad and nothing was run.
pub(crate) fn run(options: &HuntArguments) -> Result<Code, Error> {
    if options.command.first().is_none_or(|program| program.is_empty()) {
        return Err(Error::NoCommand);
    }
    let steering = options.steering.strategy()?;
    if options.seed.checked_add(options.runs.max(CONTROL_RUNS)).is_none() {
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
    let mut report = hunt(options, steering, shard)
        .unwrap_or_else(|error| Report { problem: Some(error.to_string()), ..Report::default() });
    report.notices.splice(0..0, remarks);
    reporting.finish(report, Stream::Error)
}

fn hunt(options: &HuntArguments, steering: Steering, shard: Shard) -> Result<Report, Error> {
    watch::check_platform()?;
    let folder = watch::plain_folder()?;
    let program = Program {
        command: &options.command,
        scope: &options.steering.scope,
        atomic: &options.steering.atomic,
        time_limit: options.steering.time_limit(),
        agent: agent::locate(folder.path())?,
        locality: match options.is_static {
            true => Some(locality::prepare(&options.command, folder.path())?),
            false => None,
        },
        folder: folder.path(),
    };
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let hunt = Hunt {
        options,
        steering,
        shard,
        runs: shard.runs(options.runs),
        program,
        jobs: options.jobs.map_or_else(processors, |jobs| jobs as usize),
        progress: Progress::new(CONTROL_RUNS + shard.runs(options.runs)),
    };
    let _interruption = Interruption::install();
    let report = hunt.go();
    hunt.progress.clear();
    report
}

/// Everything that stays the same during a hunt.
struct Hunt<'a> {
    options: &'a HuntArguments,
    steering: Steering,
    shard: Shard,
    /// How many runs of the hunt are this shard's own.
    runs: u64,
    program: Program<'a>,
    jobs: usize,
    progress: Progress,
}

/// What a hunt has gathered.
#[derive(Default)]
struct Game {
    runs: u64,
    merged: Merged,
    chronicle: Chronicle,
    targets: Targets,
    /// The JVMs of the first run.
    jvms: Vec<Hello>,
    notices: Vec<String>,
}

impl Hunt<'_> {
    fn go(&self) -> Result<Report, Error> {
        let mut game = Game::default();
        let mut baseline = Baseline::default();
        let first = self.options.seed;
        let calm = |seed| self.options.steering.control(Steering::Orderly, seed, None);
        let controls =
            self.run_all(&(first..first + CONTROL_RUNS).map(calm).collect::<Vec<_>>(), |_| false)?;
        for outcome in &controls {
            baseline.add(outcome);
            game.targets.learn(outcome);
        }
        if let Some(outcome) = controls.first() {
            game.jvms = outcome.jvms.iter().filter_map(|jvm| jvm.hello.clone()).collect();
        }
        game.notices = chronicle::controls(&controls, &baseline);
        // One thread may be all that runs without interference; whether there are more shows in the first round.
        if let Some(problem) = self.problem(&controls, false) {
            return Ok(self.give_up(game, &controls, problem));
        }
        let mut watched = controls;
        while game.runs < self.runs && !signals::interrupted() {
            let is_first = game.runs == 0;
            let round = self.round(&game);
            let planned = round.len();
            let is_last = |outcome: &Outcome| self.options.until_bug && merge::shows_bug(outcome, &baseline);
            let outcomes = self.run_all(&round, is_last)?;
            for outcome in &outcomes {
                game.runs += 1;
                game.merged.add(outcome, &baseline);
                game.chronicle.add(outcome, &baseline);
                game.targets.learn(outcome);
            }
            let is_over = outcomes.len() < planned || outcomes.last().is_some_and(is_last);
            if is_first {
                watched.extend(outcomes);
                if let Some(problem) = self.problem(&watched, true) {
                    return Ok(self.give_up(game, &watched, problem));
                }
                watched.clear();
            }
            if is_over {
                break;
            }
        }
        Ok(self.report(game))
    }

    /// The next runs. In the first round, which knows from the control runs alone what could happen, every second run goes
    /// without a target, as the published algorithm does.
    fn round(&self, game: &Game) -> Vec<Control> {
        let runs = ROUND.min(self.runs - game.runs);
        let learns = self.options.learn == YesNo::Yes && self.steering == Steering::Atomfuzzer;
        let mut targets = if learns { game.targets.choose(runs) } else { vec![None; runs as usize] };
        if game.runs == 0 {
            targets.iter_mut().step_by(2).for_each(|target| *target = None);
        }
        let control = |(run, target)| {
            self.options.steering.control(self.steering, self.shard.seed(self.options.seed, run), target)
        };
        (game.runs..).zip(targets).map(control).collect()
    }

    fn run_all(
        &self,
        controls: &[Control],
        is_last: impl Fn(&Outcome) -> bool + Sync,
    ) -> Result<Vec<Outcome>, Error> {
        pool::run_all(&self.program, controls, self.jobs, &self.progress, &is_last)
    }

    /// Why the runs say nothing about the program.
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
        (with_threads || blindness != Blindness::OneThread).then(|| blindness.to_string())
    }

    /// A report of runs that saw nothing, after what the first of them printed.
    fn give_up(&self, game: Game, outcomes: &[Outcome], problem: String) -> Report {
        self.progress.clear();
        if let Some(outcome) = outcomes.first() {
            output::pass_on(&outcome.printed);
        }
        let runs = game.runs.max(outcomes.len() as u64);
        Report { runs, problem: Some(problem), ..self.report(game) }
    }

    fn report(&self, game: Game) -> Report {
        let Game { runs, merged, chronicle, jvms, mut notices, .. } = game;
        let name = self.steering.name();
        let seed = |run| self.shard.seed(self.options.seed, run);
        let (first, step) = (seed(0), self.shard.step());
        let found = merged.finish(name, runs);
        if runs > 0 {
            notices.insert(
                0,
                format!(
                    "{} of {name}, seeds {first} to {}{}, after {CONTROL_RUNS} control runs without interference",
                    chronicle::count(runs, "run", "runs"),
                    seed(runs - 1),
                    if step > 1 {
                        format!(" in steps of {step} (shard {})", self.shard)
                    } else {
                        String::new()
                    },
                ),
            );
        }
        let interrupted = signals::interrupted();
        if interrupted {
            notices.push(format!("the hunt was interrupted after {runs} of {} runs", self.runs));
        }
        notices.extend(found.iter().filter_map(|(finding, tally)| tell_attempts(finding, *tally, runs)));
        notices.extend(chronicle.tell((self.options.steering.time_limit, self.options.steering.steps)));
        let problem =
            (interrupted && found.is_empty()).then(|| "interrupted before anything was found".to_owned());
        Report {
            command: words(&self.options.command),
            options: self.options.steering.words(self.steering),
            runs,
            seeds: if runs > 0 { vec![SeedRange { first, count: runs, step }] } else { Vec::new() },
            exits: chronicle.exits,
            jvms,
            coverage: chronicle.coverage,
            problem,
            notices,
            findings: found.into_iter().map(|(finding, _)| finding).collect(),
            ..Report::default()
        }
    }
}

/// Whether runs showed too little for a result.
pub(crate) fn blindness(program: &Program<'_>, outcomes: &[Outcome]) -> Option<Blindness> {
    let name = program.command.first()?;
    let question = Question {
        program: &name.to_string_lossy(),
        java: launch::is_java(name),
        scope: program.scope,
        // Locks are all that is asked about, but not for measuring.
        watch: Watch::All,
    };
    // What is only possible may be so for one thread alone, and does not show that there was more to see.
    let evidence = |jvm: &Jvm| Jvm {
        hello: jvm.hello.clone(),
        findings: jvm.findings.iter().filter(|finding| finding.status > Status::Warning).cloned().collect(),
        coverage: jvm.coverage.clone(),
        ..Jvm::default()
    };
    let jvms: Vec<Jvm> = outcomes.iter().flat_map(|outcome| &outcome.jvms).map(evidence).collect();
    verdict::blindness(&question, &jvms)
}

/// A command as reports give it.
pub(crate) fn words(command: &[OsString]) -> Vec<String> {
    command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// How often a finding that nothing made happen was tried, in words.
fn tell_attempts(finding: &Finding, tally: Tally, runs: u64) -> Option<String> {
    let runs = chronicle::count(runs, "run", "runs");
    let (subject, id, seen) = (&finding.subject, &finding.id, tally.seen);
    (tally.hits == 0)
        .then(|| format!("{subject} (id {id}): possible in {seen} of {runs}, and none made it happen"))
}
