//! The command line: its options, and the messages about a command line that is wrong.

use std::{ffi::OsString, path::PathBuf, str::FromStr, time::Duration};

use crate::error::Error;
use clap::{
    Args, Parser, Subcommand, ValueEnum,
    error::{ContextKind, ContextValue, ErrorKind},
};
use fissure_model::{
    pattern::Pattern,
    pointcut::{Pointcut, PointcutError},
    settings::{Analysis, AtomizerSettings, Order, Refinement, Watch},
};

use crate::{
    hunt::HuntArguments, monitor::WatchArguments, replay::ReplayArguments, reporting::ReportingArguments,
};

/// Finds data races and atomicity violations in unmodified JVM programs.
#[derive(Debug, Parser)]
#[command(name = "fissure", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 nothing found, 1 findings, 2 usage or tool error.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command and report the data races and atomicity violations of the JVMs it starts.
    Detect(DetectArguments),
    /// Run a command many times with its threads under control, and make atomicity violations happen.
    Hunt(HuntArguments),
    /// Run a command under a monitor script that you wrote: advice on pointcuts.
    Watch(WatchArguments),
    /// Run one seed or one finding of a hunt again, and show how it happens.
    Replay(ReplayArguments),
    /// Show, merge or convert the JSON reports of earlier runs.
    Report(ReportArguments),
    /// Find the methods of a concurrent object that are not atomic.
    Object(ObjectArguments),
    /// Check that Fissure works here: find the agent and Java, plant a race and see it found.
    Doctor,
}

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

    /// The events that order two accesses: starting and joining threads, or also handing over by tasks and their results,
    /// latches, barriers and queues. Ordered races are listed apart and do not count.
    #[arg(long, value_name = "ORDER", default_value = "start-join")]
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

/// Pointcuts with commas between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScopeList(Vec<Pointcut>);

impl FromStr for ScopeList {
    type Err = PointcutError;

    fn from_str(text: &str) -> Result<Self, PointcutError> {
        Pointcut::parse_list(text).map(ScopeList)
    }
}

impl ScopeList {
    /// All pointcuts of several lists.
    pub(crate) fn all(lists: &[ScopeList]) -> Vec<Pointcut> {
        lists.iter().flat_map(|list| list.0.iter().cloned()).collect()
    }
}

/// The analyses of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Analyses {
    /// The lock-set analysis, which Atomizer needs too.
    pub(crate) lock_sets: Analysis,
    /// Whether its races are reported.
    pub(crate) races: bool,
    pub(crate) atomizer: Option<AtomizerSettings>,
}

