//! Repeats the Violat paper's evaluation of non-atomic methods on this machine and JDK: how fast one harness is executed; the
//! paper's 87 harnesses, executed for a second each and, if that shows no violation, under all schedules with at most two
//! preemptions; then the search for the same methods, next to the published numbers; then correct classes.

#[cfg(test)]
mod count;
mod published;

use std::{collections::BTreeMap, path::PathBuf, process::Command};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use super::positive;
use crate::{
    jdk,
    statistics::median,
    workspace::{cargo, fresh_folder, line, root, succeed, target},
};
use published::{Row, rows};

/// The class and harness whose execution rate is measured, and for how long: within a single second the JVM would still be
/// compiling the code.
const RATED: (&str, &str, &str) =
    ("java.util.concurrent.ConcurrentHashMap", "[get(1); size()], [put(1,1)]", "5s");

/// The required number of executions per second once the code is compiled.
const BAR: f64 = 3e6;

/// How long a harness is executed under controlled schedules.
const CONTROLLED: &str = "4s";

/// Classes whose methods are all atomic, and whether they belong to the programs of this repository.
const CORRECT: [(&str, bool); 5] = [
    ("java.util.concurrent.CopyOnWriteArrayList", false),
    ("java.util.concurrent.atomic.AtomicInteger", false),
    ("StripedMapFixed", true),
    ("LazyMapFixed", true),
    ("ScoreBoardFixed", true),
];

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How long each published harness is executed, in seconds
    #[arg(long, default_value = "1", value_parser = positive::<u32>)]
    seconds: u32,
    /// The time limit of the search for each method, in seconds
    #[arg(long, default_value = "12", value_parser = positive::<u32>)]
    budget: u32,
    /// Only classes whose name contains this
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
}

/// The tools and options for all measurements.
struct Bench {
    fissure: PathBuf,
    folder: PathBuf,
    options: Options,
}

/// Builds, measures and prints.
pub(crate) fn run(options: Options) -> Result<()> {
    succeed(&mut cargo(&["build", "--release", "--package", "fissure", "--package", "fissure-jvm"]))?;
    let bench =
        Bench { fissure: target()?.join("release/fissure"), folder: fresh_folder("bench-object")?, options };
    let wanted = |row: &Row| bench.options.class.as_ref().is_none_or(|class| row.class.contains(class));
    let rows: Vec<Row> = rows().into_iter().filter(wanted).collect();
    bench.rate()?;
    let violating = bench.harnesses(&rows)?;
    bench.search(&rows, &violating)?;
    bench.correct()
}

impl Bench {
    /// Measures the execution rate of one harness.
    fn rate(&self) -> Result<()> {
        let (class, harness, budget) = RATED;
        let arguments = ["--harness", harness, "--budget", budget, "--schedules", "stress"];
        let report = self.object(class, &arguments)?;
        let rate = &report["object"]["methods"][0]["rate"];
        let number = |name: &str| rate[name].as_f64().context("the report contains no rate");
        let (whole, later) = (number("whole")?, number("second_half")?);
        println!(
            "{} {harness} for {budget}: {later:.0} executions per second in the second half, {whole:.0} overall (required: {BAR:.0}, {})\n",
            simple(class),
            if later >= BAR { "reached" } else { "missed" }
        );
        Ok(())
    }

    /// Executes each published harness; returns for which rows it shows a violation.
    fn harnesses(&self, rows: &[Row]) -> Result<Vec<bool>> {
        println!(
            "published harnesses, {} s each by stress, then controlled; the paper: JDK 8u121, 4 cores\n",
            self.options.seconds
        );
        println!(
            "{:<22}{:<22}{:>14}{:>22}{:>22}  controlled",
            "class", "method", "executions/s", "seen here", "seen in the paper"
        );
        let (mut violating, mut rates, mut controlled) = (Vec::new(), Vec::new(), 0);
        for row in rows {
            let budget = format!("{}s", self.options.seconds);
            let harness = row.harness.to_string();
            let mut arguments = vec!["--harness", &harness, "--budget", &budget, "--schedules", "stress"];
            let report = self.object(&row.class, &arguments)?;
            let method = &report["object"]["methods"][0];
            let executions = method["executions"].as_u64().unwrap_or(0);
            let hits = method["violation"]["hits"].as_u64().unwrap_or(0);
            let rate = executions as f64 / f64::from(self.options.seconds);
            let mut bounded = String::new();
            let mut violates = hits > 0;
            if !violates {
                arguments[3] = CONTROLLED;
                arguments[5] = "controlled";
                let report = self.object(&row.class, &arguments)?;
                let method = &report["object"]["methods"][0];
                violates = method["atomic"] == false;
                controlled += usize::from(violates);
                bounded = under_control(method);
            }
            violating.push(violates);
            rates.push(rate);
            println!(
                "{:<22}{:<22}{rate:>14.0}{:>22}{:>22}  {bounded}",
                simple(&row.class),
                row.method,
                format!("{hits} / {executions}"),
                format!("{} / {}", row.hits, row.executions)
            );
        }
        let number = violating.iter().filter(|violating| **violating).count();
        println!(
            "\n{number} of {} violate here, {controlled} of them only in controlled executions; median {:.0} executions per second\n",
            rows.len(),
            median(&rates)
        );
        Ok(violating)
    }

