//! End to end: runs every program under `programs/` with `fissure detect`, and compares the findings with the program's header.
//!
//! A header is a run of comment lines at the top of the source. Those that begin with `fissure:` are expectations:
//!
//! - `must-find ANALYSIS KIND SUBJECT`: reported, and not as ordered. A `*` at the subject's end stands for any rest.
//! - `may-find ANALYSIS KIND SUBJECT`: depends on the schedule, so both results are right.
//! - `must-find-ordered ANALYSIS SUBJECT`: reported as ordered by thread start or join.
//! - `must-not-find-ordered SUBJECT`: not even reported as ordered. Other ordered findings are always right.
//! - `rule RULE SUBJECT`: Atomizer does not report the block because of this rule, and reports it without the rule.
//! - `must-leave-alone CLASS`: the coverage lists the class as not instrumented.
//! - `static-fields NUMBER`: so many plain fields are left to watch with `--static`.
//! - `detect OPTION…`: Fissure's options beside the analysis.
//! - `release NUMBER`: it is compiled for this release, and older JVMs do not run it.
//! - `service NAME CLASS`: the class is registered as a provider of the service.
//! - `program-exit CODE`, `java OPTION…`, `args ARGUMENT…`, `stdin LINE`: how the program runs and ends.
//!
//! Any other finding that is not ordered is a false alarm. Programs in `race` and `atomicity` print `done`; those in
//! `behaviour` run without Fissure first and must behave the same under it.
//!
//! Each program runs twice, with different analyses; the first run also checks the claims of the static analysis against the accesses of
//! the threads. A third run has `--static`, which must not change the findings. Programs in `sharing` have no second run.
//!
//! `FISSURE_TEST_JAVAS` (paths of `java`, separated by colons) adds JVMs to run on; `FISSURE_TEST_PROGRAMS` (a part
//! of a class name) selects programs.

#![allow(clippy::print_stdout, reason = "the counts belong to the tests' own output")]

mod common;

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    io::Write,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use common::{agent, javas, jdk_tool, schema_problems};

/// JVMs that run at the same time; more would only slow each other down on small machines.
const WORKERS: usize = 2;

/// No program takes a tenth of this; one that takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The analyses that headers may name.
const ANALYSES: [&str; 3] = ["racer", "eraser", "atomizer"];

/// The analyses of each run of a program. Several analyses are one run.
const RUNS: [&str; 2] = ["racer,atomizer", "eraser"];
/// The same for programs about atomic blocks.
const ATOMICITY_RUNS: [&str; 2] = ["racer,atomizer", "atomizer"];

/// The same for programs about the static analysis, for which only runs with it matter.
const SHARING_RUNS: [&str; 1] = ["racer"];

/// JVMs start faster with these options. Only runs with the static analysis have them; all others have the JVM's defaults.
const QUICK_START: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// The folders are tested one after the other, so that there are never more than [`WORKERS`] JVMs.
static TURN: Mutex<()> = Mutex::new(());

/// The expectations of a header.
#[derive(Debug, Default)]
struct Expectations {
    must_find: Vec<Claim>,
    may_find: Vec<Claim>,
    must_find_ordered: Vec<Claim>,
    must_not_find_ordered: Vec<String>,
    must_leave_alone: Vec<String>,
    /// How many plain fields are left to watch with `--static`.
    static_fields: Option<u64>,
    /// Rules of Atomizer, and the finding without each.
    rules: Vec<(String, String)>,
    program_exit: i32,
    detect_options: Vec<String>,
    java_options: Vec<String>,
    arguments: Vec<String>,
    stdin: String,
    /// The release to compile for, if not the oldest.
    release: Option<u32>,
    /// Services, and the classes that provide them.
    services: Vec<(String, String)>,
}

/// The release that programs are compiled for by default.
const OLDEST: u32 = 11;

/// A finding that a header names.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    analysis: String,
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

