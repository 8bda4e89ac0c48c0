//! Notes about runs, beside their findings.

use fissure_hunt::{ReferenceFacts, RunFacts, Shortened};
use fissure_model::record::VIRTUAL_THREADS;
use fissure_report::thousands;

/// How many seeds a note names.
const NAMED: usize = 5;

/// The note about a program that uses virtual threads.
pub(crate) const UNCONTROLLED_VIRTUAL_THREADS: &str = "the program uses virtual threads that Fissure could not control: \
     they were neither scheduled nor checked. Run it on Java 21 or later, and without the option -XX:+VMContinuations";

/// Notes about runs beside reference runs. `limits` are the time limit in seconds and the most steps.
pub(crate) fn notices(facts: &RunFacts, limits: (u64, u64)) -> Vec<String> {
    let (seconds, steps) = limits;
    let mut notices = facts.notices.clone();
    if facts.patient_runs > 0 {
        notices.push(format!(
            "{}, to see whether failures need sleeping threads that are woken early",
            count(facts.patient_runs, "patient run was added", "patient runs were added"),
        ));
    }
    let mut say = |seeds: &[u64], sentence: &dyn Fn(&str) -> String| {
        if !seeds.is_empty() {
            notices.push(sentence(&named(seeds)));
        }
    };
    let repeated = match facts.patient_runs {
        0 => "",
        _ => " (it did not occur when runs were repeated without that)",
    };
    for (failure, seeds) in &facts.uncounted {
        say(seeds, &|seeds| {
            format!(
                "no reference run fails with {failure}, but these runs do. In them Fissure let time pass for sleeping threads while \
                 others could run, which may be the cause{repeated}, so the failure is not counted as a finding: {seeds}"
            )
        });
    }
    say(&facts.stuck, &|seeds| format!("Fissure ended runs whose threads were stuck: {seeds}"));
    say(&facts.always_stuck, &|seeds| {
        format!(
            "the program does not end by itself, not even in reference runs: in the end all its threads wait for events that no \
             thread is left to cause, so Fissure ended these runs there: {seeds}"
        )
    });
    say(&facts.too_long, &|seeds| {
        format!(
            "Fissure ended these runs after {steps} steps (a livelock, or a very long program); raise --steps if the program \
             needs more: {seeds}"
        )
    });
    say(&facts.killed, &|seeds| {
        format!(
            "these runs were killed at the time limit of {seconds} s, which is no finding; raise --time-limit if the program needs \
             longer: {seeds}"
        )
    });
    say(&facts.abnormal, &|seeds| {
        format!(
            "the JVM did not end normally (killed, crashed or halted) in these runs; what was seen up to there is \
             reported: {seeds}"
        )
    });
    say(&facts.unreadable, &|seeds| format!("some records of these runs could not be read: {seeds}"));
    for (reason, seeds) in &facts.uncontrolled {
        if reason == VIRTUAL_THREADS {
            say(seeds, &|seeds| format!("{UNCONTROLLED_VIRTUAL_THREADS}: {seeds}"));
            continue;
        }
        say(seeds, &|seeds| format!("these runs may not replay identically, because {reason}: {seeds}"));
    }
    notices
}

/// Notes about the reference runs.
pub(crate) fn reference_notices(facts: &ReferenceFacts) -> Vec<String> {
    let all = count(facts.runs, "reference run", "reference runs");
    let mut notices = Vec::new();
    for (number, what) in [
        (facts.failed, "had threads that ended with an exception, so no finding is blamed for that"),
        (facts.deadlocked, "ended in a deadlock"),
        (facts.killed, "reached the time limit and ended there"),
    ] {
        if number > 0 {
            notices.push(format!("{number} of {all} {what}"));
        }
    }
    if !facts.is_known {
        notices.push(
            "no reference run ended by itself, so there is nothing to compare with and nothing is called a bug; if Fissure ended them, \
             raise --steps or --time-limit"
                .to_owned(),
        );
    }
    notices
}

/// The note about a schedule that was shortened.
pub(crate) fn shortened_notice(shortened: &Shortened) -> String {
    let Shortened { id, before, after } = shortened;
    format!("the schedule of finding {id} was shortened from {before} switches between threads to {after}")
}

/// `1 run`, `3 runs`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
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

    fn check(facts: &RunFacts, expected: &[&str]) {
        let notices = notices(facts, (60, 1_000));
        assert_eq!(notices.len(), expected.len(), "{notices:?}");
        for (sentence, part) in notices.iter().zip(expected) {
            assert!(sentence.contains(part), "{sentence}");
            assert!(sentence.ends_with("seeds 1, 2, 3, 4, 5 and 2 more"), "{sentence}");
        }
    }

    #[test]
    fn notes_name_the_seeds_of_their_runs() {
        let seeds = || (1..=7).collect::<Vec<u64>>();
        let none = RunFacts::default;
        check(&none(), &[]);
        check(&RunFacts { too_long: seeds(), ..none() }, &["after 1000 steps"]);
        check(&RunFacts { stuck: seeds(), ..none() }, &["stuck"]);
        check(&RunFacts { always_stuck: seeds(), ..none() }, &["does not end by itself"]);
        check(&RunFacts { killed: seeds(), ..none() }, &["time limit of 60 s"]);
        check(&RunFacts { abnormal: seeds(), ..none() }, &["did not end normally"]);
        check(&RunFacts { unreadable: seeds(), ..none() }, &["could not be read"]);
        let uncontrolled = |reasons: &[&str]| RunFacts {
            uncontrolled: reasons.iter().map(|reason| ((*reason).to_owned(), seeds())).collect(),
            ..none()
        };
        check(&uncontrolled(&["one reason", "two"]), &["one reason", "two"]);
        check(&uncontrolled(&[VIRTUAL_THREADS]), &["Run it on Java 21 or later"]);
        let uncounted = [("Boom in Main.run:7".to_owned(), seeds())].into();
        check(&RunFacts { uncounted, ..none() }, &["fails with Boom in Main.run:7"]);
    }

    #[test]
    fn seeds_are_named_up_to_a_point() {
        assert_eq!(named(&[3]), "seed 3");
        assert_eq!(named(&[3, 4, 9]), "seeds 3, 4 and 9");
    }

    #[test]
    fn reference_runs_are_noted_if_something_went_wrong() {
        let fine = ReferenceFacts { runs: 2, is_known: true, ..ReferenceFacts::default() };
        assert!(reference_notices(&fine).is_empty());
        let failed = reference_notices(&ReferenceFacts { failed: 1, ..fine });
        assert!(failed[0].starts_with("1 of 2 reference runs had threads"), "{failed:?}");
        let killed = ReferenceFacts { runs: 1, killed: 1, ..ReferenceFacts::default() };
        assert_eq!(reference_notices(&killed).len(), 2);
    }
}
