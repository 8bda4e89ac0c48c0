//! The report of `fissure object`: a table of the methods, then each violation with the outcomes that would be correct.

use fissure_model::finding::{Finding, Kind, Outcome, Status, fingerprint};
use serde::Serialize;

use crate::{
    Report,
    style::{Painter, Style},
    text::Options,
    words,
};

/// A class whose methods were tested.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ObjectReport {
    /// The class, with its package.
    pub class: String,
    /// The version of the JVM.
    pub java: String,
    /// The core methods.
    pub core: Vec<String>,
    /// The source of the core: `given`, `built in`, `usual for such collections` or `inferred`.
    pub core_is: String,
    /// Why an inferred core has these methods; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub core_reason: String,
    /// The expression that makes objects, unless it is a constructor without parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// The most invocations in a harness.
    pub invocations: usize,
    /// The most sequences in a harness.
    pub sequences: usize,
    /// The core itself first, then the methods.
    pub methods: Vec<MethodReport>,
    /// Whether each method is read-only, and how that was determined.
    pub effects: Vec<EffectReport>,
    /// Methods that were not tested.
    pub left_out: Vec<LeftOut>,
}

/// Whether a method is read-only.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct EffectReport {
    /// The method.
    pub method: String,
    /// Whether it certainly does not change the object, so that some harnesses need not be executed.
    pub read_only: bool,
    /// How that was determined: `given`, `built in`, `bytecode` or `trial`.
    pub by: String,
    /// The same in words.
    pub reason: String,
}

/// A method that was tested.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MethodReport {
    /// The method, or `core` for the core alone.
    pub method: String,
    /// Whether no violation was seen.
    pub atomic: bool,
    /// How many harnesses were executed.
    pub harnesses: u64,
    /// How many executions all harnesses had together.
    pub executions: u64,
    /// The time until the first violation, or the whole time if there was none.
    pub seconds: f64,
    /// The most different values in a harness.
    pub values: usize,
    /// The controlled executions, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedules: Option<SchedulesReport>,
    /// The rate of executions, if the user named a single harness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateReport>,
    /// The violation, if one was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<ViolationReport>,
}

/// Executions of a harness per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RateReport {
    /// Over the whole time.
    pub whole: f64,
    /// In the second half, after the JVM has compiled the harness.
    pub second_half: f64,
}

/// The executions under controlled schedules.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SchedulesReport {
    /// The most preemptions in a schedule.
    pub preemptions: u32,
    /// Harnesses for which all schedules with at most that many preemptions were executed.
    pub harnesses: u64,
    /// How many schedules those harnesses have, not counting schedules that are equivalent to one that was executed.
    pub schedules: u64,
    /// Harnesses with more schedules than there was time for.
    pub unfinished: u64,
    /// Executions that took too long and were cut off.
    pub cut: u64,
}

/// An outcome that no order of the invocations explains.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ViolationReport {
    /// The finding's subject.
    pub subject: String,
    /// The harness.
    pub harness: String,
    /// Its outcome.
    pub outcome: String,
    /// How often the outcome was seen.
    pub hits: u64,
    /// In how many executions of the harness.
    pub executions: u64,
    /// The turns of the threads in a controlled execution with this outcome; empty if the execution was not controlled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interleaving: Vec<String>,
    /// Why the method is to blame and no other; empty if that was not examined.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// The schedules that were executed, if none of them gives the outcome, which only the real machine shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryReport>,
    /// The outcomes that would be correct.
    pub atomic: Vec<AtomicOutcome>,
    /// How often each outcome was seen, if that was counted; the finding shows it.
    #[serde(skip)]
    pub outcomes: Vec<Outcome>,
}

/// Schedules of which none gives an outcome that was seen on the real machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct MemoryReport {
    /// The number of schedules that were executed.
    pub schedules: u64,
    /// All schedules with at most so many preemptions are among them.
    pub preemptions: u32,
}

/// An outcome that some order of the invocations explains.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AtomicOutcome {
    /// The outcome.
    pub outcome: String,
    /// The orders.
    pub linearizations: Vec<String>,
}

