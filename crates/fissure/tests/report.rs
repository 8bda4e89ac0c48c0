//! `fissure report` and the report options from outside, on hand-written reports.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

/// A folder for one test.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn report(&self, name: &str, findings: &[Value]) {
        let report = json!({
            "schema": 1, "tool": {"name": "fissure", "version": "0.1.0"}, "command": ["java", "Main"],
            "runs": 1, "exits": {"0": 1}, "coverage": coverage(), "problem": null, "notices": [], "findings": findings,
        });
        self.write(name, &report.to_string());
    }

    fn fissure(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fissure"));
        command.args(line.split(' ')).current_dir(self.folder.path());
        command.env_remove("NO_COLOR").stdin(Stdio::null()).output().unwrap()
    }

    /// Checks the exit code and a text of standard output (standard error if the code is 2).
    fn check(&self, line: &str, code: i32, texts: &[&str]) {
        let output = self.fissure(line);
        let stream = if code == 2 { &output.stderr } else { &output.stdout };
        let flat = String::from_utf8_lossy(stream).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            output.status.code(),
            Some(code),
            "{line}: {flat} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        for text in texts {
            assert!(flat.contains(text), "{line}: no '{text}' in: {flat}");
        }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

fn coverage() -> Value {
    json!({
        "jvms": 1, "classes_loaded": 9, "classes_rewritten": 8, "classes_in_scope": 1, "classes_hidden": 0,
        "methods_rewritten": 7, "methods_left_alone": 0, "left_alone": [], "threads": 3, "threads_accessing": 2,
        "access_sites": 5, "lock_operations": 0, "locations": 4, "accesses_analysed": 6, "limits": {},
    })
}

fn race(id: &str, subject: &str, status: &str) -> Value {
    let site = |role: &str, thread: &str, line: u32| json!({"role": role, "thread": thread, "class": "Main", "method": "run", "file": "Main.java", "line": line, "stack": []});
    json!({
        "id": id, "kind": "data-race", "status": status, "analysis": "racer", "subject": subject, "hits": 2, "runs": 1,
        "consequence": null, "sites": [site("write", "T1", 2), site("read", "T2", 3)],
    })
}

#[test]
fn reports_are_merged() {
    let place = Place::new();
    place.report("a.json", &[race("1", "Main.x", "warning")]);
    place.report("b.json", &[race("1", "Main.x", "confirmed"), race("2", "Main.y", "warning")]);
    place.check(
        "report a.json b.json --json all.json",
        1,
        &["found 2 data races", "watched 2 JVMs", "in 2 of 2 runs"],
    );
    let all: Value = serde_json::from_str(&place.read("all.json")).unwrap();
    assert_eq!((&all["runs"], &all["exits"]["0"]), (&json!(2), &json!(2)));
    let found = &all["findings"][0];
    assert_eq!(
        (&found["status"], &found["hits"], &found["runs"]),
        (&json!("confirmed"), &json!(4), &json!(2))
    );
    assert_eq!(all["findings"].as_array().unwrap().len(), 2);
}

#[test]
fn every_format_is_written() {
    let place = Place::new();
    place.write("Main.java", "class Main {\n  int x = 1;\n  int y = x;\n}\n");
    place.report("a.json", &[race("1", "Main.x", "warning")]);
    place.check(
        "report a.json --html a.html --sarif a.sarif --junit a.xml",
        1,
        &["2 | int x = 1;", "found 1 data race"],
    );
    assert!(place.read("a.html").starts_with("<!doctype html>"));
    let sarif: Value = serde_json::from_str(&place.read("a.sarif")).unwrap();
    let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "Main.java");
    assert!(place.read("a.xml").contains("failures=\"1\""));
}

#[test]
fn only_findings_outside_the_baseline_fail() {
    let place = Place::new();
    place.report("old.json", &[race("1", "Main.x", "warning")]);
    place.report("new.json", &[race("1", "Main.x", "warning"), race("2", "Main.y", "warning")]);
    place.check("report old.json", 1, &[]);
    place.check(
        "report old.json --update-baseline --baseline known.json",
        0,
        &["the baseline known.json has 1 finding now", "found nothing new; 1 in the baseline"],
    );
    place.check("report old.json --baseline known.json", 0, &["found nothing new; 1 in the baseline"]);
    place.check(
        "report new.json --baseline known.json --junit new.xml",
        1,
        &["warning[data-race]: Main.y", "found 1 new data race; 1 in the baseline"],
    );
    assert!(
        !String::from_utf8_lossy(&place.fissure("report new.json --baseline known.json").stdout)
            .contains("Main.x")
    );
    assert!(place.read("new.xml").contains("tests=\"2\" skipped=\"1\" failures=\"1\""));
    place.report("worse.json", &[race("1", "Main.x", "confirmed")]);
    place.check("report worse.json --baseline known.json", 1, &["found 1 new data race"]);
}

