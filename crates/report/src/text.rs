//! The report as terminal text: the findings with their explanations, then coverage and how the runs ended.

use std::collections::BTreeMap;

use fissure_model::{
    coverage::{Coverage, StaticCoverage},
    finding::{Finding, Kind, Status},
    record::{Hello, Refusal},
};

use crate::{
    Report, SourceFinder,
    finding_text::FindingText,
    names, origins,
    style::{Painter, Style},
    tested, words,
};

/// How the text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to use colours.
    pub color: bool,
    /// Whether to show everything: whole stacks, ordered findings in full, methods that were left alone.
    pub verbose: bool,
}

/// The report as text; each line ends with a line break.
pub fn render(report: &Report, options: &Options, sources: &dyn SourceFinder) -> String {
    let painter = Painter { color: options.color };
    if report.runs == 0
        && let Some(problem) = &report.problem
    {
        return format!("{}: {}\n", painter.paint(Style::Alarm, "fissure"), words::clean(problem));
    }
    let mut summary = Summary { options, painter, text: String::new() };
    for error in &report.internal_errors {
        summary.add("error: ", &format!("Fissure itself failed: {error}"), Some(Style::Alarm));
    }
    let mut text = summary.text;
    if !text.is_empty() {
        text.push('\n');
    }
    let mut finding_text = FindingText::new(report, options, sources);
    let groups = Groups::new(report, options.verbose);
    for finding in &groups.full {
        if let Some(heading) = tested::heading(report, finding) {
            text.push_str(&format!("{}\n", painter.paint(Style::Strong, &heading)));
        }
        text.push_str(&format!("{}\n", finding_text.render(finding)));
    }
    let brief: [(&str, Style, &[&Finding]); 2] = [
        ("warnings, not yet confirmed", Style::Warning, &groups.warnings),
        ("ordered by synchronization in this run", Style::Mild, &groups.ordered),
    ];
    for (title, style, findings) in brief {
        if findings.is_empty() {
            continue;
        }
        text.push_str(&format!("{} (--verbose shows more):\n", painter.paint(style, title)));
        for finding in findings {
            text.push_str(&finding_text.render_brief(finding));
        }
        text.push('\n');
    }
    text.push_str(&tested::table(&report.tests, options));
    let mut summary = Summary { options, painter, text };
    for notice in &report.notices {
        summary.say("note: ", notice);
    }
    if finding_text.lacks_sources() {
        summary.say(
            "note: ",
            "no source files were found; name their folder with --sources DIR to see the lines",
        );
    }
    for (reason, count) in &report.coverage.limits {
        summary.say("note: ", &limit(reason, *count));
    }
    if options.verbose {
        summary.list_jvms(&report.jvms);
        summary.list_left_alone(&report.coverage);
    }
    for (exit, count) in &report.exits {
        let runs = if report.runs > 1 { format!(" ({})", words::times(*count)) } else { String::new() };
        summary.say("note: ", &format!("the program {exit}{runs}"));
    }
    if let Some(origins) = origins::describe(report) {
        summary.say("note: ", &origins);
    }
    if let Some(blocks) = blocks(&report.coverage) {
        summary.say("note: ", &blocks);
    }
    if let Some(locality) = &report.coverage.locality {
        summary.say("note: ", &static_analysis(locality, report.coverage.jvms));
    }
    if report.coverage.methods_left_alone > 0 && !options.verbose {
        summary.say("note: ", &left_alone(report.coverage.methods_left_alone));
    }
    match &report.problem {
        Some(problem) => {
            summary.alarm(problem);
            let watched = coverage(report, options.verbose);
            match (report.findings.is_empty(), report.coverage.jvms) {
                // The problem says why there was nothing to see.
                (true, 0) => {}
                (true, _) => summary.say("fissure: ", &watched),
                (false, _) => summary.say("fissure: ", &format!("{}; {watched}", totals(report))),
            }
        }
        // The harnesses of `fissure object` run without the agent; each finding says how often its harness was executed.
        None if report.coverage.jvms == 0 => summary.say("fissure: ", &totals(report)),
        None => {
            summary.say("fissure: ", &format!("{}; {}", totals(report), coverage(report, options.verbose)))
        }
    }
    if let Some(step) = &report.next_step {
        summary.say("next: ", &format!("{}:", step.why));
        // The command is not wrapped, so that it can be copied.
        let command = painter.paint(Style::Strong, &words::clean(&step.command_line()));
        summary.text.push_str(&format!("      {command}\n"));
    }
    summary.text
}

