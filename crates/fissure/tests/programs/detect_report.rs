//! Compares a report of `fissure detect` with a header.

use fissure_testing::{Analysis, Claim, Header};
use serde_json::Value;

/// The exit code of the program without Fissure.
pub(crate) fn program_exit(header: &Header) -> i32 {
    header.exits.first().copied().unwrap_or_default()
}

/// Compares the findings, the exit codes and the classes that were not instrumented with the header.
pub(crate) fn check_report(report: &Value, header: &Header, run: &str) -> Vec<String> {
    let is_run = |claim: &&Claim| run.split(',').any(|name| claim.analysis.map(Analysis::name) == Some(name));
    let mut problems = Vec::new();
    let exits = serde_json::json!({ program_exit(header).to_string(): 1 });
    if report["exits"] != exits {
        problems.push(format!("the report's exits are {}, not {exits}", report["exits"]));
    }
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (ordered, unordered): (Vec<&Value>, Vec<&Value>) =
        findings.iter().partition(|finding| finding["ordered"] == true);
    for claim in header.must_find.iter().filter(is_run) {
        match unordered.iter().find(|finding| claim.covers(finding)) {
            Some(finding) if claim.kind == "data-race" => problems.extend(check_sites(finding)),
            Some(finding) => problems.extend(check_explanation(finding)),
            None => problems.push(format!("{claim} was not found")),
        }
    }
    for claim in header.must_find_ordered.iter().filter(is_run) {
        if !ordered.iter().any(|finding| claim.covers(finding)) {
            problems.push(format!("{} was not found as ordered", claim.subject));
        }
    }
    let mut seen: Vec<[&Value; 4]> = Vec::new();
    for finding in unordered {
        let mut listed = header.must_find.iter().chain(&header.may_find);
        if !listed.any(|claim| claim.covers(finding)) {
            problems.push(format!("false alarm: {} {}", finding["kind"], describe(finding)));
        }
        // A race is reported once, a block once for each site that violates it.
        let last = if finding["kind"] == "data-race" { &Value::Null } else { &finding["sites"][2] };
        let key = [&finding["kind"], &finding["subject"], &last["class"], &last["line"]];
        if seen.contains(&key) {
            problems.push(format!("reported more than once: {}", finding["subject"]));
        }
        seen.push(key);
    }
    for finding in ordered {
        if header.must_not_find_ordered.iter().any(|subject| finding["subject"] == **subject) {
            problems.push(format!(
                "found as ordered, though it is not to be found at all: {}",
                describe(finding)
            ));
        }
    }
    let left_alone = report["coverage"]["left_alone"].as_array().map(Vec::as_slice).unwrap_or_default();
    for class in &header.must_leave_alone {
        if !left_alone.iter().any(|left| left["class"] == **class) {
            problems.push(format!("the coverage does not list {class} as left alone"));
        }
    }
    problems
}

/// Checks the claims of the static analysis: no location that it left out was accessed by two threads.
pub(crate) fn check_static(report: &Value, header: &Header) -> Vec<String> {
    let coverage = &report["coverage"];
    let mut problems = Vec::new();
    for limit in coverage["limits"].as_object().into_iter().flat_map(|limits| limits.keys()) {
        if limit.starts_with("called thread-local") {
            problems.push(limit.clone());
        }
    }
    let watched = &coverage["static"]["fields_watched"];
    if let Some(expected) = header.static_fields.filter(|&expected| *watched != expected) {
        problems.push(format!("{watched} fields are left to watch, not {expected}"));
    }
    problems
}

/// A race has two accesses by two threads, one of them a write, each with its site.
fn check_sites(finding: &Value) -> Vec<String> {
    let sites = finding["sites"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut problems = Vec::new();
    let mut report_problem = |problem: &str| problems.push(format!("{}: {problem}", describe(finding)));
    match sites {
        [first, .., last] if first["thread"] != last["thread"] => {}
        _ => report_problem("it names no two accesses of different threads"),
    }
    if !sites.iter().any(|site| site["role"] == "write") {
        report_problem("none of its accesses writes");
    }
    for site in sites {
        let placed = site["line"].is_u64() && site["file"].is_string() && site["method"].is_string();
        if !placed || site["stack"].as_array().is_none_or(Vec::is_empty) {
            report_problem("an access without its place or stack");
        }
    }
    problems
}

/// A block that is not atomic has three sites, each with a stack, and a reason.
fn check_explanation(finding: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let mut report_problem = |problem: &str| problems.push(format!("{}: {problem}", describe(finding)));
    let sites = finding["sites"].as_array().map(Vec::as_slice).unwrap_or_default();
    let roles: Vec<&str> = sites.iter().filter_map(|site| site["role"].as_str()).collect();
    if roles != ["entered", "committed", "violated"] {
        report_problem("its sites have other roles");
    }
    for site in sites {
        let stack = site["stack"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_first = stack.first().is_some_and(|frame| frame["method"] == site["method"]);
        let begins = stack.last().is_some_and(|frame| {
            frame["class"] == "java.lang.Thread" && frame["method"] == "run" || frame["method"] == "main"
        });
        // Classes of some JDKs have no line numbers.
        let is_jdk = site["class"].as_str().is_some_and(|class| class.starts_with("java."));
        let is_placed = is_jdk || site["line"].is_u64() && site["file"].is_string();
        if !is_first || !begins || !is_placed {
            report_problem("a site without its line or its whole stack");
        }
    }
    if !finding["object"].is_string() || !finding["reason"].is_string() {
        report_problem("it has no object or no reason");
    }
    problems
}

/// Checks Fissure's exit code, and that it saw the program.
pub(crate) fn check_verdict(
    report: &Value,
    code: Option<i32>,
    may_be_blind: bool,
    program_exit: i32,
) -> Vec<String> {
    let mut problems = Vec::new();
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let counts = findings.iter().any(|finding| finding["ordered"] != true);
    let blind = !report["problem"].is_null();
    let expected = if blind { 2 } else { i32::from(counts) };
    if code.is_some_and(|code| code != expected) {
        problems.push(format!("Fissure ended with {:?}, not {expected}", code));
    }
    if program_exit != 0 && !counts && !blind {
        problems.push(format!("the program ended with {program_exit}, and the run counts as clean"));
    }
    if blind && !may_be_blind {
        problems.push(format!("Fissure could not see: {}", report["problem"]));
    }
    // A JVM that was killed could not record its final counts, but then it must have found something before.
    for counted in ["jvms", "classes_in_scope", "classes_rewritten", "threads"] {
        if findings.is_empty() && report["coverage"][counted].as_u64().unwrap_or_default() == 0 {
            problems.push(format!("the coverage counts no {counted}"));
        }
    }
    problems
}

fn describe(finding: &Value) -> String {
    let sites = finding["sites"].as_array().map(Vec::as_slice).unwrap_or_default();
    let sites: Vec<String> = sites
        .iter()
        .map(|site| {
            let held = site["locks"].as_array().map_or(0, Vec::len);
            let method = site["method"].as_str().unwrap_or_default();
            format!(
                "{} in {method}:{} by {} holding {held} locks",
                site["role"], site["line"], site["thread"]
            )
        })
        .collect();
    format!("{} ({})", finding["subject"], sites.join(", then "))
}
