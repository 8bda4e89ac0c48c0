//! End to end: `fissure object` on the classes under `programs/object`, compared with the expectations of their headers, on classes
//! of the JDK, and on classes that cannot be tested.
//!
//! - `object OPTION…`: Fissure's options beside the class.
//! - `non-atomic METHOD…`: found, with a harness that shows it. `atomic METHOD…`: not found.
//! - `not-tested METHOD…`: listed as left out, with a reason.
//!
//! Any other finding is a false alarm. `FISSURE_TEST_JAVAS` (paths of `java`, separated by colons) adds JVMs to run on.

mod common;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

/// Enough, on a busy machine too, for a violation that an idle machine shows within a second.
const LONG: &str = "90s";

/// Enough to execute every small harness.
const SHORT: &str = "300ms";

/// Harnesses need all processors, so only one test runs at a time.
static TURN: Mutex<()> = Mutex::new(());

/// A class with the expectations of its header.
#[derive(Debug, Default)]
struct Subject {
    class: String,
    options: Vec<String>,
    non_atomic: Vec<String>,
    atomic: Vec<String>,
    not_tested: Vec<String>,
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/object")
}

fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for entry in fs::read_dir(sources()).unwrap() {
        let path = entry.unwrap().path();
        let mut subject =
            Subject { class: path.file_stem().unwrap().to_str().unwrap().to_owned(), ..Subject::default() };
        for line in fs::read_to_string(&path).unwrap().lines() {
            let Some(line) = line.strip_prefix("// fissure: ") else { continue };
            let mut words = line.split_whitespace().map(str::to_owned);
            let list = match words.next().as_deref() {
                Some("object") => &mut subject.options,
                Some("non-atomic") => &mut subject.non_atomic,
                Some("atomic") => &mut subject.atomic,
                Some("not-tested") => &mut subject.not_tested,
                other => panic!("{}: '{other:?}' is not known", path.display()),
            };
            list.extend(words);
        }
        subjects.push(subject);
    }
    assert!(subjects.len() >= 8);
    subjects
}

fn compile(folder: &Path) {
    let files = fs::read_dir(sources()).unwrap().map(|entry| entry.unwrap().path());
    javac(folder, folder, files);
}

fn javac(classpath: &Path, into: &Path, files: impl Iterator<Item = PathBuf>) {
    let mut javac = Command::new("javac");
    javac.args(["--release", "11", "-nowarn", "-cp"]).arg(classpath).arg("-d").arg(into).args(files);
    let output = javac.output().expect("javac must be on PATH");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn javas() -> Vec<PathBuf> {
    let more = env::var_os("FISSURE_TEST_JAVAS").unwrap_or_default();
    let more: Vec<PathBuf> = env::split_paths(&more).filter(|path| !path.as_os_str().is_empty()).collect();
    std::iter::once(PathBuf::from("java")).chain(more).collect()
}

/// Runs `fissure object` and gives its output and its JSON report.
fn object(java: &Path, folder: &Path, arguments: &[&str]) -> (Output, Value) {
    let json = folder.join("report.json");
    let _ = fs::remove_file(&json);
    let mut command = Command::new(env!("CARGO_BIN_EXE_fissure"));
    command.arg("object").args(arguments).arg("--classpath").arg(folder).arg("--java").arg(java);
    command.arg("--json").arg(&json).stdin(Stdio::null());
    let output = command.output().unwrap();
    let report = fs::read_to_string(&json).map_or(Value::Null, |text| common::read_report(&text));
    (output, report)
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The methods that the findings name, after checking that each finding is complete.
fn found(class: &str, report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| {
            assert_eq!(finding["kind"], "non-atomic-method");
            assert_eq!(finding["status"], "confirmed");
            assert!(finding["harness"].as_str().unwrap().starts_with('['), "{finding}");
            assert!(!finding["outcome"].as_str().unwrap().is_empty(), "{finding}");
            let (hits, executions) =
                (finding["hits"].as_u64().unwrap(), finding["executions"].as_u64().unwrap());
            assert!(0 < hits && hits <= executions, "{finding}");
            let subject = finding["subject"].as_str().unwrap();
            subject.strip_prefix(&format!("{class}.")).unwrap().to_owned()
        })
        .collect()
}

/// Each method that must be found is searched for alone; it is usually found at once.
fn check_non_atomic(java: &Path, folder: &Path, class: &str, options: &[&str], method: &str) {
    let core = ["core", "increment"].contains(&method) && options.is_empty();
    let which: &[&str] = if core { &[] } else { &["--trust-core", "--method", method] };
    let arguments = [&[class, "--budget", LONG], options, which].concat();
    let (output, report) = object(java, folder, &arguments);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{class}.{method}: {text}");
    assert_eq!(found(class, &report), [method], "{text}");
    assert!(text.contains(&format!("{class}.{method} is not atomic")), "{text}");
    assert!(text.contains("but sequential executions give"), "{text}");
}

/// Correct methods are tested all together.
fn check_atomic(java: &Path, folder: &Path, class: &str, options: &[&str], methods: &[&str]) {
    let mut arguments = [&[class, "--budget", SHORT], options].concat();
    for method in methods.iter().filter(|method| **method != "core") {
        arguments.extend(["--method", method]);
    }
    let (output, report) = object(java, folder, &arguments);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(0), "{class}: {text}");
    assert_eq!(found(class, &report), Vec::<String>::new(), "{text}");
    for method in methods {
        let mut rows = report["object"]["methods"].as_array().unwrap().iter();
        let row = rows.find(|row| row["method"].as_str().unwrap().split('<').next() == Some(method));
        let row = row.unwrap_or_else(|| panic!("{class}.{method}: {text}"));
        assert!(row["executions"].as_u64().unwrap() > 0, "{class}.{method}: {text}");
    }
}

