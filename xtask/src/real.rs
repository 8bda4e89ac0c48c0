//! `cargo xtask real`: programs from Maven artifacts, each plain, under `fissure detect` and under a short `fissure hunt`.
//!
//! The drivers and their artifacts are in `programs/real`. A program under Fissure must print the same and end with the same exit code as the
//! plain program, within a time limit, and Fissure itself must not fail. The findings of all runs go into a table, each with its triage from
//! `programs/real/triage.toml`. Programs whose library is of interest are also watched with the library's classes as the scope. [`bars`]
//! says what the findings of all runs together must be like.

mod bars;
mod catalog;
mod fetch;
mod process;
mod table;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use fissure_testing::{AGENT, Recorded, write_record};
use serde_json::Value;

use crate::{
    jdk::{self, Jdk},
    workspace::{cargo, root, succeed, target},
};
use catalog::{Catalog, Program};
pub(crate) use fetch::class_path;
use process::Run;
use table::Row;

/// A run that takes longer is a hang.
const LIMIT: Duration = Duration::from_secs(180);
/// The options of the short hunt.
const HUNT: [&str; 7] = ["--runs", "4", "--reference-runs", "2", "--no-minimise", "--time-limit", "60"];

/// How a program is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    Detect,
    /// Under `detect` with the library's classes as the scope.
    Library,
    Hunt,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Plain => "plain",
            Mode::Detect => "detect",
            Mode::Library => "library",
            Mode::Hunt => "hunt",
        }
    }
}

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only programs whose name contains this
    #[arg(long, value_name = "PART")]
    program: Option<String>,
    /// Only the programs that take little time, on one JVM
    #[arg(long = "quick")]
    is_quick: bool,
    /// Only one of the ways to run them under Fissure
    #[arg(long, value_enum)]
    only: Option<Only>,
    /// With the debug build
    #[arg(long = "debug")]
    is_debug: bool,
}

/// A way to run programs under Fissure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    Detect,
    Library,
    Hunt,
}

/// Runs all of it, prints and writes the table. Fails if a program behaves differently under Fissure.
pub(crate) fn run(options: &Options) -> Result<()> {
    let catalog = Catalog::read(&root().join("programs/real"))?;
    let jdk = jdk::set_up()?;
    let profile = if options.is_debug { "debug" } else { "release" };
    let build: &[&str] = if options.is_debug { &["build"] } else { &["build", "--release"] };
    // As a step of the tests it uses what an earlier step has built.
    if env::var_os(AGENT).is_none() {
        succeed(&mut cargo(build))?;
    }
    let fissure = target()?.join(profile).join("fissure");
    let folder = target()?.join("xtask/real");
    let wanted = |program: &&Program| {
        options.program.as_ref().is_none_or(|part| program.name.contains(part.as_str()))
            && (!options.is_quick || program.quick)
            && (options.only != Some(Only::Library) || program.scope.is_some())
    };
    let programs: Vec<&Program> = catalog.programs.iter().filter(wanted).collect();
    if programs.is_empty() {
        bail!("no program of programs/real matches");
    }
    let mut rows = Vec::new();
    let mut untried = Vec::new();
    for program in programs {
        let prepared = match fetch::prepare(program, &catalog.folder, &folder.join(&program.name), &jdk) {
            Ok(prepared) => prepared,
            Err(error) => {
                println!("{}: skipped: {error:#}", program.name);
                let (name, skipped) = (format!("real::{}", program.name), Some(format!("{error:#}")));
                write_record(&Recorded { name, time: Duration::ZERO, skipped });
                untried.push(format!("{}: {error:#}", program.name));
                continue;
            }
        };
        for java in javas(&jdk, options.is_quick) {
            rows.extend(try_program(program, &prepared, &java, &fissure, options)?);
        }
    }
    let bars = bars::measure(&rows, &catalog.triage);
    let text = table::render(&rows, &untried, &catalog.triage, &bars);
    let file = folder.join("table.md");
    fs::write(&file, &text).with_context(|| format!("cannot write {}", file.display()))?;
    println!("\n{text}\nwritten to {}", file.display());
    let broken = rows.iter().filter(|row| !row.problems.is_empty()).count();
    if broken > 0 {
        bail!("{broken} of {} runs are not as they should be", rows.len());
    }
    if let Some(missed) = bars.iter().find(|bar| !bar.is_met) {
        bail!("a bar is not met: {}", missed.text);
    }
    Ok(())
}

/// The command that starts a program, without `java` itself.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) arguments: Vec<String>,
}

/// The JVMs to try: the default one, and the newest of the others unless the time is short.
fn javas(jdk: &Jdk, is_quick: bool) -> Vec<PathBuf> {
    let mut javas = vec![jdk.bin().join("java")];
    if !is_quick {
        javas.extend(jdk::newest_other(jdk).map(|other| other.bin().join("java")));
    }
    javas
}

fn try_program(
    program: &Program,
    prepared: &Prepared,
    java: &Path,
    fissure: &Path,
    options: &Options,
) -> Result<Vec<Row>> {
    let json = target()?.join("xtask/real").join(&program.name).join("findings.json");
    let wants = |mode: Mode| match (mode, options.only) {
        (Mode::Library, _) if program.scope.is_none() || options.is_quick => false,
        (Mode::Plain, _) | (_, None) => true,
        (_, Some(Only::Detect)) => mode == Mode::Detect,
        (_, Some(Only::Library)) => mode == Mode::Library,
        (_, Some(Only::Hunt)) => mode == Mode::Hunt,
    };
    let mut rows = Vec::new();
    let mut plain: Option<Run> = None;
    for mode in [Mode::Plain, Mode::Detect, Mode::Library, Mode::Hunt] {
        if !wants(mode) {
            continue;
        }
        let mut command = Command::new(if mode == Mode::Plain { java } else { fissure });
        if mode != Mode::Plain {
            if json.exists() {
                fs::remove_file(&json).context("cannot remove the last report")?;
            }
            match mode {
                Mode::Hunt => command.arg("hunt").args(HUNT),
                _ => command.arg("detect"),
            };
            if let Some(scope) = program.scope.as_ref().filter(|_| mode == Mode::Library) {
                command.args(["--scope", scope]);
            }
            command.arg("--json").arg(&json).arg("--").arg(java);
        }
        command.args(&prepared.arguments);
        print!("{:<20} {:<7} {} … ", program.name, mode.name(), java.display());
        let run = process::run(&mut command, LIMIT)?;
        let report: Option<Value> =
            fs::read_to_string(&json).ok().and_then(|text| serde_json::from_str(&text).ok());
        let row = Row::new(program, java, mode, &run, plain.as_ref(), report.filter(|_| mode != Mode::Plain));
        println!(
            "{:.1} s{}",
            run.elapsed.as_secs_f64(),
            if row.problems.is_empty() { "" } else { ", NOT AS IT SHOULD BE" }
        );
        for problem in &row.problems {
            println!("    {problem}");
        }
        rows.push(row);
        if mode == Mode::Plain {
            plain = Some(run);
        }
    }
    Ok(rows)
}
