//! The report as one HTML file that needs nothing else: no network, no other files.
//!
//! The template and its style and script are in `assets/`. All text is escaped by the template engine, and what the
//! script needs is handed to it as JSON in which nothing can end the element that holds it.

mod chart;
mod sources;
mod timeline;

use std::collections::BTreeMap;

use fissure_model::{
    finding::{Finding, Frame, Site},
    interleaving::Step,
};
use minijinja::{Environment, context, value::Serde};
use serde::Serialize;

use crate::{Report, SourceFinder, excerpt, names, steps, text, triage::Standing, words};
use chart::Chart;
use sources::{Collector, Snippet};
use timeline::Timeline;

const PAGE: &str = include_str!("../assets/page.html");
const TIMELINE: &str = include_str!("../assets/timeline.html");
const STYLE: &str = include_str!("../assets/style.css");
const SCRIPT: &str = include_str!("../assets/script.js");

/// Source lines are cut at this many characters: generated code may have lines of megabytes.
const WIDEST: usize = 400;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The template does not fit what it is given.
    #[error("the report cannot be expressed as HTML: {0}")]
    Template(#[from] minijinja::Error),
    /// The data for the script have no JSON form.
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

#[derive(Debug, Serialize)]
struct FindingView {
    number: usize,
    id: String,
    status: &'static str,
    kind: &'static str,
    noun: &'static str,
    nouns: &'static str,
    standing: &'static str,
    reason: Option<String>,
    headline: String,
    subject: String,
    short: String,
    search: String,
    facts: Vec<String>,
    replay: Option<String>,
    consequence: Option<ConsequenceView>,
    timeline: Option<Timeline>,
    rows: Vec<RowView>,
    sites: Vec<SiteView>,
    harness: Option<String>,
    outcomes: Vec<OutcomeView>,
    executions: Option<String>,
    chart: Option<Chart>,
}

#[derive(Debug, Serialize)]
struct ConsequenceView {
    exception: String,
    /// Without its packages.
    short: String,
    message: String,
    thread: String,
    stack: Vec<String>,
}

/// A line of the list of steps.
#[derive(Debug, Serialize)]
struct RowView {
    /// The step's number, or none for a note about folded ones.
    step: Option<usize>,
    thread: String,
    color: usize,
    text: String,
    place: String,
    number: Option<usize>,
    important: bool,
    switched: bool,
}

#[derive(Debug, Serialize)]
struct SiteView {
    thread: String,
    color: usize,
    verb: String,
    place: String,
    holding: String,
    line: Option<u32>,
    before: String,
    marked: String,
    after: String,
    callers: Vec<String>,
}

#[derive(Debug, Serialize)]
struct OutcomeView {
    outcome: String,
    count: String,
    percent: f64,
    atomic: bool,
}

/// What the script knows of a step.
#[derive(Debug, Serialize)]
struct StepData {
    text: String,
    thread: String,
    color: usize,
    place: String,
    source: Option<usize>,
    line: Option<u32>,
    stack: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Data {
    findings: Vec<Vec<StepData>>,
    sources: Vec<Snippet>,
}

/// The report as HTML; `version` is Fissure's own.
///
/// # Errors
/// Only if template and data do not fit, which the tests rule out.
pub fn render(report: &Report, version: &str, sources: &dyn SourceFinder) -> Result<String, PageError> {
    let mut collector = Collector::new(sources);
    let findings = report.sorted_findings();
    let views: Vec<FindingView> =
        findings.iter().enumerate().map(|(at, finding)| view(report, at + 1, finding, sources)).collect();
    let data = Data {
        findings: findings.iter().map(|finding| step_data(finding, &mut collector)).collect(),
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
        .map(|(reason, count)| words::clean(&format!("{reason} ({})", words::times(*count))))
        .collect();
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
        notices => report.notices.iter().map(|notice| words::clean(notice)).chain(limits).collect::<Vec<_>>(),
        coverage => text::coverage(&report.coverage, true),
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

/// How findings stand, as the page's first filter: what counts by its status, and the rest by why it does not.
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

fn view(report: &Report, number: usize, finding: &Finding, sources: &dyn SourceFinder) -> FindingView {
    let standing = report.triage.standing(finding);
    let (noun, nouns) = names::nouns(finding.kind);
    let headline = words::clean(&names::headline(finding));
    let places: Vec<String> = finding
        .sites
        .iter()
        .map(|site| words::clean(&format!("{} {}", site.thread, names::site(site))))
        .collect();
    let most = finding.outcomes.iter().map(|outcome| outcome.count).max().unwrap_or_default().max(1);
    let mut outcomes: Vec<_> = finding.outcomes.iter().collect();
    outcomes.sort_by(|a, b| (a.atomic, b.count).cmp(&(b.atomic, a.count)));
    FindingView {
        number,
        id: words::clean(&finding.id),
        status: names::status(finding.status),
        kind: names::kind(finding.kind),
        noun,
        nouns,
        standing: match standing {
            Standing::Suppressed(_) => "suppressed",
            Standing::Known => "known",
            Standing::News if finding.ordered => "ordered",
            Standing::News => names::status(finding.status),
        },
        reason: match standing {
            Standing::Suppressed(reason) => Some(words::clean(reason)),
            _ => None,
        },
        subject: words::clean(&names::subject(finding)),
        short: words::clean(names::short(&finding.subject)),
        search: words::clean(&format!("{headline} {} {} {}", places.join(" "), finding.analysis, finding.id))
            .to_lowercase(),
        headline,
        facts: facts(report, finding),
        replay: report.replay_command(finding),
        consequence: finding.consequence.as_ref().map(|consequence| ConsequenceView {
            exception: words::clean(&consequence.exception),
            short: words::clean(names::short(&consequence.exception)),
            message: words::clean(&consequence.message),
            thread: words::clean(&consequence.thread),
            stack: stack(&names::own_frames(&consequence.stack)),
        }),
        timeline: finding
            .interleaving
            .as_ref()
            .filter(|interleaving| !interleaving.steps.is_empty())
            .map(|interleaving| timeline::lay_out(finding, interleaving)),
        rows: rows(finding),
        sites: finding.sites.iter().map(|site| site_view(finding, site, sources)).collect(),
        harness: finding.harness.as_deref().map(words::clean),
        outcomes: outcomes
            .into_iter()
            .map(|outcome| OutcomeView {
                outcome: words::clean(&outcome.outcome),
                count: words::thousands(outcome.count),
                percent: 100.0 * outcome.count as f64 / most as f64,
                atomic: outcome.atomic,
            })
            .collect(),
        executions: finding.executions.map(|count| words::count(count, "execution", "executions")),
        chart: chart::chart(report, finding),
    }
}

fn facts(report: &Report, finding: &Finding) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(names::test(finding).map(|test| format!("in test {test}")));
    facts.push(format!("found by {}", finding.analysis));
    facts.extend(finding.pattern.map(|pattern| format!("pattern {pattern}")));
    match finding.owner.as_deref() {
        Some("static") => facts.push("static field".to_owned()),
        Some(owner) => facts.push(format!("owner {owner}")),
        None => {}
    }
    if finding.hits > 1 {
        facts.push(format!("seen {}", words::times(finding.hits)));
    }
    if report.runs > 1 {
        let (seen, all) = (words::thousands(finding.runs), words::thousands(report.runs));
        facts.push(format!("in {seen} of {all} runs"));
    }
    if finding.ordered {
        facts.push("ordered by thread start or join in this run".to_owned());
    }
    facts.push(format!("id {}", finding.id));
    facts.iter().map(|fact| words::clean(fact)).collect()
}

fn site_view(finding: &Finding, site: &Site, sources: &dyn SourceFinder) -> SiteView {
    let source = match (&site.file, site.line) {
        (Some(file), Some(line)) => sources.line(&site.class, file, line),
        _ => None,
    };
    let parts = source.map(|source| {
        let excerpt = excerpt::excerpt(finding, site, &source, WIDEST);
        let part =
            |from: usize, count: usize| excerpt.line.chars().skip(from).take(count).collect::<String>();
        let end = excerpt.start + excerpt.length;
        (part(0, excerpt.start), part(excerpt.start, excerpt.length), part(end, WIDEST))
    });
    let (before, marked, after) = parts.unwrap_or_default();
    SiteView {
        thread: words::clean(&names::thread(&site.thread)),
        color: steps::thread_number(finding, &site.thread) % 5,
        verb: words::clean(&names::verb(&site.role)),
        place: words::clean(&names::site(site)),
        holding: words::clean(&names::holding(site)),
        line: site.line.filter(|_| !marked.is_empty()),
        before,
        marked,
        after,
        callers: stack(&names::callers(site)),
    }
}

/// The list of steps, or of the places where there is no interleaving.
fn rows(finding: &Finding) -> Vec<RowView> {
    let Some(interleaving) = &finding.interleaving else {
        return finding.sites.iter().enumerate().map(|(at, site)| site_row(finding, at, site)).collect();
    };
    let important = steps::important(finding, interleaving);
    let numbers = steps::site_numbers(finding, interleaving);
    let drawn = timeline::lay_out(finding, interleaving);
    let mut rows = Vec::new();
    let mut running = None;
    let mut next = 0;
    for mark in &drawn.marks {
        let at = mark.step;
        let absent: u64 = interleaving.steps[next..=at].iter().map(|step| step.folded).sum();
        let folded = absent + (at - next) as u64;
        if folded > 0 {
            rows.push(RowView {
                step: None,
                thread: String::new(),
                color: 0,
                text: format!("{} that do not matter", words::count(folded, "step", "steps")),
                place: String::new(),
                number: None,
                important: false,
                switched: false,
            });
        }
        next = at + 1;
        let step = &interleaving.steps[at];
        rows.push(RowView {
            step: Some(at),
            thread: thread_name(&interleaving.threads, step),
            color: step.thread % 5,
            text: words::clean(&names::step(step)),
            place: step.at.as_ref().map(short_place).unwrap_or_default(),
            number: numbers[at],
            important: important[at],
            switched: running.is_some_and(|running| running != step.thread),
        });
        running = Some(step.thread);
    }
    rows
}

fn site_row(finding: &Finding, at: usize, site: &Site) -> RowView {
    let switched = at > 0 && finding.sites[at - 1].thread != site.thread;
    RowView {
        step: Some(at),
        thread: words::clean(&site.thread),
        color: steps::thread_number(finding, &site.thread) % 5,
        text: words::clean(&format!("{} {}", names::verb(&site.role), names::short(&site.class))),
        place: short_place(&names::frame_of(site)),
        number: Some(at + 1),
        important: true,
        switched,
    }
}

/// Everything that the script shows of a finding's steps, and the sources that they need.
fn step_data(finding: &Finding, collector: &mut Collector<'_>) -> Vec<StepData> {
    let mut data = |text: String, thread: String, color: usize, at: Option<&Frame>, stack: Vec<String>| {
        let source = at.and_then(|at| collector.want(at));
        StepData {
            text: words::clean(&text),
            thread,
            color,
            place: at.map(|at| words::clean(&names::frame(at))).unwrap_or_default(),
            source,
            line: at.and_then(|at| at.line),
            stack,
        }
    };
    let Some(interleaving) = &finding.interleaving else {
        return finding
            .sites
            .iter()
            .map(|site| {
                let text = format!("{} {}", names::verb(&site.role), names::site(site));
                let color = steps::thread_number(finding, &site.thread) % 5;
                let callers = stack(&names::callers(site));
                data(text, words::clean(&site.thread), color, Some(&names::frame_of(site)), callers)
            })
            .collect();
    };
    let numbers = steps::site_numbers(finding, interleaving);
    interleaving
        .steps
        .iter()
        .zip(numbers)
        .map(|(step, number)| {
            let site = number.and_then(|number| finding.sites.get(number - 1));
            let callers = site.map(|site| stack(&names::callers(site))).unwrap_or_default();
            let thread = thread_name(&interleaving.threads, step);
            data(names::step(step), thread, step.thread % 5, step.at.as_ref(), callers)
        })
        .collect()
}

fn thread_name(threads: &[String], step: &Step) -> String {
    match threads.get(step.thread).map(String::as_str) {
        Some("") | None => format!("thread {}", step.thread + 1),
        Some(name) => words::clean(name),
    }
}

fn short_place(frame: &Frame) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => words::clean(&format!("{file}:{line}")),
        _ => words::clean(names::short(&frame.class)),
    }
}

fn stack(frames: &[&Frame]) -> Vec<String> {
    frames.iter().map(|frame| words::clean(&names::frame(frame))).collect()
}
