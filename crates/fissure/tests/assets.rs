//! End to end: hunts in every program under `programs/assets` with a few runs, and compares the findings with the program's header.
//!
//! A header is a run of comment lines at the top of the source. Those that begin with `fissure:` are expectations:
//!
//! - `must-be-bug PATTERN SUBJECT`: made to happen, with a failure that no reference run shows. The pattern is a
//!   number from 1 to 11, or `race`.
//! - `must-confirm PATTERN SUBJECT`: made to happen.
//! - `may-confirm PATTERN SUBJECT`: allowed by the program as well.
//! - `only-unit METHOD`: in all findings, the unit of work whose atomicity is violated is this one.
//! - `nothing-predicted`: there is not even a warning; this holds for all programs in which nothing must be found.
//! - `correct`: the program has no broken twin.
//! - `strategy NAME`: instead of assetfuzzer.
//! - `config LINE`: a line of the configuration, in its section about atomic sets.
//!
//! Any other confirmed finding is a false alarm. `FISSURE_TEST_PROGRAMS` (a part of a class name) selects programs.

#![allow(clippy::print_stdout, reason = "the counts belong to the tests' own output")]

mod common;

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::Value;

/// Programs that are hunted in at the same time, each with one JVM after the other.
const WORKERS: usize = 2;
/// Enough to try each prediction of the programs.
const RUNS: &str = "6";
/// Enough for the profiling runs to reach all code of the programs.
const PROFILING_RUNS: &str = "3";
/// Failures of these programs that do not depend on the schedule show in every run.
const REFERENCE_RUNS: &str = "2";
/// JVMs start faster with these options, on which the findings do not depend.
const QUICK_START: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// The expectations of a header.
#[derive(Debug, Default)]
struct Expectations {
    bugs: Vec<Claim>,
    confirmed: Vec<Claim>,
    allowed: Vec<Claim>,
    only_unit: Option<String>,
    nothing_predicted: bool,
    correct: bool,
    strategy: Option<String>,
    config: String,
}

/// A pattern, or `race`, and a subject.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    pattern: String,
    subject: String,
}

#[derive(Debug)]
struct Program {
    path: PathBuf,
    class: String,
    expectations: Expectations,
}

/// Classes of all programs, compiled once for all tests.
fn classes() -> &'static Path {
    static CLASSES: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    CLASSES.get_or_init(|| {
        let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs/assets");
        if classes.exists() {
            fs::remove_dir_all(&classes).expect("old classes can be removed");
        }
        fs::create_dir_all(&classes).expect("a folder for the classes can be made");
        let output = Command::new(common::jdk_tool("javac"))
            .args(["--release", "11", "-g", "-nowarn", "-d"])
            .arg(&classes)
            .args(programs().iter().map(|program| &program.path))
            .output()
            .expect("javac can be started");
        assert!(output.status.success(), "javac refused:\n{}", String::from_utf8_lossy(&output.stderr));
        classes
    })
}

/// Runs Fissure on a program; gives its JSON report too.
fn fissure(command: &str, options: &[&str], class: &str) -> (Value, Output) {
    let report = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    let mut fissure = common::fissure();
    fissure.arg(command).args(options).arg("--json").arg(report.path());
    fissure.arg("--").arg(common::jdk_tool("java")).args(QUICK_START).arg("-cp").arg(classes()).arg(class);
    // The cached result of an earlier version of the static analysis must not be used here.
    let cache = tempfile::tempdir().expect("a temporary folder can be made");
    fissure.env("FISSURE_AGENT", common::agent()).env("XDG_CACHE_HOME", cache.path());
    let output = fissure.output().expect("Fissure can be run");
    let report = serde_json::from_slice(&fs::read(report.path()).unwrap_or_default());
    let report = report
        .unwrap_or_else(|error| panic!("{class}: {error}\n{}", String::from_utf8_lossy(&output.stderr)));
    (report, output)
}

