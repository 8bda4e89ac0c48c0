//! Real projects of Maven with JUnit 5 and of Gradle with JUnit 4 under `fissure detect` and `fissure hunt`: the JVM of the
//! tests is watched or controlled, the build tool's own JVM is not, and findings name the test.
//!
//! Needs `mvn` or `gradle` and their downloads; without them the tests are skipped.

mod common;

use std::{
    fs,
    process::{ExitCode, Output, Stdio},
};

use fissure_testing::{Outcome, Trial};
use serde_json::Value;

use common::{fissure, isolated, offline_is_not_set, output_text, read_report};

/// The test in which all findings are. The threads of the findings do not have it on their stacks.
const TEST: &str = "com.acme.AccountTest.twoPay";

/// A build tool, and how it runs the tests.
#[derive(Clone, Copy)]
struct Tool {
    command: &'static [&'static str],
    /// The file that describes the project.
    build: (&'static str, &'static str),
    /// The package of the annotation for tests.
    annotation: &'static str,
}

const MAVEN: Tool = Tool {
    command: &["mvn", "--quiet", "--batch-mode", "test"],
    build: ("pom.xml", include_str!("build_tools/pom.xml")),
    annotation: "org.junit.jupiter.api.Test",
};

/// The results of tests must be removed, because tests that passed before are not run again.
const GRADLE: Tool = Tool {
    command: &["gradle", "--no-daemon", "--quiet", "cleanTest", "test"],
    build: ("build.gradle", include_str!("build_tools/build.gradle")),
    annotation: "org.junit.Test",
};

/// How much of the output of a build tool is the reason to skip a test.
const REASON_LENGTH: usize = 200;

/// A project of a build tool.
struct Project {
    folder: tempfile::TempDir,
    tool: Tool,
}

impl Project {
    /// Creates the project. The error says that the tool is missing or cannot build it without Fissure.
    fn make(tool: Tool) -> Result<Project, String> {
        offline_is_not_set()?;
        let test = include_str!("build_tools/AccountTest.java").replace("org.junit.Test", tool.annotation);
        let files = [
            tool.build,
            ("settings.gradle", "rootProject.name = 'bank'\n"),
            ("src/main/java/com/acme/Account.java", include_str!("build_tools/Account.java")),
            ("src/main/java/com/acme/Customer.java", include_str!("build_tools/Customer.java")),
            ("src/test/java/com/acme/AccountTest.java", &test),
        ];
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (name, arguments) = tool.command.split_first().unwrap();
        let built = isolated(name).args(arguments).current_dir(folder.path()).stdin(Stdio::null()).output();
        match built {
            Err(error) => Err(format!("`{name}` cannot be started: {error}")),
            Ok(output) if !output.status.success() => {
                let text = flat(&output);
                let start: String = text.chars().take(REASON_LENGTH).collect();
                Err(format!("`{name}` cannot build the project even without Fissure: {start}"))
            }
            Ok(_) => Ok(Project { folder, tool }),
        }
    }

    fn fissure(&self, arguments: &[&str]) -> Output {
        let mut command = fissure();
        command.args(arguments).arg("--").args(self.tool.command);
        command.current_dir(self.folder.path()).stdin(Stdio::null()).output().unwrap()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    fn report(&self) -> Value {
        read_report(&self.read("found.json"))
    }
}

fn flat(output: &Output) -> String {
    output_text(output).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn check_detect(project: &Project) {
    let output = project.fissure(&["detect", "--verbose", "--json", "found.json", "--sarif", "found.sarif"]);
    let text = flat(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("in test {TEST}")), "{text}");
    assert!(text.contains("not watched, a build tool's own"), "{text}");

    let report = project.report();
    assert_eq!(report["coverage"]["jvms"], 1, "{text}");
    let findings = report["findings"].as_array().unwrap();
    let unordered = findings.iter().filter(|finding| finding["ordered"] != true);
    let subjects: Vec<&str> = unordered.map(|finding| finding["subject"].as_str().unwrap()).collect();
    assert!(subjects.contains(&"com.acme.Customer.payments"), "{text}");
    // No finding concerns the build tool's own code.
    assert!(
        findings.iter().all(|found| found["subject"].as_str().unwrap().starts_with("com.acme.")),
        "{text}"
    );
    assert!(findings.iter().all(|found| found["test"] == TEST), "{text}");

    let sarif = project.json("found.sarif");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let is_own = |result: &Value| {
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        uri.as_str().unwrap_or_default().starts_with("src/main/java/com/acme/")
    };
    assert!(results.iter().all(is_own), "{sarif}");
}

/// Hunts in the tests, and replays the finding if any of the runs stayed under control.
///
/// The threads by which Surefire talks to Maven are not controlled. If one of them wakes a controlled thread, a note says so.
fn check_hunt(project: &Project) {
    let output = project.fissure(&[
        "hunt",
        "--runs",
        "2",
        "--reference-runs",
        "1",
        "--no-minimise",
        "--jobs",
        "1",
        // A busy machine may need more than the default.
        "--time-limit",
        "600",
        "--json",
        "found.json",
        "--junit",
        "found.xml",
    ]);
    let text = flat(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("in test {TEST}")), "{text}");
    let report = project.report();
    assert_eq!((&report["coverage"]["jvms"], &report["runs"]), (&2.into(), &2.into()), "{text}");
    let findings = report["findings"].as_array().unwrap();
    let [finding] = findings.as_slice() else { panic!("{text}") };
    assert_eq!((&finding["subject"], &finding["status"]), (&"com.acme.Customer.pay".into(), &"bug".into()));
    assert_eq!(finding["consequence"]["exception"], "java.lang.IllegalStateException");
    assert_eq!(finding["test"], TEST);
    assert!(project.read("found.xml").contains(&format!("classname=\"{TEST}\"")));

    let notices = report["notices"].to_string();
    if notices.contains("may not replay identically") && notices.contains("seeds 1 and 2") {
        return;
    }
    let output = project.fissure(&["replay", "found.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    assert!(flat(&output).contains("shows again with the recorded schedule"), "{}", output_text(&output));
}

fn main() -> ExitCode {
    let trials = [
        trial("maven[detect]", MAVEN, check_detect),
        trial("maven[hunt]", MAVEN, check_hunt),
        trial("gradle[detect]", GRADLE, check_detect),
        trial("gradle[hunt]", GRADLE, check_hunt),
    ];
    fissure_testing::run(trials.into())
}

fn trial(name: &str, tool: Tool, check: fn(&Project)) -> Trial {
    Trial::new(format!("build-tools::{name}"), move || match Project::make(tool) {
        Ok(project) => {
            check(&project);
            Ok(Outcome::Passed)
        }
        Err(reason) => Ok(Outcome::Skipped(reason)),
    })
}
