//! End to end: hunts in every program under `programs/hunt` with a few seeds, and compares the findings with the program's header.
//!
//! A header is a run of comment lines at the top of the source. Those that begin with `fissure:` are expectations:
//!
//! - `must-be-bug KIND SUBJECT`: made to happen, with a failure that no reference run shows.
//! - `must-confirm KIND SUBJECT`: made to happen.
//! - `must-warn KIND SUBJECT`: possible, and never made to happen.
//! - `program-exit CODE`: some run ends with it. Runs of programs without anything to find end with 0 or with these.
//! - `hunt OPTION…`, `java OPTION…`, `stdin LINE`: how Fissure and the program are run.
//!
//! A `*` at a subject's end stands for any rest. Any other confirmed finding is a false alarm.
//!
//! `FISSURE_TEST_JAVAS` (paths of `java`, separated by colons) adds JVMs to run on; `FISSURE_TEST_PROGRAMS` (a part
//! of a class name) selects programs.

#![allow(clippy::print_stdout, reason = "the counts belong to the tests' own output")]

mod common;

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::Value;

use common::{agent, javas, jdk_tool, schema_problems};

/// Programs that are hunted in at the same time, each with one JVM after the other.
const WORKERS: usize = 2;

/// Enough to try the goals that the reference runs show.
const RUNS_FOR_BROKEN: &str = "6";
/// The limit for programs with bugs only, whose hunt ends at the first of them.
const RUNS_FOR_BUGS: &str = "16";
/// A false alarm shows in the first runs.
const RUNS_FOR_CORRECT: &str = "4";

/// Failures of these programs that do not depend on the schedule show in every run, unless the header asks for more runs.
const REFERENCE_RUNS: &str = "2";

/// JVMs start faster with these options, on which the findings do not depend.
const QUICK_START: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// The expectations of a header.
#[derive(Debug, Default)]
struct Expectations {
    bugs: Vec<Claim>,
    confirmed: Vec<Claim>,
    warnings: Vec<Claim>,
    exits: Vec<String>,
    hunt_options: Vec<String>,
    java_options: Vec<String>,
    stdin: String,
}

/// A finding that a header names.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    kind: String,
    subject: String,
}

/// One source file with a `main` method.
#[derive(Debug)]
struct Program {
    path: PathBuf,
    class: String,
    expectations: Expectations,
}

/// The folders that the tests use.
struct Setting {
    classes: PathBuf,
    agent: PathBuf,
}