/// How a process ended and its output.
struct Ended {
    /// The exit code as a shell shows it: 128 plus the signal's number for a death by signal. `None` if it had to be stopped.
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// The settings for all programs of a folder.
struct Folder {
    programs: Vec<Program>,
    classes: PathBuf,
    javas: Vec<PathBuf>,
    agent: PathBuf,
    /// Whether the programs are compared with a run without Fissure.
    compared: bool,
    runs: Vec<&'static str>,
}

#[test]
fn races_are_found_and_correct_twins_are_clean() {
    check_folder("race", false, RUNS);
}

#[test]
fn atomicity_violations_are_found_and_correct_twins_are_clean() {
    check_folder("atomicity", false, ATOMICITY_RUNS);
}

#[test]
fn programs_behave_as_without_fissure() {
    check_folder("behaviour", true, RUNS);
}

#[test]
fn unusual_ways_of_sharing_are_never_missed() {
    check_folder("sharing", false, SHARING_RUNS);
}

#[test]
fn every_buggy_program_has_a_correct_twin() {
    check_twins("race");
    check_twins("atomicity");
}

fn check_twins(folder: &str) {
    let programs = programs_in(&programs_folder(folder));
    let (fixed, buggy): (Vec<&Program>, Vec<&Program>) =
        programs.iter().partition(|program| program.class.ends_with("Fixed"));
    for program in &buggy {
        let twin = format!("{}Fixed", program.class);
        assert!(fixed.iter().any(|fixed| fixed.class == twin), "{} has no twin {twin}", program.class);
        assert!(!program.expectations.must_find.is_empty(), "{} must have something to find", program.class);
    }
    for program in &fixed {
        let expectations = &program.expectations;
        // A program without races may have atomicity violations.
        let counts = |claim: &Claim| folder != "race" || claim.analysis != "atomizer";
        assert!(
            !expectations.must_find.iter().chain(&expectations.may_find).any(counts),
            "{} is a correct twin, nothing may be found in it",
            program.class
        );
    }
    assert_eq!(buggy.len(), fixed.len(), "each correct twin belongs to a buggy program");
}

#[test]
fn headers_are_parsed() {
    let text = "// Words.\n// fissure: must-find racer data-race a.B$C.d\n// fissure: must-find-ordered eraser E.f\n\
                // fissure: program-exit 3\n// fissure: java -Xmx16m -Xint\n// fissure: stdin two words\nclass B {}";
    let expectations = parse_header(text).unwrap();
    assert_eq!(expectations.must_find, [claim("racer", "data-race", "a.B$C.d")]);
    assert_eq!(expectations.must_find_ordered, [claim("eraser", "data-race", "E.f")]);
    assert_eq!(expectations.program_exit, 3);
    assert_eq!(expectations.java_options, ["-Xmx16m", "-Xint"]);
    assert_eq!(expectations.stdin, "two words\n");
    for nonsense in ["must-find X.y", "must-find magic data-race X.y", "find racer X.y", "program-exit zero"]
    {
        assert!(parse_header(&format!("// fissure: {nonsense}\n")).is_err(), "{nonsense}");
    }
}

/// Compiles a folder, runs each of its programs in each JVM, and fails with one block for each program that differs from its
/// header.
fn check_folder(name: &str, compared: bool, runs: impl Into<Vec<&'static str>>) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let sources = programs_folder(name);
    let mut programs = programs_in(&sources);
    assert!(!programs.is_empty(), "no programs in {}", sources.display());
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(name);
    compile(&programs, &classes);
    if let Ok(part) = env::var("FISSURE_TEST_PROGRAMS") {
        programs.retain(|program| program.class.contains(&part));
    }
    let folder = Folder { programs, classes, javas: javas(), agent: agent(), compared, runs: runs.into() };
    let jobs: Vec<(&Program, &Path)> = folder
        .javas
        .iter()
        .flat_map(|java| {
            let version = common::java_version(java);
            let runs = move |program: &&Program| program.expectations.release.unwrap_or(OLDEST) <= version;
            folder.programs.iter().filter(runs).map(move |program| (program, java.as_path()))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((program, java)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = folder.check(program, java);
                    failures.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!(
        "{name}: {} programs, {} runs, {} JVMs, {} failures",
        folder.programs.len(),
        folder.runs.len(),
        folder.javas.len(),
        failures.len()
    );
    assert!(failures.is_empty(), "{} failures:\n\n{}", failures.len(), failures.join("\n"));
}

impl Folder {
    /// Runs one program in one JVM, with all analyses; gives its problems as blocks of text.
    fn check(&self, program: &Program, java: &Path) -> Vec<String> {
        let expectations = &program.expectations;
        let mut command = vec![java.as_os_str().to_owned()];
        command.extend(expectations.java_options.iter().map(OsString::from));
        command.extend(["-cp".into(), self.classes.as_os_str().to_owned(), OsString::from(&program.class)]);
        command.extend(expectations.arguments.iter().map(OsString::from));
        let plain = self.compared.then(|| run(&command, &expectations.stdin, None));
        let mut failures = Vec::new();
        // A run that checks the claims of the static analysis watches everything as well.
        let with = |option| (self.runs[0], Some(option));
        let without = self.runs[1..].iter().map(|analysis| (*analysis, None));
        let modes = [with("--check-static"), with("--static")].into_iter().chain(without);
        for (analysis, option) in modes {
            // Atomizer looks for other orders of events, so it does not run where the order is fixed.
            let is_ordered = expectations.detect_options.iter().any(|option| option == "happens-before");
            let analysis = if is_ordered { analysis.trim_end_matches(",atomizer") } else { analysis };
            let report = tempfile::NamedTempFile::new().expect("a temporary file can be made");
            let mut watched: Vec<OsString> = vec![env!("CARGO_BIN_EXE_fissure").into(), "detect".into()];
            watched.extend(["--analysis".into(), analysis.into(), "--json".into(), report.path().into()]);
            watched.extend(option.map(OsString::from));
            watched.extend(expectations.detect_options.iter().map(OsString::from));
            watched.extend(["--".into(), command[0].clone()]);
            if option.is_some() && expectations.java_options.is_empty() {
                watched.extend(QUICK_START.map(OsString::from));
            }
            watched.extend(command[1..].iter().cloned());
            let ended = run(&watched, &expectations.stdin, Some(&self.agent));
            let mut problems = check_streams(&ended, plain.as_ref(), expectations);
            match serde_json::from_slice(&fs::read(report.path()).unwrap_or_default()) {
                Ok(report) => {
                    problems.extend(check_report(&report, expectations, analysis));
                    problems.extend(check_verdict(&report, &ended, self.compared, expectations.program_exit));
                    problems.extend(option.into_iter().flat_map(|_| check_static(&report, expectations)));
                    problems.extend(schema_problems(&report));
                }
                Err(error) => problems.push(format!("no JSON report was written: {error}")),
            }
            if !problems.is_empty() {
                let run = format!("{analysis} {}", option.unwrap_or_default());
                failures.push(block(program, java, &run, &problems, &ended));
            }
        }
        for (rule, subject) in &expectations.rules {
            failures.extend(self.check_rule(program, java, &command, rule, subject));
        }
        failures
    }

    /// Runs a program without a rule of Atomizer: the finding that the rule suppresses must be reported.
    fn check_rule(
        &self,
        program: &Program,
        java: &Path,
        command: &[OsString],
        rule: &str,
        subject: &str,
    ) -> Option<String> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        let mut watched: Vec<OsString> = vec![env!("CARGO_BIN_EXE_fissure").into(), "detect".into()];
        watched.extend(["--analysis", "atomizer", "--atomizer-without", rule, "--json"].map(OsString::from));
        watched.push(file.path().into());
        watched.extend(program.expectations.detect_options.iter().map(OsString::from));
        watched.push("--".into());
        watched.extend(command.iter().cloned());
        let ended = run(&watched, "", Some(&self.agent));
        let report: Value =
            serde_json::from_slice(&fs::read(file.path()).unwrap_or_default()).unwrap_or_default();
        let wanted = claim("atomizer", "atomicity-violation", subject);
        let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
        if findings.iter().any(|finding| wanted.covers(finding)) {
            return None;
        }
        let problem = format!("{subject} is not found without the rule {rule}");
        Some(block(program, java, "atomizer", &[problem], &ended))
    }
}

/// Compares the program's output under Fissure with its output without Fissure, or with `done`.
fn check_streams(ended: &Ended, plain: Option<&Ended>, expectations: &Expectations) -> Vec<String> {
    let mut problems = Vec::new();
    let expected_stdout = plain.map_or(b"done\n".as_slice(), |plain| &plain.stdout);
    if ended.code.is_none() {
        problems.push(format!("it did not end within {} s", PATIENCE.as_secs()));
    }
    if ended.stdout != expected_stdout {
        problems.push(format!("stdout differs: {}", first_difference(expected_stdout, &ended.stdout)));
    }
    if let Some(plain) = plain {
        if plain.code != Some(expectations.program_exit) {
            problems.push(format!("without Fissure the program ended with {:?}", plain.code));
        }
        if !ended.stderr.starts_with(&plain.stderr) {
            let shared = &ended.stderr[..plain.stderr.len().min(ended.stderr.len())];
            problems.push(format!("stderr differs: {}", first_difference(&plain.stderr, shared)));
        }
    }
    problems
}

/// Compares the findings, the exit codes and the classes that were not instrumented with the header.
fn check_report(report: &Value, expectations: &Expectations, run: &str) -> Vec<String> {
    let is_run = |claim: &&Claim| run.split(',').any(|analysis| analysis == claim.analysis);
    let mut problems = Vec::new();
    let exits = serde_json::json!({ expectations.program_exit.to_string(): 1 });
    if report["exits"] != exits {
        problems.push(format!("the report's exits are {}, not {exits}", report["exits"]));
    }
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (ordered, unordered): (Vec<&Value>, Vec<&Value>) =
        findings.iter().partition(|finding| finding["ordered"] == true);
    for claim in expectations.must_find.iter().filter(is_run) {
        match unordered.iter().find(|finding| claim.covers(finding)) {
            Some(finding) if claim.kind == "data-race" => problems.extend(check_sites(finding)),
            Some(finding) => problems.extend(check_explanation(finding)),
            None => problems.push(format!("{} {} was not found", claim.kind, claim.subject)),
        }
    }
    for claim in expectations.must_find_ordered.iter().filter(is_run) {
        if !ordered.iter().any(|finding| claim.covers(finding)) {
            problems.push(format!("{} was not found as ordered", claim.subject));
        }
    }
    let mut seen: Vec<[&Value; 4]> = Vec::new();
    for finding in unordered {
        let mut listed = expectations.must_find.iter().chain(&expectations.may_find);
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
        if expectations.must_not_find_ordered.iter().any(|subject| finding["subject"] == **subject) {
            problems.push(format!(
                "found as ordered, though it is not to be found at all: {}",
                describe(finding)
            ));
        }
    }
    let left_alone = report["coverage"]["left_alone"].as_array().map(Vec::as_slice).unwrap_or_default();
    for class in &expectations.must_leave_alone {
        if !left_alone.iter().any(|left| left["class"] == **class) {
            problems.push(format!("the coverage does not list {class} as left alone"));
        }
    }
    problems
}

/// Checks the claims of the static analysis: no location that it left out was accessed by two threads.
fn check_static(report: &Value, expectations: &Expectations) -> Vec<String> {
    let coverage = &report["coverage"];
    let mut problems = Vec::new();
    for limit in coverage["limits"].as_object().into_iter().flat_map(|limits| limits.keys()) {
        if limit.starts_with("called thread-local") {
            problems.push(limit.clone());
        }
    }
    let watched = &coverage["static"]["fields_watched"];
    if let Some(expected) = expectations.static_fields.filter(|&expected| *watched != expected) {
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
fn check_verdict(report: &Value, ended: &Ended, may_be_blind: bool, program_exit: i32) -> Vec<String> {
    let mut problems = Vec::new();
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let counts = findings.iter().any(|finding| finding["ordered"] != true);
    let blind = !report["problem"].is_null();
    let expected = if blind { 2 } else { i32::from(counts) };
    if ended.code.is_some_and(|code| code != expected) {
        problems.push(format!("Fissure ended with {:?}, not {expected}", ended.code));
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

impl Claim {
    fn covers(&self, finding: &Value) -> bool {
        let subject = finding["subject"].as_str().unwrap_or_default();
        let subject_matches = match self.subject.strip_suffix('*') {
            Some(start) => subject.starts_with(start),
            None => subject == self.subject,
        };
        subject_matches && finding["analysis"] == *self.analysis && finding["kind"] == *self.kind
    }
}

fn claim(analysis: &str, kind: &str, subject: &str) -> Claim {
    Claim { analysis: analysis.to_owned(), kind: kind.to_owned(), subject: subject.to_owned() }
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

/// The first line in which two texts differ.
fn first_difference(expected: &[u8], actual: &[u8]) -> String {
    let (expected, actual) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(actual));
    let (mut left, mut right) = (expected.lines(), actual.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return "only in their line breaks".to_owned(),
            (one, other) if one == other => {}
            (one, other) => {
                let show = |line: Option<&str>| line.map_or("its end".to_owned(), |line| format!("'{line}'"));
                return format!("expected {}, got {}", show(one), show(other));
            }
        }
    }
}

fn block(program: &Program, java: &Path, analysis: &str, problems: &[String], ended: &Ended) -> String {
    let mut text = format!("{} ({analysis}, {})\n", program.path.display(), java.display());
    for problem in problems {
        text.push_str(&format!("  - {problem}\n"));
    }
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let lines: Vec<&str> = stderr.lines().collect();
    text.push_str("  the end of stderr:\n");
    for line in &lines[lines.len().saturating_sub(15)..] {
        text.push_str(&format!("    | {line}\n"));
    }
    text
}

/// Runs a command to its end, or kills it and its children if it hangs.
fn run(command: &[OsString], stdin: &str, agent: Option<&Path>) -> Ended {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = |name| fs::File::create(folder.path().join(name)).expect("a file can be made in it");
    let mut process = common::isolated(&command[0]);
    process.args(&command[1..]).stdin(Stdio::piped()).stdout(file("stdout")).stderr(file("stderr"));
    process.process_group(0);
    if let Some(agent) = agent {
        process.env("FISSURE_AGENT", agent);
        // The cached result of an earlier version of the static analysis must not be used here.
        process.env("XDG_CACHE_HOME", folder.path());
    }
    let mut child = process.spawn().unwrap_or_else(|error| panic!("cannot start {:?}: {error}", command[0]));
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read its input may have ended by now, which is no problem.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let started = Instant::now();
    let status = loop {
        match child.try_wait().expect("the process can be waited for") {
            Some(status) => break Some(status),
            None if started.elapsed() > PATIENCE => break None,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    if status.is_none() {
        // The shell's builtin: a small system has no program of that name.
        let kill = format!("kill -s KILL -- -{}", child.id());
        let _ = Command::new("sh").args(["-c", &kill]).status();
        let _ = child.kill();
        let _ = child.wait();
    }
    let read = |name| fs::read(folder.path().join(name)).unwrap_or_default();
    Ended {
        code: status.map(|status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())),
        stdout: read("stdout"),
        stderr: read("stderr"),
    }
}

fn programs_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs").join(name);
    folder.canonicalize().unwrap_or_else(|error| panic!("cannot find {}: {error}", folder.display()))
}

fn programs_in(folder: &Path) -> Vec<Program> {
    let mut programs = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
        for entry in entries {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "java") {
                programs.push(read_program(path));
            }
        }
    }
    programs.sort_by(|one, other| one.class.cmp(&other.class));
    programs
}

fn read_program(path: PathBuf) -> Program {
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let expectations = parse_header(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
    let package = text.lines().find_map(|line| line.strip_prefix("package ")?.strip_suffix(';'));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let class = package.map_or_else(|| name.to_string(), |package| format!("{package}.{name}"));
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
            ["must-find", analysis, kind, subject] if ANALYSES.contains(analysis) => {
                expectations.must_find.push(claim(analysis, kind, subject));
            }
            ["may-find", analysis, kind, subject] if ANALYSES.contains(analysis) => {
                expectations.may_find.push(claim(analysis, kind, subject));
            }
            ["must-find-ordered", analysis, subject] if ANALYSES.contains(analysis) => {
                expectations.must_find_ordered.push(claim(analysis, "data-race", subject));
            }
            ["must-not-find-ordered", subject] => {
                expectations.must_not_find_ordered.push((*subject).to_owned());
            }
            ["rule", rule, subject] => {
                expectations.rules.push(((*rule).to_owned(), (*subject).to_owned()));
            }
            ["must-leave-alone", class] => expectations.must_leave_alone.push((*class).to_owned()),
            ["static-fields", number] => {
                let number = number.parse().map_err(|_| format!("'{number}' is no number: {line}"))?;
                expectations.static_fields = Some(number);
            }
            ["program-exit", code] => {
                expectations.program_exit =
                    code.parse().map_err(|_| format!("'{code}' is no exit code: {line}"))?;
            }
            ["release", number] => {
                let number = number.parse().map_err(|_| format!("'{number}' is no release: {line}"))?;
                expectations.release = Some(number);
            }
            ["service", service, class] => {
                expectations.services.push(((*service).to_owned(), (*class).to_owned()));
            }
            ["detect", options @ ..] => expectations.detect_options = owned(options),
            ["java", options @ ..] => expectations.java_options = owned(options),
            ["args", arguments @ ..] => expectations.arguments = owned(arguments),
            ["stdin", words @ ..] => expectations.stdin = format!("{}\n", words.join(" ")),
            _ => return Err(format!("this line of the header is not understood: {line}")),
        }
    }
    Ok(expectations)
}

fn compile(programs: &[Program], classes: &Path) {
    if classes.exists() {
        fs::remove_dir_all(classes).expect("old classes can be removed");
    }
    let services = classes.join("META-INF/services");
    fs::create_dir_all(&services).expect("a folder for the classes can be made");
    let mut releases: BTreeMap<u32, Vec<&Path>> = BTreeMap::new();
    for program in programs {
        let expectations = &program.expectations;
        releases.entry(expectations.release.unwrap_or(OLDEST)).or_default().push(&program.path);
        for (service, class) in &expectations.services {
            fs::write(services.join(service), class).expect("a service can be registered");
        }
    }
    for (release, sources) in releases {
        let output = Command::new(jdk_tool("javac"))
            .args(["--release", &release.to_string(), "-g", "-nowarn", "-d"])
            .arg(classes)
            .args(sources)
            .output()
            .expect("javac can be started");
        assert!(output.status.success(), "javac refused:\n{}", String::from_utf8_lossy(&output.stderr));
    }
}