/// The text so far, and the means to add wrapped sentences to it.
struct Summary<'a> {
    options: &'a Options,
    painter: Painter,
    text: String,
}

impl Summary<'_> {
    /// Adds a sentence after a lead, wrapped and indented as far as the lead is wide.
    fn say(&mut self, lead: &str, sentence: &str) {
        self.add(lead, sentence, None);
    }

    /// Adds a problem, in the colour of an alarm.
    fn alarm(&mut self, sentence: &str) {
        self.add("fissure: ", sentence, Some(Style::Alarm));
    }

    fn add(&mut self, lead: &str, sentence: &str, style: Option<Style>) {
        let indent = words::columns(lead);
        let width = self.options.width.saturating_sub(indent).max(20);
        for (at, line) in words::wrap(&words::clean(sentence), width).iter().enumerate() {
            let lead = if at == 0 { lead } else { &" ".repeat(indent) };
            let line = match style {
                Some(style) => self.painter.paint(style, line),
                None => line.clone(),
            };
            self.text.push_str(&format!("{}{line}\n", self.painter.paint(Style::Strong, lead)));
        }
    }

    fn list_jvms(&mut self, jvms: &[Hello]) {
        for jvm in jvms {
            let state = match &jvm.refused {
                None => "watched".to_owned(),
                Some(Refusal::BuildTool) => "not watched, a build tool's own".to_owned(),
                Some(Refusal::Unsupported { text }) => format!("not watched: {text}"),
            };
            let sentence =
                format!("process {}, {} {}, {}: {state}", jvm.pid, jvm.vm_name, jvm.vm_version, jvm.command);
            self.say("JVM: ", &sentence);
        }
    }

    fn list_left_alone(&mut self, coverage: &Coverage) {
        for left in &coverage.left_alone {
            let name = if left.method.is_empty() {
                format!("{} (the whole class)", left.class)
            } else {
                format!("{}.{}", left.class, left.method)
            };
            self.say("left alone: ", &format!("{name}: {}", left.reason));
        }
        let unnamed = coverage.methods_left_alone.saturating_sub(coverage.left_alone.len() as u64);
        if unnamed > 0 && !coverage.left_alone.is_empty() {
            self.say("left alone: ", &format!("{} more", words::thousands(unnamed)));
        }
    }
}

/// The findings by how they are shown. Findings in the baseline and suppressed findings are only counted.
struct Groups<'a> {
    /// In full.
    full: Vec<&'a Finding>,
    /// In brief, because there are confirmed findings or bugs.
    warnings: Vec<&'a Finding>,
    /// In brief, because they were ordered in this run.
    ordered: Vec<&'a Finding>,
}

impl<'a> Groups<'a> {
    fn new(report: &'a Report, verbose: bool) -> Self {
        let news = report.sorted_findings().into_iter().filter(|finding| report.triage.is_news(finding));
        let (ordered, counting): (Vec<&Finding>, Vec<&Finding>) = news.partition(|finding| finding.ordered);
        let sure = counting.iter().any(|finding| finding.status > Status::Warning);
        let (full, warnings): (Vec<&Finding>, Vec<&Finding>) =
            counting.into_iter().partition(|finding| verbose || !sure || finding.status > Status::Warning);
        if verbose {
            return Groups { full: [full, ordered].concat(), warnings, ordered: Vec::new() };
        }
        Groups { full, warnings, ordered }
    }
}

