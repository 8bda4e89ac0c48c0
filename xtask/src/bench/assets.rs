//! Compares AssetFuzzer with random schedules on the programs with atomic sets: the number of candidates, how many were
//! confirmed, how often a run shows a violation, how often paused threads had to be released, and the cost of a run of each
//! phase relative to a plain run.
//!
//! The cost of a run is the difference between the times of two hunts, divided by the number of runs by which they differ.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use fissure_testing::{Folder, Program, compile};
use serde_json::Value;

use super::positive;
use crate::{
    jdk::{self, Jdk},
    statistics::median,
    workspace::{cargo, fresh_folder, succeed, target},
};

/// Profiling runs, as many as in the paper.
const PROFILING_RUNS: u64 = 10;
/// The number of runs by which two hunts differ whose times are compared.
const COST_RUNS: u64 = 10;
/// The required mean rate of runs with a violation; the paper's is 0.65.
const LEAST_RATE: f64 = 0.9;
/// The greatest allowed ratio of the runs that show no violation to those of random schedules.
const MOST_MISSED: f64 = 1.0 / 3.0;

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The number of runs of each hunt
    #[arg(long, default_value = "100", value_parser = positive::<u64>)]
    runs: u64,
    /// Only programs whose name contains this
    #[arg(long, value_name = "PART")]
    program: Option<String>,
}

/// The result of a hunt.
#[derive(Debug)]
struct HuntResult {
    predicted: u64,
    confirmed: u64,
    /// The share of runs with any violation.
    rate: f64,
    thrashings: u64,
    /// The patterns of the confirmed violations.
    patterns: BTreeSet<u64>,
}

struct Bench {
    jdk: Jdk,
    fissure: PathBuf,
    classes: PathBuf,
    options: Options,
}

/// Builds, measures and prints. Fails if a required value is missed.
pub(crate) fn run(options: Options) -> Result<()> {
    let jdk = jdk::set_up()?;
    succeed(&mut cargo(&["build", "--release", "-p", "fissure", "-p", "fissure-jvm"]))?;
    let classes = fresh_folder("bench-assets")?;
    let programs = Folder::Assets.programs().map_err(anyhow::Error::msg)?;
    compile(&jdk.bin().join("javac"), &programs, &classes).map_err(anyhow::Error::msg)?;
    let bench = Bench { jdk, fissure: target()?.join("release/fissure"), classes, options };
    let wanted = |program: &&Program| {
        program.header.strategy.is_none()
            && bench.options.program.as_ref().is_none_or(|part| program.class.contains(part.as_str()))
    };
    let (broken, correct): (Vec<&Program>, Vec<&Program>) =
        programs.iter().filter(wanted).partition(|program| planted(program).next().is_some());
    bench.detection(&broken, &correct)?;
    bench.cost(&broken)
}

/// The patterns planted in a program.
fn planted(program: &Program) -> impl Iterator<Item = u64> {
    program.header.must_be_bug.iter().chain(&program.header.must_confirm).filter_map(|claim| claim.pattern)
}

