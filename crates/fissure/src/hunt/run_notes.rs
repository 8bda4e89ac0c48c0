//! What happened in the runs beside findings, as sentences. Nothing in them depends on time, places or process ids, so that
//! the same runs give the same sentences.

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

/// How many seeds a sentence names.
const NAMED: usize = 5;

/// What it means that a program has virtual threads.
pub(crate) const UNCONTROLLED_VIRTUAL_THREADS: &str = "the program uses virtual threads, which are not controlled yet: what \
     they did was neither steered nor looked at. Let it use platform threads (an executor made by \
     Executors.newCachedThreadPool, Thread.ofPlatform), or watch it with `fissure detect`";

/// What is kept of the runs.
#[derive(Debug, Default)]
pub(crate) struct RunNotes {
    /// How the program ended by itself.
    pub(crate) exits: BTreeMap<Exit, u64>,
    /// What was watched.
    pub(crate) coverage: Coverage,
    /// Failures of Fissure itself, each once.
    pub(crate) internal_errors: Vec<String>,
    killed: Vec<u64>,
    too_long: Vec<u64>,
    stuck: Vec<u64>,
    always_stuck: Vec<u64>,
    disorderly: Vec<u64>,
    unreadable: Vec<u64>,
    uncontrolled: BTreeMap<String, Vec<u64>>,
    /// Failures that no reference run has, that no violation came before, and that Fissure's own doing may have led to.
    uncounted: BTreeMap<String, Vec<u64>>,
    said: Vec<String>,
}

impl RunNotes {
    /// Takes note of a run.
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
        let told = outcome.is_told();
        match outcome.ending {
            Ending::TimeLimit => self.killed.push(seed),
            Ending::Ended(_) if !told && outcome.jvms.iter().any(|jvm| jvm.watched()) => {
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
        // Others are findings of their own.
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
            if !self.said.contains(notice) {
                self.said.push(notice.clone());
            }
        }
    }

    /// Whether runs failed in a way that is not counted as a finding.
    pub(crate) fn has_uncounted_failures(&self) -> bool {
        !self.uncounted.is_empty()
    }

    /// Whether there were virtual threads.
    pub(crate) fn has_virtual_threads(&self) -> bool {
        self.uncontrolled.contains_key(VIRTUAL_THREADS)
    }

    /// The sentences. `limits` are the time limit in seconds and the most steps.
    pub(crate) fn tell(&self, limits: (u64, u64)) -> Vec<String> {
        let (seconds, steps) = limits;
        let mut notices = self.said.clone();
        let mut say = |seeds: &[u64], sentence: &dyn Fn(&str) -> String| {
            if !seeds.is_empty() {
                notices.push(sentence(&named(seeds)));
            }
        };
        for (failure, seeds) in &self.uncounted {
            say(seeds, &|seeds| {
                format!(
                    "no reference run fails with {failure}, but these runs do. In them Fissure let time pass for sleeping threads while \
                     others could run, which may be the reason, so it is not counted as a finding: {seeds}"
                )
            });
        }
        say(&self.stuck, &|seeds| format!("Fissure ended runs whose threads were stuck: {seeds}"));
        say(&self.always_stuck, &|seeds| {
            format!(
                "the program does not end by itself, not even without interference: in the end all its threads wait for \
                 something that nobody is left to do, so Fissure ended these runs there: {seeds}"
            )
        });
        say(&self.too_long, &|seeds| {
            format!(
                "a livelock or a very long program: after {steps} steps these runs were ended, and nothing is known of \
                 the rest; raise --steps if the program needs more: {seeds}"
            )
        });
        say(&self.killed, &|seeds| {
            format!(
                "killed at the time limit of {seconds} s, which is no finding; raise --time-limit if the program needs \
                 longer: {seeds}"
            )
        });
        say(&self.disorderly, &|seeds| {
            format!(
                "the JVM did not end in an orderly way (killed, crashed or halted), and what was seen up to there is \
                 reported: {seeds}"
            )
        });
        say(&self.unreadable, &|seeds| format!("some of the records could not be read: {seeds}"));
        for (reason, seeds) in &self.uncontrolled {
            if reason == VIRTUAL_THREADS {
                say(seeds, &|seeds| format!("{UNCONTROLLED_VIRTUAL_THREADS}: {seeds}"));
                continue;
            }
            say(seeds, &|seeds| {
                format!("these runs may go otherwise in a replay, because {reason}: {seeds}")
            });
        }
        notices
    }
}

/// What the reference runs were like, in words.
pub(crate) fn controls(outcomes: &[Outcome], references: &References) -> Vec<String> {
    let all = count(outcomes.len() as u64, "reference run", "reference runs");
    let number = |holds: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| holds(outcome)).count();
    let failed = number(&|outcome| outcome.accounts().any(|run| !run.failures.is_empty()));
    let deadlocked = number(&|outcome| outcome.end() == RunEnd::Deadlock);
    let killed = number(&|outcome| outcome.ending == Ending::TimeLimit);
    let mut notices = Vec::new();
    for (number, what) in [
        (failed, "ended threads by exceptions, which are no consequences of anything found"),
        (deadlocked, "ended in a deadlock without interference"),
        (killed, "were killed at the time limit"),
    ] {
        if number > 0 {
            notices.push(format!("{number} of {all} {what}"));
        }
    }
    if !references.is_known() {
        notices.push(
            "no reference run came to an end, so that there is nothing to compare with and nothing is called a bug"
                .to_owned(),
        );
    }
    notices
}

/// An exception and where it was thrown.
fn describe(failure: &Failure) -> String {
    match failure.stack.first() {
        Some(Frame { class, method, line: Some(line), .. }) => {
            format!("{} in {class}.{method}:{line}", failure.exception)
        }
        Some(Frame { class, method, line: None, .. }) => format!("{} in {class}.{method}", failure.exception),
        None => failure.exception.clone(),
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

    fn check(control: Sketch, run: Sketch, expected: &[&str]) {
        let mut references = References::default();
        references.add(&control.outcome());
        let mut run_notes = RunNotes::default();
        for seed in 1..=7 {
            run_notes.add(&Outcome { seed, ..run.outcome() }, &references);
        }
        let told = run_notes.tell((60, 1_000));
        assert_eq!(told.len(), expected.len(), "{told:?}");
        for (sentence, part) in told.iter().zip(expected) {
            assert!(sentence.contains(part), "{sentence}");
            assert!(sentence.ends_with("seeds 1, 2, 3, 4, 5 and 2 more"), "{sentence}");
        }
        let own_exits = run_notes.exits.values().sum::<u64>();
        assert_eq!(own_exits, if run.end == RunEnd::Finished && run.exit.is_some() { 7 } else { 0 });
    }

    #[test]
    fn what_happened_is_told_with_its_seeds() {
        let ended = |end| Sketch { end, exit: Some(86), ..Sketch::default() };
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
    fn reference_runs_are_told_if_they_are_worth_it() {
        let outcomes = |sketch: Sketch| vec![sketch.outcome(), Sketch::default().outcome()];
        let tell = |outcomes: &[Outcome]| {
            let mut references = References::default();
            outcomes.iter().for_each(|outcome| references.add(outcome));
            controls(outcomes, &references)
        };
        assert!(tell(&outcomes(Sketch::default())).is_empty());
        let failing = Sketch { failures: &["Boom 1 "], ..Sketch::default() };
        assert!(tell(&outcomes(failing))[0].starts_with("1 of 2 reference runs ended threads"));
        let killed = Sketch { exit: None, ..Sketch::default() };
        assert_eq!(tell(&[killed.outcome()]).len(), 2);
    }
}
