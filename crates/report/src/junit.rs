//! The report as JUnit XML, which nearly every CI system shows: one test case per finding, or per test of a project.

use std::time::Duration;

use fissure_model::finding::Finding;
use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};

use crate::{
    Report, SourceFinder,
    finding_text::FindingText,
    names,
    tested::{TestReport, TestVerdict},
    text::Options,
    triage::Standing,
    words,
};

/// The report cannot be expressed as XML.
#[derive(Debug, thiserror::Error)]
#[error("the report cannot be expressed as JUnit XML: {0}")]
pub struct XmlError(#[from] quick_junit::SerializeError);

/// The report as XML. A finding for which `counts` is true is a failed test; ordered, known and suppressed findings are
/// skipped tests with the reason. A run without a valid result is an error; a run without findings is one passed test.
///
/// # Errors
/// Only if the XML writer fails, which it does not in memory.
pub fn render(
    report: &Report,
    sources: &dyn SourceFinder,
    counts: &dyn Fn(&Finding) -> bool,
) -> Result<String, XmlError> {
    let mut suite = TestSuite::new("fissure");
    for test in &report.tests {
        suite.add_test_case(case_of_test(report, test, sources, counts));
    }
    let is_tested = |finding: &Finding| report.tests.iter().any(|test| test.findings.contains(&finding.id));
    for finding in report.sorted_findings().into_iter().filter(|finding| !is_tested(finding)) {
        suite.add_test_case(case(report, finding, sources, counts(finding)));
    }
    if let Some(problem) = &report.problem {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(words::clean(problem));
        if !report.internal_errors.is_empty() {
            status.set_description(words::clean(&report.internal_errors.join("; ")));
        }
        suite.add_test_case(named(TestCase::new("the run gave a valid result", status)));
    } else if report.findings.is_empty() && report.tests.is_empty() {
        suite.add_test_case(named(TestCase::new("nothing was found", TestCaseStatus::success())));
    }
    let mut document = Document::new("fissure");
    document.add_test_suite(suite);
    Ok(document.to_string()?)
}

fn named(mut case: TestCase) -> TestCase {
    case.set_classname("fissure");
    case
}

fn case(report: &Report, finding: &Finding, sources: &dyn SourceFinder, counts: bool) -> TestCase {
    let standing = report.triage.standing(finding);
    let status = match standing {
        Standing::Suppressed(reason) => skipped(&format!("suppressed: {reason}")),
        Standing::Known => skipped("known: it is in the baseline"),
        Standing::News if counts => {
            let options = Options { width: 100, color: false, verbose: true };
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(names::kind(finding.kind));
            status.set_message(words::clean(&names::headline(finding)));
            status.set_description(FindingText::new(report, &options, sources).render(finding));
            status
        }
        Standing::News if finding.ordered => skipped(&names::ordered(finding)),
        Standing::News => skipped("not a failure under the current --fail-on"),
    };
    let (kind, _) = names::nouns(finding.kind);
    let name = format!("{kind}: {} ({})", words::clean(&names::subject(finding)), words::clean(&finding.id));
    let mut case = TestCase::new(name, status);
    let class = match &finding.test {
        Some(test) => test.clone(),
        None => finding.sites.last().map_or_else(|| finding.subject.clone(), |site| site.class.clone()),
    };
    case.set_classname(words::clean(&class));
    case
}

/// A test of the project. It failed if one of its findings counts, or if it fails in every schedule.
fn case_of_test(
    report: &Report,
    test: &TestReport,
    sources: &dyn SourceFinder,
    counts: &dyn Fn(&Finding) -> bool,
) -> TestCase {
    let found: Vec<&Finding> =
        report.sorted_findings().into_iter().filter(|finding| test.findings.contains(&finding.id)).collect();
    let counting: Vec<&Finding> = found
        .iter()
        .filter(|finding| report.triage.standing(finding) == Standing::News && counts(finding))
        .copied()
        .collect();
    let message = || words::clean(test.message.as_deref().unwrap_or_default());
    let status = match (test.verdict, counting.first()) {
        (_, Some(first)) => {
            let options = Options { width: 100, color: false, verbose: true };
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(names::kind(first.kind));
            let followed = first.consequence.as_ref().map(|consequence| format!("{}; ", consequence.message));
            let headline = format!("{}{}", followed.unwrap_or_default(), names::headline(first));
            status.set_message(words::clean(&headline));
            let mut text = FindingText::new(report, &options, sources);
            let texts: Vec<String> = counting.iter().map(|finding| text.render(finding)).collect();
            status.set_description(texts.join("\n"));
            status
        }
        (TestVerdict::FailsAnyway, None) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(format!("fails in the sequential schedule already: {}", message()));
            status
        }
        (TestVerdict::NeverEnds | TestVerdict::Exits | TestVerdict::Unknown, None) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(message());
            status
        }
        (TestVerdict::NotTried, None) => skipped("the hunt was over before this test was tried"),
        (TestVerdict::Passed | TestVerdict::Found | TestVerdict::SingleThreaded, None) => {
            TestCaseStatus::success()
        }
    };
    let mut case = TestCase::new(words::clean(&test.name), status);
    case.set_classname(words::clean(&test.class));
    case.set_time(Duration::from_millis(test.milliseconds));
    case
}

fn skipped(reason: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(words::clean(reason));
    status
}
