//! The result of one run, as far as a hunt needs it.

use fissure_model::{
    coverage::Coverage,
    exit::Exit,
    finding::Finding,
    goal::Goal,
    record::{Hello, Run, RunEnd},
};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The program ended, or was ended by the conductor.
    Ended(Exit),
    /// It took too long and was killed.
    TimeLimit,
    /// The user interrupted it.
    Interrupted,
}

/// The records of one process of the program. A command may start several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Process {
    /// Its identity; `None` if it ended before it recorded that.
    pub hello: Option<Hello>,
    /// The name of the program that it executes, the same in every run.
    pub program: String,
    /// Its findings, each id once.
    pub findings: Vec<Finding>,
    /// Counts of what was instrumented and analysed; `None` if it ended before it recorded that.
    pub coverage: Option<Coverage>,
    /// Notes for the user.
    pub notices: Vec<String>,
    /// Failures of Fissure.
    pub internal_errors: Vec<String>,
    /// How its threads were controlled, if they were.
    pub run: Option<Run>,
    /// Whether it ended normally.
    pub has_ended: bool,
    /// Whether some of its records could not be read.
    pub has_unreadable_records: bool,
}

impl Process {
    /// Whether the front end watched this process.
    pub fn is_watched(&self) -> bool {
        self.hello.as_ref().is_none_or(|hello| hello.refused.is_none())
    }
}

/// The result of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The seed of its random choices.
    pub seed: u64,
    /// The goal that it tried to reach.
    pub goal: Option<Goal>,
    /// Whether time passed only if no thread could run before.
    pub is_patient: bool,
    /// How it ended.
    pub ending: Ending,
    /// The records of its processes.
    pub processes: Vec<Process>,
}

impl Outcome {
    /// The records of its controlled processes about their runs.
    pub fn accounts(&self) -> impl Iterator<Item = &Run> {
        self.processes.iter().filter_map(|process| process.run.as_ref())
    }

    /// The findings of all its processes.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.processes.iter().flat_map(|process| &process.findings)
    }

    /// How the conductor ended the run: the worst end of its processes.
    pub fn end(&self) -> RunEnd {
        let ends = [RunEnd::Deadlock, RunEnd::Hang, RunEnd::TooLong];
        ends.into_iter().find(|end| self.accounts().any(|run| run.end == *end)).unwrap_or(RunEnd::Finished)
    }

    /// Whether time passed while threads could run, which may be the cause of a failure.
    pub fn is_hurried(&self) -> bool {
        self.accounts().any(|run| run.is_hurried)
    }

    /// The program's exit code or signal; `None` if Fissure ended the run.
    pub fn own_exit(&self) -> Option<Exit> {
        match self.ending {
            Ending::Ended(exit) if self.end() == RunEnd::Finished => Some(exit),
            _ => None,
        }
    }

    /// Failures of Fissure: such a run says nothing about the program.
    pub fn internal_errors(&self) -> impl Iterator<Item = &String> {
        self.processes.iter().flat_map(|process| &process.internal_errors)
    }

    /// Whether every watched process recorded its whole run.
    pub fn is_complete(&self) -> bool {
        let mut watched = self.processes.iter().filter(|process| process.is_watched()).peekable();
        watched.peek().is_some() && watched.all(|process| process.has_ended && process.run.is_some())
    }

    /// Why another run with this seed and goal may differ.
    pub fn uncontrolled(&self) -> impl Iterator<Item = &str> {
        self.accounts().flat_map(|run| &run.uncontrolled).map(String::as_str)
    }

    /// Whether another run with this seed and goal goes the same way.
    pub fn is_replayable(&self) -> bool {
        self.is_complete() && self.uncontrolled().next().is_none()
    }
}
