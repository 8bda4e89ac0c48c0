//! Compares `fissure detect` with the reference of the analysis on random programs: both must find races on the same objects.

mod common;

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use fissure_analysis::reference;

/// How many programs are compared; `cargo xtask bench differential` compares more.
const PROGRAMS: usize = 200;

#[test]
fn random_programs_have_the_races_that_the_reference_finds() {
    let folder = tempfile::tempdir().unwrap();
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/differential/RandomAccesses.java");
    let javac = Command::new("javac").arg("-g").arg("-d").arg(folder.path()).arg(source).output();
    let compiled = javac.expect("javac is not there; run `cargo xtask setup`");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));

    let report = folder.path().join("report.json");
    let output = common::fissure()
        .args(["detect", "--analysis", "racer", "--watch", "all", "--json"])
        .arg(&report)
        .args(["--", "java", "-cp"])
        .arg(folder.path())
        .args(["RandomAccesses", "1", &PROGRAMS.to_string()])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report = common::read_report(&fs::read_to_string(&report).unwrap());
    let found: BTreeMap<String, u64> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["ordered"] != true)
        .map(|finding| {
            let subject = finding["subject"].as_str().unwrap();
            let field = subject.strip_prefix("RandomAccesses$Shared.").unwrap_or(subject);
            (field.to_owned(), finding["hits"].as_u64().unwrap())
        })
        .collect();
    let text = String::from_utf8(output.stdout).unwrap();
    let trace: String =
        text.lines().take_while(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect();
    let programs = reference::read_programs(&trace).expect("the events of the programs");
    assert_eq!(programs.len(), PROGRAMS);
    assert_eq!(found, reference::racing_objects(&programs));
}
