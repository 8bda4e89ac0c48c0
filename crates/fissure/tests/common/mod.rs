//! Shared by the tests of the executable: the paths of tools, and commands that do not depend on the environment.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod hunting;
pub(crate) mod slurm;

use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
};

use serde_json::Value;

/// Environment variables that affect JVMs, Fissure or its reports.
const ENVIRONMENT: [&str; 23] = [
    "BUILDKITE_PARALLEL_JOB",
    "BUILDKITE_PARALLEL_JOB_COUNT",
    "CIRCLE_NODE_INDEX",
    "CIRCLE_NODE_TOTAL",
    "CI_NODE_INDEX",
    "CI_NODE_TOTAL",
    "CLASSPATH",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FISSURE_AGENT",
    "FISSURE_SHARDS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "JOB_COMPLETION_INDEX",
    "NO_COLOR",
    "PARALLEL_SEQ",
    "SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_MAX",
    "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_STEP",
    "SLURM_CONF",
    "_JAVA_OPTIONS",
];

/// A command that does the same wherever the tests run: in a shell, or in the job of a CI system that numbers its jobs.
pub(crate) fn isolated(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in ENVIRONMENT {
        command.env_remove(variable);
    }
    command
}

/// Fissure, independent of the environment.
pub(crate) fn fissure() -> Command {
    isolated(env!("CARGO_BIN_EXE_fissure"))
}

/// Parses a report and checks it against the published schema.
pub(crate) fn read_report(text: &str) -> Value {
    let report: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let wrong = schema_problems(&report);
    assert!(wrong.is_empty(), "{wrong:#?}");
    report
}

/// The violations of the published schema in a report.
pub(crate) fn schema_problems(report: &Value) -> Vec<String> {
    static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let schema = include_str!("../../../report/schema/report.schema.json");
        jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
    });
    let errors = VALIDATOR.iter_errors(report);
    errors.map(|error| format!("against the schema, {}: {error}", error.instance_path())).collect()
}

/// Prints that a test is skipped. Unlike the output of the macros, this is shown for tests that pass, too.
pub(crate) fn skip(reason: &str) {
    let _ = io::stderr().write_all(format!("SKIPPED: {reason}\n").as_bytes());
}

/// The whole output of a command.
pub(crate) fn output_text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The JVMs to test on: the user's own, and those that `FISSURE_TEST_JAVAS` names.
pub(crate) fn javas() -> Vec<PathBuf> {
    let mut javas = vec![jdk_tool("java")];
    if let Some(more) = env::var_os("FISSURE_TEST_JAVAS") {
        javas.extend(env::split_paths(&more).filter(|path| !path.as_os_str().is_empty()));
    }
    for java in &javas {
        assert!(java.is_file(), "{} of FISSURE_TEST_JAVAS is no file", java.display());
    }
    javas
}

/// The release of a JVM, such as 17.
pub(crate) fn java_version(java: &Path) -> u32 {
    let output = isolated(java).arg("-version").output().expect("a JVM can be started");
    let text = output_text(&output);
    let version = text.split('"').nth(1).unwrap_or_default();
    let digits = version.split(['.', '-', '+']).next().unwrap_or_default();
    digits.parse().unwrap_or_else(|_| panic!("{} does not tell its version: {text}", java.display()))
}

/// A tool of the JDK, by `JAVA_HOME` or by the search path.
pub(crate) fn jdk_tool(name: &str) -> PathBuf {
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    home.into_iter()
        .chain(env::split_paths(&path))
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| panic!("these tests need a JDK and there is no `{name}`: run `cargo xtask setup`"))
}

/// A folder with one compiled class and those nested in it, and its source.
pub(crate) fn compiled(class: &str, source: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join(format!("{class}.java"));
    std::fs::write(&file, source).expect("a file can be written");
    let output = Command::new(jdk_tool("javac")).arg("-nowarn").arg(&file).output();
    let output = output.expect("javac can be started");
    assert!(output.status.success(), "javac refused:\n{}", String::from_utf8_lossy(&output.stderr));
    folder
}

/// The jars that the file `pom.xml` of a folder names, fetched by Maven; nothing, with a message, if that is not possible.
pub(crate) fn fetched(project: &Path, what: &str) -> Option<Vec<PathBuf>> {
    let name = project.file_name().expect("a folder has a name");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let library = folder.join("jars");
    if env::var_os("FISSURE_TEST_OFFLINE").is_some() {
        skip(&format!("{what}, because FISSURE_TEST_OFFLINE is set"));
        return None;
    }
    let wanted = std::fs::read(project.join("pom.xml")).expect("the list of jars is there");
    let done = folder.join("fetched.xml");
    if std::fs::read(&done).ok().as_ref() != Some(&wanted) {
        let path = env::var_os("PATH").unwrap_or_default();
        if !env::split_paths(&path).any(|folder| folder.join("mvn").is_file()) {
            skip(&format!("{what}, because there is no Maven (`mvn`) to fetch them"));
            return None;
        }
        let mut maven = Command::new("mvn");
        maven.args(["--quiet", "--batch-mode", "dependency:copy-dependencies", "--file"]);
        maven.arg(project.join("pom.xml")).arg(format!("-DoutputDirectory={}", library.display()));
        let output = maven.output().expect("Maven can be started");
        assert!(
            output.status.success(),
            "Maven could not fetch {what}; set FISSURE_TEST_OFFLINE=1 to do without:\n{}",
            output_text(&output)
        );
        std::fs::write(&done, &wanted).expect("a file can be written beside the jars");
    }
    let entries = std::fs::read_dir(&library).expect("Maven has made the folder of the jars");
    let mut jars: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    jars.sort();
    Some(jars)
}

/// The agent of the same build, next to the executable under test.
pub(crate) fn agent() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_fissure")).parent().expect("an executable lies in a folder");
    let agent = folder.join("libfissure_jvm.so");
    assert!(
        agent.is_file(),
        "{} is missing: run `cargo build -p fissure-jvm`, or all tests by `cargo xtask test`",
        agent.display()
    );
    agent
}
