//! Notes about runs, beside their findings. They contain no times, paths or process ids, so that the same runs give the same notes.

use std::collections::BTreeMap;

use fissure_model::{
    coverage::Coverage,
    finding::{Finding, Frame},
    record::{Failure, RunEnd, VIRTUAL_THREADS},
};
use fissure_report::Exit;

use super::{
    reference::References,
    run::{Ending, Outcome},
};

/// How many seeds a note names.
const NAMED: usize = 5;

/// The note about a program that uses virtual threads.
pub(crate) const UNCONTROLLED_VIRTUAL_THREADS: &str = "the program uses virtual threads, which are not controlled yet: they \
     were neither scheduled nor checked. Let it use platform threads (an executor made by \
     Executors.newCachedThreadPool, Thread.ofPlatform), or watch it with `fissure detect`";

/// The facts about all runs that the notes mention.
#[derive(Debug, Default)]
pub(crate) struct RunNotes {
    /// How often the program ended by itself with each exit code.
    pub(crate) exits: BTreeMap<Exit, u64>,
    /// The sum of what was instrumented and analysed.
    pub(crate) coverage: Coverage,
    /// Failures of Fissure, each once.
    pub(crate) internal_errors: Vec<String>,
    killed: Vec<u64>,
    too_long: Vec<u64>,
    stuck: Vec<u64>,
    always_stuck: Vec<u64>,
    disorderly: Vec<u64>,
    unreadable: Vec<u64>,
    uncontrolled: BTreeMap<String, Vec<u64>>,
    /// Failures that no reference run shows, that follow no violation, and that Fissure may have caused by waking a sleeping thread early.
    uncounted: BTreeMap<String, Vec<u64>>,
    jvm_notices: Vec<String>,
}

