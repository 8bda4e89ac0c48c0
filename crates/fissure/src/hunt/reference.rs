//! What the program does by itself: the reference runs, in which nobody is interrupted.

use std::collections::BTreeSet;

use fissure_model::{
    finding::{Consequence, Finding, Frame, Kind, Site, Status, fingerprint},
    record::{Failure, RunEnd},
};
use fissure_report::Exit;

use super::run::Outcome;

const EXIT: &str = Failure::EXIT;

/// Where the names of classes begin that are never the program's own.
const LIBRARY: [&str; 4] = ["java.", "javax.", "jdk.", "sun."];

/// What is said of a failure that no violation went before.
const UNEXPLAINED: &str = "fails in some schedules and in no reference run";
/// The same of one for which it is enough that threads come in another order.
const ORDERED: &str = "fails in some reference runs and not in others";

/// Everything that went wrong without interference, and how the program ended.
#[derive(Debug, Default)]
pub(crate) struct References {
    runs: Vec<ReferenceRun>,
}

/// What is kept of a reference run.
#[derive(Debug)]
struct ReferenceRun {
    /// Exceptions with the frame that threw them; `None` if the JVM left the stack out.
    failures: BTreeSet<(String, Option<Place>)>,
    exit: Option<Exit>,
    end: RunEnd,
    /// Whether it came to an end, so that there is something to compare with.
    is_known: bool,
}

/// How often something is seen without interference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usual {
    Never,
    /// The order of threads is enough to make a difference.
    Sometimes,
    Always,
}

/// A frame as far as failures are told apart by it: class, method, line.
type Place = (String, String, Option<u32>);

