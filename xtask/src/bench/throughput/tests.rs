//! Measures `fissure test`: the schedules a second of a JUnit 5 test with an executor, and the time for a project of 50 tests of which 5 use
//! threads. Maven builds the project before.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace::fresh_folder;

/// The description of the project, with JUnit 5.
const POM: &str = include_str!("tests/pom.xml");
/// A test with two threads and an executor, in a class of its own. `NUMBER` stands for a number.
const THREADS: &str = include_str!("tests/ThreadsTest.java");
/// Nine tests with one thread.
const ALONE: &str = include_str!("tests/AloneTest.java");
/// How many classes of each kind the project has.
const CLASSES: usize = 5;

/// Prints the measurements; `schedules` are those of the single test.
pub(super) fn measure(fissure: &Path, schedules: u64) -> Result<()> {
    let project = fresh_folder("bench-tests")?;
    let sources = project.join("src/test/java/bench");
    fs::create_dir_all(&sources)?;
    fs::write(project.join("pom.xml"), POM)?;
    for number in 1..=CLASSES {
        for (name, text) in [("Threads", THREADS), ("Alone", ALONE)] {
            let file = sources.join(format!("{name}{number}Test.java"));
            fs::write(file, text.replace("NUMBER", &number.to_string()))?;
        }
    }
    let (build, _) = run(fissure, &project, &["Alone1Test#adds1"])?;
    println!("fissure test: {build:.1} s with the build and one test");
    let (seconds, report) = run(fissure, &project, &[])?;
    let tests = report["tests"].as_array().context("the report has no tests")?;
    let with = |verdict: &str| tests.iter().filter(|test| test["verdict"] == verdict).count();
    println!(
        "{} tests, {} with threads, after the build: {seconds:.1} s, {} schedules",
        tests.len(),
        tests.len() - with("single-threaded"),
        report["runs"]
    );
    if with("flaky") + with("passed") != CLASSES {
        bail!("not all tests with threads were hunted in: {tests:#?}");
    }
    let runs = schedules.to_string();
    let (seconds, report) = run(fissure, &project, &["Threads1Test", "--runs", &runs])?;
    let test = &report["tests"][0];
    let milliseconds = test["milliseconds"].as_u64().unwrap_or_default().max(1);
    println!(
        "one test with two threads and an executor: {} schedules in {seconds:.1} s, {:.0} a second\n",
        test["schedules"],
        test["schedules"].as_f64().unwrap_or_default() * 1000.0 / milliseconds as f64
    );
    let notes = report["notices"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for note in notes.filter(|note| note.contains(super::FALLBACK)) {
        println!("{note}");
    }
    Ok(())
}

/// The time of `fissure test` with these arguments, and its report.
fn run(fissure: &Path, project: &Path, arguments: &[&str]) -> Result<(f64, Value)> {
    let json = project.join("target/report.json");
    fs::create_dir_all(project.join("target"))?;
    let mut command = Command::new(fissure);
    command.arg("test").args(arguments).args(["--fail-on", "never", "--json"]).arg(&json);
    command.current_dir(project).stdin(Stdio::null());
    let begun = Instant::now();
    let output = command.output().with_context(|| format!("cannot start {}", fissure.display()))?;
    let seconds = begun.elapsed().as_secs_f64();
    if output.status.code() != Some(0) {
        bail!("`fissure test` failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok((seconds, serde_json::from_str(&fs::read_to_string(&json)?)?))
}
