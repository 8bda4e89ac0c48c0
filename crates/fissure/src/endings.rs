//! Summarises how a run ended: the program's failures, whether the run was cut short, and the next step.

use std::{ffi::OsString, time::Duration};

use fissure_model::{
    finding::{Frame, Kind},
    pointcut::Pointcut,
    record::{Cause, Doing, Failure},
};
use fissure_report::{Exit, NextStep};

use crate::{
    collect::Jvm,
    supervise::{Ending, in_words},
};

/// How many exceptions are noted one by one.
const MOST_FAILURES: usize = 3;

/// How a run ended, for its report.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EndSummary {
    /// Notes for the user.
    pub(crate) notices: Vec<String>,
    /// Why the run is not clean, even if nothing is found.
    pub(crate) doubt: Option<Doubt>,
    /// The command to run next.
    pub(crate) next_step: Option<NextStep>,
}

/// Why a run without findings is not clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The user interrupted it.
    Interrupted,
    /// It reached its time limit.
    TimeLimit(Duration),
    /// The program failed, as described.
    Failed(String),
}

impl Doubt {
    /// Whether the run was cut short, so that it is no surprise if little was seen.
    pub(crate) fn is_cut_short(&self) -> bool {
        !matches!(self, Doubt::Failed(_))
    }

    /// As a sentence; `found` says whether there are findings, none of which counts.
    pub(crate) fn sentence(&self, found: bool) -> String {
        let that_counts = if found { " that counts" } else { "" };
        match self {
            Doubt::Interrupted => format!("interrupted before anything{that_counts} was found"),
            Doubt::TimeLimit(limit) => format!(
                "the program did not end within {}, and nothing{that_counts} was found up to there: raise --time-limit, or let it \
                 do less",
                in_words(*limit)
            ),
            Doubt::Failed(how) => {
                format!("the program failed ({how}), and nothing{that_counts} was found that explains it")
            }
        }
    }
}

/// Summarises how a run ended.
pub(crate) fn summarise(
    command: &[OsString],
    scope: &[Pointcut],
    exit: Exit,
    ending: Ending,
    jvms: &[Jvm],
) -> EndSummary {
    let mut summary = EndSummary::default();
    let failures: Vec<&Failure> = jvms.iter().flat_map(|jvm| &jvm.failures).collect();
    for failure in failures.iter().take(MOST_FAILURES) {
        summary.notices.push(format!("the program failed: {}", in_full(failure)));
    }
    if failures.len() > MOST_FAILURES {
        let more = failures.len() - MOST_FAILURES;
        let which = if more == 1 { "thread or test" } else { "threads or tests" };
        summary.notices.push(format!("{more} more {which} ended with an exception"));
    }
    match ending {
        Ending::Own => {}
        Ending::Interrupted => {
            summary.notices.push("the run was interrupted; what was seen up to there is reported".to_owned());
            summary.doubt = Some(Doubt::Interrupted);
        }
        Ending::TimeLimit(limit) => {
            summary
                .notices
                .push(format!("the program did not end within {}, and was ended", in_words(limit)));
            summary.doubt = Some(Doubt::TimeLimit(limit));
        }
    }
    // The finding of a deadlock shows the sites of its threads already.
    let deadlocks =
        jvms.iter().flat_map(|jvm| &jvm.findings).filter(|finding| finding.kind == Kind::Deadlock);
    let deadlocked: Vec<&str> =
        deadlocks.flat_map(|finding| &finding.sites).map(|site| site.thread.as_str()).collect();
    let standing = jvms.iter().flat_map(|jvm| &jvm.threads);
    for thread in standing.filter(|thread| !deadlocked.contains(&thread.name.as_str())) {
        let doing = match thread.doing {
            Doing::Blocked => "waited for a lock",
            Doing::Waiting => "waited",
            Doing::Running => "was running",
        };
        summary.notices.push(format!(
            "when it was ended, thread \"{}\" {doing} at {}",
            thread.name,
            site(&thread.frame)
        ));
    }
    let exit = Some(exit).filter(|exit| ending == Ending::Own && *exit != Exit::Code(0));
    let failed = match (failures.first(), exit) {
        (Some(failure), _) => in_brief(failure),
        (None, Some(exit)) => format!("it {exit}"),
        (None, None) => return summary,
    };
    summary.doubt = summary.doubt.or(Some(Doubt::Failed(failed.clone())));
    summary.next_step = Some(NextStep {
        why: format!("the program failed ({failed}); to find out whether the schedule is the cause, run"),
        command: hunt(command, scope),
    });
    summary
}

