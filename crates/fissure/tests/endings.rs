//! How `fissure detect` ends: deadlocks, time limits, signals, and programs that fail.

mod common;

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::LazyLock,
};

use serde_json::Value;

use common::{agent, fissure, isolated, javas, jdk_tool, output_text, read_report};

/// The compiled program, kept as long as the tests run.
static CLASSES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/endings/Endings.java");
    let output = isolated(jdk_tool("javac"))
        .args(["--release", "11", "-g", "-d"])
        .arg(folder.path())
        .arg(source)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", output_text(&output));
    folder
});

/// JVMs start faster with these options.
const QUICK_START: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// Fissure's text and report for a run.
struct Seen {
    code: Option<i32>,
    text: String,
    report: Value,
}

impl Seen {
    fn deadlocks(&self) -> Vec<&Value> {
        let findings = self.report["findings"].as_array().unwrap().iter();
        findings.filter(|finding| finding["kind"] == "deadlock").collect()
    }

    /// Whether the text has these words, however its lines are wrapped.
    fn says(&self, text: &str) -> bool {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ").contains(text)
    }

    fn check(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.text);
        for text in texts {
            assert!(self.says(text), "no '{text}' in: {}", self.text);
        }
    }
}

fn command(java: &Path, options: &[&str], way: &str, json: &Path) -> Command {
    let mut command = fissure();
    command.arg("detect").args(options).arg("--json").arg(json).arg("--").arg(java).args(QUICK_START);
    command.arg("-cp").arg(CLASSES.path()).args(["Endings", way]).env("FISSURE_AGENT", agent());
    command
}

fn run_on(java: &Path, options: &[&str], way: &str) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("report.json");
    let output = command(java, options, way, &json).output().unwrap();
    let text = output_text(&output);
    let report = read_report(&std::fs::read_to_string(&json).unwrap_or_else(|_| panic!("{text}")));
    Seen { code: output.status.code(), text, report }
}

fn run(options: &[&str], way: &str) -> Seen {
    run_on(&jdk_tool("java"), options, way)
}

/// Checks a deadlock of two threads, each with the lock that it holds and the one that it waits for, at these methods.
fn check_deadlock(seen: &Seen, waiting: [&str; 2]) {
    let found = seen.deadlocks();
    assert_eq!(found.len(), 1, "{}", seen.text);
    assert_eq!((&found[0]["status"], &found[0]["analysis"]), (&"confirmed".into(), &"deadlock".into()));
    let sites = found[0]["sites"].as_array().unwrap();
    let waits: Vec<&Value> =
        sites.iter().filter(|site| site["role"].as_str().unwrap().starts_with("waits for lock ")).collect();
    let mut methods: Vec<&str> = waits.iter().map(|site| site["method"].as_str().unwrap()).collect();
    methods.sort_unstable();
    assert_eq!(methods, waiting, "{}", seen.text);
    let mut threads: Vec<&str> = waits.iter().map(|site| site["thread"].as_str().unwrap()).collect();
    threads.sort_unstable();
    assert_eq!(threads, ["alice", "bob"]);
    for (at, site) in waits.iter().enumerate() {
        let other = waits[1 - at];
        let wanted = site["role"].as_str().unwrap().strip_prefix("waits for lock ").unwrap();
        assert_eq!(other["locks"][0]["name"], wanted, "{}", seen.text);
        assert!(site["line"].is_u64(), "{}", seen.text);
    }
    let acquired = sites.iter().filter(|site| site["role"].as_str().unwrap().starts_with("holds lock "));
    let lines: Vec<u64> = acquired.map(|site| site["line"].as_u64().unwrap()).collect();
    assert_eq!(lines.len(), 2, "{}", seen.text);
}

/// The line of the source at a site.
fn source_line(site: &Value) -> String {
    let source = include_str!("../../../programs/endings/Endings.java");
    let line = site["line"].as_u64().unwrap() as usize;
    source.lines().nth(line - 1).unwrap().trim().to_owned()
}

#[test]
fn a_deadlock_of_monitors_is_found() {
    for java in javas() {
        let seen = run_on(&java, &["--time-limit", "2"], "monitors");
        let said = "deadlock: threads \"alice\" and \"bob\" wait for each other; if the program does not end";
        seen.check(1, &[said, "found 1 deadlock", "did not end within 2 s, and was ended"]);
        check_deadlock(&seen, ["nested", "nested"]);
        let mut lines: Vec<String> =
            seen.deadlocks()[0]["sites"].as_array().unwrap().iter().map(source_line).collect();
        lines.sort();
        lines.dedup();
        assert_eq!(lines, ["synchronized (held) {", "synchronized (wanted) {"], "{}", seen.text);
    }
}

