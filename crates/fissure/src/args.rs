//! The command line: its options, and the messages about a command line that is wrong.

use std::{ffi::OsString, path::PathBuf, str::FromStr, time::Duration};

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    error::{ContextKind, ContextValue, ErrorKind},
};
use fissure_log::Filter;
use fissure_model::pointcut::{Pointcut, PointcutError};

use crate::{
    detect::DetectArguments, hunt::HuntArguments, replay::ReplayArguments, reporting::ReportingArguments,
    test::TestArguments, watch::WatchArguments,
};

/// Finds data races and atomicity violations in unmodified JVM programs.
#[derive(Debug, Parser)]
#[command(name = "fissure", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 nothing found, 1 findings, 2 usage or tool error.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Write a log of Fissure's own work into the folder of the run: a level (error, warn, info, debug, trace), or levels by crate as in
    /// fissure_jvm=trace. Also FISSURE_LOG.
    #[arg(long, global = true, value_name = "LEVEL", help_heading = "Log")]
    pub(crate) log: Option<Filter>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command and report the data races and atomicity violations of the JVMs it starts.
    Detect(DetectArguments),
    /// Run a command many times with its threads under control, and make atomicity violations happen.
    Hunt(HuntArguments),
    /// Hunt in the tests of a Maven or Gradle project: JUnit 5, JUnit 4 and TestNG.
    Test(Box<TestArguments>),
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

    /// A Java expression that makes an object, such as 'Caffeine.newBuilder().maximumSize(2).build()'.
    #[arg(long, value_name = "EXPR", conflicts_with = "constructor")]
    pub(crate) new: Option<String>,

    /// A TOML file with the same settings: core, methods, exclude, read-only, constructor, new.
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

    /// How long to search for each method at most: 500ms, 5s, 2m.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) budget: Duration,

    /// How long to search for all methods together; 30s, or --budget if that is longer.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) total_budget: Option<Duration>,

    /// Which harnesses are tried: pairs of concurrent calls of any methods first, then the paper's; or the paper's only.
    #[arg(long, value_name = "WHICH", default_value = "pairs")]
    pub(crate) enumeration: EnumerationName,

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

/// Which harnesses are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EnumerationName {
    /// Pairs of concurrent calls first, then those of the paper.
    Pairs,
    /// Those of the paper: at most one call of the method under test, the others of core methods.
    Paper,
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
    /// Only findings that a run made happen, and of races and atomic-set violations only those that made the program fail: many of them
    /// are intended.
    #[value(skip)]
    ConfirmedOrFailed,
    /// Only findings that made the program fail.
    Bug,
    /// No finding: the exit code is 0 whatever is found.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR or CLICOLOR=0 is set; with CLICOLOR_FORCE everywhere.
    Auto,
    /// Wherever the report goes.
    Always,
    /// Plain text.
    Never,
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

    #[test]
    fn the_program_keeps_its_options() {
        let Ok(Arguments { command: Command::Detect(options), .. }) =
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
