//! Measures the probability that a run finds a bug, with random schedules, with the paper's algorithm and with ours, and the
//! speed of controlled threads.
//!
//! A probability is the share of runs that show a finding that the program's header promises. Time in controlled runs is
//! virtual, so speed is measured from outside: a kernel runs with two numbers of operations, and the cost of an operation is
//! the difference of the times divided by the difference of the numbers.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use fissure_testing::{Claim, Folder, Program, compile};
use serde_json::Value;

use super::positive;
use crate::{
    jdk::{self, Jdk},
    statistics::median,
    workspace::{cargo, files_below, fresh_folder, line, root, succeed, target},
};

/// The strategies that are compared: heading and options.
const STRATEGIES: [(&str, &[&str]); 4] = [
    ("random", &["--strategy", "random"]),
    ("paper 0.5", &["--learn", "no", "--pause", "0.5"]),
    ("paper 1", &["--learn", "no", "--pause", "1"]),
    ("ours", &[]),
];

/// An acquire and a release without a thread switch.
const PAIRS: Kernel = Kernel { class: "ControlledPairs", count: 20_000_000, operations: 1 };
/// One thread hands over to the other, which is waiting.
const HAND_OVERS: Kernel = Kernel { class: "HandOvers", count: 1_500_000, operations: 1 };
/// Two threads; the scheduler chooses between them at every acquire.
const OPERATIONS: Kernel = Kernel { class: "ControlledOperations", count: 3_000_000, operations: 2 };

/// The program for measuring runs per second.
const SMALL: &str = "Figure1";

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The number of runs of each hunt
    #[arg(long, default_value = "100", value_parser = positive::<u64>)]
    runs: u64,
    /// How often speed is measured
    #[arg(long, default_value = "5", value_parser = positive::<usize>)]
    rounds: usize,
    /// Only programs whose name contains this, and no speed
    #[arg(long, value_name = "PART")]
    program: Option<String>,
    /// Only a part of the benchmark
    #[arg(long, value_enum)]
    only: Option<Part>,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The last of the strategies
    Ours,
    /// Speed
    Speed,
}

/// A kernel, its number of iterations, and the number of operations in each.
struct Kernel {
    class: &'static str,
    count: u64,
    operations: u64,
}

/// Seconds for one operation.
#[derive(Debug, PartialEq)]
struct Cost {
    /// From the fastest runs: other load on the machine can only slow runs down.
    least: f64,
    /// The median of all rounds.
    median: f64,
}

impl Cost {
    /// From the times of short and long runs in seconds; `operations` is the number by which they differ.
    fn new(short: &[f64], long: &[f64], operations: u64) -> Self {
        let fastest = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        let of = |short: f64, long: f64| (long - short) / operations as f64;
        let each: Vec<f64> = short.iter().zip(long).map(|(short, long)| of(*short, *long)).collect();
        Self { least: of(fastest(short), fastest(long)), median: median(&each) }
    }

    fn format(&self, factor: f64, unit: &str) -> String {
        let Self { least, median } = self;
        let rate = if *least > 0.0 { 1.0 / least } else { f64::INFINITY };
        format!(
            "{:.2} {unit} in the fastest runs ({rate:.0} per second), median {:.2} {unit}",
            least * factor,
            median * factor
        )
    }
}

/// The result of a hunt.
#[derive(Debug, PartialEq)]
struct HuntResult {
    /// The share of runs that show a promised finding.
    probability: f64,
    /// Confirmed findings that were not promised.
    unexpected: Vec<String>,
}

/// The tools, classes and options for all runs.
struct Bench {
    jdk: Jdk,
    fissure: PathBuf,
    hunt_classes: PathBuf,
    kernel_classes: PathBuf,
    options: Options,
}

/// Builds, measures and prints.
pub(crate) fn run(options: Options) -> Result<()> {
    let programs = Folder::Hunt.programs().map_err(anyhow::Error::msg)?;
    let jdk = jdk::set_up()?;
    succeed(&mut cargo(&["build", "--release"]))?;
    let hunt_classes = fresh_folder("bench-hunt")?;
    compile(&jdk.bin().join("javac"), &programs, &hunt_classes).map_err(anyhow::Error::msg)?;
    let kernel_classes = compile_kernels(&jdk)?;
    let fissure = target()?.join("release/fissure");
    let bench = Bench { jdk, fissure, hunt_classes, kernel_classes, options };
    let Options { program, only, .. } = &bench.options;
    if *only != Some(Part::Speed) {
        bench.detection(&programs)?;
    }
    if *only == Some(Part::Speed) || only.is_none() && program.is_none() {
        bench.speed()?;
    }
    Ok(())
}

