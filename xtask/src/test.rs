//! Runs all tests, fast ones first: with the JDK of this machine, or with `--all-jdks` also on the other JVMs that Fissure supports.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use clap::Args;
use fissure_testing::{AGENT, RECORD, Recorded, read_records};

use crate::{
    jdk, runtimes,
    workspace::{agent_file, cargo, fresh_folder, line, succeed, target},
};

/// How many of the slowest tests are listed.
const SLOWEST: usize = 10;

/// The first step whose tests are recorded. The unit tests before it test the recording.
const FIRST_RECORDED: &str = "browser";

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Also on the other supported Java versions; those that are not installed are downloaded with `pip`
    #[arg(long)]
    all_jdks: bool,
}

/// The variable that names more JVMs for the tests.
const MORE_JAVAS: &str = "FISSURE_TEST_JAVAS";

/// Runs the steps in order and stops at the first failure.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut report = Report::default();
    let jdk = report.step("set-up", || {
        let jdk = jdk::set_up()?;
        println!("JDK in {}", jdk.bin().display());
        Ok(jdk)
    })?;
    let javas = match options.all_jdks {
        true => Some(report.step("runtimes", || runtimes::all(&jdk))?),
        false => None,
    };
    let records = fresh_folder("test")?.join("records.jsonl");
    let agent = target()?.join("debug").join(agent_file());
    let mut is_recorded = false;
    for (name, arguments) in steps() {
        is_recorded |= name == FIRST_RECORDED;
        report.step(name, || {
            let mut command = cargo(arguments);
            jdk.use_for(&mut command)?;
            command.envs(javas.iter().map(|javas| (MORE_JAVAS, javas)));
            if is_recorded {
                // The step `build` has just built the agent.
                command.env(RECORD, &records).env(AGENT, &agent);
            }
            println!("$ {}", line(&command));
            succeed(&mut command)
        })?;
    }
    println!("\n{}", report.summary(&read(&records)?));
    Ok(())
}

/// The steps after the set-up. The build comes before the tests that use the agent. It builds all targets, because tests have other features of
/// the dependencies, so that without their targets everything would be compiled once for the build and once for the tests.
fn steps() -> [(&'static str, &'static [&'static str]); 9] {
    [
        ("formatting", &["fmt", "--all", "--check"]),
        ("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        ("build", &["build", "--workspace", "--all-targets"]),
        ("unit tests", &["test", "--workspace", "--lib", "--bins"]),
        ("doc tests", &["test", "--workspace", "--doc"]),
        ("verifier", &["xtask", "verify-jdk", "--modules", "java.base"]),
        ("browser", &["xtask", "browser"]),
        ("real programs", &["xtask", "real", "--quick", "--debug"]),
        ("end to end", &["test", "--workspace", "--test", "*", "--", "--show-output"]),
    ]
}

fn read(records: &Path) -> Result<Vec<Recorded>> {
    read_records(records).with_context(|| format!("cannot read {}", records.display()))
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

    /// How long each step took, the slowest tests, and how many tests were skipped and why.
    fn summary(&self, records: &[Recorded]) -> String {
        let mut text = String::from("all steps passed:\n");
        let seconds = |time: &Duration| format!("{:>7.1} s", time.as_secs_f64());
        for (name, time) in &self.passed {
            text.push_str(&format!("  {name:<14} {}\n", seconds(time)));
        }
        let total = self.passed.iter().map(|(_, time)| *time).sum();
        text.push_str(&format!("  {:<14} {}\n", "total", seconds(&total)));
        let mut ran: Vec<&Recorded> = records.iter().filter(|record| record.skipped.is_none()).collect();
        ran.sort_by_key(|record| Reverse(record.time));
        if !ran.is_empty() {
            text.push_str(&format!("\nthe slowest of {} tests of programs and tools:\n", ran.len()));
        }
        for record in ran.iter().take(SLOWEST) {
            text.push_str(&format!("  {} {}\n", seconds(&record.time), record.name));
        }
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for record in records {
            if let Some(reason) = &record.skipped {
                reasons.entry(reason).or_default().push(&record.name);
            }
        }
        let number: usize = reasons.values().map(Vec::len).sum();
        text.push_str(&format!("\n{number} tests were skipped\n"));
        for (reason, names) in reasons {
            text.push_str(&format!("  {} because {reason}: {}\n", names.len(), names.join(", ")));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_times_and_what_was_skipped() {
        let mut report = Report::default();
        report.step("build", || Ok(())).unwrap();
        assert!(report.step("lints", || -> Result<()> { anyhow::bail!("no") }).is_err());
        let record = |name: &str, seconds: u64, skipped: Option<&str>| Recorded {
            name: name.to_owned(),
            time: Duration::from_secs(seconds),
            skipped: skipped.map(str::to_owned),
        };
        let mut records: Vec<Recorded> = (1..=12).map(|n| record(&format!("hunt::{n}."), n, None)).collect();
        let reason = Some("there is no Maven");
        records.extend([record("agents::a", 0, reason), record("frameworks::b", 0, reason)]);
        let text = report.summary(&records);
        assert!(
            text.contains("the slowest of 12 tests of programs and tools:\n     12.0 s hunt::12.\n"),
            "{text}"
        );
        assert!(text.contains("hunt::3.") && !text.contains("hunt::2."), "{text}");
        assert!(
            text.ends_with("2 tests were skipped\n  2 because there is no Maven: agents::a, frameworks::b\n"),
            "{text}"
        );
    }

    #[test]
    fn the_first_recorded_step_is_a_step() {
        assert!(steps().iter().any(|(name, _)| *name == FIRST_RECORDED));
    }
}
