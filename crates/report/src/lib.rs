//! What Fissure tells its user: as terminal text ([`text`]), as one HTML file ([`html`]), and for other programs as
//! JSON ([`json`]), SARIF ([`sarif`]) and JUnit XML ([`junit`]).
//!
//! All are pure functions of a [`Report`]: no files, no terminal, no clock. Whoever calls them says how
//! wide the terminal is, whether colour is wanted, and where source lines come from ([`SourceFinder`]).
//! Before a report is shown, [`triage`] may tell what is new in it from what is known or suppressed.

pub mod html;
pub mod json;
pub mod junit;
pub mod object;
pub mod origins;
pub mod sarif;
pub mod text;
pub mod triage;

mod columns;
mod excerpt;
mod exit;
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

pub use exit::Exit;
pub use merge::merge;

use crate::triage::Triage;

/// Analyses that only look on.
const PASSIVE: [&str; 4] = ["racer", "eraser", "atomizer", "deadlock"];

/// Strategies that must be named to be followed.
const HUNTERS: [&str; 3] = ["assetfuzzer", "racefuzzer", "random"];

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
    /// How the runs ended, with how many ended that way.
    pub exits: BTreeMap<Exit, u64>,
    /// The JVMs that were met, the refused ones included.
    pub jvms: Vec<Hello>,
    /// What was watched.
    pub coverage: Coverage,
    /// Why the result means nothing, in one sentence with the next step; `None` if it means something.
    pub problem: Option<String>,
    /// Failures of Fissure itself, which are told before anything else.
    pub internal_errors: Vec<String>,
    /// What else the user should know, one sentence each.
    pub notices: Vec<String>,
    /// What was found, in any order: reports sort by themselves.
    pub findings: Vec<Finding>,
    /// What of it is known already or suppressed.
    pub triage: Triage,
    /// What strategies predicted, and what came of it.
    pub campaigns: Vec<Campaign>,
    /// A command that goes on from here, if there is an obvious one.
    pub next_step: Option<NextStep>,
}

/// A command that goes on from a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStep {
    /// The purpose, as a sentence that the command completes.
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

/// What one strategy that predicts did in a hunt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Campaign {
    /// Its name.
    pub strategy: String,
    /// How many runs found out what could happen.
    pub profiling_runs: u64,
    /// How many predictions they made.
    pub predicted: u64,
    /// How many of them were tried.
    pub tried: u64,
    /// How many of them came true.
    pub confirmed: u64,
    /// How many runs tried to make one come true.
    pub runs: u64,
    /// In how many of these runs any violation, or race, was seen.
    pub runs_with_hits: u64,
    /// How often threads that were held up had to be let go, in all runs.
    pub thrashings: u64,
}

/// Seeds that were tried: `count` of them, from `first` on, each `step` after the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedRange {
    /// The first seed.
    pub first: u64,
    /// How many seeds.
    pub count: u64,
    /// The distance from one to the next; more than 1 where machines share the seeds.
    #[serde(default = "one")]
    pub step: u64,
}

impl Report {
    /// The findings in the order in which every report shows them: the ordered ones last, the surest first, then by
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

    /// Whether a finding is that of a hunt, which counts runs rather than locations or executions.
    pub(crate) fn is_hunted(&self, finding: &Finding) -> bool {
        let is_passive = PASSIVE.contains(&finding.analysis.as_str());
        !self.seeds.is_empty() && !is_passive && finding.executions.is_none()
    }

    /// In how many of the runs a finding was seen.
    pub(crate) fn runs_with(&self, finding: &Finding) -> u64 {
        if self.is_hunted(finding) { finding.hits } else { finding.runs }
    }

    /// The command that shows a finding again, for a shell; `None` if its schedule was not controlled.
    pub fn replay_command(&self, finding: &Finding) -> Option<String> {
        let seed = finding.seeds.first()?;
        if self.command.is_empty() {
            return None;
        }
        let mut text = format!("fissure replay --seed {seed}");
        let target = finding.targets.first().and_then(Option::as_ref);
        let target = target.map(|target| ["--goal".to_owned(), target.to_string()]);
        let separator = ["--".to_owned()];
        // Of several strategies in one hunt each finding names its own.
        let is_named = self.options.iter().any(|word| word == "--strategy");
        let is_usual = is_named || !HUNTERS.contains(&finding.analysis.as_str());
        let strategy = (!is_usual).then(|| ["--strategy".to_owned(), finding.analysis.clone()]);
        for word in target
            .iter()
            .flatten()
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

    /// Where that file is, relative to the working directory if it is below that.
    fn path(&self, _class: &str, _file: &str) -> Option<String> {
        None
    }
}

/// Finds no source at all.
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