/// A method that was not tested.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LeftOut {
    /// The method with the types of its parameters.
    pub method: String,
    /// Why it was not tested.
    pub reason: String,
}

impl ObjectReport {
    /// The same as a general report, with a finding for each method that is not atomic.
    pub fn summary(&self, notices: Vec<String>) -> Report {
        let finding = |method: &MethodReport| {
            let violation = method.violation.as_ref()?;
            let mut finding =
                Finding::new(Kind::NonAtomicMethod, Status::Confirmed, "violat", &violation.subject);
            // The id does not contain the harness, because another search may show the method by another harness.
            finding.id = fingerprint(&["non-atomic-method", &violation.subject, &method.method]);
            finding.hits = violation.hits;
            finding.harness = Some(violation.harness.clone());
            finding.outcome = Some(violation.outcome.clone());
            finding.outcomes.clone_from(&violation.outcomes);
            finding.executions = Some(violation.executions);
            Some(finding)
        };
        let findings = self.methods.iter().filter_map(finding).collect();
        Report { runs: 1, findings, notices, ..Report::default() }
    }
}

/// The report as text; each line ends with a line break.
pub fn render(report: &ObjectReport, notices: &[String], options: &Options) -> String {
    let painter = Painter { color: options.color };
    let mut text = format!("{} on Java {}\n", painter.paint(Style::Strong, &report.class), report.java);
    if let Some(expression) = &report.made_by {
        text.push_str(&format!("made by: {}\n", words::clean(expression)));
    }
    let names = if report.core.is_empty() { "none".to_owned() } else { report.core.join(", ") };
    text.push_str(&format!("core ({}): {names}\n", report.core_is));
    if !report.core_reason.is_empty() {
        say(&mut text, "  ", &report.core_reason, options, painter);
    }
    text.push('\n');
    if options.verbose {
        for effect in &report.effects {
            let what = if effect.read_only { "only reads" } else { "is not taken to be read-only" };
            say(&mut text, "", &format!("{} {what}: {}", effect.method, effect.reason), options, painter);
        }
        text.push('\n');
    }
    let width =
        report.methods.iter().map(|method| words::columns(&words::clean(&method.method))).max().unwrap_or(0);
    for method in &report.methods {
        text.push_str(&row(method, width, painter, options));
    }
    for method in &report.methods {
        if let Some(violation) = &method.violation {
            text.push('\n');
            text.push_str(&explanation(violation, painter, options));
        }
    }
    text.push('\n');
    for (reason, methods) in by_reason(&report.left_out, options.verbose) {
        say(&mut text, "not tested: ", &format!("{reason}: {methods}"), options, painter);
    }
    for notice in notices {
        say(&mut text, "note: ", notice, options, painter);
    }
    say(&mut text, "fissure: ", &summary(report), options, painter);
    text
}

fn row(method: &MethodReport, width: usize, painter: Painter, options: &Options) -> String {
    let name = words::pad(&words::clean(&method.method), width);
    let effort = format!(
        "{} in {}, {:.2} s",
        words::count(method.executions, "execution", "executions"),
        words::count(method.harnesses, "harness", "harnesses"),
        method.seconds
    );
    let Some(violation) = &method.violation else {
        let verdict = match &method.schedules {
            Some(schedules) if schedules.harnesses > 0 => bounded(schedules),
            _ => "atomic as far as was tried".to_owned(),
        };
        return format!("  {name}  {verdict}  {}\n", painter.paint(Style::Faint, &effort));
    };
    let label = painter.paint(Style::Alarm, "not atomic");
    let line = format!("{} gave {}", violation.harness, violation.outcome);
    let line = words::source_line(&line, options.width.saturating_sub(width + 16).max(40));
    format!("  {name}  {label}  {line}\n")
}

/// The verdict for a method without a violation: the bounds within which it was atomic.
fn bounded(schedules: &SchedulesReport) -> String {
    format!(
        "atomic in all {} with at most {} of {}",
        words::count(schedules.schedules, "schedule", "schedules"),
        words::count(u64::from(schedules.preemptions), "preemption", "preemptions"),
        words::count(schedules.harnesses, "harness", "harnesses"),
    )
}