fn compile_kernels(jdk: &Jdk) -> Result<PathBuf> {
    let classes = fresh_folder("bench-control")?;
    let sources = files_below(&root().join("programs/bench"), "java")?;
    succeed(jdk.tool("javac").args(["--release", "11", "-g", "-nowarn", "-d"]).arg(&classes).args(sources))?;
    Ok(classes)
}

/// The findings that the header of a program promises.
fn promised(program: &Program) -> impl Iterator<Item = &Claim> {
    program.header.must_be_bug.iter().chain(&program.header.must_confirm)
}

impl Bench {
    /// Prints a line for every program with promised findings, and the number of false alarms in the others.
    fn detection(&self, programs: &[Program]) -> Result<()> {
        let wanted = |program: &&Program| {
            self.options.program.as_ref().is_none_or(|part| program.class.contains(part))
                && program.java(&self.java()).is_some()
        };
        let (correct, broken): (Vec<&Program>, Vec<&Program>) =
            programs.iter().filter(wanted).partition(|program| promised(program).next().is_none());
        println!("share of {} runs that show a promised finding\n", self.options.runs);
        let strategies = match self.options.only {
            Some(Part::Ours) => &STRATEGIES[STRATEGIES.len() - 1..],
            _ => &STRATEGIES[..],
        };
        print!("{:<28}", "program");
        strategies.iter().for_each(|(heading, _)| print!("{heading:>11}"));
        println!();
        let mut worst = vec![f64::INFINITY; strategies.len()];
        for program in &broken {
            print!("{:<28}", program.class);
            for ((_, options), worst) in strategies.iter().zip(&mut worst) {
                let result = self.hunt(program, options)?;
                print!("{:>11.3}", result.probability);
                *worst = worst.min(result.probability);
            }
            println!();
        }
        if !broken.is_empty() {
            print!("{:<28}", "worst");
            worst.iter().for_each(|share| print!("{share:>11.3}"));
            println!("\n");
        }
        let mut false_alarms = 0;
        for program in &correct {
            for finding in self.hunt(program, &[])?.unexpected {
                false_alarms += 1;
                println!("{}: {finding} was confirmed, although the program is correct", program.class);
            }
        }
        println!("{} correct programs, {false_alarms} false alarms\n", correct.len());
        Ok(())
    }

    fn hunt(&self, program: &Program, options: &[&str]) -> Result<HuntResult> {
        let report = self.hunt_classes.join("report.json");
        let mut command = Command::new(&self.fissure);
        command
            .args(["hunt", "--no-minimise", "--runs", &self.options.runs.to_string()])
            .args(options)
            .args(&program.header.options);
        let java = program.java(&self.java());
        let java = java.with_context(|| format!("{} needs Java {}", program.class, program.release()))?;
        command.arg("--json").arg(&report).arg("--").arg(java).args(&program.header.java_options);
        command.arg("-cp").arg(&self.hunt_classes).arg(&program.class);
        let output = with_empty_input(&mut command)
            .output()
            .with_context(|| format!("cannot start {}", line(&command)))?;
        let text = fs::read(&report).unwrap_or_default();
        let _ = fs::remove_file(&report);
        let stderr = || String::from_utf8_lossy(&output.stderr).into_owned();
        let report: Value = serde_json::from_slice(&text)
            .with_context(|| format!("{} wrote no report: {}", line(&command), stderr()))?;
        if !report["problem"].is_null() {
            bail!("{}: {}", line(&command), report["problem"]);
        }
        Ok(judge(&report, &promised(program).collect::<Vec<_>>()))
    }

    fn speed(&self) -> Result<()> {
        let pair = self.cost(&PAIRS)?;
        println!("uncontended acquire and release, no switch: {}", pair.format(1e9, "ns"));
        let hand_over = self.cost(&HAND_OVERS)?;
        println!("hand-over by wait and notify: {}", hand_over.format(1e6, "us"));
        let operation = self.cost(&OPERATIONS)?;
        println!("acquire with a choice between two threads: {}", operation.format(1e6, "us"));
        println!("runs of {SMALL}, JVM start included: {:.1} per second", self.runs_per_second()?);
        Ok(())
    }

