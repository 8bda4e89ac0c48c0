//! Virtual threads: what the program sees under control, equal replays, many threads, the program's own options, and `detect` on one and
//! two carriers. The programs under `programs/hunt` that use virtual threads are tested with the others.
//!
//! The tests run on the newest JDK that is installed, and on the JVMs that `FISSURE_TEST_JAVAS` names. Without one that has virtual threads
//! they are skipped.

mod common;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{ExitCode, Output},
    sync::LazyLock,
};

use fissure_testing::{Folder, Outcome, Trial, compiled_once, isolated, java_version, javas, newer_tool};
use serde_json::Value;

use common::{fissure, output_text};

/// The first release with virtual threads.
const SINCE: u32 = 21;
/// How often a run is repeated.
const REPLAYS: usize = 10;

/// A test: its name, and what it does with a JVM.
type Check = (&'static str, fn(&Path));

const CHECKS: [Check; 7] = [
    ("programs_see_the_same", programs_see_the_same),
    ("replays_are_equal", replays_are_equal),
    ("replays_of_a_finding_are_equal", replays_of_a_finding_are_equal),
    ("a_thousand_threads_are_controlled", a_thousand_threads_are_controlled),
    ("options_of_the_program_prevail", options_of_the_program_prevail),
    ("carriers_are_not_confused_with_threads", carriers_are_not_confused_with_threads),
    ("threads_of_a_harness_are_controlled", threads_of_a_harness_are_controlled),
];

/// A counter whose calls let virtual threads count, with the lock and without.
const DELEGATED: &str = "
    import java.util.concurrent.Executors;

    public class Delegated {
        private int count;

        public synchronized int increment() {
            return ++count;
        }

        public int add() throws Exception {
            try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
                return executor.submit(() -> ++count).get();
            }
        }

        public int addLocked() throws InterruptedException {
            int[] counted = new int[1];
            Thread.startVirtualThread(() -> counted[0] = increment()).join();
            return counted[0];
        }
    }";

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for java in virtual_javas() {
        for (name, check) in CHECKS {
            let java = java.clone();
            let label = java.as_ref().map(|java| format!("[{}]", java.display())).unwrap_or_default();
            trials.push(Trial::new(format!("virtual_threads::{name}{label}"), move || {
                let Some(java) = java else {
                    return Ok(Outcome::Skipped(format!("it needs a JDK {SINCE}, and there is none")));
                };
                check(&java);
                Ok(Outcome::Passed)
            }));
        }
    }
    fissure_testing::run(trials)
}

/// The JVMs to test on; one `None` if there are none.
fn virtual_javas() -> Vec<Option<PathBuf>> {
    let Some(newest) = newer_tool("javac", SINCE) else { return vec![None] };
    let newest = newest.with_file_name("java");
    let others = javas().into_iter().skip(1).filter(|java| java_version(java) >= SINCE);
    let others = others.filter(|java| java.canonicalize().ok() != newest.canonicalize().ok());
    std::iter::once(newest.clone()).chain(others).map(Some).collect()
}

/// The classes of a folder of programs.
fn classes(folder: Folder) -> PathBuf {
    // Tests run in parallel, but a folder is compiled once.
    static JAVAC: LazyLock<PathBuf> =
        LazyLock::new(|| newer_tool("javac", SINCE).expect("there is a compiler"));
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("virtual-threads").join(folder.name());
    let programs: Vec<_> =
        folder.programs().unwrap().into_iter().filter(|program| program.release() >= SINCE).collect();
    compiled_once(&JAVAC, &programs, &classes).unwrap();
    classes
}

