//! The result of a hunt as a report.

use std::{ffi::OsString, path::Path};

use fissure_hunt::{Found, HuntResult, HuntSettings, Points, RunFacts, StrategyResult, Tally};
use fissure_model::{
    finding::{Finding, Status},
    pointcut::Pointcut,
};
use fissure_report::{Campaign, Report, SeedRange, thousands};

use super::{ScheduleArguments, cause, count, problem_text, run_notes, words};
use crate::{
    args::FailOn,
    verdict::{self, Blindness},
};

/// The note if nothing happened and accesses were no scheduling points.
const ONLY_LOCKS: &str = "threads were preempted at lock operations only: --points fields also preempts them at atomics, volatile \
                          fields and the fields of your classes, and --strategy racefuzzer,assetfuzzer has goals at these";

/// The problem if runs failed, and Fissure rather than the program may be the reason.
const UNCOUNTED: &str = "some runs failed as no reference run does, but Fissure woke a sleeping thread early in them, so they prove \
                         nothing (see the note above): replay one of the seeds to see the failure, or remove the sleeps from the \
                         program and hunt again";

/// The problem if runs failed, and did not when they were repeated.
const UNREPEATED: &str = "runs showed findings that did not show again (see the note above), so they prove nothing: the program may depend on \
                          time, files, ports or other processes; make it depend on its threads only, and hunt again";

/// The problem if every run had to be ended.
const NEVER_ENDS: &str = "no run ended by itself, so it is not known whether the program fails at its end: run something that ends, or raise \
                          --steps or --time-limit";

/// The note if nothing happened and some goals at accesses were not tried.
const NOT_TRIED: &str = "not tried: raise --runs, or narrow --scope";

/// The note if nothing happened and some goals at accesses may be unknown.
const CUT: &str =
    "there were too many accesses to remember, so candidate interleavings may be missing: narrow --scope";

/// The note if nothing happened and goals at accesses were not tried because no run could discover them.
const TOO_MANY_ACCESSES: &str = "threads were preempted at lock operations only, because a run with a scheduling point at every access \
                                 did not end: raise --steps or --time-limit, or narrow --scope";

/// What a report says beside the result.
pub(crate) struct Summary<'a> {
    pub(crate) command: &'a [OsString],
    pub(crate) scheduling: &'a ScheduleArguments,
    /// The file with the configuration, if it was named.
    pub(crate) config: Option<&'a Path>,
    pub(crate) settings: &'a HuntSettings,
    pub(crate) scope: &'a [Pointcut],
    /// Whether the user interrupted the hunt.
    pub(crate) is_interrupted: bool,
    /// Whether findings did not show again when their runs were repeated.
    pub(crate) has_unrepeated: bool,
    /// Whether races and atomic-set violations without a failure count, because the user asked for them.
    pub(crate) counts_violations: bool,
}

