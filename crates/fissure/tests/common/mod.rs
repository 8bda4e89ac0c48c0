//! Shared by the tests of the executable: the paths of tools, and commands that do not depend on the environment.

#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

pub(crate) mod hunting;
pub(crate) mod object;
pub(crate) mod slurm;

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
};

use serde_json::Value;

pub(crate) use fissure_testing::{isolated, javas, jdk_tool};

/// Fissure with its agent, independent of the environment.
pub(crate) fn fissure() -> Command {
    let mut command = fissure_alone();
    let agent = agent();
    // Fissure finds it beside itself.
    if agent.parent() != Path::new(EXECUTABLE).parent() {
        command.env("FISSURE_AGENT", agent);
    }
    command
}

/// Fissure for what needs no agent.
pub(crate) fn fissure_alone() -> Command {
    isolated(EXECUTABLE)
}

/// The agent that was built from the same sources as the executable.
pub(crate) fn agent() -> &'static Path {
    fissure_testing::agent(Path::new(EXECUTABLE))
}

/// The executable under test.
const EXECUTABLE: &str = env!("CARGO_BIN_EXE_fissure");

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

/// The whole output of a command.
pub(crate) fn output_text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
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

/// The jars that the file `pom.xml` of a folder names, fetched by Maven. The error says why they cannot be fetched here.
pub(crate) fn fetched(project: &Path) -> Result<Vec<PathBuf>, String> {
    let name = project.file_name().expect("a folder has a name");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let library = folder.join("jars");
    offline_is_not_set()?;
    let wanted = std::fs::read(project.join("pom.xml")).expect("the list of jars is there");
    let done = folder.join("fetched.xml");
    if std::fs::read(&done).ok().as_ref() != Some(&wanted) {
        fissure_testing::find_on_path("mvn").ok_or("there is no Maven (`mvn`)")?;
        let mut maven = Command::new("mvn");
        maven.args(["--quiet", "--batch-mode", "dependency:copy-dependencies", "--file"]);
        maven.arg(project.join("pom.xml")).arg(format!("-DoutputDirectory={}", library.display()));
        let output = maven.output().expect("Maven can be started");
        let text = output_text(&output);
        if !output.status.success() && is_without_network(&text) {
            return Err("Maven has no network".to_owned());
        }
        assert!(
            output.status.success(),
            "Maven could not fetch the jars; set FISSURE_TEST_OFFLINE=1 to do without:\n{text}"
        );
        std::fs::write(&done, &wanted).expect("a file can be written beside the jars");
    }
    let entries = std::fs::read_dir(&library).expect("Maven has made the folder of the jars");
    let mut jars: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    jars.sort();
    Ok(jars)
}

/// An error if the user wants no test to use the network.
pub(crate) fn offline_is_not_set() -> Result<(), String> {
    match env::var_os("FISSURE_TEST_OFFLINE") {
        Some(_) => Err("FISSURE_TEST_OFFLINE is set".to_owned()),
        None => Ok(()),
    }
}

/// Whether a build tool says that it cannot reach the network.
pub(crate) fn is_without_network(text: &str) -> bool {
    [
        "Unknown host",
        "UnknownHostException",
        "Network is unreachable",
        "Connection refused",
        "name resolution",
    ]
    .iter()
    .any(|sign| text.contains(sign))
}
