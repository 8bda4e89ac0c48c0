//! JVMs in unusual modes, and under bad conditions: interpreted, compiled before the first call, with other garbage collectors, with checked
//! JNI calls, without memory, with a full disk. `detect` and `hunt` find the same as ever, and the program behaves as it does without them.

mod common;

use std::{path::Path, process::ExitCode, sync::LazyLock};

use fissure_testing::{Outcome, Trial};

use common::{compiled, fissure, isolated, jdk_tool, output_text, read_report};

/// Two threads count without a lock, and one of them fills the heap if the argument says so.
const PROGRAM: &str = "import java.util.ArrayList;
import java.util.List;

public class Tally {
    private static volatile int count;
    private static int plain;

    private static void add(boolean fills) {
        if (fills) {
            try {
                List<byte[]> all = new ArrayList<>();
                while (true) {
                    all.add(new byte[100_000]);
                }
            } catch (OutOfMemoryError expected) {
                plain++;
            }
        }
        plain++;
        int before = count;
        count = before + 1;
    }

    public static void main(String[] arguments) throws InterruptedException {
        boolean fills = arguments.length > 0;
        Thread first = new Thread(() -> add(fills));
        Thread second = new Thread(() -> add(false));
        first.start();
        second.start();
        first.join();
        second.join();
        if (count != 2) {
            throw new IllegalStateException(\"count \" + count);
        }
        System.out.println(\"done\");
    }
}
";

static CLASSES: LazyLock<tempfile::TempDir> = LazyLock::new(|| compiled("Tally", PROGRAM));

/// The options of each kind of JVM, and the argument of the program.
const JVMS: &[(&str, &[&str], &[&str])] = &[
    ("interpreted", &["-Xint", "-Xshare:off"], &[]),
    ("compiled", &["-Xcomp", "-XX:TieredStopAtLevel=1"], &[]),
    ("zgc", &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"], &[]),
    ("shenandoah", &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseShenandoahGC"], &[]),
    ("checked-jni", &["-Xcheck:jni"], &[]),
    ("out-of-memory", &["-Xmx24m"], &["fills"]),
];

const HUNT: &[&str] = &["hunt", "--runs", "12", "--reference-runs", "1", "--no-minimise", "--until-bug"];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for &(name, options, arguments) in JVMS {
        trials.push(Trial::new(format!("detect::{name}"), move || detect(options, arguments)));
        trials.push(Trial::new(format!("hunt::{name}"), move || hunt(options, arguments)));
    }
    trials.push(Trial::new("detect::full-disk", || full_disk("detect")));
    trials.push(Trial::new("hunt::full-disk", || full_disk("hunt --runs 2 --reference-runs 1")));
    fissure_testing::run(trials)
}

/// Why a JVM with these options cannot be started, if it cannot.
fn unsupported(options: &[&str]) -> Option<Outcome> {
    let output = isolated(jdk_tool("java")).args(options).arg("-version").output().unwrap();
    let reason = || Outcome::Skipped(format!("this JVM does not know {}", options.join(" ")));
    (!output.status.success()).then(reason)
}

/// The exit code, the whole text, and the subjects of the findings, each with its status.
fn run(command: &[&str], options: &[&str], arguments: &[&str]) -> (Option<i32>, String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("report.json");
    let mut fissure = fissure();
    fissure.args(command).arg("--json").arg(&json).args(["--", "java"]).args(options);
    fissure.arg("-cp").arg(CLASSES.path()).arg("Tally").args(arguments);
    let output = fissure.output().unwrap();
    let text = output_text(&output);
    let report = read_report(&std::fs::read_to_string(&json).unwrap_or_else(|_| panic!("{text}")));
    let findings = report["findings"].as_array().unwrap().iter();
    let words = |key: &str, finding: &serde_json::Value| finding[key].as_str().unwrap_or_default().to_owned();
    let found = findings.map(|finding| format!("{} {}", words("status", finding), words("subject", finding)));
    (output.status.code(), text, found.collect())
}

fn detect(options: &[&str], arguments: &[&str]) -> Result<Outcome, String> {
    if let Some(reason) = unsupported(options) {
        return Ok(reason);
    }
    let (code, text, found) = run(&["detect"], options, arguments);
    check(code == Some(1) && found == ["warning Tally.plain"], &text)?;
    // The threads are not controlled, so the update that `hunt` loses may really get lost.
    let has_ended =
        text.lines().any(|line| line == "done") || text.contains("IllegalStateException: count 1");
    check(has_ended && !text.contains("WARNING in native method"), &text)
}

fn hunt(options: &[&str], arguments: &[&str]) -> Result<Outcome, String> {
    if let Some(reason) = unsupported(options) {
        return Ok(reason);
    }
    let (code, text, found) = run(HUNT, options, arguments);
    check(code == Some(1) && found == ["bug Tally.main"], &text)
}

/// The run's folder has no room for records: the program ends as ever, and the result is not clean.
fn full_disk(command: &str) -> Result<Outcome, String> {
    let disk = tempfile::tempdir().unwrap();
    let inside = |script: &str| {
        let mount = format!("mount -t tmpfs -o size=16k tmpfs '{}' && {script}", disk.path().display());
        let mut shell = isolated("unshare");
        shell.args(["--mount", "--map-root-user", "sh", "-c", &mount]);
        shell
    };
    if !inside("true").output().is_ok_and(|output| output.status.success()) {
        return Ok(Outcome::Skipped("no file system can be mounted here".to_owned()));
    }
    let executable = fissure();
    let agent = common::agent();
    let script = format!(
        "head -c 8k /dev/zero > '{disk}/filler'; TMPDIR='{disk}' FISSURE_AGENT='{agent}' '{fissure}' {command} -- java -cp '{classes}' Tally",
        disk = disk.path().display(),
        agent = agent.display(),
        fissure = Path::new(executable.get_program()).display(),
        classes = CLASSES.path().display(),
    );
    let output = inside(&script).output().unwrap();
    let text = output_text(&output);
    check(output.status.code() == Some(2) && text.contains("No space left on device"), &text)
}

fn check(is_right: bool, text: &str) -> Result<Outcome, String> {
    if is_right { Ok(Outcome::Passed) } else { Err(text.to_owned()) }
}