impl Summary<'_> {
    /// The report.
    pub(crate) fn report(&self, mut result: HuntResult) -> Report {
        let scheduling = self.scheduling;
        let problem = result.problem.take().map(|problem| problem_text(problem, scheduling.time_limit));
        let problem = problem.or_else(|| self.problem(&result));
        let mut report = Report {
            command: words(self.command),
            options: scheduling.words(&self.settings.strategies, self.config),
            runs: result.runs.max(result.examined),
            notices: self.notices(&result),
            problem,
            ..Report::default()
        };
        for strategy in &result.strategies {
            report.seeds.extend(self.seeds(strategy));
            report.campaigns.extend((strategy.profiling_runs > 0).then(|| campaign(strategy)));
        }
        let RunFacts { exits, coverage, internal_errors, .. } = result.facts;
        let findings = result.found.into_iter().map(finding).collect();
        Report { exits, jvms: result.processes, coverage, internal_errors, findings, ..report }
    }

    /// The seeds of a strategy's profiling runs and of the runs after them.
    fn seeds(&self, strategy: &StrategyResult) -> Vec<SeedRange> {
        let (first, shard) = (self.settings.seed, self.settings.shard);
        let mut seeds = Vec::new();
        if strategy.profiling_runs > 0 {
            seeds.push(SeedRange { first, count: strategy.profiling_runs, step: 1 });
        }
        if strategy.runs > 0 {
            let first = shard.seed(first + strategy.profiling_runs, 0);
            seeds.push(SeedRange { first, count: strategy.runs, step: shard.step() });
        }
        seeds
    }

    fn notices(&self, result: &HuntResult) -> Vec<String> {
        let HuntResult { runs, found, facts, .. } = result;
        let mut notices: Vec<String> = Vec::new();
        if found.is_empty() {
            notices.extend(verdict::scarcity(self.scope, &facts.coverage, facts.coverage.jvms));
        }
        notices.extend(result.strategies.iter().flat_map(|strategy| self.strategy_notices(strategy)));
        notices.extend(run_notes::reference_notices(&result.references));
        let shortened = result.strategies.iter().flat_map(|strategy| &strategy.shortened);
        notices.extend(shortened.map(run_notes::shortened_notice));
        if self.is_interrupted {
            let strategies = self.settings.strategies.len() as u64;
            let planned =
                self.settings.runs.map(|planned| format!("{runs} of {} runs", planned * strategies));
            let done = planned.unwrap_or_else(|| count(*runs, "run", "runs"));
            notices.push(format!("the hunt was interrupted after {done}"));
        }
        notices.extend(found.iter().filter_map(|found| attempts_note(&found.finding, found.tally, *runs)));
        let limits = (self.scheduling.time_limit, self.scheduling.steps);
        notices.extend(run_notes::notices(facts, limits));
        if !has_hits(found) {
            notices.extend(self.untried_notices(result));
        }
        notices.extend(self.violation_notice(found));
        if result.omitted > 0 {
            let omitted = count(result.omitted, "finding of another kind is", "findings of other kinds are");
            notices.push(format!("{omitted} left out because of --only"));
        }
        notices
    }

    /// The note that races and atomic-set violations do not count.
    fn violation_notice(&self, found: &[Found]) -> Option<String> {
        let fails = |found: &&Found| verdict::counts(&found.finding, FailOn::ConfirmedOrFailed);
        let confirmed = found.iter().filter(|found| found.finding.status > Status::Warning);
        let common = confirmed.filter(|found| !fails(found)).count() as u64;
        (!self.counts_violations && common > 0).then(|| {
            let violations = count(common, "violation caused", "violations caused");
            format!(
                "{violations} no failure and may be intended, so the exit code does not count races and atomic-set violations of that \
                 kind: --fail-on confirmed does, and --only failure leaves them out"
            )
        })
    }

    /// Notes about the runs of one strategy.
    fn strategy_notices(&self, result: &StrategyResult) -> Vec<String> {
        let StrategyResult { strategy, profiling_runs, runs, predictions, .. } = result;
        let name = strategy.name;
        let mut notices = Vec::new();
        if *profiling_runs > 0 {
            let profiled = count(*profiling_runs, "profiling run", "profiling runs");
            let first = self.settings.seed;
            let (predicted, confirmed) = (predictions.predicted, predictions.confirmed);
            let outcome = match predicted {
                0 => "nothing".to_owned(),
                1 => format!(
                    "1 violation, which {}",
                    if confirmed == 1 { "was confirmed" } else { "was not confirmed" }
                ),
                _ => format!("{predicted} violations, of which {confirmed} were confirmed"),
            };
            notices.push(format!(
                "{profiled} of {name}, seeds {first} to {}, predicted {outcome}",
                first + profiling_runs - 1,
            ));
            if predictions.tried < predicted && !self.is_interrupted {
                let untried = predicted - predictions.tried;
                notices.push(format!(
                    "{} not tried: raise --runs",
                    count(untried, "predicted violation was", "predicted violations were"),
                ));
            }
            for cut in &predictions.cut {
                notices.push(format!(
                    "predictions may be missing, because there was too much to keep in memory: {cut}"
                ));
            }
            if predictions.thrashings > 0 {
                notices.push(format!(
                    "{} of threads ended early because no other thread could run",
                    count(predictions.thrashings, "pause", "pauses"),
                ));
            }
        }
        if *runs > 0 {
            let shard = self.settings.shard;
            let seed = |run| shard.seed(self.settings.seed + profiling_runs, run);
            let step = shard.step();
            let steps = if step > 1 { format!(" in steps of {step} (shard {shard})") } else { String::new() };
            notices.push(format!(
                "{} of {name}, seeds {} to {}{steps}, after {}",
                count(*runs, "run", "runs"),
                seed(0),
                seed(runs - 1),
                count(self.settings.reference_runs, "reference run", "reference runs"),
            ));
            if self.settings.runs.is_none() {
                notices.push(self.extent(result));
            }
        }
        notices
    }

    /// How much a hunt with a time budget has tried, and what that means.
    fn extent(&self, result: &StrategyResult) -> String {
        let (known, tried) = result.goals;
        let mut text = format!("tried {}", count(result.runs, "schedule", "schedules"));
        if known > 0 {
            text.push_str(&format!(", {} of {}", thousands(tried), count(known, "goal", "goals")));
        }
        if let Some(rarest) = result.chance.rarest() {
            text.push_str(&format!(
                "; a bug that shows in one of {} random schedules would have been seen with 99 %",
                thousands(rarest)
            ));
        }
        if tried < known && !self.is_interrupted {
            text.push_str("; the time was over before the rest: raise --budget");
        }
        text
    }

    /// Notes about what a hunt did not try that made nothing happen.
    fn untried_notices(&self, result: &HuntResult) -> Vec<String> {
        let mut notices = Vec::new();
        let discovers = self.settings.discovers_access_goals();
        let has_points = !matches!(self.settings.run.points, Points::Auto | Points::Locks);
        let sees_accesses = has_points || self.settings.strategies.iter().any(|strategy| strategy.predicts);
        if result.untried > 0 {
            let candidates = count(
                result.untried,
                "candidate interleaving of accesses was",
                "candidate interleavings of accesses were",
            );
            // With a time budget, the note about its extent says the same.
            if self.settings.runs.is_some() {
                notices.push(format!("{candidates} {NOT_TRIED}"));
            }
        } else if !result.has_discovered && result.runs > 0 && discovers {
            notices.push(TOO_MANY_ACCESSES.to_owned());
        } else if !result.has_discovered && !sees_accesses {
            notices.push(ONLY_LOCKS.to_owned());
        }
        if result.is_cut && discovers {
            notices.push(CUT.to_owned());
        }
        notices
    }

    /// Why a hunt that could see the program has no result all the same.
    fn problem(&self, result: &HuntResult) -> Option<String> {
        let HuntResult { found, facts, .. } = result;
        if !facts.internal_errors.is_empty() {
            return Some(Blindness::Failed.to_string());
        }
        if self.is_interrupted && found.is_empty() {
            return Some("interrupted before anything was found".to_owned());
        }
        if found.iter().any(|found| found.tally.hits > 0 && found.finding.status > Status::Warning) {
            return None;
        }
        if self.has_unrepeated {
            return Some(UNREPEATED.to_owned());
        }
        if facts.has_uncounted_failures() {
            return Some(UNCOUNTED.to_owned());
        }
        // A run is not clean if Fissure could not control all its threads.
        if facts.has_virtual_threads() {
            return Some(run_notes::UNCONTROLLED_VIRTUAL_THREADS.to_owned());
        }
        if !found.is_empty() {
            return None;
        }
        // A program may be right up to its forced end; whether it ends well is not known.
        let ended_by_fissure = (facts.too_long.len() + facts.killed.len()) as u64;
        if result.runs > 0 && ended_by_fissure == result.runs && !result.references.is_known {
            return Some(NEVER_ENDS.to_owned());
        }
        let threads = facts.coverage.threads.div_ceil(facts.coverage.jvms.max(1));
        verdict::one_thread_in_scope(&[&facts.coverage], threads).map(|blindness| {
            format!("{blindness}; other schedules may lead more threads there: raise --runs")
        })
    }
}