#[test]
fn a_deadlock_of_locks_is_found() {
    for java in javas() {
        let seen = run_on(&java, &["--time-limit", "2"], "locks");
        seen.check(1, &["found 1 deadlock", "waits for lock java.util.concurrent.locks.ReentrantLock@"]);
        check_deadlock(&seen, ["locked", "locked"]);
    }
}

#[test]
fn a_deadlock_of_a_monitor_and_a_lock_is_found() {
    let seen = run(&["--time-limit", "2"], "mixed");
    seen.check(1, &["found 1 deadlock"]);
    check_deadlock(&seen, ["lockedThenNested", "nestedThenLocked"]);
}

#[test]
fn a_deadlock_beside_which_the_program_ends_is_found() {
    let seen = run(&[], "daemons");
    seen.check(1, &["done", "found 1 deadlock", "the program ended with exit code 0"]);
    check_deadlock(&seen, ["nested", "nested"]);
}

#[test]
fn long_waits_are_no_deadlock() {
    for way in ["slow", "timed"] {
        let seen = run(&[], way);
        assert!(seen.deadlocks().is_empty(), "{}", seen.text);
        seen.check(0, &["done", "found nothing"]);
    }
}

#[test]
fn a_run_that_reaches_its_limit_is_not_clean() {
    let seen = run(&["--time-limit", "1500ms"], "hangs");
    let texts = [
        "the program did not end within 1.5 s, and nothing was found up to there: raise --time-limit",
        "when it was ended, thread \"main\" waited at Endings.main (Endings.java:",
    ];
    seen.check(2, &texts);
    assert!(!seen.says("fissure hunt"), "{}", seen.text);
    let seen = run(&["--time-limit", "1500ms"], "races-and-hangs");
    seen.check(1, &["did not end within 1.5 s, and was ended", "Endings.racy", "found 1 data race"]);
}

/// Starts Fissure, and waits until the program is up.
fn start(way: &str, json: &Path) -> Child {
    let script = format!("exec {} \"$@\"", jdk_tool("java").display());
    let mut command = fissure();
    command.args(["detect", "--json"]).arg(json).args(["--", "sh", "-c"]);
    command.arg(format!("echo up; {script}")).arg("sh").args(QUICK_START);
    command.arg("-cp").arg(CLASSES.path()).args(["Endings", way]).env("FISSURE_AGENT", agent());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    // The JVM has to be up as well, and to reach the code in which it hangs.
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    child
}

fn interrupt(way: &str) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("report.json");
    let child = start(way, &json);
    let kill = format!("kill -s INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = output_text(&output);
    let report = read_report(&std::fs::read_to_string(&json).unwrap_or_else(|_| panic!("{text}")));
    Seen { code: output.status.code(), text, report }
}

#[test]
fn an_interrupted_run_that_saw_nothing_is_not_clean() {
    let seen = interrupt("hangs");
    seen.check(
        2,
        &["fissure: interrupted before anything was found", "thread \"main\" waited at Endings.main"],
    );
    let seen = interrupt("races-and-hangs");
    seen.check(1, &["the run was interrupted", "found 1 data race"]);
}

#[test]
fn a_program_that_fails_is_not_clean() {
    let seen = run(&[], "throws");
    let failed = "java.lang.IllegalStateException: overdrawn, in thread \"alice\"";
    let texts = [
        &format!("the program failed: {failed} at Endings.fail (Endings.java:"),
        &format!("the program failed ({failed}), and nothing was found that explains it"),
    ];
    seen.check(2, &texts.map(String::as_str));
    check_next_step(&seen, "throws");
    let seen = run(&[], "exits");
    seen.check(
        2,
        &["the program failed (it ended with exit code 3), and nothing was found that explains it"],
    );
    check_next_step(&seen, "exits");
    let seen = run(&["--fail-on", "never"], "exits");
    seen.check(2, &["the program failed"]);
    let seen = run(&[], "races-and-throws");
    seen.check(
        1,
        &["found 1 data race", &format!("the program failed ({failed}); to find out whether the schedule")],
    );
    check_next_step(&seen, "races-and-throws");
}

/// The last line is the command to run next.
fn check_next_step(seen: &Seen, way: &str) {
    let last = seen.text.lines().last().unwrap().trim();
    assert!(
        last.starts_with("fissure hunt -- ") && last.ends_with(&format!("Endings {way}")),
        "{}",
        seen.text
    );
    let words = seen.report["next_step"]["command"].as_array().unwrap();
    assert_eq!(words[..3], ["fissure", "hunt", "--"], "{}", seen.text);
}

