//! Findings as Fissure reports them to the user, in the shape of the JSON report (schema 1).

use serde::{Deserialize, Serialize};

use crate::{goal::Goal, interleaving::Interleaving, prevention::Prevention};

/// The version of the JSON report's schema.
pub const SCHEMA: u32 = 1;

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Two threads access one location without a common lock, and one of them writes.
    DataRace,
    /// A block that should be atomic is not.
    AtomicityViolation,
    /// Units of work interleave on the fields of one atomic set so that no serial order explains the accesses.
    AtomicSetViolation,
    /// Threads wait for each other in a cycle.
    Deadlock,
    /// A method of a concurrent object is not atomic: no order of the invocations explains their results.
    NonAtomicMethod,
    /// A schedule-dependent failure: an uncaught exception, a failed test or an exit code that only some schedules show.
    Failure,
    /// Reported by a monitor script that the user wrote.
    Custom,
}

/// How certain a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// An analysis infers that this could happen.
    Warning,
    /// The violating interleaving was executed.
    Confirmed,
    /// Confirmed, and the program failed in a way that it does not fail otherwise.
    Bug,
}

/// One frame of a stack, innermost first in every list of frames.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The class, with dots: `com.acme.Account`.
    pub class: String,
    /// The method's name.
    pub method: String,
    /// The source file's name, if the class file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, if the class file has line numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A lock that was held, as a reader may recognise it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HeldLock {
    /// The lock: `com.acme.Account@3`, `com.acme.Account.class`, or `this` for the accessed object itself.
    pub name: String,
    /// Whether it was held in a mode that other threads may share (a read lock).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

/// One site of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The operation here: `read`, `write`, …
    pub role: String,
    /// The thread's name.
    pub thread: String,
    /// The class, with dots.
    pub class: String,
    /// The method's name.
    pub method: String,
    /// The source file's name, if the class file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, if the class file has line numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The stack, innermost frame first; its first frame is the site itself.
    pub stack: Vec<Frame>,
    /// The locks that protected the access.
    #[serde(default)]
    pub locks: Vec<HeldLock>,
}

/// The kind of a failure. In JSON it is a string: the class of the exception, `exit`, `deadlock` or `hang`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FailureKind {
    /// An uncaught exception of this class, or one that made a test fail.
    Exception(String),
    /// The program ended itself with an exit code other than 0.
    Exit,
    /// Threads waited for each other in a cycle.
    Deadlock,
    /// All threads waited for events that no thread was left to cause.
    Hang,
}

impl FailureKind {
    /// The name in reports.
    pub fn name(&self) -> &str {
        match self {
            FailureKind::Exception(class) => class,
            FailureKind::Exit => "exit",
            FailureKind::Deadlock => "deadlock",
            FailureKind::Hang => "hang",
        }
    }
}

impl From<String> for FailureKind {
    fn from(name: String) -> FailureKind {
        match name.as_str() {
            "exit" => FailureKind::Exit,
            "deadlock" => FailureKind::Deadlock,
            "hang" => FailureKind::Hang,
            _ => FailureKind::Exception(name),
        }
    }
}

impl From<FailureKind> for String {
    fn from(kind: FailureKind) -> String {
        kind.name().to_owned()
    }
}

/// The failure that followed from a violation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consequence {
    /// Its kind; reports call it `exception`, because it mostly is one.
    #[serde(rename = "exception")]
    pub kind: FailureKind,
    /// The exception's message, or a sentence about the failure.
    #[serde(default)]
    pub message: String,
    /// The name of the thread that it ended; empty if that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thread: String,
    /// The exception's stack, innermost frame first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
}

/// The suffix of a field's name if the access is to the contents of the collection that the field holds. It has no blanks, because names in
/// [`crate::goal`] have none.
pub const CONTENTS: &str = "[contents]";

/// An access to a location of an atomic set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAccess {
    /// The field: `com.acme.Account.savings`; with an index for an element of the array that it holds, or with [`CONTENTS`].
    pub field: String,
    /// The unit of work for the set. For an access outside of all units: the method that contains it.
    pub unit: String,
}

/// One outcome of a harness, and how often it occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The results of the invocations, in the order of the harness.
    pub outcome: String,
    /// How many executions had this outcome.
    pub count: u64,
    /// Whether some order of the invocations explains the outcome.
    pub atomic: bool,
}

/// What runs showed about the cause of a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The causes that were proved, each by forcing it and by preventing it; several if each of them alone makes the program fail. Empty if
    /// none was proved.
    #[serde(default)]
    pub causes: Vec<ProvedCause>,
    /// A change of the program under which no schedule failed: a suggestion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Repair>,
}

/// A proved cause of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvedCause {
    /// What makes the program fail; preventing it is what was tried.
    pub prevention: Prevention,
    /// The runs in which it was made to happen; `None` if it is the failure itself, such as a lock cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<Trials>,
    /// The otherwise equal runs in which it was prevented.
    pub prevented: Trials,
}