/// The finding of a report, with the cause in its reason.
fn finding(found: Found) -> Finding {
    let mut finding = found.finding;
    if let Some(cause) = found.cause {
        let reason = finding.reason.get_or_insert_default();
        reason.push_str(": ");
        reason.push_str(&cause::describe(&cause));
    }
    finding
}

fn campaign(result: &StrategyResult) -> Campaign {
    let predictions = &result.predictions;
    Campaign {
        strategy: result.strategy.name.to_owned(),
        profiling_runs: result.profiling_runs,
        predicted: predictions.predicted,
        tried: predictions.tried,
        confirmed: predictions.confirmed,
        runs: result.runs,
        runs_with_hits: predictions.hits,
        thrashings: predictions.thrashings,
    }
}

/// Whether a run made something happen.
fn has_hits(found: &[Found]) -> bool {
    found.iter().any(|found| found.tally.hits > 0)
}

/// A note about a finding that no run made happen: in how many runs it was possible.
fn attempts_note(finding: &Finding, tally: Tally, runs: u64) -> Option<String> {
    let runs = count(runs, "run", "runs");
    let (subject, id, seen) = (&finding.subject, &finding.id, tally.seen);
    (tally.hits == 0)
        .then(|| format!("{subject} (id {id}): possible in {seen} of {runs}, and none made it happen"))
}