#[test]
fn suppressions_have_reasons_and_unused_ones_are_noted() {
    let place = Place::new();
    place.report("a.json", &[race("1", "com.acme.Main.x", "warning")]);
    let used =
        "[[suppress]]\nsubject = \"Main.x\"\nkind = \"data-race\"\nreason = \"statistics may be wrong\"\n";
    place.write("fissure.toml", used);
    place.check("report a.json --sarif a.sarif", 0, &["found nothing; 1 suppressed"]);
    let sarif: Value = serde_json::from_str(&place.read("a.sarif")).unwrap();
    let suppression = &sarif["runs"][0]["results"][0]["suppressions"][0];
    assert_eq!(suppression["justification"], "statistics may be wrong");
    place.write("other.toml", "[[suppress]]\nsubject = \"Main.y\"\nreason = \"was fixed\"\n");
    place.check(
        "report a.json --config other.toml",
        1,
        &["the suppression of Main.y (\"was fixed\") matched nothing"],
    );
    place.write("fissure.toml", "[[suppress]]\nsubject = \"Main.x\"\n");
    place.check(
        "report a.json",
        2,
        &["fissure: the configuration fissure.toml cannot be used: line 1: a suppression needs a reason"],
    );
}

#[test]
fn the_configuration_may_name_the_baseline() {
    let place = Place::new();
    place.report("a.json", &[race("1", "Main.x", "warning")]);
    place.check("report a.json --update-baseline --baseline known.json", 0, &[]);
    place.write("fissure.toml", "baseline = \"known.json\"\n");
    place.check("report a.json", 0, &["found nothing new"]);
}

#[test]
fn fail_on_decides_which_findings_fail() {
    let place = Place::new();
    place.report("a.json", &[race("1", "Main.x", "confirmed")]);
    place.check("report a.json --fail-on confirmed", 1, &[]);
    place.check("report a.json --fail-on bug", 0, &["found 1 data race"]);
    place.check("report a.json --fail-on never", 0, &[]);
}

#[test]
fn files_that_are_no_reports_are_rejected() {
    let place = Place::new();
    place.report("a.json", &[]);
    place.write("text.json", "nonsense");
    place.write("newer.json", "{\"schema\": 9}");
    place.check("report", 2, &["required arguments were not provided"]);
    place.check("report missing.json", 2, &["fissure: cannot read the report missing.json: No such file"]);
    place.check("report .", 2, &["fissure: cannot read the report .:"]);
    place.check(
        "report text.json",
        2,
        &["fissure: cannot read the report text.json: it is not a Fissure report"],
    );
    place.check("report a.json newer.json", 2, &["newer.json: it has schema 9"]);
    place.check("report a.json --update-baseline", 2, &["add --baseline FILE"]);
    place.check(
        "report a.json --baseline none.json",
        2,
        &["the baseline none.json cannot be read", "--update-baseline"],
    );
    place.check(
        "report a.json --baseline text.json",
        2,
        &["the baseline text.json cannot be read (it is not a baseline"],
    );
    place.check(
        "report a.json --html no/where.html",
        2,
        &["--html no/where.html: the file cannot be written there"],
    );
    place.check("report a.json --sarif .", 2, &["--sarif .: the file cannot be written there"]);
}

#[test]
fn a_report_without_a_valid_result_stays_an_error() {
    let place = Place::new();
    let blind = json!({
        "schema": 1, "runs": 1, "exits": {}, "problem": "no JVM was started", "findings": [],
    });
    place.write("blind.json", &blind.to_string());
    let output = place.fissure("report blind.json --junit blind.xml");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("fissure: no JVM was started"));
    assert!(place.read("blind.xml").contains("errors=\"1\""));
    place.check("report blind.json --update-baseline --baseline b.json", 2, &["no baseline was written"]);
    assert!(!place.path("b.json").exists());
}

#[test]
fn a_pipe_that_its_reader_closes_is_no_error() {
    let place = Place::new();
    let findings: Vec<Value> =
        (0..500).map(|at| race(&format!("{at}"), &format!("Main.x{at}"), "warning")).collect();
    place.report("a.json", &findings);
    let line = format!(
        "{} report a.json --fail-on never | head -n 1; exit ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_fissure")
    );
    let output = Command::new("bash").args(["-c", &line]).current_dir(place.folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