/// How many of some runs failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trials {
    /// How many failed.
    pub fails: u64,
    /// How many there were.
    pub runs: u64,
}

/// A change of the program that was simulated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// What it prevents.
    pub prevention: Prevention,
    /// In how many schedules the changed program was simulated; none of them failed.
    pub schedules: u64,
}

/// A failure that has the same cause as another finding, and is reported with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FurtherFailure {
    /// The id that a finding of its own would have.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// The member in question.
    pub subject: String,
    /// The failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Consequence>,
    /// In how many runs it was observed.
    pub hits: u64,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A fingerprint that stays the same from run to run.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// How certain it is.
    pub status: Status,
    /// The analysis or strategy that found it: `racer`, `eraser`, …
    pub analysis: String,
    /// The member in question: `pkg.Class.field` for a race, `pkg.Class.method` or `pkg.Class.method:line` for a block.
    pub subject: String,
    /// The declared type of the field, as in source: `int`, `java.util.List`, `int[]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_type: Option<String>,
    /// The object that owns the field (`com.acme.Account@7`), or `static`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The lock or field on which a block that should be atomic is violated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Why the block is not atomic, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The test that was running when the finding was first observed: `com.acme.AccountTest.deposits`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// In how many locations (objects) or executions the finding was observed; for a hunt, in how many runs.
    pub hits: u64,
    /// In how many runs the finding was observed; for a hunt, how many runs there were.
    pub runs: u64,
    /// Whether synchronization ordered the accesses in this run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
    /// What ordered the accesses, if that is known: `the start of a thread`, `a volatile field of com.acme.Flag`,
    /// `java.util.concurrent.CountDownLatch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered_by: Option<String>,
    /// The seeds of the runs that showed it; with the same program and options each shows it again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<u64>,
    /// The recorded schedules of the first few of those runs, in the order of the seeds; empty for a run without a recording.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<String>,
    /// Whether the first of these schedules was made from that of the first seed and has fewer switches; the seed alone does not show it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
    /// The goals of those runs, in the order of the seeds; left out if no run had a goal.
    #[serde(default, rename = "targets", skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<Option<Goal>>,
    /// Those of the seeds whose runs were patient: time passed only if no thread could run before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patient_seeds: Vec<u64>,
    /// The failure that followed, if there was one.
    #[serde(default)]
    pub consequence: Option<Consequence>,
    /// The pattern of an atomic-set violation, 1 to 11.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<u8>,
    /// For each site of an atomic-set violation: the field that was accessed and the unit of work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<SetAccess>,
    /// The smallest harness that shows a method not to be atomic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The outcome of that harness that no order of its invocations explains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Every outcome of that harness that was observed or that some order of its invocations gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Outcome>,
    /// How often the harness was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
    /// What runs showed about the cause; `None` if the cause was not sought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// Other failures with the same cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherFailure>,
    /// The part of the execution that shows how it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interleaving: Option<Interleaving>,
    /// The sites, in the order of the execution.
    pub sites: Vec<Site>,
}

impl Finding {
    /// Whether the violating interleaving was executed.
    pub fn is_proven(&self) -> bool {
        self.status > Status::Warning
    }

    /// A finding with these properties and no others; the caller sets its fingerprint.
    pub fn new(kind: Kind, status: Status, analysis: &str, subject: &str) -> Self {
        Finding {
            id: String::new(),
            kind,
            status,
            analysis: analysis.to_owned(),
            subject: subject.to_owned(),
            field_type: None,
            owner: None,
            object: None,
            reason: None,
            test: None,
            hits: 1,
            runs: 1,
            ordered: false,
            ordered_by: None,
            seeds: Vec::new(),
            schedules: Vec::new(),
            shortened: false,
            goals: Vec::new(),
            patient_seeds: Vec::new(),
            consequence: None,
            pattern: None,
            accesses: Vec::new(),
            harness: None,
            outcome: None,
            outcomes: Vec::new(),
            executions: None,
            judgement: None,
            further: Vec::new(),
            interleaving: None,
            sites: Vec::new(),
        }
    }
}

/// A short hash that is the same on every machine and in every run.
///
/// It is FNV-1a over the parts with a separator between them: a simple algorithm that other tools can compute easily.
pub fn fingerprint(parts: &[&str]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in part.bytes().chain(std::iter::once(0)) {
            hash ^= u64::from(byte);
            hash = hash.wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_separate_their_parts() {
        assert_eq!(fingerprint(&["a", "b"]), fingerprint(&["a", "b"]));
        assert_ne!(fingerprint(&["ab"]), fingerprint(&["a", "b"]));
        assert_eq!(fingerprint(&[]), "cbf29ce484222325");
    }
}
