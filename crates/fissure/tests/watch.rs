//! End to end: monitor scripts, and pointcuts as scopes.

mod common;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

use serde_json::Value;

/// The programs, compiled once for all tests.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<tempfile::TempDir> = OnceLock::new();
    CLASSES
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let mut sources = Vec::new();
            for group in ["race", "monitor"] {
                sources_below(&root().join("programs").join(group), &mut sources);
            }
            for name in ["LockOrder", "LockOrderFixed", "Philosophers"] {
                sources.push(root().join(format!("programs/hunt/{name}.java")));
            }
            let mut javac = Command::new("javac");
            javac.args(["--release", "11", "-g", "-nowarn", "-d"]).arg(folder.path()).args(sources);
            let output = javac.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            folder
        })
        .path()
}

fn sources_below(folder: &Path, sources: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources_below(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "java") && !needs_newer_java(&path) {
            sources.push(path);
        }
    }
}

/// Whether the header of a program says that it needs a newer Java than the others.
fn needs_newer_java(path: &Path) -> bool {
    fs::read_to_string(path).unwrap().lines().any(|line| line.starts_with("// fissure: release "))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs `fissure` in a folder, with a class to start at the end.
fn fissure(folder: &Path, arguments: &[&str], class: &str) -> Output {
    let mut command = common::fissure();
    command.args(arguments).args(["--", "java", "-cp"]).arg(classes()).arg(class).current_dir(folder);
    command.output().unwrap()
}

/// The lines that a script prints for a class, without their prefix.
fn printed(script: &str, class: &str) -> (Vec<String>, Output) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("it.rhai"), script).unwrap();
    let output = fissure(folder.path(), &["watch", "--monitor", "it.rhai"], class);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = text.lines().filter_map(|line| line.strip_prefix("[it.rhai] ")).map(unnumbered).collect();
    (lines, output)
}

/// A line without the numbers of objects, some of which belong to the JVM.
fn unnumbered(line: &str) -> String {
    let mut parts = line.split('@');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push('@');
        text.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    text
}

fn check_printed(script: &str, expected: &[&str]) {
    let (lines, output) = printed(script, "Points");
    assert_eq!(lines, expected, "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"done\n");
}

/// The findings for a class: subjects, each with whether it is ordered.
fn found(arguments: &[&str], class: &str) -> BTreeSet<(String, bool)> {
    let folder = tempfile::tempdir().unwrap();
    let output = fissure(folder.path(), &[arguments, &["--json", "out.json"]].concat(), class);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code < 2), "{class}: {text}");
    let report: Value = serde_json::from_slice(&fs::read(folder.path().join("out.json")).unwrap()).unwrap();
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["subject"].as_str().unwrap().to_owned(), finding["ordered"] == true))
        .collect()
}

fn check_scope(scope: &str, class: &str, expected: &[&str]) {
    let found = found(&["detect", "--analysis", "racer", "--scope", scope], class);
    let subjects: Vec<&str> = found.iter().map(|(subject, _)| subject.as_str()).collect();
    assert_eq!(subjects, expected, "{scope} on {class}");
}

/// A program must continue whatever its monitor script does, and the report says why the script was stopped.
fn check_stopped(body: &str, expected: &str) {
    let script = format!("let all = [];\nbefore(\"get(*) || set(*) || call(*)\", |e| {{\n{body}\n}});");
    let (_, output) = printed(&script, "Points");
    let text = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b"done\n"[..]), "{text}");
    let expected = format!("the monitor script it.rhai was stopped: {expected}");
    assert!(text.contains(&expected) && text.contains("the program ended with exit code 0"), "{text}");
}

/// With a script that cannot be loaded, the program does not start.
fn check_refused(script: &str, expected: &str) {
    let (_, output) = printed(script, "Points");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.starts_with(&format!("fissure: --monitor it.rhai: {expected}")), "{text}");
    assert!(output.stdout.is_empty());
}

#[test]
fn locks_have_events_before_and_after_acquire_and_release() {
    let script = |pointcut: &str| {
        format!(
            "before(\"{pointcut}\", |e| print(`before ${{e.kind}} ${{e.line}} ${{e.locks.len}}`));\n\
             after(\"{pointcut}\", |e| print(`after ${{e.kind}} ${{e.line}} ${{e.locks.len}}`));"
        )
    };
    check_printed(
        &script("(lock() || unlock()) && args(Savings)"),
        &["before lock 16 0", "after lock 16 1", "before unlock 16 1", "after unlock 16 0"],
    );
    check_printed(
        &script("(lock() || unlock()) && args(Class)"),
        &["before lock 38 0", "after lock 38 1", "before unlock 38 1", "after unlock 38 0"],
    );
    check_printed(
        &script("(lock() || unlock()) && args(ReentrantLock)"),
        &[
            "before lock 45 0",
            "after lock 45 1",
            "before unlock 46 1",
            "after unlock 46 0",
            "before lock 47 0",
            "after lock 47 1",
            "before unlock 48 1",
            "after unlock 48 0",
        ],
    );
    check_printed(
        "after(\"lock() && within(Points.Account)\", |e| print(`${e.object} ${e.locks}`))",
        &[
            "Points$Account@ [\"Points$Account@\"]",
            "Points$Savings@ [\"Points$Savings@\"]",
            "Points$Account@ [\"Points$Account@\"]",
        ],
    );
    check_printed(
        "before(\"unlock() && within(Account) && !args(Savings)\", |e| print(e.site))",
        &["Points$Account.read:16", "Points$Account.fail:22"],
    );
}

