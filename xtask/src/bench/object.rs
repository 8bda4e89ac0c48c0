//! Repeats the Violat paper's evaluation of non-atomic methods on this machine and JDK: how fast one harness is executed; the
//! paper's 87 harnesses, executed for a second each and, if that shows no violation, under all schedules with at most two
//! preemptions; then the search for the same methods, next to the published numbers; then correct classes. Beyond the paper: the ten
//! classes with default options, classes of public libraries, and a comparison with Lincheck.

#[cfg(test)]
mod count;
mod lincheck;
mod published;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Instant,
};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::positive;
use crate::{
    jdk,
    real::class_path,
    statistics::median,
    workspace::{cargo, fresh_folder, line, root, succeed, target},
};
use lincheck::{Lincheck, SUBJECTS};
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
    /// Only this part; may be repeated
    #[arg(long, value_name = "PART")]
    part: Vec<Part>,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The rate of executions, the paper's harnesses, and the search for its methods.
    Paper,
    /// Correct classes.
    Correct,
    /// The paper's ten classes with default options.
    Defaults,
    /// Classes of public libraries.
    Libraries,
    /// The comparison with Lincheck.
    Lincheck,
}

/// The classes of public libraries: artifact, class, and an expression that makes an object.
const LIBRARIES: &str = include_str!("object/libraries.tsv");