impl DetectArguments {
    /// The analyses to run.
    pub(crate) fn analyses(&self) -> Result<Analyses, Error> {
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
        })
    }

    /// Which events are recorded.
    pub(crate) fn watched(&self) -> Watch {
        match (self.watch, self.arrays) {
            (Some(WatchName::Locks), _) => Watch::Locks,
            (Some(WatchName::Fields), _) | (None, YesNo::No) => Watch::Fields,
            (Some(WatchName::All), _) | (None, YesNo::Yes) => Watch::All,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fissure report findings.json --html findings.html
  fissure report machine-*.json --junit fissure.xml --baseline fissure-baseline.json
  fissure report findings.json --update-baseline --baseline fissure-baseline.json

Exit codes: 0 nothing found, 1 findings that count (see --fail-on), 2 usage or tool error.")]
pub(crate) struct ReportArguments {
    /// Reports that --json wrote. Several are merged: counts add up, and findings are united.
    #[arg(value_name = "FILE.json", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Write all findings that are not suppressed into the file that --baseline names.
    #[arg(long)]
    pub(crate) update_baseline: bool,

    #[command(flatten)]
    pub(crate) reporting: ReportingArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fissure object java.util.concurrent.ConcurrentHashMap --method size
  fissure object com.acme.Cache --classpath target/classes --core get,put --budget 20s

Exit codes: 0 nothing found, 1 a method is not atomic, 2 usage or tool error.")]
pub(crate) struct ObjectArguments {
    /// The class, with its package; nested classes with $.
    #[arg(value_name = "CLASS")]
    pub(crate) class: String,

    /// Where the class and what it needs are: folders and archives with colons between them.
    #[arg(long, value_name = "CP", default_value = "")]
    pub(crate) classpath: String,

    /// Methods that are taken to be atomic: put, put/2 or 'put(Object, Object)'. Without it the built-in or inferred ones.
    #[arg(long, value_name = "METHOD", value_delimiter = ',')]
    pub(crate) core: Vec<String>,

    /// A method to test. May be repeated; without it all that can be called.
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Vec<String>,

    /// A method that is known to be read-only. May be repeated; other methods are decided from their class files.
    #[arg(long, value_name = "METHOD")]
    pub(crate) read_only: Vec<String>,

    /// A method to leave out. May be repeated.
    #[arg(long, value_name = "METHOD")]
    pub(crate) exclude: Vec<String>,

    /// Arguments for the constructor, such as '16,true'.
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    pub(crate) constructor: Option<String>,

    /// A TOML file with the same settings: core, methods, exclude, read-only, constructor.
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<PathBuf>,

    /// The most invocations in a harness.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(2..=8))]
    pub(crate) invocations: u8,

    /// The most sequences, which are executed at the same time.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(2..=4))]
    pub(crate) sequences: u8,

    /// The most different values; without it 2, and more for methods that take ranges.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub(crate) values: Option<u8>,

    /// How long to search for each method: 500ms, 5s, 2m.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) budget: Duration,

    /// Execute this harness only, as in '[put(0,0)], [size()]'.
    #[arg(long, value_name = "HARNESS")]
    pub(crate) harness: Option<String>,

    /// How harnesses are executed: by stress, many times under the operating system's scheduler; controlled, once for every schedule with
    /// at most two preemptions; or one after the other.
    #[arg(long, value_name = "HOW", default_value = "both")]
    pub(crate) schedules: SchedulesName,

    /// Do not test whether the core itself is atomic.
    #[arg(long)]
    pub(crate) trust_core: bool,

    /// The seed that decides the order of the harnesses.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The java to use; without it that of JAVA_HOME or the first on PATH.
    #[arg(long, value_name = "FILE")]
    pub(crate) java: Option<PathBuf>,

    /// Write to this folder, for each violation, a Java program that shows it without Fissure.
    #[arg(long, value_name = "DIR")]
    pub(crate) emit_java: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reporting: ReportingArguments,
}

/// How harnesses are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchedulesName {
    /// Many times, under the operating system's scheduler.
    Stress,
    /// Under one schedule after the other.
    Controlled,
    /// By stress first, then controlled.
    Both,
}

/// Reads a duration such as 500ms, 5s or 2m; a number alone means seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| "write it as 500ms, 5s or 2m".to_owned())?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err("write it as 500ms, 5s or 2m".to_owned()),
    };
    if !(0.001..=86_400.0 * 7.0).contains(&seconds) {
        return Err("it must be between 1 ms and a week".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnalysisName {
    /// Lock sets that are refined from the first access on.
    Racer,
    /// Lock sets that are refined once a second thread accesses the location: allows for initialisation.
    Eraser,
    /// Reduction: blocks whose operations other threads can interleave with.
    Atomizer,
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderName {
    /// Starting and joining threads.
    StartJoin,
    /// Also tasks and their results, latches, barriers and queues.
    HandOver,
    /// Also locks, volatile fields, atomics and concurrent maps; ordered races are not reported at all.
    HappensBefore,
}

impl From<OrderName> for Order {
    fn from(name: OrderName) -> Order {
        match name {
            OrderName::StartJoin => Order::StartJoin,
            OrderName::HandOver => Order::HandOver,
            OrderName::HappensBefore => Order::HappensBefore,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Findings that are not ordered.
    Warning,
    /// Ordered findings too.
    Ordered,
    /// Only findings that a run made happen.
    Confirmed,
    /// Only findings that made the program fail.
    Bug,
    /// No finding: the exit code is 0 whatever is found.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Wherever the report goes.
    Always,
    /// Plain text.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchName {
    Locks,
    Fields,
    All,
}

/// A command line that is not executed: it asks for help, or it is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The help or the version, for standard output.
    Answer(String),
    /// The error message, for standard error.
    Misuse(String),
}

/// Parses the command line, whose first argument is the name of the executable.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Arguments, Stop> {
    Arguments::try_parse_from(arguments).map_err(|error| {
        let text = error.render().to_string();
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Stop::Answer(text),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Stop::Misuse(text),
            _ => Stop::Misuse(explain(&error, &text)),
        }
    })
}

/// Clap's message in Fissure's form, with the next step where clap cannot know it.
fn explain(error: &clap::Error, text: &str) -> String {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg)
        && !argument.starts_with('-')
    {
        return format!(
            "fissure: unexpected argument '{argument}': the command to run comes after `--`, as in `fissure detect -- java Main`\n"
        );
    }
    let text = text.strip_prefix("error: ").unwrap_or(text);
    // Clap guesses that an unknown option may be meant for the positional argument, which it never is here.
    let lines: Vec<&str> = text.split('\n').filter(|line| !line.starts_with("  tip: to pass")).collect();
    format!("fissure: {}", lines.join("\n").replace("\n\n\n", "\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Arguments, Stop> {
        parse(line.split(' ').map(OsString::from))
    }

    fn check_misuse(line: &str, expected: &str) {
        match parse_line(line) {
            Err(Stop::Misuse(text)) => {
                assert!(text.starts_with(&format!("fissure: {expected}")), "{line}: {text}");
                assert!(!text.contains("tip: to pass"), "{line}: {text}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    fn check_watch(line: &str, expected: Watch) {
        let Ok(Arguments { command: Command::Detect(options) }) = parse_line(line) else { panic!("{line}") };
        assert_eq!(options.watched(), expected, "{line}");
    }

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn misuse_is_explained() {
        check_misuse("fissure detect --bogus -- true", "unexpected argument '--bogus'");
        check_misuse(
            "fissure detect java Main",
            "unexpected argument 'java': the command to run comes after",
        );
        check_misuse("fissure detect --scope a/b -- true", "invalid value 'a/b' for '--scope <POINTCUT>'");
        check_misuse("fissure detect --analysis magic -- true", "invalid value 'magic'");
        check_misuse("fissure bogus", "unrecognized subcommand 'bogus'");
    }

    fn check_analyses(line: &str, expected: Result<(Analysis, bool, bool), &str>) {
        let Ok(Arguments { command: Command::Detect(options) }) = parse_line(line) else { panic!("{line}") };
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

    #[test]
    fn the_program_keeps_its_options() {
        let Ok(Arguments { command: Command::Detect(options) }) =
            parse_line("fissure detect --scope a.B,C --scope d..* -- java --json x -- y")
        else {
            panic!()
        };
        assert_eq!(options.command, ["java", "--json", "x", "--", "y"]);
        let scope = ScopeList::all(&options.scope);
        assert_eq!(scope.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a.B", "C", "d..*"]);
        assert_eq!(options.reporting.json, None);
    }
}
