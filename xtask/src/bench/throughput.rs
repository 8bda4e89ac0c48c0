//! Measures how many runs a second a hunt makes in new JVMs and in warm ones, how long it takes to the first bug, and how much memory a
//! warm JVM has after many runs. JVM starts are included in all times. [`tests`] measures `fissure test`.

mod tests;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use fissure_testing::{Folder, Program, compile};
use serde_json::Value;

use super::positive;
use crate::{
    jdk,
    statistics::{geometric_mean, median},
    workspace::{cargo, fresh_folder, succeed, target},
};

/// The beginning of the note with the reason why runs were processes.
pub(super) const FALLBACK: &str = "every run had its own JVM: ";
/// The program that repeats another without control.
const REPEAT: &str = include_str!("throughput/Repeat.java");
/// How long the uncontrolled loop may take: some programs deadlock.
const PATIENCE: Duration = Duration::from_secs(20);

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What is measured; everything without this option
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// How many runs each hunt makes in warm JVMs
    #[arg(long, default_value = "4000", value_parser = positive::<u64>)]
    runs: u64,
    /// How many runs each hunt makes in new JVMs
    #[arg(long, default_value = "20", value_parser = positive::<u64>)]
    processes: u64,
    /// How many runs one JVM makes while its memory is measured
    #[arg(long, default_value = "100000", value_parser = positive::<u64>)]
    iterations: u64,
    /// Only programs whose name contains this
    #[arg(long, value_name = "PART")]
    program: Option<String>,
    /// Only every so many-th program
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive::<usize>)]
    every: usize,
    /// Measure the debug build
    #[arg(long)]
    debug: bool,
}

/// A measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Runs a second
    Rate,
    /// The time to the first bug
    FirstBug,
    /// The memory of a warm JVM over many runs
    Memory,
    /// `fissure test`
    Tests,
}

/// The tools and classes for all measurements.
struct Bench {
    fissure: PathBuf,
    java: PathBuf,
    classes: PathBuf,
}

/// A hunt that has ended.
struct Hunt {
    seconds: f64,
    runs: u64,
    /// Whether a run showed a failure that depends on the schedule.
    has_failure: bool,
    fallback: Option<String>,
}

impl Hunt {
    fn rate(&self) -> f64 {
        self.runs as f64 / self.seconds
    }
}

/// Builds and measures.
pub(crate) fn run(options: &Options) -> Result<()> {
    let jdk = jdk::set_up()?;
    let profile = if options.debug { "debug" } else { "release" };
    let mut build = cargo(&["build", "-p", "fissure", "-p", "fissure-jvm"]);
    succeed(if options.debug { &mut build } else { build.arg("--release") })?;
    let classes = fresh_folder("bench-throughput")?;
    let mut programs = Folder::Hunt.programs().map_err(anyhow::Error::msg)?;
    compile(&jdk.bin().join("javac"), &programs, &classes).map_err(anyhow::Error::msg)?;
    let repeat = classes.join("Repeat.java");
    fs::write(&repeat, REPEAT)?;
    succeed(jdk.tool("javac").args(["--release", "11", "-d"]).arg(&classes).arg(&repeat))?;
    let java = jdk.bin().join("java");
    programs.retain(|program| options.program.as_ref().is_none_or(|part| program.class.contains(part)));
    programs.retain(|program| program.java(&java).is_some());
    let programs: Vec<Program> = programs.into_iter().step_by(options.every).collect();
    let bench = Bench { fissure: target()?.join(profile).join("fissure"), java, classes };
    let is_wanted = |part| options.only.is_none_or(|only| only == part);
    if is_wanted(Part::Rate) {
        bench.rates(&programs, options)?;
    }
    if is_wanted(Part::FirstBug) {
        bench.first_bugs(&programs)?;
    }
    if is_wanted(Part::Memory) {
        bench.memory(&programs, options)?;
    }
    if is_wanted(Part::Tests) {
        tests::measure(&bench.fissure, options.runs)?;
    }
    Ok(())
}

