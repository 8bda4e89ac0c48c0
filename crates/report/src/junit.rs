//! The report as JUnit XML, which nearly every CI system shows: one test case per finding.

use fissure_model::finding::Finding;
use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};

use crate::{Report, SourceFinder, finding_text::FindingText, names, text::Options, triage::Standing, words};

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
    for finding in report.sorted_findings() {
        suite.add_test_case(case(report, finding, sources, counts(finding)));
    }
    if let Some(problem) = &report.problem {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(words::clean(problem));
        if !report.internal_errors.is_empty() {
            status.set_description(words::clean(&report.internal_errors.join("; ")));
        }
        suite.add_test_case(named(TestCase::new("the run gave a valid result", status)));
    } else if report.findings.is_empty() {
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

fn skipped(reason: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(words::clean(reason));
    status
}
