//! Compares `detect` with the reference of the analysis on random programs. A JVM runs many of them; both must find races on the same number
//! of objects for each field.

use std::{collections::BTreeMap, fs, process::Command};

use anyhow::{Context, Result, bail};
use clap::Args;
use fissure_analysis::reference;
use serde_json::Value;

use super::positive;
use crate::{
    jdk,
    workspace::{cargo, fresh_folder, line, root, succeed, target},
};

/// How many programs one JVM runs: a difference is then easy to narrow down.
const AT_ONCE: u32 = 500;

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many programs are compared
    #[arg(long, default_value = "10000", value_parser = positive::<u32>)]
    programs: u32,
}

/// Builds, compares and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    let jdk = jdk::set_up()?;
    succeed(&mut cargo(&["build", "--release"]))?;
    let folder = fresh_folder("differential")?;
    let source = root().join("programs/differential/RandomAccesses.java");
    succeed(jdk.tool("javac").args(["--release", "11", "-g", "-d"]).arg(&folder).arg(source))?;
    let mut compared = BTreeMap::new();
    let mut first = 1;
    while first <= options.programs {
        let count = AT_ONCE.min(options.programs - first + 1);
        let json = folder.join("report.json");
        let mut command = Command::new(target()?.join("release/fissure"));
        command.args(["detect", "--analysis", "racer", "--watch", "all", "--json"]).arg(&json).arg("--");
        command.arg(jdk.bin().join("java")).arg("-cp").arg(&folder).arg("RandomAccesses");
        command.args([first, count].map(|number| number.to_string()));
        let output = command.output().with_context(|| format!("cannot start {}", line(&command)))?;
        let text = String::from_utf8(output.stdout)?;
        let trace = text.split("\n\n").next().unwrap_or_default();
        let programs =
            reference::read_programs(trace).context("the programs printed something unexpected")?;
        let expected = reference::racing_objects(&programs);
        let found = racing_objects(&serde_json::from_str(&fs::read_to_string(&json)?)?);
        if programs.len() != count as usize || found != expected {
            bail!(
                "programs {first} to {}: detect found {found:?}, the reference {expected:?}",
                first + count - 1
            );
        }
        for (field, objects) in found {
            *compared.entry(field).or_insert(0) += objects;
        }
        first += count;
    }
    println!("{} programs, no difference; objects with races by field: {compared:?}", options.programs);
    Ok(())
}

/// The objects with unordered races in a report, counted for each field.
fn racing_objects(report: &Value) -> BTreeMap<String, u64> {
    let findings = report["findings"].as_array().map_or(&[][..], Vec::as_slice);
    let unordered = findings.iter().filter(|finding| finding["ordered"] != true);
    unordered
        .filter_map(|finding| {
            let subject = finding["subject"].as_str()?;
            let field = subject.strip_prefix("RandomAccesses$Shared.").unwrap_or(subject);
            Some((field.to_owned(), finding["hits"].as_u64()?))
        })
        .collect()
}