#[test]
fn programs_have_the_verdicts_of_their_headers() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path());
    for java in javas() {
        for subject in subjects() {
            let options: Vec<&str> = subject.options.iter().map(String::as_str).collect();
            for method in &subject.non_atomic {
                check_non_atomic(&java, folder.path(), &subject.class, &options, method);
            }
            let atomic: Vec<&str> = subject.atomic.iter().map(String::as_str).collect();
            if !atomic.is_empty() {
                check_atomic(&java, folder.path(), &subject.class, &options, &atomic);
            }
            if !subject.not_tested.is_empty() {
                let arguments = [&[subject.class.as_str(), "--budget", "100ms"], options.as_slice()].concat();
                let (output, report) = object(&java, folder.path(), &arguments);
                assert_eq!(output.status.code(), Some(0), "{}", text(&output));
                let left_out = report["object"]["left_out"].as_array().unwrap();
                let mut names: Vec<&str> = left_out
                    .iter()
                    .map(|left| left["method"].as_str().unwrap().split('(').next().unwrap())
                    .collect();
                names.sort_unstable();
                let mut expected: Vec<&str> = subject.not_tested.iter().map(String::as_str).collect();
                expected.sort_unstable();
                assert_eq!(names, expected, "{}", text(&output));
                assert!(!text(&output).contains("noise"), "{}", text(&output));
            }
        }
    }
}

#[test]
fn every_buggy_class_has_a_correct_twin() {
    let subjects = subjects();
    for subject in subjects.iter().filter(|subject| !subject.non_atomic.is_empty()) {
        let twin = subjects.iter().find(|other| other.class == format!("{}Fixed", subject.class));
        let twin = twin.unwrap_or_else(|| panic!("{} has no twin", subject.class));
        assert!(twin.non_atomic.is_empty() && !twin.atomic.is_empty(), "{}", twin.class);
    }
}

#[test]
fn the_verdicts_about_jdk_classes_are_right() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    for java in javas() {
        for (class, method) in [
            ("java.util.concurrent.ConcurrentHashMap", "size"),
            ("java.util.concurrent.ConcurrentHashMap", "putAll"),
            ("java.util.concurrent.ConcurrentSkipListMap", "putAll"),
            ("java.util.concurrent.ConcurrentSkipListSet", "addAll"),
            ("java.util.concurrent.LinkedTransferQueue", "addAll"),
            ("java.util.concurrent.ArrayBlockingQueue", "containsAll"),
            ("java.util.concurrent.ConcurrentLinkedQueue", "clear"),
        ] {
            check_non_atomic(&java, folder.path(), class, &[], method);
        }
        let correct: [(&str, &[&str]); 4] = [
            ("java.util.concurrent.ConcurrentHashMap", &["putIfAbsent"]),
            ("java.util.concurrent.CopyOnWriteArrayList", &["size", "addAll", "clear", "iterator"]),
            ("java.util.concurrent.atomic.AtomicInteger", &["getAndSet", "addAndGet", "compareAndSet"]),
            ("java.util.concurrent.LinkedBlockingDeque", &["clear", "size", "toArray", "pollLast"]),
        ];
        for (class, methods) in correct {
            check_atomic(&java, folder.path(), class, &[], methods);
        }
    }
}

