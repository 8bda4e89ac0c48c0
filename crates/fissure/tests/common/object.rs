//! Runs of `fissure object`.

use std::{
    fs,
    path::Path,
    process::{Output, Stdio},
};

use fissure_testing::shell_line;
use serde_json::Value;

use super::{fissure, output_text, read_report};

/// Enough, on a busy machine too, for a violation that an idle machine shows within a second.
pub(crate) const LONG: &str = "90s";

/// Enough to execute every small harness.
pub(crate) const SHORT: &str = "300ms";

/// Enough for the same on a busy machine.
const LONGER: &str = "5s";

/// Enough to see which methods are tested.
pub(crate) const SHORT_SEARCH: &str = "100ms";

/// A JVM and classes to test.
pub(crate) struct Object<'a> {
    pub(crate) java: &'a Path,
    pub(crate) classes: &'a Path,
}

/// A run, and what it printed and reported.
pub(crate) struct Searched {
    pub(crate) output: Output,
    pub(crate) text: String,
    pub(crate) report: Value,
    command: String,
}

impl Object<'_> {
    /// Runs `fissure object`.
    pub(crate) fn search(&self, arguments: &[&str]) -> Searched {
        let folder = tempfile::tempdir().unwrap();
        let json = folder.path().join("report.json");
        let mut command = fissure();
        command
            .arg("object")
            .args(arguments)
            .arg("--classpath")
            .arg(self.classes)
            .arg("--java")
            .arg(self.java);
        command.arg("--json").arg(&json).stdin(Stdio::null());
        let output = command.output().unwrap();
        let report = fs::read_to_string(&json).map_or(Value::Null, |text| read_report(&text));
        Searched { text: output_text(&output), output, report, command: shell_line(&command) }
    }

    /// A method that must be found is searched for alone; it is usually found at once.
    pub(crate) fn check_non_atomic(&self, class: &str, options: &[&str], method: &str) -> Result<(), String> {
        let core = ["core", "increment"].contains(&method) && options.is_empty();
        let which: &[&str] = if core { &[] } else { &["--trust-core", "--method", method] };
        let searched = self.search(&[&[class, "--budget", LONG], options, which].concat());
        let check = || {
            searched.check_code(1)?;
            searched.check_found(class, &[method])?;
            searched.check_text(&format!("{class}.{method} is not atomic"))?;
            searched.check_text("but sequential executions give")
        };
        check().map_err(|problem| searched.describe(&problem))
    }

    /// Correct methods are tested all together. A busy machine may need more time until each of them was executed.
    pub(crate) fn check_atomic(&self, class: &str, options: &[&str], methods: &[&str]) -> Result<(), String> {
        let mut result = Ok(());
        for budget in [SHORT, LONGER, LONG] {
            let mut arguments = [&[class, "--budget", budget], options].concat();
            for method in methods.iter().filter(|method| **method != "core") {
                arguments.extend(["--method", method]);
            }
            let searched = self.search(&arguments);
            let check = || searched.check_code(0).and_then(|()| searched.check_found(class, &[]));
            check().map_err(|problem| searched.describe(&problem))?;
            match methods.iter().find(|method| searched.executions(method) == 0) {
                None => return Ok(()),
                Some(method) => {
                    let problem = format!("expected executions of {method}, found none");
                    result = Err(searched.describe(&problem));
                }
            }
        }
        result
    }
}

impl Searched {
    pub(crate) fn check_code(&self, expected: i32) -> Result<(), String> {
        match self.output.status.code() {
            Some(code) if code == expected => Ok(()),
            code => Err(format!("expected exit code {expected}, found {code:?}")),
        }
    }

    /// Checks which methods the findings name, and that each finding is complete.
    pub(crate) fn check_found(&self, class: &str, expected: &[&str]) -> Result<(), String> {
        let findings = self.report["findings"].as_array().ok_or("no findings in the report")?;
        let mut found = Vec::new();
        for finding in findings {
            let text = |key: &str| finding[key].as_str().unwrap_or_default();
            let number = |key: &str| finding[key].as_u64().unwrap_or_default();
            let is_complete = text("kind") == "non-atomic-method"
                && text("status") == "confirmed"
                && text("harness").starts_with('[')
                && !text("outcome").is_empty()
                && 0 < number("hits")
                && number("hits") <= number("executions");
            if !is_complete {
                return Err(format!("this finding is not complete: {finding}"));
            }
            found.extend(text("subject").strip_prefix(class).and_then(|rest| rest.strip_prefix('.')));
        }
        if found != expected || found.len() != findings.len() {
            return Err(format!("expected findings for {expected:?}, found {found:?}"));
        }
        Ok(())
    }

    /// How often a method was executed.
    fn executions(&self, method: &str) -> u64 {
        let rows = self.report["object"]["methods"].as_array().map(Vec::as_slice).unwrap_or_default();
        let name =
            |row: &Value| row["method"].as_str().and_then(|name| name.split('<').next().map(str::to_owned));
        let row = rows.iter().find(|row| name(row).as_deref() == Some(method));
        row.and_then(|row| row["executions"].as_u64()).unwrap_or_default()
    }

    pub(crate) fn check_text(&self, expected: &str) -> Result<(), String> {
        match self.text.contains(expected) {
            true => Ok(()),
            false => Err(format!("expected the output to contain '{expected}'")),
        }
    }

    /// A problem with everything that helps to understand it.
    pub(crate) fn describe(&self, problem: &str) -> String {
        format!("  {problem}\n    $ {}\n{}", self.command, self.text)
    }
}
