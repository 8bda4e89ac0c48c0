//! The baseline: the known findings of a project, as a small JSON file to keep under version control.

use std::collections::BTreeSet;

use fissure_model::finding::{Finding, Kind, Status};
use serde::{Deserialize, Serialize};

use crate::{Report, triage::fingerprint};

/// The version of the file's format.
const VERSION: u32 = 1;

/// The known findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    known: Vec<Known>,
}

/// One known finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Identifies it in later versions of the program.
    pub fingerprint: String,
    /// Its id when it was written down.
    pub id: String,
    /// The kind of defect.
    pub kind: Kind,
    /// How sure Fissure was.
    pub status: Status,
    /// The member in question, for people who read the file.
    pub subject: String,
    /// Whether its accesses were ordered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
}

/// The text is not a baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// It is not JSON, or its keys are not those of a baseline.
    #[error("it is not a baseline: {0}")]
    Form(#[from] serde_json::Error),
    /// It was written by a later Fissure.
    #[error("it has version {0}, but this Fissure reads only version {VERSION}")]
    Version(u32),
}

#[derive(Serialize, Deserialize)]
struct Document {
    baseline: u32,
    findings: Vec<Known>,
}

impl Baseline {
    /// A baseline with all findings of a report that are not suppressed.
    pub fn of(report: &Report) -> Self {
        let suppressed = |finding: &Finding| {
            matches!(report.triage.standing(finding), crate::triage::Standing::Suppressed(_))
        };
        let findings = report.findings.iter().filter(|finding| !suppressed(finding));
        let mut known: Vec<Known> = findings
            .map(|finding| Known {
                fingerprint: fingerprint(finding),
                id: finding.id.clone(),
                kind: finding.kind,
                status: finding.status,
                subject: finding.subject.clone(),
                ordered: finding.ordered,
            })
            .collect();
        // Sorted, so that a diff shows only real changes.
        known.sort_by(|a, b| (&a.subject, a.kind, &a.id).cmp(&(&b.subject, b.kind, &b.id)));
        Baseline { known }
    }

    /// Reads a baseline's text.
    ///
    /// # Errors
    /// If the text is not a baseline, or has an unknown version.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let document: Document = serde_json::from_str(text)?;
        if document.baseline != VERSION {
            return Err(BaselineError::Version(document.baseline));
        }
        Ok(Baseline { known: document.findings })
    }

    /// The baseline's text, with a line break at its end.
    ///
    /// # Errors
    /// Only if a finding cannot be expressed as JSON, which its types rule out.
    pub fn render(&self) -> serde_json::Result<String> {
        let document = Document { baseline: VERSION, findings: self.known.clone() };
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }

    /// How many findings are known.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are no known findings.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The ids of those findings that are known. Each entry covers one finding: the one with its id, or the one with which a failure of this id
    /// is told, or else the first one with its fingerprint, in the order of lines and subjects.
    pub(crate) fn known_of(&self, findings: &[&Finding]) -> BTreeSet<String> {
        let mut open: Vec<&Known> = self.known.iter().collect();
        let mut found = BTreeSet::new();
        let mut take = |finding: &Finding, fits: &dyn Fn(&Known) -> bool| {
            let at = open.iter().position(|known| fits(known) && is_no_worse(finding, known));
            if let Some(at) = at {
                open.remove(at);
                found.insert(finding.id.clone());
            }
            at.is_some()
        };
        let mut rest: Vec<&Finding> = Vec::new();
        for &finding in findings {
            let is_told = |known: &Known| finding.further.iter().any(|further| further.id == known.id);
            if !take(finding, &|known| known.id == finding.id || is_told(known)) {
                rest.push(finding);
            }
        }
        rest.sort_by_key(|finding| (line(&finding.subject), &finding.subject));
        for finding in rest {
            let print = fingerprint(finding);
            take(finding, &|known| known.fingerprint == print);
        }
        found
    }
}

/// Whether an entry covers a finding: the entry of a warning does not cover its confirmation.
fn is_no_worse(finding: &Finding, known: &Known) -> bool {
    let is_confirmed = |status: Status| status > Status::Warning;
    (finding.ordered || !known.ordered) && (!is_confirmed(finding.status) || is_confirmed(known.status))
}

/// The line in a subject such as `Account.transfer:12`.
fn line(subject: &str) -> Option<u32> {
    subject.rsplit_once(':').and_then(|(_, line)| line.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let error = Baseline::parse(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn texts_that_are_not_baselines_are_rejected() {
        check("", "it is not a baseline");
        check(r#"{"schema":1,"findings":[]}"#, "it is not a baseline: missing field `baseline`");
        check(r#"{"baseline":2,"findings":[]}"#, "it has version 2");
    }

    #[test]
    fn baselines_of_earlier_versions_cover_failures() {
        let text = r#"{"baseline":1,"findings":[{"fingerprint":"0123456789abcdef","id":"1be1523fc58e14a7","kind":"custom",
            "status":"bug","subject":"Account.withdraw"}]}"#;
        let baseline = Baseline::parse(text).unwrap();
        let finding = Finding {
            id: "1be1523fc58e14a7".to_owned(),
            ..Finding::new(Kind::Failure, Status::Bug, "atomfuzzer", "Account.withdraw")
        };
        assert_eq!(baseline.known_of(&[&finding]), BTreeSet::from([finding.id.clone()]));
    }

    #[test]
    fn an_empty_baseline_is_valid() {
        let baseline = Baseline::parse(&Baseline::default().render().unwrap()).unwrap();
        assert!(baseline.is_empty());
    }
}
