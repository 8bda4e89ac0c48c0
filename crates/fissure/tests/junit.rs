//! `fissure test` on tests of JUnit 5, JUnit 4 and TestNG, by a class path and in a project of Maven.
//!
//! Maven fetches the frameworks and builds the project; without it the tests are skipped.

mod common;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output},
    sync::LazyLock,
};

use fissure_testing::{Outcome, Trial};
use serde_json::Value;

use common::{
    fetched, fissure, fissure_alone, isolated, jdk_tool, offline_is_not_set, output_text, read_report,
};

/// The file of a report in the folder of a project.
const REPORT: &str = "found.json";

/// The jars of the frameworks, and the compiled tests. The error says why the jars cannot be fetched here.
static CLASS_PATHS: LazyLock<Result<ClassPaths, String>> = LazyLock::new(prepare);

struct ClassPaths {
    /// With all frameworks.
    all: String,
    /// With JUnit 4 alone.
    junit_4: String,
}

fn prepare() -> Result<ClassPaths, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = manifest.join("../../programs/frameworks");
    let jars = fetched(&programs)?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("junit");
    let own = manifest.join("tests/junit");
    let all = [own.join("CounterTest.java"), own.join("TroubleTest.java"), programs.join("TestNgTest.java")];
    let all = class_path(&folder.join("all"), &jars, &all);
    let is_old =
        |jar: &&PathBuf| ["junit-4", "hamcrest"].iter().any(|name| jar.to_string_lossy().contains(name));
    let old: Vec<PathBuf> = jars.iter().filter(is_old).cloned().collect();
    Ok(ClassPaths { all, junit_4: class_path(&folder.join("old"), &old, &[own.join("OldTest.java")]) })
}

fn class_path(classes: &Path, jars: &[PathBuf], sources: &[PathBuf]) -> String {
    fs::create_dir_all(classes).expect("a folder for the classes can be made");
    let mut javac = Command::new(jdk_tool("javac"));
    javac.args(["--release", "11", "-encoding", "UTF-8", "-g", "-nowarn", "-cp"]);
    javac.arg(env::join_paths(jars).unwrap()).arg("-d").arg(classes).args(sources);
    let output = javac.output().expect("javac can be started");
    assert!(output.status.success(), "javac refused:\n{}", String::from_utf8_lossy(&output.stderr));
    let path = env::join_paths([classes.to_owned()].iter().chain(jars)).expect("no colon in a path");
    path.into_string().unwrap()
}

/// `fissure test` in a folder, which also holds what it keeps for later.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = fissure();
    command.arg("test").args(arguments).current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
    command.output().unwrap()
}

fn report(folder: &Path) -> Value {
    read_report(&fs::read_to_string(folder.join(REPORT)).unwrap())
}

/// The verdicts of tests, by their names.
fn check_verdicts(report: &Value, expected: &[(&str, &str)], text: &str) {
    let tests = report["tests"].as_array().unwrap();
    let mut verdicts: Vec<(&str, &str)> = tests
        .iter()
        .map(|test| (test["name"].as_str().unwrap(), test["verdict"].as_str().unwrap()))
        .collect();
    verdicts.sort_unstable();
    assert_eq!(verdicts, expected, "{text}");
}

/// Tests of two frameworks; those without a result do not stop the others.
fn all_frameworks() -> Outcome {
    let paths = match &*CLASS_PATHS {
        Ok(paths) => paths,
        Err(reason) => return Outcome::Skipped(reason.clone()),
    };
    let folder = tempfile::tempdir().unwrap();
    let limits = [
        "--runs",
        "12",
        "--reference-runs",
        "2",
        "--steps",
        "50000",
        "--json",
        REPORT,
        "--junit",
        "found.xml",
    ];
    let output = run(folder.path(), &[&["--classpath", &paths.all], &limits[..]].concat());
    let text = output_text(&output);
    // Some tests have no result, so the exit code is not that of the findings.
    assert_eq!(output.status.code(), Some(2), "{text}");
    let report = report(folder.path());
    let expected = [
        ("countsAlone(int)", "single-threaded"),
        ("everyVisitCounts", "flaky"),
        ("exits()", "exits"),
        ("failsAlways()", "fails-anyway"),
        ("neverEnds()", "never-ends"),
        ("nothingIsVisitedAtFirst", "single-threaded"),
        ("startsAProcess()", "single-threaded"),
        ("twoCountWithAnAtomic()", "passed"),
        ("zwei zählen ☺", "flaky"),
    ];
    check_verdicts(&report, &expected, &text);
    assert!(text.contains("CounterTest > zwei zählen ☺: expected: <2> but was: <1>"), "{text}");
    assert!(text.contains("cannot add"), "{text}");
    let xml = fs::read_to_string(folder.path().join("found.xml")).unwrap();
    let flaky = xml.split("<testcase").find(|case| case.contains("zwei zählen")).unwrap();
    assert!(flaky.contains("<failure message=\"expected: &lt;2&gt; but was: &lt;1&gt;"), "{flaky}");
    // One more says that some tests have no result.
    assert_eq!(xml.matches("<testcase").count(), expected.len() + 1, "{xml}");
    // Runs of JUnit in a warm JVM are equal to those in new JVMs.
    let notices = report["notices"].as_array().unwrap().iter().filter_map(Value::as_str);
    let mut own = notices.filter(|notice| notice.contains("every run had its own JVM"));
    assert!(own.all(|notice| notice.starts_with("TestNgTest >")), "{text}");
    Outcome::Passed
}

