//! What the command line tells a front end, as one JSON file in the run's folder.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;

/// The passive analyses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Analysis {
    /// Lock sets refined from the first access on; initialisation is not forgiven.
    Racer,
    /// Lock sets refined once a second thread comes along.
    Eraser,
}

impl Analysis {
    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Analysis::Racer => "racer",
            Analysis::Eraser => "eraser",
        }
    }
}

/// What Atomizer knows beyond the plain rules that an acquire moves right, a release left, and a racy access not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refinement {
    /// Acquiring a lock that the thread holds already, and giving it back, moves both ways.
    ReEntrant,
    /// A lock that only one thread uses, or several whose uses are all ordered, moves both ways.
    ThreadLocalLock,
    /// A lock that is always acquired under another common lock moves both ways.
    ProtectedLock,
    /// What was read of an atomic that is then compared and set moves both ways, and so does an attempt that failed.
    CompareAndSet,
}

/// What Atomizer is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomizerSettings {
    /// Methods, classes and packages that must be atomic, beside synchronized blocks and methods and what is annotated.
    #[serde(default)]
    pub atomic: Vec<Pattern>,
    /// Refinements that are left out, to compare.
    #[serde(default)]
    pub without: Vec<Refinement>,
}

/// What counts as an order between two accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Starting and joining threads.
    #[default]
    StartJoin,
    /// Also handing over from thread to thread by tasks and their results, latches, barriers and queues.
    HandOver,
    /// Whatever orders: also locks, volatile fields, atomics and concurrent maps. What is ordered is not reported.
    HappensBefore,
}

/// How much of the program is turned into events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Watch {
    /// Locks and threads only; for measuring.
    Locks,
    /// Locks, threads and fields.
    Fields,
    /// Locks, threads, fields and array elements.
    All,
}

/// Everything a front end needs to know for one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The lock-set machine to run.
    pub analysis: Analysis,
    /// Whether the races that it finds are reported.
    #[serde(default = "yes")]
    pub races: bool,
    /// Whether and how blocks that should be atomic are looked at.
    #[serde(default)]
    pub atomizer: Option<AtomizerSettings>,
    /// Classes whose fields are watched. Empty: the application's own classes.
    #[serde(default)]
    pub scope: Vec<Pattern>,
    /// What is turned into events.
    pub watch: Watch,
    /// What counts as an order.
    #[serde(default)]
    pub order: Order,
    /// The file with what a static analysis found out, as [`crate::locality::Locality`]; if there is none, all is watched.
    #[serde(default)]
    pub locality: Option<String>,
    /// Whether everything is watched all the same, and what contradicts the static analysis is told.
    #[serde(default)]
    pub locality_checked: bool,
    /// How threads are controlled; if there is nothing here they are only watched.
    #[serde(default)]
    pub control: Option<Control>,
    /// The folder for the records.
    pub folder: String,
}

fn yes() -> bool {
    true
}

/// Who decides which thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steering {
    /// Chance alone.
    Random,
    /// Chance, but threads are paused where their atomic blocks could be violated.
    Atomfuzzer,
    /// Nobody is interrupted.
    Orderly,
    /// A recorded schedule.
    Replay,
}

impl Steering {
    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Steering::Random => "random",
            Steering::Atomfuzzer => "atomfuzzer",
            Steering::Orderly => "orderly",
            Steering::Replay => "replay",
        }
    }
}

/// Two acquires of one lock that are looked for: one that comes in between, and the one inside of an atomic block that
/// it comes before. Places are written `com.acme.Account.withdraw:12`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pair {
    /// The acquire inside of the block.
    pub again: String,
    /// The one that comes in between.
    pub between: String,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.again, self.between)
    }
}

/// A text that is no pair of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairError;

impl fmt::Display for PairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("two places are written with a slash between them, as in `Account.pay:12/Account.add:7`")
    }
}

impl std::error::Error for PairError {}

impl FromStr for Pair {
    type Err = PairError;

    /// Reads `AGAIN/BETWEEN`; no name in a JVM has a slash in it.
    fn from_str(text: &str) -> Result<Self, PairError> {
        match text.split_once('/') {
            Some((again, between)) if !again.is_empty() && !between.is_empty() && !between.contains('/') => {
                Ok(Pair { again: again.to_owned(), between: between.to_owned() })
            }
            _ => Err(PairError),
        }
    }
}

/// How one controlled run goes. It is a function of the program and of this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Who decides which thread runs.
    pub steering: Steering,
    /// What random choices follow from.
    pub seed: u64,
    /// How likely a thread is paused, in a million cases.
    pub pause: u32,
    /// What is looked for, if that is known.
    #[serde(default)]
    pub target: Option<Pair>,
    /// The schedule to follow, for [`Steering::Replay`].
    #[serde(default)]
    pub schedule: Option<String>,
    /// After so many steps the run ends.
    pub steps: u64,
    /// Whether threads may be interrupted at volatile and atomic operations too.
    #[serde(default)]
    pub volatiles: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, &str)>) {
        let pair = text.parse::<Pair>().ok();
        assert_eq!(
            pair.as_ref().map(|pair| (pair.again.as_str(), pair.between.as_str())),
            expected,
            "{text}"
        );
        if let Some(pair) = pair {
            assert_eq!(pair.to_string(), text);
        }
    }

    #[test]
    fn pairs_are_read_as_they_are_written() {
        check("a.B.c:1/a.B$D.<init>:22", Some(("a.B.c:1", "a.B$D.<init>:22")));
        check("a.B.c/a.B.c", Some(("a.B.c", "a.B.c")));
        check("a.B.c", None);
        check("/a.B.c", None);
        check("a.B.c/", None);
        check("a/b/c", None);
    }
}