    /// Searches for harnesses for all methods of the rows, class by class.
    fn search(&self, rows: &[Row], violating: &[bool]) -> Result<()> {
        println!("search, at most {} s per method\n", self.options.budget);
        println!(
            "{:<22}{:<22}{:>10}{:>12}{:>12}{:>16}  harness",
            "class", "method", "harnesses", "time", "paper", "its harnesses"
        );
        let mut classes: BTreeMap<&str, Vec<(&Row, bool)>> = BTreeMap::new();
        for (row, violating) in rows.iter().zip(violating) {
            classes.entry(&row.class).or_default().push((row, *violating));
        }
        let (mut times, mut missed) = (Vec::new(), Vec::new());
        for (class, rows) in classes {
            let budget = format!("{}s", self.options.budget);
            let mut arguments = vec!["--budget", &budget, "--trust-core"];
            rows.iter().for_each(|(row, _)| arguments.extend(["--method", row.method.as_str()]));
            let report = self.object(class, &arguments)?;
            for (row, violating) in rows {
                let parameters = parameters(row);
                let methods = report["object"]["methods"].as_array().context("no methods in the report")?;
                // Among overloaded methods, take the one that the paper's harness calls.
                let found = methods.iter().filter(|one| one["method"] == row.method.as_str()).find(|one| {
                    let harness = one["violation"]["harness"].as_str().unwrap_or_default();
                    harness.parse().is_ok_and(|schema| calls(&schema, &row.method) == Some(parameters))
                });
                let (tried, time, harness) = match found {
                    Some(one) => {
                        let seconds = one["seconds"].as_f64().unwrap_or_default();
                        times.push(seconds);
                        let harness = one["violation"]["harness"].as_str().unwrap_or_default();
                        (one["harnesses"].to_string(), format!("{seconds:.2} s"), harness.to_owned())
                    }
                    None => {
                        missed.extend(violating.then(|| format!("{}.{}", simple(class), row.method)));
                        (String::new(), "-".to_owned(), String::new())
                    }
                };
                println!(
                    "{:<22}{:<22}{tried:>10}{time:>12}{:>12}{:>16}  {harness}",
                    simple(class),
                    row.method,
                    format!("{} s", row.seconds),
                    row.effort()
                );
            }
        }
        if !times.is_empty() {
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            println!(
                "\n{} methods exposed: mean {mean:.2} s, median {:.2} s (paper: mean 352 s, median 26 s)",
                times.len(),
                median(&times)
            );
        }
        println!(
            "methods whose published harness violates here but that the search missed: {}",
            missed.len()
        );
        missed.iter().for_each(|name| println!("  {name}"));
        Ok(())
    }

    /// Searches correct classes, in which every violation is a false alarm.
    fn correct(&self) -> Result<()> {
        let classes = self.folder.join("classes");
        let source = root().join("programs/object");
        let files =
            CORRECT.iter().filter(|(_, own)| *own).map(|(class, _)| source.join(format!("{class}.java")));
        succeed(jdk::set_up()?.tool("javac").arg("-d").arg(&classes).args(files))?;
        println!("\ncorrect classes, 1 s per method\n");
        let mut found = 0;
        for (class, _) in CORRECT {
            let path = classes.to_string_lossy().into_owned();
            let report = self.object(class, &["--classpath", &path, "--budget", "1s"])?;
            let methods = report["object"]["methods"].as_array().context("no methods in the report")?;
            let sum = |name: &str| -> u64 {
                methods.iter().filter_map(|method| method["schedules"][name].as_u64()).sum()
            };
            let executions: u64 = methods.iter().filter_map(|method| method["executions"].as_u64()).sum();
            let wrong: Vec<&str> = methods
                .iter()
                .filter(|method| method["atomic"] == false)
                .filter_map(|method| method["method"].as_str())
                .collect();
            found += wrong.len();
            println!(
                "{:<28}{:>4} methods, {executions} executions, all {} schedules of {} harnesses; not atomic: {}",
                simple(class),
                methods.len() - 1,
                sum("schedules"),
                sum("harnesses"),
                if wrong.is_empty() { "none".to_owned() } else { wrong.join(", ") }
            );
        }
        println!("\n{found} false alarms");
        Ok(())
    }

    /// Runs `fissure object` and returns its report.
    fn object(&self, class: &str, arguments: &[&str]) -> Result<Value> {
        let json = self.folder.join("report.json");
        let mut command = Command::new(&self.fissure);
        command.args(["object", class]).args(arguments).arg("--json").arg(&json);
        let output = command.output().with_context(|| format!("cannot start {}", line(&command)))?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            bail!("{} failed: {}", line(&command), String::from_utf8_lossy(&output.stderr));
        }
        let text = std::fs::read_to_string(&json).context("no report was written")?;
        serde_json::from_str(&text).context("the report is not JSON")
    }
}

/// The result of the controlled executions, in words.
fn under_control(method: &Value) -> String {
    let schedules = &method["schedules"];
    let number = schedules["schedules"].as_u64().unwrap_or(0);
    match (method["violation"]["hits"].as_u64(), schedules["harnesses"] == 1) {
        (Some(hits), _) => format!("violates, {hits} of {}", method["violation"]["executions"]),
        (None, true) => format!("atomic in all {number} schedules"),
        (None, false) => format!("nothing in {} executions", method["executions"]),
    }
}

/// The number of arguments with which the paper's harness calls the method under test.
fn parameters(row: &Row) -> usize {
    calls(&row.harness, &row.method).unwrap_or(0)
}

fn calls(schema: &fissure_object::Schema, method: &str) -> Option<usize> {
    schema.sequences.iter().flatten().find(|one| one.method == method).map(|one| one.arguments.len())
}

fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_arguments_identifies_the_overload() {
        let schema = "[offer(1); remove(1)], [poll()]".parse().unwrap();
        assert_eq!(calls(&schema, "remove"), Some(1));
        assert_eq!(calls(&schema, "clear"), None);
    }
}
