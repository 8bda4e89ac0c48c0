//! The table of all runs: whether they went as they should, what they cost, and what was found.

use std::path::Path;

use serde_json::Value;

use super::{
    Mode,
    bars::Bar,
    catalog::{Program, Triage, Verdict},
    process::Run,
};

/// One run of a program.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) program: String,
    java: String,
    pub(crate) mode: Mode,
    seconds: f64,
    /// To the plain run.
    time_ratio: f64,
    memory_ratio: f64,
    coverage: String,
    pub(crate) findings: Vec<Found>,
    /// Why the run is not as it should be.
    pub(crate) problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) subject: String,
    pub(crate) is_ordered: bool,
    /// Whether the finding is about a class of the driver.
    pub(crate) is_of_driver: bool,
}

impl Row {
    pub(crate) fn new(
        program: &Program,
        java: &Path,
        mode: Mode,
        run: &Run,
        plain: Option<&Run>,
        report: Option<Value>,
    ) -> Self {
        let report = report.unwrap_or_default();
        let mut problems = Vec::new();
        if run.is_hung {
            problems.push(format!("did not end within {} s", run.elapsed.as_secs()));
        }
        if let Some(plain) = plain {
            // A hunt shows no output of the program; its exit codes are in the report.
            if matches!(mode, Mode::Detect | Mode::Library) && run.stdout != plain.stdout {
                problems.push(format!("printed {:?} instead of {:?}", run.stdout, plain.stdout));
            }
            let code = plain.code.unwrap_or(-1).to_string();
            let others: Vec<&String> = report["exits"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(exit, _)| exit)
                .filter(|exit| **exit != code)
                .collect();
            if !others.is_empty() {
                problems.push(format!("ended with exit code {others:?} instead of {code}"));
            }
            if report["exits"].is_null() && !run.is_hung {
                problems.push(format!("wrote no report: {}", last_line(&run.stderr)));
            }
            for error in report["internal_errors"].as_array().into_iter().flatten() {
                problems.push(format!("Fissure itself failed: {error}"));
            }
            if run.stderr.contains("A fatal error has been detected by the Java Runtime") {
                problems.push("the JVM crashed".to_owned());
            }
        } else if run.code != Some(0) {
            problems.push(format!("fails without Fissure: {}", last_line(&run.stderr)));
        }
        let findings: Vec<Found> = report["findings"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|finding| found(finding, program))
            .collect();
        for finding in findings.iter().filter(|finding| finding.status == "bug") {
            problems
                .push(format!("a driver that is correct has a bug: {} {}", finding.kind, finding.subject));
        }
        let plain = plain.unwrap_or(run);
        let count = |key: &str| report["coverage"][key].as_u64().unwrap_or_default();
        let coverage = match mode {
            Mode::Plain => String::new(),
            _ => format!(
                "{} of {} classes, {} threads",
                count("classes_in_scope"),
                count("classes_loaded"),
                count("threads")
            ),
        };
        Row {
            program: program.name.clone(),
            java: version(java),
            mode,
            seconds: run.elapsed.as_secs_f64(),
            time_ratio: run.elapsed.as_secs_f64() / plain.elapsed.as_secs_f64(),
            memory_ratio: run.memory as f64 / plain.memory.max(1) as f64,
            coverage,
            findings,
            problems,
        }
    }
}

/// The whole table, in Markdown.
pub(crate) fn render(rows: &[Row], untried: &[String], triage: &[Triage], bars: &[Bar]) -> String {
    let mut text = String::from(
        "| program | JVM | mode | as plain | seconds | time | memory | watched | findings |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let is_right = if row.problems.is_empty() { "yes" } else { "NO" };
        let counting = row.findings.iter().filter(|found| !found.is_ordered).count();
        text.push_str(&format!(
            "| {} | {} | {} | {is_right} | {:.1} | {:.1}x | {:.1}x | {} | {counting} |\n",
            row.program,
            row.java,
            row.mode.name(),
            row.seconds,
            row.time_ratio,
            row.memory_ratio,
            row.coverage,
        ));
    }
    text.push_str("\n| program | mode | finding | triage |\n|---|---|---|---|\n");
    let mut told: Vec<(&str, &Found)> = Vec::new();
    for row in rows {
        for finding in row.findings.iter().filter(|found| !found.is_ordered) {
            if told.contains(&(row.program.as_str(), finding)) {
                continue;
            }
            told.push((&row.program, finding));
            let Found { kind, status, subject, .. } = finding;
            text.push_str(&format!(
                "| {} | {} | {status} {kind} {subject} | {} |\n",
                row.program,
                row.mode.name(),
                judgement(&row.program, subject, triage)
            ));
        }
    }
    for bar in bars {
        text.push_str(&format!("\nBar {}: {}\n", if bar.is_met { "met" } else { "NOT MET" }, bar.text));
    }
    for reason in untried {
        text.push_str(&format!("\nNot tried: {reason}\n"));
    }
    for row in rows.iter().filter(|row| !row.problems.is_empty()) {
        let (mode, problems) = (row.mode.name(), row.problems.join("; "));
        text.push_str(&format!(
            "\nNot as it should be: {} under {mode} on {}: {problems}\n",
            row.program, row.java
        ));
    }
    text
}

