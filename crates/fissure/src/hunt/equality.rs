//! Whether two runs went the same way: one in a warm JVM and one in a new one, or two with the same settings in one JVM.

use fissure_hunt::{Ending, Outcome, Process};
use fissure_model::record::Run;

use super::run::Finished;

/// The first difference between two runs, in words; `None` if they went the same way.
pub(crate) fn difference(one: &Finished, other: &Finished) -> Option<&'static str> {
    let (first, second) = (&one.outcome, &other.outcome);
    let is_printed_otherwise = one.output != other.output;
    let difference = difference_of_outcomes(first, second).or(is_printed_otherwise.then_some("the output"));
    if let Some(difference) = difference {
        let outputs = [one, other].map(|run| String::from_utf8_lossy(&run.output).into_owned());
        tracing::info!(difference, ?first, ?second, ?outputs, "two runs differ");
    }
    difference
}

fn difference_of_outcomes(one: &Outcome, other: &Outcome) -> Option<&'static str> {
    let [first, second] = [one, other].map(watched);
    if first.len() != second.len() {
        return Some("the number of JVMs");
    }
    for (first, second) in first.iter().zip(&second) {
        if let Some(difference) = difference_of_processes(first, second) {
            return Some(difference);
        }
    }
    (one.ending != other.ending).then_some("the exit code")
}

fn difference_of_processes(one: &Process, other: &Process) -> Option<&'static str> {
    match (&one.run, &other.run) {
        (Some(first), Some(second)) => {
            if first.schedule != second.schedule {
                return Some("the schedule");
            }
            if first.end != second.end {
                return Some("the end");
            }
            if first.failures != second.failures {
                return Some("a failure");
            }
            // How many steps the JDK takes inside of one of its calls depends on what it did before.
            let second = Run { steps: first.steps, ..second.clone() };
            if *first != second {
                return Some("what the run observed");
            }
        }
        (None, None) => {}
        _ => return Some("the end"),
    }
    (one.findings != other.findings).then_some("the findings")
}

fn watched(outcome: &Outcome) -> Vec<&Process> {
    outcome.processes.iter().filter(|process| process.is_watched()).collect()
}

/// Whether a run of which another is to be compared with says something: it ended in time and was under control.
pub(crate) fn is_comparable(finished: &Finished) -> bool {
    matches!(finished.outcome.ending, Ending::Ended(_)) && finished.outcome.is_replayable()
}