#[test]
fn accesses_calls_and_executions_are_selected_by_pointcuts() {
    let at = |pointcut: &str, what: &str| format!("before(\"{pointcut}\", |e| print({what}))");
    let account = "Points$Account";
    check_printed(
        &at("get(int Account.*) && target(Savings)", "`${e.field} of ${e.object}`"),
        &[&format!("{account}.balance of Points$Savings@")],
    );
    check_printed(&at("set(int Account.*) && static", "e.variable"), &["Points$Account.made"; 2]);
    check_printed(
        &at("set(* *.log) && element()", "`${e.field} ${e.variable}`"),
        &["Points.log [0]", "Points.log [1]"],
    );
    check_printed(&at("call(* keep(..)) && args(String, int)", "e.line"), &["50"]);
    check_printed(&at("call(* keep(..)) && args(Account, ..)", "e.line"), &["51"]);
    check_printed(&at("execution(* keep(Object, int)) && args(Account, int)", "e.method"), &["Points.keep"]);
    check_printed(&at("call(Account.new(int))", "e.site"), &["Points.main:41"]);
    check_printed(
        "after(\"execution(Account+.new(..))\", |e| print(e.object))",
        &["Points$Account@", "Points$Savings@", "Points$Savings@"],
    );
    check_printed(
        "after(\"execution(void fail())\", |e| print(`${e.object} ${e.locks}`))",
        &["Points$Account@ []"],
    );
    check_printed(
        "let n = 0; before(\"call(* java.lang.Object+.*(..)) && within(Points)\", |e| n += 1); finish(|| print(n > 5))",
        &["true"],
    );
}

#[test]
fn the_scripted_racer_finds_what_the_built_in_one_finds() {
    let monitor = root().join("docs/monitors/racer.rhai");
    let lines = fs::read_to_string(&monitor).unwrap().lines().count();
    assert!(lines <= 60, "the script has {lines} lines");
    let monitor = monitor.to_str().unwrap();
    let mut programs: Vec<String> = fs::read_dir(root().join("programs/race"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && !needs_newer_java(path))
        .filter_map(|path| path.file_name()?.to_str()?.strip_suffix(".java").map(str::to_owned))
        .collect();
    programs.sort();
    assert!(programs.len() >= 90, "{programs:?}");
    let half = programs.len() / 2;
    let compare = |programs: &[String]| {
        for class in programs {
            let built_in = || found(&["detect", "--analysis", "racer", "--order", "start-join"], class);
            let scripted = || found(&["watch", "--monitor", monitor], class);
            // The schedule decides which of two accesses comes first, and with it what is ordered.
            let is_same = (0..8).any(|_| built_in() == scripted());
            assert!(is_same, "{class}: {:?}, but by script {:?}", built_in(), scripted());
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| compare(&programs[..half]));
        compare(&programs[half..]);
    });
}

#[test]
fn the_scripted_checker_finds_cycles_of_locks() {
    let monitor = root().join("docs/monitors/lock-order.rhai");
    let found = |class| found(&["watch", "--monitor", monitor.to_str().unwrap()], class);
    assert!(found("LockOrderFixed").is_empty());
    // The threads may really deadlock, because the run is not controlled; a sleep between them prevents that.
    let folder = tempfile::tempdir().unwrap();
    let mut command = common::isolated("timeout");
    command.env("FISSURE_AGENT", common::agent());
    command.arg("20").arg(env!("CARGO_BIN_EXE_fissure")).args(["watch", "--monitor"]).arg(&monitor);
    command.args(["--json", "out.json", "--", "java", "-cp"]).arg(classes()).arg("LockOrder");
    let output = command.current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("LockOrder.transfer: locks are acquired in a circle"), "{text}");
}

#[test]
fn findings_of_monitor_scripts_are_written_in_all_formats() {
    let folder = tempfile::tempdir().unwrap();
    let monitor = root().join("docs/monitors/racer.rhai");
    let formats = ["--json", "o.json", "--html", "o.html", "--sarif", "o.sarif", "--junit", "o.xml"];
    let arguments = [&["watch", "--monitor", monitor.to_str().unwrap()], &formats[..]].concat();
    let output = fissure(folder.path(), &arguments, "PaperTask");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("warning[custom]: int PaperTask.shared: accessed by two threads"), "{text}");
    for file in ["o.json", "o.html", "o.sarif", "o.xml"] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(
            text.contains("PaperTask.shared") && text.contains("without a common lock"),
            "{file}: {text}"
        );
    }
    let report: Value = serde_json::from_slice(&fs::read(folder.path().join("o.json")).unwrap()).unwrap();
    let finding = &report["findings"][0];
    assert_eq!((&finding["kind"], &finding["analysis"]), (&"custom".into(), &"racer.rhai".into()));
    assert_eq!(finding["sites"].as_array().unwrap().len(), 2);
    assert!(finding["sites"][0]["stack"].as_array().unwrap().len() >= 2, "{finding}");
}

