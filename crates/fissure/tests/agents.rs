//! Other agents in the same JVM: JaCoCo, before and after Fissure's agent, and Mockito, which retransforms classes while they are in
//! use.
//!
//! Maven fetches them. Without Maven or the network, or with `FISSURE_TEST_OFFLINE` set, the tests are skipped. `FISSURE_TEST_JAVAS` adds
//! JVMs as for the programs.

mod common;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output},
    sync::{LazyLock, Mutex, PoisonError},
};

use fissure_testing::{Outcome, Trial};
use serde_json::Value;

use common::{fetched, fissure, isolated, javas, jdk_tool};

/// The jars from Maven, and the compiled programs.
struct Place {
    jars: Vec<PathBuf>,
    classes: PathBuf,
}

/// How another agent is loaded into the JVM.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// By the command line, after Fissure's agent.
    Later,
    /// By the environment, whose options the launcher puts before all others.
    Earlier,
}

/// The error says why the agents cannot be fetched here. The tests share a folder, so they run one after the other.
static PLACE: LazyLock<Result<Mutex<Place>, String>> = LazyLock::new(|| Place::prepare().map(Mutex::new));

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for java in javas() {
        for (name, order) in [("after", Order::Later), ("before", Order::Earlier)] {
            trials.push(trial(&format!("jacoco-{name}-fissure"), &java, move |place, java| {
                place.check_coverage(java, order);
            }));
        }
        trials.push(trial("mockito", &java, |place, java| place.check_mocks(java)));
    }
    fissure_testing::run(trials)
}

fn trial(name: &str, java: &Path, check: impl FnOnce(&Place, &Path) + Send + 'static) -> Trial {
    let java = java.to_owned();
    Trial::new(format!("agents::{name}[{}]", java.display()), move || match &*PLACE {
        Ok(place) => {
            check(&place.lock().unwrap_or_else(PoisonError::into_inner), &java);
            Ok(Outcome::Passed)
        }
        Err(reason) => Ok(Outcome::Skipped(reason.clone())),
    })
}

impl Place {
    /// Fetches the agents and compiles the programs. The error says why they cannot be fetched.
    fn prepare() -> Result<Place, String> {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/agents");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents");
        let classes = folder.join("classes");
        let jars = fetched(&programs)?;
        fs::create_dir_all(&classes).expect("a folder for the classes can be made");
        let place = Place { jars, classes };
        let mut compiler = Command::new(jdk_tool("javac"));
        compiler.args(["--release", "11", "-g", "-nowarn", "-cp"]).arg(place.class_path());
        compiler.arg("-d").arg(&place.classes);
        compiler.args(["Covered", "Mocked"].map(|program| programs.join(program).with_extension("java")));
        succeed(&mut compiler);
        Ok(place)
    }

    fn jar(&self, start: &str) -> &Path {
        let named =
            |jar: &&PathBuf| jar.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
        self.jars.iter().find(named).unwrap_or_else(|| panic!("Maven has fetched no {start}"))
    }

    fn class_path(&self) -> std::ffi::OsString {
        env::join_paths(self.jars.iter().chain([&self.classes])).expect("no colon in a path")
    }

    /// JaCoCo records its coverage, and its probes are not reported as races.
    fn check_coverage(&self, java: &Path, order: Order) {
        let data = self.classes.join("covered.exec");
        let jacoco = self.jar("org.jacoco.agent-");
        let option = format!("-javaagent:{}=destfile={}", jacoco.display(), data.display());
        let run = |watched: bool| {
            if data.exists() {
                fs::remove_file(&data).expect("the data of the last run can be removed");
            }
            let mut command = match order {
                Order::Later => self.command(java, watched, &[&option]),
                Order::Earlier => self.command(java, watched, &[]),
            };
            if matches!(order, Order::Earlier) {
                command.env("JDK_JAVA_OPTIONS", &option);
            }
            command.arg("-cp").arg(&self.classes).arg("Covered");
            let output = command.output().expect("the command can be started");
            (output, fs::metadata(&data).map(|data| data.len()).unwrap_or_default())
        };
        let (plain, plain_length) = run(false);
        let (watched, length) = run(true);
        let what = format!("JaCoCo, {order:?}, {}", java.display());
        assert!(plain_length > 0, "{what}: it wrote nothing even without Fissure");
        assert!(length > 0, "{what}: it wrote nothing\n{}", String::from_utf8_lossy(&watched.stderr));
        check(&what, &plain, &watched, self, "Covered.balance");
    }

    /// Classes that Mockito retransforms are still watched, and behave as Mockito wants.
    fn check_mocks(&self, java: &Path) {
        let option = format!("-javaagent:{}", self.jar("mockito-core-").display());
        let run = |watched: bool| {
            let mut command = self.command(java, watched, &[&option]);
            command.arg("-cp").arg(self.class_path()).arg("Mocked");
            command.output().expect("the command can be started")
        };
        let what = format!("Mockito, {}", java.display());
        check(&what, &run(false), &run(true), self, "Mocked$Account.balance");
    }

    fn command(&self, java: &Path, watched: bool, options: &[&str]) -> Command {
        let mut command = if watched { fissure() } else { isolated(java) };
        if watched {
            command.args(["detect", "--json"]).arg(self.report()).arg("--").arg(java);
        }
        command.args(options);
        command
    }

    fn report(&self) -> PathBuf {
        self.classes.join("report.json")
    }
}

/// The program printed and ended as without Fissure, and Fissure found its one race.
fn check(what: &str, plain: &Output, watched: &Output, place: &Place, subject: &str) {
    let stderr = String::from_utf8_lossy(&watched.stderr);
    assert!(plain.status.success(), "{what}: {}", String::from_utf8_lossy(&plain.stderr));
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text(watched), text(plain), "{what}: {stderr}");
    let report = fs::read(place.report()).expect("Fissure has written its report");
    let report: Value = serde_json::from_slice(&report).expect("the report is JSON");
    assert_eq!(report["exits"], serde_json::json!({ "0": 1 }), "{what}: {stderr}");
    let findings = report["findings"].as_array().expect("the report lists findings");
    let subjects: Vec<&Value> = findings
        .iter()
        .filter(|finding| finding["ordered"] != true)
        .map(|finding| &finding["subject"])
        .collect();
    assert_eq!(subjects, [subject], "{what}: {stderr}");
}

fn succeed(command: &mut Command) {
    let output = command.output().expect("the command can be started");
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}