fn findings(report: &Value) -> &[Value] {
    report["findings"].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[test]
fn planted_violations_are_confirmed_and_correct_twins_are_clean() {
    let mut programs = programs();
    if let Ok(part) = env::var("FISSURE_TEST_PROGRAMS") {
        programs.retain(|program| program.class.contains(&part));
    }
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failure = check(program);
                    failures.lock().unwrap_or_else(PoisonError::into_inner).extend(failure);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{} programs, {} failures", programs.len(), failures.len());
    assert!(failures.is_empty(), "{} failures:\n\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_broken_program_has_a_correct_twin_and_every_pattern_a_program() {
    let programs = programs();
    let find = |class: &str| programs.iter().find(|program| program.class == class);
    let mut planted: Vec<&str> = Vec::new();
    for program in &programs {
        let expectations = &program.expectations;
        planted.extend(
            expectations.bugs.iter().chain(&expectations.confirmed).map(|claim| claim.pattern.as_str()),
        );
        match program.class.strip_suffix("Fixed") {
            Some(broken) => {
                assert!(!expectations.is_broken(), "{} is a correct twin", program.class);
                assert!(find(broken).is_some(), "{} is the twin of nothing", program.class);
            }
            None if expectations.is_broken() => {
                let twin = format!("{}Fixed", program.class);
                assert!(find(&twin).is_some(), "{} has no twin {twin}", program.class);
            }
            None => assert!(expectations.correct, "nothing is expected of {}", program.class),
        }
        assert_eq!(expectations.is_broken(), !expectations.nothing_predicted, "{}", program.class);
    }
    for pattern in 1..=11 {
        assert!(planted.contains(&pattern.to_string().as_str()), "no program for pattern {pattern}");
    }
}

/// The same seed, goal and options make the same happen, by the same steps.
#[test]
fn confirmed_findings_can_be_replayed() {
    check_replay("HalfOldPair", &[]);
    let config = tempfile::NamedTempFile::new().unwrap();
    fs::write(config.path(), "[atomic-sets]\ncontents = true\n").unwrap();
    check_replay("SoldTwice", &["--config", &config.path().to_string_lossy()]);
}

fn check_replay(class: &str, extra: &[&str]) {
    let options = [&["--strategy", "assetfuzzer", "--profile", "2", "--runs", "2"], extra].concat();
    let (report, _) = fissure("hunt", &options, class);
    let finding = &findings(&report)[0];
    let target = finding["targets"][0].clone();
    let seed = finding["seeds"][0].to_string();
    let text = target.to_string();
    let by_seed = [&["--strategy", "assetfuzzer", "--seed", &seed, "--goal", &text], extra].concat();
    for _ in 0..2 {
        let (again, output) = fissure("replay", &by_seed, class);
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(findings(&again)[0]["id"], finding["id"]);
        assert_eq!(findings(&again)[0]["interleaving"], finding["interleaving"]);
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), report.to_string()).unwrap();
    // The report has the options, including the configuration's file.
    let named = format!("{}#{}", file.path().display(), finding["id"].as_str().unwrap());
    let (again, output) = fissure("replay", &[&named], class);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(findings(&again)[0]["status"], "bug");
}

#[test]
fn any_strategy_can_run_the_checker() {
    let options = ["--strategy", "random", "--check", "atomic-sets", "--runs", "12"];
    let (report, output) = fissure("hunt", &options, "BufferAndLength");
    assert!(output.status.code().is_some_and(|code| code < 2));
    assert!(findings(&report).iter().all(|finding| finding["kind"] == "atomic-set-violation"));
    assert!(report["coverage"]["threads"].as_u64() > Some(0));
}

#[test]
fn strategies_hunt_one_after_the_other() {
    let options = ["--strategy", "racefuzzer,assetfuzzer", "--profile", "2", "--runs", "4"];
    let (report, output) = fissure("hunt", &options, "BufferAndLength");
    assert_eq!(output.status.code(), Some(1));
    let names: Vec<&str> =
        report["campaigns"].as_array().unwrap().iter().filter_map(|one| one["strategy"].as_str()).collect();
    assert_eq!(names, ["racefuzzer", "assetfuzzer"]);
    let kinds: Vec<&str> = findings(&report)
        .iter()
        .filter(|finding| finding["status"] != "warning")
        .filter_map(|finding| finding["kind"].as_str())
        .collect();
    assert!(kinds.contains(&"data-race") && kinds.contains(&"atomic-set-violation"), "{kinds:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("--strategy racefuzzer --") && text.contains("--strategy assetfuzzer --"),
        "{text}"
    );
}

/// Fields that only one thread can access cannot be part of a finding.
#[test]
fn hunts_with_the_static_analysis_find_the_same() {
    check_static("OwnScratch", &["--strategy", "assetfuzzer", "--profile", "2"], true);
    check_static("OwnScratchFixed", &["--strategy", "assetfuzzer", "--profile", "2"], true);
    check_static("OwnScratch", &["--points", "fields"], true);
    check_static("BufferAndLength", &["--strategy", "racefuzzer", "--profile", "2"], false);
}

/// Hunts in one program with and without `--static`, and checks whether locations were left out.
fn check_static(class: &str, options: &[&str], leaves_out: bool) {
    let hunt = |more: &[&str]| {
        fissure(
            "hunt",
            &[options, &["--runs", "3", "--reference-runs", "1", "--no-minimise"], more].concat(),
            class,
        )
    };
    let (plain, _) = hunt(&[]);
    let (analysed, output) = hunt(&["--static"]);
    let summary = |report: &Value| -> BTreeSet<String> {
        let summary = |finding: &Value| {
            let known = ["kind", "subject", "pattern", "status"].map(|name| finding[name].to_string());
            known.join(" ")
        };
        findings(report).iter().map(summary).collect()
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(summary(&analysed), summary(&plain), "{class} {options:?}: {stderr}");
    let coverage = &analysed["coverage"]["static"];
    let count = |name: &str| coverage[name].as_u64().unwrap_or_else(|| panic!("{class}: {coverage}"));
    assert!(plain["coverage"]["static"].is_null() && count("sites") > 0, "{class} {options:?}: {stderr}");
    let is_less = count("fields_watched") < count("fields") && count("sites_watched") < count("sites");
    assert_eq!(is_less, leaves_out, "{class} {options:?}: {coverage}");
}

/// Hunts in one program; gives its problems as one block of text.
fn check(program: &Program) -> Option<String> {
    let expectations = &program.expectations;
    let config = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    fs::write(config.path(), format!("[atomic-sets]\n{}", expectations.config)).unwrap();
    let config_path = config.path().to_string_lossy().into_owned();
    let strategy = expectations.strategy.as_deref().unwrap_or("assetfuzzer");
    let options = [
        "--strategy",
        strategy,
        "--profile",
        PROFILING_RUNS,
        "--no-minimise",
        "--reference-runs",
        REFERENCE_RUNS,
        "--runs",
        RUNS,
        "--jobs",
        "1",
        "--config",
        &config_path,
    ];
    let (report, output) = fissure("hunt", &options, &program.class);
    let problems = check_report(&report, expectations, output.status.code());
    (!problems.is_empty()).then(|| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        format!("{}\n  - {}\n{stderr}", program.path.display(), problems.join("\n  - "))
    })
}

fn check_report(report: &Value, expectations: &Expectations, code: Option<i32>) -> Vec<String> {
    let mut problems = Vec::new();
    if !report["problem"].is_null() {
        problems.push(format!("Fissure could not see: {}", report["problem"]));
    }
    let happened: Vec<&Value> =
        findings(report).iter().filter(|finding| finding["status"] != "warning").collect();
    for (claims, is_bug) in [(&expectations.bugs, true), (&expectations.confirmed, false)] {
        for claim in claims {
            let mut found = happened.iter().filter(|finding| claim.covers(finding)).peekable();
            if found.peek().is_none() {
                problems.push(format!("{} of {} did not happen", claim.pattern, claim.subject));
            } else if is_bug && !found.any(|finding| finding["status"] == "bug") {
                problems.push(format!("{} of {} broke nothing", claim.pattern, claim.subject));
            }
        }
    }
    for finding in &happened {
        let claims = expectations.bugs.iter().chain(&expectations.confirmed).chain(&expectations.allowed);
        if !claims.into_iter().any(|claim| claim.covers(finding)) {
            let (kind, subject) = (&finding["kind"], &finding["subject"]);
            problems.push(format!("false alarm: {kind} {subject} {}", finding["pattern"]));
        }
        let unit = finding["accesses"][0]["unit"].as_str();
        if let Some(only) = expectations.only_unit.as_deref().filter(|only| unit != Some(only)) {
            problems.push(format!("the violated unit is {unit:?}, not {only}"));
        }
        problems.extend(check_finding(finding));
    }
    if expectations.nothing_predicted && !findings(report).is_empty() {
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

impl Expectations {
    fn is_broken(&self) -> bool {
        !self.bugs.is_empty() || !self.confirmed.is_empty()
    }
}

impl Claim {
    fn covers(&self, finding: &Value) -> bool {
        let pattern = match finding["pattern"].as_u64() {
            Some(number) => number.to_string(),
            None if finding["kind"] == "data-race" => "race".to_owned(),
            None => String::new(),
        };
        pattern == self.pattern && finding["subject"] == *self.subject
    }
}

fn programs() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/assets");
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let mut programs: Vec<Program> = entries
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "java"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a program can be read");
            let expectations =
                parse_header(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
            let class = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Program { path, class, expectations }
        })
        .collect();
    programs.sort_by(|one, other| one.class.cmp(&other.class));
    programs
}

/// Reads the expectations of a header; an unknown expectation is a mistake in the program.
fn parse_header(text: &str) -> Result<Expectations, String> {
    let mut expectations = Expectations::default();
    for line in text.lines().take_while(|line| line.starts_with("//")) {
        let Some(directive) = line.strip_prefix("// fissure: ") else { continue };
        let claim = |pattern: &str, subject: &str| {
            let is_pattern =
                pattern == "race" || pattern.parse().is_ok_and(|number: u8| (1..=11).contains(&number));
            if !is_pattern {
                return Err(format!("'{pattern}' is no pattern: {line}"));
            }
            Ok(Claim { pattern: pattern.to_owned(), subject: subject.to_owned() })
        };
        match directive.split_whitespace().collect::<Vec<_>>()[..] {
            ["must-be-bug", pattern, subject] => expectations.bugs.push(claim(pattern, subject)?),
            ["must-confirm", pattern, subject] => expectations.confirmed.push(claim(pattern, subject)?),
            ["may-confirm", pattern, subject] => expectations.allowed.push(claim(pattern, subject)?),
            ["only-unit", unit] => expectations.only_unit = Some(unit.to_owned()),
            ["nothing-predicted"] => expectations.nothing_predicted = true,
            ["correct"] => expectations.correct = true,
            ["strategy", name] => expectations.strategy = Some(name.to_owned()),
            ["config", ..] => {
                expectations.config.push_str(directive.strip_prefix("config ").unwrap_or_default());
                expectations.config.push('\n');
            }
            _ => return Err(format!("this line of the header is not understood: {line}")),
        }
    }
    Ok(expectations)
}

#[test]
fn headers_are_parsed() {
    let text = "// Words.\n// fissure: must-be-bug 9 A$B\n// fissure: config a = 'b c'\nclass A {}";
    let expectations = parse_header(text).unwrap();
    assert_eq!(expectations.bugs, [Claim { pattern: "9".to_owned(), subject: "A$B".to_owned() }]);
    assert_eq!(expectations.config, "a = 'b c'\n");
    for nonsense in ["must-be-bug A$B", "must-confirm 12 A", "must-confirm x A", "strategy"] {
        assert!(parse_header(&format!("// fissure: {nonsense}\n")).is_err(), "{nonsense}");
    }
}