impl References {
    /// Takes note of a reference run.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        let failures = outcome.accounts().flat_map(|run| &run.failures);
        let end = outcome.end();
        self.runs.push(ReferenceRun {
            failures: failures
                .map(|failure| (failure.exception.clone(), failure.stack.first().map(place)))
                .collect(),
            exit: outcome.own_exit(),
            end,
            is_known: outcome.is_told() && end != RunEnd::TooLong,
        });
    }

    /// Whether the program ended so without interference as well.
    pub(crate) fn has_end(&self, end: RunEnd) -> bool {
        end != RunEnd::Finished && self.runs.iter().any(|run| run.end == end)
    }

    /// Whether the program never ended otherwise without interference.
    pub(crate) fn always_hangs(&self) -> bool {
        self.usual(|run| run.end == RunEnd::Hang) == Usual::Always
    }

    /// Whether there is anything to compare with.
    pub(crate) fn is_known(&self) -> bool {
        self.runs.iter().any(|run| run.is_known)
    }

    fn usual(&self, has_it: impl Fn(&ReferenceRun) -> bool) -> Usual {
        let lacks_it = |run: &ReferenceRun| run.is_known && !has_it(run);
        match self.runs.iter().any(&has_it) {
            false => Usual::Never,
            true if self.runs.iter().any(lacks_it) => Usual::Sometimes,
            true => Usual::Always,
        }
    }

    /// What broke in a run after a violation, and never does without interference.
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

    /// Whether anything went wrong in a run that never does without interference.
    pub(crate) fn is_news(&self, outcome: &Outcome) -> bool {
        let mut failures = outcome.accounts().flat_map(|run| &run.failures);
        self.is_known()
            && (self.new_end(outcome.end()).is_some()
                || failures.any(|failure| !self.knows_failure(failure))
                || self.new_exit(outcome).is_some())
    }

    /// An exit code that never comes without interference, in a run in which nothing else went wrong that it could come of. What
    /// fails by itself and succeeds for once is no failure.
    pub(crate) fn new_exit(&self, outcome: &Outcome) -> Option<(i32, Consequence)> {
        let mut failures = outcome.accounts().flat_map(|run| &run.failures);
        match outcome.own_exit() {
            Some(Exit::Code(code))
                if code != 0
                    && self.is_known()
                    && outcome.is_told()
                    && !self.has_exit(code)
                    && failures.all(|failure| self.knows_failure(failure)) =>
            {
                let message = self.told_exit(code);
                Some((code, Consequence { exception: EXIT.to_owned(), message, ..Consequence::default() }))
            }
            _ => None,
        }
    }

    /// That threads are stuck, if they never are without interference.
    pub(crate) fn new_end(&self, end: RunEnd) -> Option<Consequence> {
        if !self.is_known() || self.has_end(end) {
            return None;
        }
        let (exception, message) = match end {
            RunEnd::Finished | RunEnd::TooLong => return None,
            RunEnd::Deadlock => ("deadlock", "threads waited for each other in a circle"),
            RunEnd::Hang => ("hang", "all threads waited for something that nobody was left to do"),
        };
        let message = format!("{message}; in no reference run did they");
        Some(Consequence { exception: exception.to_owned(), message, ..Consequence::default() })
    }

    /// A failure as a finding of its own, if it does not come in every schedule. Only one that never comes without interference is a bug.
    pub(crate) fn unexplained(&self, failure: &Failure) -> Option<Finding> {
        let finding = finding_of(failure)?;
        match self.usual_failure(failure) {
            _ if !self.is_known() => None,
            Usual::Never => Some(Finding { consequence: Some(self.consequence_of(failure)), ..finding }),
            Usual::Sometimes => {
                let what = failure.exit_code().map(|code| format!("exit code {code}"));
                let reason = Some(format!("{ORDERED}, with {}", what.unwrap_or(failure.exception.clone())));
                Some(Finding { status: Status::Confirmed, reason, ..finding })
            }
            Usual::Always => None,
        }
    }

    /// An exit code as a finding of its own, if nothing else tells how it came about.
    pub(crate) fn unexplained_exit(&self, outcome: &Outcome) -> Option<Finding> {
        let (code, consequence) = self.new_exit(outcome)?;
        Some(Finding { consequence: Some(consequence), ..finding_of_exit(outcome, code) })
    }

    /// Whether the same goes wrong without interference.
    pub(crate) fn knows_failure(&self, failure: &Failure) -> bool {
        self.usual_failure(failure) != Usual::Never
    }

    fn usual_failure(&self, failure: &Failure) -> Usual {
        if let Some(code) = failure.exit_code() {
            return self.usual(|run| run.exit == Some(Exit::Code(code)));
        }
        let place = failure.stack.first().map(place);
        let is_it = |(exception, known): &(String, Option<Place>)| {
            *exception == failure.exception && (known.is_none() || place.is_none() || *known == place)
        };
        self.usual(|run| run.failures.iter().any(is_it))
    }

    fn has_exit(&self, code: i32) -> bool {
        self.runs.iter().any(|run| run.exit == Some(Exit::Code(code)))
    }

    fn consequence_of(&self, failure: &Failure) -> Consequence {
        let Failure { exception, message, thread, stack, .. } = failure.clone();
        let message = failure.exit_code().map_or(message, |code| self.told_exit(code));
        Consequence { exception, message, thread, stack }
    }

    fn told_exit(&self, code: i32) -> String {
        let exits: BTreeSet<Exit> = self.runs.iter().filter_map(|run| run.exit).collect();
        let exits: Vec<String> = exits.iter().map(|exit| exit.code().to_string()).collect();
        let usual = match exits.as_slice() {
            [] => "no reference run ended by itself".to_owned(),
            exits => format!("reference runs with {}", exits.join(" or ")),
        };
        format!("the program ended with exit code {code}, {usual}")
    }
}

