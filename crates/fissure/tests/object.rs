//! End to end: `fissure object`, beside the classes with headers (`programs/object.rs`): classes of the JDK, single harnesses, controlled
//! schedules, emitted programs, and classes that cannot be tested.
//!
//! `FISSURE_TEST_JAVAS` (paths of `java`, separated by colons) adds JVMs to run on.

mod common;

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use fissure_testing::{Folder, compiled_once, javas, jdk_tool};
use serde_json::Value;

use common::{
    object::{LONG, Object, SHORT, Searched},
    output_text,
};

/// Harnesses need all processors, so only one test runs at a time.
static TURN: Mutex<()> = Mutex::new(());

/// The classes with headers.
fn classes() -> PathBuf {
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs/object");
    let programs = Folder::Object.programs().unwrap();
    compiled_once(&jdk_tool("javac"), &programs, &classes).unwrap();
    classes
}

/// Runs `fissure object` with these classes.
fn search(classes: &Path, arguments: &[&str]) -> Searched {
    Object { java: Path::new("java"), classes }.search(arguments)
}

#[test]
fn the_verdicts_about_jdk_classes_are_right() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    for java in javas() {
        let object = Object { java: &java, classes: folder.path() };
        let check = |result: Result<(), String>| result.unwrap_or_else(|problem| panic!("{problem}"));
        for (class, method) in [
            ("java.util.concurrent.ConcurrentHashMap", "size"),
            ("java.util.concurrent.ConcurrentHashMap", "putAll"),
            ("java.util.concurrent.ConcurrentSkipListMap", "putAll"),
            ("java.util.concurrent.ConcurrentSkipListSet", "addAll"),
            ("java.util.concurrent.LinkedTransferQueue", "addAll"),
            ("java.util.concurrent.ArrayBlockingQueue", "containsAll"),
            ("java.util.concurrent.ConcurrentLinkedQueue", "clear"),
        ] {
            check(object.check_non_atomic(class, &[], method));
        }
        let correct: [(&str, &[&str]); 4] = [
            ("java.util.concurrent.ConcurrentHashMap", &["putIfAbsent"]),
            ("java.util.concurrent.CopyOnWriteArrayList", &["size", "addAll", "clear", "iterator"]),
            ("java.util.concurrent.atomic.AtomicInteger", &["getAndSet", "addAndGet", "compareAndSet"]),
            ("java.util.concurrent.LinkedBlockingDeque", &["clear", "size", "toArray", "pollLast"]),
        ];
        for (class, methods) in correct {
            check(object.check_atomic(class, &[], methods));
        }
    }
}

#[test]
fn one_harness_can_be_executed_with_an_order_between_sequences() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let classes = classes();
    let map = "java.util.concurrent.ConcurrentHashMap";
    for (class, harness, code) in [
        (map, "[put(0,0)], [get(0)], [size()], {0<1,1<2}", 0),
        (map, "[put(0,0)], [size()], [put(1,1)], {0<1,0<2}", 0),
        // Stress nearly never shows it.
        (map, "[containsKey(1); size()], [put(1,1)], [put(0,0)], {2<0,2<1}", 1),
        ("LostCounter", "[increment()], [increment()], [increment()], {2<0,2<1}", 1),
    ] {
        let budget = if code == 0 { SHORT } else { "5s" };
        let searched = search(&classes, &[class, "--harness", harness, "--budget", budget]);
        assert_eq!(searched.output.status.code(), Some(code), "{harness}: {}", searched.text);
        assert!(searched.report["object"]["methods"][0]["executions"].as_u64().unwrap() > 0, "{harness}");
    }
}

/// Checks a harness under controlled schedules: an outcome by an interleaving, or that there is none up to the bound.
fn check_controlled(folder: &Path, class: &str, harness: &str, expected: Option<&str>) {
    let arguments = [class, "--harness", harness, "--schedules", "controlled", "--budget", LONG];
    let Searched { output, text, report, .. } = search(folder, &arguments);
    let method = &report["object"]["methods"][0];
    match expected {
        Some(outcome) => {
            assert_eq!(output.status.code(), Some(1), "{harness}: {text}");
            assert_eq!(method["violation"]["outcome"], outcome, "{harness}");
            let turns = method["violation"]["interleaving"].as_array().unwrap();
            assert!(turns.iter().any(|turn| turn.as_str().unwrap().contains("until it is about to")));
        }
        None => {
            assert_eq!(output.status.code(), Some(0), "{harness}: {text}");
            assert!(text.contains("with at most 2 preemptions of 1 harness"), "{text}");
        }
    }
    let schedules = &method["schedules"];
    assert_eq!((&schedules["preemptions"], &schedules["harnesses"]), (&2.into(), &1.into()), "{harness}");
    assert!(schedules["schedules"].as_u64().unwrap() > 1, "{harness}");
}

#[test]
fn all_schedules_with_two_preemptions_are_executed() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let classes = classes();
    let folder = classes.as_path();
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
    let classes = classes();
    for (class, core, expected) in [
        ("CrossedLocks", "left,right", "did not end under some schedule"),
        ("Starter", "increment,get", "threads of their own, which are not controlled"),
    ] {
        let arguments = [class, "--core", core, "--schedules", "controlled", "--budget", "3s"];
        let searched = search(&classes, &arguments);
        assert_eq!(searched.output.status.code(), Some(0), "{class}: {}", searched.text);
        let said = searched.text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{class}: {said}");
    }
}

#[test]
fn emitted_java_programs_show_the_violation() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (classes, folder) = (classes(), tempfile::tempdir().unwrap());
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
        let searched = search(&classes, &arguments);
        assert_eq!(searched.output.status.code(), Some(1), "{}", searched.text);
        let file = emitted.join(format!("{name}.java"));
        let mut javac = Command::new(jdk_tool("javac"));
        javac
            .args(["--release", "11", "-nowarn", "-cp"])
            .arg(&classes)
            .arg("-d")
            .arg(folder.path())
            .arg(file);
        let compiled = javac.output().unwrap();
        assert!(compiled.status.success(), "{}", output_text(&compiled));
        let path = std::env::join_paths([classes.as_path(), folder.path()]).unwrap();
        let output = Command::new("java").arg("-cp").arg(path).args([name, "60"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
        assert!(output_text(&output).contains("NOT ATOMIC"), "{}", output_text(&output));
    }
}

fn check_refused(arguments: &[&str], expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let Searched { output, text, report, .. } = search(folder.path(), arguments);
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
    check_refused(&["java.lang.Object"], "no two calls of java.lang.Object could be executed");
    check_refused(&[map, "--new", "new Bogus()"], "there is no class Bogus");
    check_refused(&[map, "--new", "new java.util.HashMap()"], "gives a java.util.HashMap, no");
    check_refused(&[map, "--method", "bogus"], "has no public method bogus");
    check_refused(&[map, "--method", "reduce"], "reduce(long, BiFunction, BiFunction) cannot be tested");
    check_refused(&[map, "--core", "bogus"], "has no public method bogus");
    check_refused(&[map, "--harness", "[put(0,0)"], "expected ';' or ']' at character 10");
    check_refused(&[map, "--harness", "[bogus()]"], "it calls a method that the class does not have");
    check_refused(&[map, "--constructor", "true,true"], "no constructor of");
    check_refused(&[map, "--constructor", "-1"], "threw java.lang.IllegalArgumentException");
    check_refused(&[map, "--spec", "no/where.toml"], "no/where.toml: ");
}
