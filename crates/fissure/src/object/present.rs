//! Makes findings and reports of the results of a search.

use std::{fs, path::Path};

use fissure_model::finding::{Finding, Kind, Outcome, Status, fingerprint};
use fissure_object::{
    Schema,
    enumerate::{Alphabet, Harness},
};
use fissure_report::{
    Report,
    object::{AtomicOutcome, ObjectReport, ViolationReport},
};

use super::{error::ObjectError, interleaving, java, results::Violation, target::Target};

/// A violation as reports show it.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    /// For the report.
    pub(crate) report: ViolationReport,
    /// The harness with the names of its methods.
    pub(crate) schema: Schema,
}

impl Shown {
    /// Describes a violation of a method.
    pub(crate) fn new(class: &str, method: &str, alphabet: &Alphabet, violation: &Violation) -> Self {
        let schema = alphabet.schema(&violation.harness);
        let atomic = violation.atomic.iter().map(|(outcome, orders)| AtomicOutcome {
            outcome: outcome.join(", "),
            linearizations: orders
                .iter()
                .map(|order| in_words(order, &violation.harness, alphabet))
                .collect(),
        });
        Shown {
            report: ViolationReport {
                subject: format!("{class}.{}", method.split('<').next().unwrap_or(method)),
                harness: schema.to_string(),
                outcome: violation.outcome.join(", "),
                hits: violation.hits,
                executions: violation.executions,
                interleaving: violation.steps.as_ref().map_or_else(Vec::new, |steps| {
                    interleaving::in_words(steps, &violation.harness, alphabet)
                }),
                atomic: atomic.collect(),
                outcomes: violation
                    .counts
                    .iter()
                    .map(|(outcome, count, atomic)| Outcome {
                        outcome: outcome.join(", "),
                        count: *count,
                        atomic: *atomic,
                    })
                    .collect(),
            },
            schema,
        }
    }
}

/// An order of the invocations, in words.
fn in_words(order: &[usize], harness: &Harness, alphabet: &Alphabet) -> String {
    let operations = harness.operations();
    let words = order.iter().map(|&one| alphabet.invocation(operations[one]).to_string());
    words.collect::<Vec<_>>().join("; ")
}

/// The results as a general report.
pub(crate) fn report(object: &ObjectReport, notices: Vec<String>) -> Report {
    let findings = object.methods.iter().filter_map(|method| {
        let violation = method.violation.as_ref()?;
        let mut finding =
            Finding::new(Kind::NonAtomicMethod, Status::Confirmed, "violat", &violation.subject);
        // The id does not contain the harness, because another search may show the method by another harness.
        finding.id = fingerprint(&["non-atomic-method", &violation.subject, &method.method]);
        finding.hits = violation.hits;
        finding.harness = Some(violation.harness.clone());
        finding.outcome = Some(violation.outcome.clone());
        finding.outcomes.clone_from(&violation.outcomes);
        finding.executions = Some(violation.executions);
        Some(finding)
    });
    Report { runs: 1, findings: findings.collect(), notices, ..Report::default() }
}

/// Writes programs that show violations without Fissure.
pub(crate) fn emit_java(folder: &Path, target: &Target, shown: &[Shown]) -> Result<(), ObjectError> {
    let error = |path: &Path, source| ObjectError::Write { path: path.display().to_string(), source };
    fs::create_dir_all(folder).map_err(|source| error(folder, source))?;
    for shown in shown {
        let source = java::program(target, &shown.report, &shown.schema);
        let path = folder.join(format!("{}.java", source.name));
        fs::write(&path, source.text).map_err(|source| error(&path, source))?;
    }
    Ok(())
}
