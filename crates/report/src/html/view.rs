//! A finding in the form that the page's template expects.

use fissure_model::{
    finding::{Finding, Frame, Site},
    interleaving::Step,
};
use serde::Serialize;

use crate::{
    Report, SourceFinder, causes, excerpt,
    html::{
        WIDEST,
        chart::{self, Chart},
        timeline::{self, Timeline},
    },
    names, steps,
    triage::Standing,
    words,
};

#[derive(Debug, Serialize)]
pub(crate) struct FindingView {
    number: usize,
    id: String,
    pub(crate) status: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) noun: &'static str,
    pub(crate) nouns: &'static str,
    pub(crate) standing: &'static str,
    /// Why it is suppressed.
    reason: Option<String>,
    /// The reason behind the headline.
    why: Option<String>,
    /// How the cause was proved, and the suggested repair.
    cause: Option<String>,
    suggestion: Option<String>,
    headline: String,
    subject: String,
    short: String,
    search: String,
    facts: Vec<String>,
    replay: Option<String>,
    consequence: Option<ConsequenceView>,
    timeline: Option<Timeline>,
    pub(crate) rows: Vec<RowView>,
    sites: Vec<SiteView>,
    harness: Option<String>,
    outcomes: Vec<OutcomeView>,
    executions: Option<String>,
    chart: Option<Chart>,
}

#[derive(Debug, Serialize)]
struct ConsequenceView {
    exception: String,
    /// The exception without its packages.
    short: String,
    message: String,
    thread: String,
    stack: Vec<String>,
}

/// A line of the list of steps.
#[derive(Debug, Serialize)]
pub(crate) struct RowView {
    /// The step's number; `None` for a note about folded steps.
    pub(crate) step: Option<usize>,
    pub(crate) thread: String,
    pub(crate) color: usize,
    text: String,
    place: String,
    pub(crate) number: Option<usize>,
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

/// The data of a finding for the template.
pub(crate) fn view(
    report: &Report,
    number: usize,
    finding: &Finding,
    sources: &dyn SourceFinder,
) -> FindingView {
    let standing = report.triage.standing(finding);
    let (noun, nouns) = names::nouns(finding.kind);
    let headline = words::clean(&names::headline(finding));
    let sites: Vec<String> = finding
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
        why: names::reason(finding).as_deref().map(words::clean),
        cause: causes::proof(finding).as_deref().map(words::clean),
        suggestion: causes::repair(finding).as_deref().map(words::clean),
        subject: words::clean(&names::subject(finding)),
        short: words::clean(names::short(&finding.subject)),
        search: words::clean(&format!("{headline} {} {} {}", sites.join(" "), finding.analysis, finding.id))
            .to_lowercase(),
        headline,
        facts: facts(report, finding),
        replay: report.replay_command(finding),
        consequence: finding.consequence.as_ref().map(|consequence| ConsequenceView {
            exception: words::clean(consequence.kind.name()),
            short: words::clean(names::consequence(&consequence.kind)),
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
                // Even a rare outcome gets a visible bar.
                percent: (100.0 * outcome.count as f64 / most as f64).max(0.8),
                atomic: outcome.atomic,
            })
            .collect(),
        executions: finding.executions.map(|all| {
            let counted = names::counted(finding);
            let last = if counted < all { "the last " } else { "" };
            format!("{last}{}", words::count(counted, "execution", "executions"))
        }),
        chart: chart::chart(report, finding),
    }
}

fn facts(report: &Report, finding: &Finding) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(finding.test.as_ref().map(|test| format!("in test {test}")));
    facts.push(format!("found by {}", finding.analysis));
    facts.extend(finding.pattern.map(|pattern| format!("pattern {pattern}")));
    match finding.owner.as_deref() {
        Some("static") => facts.push("static field".to_owned()),
        Some(owner) => facts.push(format!("owner {owner}")),
        None => {}
    }
    if finding.hits > 1 && !report.is_hunted(finding) {
        facts.push(format!("seen {}", words::times(finding.hits)));
    }
    if report.runs > 1 {
        let (seen, all) = (words::thousands(report.runs_with(finding)), words::thousands(report.runs));
        facts.push(format!("in {seen} of {all} runs"));
    }
    if finding.ordered {
        facts.push(names::ordered(finding));
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
        [excerpt.before(), excerpt.marked(), excerpt.after()].map(str::to_owned)
    });
    let [before, marked, after] = parts.unwrap_or_default();
    SiteView {
        thread: words::clean(&names::thread(&site.thread)),
        color: steps::thread_number(finding, &site.thread) % 5,
        verb: words::clean(&names::verb(&site.role)),
        place: words::clean(&names::site(site)),
        holding: words::clean(&names::holding(finding, site)),
        line: site.line.filter(|_| !marked.is_empty()),
        before,
        marked,
        after,
        callers: stack(&names::callers(site)),
    }
}

/// The list of steps, or of the sites if there is no interleaving.
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
            place: step.at.as_ref().map(short_site).unwrap_or_default(),
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
        text: words::clean(names::verb(&site.role).trim_end_matches(" at")),
        place: short_site(&names::frame_of(site)),
        number: Some(at + 1),
        important: true,
        switched,
    }
}

fn thread_name(threads: &[String], step: &Step) -> String {
    match threads.get(step.thread).map(String::as_str) {
        Some("") | None => format!("thread {}", step.thread + 1),
        Some(name) => words::clean(name),
    }
}

fn short_site(frame: &Frame) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => words::clean(&format!("{file}:{line}")),
        _ => words::clean(names::short(&frame.class)),
    }
}

fn stack(frames: &[&Frame]) -> Vec<String> {
    frames.iter().map(|frame| words::clean(&names::frame(frame))).collect()
}
