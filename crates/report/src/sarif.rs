//! The report as SARIF 2.1.0, which code hosts and editors read.
//!
//! Each finding becomes a result with its sites, a code flow with one thread flow per thread (the interleaving if there is
//! one, otherwise the sites in their order), a fingerprint that does not depend on line numbers, and its baseline state.

use std::collections::BTreeMap;

use fissure_model::{
    finding::{Finding, Frame, Kind, Site, Status},
    interleaving::{Action, Interleaving, Step},
};
use serde_json::{Map, Value, json};

use crate::{
    Report, SourceFinder, names, steps,
    triage::{Standing, fingerprint},
};

/// The URL of the format's schema.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// Fissure's home page.
const HOME: &str = "https://github.com/fissure-rs/fissure";
/// Seeds that a result lists.
const MOST_SEEDS: usize = 20;

const KINDS: [Kind; 7] = [
    Kind::DataRace,
    Kind::AtomicityViolation,
    Kind::AtomicSetViolation,
    Kind::Deadlock,
    Kind::NonAtomicMethod,
    Kind::Failure,
    Kind::Custom,
];

/// The report as pretty-printed SARIF with a line break at its end; `version` is Fissure's own.
///
/// # Errors
/// Only if a finding cannot be expressed as JSON, which its types rule out.
pub fn render(report: &Report, version: &str, sources: &dyn SourceFinder) -> serde_json::Result<String> {
    let writer = Writer { report, sources };
    let results: Vec<Value> =
        report.sorted_findings().into_iter().map(|finding| writer.result(finding)).collect();
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "Fissure",
                "version": version,
                "semanticVersion": version,
                "informationUri": HOME,
                "rules": KINDS.map(rule),
            }},
            "invocations": [writer.invocation()],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn rule(kind: Kind) -> Value {
    let text = match kind {
        Kind::DataRace => {
            "Two threads access a field or array element without a common lock, at least one of them writing."
        }
        Kind::AtomicityViolation => "A block that should be atomic lets another thread interleave with it.",
        Kind::AtomicSetViolation => "Fields that belong together can be observed in an inconsistent state.",
        Kind::Deadlock => "Threads wait for each other in a cycle.",
        Kind::NonAtomicMethod => {
            "A method of a concurrent object returns results that no order of the calls explains."
        }
        Kind::Failure => "An exception, a failed test or an exit code that only some schedules show.",
        Kind::Custom => "A monitor script that the user wrote reported this.",
    };
    json!({
        "id": names::kind(kind),
        "name": names::nouns(kind).0.split([' ', '-']).map(capital).collect::<String>(),
        "shortDescription": {"text": text},
        "helpUri": format!("{HOME}/blob/main/docs/reading-reports.md"),
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["concurrency"]},
    })
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

struct Writer<'a> {
    report: &'a Report,
    sources: &'a dyn SourceFinder,
}