fn judgement(program: &str, subject: &str, triage: &[Triage]) -> String {
    let Some(known) = triage.iter().find(|known| known.is_about(program, subject)) else {
        return "not triaged".to_owned();
    };
    let verdict = match known.verdict {
        Verdict::Real => "real",
        Verdict::Benign => "benign",
        Verdict::False => "FALSE",
        Verdict::HandedOver => "FALSE, handed over",
    };
    format!("{verdict}: {}", known.why)
}

fn found(finding: &Value, program: &Program) -> Found {
    let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let subject = text("subject");
    let is_of_driver = program.has_class(&subject);
    Found {
        kind: text("kind"),
        status: text("status"),
        subject,
        is_ordered: finding["ordered"] == true,
        is_of_driver,
    }
}

fn last_line(text: &str) -> &str {
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing was said")
}

/// The name of the JDK's folder.
fn version(java: &Path) -> String {
    let java = java.canonicalize().unwrap_or_else(|_| java.to_owned());
    let home = java.parent().and_then(Path::parent);
    home.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn run(code: i32, stdout: &str) -> Run {
        Run {
            elapsed: Duration::from_secs(2),
            memory: 100,
            code: Some(code),
            stdout: stdout.to_owned(),
            stderr: String::new(),
            is_hung: false,
        }
    }

    fn check(run: &Run, report: Value, expected: &[&str]) {
        let program = Program {
            name: "p".to_owned(),
            driver: String::new(),
            main: String::new(),
            artifacts: Vec::new(),
            compiler: Vec::new(),
            scope: None,
            quick: false,
        };
        let plain = super::tests::run(0, "sum 4\n");
        let row =
            Row::new(&program, Path::new("/jdk-17/bin/java"), Mode::Detect, run, Some(&plain), Some(report));
        assert_eq!(row.problems.len(), expected.len(), "{:?}", row.problems);
        for (problem, part) in row.problems.iter().zip(expected) {
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn runs_that_differ_from_the_plain_run_are_noticed() {
        let right = json!({"exits": {"0": 1}, "findings": []});
        check(&run(0, "sum 4\n"), right.clone(), &[]);
        check(&run(0, "sum 5\n"), right.clone(), &["printed"]);
        check(&run(1, "sum 4\n"), json!({"exits": {"3": 1}, "findings": []}), &["exit code"]);
        check(&run(2, "sum 4\n"), Value::Null, &["wrote no report"]);
        let failed = json!({"exits": {"0": 1}, "findings": [], "internal_errors": ["panicked"]});
        check(&run(2, "sum 4\n"), failed, &["Fissure itself failed"]);
        check(&Run { is_hung: true, ..run(0, "sum 4\n") }, right, &["did not end"]);
        let bug =
            json!({"exits": {"0": 1}, "findings": [{"kind": "deadlock", "status": "bug", "subject": "A"}]});
        check(&run(1, "sum 4\n"), bug, &["has a bug"]);
    }

    #[test]
    fn findings_have_their_triage() {
        let triage = [Triage {
            program: "p".to_owned(),
            subject: "A.x".to_owned(),
            verdict: Verdict::Benign,
            why: "a cached hash".to_owned(),
        }];
        assert_eq!(judgement("p", "A.x", &triage), "benign: a cached hash");
        assert_eq!(judgement("p", "A.y", &triage), "not triaged");
    }
}
