//! The tests of a project, and what a hunt in each of them showed: a table in the text, one test case each in JUnit XML.

use fissure_model::finding::Finding;
use serde::{Deserialize, Serialize};

use crate::{Report, text::Options, words};

/// A test, and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReport {
    /// Its class, with the package.
    pub class: String,
    /// Its name as the test framework shows it.
    pub name: String,
    /// Its tags, or groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How many threads it had in the sequential schedule; zero if that is not known.
    pub threads: u64,
    /// How many schedules were executed, apart from reference runs.
    pub schedules: u64,
    /// The result.
    pub verdict: TestVerdict,
    /// The result in words, if there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How long it took.
    pub milliseconds: u64,
    /// The ids of its findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// The command that executes this test alone, if it has findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The working directory of that command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub directory: String,
}

/// The result of a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestVerdict {
    /// No schedule showed anything.
    #[default]
    Passed,
    /// Some schedules showed something.
    Found,
    /// It has one thread, or only one in the classes in scope, and passed.
    SingleThreaded,
    /// It fails in the sequential schedule already.
    FailsAnyway,
    /// It did not end in the sequential schedule.
    NeverEnds,
    /// It ends the JVM.
    Exits,
    /// Its schedules say nothing about it.
    Unknown,
    /// The hunt was over before it was tried.
    NotTried,
}

impl TestVerdict {
    /// The verdict in the table.
    fn words(self) -> &'static str {
        match self {
            TestVerdict::Passed => "passed",
            TestVerdict::Found => "FLAKY",
            TestVerdict::SingleThreaded => "one thread",
            TestVerdict::FailsAnyway => "FAILS ANYWAY",
            TestVerdict::NeverEnds => "NEVER ENDS",
            TestVerdict::Exits => "EXITS",
            TestVerdict::Unknown => "NO RESULT",
            TestVerdict::NotTried => "not tried",
        }
    }
}

impl TestReport {
    /// The test in a heading: its class without the package, and its name.
    pub fn title(&self) -> String {
        let class = self.class.rsplit('.').next().unwrap_or_default();
        match class {
            "" => self.name.clone(),
            class => format!("{class} > {}", self.name),
        }
    }
}

/// The heading of a finding: its test, and the message of the failure.
pub(crate) fn heading(report: &Report, finding: &Finding) -> Option<String> {
    let test = report.tests.iter().find(|test| test.findings.contains(&finding.id))?;
    let message = finding.consequence.as_ref().map(|consequence| consequence.message.as_str());
    let message = message.filter(|message| !message.is_empty());
    let message = message.map_or_else(String::new, |message| format!(": {message}"));
    Some(words::clean(&format!("{}{message}", test.title())))
}

/// The table of the tests, and how many had only one thread.
pub(crate) fn table(tests: &[TestReport], options: &Options) -> String {
    let shown: Vec<&TestReport> =
        tests.iter().filter(|test| options.verbose || test.verdict != TestVerdict::SingleThreaded).collect();
    let mut text = String::new();
    if !shown.is_empty() {
        let titles: Vec<String> = shown.iter().map(|test| words::clean(&test.title())).collect();
        let widest = titles.iter().map(|title| words::columns(title)).max().unwrap_or(0).max(4);
        let line = |title: &str, [threads, schedules, verdict, time]: [&str; 4]| {
            let gap = " ".repeat(widest - words::columns(title));
            format!("{title}{gap}  {threads:>7}  {schedules:>9}  {verdict:<12}  {time:>8}\n")
        };
        text.push_str(&line("test", ["threads", "schedules", "verdict", "time"]));
        for (test, title) in shown.iter().zip(&titles) {
            let threads = if test.threads == 0 { "-".to_owned() } else { test.threads.to_string() };
            let schedules = words::thousands(test.schedules);
            let time = format!("{}.{} s", test.milliseconds / 1000, test.milliseconds % 1000 / 100);
            text.push_str(&line(title, [&threads, &schedules, test.verdict.words(), &time]));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(class: &str, name: &str, verdict: TestVerdict) -> TestReport {
        let (class, name) = (class.to_owned(), name.to_owned());
        TestReport {
            class,
            name,
            verdict,
            threads: 3,
            schedules: 1200,
            milliseconds: 2345,
            ..Default::default()
        }
    }

    #[test]
    fn tests_with_one_thread_are_in_the_table_only_if_everything_is_shown() {
        let tests = [
            test("com.acme.AccountTest", "two deposit", TestVerdict::Found),
            test("com.acme.AccountTest", "one deposits", TestVerdict::SingleThreaded),
        ];
        let brief = Options { width: 100, color: false, verbose: false };
        let expected = "\
test                       threads  schedules  verdict           time
AccountTest > two deposit        3      1,200  FLAKY            2.3 s

";
        assert_eq!(table(&tests, &brief), expected);
        let all = table(&tests, &Options { verbose: true, ..brief });
        assert_eq!(all.lines().filter(|line| line.contains("one thread")).count(), 1, "{all}");
        assert_eq!(table(&tests[1..], &brief), "");
    }

    #[test]
    fn titles_have_no_package() {
        assert_eq!(test("com.acme.AccountTest", "pays", TestVerdict::Passed).title(), "AccountTest > pays");
        assert_eq!(test("", "a scenario", TestVerdict::Passed).title(), "a scenario");
    }
}
