//! What Fissure tells its user, as terminal text ([`text`]) and as JSON ([`json`]).
//!
//! Both are pure functions of a [`Report`]: no files, no terminal, no clock. Whoever calls them says how
//! wide the terminal is, whether colour is wanted, and where source lines come from ([`SourceFinder`]).

pub mod json;
pub mod object;
pub mod text;

mod exit;
mod story;
mod style;
mod words;

use std::collections::BTreeMap;

use fissure_model::{coverage::Coverage, finding::Finding, record::Hello};

pub use exit::Exit;

/// Everything that is reported about the runs of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How often the program was run; zero if it could not be started.
    pub runs: u64,
    /// How the runs ended, with how many ended that way.
    pub exits: BTreeMap<Exit, u64>,
    /// The JVMs that were met, the refused ones included.
    pub jvms: Vec<Hello>,
    /// What was watched.
    pub coverage: Coverage,
    /// Why the result means nothing, in one sentence with the next step; `None` if it means something.
    pub problem: Option<String>,
    /// What else the user should know, one sentence each.
    pub notices: Vec<String>,
    /// What was found, in any order: reports sort by themselves.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The findings in the order in which every report shows them: the ordered ones last, then by subject and id.
    pub fn sorted_findings(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.findings.iter().collect();
        findings.sort_by(|a, b| {
            (a.ordered, &a.subject, &a.id, &a.analysis).cmp(&(b.ordered, &b.subject, &b.id, &b.analysis))
        });
        findings
    }
}

/// Gives the text of source lines.
pub trait SourceFinder {
    /// Line number `line` (from 1) of the source file named `file` of a class with dots, if it can be found.
    fn line(&self, class: &str, file: &str, line: u32) -> Option<String>;
}

/// Finds no source at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSources;

impl SourceFinder for NoSources {
    fn line(&self, _class: &str, _file: &str, _line: u32) -> Option<String> {
        None
    }
}
