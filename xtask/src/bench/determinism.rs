//! Checks that a seed determines a run: each program is run repeatedly under control with one seed, and its output and
//! Fissure's report, which contains a digest of the schedule, are compared byte for byte.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use fissure_testing::{Folder, Program, compile};

use serde_json::Value;

use super::{positive, throughput::FALLBACK};
use crate::{
    jdk,
    workspace::{cargo, fresh_folder, line, succeed, target},
};

/// The folders of the programs: those that print everything that could differ, and those for hunts.
const FOLDERS: [Folder; 2] = [Folder::Determinism, Folder::Hunt];

/// A goal with an access that no program has: accesses become scheduling points, and no thread is ever paused.
const UNREACHABLE_GOAL: &str = r#"{"delay":{"points":"all","last":{"site":"Nowhere.at:1","act":"write"}}}"#;

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How often each program runs with each seed
    #[arg(long, default_value = "100", value_parser = positive::<u64>)]
    runs: u64,
    /// The number of seeds
    #[arg(long, value_parser = positive::<u64>)]
    seeds: Option<u64>,
    /// How many threads keep the processors busy during the runs
    #[arg(long, value_name = "THREADS", default_value = "0")]
    busy: usize,
    /// Only programs whose name contains this
    #[arg(long, value_name = "PART")]
    program: Option<String>,
    /// Compare runs in new JVMs with those in warm ones instead, in both orders: as many seeds as --seeds, 20 without it
    #[arg(long)]
    iterations: bool,
    /// Where threads are switched
    #[arg(long, value_enum, default_value = "locks")]
    at: Points,
    /// A `java` to use instead of that of the JDK
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
}

/// The scheduling points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Points {
    /// Operations of locks
    Locks,
    /// Accesses, too
    Accesses,
}

/// The parts of a run that must be identical: the output of the program, and the report.
type Seen = (Vec<u8>, Vec<u8>);

/// The tools and classes for all runs.
struct Bench {
    fissure: PathBuf,
    java: PathBuf,
    classes: PathBuf,
    at_accesses: bool,
}

/// Builds, runs and compares. Fails if anything differs.
pub(crate) fn run(options: Options) -> Result<()> {
    let jdk = jdk::set_up()?;
    succeed(&mut cargo(&["build", "--release", "-p", "fissure", "-p", "fissure-jvm"]))?;
    let classes = fresh_folder("bench-determinism")?;
    let mut programs = Vec::new();
    for folder in FOLDERS {
        programs.extend(folder.programs().map_err(anyhow::Error::msg)?);
    }
    compile(&jdk.bin().join("javac"), &programs, &classes).map_err(anyhow::Error::msg)?;
    let java = options.java.clone().unwrap_or_else(|| jdk.bin().join("java"));
    let at_accesses = options.at == Points::Accesses;
    programs.retain(|program| options.program.as_ref().is_none_or(|part| program.class.contains(part)));
    programs.retain(|program| program.java(&java).is_some());
    let bench = Bench { fissure: target()?.join("release/fissure"), java, classes, at_accesses };
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..options.busy {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let differing = match options.iterations {
            true => bench.compare_with_iterations(&programs, options.seeds.unwrap_or(20)),
            false => bench.compare_all(&programs, &options),
        };
        is_over.store(true, Ordering::Relaxed);
        match differing? {
            0 => Ok(()),
            differing => bail!("{differing} pairs of program and seed gave different runs"),
        }
    })
}

impl Bench {
    /// Prints a line for every program and seed; returns the number of those with differences.
    fn compare_all(&self, programs: &[Program], options: &Options) -> Result<u64> {
        println!("identical runs, of {}\n", options.runs);
        let mut differing = 0;
        for program in programs {
            let name = &program.class;
            for seed in 1..=options.seeds.unwrap_or(1) {
                let counts = self.repeat(program, seed, options.runs)?;
                let same = counts.values().max().copied().unwrap_or_default();
                println!("{name:<32} seed {seed:<6} {same}");
                if same < options.runs {
                    differing += 1;
                    write_differences(&self.classes.join(format!("{name}-{seed}")), &counts)?;
                }
            }
        }
        println!(
            "\n{} programs, {} seeds each, {differing} differences",
            programs.len(),
            options.seeds.unwrap_or(1)
        );
        Ok(differing)
    }

