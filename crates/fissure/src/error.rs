//! Fissure's own errors, each as one sentence with the next step.

use std::{io, path::PathBuf};

use crate::{locality::LocalityError, object::ObjectError, test::TestError};

/// Why Fissure could not execute the command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Fissure was built for a system on which no agent can work.
    #[error("this build cannot watch a JVM: Fissure runs on Linux with glibc on x86-64 and aarch64 only")]
    Platform,

    /// The environment variable of the log is wrong.
    #[error("FISSURE_LOG: {0}")]
    LogFilter(fissure_log::FilterError),

    /// COMMAND is missing.
    #[error(
        "no command was given: end the line with the command to run, as in `fissure detect -- java Main`"
    )]
    NoCommand,

    /// The monitor script cannot be read.
    #[error("--monitor {path}: the script cannot be read ({source})")]
    MonitorFile { path: String, source: io::Error },

    /// The monitor script cannot be loaded.
    #[error("--monitor {path}: {problem}")]
    Monitor { path: String, problem: fissure_monitor::LoadError },

    /// Two lock-set analyses, which keep the same state per location.
    #[error("racer and eraser cannot share a run: run Fissure once for each of them")]
    TwoLockSetAnalyses,

    /// Atomizer with happens-before, which leaves no other order of events to look for.
    #[error(
        "atomizer looks for other orders of the events of a run, so it cannot be combined with --order happens-before: use \
         --order start-join or hand-over"
    )]
    OrderedAtomizer,

    /// Options of atomizer, which does not run.
    #[error(
        "--atomic and --atomizer-without are options of atomizer, which is not among the analyses: add it to --analysis"
    )]
    NoAtomizer,

    /// Several strategies for a single run.
    #[error("a replay is one run, which follows one strategy: name the one that found it")]
    SeveralStrategies,

    /// The last seed would exceed the largest number.
    #[error("--seed is too large for so many runs: choose a smaller one")]
    SeedTooLarge,

    /// A shard without any run.
    #[error("shard {shard} has none of the {runs} runs: raise --runs, or use at most {runs} shards")]
    EmptyShard { shard: String, runs: u64 },

    /// Environment variables of two systems give different shards.
    #[error(
        "the variables of both {0} and {1} number the copies of this hunt, and Fissure cannot know which of them share its \
         seeds: give --shard I/N, or --shard 1/1 for all seeds"
    )]
    TwoShards(&'static str, &'static str),

    /// Neither a seed nor a report is given.
    #[error(
        "nothing to replay was named: give --seed S, or a report and a finding in it as in \
         `fissure replay findings.json#ID -- java Main`"
    )]
    NothingToReplay,

    /// A report that cannot be read.
    #[error("the report {path} cannot be read: {reason}")]
    Findings { path: String, reason: String },

    /// A report that does not have the finding.
    #[error("the report {path} has no finding {id} that can be replayed; it has {known}")]
    NoSuchFinding { path: String, id: String, known: String },

    /// A seed that does not show the finding.
    #[error(
        "seed {seed} is not one of those that the report gives for finding {id}: leave --seed out, or use {known}"
    )]
    NoSuchSeed { seed: u64, id: String, known: String },

    /// A folder for sources that does not exist.
    #[error("--sources {path}: there is no such folder")]
    Sources { path: String },

    /// An output file that cannot be written.
    #[error("{option} {path}: the file cannot be written there ({source}); {}", write_advice(source))]
    Write { option: &'static str, path: String, source: io::Error },

    /// The report cannot be written as JSON.
    #[error("the report cannot be expressed as JSON: {0}")]
    JsonForm(#[from] serde_json::Error),

    /// The report cannot be written as XML.
    #[error("{0}")]
    XmlForm(#[from] fissure_report::junit::XmlError),

    /// The report cannot be written as HTML.
    #[error("{0}")]
    HtmlForm(#[from] fissure_report::html::PageError),

    /// A file that is not a report.
    #[error("cannot read the report {path}: {reason}")]
    Unreadable { path: String, reason: String },

    /// An invalid configuration.
    #[error("the configuration {path} cannot be used: {reason}")]
    Config { path: String, reason: String },

    /// An invalid baseline.
    #[error(
        "the baseline {path} cannot be read ({reason}); write it with `fissure report FILE.json --update-baseline \
         --baseline {path}`"
    )]
    Baseline { path: String, reason: String },

    /// --update-baseline without --baseline.
    #[error("--update-baseline needs to know the file: add --baseline FILE")]
    NoBaseline,

    /// A baseline of a run without a valid result.
    #[error("no baseline was written, because the report has no valid result: {0}")]
    BlindBaseline(String),

    /// FISSURE_AGENT names a file that cannot be read.
    #[error("FISSURE_AGENT names {path}, which cannot be read ({source}); correct or unset it", path = path.display())]
    AgentUnreadable { path: PathBuf, source: io::Error },

    /// The agent was not found.
    #[error(
        "the JVM agent libfissure_jvm.so was not found next to the executable: build it with `cargo build`, or \
         name it in FISSURE_AGENT"
    )]
    NoAgent,

    /// The run's folder cannot be created or read.
    #[error("the folder for the run's records cannot be used ({0}); name another place in TMPDIR")]
    Folder(io::Error),

    /// The program could not be started.
    #[error("cannot start '{program}': {reason}")]
    Start { program: String, reason: String },

    /// Signals cannot be caught.
    #[error("cannot catch signals, so that stopping Fissure would leave the program running: {0}")]
    Signals(io::Error),

    /// Waiting for the program failed.
    #[error("cannot wait for '{program}': {source}")]
    Wait { program: String, source: io::Error },

    /// The program cannot be analysed before it runs.
    #[error(transparent)]
    Locality(#[from] LocalityError),

    /// A class cannot be tested.
    #[error(transparent)]
    Object(#[from] ObjectError),

    /// Tests cannot be hunted in.
    #[error(transparent)]
    Test(Box<TestError>),

    /// A debugger for a program that is not started by `java` itself.
    #[error("--debug needs the command `java` itself: name it, or repeat a finding of `fissure test`")]
    NoDebugger,

    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}

/// The next step after a file could not be written.
fn write_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or name a file on another disk"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "name a file in a folder that you may write to"
        }
        _ => "name a file in a folder that exists",
    }
}