/// A failure as a finding of its own, whatever happens without interference; nothing if nobody knows where it happened.
pub(crate) fn finding_of(failure: &Failure) -> Option<Finding> {
    // A failure in a library is named after the application's code that called it.
    let is_own = |frame: &&Frame| !LIBRARY.iter().any(|prefix| frame.class.starts_with(prefix));
    let own = failure.own.and_then(|own| failure.stack.get(own));
    let frame = own.or_else(|| failure.stack.iter().find(is_own)).or(failure.stack.first())?;
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
    // Programs may end themselves with several codes at one place.
    let code = failure.exit_code().map(|code| code.to_string()).unwrap_or_default();
    let mut parts = vec!["failure", &failure.exception, &subject];
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

/// The same for an exit code that nobody saw the reason of.
pub(crate) fn finding_of_exit(outcome: &Outcome, code: i32) -> Finding {
    let command = outcome.jvms.iter().filter(|jvm| jvm.run.is_some()).find_map(|jvm| jvm.hello.as_ref());
    let subject = command.map_or("the program", |hello| program(&hello.command));
    Finding {
        id: fingerprint(&["exit", subject, &code.to_string()]),
        reason: Some(UNEXPLAINED.to_owned()),
        ..Finding::new(Kind::Failure, Status::Bug, "conductor", subject)
    }
}

/// What a JVM was started to run, by a name that is the same in every run: the main class or the name of the archive. Maven and Gradle
/// start tests by archives and classes of their own.
fn program(command: &str) -> &str {
    let first = command.split(' ').next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    match name {
        _ if name.starts_with("surefirebooter") || first.starts_with("org.apache.maven.surefire.") => {
            "the tests of Maven"
        }
        _ if first.starts_with("worker.org.gradle.") => "the tests of Gradle",
        "" => "the program",
        _ if name.ends_with(".jar") => name,
        _ => first,
    }
}

fn place(frame: &Frame) -> Place {
    (frame.class.clone(), frame.method.clone(), frame.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::testing::Sketch;

    fn references(controls: &[Sketch]) -> References {
        let mut references = References::default();
        controls.iter().for_each(|control| references.add(&control.outcome()));
        references
    }

    fn check(controls: &[Sketch], run: Sketch, expected: Option<&str>) {
        let consequence = references(controls).consequence(&run.outcome(), "f");
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
        let consequence = references(&calm()).consequence(&one.outcome(), "f").unwrap();
        assert_eq!(consequence.message, "the program ended with exit code 1, reference runs with 0");
        let stuck = |end| Sketch { end, exit: Some(86), ..Sketch::default() };
        check(&calm(), stuck(RunEnd::Deadlock), Some("deadlock"));
        check(&calm(), stuck(RunEnd::Hang), Some("hang"));
        check(&calm(), stuck(RunEnd::TooLong), None);
        check(&[stuck(RunEnd::Hang)], stuck(RunEnd::Hang), None);
        check(&[stuck(RunEnd::Hang)], stuck(RunEnd::Deadlock), Some("deadlock"));
    }

    #[test]
    fn exit_codes_are_findings_where_nothing_explains_them() {
        let check = |controls: &[Sketch], run: Sketch, expected: Option<&str>| {
            let found = references(controls).unexplained_exit(&run.outcome());
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
    fn programs_have_the_same_name_in_every_run() {
        let check = |command: &str, expected: &str| assert_eq!(program(command), expected, "{command}");
        check("com.acme.Main --verbose", "com.acme.Main");
        check("/srv/app-1.2.jar x", "app-1.2.jar");
        check("/p/target/surefire/surefirebooter-20250101_3.jar /p/target/surefire x", "the tests of Maven");
        check("worker.org.gradle.process.internal.worker.GradleWorkerMain 'Test 1'", "the tests of Gradle");
        check("", "the program");
    }

    #[test]
    fn a_failure_is_named_after_the_applications_own_code() {
        let frame = |class: &str| Frame {
            class: class.to_owned(),
            method: "run".to_owned(),
            file: None,
            line: Some(1),
        };
        let stack = vec![frame("java.util.ArrayList"), frame("org.lib.Check"), frame("com.acme.Test")];
        let failure = Failure { stack, ..crate::hunt::testing::failure("Boom 7 ") };
        assert_eq!(finding_of(&failure).unwrap().subject, "org.lib.Check.run");
        let told = Failure { own: Some(2), test: Some("com.acme.Test.run".to_owned()), ..failure };
        let finding = finding_of(&told).unwrap();
        assert_eq!(
            (finding.subject.as_str(), finding.test.as_deref()),
            ("com.acme.Test.run", Some("com.acme.Test.run"))
        );
    }

    #[test]
    fn a_program_that_ends_itself_tells_where() {
        let exits =
            |code: &str| Failure { message: code.to_owned(), ..crate::hunt::testing::failure("exit 7 ") };
        let calm = references(&[Sketch::default(), Sketch { exit: Some(2), ..Sketch::default() }]);
        let found = calm.unexplained(&exits("1")).unwrap();
        assert_eq!(found.subject, "Main.run");
        let consequence = found.consequence.unwrap();
        assert_eq!(consequence.message, "the program ended with exit code 1, reference runs with 0 or 2");
        let sometimes = calm.unexplained(&exits("2")).unwrap();
        assert_eq!((sometimes.status, sometimes.consequence), (Status::Confirmed, None));
        let always = references(&[Sketch { exit: Some(2), ..Sketch::default() }]);
        assert_eq!(always.unexplained(&exits("2")), None);
        assert_ne!(finding_of(&exits("1")).unwrap().id, finding_of(&exits("3")).unwrap().id);
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
