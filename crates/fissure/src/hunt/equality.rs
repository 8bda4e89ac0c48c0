//! Whether two runs went the same way: one in a warm JVM and one in a new one, or two with the same settings in one JVM.
//!
//! Thousands of runs may have to be compared later, so only digests of their parts are kept.

use std::hash::{DefaultHasher, Hash, Hasher};

use fissure_hunt::{Ending, Outcome, Process};
use fissure_model::record::Run;
use serde::Serialize;

use super::run::Finished;

/// The parts of a run that must be the same, in the order in which a difference is told.
const PARTS: [&str; 8] = [
    "the number of JVMs",
    "the schedule",
    "the end",
    "a failure",
    "what the run observed",
    "the findings",
    "the exit code",
    "the output",
];

/// The parts that are the same even if a run was not wholly under control.
const COARSE: [&str; 3] = ["the number of JVMs", "a failure", "the exit code"];

/// What is kept of a run: a digest of each of its [`PARTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest([u64; PARTS.len()]);

impl Digest {
    /// The digests of a run.
    pub(crate) fn new(Finished { outcome, output }: &Finished) -> Self {
        let watched: Vec<&Process> =
            outcome.processes.iter().filter(|process| process.is_watched()).collect();
        let runs: Vec<Option<&Run>> = watched.iter().map(|process| process.run.as_ref()).collect();
        let each =
            |part: fn(&Run) -> Vec<u8>| digest(&runs.iter().map(|run| run.map(part)).collect::<Vec<_>>());
        // How many steps the JDK takes inside of one of its calls depends on what it did before.
        let observed = |run: &Run| bytes(&Run { steps: 0, ..run.clone() });
        let ending = match outcome.ending {
            Ending::Ended(exit) => format!("{exit:?}"),
            Ending::TimeLimit => "time limit".to_owned(),
            Ending::Interrupted => "interrupted".to_owned(),
        };
        Digest([
            digest(&watched.len()),
            each(|run| run.schedule.to_string().into_bytes()),
            each(|run| bytes(&run.end)),
            each(|run| bytes(&run.failures)),
            each(observed),
            digest(&watched.iter().map(|process| bytes(&process.findings)).collect::<Vec<_>>()),
            digest(&ending),
            digest(output),
        ])
    }

    /// The same for runs of which one was not wholly under control: only whether they failed, and how they ended, can be compared.
    pub(crate) fn coarse_difference(&self, other: &Digest) -> Option<&'static str> {
        let parts = PARTS.iter().zip(self.0.iter().zip(&other.0));
        let mut parts = parts.filter(|(part, _)| COARSE.contains(part));
        parts.find(|(_, (one, other))| one != other).map(|(part, _)| *part)
    }

    /// The first difference between two runs, in words; `None` if they went the same way.
    pub(crate) fn difference(&self, other: &Digest) -> Option<&'static str> {
        let mut parts = PARTS.iter().zip(self.0.iter().zip(&other.0));
        parts.find(|(_, (one, other))| one != other).map(|(part, _)| *part)
    }
}

/// A part of a run as bytes. Everything that runs consist of can be written as JSON.
fn bytes<T: Serialize>(part: &T) -> Vec<u8> {
    serde_json::to_vec(part).expect("the parts of a run were read from JSON")
}

fn digest<T: Hash>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Whether a run that another is to be compared with says something: it ended in time and was under control.
pub(crate) fn is_comparable(outcome: &Outcome) -> bool {
    matches!(outcome.ending, Ending::Ended(_)) && outcome.is_replayable()
}

#[cfg(test)]
mod tests {
    use fissure_model::{exit::Exit, record::RunEnd};

    use super::*;

    fn empty() -> Run {
        let text = r#"{"end":"finished","choices":0,"steps":0,"schedule":"","uncontrolled":[],"failures":[],"pairs":[]}"#;
        serde_json::from_str(text).unwrap()
    }

    fn run(schedule: &str, steps: u64, exit: i32, output: &[u8]) -> Digest {
        let run = Run { schedule: schedule.parse().unwrap(), steps, ..empty() };
        let process = Process { run: Some(run), has_ended: true, ..Process::default() };
        let ending = Ending::Ended(Exit::Code(exit));
        let outcome = Outcome { seed: 1, goal: None, is_patient: false, ending, processes: vec![process] };
        Digest::new(&Finished { outcome, output: output.to_vec() })
    }

    fn check(other: Digest, expected: Option<&str>) {
        assert_eq!(run("0*3 1", 9, 0, b"done").difference(&other), expected);
    }

    #[test]
    fn the_first_difference_is_told() {
        check(run("0*3 1", 9, 0, b"done"), None);
        check(run("0*3 1", 12, 0, b"done"), None);
        check(run("0*3 1 0", 9, 0, b"other"), Some("the schedule"));
        check(run("0*3 1", 9, 3, b"done"), Some("the exit code"));
        check(run("0*3 1", 9, 0, b"other"), Some("the output"));
        let hung = Run { schedule: "0*3 1".parse().unwrap(), end: RunEnd::Hang, ..empty() };
        let process = Process { run: Some(hung), ..Process::default() };
        let ending = Ending::Ended(Exit::Code(0));
        let outcome = Outcome { seed: 1, goal: None, is_patient: false, ending, processes: vec![process] };
        check(Digest::new(&Finished { outcome, output: b"done".to_vec() }), Some("the end"));
    }
}
