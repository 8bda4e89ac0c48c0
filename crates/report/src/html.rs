//! The report as one HTML file that needs nothing else: no network, no other files.
//!
//! The template and its style and script are in `assets/`. The template engine escapes all text. The script
//! gets its data as JSON that cannot close the script element around it.

mod chart;
mod sources;
mod timeline;
mod view;

use std::collections::BTreeMap;

use fissure_model::finding::{Finding, Frame};
use minijinja::{Environment, context, value::Serde};
use serde::Serialize;

use crate::{Report, SourceFinder, names, origins, text, words};
use sources::{Collector, Snippet};
use view::{FindingView, RowView};

const PAGE: &str = include_str!("../assets/page.html");
const TIMELINE: &str = include_str!("../assets/timeline.html");
const STYLE: &str = include_str!("../assets/style.css");
const SCRIPT: &str = include_str!("../assets/script.js");

/// Source lines are cut at this many characters: generated code may have lines of megabytes.
const WIDEST: usize = 400;

/// The report cannot be expressed as a page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The template and its data do not match.
    #[error("the report cannot be expressed as HTML: {0}")]
    Template(#[from] minijinja::Error),
    /// The data for the script cannot be expressed as JSON.
    #[error("the report cannot be expressed as HTML: {0}")]
    Data(#[from] serde_json::Error),
}

/// A value of a filter, and how many findings have it.
#[derive(Debug, Serialize)]
struct Tally {
    key: &'static str,
    label: &'static str,
    count: usize,
}

/// The script's data about a step.
#[derive(Debug, Serialize)]
struct StepData {
    text: String,
    thread: String,
    color: usize,
    place: String,
    source: Option<usize>,
    line: Option<u32>,
    /// The number of the finding's site that this step is, from 1; the page shows the stack there.
    number: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Data {
    /// The steps that are shown, by their numbers.
    findings: Vec<BTreeMap<usize, StepData>>,
    sources: Vec<Snippet>,
}

/// The report as HTML; `version` is Fissure's own.
///
/// # Errors
/// Only if template and data do not match, which the tests rule out.
pub fn render(report: &Report, version: &str, sources: &dyn SourceFinder) -> Result<String, PageError> {
    let mut collector = Collector::new(sources);
    let findings = report.sorted_findings();
    let views: Vec<FindingView> = findings
        .iter()
        .enumerate()
        .map(|(at, finding)| view::view(report, at + 1, finding, sources))
        .collect();
    let data = Data {
        findings: findings
            .iter()
            .zip(&views)
            .map(|(finding, view)| step_data(finding, &view.rows, &mut collector))
            .collect(),
        sources: collector.finish(),
    };
    let exits: Vec<String> = report
        .exits
        .iter()
        .map(|(exit, count)| match report.runs {
            0 | 1 => exit.to_string(),
            _ => format!("{} {exit}", words::count(*count, "run", "runs")),
        })
        .collect();
    let limits: Vec<String> = report
        .coverage
        .limits
        .iter()
        .map(|(reason, count)| words::clean(&text::limit(reason, *count)))
        .collect();
    let origins = origins::describe(report);
    let notices = report.internal_errors.iter().chain(&report.notices).chain(&origins);
    let command: Vec<String> = report.command.iter().map(|word| words::shell_word(word)).collect();
    let mut environment = Environment::new();
    environment.add_template("page.html", PAGE)?;
    environment.add_template("timeline.html", TIMELINE)?;
    let page = environment.get_template("page.html")?.render(context! {
        version,
        command => words::clean(&command.join(" ")),
        runs => report.runs,
        exits,
        problem => report.problem.as_deref().map(words::clean),
        notices => notices.map(|notice| words::clean(notice)).chain(limits).collect::<Vec<_>>(),
        coverage => (report.coverage.jvms > 0 || report.problem.is_some()).then(|| text::coverage(report, true)),
        statuses => Serde(statuses(&views)),
        kinds => Serde(kinds(&views)),
        findings => Serde(&views),
        style => STYLE,
        script => SCRIPT,
        data => embed(&data)?,
    })?;
    Ok(page)
}

/// JSON that can stand inside a script element: nothing in it can close the element or open a comment.
fn embed(data: &Data) -> serde_json::Result<String> {
    Ok(serde_json::to_string(data)?
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029"))
}

/// The page's first filter: new findings by status, the others by why they do not count.
fn statuses(views: &[FindingView]) -> Vec<Tally> {
    const GROUPS: [(&str, &str, &str); 6] = [
        ("bug", "bug", "bugs"),
        ("confirmed", "confirmed", "confirmed"),
        ("warning", "warning", "warnings"),
        ("ordered", "ordered", "ordered"),
        ("known", "in the baseline", "in the baseline"),
        ("suppressed", "suppressed", "suppressed"),
    ];
    let tallies = GROUPS.map(|(key, one, many)| {
        let count = views.iter().filter(|view| view.standing == key).count();
        Tally { key, label: if count == 1 { one } else { many }, count }
    });
    tallies.into_iter().filter(|tally| tally.count > 0).collect()
}

fn kinds(views: &[FindingView]) -> Vec<Tally> {
    let mut counts: BTreeMap<&'static str, (usize, &'static str, &'static str)> = BTreeMap::new();
    for view in views {
        counts.entry(view.kind).or_insert((0, view.noun, view.nouns)).0 += 1;
    }
    let label = |count, one, many| if count == 1 { one } else { many };
    let tallies = counts.into_iter();
    tallies.map(|(key, (count, one, many))| Tally { key, label: label(count, one, many), count }).collect()
}

/// The data of a finding's steps for the script; adds the source lines that they need to `collector`.
fn step_data(
    finding: &Finding,
    shown: &[RowView],
    collector: &mut Collector<'_>,
) -> BTreeMap<usize, StepData> {
    let mut data = |text: String, row: &RowView, at: Option<&Frame>| StepData {
        text: words::clean(&text),
        thread: row.thread.clone(),
        color: row.color,
        place: at.map(|at| words::clean(&names::frame(at))).unwrap_or_default(),
        source: at.and_then(|at| collector.add(at)),
        line: at.and_then(|at| at.line),
        number: row.number,
    };
    let rows = shown.iter().filter_map(|row| Some((row.step?, row)));
    rows.map(|(at, row)| match &finding.interleaving {
        Some(interleaving) => {
            let step = &interleaving.steps[at];
            (at, data(names::step(step), row, step.at.as_ref()))
        }
        None => {
            let site = &finding.sites[at];
            let text = format!("{} {}", names::verb(&site.role), names::site(site));
            (at, data(text, row, Some(&names::frame_of(site))))
        }
    })
    .collect()
}
