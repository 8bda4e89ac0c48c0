//! The report as JSON, schema 1: for other programs, so its keys stay and their order does not change.

use std::collections::BTreeMap;

use fissure_model::{
    coverage::Coverage,
    finding::{Finding, SCHEMA},
};
use serde::Serialize;

use crate::{Report, object::ObjectReport};

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    tool: Tool<'a>,
    runs: u64,
    exits: BTreeMap<i32, u64>,
    coverage: &'a Coverage,
    problem: Option<&'a str>,
    notices: &'a [String],
    findings: Vec<&'a Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a ObjectReport>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    version: &'a str,
}

/// The report as pretty-printed JSON with a line break at its end; `version` is Fissure's own.
///
/// # Errors
/// Only if a finding cannot be expressed as JSON, which its types rule out.
pub fn render(report: &Report, version: &str) -> serde_json::Result<String> {
    render_with(report, None, version)
}

/// The same with what was found out about a class, method by method.
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
    let document = Document {
        schema: SCHEMA,
        tool: Tool { name: "fissure", version },
        runs: report.runs,
        exits,
        coverage: &report.coverage,
        problem: report.problem.as_deref(),
        notices: &report.notices,
        findings: report.sorted_findings(),
        object,
    };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}
