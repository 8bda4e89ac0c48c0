//! Facts about the runs of a hunt beside their findings: how they ended, what was covered, what may not be repeatable. They contain no
//! times, paths or process ids, so that the same runs give the same facts.

use std::collections::BTreeMap;

use fissure_model::{
    coverage::Coverage,
    exit::Exit,
    finding::{Finding, Frame},
    record::{Cause, Failure, RunEnd, VIRTUAL_THREADS},
};

use crate::{
    outcome::{Ending, Outcome},
    reference::References,
};

/// The facts about all runs. Lists of numbers are seeds.
#[derive(Debug, Default)]
pub struct RunFacts {
    /// How often the program ended by itself with each exit code.
    pub exits: BTreeMap<Exit, u64>,
    /// The sum of what was instrumented and analysed.
    pub coverage: Coverage,
    /// Failures of Fissure, each once.
    pub internal_errors: Vec<String>,
    /// Runs that were killed at the time limit.
    pub killed: Vec<u64>,
    /// Runs that exceeded the number of steps.
    pub too_long: Vec<u64>,
    /// Runs whose threads were stuck.
    pub stuck: Vec<u64>,
    /// The same for a program whose threads are stuck in every reference run.
    pub always_stuck: Vec<u64>,
    /// Runs that did not end normally.
    pub abnormal: Vec<u64>,
    /// Runs with records that could not be read.
    pub unreadable: Vec<u64>,
    /// Runs that may not replay identically, by the reason.
    pub uncontrolled: BTreeMap<String, Vec<u64>>,
    /// Failures that no reference run shows, that follow no violation, and that Fissure may have caused by waking a sleeping thread early.
    pub uncounted: BTreeMap<String, Vec<u64>>,
    /// How many runs were repeated as patient ones, to see whether such failures need a sleeping thread that is woken early.
    pub patient_runs: u64,
    /// The notes of the front end, each once.
    pub notices: Vec<String>,
}

impl RunFacts {
    /// Records a run.
    pub(crate) fn add(&mut self, outcome: &Outcome, references: &References) {
        let seed = outcome.seed;
        self.add_internal_errors(outcome);
        if let Some(exit) = outcome.own_exit() {
            *self.exits.entry(exit).or_default() += 1;
        }
        for process in outcome.processes.iter().filter(|process| process.is_watched()) {
            if let Some(coverage) = &process.coverage {
                self.coverage.add(coverage);
            }
        }
        match outcome.end() {
            RunEnd::Finished => {}
            RunEnd::TooLong => self.too_long.push(seed),
            RunEnd::Hang if references.always_hangs() => self.always_stuck.push(seed),
            RunEnd::Hang | RunEnd::Deadlock => self.stuck.push(seed),
        }
        let is_complete = outcome.is_complete();
        match outcome.ending {
            Ending::TimeLimit => self.killed.push(seed),
            Ending::Ended(_)
                if !is_complete && outcome.processes.iter().any(|process| process.is_watched()) =>
            {
                self.abnormal.push(seed);
            }
            Ending::Ended(_) | Ending::Interrupted => {}
        }
        if outcome.processes.iter().any(|process| process.has_unreadable_records) {
            self.unreadable.push(seed);
        }
        for reason in outcome.uncontrolled() {
            let seeds = self.uncontrolled.entry(reason.to_owned()).or_default();
            if seeds.last() != Some(&seed) {
                seeds.push(seed);
            }
        }
        for failure in uncounted_failures(outcome, references) {
            let seeds = self.uncounted.entry(failure).or_default();
            if seeds.last() != Some(&seed) {
                seeds.push(seed);
            }
        }
        for notice in outcome.processes.iter().flat_map(|process| &process.notices) {
            if !self.notices.contains(notice) {
                self.notices.push(notice.clone());
            }
        }
    }

    /// Records the failures of Fissure in a run.
    pub(crate) fn add_internal_errors(&mut self, outcome: &Outcome) {
        for error in outcome.internal_errors() {
            if !self.internal_errors.contains(error) {
                self.internal_errors.push(error.clone());
            }
        }
    }