/// Replays seed 1 of a program.
fn replay(java: &Path, folder: Folder, options: &[&str], program: &[&str]) -> Output {
    let mut command = fissure();
    command.args(["replay", "--time-limit", "300"]).args(options).arg("--").arg(java);
    command.arg("-cp").arg(classes(folder)).args(program).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn programs_see_the_same(java: &Path) {
    let plain =
        isolated(java).arg("-cp").arg(classes(Folder::Determinism)).arg("VirtualThreads").output().unwrap();
    assert!(plain.status.success(), "{}", output_text(&plain));
    let controlled = replay(java, Folder::Determinism, &["--seed", "1"], &["VirtualThreads"]);
    assert_eq!(text(&controlled.stdout), text(&plain.stdout), "{}", text(&controlled.stderr));
    assert!(!text(&controlled.stderr).contains("may not replay"), "{}", text(&controlled.stderr));
}

fn threads_of_a_harness_are_controlled(java: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("Delegated.java");
    fs::write(&source, DELEGATED).unwrap();
    let mut javac = isolated(newer_tool("javac", SINCE).expect("there is a compiler"));
    let compiled =
        javac.args(["--release", "21", "-g", "-d"]).arg(folder.path()).arg(&source).output().unwrap();
    assert!(compiled.status.success(), "{}", output_text(&compiled));
    for (harness, expected) in [
        ("[add()], [increment()]", "Delegated.add is not atomic"),
        ("[addLocked()], [increment()]", "found nothing, of 1 tested"),
    ] {
        let mut object = fissure();
        object.args(["object", "Delegated", "--core", "increment", "--harness", harness]);
        object.args(["--schedules", "controlled", "--budget", "2s", "--trust-core", "--fail-on", "never"]);
        let output = object.arg("--classpath").arg(folder.path()).arg("--java").arg(java).output().unwrap();
        let said = output_text(&output);
        assert!(said.contains(expected) && !said.contains("not controlled"), "{harness}: {said}");
    }
}

/// Repeats a command and compares its output and report, which has a digest of the schedule.
fn check_replays(java: &Path, folder: Folder, options: &[&str], program: &[&str]) {
    let outputs = (0..REPLAYS).map(|_| {
        let output = replay(java, folder, options, program);
        (output.status.code(), output.stdout, text(&output.stderr))
    });
    let outputs: BTreeSet<_> = outputs.collect();
    assert_eq!(outputs.len(), 1, "{outputs:#?}");
}

fn replays_are_equal(java: &Path) {
    check_replays(java, Folder::Determinism, &["--seed", "2"], &["VirtualThreads"]);
}

fn replays_of_a_finding_are_equal(java: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let mut hunt = fissure();
    hunt.args(["hunt", "--runs", "8", "--reference-runs", "2", "--until-bug", "--json"]).arg(&report);
    let output =
        hunt.arg("--").arg(java).arg("-cp").arg(classes(Folder::Hunt)).arg("VirtualServer").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    let report = report.to_str().unwrap();
    let once = replay(java, Folder::Hunt, &[report], &["VirtualServer"]);
    assert_eq!(once.status.code(), Some(1), "{}", output_text(&once));
    check_replays(java, Folder::Hunt, &[report], &["VirtualServer"]);
}

fn a_thousand_threads_are_controlled(java: &Path) {
    let runs: BTreeSet<_> = (0..2)
        .map(|_| {
            let output = replay(java, Folder::Determinism, &["--seed", "1"], &["ManyVirtualThreads"]);
            (output.status.code(), text(&output.stdout), text(&output.stderr))
        })
        .collect();
    assert_eq!(runs.len(), 1, "{runs:#?}");
    let (code, printed, report) = &runs.into_iter().next().unwrap();
    assert_eq!((*code, printed.starts_with("2000 ")), (Some(0), true), "{printed}{report}");
    assert!(report.contains("1,001 threads"), "{report}");
}

fn options_of_the_program_prevail(java: &Path) {
    let mut hunt = fissure();
    hunt.args(["hunt", "--runs", "1", "--reference-runs", "1", "--"]).arg(java).arg("-XX:+VMContinuations");
    let output = hunt.arg("-cp").arg(classes(Folder::Hunt)).arg("VirtualCounter").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", output_text(&output));
    let words: Vec<String> = output_text(&output).split_whitespace().map(str::to_owned).collect();
    assert!(words.join(" ").contains("uses virtual threads that Fissure could not control"), "{words:?}");
}

/// The findings of `detect`, with the threads of each.
fn detected(java: &Path, parallelism: u32, program: &str) -> Vec<(String, BTreeSet<String>)> {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("report.json");
    let mut detect = fissure();
    // Threads wait in a common monitor, which may happen to order all other accesses as well.
    detect.args(["detect", "--order", "start-join", "--json"]).arg(&json).arg("--").arg(java);
    detect.arg(format!("-Djdk.virtualThreadScheduler.parallelism={parallelism}"));
    let output = detect.arg("-cp").arg(classes(Folder::Race)).arg(program).output().unwrap();
    assert_eq!(text(&output.stdout), "done\n", "{}", output_text(&output));
    let report: Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    let findings = report["findings"].as_array().unwrap().iter().filter(|finding| finding["ordered"] != true);
    let threads = |finding: &Value| {
        let sites = finding["sites"].as_array().unwrap().iter();
        sites.map(|site| site["thread"].as_str().unwrap().to_owned()).collect()
    };
    findings.map(|finding| (finding["subject"].as_str().unwrap().to_owned(), threads(finding))).collect()
}

fn carriers_are_not_confused_with_threads(java: &Path) {
    for parallelism in [1, 2] {
        let found = detected(java, parallelism, "VirtualUnmounts");
        let [(subject, threads)] = &found[..] else { panic!("{parallelism}: {found:?}") };
        assert_eq!(subject, "VirtualUnmounts$Account.total");
        assert_eq!(threads.len(), 2, "{threads:?}");
        assert!(threads.iter().all(|thread| thread.starts_with("worker-")), "{threads:?}");
        assert_eq!(detected(java, parallelism, "VirtualUnmountsFixed"), [], "{parallelism}");
    }
}
