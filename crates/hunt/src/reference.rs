//! The reference runs: they follow the default schedule, so that their failures do not depend on forced preemptions.

use std::collections::BTreeSet;

use fissure_model::{
    exit::Exit,
    finding::{Consequence, FailureKind, Finding, Frame, Kind, Site, Status, fingerprint},
    record::{Cause, Failure, RunEnd},
};

use crate::outcome::Outcome;

/// The reason of a finding for a failure that follows no violation.
const UNEXPLAINED: &str = "fails in some schedules and in no reference run";
/// The same for a failure that needs no preemption, only another order of threads.
const ORDERED: &str = "fails in some reference runs and not in others";

/// The failures of the reference runs, and how they ended.
#[derive(Debug, Default)]
pub(crate) struct References {
    runs: Vec<ReferenceRun>,
}

/// The failures and the end of a reference run.
#[derive(Debug)]
struct ReferenceRun {
    /// Exceptions and exits with the innermost frame; `None` if the JVM left the stack out.
    failures: BTreeSet<(FailureKind, Option<ThrowSite>)>,
    exit: Option<Exit>,
    end: RunEnd,
    /// Whether it ended, so that other runs can be compared with it.
    is_known: bool,
}

/// In how many reference runs something shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frequency {
    Never,
    /// Another order of threads is enough to make a difference.
    Sometimes,
    Always,
}

/// The frame by which failures are distinguished: class, method, line.
type ThrowSite = (String, String, Option<u32>);

