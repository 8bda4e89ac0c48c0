//! `fissure hunt --isolation`: runs as iterations in warm JVMs show what runs in new JVMs show.

mod common;

use std::process::Command;

use serde_json::Value;

use common::{compiled, fissure, hunting::Place, jdk_tool, output_text};

/// The beginning of the note that runs were no iterations.
const FALLBACK: &str = "every run had its own JVM:";

/// The result of a hunt, without what counts the JDK's own steps.
fn result(text: &str) -> Value {
    let mut report: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    report.as_object_mut().unwrap().remove("coverage");
    report
}

fn check_equality(place: &Place, program: &str, options: &[&str], isolation: &str) {
    let hunt = |isolation| place.hunt(&[&["--isolation", isolation], options].concat(), program);
    let (own, repeated) = (hunt("jvm"), hunt(isolation));
    assert_eq!((own.0, result(&own.1)), (repeated.0, result(&repeated.1)), "{program}");
}

/// An exception, a deadlock, exit codes, a pool, daemon threads that never end: whole reports are the same.
#[test]
fn iterations_give_the_same_report_as_processes() {
    let place = Place::new();
    check_equality(&place, "AccountTransfer", &["--runs", "8"], "classes");
    for program in ["LockOrder", "LazyExit", "ExitInThread", "ExecutorTasks", "DaemonInterferes"] {
        check_equality(&place, program, &["--runs", "6", "--no-minimise"], "classes");
    }
    let options = ["--runs", "4", "--strategy", "racefuzzer,random", "--profile", "4"];
    check_equality(&place, "LockOrder", &options, "classes");
    check_equality(&place, "ArrayTotal", &["--runs", "6", "--no-minimise"], "none");
}

#[test]
fn the_number_of_jvms_makes_no_difference() {
    let place = Place::new();
    let options = ["--isolation", "classes", "--runs", "12"];
    let hunt = |jobs| place.hunt(&[&options[..], &["--jobs", jobs]].concat(), "AccountTransfer");
    assert_eq!(hunt("1"), hunt("3"));
}

/// Hunts in a program of one file.
fn hunt(class: &str, source: &str, options: &[&str]) -> (Option<i32>, String) {
    let folder = compiled(class, source);
    let mut command = fissure();
    command.args(["hunt", "--runs", "8", "--reference-runs", "4", "--points", "locks"]);
    if !options.contains(&"--jobs") {
        command.args(["--jobs", "1"]);
    }
    command.args(options).arg("--").arg(jdk_tool("java")).arg("-cp").arg(folder.path()).arg(class);
    let output = command.output().expect("fissure can be started");
    (output.status.code(), output_text(&output).replace("\n      ", " "))
}

/// Every run finds the JVM as a new process has it, whatever the runs before have changed; and it leaves threads of all kinds behind.
const FRESH: &str = r#"
import java.io.*;
import java.util.*;
import java.util.concurrent.*;

public class Fresh {
    static int runs;
    static final ThreadLocal<String> LOCAL = new ThreadLocal<>();

    static void expect(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    public static void main(String[] arguments) throws Exception {
        expect(runs++ == 0, "statics");
        expect(System.getProperty("fresh") == null, "properties");
        expect(Thread.getDefaultUncaughtExceptionHandler() == null, "handler");
        expect(!Locale.getDefault().equals(new Locale("tlh")), "locale");
        expect(!TimeZone.getDefault().getID().equals("Asia/Tokyo"), "time zone");
        expect(System.out.getClass() == PrintStream.class, "output");
        expect(Thread.currentThread().getName().equals("main"), "main thread");
        expect(Thread.currentThread().getContextClassLoader() == Fresh.class.getClassLoader(), "context loader");
        expect(ClassLoader.getSystemClassLoader() == Fresh.class.getClassLoader(), "system loader");
        expect(Fresh.class.getResource("Fresh.class") != null, "resources");
        expect(LOCAL.get() == null, "thread local");
        expect(new Thread(() -> {}).getName().equals("Thread-0"), "thread numbers");
        System.setProperty("fresh", "no");
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {});
        Locale.setDefault(new Locale("tlh"));
        TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo"));
        System.out.println("begins at " + System.currentTimeMillis() + " with " + new Object().hashCode());
        System.setOut(new PrintStream(new ByteArrayOutputStream()) {});
        LOCAL.set("used");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("hook")));
        Timer timer = new Timer(true);
        timer.schedule(new TimerTask() { public void run() { LOCAL.set("timer"); } }, 5, 5);
        ExecutorService pool = Executors.newFixedThreadPool(2, work -> {
            Thread worker = Executors.defaultThreadFactory().newThread(work);
            worker.setDaemon(true);
            return worker;
        });
        String worker = CompletableFuture.supplyAsync(() -> Thread.currentThread().getName()).get();
        System.out.println(worker + " " + new Thread(() -> {}).getId());
        CompletableFuture.delayedExecutor(1, TimeUnit.HOURS).execute(() -> System.err.println("late"));
        expect(java.util.stream.IntStream.range(0, 64).parallel().sum() == 2016, "parallel stream");
        expect(pool.submit(() -> Thread.currentThread().getName()).get().equals("pool-1-thread-1"), "pool numbers");
        Object monitor = new Object();
        Thread waiting = new Thread(() -> {
            while (true) {
                synchronized (monitor) {
                    try {
                        monitor.wait();
                    } catch (InterruptedException ignored) {
                        System.err.println("caught");
                    }
                }
            }
        });
        waiting.setDaemon(true);
        waiting.start();
        Thread.sleep(20);
    }
}
"#;

