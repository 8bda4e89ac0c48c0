//! Programs for `fissure hunt`. Any confirmed finding that the header does not name is a false alarm.

use std::{ffi::OsString, sync::Arc, time::Duration};

use fissure_testing::{Folder, Header, Trial};
use serde_json::Value;

use crate::{
    common::schema_problems,
    suite::{Case, Launch, QUICK_START, Subject, Suite},
};

/// Fissure ends programs that hang; a hunt that takes this long hangs itself.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// Enough to try the goals that the reference runs show.
const RUNS_FOR_BROKEN: &str = "6";
/// The limit for programs with bugs only, whose hunt ends at the first of them.
const RUNS_FOR_BUGS: &str = "16";
/// Enough for several failing runs, whose cause is then sought.
const RUNS_FOR_CAUSES: &str = "24";
/// A false alarm shows in the first runs.
const RUNS_FOR_CORRECT: &str = "4";

/// Failures of these programs that do not depend on the schedule show in every run, unless the header asks for more runs.
const REFERENCE_RUNS: &str = "2";

/// The tests of all programs.
pub(crate) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    let folder = Folder::Hunt;
    let mut trials = Vec::new();
    for java in suite.javas() {
        for number in 0..suite.programs(folder).len() {
            let subject = Subject { folder, number, java, mode: None, needs_all_processors: false };
            trials.push(suite.trial(&subject, check));
        }
    }
    trials
}

/// Hunts in one program with a few seeds.
fn check(case: &Case<'_>) -> Result<(), String> {
    let header = &case.program.header;
    // Causes are sought in the findings of a whole hunt.
    let seeks_causes = !header.causes.is_empty();
    let is_done_with_one = !seeks_causes
        && header.must_be_bug.len() == 1
        && header.must_confirm.is_empty()
        && header.must_warn.is_empty();
    let runs = match header.is_broken() {
        true if seeks_causes => RUNS_FOR_CAUSES,
        true if is_done_with_one => RUNS_FOR_BUGS,
        true => RUNS_FOR_BROKEN,
        false => RUNS_FOR_CORRECT,
    };
    let runs = header.runs.map_or_else(|| runs.to_owned(), |runs| runs.to_string());
    let mut options = vec!["hunt", "--runs", &runs, "--no-minimise", "--jobs", "1"];
    if !header.options.iter().any(|option| option == "--reference-runs") {
        options.extend(["--reference-runs", REFERENCE_RUNS]);
    }
    if is_done_with_one {
        options.push("--until-bug");
    }
    options.extend(header.options.iter().map(String::as_str));
    let options = options.into_iter().map(OsString::from).collect();
    let java = case.java_command(&QUICK_START);
    let finished = Launch { options, java, stdin: &header.stdin, limit: PATIENCE }.run();
    let problems = match &finished.report {
        Ok(report) => check_report(report, header, finished.ended.code),
        Err(error) => vec![format!("no JSON report was written: {error}")],
    };
    case.result(&problems, &finished)
}

fn check_report(report: &Value, header: &Header, code: Option<i32>) -> Vec<String> {
    let mut problems = Vec::new();
    if !report["problem"].is_null() {
        problems.push(format!("Fissure could not see: {}", report["problem"]));
    }
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (possible, happened): (Vec<&Value>, Vec<&Value>) =
        findings.iter().partition(|finding| finding["status"] == "warning");
    for claim in &header.must_be_bug {
        match happened.iter().find(|finding| claim.covers(finding)) {
            Some(finding) if finding["status"] == "bug" => problems.extend(check_finding(finding)),
            Some(_) => problems.push(format!("{claim} broke nothing")),
            None => problems.push(format!("{claim} did not happen")),
        }
    }
    for claim in &header.must_confirm {
        match happened.iter().find(|finding| claim.covers(finding)) {
            Some(finding) => problems.extend(check_finding(finding)),
            None => problems.push(format!("{claim} did not happen")),
        }
    }
    for claim in &header.must_warn {
        if !possible.iter().any(|finding| claim.covers(finding)) {
            problems.push(format!("{claim} was not reported as possible"));
        }
    }
    let is_common =
        |finding: &Value| finding["kind"] == "data-race" || finding["kind"] == "atomic-set-violation";
    for finding in &happened {
        let mut claims = header.must_be_bug.iter().chain(&header.must_confirm);
        // A program with a cause has bystanders, which are real races.
        let is_bystander = !header.causes.is_empty() && finding["status"] != "bug" && is_common(finding);
        if !is_bystander && !claims.any(|claim| claim.covers(finding)) {
            problems.push(format!("false alarm: {} {}", finding["kind"], finding["subject"]));
        }
    }
    // Races and atomic-set violations that cause no failure do not count unless somebody asks for them.
    let asks = header.options.iter().any(|option| option == "--strategy" || option == "--fail-on");
    let counts = |finding: &&&Value| asks || finding["status"] == "bug" || !is_common(finding);
    let expected = i32::from(happened.iter().any(|finding| counts(&finding)));
    if code != Some(expected) && report["problem"].is_null() {
        problems.push(format!("Fissure ended with {code:?}, not {expected}"));
    }
    problems.extend(check_causes(&happened, header));
    problems.extend(check_exits(report, header));
    problems.extend(schema_problems(report));
    problems
}

