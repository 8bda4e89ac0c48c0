//! What the program does by itself: the control runs, in which nobody is interrupted.

use std::collections::BTreeSet;

use fissure_model::{
    finding::{Consequence, Finding, Frame, Kind, Site, Status, fingerprint},
    record::{Failure, RunEnd},
};
use fissure_report::Exit;

use super::run::Outcome;

/// Where the names of classes begin that are never the program's own.
const LIBRARY: [&str; 4] = ["java.", "javax.", "jdk.", "sun."];

/// Everything that went wrong without interference, and how the program ended.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    /// Exceptions with the frame that threw them; `None` if the JVM left the stack out.
    failures: BTreeSet<(String, Option<Place>)>,
    exits: BTreeSet<Exit>,
    /// How Fissure had to end it.
    ends: Vec<RunEnd>,
    /// Whether any control run came to an end, so that there is something to compare with.
    is_known: bool,
}

/// A frame as far as failures are told apart by it: class, method, line.
type Place = (String, String, Option<u32>);

impl Baseline {
    /// Takes note of a control run.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        for failure in outcome.accounts().flat_map(|run| &run.failures) {
            self.failures.insert((failure.exception.clone(), failure.stack.first().map(place)));
        }
        let end = outcome.end();
        self.exits.extend(outcome.own_exit());
        if end != RunEnd::Finished {
            self.ends.push(end);
        }
        self.is_known |= outcome.is_told() && end != RunEnd::TooLong;
    }

    /// Whether the program ended so without interference as well.
    pub(crate) fn has_end(&self, end: RunEnd) -> bool {
        self.ends.contains(&end)
    }

    /// Whether there is anything to compare with.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }

    /// What broke in a run after a violation, and never does without interference.
    pub(crate) fn consequence(&self, outcome: &Outcome, violation: &str) -> Option<Consequence> {
        if !self.is_known {
            return None;
        }
        let news: Vec<&Failure> = outcome
            .accounts()
            .flat_map(|run| &run.failures)
            .filter(|failure| !self.knows_failure(failure))
            .collect();
        if let Some(failure) = news.iter().find(|failure| failure.after.iter().any(|id| id == violation)) {
            return Some(consequence_of(failure));
        }
        if let Some(consequence) = self.new_end(outcome.end()) {
            return Some(consequence);
        }
        // An exit code may come of a failure that was there before the violation.
        match outcome.own_exit() {
            Some(Exit::Code(code))
                if news.is_empty() && outcome.is_told() && !self.exits.contains(&Exit::Code(code)) =>
            {
                Some(Consequence {
                    exception: "exit".to_owned(),
                    message: format!("the program ended with exit code {code}, {}", self.usual_exits()),
                    ..Consequence::default()
                })
            }
            _ => None,
        }
    }

    /// Whether anything went wrong in a run that never does without interference.
    pub(crate) fn is_news(&self, outcome: &Outcome) -> bool {
        let mut failures = outcome.accounts().flat_map(|run| &run.failures);
        self.is_known
            && (self.new_end(outcome.end()).is_some() || failures.any(|failure| !self.knows_failure(failure)))
    }

    /// That threads are stuck, if they never are without interference.
    pub(crate) fn new_end(&self, end: RunEnd) -> Option<Consequence> {
        if !self.is_known || self.has_end(end) {
            return None;
        }
        let (exception, message) = match end {
            RunEnd::Finished | RunEnd::TooLong => return None,
            RunEnd::Deadlock => ("deadlock", "threads waited for each other in a circle"),
            RunEnd::Hang => ("hang", "all threads waited for something that nobody was left to do"),
        };
        let message = format!("{message}; without interference they never did");
        Some(Consequence { exception: exception.to_owned(), message, ..Consequence::default() })
    }

    /// A failure as a finding of its own, if it never comes without interference.
    pub(crate) fn unexplained(&self, failure: &Failure) -> Option<Finding> {
        if !self.is_known || self.knows_failure(failure) {
            return None;
        }
        // What the library throws is the doing of whoever called it.
        let is_own = |frame: &&Frame| !LIBRARY.iter().any(|prefix| frame.class.starts_with(prefix));
        let frame = failure.stack.iter().find(is_own).or(failure.stack.first())?;
        let subject = format!("{}.{}", frame.class, frame.method);
        let site = Site {
            role: "failed".to_owned(),
            thread: failure.thread.clone(),
            class: frame.class.clone(),
            method: frame.method.clone(),
            file: frame.file.clone(),
            line: frame.line,
            stack: failure.stack.clone(),
            locks: Vec::new(),
        };
        Some(Finding {
            id: fingerprint(&["failure", &failure.exception, &subject]),
            sites: vec![site],
            reason: Some("fails in some schedules, and never without interference".to_owned()),
            consequence: Some(consequence_of(failure)),
            ..Finding::new(Kind::Custom, Status::Bug, "conductor", &subject)
        })
    }

    /// Whether the same goes wrong without interference.
    pub(crate) fn knows_failure(&self, failure: &Failure) -> bool {
        let place = failure.stack.first().map(place);
        self.failures.iter().any(|(exception, known)| {
            *exception == failure.exception && (known.is_none() || place.is_none() || *known == place)
        })
    }

    fn usual_exits(&self) -> String {
        let exits: Vec<String> = self.exits.iter().map(|exit| exit.code().to_string()).collect();
        match exits.as_slice() {
            [] => "without interference it never ended by itself".to_owned(),
            exits => format!("without interference with {}", exits.join(" or ")),
        }
    }
}

