//! Renders Fissure's reports: as terminal text ([`text`]), as one HTML file ([`html`]), and for other programs as
//! JSON ([`json`]), SARIF ([`sarif`]) and JUnit XML ([`junit`]).
//!
//! All renderers are pure functions of a [`Report`]: no files, no terminal, no clock. The caller passes the width of the
//! terminal, whether to use colour, and where source lines come from ([`SourceFinder`]).
//! Before a report is rendered, [`triage`] can separate new findings from known and suppressed ones.

pub mod html;
pub mod json;
pub mod junit;
pub mod object;
pub mod origins;
pub mod sarif;
pub mod tested;
pub mod text;
pub mod triage;

mod columns;
mod excerpt;
mod finding_text;
mod merge;
mod names;
mod sets;
mod steps;
mod style;
mod words;

use std::{cmp::Reverse, collections::BTreeMap};

use fissure_model::{coverage::Coverage, finding::Finding, record::Hello};
use serde::{Deserialize, Serialize};

pub use fissure_model::exit::Exit;
pub use merge::merge;
pub use words::thousands;

use crate::{tested::TestReport, triage::Triage};

/// Analyses that observe a run without controlling its schedule.
const PASSIVE: [&str; 4] = ["racer", "eraser", "atomizer", "deadlock"];

/// Names in findings that are no strategies for `--strategy`: the conductor itself, and the strategy that is the default.
const NEVER_NAMED: [&str; 2] = ["conductor", "atomfuzzer"];

/// Everything that is reported about the runs of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The command that was run, word by word; empty if it is not known.
    pub command: Vec<String>,
    /// Fissure's own options that a replay must repeat, word by word.
    pub options: Vec<String>,
    /// How often the program was run; zero if it could not be started.
    pub runs: u64,
    /// The seeds of those runs, if they had any.
    pub seeds: Vec<SeedRange>,
    /// A digest of the schedules and exit codes of all controlled runs in their order; `None` if there is none.
    pub digest: Option<String>,
    /// How the runs ended, with how many ended that way.
    pub exits: BTreeMap<Exit, u64>,
    /// The JVMs that connected, including those that the agent refused.
    pub jvms: Vec<Hello>,
    /// How much of the program was instrumented and observed.
    pub coverage: Coverage,
    /// Why the result is not valid, in one sentence with the next step; `None` if it is valid.
    pub problem: Option<String>,
    /// Failures of Fissure itself; reports show them first.
    pub internal_errors: Vec<String>,
    /// Other notes for the user, one sentence each.
    pub notices: Vec<String>,
    /// The findings, in any order: the renderers sort them.
    pub findings: Vec<Finding>,
    /// Which findings are already known or suppressed.
    pub triage: Triage,
    /// For each strategy with goals, how many goals there were and how many were reached.
    pub campaigns: Vec<Campaign>,
    /// The command to run next, if there is an obvious one.
    pub next_step: Option<NextStep>,
    /// The tests that were hunted in, in the order in which they were found; empty if the program is not a test.
    pub tests: Vec<TestReport>,
    /// The command that repeats a finding, up to the finding's id; empty if a replay of [`Report::command`] does it.
    pub repeats_by: String,
}

/// The command to run next after a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStep {
    /// The purpose, as a phrase that the command completes.
    pub why: String,
    /// The command, word by word.
    pub command: Vec<String>,
}

impl NextStep {
    /// The command for a shell.
    pub(crate) fn command_line(&self) -> String {
        self.command.iter().map(|word| words::shell_word(word)).collect::<Vec<_>>().join(" ")
    }
}

