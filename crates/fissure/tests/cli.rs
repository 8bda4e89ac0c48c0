//! The command line from outside, without a JVM: a shell script replaces the JVM and writes the agent's records.

mod common;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// The first record of every fake JVM.
const HELLO: &str =
    r#"{"record":"hello","pid":4294967295,"vm_name":"Fake VM","vm_version":"17","command":"Main"}"#;

/// The coverage of a run that saw enough.
const SEEN: &str = r#"{"record":"coverage","jvms":1,"classes_loaded":9,"classes_rewritten":8,"classes_in_scope":1,
"classes_hidden":0,"methods_rewritten":7,"methods_left_alone":0,"left_alone":[],"threads":3,"threads_accessing":2,
"access_sites":5,"lock_operations":0,"locations":4,"accesses_analysed":6,"limits":{}}"#;

const END: &str = r#"{"record":"end"}"#;

fn race(id: &str, ordered: bool) -> String {
    let site = |role: &str, thread: &str, line: u32| {
        format!(
            r#"{{"role":"{role}","thread":"{thread}","class":"Main","method":"run","file":"Main.java","line":{line},"stack":[]}}"#
        )
    };
    format!(
        r#"{{"record":"finding","id":"{id}","kind":"data-race","status":"warning","analysis":"racer","subject":"Main.{id}","field_type":"int","hits":1,"runs":1,"ordered":{ordered},"sites":[{},{}]}}"#,
        site("write", "T1", 2),
        site("read", "T2", 3)
    )
}

/// A folder for one test, with a file that takes the place of the agent.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("agent.so"), "").unwrap();
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Fissure with the fake agent, in this folder.
    fn fissure(&self, arguments: &[&str]) -> Command {
        let mut command = common::fissure_alone();
        command.args(arguments).current_dir(self.folder.path()).env("FISSURE_AGENT", self.path("agent.so"));
        command.stdin(Stdio::null());
        command
    }

    /// A script that behaves like a JVM whose agent writes these records, then runs `rest`.
    fn fake_jvm(&self, name: &str, records: &[&str], rest: &str) {
        let records: String = records.iter().map(|record| record.replace('\n', "") + "\n").collect();
        let script = format!(
            "#!/bin/sh\nfor word in $JAVA_TOOL_OPTIONS \"$@\"; do\n  case $word in -agentpath:*) settings=${{word#*=}};; esac\n\
             done\nfolder=$(dirname \"$settings\")\ngrep -q '\"analysis\"' \"$settings\" || exit 99\n\
             cat > \"$folder/jvm-$$.jsonl\" <<'RECORDS'\n{records}RECORDS\n{rest}\n"
        );
        // Another process writes the script: the children that other tests start meanwhile could not execute a file that this process
        // has open for writing.
        let mut shell = Command::new("sh")
            .args(["-c", "cat > \"$0\" && chmod +x \"$0\""])
            .arg(self.path(name))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(shell.wait().unwrap().success());
    }

    /// Runs `fissure detect OPTIONS -- ./jvm` on a fake JVM with these records.
    fn detect(&self, options: &[&str], records: &[&str], rest: &str) -> Output {
        self.fake_jvm("jvm", records, rest);
        let arguments = [&["detect"], options, &["--", "./jvm"]].concat();
        self.fissure(&arguments).output().unwrap()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Checks the exit code, texts on standard error, and that standard output is only the program's.
fn check(output: &Output, code: i32, texts: &[&str], stdout: &str) {
    let error = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{error}");
    for text in texts {
        // The report is wrapped, but only its words matter here.
        let flat = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(text), "no '{text}' in: {error}");
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout);
}

fn check_misuse(arguments: &[&str], text: &str) {
    let output = Place::new().fissure(arguments).output().unwrap();
    check(&output, 2, &[text], "");
    assert!(stderr(&output).starts_with("fissure: "), "{}", stderr(&output));
}

