//! `fissure detect`: runs a program once and reports the findings of the analyses.

use std::{ffi::OsString, time::Duration};

use clap::{Args, ValueEnum};
use fissure_model::{
    pattern::Pattern,
    settings::{Analysis, AtomizerSettings, Order, Refinement, Watch},
};

use crate::{
    args::{ScopeList, YesNo, duration},
    error::Error,
    observed_run::{self, Observation, Task},
    reporting::{Reporting, ReportingArguments},
    verdict::Code,
};

#[derive(Debug, Args)]
#[command(override_usage = "fissure detect [OPTIONS] -- COMMAND [ARGS]...")]
#[command(after_help = "Examples:
  fissure detect -- java -cp classes com.acme.Main
  fissure detect --scope 'com.acme..*' --json findings.json -- ./gradlew test

Exit codes: 0 nothing found, 1 findings that count (see --fail-on), 2 usage or tool error.
A run that could not see anything is an error, and so is one without findings that failed, was interrupted or reached
its time limit. The program's own exit code is reported.")]
pub(crate) struct DetectArguments {
    /// The analyses, in one run: racer or eraser looks for races, atomizer for blocks that should be atomic and are not.
    /// Without it racer and atomizer.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) analysis: Vec<AnalysisName>,

    /// Methods that must be atomic: Account.transfer, com.acme.Account, 'com.acme..*'. May be repeated; synchronized blocks and
    /// methods, and code with an annotation named Atomic, count anyway.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(crate) atomic: Vec<Pattern>,

    /// Rules that Atomizer leaves out, to see their effect.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) atomizer_without: Vec<RuleName>,

    /// The classes to watch (Account, com.acme.Account, 'com.acme..*'), or a pointcut ('set(int Account.*) && !static'). May be
    /// repeated; without it the application's own classes.
    #[arg(long, value_name = "POINTCUT")]
    pub(crate) scope: Vec<ScopeList>,

    /// Whether the elements of arrays are watched too.
    #[arg(long, value_name = "yes|no", default_value = "yes", hide_possible_values = true)]
    pub(crate) arrays: YesNo,

    /// What orders two accesses: any synchronization but locks that only exclude, or less, or more. Ordered races are listed apart and
    /// do not count.
    #[arg(long, value_name = "ORDER", default_value = "synchronization")]
    pub(crate) order: OrderName,

    /// Analyse the class files first, and do not watch fields that only one thread can ever access. COMMAND must be `java`
    /// itself.
    #[arg(long = "static")]
    pub(crate) is_static: bool,

    /// End the program after this time, 30s or 5m, and report what was seen; without it the program runs until it ends.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) time_limit: Option<Duration>,

    #[command(flatten)]
    pub(crate) reporting: ReportingArguments,

    /// Watch everything, and report where two threads access a location that the static analysis takes for unshared; for testing it.
    #[arg(long, hide = true)]
    pub(crate) check_static: bool,

    /// The events to record; for measuring their cost.
    #[arg(long, hide = true, conflicts_with = "arrays")]
    pub(crate) watch: Option<WatchName>,

    /// The command that starts the program, with its arguments: java …, mvn test, a script.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Carries the command out. An error means that the command line was bad and nothing was run.
pub(crate) fn run(options: &DetectArguments) -> Result<Code, Error> {
    if options.command.first().is_none_or(|program| program.is_empty()) {
        return Err(Error::NoCommand);
    }
    let analyses = options.analyses()?;
    let reporting = Reporting::prepare(&options.reporting)?;
    let task = Task {
        command: &options.command,
        scope: &reporting.scope(&options.scope),
        observation: Observation::Analyses { analyses, checks_static: options.check_static },
        is_static: options.is_static,
        time_limit: options.time_limit,
    };
    reporting.finish_run(observed_run::run(&task))
}

/// The analyses of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Analyses {
    /// The lock-set analysis, which Atomizer needs too.
    pub(crate) lock_sets: Analysis,
    /// Whether its races are reported.
    pub(crate) races: bool,
    /// The settings of Atomizer, if it runs.
    pub(crate) atomizer: Option<AtomizerSettings>,
    /// The operations that become events.
    pub(crate) watch: Watch,
    /// The operations that order accesses.
    pub(crate) order: Order,
}

impl DetectArguments {
    /// The analyses to run.
    fn analyses(&self) -> Result<Analyses, Error> {
        let has = |name| self.analysis.contains(&name);
        let happens_before = self.order == OrderName::HappensBefore;
        let named = !self.analysis.is_empty();
        if has(AnalysisName::Racer) && has(AnalysisName::Eraser) {
            return Err(Error::TwoLockSetAnalyses);
        }
        if has(AnalysisName::Atomizer) && happens_before {
            return Err(Error::OrderedAtomizer);
        }
        let runs = if named { has(AnalysisName::Atomizer) } else { !happens_before };
        let has_atomizer_options = !self.atomic.is_empty() || !self.atomizer_without.is_empty();
        if has_atomizer_options && !runs {
            return Err(Error::NoAtomizer);
        }
        let atomizer = runs.then(|| AtomizerSettings {
            atomic: self.atomic.clone(),
            without: self.atomizer_without.iter().map(|&rule| rule.into()).collect(),
        });
        Ok(Analyses {
            lock_sets: if has(AnalysisName::Eraser) { Analysis::Eraser } else { Analysis::Racer },
            races: !named || has(AnalysisName::Racer) || has(AnalysisName::Eraser),
            atomizer,
            watch: self.watched(),
            order: self.order.into(),
        })
    }

