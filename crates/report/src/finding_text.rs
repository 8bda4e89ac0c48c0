//! One finding with its explanation: the defect, which thread did what at which site and in which order, the
//! consequence, and the command that replays it.

use fissure_model::finding::{FailureKind, Finding, Frame, Kind, Site, Status};

use crate::{
    Report, SourceFinder, causes, columns, excerpt, names, sets, steps,
    style::{Painter, Style},
    text::Options,
    words,
};

/// Callers of a site that are shown without `--verbose`.
const FRAMES: usize = 5;
/// Outcomes of a harness that are shown without `--verbose`.
const OUTCOMES: usize = 8;
/// Columns of the longest bar beside an outcome.
const BAR: u64 = 24;

/// Renders findings, and counts how many source lines were looked up and found.
pub(crate) struct FindingText<'a> {
    report: &'a Report,
    options: &'a Options,
    painter: Painter,
    sources: &'a dyn SourceFinder,
    lines_wanted: usize,
    lines_shown: usize,
}

impl<'a> FindingText<'a> {
    pub(crate) fn new(report: &'a Report, options: &'a Options, sources: &'a dyn SourceFinder) -> Self {
        let painter = Painter { color: options.color };
        FindingText { report, options, painter, sources, lines_wanted: 0, lines_shown: 0 }
    }

    /// Whether source lines were looked up and none was found.
    pub(crate) fn lacks_sources(&self) -> bool {
        self.lines_wanted > 0 && self.lines_shown == 0
    }

    /// The finding in full, several lines.
    pub(crate) fn render(&mut self, finding: &Finding) -> String {
        let ordered = if finding.ordered { ", ordered" } else { "" };
        let label = format!("{}[{}{ordered}]: ", names::status(finding.status), names::kind(finding.kind));
        let mut text = String::new();
        let headline = words::clean(&names::headline(finding));
        let width = self.options.width.saturating_sub(4).max(30);
        // The label is wrapped together with the headline, because it takes up columns too.
        let lines = words::wrap(&format!("{label}{headline}"), width);
        for (at, line) in lines.iter().enumerate() {
            let label = label.trim_end();
            let line = match line.strip_prefix(label) {
                Some(rest) if at == 0 => {
                    let label = label.trim_end_matches(':');
                    format!(
                        "{}:{}",
                        self.painter.paint(severity(finding), label),
                        self.painter.paint(Style::Strong, rest)
                    )
                }
                _ if at == 0 => self.painter.paint(severity(finding), line),
                _ => format!("    {}", self.painter.paint(Style::Strong, line)),
            };
            text.push_str(&format!("{line}\n"));
        }
        for (at, site) in finding.sites.iter().enumerate() {
            self.push_site(&mut text, finding, at + 1, site);
        }
        self.push_reason(&mut text, finding);
        self.push_labelled(&mut text, "cause: ", causes::proof(finding));
        self.push_labelled(&mut text, "suggestion: ", causes::repair(finding));
        let columns = columns::render(finding, self.options, self.painter);
        if !columns.is_empty() {
            let seed = match finding.seeds.first() {
                Some(seed) => format!(" with seed {seed}"),
                None => String::new(),
            };
            text.push_str(&format!("  how it happened{seed}, from top to bottom:\n\n{columns}\n"));
        }
        self.push_harness(&mut text, finding);
        self.push_consequence(&mut text, finding);
        if let Some(command) = self.report.replay_command(finding) {
            text.push_str(&format!("  to see it again: {}\n", self.painter.paint(Style::Strong, &command)));
        }
        for line in words::wrap(&words::clean(&self.details(finding)), width) {
            text.push_str(&format!("  {}\n", self.painter.paint(Style::Faint, &line)));
        }
        text
    }

    /// The finding in brief, two lines unless its sites need to be wrapped.
    pub(crate) fn render_brief(&self, finding: &Finding) -> String {
        let sites: Vec<String> = finding
            .sites
            .iter()
            .map(|site| {
                format!("{} {} {}", names::thread(&site.thread), names::verb(&site.role), names::site(site))
            })
            .collect();
        let named = match (finding.kind, &finding.reason) {
            // For these kinds the subject alone does not name the defect.
            (Kind::Failure | Kind::Custom, Some(_)) => names::headline(finding),
            _ => names::subject(finding),
        };
        let subject = self.painter.paint(Style::Strong, &words::clean(&named));
        let id = self.painter.paint(Style::Faint, &format!("id {}", words::clean(&finding.id)));
        let mut text = format!("  {subject} · {id}\n");
        let width = self.options.width.saturating_sub(4).max(30);
        let order = match &finding.ordered_by {
            Some(by) if finding.ordered => format!(", ordered by {by}"),
            _ => String::new(),
        };
        for line in words::wrap(&words::clean(&format!("{}{order}", sites.join(", then "))), width) {
            text.push_str(&format!("    {line}\n"));
        }
        text
    }

