//! End to end: hunts for violations of atomic sets, beside those in each program (`programs/assets.rs`): replays, other strategies, and the
//! static analysis.

mod common;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Output,
    sync::OnceLock,
};

use fissure_testing::{Folder, compiled_once, jdk_tool};
use serde_json::Value;

/// JVMs start faster with these options, on which the findings do not depend.
const QUICK_START: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// Classes of all programs, compiled once for all tests.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs/assets");
        let programs = Folder::Assets.programs().unwrap();
        compiled_once(&jdk_tool("javac"), &programs, &classes).unwrap();
        classes
    })
}

/// Runs Fissure on a program; gives its JSON report too.
fn fissure(command: &str, options: &[&str], class: &str) -> (Value, Output) {
    let report = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    let mut fissure = common::fissure();
    fissure.arg(command).args(options).arg("--json").arg(report.path());
    fissure.arg("--").arg(jdk_tool("java")).args(QUICK_START).arg("-cp").arg(classes()).arg(class);
    // The cached result of an earlier version of the static analysis must not be used here.
    let cache = tempfile::tempdir().expect("a temporary folder can be made");
    fissure.env("XDG_CACHE_HOME", cache.path());
    let output = fissure.output().expect("Fissure can be run");
    let report = serde_json::from_slice(&fs::read(report.path()).unwrap_or_default());
    let report = report
        .unwrap_or_else(|error| panic!("{class}: {error}\n{}", String::from_utf8_lossy(&output.stderr)));
    (report, output)
}

fn findings(report: &Value) -> &[Value] {
    report["findings"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The same seed, goal and options make the same happen, by the same steps.
#[test]
fn confirmed_findings_can_be_replayed() {
    check_replay("HalfOldPair", &[]);
    let config = tempfile::NamedTempFile::new().unwrap();
    fs::write(config.path(), "[atomic-sets]\ncontents = true\n").unwrap();
    check_replay("SoldTwice", &["--config", &config.path().to_string_lossy()]);
}

fn check_replay(class: &str, extra: &[&str]) {
    let options = [&["--strategy", "assetfuzzer", "--profile", "2", "--runs", "2"], extra].concat();
    let (report, _) = fissure("hunt", &options, class);
    let finding = &findings(&report)[0];
    let target = finding["targets"][0].clone();
    let seed = finding["seeds"][0].to_string();
    let text = target.to_string();
    let by_seed = [&["--strategy", "assetfuzzer", "--seed", &seed, "--goal", &text], extra].concat();
    for _ in 0..2 {
        let (again, output) = fissure("replay", &by_seed, class);
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(findings(&again)[0]["id"], finding["id"]);
        assert_eq!(findings(&again)[0]["interleaving"], finding["interleaving"]);
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), report.to_string()).unwrap();
    // The report has the options, including the configuration's file.
    let named = format!("{}#{}", file.path().display(), finding["id"].as_str().unwrap());
    let (again, output) = fissure("replay", &[&named], class);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(findings(&again)[0]["status"], "bug");
}

#[test]
fn any_strategy_can_run_the_checker() {
    let options = ["--strategy", "random", "--check", "atomic-sets", "--runs", "12"];
    let (report, output) = fissure("hunt", &options, "BufferAndLength");
    assert!(output.status.code().is_some_and(|code| code < 2));
    assert!(findings(&report).iter().all(|finding| finding["kind"] == "atomic-set-violation"));
    assert!(report["coverage"]["threads"].as_u64() > Some(0));
}

#[test]
fn strategies_hunt_one_after_the_other() {
    let options = ["--strategy", "racefuzzer,assetfuzzer", "--profile", "2", "--runs", "4"];
    let (report, output) = fissure("hunt", &options, "BufferAndLength");
    assert_eq!(output.status.code(), Some(1));
    let names: Vec<&str> =
        report["campaigns"].as_array().unwrap().iter().filter_map(|one| one["strategy"].as_str()).collect();
    assert_eq!(names, ["racefuzzer", "assetfuzzer"]);
    let kinds: Vec<&str> = findings(&report)
        .iter()
        .filter(|finding| finding["status"] != "warning")
        .filter_map(|finding| finding["kind"].as_str())
        .collect();
    assert!(kinds.contains(&"data-race") && kinds.contains(&"atomic-set-violation"), "{kinds:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("--strategy racefuzzer --") && text.contains("--strategy assetfuzzer --"),
        "{text}"
    );
}

/// Fields that only one thread can access cannot be part of a finding.
#[test]
fn hunts_with_the_static_analysis_find_the_same() {
    check_static("OwnScratch", &["--strategy", "assetfuzzer", "--profile", "2"], true);
    check_static("OwnScratchFixed", &["--strategy", "assetfuzzer", "--profile", "2"], true);
    check_static("OwnScratch", &["--points", "fields"], true);
    check_static("BufferAndLength", &["--strategy", "racefuzzer", "--profile", "2"], false);
}

/// Hunts in one program with and without `--static`, and checks whether locations were left out.
fn check_static(class: &str, options: &[&str], leaves_out: bool) {
    let hunt = |more: &[&str]| {
        fissure(
            "hunt",
            &[options, &["--runs", "3", "--reference-runs", "1", "--no-minimise"], more].concat(),
            class,
        )
    };
    let (plain, _) = hunt(&[]);
    let (analysed, output) = hunt(&["--static"]);
    let summary = |report: &Value| -> BTreeSet<String> {
        let summary = |finding: &Value| {
            let known = ["kind", "subject", "pattern", "status"].map(|name| finding[name].to_string());
            known.join(" ")
        };
        findings(report).iter().map(summary).collect()
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(summary(&analysed), summary(&plain), "{class} {options:?}: {stderr}");
    let coverage = &analysed["coverage"]["static"];
    let count = |name: &str| coverage[name].as_u64().unwrap_or_else(|| panic!("{class}: {coverage}"));
    assert!(plain["coverage"]["static"].is_null() && count("sites") > 0, "{class} {options:?}: {stderr}");
    let is_less = count("fields_watched") < count("fields") && count("sites_watched") < count("sites");
    assert_eq!(is_less, leaves_out, "{class} {options:?}: {coverage}");
}