impl References {
    /// Records a reference run.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        let failures = outcome.accounts().flat_map(|run| &run.failures);
        let end = outcome.end();
        self.runs.push(ReferenceRun {
            failures: failures
                .map(|failure| (failure.kind(), failure.stack.first().map(throw_site)))
                .collect(),
            exit: outcome.own_exit(),
            end,
            is_known: outcome.is_complete() && end != RunEnd::TooLong,
        });
    }

    /// Whether a reference run ended in this abnormal way.
    pub(crate) fn has_end(&self, end: RunEnd) -> bool {
        end != RunEnd::Finished && self.runs.iter().any(|run| run.end == end)
    }

    /// Whether all reference runs hang.
    pub(crate) fn always_hangs(&self) -> bool {
        self.frequency(|run| run.end == RunEnd::Hang) == Frequency::Always
    }

    /// Whether there is a reference run to compare with.
    pub(crate) fn is_known(&self) -> bool {
        self.runs.iter().any(|run| run.is_known)
    }

    fn frequency(&self, has_it: impl Fn(&ReferenceRun) -> bool) -> Frequency {
        let lacks_it = |run: &ReferenceRun| run.is_known && !has_it(run);
        match self.runs.iter().any(&has_it) {
            false => Frequency::Never,
            true if self.runs.iter().any(lacks_it) => Frequency::Sometimes,
            true => Frequency::Always,
        }
    }

    /// The failure that follows a violation in a run, if no reference run shows it.
    pub(crate) fn consequence(&self, outcome: &Outcome, violation: &str) -> Option<Consequence> {
        if !self.is_known() {
            return None;
        }
        let news: Vec<&Failure> = outcome
            .accounts()
            .flat_map(|run| &run.failures)
            .filter(|failure| !self.knows_failure(failure))
            .collect();
        if let Some(failure) = news.iter().find(|failure| failure.after.iter().any(|id| id == violation)) {
            return Some(self.consequence_of(failure));
        }
        self.new_end(outcome.end()).or_else(|| self.new_exit(outcome).map(|(_, consequence)| consequence))
    }

    /// Whether a run shows a failure that no reference run shows.
    pub(crate) fn is_news(&self, outcome: &Outcome) -> bool {
        let mut failures = outcome.accounts().flat_map(|run| &run.failures);
        self.is_known()
            && (self.new_end(outcome.end()).is_some()
                || failures.any(|failure| !self.knows_failure(failure))
                || self.new_exit(outcome).is_some())
    }

    /// An exit code that no reference run has, in a run without another new failure that would explain it. Exit code 0 is never a failure,
    /// even if all reference runs fail.
    pub(crate) fn new_exit(&self, outcome: &Outcome) -> Option<(i32, Consequence)> {
        let mut failures = outcome.accounts().flat_map(|run| &run.failures);
        match outcome.own_exit() {
            Some(Exit::Code(code))
                if code != 0
                    && self.is_known()
                    && outcome.is_complete()
                    && !self.has_exit(code)
                    && failures.all(|failure| self.knows_failure(failure)) =>
            {
                let message = self.exit_message(code);
                Some((code, without_stack(FailureKind::Exit, message)))
            }
            _ => None,
        }
    }

    /// Threads that are stuck, if they are in no reference run.
    pub(crate) fn new_end(&self, end: RunEnd) -> Option<Consequence> {
        if !self.is_known() || self.has_end(end) {
            return None;
        }
        let (kind, message) = match end {
            RunEnd::Finished | RunEnd::TooLong => return None,
            RunEnd::Deadlock => (FailureKind::Deadlock, "threads waited for each other in a cycle"),
            RunEnd::Hang => {
                (FailureKind::Hang, "all threads waited for events that no thread was left to cause")
            }
        };
        let message = format!("{message}; in no reference run did they");
        Some(without_stack(kind, message))
    }

    /// The finding for a failure that not every reference run shows. Only a failure that none of them shows is a bug.
    pub(crate) fn unexplained(&self, failure: &Failure) -> Option<Finding> {
        let finding = finding_of(failure)?;
        match self.failure_frequency(failure) {
            _ if !self.is_known() => None,
            Frequency::Never => Some(Finding { consequence: Some(self.consequence_of(failure)), ..finding }),
            Frequency::Sometimes => {
                let what = match &failure.cause {
                    Cause::Exception { class, .. } => class.clone(),
                    Cause::Exit { code } => format!("exit code {code}"),
                };
                let reason = Some(format!("{ORDERED}, with {what}"));
                Some(Finding { status: Status::Confirmed, reason, ..finding })
            }
            Frequency::Always => None,
        }
    }

    /// The finding for an exit code, if no other failure explains it.
    pub(crate) fn unexplained_exit(&self, outcome: &Outcome) -> Option<Finding> {
        let (code, consequence) = self.new_exit(outcome)?;
        Some(Finding { consequence: Some(consequence), ..finding_of_exit(outcome, code) })
    }

    /// Whether a reference run shows the same failure.
    pub(crate) fn knows_failure(&self, failure: &Failure) -> bool {
        self.failure_frequency(failure) != Frequency::Never
    }

    fn failure_frequency(&self, failure: &Failure) -> Frequency {
        if let Some(code) = failure.exit_code() {
            return self.frequency(|run| run.exit == Some(Exit::Code(code)));
        }
        let (kind, site) = (failure.kind(), failure.stack.first().map(throw_site));
        let is_it = |(other, known): &(FailureKind, Option<ThrowSite>)| {
            *other == kind && (known.is_none() || site.is_none() || *known == site)
        };
        self.frequency(|run| run.failures.iter().any(is_it))
    }

    fn has_exit(&self, code: i32) -> bool {
        self.runs.iter().any(|run| run.exit == Some(Exit::Code(code)))
    }

    fn consequence_of(&self, failure: &Failure) -> Consequence {
        let message = match &failure.cause {
            Cause::Exception { message, .. } => message.clone(),
            Cause::Exit { code } => self.exit_message(*code),
        };
        let Failure { thread, stack, .. } = failure.clone();
        Consequence { kind: failure.kind(), message, thread, stack }
    }

    fn exit_message(&self, code: i32) -> String {
        let exits: BTreeSet<Exit> = self.runs.iter().filter_map(|run| run.exit).collect();
        let exits: Vec<String> = exits.iter().map(|exit| exit.code().to_string()).collect();
        let usual = match exits.as_slice() {
            [] => "no reference run ended by itself".to_owned(),
            exits => format!("reference runs with {}", exits.join(" or ")),
        };
        format!("the program ended with exit code {code}, {usual}")
    }
}