/// `found 2 data races; 1 more was ordered in this run`.
fn totals(report: &Report) -> String {
    const BY: &str = "ordered in this run";
    let news: Vec<&Finding> =
        report.findings.iter().filter(|finding| report.triage.is_news(finding)).collect();
    let (ordered, counting): (Vec<&Finding>, Vec<&Finding>) =
        news.into_iter().partition(|finding| finding.ordered);
    let new = if report.triage.has_baseline() { " new" } else { "" };
    let found = match (counting.len(), ordered.len()) {
        (0, 0) => format!("found nothing{new}"),
        (0, 1) => format!("found {}, {BY}", by_kind(&ordered, new)),
        (0, _) => format!("found {}, all {BY}", by_kind(&ordered, new)),
        (_, 0) if only_possible(report, &counting) => {
            format!("found {} possible, none made to happen", by_kind(&counting, new))
        }
        (_, 0) => format!("found {}", by_kind(&counting, new)),
        (_, 1) => format!("found {}; 1 more was {BY}", by_kind(&counting, new)),
        (_, more) => {
            format!("found {}; {} more were {BY}", by_kind(&counting, new), words::thousands(more as u64))
        }
    };
    let (known, suppressed) = report.triage.counts();
    let mut parts = vec![found];
    if known > 0 {
        parts.push(format!("{} in the baseline", words::thousands(known)));
    }
    if suppressed > 0 {
        parts.push(format!("{} suppressed", words::thousands(suppressed)));
    }
    parts.join("; ")
}

/// What limits the meaning of a result, with how often it happened if that was more than once.
pub(crate) fn limit(reason: &str, count: u64) -> String {
    if count > 1 { format!("{reason} ({})", words::times(count)) } else { reason.to_owned() }
}

/// Whether a hunt made none of its findings happen.
fn only_possible(report: &Report, findings: &[&Finding]) -> bool {
    !report.seeds.is_empty() && findings.iter().all(|finding| finding.status == Status::Warning)
}

/// `1 new deadlock and 2 new data races`.
fn by_kind(findings: &[&Finding], new: &str) -> String {
    let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
    for finding in findings {
        *kinds.entry(finding.kind).or_default() += 1;
    }
    let kinds = kinds.iter().map(|(&kind, &number)| {
        let (one, many) = names::nouns(kind);
        format!("{}{new} {}", words::thousands(number), if number == 1 { one } else { many })
    });
    words::list(&kinds.collect::<Vec<_>>())
}

/// `20 atomic blocks ran (1,234 executions), 18 always atomic`.
fn blocks(coverage: &Coverage) -> Option<String> {
    if coverage.atomic_blocks == 0 {
        return None;
    }
    let blocks =
        words::count(coverage.atomic_blocks, "block that should be atomic", "blocks that should be atomic");
    let executions = words::count(coverage.block_executions, "execution", "executions");
    let always = match (coverage.always_atomic, coverage.atomic_blocks) {
        (always, all) if always == all => "all of them always atomic".to_owned(),
        (0, _) => "none of them always atomic".to_owned(),
        (always, _) => format!("{} of them always atomic", words::thousands(always)),
    };
    Some(format!("{blocks} ran ({executions}), {always}"))
}

/// `static analysis: 5 of 7 fields, 26 of 39 field accesses and 1 of 5 array accesses are still
/// instrumented`. The JVMs of a hunt run the same program, so the sums are divided by their number.
fn static_analysis(locality: &StaticCoverage, jvms: u64) -> String {
    let each = |sum: u64| sum.div_ceil(jvms.max(1));
    let of = |left: u64, all: u64, one: &str, many: &str| {
        format!("{} of {}", words::thousands(each(left)), words::count(each(all), one, many))
    };
    let parts = [
        of(locality.fields_watched, locality.fields, "field", "fields"),
        of(locality.sites_watched, locality.sites, "field access", "field accesses"),
        of(locality.elements_watched, locality.elements, "array access", "array accesses"),
    ];
    let mut text = format!("static analysis: {} are still instrumented", words::list(&parts));
    if !locality.conservative.is_empty() {
        let kinds = locality
            .conservative
            .iter()
            .map(|(kind, &count)| format!("{kind} ({})", words::count(each(count), "site", "sites")));
        let kinds = words::list(&kinds.collect::<Vec<_>>());
        text.push_str(&format!("; assumed to do anything: {kinds}"));
    }
    if locality.classes_unknown > 0 {
        let classes = words::count(each(locality.classes_unknown), "class was", "classes were");
        text.push_str(&format!(
            "; {classes} not analysed or changed since, so classes loaded later are fully instrumented"
        ));
    }
    text
}