#[test]
fn monitor_scripts_that_fail_are_stopped_and_the_program_continues() {
    check_stopped("throw \"enough\";", "line 3, column 1: it threw 'enough'");
    check_stopped("loop {}", "it did not come to an end");
    check_stopped("loop { all.push(\"x\".to_upper()); }", "it did not come to an end");
    check_stopped(
        "e.thread_state.text = \"x\"; loop { e.thread_state.text += e.thread_state.text; }",
        "it used too much memory",
    );
    check_stopped("fn_that_is_not_there(e);", "line 3, column 1: Function not found");
}

#[test]
fn scripts_that_cannot_be_loaded_are_rejected_before_the_program_starts() {
    check_refused("before(\"lock()\", |e| {\n  let = 1;\n});", "line 2, column 7: ");
    check_refused(
        "before(\"get(int A.*\", |e| 0);",
        "line 1, column 1: no pointcut: a ')' is missing (column 12)\n",
    );
    check_refused("print(1);", "it has no advice");
    let output = fissure(Path::new("."), &["watch", "--monitor", "no-such.rhai"], "Points");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("no-such.rhai: the script cannot be read"), "{text}");
}

#[test]
fn a_monitor_script_that_matches_no_join_point_is_an_error() {
    let (_, output) = printed("before(\"get(* NoSuchClass.*)\", |e| 0)", "Points");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("the program reached no join point"), "{text}");
}

#[test]
fn only_join_points_of_advice_are_instrumented() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("it.rhai"), "before(\"set(int Account.balance)\", |e| 0)").unwrap();
    fissure(folder.path(), &["watch", "--monitor", "it.rhai", "--json", "out.json"], "Points");
    let report: Value = serde_json::from_slice(&fs::read(folder.path().join("out.json")).unwrap()).unwrap();
    assert_eq!(report["coverage"]["access_sites"], 1);
    // Beside the class with the one access, only JDK classes are instrumented, for their threads and locks.
    assert_eq!(report["coverage"]["accesses_analysed"], 2);
}

#[test]
fn fields_of_one_thread_are_not_maybe_shared() {
    let folder = tempfile::tempdir().unwrap();
    let script = "before(\"set(int Account.balance) && maybeShared()\", |e| 0)";
    fs::write(folder.path().join("it.rhai"), script).unwrap();
    let watch = |options: &[&str]| {
        let arguments: Vec<&str> = ["watch", "--monitor", "it.rhai"].iter().chain(options).copied().collect();
        fissure(folder.path(), &arguments, "Points")
    };
    assert_eq!(watch(&[]).status.code(), Some(0));
    let output = watch(&["--static"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("the program reached no join point"), "{text}");
}

#[test]
fn scopes_are_pointcuts() {
    check_scope("PaperTask", "PaperTask", &["PaperTask.shared"]);
    check_scope("set(static * *)", "PaperTask", &["PaperTask.shared"]);
    check_scope("(get(*) || set(*)) && !static", "PaperTask", &[]);
    check_scope("within(PaperTask) && set(*.shared)", "PaperTask", &["PaperTask.shared"]);
    check_scope("get(* *.shared)", "PaperTask", &[]);
    check_scope("target(InheritedField$Child)", "InheritedFieldFixed", &[]);
    check_scope("set(int Nothing.*),set(static int Paper*.*)", "PaperTask", &["PaperTask.shared"]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("fissure.toml"), "scope = ['get(static * *)']").unwrap();
    let output = fissure(folder.path(), &["detect", "--analysis", "racer"], "PaperTask");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let output = fissure(folder.path(), &["detect", "--scope", "get(static * *"], "PaperTask");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("a ')' is missing (column 15)") && text.contains("\n                ^"), "{text}");
}

#[test]
fn the_tutorial_shows_the_scripts_as_they_are() {
    let text = fs::read_to_string(root().join("docs/monitors.md")).unwrap();
    let blocks: Vec<&str> =
        text.split("```rhai\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    for name in ["lock-logger", "lock-order", "racer"] {
        let script = fs::read_to_string(root().join(format!("docs/monitors/{name}.rhai"))).unwrap();
        assert!(blocks.contains(&script.as_str()), "the tutorial does not show {name}.rhai as it is");
    }
    // The scripts on the way there work, too.
    for block in blocks {
        let (_, output) = printed(block, "TwoLocks");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() != Some(2), "{block}\n{text}");
    }
}
