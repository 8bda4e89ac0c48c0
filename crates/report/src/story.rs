//! One finding as a short story: what is wrong, who did what where, and how they came there.

use fissure_model::finding::{Finding, Frame, HeldLock, Kind, Site, Status};

use crate::{
    SourceFinder,
    style::{Painter, Style},
    text::Options,
    words,
};

/// Stack frames below a site that are shown unless all are wanted.
const FRAMES: usize = 5;

/// Classes of Fissure's own hook, which is no part of the program's story.
const HOOK: &str = "java.lang.Fissure";

/// Tells stories, and remembers whether source lines were wanted and found.
pub(crate) struct Teller<'a> {
    options: &'a Options,
    painter: Painter,
    sources: &'a dyn SourceFinder,
    lines_wanted: usize,
    lines_shown: usize,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(options: &'a Options, sources: &'a dyn SourceFinder) -> Self {
        let painter = Painter { color: options.color };
        Teller { options, painter, sources, lines_wanted: 0, lines_shown: 0 }
    }

    /// Whether there was something to show but no source file to show it from.
    pub(crate) fn lacks_sources(&self) -> bool {
        self.lines_wanted > 0 && self.lines_shown == 0
    }

    /// The whole story, several lines.
    pub(crate) fn tell(&mut self, finding: &Finding) -> String {
        let style = if finding.ordered { Style::Mild } else { Style::Alarm };
        let ordered = if finding.ordered { ", ordered" } else { "" };
        let label = format!("{}[{}{ordered}]", status(finding.status), kind(finding.kind));
        let mut text = format!(
            "{}: {}\n",
            self.painter.paint(style, &label),
            self.painter.paint(Style::Strong, &headline(finding))
        );
        for (at, site) in finding.sites.iter().enumerate() {
            self.tell_site(&mut text, at + 1, site);
        }
        if let Some(reason) = &finding.reason {
            self.tell_reason(&mut text, reason);
        }
        if let Some(consequence) = &finding.consequence {
            let message = if consequence.message.is_empty() {
                words::clean(&consequence.exception)
            } else {
                words::clean(&format!("{}: {}", consequence.exception, consequence.message))
            };
            text.push_str(&format!("  what followed: {message}\n"));
        }
        text.push_str(&format!("  {}\n", self.painter.paint(Style::Faint, &details(finding))));
        text
    }

    /// The story in two lines, for what is only mentioned.
    pub(crate) fn mention(&self, finding: &Finding) -> String {
        let sites: Vec<String> = finding
            .sites
            .iter()
            .map(|site| format!("{} {} {}", thread(site), verb(site), place(site)))
            .collect();
        let subject = self.painter.paint(Style::Strong, &subject(finding));
        let id = self.painter.paint(Style::Faint, &format!("id {}", words::clean(&finding.id)));
        format!("  {subject} · {id}\n    {}\n", sites.join(", then "))
    }

    fn tell_site(&mut self, text: &mut String, number: usize, site: &Site) {
        // Only of accesses it is known which locks protected them.
        let holding = match site.role.as_str() {
            "entered" | "committed" | "violated" => String::new(),
            _ => format!(", {}", holding(&site.locks)),
        };
        text.push_str(&format!("  ({number}) {} {} {}{holding}\n", thread(site), verb(site), place(site)));
        self.show_source(text, site);
        let frames: Vec<&Frame> = callers(site);
        let shown = if self.options.verbose { frames.len() } else { frames.len().min(FRAMES) };
        for (at, frame) in frames[..shown].iter().enumerate() {
            let lead = if at == 0 { "called from " } else { "            " };
            text.push_str(&format!("      {}{}\n", self.painter.paint(Style::Faint, lead), location(frame)));
        }
        let hidden = frames.len() - shown;
        if hidden > 0 {
            let more = words::count(hidden as u64, "more frame", "more frames");
            let more = format!("… {more} (--verbose shows all)");
            text.push_str(&format!("                  {}\n", self.painter.paint(Style::Faint, &more)));
        }
    }

    fn tell_reason(&self, text: &mut String, reason: &str) {
        let width = self.options.width.saturating_sub(7).max(20);
        for (at, line) in words::wrap(&words::clean(reason), width).iter().enumerate() {
            let lead = if at == 0 { "why: " } else { "     " };
            text.push_str(&format!("  {}{line}\n", self.painter.paint(Style::Faint, lead)));
        }
    }

    fn show_source(&mut self, text: &mut String, site: &Site) {
        let (Some(file), Some(line)) = (&site.file, site.line) else { return };
        self.lines_wanted += 1;
        let Some(source) = self.sources.line(&site.class, file, line) else { return };
        self.lines_shown += 1;
        let number = format!("{line:>5}");
        // The gutter takes 8 columns; very narrow terminals still get something to read.
        let source = words::source_line(&source, self.options.width.saturating_sub(8).max(20));
        let bar = self.painter.paint(Style::Gutter, "      |");
        let lead = self.painter.paint(Style::Gutter, &format!("{number} |"));
        text.push_str(&format!("{bar}\n{lead} {source}\n{bar}\n"));
    }
}

