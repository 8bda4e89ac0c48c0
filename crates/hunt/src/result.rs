//! The result of a hunt, as plain data.

use fissure_model::{finding::Finding, record::Hello};
use fissure_schedule::strategy::registry::StrategyKind;

use crate::{
    facts::{ReferenceFacts, RunFacts},
    merge::Tally,
    minimise::Shortened,
    planning::ChanceFacts,
};

/// The result of a hunt.
#[derive(Debug, Default)]
pub struct HuntResult {
    /// Why the runs say nothing about the program, if they do not.
    pub problem: Option<Problem>,
    /// How many runs there were beside reference runs.
    pub runs: u64,
    /// How many runs, reference runs included, were examined for the problem.
    pub examined: u64,
    /// The processes of the first run.
    pub processes: Vec<Hello>,
    /// The reference runs.
    pub references: ReferenceFacts,
    /// The other runs.
    pub facts: RunFacts,
    /// The runs of each strategy, in the order in which they hunted.
    pub strategies: Vec<StrategyResult>,
    /// The findings, in the same order, each once.
    pub found: Vec<Found>,
    /// How many findings that runs made happen are left out, because the hunt is for other kinds.
    pub omitted: u64,
    /// Whether a run discovered goals at accesses.
    pub has_discovered: bool,
    /// How many goals at accesses were never tried.
    pub untried: u64,
    /// Whether some goals at accesses were dropped because there were too many.
    pub is_cut: bool,
}

/// Why the runs of a hunt say nothing about the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The front end could see too little; a sentence with the next step.
    Blind(String),
    /// The user interrupted the hunt.
    Interrupted,
    /// Every run was killed at the time limit.
    TimeLimit,
    /// The only threads beside the first are virtual ones, which are not controlled.
    VirtualThreads,
}

/// A finding of a hunt.
#[derive(Debug)]
pub struct Found {
    /// The finding.
    pub finding: Finding,
    /// How many runs show it.
    pub tally: Tally,
}

/// The runs of one strategy.
#[derive(Debug)]
pub struct StrategyResult {
    /// The strategy.
    pub strategy: &'static StrategyKind,
    /// How many profiling runs there were.
    pub profiling_runs: u64,
    /// How many runs came after them.
    pub runs: u64,
    /// How many goals were known, and how many of them were tried.
    pub goals: (u64, u64),
    /// The runs that chance decided.
    pub chance: ChanceFacts,
    /// What the profiling runs predicted.
    pub predictions: PredictionFacts,
    /// The schedules that were shortened.
    pub shortened: Vec<Shortened>,
}

/// Facts about predicted violations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PredictionFacts {
    /// How many were predicted; predictions that differ only in sites and calls count once.
    pub predicted: u64,
    /// How many of them runs tried to make happen.
    pub tried: u64,
    /// How many of them happened.
    pub confirmed: u64,
    /// How many of the runs with a goal made something happen.
    pub hits: u64,
    /// How often a pause had to end because no other thread could run.
    pub thrashings: u64,
    /// Descriptions of what was dropped because of memory limits.
    pub cut: Vec<String>,
}