/// JUnit 4 without the platform: a finding is repeated by its id alone.
fn junit_4() -> Outcome {
    let paths = match &*CLASS_PATHS {
        Ok(paths) => paths,
        Err(reason) => return Outcome::Skipped(reason.clone()),
    };
    let folder = tempfile::tempdir().unwrap();
    let limits = ["--runs", "8", "--reference-runs", "2", "--json", REPORT];
    let output = run(folder.path(), &[&["--classpath", &paths.junit_4], &limits[..]].concat());
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let report = report(folder.path());
    check_verdicts(&report, &[("twoCount", "flaky")], &text);
    let id = report["tests"][0]["findings"][0].as_str().unwrap();
    let output = run(folder.path(), &["--repeat-failure", id]);
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("finding {id} shows again")), "{text}");
    Outcome::Passed
}

/// A project of two modules. The second command finds the class path without Maven.
fn maven() -> Outcome {
    let project = match project() {
        Ok(project) => project,
        Err(reason) => return Outcome::Skipped(reason),
    };
    let arguments =
        ["tag:threads", "--runs", "8", "--reference-runs", "2", "--json", REPORT, "--sarif", "found.sarif"];
    let output = run(project.path(), &arguments);
    let text = output_text(&output);
    if !output.status.success() && common::is_without_network(&text) {
        return Outcome::Skipped("Maven has no network".to_owned());
    }
    assert_eq!(output.status.code(), Some(1), "{text}");
    let expected = [("twoCountWithAnAtomic()", "passed"), ("zwei zählen ☺", "flaky")];
    check_verdicts(&report(project.path()), &expected, &text);
    assert!(text.contains("assertEquals(2, plain);"), "{text}");
    let sarif = fs::read_to_string(project.path().join("found.sarif")).unwrap();
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    let mut uris = Vec::new();
    collect_uris(&sarif["runs"][0]["results"], &mut uris);
    assert!(!uris.is_empty() && uris.iter().all(|uri| uri.starts_with("tests/src/test/java/")), "{uris:?}");
    fs::write(project.path().join("mvnw"), "#!/bin/sh\nexit 1\n").unwrap();
    let output = run(project.path(), &["--no-build", "CounterTest#countsAlone"]);
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("no test uses more than one thread"), "{text}");
    let output = run(project.path(), &["--no-build", "CounterTest#countsAlone", "--require-threads"]);
    assert_eq!(output.status.code(), Some(2), "{}", output_text(&output));
    Outcome::Passed
}

fn collect_uris(value: &Value, uris: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            uris.extend(members.get("uri").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| collect_uris(member, uris));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_uris(item, uris)),
        _ => {}
    }
}

fn project() -> Result<tempfile::TempDir, String> {
    offline_is_not_set()?;
    fissure_testing::find_on_path("mvn").ok_or("there is no Maven (`mvn`)")?;
    let files = [
        ("pom.xml", include_str!("junit/parent.xml")),
        ("tests/pom.xml", include_str!("junit/module.xml")),
        ("tests/src/test/java/com/acme/CounterTest.java", include_str!("junit/CounterTest.java")),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Ok(folder)
}

/// What is wrong is told in one sentence, before anything runs.
fn bad_input() -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], expected: &str| {
        let mut command = fissure_alone();
        command.arg("test").args(arguments).current_dir(folder.path());
        let output = command.env("XDG_CACHE_HOME", folder.path().join("cache")).output().unwrap();
        let text = output_text(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    };
    check(&[], "there is no pom.xml, build.gradle or build.gradle.kts in");
    check(&["--classpath", "missing.jar"], "missing.jar does not exist");
    check(&["--repeat-failure", "0123"], "no report of an earlier `fissure test` is kept");
    fs::create_dir(folder.path().join("classes")).unwrap();
    check(&["--classpath", "classes"], "there is no test framework on the class path");
    let newer = [&[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 200][..], &[0; 8]].concat();
    fs::write(folder.path().join("classes/NewTest.class"), newer).unwrap();
    check(&["--classpath", "classes"], "the classes are for Java 156, but");
    fs::remove_file(folder.path().join("classes/NewTest.class")).unwrap();
    if let Ok(paths) = &*CLASS_PATHS {
        check(
            &["--classpath", &paths.junit_4, "OldTests"],
            "no test matches OldTests: the nearest names are com.acme.OldTest",
        );
    }
    if isolated("mvn").arg("--version").output().is_ok() {
        fs::write(folder.path().join("pom.xml"), "<project>").unwrap();
        check(&[], "the build failed (mvn test-compile)");
    }
    Outcome::Passed
}

fn main() -> ExitCode {
    let trials = [
        trial("all-frameworks", all_frameworks),
        trial("junit-4", junit_4),
        trial("maven", maven),
        trial("bad-input", bad_input),
    ];
    fissure_testing::run(trials.into())
}

fn trial(name: &str, test: fn() -> Outcome) -> Trial {
    Trial::new(format!("junit::{name}"), move || Ok(test()))
}