    fn push_site(&mut self, text: &mut String, finding: &Finding, number: usize, site: &Site) {
        let thread = words::clean(&names::thread(&site.thread));
        let verb = match sets::access(finding, number - 1) {
            Some(access) => format!("{}s {access}, at", site.role),
            None => names::verb(&site.role),
        };
        let sentence = format!("{thread} {verb} {}{}", names::site(site), names::holding(finding, site));
        let width = self.options.width.saturating_sub(6).max(30);
        for (at, line) in words::wrap(&words::clean(&sentence), width).iter().enumerate() {
            let lead = if at == 0 { format!("  ({number}) ") } else { " ".repeat(6) };
            let line = match line.strip_prefix(&thread) {
                Some(rest) if at == 0 => {
                    let style = Style::Thread(steps::thread_number(finding, &site.thread));
                    format!("{}{rest}", self.painter.paint(style, &thread))
                }
                _ => line.clone(),
            };
            text.push_str(&format!("{lead}{line}\n"));
        }
        self.push_source(text, finding, site);
        self.push_stack(text, &names::callers(site), "called from ");
    }

    fn push_reason(&self, text: &mut String, finding: &Finding) {
        self.push_labelled(text, "why: ", names::reason(finding));
    }

    /// A sentence with a label in front of it, if there is one.
    fn push_labelled(&self, text: &mut String, label: &str, sentence: Option<String>) {
        let width = self.options.width.saturating_sub(2 + label.len()).max(20);
        let blank = " ".repeat(label.len());
        for (at, line) in words::wrap(&words::clean(&sentence.unwrap_or_default()), width).iter().enumerate()
        {
            let lead = if at == 0 { label } else { &blank };
            text.push_str(&format!("  {}{line}\n", self.painter.paint(Style::Faint, lead)));
        }
    }

    fn push_stack(&self, text: &mut String, frames: &[&Frame], lead: &str) {
        let shown = if self.options.verbose { frames.len() } else { frames.len().min(FRAMES) };
        let blank = " ".repeat(lead.len());
        for (at, frame) in frames[..shown].iter().enumerate() {
            let lead = if at == 0 { lead } else { &blank };
            let frame = words::clean(&names::frame(frame));
            text.push_str(&format!("      {}{frame}\n", self.painter.paint(Style::Faint, lead)));
        }
        let hidden = frames.len() - shown;
        if hidden > 0 {
            let more = words::count(hidden as u64, "more frame", "more frames");
            let more = format!("… {more} (--verbose shows all)");
            text.push_str(&format!("      {blank}{}\n", self.painter.paint(Style::Faint, &more)));
        }
    }

    fn push_source(&mut self, text: &mut String, finding: &Finding, site: &Site) {
        let (Some(file), Some(line)) = (&site.file, site.line) else { return };
        self.lines_wanted += 1;
        let Some(source) = self.sources.line(&site.class, file, line) else { return };
        self.lines_shown += 1;
        // The gutter takes 8 columns; a very narrow terminal still gets 20 columns of source.
        let width = self.options.width.saturating_sub(8).max(20);
        let excerpt = excerpt::excerpt(finding, site, &source, width);
        let bar = self.painter.paint(Style::Gutter, "      |");
        let lead = self.painter.paint(Style::Gutter, &format!("{line:>5} |"));
        let style = Style::Thread(steps::thread_number(finding, &site.thread));
        let carets = self.painter.paint(style, &"^".repeat(words::columns(excerpt.marked()).max(1)));
        let indent = " ".repeat(words::columns(excerpt.before()));
        text.push_str(&format!("{bar}\n{lead} {}\n{bar} {indent}{carets}\n", excerpt.line()));
    }

