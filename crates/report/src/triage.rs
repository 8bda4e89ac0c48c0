//! Separates new findings from those in the baseline and those that a user suppressed with a reason.

mod baseline;
mod fingerprint;
mod suppression;

use std::collections::{BTreeMap, BTreeSet};

use fissure_model::finding::Finding;

pub use baseline::{Baseline, BaselineError, Known};
pub use fingerprint::fingerprint;
pub use suppression::{Suppression, SuppressionError};

use crate::{Report, words};

/// The triage result of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing<'a> {
    /// It is new and counts.
    News,
    /// The baseline has it.
    Known,
    /// The user suppressed it, for this reason.
    Suppressed(&'a str),
}

/// The triage results of a report's findings, by their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Triage {
    baseline: bool,
    known: BTreeSet<String>,
    suppressed: BTreeMap<String, String>,
}

impl Triage {
    /// The triage result of a finding.
    pub fn standing(&self, finding: &Finding) -> Standing<'_> {
        if let Some(reason) = self.suppressed.get(&finding.id) {
            Standing::Suppressed(reason)
        } else if self.known.contains(&finding.id) {
            Standing::Known
        } else {
            Standing::News
        }
    }

    /// Whether a finding is new and not suppressed.
    pub fn is_news(&self, finding: &Finding) -> bool {
        self.standing(finding) == Standing::News
    }

    /// Whether there was a baseline to compare with.
    pub fn has_baseline(&self) -> bool {
        self.baseline
    }

    /// How many findings the baseline knows, and how many are suppressed.
    pub fn counts(&self) -> (u64, u64) {
        (self.known.len() as u64, self.suppressed.len() as u64)
    }
}

/// Judges the findings of a report. Suppressions that match nothing are added to its notices.
pub fn judge(report: &mut Report, baseline: Option<&Baseline>, suppressions: &[Suppression]) {
    let mut triage = Triage { baseline: baseline.is_some(), ..Triage::default() };
    let mut used = vec![false; suppressions.len()];
    for finding in &report.findings {
        for (at, suppression) in suppressions.iter().enumerate() {
            if suppression.covers(finding) {
                used[at] = true;
                triage
                    .suppressed
                    .entry(finding.id.clone())
                    .or_insert_with(|| suppression.reason().to_owned());
            }
        }
    }
    if let Some(baseline) = baseline {
        let open = report.findings.iter().filter(|finding| !triage.suppressed.contains_key(&finding.id));
        triage.known = baseline.known_of(&open.collect::<Vec<_>>());
    }
    for (suppression, _) in suppressions.iter().zip(used).filter(|(_, used)| !used) {
        report.notices.push(format!(
            "the suppression of {} (\"{}\") matched nothing in this report; remove it if that stays so",
            suppression.matcher(),
            words::cut(suppression.reason(), 60)
        ));
    }
    report.triage = triage;
}

#[cfg(test)]
mod tests {
    use fissure_model::finding::{Kind, Status};

    use super::*;

    fn finding(id: &str, subject: &str, status: Status) -> Finding {
        Finding { id: id.to_owned(), ..Finding::new(Kind::AtomicityViolation, status, "atomizer", subject) }
    }

    fn suppression(toml: &str) -> Suppression {
        let value: serde_json::Value = serde_json::from_str(toml).unwrap();
        serde_json::from_value(value).unwrap()
    }

    fn check(before: &[(&str, &str, Status)], now: &[(&str, &str, Status)], news: &[&str]) {
        let report = |list: &[(&str, &str, Status)]| Report {
            findings: list.iter().map(|&(id, subject, status)| finding(id, subject, status)).collect(),
            ..Report::default()
        };
        let baseline = Baseline::parse(&Baseline::of(&report(before)).render().unwrap()).unwrap();
        let mut now = report(now);
        judge(&mut now, Some(&baseline), &[]);
        let found: Vec<&str> =
            now.findings.iter().filter(|f| now.triage.is_news(f)).map(|f| f.id.as_str()).collect();
        assert_eq!(found, news);
    }

    #[test]
    fn findings_in_the_baseline_are_not_new() {
        use Status::{Bug, Confirmed, Warning};
        check(&[("1", "A.m", Warning)], &[("1", "A.m", Warning)], &[]);
        check(&[("1", "A.m", Warning)], &[("1", "A.m", Warning), ("2", "A.n", Warning)], &["2"]);
        // Edits shift lines, and the subject of a block contains its line.
        check(&[("1", "A.m:10", Warning)], &[("9", "A.m:12", Warning)], &[]);
        // The entry of the first block does not cover a second block in the same method.
        check(&[("1", "A.m:10", Warning)], &[("1", "A.m:10", Warning), ("9", "A.m:30", Warning)], &["9"]);
        check(&[("1", "A.m:10", Warning)], &[("8", "A.m:12", Warning), ("9", "A.m:30", Warning)], &["9"]);
        // A finding that was accepted as a warning is new once it is confirmed.
        check(&[("1", "A.m", Warning)], &[("1", "A.m", Confirmed)], &["1"]);
        check(&[("1", "A.m", Confirmed)], &[("1", "A.m", Bug)], &[]);
        check(&[("1", "A.m", Bug)], &[("1", "A.m", Warning)], &[]);
    }

    #[test]
    fn suppressions_must_match_and_unused_ones_are_reported() {
        let mut report = Report {
            findings: vec![
                finding("1", "com.acme.Account.get", Status::Warning),
                finding("2", "com.acme.Accounts.get", Status::Warning),
            ],
            ..Report::default()
        };
        let suppressions = [
            suppression(r#"{"subject":"com.acme.Account","reason":"only for statistics"}"#),
            suppression(r#"{"id":"77","reason":"gone"}"#),
        ];
        judge(&mut report, None, &suppressions);
        assert_eq!(report.triage.standing(&report.findings[0]), Standing::Suppressed("only for statistics"));
        assert_eq!(report.triage.standing(&report.findings[1]), Standing::News);
        assert_eq!(
            report.notices,
            [
                "the suppression of id 77 (\"gone\") matched nothing in this report; remove it if that stays so"
            ]
        );
    }
}