/// The proved causes are those of the header, and no others.
fn check_causes(happened: &[&Value], header: &Header) -> Vec<String> {
    if header.causes.is_empty() {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let judgements = || happened.iter().map(|finding| &finding["judgement"]);
    let proved: Vec<String> = judgements()
        .filter_map(|judgement| judgement["causes"].as_array())
        .flatten()
        .map(|cause| cause["prevention"].to_string())
        .collect();
    let has_all = |cause: &String, words: &[String]| words.iter().all(|word| cause.contains(word.as_str()));
    for words in &header.causes {
        if !proved.iter().any(|cause| has_all(cause, words)) {
            problems.push(format!("the cause {} was not proved", words.join(" ")));
        }
    }
    for cause in &proved {
        if !header.causes.iter().any(|words| has_all(cause, words)) {
            problems.push(format!("another cause was proved: {cause}"));
        }
        if let Some(word) = header.not_causes.iter().find(|word| cause.contains(word.as_str())) {
            problems.push(format!("{word} is named as a cause: {cause}"));
        }
    }
    if header.has_repair && !judgements().any(|judgement| judgement["repair"].is_object()) {
        problems.push("no repair was suggested".to_owned());
    }
    problems
}

fn check_exits(report: &Value, header: &Header) -> Vec<String> {
    let mut problems = Vec::new();
    let exits: Vec<&str> =
        report["exits"].as_object().map_or(Vec::new(), |exits| exits.keys().map(String::as_str).collect());
    for code in &header.exits {
        if !exits.contains(&code.to_string().as_str()) {
            problems.push(format!("no run ended with {code}"));
        }
    }
    if header.must_be_bug.is_empty() {
        for code in exits.iter().filter(|code| **code != "0") {
            if !header.exits.iter().any(|expected| expected.to_string() == **code) {
                problems.push(format!("a run ended with {code}"));
            }
        }
    }
    problems
}

/// A finding can be replayed, and has all its sites.
fn check_finding(finding: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let mut report_problem = |problem: &str| problems.push(format!("{}: {problem}", finding["subject"]));
    let list = |name: &str| finding[name].as_array().map(Vec::as_slice).unwrap_or_default();
    if list("seeds").is_empty() || list("schedules").is_empty() {
        report_problem("it names no seed or no schedule");
    }
    if finding["hits"].as_u64().unwrap_or_default() == 0 {
        report_problem("it was hit in no run");
    }
    let sites = list("sites");
    if sites.is_empty() || sites.iter().any(|site| !site["method"].is_string() || !site["thread"].is_string())
    {
        report_problem("a site is incomplete");
    }
    if finding["kind"] == "atomicity-violation" {
        let roles: Vec<&str> = sites.iter().filter_map(|site| site["role"].as_str()).collect();
        if roles != ["entered", "acquired", "interfered", "reacquired"] {
            report_problem(&format!("its sites are {roles:?}"));
        }
        if finding["interleaving"]["steps"].as_array().is_none_or(Vec::is_empty) {
            report_problem("it shows no interleaving");
        }
    }
    problems
}
