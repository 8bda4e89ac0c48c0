//! What can go wrong with Fissure itself, each as one sentence with the next step.

use std::{io, path::PathBuf};

use crate::{locality::LocalityError, object::ObjectError};

/// Why Fissure could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Fissure was built for a system on which no agent can work.
    #[error("this build cannot watch a JVM: Fissure runs on Linux with glibc on x86-64 and aarch64 only")]
    Platform,

    /// Nothing to run.
    #[error(
        "no command was given: end the line with the command to run, as in `fissure detect -- java Main`"
    )]
    NoCommand,

    /// A monitor that cannot be read.
    #[error("--monitor {path}: the script cannot be read ({source})")]
    MonitorFile { path: String, source: io::Error },

    /// A monitor that is no script.
    #[error("--monitor {path}: {problem}")]
    Monitor { path: String, problem: fissure_monitor::LoadError },

    /// Two machines for the same state.
    #[error("racer and eraser cannot share a run: run Fissure once for each of them")]
    TwoLockSetAnalyses,

    /// An order under which nothing is left to interleave.
    #[error(
        "atomizer asks what could happen in another order, so it cannot be had with --order happens-before: use \
         --order start-join or hand-over"
    )]
    OrderedAtomizer,

    /// Options of an analysis that does not run.
    #[error(
        "--atomic and --atomizer-without are about atomizer, which is not among the analyses: add it to --analysis"
    )]
    NoAtomizer,

    /// More strategies than one run can follow.
    #[error("a replay is one run, which follows one strategy: name the one that found it")]
    SeveralStrategies,

    /// Seeds beyond the largest number.
    #[error("--seed is too large for so many runs: choose a smaller one")]
    SeedTooLarge,

    /// A part of the seeds without any.
    #[error("shard {shard} has none of the {runs} runs: raise --runs, or use at most {runs} shards")]
    EmptyShard { shard: String, runs: u64 },

    /// Two systems that share the seeds in different ways.
    #[error(
        "the variables of both {0} and {1} number this hunt, and which of them share its seeds is not known: give \
         --shard I/N, or --shard 1/1 for all seeds"
    )]
    TwoShards(&'static str, &'static str),

    /// Nothing to replay.
    #[error(
        "nothing to replay was named: give --seed S, or a report and a finding in it as in \
         `fissure replay findings.json#ID -- java Main`"
    )]
    NothingToReplay,

    /// A report that cannot be read.
    #[error("the report {path} cannot be read: {reason}")]
    Findings { path: String, reason: String },

    /// A report without the finding.
    #[error("the report {path} has no finding {id} that can be replayed; it has {known}")]
    NoSuchFinding { path: String, id: String, known: String },

    /// A seed that did not show the finding.
    #[error(
        "seed {seed} is not one of those that the report gives for finding {id}: leave --seed out, or use {known}"
    )]
    NoSuchSeed { seed: u64, id: String, known: String },

    /// A folder for sources that is none.
    #[error("--sources {path}: there is no such folder")]
    Sources { path: String },

    /// A place where no file can be written.
    #[error(
        "{option} {path}: the file cannot be written there ({source}); name a file in a folder that exists"
    )]
    Write { option: &'static str, path: String, source: io::Error },

    /// The report has no JSON form.
    #[error("the report cannot be expressed as JSON: {0}")]
    JsonForm(#[from] serde_json::Error),

    /// The report has no XML form.
    #[error("{0}")]
    XmlForm(#[from] fissure_report::junit::XmlError),

    /// The report has no HTML form.
    #[error("{0}")]
    HtmlForm(#[from] fissure_report::html::PageError),

    /// A report that is none.
    #[error("cannot read the report {path}: {reason}")]
    Unreadable { path: String, reason: String },

    /// A configuration that is none.
    #[error("the configuration {path} cannot be used: {reason}")]
    Config { path: String, reason: String },

    /// A baseline that is none.
    #[error(
        "the baseline {path} cannot be read ({reason}); write it with `fissure report FILE.json --update-baseline \
         --baseline {path}`"
    )]
    Baseline { path: String, reason: String },

    /// Nowhere to write the baseline.
    #[error("--update-baseline needs to know the file: add --baseline FILE")]
    NoBaseline,

    /// A baseline of a run that saw nothing would be worth nothing.
    #[error("no baseline was written, because the report means nothing: {0}")]
    BlindBaseline(String),

    /// FISSURE_AGENT is wrong.
    #[error("FISSURE_AGENT names {path}, which cannot be read ({source}); correct or unset it", path = path.display())]
    AgentUnreadable { path: PathBuf, source: io::Error },

    /// There is no agent anywhere.
    #[error(
        "the JVM agent libfissure_jvm.so was not found next to the executable: build it with `cargo build`, or \
         name it in FISSURE_AGENT"
    )]
    NoAgent,

    /// The run's folder could not be made or read.
    #[error("the folder for the run's records cannot be used ({0}); name another place in TMPDIR")]
    Folder(io::Error),

    /// The program could not be started.
    #[error("cannot start '{program}': {reason}")]
    Start { program: String, reason: String },

    /// Waiting for the program failed.
    #[error("cannot wait for '{program}': {source}")]
    Wait { program: String, source: io::Error },

    /// The program cannot be analysed before it runs.
    #[error(transparent)]
    Locality(#[from] LocalityError),

    /// A class cannot be tested.
    #[error(transparent)]
    Object(#[from] ObjectError),

    /// Standard output is gone.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}