    /// Which events are recorded.
    fn watched(&self) -> Watch {
        match (self.watch, self.arrays) {
            (Some(WatchName::Locks), _) => Watch::Locks,
            (Some(WatchName::Fields), _) | (None, YesNo::No) => Watch::Fields,
            (Some(WatchName::All), _) | (None, YesNo::Yes) => Watch::All,
        }
    }
}

/// The analyses that `--analysis` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnalysisName {
    /// Lock sets that are refined from the first access on.
    Racer,
    /// Lock sets that are refined once a second thread accesses the location: allows for initialisation.
    Eraser,
    /// Reduction: blocks whose operations other threads can interleave with.
    Atomizer,
}

/// The rules that `--atomizer-without` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleName {
    /// Re-entrant acquires and releases are both-movers.
    ReEntrant,
    /// Operations on a lock that only one thread uses are both-movers.
    ThreadLocalLock,
    /// Operations on a lock that is always acquired under another common lock are both-movers.
    ProtectedLock,
    /// A read of an atomic that a compare-and-set then confirms is a both-mover.
    CompareAndSet,
}

impl From<RuleName> for Refinement {
    fn from(name: RuleName) -> Refinement {
        match name {
            RuleName::ReEntrant => Refinement::ReEntrant,
            RuleName::ThreadLocalLock => Refinement::ThreadLocalLock,
            RuleName::ProtectedLock => Refinement::ProtectedLock,
            RuleName::CompareAndSet => Refinement::CompareAndSet,
        }
    }
}

/// The orders that `--order` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderName {
    /// Nothing: every race counts, as in the papers about lock sets.
    None,
    /// Starting and joining threads.
    StartJoin,
    /// Also tasks and their results, latches, barriers and queues.
    HandOver,
    /// Also volatile fields, atomics, concurrent maps, and locks that threads wait for.
    Synchronization,
    /// Also all other locks; ordered races are not reported at all.
    HappensBefore,
}

impl From<OrderName> for Order {
    fn from(name: OrderName) -> Order {
        match name {
            OrderName::None => Order::None,
            OrderName::StartJoin => Order::StartJoin,
            OrderName::HandOver => Order::HandOver,
            OrderName::Synchronization => Order::Synchronization,
            OrderName::HappensBefore => Order::HappensBefore,
        }
    }
}

/// The operations that `--watch` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchName {
    Locks,
    Fields,
    All,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Arguments, Command};

    fn parse(line: &str) -> DetectArguments {
        match args::parse(line.split(' ').map(OsString::from)) {
            Ok(Arguments { command: Command::Detect(options), .. }) => options,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn check_watch(line: &str, expected: Watch) {
        let options = parse(line);
        assert_eq!(options.analyses().unwrap().watch, expected, "{line}");
    }

    fn check_analyses(line: &str, expected: Result<(Analysis, bool, bool), &str>) {
        let options = parse(line);
        let found = options.analyses();
        let found = found.map(|found| (found.lock_sets, found.races, found.atomizer.is_some()));
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{line}"),
            (Err(error), Err(begin)) => assert!(error.to_string().starts_with(begin), "{line}: {error}"),
            (found, _) => panic!("{line}: {found:?}"),
        }
    }

    #[test]
    fn several_analyses_are_one_run() {
        check_analyses("fissure detect -- true", Ok((Analysis::Racer, true, true)));
        check_analyses("fissure detect --analysis racer -- true", Ok((Analysis::Racer, true, false)));
        check_analyses("fissure detect --analysis atomizer -- true", Ok((Analysis::Racer, false, true)));
        check_analyses(
            "fissure detect --analysis eraser,atomizer -- true",
            Ok((Analysis::Eraser, true, true)),
        );
        check_analyses("fissure detect --order happens-before -- true", Ok((Analysis::Racer, true, false)));
        check_analyses("fissure detect --analysis racer,eraser -- true", Err("racer and eraser"));
        let ordered = "fissure detect --analysis atomizer --order happens-before -- true";
        check_analyses(ordered, Err("atomizer looks for"));
        check_analyses("fissure detect --analysis racer --atomic A.b -- true", Err("--atomic"));
    }

    #[test]
    fn arrays_are_watched_unless_declined() {
        check_watch("fissure detect -- true", Watch::All);
        check_watch("fissure detect --arrays no -- true", Watch::Fields);
        check_watch("fissure detect --watch locks -- true", Watch::Locks);
        check_watch("fissure detect --watch fields -- true", Watch::Fields);
    }
}
