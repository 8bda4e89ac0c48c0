//! Runs all tests, fast ones first.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{
    jdk,
    workspace::{cargo, line, succeed},
};

/// Runs the steps in order and stops at the first failure.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    let jdk = report.step("set-up", || {
        let jdk = jdk::set_up()?;
        println!("JDK in {}", jdk.bin().display());
        Ok(jdk)
    })?;
    for (name, arguments) in steps() {
        report.step(name, || {
            let mut command = cargo(arguments);
            jdk.use_for(&mut command)?;
            println!("$ {}", line(&command));
            succeed(&mut command)
        })?;
    }
    println!("\nall steps passed:");
    for (name, time) in &report.passed {
        println!("  {name:<14} {:>7.1} s", time.as_secs_f64());
    }
    Ok(())
}

/// The steps after the set-up. No test depends on the agent's library, so the build must come before the tests that load
/// it.
fn steps() -> [(&'static str, &'static [&'static str]); 9] {
    [
        ("formatting", &["fmt", "--all", "--check"]),
        ("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        ("build", &["build", "--workspace"]),
        ("unit tests", &["test", "--workspace", "--lib", "--bins"]),
        ("doc tests", &["test", "--workspace", "--doc"]),
        ("verifier", &["xtask", "verify-jdk", "--modules", "java.base"]),
        ("browser", &["xtask", "browser"]),
        ("real programs", &["xtask", "real", "--quick", "--debug"]),
        ("end to end", &["test", "--workspace", "--test", "*", "--", "--show-output"]),
    ]
}

#[derive(Debug, Default)]
struct Report {
    passed: Vec<(&'static str, Duration)>,
}

impl Report {
    fn step<T>(&mut self, name: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n== {name}");
        let started = Instant::now();
        let result = body();
        let time = started.elapsed();
        println!(
            "== {name}: {} after {:.1} s",
            if result.is_ok() { "passed" } else { "failed" },
            time.as_secs_f64()
        );
        self.passed.push((name, time));
        result.with_context(|| format!("the step '{name}' failed"))
    }
}