/// The command that runs the same program under other schedules.
fn hunt(command: &[OsString], scope: &[Pointcut]) -> Vec<String> {
    let mut words = vec!["fissure".to_owned(), "hunt".to_owned()];
    for pointcut in scope {
        words.extend(["--scope".to_owned(), pointcut.to_string()]);
    }
    words.push("--".to_owned());
    words.extend(command.iter().map(|word| word.to_string_lossy().into_owned()));
    words
}

/// `java.lang.IllegalStateException: overdrawn, in thread "bob" at Account.withdraw (Account.java:15)`.
fn in_full(failure: &Failure) -> String {
    // Frames of the JDK and of the test framework say little about where a program fails.
    let is_own =
        |frame: &&Frame| !fissure_jdk::is_jdk_name(&frame.class) && !frame.class.starts_with("org.junit.");
    let own = failure.own.and_then(|own| failure.stack.get(own));
    let at = own
        .or_else(|| failure.stack.iter().find(is_own))
        .or(failure.stack.first())
        .map(|frame| format!(" at {}", site(frame)))
        .unwrap_or_default();
    format!("{}{at}", in_brief(failure))
}

fn in_brief(failure: &Failure) -> String {
    let what = match &failure.cause {
        Cause::Exception { class, message } => match message.lines().next() {
            Some(first) if !first.is_empty() => format!("{class}: {first}"),
            _ => class.clone(),
        },
        Cause::Exit { code } => format!("exit code {code}"),
    };
    match &failure.test {
        Some(test) => format!("{what}, in test {test}"),
        None => format!("{what}, in thread \"{}\"", failure.thread),
    }
}

fn site(frame: &Frame) -> String {
    let source = match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        (Some(file), None) => format!(" ({file})"),
        (None, _) => String::new(),
    };
    format!("{}.{}{source}", frame.class, frame.method)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(message: &str) -> Failure {
        let frame = |class: &str, line| Frame {
            class: class.to_owned(),
            method: "withdraw".to_owned(),
            file: Some("Account.java".to_owned()),
            line: Some(line),
        };
        Failure {
            thread: "bob".to_owned(),
            cause: Cause::Exception {
                class: "java.lang.IllegalStateException".to_owned(),
                message: message.to_owned(),
            },
            stack: vec![frame("java.util.Objects", 1), frame("Account", 15)],
            own: None,
            test: None,
            after: Vec::new(),
            interleaving: None,
        }
    }

    fn summary(exit: Exit, ending: Ending, failures: Vec<Failure>) -> EndSummary {
        let command: Vec<OsString> = ["java", "Main"].map(OsString::from).into();
        summarise(
            &command,
            &["Account".parse().unwrap()],
            exit,
            ending,
            &[Jvm { failures, ..Jvm::default() }],
        )
    }

    fn check(exit: Exit, ending: Ending, failures: Vec<Failure>, doubt: &str, has_next_step: bool) {
        let summary = summary(exit, ending, failures);
        let sentence =
            summary.doubt.as_ref().map_or_else(|| "none".to_owned(), |doubt| doubt.sentence(false));
        assert!(sentence.starts_with(doubt), "{summary:?}");
        assert_eq!(summary.next_step.is_some(), has_next_step, "{summary:?}");
    }

    #[test]
    fn a_run_that_failed_or_was_cut_short_is_not_clean() {
        let limit = Ending::TimeLimit(Duration::from_secs(60));
        check(Exit::Code(0), Ending::Own, Vec::new(), "none", false);
        check(Exit::Code(3), Ending::Own, Vec::new(), "the program failed (it ended with exit code 3)", true);
        check(
            Exit::Signal(11),
            Ending::Own,
            Vec::new(),
            "the program failed (it was killed by signal 11",
            true,
        );
        check(Exit::Code(0), Ending::Own, vec![failure("")], "the program failed (java.lang.Illegal", true);
        check(Exit::Code(130), Ending::Interrupted, Vec::new(), "interrupted before anything", false);
        check(Exit::Code(143), limit, Vec::new(), "the program did not end within 60 s", false);
        check(Exit::Code(143), limit, vec![failure("")], "the program did not end within 60 s", true);
    }

    #[test]
    fn exceptions_are_noted_with_the_applications_own_line() {
        let summary = summary(Exit::Code(1), Ending::Own, vec![failure("overdrawn\nby 3"); 5]);
        let expected = "the program failed: java.lang.IllegalStateException: overdrawn, in thread \"bob\" at Account.withdraw \
                        (Account.java:15)";
        assert_eq!(summary.notices[0], expected);
        assert_eq!(summary.notices[3], "2 more threads or tests ended with an exception");
        assert_eq!(
            summary.next_step.unwrap().command,
            ["fissure", "hunt", "--scope", "Account", "--", "java", "Main"]
        );
    }
}