    fn push_harness(&self, text: &mut String, finding: &Finding) {
        if let Some(harness) = &finding.harness {
            text.push_str(&format!("  harness: {}\n", words::clean(harness)));
        }
        if let Some(outcome) = &finding.outcome {
            let often = match finding.executions {
                Some(executions) => format!(
                    ", {} in {}",
                    words::times(finding.hits),
                    words::count(executions, "execution", "executions")
                ),
                None => String::new(),
            };
            text.push_str(&format!("  gave: {}{often}\n", words::clean(outcome)));
        }
        // The outcomes may have been counted for a part of the executions only.
        let counted = names::counted(finding);
        if !finding.outcomes.is_empty() && finding.executions.is_some_and(|executions| counted < executions) {
            let counted = words::thousands(counted);
            text.push_str(&format!("  every outcome of the last {counted} executions:\n"));
        }
        let mut outcomes: Vec<_> = finding.outcomes.iter().collect();
        outcomes.sort_by(|a, b| (a.atomic, b.count, &a.outcome).cmp(&(b.atomic, a.count, &b.outcome)));
        let most = outcomes.iter().map(|outcome| outcome.count).max().unwrap_or_default().max(1);
        let shown = if self.options.verbose { outcomes.len() } else { outcomes.len().min(OUTCOMES) };
        for outcome in &outcomes[..shown] {
            let bar = outcome.count.saturating_mul(BAR).div_ceil(most) as usize;
            let (style, remark) = if outcome.atomic {
                (Style::Faint, "")
            } else {
                (Style::Alarm, "  ← no order of the calls explains it")
            };
            let bar = self.painter.paint(style, &format!("{:<24}", "█".repeat(bar)));
            let count = words::thousands(outcome.count);
            text.push_str(&format!("  {count:>14} {bar} {}{remark}\n", words::clean(&outcome.outcome)));
        }
        if shown < outcomes.len() {
            let more = words::count((outcomes.len() - shown) as u64, "more outcome", "more outcomes");
            let more = self.painter.paint(Style::Faint, &format!("… {more} (--verbose shows all)"));
            text.push_str(&format!("  {:>14} {more}\n", ""));
        }
    }

    fn push_consequence(&self, text: &mut String, finding: &Finding) {
        let Some(consequence) = &finding.consequence else { return };
        let message = match consequence.message.as_str() {
            "" => consequence.kind.name().to_owned(),
            message if matches!(consequence.kind, FailureKind::Exception(_)) => {
                format!("{}: {message}", consequence.kind.name())
            }
            message => message.to_owned(),
        };
        let thread = match consequence.thread.as_str() {
            "" => String::new(),
            name => format!(", in {}", names::thread(name)),
        };
        let message = self.painter.paint(Style::Alarm, &words::clean(&message));
        text.push_str(&format!("  what followed: {message}{}\n", words::clean(&thread)));
        self.push_stack(text, &names::own_frames(&consequence.stack), "at ");
    }

    /// The last line of a finding: the object, how often it was seen, the analysis and the id.
    fn details(&self, finding: &Finding) -> String {
        let mut parts = Vec::new();
        parts.extend(finding.test.as_ref().map(|test| format!("in test {test}")));
        match finding.owner.as_deref() {
            Some("static") => parts.push("static field".to_owned()),
            Some(owner) => parts.push(format!("owner: {owner}")),
            None => {}
        }
        if finding.hits > 1 && finding.executions.is_none() && !self.report.is_hunted(finding) {
            // `hits` counts locations, and an array is one object with many of them.
            let array = finding.owner.as_deref().is_some_and(|owner| owner.contains('['));
            match (&finding.owner, array) {
                (Some(_), true) => {
                    parts.push(format!("seen in {} locations", words::thousands(finding.hits)))
                }
                (Some(_), false) => parts.push(format!("seen in {} objects", words::thousands(finding.hits))),
                (None, _) => parts.push(format!("seen {}", words::times(finding.hits))),
            }
        }
        if self.report.runs > 1 {
            let seen = words::thousands(self.report.runs_with(finding));
            let all = words::thousands(self.report.runs);
            parts.push(format!("in {seen} of {all} runs"));
        }
        if finding.ordered {
            parts.push(names::ordered(finding));
        }
        if let Some(pattern) = finding.pattern {
            parts.push(format!("pattern {pattern}"));
        }
        parts.push(finding.analysis.clone());
        parts.push(format!("id {}", finding.id));
        parts.join(" · ")
    }
}

fn severity(finding: &Finding) -> Style {
    match finding.status {
        _ if finding.ordered => Style::Mild,
        Status::Warning => Style::Warning,
        Status::Confirmed | Status::Bug => Style::Alarm,
    }
}