#[test]
fn violations_are_made_to_happen_and_correct_twins_are_clean() {
    let mut programs = programs();
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs/hunt");
    compile(&programs, &classes);
    if let Ok(part) = env::var("FISSURE_TEST_PROGRAMS") {
        programs.retain(|program| program.class.contains(&part));
    }
    let setting = Setting { classes, agent: agent() };
    let javas = javas();
    let jobs: Vec<(&Program, &Path)> =
        javas.iter().flat_map(|java| programs.iter().map(move |program| (program, java.as_path()))).collect();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((program, java)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failure = setting.check(program, java);
                    failures.lock().unwrap_or_else(PoisonError::into_inner).extend(failure);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{} programs, {} JVMs, {} failures", programs.len(), javas.len(), failures.len());
    assert!(failures.is_empty(), "{} failures:\n\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_broken_program_has_a_correct_twin() {
    let programs = programs();
    let find = |class: &str| programs.iter().find(|program| program.class == class);
    for program in &programs {
        let is_broken = program.expectations.is_broken();
        match program.class.strip_suffix("Fixed") {
            Some(broken) => {
                assert!(!is_broken, "{} is a correct twin, nothing may be found in it", program.class);
                assert!(find(broken).is_some(), "{} is the twin of nothing", program.class);
            }
            None if is_broken => {
                let twin = format!("{}Fixed", program.class);
                assert!(find(&twin).is_some(), "{} has no twin {twin}", program.class);
            }
            None => {}
        }
    }
}

#[test]
fn headers_are_parsed() {
    let text = "// Words.\n// fissure: must-be-bug deadlock a.B$C.d\n// fissure: must-warn atomicity-violation E.f:*\n\
                // fissure: program-exit 3\n// fissure: java -Xmx16m -Xint\n// fissure: stdin two words\nclass B {}";
    let expectations = parse_header(text).unwrap();
    assert_eq!(expectations.bugs, [claim("deadlock", "a.B$C.d")]);
    assert_eq!(expectations.warnings, [claim("atomicity-violation", "E.f:*")]);
    assert_eq!(expectations.exits, ["3"]);
    assert_eq!(expectations.java_options, ["-Xmx16m", "-Xint"]);
    assert_eq!(expectations.stdin, "two words\n");
    for nonsense in ["must-be-bug X.y", "must-confirm data-race", "confirm deadlock X.y", "program-exit"] {
        assert!(parse_header(&format!("// fissure: {nonsense}\n")).is_err(), "{nonsense}");
    }
}

impl Setting {
    /// Hunts in one program on one JVM; gives its problems as one block of text.
    fn check(&self, program: &Program, java: &Path) -> Option<String> {
        let expectations = &program.expectations;
        let report = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        let is_done_with_one = expectations.bugs.len() == 1
            && expectations.confirmed.is_empty()
            && expectations.warnings.is_empty();
        let runs = match expectations.is_broken() {
            true if is_done_with_one => RUNS_FOR_BUGS,
            true => RUNS_FOR_BROKEN,
            false => RUNS_FOR_CORRECT,
        };
        let mut command = common::fissure();
        command.args(["hunt", "--runs", runs, "--no-minimise"]);
        if !expectations.hunt_options.iter().any(|option| option == "--reference-runs") {
            command.args(["--reference-runs", REFERENCE_RUNS]);
        }
        if is_done_with_one {
            command.arg("--until-bug");
        }
        command.args(["--jobs", "1", "--json"]).arg(report.path());
        command.args(&expectations.hunt_options).arg("--").arg(java).args(QUICK_START);
        command.args(&expectations.java_options).arg("-cp").arg(&self.classes).arg(&program.class);
        command.env("FISSURE_AGENT", &self.agent);
        let output = run(&mut command, &expectations.stdin);
        let problems = match serde_json::from_slice(&fs::read(report.path()).unwrap_or_default()) {
            Ok(report) => check_report(&report, expectations, output.status.code()),
            Err(error) => vec![format!("no JSON report was written: {error}")],
        };
        (!problems.is_empty()).then(|| block(program, java, &problems, &output))
    }
}

fn check_report(report: &Value, expectations: &Expectations, code: Option<i32>) -> Vec<String> {
    let mut problems = Vec::new();
    if !report["problem"].is_null() {
        problems.push(format!("Fissure could not see: {}", report["problem"]));
    }
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (possible, happened): (Vec<&Value>, Vec<&Value>) =
        findings.iter().partition(|finding| finding["status"] == "warning");
    for claim in &expectations.bugs {
        match happened.iter().find(|finding| claim.covers(finding)) {
            Some(finding) if finding["status"] == "bug" => problems.extend(check_finding(finding)),
            Some(_) => problems.push(format!("{} {} broke nothing", claim.kind, claim.subject)),
            None => problems.push(format!("{} {} did not happen", claim.kind, claim.subject)),
        }
    }
    for claim in &expectations.confirmed {
        match happened.iter().find(|finding| claim.covers(finding)) {
            Some(finding) => problems.extend(check_finding(finding)),
            None => problems.push(format!("{} {} did not happen", claim.kind, claim.subject)),
        }
    }
    for claim in &expectations.warnings {
        if !possible.iter().any(|finding| claim.covers(finding)) {
            problems.push(format!("{} {} was not reported as possible", claim.kind, claim.subject));
        }
    }
    for finding in &happened {
        let mut claims = expectations.bugs.iter().chain(&expectations.confirmed);
        if !claims.any(|claim| claim.covers(finding)) {
            problems.push(format!("false alarm: {} {}", finding["kind"], finding["subject"]));
        }
    }
    let expected = i32::from(!happened.is_empty());
    if code != Some(expected) && report["problem"].is_null() {
        problems.push(format!("Fissure ended with {code:?}, not {expected}"));
    }
    problems.extend(check_exits(report, expectations));
    problems.extend(schema_problems(report));
    problems
}

fn check_exits(report: &Value, expectations: &Expectations) -> Vec<String> {
    let mut problems = Vec::new();
    let exits: Vec<&str> =
        report["exits"].as_object().map_or(Vec::new(), |exits| exits.keys().map(String::as_str).collect());
    for code in &expectations.exits {
        if !exits.contains(&code.as_str()) {
            problems.push(format!("no run ended with {code}"));
        }
    }
    if expectations.bugs.is_empty() {
        for code in exits.iter().filter(|code| **code != "0") {
            if !expectations.exits.iter().any(|expected| expected == code) {
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

impl Expectations {
    fn is_broken(&self) -> bool {
        !self.bugs.is_empty() || !self.confirmed.is_empty()
    }
}

impl Claim {
    fn covers(&self, finding: &Value) -> bool {
        let subject = finding["subject"].as_str().unwrap_or_default();
        let subject_matches = match self.subject.strip_suffix('*') {
            Some(start) => subject.starts_with(start),
            None => subject == self.subject,
        };
        subject_matches && finding["kind"] == *self.kind
    }
}

fn claim(kind: &str, subject: &str) -> Claim {
    Claim { kind: kind.to_owned(), subject: subject.to_owned() }
}

fn block(program: &Program, java: &Path, problems: &[String], output: &Output) -> String {
    let mut text = format!("{} ({})\n", program.path.display(), java.display());
    for problem in problems {
        text.push_str(&format!("  - {problem}\n"));
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = stderr.lines().collect();
    text.push_str("  the end of stderr:\n");
    for line in &lines[lines.len().saturating_sub(15)..] {
        text.push_str(&format!("    | {line}\n"));
    }
    text
}

/// Runs Fissure to its end; Fissure ends programs that hang.
fn run(command: &mut Command, stdin: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start Fissure: {error}"));
    if let Some(mut pipe) = child.stdin.take() {
        // Fissure need not read its input, and may have ended by now.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    child.wait_with_output().expect("Fissure can be waited for")
}

fn programs() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/hunt");
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let mut programs: Vec<Program> = entries
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "java"))
        .map(read_program)
        .collect();
    programs.sort_by(|one, other| one.class.cmp(&other.class));
    programs
}

fn read_program(path: PathBuf) -> Program {
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let expectations = parse_header(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
    let class = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Program { path, class, expectations }
}

/// Reads the expectations of a header; an unknown expectation is a mistake in the program.
fn parse_header(text: &str) -> Result<Expectations, String> {
    let mut expectations = Expectations::default();
    for line in text.lines().take_while(|line| line.starts_with("//")) {
        let Some(directive) = line.strip_prefix("// fissure: ") else { continue };
        let words: Vec<&str> = directive.split_whitespace().collect();
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        match words.as_slice() {
            ["must-be-bug", kind, subject] => expectations.bugs.push(claim(kind, subject)),
            ["must-confirm", kind, subject] => expectations.confirmed.push(claim(kind, subject)),
            ["must-warn", kind, subject] => expectations.warnings.push(claim(kind, subject)),
            ["program-exit", code] => expectations.exits.push((*code).to_owned()),
            ["hunt", options @ ..] => expectations.hunt_options = owned(options),
            ["java", options @ ..] => expectations.java_options = owned(options),
            ["stdin", words @ ..] => expectations.stdin = format!("{}\n", words.join(" ")),
            _ => return Err(format!("this line of the header is not understood: {line}")),
        }
    }
    Ok(expectations)
}

fn compile(programs: &[Program], classes: &Path) {
    assert!(!programs.is_empty(), "there are no programs to hunt in");
    if classes.exists() {
        fs::remove_dir_all(classes).expect("old classes can be removed");
    }
    fs::create_dir_all(classes).expect("a folder for the classes can be made");
    let output = Command::new(jdk_tool("javac"))
        .args(["--release", "11", "-g", "-nowarn", "-d"])
        .arg(classes)
        .args(programs.iter().map(|program| &program.path))
        .output()
        .expect("javac can be started");
    assert!(output.status.success(), "javac refused:\n{}", String::from_utf8_lossy(&output.stderr));
}
