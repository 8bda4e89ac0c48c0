//! The runner of tests that are made at run time, one for each program and mode: each has a name, by which it can be run alone.

use std::{
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use libtest_mimic::{Arguments, Completion, Failed};

use crate::record::{Recorded, write_record};

/// How many of the slowest tests are listed.
const SLOWEST: usize = 10;

/// How a test ended that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was as expected.
    Passed,
    /// Nothing was tested, for this reason.
    Skipped(String),
}

/// A test with a name.
pub struct Trial {
    name: String,
    run: Box<dyn FnOnce() -> Result<Outcome, String> + Send>,
}

impl Trial {
    /// A test that passes, is skipped, or fails with a text. A panic is a failure, too.
    pub fn new(
        name: impl Into<String>,
        run: impl FnOnce() -> Result<Outcome, String> + Send + 'static,
    ) -> Self {
        Trial { name: name.into(), run: Box::new(run) }
    }
}

/// Runs the tests that the arguments of this process select, in parallel, as Rust's own runner does. A filter that selects none is an
/// error. At the end it lists the slowest tests and the reasons why tests were skipped.
#[must_use]
pub fn run(trials: Vec<Trial>) -> ExitCode {
    run_with(&Arguments::from_args(), trials)
}

fn run_with(arguments: &Arguments, trials: Vec<Trial>) -> ExitCode {
    let records = Arc::new(Mutex::new(Vec::new()));
    let trials: Vec<libtest_mimic::Trial> = trials.into_iter().map(|trial| timed(trial, &records)).collect();
    if let Some(filter) = &arguments.filter
        && trials.iter().all(|trial| arguments.is_filtered_out(trial))
    {
        eprintln!("no test matches '{filter}': `-- --list` lists all {} of them", trials.len());
        return ExitCode::FAILURE;
    }
    let conclusion = libtest_mimic::run(arguments, trials);
    let records = std::mem::take(&mut *records.lock().unwrap_or_else(PoisonError::into_inner));
    eprint!("{}", summary(records));
    conclusion.exit_code()
}

/// The trial for the runner, which also records its time and why it was skipped.
fn timed(trial: Trial, records: &Arc<Mutex<Vec<Recorded>>>) -> libtest_mimic::Trial {
    let Trial { name, run } = trial;
    let records = Arc::clone(records);
    libtest_mimic::Trial::ignorable_test(name.clone(), move || {
        let started = Instant::now();
        let outcome = run();
        let skipped = match &outcome {
            Ok(Outcome::Skipped(reason)) => Some(reason.clone()),
            _ => None,
        };
        let recorded = Recorded { name, time: started.elapsed(), skipped };
        write_record(&recorded);
        records.lock().unwrap_or_else(PoisonError::into_inner).push(recorded);
        match outcome {
            Ok(Outcome::Passed) => Ok(Completion::Completed),
            Ok(Outcome::Skipped(reason)) => Ok(Completion::ignored_with(reason)),
            Err(problem) => Err(Failed::from(problem)),
        }
    })
}

/// The slowest tests, if there are many, and those that were skipped.
fn summary(mut records: Vec<Recorded>) -> String {
    let mut text = String::new();
    let skipped: Vec<&Recorded> = records.iter().filter(|record| record.skipped.is_some()).collect();
    if !skipped.is_empty() {
        text.push_str(&format!("skipped {} of {}:\n", skipped.len(), records.len()));
        for record in skipped {
            text.push_str(&format!("  {}: {}\n", record.name, record.skipped.as_deref().unwrap_or_default()));
        }
    }
    if records.len() > SLOWEST {
        records.sort_by_key(|record| std::cmp::Reverse(record.time));
        text.push_str("the slowest:\n");
        for Recorded { name, time, .. } in &records[..SLOWEST] {
            text.push_str(&format!("  {:>6.1} s  {name}\n", time.as_secs_f64()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use super::*;

    /// Runs two tests with a filter; checks whether that is a success, and how many of them ran.
    fn check(filter: &[&str], outcome: Result<Outcome, String>, succeeds: bool, expected: usize) {
        let ran = Arc::new(AtomicUsize::new(0));
        let trial = |name: &str| {
            let (ran, outcome) = (Arc::clone(&ran), outcome.clone());
            Trial::new(name, move || {
                ran.fetch_add(1, Ordering::Relaxed);
                outcome
            })
        };
        let words = ["tests", "--logfile", "/dev/null"].iter().chain(filter);
        let code = run_with(&Arguments::from_iter(words), vec![trial("hunt::A"), trial("hunt::AFixed")]);
        assert_eq!(code == ExitCode::SUCCESS, succeeds, "{filter:?}");
        assert_eq!(ran.load(Ordering::Relaxed), expected, "{filter:?}");
    }

    #[test]
    fn filters_select_and_must_select_something() {
        check(&[], Ok(Outcome::Passed), true, 2);
        check(&["hunt::AFixed"], Ok(Outcome::Passed), true, 1);
        check(&["--exact", "hunt::A"], Ok(Outcome::Passed), true, 1);
        check(&["hunt::B"], Ok(Outcome::Passed), false, 0);
        check(&["--exact", "hunt::"], Ok(Outcome::Passed), false, 0);
        check(&["--skip", "hunt::"], Ok(Outcome::Passed), true, 0);
    }

    #[test]
    fn failures_fail_and_skipped_tests_do_not() {
        check(&[], Ok(Outcome::Skipped("there is no tool".to_owned())), true, 2);
        check(&[], Err("it is wrong".to_owned()), false, 2);
    }

    #[test]
    fn the_summary_counts_what_was_skipped_and_lists_the_slowest() {
        let record = |number: u64| Recorded {
            name: format!("test-{number}"),
            time: Duration::from_secs(number),
            skipped: (number == 3).then(|| "there is no tool".to_owned()),
        };
        assert_eq!(summary(vec![record(1)]), "");
        let text = summary((1..=12).map(record).collect());
        assert!(text.starts_with(
            "skipped 1 of 12:\n  test-3: there is no tool\nthe slowest:\n    12.0 s  test-12\n"
        ));
        assert!(text.contains("test-3\n") && !text.contains("test-2\n"), "{text}");
    }
}
