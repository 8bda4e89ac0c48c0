//! Development tasks, run as `cargo xtask TASK`: set-up, demo, tests, measurements, installation.

#![allow(clippy::print_stdout, reason = "a development command talks to its user on standard output")]

mod bench;
mod browser;
mod compare;
mod demo;
mod hook;
mod install;
#[cfg(test)]
mod invariants;
mod jdk;
mod real;
mod runtimes;
mod statistics;
mod test;
mod verify;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Development tasks of Fissure.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Find a JDK, or install one with the system's package manager
    Setup,
    /// Build Fissure, run it on an example program and show its findings
    Demo,
    /// Run all tests: formatting, lints, build, unit, doc, verifier and end-to-end tests
    Test(test::Options),
    /// Test the HTML report in Chromium, installed if necessary, and take screenshots
    Browser,
    /// Rewrite every class of a JDK and have the JVM verify it
    VerifyJdk(verify::Options),
    /// Run real programs from Maven plain and under Fissure, and write a table
    Real(real::Options),
    /// Hunt with the debug build of this tree and with another executable, and compare the reports
    Compare(compare::Options),
    /// Compile the Java classes of crates/jvm/hook and crates/fissure/object
    Hook,
    /// Install one self-contained `fissure`
    Install(install::Options),
    /// Measure
    #[command(subcommand)]
    Bench(Bench),
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// The overhead of detection, as ratios to the plain run
    Detect(bench::Options),
    /// The probability that a run finds a bug, and the speed of controlled threads
    Hunt(bench::hunt::Options),
    /// The static analysis on a generated program of many classes
    Static(bench::whole_program::Options),
    /// How often runs violate atomic sets, with goals and at random
    Assets(bench::assets::Options),
    /// Whether a seed gives the same run every time, compared byte for byte
    Determinism(bench::determinism::Options),
    /// Compare `detect` with a reference on random programs
    Differential(bench::differential::Options),
    /// How many of many hunts find the bugs, whether replays are equal, and false alarms in correct programs
    Reliability(bench::reliability::Options),
    /// Runs a second in new and in warm JVMs, the time to the first bug, and the memory of a warm JVM
    Throughput(bench::throughput::Options),
    /// The harnesses of the Violat paper, and the search for its methods
    Object(bench::object::Options),
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Setup => jdk::set_up().map(|jdk| println!("using the JDK in {}", jdk.bin().display())),
        Task::Demo => demo::run(),
        Task::Test(options) => test::run(&options),
        Task::Browser => browser::run(),
        Task::VerifyJdk(options) => verify::run(&options),
        Task::Real(options) => real::run(&options),
        Task::Compare(options) => compare::run(options),
        Task::Hook => hook::run(),
        Task::Install(options) => install::run(&options),
        Task::Bench(Bench::Detect(options)) => bench::run(options),
        Task::Bench(Bench::Hunt(options)) => bench::hunt::run(options),
        Task::Bench(Bench::Static(options)) => bench::whole_program::run(&options),
        Task::Bench(Bench::Assets(options)) => bench::assets::run(options),
        Task::Bench(Bench::Determinism(options)) => bench::determinism::run(options),
        Task::Bench(Bench::Differential(options)) => bench::differential::run(&options),
        Task::Bench(Bench::Reliability(options)) => bench::reliability::run(&options),
        Task::Bench(Bench::Throughput(options)) => bench::throughput::run(&options),
        Task::Bench(Bench::Object(options)) => bench::object::run(options),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn check(line: &str, is_understood: bool) {
        let words = ["cargo xtask"].into_iter().chain(line.split_whitespace());
        let parsed = Arguments::try_parse_from(words);
        assert_eq!(parsed.is_ok(), is_understood, "{line}: {:?}", parsed.err());
    }

    #[test]
    fn tasks_and_options_are_understood() {
        Arguments::command().debug_assert();
        for line in [
            "setup",
            "demo",
            "test",
            "browser",
            "hook",
            "install --root /opt",
            "verify-jdk",
            "verify-jdk --modules all",
            "verify-jdk --modules java.base,java.sql --java-home /jdk",
            "real",
            "real --quick --debug",
            "real --program h2 --only hunt",
            "compare --with /tmp/fissure --program Account --runs 4 -- --strategy random",
            "bench detect --rounds 3 --kernel Sieve --scale 2",
            "bench detect --kernel Hello",
            "bench detect --headline --cpu --threads 4",
            "bench differential --programs 100",
            "bench hunt --runs 20 --program Figure --only ours --rounds 2",
            "bench static --classes 50",
            "bench assets --runs 3 --program Pair",
            "bench determinism --runs 20 --seeds 2 --busy 2 --program Clock --at accesses --java /jdk/bin/java",
            "bench throughput --only rate --runs 100 --processes 5 --every 4 --program Account --debug",
            "bench object --seconds 2 --budget 3 --class Hash",
        ] {
            check(line, true);
        }
    }

    #[test]
    fn wrong_tasks_and_options_are_rejected() {
        for line in [
            "",
            "dance",
            "verify-jdk java.base",
            "verify-jdk --modules",
            "real --only plain",
            "real --program",
            "compare",
            "compare --with /tmp/fissure --runs 0",
            "bench",
            "bench detect --rounds 0",
            "bench detect --kernel None",
            "bench differential --programs 0",
            "bench hunt --only theirs",
            "bench hunt --runs",
            "bench static --classes 0",
            "bench assets --rounds 3",
            "bench determinism --at home",
            "bench throughput --runs 0",
            "bench object --seconds x",
        ] {
            check(line, false);
        }
    }

    #[test]
    fn lists_of_modules_are_split() {
        let parsed = Arguments::parse_from(["cargo xtask", "verify-jdk", "--modules", "java.base,java.sql"]);
        assert!(
            matches!(parsed.task, Task::VerifyJdk(options) if options.modules() == ["java.base", "java.sql"])
        );
    }
}