impl Writer<'_> {
    fn invocation(&self) -> Value {
        let report = self.report;
        let note = |level: &str, text: &str| json!({"level": level, "message": message(text)});
        let errors = report.internal_errors.iter().chain(&report.problem);
        let mut notes: Vec<Value> = errors.map(|error| note("error", error)).collect();
        notes.extend(report.notices.iter().map(|notice| note("note", notice)));
        let mut invocation = json!({
            "executionSuccessful": report.problem.is_none(),
            "toolExecutionNotifications": notes,
        });
        if !report.command.is_empty() {
            invocation["properties"] = json!({"command": report.command, "runs": report.runs});
        }
        invocation
    }

    fn result(&self, finding: &Finding) -> Value {
        let level = match finding.status {
            _ if finding.ordered => "note",
            Status::Warning => "warning",
            Status::Confirmed | Status::Bug => "error",
        };
        let mut result = json!({
            "ruleId": names::kind(finding.kind),
            "ruleIndex": KINDS.iter().position(|&kind| kind == finding.kind),
            "kind": "fail",
            "level": level,
            "message": message(&self.sentence(finding)),
            "locations": self.primary(finding),
            "occurrenceCount": finding.hits.max(1),
            "partialFingerprints": {"fissure/v1": fingerprint(finding)},
            "properties": self.properties(finding),
        });
        let related: Vec<Value> = finding
            .sites
            .iter()
            .enumerate()
            .map(|(at, site)| {
                let mut location = self.site(site);
                location["id"] = json!(at + 1);
                location["message"] = message(&step_of_site(finding, site));
                location
            })
            .collect();
        if !related.is_empty() {
            result["relatedLocations"] = json!(related);
            result["codeFlows"] = json!([self.code_flow(finding)]);
        }
        if let Some(consequence) = &finding.consequence
            && !consequence.stack.is_empty()
        {
            let frames: Vec<Value> = names::own_frames(&consequence.stack)
                .into_iter()
                .map(|frame| self.stack_frame(frame))
                .collect();
            result["stacks"] = json!([{"message": message(consequence.kind.name()), "frames": frames}]);
        }
        let standing = self.report.triage.standing(finding);
        if self.report.triage.has_baseline() {
            result["baselineState"] = json!(if standing == Standing::Known { "unchanged" } else { "new" });
        }
        if let Standing::Suppressed(reason) = standing {
            result["suppressions"] = json!([{"kind": "external", "justification": reason}]);
        }
        result
    }

    fn sentence(&self, finding: &Finding) -> String {
        let mut text = names::headline(finding) + ".";
        if let Some(reason) = names::reason(finding) {
            text.push_str(&format!(" Why: {reason}."));
        }
        if let Some(test) = &finding.test {
            text.push_str(&format!(" Seen in the test {test}."));
        }
        if let Some(command) = self.report.replay_command(finding) {
            text.push_str(&format!(" To see it again: {command}"));
        }
        text
    }

    /// The primary location: the finding's last site, because the violation happens there. If that is not in the project's
    /// own sources, the innermost caller that is.
    fn primary(&self, finding: &Finding) -> Vec<Value> {
        let Some(site) = finding.sites.last() else {
            return vec![json!({"logicalLocations": [{"fullyQualifiedName": finding.subject}]})];
        };
        let has_source = |frame: &&Frame| {
            frame.file.as_ref().is_some_and(|file| self.sources.path(&frame.class, file).is_some())
        };
        let site_frame = names::frame_of(site);
        let frames = names::callers(site);
        let shown = std::iter::once(&site_frame).chain(frames).find(has_source).unwrap_or(&site_frame);
        vec![self.location(shown)]
    }

    fn properties(&self, finding: &Finding) -> Value {
        let mut properties = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                properties.insert(key.to_owned(), value);
            }
        };
        put("id", Some(json!(finding.id)));
        put("status", Some(json!(names::status(finding.status))));
        put("analysis", Some(json!(finding.analysis)));
        put("subject", Some(json!(finding.subject)));
        put("runs", Some(json!(finding.runs)));
        let seeds = &finding.seeds[..finding.seeds.len().min(MOST_SEEDS)];
        put("seeds", (!seeds.is_empty()).then(|| json!(seeds)));
        put("pattern", finding.pattern.map(|pattern| json!(pattern)));
        put("harness", finding.harness.as_ref().map(|harness| json!(harness)));
        put("outcome", finding.outcome.as_ref().map(|outcome| json!(outcome)));
        Value::Object(properties)
    }

    fn code_flow(&self, finding: &Finding) -> Value {
        let flows = match &finding.interleaving {
            Some(interleaving) if !interleaving.steps.is_empty() => self.interleaving(finding, interleaving),
            _ => self.sites(finding),
        };
        json!({"message": message(&names::headline(finding)), "threadFlows": flows})
    }

    fn interleaving(&self, finding: &Finding, interleaving: &Interleaving) -> Vec<Value> {
        let important = steps::important(finding, interleaving);
        let mut flows: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
        let mut depths: BTreeMap<usize, u64> = BTreeMap::new();
        for (at, step) in interleaving.steps.iter().enumerate() {
            let depth = depths.entry(step.thread).or_default();
            if step.action == Action::BlockExit {
                *depth = depth.saturating_sub(1);
            }
            let importance = match (&step.role, important[at]) {
                (Some(_), _) => "essential",
                (None, true) => "important",
                (None, false) => "unimportant",
            };
            let mut location = json!({
                "executionOrder": at,
                "importance": importance,
                "nestingLevel": *depth,
                "location": self.step(step),
            });
            if let Some(kinds) = flow_kinds(step.action) {
                location["kinds"] = json!(kinds);
            }
            flows.entry(step.thread).or_default().push(location);
            if step.action == Action::BlockEnter {
                *depth += 1;
            }
        }
        flows
            .into_iter()
            .map(|(thread, locations)| {
                let name = interleaving.threads.get(thread).map(String::as_str).unwrap_or_default();
                thread_flow(thread, name, locations)
            })
            .collect()
    }

    fn sites(&self, finding: &Finding) -> Vec<Value> {
        let mut flows: Vec<(&str, Vec<Value>)> = Vec::new();
        for (at, site) in finding.sites.iter().enumerate() {
            let mut location = self.site(site);
            location["message"] = message(&step_of_site(finding, site));
            let location = json!({"executionOrder": at, "importance": "essential", "location": location});
            match flows.iter_mut().find(|(thread, _)| *thread == site.thread) {
                Some((_, locations)) => locations.push(location),
                None => flows.push((&site.thread, vec![location])),
            }
        }
        let flows = flows.into_iter().enumerate();
        flows.map(|(at, (name, locations))| thread_flow(at, name, locations)).collect()
    }

    fn step(&self, step: &Step) -> Value {
        let mut location = match &step.at {
            Some(at) => self.location(at),
            None => json!({}),
        };
        location["message"] = message(&names::step(step));
        location
    }

    fn site(&self, site: &Site) -> Value {
        self.location(&names::frame_of(site))
    }

    fn location(&self, frame: &Frame) -> Value {
        let name = format!("{}.{}", frame.class, frame.method);
        let mut location = json!({"logicalLocations": [{"fullyQualifiedName": name, "kind": "function"}]});
        // The sources of a project's tests are known, so a file that is not among them is a library's.
        let usual = |file: &String| self.report.tests.is_empty().then(|| usual_path(&frame.class, file));
        let path = |file: &String| self.sources.path(&frame.class, file).or_else(|| usual(file));
        if let Some(path) = frame.file.as_ref().and_then(path) {
            let mut physical = json!({"artifactLocation": {"uri": encode(&path)}});
            if let Some(line) = frame.line.filter(|&line| line > 0) {
                physical["region"] = json!({"startLine": line});
            }
            location["physicalLocation"] = physical;
        }
        location
    }

    fn stack_frame(&self, frame: &Frame) -> Value {
        json!({"location": self.location(frame)})
    }
}

