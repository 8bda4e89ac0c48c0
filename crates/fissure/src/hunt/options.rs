//! The options of `hunt`, and those that it shares with `replay`.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use fissure_hunt::{Aims, Points, RunSettings, Shard};
use fissure_model::{finding::Kind, iteration::Isolation, pattern::Pattern, settings::SetRules};
use fissure_schedule::strategy::registry::{self, StrategyError, StrategyKind};

use crate::{
    args::{ScopeList, YesNo, duration},
    error::Error,
    reporting::ReportingArguments,
};

/// A pause that always happens.
const ALWAYS: u32 = 1_000_000;
/// The default depth of `pct`.
const DEPTH: u32 = 3;
/// The default step limit.
const STEPS: u64 = 1_000_000;
/// The option that names the configuration.
const CONFIG: &str = "--config";

#[derive(Debug, Args)]
#[command(override_usage = "fissure hunt [OPTIONS] -- COMMAND [ARGS]...")]
#[command(after_help = "Examples:
  fissure hunt -- java -cp classes com.acme.Main
  fissure hunt --runs 200 --until-bug --json findings.json -- java -cp classes com.acme.Main
  fissure hunt --only data-race -- java -cp classes com.acme.Main
  fissure hunt --strategy assetfuzzer,racefuzzer -- java -cp classes com.acme.Main

Exit codes: 0 nothing found, 1 findings that count (see --fail-on), 2 usage or tool error.
Runs that could not see anything are an error. The program's own exit codes are reported.")]
pub(crate) struct HuntArguments {
    #[command(flatten)]
    pub(crate) scheduling: ScheduleArguments,

    /// How long the hunt looks for bugs: 20s, 5min; 20s without this option and --runs. It ends earlier if everything that was predicted
    /// has been tried and chance shows nothing new, and makes at least 16 runs.
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "runs")]
    pub(crate) budget: Option<Duration>,

    /// Hunt for findings of this kind only. May be repeated, or several with commas between them.
    #[arg(long, value_name = "KIND", value_delimiter = ',', conflicts_with = "strategy")]
    pub(crate) only: Vec<KindName>,

    /// How often the program is run, apart from reference runs, however long that takes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,

    /// How many runs with a sequential schedule come first: a failure in all of them does not depend on the schedule, and is no bug.
    #[arg(long, alias = "control-runs", value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) reference_runs: u64,

    /// The first run's seed; each further run has the next one.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Run only the I-th of N parts of the seeds; `fissure report` puts the reports of all parts together. Without it, I and N
    /// are those of a Slurm array, an indexed job of Kubernetes, GNU parallel or a CI system, if they are there.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,

    /// How many runs go on at the same time; without it as many as there are processors.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,

    /// What runs share: `jvm` gives each run a JVM of its own; `classes` repeats the program in warm JVMs, with its classes loaded anew
    /// each time; `none` keeps its classes and their static fields too. If runs in a warm JVM differ from runs in a new one, all have their
    /// own, and a note gives the reason.
    #[arg(long, value_name = "jvm|classes|none", default_value = "classes", hide_possible_values = true)]
    pub(crate) isolation: IsolationName,

    /// Whether runs have goals, which earlier runs showed to be possible. `no` leaves the published algorithm.
    #[arg(long, value_name = "yes|no", default_value = "yes", hide_possible_values = true)]
    pub(crate) learn: YesNo,

    /// How many profiling runs predict goals for assetfuzzer and racefuzzer.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) profile: u64,

    /// Stop at the first run that shows a failure which depends on the schedule.
    #[arg(long)]
    pub(crate) until_bug: bool,

    /// Execute the runs of a round in the reverse order, to see that the order makes no difference.
    #[arg(long, hide = true)]
    pub(crate) backwards: bool,

    /// Leave the schedules that are shown as they were found; otherwise a few more runs make them shorter.
    #[arg(long)]
    pub(crate) no_minimise: bool,

    #[command(flatten)]
    pub(crate) reporting: ReportingArguments,

    /// The command that starts the program, with its arguments: java …, mvn test, a script.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The options that decide how a run goes, beside its seed and its goal.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScheduleArguments {
    /// Analyse the class files first: accesses to fields that only one thread can ever touch are no scheduling points. COMMAND
    /// must be `java` itself.
    #[arg(long = "static")]
    pub(crate) is_static: bool,

    /// The strategy that schedules threads. Several, with commas between them, hunt one after the other. Without this option runs have
    /// goals of every kind: those of atomfuzzer, and races and atomic-set violations that were predicted.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = strategy_parser())]
    pub(crate) strategy: Vec<&'static StrategyKind>,

    /// The checkers that look at every run, whatever the strategy: atomic-sets. It makes every access to a field a scheduling point.
    #[arg(long, alias = "monitor", value_name = "CHECKER", value_delimiter = ',')]
    pub(crate) check: Vec<CheckerName>,

    /// The probability that a thread is paused where its atomic block could be violated, from 0 to 1.
    #[arg(long, value_name = "P", default_value = "1", value_parser = probability)]
    pub(crate) pause: u32,

    /// How many ordering constraints the bugs have that --strategy pct looks for.
    #[arg(long, value_name = "N", default_value_t = DEPTH, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) depth: u32,

    /// The scheduling points: where threads may be preempted.
    #[arg(long, value_name = "WHERE", default_value = "auto")]
    pub(crate) points: PointsName,

    /// A run ends after so many steps, with a note.
    #[arg(long, value_name = "N", default_value_t = STEPS, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: u64,

    /// A run is killed after so many seconds; it counts only for what it showed before.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) time_limit: u64,

    /// Methods that must be atomic, beside synchronized blocks and methods and what is annotated
    /// `@Atomic`: Account.transfer, com.acme.Account, 'com.acme..*'. May be repeated.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(crate) atomic: Vec<Pattern>,

    /// The classes in scope (Account, com.acme.Account, 'com.acme..*'), or a pointcut ('lock() && within(Account+)'). May be repeated;
    /// without it the application's own classes, by where they come from.
    #[arg(long, value_name = "POINTCUT")]
    pub(crate) scope: Vec<ScopeList>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckerName {
    /// The eleven patterns of atomic-set violations.
    AtomicSets,
}

