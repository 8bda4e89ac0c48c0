//! Measures the overhead of detection: kernels run alternately with and without Fissure, and results are ratios to the plain run.

pub(crate) mod assets;
pub(crate) mod determinism;
pub(crate) mod differential;
pub(crate) mod hunt;
pub(crate) mod object;
pub(crate) mod reliability;
pub(crate) mod throughput;
pub(crate) mod whole_program;

use std::{path::PathBuf, process::Command, time::Instant};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{
    jdk::{self, Jdk},
    statistics::{geometric_mean, median},
    workspace::{cargo, files_below, fresh_folder, line, root, succeed, target},
};

/// Kernels like those on which published detectors are measured; the performance targets apply to these.
const HEADLINE_KERNELS: [&str; 12] = [
    "Cipher",
    "LuFactor",
    "Molecules",
    "MonteCarlo",
    "RayTracer",
    "Fourier",
    "Relaxation",
    "SparseMultiply",
    "Salesman",
    "TextBuilding",
    "WordCounts",
    "Queues",
];

/// Small kernels that mostly access fields and locks.
const FIELD_KERNELS: [&str; 5] = ["FieldLoop", "SmallObjects", "LockHeavy", "ReadShared", "Bodies"];

/// Small kernels that mostly access arrays.
const ARRAY_KERNELS: [&str; 2] = ["Sieve", "Matrix"];

/// The program whose start-up is measured.
const HELLO: &str = "Hello";

/// The instrumentation with which a kernel runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    Locks,
    Fields,
    All,
    /// Racer and Atomizer in one run, on fields.
    Atomizer,
    /// Fields without those that the static analysis found to be thread-local.
    Static,
    /// The same for fields and arrays.
    StaticAll,
    /// Racer on fields and arrays; nothing orders accesses.
    Unordered,
    /// Racer and Atomizer in one run, on fields and arrays.
    AtomizerAll,
}

const HEADLINE_MODES: [Mode; 5] =
    [Mode::Plain, Mode::All, Mode::Unordered, Mode::AtomizerAll, Mode::StaticAll];

const FIELD_MODES: [Mode; 5] = [Mode::Plain, Mode::Locks, Mode::Fields, Mode::Static, Mode::Atomizer];
const ARRAY_MODES: [Mode; 5] = [Mode::Plain, Mode::Locks, Mode::Fields, Mode::All, Mode::StaticAll];

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How often each kernel runs in each mode
    #[arg(long, default_value = "5", value_parser = positive::<usize>)]
    rounds: usize,
    /// A factor for the work of the kernels
    #[arg(long, default_value = "4", value_parser = positive::<u32>)]
    scale: u32,
    /// How many threads the kernels use that let their number be chosen
    #[arg(long, default_value = "2", value_parser = positive::<u32>)]
    threads: u32,
    /// Compare the CPU time of the process instead of the elapsed time, on a machine that does other work as well
    #[arg(long)]
    cpu: bool,
    /// Only the kernels that the performance targets apply to, and the start-up
    #[arg(long)]
    headline: bool,
    /// Only this kernel
    #[arg(long, value_name = "NAME", value_parser = known)]
    kernel: Option<String>,
}

/// One run of a kernel, or the medians of several: nanoseconds and bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Measure {
    elapsed: f64,
    heap: f64,
}

/// The tools, classes and options for all runs.
struct Bench {
    jdk: Jdk,
    fissure: PathBuf,
    classes: PathBuf,
    options: Options,
}

