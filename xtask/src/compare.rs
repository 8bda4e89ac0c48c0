//! Hunts in the same programs with the debug build of this tree and with another executable of Fissure, and compares the reports: a change of
//! the code that must not change the schedules and findings is checked with it.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Context, Result, bail};
use clap::Args;
use fissure_testing::{Folder, Program, compile};
use serde_json::Value;

use crate::{
    bench::positive,
    jdk,
    workspace::{cargo, fresh_folder, line, succeed, target},
};

/// The folders with programs to hunt in.
const FOLDERS: [Folder; 2] = [Folder::Hunt, Folder::Assets];

/// JVMs start faster with these options, on which schedules and findings do not depend.
const QUICK_START: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// The parts of a report that must be equal.
const REPORT_KEYS: [&str; 3] = ["runs", "seeds", "exits"];

/// The parts of a finding that must be equal.
const FINDING_KEYS: [&str; 11] = [
    "id",
    "kind",
    "status",
    "subject",
    "pattern",
    "hits",
    "runs",
    "seeds",
    "schedules",
    "sites",
    "interleaving",
];

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The other executable, with its agent beside it
    #[arg(long, value_name = "FISSURE")]
    with: PathBuf,
    /// Only programs whose name contains this
    #[arg(long, value_name = "PART")]
    program: Option<String>,
    /// The number of runs of each hunt
    #[arg(long, default_value = "16", value_parser = positive::<u32>)]
    runs: u32,
    /// More options of `fissure hunt`, after `--`
    #[arg(last = true)]
    hunt: Vec<String>,
}

/// How two reports relate.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Same,
    /// Equal where it matters; these parts differ, as wording and counters may.
    OtherWords(BTreeSet<String>),
    /// These parts must not differ.
    Different(Vec<String>),
}

/// The tools and options for all hunts.
struct Comparison {
    ours: PathBuf,
    theirs: PathBuf,
    java: PathBuf,
    folder: PathBuf,
    options: Options,
}

/// Builds, hunts and compares. Fails if a report differs.
pub(crate) fn run(options: Options) -> Result<()> {
    let theirs = options.with.canonicalize();
    let theirs = theirs.with_context(|| format!("there is no {}", options.with.display()))?;
    let jdk = jdk::set_up()?;
    succeed(&mut cargo(&["build", "--quiet", "-p", "fissure", "-p", "fissure-jvm"]))?;
    let folder = fresh_folder("compare")?;
    let mut programs = Vec::new();
    for one in FOLDERS {
        let found = one.programs().map_err(anyhow::Error::msg)?;
        compile(&jdk.bin().join("javac"), &found, &folder.join(one.name())).map_err(anyhow::Error::msg)?;
        programs.extend(found);
    }
    if let Some(part) = &options.program {
        programs.retain(|program| name(program).contains(part.as_str()));
    }
    let java = jdk.bin().join("java");
    programs.retain(|program| program.java(&java).is_some());
    if programs.is_empty() {
        bail!("no program matches {}", options.program.as_deref().unwrap_or_default());
    }
    let ours = target()?.join("debug/fissure");
    Comparison { ours, theirs, java, folder, options }.compare_all(&programs)
}

fn name(program: &Program) -> String {
    format!("{}::{}", program.folder.name(), program.name)
}

impl Comparison {
    /// Compares on all processors, and prints a line for each program.
    fn compare_all(&self, programs: &[Program]) -> Result<()> {
        let next = AtomicUsize::new(0);
        let results = Mutex::new((0, Vec::new()));
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let verdict = self.compare(program);
                        let (same, different) = &mut *results.lock().unwrap_or_else(PoisonError::into_inner);
                        match verdict {
                            Ok(Verdict::Same) => println!("{:<44} same", name(program)),
                            Ok(Verdict::OtherWords(parts)) => {
                                let parts: Vec<String> = parts.into_iter().collect();
                                println!("{:<44} same, except in words: {}", name(program), parts.join(", "));
                            }
                            Ok(Verdict::Different(parts)) => {
                                println!("{:<44} DIFFERENT: {}", name(program), parts.join("; "));
                                different.push(name(program));
                                continue;
                            }
                            Err(error) => {
                                println!("{:<44} FAILED: {error:#}", name(program));
                                different.push(name(program));
                                continue;
                            }
                        }
                        *same += 1;
                    }
                });
            }
        });
        let (same, mut different) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        println!("\n{} programs: {same} the same, {} different", programs.len(), different.len());
        if !different.is_empty() {
            different.sort();
            bail!("different: {}; the reports are in {}", different.join(", "), self.folder.display());
        }
        Ok(())
    }

    fn compare(&self, program: &Program) -> Result<Verdict> {
        let ours = self.hunt(&self.ours, program, "ours")?;
        let theirs = self.hunt(&self.theirs, program, "theirs")?;
        Ok(compare_reports(&ours, &theirs))
    }

    /// The exit code and the report of a hunt.
    fn hunt(&self, fissure: &Path, program: &Program, whose: &str) -> Result<(Option<i32>, Value)> {
        let header = &program.header;
        let stem = format!("{}-{}", program.folder.name(), program.class);
        let json = self.folder.join(format!("{stem}-{whose}.json"));
        let mut command = Command::new(fissure);
        command.env_remove("FISSURE_AGENT").env("XDG_CACHE_HOME", self.folder.join("cache"));
        command.args(["hunt", "--seed", "1", "--jobs", "1", "--runs", &self.options.runs.to_string()]);
        if program.folder == Folder::Assets {
            // Both executables must read the same file, so that its name is the same in both reports.
            let config = self.folder.join(format!("{stem}.toml"));
            fs::write(&config, header.config_file())?;
            command.args(["--strategy", header.strategy.as_deref().unwrap_or("assetfuzzer"), "--config"]);
            command.arg(config);
        }
        command.args(&header.options).args(&self.options.hunt).arg("--json").arg(&json).arg("--");
        let java = program.java(&self.java).unwrap_or_else(|| self.java.clone());
        command.arg(java).args(QUICK_START).args(&header.java_options);
        command.arg("-cp").arg(self.folder.join(program.folder.name())).arg(&program.class);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {}", line(&command)))?;
        if let Some(mut pipe) = child.stdin.take() {
            // A program need not read its input, and may have ended by now.
            let _ = pipe.write_all(header.stdin.as_bytes());
        }
        let output = child.wait_with_output()?;
        let text = fs::read_to_string(&json).with_context(|| {
            format!("{} wrote no report: {}", line(&command), String::from_utf8_lossy(&output.stderr))
        })?;
        Ok((output.status.code(), serde_json::from_str(&text).context("the report is not JSON")?))
    }
}

