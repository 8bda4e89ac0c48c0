//! What all tests together show, in words.

use fissure_report::{
    Report,
    tested::{TestReport, TestVerdict},
};

use super::{TestArguments, examination::Examined, listing::Test};
use crate::{hunt::count, signals};

/// How many tests without a result a sentence names.
const NAMED: usize = 3;

/// The result of a test that was not hunted in.
pub(crate) fn not_hunted(test: &Test, examined: &Examined) -> TestReport {
    let (verdict, message) = examined.verdict.clone().unwrap_or_default();
    TestReport {
        class: test.class.clone(),
        name: test.name.clone(),
        tags: test.tags.clone(),
        threads: examined.threads,
        verdict,
        message,
        milliseconds: examined.milliseconds,
        ..TestReport::default()
    }
}

/// Adds what follows from the results of all tests: notes, and the reason why the result is not valid.
pub(crate) fn conclude(report: &mut Report, options: &TestArguments) {
    let with = |verdict: TestVerdict| report.tests.iter().filter(move |test| test.verdict == verdict);
    let alone = with(TestVerdict::SingleThreaded).count() as u64;
    let hunted = [TestVerdict::Passed, TestVerdict::Flaky, TestVerdict::Violated, TestVerdict::Unknown];
    let hunted = hunted.into_iter().map(|verdict| with(verdict).count()).sum::<usize>();
    let mut notices = Vec::new();
    if alone > 0 {
        let (tests, them) = (count(alone, "test uses", "tests use"), if alone == 1 { "it" } else { "them" });
        notices.push(format!(
            "{tests} only one thread of your classes; Fissure executed {them} once, with a sequential schedule, and left {them} alone"
        ));
    }
    let mut problems: Vec<String> = Vec::new();
    for (verdict, what, next) in [
        (TestVerdict::FailsAnyway, "fails in the sequential schedule already", "repair it first"),
        (TestVerdict::NeverEnds, "does not end", "raise --time-limit or --steps, or leave it out"),
        (TestVerdict::Exits, "ends the JVM", "leave it out, or let it throw an exception instead"),
        (TestVerdict::Unknown, "has no result", "see its reason, or leave it out"),
    ] {
        let tests: Vec<&TestReport> = with(verdict).collect();
        problems.extend(problem(&tests, what, next));
    }
    if signals::interrupted() {
        problems.push("the hunt was interrupted before all tests were tried".to_owned());
    } else if hunted == 0 && problems.is_empty() {
        let nothing = "no test uses more than one thread, so that there is nothing to hunt in";
        match options.require_threads {
            true => problems.push(format!(
                "{nothing}: test your classes with several threads, or leave --require-threads out"
            )),
            false => notices.push(nothing.to_owned()),
        }
    }
    notices.append(&mut report.notices);
    report.notices = notices;
    if !problems.is_empty() {
        report.problem = Some(problems.join("; "));
        // The text of a report without runs has nothing but the problem.
        report.runs = report.runs.max(1);
    }
}

/// One sentence about tests that have the same problem.
fn problem(tests: &[&TestReport], what: &str, next: &str) -> Option<String> {
    let first = tests.first()?;
    let named = |test: &&TestReport| match &test.message {
        Some(message) => format!("{} ({message})", test.title()),
        None => test.title(),
    };
    let named: Vec<String> = tests.iter().take(NAMED).map(named).collect();
    Some(match tests.len() {
        1 => format!("{} {what}{}: {next}", first.title(), message(first)),
        all if all <= NAMED => format!("each of these {what}: {}; {next}", named.join(", ")),
        all => format!("each of {all} tests {what}, for instance {}; {next}", named.join(", ")),
    })
}

fn message(test: &TestReport) -> String {
    test.message.as_ref().map_or_else(String::new, |message| format!(" ({message})"))
}

/// A note about tests whose runs had their own JVMs, by the reasons.
pub(crate) fn own_jvm_notice(tests: &[(String, String)]) -> Option<String> {
    let (first, reason) = tests.first()?;
    Some(match tests.len() {
        1 => format!("{first}: {reason}"),
        all => format!("{all} tests were slower than others; for instance {first}: {reason}"),
    })
}

/// Notes about classes that could not be used.
pub(crate) fn problem_notices(problems: &[String]) -> Vec<String> {
    let mut notices: Vec<String> =
        problems.iter().take(NAMED).map(|problem| format!("a test class was left out: {problem}")).collect();
    if problems.len() > NAMED {
        notices.push(format!("{} more test classes were left out", problems.len() - NAMED));
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str, verdict: TestVerdict, message: Option<&str>) -> TestReport {
        let (class, name) = ("a.PoolTest".to_owned(), name.to_owned());
        TestReport { class, name, verdict, message: message.map(str::to_owned), ..TestReport::default() }
    }

    fn check(tests: &[TestReport], expected: &str) {
        let tests: Vec<&TestReport> = tests.iter().collect();
        assert_eq!(problem(&tests, "does not end", "leave it out").as_deref(), Some(expected));
    }

    #[test]
    fn tests_without_a_result_are_named() {
        let ends = |name| test(name, TestVerdict::NeverEnds, Some("limit"));
        check(&[ends("a")], "PoolTest > a does not end (limit): leave it out");
        check(
            &[ends("a"), ends("b")],
            "each of these does not end: PoolTest > a (limit), PoolTest > b (limit); leave it out",
        );
        let many = ["a", "b", "c", "d"].map(ends);
        let expected = "each of 4 tests does not end, for instance PoolTest > a (limit), PoolTest > b (limit), \
                        PoolTest > c (limit); leave it out";
        check(&many, expected);
        assert_eq!(problem(&[], "x", "y"), None);
    }

    #[test]
    fn slow_tests_are_counted() {
        let test = |name: &str| (name.to_owned(), "every run had its own JVM: x".to_owned());
        assert_eq!(own_jvm_notice(&[]), None);
        assert_eq!(own_jvm_notice(&[test("A > b")]).as_deref(), Some("A > b: every run had its own JVM: x"));
        let expected = "2 tests were slower than others; for instance A > b: every run had its own JVM: x";
        assert_eq!(own_jvm_notice(&[test("A > b"), test("A > c")]).as_deref(), Some(expected));
    }
}