/// Builds, measures and prints.
pub(crate) fn run(options: Options) -> Result<()> {
    let jdk = jdk::set_up()?;
    succeed(&mut cargo(&["build", "--release"]))?;
    let classes = fresh_folder("bench")?;
    let sources = files_below(&root().join("programs/bench"), "java")?;
    succeed(jdk.tool("javac").args(["--release", "11", "-g", "-d"]).arg(&classes).args(sources))?;
    let bench = Bench { jdk, fissure: target()?.join("release/fissure"), classes, options };
    let wanted = |name: &&str| bench.options.kernel.as_ref().is_none_or(|kernel| kernel == name);
    let is_small_wanted = |name: &&str| !bench.options.headline && wanted(name);
    println!("median of {} rounds; ratios are to the plain run\n", bench.options.rounds);
    bench.table(&HEADLINE_KERNELS.into_iter().filter(wanted).collect::<Vec<_>>(), &HEADLINE_MODES)?;
    bench.table(&FIELD_KERNELS.into_iter().filter(is_small_wanted).collect::<Vec<_>>(), &FIELD_MODES)?;
    bench.table(&ARRAY_KERNELS.into_iter().filter(is_small_wanted).collect::<Vec<_>>(), &ARRAY_MODES)?;
    if wanted(&HELLO) {
        bench.start_up()?;
    }
    Ok(())
}

/// A kernel of this name.
fn known(name: &str) -> Result<String> {
    if !kernels().any(|kernel| kernel == name) {
        bail!("there is no kernel '{name}': {}", kernels().collect::<Vec<_>>().join(", "));
    }
    Ok(name.to_owned())
}

fn kernels() -> impl Iterator<Item = &'static str> {
    HEADLINE_KERNELS.into_iter().chain(FIELD_KERNELS).chain(ARRAY_KERNELS).chain([HELLO])
}

/// A number of at least 1.
pub(crate) fn positive<T: std::str::FromStr + PartialOrd + From<u8>>(number: &str) -> Result<T> {
    let parsed = number.parse().ok().filter(|value| *value >= T::from(1));
    parsed.with_context(|| format!("'{number}' is not a number of at least 1"))
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Plain => "plain",
            Mode::Locks => "locks",
            Mode::Fields => "fields",
            Mode::All => "all",
            Mode::Atomizer | Mode::AtomizerAll => "atomizer",
            Mode::Static | Mode::StaticAll => "static",
            Mode::Unordered => "unordered",
        }
    }

    /// The values of `--watch` and `--analysis`.
    fn options(self) -> [&'static str; 2] {
        match self {
            Mode::Atomizer => ["fields", "racer,atomizer"],
            Mode::Static => ["fields", "racer"],
            Mode::StaticAll | Mode::Unordered => ["all", "racer"],
            Mode::AtomizerAll => ["all", "racer,atomizer"],
            mode => [mode.name(), "racer"],
        }
    }
}

impl Bench {
    /// Measures some kernels and prints a line for each, and the means.
    fn table(&self, kernels: &[&str], modes: &[Mode]) -> Result<()> {
        if kernels.is_empty() {
            return Ok(());
        }
        let watched = &modes[1..];
        print!("{:<14}{:>10}", "kernel", "plain");
        watched.iter().for_each(|mode| print!("{:>10}", mode.name()));
        print!("{:>12}", "plain heap");
        watched.iter().for_each(|mode| print!("{:>10}", mode.name()));
        println!();
        let mut times = vec![Vec::new(); watched.len()];
        let mut heaps = vec![Vec::new(); watched.len()];
        for kernel in kernels {
            let medians = self.kernel(kernel, modes)?;
            let [plain, watched @ ..] = medians.as_slice() else { bail!("nothing was measured") };
            print!("{kernel:<14}{:>7.0} ms", plain.elapsed / 1e6);
            for (median, ratios) in watched.iter().zip(&mut times) {
                ratios.push(median.elapsed / plain.elapsed);
                print!("{:>9.2}x", median.elapsed / plain.elapsed);
            }
            print!("{:>9.1} MB", plain.heap / 1e6);
            for (median, ratios) in watched.iter().zip(&mut heaps) {
                ratios.push(median.heap / plain.heap);
                print!("{:>9.2}x", median.heap / plain.heap);
            }
            println!();
        }
        print!("{:<14}{:>10}", "geometric mean", "");
        times.iter().for_each(|ratios| print!("{:>9.2}x", geometric_mean(ratios)));
        print!("{:>12}", "");
        heaps.iter().for_each(|ratios| print!("{:>9.2}x", geometric_mean(ratios)));
        println!("\n");
        Ok(())
    }