/// The kinds of findings of a hunt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindName {
    /// Blocks that should be atomic and are not, by their locks.
    AtomicityViolation,
    /// Fields that belong together and were seen or left inconsistent.
    AtomicSetViolation,
    /// Two accesses at the same time, one of them a write.
    DataRace,
    /// Threads that wait for each other.
    Deadlock,
    /// Uncaught exceptions, failed tests and exit codes that depend on the schedule.
    Failure,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Kind {
        match name {
            KindName::AtomicityViolation => Kind::AtomicityViolation,
            KindName::AtomicSetViolation => Kind::AtomicSetViolation,
            KindName::DataRace => Kind::DataRace,
            KindName::Deadlock => Kind::Deadlock,
            KindName::Failure => Kind::Failure,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PointsName {
    /// Locks, and in runs with a goal at accesses also fields, array elements, atomics and collections.
    Auto,
    /// Locks, and where threads wait, start and end.
    Locks,
    /// Also volatile fields and atomics.
    Volatiles,
    /// Also every field of the classes in scope.
    Fields,
    /// Also every array element.
    Elements,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsolationName {
    /// A JVM for each run.
    Jvm,
    /// New classes for each run.
    Classes,
    /// The same classes for all runs.
    None,
}

impl From<IsolationName> for Isolation {
    fn from(name: IsolationName) -> Isolation {
        match name {
            IsolationName::Jvm => Isolation::Jvm,
            IsolationName::Classes => Isolation::Classes,
            IsolationName::None => Isolation::None,
        }
    }
}

impl From<PointsName> for Points {
    fn from(name: PointsName) -> Points {
        match name {
            PointsName::Auto => Points::Auto,
            PointsName::Locks => Points::Locks,
            PointsName::Volatiles => Points::Volatiles,
            PointsName::Fields => Points::Fields,
            PointsName::Elements => Points::Elements,
        }
    }
}

impl HuntArguments {
    /// The kinds of findings that the hunt is for; all if there are none.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        self.only.iter().map(|name| Kind::from(*name)).collect()
    }

    /// The kinds of goals.
    pub(crate) fn aims(&self) -> Aims {
        match (&self.scheduling.strategy[..], &self.only[..]) {
            ([], []) => Aims::ALL,
            ([], _) => Aims::for_kinds(&self.kinds()),
            _ => Aims::FAILURES,
        }
    }

    /// Whether the user asks for races and atomic-set violations, so that they count without a failure.
    pub(crate) fn asks_for_violations(&self) -> bool {
        let scheduling = &self.scheduling;
        !(scheduling.strategy.is_empty() && scheduling.check.is_empty() && self.only.is_empty())
    }
}

impl ScheduleArguments {
    /// The strategies of the command line, each once.
    pub(crate) fn strategies(&self) -> Vec<&'static StrategyKind> {
        let mut strategies: Vec<&'static StrategyKind> = Vec::new();
        for strategy in &self.strategy {
            if !strategies.contains(strategy) {
                strategies.push(strategy);
            }
        }
        if strategies.is_empty() {
            strategies.push(registry::default());
        }
        strategies
    }

    /// The strategy of a single run.
    pub(crate) fn strategy(&self) -> Result<&'static StrategyKind, Error> {
        match self.strategies()[..] {
            [strategy] => Ok(strategy),
            _ => Err(Error::SeveralStrategies),
        }
    }

    /// How runs are controlled. `sets` come from the configuration.
    pub(crate) fn run_settings(&self, sets: SetRules) -> RunSettings {
        RunSettings {
            pause: self.pause,
            depth: self.depth,
            points: self.points.into(),
            steps: self.steps,
            is_patient: false,
            checks_atomic_sets: self.check.contains(&CheckerName::AtomicSets),
            sets,
        }
    }

    /// These options, with those of a report in place of defaults. Options that this version does not know come from another version and
    /// are ignored. The error names a known option with a value that cannot be read: a replay without it would be another run.
    pub(crate) fn with_defaults(&self, words: &[String]) -> Result<Self, String> {
        let mut merged = self.clone();
        // `--static`, the only option without a value, comes last.
        merged.is_static |= words.last().is_some_and(|word| word == "--static");
        for pair in words.chunks(2) {
            let [option, value] = pair else { break };
            let unreadable =
                || format!("its option {option} has the value {value}, which Fissure does not know");
            match option.as_str() {
                "--strategy" if self.strategies() == [registry::default()] => {
                    merged.strategy = vec![registry::find(value).ok_or_else(unreadable)?];
                }
                "--check" | "--monitor" if self.check.is_empty() => {
                    merged.check.push(CheckerName::from_str(value, false).map_err(|_| unreadable())?);
                }
                "--pause" if self.pause == ALWAYS => {
                    merged.pause = probability(value).map_err(|_| unreadable())?;
                }
                "--depth" if self.depth == DEPTH => {
                    merged.depth = value.parse().map_err(|_| unreadable())?;
                }
                "--points" if self.points == PointsName::Auto => {
                    merged.points = PointsName::from_str(value, false).map_err(|_| unreadable())?;
                }
                "--steps" if self.steps == STEPS => {
                    merged.steps = value.parse().map_err(|_| unreadable())?;
                }
                "--atomic" if self.atomic.is_empty() => {
                    merged.atomic.push(value.parse::<Pattern>().map_err(|_| unreadable())?);
                }
                "--scope" if self.scope.is_empty() => {
                    merged.scope.push(value.parse::<ScopeList>().map_err(|_| unreadable())?);
                }
                _ => {}
            }
        }
        Ok(merged)
    }

    /// The options that a replay must repeat, including the configuration's file. With several strategies, each finding names its own.
    pub(crate) fn words(&self, strategies: &[&StrategyKind], config: Option<&Path>) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if let [strategy] = strategies
            && *strategy != registry::default()
        {
            add("--strategy", strategy.name.to_owned());
        }
        if self.check.contains(&CheckerName::AtomicSets) {
            add("--check", "atomic-sets".to_owned());
        }
        if self.pause != ALWAYS {
            add("--pause", (f64::from(self.pause) / f64::from(ALWAYS)).to_string());
        }
        if self.depth != DEPTH {
            add("--depth", self.depth.to_string());
        }
        if let Some(points) = self.points.to_possible_value().filter(|_| self.points != PointsName::Auto) {
            add("--points", points.get_name().to_owned());
        }
        if self.steps != STEPS {
            add("--steps", self.steps.to_string());
        }
        for pattern in &self.atomic {
            add("--atomic", pattern.to_string());
        }
        for pointcut in ScopeList::all(&self.scope) {
            add("--scope", pointcut.to_string());
        }
        if let Some(config) = config {
            add(CONFIG, config.display().to_string());
        }
        if self.is_static {
            words.push("--static".to_owned());
        }
        words
    }

    /// How long a run may take.
    pub(crate) fn time_limit(&self) -> Duration {
        Duration::from_secs(self.time_limit)
    }
}