fn read_json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn misuse_is_rejected_with_a_sentence() {
    check_misuse(&["detect", "--bogus", "--", "true"], "unexpected argument '--bogus' found");
    check_misuse(&["detect", "java", "Main"], "the command to run comes after `--`");
    check_misuse(&["detect"], "no command was given");
    check_misuse(&["detect", "--"], "no command was given");
    check_misuse(&["detect", "--", ""], "no command was given");
    for command in ["detect", "hunt"] {
        let sentence = "--static cannot know the class path of 'true'";
        check_misuse(&[command, "--static", "--", "true"], sentence);
    }
    check_misuse(&["detect", "--scope", "a...b", "--", "true"], "three dots in a row");
    check_misuse(&["detect", "--scope", "", "--", "true"], "it is empty");
    check_misuse(
        &["detect", "--analysis", "racer,eraser", "--", "true"],
        "racer and eraser cannot share a run",
    );
    check_misuse(
        &["detect", "--analysis", "magic", "--", "true"],
        "[possible values: racer, eraser, atomizer]",
    );
    check_misuse(
        &["detect", "--sources", "nowhere", "--", "true"],
        "--sources nowhere: there is no such folder",
    );
    check_misuse(
        &["detect", "--json", "no/where.json", "--", "true"],
        "--json no/where.json: the file cannot be",
    );
    check_misuse(&["detect", "--json", ".", "--", "true"], "--json .: the file cannot be written");
    check_misuse(&["nonsense"], "unrecognized subcommand 'nonsense'");
}