#[test]
fn one_harness_can_be_executed_with_an_order_between_sequences() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path());
    let map = "java.util.concurrent.ConcurrentHashMap";
    for (class, harness, code) in [
        (map, "[put(0,0)], [get(0)], [size()], {0<1,1<2}", 0),
        (map, "[put(0,0)], [size()], [put(1,1)], {0<1,0<2}", 0),
        // Stress nearly never shows it.
        (map, "[containsKey(1); size()], [put(1,1)], [put(0,0)], {2<0,2<1}", 1),
        ("LostCounter", "[increment()], [increment()], [increment()], {2<0,2<1}", 1),
    ] {
        let budget = if code == 0 { SHORT } else { "5s" };
        let (output, report) =
            object(Path::new("java"), folder.path(), &[class, "--harness", harness, "--budget", budget]);
        assert_eq!(output.status.code(), Some(code), "{harness}: {}", text(&output));
        assert!(report["object"]["methods"][0]["executions"].as_u64().unwrap() > 0, "{harness}");
    }
}

/// Checks a harness under controlled schedules: an outcome by an interleaving, or that there is none up to the bound.
fn check_controlled(folder: &Path, class: &str, harness: &str, expected: Option<&str>) {
    let arguments = [class, "--harness", harness, "--schedules", "controlled", "--budget", LONG];
    let (output, report) = object(Path::new("java"), folder, &arguments);
    let method = &report["object"]["methods"][0];
    match expected {
        Some(outcome) => {
            assert_eq!(output.status.code(), Some(1), "{harness}: {}", text(&output));
            assert_eq!(method["violation"]["outcome"], outcome, "{harness}");
            let turns = method["violation"]["interleaving"].as_array().unwrap();
            assert!(turns.iter().any(|turn| turn.as_str().unwrap().contains("until it is about to")));
        }
        None => {
            assert_eq!(output.status.code(), Some(0), "{harness}: {}", text(&output));
            assert!(text(&output).contains("with at most 2 preemptions of 1 harness"), "{}", text(&output));
        }
    }
    let schedules = &method["schedules"];
    assert_eq!((&schedules["preemptions"], &schedules["harnesses"]), (&2.into(), &1.into()), "{harness}");
    assert!(schedules["schedules"].as_u64().unwrap() > 1, "{harness}");
}

#[test]
fn all_schedules_with_two_preemptions_are_executed() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path());
    let folder = folder.path();
    let map = "java.util.concurrent.ConcurrentHashMap";
    let list = "java.util.concurrent.CopyOnWriteArrayList";
    check_controlled(folder, map, "[get(0); size()], [put(0,0)]", Some("0, 0, null"));
    check_controlled(folder, map, "[putIfAbsent(0,0)], [put(0,1); remove(0)]", None);
    check_controlled(folder, map, "[compute(0,plus)], [put(0,1); get(0)]", None);
    let skip_list = "java.util.concurrent.ConcurrentSkipListMap";
    check_controlled(folder, skip_list, "[containsKey(0); size()], [put(0,0)]", Some("true, 0, null"));
    let queue = "java.util.concurrent.ConcurrentLinkedQueue";
    check_controlled(folder, queue, "[size()], [offer(0); poll(); offer(1)]", Some("2, true, 0, true"));
    let blocking = "java.util.concurrent.LinkedBlockingQueue";
    check_controlled(folder, blocking, "[contains(1)], [offer(0); poll(); offer(1)]", None);
    check_controlled(folder, list, "[size()], [add(0); remove<Object>(0)]", None);
    check_controlled(folder, "java.util.Vector", "[addAll([0,1])], [add(2)]", None);
    check_controlled(
        folder,
        "java.util.concurrent.atomic.AtomicInteger",
        "[incrementAndGet()], [get()]",
        None,
    );
    check_controlled(folder, "SpinCounter", "[addTwo()], [increment()]", Some("(), 2"));
    check_controlled(folder, "SpinCounterFixed", "[addTwo()], [increment(); get()]", None);
    check_controlled(folder, "LostCounter", "[increment()], [increment()]", Some("1, 1"));
    check_controlled(folder, "LostCounterFixed", "[increment()], [increment()], [increment()]", None);
}

