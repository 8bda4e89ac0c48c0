//! Tests of JUnit 4, JUnit 5 and TestNG under `fissure hunt`: a schedule-dependent test failure is a finding that names the test and its
//! message, however the framework hides the exception from the JVM.
//!
//! Maven fetches the frameworks; without it the tests are skipped.

mod common;

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::LazyLock,
};

use fissure_testing::{Outcome, Trial};

use common::{fetched, fissure, jdk_tool, output_text, read_report};

/// The jars and the compiled tests. The error says why the jars cannot be fetched here.
static CLASS_PATH: LazyLock<Result<std::ffi::OsString, String>> = LazyLock::new(prepare);

fn prepare() -> Result<std::ffi::OsString, String> {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/frameworks");
    let mut path: Vec<PathBuf> = fetched(&programs)?;
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("frameworks/classes");
    std::fs::create_dir_all(&classes).expect("a folder for the classes can be made");
    let mut javac = Command::new(jdk_tool("javac"));
    javac.args(["--release", "11", "-g", "-nowarn", "-cp"]).arg(env::join_paths(&path).unwrap());
    javac.arg("-d").arg(&classes);
    javac.args(
        ["JUnit4Test", "JUnit5Test", "TestNgTest"].map(|name| programs.join(name).with_extension("java")),
    );
    let output = javac.output().expect("javac can be started");
    assert!(output.status.success(), "javac refused:\n{}", String::from_utf8_lossy(&output.stderr));
    path.insert(0, classes);
    Ok(env::join_paths(&path).expect("no colon in a path"))
}

/// Hunts in the tests of a class, which `arguments` run.
fn check(class: &str, arguments: &[&str], message: &str) -> Outcome {
    let class_path = match &*CLASS_PATH {
        Ok(class_path) => class_path,
        Err(reason) => return Outcome::Skipped(reason.clone()),
    };
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("found.json");
    let mut command = fissure();
    command.args(["hunt", "--runs", "8", "--reference-runs", "2", "--no-minimise", "--json"]).arg(&json);
    command.args(["--", "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"]).arg(class_path);
    command.args(arguments).current_dir(folder.path());
    let output = command.output().unwrap();
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let report = read_report(&std::fs::read_to_string(&json).unwrap());
    let findings = report["findings"].as_array().unwrap();
    let bugs: Vec<_> = findings.iter().filter(|finding| finding["status"] == "bug").collect();
    let [bug] = bugs.as_slice() else { panic!("{text}") };
    let test = format!("{class}.everyVisitCounts");
    assert_eq!((&bug["subject"], &bug["test"]), (&test.clone().into(), &test.into()), "{text}");
    assert!(bug["consequence"]["message"].as_str().unwrap().contains(message), "{text}");
    Outcome::Passed
}

fn junit_4() -> Outcome {
    check("JUnit4Test", &["org.junit.runner.JUnitCore", "JUnit4Test"], "expected:<2> but was:<1>")
}

fn junit_5() -> Outcome {
    let launcher = "org.junit.platform.console.ConsoleLauncher";
    let arguments = [launcher, "execute", "--disable-banner", "--select-class", "JUnit5Test"];
    check("JUnit5Test", &arguments, "expected: <2> but was: <1>")
}

fn testng() -> Outcome {
    let arguments = ["org.testng.TestNG", "-usedefaultlisteners", "false", "-testclass", "TestNgTest"];
    check("TestNgTest", &arguments, "expected [2] but found [1]")
}

fn main() -> ExitCode {
    let trials = [trial("junit-4", junit_4), trial("junit-5", junit_5), trial("testng", testng)];
    fissure_testing::run(trials.into())
}

fn trial(name: &str, test: fn() -> Outcome) -> Trial {
    Trial::new(format!("frameworks::{name}"), move || Ok(test()))
}