fn compare_reports(ours: &(Option<i32>, Value), theirs: &(Option<i32>, Value)) -> Verdict {
    let mut different = Vec::new();
    if ours.0 != theirs.0 {
        different.push(format!("exit code {:?}, not {:?}", ours.0, theirs.0));
    }
    let (ours, theirs) = (&ours.1, &theirs.1);
    for key in REPORT_KEYS {
        compare_values(key, &ours[key], &theirs[key], &mut different);
    }
    let findings = |report: &Value| report["findings"].as_array().cloned().unwrap_or_default();
    let (our_findings, their_findings) = (findings(ours), findings(theirs));
    if our_findings.len() != their_findings.len() {
        let list = |findings: &[Value]| {
            let names = findings.iter().map(|finding| format!("{} {}", finding["kind"], finding["subject"]));
            names.collect::<Vec<_>>().join(", ")
        };
        different.push(format!("findings [{}], not [{}]", list(&our_findings), list(&their_findings)));
    } else {
        for (ours, theirs) in our_findings.iter().zip(&their_findings) {
            for key in FINDING_KEYS {
                let path = format!("{} {key}", theirs["subject"].as_str().unwrap_or_default());
                compare_values(&path, &ours[key], &theirs[key], &mut different);
            }
        }
    }
    if !different.is_empty() {
        return Verdict::Different(different);
    }
    let mut words = BTreeSet::new();
    differing_paths("", ours, theirs, &mut words);
    words.remove("tool.version");
    if words.is_empty() { Verdict::Same } else { Verdict::OtherWords(words) }
}

fn compare_values(path: &str, ours: &Value, theirs: &Value, different: &mut Vec<String>) {
    if ours != theirs {
        let mut parts = BTreeSet::new();
        differing_paths("", ours, theirs, &mut parts);
        let parts: Vec<String> = parts.into_iter().take(3).filter(|part| !part.is_empty()).collect();
        let parts = if parts.is_empty() { String::new() } else { format!(" in {}", parts.join(", ")) };
        different.push(format!("{path}{parts}: {}, not {}", short(ours), short(theirs)));
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The paths of the parts that differ. The elements of a list share one path.
fn differing_paths(path: &str, ours: &Value, theirs: &Value, found: &mut BTreeSet<String>) {
    match (ours, theirs) {
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys()).collect::<BTreeSet<_>>() {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                differing_paths(&path, &ours[key.as_str()], &theirs[key.as_str()], found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (one, other) in one.iter().zip(other) {
                differing_paths(path, one, other, found);
            }
        }
        (one, other) if one == other => {}
        _ => {
            found.insert(path.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(ours: Value, expected: impl Fn(&Verdict) -> bool) {
        let theirs = json!({
            "tool": {"version": "0.1.0"}, "runs": 4, "exits": {"0": 4}, "notices": ["a"],
            "findings": [{"kind": "failure", "subject": "A.b", "seeds": [1, 2], "reason": "r"}],
        });
        let mut changed = theirs.clone();
        for (key, value) in ours.as_object().unwrap() {
            *changed.pointer_mut(key).unwrap() = value.clone();
        }
        let verdict = compare_reports(&(Some(1), changed), &(Some(1), theirs));
        assert!(expected(&verdict), "{ours}: {verdict:?}");
    }

    #[test]
    fn schedules_and_findings_count_and_words_do_not() {
        check(json!({}), |verdict| *verdict == Verdict::Same);
        check(json!({"/tool/version": "0.2.0"}), |verdict| *verdict == Verdict::Same);
        let words = ["findings.reason", "notices"].map(str::to_owned);
        check(json!({"/notices/0": "b", "/findings/0/reason": "s"}), |verdict| {
            *verdict == Verdict::OtherWords(words.clone().into())
        });
        for changed in [
            json!({"/runs": 3}),
            json!({"/exits": {"1": 4}}),
            json!({"/findings": []}),
            json!({"/findings/0/subject": "A.c"}),
            json!({"/findings/0/seeds": [1, 3]}),
        ] {
            check(changed, |verdict| matches!(verdict, Verdict::Different(parts) if parts.len() == 1));
        }
    }

    #[test]
    fn exit_codes_count() {
        let verdict = compare_reports(&(Some(0), json!({})), &(Some(1), json!({})));
        assert!(matches!(verdict, Verdict::Different(_)));
    }
}