impl Bench {
    fn detection(&self, broken: &[&Program], correct: &[&Program]) -> Result<()> {
        println!("{} runs each; rate is the share of runs that show a violation\n", self.options.runs);
        let heading = ["", "candidates", "confirmed", "rate", "thrashings", "random", "planted"];
        println!("{}", row(&heading.map(str::to_owned)));
        let (mut rates, mut chances, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for program in broken {
            let directed = self.hunt(program, "assetfuzzer")?;
            let random = self.hunt(program, "random")?;
            let is_found = planted(program).all(|pattern| directed.patterns.contains(&pattern));
            if !is_found {
                missing.push(program.class.as_str());
            }
            println!(
                "{}",
                row(&[
                    program.class.clone(),
                    directed.predicted.to_string(),
                    directed.confirmed.to_string(),
                    format!("{:.2}", directed.rate),
                    directed.thrashings.to_string(),
                    format!("{:.2}", random.rate),
                    if is_found { "yes" } else { "NO" }.to_owned(),
                ])
            );
            rates.push(directed.rate);
            chances.push(random.rate);
        }
        let (mut predicted, mut false_alarms) = (0, 0);
        for program in correct {
            let directed = self.hunt(program, "assetfuzzer")?;
            predicted += directed.predicted;
            false_alarms += directed.patterns.len();
        }
        println!("\n{} correct programs: {predicted} candidates, {false_alarms} confirmed", correct.len());
        if rates.is_empty() {
            return Ok(());
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (rate, chance) = (mean(&rates), mean(&chances));
        println!("mean rate {rate:.3} (required: at least {LEAST_RATE}), of random schedules {chance:.3}");
        println!(
            "{:.3} of the runs show no violation, {:.3} of the random ones (required: at most a third of that)",
            1.0 - rate,
            1.0 - chance
        );
        ensure!(missing.is_empty(), "planted but not confirmed: {}", missing.join(", "));
        ensure!(false_alarms == 0, "{false_alarms} false alarms");
        ensure!(rate >= LEAST_RATE, "the mean rate is below the required {LEAST_RATE}");
        ensure!(1.0 - rate <= MOST_MISSED * (1.0 - chance), "too many runs show no violation");
        Ok(())
    }

    fn hunt(&self, program: &Program, strategy: &str) -> Result<HuntResult> {
        let runs = self.options.runs.to_string();
        let report = self.report(program, strategy, PROFILING_RUNS, &runs)?;
        Ok(hunt_result(&report, self.options.runs))
    }

    fn report(&self, program: &Program, strategy: &str, profile: u64, runs: &str) -> Result<Value> {
        let json = self.classes.join("report.json");
        let config = self.classes.join("fissure.toml");
        fs::write(&config, program.header.config_file())?;
        let mut command = Command::new(&self.fissure);
        command.args(["hunt", "--strategy", strategy, "--check", "atomic-sets", "--jobs", "1"]);
        command.args(["--profile", &profile.to_string(), "--runs", runs]).arg("--config").arg(&config);
        command.arg("--json").arg(&json).arg("--").arg(self.jdk.bin().join("java"));
        command.arg("-cp").arg(&self.classes).arg(&program.class);
        let output = command.stdin(Stdio::null()).output().context("cannot start Fissure")?;
        if output.status.code().is_none_or(|code| code > 1) {
            bail!("{}: {}", program.class, String::from_utf8_lossy(&output.stderr));
        }
        let text = fs::read_to_string(&json).context("no report was written")?;
        serde_json::from_str(&text).context("cannot parse the report")
    }

    /// Measures the cost of a run of each phase relative to a plain run.
    fn cost(&self, programs: &[&Program]) -> Result<()> {
        println!("\n{}", row(&["", "plain", "phase I", "phase II", "random"].map(str::to_owned)));
        let mut all: [Vec<f64>; 3] = Default::default();
        for program in programs {
            let plain = self.plain(program)?;
            let timed = |strategy: &str, profile: u64, runs: u64| -> Result<f64> {
                let started = Instant::now();
                self.report(program, strategy, profile, &runs.to_string())?;
                Ok(started.elapsed().as_secs_f64())
            };
            let least = timed("assetfuzzer", 1, 1)?;
            let few = timed("random", 1, 1)?;
            let per_run = |more: f64, less: f64| (more - less).max(0.0) / COST_RUNS as f64 / plain;
            let costs = [
                per_run(timed("assetfuzzer", 1 + COST_RUNS, 1)?, least),
                per_run(timed("assetfuzzer", 1, 1 + COST_RUNS)?, least),
                per_run(timed("random", 1, 1 + COST_RUNS)?, few),
            ];
            let [first, second, random] = costs.map(|cost| format!("{cost:.2}×"));
            println!(
                "{}",
                row(&[program.class.clone(), format!("{:.0} ms", plain * 1e3), first, second, random])
            );
            all.iter_mut().zip(costs).for_each(|(all, cost)| all.push(cost));
        }
        if !programs.is_empty() {
            let [first, second, random] = all.map(|costs| format!("{:.2}×", median(&costs)));
            println!("{}", row(&["median".to_owned(), String::new(), first, second, random]));
        }
        Ok(())
    }

    /// The median time of a plain run, in seconds.
    fn plain(&self, program: &Program) -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..COST_RUNS {
            let mut command = Command::new(self.jdk.bin().join("java"));
            command.arg("-cp").arg(&self.classes).arg(&program.class);
            let started = Instant::now();
            command.stdin(Stdio::null()).output().context("cannot start java")?;
            times.push(started.elapsed().as_secs_f64());
        }
        Ok(median(&times))
    }
}

fn hunt_result(report: &Value, runs: u64) -> HuntResult {
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let confirmed = || {
        findings
            .iter()
            .filter(|finding| finding["kind"] == "atomic-set-violation" && finding["status"] != "warning")
    };
    let campaign = &report["campaigns"][0];
    let count = |name: &str| campaign[name].as_u64().unwrap_or_default();
    // A strategy with goals reports itself how many of its runs showed a violation.
    let hits = if campaign.is_object() {
        count("runs_with_hits")
    } else {
        let seeds = confirmed().filter_map(|finding| finding["seeds"].as_array()).flatten();
        seeds.filter_map(Value::as_u64).collect::<BTreeSet<u64>>().len() as u64
    };
    HuntResult {
        predicted: count("predicted"),
        confirmed: count("confirmed"),
        rate: hits as f64 / runs as f64,
        thrashings: count("thrashings"),
        patterns: confirmed().filter_map(|finding| finding["pattern"].as_u64()).collect(),
    }
}

fn row(columns: &[String]) -> String {
    let mut text = format!("{:<20}", columns[0]);
    for column in &columns[1..] {
        text.push_str(&format!("{column:>12}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rates_count_runs_and_not_findings() {
        let finding = |pattern: u64, seeds: &[u64]| json!({"kind": "atomic-set-violation", "status": "bug", "pattern": pattern, "seeds": seeds});
        let random = json!({"findings": [finding(6, &[1, 2]), finding(7, &[2, 3])]});
        let result = hunt_result(&random, 4);
        assert_eq!((result.rate, result.patterns), (0.75, BTreeSet::from([6, 7])));
        let directed =
            json!({"campaigns": [{"predicted": 2, "confirmed": 1, "runs_with_hits": 4, "thrashings": 3}]});
        let result = hunt_result(&directed, 4);
        assert_eq!((result.predicted, result.confirmed, result.rate, result.thrashings), (2, 1, 1.0, 3));
    }
}
