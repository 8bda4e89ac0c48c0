//! Development tasks, run as `cargo xtask TASK`: set-up, demo, tests, measurements, installation.

#![allow(clippy::print_stdout, reason = "a development command talks to its user on standard output")]

mod bench;
mod bench_object;
mod browser;
mod compare;
mod demo;
mod hook;
mod install;
#[cfg(test)]
mod invariants;
mod jdk;
mod real;
mod statistics;
mod test;
mod verify;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
Usage: cargo xtask TASK

  setup                         find a JDK, or install one with the system's package manager
  demo                          build Fissure, run it on an example program and show its findings
  test                          formatting, lints, build, unit, doc, verifier and end-to-end tests
  browser                       test the HTML report in Chromium, installed if necessary, and take screenshots
  verify-jdk [--java-home DIR] [--modules java.base,...|all]
                                rewrite every class of a JDK and have the JVM verify it
  real [--quick] [--debug] [--program PART] [--only detect|hunt]
                                run real programs from Maven plain and under Fissure, and write a table
  compare --with FISSURE [--program PART] [--runs N]
                                hunt with this tree's debug build and with another executable, and compare the reports
  hook                          compile the Java classes of crates/jvm/hook and crates/fissure/object
  install [--root DIR]          install one self-contained `fissure`
  bench detect [--rounds N] [--scale N] [--kernel NAME]
                                measure the overhead of detection, as ratios to the plain run
  bench hunt [--runs N] [--rounds N] [--program PART] [--only ours|speed]
                                measure the probability that a run finds a bug, and the speed of controlled threads
  bench static [--classes N]
                                measure the static analysis on a generated program of many classes
  bench assets [--runs N] [--program PART]
                                measure how often runs violate atomic sets, with goals and at random
  bench determinism [--runs N] [--seeds N] [--busy N] [--program PART] [--java PATH]
                                run programs repeatedly with one seed, and compare the runs byte for byte
  bench object [--seconds N] [--budget N] [--class NAME]
                                execute the harnesses of the Violat paper and search for its methods
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["setup"] => jdk::set_up().map(|jdk| println!("using the JDK in {}", jdk.bin().display())),
        ["demo"] => demo::run(),
        ["test"] => test::run(),
        ["browser"] => browser::run(),
        ["compare", ..] => compare::run(&words),
        ["hook"] => hook::run(),
        ["real", options @ ..] => real::run(options),
        ["verify-jdk", options @ ..] => verify::run(options),
        ["install", options @ ..] => install::run(options),
        ["bench", "detect", options @ ..] => bench::run(options),
        ["bench", "hunt", options @ ..] => bench::hunt::run(options),
        ["bench", "static", options @ ..] => bench::whole_program::run(options),
        ["bench", "assets", options @ ..] => bench::assets::run(options),
        ["bench", "determinism", options @ ..] => bench::determinism::run(options),
        ["bench", "object", options @ ..] => bench_object::run(options),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        [] => bail!("no task given\n\n{USAGE}"),
        other => bail!("unknown task '{}'\n\n{USAGE}", other.join(" ")),
    }
}
