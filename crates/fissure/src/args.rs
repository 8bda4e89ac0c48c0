//! The options, and what becomes of a command line that cannot be understood.

use std::{ffi::OsString, path::PathBuf};

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    error::{ContextKind, ContextValue, ErrorKind},
};
use fissure_model::{
    pattern::Pattern,
    settings::{Analysis, Order, Watch},
};

use crate::{hunt::HuntArguments, replay::ReplayArguments, reporting::ReportingArguments};

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
    /// Run a command and report the data races of the JVMs it starts.
    Detect(DetectArguments),
    /// Run a command many times with its threads under control, and make atomicity violations happen.
    Hunt(HuntArguments),
    /// Run one seed or one finding of a hunt again, and show how it happens.
    Replay(ReplayArguments),
    /// Show, merge or convert the JSON reports of earlier runs.
    Report(ReportArguments),
    /// Check that Fissure works here: find the agent and Java, plant a race and see it found.
    Doctor,
}

#[derive(Debug, Args)]
#[command(override_usage = "fissure detect [OPTIONS] -- COMMAND [ARGS]...")]
#[command(after_help = "Examples:
  fissure detect -- java -cp classes com.acme.Main
  fissure detect --scope 'com.acme..*' --json findings.json -- ./gradlew test

Exit codes: 0 nothing found, 1 findings that count (see --fail-on), 2 usage or tool error.
A run that could not see anything is an error. The program's own exit code is reported.")]
pub(crate) struct DetectArguments {
    /// The analysis that looks for races.
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "racer")]
    pub(crate) analysis: Vec<AnalysisName>,

    /// Classes whose fields are watched: Account, com.acme.Account, 'com.acme..*'. May be repeated; without it
    /// the application's own classes.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(crate) scope: Vec<Pattern>,

    /// Whether the elements of arrays are watched too.
    #[arg(long, value_name = "yes|no", default_value = "yes", hide_possible_values = true)]
    pub(crate) arrays: YesNo,

    /// What counts as an order between two accesses: starting and joining threads, or also handing over by tasks and
    /// their results, latches, barriers and queues. Ordered races are listed apart and do not count.
    #[arg(long, value_name = "ORDER", default_value = "start-join")]
    pub(crate) order: OrderName,

    #[command(flatten)]
    pub(crate) reporting: ReportingArguments,

    /// What is turned into events; for measuring what that costs.
    #[arg(long, hide = true, conflicts_with = "arrays")]
    pub(crate) watch: Option<WatchName>,

    /// The command that starts the program, with its arguments: java …, mvn test, a script.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

impl DetectArguments {
    /// How much of the program becomes events.
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
    /// Reports that --json wrote. Several are put together: counts add up, findings unite.
    #[arg(value_name = "FILE.json", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Write all findings that are not suppressed into the file that --baseline names.
    #[arg(long)]
    pub(crate) update_baseline: bool,

    #[command(flatten)]
    pub(crate) reporting: ReportingArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnalysisName {
    /// Lock sets refined from the first access on.
    Racer,
    /// Lock sets refined once a second thread comes along: forgives initialisation.
    Eraser,
}

impl From<AnalysisName> for Analysis {
    fn from(name: AnalysisName) -> Analysis {
        match name {
            AnalysisName::Racer => Analysis::Racer,
            AnalysisName::Eraser => Analysis::Eraser,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderName {
    /// Starting and joining threads.
    StartJoin,
    /// Also tasks and their results, latches, barriers and queues.
    HandOver,
    /// Also locks, volatile fields, atomics and concurrent maps; what is ordered is not reported at all.
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
    /// Warnings that nothing ordered.
    Warning,
    /// Ordered ones too.
    Ordered,
    /// Only what was made to happen.
    Confirmed,
    /// Only what broke something.
    Bug,
    /// Nothing: 0 whatever is found.
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

/// A command line that ends here: help was asked for, or it cannot be understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Help or the version, for standard output.
    Answer(String),
    /// What is wrong, for standard error.
    Misuse(String),
}

/// Understands the command line whose first argument is the program's own name.
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

/// Clap's own words in Fissure's form, with the next step where clap cannot know it.
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
    // Clap guesses that an unknown option may be meant for the positional argument, which here is never so.
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
        check_misuse("fissure detect --scope a/b -- true", "invalid value 'a/b' for '--scope <PATTERN>'");
        check_misuse("fissure detect --analysis magic -- true", "invalid value 'magic'");
        check_misuse("fissure bogus", "unrecognized subcommand 'bogus'");
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
        assert_eq!(options.scope.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a.B", "C", "d..*"]);
        assert_eq!(options.reporting.json, None);
    }
}
