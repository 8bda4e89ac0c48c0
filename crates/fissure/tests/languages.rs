//! Programs in other languages of the JVM: Kotlin coroutines, Scala futures, Clojure futures, agents and refs. Each broken program has a
//! correct twin.
//!
//! Maven fetches the compilers and libraries. Without Maven or the network, or with `FISSURE_TEST_OFFLINE` set, the tests are skipped.

mod common;

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::LazyLock,
};

use fissure_testing::{Outcome, Trial};
use serde_json::Value;

use common::{fetched, fissure, jdk_tool, output_text};

/// Bugs show in the first runs.
const RUNS_FOR_BROKEN: &str = "16";
/// A false alarm shows in the first runs.
const RUNS_FOR_CORRECT: &str = "3";

/// A program: its name, the command after the class path, and the subject of the bug in it.
struct Program {
    name: &'static str,
    command: &'static [&'static str],
    bug: Option<&'static str>,
}

const PROGRAMS: [Program; 6] = [
    Program { name: "kotlin-coroutines", command: &["OrdersKt"], bug: Some("OrdersKt.check") },
    Program { name: "kotlin-coroutines-fixed", command: &["OrdersFixed"], bug: None },
    Program { name: "scala-futures", command: &["Visits"], bug: Some("Visits$.count") },
    Program { name: "scala-futures-fixed", command: &["VisitsFixed"], bug: None },
    Program {
        name: "clojure",
        command: &["clojure.main", "withdrawals.clj"],
        bug: Some("clojure.main$main"),
    },
    Program { name: "clojure-fixed", command: &["clojure.main", "withdrawals_fixed.clj"], bug: None },
];

/// The class path of the programs. The error says why it cannot be fetched.
static CLASS_PATH: LazyLock<Result<OsString, String>> = LazyLock::new(class_path);

fn main() -> ExitCode {
    let trial = |program: Program| {
        Trial::new(format!("languages::{}", program.name), move || match &*CLASS_PATH {
            Ok(class_path) => {
                check(&program, class_path);
                Ok(Outcome::Passed)
            }
            Err(reason) => Ok(Outcome::Skipped(reason.clone())),
        })
    };
    fissure_testing::run(PROGRAMS.into_iter().map(trial).collect())
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/languages")
}

/// Fetches the compilers and compiles the programs; scripts are compiled when they run.
fn class_path() -> Result<OsString, String> {
    let jars = fetched(&sources())?;
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("languages").join("classes");
    fs::create_dir_all(&classes).expect("a folder for the classes can be made");
    let all = env::join_paths(&jars).expect("no path of a jar has a colon");
    let is_library = |jar: &&PathBuf| !jar.to_string_lossy().contains("-compiler");
    let libraries = env::join_paths(jars.iter().filter(is_library)).expect("no path of a jar has a colon");
    let compile = |main: &str, options: &[&str], source: &str| {
        let mut compiler = Command::new(jdk_tool("java"));
        compiler.arg("-cp").arg(&all).arg(main).args(options).arg("-cp").arg(&libraries);
        let output = compiler.arg("-d").arg(&classes).arg(sources().join(source)).output();
        let output = output.expect("a compiler can be started");
        assert!(output.status.success(), "{}", output_text(&output));
    };
    compile(
        "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
        &["-no-stdlib", "-no-reflect", "-nowarn"],
        "Orders.kt",
    );
    compile("scala.tools.nsc.Main", &["-nowarn"], "Visits.scala");
    let parts = [classes].into_iter().chain(jars.iter().filter(is_library).cloned());
    Ok(env::join_paths(parts).expect("no path of a jar has a colon"))
}

/// Hunts in a program, and replays the bug.
fn check(program: &Program, class_path: &OsString) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let report = folder.path().join("report.json");
    let java = [OsString::from("java"), "-XX:TieredStopAtLevel=1".into(), "-cp".into(), class_path.clone()];
    let runs = if program.bug.is_some() { RUNS_FOR_BROKEN } else { RUNS_FOR_CORRECT };
    let mut hunt = fissure();
    hunt.current_dir(sources()).args(["hunt", "--runs", runs, "--reference-runs", "2", "--until-bug"]);
    hunt.args(["--no-minimise", "--json"]).arg(&report).arg("--").args(&java).args(program.command);
    let output = hunt.output().expect("Fissure can be started");
    let text = fs::read(&report).unwrap_or_else(|_| panic!("no report: {}", output_text(&output)));
    let found: Value = serde_json::from_slice(&text).expect("the report is JSON");
    let findings = found["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let bugs: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["status"] != "warning")
        .filter_map(|finding| finding["subject"].as_str())
        .collect();
    match program.bug {
        None => assert!(bugs.is_empty(), "{}", output_text(&output)),
        Some(subject) => {
            assert!(bugs.iter().any(|bug| bug.starts_with(subject)), "{}", output_text(&output));
            let mut replay = fissure();
            replay
                .current_dir(sources())
                .arg("replay")
                .arg(&report)
                .arg("--")
                .args(&java)
                .args(program.command);
            let output = replay.output().expect("Fissure can be started");
            assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
        }
    }
}
