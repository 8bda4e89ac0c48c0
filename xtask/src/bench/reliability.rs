//! Measures how reliably hunts find the bugs of programs: hunts with different seeds, replays of what they found, and hunts in the
//! correct twins, which must find nothing.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use clap::Args;
use fissure_testing::{Folder, Program, compile};
use serde_json::Value;

use super::positive;
use crate::{
    jdk,
    workspace::{cargo, fresh_folder, succeed, target},
};

/// The seeds of two hunts are this far apart.
const SEED_STEP: u64 = 10_000;

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many hunts are made in each program with a bug
    #[arg(long, default_value = "100", value_parser = positive::<u64>)]
    hunts: u64,
    /// How many runs each of them makes at most
    #[arg(long, default_value = "40", value_parser = positive::<u64>)]
    runs: u64,
    /// How often what the first hunt found is replayed
    #[arg(long, default_value = "100", value_parser = positive::<u64>)]
    replays: u64,
    /// How many runs are made in each correct program
    #[arg(long, default_value = "200", value_parser = positive::<u64>)]
    correct: u64,
    /// Only programs whose name contains this
    #[arg(long, value_name = "PART")]
    program: Option<String>,
    /// A `java` to use instead of that of the JDK
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
    /// Measure the debug build
    #[arg(long)]
    debug: bool,
}

/// The tools, classes and options for all hunts.
struct Bench<'a> {
    fissure: PathBuf,
    java: PathBuf,
    classes: PathBuf,
    options: &'a Options,
}

/// Builds and measures. Fails if a bug is found by less than 99 of 100 hunts, if a replay differs, or if there is a false alarm.
pub(crate) fn run(options: &Options) -> Result<()> {
    let jdk = jdk::set_up()?;
    let profile = if options.debug { "debug" } else { "release" };
    let mut build = cargo(&["build", "-p", "fissure", "-p", "fissure-jvm"]);
    succeed(if options.debug { &mut build } else { build.arg("--release") })?;
    let classes = fresh_folder("bench-reliability")?;
    let mut programs = Folder::Hunt.programs().map_err(anyhow::Error::msg)?;
    compile(&jdk.bin().join("javac"), &programs, &classes).map_err(anyhow::Error::msg)?;
    let java = options.java.clone().unwrap_or_else(|| jdk.bin().join("java"));
    programs.retain(|program| options.program.as_ref().is_none_or(|part| program.class.contains(part)));
    programs.retain(|program| program.java(&java).is_some());
    if programs.is_empty() {
        bail!("there is no such program");
    }
    let bench = Bench { fissure: target()?.join(profile).join("fissure"), java, classes, options };
    let mut unreliable = Vec::new();
    for program in &programs {
        let is_broken = program.header.is_broken();
        let line = if is_broken { bench.broken(program)? } else { bench.correct(program)? };
        println!("{:<32} {}", program.class, line.0);
        if !line.1 {
            unreliable.push(program.class.as_str());
        }
    }
    println!("\n{} programs, {} below the bar", programs.len(), unreliable.len());
    match unreliable.is_empty() {
        true => Ok(()),
        false => bail!("below the bar: {}", unreliable.join(", ")),
    }
}

impl Bench<'_> {
    /// Hunts often in a program with a bug, and replays what the first hunt found. Returns a line, and whether that is reliable.
    fn broken(&self, program: &Program) -> Result<(String, bool)> {
        let Options { hunts, runs, replays, .. } = self.options;
        let mut found = 0;
        let mut replayed = None;
        for hunt in 0..*hunts {
            let (seed, runs) = ((1 + hunt * SEED_STEP).to_string(), runs.to_string());
            let report = self.hunt(program, &["--seed", &seed, "--runs", &runs])?;
            if !shows_what_is_promised(&report, program) {
                continue;
            }
            found += 1;
            if replayed.is_none() {
                replayed = Some(self.replay(program, *replays)?);
            }
        }
        let same = replayed.unwrap_or_default();
        let line = format!("found by {found} of {hunts} hunts, {same} of {replays} replays equal");
        Ok((line, found * 100 >= hunts * 99 && same == *replays))
    }

    /// Replays the most certain finding of the report; gives how many replays showed it again and printed the same.
    fn replay(&self, program: &Program, replays: u64) -> Result<u64> {
        let mut same = 0;
        let mut first: Option<Vec<u8>> = None;
        for _ in 0..replays {
            let mut command = Command::new(&self.fissure);
            command.arg("replay").arg(self.report());
            self.program(&mut command, program);
            let output = command.stdin(Stdio::null()).output()?;
            let printed = [output.stdout, output.stderr].concat();
            let is_same = *first.get_or_insert_with(|| printed.clone()) == printed;
            same += u64::from(output.status.code() == Some(1) && is_same);
        }
        Ok(same)
    }

    /// Hunts in a correct program. Returns a line, and whether there was no false alarm.
    fn correct(&self, program: &Program) -> Result<(String, bool)> {
        let runs = self.options.correct.to_string();
        let report = self.hunt(program, &["--runs", &runs])?;
        let alarms: Vec<String> =
            happened(&report).map(|finding| format!("{} {}", finding["kind"], finding["subject"])).collect();
        let problem = report["problem"].as_str();
        match (alarms.is_empty(), problem) {
            (true, None) => Ok((format!("no alarm in {runs} runs"), true)),
            (true, Some(problem)) => Ok((format!("no result: {problem}"), false)),
            (false, _) => Ok((format!("FALSE ALARM: {}", alarms.join(", ")), false)),
        }
    }

    fn hunt(&self, program: &Program, options: &[&str]) -> Result<Value> {
        let report = self.report();
        let mut command = Command::new(&self.fissure);
        command.args(["hunt", "--no-minimise", "--fail-on", "never", "--json"]).arg(&report).args(options);
        // Those of the program that say how long to hunt are for its test.
        command.args(&program.header.options);
        self.program(&mut command, program);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        let text =
            fs::read_to_string(&report).with_context(|| format!("no report about {}", program.class))?;
        Ok(serde_json::from_str(&text)?)
    }

    fn report(&self) -> PathBuf {
        self.classes.join("report.json")
    }

    fn program(&self, command: &mut Command, program: &Program) {
        let java = program.java(&self.java).unwrap_or_else(|| self.java.clone());
        command.arg("--").arg(java).args(&program.header.java_options).arg("-cp").arg(&self.classes);
        command.arg(&program.class).args(&program.header.arguments);
    }
}

/// The findings that a run made happen.
fn happened(report: &Value) -> impl Iterator<Item = &Value> {
    report["findings"].as_array().into_iter().flatten().filter(|finding| finding["status"] != "warning")
}

/// Whether a report has everything that the header of a program promises.
fn shows_what_is_promised(report: &Value, program: &Program) -> bool {
    let header = &program.header;
    let is_bug = |finding: &&Value| finding["status"] == "bug";
    header
        .must_be_bug
        .iter()
        .all(|claim| happened(report).filter(is_bug).any(|finding| claim.covers(finding)))
        && header.must_confirm.iter().all(|claim| happened(report).any(|finding| claim.covers(finding)))
}