/// The configuration's file among the options that a replay must repeat.
pub(crate) fn config_of(words: &[String]) -> Option<PathBuf> {
    words.chunks(2).find_map(|pair| match pair {
        [option, value] if option == CONFIG => Some(PathBuf::from(value)),
        _ => None,
    })
}

/// Reads the name of a strategy that users may choose; the help lists them.
fn strategy_parser() -> impl TypedValueParser<Value = &'static StrategyKind> {
    // As in the rest of the help, descriptions have no full stop.
    let names = registry::offered()
        .map(|strategy| PossibleValue::new(strategy.name).help(strategy.about.trim_end_matches('.')));
    PossibleValuesParser::new(names).try_map(|name| registry::find(&name).ok_or(StrategyError::Unknown(name)))
}

/// A probability as chances in a million.
fn probability(text: &str) -> Result<u32, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok((value * f64::from(ALWAYS)).round() as u32),
        _ => Err("a probability is a number from 0 to 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_probability(text: &str, expected: Option<u32>) {
        assert_eq!(probability(text).ok(), expected, "{text}");
    }

    fn arguments() -> ScheduleArguments {
        ScheduleArguments {
            strategy: Vec::new(),
            check: Vec::new(),
            pause: ALWAYS,
            depth: DEPTH,
            points: PointsName::Auto,
            steps: STEPS,
            time_limit: 1,
            atomic: Vec::new(),
            scope: Vec::new(),
            is_static: false,
        }
    }

    fn strategy(name: &str) -> &'static StrategyKind {
        registry::find(name).unwrap()
    }

    fn check_strategies(names: &[&str], expected: &[&str]) {
        let strategies = |names: &[&str]| names.iter().map(|name| strategy(name)).collect::<Vec<_>>();
        let arguments = ScheduleArguments { strategy: strategies(names), ..arguments() };
        assert_eq!(arguments.strategies(), strategies(expected));
        assert_eq!(arguments.strategy().is_ok(), expected.len() == 1);
    }

    #[test]
    fn probabilities_are_numbers_from_0_to_1() {
        check_probability("1", Some(1_000_000));
        check_probability("0", Some(0));
        check_probability("0.5", Some(500_000));
        check_probability("1.5", None);
        check_probability("-0.1", None);
        check_probability("NaN", None);
        check_probability("often", None);
    }

    #[test]
    fn strategies_come_one_after_the_other_and_each_once() {
        check_strategies(&[], &["atomfuzzer"]);
        check_strategies(&["random", "random"], &["random"]);
        check_strategies(&["racefuzzer", "assetfuzzer"], &["racefuzzer", "assetfuzzer"]);
    }

    #[test]
    fn a_replay_repeats_the_options_that_are_not_defaults() {
        assert!(arguments().words(&[strategy("atomfuzzer")], None).is_empty());
        let scope = vec!["a.B".parse().unwrap(), "c..*".parse().unwrap()];
        let chosen = ScheduleArguments {
            pause: 500_000,
            depth: 5,
            points: PointsName::Volatiles,
            steps: 9,
            scope,
            ..arguments()
        };
        let atomic = vec!["a.B.m".parse().unwrap()];
        let check = vec![CheckerName::AtomicSets];
        let chosen = ScheduleArguments { atomic, check, is_static: true, ..chosen };
        let text = "--strategy random --check atomic-sets --pause 0.5 --depth 5 --points volatiles --steps 9 --atomic a.B.m --scope a.B --scope c..* --config f.toml --static";
        let config = Path::new("f.toml");
        let words = chosen.words(&[strategy("random")], Some(config));
        assert_eq!(config_of(&words).as_deref(), Some(config));
        assert_eq!(words.join(" "), text);
        let read = arguments().with_defaults(&words).unwrap();
        assert_eq!(read.words(&[read.strategy().unwrap()], Some(config)), words);
        let other = ScheduleArguments { steps: 3, ..arguments() }.with_defaults(&words).unwrap();
        assert_eq!(other.steps, 3);
    }

    #[test]
    fn options_of_a_report_that_cannot_be_read_are_errors() {
        let check = |text: &str, is_read: bool| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            assert_eq!(arguments().with_defaults(&words).is_ok(), is_read, "{text}");
        };
        check("--unknown 1 --steps 9", true);
        for wrong in [
            "--strategy none",
            "--check none",
            "--pause 2",
            "--points none-such",
            "--steps many",
            "--atomic ((",
        ] {
            check(wrong, false);
        }
    }
}