#[test]
fn every_iteration_finds_a_fresh_jvm() {
    let (code, text) = hunt("Fresh", FRESH, &["--isolation", "classes"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains(FALLBACK), "{text}");
}

/// The thread catches the error at every scheduling point.
#[test]
fn a_thread_that_cannot_be_unwound_costs_its_jvm() {
    let source = "public class Stubborn {
        public static void main(String[] arguments) throws Exception {
            Thread thread = new Thread(() -> {
                while (true) {
                    try {
                        Thread.sleep(1000);
                    } catch (Throwable ignored) {
                    }
                }
            });
            thread.setDaemon(true);
            thread.start();
            Thread.sleep(10);
        }
    }";
    let (code, text) = hunt("Stubborn", source, &["--isolation", "classes"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains(&format!("{FALLBACK} the thread \"Thread-0\" did not end after the run")),
        "{text}"
    );
}

#[test]
fn runs_that_differ_are_not_repeated() {
    // The static field keeps its value.
    let (code, text) = hunt("Fresh", FRESH, &["--isolation", "none"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(FALLBACK), "{text}");
}

#[test]
fn what_cannot_be_repeated_has_a_reason() {
    let check = |class: &str, body: &str, reason: &str| {
        let source = format!("public class {class} {{ {body} }}");
        let (code, text) = hunt(class, &source, &["--isolation", "classes"]);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains(&format!("{FALLBACK} {reason}")), "{text}");
    };
    let threads = "Thread t = new Thread(() -> {}); t.start(); t.join();";
    let close = "System.out.println(1); System.out.close();";
    let body = format!("public static void main(String[] a) throws Exception {{ {threads} {close} }}");
    check("Closed", &body, "the program closed a standard stream");
    let start = "new ProcessBuilder(\"sleep\", \"600\").start();";
    let body = format!("public static void main(String[] a) throws Exception {{ {start} {threads} }}");
    check("Starting", &body, "the thread \"process reaper");
    // A native library can be loaded by one class loader only.
    let library = jdk_tool("java").canonicalize().unwrap().parent().unwrap().join("../lib/libzip.so");
    let load = format!("System.load(\"{}\");", library.canonicalize().unwrap().display());
    let body = format!("public static void main(String[] a) throws Exception {{ {load} {threads} }}");
    check("Loading", &body, "a failure of a run with the seed");
    // State outside of the process.
    let file = "var file = java.nio.file.Path.of(System.getProperty(\"java.class.path\"), \"count\"); \
                boolean is = java.nio.file.Files.exists(file); \
                System.out.println(is ? java.nio.file.Files.size(file) : 0); \
                java.nio.file.Files.writeString(file, \"x\".repeat(is ? (int) java.nio.file.Files.size(file) + 1 : 1));";
    let body = format!("public static void main(String[] a) throws Exception {{ {file} {threads} }}");
    check("Counting", &body, "the output of a run with the seed");
}

/// Changes that a program makes to the JVM or to other processes are over with its run.
#[test]
fn programs_that_change_the_jvm_are_repeated() {
    let check = |class: &str, body: &str| {
        let source = format!("public class {class} {{ {body} }}");
        let (code, text) = hunt(class, &source, &[]);
        assert_eq!(code, Some(0), "{text}");
        assert!(!text.contains(FALLBACK), "{text}");
        assert!(text.contains("the program ended with exit code 0 (8 times)"), "{text}");
    };
    let threads = "Thread t = new Thread(() -> {}); t.start(); t.join();";
    let tasks =
        "java.util.stream.IntStream.range(0, 9).parallel().forEach(i -> { synchronized (Pooled.class) {} });";
    let body = format!("public static void main(String[] a) throws Exception {{ {threads} {tasks} }}");
    check("Pooled", &body);
}

/// The port stays occupied in a warm JVM, and also while another run goes on.
#[test]
fn runs_that_need_a_port_do_not_disturb_each_other() {
    let port = std::net::TcpListener::bind("localhost:0").unwrap().local_addr().unwrap().port();
    let source = format!(
        "import java.net.*;
        public class Serving {{
            static ServerSocket server;
            public static void main(String[] arguments) throws Exception {{
                server = new ServerSocket({port});
                Thread thread = new Thread(() -> {{
                    try (Socket socket = server.accept()) {{
                        socket.getOutputStream().write(7);
                    }} catch (java.io.IOException failure) {{
                        throw new IllegalStateException(failure);
                    }}
                }});
                thread.start();
                try (Socket socket = new Socket(\"localhost\", {port})) {{
                    System.out.println(socket.getInputStream().read());
                }}
                thread.join();
            }}
        }}"
    );
    let (code, text) = hunt("Serving", &source, &["--jobs", "2"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(FALLBACK), "{text}");
    assert!(text.contains("the program ended with exit code 0 (8 times)"), "{text}");
}

/// A failure that depends on a file, and not on the schedule, does not show again. It is no bug, and the hunt is not clean.
#[test]
fn a_failure_that_does_not_show_again_is_only_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let source = format!(
        "import java.nio.file.*;
        public class Moody {{
            public static void main(String[] arguments) throws Exception {{
                Path file = Path.of(\"{}\");
                Files.write(file, new byte[1], StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                long runs = Files.size(file);
                Thread thread = new Thread(() -> {{
                    synchronized (Moody.class) {{
                        if (runs == 7) {{
                            throw new IllegalStateException(\"moody\");
                        }}
                    }}
                }});
                thread.start();
                thread.join();
            }}
        }}",
        folder.path().join("runs").display()
    );
    let (code, text) = hunt("Moody", &source, &["--isolation", "jvm"]);
    assert_eq!(code, Some(2), "{text}");
    let note = "1 finding did not show again when its runs were repeated alone, so it is only a warning";
    assert!(text.contains("warning[failure]") && text.contains(note), "{text}");
}

/// A hunt with a time budget ends when nothing is left to try, and says what it has tried.
#[test]
fn a_budget_is_not_spent_in_vain() {
    let place = Place::new();
    let begun = std::time::Instant::now();
    let options = ["--budget", "30min", "--points", "locks"];
    let (code, text) = place.hunt(&options, "AccountTransferFixed");
    assert_eq!(code, Some(0), "{text}");
    assert!(begun.elapsed().as_secs() < 20 * 60, "the budget was spent");
    let seen = "random schedules would have been seen with 99 %";
    assert!(text.contains(" goals; a bug that shows in one of 50") && text.contains(seen), "{text}");
    // However long they take, there are enough runs to see something.
    let (code, text) = place.hunt(&["--budget", "1ms"], "AccountTransfer");
    assert_eq!(code, Some(1), "{text}");
    assert_eq!(result(&text)["runs"], 16, "{text}");
}

#[test]
fn a_program_that_never_ends_is_not_clean() {
    let source = "public class Endless {
        static int count;
        public static void main(String[] arguments) {
            new Thread(() -> {
                while (true) {
                    synchronized (Endless.class) {
                        count++;
                    }
                    try {
                        Thread.sleep(1000);
                    } catch (InterruptedException ignored) {
                    }
                }
            }).start();
        }
    }";
    let (code, text) = hunt("Endless", source, &["--steps", "2000"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("no run ended by itself"), "{text}");
}

#[test]
fn only_java_itself_is_repeated() {
    let folder = compiled(
        "Main",
        "public class Main { public static void main(String[] a) throws Exception {
        Thread t = new Thread(() -> {}); t.start(); t.join(); } }",
    );
    let script = format!("{} -cp {} Main", jdk_tool("java").display(), folder.path().display());
    let mut command: Command = fissure();
    command.args([
        "hunt",
        "--runs",
        "2",
        "--reference-runs",
        "1",
        "--isolation",
        "classes",
        "--",
        "sh",
        "-c",
        &script,
    ]);
    let output = command.output().unwrap();
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("only the command java itself"), "{text}");
}