impl Bench {
    /// Prints the runs a second of each program, and the geometric means.
    fn rates(&self, programs: &[Program], options: &Options) -> Result<()> {
        println!("{:<32} {:>9} {:>9} {:>9} {:>9}  runs a second", "", "jvm", "classes", "none", "plain");
        let mut columns: [Vec<f64>; 4] = Default::default();
        // The loop without control, and the runs with the same classes, of the programs that permit both.
        let mut pairs: Vec<f64> = Vec::new();
        for program in programs {
            let hunt = |isolation: &str, runs| self.random(program, isolation, runs);
            let own = hunt("jvm", options.processes)?;
            let warm = hunt("classes", options.processes)?;
            if let Some(reason) = &warm.fallback {
                println!("{:<32} {:>9.1}  by processes: {reason}", program.class, own.rate());
                continue;
            }
            let warm = hunt("classes", options.runs)?;
            let is_repeatable = hunt("none", options.processes)?.fallback.is_none();
            let same = if is_repeatable { Some(hunt("none", options.runs)?.rate()) } else { None };
            let plain = if is_repeatable { self.plain(program, options.runs) } else { None };
            let shown = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}"));
            println!(
                "{:<32} {:>9.1} {:>9.1} {:>9} {:>9}",
                program.class,
                own.rate(),
                warm.rate(),
                shown(same),
                shown(plain)
            );
            for (column, rate) in columns.iter_mut().zip([Some(own.rate()), Some(warm.rate()), same, plain]) {
                column.extend(rate);
            }
            pairs.extend(same.zip(plain).map(|(same, plain)| same / plain));
        }
        let means = columns.each_ref().map(|rates| geometric_mean(rates));
        println!(
            "{:<32} {:>9.1} {:>9.1} {:>9.1} {:>9.1}",
            "geometric mean", means[0], means[1], means[2], means[3]
        );
        println!(
            "{} programs, {} in warm JVMs; with the same classes, {:.2} of the rate of the loop without control ({} programs)\n",
            programs.len(),
            columns[1].len(),
            geometric_mean(&pairs),
            pairs.len()
        );
        Ok(())
    }

    /// Prints how long a hunt takes to the first failure in each program that has one, to the end of the command.
    fn first_bugs(&self, programs: &[Program]) -> Result<()> {
        println!("{:<32} {:>9} {:>9}", "first failure", "seconds", "runs");
        let (mut times, mut missed) = (Vec::new(), Vec::new());
        for program in programs.iter().filter(|program| !program.header.must_be_bug.is_empty()) {
            let own: Vec<&str> = program.header.options.iter().map(String::as_str).collect();
            let hunt = self.hunt(program, &[&["--until-bug"], &own[..]].concat())?;
            let note = hunt.fallback.map(|reason| format!("  by processes: {reason}")).unwrap_or_default();
            println!("{:<32} {:>9.2} {:>9}{note}", program.class, hunt.seconds, hunt.runs);
            match hunt.has_failure {
                true => times.push(hunt.seconds),
                false => missed.push(program.class.clone()),
            }
        }
        if times.is_empty() {
            bail!("no program with a bug was measured");
        }
        let most = times.iter().copied().fold(0.0, f64::max);
        println!("median {:.2} s, at most {most:.2} s, {} programs\n", median(&times), times.len());
        if !missed.is_empty() {
            bail!("no bug was found in {}", missed.join(", "));
        }
        Ok(())
    }

    /// Prints the memory of the JVM of one program while it executes many runs, at ten times.
    fn memory(&self, programs: &[Program], options: &Options) -> Result<()> {
        let program = programs.first().context("there is no such program")?;
        println!("resident memory of the JVMs for {}, MiB, over {} runs", program.class, options.iterations);
        let runs = options.iterations.to_string();
        let mut command = self.command(&["--strategy", "random", "--no-minimise", "--jobs", "1"]);
        command.args(["--reference-runs", "1", "--runs", &runs]);
        self.program(&mut command, program);
        let begun = Instant::now();
        let mut child = command.spawn()?;
        let mut sizes: Vec<(f64, u64)> = Vec::new();
        while child.try_wait()?.is_none() {
            thread::sleep(Duration::from_secs(1));
            sizes.push((begun.elapsed().as_secs_f64(), memory_of_children(child.id())));
        }
        for (seconds, size) in sizes.iter().step_by((sizes.len() / 10).max(1)) {
            println!("{seconds:>8.0} s {:>8}", size >> 20);
        }
        let most = sizes.iter().map(|(_, size)| *size).max().unwrap_or_default();
        println!(
            "at most {} MiB, {:.0} runs a second\n",
            most >> 20,
            options.iterations as f64 / begun.elapsed().as_secs_f64()
        );
        Ok(())
    }

    /// Hunts at random with a number of seeds.
    fn random(&self, program: &Program, isolation: &str, runs: u64) -> Result<Hunt> {
        let runs = runs.to_string();
        let options = ["--strategy", "random", "--reference-runs", "1", "--no-minimise"];
        self.hunt(program, &[&options[..], &["--isolation", isolation, "--runs", &runs]].concat())
    }

    fn hunt(&self, program: &Program, options: &[&str]) -> Result<Hunt> {
        let json = self.classes.join("report.json");
        let mut command = self.command(options);
        command.arg("--json").arg(&json);
        self.program(&mut command, program);
        let begun = Instant::now();
        command.status().with_context(|| format!("cannot start {}", self.fissure.display()))?;
        let seconds = begun.elapsed().as_secs_f64();
        let text = fs::read_to_string(&json).with_context(|| format!("no report about {}", program.class))?;
        fs::remove_file(&json)?;
        let report: Value = serde_json::from_str(&text)?;
        let notes = report["notices"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let fallback = notes.filter_map(|note| note.strip_prefix(FALLBACK)).map(str::to_owned).next();
        let findings = report["findings"].as_array().into_iter().flatten();
        let has_failure =
            findings.clone().any(|finding| finding["status"] == "bug" || finding["kind"] == "failure");
        Ok(Hunt { seconds, runs: report["runs"].as_u64().unwrap_or_default(), has_failure, fallback })
    }

    fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(&self.fissure);
        command.arg("hunt").args(options).args(["--fail-on", "never"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn program(&self, command: &mut Command, program: &Program) {
        let java = program.java(&self.java).unwrap_or_else(|| self.java.clone());
        command.arg("--").arg(java).args(&program.header.java_options).arg("-cp").arg(&self.classes);
        command.arg(&program.class).args(&program.header.arguments);
    }

    /// The runs a second of a loop without control in one JVM; `None` if the program cannot be repeated like that.
    fn plain(&self, program: &Program, runs: u64) -> Option<f64> {
        let mut command = Command::new(program.java(&self.java)?);
        command.args(&program.header.java_options).arg("-cp").arg(&self.classes);
        command.args(["Repeat", &program.class, &runs.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn().ok()?;
        if !ends_in_time(&mut child) {
            return None;
        }
        let seconds = begun.elapsed().as_secs_f64();
        let output = child.wait_with_output().ok()?;
        // Only a loop that came to its end printed its time.
        String::from_utf8(output.stdout).ok()?.trim().parse::<u64>().ok()?;
        Some(runs as f64 / seconds)
    }
}

/// Waits for the end of a process, and kills it if that takes too long.
fn ends_in_time(child: &mut Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        thread::sleep(Duration::from_millis(2));
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// The resident memory of all children of a process, in bytes.
fn memory_of_children(parent: u32) -> u64 {
    // JVMs are started by other threads than the first.
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let listed = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let ids = listed.flat_map(|text| {
        text.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()
    });
    ids.map(|id| resident(Path::new(&format!("/proc/{id}/status")))).sum()
}

fn resident(status: &Path) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() << 10
}
