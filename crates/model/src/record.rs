//! What a front end writes while the program runs, one JSON object a line.
//!
//! Each watched JVM appends to a file of its own (`jvm-PID.jsonl`) in the run's folder, and flushes every
//! line, so that a program that is killed or crashes leaves behind whatever was seen up to there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    coverage::Coverage,
    finding::{Finding, Frame},
    goal::{AcquireGoal, Goal},
    interleaving::Interleaving,
};

/// One line of a JVM's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// The first line: which JVM this is and whether Fissure acts in it.
    Hello(Hello),
    /// Something was found. A later finding with the same id replaces an earlier one.
    Finding(Box<Finding>),
    /// What was watched so far. The last one counts.
    Coverage(Box<Coverage>),
    /// Something the user should know.
    Notice {
        /// One sentence.
        text: String,
    },
    /// Fissure itself failed in this JVM. The program went on, and the rest of the run says nothing about it.
    InternalError {
        /// The exception or panic, with where it came from.
        text: String,
    },
    /// A monitor that the user wrote was stopped; the program went on without it.
    Stopped {
        /// The monitor.
        monitor: String,
        /// What it did.
        problem: String,
    },
    /// How a controlled run went.
    Run(Box<Run>),
    /// An exception that no code caught ended a thread of a program that is only watched.
    Failure(Box<Failure>),
    /// Where the program's threads stood when a signal ended it, for the first few of them.
    Threads {
        /// The threads.
        threads: Vec<StandingThread>,
    },
    /// The JVM ended in an orderly way (normal end or `System.exit`). Without it, it was killed, crashed or halted.
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
    /// It waits for a lock that another thread holds.
    Blocked,
    /// It waits, parks or sleeps.
    Waiting,
    /// It runs, or waits outside of the JVM, for input and output mostly.
    Running,
}

/// Why a run is out of control in which there were virtual threads.
pub const VIRTUAL_THREADS: &str = "virtual threads are not controlled";

/// How a controlled run went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// How it ended.
    pub end: RunEnd,
    /// How many choices there were.
    pub choices: u64,
    /// How many steps were executed.
    pub steps: u64,
    /// Who was chosen, choice by choice.
    pub schedule: String,
    /// Why another run with the same settings may go otherwise; empty if it may not.
    pub uncontrolled: Vec<String>,
    /// Where the run departed from the schedule that it was to follow.
    #[serde(default)]
    pub departure: Option<String>,
    /// Whether time was made to pass for sleepers while others could run.
    #[serde(default)]
    pub is_hurried: bool,
    /// What went wrong in it.
    pub failures: Vec<Failure>,
    /// Acquires that could come in between two of an atomic block.
    pub pairs: Vec<AcquireGoal>,
    /// Acquires by different threads that came in this order, and acquires that could come before a thread that was woken.
    #[serde(default)]
    pub orders: Vec<AcquireGoal>,
    /// How many choices it took until a thread stood before an acquire, by its place, that others then came in before, or waited.
    #[serde(default)]
    pub reached: BTreeMap<String, u64>,
    /// Atomic-set violations and races that other runs may show.
    #[serde(default)]
    pub goals: Vec<Goal>,
    /// The classes of objects that are not made for several threads, and that threads used without a common lock.
    #[serde(default)]
    pub unguarded: Vec<String>,
    /// What was left out of them because there was too much of something.
    #[serde(default)]
    pub cut: Vec<String>,
    /// How often a thread that was held up had to be let go because nobody else could run.
    #[serde(default)]
    pub thrashings: u64,
}

/// How a controlled run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// The program ended by itself.
    Finished,
    /// Threads waited for each other in a circle.
    Deadlock,
    /// All threads waited for something that nobody was left to do.
    Hang,
    /// There were more steps than allowed.
    TooLong,
}

/// An exception that nobody caught, or that made a test fail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The thread's name.
    pub thread: String,
    /// The exception's class.
    pub exception: String,
    /// Its message.
    #[serde(default)]
    pub message: String,
    /// Where it was thrown, innermost frame first.
    pub stack: Vec<Frame>,
    /// The innermost of these frames that is the application's own.
    #[serde(default)]
    pub own: Option<usize>,
    /// The test that failed, if it was one: `com.acme.AccountTest.deposits`.
    #[serde(default)]
    pub test: Option<String>,
    /// The fingerprints of what had been confirmed in this run before.
    #[serde(default)]
    pub after: Vec<String>,
    /// The steps that led there.
    #[serde(default)]
    pub interleaving: Option<Interleaving>,
}

impl Failure {
    /// What stands for the exception's class if the program ended itself with an exit code that is not 0; that code, as a
    /// number, is the message then.
    pub const EXIT: &str = "exit";

    /// The exit code that the program ended itself with, if that is what happened.
    pub fn exit_code(&self) -> Option<i32> {
        (self.exception == Self::EXIT).then(|| self.message.parse().ok()).flatten()
    }
}

/// Which JVM this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its process id.
    pub pid: u32,
    /// `java.vm.name`.
    pub vm_name: String,
    /// `java.vm.version`.
    pub vm_version: String,
    /// What it was started to run: main class or jar, with arguments.
    pub command: String,
    /// Why Fissure does not act in this JVM; `None` if it does.
    #[serde(default)]
    pub refused: Option<Refusal>,
}

/// Why a JVM is not watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Refusal {
    /// A build tool's own JVM (Maven, Gradle, javac): the program under test runs in another.
    BuildTool,
    /// The JVM cannot be watched: too old, not HotSpot, an option that forbids it.
    Unsupported {
        /// One sentence with the next step.
        text: String,
    },
}
