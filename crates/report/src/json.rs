//! The report as JSON, schema 1. Other programs read it, so its keys and their order do not change.
//!
//! `schema/report.schema.json` beside the sources describes it as a JSON Schema.

use std::collections::BTreeMap;

use fissure_model::{
    coverage::Coverage,
    finding::{Finding, SCHEMA},
};
use serde::{Deserialize, Serialize};

use crate::{
    Campaign, Exit, NextStep, Report, SeedRange, object::ObjectReport, tested::TestReport, triage::Standing,
};

/// The text is not a report.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// It is not JSON, or its keys are not those of a report.
    #[error("it is not a Fissure report: {0}")]
    Form(#[from] serde_json::Error),
    /// It was written by a later Fissure.
    #[error("it has schema {0}, but this Fissure reads only schema {SCHEMA}; use a newer Fissure")]
    Schema(u32),
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    tool: Tool<'a>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    command: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    options: &'a [String],
    runs: u64,
    #[serde(skip_serializing_if = "<[SeedRange]>::is_empty")]
    seeds: &'a [SeedRange],
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<&'a str>,
    exits: BTreeMap<i32, u64>,
    coverage: &'a Coverage,
    problem: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    internal_errors: &'a [String],
    notices: &'a [String],
    #[serde(skip_serializing_if = "<[Campaign]>::is_empty")]
    campaigns: &'a [Campaign],
    findings: Vec<Judged<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a ObjectReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<&'a NextStep>,
    #[serde(skip_serializing_if = "<[TestReport]>::is_empty")]
    tests: &'a [TestReport],
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    version: &'a str,
}

/// A finding with the result of the triage.
#[derive(Serialize)]
struct Judged<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressed: Option<&'a str>,
}

/// The part of a report that is read back. Triage results are not: the reader judges the findings again.
#[derive(Deserialize)]
struct Read {
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    options: Vec<String>,
    runs: u64,
    #[serde(default)]
    seeds: Vec<SeedRange>,
    exits: BTreeMap<i32, u64>,
    #[serde(default)]
    coverage: Coverage,
    #[serde(default)]
    problem: Option<String>,
    #[serde(default)]
    internal_errors: Vec<String>,
    #[serde(default)]
    notices: Vec<String>,
    #[serde(default)]
    campaigns: Vec<Campaign>,
    findings: Vec<Finding>,
    #[serde(default)]
    next_step: Option<NextStep>,
    #[serde(default)]
    tests: Vec<TestReport>,
}

/// The report as pretty-printed JSON with a line break at its end; `version` is Fissure's own.
///
/// # Errors
/// Only if a finding cannot be expressed as JSON, which its types rule out.
pub fn render(report: &Report, version: &str) -> serde_json::Result<String> {
    render_with(report, None, version)
}

/// The same, with the method-by-method results of `fissure object`.
///
/// # Errors
/// Only if a finding cannot be expressed as JSON, which its types rule out.
pub fn render_with(
    report: &Report,
    object: Option<&ObjectReport>,
    version: &str,
) -> serde_json::Result<String> {
    let mut exits = BTreeMap::new();
    for (exit, count) in &report.exits {
        *exits.entry(exit.code()).or_default() += count;
    }
    let judged = |finding| {
        let standing = report.triage.standing(finding);
        Judged {
            finding,
            baseline: report.triage.has_baseline().then_some(match standing {
                Standing::Known => "known",
                Standing::News | Standing::Suppressed(_) => "new",
            }),
            suppressed: match standing {
                Standing::Suppressed(reason) => Some(reason),
                Standing::News | Standing::Known => None,
            },
        }
    };
    let document = Document {
        schema: SCHEMA,
        tool: Tool { name: "fissure", version },
        command: &report.command,
        options: &report.options,
        runs: report.runs,
        seeds: &report.seeds,
        digest: report.digest.as_deref(),
        exits,
        coverage: &report.coverage,
        problem: report.problem.as_deref(),
        internal_errors: &report.internal_errors,
        notices: &report.notices,
        campaigns: &report.campaigns,
        findings: report.sorted_findings().into_iter().map(judged).collect(),
        object,
        next_step: report.next_step.as_ref(),
        tests: &report.tests,
    };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// Reads a report back. A run killed by a signal is read as an exit code above 128; the JVMs are not stored.
///
/// # Errors
/// If the text is not a report, or has an unknown schema.
pub fn parse(text: &str) -> Result<Report, ParseError> {
    /// Parsed first, so that a report with a later schema gets its own error message.
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let version: Version = serde_json::from_str(text)?;
    if version.schema != SCHEMA {
        return Err(ParseError::Schema(version.schema));
    }
    let read: Read = serde_json::from_str(text)?;
    Ok(Report {
        command: read.command,
        options: read.options,
        runs: read.runs,
        seeds: read.seeds,
        exits: read.exits.into_iter().map(|(code, count)| (Exit::Code(code), count)).collect(),
        coverage: read.coverage,
        problem: read.problem,
        internal_errors: read.internal_errors,
        notices: read.notices,
        campaigns: read.campaigns,
        findings: read.findings,
        next_step: read.next_step,
        tests: read.tests,
        ..Report::default()
    })
}
