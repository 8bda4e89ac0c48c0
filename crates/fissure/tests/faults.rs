//! Faults of Fissure's own code, injected by the agent of debug builds: the program keeps its output and exit code, the failure
//! is reported first, and the result is never clean.

mod common;

use std::process::Output;

use common::{compiled, fissure, output_text};

/// Both threads must end whether or not Fissure controls them, so that the program fails only if Fissure disturbs it.
const PROGRAM: &str = "public class Tally {
    private static int count;

    private static synchronized void add() {
        count++;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 10; k++) {
                    add();
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        synchronized (Tally.class) {
            System.out.println(count);
        }
        System.exit(3);
    }
}
";

/// It waits, notifies, sleeps and exits, and gets exceptions of its own from these operations.
const WAITING: &str = "public class Waiting {
    private static final Object LOCK = new Object();
    private static int count;

    public static void main(String[] arguments) throws InterruptedException {
        Thread other = new Thread(() -> {
            try {
                Thread.sleep(20);
                Thread.currentThread().interrupt();
                Thread.sleep(60_000);
            } catch (InterruptedException expected) {
                count += 10;
            }
            synchronized (LOCK) {
                count += 10;
                LOCK.notifyAll();
            }
        });
        other.start();
        synchronized (LOCK) {
            while (count < 20) {
                LOCK.wait();
            }
        }
        other.join();
        try {
            LOCK.notify();
        } catch (IllegalMonitorStateException expected) {
            count += 5;
        }
        try {
            LOCK.wait();
        } catch (IllegalMonitorStateException expected) {
            count += 5;
        }
        System.out.println(count);
        System.exit(3);
    }
}
";

fn run(fault: &str, command: &[&str], (name, program): (&str, &str)) -> Output {
    let folder = compiled(name, program);
    let mut process = fissure();
    process.args(command).args(["--", "java", "-cp"]).arg(folder.path()).arg(name);
    process.env("FISSURE_TEST_FAULT", fault).output().unwrap()
}

fn check(fault: &str, command: &[&str], said: &str) {
    check_program(fault, command, said, ("Tally", PROGRAM));
}

fn check_program(fault: &str, command: &[&str], said: &str, program: (&str, &str)) {
    let output = run(fault, command, program);
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(2), "{fault} {command:?}: {text}");
    let first = text.lines().find(|line| !line.is_empty() && *line != "30").unwrap_or_default();
    assert!(first.starts_with("error: Fissure itself failed: "), "{fault} {command:?}: {text}");
    assert!(text.contains(said) && text.contains("planted by a test"), "{fault} {command:?}: {text}");
    assert_eq!(text.lines().filter(|line| *line == "30").count(), 1, "{fault} {command:?}: {text}");
}

#[test]
fn an_exception_in_a_hook_does_not_reach_the_program() {
    check("exception", &["detect"], "IllegalStateException");
    check("exception", &["hunt", "--runs", "2", "--reference-runs", "1"], "IllegalStateException");
}

#[test]
fn a_panic_of_the_agent_does_not_reach_the_program() {
    check("panic", &["detect"], "panicked at");
    check("panic", &["hunt", "--runs", "2", "--reference-runs", "1"], "panicked at");
}

#[test]
fn settings_that_cannot_be_read_are_reported() {
    let folder = compiled("Tally", PROGRAM);
    let script = "echo '{}' > \"${JAVA_TOOL_OPTIONS##*=}\"; exec java -cp \"$1\" Tally";
    for command in [&["detect"][..], &["hunt", "--runs", "2", "--reference-runs", "1"]] {
        let mut process = fissure();
        process.args(command).args(["--", "sh", "-c", script, "sh"]).arg(folder.path());
        let output = process.output().unwrap();
        let text = output_text(&output);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {text}");
        assert!(
            text.contains("error: Fissure itself failed: the settings of the run ("),
            "{command:?}: {text}"
        );
        // The report wraps the sentence, whose length depends on the folder.
        let sentence = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(sentence.contains("cannot be read: missing field"), "{command:?}: {text}");
    }
}

/// Another build writes other settings: the script changes the name of their form.
#[test]
fn an_agent_of_another_build_is_reported() {
    let folder = compiled("Tally", PROGRAM);
    let script = "sed -i 's/\"format\": \"/&0/' \"${JAVA_TOOL_OPTIONS##*=}\"; exec java -cp \"$1\" Tally";
    for command in [&["detect"][..], &["hunt", "--runs", "2", "--reference-runs", "1"]] {
        let mut process = fissure();
        process.args(command).args(["--", "sh", "-c", script, "sh"]).arg(folder.path());
        let output = process.output().unwrap();
        let text = output_text(&output);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {text}");
        let sentence = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected =
            "the agent and the command come from different builds of Fissure; build or install both together";
        assert!(sentence.contains(expected), "{command:?}: {text}");
    }
}

/// The hooks that stand in for these operations execute the real ones instead.
#[test]
fn a_failure_in_a_wait_a_notification_a_sleep_or_an_exit_does_not_reach_the_program() {
    let hunt = ["hunt", "--runs", "2", "--reference-runs", "1"];
    for point in ["wait", "notify", "sleep", "exit"] {
        let fault = format!("exception-in-{point}");
        check_program(&fault, &hunt, "IllegalStateException", ("Waiting", WAITING));
    }
    for point in ["wait", "waiting", "notify", "sleep", "exit"] {
        check_program(&format!("panic-in-{point}"), &hunt, "panicked at", ("Waiting", WAITING));
    }
}

#[test]
fn without_a_fault_the_same_programs_are_watched() {
    for program in [("Tally", PROGRAM), ("Waiting", WAITING)] {
        let output = run("none", &["hunt", "--runs", "2", "--reference-runs", "1"], program);
        assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
    }
}

#[test]
fn the_log_is_named_and_tells_what_led_to_a_failure() {
    let output = run("panic", &["detect"], ("Tally", PROGRAM));
    let text = output_text(&output);
    assert!(text.contains("run the same command with --log debug"), "{text}");
    let logs = tempfile::tempdir().unwrap();
    let folder = compiled("Tally", PROGRAM);
    let mut process = fissure();
    process.env("TMPDIR", logs.path()).env("FISSURE_TEST_FAULT", "panic");
    process.args(["detect", "--log", "debug", "--", "java", "-cp"]).arg(folder.path()).arg("Tally");
    let output = process.output().unwrap();
    let text = output_text(&output);
    let kept = std::fs::read_dir(logs.path()).unwrap().next().expect("the run's folder is kept").unwrap();
    let name = kept.path().display().to_string();
    assert!(text.replace("\n      ", "").contains(&name), "{name} is not named: {text}");
    let files: Vec<_> = std::fs::read_dir(kept.path()).unwrap().map(|file| file.unwrap().path()).collect();
    let log = |start: &str| {
        let is_log = |name: &str| name.starts_with(start) && name.ends_with(".log");
        let file = files.iter().find(|file| is_log(&file.file_name().unwrap().to_string_lossy()));
        std::fs::read_to_string(file.unwrap_or_else(|| panic!("no log of {start} in {files:?}"))).unwrap()
    };
    assert!(log("fissure").contains("starts a process"));
    let agent = log("jvm-");
    assert!(agent.contains("a class is loaded") && agent.contains("planted by a test"), "{agent}");
}