fn explanation(violation: &ViolationReport, painter: Painter, options: &Options) -> String {
    let mut text = format!(
        "{}: {} is not atomic\n",
        painter.paint(Style::Alarm, "confirmed[non-atomic-method]"),
        painter.paint(Style::Strong, &words::clean(&violation.subject))
    );
    text.push_str(&format!("  harness  {}\n", words::clean(&violation.harness)));
    text.push_str(&format!(
        "  outcome  {}   {} of {}\n",
        painter.paint(Style::Strong, &words::clean(&violation.outcome)),
        words::thousands(violation.hits),
        if violation.interleaving.is_empty() {
            words::count(violation.executions, "execution", "executions")
        } else {
            words::count(violation.executions, "controlled execution", "controlled executions")
        }
    ));
    for (at, turn) in violation.interleaving.iter().enumerate() {
        let lead = if at == 0 { "  by       " } else { "           " };
        text.push_str(&format!("{lead}{}\n", words::clean(turn)));
    }
    let memory = violation.memory.map(|memory| {
        format!(
            "the machine gave this outcome, but none of {} did, all with at most {} among them: it is due to the memory model, \
             such as a reordering by the compiler or the processor, unless it needs more preemptions",
            words::count(memory.schedules, "controlled execution", "controlled executions"),
            words::count(u64::from(memory.preemptions), "preemption", "preemptions"),
        )
    });
    let because = Some(&violation.because).filter(|because| !because.is_empty());
    for sentence in because.into_iter().chain(&memory) {
        say(&mut text, "  because  ", sentence, options, painter);
    }
    text.push_str("  but sequential executions give\n");
    for atomic in &violation.atomic {
        text.push_str(&format!("           {}\n", words::clean(&atomic.outcome)));
        let shown = if options.verbose { atomic.linearizations.len() } else { 1 };
        for order in atomic.linearizations.iter().take(shown) {
            let order = format!("by {order}");
            text.push_str(&format!("             {}\n", painter.paint(Style::Faint, &words::clean(&order))));
        }
        if shown < atomic.linearizations.len() {
            let more =
                words::count((atomic.linearizations.len() - shown) as u64, "other order", "other orders");
            text.push_str(&format!("             {}\n", painter.paint(Style::Faint, &format!("and {more}"))));
        }
    }
    text
}

fn say(text: &mut String, lead: &str, sentence: &str, options: &Options, painter: Painter) {
    let indent = words::columns(lead);
    let width = options.width.saturating_sub(indent).max(20);
    for (at, line) in words::wrap(&words::clean(sentence), width).iter().enumerate() {
        let lead = if at == 0 { lead } else { &" ".repeat(indent) };
        text.push_str(&format!("{}{line}\n", painter.paint(Style::Strong, lead)));
    }
}

/// The methods that were not tested, by reason. Overloads are listed once, and with their parameters if `verbose`.
fn by_reason(left_out: &[LeftOut], verbose: bool) -> Vec<(&str, String)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for left in left_out {
        let name =
            if verbose { left.method.as_str() } else { left.method.split('(').next().unwrap_or_default() };
        match reasons.iter_mut().find(|(reason, _)| *reason == left.reason) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => reasons.push((&left.reason, vec![name])),
        }
    }
    reasons.into_iter().map(|(reason, names)| (reason, names.join(", "))).collect()
}

fn summary(report: &ObjectReport) -> String {
    let tested = report.methods.iter().filter(|method| method.method != "core").count() as u64;
    let violated = report.methods.iter().filter(|method| method.violation.is_some()).count() as u64;
    let executions: u64 = report.methods.iter().map(|method| method.executions).sum();
    let found = match violated {
        0 => "found nothing".to_owned(),
        _ => format!(
            "found {}",
            words::count(violated, "method that is not atomic", "methods that are not atomic")
        ),
    };
    format!(
        "{found}, of {} tested; harnesses of up to {} invocations in {} sequences, {}",
        tested,
        report.invocations,
        report.sequences,
        words::count(executions, "execution", "executions")
    )
}
