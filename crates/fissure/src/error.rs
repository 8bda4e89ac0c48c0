//! What can go wrong with Fissure itself, each as one sentence with the next step.

use std::{io, path::PathBuf};

use crate::object::ObjectError;

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

    /// More analyses than one run can do.
    #[error("several analyses in one run are not possible yet: run Fissure once for each of them")]
    SeveralAnalyses,

    /// A folder for sources that is none.
    #[error("--sources {path}: there is no such folder")]
    Sources { path: String },

    /// A place where no JSON can be written.
    #[error(
        "--json {path}: the file cannot be written there ({source}); name a file in a folder that exists"
    )]
    Json { path: String, source: io::Error },

    /// The report has no JSON form.
    #[error("the report cannot be expressed as JSON: {0}")]
    JsonForm(#[from] serde_json::Error),

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

    /// A class cannot be tested.
    #[error(transparent)]
    Object(#[from] ObjectError),

    /// Standard output is gone.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}