/// `found 2 data races`-style nouns for a kind, in singular and plural.
pub(crate) fn nouns(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::DataRace => ("data race", "data races"),
        Kind::AtomicityViolation => ("atomicity violation", "atomicity violations"),
        Kind::AtomicSetViolation => ("atomic-set violation", "atomic-set violations"),
        Kind::Deadlock => ("deadlock", "deadlocks"),
        Kind::NonAtomicMethod => ("non-atomic method", "non-atomic methods"),
        Kind::Custom => ("finding of a custom monitor", "findings of custom monitors"),
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::DataRace => "data-race",
        Kind::AtomicityViolation => "atomicity-violation",
        Kind::AtomicSetViolation => "atomic-set-violation",
        Kind::Deadlock => "deadlock",
        Kind::NonAtomicMethod => "non-atomic-method",
        Kind::Custom => "custom",
    }
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Warning => "warning",
        Status::Confirmed => "confirmed",
        Status::Bug => "bug",
    }
}

fn subject(finding: &Finding) -> String {
    let subject = words::clean(&finding.subject);
    match &finding.field_type {
        Some(field_type) => format!("{} {subject}", words::clean(field_type)),
        None => subject,
    }
}

fn headline(finding: &Finding) -> String {
    let what = match finding.kind {
        Kind::DataRace => "is accessed by two threads without a common lock",
        Kind::AtomicityViolation => "should be atomic and is not",
        Kind::AtomicSetViolation => "has fields that belong together and were seen apart",
        Kind::Deadlock => "is part of a deadlock: threads wait for each other in a circle",
        Kind::NonAtomicMethod => "does not take effect at once",
        Kind::Custom => "was reported by a custom monitor",
    };
    format!("{} {what}", subject(finding))
}

/// The last line of a story: which object, how often, who says so.
fn details(finding: &Finding) -> String {
    let mut parts = Vec::new();
    match finding.owner.as_deref() {
        Some("static") => parts.push("static field".to_owned()),
        Some(owner) => parts.push(format!("owner: {}", words::clean(owner))),
        None => {}
    }
    if finding.hits > 1 {
        // An array is one object; its elements are counted one by one.
        let array = finding.owner.as_deref().is_some_and(|owner| owner.contains('['));
        let noun = match finding.kind {
            Kind::AtomicityViolation => "executions",
            _ if array => "locations",
            _ => "objects",
        };
        parts.push(format!("seen in {} {noun}", words::thousands(finding.hits)));
    }
    if finding.ordered {
        parts.push("ordered by thread start or join in this run".to_owned());
    }
    parts.push(words::clean(&finding.analysis));
    parts.push(format!("id {}", words::clean(&finding.id)));
    parts.join(" · ")
}

fn thread(site: &Site) -> String {
    if site.thread.is_empty() {
        "an unnamed thread".to_owned()
    } else {
        format!("thread \"{}\"", words::clean(&site.thread))
    }
}

fn verb(site: &Site) -> String {
    match site.role.as_str() {
        "read" => "reads at".to_owned(),
        "write" => "writes at".to_owned(),
        "entered" => "enters the block at".to_owned(),
        "committed" => "commits at".to_owned(),
        "violated" => "breaks it at".to_owned(),
        other => format!("({}) at", words::clean(other)),
    }
}

fn place(site: &Site) -> String {
    describe(&site.class, &site.method, site.file.as_deref(), site.line)
}

fn location(frame: &Frame) -> String {
    describe(&frame.class, &frame.method, frame.file.as_deref(), frame.line)
}

fn describe(class: &str, method: &str, file: Option<&str>, line: Option<u32>) -> String {
    let source = match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.to_owned(),
        (None, _) => "unknown source".to_owned(),
    };
    words::clean(&format!("{class}.{method} ({source})"))
}

fn holding(locks: &[HeldLock]) -> String {
    if locks.is_empty() {
        return "holding no lock".to_owned();
    }
    let names: Vec<String> = locks
        .iter()
        .map(|lock| {
            let name = if lock.name == "this" {
                "the object's own lock".to_owned()
            } else {
                words::clean(&lock.name)
            };
            if lock.shared { format!("the read lock of {name}") } else { name }
        })
        .collect();
    format!("holding {}", words::list(&names))
}

/// The frames below the site itself, without Fissure's own.
fn callers(site: &Site) -> Vec<&Frame> {
    let mut frames: Vec<&Frame> = site.stack.iter().filter(|frame| !frame.class.starts_with(HOOK)).collect();
    if frames.first().is_some_and(|first| first.class == site.class && first.method == site.method) {
        frames.remove(0);
    }
    frames
}