fn consequence_of(failure: &Failure) -> Consequence {
    Consequence {
        exception: failure.exception.clone(),
        message: failure.message.clone(),
        thread: failure.thread.clone(),
        stack: failure.stack.clone(),
    }
}

fn place(frame: &Frame) -> Place {
    (frame.class.clone(), frame.method.clone(), frame.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::testing::Sketch;

    fn baseline(controls: &[Sketch]) -> Baseline {
        let mut baseline = Baseline::default();
        controls.iter().for_each(|control| baseline.add(&control.outcome()));
        baseline
    }

    fn check(controls: &[Sketch], run: Sketch, expected: Option<&str>) {
        let consequence = baseline(controls).consequence(&run.outcome(), "f");
        assert_eq!(consequence.as_ref().map(|found| found.exception.as_str()), expected, "{run:?}");
    }

    #[test]
    fn what_never_breaks_without_interference_is_a_consequence() {
        let calm = || [Sketch::default()];
        let after = Sketch { failures: &["Boom 7 f"], ..Sketch::default() };
        check(&calm(), after, Some("Boom"));
        check(&calm(), Sketch { failures: &["Boom 7 g"], exit: Some(1), ..Sketch::default() }, None);
        check(&[after], after, None);
        check(&[Sketch { failures: &["Boom 8 "], ..Sketch::default() }], after, Some("Boom"));
        check(&[Sketch { failures: &["Other 7 "], ..Sketch::default() }], after, Some("Boom"));
        check(&[Sketch { failures: &["Boom - "], ..Sketch::default() }], after, None);
        check(&calm(), Sketch::default(), None);
    }

    #[test]
    fn exit_codes_and_ends_are_compared_too() {
        let calm = || [Sketch::default()];
        let one = Sketch { exit: Some(1), ..Sketch::default() };
        check(&calm(), one, Some("exit"));
        check(&[Sketch::default(), one], one, None);
        let consequence = baseline(&calm()).consequence(&one.outcome(), "f").unwrap();
        assert_eq!(consequence.message, "the program ended with exit code 1, without interference with 0");
        let stuck = |end| Sketch { end, exit: Some(86), ..Sketch::default() };
        check(&calm(), stuck(RunEnd::Deadlock), Some("deadlock"));
        check(&calm(), stuck(RunEnd::Hang), Some("hang"));
        check(&calm(), stuck(RunEnd::TooLong), None);
        check(&[stuck(RunEnd::Hang)], stuck(RunEnd::Hang), None);
        check(&[stuck(RunEnd::Hang)], stuck(RunEnd::Deadlock), Some("deadlock"));
    }

    #[test]
    fn without_a_control_run_that_ended_nothing_is_known() {
        let killed = || Sketch { exit: None, ..Sketch::default() };
        let after = Sketch { failures: &["Boom 7 f"], ..Sketch::default() };
        check(&[killed()], after, None);
        check(&[killed(), Sketch::default()], after, Some("Boom"));
        check(&[Sketch::default()], killed(), None);
    }
}