/// The runs and goals of one goal-directed strategy in a hunt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Campaign {
    /// Its name.
    pub strategy: String,
    /// How many profiling runs collected candidates.
    pub profiling_runs: u64,
    /// How many candidates they found.
    pub predicted: u64,
    /// How many candidates became the goal of at least one run.
    pub tried: u64,
    /// How many goals were reached.
    pub confirmed: u64,
    /// How many runs tried to reach a goal.
    pub runs: u64,
    /// In how many of these runs any violation or race was seen.
    pub runs_with_hits: u64,
    /// How often, in all runs, paused threads had to be released because no other thread could run.
    pub thrashings: u64,
}

/// Seeds that were tried: `count` of them, from `first` on, each `step` after the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedRange {
    /// The first seed.
    pub first: u64,
    /// How many seeds.
    pub count: u64,
    /// The distance from one seed to the next; more than 1 if several machines share the seeds.
    #[serde(default = "one")]
    pub step: u64,
}

impl Report {
    /// The findings in the order in which every report shows them: unordered before ordered, then by descending status,
    /// subject and id.
    pub fn sorted_findings(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.findings.iter().collect();
        findings.sort_by(|a, b| {
            (a.ordered, Reverse(a.status), &a.subject, &a.id, &a.analysis).cmp(&(
                b.ordered,
                Reverse(b.status),
                &b.subject,
                &b.id,
                &b.analysis,
            ))
        });
        findings
    }

    /// Whether a finding comes from a hunt; its `hits` then count runs, not locations or executions.
    pub(crate) fn is_hunted(&self, finding: &Finding) -> bool {
        let is_passive = PASSIVE.contains(&finding.analysis.as_str());
        !self.seeds.is_empty() && !is_passive && finding.executions.is_none()
    }

    /// In how many of the runs a finding was seen.
    pub(crate) fn runs_with(&self, finding: &Finding) -> u64 {
        if self.is_hunted(finding) { finding.hits } else { finding.runs }
    }

    /// The shell command that replays a finding; `None` if its schedule was not controlled.
    pub fn replay_command(&self, finding: &Finding) -> Option<String> {
        let seed = finding.seeds.first()?;
        if !self.repeats_by.is_empty() {
            return Some(format!("{}{}", self.repeats_by, words::shell_word(&finding.id)));
        }
        if self.command.is_empty() {
            return None;
        }
        let mut text = format!("fissure replay --seed {seed}");
        if finding.patient_seeds.contains(seed) {
            text.push_str(" --patient");
        }
        let goal = finding.goals.first().and_then(Option::as_ref);
        let goal = goal.map(|goal| ["--goal".to_owned(), goal.to_string()]);
        let schedule = finding.schedules.first().filter(|_| finding.shortened);
        let schedule = schedule.map(|schedule| ["--schedule".to_owned(), schedule.clone()]);
        let separator = ["--".to_owned()];
        // A hunt may use several strategies; each finding names the one that found it.
        let is_given = self.options.iter().any(|word| word == "--strategy");
        let is_implied =
            is_given || [&PASSIVE[..], &NEVER_NAMED].concat().contains(&finding.analysis.as_str());
        let strategy = (!is_implied).then(|| ["--strategy".to_owned(), finding.analysis.clone()]);
        for word in goal
            .iter()
            .flatten()
            .chain(schedule.iter().flatten())
            .chain(strategy.iter().flatten())
            .chain(&self.options)
            .chain(&separator)
            .chain(&self.command)
        {
            text.push(' ');
            text.push_str(&words::shell_word(word));
        }
        Some(text)
    }
}

/// Gives the text of source lines.
pub trait SourceFinder {
    /// Line number `line` (from 1) of the source file named `file` of a class with dots, if it can be found.
    fn line(&self, class: &str, file: &str, line: u32) -> Option<String>;

    /// The path of that file, relative to the working directory if it is below it.
    fn path(&self, _class: &str, _file: &str) -> Option<String> {
        None
    }
}

/// A [`SourceFinder`] that finds no source.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSources;

impl SourceFinder for NoSources {
    fn line(&self, _class: &str, _file: &str, _line: u32) -> Option<String> {
        None
    }
}

fn one() -> u64 {
    1
}