/// A consequence of which no thread and no stack is known.
fn without_stack(kind: FailureKind, message: String) -> Consequence {
    Consequence { kind, message, thread: String::new(), stack: Vec::new() }
}

/// The finding for a failure, whatever the reference runs show; nothing if the failure has no stack.
pub fn finding_of(failure: &Failure) -> Option<Finding> {
    // A failure in a library is named after the application's code that called it.
    let own = failure.own.unwrap_or(0);
    let frame = match failure.stack.is_empty() {
        true => return None,
        false => &failure.stack[own],
    };
    let subject = format!("{}.{}", frame.class, frame.method);
    let site = Site {
        role: "failed".to_owned(),
        thread: failure.thread.clone(),
        class: frame.class.clone(),
        method: frame.method.clone(),
        file: frame.file.clone(),
        line: frame.line,
        // The frames before it are those that it called; the consequence has them all.
        stack: failure.stack[own..].to_vec(),
        locks: Vec::new(),
    };
    // A program may exit with several codes at one site.
    let code = failure.exit_code().map(|code| code.to_string()).unwrap_or_default();
    let kind = failure.kind();
    let mut parts = vec!["failure", kind.name(), &subject];
    parts.extend(Some(code.as_str()).filter(|code| !code.is_empty()));
    Some(Finding {
        id: fingerprint(&parts),
        sites: vec![site],
        reason: Some(UNEXPLAINED.to_owned()),
        interleaving: failure.interleaving.clone(),
        test: failure.test.clone(),
        ..Finding::new(Kind::Failure, Status::Bug, "conductor", &subject)
    })
}

/// The finding for an exit code without a known cause.
pub fn finding_of_exit(outcome: &Outcome, code: i32) -> Finding {
    let mut controlled =
        outcome.processes.iter().filter(|process| process.run.is_some() && process.hello.is_some());
    let subject = controlled.next().map_or("the program", |process| &process.program);
    Finding {
        id: fingerprint(&["exit", subject, &code.to_string()]),
        reason: Some(UNEXPLAINED.to_owned()),
        ..Finding::new(Kind::Failure, Status::Bug, "conductor", subject)
    }
}