#[test]
fn notes_say_what_cannot_be_controlled() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path());
    for (class, core, expected) in [
        ("CrossedLocks", "left,right", "did not end under some schedule"),
        ("Starter", "increment,get", "threads of their own, which are not controlled"),
    ] {
        let arguments = [class, "--core", core, "--schedules", "controlled", "--budget", "3s"];
        let (output, _) = object(Path::new("java"), folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{class}: {}", text(&output));
        let said = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{class}: {said}");
    }
}

#[test]
fn emitted_java_programs_show_the_violation() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path());
    let emitted = folder.path().join("emitted");
    let emit = emitted.to_str().unwrap();
    let harness = "[transfer()], [balance(SAVINGS); balance(CHECKING)]";
    for (class, arguments, name) in [
        ("Accounts", vec!["--core", "deposit,balance", "--harness", harness], "AccountsTransferIsNotAtomic"),
        ("LostCounter", vec!["--harness", "[increment()], [increment()]"], "LostCounterIncrementIsNotAtomic"),
        (
            "ScoreBoard",
            vec!["--core", "put,get", "--harness", "[copyInto([0,1])], [put(0,1); put(1,0)]"],
            "ScoreBoardCopyIntoIsNotAtomic",
        ),
        (
            "ScoreBoard",
            vec!["--core", "put,get", "--harness", "[update(0,increment)], [put(0,1)]"],
            "ScoreBoardUpdateIsNotAtomic",
        ),
    ] {
        let arguments = [&[class, "--budget", "5s", "--emit-java", emit], arguments.as_slice()].concat();
        let (output, _) = object(Path::new("java"), folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let file = emitted.join(format!("{name}.java"));
        javac(folder.path(), folder.path(), std::iter::once(file));
        let mut java = Command::new("java");
        let output = java.arg("-cp").arg(folder.path()).args([name, "60"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains("NOT ATOMIC"), "{}", text(&output));
    }
}

fn check_refused(arguments: &[&str], expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (output, report) = object(Path::new("java"), folder.path(), arguments);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    assert!(text.starts_with("fissure: ") && text.contains(expected), "{arguments:?}: {text}");
    assert_eq!(text.trim_end().lines().count(), 1, "{arguments:?}: {text}");
    assert_eq!(report, Value::Null);
}

#[test]
fn classes_that_cannot_be_tested_are_rejected_with_a_sentence() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let map = "java.util.concurrent.ConcurrentHashMap";
    check_refused(&["no.such.Class"], "there is no class no.such.Class");
    check_refused(&["java.util.Map"], "java.util.Map is an interface");
    check_refused(&["java.util.AbstractMap"], "java.util.AbstractMap is abstract");
    check_refused(&["java.util.Collections"], "has no public constructor");
    check_refused(&["java.lang.Object"], "no method of java.lang.Object is known to be basic");
    check_refused(&[map, "--method", "bogus"], "has no public method bogus");
    check_refused(&[map, "--method", "reduce"], "reduce(long, BiFunction, BiFunction) cannot be tested");
    check_refused(&[map, "--core", "bogus"], "has no public method bogus");
    check_refused(&[map, "--harness", "[put(0,0)"], "expected ';' or ']' at character 10");
    check_refused(&[map, "--harness", "[bogus()]"], "it calls a method that the class does not have");
    check_refused(&[map, "--constructor", "true,true"], "no constructor of");
    check_refused(&[map, "--constructor", "-1"], "threw java.lang.IllegalArgumentException");
    check_refused(&[map, "--spec", "no/where.toml"], "no/where.toml: ");
}