    /// Whether runs failed in a way that is not counted as a finding.
    pub fn has_uncounted_failures(&self) -> bool {
        !self.uncounted.is_empty()
    }

    /// Whether the program used virtual threads.
    pub fn has_virtual_threads(&self) -> bool {
        self.uncontrolled.contains_key(VIRTUAL_THREADS)
    }
}

/// Failures of a run that no reference run shows, as texts.
pub(crate) fn new_failures(outcome: &Outcome, references: &References) -> Vec<String> {
    let failures = outcome.accounts().flat_map(|run| &run.failures);
    let mut news: Vec<String> =
        failures.filter(|failure| !references.knows_failure(failure)).map(describe).collect();
    news.extend(references.new_exit(outcome).map(|(code, _)| format!("exit code {code}")));
    news
}

/// Failures of a run in which Fissure woke a sleeping thread early. The failures of other runs become findings.
fn uncounted_failures(outcome: &Outcome, references: &References) -> Vec<String> {
    let hurried = || outcome.accounts().filter(|run| run.is_hurried);
    let failures = hurried().flat_map(|run| &run.failures);
    let news = failures.filter(|failure| failure.after.is_empty() && !references.knows_failure(failure));
    let mut uncounted: Vec<String> = news.map(describe).collect();
    let has_violation = outcome.findings().any(Finding::is_proven);
    if let Some((code, _)) = references.new_exit(outcome).filter(|_| !has_violation)
        && hurried().next().is_some()
    {
        uncounted.push(format!("exit code {code}"));
    }
    uncounted
}

/// An exception and where it was thrown, in the application if its frame is known; a failed test is named, with its message.
fn describe(failure: &Failure) -> String {
    let kind = failure.kind();
    let kind = kind.name();
    if let (Some(test), Cause::Exception { message, .. }) = (&failure.test, &failure.cause) {
        return format!("{kind} in test {test} ({})", message.lines().next().unwrap_or_default());
    }
    match failure.stack.get(failure.own.unwrap_or(0)) {
        Some(Frame { class, method, line: Some(line), .. }) => {
            format!("{kind} in {class}.{method}:{line}")
        }
        Some(Frame { class, method, line: None, .. }) => format!("{kind} in {class}.{method}"),
        None => kind.to_owned(),
    }
}

/// Facts about the reference runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReferenceFacts {
    /// How many there were.
    pub runs: u64,
    /// How many had threads that ended with an exception.
    pub failed: u64,
    /// How many ended in a deadlock.
    pub deadlocked: u64,
    /// How many were killed at the time limit.
    pub killed: u64,
    /// Whether one of them ended, so that other runs can be compared with it.
    pub is_known: bool,
}