impl RunNotes {
    /// Records a run.
    pub(crate) fn add(&mut self, outcome: &Outcome, references: &References) {
        let seed = outcome.seed;
        for error in outcome.internal_errors() {
            if !self.internal_errors.contains(error) {
                self.internal_errors.push(error.clone());
            }
        }
        if let Some(exit) = outcome.own_exit() {
            *self.exits.entry(exit).or_default() += 1;
        }
        for jvm in outcome.jvms.iter().filter(|jvm| jvm.watched()) {
            if let Some(coverage) = &jvm.coverage {
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
            Ending::Ended(_) if !is_complete && outcome.jvms.iter().any(|jvm| jvm.watched()) => {
                self.disorderly.push(seed);
            }
            Ending::Ended(_) | Ending::Interrupted => {}
        }
        if outcome.jvms.iter().any(|jvm| jvm.unreadable > 0) {
            self.unreadable.push(seed);
        }
        for reason in outcome.uncontrolled() {
            let seeds = self.uncontrolled.entry(reason.to_owned()).or_default();
            if seeds.last() != Some(&seed) {
                seeds.push(seed);
            }
        }
        // Failures of other runs become findings.
        let hurried = || outcome.accounts().filter(|run| run.is_hurried);
        let failures = hurried().flat_map(|run| &run.failures);
        let news = failures.filter(|failure| failure.after.is_empty() && !references.knows_failure(failure));
        let mut uncounted: Vec<String> = news.map(describe).collect();
        let has_violation = outcome.jvms.iter().flat_map(|jvm| &jvm.findings).any(Finding::is_proven);
        if let Some((code, _)) = references.new_exit(outcome).filter(|_| !has_violation)
            && hurried().next().is_some()
        {
            uncounted.push(format!("exit code {code}"));
        }
        for failure in uncounted {
            let seeds = self.uncounted.entry(failure).or_default();
            if seeds.last() != Some(&seed) {
                seeds.push(seed);
            }
        }
        for notice in outcome.jvms.iter().flat_map(|jvm| &jvm.notices) {
            if !self.jvm_notices.contains(notice) {
                self.jvm_notices.push(notice.clone());
            }
        }
    }

    /// Whether runs failed in a way that is not counted as a finding.
    pub(crate) fn has_uncounted_failures(&self) -> bool {
        !self.uncounted.is_empty()
    }

    /// Whether the program used virtual threads.
    pub(crate) fn has_virtual_threads(&self) -> bool {
        self.uncontrolled.contains_key(VIRTUAL_THREADS)
    }

    /// The notes. `limits` are the time limit in seconds and the most steps.
    pub(crate) fn notices(&self, limits: (u64, u64)) -> Vec<String> {
        let (seconds, steps) = limits;
        let mut notices = self.jvm_notices.clone();
        let mut say = |seeds: &[u64], sentence: &dyn Fn(&str) -> String| {
            if !seeds.is_empty() {
                notices.push(sentence(&named(seeds)));
            }
        };
        for (failure, seeds) in &self.uncounted {
            say(seeds, &|seeds| {
                format!(
                    "no reference run fails with {failure}, but these runs do. In them Fissure let time pass for sleeping threads while \
                     others could run, which may be the cause, so the failure is not counted as a finding: {seeds}"
                )
            });
        }
        say(&self.stuck, &|seeds| format!("Fissure ended runs whose threads were stuck: {seeds}"));
        say(&self.always_stuck, &|seeds| {
            format!(
                "the program does not end by itself, not even in reference runs: in the end all its threads wait for events that no \
                 thread is left to cause, so Fissure ended these runs there: {seeds}"
            )
        });
        say(&self.too_long, &|seeds| {
            format!(
                "Fissure ended these runs after {steps} steps (a livelock, or a very long program); raise --steps if the program \
                 needs more: {seeds}"
            )
        });
        say(&self.killed, &|seeds| {
            format!(
                "these runs were killed at the time limit of {seconds} s, which is no finding; raise --time-limit if the program needs \
                 longer: {seeds}"
            )
        });
        say(&self.disorderly, &|seeds| {
            format!(
                "the JVM did not end in an orderly way (killed, crashed or halted) in these runs; what was seen up to there is \
                 reported: {seeds}"
            )
        });
        say(&self.unreadable, &|seeds| format!("some records of these runs could not be read: {seeds}"));
        for (reason, seeds) in &self.uncontrolled {
            if reason == VIRTUAL_THREADS {
                say(seeds, &|seeds| format!("{UNCONTROLLED_VIRTUAL_THREADS}: {seeds}"));
                continue;
            }
            say(seeds, &|seeds| format!("these runs may not replay identically, because {reason}: {seeds}"));
        }
        notices
    }
}

/// Notes about the reference runs.
pub(crate) fn reference_notices(outcomes: &[Outcome], references: &References) -> Vec<String> {
    let all = count(outcomes.len() as u64, "reference run", "reference runs");
    let number = |holds: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| holds(outcome)).count();
    let failed = number(&|outcome| outcome.accounts().any(|run| !run.failures.is_empty()));
    let deadlocked = number(&|outcome| outcome.end() == RunEnd::Deadlock);
    let killed = number(&|outcome| outcome.ending == Ending::TimeLimit);
    let mut notices = Vec::new();
    for (number, what) in [
        (failed, "had threads that ended with an exception, so no finding is blamed for that"),
        (deadlocked, "ended in a deadlock"),
        (killed, "reached the time limit and ended there"),
    ] {
        if number > 0 {
            notices.push(format!("{number} of {all} {what}"));
        }
    }
    if !references.is_known() {
        notices.push(
            "no reference run ended, so there is nothing to compare with and nothing is called a bug: raise --steps or --time-limit"
                .to_owned(),
        );
    }
    notices
}

/// A failure and where it happened.
fn describe(failure: &Failure) -> String {
    let kind = failure.kind();
    let kind = kind.name();
    match failure.stack.first() {
        Some(Frame { class, method, line: Some(line), .. }) => {
            format!("{kind} in {class}.{method}:{line}")
        }
        Some(Frame { class, method, line: None, .. }) => format!("{kind} in {class}.{method}"),
        None => kind.to_owned(),
    }
}