/// The time that the ten classes may take together with default options, in seconds.
const DEFAULTS_BAR: f64 = 360.0;

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
    let parts = &bench.options.part;
    let does = |part: Part| parts.is_empty() || parts.contains(&part);
    let mut violating = None;
    if does(Part::Paper) {
        bench.rate()?;
        let found = bench.harnesses(&rows)?;
        bench.search(&rows, &found)?;
        violating = Some(found);
    }
    if does(Part::Defaults) {
        bench.defaults(&rows, violating.as_deref())?;
    }
    if does(Part::Correct) {
        bench.correct()?;
    }
    if does(Part::Libraries) {
        bench.libraries()?;
    }
    if does(Part::Lincheck) {
        bench.lincheck()?;
    }
    Ok(())
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

    /// Searches the paper's classes with default options.
    fn defaults(&self, rows: &[Row], violating: Option<&[bool]>) -> Result<()> {
        println!("\nthe paper's classes with default options\n");
        let classes: BTreeSet<&str> = rows.iter().map(|row| row.class.as_str()).collect();
        let (mut all, mut found, mut times) = (0.0, BTreeSet::new(), Vec::new());
        for class in classes {
            let began = Instant::now();
            let report = self.object(class, &[])?;
            let seconds = began.elapsed().as_secs_f64();
            all += seconds;
            let methods = report["object"]["methods"].as_array().context("no methods in the report")?;
            let mut names = Vec::new();
            for method in methods.iter().filter(|method| method["atomic"] == false) {
                let name = method["method"].as_str().unwrap_or_default();
                let name = name.split('<').next().unwrap_or_default();
                names.push(name);
                found.insert((class, name.to_owned()));
                times.extend(method["seconds"].as_f64());
            }
            println!("{:<24}{seconds:>7.1} s  {}", simple(class), names.join(", "));
        }
        let missed: Vec<String> = rows
            .iter()
            .enumerate()
            .filter(|(at, _)| violating.is_none_or(|violating| violating[*at]))
            .filter(|(_, row)| !found.contains(&(row.class.as_str(), row.method.clone())))
            .map(|(_, row)| format!("{}.{}", simple(&row.class), row.method))
            .collect();
        println!(
            "\n{all:.0} s altogether (required: {DEFAULTS_BAR:.0}, {}); mean time to a violation {:.2} s",
            if all <= DEFAULTS_BAR { "reached" } else { "missed" },
            times.iter().sum::<f64>() / times.len().max(1) as f64
        );
        let which = if violating.is_some() { "whose harness violates here" } else { "of the paper" };
        println!("methods {which} that were not found: {}\n  {}", missed.len(), missed.join(", "));
        Ok(())
    }

    /// Tests classes of public libraries; each is tested, or refused with a sentence.
    fn libraries(&self) -> Result<()> {
        println!("\nclasses of public libraries\n");
        let cells = |line: &'static str| line.split('\t').collect::<Vec<_>>();
        let lines: Vec<Vec<&str>> =
            LIBRARIES.lines().filter(|line| !line.starts_with('#')).map(cells).collect();
        let artifacts: BTreeSet<String> = lines.iter().map(|cells| cells[0].to_owned()).collect();
        let artifacts: Vec<String> = artifacts.into_iter().collect();
        let path = match class_path(&artifacts, &self.folder.join("libraries")) {
            Ok(path) => path,
            Err(error) => {
                println!("left out: {error:#}");
                return Ok(());
            }
        };
        let wanted = |class: &str| self.options.class.as_ref().is_none_or(|name| class.contains(name));
        for cells in lines.iter().filter(|cells| wanted(cells[1])) {
            let mut arguments = vec!["--classpath", &path];
            if let Some(expression) = cells.get(2).filter(|expression| !expression.is_empty()) {
                arguments.extend(["--new", expression]);
            }
            let began = Instant::now();
            let (output, json) = self.run(cells[1], &arguments)?;
            let seconds = began.elapsed().as_secs_f64();
            let said = match output.status.code() {
                Some(0 | 1) => {
                    let report = read(&json)?;
                    let methods =
                        report["object"]["methods"].as_array().context("no methods in the report")?;
                    let names = methods.iter().filter(|method| method["atomic"] == false);
                    let names: Vec<&str> = names.filter_map(|method| method["method"].as_str()).collect();
                    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                    format!("{} methods, not atomic: {names}", methods.len())
                }
                _ => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            };
            println!("{:<32}{seconds:>6.1} s  {said}", simple(cells[1]));
        }
        Ok(())
    }

    /// Compares verdicts and times with Lincheck.
    fn lincheck(&self) -> Result<()> {
        println!("\nfissure and Lincheck, time to the first violation including the start of the JVM\n");
        let jdk = jdk::set_up()?;
        let classes = self.folder.join("compared");
        let files = SUBJECTS.iter().map(lincheck::Subject::source);
        succeed(jdk.tool("javac").args(["-nowarn", "-d"]).arg(&classes).args(files))?;
        let lincheck = match Lincheck::prepare(&jdk, &self.folder, &classes) {
            Ok(lincheck) => lincheck,
            Err(error) => {
                println!("left out: {error:#}");
                return Ok(());
            }
        };
        println!("{:<20}{:<10}{:<28}{:<28}", "class", "", "fissure", "Lincheck");
        for subject in SUBJECTS {
            let path = classes.to_string_lossy().into_owned();
            let began = Instant::now();
            let report = self.object(subject.class, &["--classpath", &path])?;
            let whole = began.elapsed().as_secs_f64();
            let mine = match report["object"]["first_violation"].as_f64() {
                Some(seconds) => format!("found in {seconds:.1} s"),
                None => format!("nothing in {whole:.1} s"),
            };
            let verdict = lincheck.check(subject)?;
            println!(
                "{:<20}{:<10}{:<28}{:<28}",
                subject.class,
                if subject.is_correct { "correct" } else { "faulty" },
                mine,
                match verdict.found {
                    Some(found) => format!(
                        "{} in {:.1} s",
                        if found { "found" } else { "nothing" },
                        verdict.time.as_secs_f64()
                    ),
                    None => format!("not ended after {:.0} s", verdict.time.as_secs_f64()),
                }
            );
        }
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
        let (output, json) = self.run(class, arguments)?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            bail!("{class} {} failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        read(&json)
    }

    fn run(&self, class: &str, arguments: &[&str]) -> Result<(Output, PathBuf)> {
        let json = self.folder.join("report.json");
        let mut command = Command::new(&self.fissure);
        command.args(["object", class]).args(arguments).arg("--json").arg(&json);
        let output = command.output().with_context(|| format!("cannot start {}", line(&command)))?;
        Ok((output, json))
    }
}

fn read(json: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(json).context("no report was written")?;
    serde_json::from_str(&text).context("the report is not JSON")
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
