//! The records that a front end writes while the program runs, one JSON object per line.
//!
//! Each observed JVM appends to its own file (`jvm-PID.jsonl`) in the run's folder and flushes every line, so that
//! nothing recorded is lost if the program is killed or crashes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    coverage::Coverage,
    finding::{FailureKind, Finding, Frame},
    goal::{AcquireGoal, Goal},
    interleaving::Interleaving,
    recording::Recording,
};

/// One line of a JVM's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// The first line: which JVM this is and whether Fissure is active in it.
    Hello(Hello),
    /// A finding. It replaces an earlier one with the same id.
    Finding(Box<Finding>),
    /// The coverage so far. The last such record counts.
    Coverage(Box<Coverage>),
    /// A message for the user.
    Notice {
        /// One sentence.
        text: String,
    },
    /// Fissure itself failed in this JVM. The program went on, but the rest of the run was not analysed.
    InternalError {
        /// The exception or panic, with its origin.
        text: String,
    },
    /// A monitor script was stopped; the program went on without it.
    Stopped {
        /// The monitor script.
        monitor: String,
        /// The reason.
        problem: String,
    },
    /// The result of a controlled run.
    Run(Box<Run>),
    /// An uncaught exception ended a thread in a run that is not controlled.
    Failure(Box<Failure>),
    /// The positions of the program's first few threads when a signal ended it.
    Threads {
        /// The threads.
        threads: Vec<StandingThread>,
    },
    /// The JVM shut down (normal end or `System.exit`). If this record is missing, the JVM was killed, crashed or halted.
    End,
}

/// A thread of the program when a signal ended it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingThread {
    /// Its name.
    pub name: String,
    /// Its activity.
    pub doing: Doing,
    /// The innermost frame of the application.
    pub frame: Frame,
}

/// The activity of a thread at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doing {
    /// It is blocked on a lock that another thread holds.
    Blocked,
    /// It waits, parks or sleeps.
    Waiting,
    /// It runs, or blocks in native code, mostly for input and output.
    Running,
}

/// The reason why a run with virtual threads is not fully controlled.
pub const VIRTUAL_THREADS: &str = "virtual threads are not controlled";

/// The result of a controlled run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// How it ended.
    pub end: RunEnd,
    /// How many choices there were.
    pub choices: u64,
    /// How many steps were executed.
    pub steps: u64,
    /// The thread that was chosen at each choice.
    pub schedule: Recording,
    /// Why another run with the same settings may not replay identically; empty if it replays.
    pub uncontrolled: Vec<String>,
    /// Where the run departed from the schedule that it had to follow.
    #[serde(default)]
    pub departure: Option<String>,
    /// Whether virtual time was advanced to wake a sleeper while other threads could run.
    #[serde(default)]
    pub is_hurried: bool,
    /// The failures.
    pub failures: Vec<Failure>,
    /// Remote acquires that could land between two acquires of an atomic block.
    pub pairs: Vec<AcquireGoal>,
    /// Acquires by different threads that came in this order, and acquires that could come before a woken thread reacquires its monitor.
    #[serde(default)]
    pub orders: Vec<AcquireGoal>,
    /// By the site of the last local acquire or access: the number of choices after which a thread stood there before a remote one
    /// landed; by the site of a wait: the number of choices before it.
    #[serde(default)]
    pub reached: BTreeMap<String, u64>,
    /// Candidates: atomic-set violations and races that other runs may show.
    #[serde(default)]
    pub goals: Vec<Goal>,
    /// The classes of thread-unsafe objects that several threads used without a common lock, or through wrappers.
    #[serde(default)]
    pub unguarded: Vec<String>,
    /// The kinds of candidates that are incomplete because a bound was reached.
    #[serde(default)]
    pub cut: Vec<String>,
    /// How often a paused thread had to be released because no other thread could run.
    #[serde(default)]
    pub thrashings: u64,
    /// What became of the preventions of the run.
    #[serde(default)]
    pub prevention: PreventionFacts,
}

