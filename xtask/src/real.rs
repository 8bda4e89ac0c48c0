//! `cargo xtask real`: programs from Maven artifacts, each plain, under `fissure detect` and under a short `fissure hunt`.
//!
//! The drivers and their artifacts are in `programs/real`. A program under Fissure must print the same and end with the same exit code as the
//! plain program, within a time limit, and Fissure itself must not fail. The findings of all runs go into a table, each with its triage from
//! `programs/real/triage.toml`.

mod catalog;
mod fetch;
mod process;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{
    jdk::{self, Jdk},
    workspace::{cargo, root, succeed, target},
};
use catalog::{Catalog, Program};
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
    Hunt,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Plain => "plain",
            Mode::Detect => "detect",
            Mode::Hunt => "hunt",
        }
    }
}

/// What the user asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    program: Option<String>,
    is_quick: bool,
    only: Option<String>,
    is_debug: bool,
}

/// Runs all of it, prints and writes the table. Fails if a program behaves differently under Fissure.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let options = parse(arguments)?;
    let catalog = Catalog::read(&root().join("programs/real"))?;
    let jdk = jdk::set_up()?;
    let profile = if options.is_debug { "debug" } else { "release" };
    let build: &[&str] = if options.is_debug { &["build"] } else { &["build", "--release"] };
    succeed(&mut cargo(build))?;
    let fissure = target()?.join(profile).join("fissure");
    let folder = target()?.join("xtask/real");
    let wanted = |program: &&Program| {
        options.program.as_ref().is_none_or(|part| program.name.contains(part.as_str()))
            && (!options.is_quick || program.quick)
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
                println!("{}: not tried: {error:#}", program.name);
                untried.push(format!("{}: {error:#}", program.name));
                continue;
            }
        };
        for java in javas(&jdk, options.is_quick) {
            rows.extend(try_program(program, &prepared, &java, &fissure, &options)?);
        }
    }
    let text = table::render(&rows, &untried, &catalog.triage);
    let file = folder.join("table.md");
    fs::write(&file, &text).with_context(|| format!("cannot write {}", file.display()))?;
    println!("\n{text}\nwritten to {}", file.display());
    let broken = rows.iter().filter(|row| !row.problems.is_empty()).count();
    if broken > 0 {
        bail!("{broken} of {} runs are not as they should be", rows.len());
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
    let wants = |mode: Mode| options.only.as_deref().is_none_or(|only| only == mode.name());
    let mut rows = Vec::new();
    let mut plain: Option<Run> = None;
    for mode in [Mode::Plain, Mode::Detect, Mode::Hunt] {
        if mode != Mode::Plain && !wants(mode) {
            continue;
        }
        let mut command = Command::new(if mode == Mode::Plain { java } else { fissure });
        if mode != Mode::Plain {
            if json.exists() {
                fs::remove_file(&json).context("cannot remove the last report")?;
            }
            command.arg(mode.name());
            if mode == Mode::Hunt {
                command.args(HUNT);
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

fn parse(arguments: &[&str]) -> Result<Options> {
    let mut options = Options::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "--quick" => options.is_quick = true,
            "--debug" => options.is_debug = true,
            "--program" => {
                options.program =
                    Some((*words.next().context("--program needs a part of a name")?).to_owned());
            }
            "--only" => match words.next() {
                Some(mode @ (&"detect" | &"hunt")) => options.only = Some((*mode).to_owned()),
                _ => bail!("--only needs detect or hunt"),
            },
            other => bail!(
                "'{other}' is not known; real takes --quick, --debug, --program PART and --only detect|hunt"
            ),
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_understood() {
        let check = |line: &str, expected: Option<Options>| {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(parse(&words).ok(), expected, "{line}");
        };
        check("", Some(Options::default()));
        let some =
            Options { program: Some("h2".to_owned()), only: Some("hunt".to_owned()), ..Options::default() };
        check("--program h2 --only hunt", Some(some));
        check("--quick --debug", Some(Options { is_quick: true, is_debug: true, ..Options::default() }));
        check("--only plain", None);
        check("--program", None);
        check("--rounds 3", None);
    }
}
