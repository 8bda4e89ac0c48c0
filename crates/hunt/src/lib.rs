//! A hunt: many controlled runs of one program, which make violations happen and show the failures that they cause.
//!
//! [`hunt`] decides which runs to make and what they show. Reference runs come first: a failure that they show does not depend on the
//! schedule. Then seeds are tried in rounds, each run with a goal ([`goals`]); strategies that predict begin with profiling runs.
//! Results are processed in the order of the seeds, so that nothing depends on how many runs go on at the same time.
//!
//! Nothing here does I/O, reads a clock or knows a front end: a [`Runner`] executes the runs, and the result is plain data
//! ([`HuntResult`]).

mod blame;
mod causes;
mod facts;
pub mod goals;
mod merge;
mod minimise;
mod outcome;
mod patience;
mod planning;
pub mod reference;
mod result;
mod rounds;
mod settings;
mod shard;
#[cfg(test)]
mod simulated_tests;
#[cfg(test)]
mod testing;

pub use facts::{ReferenceFacts, RunFacts};
pub use merge::Tally;
pub use minimise::Shortened;
pub use outcome::{Ending, Outcome, Process};
pub use planning::ChanceFacts;
pub use result::{Found, HuntResult, PredictionFacts, Problem, StrategyResult};
pub use rounds::hunt;
pub use settings::{Aims, HuntSettings, Points, RunSettings};
pub use shard::Shard;

use std::time::Duration;

use fissure_model::settings::Control;

/// Executes runs of the program under test. This is all that a hunt needs of a front end.
pub trait Runner {
    /// The reason why a run could not be executed.
    type Error;

    /// Executes runs and gives their results in the same order. After a run for which `is_last` holds, the results end; they also end
    /// where the user interrupts the hunt.
    fn run(
        &mut self,
        runs: &[Control],
        is_last: &(dyn Fn(&Outcome) -> bool + Sync),
    ) -> Result<Vec<Outcome>, Self::Error>;

    /// Whether the user interrupted the hunt.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// The share of the hunt's time that is spent, 1 or more if it is over; 0 if there is no limit.
    fn spent(&self) -> f64 {
        0.0
    }

    /// The time since the hunt began, if it has a time limit: a hunt with a number of runs never looks at the time.
    fn elapsed(&self) -> Option<Duration> {
        None
    }

    /// How many runs may judge causes at least, even if the search was shorter. It is the same wherever the runs are executed.
    fn least_judging_runs(&self) -> u64 {
        LEAST_JUDGING_RUNS
    }

    /// Why these runs show nothing about the program, if they do not.
    fn blindness(&self, _outcomes: &[Outcome]) -> Option<Blindness> {
        None
    }
}

/// See [`Runner::least_judging_runs`].
pub const LEAST_JUDGING_RUNS: u64 = 64;

/// Executes runs one after the other, as [`Runner::run`] requires it, for front ends that cannot execute several at once.
///
/// # Errors
/// A run could not be executed.
pub fn run_in_order<E>(
    runs: &[Control],
    is_last: &(dyn Fn(&Outcome) -> bool + Sync),
    mut execute: impl FnMut(&Control) -> Result<Outcome, E>,
) -> Result<Vec<Outcome>, E> {
    let mut outcomes = Vec::new();
    for control in runs {
        outcomes.push(execute(control)?);
        if outcomes.last().is_some_and(is_last) {
            break;
        }
    }
    Ok(outcomes)
}

/// Why runs show nothing about the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blindness {
    /// Whether the reason is that only one thread ran; another schedule may lead to more.
    pub is_one_thread: bool,
    /// The reason and the next step, in a sentence of the front end.
    pub text: String,
}
