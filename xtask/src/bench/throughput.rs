//! Measures how many runs a second a hunt makes in new JVMs and in warm ones, JVM start included, and compares the reports: iterations must
//! show exactly what processes show, or Fissure must have fallen back to processes with a reason.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use super::positive;
use crate::{
    jdk,
    statistics::geometric_mean,
    workspace::{cargo, files_below, fresh_folder, root, succeed, target},
};

/// What runs share.
const ISOLATIONS: [&str; 3] = ["jvm", "classes", "none"];
/// The beginning of the note with the reason why runs were processes.
const FALLBACK: &str = "every run had its own JVM: ";

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many runs each hunt makes in warm JVMs
    #[arg(long, default_value = "400", value_parser = positive::<u64>)]
    runs: u64,
    /// How many runs of each program are compared between processes and iterations
    #[arg(long, default_value = "20", value_parser = positive::<u64>)]
    compared: u64,
    /// Only programs whose name contains this
    #[arg(long, value_name = "PART")]
    program: Option<String>,
    /// Measure the debug build
    #[arg(long)]
    debug: bool,
}

/// A hunt that has ended.
struct Hunt {
    runs_per_second: f64,
    /// The report, without the counts of the JDK's own steps and without notes.
    report: Value,
    fallback: Option<String>,
}

struct Bench {
    fissure: PathBuf,
    java: PathBuf,
    classes: PathBuf,
}

/// Builds, measures and compares. Fails if a report differs.
pub(crate) fn run(options: &Options) -> Result<()> {
    let jdk = jdk::set_up()?;
    let profile = if options.debug { "debug" } else { "release" };
    let mut build = cargo(&["build", "-p", "fissure", "-p", "fissure-jvm"]);
    succeed(if options.debug { &mut build } else { build.arg("--release") })?;
    let classes = fresh_folder("bench-throughput")?;
    let sources = files_below(&root().join("programs/hunt"), "java")?;
    succeed(jdk.tool("javac").args(["--release", "11", "-g", "-nowarn", "-d"]).arg(&classes).args(&sources))?;
    let java = jdk.bin().join("java");
    let bench = Bench { fissure: target()?.join(profile).join("fissure"), java, classes };
    let names =
        sources.iter().map(|source| source.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    let names: Vec<String> =
        names.filter(|name| options.program.as_ref().is_none_or(|part| name.contains(part))).collect();
    println!("{:<32} {:>9} {:>9} {:>9}  runs a second", "", ISOLATIONS[0], ISOLATIONS[1], ISOLATIONS[2]);
    let (mut rates, mut differing, mut fallbacks) = (Vec::new(), 0, 0);
    for name in &names {
        let [own, same] = ["jvm", "classes"].map(|isolation| bench.hunt(name, isolation, options.compared));
        let (own, same) = (own?, same?);
        let remark = match same.fallback {
            Some(reason) => {
                fallbacks += 1;
                format!("processes: {reason}")
            }
            None if own.report == same.report => String::new(),
            None => {
                differing += 1;
                "the reports differ".to_owned()
            }
        };
        if remark.is_empty() {
            let [classes, none] =
                ["classes", "none"].map(|isolation| bench.hunt(name, isolation, options.runs));
            let row = [own.runs_per_second, classes?.runs_per_second, none?.runs_per_second];
            println!("{name:<32} {:>9.1} {:>9.1} {:>9.1}", row[0], row[1], row[2]);
            rates.push(row);
        } else {
            println!("{name:<32} {:>9.1}  {remark}", own.runs_per_second);
        }
    }
    let mean = |column: usize| geometric_mean(&rates.iter().map(|row| row[column]).collect::<Vec<f64>>());
    println!("{:<32} {:>9.1} {:>9.1} {:>9.1}", "geometric mean", mean(0), mean(1), mean(2));
    println!("\n{} programs, {fallbacks} by processes, {differing} differences", names.len());
    if differing > 0 {
        bail!("the reports of {differing} programs differ between processes and iterations");
    }
    Ok(())
}

impl Bench {
    /// Hunts at random with a number of seeds.
    fn hunt(&self, name: &str, isolation: &str, runs: u64) -> Result<Hunt> {
        let json = self.classes.join("report.json");
        let mut command = Command::new(&self.fissure);
        command.args(["hunt", "--strategy", "random", "--reference-runs", "1", "--no-minimise"]);
        command.args(["--fail-on", "never", "--isolation", isolation, "--runs", &runs.to_string(), "--json"]);
        command.arg(&json).arg("--").arg(&self.java).arg("-cp").arg(&self.classes).arg(name);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        command.status().with_context(|| format!("cannot start {}", self.fissure.display()))?;
        let seconds = begun.elapsed().as_secs_f64();
        let (report, fallback) = read(&json)?;
        Ok(Hunt { runs_per_second: (runs + 1) as f64 / seconds, report, fallback })
    }
}

/// Reads a report.
fn read(json: &Path) -> Result<(Value, Option<String>)> {
    let text = fs::read_to_string(json).with_context(|| format!("there is no {}", json.display()))?;
    let mut report: Value = serde_json::from_str(&text)?;
    fs::remove_file(json)?;
    let notes = report["notices"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let fallback = notes.filter_map(|note| note.strip_prefix(FALLBACK)).map(str::to_owned).next();
    if let Some(report) = report.as_object_mut() {
        report.remove("coverage");
        report.remove("notices");
    }
    Ok((report, fallback))
}