/// `1 run`, `3 runs`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// `seed 3`, `seeds 3, 4 and 5`, `seeds 1, 2, 3, 4, 5 and 7 more`.
fn named(seeds: &[u64]) -> String {
    let shown: Vec<String> = seeds.iter().take(NAMED).map(u64::to_string).collect();
    match (shown.as_slice(), seeds.len() - shown.len()) {
        ([one], 0) => format!("seed {one}"),
        ([most @ .., last], 0) => format!("seeds {} and {last}", most.join(", ")),
        (shown, more) => format!("seeds {} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::testing::Sketch;

    fn check(reference: Sketch, run: Sketch, expected: &[&str]) {
        let mut references = References::default();
        references.add(&reference.outcome());
        let mut run_notes = RunNotes::default();
        for seed in 1..=7 {
            run_notes.add(&Outcome { seed, ..run.outcome() }, &references);
        }
        let notices = run_notes.notices((60, 1_000));
        assert_eq!(notices.len(), expected.len(), "{notices:?}");
        for (sentence, part) in notices.iter().zip(expected) {
            assert!(sentence.contains(part), "{sentence}");
            assert!(sentence.ends_with("seeds 1, 2, 3, 4, 5 and 2 more"), "{sentence}");
        }
        let own_exits = run_notes.exits.values().sum::<u64>();
        assert_eq!(own_exits, if run.end == RunEnd::Finished && run.exit.is_some() { 7 } else { 0 });
    }

    #[test]
    fn notes_name_the_seeds_of_their_runs() {
        let ended = |end| Sketch { end, exit: Some(RunEnd::EXIT_CODE), ..Sketch::default() };
        check(Sketch::default(), Sketch::default(), &[]);
        check(Sketch::default(), ended(RunEnd::TooLong), &["after 1000 steps"]);
        check(Sketch::default(), ended(RunEnd::Deadlock), &["stuck"]);
        check(ended(RunEnd::Hang), ended(RunEnd::Hang), &["does not end by itself"]);
        check(Sketch::default(), Sketch { exit: None, ..Sketch::default() }, &["time limit of 60 s"]);
        let lost = Sketch { uncontrolled: &["one reason", "two"], ..Sketch::default() };
        check(Sketch::default(), lost, &["one reason", "two"]);
        let virtual_threads = Sketch { uncontrolled: &[VIRTUAL_THREADS], ..Sketch::default() };
        check(Sketch::default(), virtual_threads, &["Let it use platform threads"]);
        let failing = |failures| Sketch { failures, is_hurried: true, ..Sketch::default() };
        check(Sketch::default(), failing(&["Boom 7 "]), &["Boom in "]);
        check(Sketch::default(), failing(&["Boom 7 f"]), &[]);
        check(failing(&["Boom 7 "]), failing(&["Boom 7 "]), &[]);
        check(Sketch::default(), Sketch { is_hurried: false, ..failing(&["Boom 7 "]) }, &[]);
    }

    #[test]
    fn seeds_are_named_up_to_a_point() {
        assert_eq!(named(&[3]), "seed 3");
        assert_eq!(named(&[3, 4, 9]), "seeds 3, 4 and 9");
    }

    #[test]
    fn reference_runs_are_noted_if_something_went_wrong() {
        let outcomes = |sketch: Sketch| vec![sketch.outcome(), Sketch::default().outcome()];
        let notices_of = |outcomes: &[Outcome]| {
            let mut references = References::default();
            outcomes.iter().for_each(|outcome| references.add(outcome));
            reference_notices(outcomes, &references)
        };
        assert!(notices_of(&outcomes(Sketch::default())).is_empty());
        let failing = Sketch { failures: &["Boom 1 "], ..Sketch::default() };
        assert!(notices_of(&outcomes(failing))[0].starts_with("1 of 2 reference runs had threads"));
        let killed = Sketch { exit: None, ..Sketch::default() };
        assert_eq!(notices_of(&[killed.outcome()]).len(), 2);
    }
}