    /// The cost of one operation, from the difference between a run with all iterations and one with a tenth of them, which
    /// cancels the start of the JVM. Other variation remains: waiting threads may be mostly spinning or mostly asleep.
    fn cost(&self, kernel: &Kernel) -> Result<Cost> {
        let (mut short, mut long) = (Vec::new(), Vec::new());
        for _ in 0..self.options.rounds {
            short.push(self.time(kernel.class, kernel.count / 10)?);
            long.push(self.time(kernel.class, kernel.count)?);
        }
        Ok(Cost::new(&short, &long, kernel.count / 10 * 9 * kernel.operations))
    }

    fn time(&self, class: &str, count: u64) -> Result<f64> {
        let mut command = Command::new(&self.fissure);
        command.args(["replay", "--seed", "1", "--strategy", "random", "--steps", "1000000000"]);
        command.args(["--time-limit", "600", "--"]).arg(self.java());
        command.arg("-cp").arg(&self.kernel_classes).args([class, &count.to_string()]);
        let started = Instant::now();
        let output = with_empty_input(&mut command)
            .output()
            .with_context(|| format!("cannot start {}", line(&command)))?;
        let elapsed = started.elapsed().as_secs_f64();
        // A kernel prints a number when it has finished.
        if !String::from_utf8_lossy(&output.stdout).lines().any(|line| line.trim().parse::<u64>().is_ok()) {
            bail!("{} did not finish: {}", line(&command), String::from_utf8_lossy(&output.stderr));
        }
        Ok(elapsed)
    }

    fn runs_per_second(&self) -> Result<f64> {
        let time = |runs: u64| -> Result<f64> {
            let mut command = Command::new(&self.fissure);
            command.args(["hunt", "--runs", &runs.to_string(), "--"]).arg(self.java());
            command.arg("-cp").arg(&self.hunt_classes).arg(SMALL);
            let started = Instant::now();
            with_empty_input(&mut command)
                .output()
                .with_context(|| format!("cannot start {}", line(&command)))?;
            Ok(started.elapsed().as_secs_f64())
        };
        let (few, many) = (time(self.options.runs)?, time(2 * self.options.runs)?);
        Ok(self.options.runs as f64 / (many - few))
    }

    fn java(&self) -> PathBuf {
        self.jdk.bin().join("java")
    }
}

/// Gives programs an empty standard input.
fn with_empty_input(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null())
}

fn judge(report: &Value, promised: &[&Claim]) -> HuntResult {
    let runs = report["runs"].as_u64().unwrap_or_default().max(1) as f64;
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut result = HuntResult { probability: 0.0, unexpected: Vec::new() };
    for finding in findings.iter().filter(|finding| finding["status"] != "warning") {
        if promised.iter().any(|claim| claim.covers(finding)) {
            let hits = finding["hits"].as_u64().unwrap_or_default() as f64;
            result.probability = result.probability.max(hits / runs);
        } else {
            result.unexpected.push(format!("{} {}", finding["kind"], finding["subject"]));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_load_does_not_change_the_least_cost() {
        let cost = Cost::new(&[1.0, 9.0, 2.0], &[8.0, 3.0, 4.0], 2);
        assert_eq!(cost, Cost { least: 1.0, median: 1.0 });
        let disturbed = Cost::new(&[1.0, 9.0], &[3.0, 3.0], 2);
        assert_eq!(disturbed.least, 1.0);
        assert_eq!(disturbed.format(1e3, "ms").split(" in the").next(), Some("1000.00 ms"));
    }

    fn check(status: &str, subject: &str, probability: f64, unexpected: usize) {
        let finding =
            serde_json::json!({"kind": "deadlock", "status": status, "subject": subject, "hits": 5});
        let report = serde_json::json!({"runs": 20, "findings": [finding]});
        let result = judge(&report, &[&Claim::new("deadlock", "A.b:*")]);
        assert!((result.probability - probability).abs() < 1e-9, "{result:?}");
        assert_eq!(result.unexpected.len(), unexpected, "{result:?}");
    }

    #[test]
    fn hits_are_shares_of_runs() {
        check("bug", "A.b:7", 0.25, 0);
        check("confirmed", "A.b:7", 0.25, 0);
        check("warning", "A.b:7", 0.0, 0);
        check("confirmed", "A.c", 0.0, 1);
    }

    #[test]
    fn every_kernel_has_its_source() {
        for kernel in [PAIRS, HAND_OVERS, OPERATIONS] {
            let source = root().join("programs/bench").join(format!("{}.java", kernel.class));
            assert!(source.is_file(), "{}", source.display());
        }
        assert!(Folder::Hunt.programs().unwrap().iter().any(|program| program.class == SMALL));
    }
}