impl ReferenceFacts {
    /// The facts about these reference runs.
    pub(crate) fn new(outcomes: &[Outcome], references: &References) -> Self {
        let number = |holds: &dyn Fn(&Outcome) -> bool| {
            outcomes.iter().filter(|outcome| holds(outcome)).count() as u64
        };
        ReferenceFacts {
            runs: outcomes.len() as u64,
            failed: number(&|outcome| outcome.accounts().any(|run| !run.failures.is_empty())),
            deadlocked: number(&|outcome| outcome.end() == RunEnd::Deadlock),
            killed: number(&|outcome| outcome.ending == Ending::TimeLimit),
            is_known: references.is_known(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sketch;

    /// The facts about two equal runs, as words: how many runs each list has.
    fn check(reference: Sketch, run: Sketch, expected: &str) {
        let mut references = References::default();
        references.add(&reference.outcome());
        let mut facts = RunFacts::default();
        for seed in 1..=2 {
            facts.add(&Outcome { seed, ..run.outcome() }, &references);
        }
        let mut words: Vec<String> = Vec::new();
        for (name, seeds) in [
            ("killed", &facts.killed),
            ("too-long", &facts.too_long),
            ("stuck", &facts.stuck),
            ("always-stuck", &facts.always_stuck),
            ("abnormal", &facts.abnormal),
        ] {
            assert!(seeds.is_empty() || *seeds == [1, 2], "{name}: {seeds:?}");
            words.extend((!seeds.is_empty()).then(|| name.to_owned()));
        }
        words.extend(facts.uncontrolled.keys().cloned());
        words.extend(facts.uncounted.keys().cloned());
        assert_eq!(words.join(", "), expected, "{run:?}");
        let own_exits = facts.exits.values().sum::<u64>();
        assert_eq!(own_exits, if run.end == RunEnd::Finished && run.exit.is_some() { 2 } else { 0 });
    }

    #[test]
    fn runs_are_listed_by_how_they_ended() {
        let ended = |end| Sketch { end, exit: Some(86), ..Sketch::default() };
        check(Sketch::default(), Sketch::default(), "");
        check(Sketch::default(), ended(RunEnd::TooLong), "too-long");
        check(Sketch::default(), ended(RunEnd::Deadlock), "stuck");
        check(ended(RunEnd::Hang), ended(RunEnd::Hang), "always-stuck");
        check(Sketch::default(), Sketch { exit: None, ..Sketch::default() }, "killed");
        let lost = Sketch { uncontrolled: &["one reason", "two"], ..Sketch::default() };
        check(Sketch::default(), lost, "one reason, two");
    }

    #[test]
    fn failures_are_not_counted_if_a_sleeping_thread_was_woken_early() {
        let failing = |failures| Sketch { failures, is_hurried: true, ..Sketch::default() };
        check(Sketch::default(), failing(&["Boom 7 "]), "Boom in Main.run:7");
        check(Sketch::default(), failing(&["Boom 7 f"]), "");
        check(failing(&["Boom 7 "]), failing(&["Boom 7 "]), "");
        check(Sketch::default(), Sketch { is_hurried: false, ..failing(&["Boom 7 "]) }, "");
    }

    #[test]
    fn a_failure_is_described_by_its_test_or_by_the_frame_of_the_application() {
        let frame = |class: &str, line: u32| Frame {
            class: class.to_owned(),
            method: "run".to_owned(),
            file: None,
            line: Some(line),
        };
        let failure = Failure {
            thread: "main".to_owned(),
            cause: Cause::Exception { class: "Boom".to_owned(), message: "expected 2\nbut was 1".to_owned() },
            stack: vec![frame("library.Assert", 1), frame("app.Store", 2)],
            own: Some(1),
            test: None,
            after: Vec::new(),
            interleaving: None,
        };
        assert_eq!(describe(&failure), "Boom in app.Store.run:2");
        let failure = Failure { test: Some("app.StoreTest.adds".to_owned()), ..failure };
        assert_eq!(describe(&failure), "Boom in test app.StoreTest.adds (expected 2)");
    }

    #[test]
    fn reference_runs_are_counted_by_what_went_wrong() {
        let facts_of = |sketches: &[Sketch]| {
            let outcomes: Vec<Outcome> = sketches.iter().map(Sketch::outcome).collect();
            let mut references = References::default();
            outcomes.iter().for_each(|outcome| references.add(outcome));
            ReferenceFacts::new(&outcomes, &references)
        };
        let fine = ReferenceFacts { runs: 2, is_known: true, ..ReferenceFacts::default() };
        assert_eq!(facts_of(&[Sketch::default(); 2]), fine);
        let failing = Sketch { failures: &["Boom 1 "], ..Sketch::default() };
        assert_eq!(facts_of(&[failing, Sketch::default()]), ReferenceFacts { failed: 1, ..fine });
        let killed = Sketch { exit: None, ..Sketch::default() };
        let nothing = ReferenceFacts { runs: 1, killed: 1, ..ReferenceFacts::default() };
        assert_eq!(facts_of(&[killed]), nothing);
    }
}