#[test]
fn help_shows_what_works() {
    let output = Place::new().fissure(&["--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    for command in ["detect", "hunt", "replay", "report", "doctor"] {
        assert!(help.contains(&format!("  {command} ")), "{help}");
    }
    let output = Place::new().fissure(&["detect", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(help.contains("--fail-on") && help.contains("--html") && !help.contains("--watch"), "{help}");
    let output = Place::new().fissure(&[]).output().unwrap();
    check(&output, 2, &["Usage: fissure"], "");
}

#[test]
fn a_command_that_cannot_be_started_is_named() {
    let place = Place::new();
    fs::write(place.path("plain"), "").unwrap();
    let check_start = |program: &str, text: &str| {
        let output = place.fissure(&["detect", "--json", "out.json", "--", program]).output().unwrap();
        check(&output, 2, &[&format!("fissure: cannot start '{program}': {text}")], "");
        let json = read_json(&place.path("out.json"));
        assert_eq!((&json["runs"], &json["exits"]), (&0.into(), &serde_json::json!({})));
        assert!(json["problem"].as_str().unwrap().contains("cannot start"), "{json}");
    };
    check_start("no-such-program", "it was not found");
    check_start("./missing", "there is no such file");
    check_start("./plain", "it is not executable");
}

#[test]
fn json_may_go_to_an_open_file() {
    let place = Place::new();
    let (file, path) = (fs::File::create(place.path("log")).unwrap(), place.path("log"));
    let mut command = place.fissure(&["detect", "--json", "/dev/stdout", "--", "echo", "program"]);
    assert_eq!(command.stdout(file).status().unwrap().code(), Some(2));
    let text = fs::read_to_string(path).unwrap();
    assert!(text.starts_with("program\n{\n  \"schema\": 1,"), "{text}");
}

#[test]
fn a_missing_agent_is_an_error() {
    let place = Place::new();
    let mut command = place.fissure(&["detect", "--", "true"]);
    let output = command.env("FISSURE_AGENT", "missing.so").output().unwrap();
    check(&output, 2, &["FISSURE_AGENT names missing.so, which cannot be read"], "");
}

#[test]
fn a_command_without_a_jvm_is_an_error() {
    let place = Place::new();
    let output = place.fissure(&["detect", "--json", "out.json", "--", "true"]).output().unwrap();
    let text = "'true' started no JVM that Fissure could reach";
    check(&output, 2, &[text, "the program ended with exit code 0"], "");
    let json = read_json(&place.path("out.json"));
    assert_eq!((&json["schema"], &json["runs"], &json["exits"]["0"]), (&1.into(), &1.into(), &1.into()));
    assert!(json["problem"].as_str().unwrap().contains(text));
    let output = place.fissure(&["detect", "--fail-on", "never", "--", "false"]).output().unwrap();
    check(&output, 2, &["'false' started no JVM", "the program ended with exit code 1"], "");
}

#[test]
fn a_race_is_reported_with_its_source() {
    let place = Place::new();
    fs::write(place.path("Main.java"), "class Main {\n  int x = 1;\n  int y = x;\n}\n").unwrap();
    let records = [HELLO, SEEN, &race("late", true), &race("x", false), END];
    let output = place.detect(&["--json", "out.json"], &records, "echo program; exit 3");
    let texts = [
        "warning[data-race]: int Main.x is accessed by two threads without a common lock",
        "2 | int x = 1;",
        "3 | int y = x;",
        "ordered by synchronization in this run",
        "note: the program ended with exit code 3",
        "fissure: found 1 data race; 1 more was ordered in this run; watched 1",
        "JVM, 1 class in scope, 3 threads, 0 lock operations, 4 locations",
    ];
    check(&output, 1, &texts, "program\n");
    let json = read_json(&place.path("out.json"));
    let ids: Vec<_> = json["findings"].as_array().unwrap().iter().map(|finding| &finding["id"]).collect();
    assert_eq!(ids, ["x", "late"]);
    assert_eq!(json["exits"], serde_json::json!({"3": 1}));
    assert_eq!(json["tool"]["name"], "fissure");
    assert_eq!(json["problem"], serde_json::Value::Null);
    let mut names: Vec<_> =
        fs::read_dir(place.folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["Main.java", "agent.so", "jvm", "out.json"]);
}

#[test]
fn the_exit_code_follows_what_counts() {
    let place = Place::new();
    let check_code = |options: &[&str], records: &[&str], code: i32| {
        let records = [&[HELLO, SEEN], records, &[END]].concat();
        check(&place.detect(options, &records, ""), code, &[], "");
    };
    let (plain, ordered) = (&race("x", false), &race("x", true));
    check_code(&[], &[], 0);
    check_code(&[], &[plain], 1);
    check_code(&[], &[ordered], 0);
    check_code(&["--fail-on", "ordered"], &[ordered], 1);
    check_code(&["--fail-on", "never"], &[plain], 0);
}

#[test]
fn runs_that_saw_nothing_are_errors() {
    let place = Place::new();
    let check_blind = |options: &[&str], records: &[&str], text: &str| {
        check(&place.detect(options, records, ""), 2, &[text], "");
    };
    let refused = |why: &str| HELLO.replace("\"command\"", &format!("\"refused\":{why},\"command\""));
    check_blind(&[], &[&refused(r#"{"why":"build-tool"}"#)], "only build tools' own JVMs were started");
    let old = refused(r#"{"why":"unsupported","text":"it is too old; use Java 11 or later"}"#);
    check_blind(&[], &[&old], "the JVM cannot be watched: it is too old; use Java 11 or later");
    let empty = SEEN.replace("\"classes_in_scope\":1", "\"classes_in_scope\":0");
    check_blind(&[], &[HELLO, &empty, END], "no class of the application was loaded");
    check_blind(
        &["--scope", "com.acme..*"],
        &[HELLO, &empty, END],
        "no class matched the scope (com.acme..*)",
    );
    let single_threaded = SEEN.replace("\"threads\":3", "\"threads\":1");
    check_blind(
        &[],
        &[HELLO, &single_threaded, END],
        "nothing could be found: only one thread of the program ran",
    );
}

#[test]
fn a_killed_program_still_gets_its_report() {
    let place = Place::new();
    let torn = "{\"record\":\"fin";
    let output = place.detect(&["--json", "out.json"], &[HELLO, SEEN, &race("x", false)], "kill -KILL $$");
    let texts = ["was killed by signal 9 (SIGKILL)", "did not end normally", "found 1 data race"];
    check(&output, 1, &texts, "");
    assert_eq!(read_json(&place.path("out.json"))["exits"], serde_json::json!({"137": 1}));
    let append = format!("printf '{torn}' >> \"$folder/jvm-$$.jsonl\"");
    let output = place.detect(&[], &[HELLO, SEEN, &race("x", false)], &append);
    check(&output, 1, &["found 1 data race"], "");
    assert!(!stderr(&output).contains("could not be read"));
}

#[test]
fn java_itself_gets_options_as_arguments() {
    let place = Place::new();
    let report = "echo \"$1\"; echo \"${2%%=*}\"; shift 2; echo \"$@\"; echo \"[$JAVA_TOOL_OPTIONS]\"";
    place.fake_jvm("java", &[HELLO, SEEN, END], report);
    let output = place.fissure(&["detect", "--", "./java", "-cp", "a b", "Main"]).output().unwrap();
    let agent = place.path("agent.so").canonicalize().unwrap();
    let stdout = format!("-XX:-DontCompileHugeMethods\n-agentpath:{}\n-cp a b Main\n[]\n", agent.display());
    check(&output, 0, &["found nothing"], &stdout);
}

#[test]
fn options_in_the_environment_are_kept() {
    let place = Place::new();
    place.fake_jvm("jvm", &[HELLO, SEEN, END], "echo \"${JAVA_TOOL_OPTIONS##* }\"");
    let output =
        place.fissure(&["detect", "--", "./jvm"]).env("JAVA_TOOL_OPTIONS", "-Dmine=1").output().unwrap();
    check(&output, 0, &[], "-Dmine=1\n");
}

#[test]
fn colour_comes_only_when_wanted() {
    let place = Place::new();
    let records = [HELLO, SEEN, &race("x", false), END];
    let colourful = |options: &[&str]| stderr(&place.detect(options, &records, "")).contains('\u{1b}');
    assert!(!colourful(&[]));
    assert!(!colourful(&["--color", "never"]));
    assert!(colourful(&["--color", "always"]));
}

#[test]
fn signals_reach_the_program_and_the_report_follows() {
    let place = Place::new();
    for (signal, code) in [("TERM", 7), ("INT", 8), ("HUP", 9)] {
        let rest = "trap 'exit 7' TERM; trap 'exit 8' INT; trap 'exit 9' HUP; echo ready; while :; do sleep 0.05; done";
        place.fake_jvm("jvm", &[HELLO, SEEN, END], rest);
        let mut fissure = place
            .fissure(&["detect", "--", "./jvm"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(fissure.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        // The shell's builtin: a small system has no program of that name.
        let kill = format!("kill -s {signal} {}", fissure.id());
        let sent = Command::new("sh").args(["-c", &kill]).status().unwrap();
        assert!(sent.success());
        let output = fissure.wait_with_output().unwrap();
        let texts =
            [&format!("the program ended with exit code {code}"), "interrupted before anything was found"];
        check(&output, 2, &texts, "");
    }
}

#[test]
fn a_program_that_will_not_end_is_killed() {
    let place = Place::new();
    let stubborn = "trap '' TERM INT; echo ready; while :; do sleep 0.05; done";
    place.fake_jvm("jvm", &[HELLO, SEEN, &race("x", false)], stubborn);
    let mut fissure = place
        .fissure(&["detect", "--", "./jvm"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(fissure.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let kill = format!("for i in 1 2 3; do kill -s INT {}; sleep 0.3; done", fissure.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = fissure.wait_with_output().unwrap();
    let texts = ["the next Ctrl-C kills it", "was killed by signal 9 (SIGKILL)", "found 1 data race"];
    check(&output, 1, &texts, "");
}

/// SIGKILL follows five seconds after SIGTERM.
#[test]
fn a_program_that_ignores_its_time_limit_is_killed() {
    let place = Place::new();
    let stubborn = "trap '' TERM; while :; do sleep 0.05; done";
    let begun = std::time::Instant::now();
    let output = place.detect(&["--time-limit", "0.3"], &[HELLO, SEEN, &race("x", false)], stubborn);
    let seconds = begun.elapsed().as_secs();
    check(
        &output,
        1,
        &["was killed by signal 9 (SIGKILL)", "did not end within 300 ms", "found 1 data race"],
        "",
    );
    assert!((5..60).contains(&seconds), "{seconds} s");
}

#[test]
fn all_processes_of_a_program_end_at_the_time_limit() {
    let place = Place::new();
    // The first process leaves the second one behind, which takes some time to end.
    let rest = "(trap 'sleep 0.3; echo inner; exit' TERM; while :; do sleep 0.05; done) & wait";
    let output = place.detect(&["--time-limit", "0.5"], &[HELLO, SEEN], rest);
    check(&output, 2, &["the program did not end within 500 ms, and nothing was found"], "inner\n");
}

#[test]
fn a_program_that_failed_is_not_clean() {
    let place = Place::new();
    let output = place.detect(&["--scope", "com.acme..*"], &[HELLO, SEEN, END], "exit 3");
    let texts = [
        "the program failed (it ended with exit code 3), and nothing was found that explains it",
        "fissure hunt --scope 'com.acme..*' -- ./jvm",
    ];
    check(&output, 2, &texts, "");
    let ordered = race("x", true);
    let output = place.detect(&[], &[HELLO, SEEN, &ordered, END], "exit 3");
    check(&output, 2, &["nothing that counts was found that explains it", "found 1 data race, ordered"], "");
}

#[test]
fn runs_that_gnu_parallel_spreads_are_merged() {
    if Command::new("parallel").arg("--version").output().is_err() {
        eprintln!("SKIPPED: GNU parallel is not there; install it to run this test");
        return;
    }
    let place = Place::new();
    place.fake_jvm("jvm", &[HELLO, SEEN, &race("x", false), END], "");
    let fissure = env!("CARGO_BIN_EXE_fissure");
    let job = format!("{fissure} detect --json part-{{}}.json --fail-on never -- ./jvm");
    let mut parallel = Command::new("parallel");
    parallel.args(["--will-cite", &job, ":::", "1", "2", "3"]).current_dir(place.folder.path());
    parallel.env("FISSURE_AGENT", place.path("agent.so")).env_remove("JAVA_TOOL_OPTIONS");
    // GNU parallel keeps its state in the user's home.
    parallel.env("HOME", place.folder.path()).stdin(Stdio::null());
    let output = parallel.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let files = ["part-1.json", "part-2.json", "part-3.json"];
    let arguments = [&["report", "--json", "all.json"], &files[..]].concat();
    assert_eq!(place.fissure(&arguments).output().unwrap().status.code(), Some(1));
    let all = read_json(&place.path("all.json"));
    assert_eq!(
        (&all["runs"], &all["exits"]["0"], &all["coverage"]["jvms"]),
        (&3.into(), &3.into(), &3.into())
    );
    let findings = all["findings"].as_array().unwrap();
    assert_eq!((findings.len(), &findings[0]["runs"], &findings[0]["hits"]), (1, &3.into(), &3.into()));
}

#[test]
fn doctor_says_what_is_missing() {
    let place = Place::new();
    let mut command = place.fissure(&["doctor"]);
    let output = command.env_remove("JAVA_HOME").env("PATH", place.folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("ok    platform: Linux with glibc"), "{text}");
    assert!(text.contains("ok    agent: "), "{text}");
    assert!(text.contains("FAIL  java: there is no java in JAVA_HOME or on PATH"), "{text}");
}