    /// Runs a kernel in all modes, round by round, so that other load on the machine affects all modes alike.
    fn kernel(&self, kernel: &str, modes: &[Mode]) -> Result<Vec<Measure>> {
        let mut measures = vec![Vec::new(); modes.len()];
        for _ in 0..self.options.rounds {
            for (mode, measures) in modes.iter().zip(&mut measures) {
                measures.push(self.measure(kernel, *mode)?);
            }
        }
        let middle = |measures: &[Measure], number: fn(&Measure) -> f64| {
            median(&measures.iter().map(number).collect::<Vec<_>>())
        };
        let medians = measures.iter().map(|measures| Measure {
            elapsed: middle(measures, |measure| measure.elapsed),
            heap: middle(measures, |measure| measure.heap),
        });
        Ok(medians.collect())
    }

    fn measure(&self, kernel: &str, mode: Mode) -> Result<Measure> {
        // The objects of the CDS archive count as used heap, and a JVM under Fissure does not use the archive. Turning it off
        // makes the heaps comparable.
        let mut command = self.command(kernel, mode, &["-Xshare:off"]);
        command.args([self.options.scale, self.options.threads].map(|number| number.to_string()));
        let text = run_and_read(&mut command)?;
        parse_measure(&text, if self.options.cpu { "cpu_ns " } else { "elapsed_ns " })
            .with_context(|| format!("{} printed no measure: {text}", line(&command)))
    }

    fn command(&self, class: &str, mode: Mode, java_options: &[&str]) -> Command {
        let java = self.jdk.bin().join("java");
        let mut command = match mode {
            Mode::Plain => Command::new(java),
            _ => {
                let mut command = Command::new(&self.fissure);
                let [watch, analyses] = mode.options();
                command.args(["detect", "--analysis", analyses, "--watch", watch]);
                if matches!(mode, Mode::Static | Mode::StaticAll) {
                    command.arg("--static");
                }
                if mode == Mode::Unordered {
                    command.args(["--order", "none"]);
                }
                command.arg("--").arg(java);
                command
            }
        };
        command.args(java_options).arg("-cp").arg(&self.classes).arg(class);
        command
    }

    /// Measures the run time of a program that does next to nothing.
    fn start_up(&self) -> Result<()> {
        let mut plain = Vec::new();
        let mut watched = Vec::new();
        for _ in 0..self.options.rounds {
            for (mode, times) in [(Mode::Plain, &mut plain), (Mode::All, &mut watched)] {
                let started = Instant::now();
                let text = run_and_read(&mut self.command(HELLO, mode, &[]))?;
                times.push(started.elapsed().as_secs_f64());
                if text.trim() != "hello 1" {
                    bail!("{HELLO} printed something unexpected: {text}");
                }
            }
        }
        let (plain, watched) = (median(&plain), median(&watched));
        println!("start-up: plain {plain:.3} s, watched {watched:.3} s, {:.3} s more", watched - plain);
        Ok(())
    }
}

/// The standard output of a command. Fissure's exit code is ignored because it depends on the findings.
fn run_and_read(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", line(command)))?;
    if output.stdout.is_empty() {
        bail!("{} printed nothing: {}", line(command), String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn parse_measure(text: &str, time: &str) -> Option<Measure> {
    let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    Some(Measure { elapsed: number(time)?, heap: number("heap_bytes ")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_read_from_the_output() {
        let text = "something else\nelapsed_ns 1500\ncpu_ns 7\nheap_bytes 42\n";
        let read = |text, time| parse_measure(text, time);
        assert_eq!(read(text, "elapsed_ns "), Some(Measure { elapsed: 1500.0, heap: 42.0 }));
        assert_eq!(read(text, "cpu_ns "), Some(Measure { elapsed: 7.0, heap: 42.0 }));
        assert_eq!(read("elapsed_ns 1500\n", "elapsed_ns "), None);
    }

    #[test]
    fn every_kernel_has_its_source() {
        for kernel in kernels() {
            let source = root().join("programs/bench").join(format!("{kernel}.java"));
            assert!(source.is_file(), "{}", source.display());
        }
    }
}