fn thread_flow(number: usize, name: &str, locations: Vec<Value>) -> Value {
    let id = format!("{} {name}", number + 1);
    json!({"id": id.trim_end(), "message": message(&names::thread(name)), "locations": locations})
}

fn step_of_site(finding: &Finding, site: &Site) -> String {
    format!(
        "{} {} {}{}",
        names::thread(&site.thread),
        names::verb(&site.role),
        names::site(site),
        names::holding(finding, site)
    )
}

/// The SARIF kinds of a step.
fn flow_kinds(action: Action) -> Option<[&'static str; 2]> {
    Some(match action {
        Action::Acquire => ["acquire", "lock"],
        Action::Release => ["release", "lock"],
        Action::BlockEnter => ["enter", "scope"],
        Action::BlockExit => ["exit", "scope"],
        Action::Read | Action::Write => ["value", "memory"],
        _ => return None,
    })
}

/// A SARIF message: braces are doubled because single braces are placeholders, and text of the program must not be taken
/// for a link.
fn message(text: &str) -> Value {
    json!({"text": text.replace('{', "{{").replace('}', "}}").replace("](", "] (")})
}

/// The usual path of a source file below the source folder.
fn usual_path(class: &str, file: &str) -> String {
    match class.rsplit_once('.') {
        Some((package, _)) => format!("{}/{file}", package.replace('.', "/")),
        None => file.to_owned(),
    }
}

/// A path as a URI reference: all but unreserved characters and slashes are percent-encoded.
fn encode(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    // A path that starts with two slashes would name a host.
    if uri.starts_with("//") { format!("/.{uri}") } else { uri }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(encode("src/main/java/A.java"), "src/main/java/A.java");
        assert_eq!(encode("my src/Ä.java"), "my%20src/%C3%84.java");
        assert_eq!(encode("//host/x"), "/.//host/x");
        assert_eq!(usual_path("com.acme.A$B", "A.java"), "com/acme/A.java");
        assert_eq!(usual_path("A", "A.java"), "A.java");
    }

    #[test]
    fn messages_hold_no_arguments_and_no_links() {
        assert_eq!(message("a {0} [b](c)"), json!({"text": "a {{0}} [b] (c)"}));
    }
}