/// What became of the preventions of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreventionFacts {
    /// How often a thread had to wait because its next operation would have done what the run prevents.
    pub held_back: u64,
    /// How often such a thread had to go on all the same, because no other thread could run: a lock in its place would have led to a
    /// deadlock.
    pub broken: u64,
}

/// How a controlled run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// The program ended by itself.
    Finished,
    /// Threads waited for each other in a cycle.
    Deadlock,
    /// All threads waited, and no thread was left to wake them.
    Hang,
    /// The run exceeded its step limit.
    TooLong,
}

impl RunEnd {
    /// The exit code of a program that Fissure ended, for any reason but [`RunEnd::Finished`].
    pub const EXIT_CODE: i32 = 86;
}

/// The cause of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// An uncaught exception, or an exception that made a test fail.
    Exception {
        /// Its class.
        class: String,
        /// Its message; empty if it has none.
        message: String,
    },
    /// The thread ended the program.
    Exit {
        /// The exit code, which is not 0.
        code: i32,
    },
}

/// A failure of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The thread's name.
    pub thread: String,
    /// What failed.
    pub cause: Cause,
    /// The stack of the exception or of the exit, innermost frame first.
    pub stack: Vec<Frame>,
    /// The index of the innermost frame that belongs to the application.
    #[serde(default)]
    pub own: Option<usize>,
    /// The test that failed, if it was one: `com.acme.AccountTest.deposits`.
    #[serde(default)]
    pub test: Option<String>,
    /// The fingerprints of the findings that this run had confirmed before the failure.
    #[serde(default)]
    pub after: Vec<String>,
    /// The steps that led to the failure.
    #[serde(default)]
    pub interleaving: Option<Interleaving>,
}

impl Failure {
    /// Its kind, as a consequence has it.
    pub fn kind(&self) -> FailureKind {
        match &self.cause {
            Cause::Exception { class, .. } => FailureKind::Exception(class.clone()),
            Cause::Exit { .. } => FailureKind::Exit,
        }
    }

    /// The exit code, if the failure is an exit of the program.
    pub fn exit_code(&self) -> Option<i32> {
        match self.cause {
            Cause::Exception { .. } => None,
            Cause::Exit { code } => Some(code),
        }
    }
}

/// The identity of a JVM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its process id.
    pub pid: u32,
    /// `java.vm.name`.
    pub vm_name: String,
    /// `java.vm.version`.
    pub vm_version: String,
    /// Its command: main class or jar, with arguments.
    pub command: String,
    /// Why Fissure is not active in this JVM; `None` if it is.
    #[serde(default)]
    pub refused: Option<Refusal>,
}

/// Why Fissure does not observe a JVM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Refusal {
    /// A build tool's own JVM (Maven, Gradle, javac): the program under test runs in another.
    BuildTool,
    /// The JVM cannot be observed: too old, not HotSpot, or an option forbids it.
    Unsupported {
        /// One sentence with the next step.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cause: Cause, name: &str, code: Option<i32>) {
        let failure = Failure {
            thread: "main".to_owned(),
            cause,
            stack: Vec::new(),
            own: None,
            test: None,
            after: Vec::new(),
            interleaving: None,
        };
        let text = serde_json::to_string(&failure).unwrap();
        assert_eq!(serde_json::from_str::<Failure>(&text).unwrap(), failure, "{text}");
        let kind = failure.kind();
        assert_eq!((kind.name(), failure.exit_code()), (name, code), "{text}");
        // Reports give the kind as a string.
        let text = serde_json::to_string(&kind).unwrap();
        assert_eq!(text, format!("\"{name}\""));
        assert_eq!(serde_json::from_str::<FailureKind>(&text).unwrap(), kind);
    }

    #[test]
    fn failures_have_a_cause_and_a_name_in_reports() {
        let class = "java.lang.IllegalStateException".to_owned();
        let message = "overdrawn".to_owned();
        check(Cause::Exception { class: class.clone(), message }, &class, None);
        check(Cause::Exit { code: 3 }, "exit", Some(3));
        check(Cause::Exit { code: -1 }, "exit", Some(-1));
    }
}
