//! A real Maven project with JUnit 5 under `fissure detect`: the JVM of the tests is watched, Maven's own is not.
//!
//! Needs `mvn` and what it downloads; where that is not to be had, the test says so and does nothing.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

const POM: &str = include_str!("maven/pom.xml");

const ACCOUNT: &str = "\
package com.acme;

public class Account {
    private int balance;

    public void deposit(int amount) {
        balance += amount;
    }
}
";

const TEST: &str = "\
package com.acme;

import org.junit.jupiter.api.Test;

class AccountTest {
    @Test
    void twoDeposit() throws InterruptedException {
        Account account = new Account();
        Thread first = new Thread(() -> account.deposit(1), \"first\");
        Thread second = new Thread(() -> account.deposit(2), \"second\");
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
";

fn make_project(folder: &Path) {
    let files = [
        ("pom.xml", POM),
        ("src/main/java/com/acme/Account.java", ACCOUNT),
        ("src/test/java/com/acme/AccountTest.java", TEST),
    ];
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Whether the project builds without Fissure; if not, that is said.
fn builds(folder: &Path) -> bool {
    let maven = Command::new("mvn")
        .args(["--quiet", "--batch-mode", "test"])
        .current_dir(folder)
        .env_remove("JAVA_TOOL_OPTIONS")
        .stdin(Stdio::null())
        .output();
    match maven {
        Err(error) => {
            eprintln!("SKIPPED: Maven is not there ({error}); install it to run this test");
            false
        }
        Ok(output) if !output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            let reason = text.lines().find(|line| line.contains("ERROR")).unwrap_or_default();
            eprintln!("SKIPPED: Maven cannot build the project here, with or without Fissure: {reason}");
            false
        }
        Ok(_) => true,
    }
}

#[test]
fn tests_are_watched_and_maven_itself_is_not() {
    let folder = tempfile::tempdir().unwrap();
    make_project(folder.path());
    if !builds(folder.path()) {
        return;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_fissure"))
        .args(["detect", "--verbose", "--json", "found.json", "--sarif", "found.sarif", "--"])
        .args(["mvn", "--quiet", "--batch-mode", "test"])
        .current_dir(folder.path())
        .env_remove("JAVA_TOOL_OPTIONS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("in test com.acme.AccountTest.twoDeposit"), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("not watched, a build tool's own"), "{text}");

    let json: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("found.json")).unwrap()).unwrap();
    assert_eq!(json["coverage"]["jvms"], 1);
    let subjects: Vec<_> =
        json["findings"].as_array().unwrap().iter().map(|found| &found["subject"]).collect();
    assert_eq!(subjects, ["com.acme.Account.balance"]);

    let sarif: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("found.sarif")).unwrap()).unwrap();
    let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "src/main/java/com/acme/Account.java");
}
