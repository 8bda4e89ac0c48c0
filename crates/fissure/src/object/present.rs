//! Findings and reports of what a search found out.

use std::{fs, path::Path};

use fissure_model::finding::{Finding, Kind, Status, fingerprint};
use fissure_object::{
    Schema,
    enumerate::{Alphabet, Harness},
};
use fissure_report::{
    Report,
    object::{AtomicOutcome, ObjectReport, ViolationReport},
};

use super::{error::ObjectError, search::Violation};

/// A violation, ready to be shown.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    /// For the report.
    pub(crate) report: ViolationReport,
    /// The harness in words.
    pub(crate) schema: Schema,
}

impl Shown {
    /// Puts a violation into words.
    pub(crate) fn new(class: &str, method: &str, alphabet: &Alphabet, violation: &Violation) -> Self {
        let schema = alphabet.schema(&violation.harness);
        let atomic = violation.atomic.iter().map(|(outcome, orders)| AtomicOutcome {
            outcome: outcome.join(", "),
            linearizations: orders
                .iter()
                .map(|order| in_words(order, &violation.harness, alphabet))
                .collect(),
        });
        let blamed = if method == "core" { blamed(alphabet, &violation.harness) } else { method.to_owned() };
        Shown {
            report: ViolationReport {
                subject: format!("{class}.{}", blamed.split('<').next().unwrap_or(&blamed)),
                harness: schema.to_string(),
                outcome: violation.outcome.join(", "),
                hits: violation.hits,
                executions: violation.executions,
                atomic: atomic.collect(),
            },
            schema,
        }
    }
}

/// Which core method to name: the update that is called most often, for it is the one that interferes with itself.
fn blamed(alphabet: &Alphabet, harness: &Harness) -> String {
    let operations = harness.operations();
    let calls = |name: &str| operations.iter().filter(|&&one| alphabet.method_name(one) == name).count();
    let updates =
        operations.iter().filter(|&&one| !alphabet.read_only(one)).map(|&one| alphabet.method_name(one));
    updates.max_by_key(|name| calls(name)).unwrap_or("core").to_owned()
}

/// An order of the invocations in words.
fn in_words(order: &[usize], harness: &Harness, alphabet: &Alphabet) -> String {
    let operations = harness.operations();
    let words = order.iter().map(|&one| alphabet.invocation(operations[one]).to_string());
    words.collect::<Vec<_>>().join("; ")
}

/// The report in the common form.
pub(crate) fn report(object: &ObjectReport, notices: Vec<String>) -> Report {
    let findings = object.methods.iter().filter_map(|method| {
        let violation = method.violation.as_ref()?;
        let mut finding =
            Finding::new(Kind::NonAtomicMethod, Status::Confirmed, "violat", &violation.subject);
        // The harness that shows it may be another one next time.
        finding.id = fingerprint(&["non-atomic-method", &violation.subject, &method.method]);
        finding.hits = violation.hits;
        finding.harness = Some(violation.harness.clone());
        finding.outcome = Some(violation.outcome.clone());
        finding.executions = Some(violation.executions);
        Some(finding)
    });
    Report { runs: 1, findings: findings.collect(), notices, ..Report::default() }
}

/// Writes programs that show violations without Fissure.
pub(crate) fn emit_java(folder: &Path, object: &ObjectReport, shown: &[Shown]) -> Result<(), ObjectError> {
    let _ = (object, shown);
    fs::create_dir_all(folder)
        .map_err(|source| ObjectError::Write { path: folder.display().to_string(), source })
}
