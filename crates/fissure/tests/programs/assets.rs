//! Programs with atomic sets. Any confirmed finding that the header does not name is a false alarm.

use std::{ffi::OsString, fs, sync::Arc};

use fissure_testing::{Folder, Header, Trial};
use serde_json::Value;

use crate::{
    common::schema_problems,
    hunting::PATIENCE,
    suite::{Case, Launch, QUICK_START, Subject, Suite},
};

/// Enough to try each prediction of the programs.
const RUNS: &str = "6";
/// Enough for the profiling runs to reach all code of the programs.
const PROFILING_RUNS: &str = "3";
/// Failures of these programs that do not depend on the schedule show in every run.
const REFERENCE_RUNS: &str = "2";

/// The tests of all programs, on the default JVM: what they are about does not depend on it.
pub(crate) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    let (folder, java) = (Folder::Assets, &suite.javas()[0]);
    let numbers = 0..suite.programs(folder).len();
    let subjects =
        numbers.map(|number| Subject { folder, number, java, mode: None, needs_all_processors: false });
    subjects.map(|subject| suite.trial(&subject, check)).collect()
}

/// Hunts in one program with a few runs.
fn check(case: &Case<'_>) -> Result<(), String> {
    let header = &case.program.header;
    let config = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    fs::write(config.path(), header.config_file()).expect("a temporary file can be written");
    let strategy = header.strategy.as_deref().unwrap_or("assetfuzzer");
    let mut options: Vec<OsString> =
        ["hunt", "--strategy", strategy, "--profile", PROFILING_RUNS, "--no-minimise"]
            .into_iter()
            .chain(["--reference-runs", REFERENCE_RUNS, "--runs", RUNS, "--jobs", "1", "--config"])
            .map(OsString::from)
            .collect();
    options.push(config.path().into());
    let java = case.java_command(&QUICK_START);
    let finished = Launch { options, java, stdin: "", limit: PATIENCE }.run();
    let mut problems = match &finished.report {
        Ok(report) => check_report(report, header, finished.ended.code),
        Err(error) => vec![format!("no JSON report was written: {error}")],
    };
    problems.extend(finished.report.iter().flat_map(schema_problems));
    case.result(&problems, &finished)
}

fn findings(report: &Value) -> &[Value] {
    report["findings"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn check_report(report: &Value, header: &Header, code: Option<i32>) -> Vec<String> {
    let mut problems = Vec::new();
    if !report["problem"].is_null() {
        problems.push(format!("Fissure could not see: {}", report["problem"]));
    }
    let happened: Vec<&Value> =
        findings(report).iter().filter(|finding| finding["status"] != "warning").collect();
    for (claims, is_bug) in [(&header.must_be_bug, true), (&header.must_confirm, false)] {
        for claim in claims {
            let mut found = happened.iter().filter(|finding| claim.covers(finding)).peekable();
            if found.peek().is_none() {
                problems.push(format!("{claim} did not happen"));
            } else if is_bug && !found.any(|finding| finding["status"] == "bug") {
                problems.push(format!("{claim} broke nothing"));
            }
        }
    }
    for finding in &happened {
        let claims = header.must_be_bug.iter().chain(&header.must_confirm).chain(&header.may_confirm);
        if !claims.into_iter().any(|claim| claim.covers(finding)) {
            let (kind, subject) = (&finding["kind"], &finding["subject"]);
            problems.push(format!("false alarm: {kind} {subject} {}", finding["pattern"]));
        }
        let unit = finding["accesses"][0]["unit"].as_str();
        if let Some(only) = header.only_unit.as_deref().filter(|only| unit != Some(only)) {
            problems.push(format!("the violated unit is {unit:?}, not {only}"));
        }
        problems.extend(check_finding(finding));
    }
    if header.nothing_predicted && !findings(report).is_empty() {
        problems.push("something was predicted".to_owned());
    }
    let expected = i32::from(!happened.is_empty());
    if code != Some(expected) {
        problems.push(format!("Fissure ended with {code:?}, not {expected}"));
    }
    problems
}

/// A finding can be replayed, and has all its sites.
fn check_finding(finding: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let count = |name: &str| finding[name].as_array().map_or(0, Vec::len);
    if count("seeds") == 0 || count("schedules") == 0 || finding["hits"].as_u64() == Some(0) {
        problems.push("it names no seed or no schedule".to_owned());
    }
    if finding["kind"] == "atomic-set-violation" {
        let events = if finding["pattern"].as_u64() < Some(6) { 3 } else { 4 };
        if count("sites") != events || count("accesses") != events {
            problems.push("a site of an event is missing".to_owned());
        }
        let steps = finding["interleaving"]["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
        if steps.iter().filter(|step| step["role"].is_string()).count() != events {
            problems.push("an event is missing in the interleaving".to_owned());
        }
    } else if count("sites") != 2 {
        problems.push("a race has two sides".to_owned());
    }
    problems
}