fn throw_site(frame: &Frame) -> ThrowSite {
    (frame.class.clone(), frame.method.clone(), frame.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sketch;

    fn references(reference_runs: &[Sketch]) -> References {
        let mut references = References::default();
        reference_runs.iter().for_each(|run| references.add(&run.outcome()));
        references
    }

    fn check(reference_runs: &[Sketch], run: Sketch, expected: Option<&str>) {
        let consequence = references(reference_runs).consequence(&run.outcome(), "f");
        assert_eq!(consequence.as_ref().map(|found| found.kind.name()), expected, "{run:?}");
    }

    #[test]
    fn a_failure_that_no_reference_run_shows_is_a_consequence() {
        let reference = || [Sketch::default()];
        let after = Sketch { failures: &["Boom 7 f"], ..Sketch::default() };
        check(&reference(), after, Some("Boom"));
        check(&reference(), Sketch { failures: &["Boom 7 g"], exit: Some(1), ..Sketch::default() }, None);
        check(&[after], after, None);
        check(&[Sketch { failures: &["Boom 8 "], ..Sketch::default() }], after, Some("Boom"));
        check(&[Sketch { failures: &["Other 7 "], ..Sketch::default() }], after, Some("Boom"));
        check(&[Sketch { failures: &["Boom - "], ..Sketch::default() }], after, None);
        check(&reference(), Sketch::default(), None);
    }

    #[test]
    fn exit_codes_and_ends_are_compared_too() {
        let reference = || [Sketch::default()];
        let one = Sketch { exit: Some(1), ..Sketch::default() };
        check(&reference(), one, Some("exit"));
        check(&[Sketch::default(), one], one, None);
        let consequence = references(&reference()).consequence(&one.outcome(), "f").unwrap();
        assert_eq!(consequence.message, "the program ended with exit code 1, reference runs with 0");
        let stuck = |end| Sketch { end, exit: Some(RunEnd::EXIT_CODE), ..Sketch::default() };
        check(&reference(), stuck(RunEnd::Deadlock), Some("deadlock"));
        check(&reference(), stuck(RunEnd::Hang), Some("hang"));
        check(&reference(), stuck(RunEnd::TooLong), None);
        check(&[stuck(RunEnd::Hang)], stuck(RunEnd::Hang), None);
        check(&[stuck(RunEnd::Hang)], stuck(RunEnd::Deadlock), Some("deadlock"));
    }

    #[test]
    fn unexplained_exit_codes_are_findings() {
        let check = |reference_runs: &[Sketch], run: Sketch, expected: Option<&str>| {
            let found = references(reference_runs).unexplained_exit(&run.outcome());
            assert_eq!(found.map(|found| found.subject).as_deref(), expected, "{run:?}");
        };
        let one = Sketch { exit: Some(1), ..Sketch::default() };
        check(&[Sketch::default()], one, Some("Main"));
        check(&[Sketch::default(), one], one, None);
        check(&[one], Sketch::default(), None);
        check(&[], one, None);
        check(&[Sketch::default()], Sketch { failures: &["Boom 7 "], ..one }, None);
        let known = Sketch { failures: &["Boom 7 "], ..Sketch::default() };
        check(&[known], Sketch { failures: &["Boom 7 "], ..one }, Some("Main"));
        check(&[Sketch::default()], Sketch { end: RunEnd::TooLong, ..one }, None);
    }

    #[test]
    fn a_failure_is_named_after_the_applications_own_code() {
        let frame = |class: &str| Frame {
            class: class.to_owned(),
            method: "run".to_owned(),
            file: None,
            line: Some(1),
        };
        let stack = vec![frame("org.lib.Lists"), frame("org.lib.Check"), frame("com.acme.Test")];
        let failure = Failure { stack, ..crate::testing::failure("Boom 7 ") };
        assert_eq!(finding_of(&failure).unwrap().subject, "org.lib.Lists.run");
        let in_test = Failure { own: Some(2), test: Some("com.acme.Test.run".to_owned()), ..failure };
        let finding = finding_of(&in_test).unwrap();
        assert_eq!(
            (finding.subject.as_str(), finding.test.as_deref()),
            ("com.acme.Test.run", Some("com.acme.Test.run"))
        );
    }

    #[test]
    fn an_exit_code_is_reported_at_the_site_of_the_exit() {
        let exits = |code| Failure { cause: Cause::Exit { code }, ..crate::testing::failure("exit 7 ") };
        let reference = references(&[Sketch::default(), Sketch { exit: Some(2), ..Sketch::default() }]);
        let found = reference.unexplained(&exits(1)).unwrap();
        assert_eq!(found.subject, "Main.run");
        let consequence = found.consequence.unwrap();
        assert_eq!(consequence.message, "the program ended with exit code 1, reference runs with 0 or 2");
        let sometimes = reference.unexplained(&exits(2)).unwrap();
        assert_eq!((sometimes.status, sometimes.consequence), (Status::Confirmed, None));
        let always = references(&[Sketch { exit: Some(2), ..Sketch::default() }]);
        assert_eq!(always.unexplained(&exits(2)), None);
        assert_ne!(finding_of(&exits(1)).unwrap().id, finding_of(&exits(3)).unwrap().id);
    }

    #[test]
    fn without_a_reference_run_that_ended_nothing_is_a_consequence() {
        let killed = || Sketch { exit: None, ..Sketch::default() };
        let after = Sketch { failures: &["Boom 7 f"], ..Sketch::default() };
        check(&[killed()], after, None);
        check(&[killed(), Sketch::default()], after, Some("Boom"));
        check(&[Sketch::default()], killed(), None);
    }
}