/// Kills Fissure once `is_time` says so of the temporary folder, and waits until its program has ended.
fn kill_fissure(arguments: &[&str], folder: &Path, is_time: impl Fn(&Path) -> bool) {
    let mut command = fissure();
    command.args(arguments).arg("--").arg(jdk_tool("java"));
    command.args(QUICK_START).arg("-cp").arg(CLASSES.path()).args(["Endings", "races-and-ends-late"]);
    command.env("FISSURE_AGENT", agent()).env("TMPDIR", folder).env("XDG_CACHE_HOME", folder.join("cache"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until(|| is_time(folder));
    child.kill().unwrap();
    child.wait().unwrap();
    let settings = folder.join("fissure-").display().to_string();
    let is_running = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut commands = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        commands.any(|command| String::from_utf8_lossy(&command).contains(&settings))
    };
    wait_until(|| !is_running());
}

fn wait_until(is_so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed().as_secs() < 120, "it takes too long");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// The files below a folder, except those in the cache.
fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let inside = |path: std::path::PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    entries.filter(|path| !path.ends_with("cache")).flat_map(inside).collect()
}

/// The next run keeps the findings so far, and leaves nothing else in the temporary folder.
fn check_recovery(folder: &Path, subject: &str) {
    let mut command = fissure();
    command.args(["detect", "--"]).arg(jdk_tool("java")).args(QUICK_START);
    command.arg("-cp").arg(CLASSES.path()).args(["Endings", "exits"]).env("FISSURE_AGENT", agent());
    command.env("TMPDIR", folder).env("XDG_CACHE_HOME", folder.join("cache"));
    let text = output_text(&command.output().unwrap());
    assert!(
        text.contains("an earlier run was killed before it could report; its findings are in "),
        "{text}"
    );
    let left = files_below(folder);
    assert!(left.is_empty(), "{left:?}");
    let kept = files_below(&folder.join("cache/fissure/unreported"));
    let [file] = &kept[..] else { panic!("{kept:?}") };
    let report = read_report(&std::fs::read_to_string(file).unwrap());
    let findings = report["findings"].as_array().unwrap();
    let is_about =
        |finding: &Value| finding["subject"].as_str().is_some_and(|found| found.starts_with(subject));
    assert!(findings.iter().any(is_about), "{report}");
}

fn has_record_of(folder: &Path, text: &str) -> bool {
    let records = files_below(folder).into_iter().filter_map(|file| std::fs::read_to_string(file).ok());
    records.into_iter().any(|record| record.contains(text))
}

#[test]
fn what_a_killed_detect_saw_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    kill_fissure(&["detect"], folder.path(), |folder| has_record_of(folder, "Endings.racy"));
    check_recovery(folder.path(), "Endings.racy");
}

/// The JVM of a controlled run ends without Fissure, although its program waits for ever.
#[test]
fn what_a_killed_hunt_saw_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let hunt = ["hunt", "--runs", "500", "--reference-runs", "1"];
    let has_kept = |folder: &Path| {
        let is_kept = |file: &std::path::PathBuf| file.display().to_string().contains("jvm-run-");
        files_below(folder).iter().any(is_kept)
    };
    kill_fissure(&hunt, folder.path(), has_kept);
    check_recovery(folder.path(), "Endings.interleaved");
}

#[test]
fn an_interrupted_hunt_reports_what_it_saw() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("report.json");
    let mut command = fissure();
    command.args(["hunt", "--runs", "500", "--reference-runs", "1", "--json"]).arg(&json).arg("--");
    command.arg(jdk_tool("java")).args(QUICK_START).arg("-cp").arg(CLASSES.path());
    command
        .args(["Endings", "races-and-ends-late"])
        .env("FISSURE_AGENT", agent())
        .env("TMPDIR", folder.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until(|| has_record_of(folder.path(), "Endings.interleaved"));
    std::thread::sleep(std::time::Duration::from_secs(2));
    let kill = format!("kill -s INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let report = read_report(&std::fs::read_to_string(&json).unwrap());
    let is_it = |finding: &Value| {
        let subject = finding["subject"].as_str().unwrap();
        subject.starts_with("Endings.interleaved") && finding["status"] != "warning"
    };
    assert!(report["findings"].as_array().unwrap().iter().any(is_it), "{text}");
    assert_eq!(files_below(folder.path()), [json], "{text}");
}

#[test]
fn a_jvm_that_is_killed_in_a_hunt_is_noted() {
    let mut command = fissure();
    command.args(["hunt", "--runs", "2", "--reference-runs", "1", "--"]).arg(jdk_tool("java"));
    command.args(QUICK_START).arg("-cp").arg(CLASSES.path()).args(["Endings", "races-and-is-killed"]);
    let output = command.env("FISSURE_AGENT", agent()).output().unwrap();
    let seen = Seen { code: output.status.code(), text: output_text(&output), report: Value::Null };
    seen.check(2, &["the program was killed by signal 9 (SIGKILL) before Fissure could see anything of it"]);
}

#[test]
fn a_killed_program_keeps_what_was_seen() {
    let seen = run(&[], "races-and-is-killed");
    seen.check(1, &["found 1 data race", "was killed by signal 9", "fissure hunt -- "]);
}