/// `2 methods were left alone (--verbose names them)`.
fn left_alone(methods: u64) -> String {
    let it = if methods == 1 { "it" } else { "them" };
    format!("{} left alone (--verbose names {it})", words::count(methods, "method was", "methods were"))
}

/// The coverage of a hunt, per run: all of them run the same program, so sums would say little. A run under a build tool may have several
/// JVMs, then it is per JVM.
fn controlled(coverage: &Coverage, runs: u64) -> String {
    let each = |sum: u64, one: &str, many: &str| words::count(sum.div_ceil(coverage.jvms), one, many);
    let parts = [
        format!("{} in scope", each(coverage.classes_in_scope, "class", "classes")),
        each(coverage.threads, "thread", "threads"),
        each(coverage.lock_operations, "step", "steps"),
    ];
    let controlled = match coverage.jvms > runs {
        true => words::count(coverage.jvms, "JVM", "JVMs"),
        false => words::count(coverage.jvms, "run", "runs"),
    };
    let manner = if coverage.jvms == 1 { "with" } else { "each with about" };
    format!("controlled {controlled}, {manner} {}", words::list(&parts))
}

/// The coverage in one sentence; for a hunt, that of the controlled runs.
pub(crate) fn coverage(report: &Report, verbose: bool) -> String {
    let coverage = &report.coverage;
    if coverage.jvms == 0 {
        return "watched no JVM".to_owned();
    }
    if !report.seeds.is_empty() && coverage.locations == 0 {
        return controlled(coverage, report.runs);
    }
    let mut parts = vec![
        words::count(coverage.jvms, "JVM", "JVMs"),
        format!("{} in scope", words::count(coverage.classes_in_scope, "class", "classes")),
    ];
    if verbose {
        parts.push(format!("{} rewritten", words::thousands(coverage.classes_rewritten)));
        parts.push(words::count(coverage.methods_left_alone, "method left alone", "methods left alone"));
    }
    if verbose && coverage.classes_hidden > 0 {
        parts.push(words::count(coverage.classes_hidden, "hidden class", "hidden classes"));
    }
    parts.push(words::count(coverage.threads, "thread", "threads"));
    parts.push(words::count(coverage.lock_operations, "lock operation", "lock operations"));
    parts.push(words::count(coverage.locations, "location", "locations"));
    if verbose && coverage.access_sites > 0 {
        parts.push(words::count(coverage.access_sites, "access site", "access sites"));
        parts.push(words::count(coverage.accesses_analysed, "access analysed", "accesses analysed"));
    }
    format!("watched {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_analysis_counts_are_per_jvm() {
        let mut locality = StaticCoverage {
            fields: 14,
            fields_watched: 4,
            sites: 80,
            sites_watched: 20,
            ..StaticCoverage::default()
        };
        let counts = "static analysis: 2 of 7 fields, 10 of 40 field accesses and 0 of 0 array accesses";
        assert_eq!(static_analysis(&locality, 2), format!("{counts} are still instrumented"));
        locality.conservative.insert("reflection".to_owned(), 6);
        locality.classes_unknown = 2;
        assert_eq!(
            static_analysis(&locality, 2),
            format!(
                "{counts} are still instrumented; assumed to do anything: reflection (3 sites); 1 class was not \
                 analysed or changed since, so classes loaded later are fully instrumented"
            )
        );
    }
}
