//! The results of a search: the outcome that is not atomic, and how much was executed.

use std::time::Duration;

use fissure_object::enumerate::Harness;
use fissure_report::object::{RateReport, SchedulesReport};

/// How many preemptions controlled schedules have at most.
pub(crate) const PREEMPTIONS: u32 = 2;

/// The results of a search.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    /// The outcome that is not atomic.
    pub(crate) violation: Option<Violation>,
    /// How many harnesses were executed.
    pub(crate) harnesses: u64,
    /// The number of executions, all together.
    pub(crate) executions: u64,
    /// The time until the violation was seen or the search was given up.
    pub(crate) elapsed: Duration,
    /// Harnesses with a linearization that does not end or that has different results each time.
    pub(crate) undetermined: u64,
    /// Harnesses that hung or killed the JVM when executed by several threads.
    pub(crate) stuck: Vec<String>,
    /// Harnesses whose results depend on the calling thread.
    pub(crate) thread_dependent: u64,
    /// The executions under controlled schedules.
    pub(crate) schedules: Schedules,
    /// The most different values in a harness.
    pub(crate) values: usize,
    /// How fast the single harness of `--harness` was executed, if it was stressed.
    pub(crate) rate: Option<RateReport>,
}

impl Findings {
    /// The results of this search and a later one together.
    pub(crate) fn and(self, later: Findings) -> Findings {
        Findings {
            violation: self.violation.or(later.violation),
            harnesses: self.harnesses + later.harnesses,
            executions: self.executions + later.executions,
            elapsed: self.elapsed + later.elapsed,
            undetermined: self.undetermined.max(later.undetermined),
            stuck: self.stuck.into_iter().chain(later.stuck).collect(),
            thread_dependent: self.thread_dependent.max(later.thread_dependent),
            schedules: self.schedules.and(later.schedules),
            values: self.values.max(later.values),
            rate: self.rate.or(later.rate),
        }
    }
}

/// An outcome that is not atomic.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    /// The harness, with numbers of the alphabet.
    pub(crate) harness: Harness,
    /// The outcome, result by result.
    pub(crate) outcome: Vec<String>,
    /// How often it was seen.
    pub(crate) hits: u64,
    /// In how many executions.
    pub(crate) executions: u64,
    /// The atomic outcomes, each with the linearizations that lead to it.
    pub(crate) atomic: Vec<(Vec<String>, Vec<Vec<usize>>)>,
    /// Outcomes of the last executions, how often each was seen, and whether it is atomic.
    pub(crate) counts: Vec<(Vec<String>, u64, bool)>,
    /// The steps of a controlled execution with this outcome, as the agent records them.
    pub(crate) steps: Option<String>,
    /// Why the method is to blame, if that was examined.
    pub(crate) cause: Option<Cause>,
}

/// Why a method is to blame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    /// All concurrent calls are of this method.
    Itself,
    /// Schedules show a violation although the calls of these methods are atomic.
    Remains {
        /// The methods.
        atomic: Vec<String>,
    },
    /// All other methods are of the core, and are assumed to be atomic.
    Core {
        /// The methods of the core.
        methods: Vec<String>,
    },
    /// The violation disappears if any of these methods is atomic.
    Together {
        /// The methods.
        methods: Vec<String>,
    },
    /// No schedule gives the outcome.
    Memory {
        /// The number of schedules.
        schedules: u64,
        /// The most preemptions in them.
        preemptions: u32,
    },
}

/// How many schedules were executed, and how many were not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Schedules {
    /// Harnesses of which all schedules with at most [`PREEMPTIONS`] preemptions were executed.
    pub(crate) harnesses: u64,
    /// The number of these schedules.
    pub(crate) schedules: u64,
    /// Harnesses with more schedules than there was time for.
    pub(crate) unfinished: u64,
    /// Executions that took too long and were cut off.
    pub(crate) cut: u64,
    /// Harnesses that do not always do the same under the same schedule.
    pub(crate) diverged: u64,
    /// Harnesses that start threads, which are not controlled.
    pub(crate) strays: u64,
}

impl Schedules {
    /// The schedules of two searches.
    fn and(self, later: Schedules) -> Schedules {
        Schedules {
            harnesses: self.harnesses + later.harnesses,
            schedules: self.schedules + later.schedules,
            unfinished: self.unfinished + later.unfinished,
            cut: self.cut + later.cut,
            diverged: self.diverged + later.diverged,
            strays: self.strays + later.strays,
        }
    }

    /// For the report, if any schedule was controlled.
    pub(crate) fn report(&self) -> Option<SchedulesReport> {
        (self.harnesses + self.unfinished > 0).then_some(SchedulesReport {
            preemptions: PREEMPTIONS,
            harnesses: self.harnesses,
            schedules: self.schedules,
            unfinished: self.unfinished,
            cut: self.cut,
        })
    }
}