    /// Compares the hunts of every program in new JVMs, in warm ones, and in warm ones with the runs in the reverse order. Returns the number of
    /// programs with differences. It is an error if more than one in ten cannot be repeated in one JVM.
    fn compare_with_iterations(&self, programs: &[Program], seeds: u64) -> Result<u64> {
        println!("runs in new JVMs and in warm ones, {seeds} seeds\n");
        let (mut differing, mut fallbacks) = (0, 0);
        for program in programs.iter().filter(|program| program.folder == Folder::Hunt) {
            let own = self.hunt(program, seeds, &["--isolation", "jvm"])?;
            let forwards = self.hunt(program, seeds, &["--isolation", "classes"])?;
            let backwards = self.hunt(program, seeds, &["--isolation", "classes", "--backwards"])?;
            let fallback = [&forwards, &backwards].into_iter().find_map(|hunt| hunt.1.as_ref());
            let verdict = match fallback {
                Some(reason) => {
                    fallbacks += 1;
                    format!("by processes: {reason}")
                }
                None if own.0 == forwards.0 && own.0 == backwards.0 => "the same".to_owned(),
                None => {
                    differing += 1;
                    "DIFFERENT".to_owned()
                }
            };
            println!("{:<32} {verdict}", program.class);
        }
        let all = programs.iter().filter(|program| program.folder == Folder::Hunt).count();
        println!("\n{all} programs, {seeds} seeds each, {differing} differences, {fallbacks} by processes");
        if fallbacks * 10 > all {
            bail!("more than one program in ten cannot be repeated in one JVM");
        }
        Ok(differing)
    }

    /// The report of a hunt at random, without what counts the JDK's own steps, and why its runs were processes, if they were.
    fn hunt(&self, program: &Program, seeds: u64, isolation: &[&str]) -> Result<(Value, Option<String>)> {
        let file = self.classes.join("report.json");
        let mut command = Command::new(&self.fissure);
        command.args([
            "hunt",
            "--strategy",
            "random",
            "--reference-runs",
            "2",
            "--no-minimise",
            "--fail-on",
            "never",
        ]);
        if self.at_accesses {
            command.args(["--points", "elements"]);
        }
        command.args(["--runs", &seeds.to_string(), "--json"]).arg(&file).args(isolation).arg("--");
        let java = program.java(&self.java).unwrap_or_else(|| self.java.clone());
        command.arg(java).args(&program.header.java_options).arg("-cp").arg(&self.classes);
        command.arg(&program.class).args(&program.header.arguments).stdin(Stdio::null());
        let output = command.output().with_context(|| format!("cannot start {}", line(&command)))?;
        let text = fs::read_to_string(&file).with_context(|| {
            format!("{} wrote no report: {}", line(&command), String::from_utf8_lossy(&output.stderr))
        })?;
        let mut report: Value = serde_json::from_str(&text)?;
        let notes = report["notices"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let fallback = notes.filter_map(|note| note.strip_prefix(FALLBACK)).map(str::to_owned).next();
        if let Some(report) = report.as_object_mut() {
            report.remove("coverage");
            report.remove("notices");
        }
        Ok((report, fallback))
    }

    /// Runs a program `runs` times, in parallel on all processors; counts how often each output and report was seen.
    fn repeat(&self, program: &Program, seed: u64, runs: u64) -> Result<BTreeMap<Seen, u64>> {
        let java = program.java(&self.java).unwrap_or_else(|| self.java.clone());
        let next = AtomicU64::new(0);
        let counts = Mutex::new(BTreeMap::new());
        let failures = Mutex::new(Vec::new());
        let workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for worker in 0..workers {
                let (next, counts, failures, java) = (&next, &counts, &failures, &java);
                scope.spawn(move || {
                    while next.fetch_add(1, Ordering::Relaxed) < runs {
                        match self.once(program, java, seed, worker) {
                            Ok(seen) => {
                                let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                                *counts.entry(seen).or_default() += 1;
                            }
                            Err(error) => {
                                failures.lock().unwrap_or_else(PoisonError::into_inner).push(error);
                                return;
                            }
                        }
                    }
                });
            }
        });
        match failures.into_inner().unwrap_or_else(PoisonError::into_inner).pop() {
            Some(error) => Err(error),
            None => Ok(counts.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn once(&self, program: &Program, java: &Path, seed: u64, worker: usize) -> Result<Seen> {
        let report = self.classes.join(format!("report-{worker}.json"));
        let mut command = Command::new(&self.fissure);
        command.args(["replay", "--seed", &seed.to_string(), "--json"]).arg(&report);
        if self.at_accesses {
            command.args(["--goal", UNREACHABLE_GOAL]);
        }
        command.arg("--");
        command.arg(java).args(&program.header.java_options).arg("-cp").arg(&self.classes);
        command.arg(&program.class).stdin(Stdio::null());
        let output = command.output().with_context(|| format!("cannot start {}", line(&command)))?;
        let text = fs::read(&report).with_context(|| {
            format!("{} wrote no report: {}", line(&command), String::from_utf8_lossy(&output.stderr))
        })?;
        let _ = fs::remove_file(&report);
        Ok((output.stdout, text))
    }
}

/// Writes the different outputs and reports to a folder for inspection.
fn write_differences(folder: &Path, counts: &BTreeMap<Seen, u64>) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (number, ((printed, report), count)) in counts.iter().enumerate() {
        fs::write(folder.join(format!("{number}-seen-{count}.txt")), printed)?;
        fs::write(folder.join(format!("{number}-seen-{count}.json")), report)?;
    }
    println!("    see {}", folder.display());
    Ok(())
}
