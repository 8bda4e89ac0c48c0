//! Distinguishes the application from libraries, on a real JVM: directories, archives, modules and classes without an origin.
//!
//! Every program has the same two races, one in `com.app.Main` and one in `org.lib.Counter`. They differ only in the origins of these
//! classes.

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::LazyLock,
};

use serde_json::Value;

use common::{fissure, isolated, jdk_tool, output_text, read_report};

/// Two threads that increment a field of the application and one of a library.
const MAIN: &str = "package com.app;
public class Main {
    static int own;
    static void work() { own++; org.lib.Counter.next(); }
    public static void main(String[] arguments) throws Exception {
        Thread first = new Thread(Main::work), second = new Thread(Main::work);
        first.start(); second.start(); first.join(); second.join();
    }
}";

const COUNTER: &str = "package org.lib;
public class Counter {
    static int count;
    public static void next() { count++; }
    public static void inTwoThreads() throws Exception {
        Thread first = new Thread(Counter::next), second = new Thread(Counter::next);
        first.start(); second.start(); first.join(); second.join();
    }
}";

/// An application whose threads all run code of a library.
const CALLER: &str = "package com.app;
public class Caller {
    public static void main(String[] arguments) throws Exception { org.lib.Counter.inTwoThreads(); }
}";

/// Threads of a pool that share only thread-safe objects.
const CAREFUL: &str = "package com.app;
import java.util.concurrent.*;
public class Careful {
    private static final ConcurrentHashMap<String, Integer> COUNTS = new ConcurrentHashMap<>();
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CyclicBarrier barrier = new CyclicBarrier(2);
        for (int i = 0; i < 2; i++) pool.submit(() -> { barrier.await(); return COUNTS.merge(\"x\", 1, Integer::sum); });
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }
}";

/// A class loader that gives classes the origin that Spring Boot gives them, or none.
const LAUNCHER: &str = "package org.starter;
import java.io.*;
import java.net.*;
import java.security.*;
public class Launcher extends ClassLoader {
    private final String folder, own, lib;
    Launcher(String folder, String own, String lib) { super(null); this.folder = folder; this.own = own; this.lib = lib; }
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try (InputStream in = new FileInputStream(folder + '/' + name.replace('.', '/') + \".class\")) {
            byte[] bytes = in.readAllBytes();
            String url = name.startsWith(\"org.lib\") ? lib : own;
            URLStreamHandler handler = new URLStreamHandler() {
                protected URLConnection openConnection(URL url) throws IOException { throw new IOException(); }
            };
            ProtectionDomain domain = url.equals(\"none\") ? null
                : new ProtectionDomain(new CodeSource(new URL(null, url, handler), (CodeSigner[]) null), null);
            return defineClass(name, bytes, 0, bytes.length, domain);
        } catch (IOException e) { throw new ClassNotFoundException(name, e); }
    }
    public static void main(String[] a) throws Exception {
        Class<?> main = new Launcher(a[0], a[1], a[2]).loadClass(\"com.app.Main\");
        main.getMethod(\"main\", String[].class).invoke(null, (Object) a);
    }
}";

/// Classes in directories and archives, built once for all tests.
struct Built {
    folder: tempfile::TempDir,
}

static BUILT: LazyLock<Built> = LazyLock::new(Built::make);

impl Built {
    fn make() -> Built {
        let built = Built { folder: tempfile::tempdir().unwrap() };
        let sources = [
            ("src/app/com/app/Main.java", MAIN),
            ("src/app/com/app/Caller.java", CALLER),
            ("src/app/com/app/Careful.java", CAREFUL),
            ("src/lib/org/lib/Counter.java", COUNTER),
            ("src/starter/org/starter/Launcher.java", LAUNCHER),
            (
                "src/runner/org/junit/Runner.java",
                &CALLER.replace("com.app", "org.junit").replace("Caller", "Runner"),
            ),
            (
                "src/listed/org/apache/commons/foo/Main.java",
                &MAIN.replace("com.app", "org.apache.commons.foo"),
            ),
            ("src/module/com.app/module-info.java", "module com.app { requires org.lib; }"),
            ("src/module/com.app/com/app/Main.java", MAIN),
            ("src/module/org.lib/module-info.java", "module org.lib { exports org.lib; }"),
            ("src/module/org.lib/org/lib/Counter.java", COUNTER),
            ("maven/META-INF/maven/com.app/app/pom.properties", ""),
            ("maven/META-INF/maven/org.lib/counter/pom.properties", ""),
            ("project/pom.xml", "<project/>"),
        ];
        for (path, text) in sources {
            let path = built.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(built.path("project/target")).unwrap();
        let source = |name: &str| built.path("src").join(name).to_string_lossy().into_owned();
        let all = [
            source("lib/org/lib/Counter.java"),
            source("app/com/app/Main.java"),
            source("app/com/app/Caller.java"),
            source("app/com/app/Careful.java"),
            source("starter/org/starter/Launcher.java"),
            source("runner/org/junit/Runner.java"),
            source("listed/org/apache/commons/foo/Main.java"),
        ];
        built.run("javac", &[&["-g", "-d", "all"], &all.each_ref().map(String::as_str)[..]].concat());
        built.run(
            "javac",
            &["-g", "-d", "mods", "--module-source-path", "src/module", "-m", "com.app,org.lib"],
        );
        for (from, to) in [
            ("com", "app"),
            ("org/apache", "listed/org"),
            ("org/lib", "lib/org"),
            ("org/starter", "starter/org"),
            ("org/junit", "runner/org"),
        ] {
            fs::create_dir_all(built.path(to)).unwrap();
            let from = built.path("all").join(from);
            assert!(Command::new("cp").arg("-r").arg(from).arg(built.path(to)).status().unwrap().success());
        }
        let jar = |arguments: &[&str]| built.run("jar", arguments);
        jar(&["--create", "--file", "lib.jar", "-C", "lib", "."]);
        jar(&["--create", "--file", "runner.jar", "-C", "runner", "."]);
        jar(&["--create", "--file", "app.jar", "--main-class", "com.app.Main", "-C", "app", "."]);
        jar(&[
            "--create",
            "--file",
            "fat.jar",
            "--main-class",
            "com.app.Main",
            "-C",
            "app",
            ".",
            "-C",
            "lib",
            ".",
        ]);
        jar(&[
            "--create",
            "--file",
            "shaded.jar",
            "--main-class",
            "com.app.Main",
            "-C",
            "app",
            ".",
            "-C",
            "lib",
            ".",
            "-C",
            "maven",
            ".",
        ]);
        jar(&[
            "--create",
            "--file",
            "app-module.jar",
            "--main-class",
            "com.app.Main",
            "-C",
            "mods/com.app",
            ".",
        ]);
        jar(&["--create", "--file", "lib-module.jar", "-C", "mods/org.lib", "."]);
        fs::copy(built.path("lib.jar"), built.path("project/target/lib.jar")).unwrap();
        built
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, tool: &str, arguments: &[&str]) {
        let output =
            isolated(jdk_tool(tool)).args(arguments).current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{tool} {arguments:?}: {}", output_text(&output));
    }
}

/// Runs `fissure detect` in a folder of the built classes; gives its output and its report.
fn detect_in(folder: &Path, options: &[&str], java: &[&str]) -> (Output, Value) {
    common::agent();
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut command = fissure();
    command.arg("detect").args(options).arg("--json").arg(file.path()).arg("--").arg(jdk_tool("java"));
    let output = command.args(java).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let report = read_report(&fs::read_to_string(file.path()).unwrap());
    (output, report)
}

fn flat(output: &Output) -> String {
    output_text(output).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs java, and checks the exit code, the fields with races, and a text of the output.
fn check_in(folder: &Path, options: &[&str], java: &[&str], subjects: &[&str], text: &str) {
    let (output, report) = detect_in(folder, options, java);
    let said = flat(&output);
    let findings = report["findings"].as_array().unwrap();
    let mut found: Vec<&str> = findings.iter().map(|finding| finding["subject"].as_str().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, subjects, "{java:?}: {said}");
    let code = if subjects.is_empty() { 2 } else { 1 };
    assert_eq!(output.status.code(), Some(code), "{java:?}: {said}");
    assert!(said.contains(text), "{java:?}, no '{text}' in: {said}");
}

fn check(java: &[&str], subjects: &[&str], text: &str) {
    check_in(BUILT.folder.path(), &[], java, subjects, text);
}

const OWN: &str = "com.app.Main.own";
const LIBRARY: &str = "org.lib.Counter.count";

#[test]
fn directories_are_the_application_and_archives_are_libraries() {
    check(
        &["-cp", "app:lib.jar", "com.app.Main"],
        &[OWN],
        "note: the application: app (1 class); libraries: 1 jar, 1 class",
    );
    check(
        &["-cp", "app:lib", "com.app.Main"],
        &[OWN, LIBRARY],
        "note: the application: app (1 class), lib (1 class)",
    );
}

#[test]
fn no_name_makes_a_class_a_library() {
    let text = "note: the application: listed (1 class)";
    check(
        &["-cp", "listed:lib.jar", "org.apache.commons.foo.Main"],
        &["org.apache.commons.foo.Main.own"],
        text,
    );
}

#[test]
fn the_archive_that_is_started_is_the_application() {
    let text = "note: the application: app.jar (1 class); libraries: 1 jar, 1 class";
    check(&["-cp", "app.jar:lib.jar", "com.app.Main"], &[OWN], text);
    let text = "note: the application: fat.jar (1 class); libraries: 1 jar, 1 class";
    check(&["-jar", "fat.jar"], &[OWN], text);
    let text = "note: the application: shaded.jar (1 class); libraries: 1 jar, 1 class";
    check(&["-jar", "shaded.jar"], &[OWN], text);
}

#[test]
fn the_main_module_is_the_application() {
    let text = "note: the application: app-module.jar (1 class); libraries: 1 jar, 1 class";
    check(&["-p", "app-module.jar:lib-module.jar", "-m", "com.app"], &[OWN], text);
}

#[test]
fn archives_below_the_projects_root_are_the_application() {
    let folder = BUILT.path("project");
    let java = ["-cp", "../app:target/lib.jar", "com.app.Main"];
    check_in(&folder, &[], &java, &[OWN, LIBRARY], "target/lib.jar (1 class)");
}

#[test]
fn a_scope_overrides_origins() {
    let java = ["-cp", "app:lib.jar", "com.app.Main"];
    let text = "note: in scope: lib.jar (1 class); the rest of the application: 1 class";
    check_in(BUILT.folder.path(), &["--scope", "org.lib..*"], &java, &[LIBRARY], text);
}

#[test]
fn classes_inside_archives_and_without_an_origin_are_distinguished() {
    let launched = |own: &str, lib: &str, text: &str| {
        check(&["-cp", "starter", "org.starter.Launcher", "all", own, lib], &[OWN], text);
    };
    launched(
        "jar:file:/x/boot.jar!/BOOT-INF/classes!/",
        "jar:file:/x/boot.jar!/BOOT-INF/lib/lib.jar!/",
        "/x/boot.jar!/BOOT-INF/classes (1 class); libraries: 1 jar, 1 class",
    );
    launched("none", "file:/x/lib.jar", "classes without a code source (1 class)");
}

#[test]
fn code_in_scope_must_run_in_two_threads() {
    let advice = "name what to watch with --scope, for example --scope 'org.lib..*' for lib.jar";
    check(&["-cp", "app:lib.jar", "com.app.Caller"], &[], &format!("in several threads, or {advice}"));
    let (output, report) = detect_in(BUILT.folder.path(), &[], &["-cp", "app:lib.jar", "com.app.Careful"]);
    assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
    assert_eq!(report["coverage"]["threads_in_scope"], 2, "{report}");
}

#[test]
fn a_run_without_the_application_lists_the_libraries() {
    let text = "all its classes were taken for those of libraries: lib.jar (1 class), runner.jar (1 class); name what to \
                watch with --scope, for example --scope 'org.";
    check(&["-cp", "lib.jar:runner.jar", "org.junit.Runner"], &[], text);
}
